-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Bounds the requests of each client. Rates are kept by the generic cell rate algorithm: the only state is the time at which the
-- client would be back at zero if it stayed away from now on. It grows by one interval with each request and may be a burst of
-- intervals ahead. nginx itself counts requests in progress, by the key that is left in $fairway_limit_key.
--
-- Reading and writing that time are two steps, so workers that serve one client in the same microsecond may let one request too
-- many through.

local answer = require "fairway.answer"
local cidr = require "fairway.cidr"
local store = require "fairway.store"
local template = require "fairway.template"

local zone = ngx.shared.fairway_limits
local md5_bin, now = ngx.md5_bin, ngx.now
local max = math.max
local var = ngx.var

local M = {}

-- The sums of many intervals may miss the burst by so many seconds.
local slack = 1e-4

-- Gives what both rates need: how they count, and the beginning of their keys. Other numbers make other keys, so that
-- nobody has to wait for what an earlier rate ran up.
local function rate_of(limit, seconds, requests, burst)
    local interval = seconds / requests
    return { interval = interval, ahead = burst * interval + slack, name = table.concat({ limit.name, seconds, requests, burst, "" }, " ") }
end

local function compile(limit)
    local rates = {}
    if limit.per_second then
        rates[#rates + 1] = rate_of(limit, 1, limit.per_second, limit.second_burst or 0)
    end
    if limit.per_minute then
        rates[#rates + 1] = rate_of(limit, 60, limit.per_minute, limit.minute_burst or 0)
    end
    limit.rates = rates
    limit.set = limit.exempt and cidr.set(limit.exempt)
end

local function client()
    local key = store.settings.limit_key
    return key and template.expand(key) or var.binary_remote_addr
end

-- Tells whether a request at `time` keeps all rates, and only then counts it, for each of them.
local function admits(rates, key, time)
    local keys, back = {}, {}
    for i = 1, #rates do
        local rate = rates[i]
        keys[i] = md5_bin(rate.name .. key)
        back[i] = max(zone:get(keys[i]) or 0, time)
        if back[i] - time > rate.ahead then
            return false
        end
    end
    for i = 1, #rates do
        local at = back[i] + rates[i].interval
        zone:set(keys[i], at, max(at - time, 1)) -- whoever is gone from the zone is at zero
    end
    return true
end

-- Answers a request that is beyond a rate.
function M.check(policy)
    local limit = policy.limit
    if not limit.rates then
        compile(limit)
    end
    if limit.set and cidr.contains(limit.set, var.binary_remote_addr) then
        return
    end
    local key = client()
    if key == "" then
        return -- as nginx has it for its own limits
    end
    if not admits(limit.rates, key, now()) then
        return answer.status(policy, store.settings.limit_status)
    end
    if limit.connections then
        var.fairway_limit_key = md5_bin(limit.name .. " " .. key)
    end
end

return M
