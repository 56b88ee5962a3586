-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- What the settings ask of every request, whatever its host: clients that are blocked, requests that are not logged, headers for backends and
-- for clients. Nothing of this runs unless a setting asks for it.

local cidr = require "fairway.cidr"
local store = require "fairway.store"
local template = require "fairway.template"

local find = ngx.re.find
local var = ngx.var

local M = {}

-- Tells whether a text is one of those of the list, { texts = { TEXT: 1 }, patterns = [[EXPRESSION, OPTIONS]…] }. An expression that cannot be
-- evaluated counts as found, as lists keep out.
local function matches(list, text)
    if not list or not text then
        return false
    end
    if list.texts and list.texts[text:lower()] then
        return true
    end
    for _, pattern in ipairs(list.patterns or {}) do
        local from, _, err = find(text, pattern[1], pattern[2])
        if from or err then
            return true
        end
    end
    return false
end

-- Gives the set of a list of networks, which is made once for each version of the settings.
local function set_of(owner, name)
    local key = name .. "_set"
    if not owner[key] then
        owner[key] = cidr.set(owner[name])
    end
    return owner[key]
end

local function is_blocked(block)
    return block.networks and cidr.contains(set_of(block, "networks"), var.binary_remote_addr)
        or matches(block.agents, var.http_user_agent) or matches(block.referers, var.http_referer)
end

-- Runs first for each request when settings.everywhere is there.
function M.check(rules)
    if rules.block and is_blocked(rules.block) then
        return ngx.exit(403)
    end
    if matches(rules.skip_log, var.request_uri) then
        var.fairway_unlogged = "1"
    end
    if rules.original_uri then
        ngx.req.set_header("X-Original-URI", var.request_uri)
    end
    for _, header in ipairs(rules.request_headers or {}) do
        ngx.req.set_header(header[1], template.expand_header(header[2]))
    end
end

-- Tells whether the client may read /nginx_status.
function M.may_read_status()
    local settings = store.settings
    return settings.status_from and cidr.contains(set_of(settings, "status_from"), var.binary_remote_addr)
end

-- Sets the headers of every response. Runs in header_filter_by_lua, only in a configuration for which there are any.
function M.respond()
    store.refresh()
    for _, header in ipairs(store.settings.response_headers or {}) do
        ngx.header[header[1]] = template.expand_header(header[2])
    end
end

return M
