#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Events of mainline's intel_uncore, of LIKWID and of PCM, and ours in their place.

	tools/coming-from.py >Documentation/coming-from.md

What it says is what tests compare: each pair of events is one that selftests/vm/differential.py
opens under both drivers, and what LIKWID calls otherwise or counts otherwise is what
selftests/guest/likwid finds.
"""
import os
import re
import sys

TOP = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
sys.path.insert(0, os.path.join(TOP, 'selftests', 'vm'))
import conformance  # pylint: disable=wrong-import-position
import differential  # pylint: disable=wrong-import-position

HEAD = '''# Coming from intel_uncore, LIKWID or PCM

Made by `tools/coming-from.py`, of the Xeon 7500. [Events](events.md) says what each counts.

## intel_uncore

`uncore_cbox_0` is `xeon7500_cbox_0`, and so on. Without a number the name is that of all boxes of
a kind, as with mainline. What differs:

| what | why |
|---|---|'''

PAIRS = '''
Filters and ports are shown with one value. With mainline `event` of an R-Box is 6 more for each
port.'''

LIKWID = '''
## LIKWID

LIKWID's name of an event is ours in capitals, with `_` in place of `.`: `LLC_MISSES_ALL:CBOX0C0`
is `xeon7500_cbox_0/llc_misses.all/`. The counter is not part of our events: the driver chooses it.

| LIKWID | ours |
|---|---|
| `NAME_PORT1_IPERF0_MORE` | `name.more,port=1`; ports 4 to 7 of LIKWID are ports 0 to 3 of `xeon7500_rbox_1` |
| `FVC_EV0_MORE` | `more` |'''

FAULTS = '''
What LIKWID 5.2 itself counts otherwise than its name says:

| LIKWID | on | why |
|---|---|---|'''

PCM = '''
## PCM

| PCM | ours | what differs |
|---|---|---|
| `pcm`: READ, WRITE | `perf metrics memory --per-socket` | nothing |
| `pcm`: QPI data traffic, in | `perf metrics qpi --per-socket` | nothing |
| `pcm`: QPI traffic, out, in percent | `perf metrics qpi_utilization` | PCM divides null flits by clocks, we by flits sent |
| `pcm`: IPC, L3 and L2 hits and misses | `perf stat -e instructions,cycles,cache-misses` | counters of cores, which the kernel has |'''


def our_names():
    """{kind: {event and unit mask, as the keys of differential.py have them: name}}"""
    named = {}
    for kind, box in conformance.KINDS.items():
        for name, want in conformance.WANTED[box].items():
            event = f"{kind} {want.event['name']}"
            for key in event, f"{event}.{(want.umask or {}).get('name', '')}":
                if not want.own:
                    named.setdefault(key, name)
    return named


def pairs():
    """{kind: {mainline's terms: our terms}} of events that both drivers have."""
    found, named, seen = {}, our_names(), set()
    for row in differential.make_rows('nhm-ex'):
        if not row.box or row.inst or row.about.get('refused') or row.about.get('wide'):
            continue
        words = row.key.split()
        name = named.get(row.key) or named.get(f'{words[0]} {words[-2]}') or \
            row.box == 'sbox' and 'match=' in row.ours and 'to_r_prog_ev'
        ours = re.sub(r'^(event|config)=\w+(,(umask|counter)=\w+)?', name, row.ours) if name else row.ours
        # A field is shown with one value.
        kind = re.sub(r'=\w+', '', ours) if '=' in row.main else row.main
        if ours != row.main and (row.box, kind) not in seen:
            seen.add((row.box, kind))
            found.setdefault(row.box, {})[row.main] = ours
    return found


def ours_for(prefix):
    """The name that begins so, where ours has a dot and LIKWID's none."""
    return next(name[:len(prefix)] for names in conformance.WANTED.values() for name in names
                if name.upper().replace('.', '_').startswith(prefix))


def c_table(start):
    """The rows of a table in the guest's program, as lists of strings and words."""
    with open(os.path.join(TOP, 'selftests/guest/likwid/guest.c'), encoding='utf-8') as f:
        text = f.read().split(start, 1)[1].split('\n};', 1)[0]
    return [[word.strip('"') for word in re.findall(r'"[^"]*"|\w+', row)]
            for row in re.findall(r'\{ ([^{}]*) \}', text)]


def page():
    conformance.use_model('nhm-ex')
    print(HEAD)
    for name, why, _, _ in differential.DIFFERENCES:
        print(f'| {name} | {why} |')
    print(PAIRS)
    for kind, rows in pairs().items():
        print(f'\n| `uncore_{kind}` | `xeon7500_{kind}` |\n|---|---|')
        for main, ours in rows.items():
            print(f'| `{main}` | `{ours}` |')
    print(LIKWID)
    for likwid, ours in c_table('} names[] = {'):
        print(f'| `{likwid}` | `{ours_for(ours)}` |')
    print(FAULTS)
    for where, fault, event, counter, why in c_table('} excuses[] = {'):
        if fault in ('OTHER_RATE', 'OTHER_COUNT'):
            on = {'BOTH': 'both', 'NHM': 'Xeon 7500', 'WSM': 'Xeon E7'}[where]
            print(f'| `{event}`' + (f' on `{counter}`' if counter != '*' else '') + f' | {on} | {why} |')
    print(PCM)


if __name__ == '__main__':
    if sys.argv[1:]:
        sys.exit(__doc__.rstrip())
    page()
