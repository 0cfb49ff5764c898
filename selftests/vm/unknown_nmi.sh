#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# NMIs of others (the dump button, SERR, IOCHK) reach the kernel while the uncore samples.
# A module takes them in place of the kernel's complaint. The cases are in
# selftests/guest/unknown_nmi/guest.c.
set -uo pipefail
. "$(dirname "$0")/../lib/vm.sh"

guest=$(build_program unknown_nmi guest.c) || { ktap "the program is built" false; ktap_end; }
for kernel in "${KERNELS[@]}"; do
	if ! out=$(build_modules unknown_nmi "$kernel"); then
		ktap "$kernel: the module is built" false
		continue
	fi
	# The core PMU's handler would claim NMIs as long as the NMI watchdog uses it.
	vm "$kernel" --kernel "$kernel" --icount --append nmi_watchdog=0 --put "$out/witness.ko:/t/" \
		--put "$guest:/t/guest" -- sh -c 'insmod /t/witness.ko && /t/guest'
	ktap_guest "$kernel" "$kernel"
done
ktap_end
