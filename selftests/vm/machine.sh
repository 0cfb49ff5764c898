#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What a program learns of each machine beside its PMU: name, caches, RDTSCP, the ratio of the
# clock (MSR CEH), and the rate of the time stamp counter, which the kernel measures when
# instructions are counted.
#
# TEST: 6.1
# SOAK: none
set -uo pipefail
. "$(dirname "$0")/../lib/vm.sh"

# shellcheck disable=SC2016 # for the guest's shell
describe='
sed -n "1,/^$/s/^model name.*: //p" /proc/cpuinfo
awk "/^cpu MHz/ { printf \"%.0f MHz\\n\", \$4; exit }" /proc/cpuinfo
sed -n "1,/^$/s/^flags.* \(rdtscp\) .*/\1/p" /proc/cpuinfo
for c in /sys/devices/system/cpu/cpu0/cache/index*; do
	echo L$(cat $c/level) $(cat $c/type $c/size $c/ways_of_associativity $c/number_of_sets)
done
dd if=/dev/cpu/0/msr bs=8 count=1 iflag=skip_bytes skip=206 2>/dev/null | od -An -tx8 | tr -d " "'

# is NAME LINE...: it has printed this.
is() { ended "$1" 0 && printed "$@"; }

small() { vm "$1" --machine "$1" --icount --cores 1 --driver none "${@:2}" -- sh -c "$describe"; }

small xeon7500
ktap "xeon7500 is an X7560" is xeon7500 \
	"Intel(R) Xeon(R) CPU           X7560  @ 2.27GHz" "2267 MHz" rdtscp "L1 Data 32K 8 64" \
	"L1 Instruction 32K 4 128" "L2 Unified 256K 8 512" "L3 Unified 24576K 24 16384" \
	0000080000001100
small westmereex
ktap "westmereex is an E7-4860" is westmereex \
	"Intel(R) Xeon(R) CPU E7- 4860  @ 2.27GHz" "2267 MHz" rdtscp "L1 Data 32K 8 64" \
	"L1 Instruction 32K 4 128" "L2 Unified 256K 8 512" "L3 Unified 24576K 24 16384" \
	0000080000001100
small goldmont
ktap "goldmont is a J4205" is goldmont \
	"Intel(R) Pentium(R) CPU J4205 @ 1.50GHz" "1500 MHz" rdtscp "L1 Data 24K 6 64" \
	"L1 Instruction 32K 8 64" "L2 Unified 1024K 16 1024" 0000080000000f00
small goldmont --model 7a
ktap "goldmont with model 7a is a J5005" is goldmont \
	"Intel(R) Pentium(R) Silver J5005 CPU @ 1.50GHz" "1500 MHz" rdtscp "L1 Data 24K 6 64" \
	"L1 Instruction 32K 8 64" "L2 Unified 4096K 16 4096" 0000080000000f00
small silvermont
ktap "silvermont is a C2750" is silvermont \
	"Intel(R) Atom(TM) CPU  C2750  @ 2.40GHz" "2400 MHz" rdtscp "L1 Data 24K 6 64" \
	"L1 Instruction 32K 8 64" "L2 Unified 1024K 16 1024" 00000c0000001800
small sandybridge --model 2d
ktap "sandybridge with model 2d is an E5-2670" is sandybridge \
	"Intel(R) Xeon(R) CPU E5-2670 0 @ 2.60GHz" "2600 MHz" rdtscp "L1 Data 32K 8 64" \
	"L1 Instruction 32K 8 64" "L2 Unified 256K 8 512" "L3 Unified 20480K 20 16384" \
	00000c0000001a00
ktap_end
