#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Every event and every PMU, with the real perf. What each event counts is proved by
# count.c; here it is that perf finds the names and opens what it makes of them.
#
# TEST: 6.1 newest
# SOAK: 6.1 6.1:newest newest newest:6.1
# VM: --sockets 2 --cores 2
# PUT: programs/silicon.c
. "$(dirname "$0")/ktap.sh"
PATH=$PATH:$(dirname "$0")
SYSFS=/sys/bus/event_source/devices
[ -d $SYSFS/xeon7500_ubox ] || ktap_skip_all "needs the driver xeon7500_uncore"
command -v perf >/dev/null || ktap_skip_all "needs perf"

# Each file in sysfs is in perf list, under its PMU. A newer perf says it once for all boxes of
# a kind, if they are the same.
perf_list() {
	perf list --raw-dump pmu | tr ' ' '\n' >/tmp/list
	for f in "$SYSFS"/xeon7500_*/events/*; do
		case $f in *.scale | *.unit) continue ;; esac
		pmu=${f#"$SYSFS/"}
		echo "${pmu%%/*}/${f##*/}/"
	done | sort >/tmp/want
	awk 'NR == FNR { listed[$0]; next }
	     { kind = $0; sub(/_[0-9]\//, "/", kind) }
	     !($0 in listed) && !(kind in listed)' /tmp/list /tmp/want >/tmp/bad
	echo "$(wc -l </tmp/want) events"
	head /tmp/bad
	[ ! -s /tmp/bad ] && [ "$(wc -l </tmp/want)" -gt 1000 ]
}

kinds() { ls "$SYSFS" | sed -n 's/^\(xeon7500_[a-z]*\)_*[0-9]*$/\1/p' | sort -u; }

names_of() { # PMU
	for f in "$SYSFS/$1"/events/*; do
		case $f in *.scale | *.unit) continue ;; esac
		echo "$1/${f##*/}/"
	done
}

# All instances of a box have the same events: all of the first, and one of each other.
event_names() {
	for k in $(kinds); do
		first=
		for d in "$SYSFS/$k" "$SYSFS/$k"_[0-9]; do
			[ -d "$d" ] || continue
			if [ -z "$first" ]; then names_of "${d##*/}"; else names_of "${d##*/}" | tail -n 1; fi
			first=$d
		done
	done
}

# One start of perf, which reads all of sysfs. Each event opens; not all get a turn, but
# each PMU has one to give.
every_event() {
	event_names >/tmp/names
	# shellcheck disable=SC2046
	perf stat -a -x, $(sed 's/^/-e /' /tmp/names) sleep 0.05 >/tmp/out 2>&1 ||
		{ tail /tmp/out; return 1; }
	cut -d, -f3 /tmp/out | grep / | diff /tmp/names - || return 1
	! grep -i 'not supported' /tmp/out || return 1
	awk -F, '$1 ~ /^[0-9]/ { sub(/\/.*/, "", $3); print $3 }' /tmp/out | sort -u >/tmp/counted
	sed 's,/.*,,' /tmp/names | sort -u | diff - /tmp/counted || return 1
	echo "$(wc -l </tmp/names) events, $(wc -l </tmp/counted) PMUs"
	[ "$(wc -l </tmp/names)" -gt 300 ] && [ "$(wc -l </tmp/counted)" -ge 10 ]
}

alone() {
	perf stat -a -x, -e "$1" sleep 0.02 >/tmp/out 2>&1 && grep -q '^[0-9][0-9.]*,' /tmp/out ||
		{ echo "$1:"; cat /tmp/out; return 1; }
}

# In make soak each event gets a counter from perf, too: a few at a time, the rest alone.
every_event_counts() {
	event_names >/tmp/names
	single=0
	while [ -s /tmp/names ]; do
		head -n 48 /tmp/names >/tmp/batch
		sed -i 1,48d /tmp/names
		# shellcheck disable=SC2046
		perf stat -a -x, $(sed 's/^/-e /' /tmp/batch) sleep 0.3 >/tmp/out 2>&1 ||
			{ cat /tmp/batch /tmp/out; return 1; }
		[ "$(grep -c ',' /tmp/out)" = "$(wc -l </tmp/batch)" ] || { cat /tmp/batch /tmp/out; return 1; }
		# Some exclude each other and had no turn.
		for e in $(grep -v '^[0-9][0-9.]*,' /tmp/out | cut -d, -f3); do
			alone "$e" || return 1
			single=$((single + 1))
		done
	done
	echo "$single of them alone"
}

# A newer perf looks for a bare name in all PMUs, so none of ours may be one of perf's.
perfs_own() {
	cat "$SYSFS"/xeon7500_*/type | sort >/tmp/types
	perf stat -vv -a -e cycles,instructions,cache-misses,branches,page-faults,LLC-loads true \
		>/tmp/out 2>&1 && perf stat -vv -a true >>/tmp/out 2>&1 || { tail /tmp/out; return 1; }
	awk '$1 == "type" { print $2 }' /tmp/out | sort -u >/tmp/opened
	echo "types opened: $(tr "\n" " " </tmp/opened)"
	[ -s /tmp/opened ] && ! grep -xF -f /tmp/types /tmp/opened
}

no_violations() {
	n=$(silicon violations) || { set -- $?; echo "$n"; return "$1"; }
	[ "$n" = 0 ] || { echo "$n violations"; return 1; }
}

ktap "perf list names every event" perf_list
ktap "every event opens by its name, every PMU gets a counter" every_event
[ -z "${SOAK:-}" ] || ktap "every event gets a counter" every_event_counts
ktap "perf's own events open none of ours" perfs_own
ktap "no access against the rules of the silicon" no_violations
ktap_end
