-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Changes responses as the policy of the route says: CORS, headers that the Ingress sets, cookies and redirects of the backend. Runs in
-- header_filter_by_lua of the shapes that ask for it, and before answers that Lua gives itself.

local store = require "fairway.store"

local M = {}

-- The parts, each a function of the policy that runs if the policy has the member. Modules add themselves in init.lua.
M.parts = {}

-- Applies the policy to the response headers of this request.
function M.apply(policy)
    for member, part in pairs(M.parts) do
        if policy[member] then
            part(policy[member], policy)
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
