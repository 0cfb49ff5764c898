#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What tools/vm/run promises: statuses, clean output, files in and out, what the guest has,
# verdicts about the machine, repeatable runs.
#
# Boots take seconds, so each one serves several tests. Where one kernel is enough they take
# turns.
#
# TEST: 6.1 newest
# SOAK: 6.1 newest
#
# shellcheck disable=SC2016 # what is in single quotes is for the guest's shell
# shellcheck disable=SC2317 # the tests are called by name
set -u
. "$(dirname "$0")/../lib/vm.sh"

one=${KERNELS[0]} other=${KERNELS[-1]}
release() { "$TOP/tools/vm/kernel" --cached --image "$1" | sed -n 's/^RELEASE=//p'; }
# complain KERNEL: the module that makes this kernel complain.
complain() { echo "$TOP/build/selftests/complain-$1/complain.ko"; }
for k in "${KERNELS[@]}"; do
	build_modules complain "$k" >/dev/null || { ktap "the module for $k is built" false; ktap_end; }
done

# Every byte value, at every distance from a page's end.
python3 -c 'import sys
sys.stdout.buffer.write(bytes(i * 7 + (i >> 8) & 255 for i in range(300001)))' >"$DIR/data"
mkdir -p "$DIR/tree/sub"
echo inside >"$DIR/tree/sub/file"
ln -s sub/file "$DIR/tree/link"
: >"$DIR/tree/empty"
cat >"$DIR/tree/facts" <<'END'
#!/bin/sh
echo "user $(id -u), in $(pwd), stdin $(readlink /proc/self/fd/0)"
cd /proc/sys/kernel
echo "paranoid $(cat perf_event_paranoid), kptr $(cat kptr_restrict), watchdog $(cat nmi_watchdog)"
for fs in proc sysfs devtmpfs devpts debugfs tracefs cgroup2; do
	echo "$fs $(cut -d' ' -f3 /proc/mounts | grep -cx "$fs")"
done
echo "modules $(cut -d' ' -f1 /proc/modules | tr '\n' ' ')"
echo "allow_writes $(cat /sys/module/msr/parameters/allow_writes)"
sed 's/ tsc=reliable tsc_early_khz=[1-9][0-9]*//; s/ pti=off//' /proc/cmdline
cd /sys/devices/system/cpu
echo "CPUs $(cat online): packages $(cat cpu?/topology/physical_package_id | tr '\n' ' ')"
grep -m 1 '^model	' /proc/cpuinfo
awk '/^MemTotal/ { print ($2 > 400000 && $2 < 614400) ? "memory as told" : $0 }' /proc/meminfo
END
chmod +x "$DIR/tree/facts"

# A program of the user's that breaks a rule of the CPU is no fault of the kernel's, though
# the kernel tells of it in similar words.
echo 'int main(void) { __asm__("hlt"); }' | gcc -static -x c -o "$DIR/tree/trap" -

# Until the boot gets far enough to print something, even where the machine is busy.
late() {
	local seconds
	for seconds in 10 60 300; do
		vm late --driver none --cores 1 --kernel "$one" --timeout "$seconds" -- \
			sh -c 'echo started; exec sleep 100000'
		[ ! -s "$DIR/late.out" ] && [ "$(cat "$DIR/late.status")" = 124 ] || break
	done
	ended late 124 && printed late started && said late "$DIR/late.log"
}
# It mostly sleeps, so it goes on beside the others.
late >"$DIR/late.said" 2>&1 &
late=$!

vm plain --driver none --kernel "$one" --sockets 2 --cores 1 --memory 600M --append "one=1 two=2" \
	--put "$DIR/data:/t/data" --put "$DIR/tree:/t/" --get /root/copy:"$DIR/copy" \
	--get /root/facts:"$DIR/facts" --get /t/tree/empty:"$DIR/nothing" \
	--stats "$DIR/stats.json" --trace "$DIR/trace" -- sh -c \
	'echo out; echo err >&2; cp /t/data copy; chmod 640 copy; cat /t/tree/link; uname -r
	 echo "$0 $1"; /t/tree/facts >facts; sh -c "/t/tree/trap; :" 2>/dev/null; exit 42' 'a  b' "c'd"

status_and_output() {
	ended plain 42 && printed plain out inside "$(release "$one")" "a  b c'd" &&
		printf 'err\n' | cmp - "$DIR/plain.err"
}
ktap "the status, stdout and stderr of the command are passed on, and nothing else" status_and_output

round_trip() {
	cmp "$DIR/data" "$DIR/copy" && [ "$(stat -c %a "$DIR/copy")" = 640 ] &&
		[ -f "$DIR/nothing" ] && [ ! -s "$DIR/nothing" ]
}
ktap "--put and --get keep every byte and the mode" round_trip

facts() {
	diff - "$DIR/facts" <<-'END'
	user 0, in /root, stdin /dev/null
	paranoid -1, kptr 0, watchdog 1
	proc 1
	sysfs 1
	devtmpfs 1
	devpts 1
	debugfs 1
	tracefs 1
	cgroup2 1
	modules msr 
	allow_writes on
	console=ttyS0 quiet no_timer_check nokaslr panic=-1 oops=panic cryptomgr.notests one=1 two=2
	CPUs 0-1: packages 0 1 
	model		: 46
	memory as told
	END
}
ktap "the guest is as it is described, and as it was asked for" facts

statistics() {
	python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$DIR/stats.json" && [ -s "$DIR/trace" ]
}
ktap "--stats is JSON and --trace has lines" statistics

user_fault() { ended plain 42 && grep 'traps: trap\[.*general protection' "$DIR/plain.log"; }
ktap "a fault of a user's program is none of the kernel's" user_fault

kernel_log() { grep "Linux version $(release "$one")" "$DIR/plain.log" && grep 'reboot: Power down' "$DIR/plain.log"; }
ktap "--log has the kernel's first and last words" kernel_log

vm readings --driver none --kernel "$one" --cores 1 --reading summary_clear=or \
	--reading freeze_latency=1000,cond=never --put "$TOP/build/selftests/uncore/silicon:/t/" -- \
	sh -c '/t/silicon readings; /t/silicon reading cond=overflow; /t/silicon readings; /t/silicon reset; /t/silicon readings'

readings() {
	local first="summary_clear=or freeze_latency=1000"
	# shellcheck disable=SC2086 # words
	ended readings 0 && printed readings $first cond=never $first cond=overflow $first cond=never
}
ktap "--reading makes the silicon one that fits, and a reset brings it back" readings

vm raw --driver none --kernel "$other" --put "$DIR/data:/t/" --module "$(complain "$other")" \
	--get /nowhere:"$DIR/nowhere" -- sh -c 'cat /t/data
	{ modprobe -r complain && modprobe complain about=nothing && modprobe -a "$(cat /sys/devices/system/cpu/modalias)"; lsmod; } >&2'

raw() { cmp "$DIR/data" "$DIR/raw.out"; }
ktap "stdout keeps every byte" raw

missing_file() { ended raw 1 && said raw "No such file" && [ ! -e "$DIR/nowhere" ]; }
ktap "1 when a file cannot be got though the command ended well" missing_file

modprobe() { grep '^complain ' "$DIR/raw.err" && grep '^intel_uncore ' "$DIR/raw.err"; }
ktap "modprobe works in the guest, by name and by the CPU's modalias" modprobe

vm crash --driver none --cores 1 --kernel "$other" -- \
	sh -c 'echo before; sleep 0.5; echo c >/proc/sysrq-trigger; exec sleep 100000'
crash() { ended crash 125 && printed crash before && said crash "Kernel panic" && said crash "$DIR/crash.log"; }
ktap "125 when the kernel panics" crash

warn() {
	vm warn --driver none --cores 1 --kernel "$1" --module "$(complain "$1")=about=warn" -- echo survived
	ended warn 125 && printed warn survived && said warn "as it was asked to"
}
for k in "${KERNELS[@]}"; do
	ktap "125 when the kernel warns, though the command ends well ($k)" warn "$k"
done

reboot() {
	vm reboot --driver none --cores 1 --kernel "$one" -- \
		sh -c 'echo b >/proc/sysrq-trigger; exec sleep 100000'
	ended reboot 125
}
ktap "125 when the machine goes away" reboot

unloadable() {
	vm unloadable --driver none --cores 1 --kernel "$other" --module "$(complain "$other")=about=tea" -- true
	ended unloadable 125 && said unloadable "cannot load complain.ko: Invalid argument"
}
ktap "125 when a module cannot be loaded" unloadable

no_command() {
	vm none --driver none --cores 1 --kernel "$one" -- /no/such/command
	ended none 127 && said none /no/such/command
}
ktap "127 when there is no such command" no_command

# The signal that ends the command comes only if perf ended well.
repeat=(--driver mainline --icount --kernel "$one" --sockets 2 --cores 1 -- sh -c
	'perf stat -a -x ";" -e uncore_cbox/event=0x14,umask=0x7/ -e context-switches sleep 0.1 && kill -9 $$')
vm repeat_1 --trace "$DIR/trace_1" "${repeat[@]}"
vm repeat_2 --trace "$DIR/trace_2" "${repeat[@]}"
repeatable() {
	ended repeat_1 137 && ended repeat_2 137 && cmp "$DIR/repeat_1.err" "$DIR/repeat_2.err" &&
		cmp "$DIR/repeat_1.log" "$DIR/repeat_2.log" && cmp "$DIR/trace_1" "$DIR/trace_2" &&
		grep -E '^[1-9][0-9]*;;uncore_cbox/' "$DIR/repeat_1.err"
}
ktap "two --icount runs have the same counts, kernel log and trace; 128 + n by signal n" repeatable

# A command may end at any moment of relay's. Of so few as make test has time for, none would be lost.
if [ -n "${SOAK:-}" ]; then
	vm words --driver none --icount --sockets 1 --cores 2 --kernel "$one" -- sh -c \
		'set -- $(tr "\0" " " </proc/$PPID/cmdline)
		 for i in $(seq 20000); do relay $2 $3 echo "$i"; done'
	last_words() { ended words 0 && seq 20000 | diff - "$DIR/words.out"; }
	ktap "the last words of each of 20,000 commands come through" last_words
fi

# The caller gives up while the command runs: nothing may be left behind. What is printed
# can be read before the end.
interrupted() {
	local pid status=0 qemu
	"$TOP/tools/vm/run" --driver none --cores 1 --kernel "$other" --timeout 900 -- \
		sh -c 'echo started; exec sleep 100000' >"$DIR/int.out" 2>"$DIR/int.err" </dev/null &
	pid=$!
	until [ -s "$DIR/int.out" ] || ! kill -0 "$pid"; do sleep 0.1; done
	qemu=$(pgrep -P "$pid" -x qemu)
	kill "$pid"
	wait "$pid" || status=$?
	echo "status $status, QEMU ${qemu:-did not start}"
	[ "$status" = 143 ] && [ -n "$qemu" ] && [ ! -e "/proc/$qemu" ]
}
ktap "a signal ends the machine too, and output comes as it is printed" interrupted

# script(1) is the terminal.
interactive() {
	local pid status=0
	mkfifo "$DIR/keys"
	script -qefc "$TOP/tools/vm/run --interactive --driver none --cores 1 --kernel $other --timeout 900 -- \
		sh -c 'echo \"size \$(stty size)\"; read -r line; echo \"<\$line>\"; exit 5'" /dev/null \
		<"$DIR/keys" >"$DIR/screen" 2>&1 &
	pid=$!
	exec 3>"$DIR/keys"
	until grep -q '^size' "$DIR/screen" || ! kill -0 "$pid"; do sleep 0.1; done
	echo hello >&3
	wait "$pid" || status=$?
	exec 3>&-
	cat -v "$DIR/screen"
	[ "$status" = 5 ] && grep -q '^size 24 80' "$DIR/screen" && grep -q '^<hello>' "$DIR/screen"
}
ktap "--interactive is a terminal, and the status comes through" interactive

wait "$late"
late_ended() { cat "$DIR/late.said"; return "$1"; }
ktap "124 when time is up; what was printed so far is there" late_ended $?

usage_errors() {
	local args
	for args in "--machine vax -- true" "--cores 0 -- true" "--put /none:/x -- true" "--get x -- true" "--frobnicate" "" \
		"--reading nope=1 -- true" "--reading m_fvid=any_1 -- true" "--reading cbox_sides=by_eight -- true"; do
		# shellcheck disable=SC2086 # a list
		"$TOP/tools/vm/run" $args >"$DIR/usage" 2>&1
		[ $? = 2 ] || { echo "accepted: $args"; return 1; }
		[ -s "$DIR/usage" ] || { echo "no reason: $args"; return 1; }
	done
}
ktap "bad arguments are refused with a reason" usage_errors

ktap_end
