#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Other owners of the uncore's registers: PCM and LIKWID, unmodified, from Debian. The cases
# are in selftests/guest/owners/guest.c.
#
# TEST: 6.1
# SOAK: none
set -uo pipefail
. "$(dirname "$0")/../lib/vm.sh"
. "$(dirname "$0")/../lib/debian.sh"

ktap "the packages are unpacked" unpack pcm likwid libsimdjson14 libhwloc15 liblua5.3-0 lua5.3 \
	libudev1 libreadline8 libtinfo6 libnuma1 libstdc++6 libgcc-s1
guest=$(build_program owners guest.c) || { ktap "the program is built" false; ktap_end; }
for kernel in "${KERNELS[@]}"; do
	vm "$kernel" --kernel "$kernel" --sockets 2 --cores 2 --memory 1536M --append nmi_watchdog=0 \
		"${PUT_ROOT[@]}" --put "$guest:/t/guest" -- sh -c "$DEBIAN_ROOT /t/guest"
	ktap_guest "$kernel" "$kernel"
done
ktap_end
