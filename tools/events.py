#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Every uncore event by its name in sysfs, with what spec/ says of it.

	tools/events.py >Documentation/events.md
	tools/events.py --json

The names are those that selftests/vm/conformance.py wants to find, so that a driver whose
names are others fails there. As JSON: {"PMU": {"name": "description"}} of the Xeon 7500.
"""
import json
import os
import re
import signal
import sys

TOP = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
sys.path.insert(0, os.path.join(TOP, 'tools', 'lib'))
import spec  # pylint: disable=wrong-import-position

PAGES = {'ubox': 'interrupts, locks, errors', 'cbox': 'last-level cache slices',
         'sbox': 'between ring and system interface', 'bbox': 'home agents',
         'mbox': 'memory controllers', 'rbox': 'router', 'wbox': 'power and clock'}
OWN = {'xbar_mm': 'packets that cross and match the filter'}


def plain(text):
    return re.sub(r'\s+', ' ', text or '').strip().rstrip('.')


def description(name, want):
    """Of the event and, behind it, of the unit mask."""
    event, sub = want.event, want.umask
    parts = [OWN.get(name) or plain(event.get('desc')), plain(sub.get('desc')) if sub else '']
    return ': '.join(dict.fromkeys(p for p in parts if p)) or '(the guide has no description)'


def encoding(want):
    """Code, unit mask and counters, as the guide has them."""
    event, sub = want.event, want.umask or {}
    parts = [event.get('code') or event.get('cnt_ctl') or event.get('group', ''),
             sub.get('value') or sub.get('iperf_cfg') or sub.get('qlx_cfg') or '']
    counters = event.get('counters', '')
    if event.get('code') == 'fixed':
        parts[0] = 'fixed'
    return ' '.join(p for p in parts if p), \
        ', '.join(str(c) for c in counters) if isinstance(counters, list) and \
        len(counters) < 4 and event.get('code') != 'fixed' else ''


def names(model):
    """{kind: {name: (description, scale, doubtful, encoding, counters, note)}}"""
    spec.use_model(model)
    return {kind: {name: (description(name, want), want.scale or '', spec.is_inferred(want.event),
                          *encoding(want), plain((want.umask or {}).get('note') or want.event.get('note')))
                   for name, want in spec.WANTED[box].items()}
            for kind, box in spec.KINDS.items()}


def page():
    first, second = (names(model) for model, _ in spec.MODELS.values())
    print('# Events\n')
    print('<!-- Made from spec/ by tools/events.py. -->\n')
    print('Every named event of every box. The page of a box explains its fields.\n')
    print('| column or mark | meaning |\n|---|---|')
    print('| code | the event code of the guide, then the unit mask |')
    print('| counters | the counters that can count it; empty: all of the box |')
    print('| scale | perf multiplies the count by it |')
    print('| `?` | no second source confirms the encoding |')
    print('| (E7), (7500) | only on Xeon E7, only on Xeon 7500 |')
    for kind, what in PAGES.items():
        every = {**second[kind], **first[kind]}
        print(f'\n## xeon7500_{kind}\n\n{what[0].upper() + what[1:]}, [{kind}]({kind}.md): '
              f'{len(every)} names.\n')
        print('| event | code | counters | scale | what |\n|---|---|---|---|---|')
        for name in sorted(every):
            text, scale, doubt, code, counters, note = every[name]
            on = '' if name in first[kind] and name in second[kind] else \
                ' (7500)' if name in first[kind] else ' (E7)'
            text = '. '.join(t[0].upper() + t[1:] for t in (text, note) if t).replace('|', r'\|')
            print(f"| `{name}`{'?' if doubt else ''}{on} | {code} | {counters} | {scale} | {text} |")


if __name__ == '__main__':
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)	# as `| head` wants it
    if sys.argv[1:] == ['--json']:
        NAMES = names('nhm-ex')
        json.dump({f'xeon7500_{kind}': {name: row[0] for name, row in rows.items()}
                   for kind, rows in NAMES.items()}, sys.stdout, indent=1)
    elif sys.argv[1:]:
        sys.exit(__doc__.rstrip())
    else:
        page()
