#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Each formula of spec/xeon7500/metrics.json is a metric with the same value, by its name or by
that which Documentation/metrics.md lists for it.

Values are compared with arbitrary counts for the events, times the .scale that the spec gives
them: perf multiplies by it. Boxes of which a package has several have not the same:
their maximum, mean and sum differ.
"""
import glob
import json
import os
import re
import sys
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from ktap import Ktap

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SPEC = f'{TOP}/spec/xeon7500'
SEVERAL = {'C': 8, 'S': 2, 'B': 2, 'M': 2}
# Not the same value, and why: Documentation/metrics.md.
OTHERWISE = {'ioh_share_of_memory_requests', 'memory_bandwidth',
             'memory_write_bandwidth_wsmex', 'arb_fail_ratio_global', 'arb_fail_ratio_queue', 'eot_rate'}


def text_of(path):
    """A file of the project."""
    with open(os.path.join(TOP, path), encoding='utf-8') as f:
        return f.read()


def all_events():
    """{name: (event, scale)}; a name of flits is a number of packets and their length."""
    events = {}
    for path in glob.glob(f'{SPEC}/events_?.json'):
        box = path[-6].upper()
        rows = json.loads(text_of(path))
        for e in rows if isinstance(rows, list) else rows['events']:
            for alias in [e['name'], *e.get('aliases', [])]:
                events[f'{box}.{alias}'.upper()] = e, e.get('scale') or 1
            if 'flits_per_packet' in e:
                events[f'{box}.{re.sub("^(PKTS|MSGS)", "FLITS", e["name"])}'] = e, e['flits_per_packet']
    return events


EVENTS = all_events()


def count(name):
    """An arbitrary count and the scale; those of several bits of umask are the sum of theirs."""
    head, part = re.match(r'(\w+\.[^.]+)(?:\.(.*))?$', name.upper()).groups()
    event, scale = EVENTS.get(head, ({'name': head, 'umasks': []}, 1))
    bits = {u['name'].upper(): int(u.get('value', '0'), 0) for u in event.get('umasks', [])}
    every = max(bits.values(), default=0)
    umask = every if part is None else {'MESF': 0xf, **bits}.get(part, 0)
    parts = [b for b in range(8) if umask >> b & 1] or [part]
    return sum(1000 + zlib.crc32(f'{head[0]}.{event["name"]} {p}'.encode()) % 9000 for p in parts), scale


def over_boxes(how, box):
    """What the sum of the boxes is multiplied by."""
    return {'': 1, 'sum': 1, 'max': 0.7, 'mean': 1 / SEVERAL.get(box.upper(), 1)}[how]


def spec_value(formula):
    """What the spec makes of the counts."""
    formula = re.sub(r'port\{p\}\.|FVC_EVx\.', '', formula)
    formula = re.sub(r'\b(sum|max|mean)(?:_over_boxes)?\((\w)([^()]*)\)',
                     lambda m: f'({over_boxes(m.group(1), m.group(2))} * {m.group(2)}{m.group(3)})', formula)
    formula = formula.replace('core.INSTR_RETIRED', 'cpu.instructions')
    formula = re.sub(r'\b[A-Za-z]+\.[\w.]+', lambda m: str(count(m.group())[0]), formula)
    return eval(formula, {'time_s': 3, 'seconds': 3})  # pylint: disable=eval-used


def metrics():
    """{name: (is it in percent, value)}"""
    found = {}
    for path in sorted(glob.glob(f'{TOP}/metrics/*.metric')):
        for block in re.split(r'^metric ', text_of(path), flags=re.M)[1:]:
            loop = re.search(r'^\tfor (\w+) (.*)$', block, re.M)
            for value in loop.group(2).split() if loop else ['']:
                text = block.replace('{%s}' % loop.group(1), value) if loop else block
                events = {}
                for var, over, pmu, event in re.findall(r'^\tevent (\w+)(?: (\w+))? (\w+)/(event=[^/]*|[^/,]*).*/$', text, re.M):
                    box = pmu.removeprefix('xeon7500_')[0] if pmu.startswith('xeon7500') else pmu
                    event = {'mbox_cycles': 'cycles', 'event=0x17,umask=0xf': 'llc_victims.mesf'}.get(event, event)
                    n, scale = count(f'{box}.{event.replace("{core}", "cn")}')
                    events[var] = n * scale * over_boxes(over, box)
                formula = re.search(r'^\tformula (.*)$', text, re.M).group(1)
                try:
                    result = eval(formula, {**events, 'seconds': 3})  # pylint: disable=eval-used
                except (NameError, TypeError, SyntaxError):
                    result = None
                found[text.split('\n')[0]] = '\tunit %\n' in text, result
    return found


def wrong(formulas, known, renamed):
    """Formulas that are no metric, or another."""
    for m in formulas:
        name = renamed.get(m['name'], m['name'])
        if name not in known:
            yield f'no {name}'
        elif m['name'] not in OTHERWISE:
            percent, value = known[name]
            want = spec_value(m['formula']) * (100 if percent and m.get('unit') != '%' else 1)
            if value is None or abs(value - want) > 1e-9 * abs(want):
                yield f'{name} is {value}, not {want}'


ktap = Ktap()
formulas = json.loads(text_of('spec/xeon7500/metrics.json'))
known = metrics()
section = text_of('Documentation/metrics.md').split('## What became of the formulas')[1].split('\n## ')[0]
renamed = dict(re.findall(r'^\| `(\w+)` \| `(\w+)`', section.split('\n| LIKWID')[0], re.M))
number = int(re.search(r'has (\d+) formulas', section).group(1))
ktap.result('every formula is a metric, with the same value', wrong(formulas, known, renamed))
ktap.result('one that is missing or altered is found', [
    name for name, value in known.items() if name in {renamed.get(m['name'], m['name']) for m in formulas} and
    (not list(wrong(formulas, {n: v for n, v in known.items() if n != name}, renamed)) or
     not list(wrong(formulas, {**known, name: (value[0], 2 * (value[1] or 0))}, renamed)))
    and name not in {renamed.get(n, n) for n in OTHERWISE}])
ktap.result('no name is listed that is no formula', set(renamed) - {m['name'] for m in formulas})
ktap.result('their number', [] if number == len(formulas) else [f'{number}, not {len(formulas)}'])
sys.exit(ktap.end())
