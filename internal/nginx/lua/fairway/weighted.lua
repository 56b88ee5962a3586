-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Smooth weighted round robin. Each endpoint is due again 1/weight after its last turn, and the one that is due first is taken. So in any
-- stretch of requests each has its share to within one request, spread evenly, and a choice costs the logarithm of their number.
--
-- The endpoints of a list stand in a heap by when they are due. The clock of a backend is when the last one taken was due. `seconds` is how long
-- a slow start takes, or nil.

local endpoints = require "fairway.endpoints"
local weight_of = require("fairway.slow_start").weight

local random = math.random

local M = {}

-- Sinks what is at a place of a heap to where it belongs.
local function sink(heap, count, place)
    local endpoint = heap[place]
    local due = endpoint.due
    while 2 * place <= count do
        local child = 2 * place
        if child < count and heap[child + 1].due < heap[child].due then
            child = child + 1
        end
        if heap[child].due >= due then
            break
        end
        heap[place] = heap[child]
        place = child
    end
    heap[place] = endpoint
end

-- Gives the heap of a list. Who is new, or comes back, has a place within its first turn by chance: it has nothing to catch up with, and workers
-- do not move in step.
local function heap_of(backend, list, seconds)
    local heap = list.heap
    if heap then
        return heap
    end
    heap = {}
    local clock = backend.clock or 0
    local count = #list
    for i = 1, count do
        local endpoint = list[i]
        if not endpoint.due or endpoint.due < clock then
            endpoint.due = clock + random() / weight_of(endpoint, seconds)
        end
        heap[i] = endpoint
    end
    for place = math.floor(count / 2), 1, -1 do
        sink(heap, count, place)
    end
    list.heap = heap
    return heap
end

local function take(backend, endpoint, seconds)
    backend.clock = endpoint.due
    endpoint.due = endpoint.due + 1 / weight_of(endpoint, seconds)
end

-- Counts a turn of an endpoint that was chosen by other means.
function M.charge(backend, endpoint, seconds)
    endpoint.due = math.max(endpoint.due or 0, backend.clock or 0)
    take(backend, endpoint, seconds)
    backend.e.heap = nil -- which is out of order now
end

-- Gives the endpoint that is due first of those that were not tried.
local function another(backend, list, seconds)
    local left = endpoints.remaining(backend)
    left.heap = nil -- which may be out of order
    local first = heap_of(backend, left, seconds)[1]
    take(backend, first, seconds)
    list.heap = nil -- which is out of order now
    return first
end

function M.choose(backend, failed, seconds)
    local list = backend.e
    if failed then
        return another(backend, list, seconds)
    end
    local heap = heap_of(backend, list, seconds)
    local first = heap[1]
    take(backend, first, seconds)
    sink(heap, #list, 1)
    return first
end

return M
