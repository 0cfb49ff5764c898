#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Mainline's uncore driver with our changes beside ours: what they mend is no difference any more.

TEST: none
SOAK: 6.1 6.12 newest
"""
import os
import sys

sys.argv.append('--patched')
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'vm'))
import differential

sys.exit(differential.main())
