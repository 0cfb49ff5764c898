#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# intel_core_ext beside another module that extends the core PMU. In the guest.
. "$(dirname "$0")/ktap.sh"

cpu=/sys/bus/event_source/devices/cpu
export PERF_CPUID=GenuineIntel-6-FF-0
here=$(dirname "$0")

loaded() { grep -q "^$1 " /proc/modules; }
counts() { perf stat -x, -e "$1" true 2>&1 | grep -q '^[0-9]'; }
# Refused under enforce: no response.
refused() { ! counts cpu/event=0xb7,umask=0x1,config1=0x1/; }
rest() {
	echo N 2>/dev/null >/sys/module/neighbour/parameters/late
	rmmod neighbour 2>/dev/null
	rmmod intel_core_ext 2>/dev/null
	! loaded neighbour && ! loaded intel_core_ext
}

below() {
	rest && insmod "$here/neighbour.ko" hook=1 && modprobe intel_core_ext enforce=1 || return 1
	refused && counts instructions || return 1
	[ "$(cat /sys/module/neighbour/parameters/calls)" -gt 0 ] || return 1
	rmmod intel_core_ext && ! refused && rmmod neighbour && counts instructions
}

# Unloading waits for a hook on top.
on_top() {
	rest && modprobe intel_core_ext enforce=1 && insmod "$here/neighbour.ko" "$1" || return 1
	[ "$1" = hook=1 ] || echo Y >/sys/module/neighbour/parameters/late
	refused || { echo "not enforced through both"; return 1; }
	rmmod intel_core_ext &
	sleep 1
	loaded intel_core_ext || { echo "went while the other called it"; return 1; }
	counts instructions && [ "$(cat /sys/module/neighbour/parameters/calls)" -gt 0 ] || return 1
	rmmod neighbour || return 1
	wait
	! loaded intel_core_ext && counts instructions && ! refused
}

# Unloading waits for a call of what it has hooked.
inside() {
	rest && insmod "$here/neighbour.ko" hook=1 && modprobe intel_core_ext enforce=1 || return 1
	calls=$(cat /sys/module/neighbour/parameters/calls)
	echo 5000 >/sys/module/neighbour/parameters/sleep
	counts instructions &
	while [ "$(cat /sys/module/neighbour/parameters/calls)" = "$calls" ]; do sleep 1; done
	echo 0 >/sys/module/neighbour/parameters/sleep
	rmmod intel_core_ext &
	sleep 1
	loaded intel_core_ext || { echo "went while a call was in it"; wait; return 1; }
	wait
	! loaded intel_core_ext && counts instructions && rmmod neighbour
}

# Names alone hook nothing: unloading waits for no one.
unhooked() {
	rest && modprobe intel_core_ext && insmod "$here/neighbour.ko" hook=1 || return 1
	rmmod intel_core_ext &
	n=0
	while loaded intel_core_ext && [ $n -lt 10 ]; do
		sleep 1
		n=$((n + 1))
	done
	rmmod neighbour
	wait
	[ $n -lt 10 ]
}

names() {
	rest && insmod "$here/neighbour.ko" names=1 && modprobe intel_core_ext || return 1
	grep config1:8-15 $cpu/format/ocr_req && grep umask=0x01 $cpu/events/mem-loads || return 1
	grep config1:16-37 $cpu/format/ocr_rsp && counts mem-stores || return 1
	! grep -l ocr_req $cpu/events/* || return 1
	rmmod intel_core_ext && [ ! -e $cpu/format/ocr_rsp ] && [ ! -e $cpu/events/mem-stores ] &&
		grep config1:8-15 $cpu/format/ocr_req && rmmod neighbour
}

twin() {
	rest && modprobe intel_core_ext || return 1
	insmod "$here/twin.ko" && { echo "both are loaded"; return 1; }
	dmesg | grep 'intel_core_ext: these extensions are loaded already' || return 1
	[ -e $cpu/format/ocr_rsp ] && counts mem-stores || return 1
	rmmod intel_core_ext && insmod "$here/twin.ko" && rmmod intel_core_two
}

# It leaves no name, no hook, no handler of NMIs. modprobe tries twice.
fails() {
	for call in sysfs_create_group:1 sysfs_merge_group:1 sysfs_merge_group:2 __register_nmi_handler:1 \
		perf_event_create_kernel_counter:2; do
		rest && insmod "$here/fail_call.ko" out_of=intel_core_ext "function=${call%:*}" "nth=-${call#*:}" \
			error=-12 || return 1
		modprobe intel_core_ext enforce=1 data_src=1 ds_guard=1 && { echo "$call: it loads"; return 1; }
		[ "$(cat /sys/module/fail_call/parameters/calls)" -ge "${call#*:}" ] && rmmod fail_call || return 1
		[ ! -e $cpu/format/ocr_rsp ] && [ ! -e $cpu/events/mem-stores ] && ! refused || return 1
		perf record -c 100000 -e cycles -o /tmp/cycles true 2>/tmp/err || { cat /tmp/err; return 1; }
		modprobe intel_core_ext enforce=1 data_src=1 ds_guard=1 && refused || return 1
	done
}

# Where a call must go, not behind the ENDBR of a function
entry() {
	rest && insmod "$here/neighbour.ko" || return 1
	found=$(printf %016x "$(cat /sys/module/neighbour/parameters/resched)")
	grep " perf_pmu_resched$" /proc/kallsyms
	echo "found $found"
	grep -q "^$found T perf_pmu_resched$" /proc/kallsyms && rmmod neighbour
}

quiet() { ! dmesg | grep -e 'Call Trace' -e 'BUG:' -e 'sysfs: cannot'; }

ktap "another hook below" below
ktap "unloading waits for a hook on top" on_top hook=1
ktap "unloading waits for a late hook on top" on_top late=0
ktap "unloading waits for a call" inside
ktap "names alone hook nothing" unhooked
ktap "names that are there already" names
ktap "the same module under another name" twin
ktap "a load in which a call fails leaves nothing" fails
ktap "the entry of a function that is not exported" entry
ktap "no complaint of the kernel" quiet
ktap_end
