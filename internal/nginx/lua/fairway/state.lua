-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- Writes pushes into shared memory (format: package nginx/state). A push is a line "= GENERATION", then lines "+ KEY<tab>VALUE" and "- KEY", and
-- at last ". GENERATION". The same bytes come from the controller's socket and from the state memory file.

local zone = ngx.shared.fairway

local M = {}

local log_length = 512    -- so many generations can a worker lag behind before it forgets everything
local log_entry_limit = 256 -- a push that changes more keys is logged as "*"; before the keys, or that, stands the time of the push

-- Applies one push. Gives the generation it leads to, or nil and an error; the error "no memory" means that the zone is
-- too small. The generation moves only after the last line was written.
function M.apply(text)
    local generation
    local changed, count = {}, 0
    local complete = false
    local ordinal = 0
    for line in text:gmatch("([^\n]*)\n") do
        ordinal = ordinal + 1
        local verb, rest = line:byte(1), line:sub(3)
        if verb == 43 and generation then -- +
            local tab = rest:find("\t", 1, true)
            if not tab then
                return nil, "line " .. ordinal .. " has no value"
            end
            local key = rest:sub(1, tab - 1)
            local ok, err = zone:safe_set(key, rest:sub(tab + 1))
            if not ok then
                return nil, err
            end
            count = count + 1
            changed[count] = key
        elseif verb == 45 and generation then -- -
            zone:delete(rest)
            count = count + 1
            changed[count] = rest
        elseif verb == 61 and not generation then -- =
            generation = tonumber(rest)
        elseif verb == 46 and generation and tonumber(rest) == generation then -- .
            complete = true
        else
            return nil, "line " .. ordinal .. " is no line of a push"
        end
    end
    if not complete then
        return nil, "push is cut off after line " .. ordinal
    end
    local log = ("%.3f\t"):format(ngx.now()) .. (count > log_entry_limit and "*" or table.concat(changed, "\t", 1, count))
    local ok, err = zone:safe_set("log:" .. generation, log)
    if not ok then
        return nil, err
    end
    zone:delete("log:" .. (generation - log_length))
    ok, err = zone:safe_set("generation", generation)
    if not ok then
        return nil, err
    end
    return generation
end

function M.generation()
    return zone:get("generation") or 0
end

-- Replays the state memory file into an empty zone; one that already has a generation (a reload) is left alone.
-- Runs in init_by_lua, before any worker accepts. When the zone is too small for all of it, the generation tells the controller.
function M.load(path)
    if M.generation() > 0 then
        return
    end
    local file = io.open(path, "rb")
    if not file then
        return -- `nginx -t` has no state
    end
    local push = {}
    for line in file:lines() do
        push[#push + 1] = line .. "\n"
        if line:byte(1) == 46 then
            local generation, err = M.apply(table.concat(push))
            if not generation then
                ngx.log(ngx.ERR, "state: ", err)
                break
            end
            push = {}
        end
    end
    file:close()
end

return M
