-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Buckets of a histogram over whole numbers: milliseconds or bytes. Most values are small, so their places are in a table made in advance.

local ffi = require "ffi"

local M = {}

local small = 16384 -- values below it are in the table

local function search(bounds, count, value)
    local place = 0
    while place < count and value > bounds[place] do
        place = place + 1
    end
    return place
end

-- Takes the upper bounds, sorted, in the unit of the values. The last bucket, beyond all bounds, has the place #bounds.
function M.new(bounds)
    local count = #bounds
    local b = { count = count, bounds = ffi.new("double[?]", count + 1, bounds), small = ffi.new("uint16_t[?]", small) }
    for value = 0, small - 1 do
        b.small[value] = search(b.bounds, count, value)
    end
    return b
end

-- Gives the place of a value, counted from 0.
function M.place(b, value)
    if value < small then
        return b.small[value]
    end
    return search(b.bounds, b.count, value)
end

return M
