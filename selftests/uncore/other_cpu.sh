#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# On another CPU the module does not load, and says no word.
#
# VM: --machine goldmont --driver none
# TEST: 6.1
# SOAK: none
# PUT: ../build/6.1/xeon7500_uncore.ko
. "$(dirname "$0")/ktap.sh"
[ -e "$(dirname "$0")/xeon7500_uncore.ko" ] || ktap_skip_all "needs the module beside it"

no_device() {
	dmesg -c >/dev/null
	out=$(insmod "$(dirname "$0")/xeon7500_uncore.ko" 2>&1) && { echo loaded; return 1; }
	case $out in *"No such device"*) ;; *) echo "$out"; return 1 ;; esac
	! dmesg | grep xeon7500 | grep -v 'out-of-tree\|verification failed'
}

ktap "refused on a CPU that is not a Xeon 7500" no_device
ktap_end
