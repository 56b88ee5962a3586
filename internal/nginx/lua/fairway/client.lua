-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- How the client asked: by what scheme, for which host, at which port. That is what the connection says, unless the settings believe who sent the
-- request; package nginx/conf has the rules and names the variables.

local var = ngx.var

local M = {
    variables = { scheme = "scheme", host = "http_host", port = "server_port" }, -- set by init.lua
}

function M.scheme()
    return var[M.variables.scheme]
end

-- Gives the Host header with its port, or the name that the request was routed by when there is none.
function M.host()
    return var[M.variables.host] or var.host
end

-- Gives the port; that of HTTPS is 443 whatever nginx listens on.
function M.port()
    local name = M.variables.port
    if name == "server_port" and var.scheme == "https" then
        return 443
    end
    return var[name]
end

return M
