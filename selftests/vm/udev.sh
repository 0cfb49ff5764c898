#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The installed udev rule: on a Xeon 7500 and E7 xeon7500_uncore is loaded in place of intel_uncore,
# and on another CPU everything is as without the rule, modprobe.d included.
#
# TEST: 6.1
# SOAK: none
#
# shellcheck disable=SC2016,SC2317 # for the guest's shell; called by name
set -uo pipefail
. "$(dirname "$0")/../lib/vm.sh"
. "$(dirname "$0")/../lib/debian.sh"

udev='mkdir -p /run/udev /etc/udev /etc/modprobe.d
echo "$asked" >/etc/modprobe.d/asked.conf
/lib/systemd/systemd-udevd --daemon
trigger() { udevadm trigger --action="${1:-add}" --subsystem-match=cpu && udevadm settle; }
loaded() { for m in xeon7500_uncore intel_uncore; do grep "^$m " /proc/modules; done | cut -d" " -f1; }
'

# loads MACHINE STATUS LINE COMMANDS MODULE...: with that line in modprobe.d these are loaded in the
# end, and of xeon7500_uncore there is no word if it is not one of them.
loads() {
	local machine=$1
	vm "$machine" --machine "$machine" --driver none "${PUT_ROOT[@]}" \
		--put "$TOP/tools/xeon7500-uncore.rules:/lib/udev/rules.d/70-xeon7500-uncore.rules" \
		-- sh -c "asked='$3'; $DEBIAN_ROOT $udev trigger; loaded; $4 echo end"
	ended "$machine" "$2" && printed "$machine" "${@:5}" end &&
		{ [[ " $* " = *" xeon7500_uncore "* ]] || ! grep xeon7500_uncore "$DIR/$machine.log"; }
}
# Somebody has unloaded it, and a CPU goes and comes.
unloaded='rmmod xeon7500_uncore
for o in 0 1; do echo $o >/sys/devices/system/cpu/cpu1/online; udevadm settle; done
trigger change; loaded;'

ktap "the packages are unpacked" unpack udev libudev1 libkmod2 libblkid1 libcap2 libselinux1 libacl1 \
	libpcre2-8-0 libssl3 liblzma5 libzstd1
ktap "Xeon 7500" loads xeon7500 0 "" "" xeon7500_uncore
ktap "Xeon 7500, once unloaded it stays away" loads xeon7500 0 "" "$unloaded" xeon7500_uncore
# As install.md tells.
ktap "Xeon 7500, and modprobe.d asks for intel_uncore" \
	loads xeon7500 0 "blacklist xeon7500_uncore" "" intel_uncore
ktap "Xeon E7" loads westmereex 0 "" "" xeon7500_uncore
# The silicon has no uncore there, and the kernel complains of what intel_uncore writes.
ktap "another CPU" loads sandybridge 125 "" "" intel_uncore
ktap "another CPU, and modprobe.d keeps intel_uncore away" \
	loads sandybridge 0 "install intel_uncore /bin/false" ""
ktap_end
