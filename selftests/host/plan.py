#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What perf metrics counts together and what it computes from that, in a world of the test.

A PMU of the test takes groups of so many events. The plan has as few passes as there can be, and
each metric is in each pass that has room for it. Events are opened as the formats of sysfs say, and
values are those of an oracle. Topology files have each kind of wrong line.
"""
import itertools
import json
import os
import random
import re
import subprocess
import sys

HOST = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [f'{HOST}/../lib', f'{HOST}/metrics']
sys.dont_write_bytecode = True
import fixture
from fixture import World, ended, read, write
from ktap import Ktap

ktap = Ktap()
# Counts of the terms of an event, by PMU and CPU.
PLAY = 'ready()\nuntil_told()\nsay(lines(lambda p, t, c: {count}, lambda p, c: {seconds}, lambda p, c: {running}))\n'


def own(world, text):
    """The environment in which these metrics are all that there are."""
    write(f'{world.dir}/m/x.metric', 'group g\n' + text)
    return {'PERF_METRICS_PATH': f'{world.dir}/m'}


def metric(name, events, *lines):
    """One over events, which are texts; its formula is their sum in a second."""
    names = [chr(ord('a') + i) for i in range(len(events))]
    if not any(line.startswith('formula') for line in lines):
        lines += (f'formula ({" + ".join(names)}) / seconds',)
    return '\n'.join([f'metric {name}', *(f'event {n} {e}' for n, e in zip(names, events)), *lines, ''])


def play(world, count='1000', seconds='1', running='100'):
    """What perf counts."""
    world.play(PLAY.format(count=count, seconds=seconds, running=running))


def values(world, env, *args, command=('--', 'true')):
    """{(scope, metric): row} of JSON."""
    done = world.run(*args, '--json', *command, env=env.items())
    if done.returncode not in (0, 1) or done.stderr:
        raise ValueError(done)
    return {(row['scope'], row['metric']): row for row in json.loads(done.stdout)['values']}


def differ(got, wanted):
    """Yields what is not as wanted: a number, or a part of the reason for which there is none."""
    for key, one in wanted.items():
        row = got.get(key, {'value': None, 'why': 'it is not there'})
        if isinstance(one, str):
            if row['value'] is not None or one not in row['why']:
                yield f'{key}: {row}, and not {one!r}'
        elif row['value'] is None or abs(row['value'] - one) > 1e-9 * abs(one):
            yield f'{key}: {row}, and not {one}'
    yield from (f'{key} is too much' for key in set(got) - set(wanted))


def plan_of(done):
    """(number of passes, {(PMU, pass): terms}, groups of the command) of --plan."""
    lines = done.stdout.splitlines()
    passes, at = {}, None
    for line in lines[1:-1]:
        if line.startswith(' '):
            passes[at].append(line.strip())
        else:
            at = re.fullmatch(r'(\S+), pass (\d+):', line).groups()
            passes[at] = []
    return int(lines[0].split()[0]), passes, [
        re.findall(r'/([^/]*),name=pm', group) for group in re.findall(r'{([^}]*)}', lines[-1])]


# ---- passes ----

def fewest(items, room):
    """The least number of sets of so many terms in which each item is whole."""
    best = [len(items)]

    def place(at, sets):
        if len(sets) >= best[0]:
            return
        if at == len(items):
            best[0] = len(sets)
            return
        for i, one in enumerate(sets):
            if len(one | items[at]) <= room:
                place(at + 1, sets[:i] + [one | items[at]] + sets[i + 1:])
        place(at + 1, sets + [items[at]])
    place(0, [])
    return best[0]


def check_plan(world, items, room, takes=None):
    """Each metric is an item, which has terms of one PMU. Yields what is wrong with the plan and values."""
    env = own(world, ''.join(metric(f'm{i}', sorted(terms)) for i, terms in enumerate(items)))
    env['FAKE_GROUP'] = str(takes or room)
    items = [{term[4:-1] for term in terms} for terms in items]
    num, passes, groups = plan_of(world.run('g', '--plan', env=env.items()))
    sets = [set(passes['cpu', f'{i + 1}']) for i in range(len(passes))]
    if num != len(passes) or num != fewest(items, room):
        yield f'{num} passes, {passes}, and {fewest(items, room)} would do'
    if [sorted(terms) for terms in passes.values()] != [sorted(group) for group in groups]:
        yield f'{passes} are the groups {groups}'
    for terms in passes.values():
        if len(terms) > room or len(set(terms)) != len(terms):
            yield f'{terms} in a group'
    for i, terms in enumerate(items):
        for one in sets:
            if not terms <= one and len(terms | one) <= room:
                yield f'm{i} has room in {one}'
    play(world, 'int(t[6:], 0) * 1000', '0.25', '50')
    got = values(world, env, 'g', command=('-a', '--', 'true'))
    for i, terms in enumerate(items):
        row = got['machine', f'm{i}']
        turns = sum(terms <= one for one in sets)
        if row['value'] != 4 * 4 * sum(int(term[6:], 0) * 1000 for term in terms) or row['running'] != min(50 * turns, 100):
            yield f'm{i} in {turns} passes: {row}'


def passes():
    """As few as there can be; who has room in another one is in that, too, and counts as one."""
    world = World()
    name = itertools.count(1)
    items = [{f'cpu/event={next(name):#x}/' for _ in range(size)} for size in (3, 4, 3, 4, 3, 3)]
    ktap.result('two full passes, where the next best has three', check_plan(world, items, 10))
    name = itertools.count(1)
    items = [{f'cpu/event={next(name):#x}/' for _ in range(size)} for size in (3, 1, 3)]
    ktap.result('what fits into both passes', check_plan(world, items, 4))
    items = [{f'cpu/event={event:#x}/' for event in events} for events in ((1, 2, 3), (1, 2, 4), (5,))]
    ktap.result('events that two metrics have are one', check_plan(world, items, 5))
    items = [{f'cpu/event={event:#x}/' for event in range(5 * i, 5 * i + 5)} for i in range(8)]
    ktap.result('one pass for each metric', check_plan(world, items, 6))
    items = [{f'cpu/event={event:#x}/' for event in range(10 * i, 10 * i + 10)} for i in range(7)]
    ktap.result('no more than 64 events are in a pass', check_plan(world, items, 64, 1000))
    seed = random.randrange(1 << 32)
    print(f'# seed {seed}')
    draw = random.Random(seed)
    for i in range(8):
        room = draw.randrange(3, 7)
        items = [{f'cpu/event={draw.randrange(1, 14):#x}/' for _ in range(draw.randrange(1, room + 1))} for _ in range(6)]
        ktap.result(f'random metrics {i}', check_plan(world, items, room))
    world.end()


def refusals():
    """What cannot be counted alone, or together; the rest of such a metric is not counted."""
    world = World()
    cpu = read(f'{world.devices}/cpu/type').strip()
    mbox = read(f'{world.devices}/xeon7500_mbox_1/type').strip()
    play(world)
    events = [f'cpu/event={i}/' for i in range(1, 6)]
    env = own(world, metric('m', events) + metric('n', events[:1]) + metric('o', events, 'apart'))
    got = values(world, {**env, 'FAKE_GROUP': '4'}, 'g', command=('-a', '--', 'true'))
    ktap.result('more events than the group may have', differ(got, {
        ('machine', 'm'): 'cpu cannot count its events at the same time', ('machine', 'n'): 4000, ('machine', 'o'): 20000}))
    num, found, _ = plan_of(world.run('m', 'n', '--plan', env={**env, 'FAKE_GROUP': '4'}.items()))
    ktap.result('they are not counted', [] if (num, found) == (1, {('cpu', '1'): ['event=1']}) else [found])
    num, found, _ = plan_of(world.run('o', '--plan', env={**env, 'FAKE_GROUP': '4'}.items()))
    ktap.result('events that may be apart', [] if (num, [len(one) for one in found.values()]) == (2, [4, 4]) else [num, found])
    got = values(world, {**env, 'FAKE_ERRNO': f'{cpu}:22'}, 'n', command=('-a', '--', 'true'))
    ktap.result('an event that is refused', differ(got, {('machine', 'n'): 'cpu/event=1/ is refused: Invalid argument'}))
    pair = ['xeon7500_mbox/bbox_cmds.reads/', 'xeon7500_bbox/imt_inserts_wr/']
    env = own(world, metric('m', pair, 'scope box'))
    refused = {**env, 'FAKE_ERRNO': f'{mbox}:22'}
    why = 'xeon7500_mbox_1/bbox_cmds.reads/ is refused: Invalid argument'
    ktap.result('one of two boxes is refused', differ(values(world, refused, 'm', '--per-box', '--per-machine'), {
        ('machine', 'm'): why, ('S0/mbox_0', 'm'): 2000, ('S1/mbox_0', 'm'): 2000, ('S0/mbox_1', 'm'): why, ('S1/mbox_1', 'm'): why}))
    found = plan_of(world.run('m', '--plan', env=refused.items()))[1]
    ktap.result('nothing is counted beside it', [] if set(found) == {('xeon7500_mbox_0', '1'), ('xeon7500_bbox_0', '1')} else [found])
    for name, second, why in (
            ('an event', 'xeon7500_mbox/nope/', "xeon7500_mbox_0 has no event or field 'nope'"),
            ('a PMU', 'nope/a/', 'there is no PMU nope_0')):
        env = own(world, metric('m', [pair[0], second], 'scope box') + metric('n', pair[1:]))
        ktap.result(f'{name} that is not there', differ(values(world, env, 'g', '--per-machine', '--per-socket'), {
            ('machine', 'm'): why, ('S0', 'm'): why, ('S1', 'm'): why, ('machine', 'n'): 4000, ('S0', 'n'): 2000, ('S1', 'n'): 2000}))
        found = plan_of(world.run('m', 'n', '--plan', env=env.items()))[1]
        ktap.result(f'without {name} nothing is counted', [] if set(found) == {('xeon7500_bbox_0', '1'), ('xeon7500_bbox_1', '1')} else [found])
    env = own(world, metric('m', [*pair[:1], 'nope/a/'], 'scope box') + metric('n', ['cpu/event=1/']))
    ktap.result('what cannot be counted does not make a command that of the machine', differ(values(world, env, 'g'), {
        ('command', 'm'): 'there is no PMU nope_0', ('command', 'n'): 1000}))
    env = own(world, metric('m', ['nope/a/']) + metric('n', ['cpu/a=1/']))
    ktap.result('no such PMU, no such field', differ(values(world, env, 'g', command=('-a', '--', 'true')), {
        ('machine', 'm'): 'there is no PMU nope', ('machine', 'n'): "cpu has no event or field 'a'"}))
    env = own(world, metric('m', ['cpu/event=1/']) + metric('n', ['cpu/event=2/']))
    for errno, said in ((1, r'no permission to count cpu: .*:\n\tsysctl kernel.perf_event_paranoid=0'), (24, 'cpu cannot be opened: Too many open files; see ulimit -n'),
                        (23, 'cpu cannot be opened: Too many open files in system'), (12, 'cpu cannot be opened: Cannot allocate memory')):
        ktap.result(f'no event opens, because of {errno}', ended(world.run(
            'g', '-a', '--', 'true', env={**env, 'FAKE_ERRNO': f'*:{errno}'}.items()), 3, rf'\A.*{said}\n\Z'))
    why = 'cpu refuses now what it took before'
    ktap.result('an event that is refused the second time', differ(values(world, {**env, 'FAKE_ERRNO': '*:22:2'}, 'g', command=('-a', '--', 'true')), {
        ('machine', 'm'): why, ('machine', 'n'): why}))
    give = ['setpriv', '--inh-caps', '+perfmon', '--ambient-caps', '+perfmon']
    # A container may not have the capability to give.
    if not subprocess.run([*give, 'true'], check=False, stderr=subprocess.DEVNULL).returncode:
        done = subprocess.run([*give, f'{fixture.BUILD}/perf-metrics', 'm', '--', 'true'], env=world.env(**own(world, metric('m', pair[:1])), FAKE_ERRNO='*:13'), text=True,
                              capture_output=True, check=False)
        ktap.result('no permission, with CAP_PERFMON', ended(
            done, 3, r'let programs with CAP_PERFMON count, as root:\n\tsysctl kernel.perf_event_paranoid=2\n\Z'))
    world.end()


def command_line():
    """perf gets the times, and counts of the command alone or of all CPUs."""
    world = World()
    env = own(world, metric('m', ['cpu/event=1/']))
    for args, wanted in ((['-I', '250', '--interval-count', '3', '--summary'],
                          'stat -j --no-scale -a -A --log-fd 2 -I 250 --interval-count 3 --summary -e'),
                         (['-I', '250'], 'stat -j --no-scale -a -A --log-fd 2 -I 250 -e'), (['-a', '--', 'true'], 'stat -j --no-scale -a -A --log-fd 2 -e'),
                         (['--', 'true'], 'stat -j --no-scale --log-fd 2 -e')):
        done = world.run('m', '--plan', *args, env=env.items())
        ktap.result(f'the command line of perf: {" ".join(args)}', ended(done, 0, f"perf {wanted} '{{cpu/event=1,name=pm0/}}'\n", 'stdout'))
    world.end()


def gates():
    """Where a value comes from several boxes of a package, and all is one pass."""
    world = World()
    reads, writes, clock = 'xeon7500_mbox/bbox_cmds.reads/', 'xeon7500_bbox/imt_inserts_wr/', 'xeon7500_wbox/uncore_clock/'
    env = own(world, metric('reads', [reads], 'scope box') + metric('clock', [clock]) + metric('both', [reads, writes], 'scope box') +
              metric('core', ['cpu/event=1/', clock]) + metric('odd', ['cpu/event=1/', clock, reads]) +
              metric('two', [clock, 'xeon7500_wbox/prochot/']))
    room = {**env, 'FAKE_GROUP': '1'}
    for names, gate, more in ((['reads', 'clock'], False, env), (['both'], True, env), (['core'], False, env), (['odd'], True, env),
                              (['clock', 'both'], True, env), (['both', '--no-gate'], False, env),
                              (['both', 'two', 'clock'], True, env), (['both', 'clock', 'two'], True, room),
                              (['both'], False, {**env, 'FAKE_ERRNO': f'{read(f"{world.devices}/xeon7500_package/type").strip()}:13'})):
        done = world.run(*names, '--plan', env=more.items())
        events = re.search(r"-e '(.*)'", done.stdout)[1]
        inside = re.fullmatch(r'xeon7500_package/gate,name=pm0/,({[^g]*}),xeon7500_package/gate,name=pm\d+/', events)
        ktap.result(f'a gate of {" ".join(names)}, {"with" if more is env else "another"} room', [] if bool(inside) == gate ==
                    ('gate' in events) else [events])
    env = own(world, metric('both', [reads, writes], 'scope box') + metric('of', ['xeon7500_package/event=3/']))
    events = re.search(r"-e '(.*)'", world.run('g', '--plan', env=env.items()).stdout)[1]
    ktap.result('a gate beside an event of its PMU', [] if re.fullmatch(
        r'xeon7500_package/gate,name=pm0/(,{[^{}]*})*,{xeon7500_package/event=3,name=pm\d/}(,{[^{}]*})*,xeon7500_package/gate,name=pm\d/', events)
        else [events])
    env = own(world, metric('both', [reads, writes], 'scope box') + metric('one', [reads]) + metric('other', ['xeon7500_mbox/bbox_cmds.merge/']))
    done = world.run('g', '--plan', env={**env, 'FAKE_GROUP': '1'}.items())
    ktap.result('no gate with two passes', [] if done.stdout.startswith('2 passes') and 'gate' not in done.stdout else [done.stdout])
    world.end()


# ---- events ----

def opened():
    """Fields are where the formats say, events are opened where the PMU counts, groups have one leader."""
    world = World()
    world.pmu('odd_1', [], [2])
    for name, where in (('a', 'config:0-3'), ('b', 'config:5'), ('c', 'config1:1,4-6'), ('d', 'config2:8-63'), ('e', 'config:63,60-61'),
                        ('wide', 'config:60-64'), ('below', 'config:-1-3'), ('nowhere', 'configx:0-3'), ('none', 'config'),
                        ('word', 'config:x'), ('three', 'config3:0-7')):
        write(f'{world.devices}/odd_1/format/{name}', where + '\n')
    for name, terms in (('named', 'a=0x5,b'), ('other', 'named'), ('comma', ',a=1,,b=1,')):
        write(f'{world.devices}/odd_1/events/{name}', terms + '\n')
    types = {name: int(read(f'{world.devices}/{name}/type')) for name in ('odd_1', 'cpu')}
    log = f'{world.dir}/opened'
    play(world)

    def lines(*args, **env):
        write(log, '')
        done = world.run(*args, '--plan', env={**env, 'FAKE_OPENED': log}.items())
        return [done.stderr] if done.returncode else [line.split() for line in read(log).splitlines()]

    for terms, config, config1, config2 in (
            ('a=0xf', 15, 0, 0), ('a', 1, 0, 0), ('a=010', 8, 0, 0), ('b', 32, 0, 0), ('a=3,b=1', 35, 0, 0), ('c=9', 0, 66, 0), ('c=15', 0, 114, 0),
            ('d=0xffffffffffffff', 0, 0, 0xffffffffffffff00), ('e=7', 1 << 63 | 3 << 60, 0, 0), ('e=1', 1 << 63, 0, 0), ('e=2', 1 << 60, 0, 0),
            ('a=6,c=2,d=1,b', 38, 16, 256), ('named', 37, 0, 0), ('named,c=1', 37, 2, 0), ('comma', 33, 0, 0), ('a=1,,b', 33, 0, 0),
            ('wide=0', 0, 0, 0)):
        got = lines('m', **own(world, metric('m', [f'odd_1/{terms}/'])))
        wanted = [f'{types["odd_1"]}', *(f'{one:#x}' if one else '0' for one in (config, config1, config2)), '1', '-1', '2', '0', '8', '1']
        ktap.result(f'fields: {terms}', [] if got and all(one == wanted for one in got) else [got, wanted])
    for terms, why in (('a=16', "'16' is no value for a of odd_1"), ('b=2', "'2' is no value for b"), ('a=1x', "'1x' is no value for a"),
                       ('wide=1', "'1' is no value for wide"), ('wide', "'1' is no value for wide"), ('below=1', "'1' is no value for below"),
                       ('nowhere=1', "'1' is no value for nowhere"), ('none=1', "'1' is no value for none"), ('word=1', "'1' is no value for word"),
                       ('three=1', "'1' is no value for three"), ('nowhere=0', "'0' is no value for nowhere"), ('word=0', "'0' is no value for word"),
                       ('other', "odd_1 has no event or field 'named'"), ('named=1', "odd_1 has no event or field 'named'"), ('c=16', "'16' is no value for c"),
                       ('a=1,nope', "odd_1 has no event or field 'nope'"), ('nope,a=1', "odd_1 has no event or field 'nope'")):
        env = own(world, metric('m', [f'odd_1/{terms}/']))
        ktap.result(f'refused: {terms}', differ(values(world, env, 'm'), {('machine', 'm'): why}))
    got = lines('m', **own(world, metric('m', ['xeon7500_mbox_0/event=1/'])))
    ktap.result('an event of all packages is opened on the first', [] if got and {one[6] for one in got} == {'0'} else [got])
    # In a group of two on the first CPU; of a command on that alone.
    env = own(world, metric('m', ['cpu/event=3/', 'cpu/event=4/']))
    write(f'{world.sys}/devices/system/cpu/online', '1,3\n')
    for args, where in (['m'], ['-1', '1']), (['m', '--', 'true'], ['0', '-1']), (['m', '-a', '--', 'true'], ['-1', '1']):
        got = lines(*args[:1], *args[1:2] * ('-a' in args), **env) if '--' not in args else None
        if got is None:
            write(log, '')
            world.run(*args[:-2], '--plan', *args[-2:], env={**env, 'FAKE_OPENED': log}.items())
            got = [line.split() for line in read(log).splitlines()]
        wanted = [[f'{types["cpu"]}', config, '0', '0', disabled, *where, group, '8', '1']
                  for config, disabled, group in (('0x3', '1', '0'), ('0x4', '0', '1'))]
        ktap.result(f'where events are opened: {" ".join(args)}', [] if got[:2] == wanted and got[2:] in ([], wanted) else [got, wanted])
    world.end()


def names():
    """A number behind the name of a PMU is that of a box; what else is there is none."""
    world = World()
    for name in 'odd_', 'odd_1x', 'odd_3', 'odd_255', 'odd_256', 'even_3', '_7', 'two_words_2':
        world.pmu(name, ['e'], [0, 2])
    os.makedirs(f'{world.devices}/none')
    write(f'{world.devices}/late/cpumask', '0\n')
    play(world, 'len(p) * 100 + c')
    env = own(world, metric('m', ['odd/e/'], 'scope box') + metric('n', ['odd_3/e/']) + metric('o', ['odd/e/', 'even/e/'], 'scope box') +
              metric('p', ['nope/e/'], 'scope box') + metric('q', ['two_words/e/'], 'scope box') + metric('r', ['odd/e/']) +
              metric('s', ['odd_/e/']) + metric('t', ['even/e/', 'odd/e/'], 'scope box'))
    got = values(world, env, 'g', '--per-box')
    even = 'there is no PMU even_255'
    ktap.result('names of PMUs', differ(got, {
        **{(f'S{p}/odd_{i}', 'm'): n + 2 * p for p in (0, 1) for i, n in ((3, 500), (255, 700))},
        **{(f'S{p}', 'n'): 500 + 2 * p for p in (0, 1)}, **{(f'S{p}/odd_3', 'o'): 1100 + 4 * p for p in (0, 1)},
        **{(f'S{p}/odd_255', 'o'): even for p in (0, 1)}, ('machine', 'p'): 'there is no PMU of the name in nope/e/, with a number behind it',
        **{(f'S{p}/words_2', 'q'): 1100 + 2 * p for p in (0, 1)}, **{(f'S{p}', 'r'): 500 + 700 + 700 + 6 * p for p in (0, 1)},
        **{(f'S{p}', 's'): 400 + 2 * p for p in (0, 1)}, **{(f'S{p}/even_3', 't'): 1100 + 4 * p for p in (0, 1)},
        **{(f'S{p}/even_255', 't'): even for p in (0, 1)}}))
    world.end()


# ---- values ----

def reduces():
    """The sum, mean, highest and lowest of boxes, in the longest time; and the least share."""
    world = World(absent={('bbox', 1, 1)})
    play(world, '{"mbox_0": 100, "mbox_1": 700}.get(p[9:], 300) + 1000 * (c // 2)', '0.5 if p[-1] == "1" else 1',
         '40 if p[-1] == "1" else 100.5')
    reads = 'xeon7500_mbox/bbox_cmds.reads/'
    env = own(world, ''.join(metric(how, [f'{how} {reads}'], 'formula a') for how in ('sum', 'mean', 'max', 'min')) +
              metric('one', ['xeon7500_mbox_0/bbox_cmds.reads/']) + metric('pair', [reads, 'xeon7500_bbox/imt_inserts_wr/'], 'scope box') +
              metric('zero', [reads, 'xeon7500_bbox/imt_inserts_wr/'], 'formula 1 / (a * 0 + b * 0)'))
    ask = 'sum', 'mean', 'max', 'min', 'one', '--per-machine', '--per-socket'
    got = values(world, env, *ask)
    # What was counted for half of the time is brought to the whole.
    counts = {p: [100 + 1000 * p, 2 * (700 + 1000 * p)] for p in (0, 1)}
    wanted = {('machine', 'one'): 1200, ('S0', 'one'): 100, ('S1', 'one'): 1100}
    for scope, of in (('S0', counts[0]), ('S1', counts[1]), ('machine', counts[0] + counts[1])):
        wanted |= {(scope, 'sum'): sum(of), (scope, 'mean'): sum(of) / len(of), (scope, 'max'): max(of), (scope, 'min'): min(of)}
    ktap.result('sum, mean, highest and lowest', differ(got, wanted))
    # With a gate the share is that of the time; without one it is what perf says.
    for rows, share in (got, 50), (values(world, env, *ask, '--no-gate'), 40):
        ktap.result(f'the longest time, and the least share: {share}', [
            f'{key}: {row}' for key, row in rows.items() if (row['seconds'], row['running']) != (1, 100 if key[1] == 'one' else share)])
    why = 'there is no xeon7500_bbox_1 on S1'
    ktap.result('a box of a sum is not there', differ(values(world, env, 'pair', '--per-machine', '--per-socket', '--per-box'), {
        ('machine', 'pair'): why, ('S1', 'pair'): why, ('S1/mbox_1', 'pair'): why, ('S0', 'pair'): 400 + 2000, ('S0/mbox_0', 'pair'): 400,
        ('S0/mbox_1', 'pair'): 2000, ('S1/mbox_0', 'pair'): 2400}))
    ktap.result('no value of numbers that are not 0', differ(values(world, env, 'zero', '--per-socket'), {
        ('S0', 'zero'): 'its formula has no value for what was counted', ('S1', 'zero'): why}))
    world.end()


def cores():
    """A metric of cores for each CPU, package, the machine and the command."""
    world = World()
    play(world, '(c + 1) * 10 ** (c + 1)')
    env = own(world, metric('i', ['cpu/event=1/'], 'scope cpu') + metric('k', ['cpu/event=1/']))
    counts = [10, 200, 3000, 40000]
    ktap.result('counts of CPUs', differ(values(world, env, 'g', '-a', '--per-machine', '--per-socket', '--per-box'), {
        **{(f'S{c // 2}/cpu{c}', 'i'): counts[c] for c in range(4)}, **{(f'S{p}', m): sum(counts[2 * p:][:2]) for p in (0, 1) for m in 'ik'},
        ('machine', 'i'): 43210, ('machine', 'k'): 43210}))
    ktap.result('the count of a command', differ(values(world, env, 'g'), {('command', 'i'): 10, ('command', 'k'): 10}))
    text = world.run('i', '-a', '--per-box', '--openmetrics', '-', '--', 'true', env=env.items()).stdout
    ktap.result('labels of CPUs', [] if re.findall(r'perf_metrics_i{(.*)} (\d+)', text) == [
        (f'socket="{c // 2}",box="cpu{c}"', f'{counts[c]}') for c in range(4)] else [text])
    world.end()


def limits():
    """A value at a limit is one; the first that is beyond it is named."""
    world = World()
    reads = ['xeon7500_mbox/bbox_cmds.reads/']
    env = own(world, metric('m', reads, 'scope box', 'limit 100 200', 'plausible 120 180') + metric('v', reads, 'scope box', 'valid a > 110 : it is low'))

    def notes(counts, name='m'):
        play(world, f'{counts}[2 * (c // 2) + int(p[-1])]')
        got = values(world, env, name, '--per-machine', '--per-box')
        return {key[0]: row.get('why') or row.get('note') or '' for key, row in got.items()}

    for name, counts, wanted in (
            ('at a limit', (100, 200, 120, 180), {
                'machine': 'S0/mbox_0: 100 is not plausible', 'S0/mbox_0': '100 is not plausible; that would be 120 to 180',
                'S0/mbox_1': '200 is not plausible', 'S1/mbox_0': '', 'S1/mbox_1': ''}),
            ('beyond a limit', (150, 99, 201, 150), {
                'machine': 'S0/mbox_1: 99 cannot be; possible is 100 to 200', 'S0/mbox_0': '', 'S0/mbox_1': '99 cannot be',
                'S1/mbox_0': '201 cannot be', 'S1/mbox_1': ''}),
            ('not plausible', (150, 150, 181, 119), {
                'machine': 'S1/mbox_0: 181 is not plausible', 'S0/mbox_0': '', 'S0/mbox_1': '', 'S1/mbox_0': '181 is', 'S1/mbox_1': '119 is'})):
        got = notes(counts)
        ktap.result(name, [f'{key}: {got[key]}' for key in got if not got[key].startswith(wanted[key]) or bool(got[key]) != bool(wanted[key])])
    got = notes((111, 111, 110, 109), 'v')
    ktap.result('what is not valid', [] if got == {'machine': 'S1/mbox_0: it is low', 'S0/mbox_0': '', 'S0/mbox_1': '', 'S1/mbox_0': 'it is low',
                                                   'S1/mbox_1': 'it is low'} else [got])
    world.end()


# ---- the machine ----

def machines():
    """CPUs that are online, and what is said of those that cannot be."""
    reads = 'xeon7500_mbox/bbox_cmds.reads/'
    for name, online, mask, wanted in (
            ('8,192 CPUs', '0-8191', '0,2', {'S0': 2000, 'S1': 2000}), ('an offline CPU in a mask', '0,2-3', '1,2', {'S0': None, 'S1': 2000}),
            ('single CPUs', '0,2', '0,2', {'S0': 2000, 'S1': 2000}), ('the first CPUs are offline', '1,3', '1,3', {'S0': 2000, 'S1': 2000}),
            ('two ranges', '0-1,2-3', '0,2', {'S0': 2000, 'S1': 2000})):
        world = World()
        write(f'{world.sys}/devices/system/cpu/online', online + '\n')
        for i in 0, 1:
            write(f'{world.devices}/xeon7500_mbox_{i}/cpumask', mask + '\n')
        play(world)
        got = values(world, own(world, metric('m', [reads])), 'm', '--per-socket')
        ktap.result(name, differ(got, {(scope, 'm'): number or 'its boxes are not there' for scope, number in wanted.items()}))
        world.end()
    for name, path, text, why in (('8,193 CPUs', 'online', '0-8192', 'more than 8192 CPUs'),
                                  ('package -1', 'cpu1/topology/physical_package_id', '-1', 'CPU 1 is of package -1, which is none of 0 to 255')):
        world = World()
        write(f'{world.sys}/devices/system/cpu/{path}', text + '\n')
        ktap.result(name, ended(world.run('m', '--', 'true', env=own(world, metric('m', [reads])).items()), 3, why))
        world.end()


# ---- topology files ----

# Lines, the number of the wrong one or 0, and what is said of it.
TOPOLOGY = (
    ('link S0.qpi0 S1.qpi0\nlink S0.qpi3 IOH0\nlink S7.qpi3 HUBNR12\nnode 31 S0\nnode 0 S1\nnode 010 X\n'
     'limit memory 1e14\nlimit memory 1e9 S0\nlimit memory 2e9 S0/mbox_0\nlimit qpi 1.1e6 S12', 0, ''),
    ('link S0.qpi4 X', 1, "'S0.qpi4' is no port, which is S0.qpi0 to S7.qpi3"), ('link S8.qpi0 X', 1, "'S8.qpi0' is no port"),
    ('link S-1.qpi0 X', 1, "'S-1.qpi0' is no port"), ('link S0.qpi-1 X', 1, "'S0.qpi-1' is no port"),
    ('link S00.qpi0 X', 1, "'S00.qpi0' is no port"), ('link S0.qpi0x X', 1, "'S0.qpi0x' is no port"), ('link S0 X', 1, "'S0' is no port"),
    ('link S0.qpi0 S1.qpi4', 1, "'S1.qpi4' is no port, and no name of up to 7 letters and digits"),
    ('link S0.qpi0 HUBNR123', 1, "'HUBNR123' is no port, and no name"), ('link S0.qpi0 an/IOH', 1, "'an/IOH' is no port"),
    ('link S0.qpi0 X\nlink S0.qpi0 Y', 2, 'S0.qpi0 has a link already'), ('link S0.qpi0 S1.qpi1\nlink S1.qpi1 X', 2, 'S1.qpi1 has a link already'),
    ('link S0.qpi0 X\nlink S1.qpi0 S0.qpi0', 2, 'S0.qpi0 has a link already'), ('link S0.qpi0 S0.qpi1', 1, 'a link leads to another package'),
    ('link S0.qpi0', 1, "a line is 'link S0.qpi0 S1.qpi0'"), ('link S0.qpi0 S1.qpi0 X', 1, "a line is 'link"), ('node 1', 1, "a line is 'link"),
    ('node 1 S0 S1', 1, "a line is 'link"), ('limit memory', 1, "a line is 'link"), ('limit memory 1e9 S0 S1', 1, "a line is 'link"),
    ('bridge S0 S1', 1, "a line is 'link"), ('node 32 S0', 1, "'32' is no node, which is 0 to 31"), ('node x S0', 1, "'x' is no node"),
    ('node +1 S0', 1, "'+1' is no node"), ('node 1x S0', 1, "'1x' is no node"), ('node 1 an/IOH', 1, "'an/IOH' is no name of up to 7 letters"),
    ('node 1 HUBNR123', 1, "'HUBNR123' is no name"), ('node 1 S0\nnode 01 S1', 2, 'there is a node 1 already'),
    ('limit memory 1e15', 1, "'1e15' is no limit"), ('limit memory 0', 1, "'0' is no limit"), ('limit memory nan', 1, "'nan' is no limit"),
    ('limit memory 34.2', 1, "'34.2' is no limit, which is a number above 1e6 and below 1e15, in bytes a second"),
    ('limit qpi 12.8', 1, "'12.8' is no limit"), ('limit memory 1e6', 1, "'1e6' is no limit"), ('limit qpi nan', 1, "'nan' is no limit"),
    ('limit memory 1e9x', 1, "'1e9x' is no limit"), ('limit memory 1e9 S-1', 1, "'S-1' is no place"), ('limit memory 1e9 S', 1, "'S' is no place"),
    ('limit memory 1e9 S0-mbox', 1, "'S0-mbox' is no place"), ('limit memory 1e9 S0/', 1, "'S0/' is no place"),
    ('limit memory 1e9 S0/A', 1, "'S0/A' is no place"), ('limit memory 1e9\nlimit memory 2e9', 2, 'there is a limit of memory already'),
    ('limit memory 1e9 S0\nlimit memory 2e9 S0', 2, 'there is a limit of memory of S0 already'),
    ('\n'.join(f'limit memory 1e9 S{i}' for i in range(64)), 0, ''),
    ('\n'.join(f'limit memory 1e9 S{i}' for i in range(65)), 65, 'too many limits'),
)


def topologies():
    """Each wrong line is told, and no other one."""
    world = World()
    path = f'{world.dir}/t'
    for text, line, said in TOPOLOGY:
        write(path, text + '\n')
        done = world.run('map', '--plan', '--topology', path)
        got = re.fullmatch(r'(\S+):(\d+): (.*)\n\S+ \S+ \S+: 1 line is wrong\n|()', done.stderr)
        good = done.returncode == (2 if line else 0) and got and (not line or int(got[2]) == line and said in got[3])
        ktap.result(f'a topology file: {text[-60:]!r}', [] if good else [done.returncode, done.stderr])
    world.end()


ktap.result('it is built', fixture.build())
if not ktap.bad:
    for test in passes, refusals, command_line, gates, opened, names, reduces, cores, limits, machines, topologies:
        test()
sys.exit(ktap.end())
