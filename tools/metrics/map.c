// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which values go where on the map.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "map.h"

static const char MISS[] = "llc_miss_rate", READ[] = "memory_read_bandwidth",
		  WRITE[] = "memory_write_bandwidth", SENT[] = "qpi_outgoing_bandwidth",
		  USED[] = "qpi_utilization", TO[] = "home_requests_to_node";

static struct topology topology;
static bool has_topology;

static struct metric *ask(const char *name)
{
	int i;

	for (i = 0; i < num_metrics; i++) {
		if (!strcmp(metrics[i]->name, name)) {
			metrics[i]->asked = true;
			return metrics[i];
		}
	}
	die(STATUS_USAGE, "the map is also of %s, and there is no such metric", name);
}

/* Nodes that nobody has named are not counted: each two take a turn of their own. */
static void ask_nodes(void)
{
	struct metric *metric = ask(TO);
	int i, num = 0;

	for (i = 0; i < metric->num_parts; i++) {
		int node = atoi(metric->part[i]);

		if (node >= 0 && node < MAP_NODES && *topology.node[node])
			metric->part[num++] = metric->part[i];
	}
	metric->num_parts = num;
}

void map_ask(const struct options *options)
{
	static const char * const names[] = { MISS, READ, WRITE, SENT, USED };
	char *path = options->topology ? strdup(options->topology) : file_find("topology");
	unsigned int i;

	if (packages > MAP_PACKAGES)
		die(STATUS_USAGE, "the map has room for %d packages, and here are %d", MAP_PACKAGES,
		    packages);
	if (path) {
		topology_read(&topology, path);
		has_topology = true;
	}
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		ask(names[i]);
	if (options->matrix && !topology.nodes)
		die(STATUS_USAGE, "--matrix wants a topology file that says whose the nodes are: "
		    "perf-metrics(5)");
	if (options->matrix)
		ask_nodes();
	free(path);
}

char *map_number(char text[MAP_NUMBER], double value)
{
	static const char prefixes[] = " kMGTPE";
	int n = 0;

	/* What would be rounded up to four digits gets the next prefix. */
	while (value >= 999.5 && prefixes[n + 1]) {
		value /= 1000;
		n++;
	}
	snprintf(text, MAP_NUMBER, "%.*f%.*s", !n || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2, value,
		 !!n, prefixes + n);
	return text;
}

char *map_label(char text[MAP_LABEL], const struct map_value *value)
{
	char number[MAP_NUMBER];

	if (value->state == MAP_ABSENT)
		return strcpy(text, "-");
	if (value->state == MAP_NONE)
		return strcpy(text, "n/a");
	snprintf(text, MAP_LABEL, "%s%s", value->state == MAP_TURNS ? "~" : "",
		 map_number(number, value->value));
	return text;
}

bool map_is(const struct map_value *value)
{
	return value->state == MAP_TURNS || value->state == MAP_WHOLE;
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

static bool has_box(const char *base, int number, int package)
{
	int i;

	for (i = 0; i < num_pmus; i++) {
		if (pmus[i].number == number && !strcmp(pmus[i].base, base))
			return pmus[i].cpu[package] >= 0;
	}
	return false;
}

static int count_cboxes(void)
{
	int num = 1, i;

	for (i = 0; i < num_pmus; i++) {
		if (!strcmp(pmus[i].base, "xeon7500_cbox") && pmus[i].number >= num &&
		    pmus[i].number < MAP_CBOXES)
			num = pmus[i].number + 1;
	}
	return num;
}

static void set(struct map_value *to, const struct value *from, double *most)
{
	to->state = from->why ? MAP_NONE : from->running < 1 ? MAP_TURNS : MAP_WHOLE;
	to->value = from->why ? 0 : from->value;
	to->why = from->why ? strdup(from->why) : NULL;
	if (most)
		*most = fmax(*most, to->value);
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
	int node = atoi(value->cell);
	struct map_value both[2] = {};
	struct map_value *to = &package->to[column_of(map, map->topology->node[node])];

	both[0] = *to;
	set(&both[1], value, NULL);
	*to = map_sum(both, 2);
	/* One reason is enough. */
	if (both[1].why != to->why)
		free(both[1].why);
	if (both[0].why != to->why)
		free(both[0].why);
	map->most_to = fmax(map->most_to, to->value);
}

static void place(struct map *map, const struct value *value)
{
	struct map_package *package = &map->package[value->package];
	const char *name = value->metric->name;
	int i;

	if (!strcmp(name, TO)) {
		add_node(map, package, value);
		return;
	}
	i = index_of(value->cell, "cbox_", MAP_CBOXES);
	if (i >= 0 && !strcmp(name, MISS) && has_box("xeon7500_cbox", i, value->package))
		set(&package->miss[i], value, &map->most_miss);
	i = index_of(value->cell, "mbox_", MAP_MBOXES);
	if (i >= 0 && !strcmp(name, READ) && has_box("xeon7500_mbox", i, value->package))
		set(&package->read[i], value, &map->most_memory);
	/* The B-Box sees what its M-Box is to write. */
	i = index_of(value->cell, "bbox_", MAP_MBOXES);
	if (i >= 0 && !strcmp(name, WRITE) && has_box("xeon7500_bbox", i, value->package))
		set(&package->write[i], value, &map->most_memory);
	/* QPI 0 and 1 are of the left half of the router, 2 and 3 of the right one. */
	i = index_of(value->cell, "qpi", MAP_PORTS);
	if (i >= 0 && has_box("xeon7500_rbox", i / 2, value->package)) {
		if (!strcmp(name, SENT))
			set(&package->sent[i], value, NULL);
		else if (!strcmp(name, USED))
			set(&package->used[i], value, NULL);
	}
}

static void find_busiest(struct map *map)
{
	double most = 0;
	int p, i;

	map->busiest.package = -1;
	for (p = 0; p < map->packages; p++) {
		for (i = 0; i < MAP_PORTS; i++) {
			const struct map_value *used = &map->package[p].used[i];

			if (!map_is(used) || used->value <= most)
				continue;
			most = used->value;
			map->busiest.package = p;
			map->busiest.port = i;
		}
	}
}

static void forget(struct map_value *values, int num)
{
	while (num--)
		free(values[num].why);
}

/* What was on it before is forgotten. */
static void map_make(struct map *map, const struct plan *plan, const struct options *options)
{
	struct options by_box = { .per_box = true };
	struct value *values;
	int num, i;

	for (i = 0; i < MAP_PACKAGES; i++) {
		struct map_package *package = &map->package[i];

		forget(package->miss, MAP_CBOXES);
		forget(package->read, MAP_MBOXES);
		forget(package->write, MAP_MBOXES);
		forget(package->sent, MAP_PORTS);
		forget(package->used, MAP_PORTS);
		forget(package->to, MAP_NODES);
	}
	memset(map, 0, sizeof(*map));
	map->topology = &topology;
	map->has_topology = has_topology;
	map->matrix = options->matrix;
	map->packages = packages;
	map->cboxes = count_cboxes();
	for (i = 0; i < cpus; i++) {
		if (package_of[i] >= 0)
			map->package[package_of[i]].there = true;
	}
	/* In the order of the nodes, whoever has values. */
	for (i = 0; options->matrix && i < MAP_NODES; i++) {
		if (*topology.node[i])
			column_of(map, topology.node[i]);
	}
	values = values_make(plan, &by_box, &num);
	for (i = 0; i < num; i++) {
		output_any |= !values[i].why;
		if (values[i].package >= 0)
			place(map, &values[i]);
	}
	/* What no package has a value of has a reason of its own, such as the wrong machine. */
	for (i = 0; i < num && !output_any; i++)
		warn("%s %s: n/a, because %s", values[i].scope, values[i].metric->name,
		     values[i].why);
	values_free(values, num);
	find_busiest(map);
}

/* ---- the screen ---- */

static struct map shown;
static double shown_time;
static bool only_matrix;

static void redraw(void)
{
	int rows = terminal_rows();
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	map_text(f, &shown, shown_time, rows, only_matrix);
	fclose(f);
	terminal_show(text);
	free(text);
}

bool map_key(int key)
{
	if (key == 'm' && shown.matrix) {
		only_matrix = !only_matrix;
		redraw();
	}
	/* Ctrl-C is a key here: as a signal it would end perf, which waits for us, before us. */
	if (key != 'q' && key != 3)
		return false;
	terminal_end();
	return true;
}

void map_output(struct plan *plan, const struct options *options, double time)
{
	static bool again;

	map_make(&shown, plan, options);
	shown_time = time;
	if (options->map_file) {
		FILE *f = replace_begin(options->map_file);

		map_svg(f, &shown);
		replace_end(f, options->map_file);
	} else if (options->key) {
		/* Nothing more once it has been given back. */
		if (terminal_rows())
			redraw();
	} else {
		if (again)
			printf("\n");
		map_text(stdout, &shown, time, 0, false);
		fflush(stdout);
	}
	again = true;
}
