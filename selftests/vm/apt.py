#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What needs packages waits while another program holds a lock of apt or dpkg.

It says so; it does not wait for ever, and not for what does not end.

TEST: none
SOAK: 6.1
"""
import fcntl
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import vm
from ktap import Ktap, note

# need_packages where apt-get says $1 and each wait takes half a minute.
PRETEND = '''
! (
	said=$1
	apt-get() { echo "$said"; return 100; }
	sleep() { echo waits; SECONDS=$((SECONDS + 30)); }
	need_packages no-such-package
)'''


def skip(why):
    print(f'1..0 # SKIP {why}')
    sys.exit(4)


def waits(held, pattern, command):
    """The command for bash says that it waits for the lock of the file HELD, and goes on once that
    is let go of."""
    said = ''
    with subprocess.Popen(['bash', '-c', f'. "$0"; {command}', f'{vm.TOP}/tools/lib/common.sh'],
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, encoding='utf-8') as process:
        for line in process.stderr:
            said += line
            if 'waiting for' in line:
                held.close()
    note(said)
    yield from vm.missing(said, pattern)
    if process.returncode:
        yield f'status {process.returncode}'


def installs(lock):
    """Another program holds that lock while hello is installed."""
    subprocess.run(['apt-get', 'remove', '-y', 'hello'], stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    with open(lock, 'a', encoding='utf-8') as held:
        fcntl.lockf(held, fcntl.LOCK_EX)
        yield from waits(held, f'waiting for {lock}.*python3', 'need_packages hello')
    note(vm.shell('hello'))


def second():
    os.makedirs(vm.path('cache', 'locks'), exist_ok=True)
    with open(vm.path('cache', 'locks', 'install'), 'w', encoding='utf-8') as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield from waits(held, 'waiting for another program',
                         'apt-get() { :; }; need_packages no-such-package')


def fails():
    yield from vm.missing(vm.shell('! (need_packages no-such-package)'), 'Unable to locate')


def never():
    said = vm.shell(PRETEND, 'E: Could not get lock /l - open (37: No locks available)')
    yield from vm.missing(said, 'No locks available')
    yield from re.findall('.*waits.*', said)


def for_ever(lock):
    said = vm.shell(PRETEND, f'E: Could not get lock {lock}')
    times = said.count(f'waiting for {lock}\n')
    if times != 30:
        yield f'{times} times, not 30'
    yield from vm.missing(said, 'waited half an hour for /l')


def main():
    if os.getuid() == 0:
        vm.own_mounts('-m')
    ktap = Ktap()
    if os.getuid():
        skip('for root only')
    try:
        vm.overlay('root')
    except vm.Failed:
        skip('no overlay can be mounted here')
    os.environ['XEON7500_PMU_CACHE'] = vm.path('cache')
    for lock in '/var/lib/dpkg/lock-frontend', '/var/cache/apt/archives/lock':
        ktap.result(lock, installs(lock))
    # Nothing is known of any package, so that the lists are fetched first.
    vm.shell('rm -rf /var/lib/apt/lists/*')
    ktap.result('the lists', installs('/var/lib/apt/lists/lock'))
    ktap.result('what cannot be installed is said', fails())
    ktap.result('a lock that cannot be had at all', never())
    ktap.result('a lock that is held for ever', for_ever('/l. It is held by process 1 (init)'))
    # It was let go before apt could ask who has it.
    ktap.result('likewise, by nobody knows whom',
                for_ever('/l - open (11: Resource temporarily unavailable)'))
    ktap.result('another program of this project installs packages', second())
    return ktap.end()


if __name__ == '__main__':
    sys.exit(main())
