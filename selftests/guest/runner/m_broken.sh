#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Leaves a module that cannot be unloaded, and lockdep switched off.
#
# VM: --driver none
# BOOT: own
. "$(dirname "$0")/ktap.sh"
leave() {
	mount -t tmpfs tmpfs /proc
	echo "made_up 1 0 - Live 0x0" >/proc/modules
	echo " debug_locks: 0" >/proc/lockdep_stats
}
ktap "leaves a broken machine" leave
ktap_end
