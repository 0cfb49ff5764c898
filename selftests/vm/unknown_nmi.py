#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""NMIs of others (the dump button, SERR, IOCHK) reach the kernel while the uncore samples.

A module takes them in place of the kernel's complaint. The cases are in
selftests/guest/unknown_nmi/guest.c.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import vm
from ktap import Ktap

ktap = Ktap()
# The core PMU's handler would claim NMIs as long as the NMI watchdog uses it.
vm.guests(ktap, 'unknown_nmi', 'insmod /t/witness.ko && /t/guest', '--icount',
          '--append', 'nmi_watchdog=0')
sys.exit(ktap.end())
