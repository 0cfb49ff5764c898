#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# perf metrics map: two runs that count the same draw the same, to the byte, as text and as
# a picture; on 1 and 2 packages, and in make soak on 4 and 8, the picture is well-formed and
# has all links.
#
# TEST: 6.1
# SOAK: 6.1
set -uo pipefail
. "$(dirname "$0")/../lib/vm.sh"

# draw NAME SOCKETS OPTION...
draw() {
	local name=$1 sockets=$2 topology
	shift 2
	case $sockets in 4) topology=four ;; 8) topology=eight ;; *) topology=two ;; esac
	vm "$name" --perf newest --sockets "$sockets" --cores 1 --memory 1G "$@" \
		--put "$TOP/metrics/$topology.topology:/etc/perf-metrics/topology" \
		--get "/root/map.svg:$DIR/$name.svg" -- sh -c \
		'perf metrics map -- sleep 0.02 && perf metrics map -o map.svg -- sleep 0.02'
	ended "$name" 0
}

# links NAME NUMBER: so many arrows, in XML that can be read. Each says what it is to a mouse, and
# what goes there and back has room for the widest.
links() {
	python3 - "$DIR/$1.svg" "$2" <<-'END'
	import math, re, sys, xml.etree.ElementTree as tree
	svg = "{http://www.w3.org/2000/svg}"
	root = tree.parse(sys.argv[1]).getroot()
	arrows = [p for p in root.iter(svg + "path") if p.get("d").endswith("Z")]
	packages = [r for r in root.iter(svg + "rect") if r.get("rx") == "8"]
	# Each ends at a place of its own, or it would be at the wrong port.
	ends = {p.get("d").split()[0] for p in arrows}
	print(len(packages), "packages,", len(arrows), "arrows to", len(ends), "places")
	bad = not len(ends) == len(arrows) == int(sys.argv[2]) == 4 * len(packages)
	said = [g.find(svg + "title").text for g in root.iter(svg + "g") if g.find(svg + "title") is not None]
	right = {t for t in said if re.match(r"S\d qpi\d \u2192 (S\d|IOH\d|\?): .", t)}
	print(*said, sep="\n")
	bad |= len(right) != len(arrows) or not any("B/s, " in t and ": 0 B/s" not in t for t in right)
	places = []
	for d in {p.get("d") for p in root.iter(svg + "path") if p.get("fill") == "none"}:
	    numbers = [float(n) for n in re.findall(r"-?[0-9.]+", d)]
	    places.append(list(zip(numbers[::2], numbers[1::2])))
	for one in places:
	    for other in places:
	        # There and back: one begins beside the other's arrow.
	        if math.dist(one[0], other[-1]) > 45 or math.dist(other[0], one[-1]) > 45 or one is other:
	            continue
	        apart = min(math.dist(p, q) for p in one for q in other)
	        if apart < 16:
	            print("only %.1f between %s and %s" % (apart, one[0], other[0]))
	            bad = True
	sys.exit(bad)
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
		grep -q 'Busiest links: S[01]' "$DIR/2.out"
}

ktap "1 package" pictures 1
ktap "2 packages" pictures 2 --icount
if [ -n "${SOAK:-}" ]; then
	ktap "4 packages" pictures 4
	ktap "8 packages" pictures 8
fi
ktap "equal runs, equal maps" same
ktap_end
