// SPDX-License-Identifier: GPL-2.0-only
/*
 * Topology files: which QPI link leads where, and which node is whose. No register tells
 * that, so somebody who knows the board writes it down. See Documentation/man/perf-metrics.5.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "map.h"

struct port {
	int package, port;	/* package -1: it is no port */
};

/* "S0.qpi1" */
static struct port port_of(const char *word)
{
	struct port port = { -1, -1 };
	int package, number;

	if (sscanf(word, "S%d.qpi%d", &package, &number) == 2 &&
	    !strcmp(word, format("S%d.qpi%d", package, number)) && package >= 0 &&
	    package < MAP_PACKAGES && number >= 0 && number < MAP_PORTS)
		port = (struct port){ package, number };
	return port;
}

/* Short enough for the map, and harmless in a picture. */
static bool is_peer(const char *word)
{
	size_t len = strlen(word), i;

	for (i = 0; i < len && isalnum((unsigned char)word[i]); i++)
		;
	return len && i == len && len < MAP_NAME;
}

static const char *set_port(struct topology *topology, struct port port, const char *peer, int back)
{
	struct link *link = &topology->link[port.package][port.port];

	if (*link->peer)
		return format("S%d.qpi%d has a link already", port.package, port.port);
	strcpy(link->peer, peer);
	link->port = back;
	return NULL;
}

static const char *read_link(struct topology *topology, const char *a, const char *b)
{
	struct port one = port_of(a), other = port_of(b);
	const char *error;

	if (one.package < 0)
		return format("'%s' is no port, which is S0.qpi0 to S%d.qpi%d", a,
			      MAP_PACKAGES - 1, MAP_PORTS - 1);
	if (other.package < 0)
		return is_peer(b) ? set_port(topology, one, b, -1) :
			format("'%s' is no port, and no name of up to %d letters and digits", b,
			       MAP_NAME - 1);
	if (other.package == one.package)
		return "a link leads to another package";
	error = set_port(topology, one, format("S%d", other.package), other.port);
	return error ?: set_port(topology, other, format("S%d", one.package), one.port);
}

static const char *read_node(struct topology *topology, const char *number, const char *peer)
{
	char *end;
	long node = strtol(number, &end, 10);

	if (!isdigit((unsigned char)*number) || *end || node >= MAP_NODES)
		return format("'%s' is no node, which is 0 to %d", number, MAP_NODES - 1);
	if (!is_peer(peer))
		return format("'%s' is no name of up to %d letters and digits", peer, MAP_NAME - 1);
	if (*topology->node[node])
		return format("there is a node %ld already", node);
	strcpy(topology->node[node], peer);
	topology->nodes++;
	return NULL;
}

/* What a board allows at most, in B/s, where that is less than the metrics have it. */
static const char *read_limit(struct topology *topology, const char *what, const char *text)
{
	double *limit = !strcmp(what, "memory") ? &topology->limit_memory :
			!strcmp(what, "qpi") ? &topology->limit_qpi : NULL;
	char *end;

	if (!limit)
		return format("'%s' has no limit; memory and qpi have", what);
	if (*limit)
		return format("there is a limit of %s already", what);
	*limit = strtod(text, &end);
	return *end || !(*limit > 0 && *limit < 1e15) ?
	       format("'%s' is no limit, which is in bytes a second, as 12.8e9", text) : NULL;
}

static const char *take_line(void *topology, int number, char *first, char *text)
{
	char *second = next_word(&text), *third = second ? next_word(&text) : NULL;

	(void)number;
	if (third && !*text && !strcmp(first, "link"))
		return read_link(topology, second, third);
	if (third && !*text && !strcmp(first, "node"))
		return read_node(topology, second, third);
	if (third && !*text && !strcmp(first, "limit"))
		return read_limit(topology, second, third);
	return "a line is 'link S0.qpi0 S1.qpi0', 'link S0.qpi0 NAME', 'node 0 S0' or "
	       "'limit memory 25.6e9'";
}

int topology_read(struct topology *topology, const char *path)
{
	int errors;

	memset(topology, 0, sizeof(*topology));
	errors = lines_read(path, take_line, topology);
	return !errors ? 0 : fail(STATUS_USAGE, "%s: %d %s wrong", path, errors,
				  errors == 1 ? "line is" : "lines are");
}
