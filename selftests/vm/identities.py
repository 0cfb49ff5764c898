#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What must agree does: spec/xeon7500/identities.json on counts of perf and our driver.

1,000 times an identity, a package and an instance of its boxes are drawn, and its events are
counted from the same cycle to the same cycle. The seed is fixed, so that a failure comes again.

A sum has to be right to the count. What was in a queue when the window began or ended is the
only thing that may be missing from what an occupancy and its inserts say of each other; the
stay that they tell has to be the same each time.

TIER: once
"""
import json
import os
import random
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import vm
from ktap import Ktap, note

DRAWS = 10000 if vm.SOAK else 1000
PACKAGES = 2
# Instances of each box; a box of which there is one has no number.
INSTANCES = {'xeon7500': {'C': 8, 'S': 2, 'B': 2, 'M': 2, 'R': 2},
             'westmereex': {'C': 10, 'S': 2, 'B': 2, 'M': 2, 'R': 2}}


def events_of(identity):
    """Names as 'C LLC_HITS.ALL'."""
    if 'sum' in identity:
        return list(identity['sum'])
    return [identity['occupancy'], identity['inserts']]


def draw(machine, identities):
    """[(identity, package, instance, microseconds)]"""
    for _ in range(DRAWS):
        identity = random.choice(identities)
        most = min(INSTANCES[machine].get(e.split()[0], 1) for e in events_of(identity))
        yield identity, random.randrange(PACKAGES), random.randrange(most), \
            random.choice((20, 50, 100, 300))


def line(machine, identity, package, instance, us):
    """For the runner."""
    words = []
    for event in events_of(identity):
        box, name = event.split()
        number = f'_{instance}' if box in INSTANCES[machine] else ''
        words.append(f'xeon7500_{box.lower()}box{number}/{name.lower()}')
    return f'{package} {us} {" ".join(words)}\n'


def check(drawn, clock, counts, stays):
    """What is wrong with these counts, if anything."""
    identity, package, instance, _ = drawn
    if not any(counts):
        return 'nothing counted'
    if 'sum' in identity:
        total = sum(factor * count for factor, count in zip(identity['sum'].values(), counts))
        least = identity.get('at_least')
        if total != 0 if least is None else total < least:
            return f'the sum is {total}'
        return None
    occupancy, inserts = counts
    depth, scale = identity['depth'], identity.get('scale', 1)
    if occupancy * scale > clock * depth:
        return f'more than {depth} entries in each of {clock} cycles'
    stay = stays.setdefault((identity['what'], package, instance), round(occupancy * scale / inserts))
    if abs(occupancy * scale - stay * inserts) > stay * depth + scale:
        return f'{inserts} entries of {stay} cycles are not {occupancy * scale}'
    return None


def run(kernel, machine, identities, directory):
    """Yields what is wrong."""
    drawn = list(draw(machine, identities))
    rows = os.path.join(directory, 'rows')
    with open(rows, 'w', encoding='utf-8') as f:
        f.writelines(line(machine, *d) for d in drawn)
    program = vm.build('identities', 'runner.c', directory)
    out, _ = vm.run('--kernel', kernel, '--machine', machine, '--sockets', str(PACKAGES),
                    '--put', f'{program}:/t/runner', '--put', f'{rows}:/t/rows', '--',
                    '/t/runner', '/t/rows')
    answers = [[int(n) for n in row.split()[1:]] for row in out.splitlines()
               if row.startswith('row ')]
    if len(answers) != len(drawn):
        yield f'{len(answers)} answers to {len(drawn)} questions: {out[-300:]}'
    stays = {}
    # The longest windows first: they tell a stay best.
    for d, (clock, *counts) in sorted(zip(drawn, answers), key=lambda pair: -pair[1][0]):
        wrong = check(d, clock, counts, stays)
        if wrong:
            yield f'{d[0]["what"]}: {line(machine, *d).strip()}: {counts}: {wrong}'
    note(f'{len(answers)} draws of {len(identities)} identities, {len(stays)} queues')


def main():
    """Every identity on each machine."""
    ktap = Ktap()
    random.seed(7500)
    with open(os.path.join(vm.TOP, 'spec', 'xeon7500', 'identities.json'), encoding='utf-8') as f:
        identities = json.load(f)
    for kernel in vm.kernels(__file__):
        for machine in INSTANCES:
            with tempfile.TemporaryDirectory() as directory:
                try:
                    wrong = list(run(kernel, machine, identities, directory))
                except vm.Failed as e:
                    wrong = [str(e)]
            ktap.result(f'identities, {machine}, {kernel}', wrong)
    return ktap.end()


sys.exit(main())
