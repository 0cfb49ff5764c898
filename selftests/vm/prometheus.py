#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What perf metrics writes goes through Debian's node_exporter and Prometheus.

A query returns what the virtual machine counted. Each panel of the default dashboard has data from
what the service counts by default, Prometheus evaluates the alerts, and the service is one that
systemd reads.

TEST: 6.1
SOAK: none
"""
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import debian
import vm
from ktap import Ktap

TOOL = f'{debian.PROMETHEUS}/usr/bin/promtool'
METRICS, EXPORT = f'{vm.TOP}/tools/metrics', vm.path('build', 'export')
WRITTEN = vm.path('text', 'm.prom')
NAME = 'perf_metrics_memory_read_bandwidth_bytes_per_second'
CONFIG = '''
global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: [ "%s/alerts.yml" ]
scrape_configs:
  - job_name: uncore
    static_configs: [ { targets: [ "%s" ] } ]
'''


def guest():
    """Yields what is wrong."""
    unit = vm.read(f'{METRICS}/perf-metrics.service')
    metrics = re.search('^Environment="METRICS=(.*)"', unit, re.M).group(1)
    os.mkdir(os.path.dirname(WRITTEN))
    vm.run('--perf', 'newest', '--sockets', '2', '--traffic', f'{vm.TOP}/tools/demo.traffic',
           '--get', f'/root/m.prom:{WRITTEN}', '--', 'sh', '-c', 'echo limit memory 1.6e10 >t; '
           f'perf-metrics {metrics} --per-box --topology t --openmetrics m.prom -- sleep 0.2')
    number = len(re.findall(f'^{NAME}{{', vm.read(WRITTEN), re.M))
    if number != 4:
        yield f'{number} of {NAME}'


def tool(*words, stdin=os.devnull):
    """What promtool says, and its status."""
    with open(stdin, encoding='utf-8') as f:
        done = subprocess.run([TOOL, *words], stdin=f, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, encoding='utf-8', check=False)
    return done.stdout, done.returncode


def checked(*words, stdin=os.devnull):
    """Yields what promtool says is wrong."""
    said, status = tool('check', *words, stdin=stdin)
    if status:
        yield f'{said}status {status}'


def start(running, name, *options):
    """Runs one of the programs until the end, on a port that the kernel chooses."""
    said = running.enter_context(open(vm.path(f'{name}.said'), 'w', encoding='utf-8'))
    process = running.enter_context(subprocess.Popen(
        [f'{debian.PROMETHEUS}/usr/bin/{name}', '--web.listen-address=127.0.0.1:0', *options],
        stdout=said, stderr=said))
    running.callback(process.terminate)


def address(name):
    """Where such a program says that it listens."""
    for _ in range(300):
        said = vm.read(vm.path(f'{name}.said'))
        found = re.search(r'msg="Listening on" .*address=(127\.0\.0\.1:\d+)', said)
        if found:
            return found.group(1)
        time.sleep(0.1)
    raise vm.Failed(said)


def ask(text):
    """What Prometheus has; nothing if promtool does not say so."""
    said, status = tool('query', 'instant', f'http://{address("prometheus")}', text)
    return said if not status and '=>' in said else ''


def query(text):
    """What it has, once there is something."""
    for _ in range(300):
        said = ask(text)
        if said:
            return said
        time.sleep(0.2)
    raise vm.Failed(f'no data: {text}\n{vm.read(vm.path("prometheus.said"))}')


def values(text):
    """{(name, labels): value}, of the file or of what promtool prints."""
    return {(name, frozenset(re.findall(r'(socket|box|metric)="(.*?)"', labels))): float(value)
            for name, labels, value in re.findall(r'^(\w+)\{(.*?)\} (?:=> )?(\S+)', text, re.M)}


def scraped(running):
    """Yields what does not come back as it was. Planned traffic: reads in 172 cycles of 4096 in
    one M-Box and 164 in the other, which were counted for the same time."""
    start(running, 'prometheus-node-exporter', '--collector.disable-defaults',
          '--collector.textfile', f'--collector.textfile.directory={os.path.dirname(WRITTEN)}')
    config = vm.file('prometheus.yml', CONFIG % (EXPORT, address('prometheus-node-exporter')))
    start(running, 'prometheus', f'--config.file={config}',
          f'--storage.tsdb.path={vm.path("tsdb")}')
    query(f'{NAME}{{socket="0",box="mbox_0"}}')
    query(f'sum by (socket) ({NAME})')
    written, back = values(vm.read(WRITTEN)), values(query('{__name__=~"perf_metrics_.*"}'))
    if not written or written != back:
        yield f'{len(written)} written, {len(back)} back'
        yield from sorted(map(str, written.items() ^ back.items()))
    reads = [back[NAME, frozenset({('socket', '0'), ('box', f'mbox_{i}')})] for i in range(2)]
    if abs(reads[0] / reads[1] - 172 / 164) > 1e-4:
        yield f'planned 172 and 164, back {reads}'


def panels():
    """Yields what is wrong with the queries of the default dashboard."""
    asked = [target['expr'].replace('$instance', '.*')
             for panel in json.loads(vm.read(f'{EXPORT}/dashboard.json'))['panels']
             for target in panel.get('targets', [])]
    if len(asked) <= 10:
        yield f'{len(asked)} panels'
    # Where a scrape takes more than its second there is no data until the next one.
    for text in asked:
        query(text)


def full():
    """Yields what the full dashboard does not ask for, and whether it has a panel twice."""
    rows = json.loads(vm.read(f'{EXPORT}/dashboard-full.json'))['panels']
    families = set(re.findall(r'^# TYPE (\S+)', vm.read(WRITTEN), re.M))
    found = [p for r in rows for p in r.get('panels', []) + [r] if p['type'] != 'row']
    asked = {t['expr'].split('{')[0] for p in found for t in p['targets']}
    yield from (f for f in families - asked if not f.endswith(('_limit', '_not_available')))
    if not families or len({p['id'] for p in found}) != len(found):
        yield f'{len(families)} families, panels {[p["id"] for p in found]}'


def alerts():
    """Yields what is wrong. Planned traffic: S1 moves 16.0 and 16.3 GB/s by controller, S0 8.3 and
    8.2. The limit is 16."""
    yield from checked('rules', f'{EXPORT}/alerts.yml')
    query('ALERTS{alertname="PerfMetricsMemoryFull"}')
    said = query('ALERTS')
    memory = [x for x in said.splitlines() if 'alertname="PerfMetricsMemoryFull"' in x]
    if ['socket="1"' in x for x in memory] != [True, True] or 'PerfMetricsLinkFull' in said:
        yield said


def service():
    """Yields what systemd says of the units."""
    units = [vm.file(f'perf-metrics.{kind}', vm.read(f'{METRICS}/perf-metrics.{kind}').replace(
        '/usr/bin/perf-metrics', '/bin/true')) for kind in ('service', 'timer')]
    yield from vm.shell('systemd-analyze verify --man=no "$@"', *units).splitlines()


ktap = Ktap()
ktap.result("Debian's Prometheus", debian.prometheus())
ktap.result('dashboards and alerts are made', vm.works(
    'make -s -C "$1" OUTPUT="$2" export', METRICS, vm.path('build')))
ktap.result('a guest writes the file', guest())
ktap.result('promtool has nothing to say of it', checked('metrics', stdin=WRITTEN))
with contextlib.ExitStack() as servers:
    ktap.result('node_exporter and Prometheus return it', scraped(servers))
    ktap.result('each panel of the default dashboard has data', panels())
    ktap.result('the full dashboard asks for all', full())
    ktap.result('alerts are of what was planted', alerts())
if shutil.which('systemd-analyze'):
    ktap.result('systemd reads service and timer', service())
sys.exit(ktap.end())
