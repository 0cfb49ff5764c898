#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What other programs want to know of the metrics, made from "perf metrics list --json".

	perf-metrics list --json | tools/metrics/export.py grafana [NAME...] >dashboard.json
	perf-metrics list --rules --json | tools/metrics/export.py alerts >alerts.yml
	perf-metrics list --json | tools/metrics/export.py pcp >perfevent.conf
	perf-metrics list --json | tools/metrics/export.py perf [MACHINE=FILE...] >perf.patch
	perf-metrics list --json | tools/metrics/export.py likwid DIRECTORY
	perf-metrics list --json | tools/metrics/export.py markdown >metrics.md

grafana	a dashboard: a row for each group, a panel for each metric; or of these groups and metrics
	alone, in their order
alerts	a rule file of Prometheus: an alert for each rule of perf metrics why
pcp	a section of perfevent.conf: each event on each box once
perf	a patch for the kernel's tools/perf, so that a rebuilt perf has them for perf stat -M. With
	the PMUs of a machine, perf list of it describes their events, too. MACHINE is nehalemex or
	westmereex, and FILE what "grep -r . /sys/bus/event_source/devices/xeon7500_*/" prints there
likwid	groups for likwid-perfctr -g: files in nehalemEX and westmereEX of the directory
markdown	a page of all metrics

The same input makes the same bytes.
"""
import itertools
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

# What the service exports comes open, the rest folded.
OPEN = {'memory', 'llc', 'qpi'}
UNITS = {'B/s': 'Bps', '%': 'percent', '1/s': 'cps', 'MHz': 'rotmhz', 'entries': 'short',
         'clocks': 'short', 'core clocks': 'short', '': 'short'}
SOURCE = {'type': 'prometheus', 'uid': '${source}'}
# How many boxes of a kind a package has, at most; a PMU of any other name is there once.
BOXES = {'xeon7500_cbox': 10, 'xeon7500_sbox': 2, 'xeon7500_bbox': 2, 'xeon7500_mbox': 2,
         'xeon7500_rbox': 2}
# Directories of perf: the model in spec/, and how many C-Boxes a package has there.
PERF_MACHINES = {'nehalemex': ('nhm-ex', 8), 'westmereex': ('wsm-ex', 10)}
# Those of LIKWID, likewise.
LIKWID_MACHINES = {'nehalemEX': 8, 'westmereEX': 10}
# LIKWID programs registers by itself: its names of events, and a counter that has each. A port
# has two sub-registers for these, and as many counters.
LIKWID = {
    'xeon7500_mbox/bbox_cmds.reads/': ('FVC_EV0_BBOX_CMDS_READS', 'MBOX{box}C0'),
    'xeon7500_bbox/imt_inserts_wr/': ('IMT_INSERTS_WR', 'BBOX{box}C1'),
    'xeon7500_cbox/llc_hits.all/': ('LLC_HITS_ALL', 'CBOX{box}C0'),
    'xeon7500_cbox/llc_misses.all/': ('LLC_MISSES_ALL', 'CBOX{box}C1'),
    'xeon7500_wbox/uncore_clock/': ('UNCORE_CLOCK', 'WBOXFIX'),
    'xeon7500_rbox/flits_sent,{port}/': ('FLITS_SENT_PORT{port}_IPERF0', 'RBOX{half}C{even}'),
    'xeon7500_rbox/null_idle,{port}/': ('NULL_IDLE_PORT{port}_IPERF1', 'RBOX{half}C{odd}'),
    'xeon7500_rbox/new_packets_recv.any.drs,{port}/':
        ('NEW_PACKETS_RECV_PORT{port}_IPERF1_ANY_DRS', 'RBOX{half}C{odd}'),
}
LIKWID_PORTS = {'qpi0': 1, 'qpi1': 0, 'qpi2': 4, 'qpi3': 5}
# Of LIKWID 5.2: what of it counts something else on a machine.
LIKWID_WRONG = {'nehalemEX': {'FVC_EV0_BBOX_CMDS_READS':
                              'it programs ZDP_CTL_FVC as on Westmere-EX, one bit too high'}}
PERF_UNITS = {'B/s': '1e-6MB/s', '%': '1%', '1/s': '1/s', 'MHz': '1MHz'}


def groups(metrics):
    """Metrics of the Xeon 7500 by group, in the order of the files."""
    found = {}
    for metric in metrics:
        if '06_2e' in (metric['machine'] or '').split():
            found.setdefault(metric['group'], []).append(metric)
    return found


def panel(metric, number, place):
    box = metric['scope'] != 'package'
    text = [metric['help'] + '.', f"{metric['name']} = {metric['formula']}"]
    if metric['doubt']:
        text.append('Doubt: ' + metric['doubt'])
    return {
        'id': number, 'type': 'timeseries', 'title': metric['help'], 'datasource': SOURCE,
        'description': '\n\n'.join(text),
        'gridPos': {'h': 8, 'w': 12, 'x': 12 * (place % 2), 'y': 8 * (place // 2)},
        'fieldConfig': {'defaults': {'unit': UNITS.get(metric['unit'], 'short'), 'min': 0},
                        'overrides': []},
        'targets': [{
            'refId': 'A', 'datasource': SOURCE,
            'expr': metric['family'] + '{instance=~"$instance"}',
            'legendFormat': '{{instance}} S{{socket}}' + (' {{box}}' if box else ''),
        }],
    }


def chosen(metrics, names):
    """Those of these names by group, in the order of the names."""
    found = {}
    for name in names:
        mine = [m for members in groups(metrics).values() for m in members if name in (m['name'], m['group'])]
        if not mine:
            sys.exit(f'there is no metric or group {name}')
        for metric in mine:
            found.setdefault(metric['group'], []).append(metric)
    return found


def grafana(metrics):
    number, panels, names = 0, [], sys.argv[2:]
    for name, members in (chosen(metrics, names) if names else groups(metrics)).items():
        number += 1
        row = {'id': number, 'type': 'row', 'title': members[0]['group_help'],
               'collapsed': not names and name not in OPEN, 'panels': [],
               'gridPos': {'h': 1, 'w': 24, 'x': 0, 'y': 0}}
        inside = []
        for place, metric in enumerate(members):
            number += 1
            inside.append(panel(metric, number, place))
        panels.append(row)
        # A folded row keeps its panels, an open one has them behind itself.
        if row['collapsed']:
            row['panels'] = inside
        else:
            panels.extend(inside)
    variables = [
        {'name': 'source', 'type': 'datasource', 'query': 'prometheus', 'label': 'Prometheus'},
        {'name': 'instance', 'type': 'query', 'datasource': SOURCE, 'label': 'Machine',
         'query': 'label_values(perf_metrics_memory_bandwidth_bytes_per_second, instance)',
         'multi': True, 'includeAll': True, 'refresh': 2},
    ]
    dashboard = {
        'uid': 'xeon7500-perf-metrics' + ('' if names else '-full'),
        'title': 'Xeon 7500 uncore' + ('' if names else ', all metrics'), 'tags': ['perf-metrics'],
        'schemaVersion': 37, 'editable': True, 'refresh': '1m',
        'time': {'from': 'now-1h', 'to': 'now'}, 'templating': {'list': variables},
        'panels': panels,
    }
    json.dump(dashboard, sys.stdout, indent=1)
    print()


# What joins series of one place, and of one package.
PLACE, PACKAGE = 'instance, job, socket, box', 'instance, job, socket'
# node_exporter exports an old file as long as it is there.
OLD = 'time() - node_textfile_mtime_seconds{file=~"(.*/)?perf-metrics[.]prom"} > 600'
AGGREGATES = {'mean': 'avg', 'max': 'max', 'min': 'min'}


def vector(rule, value):
    """A value of a rule as PromQL, with the labels of the place that is judged."""
    first = rule['values'][0]
    if value is first or value['of'] == 'here' and value['cells'] == first['cells']:
        return value['family']
    if value['of'] == 'limit':
        on, text = PLACE, f'perf_metrics_limit{{limit="{value["metric"]}"}}'
    elif value['of'] in AGGREGATES:
        on, text = PACKAGE, f'{AGGREGATES[value["of"]]} by ({PACKAGE}) ({value["family"]})'
    elif value['of'] in ('here', 'package') and not value['cells']:
        on, text = PACKAGE, value['family']
    else:
        raise Unsaid(f'{value["of"]} of {value["metric"]}')
    return f'({first["family"]} * 0 + on ({on}) group_left () {text})'


def words_of(rule, text):
    """The values that an expression has."""
    words = set(re.findall(r'(?<![\w.])[A-Za-z_]\w*', text))
    return [value for value in rule['values'] if value['name'] in words]


def promql(rule, text, condition):
    """An expression of muParser. A comparison is a filter, so it can have nothing around it, and in
    a share it would drop the place. A number alone is no vector."""
    names = {value['name']: value for value in rule['values']}

    def one(match):
        if match.group() in names:
            return vector(rule, names[match.group()])
        if match.group() in ('and', 'or', 'clamp_max', 'clamp_min'):
            return match.group()
        raise Unsaid(match.group())
    if re.search(r'[?^!](?!=)', text):
        raise Unsaid(text)
    pieces = re.split(r'&&|\|\|', text) if condition else [text]
    for piece in pieces:
        # Brackets may be around conditions, and around what is compared.
        while piece.count('(') > piece.count(')') and piece.strip().startswith('('):
            piece = piece.strip()[1:]
        while piece.count('(') < piece.count(')') and piece.strip().endswith(')'):
            piece = piece.strip()[:-1]
        if len(re.findall('[<>!=]=|[<>]|&&|[|][|]', piece)) != condition or piece.count('(') != piece.count(')') or \
                re.search(r'\([^()]*[<>=]', piece) or not words_of(rule, piece):
            raise Unsaid(text)
    # The greater one of two is where it is greater, or else the other one; of a number it is a clamp.
    text = re.sub(r'\b(max|min)\(([a-z_]\w*), ([a-z_]\w*)\)',
                  lambda m: f'({m[2]} {"><"[m[1] == "min"]} {m[3]} or {m[3]})', text)
    text = re.sub(r'\b(max|min)\(((?:[^(),]|\([^()]*\))+), ([\d.]+)\)',
                  lambda m: f'clamp_{"max" if m[1] == "min" else "min"}({m[2]}, {m[3]})' if words_of(rule, m[2]) else m[0],
                  text)
    text = text.replace('&&', 'and').replace('||', 'or')
    return re.sub(r'(?<![\w.])[A-Za-z_]\w*', one, text)


def marks(rule):
    """Where a value that the condition has is not one to judge by."""
    for value in words_of(rule, rule['if'] + ' ' + rule['share']):
        if value['of'] != 'limit':
            on = PLACE if value['cells'] == rule['values'][0]['cells'] and value['of'] == 'here' else PACKAGE
            for mark in 'not_plausible', 'multiplexed', 'not_available':
                yield f' unless on ({on}) perf_metrics_{mark}{{metric="{value["metric"]}"}}'


def alert(rule):
    """The expression of an alert. Its value is the share, in percent. What is far above its limit
    has a wrong limit, and why does not judge it."""
    first, share = rule['values'][0], rule['share']
    if not words_of(rule, share):
        share = f'{first["name"]} * 0 + {share}'
    limited = any(value['of'] == 'limit' for value in words_of(rule, share))
    text = f'(100 * ({promql(rule, share, False)}){" <= 105" * limited}) and ({promql(rule, rule["if"], True)})'
    if rule['packages']:
        # Of a package whose value is n/a there are other series.
        text += f' and on (instance, job) (count by (instance, job) (count by ({PACKAGE}) ' \
                f'({{__name__=~"perf_metrics_.+", socket!=""}})) >= {rule["packages"]})'
    return text + ''.join(dict.fromkeys(marks(rule))) + f' unless on (instance, job) ({OLD})'


def alerts(rules):
    """An alert of each rule that PromQL can say."""
    left_out, texts = [], []
    for rule in rules:
        if '06_2e' not in (rule['machine'] or '').split():
            continue
        try:
            expression = alert(rule)
        except Unsaid as why:
            left_out.append(f'# Not {rule["rule"]}: PromQL cannot say "{why}" here.')
            continue
        place = 'S{{ $labels.socket }}' + (' {{ $labels.box }}' if rule['values'][0]['cells'] else '')
        name = 'PerfMetrics' + ''.join(word.capitalize() for word in rule['rule'].split('_'))
        page = f'\n          page: {json.dumps(rule["page"])}' if rule['page'] else ''
        summary = f'{{{{ $labels.instance }}}} {place}: {rule["help"]} (severity {{{{ printf "%.0f" $value }}}} of 100)'
        texts.append(f"""
      - alert: {name}
        expr: {json.dumps(expression)}
        for: 5m
        labels: {{ severity: warning, rule: {rule['rule']} }}
        annotations:
          summary: {json.dumps(summary)}
          description: {json.dumps('Doubt: ' + rule['doubt'] if rule['doubt'] else rule['help'])}{page}""")
    print('# Alerts of the rules that "perf metrics why" has. Made by tools/metrics/export.py from the')
    print('# metric files. A rule is silent where a value is missing, multiplexed or not plausible.')
    print(*left_out, sep='\n', end='\n' if left_out else '')
    print('groups:\n  - name: perf-metrics\n    rules:' + ''.join(texts))
    print(f"""
      - alert: PerfMetricsOld
        expr: '{OLD}'
        labels: {{ severity: warning }}
        annotations:
          summary: "{{{{ $labels.instance }}}}: perf-metrics.service has counted nothing for 10 minutes"
          description: systemctl status perf-metrics.service; perf metrics status""")


def pcp(metrics):
    """The agent opens each event alone, by PMU and by the name that sysfs has. An event with
    fields, such as a port, has no name there: it cannot be had this way."""
    names, left_out = [], []
    for members in groups(metrics).values():
        for metric in members:
            if metric['group'] not in OPEN:
                continue
            for event in metric['events']:
                pmu, name = event['event'].rstrip('/').split('/')
                if not pmu.startswith('xeon7500_'):
                    continue
                if re.search('[,={]', name):
                    left_out.append(f"{pmu}/{name}/")
                    continue
                boxes = [f'{pmu}_{i}' for i in range(BOXES[pmu])] if pmu in BOXES else [pmu]
                names += [f'{box}.{name}' for box in boxes]
    print('# Events of memory, LLC and QPI metrics for perfevent.conf of PCP, behind its sections.')
    print('# Made by tools/metrics/export.py, see perfevent.conf(5).')
    print('#')
    print('# An event with fields has no name in sysfs and cannot be had this way:')
    for name in dict.fromkeys(left_out):
        print(f'#   {name}')
    print('[dynamic]')
    for name in dict.fromkeys(names):
        print(name)


class Unsaid(Exception):
    """What perf's expressions cannot say."""


def perf_event(text, known):
    """PMU/terms/ as an expression has it: what means something there is escaped. perf takes back
    the scale that sysfs has before it computes."""
    pmu, terms = text.rstrip('/').split('/')
    scale = known.get(pmu.partition('_')[2], {}).get(terms.partition(',')[0], ('', ''))[1]
    name = pmu + '@' + re.sub(r'([,=-])', r'\\\1', terms) + '@'
    return f'({name} * {scale})' if scale else name


def total(metric, event, boxes, one):
    """An event of all boxes and parts; one() is all boxes of one part. What is there once for a
    package counts once for each box or part, as in perf metrics."""
    pmu = event['event'].split('/')[0]
    if event['of'] in ('max', 'min') or event['of'] == 'mean' and boxes.get(pmu, 1) > 1 \
            and not metric['parts']:
        raise Unsaid
    parts = metric['parts'] or ['']
    mark = '{%s}' % metric['scope']
    if mark in event['event']:
        all_parts = [one(event['event'].replace(mark, part)) for part in parts]
        number = len(parts) if event['of'] == 'mean' else 1
        text = all_parts[0] if len(all_parts) == 1 else '(' + ' + '.join(all_parts) + ')'
        return f'({text} / {number})' if number > 1 else text
    times = len(parts)
    if metric['scope'] == 'box' and pmu not in BOXES:
        times = max(boxes.get(e['event'].split('/')[0], 1) for e in metric['events'])
    text = one(event['event'])
    return text if times == 1 else f'({text} * {times})'


def expression(metric, boxes, one, seconds, functions=frozenset()):
    names = {event['name']: total(metric, event, boxes, one) for event in metric['events']}
    names['seconds'] = seconds
    # A word that is neither an event nor the exponent of a number is a function or a constant.
    words = re.findall(r'(?<![\w.])[A-Za-z_]\w*', metric['formula'])
    if re.search('[&|<>=?^]', metric['formula']) or set(words) - set(names) - functions:
        raise Unsaid
    return re.sub(r'(?<![\w.])[A-Za-z_]\w*', lambda m: names.get(m.group(), m.group()),
                  metric['formula'])


def perf_metric(metric, boxes, known):
    text = expression(metric, boxes, lambda event: perf_event(event, known), 'duration_time',
                      {'min', 'max'})
    row = {'BriefDescription': metric['help'], 'MetricExpr': text, 'MetricGroup': metric['group'],
           'MetricName': metric['name']}
    if metric['unit'] in PERF_UNITS:
        row['ScaleUnit'] = PERF_UNITS[metric['unit']]
    return row


def perf_metrics(metrics, boxes, known):
    """A metric that an expression cannot say is left out."""
    rows = []
    for metric in itertools.chain.from_iterable(groups(metrics).values()):
        try:
            # perf opens all that a metric needs at once: 32 nodes would be 128 events.
            if len(metric['parts']) * len(metric['events']) <= 16:
                rows.append(perf_metric(metric, boxes, known))
        except Unsaid:
            pass
    return rows


def encoded(terms, formats):
    """{'config': 0x714} of event=0x14,umask=0x7"""
    words = {}
    for term in terms.split(','):
        name, _, value = term.partition('=')
        word, places = formats[name].split(':')
        value = int(value or '1', 0)
        for bits in places.split(','):
            low, _, high = bits.partition('-')
            for bit in range(int(low), int(high or low) + 1):
                words[word] = words.get(word, 0) | (value & 1) << bit
                value >>= 1
    return words


def perf_events(path, known):
    """What sysfs has, with what is known of it."""
    formats, names = {}, {}
    with open(path, encoding='utf-8') as f:
        for line in f:
            m = re.search(r'/(xeon7500_([a-z]+))(?:_\d+)?/(format|events)/([^:]+):(.*)', line)
            if m and m.group(2) in known:
                table = formats if m.group(3) == 'format' else names
                table.setdefault(m.group(1), {})[m.group(4)] = m.group(5)
    rows = []
    for pmu, table in sorted(names.items()):
        for name in sorted(n for n in table if not n.endswith(('.scale', '.unit'))):
            words = encoded(table[name], formats[pmu])
            row = {'BriefDescription': known[pmu.partition('_')[2]][name][0],
                   'ConfigCode': hex(words.pop('config', 0)), 'EventName': name, 'Unit': pmu}
            if words:
                row['Filter'] = ','.join(f'{word}={value:#x}' for word, value in sorted(words.items()))
            if name + '.scale' in table:
                row['ScaleUnit'] = table[name + '.scale'] + table.get(name + '.unit', '')
            rows.append(row)
    return rows


def new_file(path, rows):
    text = json.dumps(rows, indent=4).splitlines()
    print(f'--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{len(text)} @@')
    for line in text:
        print('+' + line)


def perf(metrics):
    """New files; and that a Unit of ours is a PMU of that name."""
    import events  # pylint: disable=import-outside-toplevel
    machines = dict(arg.split('=', 1) for arg in sys.argv[2:])
    for machine, (model, cboxes) in PERF_MACHINES.items():
        path = f'tools/perf/pmu-events/arch/x86/{machine}/xeon7500-'
        known, boxes = events.names(model), {**BOXES, 'xeon7500_cbox': cboxes}
        new_file(path + 'metrics.json', perf_metrics(metrics, boxes, known))
        if machine in machines:
            new_file(path + 'events.json', perf_events(machines[machine], known))
    if machines:
        path = 'tools/perf/pmu-events/jevents.py'
        units = [f"          'xeon7500_{box}': 'xeon7500_{box}'," for box in
                 ('ubox', 'cbox', 'sbox', 'bbox', 'mbox', 'rbox', 'wbox')]
        print(f'--- a/{path}\n+++ b/{path}\n@@ -220,3 +220,{3 + len(units)} @@')
        print("       table = {")
        print('\n'.join('+' + unit for unit in units))
        print("           'CBO': 'uncore_cbox',\n           'QPI LL': 'uncore_qpi',")


def likwid_counters(event, boxes):
    """(counter, LIKWID's name) of an event on all boxes, or of one port."""
    parts = re.search(',(qpi[0-3])', event)
    if parts:
        event = event.replace(parts.group(1), '{port}')
    if event not in LIKWID:
        raise Unsaid
    name, counter = LIKWID[event]
    if parts:
        port = LIKWID_PORTS[parts.group(1)]
        fields = {'port': port, 'half': port // 4, 'even': port % 4 * 2, 'odd': port % 4 * 2 + 1}
        return [(counter.format(**fields), name.format(**fields))]
    if '{box}' not in counter:
        return [(counter, name)]
    return [(counter.format(box=i), name) for i in range(boxes[event.split('/')[0]])]


class LikwidGroup:
    """What LIKWID counts together: {counter: event}, and the metrics of that."""

    def __init__(self):
        self.counters, self.metrics, self.notes = {}, [], []

    def add(self, metric, boxes, wrong):
        """Returns False if there is no room. Raises Unsaid if LIKWID has no such metric."""
        wanted = set(self.counters.items())

        def one(event):
            mine = likwid_counters(event, boxes)
            for name in (name for _, name in mine if name in wrong):
                raise Unsaid(wrong[name])
            wanted.update(mine)
            return '(' + '+'.join(counter for counter, _ in mine) + ')'
        # The last word of the line is the formula.
        text = expression(metric, boxes, one, 'time').replace(' ', '')
        if len(dict(wanted)) < len(wanted):
            return False
        self.counters = dict(sorted(wanted))
        self.metrics.append(f"{metric['name']} [{metric['unit'] or '1'}] {text}")
        self.notes.append(f"{metric['name']}: {metric['help']}."
                          + (f" Doubt: {metric['doubt']}" if metric['doubt'] else ''))
        return True

    def text(self, what, left_out):
        return '\n'.join([
            f'SHORT {what}', '', 'EVENTSET',
            *(f'{counter} {name}' for counter, name in self.counters.items()), '', 'METRICS',
            'Runtime (RDTSC) [s] time', *self.metrics, '', 'LONG', *self.notes, '-',
            "Each value is that of a package. Made from the metric files of perf metrics; LIKWID's",
            'own driver counts, with neither gate nor limits.', *left_out, ''])


def likwid(metrics):
    """One file for what is counted together: LIKWID multiplexes only groups."""
    for machine, cboxes in LIKWID_MACHINES.items():
        boxes = {**BOXES, 'xeon7500_cbox': cboxes}
        directory = os.path.join(sys.argv[2], machine)
        os.makedirs(directory, exist_ok=True)
        for group, members in groups(metrics).items():
            files, left_out = [LikwidGroup()], []
            for metric in members:
                wrong = LIKWID_WRONG.get(machine, {})
                try:
                    if not files[-1].add(metric, boxes, wrong):
                        files.append(LikwidGroup())
                        files[-1].add(metric, boxes, wrong)
                except Unsaid as why:
                    if str(why):
                        left_out.append(f"Not {metric['name']}, of LIKWID 5.2: {why}.")
            for i, file in enumerate(files):
                if file.metrics:
                    name = group.upper() + (str(i + 1) if i else '')
                    with open(os.path.join(directory, name + '.txt'), 'w', encoding='utf-8') as f:
                        f.write(file.text(members[0]['group_help'], left_out))


def markdown(metrics):
    print('# Metrics\n')
    print('Made from `metrics/*.metric` by `make export`; `perf metrics list NAME` has more.')
    group = None
    for metric in metrics:
        if metric['group'] != group:
            group = metric['group']
            print(f"\n## {group}\n\n{metric['group_help']} ({metric['machine'] or 'any machine'}).\n")
            print('| metric | what | unit | of each | formula |\n|---|---|---|---|---|')
        print(f"| `{metric['name']}` | {metric['help']} | {metric['unit']} | {metric['scope']} "
              f"| `{metric['formula']}` |")


if __name__ == '__main__':
    FORMATS = {'grafana': grafana, 'alerts': alerts, 'pcp': pcp, 'perf': perf, 'likwid': likwid, 'markdown': markdown}
    ARGUMENTS = {'grafana': range(100), 'perf': range(3), 'likwid': [1]}
    if sys.argv[1:2] == [] or sys.argv[1] not in FORMATS or \
            len(sys.argv) - 2 not in ARGUMENTS.get(sys.argv[1], [0]):
        sys.exit(__doc__.rstrip())
    FORMATS[sys.argv[1]](json.load(sys.stdin))
