// SPDX-License-Identifier: GPL-2.0-only
/*
 * Values as a table for people, and as CSV, JSON and OpenMetrics for programs.
 */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "metrics.h"

#define WIDTH	80

bool output_any;

/* ---- for people ---- */

void print_wrapped(const char *text, int column)
{
	int at = column;

	while (*text) {
		int len = strcspn(text, " \n");

		if (at > column && (at + 1 + len > WIDTH || text[-1] == '\n')) {
			printf("\n%*s", column, "");
			at = column;
		}
		if (at > column)
			at += printf(" ");
		at += printf("%.*s", len, text);
		text += len;
		text += !!*text;
	}
	printf("\n");
}

/* Rates are easier to read with a prefix, which it returns. */
static const char *prefixed(double *value, const char **unit)
{
	static const char * const prefixes[] = { "", "k", "M", "G", "T" };
	unsigned int n = 0;

	if (!strcmp(*unit, "B/s") || !strcmp(*unit, "1/s")) {
		for (; fabs(*value) >= 1000 && n < 4; n++)
			*value /= 1000;
		*unit += (*unit)[0] == '1';
	}
	return prefixes[n];
}

char *number_text(double value, const char *unit)
{
	const char *prefix = prefixed(&value, &unit);

	return format("%.4g%s%s%s", value, *unit ? " " : "", prefix, unit);
}

static void print_value(const struct value *value)
{
	const char *unit = value->metric->unit, *prefix;
	double shown = value->value;

	prefix = prefixed(&shown, &unit);
	printf("%12.*f %s%-*s", *prefix || fabs(shown) >= 100 ? 2 : 4, shown, prefix,
	       (int)(11 - strlen(prefix)), unit);
}

static void print_table(const struct value *values, int num, double time)
{
	static bool again;
	int i;

	if (time)
		printf("%sat %.3f s\n", again ? "\n" : "", time);
	printf("%-11s%-34s%12s %-11s%s\n", "scope", "metric", "value", "unit", "counted");
	again = true;
	for (i = 0; i < num; i++) {
		const struct value *value = &values[i];

		if (value->why) {
			char *text = format("n/a, because %s", value->why);

			printf("%-10s %s\n%13s", value->scope, value->metric->name, "");
			print_wrapped(text, 13);
			free(text);
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
	fflush(stdout);
}

/* ---- for programs ---- */

static void print_csv(const struct value *values, int num, double time)
{
	int i;

	for (i = 0; i < num; i++) {
		const struct value *value = &values[i];

		if (time)
			printf("%.9f,", time);
		printf("%s,%s,", value->scope, value->metric->name);
		if (value->why) {
			printf("n/a");
			warn("%s %s: n/a, because %s", value->scope, value->metric->name, value->why);
		} else {
			printf("%.15g", value->value);
		}
		printf(",%s,%.2f\n", value->metric->unit, 100 * value->running);
	}
	fflush(stdout);
}

static void print_json(const struct value *values, int num, double time)
{
	json_t *all = json_object(), *list = json_array();
	int i;

	if (time)
		json_object_set_new(all, "time", json_real(time));
	for (i = 0; i < num; i++) {
		const struct value *value = &values[i];
		json_t *one = json_object();

		json_object_set_new(one, "scope", json_string(value->scope));
		json_object_set_new(one, "metric", json_string(value->metric->name));
		json_object_set_new(one, "value", value->why ? json_null() : json_real(value->value));
		json_object_set_new(one, "unit", json_string(value->metric->unit));
		json_object_set_new(one, "running", json_real(100 * value->running));
		if (value->why)
			json_object_set_new(one, "why", json_string(value->why));
		else
			json_object_set_new(one, "seconds", json_real(value->seconds));
		if (value->note)
			json_object_set_new(one, "note", json_string(value->note));
		json_array_append_new(list, one);
	}
	json_object_set_new(all, "values", list);
	json_dumpf(all, stdout, JSON_COMPACT | JSON_REAL_PRECISION(17));
	printf("\n");
	json_decref(all);
	fflush(stdout);
}

char *family(const struct metric *metric)
{
	static const struct { const char *unit, *word; } words[] = {
		{ "%", "percent" }, { "B/s", "bytes_per_second" }, { "1/s", "per_second" },
		{ "MHz", "megahertz" }, { "", "" },
	};
	const char *word = metric->unit;
	char *name, *c;
	unsigned int i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!strcmp(metric->unit, words[i].unit))
			word = words[i].word;
	}
	name = format("perf_metrics_%s%s%s", metric->name, *word ? "_" : "", word);
	for (c = name; *c; c++) {
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", *c))
			*c = '_';
	}
	return name;
}

static void print_labels(FILE *f, const struct value *value)
{
	if (value->package < 0 && strcmp(value->scope, "command"))
		return;
	if (value->package < 0)
		fprintf(f, "{scope=\"command\"}");
	else if (value->cell)
		fprintf(f, "{socket=\"%d\",box=\"%s\"}", value->package, value->cell);
	else
		fprintf(f, "{socket=\"%d\"}", value->package);
}

/* What is n/a is left out: the absence of a series is how Prometheus says so. */
static void write_openmetrics(const char *path, const struct value *values, int num)
{
	FILE *f = replace_begin(path);
	int i;

	for (i = 0; i < num; i++) {
		const struct value *value = &values[i];
		char *name;

		if (value->why)
			continue;
		name = family(value->metric);
		if (!i || values[i - 1].metric != value->metric || values[i - 1].why) {
			fprintf(f, "# HELP %s %s\n", name, value->metric->help);
			fprintf(f, "# TYPE %s gauge\n", name);
		}
		fprintf(f, "%s", name);
		print_labels(f, value);
		fprintf(f, " %.15g\n", value->value);
		free(name);
	}
	fprintf(f, "# EOF\n");
	replace_end(f, path);
}

void output_values(struct plan *plan, const struct options *options, double time)
{
	int num, i;
	struct value *values = values_make(plan, options, &num);

	for (i = 0; i < num; i++)
		output_any |= !values[i].why;
	if (options->openmetrics)
		write_openmetrics(options->openmetrics, values, num);
	else if (options->form == FORM_CSV)
		print_csv(values, num, time);
	else if (options->form == FORM_JSON)
		print_json(values, num, time);
	else
		print_table(values, num, time);
	values_free(values, num);
}
