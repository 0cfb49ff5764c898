#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The virtual silicon serves mainline's driver as well: what it counts is the truth too.
#
# VM: --sockets 2 --cores 2 --driver mainline
# PUT: programs/silicon.c
. "$(dirname "$0")/ktap.sh"
PATH=$PATH:$(dirname "$0")
why=$(silicon violations) || ktap_skip_all "$why"
[ -d /sys/bus/event_source/devices/uncore_cbox_0 ] || ktap_skip_all "needs the driver intel_uncore"

# truth N: of C-Box n, both packages; mainline numbers its boxes like we do.
truth() { echo $(($(silicon events 0 "xeon7500_cbox_$1") + $(silicon events 1 "xeon7500_cbox_$1"))); }

mainline_count() {
	# It makes as many C-Boxes as there are cores.
	for n in 0 1; do
		silicon clear
		got=$(perf stat -a -x, -e "uncore_cbox_$n/event=0x14,umask=0x7/" sleep 0.05 2>&1 | cut -d, -f1)
		want=$(truth $n)
		[ "$got" = "$want" ] && [ "$want" -gt 0 ] || { echo "C-Box $n: $got, truth $want"; return 1; }
	done
}

mainline_clock() {
	got=$(perf stat -a -x, -e uncore_wbox/event=0xff/ sleep 0.05 2>&1 | cut -d, -f1)
	[ "$got" -gt 0 ] || { echo "$got"; return 1; }
}

ktap "mainline's C-Boxes count the truth" mainline_count
# With shifts checked, as in Debian's 7.3, the kernel complains and the count is 0:
# Documentation/upstream/nhmex_fixed_ctr_bits
case $(uname -r) in
6.*) ktap "mainline's uncore clock" mainline_clock ;;
esac
ktap_end
