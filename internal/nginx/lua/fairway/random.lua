-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Random bytes that nobody can guess, from the OpenSSL that nginx has in it.

local ffi = require "ffi"

ffi.cdef "int RAND_bytes(unsigned char *buffer, int count);"

return function(count)
    local buffer = ffi.new("unsigned char[?]", count)
    if ffi.C.RAND_bytes(buffer, count) ~= 1 then
        error("no random bytes")
    end
    return ffi.string(buffer, count)
end
