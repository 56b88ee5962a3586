-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

local M = {}
function M.verify() return false end
function M.refuse() return ngx.exit(503) end
function M.take() end
return M
