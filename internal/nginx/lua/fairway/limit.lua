-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Bounds the requests of each client: how many per time is counted here, and how many at once by nginx, under the key that is left in
-- $fairway_limit_key.

local answer = require "fairway.answer"
local cidr = require "fairway.cidr"
local rate = require "fairway.rate"
local store = require "fairway.store"
local template = require "fairway.template"

local zone = ngx.shared.fairway_limits
local md5_bin, now = ngx.md5_bin, ngx.now
local var = ngx.var

local M = {}

local function compile(limit)
    local rates = {}
    if limit.per_second then
        rates[#rates + 1] = rate.new(limit.name, limit.per_second, 1, limit.second_burst or 0)
    end
    if limit.per_minute then
        rates[#rates + 1] = rate.new(limit.name, limit.per_minute, 60, limit.minute_burst or 0)
    end
    limit.rates = rates
    limit.set = limit.exempt and cidr.set(limit.exempt)
end

-- Answers a request that is beyond a rate; address is that of the client, binary.
function M.check(policy, address)
    local limit = policy.limit
    if not limit.rates then
        compile(limit)
    end
    if limit.set and cidr.contains(limit.set, address) then
        return
    end
    local key = store.settings.limit_key
    key = key and template.expand(key) or address
    if key == "" then
        return -- as nginx has it for its own limits
    end
    if not rate.admits(zone, limit.rates, key, now()) then
        return answer.status(policy, store.settings.limit_status)
    end
    if limit.connections then
        var.fairway_limit_key = md5_bin(limit.name .. " " .. key)
    end
end

return M
