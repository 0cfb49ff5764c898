#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What tools/vm/run promises: statuses, clean output, files in and out, what the guest has,
verdicts about the machine, repeatable runs.

Boots take seconds, so each one serves several tests. Where one kernel is enough they take
turns.

TEST: 6.1 newest
SOAK: 6.1 newest
"""
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import vm
from ktap import Ktap

KERNELS = vm.kernels()
ONE, OTHER = KERNELS[0], KERNELS[-1]
# Every byte value, at every distance from a page's end.
DATA = ''.join(chr(i * 7 + (i >> 8) & 255) for i in range(300001))
DESCRIBE = r'''#!/bin/sh
echo "user $(id -u), in $(pwd), stdin $(readlink /proc/self/fd/0)"
cd /proc/sys/kernel
echo "paranoid $(cat perf_event_paranoid), kptr $(cat kptr_restrict), watchdog $(cat nmi_watchdog)"
for fs in proc sysfs devtmpfs devpts debugfs tracefs cgroup2; do
	echo "$fs $(cut -d' ' -f3 /proc/mounts | grep -cx "$fs")"
done
echo "modules $(cut -d' ' -f1 /proc/modules | tr '\n' ' ')"
echo "allow_writes $(cat /sys/module/msr/parameters/allow_writes)"
sed 's/ tsc=reliable tsc_early_khz=[1-9][0-9]*//; s/ pti=off//' /proc/cmdline
cd /sys/devices/system/cpu
echo "CPUs $(cat online): packages $(cat cpu?/topology/physical_package_id | tr '\n' ' ')"
grep -m 1 '^model	' /proc/cpuinfo
awk '/^MemTotal/ { print ($2 > 400000 && $2 < 614400) ? "memory as told" : $0 }' /proc/meminfo
'''
FACTS = (
    'user 0, in /root, stdin /dev/null', 'paranoid -1, kptr 0, watchdog 1', 'proc 1', 'sysfs 1',
    'devtmpfs 1', 'devpts 1', 'debugfs 1', 'tracefs 1', 'cgroup2 1', 'modules msr ',
    'allow_writes on', 'console=ttyS0 quiet no_timer_check nokaslr panic=-1 oops=panic '
    'cryptomgr.notests one=1 two=2', 'CPUs 0-1: packages 0 1 ', 'model\t\t: 46', 'memory as told')
NO_USAGE = ('--machine vax -- true', '--cores 0 -- true', '--put /none:/x -- true',
            '--get x -- true', '--frobnicate', '', '--reading nope=1 -- true',
            '--reading m_fvid=any_1 -- true', '--reading cbox_sides=by_eight -- true')
START = 'echo started; exec sleep 100000'


def command(kernel, options, *words, driver='none'):
    """The words of tools/vm/run with these options and command."""
    return vm.command('--kernel', kernel, '--driver', driver, *shlex.split(options), '--', *words)


def boot(name, *args, **driver):
    """Runs it, as vm.boot(), with NAME.log, and every byte as it comes."""
    run, *args = command(*args, **driver)
    done = subprocess.run([run, '--log', vm.path(f'{name}.log'), *args], stdin=subprocess.DEVNULL,
                          capture_output=True, check=False)
    done.stdout, done.stderr = done.stdout.decode('latin-1'), done.stderr.decode('latin-1')
    return done


def went(done, status, printed=None, *said):
    """Yields what is wrong with how it ended, with its stdout, and if its stderr lacks these."""
    yield from vm.ended(done, status)
    if printed is not None:
        yield from vm.differ(printed.split('\n'), done.stdout.split('\n'))
    yield from (f'it does not say {words}' for words in said if words not in done.stderr)


def read(name):
    """A file in our directory; each character is a byte."""
    with open(vm.path(name), encoding='latin-1', newline='') as f:
        return f.read()


def late():
    """Until the boot gets far enough to print something, even where the machine is busy."""
    for seconds in 10, 60, 300:
        done = boot('late', ONE, f'--cores 1 --timeout {seconds}', 'sh', '-c', START)
        if done.stdout or done.returncode != 124:
            break
    return list(went(done, 124, 'started\n', vm.path('late.log')))


def complain(kernel):
    """The module that makes this kernel complain."""
    return vm.modules('complain', kernel) + '/complain.ko'


def check_plain():
    """One boot for what goes in and out."""
    release = vm.headers(ONE)['RELEASE']
    with open(vm.path('data'), 'w', encoding='latin-1', newline='') as f:
        f.write(DATA)
    os.makedirs(vm.path('tree', 'sub'))
    vm.file('tree/sub/file', 'inside\n')
    os.symlink('sub/file', vm.path('tree', 'link'))
    vm.file('tree/empty', '')
    vm.file('tree/facts', DESCRIBE, 0o755)
    # A program of the user's that breaks a rule of the CPU is no fault of the kernel's, though
    # the kernel tells of it in similar words.
    vm.shell('''echo 'int main(void) { __asm__("hlt"); }' | gcc -static -x c -o "$1" -''',
             vm.path('tree', 'trap'))
    done = boot(
        'plain', ONE, f'--sockets 2 --cores 1 --memory 600M --append "one=1 two=2" '
        f'--put {vm.path("data")}:/t/data --put {vm.path("tree")}:/t/ '
        f'--get /root/copy:{vm.path("copy")} --get /root/facts:{vm.path("facts")} '
        f'--get /t/tree/empty:{vm.path("nothing")} '
        f'--stats {vm.path("stats.json")} --trace {vm.path("trace")}', 'sh', '-c', """
        echo out; echo err >&2; cp /t/data copy; chmod 640 copy; cat /t/tree/link; uname -r
        echo "$0 $1"; /t/tree/facts >facts; sh -c "/t/tree/trap; :" 2>/dev/null; exit 42""",
        'a  b', "c'd")

    def status_and_output():
        yield from went(done, 42, f"out\ninside\n{release}\na  b c'd\n")
        yield from vm.differ(['err', ''], done.stderr.split('\n'))
    ktap.result('the status, stdout and stderr of the command are passed on, and nothing else',
                status_and_output())

    def round_trip():
        if read('copy') != DATA:
            yield 'the copy differs'
        if os.stat(vm.path('copy')).st_mode & 0o7777 != 0o640:
            yield 'the copy has another mode'
        if read('nothing'):
            yield 'the empty file is not'
    ktap.result('--put and --get keep every byte and the mode', round_trip())

    def facts():
        yield from vm.differ([*FACTS, ''], read('facts').split('\n'))
    ktap.result('the guest is as it is described, and as it was asked for', facts())

    def statistics():
        json.loads(read('stats.json'))
        if not read('trace'):
            yield 'the trace is empty'
    ktap.result('--stats is JSON and --trace has lines', statistics())

    def user_fault():
        yield from vm.ended(done, 42)
        yield from vm.missing(read('plain.log'), r'traps: trap\[.*general protection')
    ktap.result("a fault of a user's program is none of the kernel's", user_fault())

    def kernel_log():
        yield from vm.missing(read('plain.log'), f'Linux version {re.escape(release)}',
                              'reboot: Power down')
    ktap.result("--log has the kernel's first and last words", kernel_log())


def check_raw():
    """One boot for what keeps every byte, and for modprobe."""
    done = boot('raw', OTHER, f'--put {vm.path("data")}:/t/ --module {complain(OTHER)} '
                f'--get /nowhere:{vm.path("nowhere")}', 'sh', '-c', '''cat /t/data
                { modprobe -r complain && modprobe complain about=nothing &&
                  modprobe -a "$(cat /sys/devices/system/cpu/modalias)"; lsmod; } >&2''')

    ktap.result('stdout keeps every byte', [] if done.stdout == DATA else ['this is not the data'])

    def missing_file():
        yield from went(done, 1, None, 'No such file')
        if os.path.exists(vm.path('nowhere')):
            yield 'it is there all the same'
    ktap.result('1 when a file cannot be got though the command ended well', missing_file())
    ktap.result("modprobe works in the guest, by name and by the CPU's modalias",
                vm.missing(done.stderr, '^complain ', '^intel_uncore '))


def check_repeatable():
    """The signal that ends the command comes only if perf ended well."""
    runs = [boot(f'repeat_{i}', ONE,
                 f'--icount --sockets 2 --cores 1 --trace {vm.path(f"trace_{i}")}',
                 'sh', '-c', 'perf stat -a -x ";" -e uncore_cbox/event=0x14,umask=0x7/ '
                 '-e context-switches sleep 0.1 && kill -9 $$', driver='mainline') for i in (1, 2)]

    def repeatable():
        for done in runs:
            yield from vm.ended(done, 137)
        for what, first, second in (('stderr', runs[0].stderr, runs[1].stderr),
                                    ('log', read('repeat_1.log'), read('repeat_2.log')),
                                    ('trace', read('trace_1'), read('trace_2'))):
            if first != second:
                yield f'another {what}'
        yield from vm.missing(runs[0].stderr, '^[1-9][0-9]*;;uncore_cbox/')
    ktap.result('two --icount runs have the same counts, kernel log and trace; 128 + n by signal n',
                repeatable())


def interrupted():
    """The caller gives up while the command runs: nothing may be left behind. What is printed
    can be read before the end."""
    with subprocess.Popen(command(OTHER, '--cores 1', 'sh', '-c', START), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as run:
        if run.stdout.readline() != b'started\n':
            yield 'it prints nothing'
        qemu = subprocess.run(['pgrep', '-P', str(run.pid), '-x', 'qemu'], stdout=subprocess.PIPE,
                              encoding='utf-8', check=False).stdout.strip()
        run.terminate()
        status = run.wait()
    if status != 143 or not qemu or os.path.exists(f'/proc/{qemu}'):
        yield f'status {status}, QEMU {qemu or "did not start"}'


def interactive():
    """script(1) is the terminal."""
    words = command(OTHER, '--cores 1 --interactive', 'sh', '-c',
                    'echo "size $(stty size)"; read -r line; echo "<$line>"; exit 5')
    with subprocess.Popen(['script', '-qefc', shlex.join(words), '/dev/null'],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as terminal:
        screen = b''
        for line in terminal.stdout:
            screen += line
            if line.startswith(b'size'):
                break
        terminal.stdin.write(b'hello\n')
        terminal.stdin.flush()
        screen = (screen + terminal.stdout.read()).decode('latin-1')
        status = terminal.wait()
    wrong = vm.missing(screen, '^size 24 80', '^<hello>')
    if status != 5 or wrong:
        yield from (f'status {status}', *wrong, screen)


def accepted():
    """Yields bad arguments that are taken, or refused without a reason."""
    for args in NO_USAGE:
        done = subprocess.run([vm.RUN, *args.split()], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
        if done.returncode != 2 or not done.stdout:
            yield f'{args}: status {done.returncode}, {len(done.stdout)} bytes'


ktap = Ktap()
# It mostly sleeps, so it goes on beside the others.
beside = concurrent.futures.ThreadPoolExecutor().submit(late)
check_plain()

FIRST = 'summary_clear=or\nfreeze_latency=1000\ncond='
ktap.result('--reading makes the silicon one that fits, and a reset brings it back', went(
    boot('readings', ONE, '--cores 1 --reading summary_clear=or '
         '--reading freeze_latency=1000,cond=never '
         f'--put {vm.TOP}/build/selftests/uncore/silicon:/t/', 'sh', '-c', """
         /t/silicon readings; /t/silicon reading cond=overflow; /t/silicon readings
         /t/silicon reset; /t/silicon readings"""),
    0, f'{FIRST}never\n{FIRST}overflow\n{FIRST}never\n'))
check_raw()
ktap.result('125 when the kernel panics', went(
    boot('crash', OTHER, '--cores 1', 'sh', '-c',
         'echo before; sleep 0.5; echo c >/proc/sysrq-trigger; exec sleep 100000'),
    125, 'before\n', 'Kernel panic', vm.path('crash.log')))
for k in KERNELS:
    ktap.result(f'125 when the kernel warns, though the command ends well ({k})', went(
        boot('warn', k, f'--cores 1 --module {complain(k)}=about=warn', 'echo', 'survived'),
        125, 'survived\n', 'as it was asked to'))
ktap.result('125 when the machine goes away', went(
    boot('reboot', ONE, '--cores 1', 'sh', '-c',
         'echo b >/proc/sysrq-trigger; exec sleep 100000'), 125))
ktap.result('125 when a module cannot be loaded', went(
    boot('unloadable', OTHER, f'--cores 1 --module {complain(OTHER)}=about=tea', 'true'),
    125, None, 'cannot load complain.ko: Invalid argument'))
ktap.result('127 when there is no such command', went(
    boot('none', ONE, '--cores 1', '/no/such/command'), 127, None, '/no/such/command'))
check_repeatable()
# A command may end at any moment of relay's. Of so few as make test has time for, none would be
# lost.
if vm.SOAK:
    ktap.result('the last words of each of 20,000 commands come through', went(
        boot('words', ONE, '--icount --sockets 1 --cores 2', 'sh', '-c',
             'set -- $(tr "\\0" " " </proc/$PPID/cmdline)\n'
             'for i in $(seq 20000); do relay $2 $3 echo "$i"; done'),
        0, ''.join(f'{i}\n' for i in range(1, 20001))))
ktap.result('a signal ends the machine too, and output comes as it is printed', interrupted())
ktap.result('--interactive is a terminal, and the status comes through', interactive())
ktap.result('124 when time is up; what was printed so far is there', beside.result())
ktap.result('bad arguments are refused with a reason', accepted())
sys.exit(ktap.end())
