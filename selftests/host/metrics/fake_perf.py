# SPDX-License-Identifier: GPL-2.0-only
"""perf stat, as perf metrics sees it: the world of a test has a program "perf" that says from
here what it plays.

    from fake_perf import *
    ready()
    until_told()
    say(lines())
"""
import json
import os
import re
import signal
import sys
import time

WORLD = os.path.dirname(os.path.realpath(sys.argv[0]))
DEVICES = f'{WORLD}/sys/bus/event_source/devices'
SECONDS = 1.0
told = []
signal.signal(signal.SIGINT, lambda *_: told.append(1))


def read(path):
    """A file, or None."""
    try:
        with open(path, encoding='utf-8') as f:
            return f.read().strip()
    except OSError:
        return None


def events():
    """(name, PMU, terms) in the order of the command line."""
    return re.findall(r'([a-z0-9_]+)/([^/]*),name=(pm\d+)/', sys.argv[sys.argv.index('-e') + 1])


def cpus(pmu):
    """Where it is opened."""
    mask = read(f'{DEVICES}/{pmu}/cpumask')
    return [int(c) for c in (mask or read(f'{WORLD}/online')).split(',')]


def ready():
    """All is being counted. perf says so with the end of its string."""
    sys.stdin.readline()
    say(b'ack\n\0')


def until_told():
    """To the end of the command."""
    while not told:
        time.sleep(0.02)


def say(what, end='\n'):
    """Lines, or text as it is."""
    data = what if isinstance(what, bytes) else (''.join(line + end for line in what)).encode()
    while data:
        data = data[os.write(1, data):]


def line(name, cpu, count, seconds=SECONDS, running=100.0, **more):
    """One count as perf has it."""
    text = count if isinstance(count, str) else f'{count:.6f}'
    row = {**more, 'cpu': str(cpu), 'counter-value': text, 'unit': '', 'event': name,
           'event-runtime': int(seconds * 1e9), 'pcnt-running': running}
    if cpu is None:
        del row['cpu']
    return json.dumps(row, separators=(', ', ' : '))


def count_of(pmu, terms, cpu):
    """A gate has what it was open, the rest something that differs."""
    if pmu == 'xeon7500_package':
        return SECONDS * 1e9
    return 1000000 + 1000 * len(terms) + 10 * int(pmu[-1]) * pmu[-1].isdigit() + cpu \
        if pmu[-1].isdigit() else 1000000 + 1000 * len(terms) + cpu


def lines(count=count_of, seconds=lambda pmu, cpu: SECONDS, running=lambda pmu, cpu: 100.0, **more):
    """All of an interval."""
    if '-A' not in sys.argv:
        return [line(name, None, count(pmu, terms, 0), **more) for pmu, terms, name in events()]
    return [line(name, cpu, count(pmu, terms, cpu), seconds(pmu, cpu), running(pmu, cpu), **more)
            for pmu, terms, name in events() for cpu in cpus(pmu)]
