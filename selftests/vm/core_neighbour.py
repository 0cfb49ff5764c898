#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""intel_core_ext beside another module that extends the core PMU.

The cases are in selftests/guest/neighbour/guest.sh.
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import vm
from ktap import Ktap


def twin(kernel):
    """The driver under another name; returns where it is. A module has its own name in two
    sections. The names that its code uses stay what they are."""
    ko = f'{vm.TOP}/build/{kernel}/intel_core_ext.ko'
    with open(ko, 'rb') as f:
        old = f.read()
    new = bytearray(old)
    for size, at in re.findall(r' \.(?:modinfo|gnu\.linkonce\.this_module) +(\w+) +\w+ +\w+ +(\w+)',
                               vm.shell('objdump -h "$1"', ko)):
        part = slice(int(at, 16), int(at, 16) + int(size, 16))
        new[part] = re.sub(rb'(^|\0)(name=)?intel_core_ext(?=\0)', rb'\1\2intel_core_two',
                           old[part])
    # Three letters of a name, twice.
    if len(new) != len(old) or sum(a != b for a, b in zip(old, new)) != 6:
        raise vm.Failed(f'{ko} has its name elsewhere')
    with open(vm.path('twin.ko'), 'wb') as f:
        f.write(new)
    return vm.path('twin.ko')


ktap = Ktap()
for kernel in vm.kernels():
    built = vm.modules('neighbour', kernel, f'KCFLAGS=-I{vm.TOP}/include')
    files = (f'{built}/neighbour.ko', f'{built}/guest.sh', twin(kernel),
             f"{vm.modules('fail_call', kernel)}/fail_call.ko",
             f'{vm.TOP}/selftests/lib/ktap.sh')
    done = vm.boot('--machine', 'goldmont', '--kernel', kernel,
                   *vm.put(*(f'{f}:/t/' for f in files)), '--', 'sh', '/t/guest.sh')
    ktap.guest(done, kernel)
sys.exit(ktap.end())
