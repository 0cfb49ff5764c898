#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The alerts for Prometheus, by its own promtool: of planted traffic, they fire for what
perf metrics why says, and for nothing else. What the service writes for node_exporter is what the
rules are tested with, so a panel of the default dashboard without a series is found, too.
"""
import json
import os
import random
import re
import subprocess
import sys

HOST = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [f'{HOST}/../lib', f'{HOST}/metrics', HOST]
sys.dont_write_bytecode = True
import debian
import fixture
import verdicts
from fixture import World, write
from ktap import Ktap

TOP = fixture.TOP
ktap = Ktap()


def exported(world, target):
    """What export.py makes of the metric files."""
    with open(f'{TOP}/tools/metrics/perf-metrics.service', encoding='utf-8') as f:
        names = re.search(r'^Environment="METRICS=(.*)"$', f.read(), re.M).group(1).split()
    listed = world.run('list', *(['--rules'] if target == 'alerts' else []), '--json').stdout
    done = subprocess.run([f'{TOP}/tools/metrics/export.py', target, *(names if target == 'grafana' else [])],
                          input=listed, text=True, capture_output=True, check=True)
    return done.stdout, names


def series(text):
    """{series: value} of OpenMetrics, as Prometheus has it of one machine."""
    found = {}
    for name, labels, number in re.findall(r'^(perf_metrics_\w+)(?:\{(.*)\})? (\S+)$', text, re.M):
        found[f'{name}{{instance="h",job="node"{"," * bool(labels)}{labels}}}'] = number
    return found


def camel(rule):
    """memory_full is MemoryFull."""
    return 'PerfMetrics' + ''.join(word.capitalize() for word in rule.split('_'))


def alert_labels(rule, place):
    """Those of an alert that fires."""
    package, _, box = place.partition('/')
    labels = {'alertname': camel(rule), 'alertstate': 'firing', 'instance': 'h', 'job': 'node', 'rule': rule,
              'severity': 'warning', 'socket': package[1:], **({'box': box} if box else {})}
    return 'ALERTS{' + ','.join(f'{name}="{text}"' for name, text in sorted(labels.items())) + '}'


def case(name, found, holds):
    """A test of promtool's: after ten minutes these alerts fire, and after four none does."""
    return {'name': name, 'interval': '1m',
            'input_series': [{'series': key, 'values': f'{number}+0x10'} for key, number in found.items()],
            'promql_expr_test': [
                {'expr': 'ALERTS{alertstate="firing"}', 'eval_time': '10m',
                 'exp_samples': [{'labels': alert_labels(*one), 'value': 1} for one in sorted(holds)]},
                {'expr': 'ALERTS{alertstate="firing"}', 'eval_time': '4m', 'exp_samples': []}]}


def cases(world, names, draw, packages, number):
    """Tests of random traffic, what is written for it, and what the program itself says."""
    for i in range(number):
        planted = [verdicts.draw_package(draw) for _ in range(packages)]
        verdicts.plant(world, [([p[0] for p in planted], [p[1] for p in planted])])
        done = world.run(*names, '--per-box', '--topology', f'{world.dir}/topology', '--openmetrics', '-',
                         '--', 'true')
        holds = {}
        for package, one in enumerate(planted):
            holds.update(verdicts.oracle(*one, package, packages)[0])
        yield case(f'traffic {i} on {packages}', series(done.stdout), holds), done.stdout


def promtool(program, directory, rules, tests):
    """What promtool says is wrong."""
    write(f'{directory}/alerts.yml', rules)
    write(f'{directory}/test.yml', json.dumps({'rule_files': ['alerts.yml'], 'tests': tests}))
    done = subprocess.run([f'{program}/usr/bin/promtool', 'test', 'rules', f'{directory}/test.yml'], text=True,
                          capture_output=True, check=False)
    return [done.stdout + done.stderr] if done.returncode else []


def check_random(program, world_rules, names):
    """Random traffic on machines of all sizes."""
    seed = int(os.environ.get('SEED', random.randrange(1 << 32)))
    print(f'# seed {seed}')
    draw = random.Random(seed)
    for packages in verdicts.TOPOLOGIES:
        world = verdicts.world_of(packages)
        tests = [test for test, _ in cases(world, names, draw, packages, 12)]
        fire = sum(len(test['promql_expr_test'][0]['exp_samples']) for test in tests)
        bad = promtool(program, world.dir, world_rules, tests)
        ktap.result(f'12 random traffics on {packages} sockets, alerts fire', bad or ([] if fire else ['none does']))
        world.end()


def check_one(program, rules, names):
    """What an alert says; and what silences it."""
    world = verdicts.world_of(2)
    counts = [verdicts.calm(), verdicts.calm()]
    verdicts.memory(counts[1])
    verdicts.plant(world, [(counts, None)])
    ask = (*names, '--per-box', '--openmetrics', '-', '--topology', f'{world.dir}/topology', '--', 'true')
    found = series(world.run(*ask).stdout)
    test = case('one', found, {('memory_full', 'S1/mbox_1'): None})
    test['alert_rule_test'] = [{'eval_time': '10m', 'alertname': 'PerfMetricsMemoryFull', 'exp_alerts': [{
        'exp_labels': {'instance': 'h', 'job': 'node', 'socket': '1', 'box': 'mbox_1', 'severity': 'warning',
                       'rule': 'memory_full'},
        'exp_annotations': {
            'summary': 'h S1 mbox_1: A memory controller is near its maximum bandwidth (severity 92 of 100)',
            'description': json.loads(re.search(r'description: ("Doubt: Right if the limit.*")', rules).group(1)),
            'page': 'Documentation/answers.md#how-much-memory-bandwidth-is-in-use'}}]}]
    ktap.result('an alert has place, share, doubt and page', promtool(program, world.dir, rules, [test]))
    for name, mark in (('multiplexed', 'perf_metrics_multiplexed'), ('not plausible', 'perf_metrics_not_plausible'),
                       ('n/a', 'perf_metrics_not_available')):
        more = {f'{mark}{{instance="h",job="node",metric="memory_bandwidth",socket="1",box="mbox_1"}}': '1'}
        ktap.result(f'no alert of what is {name}', promtool(program, world.dir, rules, [case(name, {**found, **more}, {})]))
    less = {key: number for key, number in found.items() if 'perf_metrics_limit' not in key}
    ktap.result('no alert where the limit is not known', promtool(program, world.dir, rules, [case('no limit', less, {})]))
    ktap.result('limits are written', [] if len(found) - len(less) == 4 and found[
        'perf_metrics_limit{instance="h",job="node",limit="memory",socket="1",box="mbox_1"}'] == '30000000000' else [found])
    write(f'{world.dir}/files/x.metric', 'group g\nrule half\nvalue used memory_bandwidth\nlimit most memory\nshare used / most\n'
          'if used > most / 2\nsays {used}\nrule other\nvalue used memory_bandwidth\nlimit most other\nshare used / most\n'
          'if used > most\nsays {used}\n')
    more = world.run(*ask, env={'PERF_METRICS_PATH': f'{TOP}/metrics:{world.dir}/files'}.items()).stdout
    ktap.result('a limit of two rules is written once', [] if more.count('perf_metrics_limit{') == 4 else [more])
    # Without the directory, as an old node_exporter has it.
    for file in '/var/lib/prometheus/node-exporter/perf-metrics.prom', 'perf-metrics.prom':
        old = {f'node_textfile_mtime_seconds{{instance="h",job="node",file="{file}"}}': '-60'}
        test = case('old', old, {})
        test['promql_expr_test'] = [
            {'expr': 'ALERTS{alertname="PerfMetricsOld",alertstate="firing"}', 'eval_time': when, 'exp_samples': firing}
            for when, firing in (('9m', []), ('10m', [{'labels': 'ALERTS{alertname="PerfMetricsOld",alertstate="firing",'
                                                       f'file="{file}",instance="h",job="node",severity="warning"}}', 'value': 1}]))]
        ktap.result(f'an alert of a file that is old: {file}', promtool(program, world.dir, rules, [test]))
    firing = [test['promql_expr_test'][1]['exp_samples'][0], {'labels': alert_labels('memory_full', 'S1/mbox_1'), 'value': 1}]
    test = case('values of an old file', {**found, **old}, {})
    test['promql_expr_test'] = [{'expr': 'ALERTS{alertstate="firing"}', 'eval_time': when, 'exp_samples': [one]}
                                for when, one in zip(('10m', '9m'), firing)]
    ktap.result('no alert of values of a file that is old', promtool(program, world.dir, rules, [test]))
    world.play('ready()\nfor i in range(3):\n    say(lines(interval=i + 1))\n')
    done = world.run('memory', '-I', '1000', '--per-box', '--openmetrics', '-', '--topology', f'{world.dir}/topology')
    ktap.result('limits are in each interval', [] if done.stdout.count('perf_metrics_limit{') == 12 and
                not done.returncode else [done.returncode, done.stdout[-500:], done.stderr[-500:]])
    world.play(verdicts.PLAY)
    done = subprocess.run([f'{program}/usr/bin/promtool', 'check', 'metrics'], input=world.run(*ask).stdout, text=True,
                          capture_output=True, check=False)
    ktap.result('promtool takes what is written', [] if not done.returncode and not done.stderr else
                [done.stdout + done.stderr])
    world.end()


def dashboard():
    """Each panel of the default dashboard has a series of what the service writes, memory first."""
    world = verdicts.world_of(2)
    board, names = exported(world, 'grafana')
    verdicts.plant(world, [([verdicts.calm(), verdicts.calm()], None)])
    text = world.run(*names, '--per-box', '--openmetrics', '-', '--', 'true').stdout
    families = set(re.findall(r'^(perf_metrics_\w+)\{', text, re.M))
    panels = [panel for panel in json.loads(board)['panels'] if panel['type'] != 'row']
    asked = [target['expr'].split('{')[0] for panel in panels for target in panel['targets']]
    ktap.result('each panel of the default dashboard has data', [name for name in asked if name not in families] +
                ([] if len(asked) == len(set(asked)) == len(panels) > 10 else [asked]))
    ktap.result('memory comes first', [] if asked[0].startswith('perf_metrics_memory_') else [asked])
    ktap.result('the dashboard shows all that the service counts', sorted(
        families - set(asked)))
    default = f'{TOP}/tools/metrics/perf-metrics.default'
    with open(default, encoding='utf-8') as f:
        ktap.result('/etc/default names the default', [] if f'#METRICS="{" ".join(names)}"' in f.read() else [names])
    rules = json.loads(world.run('list', '--rules', '--json').stdout)
    missing = {value['family'] for rule in rules for value in rule['values']
               if '06_2e' in rule['machine'] and value['family']} - families
    ktap.result('the service counts what each rule needs', sorted(missing))
    world.end()


def page(program):
    """The fourth step of Documentation/grafana.md, with Debian's configuration of Prometheus: what it
    says can be pasted, and what it names is there."""
    world = verdicts.world_of(2)
    root = f'{world.dir}/root'
    with open(f'{TOP}/Documentation/grafana.md', encoding='utf-8') as f:
        steps = re.split(r'^## \d\. ', f.read(), flags=re.M)
    for folder in 'etc/prometheus', 'usr/share/doc/perf-metrics/examples', 'bin':
        os.makedirs(f'{root}/{folder}')
    with open(f'{program}/etc/prometheus/prometheus.yml', encoding='utf-8') as f:
        write(f'{root}/etc/prometheus/prometheus.yml', f.read())
    write(f'{root}/usr/share/doc/perf-metrics/examples/alerts.yml', exported(world, 'alerts')[0])
    for name, text in (('perf', f'shift\nexec {fixture.BUILD}/perf-metrics "$@"'), ('systemctl', 'echo "$@"'),
                       ('promtool', f'exec {program}/usr/bin/promtool "$@"')):
        write(f'{root}/bin/{name}', f'#!/bin/sh\n{text}\n')
        os.chmod(f'{root}/bin/{name}', 0o755)
    commands = '\n'.join(re.findall(r'^```sh\n(.*?)^```', steps[4], re.M | re.S)).replace('/etc/', f'{root}/etc/').replace(
        '/usr/share/doc', f'{root}/usr/share/doc')
    topology = f'{root}/etc/perf-metrics/topology'
    for name in 'the page: alerts are loaded', 'the page: a second time nothing is lost':
        done = subprocess.run(['bash', '-ec', commands], env=world.env(PATH=f'{root}/bin:{os.environ["PATH"]}'), text=True,
                              capture_output=True, check=False)
        good = not done.returncode and '1 rule files found' in done.stdout and done.stdout.endswith('reload prometheus\n')
        with open(topology, encoding='utf-8') as f:
            text = f.read()
        ktap.result(name, [] if good and ('a second' not in name or text.endswith('1.6e10\n')) else
                    [done.stdout, done.stderr, text])
        # What was measured is written into it by hand.
        write(topology, text.replace('#limit memory ?\n', 'limit memory 1.6e10\n'))
    verdicts.plant(world, [([verdicts.calm(), verdicts.calm()], None)])
    done = world.run('memory_bandwidth', '--per-box', '--openmetrics', '-', '--topology',
                     topology, '--', 'true')
    ktap.result('the page: memory has a limit', [] if done.stdout.count('perf_metrics_limit{') == 4 else [done.stderr])
    with open(f'{TOP}/debian/perf-metrics.examples', encoding='utf-8') as f:
        packaged = f.read()
    ktap.result('the page: the package has dashboards and alerts', [
        name for name in ('dashboard.json', 'dashboard-full.json', 'alerts.yml')
        if f'build/metrics/export/{name}\n' not in packaged])
    world.end()


def own(program):
    """Rules that PromQL cannot say are left out, with a word; others are right."""
    world = World()
    path = f'{world.dir}/own'
    for name, lines, wanted in (
            ('a peer', ['value a qpi_utilization', 'value b peer uncore_clock_mhz', 'if b > 1'], None),
            ('a power', ['value a qpi_utilization', 'if a ^ 2 > 1'], None),
            ('a choice', ['value a qpi_utilization', 'if a > 1 ? 1 : 0'], None),
            ('a function', ['value a qpi_utilization', 'if sqrt(a) > 1'], None),
            ('no comparison', ['value a qpi_utilization', 'if a > 1 && a'], None),
            ('no comparison at all', ['value a qpi_utilization', 'if a - a'], None),
            ('a number as condition', ['value a qpi_utilization', 'if 1'], None),
            ('a comparison of numbers', ['value a qpi_utilization', 'if 2 > 1'], None),
            ('a comparison in its share', ['value a qpi_utilization', 'if a > 1', 'share a > 5'], None),
            ('two conditions as its share', ['value a qpi_utilization', 'if a > 1', 'share a && a'], None),
            ('a share that is cut', ['value a qpi_utilization', 'if a > 1', 'share min(a, 1)'],
             r'100 \* \(clamp_max\(perf_metrics_qpi_utilization_percent, 1\)\)\) and'),
            ('a value that is raised', ['value a qpi_utilization', 'if max(0.5 + (a / 2), 7.5) > 1'],
             r'clamp_min\(0\.5 \+ \(perf_metrics_qpi_utilization_percent / 2\), 7\.5\) > 1'),
            ('a number that is cut', ['value a qpi_utilization', 'if a > min(2, 1)'], None),
            ('a number as share', ['value a qpi_utilization', 'if a > 1', 'share 1'],
             r'\(100 \* \(perf_metrics_qpi_utilization_percent \* 0 \+ 1\)\) and'),
            ('packages', ['value a qpi_utilization', 'if a > 1', 'packages 2'],
             r'and on \(instance, job\) \(count by \(instance, job\) \(count by \(instance, job, socket\) '
             r'\(\{__name__=~"perf_metrics_.\+", socket!=""\}\)\) >= 2\)'),
            ('a comparison in brackets', ['value a qpi_utilization', 'if (a > 1) * 2'], None),
            ('two conditions', ['value a qpi_utilization', 'value b max qpi_utilization', 'if a > 1 && (b <= 2 || a != 7)'],
             r'qpi_utilization_percent > 1 and \(.*max by .*<= 2 or .*!= 7\)'),
            ('a package', ['value a qpi_utilization', 'value b uncore_clock_mhz', 'if a >= b'],
             r'>= \(.* \* 0 \+ on \(instance, job, socket\) group_left \(\) perf_metrics_uncore_clock_mhz_megahertz\)')):
        lines = lines if any(line.startswith('share ') for line in lines) else ['share a / 7', *lines]
        write(f'{path}/x.metric', 'group g\nmachine 06_2e\nrule r\nsays x\n' + '\n'.join(lines) + '\n')
        listed = world.run('list', '--rules', '--json', env={'PERF_METRICS_PATH': f'{TOP}/metrics:{path}'}.items())
        done = subprocess.run([f'{TOP}/tools/metrics/export.py', 'alerts'], input=listed.stdout, text=True,
                              capture_output=True, check=False)
        good = re.search(wanted, done.stdout.replace('\\"', '"')) and '# Not r:' not in done.stdout if wanted else \
            '# Not r: ' in done.stdout and 'PerfMetricsR\n' not in done.stdout
        write(f'{world.dir}/alerts.yml', done.stdout)
        check = subprocess.run([f'{program}/usr/bin/promtool', 'check', 'rules', f'{world.dir}/alerts.yml'], text=True,
                               capture_output=True, check=False)
        ktap.result(f'an alert of a rule with {name}', [] if good and not done.returncode and not check.returncode else
                    [listed.stderr, done.stdout[-1500:], done.stderr, check.stderr])
    world.end()


ktap.result('it is built', fixture.build())
ktap.result("Debian's Prometheus", debian.prometheus())
if not ktap.bad:
    first = World()
    RULES, NAMES = exported(first, 'alerts')
    first.end()
    check_one(debian.PROMETHEUS, RULES, NAMES)
    check_random(debian.PROMETHEUS, RULES, NAMES)
    dashboard()
    page(debian.PROMETHEUS)
    own(debian.PROMETHEUS)
sys.exit(ktap.end())
