#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Passes, and is in order.
#
# VM: --driver none
. "$(dirname "$0")/ktap.sh"
ktap "the first passes" true
ktap_end
