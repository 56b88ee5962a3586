// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package state turns a model into the entries that nginx keeps in shared memory, and the difference of two states into a push.
// It is pure: sending is package nginx/push, keeping is package nginx/process. This is the one place where the layout is
// described; the Lua that reads it (package nginx/lua) cites it.
//
// # Entries
//
// An entry is a key and a JSON value. Neither holds a line break, a key holds no tab.
//
//	h:NAME   a host: { "r": [ROUTE…], "x": {PATH: i}, "l": {PATH: i}, "p": {PATH: i}, "max": n, "re": [[PATTERN, i]…] }
//	         x are exact paths, l paths answered by a redirect to the path and "/", p prefixes (each ends in "/"), max the length of the
//	         longest prefix, re expressions in order of trial, anchored; i is the place in r, counted from 1. Absent when empty.
//	b:KEY    a backend: { "n": LOG NAME, "e": [["ADDRESS", PORT, WEIGHT]…] }; KEY is the escaped BackendID (see backendKey), an IPv6 ADDRESS is in
//	         brackets, a WEIGHT of 1 is absent
//	         Where there is more to say, also "draining", endpoints like those of e which only get the requests of clients that they have, "down", the
//	         places in e, counted from 1, of those that checks found unwell, "far", those in other zones than near ones, "panic", the percentage
//	         of the near ones below which others are used too, and of e below which all of e are used, and "outlier",
//	         see outlierEntry, and "slow_start", in seconds, for routes that have none of their own. What outlier.lua counts, and whom it
//	         ejects, is in shared memory of its own and no part of the state.
//	c:ID     a certificate: { "chain": PEM, "key": PEM, "ocsp": what its authority says, DER in base64,
//	         "ocsp_until": Unix time }; the latter two are absent when nobody knows
//	s:NAME   the certificates of a TLS server name: [ID…]
//	g:settings  { "default": KEY, "redirect_code": n, "log_default": bool, "certificates": [ID…], "status_from": [CIDR…],
//	         "response_headers": [[NAME, TEMPLATE]…], "everywhere": what is asked of every request, see everywhereEntry }
//
// A ROUTE has these members, absent when empty or as in the default shape:
//
//	b  backend key; absent for the default backend     u  its log name
//	s  shape, sa that for TLS, sf that for the fallback  m  body limit in bytes
//	o  "CONNECT SEND READ TRIES BALANCE": timeouts in   v  Host header for the backend
//	   seconds, three "-" for those of the settings,
//	   tries, ID of a balanceEntry or "-"
//	w  pattern and  t  target of the rewrite            z  1 when the route is closed
//	q  1 to redirect plain HTTP to HTTPS                k  1 to keep the last "/" in that redirect
//	c  canaries: { "b": key, "h": header, "hv": value, "hp": pattern, "k": cookie, "w": share from 0 to 1, "o": as above,
//	   "balance": how the canary balances, where not as the settings say }
//	i  [namespace, Ingress, Service, port, path] for the log
//	p  the place of its policy in "policies" of the host, counted from 1
//
// A policy is a policyEntry, see there. Its templates, as v, are text with ${variable}; what says whose the route is is filled in already. Of the
// changes to responses, "headers" are [[name, value]…], and "cookie_domain", "cookie_path" and "location" are [from, to]. "fastcgi" is
// { "index": file, "params": [template…] }, the latter in the order of the names in the shape's location. Of those who may pass it says:
//
//	access  { "allow": [CIDR…], "deny": [CIDR…] }      any  1 when one control is enough
//	login   { "digest": 1, "realm": text, "users": { NAME: hash } }; with digest the hash is MD5 of name, realm and password
//
// # Pushes
//
// A push is text: a line "= GENERATION", then for each change "+ KEY<tab>VALUE" or "- KEY", then ". GENERATION". What others refer to
// is set before what refers to it and deleted after: certificates and backends, then hosts and names, then deletions. A state
// memory file is a sequence of pushes; replaying it gives the state.
package state
