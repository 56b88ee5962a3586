-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Keeps a client on an endpoint by a cookie. Its value is "KEY|MARK". The key says which endpoint, in one of two ways: of a persistent cookie
-- it is a hash that names the endpoint, else any text, which is hashed to an endpoint. The mark says of which backend, for canary.lua.

local endpoints = require "fairway.endpoints"
local hash = require "fairway.hash"

local format = string.format
local md5 = ngx.md5
local random = math.random
local var = ngx.var

local M = {}

-- Gives key and mark of the client's cookie; nil without one.
local function read(affinity)
    local value = var["cookie_" .. affinity.name]
    if value and value ~= "" then
        return value:match("^([^|]*)|?(.*)$")
    end
end

-- Gives the mark of a backend. It hides the names of Services from clients.
local function mark_of(backend, key)
    backend.mark = backend.mark or md5("fairway backend " .. key)
    return backend.mark
end

-- Tells whether the client holds a cookie of this backend.
function M.holds(affinity, backend, key)
    local _, mark = read(affinity)
    return mark ~= nil and mark == mark_of(backend, key)
end

-- The two kinds of keys: each finds the place of a key, or nil, and makes a key for a random endpoint that was not tried.
local persistent, balanced = {}, {}

-- The endpoints' keys by place, and places by key.
local function keys_of(backend)
    if not backend.keys then
        backend.keys = {}
        for i, name in ipairs(endpoints.names(backend)) do
            local key = md5("fairway endpoint " .. name)
            backend.keys[i], backend.keys[key] = key, i
        end
    end
    return backend.keys
end

function persistent.find(backend, key)
    return keys_of(backend)[key]
end

function persistent.make(backend, tried)
    local place = endpoints.random(backend, tried)
    return place, keys_of(backend)[place]
end

function balanced.find(backend, key)
    return hash.place(backend, key)
end

-- A random key leads to a random endpoint; it takes some keys to meet one that was not tried.
function balanced.make(backend, tried)
    local place, key
    for _ = 1, 64 do
        key = format("%08x%08x", random(0, 4294967295), random(0, 4294967295))
        place = hash.place(backend, key)
        if not (tried and tried[place]) then
            break
        end
    end
    return place, key
end

-- Browsers that take SameSite=None for Strict, or refuse it.
local function mishandles_none()
    local agent = var.http_user_agent or ""
    return agent:find("Chrome/[456]")
        or agent:find("%(iP%a+; CPU [%a ]*OS 12[_%d]* ")
        or agent:find("Mac OS X 10_14", 1, true) and agent:find("Version/", 1, true) and agent:find("Safari", 1, true)
end

local function attributes(affinity)
    local list = "; Path=" .. affinity.path
    if affinity.domain then
        list = list .. "; Domain=" .. affinity.domain
    end
    if affinity.expires then
        list = list .. "; Expires=" .. ngx.http_time(math.max(0, ngx.time() + affinity.expires))
    end
    if affinity.max_age then
        list = list .. "; Max-Age=" .. format("%d", affinity.max_age)
    end
    if affinity.secure or var.scheme == "https" then
        list = list .. "; Secure"
    end
    list = list .. "; HttpOnly"
    local same_site = affinity.same_site
    if same_site and not (same_site == "None" and affinity.unless_broken and mishandles_none()) then
        list = list .. "; SameSite=" .. same_site
    end
    return list
end

-- Sets the cookie beside others; one of an earlier try of this request is replaced.
local function give(affinity, value)
    local cookies = {}
    local given = ngx.header["Set-Cookie"]
    if type(given) == "string" then
        given = { given }
    end
    local start = affinity.name .. "="
    for _, cookie in ipairs(given or {}) do
        if cookie:sub(1, #start) ~= start then
            cookies[#cookies + 1] = cookie
        end
    end
    cookies[#cookies + 1] = start .. value .. attributes(affinity)
    ngx.header["Set-Cookie"] = cookies
end

function M.choose(backend, balance, failed, backend_key)
    local affinity = balance.affinity
    local kind = affinity.persistent and persistent or balanced
    local key = read(affinity)
    local place = key and key ~= "" and kind.find(backend, key)
    if place and not (failed and affinity.change_on_failure) then
        return backend.e[place]
    end
    place, key = kind.make(backend, failed and endpoints.tried(backend) or nil)
    give(affinity, key .. "|" .. mark_of(backend, backend_key))
    return backend.e[place]
end

return M
