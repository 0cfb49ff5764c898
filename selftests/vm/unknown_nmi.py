#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""NMIs of others (the dump button, SERR, IOCHK) reach the kernel while the uncore samples.

A module takes them in place of the kernel's complaint. The cases are in
selftests/guest/unknown_nmi/guest.c. With the NMI watchdog the handler of the core PMU takes part.

TEST: 6.1
SOAK: 6.1 6.12 newest
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import vm
from ktap import Ktap

ktap = Ktap()
COMMAND = 'insmod /t/witness.ko && /t/guest'
vm.guests(ktap, 'unknown_nmi', COMMAND, '--icount', '--append', 'nmi_watchdog=0')
vm.guests(ktap, 'unknown_nmi', COMMAND, '--icount', '--append', 'nmi_watchdog=1',
          where=', NMI watchdog')
sys.exit(ktap.end())
