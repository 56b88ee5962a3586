-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Fills in templates: text in which ${name} stands for an nginx variable. Package annotation has checked the names.

local client = require "fairway.client"

local gsub, find, byte, format = string.gsub, string.find, string.byte, string.format
local var = ngx.var

local M = {}

-- The predecessor's own variables, and those that make sense in the location of FastCGI only.
local special = {
    best_http_host = client.host,
    escaped_request_uri = function() return ngx.escape_uri(var.request_uri) end,
    document_root = function() return "/usr/local/nginx/html" end, -- as in the configuration
    fastcgi_script_name = function() return var.fairway_script end,
    pass_access_scheme = client.scheme,
    pass_port = client.port,
    pass_server_port = client.port,
}

-- Most templates are: the check keeps them out of gsub, which LuaJIT can't compile.
local function is_constant(template)
    return not find(template, "${", 1, true)
end

local function value_of(name)
    local compute = special[name]
    return compute and compute() or var[name] or ""
end

-- The variable that a template consists of, false for one that is more: it needs no gsub either.
local limit = 4096
local alone, alone_count = {}, 0

local function note_alone(template)
    if alone_count >= limit then
        alone, alone_count = {}, 0
    end
    alone[template] = template:match("^%${([%w_]+)}$") or false
    alone_count = alone_count + 1
    return alone[template]
end

-- Gives the text with the values as they are; a variable without a value is empty.
function M.expand(template)
    local name = alone[template]
    if name == nil then
        name = note_alone(template)
    end
    if name then
        return value_of(name)
    end
    if is_constant(template) then
        return template
    end
    return (gsub(template, "%${([%w_]+)}", value_of))
end

local function escape(character)
    return format("%%%02X", byte(character))
end

-- Gives the text for the target of a request line: what would end it is escaped.
function M.expand_uri(template)
    if is_constant(template) then
        return template
    end
    return (gsub(M.expand(template), "[%c \127-\255]", escape))
end

-- Gives the text for a header: without line breaks.
function M.expand_header(template)
    if is_constant(template) then
        return template
    end
    return (gsub(M.expand(template), "%c", ""))
end

return M
