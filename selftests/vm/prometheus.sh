#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What perf metrics writes for node_exporter goes through Debian's node_exporter and
# Prometheus, and a query returns what the virtual machine counted. The dashboard asks for
# the names that are there, and the service is one that systemd reads.
#
# KERNELS: 6.1
set -uo pipefail
. "$(dirname "$0")/../lib/vm.sh"
. "$(dirname "$0")/../lib/prometheus.sh"

NAME=perf_metrics_memory_read_bandwidth_bytes_per_second
metrics="memory llc_miss_ratio llc_miss_rate qpi_utilization qpi_outgoing_bandwidth uncore_clock_mhz"

guest() {
	vm guest --perf newest --sockets 2 --traffic "$TOP/tools/demo.traffic" --get "/root/m.prom:$DIR/text/m.prom" \
		-- sh -c "perf-metrics $metrics --per-box --openmetrics m.prom -- sleep 0.2"
	ended guest 0 && [ "$(grep -c "^$NAME{" "$DIR/text/m.prom")" = 4 ]
}

checked() { "$PROGRAMS/usr/bin/promtool" check metrics <"$DIR/text/m.prom"; }

# Two ports that nobody has.
ports() {
	python3 -c 'import socket
s = [socket.socket() for i in range(2)]
for i in s: i.bind(("127.0.0.1", 0))
print(*[i.getsockname()[1] for i in s])'
}

# query TEXT: what promtool prints, once there is something.
query() {
	for _ in $(seq 300); do
		"$PROGRAMS/usr/bin/promtool" query instant "http://127.0.0.1:$server" "$1" >"$DIR/query" \
			2>"$DIR/query.err" && grep -q '=>' "$DIR/query" && cat "$DIR/query" && return
		sleep 0.2
	done
	cat "$DIR/query.err" "$DIR"/*.said
	return 1
}

# Each value of the file comes back as it was. What was planted: reads in 172 cycles of 4096 in
# one M-Box and 164 in the other, which were counted for the same time.
scraped() {
	local status
	read -r exporter server < <(ports)
	"$PROGRAMS/usr/bin/prometheus-node-exporter" --collector.disable-defaults --collector.textfile \
		--collector.textfile.directory="$DIR/text" --web.listen-address="127.0.0.1:$exporter" \
		>"$DIR/exporter.said" 2>&1 &
	exporter_pid=$!
	cat >"$DIR/prometheus.yml" <<-END
	global: { scrape_interval: 1s }
	scrape_configs:
	  - job_name: uncore
	    static_configs: [ { targets: [ "127.0.0.1:$exporter" ] } ]
	END
	"$PROGRAMS/usr/bin/prometheus" --config.file="$DIR/prometheus.yml" --storage.tsdb.path="$DIR/tsdb" \
		--web.listen-address="127.0.0.1:$server" >"$DIR/server.said" 2>&1 &
	server_pid=$!
	query "$NAME{socket=\"0\",box=\"mbox_0\"}" && query "sum by (socket) ($NAME)" &&
		query "{__name__=~\"perf_metrics_.*\"}" >"$DIR/all" &&
		python3 - "$DIR/text/m.prom" "$DIR/all" "$NAME" <<-'END'
	import re, sys
	line = re.compile(r'^(\w+)\{(.*?)\} (?:=> )?(\S+)', re.M)
	def values(path):
	    return {(name, frozenset(re.findall(r'(socket|box)="(.*?)"', labels))): float(value)
	            for name, labels, value in line.findall(open(path).read())}
	written, back = values(sys.argv[1]), values(sys.argv[2])
	print(len(written), "written,", len(back), "back")
	read = [back.get((sys.argv[3], frozenset({('socket', '0'), ('box', f'mbox_{i}')})), 0)
	        for i in range(2)]
	print("planted 172 and 164, back", *read)
	sys.exit(not written or written != back or abs(read[0] / read[1] - 172 / 164) > 1e-4)
	END
	status=$?
	kill "$exporter_pid" "$server_pid"
	wait "$exporter_pid" "$server_pid" 2>/dev/null
	return $status
}

# Every panel of an open row shows a family that was scraped or that can be asked for.
dashboard() {
	make -s -C "$TOP/tools/metrics" OUTPUT="$DIR/build" export || return 1
	python3 - "$DIR/build/export/dashboard.json" "$DIR/text/m.prom" <<-'END'
	import json, re, sys
	board = json.load(open(sys.argv[1]))
	families = set(re.findall(r'^# TYPE (\S+)', open(sys.argv[2]).read(), re.M))
	panels = [p for r in board['panels'] for p in r.get('panels', []) + [r] if p['type'] != 'row']
	asked = {t['expr'].split('{')[0] for p in panels for t in p['targets']}
	ids = [p['id'] for p in panels]
	print(len(panels), "panels,", len(families), "families;", *sorted(families - asked))
	sys.exit(not families or not families <= asked or len(set(ids)) != len(ids))
	END
}

service() {
	local unit
	mkdir -p "$DIR/units"
	for unit in service timer; do
		sed 's,/usr/bin/perf-metrics,/bin/true,' "$TOP/tools/metrics/perf-metrics.$unit" \
			>"$DIR/units/perf-metrics.$unit"
	done
	[ -z "$(systemd-analyze verify --man=no "$DIR"/units/perf-metrics.* 2>&1 | tee /dev/stderr)" ]
}

mkdir -p "$DIR/text"
fetch >"$DIR/fetch.log" 2>&1 || { ktap "Debian's Prometheus" cat "$DIR/fetch.log"; ktap "it is there" false; ktap_end; }
ktap "a guest writes the file" guest
ktap "promtool has nothing to say of it" checked
ktap "node_exporter and Prometheus return it" scraped
ktap "the dashboard asks for it" dashboard
if type systemd-analyze >/dev/null 2>&1; then
	ktap "systemd reads service and timer" service
fi
ktap_end
