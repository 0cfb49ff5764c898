#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""numatop, unmodified, from Debian 12 (2.3): what it says of a process that is busy now and then.

With --icount, so that each instruction takes the same time: then remote and local accesses by
instruction are the same for each process as for the whole machine, which the silicon knows.

TEST: 6.1
SOAK: none
"""
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import debian
import vm
from ktap import Ktap

# Its keys come from a pipe: "i" is the window of accesses by instruction, "n" that of nodes.
GUEST = r'''
while :; do
	i=0
	while [ $i -lt 300 ]; do i=$((i + 1)); done
	usleep 100000
done &
export TERM=vt100 LINES=40 COLUMNS=100
{ sleep 7; printf i; sleep 11; printf n; sleep 11; printf q; sleep 1; } |
	numatop -d /root/dump >/tmp/screen 2>/tmp/err
status=$?
kill $!
[ $status = 0 ] || cat /tmp/err
exit $status
'''
EXPECTED = '''
* passes remote
* passes cycles
* passes node-ratio
sandybridge passes local
sandybridge passes ratio
xeon7500 theirs local | common/win.c, rawnum_data_build(): 0.0 for what it has no event for
xeon7500 theirs ratio | likewise
'''
# Offcore events are known by what was last written to the event select of their counter.
REMOTE, LOCAL, INSTRUCTIONS, CYCLES = 0x1b7, 0x1bb, 'fixed0', 'fixed2'


def counted():
    """{event: its count}, of all CPUs."""
    select, counts = {}, {}
    with open(vm.path('trace'), encoding='utf-8') as f:
        for _, cpu, kind, msr, value, *_ in map(str.split, f):
            if kind == 'wr' and 0x186 <= int(msr, 16) <= 0x18d and int(value, 16):
                select[cpu, f'pmc{int(msr, 16) - 0x186}'] = int(value, 16) & 0xffff
    for cpu, core in json.loads(vm.read(vm.path('stats.json')))['core'].items():
        for name, counter in core['counters'].items():
            what = select.get((cpu, name), name)
            counts[what] = counts.get(what, 0) + counter['events']
    return counts


def compare():
    """The last table of accesses by instruction that has the process, which it leaves out now and
    then, and that of nodes, against the silicon. What numatop has not counted it should not show as
    a number."""
    dump, counts = vm.read(vm.path('dump')), counted()

    def row(caption, pattern):
        tables = dump.split(caption)[1:]
        found = [row for table in tables for row in re.findall(rf'^ *{pattern}((?: +\S+)+)$', table, re.M)]
        return found[-1].split() if found else ['nothing'] * 8

    process, node = row('RPI(K)', r'\d+ +sh'), row('MEM.ALL', '0')
    # Without a count of local accesses there is no ratio.
    remote = REMOTE if LOCAL in counts else LOCAL
    for what, value, event, factor, by in (
            ('remote', process[0], REMOTE, 1000, INSTRUCTIONS),
            ('local', process[1], LOCAL, 1000, INSTRUCTIONS),
            ('ratio', process[2], remote, 1, LOCAL),
            ('cycles', process[3], CYCLES, 1, INSTRUCTIONS),
            ('node-ratio', node[4], remote, 1, LOCAL)):
        want = factor * counts[event] / counts[by] if event in counts else None
        good = value == '-' if want is None else \
            re.match(r'[0-9.]+$', value) and abs(float(value) - want) <= 0.05 + want / 50
        yield f'@ {"pass" if good else "fail"} {what}'
        yield f'{what} {value} {want}'


ktap = Ktap()
ktap.result('the packages are unpacked', debian.unpack('numatop', 'libncursesw6', 'libtinfo6', 'libnuma1'))
for machine, model in ('xeon7500', '2e'), ('sandybridge', '2d'):
    done = vm.boot('--machine', machine, '--model', model, '--kernel', '6.1', '--cores', '1', '--icount',
                   '--memory', '1024M', '--driver', 'none', '--append', 'nmi_watchdog=0',
                   '--stats', vm.path('stats.json'), '--trace', vm.path('trace'),
                   '--get', '/root/dump:' + vm.path('dump'), *debian.PUT,
                   '--', 'sh', '-c', debian.ROOT + GUEST)
    debian.judge(ktap, done, f'numatop, {machine}', machine, EXPECTED, compare())
sys.exit(ktap.end())
