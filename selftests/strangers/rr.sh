#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# rr, unmodified, from Debian 12 (5.6.0): what it has recorded it replays, to the instruction, by
# counting conditional branches. Three programs of selftests/guest/rr/guest.c and one replay of
# each on Sandy Bridge, or in "make soak" ten programs and 20 replays of each, on Goldmont, too.
# Our driver is loaded, so that its hooks are between rr and the counters.
#
# TEST: 6.1
# SOAK: 6.1
set -uo pipefail
. "$(dirname "$0")/../lib/vm.sh"
. "$(dirname "$0")/../lib/debian.sh"

programs="threads alarms strings" replays=1
[ -z "${SOAK:-}" ] || {
	programs="threads locks alarms children faults clocks files pipes memory strings" replays=20
}

# A replay that has diverged may not end by itself.
cat >"$DIR/guest.sh" <<'END'
replays=$1
shift
export _RR_TRACE_DIR=/tmp/rr
for p; do
	rm -rf /tmp/rr
	if ! timeout 300 rr record /t/guest "$p" >/tmp/recorded 2>/tmp/err; then
		echo "@ fail $p"
		tail -n 5 /tmp/err
		continue
	fi
	good=0 i=0
	while [ $i -lt "$replays" ]; do
		i=$((i + 1))
		timeout 300 rr replay -a >/tmp/replayed 2>/tmp/err && cmp -s /tmp/recorded /tmp/replayed &&
			good=$((good + 1))
	done
	if [ $good = "$replays" ] && [ -s /tmp/recorded ]; then
		echo "@ pass $p"
	else
		echo "@ fail $p"
		cat /tmp/recorded /tmp/replayed
		tail -n 5 /tmp/err
	fi
	echo "$p: $good of $replays replays are the same"
done
END

build() {
	gcc -O2 -g -Wall -Wextra -Werror -pthread -o "$DIR/guest" "$TOP/selftests/guest/rr/guest.c"
}

run() { # NAME MACHINE MODEL VERDICT [REASON]
	# shellcheck disable=SC2086 # one word each
	vm "$1" --machine "$2" --model "$3" --kernel 6.1 --memory 1536M \
		--append nmi_watchdog=0 "${PUT_ROOT[@]}" --put "$DIR/guest:/t/guest" \
		--put "$DIR/guest.sh:/t/guest.sh" -- sh -c "$DEBIAN_ROOT sh /t/guest.sh $replays $programs"
	# shellcheck disable=SC2086
	judge "$1" "rr, $1" "$1" < <(printf "* $4 %s | ${5:-}\n" $programs)
}

ktap "the packages are unpacked" unpack rr libcapnp-0.9.2 libstdc++6 libgcc-s1 zlib1g
ktap "the program is built" build || ktap_end
run sandybridge sandybridge 2a passes
if [ -n "${SOAK:-}" ]; then
	run goldmont goldmont 5f passes
	run goldmont-5c goldmont 5c theirs "PerfCounters_x86.h:65: of Goldmont it knows 506F0 and 706A0"
	run xeon7500 xeon7500 2e theirs "PerfCounters.cc:322: Linux takes no period of 1 on Nehalem"
fi
ktap_end
