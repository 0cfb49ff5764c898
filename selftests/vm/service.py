#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""perf-metrics.service as it is, run by systemd, writes the file as the user prometheus.

A fresh Debian is in the virtual machine, and its systemd is the first process of a container there.
Tested too: how exposed the service is, and what it says where the kernel does not let it count.

TEST: none
SOAK: 6.1
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import vm
from ktap import Ktap

DEBIAN = r'''
set -e
need_packages mmdebstrap
root=$CACHE/service-12
once service
[ ! -e "$root" ] || exit 0
rm -rf "$root.tmp"
include=systemd,linux-perf,libmuparser2v5,libjansson4,libncursesw6
mmdebstrap --variant=minbase --include=$include bookworm "$root.tmp"
cd "$root.tmp"
rm -rf dev/* usr/share/{doc,man,locale,info,zoneinfo} var/cache/* var/lib/apt/*
mv "$root.tmp" "$root"
'''
# Our programs and units are in a copy, with what starts the test.
COPY = r'''
set -e
cp -a "$CACHE/service-12" "$1"
make -s -C "$TOP/tools/metrics" "OUTPUT=$1-build" install "DESTDIR=$1" \
	UNITDIR=/usr/lib/systemd/system
: >"$1/etc/machine-id"
cd "$1/etc/systemd/system"
ln -sf /dev/null systemd-udevd.service
ln -sf /dev/null systemd-udev-trigger.service
ln -sf /dev/null getty.target
mkdir -p multi-user.target.wants
ln -sf ../check.service multi-user.target.wants/
printf '[Service]\nType=oneshot\nExecStart=/bin/sh /root/check.sh\n' >check.service
cp "$2" "$1/root/check.sh"
grep '^chown ' "$TOP/Documentation/grafana.md" >"$1/root/chown"
'''
CHECK = r'''
exec >/root/out 2>&1
echo prometheus:x:110:110::/var/lib/prometheus:/usr/sbin/nologin >>/etc/passwd
echo prometheus:x:110: >>/etc/group
text=/var/lib/prometheus/node-exporter
install -d -o prometheus -g prometheus /var/lib/prometheus
# Debian's package leaves it to root; the page has the command.
install -d $text
. /root/chown
echo SECONDS=1 >/etc/default/perf-metrics
for paranoid in 3 2; do
	echo $paranoid >/proc/sys/kernel/perf_event_paranoid
	systemctl start perf-metrics.service
	echo "paranoid $paranoid, status $?"
	ls $text | sed 's/^/file /'
	systemctl status perf-metrics.service | cat
	systemctl reset-failed
done
stat -c '%n %U %a' $text/*
systemd-analyze security perf-metrics.service | tail -n 1
cat $text/perf-metrics.prom
touch /root/done
'''
GUEST = r'''
r=/debian
mkdir -p $r/proc $r/sys $r/dev $r/run $r/tmp
mount --bind $r $r
mount --rbind /sys $r/sys
[ -e /sys/fs/cgroup/cgroup.procs ] || mount -t cgroup2 none $r/sys/fs/cgroup
mount --rbind /dev $r/dev
mount -t tmpfs tmpfs $r/run
mount -t tmpfs tmpfs $r/tmp
export container=other
unshare -m -p -f -i -u sh -c "mount -t proc proc $r/proc &&
	exec chroot $r /lib/systemd/systemd --unit=multi-user.target" >/tmp/log 2>&1 &
pid=$!
while [ ! -e $r/root/done ] && kill -0 $pid; do sleep 1; done
cat $r/root/out /tmp/log
'''
ROOT = vm.path('root')

ktap = Ktap()
ktap.result('a fresh Debian', vm.works(DEBIAN))
ktap.result('with our program and units', vm.works(COPY, ROOT, vm.file('check.sh', CHECK)))
done = vm.boot('--kernel', '6.1', '--sockets', '2', '--cores', '1', '--memory', '2048M',
               '--traffic', f'{vm.TOP}/tools/demo.traffic', '--put', f'{ROOT}:/debian',
               '--', 'sh', '-c', GUEST)
ktap.result('systemd runs the service in a virtual machine', vm.ended(done))
ktap.result('it writes the file of node_exporter as its user', vm.missing(
    done.stdout, '^paranoid 2, status 0$', '^file perf-metrics.prom$',
    '/perf-metrics.prom prometheus 644$', '^# EOF$',
    r'^perf_metrics_memory_bandwidth_bytes_per_second\{socket="1",box="mbox_1"\} [0-9]'))
ktap.result('it says what it lacks where only CAP_SYS_ADMIN may count', vm.missing(
    done.stdout, '^paranoid 3, status 1$', 'let programs with CAP_PERFMON count',
    'sysctl kernel.perf_event_paranoid=2$'))
# The score of systemd, from 0 to 10; more is worse.
exposure = re.findall(r'Overall exposure level for perf-metrics.service: ([0-9.]+) ', done.stdout)
ktap.result('exposure of 1.5 at most',
            [] if exposure and float(exposure[0]) <= 1.5 else [f'exposure {exposure}'])
sys.exit(ktap.end())
