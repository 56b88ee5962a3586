-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Takes the one of two random endpoints that is likely to answer sooner: by how long it took of late, and how many requests wait for it now.
--
-- How long it took is a moving average of the time until the response's headers, which follows a rise at once and forgets it exponentially
-- ("peak EWMA"); so an endpoint that was slow is tried again after a while. Each worker has its own averages; requests in flight are those
-- of all workers.

local endpoints = require "fairway.endpoints"
local inflight = require "fairway.inflight"
local slow_start = require "fairway.slow_start"

local in_flight, weight_of = inflight.at, slow_start.weight
local byte = string.byte
local exp, max = math.exp, math.max
local now, start_time = ngx.now, ngx.req.start_time
local var = ngx.var

local zero, point = 48, 46 -- "0" and "."

local forget = 10   -- seconds after which a time counts for 1/e
local failure = 1   -- seconds that a failed try counts as
local least = 0.001 -- seconds that are added to all, as nginx measures milliseconds

local M = { counts = true }

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
    local weight = exp((average.at - at) / forget)
    local old = average.time * weight
    if time < old and not average.assumed then
        time = old * weight + time * (1 - weight)
    end
    average.time, average.at, average.assumed = time, at, nil
end

-- Gives how long a request would take at an endpoint.
local function cost(list, endpoint, at, seconds)
    return (decayed(average_of(list, endpoint), at) + least) * (1 + in_flight(endpoint) / weight_of(endpoint, seconds))
end

function M.choose(backend, balance, failed)
    local list = backend.e
    local left = list
    if failed then
        local last
        left, last = endpoints.remaining(backend)
        local endpoint = endpoints.by_name(backend.all)[last]
        if endpoint then
            note(average_of(list, endpoint), failure)
        end
    end
    local seconds = backend.newest and slow_start.seconds(backend, balance)
    local first, second = endpoints.two(left, seconds)
    local at = now()
    if cost(list, second, at, seconds) < cost(list, first, at, seconds) then
        return second
    end
    return first
end

-- Gives the last of the times in a variable, one for each try; nil when there is none. Most are as "0.012", and tonumber takes its time.
local function last_time(text)
    if not text then
        return nil
    end
    local a, p, b, c, d, more = byte(text, 1, 6)
    if d and not more and p == point then
        return (a * 1000 + b * 100 + c * 10 + d - 1111 * zero) / 1000
    end
    return tonumber(text) or tonumber(text:match("([^, ]+)$"))
end

-- Tells whether a request that ends cannot change an average, as is usual when there are many in a millisecond: the average is of this very moment,
-- and the request took no longer, all in all.
local function tells_nothing(average)
    local at = now()
    return average.at == at and not average.assumed and ngx.status < 500 and at - start_time() <= average.time
end

-- Notes how long the endpoint took. Called when a request ends that it was chosen for.
function M.finished(endpoint)
    local average = endpoint.average
    if tells_nothing(average) then
        return
    end
    local time = last_time(var.upstream_header_time)
    if time then
        note(average, time)
    elseif ngx.status ~= 499 then
        note(average, failure)
    else -- the client did not wait for the answer, which would have come later still
        time = last_time(var.upstream_response_time)
        if time and time > decayed(average, now()) then
            note(average, time)
        end
    end
end

return M
