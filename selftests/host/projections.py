#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Events of the model are alike only where they have to be.

Two events that show the same transactions count alike: a program that exchanges them counts
right. So each such pair is an identity of spec/xeon7500/identities.json, which says why.
"""
import collections
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from ktap import Ktap

SPEC = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'spec', 'xeon7500')


def load(name):
    """A file of the spec."""
    with open(f'{SPEC}/{name}', encoding='utf-8') as f:
        return json.load(f)


def shown(box, events):
    """(what it shows, name) of each event and sub-event."""
    for e in events:
        p = e.get('projects')
        for u in (e['umasks'] or [{}]) if p else []:
            if e['umasks'] and 'of' not in u:
                continue
            what = u.get('what', p['what'])
            depth = 0 if what in ('count', 'flits') else u.get('depth', p.get('depth', 0))
            key = (p['where'], p.get('at'), what, depth, u.get('every', p.get('every', 1)),
                   frozenset(p['of'] + u.get('of', [])))
            yield key, f'{box} {e["name"]}' + (f'.{u["name"]}' if u else '')


def without_reason(pairs, identities):
    """Events that show the same, and no identity says so."""
    alike = collections.defaultdict(list)
    for key, name in pairs:
        alike[key].append(name)
    equal = [set(i['sum']) for i in identities
             if 'sum' in i and not {'at_least', 'most_differ'} & set(i) and sorted(i['sum'].values()) == [-1, 1]]
    for names in alike.values():
        first, *rest = names
        known = {first}
        for _ in rest:
            known |= {n for pair in equal if pair & known for n in pair}
        yield from (f'{first} and {n}' for n in rest if n not in known)


ktap = Ktap()
pairs = [p for box in 'CSB' for p in shown(box, load(f'events_{box.lower()}.json')['events'])]
identities = load('identities.json')
ktap.result('events that are alike have an identity', without_reason(pairs, identities))
ktap.result('without it they are found',
            [] if list(without_reason(pairs, [])) else ['nothing is found'])
sys.exit(ktap.end())
