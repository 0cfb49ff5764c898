#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# perf metrics map: two runs that count the same draw the same, to the byte, as text and as
# a picture; on 1, 2, 4 and 8 packages the picture is well-formed and has all links.
#
# KERNELS: 6.1
set -uo pipefail
. "$(dirname "$0")/../lib/vm.sh"

# draw NAME SOCKETS OPTION...
draw() {
	local name=$1 sockets=$2 topology
	shift 2
	case $sockets in 4) topology=four ;; 8) topology=eight ;; *) topology=two ;; esac
	vm "$name" --sockets "$sockets" --cores 1 --memory 1G "$@" \
		--put "$TOP/metrics/$topology.topology:/etc/perf-metrics/topology" \
		--get "/root/map.svg:$DIR/$name.svg" -- sh -c \
		'perf metrics map -- sleep 0.02 && perf metrics map -o map.svg -- sleep 0.02'
	ended "$name" 0
}

# links NAME NUMBER: so many arrows, in XML that can be read.
links() {
	python3 - "$DIR/$1.svg" "$2" <<-'END'
	import sys, xml.etree.ElementTree as tree
	svg = "{http://www.w3.org/2000/svg}"
	root = tree.parse(sys.argv[1]).getroot()
	arrows = [p for p in root.iter(svg + "path") if p.get("d").endswith("Z")]
	packages = [r for r in root.iter(svg + "rect") if r.get("rx")]
	# Each ends at a place of its own, or it would be at the wrong port.
	ends = {p.get("d").split()[0] for p in arrows}
	print(len(packages), "packages,", len(arrows), "arrows to", len(ends), "places")
	sys.exit(not len(ends) == len(arrows) == int(sys.argv[2]) == 4 * len(packages))
	END
}

# Each draws four links of its own, wherever they lead.
pictures() { # SOCKETS OPTION...
	draw "$1" "$@" && links "$1" $((4 * $1)) &&
		awk 'length > 80 { print; bad = 1 } END { exit bad || NR > 24 }' "$DIR/$1.out"
}

same() {
	draw again 2 --icount &&
		cmp "$DIR/2.svg" "$DIR/again.svg" && cmp "$DIR/2.out" "$DIR/again.out" &&
		grep -q 'Busiest link: S[01]' "$DIR/2.out"
}

ktap "1 package" pictures 1
ktap "2 packages" pictures 2 --icount
ktap "4 packages" pictures 4
ktap "8 packages" pictures 8
ktap "equal runs, equal maps" same
ktap_end
