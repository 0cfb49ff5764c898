# SPDX-License-Identifier: GPL-2.0-only
"""Programs of others from Debian 12, unpacked and put into the guest as they are.

    ktap.result('the packages are unpacked', debian.unpack('pcm', 'hwdata'))
    done = vm.boot(..., *debian.PUT, '--', 'sh', '-c', debian.ROOT + 'pcm 1')
    debian.judge(ktap, done, 'PCM', 'xeon7500', LIST)

MENDED=FILE tries that program or library instead of the one of its name, built with what
Documentation/upstream changes: what is "theirs" has to pass then.
"""
import os
import re
import traceback

import vm
from ktap import note

MENDED = os.environ.get('MENDED', '')
PUT = vm.put(*(f'{vm.path("root", d)}:/{d}' for d in ('bin', 'sbin', 'usr', 'lib')))
# Paths and a bash that such programs expect, for the guest's shell.
ROOT = r'''
mkdir -p /usr/lib && ln -s /lib/x86_64-linux-gnu /usr/lib/
[ -e /bin/bash ] || printf "#!/bin/sh\nexec /bin/busybox sh \"\$@\"\n" >/bin/bash
chmod +x /bin/bash
export PATH=$PATH:/usr/bin:/usr/sbin
'''
# Libraries go where the guest's loader looks. What has been fetched stays in the cache.
UNPACK = r'''
set -eo pipefail
dir=$1
shift
private_apt bookworm
mkdir -p "$dir"/root/{bin,sbin,usr,lib/x86_64-linux-gnu} "$CACHE/debs"
cd "$CACHE/debs"
once debs
apt-get "${APT_OPTS[@]}" download "$@"
# It names only what the directory it is in does not have.
(cd "$dir" && apt-get "${APT_OPTS[@]}" download --print-uris "$@") |
	while read -r _ deb _; do dpkg-deb -x "$deb" "$dir/root"; done
cd "$dir/root" && rm -rf usr/share/{doc,man,locale,info,lintian}
# Debian 12 has /lib and /bin in /usr, the guest the other way round.
for d in usr/lib/x86_64-linux-gnu lib64; do
	[ ! -d $d ] || { cp -a $d lib/; rm -r $d; }
done
[ -z "${MENDED:-}" ] || cp "$MENDED" "$(find . -regex ".*\(bin\|linux-gnu\)/${MENDED##*/}" | grep .)"
'''
# Not installed, for their services are not wanted here.
PROMETHEUS = vm.path('prometheus')
FETCH_PROMETHEUS = r'''
set -e
programs=$CACHE/prometheus-$(. /etc/os-release && echo "$VERSION_ID")
ln -s "$programs" "$1"
once prometheus
[ ! -e "$programs/usr/bin/promtool" ] || exit 0
rm -rf "$programs.tmp"
mkdir -p "$programs.tmp"
cd "$programs.tmp"
apt-get download prometheus prometheus-node-exporter
for d in *.deb; do dpkg -x "$d" .; done
rm ./*.deb
mv "$programs.tmp" "$programs"
'''
FOUND = {'passes': 'pass', 'theirs': 'fail', 'absent': 'skip'}


def unpack(*packages):
    """Yields what is wrong."""
    return vm.works(UNPACK, vm.DIR, *packages)


def prometheus():
    """Debian's Prometheus, node_exporter and promtool, in PROMETHEUS. Yields what is wrong."""
    return vm.works(FETCH_PROMETHEUS, PROMETHEUS)


def judge(ktap, done, where, machine, expected, more=()):
    """What vm.boot() has printed against a list. The guest prints one line for each thing that it
    has tried:

        @ pass|fail|skip WHAT

    and a line of the list says what is expected on which machines:

        MACHINE,...|*  VERDICT  WHAT  [| REASON]

    MORE are lines like the guest's, of what this machine has compared; it may be a generator that
    raises. WHAT is one word. VERDICT is "passes"; "theirs", if it fails because of the third-party
    program, the reason being the line of its source; or "absent", if it does not apply. Anything
    else than what the list says is a failure, a failure that has gone as well as a new one.
    """
    lines = done.stdout.splitlines()
    try:
        lines += more
    except Exception:	# pylint: disable=broad-except
        lines += traceback.format_exc().splitlines()
    got = {what: verdict for verdict, what in re.findall(r'^@ (\S+) ?(\S*)', '\n'.join(lines), re.M)}
    note('\n'.join(line for line in lines if not line.startswith('@ ')))
    passes = explained = bad = 0
    for line in expected.splitlines():
        words, _, reason = line.partition(' | ')
        if not words.strip() or words.startswith('#'):
            continue
        machines, verdict, what = words.split()
        if machines != '*' and machine not in machines.split(','):
            continue
        if verdict == 'theirs' and MENDED:
            verdict = 'passes'
        name, found = f'{where}: {what}', got.pop(what, 'nothing')
        if found != FOUND[verdict]:
            bad += 1
            ktap.result(name, [f'expected: {verdict}, found: {found}'])
        elif verdict == 'passes':
            passes += 1
            ktap.result(name)
        else:
            explained += 1
            ktap.result(f'{name} is {verdict.replace("absent", "not here")}: {reason}')
    for what, found in got.items():
        bad += 1
        ktap.result(f'{where}: {what}', [f'found: {found}, and no line says what is expected'])
    note(f'{where}: {passes + explained + bad} measurements, {passes} as they should be, '
         f'{explained} explained, {bad} unexplained')
    note(done.stderr)
    ktap.result(f'{where}: it has run to its end', vm.ended(done))
