-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Reads $fairway_backend: the key of a backend, followed by blanks and "CONNECT SEND READ TRIES BALANCE" where the route has its own
-- (layout: package nginx/state). A key has no blank.

local M = {}

-- Gives key, connect, send, read, tries and the ID of a way to balance; the key alone when the settings say the rest.
function M.parse(text)
    if not text:find(" ", 1, true) then
        return text
    end
    return text:match("^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+)$")
end

return M
