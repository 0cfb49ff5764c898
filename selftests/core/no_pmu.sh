#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# In a virtual machine the CPU can be without a PMU. The alias loads the module there, which has
# nothing to do and is no error.
#
# VM: --machine goldmont --driver none --append clearcpuid=arch_perfmon
# TEST: 6.1
. "$(dirname "$0")/ktap.sh"

no_device() { modprobe intel_core_ext 2>&1 | grep "No such device"; }
# Each module that is not the kernel's own taints it.
log() { dmesg -r | grep "intel_core_ext: " | grep -v "taints kernel\|tainting kernel"; }
# The modprobe of busybox tries twice.
info() { log && [ "$(log | sed "s/\[.*\]//" | sort -u)" = "<6> intel_core_ext: no core PMU to extend" ]; }

ktap "it does not load" no_device
ktap "an info says why" info
ktap_end
