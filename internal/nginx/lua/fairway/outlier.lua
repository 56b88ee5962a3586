-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Ejects endpoints that fail requests, for the backends that ask for it (outlierEntry in package nginx/state). The balancer notes which endpoint a
-- request goes to, and the log phase tells how that went; nothing of this costs a request of any other backend more than a look at a table.
--
-- What is counted is shared by all workers and outlives reloads and changes of the endpoints. In fairway_outliers stand, by "KEY|ENDPOINT" of
-- backend and endpoint, "row:…", the failures since the last success, and, where a rate is asked for, "requests:SLOT:…" and
-- "failures:SLOT:…", each SLOT half a window. In fairway_ejected stand "KEY|ENDPOINT" = "SINCE UNTIL TIMES", kept for a while after UNTIL,
-- "generation:KEY", which tells workers that something of a backend changed, and "total". Two workers may eject at the same moment: of more
-- than may be ejected at once those count that came first.

local endpoints = require "fairway.endpoints"
local request_address = require("fairway.request").address

local counts, ejections = ngx.shared.fairway_outliers, ngx.shared.fairway_ejected
local get, incr, delete = counts.get, counts.incr, counts.delete
local floor, huge, min = math.floor, math.huge, math.min
local byte = string.byte
local now = ngx.now
local var = ngx.var

local M = {}

local zero = 48 -- "0"
local row_for = 3600 -- seconds within which failures in a row have to come

local watched, watched_count = {}, 0 -- what judges a request under way, by its address

-- Gives since, until and times of an endpoint's last ejection, nil when there was none of late.
local function last_ejection(judge)
    local record = get(ejections, judge.key)
    if record then
        local since, till, times = record:match("^(%S+) (%S+) (%S+)$")
        return tonumber(since), tonumber(till), tonumber(times)
    end
end

-- Gives those of backend.all that are ejected at a time, as { endpoint, since } in the order in which they were, and when the first of them is back.
local function ejected(backend, at)
    local list, due = {}, huge
    for i = 1, #backend.all do
        local endpoint = backend.all[i]
        local since, till = last_ejection(endpoint.judge)
        if since and till > at then
            list[#list + 1] = { endpoint, since }
            due = min(due, till)
        end
    end
    table.sort(list, function(a, b) return a[2] < b[2] or a[2] == b[2] and a[1].judge.key < b[1].judge.key end)
    return list, due
end

-- How many endpoints of a backend may be ejected at once.
local function most(backend)
    return floor(#backend.all * backend.outlier.most / 100)
end

-- Gives every endpoint what judges its requests: the table of an endpoint outlives changes, and so does what the worker computed for it.
local function assign(backend)
    local options = backend.outlier
    for i = 1, #backend.all do
        local endpoint = backend.all[i]
        local judge = endpoint.judge
        if not judge then
            judge = { key = options.key .. "|" .. endpoints.name(endpoint) }
            judge.row = "row:" .. judge.key
            endpoint.judge = judge
        end
        judge.backend, judge.options = backend, options
    end
end

-- Gives a table with true for each endpoint that is ejected, nil for none, and notes until when that holds.
function M.ejected(backend)
    backend.generation_key = backend.generation_key or "generation:" .. backend.outlier.key
    backend.generation = get(ejections, backend.generation_key) or 0
    assign(backend)
    local list, due = ejected(backend, now())
    backend.due = due
    local out
    for i = 1, min(#list, most(backend)) do
        out = out or {}
        out[list[i][1]] = true
    end
    return out
end

-- Makes a backend with outliers agree with what all workers know. To be called before an endpoint of it is chosen.
function M.refresh(backend)
    if (get(ejections, backend.generation_key) or 0) ~= backend.generation or now() >= backend.due then
        endpoints.renew(backend)
    end
end

-- Notes that a request goes to an endpoint, on its first try or another one.
function M.watch(endpoint)
    local judge = endpoint.judge
    if not judge then
        return -- one that drains
    end
    local key = request_address()
    if not watched[key] then
        watched_count = watched_count + 1
    end
    watched[key] = judge
end

-- The counters of this half of the window and of the one before.
local function slot_keys(judge)
    local slot = floor(now() / judge.options.window * 2)
    if judge.slot ~= slot then
        judge.slot = slot
        for _, kind in ipairs { "requests", "failures" } do
            judge[kind] = kind .. ":" .. slot .. ":" .. judge.key
            judge[kind .. "_before"] = kind .. ":" .. slot - 1 .. ":" .. judge.key
        end
    end
end

local function count(judge, kind)
    slot_keys(judge)
    incr(counts, judge[kind], 1, 0, judge.options.window)
end

local function sum(judge, kind)
    return (get(counts, judge[kind]) or 0) + (get(counts, judge[kind .. "_before"]) or 0)
end

-- Says why an endpoint that has just failed is to be ejected, or nil.
local function reason(judge)
    local options = judge.options
    local row = incr(counts, judge.row, 1, 0, row_for)
    if options.consecutive and row and row >= options.consecutive then
        return row .. " failures in a row"
    end
    if options.rate then
        count(judge, "failures")
        local requests, failures = sum(judge, "requests"), sum(judge, "failures")
        if requests >= options.min and failures * 100 >= options.rate * requests then
            return failures .. " of " .. requests .. " requests failed"
        end
    end
end

-- Ejects an endpoint, unless so many are out that it has to stay.
local function eject(judge, why)
    local at, options, backend = now(), judge.options, judge.backend
    local list = ejected(backend, at)
    local _, till, times = last_ejection(judge)
    if till and till > at or #list >= most(backend) then
        return
    end
    times = (times or 0) + 1
    local length = min(options.base * 2 ^ min(times - 1, 30), options.longest)
    ejections:set(judge.key, ("%.3f %.3f %d"):format(at, at + length, times), length + options.longest)
    delete(counts, judge.row)
    if options.rate then
        for _, kind in ipairs { "requests", "failures" } do
            delete(counts, judge[kind])
            delete(counts, judge[kind .. "_before"])
        end
    end
    incr(ejections, "total", 1, 0)
    incr(ejections, backend.generation_key, 1, 0)
    ngx.log(ngx.WARN, "endpoint ", judge.key, " is ejected for ", length, "s: ", why)
end

-- Counts one try at an endpoint.
local function settle(judge, failed)
    if judge.options.rate then
        count(judge, "requests")
    end
    if failed then
        local why = reason(judge)
        if why then
            eject(judge, why)
        end
    elseif get(counts, judge.row) then
        delete(counts, judge.row)
    end
end

-- The statuses of gRPC that say as HTTP's 500 and above do that the server failed: UNKNOWN, DEADLINE_EXCEEDED, INTERNAL, UNAVAILABLE, DATA_LOSS.
local grpc_failures = { ["2"] = true, ["4"] = true, ["13"] = true, ["14"] = true, ["15"] = true }

local function failed_call()
    local kind = var.http_content_type
    if not kind or kind:sub(1, 16) ~= "application/grpc" then
        return false
    end
    return grpc_failures[var.upstream_trailer_grpc_status or var.upstream_http_grpc_status] or false
end

-- nginx has lists of all tries, separated by ", ", and by " : " where another backend took over, such as one for error pages.
local function settle_all(backend, statuses)
    local by_name = endpoints.by_name(backend.all)
    local next_status = statuses:gmatch("[^, :]+")
    for name in (var.upstream_addr or ""):gmatch("[^, ]+") do
        if name ~= ":" then
            local status, endpoint = tonumber(next_status()), by_name[name]
            if status and endpoint then
                settle(endpoint.judge, status >= 500)
            end
        end
    end
end

-- Gives the number that a text of three digits is, else nil: tonumber takes its time.
local function number_of(text)
    local a, b, c, more = byte(text, 1, 4)
    return c and not more and a * 100 + b * 10 + c - 111 * zero
end

-- Tells how the request went. Runs in log_by_lua.
function M.observe()
    if watched_count == 0 then
        return
    end
    local key = request_address()
    local judge = watched[key]
    if not judge then
        return
    end
    watched[key] = nil
    watched_count = watched_count - 1
    local text = var.upstream_status
    local status = text and number_of(text)
    if status then
        settle(judge, status >= 500 or status == 200 and failed_call())
    elseif text and text ~= "-" then -- "-" is a client that went away before there was an answer
        settle_all(judge.backend, text)
    end
end

-- Gives who is ejected now, for the controller: { total = number, list = { { backend, endpoint, since, until }… } }, without a list when nobody is.
function M.report()
    local list, at = {}, now()
    for _, key in ipairs(ejections:get_keys(0)) do
        local backend, endpoint = key:match("^(%S+)|(%S+)$")
        if backend then
            local since, till = last_ejection { key = key }
            if since and till > at then
                list[#list + 1] = { backend = backend, endpoint = endpoint, since = since, ["until"] = till }
            end
        end
    end
    return { total = get(ejections, "total") or 0, list = list[1] and list }
end

return M
