-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Changes headers of responses: sets those of the policy, and replaces parts of the backend's cookies and redirects, as nginx' proxy_cookie_domain,
-- proxy_cookie_path and proxy_redirect do with plain text. A replacement is { from, to }.

local header = ngx.header

local M = {}

-- Sets headers, a list of { name, value }, in place of the backend's.
function M.set(headers)
    for _, h in ipairs(headers) do
        header[h[1]] = h[2]
    end
end

-- Gives a Set-Cookie with the value of one attribute changed: `change` gives the new value, or nil. Attributes stand behind the first
-- semicolon; their names have no case.
local function change_attribute(cookie, name, change)
    return (cookie:gsub("(;%s*)([^=;%s]+)(%s*=%s*)([^;]*)", function(before, key, equals, value)
        if key:lower() ~= name then
            return nil
        end
        local text, blanks = value:match("^(.-)(%s*)$")
        local new = change(text)
        return new and before .. key .. equals .. new .. blanks
    end))
end

-- Changes an attribute in all cookies but the one that keeps clients on an endpoint, which is not the backend's.
local function change_cookies(policy, name, change)
    local cookies = header["Set-Cookie"]
    if not cookies then
        return
    end
    if type(cookies) == "string" then
        cookies = { cookies }
    end
    local affinity = policy.balance and policy.balance.affinity
    local own = affinity and affinity.name .. "="
    for i, cookie in ipairs(cookies) do
        if not own or cookie:sub(1, #own) ~= own then
            cookies[i] = change_attribute(cookie, name, change)
        end
    end
    header["Set-Cookie"] = cookies
end

-- Replaces the whole domain of cookies; a dot before it stays.
function M.cookie_domain(replacement, policy)
    local from = replacement[1]:lower()
    change_cookies(policy, "domain", function(domain)
        local dot, name = domain:match("^(%.?)(.*)$")
        return name:lower() == from and dot .. replacement[2]
    end)
end

-- Replaces the beginning of a text from a position on.
local function replace_beginning(text, position, replacement)
    local from, to = replacement[1], replacement[2]
    local stop = position + #from
    if text:sub(position, stop - 1) == from then
        return text:sub(1, position - 1) .. to .. text:sub(stop)
    end
end

-- Replaces the beginning of the path of cookies.
function M.cookie_path(replacement, policy)
    change_cookies(policy, "path", function(path)
        return replace_beginning(path, 1, replacement)
    end)
end

-- Replaces the beginning of the URLs in Location and Refresh.
function M.location(replacement)
    local location, refresh = header["Location"], header["Refresh"]
    local new = type(location) == "string" and replace_beginning(location, 1, replacement)
    if new then
        header["Location"] = new
    end
    local _, last = (type(refresh) == "string" and refresh:lower() or ""):find("url=", 1, true)
    new = last and replace_beginning(refresh, last + 1, replacement)
    if new then
        header["Refresh"] = new
    end
end

return M
