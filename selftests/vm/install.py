#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""make deb, make install and make uninstall.

In make soak, also: the packages in a fresh Debian 12 and a fresh Debian 13, upgrades of the kernel,
the modules in the virtual machine, removal.

TEST: 6.1
SOAK: 6.1
"""
import glob
import lzma
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import vm
from ktap import Ktap, note

EXAMPLES = r'^\./usr/share/doc/perf-metrics/examples/'
# What is in each package, beside others.
CONTENTS = {
    'perf-metrics': (
        *(rf'{EXAMPLES}{name}(\.gz)?$' for name in (
            r'dashboard\.json', r'perfevent\.conf', r'perf\.patch', r'likwid/nehalemEX/MEMORY\.txt',
            r'likwid/westmereEX/MEMORY\.txt')),
        r'^\./usr/bin/perf-metrics$', r'man5/perf-metrics\.5', 'completions/perf-metrics'),
    'xeon7500-hwcheck': (
        r'^\./usr/sbin/hwcheck(\.gz)?$', r'^\./usr/share/man/man8/hwcheck\.8(\.gz)?$',
        r'^\./usr/src/xeon7500-hwcheck/hwcheck_nmi\.c(\.gz)?$'),
    'xeon7500-pmu-dkms': (
        r'man4/xeon7500_uncore\.4', r'/usr/src/xeon7500-pmu-.*/dkms\.conf',
        r'/usr/src/xeon7500-pmu-.*/drivers/uncore/main\.c'),
}
# The module of hwcheck, from the source that is in its package, as hwcheck(8) says.
HWCHECK = '''
dpkg -x "$1"/xeon7500-hwcheck_*.deb "$1/hw" && "$1/hw/usr/sbin/hwcheck" --help &&
	cp -r "$1/hw/usr/src/xeon7500-hwcheck" "$1/nmi" &&
	make -s -C "$2" M="$1/nmi" modules && modinfo "$1/nmi/hwcheck_nmi.ko"
'''
COMPLETE = '''
. "$TOP/tools/metrics/perf-metrics.bash"
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_perf_metrics "$1" "${@: -1}" "${@: -2:1}"
printf %s "${COMPREPLY[*]}"
'''
# Words, groups and metrics, files where files are wanted.
COMPLETED = (
    ('map', 'ma'),
    ('llc_miss_ratio llc_miss_rate llc_misses_per_instr', 'llc_mi'),
    ('--matrix', 'map', '--m'),
    ('--openmetrics', 'memory', '--op'),
    ('', 'memory', '-I', ''),
    (f'{vm.TOP}/README.md', 'check', f'{vm.TOP}/READ'),
)
# dkms wants /proc; it is gone with the process.
IN_ROOT = r'''
unshare -m sh -c 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"' "$1" \
	env DEBIAN_FRONTEND=noninteractive LC_ALL=C "${@:2}"
'''
FRESH = '''
mmdebstrap --variant=apt --include=ca-certificates "$1" "$2" &&
	echo "deb $(debian_mirror) $1-backports main" >>"$2/etc/apt/sources.list"
'''
INSTALL = '''
apt-get update
apt-get install -y --no-install-recommends make
cd /root/tree
make deb
[ -z "$(ls -d /lib/modules/*/build 2>/dev/null)" ]
apt-get install -y /root/tree/build/deb/*.deb
'''
NEWER = r'''
release=7.9.0-1-amd64
mkdir -p /root/k/DEBIAN /root/k/usr/lib/modules/$release
ln -s "$(readlink -f /lib/modules/*/build | tail -n 1)" /root/k/usr/lib/modules/$release/build
printf "%s\n" "Package: linux-headers-$release" "Version: 7.9.0-1" "Architecture: amd64" \
	"Maintainer: nobody <nobody@localhost>" "Description: newer than all" >/root/k/DEBIAN/control
printf "%s\n" "#!/bin/sh" "set -e" \
	"run-parts --exit-on-error --arg=$release /etc/kernel/header_postinst.d" >/root/k/DEBIAN/postinst
chmod 755 /root/k/DEBIAN/postinst
dpkg-deb --build /root/k /root/k.deb
apt-get install -y /root/k.deb
dpkg -s linux-headers-$release | grep "^Status: install ok installed"
'''


def deb(package, option, *args):
    """What dpkg says of that package."""
    return vm.shell('dpkg "$3" "$1/$2"_*.deb "${@:4}"', vm.DIR, package, option, *args)


def contents():
    """No program in the package of modules and no module in that of the program."""
    for package, patterns in CONTENTS.items():
        files = '\n'.join(line.split()[5] for line in deb(package, '-c').splitlines())
        note(files)
        yield from vm.missing(files, *patterns)
        if package == 'perf-metrics':
            yield from re.findall('.*src.*', files)
    yield from re.findall('.*Depends:.*dkms.*', deb('perf-metrics', '-I'))
    yield from vm.missing(deb('xeon7500-pmu-dkms', '-I', 'postinst'), 'dkms')
    yield from glob.glob(vm.path('*-dbgsym_*.deb'))


def pages():
    """Each PMU has its page, and each page is there with those that it names."""
    vm.shell('for d in "$1"/*.deb; do dpkg -x "$d" "$1/pages"; done', vm.DIR)
    for page in (*(f'Documentation/{box}box.md' for box in 'ucsbmrw'), 'html/search.html'):
        if not glob.glob(vm.path('pages/usr/share/doc/*', page)):
            yield f'there is no {page}'
    for page in glob.glob(vm.path('pages/**/*.md*'), recursive=True):
        yield from (f'{page}: {link}' for link in re.findall(r'\]\(([^)#:\n]*)[)#]', vm.read(page))
                    if not os.path.exists(os.path.join(os.path.dirname(page), link)))


def directories(kdir):
    """What make install puts below DESTDIR, make uninstall takes away again."""
    root = vm.path('root')

    def make(verb):
        vm.shell('make -s -C "$1" KDIR="$2" DESTDIR="$3" "$4"', vm.path('tree'), kdir, root, verb)
        return [os.path.join(where, name).removeprefix(root)
                for where, _, names in os.walk(root) for name in names]
    vm.copy_tree(vm.path('tree'))
    files = '\n'.join(sorted(make('install')))
    note(files)
    yield from vm.missing(files, r'/lib/modules/.*/xeon7500_uncore\.ko', '/etc/udev/rules.d/',
                          '/usr/bin/perf-metrics')
    yield from vm.differ([f'perf metrics {vm.version()}'],
                         vm.shell('"$1/usr/bin/perf-metrics" --version', root).splitlines())
    # What depmod writes is the kernel's.
    yield from (name for name in make('uninstall')
                if not os.path.basename(name).startswith('modules.'))
    # The tree is built now; dkms gets the source alone.
    source = f'{root}/usr/src/xeon7500-pmu-{vm.version()}'
    vm.shell('mkdir -p "$1" && touch "$1/old.c"', source)
    make('dkms-source')
    yield from vm.differ(*(sorted(vm.shell(f'cd "$1" && {files}', where).splitlines()) for files, where in (
        ('git ls-files -co --exclude-standard Kbuild dkms.conf COPYING include drivers', vm.TOP),
        ('find * -type f', source))))


def completion():
    for want, *words in COMPLETED:
        got = vm.shell(COMPLETE, 'perf-metrics', *words, PERF_METRICS_PATH=f'{vm.TOP}/metrics',
                       PATH=f'{vm.TOP}/build/metrics:{os.environ["PATH"]}')
        if got != want:
            yield f'{" ".join(words)}: {got}, not {want}'


class Debian:
    """A fresh one."""

    def __init__(self, suite):
        self.suite, self.root = suite, vm.path(f'fresh-{suite}')

    def run(self, *command):
        return vm.shell(IN_ROOT, self.root, *command)

    def modules(self, release):
        return glob.glob(f'{self.root}/lib/modules/{release}/updates/dkms/*.ko*')

    def built(self):
        """The releases that dkms has built for."""
        return sorted(name.split('/')[-4] for name in self.modules('*') if '/xeon7500_uncore.ko' in name)

    def one_more(self, action):
        before = self.built()
        action()
        note('\n'.join(self.built()))
        if len(self.built()) != len(before) + 1:
            yield f'dkms has built for {self.built()}, before for {before}'

    def fresh(self):
        """It makes our packages, and installs them with what they recommend: kernel headers."""
        vm.shell(FRESH, self.suite, self.root)
        vm.copy_tree(f'{self.root}/root/tree')
        self.run('sh', '-ec', INSTALL)

    def inside(self):
        """An upgrade to a kernel that the modules are for: apt alone has them built."""
        self.run('apt-get', 'install', '-y', '--no-install-recommends', '-t', f'{self.suite}-backports',
                 'linux-headers-amd64')

    def outside(self):
        """And to one that they are not for."""
        before = self.built()
        self.run('sh', '-ec', NEWER)
        yield from vm.differ(before, self.built())

    def loads(self, release):
        """The very modules that dkms has built, on a kernel of that release."""
        os.makedirs(vm.path(release), exist_ok=True)
        for name in self.modules(release):
            module = vm.path(release, os.path.basename(name).removesuffix('.xz'))
            with (lzma.open if name.endswith('.xz') else open)(name, 'rb') as f, \
                    open(module, 'wb') as to:
                shutil.copyfileobj(f, to)
        yield from vm.ended(vm.boot(
            '--kernel', release, '--driver', 'none', '--module', vm.path(release, 'xeon7500_uncore.ko'),
            '--', 'perf', 'stat', '-a', '-e', 'xeon7500_wbox/uncore_clock/', 'true'))

    def gone(self):
        self.run('apt-get', 'purge', '-y', 'xeon7500-*', 'perf-metrics')
        for where, directories, names in os.walk(self.root):
            inside = where.removeprefix(self.root) + '/'
            # What depmod writes is the kernel's; what came as a dependency is not ours.
            if not inside.startswith(('/var/', '/root/')):
                yield from (inside + name for name in names if re.search(
                    'xeon7500|intel_core_ext|perf-metrics|hwcheck', inside + name, re.I))
            if re.match('/(var/lib/dkms|usr/src|usr/lib/modules)/', inside):
                yield from (inside + name for name in names + directories if re.search(
                    'xeon7500|intel_core_ext', inside + name, re.I))


def main():
    vm.shell('need_packages debhelper dh-dkms lintian && make -s -C "$TOP/tools/metrics"')
    kdir = vm.headers('6.1')['KDIR']
    ktap = Ktap()
    ktap.result('packages, and lintian is silent',
                # As root in the tree of a user
                vm.works('GIT_TEST_ASSUME_DIFFERENT_OWNER=1 "$TOP/tools/deb" && cp "$TOP"/build/deb/*.deb "$1"', vm.DIR))
    ktap.result('what is in them', contents())
    ktap.result('no page of them names one that is not there', pages())
    ktap.result('the module of hwcheck is built from its package',
                vm.works(HWCHECK, vm.DIR, kdir))
    ktap.result('make install and uninstall', directories(kdir))
    ktap.result('completion', completion())
    if vm.SOAK and os.getuid() == 0:
        vm.shell('need_packages mmdebstrap')
        for debian in Debian('bookworm'), Debian('trixie'):
            suite = debian.suite
            ktap.result(f'a fresh {suite}: the packages are installed', debian.one_more(debian.fresh))
            ktap.result(f'{suite}: a kernel that the modules are for', debian.one_more(debian.inside))
            ktap.result(f'{suite}: a kernel that they are not for', debian.outside())
            for release in debian.built():
                ktap.result(f'{suite}: they load on {release}', debian.loads(release))
            ktap.result(f'{suite}: purged, and nothing is left', debian.gone())
    return ktap.end()


if __name__ == '__main__':
    sys.exit(main())
