-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Takes the one of two random endpoints that answered sooner of late. What counts is a moving average of the time until the response's
-- headers, which follows a rise at once and forgets it exponentially; so an endpoint that was slow is tried again after a while.
-- Each worker has its own averages.

local endpoints = require "fairway.endpoints"
local store = require "fairway.store"
local target = require "fairway.target"

local exp, max, random = math.exp, math.max, math.random
local now = ngx.now
local var = ngx.var

local forget = 10  -- seconds after which a time counts for 1/e
local failure = 1  -- seconds that a failed try counts as

local M = {}

-- Gives the average of an endpoint, { time = seconds, at = when, assumed = whether nothing was measured }. A new one begins with the mean of the
-- others, so that it does not draw all requests.
local function average_of(list, endpoint)
    local average = endpoint.average
    if average then
        return average
    end
    local sum, count = 0, 0
    for i = 1, #list do
        local other = list[i].average
        if other and not other.assumed then
            sum, count = sum + other.time, count + 1
        end
    end
    average = { time = sum / max(count, 1), at = now(), assumed = true }
    endpoint.average = average
    return average
end

local function decayed(average, at)
    return average.time * exp((average.at - at) / forget)
end

local function note(average, time)
    local at = now()
    local old = decayed(average, at)
    if time < old and not average.assumed then
        local weight = exp((average.at - at) / forget)
        time = old * weight + time * (1 - weight)
    end
    average.time, average.at, average.assumed = time, at, nil
end

-- Gives two endpoints of a list, different ones if there are.
local function two(list)
    local count = #list
    local first = random(count)
    if count == 1 then
        return list[1], list[1]
    end
    local second = random(count - 1)
    return list[first], list[second < first and second or second + 1]
end

-- The less, the sooner an endpoint is taken.
local function cost(list, endpoint, at)
    return decayed(average_of(list, endpoint), at) / (endpoint[3] or 1)
end

function M.choose(backend, _, failed)
    local list = backend.e
    local left = list
    if failed then
        local tried, last = endpoints.tried(list)
        local endpoint = endpoints.by_name(list)[last]
        if endpoint then
            note(average_of(list, endpoint), failure)
        end
        left = endpoints.untried(list, tried)
    end
    local first, second = two(left)
    local at = now()
    return cost(list, second, at) < cost(list, first, at) and second or first
end

-- Notes how long the endpoint took that gave the response, or failed in the end. Part of respond.lua.
function M.observe()
    local key, _, _, _, _, id = target.parse(var.fairway_backend)
    local balance = store.balance(id or "-")
    local backend = store.backend(key)
    if not (backend and balance and balance.algorithm == "ewma" and not balance.affinity) then
        return
    end
    local name = var.upstream_addr
    name = name and name:match("([^, ]+)$")
    local endpoint = name and endpoints.by_name(backend.e)[name]
    if endpoint then
        note(average_of(backend.e, endpoint), tonumber(var.upstream_header_time:match("([^, ]+)$")) or failure)
    end
end

return M
