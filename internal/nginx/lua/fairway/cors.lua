-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Cross-origin requests (Fetch standard, "CORS protocol"): answers preflights and sets the headers that let a page read a response.

local answer = require "fairway.answer"
local origins = require "fairway.origins"

local var = ngx.var

local M = {}

local function compile(cors)
    cors.any = cors.origins[1] == "*"
    cors.set = origins.set(cors.origins)
    cors.fixed = {
        { "Access-Control-Allow-Credentials", cors.credentials and "true" or nil },
        { "Access-Control-Allow-Methods", cors.methods },
        { "Access-Control-Allow-Headers", cors.headers },
        { "Access-Control-Max-Age", ("%d"):format(cors.max_age) },
    }
    if cors.expose then
        cors.fixed[5] = { "Access-Control-Expose-Headers", cors.expose }
    end
end

-- Gives what to answer as the accepted origin, or nil.
local function accepted(cors)
    if not cors.set then
        compile(cors)
    end
    if cors.any then
        return "*"
    end
    local origin = var.http_origin
    return origin and origins.contains(cors.set, origin) and origin or nil
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
    for i = 1, #cors.fixed do
        local pair = cors.fixed[i]
        header[pair[1]] = pair[2]
    end
end

-- Answers OPTIONS of an accepted origin. A backend's own headers play no part, so nothing has to reach it.
function M.preflight(policy)
    if var.request_method == "OPTIONS" and accepted(policy.cors) then
        return answer.status(policy, 204)
    end
end

return M
