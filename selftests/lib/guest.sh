#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# In the virtual machine: run tests one after the other, each as if the machine had just
# been started. selftests/run starts this and reads what it prints.
#
#	guest.sh LIST
#
# A line of LIST names a test (directory/program, relative to LIST) and the driver that is
# to be loaded for it, or "none". Around the output of each test come lines with "@@".
TESTS=$(dirname "$1")
SILICON=$TESTS/silicon
SYSCTL=/proc/sys/kernel
GCOV=/sys/kernel/debug/gcov
ALWAYS=$(lsmod | awk 'NR > 1 { print $1 }')

CPUS=$(grep -l 1 /sys/devices/system/cpu/cpu*/online)

# Writing perf_cpu_time_max_percent comes first: some of its values lock the next one.
sysctls="perf_cpu_time_max_percent perf_event_max_sample_rate perf_event_paranoid
	perf_event_mlock_kb kptr_restrict nmi_watchdog panic_on_warn"
for s in $sysctls; do eval "was_$s=\$(cat $SYSCTL/$s 2>/dev/null)"; done

fresh_machine() {
	local f s
	for f in $CPUS; do
		[ "$(cat "$f")" = 1 ] || echo 1 >"$f"
	done
	for s in $sysctls; do
		eval "f=\$was_$s"
		[ "$(cat $SYSCTL/$s 2>/dev/null)" = "$f" ] || echo "$f" >$SYSCTL/$s
	done
	rm -rf /tmp/* /root/*
	"$SILICON" reset
}

# Modules that a test has loaded go, and the driver with them. perf may hold on to it for
# as long as a file of an event is still being closed.
unload() {
	local m left tries=0
	while left=$(lsmod | awk 'NR > 1 { print $1 }' | grep -vxF "$ALWAYS"); do
		for m in $left; do rmmod "$m" 2>/dev/null; done
		tries=$((tries + 1))
		[ $tries -lt 50 ] || { echo "not ok - these cannot be unloaded:" $left; return; }
		[ $tries = 1 ] || sleep 0.1
	done
}

kill_session() {
	local pids
	pids=$(cat /proc/[0-9]*/stat 2>/dev/null |
		awk -v sid="$1" '{ pid = $1; sub(/.*\) /, "") } $4 == sid { print pid }')
	# shellcheck disable=SC2086 # a list
	[ -z "$pids" ] || kill -9 $pids 2>/dev/null
}

run_test() { # NAME DRIVER
	local pid status
	fresh_machine
	[ "$2" = none ] || modprobe "$2" || { echo "not ok - $2 cannot be loaded"; return 1; }
	cd "$TESTS/${1%/*}" || return 1
	# A session of its own: what it leaves behind can be told from us.
	setsid "./${1##*/}" </dev/null 2>&1 &
	pid=$!
	wait $pid
	status=$?
	kill_session $pid
	cd /
	unload
	# What has run of modules that were built to count it; selftests/coverage reads it.
	find $GCOV -name '*.gcda' 2>/dev/null | while read -r f; do
		relay "$LOG" "$LOG" echo "gcov: $f $(base64 -w 0 "$f")"
	done
	[ ! -e $GCOV/reset ] || echo 1 >$GCOV/reset
	# It is off after its first complaint, or when it has run out of room: then it sees nothing.
	[ ! -e /proc/lockdep_stats ] || grep -q 'debug_locks: *1$' /proc/lockdep_stats ||
		echo "not ok - lockdep is off: $(grep debug_locks /proc/lockdep_stats)"
	return $status
}

while read -r name driver; do
	echo "selftests: $name begins" >/dev/kmsg
	echo "@@ begin $name"
	run_test "$name" "$driver"
	status=$?
	echo "selftests: $name ends" >/dev/kmsg
	printf '\n@@ end %s %s\n' "$name" $status
done <"$1"
