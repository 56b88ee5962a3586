// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package lua holds the Lua that runs inside nginx. Files gives it as a file system whose "fairway" folder belongs on nginx'
// lua_package_path. What the modules read is laid out in package nginx/state and only cited there; which module runs in which phase is
// in package nginx/conf. Start with fairway/route.lua.
package lua

import "embed"

// Files are the modules, "fairway/NAME.lua".
//
//go:embed fairway/*.lua
var Files embed.FS
