# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# For the tests of tools/vm/run, which run on this machine and boot by themselves.

. "$(dirname "${BASH_SOURCE[0]}")/../../tools/lib/common.sh"
. "$(dirname "${BASH_SOURCE[0]}")/ktap.sh"
DIR=$(mktemp -d)
trap 'rm -rf "$DIR"' EXIT

# Those under test, or what the test has in its line "TEST:", or in "SOAK:" if it is of soak alone.
# What they are without these lines is in selftests/run --help.
own=$(sed -n 's/^# TEST: //p' "$0")
[ "$own" != none ] || { own=$(sed -n 's/^# SOAK: //p' "$0") && own=${own:-newest}; }
# shellcheck disable=SC2034 # for tests
read -ra KERNELS <<<"${KERNELS_UNDER_TEST:-${own:-6.1 6.12}}"

# As in selftests/run: without page table isolation, unless PTI=on. A test sets that if it
# matters.
PTI=${PTI:-}

# vm NAME OPTION...: run it; NAME.out, NAME.err and NAME.status say how it went.
# The timeout is for what hangs, soak takes its time.
vm() {
	local name=$1 status=0 pti=(--append pti=off)
	shift
	[ "$PTI" != on ] || pti=()
	"$TOP/tools/vm/run" --timeout "${SOAK:+9}900" --log "$DIR/$name.log" "${pti[@]}" "$@" \
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

# ktap_guest NAME WHERE: the results of the test that vm NAME ran, as our own. It has failed
# as well if it printed fewer than it planned, or ended otherwise than they say.
ktap_guest() {
	local line rest result seen=0 plan=no bad=0
	while IFS= read -r line; do
		case $line in
		"ok "* | "not ok "*)
			rest=${line#*ok } result=${line%%ok *}
			seen=$((seen + 1)) ktap_num=$((ktap_num + 1))
			echo "${result}ok $ktap_num $2: ${rest#* }"
			[ -z "$result" ] || bad=1
			;;
		1..*) plan=${line#1..} plan=${plan%% *} ;;
		"KTAP version"*) ;;
		*) echo "# ${line#\# }" ;;
		esac
	done <"$DIR/$1.out"
	sed 's/^/# /' "$DIR/$1.err"
	# shellcheck disable=SC2034 # ktap_end looks at it
	[ $bad = 0 ] || ktap_bad=1
	ktap_whole() {
		echo "$seen of $plan results"
		[ "$seen" = "$plan" ] && [ "$seen" != 0 ] && ended "$1" $bad
	}
	ktap "$2: all of it has run" ktap_whole "$1"
}

# build_modules NAME KERNEL [VARIABLE=VALUE...]: the modules of selftests/guest/NAME. Prints
# the directory they are in.
build_modules() {
	local out=$TOP/build/selftests/$1-$2 kdir
	kdir=$("$TOP/tools/vm/kernel" --cached --headers "$2" | sed -n 's/^KDIR=//p')
	mkdir -p "$out"
	cp -u "$TOP/selftests/guest/$1"/* "$out/"
	make -s -C "$kdir" "M=$out" W=1 "${@:3}" modules >"$out/log" 2>&1 ||
		{ cat "$out/log" >&2; return 1; }
	echo "$out"
}

# build_program NAME SOURCE: a static program of selftests/guest/NAME. Prints where it is.
build_program() {
	gcc -O2 -g -Wall -Wextra -Werror -static -I "$TOP/selftests/lib" \
		-I "$TOP/tools/silicon/model" -o "$DIR/$1" "$TOP/selftests/guest/$1/$2" "$TOP"/selftests/lib/*.c &&
		echo "$DIR/$1"
}

# guests NAME COMMAND OPTION...: a whole test. Boots each kernel with these options, and runs the
# command there: /t/guest is selftests/guest/NAME/guest.c, and the modules of NAME are beside it.
guests() {
	local guest out kernel module put
	guest=$(build_program "$1" guest.c) || { ktap "the program is built" false; ktap_end; }
	for kernel in "${KERNELS[@]}"; do
		if ! out=$(build_modules "$1" "$kernel"); then
			ktap "$kernel: the modules are built" false
			continue
		fi
		put=(--put "$guest:/t/guest")
		for module in "$out"/*.ko; do put+=(--put "$module:/t/"); done
		vm "$kernel" --kernel "$kernel" "${put[@]}" "${@:3}" -- sh -c "$2"
		ktap_guest "$kernel" "$kernel"
	done
	ktap_end
}
