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
#define WIDE		39	/* one with what is read, written, and sent by a link */
#define LINES		8	/* of a block */

/* Of a share if it is all there is to know. */
static char cell(const struct map_value *value, double share)
{
	static const char states[] = " ?!/", levels[] = ".:-=+*#%@";

	return value->state < MAP_WHOLE ? states[value->state] :
	       levels[(int)(8 * share + 0.5)];
}

static char *cboxes(const struct map *map, int package)
{
	const struct map_value *miss = map->package[package].miss;
	struct map_value sum = map_sum(miss, MAP_CBOXES);
	char cells[MAP_CBOXES + 1] = "";
	int i;

	for (i = 0; i < map->cboxes; i++)
		cells[i] = cell(&miss[i], map_decades(&miss[i]));
	return format("C %s%*s", cells, 17 - map->cboxes, map_label(&sum, ""));
}

/* So many of these characters, and no more than there is room for. */
static void fill(char *bar, int room, double share, char mark)
{
	int at = strlen(bar), num = room * share + 0.5;

	while (num-- > 0 && at < room)
		bar[at++] = mark;
}

/*
 * M0 r 10.0G w 5.0G  #####++........|  44%: both of what is possible, which is where | is. Narrow
 * blocks have the sum of both: M0 15.0G ##+...| 44%.
 */
static char *mbox(const struct map *map, int p, int i, int width, double *share)
{
	const struct map_package *package = &map->package[p];
	const struct map_value *read = &package->read[i], *write = &package->write[i];
	struct map_value sum = map_sum((struct map_value[]){ *read, *write }, 2);
	double most = package->limit_memory[i];
	bool both = !most || !map_is(&sum) || width >= WIDE;
	char *text = both ? format("M%d r%6s w%6s", i, map_label(read, ""), map_label(write, "")) :
		     format("M%d%6s", i, map_label(&sum, ""));
	int room = width - strlen(text) - 6;
	char *bar;

	if (!map_is(&sum) || !most)
		return text;
	*share = sum.value / most;
	bar = allocate(room + 1);
	fill(bar, room, map_share(read, most), '#');
	fill(bar, room, map_share(write, most), '+');
	fill(bar, room, 1, '.');
	return format("%s %s|%3.0f%%", text, bar, package->full[i].value);
}

/*
 * q0>S1  ####...  55%, with what is sent where that has room; < at the end marks the busiest. A long
 * name takes room from the bar.
 */
static char *link(const struct map *map, int package, int port, int width, double *share)
{
	const struct map_value *used = &map->package[package].used[port];
	bool wide = width >= WIDE;
	char *name = format(wide ? "q%d>%-7s " : "q%d>%-4s", port, map_peer(map, package, port));
	int room = width - strlen(name) - (wide ? 12 : 5);
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

static void draw_head(FILE *f, const struct map *map, int columns, bool screen)
{
	char *text = map->num_busiest ? "Busiest\tlinks:" : "No link is known to be 1 % full.";
	int i;

	wrap(f, format("perf\tmetrics\tmap%s%s%s%s", *map->host ? "  " : "", map->host, screen ? "" :
		       format("  %s  %.3f\ts\tcounted", map->when, map->seconds),
		       map->time ? format("  at\t%.3f\ts", map->time) : ""), columns);
	for (i = 0; i < map->num_busiest; i++) {
		int p = map->busiest[i].package, port = map->busiest[i].port;

		text = format("%s%s S%d\tq%d>%s\t%.0f%%", text, i ? "," : "", p, port,
			      map_peer(map, p, port), map->package[p].used[port].value);
	}
	wrap(f, text, columns);
}

static void draw_legend(FILE *f, const struct map *map, int columns)
{
	fprintf(f, "\n");
	wrap(f, format("C misses/s of each C-Box, from . (%s) to @ (%s), and their sum",
		       number_text(MAP_RARE, "1/s"), number_text(1e4 * MAP_RARE, "1/s")), columns);
	wrap(f, format("M B/s each M-Box reads%s and writes%s  ~\t/\tmultiplexed  blank\t-\tabsent  "
		       "?\tn/a  !\tnot\tplausible", map->has_limit ? "\t#" : "", map->has_limit ?
		       "\t+, up to |, its limit" : " (no limit\tin the topology file)"), columns);
	wrap(f, format("q QPI link > where it leads%s, how full, B/s sent%s",
		       map->has_topology ? "" : " (? without a topology file)",
		       map->num_busiest ? "  <\tbusiest" : ""), columns);
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
	draw_head(f, map, columns, screen);
	draw_blocks(f, map, columns, screen);
	draw_legend(f, map, columns);
	if (map->matrix)
		draw_matrix(f, map, columns);
}
