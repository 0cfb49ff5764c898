#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Its machine hangs before init.
#
# VM: --driver none --append rdinit=/bin/sleep --append -- --append 12345
# PTI: on
# That adds nothing to what sleep is told.
. "$(dirname "$0")/ktap.sh"
ktap "is never run" true
ktap_end
