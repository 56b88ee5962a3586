#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Fairway Authors
# SPDX-License-Identifier: Apache-2.0
#
# Installs the Debian or Ubuntu packages that Fairway needs on this machine, and only those that are missing.
#
#     hack/install-packages.sh [--check] GROUP...
#
#     runtime  nginx with its modules: enough for `make demo`
#     test     what `make test` needs besides
#     bench    what `make bench` needs besides
#
# --check changes nothing, prints what is missing and fails when that is anything. It costs milliseconds.
#
# It never starts, stops or reloads an nginx of the system: packages are installed while a policy forbids services to be
# started. An nginx that was not there before is left disabled; one that was there keeps its set of modules.
set -euo pipefail

# Each line: group, package, and what proves that it is there: a command, or a file (which may be a pattern).
# A package marked "?" is installed where the distribution has it and passed over where not.
modules=/usr/lib/nginx/modules
packages="
runtime  nginx                                  nginx
runtime  libnginx-mod-http-ndk                  $modules/ndk_http_module.so
runtime  libnginx-mod-http-lua                  $modules/ngx_http_lua_module.so
runtime  libnginx-mod-http-headers-more-filter  $modules/ngx_http_headers_more_filter_module.so
runtime  libnginx-mod-stream                    $modules/ngx_stream_module.so
runtime  libnginx-mod-http-geoip2               $modules/ngx_http_geoip2_module.so
runtime  libnginx-mod-http-brotli-filter        $modules/ngx_http_brotli_filter_module.so
runtime  libnginx-mod-http-brotli-static?       $modules/ngx_http_brotli_static_module.so
runtime  libnginx-mod-http-modsecurity          $modules/ngx_http_modsecurity_module.so
runtime  modsecurity-crs?                       /etc/modsecurity/crs/crs-setup.conf
runtime  lua-cjson                              /usr/lib/*-linux-gnu/lua/5.1/cjson.so
runtime  lua-resty-core                         /usr/share/lua/5.1/resty/core.lua
runtime  lua-resty-lrucache                     /usr/share/lua/5.1/resty/lrucache.lua
runtime  curl                                   curl
test     lua-check                              luacheck
test     nftables                               nft
test     iproute2                               ip
test     jq                                     jq
test     openssl                                openssl
test     redis-server                           redis-server
test     kubernetes-client?                     kubectl
bench    haproxy                                haproxy
bench    wrk                                    wrk
"

PATH=$PATH:/usr/sbin:/sbin

fail() {
	echo "install-packages: $*" >&2
	exit 1
}

# present PROOF tells whether a command is in PATH, or a file is in its place.
present() {
	case $1 in
	/*) compgen -G "$1" >/dev/null ;;
	*) command -v "$1" >/dev/null 2>&1 ;;
	esac
}

# wanted GROUP... prints the packages of the groups that are missing.
wanted() {
	local group package proof
	while read -r group package proof; do
		[ -n "$group" ] || continue
		case " $* " in *" $group "*) ;; *) continue ;; esac
		present "$proof" || echo "$package"
	done <<<"$packages"
}

# as_root COMMAND... runs a command as root, with the question for a password if sudo has one.
as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		fail "must be root to install packages, and there is no sudo. As root run: $0 $groups"
	fi
}

apt_get() {
	as_root env DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 apt-get -qq -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@" </dev/null
}

# known PACKAGE tells whether the distribution has it.
known() { [ -n "$(apt-cache madison "$1" 2>/dev/null)" ]; }

policy=/usr/sbin/policy-rc.d
enabled=/etc/nginx/modules-enabled
work=

# forbid_services puts a policy in place that answers 101, "not allowed", to whoever wants to start, stop or reload a service.
forbid_services() {
	work=$(mktemp -d)
	if [ -e "$policy" ] || [ -L "$policy" ]; then
		as_root mv "$policy" "$policy.before-fairway"
	fi
	printf '#!/bin/sh\nexit 101\n' >"$work/policy"
	as_root install -m 755 "$work/policy" "$policy"
	ls "$enabled" >"$work/enabled" 2>/dev/null || true
}

# restore undoes forbid_services, whatever happened in between.
restore() {
	[ -n "$work" ] || return 0
	as_root rm -f "$policy"
	if [ -e "$policy.before-fairway" ] || [ -L "$policy.before-fairway" ]; then
		as_root mv "$policy.before-fairway" "$policy"
	fi
	rm -rf "$work"
	work=
}

# leave_system_nginx sees to it that the system's own nginx does after this just what it did before.
leave_system_nginx() {
	local link
	if [ "$had_nginx" = no ]; then
		if command -v systemctl >/dev/null; then
			as_root systemctl disable nginx.service >/dev/null 2>&1 ||
				as_root systemctl --root=/ disable nginx.service >/dev/null 2>&1 || true
		fi
		return 0
	fi
	# Debian enables a module for the system's nginx when its package is installed. Fairway loads modules by itself.
	for link in $(ls "$enabled" 2>/dev/null | grep -vxFf "$work/enabled" || true); do
		as_root rm -f "$enabled/$link"
	done
}

check=no
groups=
for word in "$@"; do
	case $word in
	--check) check=yes ;;
	runtime | test | bench) groups="$groups $word" ;;
	*) fail "unknown group $word; there are runtime, test and bench" ;;
	esac
done
[ -n "$groups" ] || fail "say which groups: runtime, test, bench"

# shellcheck disable=SC2086 # groups are words
missing=$(wanted $groups)
needed=$(grep -v '?$' <<<"$missing" || true)
if [ "$check" = yes ]; then
	[ -z "$needed" ] && exit 0
	echo "missing:" $needed >&2
	exit 1
fi
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null; then
	[ -n "$needed" ] || exit 0
	fail "this is neither Debian nor Ubuntu; install these or their like by hand:" $needed
fi

had_nginx=no
present nginx && had_nginx=yes

# The optional ones alone are not worth a refresh of the package lists.
for package in $needed; do
	if ! known "$package"; then
		echo "install-packages: refreshing the package lists"
		apt_get update || echo "install-packages: the package lists could not be refreshed; going on with what is there" >&2
		break
	fi
done

install=()
for package in $missing; do
	case $package in
	*\?)
		if known "${package%\?}"; then install+=("${package%\?}"); fi
		;;
	*)
		known "$package" || fail "this distribution has no package $package"
		install+=("$package")
		;;
	esac
done
[ "${#install[@]}" -gt 0 ] || exit 0

echo "install-packages: installing ${install[*]}"
trap restore EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
forbid_services
if ! apt_get install -y --no-install-recommends "${install[@]}" >"$work/log" 2>&1; then
	echo "install-packages: once more with fresh package lists" >&2
	apt_get update
	if ! apt_get install -y --no-install-recommends "${install[@]}" >"$work/log" 2>&1; then
		cat "$work/log" >&2
		fail "apt-get could not install them"
	fi
fi
leave_system_nginx
restore

# shellcheck disable=SC2086
left=$(wanted $groups | grep -v '?$' || true)
[ -z "$left" ] || fail "these packages are installed, but what they should bring was not found:" $left
echo "install-packages: done"
