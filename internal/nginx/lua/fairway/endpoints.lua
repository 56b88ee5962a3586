-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- The endpoints of a backend, as a worker has them, and what the ways to balance have in common.
--
-- An endpoint is { address, port, weight, name = "address:port" } and what the ways to balance keep of it; a weight of 1 is absent. One that
-- stays when others come or go stays the same table, so that what is kept of it is never lost. A backend (see store.lua) has two lists:
-- `all` of them, and `e`, those that requests may go to. What is computed of a list hangs on the list, and is forgotten with it. An endpoint
-- that joined others has `since`, the time when it did; the backend has `newest`, the latest of these of late. See slow_start.lua. Where near
-- endpoints are preferred, `beyond`, which may be absent, are those of other zones that a request may be sent to when all of `e` have failed it.
--
-- A way to balance is a module with these members:
--
--   choose(backend, balance, failed, key)  gives one of backend.e, which has at least one. The balance is the route's (balanceEntry in package
--                                          nginx/state), `failed` tells whether an earlier try of the request failed, the key is the backend's
--   counts                                 true if it asks how many requests are at an endpoint; see inflight.lua
--   finished(endpoint)                     may be absent; with counts, called when a request ends that was at the endpoint last
--
-- Whoever has a reason not to use an endpoint sets `select` below.

local slow_start = require "fairway.slow_start"

local var = ngx.var
local floor, random = math.floor, math.random

local M = {
    -- A function of a backend that gives those of backend.all that requests may go to, or nil for all, never none; and what `beyond` is. It is
    -- asked when the endpoints change, and whenever somebody calls `renew`. The list must be a new one, in the order of backend.all.
    select = nil,
}

-- Gives an endpoint's name, as in $upstream_addr.
local function name_of(endpoint)
    local name = endpoint.name
    if not name then
        name = endpoint[1] .. ":" .. endpoint[2]
        endpoint.name = name
    end
    return name
end
M.name = name_of

-- Gives the endpoints of a list by their names.
function M.by_name(list)
    local names = list.names
    if not names then
        names = {}
        for i = 1, #list do
            names[name_of(list[i])] = list[i]
        end
        list.names = names
    end
    return names
end

-- Notes on a list whether its endpoints differ in weight.
local function weigh(list)
    local first = list[1] and list[1][3]
    for i = 2, #list do
        if list[i][3] ~= first then
            list.weighted = true
            return list
        end
    end
    return list
end
M.weigh = weigh

-- Notes when endpoints joined a list that others were on before: none has joined if all are new.
local function note_joined(backend, before, at)
    local list = backend.e
    if before == list or not before[1] then
        return
    end
    local had, joined = {}, {}
    for i = 1, #before do
        had[before[i]] = true
    end
    for i = 1, #list do
        if not had[list[i]] then
            joined[#joined + 1] = list[i]
        end
    end
    if #joined < #list then
        for i = 1, #joined do
            joined[i].since, backend.newest = at, at
        end
    end
end

local function choose_list(backend, before, at)
    local list, beyond
    if M.select then
        list, beyond = M.select(backend)
    end
    backend.e, backend.beyond = weigh(list or backend.all), beyond
    if before then
        note_joined(backend, before, at)
    end
end

-- Asks anew which endpoints of a backend requests may go to.
function M.renew(backend)
    choose_list(backend, backend.e, ngx.now())
end

-- Prepares a freshly decoded backend. `before` is what the worker knew of it until it changed, or nil.
function M.adopt(backend, before)
    local list = backend.e
    backend.all = list
    if not before then
        return choose_list(backend)
    end
    local known = M.by_name(before.all)
    for i = 1, #list do
        local same = known[name_of(list[i])]
        if same then
            same[3], list[i] = list[i][3], same
        end
    end
    backend.newest = before.newest
    choose_list(backend, before.e, before.retired)
end

-- Gives a table with true for each endpoint of a list that this request has tried, or nil when that is true of all; and the name of the
-- last.
function M.tried(list)
    local seen, last = {}, nil
    for name in (var.upstream_addr or ""):gmatch("[^, ]+") do
        seen[name], last = true, name
    end
    local tried, count = {}, 0
    for i = 1, #list do
        if seen[name_of(list[i])] then
            tried[list[i]] = true
            count = count + 1
        end
    end
    if count == #list then
        tried = nil
    end
    return tried, last
end

-- Gives a list without those that were tried; the same when `tried` is nil.
function M.untried(list, tried)
    if not tried then
        return list
    end
    local left = {}
    for i = 1, #list do
        if not tried[list[i]] then
            left[#left + 1] = list[i]
        end
    end
    return weigh(left)
end

-- Gives the list that another try of the request chooses from, what `tried` gives of it, and the name of the last that was tried: once all near
-- endpoints were, the list is that of other zones.
function M.for_retry(backend)
    local list = backend.e
    local tried, last = M.tried(list)
    if not tried and backend.beyond then
        list = backend.beyond
        tried = M.tried(list)
    end
    return list, tried, last
end

-- Gives a list of those that another try of the request may go to, and the name of the last that was tried.
function M.remaining(backend)
    local list, tried, last = M.for_retry(backend)
    return M.untried(list, tried), last
end

-- Gives the sums of the weights up to each endpoint of a list.
local function sums_of(list)
    local sums = list.sums
    if not sums then
        local sum = 0
        sums = {}
        for i = 1, #list do
            sum = sum + (list[i][3] or 1)
            sums[i] = sum
        end
        list.sums = sums
    end
    return sums
end

local function draw(list)
    local count = #list
    if not list.weighted then
        return list[random(count)]
    end
    local sums = sums_of(list)
    local mark = random() * sums[count]
    local from, to = 1, count
    while from < to do
        local middle = floor((from + to) / 2)
        if sums[middle] > mark then
            to = middle
        else
            from = middle + 1
        end
    end
    return list[from]
end

-- Gives an endpoint of a list by chance, each as often as its weight says; one that has just come, where `seconds` is how long it takes to
-- have its full share, less often.
function M.random(list, seconds)
    local endpoint = draw(list)
    if seconds then
        for _ = 1, 32 do
            if random() < slow_start.share(endpoint, seconds) then
                break
            end
            endpoint = draw(list)
        end
    end
    return endpoint
end

-- Gives two random endpoints of a list, different ones if there are. Where they differ in weight, or one has just come, the two may be the
-- same: else a heavy one, which nearly always stands in the pair, would not get more than others, nor a new one less.
function M.two(list, seconds)
    local count = #list
    if list.weighted or seconds then
        return M.random(list, seconds), M.random(list, seconds)
    end
    if count == 1 then
        return list[1], list[1]
    end
    local first = random(count)
    return list[first], list[(first + random(count - 1) - 1) % count + 1]
end

return M
