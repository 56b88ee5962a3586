-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Copies of requests: the shape's location makes a subrequest to the location "fairway:mirror", which shares the request's variables.

local template = require "fairway.template"
local url_balancer = require "fairway.url_balancer"

local var = ngx.var

local M = {}

-- Notes where the copy goes; url is a urlEntry of package nginx/state.
function M.prepare(url)
    local host = template.expand_header(url.host)
    local key, name, target = url_balancer.resolve(url, "fairway_copy", host, template.expand_uri(url.path))
    var.fairway_mirror_backend, var.fairway_mirror_name, var.fairway_mirror_target = key, name, target
    var.fairway_mirror_host = host
end

return M
