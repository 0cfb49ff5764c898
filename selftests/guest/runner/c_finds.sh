#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Finds nothing of what was left.
#
# VM: --driver none
. "$(dirname "$0")/ktap.sh"
fresh() {
	! grep -q 12345 /proc/[0-9]*/cmdline && [ ! -e /tmp/left ] && ! lsmod | grep intel_uncore &&
		[ "$(cat /sys/devices/system/cpu/cpu1/online) $(cat /proc/sys/kernel/perf_event_paranoid)" = "1 -1" ]
}
ktap "the machine is as new" fresh
ktap_end
