#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""libFuzzer with AddressSanitizer and UBSan on what perf metrics reads from outside: metric files,
topology files, what perf prints, and recordings. FUZZ_SECONDS (300) for each, beginning with the corpus in
the tree.

TEST: none
SOAK: 6.1
"""
import glob
import os
import subprocess
import sys

HOST = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [f'{HOST}/../lib', f'{HOST}/metrics']
sys.dont_write_bytecode = True
import fixture
from ktap import Ktap

SECONDS = int(os.environ.get('FUZZ_SECONDS', 300))
# The thread that looks after memory would take the signals of children.
LIMITS = {'m': ['-rss_limit_mb=1500', '-ignore_ooms=1'], 't': ['-rss_limit_mb=1500', '-ignore_ooms=1'],
          'p': ['-rss_limit_mb=0'], 'r': ['-rss_limit_mb=1500', '-ignore_ooms=1']}
# What perf is here; no Python, for it starts slowly.
PERF = '#!/bin/sh\nread -r x\necho ack\nexec cat "${0%/*}/stream"\n'


def fuzz(kind, corpus):
    """What it has found. What the program keeps until its end adds up in one process, so there
    are several."""
    world = fixture.World()
    fixture.write(f'{world.dir}/perf', PERF)
    os.makedirs(f'{world.dir}/new')
    os.makedirs(f'{world.dir}/seed')
    for path in corpus:
        with open(path, 'rb') as f, open(f'{world.dir}/seed/{os.path.basename(path)}', 'wb') as to:
            to.write(f.read())
    done = subprocess.run([f'{fixture.BUILD}/fuzz', f'-max_total_time={SECONDS}', '-fork=1', '-ignore_crashes=0',
                           *LIMITS[kind], '-max_len=4096', '-close_fd_mask=0', '-timeout=30',
                           f'-artifact_prefix={world.dir}/found-', f'{world.dir}/new', f'{world.dir}/seed'],
                          env=world.env(FUZZ_KIND=kind), cwd=world.dir, text=True, capture_output=True,
                          errors='replace', check=False)
    print('# ' + (done.stderr.strip().splitlines() or [''])[-1][:200], flush=True)
    found = glob.glob(f'{world.dir}/found-[ct]*')
    bad = [] if not done.returncode and not found else [done.stderr[-4000:]]
    for path in found:
        with open(path, 'rb') as f:
            bad.append(f'{f.read()[:2000]!r}')
    world.end()
    return bad


def recording(world):
    """A small one, for there is little room."""
    fixture.write(f'{world.dir}/m.metric', 'group g\nmetric m\n\tscope box\n\tevent a xeon7500_mbox/imt_x/\n'
                  '\tformula a / seconds\n')
    for i in 0, 1:
        world.pmu(f'xeon7500_mbox_{i}', ['imt_x'], [0])
    world.play('ready()\nfor i in 1, 2, 3:\n    say(lines(interval=i))\nsay(lines())\nos._exit(0)\n')
    done = world.run('record', '-o', f'{world.dir}/r', 'm', env={'PERF_METRICS_PATH': world.dir}.items())
    return [done.stderr] if done.returncode else []


def main():
    ktap = Ktap()
    built = fixture.build() + fixture.build('fuzz')
    small = fixture.World(packages=1, driver=False)
    built = built or recording(small)
    ktap.result('it is built', built)
    for name, kind, corpus in () if built else (
            ('metric files', 'm', glob.glob(f'{fixture.TOP}/metrics/*.metric')),
            ('topology files', 't', glob.glob(f'{fixture.TOP}/metrics/*.topology')),
            ('what perf prints', 'p', glob.glob(f'{HOST}/metrics/corpus/*')),
            ('recordings', 'r', [f'{small.dir}/r']),
    ):
        ktap.result(name, fuzz(kind, corpus))
    small.end()
    return ktap.end()


sys.exit(main())
