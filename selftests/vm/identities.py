#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What must agree does: spec/xeon7500/identities.json on counts of perf and our driver.

1,000 times an identity, a package and an instance of its boxes are drawn, and its events are
counted from the same cycle to the same cycle. The seed is fixed, so that a failure comes again.

A sum has to be right to the count, or within what the window cuts in two. What was in a queue
when the window began or ended is the only thing that may be missing from what an occupancy and
its inserts say of each other; the stay that they tell has to be the same each time. What is
counted elsewhere than in the box itself is not what the box counts, in most of them.

TEST: 6.1
SOAK: 6.1 newest
"""
import json
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import vm
from ktap import Ktap, note
from spec import sysfs_name

DRAWS = 10000 if vm.SOAK else 1000
PACKAGES = 2
# The model in the spec, and instances of each box; one of which there is one has no number.
MACHINES = {'xeon7500': ('nhm-ex', {'C': 8, 'S': 2, 'B': 2, 'M': 2, 'R': 2}),
            'westmereex': ('wsm-ex', {'C': 10, 'S': 2, 'B': 2, 'M': 2, 'R': 2})}
CYCLES = 'cycles'
OF_A_QUEUE = ('occupancy', 'inserts', 'not_empty', 'full')


def events_of(identity):
    """Names as 'C LLC_HITS.ALL', or 'C event=0x15,umask=0xf'."""
    if 'sum' in identity:
        return [name for name in identity['sum'] if name != CYCLES]
    return [identity[key] for key in OF_A_QUEUE if key in identity]


def draw(instances, identities):
    """[(identity, package, instance, microseconds)]"""
    for _ in range(DRAWS):
        identity = random.choice(identities)
        most = min(instances.get(e.split()[0], 1) for e in events_of(identity))
        yield identity, random.randrange(PACKAGES), random.randrange(most), \
            random.choice((20, 50, 100, 300))


def places(instances, identity, instance):
    """On which instances its events are counted."""
    if 'all' in identity:
        return range(min(instances[e.split()[0]] for e in events_of(identity)))
    return [instance]


def events_at(instances, identity, instance):
    """[(PMU, event)]"""
    return [(f'xeon7500_{box.lower()}box' + (f'_{place}' if box in instances else ''),
             sysfs_name(box, name))
            for box, name in (event.split() for event in events_of(identity))
            for place in places(instances, identity, instance)]


def commands(instances, identity, package, instance, us):
    """For the agent: all of them run while the gate is open."""
    yield 'open', package, 'xeon7500_package', 'gate'
    yield 'open', package, 'xeon7500_wbox', 'uncore_clock'
    for pmu, event in events_at(instances, identity, instance):
        yield 'open', package, pmu, event
    yield 'enable', 1
    yield 'run', 0, us
    yield 'count',


def check_sum(identity, counts, boxes):
    """What is wrong with this sum, if anything; or with those of single boxes."""
    total = sum(factor * counts[name] for name, factor in identity['sum'].items())
    if 'most_differ' in identity:
        sums = [sum(factor * box[name] for name, factor in identity['sum'].items()) for box in boxes]
        differ = sum(abs(one) > identity['most_differ'] for one in sums)
        return None if 2 * differ > len(sums) else f'the sums are {sums}'
    if 'at_least' in identity:
        right = total >= identity['at_least']
    else:
        right = abs(total) <= identity.get('within', 0)
    return None if right else f'the sum is {total}'


def check_queue(drawn, counts, stays):
    """Likewise, with this queue."""
    identity, package, instance, _ = drawn
    depth, scale = identity['depth'], identity.get('scale', 1)
    occupancy, inserts = counts[identity['occupancy']] * scale, counts[identity['inserts']]
    # Of a count that stands for several the rest is in the sub-counter.
    if occupancy > counts[CYCLES] * depth + scale:
        return f'more than {depth} entries in each cycle'
    if 'not_empty' in identity:
        not_empty = counts[identity['not_empty']]
        full = counts[identity['full']] if 'full' in identity else 0
        if not full <= not_empty <= counts[CYCLES]:
            return f'{full} cycles full, {not_empty} not empty'
        if not not_empty + (depth - 1) * full - scale < occupancy + 1 <= not_empty * depth + scale:
            return f'{occupancy} entries in {not_empty} cycles, of which {full} with {depth}'
    stay = stays.setdefault((identity['what'], package, instance), round(occupancy / inserts))
    if abs(occupancy - stay * inserts) > stay * depth + scale:
        return f'{inserts} entries of {stay} cycles are not {occupancy}'
    return None


def check(drawn, counts, boxes, stays):
    """Likewise, with what has been counted, in all and in each box."""
    if not all(counts.values()):
        return 'an event does not happen'
    if 'sum' in drawn[0]:
        return check_sum(drawn[0], counts, boxes)
    return check_queue(drawn, counts, stays)


def run(kernel, machine, identities):
    """Yields what is wrong."""
    model, instances = MACHINES[machine]
    identities = [i for i in identities if model in i.get('models', [model])]
    drawn = list(draw(instances, identities))
    rows = ((i, commands(instances, *d)) for i, d in enumerate(drawn))
    out, _ = vm.run('--kernel', kernel, '--machine', machine, '--sockets', str(PACKAGES),
                    *vm.agent(), *vm.script('rows', rows), '--', '/t/agent', '/t/rows')
    answers = []
    for text in vm.answers(out):
        counts = [[int(n) for n in c.split(',')] for c in text[1].values()]
        if len({c[2] for c in counts[1:]}) != 1:
            raise vm.Failed(f'{text}: not all ran as long as the clock')
        answers.append([c[0] for c in counts[1:]])
    if len(answers) != len(drawn):
        yield f'{len(answers)} answers to {len(drawn)} questions: {out[-300:]}'
    stays = {}
    # The longest windows first: they tell a stay best.
    for d, answer in sorted(zip(drawn, answers), key=lambda pair: -pair[1][0]):
        num = len(places(instances, d[0], d[2]))
        boxes = [{e: answer[1 + i * num + n] for i, e in enumerate(events_of(d[0]))}
                 for n in range(num)]
        counts = {CYCLES: answer[0], **{e: sum(box[e] for box in boxes) for e in boxes[0]}}
        wrong = check(d, counts, boxes, stays)
        if wrong:
            yield f'{d[0]["what"]}: {events_at(instances, d[0], d[2])}: {answer}: {wrong}'
    note(f'{len(answers)} draws of {len(identities)} identities, {len(stays)} queues')


def main():
    """Every identity on each machine."""
    ktap = Ktap()
    random.seed(7500)
    with open(os.path.join(vm.TOP, 'spec', 'xeon7500', 'identities.json'), encoding='utf-8') as f:
        identities = json.load(f)
    for kernel in vm.kernels():
        for machine in MACHINES:
            ktap.result(f'identities, {machine}, {kernel}', run(kernel, machine, identities))
    return ktap.end()


sys.exit(main())
