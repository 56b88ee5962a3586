-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Verifies passwords with nginx' own ngx_crypt: {PLAIN}, {SHA}, {SSHA}, apr1, and whatever crypt(3) knows. This module also runs in threads
-- beside the worker, so it needs nothing but FFI.

local ffi = require "ffi"
local bit = require "bit"

ffi.cdef [[
typedef struct { void *configuration; void *pool; void *log; } fairway_cycle_t; // the beginning of ngx_cycle_t
extern fairway_cycle_t *ngx_cycle;
void *ngx_create_pool(size_t size, void *log);
void ngx_destroy_pool(void *pool);
intptr_t ngx_crypt(void *pool, const unsigned char *key, const unsigned char *salt, unsigned char **encrypted);
]]

local C = ffi.C
local bor, bxor, byte = bit.bor, bit.bxor, string.byte

local M = {}

-- Tells whether two texts are equal, in a time that only depends on their lengths.
function M.equal(a, b)
    if #a ~= #b then
        return false
    end
    local difference = 0
    for i = 1, #a do
        difference = bor(difference, bxor(byte(a, i), byte(b, i)))
    end
    return difference == 0
end

-- Tells whether `hash` is of that password, in which there is no zero byte. Package value has seen to the form of hashes.
function M.verify(password, hash)
    local pool = C.ngx_create_pool(1024, C.ngx_cycle.log)
    if pool == nil then
        return false
    end
    local made = ffi.new("unsigned char *[1]")
    local same = C.ngx_crypt(pool, password, hash, made) == 0 and M.equal(ffi.string(made[0]), hash)
    C.ngx_destroy_pool(pool)
    return same
end

return M
