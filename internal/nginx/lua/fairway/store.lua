-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- The worker's view of the state that the controller pushed (layout: package nginx/state). Entries stand as JSON in shared
-- memory and are decoded when first asked for. Once per request `refresh` compares the generation with the one
-- this worker has seen, and if it moved drops just the entries that the change log names, so a push is obeyed by the very next
-- request of every worker.

local cjson = require "cjson.safe"
local adopt = require("fairway.endpoints").adopt
local registry = require "fairway.registry"

local zone = ngx.shared.fairway
local get = zone.get
local exiting = ngx.worker.exiting
local decode = cjson.decode

local M = {
    settings = nil, -- the decoded settings entry
}

local seen = 0        -- generation that the tables below agree with
local names = {}      -- requested host name -> decoded host, or false
local names_count = 0
local names_limit = 8192
-- Decoded entries are kept in two halves: when the young half is full it becomes the old one, and what is asked for moves over to the
-- new. So memory is bounded however many hosts there are, and what is in use stays.
local half_limit = 1500
local hosts, hosts_old, hosts_count = {}, {}, 0          -- host name -> decoded host
local backends, backends_old, backends_count = {}, {}, 0 -- backend key -> decoded backend
local retired, retired_before = {}, {} -- backends that went while a request may still hold their key
local retired_since = 0
local retired_for = 300 -- seconds that they are kept at least, longer than most request bodies take to arrive
local certificates = {} -- certificate ID -> { chain, key } as cdata
local server_names = {} -- TLS server name -> list of certificate IDs, or false
local server_names_count = 0

local empty = {}

local function retire(key, backend, at)
    local now = ngx.now()
    backend.retired = at
    if now - retired_since > retired_for then
        retired, retired_before, retired_since = {}, retired, now
    end
    retired[key] = backend
end

local function forget_everything()
    names, names_count = {}, 0
    hosts, hosts_old, hosts_count = {}, {}, 0
    local now = ngx.now()
    for _, half in ipairs { backends_old, backends } do
        for key, backend in pairs(half) do
            retire(key, backend, now)
        end
    end
    backends, backends_old, backends_count = {}, {}, 0
    certificates = {}
    server_names, server_names_count = {}, 0
    M.settings = nil
end

local function forget(key, at)
    local kind, name = key:byte(1), key:sub(3)
    if kind == 104 then -- h
        hosts[name], hosts_old[name] = nil, nil
        names, names_count = {}, 0
    elseif kind == 98 then -- b
        local backend = backends[name] or backends_old[name]
        if backend then
            retire(name, backend, at)
            backends[name], backends_old[name] = nil, nil
        end
    elseif kind == 99 then -- c
        certificates[name] = nil
    elseif kind == 115 then -- s
        server_names, server_names_count = {}, 0
    elseif kind == 103 then -- g
        M.settings = nil
        names, names_count = {}, 0 -- patterns may be others
    end
end

local function catch_up(generation)
    if exiting() and seen > 0 then
        return -- an old worker ends with the configuration and the state it had
    end
    for g = seen + 1, generation do
        local changed = seen > 0 and get(zone, "log:" .. g)
        local at, keys = (changed or ""):match("^(%S+)\t(.*)$")
        if not keys or keys == "*" then
            forget_everything()
            break
        end
        for key in keys:gmatch("[^\t]+") do
            forget(key, tonumber(at))
        end
    end
    seen = generation
    if not M.settings then
        local text = get(zone, "g:settings")
        M.settings = text and decode(text) or empty
        registry.default_balance(M.settings.balance)
    end
end

-- Makes the tables agree with shared memory. To be called once per request, before anything else of this module.
function M.refresh()
    local generation = get(zone, "generation") or 0
    if generation ~= seen then
        catch_up(generation)
    end
end

local function keep_host(name, host)
    if hosts_count >= half_limit then
        hosts, hosts_old, hosts_count = {}, hosts, 0
        names, names_count = {}, 0 -- it holds on to hosts too
    end
    hosts[name] = host
    hosts_count = hosts_count + 1
    return host
end

local load_host
function load_host(name)
    local host = hosts[name]
    if host then
        return host
    end
    host = hosts_old[name]
    if not host then
        local text = get(zone, "h:" .. name)
        host = text and decode(text)
        if not host then
            return false
        end
        if host.alias_of then
            return load_host(host.alias_of)
        end
        host.name = name
        registry.adopt(host, hosts, hosts_old)
    end
    return keep_host(name, host)
end

local function by_pattern(name)
    for _, entry in ipairs(M.settings and M.settings.patterns or empty) do
        if ngx.re.find(name, entry[1], "ijo") then
            return load_host(entry[2])
        end
    end
end

local function resolve(name)
    local host = name:byte(1) ~= 42 and load_host(name) -- a client that asks for "*.x" means no wildcard of ours
    if not host then
        local rest = name:match("^[%w_-]+(%..+)$")
        host = rest and load_host("*" .. rest)
    end
    host = host or by_pattern(name) or load_host("_") or false
    -- Anybody can ask for any name, so the table is bounded.
    if names_count >= names_limit then
        names, names_count = {}, 0
    end
    names[name] = host
    names_count = names_count + 1
    return host
end

-- Gives the host that answers for a requested name: itself, else its wildcard, else the catch-all host; false when there is no state.
function M.host(name)
    local host = names[name]
    if host == nil then
        host = resolve(name)
    end
    return host
end

local function keep_backend(key, backend)
    if backends_count >= half_limit then
        backends, backends_old, backends_count = {}, backends, 0
    end
    backends[key] = backend
    backends_count = backends_count + 1
    return backend
end

-- The balancing position is kept across a change of endpoints, so that frequent changes do not favour the first; for the rest see endpoints.lua.
local function load_backend(key)
    local backend = backends_old[key]
    if backend then
        return keep_backend(key, backend)
    end
    local text = get(zone, "b:" .. key)
    backend = text and decode(text)
    local before = retired[key] or retired_before[key]
    if not backend then
        return before
    end
    backend.position = before and before.position or math.random(0, 1048576)
    backend.clock = before and before.clock
    adopt(backend, before)
    return keep_backend(key, backend)
end

-- Gives the backend of a key, { n = log name, e = endpoints, all = endpoints, beyond = endpoints, position = number }, or nil. See endpoints.lua.
function M.backend(key)
    return backends[key] or load_backend(key)
end

-- See registry.lua.
M.policy = registry.policy
M.balance = registry.balance

-- Gives the IDs of the certificates for a TLS server name, itself or by its wildcard, or nil.
function M.certificate_ids(name)
    local ids = server_names[name]
    if ids == nil then
        local text = get(zone, "s:" .. name)
        if not text then
            local rest = name:match("^[%w_-]+(%..+)$")
            text = rest and get(zone, "s:*" .. rest)
        end
        ids = text and decode(text) or false
        if server_names_count >= names_limit then
            server_names, server_names_count = {}, 0
        end
        server_names[name] = ids
        server_names_count = server_names_count + 1
    end
    return ids or nil
end

-- Gives what `parse` made of the certificate with that ID; parsed once per worker. nil when there is none.
function M.certificate(id, parse)
    local parsed = certificates[id]
    if parsed == nil then
        local text = get(zone, "c:" .. id)
        parsed = text and parse(decode(text)) or false
        certificates[id] = parsed
    end
    return parsed or nil
end

return M
