// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which values go where on the map.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "map.h"

static const char MISS[] = "llc_miss_rate", READ[] = "memory_read_bandwidth",
		  WRITE[] = "memory_write_bandwidth", SENT[] = "qpi_outgoing_bandwidth",
		  USED[] = "qpi_utilization", TO[] = "home_requests_to_node";

static struct metric *ask(struct session *session, const char *name)
{
	int i;

	for (i = 0; i < session->num_metrics; i++) {
		if (!strcmp(session->metric[i]->name, name)) {
			session->metric[i]->asked = true;
			return session->metric[i];
		}
	}
	warn("the map is also of %s, and there is no such metric", name);
	return NULL;
}

/* Nodes that nobody has named are not counted: each two take a turn of their own. */
static int ask_nodes(struct session *session)
{
	struct metric *metric = ask(session, TO);
	int i, num = 0;

	if (!metric)
		return STATUS_USAGE;
	for (i = 0; i < metric->num_parts; i++) {
		int node = atoi(metric->part[i]);

		if (node >= 0 && node < MAP_NODES && *session->map->topology.node[node])
			metric->part[num++] = metric->part[i];
	}
	metric->num_parts = num;
	return 0;
}

int map_ask(struct session *session)
{
	static const char * const names[] = { MISS, READ, WRITE, SENT, USED };
	const struct options *options = &session->options;
	char *path = options->topology ? format("%s", options->topology) : file_find("topology");
	struct map *map = session->map = allocate(sizeof(*map));
	int status = 0;
	unsigned int i;

	if (session->packages > MAP_PACKAGES)
		status = fail(STATUS_USAGE, "the map has room for %d packages, and here are %d",
			      MAP_PACKAGES, session->packages);
	if (path && !status) {
		status = topology_read(&map->topology, path);
		map->has_topology = true;
	}
	free(path);
	for (i = 0; i < sizeof(names) / sizeof(names[0]) && !status; i++)
		status = ask(session, names[i]) ? 0 : STATUS_USAGE;
	if (options->matrix && !status)
		status = map->topology.nodes ? ask_nodes(session) :
			 fail(STATUS_USAGE, "--matrix wants a topology file that says whose the nodes "
			      "are: perf-metrics(5)");
	return status;
}

static bool has_box(const struct session *session, const char *base, int number, int package)
{
	int i;

	for (i = 0; i < session->num_pmus; i++) {
		if (session->pmu[i].number == number && !strcmp(session->pmu[i].base, base))
			return session->pmu[i].cpu[package] >= 0;
	}
	return false;
}

static int count_cboxes(const struct session *session)
{
	int num = 1, i;

	for (i = 0; i < session->num_pmus; i++) {
		const struct pmu *pmu = &session->pmu[i];

		if (!strcmp(pmu->base, "xeon7500_cbox") && pmu->number >= num &&
		    pmu->number < MAP_CBOXES)
			num = pmu->number + 1;
	}
	return num;
}

static void set(struct map_value *to, const struct value *from, double *most)
{
	const char *why = from->why ?: from->note;

	to->state = from->why ? MAP_NONE : from->note ? MAP_ODD :
		    from->running < 1 ? MAP_TURNS : MAP_WHOLE;
	to->value = from->why ? 0 : from->value;
	to->why = why ? format("%s", why) : NULL;
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
	struct map_value *to = &package->to[column_of(map, map->topology.node[node])];

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

static void place(const struct session *session, struct map *map, const struct value *value)
{
	struct map_package *package = &map->package[value->package];
	const char *name = value->metric->name;
	int i;

	if (!strcmp(name, TO)) {
		add_node(map, package, value);
		return;
	}
	i = index_of(value->cell, "cbox_", MAP_CBOXES);
	if (i >= 0 && !strcmp(name, MISS) && has_box(session, "xeon7500_cbox", i, value->package))
		set(&package->miss[i], value, &map->most_miss);
	i = index_of(value->cell, "mbox_", MAP_MBOXES);
	if (i >= 0 && !strcmp(name, READ) && has_box(session, "xeon7500_mbox", i, value->package))
		set(&package->read[i], value, &map->most_memory);
	/* The B-Box sees what its M-Box is to write. */
	i = index_of(value->cell, "bbox_", MAP_MBOXES);
	if (i >= 0 && !strcmp(name, WRITE) && has_box(session, "xeon7500_bbox", i, value->package))
		set(&package->write[i], value, &map->most_memory);
	/* QPI 0 and 1 are of the left half of the router, 2 and 3 of the right one. */
	i = index_of(value->cell, "qpi", MAP_PORTS);
	if (i >= 0 && has_box(session, "xeon7500_rbox", i / 2, value->package)) {
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
static void map_make(struct session *session, double time)
{
	struct options by_box = { .per_box = true };
	struct map *map = session->map;
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
	*map = (struct map){
		.topology = map->topology, .has_topology = map->has_topology,
		.only_matrix = map->only_matrix, .matrix = session->options.matrix, .time = time,
		.packages = session->packages, .cboxes = count_cboxes(session),
	};
	for (i = 0; i < session->cpus; i++) {
		if (session->package_of[i] >= 0)
			map->package[session->package_of[i]].there = true;
	}
	/* In the order of the nodes, whoever has values. */
	for (i = 0; map->matrix && i < MAP_NODES; i++) {
		if (*map->topology.node[i])
			column_of(map, map->topology.node[i]);
	}
	values = values_make(session, &by_box, &num);
	for (i = 0; i < num; i++) {
		if (values[i].package >= 0)
			place(session, map, &values[i]);
	}
	/* What no package has a value of has a reason of its own, such as the wrong machine. */
	for (i = 0; i < num && !session->any_value; i++)
		warn("%s %s: n/a, because %s", values[i].scope, values[i].metric->name,
		     values[i].why);
	values_free(values, num);
	find_busiest(map);
}

static void redraw(const struct map *map)
{
	int rows = terminal_rows();
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	map_text(f, map, rows);
	fclose(f);
	terminal_show(text);
	free(text);
}

bool map_key(struct session *session, int key)
{
	if (key == 'm' && session->map->matrix) {
		session->map->only_matrix = !session->map->only_matrix;
		redraw(session->map);
	}
	/* Ctrl-C is a key here: as a signal it would end perf, which waits for us, before us. */
	if (key != 'q' && key != 3)
		return false;
	terminal_end();
	return true;
}

int map_output(struct session *session, double time)
{
	const char *path = session->options.map_file;
	int status;

	map_make(session, time);
	if (path) {
		status = replace_begin(session, path);
		if (status)
			return status;
		map_svg(session->file, session->map);
		return replace_end(session, path);
	}
	if (session->key) {
		/* Nothing more once it has been given back. */
		if (terminal_rows())
			redraw(session->map);
	} else {
		if (session->results++)
			printf("\n");
		map_text(stdout, session->map, 0);
	}
	return output_end();
}
