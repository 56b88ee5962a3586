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
local request = require "fairway.request"
local store = require "fairway.store"

local cast, ffi_string = ffi.cast, ffi.string
local cells, small, search = buckets.cells, buckets.small, buckets.search
local get_method, now, start_time = ngx.req.get_method, ngx.now, ngx.req.start_time
local read_variable, request_address = request.read_variable, request.address
local floor = math.floor
local ngx, var = ngx, ngx.var
local block_of, counts_at, sums_at = ffi.typeof("double[?]"), ffi.typeof("uint32_t *"), ffi.typeof("double *")

local bar, point, minus = ("|.-"):byte(1, 3)
local overflow = "_overflow"

local M = {
    measures = buckets.measures,
    cells = 1,       -- length of counts; one more is there for what nobody wants to know
    excluded = {},   -- by measure, whether that is so
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
local current = {}      -- what a request under way counts for, by its address
local epoch, made = 0, 0 -- sets made since the epoch began
local nowhere           -- the route of requests that no route takes

-- Takes { bounds = { { NUMBER… }… }, excluded = { bool… }, per_host, undefined, classes, native = bool, most = number }.
function M.configure(o)
    options, most, M.excluded = o, o.most, o.excluded
    local bounds = {}
    for measure = 1, M.measures do
        bounds[measure] = not o.excluded[measure] and o.bounds[measure]
    end
    M.cells = buckets.lay_out(bounds, 1)
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
    local block = block_of(M.measures + math.ceil((M.cells + 1) / 2))
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
    local sums, counts = set.sums, set.counts
    sums[measure - 1] = sums[measure - 1] + value
    local cell = value < small and cells[measure - 1][value] or search(measure, value)
    counts[cell] = counts[cell] + 1
    local values = set.values
    if values and not M.excluded[measure] then
        local of_measure = values[measure] or {}
        values[measure] = of_measure
        of_measure[value] = (of_measure[value] or 0) + 1
    end
end

-- Gives the number that so many digits are. Most are sizes of two to five digits.
local function number_at(at, digits)
    if digits == 3 then
        return at[0] * 100 + at[1] * 10 + at[2] - 48 * 111
    elseif digits == 4 then
        return at[0] * 1000 + at[1] * 100 + at[2] * 10 + at[3] - 48 * 1111
    elseif digits == 2 then
        return at[0] * 10 + at[1] - 48 * 11
    end
    return tonumber(ffi_string(at, digits))
end

-- Gives the milliseconds that a time below ten seconds is, such as 0.012.
local function time_at(at)
    return at[0] * 1000 + at[2] * 100 + at[3] * 10 + at[4] - 48 * 1111
end

-- Gives how many characters from a place on come before a bar: two to six, nil for others.
local function digits_at(at)
    return at[2] == bar and 2 or at[3] == bar and 3 or at[4] == bar and 4 or at[5] == bar and 5 or at[6] == bar and 6 or nil
end

local function observe_sizes(set, received, sent)
    observe(set, 5, received)
    observe(set, 6, sent)
    observe(set, 7, sent)
end

-- A time that is a list, of a request that was tried at several endpoints, is not counted.
local function observe_time(set, measure, text)
    local seconds = tonumber(text)
    if seconds then
        observe(set, measure, floor(seconds * 1000 + 0.5))
    end
end

-- What is not as most requests are: long times, lists of them, large sizes.
local function observe_slowly(set)
    observe_sizes(set, tonumber(var.request_length), tonumber(var.bytes_sent))
    observe_time(set, 2, var.upstream_connect_time)
    observe_time(set, 3, var.upstream_header_time)
    observe_time(set, 4, var.upstream_response_time)
end

-- All that nginx only tells by variables is in one of them, as each look-up costs more than all of the counting: three times when a backend
-- was asked, then two sizes with a bar between them. Between times there is nothing, as their form tells where they end.
local function observe_all(set)
    local took = floor((now() - start_time()) * 1000 + 0.5)
    observe(set, 1, took > 0 and took or 0)
    local at, length = read_variable("counted", 7)
    if not at then
        return observe_slowly(set)
    end
    local sizes = 0
    if at[1] == point and at[6] == point and at[11] == point then
        sizes = 15
    end
    local digits = digits_at(at + sizes)
    if not digits or at[sizes] == minus then
        return observe_slowly(set)
    end
    if sizes > 0 then
        observe(set, 2, time_at(at))
        observe(set, 3, time_at(at + 5))
        observe(set, 4, time_at(at + 10))
    end
    local sent = sizes + digits + 1
    observe_sizes(set, number_at(at + sizes, digits), number_at(at + sent, length - sent))
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
