-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Asks another server whether a request may pass. A request that has to be asked about goes to a shape with auth_request, which makes a
-- subrequest to the location "fairway:auth"; request and subrequest share their variables. The course of one question:
--
--   prepare     rewrite phase of the entry location: takes a kept answer, or sets the variables of the question
--   ask         rewrite phase of the question: skips it when it needs no answer
--   answered    header filter of the question: keeps what the request needs of the answer
--   authorized  access phase of the shape: gives the request the headers of the answer
--   respond     header filter of the shape: cookies of the answer, the redirect to the login

local cjson = require "cjson.safe"
local client = require "fairway.client"
local login = require "fairway.login"
local template = require "fairway.template"
local url_balancer = require "fairway.url_balancer"
local store = require "fairway.store"

local answers = ngx.shared.fairway_answers
local var = ngx.var

local M = {}

local passed = "passed" -- of $fairway_auth_state: nobody has to be asked; otherwise it is empty or the client's own headers as JSON

-- Statuses of responses that get the answer's cookies without always_set_cookie, as nginx' add_header has them.
local cookie_statuses = {
    [200] = true, [201] = true, [204] = true, [206] = true, [301] = true, [302] = true, [303] = true, [304] = true, [307] = true, [308] = true,
}

local function as_list(value)
    if type(value) == "table" then
        return value
    end
    return value and { value } or {}
end

-- Gives the kept answer to a request, or nil, and notes the place for a fresh one: the question has other arguments than the request.
local function recall(auth)
    if not auth.cache_key then
        return nil
    end
    local key = table.concat({ var.fairway_policy, var.host, template.expand(auth.cache_key) }, "\n")
    var.fairway_auth_key = key
    return answers:get(key)
end

local function keep(auth, status, text)
    local seconds = auth.cache_key and (auth.cache_for[tostring(status)] or auth.cache_for["0"])
    if seconds then
        answers:set(var.fairway_auth_key, text, seconds)
    end
end

-- Adds the headers of the question to the request, as the subrequest's are the request's. What they replace is noted for later.
local function add_headers(auth)
    local before = {}
    local headers = ngx.req.get_headers(0)
    for _, header in ipairs(auth.request_headers) do
        before[header[1]] = headers[header[1]] or false
        ngx.req.set_header(header[1], header[2])
    end
    var.fairway_auth_state = cjson.encode(before)
end

local function remove_headers(state)
    for name, value in pairs(cjson.decode(state) or {}) do
        ngx.req.set_header(name, value or nil)
    end
end

local function set_question(auth)
    local url = auth.url
    local host = template.expand_header(url.host)
    local key, name, target = url_balancer.resolve(url, "fairway_question", host, template.expand_uri(url.path))
    var.fairway_auth_backend, var.fairway_auth_name, var.fairway_auth_target = key, name, target
    var.fairway_auth_host = host
    var.fairway_auth_method = auth.method or "GET"
    var.fairway_auth_redirect = auth.redirect or var.request_uri
    if auth.method then
        var.fairway_auth_original, var.fairway_auth_scheme = var.request_uri, client.scheme()
    end
    if auth.request_headers then
        add_headers(auth)
    end
end

-- Prepares the question about a request, unless `satisfied` says that none is needed.
function M.prepare(policy, satisfied)
    local auth = policy.auth
    var.fairway_policy = policy.id
    if satisfied then
        var.fairway_auth_state = passed
        return
    end
    local kept = recall(auth)
    if kept then
        var.fairway_auth_answer = kept
        local answer = cjson.decode(kept)
        if answer.status < 300 then
            var.fairway_auth_state = passed
            return
        end
    end
    set_question(auth)
end

-- A kept refusal is answered here too, so that auth_request treats it as it does a fresh one.
function M.ask()
    if var.fairway_auth_state == passed then
        return ngx.exit(204)
    end
    local kept = var.fairway_auth_answer
    if kept ~= "" then
        local answer = cjson.decode(kept)
        ngx.header["WWW-Authenticate"] = answer.challenge
        return ngx.exit(answer.status)
    end
end

function M.answered()
    if var.fairway_auth_state == passed or var.fairway_auth_answer ~= "" then
        return
    end
    local policy = store.policy(var.fairway_policy)
    if not policy then
        return
    end
    local auth = policy.auth
    local given = ngx.resp.get_headers(0)
    local answer = { status = ngx.status, cookies = as_list(given["Set-Cookie"]), challenge = given["WWW-Authenticate"], headers = {} }
    for _, name in ipairs(auth.response_headers or {}) do
        answer.headers[name] = given[name]
    end
    local text = cjson.encode(answer)
    keep(auth, answer.status, text)
    var.fairway_auth_answer = text
end

function M.authorized()
    local policy = store.policy(var.fairway_policy)
    if not policy then
        return ngx.exit(503) -- the policy is unknown by now: nothing may pass that was not cleaned
    end
    local state = var.fairway_auth_state
    if state ~= "" and state ~= passed then
        remove_headers(state)
    end
    if policy.login then
        login.take() -- the other server has seen them
    end
    local answer = cjson.decode(var.fairway_auth_answer) or { headers = {} }
    for _, name in ipairs(policy.auth.response_headers or {}) do
        ngx.req.set_header(name, answer.headers[name])
    end
end

-- Tells whether a URL has a query parameter with a value.
local function has_parameter(url, name)
    local query = url:match("%?(.*)$")
    for pair in (query or ""):gmatch("[^&]+") do
        local key, value = pair:match("^([^=]*)=(.+)$")
        if key == name and value then
            return true
        end
    end
    return false
end

-- Gives where a client goes to log in, or nil when 401 is answered.
function M.login_url(policy)
    local auth = policy.auth
    if not (auth and auth.signin) then
        return nil
    end
    local url = template.expand_uri(auth.signin)
    if has_parameter(url, auth.signin_param) then
        return url
    end
    local back = client.scheme() .. "://" .. client.host() .. ngx.escape_uri(var.request_uri)
    return url .. (url:find("?", 1, true) and "&" or "?") .. auth.signin_param .. "=" .. back
end

local function set_cookies(auth, status)
    local answer = cjson.decode(var.fairway_auth_answer)
    if not answer or #answer.cookies == 0 or not (auth.always_set_cookie or cookie_statuses[status]) then
        return
    end
    local all = {}
    for _, list in ipairs { as_list(ngx.header["Set-Cookie"]), answer.cookies } do
        for _, cookie in ipairs(list) do
            all[#all + 1] = cookie
        end
    end
    ngx.header["Set-Cookie"] = all
end

-- A 401 is ours when no backend was asked.
function M.respond(auth, policy)
    if ngx.status == 401 and not var.upstream_status then
        local url = M.login_url(policy)
        if url then
            ngx.status = 302
            ngx.header["Location"] = url
            ngx.header["WWW-Authenticate"] = nil
        end
    end
    set_cookies(auth, ngx.status)
end

return M
