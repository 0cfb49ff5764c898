#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# perf metrics on a Xeon E7: every metric has its events there, and the map has ten C-Boxes.
# That the values are right is in exact.c.
#
# VM: --machine westmereex --sockets 2 --cores 2
# TEST: 6.1:newest
# SOAK: 6.1 newest newest:6.1
. "$(dirname "$0")/ktap.sh"
perf metrics --version >/dev/null 2>&1 || ktap_skip_all "needs perf-metrics"
grep -q westmere-ex /sys/bus/event_source/devices/xeon7500_ubox/identifier 2>/dev/null ||
	ktap_skip_all "needs a Xeon E7 and the driver xeon7500_uncore"
T=/tmp/westmere
mkdir -p $T

# Every metric has its events here: what is n/a is so because of the traffic.
all_metrics() {
	perf metrics memory dram llc cbox home sbox qpi router errors power --csv -- sleep 0.2 \
		>$T/out 2>$T/err
	grep -E ',n/a,.*,(it is for|there is no|.* has no event|.* is refused)' $T/out && return 1
	wc -l <$T/out
	[ "$(wc -l <$T/out)" -gt 90 ]
}

map() {
	perf metrics map -- sleep 0.05 >$T/out || return 1
	cat $T/out
	awk 'length > 80 { bad = 1 }
		/^C / && !/^C misses/ { cells = substr($0, 3, 10) substr($0, 43, 10); seen++ }
		END { exit bad || NR > 24 || seen != 1 || length(cells) != 20 || cells ~ / / }' $T/out
}

ktap "all metrics" all_metrics
ktap "the map" map
ktap_end
