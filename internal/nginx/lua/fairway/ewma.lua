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

-- Gives the averages { time = seconds, at = when, assumed = whether nothing was measured } by the endpoints' names. Those of endpoints that
-- the backend had before a change are kept; new ones begin with the mean of these, so that they don't draw all requests.
local function averages_of(backend)
    local averages = backend.averages
    if averages then
        return averages
    end
    averages = {}
    local before = backend.averages_before or averages
    local sum, count = 0, 0
    for _, average in pairs(before) do
        sum, count = sum + average.time, count + 1
    end
    local start = now()
    for _, name in ipairs(endpoints.names(backend)) do
        averages[name] = before[name] or { time = sum / max(count, 1), at = start, assumed = true }
    end
    backend.averages, backend.averages_before = averages, nil
    return averages
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

-- Gives two places, different ones if there are, among those that `tried` leaves.
local function two(backend, tried)
    local count = #backend.e
    local first = endpoints.random(backend, tried)
    if count == 1 then
        return first, first
    end
    if not tried then
        local second = random(count - 1)
        return first, second < first and second or second + 1
    end
    tried[first] = true
    local left = false
    for i = 1, count do
        left = left or not tried[i]
    end
    return first, left and endpoints.random(backend, tried) or first
end

function M.choose(backend, _, failed)
    local averages = averages_of(backend)
    local tried, last
    if failed then
        tried, last = endpoints.tried(backend)
        if averages[last] then
            note(averages[last], failure)
        end
    end
    local first, second = two(backend, tried)
    local names, at = backend.names, now()
    if decayed(averages[names[second]], at) < decayed(averages[names[first]], at) then
        first = second
    end
    return backend.e[first]
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
    local average = name and averages_of(backend)[name]
    if average then
        note(average, tonumber(var.upstream_header_time:match("([^, ]+)$")) or failure)
    end
end

return M
