-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

local M = {}
function M.prepare() end
function M.ask() end
function M.answered() end
function M.authorized() end
function M.respond() end
return M
