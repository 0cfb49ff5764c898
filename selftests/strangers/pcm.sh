#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# PCM, unmodified, from Debian 12 (202302): its uncore numbers against planted traffic.
# With --icount, so that nothing depends on how busy this machine is.
#
# Planted is what a link and a memory can carry: flits are sent in 2892 of 4096 cycles, that is
# 1.6 G of 8 bytes a second, and a data response is nine of them. A flit is null or carries
# something, so a link is as busy as the share of those sent that are not null.
#
# TEST: 6.1
# SOAK: 6.1
set -uo pipefail
. "$(dirname "$0")/../lib/vm.sh"
. "$(dirname "$0")/../lib/debian.sh"

# What happens in so many of 4096 cycles: reads and writes by package, M- and B-Box; by package
# data responses and null flits of PCM's links, which are ports 1, 0, 4 and 5.
cat >"$DIR/planted" <<'END'
READ 0 0 311
READ 0 1 173
READ 1 0 59
READ 1 1 97
WRITE 0 0 101
WRITE 0 1 83
WRITE 1 0 41
WRITE 1 1 23
IN 0 0 300
IN 0 1 203
IN 0 2 101
IN 0 3 47
IN 1 0 29
IN 1 1 151
IN 1 2 173
IN 1 3 271
IDLE 0 0 192
IDLE 0 1 1111
IDLE 0 2 2000
IDLE 0 3 2810
IDLE 1 0 2620
IDLE 1 1 1400
IDLE 1 2 1234
IDLE 1 3 500
END

# package box instance code bit log2 phase active inc
awk 'BEGIN {
	split("1 0 4 5", port, " ")
	for (i = split("C S B M R", box, " "); i; i--) print "*", box[i], "* * * 12 0 0 0"
	for (i = 1; i <= 4; i++) print "* R", port[i], "0x11f * 12 0 2892 1"
}
$1 == "READ"  { print $2, "M", $3, "0x205 0 12 0", $4, 1 }
$1 == "WRITE" { print $2, "B", $3, "0x10c * 12 0", $4, 1 }
# Of the packets of class 2 one network has a third, another the rest.
$1 == "IN"    { third = int($4 / 3)
		print $2, "R", port[$3 + 1], "0x8 * 12 0", third, 1
		print $2, "R", port[$3 + 1], "0xa * 12", third, $4 - third, 1 }
$1 == "IDLE"  { print $2, "R", port[$3 + 1], "0x11e * 12 0", $4, 1 }
' "$DIR/planted" >"$DIR/traffic"

# Compares the last line of PCM's table. Its interval is that between its last two reads of the
# uncore clock of package 0, and the same for the rest but for the instructions between: one
# part in a thousand is allowed. Percents are cut off.
compare() {
	python3 - "$DIR/planted" "$DIR/trace" "$DIR/pcm.csv" <<-'END'
	import re
	import sys

	CLOCK, LINK = 2266666666.67, 2892 * 8
	planted = {}
	for line in open(sys.argv[1]):
	    what, package, where, cycles = line.split()
	    planted[what, int(package), int(where)] = int(cycles)
	reads = [int(f[4], 16) for f in map(str.split, open(sys.argv[2])) if f[2:4] == ["rd", "0x394"]]
	text = open(sys.argv[3]).read()
	clocks = reads[-1] - reads[-2]
	periods = clocks / 4096


	def same(what, value, want, step, theirs=None):
	    def near(number):
	        return number and abs(value - number) <= number / 1000 + step
	    # What differs otherwise than its formula says is not explained by it.
	    print("@", "pass" if near(want) else "fail" if not theirs or near(theirs) else "wrong", what)
	    if not near(want):
	        print(f"{what}: {value}, not {want}")


	def said(pattern):
	    found = re.search(pattern, text)
	    return float(found.group(1)) if found else 0


	same("frequency", said(r"Nominal core frequency: (\d+)"), CLOCK, 0)
	same("link-speed", said(r"Max QPI speed: ([0-9.]+)"), 12.8, 0)
	lines = text.splitlines()
	head = next(i for i, line in enumerate(lines) if line.startswith("System,"))
	rows = [line.split(",") for line in lines[head:] if line.startswith(("System,", "Date,", "20"))]
	for group, name, value in zip(rows[0], rows[1], rows[-1]):
	    value = float(value.strip(" %") or 0) if value.strip(" %").replace(".", "").isdigit() else 0
	    found = re.match(r"(?:Socket |SKT)(\d)(dataIn|trafficOut)?( .percent.)?$", group)
	    if not found:
	        continue
	    package, way, percent = int(found.group(1)), found.group(2), found.group(3)
	    if not way and name in ("READ", "WRITE"):
	        count = (planted[name, package, 0] + planted[name, package, 1]) * periods
	        same(f"{name}.{package}", value, count * 64 / 1e9, 0.006)
	    elif not way and name == "AFREQ":
	        same(f"AFREQ.{package}", value, 1, 0.006)
	    elif way:
	        link = int(name[3:])
	        theirs = None
	        if way == "dataIn":
	            share = planted["IN", package, link] * 64 / LINK
	        else:
	            share = 1 - planted["IDLE", package, link] / 2892
	            theirs = 1 - planted["IDLE", package, link] / 4096
	        kind = f"{'in' if way == 'dataIn' else 'out'}.{package}.{link}"
	        if percent:
	            same(f"{kind}.percent", value + 0.5, 100 * share, 0.5, theirs and 100 * theirs)
	        else:
	            rate = 12.8e3 * clocks / CLOCK
	            same(f"{kind}.MB", value, share * rate, 0.006, theirs and theirs * rate)
	END
}
ktap "the packages are unpacked" unpack pcm libsimdjson14 hwdata libstdc++6 libgcc-s1
for machine in xeon7500 ${SOAK:+westmereex}; do
	vm "$machine" --machine "$machine" --kernel 6.1 --sockets 2 --cores 1 --icount \
		--memory 1024M --append nmi_watchdog=0 --driver none --traffic "$DIR/traffic" \
		--trace "$DIR/trace" "${PUT_ROOT[@]}" -- sh -c "$DEBIAN_ROOT exec pcm 1 -i=2 -csv"
	mv "$DIR/$machine.out" "$DIR/pcm.csv"
	# How it describes the machine.
	cat "$DIR/$machine.err" >>"$DIR/pcm.csv"
	: >"$DIR/$machine.err"
	compare >"$DIR/$machine.out"
	judge "$machine" "PCM, $machine" "$machine" < <(printf '* passes %s\n' frequency link-speed \
		{AFREQ,READ,WRITE}.{0,1} in.{0,1}.{0..3}.{MB,percent}
		printf '* theirs %s | cpucounters.h, getOutgoingQPILinkUtilization(): null flits by clocks\n' \
			out.{0,1}.{0..3}.{MB,percent})
done
ktap_end
