#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The faults of the kernel's core PMU: each is there without our changes, and gone with its own
alone and with all of them, on a kernel that is built of Debian's source. Our module is not loaded;
tests of it that apply to what a change does run on the kernel with that change. The first build
takes half an hour, each change two minutes.

TEST: none
PTI: on
"""
import collections
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import vm
from ktap import Ktap, note

FAULTS = re.findall('^(?!nhmex_).+', vm.read(f'{vm.TOP}/Documentation/upstream/series'), re.M)
# Tests of our module that run without it.
OURS = [f'{vm.TOP}/build/selftests/core/{test}'
        for test in ('data_src', 'rules', 'precise', 'pdir', 'pdir_fair')]
PUT = vm.put(vm.build('pebs_index', 'sampler.c') + ':/t/sampler',
             vm.build('upstream', 'rates.c') + ':/t/rates', *(f'{test}:/t/' for test in OURS))
PERF_TESTS = f'{vm.TOP}/selftests/core/perf_tests.sh'
PERF_TESTED = 'goldmont', 'sandybridge'

GOLDMONT = '--machine', 'goldmont'
PLUS = *GOLDMONT, '--model', '7a'
SILVERMONT = '--machine', 'silvermont'
SANDYBRIDGE = '--machine', 'sandybridge', '--threads', '2'
# Commands of looks; what they print is compared below.
INDEX = '/t/sampler below && /t/sampler %s && dmesg | grep -c "PEBS index out of bounds"'
RECORD = 'perf record -%s -o p ls / >/dev/null && perf script -i p -F %s'
WEIGHT = RECORD % ('W -e cpu/event=0xd0,umask=0x81/pp', 'weight')
RATES = '''/t/rates || exit
E=cpu/event=0xb7,offcore_rsp=0x168000000
perf stat -x, -e "{LLC-store-misses,${E}2,umask=2/}" sleep 1 2>&1 &&
perf stat -x, -e "{LLC-load-misses,${E}1,umask=2/}" sleep 1 2>&1'''
MEM = 'perf mem record -o p ls / >/dev/null && perf script -i p -F event'
OUR_TEST = 'PATCHED=1 /t/%s; [ $? -le 1 ]'
# What is seen without a change, each in some line; more than that it is not as with it.
STOPPED = '^after: 0$', r'RIP: 0010:(intel_pmu_drain_pebs_nhm|__intel_pmu_pebs_|get_next_pebs)'
LOADED = '1515870810',
NO_MEM = 'memory events not supported',
NO_SOURCE = '^not ok .* by the event, fixed period',
# A fault, and behind a colon what is different; the machine, the command, and what is seen.
# This kernel has no clock to check the TSC by, and trusts none for fine timers without.
LOOKS = (
    ('pebs_index', GOLDMONT, INDEX % 'above', STOPPED),
    ('pebs_index:stop', GOLDMONT, INDEX % 'stop', STOPPED),
    ('pebs_address', SILVERMONT, RECORD % ('d -c 97 -e cpu/event=0xc4/ppu', 'addr'),
     ('5a5a5a5a5a5a5a5a',)),
    ('pebs_weight', GOLDMONT, WEIGHT, LOADED),
    ('pebs_weight:plus', PLUS, WEIGHT, LOADED),
    ('pebs_weight:slm', SILVERMONT, RECORD % ('W -c 97 -e cpu/event=0xc4/pp', 'weight'), LOADED),
    ('slm_offcore', SILVERMONT, RATES, ('LLC-load-misses event is not supported',)),
    ('goldmont_mem', GOLDMONT, MEM, NO_MEM),
    ('goldmont_mem:plus', PLUS, MEM, NO_MEM),
    ('goldmont_data_src', GOLDMONT, OUR_TEST % 'data_src', NO_SOURCE),
    ('goldmont_data_src:plus', PLUS, OUR_TEST % 'data_src', NO_SOURCE),
    ('goldmont_reduced_skid', GOLDMONT, OUR_TEST % 'rules', ('^not ok .* precision under enforce',)),
    ('snb_pdir', SANDYBRIDGE, OUR_TEST % 'pdir',
     ('^not ok .* turns on one thread', '^not ok .* turns between threads')),
    ('snb_pdir:fair', (*SANDYBRIDGE, '--icount', '--append', 'tsc=reliable'), OUR_TEST % 'pdir_fair',
     ('^not ok .* share PDIR',)),
)


def index(out):
    """Samples before and after a fault, twice. One is lost; the walk has a few more of its own. The
    kernel says so once."""
    before, after = ([int(n) for n in re.findall(rf'^{when}: (\d+)$', out, re.M)]
                     for when in ('before', 'after'))
    if len(before) != 2 or not all(200 <= n < 210 for n in before):
        yield f'{before} samples before, not twice 200 to 209'
    if len(after) != 2 or not all(n >= 199 for n in after):
        yield f'{after} samples after, not twice 199 or more'
    if out.splitlines()[-1:] != ['1']:
        yield 'the kernel did not say so once'


def zero(out):
    """All samples have a 0 as their first word."""
    if {re.match(' *([^, ]*)', line).group(1) for line in out.splitlines()} != {'0'}:
        yield 'not all are 0'


def rates(out):
    """The counts that perf has printed; it warns of the workload between them."""
    return [line.split(',')[0] for line in out.splitlines() if ',' in line]


def equal(out):
    """Two, equal, twice."""
    counts = rates(out)
    if counts[::2] != counts[1::2] or len(counts) != 4 or not all(re.match('[1-9]', n) for n in counts):
        yield f'{counts} are not twice two that are equal'


def devices(out):
    """Of 32 responses 15 are misses and one is a device's, which the store misses count as well."""
    more, less = map(int, rates(out)[:2])
    if less <= 10000 or abs(more * 15 - less * 16) >= 32:
        yield f'{more} is not 16/15 of {less}'


def mem(out):
    """Loads and stores are sampled."""
    return vm.missing(out, 'mem-loads', 'mem-stores')


def all_ok(out, but='^$'):
    """Each case of a test of ours has a result, and all but those are good."""
    results = re.findall('^(?:not )?ok .*', out, re.M)
    if re.findall(r'^1\.\.(\d+)$', out, re.M) != [str(len(results))]:
        yield f'{len(results)} results are not as planned'
    if all('# SKIP' in line for line in results):
        yield 'nothing was tried'
    yield from (line for line in results if line.startswith('not') and not re.search(but, line))


RIGHT = {'pebs_index': index, 'pebs_address': zero, 'pebs_weight': zero, 'slm_offcore': equal,
         'goldmont_mem': mem}


def gone(done, fault, changes):
    """What is wrong if it is to be gone."""
    yield from vm.ended(done)
    if fault == 'goldmont_data_src' and changes != 'all':
        # That there is no weight is what pebs_weight does.
        yield from all_ok(done.stdout, 'no weight and no transaction')
    else:
        yield from RIGHT.get(fault, all_ok)(done.stdout)


def there(done, fault, seen):
    """What is wrong if it is to be there."""
    if not list(gone(done, fault, 'none')):
        yield 'it is as with the change'
    missing = vm.missing(f'{done.stdout}\n{done.stderr}', *seen)
    yield from missing + (done.stderr.splitlines()[-5:] if missing else [])
    if fault == 'slm_offcore':
        yield from devices(done.stdout)


def look(tree, machine, command):
    """Boots the kernel, and tells what the command has printed."""
    done = vm.boot('--kernel', tree, '--perf', 'newest', *machine, '--cores', '2', '--driver', 'none',
                   *PUT, '--', 'sh', '-c', command)
    for line, times in collections.Counter(done.stdout.splitlines()).items():
        note(line if times == 1 else f'{times} times {line}')
    return done


def perf_tests(tree, machine):
    """perf's own, without any module."""
    return vm.boot('--kernel', tree, '--perf', 'newest', '--machine', machine, '--cores', '1',
                   '--icount', '--driver', 'none', '--put', f'{PERF_TESTS}:/t/perf_tests.sh', '--',
                   'env', f'TRIES={os.environ.get("TRIES", "20")}', 'sh', '/t/perf_tests.sh', 'list')


def no_worse(tests, machine):
    """What fares worse."""
    without, patched = (tests[changes, machine] for changes in ('none', 'all'))
    note(patched.stdout)
    yield from vm.ended(without)
    yield from vm.ended(patched)
    if without.stdout.count(' Ok ') < 20:
        yield 'fewer than 20 are Ok without'
    vm.shell('"$1" worse "$2" "$3"', PERF_TESTS, vm.file('without', without.stdout),
             vm.file('patched', patched.stdout))


def main():
    """The faults, and then perf's own tests, on each kernel."""
    vm.shell('make -s -C "$TOP/selftests" "OUTPUT=$TOP/build/selftests" "$@"', *OURS)
    ktap = Ktap()
    for kernel in vm.kernels():
        tests = {}
        for changes in 'none', *FAULTS, 'all':
            try:
                tree = vm.shell('"$TOP/tools/upstream" kernel "$@"', kernel,
                                *([] if changes == 'none' else [changes])).splitlines()[-1]
            except vm.Failed as e:
                ktap.result(f'{kernel}: a kernel with the changes: {changes}', str(e).splitlines())
                tree = ''	# no other one in its place
                continue
            for name, machine, command, seen in LOOKS:
                fault = name.split(':')[0]
                if changes == 'none':
                    ktap.result(f'{kernel}: {name}: seen without',
                                there(look(tree, machine, command), fault, seen))
                elif changes in ('all', fault):
                    ktap.result(f'{kernel}: {name}: gone with the changes: {changes}',
                                gone(look(tree, machine, command), fault, changes))
            if changes in ('none', 'all'):
                tests.update({(changes, m): perf_tests(tree, m) for m in PERF_TESTED})
        ktap.result(f'{kernel}: a sample of each precise event is at its instruction, with all',
                    gone(look(tree, GOLDMONT, OUR_TEST % 'precise'), 'precise', 'all'))
        for machine in PERF_TESTED:
            ktap.result(f"{kernel}: perf's own tests are no worse on {machine} with all",
                        no_worse(tests, machine))
    return ktap.end()


sys.exit(main())
