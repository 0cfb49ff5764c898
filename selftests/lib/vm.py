# SPDX-License-Identifier: GPL-2.0-only
"""For the tests in Python that run on this machine and boot by themselves."""
import atexit
import difflib
import fcntl
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from ktap import SHOWN, note

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, 'tools', 'lib'))
RUN = os.path.join(TOP, 'tools', 'vm', 'run')
SOAK = bool(os.environ.get('SOAK'))
TIMEOUT = '9900' if SOAK else '900'	# for what hangs
# Gone when the test ends.
DIR = tempfile.mkdtemp()
atexit.register(shutil.rmtree, DIR, ignore_errors=True)


def stop(number, _):
    """What subprocess.run() waits for is to end, too, but not by its kill(): it has to clean up."""
    subprocess.Popen.kill = subprocess.Popen.terminate
    sys.exit(128 + number)


signal.signal(signal.SIGINT, stop)
signal.signal(signal.SIGTERM, stop)


class Failed(Exception):
    """The machine, or what ran in it, did not end well."""


def directive(key):
    """The words of the line "KEY: ..." of the test that runs; selftests/run --help has the keys."""
    with open(sys.argv[0], encoding='utf-8') as f:
        found = re.search(rf'^{key}: (.*)', f.read(4000), re.M)
    return found.group(1).split() if found else []


def kernels():
    """Those under test, or what the test has in its line "TEST:", or in "SOAK:" if it is of
    soak alone."""
    own = directive('TEST') or ['6.1', '6.12']
    if own == ['none']:
        own = directive('SOAK') or ['newest']
    return os.environ.get('KERNELS_UNDER_TEST', '').split() or own


# As in selftests/run: without page table isolation, unless it is asked for or matters.
PTI = ('--append', 'pti=off')
if os.environ.get('PTI') == 'on' or directive('PTI') == ['on']:
    PTI = ()


def path(*names):
    """A file in the directory of the test that runs."""
    return os.path.join(DIR, *names)


def file(name, text, mode=0o644):
    """Writes such a file and returns its path."""
    with open(path(name), 'w', encoding='utf-8') as f:
        f.write(text)
    os.chmod(path(name), mode)
    return path(name)


def read(name):
    """The text of a file."""
    with open(name, encoding='utf-8', errors='replace') as f:
        return f.read()


def shell(command, *args, **env):
    """A command for bash, with the functions of tools/lib/common.sh; args are $1 and so on, env is added
    to its environment. Returns what it printed on stdout and stderr; any status but 0 is a failure."""
    done = subprocess.run(['bash', '-c', f'. "$0"; {command}', f'{TOP}/tools/lib/common.sh', *args],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env={**os.environ, **env},
                          stderr=subprocess.STDOUT, encoding='utf-8', errors='replace', check=False)
    if done.returncode:
        raise Failed(f'{command}: status {done.returncode}\n{done.stdout}')
    return done.stdout


def works(command, *args):
    """What is wrong if shell() fails; all that it prints are diagnostics."""
    try:
        note(shell(command, *args))
    except Failed as failed:
        note(failed)
        yield 'it has failed'


def copy_tree(where):
    """What git knows of the project."""
    shell('mkdir "$1" && cd "$TOP" && git ls-files -coz --exclude-standard | xargs -0 cp --parents -t "$1"',
          where)
    return where


def own_mounts(options):
    """Starts the test again, by unshare with these options: what it mounts is for it alone and ends
    with it. DIR is a tmpfs then."""
    if 'MOUNTS' not in os.environ:
        os.rmdir(DIR)
        os.execvp('unshare', ['unshare', options, 'env', 'MOUNTS=own', sys.argv[0]])
    shell('mount -t tmpfs tmpfs "$1"', DIR)
    atexit.register(shell, 'umount -l "$1"', DIR)


def overlay(name, *lower):
    """Whatever is written into /usr, /etc and /var from now on goes into the directory NAME. LOWER
    are directories whose usr, etc and var cover them."""
    for d in 'usr', 'etc', 'var':
        upper, work = path(name, d), path(name, f'{d}.work')
        os.makedirs(upper)
        os.mkdir(work)
        lowers = ':'.join([*(f'{root}/{d}' for root in lower), f'/{d}'])
        shell('mount -t overlay overlay "/$1" -o "$2"', d,
              f'lowerdir={lowers},upperdir={upper},workdir={work}')


def compiled(command, *args):
    """shell() for a compiler. If there is an error, the first one is all that the test says."""
    try:
        shell(command, *args)
    except Failed as failed:
        error = re.search('.*(?: error: |undefined reference).*', str(failed))
        sys.exit(f'cannot build {error[0] if error else failed}')


def build(name, source='guest.c'):
    """A static program of selftests/guest/NAME; returns where it is."""
    compiled('cd "$1/selftests" && gcc -O2 -g -Wall -Wextra -Werror -static -I lib '
             '-I ../tools/silicon/model -o "$2" "guest/$3/$4" lib/*.c', TOP, path(name), name, source)
    return path(name)


def headers(kernel):
    """What tools/vm/kernel says of these headers, by name: RELEASE, KDIR and others."""
    said = subprocess.run([f'{TOP}/tools/vm/kernel', '--cached', '--headers', kernel],
                          stdout=subprocess.PIPE, encoding='utf-8', check=True).stdout
    return dict(line.split('=', 1) for line in said.splitlines())


def modules(name, kernel, *variables):
    """The modules of selftests/guest/NAME for a kernel; returns the directory they are in."""
    out = f'{TOP}/build/selftests/{name}-{kernel}'
    os.makedirs(out, exist_ok=True)
    # Two tests may want them at the same time.
    lock = os.open(out, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    compiled('cp -u "$2"/* "$1" && make -s -C "$3" "M=$1" W=1 "${@:4}" modules', out,
             f'{TOP}/selftests/guest/{name}', headers(kernel)['KDIR'], *variables)
    os.close(lock)
    return out


def version():
    """Of this project."""
    return re.search('^PACKAGE_VERSION="(.*)"', read(f'{TOP}/dkms.conf'), re.M).group(1)


def command(*args):
    """The words of tools/vm/run with these options and command, as tests call it."""
    return [RUN, '--timeout', TIMEOUT, *PTI, *args]


def boot(*args):
    """Runs it. Returns returncode, stdout and stderr, whatever the status is."""
    return subprocess.run(command(*args), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, encoding='utf-8', errors='surrogateescape',
                          check=False)


def ended(done, status=0):
    """What is wrong with how boot() ended."""
    if done.returncode != status:
        yield f'the machine ended with status {done.returncode}, not {status}'
        yield from (done.stdout + done.stderr).splitlines()[1 - SHOWN:]


def run(*args):
    """Likewise, but anything but status 0 is a failure. Returns stdout and stderr."""
    done = boot(*args)
    wrong = '\n'.join(ended(done))
    if wrong:
        raise Failed(wrong)
    return done.stdout, done.stderr


def printed(done, *lines):
    """What is wrong with it if it was to end with status 0, and to print just these lines."""
    yield from ended(done)
    yield from differ([*lines, ''], done.stdout.split('\n'))


def differ(want, got):
    """The lines in which two lists of lines differ, as diff -u shows them."""
    return difflib.unified_diff(list(want), list(got), 'wanted', 'found', lineterm='')


def missing(text, *patterns):
    """Those of these regular expressions that no line of the text has."""
    return [f'nothing has "{p}" in it' for p in patterns if not re.search(p, text, re.M)]


def put(*files):
    """Options that put these files into the guest, each as FILE:WHERE."""
    return [word for f in files for word in ('--put', f)]


def guests(ktap, name, command, *options, where=''):
    """A whole test: boots each kernel with these options and runs the command there. /t/guest is
    selftests/guest/NAME/guest.c, and the modules of NAME, if it has a Kbuild, are beside it. Results
    have WHERE behind the kernel."""
    guest = build(name)
    for kernel in kernels():
        files = [f'{guest}:/t/guest']
        if os.path.exists(f'{TOP}/selftests/guest/{name}/Kbuild'):
            files += [f'{ko}:/t/' for ko in glob.glob(modules(name, kernel) + '/*.ko')]
        done = boot('--kernel', kernel, *put(*files), *options, '--', 'sh', '-c', command)
        ktap.guest(done, kernel + where)


def agent():
    """Options that put selftests/guest/agent into the guest, as /t/agent."""
    return '--put', build('agent', 'agent.c') + ':/t/agent'


def script(name, rows):
    """What the agent is to do, as options that put it into the guest, as /t/NAME. ROWS are
    (key, [command]), a command is a list of its words: the agent's source has them."""
    text = ''.join('\t'.join(map(str, words)) + '\n' for key, commands in rows
                   for words in (('row', key), *commands))
    return '--put', file(name, text) + ':/t/'


def answer(line):
    """A line that the agent has printed: (key, {name: value}), or None for another line."""
    words = line.split('\t')
    if words[0] != 'row':
        return None
    return words[1], dict(word.split('=', 1) for word in words[2:])


def answers(out):
    """Those of all it has printed. Another line of the guest is shown: it may say why one is missing."""
    for line in out.splitlines():
        row = answer(line)
        if row:
            yield row
        else:
            note(line)
