#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""perf metrics in a world of the test: a sysfs and a perf that play what no machine does when asked.

What perf prints may be broken in any way: a value is right or n/a, and the status says so. The
command is never disturbed, each file and stream that is written can be read by what reads it,
and wrong metric files are refused. The program is built with AddressSanitizer and UBSan.
"""
import csv
import io
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request

HOST = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [f'{HOST}/../lib', f'{HOST}/metrics']
sys.dont_write_bytecode = True
import debian
import fixture
from fixture import PLAY, World, ended, wait_for, write
from ktap import Ktap

TOP = fixture.TOP
FOUND = re.compile(r'AddressSanitizer|runtime error')
ktap = Ktap()


def rows(text):
    """{(scope, metric): value} of CSV; each row has what the header says."""
    table = list(csv.DictReader(io.StringIO(text), strict=True))
    if any(None in row or None in row.values() for row in table):
        raise ValueError('a row of another length')
    return {(row.get('time', ''), row['scope'], row['metric']): row for row in table}


def value(row):
    """Of a row, None for n/a."""
    return None if row['value'] == 'n/a' else float(row['value'])


# ---- streams ----

ASK = 'memory', '--per-socket', '--csv', '--', 'true'
MIDDLE = 'all = lines()\nhalf = len(all) // 2\n'
ALL = 'ready()\nuntil_told()\n' + MIDDLE
# What perf does; the status; how many of the eight values there are (any number, if None).
STREAMS = {
    'whole': (ALL + 'say(all)', 0, 8),
    'without its last end of line': (ALL + 'say(all[:-1])\nsay(all[-1:], "")', 0, 8),
    'truncated in a line': (ALL + 'say(all[:half])\nsay([all[half][:40]], "")', 0, None),
    'truncated between lines': (ALL + 'say(all[:half])', 0, None),
    'empty': (ALL, 3, 0),
    'with NUL': (ALL + 'say([all[0][:30] + "\\0" + all[0][30:]] + all[1:])', 0, None),
    'with NUL behind each line': (ALL + 'say([x + "\\0x" for x in all])', 0, 8),
    'with a huge line first': (ALL + 'say(["x" * 10000000])\nsay(all)', 0, 8),
    'with a huge count': (ALL + 'say([all[0].replace(": \\"", ": \\"" + "9" * 500)] + all[1:])', 0, None),
    'one huge line': (ALL + 'say(b"{" * 3000000)', 3, 0),
    'each line twice': (ALL + 'say([x for x in all for _ in range(2)])', 0, 8),
    'all twice': (ALL + 'say(all + all)', 0, 8),
    'never ending': ('ready()\nwhile True:\n    signal.pause()', 3, 0),
    'never ending, of old lines': (ALL + 'while True:\n    say(all)', 3, None),
    'that never begins': ('while True:\n    signal.pause()', 3, 0),
    'dying before it counts': ('sys.exit(5)', 3, 0),
    'dying in the middle': ('ready()\nos.kill(os.getpid(), signal.SIGKILL)', 3, 0),
    'dying in the middle of its lines': (ALL + 'say(all[:half])\nos.kill(os.getpid(), 9)', 3, None),
    'failing early': ('ready()\nsay(lines())\nos._exit(7)', 3, 8),
    'with newer keys': (ALL + 'say([x[:-1] + ", \\"new\\" : {\\"a\\" : [1, null]}}" for x in all])', 0, 8),
    'with the same key twice': (ALL + 'say([all[0][:-1] + ", \\"cpu\\" : \\"2\\"}"] + all[1:])', 0, None),
    'with commas as decimal points': (ALL + r'comma = r"\1,\2" if os.environ.get("LC_ALL") != "C" else r"\1.\2"'
                                      '\n' r'say([re.sub(r"(\d)\.(\d)", comma, x) for x in all])', 0, 8),
    'with rubbish between': (ALL + 'for x in all:\n    say(bytes(range(128, 255)) + b"\\n{}\\n[]\\nnull\\n")\n'
                             '    say([x])', 0, 8),
    'of unknown events': (ALL + 'say([x.replace("pm", y) for x in all for y in '
                          '("pm9", "pm-", "px", "pm99999999999")] + all)', 0, 8),
    'of counts that are none': (ALL + 'say(lines(lambda p, t, c: "12abc"))', 1, 0),
    'of NaN': (ALL + 'say(lines(lambda p, t, c: "nan"))', 1, 0),
    'of negative counts': (ALL + 'say(lines(lambda p, t, c: "-5"))', 1, 0),
    'not counted': (ALL + 'say(lines(lambda p, t, c: "<not counted>"))', 1, 0),
    'of times that are none': (ALL + 'say(lines(seconds=lambda p, c: -1))', 1, 0),
    'of shares over 100': (ALL + 'say(lines(running=lambda p, c: 500))', 1, 0),
    'in another order': (ALL + 'say(all[::-1])', 0, 8),
    'with CR': (ALL + 'say(all, "\\r\\n")', 0, 8),
    'of CPUs that are not there': (ALL + 'say([re.sub(\'"cpu" : "."\', \'"cpu" : "\' + y + \'"\', x) for x in '
                                   'all for y in ("999999", "-7", "1e300", "")])', 0, None),
    'byte by byte': (ALL + 'for x in "\\n".join(all).encode() + b"\\n":\n    os.write(1, bytes([x]))', 0, 8),
    'in CPUs that have gone': (ALL + 'say([re.sub(\'"cpu" : "2", \', "", x) for x in all])', 0, 8),
    'in other CPUs of the package': (ALL + 'say([x.replace(\'"cpu" : "2"\', \'"cpu" : "3"\') for x in all])', 0, 8),
}


def streams():
    """Each value of each stream is that of the whole one, or n/a."""
    world = World()
    right = {key: value(row) for key, row in rows(world.run(*ASK).stdout).items()}
    # A value is wrong in one stream alone: where the package of a line cannot be known.
    for name, (text, status, wanted) in STREAMS.items():
        world.play(text + '\n')
        done = world.run(*ASK, env={'FAKE_PATIENCE': '500' if 'never' in name else '20000'}.items())
        bad = list(ended(done, status))
        got = {key: value(row) for key, row in rows(done.stdout).items()}
        there = [key for key, number in got.items() if number is not None]
        if name != 'of CPUs that are not there':
            bad += [f'{key}: {got[key]} and not {right[key]}' for key in there if got[key] != right[key]]
        if wanted is not None and len(there) != wanted:
            bad.append(f'{len(there)} values, not {wanted}: {done.stdout}')
        ktap.result(f'a stream {name}', bad)
    world.end()


def intervals():
    """Each once; a line that comes again begins none; the whole at the end has no time."""
    world = World()
    world.play('ready()\nfor i in 1, 2, 3:\n    say(lines(interval=i / 4))\n    say(lines(interval=i / 4)[-1:])\n'
               'say(lines(count=lambda *a: 3 * count_of(*a), seconds=lambda *a: 3))\n')
    done = world.run('memory', '-I', '250', '--summary', '--csv')
    bad = list(ended(done, 0))
    got = [(key[0], row['running']) for key, row in rows(done.stdout).items()
           if key[2] == 'memory_bandwidth']
    if got != [('0.250000000', '100.00'), ('0.500000000', '100.00'), ('0.750000000', '100.00'), ('', '100.00')]:
        bad.append(f'{got}')
    ktap.result('intervals and the whole', bad)
    for ask in 'memory_bandwidth', 'why':
        titles = re.findall(r'(?m)^(?:at .*|whole time)$', world.run(ask, '-I', '250', '--summary').stdout)
        ktap.result(f'each result of {ask} has a title',
                    [] if titles == ['at 0.250 s', 'at 0.500 s', 'at 0.750 s', 'whole time'] else titles)
    world.end()


# ---- beside others ----

def shared():
    """An event that shares its counter has its own time, also beside a gate that was open longer."""
    world, bad = World(), []
    alone = rows(world.run('memory_bandwidth', '--csv', '--', 'true').stdout)['', 'machine', 'memory_bandwidth']
    for share in (0.97, 0.93, 0.91, 0.5, 0.1):
        world.play('SHARE = %f\nready()\nuntil_told()\nof = lambda p: SHARE if "mbox" in p else 1\n'
                   'say(lines(lambda p, t, c: count_of(p, t, c) * of(p), lambda p, c: SECONDS * of(p), '
                   'lambda p, c: 100 * of(p)))\n' % share)
        row = rows(world.run('memory_bandwidth', '--csv', '--', 'true').stdout)['', 'machine', 'memory_bandwidth']
        if abs(value(row) / value(alone) - 1) > 1e-6 or abs(float(row['running']) / 100 - share) > 0.001:
            bad.append(f'{share}: {row} and not {alone}')
    ktap.result('a shared counter beside a gate', bad)
    # What perf takes between the two gates is not another user's doing. Where something is, the
    # gates were open for longer than a busy machine lets perf take.
    bad = []
    for share, seconds, slow, wanted in (
            (0.95, 200, 0, 0.95), (0.91, 200, 0, 0.91), (0.3, 200, 0, 0.3),
            (0.95, 10, 0.6, 1), (0.3, 0.1, 0.1, 1), (0.3, 20, 0.1, 0.3)):
        world.play('SHARE = %f\nT = %f\nready()\nuntil_told()\ntime.sleep(%f)\n'
                   'of = lambda p: 1 if "package" in p else SHARE\n'
                   'say(lines(lambda p, t, c: T * of(p) * count_of(p, t, c), lambda p, c: T * of(p)))\n' %
                   (share, seconds, slow))
        row = rows(world.run('memory_bandwidth', '--csv', '--', 'true').stdout)['', 'machine', 'memory_bandwidth']
        bad += [] if abs(value(row) / value(alone) - 1) < 1e-6 and float(row['running']) == 100 * wanted else [row]
    ktap.result('all counters shared beside a gate', bad)
    world.play('ready()\nof = lambda p: 1 if "package" in p else 0.5\nfor i in 1, 2, 3:\n'
               '    say(lines(lambda *a: 10 * count_of(*a), lambda p, c: 10 * of(p),\n'
               '              lambda p, c: 100 * of(p), interval=10 * i))\n'
               'say(lines(lambda *a: 30 * count_of(*a), lambda p, c: 30 * of(p)))\n')
    got = rows(world.run('memory_bandwidth', '-I', '10000', '--interval-count', '3',
                         '--summary', '--csv').stdout)
    ktap.result('all counters shared in each interval', [] if [row['running'] for row in got.values()] == 4 * ['50.00'] else [got])
    # Nor what it takes between its last interval, when it ends by itself, and the whole.
    world.play('ready()\nsay(lines(interval=1))\nwhile not told and not os.path.exists(WORLD + "/record"):\n    time.sleep(0.01)\n'
               'time.sleep(0.3)\nsay(lines(lambda p, t, c: count_of(p, t, c) * (1.2 if "package" in p else 1)))\n')
    path = f'{world.dir}/record'
    bad = list(ended(world.run('record', '-o', path, '-I', '1000', '--interval-count', '1', 'memory_bandwidth'), 0))
    got = rows(world.run('report', path, '--csv').stdout)
    ktap.result('a slow end behind the last interval', bad + ([] if [row['running'] for row in got.values()] == ['100.00'] else [got]))
    world.end()


def shares():
    """From which time on an event has not been counted all the time, and which results a gate decides."""
    world = World()
    for much, part, wanted in ((1, 0.995, 100), (1, 0.985, 98.5), (0.05, 0.0493, 100), (0.05, 0.0485, 97)):
        world.play(f'ready()\nuntil_told()\nsay(lines(lambda p, t, c: {much} * count_of(p, t, c), '
                   f'lambda p, c: {part} if "mbox" in p else {much}, lambda p, c: 100 * {part} / {much} if "mbox" in p else 100))\n')
        row = rows(world.run('memory_bandwidth', '--csv', '--', 'true').stdout)['', 'machine', 'memory_bandwidth']
        ktap.result(f'{part} s of {much} s are {wanted} %', [] if float(row['running']) == wanted else [row])
    world.play('ready()\nof = lambda part: lambda p, c: part if "mbox" in p else 1\n'
               'for i, part in (1, 0.5), (2, 0.9), (3, 1.1):\n    say(lines(seconds=of(part), interval=i))\n'
               'say(lines(seconds=of(0.25)))\n')
    got = rows(world.run('memory_bandwidth', '-I', '1000', '--summary', '--csv').stdout)
    ktap.result('a gate decides the first interval and the whole', [] if [row['running'] for row in got.values()] == [
        '50.00', '100.00', '100.00', '25.00'] else [got])
    world.end()


def reasons():
    """Why a count is none."""
    world = World()
    not_counted, rubbish = 'its events have not been counted', 'perf printed something else than numbers'
    for name, count, seconds, running, why in (
            ('not supported', '"<not supported>"', 1, 100, 'perf does not support an event of it here'), ('not counted', '"<not counted>"', 1, 100, not_counted),
            ('no time', 5, 0, 100, not_counted), ('no share', 5, 1, 0, not_counted), ('a share of 100.9 %', 5, 1, 100.9, None),
            ('a share of 101 %', 5, 1, 101, rubbish), ('a share below 0', 5, 1, -1, rubbish), ('a time below 0', 5, -1, 100, rubbish),
            ('a count below 0', -1, 1, 100, rubbish), ('a count of 0', 0, 1, 100, None)):
        world.play(ALL.replace('lines()', f'lines(lambda p, t, c: {count}, lambda p, c: {seconds}, lambda p, c: {running})') + 'say(all)')
        row = rows(world.run('memory_read_bandwidth', '--no-gate', '--csv', '--', 'true').stdout)['', 'machine', 'memory_read_bandwidth']
        ktap.result(f'why: {name}', [] if (row['value'] == 'n/a', row['note']) == (bool(why), why or '') and
                    (why or row['running'] == '100.00') else [row])
    world.play(ALL.replace('lines()', 'lines()[1:]') + 'say(all)')
    row = rows(world.run('memory_read_bandwidth', '--per-socket', '--csv', '--', 'true').stdout)
    ktap.result('why: no line of it', [] if 'perf has no count of it: are its CPUs offline?' in [one['note'] for one in row.values()] else [row])
    world.end()


# ---- the command ----

def killed_late(child):
    """What it has said; if it does not end it is killed."""
    try:
        return child.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        child.kill()
        return child.communicate()


def as_long(pid):
    """A command that runs until perf has ended, whose number is in a file: perf is not told to."""
    return 'sh', '-c', f'while kill -0 $(cat {pid}) 2>/dev/null; do sleep 0.1; done'


def children():
    """Signals of perf and of the command, whatever the caller ignores or has left behind."""
    world = World()
    state = "awk '/^(SigBlk|SigIgn)/ { print $2 }' /proc/self/status; set -- $(cat /proc/$$/stat); echo $1 $5"
    bits = {sig: 1 << (sig - 1) for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGTTOU, signal.SIGUSR1)}

    def ignoring(*ignored, blocked=()):
        def set_up():
            for sig in ignored:
                signal.signal(sig, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_BLOCK, blocked)
        return set_up

    os.rename(f'{world.dir}/perf', f'{world.dir}/perf.py')
    write(f'{world.dir}/perf', f'#!/bin/bash\n({state}; echo $LC_ALL) >{world.dir}/state\nexec {sys.executable} "${{0%/*}}/perf.py" "$@"\n')
    os.chmod(f'{world.dir}/perf', 0o755)
    done = world.run('memory', '-o', f'{world.dir}/out', '--', 'bash', '-c', state, env={'FAKE_PATIENCE': '5000'}.items(), preexec_fn=ignoring(
        signal.SIGINT, signal.SIGTERM, blocked=[signal.SIGINT, signal.SIGUSR1]))
    perf, command = (fixture.read(f'{world.dir}/state') or '').split(), done.stdout.split()
    blocked, ignored = ([int(one, 16) for one in side[:2]] for side in (perf, command))
    wrong = [] if not done.returncode else [done]
    ktap.result('signals of perf', wrong + ([] if blocked[0] == bits[signal.SIGUSR1] and blocked[1] & bits[signal.SIGTTOU] and
                                            not blocked[1] & (bits[signal.SIGINT] | bits[signal.SIGTERM]) else [perf]))
    ktap.result('perf has a process group of its own, and the locale C', [] if perf[2] == perf[3] and perf[4:] == ['C'] else [perf])
    ktap.result('signals of the command', [] if ignored[0] == bits[signal.SIGUSR1] | bits[signal.SIGINT] and not
                ignored[1] & (bits[signal.SIGINT] | bits[signal.SIGTERM] | bits[signal.SIGTTOU]) else [command])
    ktap.result('the command is in the group of the program', [] if command[3:] == [str(os.getpgrp())] else [command])
    write(f'{world.dir}/perf', '#!/bin/sh\n"${0%/*}/perf.py" "$@"\nexit $?\n')
    ktap.result('perf is a script', ended(world.run('memory', '--csv', '--', 'true', env={'FAKE_PATIENCE': '5000'}.items()), 0,
                                          'machine,memory_bandwidth,[0-9]', 'stdout'))
    os.rename(f'{world.dir}/perf.py', f'{world.dir}/perf')
    ktap.result('SIGCHLD is ignored by the caller', ended(world.run('memory', '--csv', '--', 'sh', '-c', 'exit 7', preexec_fn=ignoring(
        signal.SIGCHLD)), 7, 'machine,memory_bandwidth,[0-9]', 'stdout'))
    done = subprocess.run(['sh', '-c', f'sleep 0.3 >&- 2>&- & exec {fixture.BUILD}/perf-metrics memory --csv -- sleep 1'], env=world.env(), text=True,
                          capture_output=True, timeout=60, check=False)
    ktap.result('a child that is none of ours ends', ended(done, 0, 'machine,memory_bandwidth,[0-9]', 'stdout'))
    pid = f'{world.dir}/pid'
    tell = f'open("{pid}.new", "w").write(str(os.getpid()))\nos.rename("{pid}.new", "{pid}")\n'
    world.play(f'ready()\n{tell}until_told()\nsay(lines())\n')
    for sig, status in (signal.SIGINT, -signal.SIGINT), (signal.SIGHUP, 0):
        child = world.start('memory', '--csv', stdout=subprocess.PIPE, text=True, preexec_fn=ignoring(sig))
        wait_for(pid)
        child.send_signal(sig)
        if not status:
            time.sleep(0.3)
            os.kill(int(fixture.read(pid)), signal.SIGINT)
        out = killed_late(child)[0]
        os.unlink(pid)
        ktap.result(f'{sig.name} is ignored by the caller', [] if child.returncode == status and 'memory_bandwidth,' in out else
                    [child.returncode, out])
    die = 'signal.signal(signal.SIGINT, signal.SIG_DFL)\nos.kill(os.getpid(), signal.SIGINT)\n'
    for name, text, command, status in (('when it is told', ALL + f'say(all)\n{die}', ['true'], 0),
                                        ('before', f'{tell}ready()\nsay(lines())\n{die}', as_long(pid), 3)):
        world.play(text)
        ktap.result(f'perf ends by SIGINT {name}', ended(world.run('memory', '--csv', '--', *command), status,
                                                         'in the middle, its status is 130' if status else r'\A\Z'))
    world.end()


def patience():
    """perf has its time to begin and to end, and the command as much as it wants."""
    world = World()
    pid = f'{world.dir}/pid'
    world.play(f'open("{pid}", "w").write(str(os.getpid()))\nready()\ntime.sleep(6.5)\nsay(lines())\n')
    ktap.result('a command that takes longer than perf may take to begin', ended(world.run(
        'memory', '--csv', '--', *as_long(pid), env={'FAKE_PATIENCE': '1500'}.items()), 0, 'machine,memory_bandwidth,[0-9]', 'stdout'))
    world.play(f'open("{world.dir}/begun", "w")\nuntil_told()\nready()\ntime.sleep(60)\n')
    child = world.start('memory', stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={'FAKE_PATIENCE': '1500'}.items())
    wait_for(f'{world.dir}/begun')
    child.terminate()
    said = killed_late(child)[1]
    ktap.result('perf begins when it is told to end, and hangs', [] if child.returncode == -signal.SIGTERM and
                'perf stat did not end, and was killed' in said else [child.returncode, said])
    world.end()


def statuses():
    """That of the command, and what is not its."""
    world = World()
    mark, full_file = f'{world.dir}/ran', '/dev/full'
    if not os.getuid():
        # A wrong program would replace that of the machine.
        full_file = f'{world.dir}/full'
        os.mknod(full_file, 0o20666, os.makedev(1, 7))
    for name, args, status, text in (
            ('of the command', ['--', 'sh', '-c', 'exit 7'], 7, ''),
            ('of a command that was killed', ['--', 'sh', '-c', 'kill -9 $$'], 137, ''),
            ('of no such command', ['--', 'no-such-command'], 127, r'\A.*no-such-command: No such file.*\n\Z'),
            ('of a command that cannot be run', ['--', '/etc/passwd'], 126, r'\A.*/etc/passwd: Permission.*\n\Z'),
            ('of no place to write to', ['--openmetrics', '/nowhere/x', '--', 'touch', mark], 3, '/nowhere/x: '),
            ('of a place that is a directory', ['--openmetrics', '/tmp', '--', 'touch', mark], 3, '/tmp: '),
            ('of a full disk', ['--openmetrics', full_file, '--', 'true'], 3, '/full: No space'),
    ):
        done = world.run('memory', *args)
        ktap.result(f'the status {name}', list(ended(done, status, text)) +
                    ([done.stdout] if text and done.stdout else []))
    ktap.result('nothing was run where nothing can be written', [mark] if os.path.exists(mark) else [])
    for form in (), ('--csv',), ('--json',):
        with open('/dev/full', 'w', encoding='utf-8') as full:
            done = subprocess.run([f'{fixture.BUILD}/perf-metrics', 'memory', *form, '--', 'true'], stdout=full,
                                  stderr=subprocess.PIPE, env=world.env(), text=True, timeout=60, check=False)
        ktap.result(f'stdout is full {" ".join(form)}', ended(done, 3, r'\A.*No space left on device\n\Z'))
    done = world.run('list', env={'PERF_METRICS_PATH': '/nowhere'}.items())
    ktap.result('no directory of metrics', ended(done, 2, '/nowhere: No such.*\n.*metric files are wrong'))
    ktap.result('no directories of metrics', ended(world.run('list', env={'PERF_METRICS_PATH': ''}.items()), 2,
                                                     'PERF_METRICS_PATH names no directory'))
    world.play('ready()\n')
    done = world.run('offcore_latency_any_read', '--', 'touch', mark)
    ktap.result('a metric of another machine', list(ended(
        done, 3, r'\A.*it is for Goldmont, Goldmont Plus, and this machine is Xeon 7500\n\Z')) +
        (['it ran'] if os.path.exists(mark) or done.stdout else []))
    world.end()
    world = World(absent={('mbox', i, p) for i in (0, 1) for p in (0, 1)})
    mark = f'{world.dir}/ran'
    done = world.run('memory_read_bandwidth', '--', 'sh', '-c', f'touch {mark}; exit 4')
    ktap.result('the command runs where nothing can be counted', list(ended(
        done, 4, r'no PMU of the name in\n *xeon7500_mbox/', 'stdout')) +
        ([] if os.path.exists(mark) else ['it did not run']))
    world.end()
    world = World(model='06_9e')
    done = world.run('memory', '--', 'true')
    ktap.result('a machine that nobody has metrics for', ended(
        done, 3, r'\A.*for Xeon 7500, Xeon E7, and this machine is Some CPU @ 3 GHz\n\Z'))
    write(f'{world.dir}/m/x.metric', 'group g\nmetric m\nevent a cpu/instructions/\nformula a\n')
    with open(f'{world.dir}/cpuinfo', 'wb') as f:
        f.write(b'model name : \xe4\n')
    env = {'PERF_METRICS_PATH': f'{TOP}/metrics:{world.dir}/m'}.items()
    done = world.run('memory_bandwidth', 'm', '--json', '--', 'true', env=env)
    ktap.result('a machine whose name is no text', [] if len(json.loads(done.stdout)['values']) == 2 else [done])
    ktap.result('a recording of it', list(ended(world.run('record', '-o', f'{world.dir}/r', 'm', '--', 'true', env=env), 0)) +
                list(ended(world.run('report', f'{world.dir}/r'), 0)))
    ktap.result('a map of it', ended(world.run('map'), 3, r'\A.*for Xeon 7500, Xeon E7, and this machine is .*\n\Z'))
    world.end()


def ends():
    """It ends with its command and by signals, and perf with it."""
    world = World()
    done = world.run('memory', '--csv', '--', 'sh', '-c', f'sleep 1000 >&- 2>&- & echo $! >{world.dir}/daemon')
    with open(f'{world.dir}/daemon', encoding='utf-8') as f:
        os.kill(int(f.read()), signal.SIGKILL)
    ktap.result('what the command leaves behind', ended(done, 0, 'machine,memory_bandwidth,[0-9]', 'stdout'))
    for sig in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
        for command in ['--', 'sh', '-c', f'touch {world.dir}/on; exec sleep 1000'], []:
            world.play(f'ready()\nopen("{world.dir}/pid", "w").write(str(os.getpid()))\nuntil_told()\nsay(lines())\n')
            child = world.start('memory', '--csv', *command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True)
            if command:
                wait_for(f'{world.dir}/on')
                os.unlink(f'{world.dir}/on')
            wait_for(f'{world.dir}/pid')
            child.send_signal(sig)
            out = child.communicate(timeout=60)[0]
            bad = [] if child.returncode == -sig and 'memory_bandwidth,' in out else [child.returncode, out]
            with open(f'{world.dir}/pid', encoding='utf-8') as f:
                pid = int(f.read())
            bad += ['perf is there'] if os.path.exists(f'/proc/{pid}') else []
            os.unlink(f'{world.dir}/pid')
            ktap.result(f'{sig.name} {"with" if command else "without"} a command', bad)
    world.play(PLAY)
    child = world.start('memory', '--csv', '--', 'sh', '-c', f'trap "exit 5" TERM; touch {world.dir}/trapped; while :; do sleep 0.1; done',
                        stdout=subprocess.PIPE, text=True)
    wait_for(f'{world.dir}/trapped')
    child.send_signal(signal.SIGTERM)
    out = child.communicate(timeout=60)[0]
    ktap.result('a command that handles a signal', [] if child.returncode == 5 and 'memory_bandwidth,' in out else
                [child.returncode, out])
    world.play(f'ready()\nopen("{world.dir}/pid", "w").write(str(os.getpid()))\nuntil_told()\n'
               f'open("{world.dir}/told", "w")\n')
    child = world.start('memory', '--csv', stdout=subprocess.DEVNULL)
    wait_for(f'{world.dir}/pid')
    child.kill()
    child.wait()
    wait_for(f'{world.dir}/told')
    ktap.result('perf ends with a program that was killed')
    for name, late in ('anything was counted', ''), ('the command has begun', 'say(lines())\n'):
        world.play(f'open("{world.dir}/begun", "w")\nuntil_told()\n{late}')
        child = world.start('memory', '--', 'touch', f'{world.dir}/ran', stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True)
        wait_for(f'{world.dir}/begun')
        os.unlink(f'{world.dir}/begun')
        since = time.monotonic()
        os.kill(child.pid, signal.SIGTERM)
        out, err = child.communicate(timeout=60)
        said = out, fixture.in_time(err, since)
        ktap.result(f'a signal before {name}', [] if child.returncode == -15 and said == (
            '', 'perf metrics: it was ended before anything was counted; the command has not run\n') else
            [child.returncode, *said])
    world.play(ALL + 'say(all)')
    child = world.start('memory', '--csv', '--', 'true', stdout=subprocess.PIPE, text=True, preexec_fn=lambda: (
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})), env={'FAKE_PATIENCE': '5000'}.items())
    out = child.communicate(timeout=60)[0]
    ktap.result('the caller has SIGINT blocked', [] if not child.returncode and 'memory_bandwidth,' in out else
                [child.returncode, out])
    os.environ['LC_ALL'] = 'de_DE.UTF-8'
    done = world.run('memory', '--', 'sh', '-c', 'echo $LC_ALL $LC_NUMERIC; ls /proc/self/fd')
    del os.environ['LC_ALL']
    ktap.result('the command has its own locale, and no descriptor of ours',
                ended(done, 0, r'\Ade_DE.UTF-8\n0\n1\n2\n3\n', 'stdout'))
    world.end()


def readers():
    """Who reads slowly, or not at all."""
    world = World()
    program, names = f'{fixture.BUILD}/perf-metrics', 'llc qpi memory'

    def shell(name, text, wanted, **env):
        done = subprocess.run(['bash', '-c', text], env=world.env(**env), text=True, capture_output=True, timeout=60,
                              check=False)
        said = done.stdout + done.stderr
        ktap.result(name, [] if re.fullmatch(wanted, said) else [done.stdout, done.stderr])

    def gone(name, status, error, **how):
        """The pipe has no reader from the beginning."""
        end, stdout = os.pipe()
        os.close(end)
        done = subprocess.run([program, 'memory', '--', 'true'], env=world.env(), text=True,
                              stdout=stdout, stderr=subprocess.PIPE, timeout=60, check=False, **how)
        os.close(stdout)
        ktap.result(name, [] if done.returncode == status and re.fullmatch(error, done.stderr) else [done])

    world.play('ready()\nuntil_told()\nfor i in range(60):\n    say(lines(interval=(i+1)/4))\n    time.sleep(.003)\n')
    shell('a reader that is slower than perf may be', f'{program} {names} --per-box --json -I 250 -- true | '
          '(sleep 8; wc -l); echo ${PIPESTATUS[0]}', '60\n0\n', FAKE_PATIENCE='5000')
    world.play('ready()\nfor i in range(40):\n    say(lines(interval=(i+1)/4))\n')
    os.mkfifo(f'{world.dir}/fifo')
    shell('a slow reader of a pipe for Prometheus', f'cd $FAKE; exec 3<>fifo; (sleep 1; timeout 30 grep -m 40 -c EOF <&3) & '
          f'{program} {names} --per-box -I 250 --openmetrics fifo; echo $?; wait', r'0\n40\n|40\n0\n')
    world.play(PLAY)
    for what in 'memory --csv -- true', 'memory --openmetrics - -- true', 'list':
        shell(f'stdout is closed: {what}', f'{program} {what} >&-; echo $?', r'3\n.*: Bad file descriptor\n')
    # It has more than the 2 s of a second Ctrl-C, whether it ends before the output fails or after.
    slow = PLAY.replace('until_told()', 'until_told()\ntime.sleep(2.5)')
    said = r'.*: Bad file descriptor\n|.* has not ended yet; Ctrl-C ends it\n'
    for when, play, how in (('after the command', slow, '-- true'), (
            'before', slow.replace('ready()', 'ready()\nsay(lines(interval=.25))'), '-I 250 -- sleep 0.5')):
        world.play(play)
        shell(f'stdout is closed {when}, and perf takes its time',
              f'{program} memory --csv {how} >&-; echo $?', f'3\n({said}){{2}}')
    world.play(PLAY)
    shell('a descriptor that is only read', f'cd $FAKE; {program} memory --openmetrics /dev/fd/0 -- touch ran </dev/null; '
          'echo $?; ls ran', r'3\n.*/fd/0: Bad file descriptor\n.*ran.*: No such file.*\n')
    for name, limit, play in (('takes its time', '20000', 'until_told()\ntime.sleep(60)\n'),
                              ('does not end', '1500', 'until_told()\ntime.sleep(60)\n'), ('fails', '20000', 'until_told()\nsys.exit(1)\n')):
        world.play(f'ready()\nopen("{world.dir}/begun", "w")\n{play}')
        end, both = os.pipe()
        fixture.fill(both)
        child = world.start('memory', stdout=both, stderr=both, env={'FAKE_PATIENCE': limit}.items())
        wait_for(f'{world.dir}/begun')
        os.unlink(f'{world.dir}/begun')
        child.send_signal(signal.SIGINT)
        killed_late(child)
        ktap.result(f'nobody reads stdout and stderr, and perf {name}', [] if child.returncode == -signal.SIGINT else [child.returncode])
        os.close(end)
        os.close(both)
    world.play(PLAY)
    gone('a reader that has gone, and SIGPIPE is ignored', 3, r'.*cannot be written: Broken pipe\n',
         preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN))
    gone('a reader that has gone', -signal.SIGPIPE, '')
    shell('SIGQUIT is ignored by the caller', f'trap "" QUIT; {program} memory --csv -- sh -c "kill -QUIT \\$PPID" '
          '>/dev/null; echo $?', r'0\n')
    os.chmod(f'{world.dir}/perf', 0o644)
    shell('perf cannot be run', f'{program} memory -- true; echo $?', r'3\n.*/perf: Permission denied\n.*status is 126\n')
    shell('a plan can be pasted', f'printf "%s\\n" $({program} memory --plan | tail -n 1 | xargs printf "%s\\n" | tail -n 1)'
          f' >$FAKE/a; bash -c "printf \'%s\\n\' $({program} memory --plan | tail -n 1)" | tail -n 1 | cmp - $FAKE/a', '')
    world.end()


def few_files():
    """EMFILE is not that events do not fit together."""
    world = World()
    for limit in range(4, 14):
        done = subprocess.run(['sh', '-c', f'ulimit -n {limit}; exec "$@"', '-', f'{fixture.BUILD}/perf-metrics',
                               'qpi_utilization', '--plan'], env=world.env(), text=True, capture_output=True,
                              timeout=60, check=False)
        if 'Too many open files; see ulimit -n' in done.stderr:
            break
    ktap.result('too few descriptors', ended(done, 3, 'Too many open files; see ulimit -n'))
    world.end()


# ---- the machine ----

def machines():
    """Numbers of packages and CPUs are what they are; what is not there is not left out of a sum."""
    ask = 'memory_read_bandwidth', '--csv', '--', 'true'
    world = World(absent={('mbox', i, 1) for i in (0, 1)})
    ktap.result('a package without boxes', ended(
        world.run(*ask), 1, 'machine,memory_read_bandwidth,n/a,.*S1 has none of its boxes', 'stdout'))
    world.end()
    for name, numbers, cpus in (('a hole', (0, 3), 4), ('package 20', (0, 20), 4), ('1500 CPUs', (0, 1), 1500)):
        world = World()
        for cpu in range(cpus):
            path = f'{world.sys}/devices/system/cpu/cpu{cpu}/topology/physical_package_id'
            fixture.write(path, f'{numbers[cpu * 2 // cpus]}\n')
        fixture.write(f'{world.sys}/devices/system/cpu/online', f'0-{cpus - 1}\n')
        for pmu in os.listdir(world.devices):
            if pmu != 'cpu':
                fixture.write(f'{world.devices}/{pmu}/cpumask', f'0,{cpus // 2}\n')
        got = rows(world.run('memory_read_bandwidth', '--per-socket', '--per-machine', *ask[1:]).stdout)
        values = [value(got.get(('', scope, 'memory_read_bandwidth'), {'value': 'n/a'})) or 0
                  for scope in ('machine', f'S{numbers[0]}', f'S{numbers[1]}')]
        ktap.result(name, [] if min(values) > 0 and abs(values[0] / sum(values[1:]) - 1) < 1e-9 else [got])
        if max(numbers) > 7:
            ktap.result('no map of package 20', ended(world.run('map', '--', 'true'), 3, 'is of packages S0 to S7, and here is S20'))
        world.end()
    world = World()
    write(f'{world.dir}/m/x.metric', 'group g\nmetric ips\nscope cpu\nunit 1/s\nevent i cpu/instructions/\nformula i / seconds\n')
    write(f'{world.sys}/devices/system/cpu/online', '0,2-3\n')
    world.play(ALL.replace('lines()', 'lines(lambda p, t, c: 1000 * c)') + 'say(all)')
    got = rows(world.run('ips', '-a', '--per-box', '--csv', '--', 'true', env={'PERF_METRICS_PATH': f'{world.dir}/m'}.items()).stdout)
    ktap.result('a CPU that comes late', [] if {key[1]: value(row) for key, row in got.items()} == {
        'S0/cpu0': 0, 'S1/cpu2': 2000, 'S1/cpu3': 3000} else [got])
    world.play(PLAY)
    got = rows(world.run('ips', 'memory_bandwidth', '--csv', '--', 'true', env={'PERF_METRICS_PATH': f'{world.dir}/m:{TOP}/metrics'}.items()).stdout)
    ktap.result('a metric of CPUs beside one of boxes is of the whole machine', [] if len(got) > 1 and all(
        'command' not in key[1] and value(row) for key, row in got.items()) else [got])
    world.play(ALL.replace('lines()', 'lines(lambda p, t, c: 1e9 * (1 + c))') + 'say(all)')
    got = rows(world.run('uncore_clock_mhz', '--per-machine', '--per-socket', '--csv', '--', 'true').stdout)
    ktap.result('the mean of an only event', [] if {key[1]: round(value(row)) for key, row in got.items()} == {
        'machine': 2000, 'S0': 1000, 'S1': 3000} else [got])
    world.end()
    for name, path, text, why in (
            ('too many CPUs', 'online', '0-9999', 'more than 8192 CPUs'),
            ('a package number that is none', 'cpu1/topology/physical_package_id', '256', 'CPU 1 is of package 256')):
        world = World()
        fixture.write(f'{world.sys}/devices/system/cpu/{path}', f'{text}\n')
        ktap.result(name, ended(world.run(*ask), 3, why))
        world.end()


# ---- what is written ----

def forms():
    """CSV and JSON are what parsers take, also where all streams are one file."""
    world, bad = World(), []
    world.play(ALL + 'say(lines(lambda p, t, c: 0))\n')
    for name, out in (('CSV', '--csv'), ('JSON', '--json')):
        path = f'{world.dir}/both'
        with open(path, 'w', encoding='utf-8') as f:
            subprocess.run([f'{fixture.BUILD}/perf-metrics', 'memory', '--per-box', out, '--', 'true'], stdout=f,
                           stderr=f, env=world.env(), timeout=60, check=False)
        with open(path, encoding='utf-8') as f:
            text = f.read()
        bad = []
        try:
            if out == '--csv':
                table = rows(text)
                good = table['', 'S0/mbox_0', 'memory_read_share']
                good = value(good) is None and good['note'] == 'reads and writes is 0'
            else:
                good = len(json.loads(text)['values']) == 16
            bad += [] if good else [text]
        except (ValueError, KeyError) as error:
            bad.append(f'{error}: {text}')
        ktap.result(f'{name} in one file with the messages', bad)
    # A package without its last box hides nothing, and what is not plausible is marked everywhere.
    world.end()
    world = World(absent={('mbox', 1, 0), ('bbox', 1, 0)})
    world.play(ALL + 'say(lines(lambda p, t, c: 1e9 if p == "xeon7500_mbox_1" else 1e6))\n')
    for name, args, text in (
            ('the table', ['--per-machine'], 'S1/mbox_1: 64 GB/s is not plausible'),
            ('CSV', ['--csv'], 'machine,memory_read_bandwidth,6.*plausible'),
            ('JSON', ['--json'], '"note":"S1/mbox_1: 64 GB/s is not plausible'),
    ):
        ktap.result(f'not plausible in {name}',
                    ended(world.run('memory_read_bandwidth', *args, '--', 'true'), 0, text, 'stdout'))
    row = rows(world.run('memory_read_bandwidth', '--csv', '--', 'true').stdout)['', 'machine', 'memory_read_bandwidth']
    ktap.result('a note with a comma is one field of CSV', [] if row['note'].endswith('to 34.2 GB/s') else [row])
    done = world.run('memory_read_bandwidth', '--per-box', '--openmetrics', f'{world.dir}/m', '--', 'true')
    with open(f'{world.dir}/m', encoding='utf-8') as f:
        done.stdout = f.read()
    ktap.result('not plausible for Prometheus', ended(
        done, 0, r'\nperf_metrics_not_plausible{metric="memory_read_bandwidth",socket="1",box="mbox_1"} 1\n',
        'stdout'))
    world.play(ALL + 'say(lines(lambda p, t, c: "<not counted>" if p == "xeon7500_mbox_0" else 1e6))\n')
    text = world.run('memory_read_bandwidth', '--per-box', '--openmetrics', '-', '--', 'true').stdout
    found = re.findall('perf_metrics_not_available(?={).*', text)
    ktap.result('not counted for Prometheus, and what is not there', [] if found == [
        f'perf_metrics_not_available{{metric="memory_read_bandwidth",socket="{s}",box="mbox_0"}} 1' for s in (0, 1)] else [text])
    with open(f'{world.dir}/m', 'w', encoding='utf-8') as f:
        f.write('old')
    ask = 'memory_read_bandwidth', '--openmetrics', f'{world.dir}/m'
    world.play(ALL + 'say(lines(lambda *a: "<not counted>"))\n')
    bad = list(ended(world.run(*ask, '--', 'true'), 1, r'\Aperf metrics: .*/m stays as it is: no metric has a value, '
                     r'memory_read_bandwidth because its events have not been counted\n\Z')) + [fixture.read(f'{world.dir}/m')] * (fixture.read(f'{world.dir}/m') != 'old')
    world.play('ready()\nsay(lines(interval=1))\nsay(lines(lambda *a: "<not counted>", interval=2))\n')
    bad += ended(world.run(*ask, '-I', '1000'), 0, 'stays as it is')
    ktap.result('the old file for Prometheus stays where nothing is counted', bad + (
        [] if re.search(r'^perf_metrics_memory_read\S+ \d', fixture.read(f'{world.dir}/m'), re.M) else ['it has no value']))
    world.play(ALL + 'say(all[:half])\nos.kill(os.getpid(), 9)')
    for option in '--openmetrics', '-o':
        write(f'{world.dir}/m', 'old')
        bad = list(ended(world.run('memory', option, f'{world.dir}/m', '--', 'true'), 3, 'failed in the middle, its status is 137'))
        ktap.result(f'the old file of {option} stays where perf dies', bad + [fixture.read(f'{world.dir}/m')] * (
            fixture.read(f'{world.dir}/m') != 'old'))
    world.play(ALL + 'say(lines(lambda p, t, c: c == 0, lambda p, c: 86400.))\n')
    ktap.result('a small rate is not 0', ended(world.run('fatal_error_rate', '--', 'true'), 0, r'rate +1\.16e-05 /s', 'stdout'))
    world.play(ALL + 'say(lines(lambda p, t, c: 1e9 if p == "xeon7500_mbox_1" else 1e6))\n')
    for name, args in (('-', ['-']), ('/dev/stdout', ['/dev/stdout']), ('/dev/fd/1', ['/dev/fd/1'])):
        path = f'{world.dir}/out'
        with open(path, 'w', encoding='utf-8') as f:
            done = subprocess.run([f'{fixture.BUILD}/perf-metrics', 'memory', '--openmetrics', *args, '--', 'true'],
                                  stdout=f, stderr=subprocess.PIPE, env=world.env(), text=True, timeout=60, check=False)
        with open(path, encoding='utf-8') as f:
            done.stdout = f.read()
        ktap.result(f'for Prometheus to {name}', ended(done, 0, 'perf_metrics_memory_bandwidth.*\n(.*\n)*# EOF\n', 'stdout'))
    done = world.run('map', '--', 'true')
    ktap.result('not plausible in the map', ended(done, 0, 'M1 r!64.0G', 'stdout'))
    done = world.run('map', '-o', f'{world.dir}/m.svg', '--', 'true')
    with open(f'{world.dir}/m.svg', encoding='utf-8') as f:
        done.stdout = f.read()
    ktap.result('not plausible in the picture', ended(
        done, 0, '<title>64 GB/s is not plausible.*</title>(.|\n)*!64.0 GB/s', 'stdout'))
    world.end()


class Exporter:
    """Debian's node_exporter, with a directory of text files."""

    def __init__(self, directory):
        with socket.socket() as s:
            s.bind(('127.0.0.1', 0))
            self.port = s.getsockname()[1]
        self.child = subprocess.Popen(
            [f'{debian.PROMETHEUS}/usr/bin/prometheus-node-exporter', '--collector.disable-defaults',
             '--collector.textfile', f'--collector.textfile.directory={directory}',
             f'--web.listen-address=127.0.0.1:{self.port}'],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def scrape(self):
        """What Prometheus gets."""
        url = f'http://127.0.0.1:{self.port}/metrics'
        end = time.monotonic() + 60
        while self.child.poll() is None and time.monotonic() < end:
            try:
                with urllib.request.urlopen(url, timeout=60) as answer:
                    return answer.read().decode()
            except OSError:
                time.sleep(0.05)
        return 'it does not answer'

    def end(self):
        self.child.kill()
        self.child.wait()


def series(text):
    """Lines with a number."""
    return sorted(line for line in text.splitlines() if line.startswith('perf_metrics_'))


ODD = r'''group odd
help Help with "quotes" and a \ and a tab	in it
metric backslash
	help help a\b "c" \n \
	event a xeon7500_wbox/uncore_clock/
	formula a
metric no_help
	event a xeon7500_mbox/bbox_cmds.reads/
	scope box
	unit odd "unit", 100% \
	formula a
	plausible 0 1
'''


def prometheus():
    """promtool and node_exporter take each file, whichever boxes are idle, absent or n/a."""
    ktap.result("Debian's Prometheus", debian.prometheus())
    if not os.path.exists(debian.PROMETHEUS):
        return
    bad = []
    seed = random.randrange(1 << 32)
    print(f'# seed {seed}')
    draw = random.Random(seed)
    texts = World()
    write(f'{texts.dir}/odd/odd.metric', ODD)
    os.makedirs(f'{texts.dir}/text')
    exporter = Exporter(f'{texts.dir}/text')
    path = f'{texts.dir}/text/m.prom'
    with open(path, 'w', encoding='utf-8') as f:
        f.write('# EOF\n')
    boxes = [(box, i, p) for box, num in fixture.BOXES.items() for i in range(num) for p in range(2)]
    for _ in range(40):
        world = World(absent=set(draw.sample(boxes, draw.choice((0, 0, 1, 5, len(boxes))))))
        world.play(ALL + f'import random\nr = random.Random({draw.random()})\n'
                   'say(lines(lambda *a: r.choice((0, 1, 1000000, 1e12, "<not counted>"))))\n')
        done = world.run('memory', 'llc', 'qpi', 'power', 'odd', *draw.choice((
            ['--per-box'], ['--per-socket'], ['--per-machine', '--per-box', '--per-socket'], [])),
            '--openmetrics', path, '--', 'true',
            env={'PERF_METRICS_PATH': f'{TOP}/metrics:{texts.dir}/odd'}.items())
        if done.returncode not in (0, 1):
            bad += list(ended(done, 0))
        with open(path, encoding='utf-8') as f:
            text = f.read()
        tool = subprocess.run([f'{debian.PROMETHEUS}/usr/bin/promtool', 'check', 'metrics'], input=text, text=True,
                              capture_output=True, check=False)
        if tool.returncode or tool.stdout or tool.stderr:
            bad.append(f'promtool: {tool.stdout}{tool.stderr}')
        scraped = exporter.scrape()
        if 'node_textfile_scrape_error 0' not in scraped:
            bad.append(f'node_exporter refuses it: {text[:1000]}')
        if len(series(scraped)) != len(series(text)):
            bad.append(f'{len(series(text))} series, {len(series(scraped))} back')
        world.end()
    exporter.end()
    ktap.result('promtool and node_exporter take all of 40 files', bad)
    texts.end()


# ---- metric files ----

def metric(*lines):
    """A metric that is right but for these lines."""
    text = '\n'.join(('group g', 'metric m') + lines)
    for word, usual in (('event', 'event a p/e/'), ('formula', 'formula a')):
        if not re.search(rf'^\s*{word}\b', text, re.M):
            text += '\n' + usual
    return (text + '\n').encode()


WRONG = {
    'an event named seconds': metric('event seconds p/e/', 'formula seconds'),
    'an event named as a constant': metric('event _pi p/e/', 'formula _pi'),
    'an assignment': metric('formula a = 7'),
    'two values': metric('formula a, 3'),
    'two formulas': metric('formula a', 'formula a + 1'),
    'two units': metric('unit %', 'unit B/s'),
    'two lines help': metric('help a', 'help b'),
    'two lines limit': metric('limit 0 1', 'limit 0 2'),
    'two lines for': metric('for x a', 'for y b'),
    'for without values': metric('for x'),
    'for without a word': metric('for'),
    'limits that are no numbers': metric('limit nan nan'),
    'limits without end': metric('limit 0 inf'),
    'an event that is not used': metric('event a p/e/', 'event b p/e/'),
    'a misspelt part behind a right one': metric('scope port q0 q1', 'event a p/e,{port},{prot}/'),
    'no reason': metric('valid a > 0 :'),
    'a misspelt part': metric('scope port q0 q1', 'event a p/e,{prot}/'),
    'a part without scope': metric('event a p/e,{port}/'),
    'a part that is a path': metric('scope port ../../../../etc/shadow', 'event a p/{port}/'),
    'a part with a quote': metric('scope port q"0', 'event a p/e,{port}/'),
    'a part twice': metric('scope port q0 q0', 'event a p/e,{port}/'),
    'help that is not UTF-8': metric('help x').replace(b'help x', b'help \xff\xfe'),
    'a NUL': metric('help x').replace(b'help x', b'help \0x'),
    'a control character of two bytes': metric('help x\u009b2J'),
    'a control character': metric('help x').replace(b'help x', b'help \x1b[2J'),
    'a machine that is none': metric().replace(b'metric', b'machine xeon/6_2e\nmetric'),
    'a group without metrics': b'group a\n' + metric(),
    'apart with a word': metric('apart yes'),
    'a metric named as a command': metric().replace(b'metric m', b'metric list'),
    'a group named as a command': metric().replace(b'group g', b'group check'),
    'a metric that is of every metric': metric().replace(b'metric m', b'metric not_plausible'),
    'another that is in Prometheus': metric('unit plausible').replace(b'metric m', b'metric not'),
    'a scope that is a path': metric('scope a/b q0 q1', 'event a p/e,{a/b}/'),
    'a comment behind an event': metric('event a p/e/ # reads'),
    'a reduction that is none': metric('event a median p/e/'),
    'lines of Windows': metric().replace(b'\n', b'\r\n'),
    'a byte order mark': b'\xef\xbb\xbf' + metric(),
    'nothing': b'',
    'two names that are one for Prometheus': metric('unit %') + b'metric m_percent\nevent a p/e/\nformula a\n',
}
RIGHT = {
    'comparisons': metric('formula a >= 3 && a == 4 || a <= 5 && a != 6'),
    'functions and powers': metric('formula min(a, 5) * 1e-6'),
    'parts': metric('scope port q0 Q_1', 'event a p/e,{port}/'),
    'formulas that have a value of large counts alone': metric('formula sqrt(a - 100) / (a > 5)', 'valid a > 5 : no'),
    'a formula that never has a value': metric('formula a / 0'),
    'values': metric('for x a b').replace(b'metric m', b'metric m_{x}'),
    'help in UTF-8': metric('help \u00b5s \u2192'),
}


def files():
    """Wrong ones are refused with their line, right ones are not."""
    world = World()
    path = f'{world.dir}/x.metric'
    for table, status in ((WRONG, 2), (RIGHT, 0)):
        for name, text in table.items():
            with open(path, 'wb') as f:
                f.write(text)
            done = world.run('check', path)
            bad = list(ended(done, status, 'x.metric:([0-9]+:)? ' if status else ''))
            if status and len(done.stderr.splitlines()) > (12 if b'\r' in text else 2):
                bad.append(done.stderr)
            done = world.run('list', '--json', env={'PERF_METRICS_PATH': world.dir}.items())
            if not status and not json.loads(done.stdout or '[]'):
                bad.append('list --json is empty')
            ktap.result(f'{"refused" if status else "taken"}: {name}', bad)
    ktap.result('check of a directory', ended(world.run('check', world.dir), 2, f'{world.dir}: this is no file'))
    os.mkfifo(f'{world.dir}/y.metric')
    ktap.result('a pipe where metric files are', ended(
        world.run('memory', env={'PERF_METRICS_PATH': f'{TOP}/metrics:{world.dir}'}.items()), 2, 'y.metric: this is no file'))
    os.unlink(f'{world.dir}/y.metric')
    for name, text, wanted in (('a wrong one', 'metric memory_bandwidth\nevent a p/e/\n', 2),
                               ('two names of one for Prometheus',
                                'metric llc_miss_ratio\nunit percent\nevent a xeon7500_cbox/llc_hits.all/\nformula a\n'
                                'metric llc_miss_ratio_percent\nevent a xeon7500_cbox/llc_hits.all/\nformula a\n', 2),
                               ('a right one', 'metric memory_bandwidth\nevent a xeon7500_cbox/llc_hits.all/\nformula a\n', 0)):
        with open(path, 'w', encoding='utf-8') as f:
            f.write('group memory\n' + text)
        done = world.run('memory_bandwidth', '--', 'true', env={'PERF_METRICS_PATH': f'{TOP}/metrics:{world.dir}'}.items())
        ktap.result(f'a metric defined anew: {name}', ended(done, wanted, 'x.metric:' if wanted else ''))
    with open(path, 'w', encoding='utf-8') as f:
        f.write('group memory\nmetric llc_miss_rate\nscope box\nevent a xeon7500_cbox/llc_hits.all/\nformula -a\n'
                'metric qpi_utilization\nscope port qpi0 qpi1 qpi2 qpi3\nevent a xeon7500_rbox/flits_sent,{port}/\n'
                'formula a * 1e9\nmetric home_requests_to_node\nevent a xeon7500_bbox/imt_inserts_wr/\nformula a\n')
    for args in ['map'], ['map', '-o', f'{world.dir}/x.svg'], ['map', '--matrix', '--topology',
                                                              f'{TOP}/metrics/two.topology']:
        done = world.run(*args, '--', 'true', env={'PERF_METRICS_PATH': f'{TOP}/metrics:{world.dir}'}.items())
        ktap.result(f'a map of somebody\'s metrics: {args[1:2]}', ended(done, 0))
    with open(path, 'w', encoding='utf-8') as f:
        f.write('group g\nmetric m\nevent a xeon7500_cbox/llc_hits.all/\nformula a / 0\n')
    ktap.result('a division by 0 is n/a', ended(
        world.run('m', '--', 'true', env={'PERF_METRICS_PATH': world.dir}.items()), 1, 'n/a, because its formula has no value', 'stdout'))
    for name, text, wanted in (('a port with a sign', b'link S+0.qpi00 X\n', 't:1: .* is no port'),
                               ('a control character', b'link S0.qpi0 \033[2Jx\n', r'\A.*t:1: this is no text[^\033]*\Z'),
                               ('a NUL', b'link S0.qpi0 S1.qpi0\0 x\n', 't:1: this is no text'),
                               ('lines of Windows', b'link S0.qpi0 S1.qpi0\r\n', 't:1: .* those of Windows')):
        with open(f'{world.dir}/t', 'wb') as f:
            f.write(text)
        ktap.result(f'a topology file with {name}', ended(
            world.run('map', '--topology', f'{world.dir}/t', '--', 'true'), 2, wanted))
    os.mkfifo(f'{world.dir}/topology')
    ktap.result('a pipe where a topology file is', ended(world.run(
        'map', '--', 'true', env={'PERF_METRICS_PATH': f'{TOP}/metrics:{world.dir}'}.items()), 2,
        'topology: this is no file'))
    os.unlink(f'{world.dir}/topology')
    ktap.result('check of no file', ended(world.run('check'), 2, 'check needs files'))
    with open(path, 'wb') as f:
        f.write(b'group memory\nmachine 06_2e\nmetric small\n\tevent reads xeon7500_mbox/bbox_cmds.reads/\n'
                b'\tformula min(reads, 5) * 1e-6 + 2.5E+3\n')
    listed = world.run('list', '--json', env={'PERF_METRICS_PATH': world.dir}.items()).stdout
    for args in ['perf'], ['grafana'], ['pcp'], ['likwid', f'{world.dir}/likwid'], ['markdown']:
        done = subprocess.run([f'{TOP}/tools/metrics/export.py', *args], input=listed, text=True,
                              capture_output=True, check=False)
        ktap.result(f'export of functions and powers for {args[0]}', ended(
            done, 0, r'min\(xeon7500_mbox@bbox_cmds.reads@, 5\) \* 1e-6 \+ 2.5E\+3' if args == ['perf'] else '',
            'stdout'))
    world.end()


# ---- messages ----

def messages():
    """What a new user sees first."""
    world = World(driver=False)
    done = world.run('memory', '--', 'touch', f'{world.dir}/ran')
    ktap.result('no module', list(ended(
        done, 3, r'\A.*the module xeon7500_uncore is not loaded. As root:\n\tmodprobe xeon7500_uncore\n\Z')) +
        ([done.stdout] if done.stdout or os.path.exists(f'{world.dir}/ran') else []))
    world.end()
    world = World(driver=False, modules=('intel_uncore',))
    ktap.result('another module', ended(
        world.run('memory', '--', 'true'), 3, r'\A.*xeon7500_uncore is not loaded, and intel_uncore holds the '
        r'counters. As root:\n\trmmod intel_uncore\n\tmodprobe xeon7500_uncore\n\Z'))
    world.end()
    world = World(model='06_5c')
    ktap.result('the other module', ended(world.run('offcore', '--', 'true'), 3, 'modprobe intel_core_ext'))
    ktap.result('the machine has a name', ended(world.run('list'), 0, 'not for this machine but for\n? *Xeon 7500',
                                                  'stdout'))
    ktap.result('the scope of a metric', ended(world.run('list', 'memory_write_bandwidth_mbox'), 0,
                                               r'\n    scope     box\n', 'stdout'))
    for args in ['list'], ['list', '--rules']:
        # A line that begins with a name, and the indented lines after it
        heads = re.findall(r'^\S.*(?:\n .*)*', world.run(*args).stdout, re.M)
        other = ['not for this machine' in ' '.join(head.split()) for head in heads]
        ktap.result(f'{" ".join(args)} begins with what the machine has',
                    [] if other == sorted(other) and len(set(other)) == 2 else [f'{other}'])
    world.end()
    world = World()
    ktap.result('no permission', ended(world.run('memory', '--', 'true', env={'FAKE_ERRNO': '*:13'}.items()), 3,
                                         r'\A.*no permission.*:\n\tsysctl kernel.perf_event_paranoid=0\n\Z'))
    for name, like in (('memroy', 'memory'), ('llc_mis_ratio', 'llc_miss_ratio'), ('mapp', 'map'), ('lst', 'list'), ('tpo', 'top'),
                       ('memory_full', 'perf metrics why memory_full'),
                       ('read_bandwidth', 'memory_read_bandwidth'), ('mem', 'memory'), ('miss_ratio', 'llc_miss_ratio'), ('zzzzzzzzzzzz', None)):
        ktap.result(f'an unknown name {name}', ended(
            world.run(name), 2, f'did you mean {like}: ' if like else "group 'zzzzzzzzzzzz': "))
    for args, said in ((['list', 'memory_ful'], "no metric or group 'memory_ful'; did you mean memory_full: perf metrics list"),
                       (['list', '--rules', 'memory_bandwidth'], "no rule 'memory_bandwidth': perf metrics list --rules"),
                       (['list', '--rules', 'throtled'], "no rule 'throtled'; did you mean throttled: perf metrics list --rules"),
                       (['why', 'memroy_full', '--', 'true'], "no rule 'memroy_full'; did you mean memory_full: "),
                       (['why', 'any', '--', 'true'], "no rule 'any': perf metrics list --rules"),
                       (['why', 'throttled', 'true'], "no rule 'true': perf metrics list --rules; put -- before a command")):
        ktap.result(f'an unknown name: {" ".join(args)}', ended(world.run(*args), 2, f'there is {said}'))
    ktap.result('help says what a value is', ended(world.run('why', '--help'), 0, '--fail-on WORD', 'stdout'))
    for args, said in ((['list', 'memory', 'sleep'], "'sleep': perf metrics list"),
                       (['status', '--', 'true'], "status runs no command; remove '-- true'"),
                       (['list', '--', 'true'], "list runs no command; remove '-- true'"),
                       *(([mode, 'x', 'y', '--', 'true'], f"{mode} runs no command; remove '-- true'")
                         for mode in ('check', 'report', 'diff'))):
        ktap.result(f'no command: {" ".join(args)}', ended(world.run(*args), 2, rf'\Aperf metrics: .*{said}\n\Z'))
    ktap.result('a command without --', ended(world.run('memory', 'sleep', '1'), 2,
                                                r"'sleep': .*; put -- before a command\n\Z"))
    for args, text in ((['memory', '--csv', '--json'], 'only one of'), (['memory', '--plan', '--csv'], 'only one of'),
                       (['memory', '--plan', '-o', 'x'], '--plan is printed'),
                       (['list', '--csv'], '--csv is not for perf metrics list'),
                       (['map', '--per-box'], '--per-box is not for perf metrics map'),
                       (['memory', '--matrix'], '--matrix is not for perf metrics NAME'),
                       (['memory', '--nosuch'], 'there is no option --nosuch'), (['memory', '-x'], 'there is no option -x'),
                       (['memory', '-xa'], 'there is no option -x'),
                       (['memory', '--all-cpus=1'], '--all-cpus takes no value'), (['memory', '--interval'], '-I needs a value'),
                       (['memory', '-I'], '-I needs a value'), (['memory', '-I', '9'], '10 is the least'), (['top', '--top'], '--topology needs a value'), (['memory', '--openmetrics', ''], 'needs a file'),
                       (['memory', '--interval=x'], "needs a number from 1 on, not 'x'")):
        ktap.result(' '.join(args), ended(world.run(*args), 2, rf'\Aperf metrics: .*{text}.*\n\Z'))
    done = world.run('memory', '--csv', '--', 'printenv', 'POSIXLY_CORRECT', env={'POSIXLY_CORRECT': 'y'}.items())
    ktap.result('an option behind a name where POSIXLY_CORRECT is set', ended(done, 0, r'\Ay\nscope,metric,', 'stdout'))
    done = subprocess.run([f'{TOP}/tools/metrics/perf-loads', '-n', f'1; touch {world.dir}/ran', '--', 'true'],
                          text=True, capture_output=True, check=False)
    ktap.result('perf loads takes no command for a number', list(ended(done, 2, 'usage: perf loads')) +
                (['it ran'] if os.path.exists(f'{world.dir}/ran') else []))
    # perf in a locale whose numbers have a comma.
    fixture.write(f'{world.dir}/bin/perf', """#!/bin/sh
for arg; do [ "$last" = -o ] && file=$arg; [ "$last" ] || verb=$arg; last=$arg; [ "$arg" = -- ] && break; done
case $verb in
record) echo data >"$file"; while [ "$1" != -- ]; do shift; done; shift; exec "$@" ;;
stat) printf '1000;;%s;5;37,42;;\\n' mem_uops_retired.all_loads mem_load_uops_retired.l1_hit >"$file" ;;
esac
""")
    os.chmod(f'{world.dir}/bin/perf', 0o755)
    fixture.write(f'{world.sys}/bus/event_source/devices/cpu/events/mem_load_uops_retired.dram_hit', '\n')
    done = subprocess.run(['sh', '-c', f'sed s,/sys/bus,{world.sys}/bus, {TOP}/tools/metrics/perf-loads >$FAKE/l; sh $FAKE/l true'], text=True,
                          capture_output=True, check=False, env=world.env(PATH=f'{world.dir}/bin:{os.environ["PATH"]}'))
    ktap.result('perf loads where perf writes a comma', ended(done, 0, r'(?m)^ +100\.00% +1000 +37\.42% +0  l1_hit$', 'stdout'))
    world.end()


ktap.result('it is built', fixture.build())
if not ktap.bad:
    for test in (streams, intervals, shared, shares, reasons, children, patience, statuses, ends, readers, few_files, machines, forms, prometheus, files, messages):
        test()
sys.exit(ktap.end())
