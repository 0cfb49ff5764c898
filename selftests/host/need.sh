#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Where something is missing that make needs, one line says what to install, and nothing is written.
#
# shellcheck disable=SC2317 # the tests are called by name
set -u
. "$(dirname "$0")/../lib/ktap.sh"
TOP=$(cd "$(dirname "$0")/../.." && pwd)
DIR=$(mktemp -d)
trap 'rm -rf "$DIR"' EXIT

# A path with what each Debian has, and make.
mkdir -p "$DIR"/{bare,headers,kernel/include/generated}
for p in bash sh make sed grep uname install cp rm mkdir cat dirname find; do
	ln -s "$(command -v $p)" "$DIR/bare/"
done
# A compiler that finds no header, and dkms.
printf '#!/bin/sh\nexec %s -nostdinc "$@"\n' "$(command -v cc)" >"$DIR/headers/cc"
printf '#!/bin/sh\nexit 1\n' >"$DIR/headers/dkms"
chmod +x "$DIR"/headers/*
touch "$DIR/kernel/Makefile"

# release NAME: the headers are of that one.
release() { echo "#define UTS_RELEASE \"$1\"" >"$DIR/kernel/include/generated/utsrelease.h"; }
release 6.1.0-99-amd64

# says PATH LINE VERB [VARIABLE=VALUE]: make VERB says that and no more, and installs nothing.
says() {
	local path=$1 line=$2
	shift 2
	! PATH=$path make -s -C "$TOP" DESTDIR="$DIR/root" "$@" >"$DIR/out" 2>&1 &&
		diff <(echo "$line") <(grep -v '^make: ' "$DIR/out") && [ ! -e "$DIR/root" ]
}
run="missing packages; run: sudo apt-get install"
libraries="libc6-dev libjansson-dev libmuparser-dev"
none=/lib/modules/6.1.0-99-amd64/build
with=$DIR/kernel

ktap "make without headers" says "$PATH" "$run linux-headers-6.1.0-99-amd64" all KDIR=$none
for verb in install dkms-install; do
	dkms=$([ $verb = install ] || echo " dkms")
	ktap "make $verb on a bare Debian" says "$DIR/bare" \
		"$run linux-headers-6.1.0-99-amd64 gcc $libraries$dkms" $verb KDIR=$none
	ktap "make $verb without libraries" says "$DIR/headers:$DIR/bare" "$run $libraries" $verb KDIR="$with"
done
ktap "make hwcheck without a compiler" says "$DIR/bare" "$run gcc libc6-dev" hwcheck KDIR="$with"
ktap "make export without libraries" says "$DIR/headers:$DIR/bare" "$run $libraries" export
for release in 5.10.0-30-amd64 6.0.12-1-amd64 7.4.0+deb13-amd64; do
	release $release
	for verb in all install dkms-install hwcheck; do
		ktap "make $verb for $release" says "$PATH" \
			"the modules are for Linux 6.1 to 7.3, and this is $release" $verb KDIR="$with"
	done
done
enough() {
	local k
	for k in 6.1.0-99-amd64 6.12.3 6.19.0-rc1 7.3.4+deb13-rt-amd64; do
		release $k
		"$TOP/tools/need" "kernel=$with" || return
	done
}
ktap "kernels that they are for" enough
# So is the kernel's build system.
space() {
	mkdir -p "$DIR/with space/tools"
	cp "$TOP/Makefile" "$TOP/dkms.conf" "$DIR/with space/"
	cp "$TOP/tools/need" "$DIR/with space/tools/"
	TOP="$DIR/with space" says "$PATH" "the kernel cannot build modules in a directory with a space in its\
 name: $DIR/with space" all KDIR="$with"
}
ktap "a directory with a space" space
ktap_end
