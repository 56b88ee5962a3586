-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Policies, and ways to balance, by the hash of their content: so a request can name its own in a variable across an internal redirect
-- and a push. They are known while a decoded host has them and for a while after. Equal content is one table, on which modules
-- keep what they computed of it.

local now = ngx.now

local M = {}

local policies, policies_before = {}, {}
local balances, balances_before = {}, {}
local since = 0
local keep_for = 600 -- seconds, longer than a backend takes to answer

local empty = {}
local default

local function know(known, before, value)
    local same = known[value.id] or before[value.id] or value
    known[value.id] = same
    return same
end

-- Lets go of what no decoded host has had for keep_for.
local function age(...)
    if now() - since < keep_for then
        return
    end
    since = now()
    policies_before, balances_before = policies, balances
    policies, balances = {}, {}
    for _, hosts in ipairs { ... } do
        for _, host in pairs(hosts) do
            M.note(host)
        end
    end
end

-- Makes the policies and balances of a decoded host known.
function M.note(host)
    for i, policy in ipairs(host.policies or empty) do
        host.policies[i] = know(policies, policies_before, policy)
        if policy.balance then
            know(balances, balances_before, policy.balance)
        end
    end
    for _, route in ipairs(host.r) do
        for _, canary in ipairs(route.c or empty) do
            if canary.balance then
                know(balances, balances_before, canary.balance)
            end
        end
    end
end

-- Tells whether a policy says nothing but how to balance.
local function is_only_balance(policy)
    for member in pairs(policy) do
        if member ~= "id" and member ~= "balance" then
            return false
        end
    end
    return true
end

-- Gives each route of a freshly decoded host its policy, unless that concerns the balancer alone, which asks for `balance` by its ID. The
-- tables of the other decoded hosts say what is still in use.
function M.adopt(host, ...)
    age(...)
    M.note(host)
    host.special = host.redirect or host.closed or host.app_root or (host.tls and host.tls.ca) or nil
    for _, route in ipairs(host.r) do
        local policy = route.p and host.policies[route.p]
        if policy then
            route.balance = policy.balance
            route.policy = not is_only_balance(policy) and policy or nil
        end
    end
    if host.aliases then
        host.also = {}
        for _, name in ipairs(host.aliases) do
            host.also[name] = name
        end
    end
end

-- Sets how routes balance that say nothing.
function M.default_balance(balance)
    default = balance
end

-- Gives the policy of an ID, or nil.
function M.policy(id)
    return policies[id] or policies_before[id]
end

-- Gives how to balance by its ID, "-" for the default; nil for round robin.
function M.balance(id)
    if id == "-" then
        return default
    end
    return balances[id] or balances_before[id] or default
end

return M
