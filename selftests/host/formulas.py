#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Each formula of spec/xeon7500/metrics.json is a metric, by its name or by that which
Documentation/metrics.md lists for it.

TIER: quick
"""
import glob
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from ktap import Ktap

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def text_of(path):
    """A file of the project."""
    with open(os.path.join(TOP, path), encoding='utf-8') as f:
        return f.read()


def missing(names, metrics, renamed=()):
    """Names that are neither."""
    known = [re.sub(r'\{\w+\}', r'\\w+', name) for name in metrics]
    known += [f'.*{name}' if name[0] == '_' else name.replace('…', '.*') for name in renamed]
    return [name for name in names if not any(re.fullmatch(k, name) for k in known)]


ktap = Ktap()
formulas = [m['name'] for m in json.loads(text_of('spec/xeon7500/metrics.json'))]
metrics = re.findall(r'^metric (\S+)$', '\n'.join(
    text_of(p) for p in glob.glob(f'{TOP}/metrics/*.metric')), re.M)
section = text_of('Documentation/metrics.md').split('## What became of the formulas')[1].split('\n## ')[0]
rows = [row.split('|')[1:3] for row in section.split('\n| LIKWID')[0].splitlines() if row.startswith('| `')]
renamed = [name for row in rows for name in re.findall('`([^`]+)`', row[0])]
targets = [name for row in rows for name in re.findall('`([^`]+)`', row[1])]
number = int(re.search(r'has (\d+) formulas', section).group(1))
ktap.result('every formula is a metric, or listed', missing(formulas, metrics, renamed))
ktap.result('one that is not is found', [] if missing(['no_such'], metrics, renamed) else ['nothing is found'])
ktap.result('what the list names is there', missing([t for t in targets if t[0] != '_'], metrics))
ktap.result('their number', [] if number == len(formulas) else [f'{len(formulas)}, not {number}'])
sys.exit(ktap.end())
