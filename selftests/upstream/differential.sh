#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Mainline's uncore driver with our changes beside ours: what they mend is no difference any more.
#
# TEST: none
# SOAK: 6.1 6.12 newest
exec "$(dirname "$0")/../vm/differential.py" --patched
