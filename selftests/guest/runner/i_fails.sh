#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Has two failures: one says so, and one skips a case where that is not allowed.
#
# VM: --driver none
. "$(dirname "$0")/ktap.sh"
skip() { echo "the machine is too slow"; return 4; }
ktap "fails" false
ktap "is skipped" skip
ktap_end
