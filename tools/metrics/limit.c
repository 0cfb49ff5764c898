// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a place can do at most, as the topology file says. No register tells it, and the rate of the
 * memory channels is none: no program reaches it.
 */
#include <string.h>

#include "rule.h"

int session_topology(struct session *session)
{
	struct text *file = &session->topology_file;
	struct topology *topology = allocate(sizeof(*topology));

	/* A recording has its own, and that of the machine it is looked at on is another one. */
	if (session->options.topology || session->options.mode != REPORT)
		*file = (struct text){ session->options.topology ?: file_find("topology") };
	session->topology = topology;
	return file->path ? topology_read(topology, session, file) : 0;
}

double limit_of(const struct session *session, const char *kind, int package, const char *cell)
{
	const char *places[] = { format("S%d/%s", package, cell ?: ""), format("S%d", package), "" };
	double most = 0;
	unsigned int p;

	for (p = 0; p < sizeof(places) / sizeof(places[0]) && !most; p++)
		most = topology_limit(session->topology, kind, places[p]);
	return most;
}

/* ---- for Prometheus ---- */

/* Rules may have the same limit of the same places, which is one line then. */
static char *add_limits(struct session *session, const struct rule *rule, const struct value *at,
			char *lines)
{
	char *line;
	double most;
	int i;

	for (i = 0; i < rule->num_values; i++) {
		if (rule->value[i].of != OF_LIMIT)
			continue;
		most = limit_of(session, rule->value[i].text, at->package, at->cell);
		line = format("perf_metrics_limit{limit=\"%s\",socket=\"%d\"%s} %.15g\n",
			      rule->value[i].text, at->package,
			      at->cell ? format(",box=\"%s\"", at->cell) : "", most);
		if (most && !strstr(lines, line))
			lines = format("%s%s", lines, line);
	}
	return lines;
}

void limits_write(struct session *session, const struct value *values, int num, FILE *f)
{
	char *lines = "";
	int v, r;

	for (v = 0; v < num; v++) {
		for (r = 0; r < session->num_rules; r++) {
			const struct rule *rule = session->rule[r];

			if (values[v].metric == rule->value[0].metric && values[v].package >= 0 &&
			    !values[v].cell == !metric_has_cells(values[v].metric))
				lines = add_limits(session, rule, &values[v], lines);
		}
	}
	if (*lines)
		fprintf(f, "# HELP perf_metrics_limit What a place can do at most\n"
			"# TYPE perf_metrics_limit gauge\n%s", lines);
}

/* ---- a skeleton ---- */

int topology_skeleton(struct session *session)
{
	const struct pmu *pmu;
	int p, q, ports = 0;

	printf("# Topology of this machine for perf metrics, see perf-metrics(5). Made by\n"
	       "#\tperf metrics status --topology >topology\n"
	       "# Fill it in and put it where perf metrics finds it:\n"
	       "#\tcp topology /etc/perf-metrics/topology\n"
	       "#\n"
	       "# Where each QPI link leads: the board's manual says it. Take the # away and put the\n"
	       "# other end, or a name such as IOH0, in the place of '?'; a link is written once.\n");
	for (p = 0; p < session->packages && p < MAP_PACKAGES; p++) {
		for (q = 0; q < MAP_PORTS; q++) {
			pmu = pmu_of(session, "xeon7500_rbox", q / 2);
			if (!pmu || pmu->cpu[p] < 0)
				continue;
			printf("#link S%d.qpi%d ?\n", p, q);
			ports++;
		}
	}
	if (!ports)
		printf("# No QPI link was found: perf metrics status says why.\n");
	printf("#\n# Whose each node is, as the firmware numbers them; often one for each package.\n");
	for (p = 0; p < session->packages && p < MAP_PACKAGES; p++) {
		if (session->online[p])
			printf("#node %d S%d\n", p, p);
	}
	printf("#\n# What a memory controller can move at most, in bytes per second. Measure it with a\n"
	       "# program such as STREAM on all CPUs; it is the largest value of\n"
	       "#\tperf metrics memory_bandwidth --per-box -- COMMAND\n"
	       "# No program reaches the rate of the channels, 34.1 GB/s at DDR3-1066. One controller\n"
	       "# alone:\n"
	       "#\tlimit memory NUMBER S0/mbox_0\n"
	       "#limit memory ?\n");
	return 0;
}
