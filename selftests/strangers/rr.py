#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""rr, unmodified, from Debian 12 (5.6.0): what it has recorded it replays, to the instruction.

It does so by counting conditional branches. Three programs of selftests/guest/rr/guest.c and one
replay of each on Sandy Bridge, or in "make soak" ten programs and 20 replays of each, on Goldmont,
too. Our driver is loaded, so that its hooks are between rr and the counters.

TEST: 6.1
SOAK: 6.1
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import debian
import vm
from ktap import Ktap

# A replay that has diverged may not end by itself.
GUEST = r'''
replays=$1
shift
export _RR_TRACE_DIR=/tmp/rr
for p; do
	rm -rf /tmp/rr
	if ! timeout 300 rr record /t/guest "$p" >/tmp/recorded 2>/tmp/err; then
		echo "@ fail $p"
		tail -n 5 /tmp/err
		continue
	fi
	good=0 i=0
	while [ $i -lt "$replays" ]; do
		i=$((i + 1))
		timeout 300 rr replay -a >/tmp/replayed 2>/tmp/err && cmp -s /tmp/recorded /tmp/replayed &&
			good=$((good + 1))
	done
	if [ $good = "$replays" ] && [ -s /tmp/recorded ]; then
		echo "@ pass $p"
	else
		echo "@ fail $p"
		cat /tmp/recorded /tmp/replayed
		tail -n 5 /tmp/err
	fi
	echo "$p: $good of $replays replays are the same"
done
'''
# Machine, model, and what is expected of each program; the first is that of "make test".
MACHINES = (
    ('sandybridge', 'sandybridge', '2a', '* passes %s'),
    ('goldmont', 'goldmont', '5f', '* passes %s'),
    ('goldmont-5c', 'goldmont', '5c',
     '* theirs %s | PerfCounters_x86.h:65: of Goldmont it knows 506F0 and 706A0'),
    ('xeon7500', 'xeon7500', '2e',
     '* theirs %s | PerfCounters.cc:322: Linux takes no period of 1 on Nehalem'),
)
PROGRAMS = ('threads locks alarms children faults clocks files pipes memory strings' if vm.SOAK else
            'threads alarms strings').split()
REPLAYS = '20' if vm.SOAK else '1'

ktap = Ktap()
ktap.result('the packages are unpacked', debian.unpack('rr', 'libcapnp-0.9.2', 'libstdc++6', 'libgcc-s1',
                                                       'zlib1g'))
ktap.result('the program is built', vm.works(
    'gcc -O2 -g -Wall -Wextra -Werror -pthread -o "$1" "$2"', vm.path('guest'),
    f'{vm.TOP}/selftests/guest/rr/guest.c'))
if ktap.bad:
    sys.exit(ktap.end())
for name, machine, model, expected in MACHINES if vm.SOAK else MACHINES[:1]:
    done = vm.boot('--machine', machine, '--model', model, '--kernel', '6.1', '--memory', '1536M',
                   '--append', 'nmi_watchdog=0', *debian.PUT, '--put', vm.path('guest') + ':/t/guest',
                   '--', 'sh', '-c', debian.ROOT + GUEST, 'sh', REPLAYS, *PROGRAMS)
    debian.judge(ktap, done, f'rr, {name}', name, '\n'.join(expected % p for p in PROGRAMS))
sys.exit(ktap.end())
