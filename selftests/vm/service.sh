#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# perf-metrics.service as it is, run by systemd: a fresh Debian in the virtual machine, whose systemd
# is the first process of a container there. It writes the file of node_exporter as the user
# prometheus; how exposed it is; and what it says where the kernel does not let it count.
#
# TEST: none
# SOAK: 6.1
set -uo pipefail
. "$(dirname "$0")/../lib/vm.sh"

ROOT=$CACHE/service-12
debian() {
	need_packages mmdebstrap || return 1
	(
		once service
		[ ! -e "$ROOT" ] || exit 0
		rm -rf "$ROOT.tmp"
		mmdebstrap --variant=minbase --include=systemd,linux-perf,libmuparser2v5,libjansson4,libncursesw6 bookworm \
			"$ROOT.tmp" >"$DIR/debian.log" 2>&1 || { tail "$DIR/debian.log"; exit 1; }
		cd "$ROOT.tmp" || exit
		rm -rf dev/* usr/share/{doc,man,locale,info,zoneinfo} var/cache/* var/lib/apt/*
		mv "$ROOT.tmp" "$ROOT"
	)
}

# Our programs and units are in a copy, with what starts the test.
copy() {
	local unit
	cp -a "$ROOT" "$DIR/root" && make -s -C "$TOP/tools/metrics" OUTPUT="$DIR/build" install \
		DESTDIR="$DIR/root" UNITDIR=/usr/lib/systemd/system || return 1
	: >"$DIR/root/etc/machine-id"
	for unit in systemd-udevd.service systemd-udev-trigger.service getty.target; do
		ln -sf /dev/null "$DIR/root/etc/systemd/system/$unit"
	done
	mkdir -p "$DIR/root/etc/systemd/system/multi-user.target.wants"
	ln -sf ../check.service "$DIR/root/etc/systemd/system/multi-user.target.wants/"
	cat >"$DIR/root/etc/systemd/system/check.service" <<-END
	[Service]
	Type=oneshot
	ExecStart=/bin/sh /root/check.sh
	END
	cat >"$DIR/root/root/check.sh" <<-'END'
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
	END
	grep '^chown ' "$TOP/Documentation/grafana.md" >"$DIR/root/root/chown" || return 1
	cat >"$DIR/guest.sh" <<-'END'
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
	END
}

guest() {
	vm guest --kernel 6.1 --sockets 2 --cores 1 --memory 2048M --traffic "$TOP/tools/demo.traffic" \
		--put "$DIR/root:/debian" --put "$DIR/guest.sh:/root/guest.sh" -- sh /root/guest.sh
	ended guest 0
}

written() {
	printed_part '^paranoid 2, status 0$' && printed_part '^file perf-metrics.prom$' &&
		printed_part '/perf-metrics.prom prometheus 644$' &&
		printed_part '^perf_metrics_memory_bandwidth_bytes_per_second{socket="1",box="mbox_1"} [0-9]' &&
		printed_part '^# EOF$'
}

printed_part() { grep -E "$1" "$DIR/guest.out" || { echo "not there: $1"; cat "$DIR/guest.out"; return 1; }; }
refused() {
	printed_part '^paranoid 3, status 1$' && printed_part 'let programs with CAP_PERFMON count' &&
		printed_part 'sysctl kernel.perf_event_paranoid=2$'
}

# Its word for a number of up to 1.5
exposure() {
	local number
	number=$(sed -n 's/.*Overall exposure level for perf-metrics.service: \([0-9.]*\) .*/\1/p' "$DIR/guest.out")
	echo "exposure $number"
	awk -v n="$number" 'BEGIN { exit !(n != "" && n <= 1.5) }'
}

ktap "a fresh Debian" debian
ktap "with our program and units" copy
ktap "systemd runs the service in a virtual machine" guest
ktap "it writes the file of node_exporter as its user" written
ktap "it says what it lacks where only CAP_SYS_ADMIN may count" refused
ktap "exposure of 1.5 at most" exposure
ktap_end
