#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The PEBS index of a Goldmont out of bounds: what the kernel alone makes of it, and
# that intel_core_ext spares it. The first kills the machine, so each has its own.
#
# TEST: 6.1 6.12
# SOAK: 6.1 6.12 newest
#
# shellcheck disable=SC2016 # what is in single quotes is for the guest's shell
# shellcheck disable=SC2317 # the tests are called by name
set -u
. "$(dirname "$0")/../lib/vm.sh"
# shellcheck disable=SC2034 # vm looks at it
PTI=on

sampler=$(build_program pebs_index sampler.c) || { ktap "the program is built" false; ktap_end; }
options=(--machine goldmont --cores 2 --put "$sampler:/t/sampler")

# number NAME WHAT N: what the sampler printed after WHAT, the Nth time.
number() { sed -n "s/^$2: //p" "$DIR/$1.out" | sed -n "$3p"; }

# The loads of the walk and a few of the sampler's own.
whole() { [ "${1:-0}" -ge 200 ] && [ "$1" -lt 210 ]; }

# One is lost.
goes_on() {
	echo "samples: $(number "$1" before "$2"), after the fault $(number "$1" after "$2")"
	whole "$(number "$1" before "$2")" && [ "$(number "$1" after "$2")" -ge 199 ]
}

oops() {
	echo "samples: $(number "$1" before "$2"), after the fault $(number "$1" after "$2")"
	grep -m 3 -e 'BUG:' -e 'RIP: 0010:' "$DIR/$1.log"
	ended "$1" 125 && whole "$(number "$1" before "$2")" && [ -z "$(number "$1" after "$2")" ] &&
		grep -q 'RIP: 0010:\(intel_pmu_drain_pebs_nhm\|__intel_pmu_pebs_event\|get_next_pebs\)' "$DIR/$1.log"
}

silence() {
	echo "samples: $(number "$1" before 1), after the fault $(number "$1" after 1)"
	whole "$(number "$1" before 1)" && [ "$(number "$1" after 1)" = 0 ]
}

guarded() {
	ended "$1" 0 && goes_on "$1" 1 && goes_on "$1" 2 || return 1
	grep -e '^repairs: ' -e '^said: ' "$DIR/$1.out"
	[ "$(number "$1" repairs 1)" -ge 2 ] && [ "$(number "$1" said 1)" = 1 ]
}

# Both ways to an oops on each kernel take two machines; one after the other will do.
how=above
for kernel in "${KERNELS[@]}"; do
	alone=(--driver none --kernel "$kernel" "${options[@]}")
	if [ "$how" = above ] || [ -n "${SOAK:-}" ]; then
		vm "above-$kernel" "${alone[@]}" -- sh -c '/t/sampler below && /t/sampler above'
		ktap "$kernel alone, below the base: silence" silence "above-$kernel"
		ktap "$kernel alone, above the maximum: an oops" oops "above-$kernel" 2
	fi
	if [ "$how" = stop ] || [ -n "${SOAK:-}" ]; then
		vm "stop-$kernel" "${alone[@]}" -- sh -c '/t/sampler below && /t/sampler stop'
		ktap "$kernel alone, below the base: silence, then a stop" silence "stop-$kernel"
		ktap "$kernel alone, above the maximum when the event stops: an oops" oops "stop-$kernel" 2
	fi
	vm "ours-$kernel" --kernel "$kernel" "${options[@]}" -- sh -c \
		'rmmod intel_core_ext && modprobe intel_core_ext ds_guard=1 || exit
		/t/sampler below && /t/sampler above || exit
		echo "repairs: $(cat /sys/bus/event_source/devices/cpu/intel_core_ext/ds_repairs)"
		echo "said: $(dmesg | grep -c "PEBS index was out of bounds")"'
	ktap "$kernel with the guard: sampling goes on" guarded "ours-$kernel"
	[ "$how" = above ] && how=stop || how=above
done

ktap_end
