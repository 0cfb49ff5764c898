#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""hwcheck finds out what the virtual silicon has been made to be, and leaves it as it was.

The silicon is made combinations of the readings' answers, each of them at least once where it
can be found out; soak has each alone and more combinations. Each experiment has to find the
answer, or to say that it cannot know; the NMI watchdog runs, and once perf. It writes what it
announces, and the silicon is the machine of its report. Killed at any moment and in any way, with
a CPU that goes meanwhile, it leaves all registers as they were. Elsewhere, and beside another
owner, it does nothing.

TEST: 6.1
SOAK: 6.1 newest
"""
import importlib.machinery
import importlib.util
import itertools
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import vm
from ktap import Ktap, note

sys.dont_write_bytecode = True
TOOL = f'{vm.TOP}/tools/readings'
MACHINE = ['--sockets', '2', '--cores', '2', '--icount']
# Kinds of violation in synthetic.h, by the names hwcheck announces them with.
RULES = {'read_only': 1, 'rst_all': 9, 'locked': 11, 'undefined': 6}


def load_tool():
    """tools/readings, which is a program without suffix."""
    loader = importlib.machinery.SourceFileLoader('readings', TOOL)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader('readings', loader))
    loader.exec_module(module)
    return module


tool = load_tool()


# They set pmi_en with no core selected.
PMI_EN = {'pmi_while_ov', 'freeze_latency', 'refreeze', 'cond', 'w_fixed_pmi', 'w_erratum', 'w_erratum_which'}


def readings(machine, models=('all',)):
    """{name: answers} that the model of it can be and hwcheck can look for, the first one first."""
    return {r['name']: list(r['answers']) for r in tool.load().values()
            if r['model'] in models and machine in tool.machines(r) and
            r.get('experiment', {}).get('level') in ('count', 'pmi')}


def first_of(machine):
    """What the silicon is when nobody has asked for anything."""
    return {name: answers[0] for name, answers in readings(machine, ('all', 'first')).items()}


def cannot_know(name, planted):
    """Where "undetermined" is the right answer, or "not run"."""
    if name in PMI_EN and planted['debugctl_13'] == 'needless' and planted['pmi_mask_0'] == 'ignored':
        return 'not run'
    if name == 'pmi_while_ov':
        return planted['summary_clear'] == 'or'
    if name == 'pmi_no_debugctl':
        return planted['debugctl_13'] != 'present'
    if name in ('pmi_core_sel', 'pmi_mask_0', 'ovf_uncore'):
        return planted['debugctl_13'] == 'stuck'
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
    if report['nmi_watchdog'] != '1':
        wrong.append('the NMI watchdog does not run')
    everything = {**first_of(machine), **planted}
    for name, answer in everything.items():
        row = report['readings'].get(name, {'answer': 'nothing', 'packages': []})
        unknown = cannot_know(name, everything)
        want = unknown if unknown == 'not run' else 'undetermined' if unknown else answer
        if row['answer'] != want:
            wrong.append(f'{name} is {answer}, found {row["answer"]}: {row["packages"]}')
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
               'changed': re.findall(r'^changed.*$', head, re.M),
               'output': re.findall(r'^# .*$', head, re.M), 'report': report}


class Bench:
    """hwcheck, its module and what runs it, for one kernel."""

    def __init__(self, kernel, directory):
        self.kernel, self.directory = kernel, directory
        shutil.move(vm.build('hwcheck'), f'{directory}/guest')
        kdir = vm.headers(kernel)['KDIR']
        self.make(f'{vm.TOP}/tools/hwcheck', f'OUTPUT={directory}', f'KDIR={kdir}', 'all', 'module')
        shutil.copytree(f'{vm.TOP}/selftests/guest/hwcheck', f'{directory}/on_cpu')
        self.make(kdir, f'M={directory}/on_cpu', 'modules')

    @staticmethod
    def make(where, *args):
        done = subprocess.run(['make', '-s', '-C', where, *args], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, encoding='utf-8', check=False)
        if done.returncode:
            raise vm.Failed(done.stdout)

    def boot(self, options, command, driver='none'):
        """Output of a command beside hwcheck."""
        put = {'guest': 'guest', 'hwcheck': 'hwcheck', 'nmi/hwcheck_nmi.ko': 'hwcheck_nmi.ko',
               'on_cpu/on_cpu.ko': 'on_cpu.ko',
               'lines': 'lines', 'stop': 'stop'}
        puts = [a for host, guest in put.items() if os.path.exists(f'{self.directory}/{host}')
                for a in ('--put', f'{self.directory}/{host}:/t/{guest}')]
        return vm.run('--kernel', self.kernel, '--driver', driver, *options, *puts, '--', 'sh', '-c',
                      command)[0]

    def rows(self, machine, planted, level, options=(), kills=0, before='', after=''):
        """One run of hwcheck for each of planted; with kills, so many for each way to kill it."""
        with open(f'{self.directory}/lines', 'w', encoding='utf-8') as f:
            f.writelines(','.join(f'{n}={a}' for n, a in p.items()) + '\n' for p in planted)
        command, rounds = f'./hwcheck {level} --report /tmp/report', ''
        if kills:
            command, rounds = f'exec {command}', kills
        else:
            command += f' >/tmp/out 2>&1 {after}'
        text = self.boot([*MACHINE, '--machine', machine, *options],
                         f'insmod /t/hwcheck_nmi.ko && insmod /t/on_cpu.ko && cd /t && {before} ./guest lines "{command}" {rounds}')
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
    # The guest's program makes the machine as it was at power on, and so what the report leaves open.
    wrong = [f'{n}: {second[n]}, the report said {first[n]}' for n in second
             if first[n] not in (second[n], 'undetermined')]
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
    """What holds it back, and what a machine does meanwhile. One boot."""
    steps = {
        'a locked msr driver': ('echo off >/sys/module/msr/parameters/allow_writes; /t/hwcheck --count; '
                                'echo on >/sys/module/msr/parameters/allow_writes', '^1..0 # SKIP .*echo on >/sys/module/msr/parameters/allow_writes'),
        'a panic at unknown NMIs': ('echo 1 >/proc/sys/kernel/unknown_nmi_panic; /t/hwcheck --pmi',
                                    '^1..0 # SKIP .*sysctl kernel.unknown_nmi_panic=0'),
        'and --count does without what may send one': (
            '/t/hwcheck --count --only cond; echo 0 >/proc/sys/kernel/unknown_nmi_panic', r'cond # SKIP not run'),
        'a CPU that is offline': ('echo 0 >/sys/devices/system/cpu/cpu3/online; /t/hwcheck --pmi',
                                  '^1..0 # SKIP CPUs 0-3 are there, --pmi needs all online: echo 1 >'),
        'but --count works': ('/t/hwcheck --count --only m_addr; echo 1 >/sys/devices/system/cpu/cpu3/online',
                              '^ok . package 1: m_addr=byte'),
        'no descriptors': ('/t/hwcheck --count --only rst_all --report /tmp/r <&- >&- 2>&-; grep rst_all /tmp/r',
                           '"rst_all": {"answer": "pulse"'),
        'one package': ('/t/hwcheck --count --only u_codes --package 1',
                        '^ok 1 package 1: .*\n(#.*\n)*ok 2 package 1: u_codes=eight'),
        'no host name in what is sent': ('hostname secretname; '
                                         '/t/hwcheck --count --only u_codes --report /tmp/r >/dev/null; grep -c secretname /tmp/r /tmp/r.log', '^/tmp/r:0\n/tmp/r.log:0'),
        # Two processes, and one on each CPU
        'its own load': (
            'rm -f /tmp/r.log; /t/hwcheck --count --load --report /tmp/r >/dev/null & '
            'until grep -q "^#   MSR" /tmp/r.log || ! kill -0 $!; do sleep 0.1; done; '
            'cat /proc/[0-9]*/stat | grep -c "(hwcheck) [^Z]"; wait; sleep 0.2; '
            'cat /proc/[0-9]*/stat | grep -c "(hwcheck) [^Z]"', '^6\n0\n'),
        'the time limit': ('/t/hwcheck --pmi --limit 0.3 --report /tmp/r; ls /run; echo end',
                           '^not ok .*time limit(.*\n)*1\\.\\.\\d+\nend$'),
        'two at once': ('rm -f /tmp/r.log; /t/hwcheck --pmi --report /tmp/r >/dev/null & '
                        'until [ -s /tmp/r.log ] || ! kill -0 $!; do sleep 0.1; done; '
                        '/t/hwcheck --count --report /tmp/r2; wait', '^1..0 # SKIP another hwcheck runs'),
        'a disk that gets full': (
            'mkdir /tmp/small; mount -t tmpfs -o size=20k none /tmp/small; '
            '/t/hwcheck --count --report /tmp/small/r 2>&1; ls /run; echo end',
            '^not ok .*the journal cannot be written(.*\n)*end$'),
        'a /run that is full': (
            'mkdir /tmp/full; mount --bind /run /tmp/full; mount -t tmpfs -o size=20k none /run; '
            '/t/hwcheck --count --report /tmp/r; umount /run', '^1..0 # SKIP /run/hwcheck.saved.*: No space'),
        'two that are killed at once': (
            '/t/hwcheck --read --report /tmp/before >/dev/null; '
            'rm -f /tmp/r.log; /t/hwcheck --pmi --report /tmp/r >/dev/null & '
            # In the middle of an experiment: the last line of the journal is one of its writes.
            'until killall -STOP hwcheck; tail -n 1 /tmp/r.log | grep "^#   MSR"; do '
            'killall -CONT hwcheck || break; sleep 0.05; done; '
            'killall -9 hwcheck; '
            'sleep 0.2; /t/hwcheck --count; cp /run/hwcheck.saved /tmp/s',
            '^1..0 # SKIP .*hwcheck --restore /run/hwcheck.saved'),
        'the journal of these': ('tail -20 /tmp/r.log', '^# now: package .*\n#   MSR 0x'),
        'another file': ('dd if=/tmp/s of=/tmp/old bs=1000 count=5 2>/dev/null; /t/hwcheck --restore /tmp/old 2>&1',
                         'nothing is restored'),
        'the right file': (
            '/t/hwcheck --restore /run/hwcheck.saved; ls /run/; /t/hwcheck --read --report /tmp/after >/dev/null; '
            'for f in before after; do sed -n \'/"registers"/,/^  }/p\' /tmp/$f | '
            'sed \'s/"0xc[ae]4": "[^"]*"//g\' >/tmp/$f.r; done; wc -c </tmp/after.r; cmp /tmp/before.r /tmp/after.r && '
            'echo same', r'^package . is as it was(.*\n)\d{4}\d+\nsame$'),
        # The core PMU's handler would claim those from nowhere as long as the NMI watchdog uses it.
        # The console, where an unknown NMI is trouble, does not get them.
        'dump button and chipset are heard while it is armed': (
            'echo 0 >/proc/sys/kernel/nmi_watchdog; echo 0 >/proc/sys/kernel/printk; insmod /t/on_cpu.ko; '
            '/t/guest armed >/tmp/armed; sleep 0.2; echo 8 >/proc/sys/kernel/printk; cat /tmp/armed',
            '^for unknown reason: 8 of 8, run: ours 8, other [1-8]\nPCI system error: 8 of 8'),
        'what others do to IA32_DEBUGCTL meanwhile stays': ('cat /tmp/armed', ''.join(
            f'^LBR {was}, {now} meanwhile: met 8, right 8\n' for was in (0, 1) for now in (was, 1 - was))),
        'an old overflow of the core PMU is no new one': ('cat /tmp/armed', '^stale status 1: ours 1, core 0, other 0$'),
        'after its limit it claims no NMI': (
            'cat /tmp/armed', '^an NMI after 3 ms: Timer expired, left to the kernel 0\n'
            'an NMI after 20 ms: Timer expired, left to the kernel 1\nno overflow: Success, 0$'),
        'a fixed counter of another owner': (
            POKE.format(r'\1\0\0\0\0\0\0\0', '0x395') + '; ' + POKE.format(r'\0\0\0\200\0\0\0\0', '0xc80') +
            '; /t/hwcheck --count', '^1..0 # SKIP .*0x395'),
    }
    text = bench.boot(MACHINE, 'mkdir -p /run; cd /tmp; insmod /t/hwcheck_nmi.ko; modprobe msr 2>/dev/null; ' +
                      ''.join(f'echo @@; {command}; ' for command, _ in steps.values()) + 'true')
    for name, (_, want), part in zip(steps, steps.values(), text.split('@@\n')[1:]):
        ktap.result(f'{bench.kernel}: {name}', [] if re.search(want, part, re.M) else
                    [f'not said: {want}', *part.splitlines()[-8:]])


def test_kills(ktap, bench):
    """Registers are as before within a second, under each answer of the questions about PMIs.

    Without NMI watchdog, whose handler would claim an NMI that hwcheck has left to the kernel.
    """
    planted = [{}, {'pmi_no_debugctl': 'kept', 'pmi_mask_0': 'ignored'},
               {'debugctl_13': 'needless', 'pmi_core_sel': 'apic_id'}]
    if vm.SOAK:
        names = ('debugctl_13', 'pmi_no_debugctl', 'pmi_mask_0', 'pmi_core_sel')
        known = readings('xeon7500')
        planted = [dict(zip(names, p)) for p in itertools.product(*(known[n] for n in names))]
    runs = bench.rows('xeon7500', planted, '--pmi', ['--append', 'nmi_watchdog=0'],
                      kills=200 // len(planted) + 1 if vm.SOAK else 1)
    for combination, run in itertools.zip_longest(planted, runs):
        wrong = ['no run'] if not run else run['changed']
        if run and run['violations'] - set(RULES.values()):
            wrong.append(f'violations {run["violations"]}')
        ktap.result(f'{bench.kernel}: killed at any moment ({combination})', wrong)
        for text in run['output'] if run else []:
            note(text)


def test_offline(ktap, bench):
    """The CPU through which registers are read goes in the middle of its package."""
    script = ('./hwcheck --count --report /tmp/report >/tmp/out 2>&1 & '
              'until grep -q "now: package 1: s_match" /tmp/report.log || ! kill -0 $!; do '
              'sleep 0.01; done; '
              'echo 0 >/sys/devices/system/cpu/cpu2/online; wait $!; '
              's=$?; echo 1 >/sys/devices/system/cpu/cpu2/online; exit $s\n')
    with open(f'{bench.directory}/stop', 'w', encoding='utf-8') as f:
        f.write(script)
    with open(f'{bench.directory}/lines', 'w', encoding='utf-8') as f:
        f.write('\n')
    run = next(parse(bench.boot(MACHINE, 'cd /t && ./guest lines "sh ./stop"')), None)
    ktap.result(f'{bench.kernel}: a CPU that goes offline', ['no run'] if not run else
                run['changed'] + ([] if run['status'] == 0 else run['output'][-8:]))


def test_perf(ktap, bench):
    """perf interrupts as well: no answer is wrong. Undetermined is none."""
    planted = [{}, *combinations('xeon7500', True)[1:]]
    perf = ('{ perf record -a -o /tmp/perf.data -F 2000 sleep 1000 >/dev/null 2>&1 & } && sleep 3 && '
            'kill -0 $! && test -s /tmp/perf.data &&')
    # The shell that has started perf puts in $!. Status 9: perf has ended before hwcheck.
    after = '&& { kill -0 $! || exit 9; }'
    runs = bench.rows('xeon7500', planted, '--pmi', before=perf, after=after)
    for combination, run in itertools.zip_longest(planted, runs):
        wrong = judge(combination, run, 'xeon7500') if run else ['no run: perf record does not work']
        unsure = [w for w in wrong if 'found undetermined' in w]
        wrong = [w for w in wrong if w not in unsure] + unsure * (len(unsure) > 2)
        for text in unsure:
            note(text)
        ktap.result(f'{bench.kernel}: beside perf record -a', wrong)


def test_no_control(ktap, bench):
    """A C-Box where nothing happens cannot tell how its counters compare."""
    traffic = f'{bench.directory}/traffic'
    with open(traffic, 'w', encoding='utf-8') as f:
        f.write('* C 0 0x14 * 6 0 0 0\n')
    runs = bench.rows('xeon7500', [{'c_invert': 'above'}], '--count', ['--traffic', traffic])
    answer = json.loads(runs[0]['report'])['readings']['c_invert']
    ktap.result(f'{bench.kernel}: without an event c_invert is undetermined',
                [] if answer['answer'] == 'undetermined' else [str(answer)])


def main():
    ktap = Ktap()
    # One kernel proves the experiments, others that the module is built and works there.
    for number, kernel in enumerate(vm.kernels()):
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
            test_kills(ktap, bench)
            test_offline(ktap, bench)
            test_perf(ktap, bench)
            test_no_control(ktap, bench)
    return ktap.end()


if __name__ == '__main__':
    try:
        sys.exit(main())
    except vm.Failed as failed:
        note(failed)
        print('not ok - the machine')
        sys.exit(1)
