#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""PCM, unmodified, from Debian 12 (202302): its uncore numbers against planned traffic.

With --icount, so that nothing depends on how busy this machine is.

The plan is what a link and a memory can carry: flits are sent in 2892 of 4096 cycles, that is
1.6 G of 8 bytes a second, and a data response is nine of them. A flit is null or carries
something, so a link is as busy as the share of those sent that are not null.

TEST: 6.1
SOAK: 6.1
"""
import itertools
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import debian
import vm
from ktap import Ktap

# What happens in so many of 4096 cycles: by package, reads and writes by M- and B-Box, data
# responses and null flits by PCM's links.
READ = (311, 173), (59, 97)
WRITE = (101, 83), (41, 23)
IN = (300, 203, 101, 47), (29, 151, 173, 271)
IDLE = (192, 1111, 2000, 2810), (2620, 1400, 1234, 500)
PORTS = 1, 0, 4, 5
SENT, CLOCK = 2892, 2266666666.67
PACKAGES, LINKS = range(2), range(4)


def names(*parts):
    """All of them, as READ.0"""
    return ['.'.join(map(str, words)) for words in itertools.product(*parts)]


EXPECTED = '\n'.join((
    '* passes frequency', '* passes link-speed',
    *(f'* passes {what}' for what in names(('AFREQ', 'READ', 'WRITE'), PACKAGES) +
      names(('in',), PACKAGES, LINKS, ('MB', 'percent'))),
    *(f'* theirs {what} | cpucounters.h, getOutgoingQPILinkUtilization(): null flits by clocks'
      for what in names(('out',), PACKAGES, LINKS, ('MB', 'percent')))))


def traffic():
    """Lines: package, box, instance, code, bit, log2, phase, active, inc"""
    yield from (f'* {box} * * * 12 0 0 0' for box in 'RMBSC')
    yield from (f'* R {port} 0x11f * 12 0 {SENT} 1' for port in PORTS)
    for p in PACKAGES:
        yield from (f'{p} M {m} 0x205 0 12 0 {cycles} 1' for m, cycles in enumerate(READ[p]))
        yield from (f'{p} B {b} 0x10c * 12 0 {cycles} 1' for b, cycles in enumerate(WRITE[p]))
        # Of the packets of class 2 one network has a third, another the rest.
        for port, cycles in zip(PORTS, IN[p]):
            third = cycles // 3
            yield f'{p} R {port} 0x8 * 12 0 {third} 1'
            yield f'{p} R {port} 0xa * 12 {third} {cycles - third} 1'
        yield from (f'{p} R {port} 0x11e * 12 0 {cycles} 1' for port, cycles in zip(PORTS, IDLE[p]))


def same(what, value, want, step, theirs=None):
    """Yields whether it is what is wanted. What differs otherwise than its formula says is not
    explained by it."""
    def near(number):
        return number and abs(value - number) <= number / 1000 + step
    yield '@ %s %s' % ('pass' if near(want) else 'fail' if not theirs or near(theirs) else 'wrong', what)
    if not near(want):
        yield f'{what}: {value}, not {want}'


def compare(text):
    """The last line of PCM's table. Its interval is that between its last two reads of the
    uncore clock of package 0, and the same for the rest but for the instructions between: one
    part in a thousand is allowed. Percents are cut off."""
    with open(vm.path('trace'), encoding='utf-8') as f:
        reads = [int(w[4], 16) for w in map(str.split, f) if w[2:4] == ['rd', '0x394']]
    clocks = reads[-1] - reads[-2]

    def said(pattern):
        found = re.search(pattern, text)
        return float(found.group(1)) if found else 0

    yield from same('frequency', said(r'Nominal core frequency: (\d+)'), CLOCK, 0)
    yield from same('link-speed', said(r'Max QPI speed: ([0-9.]+)'), 12.8, 0)
    table = text[re.search('^System,', text, re.M).start():]
    rows = [line.split(',') for line in table.splitlines()
            if line.startswith(('System,', 'Date,', '20'))]
    for group, name, value in zip(rows[0], rows[1], rows[-1]):
        value = value.strip(' %')
        value = float(value) if value.replace('.', '').isdigit() else 0
        found = re.match(r'(?:Socket |SKT)(\d)(dataIn|trafficOut)?( .percent.)?$', group)
        if not found:
            continue
        package, way, percent = int(found.group(1)), found.group(2), found.group(3)
        if not way and name in ('READ', 'WRITE'):
            count = sum((READ if name == 'READ' else WRITE)[package]) * clocks / 4096
            yield from same(f'{name}.{package}', value, count * 64 / 1e9, 0.006)
        elif not way and name == 'AFREQ':
            yield from same(f'AFREQ.{package}', value, 1, 0.006)
        elif way:
            link = int(name[3:])
            if way == 'dataIn':
                kind, share, theirs = 'in', IN[package][link] * 64 / (SENT * 8), None
            else:
                kind, idle = 'out', IDLE[package][link]
                share, theirs = 1 - idle / SENT, 1 - idle / 4096
            unit, value, full, step = ('percent', value + 0.5, 100, 0.5) if percent else \
                ('MB', value, 12.8e3 * clocks / CLOCK, 0.006)
            yield from same(f'{kind}.{package}.{link}.{unit}', value, share * full, step,
                            theirs and theirs * full)


ktap = Ktap()
ktap.result('the packages are unpacked', debian.unpack('pcm', 'libsimdjson14', 'hwdata', 'libstdc++6',
                                                       'libgcc-s1'))
plan = vm.file('traffic', ''.join(line + '\n' for line in traffic()))
for machine in ('xeon7500', 'westmereex') if vm.SOAK else ('xeon7500',):
    done = vm.boot('--machine', machine, '--kernel', '6.1', '--sockets', '2', '--cores', '1', '--icount',
                   '--memory', '1024M', '--append', 'nmi_watchdog=0', '--driver', 'none',
                   '--traffic', plan, '--trace', vm.path('trace'), *debian.PUT,
                   '--', 'sh', '-c', debian.ROOT + 'exec pcm 1 -i=2 -csv')
    # On stderr it describes the machine.
    debian.judge(ktap, done, f'PCM, {machine}', machine, EXPECTED, compare(done.stdout + done.stderr))
sys.exit(ktap.end())
