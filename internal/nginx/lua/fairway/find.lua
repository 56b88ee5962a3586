-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Finds the route of a path on a host, as Host.Find of package model does: exact, then the longest prefix that ends at
-- a segment boundary; on hosts in regex mode the first expression that matches. Cost: one table look-up per segment of the path,
-- at most as many as the host's longest prefix has.

local re_find = ngx.re.find
local byte, sub = string.byte, string.sub

local slash = 47

local function find_regex(host, path)
    local list, routes = host.re, host.r
    for i = 1, #list do
        local entry = list[i]
        local from, _, err = re_find(path, entry[1], "ijo")
        if err then
            ngx.log(ngx.WARN, "regular expression of host ", host.name, ": ", err)
        elseif from then
            return routes[entry[2]]
        end
    end
end

local function find_prefix(host, path)
    local prefixes, routes = host.p, host.r
    local last = #path
    if last > host.max then
        last = host.max
    end
    for i = last, 2, -1 do
        if byte(path, i) == slash then
            local index = prefixes[sub(path, 1, i)]
            if index then
                return routes[index]
            end
        end
    end
    local index = prefixes["/"]
    return index and routes[index]
end

-- Gives the route of a path, or nil; and true when the answer is a redirect to the path and "/".
return function(host, path)
    if host.re then
        return find_regex(host, path)
    end
    local exact = host.x
    if exact then
        local index = exact[path]
        if index then
            return host.r[index]
        end
    end
    local slashless = host.l
    if slashless then
        local index = slashless[path]
        if index then
            return host.r[index], true
        end
    end
    if host.p then
        return find_prefix(host, path)
    end
end
