#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Leaves behind what a test should not.
#
# VM: --driver none
. "$(dirname "$0")/ktap.sh"
leave() {
	sleep 12345 >/dev/null 2>&1 &
	echo 0 >/sys/devices/system/cpu/cpu1/online
	echo 3 >/proc/sys/kernel/perf_event_paranoid
	echo x >/tmp/left
	modprobe intel-uncore
}
ktap "leaves a process, a file, a setting, a module and a CPU that is off" leave
ktap_end
