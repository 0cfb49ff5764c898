// SPDX-License-Identifier: GPL-2.0-only
/*
 * Values as a table for people, and as CSV, JSON and OpenMetrics for programs.
 */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "metrics.h"

static void print_value(const struct value *value)
{
	const char *unit = value->metric->unit, *prefix;
	double shown = value->value;

	prefix = prefixed(&shown, &unit);
	printf("%12.*f %s%-*s", *prefix || fabs(shown) >= 100 ? 2 : 4, shown, prefix,
	       (int)(11 - strlen(prefix)), unit);
}

static void print_table(const struct value *values, int num, double time, bool again)
{
	int i;

	if (time)
		printf("%sat %.3f s\n", again ? "\n" : "", time);
	printf("%-11s%-34s%12s %-11s%s\n", "scope", "metric", "value", "unit", "counted");
	for (i = 0; i < num; i++) {
		const struct value *value = &values[i];

		if (value->why) {
			printf("%-10s %s\n%13s", value->scope, value->metric->name, "");
			print_wrapped(format("n/a, because %s", value->why), 13);
			continue;
		}
		printf("%-10s %-33s ", value->scope, value->metric->name);
		print_value(value);
		printf("%6.1f %%\n", 100 * value->running);
		if (value->note) {
			printf("%*s", 13, "");
			print_wrapped(value->note, 13);
		}
	}
}

/* ---- for programs ---- */

/* A field of CSV; what has a comma or a quote is quoted. */
static void print_field(const char *text)
{
	if (!text[strcspn(text, ",\"\n")]) {
		printf(",%s", text);
		return;
	}
	printf(",\"");
	for (; *text; text++)
		printf("%s%c", *text == '"' ? "\"" : "", *text);
	printf("\"");
}

static void print_csv(const struct value *values, int num, double time, bool timed, bool again)
{
	const struct value *value;

	if (!again)
		printf("%sscope,metric,value,unit,running,note\n", timed ? "time," : "");
	for (value = values; value < values + num; value++) {
		/* The whole time has none. */
		if (time)
			printf("%.9f", time);
		printf("%s%s,%s,%s", timed ? "," : "", value->scope, value->metric->name,
		       value->why ? "n/a" : format("%.15g", value->value));
		print_field(value->metric->unit);
		printf(",%.2f", 100 * value->running);
		print_field(value->why ?: value->note ?: "");
		printf("\n");
	}
}

static void print_json(const struct value *values, int num, double time)
{
	json_t *all = json_object(), *list = json_array();
	int i;

	if (time)
		json_object_set_new(all, "time", json_real(time));
	for (i = 0; i < num; i++) {
		const struct value *value = &values[i];
		json_t *one = json_pack("{ss ss so ss sf ss* ss*}", "scope", value->scope,
					"metric", value->metric->name, "value",
					value->why ? json_null() : json_real(value->value),
					"unit", value->metric->unit, "running", 100 * value->running,
					"why", value->why, "note", value->why ? NULL : value->note);

		if (!value->why)
			json_object_set_new(one, "seconds", json_real(value->seconds));
		json_array_append_new(list, one);
	}
	json_object_set_new(all, "values", list);
	json_dumpf(all, stdout, JSON_COMPACT | JSON_REAL_PRECISION(17));
	printf("\n");
	json_decref(all);
}

/* A line in a file of Prometheus: what has a meaning there is escaped. */
static void write_escaped(FILE *f, const char *text, const char *what)
{
	for (; *text; text++)
		fprintf(f, "%s%c", strchr(what, *text) ? "\\" : "", *text);
}

/* One value of a family; of all families but one that is the metric. */
static void write_value(FILE *f, const char *name, const struct value *value, const char *metric,
			double number)
{
	const char *before = "{";

	fprintf(f, "%s", name);
	if (metric) {
		fprintf(f, "{metric=\"%s\"", metric);
		before = ",";
	}
	if (value->package >= 0) {
		fprintf(f, "%ssocket=\"%d\"", before, value->package);
		before = ",";
	} else if (!strcmp(value->scope, "command")) {
		fprintf(f, "%sscope=\"command\"", before);
		before = ",";
	}
	if (value->cell) {
		fprintf(f, "%sbox=\"", before);
		write_escaped(f, value->cell, "\\\"");
		fprintf(f, "\"");
		before = ",";
	}
	fprintf(f, "%s %.15g\n", *before == ',' ? "}" : "", number);
}

static void write_head(FILE *f, const char *name, const char *help)
{
	fprintf(f, "# HELP %s ", name);
	write_escaped(f, help, "\\");
	fprintf(f, "\n# TYPE %s gauge\n", name);
}

/*
 * What is n/a is left out: the absence of a series is how Prometheus says so. What is not
 * plausible has a series of another family beside it.
 */
static int write_openmetrics(struct session *session, const struct value *values, int num)
{
	static const char odd[] = "perf_metrics_not_plausible";
	const struct metric *last = NULL;
	int status = replace_begin(session, session->options.openmetrics);
	const struct value *value;
	bool any = false;
	FILE *f = session->file;

	if (status)
		return status;
	for (value = values; value < values + num; value++) {
		if (value->why)
			continue;
		if (value->metric != last)
			write_head(f, family(value->metric), value->metric->help);
		last = value->metric;
		write_value(f, family(value->metric), value, NULL, value->value);
	}
	for (value = values; value < values + num; value++) {
		if (value->why || !value->note)
			continue;
		if (!any)
			write_head(f, odd, "Values that are possible but not plausible");
		any = true;
		write_value(f, odd, value, value->metric->name, 1);
	}
	fprintf(f, "# EOF\n");
	return replace_end(session, session->options.openmetrics);
}

int output_values(struct session *session, double time)
{
	const struct options *options = &session->options;
	bool again = session->results++;
	int num, status = 0;
	struct value *values = values_make(session, options, &num);

	if (options->openmetrics)
		status = write_openmetrics(session, values, num);
	else if (options->form == FORM_CSV)
		print_csv(values, num, time, options->interval, again);
	else if (options->form == FORM_JSON)
		print_json(values, num, time);
	else
		print_table(values, num, time, again);
	return status ?: output_end();
}

int output_end(void)
{
	return fflush(stdout) || ferror(stdout) ?
	       fail(STATUS_FAILED, "the output cannot be written: %s", strerror(errno)) : 0;
}

void output_plan(const struct session *session)
{
	const struct plan *plan = &session->plan;
	const struct counter *last = NULL;
	int i;

	printf("%d %s\n", plan->passes, plan->passes == 1 ? "pass" : "passes");
	for (i = 0; i < plan->num_counters; i++) {
		const struct counter *counter = plan->counter[i];

		if (counter->gate)
			continue;
		if (!last || last->pmu != counter->pmu || last->pass != counter->pass)
			printf("%s, pass %d:\n", counter->pmu->name, counter->pass + 1);
		printf("    %s\n", counter->terms);
		last = counter;
	}
	printf("%s %s\n", session->world->perf, count_arguments(session, STDERR_FILENO));
}
