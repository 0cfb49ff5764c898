#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# intel_core_ext beside another module that extends the core PMU. The cases are in
# selftests/guest/neighbour/guest.sh.
set -uo pipefail
. "$(dirname "$0")/../lib/vm.sh"

# The second module is the driver under another name: its sources are linked beside.
build() {
	local ext=$TOP/build/selftests/neighbour-$1/ext objs
	rm -rf "$ext"
	mkdir -p "$ext"
	ln -s "$TOP"/drivers/core/*.[ch] "$ext"
	ln -sfn "$TOP/include" "${ext%/ext}/include"
	objs=$(cd "$TOP/drivers/core" && printf '%s ' *.c | sed 's/\.c /.o /g')
	out=$(build_modules neighbour "$1" "EXT_OBJS=$objs")
}

for kernel in "${KERNELS[@]}"; do
	if ! build "$kernel"; then
		ktap "$kernel: the modules are built" false
		continue
	fi
	vm "$kernel" --machine goldmont --kernel "$kernel" --put "$out/neighbour.ko:/t/" \
		--put "$out/twin.ko:/t/" --put "$out/guest.sh:/t/" \
		--put "$TOP/selftests/lib/ktap.sh:/t/" -- sh /t/guest.sh
	ktap_guest "$kernel" "$kernel"
done
ktap_end
