// SPDX-License-Identifier: GPL-2.0-only
/*
 * What metrics there are, for people and as JSON for what is generated from them.
 */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "metrics.h"

static void print_item(const char *name, const char *text)
{
	if (text && *text) {
		printf("    %-9s ", name);
		print_wrapped(text, 14);
	}
}

static void print_details(const struct metric *metric)
{
	static const char * const reduce[] = { "", "mean of ", "max of ", "min of " };
	char *text;
	int i;

	printf("%s\n", metric->name);
	print_item("help", metric->help);
	print_item("group", metric->group->name);
	print_item("unit", metric->unit);
	text = strdup(metric->kind);
	for (i = 0; i < metric->num_parts; i++) {
		char *more = format("%s %s", text, metric->part[i]);

		free(text);
		text = more;
	}
	print_item("scope", text);
	free(text);
	for (i = 0; i < metric->num_events; i++) {
		text = format("%s = %s%s", metric->event[i].name, reduce[metric->event[i].reduce],
			      metric->event[i].text);
		print_item("event", text);
		free(text);
	}
	print_item("formula", metric->formula.text);
	if (metric->valid.text) {
		text = format("%s; otherwise n/a, because %s", metric->valid.text, metric->valid_why);
		print_item("valid", text);
		free(text);
	}
	if (isfinite(metric->limit[1]))
		printf("    %-9s %g to %g\n", "limit", metric->limit[0], metric->limit[1]);
	if (isfinite(metric->plausible[1]))
		printf("    %-9s %g to %g\n", "plausible", metric->plausible[0],
		       metric->plausible[1]);
	print_item("doubt", metric->doubt);
	print_item("source", metric->source);
	printf("    %-9s %s:%d\n", "file", metric->file, metric->line);
}

static void print_groups(void)
{
	int g, i;

	for (g = 0; g < num_groups; g++) {
		bool here = machine_is(groups[g]->machines), any = false;
		char *head;

		for (i = 0; i < num_metrics; i++)
			any |= metrics[i]->group == groups[g];
		if (!any)
			continue;
		head = format("%s%s%s", groups[g]->help, here ? "" : "; not for this machine but for ",
			      here ? "" : groups[g]->machines);
		printf("%s: ", groups[g]->name);
		print_wrapped(head, strlen(groups[g]->name) + 2);
		free(head);
		for (i = 0; i < num_metrics; i++) {
			if (metrics[i]->group != groups[g])
				continue;
			printf("  %-33s ", metrics[i]->name);
			if (strlen(metrics[i]->name) > 33)
				printf("\n%36s", "");
			print_wrapped(metrics[i]->help, 36);
		}
	}
}

static json_t *range_json(const double range[2])
{
	return isfinite(range[1]) ? json_pack("[ff]", range[0], range[1]) : json_null();
}

static json_t *metric_json(const struct metric *metric)
{
	static const char * const reduce[] = { "sum", "mean", "max", "min" };
	json_t *parts = json_array(), *events = json_array();
	char *name = family(metric);
	json_t *json;
	int i;

	for (i = 0; i < metric->num_parts; i++)
		json_array_append_new(parts, json_string(metric->part[i]));
	for (i = 0; i < metric->num_events; i++)
		json_array_append_new(events, json_pack("{ssssss}", "name", metric->event[i].name,
							"of", reduce[metric->event[i].reduce],
							"event", metric->event[i].text));
	json = json_pack("{ss ss ss ss? ss ss ss ss so so ss so so ss? ss? ss?}",
			 "name", metric->name, "group", metric->group->name,
			 "group_help", metric->group->help, "machine", metric->group->machines,
			 "help", metric->help, "unit", metric->unit, "family", name,
			 "scope", metric->kind, "parts", parts, "events", events,
			 "formula", metric->formula.text, "limit", range_json(metric->limit),
			 "plausible", range_json(metric->plausible), "valid", metric->valid.text,
			 "doubt", metric->doubt, "source", metric->source);
	free(name);
	return json;
}

/* All, or those of the names; true if there are any. */
static bool list_one(const char *name, bool (*visit)(const struct metric *metric, void *arg), void *arg)
{
	bool found = false;
	int i;

	for (i = 0; i < num_metrics; i++) {
		if (!name || !strcmp(metrics[i]->name, name) || !strcmp(metrics[i]->group->name, name))
			found |= visit(metrics[i], arg);
	}
	return found;
}

static bool visit_details(const struct metric *metric, void *arg)
{
	(void)arg;
	print_details(metric);
	return true;
}

static bool visit_json(const struct metric *metric, void *arg)
{
	return !json_array_append_new(arg, metric_json(metric));
}

void list(char **names, int num, bool json)
{
	json_t *all = json_array();
	int i;

	if (!num && !json)
		print_groups();
	if (!num && json)
		list_one(NULL, visit_json, all);
	for (i = 0; i < num; i++) {
		if (!list_one(names[i], json ? visit_json : visit_details, all))
			die(STATUS_USAGE, "there is no metric or group '%s': perf metrics list",
			    names[i]);
	}
	if (json) {
		json_dumpf(all, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
		printf("\n");
	}
	json_decref(all);
}
