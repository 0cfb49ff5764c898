#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What perf metrics is expected to do as other programs do: -o, CSV with a header, --units, --sort,
completion in bash, --version.
"""
import csv
import io
import os
import re
import subprocess
import sys

HOST = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [f'{HOST}/../lib', f'{HOST}/metrics']
sys.dont_write_bytecode = True
import fixture
from fixture import World, read, write
from ktap import Ktap

TOP = fixture.TOP
ktap = Ktap()
# S0 reads 2 and 4 GB/s, S1 6 and 8.
READS = '''ready()
until_told()
say(lines(lambda pmu, terms, cpu: SECONDS * 1e9 if 'gate' in terms else
          (1 + int(pmu[-1]) + cpu) * 2e9 / 64 if 'mbox' in pmu else 1e9))
'''
READ = 'memory_read_bandwidth'


def output():
    """-o has all that stdout would have, as one file that takes the place of the old one at the end."""
    world = World()
    world.play(READS)
    path = f'{world.dir}/out'
    for form in [], ['--csv'], ['--json']:
        wanted = world.run(READ, *form, '--', 'true').stdout
        write(path, 'old\n')
        done = world.run(READ, *form, '-o', path, '--', 'sh', '-c', f'echo mine; cat {path}')
        ktap.result(f'-o {" ".join(form)}', [] if not done.returncode and read(path) == wanted and wanted and
                    done.stdout == 'mine\nold\n' else [done, read(path), wanted])
    write(path, 'old\n')
    world.play('ready()\nfor i in 1, 2, 3:\n    say(lines(interval=i))\n')
    done = world.run(READ, '--csv', '-I', '1000', '-o', path)
    rows = list(csv.reader(io.StringIO(read(path))))
    ktap.result('-o of three intervals', [] if [row[0] for row in rows] == ['time', '1.000000000', '2.000000000', '3.000000000']
                and not done.stdout else [done, rows])
    write(path, 'old\n')
    world.play('sys.exit(5)\n')
    done = world.run(READ, '-o', path, '--', 'true')
    ktap.result('the old file stays if counting fails', [] if done.returncode == 3 and read(path) == 'old\n' else [done])
    world.play(READS)
    os.symlink(path, f'{world.dir}/link')
    for what, where, said in (('a link', f'{world.dir}/link', 'it is a link'), ('no directory', '/nowhere/x', 'No such file')):
        done = world.run(READ, '-o', where, '--', 'touch', f'{world.dir}/ran')
        ktap.result(f'-o to {what}', [] if done.returncode == 3 and said in done.stderr and
                    not os.path.exists(f'{world.dir}/ran') and read(path) == 'old\n' else [done])
    world.end()


def units():
    """Base units, one prefix for all, or short ones; CSV has base units by itself."""
    world = World()
    world.play(READS)

    def row(*args):
        return list(csv.DictReader(io.StringIO(world.run(READ, '--csv', *args, '--', 'true').stdout)))[0]

    for args, value, unit in (([], '20000000000', 'B/s'), (['--units', 'base'], '20000000000', 'B/s'),
                              (['--units', 'auto'], '20', 'GB/s')):
        got = row(*args)
        ktap.result(f'CSV {" ".join(args)}', [] if (got['value'], got['unit']) == (value, unit) else [got])
    for by, wanted in ((None, '20.00 GB/s'), ('base', '20000000000 B/s')):
        said = world.run(READ, *(['--units', by] if by else []), '--', 'true').stdout
        ktap.result(f'a table in {by}', [] if f' {wanted} ' in said and all(len(line) <= 80 for line in said.split('\n'))
                    else [said])
    for args, text in ((['--units', 'G'], "auto or base, not 'G'"), (['--json', '--units', 'auto'], 'JSON has base units'),
                       (['--sort', 'x'], "name, value or scope, not 'x'"),
                       (['-o', 'x', '--openmetrics', 'y'], 'so -o is too much'),
                       (['--openmetrics', 'y', '--sort', 'name'], 'for tables and CSV')):
        done = world.run(READ, *args, '--', 'true')
        ktap.result(f'refused: {" ".join(args)}', [] if done.returncode == 2 and text in done.stderr and
                    not done.stdout else [done])
    world.end()


def sorts():
    """The same rows in another order: cbox_10 is behind cbox_9, n/a is last."""
    world = World(absent={('mbox', 1, 0)})
    world.play(READS)
    # In their file the first one is behind the second.
    usual = 'memory_bandwidth', READ

    def order(*args):
        rows = list(csv.DictReader(io.StringIO(world.run(*usual, '--per-box', '--csv', *args, '--', 'true').stdout)))
        return [(row['metric'], row['scope'], row['value']) for row in rows]

    plain = order()
    for by, key in (('name', lambda row: (row[0], row[1])), ('scope', lambda row: (row[1], row[0])),
                    ('value', lambda row: (row[0], row[2] == 'n/a', -float(row[2].replace('n/a', '0')), row[1]))):
        got = order('--sort', by)
        ktap.result(f'--sort {by}', [] if got == sorted(plain, key=key) and got != plain and len(got) == 8 else [got, plain])
    world.end()


# ---- completion ----

COMPLETE = r'''
shopt -s extglob progcomp
. /usr/share/bash-completion/bash_completion
PATH=$ROOT/bin:$PATH BASH_COMPLETION_USER_DIR=$ROOT/share
[ -z "$BEFORE" ] || . "$BEFORE"
. "$TOP/tools/metrics/perf.bash"
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE=$* COMP_POINT=${#COMP_LINE}
complete -p "$1" >/dev/null 2>&1 || _perf_load "$1"
# As bash does, once more for a completion that has just been loaded
for _ in 1 2; do
	f=$(complete -p "$1") f=${f##* -F } COMPREPLY=()
	${f%% *} "$1" "${!#}" "${COMP_WORDS[COMP_CWORD - 1]}" 2>/dev/null
done
printf '%s\n' "${COMPREPLY[@]}"
'''
# As perf has it: what it completes is not lost.
OWN = '_perf() { COMPREPLY=(); [ "$COMP_CWORD" != 1 ] || mapfile -t COMPREPLY < <(compgen -W "stat mem record" -- "$2"); }\n' \
    'complete -o nospace -F _perf perf\n'


def completion():
    """perf metrics as perf-metrics, beside the completion that perf has."""
    said = subprocess.run(['bash', '-c', f'. {TOP}/tools/lib/common.sh && need_packages bash-completion'], text=True,
                          capture_output=True, check=False)
    world = World()
    root = f'{world.dir}/root'
    write(f'{root}/bin/perf-metrics', f'#!/bin/sh\nexec {fixture.BUILD}/perf-metrics "$@"\n')
    write(f'{root}/bin/perf', '#!/bin/sh\n')
    os.chmod(f'{root}/bin/perf-metrics', 0o755)
    os.chmod(f'{root}/bin/perf', 0o755)
    write(f'{root}/share/completions/perf-metrics', read(f'{TOP}/tools/metrics/perf-metrics.bash'))
    write(f'{root}/own', OWN)

    def complete(*words, **env):
        done = subprocess.run(['bash', '--norc', '-c', COMPLETE, 'bash', *words], env=world.env(
            ROOT=root, TOP=TOP, BASH_COMPLETION_USER_DIR=f'{root}/share', **{'BEFORE': '', **env}), text=True,
            capture_output=True, timeout=60, check=False)
        return done.stdout.split()

    for where, env in (('loaded later', {}), ('loaded before', {'BEFORE': f'{root}/own'})):
        if not env:
            write(f'{root}/share/completions/perf', OWN)
        bad = list(said.stderr.splitlines()) if said.returncode else []
        for words, wanted in ((('perf', 'me'), ['metrics', 'mem']), (('perf', 'st'), ['stat']),
                              (('perf', 'metrics', 'to'), ['top']), (('perf', 'metrics', 'memory_read_b'), [READ]),
                              (('perf', 'metrics', 'top', '--so'), ['--sort']), (('perf', 'metrics', 'map', '--ho'), ['--host']),
                              (('perf', 'metrics', 'llc', '--units', ''), ['auto', 'base']),
                              (('perf-metrics', 'che'), ['check']),
                              (('perf-metrics', 'diff', f'{root}/ow'), [f'{root}/own']), (('perf-metrics', 'diff', 'a', f'{root}/ow'), [f'{root}/own']),
                              (('perf-metrics', 'diff', 'a', 'b', 'memory_read_b'), [READ]), (('perf-metrics', 'report', 'a', 'memory_read_b'), [READ]),
                              (('perf-metrics', 'diff', 'a', '--per-b'), ['--per-box']), (('perf-metrics', 'memory', '--sort', 'v'), ['value'])):
            got = complete(*words, **env)
            if got != wanted:
                bad.append(f'{words}: {got} and not {wanted}')
        ktap.result(f'completion, and that of perf {where}', bad)
        if not env:
            os.unlink(f'{root}/share/completions/perf')
    world.end()


def versions():
    """Of each program that is installed, that of the package."""
    world = World()
    wanted = re.search('PACKAGE_VERSION="(.*)"', read(f'{TOP}/dkms.conf'))[1]
    done = subprocess.run(['bash', '-c', f'make -s -C {TOP}/tools/metrics OUTPUT={world.dir}/m DESTDIR={world.dir}/root install && '
                           f'make -s -C {TOP}/tools/hwcheck OUTPUT={world.dir}/h DESTDIR={world.dir}/root install'], text=True,
                          capture_output=True, check=False)
    bad = [done.stderr] if done.returncode else []
    programs = [f'{where}/{name}' for where in ('bin', 'sbin') for name in sorted(os.listdir(f'{world.dir}/root/usr/{where}'))]
    for program in programs:
        said = subprocess.run([f'{world.dir}/root/usr/{program}', '--version'], text=True, capture_output=True, check=False)
        name = os.path.basename(program).replace('perf-', 'perf ')
        if said.returncode or said.stdout != f'{name} {wanted}\n':
            bad.append(f'{program}: {said.returncode}, {said.stdout}{said.stderr}')
    ktap.result('--version', bad + ([] if len(programs) == 3 else programs))
    subprocess.run(['make', '-s', '-C', f'{TOP}/tools/metrics', f'OUTPUT={world.dir}/m', f'DESTDIR={world.dir}/root', 'PREFIX=/usr/local',
                    'install'], capture_output=True, check=False)
    said = subprocess.run([f'{world.dir}/root/usr/local/bin/perf-metrics', 'list'], text=True, capture_output=True, check=False,
                          env={'HOME': '/nowhere'})
    default, bad = f'{world.dir}/root/etc/default/perf-metrics', []
    for text in read(default), read(default) + 'SECONDS=1\n':
        write(default, text)
        done = subprocess.run(['make', '-s', '-C', f'{TOP}/tools/metrics', f'OUTPUT={world.dir}/m', f'DESTDIR={world.dir}/root', 'uninstall'],
                              text=True, capture_output=True, check=False)
        if done.returncode or done.stderr or read(default) != (text if text.endswith('SECONDS=1\n') else None):
            bad += [done.returncode, done.stderr, read(default)]
    ktap.result('make uninstall leaves an edited /etc/default', bad)
    ktap.result('a PREFIX of make install alone', fixture.ended(said, 2, 'no metric files in /usr/local/share/perf-metrics:'))
    world.end()


ktap.result('it is built', fixture.build())
if not ktap.bad:
    for test in output, units, sorts, completion, versions:
        test()
sys.exit(ktap.end())
