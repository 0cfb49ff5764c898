#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What a program learns of each machine beside its PMU.

Name, caches, RDTSCP, the ratio of the clock (MSR CEH), and the rate of the time stamp counter,
which the kernel measures when instructions are counted.

TEST: 6.1
SOAK: none
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import vm
from ktap import Ktap

DESCRIBE = r'''
sed -n "1,/^$/s/^model name.*: //p" /proc/cpuinfo
awk "/^cpu MHz/ { printf \"%.0f MHz\\n\", \$4; exit }" /proc/cpuinfo
sed -n "1,/^$/s/^flags.* \(rdtscp\) .*/\1/p" /proc/cpuinfo
for c in /sys/devices/system/cpu/cpu0/cache/index*; do
	echo L$(cat $c/level) $(cat $c/type $c/size $c/ways_of_associativity $c/number_of_sets)
done
dd if=/dev/cpu/0/msr bs=8 count=1 iflag=skip_bytes skip=206 2>/dev/null | od -An -tx8 | tr -d " "'''
NEHALEM = ('L1 Data 32K 8 64', 'L1 Instruction 32K 4 128', 'L2 Unified 256K 8 512',
           'L3 Unified 24576K 24 16384', '0000080000001100')
ATOM = 'L1 Data 24K 6 64', 'L1 Instruction 32K 8 64'
# What it is, the machine, and what it prints.
MACHINES = (
    ('xeon7500 is an X7560', ('xeon7500',),
     ('Intel(R) Xeon(R) CPU           X7560  @ 2.27GHz', '2267 MHz', 'rdtscp', *NEHALEM)),
    ('westmereex is an E7-4860', ('westmereex',),
     ('Intel(R) Xeon(R) CPU E7- 4860  @ 2.27GHz', '2267 MHz', 'rdtscp', *NEHALEM)),
    ('goldmont is a J4205', ('goldmont',),
     ('Intel(R) Pentium(R) CPU J4205 @ 1.50GHz', '1500 MHz', 'rdtscp', *ATOM,
      'L2 Unified 1024K 16 1024', '0000080000000f00')),
    ('goldmont with model 5f is a C3338', ('goldmont', '--model', '5f'),
     ('Intel(R) Atom(TM) CPU C3338 @ 1.50GHz', '1500 MHz', 'rdtscp', *ATOM,
      'L2 Unified 1024K 16 1024', '0000080000000f00')),
    ('goldmont with model 7a is a J5005', ('goldmont', '--model', '7a'),
     ('Intel(R) Pentium(R) Silver J5005 CPU @ 1.50GHz', '1500 MHz', 'rdtscp', *ATOM,
      'L2 Unified 4096K 16 4096', '0000080000000f00')),
    ('silvermont is a C2750', ('silvermont',),
     ('Intel(R) Atom(TM) CPU  C2750  @ 2.40GHz', '2400 MHz', 'rdtscp', *ATOM,
      'L2 Unified 1024K 16 1024', '00000c0000001800')),
    ('sandybridge is an i5-2540M', ('sandybridge',),
     ('Intel(R) Core(TM) i5-2540M CPU @ 2.60GHz', '2600 MHz', 'rdtscp', 'L1 Data 32K 8 64',
      'L1 Instruction 32K 8 64', 'L2 Unified 256K 8 512', 'L3 Unified 3072K 12 4096',
      '0000080000001a00')),
    ('sandybridge with model 2d is an E5-2670', ('sandybridge', '--model', '2d'),
     ('Intel(R) Xeon(R) CPU E5-2670 0 @ 2.60GHz', '2600 MHz', 'rdtscp', 'L1 Data 32K 8 64',
      'L1 Instruction 32K 8 64', 'L2 Unified 256K 8 512', 'L3 Unified 20480K 20 16384',
      '00000c0000001a00')),
)

ktap = Ktap()
for what, machine, lines in MACHINES:
    done = vm.boot('--machine', *machine, '--icount', '--cores', '1', '--driver', 'none', '--',
                   'sh', '-c', DESCRIBE)
    ktap.result(what, vm.printed(done, *lines))
sys.exit(ktap.end())
