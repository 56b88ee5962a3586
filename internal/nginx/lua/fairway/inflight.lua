-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Counts the requests in flight at each endpoint, for the ways to balance that ask how busy one is.
--
-- Each worker counts in cells of its own, so counting needs no lock; the sum of an endpoint's cells is what all workers have there. The cells
-- lie in memory that the workers of one configuration have in common: the master maps it before it starts them, and it goes with the last of
-- them. An address has a slot, of which each worker has a cell; which slot stands in the dictionary fairway_slots. Slots are given out in
-- turn, and again when all were given out once.
--
-- No count can be lost: a request holds one endpoint at most, lets it go when it takes another, and in the log phase, which nginx runs at the
-- end of each request however that comes. A worker that takes the place of a crashed one sets the cells to zero that were left to it.

local ffi = require "ffi"
local request = require "fairway.request"

ffi.cdef [[
void *mmap(void *address, size_t length, int protection, int flags, int file, long offset);
int munmap(void *address, size_t length);
]]
local C = ffi.C
local address = request.address
local dictionary = ngx.shared.fairway_slots

local slots = 65536
local read_write, shared_anonymous = 3, 33 -- PROT_READ + PROT_WRITE, MAP_SHARED + MAP_ANONYMOUS of Linux

local M = {}

local cells            -- int32_t[slots * stride], nil while requests are not counted
local stride, own = 1, 0 -- cells of a slot, and which of them is this worker's
local sum_from           -- gives the sum of a slot's cells
local held, observers, held_count = {}, {}, 0 -- by the requests' addresses

-- Gives a function that adds up so many cells from a place on. Its sum is written out: LuaJIT does not compile a loop of a few rounds into
-- what is around it.
local function adder(count)
    local terms = {}
    for i = 1, count do
        terms[i] = "cells[first + " .. i - 1 .. "]"
    end
    return assert(loadstring("return function(cells, first) return " .. table.concat(terms, " + ") .. " end"))()
end

-- Maps the cells of so many workers. Runs in the master.
function M.share(workers)
    local size = slots * workers * 4
    local place = C.mmap(nil, size, read_write, shared_anonymous, -1, 0)
    if ffi.cast("intptr_t", place) == -1 then
        error("no memory to count requests in flight")
    end
    M.memory = ffi.gc(place, function(p) C.munmap(p, size) end) -- as long as somebody holds on to it
    cells, stride, sum_from = ffi.cast("int32_t *", place), workers, adder(workers)
end

-- Takes the cells that are this worker's.
function M.start()
    own = ngx.worker.id()
    if not (cells and own and own < stride) then
        cells = nil
        return
    end
    for slot = 0, math.min(dictionary:get("next") or 0, slots) do
        local cell = slot % slots * stride + own
        if cells[cell] ~= 0 then
            cells[cell] = 0
        end
    end
end

-- Gives the place of an endpoint's first cell.
local function first_cell(endpoint)
    local first = endpoint.cell
    if first then
        return first
    end
    local name = "slot:" .. endpoint[1] .. ":" .. endpoint[2]
    local slot = dictionary:get(name)
    if not slot then
        slot = dictionary:incr("next", 1, 0) % slots
        if not dictionary:add(name, slot) then
            slot = dictionary:get(name) or slot -- another worker was first
        end
    end
    endpoint.cell = slot * stride
    return endpoint.cell
end

-- Gives how many requests are at an endpoint.
function M.at(endpoint)
    if not cells then
        return 0
    end
    return sum_from(cells, endpoint.cell or first_cell(endpoint))
end

local function add(endpoint, number)
    local cell = first_cell(endpoint) + own
    cells[cell] = cells[cell] + number
end

-- Notes that the request goes to an endpoint, instead of one that it went to before. At the end of the request `observer`, if not nil, is
-- called with the endpoint.
function M.hold(endpoint, observer)
    if not cells or ngx.is_subrequest then
        return
    end
    local key = address()
    local before = held[key]
    if before then
        add(before, -1)
    else
        held_count = held_count + 1
    end
    held[key], observers[key] = endpoint, observer
    add(endpoint, 1)
end

-- Lets go of what the request holds. Runs in log_by_lua.
function M.finish()
    if held_count == 0 then
        return
    end
    local key = address()
    local endpoint = held[key]
    if not endpoint then
        return
    end
    local observer = observers[key]
    held[key], observers[key] = nil, nil
    held_count = held_count - 1
    add(endpoint, -1)
    if observer then
        observer(endpoint)
    end
end

return M
