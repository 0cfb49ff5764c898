// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which values go where on the map.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "rule.h"
#include "screen.h"

/* Metrics by the place of their values. */
static const struct field {
	const char *metric, *cell;	/* its cells are cbox_0 and so on */
	const char *pmu;		/* that has to be there */
	int per_pmu;			/* so many of the cells */
	size_t at;
	int num;
} fields[] = {
#define PLACE(field, num)	offsetof(struct map_package, field), num
	{ "llc_miss_rate", "cbox_", "xeon7500_cbox", 1, PLACE(miss, MAP_CBOXES) },
	{ "memory_read_bandwidth", "mbox_", "xeon7500_mbox", 1, PLACE(read, MAP_MBOXES) },
	/* The B-Box sees what its M-Box is to write. */
	{ "memory_write_bandwidth", "bbox_", "xeon7500_bbox", 1, PLACE(write, MAP_MBOXES) },
	/* QPI 0 and 1 are of the left half of the router, 2 and 3 of the right one. */
	{ "qpi_outgoing_bandwidth", "qpi", "xeon7500_rbox", 2, PLACE(sent, MAP_PORTS) },
	{ "qpi_utilization", "qpi", "xeon7500_rbox", 2, PLACE(used, MAP_PORTS) },
};

#define NUM_FIELDS	(sizeof(fields) / sizeof(fields[0]))

/* ---- values as a map has them: short, and with what is to be known of them ---- */

char *map_number(double value, const char *unit)
{
	/* What would be rounded up to four digits gets the next prefix. */
	const char *prefix = scaled(&value, 999.5);
	int digits = !*prefix || fabs(value) >= 99.95 ? 0 : fabs(value) >= 9.995 ? 1 : 2;
	bool over = fabs(value) >= 999.5;

	/* Beyond the last prefix the number would not fit. */
	return format("%s%.*f%s%s%s", over ? ">" : "", digits, over ? copysign(999, value) : value,
		      *unit ? " " : "", prefix, unit);
}

char *map_label(const struct map_value *value, const char *unit)
{
	static const char * const marks[] = {
		[MAP_ABSENT] = "-", [MAP_NONE] = "n/a", [MAP_ODD] = "!", [MAP_TURNS] = "~",
		[MAP_WHOLE] = "",
	};

	return format("%s%s", marks[value->state], map_is(value) ? map_number(value->value, unit) : "");
}

bool map_is(const struct map_value *value)
{
	return value->state >= MAP_ODD;
}

struct map_value map_sum(const struct map_value *values, int num)
{
	struct map_value sum = {};
	int i;

	for (i = 0; i < num; i++) {
		if (values[i].state == MAP_ABSENT)
			continue;
		if (sum.state == MAP_ABSENT || values[i].state < sum.state) {
			sum.state = values[i].state;
			sum.why = values[i].why;
		}
		sum.value += values[i].value;
	}
	return sum;
}

double map_share(const struct map_value *value, double most)
{
	return map_is(value) && most > 0 ? fmax(fmin(value->value / most, 1), 0) : 0;
}

double map_decades(const struct map_value *value)
{
	return map_is(value) ? fmin(fmax(log10(value->value / MAP_RARE) / 4, 0), 1) : 0;
}

const char *map_peer(const struct map *map, int package, int port)
{
	const char *peer = map->topology->link[package][port].peer;

	return *peer ? peer : "?";
}

bool map_busiest(const struct map *map, int package, int port)
{
	return map->num_busiest && map->busiest[0].package == package &&
	       map->busiest[0].port == port;
}

char *map_used(const struct map_value *used)
{
	struct map_value none = { .state = used->state, .value = NAN };

	return map_is(used) ? format("%s%.0f %%", used->state == MAP_ODD ? "!" :
				     used->state == MAP_TURNS ? "~" : "", used->value) :
	       map_label(&none, "");
}

/* ---- what is asked for ---- */

static const char TO[] = "home_requests_to_node";

static struct metric *ask(struct session *session, const char *name)
{
	struct metric *metric = metric_named(session, name);

	if (metric)
		metric->asked = true;
	else
		warn("the map is also of %s, and there is no such metric", name);
	return metric;
}

/* Nodes without a name are not counted: with more than two, nodes are multiplexed. */
static int ask_nodes(struct session *session)
{
	struct metric *metric = ask(session, TO);
	int i, num = 0;

	if (!metric)
		return STATUS_USAGE;
	for (i = 0; i < metric->num_parts; i++) {
		int node = atoi(metric->part[i]);

		if (node >= 0 && node < MAP_NODES && *session->map->topology->node[node])
			metric->part[num++] = metric->part[i];
	}
	metric->num_parts = num;
	return 0;
}

int map_ask(struct session *session)
{
	const struct options *options = &session->options;
	const char *dot = options->output ? strrchr(options->output, '.') : NULL;
	struct map *map = session->map = allocate(sizeof(*map));
	int status = 0;
	unsigned int i;
	char *svg;

	if (session->packages < 1 || session->packages > MAP_PACKAGES)
		return fail(STATUS_FAILED, session->packages ?
			    "the map is of packages S0 to S%d, and here is S%d" : "here is no package",
			    MAP_PACKAGES - 1, session->packages - 1);
	map->topology = session->topology;
	svg = dot ? format("%.*s.svg", (int)(dot - options->output), options->output) : "";
	if (options->show == MAP && dot && !strchr(dot, '/') && strcmp(dot, ".svg"))
		return fail(STATUS_USAGE, "a picture is SVG: -o %s, and then rsvg-convert -o %s %s",
			    svg, options->output, svg);
	map->has_topology = session->topology_file.path;
	for (i = 0; i < NUM_FIELDS && !status; i++)
		status = ask(session, fields[i].metric) ? 0 : STATUS_USAGE;
	if (!options->matrix || status)
		return status;
	return map->topology->nodes ? ask_nodes(session) :
	       fail(STATUS_USAGE, "--matrix needs a topology file that says whose the nodes "
		    "are: perf-metrics(5)");
}

/* ---- what is placed ---- */

static struct map_value value_of(const struct value *from)
{
	return (struct map_value){
		.state = from->why ? MAP_NONE : from->note ? MAP_ODD :
			 from->running < 1 ? MAP_TURNS : MAP_WHOLE,
		.value = from->why ? 0 : from->value,
		.why = from->why ?: from->note,
	};
}

/* "cbox_3" and "qpi3" are 3, if what is before it is the same. */
static int index_of(const char *cell, const char *kind, int num)
{
	size_t len = strlen(kind);
	int i = cell && !strncmp(cell, kind, len) ? atoi(cell + len) : -1;

	return i < num ? i : -1;
}

static int column_of(struct map *map, const char *peer)
{
	int i;

	for (i = 0; i < map->columns && strcmp(map->column[i], peer); i++)
		;
	map->column[i] = peer;
	if (i == map->columns)
		map->columns++;
	return i;
}

/* A peer may have several nodes, each with a value. */
static void add_node(struct map *map, struct map_package *package, const struct value *value)
{
	int node = index_of(value->cell, "", MAP_NODES);
	struct map_value *to;

	if (node < 0 || !*map->topology->node[node])
		return;
	to = &package->to[column_of(map, map->topology->node[node])];
	*to = map_sum((struct map_value[]){ *to, value_of(value) }, 2);
}

static void place(const struct session *session, struct map *map, const struct value *value)
{
	struct map_package *package = &map->package[value->package];
	const struct field *field;

	map->seconds = fmax(map->seconds, value->seconds);
	if (!strcmp(value->metric->name, TO)) {
		add_node(map, package, value);
		return;
	}
	for (field = fields; field < fields + NUM_FIELDS; field++) {
		struct map_value *to = (void *)((char *)package + field->at);
		int i = index_of(value->cell, field->cell, field->num);
		const struct pmu *pmu = pmu_of(session, field->pmu, i / field->per_pmu);

		if (i < 0 || strcmp(value->metric->name, field->metric) || !pmu ||
		    pmu->cpu[value->package] < 0)
			continue;
		to[i] = value_of(value);
	}
}

static void find_limits(struct session *session, struct map *map)
{
	int p, i;

	for (p = 0; p < map->packages; p++) {
		struct map_package *package = &map->package[p];

		for (i = 0; i < MAP_MBOXES; i++) {
			double most = limit_of(session, "memory", p, format("mbox_%d", i));

			package->limit_memory[i] = most;
			map->has_limit |= most > 0;
			package->full[i] = map_sum((struct map_value[]){
				package->read[i], package->write[i] }, 2);
			package->full[i].value *= most ? 100 / most : 0;
		}
		for (i = 0; i < MAP_PORTS; i++)
			map->limit_qpi = fmax(map->limit_qpi,
					      limit_of(session, "qpi", p, format("qpi%d", i)));
	}
	map->limit_qpi = map->limit_qpi ?: MAP_QPI;
}

/*
 * Each takes its place among those that are there; of equal ones the first stays before. What is
 * shown as 0 % is none of them.
 */
static void find_busiest(struct map *map)
{
	int p, i, at;

	for (p = 0; p < map->packages; p++) {
		for (i = 0; i < MAP_PORTS; i++) {
			double used = map->package[p].used[i].value;

			for (at = map->num_busiest; at && used > map->package[map->busiest[at - 1]
			     .package].used[map->busiest[at - 1].port].value; at--)
				;
			if (!(used >= 1) || at == MAP_BUSIEST)
				continue;
			if (map->num_busiest < MAP_BUSIEST)
				map->num_busiest++;
			memmove(&map->busiest[at + 1], &map->busiest[at],
				(map->num_busiest - 1 - at) * sizeof(map->busiest[0]));
			map->busiest[at].package = p;
			map->busiest[at].port = i;
		}
	}
}

/* https://reproducible-builds.org/specs/source-date-epoch/: equal counts then make equal maps. */
static void set_title(const struct session *session, struct map *map)
{
	const char *epoch = getenv("SOURCE_DATE_EPOCH");
	time_t when = epoch ? strtoll(epoch, NULL, 10) : session->when ?: time(NULL);
	char own[HOST_NAME_MAX + 1] = "";
	const char *host = session->host ?: own;
	size_t len;
	struct tm tm;

	/* It fails for a year that does not fit. */
	if (localtime_r(&when, &tm))
		strftime(map->when, sizeof(map->when), "%Y-%m-%d %H:%M:%S %z", &tm);
	if (!session->options.host)
		return;
	if (host == own)
		gethostname(own, sizeof(own) - 1);
	/* A longer one has no room; it is cut between two characters. */
	for (len = strnlen(host, sizeof(map->host) - 1); len && (host[len] & 0xc0) == 0x80; len--)
		;
	memcpy(map->host, host, len);
}

/* What was on it before is forgotten. */
void map_make(struct session *session, double time)
{
	struct options by_box = { .per_box = true };
	struct map *map = session->map;
	struct value *values;
	int num, i;

	*map = (struct map){
		.topology = map->topology, .has_topology = map->has_topology,
		.matrix = session->options.matrix, .time = time, .packages = session->packages,
		.cboxes = MAP_CBOXES,
	};
	set_title(session, map);
	while (map->cboxes > 1 && !pmu_of(session, "xeon7500_cbox", map->cboxes - 1))
		map->cboxes--;
	for (i = 0; i < session->packages; i++)
		map->package[i].there = session->online[i];
	/* In the order of the nodes, whoever has values. */
	for (i = 0; map->matrix && i < MAP_NODES; i++) {
		if (*map->topology->node[i])
			column_of(map, map->topology->node[i]);
	}
	values = values_make(session, &by_box, &num);
	for (i = 0; i < num; i++) {
		if (values[i].package >= 0)
			place(session, map, &values[i]);
	}
	find_limits(session, map);
	find_busiest(map);
	/* What no package has a value of has a reason of its own, such as the wrong machine. */
	for (i = 0; i < num && !session->any_value && !session->results; i++)
		warn("%s %s: n/a, because %s", values[i].scope, values[i].metric->name,
		     values[i].why);
}

static void draw(struct session *session, FILE *f, int columns)
{
	const struct map *map = session->view->shown;

	if (!map->packages)
		fprintf(f, "perf metrics map: the first interval is under way.\n");
	else
		map_text(f, map, columns, true);
}

void map_begin(struct session *session)
{
	static struct view view = { .keys = "", .size = sizeof(struct map), .draw = draw };

	view.newest = session->map;
	session->view = &view;
	if (screen_begin(session))
		session->view = NULL;
}

/* COLUMNS may be any number. */
#define MOST_COLUMNS	1000

/* Of what is printed once: those of the terminal, or 80. */
static int columns(void)
{
	const char *given = getenv("COLUMNS");
	struct winsize size;
	int num = given ? atoi(given) : 0;

	if (num <= 0 && isatty(STDOUT_FILENO) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		num = size.ws_col;
	return num > MOST_COLUMNS ? MOST_COLUMNS : num > 0 ? num : 80;
}

int map_output(struct session *session, double time)
{
	const char *path = session->options.output;
	int status;

	map_make(session, time);
	if (path) {
		status = replace_begin(session, path);
		if (status)
			return status;
		map_svg(session->file, session->map);
		session->results++;
		return replace_end(session, path);
	}
	if (session->view) {
		screen_update(session, time);
	} else {
		if (session->results)
			printf("\n");
		map_text(stdout, session->map, columns(), false);
	}
	session->results++;
	return output_end();
}
