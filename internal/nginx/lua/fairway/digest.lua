-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Digest logins (RFC 7616) with MD5, as that is what files of htdigest hold, and qop=auth.
--
-- A nonce is the time it was made, random bytes and an HMAC of both. The key is in shared memory, so that every worker takes the
-- nonces of all. Each number of a nonce (nc) is taken once, which is noted in shared memory too.

local password = require "fairway.password"
local random = require "fairway.random"

local zone = ngx.shared.fairway_nonces
local encode_base64, hmac_sha1, md5, time = ngx.encode_base64, ngx.hmac_sha1, ngx.md5, ngx.time
local format, lower, match, sub = string.format, string.lower, string.match, string.sub
local var = ngx.var

local M = {}

local lifetime = 300 -- seconds that a nonce is taken; then the client gets another without asking the user

local function key()
    local secret = zone:get("key")
    if not secret then
        zone:add("key", random(20)) -- another worker may be faster
        secret = zone:get("key")
    end
    return secret
end

local function sign(text)
    return encode_base64(hmac_sha1(key(), text))
end

local function new_nonce()
    local text = format("%08x", time()) .. encode_base64(random(9))
    return text .. sign(text)
end

local function is_fresh(nonce)
    local text = sub(nonce, 1, 20)
    if not password.equal(sub(nonce, 21), sign(text)) then
        return false
    end
    return math.abs(time() - tonumber(sub(text, 1, 8), 16)) <= lifetime
end

-- Reads 'name=value, name="value"'. Nobody needs a quoted pair or a name twice.
local function parse(text)
    local found = {}
    local at = match(text, "^[Dd][Ii][Gg][Ee][Ss][Tt] +()")
    while at and at <= #text do
        local name, value, next = match(text, '^([%w*-]+) *= *"([^"\\]*)"[%s,]*()', at)
        if not name then
            name, value, next = match(text, '^([%w*-]+) *= *([^%s,"]+)[%s,]*()', at)
        end
        if not name or found[lower(name)] then
            return nil
        end
        found[lower(name)] = value
        at = next
    end
    return at and found
end

local function is_for_us(given, login)
    return given.username and given.response and (given.nonce or "") ~= "" and (given.cnonce or "") ~= ""
        and given.realm == login.realm and given.uri == var.request_uri
        and given.qop == "auth" and match(given.nc or "", "^%x%x%x%x%x%x%x%x$")
        and lower(given.algorithm or "md5") == "md5"
end

local function response(given, hash)
    return md5(table.concat({
        hash, given.nonce, given.nc, given.cnonce, given.qop, md5(var.request_method .. ":" .. given.uri),
    }, ":"))
end

-- Lets $remote_user of the access log be the name. nginx makes it of Basic credentials only, and only once for a request.
local function note_user(name, header)
    ngx.req.set_header("Authorization", "Basic " .. encode_base64(name .. ":"))
    local _ = var.remote_user
    ngx.req.set_header("Authorization", header)
end

-- Tells whether the request is of a user. If the password is right but the nonce is old or was used, the second result is true.
function M.verify(login)
    local header = var.http_authorization
    local given = header and parse(header)
    if not (given and is_for_us(given, login)) then
        return false
    end
    local hash = login.users[given.username]
    if not hash or not password.equal(lower(given.response), response(given, hash)) then
        return false
    end
    if not is_fresh(given.nonce) or not zone:add(given.nonce .. lower(given.nc), true, 2 * lifetime) then
        return false, true
    end
    note_user(given.username, header)
    return true
end

-- Gives the challenge for who is not logged in.
function M.challenge(login, stale)
    return format('Digest realm="%s", qop="auth", nonce="%s", algorithm=MD5%s', login.realm, new_nonce(), stale and ", stale=true" or "")
end

return M
