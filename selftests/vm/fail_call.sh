#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Each call out of the uncore driver that can fail while it is loaded fails in turn, by a kprobe.
# The case is in selftests/guest/fail_call/guest.c.
# No event opens before it is loaded.
#
set -uo pipefail
. "$(dirname "$0")/../lib/vm.sh"

guest=$(build_program fail_call guest.c) || { ktap "the program is built" false; ktap_end; }
for kernel in "${KERNELS[@]}"; do
	if ! out=$(build_modules fail_call "$kernel"); then
		ktap "$kernel: the module is built" false
		continue
	fi
	vm "$kernel" --kernel "$kernel" --put "$out/fail_call.ko:/t/" \
		--put "$out/early_open.ko:/t/" --put "$guest:/t/guest" -- /t/guest
	ktap_guest "$kernel" "$kernel"
done
ktap_end
