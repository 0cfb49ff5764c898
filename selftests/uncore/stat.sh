#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The real perf: names, merging, sockets, scale and unit.
#
# TEST: 6.1 newest
# SOAK: 6.1 6.1:newest newest newest:6.1
# VM: --sockets 2 --cores 2
# PUT: programs/silicon.c
. "$(dirname "$0")/ktap.sh"
PATH=$PATH:$(dirname "$0")
why=$(silicon violations) || ktap_skip_all "$why"
SYSFS=/sys/bus/event_source/devices
[ -d $SYSFS/xeon7500_ubox ] || ktap_skip_all "needs the driver xeon7500_uncore"

# counts EVENT...: the counts of perf stat for them, one to a line.
counts() {
	_e=
	for _a in "$@"; do _e="$_e -e $_a"; done
	silicon clear
	# shellcheck disable=SC2086
	perf stat -a -x, $_e sleep 0.05 2>&1 | awk -F, '!/^WARNING: / { print $1 }'
}

sum() { awk '{ s += $1 } END { printf "%.0f\n", s }'; }

# truth PMU...: events on both packages. 0 if a box has none: perf has left it out.
truth() {
	for _p in "$@"; do silicon events 0 "$_p"; silicon events 1 "$_p"; done |
		awk '!$1 { none = 1 } { s += $1 } END { printf "%.0f\n", none ? 0 : s }'
}

same() { # WHAT GOT WANTED
	[ "$2" = "$3" ] && [ "$3" -gt 0 ] || { echo "$1: $2, truth $3"; return 1; }
}

cboxes() { for _i in 0 1 2 3 4 5 6 7; do echo "xeon7500_cbox_$_i"; done; }

# One start of perf, most of whose work is to start, for what has boxes of its own.
start_of_perf() {
	counts xeon7500_wbox/event=0x4,umask=0x1/ xeon7500_sbox_1/to_r_ndr_msgq_occupancy/ \
		xeon7500_sbox_0/to_r_ndr_msgq_occupancy,thresh=3,edge/ \
		xeon7500_cbox/llc_misses.all/ xeon7500_ubox/woken/ xeon7500_mbox_1/mbox_cycles/ \
		imt_inserts_all >/tmp/counts
	truth xeon7500_wbox
	truth xeon7500_sbox_1
	truth xeon7500_sbox_0
	# shellcheck disable=SC2046
	truth $(cboxes)
	truth xeon7500_ubox
	truth xeon7500_mbox_1
	truth xeon7500_bbox_0 xeon7500_bbox_1
}

# line N: of what that has counted
line() { same count "$(sed -n "$1p" /tmp/counts)" "$(sed -n "$1p" /tmp/truth)"; }

# The last one has no box in its name, and maybe a line for each.
bare() { same count "$(sed 1,6d /tmp/counts | sum)" "$(sed -n 7p /tmp/truth)"; }

# perf 6.1 opens a group over several instances with xeon7500_cbox/.../ but never enables it, so
# it has to be written with bare names. A newer one knows both.
group_of() { # GROUP
	got=$(counts "$1")
	[ "$(echo "$got" | wc -l)" = "$(echo "$1" | tr , "\n" | wc -l)" ] || { echo "$got"; return 1; }
	# shellcheck disable=SC2046
	same sum "$(echo "$got" | sum)" "$(truth $(cboxes))"
}

# The number is a string with a fraction, and so it is in what reads it.
json() {
	silicon clear
	perf stat -a -j -e xeon7500_cbox/llc_misses.all/ -e xeon7500_wbox/prochot/ sleep 0.05 2>/tmp/out
	# shellcheck disable=SC2046
	for e in xeon7500_cbox/llc_misses.all/ xeon7500_wbox/prochot/; do
		got=$(sed -n "s|^{\"counter-value\" : \"\([0-9]*\)\.0*\".* \"event\" : \"$e\",.*|\1|p" /tmp/out)
		case $e in *cbox*) wanted=$(truth $(cboxes)) ;; *) wanted=$(truth xeon7500_wbox) ;; esac
		same "$e" "$got" "$wanted" || { cat /tmp/out; return 1; }
	done
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

# -C with a CPU of cpumask is one package.
one_package() {
	for s in 0 1; do
		silicon clear
		perf stat -C "$(cut -d, -f$((s + 1)) $SYSFS/xeon7500_wbox/cpumask)" -x, \
			-e xeon7500_wbox/prochot/ sleep 0.05 2>/tmp/out
		same "socket $s" "$(cut -d, -f1 /tmp/out)" "$(silicon events $s xeon7500_wbox)" ||
			{ cat /tmp/out; return 1; }
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

# One event of each kind of box and scale: "PMU EVENT SCALE UNIT" lines.
scaled_events() {
	for f in "$SYSFS"/xeon7500_*/events/*.scale; do
		pmu=${f#"$SYSFS/"}
		ev=${f##*/}
		echo "${pmu%%/*} ${ev%.scale} $(cat "$f") $(cat "${f%.scale}.unit" 2>/dev/null)"
	done
}

# Of those that are left, one for each box; the others wait for the next start of perf.
next_scaled() {
	awk '{
		kind = $1
		sub(/_[0-9]$/, "", kind)
		if ((kind, $3) in done || $1 in busy)
			next
		done[kind, $3] = busy[$1] = 1
		print
	}' /tmp/left >/tmp/scaled
	awk 'NR == FNR { sub(/_[0-9]$/, "", $1); done[$1, $3]; next }
	     { kind = $1; sub(/_[0-9]$/, "", kind) }
	     !((kind, $3) in done)' /tmp/scaled /tmp/left >/tmp/rest
	mv /tmp/rest /tmp/left
}

# Counts with a .scale come out multiplied, with the .unit behind them.
scale_and_unit() {
	tested=0
	scaled_events >/tmp/left
	while [ -s /tmp/left ]; do
		next_scaled
		silicon clear
		# shellcheck disable=SC2046
		perf stat -a -x, $(awk '{ print "-e " $1 "/" $2 "/" }' /tmp/scaled) sleep 0.05 2>/tmp/out
		n=0
		while read -r pmu ev scale unit; do
			n=$((n + 1))
			got=$(sed -n "${n}p" /tmp/out | awk -F, -v s="$scale" '{ printf "%.0f\n", $1 / s }')
			same "$pmu/$ev/" "$got" "$(truth "$pmu")" || return 1
			[ "$(sed -n "${n}p" /tmp/out | cut -d, -f2)" = "$unit" ] || { cat /tmp/out; return 1; }
			echo "$pmu/$ev/ $scale $unit"
			tested=$((tested + 1))
		done </tmp/scaled
	done
	[ "$tested" -ge 7 ]
}

perf_rejects() { # MESSAGE EVENT
	perf stat -a -e "$2" true >/tmp/out 2>&1 && { echo "$2 was accepted"; return 1; }
	grep -q "$1" /tmp/out || { echo "$2:"; cat /tmp/out; return 1; }
}

bad_values() {
	perf_rejects 'value too big for format' xeon7500_cbox_0/event=0x14,umask=0x7,thresh=256/ &&
		perf_rejects 'unknown term' xeon7500_cbox_0/event=1,colour=2/ &&
		perf_rejects 'syntax error' xeon7500_cbox_0/llc_misses.none/ || return 1
	[ -n "${SOAK:-}" ] || return 0
	perf_rejects 'value too big for format' xeon7500_cbox_0/event=256/ &&
		perf_rejects 'syntax error\|Cannot find PMU\|not found' xeon7500_cbox_8/event=1/
}

# Without the permission perf tries once more, for user space alone. It has to be told again.
names_permission() { # COMMAND
	su somebody -c "$1" >/tmp/out 2>&1 && { echo "$1: counted"; return 1; }
	grep -q perf_event_paranoid /tmp/out && ! grep -i 'not supported\|support sampling' /tmp/out ||
		{ echo "$1:"; cat /tmp/out; return 1; }
}

permission() {
	cp /etc/passwd /tmp/passwd
	echo somebody:x:1000:1000::/:/bin/sh >>/etc/passwd
	echo 2 >/proc/sys/kernel/perf_event_paranoid
	names_permission "perf stat -a -e xeon7500_cbox_0/llc_misses.all/ true" &&
		names_permission "perf stat -a -e '{xeon7500_cbox_0/llc_misses.all/,xeon7500_cbox_0/llc_hits.all/}:W' true" &&
		names_permission "perf stat -a -e xeon7500_package/lost/ true" &&
		names_permission "perf record -a -o /dev/null -e xeon7500_cbox_0/llc_misses.all/ -c 100000 true"
	status=$?
	cp /tmp/passwd /etc/passwd
	return $status
}

no_violations() { n=$(silicon violations); [ "$n" = 0 ] || { echo "$n violations"; return 1; }; }

start_of_perf >/tmp/truth
ktap "by code and unit mask" line 1
ktap "by name, one box" line 2
ktap "name and options" line 3
ktap "by name, all boxes in one line" line 4
ktap "several boxes: U" line 5
ktap "several boxes: M" line 6
ktap "by bare name" bare
ktap "a group over all boxes" group_of '{llc_misses.all,llc_hits.all,snps.remote_any}'
case $(perf --version) in
'perf version 6.1.'*) ;;
*)
	ktap "likewise, with the PMU" \
		group_of '{xeon7500_cbox/llc_misses.all/,xeon7500_cbox/llc_hits.all/}'
	;;
esac
ktap "JSON" json
ktap "per socket" per_socket
ktap "per CPU" per_cpu
ktap "one package" one_package
ktap "intervals add up" intervals
ktap "scale and unit" scale_and_unit
ktap "values perf itself rejects" bad_values
ktap "who may not is told of the permission" permission
ktap "no access against the rules of the silicon" no_violations
ktap_end
