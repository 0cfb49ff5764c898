#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Every event and every PMU, with the real perf.
#
# VM: --sockets 1 --cores 2
# PUT: lib/silicon.c
. "$(dirname "$0")/ktap.sh"
PATH=$PATH:$(dirname "$0")
SYSFS=/sys/bus/event_source/devices

# Each file in sysfs is in perf list, under its PMU.
perf_list() {
	perf list --raw-dump pmu | tr ' ' '\n' >/tmp/list
	for f in "$SYSFS"/xeon7500_*/events/*; do
		case $f in *.scale | *.unit) continue ;; esac
		pmu=${f#"$SYSFS/"}
		echo "${pmu%%/*}/${f##*/}/"
	done | sort >/tmp/want
	awk 'NR == FNR { listed[$0]; next } !($0 in listed)' /tmp/list /tmp/want >/tmp/bad
	echo "$(wc -l </tmp/want) events"
	head /tmp/bad
	[ ! -s /tmp/bad ] && [ "$(wc -l </tmp/want)" -gt 1000 ]
}

kinds() { ls "$SYSFS" | sed -n 's/^\(xeon7500_[a-z]*\)_*[0-9]*$/\1/p' | sort -u; }

alone() {
	perf stat -a -x, -e "$1" sleep 0.02 >/tmp/out 2>&1 && grep -q '^[0-9][0-9.]*,' /tmp/out ||
		{ echo "$1:"; cat /tmp/out; return 1; }
}

# Each event opens and gets a counter. All instances of a box have the same events.
every_event() {
	set --
	for k in $(kinds); do
		one=$(ls -d "$SYSFS/$k" "$SYSFS/${k}_0" 2>/dev/null | head -n 1)
		for f in "$one"/events/*; do
			case $f in *.scale | *.unit) continue ;; esac
			set -- "$@" "${one##*/}/${f##*/}/"
		done
	done
	num=$# single=0
	# Many at once: each start of perf reads all of sysfs.
	while [ $# -gt 0 ]; do
		batch='' n=0
		while [ $# -gt 0 ] && [ $n -lt 48 ]; do
			batch="$batch -e $1"
			shift
			n=$((n + 1))
		done
		# shellcheck disable=SC2086
		perf stat -a -x, $batch sleep 0.3 >/tmp/out 2>&1 || { echo "$batch:"; cat /tmp/out; return 1; }
		[ "$(grep -c ',' /tmp/out)" = "$n" ] || { echo "$batch:"; cat /tmp/out; return 1; }
		# Some exclude each other and had no turn.
		for e in $(grep -v '^[0-9][0-9.]*,' /tmp/out | cut -d, -f3); do
			alone "$e" || return 1
			single=$((single + 1))
		done
	done
	echo "$num events, $single of them alone"
	[ "$num" -gt 300 ]
}

# And each instance has one to give.
every_pmu() {
	num=0 all=''
	for d in "$SYSFS"/xeon7500_*; do
		ev=$(find "$d/events" -type f ! -name '*.scale' ! -name '*.unit' | sort | sed -n '$s,.*/,,p')
		all="$all -e ${d##*/}/$ev/"
		num=$((num + 1))
	done
	echo "$num PMUs"
	# shellcheck disable=SC2086
	perf stat -a -x, $all sleep 0.05 >/tmp/out 2>&1
	[ "$(grep -c '^[0-9][0-9.]*,' /tmp/out)" = "$num" ] && [ "$num" -ge 10 ] || { cat /tmp/out; return 1; }
}

no_violations() { n=$(silicon violations); [ "$n" = 0 ] || { echo "$n violations"; return 1; }; }

ktap "perf list names every event" perf_list
ktap "every event opens and gets a counter" every_event
ktap "every PMU opens and gets a counter" every_pmu
ktap "no access against the rules of the silicon" no_violations
ktap_end
