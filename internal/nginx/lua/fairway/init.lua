-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Runs in init_by_lua of the nginx master, before any worker accepts: loads the state and tells the modules what package nginx/conf
-- knows about this configuration. The random numbers are seeded in each worker, or all would draw the same.

local inflight = require "fairway.inflight"
local jit = require "jit"

local M = {}

-- LuaJIT forgets all that it has compiled when there is more than this, and begins anew. Its own limits are too low for a cluster that uses
-- many features; these are the limits that OpenResty's own LuaJIT has.
local function let_compile()
    jit.opt.start("maxtrace=8000", "maxrecord=16000", "minstitch=3", "maxmcode=40960")
end

-- Takes { configuration = hash, state = path, entry_limit = bytes, tries = number, shapes = { name = true },
-- self = { http = port, https = port, address = text }, log = bool, log_details = bool, health_path = path,
-- request = { scheme = variable, host = variable, port = variable },
-- traffic = what traffic.lua takes and a layout for delivery.lua, nil when requests are not counted,
-- inflight = whether requests in flight are counted }.
function M.master(options)
    let_compile()
    require("fairway.state").load(options.state)
    require("fairway.admin").configuration = options.configuration
    local route = require "fairway.route"
    route.entry_limit = options.entry_limit
    route.shapes = options.shapes
    route.log = options.log
    route.log_details = options.log_details
    route.health_path = options.health_path
    route.self = options.self
    require("fairway.balancer").upstream_tries = options.tries
    require("fairway.endpoints").select = require("fairway.health").select
    require("fairway.url_balancer").self = options.self
    require("fairway.client").variables = options.request
    local headers = require "fairway.response_headers"
    -- What is changed in the backend's headers comes before those that Fairway adds; the Ingress has the last word.
    require("fairway.respond").parts = {
        { "cookie_domain", headers.cookie_domain },
        { "cookie_path", headers.cookie_path },
        { "location", headers.location },
        { "auth", require("fairway.external_auth").respond },
        { "cors", require("fairway.cors").respond },
        { "headers", headers.set },
    }
    require "fairway.certificate"
    if options.inflight then
        inflight.share(ngx.worker.count())
    end
    if options.traffic then
        M.count(options.traffic)
    end
end

function M.count(options)
    local traffic = require "fairway.traffic"
    traffic.configure(options)
    local route = require "fairway.route"
    route.begin, route.divert = traffic.begin, traffic.divert
    local delivery = require "fairway.delivery"
    delivery.layout = options.layout
    M.delivery = delivery
end

function M.worker()
    math.randomseed(ngx.now() * 1000 + ngx.worker.pid() * 65536)
    inflight.start()
    if M.delivery then
        M.delivery.start()
    end
end

return M
