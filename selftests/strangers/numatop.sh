#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# numatop, unmodified, from Debian 12 (2.3): what it says of a process that is busy now and then.
# With --icount, so that each instruction takes the same time: then remote and local accesses by
# instruction are the same for each process as for the whole machine, which the silicon knows.
#
# TEST: 6.1
# SOAK: none
#
# shellcheck disable=SC2016 # what is in single quotes is for the guest's shell
set -uo pipefail
. "$(dirname "$0")/../lib/vm.sh"
. "$(dirname "$0")/../lib/debian.sh"

# Its keys come from a pipe: "i" is the window of accesses by instruction, "n" that of nodes.
cat >"$DIR/guest.sh" <<'END'
while :; do
	i=0
	while [ $i -lt 300 ]; do i=$((i + 1)); done
	usleep 100000
done &
export TERM=vt100 LINES=40 COLUMNS=100
{ sleep 7; printf i; sleep 11; printf n; sleep 11; printf q; sleep 1; } |
	numatop -d /root/dump >/tmp/screen 2>/tmp/err
status=$?
kill $!
[ $status = 0 ] || cat /tmp/err
exit $status
END

# The last table of accesses by instruction, and that of nodes, against the truth. Offcore
# events are known by what was last written to the event select of their counter. What numatop
# has not counted it should not show as a number.
compare() {
	python3 - "$DIR/dump" "$DIR/stats.json" "$DIR/trace" <<-'END'
	import json
	import re
	import sys

	REMOTE, LOCAL, INSTRUCTIONS, CYCLES = 0x1b7, 0x1bb, 'fixed0', 'fixed2'
	dump, stats = open(sys.argv[1]).read(), json.load(open(sys.argv[2]))
	select = {}
	for line in open(sys.argv[3]):
	    f = line.split()
	    if f[2] == 'wr' and 0x186 <= int(f[3], 16) <= 0x18d and int(f[4], 16):
	        select[f[1], f'pmc{int(f[3], 16) - 0x186}'] = int(f[4], 16) & 0xffff
	truth = {}
	for cpu, core in stats['core'].items():
	    for name, counter in core['counters'].items():
	        what = select.get((cpu, name), name)
	        truth[what] = truth.get(what, 0) + counter['events']


	def row(caption, pattern):
	    table = dump[dump.rfind(caption):] if caption in dump else ''
	    found = re.search(r'^ *' + pattern + r'((?: +\S+)+)$', table, re.M)
	    return found[1].split() if found else ['nothing'] * 8


	def same(what, value, event, factor, by):
	    want = factor * truth[event] / truth[by] if event in truth else None
	    good = value == '-' if want is None else re.match(r'[0-9.]+$', value) and \
	        abs(float(value) - want) <= 0.05 + want / 50
	    print('@', 'pass' if good else 'fail', what)
	    print(what, value, want)


	process = row('RPI(K)', r'\d+ +sh')
	same('remote', process[0], REMOTE, 1000, INSTRUCTIONS)
	same('local', process[1], LOCAL, 1000, INSTRUCTIONS)
	same('ratio', process[2], LOCAL if LOCAL not in truth else REMOTE, 1, LOCAL)
	same('cycles', process[3], CYCLES, 1, INSTRUCTIONS)
	node = row('MEM.ALL', '0')
	same('node-ratio', node[4], LOCAL if LOCAL not in truth else REMOTE, 1, LOCAL)
	END
}

run() { # MACHINE MODEL
	vm "$1" --machine "$1" --model "$2" --kernel 6.1 --cores 1 --icount --memory 1024M \
		--driver none --append nmi_watchdog=0 --stats "$DIR/stats.json" --trace "$DIR/trace" \
		--get /root/dump:"$DIR/dump" "${PUT_ROOT[@]}" --put "$DIR/guest.sh:/t/guest.sh" \
		-- sh -c "$DEBIAN_ROOT exec sh /t/guest.sh"
	compare >>"$DIR/$1.out"
	judge "$1" "numatop, $1" "$1" <<-'END'
	* passes remote
	* passes cycles
	* passes node-ratio
	sandybridge passes local
	sandybridge passes ratio
	xeon7500 theirs local | common/win.c, rawnum_data_build(): 0.0 for what it has no event for
	xeon7500 theirs ratio | likewise
	END
}

ktap "the packages are unpacked" unpack numatop libncursesw6 libtinfo6 libnuma1
run xeon7500 2e
run sandybridge 2d
ktap_end
