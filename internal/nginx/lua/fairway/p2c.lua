-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Power of two choices: takes the one of two random endpoints that has fewer requests in flight, as all workers count them, by its weight. It is
-- nearly as even as least_conn, at the same cost for any number of endpoints.

local endpoints = require "fairway.endpoints"
local inflight = require "fairway.inflight"

local M = { counts = true }

function M.choose(backend, _, failed)
    local list = backend.e
    if failed then
        list = endpoints.untried(list, endpoints.tried(list))
    end
    local first, second = endpoints.two(list)
    if inflight.at(second) / (second[3] or 1) < inflight.at(first) / (first[3] or 1) then
        return second
    end
    return first
end

return M
