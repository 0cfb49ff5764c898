// SPDX-License-Identifier: GPL-2.0-only
/*
 * What metrics there are, for people and as JSON for what is generated from them.
 */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "rule.h"

static const char *range_text(const double range[2])
{
	return isfinite(range[1]) ? format("%g to %g", range[0], range[1]) : NULL;
}

void print_item(const char *name, const char *text)
{
	if (text && *text) {
		printf("    %-9s ", name);
		print_wrapped(text, 14);
	}
}

static void print_details(const struct metric *metric)
{
	char *parts = metric->kind, *text;
	int i;

	printf("%s\n", metric->name);
	print_item("help", metric->help);
	print_item("group", metric->group->name);
	print_item("unit", metric->unit);
	for (i = 0; i < metric->num_parts; i++)
		parts = format("%s %s", parts, metric->part[i]);
	print_item("scope", parts);
	for (i = 0; i < metric->num_events; i++) {
		const struct metric_event *event = &metric->event[i];

		text = event->reduce == REDUCE_SUM ? "" :
		       format("%s of ", reduce_names[event->reduce]);
		print_item("event", format("%s = %s%s", event->name, text, event->text));
	}
	print_item("formula", metric->formula.text);
	if (metric->valid.text)
		print_item("valid", format("%s; otherwise n/a, because %s", metric->valid.text,
					   metric->valid_why));
	print_item("limit", range_text(metric->limit));
	print_item("plausible", range_text(metric->plausible));
	print_item("doubt", metric->doubt);
	print_item("source", metric->source);
	print_item("file", format("%s:%d", metric->file, metric->line));
}

/* A name, and beside it what it is. */
static void print_help(const char *before, int width, const char *name, const char *help)
{
	int column = strlen(before) + width + 1;

	printf("%s%-*s ", before, width, name);
	if ((int)strlen(name) > width)
		printf("\n%*s", column, "");
	print_wrapped(help, column);
}

static const char *help_here(const struct session *session, const struct group *group,
			     const char *help)
{
	return machine_is(session, group->machines) ? help :
	       format("%s; not for this machine but for %s", help, machine_names(group->machines));
}

static void print_group(const struct session *session, const struct group *group)
{
	int i, num = 0;

	for (i = 0; i < session->num_metrics; i++) {
		const struct metric *metric = session->metric[i];

		if (metric->group != group)
			continue;
		if (!num++)
			print_help("", strlen(group->name) + 1, format("%s:", group->name),
				   help_here(session, group, group->help));
		print_help("  ", 33, metric->name, metric->help);
	}
}

/* First those of the machine at hand. */
static void print_groups(const struct session *session)
{
	int g, here;

	for (here = 1; here >= 0; here--) {
		for (g = 0; g < session->num_groups; g++) {
			if (machine_is(session, session->group[g]->machines) == here)
				print_group(session, session->group[g]);
		}
	}
}

static json_t *range_json(const double range[2])
{
	return isfinite(range[1]) ? json_pack("[ff]", range[0], range[1]) : json_null();
}

static json_t *metric_json(const struct metric *metric)
{
	json_t *parts = json_array(), *events = json_array();
	int i;

	for (i = 0; i < metric->num_parts; i++)
		json_array_append_new(parts, json_string(metric->part[i]));
	for (i = 0; i < metric->num_events; i++)
		json_array_append_new(events, json_pack("{ssssss}", "name", metric->event[i].name,
							"of", reduce_names[metric->event[i].reduce],
							"event", metric->event[i].text));
	return json_pack("{ss ss ss ss? ss ss ss ss so so ss so so ss? ss? ss?}",
			 "name", metric->name, "group", metric->group->name,
			 "group_help", metric->group->help, "machine", metric->group->machines,
			 "help", metric->help, "unit", metric->unit, "family", metric->family,
			 "scope", metric->kind, "parts", parts, "events", events,
			 "formula", metric->formula.text, "limit", range_json(metric->limit),
			 "plausible", range_json(metric->plausible), "valid", metric->valid.text,
			 "doubt", metric->doubt, "source", metric->source);
}

struct metric *metric_named(const struct session *session, const char *name)
{
	int i;

	for (i = 0; i < session->num_metrics; i++) {
		if (!strcmp(session->metric[i]->name, name))
			return session->metric[i];
	}
	return NULL;
}

struct rule *rule_named(const struct session *session, const char *name)
{
	int r;

	for (r = 0; r < session->num_rules; r++) {
		if (!strcmp(session->rule[r]->name, name))
			return session->rule[r];
	}
	return NULL;
}

#define WORD	64

/* How many letters have to be put in, left out, replaced or swapped to make one word of the other. */
static int distance(const char *a, const char *b)
{
	int way[WORD + 1][WORD + 1], rows = strnlen(a, WORD), columns = strnlen(b, WORD), i, j;

	for (i = 0; i <= rows; i++) {
		for (j = 0; j <= columns; j++) {
			int *here = &way[i][j];

			if (!i || !j) {
				*here = i + j;
				continue;
			}
			*here = way[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
			*here = *here < way[i - 1][j] + 1 ? *here : way[i - 1][j] + 1;
			*here = *here < way[i][j - 1] + 1 ? *here : way[i][j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    way[i - 2][j - 2] < *here)
				*here = way[i - 2][j - 2] + 1;
		}
	}
	return way[rows][columns];
}

const char *nearer(const char *name, const char *other, const char *like)
{
	int most = 2 + strlen(name) / 6, least = like ? distance(name, like) : most;

	if (distance(name, other) < (least < most ? least : most) ||
	    (strlen(name) > 2 && strstr(other, name) &&
	     (!like || strlen(other) < strlen(like))))
		return other;
	return like;
}

char *meant(const char *like)
{
	return like ? format("; did you mean %s", like) : "";
}

int unknown(const struct session *session, const char *name, bool first)
{
	const bool rules = session->options.rules || session->options.show == WHY;
	const char *like = NULL, *what = rules ? "rule" : "metric or group";
	int i;

	for (i = LIST; i < NUM_MODES && first && !rules; i++)
		like = nearer(name, modes[i], like);
	for (i = 0; i < session->num_metrics && !rules; i++) {
		like = nearer(name, session->metric[i]->group->name, like);
		like = nearer(name, session->metric[i]->name, like);
	}
	for (i = 0; i < session->num_rules && (rules || session->options.mode == LIST); i++)
		like = nearer(name, session->rule[i]->name, like);
	if (!rules && rule_named(session, name))
		like = format("perf metrics why %s", name);
	return fail(STATUS_USAGE, "there is no %s '%s'%s: perf metrics list%s%s", what, name, meant(like),
		    rules ? " --rules" : "",
		    like || first || !runs_command(session->options.mode) ? "" :
		    "; put -- before a command");
}

static void print_rules(const struct session *session)
{
	int r, here;

	for (here = 1; here >= 0; here--) {
		for (r = 0; r < session->num_rules; r++) {
			const struct rule *rule = session->rule[r];

			if (machine_is(session, rule->group->machines) == here)
				print_help("", 20, rule->name,
					   help_here(session, rule->group, rule->help));
		}
	}
}

/* All, or those of the name. False if there are none. */
static bool list_one(const struct session *session, const char *name, json_t *json)
{
	bool found = false;
	int i;

	for (i = 0; i < session->num_rules; i++) {
		const struct rule *rule = session->rule[i];

		if (name ? strcmp(rule->name, name) : !session->options.rules)
			continue;
		found = true;
		if (json)
			json_array_append_new(json, rule_json(rule));
		else
			rule_print(rule);
	}
	for (i = 0; i < session->num_metrics && !session->options.rules; i++) {
		const struct metric *metric = session->metric[i];

		if (name && strcmp(metric->name, name) && strcmp(metric->group->name, name))
			continue;
		found = true;
		if (json)
			json_array_append_new(json, metric_json(metric));
		else
			print_details(metric);
	}
	return found;
}

int list(const struct session *session, char **names, int num)
{
	json_t *all = session->options.json ? json_array() : NULL;
	int status = 0, i;

	if (!num && !all && session->options.rules)
		print_rules(session);
	else if (!num && !all)
		print_groups(session);
	else if (!num)
		list_one(session, NULL, all);
	for (i = 0; i < num && !status; i++) {
		if (!list_one(session, names[i], all))
			status = unknown(session, names[i], !i);
	}
	if (all && !status) {
		json_dumpf(all, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
		printf("\n");
	}
	json_decref(all);
	return status;
}
