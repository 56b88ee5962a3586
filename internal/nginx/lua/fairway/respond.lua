-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Changes responses as the policy of the route says: CORS, headers that the Ingress sets, cookies and redirects of the backend. Runs in
-- header_filter_by_lua of the shapes that ask for it, and before answers that Lua gives itself.

local store = require "fairway.store"

local M = {}

-- The parts in the order in which they run, { member, function } each: the function takes the member of the policy, if it has one, and the
-- policy. See init.lua.
M.parts = {}

-- Applies the policy to the response headers of this request.
function M.apply(policy)
    for _, part in ipairs(M.parts) do
        local member = policy[part[1]]
        if member then
            part[2](member, policy)
        end
    end
end

function M.filter()
    local policy = store.policy(ngx.var.fairway_policy)
    if policy then
        M.apply(policy)
    end
end

return M
