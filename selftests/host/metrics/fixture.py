# SPDX-License-Identifier: GPL-2.0-only
"""Worlds for perf metrics: a sysfs and a perf in a directory."""
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
BUILD = f'{TOP}/build/selftests/host/metrics'
# Names of a Xeon 7500 that metrics ask for; the formats are enough for events with fields.
EVENTS = {
    'mbox': ['bbox_cmds.reads', 'bbox_cmds.merge'], 'bbox': ['imt_inserts_wr'],
    'cbox': ['llc_hits.all', 'llc_misses.all', 'occupancy_irq'], 'sbox': [
        'to_r_b_requests.local', 'to_r_b_requests.remote'],
    'wbox': ['uncore_clock', 'prochot', 'c_throttle_tmp.c_all'],
    'rbox': ['flits_sent', 'null_idle', 'qpi0', 'qpi1', 'qpi2', 'qpi3'], 'package': ['gate'],
    'ubox': ['fatal_err'],
}
BOXES = {'mbox': 2, 'bbox': 2, 'cbox': 8, 'rbox': 2, 'sbox': 2}
MODELS = {'06_2e': (6, 46), '06_2a': (6, 42), '06_5c': (6, 92), '06_9e': (6, 158)}
PLAY = 'ready()\nuntil_told()\nsay(lines())\n'


def write(path, text):
    """A file with all that is above it."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)


def read(path):
    """A file, or None."""
    try:
        with open(path, encoding='utf-8') as f:
            return f.read()
    except OSError:
        return None


def ended(done, status, text='', where='stderr', lines=math.inf):
    """What is wrong with how a program has ended; an error has so many lines at most."""
    said = getattr(done, where)
    if re.search('AddressSanitizer|runtime error', done.stderr):
        yield done.stderr[-2000:]
    if done.returncode != status:
        yield f'{done.args[1:]}: status {done.returncode}, not {status}: {done.stderr[-500:]}'
    if not re.search(text, said):
        yield f'{done.args[1:]}: it does not say {text!r} but {said[-500:]!r}'
    if status and text and len(said.splitlines()) > lines:
        yield f'{done.args[1:]}: more than {lines} lines: {said}'


def in_time(said, since):
    """What it has said, as if perf had not been slow to end: on a busy machine it may be."""
    if time.monotonic() - since < 2:
        return said
    return said.replace('perf metrics: perf stat has not ended yet; Ctrl-C ends it\n', '')


def wait_for(path):
    """Until there is such a file, which takes a moment: a program that has died makes none."""
    end = time.monotonic() + 60
    while not os.path.exists(path):
        if time.monotonic() > end:
            raise TimeoutError(f'there is no {path}')
        time.sleep(0.01)


def fill(fd):
    """Until a pipe takes no more; whoever writes to it then waits."""
    os.set_blocking(fd, False)
    try:
        while True:
            os.write(fd, bytes(4096))
    except BlockingIOError:
        os.set_blocking(fd, True)


class World:
    """A machine of packages with two CPUs each; without those boxes that absent has, as
    (box, number, package)."""

    def __init__(self, packages=2, model='06_2e', absent=(), driver=True, modules=(), cboxes=BOXES['cbox']):
        self.dir = tempfile.mkdtemp(prefix='perf-metrics-')
        self.sys = f'{self.dir}/sys'
        family, number = MODELS[model]
        write(f'{self.dir}/cpuinfo', f'processor : 0\ncpu family\t: {family}\nmodel\t\t: {number}\n'
              'model name\t: Some CPU @ 3 GHz\n\n')
        cpus = range(2 * packages)
        write(f'{self.dir}/online', ','.join(map(str, cpus)))
        write(f'{self.sys}/devices/system/cpu/online', f'0-{cpus[-1]}\n')
        for cpu in cpus:
            write(f'{self.sys}/devices/system/cpu/cpu{cpu}/topology/physical_package_id', f'{cpu // 2}\n')
        self.devices, self.type = f'{self.sys}/bus/event_source/devices', 10
        self.pmu('cpu', ['instructions', 'cpu-cycles'], None)
        for module in modules + (('xeon7500_uncore',) if driver and model == '06_2e' else ()):
            os.makedirs(f'{self.sys}/module/{module}')
        for box, events in EVENTS.items() if driver and model == '06_2e' else ():
            for i in range(cboxes if box == 'cbox' else BOXES.get(box, 1)):
                where = [2 * p for p in range(packages) if (box, i, p) not in absent]
                name = f'xeon7500_{box}' + (f'_{i}' if box in BOXES else '')
                if where:
                    self.pmu(name, events, where)
        self.play(PLAY)

    def pmu(self, name, events, where):
        """A PMU; of cores without a mask."""
        self.type += 1
        write(f'{self.devices}/{name}/type', f'{self.type}\n')
        if where is not None:
            write(f'{self.devices}/{name}/cpumask', ','.join(map(str, where)) + '\n')
        write(f'{self.devices}/{name}/format/event', 'config:0-7\n')
        write(f'{self.devices}/{name}/format/umask', 'config:8-15\n')
        for field in [e for e in events if e.startswith('qpi')]:
            write(f'{self.devices}/{name}/format/{field}', 'config:16\n')
        for i, event in enumerate(events):
            write(f'{self.devices}/{name}/events/{event}', f'event={i + 1:#x}\n')

    def play(self, text):
        """What perf does."""
        write(f'{self.dir}/perf', f'#!{sys.executable} -SB\nimport sys\nsys.path.insert(0, {HERE!r})\nfrom fake_perf import *\n{text}')
        os.chmod(f'{self.dir}/perf', 0o755)

    def env(self, **more):
        """For a program in it."""
        return {**os.environ, 'FAKE': self.dir, 'PERF_METRICS_PATH': f'{TOP}/metrics',
                'ASAN_OPTIONS': 'detect_leaks=0', 'UBSAN_OPTIONS': 'halt_on_error=1', **more}

    def start(self, *args, env=(), **more):
        """perf metrics, not waited for."""
        return subprocess.Popen([f'{BUILD}/perf-metrics', *args], env=self.env(**dict(env)), **more)

    def run(self, *args, env=(), **more):
        """perf metrics to its end."""
        since = time.monotonic()
        done = subprocess.run([f'{BUILD}/perf-metrics', *args], env=self.env(**dict(env)),
                              text=True, capture_output=True, errors='replace', timeout=60,
                              check=False, **more)
        done.stderr = in_time(done.stderr, since)
        return done

    def end(self):
        """It is gone."""
        shutil.rmtree(self.dir, ignore_errors=True)


def build(target='all'):
    """The program; what is wrong with it."""
    packages = 'build-essential libmuparser-dev libjansson-dev libncurses-dev' + (' clang' if target == 'fuzz' else '')
    done = subprocess.run(['bash', '-c', f'. {TOP}/tools/lib/common.sh && need_packages {packages} && '
                           f'mkdir -p {BUILD} && flock {BUILD} make -s -C {HERE} OUTPUT={BUILD} {target}'], text=True, capture_output=True, check=False)
    return done.stderr.splitlines() + done.stdout.splitlines() if done.returncode else []
