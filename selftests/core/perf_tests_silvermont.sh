#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# perf's own tests on Silvermont.
#
# VM: --machine silvermont --cores 1 --icount
# PUT: core/perf_tests.sh
# KERNELS: 6.1 6.12 newest
# TIER: soak
. "$(dirname "$0")/perf_tests.sh"
