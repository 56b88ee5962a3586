-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- What the ways to balance have in common. Each is a function of a backend (see store.lua) with at least one endpoint, the route's balance
-- (balanceEntry in package nginx/state), whether an earlier try of the request failed, and the backend's key; it gives an
-- endpoint. It may keep what it computed in the backend, which is private to this worker and lives until its endpoints change.

local var = ngx.var

local M = {}

-- Gives the endpoints' names, "address:port" as in $upstream_addr, in their order.
function M.names(backend)
    local names = backend.names
    if not names then
        names = {}
        for i, endpoint in ipairs(backend.e) do
            names[i] = endpoint[1] .. ":" .. endpoint[2]
        end
        backend.names = names
    end
    return names
end

-- Gives a table with true for each endpoint, by its place, that this request has tried, or nil when that is true of all; and the name
-- of the last.
function M.tried(backend)
    local seen, last = {}, nil
    for name in (var.upstream_addr or ""):gmatch("[^, ]+") do
        seen[name], last = true, name
    end
    local tried, count = {}, 0
    for i, name in ipairs(M.names(backend)) do
        if seen[name] then
            tried[i] = true
            count = count + 1
        end
    end
    if count == #backend.e then
        tried = nil
    end
    return tried, last
end

-- Gives a random place among those that `tried`, which may be nil, leaves.
function M.random(backend, tried)
    local count = #backend.e
    if not tried then
        return math.random(count)
    end
    local left = {}
    for i = 1, count do
        if not tried[i] then
            left[#left + 1] = i
        end
    end
    return left[math.random(#left)]
end

return M
