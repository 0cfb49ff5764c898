#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What tools/vm/run promises: statuses, clean output, files in and out, verdicts
# about the machine, repeatable runs.
#
# KERNELS: 6.1 6.12
#
# shellcheck disable=SC2016 # what is in single quotes is for the guest's shell
# shellcheck disable=SC2317 # the tests are called by name
set -u
. "$(dirname "$0")/../lib/vm.sh"
. "$(dirname "$0")/../lib/ktap.sh"

complain_61=$(build_complain 6.1)
complain_612=$(build_complain 6.12)
release() { "$TOP/tools/vm/kernel" --cached --image "$1" | sed -n 's/^RELEASE=//p'; }

# Every byte value, at every distance from a page's end.
python3 -c 'import sys
sys.stdout.buffer.write(bytes(i * 7 + (i >> 8) & 255 for i in range(300001)))' >"$DIR/data"
mkdir -p "$DIR/tree/sub"
echo inside >"$DIR/tree/sub/file"
ln -s sub/file "$DIR/tree/link"

boots=()

# Boots take seconds, so each one serves several tests, and two go at a time;
# the third mostly sleeps.
vm late --driver none --timeout 60 -- sh -c 'echo started; sleep 1000' &
late=$!
(
	vm plain --driver none --put "$DIR/data:/t/data" --put "$DIR/tree:/t/tree" \
		--get /root/copy:"$DIR/copy" --stats "$DIR/stats.json" --trace "$DIR/trace" \
		-- sh -c 'echo out; echo err >&2; cp /t/data copy; cat /t/tree/link; uname -r; echo "$0 $1"; exit 42' 'a  b' "c'd"
	vm crash --driver none -- sh -c 'echo before; sleep 0.5; echo c >/proc/sysrq-trigger; sleep 50'
	vm warn_61 --driver none --module "$complain_61=about=warn" -- echo survived
	vm get --driver none --get /nowhere:"$DIR/nowhere" -- true
) &
boots+=($!)
(
	vm raw --driver none --kernel 6.12 --put "$DIR/data:/t/" -- cat /t/data
	vm warn_612 --driver none --kernel 6.12 --module "$complain_612=about=warn" -- echo survived
	vm reboot --driver none --kernel 6.12 -- sh -c 'echo b >/proc/sysrq-trigger; sleep 50'
	vm unloadable --driver none --module "$complain_61=about=tea" -- true
	vm modprobe --driver none --module "$complain_61" -- sh -c \
		'modprobe -r complain && modprobe complain about=nothing && modprobe -a "$(cat /sys/devices/system/cpu/modalias)"; lsmod'
) &
boots+=($!)
repeat=(--driver mainline --icount --sockets 2 -- perf stat -a -x ";"
	-e "uncore_cbox_0/event=0x14,umask=0x7/" -e context-switches sleep 0.1)
wait "${boots[@]}"
vm repeat_1 "${repeat[@]}" &
boots=("$late" $!)
vm repeat_2 "${repeat[@]}"
wait "${boots[@]}"

status_and_output() {
	ended plain 42 && printed plain out inside "$(release 6.1)" "a  b c'd" && printf 'err\n' | cmp - "$DIR/plain.err"
}
ktap "the status, stdout and stderr of the command are passed on, and nothing else" status_and_output

round_trip() { cmp "$DIR/data" "$DIR/copy"; }
ktap "--put and --get keep every byte" round_trip

raw() { ended raw 0 && cmp "$DIR/data" "$DIR/raw.out"; }
ktap "stdout keeps every byte (6.12)" raw

statistics() {
	python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$DIR/stats.json" && [ -s "$DIR/trace" ]
}
ktap "--stats is JSON and --trace has lines" statistics

kernel_log() { grep "Linux version $(release 6.1)" "$DIR/plain.log" && grep 'reboot: Power down' "$DIR/plain.log"; }
ktap "--log has the kernel's first and last words" kernel_log

late() { ended late 124 && printed late started; }
ktap "124 when time is up; what was printed so far is there" late

crash() { ended crash 125 && printed crash before && said crash "Kernel panic"; }
ktap "125 when the kernel panics" crash

warn() { ended "$1" 125 && printed "$1" survived && said "$1" "as it was asked to"; }
ktap "125 when the kernel warns, though the command ends well (6.1)" warn warn_61
ktap "125 when the kernel warns, though the command ends well (6.12)" warn warn_612

reboot() { ended reboot 125; }
ktap "125 when the machine goes away" reboot

unloadable() { ended unloadable 125 && said unloadable "cannot load complain.ko: Invalid argument"; }
ktap "125 when a module cannot be loaded" unloadable

missing_file() { ended get 1 && said get "No such file" && [ ! -e "$DIR/nowhere" ]; }
ktap "a file that cannot be got is an error" missing_file

modprobe() {
	ended modprobe 0 && grep '^complain ' "$DIR/modprobe.out" && grep '^intel_uncore ' "$DIR/modprobe.out"
}
ktap "modprobe works in the guest, by name and by the CPU's modalias" modprobe

repeatable() {
	ended repeat_1 0 && ended repeat_2 0 && cmp "$DIR/repeat_1.err" "$DIR/repeat_2.err" &&
		cmp "$DIR/repeat_1.log" "$DIR/repeat_2.log" &&
		grep -E '^[1-9][0-9]*;;uncore_cbox_0/' "$DIR/repeat_1.err"
}
ktap "two --icount runs print the same counts and the same kernel log" repeatable

# The caller gives up: nothing may be left behind.
interrupted() {
	local pid status=0 qemu
	"$TOP/tools/vm/run" --driver none -- sleep 50 >"$DIR/int.out" 2>"$DIR/int.err" &
	pid=$!
	until qemu=$(pgrep -P "$pid" -x qemu) || ! kill -0 "$pid"; do sleep 0.1; done
	kill "$pid"
	wait "$pid" || status=$?
	echo "status $status, QEMU ${qemu:-did not start}"
	[ "$status" = 143 ] && [ -n "$qemu" ] && [ ! -e "/proc/$qemu" ]
}
ktap "a signal ends the machine too" interrupted

usage_errors() {
	local args
	for args in "--machine vax -- true" "--cores 0 -- true" "--put /none:/x -- true" "--get x -- true" "--frobnicate" ""; do
		# shellcheck disable=SC2086 # a list
		"$TOP/tools/vm/run" $args >"$DIR/usage" 2>&1 && { echo "accepted: $args"; return 1; }
		[ -s "$DIR/usage" ] || { echo "no reason: $args"; return 1; }
	done
}
ktap "bad arguments are refused with a reason" usage_errors

ktap_end
