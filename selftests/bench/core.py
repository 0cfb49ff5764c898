#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""What the hooks of intel_core_ext cost, on Goldmont: instructions per event opened and closed
(any, offcore), started and stopped, and per PEBS sample with its interrupt. One instruction per
nanosecond, repeatable.

	selftests/bench/core.py [KERNEL...]

PTI: on
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import vm

vm.shell('cd "$TOP/selftests" && gcc -O2 -Wall -Wextra -static -I lib -I ../tools/silicon/model '
         '-o "$1" bench/core_cost.c lib/*.c', vm.path('core_cost'))
for kernel in sys.argv[1:] or ('6.1', '6.12'):
    vm.shell('"$TOP/tools/build-modules" "$1"', kernel)
    print(f'kernel {kernel}, Goldmont, instructions')
    out, _ = vm.run('--machine', 'goldmont', '--kernel', kernel, '--icount',
                    '--put', vm.path('core_cost') + ':/t/core_cost', '--', '/t/core_cost')
    print('\n'.join(re.findall('^# ?(.*)', out, re.M)))
