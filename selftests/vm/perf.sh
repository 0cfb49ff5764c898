#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A perf of Debian's source with our patch: it passes its own tests of events and metrics,
# perf list describes the events, and perf stat -M computes what perf metrics does.
#
# TEST: none
# SOAK: 6.1
set -uo pipefail
. "$(dirname "$0")/../lib/vm.sh"

declare -A MACHINES=([xeon7500]=nehalemex [westmereex]=westmereex)

# What sysfs has of each machine, and the patch made of it.
patch_made() {
	local machine
	make -s -C "$TOP/tools/metrics" || return 1
	for machine in "${!MACHINES[@]}"; do
		vm "$machine" --machine "$machine" --cores 1 -- sh -c \
			'grep -r . /sys/bus/event_source/devices/xeon7500_*/'
		ended "$machine" 0 || return 1
	done
	PERF_METRICS_PATH=$TOP/metrics "$TOP/build/metrics/perf-metrics" list --json |
		"$TOP/tools/metrics/export.py" perf "nehalemex=$DIR/xeon7500.out" \
			"westmereex=$DIR/westmereex.out" >"$DIR/perf.patch" || return 1
	grep -c '^+.*"MetricName"' "$DIR/perf.patch"
	grep -c '^+.*"EventName"' "$DIR/perf.patch"
}

# Only what counting needs, so that it runs in the guest as it is.
built() {
	local source without
	need_packages build-essential flex bison patch
	source=$("$TOP/tools/vm/kernel" --source 6.1 | sed -n 's/^SOURCE=//p') || return 1
	mkdir "$DIR/source"
	cp -r "$source/Makefile" "$source"/{tools,scripts,include,arch,kernel,lib} "$DIR/source/" &&
		patch -s -p1 -d "$DIR/source" <"$DIR/perf.patch" || return 1
	without=$(printf ' NO_%s=1' LIBELF LIBPYTHON LIBPERL SLANG GTK2 LIBNUMA LIBUNWIND LIBAUDIT \
		LIBCRYPTO LIBZSTD LIBCAP LIBBPF SDT AUXTRACE JVMTI LZMA LIBBABELTRACE)
	# shellcheck disable=SC2086 # several words
	env -u MAKEFLAGS -u MAKELEVEL make -C "$DIR/source/tools/perf" perf "-j$(nproc)" $without \
		LDFLAGS=-static WERROR=0 >"$DIR/build.log" 2>&1 || { tail -n 30 "$DIR/build.log"; return 1; }
}

# They look at all events and metrics of all CPUs, on any.
own_tests() {
	local number
	number=$("$DIR/source/tools/perf/perf" test list 2>&1 | sed -n 's/^ *\([0-9]*\): PMU events$/\1/p')
	"$DIR/source/tools/perf/perf" test "$number" >"$DIR/tests" 2>&1
	cat "$DIR/tests"
	[ "$(grep -c ': Ok$' "$DIR/tests")" -ge 4 ] && ! grep -q FAILED "$DIR/tests"
}

METRICS="memory_bandwidth memory_read_share llc_miss_ratio qpi_utilization dram_page_hit_ratio"
METRICS="$METRICS imt_avg_occupancy uncore_clock_mhz"

# Both count the same traffic, in a machine whose time is that of its instructions.
counted() { # MACHINE
	cat >"$DIR/guest.sh" <<-END
	perf metrics $METRICS --csv --per-socket -- sleep 0.1
	for metric in $METRICS; do
		/t/perf stat -a --per-socket -j -M \$metric sleep 0.1 2>&1 | sed "s/^/\$metric /"
	done
	echo list
	/t/perf list | grep -A1 '^  llc_misses.all '
	END
	vm "counted-$1" --machine "$1" --sockets 2 --cores 1 --icount --traffic "$TOP/tools/demo.traffic" \
		--put "$DIR/source/tools/perf/perf:/t/perf" --put "$DIR/guest.sh:/t/guest.sh" -- sh /t/guest.sh
	ended "counted-$1" 0 && python3 - "$DIR/counted-$1.out" <<-'END'
	import json, re, sys
	counted, described = open(sys.argv[1]).read().split('\nlist\n')
	ours, theirs = {}, {}
	for line in counted.splitlines():
	    if re.match(r'S\d,', line):
	        scope, metric, value = line.split(',')[:3]
	        ours[scope, metric] = float(value)
	    elif ' {' in line:
	        metric, row = line.split(' ', 1)
	        row = json.loads(row)
	        unit = row['metric-unit'].split()
	        if unit[-1:] == [metric]:
	            theirs[row['socket'], metric] = row['metric-value'] * (1e6 if unit[0] == 'MB/s' else 1)
	bad = not ours or ours.keys() != theirs.keys()
	for key, value in ours.items():
	    far = abs(theirs.get(key, 0) - value) > 0.01 * value
	    print(*key, value, theirs.get(key), 'differs' if far else '')
	    bad |= far
	print(described)
	sys.exit(bad or 'Last level cache misses: all misses' not in described)
	END
}

ktap "the patch is made" patch_made
ktap "perf is built with it" built
ktap "its own tests of events pass" own_tests
ktap "perf stat -M agrees, on the Xeon 7500" counted xeon7500
ktap "perf stat -M agrees, on Xeon E7" counted westmereex
ktap_end
