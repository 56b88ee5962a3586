-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Takes an endpoint by chance, each as often as its weight says. (random.lua has the random numbers that nobody can guess.)

local endpoints = require "fairway.endpoints"
local slow_start = require "fairway.slow_start"

local M = {}

function M.choose(backend, balance, failed)
    local list = backend.e
    if failed then
        list = endpoints.remaining(backend)
    end
    return endpoints.random(list, backend.newest and slow_start.seconds(backend, balance))
end

return M
