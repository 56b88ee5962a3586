-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Runs in balancer_by_lua: gives nginx the peer of this try. Route.lua has chosen the backend and left its key in $fairway_backend, followed by
-- blanks and "CONNECT SEND READ TRIES BALANCE" where the route has its own; a key has no blank.
-- After a failed try another endpoint is taken, as long as there is one that was not tried.

local balancer = require "ngx.balancer"
local store = require "fairway.store"
local round_robin = require "fairway.round_robin"

local set_current_peer = balancer.set_current_peer
local set_more_tries = balancer.set_more_tries
local set_timeouts = balancer.set_timeouts
local get_last_failure = balancer.get_last_failure
local backend_of = store.backend
local var = ngx.var

local function settings()
    return store.settings
end

local function already_tried(address, port)
    local tried = var.upstream_addr
    return tried and tried:find(address .. ":" .. port, 1, true) ~= nil
end

local function pick(backend)
    local peer = round_robin(backend)
    if get_last_failure() then
        for _ = 2, #backend.e do
            if not already_tried(peer[1], peer[2]) then
                break
            end
            peer = round_robin(backend)
        end
    end
    return peer
end

-- The first try of a request says how many may follow; 0 stands for as many as there are endpoints.
local function allow_tries(tries, backend)
    if tries == 0 then
        tries = #backend.e
    end
    if tries > 1 then
        set_more_tries(tries - 1)
    end
end

return function()
    local key = var.fairway_backend
    local tries = settings().tries
    if key:find(" ", 1, true) then
        local connect, send, read, own_tries
        key, connect, send, read, own_tries = key:match("^(%S+) (%S+) (%S+) (%S+) (%S+)")
        set_timeouts(tonumber(connect), tonumber(send), tonumber(read))
        tries = tonumber(own_tries)
    end
    local backend = backend_of(key)
    if not (backend and backend.e[1]) then
        return ngx.exit(503)
    end
    if not get_last_failure() then
        allow_tries(tries, backend)
    end
    local peer = pick(backend)
    local ok, err = set_current_peer(peer[1], peer[2])
    if not ok then
        ngx.log(ngx.ERR, "endpoint ", peer[1], ":", peer[2], ": ", err)
        return ngx.exit(502)
    end
end
