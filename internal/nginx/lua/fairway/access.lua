-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Controls who may pass: client addresses and logins. What the other server of external auth says comes later, see external_auth.lua.

local answer = require "fairway.answer"
local cidr = require "fairway.cidr"

local var = ngx.var

local M = {}

-- Tells whether a client's address may pass.
local function by_address(access)
    if not access.denied then
        access.denied = cidr.set(access.deny or {})
        access.allowed = cidr.set(access.allow or {})
    end
    local address = var.binary_remote_addr
    if access.deny and cidr.contains(access.denied, address) then
        return false
    end
    return not access.allow or cidr.contains(access.allowed, address)
end

-- Answers what may not pass. Otherwise gives true when nothing else has to be asked: `any` control is enough and one has let the request
-- pass.
function M.check(policy)
    if policy.access and not by_address(policy.access) then
        return answer.status(policy, 403)
    end
end

return M
