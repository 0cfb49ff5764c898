#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The tests as an installed kselftest collection, on a machine without the model.

Without /dev/cpu/*/msr nobody can ask it, as on real hardware: what needs it is skipped, and what
does not need it runs.

SOAK: 6.1 newest
"""
import collections
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import vm
from ktap import Ktap, note

INSTALLED = vm.path('installed')
# All tests but events.sh, which starts perf for every event that count opens, and with little time
# the two that run longest.
WITHOUT = ('events.sh',) if vm.SOAK else ('events.sh', 'count', 'refuse')
# The cases that pass, by program. These do not end as skipped.
PASSING = {
    'count': ('each event of each box, on both packages',),
    'group': (
        'six events over the same cycles',
        'four events and the clock of the W-Box',
        'groups too big are refused',
        'a group with a software event',
        'a group waits as a whole'),
    'hardware': (
        'as many samples as periods',
        'twins in a group',
        'events move with their package'),
    'hotplug': (
        'an event moves to the other CPU and goes on',
        '67 events in all boxes move',
        'a CPU goes that is not in charge',
        'the last CPU of a package goes and comes back',
        'no message about an event that was left behind',
        'a package comes after the module',
        'many moves'),
    'model_code': (
        'a CPU runs what another one has written',),
    'refuse': (
        'exclude_*',
        'events of a task',
        'CPUs outside the cpumask stand for their package',
        'branch stacks',
        'types of other PMUs',
        'each bit that no format covers',
        'the fourth config word',
        'events and unit masks the manual does not have',
        'options that make no sense',
        'without privileges'),
}
REASON = 'needs the virtual silicon (there is no /dev/cpu/0/msr)'
Result = collections.namedtuple('Result', 'test case how reason')


def install():
    """Yields what is wrong, as all that follow."""
    vm.shell('make -s -C "$1/selftests" "OUTPUT=$1/build/selftests" "INSTALL_PATH=$2" install',
             vm.TOP, INSTALLED)
    for name in 'run_kselftest.sh', 'kselftest/runner.sh', 'uncore/count', 'uncore/ktap.sh':
        if not os.path.exists(f'{INSTALLED}/{name}'):
            yield f'no {name}'


def results(text):
    """One for each case, and one with the case "exit" for each program."""
    for line in text.splitlines():
        program = re.match(r'(not )?ok \d+ selftests:', line)
        case = re.match(r'# (not )?ok \d+ (.*?)( # SKIP (.*))?$', line)
        if line.startswith('# selftests: '):
            test = line.split()[-1]
        elif program:
            how = 'skip' if '# SKIP' in line else 'not ok' if program.group(1) else 'ok'
            yield Result(test, 'exit', how, '')
        elif case:
            how = 'not ok' if case.group(1) else 'skip' if case.group(3) else 'ok'
            yield Result(test, case.group(2), how, case.group(4))


def no_failure(done, tests):
    yield from vm.ended(done)
    yield from re.findall('^(?:# )?not ok.*', done.stdout, re.M)
    ran = len(re.findall(r'^ok \d+ selftests: uncore: ', done.stdout, re.M))
    if ran != len(tests):
        yield f'{ran} of {len(tests)} programs'


def these_pass(found):
    want = [f'{test}: {case}' for test, cases in PASSING.items() if test not in WITHOUT
            for case in (*cases, 'exit')]
    yield from vm.differ(want, (f'{r.test}: {r.case}' for r in found if r.how == 'ok'))


def skipped(found):
    skips = [r for r in found if r.how == 'skip']
    cases = [r for r in skips if r.case != 'exit']
    note(collections.Counter(r.reason for r in cases))
    if len(skips) <= 100:
        yield f'only {len(skips)}'
    yield from (r for r in cases if r.reason != REASON)


ktap = Ktap()
ktap.result('the collection is installed', install())
tests = [t for t in re.findall('^uncore:(.*)', vm.read(f'{INSTALLED}/kselftest-list.txt'), re.M)
         if t not in WITHOUT]
done = vm.boot('--kernel', vm.kernels()[0], '--sockets', '2', '--cores', '2',
               '--put', f'{INSTALLED}:/k', '--', 'sh', '-c',
               'rmmod msr && ! ls /dev/cpu/*/msr 2>/dev/null && exec /k/run_kselftest.sh "$@"',
               'sh', *(word for t in tests for word in ('-t', f'uncore:{t}')))
found = list(results(done.stdout))
ktap.result('without the model nothing fails', no_failure(done, tests))
ktap.result('what does not need it runs and passes', these_pass(found))
ktap.result('the rest is skipped for want of it', skipped(found))
sys.exit(ktap.end())
