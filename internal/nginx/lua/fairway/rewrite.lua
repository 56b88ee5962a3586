-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Rewrites the path that the backend gets: where the rule's expression matches the decoded path, whatever its case, the whole path
-- is replaced by the target with the groups filled in, as nginx' rewrite directive does. What comes out is normalized again,
-- so that a group can't be joined to a "..".

local re_match = ngx.re.match
local set_uri = ngx.req.set_uri

local function normalize(path)
    local segments = {}
    for segment in path:gmatch("[^/]+") do
        if segment == ".." then
            segments[#segments] = nil
        elseif segment ~= "." then
            segments[#segments + 1] = segment
        end
    end
    local clean = "/" .. table.concat(segments, "/")
    local directory = path:find("/%.?%.?$")
    if directory and clean ~= "/" then
        clean = clean .. "/"
    end
    return clean
end

local function fill(text, groups)
    return (text:gsub("%$(%d)", function(digit)
        return groups[tonumber(digit)] or ""
    end))
end

-- Sets the URI of this request; `path` is its decoded path.
return function(path, pattern, target, policy)
    local groups, err = re_match(path, pattern, "ijo")
    if not groups then
        if err then
            ngx.log(ngx.WARN, "rewrite of ", path, ": ", err)
            return ngx.exit(500)
        end
        return
    end
    local new = fill(target, groups)
    if new:byte(1) ~= 47 or new:find("/.", 1, true) or new:find("//", 1, true) then
        new = normalize(new)
    end
    if policy and policy.forwarded_prefix then
        ngx.req.set_header("X-Forwarded-Prefix", (fill(policy.forwarded_prefix, groups):gsub("%c", "")))
    end
    if policy and policy.log_rewrites then
        ngx.log(ngx.NOTICE, "rewritten path: \"", new, "\", was: \"", path, "\"")
    end
    -- The path may hold any byte; nginx escapes it when it writes the request line.
    set_uri(new, false, true)
end
