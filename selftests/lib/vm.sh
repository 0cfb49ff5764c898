# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# For the tests of tools/vm/run, which run on this machine and boot by themselves.

. "$(dirname "${BASH_SOURCE[0]}")/../../tools/lib/common.sh"
DIR=$(mktemp -d)
trap 'rm -rf "$DIR"' EXIT

# vm NAME OPTION...: run it; NAME.out, NAME.err and NAME.status say how it went.
# The timeout is for what hangs.
vm() {
	local name=$1 status=0
	shift
	"$TOP/tools/vm/run" --timeout 900 --log "$DIR/$name.log" "$@" \
		>"$DIR/$name.out" 2>"$DIR/$name.err" </dev/null || status=$?
	echo "$status" >"$DIR/$name.status"
}

# ended NAME STATUS: did it end so? If not, show why.
ended() {
	[ "$(cat "$DIR/$1.status")" = "$2" ] && return
	echo "$1: status $(cat "$DIR/$1.status"), not $2"
	tail -n 20 "$DIR/$1.err"
	return 1
}

printed() { printf '%s\n' "${@:2}" | diff - "$DIR/$1.out"; }
said() { grep -F -- "$2" "$DIR/$1.err" || { cat "$DIR/$1.err"; return 1; }; }

# build_complain KERNEL: prints the module that makes this kernel complain.
build_complain() {
	local out=$TOP/build/selftests/complain-$1 kdir
	kdir=$("$TOP/tools/vm/kernel" --headers "$1" | sed -n 's/^KDIR=//p')
	mkdir -p "$out"
	cp -u "$TOP"/selftests/vm/complain/* "$out/"
	make -s -C "$kdir" "M=$out" W=1 modules >"$out/log" 2>&1 || { cat "$out/log" >&2; return 1; }
	echo "$out/complain.ko"
}
