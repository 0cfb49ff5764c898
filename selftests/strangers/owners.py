#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Other owners of the uncore's registers: PCM and LIKWID, unmodified, from Debian.

The cases are in selftests/guest/owners/guest.c.

TEST: 6.1
SOAK: none
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import debian
import vm
from ktap import Ktap

ktap = Ktap()
ktap.result('the packages are unpacked', debian.unpack(
    'pcm', 'likwid', 'libsimdjson14', 'libhwloc15', 'liblua5.3-0', 'lua5.3', 'libudev1',
    'libreadline8', 'libtinfo6', 'libnuma1', 'libstdc++6', 'libgcc-s1'))
vm.guests(ktap, 'owners', debian.ROOT + '/t/guest', '--sockets', '2', '--cores', '2', '--memory', '1536M',
          '--append', 'nmi_watchdog=0', *debian.PUT)
sys.exit(ktap.end())
