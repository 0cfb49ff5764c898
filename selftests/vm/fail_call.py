#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""No event opens before the uncore driver is loaded.

While it is loaded, a kprobe makes its calls of kernel functions fail in turn: in soak each call,
otherwise the first one of each function. The cases are in selftests/guest/fail_call/guest.c.

TEST: 6.1
SOAK: 6.1 6.12
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import vm
from ktap import Ktap

ktap = Ktap()
vm.guests(ktap, 'fail_call', f'SOAK={"1" if vm.SOAK else ""} /t/guest')
sys.exit(ktap.end())
