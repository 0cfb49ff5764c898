// SPDX-License-Identifier: GPL-2.0-only
/*
 * The map as text. A package is a block of eight lines; there are up to four blocks side by
 * side, so that eight packages have room in 80 columns and 24 lines.
 */
#include <stdio.h>

#include "map.h"

#define COLUMNS	80
#define LINES	8	/* of a block */
#define RULE	"======================================="

static char cell(const struct map_value *value, double most)
{
	static const char states[] = " ?!/", levels[] = ".:-=+*#%@";

	return value->state < MAP_WHOLE ? states[value->state] :
	       levels[(int)(8 * map_share(value, most) + 0.5)];
}

static char *cboxes(const struct map *map, int package)
{
	const struct map_value *miss = map->package[package].miss;
	struct map_value sum = map_sum(miss, MAP_CBOXES);
	char cells[MAP_CBOXES + 1] = "";
	int i;

	for (i = 0; i < map->cboxes; i++)
		cells[i] = cell(&miss[i], map->most_miss);
	return format("C %s%*s", cells, 17 - map->cboxes, map_label(&sum, ""));
}

/* q0>S1  ####...  55%, with what is sent where that has room; < at the end marks the busiest. */
static char *link(const struct map *map, int package, int port, int width)
{
	const struct map_value *used = &map->package[package].used[port];
	bool wide = width >= 39;
	int num = width - (wide ? 23 : 12), full = num * map_share(used, 100) + 0.5, i;
	char *name = format(wide ? "q%d>%-7s " : "q%d>%-4.4s", port, map_peer(map, package, port));
	char bar[COLUMNS] = "";

	if (!map_is(used))
		return format("%s%s", name, map_label(used, ""));
	for (i = 0; i < num; i++)
		bar[i] = i >= full ? '.' : used->state == MAP_WHOLE ? '#' : cell(used, 0);
	return format("%s%s%3.0f%%%s%s", name, bar, used->value,
		      wide ? format("%7s", map_label(&map->package[package].sent[port], "")) : "",
		      map_busiest(map, package, port) ? "<" : "");
}

static char *block_line(const struct map *map, int p, int line, int width)
{
	const struct map_package *package = &map->package[p];

	if (line == 0)
		return format("== S%d %s", p, RULE);
	if (!package->there)
		return line == 1 ? "no CPU is online" : "";
	if (line == 1)
		return cboxes(map, p);
	if (line < 4)
		return format("M%d r%6s w%6s", line - 2, map_label(&package->read[line - 2], ""),
			      map_label(&package->write[line - 2], ""));
	return link(map, p, line - 4, width);
}

static int across(const struct map *map)
{
	return map->packages < 4 ? map->packages : 4;
}

/* Lines are cut at their width and filled up to it. */
static void draw_blocks(FILE *f, const struct map *map, bool screen)
{
	int num = across(map), width = COLUMNS / (num < 2 ? 2 : num) - 1, first, line, p;

	for (first = 0; first < map->packages; first += num) {
		for (line = 0; line < LINES; line++) {
			for (p = first; p < first + num && p < map->packages; p++) {
				bool reverse = screen && map_busiest(map, p, line - 4);

				fprintf(f, "%s%s%-*.*s%s", p > first ? " " : "",
					reverse ? "\033[7m" : "", width, width,
					block_line(map, p, line, width), reverse ? "\033[0m" : "");
			}
			fprintf(f, "\n");
		}
	}
}

static void draw_head(FILE *f, const struct map *map)
{
	int p = map->busiest.package, port = map->busiest.port, width = COLUMNS - 16;
	const struct map_value *sent = &map->package[p < 0 ? 0 : p].sent[port];
	char *text = "No link is known to be in use";

	if (p >= 0)
		text = format("Busiest link: S%d qpi%d > %s, %.0f %% full%s", p, port,
			      map_peer(map, p, port), map->package[p].used[port].value,
			      map_is(sent) ? format(", %s", map_label(sent, "B/s")) : "");
	fprintf(f, "%-*.*s", width, width, text);
	if (map->time)
		fprintf(f, "%14.3f s", map->time);
	fprintf(f, "\n");
}

static void draw_legend(FILE *f, const struct map *map)
{
	fprintf(f, "\nC misses/s of each C-Box, from . to @ (%s), and their sum\n",
		map_number(map->most_miss, ""));
	fprintf(f, "M B/s each M-Box reads and writes   ~ / turns   blank - absent   ? n/a   ! odd\n");
	fprintf(f, "q QPI link > where it leads%s, how full%s\n",
		map->has_topology ? "" : " (? without a topology file)",
		across(map) < 3 ? ", B/s sent" : "");
}

static void draw_matrix(FILE *f, const struct map *map)
{
	int columns = map->columns < 9 ? map->columns : 9, p, i;

	fprintf(f, "Home requests/s");
	for (i = 0; i < columns; i++)
		fprintf(f, "%7s", map->column[i]);
	fprintf(f, "\n");
	for (p = 0; p < map->packages; p++) {
		fprintf(f, "  from S%d to   ", p);
		for (i = 0; i < columns; i++)
			fprintf(f, "%7s", map_label(&map->package[p].to[i], ""));
		fprintf(f, "\n");
	}
	if (columns < map->columns)
		fprintf(f, "  and %d more, which the picture of -o has\n", map->columns - columns);
}

void map_text(FILE *f, const struct map *map, int rows)
{
	int blocks = (map->packages + across(map) - 1) / across(map);
	int lines = 1 + blocks * LINES + 4;
	bool room = !rows || lines + 2 + map->packages + (map->columns > 9) <= rows;

	draw_head(f, map);
	if (!map->matrix || room || !map->only_matrix) {
		draw_blocks(f, map, rows);
		draw_legend(f, map);
	}
	if (map->matrix && (room || map->only_matrix)) {
		fprintf(f, "\n");
		draw_matrix(f, map);
	} else if (map->matrix) {
		fprintf(f, "m shows who talks to whom\n");
	}
}
