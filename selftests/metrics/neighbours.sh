#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# perf metrics beside others that count on the same packages: its values are those that it has
# alone, within 2 %, and so are those of a second perf metrics.
#
# VM: --sockets 2 --cores 2 --icount
# TEST: 6.1:newest
# SOAK: 6.1 newest newest:6.1
. "$(dirname "$0")/ktap.sh"
perf metrics --version >/dev/null 2>&1 || ktap_skip_all "needs perf-metrics"
[ -d /sys/bus/event_source/devices/xeon7500_ubox ] ||
	ktap_skip_all "needs the driver xeon7500_uncore"
T=/tmp/neighbours
mkdir -p $T

measure() { perf-metrics memory_read_bandwidth memory_bandwidth --csv -- sleep 1 >"$1"; }

# same FILE: each value is that of $T/alone
same() {
	cat "$1"
	awk -F, 'NR == FNR { alone[$2] = $3; next }
		FNR > 1 { off = $3 / alone[$2] - 1; n++; if (off > 0.02 || off < -0.02 || $3 == "n/a") bad = 1 }
		END { exit bad || n != 2 }' $T/alone "$1"
}

# beside EVENT...: counted by another perf
beside() {
	perf stat -a -e "$1" -I 1000 -o $T/other &
	pid=$!
	until grep -q bbox_cmds $T/other || ! kill -0 $pid; do sleep 0.1; done 2>/dev/null
	measure $T/beside
	kill $pid
	wait $pid
	rm $T/other
	same $T/beside
}

two() {
	measure $T/first &
	measure $T/second
	wait $!
	same $T/first && same $T/second
}

ktap "alone" measure $T/alone
ktap "beside another event of the box" \
	beside xeon7500_mbox_0/bbox_cmds.merge/,xeon7500_mbox_1/bbox_cmds.merge/
ktap "beside the same event" \
	beside xeon7500_mbox_0/bbox_cmds.reads/,xeon7500_mbox_1/bbox_cmds.reads/
ktap "beside a second perf metrics" two
ktap_end
