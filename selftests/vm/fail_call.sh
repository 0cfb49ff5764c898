#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# No event opens before the uncore driver is loaded. While it is loaded, a kprobe makes its calls of
# kernel functions fail in turn: in soak each call, otherwise the first one of each function. The
# cases are in selftests/guest/fail_call/guest.c.
#
# TEST: 6.1 6.12
# SOAK: 6.1 6.12
set -uo pipefail
. "$(dirname "$0")/../lib/vm.sh"

guests fail_call "SOAK=${SOAK:-} /t/guest"
