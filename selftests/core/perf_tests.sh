#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# perf's own tests: none of them fares worse with the module than without. Many need what is not
# there (compilers, other programs, tracepoints) and are skipped by perf, or fail, both times. Some
# fail now and then, whoever is loaded: "Number of exit events" (it gives up after 1,000 polls,
# whether its child has been run meanwhile or not) and "Lookup mmap thread" (28 of 60 times without
# the module). So what fails is tried 20 times, with and without, and its best verdict counts.
#
# One of them, "PMU events" or "PMU JSON event tests", is about the tables in perf itself. It takes
# minutes and asks the kernel nothing, so it is left out.
#
#	perf_tests.sh list		the verdicts, whatever is loaded
#	perf_tests.sh worse WAS IS	status 1 if the second of two such lists is worse
#
# TEST: none
# SOAK: 6.1 6.12 newest
# VM: --machine goldmont --cores 1 --icount
# VM: --machine sandybridge --cores 1 --icount
# VM: --machine silvermont --cores 1 --icount

# best: of many verdicts on stdin for each test and part of one, the best, in the order they came.
best() {
	awk 'function rank(v) { return v == "Ok" ? 2 : v == "Skip" }
		!($1 in line) { order[++n] = $1 }
		!($1 in line) || rank($2) > rank(verdict[$1]) { line[$1] = $0; verdict[$1] = $2 }
		END { for (i = 1; i <= n; i++) print line[order[i]] }'
}

# all FILE: a line for each test and each part of one: number, verdict, name. What hangs has none.
all() {
	# Parts are listed, too, as " 6:1: NAME", and run with the whole.
	perf test list 2>&1 | sed -nE '/: PMU (events|JSON event tests)$/d; s/^ *([0-9]*): .*/\1/p' | while read -r n; do
		for i in $(seq "${TRIES:-20}"); do
			timeout 20 perf test "$n" 2>&1 </dev/null | sed -n \
				's/^ *\([0-9.]*\): \(.*[^ ]\) *: *\(Ok\|Skip\|FAILED!\).*/\1 \3 \2/p' >$T/one
			cat $T/one
			grep -q ' FAILED! ' $T/one || break
		done >$T/tries
		[ -s $T/tries ] || echo "$n hangs"
		best <$T/tries
		[ "$i" = 1 ] || sort $T/tries | uniq -c | sed 's/^/tries: /' >&2
	done >"$1"
}

# How many fare how, and which are not Ok.
tell() {
	awk '{ n[$2]++ } $2 != "Ok" { print } END { for (v in n) print v, n[v] }' "$1"
}

without() {
	rmmod intel_core_ext
	all $T/without
	tell $T/without
	[ "$(grep -c ' Ok ' $T/without)" -ge 20 ]
}

# Nothing that was Ok is anything else, nothing that was skipped fails.
not_worse() {
	awk 'function rank(v) { return v == "Ok" ? 2 : v == "Skip" }
		FNR == NR { was[$1] = $2; next }
		$1 in was { seen[$1] }
		rank($2) < rank(was[$1]) { print "was " was[$1] ": " $0; worse = 1 }
		END {
			for (n in was) {
				if (!(n in seen)) {
					print n " was " was[n] ", and is gone"
					worse = 1
				}
			}
			exit worse
		}' "$1" "$2"
}

with() {
	modprobe intel_core_ext enforce=1 data_src=1 ds_guard=1 || return 1
	all $T/with
	tell $T/with
	not_worse $T/without $T/with
}

[ "${1:-}" != worse ] || { not_worse "$2" "$3"; exit; }
T=/tmp/perf_tests
lib=$(realpath "$(dirname "$0")")
mkdir -p $T
cd $T || exit 1
# Else each start of perf looks through all names of the kernel.
echo 2 >/proc/sys/kernel/kptr_restrict
[ "${1:-}" != list ] || { all $T/list && cat $T/list; exit; }

. "$lib/ktap.sh"
[ -d /sys/bus/event_source/devices/cpu ] || ktap_skip_all "needs the kernel's core PMU"
lsmod | grep -q '^intel_core_ext ' || modprobe intel_core_ext 2>/dev/null ||
	ktap_skip_all "needs the module intel_core_ext"
ktap "without the module" without
ktap "with all that it can do" with
ktap_end
