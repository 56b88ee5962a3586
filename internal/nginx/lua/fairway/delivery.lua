-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Brings what a worker has counted (traffic.lua) to the controller: once a second into a list in shared memory, from where the controller
-- fetches it over the admin socket. A message is a line "traffic LAYOUT SETS" and then for each set a line of its labels, its sums and
-- its counts as they are in memory, and with native histograms a line of words MEASURE:VALUE:COUNT; package nginx/traffic reads it.

local ffi = require "ffi"
local traffic = require "fairway.traffic"

local dict = ngx.shared.fairway_traffic
local key = "messages"

local M = {
    layout = "", -- names the buckets, so that numbers of others are never mixed in
}

local most_bytes = 64 * 1024       -- of a message
local most_answer = 4 * 1024 * 1024 -- of an answer to the controller

local function encode(set)
    -- What is excluded was counted into the scrap cell, which is not sent; its sum is.
    for measure = 1, traffic.measures do
        if traffic.excluded[measure] then
            set.sums[measure - 1] = 0
        end
    end
    local text = set.labels .. "\n" .. ffi.string(set.sums, traffic.measures * 8) .. ffi.string(set.counts, traffic.cells * 4)
    if not set.values then
        return text
    end
    local words = {}
    for measure = 1, traffic.measures do
        for value, count in pairs(set.values[measure] or {}) do
            words[#words + 1] = measure .. ":" .. value .. ":" .. count
        end
    end
    return text .. table.concat(words, " ") .. "\n"
end

local function reset(set)
    ffi.fill(set.sums, traffic.measures * 8)
    ffi.fill(set.counts, traffic.cells * 4)
    set.values = set.values and {}
    set.active = false
end

-- Puts the sets from `first` on that fit into one message into the list. Gives the place of the next, or nil when the list has no room.
local function send(active, first, count)
    local parts, bytes, last = {}, 0, first - 1
    while last < count and bytes < most_bytes do
        last = last + 1
        parts[#parts + 1] = encode(active[last])
        bytes = bytes + #parts[#parts]
    end
    local ok = dict:rpush(key, "traffic " .. M.layout .. " " .. #parts .. "\n" .. table.concat(parts))
    if not ok then
        return nil
    end
    for i = first, last do
        reset(active[i])
    end
    return last + 1
end

-- Delivers what was counted. What finds no room, because the controller is away, goes on counting.
function M.flush()
    local active, count = traffic.active, traffic.active_count
    local from = 1
    while from and from <= count do
        local next_from = send(active, from, count)
        if not next_from then
            break
        end
        from = next_from
    end
    local left = {}
    for i = from, count do
        left[#left + 1] = active[i]
    end
    traffic.active, traffic.active_count = left, #left
    traffic.forget()
end

-- Delivers once a second while the worker lives. The rest, of requests that end while an old worker drains, is delivered when it exits.
function M.start()
    local ok, err = ngx.timer.every(1, M.flush)
    if not ok then
        ngx.log(ngx.ERR, "timer of the metrics: ", err)
    end
end

-- Gives the messages for the controller, up to a size; "" when there are none.
function M.take()
    local parts, bytes = {}, 0
    while bytes < most_answer do
        local message = dict and dict:lpop(key)
        if not message then
            break
        end
        parts[#parts + 1] = message
        bytes = bytes + #message
    end
    return table.concat(parts)
end

return M
