#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""perf metrics record, report and diff, in a world of the test.

What is recorded is reported as it was live, byte for byte, without the machine, its perf and its
metric files. A recording that was cut ends there, a damaged one is refused in one line. diff finds
what was planted and is silent where nothing was; its p is that of closed forms. A page has one
script, whatever the command is named.
"""
import base64
import contextlib
import csv
import functools
import hashlib
import html.parser
import io
import itertools
import json
import math
import os
import random
import re
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import time
import xml.etree.ElementTree

HOST = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [f'{HOST}/../lib', f'{HOST}/metrics']
sys.dont_write_bytecode = True
import fixture
from fixture import World, read, wait_for, write
from ktap import Ktap

TOP = fixture.TOP
ktap = Ktap()
ended = functools.partial(fixture.ended, lines=1)
MAP = 'llc_miss_rate', 'memory_read_bandwidth', 'memory_write_bandwidth', 'qpi_outgoing_bandwidth', 'qpi_utilization'
# Counts that differ, some n/a, some counted for a part of the time; then those of the whole time.
STREAM = '''
import random
# By what is counted and not by when perf was asked for it: a recording counts more than a map.
def drawn(*key):
    return random.Random(repr((NOW, *key)))
def count(p, t, c):
    r = drawn(p, t, c)
    if 'package' in p:
        return N * 1e9
    if 'null_idle' in t:
        return count_of(p, t, c) * r.uniform(0.1, 0.7)
    return '<not counted>' if p == 'xeon7500_cbox_3' and r.random() < 0.6 else count_of(p, t, c) * r.uniform(0.5, 2)
def of(p, c):
    return drawn(p, c).choice((1, 1, 0.37))
def all_of(n, **more):
    global N, NOW
    N, NOW = n, more.get('interval', 0)
    say(lines(count, lambda p, c: n * of(p, c), lambda p, c: 100 * of(p, c), **more))
ready()
for i in range(1, 6):
    all_of(0.25, interval=i / 4 + 0.000123456)
all_of(1.25)
'''
# Where the core counts, too; and what JSON and HTML have other characters for.
ODD = '''group odd
help Odd <names> & "quotes"
metric per_cpu
	help <b>bold</b> & "quoted" \\ </script><script>alert(1)</script>
	unit <x>
	scope cpu
	event i cpu/instructions/
	event c cpu/cpu-cycles/
	formula i / c
metric ratio
	unit 1/s
	event i cpu/instructions/
	formula i / seconds
'''


def record(world, path, *args, status=0, **more):
    """perf metrics record of 250 ms; what is wrong with that."""
    return list(ended(world.run('record', '-o', path, '-I', '250', *args, **more), status))


# ---- live and reported ----

def elsewhere(**more):
    """A world without machine, perf and metric files, where only recordings are."""
    other = World(driver=False, model='06_9e')
    os.unlink(f'{other.dir}/perf')
    shutil.rmtree(other.devices)
    return other, {'PERF_METRICS_PATH': '/nowhere', **more}.items()


def equal():
    """Report and live, with the same stream of perf."""
    forms = [], ['--csv'], ['--json'], ['--openmetrics', '-'], ['--openmetrics', '-', '--per-box'], ['--csv', '--per-socket'], ['--json', '--per-box'], \
        ['--per-machine', '--per-socket', '--per-box'], ['--csv', '--sort', 'value', '--units', 'auto']
    whole = STREAM.replace('    all_of(0.25', '    (lambda *a, **k: None)(0.25')
    for name, make, ask, env in (
            ('two packages', {}, MAP, {}),
            ('a package', {'packages': 1}, MAP, {}),
            ('four packages without some boxes', {'packages': 4, 'absent': {('mbox', 1, 2), ('rbox', 0, 1)}}, MAP, {}),
            ('passes', {}, ('qpi', 'memory', 'llc', 'load_share_l1_hit'), {}),
            ('cores and a command', {'model': '06_5c'}, ('odd',), {'PERF_METRICS_PATH': None}),
    ):
        world = World(**make)
        write(f'{world.dir}/odd/odd.metric', ODD)
        if env:
            env = {'PERF_METRICS_PATH': f'{world.dir}/odd'}
        other, nothing = elsewhere()
        path, limits = f'{other.dir}/r', ['--topology', f'{world.dir}/t']
        write(limits[1], 'limit memory 2e10\n')
        for words in [['--', 'true']] + ([['-a', '--', 'true'], []] if env else []):
            world.play(STREAM + ('' if words else 'os._exit(0)\n'))
            bad = record(world, path, *ask, *limits, *words, env=env.items(), status=0)
            for form in forms:
                live = world.run(*ask, '-I', '250', '--summary', *form, *limits, *words, env=env.items())
                said = other.run('report', path, '-I', '250', '--summary', *form, env=nothing)
                places = 4 if 'memory' in ask and form[:1] + form[2:] == ['--openmetrics', '--per-box'] else 0
                if (live.stdout, live.returncode) != (said.stdout, said.returncode) or len(live.stdout) < 100 or \
                        said.stdout.count('perf_metrics_limit{limit="memory"') != 6 * places:
                    bad.append(f'{form}: live\n{live.stdout}{live.stderr}reported\n{said.stdout}{said.stderr}')
            file = f'{other.dir}/out'
            bad += ended(other.run('report', path, '-I', '250', '-o', file, '--csv', env=nothing), 0)
            if not read(file) or read(file) != other.run('report', path, '-I', '250', '--csv', env=nothing).stdout:
                bad.append(f'-o: {read(file)}')
            world.play(whole + ('' if words else 'os._exit(0)\n'))
            live = world.run(*ask, '--per-box', *words, env=env.items())
            said = other.run('report', path, '--per-box', env=nothing)
            world.play(STREAM)
            if live.stdout.count('\n') < 2 or (ask == MAP and live.stdout != said.stdout):
                bad.append(f'the whole: live\n{live.stdout}{live.stderr}reported\n{said.stdout}{said.stderr}')
            ktap.result(f'equal to live: {name}{" " + " ".join(words) if env else ""}', bad)
        world.end()
        other.end()


def changed_meanwhile():
    """A recording has the files that were counted with, whatever became of them before the first interval."""
    world = World()
    path, own, env = f'{world.dir}/r', f'{world.dir}/m/own.metric', {'PERF_METRICS_PATH': f'{world.dir}/m'}.items()
    text = 'group own\nmetric own\nevent a xeon7500_mbox/bbox_cmds.reads/\nformula a * 64\n'
    for name, harm in (('changed', f'open({own!r}, "w").write({text.replace("64", "128")!r})'), ('deleted', f'os.unlink({own!r})')):
        write(own, text)
        write(f'{world.dir}/m/topology', 'limit memory 1e10\n')
        world.play(STREAM)
        live = world.run('own', '-I', '250', '--summary', '--', 'true', env=env)
        world.play(STREAM.replace('ready()\n', f'ready()\nos.unlink(WORLD + "/m/topology")\n{harm}\n'))
        bad = record(world, path, 'own', '--', 'true', env=env)
        said = world.run('report', path, '-I', '250', '--summary')
        header = json.loads((read(path) or '{}').split('\n')[0])
        ktap.result(f'a metric file is {name} while it counts', bad + list(ended(said, 0)) + (
            [] if said.stdout == live.stdout and header['topology']['text'] == 'limit memory 1e10\n' else [live.stdout, said.stdout, header]))
    world.end()


def small():
    """A rate that is not 0 is not shown as 0: once, and three times, in 7 half days."""
    world = World()
    page = f'{world.dir}/p.html'
    bad = []
    for much in 1, 3:
        world.play('ready()\n' + ''.join(f'say(lines(lambda p, t, c: 0 if c else {much}, lambda p, c: {43200 + i}, interval={43200 * i}))\n'
                                        for i in range(1, 8)) + f'say(lines(lambda p, t, c: 0 if c else {much}, lambda p, c: 129600))\n')
        bad += ended(world.run('record', '-o', f'{world.dir}/{much}', '-I', '43200000', 'fatal_error_rate', '--', 'true'), 0)
    said = world.run('diff', f'{world.dir}/1', f'{world.dir}/3').stdout
    bad += [] if re.search(r'fatal_error_rate +7\.72e-06 ±.* 2\.31e-05 ±.* /s +\+200\.0 %', said) else [said]
    world.run('report', f'{world.dir}/1', '--html', page)
    bad += [] if '>7.72e-06 /s</td>' in (read(page) or '') else re.findall('<tr><td>machine.*', read(page) or '')
    ktap.result('a small rate is not 0', bad)
    world.end()


def maps():
    """The map of a recording is that of the machine, with the topology of the time."""
    for packages, topology in (2, 'two'), (4, 'four'), (8, 'eight'):
        world = World(packages=packages)
        for field in 'match_mc', 'mask_mc', 'match_dnid', 'mask_dnid':
            for i in 0, 1:
                write(f'{world.devices}/xeon7500_rbox_{i}/format/{field}', 'config1:0-7\n')
                write(f'{world.devices}/xeon7500_rbox_{i}/events/xbar_mm', 'event=0x20\n')
        other, nothing = elsewhere()
        path, topology = f'{other.dir}/r', f'{TOP}/metrics/{topology}.topology'
        os.environ['SOURCE_DATE_EPOCH'] = '1764189261'
        world.play(STREAM)
        bad = []
        for form in [], ['-o', f'{other.dir}/m.svg'], ['--matrix'], ['--matrix', '-o', f'{other.dir}/m.svg']:
            bad += record(world, path, '--topology', topology, *[word for word in form if word == '--matrix'], '--', 'true')
            live = world.run('map', '-I', '250', '--summary', '--topology', topology, *form, '--', 'true')
            live = read(form[-1]) if '-o' in form else live.stdout
            said = other.run('report', path, 'map', '-I', '250', '--summary', *form, env=nothing)
            said = read(form[-1]) if '-o' in form else said.stdout
            bad += [] if live == said and len(live) > 1000 else [f'{form}: live\n{live}\nreported\n{said}']
            bad += [] if ('ome requests/s' in said) == ('--matrix' in form) else [f'{form}: {said}']
        del os.environ['SOURCE_DATE_EPOCH']
        lines = [json.loads(line) for line in read(path).splitlines()]
        when = time.strftime('%F %T +0000', time.gmtime(lines[0]['start'] + lines[-2]['time']))
        said = other.run('report', path, 'map', '--host', env=[*nothing, ('TZ', 'UTC')]).stdout
        bad += [] if f'{os.uname().nodename}  {when}' in said.replace('\n', '  ') else [f'{when}: {said}']
        page = f'{other.dir}/p.html'
        bad += ended(other.run('report', path, '--matrix', '--html', page, env=nothing), 0)
        bad += [] if 'Who talks to whom' in read(page) else ['the page has no matrix']
        said = other.run('report', path, 'map', '--topology', '/nowhere', env=nothing)
        bad += ended(said, 2, '')
        ktap.result(f'the map of {packages} packages', bad)
        world.end()
        other.end()
    world = World()
    bad = record(world, f'{world.dir}/r', 'memory', '--', 'true')
    bad += ended(world.run('report', f'{world.dir}/r', 'map'), 2, 'has no .*, which the map is of')
    bad += ended(world.run('report', f'{world.dir}/r', 'map', 'memory'), 2, "so 'memory' is too much")
    ktap.result('no map of a recording that has not all of it', bad)
    write(f'{world.dir}/t', 'limit memory fast\n')
    for name, file, wanted in (('none', '/nope', r'\A/nope: No such file or directory\n\Z'),
                               ('a wrong one', f'{world.dir}/t', r"\A.*/t:1: 'fast' is no limit.*\n.*/t: 1 line is wrong\n\Z")):
        bad = []
        for ask in ['memory'], ['report', f'{world.dir}/r'], ['report', f'{world.dir}/r', 'why'], ['record', '-o', f'{world.dir}/x']:
            table = ask[-1] not in ('why', f'{world.dir}/x')
            for form in [[]] + table * [['--per-box', '--openmetrics', f'{world.dir}/x']] + (
                    table and 'report' in ask) * [['--html', f'{world.dir}/x']]:
                done = world.run(*ask, *form, '--topology', file, *([] if 'report' in ask else ['--', 'true']))
                bad += [*ended(done, 2, wanted, lines=2), *([done.stdout] if done.stdout else [])]
        ktap.result(f'a topology file of the options: {name}', bad + (['a file'] if os.path.exists(f'{world.dir}/x') else []))
    world.end()


def odd_maps():
    """What a recording or the environment has in it draws a map, and no more than that."""
    world = World()
    world.play(STREAM)
    path, picture = f'{world.dir}/r', f'{world.dir}/m.svg'
    bad = record(world, path, 'memory', *MAP, '--', 'true')
    lines = [json.loads(line) for line in read(path).splitlines()]
    lines[0]['topology'] = {'path': 't', 'text': 'limit memory 1e10\n'}
    for file in lines[0]['files']:
        file['text'] = re.sub(r'(?m)^\s(limit|plausible) [-\d].*\n', '', file['text'])
    for power in [*range(17, 50), 200]:
        for line in lines[1:]:
            line['counts'] = [[one and [10. ** power, 1., 1.] for one in of] for of in line['counts']]
        write(path, ''.join(json.dumps(line) + '\n' for line in lines))
        for width in '20', '80', '200':
            done = world.run('report', path, 'map', env={'COLUMNS': width}.items())
            bad += ended(done, 0, r'\A\Z')
            bad += [] if power < 30 or '>999E' in done.stdout else [done.stdout]
    ktap.result('a map of huge numbers', bad)
    text = [file['text'] for file in lines[0]['files']]
    for file in lines[0]['files']:
        file['text'] = re.sub(r'(?m)^(\sformula) (.*)$', r'\1 0 - (\2)', file['text'])
    write(path, ''.join(json.dumps(line) + '\n' for line in lines))
    bad = []
    for width in '20', '80', '200':
        done = world.run('report', path, 'map', env={'COLUMNS': width}.items())
        bad += [*ended(done, 0, r'\A\Z'), *([] if '>-999' in done.stdout else [done.stdout])]
    ktap.result('a map of huge negative numbers', bad)
    for file, before in zip(lines[0]['files'], text):
        file['text'] = before
    bad = []
    for host, shown in ('a' + '<' * 60, 'a' + '<' * 39), ('a' + 'é' * 60, 'a' + 'é' * 19), ('a&b', 'a&b'):
        lines[0]['machine']['host'] = host
        write(path, ''.join(json.dumps(line) + '\n' for line in lines))
        bad += ended(world.run('report', path, 'map', '--host', '-o', picture), 0)
        title = xml.etree.ElementTree.parse(picture).find('.//{*}text').text
        bad += [] if title == f'perf metrics map: {shown}' else [title]
    ktap.result('a picture is XML whatever the host is called', bad)
    said = world.run('report', path, 'map', env={'SOURCE_DATE_EPOCH': '9' * 17}.items())
    ktap.result('SOURCE_DATE_EPOCH in no year', [*ended(said, 0, r'\A\Z'), *re.findall(r'.*[-+]\d{4}\b.*', said.stdout)])
    said = world.run('report', path, 'map', env={'COLUMNS': '999999999'}.items())
    ktap.result('COLUMNS of 999999999', list(ended(said, 0)) + ([] if len(said.stdout) < 50000 else [len(said.stdout)]))
    world.end()


def together():
    """Longer intervals, and a recording without end, are what perf would have counted: integers add up exactly."""
    world = World()
    counts = [[r.randrange(1, 1 << 40) for r in [random.Random(i)] for _ in range(6)] for i in range(200)]

    def play(groups, more=''):
        world.play(f'COUNTS = {counts!r}\nseen = {{}}\ndef count(p, t, c):\n    if "package" in p:\n        return len(GROUP) * 25e7\n'
                   '    i = seen.setdefault((p, t, c), len(seen))\n    return sum(COUNTS[i][n] for n in GROUP)\n'
                   f'ready()\nfor GROUP in {groups!r}:\n    say(lines(count, lambda p, c: len(GROUP) / 4, '
                   f'interval=(GROUP[-1] + 1) / 4))\n{more}')
    play([[n] for n in range(6)], 'os._exit(0)\n')
    bad = record(world, f'{world.dir}/r', 'memory', 'llc_miss_rate', status=0)
    for ms, groups in (500, [[0, 1], [2, 3], [4, 5]]), (1000, [[0, 1, 2, 3], [4, 5]]):
        play(groups, 'os._exit(0)\n')
        live = world.run('memory', 'llc_miss_rate', '-I', str(ms), '--json', '--per-box')
        said = world.run('report', f'{world.dir}/r', '-I', str(ms), '--json', '--per-box')
        bad += [] if live.stdout == said.stdout and live.stdout else [live.stdout, said.stdout]
    play([list(range(6))], 'os._exit(0)\n')
    live = world.run('memory', 'llc_miss_rate', '-I', '1500', '--csv').stdout
    said = world.run('report', f'{world.dir}/r', '--csv').stdout
    if re.sub('(?m)^(1.5[0-9]*|time),', '', live) != said:
        bad += [live, said]
    bad += ended(world.run('report', f'{world.dir}/r', '-I', '300'), 2, 'is no multiple', lines=2)
    ktap.result('intervals together', bad)
    world.end()


def headers():
    """A recording says when it began and what was asked for, and has no more counts than there are."""
    world = World()
    path = f'{world.dir}/r'
    world.play('ready()\nsay(lines(interval=1000))\nos._exit(0)\n')
    begin = time.time()
    bad = record(world, path, 'memory', 'llc_miss_rate')
    lines = [json.loads(line) for line in read(path).splitlines()]
    bad += [] if 0 <= lines[0]['start'] + 1000 - begin <= time.time() - begin else [lines[0]['start'] - begin]
    ktap.result('a recording has its start', bad)
    ktap.result('it has a count for each package, and not for each CPU', [] if {len(one) for one in lines[1]['counts']} == {2} else lines[1:])
    world.play(STREAM)
    bad = record(world, path, 'memory', 'llc_miss_rate', '--', 'true', 'one', 'two')
    for names in ['llc_miss_rate'], ['memory']:
        got = {row['metric'] for row in csv.DictReader(io.StringIO(world.run('report', path, *names, '--csv').stdout))}
        bad += [] if names[0] == 'memory' and len(got) == 4 and all(one.startswith('memory_') for one in got) or got == set(names) else [got]
    for name, wanted in ('qpi', 'r has no qpi\n'), ('llc_misses', "no metric or group 'llc_misses'"):
        bad += ended(world.run('report', path, name), 2, wanted)
    ktap.result('report of some of what was recorded', bad)
    said = world.run('diff', path, path).stdout.split('\n')[0]
    ktap.result('its command', [] if said == f'A  {path}, 5 intervals, 1.250 s: true one two' else [said])
    ktap.result('a matrix of metrics that are named', ended(
        world.run('record', '-o', path, 'memory', '--matrix', '--', 'true'), 2, '--matrix is of the map'))
    world.play('ready()\nuntil_told()\nsay(lines(lambda *a: "<not counted>"))\n')
    ktap.result('status 1 of a recording without a count', record(world, path, 'memory', '--', 'true', status=1))
    world.end()


# ---- a recording that ends ----

def cut():
    """At each byte: what is whole is there, and it is said that there is no more."""
    world = World()
    world.play(STREAM)
    path, short = f'{world.dir}/r', f'{world.dir}/short'
    bad = record(world, path, 'memory_read_bandwidth', '--', 'true')
    with open(path, 'rb') as f:
        data = f.read()
    whole = world.run('report', path, '-I', '250', '--csv').stdout.splitlines()
    ends = [i + 1 for i, byte in enumerate(data) if byte == 10]
    for at in sorted({*range(1, ends[0], 997), *ends, *[e - 1 for e in ends], *range(ends[-3], ends[-2], 7)}):
        with open(short, 'wb') as f:
            f.write(data[:at])
        said = world.run('report', short, '-I', '250', '--csv')
        lines = sum(e <= at for e in ends) - 1
        if lines < 1:
            bad += list(ended(said, 2, 'this is no recording|nothing was recorded'))
        elif at < len(data):
            bad += list(ended(said, 0, f'ends (in a line|without its last line) after {min(lines, 5)} whole interval{"s" * (lines > 1)},'))
            bad += [] if said.stdout.splitlines() == whole[:1 + min(lines, 5)] else [said.stdout]
    ktap.result('cut at any byte', bad)
    for name, more in ('zeros', b'\0' * 500), ('half a line', b'{"time":'):
        with open(short, 'wb') as f:
            f.write(data[:ends[3]] + more)
        said = world.run('report', short, '-I', '250', '--csv')
        ktap.result(f'cut, and then {name}', list(ended(said, 0, 'in a line after 3 whole')) +
                    ([] if said.stdout.splitlines() == whole[:4] else [said.stdout]))
        with open(short, 'wb') as f:
            f.write(data + more)
        said = world.run('report', short, '-I', '250', '--csv')
        ktap.result(f'whole, and then {name}', list(ended(said, 0, 'in a line after 5 whole')) +
                    ([] if said.stdout.splitlines() == whole else [said.stdout]))
    world.end()


def killed():
    """By signals, by a full disk; and while it goes on."""
    world = World()
    path = f'{world.dir}/r'
    for sig, wanted, status in ((signal.SIGKILL, 'without its last line after 3 whole', 0), (signal.SIGINT, r'\A\Z', 0),
                                (signal.SIGTERM, r'\A\Z', 0)):
        world.play(f'ready()\nfor i in 1, 2, 3:\n    say(lines(interval=i / 4))\nopen("{world.dir}/on", "w")\nuntil_told()\n'
                   'sys.stderr = open(os.devnull, "w")\nsay(lines(interval=0.9))\nsay(lines())\n')
        child = world.start('record', '-o', path, '-I', '250', 'memory')
        end = time.monotonic() + 60
        while time.monotonic() < end and (not os.path.exists(f'{world.dir}/on') or (read(path) or '').count('\n') < 4):
            time.sleep(0.01)
        os.unlink(f'{world.dir}/on')
        bad = list(ended(world.run('report', path), 0, 'without its last line after 3 whole intervals'))
        child.send_signal(sig)
        bad += [] if child.wait() == -sig else [f'status {child.returncode}']
        said = world.run('report', path, '-I', '250', '--csv')
        bad += list(ended(said, status, wanted))
        if len(set(re.findall(r'(?m)^[\d.]+', said.stdout))) != (3 if sig == signal.SIGKILL else 4):
            bad.append(said.stdout)
        ktap.result(f'{sig.name}', bad)
        os.unlink(path)
    world.play('ready()\nfor i in 1, 2, 3:\n    say(lines(interval=i / 4))\nsay(lines()[:9])\nos.kill(os.getpid(), 9)\n')
    bad = record(world, path, 'memory', status=3)
    ktap.result('perf dies while it prints the whole time', bad + list(ended(
        world.run('report', path, '--csv'), 0, 'without its last line after 3 whole')))
    world.play(STREAM)
    bad = record(world, path, 'memory', '--', 'true')
    size = os.path.getsize(path)

    def no_room():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size - 600, size - 600))
    bad += record(world, path, 'memory', '--', 'true', status=3, preexec_fn=no_room)
    bad += ended(world.run('report', path), 0, 'in a line after')
    ktap.result('a disk that is full in the middle', bad)
    write(path, 'old')
    bad = record(world, path, 'memory', '--', 'true', status=3, env={'FAKE_ERRNO': '*:13'}.items())
    world.play('sys.exit(5)\n')
    bad += record(world, path, 'memory', '--', 'true', status=3)
    bad += [] if read(path) == 'old' else ['the old file is gone']
    os.symlink(path, f'{world.dir}/link')
    world.play(STREAM)
    bad += record(world, f'{world.dir}/link', 'memory', '--', 'true', status=3)
    ktap.result('the old recording stays where nothing is counted', bad + ([] if read(path) == 'old' else ['it is gone']))
    for name, harm in ('deleted', 'os.unlink(PATH)'), ('replaced', 'os.rename(PATH + ".new", PATH)'):
        os.unlink(path)
        write(f'{path}.new', 'other')
        world.play(f'PATH = {path!r}\n' + STREAM.replace('    all_of(0.25', f'''    if i == 3:
        while not os.path.exists(PATH):
            time.sleep(0.01)
        {harm}
    all_of(0.25'''))
        bad = record(world, path, 'memory', '--', 'true', status=3)
        done = world.run('record', '-o', path, '-I', '250', 'memory', '--', 'true') if name == 'deleted' else None
        bad += ended(done, 3, f'{path}: another program has replaced or deleted it') if done else []
        bad += [] if read(path) == (None if name == 'deleted' else 'other') else [read(path)]
        write(path, '')
        ktap.result(f'a recording that is {name} meanwhile', bad)
    world.play(STREAM)
    os.unlink(path)
    bad = record(world, path, 'memory', '--', 'true', umask=0o077)
    bad += [] if os.stat(path).st_mode & 0o777 == 0o600 else ['others can read it']
    ktap.result('the umask of a recording', bad)
    world.end()


def damaged():
    """One line of what is wrong, and no output."""
    world = World()
    world.play(STREAM)
    path, other = f'{world.dir}/r', f'{world.dir}/other'
    bad = record(world, path, 'memory', 'llc_miss_rate', '--', 'true')
    lines = [json.loads(line) for line in read(path).splitlines()]

    def changed(line, change):
        new = json.loads(json.dumps(lines))
        change(new[line])
        return ''.join(json.dumps(one) + '\n' for one in new)

    def to(*keys, value):
        def change(one):
            for key in keys[:-1]:
                one = one[key]
            one[keys[-1]] = value
        return change

    first = 'counters', 0
    cases = {
        'a newer format': (changed(0, to('perf_metrics_record', value=2)), r'its format is 2, .* up to 1: take a newer'),
        'a format of 2^40': (changed(0, to('perf_metrics_record', value=1 << 40)), 'its format is 1099511627776, '),
        'no format': (changed(0, to('perf_metrics_record', value='x')), 'this is no recording'),
        'another file': (ODD, 'this is no recording'),
        'nothing': ('', 'this is no recording'),
        'a header alone': (json.dumps(lines[0]) + '\n', 'nothing was recorded'),
        'too many CPUs': (changed(0, to('machine', 'package', value=[0] * 8193)), 'r:1: .* its CPUs'),
        'counters of too many CPUs': (changed(0, lambda one: (to('machine', 'package', value=[0] * 8192)(one), one['counters'].extend(
            one['counters'][:1] * 1024))), 'r:1: .* its counters'),
        'a package that is none': (changed(0, to('machine', 'package', value=[0, 256])), 'r:1: .* its packages'),
        'a package that is no number': (changed(0, to('machine', 'package', value=[0, 'x'])), 'r:1: .* its packages'),
        'no machine': (changed(0, to('machine', value=7)), 'r:1: .* its machine'),
        'a PMU without a name': (changed(0, to('machine', 'pmus', 0, value={})), 'r:1: .* its PMUs'),
        'a topology that is no file': (changed(0, to('topology', value=7)), 'r:1: .* its topology file'),
        'a counter without events': (changed(0, to(*first, value={})), 'r:1: .* its counters'),
        'a counter of no PMU': (changed(0, to(*first, 'pmu', value='x')), 'r:1: .* PMU of a counter'),
        'a metric of no counter': (changed(0, to('metrics', 0, 'cells', 0, 'events', 0, 0, 0, value=999)),
                                   'r:1: .* counters of a metric'),
        'an event of no counter': (changed(0, to('metrics', 0, 'cells', 0, 'events', 0, 0, value=[])), 'r:1: .* counters of a metric'),
        'a place without events': (changed(0, to('metrics', 0, 'cells', 0, 'events', value=[])), 'r:1: .* the events of a metric'),
        'a metric without a name': (changed(0, to('metrics', 0, value={})), 'r:1: .* its metrics'),
        'a metric that is not there': (changed(0, to('metrics', 0, 'name', value='x')), 'r:1: .* no file of it has'),
        'a metric without places': (changed(0, to('metrics', 0, 'cells', value=[])), 'r:1: .* places of a metric'),
        'no interval': (changed(0, to('interval', value=0)), 'r:1: .* first line'),
        'an interval of 2^32 + 1': (changed(0, to('interval', value=(1 << 32) + 1)), 'r:1: .* first line'),
        'a counter of 2^32': (changed(0, to('metrics', 0, 'cells', 0, 'events', 0, 0, 0, value=1 << 32)),
                              'r:1: .* counters of a metric'),
        'a place of several lines': (changed(0, to('metrics', 0, 'cells', 0, 'name', value='x\nnode_forged_total 666\ny')),
                                     'r:1: .* name of a place'),
        'a place of several fields': (changed(0, to('metrics', 0, 'cells', 0, 'name', value='x,y')), 'r:1: .* name of a place'),
        'a place without name': (changed(0, to('metrics', 0, 'cells', 0, 'name', value='')), 'r:1: .* name of a place'),
        'a start in no year': (changed(0, to('start', value=1e300)), 'r:1: .* first line'),
        'a start before 1970': (changed(0, to('start', value=-1e18)), 'r:1: .* first line'),
        'a colour for the terminal': (changed(0, to('machine', 'name', value='\033[31m')), 'this is no recording'),
        'a colour in the command': (changed(0, to('command', 0, value='\033[31m')), 'this is no recording'),
        'a negative count': (changed(2, to('counts', 1, 0, value=[-1.0, 1.0, 1.0])), 'r:3: .*this line'),
        'a share above 1': (changed(2, to('counts', 1, 0, value=[1.0, 1.0, 1.02])), 'r:3: .*this line'),
        'a share of 0': (changed(2, to('counts', 1, 0, value=[1.0, 1.0, 0.0])), 'r:3: .*this line'),
        'a count of no time': (changed(2, to('counts', 1, 0, value=[1.0, 0.0, 1.0])), 'r:3: .*this line'),
        'a count of four numbers': (changed(2, to('counts', 1, 0, value=[1.0, 1.0, 1.0, 1.0])), 'r:3: .*this line'),
        'too few counters': (changed(3, to('counts', value=[])), 'r:4: .*this line'),
        'too many counters': (changed(3, lambda one: one['counts'].append([])), 'r:4: .*this line'),
        'too many readings': (changed(3, to('counts', 0, value=[None] * 50)), 'r:4: .*this line'),
        'time that goes back': (changed(4, to('time', value=0.1)), 'r:5: .*this line'),
        'an interval of no time': (changed(1, to('time', value=1e-300)), 'r:2: .*this line'),
        'a time in no year': (changed(5, to('time', value=1e300)), 'r:6: .*this line'),
        'two times': (read(path).replace('{"time":0.75', '{"time":0.7,"time":0.75'), 'r:4: .*this line'),
        'two bad lines': (read(path).replace('{"time":0.75', '{"time":-1.0').replace('{"time":1.0', '{"time":,'), 'r:4: .*this line'),
        'no JSON in the middle': (read(path).replace('{"time":0.75', '{"time":,0.75'), 'r:4: .*this line'),
        'more after the end': (read(path) + read(path).splitlines()[-1] + '\n', 'r:8: .*this line'),
    }
    for name, (text, wanted) in cases.items():
        write(other.replace('other', 'r'), text)
        said = world.run('report', path)
        ktap.result(f'refused: {name}', bad + list(ended(said, 2, wanted)) + ([said.stdout] if said.stdout else []))
        bad = []
    for name, more, wanted in (('rules', '\nrule r\nvalue a x\nif a\nshare a\nsays x\n', "there is no metric 'x'\n"),
                               ('metric files', '\nrule r\nx\n', "'x' is nothing a rule has\n")):
        write(path, changed(0, lambda one: one['files'][0].update(text=one['files'][0]['text'] + more)))
        ktap.result(f'refused: wrong {name}', list(ended(world.run('report', path), 2, f'{wanted}.*r:1: .* in its {name}\n', lines=2)))
    write(path, changed(0, to(*first, 'pass', value=2 ** 31 - 1)))
    write(other, read(path).replace(f', "pass": {2 ** 31 - 1}, "gate": {lines[0]["counters"][0]["gate"]}', '', 1))
    said = world.run('report', path), world.run('report', other)
    write(other, '\n'.join(json.dumps(one) for one in [lines[0], {**lines[4], 'time': 1}, {**lines[5], 'time': 2}, lines[6]]) + '\n')
    write(path, read(other).replace('"time": 1', '"time": 1.0').replace('"time": 2', '"time": 2.0'))
    ask = '-I', '500', '--summary', '--csv'
    whole = world.run('report', path, *ask)
    ktap.result('a time may be a whole number', [] if read(path) != read(other) and '\n2.000000000,' in whole.stdout and
                world.run('report', other, *ask).stdout == whole.stdout else [whole, world.run('report', other, *ask)])
    write(other, changed(0, to('machine', 'package', value=[0, 0, 1, 1] + [-1] * 8188)))
    ktap.result('8,192 CPUs are not too many', [] if world.run('report', other).stdout == said[0].stdout else [world.run('report', other)])
    ktap.result('the pass of a counter does not matter', list(ended(said[0], 0)) + list(ended(said[1], 0)) + (
        [] if said[0].stdout == said[1].stdout and read(path) != read(other) else said))
    write(path, changed(0, lambda one: one['files'].extend([{'path': name, 'text': PLAIN} for name in ('d/m', 'd')])))
    ktap.result('a metric of a file that is named as a directory of another', ended(world.run('report', path), 0))
    seed = random.randrange(1 << 32)
    print(f'# seed {seed}')
    draw = random.Random(seed)
    good = ''.join(json.dumps(one) + '\n' for one in lines).encode()
    for _ in range(60):
        data = bytearray(good)
        for _ in range(draw.choice((1, 3, 30))):
            at = draw.randrange(len(data))
            data[at:at + draw.choice((0, 1, 5))] = draw.choice((b'', b'0', b'9', b'[', b'"', b'null', bytes([draw.randrange(256)])))
        with open(path, 'wb') as f:
            f.write(data)
        said = world.run('report', path, '--per-box', '--csv')
        if said.returncode not in (0, 1, 2) or 'Sanitizer' in said.stderr or 'runtime error' in said.stderr:
            bad.append(f'{said.returncode} {said.stderr[-1500:]}')
    ktap.result('random damage', bad)
    world.end()


# ---- diff ----

PLAIN = 'group g\nmetric m\n\tevent a xeon7500_wbox/uncore_clock/\n\tformula a / seconds\n'
SHARE = PLAIN.replace('metric m', 'metric share').replace('formula a / seconds', 'event b xeon7500_wbox/prochot/\n\tformula 100 * a / (a + b)')


class Values:
    """Recordings of a metric that has these values, or of several of them: m, m1, m2, ..."""

    def __init__(self):
        self.world = World(packages=1)
        write(f'{self.world.dir}/m/m.metric', PLAIN)
        self.env = {'PERF_METRICS_PATH': f'{self.world.dir}/m'}.items()
        self.world.play('ready()\nsay(lines(interval=1))\nos._exit(0)\n')
        self.bad = record(self.world, f'{self.world.dir}/template', 'm', env=self.env)
        self.header = json.loads(read(f'{self.world.dir}/template').splitlines()[0])

    def put(self, name, values, change=lambda header: None):
        """A recording, and where it is; an interval has a value, or one of each metric."""
        rows = [value if isinstance(value, (list, tuple)) else [value] for value in values]
        header = json.loads(json.dumps(self.header))
        header['interval'] = 1000
        header['counters'] *= len(rows[0])
        for i in range(1, len(rows[0])):
            header['files'][0]['text'] += PLAIN.split('\n', 1)[1].replace('metric m', f'metric m{i}')
            header['metrics'].append({'name': f'm{i}', 'cells': [{'events': [[[i]]]}]})
        change(header)
        path = f'{self.world.dir}/{name}'
        there = [[value for value in column if value >= 0] for column in zip(*rows)]
        with open(path, 'w', encoding='utf-8') as f:
            for line in [header] + [{'time': i + 1.0, 'counts': [[[value, 1.0, 1.0] if value >= 0 else 'not now'] for value in row]}
                                    for i, row in enumerate(rows)] + [
                    {'time': None, 'counts': [[[sum(column), float(len(column)), 1.0] if column else 'not now']
                                              for column in there]}]:
                f.write(json.dumps(line) + '\n')
        return path

    def diff(self, a, b, *args):
        """What it says."""
        return self.world.run('diff', a, b, *args, env={'PERF_METRICS_PATH': '/nowhere'}.items())

    def judge(self, a, b):
        """Of two lists."""
        return self.judge_all(a, b)[0]

    def judge_all(self, a, b):
        """Of each metric."""
        return json.loads(self.diff(self.put('a', a), self.put('b', b), '--json').stdout)['changes']


def student(t, df):
    """The p of Student's distribution, both sides, by the midpoint rule."""
    steps = [t * (i + 0.5) / 10000 for i in range(10000)]
    return 1 - sum((1 + x * x / df) ** (-(df + 1) / 2) for x in steps) * t / 10000 * 2 * math.exp(
        math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / math.sqrt(df * math.pi)


def diffs():
    """What was planted is found, and nothing else."""
    values = Values()
    ktap.result('a template', values.bad)
    draw = random.Random(1)
    base = [draw.gauss(1000, 30) for _ in range(60)]
    for name, by, verdict in (('+20 %', 1.2, 'changed'), ('-20 %', 0.8, 'changed'), ('+1 %', 1.01, 'within the spread'),
                              ('-1 %', 0.99, 'within the spread')):
        got = values.judge(base, [by * draw.gauss(1000, 30) for _ in range(60)])
        ktap.result(f'{name} is {verdict}', [] if got['verdict'] == verdict and
                    abs(got['change'] + 1 - by) < 0.02 else [got])
    said = values.diff(values.put('a', base), values.put('b', base))
    ktap.result('equal runs', [] if said.returncode == 0 and 'Nothing has changed: 0 within the spread, 1 equal' in
                said.stdout and 'scope' not in said.stdout else [said.stdout])
    # Two of each: Student's distribution of 2 degrees of freedom; three: of 4; one side without spread: of 1.
    bad = []
    for distance in 1.5, 3, 10, 100, 1e4:
        for pair in ([999, 1001], [1000 + distance] * 2), ([1000 + distance] * 2, [999, 1001]):
            got = values.judge(*pair)
            bad += [] if abs(got['p'] / (1 - 2 / math.pi * math.atan(distance)) - 1) < 1e-6 else [(distance, got['p'])]
        got = values.judge([999, 1001], [999 + distance, 1001 + distance])
        t = distance / math.sqrt(2 * 2 / 2)
        bad += [] if abs(got['p'] / (1 - t / math.sqrt(2 + t * t)) - 1) < 1e-6 else [(distance, got['p'])]
        got = values.judge([999, 1001, 1000], [999 + distance, 1001 + distance, 1000 + distance])
        t = distance / math.sqrt(2 * 1 / 3)
        s = t / math.sqrt(1 + t * t / 4)
        wanted = 1 - 3 / 4 * s * (1 - s * s / 12)
        bad += [] if abs(got['p'] / wanted - 1) < 1e-5 or wanted < 1e-9 else [(distance, got['p'], wanted)]
    ktap.result('p is that of closed forms', bad)
    # A sum of the whole time is so many times that of an interval, and so is its error.
    def total(header):
        header['files'][0]['text'] = PLAIN.replace(' / seconds', '')
    got = json.loads(values.diff(values.put('a', [999, 1001], total), values.put('b', [1009, 1011], total), '--json').stdout)['changes'][0]
    t = 10 / math.sqrt(2 * 2 / 2)
    bad = [] if abs(got['p'] / (1 - t / math.sqrt(2 + t * t)) - 1) < 1e-6 and (got['a'], got['b']) == (2000, 2020) else [got]
    ktap.result('p of a sum', bad)
    # Of many: the normal distribution; 1, -1, ... keeps the mean, and there is no correlation.
    got = values.judge([1000 + 20 * (-1) ** i for i in range(400)], [1004 + 20 * (-1) ** i for i in range(400)])
    wanted = math.erfc(4 / math.sqrt(2 * 400 / 399 * 400 / 400) / math.sqrt(2))
    ktap.result('p of many intervals', [] if abs(got['p'] / wanted - 1) < 1e-6 else [got, wanted])
    # That p is 0.0047: below 1 % / 2, not below 1 % / 3. What is equal counts, what is n/a does not.
    bad = []
    for equal, missing, verdict in (1, 0, 'changed'), (1, 5, 'changed'), (2, 0, 'within the spread'), (20, 0, 'within the spread'):
        a, b = [[[base + 20 * (-1) ** i] + equal * [1000 + i % 2] + missing * [-1] for i in range(400)] for base in (1000, 1004)]
        got = [one for one in values.judge_all(a, b) if one['metric'] == 'm'][0]
        bad += [] if got['verdict'] == verdict and abs(got['p'] / wanted - 1) < 1e-6 else [(equal, missing, got)]
    ktap.result('the limit is that of all that are compared', bad)
    # A drift is one sample, however many intervals it has.
    got = values.judge([1000 + i for i in range(50)], [1010 + i for i in range(50)])
    # It is taken for two samples, whose variance is n (n + 1) / 12, less 1 / n, and twice that by the correlation.
    t = 10 / math.sqrt(2 * 50 * 51 / 12 * 0.98)
    ktap.result('a drift is no change', [] if got['verdict'] == 'within the spread' and
                abs(got['p'] / (1 - t / math.sqrt(2 + t * t)) - 1) < 1e-6 else [got])
    for took, num in (0.4, 3), (0.6, 4):
        path = values.put('a', [999, 1001, 1000])
        lines = read(path).splitlines()
        lines.insert(-1, json.dumps({'time': 3 + took, 'counts': [[[500.0, took, 1.0]]]}))
        write(path, '\n'.join(lines) + '\n')
        got = json.loads(values.diff(path, values.put('b', [999, 1001, 1000]), '--json').stdout)['changes'][0]
        ktap.result(f'a last interval of {took} s', [] if (got['intervals_a'], got['intervals_b'], got['a']) == (num, 3, 1000) else [got])
    # 1, 1, -1, -1, 1, 1, -1, -1: r is 1/8, and 5/16 without its bias; that leaves 88/21 samples.
    wave = [1000 + one for one in 2 * (1, 1, -1, -1)]
    got = values.judge(wave, [one + 2 for one in wave])
    samples = 88 / 21
    df = 2 * (samples - 1)
    t = 2 / math.sqrt(2 * 8 / 7 / samples * (1 - 1 / 8) / (1 - 1 / samples))
    ktap.result('p with correlation', [] if abs(got['p'] / student(t, df) - 1) < 1e-5 else [got, student(t, df)])
    got = values.judge([1000 + 20 * (-1) ** i for i in range(60)], [1008 + 20 * (-1) ** i for i in range(60)])
    wanted = student(8 / math.sqrt(2 * 400 / 59), 118)
    ktap.result('p of 118 degrees of freedom', [] if abs(got['p'] / wanted - 1) < 1e-5 else [got, wanted])
    draw, false = random.Random(3), 0
    for _ in range(100):
        false += values.judge(*[[draw.gauss(1000, 50) for _ in range(draw.randrange(2, 30))] for _ in range(2)]
                              )['verdict'] == 'changed'
    ktap.result('a hundred equal pairs', [] if false <= 5 else [f'{false} are said to have changed'])
    # Equal pairs of a first-order process, a thousand at once; the limits are from another program's 4,000.
    # Their p is below 1 % that often, and with +20 % this often: a spread of 5 %.
    draw = random.Random(11)
    for num, along, most, least in ((5, 0.5, 4, 20), (20, 0, 1, 99), (20, 0.5, 2.2, 60), (20, 0.9, 4.2, 8),
                                    (100, 0, 1.7, 99), (100, 0.9, 1.9, 45)):
        pair, count = [], {}
        for _ in range(2):
            rows = [[draw.gauss(0, 1) for _ in range(1000)]]
            for _ in range(num - 1):
                rows.append([along * one + math.sqrt(1 - along ** 2) * draw.gauss(0, 1) for one in rows[-1]])
            pair.append([[1000 + 50 * one for one in row] for row in rows])
        for by in 1, 1.2:
            got = values.judge_all(pair[0], [[by * one for one in row] for row in pair[1]])
            count[by] = sum((one['p'] is not None and one['p'] < 0.01) for one in got) / 10
            count[by] = count[by] if len(got) == 1000 else 'missing'
        print(f'# {num} intervals, correlation {along}: {count[1]} % false, {count[1.2]} % of +20 % found')
        ktap.result(f'false alarms of {num} intervals with correlation {along}',
                    [] if count[1] <= most and count[1.2] >= least else [count])
    got = values.judge([50, 50], [60, 60])
    bad = [] if got['verdict'] == 'no spread is known' and got['p'] is None else [got]
    got = values.judge([50] * 5, [60] * 5)
    ktap.result('two intervals that are equal have no spread, five have', bad + (
        [] if got['verdict'] == 'changed' and got['p'] == 0 else [got]))
    bad = []
    for pair in ([50] * 4, [60] * 5), ([50] * 5, [60] * 4), ([98765.4321] * 3, [98765.4321 * 1.3] * 3):
        got = values.judge(*pair)
        bad += [] if got['verdict'] == 'no spread is known' and got['p'] is None else [pair, got]
    ktap.result('four intervals that are equal have no spread, nor have those that rounding makes differ', bad)
    got = [values.judge(*pair)['verdict'] for pair in (([1000], [1500]), ([1000, 1001], [1500]), ([1000], [1500, 1501]))]
    said = values.diff(values.put('a', [1000]), values.put('b', [1500])).stdout
    ktap.result('one interval has no spread', [] if got == ['no spread is known'] * 3 and
                re.search(r'(?m)^machine +m +1000\.00 +1500\.00 +\+50\.0 %$', said) and
                '\n0 changed, 1 of unknown spread, 0 within the spread, 0 equal, 0 n/a\n' in said else [got, said])
    got = values.judge([0] * 3, [0] * 3)
    said = values.diff(values.put('a', [0] * 5), values.put('b', [5] * 5)).stdout
    ktap.result('diff of what was 0', [] if (got['verdict'], got['change']) == ('equal', 0) and re.search(
        r'(?m)^machine +m +0\.0000 ±0 +5\.0000 ±0 +from 0$', said) else [got, said])
    # Equal, of a small p, of a smaller one, of a large one, of one interval, n/a in one.
    rows = [[[1000, 1000 + by + one, 1000 + by / 2 + one, 1000 + by / 100 + one, 1000 + by if i == 3 else -1, -1 if by else 1000]
             for i in range(40) for one in [20 * (-1) ** i]] for by in (0, 100)]
    got = values.judge_all(*rows)
    said = values.diff(f'{values.world.dir}/a', f'{values.world.dir}/b')
    heads = [said.stdout.find(head) for head in ('\nChanged,', '\nWithin the spread:', '\nNo spread is known', '\n2 changed, '
                                                 '1 of unknown spread, 1 within the spread, 1 equal, 1 n/a\n')]
    ktap.result('the most certain comes first', [] if [one['metric'] for one in got] == ['m1', 'm2', 'm3', 'm4', 'm', 'm5'] and
                -1 not in heads and heads == sorted(heads) and not said.returncode and got[-1]['change'] is None else [got, said])
    got = values.judge_all([[1000] * 4], [[1500, 2250, 1875, 800]])
    ktap.result('without a spread the largest change comes first', [] if [one['metric'] for one in got] == ['m1', 'm2', 'm', 'm3'] else [got])
    got = values.judge([-1, -1], [1000, 1001])
    said = values.diff(values.put('a', [-1, -1]), values.put('b', [1000, 1001]))
    ktap.result('n/a on one side', [] if got['verdict'] == 'n/a' and said.returncode == 1 and
                'n/a in A, because not now' in said.stdout else [got, said.stdout])
    long = ' '.join(f'word{i}' for i in range(30))
    said = values.diff(*(values.put(name, [one, one], lambda h: h['files'][0].update(text=f'{PLAIN}\tvalid a < 10 : {long}\n'))
                         for name, one in (('a', 1), ('b', 1000)))).stdout
    ktap.result('a long reason is said whole', [] if f'n/a in B, because S0: {long} ' in ' '.join(said.split()) else [said])
    nothing = values.put('a', [-1, -1]), values.put('b', [-1, -1])
    said = values.diff(*nothing)
    ktap.result('nothing to compare', list(ended(said, 1)) + (
        [] if '\nNothing could be compared: 0 within the spread, 0 equal, 1 n/a\n' in said.stdout else [said.stdout]))
    # Busy and idle: the ratio of each half of the intervals says little about that of the whole.
    draw = random.Random(2)

    def phases(name, *kinds):
        return values.put(name, [[draw.uniform(0.95, 1.05) * one for one in kinds[i % len(kinds)]] for i in range(40)], share)

    def share(header):
        header['files'][0]['text'] = SHARE
        header['metrics'] = [{'name': 'share', 'cells': [{'events': [[[0]], [[1]]]}]}]
    for name, a, b, verdict in (
            ('of phases', ((9e6, 1e6), (20, 980)), ((8e6, 2e6), (400, 600)), 'changed'),
            ('of one busy interval', [(9e6, 1e6)] + 39 * [(500, 500)], [(8e6, 2e6)] + 39 * [(500, 500)], 'within the spread')):
        paths = phases('a', *a), phases('b', *b)
        got = json.loads(values.diff(*paths, '--json').stdout)['changes'][0]
        said = [json.loads(values.world.run('report', path, '--json').stdout)['values'][0]['value'] for path in paths]
        bad = [] if got['verdict'] == verdict and got['change'] < -0.1 else [got]
        ktap.result(f'diff says what report says: a ratio {name}', bad + ([] if [got['a'], got['b']] == said else [got, said]))
    for name, change, wanted, status in (
            *((f'another {name}', lambda h, old=old, new=new: h['files'][0].update(text=PLAIN.replace(old, new)),
               'm is defined otherwise in .*/b: it is left out', 1) for name, old, new in (
                   ('formula', 'formula a', 'formula 1 + a'), ('unit', 'metric m\n', 'metric m\n\tunit x\n'),
                   ('condition', 'metric m\n', 'metric m\n\tvalid a > 1 : few\n'), ('scope', 'metric m\n', 'metric m\n\tscope cpu\n'),
                   ('event', 'uncore_clock', 'prochot'), ('reduction', 'event a', 'event a max'))),
            ('another host', lambda h: h['machine'].update(host='x'), 'they differ in host: .* and x', 0),
            ('another CPU', lambda h: h['machine']['package'].append(-1), 'they differ in package\n', 0),
            ('another PMU', lambda h: h['machine']['pmus'].append({'name': 'x', 'core': False, 'cpus': [0]}), 'they differ in pmus\n', 0),
            ('another module', lambda h: h['machine'].update(module='1'), 'they differ in module: .* and 1', 0),
            ('the command alone', lambda h: h.update(command_only=True), 'they differ in command_only\n', 1),
            ('another counter', lambda h: h['counters'][0].update(terms='x'), 'they differ in counters\n', 0),
            ('another machine', lambda h: h['machine'].update(name='Xeon E7'), 'they differ in name: Xeon 7500 and Xeon E7', 0),
            ('another kernel', lambda h: h['machine'].update(kernel='1.0'), 'they differ in kernel: .* and 1.0', 0),
            ('another interval', lambda h: h.update(interval=900), 'they differ in interval: 1000 and 900', 0)):
        said = values.diff(values.put('a', base), values.put('b', [1.2 * one for one in base], change))
        ktap.result(f'diff: {name}', list(ended(said, status, wanted, lines=2 + ('alone' in name))))
    rows = [[9e6, 1e6], [8e6, 2e6]]

    def exchanged(header):
        share(header)
        header['files'][0]['text'] = SHARE.replace('event a', 'event c').replace('event b', 'event a').replace('event c', 'event b')
    said = values.diff(values.put('a', rows, share), values.put('b', rows, exchanged))
    ktap.result('diff: exchanged events', list(ended(said, 1, 'share is defined otherwise', lines=2)))
    said = values.diff(values.put('a', base), values.put('b', base, lambda h: h['files'][0].update(
        text=PLAIN.replace('formula a', 'formula 1 + a'))), '--per-machine', '--per-socket')
    ktap.result('what is left out is said once', list(ended(said, 1, 'left out', lines=2)))
    values.put('b', [1.2 * one for one in base], lambda h: h.update(interval=900))
    said = values.diff(values.put('a', base), f'{values.world.dir}/b', '--per-socket')
    ktap.result('diff of a package', list(ended(said, 0, 'interval')) + ([] if re.search(r'(?m)^S0 +m ', said.stdout) else [said.stdout]))
    said = values.diff(values.put('a', base), values.put('b', base, lambda h: h['metrics'].pop()))
    ktap.result('diff of recordings that have nothing in common', ended(
        said, 1, r'(?s)1 values are in one of the two alone.*no value that both have', lines=3))
    said = values.diff(values.put('a', base), '/nowhere/b')
    ktap.result('diff of no file', list(ended(said, 2, '/nowhere/b: No such file')))
    # A page merges intervals of lines, and not those of its table; and it has all 5,000 metrics.
    rows = [[draw.uniform(1000, 2000)] for _ in range(2500)]
    rows[1234], rows[77] = [9999.0], [1.0]
    page = f'{values.world.dir}/p.html'
    bad = list(ended(values.world.run('report', values.put('a', rows), '--html', page), 0))
    got = Page(read(page))
    table, data = {tuple(cells[:2]): cells for cells in got.cells}, json.loads(got.scripts[0][1])
    bad += [] if table['machine', 'm'][3:5] == ['1.0000 ', '9999.00 '] else [table]
    bad += [] if len(data['times']) == 834 else [len(data['times'])]
    ktap.result('lowest and highest of many intervals', bad)
    said = values.world.run('report', values.put('a', [[1] * 5000]), '--csv', preexec_fn=lambda: resource.setrlimit(
        resource.RLIMIT_CPU, (10, 10)))
    ktap.result('thousands of metrics', list(ended(said, 0)) + ([] if said.stdout.count('\n') == 5001 else [said.stdout[-300:]]))
    values.world.end()


def like_report():
    """Values of a diff are those of report, and of a rate the spread is that of the intervals."""
    world = World(packages=4, absent={('mbox', 1, 2)})
    paths, scopes = [f'{world.dir}/a', f'{world.dir}/b'], ['--per-machine', '--per-socket', '--per-box']
    bad = []
    for path, by in zip(paths, (1, 1.2)):
        world.play(STREAM.replace('count_of(p, t, c) * r.uniform(0.5, 2)', f'count_of(p, t, c) * r.uniform(0.5, {2 * by})'))
        bad += record(world, path, *MAP, 'memory', '--', 'true')
    got = json.loads(world.run('diff', *paths, *scopes, '--json').stdout)['changes']
    some = set()
    for side, path in zip('ab', paths):
        whole = {(one['scope'], one['metric']): one for one in json.loads(world.run('report', path, *scopes, '--json').stdout)['values']}
        each = [json.loads(line) for line in world.run('report', path, '-I', '250', *scopes, '--json').stdout.splitlines()]
        for one in got:
            place = one['scope'], one['metric']
            wanted = whole[place]['value']
            values = [row['value'] for line in each for row in line['values'] if (row['scope'], row['metric']) == place]
            some.add((one['verdict'], wanted is None))
            bad += [] if one[side] == wanted else [(side, one, wanted)]
            if wanted is None or None in values or place[1] not in ('memory_read_bandwidth', 'llc_miss_rate'):
                continue
            spread = statistics.stdev(values)
            bad += [] if len(values) == 5 and abs(one[f'spread_{side}'] / spread - 1) < 1e-6 else [(side, one, values, spread)]
            some.add('spread')
    bad += [] if len(got) > 100 and {('n/a', True), ('within the spread', False), 'spread'} <= some else [len(got), some]
    ktap.result('a diff has the values of report', bad)
    world.end()


# ---- the page ----

class Page(html.parser.HTMLParser):
    """Its scripts, table, and what it would fetch."""

    def __init__(self, text):
        super().__init__()
        self.scripts, self.cells, self.links, self.policy, self.tag, self.style = [], [], [], '', None, ''
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag == 'wbr':
            return
        self.tag = tag
        attrs = dict(attrs)
        self.links += [(tag, key, attrs[key]) for key in attrs if key in ('src', 'href', 'style') or key.startswith('on')]
        if tag == 'script':
            self.scripts.append((attrs, ''))
        if tag == 'tr':
            self.cells.append([])
        if tag == 'td':
            self.cells[-1].append('')
        if tag == 'meta' and 'http-equiv' in attrs:
            self.policy = attrs['content']

    def handle_data(self, data):
        if self.tag == 'script':
            self.scripts[-1] = self.scripts[-1][0], self.scripts[-1][1] + data
        if self.tag == 'style':
            self.style += data
        if self.tag == 'td' and self.cells:
            self.cells[-1][-1] += data

    def handle_endtag(self, tag):
        self.tag = None


def sha(text):
    """As a policy has it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def pages():
    """One file, whatever is in the recording."""
    world = World()
    write(f'{world.dir}/odd/odd.metric', ODD)
    write(f'{world.sys}/devices/system/cpu/cpu7/topology/physical_package_id', '1\n')
    write(f'{world.sys}/devices/system/cpu/online', '0-3,7\n')
    write(f'{world.dir}/online', '0,1,2,3,7')
    world.play(STREAM)
    path, page = f'{world.dir}/r', f'{world.dir}/p.html'
    names = '</script><script>alert(1)</script>', '<!--<script>', '"\'><img src=x onerror=alert(1)>', '\udcff\x1b[31m'
    bad = record(world, path, *MAP, 'odd', '--topology', f'{TOP}/metrics/two.topology', '--', 'true', *names,
                 env={'PERF_METRICS_PATH': f'{TOP}/metrics:{world.dir}/odd'}.items())
    bad += ended(world.run('report', path, '--html', page), 0)
    got = Page(read(page))
    bad += [f'it has {link}' for link in got.links]
    if [attrs.get('type') for attrs, _ in got.scripts] != ['application/json', None]:
        bad.append(f'scripts: {[attrs for attrs, _ in got.scripts]}')
    wanted = f"default-src 'none'; style-src {sha(got.style)} {sha(read(f'{TOP}/tools/metrics/map.css'))}; script-src {sha(got.scripts[-1][1])}; "
    bad += [] if got.policy.startswith(wanted) else [got.policy, wanted]
    ktap.result('a page has one script, and asks for nothing', bad)
    bad = [name for name in ('alert(1)</script>', '<!--<script>', '"\'><img') if name in read(page).split('<style>')[0] or
           name in got.scripts[0][1]]
    ktap.result('names of the command are text', bad)
    data = json.loads(got.scripts[0][1])
    live = list(csv.DictReader(io.StringIO(world.run('report', path, '-I', '250', '--per-socket', '--csv').stdout)))
    bad = []
    for row in live:
        one = [series for metric in data['metrics'] if metric['name'] == row['metric'] for series in metric['series']
               if series['scope'] == row['scope']]
        at = min(range(len(data['times'])), key=lambda i: abs(data['times'][i] - float(row['time'])))
        value = one[0]['values'][at] if len(one) == 1 else 'missing'
        wanted = None if row['value'] == 'n/a' else float(row['value'])
        if value != wanted and (None in (value, wanted) or value == 'missing' or abs(value / wanted - 1) > 1e-8):
            bad.append((row, value))
    some = {row['value'] == 'n/a' for row in live}
    ktap.result('its lines are the values of the intervals', bad + ([] if len(live) > 50 and len(some) == 2 else [live]))
    whole = list(csv.DictReader(io.StringIO(world.run('report', path, '--per-machine', '--per-socket', '--csv').stdout)))
    table = {(cells[0], cells[1]): cells for cells in got.cells if len(cells) > 2}
    bad = [(row, table.get((row['scope'], row['metric']))) for row in whole
           if (row['value'] == 'n/a') != (table.get((row['scope'], row['metric']), [''] * 3)[2] == 'n/a')]
    some = {row['value'] == 'n/a' for row in whole}
    ktap.result('its table has each value', bad + ([] if len(whole) == len(table) and len(some) == 2 else [whole, table]))
    ktap.result('its CPUs are those that are online', [] if ' 2 packages, 5 CPUs<' in read(page) else
                re.findall('<dt>Machine.*', read(page)))
    bad = []
    if [one['time'] for one in data['maps']][:1] != [0] or len(data['maps']) != 6:
        bad.append([one['time'] for one in data['maps']])
    world.run('report', path, 'map', '-o', f'{world.dir}/m.svg')
    bad += [] if data['maps'][0]['svg'] == read(f'{world.dir}/m.svg') else ['the map of the whole is another']
    ktap.result('its maps', bad)
    world.end()


def usage():
    """What a new user sees."""
    world = World()
    os.mkfifo(f'{world.dir}/fifo')
    for args, text in ((['record', 'memory'], 'record needs -o FILE'), (['report'], 'report needs a file'),
                       (['diff', 'a'], 'diff needs two files'), (['report', '/nowhere/r'], '/nowhere/r: No such file'),
                       (['report', '/'], '/: this is no file'), (['report', f'{world.dir}/fifo'], 'fifo: this is no file'), (['report', 'r', '--matrix'], 'are for perf metrics report FILE map'),
                       (['report', 'r', '--html', 'x', '--csv'], 'only one of .*--html'),
                       (['report', 'r', '--html', 'x', '-I', '1000'], '-I is too much'),
                       (['record', '-o', 'r', '--csv', 'memory'], '--csv is not for perf metrics record'),
                       (['record', '-o', 'r', 'memroy'], 'did you mean memory'),
                       (['record', '-o', 'memory', '--', 'true'], 'record -o FILE memory'),
                       (['record', '-o', 'llc_miss_rate', '--', 'true'], 'record -o FILE llc_miss_rate')):
        ktap.result(' '.join(args).replace(world.dir, '...'), ended(world.run(*args), 2, rf'\Aperf metrics: .*{text}.*\n\Z'))
    world.play(STREAM)
    done = world.run('record', '-o', '-', '-I', '250', 'memory', '--', 'true')
    bad = list(ended(done, 0)) + record(world, f'{world.dir}/r', 'memory', '--', 'true')
    bad += [] if done.stdout.splitlines()[1:] == read(f'{world.dir}/r').splitlines()[1:] else [done.stdout[-500:]]
    ktap.result('record to a pipe', bad)
    before = read(f'{world.dir}/r')
    os.link(f'{world.dir}/r', f'{world.dir}/same')
    for args in ['-o', f'{world.dir}/r'], ['--html', f'{world.dir}/r'], ['map', '-o', f'{world.dir}/./r'], [
            '--openmetrics', f'{world.dir}/same']:
        bad = list(ended(world.run('report', f'{world.dir}/r', *args), 2, f'{args[-1]} is the recording itself'))
        ktap.result(f'report to the recording: {args[:-1]}', bad + ([] if read(f'{world.dir}/r') == before else ['it is gone']))
    write(f'{world.dir}/whole', ''.join(line + '\n' for line in before.splitlines() if '"time":0' not in line and '"time":1' not in line))
    bad = list(ended(world.run('report', f'{world.dir}/whole', '-I', '250'), 1, 'whole has no interval, only the whole time'))
    head = world.run('diff', f'{world.dir}/whole', f'{world.dir}/r').stdout.split('\n')[0]
    world.run('report', f'{world.dir}/whole', '--html', f'{world.dir}/whole.html')
    with open(f'{world.dir}/whole.html') as f:
        page = f.read()
    ktap.result('the whole alone has no duration', [] if head.startswith(f'A  {world.dir}/whole, 0 intervals') and
                '.000 s' not in head and '<dd>no whole interval of ' in page else [head])
    got = json.loads(world.run('diff', f'{world.dir}/whole', f'{world.dir}/r', '--json').stdout)['changes']
    bad += [] if {one['verdict'] for one in got} == {'equal'} and len(got) > 3 else [got]
    ktap.result('report and diff of a recording that has only its whole', bad)
    for sig in signal.SIGINT, signal.SIGTERM:
        for what, when in itertools.product(('record', 'table'), ('in a write', 'before the last write')):
            # Never read. As stdout it waits, and what opens it by name does not.
            full = os.open(f'{world.dir}/fifo', os.O_RDWR)
            os.set_blocking(full, False)
            with contextlib.suppress(BlockingIOError):
                while True:
                    os.write(full, b'x' * 4096)
            os.set_blocking(full, True)
            arguments = ['-o', f'{world.dir}/fifo'] if what == 'record' else []
            world.play(f'ready()\nopen("{world.dir}/on", "w")\nuntil_told()\nsay(lines())\n' if 'before' in when else STREAM)
            command = [] if 'before' in when else ['--', 'true']
            with world.start(*['record'][:len(arguments)], *arguments, '-I', '250', 'memory', *command,
                             stdout=full) as stuck:
                if command:
                    time.sleep(1)
                else:
                    wait_for(f'{world.dir}/on')
                    os.unlink(f'{world.dir}/on')
                stuck.send_signal(sig)
                try:
                    bad = [] if stuck.wait(60) == -sig else [stuck.returncode]
                except subprocess.TimeoutExpired:
                    stuck.kill()
                    bad = ['it goes on']
            os.close(full)
            ktap.result(f'{sig.name} {when} ends a {what} whose reader does not read', bad)
    ktap.result('record to no place', ended(world.run('record', '-o', '/nowhere/x', 'memory', '--', 'true'), 3, '/nowhere/x: '))
    world.end()
    world = World(model='06_9e')
    ktap.result('record without names where there is no map', ended(world.run('record', '-o', 'r'), 2, 'needs the names of metrics'))
    world.end()


ktap.result('it is built', fixture.build())
if not ktap.bad:
    for test in equal, changed_meanwhile, small, maps, odd_maps, together, headers, cut, killed, damaged, diffs, like_report, pages, usage:
        test()
sys.exit(ktap.end())
