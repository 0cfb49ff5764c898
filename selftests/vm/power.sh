#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Suspend and restart, with a module that looks when the driver has been told. The cases
# are in selftests/uncore/power/guest.c.
set -uo pipefail
. "$(dirname "$0")/../lib/ktap.sh"
. "$(dirname "$0")/../lib/vm.sh"

src=$TOP/selftests/uncore/power

# build KERNEL OUT
build() {
	local kdir
	kdir=$("$TOP/tools/vm/kernel" --cached --headers "$1" | sed -n 's/^KDIR=//p')
	mkdir -p "$2"
	cp -u "$src/witness.c" "$src/Kbuild" "$2"
	make -s -C "$kdir" M="$2" W=1 modules >"$2/log" 2>&1 || { cat "$2/log"; return 1; }
	gcc -O2 -Wall -Wextra -Werror -static -I "$TOP/selftests/lib" -I "$TOP/tools/silicon/model" \
		-o "$2/guest" "$src/guest.c"
}

cases() {
	local out=$TOP/build/selftests/power-$1
	build "$1" "$out" || return
	vm "$1" --kernel "$1" --sockets 2 --cores 2 --put "$out/witness.ko:/t/witness.ko" \
		--put "$out/guest:/t/guest" -- sh -c \
		'modprobe -r xeon7500_uncore && insmod /t/witness.ko && modprobe xeon7500_uncore && /t/guest'
	cat "$DIR/$1.out"
	ended "$1" 0 || return
	# Nothing is proved by what could not be tried.
	! grep '# SKIP' "$DIR/$1.out" || return 4
}

for kernel in ${KERNELS_UNDER_TEST:-6.1 6.12}; do
	ktap "nothing runs when the system sleeps or restarts, $kernel" cases "$kernel"
done
ktap_end
