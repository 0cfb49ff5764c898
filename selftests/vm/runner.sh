#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What selftests/run makes of tests that go wrong: one failure, with the name of the
# test, and everything else still runs. The tests are those of selftests/guest/runner.
#
# shellcheck disable=SC2317 # the tests are called by name
set -u
. "$(dirname "$0")/../lib/vm.sh"

kernel=${KERNELS[0]}
broken=$TOP/selftests/guest/runner
unset SOAK

run() { # NAME OPTION... TEST...
	local name=$1
	shift
	"$TOP/selftests/run" --kernel "$kernel" "$@" >"$DIR/$name" 2>&1
	echo $? >"$DIR/$name.status"
}

# verdicts NAME LINE...: the run printed these, and no other lines of that kind.
verdicts() {
	local name=$1
	shift
	printf '%s\n' "$@" | sort >"$DIR/want"
	sed -nE 's/^(ok|FAIL|skip|again) +[0-9.]* *s? *[0-9]* +(the |)/\1 /p' "$DIR/$name" | sort | diff "$DIR/want" -
}

run broken -j 1 --timeout 20 "$broken"/[a-h]_*.sh

each_once() {
	verdicts broken "ok runner/a_fine.sh $kernel" "ok runner/b_leaves.sh $kernel" \
		"ok runner/c_finds.sh $kernel" \
		"FAIL runner/d_killed.sh $kernel: 1 of 2 results, status 137" \
		"FAIL runner/e_oops.sh $kernel: brought the machine down" \
		"FAIL runner/f_warning.sh $kernel: the kernel is in trouble" \
		"FAIL runner/g_hangs.sh $kernel: did not end, time is up" \
		"ok runner/h_fine.sh $kernel" || { cat "$DIR/broken"; return 1; }
}
ktap "each test has one verdict, whatever the one before it did" each_once

tells_why() {
	grep -q 'Kernel panic - not syncing: sysrq triggered crash' "$DIR/broken" &&
		grep -q 'WARNING: CPU: 0 PID: 1 at kernel/made/up.c:1' "$DIR/broken"
}
ktap "what the kernel said is shown" tells_why

# A second one after each of the three that broke their machine.
adds_up() {
	grep '^4 boots, 0 repeated.*; 8 test files;' "$DIR/broken" &&
		[ "$(tail -n 1 "$DIR/broken")" = "6 passed, 5 failed, 0 skipped" ] &&
		[ "$(cat "$DIR/broken.status")" = 1 ]
}
ktap "the sum and the status say so" adds_up

never_starts() {
	run never --boot-timeout 2 "$broken/never.sh"
	verdicts never "again machine of runner/never.sh $kernel did not start: time is up" \
		"FAIL machine of runner/never.sh $kernel: did not start, twice" &&
		grep '^2 boots, 1 repeated' "$DIR/never" && [ "$(cat "$DIR/never.status")" = 1 ] ||
		{ cat "$DIR/never"; return 1; }
}
ktap "a machine that hangs before init is started once more, and said to be" never_starts

takes_long() {
	local kernel=6.1
	run long -v -j 1 --tier soak --kernel newest "$broken/long.sh"
	sed -nE 's/^ok .*runner/runner/p; s/^ +ok 1 //p' "$DIR/long" >"$DIR/long.lines"
	printf '%s\n' "runner/long.sh $kernel" SOAK=1 "runner/long.sh newest" SOAK= |
		diff - "$DIR/long.lines"
}
ktap "in soak a test takes long on 6.1 and 6.12, and not on newest" takes_long

# left: processes that have our mark in their environment.
left() { grep -laz "^RUNNER_MARK=$DIR$" /proc/[0-9]*/environ 2>/dev/null; }

interrupted() {
	local pid status=0
	RUNNER_MARK=$DIR setsid "$TOP/selftests/run" --kernel "$kernel" "$broken/g_hangs.sh" >"$DIR/int" 2>&1 &
	pid=$!
	until pgrep -s "$pid" >/dev/null; do kill -0 $pid || return 1; sleep 0.1; done
	for _ in $(seq 600); do
		left | sed 's,/environ,/comm,' | xargs cat 2>/dev/null | grep -q '^qemu' && break
		sleep 0.1
	done
	kill -INT $pid
	wait $pid || status=$?
	echo "status $status"
	left
	[ $status = 130 ] && [ -z "$(left)" ]
}
ktap "Ctrl-C leaves nothing behind" interrupted

ktap_end
