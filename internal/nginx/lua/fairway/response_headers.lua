-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

local M = {}
function M.set() end
function M.cookie_domain() end
function M.cookie_path() end
function M.location() end
return M
