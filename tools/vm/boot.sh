# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Boot a kernel on the virtual silicon, run one command in it and end with its status. See
# Documentation/vm.md. What is booted is for who sources this to say: tools/vm/run makes it,
# the run of an archive of tools/silicon/dist has it. Before, they define
#
#	SELF			what the user has called
#	own_usage		print the lines of their own options
#	own_option NAME VALUE	take one of these; the status says whether it is one
#	pieces			when the options are known, set
#
#	QEMU FIRMWARE		its command, and the directories of its firmware
#	BASE MODULES		archives: the userland, and the modules of the kernel and the user
#	BOOT RELEASE		the kernel and its name
#
# and in driver which driver is wanted, if it is not "none".
#
# shellcheck disable=SC2154 # driver

usage() {
	printf 'usage: %s [OPTION...] -- COMMAND...\n       %s [OPTION...] --interactive\n\n' "$SELF" "$SELF"
	cat <<-'END'
	  --machine xeon7500|westmereex|goldmont|silvermont|sandybridge   (xeon7500)
	  --model HEX             CPU model, such as 5f or 7a on goldmont, 37 on silvermont or 2d on sandybridge
	END
	own_usage
	cat <<-'END'
	  --sockets N --cores N --threads N         (1, 2 per socket, 1 per core)
	  --module FILE.ko[=PARAMETERS]             may be repeated
	  --put HOST:GUEST        copy a file or directory in, before
	  --get GUEST:HOST        copy a file out, after
	  --stats FILE            what the silicon counted, as JSON
	  --trace FILE            every MSR access of the modelled ranges
	  --traffic FILE          what the silicon's event sources do
	  --reading NAME=ANSWER,...|@REPORT.json    what no manual settles (tools/readings)
	  --hypervisor            the CPU says that it is virtual
	  --icount                one instruction per nanosecond, runs are repeatable
	  --one-thread            one thread of the host runs all CPUs
	  --append STRING         to the kernel's command line
	  --timeout SECONDS       (120; 0 for none; debug kernels get five times as much)
	  --log FILE              keep the kernel log
	  --memory SIZE           (768M, debug kernels 1536M)
	  --interactive           a shell on this terminal

	Exits with the status of COMMAND; 124 when time is up, 125 when the machine failed.
	END
}

bad() { printf 'run: %s\n' "$*" >&2; exit 2; }

machine=xeon7500 model="" sockets=1 cores=2 threads=1
icount="" thread=multi append="" timeout="" memory="" interactive="" hypervisor=- modules=() puts=() gets=() log_file=""
reading=() insmod="" # modules with parameters, in this order
unset SILICON_STATS SILICON_TRACE SILICON_READING
while [ $# -gt 0 ]; do
	case $1 in
	--) shift; break ;;
	--icount) icount=1; shift; continue ;;
	--one-thread) thread=single; shift; continue ;;
	--hypervisor) hypervisor=+; shift; continue ;;
	--interactive) interactive=1; shift; continue ;;
	-h | --help) usage; exit ;;
	-*) [ $# -ge 2 ] || bad "$1 wants a value" ;;
	*) usage >&2; exit 2 ;;
	esac
	case $1 in
	--machine) machine=$2 ;;
	--model) model=$2 ;;
	--sockets) sockets=$2 ;;
	--cores) cores=$2 ;;
	--threads) threads=$2 ;;
	--module) modules+=("$2") ;;
	--put) [ -e "${2%:*}" ] || bad "--put: there is no ${2%:*}"; puts+=("$2") ;;
	--get) case $2 in *:?*) ;; *) bad "--get wants GUEST:HOST" ;; esac; gets+=("$2") ;;
	--stats) SILICON_STATS=$(realpath -m "$2"); export SILICON_STATS ;;
	--trace) SILICON_TRACE=$(realpath -m "$2"); export SILICON_TRACE ;;
	--traffic) SILICON_TRAFFIC=$(realpath -e "$2") || bad "there is no $2"; export SILICON_TRAFFIC ;;
	--reading) reading+=("$2") ;;
	--append) append+=" $2" ;;
	--timeout) timeout=$2 ;;
	--log) log_file=$2 ;;
	--memory) memory=$2 ;;
	*) own_option "$1" "$2" || bad "unknown option $1 (--help lists them)" ;;
	esac
	shift 2
done
[ -n "$interactive" ] || [ $# -gt 0 ] || bad "no command (--help tells how)"
[ -z "$interactive" ] || [ -t 0 ] || bad "--interactive wants a terminal"
for n in "$sockets" "$cores" "$threads"; do
	case $n in '' | *[!0-9]* | 0) bad "bad number '$n'" ;; esac
done
case ${timeout:-0} in *[!0-9.]*) bad "bad number '$timeout'" ;; esac

# The CPU: QEMU's nearest, with the family and model that the silicon goes by.
# Mainline drivers refuse to look at a PMU below a hypervisor, so it does not say that it is.
case $machine in
xeon7500) cpu=Nehalem,+rdtscp tsc=2266667 model=${model:-2e} ;;
westmereex) cpu=Westmere,+rdtscp tsc=2266667 model=${model:-2f} ;;
goldmont) cpu=Denverton tsc=1500000 model=${model:-5c} ;;
silvermont) cpu=Westmere,+rdtscp,+movbe,+rdrand tsc=2400000 model=${model:-4d} ;;
sandybridge) cpu=SandyBridge tsc=2600000 model=${model:-2a} ;;
*) bad "unknown machine $machine" ;;
esac
cpu+=,model=$((16#$model)),${hypervisor}hypervisor
for r in "${reading[@]}"; do
	r=$("$TOP/tools/readings" "$r" "$machine") || exit 2
	SILICON_READING=${SILICON_READING:+$SILICON_READING,}$r
	export SILICON_READING
done

# insert NAME: load this module of the kernel.
insert() {
	local file
	file=$(cpio -t --quiet <"$MODULES" | grep -o "lib/modules/.*/kernel/.*/$1\.ko$") ||
		die "kernel $RELEASE has no module $1"
	[ "$1" != msr ] || file+=" allow_writes=on"
	insmod+="/$file"$'\n'
}

# module_file FILE.ko[=PARAMETERS]: where it is.
module_file() {
	local file=${1%%.ko=*}
	file=${file%.ko}.ko
	[ -e "$file" ] || die "there is no $file"
	echo "$file"
}

pieces
insert msr
[ "$driver" != mainline ] || insert intel-uncore
for m in "${modules[@]}"; do
	file=$(module_file "$m")
	insmod+=/lib/modules/$RELEASE/updates/${file##*/}
	case $m in *.ko=*) insmod+=" ${m#*.ko=}" ;; esac
	insmod+=$'\n'
done

cpus=$((sockets * cores * threads))
# KASAN keeps a shadow, and what is freed for a while; everything takes its time, and a kernel
# whose ticks are late for that reason is not to distrust its clock.
timeout=${timeout:-${interactive:+0}}
timeout=${timeout:-120}
case $RELEASE in
*-debug) memory=${memory:-1536M} timeout=$((5 * timeout)) append=" tsc=reliable$append" ;;
*) memory=${memory:-768M} ;;
esac
qemu=("${QEMU[@]}" -machine "pc" -nodefaults -no-user-config -display none -no-reboot)
for d in "${FIRMWARE[@]}"; do qemu+=(-L "$d"); done
qemu+=(-smp "$cpus,sockets=$sockets,cores=$cores,threads=$threads"
	-m "$memory" -kernel "$BOOT")
if [ -n "$icount" ]; then
	# Whatever the host knows and the guest could see must be fixed.
	qemu+=(-accel "tcg,thread=single" -icount "shift=0,sleep=off"
		-rtc "base=2026-01-01,clock=vm")
	cpu+=,-rdrand,-rdseed
else
	qemu+=(-accel "tcg,thread=$thread")
	# What the guest can neither measure nor verify on a busy host.
	append=" tsc=reliable tsc_early_khz=$tsc$append"
fi
qemu+=(-cpu "$cpu" -append "console=ttyS0 quiet no_timer_check nokaslr panic=-1 oops=panic cryptomgr.notests$append")

# Everything the machine reads and writes is a file in memory without a name: nothing is
# left behind whatever happens to us, and a slow reader of our output cannot change what
# the guest does.
[ -w /dev/shm ] && tmp=/dev/shm || tmp=${TMPDIR:-/tmp}
tmp=$(mktemp -d "$tmp/vm.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
[ -z "$log_file" ] || : >"$log_file" || exit 125
exec {initrd}<>"$tmp/initrd" {log}<>"$tmp/log" {ctl}<>"$tmp/ctl" {out}<>"$tmp/out" \
	{err}<>"$tmp/err" {said}<>"$tmp/said"

# The debug consoles are where an ISA bus has room for devices that nobody looks for.
ports="" port=$((0x300))
console() { # NAME FD
	qemu+=(-chardev "file,id=$1,path=/dev/fd/$2,append=on"
		-device "isa-debugcon,iobase=$port,chardev=$1")
	ports+=" $1=$port"
	port=$((port + 1))
}
console CTL "$ctl"
console LOG "$log"
console OUT "$out"
console ERR "$err"
ports+=" GET=$port"
got=()
for i in "${!gets[@]}"; do
	exec {fd}<>"$tmp/get-$i"
	got+=("$fd")
	console "GET$i" "$fd"
done

# The kernel unpacks archives one behind the other: what all have, the modules, and what
# this run puts in.
quote() { printf "'%s' " "${@//\'/\'\\\'\'}"; }
mkdir "$tmp/put"
for p in "${puts[@]}"; do
	to=${p##*:}
	case $to in '' | */) to+=$(basename "${p%:*}") ;; esac
	mkdir -p "$(dirname "$tmp/put/$to")"
	cp -aT "$(realpath "${p%:*}")" "$tmp/put/$to"
done
size="" tty=null
if [ -n "$interactive" ]; then
	[ $# -gt 0 ] || set -- sh -l
	size=$(stty size | sed 's/^0 .*/24 80/; s/\(.*\) \(.*\)/rows \1 cols \2/')
	tty=stdio,signal=off
	exec {in}<&0 {to}>&1
else
	exec {in}</dev/null {to}>/dev/null
fi
{
	echo "$ports modules=$(quote "$insmod") size=$(quote "$size")"
	echo "gets=$(quote "$(printf '%s\n' "${gets[@]%%:*}")")"
	[ -z "$interactive" ] || echo "export TERM=$(quote "${TERM:-vt102}") ENV=/etc/profile"
	echo "set -- $(quote "$@")"
} >"$tmp/put/vm.conf"
{ cat "$BASE" "$MODULES" && "$TOP/tools/vm/pack" "$tmp/put"; } >"$tmp/initrd"
chmod -R u+w "$tmp"
rm -rf "$tmp"

# The first serial port is the kernel's console, the second a terminal.
# shellcheck disable=SC2054 # the commas are QEMU's
qemu+=(-initrd "/dev/fd/$initrd"
	-chardev "file,id=log,path=/dev/fd/$log,append=on" -device isa-serial,index=0,chardev=log
	-chardev "$tty,id=tty" -device isa-serial,index=1,chardev=tty)
setpriv --pdeathsig KILL "${qemu[@]}" <&"$in" >&"$to" 2>>"/dev/fd/$said" &
pid=$!
caught=""
stop() {
	caught=$1
	kill "$pid" 2>/dev/null || true
}
trap 'stop 129' HUP
trap 'stop 130' INT
trap 'stop 141' PIPE
trap 'stop 143' TERM

# follow FD: what comes, as it comes, until QEMU is gone. If nobody reads it any more, we stop.
follow() { tail -c +1 -s 0.02 --pid="$pid" -f <&"$1" || kill -PIPE $$; }
# gone SECONDS: wait for QEMU's end, but no longer.
gone() { timeout --foreground "$1" tail -s 0.02 --pid="$pid" -f /dev/null; }

follow "$out" &
follow "$err" >&2 &
# What QEMU itself says goes to the log, the model's words to stderr as well.
follow "$said" | sed -un -e '/^silicon/w /dev/stderr' -e 's/^/qemu: /p' >>"/dev/fd/$log" &
[ -z "$log_file" ] || follow "$log" >>"$log_file" &
gone "$timeout" &
timed_out="" qemu_status=0
if ! wait $!; then
	# QEMU writes its statistics and goes.
	[ -n "$caught" ] || { timed_out=1 && stop ""; }
	gone 3 || kill -KILL "$pid" || true
fi 2>/dev/null
wait "$pid" 2>/dev/null || qemu_status=$?
wait
[ -z "$log_file" ] || cat <&"$log" >>"$log_file"
[ -z "$caught" ] || exit "$caught"

# How it went.
up="" why="" ended="" done=""
while IFS= read -r line; do
	case $line in
	up) up=1 ;;
	"fail "*) why="the machine failed: ${line#* }" ;;
	"status "*) ended=${line#* } ;;
	"cat: "*) printf 'run: --get: %s\n' "${line#* }" >&2 ;;
	"got "*)
		read -r _ i mode <<<"$line"
		cat <&"${got[i]}" >"${gets[i]#*:}"
		chmod "$mode" "${gets[i]#*:}"
		unset "gets[i]"
		;;
	done) done=1 ;;
	esac
done <"/dev/fd/$ctl"

# explain REASON [LINE]: the end of the log, or what surrounds the line of the trouble.
explain() {
	local file=$log_file
	printf 'run: %s; from the kernel log:\n' "$1" >&2
	if [ -n "${2:-}" ]; then
		sed -n "$(($2 > 5 ? $2 - 5 : 1)),$(($2 + 40))p" "/dev/fd/$log" >&2
	else
		tail -n 40 "/dev/fd/$log" >&2
	fi
	if [ -z "$file" ]; then
		file=$CACHE/vm-log/$$.log
		mkdir -p "${file%/*}"
		find "${file%/*}" -type f -mmin +1440 -delete
		cat "/dev/fd/$log" >"$file"
	fi
	echo "run: the whole of it: $file" >&2
}
bad=$("$TOP/tools/vm/trouble" "/dev/fd/$log" | head -n 1) || true
[ -n "$up" ] || before=" before it was up"
if [ -n "$timed_out" ] && [ -z "$done" ]; then
	explain "time is up${before:-}" "${bad%%:*}"
	exit 124
elif [ -n "$bad" ]; then
	explain "the kernel is in trouble${before:-}" "${bad%%:*}"
	exit 125
elif [ -n "$why" ]; then
	explain "$why"
	exit 125
elif [ -z "$done" ] || [ -z "$ended" ]; then
	explain "the machine went away${before:-}, QEMU's status is $qemu_status"
	exit 125
elif [ "$ended" = 0 ] && [ ${#gets[@]} -gt 0 ]; then
	exit 1
fi
exit "$ended"
