-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Ends a request that needs no backend. What the policy of the route says about responses counts for these too.

local respond = require "fairway.respond"

local M = {}

-- Answers with a status, or by the backend that replaces responses of that status.
function M.status(policy, status)
    if policy then
        if status == 401 and policy.auth then
            local url = require("fairway.external_auth").login_url(policy)
            if url then
                ngx.header["WWW-Authenticate"] = nil
                return M.redirect(policy, url, 302)
            end
        end
        local errors = policy.errors
        if errors and errors.codes[tostring(status)] then
            ngx.var.fairway_policy = policy.id
            return ngx.exec("@error_" .. status)
        end
        respond.apply(policy)
    end
    return ngx.exit(status)
end

-- Redirects. The location is absolute, or a path that stays one.
function M.redirect(policy, location, status)
    if policy then
        respond.apply(policy)
    end
    return ngx.redirect(location, status)
end

return M
