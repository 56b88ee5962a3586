-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Cross-origin requests (Fetch standard, "CORS protocol"): answers preflights and sets the headers that let a page read a response.
-- The Ingress' origins are compared as text, whole, but for letter case; there is no expression that could match too much.

local answer = require "fairway.answer"

local var = ngx.var

local M = {}

-- Sorts the origins into whole ones and those of which one label is free: "https://*.a.example" is kept as "https://.a.example".
local function compile(cors)
    cors.whole, cors.wild = {}, {}
    cors.any = cors.origins[1] == "*"
    for _, origin in ipairs(cors.origins) do
        local scheme, rest = origin:match("^(.-://)%*(%..+)$")
        if scheme then
            cors.wild[scheme .. rest] = true
        else
            cors.whole[origin] = true
        end
    end
    cors.seconds = ("%d"):format(cors.max_age)
end

-- Gives what to answer as the accepted origin, or nil.
local function accepted(cors)
    if not cors.whole then
        compile(cors)
    end
    if cors.any then
        return "*"
    end
    local origin = var.http_origin
    if not origin then
        return nil
    end
    local lower = origin:lower()
    if cors.whole[lower] then
        return origin
    end
    local scheme, rest = lower:match("^([a-z][a-z0-9+.-]*://)[a-z0-9-]+(%..+)$")
    return scheme and cors.wild[scheme .. rest] and origin
end

-- Tells caches that the response is for one origin.
local function vary(header)
    local known = header.Vary
    if type(known) == "table" then
        known = table.concat(known, ", ")
    end
    if not known or known == "" then
        header.Vary = "Origin"
    elseif known ~= "*" and not ("," .. known:lower():gsub("%s", "") .. ","):find(",origin,", 1, true) then
        header.Vary = known .. ", Origin"
    end
end

-- Sets the headers of a response, in place of the backend's.
function M.respond(cors)
    local header = ngx.header
    local origin = accepted(cors)
    if not cors.any then
        vary(header)
    end
    if not origin then
        return
    end
    header["Access-Control-Allow-Origin"] = origin
    header["Access-Control-Allow-Credentials"] = cors.credentials and "true" or nil
    header["Access-Control-Allow-Methods"] = cors.methods
    header["Access-Control-Allow-Headers"] = cors.headers
    header["Access-Control-Max-Age"] = cors.seconds
    if cors.expose then
        header["Access-Control-Expose-Headers"] = cors.expose
    end
end

-- Answers OPTIONS of an accepted origin. A backend's own headers play no part, so nothing has to reach it.
function M.preflight(policy)
    if var.request_method == "OPTIONS" and accepted(policy.cors) then
        return answer.status(policy, 204)
    end
end

return M
