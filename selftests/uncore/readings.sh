#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# The driver on silicon that is otherwise than it takes it to be: tests of the driver on machines
# with every answer of spec/readings.json that the model can be. A test that fails there has found
# a wrong count, unless it is a limit that the data and Documentation tell of; these are tried one
# by one. Without SOAK=1 a few cells of that matrix.
#
# VM: --sockets 2 --cores 2 --icount --append nmi_watchdog=0
# TEST: 6.1
# SOAK: 6.1 newest
# PUT: programs/silicon.c uncore/count.c uncore/filters.c uncore/sampling_exact.c uncore/gate.c
. "$(dirname "$0")/ktap.sh"
cd "$(dirname "$0")" || exit
why=$(./silicon violations) || ktap_skip_all "$why"

TESTS="count filters sampling_exact gate"
SILICONS=12
FEW="w_erratum=counted count
summary_clear=latch sampling_exact
summary_clear=down sampling_exact
debugctl_13=needless sampling_exact
c_invert=above s_invert=above w_invert=above sampling_exact
b_mask=ignore filters"

# What a limit makes fail, and what each complaint of the test has to say then.
LIMITS="summary_clear=down sampling_exact Operation not supported
debugctl_13=stuck sampling_exact Operation not supported
debugctl_13=needless sampling_exact Operation not supported
summary_clear=down gate Operation not supported
debugctl_13=stuck gate Operation not supported
debugctl_13=needless gate Operation not supported
b_mask=ignore count _in_match/
b_mask=ignore filters xeon7500_bbox_
m_mask=ignore filters xeon7500_mbox_
m_addr=line filters xeon7500_mbox_
s_match=class_low filters xeon7500_sbox_
s_reset_full=from_zero_wraps count xeon7500_sbox_./.*occupancy
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
	# A case that has crashed says so in a line of no file: no limit excuses that.
	grep '^# .*[.][ch]:[0-9]*: \|has ended its process' /tmp/out >/tmp/complaints ||
		{ echo "it has failed without a complaint"; return 1; }
	! grep -v -f /tmp/said /tmp/complaints
}

# Silicons for a test: whatever is no limit for it, each reading with all its answers equally
# often and in random order, the same in each run. In twelve of them any two answers of two
# readings meet, but for a few pairs in a hundred.
silicons() { # TEST
	{ printf '%s\n' "$LIMITS"; ./silicon answers; } | awk -v test="$1" -v rows="$SILICONS" '
		BEGIN { srand(7500) }
		$1 ~ /=/ { limit[$1] = limit[$1] " " $2 " "; next }
		{
			n = 0
			for (i = 2; i <= NF; i++)
				if (!index(limit[$1 "=" $i], " " test " "))
					free[n++] = $i
			for (i = 0; i < rows; i++) {
				j = int(rand() * (i + 1))
				order[i] = order[j]
				order[j] = free[i % n]
			}
			for (i = 0; i < rows; i++)
				if (order[i] != $2)
					row[i] = row[i] $1 "=" order[i] " "
		}
		END { for (i = 0; i < rows; i++) print row[i] test }'
}

all_cells() {
	for t in $TESTS; do silicons "$t"; done
	printf '%s\n' "$LIMITS" | awk '{ print $1, $2 }'
}

if [ -n "${SOAK:-}" ]; then all_cells; else echo "$FEW"; fi >/tmp/cells
while read -r row; do
	test=${row##* } row=${row% *}
	# shellcheck disable=SC2086 # a list
	ktap "$test under $row" cell "$test" $row
done </tmp/cells
prepare
ktap_end
