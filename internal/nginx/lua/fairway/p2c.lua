-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Power of two choices: takes the one of two random endpoints that has fewer requests in flight, as all workers count them, by its weight. It is
-- nearly as even as least_conn, at the same cost for any number of endpoints.

local endpoints = require "fairway.endpoints"
local inflight = require "fairway.inflight"
local slow_start = require "fairway.slow_start"

local at = inflight.at
local weight_of = slow_start.weight

local M = { counts = true }

function M.choose(backend, balance, failed)
    local list = backend.e
    if failed then
        list = endpoints.remaining(backend)
    end
    local seconds = backend.newest and slow_start.seconds(backend, balance)
    local first, second = endpoints.two(list, seconds)
    local of_first, of_second = at(first), at(second)
    if list.weighted or seconds then
        of_first, of_second = of_first / weight_of(first, seconds), of_second / weight_of(second, seconds)
    end
    return of_second < of_first and second or first
end

return M
