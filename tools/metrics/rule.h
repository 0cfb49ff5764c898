/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf metrics why and status: what the numbers mean, and why there are none.
 *
 *	rule.c		rules of metric files
 *	why.c		which of them hold, as sentences
 *	limit.c		what a place can do at most
 *	status.c	what prevents counting
 */
#ifndef PERF_METRICS_RULE_H
#define PERF_METRICS_RULE_H

#include <jansson.h>

#include "map.h"

#define MAX_RULE_VALUES	12
#define MAX_ALSO	4	/* of a rule */

/* ---- rule.c ---- */

/* A line of a metric or rule, before it means something. */
struct line {
	int number;
	char *word;
	char *value;
};

/* Which value of its metric a variable of a rule is. */
enum rule_of {
	OF_HERE,	/* of the place that is judged */
	OF_MEAN,	/* of all such places of the package */
	OF_MAX,
	OF_MIN,
	OF_PACKAGE,	/* of the package as a whole */
	OF_PEER,	/* of the package that a link leads to */
	OF_LIMIT,	/* it is no metric but a limit of limit.c */
};

extern const char * const rule_of_names[];

struct rule {
	char *name;
	struct group *group;
	char *help;
	char *file;
	int line;
	struct rule_value {
		char *name;
		enum rule_of of;
		char *text;			/* the name of the metric or limit */
		struct metric *metric;		/* NULL for a limit */
	} value[MAX_RULE_VALUES];
	int num_values;
	struct formula when, share;
	unsigned int used, used_share;	/* values that these two have, a bit each */
	struct also {			/* what else is said, if its formula holds */
		struct formula when;
		unsigned int used;
		char *text;
	} also[MAX_ALSO];
	int num_also;
	char *says, *doubt, *page;
	int packages;			/* on fewer of them it cannot hold */
	double var[MAX_RULE_VALUES];
	bool asked;
};

/* Makes a rule of its lines, the first of which names it. The number of errors, which are told. */
int rule_make(struct session *session, struct group *group, const char *path,
	      const struct line *lines, int num);
/* Are all metrics of the rules in the session? */
bool rules_complete(const struct session *session);
/*
 * Finds the metrics of all rules, in the session or, if it is not NULL, in another one. The number
 * of errors, which have been told.
 */
int rules_resolve(struct session *session, const struct session *others);
/* Has a metric a value for each box or part, and are these alike? */
bool metric_has_cells(const struct metric *metric);
/* In list.c: the one of this name, or NULL. */
struct rule *rule_named(const struct session *session, const char *name);
void rule_print(const struct rule *rule);
json_t *rule_json(const struct rule *rule);

/* ---- limit.c ---- */

/*
 * Reads the topology file of the options, or that of a recording, or the one beside the metric files.
 * 0, or a status if it is wrong.
 */
int session_topology(struct session *session);
/* What a place can do at most; a cell of NULL is a package. 0 if it is not known. */
double limit_of(const struct session *session, const char *kind, int package, const char *cell);
/* The limits that rules have for what is among the values, as OpenMetrics. */
void limits_write(struct session *session, const struct value *values, int num, FILE *f);
/* A topology file to be filled in, for this machine. 0, or a status. */
int topology_skeleton(struct session *session);

/* ---- why.c ---- */

#define STATUS_FOUND	4	/* a rule of --fail-on holds */

/* Asks for rules by name, or for all of this machine. 0, or a status. */
int why_ask(struct session *session, char **names, int num);
/* Asks for all rules of the machine, of a recording those whose metrics it has. How many. */
int why_ask_all(struct session *session);
/* The verdicts on what was counted, worst first, and what could not be judged; a line each. */
char **why_lines(struct session *session, int *num);
/* Has this package no such box, or is it fused off? Then there is nothing to judge. */
bool is_absent(const struct session *session, const struct value *value);
/* Says what holds. */
output_fn why_output;
/* What --fail-on makes of it, or status. */
int why_status(const struct session *session, int status);

/* ---- status.c ---- */

/* What the machine, the module and the user are like. 0 if counting will work, else a status. */
int status_show(struct session *session, int files);

#endif /* PERF_METRICS_RULE_H */
