# SPDX-License-Identifier: GPL-2.0-only
"""For the tests in Python that run on this machine and boot by themselves."""
import glob
import os
import re
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, 'tools', 'lib'))
SOAK = bool(os.environ.get('SOAK'))
# As in selftests/run: without page table isolation, unless it is asked for.
PTI = () if os.environ.get('PTI') == 'on' else ('--append', 'pti=off')
TIMEOUT = '9900' if SOAK else '900'


class Failed(Exception):
    """The machine, or what ran in it, did not end well."""


def kernels(test):
    """Those under test, or what the test has in its line "TEST:"."""
    with open(test, encoding='utf-8') as f:
        own = re.search('^TEST: (.*)', f.read(), re.M)
    return (os.environ.get('KERNELS_UNDER_TEST') or (own.group(1) if own else '6.1 6.12')).split()


def build(name, source, directory):
    """A static program of selftests/guest/NAME; returns where it is."""
    exe = os.path.join(directory, name)
    done = subprocess.run(
        ['gcc', '-O2', '-g', '-Wall', '-Wextra', '-Werror', '-static', '-o', exe,
         '-I', os.path.join(TOP, 'selftests', 'lib'),
         '-I', os.path.join(TOP, 'tools', 'silicon', 'model'),
         os.path.join(TOP, 'selftests', 'guest', name, source),
         *glob.glob(os.path.join(TOP, 'selftests', 'lib', '*.c'))],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True, check=False)
    if done.returncode:
        raise Failed(done.stdout)
    return exe


def run(*args):
    """tools/vm/run with these options and command. Returns what came on stdout and stderr;
    anything but status 0 is a failure. The timeout is for what hangs."""
    command = [os.path.join(TOP, 'tools', 'vm', 'run'), '--timeout', TIMEOUT, *PTI, *args]
    done = subprocess.run(command,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, universal_newlines=True, check=False)
    if done.returncode:
        tail = (done.stdout + done.stderr).splitlines()[-20:]
        raise Failed('\n'.join([f'the machine ended with status {done.returncode}', *tail]))
    return done.stdout, done.stderr


def agent(directory):
    """Options that put selftests/guest/agent into the guest, as /t/agent."""
    return '--put', build('agent', 'agent.c', directory) + ':/t/agent'


def script(path, rows):
    """What the agent is to do, as options that put it at PATH of the guest's /t. ROWS are
    (key, [command]), a command is a list of its words: the agent's source has them."""
    with open(path, 'w', encoding='utf-8') as f:
        for key, commands in rows:
            for command in (('row', key), *commands):
                f.write('\t'.join(map(str, command)) + '\n')
    return '--put', f'{path}:/t/{os.path.basename(path)}'


def answer(line):
    """A line that the agent has printed: (key, {name: value}), or None for another line."""
    words = line.split('\t')
    if words[0] != 'row':
        return None
    return words[1], dict(word.split('=', 1) for word in words[2:])
