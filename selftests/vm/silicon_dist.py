#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The archive of the virtual silicon, on another system.

It is made, unpacked elsewhere, and there does what Documentation/test-your-program.md says of it,
with neither this tree nor the cache in sight.

TEST: 6.1
SOAK: none
"""
import glob
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import vm
from ktap import Ktap, note

CACHE = vm.shell('printf %s "$CACHE"')
MADE, EXAMPLE = vm.path('made'), vm.path('example')
# The tree and the cache are empty directories for what it runs.
HIDE = 'for d in "$1" "$2"; do mount -t tmpfs none "$d"; done; shift 2; exec "$@"'


def block(language):
    """That of the example of the page."""
    page = vm.read(f'{vm.TOP}/Documentation/test-your-program.md')
    return re.search(f'^## An example$.*?^```{language}\n(.*?)^```$', page, re.M | re.S).group(1)


def made():
    said = vm.shell('"$TOP/tools/silicon/dist" "$1"', MADE)
    if not os.path.isfile(said.splitlines()[-1]):
        yield said


def no_path(there):
    files = [f for f in glob.glob(there + '/**', recursive=True, include_hidden=True)
             if os.path.isfile(f) and not os.path.islink(f)]
    for name in files:
        with open(name, 'rb') as f:
            binary = f.read()
        yield from (f'{name} has the path {path}' for path in (vm.TOP, CACHE, MADE)
                    if os.fsencode(path) in binary)
    if len(files) <= 100:
        yield f'{len(files)} files'


def own_libraries(there):
    lib = f'{there}/qemu/lib'
    libraries = vm.shell('"$1/ld-linux-x86-64.so.2" --inhibit-cache --library-path "$1" --list "$2"',
                         lib, f'{there}/qemu/qemu').splitlines()
    yield from (line for line in libraries or ['none at all']
                if 'linux-vdso' not in line and lib + '/' not in line)


def sources(there):
    said = vm.read(f'{there}/SOURCES')
    note(said)
    yield from vm.missing(said, r'^qemu 1:10\.', r'^glib2\.0 ', '^seabios ', r'^linux 6\.1',
                          '^libunwind ')
    yield from (f'{name} is empty' for name in ('qemu/COPYING', 'libc6')
                if not os.path.getsize(f'{there}/licenses/{name}'))


def example(there):
    """As it is printed, where this tree and its cache are empty, if this machine lets us hide them."""
    with open(f'{there}/count.c', 'w', encoding='utf-8') as f:
        f.write(block('c'))
    hide = ['unshare', '-rm', 'sh', '-c', HIDE, 'sh', vm.TOP, CACHE]
    if subprocess.run(['unshare', '-rm', 'true'], stderr=subprocess.DEVNULL, check=False).returncode:
        note(f'this machine cannot hide {vm.TOP}')
        hide = []
    with open(EXAMPLE, 'w', encoding='utf-8') as out:
        done = subprocess.run([*hide, 'sh', '-e', vm.file('commands', block('sh'))], cwd=there,
                              env={'HOME': vm.DIR, 'PATH': os.environ['PATH']}, stdout=out,
                              stderr=subprocess.PIPE, encoding='utf-8', check=False)
    note(done.stderr)
    if done.returncode:
        yield f'status {done.returncode}'


def truth(there):
    """What is counted, what the silicon says to the program, and what it says at the end."""
    counted, happened = map(int, re.findall(r'\d+', vm.read(EXAMPLE)))
    stats = json.loads(vm.read(f'{there}/stats.json'))
    counters = stats['packages']['0']['counters']
    events = [c['events'] for c in counters.values() if c['msr'] == 0xd11]
    trace = [int(line.split()[4], 16) for line in vm.read(f'{there}/trace').splitlines()
             if ' rd 0xd11 ' in line]
    found = f"{counted} {happened} {events} {trace} {stats['violations']['total']}"
    note(found)
    if not (counted > 1000 and events == [counted] == [happened] == trace and len(counters) == 1 and
            stats['violations']['total'] == 0):
        yield found
    kinds = [kind for _, _, kind, msr, *_ in map(str.split, vm.read(f'{there}/trace').splitlines())
             if 0xc00 <= int(msr, 16) <= 0xfff]
    accesses = {'rd': kinds.count('rd'), 'wr': kinds.count('wr')}
    if stats['accesses']['all']['uncore'] != accesses:
        yield f"{stats['accesses']['all']}, traced {accesses}"
    for name, c in counters.items():
        if c['value'] != c['events'] or (c['windows'], c['overflows']) != (1, 0) or \
                not 0 < c['closed'] - c['opened'] == c['enabled_cycles']:
            yield f'{name}: {c}'


def same():
    """How long it has slept depends on the kernel."""
    yield from vm.differ(*(re.sub('[0-9]+', 'N', text).splitlines()
                           for text in (block('text'), vm.read(EXAMPLE))))


def run(there, *args):
    return subprocess.run(['./run', *args], cwd=there, stdin=subprocess.DEVNULL, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding='utf-8')


def options(there):
    yield from vm.ended(run(there, '--driver', 'ours', '--', 'true'), 2)
    yield from vm.missing(run(there, '--help').stdout, r'^  --driver mainline\|none')


def perf_there(there):
    done = run(there, '--cores', '1', '--driver', 'mainline', '--', 'perf', 'stat', '-a', '-e',
               'uncore_cbox/event=0x14,umask=0x7/', 'sleep', '0.1')
    yield from vm.ended(done)
    yield from vm.missing(done.stdout + done.stderr, '^ +[1-9][0-9,]* +uncore_cbox/')


def main():
    ktap = Ktap()
    ktap.result('the archive is made', made())
    ktap.result('it can be unpacked', vm.works(
        'mkdir -p "$1" && tar -C "$1" -xf "$2"/*.tar.gz', vm.path('far/away'), MADE))
    if not ktap.bad:
        there, = glob.glob(vm.path('far/away/*'))
        ktap.result('it has no path of this machine in it', no_path(there))
        ktap.result('QEMU takes no library of this machine', own_libraries(there))
        ktap.result('it says what it is made of, and under which licenses', sources(there))
        ktap.result('the example of the page runs there', example(there))
        ktap.result("its count is the model's, exactly", truth(there))
        ktap.result('it prints what the page shows', same())
        ktap.result('it knows its options', options(there))
        ktap.result("perf counts with mainline's driver", perf_there(there))
    return ktap.end()


if __name__ == '__main__':
    sys.exit(main())
