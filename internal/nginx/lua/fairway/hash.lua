-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Consistent hashing by rendezvous: every endpoint mixes a number of its own with the key's, and the highest result wins. So an endpoint
-- that comes or goes moves only the keys that it wins, each key has a second choice and a third, and there is no ring to build. The
-- numbers depend on addresses and ports alone, so all workers and replicas agree. Where endpoints differ in weight, each result is bent so
-- that it wins as often as its weight says (weighted rendezvous hashing).

local bit = require "bit"
local endpoints = require "fairway.endpoints"
local template = require "fairway.template"

local bxor, rshift, tobit = bit.bxor, bit.rshift, bit.tobit
local crc32 = ngx.crc32_long
local log = math.log

local M = {}

-- Spreads the bits of a number. The factors have 20 bits, as products of Lua's numbers are exact up to 2^53, and bit.tobit takes up to 2^51.
local function mix(x)
    x = tobit(bxor(x, rshift(x, 16)) * 0xd2b75)
    x = tobit(bxor(x, rshift(x, 13)) * 0xb55a5)
    x = tobit(bxor(x, rshift(x, 15)) * 0xac4cb)
    return bxor(x, rshift(x, 16))
end

local function numbers_of(names)
    local numbers = {}
    for i = 1, #names do
        numbers[i] = mix(crc32(names[i]))
    end
    return numbers
end

-- Gives the place of the winner among numbers, for that of a key.
local function winner(numbers, number)
    local place, highest = nil, -2147483649
    for i = 1, #numbers do
        local score = mix(bxor(number, numbers[i]))
        if score > highest then
            place, highest = i, score
        end
    end
    return place
end

-- Gives the places of a list's endpoints by weight, with their numbers in that order, and of the last of each weight what it is: among
-- endpoints of one weight the highest number wins, so that only these have to be bent.
local function classes_of(list, numbers)
    local places = {}
    for i = 1, #list do
        places[i] = i
    end
    table.sort(places, function(a, b)
        local one, other = list[a][3] or 1, list[b][3] or 1
        return one < other or one == other and a < b
    end)
    local classes = { places = places, numbers = {}, ends = {} }
    for i = 1, #places do
        local weight, after = list[places[i]][3] or 1, list[places[i + 1]]
        classes.numbers[i] = numbers[places[i]]
        classes.ends[i] = not (after and (after[3] or 1) == weight) and weight
    end
    return classes
end

local function weighted_winner(list, numbers, number)
    local classes = list.classes
    if not classes then
        classes = classes_of(list, numbers)
        list.classes = classes
    end
    local in_order, ends = classes.numbers, classes.ends
    local place, highest = nil, -1
    local best, most = nil, -2147483649
    for i = 1, #in_order do
        local result = mix(bxor(number, in_order[i]))
        if result > most then
            best, most = i, result
        end
        local weight = ends[i]
        if weight then
            local score = weight / -log((most + 2147483648.5) / 4294967296) -- of a number between 0 and 1
            if score > highest then
                place, highest = best, score
            end
            most = -2147483649
        end
    end
    return classes.places[place]
end

-- Gives the endpoint of a list for a key.
function M.find(list, key)
    local numbers = list.numbers
    if not numbers then
        local names = {}
        for i = 1, #list do
            names[i] = endpoints.name(list[i])
        end
        numbers = numbers_of(names)
        list.numbers = numbers
    end
    local number = mix(crc32(key))
    return list[list.weighted and weighted_winner(list, numbers, number) or winner(numbers, number)]
end

-- Cuts a list in its order into groups of a size; the last is filled up from the first.
local function cut(list, size)
    local count = #list
    local groups, names = {}, {}
    for first = 1, count, size do
        local group = {}
        for i = first, first + math.min(size, count) - 1 do
            group[#group + 1] = list[(i - 1) % count + 1]
        end
        groups[#groups + 1] = endpoints.weigh(group)
        names[#names + 1] = "group " .. #groups
    end
    groups.numbers = numbers_of(names)
    return groups
end

local function groups_of(list, size)
    list.groups = list.groups or {}
    local groups = list.groups[size]
    if not groups then
        groups = cut(list, size)
        list.groups[size] = groups
    end
    return groups
end

-- Gives a random endpoint of the key's group; when all of that were tried, of the one that would have the key without it.
local function in_group(list, size, key, tried)
    local groups = groups_of(list, size)
    local number = mix(crc32(key))
    local group = groups[winner(groups.numbers, number)]
    if not tried then
        return endpoints.random(group)
    end
    local left, numbers = {}, {}
    for i = 1, #groups do
        local untried = endpoints.untried(groups[i], tried)
        if untried[1] then
            left[#left + 1], numbers[#numbers + 1] = untried, groups.numbers[i]
        end
    end
    return endpoints.random(left[winner(numbers, number)])
end

function M.choose(backend, balance, failed)
    local list = backend.e
    local key = template.expand(balance.hash_by)
    local tried
    if failed then
        list, tried = endpoints.for_retry(backend)
    end
    if balance.subset then
        return in_group(list, balance.subset, key, tried)
    end
    return M.find(endpoints.untried(list, tried), key)
end

return M
