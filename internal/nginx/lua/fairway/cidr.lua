-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Sets of networks. A look-up costs one table access per prefix length that occurs in the set, whatever its size.

local bit = require "bit"

local band, rshift, lshift = bit.band, bit.rshift, bit.lshift
local byte, char, sub = string.byte, string.char, string.sub

local M = {}

local mapped = ("\0"):rep(10) .. "\255\255" -- what IPv4 addresses written as IPv6 begin with

-- Gives the first `length` bits of a binary address, the rest cut off or zero.
local function mask(address, length)
    local whole, rest = rshift(length, 3), band(length, 7)
    local head = sub(address, 1, whole)
    if rest == 0 then
        return head
    end
    return head .. char(band(byte(address, whole + 1), band(lshift(255, 8 - rest), 255)))
end

local function parse_ipv4(text)
    local a, b, c, d = text:match("^(%d+)%.(%d+)%.(%d+)%.(%d+)$")
    return a and char(tonumber(a), tonumber(b), tonumber(c), tonumber(d))
end

local function words(text)
    local list = {}
    for word in text:gmatch("[^:]+") do
        if word:find(".", 1, true) then
            local v4 = parse_ipv4(word)
            list[#list + 1] = v4:sub(1, 2)
            list[#list + 1] = v4:sub(3, 4)
        else
            local n = tonumber(word, 16)
            list[#list + 1] = char(rshift(n, 8), band(n, 255))
        end
    end
    return list
end

local function parse_ipv6(text)
    local left, right = text:match("^(.-)::(.*)$")
    if not left then
        return table.concat(words(text))
    end
    local head, tail = words(left), words(right)
    return table.concat(head) .. ("\0\0"):rep(8 - #head - #tail) .. table.concat(tail)
end

-- Gives the set of a list of networks in CIDR form, as Go's netip prints them. IPv4 written as IPv6 does not occur among them.
function M.set(networks)
    local set = {}
    for i = 1, #networks do
        local address, length = networks[i]:match("^(.+)/(%d+)$")
        local binary = parse_ipv4(address) or parse_ipv6(address)
        length = tonumber(length)
        local family = set[#binary]
        if not family then
            family = { lengths = {} }
            set[#binary] = family
        end
        if not family[length] then
            family[length] = {}
            family.lengths[#family.lengths + 1] = length
        end
        family[length][mask(binary, length)] = true
    end
    return set
end

-- Tells whether a binary address, 4 or 16 bytes as in $binary_remote_addr, is in the set. One written as IPv6 that is IPv4 counts as
-- IPv4, as it does for nginx.
function M.contains(set, address)
    if #address == 16 and sub(address, 1, 12) == mapped then
        address = sub(address, 13)
    end
    local family = set[#address]
    if not family then
        return false
    end
    local lengths = family.lengths
    for i = 1, #lengths do
        local length = lengths[i]
        if family[length][mask(address, length)] then
            return true
        end
    end
    return false
end

return M
