#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The archive of the virtual silicon: it is made, unpacked elsewhere, and there does what
# Documentation/test-your-program.md says of it, with neither this tree nor the cache in sight.
#
# TEST: 6.1
# SOAK: none
#
# shellcheck disable=SC2317 # the tests are called by name
set -u
. "$(dirname "$0")/../lib/vm.sh"
page=$TOP/Documentation/test-your-program.md

made() { "$TOP/tools/silicon/dist" "$DIR/made" >"$DIR/archive" && [ -f "$(cat "$DIR/archive")" ]; }
ktap "the archive is made" made || ktap_end
mkdir -p "$DIR/far/away"
unpacked() { tar -C "$DIR/far/away" -xf "$(cat "$DIR/archive")"; }
ktap "it can be unpacked" unpacked
there=$(echo "$DIR"/far/away/*)

no_path() {
	local path
	for path in "$TOP" "$CACHE" "$DIR/made"; do
		grep -rlF "$path" "$there" && { echo "has the path $path"; return 1; }
	done
	[ "$(find "$there" -type f | wc -l)" -gt 100 ]
}
ktap "it has no path of this machine in it" no_path

own_libraries() {
	local lib=$there/qemu/lib
	"$lib/ld-linux-x86-64.so.2" --inhibit-cache --library-path "$lib" --list "$there/qemu/qemu" >"$DIR/libraries"
	! grep -v "linux-vdso\|$lib/" "$DIR/libraries" && [ -s "$DIR/libraries" ]
}
ktap "QEMU takes no library of this machine" own_libraries

sources() {
	cat "$there/SOURCES"
	grep -qE '^qemu 1:10\.' "$there/SOURCES" && grep -q '^glib2.0 ' "$there/SOURCES" &&
		grep -q '^seabios ' "$there/SOURCES" && grep -q '^linux 6\.1' "$there/SOURCES" &&
		grep -q '^libunwind ' "$there/SOURCES" &&
		[ -s "$there/licenses/qemu/COPYING" ] && [ -s "$there/licenses/libc6" ]
}
ktap "it says what it is made of, and under which licenses" sources

# block LANGUAGE: the one of the example.
block() { sed -n "/^## An example/,/^## Ask/{/^\`\`\`$1\$/,/^\`\`\`\$/{/^\`\`\`/d;p}}" "$page"; }

# As it is printed, where this tree and its cache are empty, if this machine lets us hide them.
example() {
	local hide=()
	block c >"$there/count.c" && block sh >"$DIR/commands" && [ -s "$DIR/commands" ] || return
	if unshare -rm true 2>/dev/null; then
		# shellcheck disable=SC2016 # for that shell
		hide=(unshare -rm sh -c 'for d in "$1" "$2"; do mount -t tmpfs none "$d"; done
			shift 2; exec "$@"' sh "$TOP" "$CACHE")
	else
		echo "this machine cannot hide $TOP"
	fi
	cd "$there" && env -i HOME="$DIR" PATH="$PATH" "${hide[@]}" sh -e "$DIR/commands" >"$DIR/example"
}
ktap "the example of the page runs there" example

# What is counted, what the silicon says to the program, and what it says at the end.
truth() {
	cat "$DIR/example"
	python3 - "$DIR/example" "$there/stats.json" "$there/trace" <<-'END'
	import json, re, sys
	counted, happened = map(int, re.findall(r'\d+', open(sys.argv[1]).read()))
	stats = json.load(open(sys.argv[2]))
	counters = stats['packages']['0']['counters']
	truth = [c['events'] for c in counters.values() if c['msr'] == 0xd11]
	read = [int(line.split()[4], 16) for line in open(sys.argv[3]) if ' rd 0xd11 ' in line]
	print(counted, happened, truth, read, stats['violations']['total'])
	sys.exit(not (counted > 1000 and truth == [counted] == [happened] == read and
	              len(counters) == 1 and stats['violations']['total'] == 0))
	END
}
ktap "its count is the model's, exactly" truth

# How long it has slept depends on the kernel.
same() { diff <(block text | sed 's/[0-9]\+/N/g') <(sed 's/[0-9]\+/N/g' "$DIR/example"); }
ktap "it prints what the page shows" same

options() {
	local status=0
	cd "$there" || return
	./run --driver ours -- true 2>"$DIR/err" || status=$?
	[ $status = 2 ] && ./run --help | grep -q '^  --driver mainline|none'
}
ktap "it knows its options" options
perf_there() {
	cd "$there" && ./run --cores 1 --driver mainline -- perf stat -a -e uncore_cbox/event=0x14,umask=0x7/ sleep 0.1 2>&1 |
		grep -E '^ +[1-9][0-9,]* +uncore_cbox/'
}
ktap "perf counts with mainline's driver" perf_there
ktap_end
