#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A sentence of a traffic file is what perf metrics says of the machine.

Whole lines are read in each 4,096 cycles of the uncore clock, so a rate is right to half a line
of each box. FLITS_SENT is taken for all flits, as the metrics do.

TEST: 6.1
SOAK: none
"""
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import vm
from ktap import Ktap

SENTENCES = '''# Two at once
node 0 reads 10 GB/s from node 1, 62 % hits
node 1 reads 3.5 GB/s from node 1, 90 % hits
'''
# The last line that fits wins.
PATTERNS = '''* C 3 0x14 * 0 0 0 0
1 C 3 0x14 0 6 8 16 1	# in a quarter of the clocks
'''
# Package, event, and what it counts in 1,000 clocks; None: something
COUNTED = (
    ('S0', 'xeon7500_cbox_3/llc_misses.s/', 0), ('S1', 'xeon7500_cbox_3/llc_misses.s/', 250),
    ('S1', 'xeon7500_cbox_3/llc_misses.f/', 0), ('S1', 'xeon7500_cbox_2/llc_misses.s/', None),
)
# Scope, metric, value
WANTED = (
    ('S0', 'llc_miss_ratio', 38),
    ('S0', 'llc_miss_rate', 10e9 / 64),
    ('S0', 'llc_fill_rate', 10e9 / 64),
    ('S0', 'llc_eviction_rate', 0),
    ('S0', 'ring_s2c_bandwidth', 10e9),
    ('S0', 'ring_c2p_bandwidth', 10e9 / 38 * 62),
    ('S0/sbox_0', 'sbox_drs_rcvd_utilization', 100 * 5e9 / 64 * 9 / 2.266e9),
    ('S1/bbox_0', 'b_to_s_link_utilization', 100 * 1.75e9 / 64 * 9 / 2.266e9),
    ('S0', 'memory_read_bandwidth', 0),
    ('S0/qpi0', 'qpi_outgoing_bandwidth', 0),
    ('S0/qpi1', 'qpi_outgoing_bandwidth', 5e9 / 64 * 8),
    ('S1', 'llc_miss_ratio', 10),
    ('S1', 'memory_read_bandwidth', 13.5e9),
    ('S1', 'memory_write_bandwidth', 0),
    ('S1', 'dram_page_hit_ratio', 100),
    ('S1/qpi1', 'qpi_outgoing_bandwidth', 5e9 / 64 * 9 * 8),
    ('S1/qpi2', 'qpi_outgoing_bandwidth', 5e9 / 64 * 9 * 8),
    ('S0/cbox_0', 'cbox_irq_avg_latency', 24),
)
NOT_SENTENCES = ('node 0 reads 10 GB/s', 'node 0 reads 10 GB/s from node 9, 62 % hits',
                 'node 0 reads 10 GB/s from node 1, 100 % hits',
                 'node 0 reads 50 GB/s from node 1, 62 % hits',
                 'node 0 reads 10 GB/s from node 1, 62 % hits, and more',
                 # Patterns: a number too large, too few, too many, no box, no number
                 '8 C 0 0x14 0 6 0 8 1', '* C 16 0x14 0 6 0 8 1', '* C 0 0x10000 0 6 0 8 1',
                 '* C 0 0x14 256 6 0 8 1', '* C 0 0x14 0 13 0 8 1', '* C 0 0x14 0 6 4096 8 1',
                 '* C 0 0x14 0 6 0 4097 1', '* C 0 0x14 0 6 0 8 65536', '* C 0 0x14 0 6 0 8',
                 '* C 0 0x14 0 6 0 8 1 1', '* X 0 0x14 0 6 0 8 1', '* CC 0 0x14 0 6 0 8 1',
                 '* C 0 0x14 0 * 0 8 1', '* C 0 0x14 0 6 0 8 x')


def said(text):
    """What perf metrics prints as JSON, by scope and metric."""
    rows = (json.loads(row) for row in re.findall(r'\{"scope":[^{}]*\}', text))
    return {(row['scope'], row['metric']): row['value'] for row in rows}


def values(traffic):
    """Yields what is wrong."""
    metrics = sorted({metric for _, metric, _ in WANTED})
    out, _ = vm.run('--sockets', '2', '--icount', '--kernel', '6.1', '--traffic', traffic,
                    '--reading', 'flits_sent=all', '--', 'perf-metrics', *metrics, '--json',
                    '--per-socket', '--per-box', '--', 'sleep', '0.05')
    found = said(out)
    for scope, metric, wanted in WANTED:
        value = found.get((scope, metric))
        # Of 35 lines that a C-Box misses in a period, half a one is missing.
        if value is None or abs(value - wanted) > 0.02 * wanted:
            yield f'{scope} {metric}: {value}, not {wanted}'


def patterns(traffic):
    """Yields what is wrong."""
    events = [a for event in sorted({event for _, event, _ in COUNTED}) for a in ('-e', event)]
    out, _ = vm.run('--sockets', '2', '--icount', '--kernel', '6.1', '--traffic', traffic, '--',
                    'perf', 'stat', '-a', '--per-socket', '-x,', '-o', '/dev/stdout', *events,
                    'sleep', '0.05')
    rows = [row.split(',') for row in out.splitlines() if row.startswith('S')]
    found = {(row[0], row[4]): int(row[2]) * 1000 / (int(row[5]) * 2.266) for row in rows}
    for package, event, wanted in COUNTED:
        value = found.get((package, event))
        if value is None or (abs(value - wanted) > 0.02 * wanted if wanted is not None else not value):
            yield f'{package} {event}: {value}, not {wanted}'


def refused(line):
    """Yields what is wrong with how it refuses such a line."""
    traffic = vm.file('traffic', f'{line}\n')
    try:
        vm.run('--kernel', '6.1', '--traffic', traffic, '--', 'true')
        yield f'taken: {line}'
    except vm.Failed as e:
        if 'not a traffic line' not in str(e):
            yield str(e)


def main():
    """The sentences, and some that are none."""
    ktap = Ktap()
    ktap.result('what a sentence says is what is counted', values(vm.file('traffic', SENTENCES)))
    ktap.result('a pattern is of its package, box, event and unit mask bit, and as often as it says',
                patterns(vm.file('traffic', PATTERNS)))
    ktap.result('what no link carries, and what is no sentence, is refused',
                (w for line in NOT_SENTENCES for w in refused(line)))
    return ktap.end()


sys.exit(main())
