#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# perf metrics as a program: what it prints, what it says of bad input, its status.
#
# VM: --sockets 2 --cores 2
# TEST: 6.1:newest
# SOAK: 6.1 6.1:newest newest newest:6.1
. "$(dirname "$0")/ktap.sh"
perf metrics --version >/dev/null 2>&1 || ktap_skip_all "needs perf-metrics"
[ -d /sys/bus/event_source/devices/xeon7500_ubox ] ||
	ktap_skip_all "needs the driver xeon7500_uncore"
T=/tmp/metrics
mkdir -p $T

# says STATUS TEXT COMMAND...: it ends so, and says this on stderr.
says() {
	status=$1 text=$2
	shift 2
	"$@" >$T/out 2>$T/err
	s=$?
	[ $s = "$status" ] || { echo "$*: status $s, not $status"; cat $T/out $T/err; return 1; }
	[ -z "$text" ] || grep -q -- "$text" $T/err || { echo "$*: does not say: $text"; cat $T/out $T/err; return 1; }
}

# Likewise, in one line.
one_line() {
	says "$@" || return 1
	[ "$(wc -l <$T/err)" = 1 ] || { echo "more than a line:"; cat $T/err; return 1; }
}

# A line of names and one for each value: what programs rely on.
csv() {
	perf metrics memory --csv -- sleep 0.2 >$T/out || return 1
	awk -F, 'NR == 1 { bad = $0 != "scope,metric,value,unit,running,note"; next }
		NF < 6 || $1 != "machine" || $3 !~ /^[0-9.e+]+$/ || $5 != "100.00" { bad = 1 }
		{ print; seen = seen $2 "," $4 " " }
		END { exit bad || seen != "memory_read_bandwidth,B/s memory_write_bandwidth,B/s " \
			"memory_bandwidth,B/s memory_read_share,% " }' $T/out
}

# The command's own output and status, and what its absence is.
command() {
	perf metrics uncore_clock_mhz --csv -- sh -c 'echo mine; exit 7' >$T/out
	[ $? = 7 ] && [ "$(sed -n 1p $T/out)" = mine ] && [ "$(wc -l <$T/out)" = 3 ] || {
		cat $T/out
		return 1
	}
	says 2 'no command after --' perf metrics memory -- &&
		one_line 127 'no-such-command: No such file' perf-metrics memory -- no-such-command &&
		one_line 126 '/etc/passwd: Permission denied' perf metrics memory -- /etc/passwd &&
		says 137 '' perf metrics memory -- sh -c 'kill -KILL $$'
}

# It ends with its command, whatever that leaves behind.
daemon() {
	says 0 '' perf-metrics memory --csv -- sh -c 'sleep 1000 & echo $! >/tmp/metrics/daemon' || return 1
	kill "$(cat $T/daemon)" && [ "$(grep -c ',100.00,' $T/out)" = 4 ]
}

# Of a locale with a decimal comma numbers are the same, and the command has it.
locale() {
	LC_ALL=de_DE.UTF-8 perf metrics memory --csv -- sh -c 'echo $LC_ALL' >$T/out || return 1
	cat $T/out
	[ "$(sed -n 1p $T/out)" = de_DE.UTF-8 ] && [ "$(grep -c ',100.00,' $T/out)" = 4 ]
}

table() {
	perf metrics home memory --per-box --per-socket -- sleep 0.01 >$T/out || return 1
	cat $T/out
	awk 'length > 80 { bad = 1 } END { exit bad }' $T/out && grep -q '^S1/mbox_1  *memory_bandwidth' $T/out &&
		grep -q '^S0  *memory_bandwidth' $T/out
}

# A file that is replaced at once, in a form that Prometheus reads.
openmetrics() {
	perf metrics memory_read_bandwidth llc_miss_ratio --openmetrics $T/m.prom --per-box \
		-- sleep 0.01 || return 1
	cat $T/m.prom
	[ "$(ls $T/m.prom*)" = $T/m.prom ] && [ "$(tail -n 1 $T/m.prom)" = "# EOF" ] &&
		[ "$(grep -c '^# TYPE perf_metrics_[ml].* gauge$' $T/m.prom)" = 2 ] &&
		[ "$(grep -c '^perf_metrics_memory_read_bandwidth_bytes_per_second{socket="[01]",box="mbox_[01]"} [0-9.e+]*$' $T/m.prom)" = 4 ] &&
		[ "$(grep -c '^perf_metrics_llc_miss_ratio_percent{' $T/m.prom)" = 16 ]
}

# Each with its line and the reason.
bad_files() {
	cat >$T/bad.metric <<-'END'
	group bad
	metric one
		event a xeon7500_wbox/uncore_clock/
		formula a +
	metric two
		event a xeon7500_wbox/uncore_clock/
		formula a / b
	metric three
		formula 1
	metric four
		event a xeon7500_wbox
		formula a
	metric five
		evnt a xeon7500_wbox/uncore_clock/
	metric Six
		event a xeon7500_wbox/uncore_clock/
		formula a
	metric seven
		event a xeon7500_wbox/uncore_clock/
		scope galaxy
		formula a
	metric eight
		event a xeon7500_wbox/uncore_clock/
		limit 3 2
		formula a
	metric nine
		event a xeon7500_wbox/uncore_clock/
		formula a
	metric nine
		event a xeon7500_wbox/uncore_clock/
		formula a
	END
	says 2 . perf metrics check $T/bad.metric || return 1
	cat $T/err
	sed 's/^[^:]*:\([0-9]*\):.*/\1/' $T/err | tr '\n' ' ' >$T/lines
	[ "$(cat $T/lines)" = "4 7 8 11 14 15 20 24 29 " ] || { cat $T/lines; return 1; }
	grep -q ':4: the formula is wrong: ' $T/err && grep -q ':7: .*"b"' $T/err &&
		says 2 'No such file' perf metrics check $T/none.metric
}

# What a user adds is found beside what is installed, also through XDG_CONFIG_HOME. If it is wrong
# nothing is counted.
own_files() {
	mkdir -p $T/home/.config/perf-metrics
	cat >$T/home/.config/perf-metrics/own.metric <<-'END'
	group own
	metric twice_the_clock
		event clocks xeon7500_wbox/uncore_clock/
		formula 2 * clocks / clocks
	metric no_such_event
		event a xeon7500_wbox/no_such_event/
		formula a
	END
	export HOME=$T/home
	says 0 '' perf metrics own --csv -- true || return 1
	cat $T/out $T/err
	grep -q '^machine,twice_the_clock,2,,100.00,$' $T/out &&
		grep -q "^machine,no_such_event,n/a,,0.00,xeon7500_wbox has no event or field 'no_such_event'$" $T/out &&
		perf metrics list >$T/out 2>&1 &&
		grep -q '^memory: ' $T/out && grep -q '^own: ' $T/out || return 1
	HOME=/nowhere XDG_CONFIG_HOME=$T/home/.config perf metrics list own >/dev/null 2>&1 || return 1
	cat >>$T/home/.config/perf-metrics/own.metric <<-'END'
	metric broken
		event a xeon7500_wbox/uncore_clock/
		formula (a
	END
	says 2 'own.metric:10: the formula is wrong' perf metrics memory -- touch $T/ran
	bad=$?
	rm -r "${T:?}/home"
	[ $bad = 0 ] && [ ! -e $T/ran ] && [ ! -s $T/out ]
}

# Of the map: each wrong line of a topology file, and what does not go together.
maps() {
	cat >$T/topology <<-'END'
	# good ones
	link S0.qpi0 S1.qpi0
	node 3 S1
	# and others
	link S0.qpi4 S1.qpi1
	link S8.qpi0 S1.qpi1
	link S0.qpi0 IOH0
	link S2.qpi0 S1.qpi0
	link S0.qpi1 S0.qpi2
	link S0.qpi2 an/IOH
	link S0.qpi2
	node 32 S0
	node 3 S0
	node x S0
	bridge S0 S1
	END
	says 2 '11 lines are wrong' perf metrics map --topology $T/topology -- true || return 1
	cat $T/err
	sed -n 's/^[^:]*:\([0-9]*\):.*/\1/p' $T/err | tr '\n' ' ' >$T/lines
	[ "$(cat $T/lines)" = "5 6 7 8 9 10 11 12 13 14 15 " ] || { cat $T/lines; return 1; }
	says 2 'No such file' perf metrics map --topology $T/none -- true &&
		says 2 'says whose the nodes are' perf metrics map --matrix -- true &&
		says 2 'is too much' perf metrics map memory -- true &&
		says 2 'csv is not for perf metrics map' perf metrics map --csv -- true &&
		says 2 'output is not for perf metrics list' perf metrics list -o $T/x &&
		says 3 '/nowhere/map.svg' perf metrics map -o /nowhere/map.svg -- true
}

# What perf says of the whole time is the sum of its intervals, and a recording has both.
recording() {
	perf metrics record -o $T/r -I 200 memory llc -- sleep 1.1 && says 0 '' perf-metrics report $T/r --csv &&
		cp $T/out $T/whole && sed '$d' $T/r >$T/intervals &&
		says 0 'without its last line after [0-9]* whole intervals' perf-metrics report $T/intervals --csv || return 1
	cat $T/whole $T/out
	awk -F, 'FNR == NR { value[$2] = $3; next }
		FNR > 1 && !($3 > 0 && $3 / value[$2] < 1 + 1e-9 && $3 / value[$2] > 1 - 1e-9) { bad = 1 }
		END { exit bad || FNR < 6 }' $T/whole $T/out && perf metrics report $T/r map >$T/out 2>$T/err
	grep -q 'which the map is of' $T/err && perf metrics record -o $T/m -- sleep 0.1 &&
		perf metrics report $T/m map | tee $T/out | grep -q '^Busiest link' &&
		perf metrics report $T/m --html $T/m.html && grep -q '^</html>' $T/m.html &&
		perf metrics diff $T/r $T/r --per-box | grep '^Nothing has changed: 0 within the spread'
}

unknown() {
	one_line 2 "there is no metric or group 'no_such'" perf metrics memory no_such -- true &&
		one_line 2 "there is no metric or group 'no_such'" perf metrics list no_such &&
		says 2 'usage:' perf metrics && one_line 2 'needs a number' perf metrics memory -I 0 &&
		one_line 2 'need -I' perf metrics memory --summary
}

# na REASON METRIC: as CSV
na() {
	says 1 '' perf metrics "$2" --csv -- true && cat $T/out &&
		grep -q "^machine,$2,n/a,,[0-9.]*,$1$" $T/out
}

# No event of that name, no PMU, nothing to divide by: no value, and why.
no_value() {
	mkdir -p $T/bad
	cat >$T/bad/bad.metric <<-'END'
	group bad
	metric no_such_event
		event a xeon7500_wbox/no_such_event/
		formula a
	metric no_such_pmu
		event a xeon7500_xbox/uncore_clock/
		formula a
	metric nothing_below
		event clocks xeon7500_wbox/uncore_clock/
		event one xeon7500_ubox/fatal_err/
		event other xeon7500_ubox/fatal_err/
		formula clocks / (one - other)
	END
	export PERF_METRICS_PATH=$T/bad
	na "xeon7500_wbox has no event or field 'no_such_event'" no_such_event &&
		na 'there is no PMU xeon7500_xbox' no_such_pmu && na 'its formula has no value for what was counted' nothing_below
	s=$?
	unset PERF_METRICS_PATH
	return $s
}

nothing() {
	one_line 3 'it is for .*, and this machine is Xeon 7500' \
		perf metrics offcore_latency_any_read -- touch $T/ran && [ ! -e $T/ran ]
}

no_perf() {
	one_line 3 'perf is not there' env PATH=/nowhere /usr/bin/perf-metrics memory -- true
}

# as_a_user PARANOID COMMAND...: of a user without privileges
as_a_user() {
	echo "$1" >/proc/sys/kernel/perf_event_paranoid
	shift
	cp /etc/passwd $T/passwd
	echo somebody:x:1000:1000::/:/bin/sh >>/etc/passwd
	"$@"
	s=$?
	cp $T/passwd /etc/passwd
	echo -1 >/proc/sys/kernel/perf_event_paranoid
	return $s
}

no_permission() {
	as_a_user 2 says 3 'no permission to count xeon7500_.*: run as root, or' \
		su somebody -c '/usr/bin/perf-metrics memory -- true' &&
		grep -q '^	sysctl kernel.perf_event_paranoid=0$' $T/err
}

# A gate needs CAP_PERFMON. Without it there are the same values, and nothing is said.
without_a_gate() {
	as_a_user 0 su somebody -c '/usr/bin/perf-metrics memory --plan' >$T/plan || return 1
	tail -n 1 $T/plan
	! grep -q 'xeon7500_package/gate' $T/plan || return 1
	as_a_user 0 su somebody -c '/usr/bin/perf-metrics memory --csv -- sleep 0.05' >$T/out 2>$T/err ||
		{ cat $T/out $T/err; return 1; }
	cat $T/out $T/err
	[ ! -s $T/err ] && [ "$(grep -c '^machine,memory_.*,[0-9.e+]*,.*,100.00,' $T/out)" = 4 ] &&
		perf metrics memory --plan | grep -q 'xeon7500_package/gate'
}

# It is ended and tells what has been counted until then. Ctrl-C goes to the whole foreground,
# a signal of kill to the program alone.
ended_by() { # SIGNAL STATUS [-]: to all
	rm -f $T/started
	setsid perf-metrics memory --csv -- sh -c "echo >$T/started; exec sleep 1000" \
		>$T/out 2>$T/err &
	pid=$!
	while [ ! -e $T/started ] && kill -0 $pid; do sleep 0.1; done
	kill "-$1" "$3$pid"
	wait $pid
	s=$?
	echo "status $s"; cat $T/out $T/err
	[ $s = "$2" ] && [ "$(grep -c '^machine,memory_.*,100.00,' $T/out)" = 4 ]
}

# Counting works, and status says so; all rules fit into one pass, so that none is silent for that.
status() {
	says 0 '' perf-metrics status && cat $T/out && grep -q '^Counting will work' $T/out &&
		grep -q 'S0, S1: U-Box, C-Box 0-7, S-Box 0-1, B-Box 0-1, M-Box 0-1' $T/out &&
		perf-metrics status --topology >$T/skeleton && says 0 '' perf-metrics map --topology $T/skeleton -- true
}

why() {
	says 0 '' perf-metrics why --json -- sleep 0.2 || return 1
	cat $T/out
	! grep -q 'was counted for\|"judged":0' $T/out
}

# The whole first screen, where nothing can be counted.
no_driver() {
	modprobe -r xeon7500_uncore || return 1
	perf-metrics status >$T/out
	[ $? = 3 ] && grep -q '^	modprobe xeon7500_uncore$' $T/out || { cat $T/out; modprobe xeon7500_uncore; return 1; }
	says 3 'the module xeon7500_uncore is not loaded. As root:$' perf-metrics memory -- touch $T/ran
	bad=$?
	cat $T/err
	[ ! -e $T/ran ] && [ ! -s $T/out ] && grep -q '^	modprobe xeon7500_uncore$' $T/err || bad=1
	if [ $bad = 0 ] && modprobe intel_uncore; then
		says 3 'and intel_uncore holds the counters' perf-metrics memory -- touch $T/ran || bad=1
		cat $T/err
		grep -q '^	rmmod intel_uncore$' $T/err || bad=1
		modprobe -r intel_uncore
	fi
	modprobe xeon7500_uncore || bad=1
	return $bad
}

# online 0|1 CPU...
online() {
	o=$1
	shift
	for c; do echo "$o" >/sys/devices/system/cpu/cpu$c/online; done
}

# What has been printed of S1.
of_s1() { grep ',S1,memory_bandwidth,' $T/out | tail -n "${1:-1}"; }

# A package loses a CPU meanwhile, and the driver counts with the other one; then that one, too:
# no number that is not right, and no end before its time.
offline() {
	rm -f $T/out
	perf-metrics memory_bandwidth --csv --per-socket -I 200 >$T/out 2>$T/err &
	pid=$!
	while [ -z "$(of_s1)" ] && kill -0 $pid; do sleep 0.1; done 2>/dev/null
	online 0 2
	n=$(of_s1 1000 | wc -l)
	while [ "$(of_s1 1000 | wc -l)" -lt $((n + 3)) ] && kill -0 $pid; do sleep 0.1; done
	moved=$(of_s1)
	online 0 3
	n=$(of_s1 1000 | wc -l)
	while [ "$(of_s1 1000 | wc -l)" -lt $((n + 3)) ] && kill -0 $pid; do sleep 0.1; done
	gone=$(of_s1)
	online 1 2 3
	kill -INT $pid
	wait $pid
	cat $T/out $T/err
	echo "$moved" | grep -q 'bandwidth,[0-9.e+]*,B/s' && echo "$gone" | grep -q ',n/a,B/s,0.00,' &&
		[ "$(grep -c ',S0,memory_bandwidth,n/a' $T/out)" = 0 ]
}

# memory INTERVALS MARK: what it has in kB once MARK has been printed so many times. VmRSS may
# be some pages late.
memory() {
	until [ "$(grep -c -- "$2" $T/out)" -ge "$1" ]; do
		kill -0 $pid || return 1
		sleep 0.2
	done
	sed -n 's/^Rss:[^0-9]*\([0-9]*\) kB/\1/p' /proc/$pid/smaps_rollup
}

# A thousand intervals take no more memory than the first, but for the 64 kB into which perf's
# lines are read. What the C library keeps of each size for the next to ask grows for as long as
# there are new sizes; so it keeps none.
no_leak() { # MARK ARGUMENT...
	mark=$1
	shift
	: >$T/out
	GLIBC_TUNABLES=glibc.malloc.tcache_count=0 perf-metrics "$@" -I 20 >$T/out 2>&1 &
	pid=$!
	early=$(memory 20 "$mark")
	late=$(memory 1020 "$mark")
	kill $pid
	wait $pid
	s=$?
	echo "status $s, $early kB, $late kB"
	[ $s = 143 ] && [ -n "$early" ] && [ -n "$late" ] && [ $((late - early)) -lt 80 ]
}

ktap "CSV" csv
ktap "the command's output and status" command
ktap "what the command leaves behind" daemon
ktap "the command's locale" locale
ktap "a table of 80 columns" table
ktap "OpenMetrics" openmetrics
ktap "bad files" bad_files
ktap "files of the user's own" own_files
ktap "wrong topology files, wrong usage of the map" maps
ktap "a recording" recording
ktap "unknown names, wrong usage" unknown
ktap "no such event, no such PMU, division by zero" no_value
ktap "nothing to count" nothing
ktap "perf is missing" no_perf
ktap "no permission" no_permission
ktap "no permission for a gate" without_a_gate
ktap "Ctrl-C" ended_by INT 130 -
ktap "SIGTERM" ended_by TERM 143 ""
ktap "SIGINT to the program alone" ended_by INT 130 ""
ktap "a CPU goes offline, and a package" offline
ktap "status" status
ktap "rules are judged" why
ktap "no driver, or another one" no_driver
if [ -n "${SOAK:-}" ]; then
	ktap "no leak" no_leak "^{" memory dram power --per-box --json
	ktap "no leak in a map" no_leak "^Busiest" map
	ktap "no leak in a recording" no_leak '^{"time"' record -o - memory
fi
ktap_end
