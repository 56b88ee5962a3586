-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Says which endpoints of a backend requests may go to: not those that checks found unwell, nor those that are ejected, and those of other zones
-- only when too few near ones are left (model.Backend.Choose does the same in Go). It is asked when something changes, never per request.

local endpoints = require "fairway.endpoints"
local outlier = require "fairway.outlier"

local M = {}

-- Gives a table with true for each endpoint that stands at one of the places; nil for none.
local function at_places(backend, places)
    if not places then
        return nil
    end
    local set = {}
    for i = 1, #places do
        set[backend.all[places[i]]] = true
    end
    return set
end

-- Gives the endpoints of a list that are neither in one table nor in the other.
local function without(list, unwell, ejected)
    local left = {}
    for i = 1, #list do
        local endpoint = list[i]
        if not (unwell and unwell[endpoint] or ejected and ejected[endpoint]) then
            left[#left + 1] = endpoint
        end
    end
    return left
end

-- Tells whether those of a list that are left are enough to be used alone.
local function are_enough(backend, left, list)
    return #left > 0 and #left * 100 >= (backend.panic or 0) * #list
end

-- Gives the endpoints that are left, or nil when they are too few; near ones if these are enough, and then also those of other zones.
local function left(backend, unwell, ejected, far)
    if far then
        local near = without(backend.all, far)
        local left_near = without(near, unwell, ejected)
        if are_enough(backend, left_near, near) then
            local others = {}
            for i = 1, #backend.far do
                others[i] = backend.all[backend.far[i]]
            end
            local left_far = without(others, unwell, ejected)
            return left_near, left_far[1] and endpoints.weigh(left_far)
        end
    end
    local list = without(backend.all, unwell, ejected)
    return are_enough(backend, list, backend.all) and list or nil
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
    local unwell, far = at_places(backend, backend.down), at_places(backend, backend.far)
    local ejected = backend.outlier and outlier.ejected(backend) or nil
    local list, beyond
    if unwell or ejected or far then
        list, beyond = left(backend, unwell, ejected, far)
    end
    if backend.draining then
        keep_draining(backend, list or backend.all)
    end
    return list, beyond
end

return M
