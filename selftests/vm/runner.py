#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What selftests/run makes of tests that go wrong: one failure, with the name of the
test, and everything else still runs. The tests are those of selftests/guest/runner.
"""
import glob
import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import vm
from ktap import Ktap

KERNEL = vm.kernels()[0]
RUN = f'{vm.TOP}/selftests/run'
BROKEN = f'{vm.TOP}/selftests/guest/runner'
os.environ.pop('SOAK', None)	# none of them is long because this one is


def run(kernel, *args):
    """Returns status and output."""
    done = subprocess.run([RUN, '--kernel', kernel, *args], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, encoding='utf-8', errors='replace', check=False)
    return done.returncode, done.stdout


def verdicts(out, *wanted):
    """Yields what is wrong unless it printed these, and no other lines of that kind."""
    found = re.findall(r'^(ok|FAIL|skip|again) +[\d.]* *s? *\d* +(?:the )?(.*)', out, re.M)
    wrong = list(vm.differ(sorted(wanted), sorted(' '.join(words) for words in found)))
    yield from wrong + (out.splitlines() if wrong else [])


def adds_up(status, out):
    """A second boot after each of the three that broke their machine."""
    yield from vm.missing(out, r'^4 boots, 0 repeated.*; 13 test files;')
    if out.splitlines()[-1] != '7 passed, 10 failed, 2 skipped' or status != 1:
        yield f'status {status}: {out.splitlines()[-1]}'


def afterwards():
    """It is tried for a while to unload the module, so without a shorter timeout."""
    _, out = run(KERNEL, f'{BROKEN}/m_broken.sh', f'{BROKEN}/n_late.sh')
    yield from verdicts(
        out, f'FAIL runner/m_broken.sh {KERNEL}', f'ok runner/n_late.sh {KERNEL}',
        f'FAIL machine of runner/n_late.sh {KERNEL}: after the last test: status 125')
    yield from vm.missing(
        out, 'not ok - these cannot be unloaded: made_up', 'not ok - lockdep is off',
        'WARNING: CPU: 0 PID: 1 at kernel/made/up.c:2')


def never_starts():
    """It has two seconds until its first test begins."""
    status, out = run(KERNEL, '--boot-timeout', '2', f'{BROKEN}/never.sh')
    yield from verdicts(out, f'again machine of runner/never.sh {KERNEL} did not start: time is up',
                        f'FAIL machine of runner/never.sh {KERNEL}: did not start, twice')
    yield from vm.missing(out, '^2 boots, 1 repeated')
    if status != 1:
        yield f'status {status}'


def takes_long():
    """It prints what SOAK is."""
    _, out = run('6.1', '--kernel', 'newest', '-v', '-j', '1', '--tier', 'soak',
                 f'{BROKEN}/long.sh')
    lines = re.findall(r'^(?:ok .*(?=runner)| +ok 1 )(.*)', out, re.M)
    yield from vm.differ(['runner/long.sh 6.1', 'SOAK=1', 'runner/long.sh newest', 'SOAK='], lines)


def left():
    """Names of the processes that have our mark in their environment."""
    for directory in glob.glob('/proc/[0-9]*'):
        try:
            with open(f'{directory}/environ', encoding='utf-8', errors='replace') as environ, \
                    open(f'{directory}/comm', encoding='utf-8', errors='replace') as comm:
                if f'RUNNER_MARK={vm.DIR}' in environ.read().split('\0'):
                    yield comm.read().strip()
        except OSError:	# it has ended, or is not ours
            pass


def interrupted():
    """Ctrl-C while the machine runs."""
    with subprocess.Popen([RUN, '--kernel', KERNEL, f'{BROKEN}/g_hangs.sh'],
                          env=dict(os.environ, RUNNER_MARK=vm.DIR), stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, start_new_session=True) as running:
        end = time.monotonic() + 300
        try:
            while not any(name.startswith('qemu') for name in left()):
                if running.poll() is not None or time.monotonic() > end:
                    yield 'QEMU did not start'
                    break
                time.sleep(0.1)
        finally:	# if we are to end, too
            running.send_signal(signal.SIGINT)
        status = running.wait()
    if status != 130:
        yield f'status {status}'
    yield from (f'{name} is left' for name in left())


ktap = Ktap()
status, out = run(KERNEL, '-j', '1', '--timeout', '20', *sorted(glob.glob(f'{BROKEN}/[a-l]_*.sh')))
ktap.result('each test has one verdict, whatever the one before it did', verdicts(
    out, *(f'ok runner/{name}.sh {KERNEL}' for name in ('a_fine', 'b_leaves', 'c_finds', 'h_fine')),
    f'FAIL runner/d_killed.sh {KERNEL}: 1 of 2 results, status 137',
    f'FAIL runner/e_oops.sh {KERNEL}: brought the machine down',
    f'FAIL runner/f_warning.sh {KERNEL}: the kernel is in trouble',
    f'FAIL runner/g_hangs.sh {KERNEL}: did not end, time is up',
    f'FAIL runner/i_fails.sh {KERNEL}',
    f'skip runner/j_elsewhere.sh {KERNEL}',
    f'FAIL runner/j_skips.sh {KERNEL}',
    f'FAIL runner/k_nothing.sh {KERNEL}: nothing was tried',
    f'FAIL runner/l_status.sh {KERNEL}: status 1'))
ktap.result('what the kernel said is shown', vm.missing(
    out, 'Kernel panic - not syncing: sysrq triggered crash',
    'WARNING: CPU: 0 PID: 1 at kernel/made/up.c:1'))
ktap.result('the sum and the status say so', adds_up(status, out))
ktap.result('what is wrong after a test has ended is found', afterwards())
ktap.result('a machine that hangs before init is started once more, and said to be', never_starts())
ktap.result('in soak a test takes long on 6.1 and 6.12, and not on newest', takes_long())
ktap.result('Ctrl-C leaves nothing behind', interrupted())
sys.exit(ktap.end())
