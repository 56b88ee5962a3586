-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Says which endpoints of a backend requests may go to: not those that checks found unwell, nor those that are ejected, unless so few are
-- left that all are used. It is asked when something changes, never per request.

local endpoints = require "fairway.endpoints"
local outlier = require "fairway.outlier"

local M = {}

-- Gives a table with true for each endpoint that the controller's checks found unwell; nil for none.
local function down(backend)
    local places = backend.down
    if not places then
        return nil
    end
    local out = {}
    for i = 1, #places do
        out[backend.all[places[i]]] = true
    end
    return out
end

-- Gives the endpoints that are neither in one table nor in the other, or nil when they are too few.
local function left(backend, unwell, ejected)
    local list, count = {}, #backend.all
    for i = 1, count do
        local endpoint = backend.all[i]
        if not (unwell and unwell[endpoint] or ejected and ejected[endpoint]) then
            list[#list + 1] = endpoint
        end
    end
    if #list == 0 or #list * 100 < (backend.panic or 0) * count then
        return nil
    end
    return list
end

-- Those that are about to go stay for the clients whose cookies lead to them; see sticky.lua.
local function keep_draining(backend, list)
    local kept = {}
    for i = 1, #list do
        kept[i] = list[i]
    end
    for _, endpoint in ipairs(backend.draining) do
        endpoint.draining = true
        kept[#kept + 1] = endpoint
    end
    backend.kept = endpoints.weigh(kept)
end

-- What endpoints.select is set to.
function M.select(backend)
    local unwell = down(backend)
    local ejected = backend.outlier and outlier.ejected(backend) or nil
    local list
    if unwell or ejected then
        list = left(backend, unwell, ejected)
    end
    if backend.draining then
        keep_draining(backend, list or backend.all)
    end
    return list
end

return M
