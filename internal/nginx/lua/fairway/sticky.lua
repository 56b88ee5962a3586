-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Keeps a client on an endpoint by a cookie. Its value is "KEY|MARK". The key says which endpoint, in one of two ways: of a persistent cookie
-- it is a hash that names the endpoint, else any text, which is hashed to an endpoint. The mark says of which backend, for canary.lua.

local endpoints = require "fairway.endpoints"
local hash = require "fairway.hash"
local slow_start = require "fairway.slow_start"

local find, format, sub = string.find, string.format, string.sub
local md5 = ngx.md5
local random = math.random
local var = ngx.var

local M = {}

-- Gives key and mark of the client's cookie; nil without one.
local function read(affinity)
    local variable = affinity.variable
    if not variable then
        variable = "cookie_" .. affinity.name
        affinity.variable = variable
    end
    local value = var[variable]
    if not value or value == "" then
        return nil
    end
    local bar = find(value, "|", 1, true)
    if not bar then
        return value, ""
    end
    return sub(value, 1, bar - 1), sub(value, bar + 1)
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

-- The two kinds of keys: each finds the endpoint of a key, or nil, in the list of those that keep clients, and makes a key for a random
-- endpoint of the list of those that take new ones, if possible one that was not tried.
local persistent, balanced = {}, {}

-- The endpoints of a list by their keys.
local function keys_of(list)
    local keys = list.keys
    if not keys then
        keys = {}
        for i = 1, #list do
            local endpoint = list[i]
            endpoint.key = endpoint.key or md5("fairway endpoint " .. endpoints.name(endpoint))
            keys[endpoint.key] = endpoint
        end
        list.keys = keys
    end
    return keys
end

function persistent.find(list, key)
    return keys_of(list)[key]
end

function persistent.make(list, tried, _, seconds)
    local endpoint = endpoints.random(endpoints.untried(list, tried), seconds)
    keys_of(list)
    return endpoint, endpoint.key
end

function balanced.find(list, key)
    return hash.find(list, key)
end

-- A random key leads to a random endpoint; it takes some keys to meet one that was not tried and does not drain.
function balanced.make(list, tried, kept)
    local endpoint, key
    for _ = 1, kept == list and 64 or 64 * #kept do
        key = format("%08x%08x", random(0, 4294967295), random(0, 4294967295))
        endpoint = hash.find(kept, key)
        if not (tried and tried[endpoint] or endpoint.draining) then
            break
        end
    end
    return endpoint, key
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
    local list = backend.e
    local kept = backend.kept or list
    local key = read(affinity)
    local endpoint = key and key ~= "" and kind.find(kept, key)
    if endpoint and not (failed and (affinity.change_on_failure or endpoint.draining)) then
        return endpoint
    end
    local seconds = backend.newest and slow_start.seconds(backend, balance)
    local tried
    if failed then
        list, tried = endpoints.for_retry(backend)
        kept = list == backend.e and kept or list
    end
    endpoint, key = kind.make(list, tried, kept, seconds)
    give(affinity, key .. "|" .. mark_of(backend, backend_key))
    return endpoint
end

return M
