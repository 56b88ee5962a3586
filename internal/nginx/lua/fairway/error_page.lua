-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Runs in rewrite_by_lua of the locations @error_CODE, to which nginx goes instead of answering with a status that the route, or for requests
-- that no route takes the settings, want to be replaced. Another backend is asked for the answer. These locations intercept nothing, so there is no
-- way back here from its answer, whatever its status.

local find = require "fairway.find"
local prepare = require "fairway.prepare"
local respond = require "fairway.respond"
local store = require "fairway.store"

local var = ngx.var

local M = {}

local nobody = { "", "", "", "" }

-- Gives the policy of this request. It has none yet when nginx itself refused the announced length of a body, before any Lua.
local function policy_of_request()
    local id = var.fairway_policy
    if id ~= "" then
        return store.policy(id)
    end
    store.refresh()
    local host = store.host(var.host)
    local route = host and find(host, var.uri)
    return route and route.policy
end

local function alive(key)
    local backend = key and store.backend(key)
    return backend and backend.e[1] and key
end

-- Drops the body, which the other backend has no use for, unless it was read already: one that is too large must not be read at all.
local function drop_body()
    local ok, err = pcall(ngx.req.discard_body)
    if not ok then
        ngx.log(ngx.INFO, "request body: ", err)
        return ngx.exit(400)
    end
end

-- Tells whether the client is to be sent to a login page, which counts more than a replaced 401: no backend has said it.
local function has_login_page(policy, status)
    return status == 401 and policy and policy.auth and policy.auth.signin and not var.upstream_status
end

function M.replace(status)
    local policy = policy_of_request()
    if has_login_page(policy, status) then
        ngx.status = status
        respond.apply(policy)
        return ngx.exit(302)
    end
    local errors = store.settings.errors
    if policy then
        errors = policy.errors
    end
    local wanted = errors and errors.codes[tostring(status)]
    local backend = wanted and (alive(errors.backend) or alive(store.settings.default))
    if not backend then
        if policy then
            respond.apply(policy)
        end
        return ngx.exit(status)
    end
    drop_body()
    prepare.tell_error(errors.identity or nobody, status)
    ngx.req.set_uri("/")
    ngx.req.set_uri_args("")
    var.fairway_backend = backend
end

return M
