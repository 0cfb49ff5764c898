#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# No core of a Sandy Bridge has more than two threads. A module that has to keep PDIR alone on one
# that does is not loaded, and leaves nothing.
#
# VM: --machine sandybridge --cores 1 --threads 4 --driver none
# TEST: 6.1
. "$(dirname "$0")/ktap.sh"

cpu=/sys/bus/event_source/devices/cpu

refused() {
	modprobe intel_core_ext enforce=1 && return 1
	dmesg | grep "intel_core_ext: enforce does not know cores of more than two threads"
}
nothing_left() {
	! grep "^intel_core_ext " /proc/modules && [ ! -e $cpu/intel_core_ext ] &&
		[ ! -e $cpu/format/ocr_rsp ] && ! find $cpu/events -name "offcore*" | grep .
}
without() {
	modprobe intel_core_ext && grep config1:16-37 $cpu/format/ocr_rsp && rmmod intel_core_ext
}

ktap "enforce=1 does not load" refused
ktap "nothing is left of it" nothing_left
ktap "without enforce it loads" without
ktap_end
