// SPDX-License-Identifier: GPL-2.0-only
/*
 * Values as a table for people, and as CSV, JSON and OpenMetrics for programs.
 */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rule.h"

static int by_scope(const void *a, const void *b)
{
	const struct value *x = a, *y = b;

	/* cbox_10 is behind cbox_9. */
	return strverscmp(x->scope, y->scope) ?: strcmp(x->metric->name, y->metric->name);
}

static int by_name(const void *a, const void *b)
{
	const struct value *x = a, *y = b;

	return strcmp(x->metric->name, y->metric->name) ?: by_scope(a, b);
}

/* Values of different metrics can be compared only as shares of their limits. */
static int by_value(const void *a, const void *b)
{
	const struct value *x = a, *y = b;
	double left = x->why ? -INFINITY : x->value, right = y->why ? -INFINITY : y->value;
	double share = x->most ? left / x->most : -1, other = y->most ? right / y->most : -1;

	return (share < other) - (share > other) ?: strcmp(x->metric->name, y->metric->name) ?:
	       (left < right) - (left > right) ?: by_scope(a, b);
}

static const struct {
	const char *name;
	int (*compare)(const void *a, const void *b);
} orders[] = { { "name", by_name }, { "value", by_value }, { "scope", by_scope } };

#define NUM_ORDERS	(sizeof(orders) / sizeof(orders[0]))

void values_sort(void *values, int num, size_t size, const char *by)
{
	unsigned int i;

	for (i = 0; i < NUM_ORDERS && num && by; i++) {
		if (!strcmp(by, orders[i].name))
			qsort(values, num, size, orders[i].compare);
	}
}

const char *units(const struct options *options, double *value, const char **unit)
{
	return options->units && !strcmp(options->units, "base") ? "" : prefixed(value, unit);
}

int sort_check(const struct options *options)
{
	unsigned int i;

	if (options->units && strcmp(options->units, "auto") && strcmp(options->units, "base"))
		return fail(STATUS_USAGE, "--units is auto or base, not '%s'", options->units);
	for (i = 0; options->sort && i < NUM_ORDERS && strcmp(options->sort, orders[i].name); i++)
		;
	return i < NUM_ORDERS ? 0 :
	       fail(STATUS_USAGE, "--sort is name, value or scope, not '%s'", options->sort);
}

void print_time(double time, bool again)
{
	if (time)
		printf("%sat %.3f s\n", again ? "\n" : "", time);
	else if (again)
		printf("\nwhole time\n");
}

static void print_table(const struct options *options, const struct value *values, int num,
			double time, bool again)
{
	int i;

	print_time(time, again);
	printf("%-11s%-34s%12s %-11s%s\n", "scope", "metric", "value", "unit", "counted");
	for (i = 0; i < num; i++) {
		const struct value *value = &values[i];
		const char *unit = value->metric->unit, *prefix;
		double shown = value->value;

		if (value->why) {
			printf("%-10s %s\n%13s", value->scope, value->metric->name, "");
			print_wrapped(format("n/a, because %s", value->why), 13);
			continue;
		}
		prefix = units(options, &shown, &unit);
		printf("%-10s %-33s %12s %s%-*s%6.1f %%\n", value->scope, value->metric->name,
		       digits_text(shown, fabs(shown) >= 1e9 ? 0 : *prefix || fabs(shown) >= 100 ? 2 : 4),
		       prefix, (int)(11 - strlen(prefix)), unit, 100 * value->running);
		if (value->note) {
			printf("%13s", "");
			print_wrapped(value->note, 13);
		}
	}
}

/* ---- for programs ---- */

/* A field of CSV; what has a comma or a quote is quoted. */
static const char *field(const char *text)
{
	return text[strcspn(text, ",\"\n")] ? format("\"%s\"", escaped(text, "\"", "\"%c")) : text;
}

static void print_csv(const struct options *options, const struct value *values, int num,
		      double time, bool again)
{
	struct options csv = { .units = options->units ?: "base" };
	const char *unit, *prefix;
	const struct value *value;
	double shown;
	int i;

	if (!again)
		printf("%sscope,metric,value,unit,running,note\n", options->interval ? "time," : "");
	for (i = 0; i < num; i++) {
		value = &values[i];
		shown = value->value;
		unit = value->metric->unit;
		prefix = units(&csv, &shown, &unit);
		/* The whole time has none. */
		if (time)
			printf("%.9f", time);
		printf("%s%s,%s,%s,%s,%.2f,%s\n", options->interval ? "," : "", value->scope,
		       value->metric->name, value->why ? "n/a" : format("%.15g", shown),
		       field(format("%s%s", prefix, unit)), 100 * value->running,
		       field(value->why ?: value->note ?: ""));
	}
}

static void print_json(const struct value *values, int num, double time)
{
	json_t *list = json_array(), *all;
	int i;

	for (i = 0; i < num; i++) {
		const struct value *value = &values[i];

		json_array_append_new(list, json_pack(
			"{ss ss so ss sf so* so* so*}", "scope", value->scope, "metric",
			value->metric->name, "value", value->why ? json_null() : json_real(value->value),
			"unit", value->metric->unit, "running", 100 * value->running, "why",
			string_json(value->why), "note",
			string_json(value->why ? NULL : value->note), "seconds",
			value->why ? NULL : json_real(value->seconds)));
	}
	all = json_pack("{so* so}", "time", time ? json_real(time) : NULL, "values", list);
	put_json(stdout, all);
}

/* One value of a family; of all families but one that is the metric. */
static void write_value(FILE *f, const char *name, const struct value *value, const char *metric,
			double number)
{
	char *labels = metric ? format(",metric=\"%s\"", metric) : "";

	if (value->package >= 0)
		labels = format("%s,socket=\"%d\"", labels, value->package);
	else if (!strcmp(value->scope, "command"))
		labels = format("%s,scope=\"command\"", labels);
	if (value->cell)
		labels = format("%s,box=\"%s\"", labels, escaped(value->cell, "\\\"", "\\%c"));
	if (*labels)
		labels = format("{%s}", labels + 1);
	fprintf(f, "%s%s %.15g\n", name, labels, number);
}

static void write_head(FILE *f, const char *name, const char *help)
{
	fprintf(f, "# HELP %s %s\n# TYPE %s gauge\n", name, escaped(help, "\\", "\\%c"), name);
}

static bool is_marked(const struct session *session, const struct value *value, const char *mark)
{
	if (!strcmp(mark, "not_available"))
		return value->why && value->package >= 0 && !is_absent(session, value);
	return !value->why && (!strcmp(mark, "multiplexed") ? value->running < 0.99 : !!value->note);
}

/*
 * What is n/a is left out: the absence of a series is how Prometheus says so. What is not to be
 * judged by has a series of another family beside it, or in its place.
 */
static void write_marks(struct session *session, const struct value *values, int num)
{
	static const struct { const char *mark, *help; } marks[] = {
		{ "not_plausible", "Values that are possible but not plausible" },
		{ "multiplexed", "Values that were counted for a part of the time" },
		{ "not_available", "Values that are n/a though the box is there" },
	};
	unsigned int m;
	bool any;
	int i;

	for (m = 0; m < sizeof(marks) / sizeof(marks[0]); m++) {
		char *name = format("perf_metrics_%s", marks[m].mark);

		for (i = 0, any = false; i < num; i++) {
			if (!is_marked(session, &values[i], marks[m].mark))
				continue;
			if (!any)
				write_head(session->file, name, marks[m].help);
			any = true;
			write_value(session->file, name, &values[i], values[i].metric->name, 1);
		}
	}
}

static int write_openmetrics(struct session *session, const struct value *values, int num)
{
	const struct metric *last = NULL;
	int status = replace_begin(session, session->options.openmetrics);
	const struct value *value;
	FILE *f = session->file;
	int i;

	if (status)
		return status;
	for (i = 0; i < num && values[i].why; i++)
		;
	/* A new file without values would hide from its reader how old the last values are. */
	if (num && i == num && session->target.name) {
		warn("%s stays as it is: no metric has a value, %s because %s",
		     session->options.openmetrics, values->metric->name, values->why);
		return 0;
	}
	for (i = 0; i < num; i++) {
		value = &values[i];
		if (value->why)
			continue;
		if (value->metric != last)
			write_head(f, value->metric->family, value->metric->help);
		last = value->metric;
		write_value(f, value->metric->family, value, NULL, value->value);
	}
	write_marks(session, values, num);
	limits_write(session, values, num, f);
	fprintf(f, "# EOF\n");
	return replace_end(session, session->options.openmetrics);
}

int output_values(struct session *session, double time)
{
	const struct options *options = &session->options;
	bool again = session->results++;
	int num, status = 0;
	struct value *values = values_make(session, options, &num);

	values_sort(values, num, sizeof(*values), options->sort);
	if (options->openmetrics)
		status = write_openmetrics(session, values, num);
	else if (options->csv)
		print_csv(options, values, num, time, again);
	else if (options->json)
		print_json(values, num, time);
	else
		print_table(options, values, num, time, again);
	return status ?: output_end();
}

int output_end(void)
{
	struct sigaction gone;
	int err;

	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	err = errno;
	/* It is told once; of a reader that has gone SIGPIPE tells, unless that is ignored. */
	__fpurge(stdout);
	clearerr(stdout);
	sigaction(SIGPIPE, NULL, &gone);
	return err == EPIPE && gone.sa_handler != SIG_IGN ? STATUS_FAILED :
	       fail(STATUS_FAILED, "the output cannot be written: %s", strerror(err));
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
	printf("%s %s\n", session->world->perf, count_arguments(session, STDERR_FILENO, "'"));
}
