-- The Lua that runs inside nginx: the library of ngx_lua, and no globals of our own.
std = "ngx_lua"
max_line_length = 150
