-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Writes and reads $fairway_backend: the key of a backend, or, where the route has options of its own, " KEY CONNECT SEND READ TRIES BALANCE"
-- (layout: package nginx/state), which begins with a blank. A key has none.

local byte = string.byte

local M = {}

local blank = 32

local limit = 4096
local known, known_count = {}, 0 -- what was read, by the text: there are as many as routes that have their own

local function read(text)
    local key, connect, send, read_timeout, tries, balance = text:match("^ (%S+) (%S+) (%S+) (%S+) (%S+) (%S+)$")
    local options = {
        key = key, connect = tonumber(connect), send = tonumber(send), read = tonumber(read_timeout), tries = tonumber(tries), balance = balance,
    }
    if known_count >= limit then
        known, known_count = {}, 0
    end
    known[text] = options
    known_count = known_count + 1
    return options
end

-- Gives what the variable is for a backend's key, and options of the route, nil for none.
function M.of(key, options)
    return options and " " .. key .. " " .. options or key
end

-- Gives the key and { connect, send, read = seconds, nil for those of the settings, tries = number, balance = ID of a way to balance }; the key
-- alone when the settings say all of it.
function M.parse(text)
    if byte(text, 1) ~= blank then
        return text
    end
    local options = known[text] or read(text)
    return options.key, options
end

return M
