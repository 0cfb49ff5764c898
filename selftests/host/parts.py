#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The parts of "make soak" together are "make soak": each test is in exactly one of them.
"""
import collections
import importlib.machinery
import importlib.util
import os
import shlex
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, 'selftests', 'lib'))
sys.dont_write_bytecode = True
from ktap import Ktap, note

loader = importlib.machinery.SourceFileLoader('run', f'{TOP}/selftests/run')
run = importlib.util.module_from_spec(importlib.util.spec_from_loader('run', loader))
loader.exec_module(run)


def tests(*options):
    """Of all that "make soak" with these would run: file, machine, kernel, is it long."""
    out = subprocess.run(['make', '-n', '-C', TOP, 'soak', *options], capture_output=True,
                         encoding='utf-8', check=True).stdout.replace('\\\n', ' ')
    words = next(shlex.split(line) for line in out.splitlines() if 'selftests/run' in line)
    args = run.command_line().parse_args(words[1:])
    return collections.Counter((t.path, t.machine, kernel, t.soak) for t in run.find_tests(args)
                               for kernel in t.on or [t.kernel])


def wrong():
    """Parts that are empty, tests in none of them and in more than one."""
    whole, parts = tests(), collections.Counter()
    for part in run.PARTS:
        found = tests(f'PART={part}')
        note(f'{part}: {found.total()}')
        parts += found
        if not found:
            yield f'nothing is in {part}'
    yield from (f'{t} is in no part' for t in whole - parts)
    yield from (f'{t} is in several parts' for t in parts - whole)


ktap = Ktap()
ktap.result('each test of "make soak" is in exactly one of its parts', wrong())
sys.exit(ktap.end())
