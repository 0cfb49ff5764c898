#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Where something is missing that make needs, one line says what to install, and nothing is
# written. Uninstalling takes the modules of KDIR and of no other kernel.
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
printf 'modules modules_install:\n' >"$DIR/kernel/Makefile"

# release NAME: the headers are of that one.
release() { echo "#define UTS_RELEASE \"$1\"" >"$DIR/kernel/include/generated/utsrelease.h"; }
release 6.1.0-99-amd64

# says PATH LINE ARGUMENT...: make says that and no more, and installs nothing.
says() {
	local path=$1 line=$2
	shift 2
	! PATH=$path make -s -C "$TOP" DESTDIR="$DIR/root" "$@" >"$DIR/out" 2>&1 &&
		diff <(echo "$line") <(grep -v '^make' "$DIR/out") && [ ! -e "$DIR/root" ]
}
run="missing packages; run: sudo apt-get install"
libraries="libjansson-dev libmuparser-dev libncurses-dev"
none=/lib/modules/6.1.0-99-amd64/build
with=$DIR/kernel

ktap "make without headers" says "$PATH" "$run linux-headers-6.1.0-99-amd64" all KDIR=$none
ktap "likewise, with a slash" says "$PATH" "$run linux-headers-6.1.0-99-amd64" all KDIR=$none/
ktap "make for a directory that is no kernel" says "$PATH" "no kernel headers in $DIR" all KDIR="$DIR"
for verb in install dkms-install; do
	# Where this machine has it, it is found after su as well.
	dkms=$([ $verb = install ] || [ -e /usr/sbin/dkms ] || echo " dkms")
	ktap "make $verb on a bare Debian" says "$DIR/bare" \
		"$run linux-headers-6.1.0-99-amd64 gcc libc6-dev $libraries$dkms" $verb KDIR=$none
	ktap "make $verb without libraries" says "$DIR/headers:$DIR/bare" \
		"$run gcc libc6-dev $libraries" $verb KDIR="$with"
done
ktap "likewise, after another goal" says "$DIR/headers:$DIR/bare" "$run gcc libc6-dev $libraries" \
	modules install KDIR="$with"
ktap "make export without libraries" says "$DIR/headers:$DIR/bare" \
	"$run gcc libc6-dev $libraries python3" export
sphinx=$([ -e /usr/lib/python3/dist-packages/myst_parser ] || echo " python3-sphinx python3-myst-parser")
ktap "make html on a bare Debian" says "$DIR/bare" "$run$sphinx mandoc" html
for release in 5.10.0-30-amd64 6.0.12-1-amd64; do
	release $release
	ktap "make for $release" says "$PATH" \
		"the modules are for Linux 6.1 and later, and this is $release" all KDIR="$with"
done
for release in 7.4.0-1-amd64 6.20-amd64 6.1; do
	release $release
	ktap "make dkms-install for $release" says "$DIR/headers:$PATH" \
		"dkms builds for Linux 6.1 to 7.3, and this is $release; make install tries any" dkms-install KDIR="$with"
done
enough() {
	local k
	for k in 6.1.0-99-amd64 6.11-amd64 6.19.0-rc1 7.3.4+deb13-rt-amd64 7.4.0-rc1; do
		release $k
		make -s -C "$TOP" KDIR="$with" modules || return
		[ $k = 7.4.0-rc1 ] || (cd "$TOP" && RELEASE=$k KDIR=$with PATH=$DIR/headers:$PATH tools/need dkms) || return
	done
}
elsewhere() {
	touch "$DIR/jansson.h" "$DIR/muParserDLL.h" "$DIR/ncurses.h"
	CC="cc -m64" CPPFLAGS="-I $DIR" "$TOP/tools/need" metrics
}
ktap "kernels that they may be for" enough
ktap "a compiler with an option, libraries elsewhere" elsewhere
# For those that run a kernel of its time.
hwcheck() {
	make -s -C "$TOP" hwcheck OUTPUT="$DIR/hwcheck" KDIR="$1" 2>/dev/null | tee "$DIR/out" &&
		grep -qx "no hwcheck_nmi.ko, which --pmi needs: $2" "$DIR/out" && "$DIR/hwcheck/hwcheck" --help
}
none=/lib/modules/2.6.32-71.el6/build
ktap "make hwcheck without headers" hwcheck $none "no kernel headers in $none"
release 3.10.0-1160.el7.x86_64
printf 'modules:\n\tfalse\n' >"$DIR/kernel/Makefile"
ktap "make hwcheck for a kernel that its module is not for" hwcheck "$with" \
	"it does not build for 3.10.0-1160.el7.x86_64"
ktap "make hwcheck without a compiler" says "$DIR/bare" "$run gcc libc6-dev python3" hwcheck KDIR="$with"

# uninstall STATUS LEFT ARGUMENT...: make ends so, and the modules of these kernels are left.
uninstall() {
	local left=$2 f k
	rm -rf "$DIR/root"
	for k in "$(uname -r)" 6.12.0-98-amd64; do
		mkdir -p "$DIR/root/lib/modules/$k/updates"
		for f in xeon7500_uncore.ko intel_core_ext.ko.xz; do
			touch "$DIR/root/lib/modules/$k/updates/$f"
		done
	done
	make -s -C "$TOP" uninstall DESTDIR="$DIR/root" "${@:3}" >"$DIR/out" 2>&1
	[ $? = "$1" ] || { cat "$DIR/out"; return 1; }
	diff <(for k in $left; do echo "$k"; done | sort) \
		<(cd "$DIR/root/lib/modules" && find . -name '*.ko*' | cut -d/ -f2 | sort -u)
}
ktap "make uninstall" uninstall 0 6.12.0-98-amd64
ktap "make uninstall where the headers have gone" uninstall 0 "$(uname -r)" \
	KDIR=/lib/modules/6.12.0-98-amd64/build
ktap "make uninstall for a directory that is no kernel" uninstall 2 "$(uname -r) 6.12.0-98-amd64" \
	KDIR="$DIR"
ktap_end
