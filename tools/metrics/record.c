// SPDX-License-Identifier: GPL-2.0-only
/*
 * What has been counted, in a file: lines of JSON. The first one is all that is needed to
 * compute with the others: machine, metric files, plan. Then comes a line for each interval with
 * what was counted, as it was read, and one for the whole time. Each line is written when it is
 * complete, so a recording that was killed is one that ends there. See perf-metrics(5).
 */
#include <jansson.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "rule.h"

static json_t *strings(char **list)
{
	json_t *array = json_array();

	for (; *list; list++)
		json_array_append_new(array, string_json(*list));
	return array;
}

/* A file as it was read: it may be another one by now. */
static json_t *text_json(const struct text *file)
{
	return json_pack("{so ss}", "path", string_json(file->path), "text", file->text);
}

static json_t *machine_json(const struct session *session)
{
	json_t *package = json_array(), *pmus = json_array();
	char *module = module_text(session);
	struct utsname name;
	int i, p;

	uname(&name);
	for (i = 0; i < session->cpus; i++)
		json_array_append_new(package, json_integer(session->package_of[i]));
	for (i = 0; i < session->num_pmus; i++) {
		const struct pmu *pmu = &session->pmu[i];
		json_t *cpus = json_array();

		for (p = 0; p < session->packages; p++)
			json_array_append_new(cpus, json_integer(pmu->cpu[p]));
		json_array_append_new(pmus, json_pack("{ss sb so}", "name", pmu->name, "core",
						      pmu->core, "cpus", cpus));
	}
	return json_pack("{ss so so so ss ss? so so}", "model", session->model, "model_name",
			 string_json(session->model_name), "name",
			 string_json(machine_name(session)), "host", string_json(name.nodename),
			 "kernel", name.release, "module", module,
			 "package", package, "pmus", pmus);
}

static json_t *counters_json(const struct plan *plan)
{
	json_t *counters = json_array();
	int i;

	for (i = 0; i < plan->num_counters; i++) {
		const struct counter *one = plan->counter[i];

		json_array_append_new(counters, json_pack("{ss ss si si}", "pmu", one->pmu->name,
							  "terms", one->terms, "pass", one->pass,
							  "gate", one->gate));
	}
	return counters;
}

/* The counters of each event of a cell: for each source, which ones of the plan. */
static json_t *cell_json(const struct plan *plan, const struct metric *metric,
			 const struct cell *cell)
{
	json_t *events = json_array(), *sources, *numbers;
	int e, i, j, c;

	for (e = 0; e < metric->num_events && !cell->why; e++) {
		sources = json_array();
		for (i = 0; i < cell->event[e].num; i++) {
			const struct source *source = cell->event[e].source[i];

			numbers = json_array();
			for (j = 0; j < source->num; j++) {
				for (c = 0; plan->counter[c] != source->counter[j]; c++)
					;
				json_array_append_new(numbers, json_integer(c));
			}
			json_array_append_new(sources, numbers);
		}
		json_array_append_new(events, sources);
	}
	return json_pack("{ss* ss* so}", "name", cell->name, "why", cell->why, "events", events);
}

static json_t *metrics_json(const struct plan *plan)
{
	json_t *metrics = json_array(), *cells;
	int m, c;

	for (m = 0; m < plan->num_metrics; m++) {
		const struct plan_metric *pm = &plan->metric[m];

		cells = json_array();
		for (c = 0; c < pm->num_cells; c++)
			json_array_append_new(cells, cell_json(plan, pm->metric, pm->cell[c]));
		json_array_append_new(metrics, json_pack("{ss ss* so}", "name", pm->metric->name,
							 "why", pm->why, "cells", cells));
	}
	return metrics;
}

/* What is counted was asked for before: so the first interval says when that was. */
static json_t *header_json(const struct session *session, double time)
{
	const struct plan *plan = &session->plan;
	json_t *files = json_array();
	struct timespec now;
	int i;

	clock_gettime(CLOCK_REALTIME, &now);
	for (i = 0; i < session->num_texts; i++)
		json_array_append_new(files, text_json(&session->text[i]));
	return json_pack("{si ss sf si so so so* so sb so so}",
			 "perf_metrics_record", RECORD_VERSION, "version", VERSION,
			 "start", now.tv_sec + now.tv_nsec / 1e9 - time,
			 "interval", session->options.interval,
			 "command", session->options.command ? strings(session->options.command) :
			 json_null(), "machine", machine_json(session), "topology",
			 session->topology_file.path ? text_json(&session->topology_file) : NULL,
			 "files", files, "command_only", plan->command_only,
			 "counters", counters_json(plan), "metrics", metrics_json(plan));
}

/* Numbers as they are, a text for why there is none, null where nothing was read. */
static json_t *reading_json(const struct reading *reading)
{
	return !reading->there ? json_null() : reading->why ? json_string(reading->why) :
	       json_pack("[fff]", reading->value, reading->seconds, reading->running);
}

/* Up to the last one that was read. */
static json_t *counts_json(struct session *session)
{
	const struct plan *plan = &session->plan;
	json_t *counts = json_array(), *of;
	int i, at, num;

	for (i = 0; i < plan->num_counters; i++) {
		const struct reading *reading = plan->counter[i]->reading;

		of = json_array();
		for (num = readings(session); num && !reading[num - 1].there; num--)
			;
		for (at = 0; at < num; at++) {
			json_array_append_new(of, reading_json(&reading[at]));
			session->any_value |= reading[at].there && !reading[at].why;
		}
		json_array_append_new(counts, of);
	}
	return counts;
}

int record_output(struct session *session, double time)
{
	const char *path = session->options.output;

	if (!session->results++ && !put_json(session->file, header_json(session, time)))
		return fail(STATUS_FAILED, "%s: what is recorded cannot be written as JSON", path);
	put_json(session->file, json_pack("{so so}", "time", time ? json_real(time) : json_null(),
					  "counts", counts_json(session)));
	return replace_flush(session, path);
}

int record_ask(struct session *session, bool named)
{
	const struct options *options = &session->options;
	int status = 0, i;

	for (i = 0; i < session->num_metrics && !named; i++) {
		if (!strcmp(session->metric[i]->name, options->output) ||
		    !strcmp(session->metric[i]->group->name, options->output))
			return fail(STATUS_USAGE, "-o needs the name of the file first: "
				    "perf metrics record -o FILE %s", options->output);
	}
	if (named && options->matrix)
		return fail(STATUS_USAGE, "--matrix is of the map, which has no names");
	if (named)
		return 0;
	if (machine_is(session, "06_2e 06_2f"))
		status = map_ask(session);
	else if (!why_ask_all(session))
		return fail(STATUS_USAGE, "record needs the names of metrics: perf metrics list");
	return status ?: why_ask_all(session) ? why_ask(session, NULL, 0) : 0;
}
