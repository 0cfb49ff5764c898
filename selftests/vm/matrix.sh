#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The modules compile without a word for every Debian kernel whose headers can be had.
#
# TEST: none
# SOAK: 6.1
set -u
. "$(dirname "$0")/../lib/vm.sh"

ktap "every kernel of the window" "$TOP/tools/build-matrix"
ktap_end
