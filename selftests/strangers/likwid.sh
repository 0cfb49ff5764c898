#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# LIKWID, unmodified, from Debian: its uncore events on each model of the CPU, every nineteenth or
# in "make soak" all of them. The cases are in selftests/guest/likwid/guest.c. In "make soak" also:
# likwid-perfctr reads the groups that "make export" makes, and says what perf metrics says.
#
# TEST: 6.1
# SOAK: 6.1
#
# shellcheck disable=SC2016 # what is in single quotes is for the guest's shell
set -uo pipefail
. "$(dirname "$0")/../lib/vm.sh"
. "$(dirname "$0")/../lib/debian.sh"

# The guest's libraries are LIKWID's, so the program takes no other of this machine.
build() {
	gcc -O2 -g -Wall -Wextra -Werror -I "$TOP/selftests/lib" -I "$TOP/tools/silicon/model" \
		-I "$DIR/root/usr/include" -o "$DIR/guest" "$TOP/selftests/guest/likwid/guest.c" \
		"$TOP"/selftests/lib/*.c \
		-L "$DIR/root/lib/x86_64-linux-gnu" -llikwid -Wl,--allow-shlib-undefined
}

# Events of the uncore and where they count.
list='likwid-perfctr -M 0 -e | sed -n "1,/^Event tags/d; s/^\([A-Z0-9_]*\), [^,]*, [^,]*, \([A-Z0-9|]*BOX[A-Z0-9|]*\).*/\1 \2/p" |
	grep -v "FIXC\|PMC" >/t/list'

# groups MACHINE DIRECTORY GROUP...
groups() {
	local machine=$1 directory=$2
	shift 2
	cat >"$DIR/groups.sh" <<-END
	for group in $*; do
		echo "group \$group"
		HOME=/root likwid-perfctr -M 0 -c 0 -g \$group -O -S 100ms 2>&1
	done
	perf metrics memory llc qpi power --csv --per-socket -- sleep 0.1
	END
	vm "groups-$machine" --machine "$machine" --cores 1 --memory 1536M --icount \
		--traffic "$TOP/tools/demo.traffic" --append nmi_watchdog=0 "${PUT_ROOT[@]}" \
		--put "$DIR/build/export/likwid/$directory:/root/.likwid/groups/$directory" \
		--put "$DIR/groups.sh:/t/groups.sh" -- sh -c "$DEBIAN_ROOT sh /t/groups.sh"
	ended "groups-$machine" 0 && python3 - "$DIR/groups-$machine.out" $# <<-'END'
	import re, sys
	said = open(sys.argv[1]).read()
	theirs = {(name, unit): float(value) for name, unit, value in
	          re.findall(r'^(\w+) \[(\S+)\],([0-9.e+-]+)', said, re.M)}
	ours = {(name, unit or '1'): float(value) for name, value, unit in
	        re.findall(r'^S0,(\w+),([0-9.e+-]+),(\S*?),', said, re.M)}
	bad = len(theirs) < 2 * int(sys.argv[2])
	for key, value in theirs.items():
	    far = abs(value - ours.get(key, -1)) > 0.02 * abs(value)
	    print(*key, value, ours.get(key), 'differs' if far else '')
	    bad |= far
	if bad:
	    print(said[-3000:])
	sys.exit(bad)
	END
}

ktap "the packages are unpacked" unpack likwid libhwloc15 liblua5.3-0 lua5.3 libudev1 \
	libreadline8 libtinfo6 libnuma1 libstdc++6 libgcc-s1
ktap "the program is built" build || ktap_end
for kernel in "${KERNELS[@]}"; do
	for machine in xeon7500 westmereex; do
		vm "$machine" --kernel "$kernel" --machine "$machine" --memory 1536M \
			--append nmi_watchdog=0 "${PUT_ROOT[@]}" --put "$DIR/guest:/t/guest" \
			-- sh -c "$DEBIAN_ROOT $list && ${SOAK:+SOAK=1} ${MENDED:+MENDED=1} exec /t/guest"
		ktap_guest "$machine" "$machine, $kernel"
	done
done
if [ -n "${SOAK:-}" ]; then
	ktap "groups are made" make -s -C "$TOP/tools/metrics" OUTPUT="$DIR/build" export
	ktap "groups on the Xeon 7500" groups xeon7500 nehalemEX MEMORY LLC QPI QPI2 POWER
	# It does not reset counters there, so each can be used once.
	ktap "groups on Xeon E7" groups westmereex westmereEX MEMORY LLC QPI
fi
ktap_end
