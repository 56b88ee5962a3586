-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Round robin: one after the other; workers begin at different places. After a failure the next that was not tried. Where endpoints differ in
-- weight, or one has just come, weighted.lua has the turn.

local endpoints = require "fairway.endpoints"
local slow_start = require "fairway.slow_start"
local weighted = require "fairway.weighted"

local M = {}

local function next_of(backend, list)
    local position = backend.position % #list + 1
    backend.position = position
    return list[position]
end

function M.choose(backend, balance, failed)
    local list = backend.e
    local seconds = backend.newest and slow_start.seconds(backend, balance)
    if list.weighted or seconds then
        return weighted.choose(backend, failed, seconds)
    end
    local endpoint = next_of(backend, list)
    if failed then
        local tried = endpoints.tried(list)
        while tried and tried[endpoint] do
            endpoint = next_of(backend, list)
        end
    end
    return endpoint
end

return M
