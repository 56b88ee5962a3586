-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Reads $fairway_backend: the key of a backend, followed by blanks and "CONNECT SEND READ TRIES BALANCE" where the route has its own
-- (layout: package nginx/state). A key has no blank.

local M = {}

local limit = 4096
local known, known_count = {}, 0 -- what was read, by the text: there are as many as routes that have their own

local function read(text)
    local key, connect, send, read_timeout, tries, balance = text:match("^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+)$")
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

-- Gives the key and { connect, send, read = seconds, nil for those of the settings, tries = number, balance = ID of a way to balance }; the key
-- alone when the settings say all of it.
function M.parse(text)
    if not text:find(" ", 1, true) then
        return text
    end
    local options = known[text] or read(text)
    return options.key, options
end

return M
