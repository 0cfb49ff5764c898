#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The modules compile without a word for every Debian kernel whose headers can be had.

TEST: none
SOAK: 6.1
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import vm
from ktap import Ktap

ktap = Ktap()
ktap.result('every kernel of the window', vm.works('"$TOP/tools/build-matrix"'))
sys.exit(ktap.end())
