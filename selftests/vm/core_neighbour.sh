#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# intel_core_ext beside another module that extends the core PMU. The cases are in
# selftests/guest/neighbour/guest.sh.
set -uo pipefail
. "$(dirname "$0")/../lib/vm.sh"

# twin KERNEL OUT: the driver under another name. A module has its own in two sections. The
# names that its code uses stay what they are.
twin() {
	local ko=$TOP/build/$1/intel_core_ext.ko section at
	cp "$ko" "$2/twin.ko" || return
	for section in .modinfo .gnu.linkonce.this_module; do
		at=$(objdump -h "$ko" | awk -v name="$section" '$2 == name { print $6 }')
		objcopy --dump-section "$section=$2/section" "$ko" &&
			LC_ALL=C sed -Ez 's/^(name=)?intel_core_ext$/\1intel_core_two/' "$2/section" |
			dd of="$2/twin.ko" bs=1 seek=$((16#$at)) conv=notrunc status=none || return
	done
	[ "$(cmp -l "$ko" "$2/twin.ko" | wc -l)" = 6 ]
}

for kernel in "${KERNELS[@]}"; do
	if ! out=$(build_modules neighbour "$kernel" "KCFLAGS=-I$TOP/include") || ! twin "$kernel" "$out"; then
		ktap "$kernel: the modules are built" false
		continue
	fi
	vm "$kernel" --machine goldmont --kernel "$kernel" --put "$out/neighbour.ko:/t/" \
		--put "$out/twin.ko:/t/" --put "$out/guest.sh:/t/" \
		--put "$TOP/selftests/lib/ktap.sh:/t/" -- sh /t/guest.sh
	ktap_guest "$kernel" "$kernel"
done
ktap_end
