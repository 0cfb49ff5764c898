#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Nothing runs when the system sleeps or restarts: a module looks when the driver has been
# told. The cases are in selftests/guest/power/guest.c.
set -uo pipefail
. "$(dirname "$0")/../lib/vm.sh"

guest=$(build_program power guest.c) || { ktap "the program is built" false; ktap_end; }
for kernel in "${KERNELS[@]}"; do
	if ! out=$(build_modules power "$kernel"); then
		ktap "$kernel: the module is built" false
		continue
	fi
	vm "$kernel" --kernel "$kernel" --sockets 2 --cores 2 --put "$out/witness.ko:/t/" \
		--put "$guest:/t/guest" -- sh -c \
		'modprobe -r xeon7500_uncore && insmod /t/witness.ko && modprobe xeon7500_uncore && /t/guest'
	ktap_guest "$kernel" "$kernel"
done
ktap_end
