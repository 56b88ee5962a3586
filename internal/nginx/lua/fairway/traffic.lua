-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Counts requests for the controller's metrics, each worker for itself. `begin` notes the route when it is found, `record` counts in the log
-- phase; delivery.lua hands over what was counted and sets it to zero. Requests that are alike share one set of numbers, which hangs on
-- the route's own decoded table, so that counting builds no string and looks nothing up by one.
--
-- A set is { labels = JSON text, sums = double[7], counts = uint32_t[cells], active = whether it is in M.active }. The measures are in the
-- order of model.Measures; counts begins with the number of requests, then come the buckets of each measure. Both lie in one block: with many
-- routes it is the number of places in memory that counting costs.

local buckets = require "fairway.buckets"
local cjson = require "cjson.safe"
local ffi = require "ffi"
local find = require "fairway.find"
local request_address = require("fairway.request").address
local store = require "fairway.store"

local cast, place = ffi.cast, buckets.place
local get_method, now, start_time = ngx.req.get_method, ngx.now, ngx.req.start_time
local floor = math.floor
local ngx, var = ngx, ngx.var

ffi.cdef [[
double strtod(const char *text, char **stop);
char *strchr(const char *text, int character);
]]
local C = ffi.C
local chars = ffi.typeof("char *")
local stop = ffi.new("char *[1]")
local block_of, counts_at, sums_at = ffi.typeof("double[?]"), ffi.typeof("uint32_t *"), ffi.typeof("double *")

local bar, point = 124, 46 -- "|" and "."
local overflow = "_overflow"

local M = {
    measures = 7,
    cells = 1,       -- length of counts
    active = {},     -- sets that have counted something since the last delivery
    active_count = 0,
}

-- What is counted of requests by these methods stands under their name, the rest together: clients can send any word.
local known = {}
for name in ("GET HEAD POST PUT DELETE PATCH OPTIONS CONNECT TRACE MKCOL COPY MOVE PROPFIND PROPPATCH LOCK UNLOCK"):gmatch("%u+") do
    known[name] = name
end

local options
local most              -- sets between two deliveries; what is beyond is counted in one
local histograms = {}   -- by measure: { place of the first bucket, buckets }, or false
local current = {}      -- what a request under way counts for, by its address
local epoch, made = 0, 0 -- sets made since the epoch began
local nowhere           -- the route of requests that no route takes

-- Takes { bounds = { { NUMBER… }… }, excluded = { bool… }, per_host, undefined, classes, native = bool, most = number }.
function M.configure(o)
    options, most = o, o.most
    local cell = 1
    for measure = 1, M.measures do
        histograms[measure] = false
        if not o.excluded[measure] then
            local b = buckets.new(o.bounds[measure])
            histograms[measure] = { cell, b }
            cell = cell + b.count + 1
        end
    end
    M.cells = cell
    nowhere = { i = { "", "", "", "", "/" } }
end

-- The host as metrics call it: a name that an Ingress gives, never what a client asks for. nil for hosts that are not counted.
local function host_label(host, name)
    if not options.per_host then
        return ""
    end
    if not host or host.name == "_" then
        return options.undefined and "_" or nil
    end
    return host.also and host.also[name] or host.name
end

-- Gives what a route counts into, made when first asked for: { epoch, host, route, canary, methods = { METHOD = { STATUS = set } } and
-- the method, status and set of the last request }. It hangs on its owner: the route, or the canary that took the request.
local function meter_of(owner, route, label, canary)
    local meters = owner.meters
    if not meters then
        meters = {}
        owner.meters = meters
    end
    local meter = meters[label]
    if not meter then
        meter = { epoch = epoch, host = label, route = route, canary = canary, methods = {} }
        meters[label] = meter
    end
    return meter
end

-- Notes that the request goes to a route, nil for none, of a host, which may be false.
function M.begin(host, route, name)
    local label = host_label(host, name)
    current[request_address()] = label and meter_of(route or nowhere, route or nowhere, label, "")
end

-- Notes that a canary of the request's route takes it.
function M.divert(chosen, name)
    local key = request_address()
    local meter = current[key]
    if meter then
        current[key] = meter_of(chosen, meter.route, meter.host, name)
    end
end

-- nginx itself refuses an announced body that is larger than any route takes, before Lua finds the route.
local function meter_of_refused()
    if ngx.status ~= 413 then
        return nil
    end
    store.refresh()
    local name = var.host
    local host = store.host(name)
    local label = host_label(host, name)
    local route = label and host and find(host, var.uri)
    return route and meter_of(route, route, label, "")
end

local function new_set(labels)
    local block = block_of(M.measures + math.ceil(M.cells / 2))
    local set = {
        labels = cjson.encode(labels), block = block, sums = cast(sums_at, block), counts = cast(counts_at, block + M.measures), active = false,
    }
    if options.native then
        set.values = {}
    end
    return set
end

local overflow_set

local function make_set(meter, method, status)
    if M.active_count >= most then
        overflow_set = overflow_set or new_set { overflow, overflow, overflow, overflow, overflow, overflow, overflow, overflow }
        return overflow_set
    end
    if meter.epoch ~= epoch then
        meter.epoch, meter.methods = epoch, {}
    end
    local by_status = meter.methods[method]
    if not by_status then
        by_status = {}
        meter.methods[method] = by_status
    end
    local set = by_status[status]
    if not set then
        local i = meter.route.i
        local text = options.classes and floor(status / 100) .. "xx" or ("%03d"):format(status)
        set = new_set { meter.host, i[1], i[2], i[3], i[5], meter.canary, method, text }
        by_status[status] = set
        made = made + 1
    end
    return set
end

-- Gives the set of a method and a status, and lets the meter remember it, as most requests are like the last one.
local function find_set(meter, method, status)
    local by_status = meter.epoch == epoch and meter.methods[method]
    local set = by_status and by_status[status] or make_set(meter, method, status)
    if set ~= overflow_set then
        meter.method, meter.status, meter.set = method, status, set
    end
    return set
end

local function observe(set, measure, value)
    local histogram = histograms[measure]
    if not histogram then
        return
    end
    local sums, counts = set.sums, set.counts
    sums[measure - 1] = sums[measure - 1] + value
    local cell = histogram[1] + place(histogram[2], value)
    counts[cell] = counts[cell] + 1
    local values = set.values
    if values then
        local of_measure = values[measure] or {}
        values[measure] = of_measure
        of_measure[value] = (of_measure[value] or 0) + 1
    end
end

-- Gives the number at a place of $fairway_measures, and where the next begins. Most have three or four digits, and strtod takes its time.
local function number_at(at)
    if at[1] ~= bar and at[2] ~= bar then
        if at[3] == bar then
            return at[0] * 100 + at[1] * 10 + at[2] - 48 * 111, at + 4
        elseif at[4] == bar then
            return at[0] * 1000 + at[1] * 100 + at[2] * 10 + at[3] - 48 * 1111, at + 5
        end
    end
    local number = C.strtod(at, stop)
    return number, stop[0] + 1
end

-- The same for a time, such as 0.012, in milliseconds; nil for a list, which a request has that was tried at several endpoints.
local function time_at(at)
    if at[1] == point and at[5] == bar then
        return at[0] * 1000 + at[2] * 100 + at[3] * 10 + at[4] - 48 * 1111, at + 6
    end
    local seconds = C.strtod(at, stop)
    local after = stop[0]
    if after == at or after[0] ~= bar then
        return nil, C.strchr(after, bar) + 1
    end
    return floor(seconds * 1000 + 0.5), after + 1
end

-- Takes a time, and gives where the next begins.
local function observe_time(set, measure, at)
    local time, after = time_at(at)
    if time then
        observe(set, measure, time)
    end
    return after
end

-- All that nginx only tells by variables is in one of them, numbers that end in "|", as each look-up costs more than all of the counting.
local function observe_all(set)
    local took = floor((now() - start_time()) * 1000 + 0.5)
    observe(set, 1, took > 0 and took or 0)
    local received, sent
    local at = cast(chars, var.fairway_measures)
    received, at = number_at(at)
    sent, at = number_at(at)
    observe(set, 5, received)
    observe(set, 6, sent)
    observe(set, 7, sent)
    if at[0] ~= bar then -- a backend was asked
        at = observe_time(set, 2, at)
        at = observe_time(set, 3, at)
        observe_time(set, 4, at)
    end
end

-- Counts the request. Runs in log_by_lua.
function M.record()
    local key = request_address()
    local meter = current[key]
    if meter then
        current[key] = nil
    else
        meter = meter_of_refused()
        if not meter then
            return
        end
    end
    local method, status = known[get_method()] or "_other", ngx.status
    local set = meter.set
    if meter.method ~= method or meter.status ~= status or meter.epoch ~= epoch then
        set = find_set(meter, method, status)
    end
    local counts = set.counts
    counts[0] = counts[0] + 1
    if not set.active then
        set.active = true
        M.active_count = M.active_count + 1
        M.active[M.active_count] = set
    end
    observe_all(set)
end

-- Lets go of sets that count nothing any more, when there are many. To be called after a delivery.
function M.forget()
    if made > most then
        epoch, made = epoch + 1, 0
    end
end

return M
