#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The faults of mainline's uncore driver: each is there without our changes, and gone with its
own alone and with all of them. What is loaded is built of Debian's source.

TEST: none
SOAK: 6.1 6.12 newest
"""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import vm
from ktap import Ktap, note

FAULTS = re.findall('^nhmex_.*', vm.read(f'{vm.TOP}/Documentation/upstream/series'), re.M)
# Of which only the other machine has what it takes.
WESTMERE = ['nhmex_fvc']
# What is seen without the change: how a count differs, and what it is where that is known. A
# package that is off counts nothing.
SEEN = {'nhmex_fixed_ctr_bits': r'\(-281474976710656\)$',
        'nhmex_wbox': r'\(\+281474959933440\)$',
        'nhmex_occupancy': ', undefined [1-9][0-9]* times$',
        'nhmex_en_all': ' 0, expected 0 ',
        'nhmex_wrap': ' 5, expected [1-9]',
        'nhmex_addr_mask': ' 10, expected 7 ',
        'nhmex_fvc': ' 4, expected 0 '}
# A compiler that checks shifts makes another number of it.
SEEN_NEWEST = {**SEEN, 'nhmex_fixed_ctr_bits': ' 0, expected .*, UBSAN$'}
PROGRAM = vm.build('upstream', 'uncore.c')
SHIFT = 'UBSAN: shift-out-of-bounds in .*uncore'

# Prints "@ CHANGES FAULT STATUS what was seen". A shift by too much is in the kernel log.
GUEST = r'''
while read -r changes fault; do
	/t/uncore reset && insmod /t/$changes.ko || exit
	dmesg -c >/dev/null
	said=$(/t/uncore $fault)
	status=$?
	if dmesg | grep -q UBSAN; then said="$said, UBSAN"; status=1; fi
	echo "@ $changes $fault $status $said"
	rmmod intel_uncore || exit
done </t/list'''


def module(kernel, changes):
    """The file of the driver with these changes."""
    return vm.path(f'{kernel}-{changes}.ko')


def built(kernel):
    """Builds all."""
    for changes in 'none', 'all', *FAULTS:
        vm.shell('cp "$("$TOP/tools/upstream" module "${@:2}")" "$1"', module(kernel, changes), kernel,
                 *([] if changes == 'none' else [changes]))
    yield from ()


def look(kernel, machine, rows, *options):
    """Boots and looks for (changes, fault)."""
    put = [f'{PROGRAM}:/t/uncore',
           vm.file('list', ''.join(f'{changes} {fault}\n' for changes, fault in rows)) + ':/t/list',
           *{f'{module(kernel, changes)}:/t/{changes}.ko' for changes, _ in rows}]
    return vm.boot('--kernel', kernel, '--machine', machine, '--cores', '2', '--driver', 'none',
                   *vm.put(*put), *options, '--', 'sh', '-c', GUEST)


def judged(done, changes, fault, status, said=''):
    """What is wrong with what was seen of a fault."""
    found = re.findall(f'^@ {changes} {fault} .*', done.stdout, re.M)
    note('\n'.join(found))
    if [line.split(' ')[3] for line in found] != [status] or not re.search(said, found[0]):
        yield f'wanted one line with the status {status} and "{said}" for {changes} {fault}'


def complained(kernel, machine, done, log):
    """Without the changes the newest kernel complains of that shift and of nothing else, and the
    others of nothing."""
    if (kernel, machine) != ('newest', 'xeon7500'):
        yield from vm.ended(done)
        return
    yield from vm.ended(done, 125)
    said = subprocess.run([f'{vm.TOP}/tools/vm/trouble', log], stdout=subprocess.PIPE,
                          encoding='utf-8', errors='replace', check=True).stdout
    yield from vm.missing(said, SHIFT)
    yield from (line for line in said.splitlines() if not re.search(f'cut here|{SHIFT}', line))


def main():
    """On each kernel, the faults that each machine shows."""
    ktap = Ktap()
    log = vm.path('log')
    for kernel in vm.kernels():
        seen = SEEN_NEWEST if kernel == 'newest' else SEEN
        ktap.result(f'{kernel}: mainline is built without changes, with each and with all',
                    built(kernel))
        for machine in 'xeon7500', 'westmereex':
            faults = [f for f in FAULTS if (f in WESTMERE) == (machine == 'westmereex')]
            without = look(kernel, machine, [(c, f) for f in faults for c in ('none', f)],
                           '--log', log)
            changed = look(kernel, machine, [('all', f) for f in faults])
            for fault in faults:
                ktap.result(f'{kernel}: {fault}: seen without',
                            judged(without, 'none', fault, '1', seen[fault]))
                ktap.result(f'{kernel}: {fault}: gone with it alone',
                            judged(without, fault, fault, '0'))
                # With all, the counter of the W-Box starts at 2, so it does not wrap: only UBSAN
                # would tell.
                if fault != 'nhmex_fixed_ctr_bits' or kernel == 'newest':
                    ktap.result(f'{kernel}: {fault}: gone with all', judged(changed, 'all', fault, '0'))
            ktap.result(f'{kernel} {machine}: no complaint but that of fixed_ctr_bits',
                        complained(kernel, machine, without, log))
            ktap.result(f'{kernel} {machine}: no complaint with all', vm.ended(changed))
    return ktap.end()


sys.exit(main())
