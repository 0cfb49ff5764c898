#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Nothing runs when the system sleeps or restarts: a module looks when the driver has been
# told. The cases are in selftests/guest/suspend/guest.c.
set -uo pipefail
. "$(dirname "$0")/../lib/vm.sh"

guests suspend 'modprobe -r xeon7500_uncore && insmod /t/witness.ko && modprobe xeon7500_uncore && /t/guest' \
	--sockets 2 --cores 2
