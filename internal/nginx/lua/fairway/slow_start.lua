-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Lets an endpoint that has joined others have its full share of the requests only after a while: its share grows evenly until then. An
-- endpoint that was there when the worker first asked for the backend has joined nobody.

local max = math.max
local now = ngx.now

local M = {}

local least = 0.05   -- of its full share, at the beginning
local longest = 3600 -- seconds that a slow start may take; see package annotation

-- Gives in how many seconds the endpoints that have joined a backend are to have their full share, nil when there are none of late. To be asked only
-- if backend.newest is set.
function M.seconds(backend, balance)
    local age = now() - backend.newest
    local seconds = balance and balance.slow_start or backend.slow_start
    if seconds and age < seconds then
        return seconds
    end
    if age > longest then
        backend.newest = nil
    end
end

-- Gives the part of its full share that an endpoint has now.
function M.share(endpoint, seconds)
    local since = endpoint.since
    local age = since and now() - since
    if not age or age >= seconds then
        return 1
    end
    return max(age / seconds, least)
end

-- Gives an endpoint's weight, or what it has of it now.
function M.weight(endpoint, seconds)
    local weight = endpoint[3] or 1
    if seconds and endpoint.since then
        weight = weight * M.share(endpoint, seconds)
    end
    return weight
end

return M
