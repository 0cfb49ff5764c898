// SPDX-License-Identifier: GPL-2.0-only
/*
 * The map as text. A package is a block of eight lines; in 80 columns there are up to four
 * blocks side by side, so that eight packages have room in 24 lines.
 */
#include <stdio.h>
#include <string.h>

#include "map.h"
#include "screen.h"

#define NARROWEST	19	/* block */
#define WIDE		39	/* one with bars of memory, and with what a link sends */
#define LINES		8	/* of a block */

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

/* So many of these characters, and no more than there is room for. */
static void fill(char *bar, int room, double share, char mark)
{
	int at = strlen(bar), num = room * share + 0.5;

	while (num-- > 0 && at < room)
		bar[at++] = mark;
}

/* M0 r 10.0G w 5.0G  #####++........|  44%: both of what is possible, which is where | is. */
static char *mbox(const struct map *map, int package, int i, int width, double *share)
{
	const struct map_value *read = &map->package[package].read[i];
	const struct map_value *write = &map->package[package].write[i];
	struct map_value sum = map_sum((struct map_value[]){ *read, *write }, 2);
	char *text = format("M%d r%6s w%6s", i, map_label(read, ""), map_label(write, ""));
	int room = width - 24;
	double most = map->package[package].limit_memory[i];
	char *bar;

	if (!map_is(&sum) || !map->has_limit_memory)
		return text;
	*share = sum.value / most;
	if (width < WIDE)
		return text;
	bar = allocate(room + 1);
	fill(bar, room, map_share(read, most), '#');
	fill(bar, room, map_share(write, most), '+');
	fill(bar, room, 1, '.');
	return format("%s %s|%3.0f%%", text, bar, 100 * *share);
}

/* q0>S1  ####...  55%, with what is sent where that has room; < at the end marks the busiest. */
static char *link(const struct map *map, int package, int port, int width, double *share)
{
	const struct map_value *used = &map->package[package].used[port];
	bool wide = width >= WIDE;
	int room = width - (wide ? 23 : 12);
	char *name = format(wide ? "q%d>%-7s " : "q%d>%-4.4s", port, map_peer(map, package, port));
	char *bar = allocate(room + 1);

	if (!map_is(used))
		return format("%s%s", name, map_label(used, ""));
	*share = used->value / 100;
	fill(bar, room, map_share(used, 100), used->state == MAP_WHOLE ? '#' : cell(used, 0));
	fill(bar, room, 1, '.');
	return format("%s%s%3.0f%%%s%s", name, bar, used->value,
		      wide ? format("%7s", map_label(&map->package[package].sent[port], "")) : "",
		      map_busiest(map, package, port) ? "<" : "");
}

/* The share of a limit that the line is about goes to *share. */
static char *block_line(const struct map *map, int p, int line, int width, double *share)
{
	const struct map_package *package = &map->package[p];

	if (line == 0) {
		char *rule = allocate(width + 1);

		fill(rule, width, 1, '=');
		return format("== S%d %s", p, rule);
	}
	if (!package->there)
		return line == 1 ? "no CPU is online" : "";
	if (line == 1)
		return cboxes(map, p);
	if (line < 4)
		return mbox(map, p, line - 2, width, share);
	return link(map, p, line - 4, width, share);
}

/* Lines are cut at their width and filled up to it. */
static void draw_blocks(FILE *f, const struct map *map, int columns, bool screen)
{
	int across = columns / (NARROWEST + 1), most = columns / 4 > WIDE ? columns / 4 : WIDE;
	int width, first, line, p;

	across = across < 1 ? 1 : across > 4 ? 4 : across;
	across = across < map->packages ? across : map->packages;
	width = columns / across - 1;
	width = width < NARROWEST ? NARROWEST : width > most ? most : width;
	for (first = 0; first < map->packages; first += across) {
		for (line = 0; line < LINES; line++) {
			for (p = first; p < first + across && p < map->packages; p++) {
				double share = 0;
				char *text = block_line(map, p, line, width, &share);

				fprintf(f, "%s", p > first ? " " : "");
				if (screen)
					fprintf(f, "%c", line ? style_of(share) : STYLE_HEAD);
				fprintf(f, "%-*.*s", width, width, text);
				if (screen)
					fprintf(f, "%c", STYLE_PLAIN);
			}
			fprintf(f, "\n");
		}
	}
}

static void wrap(FILE *f, const char *text, int columns)
{
	put_wrapped(f, text, 0, columns);
}

static void draw_head(FILE *f, const struct map *map, int columns)
{
	int p = map->busiest[0].package, port = map->busiest[0].port;
	const struct map_value *sent = &map->package[p].sent[port];
	char *text = "No link is known to be in use";

	wrap(f, format("perf\tmetrics\tmap%s%s  %s  %.3f\ts\tcounted%s", *map->host ? "  " : "",
		       map->host, map->when, map->seconds,
		       map->time ? format("  at\t%.3f\ts", map->time) : ""), columns);
	if (map->num_busiest)
		text = format("Busiest\tlink: S%d\tqpi%d\t>\t%s, %.0f\t%%\tfull%s", p, port,
			      map_peer(map, p, port), map->package[p].used[port].value,
			      map_is(sent) ? format(", %s", map_label(sent, "B/s")) : "");
	wrap(f, text, columns);
}

static void draw_next(FILE *f, const struct map *map, int columns)
{
	char *text = "Then:";
	int i;

	for (i = 1; i < map->num_busiest; i++) {
		int p = map->busiest[i].package, port = map->busiest[i].port;

		text = format("%s%s S%d\tq%d>%s\t%.0f%%", text, i > 1 ? "," : "", p, port,
			      map_peer(map, p, port), map->package[p].used[port].value);
	}
	if (i > 2 || map->num_busiest > 1)
		wrap(f, text, columns);
}

static void draw_legend(FILE *f, const struct map *map, int columns)
{
	fprintf(f, "\n");
	wrap(f, format("C misses/s of each C-Box, from . to @ (%s), and their sum",
		       map_number(map->most_miss, "")), columns);
	wrap(f, format("M B/s each M-Box reads # and writes +%s  ~\t/\tturns  blank\t-\tabsent  "
		       "?\tn/a  !\todd", !map->has_limit_memory ? "" :
		       !map->one_limit ? ", | is the limit" :
		       format(", | is %s", map_number(map->limit_memory, ""))), columns);
	wrap(f, format("q QPI link > where it leads%s, how full, B/s sent",
		       map->has_topology ? "" : " (? without a topology file)"), columns);
}

static void draw_matrix(FILE *f, const struct map *map, int columns)
{
	int room = (columns - 15) / 7, p, i;

	room = room < map->columns ? room : map->columns;
	fprintf(f, "\nHome requests/s");
	for (i = 0; i < room; i++)
		fprintf(f, "%7s", map->column[i]);
	fprintf(f, "\n");
	for (p = 0; p < map->packages; p++) {
		fprintf(f, "  from S%d to   ", p);
		for (i = 0; i < room; i++)
			fprintf(f, "%7s", map_label(&map->package[p].to[i], ""));
		fprintf(f, "\n");
	}
	if (room < map->columns)
		fprintf(f, "  and %d more, which the picture of -o has\n", map->columns - room);
}

void map_text(FILE *f, const struct map *map, int columns, bool screen)
{
	draw_head(f, map, columns);
	draw_blocks(f, map, columns, screen);
	draw_next(f, map, columns);
	draw_legend(f, map, columns);
	if (map->matrix)
		draw_matrix(f, map, columns);
}
