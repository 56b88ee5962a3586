-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Takes the endpoint with the fewest requests in flight, as all workers count them, by its weight. Of several with as few, the next in turn;
-- where endpoints differ in weight, or one has just come, the one that is due first, so that an idle backend is balanced as by round robin. A
-- choice looks at every endpoint until it meets an idle one.

local endpoints = require "fairway.endpoints"
local inflight = require "fairway.inflight"
local slow_start = require "fairway.slow_start"
local weighted = require "fairway.weighted"

local at = inflight.at
local huge, random = math.huge, math.random
local weight_of = slow_start.weight

local M = { counts = true }

-- Gives the place of the first endpoint from a place on, round about, that has the least.
local function least_of(list, start)
    local count = #list
    local place, least = nil, huge
    for i = start, start + count - 1 do
        local candidate = i > count and i - count or i
        local load = at(list[candidate])
        if load < least then
            place, least = candidate, load
            if load == 0 then
                break
            end
        end
    end
    return place
end

local function weighted_least_of(list, seconds)
    local best, least, earliest = nil, huge, huge
    for i = 1, #list do
        local endpoint = list[i]
        local load = at(endpoint) / weight_of(endpoint, seconds)
        if load <= least then
            local due = endpoint.due or 0
            if load < least or due < earliest then
                best, least, earliest = endpoint, load, due
            end
        end
    end
    return best
end

function M.choose(backend, balance, failed)
    local list = backend.e
    if failed then
        list = endpoints.remaining(backend)
    end
    local seconds = backend.newest and slow_start.seconds(backend, balance)
    if list.weighted or seconds then
        local endpoint = weighted_least_of(list, seconds)
        weighted.charge(backend, endpoint, seconds)
        return endpoint
    end
    if failed then
        return list[least_of(list, random(#list))] -- the turn is that of backend.e
    end
    local place = least_of(list, backend.position % #list + 1)
    backend.position = place
    return list[place]
end

return M
