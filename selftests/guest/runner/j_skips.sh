#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# May skip a case, but not for want of what the machine should have.
#
# VM: --driver none
# SKIP: 6.1 6.12 newest debug
. "$(dirname "$0")/ktap.sh"
skip() { echo "$1"; return 4; }
ktap "is skipped" skip "the machine is too slow"
ktap "is skipped, too" skip "needs a driver"
ktap_end
