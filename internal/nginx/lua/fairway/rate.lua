-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Rates by the generic cell rate algorithm (ITU-T I.371): all that is kept of a client is the time at which it would be back at zero if it
-- stayed away from now on. Each request moves it by one interval, and it may be a burst of intervals ahead. That lets through what nginx'
-- limit_req with nodelay does.

local md5_bin = ngx.md5_bin
local max = math.max

local M = {}

-- The sum of many intervals may miss the burst by so many seconds.
local slack = 1e-4

-- Gives a rate of so many requests per so many seconds, with a burst of so many at once beyond. The numbers are part of the key of
-- the counters, so nobody waits for what an earlier rate ran up.
function M.new(name, requests, seconds, burst)
    local interval = seconds / requests
    return { interval = interval, ahead = burst * interval + slack, prefix = md5_bin(table.concat({ name, requests, seconds, burst }, " ")) }
end

-- Gives the name of a client's counter. Addresses, and other short keys, stand in it as they are.
local function counter(rate, client)
    return rate.prefix .. (#client <= 16 and client or md5_bin(client))
end

-- Tells whether a request of `client` at `time` keeps all rates, and only then counts it, for each of them. The zone is shared memory; reading and
-- writing it are two steps, so workers that serve one client in the same microsecond may let one request too many through.
function M.admits(zone, rates, client, time)
    local keys, back = {}, {}
    for i = 1, #rates do
        local rate = rates[i]
        keys[i] = counter(rate, client)
        back[i] = max(zone:get(keys[i]) or 0, time)
        if back[i] - time > rate.ahead then
            return false
        end
    end
    for i = 1, #rates do
        local at = back[i] + rates[i].interval
        zone:set(keys[i], at, max(at - time, 1)) -- whoever is gone from the zone is at zero
    end
    return true
end

return M
