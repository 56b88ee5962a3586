-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Runs in ssl_certificate_by_lua: gives the handshake the certificates of its server name, or the default ones. At most one per
-- key algorithm, so the client's abilities decide between RSA and ECDSA. What else is special about a name is in handshake.lua.

local handshake = require "fairway.handshake"
local ocsp = require "ngx.ocsp"
local ssl = require "ngx.ssl"
local store = require "fairway.store"

local function parse(pem)
    local chain, err = ssl.parse_pem_cert(pem.chain)
    if not chain then
        ngx.log(ngx.ERR, "certificate: ", err)
        return nil
    end
    local key
    key, err = ssl.parse_pem_priv_key(pem.key)
    if not key then
        ngx.log(ngx.ERR, "certificate key: ", err)
        return nil
    end
    return { chain, key, answer = pem.ocsp and ngx.decode_base64(pem.ocsp), answer_until = pem.ocsp_until }
end

-- Staples what the authority says, while it says so. OpenSSL chooses among several certificates later, so then there is none.
local function staple(pair)
    if pair.answer and ngx.time() < pair.answer_until then
        local ok, err = ocsp.set_ocsp_status_resp(pair.answer)
        if not ok then
            ngx.log(ngx.ERR, "certificate status: ", err)
        end
    end
end

local function set(ids)
    local count = 0
    local last
    for i = 1, #ids do
        local pair = store.certificate(ids[i], parse)
        if pair and ssl.set_cert(pair[1]) and ssl.set_priv_key(pair[2]) then
            count = count + 1
            last = pair
        end
    end
    if count == 1 then
        staple(last)
    end
    return count > 0
end

return function()
    store.refresh()
    local name = ssl.server_name()
    if name then
        name = name:lower():gsub("%.$", "")
    end
    local ids = name and store.certificate_ids(name)
    ssl.clear_certs()
    if not (ids and ids[1] and set(ids)) and not set(store.settings.certificates or {}) then
        ngx.log(ngx.WARN, "no certificate for server name ", name or "(none)")
        return ngx.exit(ngx.ERROR)
    end
    handshake.certificate(name)
end
