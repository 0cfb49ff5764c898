#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# LIKWID, unmodified, from Debian: its uncore events on each model of the CPU, every nineteenth or
# in "make soak" all of them. The cases are in selftests/guest/likwid/guest.c.
#
# KERNELS: 6.1
#
# shellcheck disable=SC2016 # what is in single quotes is for the guest's shell
set -uo pipefail
. "$(dirname "$0")/../lib/vm.sh"
. "$(dirname "$0")/../lib/debian.sh"

# The guest's libraries are LIKWID's, so the program takes no other of this machine.
build() {
	gcc -O2 -g -Wall -Wextra -Werror -I "$TOP/selftests/lib" -I "$TOP/tools/silicon/model" \
		-I "$DIR/root/usr/include" -o "$DIR/guest" "$TOP/selftests/guest/likwid/guest.c" \
		-L "$DIR/root/lib/x86_64-linux-gnu" -llikwid -Wl,--allow-shlib-undefined
}

# Events of the uncore and where they count.
list='likwid-perfctr -M 0 -e | sed -n "1,/^Event tags/d; s/^\([A-Z0-9_]*\), [^,]*, [^,]*, \([A-Z0-9|]*BOX[A-Z0-9|]*\).*/\1 \2/p" |
	grep -v "FIXC\|PMC" >/t/list'

ktap "the packages are unpacked" unpack likwid libhwloc15 liblua5.3-0 lua5.3 libudev1 \
	libreadline8 libtinfo6 libnuma1 libstdc++6 libgcc-s1
ktap "the program is built" build || ktap_end
for kernel in "${KERNELS[@]}"; do
	for machine in xeon7500 westmereex; do
		vm "$machine" --kernel "$kernel" --machine "$machine" --memory 1536M \
			--append nmi_watchdog=0 "${PUT_ROOT[@]}" --put "$DIR/guest:/t/guest" \
			-- sh -c "$DEBIAN_ROOT $list && ${SOAK:+SOAK=1} exec /t/guest"
		ktap_guest "$machine" "$machine, $kernel"
	done
done
ktap_end
