#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Other people's stress tests of perf_event_open(), from Debian, beside live sessions of the uncore.

They are trinity's random calls, and stress-ng, which counts with every event the kernel has while
it stresses something. The kernel has nothing to complain of, and the sessions end as they should.

TEST: none
SOAK: 6.1 6.12 newest debug
PART: adversaries
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import debian
import vm
from ktap import Ktap, note

# Who starts in the background of a script ignores SIGINT until perf has its own handler.
GUEST = r'''
perf stat -a -I 1000 -e xeon7500_cbox/llc_misses.all/,xeon7500_mbox/bbox_cmds.reads/ -o /tmp/stat sleep 100000 &
stat=$!
perf record -q -a -e xeon7500_cbox_0/llc_misses.all/ -c 1000003 -o /dev/null sleep 100000 2>/tmp/record &
record=$!
until grep -qs llc_misses /tmp/stat && ls -l /proc/$record/fd 2>&1 | grep -q perf_event; do
	kill -0 $stat && kill -0 $record || exit
	sleep 0.1
done
status=0
cd /tmp && "$@" >/tmp/out 2>&1 </dev/null || status=$?
tail -n 10 /tmp/out
kill -INT $stat $record
wait $stat
ended=$?
[ $ended = 130 ] || { echo "perf stat: $ended"; status=1; }
wait $record
tail -n 2 /tmp/stat
grep -c llc_misses /tmp/stat
exit $status
'''


def beside(kernel, *command):
    """Yields what is wrong. An event of ftrace changes 45,000 functions of the kernel, which takes
    longer here than a soft lockup may last. The newest perf starts sooner. These programs switch the
    kernel's static keys all the time: see the limits in Documentation/vm.md."""
    lib = '/lib/x86_64-linux-gnu/'
    done = vm.boot('--kernel', kernel, '--perf', 'newest', '--memory', '1536M', '--one-thread', '--sockets', '2',
                   '--cores', '2', '--append', 'nosoftlockup', *debian.PUT, '--put', f'{lib}libpthread.so.0:{lib}',
                   '--', 'sh', '-c', debian.ROOT + GUEST, 'sh', *command)
    note(done.stdout)
    yield from vm.ended(done)
    if not done.returncode and int(done.stdout.splitlines()[-1]) <= 2:
        yield 'perf stat ended too soon'


ktap = Ktap()
ktap.result('the packages are unpacked', debian.unpack(
    'stress-ng', 'trinity', 'libbsd0', 'libmd0', 'libcrypt1', 'libipsec-mb1', 'libjudydebian1', 'libsctp1',
    'libkmod2', 'libegl1', 'libgbm1', 'libglvnd0', 'libxxhash0', 'libaio1', 'libapparmor1',
    'libjpeg62-turbo', 'libgles2', 'libdrm2', 'libffi8', 'libssl3', 'libwayland-server0'))
for kernel in vm.kernels():
    # 20,000 had not ended there after 40 minutes.
    calls = '1000' if kernel == 'debug' else '20000'
    ktap.result(f'trinity, {kernel}', beside(
        kernel, 'trinity', '--dangerous', '-q', '-l', 'off', '-s', '1', '--enable-fds=perf',
        '-c', 'perf_event_open', '-N', calls, '-C', '4'))
    ktap.result(f'stress-ng, {kernel}', beside(
        kernel, 'stress-ng', '--perf', '--cpu', '4', '--timer', '2', '--clone', '2', '--exec', '2',
        '--timeout', '60'))
sys.exit(ktap.end())
