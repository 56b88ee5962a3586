-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Runs in init_by_lua of the nginx master, before any worker accepts: loads the state and tells the modules what package nginx/conf
-- knows about this configuration. The random numbers are seeded in each worker, or all would draw the same.

local M = {}

-- Takes { configuration = hash, state = path, entry_limit = bytes, shapes = { name = true },
-- self = { http = port, https = port, address = text }, log = bool, log_details = bool, health_path = path }.
function M.master(options)
    require("fairway.state").load(options.state)
    require("fairway.admin").configuration = options.configuration
    local route = require "fairway.route"
    route.entry_limit = options.entry_limit
    route.shapes = options.shapes
    route.log = options.log
    route.log_details = options.log_details
    route.health_path = options.health_path
    route.self = options.self
    require("fairway.url_balancer").self = options.self
    local parts = require("fairway.respond").parts
    parts.cors = require("fairway.cors").respond
    parts.auth = require("fairway.external_auth").respond
    parts.headers = require("fairway.response_headers").set
    parts.cookie_domain = require("fairway.response_headers").cookie_domain
    parts.cookie_path = require("fairway.response_headers").cookie_path
    parts.location = require("fairway.response_headers").location
    parts.ewma = require("fairway.ewma").observe
    require "fairway.balancer"
    require "fairway.certificate"
end

function M.worker()
    math.randomseed(ngx.now() * 1000 + ngx.worker.pid() * 65536)
end

return M
