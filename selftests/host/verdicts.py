#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""perf metrics why, in a world of the test: it names the bottleneck that was planted, and no other.

The matrix of bottlenecks and sockets is that of Documentation/verdicts.md. A thousand random
traffics are compared with an oracle that is computed here from the planted counts, also where
events are not counted, or for a part of the time. Wrong rules have one clear line.
"""
import html
import json
import os
import random
import re
import sys

HOST = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [f'{HOST}/../lib', f'{HOST}/metrics']
sys.dont_write_bytecode = True
import fixture
from fixture import World, write
from ktap import Ktap

TOP = fixture.TOP
LIMIT, CLOCKS = 30e9, 2.2e9
TOPOLOGIES = {1: 'link S0.qpi0 IOH0\n'}
for sockets, name in ((2, 'two'), (4, 'four'), (8, 'eight')):
    with open(f'{TOP}/metrics/{name}.topology', encoding='utf-8') as topology:
        TOPOLOGIES[sockets] = topology.read()
# What perf counts is in a list of intervals: by package, PMU and event; None is not counted. PMUs
# of a package that are counted for a part of the time only are in "part".
PLAY = '''plan = json.load(open(f"{WORLD}/plan"))
def result(one, **more):
    def count(pmu, terms, cpu):
        if pmu == "xeon7500_package":
            return 1e9
        got = one["counts"][cpu // 2].get(f"{pmu}/{terms}", 0)
        return "<not counted>" if got is None else got * part(pmu, cpu)
    def part(pmu, cpu):
        return one["part"][cpu // 2].get(pmu, 1)
    return lines(count, part, lambda pmu, cpu: 100 * part(pmu, cpu), **more)
ready()
if "-I" in sys.argv:
    for i, one in enumerate(plan):
        say(result(one, interval=i + 1))
else:
    until_told()
    say(result(plan[0]))
'''
ktap = None


def calm():
    """Counts of a package in a second, where nothing is near a limit."""
    counts = {'xeon7500_wbox/uncore_clock': CLOCKS, 'xeon7500_wbox/prochot': 0,
              'xeon7500_wbox/c_throttle_tmp.c_all': 0}
    for i in range(2):
        counts[f'xeon7500_mbox_{i}/bbox_cmds.reads'] = 1e8 + i * 1e6
        counts[f'xeon7500_bbox_{i}/imt_inserts_wr'] = 4e7
        counts[f'xeon7500_sbox_{i}/to_r_b_requests.local'] = 9e7
        counts[f'xeon7500_sbox_{i}/to_r_b_requests.remote'] = 1e7
    for i in range(8):
        counts[f'xeon7500_cbox_{i}/occupancy_irq'] = (2 + i / 8) * CLOCKS
        counts[f'xeon7500_cbox_{i}/llc_hits.all'] = 1e8
        counts[f'xeon7500_cbox_{i}/llc_misses.all'] = 2e7
    for i in range(4):
        counts[f'xeon7500_rbox_{i // 2}/flits_sent,qpi{i}'] = 1.6e9
        counts[f'xeon7500_rbox_{i // 2}/null_idle,qpi{i}'] = 1.1e9
    return counts


def world_of(packages, limit=LIMIT, absent=()):
    """A Xeon 7500 whose router halves have the ports that they have, and a topology file."""
    world = World(packages, absent=absent)
    for half, gone in ((0, (2, 3)), (1, (0, 1))):
        for port in gone:
            for folder in 'format', 'events':
                os.unlink(f'{world.devices}/xeon7500_rbox_{half}/{folder}/qpi{port}')
    write(f'{world.dir}/topology', TOPOLOGIES[packages] + (f'limit memory {limit:.6g}\n' if limit else ''))
    world.play(PLAY)
    return world


def plant(world, intervals):
    """What perf counts: a list of (counts of each package, parts of each package)."""
    write(f'{world.dir}/plan', json.dumps([{'counts': counts, 'part': part or [{} for _ in counts]}
                                           for counts, part in intervals]))


def why(world, *args, **env):
    """perf metrics why, with the topology file of the world."""
    return world.run('why', '--topology', f'{world.dir}/topology', *args, env=env.items())


def found(answer):
    """{(rule, place)} of a line of JSON."""
    return {(one['rule'], one['place']) for one in answer['verdicts']}


# ---- the matrix ----

def memory(counts):
    counts['xeon7500_mbox_1/bbox_cmds.reads'] = 0.7 * LIMIT / 64
    counts['xeon7500_bbox_1/imt_inserts_wr'] = 0.22 * LIMIT / 64


def link(counts):
    counts['xeon7500_rbox_0/null_idle,qpi0'] = 0.11 * 1.6e9


def hot_slice(counts):
    counts['xeon7500_cbox_5/occupancy_irq'] = 18 * CLOCKS


def all_slices(counts):
    for i in range(8):
        counts[f'xeon7500_cbox_{i}/occupancy_irq'] = (21.5 + i / 8) * CLOCKS


def throttling(counts):
    counts['xeon7500_wbox/prochot'] = 0.07 * CLOCKS


def hot_cores(counts):
    counts['xeon7500_wbox/c_throttle_tmp.c_all'] = 0.3 * CLOCKS


def remote(counts):
    counts['xeon7500_sbox_0/to_r_b_requests.remote'] = 14.2e7
    counts['xeon7500_sbox_0/to_r_b_requests.local'] = 3.4e7


# Bottleneck: (what is planted in the last package, what in the first one).
CASES = {
    'none': ((), ()),
    'memory of one controller': ((memory,), ()),
    'one link': ((link,), ()),
    'one slice': ((hot_slice,), ()),
    'all slices': ((all_slices,), ()),
    'PROCHOT': ((throttling,), ()),
    'throttling of cores': ((hot_cores,), ()),
    'remote traffic': ((remote,), ()),
    'memory, and PROCHOT elsewhere': ((memory,), (throttling,)),
    'a link, and the requests for it': ((link,), (remote,)),
}
RULES = {memory: ('memory_full', '/mbox_1'), link: ('link_full', '/qpi0'), hot_slice: ('slice_full', '/cbox_5'),
         all_slices: ('cache_full', ''), throttling: ('prochot', ''), hot_cores: ('throttled', ''),
         remote: ('remote_memory', '')}


def cells():
    """{(bottleneck, sockets): {(rule, place)}} of the table in Documentation."""
    table = {}
    with open(f'{TOP}/Documentation/verdicts.md', encoding='utf-8') as f:
        for line in f:
            row = [cell.strip() for cell in line.strip().strip('|').split('|')]
            if row[0] in CASES:
                for packages, cell in zip((1, 2, 4, 8), row[1:]):
                    table[row[0], packages] = set(re.findall(r'`(\w+)` (S[\w/]+)', cell))
    return table


def matrix():
    """Each bottleneck on each machine, by the table; and the table is that of what is planted."""
    table = cells()
    for packages in TOPOLOGIES:
        world = world_of(packages)
        for name, (last, first) in CASES.items():
            counts = [calm() for _ in range(packages)]
            wanted = set()
            for place, plants in ((packages - 1, last), (0, first)):
                for one in plants:
                    one(counts[place])
                    rule, where = RULES[one]
                    # On one socket requests that count as remote are those to the U-Box.
                    if packages > 1 or one is not remote:
                        wanted.add((rule, f'S{place}{where}'))
            plant(world, [(counts, None)])
            done = why(world, '--json', '--', 'true')
            bad = [] if done.returncode == 0 else [done.returncode, done.stderr]
            answer = json.loads(done.stdout or '{"verdicts": [], "not_judged": [0]}')
            if found(answer) != wanted:
                bad.append(f'{found(answer)}, planted was {wanted}')
            if table.get((name, packages)) != wanted:
                bad.append(f'Documentation/verdicts.md has {table.get((name, packages))}, and not {wanted}')
            bad += answer['not_judged']
            ktap.result(f'{name}, {packages} socket{"s" * (packages > 1)}', bad)
        world.end()
    ktap.result('the table has no other case', [] if len(table) == len(CASES) * 4 else [table])


def sentences():
    """As people read them: worst first, with the numbers that were planted."""
    world = world_of(2)
    counts = [calm(), calm()]
    memory(counts[1])
    link(counts[1])
    remote(counts[0])
    counts[0]['xeon7500_sbox_1/to_r_b_requests.remote'] = 0
    counts[0]['xeon7500_sbox_1/to_r_b_requests.local'] = 5.303e7
    plant(world, [(counts, None)])
    done = why(world, '--', 'true')
    wanted = ['S1: memory is the limit: 27.6 GB/s of 30 GB/s on M-Box 1',
              "QPI S1 to S0 (qpi0) is 89 % full: 62 % of S0's requests go to memory of S1, consider numactl",
              'S0: 62 % of the requests go to memory of S1 (142 M/s), consider numactl']
    flat = ' '.join(done.stdout.split())
    places = [flat.find(one) for one in wanted]
    ktap.result('sentences, worst first', [] if -1 not in places and places == sorted(places) else
                [done.stdout])
    ktap.result('a doubt has all that is known', [] if 'Conflicts count as writes' in flat and 'U-Box' in flat else [done.stdout])
    ktap.result('each with its doubt and its page', [] if flat.count('doubt: ') == 3 == flat.count('see: Documentation/answers.md#')
                else [done.stdout])
    memory(counts[0])
    counts[0]['xeon7500_mbox_1/bbox_cmds.reads'] = 0.72 * LIMIT / 64
    plant(world, [(counts, None)])
    flat = ' '.join(why(world, '--', 'true').stdout.split())
    for counts[1]['xeon7500_wbox/prochot'], wanted in ((0.07 * CLOCKS, ['S0, S1: PROCHOT is asserted 7 %']),
                                                       (0.08 * CLOCKS, ['S1: PROCHOT is asserted 8 %', 'S0: PROCHOT is asserted 7 %'])):
        throttling(counts[0])
        plant(world, [(counts, None)])
        got = re.findall(r'[S0-9, ]+: PROCHOT is asserted \d+ %', ' '.join(why(world, '--', 'true').stdout.split()))
        ktap.result(f'a sentence names all packages of which it says the same: {len(wanted)}',
                    [] if [one.strip() for one in got] == wanted else [got])
    ktap.result('of two places of a rule the doubt is said once', [] if flat.count('memory is the limit') == 2 and
                flat.count('Right if the limit was measured') == 1 else [flat])
    plant(world, [([calm(), calm()], None)])
    done = why(world, '--', 'true')
    ktap.result('nothing is near a limit', [] if done.stdout == 'nothing is near a limit\n' else [done.stdout])
    os.unlink(f'{world.dir}/topology')
    write(f'{world.dir}/topology', '')
    done = why(world, '--', 'true')
    flat = ' '.join(done.stdout.split())
    ktap.result('without a limit it says how to give one', [] if flat.startswith(
        'of what was judged, nothing is near a limit not judged: memory_full of S0/mbox_0, S0/mbox_1, S1/mbox_0, S1/mbox_1: '
        'no limit of memory is known; measure one: perf metrics memory_bandwidth --per-box -- PROGRAM, and write '
        f"'limit memory NUMBER' into {world.dir}/topology") else [done.stdout])
    flat = ' '.join(world.run('why', '--', 'true').stdout.split())
    ktap.result('without a topology file it says how to make one', [] if 'into a topology file, which perf metrics '
                'status --topology makes' in flat else [flat])
    world.end()


def recorded():
    """A recording has the verdicts that were live, elsewhere and without the files of then; also on its page."""
    world, other = world_of(2), World(model='06_9e', driver=False)
    counts = [calm(), calm()]
    memory(counts[1])
    link(counts[1])
    throttling(counts[0])
    part = [{}, {'xeon7500_cbox_3': 0.5}]
    plant(world, [(counts, None), ([calm(), calm()], None), (counts, part)])
    path, limits = f'{world.dir}/r', f'{world.dir}/limits'
    done = world.run('record', '-o', path, '--topology', f'{world.dir}/topology', '--', 'true')
    bad = [] if not done.returncode else [done.stderr]
    write(limits, TOPOLOGIES[2] + 'limit memory 28e9\nlimit memory 90e9 S1/mbox_1\n')
    for name, args in ('with the limits of then', ()), ('with other limits', ('--topology', limits)):
        for form in (), ('--json',):
            live = world.run('why', '--topology', *(args[1:] or [f'{world.dir}/topology']), '-I', '1000', *form, '--', 'true')
            got = other.run('report', path, 'why', *args, '-I', '1000', *form, env={'PERF_METRICS_PATH': '/nowhere'}.items())
            if got.stdout != live.stdout or not live.stdout or got.returncode:
                bad.append(f'{got}\n{live.stdout}')
            if ('S1: memory is the limit' in live.stdout) == bool(args) or 'not judged' not in live.stdout.replace('_', ' '):
                bad.append(live.stdout)
        ktap.result(f'a recording has the verdicts that were live, {name}', bad)
        bad = []
    for rule, wanted in ('link_full', 4), ('slice_full', 1):
        done = other.run('report', path, 'why', '-I', '1000', '--fail-on', rule)
        bad += [] if done.returncode == wanted else [done]
    done = other.run('report', path, 'why', 'prochot', '-I', '1000')
    bad += [] if done.stdout.count('S0: PROCHOT is asserted') == 2 and 'QPI' not in done.stdout else [done]
    plant(world, [(counts, None)])
    bad += list(fixture.ended(world.run('record', '-o', path, 'throttle_share', 'prochot_share', '--', 'true'), 0))
    done = other.run('report', path, 'why')
    bad += [] if not done.returncode and done.stdout.startswith('S0: PROCHOT is asserted') else [done]
    for args, status, said in ((('link_full',), 2, 'has no qpi_utilization, which the rule needs'),
                               (('nothing',), 2, "there is no rule 'nothing'"), (('--csv',), 2, 'only one of'),
                               (('--sort', 'value'), 2, 'for tables and CSV')):
        bad += fixture.ended(other.run('report', path, 'why', *args), status, said)
    bad += fixture.ended(other.run('report', path, '--fail-on', 'any'), 2, 'report FILE why')
    bad += list(fixture.ended(world.run('record', '-o', path, 'memory_read_bandwidth', '--', 'true'), 0))
    bad += fixture.ended(other.run('report', path, 'why'), 3, 'has not all metrics of any rule')
    ktap.result('rules of a recording, by name and by what it has', bad)
    bad = list(fixture.ended(world.run('record', '-o', path, '--topology', f'{world.dir}/topology', '--', 'true'), 0))
    bad += fixture.ended(other.run('report', path, '--html', f'{world.dir}/p.html'), 0)
    page = html.unescape(''.join(re.findall('id="verdict">\n(.*?)</ul>', fixture.read(f'{world.dir}/p.html'), re.S)))
    wanted = [one['text'] for one in json.loads(other.run('report', path, 'why', '--json').stdout)['verdicts']]
    shown = [line for line in re.findall('<li>(.*?)</li>', page) if not line.startswith('not judged: ')]
    ktap.result('its page has the verdicts, worst first', bad + ([] if len(wanted) == 3 and shown == wanted else
                                                                 [page, wanted]))
    for one in world, other:
        one.end()


def fused():
    """Boxes that are not there are nothing to judge, and in no mean."""
    gone = {('cbox', i, 1) for i in (1, 2, 3, 4, 6, 7)} | {('mbox', 0, 1), ('bbox', 0, 1)}
    world = world_of(2, absent=gone)
    counts = [calm(), calm()]
    hot_slice(counts[1])
    memory(counts[1])
    # The mean of the two slices that are left is exactly half of the hot one, or above it.
    for holds in True, False:
        counts[1]['xeon7500_cbox_5/occupancy_irq'] = 13 * CLOCKS
        counts[1]['xeon7500_cbox_0/occupancy_irq'] = (0 if holds else 1) * CLOCKS
        plant(world, [(counts, None)])
        answer = json.loads(why(world, '--json', '--', 'true').stdout)
        wanted = {('memory_full', 'S1/mbox_1')} | ({('slice_full', 'S1/cbox_5')} if holds else set())
        ktap.result(f'boxes that are fused off, {"a" if holds else "no"} hot slice', [] if found(answer) == wanted and
                    not answer['not_judged'] else [answer])
    world.end()
    world = world_of(2, absent={('rbox', 1, 1)})
    plant(world, [([calm(), calm()], None)])
    done = why(world, '--fail-on', 'link_full', '--', 'true')
    ktap.result('ports of an R-Box that is not there', [] if (done.stdout, done.returncode) == ('nothing is near a limit\n', 0) else
                [done.returncode, done.stdout])
    text = world.run('qpi_utilization', 'qpi_utilization_clock', '--per-box', '--openmetrics', '-', '--', 'true').stdout
    ktap.result('they are no series', [] if 'qpi1' in text and not re.search('not_available|socket="1",box="qpi[23]"', text) else [text])
    world.end()


def nothing():
    """Ratios of next to nothing are no verdict."""
    calm_text = 'nothing is near a limit\n'
    world = world_of(2)
    counts = [calm(), calm()]
    for half in 0, 1:
        for event in 'flits_sent', 'null_idle':
            for port in 2 * half, 2 * half + 1:
                counts[1][f'xeon7500_rbox_{half}/{event},qpi{port}'] = 0
    plant(world, [(counts, None)])
    done = why(world, '--fail-on', 'link_full', '--', 'true')
    ktap.result('a port without a flit is no link', [] if done.stdout == calm_text and not done.returncode else
                [done.returncode, done.stdout])
    counts = [calm(), calm()]
    counts[0]['xeon7500_rbox_0/flits_sent,qpi0'], counts[0]['xeon7500_rbox_0/null_idle,qpi0'] = 1000, 50
    plant(world, [(counts, None)])
    done = why(world, '--', 'true')
    ktap.result('1,000 flits in a second fill no link', [] if done.stdout == calm_text else [done.stdout])
    for package, peer in ((0, 'own'), (1, "other end's")):
        counts = [calm(), calm()]
        link(counts[0])
        for i in range(2):
            counts[package][f'xeon7500_sbox_{i}/to_r_b_requests.remote'] = 3
            counts[package][f'xeon7500_sbox_{i}/to_r_b_requests.local'] = 1
        plant(world, [(counts, None)])
        done = why(world, '--', 'true')
        ktap.result(f'a full link, and 6 {peer} requests', [] if 'qpi0) is 89 % full' in done.stdout and
                    'numactl' not in done.stdout else [done.stdout])
    counts = [calm(), calm()]
    link(counts[0])
    remote(counts[1])
    plant(world, [(counts, None)])
    write(f'{world.dir}/topology', 'link S0.qpi0 S1IOH\n')
    done = why(world, 'link_full', '--json', '--', 'true')
    one = json.loads(done.stdout)['verdicts'][0]
    ktap.result('a hub whose name begins as a package is none', [] if one['text'] == 'QPI S0 to S1IOH (qpi0) is 89 % full' and
                one['values']['theirs'] is None and one['values']['their_rate'] is None else [done.stdout])
    world.end()


def one_of_two():
    """No memory of others where the other package is offline."""
    world = world_of(2)
    write(f'{world.sys}/devices/system/cpu/online', '0-1\n')
    for name in os.listdir(world.devices):
        if name != 'cpu':
            write(f'{world.devices}/{name}/cpumask', '0\n')
    write(f'{world.dir}/online', '0,1')
    counts = [calm()]
    remote(counts[0])
    plant(world, [(counts, None)])
    for args in [], ['remote_memory']:
        done = why(world, *args, '--fail-on', 'any', '--', 'true')
        ktap.result(f'remote requests with the other package offline{" by name" * len(args)}', [] if done.stdout ==
                    'nothing is near a limit\n' and not done.returncode else [done.returncode, done.stdout])
    world.end()


def wrong_limit():
    """A limit that is exceeded is not one."""
    world = world_of(2, 30e6)
    counts = [calm(), calm()]
    plant(world, [(counts, None)])
    done = why(world, '--fail-on', 'memory_full', '--', 'true')
    flat = ' '.join(done.stdout.split())
    said = 'of what was judged, nothing is near a limit not judged: memory_full of S0/mbox_0, S0/mbox_1, S1/mbox_0, ' \
           "S1/mbox_1: more was counted than the limit 'memory', 30 MB/s, so that limit is wrong"
    ktap.result('a limit of 30 MB/s', [] if done.returncode == 1 and flat == said else [done.returncode, flat])
    for much, holds in ((1.04, True), (1.06, False)):
        write(f'{world.dir}/topology', f'limit memory {30e9 / much:.9g}\n')
        counts[0]['xeon7500_mbox_0/bbox_cmds.reads'], counts[0]['xeon7500_bbox_0/imt_inserts_wr'] = 30e9 / 64, 0
        plant(world, [(counts, None)])
        answer = json.loads(why(world, '--json', '--', 'true').stdout)
        place = {('memory_full', 'S0/mbox_0')}
        silent = {(one['rule'], one['place']) for one in answer['not_judged']}
        ktap.result(f'{much:.0%} of a limit', [] if (found(answer), silent) == ((place, set()) if holds else (set(), place))
                    else [answer])
    write(f'{world.dir}/files/x.metric', rule('value a memory_bandwidth', 'limit most watts_of_all_fans', 'if a > most'))
    path = f'{TOP}/metrics:{world.dir}/files'
    for kind, like, files in (('memori', '; did you mean memory', path), ('qpi', None, path), ('power', '', path),
                              ('watts_of_all_fan', '; did you mean watts_of_all_fans', path),
                              ('watts_of_all_fans', None, path), ('watts_of_all_fans', '', f'{TOP}/metrics')):
        write(f'{world.dir}/topology', f'node 0 S0\nlimit {kind} 3e10\n')
        done = why(world, '--', 'true', PERF_METRICS_PATH=files)
        said = '' if like is None else f"{world.dir}/topology:2: no rule has a limit '{kind}'{like}\n"
        ktap.result(f'a limit of the kind {kind}{", with its rule" * (files == path)}', [] if done.returncode == 2 * bool(said) and
                    done.stderr.startswith(said) else [done.returncode, done.stderr])
    world.end()


# ---- random traffic ----

def draw_package(draw):
    """Random counts of a package, and PMUs that are not counted all the time."""
    counts, part = calm(), {}
    for i in range(2):
        counts[f'xeon7500_mbox_{i}/bbox_cmds.reads'] = draw.uniform(0, 36e9) / 64 * draw.random()
        counts[f'xeon7500_bbox_{i}/imt_inserts_wr'] = draw.uniform(0, 20e9) / 64 * draw.random()
        for way in 'local', 'remote':
            counts[f'xeon7500_sbox_{i}/to_r_b_requests.{way}'] = draw.choice((0, 10 ** draw.uniform(5, 9)))
    full = draw.choice((3, 24))
    for i in range(8):
        counts[f'xeon7500_cbox_{i}/occupancy_irq'] = draw.uniform(0, draw.choice((full, 25))) * CLOCKS
    for i in range(4):
        sent = draw.choice((0, draw.uniform(1e6, 1.6e9)))
        counts[f'xeon7500_rbox_{i // 2}/flits_sent,qpi{i}'] = sent
        counts[f'xeon7500_rbox_{i // 2}/null_idle,qpi{i}'] = sent * draw.random() * draw.random()
    for event in 'prochot', 'c_throttle_tmp.c_all':
        counts[f'xeon7500_wbox/{event}'] = draw.choice((0, 0, draw.uniform(0, 0.03), 2)) * CLOCKS
    # perf prints six digits behind the point.
    counts = {key: round(count, 6) for key, count in counts.items()}
    for key in draw.sample(sorted(counts), draw.choice((0, 0, 1, 3))):
        counts[key] = None
    for pmu in draw.sample(sorted({key.split('/')[0] for key in counts}), draw.choice((0, 0, 1))):
        part[pmu] = draw.choice((0.5, 0.98, 0.995))
    return counts, part


def oracle(counts, part, package, packages):
    """({(rule, place): values}, {(rule, place)} that cannot be judged) of one package."""
    holds, silent = {}, set()

    def whole(*keys):
        return all(counts[key] is not None and part.get(key.split('/')[0], 1) >= 0.99 for key in keys)

    def judge(rule, place, judged, condition, **values):
        if not judged:
            silent.add((rule, f'S{package}{place}'))
        elif condition():
            holds[rule, f'S{package}{place}'] = {name: number() for name, number in values.items()}
    for i in range(2):
        keys = f'xeon7500_mbox_{i}/bbox_cmds.reads', f'xeon7500_bbox_{i}/imt_inserts_wr'
        used = sum(counts[key] or 0 for key in keys) * 64
        judge('memory_full', f'/mbox_{i}', whole(*keys) and used <= min(34.2e9, 1.05 * LIMIT), lambda u=used: u >= 0.8 * LIMIT,
              used=lambda u=used: u, most=lambda: LIMIT)
    for i in range(4):
        sent, idle = (f'xeon7500_rbox_{i // 2}/{event},qpi{i}' for event in ('flits_sent', 'null_idle'))
        good = whole(sent, idle)
        used = 100 * (1 - counts[idle] / counts[sent]) if good and counts[sent] else 0
        judge('link_full', f'/qpi{i}', good, lambda u=used, s=sent: u >= 80 and u / 100 * counts[s] * 8 >= 1e8,
              used=lambda u=used: u)
    clocks = 'xeon7500_wbox/uncore_clock'
    keys = [f'xeon7500_cbox_{i}/occupancy_irq' for i in range(8)]
    good = whole(clocks, *keys) and all(counts[key] <= 24 * counts[clocks] for key in keys)
    entries = [counts[key] / counts[clocks] for key in keys] if good else [0] * 8
    for i in range(8):
        judge('slice_full', f'/cbox_{i}', good, lambda e=entries[i]: e >= 12 and e >= 2 * sum(entries) / 8,
              entries=lambda e=entries[i]: e, average=lambda: sum(entries) / 8)
    judge('cache_full', '', good, lambda: sum(entries) / 8 >= 12, entries=lambda: sum(entries) / 8)
    for rule_name, value, key in (('throttled', 'hot', 'xeon7500_wbox/c_throttle_tmp.c_all'),
                                  ('prochot', 'prochot', 'xeon7500_wbox/prochot')):
        judge(rule_name, '', whole(clocks, key) and counts[key] <= counts[clocks], lambda k=key: counts[k] >= 0.01 * counts[clocks],
              **{value: lambda k=key: 100 * counts[k] / counts[clocks]})
    local, away = ([f'xeon7500_sbox_{i}/to_r_b_requests.{way}' for i in range(2)] for way in ('local', 'remote'))
    good = whole(*local, *away)
    rate, own = (sum(counts[key] or 0 for key in keys) for keys in (away, local))
    judge('remote_memory', '', good or packages == 1, lambda: packages > 1 and rate >= own and rate >= 1e7, remote=lambda: 100 * rate / (rate + own),
          rate=lambda: rate)
    return holds, silent


def differences(answer, packages):
    """What a line of JSON has other than the oracle."""
    holds, silent = {}, set()
    for package, (counts, part) in enumerate(packages):
        more = oracle(counts, part, package, len(packages))
        holds.update(more[0])
        silent |= more[1]
    if found(answer) != set(holds):
        yield f'{found(answer) ^ set(holds)}: found is {found(answer)}'
    unjudged = {(one['rule'], one['place']) for one in answer['not_judged']}
    if unjudged != silent:
        yield f'not judged by the program alone: {unjudged - silent}, by the oracle alone: {silent - unjudged}'
    for one in answer['verdicts']:
        for name, number in holds.get((one['rule'], one['place']), {}).items():
            if abs(one['values'][name] - number) > 1e-6 * abs(number) + 1e-9:
                yield f'{one}: {name} is {number}'
    shares = [one['share'] for one in answer['verdicts']]
    if shares != sorted(shares, reverse=True):
        yield f'not worst first: {shares}'


def traffics(number=1000):
    """No verdict contradicts the planted values, and none is missing."""
    seed = int(os.environ.get('SEED', random.randrange(1 << 32)))
    print(f'# seed {seed}')
    draw, verdicts, silent = random.Random(seed), 0, 0
    for packages in TOPOLOGIES:
        world = world_of(packages)
        planted = [[draw_package(draw) for _ in range(packages)] for _ in range(number // 4)]
        plant(world, [([p[0] for p in one], [p[1] for p in one]) for one in planted])
        done = why(world, '--json', '-I', '1000', FAKE_PATIENCE='100000')
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        bad = [] if len(answers) == len(planted) else [f'{len(answers)} answers', done.stderr[-500:]]
        for answer, one in zip(answers, planted):
            bad += differences(answer, one)
            verdicts += len(answer['verdicts'])
            silent += len(answer['not_judged'])
        ktap.result(f'{number // 4} random traffics on {packages} sockets', bad)
        world.end()
    ktap.result(f'{verdicts} verdicts and {silent} places not judged are enough to tell',
                [] if verdicts > number and silent > number else ['too few'])


# ---- cores ----

def cores():
    """Goldmont and Sandy Bridge: of a command, and of a package."""
    names = {'06_5c': (['offcore_outstanding.demand_data_rd', 'offcore_requests.demand_data_rd',
                        'mem_load_uops_retired.dram_hit', 'mem_uops_retired.all_loads', 'cpu-cycles'],
                       'loads_wait', 'DRAM serves 12 % of all loads'),
             '06_2a': (['event=0x60,umask=0x1', 'event=0xb0,umask=0x1', 'event=0xd1,umask=0x4',
                        'event=0xd0,umask=0x81', 'cpu-cycles'], 'snb_loads_wait',
                       'the last-level cache serves 12 % of all loads')}
    for model, (events, rule, level) in names.items():
        world = World(model=model, modules=('intel_core_ext',))
        world.pmu('cpu', [event for event in events if '=' not in event], None)
        for reads, holds in ((0.75, True), (0.25, False)):
            counts = (1e9 * reads, 1e9 * reads / 310, 12e6, 100e6, 1e9)
            if holds:
                world.play(f'COUNTS = {dict(zip(events, (count / 1e6 for count in counts)))}\nready()\nuntil_told()\n'
                           'say(lines(lambda pmu, terms, cpu: COUNTS[terms]))\n')
                done = world.run('why', '-a', '--', 'true')
                ktap.result(f'{rule} does not hold of an idle machine', [] if done.stdout == 'nothing is near a limit\n'
                            else [done.stdout])
                world.play(f'COUNTS = {dict(zip(events, (*counts[:2], 0, 0, counts[4])))}\nready()\nuntil_told()\n'
                           'say(lines(lambda pmu, terms, cpu: COUNTS[terms]))\n')
                flat = ' '.join(world.run('why', '--', 'true').stdout.split())
                ktap.result(f'{rule} where the share of loads is n/a', [] if 'clocks each doubt: ' in flat and 'n/a' not in flat
                            else [flat])
            world.play(f'COUNTS = {dict(zip(events, counts))}\nready()\nuntil_told()\n'
                       'say(lines(lambda pmu, terms, cpu: COUNTS[terms]))\n')
            for args, place in (['--', 'true'], 'the command'), (['-a', '--', 'true'], 'S0, S1'):
                done = world.run('why', *args)
                said = f'{place}: loads wait for what is outside of the core: 0.75 reads at a time, for 310 core ' \
                       f'clocks each; {level}'
                flat = ' '.join(done.stdout.split())
                good = said in flat if holds else flat == 'nothing is near a limit'
                ktap.result(f'{rule} {"" if holds else "does not "}hold{"s" * holds} of {place}',
                            [] if good and not done.returncode else [done.stdout, done.stderr])
        world.end()


# ---- the status ----

def statuses():
    """What a script gets."""
    world = world_of(2)
    counts = [calm(), calm()]
    memory(counts[1])
    plant(world, [(counts, None)])
    for name, args, status, text in (
            ('a verdict alone is no failure', ['--', 'true'], 0, ''),
            ('any', ['--fail-on', 'any', '--', 'true'], 4, ''),
            ('a rule that holds', ['--fail-on', 'throttled,memory_full', '--', 'true'], 4, ''),
            ('another rule', ['--fail-on', 'throttled', '--', 'true'], 0, ''),
            ('the command has failed', ['--fail-on', 'any', '--', 'sh', '-c', 'exit 7'], 7, ''),
            ('one of two that was asked for', ['throttled', '--fail-on', 'any', '--', 'true'], 0, ''),
            ('an empty word', ['--fail-on', ',', '--', 'true'], 2, "'' is none that is judged here"),
            ('no word', ['--fail-on', '', '--', 'true'], 2, "'' is none that is judged here"),
            ('a rule that is none', ['--fail-on', 'memori', '--', 'true'], 2, "'memori' is none that is judged here"),
            ('a rule that was not asked for', ['throttled', '--fail-on', 'link_full'], 2, "'link_full' is none"),
            ('no such rule', ['memory_ful', '--', 'true'], 2, "no rule 'memory_ful'; did you mean memory_full: perf metrics list --rules"),
            ('an option that it has not', ['--csv'], 2, '--csv is not for perf metrics why')):
        done = why(world, *args)
        ktap.result(f'status {status}: {name}', [] if done.returncode == status and text in done.stderr else
                    [done.returncode, done.stderr])
    counts[0]['xeon7500_wbox/prochot'] = None
    plant(world, [(counts, None)])
    for rule, status in (('prochot', 1), ('throttled', 0), ('memory_full', 4), ('link_full', 0), ('any', 4)):
        done = why(world, '--fail-on', rule, '--', 'true')
        ktap.result(f'status {status}: --fail-on {rule} where PROCHOT is not counted',
                    [] if done.returncode == status else [done.returncode, done.stdout])
    plant(world, [([{**calm(), 'xeon7500_wbox/prochot': None}, calm()], None)])
    for rule, status in (('any', 0), ('prochot', 1)):
        done = why(world, '--fail-on', rule, '--', 'true')
        ktap.result(f'status {status}: --fail-on {rule} where nothing holds and PROCHOT is not counted',
                    [] if done.returncode == status else [done.returncode, done.stdout])
    odd = f'{world.dir}/t\udce4'
    write(odd, 'limit memory 3e10 S0/mbox_0\n')
    plant(world, [([calm(), calm()], None)])
    done = world.run('why', 'memory_full', '--json', '--topology', odd, '--', 'true')
    ktap.result('a topology file whose name is no text', [] if len(json.loads(done.stdout)['not_judged']) == 3 else [done])
    world.play('ready()\nuntil_told()\nsay(lines(lambda *a: "<not counted>"))\n')
    done = why(world, '--', 'true')
    ktap.result('status 1: nothing was counted', [] if done.returncode == 1 and
                done.stdout.startswith('nothing could be judged\n') else [done.returncode, done.stdout])
    write(f'{world.dir}/topology', 'limit memory fast\n')
    done = why(world, '--', 'true')
    ktap.result('status 2: a wrong topology file', [] if done.returncode == 2 and
                "topology:1: 'fast' is no limit, which is a number above 1e6" in done.stderr else [done.stderr])
    world.end()
    world = World(model='06_9e')
    done = world.run('why')
    ktap.result('status 3: no rule is for the machine', [] if done.returncode == 3 and 'perf metrics status' in
                done.stderr else [done.returncode, done.stderr])
    world.end()
    world = World(driver=False)
    done = world.run('why', '--', 'true')
    ktap.result('status 3: no module', [] if done.returncode == 3 and 'modprobe xeon7500_uncore' in done.stderr
                else [done.returncode, done.stderr])
    world.end()


# ---- rules of users ----

def rule(*lines):
    """A rule that is right but for these lines."""
    text = 'group g\nrule r\n'
    for word, usual in (('value', 'value a memory_bandwidth'), ('if', 'if a > 1'), ('share', 'share a'),
                        ('says', 'says {a} on {box}')):
        if not any(line.split()[0] == word for line in lines):
            lines += (usual,)
    return text + '\n'.join(lines) + '\n'


# The line, and what is said of it.
WRONG = {
    'a metric that is none': (rule('value a memory_bandwith'), 2, "rule 'r': there is no metric 'memory_bandwith'"),
    'a variable that is none': (rule('if b > 1'), 3, '"b"'),
    'no value': ('group g\nrule r\nif 1\nshare 1\nsays x\n', 3, 'a rule begins with the value of the place'),
    'no condition': ('group g\nrule r\nvalue a memory_bandwidth\nshare a\nsays x\n', 2, "has no line 'if'"),
    'no share': ('group g\nrule r\nvalue a memory_bandwidth\nif a\nsays x\n', 2, "has no line 'share'"),
    'no sentence': ('group g\nrule r\nvalue a memory_bandwidth\nif a\nshare a\n', 2, "has no line 'says'"),
    'a word of the sentence that is none': (rule('says {b} is much'), 3, "'b' is no value of the rule"),
    'a brace that is open': (rule('says {a is much'), 3, "'a is much' is no value"),
    'an assignment': (rule('if a = 1'), 3, 'it sets a variable'),
    **{f'a {of} of packages': (rule('value a memory_bandwidth', f'value b {of} uncore_clock_mhz', 'if a > b'), 2,
                               f'uncore_clock_mhz has one value in a package, so it has no {of}') for of in ('mean', 'max', 'min')},
    'a metric that is none before one that is': (rule('value a memory_bandwith', 'value b uncore_clock_mhz', 'if a > b'), 2,
                                                 "rule 'r': there is no metric 'memory_bandwith'"),
    'parts that are named as the place': (
        'group g\nmetric p\nscope package x y\nevent e xeon7500_wbox/uncore_clock/\nformula e\n' + rule(
            'value a uncore_clock_mhz', 'value b p', 'if a > b').split('\n', 1)[1], 6, 'p has its values elsewhere than uncore_clock_mhz'),
    'a peer of memory': (rule('value a memory_bandwidth', 'value b peer uncore_clock_mhz', 'if a > b'), 2,
                         'memory_bandwidth is not of ports'),
    'values of other places': (rule('value a memory_bandwidth', 'value b qpi_utilization', 'if a > b'), 2,
                               'qpi_utilization has its values elsewhere than memory_bandwidth'),
    'a value that nothing has': (rule('value a memory_bandwidth', 'value b uncore_clock_mhz'), 2,
                                 "value 'b' is not used"),
    'a rule named any': (rule().replace('rule r', 'rule any'), 2, '--fail-on any is all rules'),
    'a value named as a place': (rule('value package memory_bandwidth', 'if package > 1', 'share package', 'says {package}'), 3,
                                 '{package} is of the place'),
    'no doubt': (rule('doubt'), 3, 'there is no doubt'),
    'no page': (rule('page'), 3, 'a page is one word'),
    'one package': (rule('packages 1'), 3, 'packages is a number from 2 on'),
    'a value twice': (rule('value a memory_bandwidth', 'value a llc_miss_rate'), 4, "there is a value 'a' already"),
    'two conditions': (rule('if a > 1', 'if a > 2'), 4, "there is a line 'if' already"),
    'too many values': (rule(*(f'value {name} memory_bandwidth' for name in 'abcdefghijklm')), 15, 'too many values'),
    'a value whose name has a capital': (rule('value A memory_bandwidth', 'if A > 1', 'share A', 'says {A}'), 3, 'a value is NAME'),
    'a mean before the place': (rule('value a mean memory_bandwidth'), 4, 'a rule begins with the value of the place'),
    'two packages and a word': (rule('packages 2 or more'), 3, 'packages is a number from 2 on'),
    'an empty sentence': (rule('says'), 3, 'there is no sentence'),
    'a word of what else is said that is none': (rule('also a > 1 : {b}'), 3, "'b' is no value of the rule"),
    'nothing else is said': (rule('also a > 1 :'), 3, 'there is no sentence'),
    'five lines also': (rule(*5 * ['also a > 1 : x']), 7, "too many lines 'also'"),
    'a limit without a kind': (rule('value a memory_bandwidth', 'limit m'), 4, 'a limit is NAME KIND'),
    'a limit that is no word': (rule('value a memory_bandwidth', 'limit m mem"x', 'if a > m'), 4, "'mem\"x' is no name"),
    'also without a sentence': (rule('value a memory_bandwidth', 'also a > 1'), 4, 'also is CONDITION : SENTENCE'),
    'a word that a rule has not': (rule('formula a'), 3, "'formula' is nothing a rule has"),
    'a page of two words': (rule('page a b'), 3, 'a page is one word'),
    'a name with a capital': (rule().replace('rule r', 'rule R'), 2, "'R' is no name"),
    'two rules of a name': (rule() + rule().replace('group g\n', ''), 7, 'there is a rule of this name: '),
    'a value of three words': (rule('value a mean memory_bandwidth now'), 3, 'a value is NAME'),
    'limit before the place': ('group g\nrule r\nlimit m memory\nvalue a memory_bandwidth\nif a > m\nshare a\n'
                               'says x\n', 5, 'a rule begins with the value of the place'),
}
RIGHT = {
    'a value for what else is said': rule('value a memory_bandwidth', 'value b memory_read_share', 'also a > 1 : , {b}'),
    'one of installed metrics': rule(),
    'a limit of his own': rule('value a llc_miss_rate', 'limit m llc', 'if a > 0.5 * m'),
    'one for each of two': rule('for x qpi_utilization memory_bandwidth', 'value a {x}').replace('rule r', 'rule r_{x}'),
    'also and doubt twice': rule('value a qpi_utilization', 'value b peer uncore_clock_mhz', 'also b > 1 : {b}', 'also b > 2 : x',
                                 'doubt x', 'doubt y'),
}


def own_rules():
    """Wrong ones have one clear line, with its number; right ones are judged."""
    world = world_of(2)
    plant(world, [([calm(), calm()], None)])
    path = f'{world.dir}/own/x.metric'
    own = {'PERF_METRICS_PATH': f'{TOP}/metrics:{world.dir}/own'}
    for name, (text, line, said) in WRONG.items():
        write(path, text)
        done = world.run('check', path)
        bad = [] if done.returncode == 2 and done.stderr.count('\n') == 1 and not done.stdout and \
            done.stderr.startswith(f'{path}:{line}: ') and said in done.stderr else [done.returncode, done.stderr]
        done = why(world, '--', 'true', **own)
        bad += [] if done.returncode == 2 and done.stderr.count('\n') == 2 and said in done.stderr else [done.stderr]
        ktap.result(f'a wrong rule: {name}', bad)
    done = world.run('check', f'{TOP}/metrics/verdict.metric', *(
        f'{TOP}/metrics/{name}.metric' for name in ('memory', 'qpi', 'cbox', 'power')), env={'PERF_METRICS_PATH': '/nowhere'}.items())
    ktap.result('rules with their metrics, where nothing is installed', [] if not done.returncode else [done.stderr])
    for name, text in RIGHT.items():
        write(path, text)
        done = world.run('check', path)
        ktap.result(f'a right rule: {name}', [] if not done.returncode and done.stdout.startswith('0 metrics, ')
                    else [done.stderr])
    write(path, rule('value a memory_bandwidth', 'limit m own', 'if a > m', 'says {a} of {m} on {package}, {box}'))
    for place, wanted in (('', 4), (' S1', 2), (' S1/mbox_0', 1)):
        write(f'{world.dir}/topology', f'limit own 1e9{place}\n')
        answer = json.loads(why(world, 'r', '--json', '--', 'true', **own).stdout)
        ktap.result(f'a limit of his own{place or " of all"}', [] if len(answer['verdicts']) == wanted and
                    len(answer['not_judged']) == 4 - wanted else [answer])
    write(f'{world.dir}/topology', 'limit own 1e14 S1/mbox_0\nlimit own 1 S1\n')
    answer = json.loads(why(world, 'r', '--json', '--', 'true', **own).stdout)
    ktap.result('a limit of a box goes before that of its package', [] if [one['place'] for one in answer['verdicts']] == ['S1/mbox_1']
                and len(answer['not_judged']) == 2 else [answer])
    write(path, rule('value a uncore_clock_mhz', 'limit m own', 'if a > m', 'says {a} of {m} on {package}'))
    for text in 'limit own 1\nlimit own 1e14 S1\n', 'limit own 1e14 S1\nlimit own 1\n':
        write(f'{world.dir}/topology', text)
        answer = json.loads(why(world, 'r', '--json', '--', 'true', **own).stdout)
        ktap.result('a limit of a package goes before that of all', [] if [one['place'] for one in answer['verdicts']] == ['S0']
                    and not answer['not_judged'] else [answer])
    done = world.run('uncore_clock_mhz', '--per-machine', '--per-socket', '--openmetrics', '-', '--topology', f'{world.dir}/topology', '--', 'true',
                     env=own.items())
    ktap.result('limits of packages are written', [] if re.findall('perf_metrics_limit{.*', done.stdout) == [
        'perf_metrics_limit{limit="own",socket="0"} 1', 'perf_metrics_limit{limit="own",socket="1"} 100000000000000'] else [done.stdout])
    write(f'{world.dir}/topology', f'limit memory {LIMIT}\n')
    write(path, rule('value a memory_bandwidth', 'value b max memory_bandwidth', 'value c min memory_bandwidth', 'if a < b',
                     'says {a} of {c} to {b}'))
    answer = json.loads(why(world, 'r', '--json', '--', 'true', **own).stdout)
    values = [(one['place'], one['values']['a'], one['values']['b'], one['values']['c']) for one in answer['verdicts']]
    reads = [1e8 * 64 + 4e7 * 64, 1.01e8 * 64 + 4e7 * 64]
    ktap.result('the highest and the lowest of a package', [] if sorted(values) == [
        (f'S{p}/mbox_0', reads[0], reads[1], reads[0]) for p in (0, 1)] else [answer])
    write(path, rule('value a memory_bandwidth', 'if a > 1', 'share 0 - a', 'says says {a}', 'also sqrt(0 - a) : : never'))
    done = why(world, 'r', '--', 'true', **own)
    ktap.result('what has no value is not said', [] if sorted(done.stdout.split()) == sorted('says 8.96 GB/s says 9.02 GB/s'.split()) else
                [done.stdout, done.stderr])
    saved = f'{world.dir}/saved'
    world.run('record', 'memory_bandwidth', '-o', saved, '--', 'true', env=own.items())
    page = world.run('report', saved, '--html', f'{world.dir}/page.html', env=own.items())
    ktap.result('a verdict of no share is on the page', [] if 'says 8.96' in open(f'{world.dir}/page.html').read() else [page.stderr])
    write(path, rule('value a memory_bandwidth', 'says {package}: busy'))
    done = why(world, 'r', '--', 'true', **own)
    ktap.result('a package of two places is named once', [] if done.stdout == 'S0, S1: busy\n' else [done.stdout, done.stderr])
    write(path, 'group g\nmachine 06_2e\nmetric odd\n\thelp x\n\tunit 1/s\n\tevent a xeon7500_wbox/uncore_clock/\n\tformula a / seconds\n'
          '\tvalid sqrt(0 - a) : nobody knows\n\tsource own\n')
    ktap.result('a condition without a value does not hold', fixture.ended(
        world.run('odd', '--', 'true', env=own.items()), 1, 'n/a.*nobody knows|nobody knows', 'stdout'))
    write(path, rule('value a memory_bandwidth', 'value b llc_miss_rate', 'if a > b'))
    done = why(world, 'r', '--', 'true', **own)
    ktap.result('a value of boxes of another kind', [] if 'S1/mbox_1: llc_miss_rate has no value there' in ' '.join(done.stdout.split())
                else [done.stdout, done.stderr])
    write(path, rule().replace('rule r', 'rule memory_full').replace('if a > 1', 'if a > 1e12'))
    counts = [calm(), calm()]
    memory(counts[0])
    plant(world, [(counts, None)])
    done = why(world, '--', 'true', **own)
    ktap.result('a rule defined anew', [] if done.stdout == 'nothing is near a limit\n' else [done.stdout, done.stderr])
    ktap.result('list --rules', fixture.ended(world.run('list', '--rules'), 0, 'memory_full', 'stdout'))
    write(path, rule('help What it is', 'value a qpi_utilization', 'value b max qpi_utilization', 'value c peer uncore_clock_mhz',
                     'limit m own', 'packages 3', 'share a / m', 'also b > 1 : , {c}', 'doubt x', 'doubt y', 'page p#q'))
    done = world.run('list', 'r', env=own.items())
    ktap.result('list of a rule has all its lines', [] if ' '.join(done.stdout.split()) ==
                'r help What it is group g value a = qpi_utilization value b = max of qpi_utilization value c = peer of uncore_clock_mhz '
                f'limit m = own packages 3 or more if a > 1 share a / m says {{a}} on {{box}} also b > 1 : , {{c}} doubt x y page p#q file {path}:2'
                else [done.stdout, done.stderr])
    values = json.loads(world.run('list', 'r', '--json', env=own.items()).stdout)[0]['values']
    ktap.result('list of a rule has the units of its values', [] if [one['unit'] for one in values] == ['%', '%', 'MHz', None] else [values])
    world.end()


def main():
    ktap.result('it is built', fixture.build())
    if ktap.bad:
        return ktap.end()
    for test in (matrix, sentences, recorded, fused, nothing, one_of_two, wrong_limit, traffics, cores, statuses,
                 own_rules):
        test()
    return ktap.end()


if __name__ == '__main__':
    ktap = Ktap()
    sys.exit(main())
