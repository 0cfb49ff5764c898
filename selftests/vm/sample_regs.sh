#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The registers of a sample hold nothing of the kernel's stack. Debian's kernels initialise all
# variables on the stack, and the modules that are built for them do, too; so the driver is built
# here as for a kernel without CONFIG_INIT_STACK_ALL_ZERO. The cases are in
# selftests/guest/sample_regs/guest.c.
#
# TEST: 6.1
# SOAK: none
set -uo pipefail
. "$(dirname "$0")/../lib/vm.sh"

# build_uninitialised KERNEL: the driver, so. Prints the directory it is in.
build_uninitialised() {
	local out=$TOP/build/selftests/sample_regs-$1 kdir dir
	kdir=$("$TOP/tools/vm/kernel" --cached --headers "$1" | sed -n 's/^KDIR=//p')
	mkdir -p "$out"
	for dir in drivers include; do
		[ ! -d "$out/$dir" ] || find "$out/$dir" -xtype l -delete
		cp -rsf "$TOP/$dir" "$out/"
	done
	cp -sf "$TOP/Kbuild" "$out/"
	make -s -C "$kdir" "M=$out" W=1 KCFLAGS=-ftrivial-auto-var-init=uninitialized modules \
		>"$out/log" 2>&1 || { cat "$out/log" >&2; return 1; }
	echo "$out"
}

guest=$(build_program sample_regs guest.c) || { ktap "the program is built" false; ktap_end; }
for kernel in "${KERNELS[@]}"; do
	if ! out=$(build_uninitialised "$kernel"); then
		ktap "$kernel: the driver is built" false
		continue
	fi
	vm "$kernel" --kernel "$kernel" --cores 2 --icount --append nmi_watchdog=0 \
		--module "$(find "$out/drivers" -name xeon7500_uncore.ko)" \
		--put "$guest:/t/guest" -- /t/guest
	ktap_guest "$kernel" "$kernel"
done
ktap_end
