#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The commands of the documentation, run as they are printed.

README.md, CONTRIBUTING.md, Documentation/ and the head comments of the drivers show commands that a reader
pastes. Each line of an indented block, and of a ``` block that names no language, is a
command or a comment (# ...); so is a line in a head comment that begins with a tab and one
of HEAD_COMMANDS. A line that ends in a backslash goes on. There is no prompt, and no prose
behind a command.

A page is for one machine, see machine_of(). All its commands run there in the order of the
page, in one boot for each machine, with what a reader has at hand: the modules installed,
none but the kernel's own loaded, a program named ./program. A command fails that ends with
a status other than 0, prints one of BAD_TEXTS, or records no sample.

What begins with "make", "tools/" or "selftests/" is for the developer's machine. See
on_host() for what is run of it and what is only looked at, and why.

A ```c block compiles by itself, or stands in the file that it names: ```c drivers/uncore/cbox.c.

That commands which do not work fail is tried as well: WRONG. make soak has all of it with each
perf, and on newest.

TEST: 6.1
SOAK: 6.1 newest
"""
import glob
import os
import re
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import vm
from ktap import Ktap

# The uncore pages begin with mainline's driver loaded, as Debian has it: README.md tells
# how to change over. 06_2D has all events of Sandy Bridge, 06_2A only those of the client.
MACHINES = {
    'xeon7500': ['--driver', 'mainline'],
    'goldmont': ['--machine', 'goldmont', '--driver', 'none'],
    'silvermont': ['--machine', 'silvermont', '--driver', 'none'],
    'sandybridge': ['--machine', 'sandybridge', '--model', '2d', '--driver', 'none'],
}
# One CPU proves a command as well, and waits for no other.
SIZE = ['--sockets', '2', '--cores', '2'] if vm.SOAK else ['--cores', '1']
HEAD_COMMANDS = ('perf', 'echo', 'cat', 'modprobe')
BAD_TEXTS = ('<not supported>', '<not counted>', 'Error:', 'event syntax error',
             'unknown option', 'not a perf-command')
RECORDS = re.compile(r'\bperf (mem\b.*\b)?record\b')
SAMPLES = re.compile(r'\(~?\d+ samples?\)')
MARK = '@@documented@@'

# What a slip looks like. Each has to fail, with what is said of it matching this.
WRONG = {
    'a wrong event name':
        ('perf stat -a -e xeon7500_cbox/no_such_event/ sleep 1', "unknown term 'no_such_event'"),
    'a wrong field':
        ('perf stat -a -e xeon7500_cbox/llc_misses.all,no_such_field=1/ sleep 1',
         "unknown term 'no_such_field'"),
    'a combination the driver refuses':
        ('perf stat -a -e xeon7500_bbox_0/msg_in_match,match_msg_in=1/ sleep 1',
         "it says '(<not supported>|Error:)'"),
    'a wrong option': ('perf stat --no-such-option -a sleep 1', "it says 'unknown option'"),
    'a command that perf does not have': ('perf no-such-command', "it says 'not a perf-command'"),
    'prose behind a command':
        ('perf stat -a -e xeon7500_cbox/llc_misses.all/ sleep 1 in one line', 'invalid number'),
    'a recording without samples':
        ('perf record -a -e xeon7500_cbox_0/llc_misses.all/ -c 100000000000000 sleep 1',
         'no sample was recorded'),
    'a pipe whose first command fails': ('cat /sys/no/such/file | cat', 'status 1'),
}
WRONG_ON_HOST = {
    'a verb that make does not have': ('make no-such-verb', 'No rule to make target'),
    'prose behind a verb': ('make check all of it', 'No rule to make target'),
    'a wrong option of tools/vm/run':
        ('tools/vm/run --no-such-option 1 -- perf list', 'unknown option'),
    'a file that is not there, for tools/vm/run':
        ('tools/vm/run --put no-such-file:/t/ -- perf list', 'there is no no-such-file'),
    'a test that is not there':
        ('selftests/run selftests/no/such.c', 'there is no selftests/no/such.c'),
}


# ---- which commands there are ----

def page_commands(text):
    """(line number, command) of a page in Markdown."""
    fence, language, begun, number = None, '', '', 0
    for i, line in enumerate(text.splitlines(), 1):
        mark = re.match(r' *(```+)(.*)', line)
        if mark and not fence:
            fence, language = mark.group(1), mark.group(2).strip()
        elif mark and mark.group(1) == fence:
            fence = None
        elif fence and not language or not fence and line.startswith(('\t', '    ')):
            number = number if begun else i
            begun += line.strip()
            if begun.endswith('\\'):
                begun = begun[:-1]
                continue
            if begun and not begun.startswith('#'):
                yield number, begun
            begun = ''


def c_blocks(text):
    """(line number, file that is named or '', code) of a page in Markdown."""
    for found in re.finditer(r'^ *```c *(\S*)\n(.*?)^ *```$', text, re.M | re.S):
        yield text.count('\n', 0, found.start()) + 1, found.group(1), found.group(2)


def head_commands(text):
    """(line number, command) of the comment at the head of a C file."""
    start = text.index('/*\n')
    comment = text[start:text.index('*/', start)]
    first = text.count('\n', 0, start) + 1
    block = re.sub(r'\\\n \*\s*', lambda m: '\0' * m.group().count('\n'), comment)
    number = first
    for line in block.splitlines():
        words = line[3:].split() if line.startswith(' *\t') else []
        if words and words[0] in HEAD_COMMANDS:
            yield number, line[3:].replace('\0', '')
        number += 1 + line.count('\0')


def machine_of(path):
    """The machine a page is for."""
    name = os.path.basename(path).partition('.')[0]
    if name in MACHINES:
        return name
    return 'goldmont' if path.startswith('drivers/core/') or name == 'intel_core_ext' else 'xeon7500'


def is_for_host(command):
    return command.startswith(('make ', 'make\n', 'tools/', 'selftests/')) or command == 'make'


def pages():
    return ['README.md', 'CONTRIBUTING.md', *sorted(glob.glob('Documentation/*.md', root_dir=vm.TOP))]


def collect():
    """{machine or 'host': {command: 'where, where'}}, in the order of the pages."""
    found = {}
    heads = sorted(glob.glob('drivers/*/*.c', root_dir=vm.TOP))
    for path in pages() + heads:
        with open(os.path.join(vm.TOP, path), encoding='utf-8') as f:
            text = f.read()
        for number, command in (page_commands if path.endswith('.md') else head_commands)(text):
            place = found.setdefault('host' if is_for_host(command) else machine_of(path), {})
            place[command] = ', '.join(filter(None, [place.get(command), f'{path}:{number}']))
    return found


# ---- in the machine ----

def put_file(directory, name, text):
    path = os.path.join(directory, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)
    os.chmod(path, 0o755)


GUEST = f'''#!/bin/sh
PATH=/t/bin:$PATH
cp /t/program /root/
mkdir -p /etc/sysctl.d

attempt() {{ # NUMBER
	printf '{MARK} begin %s\\n' $1
	# perf record would write its data to a pipe.
	sh -o pipefail /t/commands/$1 </dev/null >/tmp/output 2>&1
	status=$?
	cat /tmp/output
	printf '\\n{MARK} end %s\\n' $status
}}

'''


def run_in(on, machine, commands, directory):
    """Run them all in one boot. Returns the status of the machine, what it said on stderr,
    and {command: (status, output)} of those that ended."""
    shared = os.path.join(directory, machine)
    # A second of counting proves no more than a tenth of it. Anything but "sleep 1" is
    # what it says, so that prose behind the command is noticed; likewise the program.
    put_file(shared, 'bin/sleep', '#!/bin/sh\n[ "$*" = 1 ] && set -- 0.1\nexec /bin/sleep "$@"\n')
    # It loads from the L1, from the L2 and from memory.
    put_file(shared, 'program', '#!/bin/sh\n[ $# = 0 ] && /t/walker 300000 && '
             '/t/walker 30000 16384 8 && exec /t/walker 30000 0x80000 8\n')
    script = GUEST
    for i, command in enumerate(commands):
        put_file(shared, f'commands/{i}', command + '\n')
        script += f'attempt {i}\n'
    put_file(shared, 'all', script)
    walker = os.path.join(directory, 'walker')
    subprocess.run(['gcc', '-O2', '-static', '-o', walker,
                    os.path.join(vm.TOP, 'selftests', 'programs', 'walker.c'),
                    '-I' + os.path.join(vm.TOP, 'selftests', 'lib')], check=True)
    done = subprocess.run(
        [os.path.join(vm.TOP, 'tools', 'vm', 'run'), *on, '--timeout', vm.TIMEOUT,
         *SIZE, *vm.PTI, *MACHINES[machine], '--put', shared + ':/t', '--put', walker + ':/t/walker',
         '--', '/t/all'],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        encoding='utf-8', errors='replace', check=False)
    names, ended = list(commands), {}
    for part in done.stdout.split(f'{MARK} begin ')[1:]:
        number, _, output = part.partition('\n')
        output, end, status = output.partition(f'\n{MARK} end ')
        if end:
            ended[names[int(number)]] = int(status), output
    return done.returncode, done.stderr, ended


def judge(command, result):
    """What is wrong with the way a command ended."""
    if not result:
        return ['it did not end']
    status, output = result
    wrong = [f'status {status}'] if status else []
    wrong += [f'it says {text!r}' for text in BAD_TEXTS if text in output]
    if RECORDS.search(command) and not SAMPLES.search(output):
        wrong.append('no sample was recorded')
    if wrong:
        wrong += [re.sub('[^\t -~]', '?', line) for line in output.splitlines()[:30]]
    return wrong


def unless(pattern, said):
    """What is wrong if nothing that was said matches."""
    return [] if any(re.search(pattern, line) for line in said) else [f'not said: {pattern}', *said]


def test_machine(ktap, on, machine, commands, directory):
    wrong = WRONG if machine == 'xeon7500' else {}
    every = [*commands, *(command for command, _ in wrong.values())]
    status, stderr, ended = run_in(on, machine, every, directory)
    which = ' '.join(on)
    for command, where in commands.items():
        ktap.result(f'{which}, {where}: {command}', judge(command, ended.get(command)))
    for what, (command, text) in wrong.items():
        ktap.result(f'{which}, {what} is noticed', unless(text, judge(command, ended.get(command))))
    ktap.result(f'{which}, {machine}: the machine itself, for {len(commands)} commands',
                [f'status {status}', *stderr.splitlines()[-30:]] if status else [])


# ---- on the developer's machine ----

def shell(command, directory, **env):
    """Status and output, in the directory, as if it was typed in the project's."""
    here = re.sub(r'(?<![\w/.])(tools|selftests)/', vm.TOP + r'/\1/', command)
    plain = {k: v for k, v in os.environ.items() if not k.startswith('MAKE') and k != 'MFLAGS'}
    done = subprocess.run(['bash', '-c', here], cwd=directory, env={**plain, **env},
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, encoding='utf-8', check=False)
    return done.returncode, done.stdout


def on_make(command, directory):
    """Verbs build, install or take long, so make only says what it would do: there has to
    be such a verb, and what it starts has to be there. The kernel's own part is left out."""
    put_file(directory, 'kbuild/Makefile', 'modules modules_install clean:\n\t@:\n')
    status, output = shell(f'{command} -n', vm.TOP, KDIR=os.path.join(directory, 'kbuild'))
    wrong = [f'status {status}', output] if status else []
    for line in output.replace('\\\n', '').splitlines():
        program = line.split()[0] if line.split() else ''
        if re.match(r'(tools|selftests)/', program) and \
                not os.access(os.path.join(vm.TOP, program), os.X_OK):
            wrong.append(f'there is no program {program}')
    return wrong


def on_run(command, directory):
    """tools/vm/run says that there is no command, or no terminal, when it has understood
    its options. Booting for each line would cost a machine; the command behind the options
    is run with those of the machine's pages. make soak does what is printed."""
    if vm.SOAK and '--interactive' not in command:
        status, output = shell(command, directory)
        return [f'status {status}', output] if status else []
    status, output = shell(command.partition(' -- ')[0], directory)
    if status == 2 and re.search(r'run: (no command|--interactive wants a terminal)', output):
        return []
    return [f'status {status}', output]


def on_tests(command, _):
    """Tests, and tools/build-matrix, which has one and takes long, are not started here: they
    and what they are given have to be there."""
    words = shlex.split(command)
    missing = [w for w in words if '/' in w and not os.path.exists(os.path.join(vm.TOP, w))]
    if not os.access(os.path.join(vm.TOP, words[0]), os.X_OK):
        missing.append(words[0])
    return [f'there is no {w}' for w in missing]


def on_host(command, directory):
    """What is wrong with a command for the developer's machine."""
    wrong = []
    for part in command.split(' && '):
        if part.split()[0] == 'make':
            wrong += on_make(part, directory)
        elif part.startswith('tools/vm/run '):
            wrong += on_run(part, directory)
        elif part.startswith(('selftests/', 'tools/build-matrix')):
            wrong += on_tests(part, directory)
        else:
            status, output = shell(part, directory)
            wrong += [f'status {status}', output] if status else []
    return wrong


def wrong_c(name, code):
    """What is wrong with a block of C that names a file, or none."""
    if name:
        try:
            with open(os.path.join(vm.TOP, name), encoding='utf-8') as f:
                return [] if code in f.read() else [f'{name} has other lines']
        except OSError as error:
            return [str(error)]
    done = subprocess.run(['gcc', '-fsyntax-only', '-w', '-x', 'c', '-I', 'tools/silicon/model', '-'],
                          cwd=vm.TOP, input=code, stderr=subprocess.PIPE, encoding='utf-8', check=False)
    return done.stderr.splitlines()


def test_c(ktap):
    for path in pages():
        with open(os.path.join(vm.TOP, path), encoding='utf-8') as f:
            for number, name, code in c_blocks(f.read()):
                ktap.result(f'{path}:{number}: C {"in " + name if name else "by itself"}', wrong_c(name, code))
    ktap.result('C that does not compile is noticed', [] if wrong_c('', 'int a = "b"') else ['it is not'])
    ktap.result('C that is not in the file is noticed',
                [] if wrong_c('drivers/uncore/cbox.c', '\t{ "llc_misses",\t0x15,\n') else ['it is not'])


def test_host(ktap, commands, directory):
    put_file(directory, 'mytest', '#!/bin/sh\nexec perf record -o /root/perf.data true\n')
    for command, where in commands.items():
        ktap.result(f'{where}: {command}', on_host(command, directory))
    for what, (command, text) in WRONG_ON_HOST.items():
        ktap.result(f'{what} is noticed', unless(text, on_host(command, directory)))


def main():
    ktap = Ktap()
    found = collect()
    kernels = vm.kernels()
    # That of Debian 12 reads all events of all PMUs whenever it starts.
    ways = [('--kernel', kernels[0], '--perf', 'newest')]
    if vm.SOAK:
        ways = [('--kernel', k, '--perf', p) for k in kernels for p in ('6.1', 'newest')]
    host = found.pop('host')
    # What a line for tools/vm/run does in its machine is run with those of the pages.
    for command, where in host.items():
        options, _, inner = command.partition(' -- ')
        machine = re.search(r'--machine (\w+)', options)
        if options.startswith('tools/vm/run ') and inner.startswith('perf '):
            found[machine.group(1) if machine else 'xeon7500'].setdefault(inner, where)
    test_c(ktap)
    with tempfile.TemporaryDirectory() as directory:
        test_host(ktap, host, directory)
        for on in ways:
            for machine, commands in found.items():
                test_machine(ktap, on, machine, commands, directory)
    return ktap.end()


if __name__ == '__main__':
    sys.exit(main())
