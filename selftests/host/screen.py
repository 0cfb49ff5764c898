#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""perf metrics top and the live map on a terminal of the test, which pyte emulates.

What is on the screen is what was planted, at each width, before and after a resize; and the
terminal is as it was, however the program ends.
"""
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

HOST = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [f'{HOST}/../lib', f'{HOST}/metrics']
sys.dont_write_bytecode = True
import fixture
from fixture import World, read, wait_for, write
from ktap import Ktap

ktap = Ktap()
PROGRAM = f'{fixture.BUILD}/perf-metrics'
# An interval for each file "step", of a second. S0 reads 8 GB/s more in each, S1 has 62 GB/s, which
# is 91 % of two M-Boxes; qpi0 is full to 60 %, qpi1 to 10 %, the rest idle.
STEPS = '''
def count_at(i):
    def count(pmu, terms, cpu):
        if pmu == 'xeon7500_package':
            return SECONDS * 1e9
        if 'reads' in terms:
            return (4e9 * i if cpu < 2 else 31e9) / 64
        if 'llc_misses' in terms:
            return 1e6 * (1 + int(pmu[-1]) + cpu)
        idle = {'qpi0': 0.4, 'qpi1': 0.9}.get(terms[-4:], 1)
        return 4e8 * (idle if 'idle' in terms else 1) if 'qpi' in terms else 1e6
    return count
ready()
i = 0
while not told:
    if os.path.exists(f'{WORLD}/step{i + 1}'):
        i += 1
        say(lines(count_at(i), interval=i))
    time.sleep(0.01)
'''


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, world, args, columns, rows=24, **env):
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.world, self.out, self.steps = world, b'', 0
        self.end, self.terminal = pty.openpty()
        self.size(columns, rows)
        self.before = termios.tcgetattr(self.terminal)
        env = world.env(**{'TERM': 'linux', 'LC_ALL': 'C.UTF-8', **env})
        for name in [n for n in env if n in ('NO_COLOR', 'COLUMNS', 'LINES') and not env[n]]:
            del env[name]
        self.child = subprocess.Popen(args, env=env, stdin=self.terminal, stdout=self.terminal,
                                      stderr=self.terminal, start_new_session=True,
                                      preexec_fn=self.own)

    @staticmethod
    def own():
        """The child has the terminal, and SIGHUP as it usually is, also below nohup."""
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)

    def size(self, columns, rows):
        """The terminal has another size, and tells so."""
        self.screen.resize(rows, columns)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))

    def keys(self, text):
        """They are typed."""
        os.write(self.end, text.encode())

    def step(self):
        """An interval more."""
        self.steps += 1
        write(f'{self.world.dir}/step{self.steps}', '')

    def text(self):
        """What is on the screen."""
        return '\n'.join(line.rstrip() for line in self.screen.display)

    def take(self, seconds):
        """What comes until then; false at the end."""
        if not select.select([self.end], [], [], seconds)[0]:
            return True
        try:
            got = os.read(self.end, 65536)
        except OSError:
            got = b''
        self.out += got
        self.stream.feed(got)
        return bool(got)

    def until(self, wanted, seconds=30):
        """The screen is so; what is wrong otherwise."""
        end = time.monotonic() + seconds
        while not re.search(wanted, self.text(), re.S):
            ended = self.child.poll() is not None
            self.take(0.1)
            if (time.monotonic() > end or ended) and not re.search(wanted, self.text(), re.S):
                return [f'no {wanted!r} on {self.screen.columns} columns:\n{self.text()}']
        return []

    def prompt(self):
        """The shell wants a command."""
        end = time.monotonic() + 30
        while not self.out.endswith(b'ready> '):
            if time.monotonic() > end:
                return [f'no prompt:\n{self.text()}']
            self.take(0.1)
        return []

    def left(self, status, wanted=''):
        """It ends, and what is wrong with what it leaves behind."""
        end = time.monotonic() + 30
        while self.child.poll() is None and time.monotonic() < end:
            self.take(0.05)
        while select.select([self.end], [], [], 0.1)[0] and self.take(0):
            pass
        bad = []
        if self.child.poll() != status:
            bad.append(f'status {self.child.poll()}, not {status}')
        self.child.kill()
        after = termios.tcgetattr(self.terminal)
        if after != self.before:
            bad.append(f'the terminal was {self.before} and is {after}')
        said = self.out.decode(errors='replace')
        if 'Sanitizer' in said or 'runtime error' in said:
            bad.append(said[-3000:])
        if b'\033[?25l' in self.out and self.out.rfind(b'\033[?25h') < self.out.rfind(b'\033[?25l'):
            bad.append('there is no cursor')
        if not re.search(wanted, said[max(said.rfind('\033[?25h'), 0):], re.S):
            bad.append(f'no {wanted!r} after the screen: {said[-500:]!r}')
        os.close(self.end)
        os.close(self.terminal)
        for step in range(1, self.steps + 1):
            os.unlink(f'{self.world.dir}/step{step}')
        return bad

    def stop(self):
        """It takes nothing from now on, and the program waits in a write to it; what is wrong otherwise."""
        termios.tcflow(self.terminal, termios.TCOOFF)
        end = time.monotonic() + 10
        # That is system call 1, and stdout.
        while not (read(f'/proc/{self.child.pid}/syscall') or '').startswith('1 0x1 '):
            if time.monotonic() > end:
                return ['it did not write']
            time.sleep(0.01)
        return []

    def gone(self):
        """SIGTERM ends it, though the terminal takes nothing; what is wrong otherwise."""
        try:
            status = self.child.wait(10)
        except subprocess.TimeoutExpired:
            status = None
        after = termios.tcgetattr(self.terminal)
        self.child.kill()
        os.close(self.end)
        os.close(self.terminal)
        return [] if status == -signal.SIGTERM and after == self.before else [status, after]


def top(world, columns, *args, rows=24, **env):
    """perf metrics top, on a terminal."""
    return Terminal(world, [PROGRAM, 'top', *args], columns, rows, **env)


def line(terminal, wanted):
    """Numbers of the lines that have this."""
    return [i for i, text in enumerate(terminal.text().split('\n')) if re.search(wanted, text)]


def limits_of(world, text):
    """The option for a topology file."""
    write(f'{world.dir}/t', text + '\n')
    return ['--topology', f'{world.dir}/t']


# ---- top ----

READ = {
    # Names have lines of their own.
    40: (r'memory_bandwidth\nS0 +8\.13 GB/s +12 % ▂', r'S1 +62\.13 GB/s +91 % ▇'),
    80: (r'S0 +memory_bandwidth +8\.13 GB/s +12 % +100\.0 % ▂', r'S1 +memory_bandwidth +62\.13 GB/s +91 % +100\.0 % ▇'),
    200: (r'S0 +memory_bandwidth +8\.13 GB/s +12 % +100\.0 % ▂', r'S1 +memory_bandwidth +62\.13 GB/s +91 % +100\.0 % ▇'),
}
USUAL = 'memory_bandwidth', 'llc_miss_rate', 'qpi_utilization'


def widths():
    """Each value is there, whatever the width, and after each resize; without names it is of the usual ones."""
    world = World()
    world.play(STEPS)
    limit = limits_of(world, 'limit memory 34.2e9')
    for columns, wanted in READ.items():
        t = top(world, columns, *limit)
        t.step()
        bad = [b for text in wanted for b in t.until(text)]
        if not re.search(r'PAUSED|q quit', t.screen.display[-1]):
            bad.append(f'no help in the last line: {t.screen.display[-1]}')
        for other, texts in READ.items():
            t.size(other, 24)
            bad += [f'resized from {columns}: {b}' for text in texts for b in t.until(text)]
        t.keys('\x03')
        ktap.result(f'top on {columns} columns, resized, and Ctrl-C', bad + t.left(0))
    t = top(world, 80, 'memory_read_bandwidth', rows=4)
    t.step()
    bad = t.until(r'S0 .* 8\.00 GB') or t.size(80, 1) or t.size(3, 2) or t.size(80, 24) or t.until('S1 .*q quit')
    t.keys('q')
    ktap.result('top on a screen of 4 lines, of one, and of 3 columns', bad + t.left(0))
    world.end()


def trends():
    """What was before, from 0 to the limit, or else to the highest."""
    world = World()
    world.play(STEPS)
    for name, env, wanted in (('in UTF-8', {}, '▃▅▆█'), ('in ASCII', {'LC_ALL': 'C'}, '-=+#')):
        t = top(world, 120, 'memory_read_bandwidth', **env)
        for _ in range(4):
            t.step()
        bad = t.until(f'S0 .*{re.escape(wanted)}\n')
        if env and any(b > 126 for b in t.out):
            bad.append(f'{t.out}')
        t.keys('q')
        ktap.result(f'a trend {name}', bad + t.left(0))
    # What is half full looks like that, also if it was never more; and a limit may be exceeded.
    for name, limit, wanted in (('51', 'limit memory 31.25e9', '▂▃▄▅'), ('400', 'limit memory 4e9', '████')):
        t = top(world, 120, 'memory_bandwidth', *limits_of(world, limit))
        for _ in range(4):
            t.step()
        bad = t.until(f'S0 .*[ %]{wanted}\n')
        t.keys('q')
        ktap.result(f'a trend of a limit, up to {name} %', bad + t.left(0))
    world.end()


def colours():
    """From 60 % of a limit on, and from 90 %; without colours it is seen as well."""
    world = World()
    world.play(STEPS)
    for name, env, (plain, warm, hot) in (
            ('colours', {}, (('default', False), ('brown', False), ('red', False))),
            ('no colours with NO_COLOR', {'NO_COLOR': '1'}, (('default', False), ('default', False), ('default', True))),
            ('no colours on a vt100', {'TERM': 'vt100'}, (('default', False), ('default', False), ('default', True)))):
        t = top(world, 100, 'memory_bandwidth', 'qpi_utilization', '--per-box', *limits_of(world, 'limit memory 34.2e9'), **env)
        t.step()
        bad = t.until(r'S1/mbox_0 .*31\.06 GB/s') or t.until(r'S1/qpi3 .*0\.00 %')
        for row, value, look in ((r'S0/mbox_0 ', '4.06', plain), (r'S0/qpi0 ', '60.00', warm), (r'S1/mbox_0 ', '31.06', hot)):
            for at in line(t, row)[:1]:
                cell = t.screen.buffer[at][t.screen.display[at].index(value)]
                if (cell.fg, cell.reverse) != look:
                    bad.append(f'{value} is {cell}, not {look}')
        if env and re.search(rb'\033\[(\d+;)*3[0-7](;\d+)*m', t.out):
            bad.append('there are colours')
        t.keys('q')
        ktap.result(name, bad + t.left(0))
    # The mean of a package hides it: 60 % of one of four links, of both packages.
    t = top(world, 100, 'qpi_utilization')
    t.step()
    bad = t.until(r'S0 +qpi_utilization +\d.* \d+ % .*S1/qpi0 is at 60 %\n')
    for row in line(t, 'S0/qpi0'):
        if t.screen.buffer[row][t.screen.display[row].index('S0/')].fg != 'brown':
            bad.append(f'{t.screen.buffer[row][4]}')
    if t.text().count(' is at ') != 2:
        bad.append(t.text())
    t.keys('q')
    ktap.result('a full link of a package is named', bad + t.left(0))
    # 100 % of reads, of 62 GB/s of which no limit is known.
    t = top(world, 100, 'memory_read_share', 'memory_bandwidth', '--per-box', *limits_of(world, '#'))
    t.step()
    bad = t.until(r'S1/mbox_0 +memory_bandwidth +31\.06 GB/s +100\.0 %') or t.until(r'S1/mbox_0 +memory_read_share +99\.79 % +100\.0 %')
    for row in line(t, 'GB/s|99.79'):
        looks = {(t.screen.buffer[row][at].fg, t.screen.buffer[row][at].reverse) for at in range(100)}
        if looks != {('default', False)}:
            bad.append(f'{looks} in {t.screen.display[row]}')
    t.keys('q')
    ktap.result('no colour and no share without a limit', bad + t.left(0))
    world.end()


def keys():
    """A pause stops what is shown and not what is counted; sort and scroll."""
    world = World()
    world.play(STEPS)
    t = top(world, 80, 'memory_read_bandwidth')
    t.step()
    bad = t.until(r'S0 .* 8\.00 GB/s')
    t.keys('p')
    bad += t.until('PAUSED 1.000 s')
    t.step()
    t.step()
    bad += t.until(r' 8\.00 GB/s.*PAUSED 1\.000 s, now 3\.000 s')
    t.size(40, 24)
    bad += t.until(r'read_bandwidth\nS0 +8\.00 GB/s.*PAUSED 1\.000 s, now 3\.000 s')
    t.keys('p')
    bad += t.until(r'3\.000 s.* 24\.00 GB/s.*q quit')
    t.keys('q')
    ktap.result('a pause', bad + t.left(0))
    t = top(world, 80, 'memory_read_bandwidth')
    t.step()
    bad = t.until(r'\nS0 .*\nS1 ')
    for key, wanted in (('v', r'\nS1 .*\nS0 '), ('r', r'\nS0 .*\nS1 '), ('n', r'\nS1 .*\nS0 '), ('r', r'\nS0 .*\nS1 ')):
        t.keys(key)
        bad += t.until(wanted)
    t.keys('q')
    ktap.result('sorted by keys', bad + t.left(0))
    # Of its limit qpi0 has 60 %, an M-Box of S1 31.06 of 62.13 GB/s, of S0 4.06; misses have none.
    t = top(world, 80, 'llc_miss_rate', 'memory_bandwidth', 'qpi_utilization', '--per-box', *limits_of(world, 'limit memory 62.13e9'), rows=60)
    t.step()
    bad = t.until('S1/qpi3 +qpi_utilization +0')
    t.keys('v')
    bad += t.until(r'trend\nS0/qpi0 .*\nS1/qpi0 .* 60 %.*\nS1/mbox_0 .* 50 %.*\nS1/mbox_1 .*\nS0/qpi1 .* 10 %.*S0/mbox_1 .* 7 %.*'
                   r' 0 %.*S1/cbox_7 +llc_miss_rate +10')
    t.keys('q')
    ktap.result('v: nearest to its limit first', bad + t.left(0))
    t = top(world, 80, 'llc_miss_rate', '--per-box', rows=12)
    t.step()
    bad = t.until(r'S0/cbox_0 +llc[^\n]*M/s.*S1/cbox_0 .* arrows 1-9/16 *$')
    for key, wanted in (('j', 'S0/cbox_1 '), ('G', 'S0/cbox_7 .*S1/cbox_7 '), ('g', 'S0/cbox_0 '),
                        ('\033[B', 'S0/cbox_1 '), ('\033[6~', 'S0/cbox_7 '), ('\033[5~', 'S0/cbox_0 ')):
        t.keys(key)
        bad += t.until(rf'scope[^\n]*\n{wanted}')
    t.size(40, 10)
    bad += t.until(r' arrows 1-7/\d\d *$')
    t.keys('q')
    ktap.result('scrolled', bad + t.left(0))
    world.end()
    # All of a reason is there.
    world = World()
    os.unlink(f'{world.devices}/xeon7500_mbox_0/events/bbox_cmds.reads')
    reason = json.loads(world.run('memory_bandwidth', 'llc_miss_rate', '--json', '--', 'true').stdout)['values']
    reason = [row['why'] for row in reason if 'why' in row][0]
    world.play(STEPS)
    t = top(world, 40, 'memory_bandwidth', 'llc_miss_rate')
    t.step()
    bad = t.until(r'\s+'.join(map(re.escape, reason.split())))
    t.keys('q')
    ktap.result('a reason that has more than a line', bad + t.left(0) + ([] if len(reason) > 40 else [reason]))
    world.end()


# ---- how it ends ----

def ends(name, args):
    """The terminal is as it was."""
    world = World()
    world.play(STEPS)
    for how, act, status in (('q', lambda t: t.keys('q'), 0), ('Ctrl-C', lambda t: t.keys('\x03'), 0),
                             ('SIGTERM', lambda t: t.child.terminate(), -signal.SIGTERM),
                             ('SIGINT', lambda t: t.child.send_signal(signal.SIGINT), -signal.SIGINT),
                             ('SIGHUP', lambda t: t.child.send_signal(signal.SIGHUP), -signal.SIGHUP)):
        t = Terminal(world, [PROGRAM, *args], 80)
        t.step()
        bad = t.until('1.000 s')
        act(t)
        ktap.result(f'{name} ends by {how}', bad + t.left(status))
    # In the middle of taking the terminal, which takes nothing then and again later, or which does not.
    bad = []
    for goes_on in True, False:
        t = Terminal(world, [PROGRAM, *args], 80)
        bad += t.stop()
        t.child.send_signal(signal.SIGSTOP)
        t.child.terminate()
        if goes_on:
            termios.tcflow(t.terminal, termios.TCOON)
        t.child.send_signal(signal.SIGCONT)
        bad += t.left(-signal.SIGTERM) if goes_on else t.gone()
    ktap.result(f'{name} ends by SIGTERM while it begins', bad)
    for how, text, wanted in (
            ('at once', 'sys.stderr.write("Error: perf says why\\n")\nsys.exit(5)\n', 'perf says why.*status is 5'),
            ('in the middle', 'ready()\nsay(lines(interval=1))\nsys.stderr.write("it is so\\n")\nos._exit(7)\n',
             'it is so.*in the middle'),
            ('by a signal', 'ready()\nsay(lines(interval=1))\nos.kill(os.getpid(), 9)\n', 'in the middle')):
        world.play(text)
        ktap.result(f'{name}: perf dies {how}', Terminal(world, [PROGRAM, *args], 80).left(3, wanted))
    world.play(STEPS)
    # A shell does what Ctrl-Z and fg want.
    t = Terminal(world, ['bash', '--norc', '--noprofile', '-i'], 80, PS1='ready> ', INPUTRC='/dev/null')
    bad = t.prompt()
    t.keys('stty -g; ' + ' '.join([PROGRAM, *args]) + '\r')
    t.step()
    bad += t.until('1.000 s.*q quit')
    t.keys('\x1a')
    bad += t.until('Stopped') + t.prompt()
    first = re.findall(rb'[0-9a-f]+(?::[0-9a-f]+){30,}', t.out)
    t.keys('stty -g\r')
    t.step()
    bad += t.until('([0-9a-f]+:){30}') + t.prompt()
    stopped = re.findall(rb'[0-9a-f]+(?::[0-9a-f]+){30,}', t.out)
    t.keys('fg\r')
    bad += t.until('2.000 s.*q quit')
    t.keys('\x03')
    bad += t.prompt()
    t.keys('stty -g\r')
    bad += t.until('([0-9a-f]+:){30}') + t.prompt()
    last = re.findall(rb'[0-9a-f]+(?::[0-9a-f]+){30,}', t.out)
    if len(first) != 1 or set(first + stopped + last) != set(first) or not len(first) < len(stopped) < len(last):
        bad.append(f'the terminal was {first}, {stopped} while it was stopped, {last}')
    t.keys('exit\r')
    ktap.result(f'{name}: Ctrl-Z, fg and Ctrl-C', bad + t.left(0))
    world.end()


def small():
    """One in ten minutes is not 0."""
    world = World()
    world.play('ready()\nsay(lines(lambda p, t, c: not c, lambda p, c: 600., interval=600.))\nuntil_told()\nsay(lines())\n')
    t = top(world, 100, 'fatal_error_rate', '--per-machine')
    bad = t.until(r'fatal_error_rate +0\.00167 /s')
    t.keys('q')
    ktap.result('top: a small rate is not 0', bad + t.left(0))
    world.end()


def nowhere():
    """One line where there is no terminal, or one without a screen."""
    world = World()
    for name, args, text in (('a pipe', [], 'stdin and stdout are no terminal'),
                             ('a pipe and a command', ['--', 'true'], 'top takes no command')):
        done = world.run('top', *args, stdin=subprocess.DEVNULL)
        ktap.result(f'top in {name}', [] if done.returncode == 2 and not done.stdout and
                    re.fullmatch(f'perf metrics: .*{text}.*\n', done.stderr) else [done])
    other = World(model='06_9e')
    ktap.result('top on a machine that nobody has metrics for', Terminal(other, [PROGRAM, 'top'], 80).left(
        3, 'no rule is for this machine, which is Some CPU'))
    other.end()
    for name, args, wanted in (('none', ['--topology', '/nope'], '/nope: No such file'),
                               ('a wrong one', limits_of(world, 'nonsense'), 't:1: .*1 line is wrong')):
        t = top(world, 80, 'memory_read_bandwidth', *args)
        bad = t.left(2, wanted)
        ktap.result(f'top with a topology file: {name}', bad + ([] if b'\033[' not in t.out else ['there was a screen']))
    for term in 'dumb', 'no-such-terminal':
        t = top(world, 80, TERM=term)
        ktap.result(f'top on {term}', t.left(2, f'TERM={term} .*perf metrics NAME -I 1000'))
    world.end()


# ---- the live map ----

MAP = {
    40: r'^perf metrics map  at 1\.000 s\nBusiest.*\nC [^\n]{17} C [^\n]*\nM0 r +4.00G .*\nq0>\?   ####... 60%<? q0>\?',
    80: r'^perf metrics map  at 1\.000 s\nBusiest links: S0 q0>\? 60%, S1 q0>\? 60%, S0 q1>\? 10%.*\nM0 r 4\.00G [^\n]* M0 r 31\.0G .*\nq0>\?       #{10}\.{6} 60%',
    200: r'^perf metrics map  at 1\.000 s\n.*\nM0 r 4\.00G [^\n]* M0 r 31\.0G .*\nq0>\?       #{16}\.{11} 60%',
}


def maps():
    """The map is as wide as the screen, and what is hot has its colour."""
    world = World()
    world.play(STEPS)
    for columns, wanted in MAP.items():
        t = Terminal(world, [PROGRAM, 'map', '-I', '1000'], columns)
        t.step()
        bad = t.until(wanted)
        for other, text in MAP.items():
            t.size(other, 24)
            bad += [f'resized from {columns}: {b}' for b in t.until(text)]
        t.keys('\x03')
        ktap.result(f'the live map on {columns} columns, resized, and Ctrl-C', bad + t.left(0))
    t = Terminal(world, [PROGRAM, 'memory_bandwidth', '-I', '1000'], 80)
    t.step()
    bad = t.until('GB/s')
    t.keys('\x03')
    ktap.result('a table does not begin behind ^C', bad + t.left(-2, r'\^C\r\n\Z'))
    t = Terminal(world, [PROGRAM, 'map', '-I', '1000', *limits_of(world, 'limit memory 34.2e9')], 80)
    t.step()
    bad = t.until(MAP[80])
    for wanted, at, fg in (('M0 r', 45, 'red'), ('q0>', 2, 'brown'), ('q1>', 2, 'default')):
        for row in line(t, f'^{wanted}')[:1]:
            if t.screen.buffer[row][at].fg != fg:
                bad.append(f'{wanted} is {t.screen.buffer[row][at]}')
    t.keys(' ')
    bad += t.until('PAUSED 1.000 s')
    t.step()
    bad += t.until(r'M0 r 4\.00G.*now 2\.000 s')
    t.keys(' ')
    bad += t.until(r'M0 r 8\.00G.*q quit')
    t.keys('q')
    ktap.result('the live map in colours, and a pause', bad + t.left(0))
    world.end()


def limits():
    """Those of rules, of one place too, are what top and the map have as 100 %; of several places they add up."""
    world = World()
    world.play(STEPS)
    file = f'{world.dir}/t'
    write(file, 'limit memory 62e9\nlimit memory 32e9 S1/mbox_1\n')
    for name, args, columns, texts in (
            ('top of boxes', ['top', 'memory_bandwidth', '--per-box'], 100, (r'S1/mbox_0 .* 31\.06 GB/s +50 %', r'S1/mbox_1 .* 31\.06 GB/s +97 %')),
            ('the map of a narrow screen', ['map', '-I', '1000'], 80, (r'M0 r 31\.0G w[^\n]*\| 50%', r'M1 r 31\.0G w[^\n]*\| 97%')),
            ('the map of a narrower screen', ['map', '-I', '1000'], 40, (r'M0 31\.1G ##\+?#?\.*\| 50%', r'M1 31\.1G #{5}\| 97%')),
            ('top of packages', ['top', 'memory_bandwidth'], 100, (r'S0 .* 8\.13 GB/s +7 %', r'S1 .* 62\.13 GB/s +66 %')),
            ('the map', ['map', '-I', '1000'], 200, (r'M0 r 31\.0G w[^\n]*\| *50%', r'M1 r 31\.0G w[^\n]*\| *97%', r'up to \|, its limit'))):
        t = Terminal(world, [PROGRAM, *args, '--topology', file], columns)
        t.step()
        bad = [b for text in texts for b in t.until(text)]
        t.keys('q')
        ktap.result(f'limits of places: {name}', bad + t.left(0))
    world.end()


def limits_of_cpus():
    """A rule may have a limit beside a metric of CPUs, of which there is none: no share, and no fullest CPU."""
    world = World()
    world.play(STEPS)
    write(f'{world.dir}/own/x.metric', 'group g\nmachine 06_2e\nmetric per_cpu\n\thelp x\n\tunit 1/s\n\tscope cpu\n\tevent i cpu/instructions/\n'
          '\tformula i / seconds\n\tsource own\nrule r\n\tvalue a per_cpu\n\tlimit m memory\n\tif a > m\n\tshare a / m\n\tsays {a} of {m}\n')
    own = {'PERF_METRICS_PATH': f'{fixture.TOP}/metrics:{world.dir}/own'}
    for args in ['per_cpu'], ['per_cpu', '--per-box']:
        t = top(world, 120, *args, *limits_of(world, 'limit memory 62e9'), **own)
        t.step()
        bad = t.until(r'1\.000 s') + t.until(r'S0\S* +per_cpu +[\d.]+ ')
        bad += [t.text()] if re.search(r' is at |inf|nan', t.text()) else []
        t.keys('q')
        ktap.result(f'top of {" ".join(args)} beside a limit of boxes', bad + t.left(0))
    world.end()


def narrow():
    """In narrow blocks names are whole, and the legend is of what is drawn."""
    world = World()
    text = 'link S0.qpi0 IOH10\nlink S0.qpi1 IOH1\nlink S1.qpi0 HUBNR12'
    for limit in '', '\nlimit memory 40e9':
        said = world.run('map', *limits_of(world, text + limit), '--', 'true', env={'COLUMNS': '40'}.items()).stdout
        lines = said.split('\n')
        bad = [f'{line!r}' for line in lines if len(line) > 40]
        bad += [name for name in ('q0>IOH10', 'q1>IOH1[.#?n]', 'q0>HUBNR12') if not re.search(name, said)]
        bad += [] if ('|, its limit' in said.replace('\n', ' ')) == bool(limit) == bool(re.search(r'M0.*\|.*%', said)) else [said]
        ktap.result(f'a narrow map {"with" if limit else "without"} a limit', bad)
    world.end()


# perf that does not end, and terminals that take nothing.
HANGS = '''
ready()
say(lines(interval=1))
until_told()
open(f'{WORLD}/told', 'w').close()
while True:
    signal.pause()
'''
FLOODS = '''
import random
ready()
i = 0
while not told:
    i += 1
    say(lines(lambda pmu, terms, cpu: SECONDS * 1e8 if 'gate' in terms else random.random() * 1e9, interval=i / 10))
    time.sleep(0.1)
'''


def hangs():
    """A perf that does not end is told, and a second signal ends it, before its 20 s are over;
    without a result the screen says so."""
    world = World()
    world.play(HANGS)
    t = top(world, 80, *USUAL)
    bad = t.until('1.000 s') + t.until(r'\nno result for ([3-9]|1\d) s  q quit')
    t.keys('q')
    end = time.monotonic() + 10
    while b'has not ended yet; Ctrl-C ends it' not in t.out and time.monotonic() < end:
        t.take(0.1)
    asked = time.monotonic()
    t.keys('\x03')
    bad += t.left(-signal.SIGINT, 'has not ended yet; Ctrl-C ends it.*was killed')
    bad += [] if time.monotonic() - asked < 15 else ['that took long']
    ktap.result('perf hangs: q, and then Ctrl-C', bad)
    for first, second in ((signal.SIGTERM, signal.SIGTERM), (signal.SIGINT, signal.SIGTERM)):
        os.unlink(f'{world.dir}/told')
        child = world.start('memory', '--', 'true', stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        wait_for(f'{world.dir}/told')
        asked = time.monotonic()
        # It has got all before it ends, and has two of the same kind as one.
        for sig in signal.SIGSTOP, first, second, signal.SIGCONT:
            child.send_signal(sig)
        said = child.communicate(timeout=60)[0]
        took = time.monotonic() - asked
        good = child.returncode == -second and took < 15 and 'was killed' in said
        ktap.result(f'perf hangs: {first.name} and {second.name}',
                    [] if good else [child.returncode, took, said])
    for name, text, args in ('in a redraw', FLOODS, ['-I', '100']), ('between two', STEPS, []):
        world.play(text)
        t = top(world, 80, *args, *USUAL)
        t.step()
        bad = t.until(r'top +\d+\.\d00 s')
        if args:
            bad += t.stop()
        else:
            time.sleep(0.3)
            termios.tcflow(t.terminal, termios.TCOOFF)
        t.child.terminate()
        bad += t.gone()
        ktap.result(f'SIGTERM ends it on a terminal that takes nothing, {name}', bad)
    # What perf has said comes behind the screen, where nobody reads it.
    world.play('ready()\nsay(lines(interval=1))\nsys.stderr.write("one line\\n")\nsys.stderr.flush()\nuntil_told()\n')
    os.mkfifo(f'{world.dir}/full')
    full = os.open(f'{world.dir}/full', os.O_RDWR)
    fixture.fill(full)
    t = Terminal(world, ['sh', '-c', 'exec "$@" 2>$FAKE/full', '-', PROGRAM, 'top', *USUAL], 80)
    bad = t.until('1.000 s')
    t.keys('q')
    time.sleep(0.5)
    t.child.terminate()
    ktap.result('SIGTERM ends it where nobody reads stderr', bad + t.gone())
    os.close(full)
    # The terminal takes all, and for more than a second there was no processor.
    world.play(FLOODS)
    t = top(world, 80, '-I', '100', *USUAL)
    bad = t.until(r'top +\d+\.\d00 s')
    bad += t.stop()
    t.child.send_signal(signal.SIGSTOP)
    termios.tcflow(t.terminal, termios.TCOON)
    t.child.terminate()
    time.sleep(1.2)
    t.child.send_signal(signal.SIGCONT)
    ktap.result('SIGTERM in a redraw that a busy machine delays', bad + t.left(-signal.SIGTERM))
    world.play(FLOODS)
    t = top(world, 200, '-I', '100', '--per-box', *USUAL, rows=50)
    bad = t.until('trend')
    time.sleep(8)
    bad += t.until(r'perf metrics top  (1[0-9]|[89])\.[0-9]00 s')
    t.keys('q')
    ktap.result('a terminal that takes nothing for a while', bad + t.left(0))
    world.end()


def fails():
    """What is said while the map is on a terminal is there after it."""
    world = World()
    for name, text, wanted in (
            ('fails', 'sys.stderr.write("Error: perf says why\\n")\nsys.exit(5)\n', 'perf says why.*status is 5'),
            ('fails in the middle', 'ready()\nsay(lines(interval=1))\nos._exit(7)\n', 'in the middle'),
            ('never begins', 'while True:\n    signal.pause()\n', 'did not begin, and was killed')):
        world.play(text)
        t = Terminal(world, [PROGRAM, 'map', '-I', '1000'], 80, FAKE_PATIENCE='300' if 'never' in name else '20000')
        ktap.result(f'on a terminal perf {name}', t.left(3, wanted))
    world.play('ready()\nfor i in 1, 2, 3:\n    say(lines(lambda *a: "<not counted>", interval=i / 4))\nuntil_told()\n')
    t = Terminal(world, [PROGRAM, 'map', '-I', '250'], 80)
    bad = t.until('C misses')
    t.keys('q')
    bad += t.left(1, r'\A(?!.*(S0/mbox_0 memory_read_bandwidth: n/a).*\1).*S0/mbox_0 memory_read_bandwidth: n/a')
    ktap.result('a map without values says why, once', bad)
    # The command makes the terminal one that stops a background program that writes, as perf is.
    world.play('ready()\nuntil_told()\nsys.stderr.write("Warning: x\\n")\nsys.stderr.flush()\nsay(lines())\n')
    t = Terminal(world, [PROGRAM, 'memory', '--csv', '--', 'stty', 'tostop'], 80, FAKE_PATIENCE='5000')
    t.before[3] |= termios.TOSTOP
    ktap.result('perf warns on a terminal with tostop', t.left(0, 'Warning: x.*machine,memory_bandwidth,[0-9]'))
    os.unlink(f'{world.dir}/perf')
    t = Terminal(world, [PROGRAM, 'map', '-I', '1000'], 80)
    ktap.result('on a terminal perf is not there', t.left(3, 'install linux-perf'))
    world.end()


need = subprocess.run(['bash', '-c', f'. {fixture.TOP}/tools/lib/common.sh && need_packages python3-pyte'], text=True,
                      capture_output=True, check=False)
ktap.result('it is built', fixture.build() + (need.stderr.splitlines() if need.returncode else []))
if not ktap.bad:
    # Also for a Python that is not Debian's.
    sys.path.append('/usr/lib/python3/dist-packages')
    import pyte
    widths()
    trends()
    colours()
    keys()
    ends('top', ['top', *USUAL])
    ends('the live map', ['map', '-I', '1000'])
    small()
    nowhere()
    maps()
    limits()
    limits_of_cpus()
    narrow()
    hangs()
    fails()
sys.exit(ktap.end())
