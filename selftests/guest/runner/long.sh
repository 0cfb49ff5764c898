#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Says whether it may take as long as it takes.
#
# VM: --driver none
. "$(dirname "$0")/ktap.sh"
ktap "SOAK=${SOAK:-}" true
ktap_end
