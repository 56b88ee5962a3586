-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Names the request under way by the address that nginx has it at. It stays the same from the first phase to the last, also across an internal
-- redirect, which ngx.ctx does not survive; the log phase is the last time that it means this request.

local base = require "resty.core.base"
local ffi = require "ffi"

local cast, get_request = ffi.cast, base.get_request
local address = ffi.typeof("uintptr_t")

local M = {}

function M.address()
    return tonumber(cast(address, get_request()))
end

return M
