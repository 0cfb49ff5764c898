#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Tries nothing.
#
# VM: --driver none
. "$(dirname "$0")/ktap.sh"
ktap_end
