#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# dkms builds the modules for a kernel that they are for. For any other it says so, and leaves
# everything as it was.
#
# KERNELS: newest
# TIER: soak
#
# shellcheck disable=SC2317 # the tests are called by name
set -u
. "$(dirname "$0")/../lib/vm.sh"
PATH=$PATH:/usr/sbin:/sbin

need_packages dkms build-essential
known=$("$TOP/tools/vm/kernel" --cached --headers "${KERNELS[0]}")
release=$(sed -n 's/^RELEASE=//p' <<<"$known")
kdir=$(sed -n 's/^KDIR=//p' <<<"$known")
name=xeon7500-pmu version=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' "$TOP/dkms.conf")
where=(--dkmstree "$DIR/tree" --sourcetree "$DIR/src" --installtree "$DIR/lib/modules")

mkdir -p "$DIR/tree" "$DIR/src/$name-$version" "$DIR/lib/modules/$release"
cp -r "$TOP"/{Kbuild,dkms.conf,Makefile,COPYING,include,drivers} "$DIR/src/$name-$version/"
dkms add "$name/$version" "${where[@]}" >"$DIR/add" 2>&1 || { cat "$DIR/add" >&2; exit 1; }

# A kernel like this one, but for a symbol that it does not export.
lacking=$DIR/lacking
cp -rs "$kdir" "$lacking"
rm "$lacking/Module.symvers" "$lacking/Makefile"
grep -v '	perf_pmu_register	' "$kdir/Module.symvers" >"$lacking/Module.symvers"
sed "s#^KBUILD_OUTPUT=.*#KBUILD_OUTPUT=$lacking#" "$kdir/Makefile" >"$lacking/Makefile"

try() { # RELEASE KDIR
	dkms install "$name/$version" -k "$1" --kernelsourcedir "$2" "${where[@]}" --no-depmod
}
installed() { find "$DIR/lib/modules" -name '*.ko*' -printf '%f\n' | sort; }

# refused TEXT RELEASE KDIR: with this in what it says
refused() {
	if try "$2" "$3" >"$DIR/out" 2>&1; then
		cat "$DIR/out"
		return 1
	fi
	cat "$DIR"/tree/"$name"/"$version"/build/make.log >>"$DIR/out" 2>/dev/null
	cat "$DIR/out"
	grep -q "$1" "$DIR/out" && [ -z "$(installed)" ] || return 1
	[ "$(dkms status "${where[@]}")" = "$name/$version: added" ]
}
taken() {
	try "$release" "$kdir" 2>&1 || { cat "$DIR"/tree/"$name"/"$version"/build/make.log; return 1; }
	printf '%s\n' intel_core_ext.ko xeon7500_uncore.ko | diff - <(installed | sed 's/[.]ko[.].*/.ko/')
}

ktap "one after the newest is not for us" refused BUILD_EXCLUSIVE 7.4.0+deb13-amd64 "$kdir"
ktap "one before the oldest is not for us" refused BUILD_EXCLUSIVE 6.0.0-6-amd64 "$kdir"
ktap "one that lacks a symbol" refused 'perf_pmu_register.* undefined' "$release" "$lacking"
ktap "one that they are for" taken
ktap_end
