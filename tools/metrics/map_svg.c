// SPDX-License-Identifier: GPL-2.0-only
/*
 * The map as SVG. Packages are placed on a convex line, their ports on the sides that face
 * each other, so that no link passes behind a package that it does not belong to. A link is
 * two curves, one each way. Lengths are in pixels.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "map.h"

#define BOX_W	284.0
#define BOX_H	200.0
#define STUB	46.0	/* of a link that leads out of the picture */
#define HEAD	64.0	/* lines above the picture */
#define LEGEND	132.0
#define ROW	24.0	/* of the matrix */

/* A flit of 8 bytes each clock of the link at its highest speed, 6.4 GT/s */
#define LINK_MOST	12.8e9
#define WIDEST		16.0

#define SIZE(size)	"font-size=\"" #size "\""
#define BOLD		" font-weight=\"bold\""
#define MIDDLE		" text-anchor=\"middle\""
#define RECT		"<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
#define WHITE		" fill=\"#ffffff\""
#define MARGIN		" stroke=\"#ffffff\" stroke-width=\"3\" paint-order=\"stroke\""

struct point {
	double x, y;
};

/* Centres of packages, around that of the picture, for up to 1, 2, 4 and 8 of them. */
static const struct layout {
	int packages;
	double width, height;
	struct point at[MAP_PACKAGES];
} layouts[] = {
	{ 1, 720, 320, { { 0, 0 } } },
	{ 2, 1200, 320, { { -310, 0 }, { 310, 0 } } },
	{ 4, 1280, 720, { { -360, -200 }, { 360, -200 }, { 360, 200 }, { -360, 200 } } },
	{ 8, 1700, 1100, { { -200, -400 }, { 200, -400 }, { 600, -150 }, { 600, 150 },
			   { 200, 400 }, { -200, 400 }, { -600, 150 }, { -600, -150 } } },
};

struct drawing {
	FILE *f;
	const struct map *map;
	const struct layout *layout;
	/* Where the links of a package begin, and which way is out of it there */
	struct point port[MAP_PACKAGES][MAP_PORTS];
	struct point out[MAP_PACKAGES][MAP_PORTS];
};

/* ---- words and colours ---- */

#define label(f, x, y, attributes, text, ...)						\
	fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" %s>" text "</text>\n",			\
		(double)(x), (double)(y), attributes, ##__VA_ARGS__)

/* What a browser shows where the mouse is: a line of the element that was opened last. */
#define title(f, ...) \
	fprintf(f, "<title>%s</title>", escaped(format(__VA_ARGS__), "<>&\"", "&#%d;"))

/* Between the colours of 0, 1/2 and 1. */
static const char *mixed(const int colours[3][3], double share)
{
	static char text[8];
	int from = share < 0.5 ? 0 : 1, rgb[3], i;

	share = fmin(fmax(share, 0), 1) * 2 - from;
	for (i = 0; i < 3; i++)
		rgb[i] = colours[from][i] + (colours[from + 1][i] - colours[from][i]) * share + 0.5;
	snprintf(text, sizeof(text), "#%02x%02x%02x", rgb[0], rgb[1], rgb[2]);
	return text;
}

/* Teal, yellow, red: never grey, and not of one brightness, for who sees no colours. */
static const char *link_colour(double percent)
{
	static const int colours[3][3] = { { 30, 150, 130 }, { 244, 187, 68 }, { 200, 30, 40 } };

	return mixed(colours, percent / 100);
}

/* From light to dark. */
static const char *miss_colour(double share)
{
	static const int colours[3][3] = { { 240, 240, 247 }, { 158, 154, 200 }, { 84, 39, 143 } };

	return mixed(colours, share);
}

/* A box: grey if absent, white without value, hatched if it took turns. */
static void cell(FILE *f, double x, double y, double w, double h, const struct map_value *value,
		 const char *colour)
{
	const char *fill = value->state == MAP_ABSENT ? "#c8c8c8" : map_is(value) ? colour : "#ffffff";

	fprintf(f, RECT "fill=\"%s\" stroke=\"#777777\">", x, y, w, h, fill);
	if (value->why)
		title(f, "%s", value->why);
	fprintf(f, "</rect>\n");
	if (value->state == MAP_TURNS)
		fprintf(f, RECT "fill=\"url(#turns)\"/>\n", x, y, w, h);
}

/* ---- a package ---- */

static void draw_cboxes(FILE *f, const struct map *map, const struct map_package *package, double x,
			double y)
{
	struct map_value sum = map_sum(package->miss, MAP_CBOXES);
	double w = (BOX_W - 24) / map->cboxes;
	int i;

	label(f, x, y + 11, SIZE(12), "misses %s%s", map_label(&sum, ""), map_is(&sum) ? "/s" : "");
	for (i = 0; i < map->cboxes; i++) {
		const struct map_value *miss = &package->miss[i];
		double share = map_share(miss, map->most_miss);

		cell(f, x + i * w, y + 16, w - 2, 26, miss, miss_colour(share));
		/* A number that is hatched keeps a margin. */
		label(f, x + i * w + w / 2 - 1, y + 32, miss->state == MAP_TURNS ?
		      SIZE(9) MIDDLE MARGIN : share > 0.6 ? SIZE(9) MIDDLE WHITE : SIZE(9) MIDDLE, "%s",
		      miss->state == MAP_ABSENT ? "" : map_label(miss, ""));
	}
}

/* A bar from the left: how much of the busiest one it is. */
static void draw_bar(FILE *f, const char *name, const struct map_value *value, double most,
		     double x, double y)
{
	double w = 42, share = map_share(value, most);
	struct map_value empty = { .state = value->state == MAP_ABSENT ? MAP_ABSENT : MAP_NONE };

	label(f, x, y + 11, SIZE(12), "%s", name);
	cell(f, x + 12, y, w, 13, value->state == MAP_ABSENT ? value : &empty, "");
	if (share > 0)
		cell(f, x + 12, y, w * share, 13, value, "#5b7fb5");
	label(f, x + 16 + w, y + 11, SIZE(12), "%s", map_label(value, "B/s"));
}

static void draw_mbox(FILE *f, const struct map *map, const struct map_package *package, int i,
		      double x, double y)
{
	label(f, x, y + 11, SIZE(12) BOLD, "M-Box %d", i);
	draw_bar(f, "r", &package->read[i], map->most_memory, x, y + 17);
	draw_bar(f, "w", &package->write[i], map->most_memory, x, y + 34);
}

static void draw_port(FILE *f, const struct map *map, int p, int i, double x, double y)
{
	const struct map_value *used = &map->package[p].used[i], *sent = &map->package[p].sent[i];
	const char *style = map_busiest(map, p, i) ? SIZE(12) BOLD : SIZE(12);

	cell(f, x, y, 11, 11, used, link_colour(used->value));
	label(f, x + 16, y + 10, style, "qpi%d \u2192 %s", i, map_peer(map, p, i));
	label(f, x + 130, y + 10, style, "%s", map_label(sent, "B/s"));
	if (map_is(used))
		label(f, x + 210, y + 10, style, "%.0f %%", used->value);
}

static void draw_package(const struct drawing *d, int p)
{
	const struct map_package *package = &d->map->package[p];
	double x = d->layout->at[p].x - BOX_W / 2, y = d->layout->at[p].y - BOX_H / 2;
	int i;

	fprintf(d->f, RECT "rx=\"8\" fill=\"%s\" stroke=\"#333333\" stroke-width=\"1.5\"/>\n", x,
		y, BOX_W, BOX_H, package->there ? "#fbfbfb" : "#c8c8c8");
	label(d->f, x + 12, y + 20, SIZE(16) BOLD, "S%d%s", p,
	      package->there ? "" : ": no CPU is online");
	if (!package->there)
		return;
	draw_cboxes(d->f, d->map, package, x + 12, y + 24);
	for (i = 0; i < MAP_MBOXES; i++)
		draw_mbox(d->f, d->map, package, i, x + 12 + i * 136, y + 72);
	for (i = 0; i < MAP_PORTS; i++)
		draw_port(d->f, d->map, p, i, x + 12, y + 129 + i * 17);
}

/* ---- links ---- */

/* The package at the other end, or -1 if it is not in the picture. */
static int peer_of(const struct map *map, int p, int port)
{
	const struct link *link = &map->topology->link[p][port];
	int peer = link->port >= 0 && *link->peer ? atoi(link->peer + 1) : -1;

	return peer < map->packages ? peer : -1;
}

/* Links to others begin at the side that faces the middle, in the order of where they end. */
static void place_ports(struct drawing *d, int p)
{
	const struct point *at = d->layout->at;
	bool upright = fabs(at[p].x) * BOX_H >= fabs(at[p].y) * BOX_W;
	double side = upright ? (at[p].x > 0 ? -1 : 1) : (at[p].y > 0 ? -1 : 1);
	int i, j;

	for (i = 0; i < MAP_PORTS; i++) {
		int peer = peer_of(d->map, p, i), before = 0, num = 0;
		double along, step, way = peer < 0 ? -side : side;

		for (j = 0; j < MAP_PORTS; j++) {
			int other = peer_of(d->map, p, j);
			double mine, its;

			if ((other < 0) != (peer < 0))
				continue;
			num++;
			if (j == i)
				continue;
			mine = peer < 0 ? 0 : upright ? at[peer].y : at[peer].x;
			its = peer < 0 ? 0 : upright ? at[other].y : at[other].x;
			/* Two between the same packages cross, or not, as both ends agree. */
			if (its == mine && peer >= 0)
				before += p < peer ? j < i : d->map->topology->link[p][j].port <
					  d->map->topology->link[p][i].port;
			else
				before += its < mine || (its == mine && j < i);
		}
		step = (upright ? BOX_H : BOX_W) / (num + 1);
		along = (before + 1) * step - (upright ? BOX_H : BOX_W) / 2;
		d->out[p][i] = upright ? (struct point){ way, 0 } : (struct point){ 0, way };
		d->port[p][i] = upright ?
			(struct point){ at[p].x + way * BOX_W / 2, at[p].y + along } :
			(struct point){ at[p].x + along, at[p].y + way * BOX_H / 2 };
	}
}

static struct point along(struct point from, const struct point *way, double by)
{
	return (struct point){ from.x + way->x * by, from.y + way->y * by };
}

static double line_width(const struct map_value *sent)
{
	return map_is(sent) ? 1.5 + (WIDEST - 1.5) * fmin(fmax(sent->value / LINK_MOST, 0), 1) : 1.5;
}

/* Half of how wide an arrow is; it is longer by 4. */
static double arrow(const struct map_value *sent)
{
	return line_width(sent) / 2 + 4;
}

/* A path, and an arrow behind it to a tip that points against "in". */
static void draw_line(const struct drawing *d, int p, int port, const char *path, struct point tip,
		      struct point in)
{
	const struct map_value *used = &d->map->package[p].used[port];
	const struct map_value *sent = &d->map->package[p].sent[port];
	const char *colour = used->state == MAP_ABSENT ? "#c8c8c8" :
			     map_is(used) ? link_colour(used->value) : "#888888";
	bool busiest = map_busiest(d->map, p, port);
	double width = line_width(sent), head = arrow(sent);
	struct point end = along(tip, &in, head + 4);
	const char *peer = map_peer(d->map, p, port);
	int pass;

	fprintf(d->f, "<g>");
	if (map_is(used))
		title(d->f, "S%d qpi%d \u2192 %s: %s, %.1f %% full%s%s", p, port, peer,
		      map_label(sent, "B/s"), used->value, sent->why ? "; " : "", sent->why ?: "");
	else
		title(d->f, "S%d qpi%d \u2192 %s: %s", p, port, peer,
		      used->why ?: "there is no such box");
	/* The busiest one has an edge. */
	for (pass = !busiest; pass < 2; pass++)
		fprintf(d->f, "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"%.1f\"%s/>\n",
			path, pass ? colour : "#000000", pass ? width : width + 5,
			!pass ? "" : used->state == MAP_TURNS ? " stroke-dasharray=\"9 5\"" :
			map_is(used) ? "" : " stroke-dasharray=\"2 6\"");
	fprintf(d->f, "<path d=\"M%.1f,%.1f L%.1f,%.1f L%.1f,%.1f Z\" fill=\"%s\"%s/>\n",
		tip.x, tip.y, end.x - in.y * head, end.y + in.x * head, end.x + in.y * head,
		end.y - in.x * head, colour,
		busiest ? " stroke=\"#000000\" stroke-width=\"2.5\"" : "");
	fprintf(d->f, "</g>\n");
}

/* What is to the right of a point on this way. */
static struct point beside(struct point from, const struct point *way, double right)
{
	return along(from, &(struct point){ -way->y, way->x }, right);
}

/* By how much a corner is nearer for who passes it one further right: half of the angle counts. */
static double corner(const struct point *way, double x, double y)
{
	return (way->x * y - way->y * x) / (hypot(x, y) + way->x * x + way->y * y);
}

/* Traffic keeps to the right of a curve that both ways have, so that each has a lane. */
static void draw_between(const struct drawing *d, int p, int port)
{
	int peer = peer_of(d->map, p, port), back = d->map->topology->link[p][port].port;
	const struct point *out = &d->out[p][port], *in = &d->out[peer][back];
	double right = WIDEST / 2 + 2, straight = WIDEST, bend, x, y;
	struct point a = along(d->port[p][port], out, straight), from, out_to;
	struct point b = along(d->port[peer][back], in, straight), tip, end, in_from;

	/* A bow between neighbours is flat, as others pass there. */
	bend = out->x == in->x && out->y == in->y ? 0.2 : 0.45;
	bend *= hypot(b.x - a.x, b.y - a.y);
	x = b.x + in->x * bend - a.x - out->x * bend;
	y = b.y + in->y * bend - a.y - out->y * bend;
	a = beside(a, out, right);
	b = beside(b, in, -right);
	out_to = along(a, out, bend - right * corner(out, x, y));
	in_from = along(b, in, bend + right * corner(in, -x, -y));
	from = along(a, out, -straight);
	tip = along(b, in, -straight);
	end = along(tip, in, arrow(&d->map->package[p].sent[port]) + 4);
	draw_line(d, p, port,
		  format("M%.1f,%.1f L%.1f,%.1f C%.1f,%.1f %.1f,%.1f %.1f,%.1f L%.1f,%.1f", from.x,
			 from.y, a.x, a.y, out_to.x, out_to.y, in_from.x, in_from.y, b.x, b.y,
			 end.x, end.y), tip, *in);
}

/* To what is not in the picture. */
static void draw_stub(const struct drawing *d, int p, int port)
{
	const struct point *out = &d->out[p][port];
	struct point from = d->port[p][port], tip = along(from, out, STUB);
	struct point end = along(tip, out, -arrow(&d->map->package[p].sent[port]) - 4);

	draw_line(d, p, port, format("M%.1f,%.1f L%.1f,%.1f", from.x, from.y, end.x, end.y), tip,
		  (struct point){ -out->x, -out->y });
	label(d->f, tip.x + out->x * 6, tip.y + 4 + out->y * 10,
	      out->x < 0 ? SIZE(12) " text-anchor=\"end\"" : out->y ? SIZE(12) MIDDLE : SIZE(12),
	      "%s", map_peer(d->map, p, port));
}

static void draw_links(const struct drawing *d)
{
	int p, i, last;

	/* The busiest one last, above all others. */
	for (last = 0; last < 2; last++) {
		for (p = 0; p < d->map->packages; p++) {
			for (i = 0; i < MAP_PORTS; i++) {
				if (!d->map->package[p].there || map_busiest(d->map, p, i) != last)
					continue;
				if (peer_of(d->map, p, i) >= 0)
					draw_between(d, p, i);
				else
					draw_stub(d, p, i);
			}
		}
	}
}

/* ---- around it ---- */

static void draw_head(FILE *f, const struct map *map)
{
	int p = map->busiest.package, port = map->busiest.port;

	label(f, 20, 28, SIZE(18) BOLD, "perf metrics map");
	if (p < 0)
		label(f, 20, 50, SIZE(14), "No link is known to be in use.");
	else
		label(f, 20, 50, SIZE(14),
		      "Busiest link: S%d qpi%d \u2192 %s, %.0f %% full (black edge).", p, port,
		      map_peer(map, p, port), map->package[p].used[port].value);
}

static void draw_legend(FILE *f, const struct map *map, double y)
{
	static const struct map_value absent, turns = { .state = MAP_TURNS };
	static const struct map_value whole = { .state = MAP_WHOLE };
	static const int percent[] = { 0, 25, 50, 75, 100 };
	static const double sent[] = { 1.6e9, 6.4e9, 12.8e9 };
	int i;

	label(f, 20, y + 12, SIZE(12) BOLD, "QPI link: how full");
	for (i = 0; i < 5; i++) {
		cell(f, 250 + i * 62, y, 22, 14, &whole, link_colour(percent[i]));
		label(f, 276 + i * 62, y + 12, SIZE(12), "%d %%", percent[i]);
	}
	fprintf(f, "<path d=\"M%.1f,%.1f h34\" stroke=\"#888888\" stroke-width=\"1.5\" "
		"stroke-dasharray=\"2 6\"/>\n", 576.0, y + 8);
	label(f, 616, y + 12, SIZE(12), "no value");
	label(f, 20, y + 38, SIZE(12) BOLD, "its width: bytes sent");
	for (i = 0; i < 3; i++) {
		struct map_value value = { .state = MAP_WHOLE, .value = sent[i] };

		fprintf(f, "<path d=\"M%.1f,%.1f h46\" stroke=\"#666666\" stroke-width=\"%.1f\"/>\n",
			250.0 + i * 124, y + 34, line_width(&value));
		label(f, 302 + i * 124, y + 38, SIZE(12), "%s", map_label(&value, "B/s"));
	}
	label(f, 20, y + 64, SIZE(12) BOLD, "C-Boxes: misses/s");
	for (i = 0; i < 3; i++) {
		cell(f, 250 + i * 124, y + 52, 22, 14, &whole, miss_colour(i / 2.0));
		label(f, 276 + i * 124, y + 64, SIZE(12), "%s", map_number(map->most_miss * i / 2, ""));
	}
	cell(f, 20, y + 78, 22, 14, &absent, "");
	label(f, 46, y + 90, SIZE(12), "absent");
	cell(f, 110, y + 78, 22, 14, &turns, "#ffffff");
	fprintf(f, "<path d=\"M%.1f,%.1f h34\" stroke=\"#666666\" stroke-width=\"6\" "
		"stroke-dasharray=\"9 5\"/>\n", 140.0, y + 85);
	label(f, 182, y + 90, SIZE(12), "took turns with something else; ! is not plausible");
	label(f, 20, y + 116, SIZE(12), "%s", map->has_topology ?
	      "Where links lead is said by the topology file; it does not have those to ?." :
	      "Without a topology file nobody knows where links lead.");
}

static void draw_matrix(FILE *f, const struct map *map, double y)
{
	double w = 66;
	int p, i;

	label(f, 20, y + 14, SIZE(14) BOLD,
	      "Who talks to whom: home requests/s that leave by QPI, from the row to the column");
	for (i = 0; i < map->columns; i++)
		label(f, 70 + i * w + w / 2, y + 36, SIZE(12) MIDDLE, "%s", map->column[i]);
	for (p = 0; p < map->packages; p++) {
		double top = y + 42 + p * ROW;

		label(f, 20, top + 16, SIZE(12), "S%d", p);
		for (i = 0; i < map->columns; i++) {
			const struct map_value *to = &map->package[p].to[i];
			double share = map_share(to, map->most_to);

			cell(f, 70 + i * w, top, w - 2, ROW - 2, to, miss_colour(share));
			label(f, 70 + i * w + w / 2 - 1, top + 15,
			      share > 0.6 ? SIZE(12) MIDDLE WHITE : SIZE(12) MIDDLE,
			      "%s", map_label(to, ""));
		}
	}
}

void map_svg(FILE *f, const struct map *map)
{
	struct drawing d = { .f = f, .map = map, .layout = layouts };
	double width, height, matrix = 0;
	int p;

	while (d.layout->packages < map->packages)
		d.layout++;
	if (map->matrix)
		matrix = 50 + map->packages * ROW;
	width = fmax(d.layout->width, map->matrix ? 90 + map->columns * 66 : 0);
	height = HEAD + d.layout->height + LEGEND + matrix;
	for (p = 0; p < map->packages; p++)
		place_ports(&d, p);
	fprintf(f, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	fprintf(f, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
		"viewBox=\"0 0 %.0f %.0f\" font-family=\"DejaVu Sans, Verdana, sans-serif\">\n",
		width, height, width, height);
	fprintf(f, "<title>perf metrics map</title>\n");
	fprintf(f, "<defs><pattern id=\"turns\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
		"patternTransform=\"rotate(45)\"><path d=\"M0,0 v6\" stroke=\"#222222\" "
		"stroke-width=\"2\"/></pattern></defs>\n");
	fprintf(f, "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n");
	draw_head(f, map);
	fprintf(f, "<g transform=\"translate(%.1f,%.1f)\">\n", width / 2,
		HEAD + d.layout->height / 2);
	draw_links(&d);
	for (p = 0; p < map->packages; p++)
		draw_package(&d, p);
	fprintf(f, "</g>\n");
	draw_legend(f, map, HEAD + d.layout->height);
	if (map->matrix)
		draw_matrix(f, map, HEAD + d.layout->height + LEGEND);
	fprintf(f, "</svg>\n");
}
