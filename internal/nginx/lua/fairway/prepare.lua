-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Sets the variables that a shape's location uses, and the headers that tell a backend about the request.

local mirror = require "fairway.mirror"
local template = require "fairway.template"

local var = ngx.var

local M = {}
local none = {}

-- Tells a backend that stands in for another what went wrong; identity is that of the route: namespace, Ingress, Service, port.
function M.tell_error(identity, status)
    local set = ngx.req.set_header
    set("X-Code", tostring(status))
    set("X-Format", var.http_accept or "")
    set("X-Original-URI", var.request_uri)
    set("X-Namespace", identity[1])
    set("X-Ingress-Name", identity[2])
    set("X-Service-Name", identity[3])
    set("X-Service-Port", identity[4])
end

-- Tells nginx how a backend is verified; what is shown to it has no other way than these variables, as keys are not written to disk.
local function upstream_tls(tls)
    var.fairway_tls_name = template.expand_header(tls.name)
    if tls.certificate then
        var.fairway_tls_certificate = "data:" .. tls.certificate
        var.fairway_tls_key = "data:" .. tls.key
    end
end

-- Runs before the request goes to its location.
function M.request(policy)
    var.fairway_policy = policy.id
    if policy.transaction then
        var.fairway_transaction = template.expand_header(policy.transaction)
    end
    if policy.connection then
        var.fairway_connection = policy.connection
    end
    if policy.upstream_tls then
        upstream_tls(policy.upstream_tls)
    end
    if policy.mirror then
        mirror.prepare(policy.mirror)
    end
end

-- Runs last before a request goes to a FastCGI location, when its path is that for the backend: the program that is asked for, and the
-- values of the parameters, whose names are in the location.
function M.fastcgi(fastcgi)
    local script = var.uri
    if fastcgi.index and script:byte(-1) == 47 then
        script = script .. fastcgi.index
    end
    var.fairway_script = script
    for i, text in ipairs(fastcgi.params or none) do
        var["fairway_param_" .. i] = template.expand_header(text)
    end
end

return M
