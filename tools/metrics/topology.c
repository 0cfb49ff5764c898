// SPDX-License-Identifier: GPL-2.0-only
/*
 * Topology files: which QPI link leads where, and which node is whose. No register tells
 * that, so somebody who knows the board writes it down. See Documentation/man/perf-metrics.5.
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rule.h"

struct reader {
	struct topology *topology;
	const struct session *session;
};

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
	size_t len = 0;

	while (isalnum((unsigned char)word[len]))
		len++;
	return !word[len] && len < MAP_NAME;
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

double topology_limit(const struct topology *topology, const char *kind, const char *place)
{
	int i;

	for (i = 0; i < topology->limits; i++) {
		if (!strcmp(topology->limit[i].kind, kind) && !strcmp(topology->limit[i].place, place))
			return topology->limit[i].most;
	}
	return 0;
}

/* A limit is of the map or of a rule. */
static const char *check_kind(const struct session *session, const char *kind)
{
	const char *like = nearer(kind, "qpi", nearer(kind, "memory", NULL));
	int r, i;

	for (r = 0; r < session->num_rules; r++) {
		const struct rule *rule = session->rule[r];

		for (i = 0; i < rule->num_values; i++) {
			if (rule->value[i].of == OF_LIMIT)
				like = nearer(kind, rule->value[i].text, like);
		}
	}
	return like && !strcmp(like, kind) ? NULL :
	       format("no rule has a limit '%s'%s", kind, meant(like));
}

/* What a place can do at most: of all such places, or of one. */
static const char *read_limit(const struct reader *reader, const char *kind, const char *number,
			      const char *place)
{
	struct topology *topology = reader->topology;
	struct topology_limit *limit = &topology->limit[topology->limits];
	char *end;
	double most = strtod(number, &end);
	bool bytes = !strcmp(kind, "memory") || !strcmp(kind, "qpi");
	int package, len = 0;

	if (*end || !(most > (bytes ? 1e6 : 0) && most < 1e15))
		return format("'%s' is no limit, which is a number above %s and below 1e15%s", number,
			      bytes ? "1e6" : "0", bytes ? ", in bytes a second" : "");
	if (*place && (sscanf(place, "S%d%n", &package, &len) != 1 || package < 0 ||
		       (place[len] && (place[len] != '/' || check_word(place + len + 1)))))
		return format("'%s' is no place, which is as S0 or S0/mbox_0", place);
	if (topology_limit(topology, kind, place))
		return format("there is a limit of %s%s%s already", kind, *place ? " of " : "", place);
	if (topology->limits == MAX_LIMITS)
		return "too many limits";
	*limit = (struct topology_limit){ kind, place, most };
	topology->limits++;
	return check_kind(reader->session, kind);
}

static const char *take_line(void *data, int number, char *first, char *text)
{
	const struct reader *reader = data;
	char *second = next_word(&text), *third = second ? next_word(&text) : NULL;

	(void)number;
	if (third && !strcmp(first, "limit") && !strpbrk(text, " \t"))
		return read_limit(reader, second, third, text);
	if (third && !*text && !strcmp(first, "link"))
		return read_link(reader->topology, second, third);
	if (third && !*text && !strcmp(first, "node"))
		return read_node(reader->topology, second, third);
	return "a line is 'link S0.qpi0 S1.qpi0', 'link S0.qpi0 NAME', 'node 0 S0' or "
	       "'limit memory NUMBER'";
}

int topology_read(struct topology *topology, const struct session *session, struct text *file)
{
	int errors = lines_read(file, take_line, &(struct reader){ topology, session });

	if (errors && file->text)
		warn("%s: %d %s wrong", file->path, errors, errors == 1 ? "line is" : "lines are");
	return errors ? STATUS_USAGE : 0;
}
