// SPDX-License-Identifier: GPL-2.0-only
/*
 * The map as text. A package is a block of eight lines; there are up to four blocks side by
 * side, so that eight packages have room in 80 columns and 24 lines.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "map.h"

#define COLUMNS	80
#define LINES	8	/* of a block */

/* A piece of a line, cut at its width and filled up to it. */
struct text {
	char line[COLUMNS + 1];
	int len, width;
};

static void __attribute__((format(printf, 2, 3))) add(struct text *text, const char *fmt, ...)
{
	int room = text->width - text->len, len;
	va_list args;

	va_start(args, fmt);
	len = vsnprintf(text->line + text->len, room + 1, fmt, args);
	va_end(args);
	text->len += len > room ? room : len;
}

static char cell(const struct map_value *value, double most)
{
	static const char levels[] = ".:-=+*#%@";

	if (value->state == MAP_ABSENT)
		return ' ';
	if (value->state == MAP_NONE)
		return '?';
	if (value->state == MAP_ODD)
		return '!';
	if (value->state == MAP_TURNS)
		return '/';
	return levels[(int)(8 * map_share(value, most) + 0.5)];
}

static void add_cboxes(struct text *text, const struct map *map, int package)
{
	const struct map_value *miss = map->package[package].miss;
	struct map_value sum = map_sum(miss, MAP_CBOXES);
	char label[MAP_LABEL];
	int i;

	add(text, "C ");
	for (i = 0; i < map->cboxes; i++)
		add(text, "%c", cell(&miss[i], map->most_miss));
	add(text, "%*s", 17 - map->cboxes, map_label(label, &sum));
}

static void add_mbox(struct text *text, const struct map_package *package, int i)
{
	char read[MAP_LABEL], write[MAP_LABEL];

	add(text, "M%d r%6s w%6s", i, map_label(read, &package->read[i]),
	    map_label(write, &package->write[i]));
}

/* q0>S1  ####...  55%, with what is sent where that has room; < at the end marks the busiest. */
static void add_link(struct text *text, const struct map *map, int package, int port)
{
	const struct map_value *used = &map->package[package].used[port];
	bool wide = text->width >= 39;
	int bar = text->width - (wide ? 23 : 12), full, i;
	char label[MAP_LABEL];

	add(text, wide ? "q%d>%-7s " : "q%d>%-4.4s", port, map_peer(map, package, port));
	if (!map_is(used)) {
		add(text, "%s", map_label(label, used));
		return;
	}
	full = bar * used->value / 100 + 0.5;
	for (i = 0; i < bar; i++)
		add(text, "%c", i >= full ? '.' : used->state == MAP_WHOLE ? '#' : cell(used, 0));
	add(text, "%3.0f%%", used->value);
	if (wide)
		add(text, "%7s", map_label(label, &map->package[package].sent[port]));
	if (map_busiest(map, package, port))
		add(text, "<");
}

static void add_title(struct text *text, int package)
{
	add(text, "== S%d ", package);
	while (text->len < text->width)
		add(text, "=");
}

static void block_line(FILE *f, const struct map *map, int package, int line, int width, bool screen)
{
	struct text text = { .width = width };
	bool reverse = screen && map_busiest(map, package, line - 4);

	if (line == 0)
		add_title(&text, package);
	else if (!map->package[package].there)
		add(&text, "%s", line == 1 ? "no CPU is online" : "");
	else if (line == 1)
		add_cboxes(&text, map, package);
	else if (line < 4)
		add_mbox(&text, &map->package[package], line - 2);
	else
		add_link(&text, map, package, line - 4);
	fprintf(f, "%s%-*s%s", reverse ? "\033[7m" : "", width, text.line, reverse ? "\033[0m" : "");
}

static int across(const struct map *map)
{
	return map->packages < 4 ? map->packages : 4;
}

static void draw_blocks(FILE *f, const struct map *map, bool screen)
{
	int num = across(map), width = COLUMNS / (num < 2 ? 2 : num) - 1, first, line, p;

	for (first = 0; first < map->packages; first += num) {
		for (line = 0; line < LINES; line++) {
			for (p = first; p < first + num && p < map->packages; p++) {
				if (p > first)
					fprintf(f, " ");
				block_line(f, map, p, line, width, screen);
			}
			fprintf(f, "\n");
		}
	}
}

static void draw_head(FILE *f, const struct map *map)
{
	struct text text = { .width = COLUMNS - 16 };
	int p = map->busiest.package, port = map->busiest.port;
	char label[MAP_LABEL];

	if (p < 0) {
		add(&text, "No link is known to be in use");
	} else {
		const struct map_package *package = &map->package[p];

		add(&text, "Busiest link: S%d qpi%d > %s, %.0f %% full", p, port,
		    map_peer(map, p, port), package->used[port].value);
		if (map_is(&package->sent[port]))
			add(&text, ", %sB/s", map_label(label, &package->sent[port]));
	}
	fprintf(f, "%-*s", text.width, text.line);
	if (map->time)
		fprintf(f, "%14.3f s", map->time);
	fprintf(f, "\n");
}

static void draw_legend(FILE *f, const struct map *map)
{
	char most[MAP_NUMBER];

	fprintf(f, "\n");
	fprintf(f, "C misses/s of each C-Box, from . to @ (%s), and their sum\n",
		map_number(most, map->most_miss));
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
		for (i = 0; i < columns; i++) {
			char label[MAP_LABEL];

			fprintf(f, "%7s", map_label(label, &map->package[p].to[i]));
		}
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
