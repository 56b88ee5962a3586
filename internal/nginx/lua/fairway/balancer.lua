-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Runs in balancer_by_lua: gives nginx the peer of this try. Route.lua has chosen the backend and left its key in $fairway_backend; see
-- target.lua. After a failed try another endpoint is taken, as long as there is one that was not tried.

local balancer = require "ngx.balancer"
local chance = require "fairway.chance"
local ewma = require "fairway.ewma"
local hash = require "fairway.hash"
local hold = require("fairway.inflight").hold
local least_conn = require "fairway.least_conn"
local outlier = require "fairway.outlier"
local p2c = require "fairway.p2c"
local round_robin = require "fairway.round_robin"
local sticky = require "fairway.sticky"
local store = require "fairway.store"
local target = require "fairway.target"

local set_current_peer = balancer.set_current_peer
local set_more_tries = balancer.set_more_tries
local set_timeouts = balancer.set_timeouts
local get_last_failure = balancer.get_last_failure
local backend_of = store.backend
local var = ngx.var

local M = {
    upstream_tries = 1, -- how many nginx makes without being asked for more; set by init.lua
}

-- The ways to balance; see endpoints.lua.
local ways = { round_robin = round_robin, ewma = ewma, hash = hash, least_conn = least_conn, p2c = p2c, random = chance }

local function pick(backend, balance, failed, key)
    local way = round_robin
    if balance then
        way = balance.affinity and sticky or ways[balance.algorithm]
    end
    local endpoint = way.choose(backend, balance, failed, key)
    if way.counts then
        hold(endpoint, way.finished)
    end
    return endpoint
end

-- The first try of a request says how many may follow; 0 stands for as many as there are endpoints.
local function allow_tries(tries, backend)
    if tries == 0 then
        tries = #backend.e + (backend.beyond and #backend.beyond or 0)
    end
    if tries > M.upstream_tries then
        set_more_tries(tries - M.upstream_tries)
    end
end

function M.balance()
    local settings = store.settings
    local key, options = target.parse(var.fairway_backend)
    local tries, balance = settings.tries, settings.balance
    if options then
        if options.connect then
            set_timeouts(options.connect, options.send, options.read)
        end
        tries, balance = options.tries, store.balance(options.balance)
    end
    local backend = backend_of(key)
    if not (backend and backend.e[1]) then
        return ngx.exit(503)
    end
    local watched = backend.outlier
    if watched then
        outlier.refresh(backend)
    end
    local failed = get_last_failure() ~= nil
    if not failed and tries ~= M.upstream_tries then
        allow_tries(tries, backend)
    end
    local peer = pick(backend, balance, failed, key)
    if watched then
        outlier.watch(peer)
    end
    local ok, err = set_current_peer(peer[1], peer[2])
    if not ok then
        ngx.log(ngx.ERR, "endpoint ", peer[1], ":", peer[2], ": ", err)
        return ngx.exit(502)
    end
end

return M
