#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# No event opens before the uncore driver is loaded. While it is loaded, a kprobe makes its calls of
# kernel functions fail in turn: in soak each call, otherwise the first one of each function. The
# cases are in selftests/guest/fail_call/guest.c.
#
# TEST: 6.1
# SOAK: 6.1
set -uo pipefail
. "$(dirname "$0")/../lib/vm.sh"

guest=$(build_program fail_call guest.c) || { ktap "the program is built" false; ktap_end; }
for kernel in "${KERNELS[@]}"; do
	if ! out=$(build_modules fail_call "$kernel"); then
		ktap "$kernel: the module is built" false
		continue
	fi
	vm "$kernel" --kernel "$kernel" --put "$out/fail_call.ko:/t/" \
		--put "$out/early_open.ko:/t/" --put "$guest:/t/guest" \
		-- env SOAK="${SOAK:-}" /t/guest
	ktap_guest "$kernel" "$kernel"
done
ktap_end
