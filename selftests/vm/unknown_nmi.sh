#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# NMIs of others (the dump button, SERR, IOCHK) reach the kernel while the uncore samples.
# A module takes them in place of the kernel's complaint. The cases are in
# selftests/guest/unknown_nmi/guest.c.
set -uo pipefail
. "$(dirname "$0")/../lib/vm.sh"

# The core PMU's handler would claim NMIs as long as the NMI watchdog uses it.
guests unknown_nmi 'insmod /t/witness.ko && /t/guest' --icount --append nmi_watchdog=0
