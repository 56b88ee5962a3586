-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Consistent hashing by rendezvous: every endpoint mixes a number of its own with the key's, and the highest result wins. So an endpoint
-- that comes or goes moves only the keys that it wins, each key has a second choice and a third, and there is no ring to build. The
-- numbers depend on addresses and ports alone, so all workers and replicas agree.

local bit = require "bit"
local endpoints = require "fairway.endpoints"
local template = require "fairway.template"

local band, bxor, lshift, rshift, tobit = bit.band, bit.bxor, bit.lshift, bit.rshift, bit.tobit
local crc32 = ngx.crc32_long
local random = math.random

local M = {}

-- The product modulo 2^32. In two halves, as Lua's numbers are exact up to 2^53 only.
local function multiply(a, b)
    return tobit(band(a, 0xffff) * b + lshift(tobit(rshift(a, 16) * b), 16))
end

-- Spreads the bits of a number: the last step of MurmurHash3.
local function mix(x)
    x = multiply(bxor(x, rshift(x, 16)), 0x85ebca6b)
    x = multiply(bxor(x, rshift(x, 13)), 0xc2b2ae35)
    return bxor(x, rshift(x, 16))
end

local function numbers_of(names)
    local numbers = {}
    for i, name in ipairs(names) do
        numbers[i] = mix(crc32(name))
    end
    return numbers
end

-- Gives the place of the winner among those that `skip`, a table by place or nil, leaves.
local function winner(numbers, key, skip)
    local number = mix(crc32(key))
    local place, highest = nil, -2147483649
    for i = 1, #numbers do
        local score = mix(bxor(number, numbers[i]))
        if score > highest and not (skip and skip[i]) then
            place, highest = i, score
        end
    end
    return place
end

-- Gives the place of the endpoint for a key, among those that `tried`, which may be nil, leaves.
function M.place(backend, key, tried)
    local numbers = backend.numbers
    if not numbers then
        numbers = numbers_of(endpoints.names(backend))
        backend.numbers = numbers
    end
    return winner(numbers, key, tried)
end

-- Cuts the endpoints in their order into groups of a size; the last is filled up from the first.
local function cut(count, size)
    local groups, names = {}, {}
    for first = 1, count, size do
        local group = {}
        for i = first, first + math.min(size, count) - 1 do
            group[#group + 1] = (i - 1) % count + 1
        end
        groups[#groups + 1] = group
        names[#names + 1] = "group " .. #groups
    end
    groups.numbers = numbers_of(names)
    return groups
end

local function groups_of(backend, size)
    backend.groups = backend.groups or {}
    local groups = backend.groups[size]
    if not groups then
        groups = cut(#backend.e, size)
        backend.groups[size] = groups
    end
    return groups
end

local function untried(group, tried)
    local left = {}
    for _, place in ipairs(group) do
        if not tried[place] then
            left[#left + 1] = place
        end
    end
    return left
end

-- Gives the place of a random endpoint of the key's group; when all of that were tried, of the next group.
local function in_group(backend, size, key, tried)
    local groups = groups_of(backend, size)
    local group = groups[winner(groups.numbers, key)]
    if not tried then
        return group[random(#group)]
    end
    local skip = {}
    for i, other in ipairs(groups) do
        skip[i] = #untried(other, tried) == 0
    end
    local left = untried(groups[winner(groups.numbers, key, skip)], tried)
    return left[random(#left)]
end

function M.choose(backend, balance, failed)
    local key = template.expand(balance.hash_by)
    local tried = failed and endpoints.tried(backend) or nil
    if balance.subset then
        return backend.e[in_group(backend, balance.subset, key, tried)]
    end
    return backend.e[M.place(backend, key, tried)]
end

return M
