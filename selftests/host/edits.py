#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Each edit of Documentation/upstream that makes a kernel's file from one of ours applies to ours
as it is now, and leaves no name of our module behind.
"""
import glob
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import vm
from ktap import Ktap

OURS = re.compile(r'core_ext|pdir\.(add|del|core|select|resched)|kernel_function|pr_fmt')


def applies(edit):
    """The one "E @TOP@/FROM" up to its "w TO". ed fails if an address matches nothing, but not at g."""
    lines = re.search(r'^E @TOP@.*?^w ', edit, re.M | re.S).group().replace('@TOP@', vm.TOP)
    made = vm.path('made')
    done = subprocess.run(['ed', '-sv'], input=f'{lines}{made}\n', stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, encoding='utf-8', check=False)
    if done.returncode:
        yield f'ed ends with status {done.returncode}: {done.stdout}'
        return
    for line in re.findall(r'^g/([^/\n]*)', lines, re.M):
        if subprocess.run(['grep', '-q', '--', line, lines.split()[1]], check=False).returncode:
            yield f'no line for g/{line}/'
    yield from (f'{n}: {line}' for n, line in enumerate(vm.read(made).splitlines(), 1)
                if OURS.search(line))


ktap = Ktap()
for path in sorted(glob.glob('Documentation/upstream/*/edit', root_dir=vm.TOP)):
    text = vm.read(f'{vm.TOP}/{path}')
    if re.search('^E @TOP@', text, re.M):
        ktap.result(f'{path} applies to our tree', applies(text))
if not ktap.num:
    ktap.result('there is such an edit', ['there is none'])
sys.exit(ktap.end())
