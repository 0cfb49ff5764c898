#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The registers of a sample hold nothing of the kernel's stack.

Debian's kernels initialise all variables on the stack, and the modules that are built for them
do, too; so the driver is built here as for a kernel without CONFIG_INIT_STACK_ALL_ZERO. The cases
are in selftests/guest/sample_regs/guest.c.

TEST: 6.1
SOAK: none
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import vm
from ktap import Ktap

# The driver of the tree $1 in the directory $2, for the headers $3.
BUILD = r'''
set -e
mkdir -p "$2"
for dir in drivers include; do
	[ ! -d "$2/$dir" ] || find "$2/$dir" -xtype l -delete
	cp -rsf "$1/$dir" "$2/"
done
cp -sf "$1/Kbuild" "$2/"
make -s -C "$3" "M=$2" W=1 KCFLAGS=-ftrivial-auto-var-init=uninitialized modules'''

ktap = Ktap()
guest = vm.build('sample_regs')
for kernel in vm.kernels():
    out = f'{vm.TOP}/build/selftests/sample_regs-{kernel}'
    vm.shell(BUILD, vm.TOP, out, vm.headers(kernel)['KDIR'])
    done = vm.boot('--kernel', kernel, '--cores', '2', '--icount', '--append', 'nmi_watchdog=0',
                   '--module', f'{out}/drivers/uncore/xeon7500_uncore.ko',
                   '--put', f'{guest}:/t/guest', '--', '/t/guest')
    ktap.guest(done, kernel)
sys.exit(ktap.end())
