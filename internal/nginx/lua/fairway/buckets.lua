-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Cells of histograms over whole numbers: milliseconds or bytes. All buckets of all measures have one array of cells; this tells in which
-- cell a value of a measure counts. Most values are small, so their cells are in a table made in advance.

local ffi = require "ffi"

local M = {
    measures = 7,
    small = 16384, -- values below it are in the table
}

-- By measure, counted from 0, and value.
M.cells = ffi.new("uint16_t[?][16384]", M.measures)

local histograms = {} -- by measure, counted from 1: { cell of the first bucket, upper bounds }, or false
local scrap           -- the cell for measures that are not counted

-- Gives the cell of any value.
function M.search(measure, value)
    local histogram = histograms[measure]
    if not histogram then
        return scrap
    end
    local first, bounds = histogram[1], histogram[2]
    local place = 0
    while place < #bounds and value > bounds[place + 1] do
        place = place + 1
    end
    return first + place
end

-- Takes for each measure the upper bounds, sorted, in the unit of the values, or false, and the first cell that is free. Gives the first that is
-- free behind the buckets; that cell counts what nobody wants to know.
function M.lay_out(all_bounds, cell)
    for measure = 1, M.measures do
        local bounds = all_bounds[measure]
        histograms[measure] = bounds and { cell, bounds }
        cell = cell + (bounds and #bounds + 1 or 0) -- the last bucket is beyond all bounds
    end
    scrap = cell
    for measure = 1, M.measures do
        for value = 0, M.small - 1 do
            M.cells[measure - 1][value] = M.search(measure, value)
        end
    end
    return cell
end

return M
