-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Chooses among the canaries of a route: an affinity cookie leads back to where it came from; then the headers of all canaries decide, then
-- their cookies, then chance. One draw decides between any number of weights.

local sticky = require "fairway.sticky"
local store = require "fairway.store"

local re_find = ngx.re.find
local random = math.random
local var = ngx.var

-- Gives true for yes, false for never, nil for no word on it.
local function by_header(canary)
    if not canary.h then
        return nil
    end
    if not canary.variable then
        canary.variable = "http_" .. canary.h:lower():gsub("-", "_")
    end
    local value = var[canary.variable]
    if not value then
        return nil
    end
    if canary.hv then
        return value == canary.hv or nil
    end
    if canary.hp then
        local from, _, err = re_find(value, canary.hp, "jo")
        if err then
            return false
        end
        return from ~= nil or nil
    end
    if value == "always" then
        return true
    end
    if value == "never" then
        return false
    end
end

local function by_cookie(canary)
    local value = canary.k and var["cookie_" .. canary.k]
    if value == "always" then
        return true
    end
    if value == "never" then
        return false
    end
end

local deciders = { by_header, by_cookie }

local function alive(canary)
    local backend = store.backend(canary.b)
    return backend and backend.e[1] and backend
end

-- Gives the canary, and its backend, whose affinity cookie the client holds; true for the cookie of the main backend; nil for none. A
-- canary without affinity has no cookie.
local function by_affinity(canaries, affinity, key)
    local main = store.backend(key)
    if main and sticky.holds(affinity, main, key) then
        return true
    end
    for i = 1, #canaries do
        local canary = canaries[i]
        local own = canary.balance and canary.balance.affinity
        local backend = own and alive(canary)
        if backend and sticky.holds(own, backend, canary.b) then
            return canary, backend
        end
    end
end

-- Gives the canary that takes this request and its backend, or nil. Takes the canaries of a route, how it balances, and the key of its main backend.
return function(canaries, balance, key)
    if balance and balance.affinity then
        local canary, backend = by_affinity(canaries, balance.affinity, key)
        if canary then
            return canary ~= true and canary or nil, backend
        end
    end
    local refused
    for _, decide in ipairs(deciders) do
        for i = 1, #canaries do
            local canary = canaries[i]
            local verdict
            if not (refused and refused[i]) then
                verdict = decide(canary)
            end
            if verdict == true then
                local backend = alive(canary)
                if backend then
                    return canary, backend
                end
            elseif verdict == false then
                refused = refused or {}
                refused[i] = true
            end
        end
    end
    local draw, sum = random(), 0
    for i = 1, #canaries do
        local canary = canaries[i]
        if canary.w and not (refused and refused[i]) then
            sum = sum + canary.w
            if draw < sum then
                local backend = alive(canary)
                if backend then
                    return canary, backend
                end
                return nil
            end
        end
    end
end
