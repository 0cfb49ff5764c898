#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Nothing runs when the system sleeps or restarts: a module looks when the driver has been told.

The cases are in selftests/guest/suspend/guest.c.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import vm
from ktap import Ktap

ktap = Ktap()
vm.guests(ktap, 'suspend',
          'modprobe -r xeon7500_uncore && insmod /t/witness.ko && modprobe xeon7500_uncore && '
          '/t/guest',
          '--sockets', '2', '--cores', '2')
sys.exit(ktap.end())
