#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Skips a case on a kernel that its lines do not name.
#
# VM: --driver none
# TEST: none
# SOAK: none
. "$(dirname "$0")/ktap.sh"
skip() { echo "this kernel has no such thing"; return 4; }
ktap "is skipped" skip
ktap_end
