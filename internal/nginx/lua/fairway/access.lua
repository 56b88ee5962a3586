-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Controls who may pass: client addresses and logins. What the other server of external auth says comes later, see external_auth.lua.

local answer = require "fairway.answer"
local cidr = require "fairway.cidr"
local login = require "fairway.login"

local M = {}

-- Says what the address lists make of the client: true lets it in, false keeps it out, nil is no opinion. Not to be denied is no
-- reason to let anybody in, so without a list of who is allowed the answer is false or nil.
local function by_address(access, address)
    if not access.sets then
        access.sets = { deny = access.deny and cidr.set(access.deny), allow = access.allow and cidr.set(access.allow) }
    end
    local sets = access.sets
    if sets.deny and cidr.contains(sets.deny, address) then
        return false
    end
    if sets.allow then
        return cidr.contains(sets.allow, address)
    end
end

local function satisfy_all(policy, allowed)
    if allowed == false then
        return answer.status(policy, 403)
    end
    if policy.login then
        local known, stale = login.verify(policy.login)
        if not known then
            return login.refuse(policy, stale)
        end
    end
    return false
end

-- A login counts more than an address in the answer to who has neither, as only the login can be repaired by the client.
local function satisfy_any(policy, allowed)
    if allowed then
        return true
    end
    local known, stale
    if policy.login then
        known, stale = login.verify(policy.login)
    end
    if known or policy.auth then
        return known == true
    end
    if policy.login then
        return login.refuse(policy, stale)
    end
    if allowed == false then
        return answer.status(policy, 403)
    end
    return false
end

-- Answers what may not pass, and returns only for what may; address is that of the client, binary. The result is for external auth, if the
-- policy has it:
--
--   true   nobody else has to be asked: `any` control is enough, and one has let the request pass
--   false  the other server decides. With `any` that may be about a request that the controls here have turned down: its no is final.
--
-- The credentials of a login are taken from the request, as they are not the backend's business. Where another server is asked, it
-- gets to see them before, so then external_auth.lua takes them.
function M.check(policy, address)
    local allowed
    if policy.access then
        allowed = by_address(policy.access, address)
    end
    local passed
    if policy.any then
        passed = satisfy_any(policy, allowed)
    else
        passed = satisfy_all(policy, allowed)
    end
    if policy.login and not policy.auth then
        login.take()
    end
    return passed
end

return M
