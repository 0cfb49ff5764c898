#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The PEBS index of a Goldmont out of bounds.

What the kernel alone makes of it, and that intel_core_ext spares it. The first kills the machine,
so each has its own.

TEST: 6.1 6.12
SOAK: 6.1 6.12 newest
PTI: on
"""
import itertools
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import vm
from ktap import Ktap, note

# What the sampler is to do after "below", and what that shows of the kernel alone.
ALONE = {'above': ('below the base: silence', 'above the maximum: an oops'),
         'stop': ('below the base: silence, then a stop',
                  'above the maximum when the event stops: an oops')}
GUARDED = r'''
rmmod intel_core_ext && modprobe intel_core_ext ds_guard=1 || exit
/t/sampler below && /t/sampler above || exit
echo "repairs: $(cat /sys/bus/event_source/devices/cpu/intel_core_ext/ds_repairs)"
echo "said: $(dmesg | grep -c "PEBS index was out of bounds")"'''
# The loads of the walk and a few of the sampler's own.
WHOLE = range(200, 210)


def numbers(done, what):
    """What is printed after WHAT, each time."""
    return [int(n) for n in re.findall(rf'^{what}: (\d+)$', done.stdout, re.M)]


def samples(done, which):
    """How many before the fault and after it, of one run of the sampler; None: it printed none."""
    pairs = itertools.zip_longest(numbers(done, 'before'), numbers(done, 'after'))
    before, after = list(pairs)[which]
    note(f'samples: {before}, after the fault {after}')
    return before, after


def silence(done):
    """Yields what is wrong; so do oops() and goes_on()."""
    before, after = samples(done, 0)
    if before not in WHOLE or after != 0:
        yield 'no silence'


def oops(done):
    log = vm.read(vm.path('log'))
    note('\n'.join(re.findall('.*(?:BUG:|RIP: 0010:).*', log)[:3]))
    yield from vm.ended(done, 125)
    before, after = samples(done, 1)
    if before not in WHOLE or after is not None:
        yield 'it went on after the fault, or did not begin'
    yield from vm.missing(
        log, 'RIP: 0010:(intel_pmu_drain_pebs_nhm|__intel_pmu_pebs_event|get_next_pebs)')


def goes_on(done):
    yield from vm.ended(done)
    for which in 0, 1:
        before, after = samples(done, which)
        # One is lost.
        if before not in WHOLE or after < 199:
            yield f'run {which} of the sampler does not go on'
    (repairs,), said = numbers(done, 'repairs'), numbers(done, 'said')
    note(f'repairs: {repairs}, said: {said}')
    if repairs < 2 or said != [1]:
        yield 'not repaired, or not said once'


ktap = Ktap()
options = ('--machine', 'goldmont', '--cores', '2',
           '--put', vm.build('pebs_index', 'sampler.c') + ':/t/sampler')
for i, kernel in enumerate(vm.kernels()):
    # Both ways to an oops on each kernel take two machines; one after the other will do.
    for how in ALONE if vm.SOAK else [list(ALONE)[i % 2]]:
        done = vm.boot('--driver', 'none', '--kernel', kernel, '--log', vm.path('log'), *options,
                       '--', 'sh', '-c', f'/t/sampler below && /t/sampler {how}')
        for name, wrong in zip(ALONE[how], (silence, oops)):
            ktap.result(f'{kernel} alone, {name}', wrong(done))
    done = vm.boot('--kernel', kernel, *options, '--', 'sh', '-c', GUARDED)
    ktap.result(f'{kernel} with the guard: sampling goes on', goes_on(done))
sys.exit(ktap.end())
