#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""PCP's perfevent agent, from Debian, reads our perfevent.conf and counts planned traffic.

C-Boxes that a Xeon 7500 does not have are no metrics of it. The agent is a process, as with pmcd:
from a dbpmda that had loaded it, its code went at the end while its thread still ran.

TEST: none
SOAK: 6.1
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import debian
import vm
from ktap import Ktap

# The agent, the program that talks to it, and what they are linked with.
PACKAGES = ('pcp', 'pcp-conf', 'libpcp3', 'libpcp-pmda3', 'libpfm4', 'libreadline8', 'libtinfo6',
            'libssl3', 'libsasl2-2', 'libsystemd0', 'libcap2', 'liblzma5', 'libzstd1', 'liblz4-1',
            'libgcrypt20', 'libgpg-error0')
CONFIG = vm.path('build', 'export', 'perfevent.conf')
FETCHED = 'perfevent.hwcounters.%s.value'
NAMESPACE = 'root { perfevent }\nperfevent { hwcounters 127:*:* }\n'
GUEST = r'''
mkdir -p /usr/lib /var/lib/pcp/pmdas /etc/pcp/perfevent /var/lib/pcp/tmp
ln -s /usr/lib/pcp/pmdas/perfevent /var/lib/pcp/pmdas/
ln -sf /t/perfevent.conf /usr/lib/pcp/pmdas/perfevent/perfevent.conf
/usr/bin/dbpmda -ie -n /t/namespace </t/commands 2>&1
'''


def agent():
    """Yields what is wrong."""
    yield from debian.unpack(*PACKAGES)
    vm.shell('cd "$1" && cp -a root/usr/lib/libpcp*.so.* root/lib/x86_64-linux-gnu/ && '
             'make -s -C "$TOP/tools/metrics" OUTPUT="$1/build" export', vm.DIR)


def fetch(machine):
    """Each event of the file, and two of them at once, twice; what is printed."""
    events = re.split(r'^\[dynamic\].*\n', vm.read(CONFIG), flags=re.M)[1].splitlines()
    both = 'fetch ' + ' '.join(FETCHED % f'xeon7500_mbox_{i}.bbox_cmds.reads' for i in range(2))
    commands = ('open pipe /usr/lib/pcp/pmdas/perfevent/pmdaperfevent -U root', both, 'wait 1',
                both, *('fetch ' + FETCHED % event for event in events), '')
    put = [f'{vm.path("root", where)}:/{where}' for where in (
        'lib/x86_64-linux-gnu', 'usr/lib/pcp/pmdas/perfevent', 'usr/bin/dbpmda',
        'usr/lib/pcp/bin/pmcpp', 'etc/pcp.conf')]
    put += [f'{path}:/t/' for path in (CONFIG, vm.file('commands', '\n'.join(commands)),
                                       vm.file('namespace', NAMESPACE))]
    return vm.run('--machine', machine, '--sockets', '2', '--cores', '1', '--memory', '1G',
                  '--icount', '--traffic', f'{vm.TOP}/tools/demo.traffic',
                  *vm.put(*put), '--', 'sh', '-c', GUEST)[0]


def counted(machine, cboxes):
    """Yields what is wrong; the reads of two M-Boxes of package 0 are 172 to 164, as planned."""
    reads, values, unknown = [], {}, set()
    for part in re.split(r'^dbpmda> ', fetch(machine), flags=re.M):
        # What goes to stderr is where it happens to be.
        names = re.findall(r'hwcounters\.(\S+)\.value', part)
        counts = [int(n) for n in re.findall(r'inst \[0 or .*?\] value (\d+)', part)]
        if len(names) == 2:
            reads.append(counts)
        elif names and counts:
            values[names[0]] = counts[0]
        elif names:
            unknown.add(names[0])
    boxes = {re.match(r'xeon7500_(cbox_\d+)', n).group(1) for n in unknown}
    if boxes != {f'cbox_{i}' for i in range(cboxes, 10)}:
        yield f'not there: {sorted(unknown)}'
    if len(values) < 30:
        yield f'{len(values)} counted'
    if not values['xeon7500_cbox_7.llc_misses.all']:
        yield 'no misses'
    gained = [after - before for before, after in zip(*reads)]
    ratio = gained[0] / gained[1]
    if abs(ratio / (172 / 164) - 1) > 0.005:
        yield f'planned {172 / 164}, counted {ratio}'


ktap = Ktap()
ktap.result('the agent, and our file', agent())
if not ktap.bad:
    ktap.result('it counts on the Xeon 7500', counted('xeon7500', 8))
    ktap.result('it counts on Xeon E7', counted('westmereex', 10))
sys.exit(ktap.end())
