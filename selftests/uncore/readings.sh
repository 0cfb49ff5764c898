#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# The driver on silicon that is otherwise than it takes it to be: tests of the driver under each
# answer of spec/readings.json that the model can be, and under random pairs. A test that fails
# there has found a wrong count, unless it is a limit that the data and Documentation tell of.
#
# Without SOAK=1 a few cells of that matrix, and on the debug kernel, where all take hours.
#
# VM: --sockets 2 --cores 2 --icount --append nmi_watchdog=0
# TIER: once
# PUT: lib/silicon.c uncore/count.c uncore/filters.c uncore/sampling_exact.c uncore/gate.c
. "$(dirname "$0")/ktap.sh"
cd "$(dirname "$0")" || exit
why=$(./silicon violations) || ktap_skip_all "$why"

TESTS="count filters sampling_exact gate"
PAIRS=20
FEW="w_erratum=counted count
summary_clear=latch sampling_exact
summary_clear=down sampling_exact
debugctl_13=needless sampling_exact
b_mask=ignore filters"

# What a limit makes fail, and what each complaint of the test has to say then.
LIMITS="summary_clear=down sampling_exact Operation not supported
debugctl_13=stuck sampling_exact Operation not supported
debugctl_13=needless sampling_exact Operation not supported
b_mask=ignore count _in_match/
b_mask=ignore filters .
m_mask=ignore filters .
m_addr=line filters .
s_match=class_low filters .
s_codes=table count /to_ring_\|violations
w_fixed_pmi=none sampling_exact xeon7500_wbox/uncore_clock\|a full ring\|LOST records"

# The driver loaded anew, for a test may leave it in any state.
prepare() { # READING...
	! grep -q '^xeon7500_uncore ' /proc/modules || rmmod xeon7500_uncore || return
	./silicon reset
	for r in "$@"; do ./silicon reading "$r" || return; done
	[ "$(./silicon readings | wc -l)" = $# ] || { echo "not what was asked for:"; ./silicon readings; return 1; }
	modprobe xeon7500_uncore
}

# What is said where readings are a limit for this test; nothing if none is.
excuses() { # TEST READING...
	test=$1
	shift
	for r in "$@"; do
		printf '%s\n' "$LIMITS" | awk -v key="$r $test " 'index($0, key) == 1 { print substr($0, length(key) + 1) }'
	done
}

cell() { # TEST READING...
	test=$1 status=0
	shift
	prepare "$@" || return
	env -u SOAK timeout 3000 "./$test" >/tmp/out 2>&1 || status=$?
	excuses "$test" "$@" >/tmp/said
	if [ ! -s /tmp/said ]; then
		[ $status = 0 ] || sed 's/^not ok/failed/; s/^ok/passed/' /tmp/out
		return $status
	fi
	[ $status = 1 ] || { echo "status $status, so there is no limit"; return 1; }
	! grep '^# .*[.][ch]:[0-9]*: ' /tmp/out | grep -v -f /tmp/said
}

# Every answer but the first, of each reading of this machine.
flips() { ./silicon answers | awk '{ for (i = 3; i <= NF; i++) print $1 "=" $i }'; }

# Two different readings each, the same in each run.
pairs() {
	flips | awk -v n="$PAIRS" '{ all[NR] = $0 } END { srand(7500)
		while (n) {
			a = all[int(rand() * NR) + 1]; b = all[int(rand() * NR) + 1]
			split(a, x, "="); split(b, y, "=")
			if (x[1] != y[1]) { print a, b; n-- }
		}
	}'
}

all_cells() {
	{ flips; pairs; } | while read -r row; do
		for t in $TESTS; do echo "$row $t"; done
	done
}

if [ -n "${SOAK:-}" ] && [ ! -e /proc/lockdep ]; then all_cells; else echo "$FEW"; fi >/tmp/cells
while read -r row; do
	test=${row##* } row=${row% *}
	# shellcheck disable=SC2086 # a list
	ktap "$test under $row" cell "$test" $row
done </tmp/cells
prepare
ktap_end
