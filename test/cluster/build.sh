#!/bin/sh
# SPDX-FileCopyrightText: The Fairway Authors
# SPDX-License-Identifier: Apache-2.0
#
# Builds everything that "cluster up" needs into $BIN (default: fairway/cluster in the user's cache folder). The control plane takes
# some four minutes on two cores the first time; afterwards it is built only when its go.mod, go.sum or sources change.
set -eu
cd "$(dirname "$0")"
BIN=${BIN:-${XDG_CACHE_HOME:-$HOME/.cache}/fairway/cluster}
export GOFLAGS="${GOFLAGS:-} -buildvcs=false"
mkdir -p "$BIN"
exec 9>"$BIN/build.lock"
flock 9 # two builds at once would compile everything twice

go build -o "$BIN/cluster" .
go build -o "$BIN/echo" ./echo

stamp=$( (cat kube/go.mod kube/go.sum kube/*/*.go; go version) | sha256sum | cut -d' ' -f1)
if [ "$(cat "$BIN/kube.stamp" 2>/dev/null)" != "$stamp" ] || [ ! -x "$BIN/apiserver" ] || [ ! -x "$BIN/kcm" ]; then
	echo "building kube-apiserver and kube-controller-manager; the first time this takes minutes"
	(cd kube && go build -p 2 -ldflags "-s -w" -o "$BIN/" ./apiserver ./kcm)
	echo "$stamp" >"$BIN/kube.stamp"
fi
