#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The installed udev rule.

On a Xeon 7500 and E7 xeon7500_uncore is loaded in place of intel_uncore, and on another CPU
everything is as without the rule, modprobe.d included.

TEST: 6.1
SOAK: none
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import debian
import vm
from ktap import Ktap

UDEV = r'''
mkdir -p /run/udev /etc/udev /etc/modprobe.d
echo "$asked" >/etc/modprobe.d/asked.conf
/lib/systemd/systemd-udevd --daemon
trigger() { udevadm trigger --action="${1:-add}" --subsystem-match=cpu && udevadm settle; }
loaded() {
	for m in xeon7500_uncore intel_uncore; do grep "^$m " /proc/modules; done | cut -d" " -f1
}
trigger
loaded
'''
# Somebody has unloaded it, and a CPU goes and comes.
UNLOADED = '''
rmmod xeon7500_uncore
for o in 0 1; do echo $o >/sys/devices/system/cpu/cpu1/online; udevadm settle; done
trigger change
loaded
'''
# What it is, the machine, its status, a line of modprobe.d, what else is done, and the modules that
# are loaded in the end.
CASES = (
    ('Xeon 7500', 'xeon7500', 0, '', '', ['xeon7500_uncore']),
    ('Xeon 7500, once unloaded it stays away', 'xeon7500', 0, '', UNLOADED, ['xeon7500_uncore']),
    # As install.md tells.
    ('Xeon 7500, and modprobe.d asks for intel_uncore', 'xeon7500', 0,
     'blacklist xeon7500_uncore', '', ['intel_uncore']),
    ('Xeon E7', 'westmereex', 0, '', '', ['xeon7500_uncore']),
    # The silicon has no uncore there, and the kernel complains of what intel_uncore writes.
    ('another CPU', 'sandybridge', 125, '', '', ['intel_uncore']),
    ('another CPU, and modprobe.d keeps intel_uncore away', 'sandybridge', 0,
     'install intel_uncore /bin/false', '', []),
)


def loads(machine, status, asked, commands, modules):
    """Yields what is wrong. The kernel is not to mention xeon7500_uncore unless it is loaded."""
    done = vm.boot('--machine', machine, '--driver', 'none', '--log', vm.path('log'), *debian.PUT,
                   '--put', f'{vm.TOP}/tools/xeon7500-uncore.rules:'
                   '/lib/udev/rules.d/70-xeon7500-uncore.rules',
                   '--', 'sh', '-c', f"asked='{asked}'{debian.ROOT}{UDEV}{commands}echo end")
    yield from vm.ended(done, status)
    yield from vm.differ([*modules, 'end'], done.stdout.splitlines())
    if 'xeon7500_uncore' not in modules:
        yield from re.findall('.*xeon7500_uncore.*', vm.read(vm.path('log')))


ktap = Ktap()
ktap.result('the packages are unpacked', debian.unpack(
    'udev', 'libudev1', 'libkmod2', 'libblkid1', 'libcap2', 'libselinux1', 'libacl1',
    'libpcre2-8-0', 'libssl3', 'liblzma5', 'libzstd1'))
for name, *case in CASES:
    ktap.result(name, loads(*case))
sys.exit(ktap.end())
