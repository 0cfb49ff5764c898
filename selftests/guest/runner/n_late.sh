#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Passes, and then the kernel complains.
#
# VM: --driver none
# BOOT: own
. "$(dirname "$0")/ktap.sh"
# What follows is no longer of this test.
late() {
	echo "selftests: runner/n_late.sh ends" >/dev/kmsg
	echo "WARNING: CPU: 0 PID: 1 at kernel/made/up.c:2 made_up+0x1/0x2" >/dev/kmsg
}
ktap "passes before the kernel complains" late
ktap_end
