#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The tests as an installed kselftest collection, on a machine without the model. Without
# /dev/cpu/*/msr nobody can ask it, as on real hardware: what needs it is skipped, and what
# does not need it runs.
#
# SOAK: 6.1 newest
#
# shellcheck disable=SC2317 # the tests are called by name
set -u
. "$(dirname "$0")/../lib/vm.sh"

# All tests but events.sh, which starts perf for every event that count opens, and with
# little time the two that run longest.
without='uncore:events.sh'
[ -n "${SOAK:-}" ] || without='uncore:\(events.sh\|count\|refuse\)'
collection() { grep '^uncore:' "$DIR/installed/kselftest-list.txt" | grep -vx "$without"; }

install_it() {
	make -s -C "$TOP/selftests" OUTPUT="$TOP/build/selftests" INSTALL_PATH="$DIR/installed" install
	(cd "$DIR/installed" && ls run_kselftest.sh kselftest/runner.sh uncore/count uncore/ktap.sh)
}

# run_it NAME OPTION...: the uncore collection, and one line for each result: the test, the
# case, and how it went.
run_it() {
	local name=$1
	shift
	# shellcheck disable=SC2046 # a list
	vm "$name" --kernel "${KERNELS[0]}" --sockets 2 --cores 2 "$@" --put "$DIR/installed:/k" \
		-- sh -c 'rmmod msr && ! ls /dev/cpu/*/msr 2>/dev/null && exec /k/run_kselftest.sh "$@"' sh \
		$(collection | sed 's/^/-t /')
	awk '
		/^# selftests: / { test = $NF }
		/^(not )?ok [0-9]+ selftests:/ { print test ": exit\t" ($0 ~ /# SKIP/ ? "skip" : $1) }
		/^# (not )?ok [0-9]+ / {
			how = /^# not/ ? "not" : / # SKIP / ? "skip" : "ok"
			reason = how == "skip" ? substr($0, index($0, " # SKIP ") + 8) : ""
			sub(/^# (not )?ok [0-9]+ /, "")
			sub(/ # SKIP .*/, "")
			print test ": " $0 "\t" how "\t" reason
		}' "$DIR/$name.out" >"$DIR/$name.results"
}

results() { awk -F'\t' -v how="$2" '$2 == how' "$DIR/$1.results"; }

no_failure() { # NAME
	ended "$1" 0 || return
	grep '^not ok\|^# not ok' "$DIR/$1.out" && return 1
	[ "$(grep -c '^ok [0-9]* selftests: uncore: ' "$DIR/$1.out")" = "$(collection | wc -l)" ]
}

# Each case that passes, and each program that does not end as skipped.
passing() {
	cat <<-'END'
	count: each event of each box, on both packages
	count: exit
	group: six events over the same cycles
	group: four events and the clock of the W-Box
	group: groups too big are refused
	group: a group with a software event
	group: a group waits as a whole
	group: exit
	hardware: as many samples as periods
	hardware: twins in a group
	hardware: events move with their package
	hardware: exit
	hotplug: an event moves to the other CPU and goes on
	hotplug: 67 events in all boxes move
	hotplug: a CPU goes that is not in charge
	hotplug: the last CPU of a package goes and comes back
	hotplug: a package comes after the module
	hotplug: many moves
	hotplug: exit
	refuse: exclude_*
	refuse: events of a task
	refuse: CPUs outside the cpumask stand for their package
	refuse: branch stacks
	refuse: types of other PMUs
	refuse: each bit that no format covers
	refuse: the fourth config word
	refuse: events and unit masks the manual does not have
	refuse: options that make no sense
	refuse: without privileges
	refuse: exit
	END
}

these_pass() { results hardware ok | cut -f1 | diff <(passing | sed 's/^/uncore:/' | grep -v "^$without: " | sed 's/^uncore://') -; }

# skipped_for NAME REASON
skipped_for() {
	results "$1" skip | cut -f3 | sed '/^$/d' | sort | uniq -c
	[ "$(results "$1" skip | wc -l)" -gt 100 ] &&
		! results "$1" skip | awk -F'\t' -v r="$2" '$1 !~ /: exit$/ && $3 != r' | grep .
}

ktap "the collection is installed" install_it
run_it hardware
ktap "without the model nothing fails" no_failure hardware
ktap "what does not need it runs and passes" these_pass
ktap "the rest is skipped for want of it" skipped_for hardware \
	"needs the virtual silicon (there is no /dev/cpu/0/msr)"
ktap_end
