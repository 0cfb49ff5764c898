#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Passes, but the kernel has complained meanwhile.
#
# VM: --driver none
. "$(dirname "$0")/ktap.sh"
warn() { echo "WARNING: CPU: 0 PID: 1 at kernel/made/up.c:1 made_up+0x1/0x2" >/dev/kmsg; }
ktap "passes in spite of a warning" warn
ktap_end
