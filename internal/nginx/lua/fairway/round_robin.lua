-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Round robin: one after the other; workers begin at different places. After a failure the next that was not tried. Where endpoints differ in
-- weight, or one has just come, weighted.lua has the turn.

local endpoints = require "fairway.endpoints"
local slow_start = require "fairway.slow_start"
local weighted = require "fairway.weighted"

local M = {}

-- Gives the next of a list; `turn` is what has the position.
local function next_of(turn, list)
    local position = turn.position % #list + 1
    turn.position = position
    return list[position]
end

local function another(backend)
    local list, tried = endpoints.for_retry(backend)
    local turn = backend
    if list ~= backend.e then -- near ones, that were tried before, would move the position to the same place each time
        list.position = list.position or 0
        turn = list
    end
    local endpoint
    repeat
        endpoint = next_of(turn, list)
    until not (tried and tried[endpoint])
    return endpoint
end

function M.choose(backend, balance, failed)
    local list = backend.e
    local seconds = backend.newest and slow_start.seconds(backend, balance)
    if list.weighted or seconds then
        return weighted.choose(backend, failed, seconds)
    end
    if failed then
        return another(backend)
    end
    return next_of(backend, list)
end

return M
