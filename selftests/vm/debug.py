#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The debug kernel sees the mistakes it is there for.

tools/vm/run hears of them, and a healthy module passes.

TEST: debug
SOAK: none
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import vm
from ktap import Ktap

# What it is, what the module is to do, and what the kernel says of it.
MISTAKES = (
    ('KASAN: use after free', 'after_free', 'KASAN: use-after-free'),
    ('lockdep: two locks in two orders', 'lock_order', 'possible circular locking'),
    ('sleeping under a spinlock', 'sleep', 'scheduling while atomic'),
    ('kmemleak: memory that nobody points to', 'leak', 'unreferenced object'),
)

ktap = Ktap()
complain = vm.modules('complain', 'debug') + '/complain.ko'
OPTIONS = '--kernel', 'debug', '--driver', 'none', '--module'
ktap.result('nothing to complain about',
            vm.printed(vm.boot(*OPTIONS, complain, '--', 'echo', 'fine'), 'fine'))
for name, about, text in MISTAKES:
    done = vm.boot(*OPTIONS, f'{complain}=about={about}', '--', 'true')
    ktap.result(name, [*vm.ended(done, 125), *vm.missing(done.stderr, text)])
sys.exit(ktap.end())
