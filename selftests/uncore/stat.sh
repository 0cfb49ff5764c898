#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The real perf: names, merging, sockets, scale and unit.
#
# VM: --sockets 2 --cores 2
# PUT: lib/silicon.c
. "$(dirname "$0")/ktap.sh"
PATH=$PATH:$(dirname "$0")
SYSFS=/sys/bus/event_source/devices

# counts EVENT...: the counts of perf stat for them, one to a line.
counts() {
	_e=
	for _a in "$@"; do _e="$_e -e $_a"; done
	silicon clear
	# shellcheck disable=SC2086
	perf stat -a -x, $_e sleep 0.05 2>&1 | awk -F, '{ print $1 }'
}

sum() { awk '{ s += $1 } END { printf "%.0f\n", s }'; }

# truth PMU...: events on both packages.
truth() { for _p in "$@"; do silicon events 0 "$_p"; silicon events 1 "$_p"; done | sum; }

same() { # WHAT GOT WANTED
	[ "$2" = "$3" ] && [ "$3" -gt 0 ] || { echo "$1: $2, truth $3"; return 1; }
}

cboxes() { for _i in 0 1 2 3 4 5 6 7; do echo "xeon7500_cbox_$_i"; done; }

raw_event() { same count "$(counts xeon7500_cbox_0/event=0x14,umask=0x7/)" "$(truth xeon7500_cbox_0)"; }
with_index() { same count "$(counts xeon7500_cbox_5/llc_misses.all/)" "$(truth xeon7500_cbox_5)"; }

# One line for eight boxes of two packages.
without_index() {
	got=$(counts xeon7500_cbox/llc_misses.all/)
	# shellcheck disable=SC2046
	same count "$got" "$(truth $(cboxes))"
}

bare() {
	got=$(counts llc_misses.all | sum)
	# shellcheck disable=SC2046
	same count "$got" "$(truth $(cboxes))"
}

with_options() {
	same count "$(counts xeon7500_cbox_2/occupancy_maf,thresh=3,edge/)" "$(truth xeon7500_cbox_2)"
}

several_boxes() {
	got=$(counts xeon7500_ubox/woken/ xeon7500_wbox/uncore_clock/ xeon7500_cbox_1/llc_hits.m/)
	want=$(for p in xeon7500_ubox xeon7500_wbox xeon7500_cbox_1; do truth $p; done)
	[ "$got" = "$want" ] || { echo "$got, truth $want"; return 1; }
}

# A group over several instances has to be written with bare names: perf 6.1 opens one with
# xeon7500_cbox/.../ but never enables it.
named_group() {
	got=$(counts '{llc_misses.all,llc_hits.all,snps.remote_any}')
	[ "$(echo "$got" | wc -l)" = 3 ] || { echo "$got"; return 1; }
	# shellcheck disable=SC2046
	same sum "$(echo "$got" | sum)" "$(truth $(cboxes))"
}

per_socket() {
	silicon clear
	perf stat -a -x, --per-socket -e xeon7500_cbox_3/llc_hits.all/ sleep 0.05 2>/tmp/out
	for s in 0 1; do
		got=$(awk -F, -v s="S$s" '$1 == s { print $3 }' /tmp/out)
		same "socket $s" "$got" "$(silicon events $s xeon7500_cbox_3)" || { cat /tmp/out; return 1; }
	done
}

per_cpu() {
	silicon clear
	perf stat -a -A -x, -e xeon7500_wbox/prochot/ sleep 0.05 2>/tmp/out
	for s in 0 1; do
		got=$(awk -F, -v c="CPU$((2 * s))" '$1 == c { print $2 }' /tmp/out)
		same "socket $s" "$got" "$(silicon events $s xeon7500_wbox)" || { cat /tmp/out; return 1; }
	done
}

# What perf has read at the ends of the intervals; the last part comes after that.
intervals() {
	silicon clear
	perf stat -a -x, -I 50 --summary -e xeon7500_cbox_3/occupancy_irq/ sleep 2 2>/tmp/out
	parts=$(awk -F, '!/summary/ { s += $2; n++ } END { printf "%.0f\n", n < 3 ? 0 : s }' /tmp/out)
	whole=$(awk -F, '/summary/ { print $2 }' /tmp/out)
	same "sum of parts" "$parts" "$whole" || { cat /tmp/out; return 1; }
	[ "$whole" -le "$(truth xeon7500_cbox_3)" ] || { cat /tmp/out; truth xeon7500_cbox_3; return 1; }
}

# Counts with a .scale come out multiplied, with the .unit behind them.
scale_and_unit() {
	tested=
	for f in "$SYSFS"/xeon7500_*/events/*.scale; do
		pmu=${f#"$SYSFS/"}
		pmu=${pmu%%/*}
		ev=$(basename "$f" .scale)
		# One of a kind and scale is enough.
		key=${pmu%_[0-9]}-$(cat "$f")
		case " $tested " in *" $key "*) continue ;; esac
		tested="$tested $key"
		silicon clear
		line=$(perf stat -a -x, -e "$pmu/$ev/" sleep 0.05 2>&1)
		got=$(echo "$line" | awk -F, -v s="$(cat "$f")" '{ printf "%.0f\n", $1 / s }')
		same "$pmu/$ev/" "$got" "$(truth "$pmu")" || return 1
		unit=$(cat "${f%.scale}.unit" 2>/dev/null)
		[ "$(echo "$line" | cut -d, -f2)" = "$unit" ] || { echo "unit: $line"; return 1; }
	done
	echo "tested:$tested"
	[ -n "$tested" ]
}

perf_rejects() { # MESSAGE EVENT
	perf stat -a -e "$2" true >/tmp/out 2>&1 && { echo "$2 was accepted"; return 1; }
	grep -q "$1" /tmp/out || { echo "$2:"; cat /tmp/out; return 1; }
}

bad_values() {
	perf_rejects 'value too big for format' xeon7500_cbox_0/event=0x14,umask=0x7,thresh=256/ &&
		perf_rejects 'value too big for format' xeon7500_cbox_0/event=256/ &&
		perf_rejects 'unknown term' xeon7500_cbox_0/event=1,colour=2/ &&
		perf_rejects 'syntax error' xeon7500_cbox_0/llc_misses.none/ &&
		perf_rejects 'syntax error\|Cannot find PMU\|not found' xeon7500_cbox_8/event=1/
}

no_violations() { n=$(silicon violations); [ "$n" = 0 ] || { echo "$n violations"; return 1; }; }

ktap "by code and unit mask" raw_event
ktap "by name, one box" with_index
ktap "by name, all boxes in one line" without_index
ktap "by bare name" bare
ktap "name and options" with_options
ktap "several boxes" several_boxes
ktap "a group over all boxes" named_group
ktap "per socket" per_socket
ktap "per CPU" per_cpu
ktap "intervals add up" intervals
ktap "scale and unit" scale_and_unit
ktap "values perf itself rejects" bad_values
ktap "no access against the rules of the silicon" no_violations
ktap_end
