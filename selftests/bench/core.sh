#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the hooks of intel_core_ext cost, on Goldmont: instructions per event opened and
# closed (any, offcore), started and stopped, and per PEBS sample with its interrupt. One
# instruction per nanosecond, repeatable.
#
#	selftests/bench/core.sh [KERNEL...]
set -euo pipefail
. "$(dirname "$0")/../../tools/lib/common.sh"

[ $# -gt 0 ] || set -- 6.1 6.12
out=$TOP/build/selftests
mkdir -p "$out"
gcc -O2 -Wall -Wextra -static -I "$TOP/selftests/lib" -I "$TOP/tools/silicon/model" \
	-o "$out/core_cost" "$TOP/selftests/bench/core_cost.c" "$TOP"/selftests/lib/*.c
for kernel; do
	"$TOP/tools/build-modules" "$kernel" >"$out/modules-$kernel.log" 2>&1 ||
		{ cat "$out/modules-$kernel.log" >&2; exit 1; }
	echo "kernel $kernel, Goldmont, instructions"
	"$TOP/tools/vm/run" --machine goldmont --kernel "$kernel" --icount --timeout 600 \
		--put "$out/core_cost:/t/core_cost" -- /t/core_cost | grep '^#' | cut -c3-
done
