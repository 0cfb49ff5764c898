#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What apt runs when a kernel is installed.

With the dkms of Debian 12 and of Debian 13 the modules are built for a kernel that they are for,
and for any other apt goes on and nothing changes. make dkms-install replaces what is there, and make
uninstall removes it.

TEST: none
"""
import glob
import lzma
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import vm
from ktap import Ktap

NAME, VERSION = 'xeon7500-pmu', vm.version()
MODULE = f'{NAME}/{VERSION}'
MAKE_LOG = f'/var/lib/dkms/{MODULE}/build/make.log'
# Before and after the window, and another one in it.
OLDER, NEWER, UPGRADE = '6.0.0-6-amd64', '7.4.0+deb13-amd64', '7.3.99+deb13-amd64'
GET_DKMS = '''
private_apt "$1"
mkdir "$2" && cd "$2" && apt-get "${APT_OPTS[@]}" download dkms && dpkg -x dkms_*.deb .
'''


def lacking(kdir):
    """Headers of a kernel like this one, but for a symbol that it does not export."""
    root = vm.path('lacking')
    vm.shell('cp -rs "$1" "$2"', kdir, root)
    for name, pattern, text in (('Module.symvers', '.*\tperf_pmu_register\t.*\n', ''),
                                ('Makefile', 'KBUILD_OUTPUT=.*', f'KBUILD_OUTPUT={root}')):
        os.remove(f'{root}/{name}')
        vm.file(f'lacking/{name}', re.sub('^' + pattern, text, vm.read(f'{kdir}/{name}'), flags=re.M))


def headers(kdir, *releases):
    for release in releases:
        os.makedirs(f'/lib/modules/{release}')
        os.symlink(kdir, f'/lib/modules/{release}/build')


def machine(suite, kdir):
    """The root directory with the dkms of that Debian, and with headers of two kernels."""
    vm.shell(GET_DKMS, suite, vm.path(suite))
    vm.overlay(f'{suite}.upper', vm.path(suite))
    vm.shell('make -s -C "$TOP" dkms-source DESTDIR=/')
    headers(kdir, OLDER, NEWER)


def works(*command):
    """What make has said as well, if it fails."""
    return vm.works('"${@:2}" || { cat "$1"; false; }', MAKE_LOG, *command)


def installed():
    return sorted(re.sub('[.]ko[.].*', '.ko', f'{os.path.relpath(where, "/lib/modules")}/{name}')
                  for where, _, names in os.walk('/lib/modules') for name in names if '.ko' in name)


def status():
    return vm.shell('dkms status').splitlines()


def ours(*releases):
    """They are built for these, and for no other, and dkms knows them again."""
    yield from vm.differ(sorted(f'{release}/updates/dkms/{name}.ko' for release in releases
                                for name in ('intel_core_ext', 'xeon7500_uncore')), installed())
    yield from (line for line in status() if 'WARNING' in line)


def package():
    """The postinst of our package."""
    return works('/usr/lib/dkms/common.postinst', NAME, VERSION, f'/usr/share/{NAME}', '', '')


def kernel(release):
    """That of the package of a kernel, and that of its headers."""
    for hook in 'postinst', 'header_postinst':
        yield from works(f'/etc/kernel/{hook}.d/dkms', release, f'/boot/vmlinuz-{release}')


def first():
    yield from package()
    yield from vm.differ([f'{MODULE}: added'], installed() + status())


def refuses(*options):
    """What dkms install says when it does not do it."""
    return vm.shell('! dkms install "$@"', MODULE, '-k', *options)


def by_hand(release):
    yield from vm.missing(refuses(release), 'BUILD_EXCLUSIVE')


def nothing(wrong):
    """A kernel that is not for us leaves everything as it was."""
    before = installed() + status()
    yield from wrong
    yield from vm.differ(before, installed() + status())


def lacks(release):
    refuses(release, '--kernelsourcedir', vm.path('lacking'))
    yield from vm.missing(vm.read(MAKE_LOG), 'perf_pmu_register.* undefined')
    yield from installed()


def signed(release):
    """Secure Boot wants a signature. The key that dkms has made is told in install.md."""
    names = glob.glob(f'/lib/modules/{release}/updates/dkms/*')
    for name in names:
        with (lzma.open if name.endswith('.xz') else open)(name, 'rb') as f:
            if not f.read().endswith(b'~Module signature appended~\n'):
                yield f'{name} is not signed'
    yield from (f'there is no {name}' for name in ('/var/lib/dkms/mok.key', '/var/lib/dkms/mok.pub')
                if not os.path.exists(name))
    if not names:
        yield 'there are no modules'


def removed():
    yield from works('dkms', 'remove', MODULE, '--all')
    yield from installed() + status()


def make(tree, verb, kdir):
    return vm.works('export PATH="$1:$PATH"; make -s -C "$2" "$3" KDIR="$4"', vm.path('bin'), tree, verb, kdir)


def replaced(tree, kdir, *releases):
    """The source changes, and its version does not."""
    main, text = f'{tree}/drivers/uncore/main.c', f'MODULE_INFO(changed, "{len(releases)}");\n'
    vm.file(main, vm.read(main) + text)
    yield from make(tree, 'dkms-install', kdir)
    yield from ours(*releases)
    for release in releases:
        got = vm.shell('modinfo -F changed "$1"/xeon7500_uncore.ko*', f'/lib/modules/{release}/updates/dkms')
        if str(len(releases)) not in got.split():
            yield f'{release}: an earlier module'


def uninstalled(tree, kdir):
    yield from make(tree, 'uninstall', kdir)
    yield from installed() + status() + glob.glob(f'/usr/src/{NAME}-*')
    yield from vm.differ(['disable --now perf-metrics.timer'], vm.read(vm.path('asked')).splitlines())


def check(ktap, suite, release, kdir):
    def result(name, wrong):
        ktap.result(f'{suite}: {name}', wrong)

    try:
        machine(suite, kdir)
    except vm.Failed as e:
        result('dkms', str(e).splitlines())
        return
    result('our package, and no kernel that it is for', first())
    for other in OLDER, NEWER:
        result(f'dkms says why not for {other}', by_hand(other))
        result(f'{other} is installed', nothing(kernel(other)))
    result('a kernel that lacks a symbol', lacks(release))
    headers(kdir, release)
    result('our package, and a kernel that it is for', package())
    result('the modules are there', ours(release))
    result('they are signed', signed(release))
    for other in OLDER, NEWER:
        result(f'{other} is installed after it', nothing(kernel(other)))
    headers(kdir, UPGRADE)
    result('a processor of 32 bits',
           nothing(works('setarch', 'i686', '/etc/kernel/postinst.d/dkms', UPGRADE)))
    result('another kernel that they are for is installed', kernel(UPGRADE))
    result('the modules are there for both', ours(release, UPGRADE))
    result('they can be removed', removed())
    tree = vm.copy_tree(vm.path(f'{suite}.tree'))
    # As "make install" leaves them
    vm.shell('make -s -C "$1" KDIR="$2" modules && install -D -t "$3" "$1"/drivers/*/*.ko', tree, kdir,
             f'/lib/modules/{release}/updates')
    result('make dkms-install after make install', replaced(tree, kdir, release))
    vm.shell('dkms install "$1" -k "$2"', MODULE, UPGRADE)
    result('make dkms-install after a change, for two kernels', replaced(tree, kdir, release, UPGRADE))
    result('make uninstall', uninstalled(tree, kdir))
    vm.shell('umount -l /usr /etc /var')


def main():
    # Hooks and dkms have their places in the root directory.
    vm.own_mounts('-rm')
    os.environ['PATH'] += ':/usr/sbin:/sbin'
    vm.shell('need_packages build-essential kmod libjansson-dev libmuparser-dev libncurses-dev')
    known = vm.headers(vm.kernels()[0])
    lacking(known['KDIR'])
    # Is asked while the timer is there
    os.mkdir(vm.path('bin'))
    vm.file('bin/systemctl', '#!/bin/sh\nls /usr/lib/systemd/system/perf-metrics.timer && '
            f'echo "$@" >{vm.path("asked")}\n', 0o755)
    ktap = Ktap()
    for suite in 'bookworm', 'trixie':
        check(ktap, suite, known['RELEASE'], known['KDIR'])
    return ktap.end()


if __name__ == '__main__':
    sys.exit(main())
