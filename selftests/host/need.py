#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Where something is missing that make needs, one line says what to install, and nothing is
written. Uninstalling takes the modules of KDIR and of no other kernel, and no file of a package.
"""
import glob
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import vm
from ktap import Ktap

ROOT = vm.path('root')	# where it would be installed
PATH = os.environ['PATH']
BARE = vm.path('bare')	# what each Debian has, and make
HEADERS = vm.path('headers') + ':'	# before a path: a compiler that finds no header, and dkms
RUN = 'missing packages; run: sudo apt-get install'
NO_KERNEL = f'{RUN} linux-headers-6.1.0-99-amd64'
KDIR = 'KDIR=/lib/modules/6.1.0-99-amd64/build'	# that is not there
CC, LIBRARIES = 'gcc libc6-dev', 'libjansson-dev libmuparser-dev libncurses-dev'
RUNNING, OTHER = os.uname().release, '6.12.0-98-amd64'


def kernel(release, makefile='modules modules_install:\n'):
    """Headers of this release, as KDIR=DIRECTORY."""
    directory = vm.path(release)
    os.makedirs(f'{directory}/include/generated', exist_ok=True)
    vm.file(f'{directory}/Makefile', makefile)
    vm.file(f'{directory}/include/generated/utsrelease.h', f'#define UTS_RELEASE "{release}"\n')
    return f'KDIR={directory}'


def run(*command, **env):
    """In the directory of the project."""
    return subprocess.run(command, cwd=vm.TOP, env={**os.environ, **env}, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding='utf-8',
                          check=False)


def make(*args, path=PATH):
    """Make, with these programs."""
    return run('make', '-s', f'DESTDIR={ROOT}', *args, PATH=path)


def says(line, done):
    """Yields what is wrong unless it has failed with this line, or succeeded with none."""
    if bool(done.returncode) != bool(line):
        yield f'status {done.returncode}'
    yield from vm.differ([line] if line else [],
                         [said for said in done.stdout.splitlines() if not said.startswith('make')])
    if os.path.exists(ROOT):
        yield 'something is installed'


def enough():
    """Nothing is missing for these kernels; dkms is not for the last."""
    for release in ('6.1.0-99-amd64', '6.11-amd64', '6.19.0-rc1', '7.3.4+deb13-rt-amd64',
                    '7.4.0-rc1'):
        headers = kernel(release)
        yield from says('', make('modules', headers))
        if release != '7.4.0-rc1':
            yield from says('', run('env', headers, 'tools/need', 'dkms', RELEASE=release,
                                    PATH=HEADERS + PATH))


def elsewhere():
    """Headers of the libraries that only CC and CPPFLAGS name."""
    for header in 'cc/jansson.h', 'cpp/muParserDLL.h', 'cpp/ncurses.h':
        os.makedirs(os.path.dirname(vm.path(header)), exist_ok=True)
        vm.file(header, '')
    yield from says('', run('tools/need', 'metrics', PATH=HEADERS + PATH,
                            CC=f'cc -I {vm.path("cc")}', CPPFLAGS=f'-I {vm.path("cpp")}'))


def hwcheck(kdir, why):
    """It is built without its module, for those that run a kernel of its time."""
    done = make('hwcheck', f'OUTPUT={vm.path("hwcheck")}', kdir)
    line = f'no hwcheck_nmi.ko, which --pmi needs: {why}'
    if done.returncode or line not in done.stdout.splitlines():
        yield f'{done.stdout}status {done.returncode}'
    subprocess.run([vm.path('hwcheck', 'hwcheck'), '--help'], stdout=subprocess.DEVNULL, check=True)


def uninstall(status, left, *args):
    """Make ends so, and the modules of these kernels are left."""
    shutil.rmtree(ROOT, ignore_errors=True)
    modules = []
    for release in RUNNING, OTHER:
        os.makedirs(f'{ROOT}/lib/modules/{release}/updates')
        modules += [vm.file(f'{ROOT}/lib/modules/{release}/updates/{name}', '')
                    for name in ('xeon7500_uncore.ko', 'intel_core_ext.ko.xz')]
    done = make('uninstall', *args)
    if done.returncode != status:
        yield f'{done.stdout}status {done.returncode}'
    yield from vm.differ(sorted(m for m in modules if m.split('/')[-3] in left),
                         sorted(glob.glob(f'{ROOT}/lib/modules/**/*.ko*', recursive=True)))


def packaged(verb):
    """Files of a package stay as they are; below DESTDIR there are none."""
    recipe = make('-n', 'DESTDIR=', verb, with_headers).stdout
    need = re.search('.*tools/need unpackaged.*', recipe)
    path = f'{vm.path("packaged")}:{HEADERS}{PATH}'
    if not need:
        yield 'tools/need is not asked'
        return
    yield from says('Debian packages own these files; make deb upgrades them, or run: sudo apt-get remove perf-metrics',
                    run('sh', '-c', need[0], PATH=path))
    yield from says('', run('tools/need', 'unpackaged', PATH=path, DESTDIR=ROOT))


os.mkdir(BARE)
os.mkdir(vm.path('packaged'))
vm.file('packaged/dpkg-query', '#!/bin/sh\ncase "$*" in *perf-metrics) echo installed ;; esac\n', 0o755)
os.mkdir(vm.path('headers'))
for program in 'bash sh make sed grep uname install cp rm mkdir cat dirname find'.split():
    os.symlink(shutil.which(program), f'{BARE}/{program}')
vm.file('headers/cc', f'#!/bin/sh\nexec {shutil.which("cc")} -nostdinc "$@"\n', 0o755)
vm.file('headers/dkms', '#!/bin/sh\nexit 1\n', 0o755)
with_headers = kernel('6.1.0-99-amd64')
# Where this machine has it, it is found after su as well.
dkms = '' if os.path.exists('/usr/sbin/dkms') else ' dkms'
sphinx = ('' if os.path.exists('/usr/lib/python3/dist-packages/myst_parser') else
          ' python3-sphinx python3-myst-parser')

ktap = Ktap()
for name, line, path, *args in (
        ('make without headers', NO_KERNEL, PATH, 'all', KDIR),
        ('likewise, with a slash', NO_KERNEL, PATH, 'all', f'{KDIR}/'),
        ('make for a directory that is no kernel',
         f'no kernel headers in {vm.DIR}', PATH, 'all', f'KDIR={vm.DIR}'),
        ('make install on a bare Debian',
         f'{NO_KERNEL} {CC} {LIBRARIES}', BARE, 'install', KDIR),
        ('make install without libraries',
         f'{RUN} {CC} {LIBRARIES}', HEADERS + BARE, 'install', with_headers),
        ('make dkms-install on a bare Debian',
         f'{NO_KERNEL} {CC} {LIBRARIES}{dkms}', BARE, 'dkms-install', KDIR),
        ('make dkms-install without libraries',
         f'{RUN} {CC} {LIBRARIES}', HEADERS + BARE, 'dkms-install', with_headers),
        ('likewise, after another goal',
         f'{RUN} {CC} {LIBRARIES}', HEADERS + BARE, 'modules', 'install', with_headers),
        ('make export without libraries',
         f'{RUN} {CC} {LIBRARIES} python3', HEADERS + BARE, 'export'),
        ('make html on a bare Debian', f'{RUN}{sphinx} mandoc', BARE, 'html')):
    ktap.result(name, says(line, make(*args, path=path)))
for old in '5.10.0-30-amd64', '6.0.12-1-amd64':
    ktap.result(f'make for {old}', says(
        f'the modules are for Linux 6.1 and later, and this is {old}', make('all', kernel(old))))
for no in '7.4.0-1-amd64', '6.20-amd64', '6.1':
    ktap.result(f'make dkms-install for {no}', says(
        f'dkms builds for Linux 6.1 to 7.3, and this is {no}; make install tries any',
        make('dkms-install', kernel(no), path=HEADERS + PATH)))
ktap.result('kernels that they may be for', enough())
ktap.result('a compiler with an option, libraries elsewhere', elsewhere())
none = '/lib/modules/2.6.32-71.el6/build'
ktap.result('make hwcheck without headers', hwcheck(f'KDIR={none}', f'no kernel headers in {none}'))
old = '3.10.0-1160.el7.x86_64'
ktap.result('make hwcheck for a kernel that its module is not for',
            hwcheck(kernel(old, 'modules:\n\tfalse\n'), f'it does not build for {old}'))
ktap.result('make hwcheck without a compiler',
            says(f'{RUN} {CC} python3', make('hwcheck', with_headers, path=BARE)))
for verb in 'install', 'dkms-install', 'uninstall':
    ktap.result(f'make {verb} while a package is installed', packaged(verb))
ktap.result('make uninstall', uninstall(0, [OTHER]))
ktap.result('make uninstall where the headers have gone',
            uninstall(0, [RUNNING], f'KDIR=/lib/modules/{OTHER}/build'))
ktap.result('make uninstall for a directory that is no kernel',
            uninstall(2, [RUNNING, OTHER], f'KDIR={vm.DIR}'))
sys.exit(ktap.end())
