#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# PCP's perfevent agent, from Debian, reads the perfevent.conf that we make, and counts what was
# planted; C-Boxes that a Xeon 7500 does not have are no metrics of it. It is a process, as with
# pmcd: from a dbpmda that had loaded it, its code went at the end while its thread still ran.
#
# TEST: none
# SOAK: 6.1
set -uo pipefail
. "$(dirname "$0")/../lib/vm.sh"
. "$(dirname "$0")/../lib/debian.sh"

# The agent, the program that talks to it, and what they are linked with.
agent() {
	unpack pcp pcp-conf libpcp3 libpcp-pmda3 libpfm4 libreadline8 libtinfo6 libssl3 libsasl2-2 \
		libsystemd0 libcap2 liblzma5 libzstd1 liblz4-1 libgcrypt20 libgpg-error0 || return 1
	cp -a "$DIR"/root/usr/lib/libpcp*.so.* "$DIR/root/lib/x86_64-linux-gnu/"
	make -s -C "$TOP/tools/metrics" OUTPUT="$DIR/build" export
	cat "$DIR/build/export/perfevent.conf"
}

# fetched MACHINE: each event of the file, and two of them at once, twice.
fetched() {
	local pcp=$DIR/root/usr of=perfevent.hwcounters
	local reads="$of.xeon7500_mbox_0.bbox_cmds.reads.value $of.xeon7500_mbox_1.bbox_cmds.reads.value"
	{
		echo 'open pipe /usr/lib/pcp/pmdas/perfevent/pmdaperfevent -U root'
		printf 'fetch %s\nwait 1\nfetch %s\n' "$reads" "$reads"
		sed "1,/^\[dynamic\]/d; s/.*/fetch $of.&.value/" "$DIR/build/export/perfevent.conf"
	} >"$DIR/commands"
	cat >"$DIR/namespace" <<-END
	root { perfevent }
	perfevent { hwcounters 127:*:* }
	END
	cat >"$DIR/guest.sh" <<-END
	mkdir -p /usr/lib /var/lib/pcp/pmdas /etc/pcp/perfevent /var/lib/pcp/tmp
	ln -s /usr/lib/pcp/pmdas/perfevent /var/lib/pcp/pmdas/
	ln -sf /t/perfevent.conf /usr/lib/pcp/pmdas/perfevent/perfevent.conf
	/usr/bin/dbpmda -ie -n /t/namespace </t/commands 2>&1
	END
	vm "$1" --machine "$1" --sockets 2 --cores 1 --memory 1G --icount \
		--traffic "$TOP/tools/demo.traffic" \
		--put "$DIR/root/lib/x86_64-linux-gnu:/lib/x86_64-linux-gnu" \
		--put "$pcp/lib/pcp/pmdas/perfevent:/usr/lib/pcp/pmdas/perfevent" \
		--put "$pcp/bin/dbpmda:/usr/bin/dbpmda" --put "$pcp/lib/pcp/bin/pmcpp:/usr/lib/pcp/bin/pmcpp" \
		--put "$DIR/root/etc/pcp.conf:/etc/pcp.conf" \
		--put "$DIR/build/export/perfevent.conf:/t/perfevent.conf" \
		--put "$DIR/commands:/t/commands" --put "$DIR/namespace:/t/namespace" \
		--put "$DIR/guest.sh:/t/guest.sh" -- sh /t/guest.sh
	ended "$1" 0
}

# counted MACHINE C-BOXES: the reads of two M-Boxes of package 0 are 172 to 164, as planted.
counted() {
	fetched "$1" && python3 - "$DIR/$1.out" "$2" <<-'END'
	import re, sys
	said = re.split(r'^dbpmda> ', open(sys.argv[1]).read(), flags=re.M)
	reads, values, unknown = [], {}, set()
	for part in said:
	    # What goes to stderr is where it happens to be.
	    names = re.findall(r'hwcounters\.(\S+)\.value', part)
	    counts = [int(n) for n in re.findall(r'inst \[0 or .*?\] value (\d+)', part)]
	    if len(names) == 2:
	        reads.append(counts)
	    elif names and counts:
	        values[names[0]] = counts[0]
	    elif names:
	        unknown.add(names[0])
	boxes = {re.match(r'xeon7500_(cbox_\d+)', n).group(1) for n in unknown}
	print(len(values), 'counted, not there:', *sorted(unknown))
	gained = [after - before for before, after in zip(*reads)]
	ratio = gained[0] / gained[1]
	print('planted', 172 / 164, 'counted', ratio)
	wanted = {f'cbox_{i}' for i in range(int(sys.argv[2]), 10)}
	sys.exit(boxes != wanted or len(values) < 30 or not values['xeon7500_cbox_7.llc_misses.all'] or
	         abs(ratio / (172 / 164) - 1) > 0.005)
	END
}

ktap "the agent, and our file" agent || ktap_end
ktap "it counts on the Xeon 7500" counted xeon7500 8
ktap "it counts on Xeon E7" counted westmereex 10
ktap_end
