// SPDX-License-Identifier: GPL-2.0-only
/*
 * A recording instead of the machine: the session gets the machine, the metrics, the plan and
 * the counts that it had, and output is made of them by what makes it live.
 */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "rule.h"

#define MAX_READINGS	(1 << 23)	/* of an interval: 1,000 counters of 8,192 CPUs */
#define MAX_START	1e11		/* s: the year 5138; localtime() does not know every year */

/* ---- the first line ---- */

/* An integer from 0 to most; otherwise negative, -1 if it is that. */
static int integer(const json_t *json, int most)
{
	json_int_t value = json_is_integer(json) ? json_integer_value(json) : -2;

	return value < -1 || value > most ? -2 : value;
}

/* Functions return what is wrong, or NULL. */

static const char *read_machine(struct session *session, const json_t *json)
{
	const char *model, *name;
	json_t *package, *pmus, *one;
	int i, p, core;
	size_t at;

	if (json_unpack((json_t *)json, "{ss ss ss so so}", "model", &model, "model_name", &name,
			"host", &session->host, "package", &package, "pmus", &pmus))
		return "its machine";
	snprintf(session->model, sizeof(session->model), "%s", model);
	snprintf(session->model_name, sizeof(session->model_name), "%s", name);
	session->cpus = json_array_size(package);
	if (session->cpus > MAX_CPUS)
		return "its CPUs";
	for (i = 0; i < session->cpus; i++) {
		p = integer(json_array_get(package, i), MAX_PACKAGES - 1);
		if (p < -1)
			return "its packages";
		session->package_of[i] = p;
		if (p < 0)
			continue;
		session->online[p] = true;
		if (p >= session->packages)
			session->packages = p + 1;
	}
	json_array_foreach(pmus, at, one) {
		struct pmu *pmu;
		json_t *cpus;

		if (json_unpack(one, "{ss sb so}", "name", &name, "core", &core, "cpus", &cpus))
			return "its PMUs";
		pmu = pmu_add(session, name);
		pmu->core = core;
		for (p = 0; p < session->packages; p++)
			pmu->cpu[p] = integer(json_array_get(cpus, p), MAX_CPUS - 1);
	}
	return NULL;
}

static const char *read_files(struct session *session, const json_t *header)
{
	const json_t *topology = json_object_get(header, "topology");
	struct text *text = &session->topology_file;
	json_t *one;
	size_t at;

	if (topology && json_unpack((json_t *)topology, "{ss ss%}", "path", &text->path, "text",
				    &text->text, &text->size))
		return "its topology file";
	json_array_foreach(json_object_get(header, "files"), at, one) {
		struct text file;

		if (json_unpack(one, "{ss ss%}", "path", &file.path, "text", &file.text,
				&file.size) ||
		    file_read(session, &file))
			return "its metric files";
	}
	return rules_resolve(session, NULL) ? "its rules" : NULL;
}

static const char *read_counters(struct session *session, const json_t *header)
{
	struct plan *plan = &session->plan;
	const char *pmu, *terms;
	json_t *one;
	size_t at;
	int i;

	json_array_foreach(json_object_get(header, "counters"), at, one) {
		struct counter *counter = allocate(sizeof(*counter));

		if (json_unpack(one, "{ss ss}", "pmu", &pmu, "terms", &terms))
			return "its counters";
		for (i = 0; i < session->num_pmus && strcmp(session->pmu[i].name, pmu); i++)
			;
		if (i == session->num_pmus)
			return "the PMU of a counter";
		if ((plan->num_counters + 1) * readings(session) > MAX_READINGS)
			return "its counters";
		counter->pmu = &session->pmu[i];
		counter->terms = (char *)terms;
		counter->reading = allocate(readings(session) * sizeof(*counter->reading));
		*append(plan->counter, plan->num_counters) = counter;
	}
	return NULL;
}

static const char *read_source(const struct plan *plan, struct source *source,
			       const json_t *numbers)
{
	json_t *number;
	size_t at;

	json_array_foreach(numbers, at, number) {
		int c = integer(number, plan->num_counters - 1);

		if (c < 0)
			return "the counters of a metric";
		*append(source->counter, source->num) = plan->counter[c];
	}
	return source->num ? NULL : "the counters of a metric";
}

static const char *read_cell(const struct plan *plan, const struct metric *metric,
			     struct cell *cell, const json_t *json)
{
	const json_t *events = json_object_get(json, "events"), *one;
	const char *error = NULL;
	size_t at;
	int e;

	cell->name = (char *)json_string_value(json_object_get(json, "name"));
	if (cell->name && !is_place_name(cell->name))
		return "the name of a place";
	cell->why = (char *)json_string_value(json_object_get(json, "why"));
	if (cell->why)
		return NULL;
	if (json_array_size(events) != (size_t)metric->num_events)
		return "the events of a metric";
	for (e = 0; e < metric->num_events && !error; e++) {
		json_array_foreach(json_array_get(events, e), at, one) {
			struct source *source = allocate(sizeof(*source));

			*append(cell->event[e].source, cell->event[e].num) = source;
			error = error ?: read_source(plan, source, one);
		}
	}
	return error;
}

static const char *read_metrics(struct session *session, const json_t *header)
{
	struct plan *plan = &session->plan;
	const char *error = NULL, *name;
	json_t *one, *cells, *cell;
	size_t at, c;

	json_array_foreach(json_object_get(header, "metrics"), at, one) {
		struct plan_metric *pm = append(plan->metric, plan->num_metrics);

		if (json_unpack(one, "{ss so}", "name", &name, "cells", &cells))
			return "its metrics";
		*pm = (struct plan_metric){ metric_named(session, name) };
		if (!pm->metric)
			return "a metric that no file of it has";
		pm->why = (char *)json_string_value(json_object_get(one, "why"));
		json_array_foreach(cells, c, cell) {
			*append(pm->cell, pm->num_cells) = allocate(sizeof(struct cell));
			error = error ?: read_cell(plan, pm->metric, pm->cell[c], cell);
		}
		if (!error && !pm->why && !pm->num_cells)
			error = "the places of a metric";
	}
	return error;
}

static const char *read_header(struct record *record)
{
	struct session *session = record->session;
	json_t *header = record->header, *command, *word;
	int command_only;
	size_t at;

	record->interval = integer(json_object_get(header, "interval"), MAX_NUMBER);
	if (record->interval < 1 ||
	    json_unpack(header, "{sF sb so}", "start", &record->start, "command_only",
			&command_only, "command", &command) ||
	    !(record->start >= 0 && record->start < MAX_START))
		return "its first line";
	record->command = "";
	json_array_foreach(command, at, word)
		record->command = format("%s%s%s", record->command, at ? " " : "",
					 json_string_value(word) ?: "");
	session->plan.command_only = command_only;
	return read_machine(session, json_object_get(header, "machine")) ?:
	       read_files(session, header) ?: read_counters(session, header) ?:
	       read_metrics(session, header);
}

/* ---- the others ---- */

/* What is printed moves no cursor and has no colours of its own. */
static bool is_clean(const json_t *json)
{
	const char *text = json_string_value(json), *key;
	bool clean = true;
	json_t *one;
	size_t at;

	for (; text && *text; text++)
		clean &= *text == '\n' || !control_at(text);
	json_array_foreach(json, at, one)
		clean &= is_clean(one);
	json_object_foreach((json_t *)json, key, one)
		clean &= is_clean(one);
	return clean;
}

/* The next line of the file: its JSON, or NULL. The last line may be cut. */
static json_t *next_line(struct record *record, int *number, bool *cut)
{
	char *text = NULL;
	json_t *json = NULL;
	size_t size = 0;
	ssize_t len = getline(&text, &size, record->f);

	*cut = len > 0 && text[len - 1] != '\n';
	if (len > 0 && !*cut) {
		json = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
		++*number;
	}
	free(text);
	if (json && is_clean(json))
		return json;
	json_decref(json);
	return NULL;
}

static bool read_reading(struct reading *reading, const json_t *json)
{
	const char *why = json_string_value(json);

	*reading = (struct reading){ .there = json && !json_is_null(json),
				     .why = why ? format("%s", why) : NULL };
	if (why || !reading->there)
		return true;
	return !json_unpack((json_t *)json, "[FFF!]", &reading->value, &reading->seconds,
			    &reading->running) && reading->value >= 0 && reading->seconds > 0 &&
	       reading->running > 0 && reading->running < 1.01;
}

/* Adds a line to what the counters have; it is a share of the time of both. */
static bool add_line(struct session *session, const json_t *line, double share)
{
	const struct plan *plan = &session->plan;
	const json_t *counts = json_object_get(line, "counts"), *of;
	bool good = json_array_size(counts) == (size_t)plan->num_counters;
	struct reading one, *sum;
	int i, at;

	for (i = 0; i < plan->num_counters && good; i++) {
		of = json_array_get(counts, i);
		good = json_is_array(of) && json_array_size(of) <= (size_t)readings(session);
		for (at = 0; at < readings(session) && good; at++) {
			sum = &plan->counter[i]->reading[at];
			good = read_reading(&one, json_array_get(of, at));
			/* There is a count if there was one in any interval. */
			sum->why = share < 1 && !sum->why ? NULL : one.why;
			sum->there |= one.there;
			sum->value += one.value;
			sum->seconds += one.seconds;
			sum->running += share * (one.running - sum->running);
		}
	}
	return good;
}

static void forget(struct session *session)
{
	int i;

	for (i = 0; i < session->plan.num_counters; i++)
		memset(session->plan.counter[i]->reading, 0,
		       readings(session) * sizeof(struct reading));
}

static int damaged(const struct record *record, int line, const char *what)
{
	return fail(STATUS_USAGE, "%s:%d: the recording is damaged in %s", record->path, line, what);
}

/* All of them are looked at first, so that nothing is said of a file that is damaged. */
static int look(struct record *record)
{
	const void *memory = mark();
	bool cut, good = true;
	int number = 1;
	json_t *line;

	record->first = ftell(record->f);
	while (good && (line = next_line(record, &number, &cut))) {
		const json_t *at = json_object_get(line, "time");
		double time = json_number_value(at);

		/* Behind that of the whole time there is none. */
		good = !record->whole && (json_is_null(at) || (time > fmax(record->end, 1e-6) &&
							       time < MAX_START)) &&
		       add_line(record->session, line, 1);
		record->whole |= json_is_null(at);
		record->intervals += !record->whole;
		if (!record->whole)
			record->end = json_number_value(at);
		forget(record->session);
		free_from(memory);
		json_decref(line);
	}
	if (!good || (!cut && !feof(record->f)))
		return damaged(record, number, "this line");
	if (!record->whole && !record->intervals)
		return fail(STATUS_USAGE, "%s: nothing was recorded", record->path);
	if (!record->whole || cut)
		warn("%s: the recording ends %safter %d whole %s, at %.3f s", record->path,
		     cut ? "in a line " : "without its last line ", record->intervals,
		     record->intervals == 1 ? "interval" : "intervals", record->end);
	return 0;
}

int record_open(struct record *record, struct session *session, const char *path)
{
	json_int_t version;
	const char *error;
	struct stat st;
	int number = 0;
	bool cut;

	*record = (struct record){ .session = session, .path = path };
	/* The open of a pipe would wait for a writer. */
	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return fail(STATUS_USAGE, "%s: this is no file", path);
	record->f = fopen(path, "re");
	if (!record->f)
		return fail(STATUS_USAGE, "%s: %s", path, strerror(errno));
	record->header = next_line(record, &number, &cut);
	version = json_integer_value(json_object_get(record->header, "perf_metrics_record"));
	if (version < 1)
		return fail(STATUS_USAGE, "%s: this is no recording of perf metrics record", path);
	if (version > RECORD_VERSION)
		return fail(STATUS_USAGE, "%s: its format is %" JSON_INTEGER_FORMAT ", and this "
			    "perf metrics (" VERSION ") knows those up to %d: take a newer one", path,
			    version, RECORD_VERSION);
	error = read_header(record);
	if (error)
		return damaged(record, 1, error);
	return look(record);
}

void record_close(struct record *record)
{
	if (record->f)
		fclose(record->f);
	json_decref(record->header);
}

/* How many intervals of so many ms; fails if they do not fit. */
static int record_together(const struct record *record, int ms, int *together)
{
	*together = ms / record->interval;
	return ms % record->interval ?
	       fail(STATUS_USAGE, "%s has intervals of %d ms, and -I %d is no multiple of that",
		    record->path, record->interval, ms) : 0;
}

int record_each(struct record *record, int together, record_fn *fn, void *data)
{
	bool whole = record->whole && !together, cut;
	int lines = record->intervals + whole, status = 0, number = 1, num = 0, i;
	double begin = 0, last = 0, time;
	const void *memory = mark();
	json_t *line;

	fseek(record->f, record->first, SEEK_SET);
	for (i = 0; i < lines && !status; i++) {
		line = next_line(record, &number, &cut);
		time = json_number_value(json_object_get(line, "time"));
		/* What perf says of the whole time is better than a sum. */
		if (!whole || i + 1 == lines)
			add_line(record->session, line, num++ ? (time - last) / (time - begin) : 1);
		json_decref(line);
		last = time;
		if (i + 1 < lines && (!together || num < together))
			continue;
		record->session->when = record->start + (time ?: record->end);
		status = fn(record->session, together ? time : 0, data);
		forget(record->session);
		free_from(memory);
		begin = time;
		num = 0;
	}
	return status;
}

/* ---- report ---- */

bool plan_has(const struct plan *plan, const struct metric *metric)
{
	int m;

	for (m = 0; m < plan->num_metrics && plan->metric[m].metric != metric; m++)
		;
	return m < plan->num_metrics;
}

static bool has_name(const struct plan *plan, const char *name)
{
	int m;

	for (m = 0; m < plan->num_metrics; m++) {
		const struct metric *one = plan->metric[m].metric;

		if (!strcmp(one->name, name) || !strcmp(one->group->name, name))
			return true;
	}
	return false;
}

int record_pick(struct record *record, char **names, int num)
{
	struct session *session = record->session;
	struct plan *plan = &session->plan;
	int status = 0, kept = 0, i;
	bool any = false;

	for (i = 0; i < num && !status; i++) {
		status = session_ask(session, names[i], false);
		if (!status && !has_name(plan, names[i]))
			status = fail(STATUS_USAGE, "%s has no %s", record->path, names[i]);
	}
	for (i = 0; i < session->num_metrics && !status; i++) {
		any |= session->metric[i]->asked;
		if (!num && session->metric[i]->asked && !plan_has(plan, session->metric[i]))
			status = fail(STATUS_USAGE, "%s has no %s, which %s; without names "
				      "perf metrics record has all of it", record->path,
				      session->metric[i]->name, session->options.show == MAP ?
				      "the map is of" : "the rule needs");
	}
	for (i = 0; i < plan->num_metrics; i++) {
		if (!any || plan->metric[i].metric->asked)
			plan->metric[kept++] = plan->metric[i];
	}
	plan->num_metrics = kept;
	return status;
}

static int show(struct session *session, double time, void *output)
{
	return (*(output_fn **)output)(session, time);
}

/* What is written is not what is read. */
static int check_output(const struct record *record)
{
	const struct options *options = &record->session->options;
	const char *path = options->output ?: options->html ?: options->openmetrics;
	struct stat in, out;

	return path && !stat(path, &out) && !fstat(fileno(record->f), &in) &&
	       in.st_dev == out.st_dev && in.st_ino == out.st_ino ?
	       fail(STATUS_USAGE, "%s is the recording itself: name another file", path) : 0;
}

int report(struct session *session, char **args, int num)
{
	const struct options *options = &session->options;
	output_fn *output = output_of(options);
	struct record record = {};
	int status, together;

	if (!num)
		return fail(STATUS_USAGE, "report needs a file of perf metrics record");
	status = record_open(&record, session, args[0]) ?: check_output(&record) ?:
		 session_topology(session);
	if (!status && options->show == MAP)
		status = map_ask(session) ?: record_pick(&record, NULL, 0);
	else if (!status && options->show == WHY)
		status = why_ask(session, args + 2, num - 2) ?: record_pick(&record, NULL, 0);
	else if (!status)
		status = record_pick(&record, args + 1, num - 1);
	status = status ?: output_begin(session);
	if (!status && options->interval && !record.intervals)
		warn("%s has no interval, only the whole time: leave out -I", record.path);
	if (!status && options->interval)
		status = record_together(&record, options->interval, &together) ?:
			 record_each(&record, together, show, &output);
	if (!status && options->html)
		status = html(&record);
	else if (!status && (options->summary || !options->interval))
		status = record_each(&record, 0, show, &output);
	status = output_finish(session, status);
	record_close(&record);
	if (options->show == WHY)
		status = why_status(session, status);
	return session->any_value || status ? status : STATUS_NO_VALUE;
}
