/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf metrics map: the machine as a picture.
 *
 *	topology.c	which link leads where, from a file
 *	map.c		which values go where on the map
 *	map_text.c	draws it as text
 *	map_svg.c	draws it as SVG
 */
#ifndef PERF_METRICS_MAP_H
#define PERF_METRICS_MAP_H

#include "metrics.h"

#define MAP_PACKAGES	8
#define MAP_CBOXES	10
#define MAP_MBOXES	2
#define MAP_PORTS	4	/* QPI links of a package */
#define MAP_NODES	32
#define MAP_NAME	8	/* of a peer, with the 0 at the end */
#define MAX_LIMITS	64	/* of a topology file */
#define MAP_BUSIEST	5
#define MAP_RARE	1e4	/* misses or requests a second that are next to none */
#define MAP_QPI		12.8e9	/* B/s of a link of 6.4 GT/s, the fastest of these machines */

/* ---- topology.c ---- */

struct link {
	char peer[MAP_NAME];	/* "S1", "IOH0"; empty if nobody has said */
	int port;		/* of the peer, or -1 if that is no package */
};

struct topology {
	struct link link[MAP_PACKAGES][MAP_PORTS];
	char node[MAP_NODES][MAP_NAME];	/* whose it is; empty if nobody has said */
	int nodes;
	struct topology_limit {
		const char *kind;
		const char *place;	/* S0 or S0/mbox_0; empty for all */
		double most;		/* in the unit of what it is compared with */
	} limit[MAX_LIMITS];
	int limits;
};

/*
 * Reads a topology file and tells of each line that is wrong, also of limits that neither the map
 * nor a rule of the session has. The topology is clear before. 0, or a status.
 */
int topology_read(struct topology *topology, const struct session *session, struct text *file);
/* What a place can do at most, "" for all of them, as the file says; 0 if it does not. */
double topology_limit(const struct topology *topology, const char *kind, const char *place);

/* ---- map.c ---- */

/* What the map shows at one place. */
struct map_value {
	enum map_state {
		MAP_ABSENT,	/* there is no such box */
		MAP_NONE,	/* there is no value, and why says the reason */
		MAP_ODD,	/* it is not plausible, and why says so */
		MAP_TURNS,	/* it has been counted for a part of the time */
		MAP_WHOLE,
	} state;
	double value;
	char *why;
};

struct map_package {
	bool there;
	struct map_value miss[MAP_CBOXES];	/* 1/s */
	struct map_value read[MAP_MBOXES];	/* B/s */
	struct map_value write[MAP_MBOXES];
	double limit_memory[MAP_MBOXES];	/* B/s, reads and writes together; 0 if unknown */
	struct map_value full[MAP_MBOXES];	/* % of that */
	struct map_value sent[MAP_PORTS];	/* B/s */
	struct map_value used[MAP_PORTS];	/* % */
	struct map_value to[MAP_NODES];		/* by column of the matrix, 1/s */
};

struct map {
	struct map_package package[MAP_PACKAGES];
	int packages;			/* one more than the last */
	int cboxes;			/* that a package has, or could have */
	double time;			/* of an interval, or 0 */
	const struct topology *topology;
	bool has_topology;
	double seconds;			/* that were counted */
	char when[40];			/* it was drawn */
	char host[41];			/* empty if it was not asked for */
	bool has_limit;			/* of an M-Box */
	double limit_qpi;		/* of a link each way, B/s */
	/* The links that are used most, the busiest one first */
	struct {
		int package, port;
	} busiest[MAP_BUSIEST];
	int num_busiest;
	bool matrix;
	const char *column[MAP_NODES];	/* peers that have nodes */
	int columns;
};

/* Asks for the metrics that a map is of. 0, or a status. */
int map_ask(struct session *session);
/* Makes the map of what has been counted, and draws it. */
void map_make(struct session *session, double time);
output_fn map_output;
/* Takes the terminal, if there is one. */
void map_begin(struct session *session);

/* Five characters or fewer, and a sign: 9.63G; >999E. With a unit, as people write it: 9.63 GB/s */
char *map_number(double value, const char *unit);
/* That, with ~ before it if it was multiplexed, ! if not plausible; n/a; - for what is absent. */
char *map_label(const struct map_value *value, const char *unit);
/* Is there a number to draw? */
bool map_is(const struct map_value *value);
/* What all cells of a kind add up to, in the worst state of one that is there. */
struct map_value map_sum(const struct map_value *values, int num);

/* How much of the most it is; 0 without a number. */
double map_share(const struct map_value *value, double most);
/* How dark a rate is: 0 for MAP_RARE, 1 for 10,000 times that, by decades. */
double map_decades(const struct map_value *value);
/* Where a link leads; ? if nobody has said. */
const char *map_peer(const struct map *map, int package, int port);
bool map_busiest(const struct map *map, int package, int port);
/* How full it is, as map_label() has numbers: 55 %. */
char *map_used(const struct map_value *used);

/* ---- map_text.c ---- */

/*
 * Writes the map in so many columns, and the matrix below it; for a screen in the styles of
 * screen.h.
 */
void map_text(FILE *f, const struct map *map, int columns, bool screen);

/* ---- map_svg.c ---- */

/* What is different where the page is dark; programs that do not know that leave it light. */
extern const char map_css[];
/* Writes the map as SVG; equal values make equal bytes. */
void map_svg(FILE *f, const struct map *map);

#endif /* PERF_METRICS_MAP_H */
