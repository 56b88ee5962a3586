-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Logins with a name and a password: Basic (RFC 7617) here, Digest in digest.lua.

local answer = require "fairway.answer"
local digest = require "fairway.digest"
local lrucache = require "resty.lrucache"
local password = require "fairway.password"
local random = require "fairway.random"

local decode_base64, hmac_sha1 = ngx.decode_base64, ngx.hmac_sha1
local match = string.match
local var = ngx.var

local M = {}

local longest = 512 -- bytes of a password, as the time that some hashes take grows with it
-- Hashes that take their time are verified in threads beside the worker, as many at once as nginx.conf says, so that other requests go on.
local slow = { ["$2"] = true, ["$5"] = true, ["$6"] = true, ["$y"] = true }

-- What was verified, so that it is not done for each request: an HMAC of hash and password -> true.
local right = lrucache.new(2000)
local wrong = lrucache.new(200)
local secret

local function verify(given, hash)
    if not slow[hash:sub(1, 2)] then
        return password.verify(given, hash)
    end
    local ran, same = ngx.run_worker_thread("passwords", "fairway.password", "verify", given, hash)
    if not ran then
        ngx.log(ngx.WARN, "too many logins at once: ", same)
        return ngx.exit(503)
    end
    return same
end

local function is_password(given, hash)
    secret = secret or random(20)
    local key = hmac_sha1(secret, hash .. "\0" .. given)
    if right:get(key) then
        return true
    elseif wrong:get(key) then
        return false
    end
    local same = verify(given, hash)
    local seen = same and right or wrong
    seen:set(key, true)
    return same
end

local function verify_basic(login)
    local header = var.http_authorization
    local encoded = header and match(header, "^[Bb][Aa][Ss][Ii][Cc] +(%S+) *$")
    local plain = encoded and decode_base64(encoded)
    if not plain then
        return false
    end
    local name, given = match(plain, "^([^:]*):(.*)$")
    local hash = name and login.users[name]
    if not hash or #given > longest or given:find("\0", 1, true) then
        return false
    end
    return is_password(given, hash)
end

-- Tells whether the request has the credentials of a user; the second result is what `refuse` wants to know.
function M.verify(login)
    if login.digest then
        return digest.verify(login)
    end
    return verify_basic(login)
end

-- Answers 401 with the challenge to log in.
function M.refuse(policy, stale)
    local login = policy.login
    ngx.header["WWW-Authenticate"] = login.digest and digest.challenge(login, stale) or 'Basic realm="' .. login.realm .. '"'
    return answer.status(policy, 401)
end

-- Takes the credentials out of the request. $remote_user of the access log is made of them, so nginx has to look before.
function M.take()
    if var.http_authorization then
        local _ = var.remote_user
        ngx.req.clear_header("Authorization")
    end
end

return M
