-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Runs in rewrite_by_lua of the entry location, once per request: finds the route, answers what needs no backend, and leaves the backend's
-- key in $fairway_backend for balancer.lua. Routes of the default shape go on in the entry location, others in the named
-- location of their shape.

local access = require "fairway.access"
local answer = require "fairway.answer"
local canary = require "fairway.canary"
local client = require "fairway.client"
local cors = require "fairway.cors"
local everywhere = require "fairway.everywhere"
local external_auth = require "fairway.external_auth"
local find = require "fairway.find"
local handshake = require "fairway.handshake"
local limit = require "fairway.limit"
local prepare = require "fairway.prepare"
local rewrite = require "fairway.rewrite"
local store = require "fairway.store"
local target = require "fairway.target"
local template = require "fairway.template"

local backend_of, host_of, refresh = store.backend, store.host, store.refresh
local exec, exit, redirect = ngx.exec, ngx.exit, ngx.redirect
local var = ngx.var

local default_ports = { http = 80, https = 443 }

local M = {
    -- What the configuration says; set by init.lua.
    entry_limit = 0,  -- body limit of the entry location, 0 for none
    shapes = {},      -- names of the shapes there are
    log = true,       -- whether there is an access log
    log_details = false, -- whether the access log wants $namespace and its kin
    health_path = "",
    self = {},        -- ports and address of this nginx
    begin = nil,      -- begin and divert of traffic.lua, when requests are counted
    divert = nil,
}

-- The Ingress' details, for access log formats that ask for them.
local function note_details(route)
    var.namespace, var.ingress_name = route.i[1], route.i[2]
    var.service_name, var.service_port = route.i[3], route.i[4]
    var.location_path = route.i[5]
end

local function to_https(route, policy)
    local uri = var.request_uri
    if not route.k and uri:byte(-1) == 47 then
        uri = uri:sub(1, -2)
    end
    local port = ""
    if policy and policy.port_in_redirects then
        port = ":" .. M.self.https
    end
    return answer.redirect(policy, "https://" .. var.host .. port .. uri, store.settings.redirect_code)
end

-- Gives what stands before the path in a redirect to a path of this host.
local function origin(policy)
    if policy and policy.relative_redirects then
        return ""
    end
    local scheme = client.scheme()
    if policy and policy.port_in_redirects then
        local port = M.self[scheme]
        return scheme .. "://" .. var.host .. (port == default_ports[scheme] and "" or ":" .. port)
    end
    return scheme .. "://" .. client.host()
end

local function to_slash(policy)
    local arguments = var.args
    return redirect(origin(policy) .. ngx.escape_uri(var.uri, 0):gsub("%%2F", "/") .. "/" .. (arguments and "?" .. arguments or ""), 301)
end

-- Gives the request to the default backend, if there is one that lives.
local function default_backend()
    local key = store.settings.default
    local backend = key and backend_of(key)
    var.proxy_upstream_name = "upstream-default-backend"
    if backend and backend.e[1] then
        var.fairway_backend = key
        return true
    end
end

-- What no route takes, or one without a backend: the default backend or the built-in page.
local function unmatched(host, policy)
    if host and host.name == "_" then
        var.fairway_unlogged = store.settings.log_default and "" or "1"
    end
    if not default_backend() then
        return answer.status(policy, 404)
    end
end

local function built_in(uri)
    if uri:sub(1, #M.health_path) == M.health_path then
        var.fairway_unlogged = "1"
        return exit(200)
    end
    if uri == "/nginx_status" then
        var.fairway_unlogged = "1"
        return everywhere.may_read_status() and exec("@status") or exit(403)
    end
end

-- nginx compares Content-Length with the limit of the entry location only; the route's own is compared here. A body of
-- unknown length has to be counted while it is read, so it goes to the shape's own location. Tells whether it must.
local function check_body(most, policy)
    local length = tonumber(var.content_length)
    if length then
        if most > 0 and length > most then
            return answer.status(policy, 413)
        end
        return false
    end
    if var.http_transfer_encoding then
        return true
    end
    local method = var.request_method
    return method ~= "GET" and method ~= "HEAD" and var.server_protocol == "HTTP/2.0"
end

-- Chooses the Service that stands in while the backend has no endpoint and gives the shape for it, or answers 503. It is balanced as usual.
local function choose_fallback(route, policy)
    local key = policy and policy.fallback
    local backend = key and backend_of(key)
    if not (backend and backend.e[1]) then
        return answer.status(policy, 503)
    end
    prepare.tell_error(route.i, 503)
    var.fairway_backend = target.of(key, route.o and route.o:match("^(.*) %S+$") .. " -")
    return route.sf
end

-- Gives what $fairway_backend is for a route or a canary, see target.lua.
local function target_of(chosen)
    chosen.target = target.of(chosen.b, chosen.o)
    return chosen.target
end

-- Gives the shape of the location where the request goes, if it is another than the route's own.
local function choose_backend(route, policy)
    local key = route.b
    local backend = backend_of(key)
    if not (backend and backend.e[1]) then
        var.proxy_upstream_name = route.u
        return choose_fallback(route, policy)
    end
    if M.log then
        var.proxy_upstream_name = route.u
    end
    local chosen = route
    if route.c then
        local taker, canary_backend = canary(route.c, route.balance, key)
        if taker then
            chosen = taker
            var.proxy_alternative_upstream_name = canary_backend.n
            if M.divert then
                M.divert(chosen, canary_backend.n)
            end
        end
    end
    var.fairway_backend = chosen.target or target_of(chosen)
end

-- What comes before the choice of a backend. Anything but nil means that the request was answered.
local function before_backend(route, policy)
    if policy.cors then
        cors.preflight(policy)
    end
    local elsewhere = policy.redirect
    if elsewhere then
        var.proxy_upstream_name = route.u or "upstream-default-backend"
        local location = elsewhere.url
        if location:byte(1) == 47 then
            location = origin(policy) .. location
        end
        return answer.redirect(policy, location, elsewhere.code)
    end
end

-- The controls between the choice of a backend and proxying: each answers the request itself when it does not let it pass.
local function control(policy)
    local address = (policy.limit or policy.access) and var.binary_remote_addr
    if policy.limit then
        limit.check(policy, address)
    end
    if policy.rate then
        var.limit_rate = policy.rate
        var.fairway_rate_after = policy.rate_after or 0
    end
    if policy.access or policy.login or policy.auth then
        local passed = access.check(policy, address)
        if policy.auth then
            external_auth.prepare(policy, passed)
        end
    end
    prepare.request(policy)
end

-- A route without a backend of its own leads to the default backend, after its own checks.
local function serve(host, route, uri)
    if M.log_details then
        note_details(route)
    end
    local policy = route.policy
    if policy and policy.unlogged then
        var.fairway_unlogged = "1"
    end
    if route.z then
        var.proxy_upstream_name = route.u or "upstream-default-backend"
        return answer.status(policy, 503)
    end
    if policy then
        before_backend(route, policy)
    end
    if route.q and client.scheme() == "http" then
        var.proxy_upstream_name = route.u or "upstream-default-backend"
        return to_https(route, policy)
    end
    local other
    if route.b then
        other = choose_backend(route, policy)
    elseif not default_backend() then
        if policy then
            control(policy)
        end
        return unmatched(host, policy)
    end
    local shape = other or route.s
    if route.sa and not other and var.scheme == "https" then
        shape = route.sa
    end
    if route.m ~= M.entry_limit and check_body(route.m, policy) then
        shape = shape or "default"
    end
    if policy then
        control(policy)
    end
    if route.w then
        rewrite(uri, route.w, route.t, policy)
    end
    if route.v then
        var.fairway_host = template.expand_header(route.v)
    end
    if shape then
        if not M.shapes[shape] then
            ngx.log(ngx.ERR, "shape ", shape, " is not in this configuration")
            return exit(503)
        end
        if policy and policy.fastcgi then
            prepare.fastcgi(policy.fastcgi)
        end
        return exec("@" .. shape)
    end
end

-- What is said of a host as a whole. Anything but nil means that the request was answered.
local function check_host(host)
    if host.redirect then
        local uri = var.request_uri
        if uri:byte(-1) == 47 then
            uri = uri:sub(1, -2)
        end
        return redirect(client.scheme() .. "://" .. host.redirect .. ":" .. client.port() .. uri, store.settings.redirect_code)
    end
    if host.closed then
        return exit(403)
    end
    if host.tls and host.tls.ca or store.settings.client_certificates then
        handshake.check(host)
    end
    if host.app_root and var.uri == "/" then
        return redirect(client.scheme() .. "://" .. client.host() .. host.app_root, 302)
    end
end

function M.handle()
    refresh()
    local rules = store.settings.everywhere
    if rules then
        everywhere.check(rules)
    end
    local name, begin = var.host, M.begin
    local host = host_of(name)
    if not host then
        return unmatched(host)
    end
    if host.special or store.settings.client_certificates then
        if begin and not host.redirect then
            begin(host, (find(host, var.uri)), name) -- what is refused now counts too
        end
        check_host(host)
    end
    local uri = var.uri -- the check may have changed it
    if host.name == "_" then
        built_in(uri)
    end
    local route, slash = find(host, uri)
    if begin then
        begin(host, route, name)
    end
    if not route then
        return unmatched(host)
    end
    if slash and not route.z then
        var.proxy_upstream_name = route.u
        return to_slash(route.policy)
    end
    return serve(host, route, uri)
end

return M
