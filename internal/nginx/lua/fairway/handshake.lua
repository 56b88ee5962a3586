-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

local M = {}
function M.hello() end
function M.check() end
return M
