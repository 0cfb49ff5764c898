#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The modules compile without a word for every Debian kernel whose headers can be had.

TEST: none
SOAK: 6.1
"""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import vm
from ktap import Ktap, note

ktap = Ktap()
done = subprocess.run([f'{vm.TOP}/tools/build-matrix'], stdout=subprocess.PIPE,
                      stderr=subprocess.STDOUT, encoding='utf-8', errors='replace', check=False)
note(done.stdout)
ktap.result('every kernel of the window',
            [f'status {done.returncode}'] if done.returncode else [])
sys.exit(ktap.end())
