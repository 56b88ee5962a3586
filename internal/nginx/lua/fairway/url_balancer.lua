-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Connects requests that nginx makes itself, to the URLs that policies name. Where a URL goes is either a backend, whose key is in a
-- variable, or this nginx.

local balancer = require "ngx.balancer"
local outlier = require "fairway.outlier"
local round_robin = require "fairway.round_robin"
local store = require "fairway.store"

local set_current_peer = balancer.set_current_peer
local var = ngx.var

local M = {
    self = {}, -- { http = port, https = port, address = text } of this nginx; set by init.lua
}

-- Gives what the variables of a request to `url` (a urlEntry of package nginx/state) are: the key for the balancer, the name of the host
-- without port, and the target for proxy_pass. `pool` is the upstream's name without the scheme.
function M.resolve(url, pool, host, path)
    local scheme = url.https and "https" or "http"
    local name = host:match("^%[?([^%]]-)%]?:%d+$") or host
    return url.backend or ("self:" .. scheme), name, scheme .. "://" .. pool .. "_" .. scheme .. path
end

local function connect(key)
    local address, port
    local own = key:match("^self:(%a+)$")
    if own then
        address, port = M.self.address, M.self[own]
    else
        local backend = store.backend(key)
        if not (backend and backend.e[1]) then
            return ngx.exit(502)
        end
        if backend.outlier then
            outlier.refresh(backend)
        end
        local peer = round_robin.choose(backend)
        address, port = peer[1], peer[2]
    end
    if balancer.get_last_failure() == nil then
        balancer.set_more_tries(1)
    end
    local ok, err = set_current_peer(address, port)
    if not ok then
        ngx.log(ngx.ERR, "endpoint ", address, ":", port, ": ", err)
        return ngx.exit(502)
    end
end

-- The balancer of questions to other servers.
function M.question()
    return connect(var.fairway_auth_backend)
end

-- The balancer of copies.
function M.copy()
    return connect(var.fairway_mirror_backend)
end

return M
