// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a place can do at most. The topology file says it, or the machine does: its firmware has a
 * table of the memory devices (DMI, SMBIOS 7.18), which root can read.
 */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "rule.h"

/*
 * An M-Box has four channels of DDR3, 8 bytes wide, behind its two memory buffers, which do not run
 * faster than DDR3-1066.
 */
#define CHANNELS	4
#define MAX_SPEED	1066

const struct topology *session_topology(struct session *session)
{
	struct text *file = &session->topology_file;
	struct topology *topology;

	if (session->topology)
		return session->topology;
	/* A recording has its own, and that of the machine it is looked at on is another one. */
	if (session->options.topology || session->options.mode != REPORT)
		*file = (struct text){ session->options.topology ?: file_find("topology") };
	topology = allocate(sizeof(*topology));
	if (!file->path || !topology_read(topology, file))
		session->topology = topology;
	return session->topology;
}

/* ---- DMI ---- */

static char *dmi_path(const struct session *session)
{
	return format("%s/firmware/dmi/tables/DMI", session->world->sys);
}

static int word_at(const uint8_t *at)
{
	return at[0] | at[1] << 8;
}

/*
 * The MT/s that no memory device exceeds: those of the slowest one that is populated and says its
 * speed, by which all run. 0 if none says it. A structure has a type, a length, its fields, and
 * strings up to two zeros.
 */
int dmi_speed(const struct session *session)
{
	FILE *f = fopen(dmi_path(session), "re");
	static uint8_t table[1 << 16];
	size_t size, at = 0, next;
	int least = 0;

	if (!f)
		return 0;
	size = fread(table, 1, sizeof(table), f);
	fclose(f);
	while (at + 4 <= size && table[at + 1] >= 4 && at + table[at + 1] <= size) {
		const uint8_t *entry = table + at;
		int len = entry[1], speed = 0;

		if (entry[0] == 17 && len >= 0x17 && word_at(entry + 0xc)) {
			speed = len >= 0x22 ? word_at(entry + 0x20) : 0;
			speed = speed ?: word_at(entry + 0x15);
			/* Before SMBIOS 2.7 this is the speed of the DIMM, which may run slower. */
			speed = speed > MAX_SPEED ? MAX_SPEED : speed;
			least = speed && (!least || speed < least) ? speed : least;
		}
		for (next = at + len; next + 1 < size && (table[next] || table[next + 1]); next++)
			;
		at = next + 2;
	}
	return least;
}

double limit_of(struct session *session, const char *kind, int package, const char *cell,
		char **why)
{
	const struct topology *topology = session_topology(session);
	const char *places[] = { cell ? format("S%d/%s", package, cell) : "", format("S%d", package),
				 "" };
	const char *path = session->topology_file.path;
	int speed = strcmp(kind, "memory") ? 0 : session->memory_speed;
	unsigned int p;
	char *how;

	*why = NULL;
	for (p = 0; topology && p < sizeof(places) / sizeof(places[0]); p++) {
		double most = topology_limit(topology, kind, places[p]);

		if (most)
			return most;
	}
	how = path ? format("Write a line 'limit %s NUMBER' into the topology file, %s", kind, path) :
	      format("Write a line 'limit %s NUMBER' into the topology file: perf metrics status "
		     "--topology prints one", kind);
	if (speed) {
		*why = format("only the rate of its channels is known, %.3g GB/s, which no program "
			      "reaches. Measure what memory can move. %s", CHANNELS * 8e-3 * speed, how);
		return CHANNELS * 8e6 * speed;
	}
	*why = format("the limit '%s' is not known here. %s", kind, how);
	return NAN;
}

/* ---- for Prometheus ---- */

/* Do both have values of the same boxes or ports? */
static bool same_places(const struct metric *a, const struct metric *b)
{
	size_t len = strcspn(a->event[0].text, "/");

	return a->scope == b->scope && !strcmp(a->kind, b->kind) &&
	       (!metric_has_cells(a) || !strncmp(a->event[0].text, b->event[0].text, len + 1));
}

/* Has an earlier rule a limit of this kind for the same places? */
static bool limit_again(const struct session *session, int num, const char *kind,
			const struct metric *metric)
{
	int r, i;

	for (r = 0; r < num; r++) {
		const struct rule *rule = session->rule[r];

		for (i = 0; i < rule->num_values; i++) {
			if (rule->value[i].of == OF_LIMIT && !strcmp(rule->value[i].text, kind) &&
			    same_places(rule->value[0].metric, metric))
				return true;
		}
	}
	return false;
}

static void write_limit(struct session *session, const char *kind, const struct metric *metric,
			const struct value *values, int num, FILE *f, bool *any)
{
	char *why;
	double most;
	int v;

	for (v = 0; v < num; v++) {
		const struct value *value = &values[v];

		if (value->metric != metric || value->package < 0 ||
		    !value->cell != !metric_has_cells(metric))
			continue;
		most = limit_of(session, kind, value->package, value->cell, &why);
		if (isnan(most))
			continue;
		if (!*any)
			fprintf(f, "# HELP perf_metrics_limit What a place can do at most\n"
				"# TYPE perf_metrics_limit gauge\n");
		*any = true;
		fprintf(f, "perf_metrics_limit{limit=\"%s\",socket=\"%d\"%s} %.15g\n", kind,
			value->package, value->cell ? format(",box=\"%s\"", value->cell) : "", most);
	}
}

void limits_write(struct session *session, const struct value *values, int num, FILE *f)
{
	bool any = false;
	int r, i;

	for (r = 0; r < session->num_rules; r++) {
		const struct rule *rule = session->rule[r];
		const struct metric *metric = rule->value[0].metric;

		for (i = 0; i < rule->num_values; i++) {
			if (rule->value[i].of == OF_LIMIT && machine_is(session, rule->group->machines) &&
			    !limit_again(session, r, rule->value[i].text, metric))
				write_limit(session, rule->value[i].text, metric, values, num, f, &any);
		}
	}
}

/* ---- a skeleton ---- */

int topology_skeleton(struct session *session)
{
	const struct pmu *pmu;
	int speed = session->memory_speed, p, q, ports = 0;

	printf("# Topology of this machine for perf metrics, see perf-metrics(5). Made by\n"
	       "#\tperf metrics status --topology >topology\n"
	       "# Fill it in and put it where perf metrics finds it:\n"
	       "#\tcp topology /etc/perf-metrics/topology\n"
	       "#\n"
	       "# Where each QPI link leads: the board's manual says it. Take the # away and put the\n"
	       "# other end, or a name such as IOH0, in the place of '?'; a link is written once.\n");
	for (p = 0; p < session->packages && p < MAP_PACKAGES; p++) {
		for (q = 0; session->online[p] && q < MAP_PORTS; q++) {
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
	       "# No program reaches the rate of the channels, %.3g GB/s%s. One controller alone:\n"
	       "#\tlimit memory NUMBER S0/mbox_0\n"
	       "#limit memory ?\n", CHANNELS * 8e-3 * (speed ?: MAX_SPEED), speed ? "" : " at most");
	return 0;
}
