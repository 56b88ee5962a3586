-- The Lua that runs inside nginx: the library of ngx_lua, and no globals of our own.
std = "ngx_lua"
max_line_length = 150
read_globals = { ngx = { fields = { run_worker_thread = {} } } } -- newer than luacheck
