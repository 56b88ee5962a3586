-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Round robin: one after the other; workers begin at different places. After a failure the next that was not tried.

local endpoints = require "fairway.endpoints"

local function next_of(backend)
    local list = backend.e
    local position = backend.position % #list + 1
    backend.position = position
    return list[position], position
end

return function(backend, _, failed)
    local endpoint, position = next_of(backend)
    if failed then
        local tried = endpoints.tried(backend)
        while tried and tried[position] do
            endpoint, position = next_of(backend)
        end
    end
    return endpoint
end
