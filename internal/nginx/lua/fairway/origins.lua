-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Sets of origins (RFC 6454), as package value lets them through: lower case, "null" or scheme://host with an optional port, whose host
-- may begin with "*." for one label. A look-up compares whole texts; there is no expression that could match too much.

local M = {}

-- Gives the set of a list.
function M.set(list)
    local set = { whole = {}, wild = {} }
    for i = 1, #list do
        local scheme, rest = list[i]:match("^([^*]+://)%*(%..+)$")
        if scheme then
            set.wild[scheme .. rest] = true
        else
            set.whole[list[i]] = true
        end
    end
    return set
end

-- Tells whether an Origin header, in any letter case, is one of the set. What stands for "*" is letters, digits and "-".
function M.contains(set, origin)
    origin = origin:lower()
    if set.whole[origin] then
        return true
    end
    local scheme, rest = origin:match("^([a-z][a-z0-9+.-]*://)[a-z0-9-]+(%..+)$")
    return scheme ~= nil and set.wild[scheme .. rest] == true
end

return M
