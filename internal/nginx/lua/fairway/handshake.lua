-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- What is special about TLS with a host: client certificates, ciphers. All of it is decided by the server name in the handshake, and on each request
-- it is made sure that the Host header is under the same demands: certificates that were shown for one host say nothing on another, be
-- it on a connection that a browser shares or by a session that is resumed.
--
-- Demands have an ID, the hash of all that verification depends on. Sessions carry it as their context.

local openssl = require "fairway.openssl"
local clienthello = require "ngx.ssl.clienthello"
local store = require "fairway.store"

local var = ngx.var
local exit = ngx.exit

local M = {}

-- OpenSSL's numbers of the errors that say no more than that nobody trusts the authority; nginx has the same list.
local unknown_authority = { [18] = true, [19] = true, [20] = true, [21] = true }

-- What certificates are verified with, by the ID of demands. The young ones become old when they are many, and what is in use moves back.
local trusts, trusts_old, trusts_count = {}, {}, 0
local trusts_limit = 256

local function host_of(name)
    if name then
        name = name:lower():gsub("%.$", "")
    end
    return store.host(name or "_")
end

-- Gives what is special about TLS with the host of a server name, or nil.
local function special(name)
    local host = host_of(name)
    return host and host.tls
end

local function context(tls)
    return "fairway:" .. tls.id
end

-- Gives what certificates are verified with, nil when that can't be built.
local function trust(tls)
    local found = trusts[tls.id]
    if found then
        return found
    end
    found = trusts_old[tls.id] or openssl.trust(tls.ca, tls.crl)
    if trusts_count >= trusts_limit then
        trusts, trusts_old, trusts_count = {}, trusts, 0
    end
    trusts[tls.id] = found
    trusts_count = trusts_count + 1
    return found
end

local function abort(name, err)
    ngx.log(ngx.ERR, "TLS with ", name or "(no name)", ": ", err)
    return exit(ngx.ERROR)
end

-- The key of tickets in force, by listener. Another listener appears when nginx is reloaded, which is in new workers.
local ticket_keys = {}

-- Gives tickets the key of the settings, and a context that is the same on all replicas; nginx' own is made of its certificates.
local function use_ticket_key(text)
    local s = openssl.available and openssl.of_request()
    if not (s and openssl.set_context(s, "fairway")) then
        return
    end
    local listener = openssl.listener(s)
    if ticket_keys[listener] == text then
        return
    end
    if not openssl.set_ticket_key(s, ngx.decode_base64(text)) then
        ngx.log(ngx.ERR, "the key of TLS tickets is not taken")
    end
    ticket_keys[listener] = text
end

-- Tells whether no Ingress has a server name.
local function unknown(name)
    local host = name and host_of(name)
    return not host or host.name == "_"
end

-- Runs in ssl_client_hello_by_lua, before OpenSSL looks for a session to resume.
function M.hello()
    store.refresh()
    local settings = store.settings
    local name = clienthello.get_client_hello_server_name()
    if settings.reject_unknown and unknown(name) then
        return exit(ngx.ERROR)
    end
    if settings.ticket_key then
        use_ticket_key(settings.ticket_key)
    end
    local tls = special(name)
    if not tls then
        return
    end
    local s = openssl.available and openssl.of_request()
    if tls.ca and not (s and openssl.set_context(s, context(tls))) then
        return abort(name, "sessions can't be told from those of other hosts")
    end
    if s and tls.prefer_server ~= nil then -- TLS 1.3 chooses its cipher before it asks for the certificate
        openssl.prefer_server(s, tls.prefer_server)
    end
end

-- Runs in ssl_certificate_by_lua, after certificate.lua has found the certificate for the name.
function M.certificate(name)
    local tls = special(name)
    if not tls then
        return
    end
    local s = openssl.available and openssl.of_request()
    if not s then
        if tls.ca then
            return abort(name, "client certificates can't be verified")
        end
        return
    end
    if tls.ciphers and not openssl.set_ciphers(s, tls.ciphers) then
        ngx.log(ngx.WARN, "TLS with ", name, ": the cipher list leaves none: ", tls.ciphers)
    end
    if tls.prefer_server ~= nil then
        openssl.prefer_server(s, tls.prefer_server)
    end
    if tls.ca and tls.verify ~= "off" then
        local authorities = trust(tls)
        if not authorities then
            return abort(name, "its authorities are no certificates")
        end
        local ok, err = openssl.ask(s, authorities, tls.depth)
        if not ok then
            return abort(name, err)
        end
    end
end

-- The client should come again on another connection (RFC 9110 section 15.5.20); one that serves no other requests is closed.
local function misdirected()
    return ngx.exec("@misdirected")
end

-- Answers a request whose certificate is missing or fails: by the page of the host, or with 400.
local function refuse(tls)
    local page = tls.error_page
    if not page then
        return exit(400)
    end
    if page:byte(1) ~= 47 then
        return ngx.redirect(page, 302)
    end
    ngx.req.discard_body()
    if ngx.req.get_method() ~= "HEAD" then
        ngx.req.set_method(ngx.HTTP_GET)
    end
    ngx.req.set_uri(page, false)
    ngx.req.set_uri_args("")
end

-- Checks the certificate of this connection against the demands of a host.
local function verify(tls)
    local s = openssl.available and openssl.of_request()
    if not s then
        return exit(403)
    end
    if openssl.context(s) ~= context(tls) then
        -- The demands are others than when the connection was made.
        local authorities = tls.verify ~= "off" and trust(tls)
        if not authorities or not openssl.verify_again(s, authorities, tls.depth, context(tls)) then
            return misdirected()
        end
    end
    if tls.verify == "off" then
        return
    end
    if var.ssl_client_verify == "NONE" then
        if tls.verify == "on" then
            return refuse(tls)
        end
        return
    end
    local result = openssl.result(s)
    if result ~= 0 and not (tls.verify == "optional_no_ca" and unknown_authority[result]) then
        return refuse(tls)
    end
end

-- Checks a request for a host, and answers it if it may not pass. To be called for each when any host demands certificates.
function M.check(host)
    local tls = host.tls
    if var.scheme == "https" then
        local asked = special(var.ssl_server_name)
        local id = tls and tls.id or ""
        if (asked and asked.id or "") ~= id then
            return misdirected()
        end
        if id ~= "" then
            verify(tls)
            if tls.pass_certificate then
                var.fairway_client_certificate = var.ssl_client_escaped_cert
            end
        end
    end
    if tls and tls.match_cn and not ngx.re.find(var.ssl_client_s_dn or "", tls.match_cn, "jo") then
        ngx.status = 403
        ngx.print("client certificate unauthorized")
        return exit(403)
    end
end

return M
