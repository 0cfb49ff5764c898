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
#define BOX_H	222.0
#define STUB	46.0	/* of a link that leads out of the picture */
#define HEAD	64.0	/* lines above the picture */
#define LIST	300.0	/* of the busiest links, beside the legend */
#define ROW	24.0	/* of the matrix, and of the legend */
#define WIDEST	16.0	/* link, at its limit */
#define LANE	(WIDEST / 2 + 2)	/* from the middle of a link to that of one way */

#define SIZE(size)	"font-size=\"" #size "\""
#define BOLD		" font-weight=\"bold\""
#define MIDDLE		" text-anchor=\"middle\""
#define RECT		"<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
#define END		" text-anchor=\"end\""
/* On what is of a light or a dark colour, whatever is around the picture */
#define INK		" class=\"ink\""
#define WHITE		" class=\"paper\" fill=\"#ffffff\""
#define HALO		" stroke=\"#ffffff\" stroke-width=\"3\" paint-order=\"stroke\""
#define MARGIN		" class=\"halo\"" HALO
#define INK_MARGIN	" class=\"ink\"" HALO

struct point {
	double x, y;
};

/* Centres of packages, around that of the picture, for up to 1, 2, 4 and 8 of them. */
static const struct layout {
	int packages;
	double width, height;
	struct point at[MAP_PACKAGES];
} layouts[] = {
	{ 1, 900, 300, { { 0, 0 } } },
	{ 2, 1240, 300, { { -310, 0 }, { 310, 0 } } },
	{ 4, 1320, 700, { { -360, -200 }, { 360, -200 }, { 360, 200 }, { -360, 200 } } },
	{ 8, 1800, 1210, { { -200, -400 }, { 200, -400 }, { 600, -150 }, { 600, 150 },
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

/* Grey where there is room, then from yellow to red; by the number that is shown. */
static const char *link_colour(double percent)
{
	static const int colours[3][3] = { { 240, 180, 41 }, { 226, 110, 30 }, { 200, 30, 40 } };

	return round(percent) < 60 ? "#98a2ab" : mixed(colours, (percent - 60) / 40);
}

/* From light to dark. */
static const char *miss_colour(double share)
{
	static const int colours[3][3] = { { 240, 240, 247 }, { 158, 154, 200 }, { 84, 39, 143 } };

	return mixed(colours, share);
}

/* A box: grey if absent, white without value, hatched if it was multiplexed. */
static void cell(FILE *f, double x, double y, double w, double h, const struct map_value *value,
		 const char *colour)
{
	const char *fill = value->state == MAP_ABSENT ? "class=\"absent\" fill=\"#c8c8c8\"" :
			   map_is(value) ? format("fill=\"%s\"", colour) :
			   "class=\"empty\" fill=\"#ffffff\"";

	fprintf(f, RECT "%s stroke=\"#777777\">", x, y, w, h, fill);
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
		double share = map_decades(miss);

		fprintf(f, "<g>");
		title(f, "C-Box %d: %s", i, map_is(miss) ? map_label(miss, "/s") :
		      miss->why ?: "there is no such box");
		cell(f, x + i * w, y + 16, w - 2, 26, miss, miss_colour(share));
		/*
		 * A number that is hatched keeps a margin, and has no mark, as hatching is one. In
		 * the widest pictures it would be too small, and ten cells have no room for it.
		 */
		if (map->packages <= 4 && map->cboxes <= 8)
			label(f, x + i * w + w / 2 - 1, y + 32, miss->state == MAP_TURNS ?
			      SIZE(9) MIDDLE INK_MARGIN : share > 0.6 ? SIZE(9) MIDDLE WHITE :
			      map_is(miss) ? SIZE(9) MIDDLE INK : SIZE(9) MIDDLE, "%s",
			      miss->state == MAP_ABSENT ? "" : miss->state == MAP_TURNS ?
			      map_number(miss->value, "") : map_label(miss, ""));
		fprintf(f, "</g>\n");
	}
}

#define READ	"#2f6db5"
#define WRITTEN	"#8fbfe8"

/*
 * A bar from the left of what is read and written, which have one limit. A mark is where that is;
 * what cannot be has room behind it.
 */
static void draw_bar(FILE *f, const struct map_value *read, const struct map_value *write, double most,
		     double x, double y)
{
	const double w = 124, h = 12, limit = 110;
	const struct map_value none = { .state = MAP_NONE };
	double in = map_is(read) ? fmin(limit * read->value / most, w) : 0;
	double out = map_is(write) ? fmin(limit * write->value / most, w - in) : 0;

	cell(f, x, y, w, h, &none, "");
	if (in > 0)
		cell(f, x, y, in, h, read, READ);
	if (out > 0)
		cell(f, x + in, y, out, h, write, WRITTEN);
	fprintf(f, "<path class=\"edge\" d=\"M%.1f,%.1f v%.1f\" stroke=\"#000000\" "
		"stroke-width=\"2\"/>\n", x + limit, y - 3, h + 6);
}

/* Where no limit is known there is no share of one, and no bar. */
static void draw_mbox(FILE *f, const struct map_package *package, int i, double x, double y)
{
	const struct map_value *read = &package->read[i], *write = &package->write[i];
	const struct map_value *full = &package->full[i];
	double most = package->limit_memory[i], percent = most && map_is(full) ? round(full->value) : 0;

	fprintf(f, "<g>");
	if (full->why)
		title(f, "%s", full->why);
	else if (most)
		title(f, "its limit is %s", map_number(most, "B/s"));
	label(f, x, y + 11, SIZE(12) BOLD, "M-Box %d", i);
	if (percent >= 60)
		fprintf(f, RECT "rx=\"2\" fill=\"%s\"/>\n", x + 64, y - 2, 64.0, 17.0, link_colour(percent));
	if (most)
		label(f, x + 124, y + 11, percent >= 90 ? SIZE(12) END BOLD WHITE : percent >= 60 ?
		      SIZE(12) END INK : SIZE(12) END, "%s", map_used(full));
	label(f, x, y + 28, SIZE(12), "read");
	label(f, x + 124, y + 28, SIZE(12) END, "%s", map_label(read, "B/s"));
	label(f, x, y + 43, SIZE(12), "written");
	label(f, x + 124, y + 43, SIZE(12) END, "%s", map_label(write, "B/s"));
	if (most)
		draw_bar(f, read, write, most, x, y + 51);
	fprintf(f, "</g>\n");
}

/* The one that is to be looked at first, if it is full enough for a colour. */
static bool stands_out(const struct map *map, int p, int port)
{
	return map_busiest(map, p, port) && round(map->package[p].used[port].value) >= 60;
}

static void draw_port(FILE *f, const struct map *map, int p, int i, double x, double y)
{
	const struct map_value *used = &map->package[p].used[i], *sent = &map->package[p].sent[i];
	const char *style = stands_out(map, p, i) ? SIZE(12) BOLD : SIZE(12);

	cell(f, x, y, 11, 11, used, link_colour(used->value));
	label(f, x + 16, y + 10, style, "qpi%d \u2192 %s", i, map_peer(map, p, i));
	style = format("%s%s", style, END);
	label(f, x + 204, y + 10, style, "%s", map_label(sent, "B/s"));
	label(f, x + 260, y + 10, style, "%s", map_used(used));
}

static void draw_package(const struct drawing *d, int p)
{
	const struct map_package *package = &d->map->package[p];
	double x = d->layout->at[p].x - BOX_W / 2, y = d->layout->at[p].y - BOX_H / 2;
	int i;

	fprintf(d->f, RECT "rx=\"8\" class=\"%s\" fill=\"%s\" stroke=\"#333333\" stroke-width=\"1.5\"/>\n", x,
		y, BOX_W, BOX_H, package->there ? "box" : "absent",
		package->there ? "#fbfbfb" : "#c8c8c8");
	label(d->f, x + 12, y + 20, SIZE(16) BOLD, "S%d%s", p,
	      package->there ? "" : ": no CPU is online");
	if (!package->there)
		return;
	draw_cboxes(d->f, d->map, package, x + 12, y + 24);
	for (i = 0; i < MAP_MBOXES; i++)
		draw_mbox(d->f, package, i, x + 12 + i * 136, y + 72);
	for (i = 0; i < MAP_PORTS; i++)
		draw_port(d->f, d->map, p, i, x + 12, y + 147 + i * 18);
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
			/* Two between the same packages cross, or not, as both ends agree. */
			if (other == peer) {
				before += peer < 0 || p < peer ? j < i : d->map->topology->link[p][j].port <
					  d->map->topology->link[p][i].port;
				continue;
			}
			mine = upright ? at[peer].y : at[peer].x;
			its = upright ? at[other].y : at[other].x;
			before += its < mine || (its == mine && other < peer);
		}
		step = (upright ? BOX_H : BOX_W) / num;
		along = (before + 0.5) * step - (upright ? BOX_H : BOX_W) / 2;
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

static double line_width(const struct map *map, const struct map_value *sent)
{
	return 1.5 + (WIDEST - 1.5) * map_share(sent, map->limit_qpi);
}

/* Half of how wide an arrow is; it is longer by 4. */
static double arrow(const struct map *map, const struct map_value *sent)
{
	return line_width(map, sent) / 2 + 4;
}

/* A path, and an arrow behind it to a tip that points against "in". */
static void draw_line(const struct drawing *d, int p, int port, const char *path, struct point tip,
		      struct point in)
{
	const struct map_value *used = &d->map->package[p].used[port];
	const struct map_value *sent = &d->map->package[p].sent[port];
	const char *colour = used->state == MAP_ABSENT ? "#c8c8c8" :
			     map_is(used) ? link_colour(used->value) : "#888888";
	bool edge = stands_out(d->map, p, port);
	double width = line_width(d->map, sent), head = arrow(d->map, sent);
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
	/* All are cased, so that those that cross are told apart; the busiest one has an edge. */
	for (pass = 0; pass < 2; pass++)
		fprintf(d->f, "<path class=\"%s\" d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"%.1f\"%s/>\n",
			pass ? "link" : edge ? "edge" : "case", path, pass ? colour : edge ? "#000000" : "#ffffff",
			pass ? width : width + (edge ? 5 : 3),
			!pass ? "" : used->state == MAP_TURNS ? " stroke-dasharray=\"9 5\"" :
			map_is(used) ? "" : " stroke-dasharray=\"2 6\"");
	fprintf(d->f, "<path d=\"M%.1f,%.1f L%.1f,%.1f L%.1f,%.1f Z\" fill=\"%s\"%s/>\n",
		tip.x, tip.y, end.x - in.y * head, end.y + in.x * head, end.x + in.y * head,
		end.y - in.x * head, colour,
		edge ? " class=\"edge\" stroke=\"#000000\" stroke-width=\"2.5\"" : "");
	fprintf(d->f, "</g>\n");
}

/* What is to the right of a point on this way. */
static struct point beside(struct point from, const struct point *way, double right)
{
	return along(from, &(struct point){ -way->y, way->x }, right);
}

/* Where the lane to the right of a port, or to the left for -1, is at the box. */
static struct point lane(const struct drawing *d, int p, int port, int side)
{
	return beside(d->port[p][port], &d->out[p][port], side * LANE);
}

/* So far from a package a link is straight, so that its number is on it and on no other. */
static double straight(const struct point *out)
{
	return out->x ? 70 : 34;
}

/*
 * How full it is, clear of its arrow head on the line; up and down the text begins where the lane
 * does.
 */
static void draw_used(const struct drawing *d, int p, int port)
{
	int peer = peer_of(d->map, p, port), back = d->map->topology->link[p][port].port;
	struct point in = d->out[peer][back], tip = lane(d, peer, back, -1);
	double side = in.x ?: tip.x < d->port[peer][back].x ? -1 : 1;
	struct point at = along(in.x ? tip : d->port[peer][back], &in, in.x ? 25 : 29);

	label(d->f, at.x + (in.x ? 0 : side), at.y + 4, side > 0 ? SIZE(11) MARGIN : SIZE(11) MARGIN END,
	      "%s", map_used(&d->map->package[p].used[port]));
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
	struct point a = along(d->port[p][port], out, straight(out)), out_to;
	struct point b = along(d->port[peer][back], in, straight(in)), in_from, end;
	struct point from = lane(d, p, port, 1), tip = lane(d, peer, back, -1);
	double bend, x, y;

	/* A bow between neighbours is flat, as others pass there. */
	bend = out->x == in->x && out->y == in->y ? 0.2 : 0.45;
	bend *= hypot(b.x - a.x, b.y - a.y);
	x = b.x + in->x * bend - a.x - out->x * bend;
	y = b.y + in->y * bend - a.y - out->y * bend;
	a = beside(a, out, LANE);
	b = beside(b, in, -LANE);
	out_to = along(a, out, bend - LANE * corner(out, x, y));
	in_from = along(b, in, bend + LANE * corner(in, -x, -y));
	end = along(tip, in, arrow(d->map, &d->map->package[p].sent[port]) + 4);
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
	struct point end = along(tip, out, -arrow(d->map, &d->map->package[p].sent[port]) - 4);

	draw_line(d, p, port, format("M%.1f,%.1f L%.1f,%.1f", from.x, from.y, end.x, end.y), tip,
		  (struct point){ -out->x, -out->y });
	/* To where, and how full, side by side or one above the other. */
	if (out->x)
		label(d->f, tip.x + out->x * 6, tip.y + 4, out->x < 0 ? SIZE(11) END : SIZE(11),
		      "%s %s", map_peer(d->map, p, port), map_used(&d->map->package[p].used[port]));
	else
		label(d->f, tip.x, tip.y + 4 + out->y * 12 - (out->y < 0 ? 13 : 0), SIZE(11) MIDDLE,
		      "%s", map_peer(d->map, p, port));
	if (out->y)
		label(d->f, tip.x, tip.y + 4 + out->y * 12 + (out->y > 0 ? 13 : 0), SIZE(11) MIDDLE,
		      "%s", map_used(&d->map->package[p].used[port]));
}

static void draw_links(const struct drawing *d)
{
	const struct map *map = d->map;
	int p, i, last, peer, back;

	/* Both ways of a link together, so that it is above or below another; the busiest one last. */
	for (last = 0; last < 2; last++) {
		for (p = 0; p < map->packages; p++) {
			for (i = 0; i < MAP_PORTS; i++) {
				peer = peer_of(map, p, i);
				back = map->topology->link[p][i].port;
				if ((peer >= 0 && peer < p) ||
				    (map_busiest(map, p, i) || map_busiest(map, peer, back)) != last)
					continue;
				if (map->package[p].there && peer < 0)
					draw_stub(d, p, i);
				else if (map->package[p].there)
					draw_between(d, p, i);
				if (peer >= 0 && map->package[peer].there)
					draw_between(d, peer, back);
			}
		}
	}
	/* Numbers last, so that no other link hides them. */
	for (p = 0; p < d->map->packages; p++) {
		for (i = 0; i < MAP_PORTS && d->map->package[p].there; i++) {
			if (peer_of(d->map, p, i) >= 0)
				draw_used(d, p, i);
		}
	}
}

/* ---- around it ---- */

static void draw_head(FILE *f, const struct map *map)
{
	label(f, 20, 28, SIZE(18) BOLD, "perf metrics map%s%s", *map->host ? ": " : "",
	      escaped(map->host, "<>&", "&#%d;"));
	label(f, 20, 50, SIZE(13), "%s, %.3f s counted%s", map->when, map->seconds,
	      map->time ? format(", at %.3f s", map->time) : "");
}

/* Returns where it ends. */
static double draw_list(FILE *f, const struct map *map, double y)
{
	int i;

	label(f, 20, y + 12, SIZE(13) BOLD, "%s", map->num_busiest ? "Busiest links" :
	      "No link is known to be 1 % full.");
	for (i = 0; i < map->num_busiest; i++) {
		int p = map->busiest[i].package, port = map->busiest[i].port;
		const struct map_package *package = &map->package[p];

		y += 20;
		cell(f, 20, y + 2, 11, 11, &package->used[port],
		     link_colour(package->used[port].value));
		label(f, 38, y + 12, SIZE(12), "S%d qpi%d \u2192 %s", p, port, map_peer(map, p, port));
		label(f, 210, y + 12, SIZE(12) END, "%s", map_used(&package->used[port]));
		label(f, 285, y + 12, SIZE(12) END, "%s", map_label(&package->sent[port], "B/s"));
	}
	return y + 24;
}

static void sample_cell(FILE *f, double x, double y, const struct map_value *value, const char *colour,
			const char *text)
{
	cell(f, x, y + 1, 22, 13, value, colour);
	label(f, x + 27, y + 12, SIZE(12), "%s", text);
}

static void sample_line(FILE *f, double x, double y, double width, const char *dashes, const char *text)
{
	fprintf(f, "<path d=\"M%.1f,%.1f h40\" stroke=\"#888888\" stroke-width=\"%.1f\"%s/>\n", x, y + 8,
		width, dashes);
	label(f, x + 46, y + 12, SIZE(12), "%s", text);
}

/* Returns where it ends. */
static double draw_legend(FILE *f, const struct map *map, double y)
{
	static const char * const heads[] = { "QPI link, how full:", "its width, sent:", "M-Boxes:",
					      "C-Boxes, misses:" };
	static const struct map_value absent, turns = { .state = MAP_TURNS };
	static const struct map_value whole = { .state = MAP_WHOLE };
	const double left = LIST + 24, x = left + 140;
	int i;

	for (i = 0; i < 4; i++) {
		label(f, left, y + i * ROW + 12, SIZE(12) BOLD, "%s", heads[i]);
		sample_cell(f, x + 105 * i, y, &whole, link_colour(i ? 40 + 20 * i : 0),
			    i ? format("%d %%", 40 + 20 * i) : "below 60 %");
	}
	for (i = 0; i < 3; i++) {
		struct map_value sent = { .state = MAP_WHOLE, .value = map->limit_qpi * (i + 1) / 3 };

		sample_line(f, x + 140 * i, y + ROW, line_width(map, &sent), "", map_number(sent.value, "B/s"));
		sample_cell(f, x + 105 * i, y + 3 * ROW, &whole, miss_colour(i / 2.0),
			    number_text(MAP_RARE * pow(100, i), "1/s"));
	}
	y += 2 * ROW;
	if (map->has_limit) {
		sample_cell(f, x, y, &whole, READ, "read");
		sample_cell(f, x + 105, y, &whole, WRITTEN, "written");
		fprintf(f, "<path class=\"edge\" d=\"M%.1f,%.1f v18\" stroke=\"#000000\" "
			"stroke-width=\"2\"/>\n", x + 213, y - 1);
		label(f, x + 222, y + 12, SIZE(12), "limit of both");
	} else {
		label(f, x, y + 12, SIZE(12), "no bar, as the topology file has no limit memory");
	}
	y += 2 * ROW;
	sample_cell(f, left, y, &absent, "", "absent");
	sample_line(f, left + 95, y, 1.5, " stroke-dasharray=\"2 6\"", "no value");
	sample_cell(f, left + 220, y, &turns, "#ffffff", "");
	sample_line(f, left + 248, y, 6, " stroke-dasharray=\"9 5\"", "~ multiplexed");
	label(f, left + 405, y + 12, SIZE(12), "! not plausible");
	label(f, left, y + ROW + 12, SIZE(12), "%s", map->has_topology ?
	      "? is not in the topology file" : "? needs a topology file");
	return y + 2 * ROW;
}

static void draw_matrix(FILE *f, const struct map *map, double y)
{
	double w = 66;
	int p, i;

	label(f, 20, y + 14, SIZE(14) BOLD,
	      "Who talks to whom: home requests/s on QPI links of the row, to the column");
	for (i = 0; i < map->columns; i++)
		label(f, 70 + i * w + w / 2, y + 36, SIZE(12) MIDDLE, "%s", map->column[i]);
	for (p = 0; p < map->packages; p++) {
		double top = y + 42 + p * ROW;

		label(f, 20, top + 16, SIZE(12), "S%d", p);
		for (i = 0; i < map->columns; i++) {
			const struct map_value *to = &map->package[p].to[i];
			double share = map_decades(to);

			cell(f, 70 + i * w, top, w - 2, ROW - 2, to, miss_colour(share));
			label(f, 70 + i * w + w / 2 - 1, top + 15,
			      share > 0.6 ? SIZE(12) MIDDLE WHITE : map_is(to) ?
			      SIZE(12) MIDDLE INK : SIZE(12) MIDDLE, "%s", map_label(to, ""));
		}
	}
}

void map_svg(FILE *f, const struct map *map)
{
	double width, y, list, legend;
	char *body = NULL;
	size_t size;
	struct drawing d = { .f = open_memstream(&body, &size), .map = map, .layout = layouts };
	int p;

	while (d.layout->packages < map->packages)
		d.layout++;
	width = fmax(d.layout->width, map->matrix ? 90 + map->columns * 66 : 0);
	y = HEAD + d.layout->height;
	for (p = 0; p < map->packages; p++)
		place_ports(&d, p);
	draw_head(d.f, map);
	fprintf(d.f, "<g transform=\"translate(%.1f,%.1f)\">\n", width / 2,
		HEAD + d.layout->height / 2);
	draw_links(&d);
	for (p = 0; p < map->packages; p++)
		draw_package(&d, p);
	fprintf(d.f, "</g>\n");
	list = draw_list(d.f, map, y);
	legend = draw_legend(d.f, map, y);
	y = fmax(list, legend);
	if (map->matrix) {
		draw_matrix(d.f, map, y);
		y += 50 + map->packages * ROW;
	}
	fclose(d.f);
	fprintf(f, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	fprintf(f, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
		"viewBox=\"0 0 %.0f %.0f\" font-family=\"DejaVu Sans, Verdana, sans-serif\">\n",
		width, y, width, y);
	fprintf(f, "<title>perf metrics map</title>\n<style>%s</style>\n", map_css);
	fprintf(f, "<defs><pattern id=\"turns\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
		"patternTransform=\"rotate(45)\"><path d=\"M0,0 v6\" stroke=\"#222222\" "
		"stroke-width=\"2\"/></pattern></defs>\n");
	fprintf(f, "<rect class=\"bg\" width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n");
	fwrite(body, 1, size, f);
	fprintf(f, "</svg>\n");
	free(body);
}
