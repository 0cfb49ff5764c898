#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What perf metrics writes for node_exporter goes through Debian's node_exporter and
# Prometheus, and a query returns what the virtual machine counted. Each panel of the default
# dashboard has data from what the service counts by default, Prometheus evaluates the alerts, and
# the service is one that systemd reads.
#
# TEST: 6.1
# SOAK: none
set -uo pipefail
. "$(dirname "$0")/../lib/vm.sh"
. "$(dirname "$0")/../lib/prometheus.sh"

NAME=perf_metrics_memory_read_bandwidth_bytes_per_second
metrics=$(sed -n 's/^Environment="METRICS=\(.*\)"/\1/p' "$TOP/tools/metrics/perf-metrics.service")

guest() {
	vm guest --perf newest --sockets 2 --traffic "$TOP/tools/demo.traffic" --get "/root/m.prom:$DIR/text/m.prom" \
		-- sh -c "echo limit memory 1.6e10 >t; \
			perf-metrics $metrics --per-box --topology t --openmetrics m.prom -- sleep 0.2"
	ended guest 0 && [ "$(grep -c "^$NAME{" "$DIR/text/m.prom")" = 4 ]
}

checked() { "$PROGRAMS/usr/bin/promtool" check metrics <"$DIR/text/m.prom"; }

# port NAME: the one that the kernel chose for a program that listens on port 0 and says where.
port() {
	for _ in $(seq 300); do
		sed -n 's/.*msg="Listening on" .*address=127\.0\.0\.1:\([0-9]*\).*/\1/p' "$DIR/$1.said" | grep . && return
		sleep 0.1
	done
	cat "$DIR/$1.said" >&2
	return 1
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
# one M-Box and 164 in the other, which were counted for the same time. ktap calls this in a subshell,
# at whose end both programs end, whatever has failed.
scraped() {
	local status
	trap 'kill $(jobs -p); wait' EXIT
	"$PROGRAMS/usr/bin/prometheus-node-exporter" --collector.disable-defaults --collector.textfile \
		--collector.textfile.directory="$DIR/text" --web.listen-address=127.0.0.1:0 \
		>"$DIR/exporter.said" 2>&1 &
	exporter=$(port exporter) || return
	cat >"$DIR/prometheus.yml" <<-END
	global: { scrape_interval: 1s, evaluation_interval: 1s }
	rule_files: [ "$DIR/build/export/alerts.yml" ]
	scrape_configs:
	  - job_name: uncore
	    static_configs: [ { targets: [ "127.0.0.1:$exporter" ] } ]
	END
	"$PROGRAMS/usr/bin/prometheus" --config.file="$DIR/prometheus.yml" --storage.tsdb.path="$DIR/tsdb" \
		--web.listen-address=127.0.0.1:0 >"$DIR/server.said" 2>&1 &
	server=$(port server) || return
	query "$NAME{socket=\"0\",box=\"mbox_0\"}" && query "sum by (socket) ($NAME)" &&
		query "{__name__=~\"perf_metrics_.*\"}" >"$DIR/all" &&
		python3 - "$DIR/text/m.prom" "$DIR/all" "$NAME" <<-'END'
	import re, sys
	line = re.compile(r'^(\w+)\{(.*?)\} (?:=> )?(\S+)', re.M)
	def values(path):
	    return {(name, frozenset(re.findall(r'(socket|box|metric)="(.*?)"', labels))): float(value)
	            for name, labels, value in line.findall(open(path).read())}
	written, back = values(sys.argv[1]), values(sys.argv[2])
	print(len(written), "written,", len(back), "back")
	read = [back.get((sys.argv[3], frozenset({('socket', '0'), ('box', f'mbox_{i}')})), 0)
	        for i in range(2)]
	print("planted 172 and 164, back", *read)
	sys.exit(not written or written != back or abs(read[0] / read[1] - 172 / 164) > 1e-4)
	END
	status=$?
	panels >"$DIR/panels" 2>&1
	echo $? >>"$DIR/panels"
	query 'ALERTS' >"$DIR/alerts"
	return $status
}

made() { make -s -C "$TOP/tools/metrics" OUTPUT="$DIR/build" export; }

# The query of each panel, in a file that Prometheus asks for; those that return nothing.
panels() {
	local bad=0 expr
	python3 - "$DIR/build/export/dashboard.json" >"$DIR/queries" <<-'END'
	import json, sys
	for panel in json.load(open(sys.argv[1]))['panels']:
	    for target in panel.get('targets', []):
	        print(target['expr'].replace('$instance', '.*'))
	END
	while read -r expr; do
		"$PROGRAMS/usr/bin/promtool" query instant "http://127.0.0.1:$server" "$expr" | grep -q '=>' || {
			echo "no data: $expr"
			bad=1
		}
	done <"$DIR/queries"
	echo "$(wc -l <"$DIR/queries") panels"
	return $bad
}

dashboard() {
	cat "$DIR/panels"
	[ "$(tail -n 1 "$DIR/panels")" = 0 ] && [ "$(wc -l <"$DIR/queries")" -gt 10 ]
}

# The full dashboard asks for all that is there, and has each panel once.
full() {
	python3 - "$DIR/build/export/dashboard-full.json" "$DIR/text/m.prom" <<-'END'
	import json, re, sys
	board = json.load(open(sys.argv[1]))
	families = set(re.findall(r'^# TYPE (\S+)', open(sys.argv[2]).read(), re.M))
	panels = [p for r in board['panels'] for p in r.get('panels', []) + [r] if p['type'] != 'row']
	asked = {t['expr'].split('{')[0] for p in panels for t in p['targets']}
	ids = [p['id'] for p in panels]
	missing = {f for f in families - asked if not f.endswith(('_limit', '_not_available'))}
	print(len(panels), "panels,", len(families), "families;", *sorted(missing))
	sys.exit(not families or missing or len(set(ids)) != len(ids))
	END
}

# What was planted: S1 moves 16.0 and 16.3 GB/s by controller, S0 8.3 and 8.2. The limit is 16.
alerts() {
	cat "$DIR/alerts"
	"$PROGRAMS/usr/bin/promtool" check rules "$DIR/build/export/alerts.yml" &&
		[ "$(grep -c 'alertname="PerfMetricsMemoryFull"' "$DIR/alerts")" = 2 ] &&
		[ "$(grep 'alertname="PerfMetricsMemoryFull"' "$DIR/alerts" | grep -c 'socket="1"')" = 2 ] &&
		! grep -q 'PerfMetricsLinkFull' "$DIR/alerts"
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
ktap "dashboards and alerts are made" made
ktap "a guest writes the file" guest
ktap "promtool has nothing to say of it" checked
ktap "node_exporter and Prometheus return it" scraped
ktap "each panel of the default dashboard has data" dashboard
ktap "the full dashboard asks for all" full
ktap "alerts are of what was planted" alerts
if type systemd-analyze >/dev/null 2>&1; then
	ktap "systemd reads service and timer" service
fi
ktap_end
