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

static void print_item(const char *name, const char *text)
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

static void print_groups(const struct session *session)
{
	int g, i;

	for (g = 0; g < session->num_groups; g++) {
		const struct group *group = session->group[g];
		bool here = machine_is(session, group->machines), any = false;

		for (i = 0; i < session->num_metrics; i++)
			any |= session->metric[i]->group == group;
		if (!any)
			continue;
		printf("%s: ", group->name);
		print_wrapped(here ? group->help :
			      format("%s; not for this machine but for %s", group->help,
				     machine_names(group->machines)), strlen(group->name) + 2);
		for (i = 0; i < session->num_metrics; i++) {
			const struct metric *metric = session->metric[i];

			if (metric->group != group)
				continue;
			printf("  %-33s ", metric->name);
			if (strlen(metric->name) > 33)
				printf("\n%36s", "");
			print_wrapped(metric->help, 36);
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

/* How many letters have to be put in, left out or replaced to make one word of the other. */
static int distance(const char *a, const char *b)
{
	int row[65], i, j, left, above;

	for (j = 0; j < 65; j++)
		row[j] = j;
	for (i = 0; a[i]; i++) {
		left = row[0];
		row[0] = i + 1;
		for (j = 0; j < 64 && b[j]; j++) {
			above = row[j + 1];
			row[j + 1] = a[i] == b[j] ? left : 1 + (left < above ?
				     (left < row[j] ? left : row[j]) : (above < row[j] ? above : row[j]));
			left = above;
		}
	}
	return row[strnlen(b, 64)];
}

/* Is this nearer to the name? What has the name in it is, if nothing is near. */
static void nearer(const char *name, const char *other, int *least, const char **like)
{
	int far = distance(name, other);

	if (far < *least || (!*like && strlen(name) > 2 && strstr(other, name))) {
		*least = far < *least ? far : *least;
		*like = other;
	}
}

int unknown(const struct session *session, const char *name, bool first)
{
	int least = 2 + strlen(name) / 6, i;
	const char *like = NULL;

	for (i = LIST; i < NUM_MODES && first; i++)
		nearer(name, modes[i], &least, &like);
	for (i = 0; i < session->num_metrics; i++) {
		nearer(name, session->metric[i]->group->name, &least, &like);
		nearer(name, session->metric[i]->name, &least, &like);
	}
	return fail(STATUS_USAGE, "there is no metric or group '%s'%s%s: perf metrics list%s", name,
		    like ? "; did you mean " : "", like ?: "",
		    like || first ? "" : "; a command stands behind --");
}

static void print_rules(const struct session *session)
{
	int r;

	for (r = 0; r < session->num_rules; r++) {
		const struct rule *rule = session->rule[r];

		printf("%-20s ", rule->name);
		if (strlen(rule->name) > 20)
			printf("\n%21s", "");
		print_wrapped(machine_is(session, rule->group->machines) ? rule->help :
			      format("%s; not for this machine but for %s", rule->help,
				     machine_names(rule->group->machines)), 21);
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
