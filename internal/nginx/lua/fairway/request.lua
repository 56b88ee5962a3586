-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Names the request under way by the address that nginx has it at. It stays the same from the first phase to the last, also across an internal
-- redirect, which ngx.ctx does not survive; the log phase is the last time that it means this request.

local base = require "resty.core.base"
require "resty.core.var" -- declares the function that reads a variable
local ffi = require "ffi"

local C = ffi.C
local cast, get_request = ffi.cast, base.get_request
local address = ffi.typeof("uintptr_t")
local lowcase, message = ffi.new("char[64]"), base.get_errmsg_ptr()
local text, length = ffi.new("unsigned char *[1]"), ffi.new("size_t[1]")

local M = {}

function M.address()
    return tonumber(cast(address, get_request()))
end

-- Gives where nginx has the value of a variable, and how long it is: what ngx.var does, by the same function, without making a string of it. It
-- holds until the request ends. The variable's name is in small letters, and not longer than 64.
function M.read_variable(name, name_length)
    if C.ngx_http_lua_ffi_var_get(get_request(), name, name_length, lowcase, 0, text, length, message) ~= 0 then
        return nil
    end
    return text[0], tonumber(length[0])
end

return M
