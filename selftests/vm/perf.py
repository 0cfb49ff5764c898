#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A perf of Debian's source with our patch: it passes its own tests of events and metrics.

perf list describes the events, and perf stat -M computes what perf metrics does.

TEST: none
SOAK: 6.1
"""
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import vm
from ktap import Ktap

MAKE_PATCH = r'''
set -eo pipefail
make -s -C "$TOP/tools/metrics"
PERF_METRICS_PATH=$TOP/metrics "$TOP/build/metrics/perf-metrics" list --json |
	"$TOP/tools/metrics/export.py" perf "nehalemex=$1" "westmereex=$2" >"$3"
'''
# Only what counting needs, so that it runs in the guest as it is.
WITHOUT = ('LIBELF LIBPYTHON LIBPERL SLANG GTK2 LIBNUMA LIBUNWIND LIBAUDIT LIBCRYPTO LIBZSTD '
           'LIBCAP LIBBPF SDT AUXTRACE JVMTI LZMA LIBBABELTRACE')
BUILD = r'''
set -eo pipefail
need_packages build-essential flex bison patch
source=$("$TOP/tools/vm/kernel" --source 6.1 | sed -n 's/^SOURCE=//p')
mkdir "$1"
cp -r "$source/Makefile" "$source"/{tools,scripts,include,arch,kernel,lib} "$1"
patch -s -p1 -d "$1" <"$2"
env -u MAKEFLAGS -u MAKELEVEL make -C "$1/tools/perf" perf "-j$(nproc)" "${@:3}" \
	LDFLAGS=-static WERROR=0
'''
PATCH, SOURCE = vm.path('perf.patch'), vm.path('source')
PERF = f'{SOURCE}/tools/perf/perf'
METRICS = ('memory_bandwidth memory_read_share llc_miss_ratio qpi_utilization dram_page_hit_ratio '
           'imt_avg_occupancy uncore_clock_mhz')
# Both count the same traffic, in a machine whose time is that of its instructions.
GUEST = f'''
perf metrics {METRICS} --csv --per-socket -- sleep 0.1
for metric in {METRICS}; do
	/t/perf stat -a --per-socket -j -M $metric sleep 0.1 2>&1 | sed "s/^/$metric /"
done
echo list
/t/perf list | grep -A1 '^  llc_misses.all '
'''


def patch_made():
    """What sysfs has of each machine, and the patch made of it. Yields what is wrong."""
    for machine in 'xeon7500', 'westmereex':
        vm.file(machine, vm.run('--machine', machine, '--cores', '1', '--', 'sh', '-c',
                                'grep -r . /sys/bus/event_source/devices/xeon7500_*/')[0])
    vm.shell(MAKE_PATCH, vm.path('xeon7500'), vm.path('westmereex'), PATCH)
    yield from vm.missing(vm.read(PATCH), r'^\+.*"MetricName"', r'^\+.*"EventName"')


def perf_test(*words):
    """What perf test prints."""
    return subprocess.run([PERF, 'test', *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, encoding='utf-8', check=False).stdout


def own_tests():
    """They look at all events and metrics of all CPUs, on any. Yields what is wrong."""
    said = perf_test(re.search(r'^ *(\d+): PMU events$', perf_test('list'), re.M).group(1))
    if len(re.findall(': Ok$', said, re.M)) < 4 or 'FAILED' in said:
        yield from said.splitlines()


def counted(machine):
    """Yields where the two differ."""
    out, _ = vm.run('--machine', machine, '--sockets', '2', '--cores', '1', '--icount',
                    '--traffic', f'{vm.TOP}/tools/demo.traffic', '--put', f'{PERF}:/t/perf',
                    '--', 'sh', '-c', GUEST)
    rows, described = out.split('\nlist\n')
    ours = {(scope, metric): float(value)
            for scope, metric, value in re.findall(r'^(S\d),(.*?),(.*?),', rows, re.M)}
    theirs = {}
    for metric, row in re.findall(r'^(\w+) (\{.*)', rows, re.M):
        row = json.loads(row)
        unit = row['metric-unit'].split()
        if unit[-1:] == [metric]:
            theirs[row['socket'], metric] = row['metric-value'] * (1e6 if unit[0] == 'MB/s' else 1)
    if not ours or ours.keys() != theirs.keys():
        yield f'not in both: {sorted(ours.keys() ^ theirs.keys())}'
    for key, value in ours.items():
        if abs(theirs.get(key, 0) - value) > 0.01 * value:
            yield f'{key} {value} {theirs.get(key)}'
    if 'Last level cache misses: all misses' not in described:
        yield f'described: {described}'


ktap = Ktap()
ktap.result('the patch is made', patch_made())
ktap.result('perf is built with it', vm.works(
    BUILD, SOURCE, PATCH, *(f'NO_{name}=1' for name in WITHOUT.split())))
ktap.result('its own tests of events pass', own_tests())
ktap.result('perf stat -M agrees, on the Xeon 7500', counted('xeon7500'))
ktap.result('perf stat -M agrees, on Xeon E7', counted('westmereex'))
sys.exit(ktap.end())
