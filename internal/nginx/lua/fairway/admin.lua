-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Answers the controller on the admin socket: GET /status says which state and configuration this nginx has, POST /push applies a push, POST
-- /traffic gives what requests were counted since it was last asked, GET /zones the size and the free bytes of each shared memory, GET /ejected
-- the endpoints that get no requests for a while because they failed some.

local cjson = require "cjson.safe"
local state = require "fairway.state"

local M = {}

local function answer(status, body)
    ngx.status = status
    ngx.header.content_type = "application/json"
    body.configuration = M.configuration
    body.generation = state.generation()
    ngx.print(cjson.encode(body))
    return ngx.exit(status)
end

local function push()
    ngx.req.read_body()
    local text = ngx.req.get_body_data()
    if not text then
        return answer(400, { error = "push has no body" })
    end
    local base = tonumber(ngx.var.http_fairway_base)
    local current = state.generation()
    if base ~= current and base ~= current - 1 then
        return answer(409, { error = "push is for generation " .. tostring(base) })
    end
    local generation, err = state.apply(text)
    if not generation then
        return answer(err == "no memory" and 507 or 400, { error = err })
    end
    return answer(200, {})
end

local function zones()
    local sizes = {}
    for name, zone in pairs(ngx.shared) do
        sizes[name] = { zone:capacity(), zone:free_space() }
    end
    return sizes
end

-- The hash of the configuration this worker runs; set by init.
M.configuration = ""

function M.handle()
    local method, path = ngx.req.get_method(), ngx.var.uri
    if method == "GET" and path == "/status" then
        return answer(200, { pid = ngx.worker.pid() })
    end
    if method == "POST" and path == "/push" then
        return push()
    end
    if method == "POST" and path == "/traffic" then
        return ngx.print(require("fairway.delivery").take())
    end
    if method == "GET" and path == "/zones" then
        return answer(200, { zones = zones() })
    end
    if method == "GET" and path == "/ejected" then
        return answer(200, require("fairway.outlier").report())
    end
    return answer(404, { error = "no such resource" })
end

return M
