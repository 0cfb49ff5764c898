#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""hwcheck on a machine that is not its own: what it refuses, and what it says it would write.

--dry-run is compared with what the documentation promises: --count touches uncore registers alone,
selects no core, and sets pmi_en and rst_all where the page says so. The man page has each option.

TIER: once
"""
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from ktap import Ktap

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PMI_EN = {'pmi_while_ov', 'freeze_latency', 'refreeze', 'cond', 'w_fixed_pmi', 'w_erratum', 'w_erratum_which'}
RST = {'rst_all', 'rst_all_start'}


def text_of(path):
    with open(f'{TOP}/{path}', encoding='utf-8') as f:
        return f.read()


ktap = Ktap()
with tempfile.TemporaryDirectory() as directory:
    made = subprocess.run(['make', '-s', '-C', f'{TOP}/tools/hwcheck', f'OUTPUT={directory}/b', 'REPORT_TO=x@y',
                           'CFLAGS=-O2 -Werror'], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          encoding='utf-8', check=False)
    ktap.result('it is built without a warning, and its size is said',
                [] if re.fullmatch(r'\S+/hwcheck: \d+ KB\n', made.stdout) else [made.stdout])

    def hwcheck(command):
        """Status and output, in an empty directory."""
        os.makedirs(f'{directory}/d', exist_ok=True)
        done = subprocess.run(['sh', '-c', f'exec {directory}/b/hwcheck {command}'], cwd=f'{directory}/d',
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding='utf-8', check=False)
        return done.returncode, done.stdout

    def refused(command, status, why):
        got, text = hwcheck(command)
        left = os.listdir(f'{directory}/d')
        ktap.result(f'{command or "no option"} is refused', [] if got == status and re.search(why, text) and
                    not left else [f'status {got}', text, *left])

    for command, why in {
            '': 'usage:', '--no-such': 'usage:', '--count x': 'usage:', '--count --pmi': 'one of --read',
            '--count --only no_such': 'no such experiment.*no_such',
            '--read --only cond': 'needs --count or --pmi: cond',
            '--count --only debugctl_13': 'needs --pmi: debugctl_13', '--count --limit 0': '0.1 to 86400 seconds',
            '--count --limit nan': 'not nan',
            '--count --limit 5x': 'not 5x', '--count --package one': 'a number, not one',
            '--count --restore x': 'usage:', '--only cond': 'usage:'}.items():
        refused(command, 2, why)
    for command in ('--read', '--count', '--pmi', '--restore /nowhere', '--pmi --load'):
        refused(command, 4, '1..0 # SKIP this is ')
    refused('--pmi <&- >&- 2>&-', 4, '^$')

    def writes(level):
        """{experiment: [(register, bits, what it is)]} of --dry-run."""
        found = {}
        for row in hwcheck(f'{level} --dry-run')[1].splitlines():
            head = re.match(r'--\w+ +(\w+)', row)
            bits = re.match(r'#   MSR 0x(\w+), bits (0x\w+): (.*)', row)
            if head:
                name = head.group(1)
                found[name] = []
            elif bits:
                found[name].append((int(bits.group(1), 16), int(bits.group(2), 16), bits.group(3)))
            elif 'C-Box' in row:
                found[name].append((0xd00, 1, 'C-Box'))
        return found

    count, pmi = writes('--count'), writes('--pmi')
    ktap.result('--count writes uncore registers alone', [
        f'{name}: {row}' for name, rows in count.items() for row in rows
        if not (0xc00 <= row[0] <= 0xfff or row[0] in (0x394, 0x395))] + ['nothing'] * (not count) +
        [name for name, rows in count.items() if len(rows) < 5])
    for what, register, mask, where in (('selects no core', 0xc00, 0x1fe, set()), ('rst_all', 0xc00, 1 << 29, RST),
                                        ('frz_all', 0xc00, 1 << 31, PMI_EN), ('pmi_en', 0xc50, 1 << 20, PMI_EN),
                                        ('STATUS', 0xc41, ~0, {'status_write'})):
        got = {name for name, rows in count.items() for r, b, _ in rows if r == register and b & mask}
        ktap.result(f'--count: {what}, where the page says so', [] if got == where else [str(got ^ where)])
    ktap.result('--pmi adds what interrupts', [] if {n for n, rows in pmi.items() if any(r == 0x1d9 for r, _, _ in rows)}
                == pmi.keys() - count.keys() != set() else [str(pmi.keys())])
    page = text_of('Documentation/hwcheck.md')
    ktap.result('the page has their number', [] if f'{len(count)} experiments, {len(count) - 1} of them' in page and
                len(pmi) - len(count) == 4 else [f'{len(count)} and {len(pmi)}'])
    only = hwcheck('--pmi --only pmi_core_sel --dry-run')[1]
    ktap.result('--only has what it needs', [] if re.findall(r'^--\w+ +(\w+)', only, re.M) ==
                ['debugctl_13', 'pmi_core_sel'] else [only])
    options = set(re.findall(r'--[a-z-]+', hwcheck('--help')[1]))
    manual = set(re.findall(r'--[a-z-]+', text_of('Documentation/man/hwcheck.8').replace('\\-', '-')))
    ktap.result('the man page has each option', sorted(options ^ manual - {'--help'}) + ['none'] * (len(options) < 10))
sys.exit(ktap.end())
