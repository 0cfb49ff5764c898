#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""hwcheck finds out what the virtual silicon has been made to be.

The silicon is made combinations of the readings' answers, each of them at least once where it
can be found out; soak has each alone and more combinations. Each experiment has to find the
answer, or to say that it cannot know. It writes what it announces, leaves all registers as they
were, and the silicon is the machine of its report. Elsewhere, and beside another owner, it does
nothing.

KERNELS: 6.1 6.12 newest
TIER: once
LONG: once
"""
import importlib.machinery
import importlib.util
import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import vm
from ktap import Ktap, note

sys.dont_write_bytecode = True
TOOL = f'{vm.TOP}/tools/readings'
MACHINE = ['--sockets', '2', '--cores', '2', '--icount', '--append', 'nmi_watchdog=0']
# Kinds of violation in synthetic.h, by the names hwcheck announces them with.
RULES = {'read_only': 1, 'rst_all': 9, 'locked': 11, 'undefined': 6}


def load_tool():
    """tools/readings, which is a program without suffix."""
    loader = importlib.machinery.SourceFileLoader('readings', TOOL)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader('readings', loader))
    loader.exec_module(module)
    return module


tool = load_tool()


def readings(machine):
    """{name: answers} that the model of it can be and hwcheck can look for, the first one first."""
    return {r['name']: list(r['answers']) for r in tool.load().values()
            if r['model'] == 'all' and machine in tool.machines(r) and
            r.get('experiment', {}).get('level') in ('count', 'pmi')}


def first_of(machine):
    """What the silicon is when nobody has asked for anything."""
    return {name: answers[0] for name, answers in readings(machine).items()}


def cannot_know(name, planted):
    """Where "undetermined" is the right answer."""
    if name == 'pmi_while_ov':
        return planted['summary_clear'] == 'or'
    if name == 'pmi_no_debugctl':
        return planted['debugctl_13'] != 'present'
    if name == 'pmi_core_sel':
        return planted['debugctl_13'] == 'stuck'
    if name.startswith('w_erratum') and planted['w_invert'] == 'above' and planted['w_erratum'] != 'every':
        # Only the fixed counter has a clock.
        return name == 'w_erratum_which' or planted['w_erratum'] == 'none' or \
            planted['w_erratum_which'] == 'events'
    if name == 'w_erratum_which':
        return planted['w_erratum'] == 'none'
    return False


def combinations(machine, few=False):
    """What to plant, the same in each run: nothing, then such random combinations that every
    answer can be found out in one of them. Few: one. Soak: each answer alone, and many."""
    known = readings(machine)
    draw = random.Random(7500)

    def drawn(num):
        return [{name: draw.choice(answers) for name, answers in known.items()} for _ in range(num)]

    if few:
        return [{}, *drawn(1)]
    if vm.SOAK:
        flips = [{name: answer} for name, answers in known.items() for answer in answers[1:]]
        return [{}, *flips, *drawn(40)]
    left = {(name, answer) for name, answers in known.items() for answer in answers}
    chosen = [{}]
    while left:
        found = {tuple(p.items()): {(n, a) for n, a in p.items() if not cannot_know(n, p)} & left
                 for p in drawn(100)}
        best = max(found, key=lambda p: len(found[p]))
        chosen.append(dict(best))
        left -= found[best]
    return chosen


def judge(planted, run, machine):
    """What is wrong with one run."""
    try:
        report = json.loads(run['report'])
    except ValueError:
        return ['no report', *run['output'][-5:]]
    wrong = [f'status {run["status"]}'] * (run['status'] != 0) + run['changed']
    everything = {**first_of(machine), **planted}
    for name, answer in everything.items():
        row = report['readings'].get(name, {'answer': 'nothing', 'evidence': ''})
        want = 'undetermined' if cannot_know(name, everything) else answer
        if row['answer'] != want:
            wrong.append(f'{name} is {answer}, found {row["answer"]}: {row["evidence"]}')
    announced = {RULES[b] for row in report['readings'].values() for b in row['breaks']}
    if run['violations'] - announced:
        wrong.append(f'violations of kinds {run["violations"] - announced}')
    if set(report['readings']) != set(everything):
        wrong.append(f'other experiments: {set(report["readings"]) ^ set(everything)}')
    return wrong


def parse(text):
    """What guest.c prints, by line."""
    for part in re.split(r'^@@ .*\n', text, flags=re.M)[1:]:
        head, _, report = part.partition('\nreport\n')
        fields = dict(re.findall(r'^(status|violations|writes)(.*)$', head, re.M))
        yield {'status': int(fields['status']), 'writes': int(fields['writes']),
               'violations': {int(k) for k in fields['violations'].split()},
               'changed': re.findall(r'^changed .*$', head, re.M),
               'output': re.findall(r'^# .*$', head, re.M), 'report': report}


class Bench:
    """hwcheck, its module and what runs it, for one kernel."""

    def __init__(self, kernel, directory):
        self.kernel, self.directory = kernel, directory
        self.guest = vm.build('hwcheck', 'guest.c', directory)
        os.rename(self.guest, f'{directory}/guest')
        known = subprocess.run([f'{vm.TOP}/tools/vm/kernel', '--cached', '--headers', kernel],
                               stdout=subprocess.PIPE, encoding='utf-8', check=True).stdout
        self.make(f'KDIR={re.search("^KDIR=(.*)$", known, re.M).group(1)}', 'all', 'module')

    def make(self, *args):
        done = subprocess.run(['make', '-s', '-C', f'{vm.TOP}/tools/hwcheck', f'OUTPUT={self.directory}',
                               *args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              encoding='utf-8', check=False)
        if done.returncode:
            raise vm.Failed(done.stdout)

    def boot(self, options, command, driver='none'):
        """Output of a command beside hwcheck."""
        put = {'guest': 'guest', 'hwcheck': 'hwcheck', 'nmi/hwcheck_nmi.ko': 'hwcheck_nmi.ko',
               'lines': 'lines', 'stop': 'stop'}
        puts = [a for host, guest in put.items() if os.path.exists(f'{self.directory}/{host}')
                for a in ('--put', f'{self.directory}/{host}:/t/{guest}')]
        return vm.run('--kernel', self.kernel, '--driver', driver, *options, *puts, '--', 'sh', '-c',
                      command)[0]

    def rows(self, machine, planted, level, options=()):
        """One run of hwcheck for each of planted."""
        with open(f'{self.directory}/lines', 'w', encoding='utf-8') as f:
            f.writelines(','.join(f'{n}={a}' for n, a in p.items()) + '\n' for p in planted)
        text = self.boot([*MACHINE, '--machine', machine, *options],
                         'insmod /t/hwcheck_nmi.ko && cd /t && ./guest lines '
                         f'"./hwcheck {level} --report /tmp/report >/tmp/out 2>&1"')
        return list(parse(text))


def test_matrix(ktap, bench, machine, few):
    planted = combinations(machine, few)
    runs = bench.rows(machine, planted, '--pmi')
    wrong = ['only %d of %d runs' % (len(runs), len(planted))] * (len(runs) != len(planted))
    for combination, run in zip(planted, runs):
        wrong += [f'{w} ({combination})' for w in judge(combination, run, machine)]
    ktap.result(f'{bench.kernel}: hwcheck finds {len(planted)} {machine} out', wrong)
    # The check itself: the same runs, something else planted.
    missed = [p for p, run in zip(planted[1:], runs) if not judge(p, run, machine)]
    ktap.result(f'{bench.kernel}: what it has not found would be noticed', missed)
    return runs


def test_loop(ktap, bench, runs, planted):
    """The silicon of a report finds the same again."""
    report = f'{bench.directory}/report.json'
    with open(report, 'w', encoding='utf-8') as f:
        f.write(runs[-1]['report'])
    again = bench.rows('xeon7500', [{}], '--count', ['--reading', '@' + report])
    first = {n: r['answer'] for n, r in json.loads(runs[-1]['report'])['readings'].items()}
    second = {n: r['answer'] for n, r in json.loads(again[0]['report'])['readings'].items()} \
        if again else {}
    # The guest's program makes the machine as it was at power on.
    wrong = [f'{n}: {second[n]}, the report said {first[n]}' for n in second if second[n] != first[n]]
    ktap.result(f'{bench.kernel}: the silicon is the machine of a report', wrong or
                ['nothing was found'] * (not second) or ['nothing was planted'] * (not planted))


def test_refusals(ktap, bench):
    def refused(name, text, why):
        ktap.result(f'{bench.kernel}: {name}', [] if re.search(r'^1\.\.0 # SKIP .*' + why, text, re.M) and
                    not re.search('^(not )?ok', text, re.M) else text.splitlines()[-5:])
    refused('another CPU is refused', bench.boot(
        ['--machine', 'goldmont', '--cores', '1'], '/t/hwcheck --count || [ $? = 4 ]'), 'neither')
    text = bench.boot(['--cores', '1', '--hypervisor'],
                      '/t/hwcheck --count || [ $? = 4 ]; echo @@; '
                      '/t/hwcheck --read --hypervisor --report /tmp/report')
    refused('a virtual machine is refused', text.split('@@')[0], 'virtual machine')
    ktap.result(f'{bench.kernel}: but for who insists',
                [] if re.search('^ok 1 ', text.split('@@')[1], re.M) else text.splitlines()[-5:])
    text = bench.boot(['--cores', '1'], '/t/hwcheck --count || [ $? = 4 ]; echo @@; '
                      '/t/hwcheck --pmi; rmmod xeon7500_uncore; echo @@; /t/hwcheck --pmi; true', 'ours')
    parts = text.split('@@')
    refused('a driver is not disturbed', parts[0], 'rmmod xeon7500_uncore')
    refused('without its module there is no --pmi', parts[2], 'hwcheck_nmi.ko')


# A register of CPU 0 with the bits of this byte, from the shell.
POKE = 'printf "{}" | dd of=/dev/cpu/0/msr bs=8 oflag=seek_bytes seek=$(({})) 2>/dev/null'


def test_in_the_way(ktap, bench):
    """It ends where another owner counts, and where it is told to, with all put back."""
    text = bench.boot(['--cores', '1'], 'modprobe msr 2>/dev/null; '
                      + POKE.format(r'\1\0\0\0\0\0\0\0', '0x395') + '; '
                      + POKE.format(r'\0\0\0\200\0\0\0\0', '0xc80') + '; /t/hwcheck --count; true')
    ktap.result(f'{bench.kernel}: a fixed counter of another owner ends it',
                [] if re.search('^# .*0x395', text, re.M) and re.search('^not ok 2 ', text, re.M)
                else text.splitlines()[-5:])
    with open(f'{bench.directory}/stop', 'w', encoding='utf-8') as f:
        f.write('./hwcheck --count >/tmp/out 2>&1 & sleep 0.3; kill -$1 $!; sleep 3; '
                'kill -CONT $!; wait $!; true\n')
    with open(f'{bench.directory}/lines', 'w', encoding='utf-8') as f:
        f.write('\n')
    signals = ['INT', 'QUIT', 'TSTP']
    text = bench.boot(MACHINE, f'cd /t && for s in {" ".join(signals)}; do ./guest lines "sh ./stop $s"; done')
    for sig, run in itertools.zip_longest(signals, parse(text)):
        ktap.result(f'{bench.kernel}: SIG{sig} ends it between two experiments',
                    run['changed'] + ([] if '# # interrupted' in run['output'] else run['output'][-5:])
                    if run else ['no run'])


def test_no_control(ktap, bench):
    """A W-Box where nothing happens cannot tell how its counters compare."""
    traffic = f'{bench.directory}/traffic'
    with open(traffic, 'w', encoding='utf-8') as f:
        f.write('* W 0 0x04 * 6 0 0 0\n')
    runs = bench.rows('xeon7500', [{'w_invert': 'above'}], '--count', ['--traffic', traffic])
    answer = json.loads(runs[0]['report'])['readings']['w_invert']
    ktap.result(f'{bench.kernel}: without an event w_invert is undetermined',
                [] if answer['answer'] == 'undetermined' else [str(answer)])


def main():
    ktap = Ktap()
    # One kernel proves the experiments, others that the module is built and works there.
    for number, kernel in enumerate(vm.kernels(__file__)):
        few = number > 0
        with tempfile.TemporaryDirectory() as directory:
            bench = Bench(kernel, directory)
            runs = test_matrix(ktap, bench, 'xeon7500', few)
            if few:
                continue
            test_loop(ktap, bench, runs, combinations('xeon7500')[-1])
            test_matrix(ktap, bench, 'westmereex', not vm.SOAK)
            read = bench.rows('xeon7500', [{}], '--read')[0]
            ktap.result(f'{kernel}: --read writes nothing', [f'{read["writes"]} writes'] * (read['writes'] != 0) +
                        ['no result'] * (not any(' ok 1' in o for o in read['output'])))
            test_refusals(ktap, bench)
            test_in_the_way(ktap, bench)
            test_no_control(ktap, bench)
    return ktap.end()


if __name__ == '__main__':
    try:
        sys.exit(main())
    except vm.Failed as failed:
        note(failed)
        print('not ok - the machine')
        sys.exit(1)
