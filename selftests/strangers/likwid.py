#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""LIKWID, unmodified, from Debian: its uncore events on each model of the CPU.

Every nineteenth of them, or in "make soak" all. The cases are in selftests/guest/likwid/guest.c. In
"make soak" also: likwid-perfctr reads the groups that "make export" makes, and says what perf metrics
says.

TEST: 6.1
SOAK: 6.1
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import debian
import vm
from ktap import Ktap, note

# The guest's libraries are LIKWID's, so the program takes no other of this machine.
BUILD = r'''
cd "$1/selftests" && gcc -O2 -g -Wall -Wextra -Werror -I lib -I ../tools/silicon/model \
	-I "$2/root/usr/include" -o "$2/guest" guest/likwid/guest.c lib/*.c \
	-L "$2/root/lib/x86_64-linux-gnu" -llikwid -Wl,--allow-shlib-undefined
'''
# Events of the uncore and where they count.
LIST = r'''
likwid-perfctr -M 0 -e | sed -n "1,/^Event tags/d; s/^\([A-Z0-9_]*\), [^,]*, [^,]*, \([A-Z0-9|]*BOX[A-Z0-9|]*\).*/\1 \2/p" |
	grep -v "FIXC\|PMC" >/t/list'''
GROUPS = r'''
for group; do
	echo "group $group"
	HOME=/root likwid-perfctr -M 0 -c 0 -g $group -O -S 100ms 2>&1
done
perf metrics memory llc qpi power --csv --per-socket -- sleep 0.1
'''


def boot(machine, *args):
    """As vm.boot(), with LIKWID."""
    return vm.boot('--machine', machine, '--memory', '1536M', '--append', 'nmi_watchdog=0', *debian.PUT,
                   *args)


def groups(machine, directory, *names):
    """Yields what is wrong with what these groups say, beside perf metrics."""
    done = boot(machine, '--cores', '1', '--icount', '--traffic', f'{vm.TOP}/tools/demo.traffic', '--put',
                f'{vm.path("build/export/likwid", directory)}:/root/.likwid/groups/{directory}',
                '--', 'sh', '-c', debian.ROOT + GROUPS, 'sh', *names)
    note(done.stdout)
    yield from vm.ended(done)
    theirs = re.findall(r'^(\w+) \[(\S+)\],([0-9.e+-]+)', done.stdout, re.M)
    ours = {(name, unit or '1'): float(value) for name, value, unit in
            re.findall(r'^S0,(\w+),([0-9.e+-]+),(\S*?),', done.stdout, re.M)}
    theirs = {(name, unit): float(value) for name, unit, value in theirs}
    if len(theirs) < 2 * len(names):
        yield f'{len(theirs)} values in {len(names)} groups'
    for key, value in theirs.items():
        if abs(value - ours.get(key, -1)) > 0.02 * abs(value):
            yield f'{key}: {value}, perf metrics says {ours.get(key)}'


ktap = Ktap()
ktap.result('the packages are unpacked', debian.unpack(
    'likwid', 'libhwloc15', 'liblua5.3-0', 'lua5.3', 'libudev1', 'libreadline8', 'libtinfo6', 'libnuma1',
    'libstdc++6', 'libgcc-s1'))
ktap.result('the program is built', vm.works(BUILD, vm.TOP, vm.DIR))
if ktap.bad:
    sys.exit(ktap.end())
start = f'{"SOAK=1 " * vm.SOAK}{"MENDED=1 " * bool(debian.MENDED)}exec /t/guest'
for kernel in vm.kernels():
    for machine in 'xeon7500', 'westmereex':
        done = boot(machine, '--kernel', kernel, '--put', vm.path('guest') + ':/t/guest',
                    '--', 'sh', '-c', f'{debian.ROOT}{LIST} && {start}')
        ktap.guest(done, f'{machine}, {kernel}')
if vm.SOAK:
    ktap.result('groups are made', vm.works('make -s -C "$1/tools/metrics" "OUTPUT=$2/build" export',
                                             vm.TOP, vm.DIR))
    ktap.result('groups on the Xeon 7500',
                groups('xeon7500', 'nehalemEX', 'MEMORY', 'LLC', 'QPI', 'QPI2', 'POWER'))
    # It does not reset counters there, so each can be used once.
    ktap.result('groups on Xeon E7', groups('westmereex', 'westmereEX', 'MEMORY', 'LLC', 'QPI'))
sys.exit(ktap.end())
