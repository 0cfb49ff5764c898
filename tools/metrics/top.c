// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf metrics top: metrics as a table that is drawn anew after each result, with what they
 * have been before.
 */
#include <math.h>
#include <string.h>

#include "rule.h"
#include "screen.h"

#define SAMPLES	256

/* A value and those before it. It begins with a value so that it can be sorted as one. */
struct row {
	struct value value;
	char why[160];		/* that of the value is gone before the next result */
	double most;		/* that is possible here; INFINITY if nobody knows */
	double sample[SAMPLES];	/* a ring; NAN for n/a */
};

struct top {
	struct row *row, *shown;	/* the newest ones, and those on the screen, in their order */
	int num;
	int results;			/* of the ring */
	int shown_results;
	double time, shown_time;
	const char *sort;
	bool reverse;
};

/* ---- what there is to show ---- */

/* Has a package this place? */
static bool is_place(const struct cell *cell, int package)
{
	const struct pmu *pmu = cell->why ? NULL : cell->event[0].source[0]->counter[0]->pmu;

	return pmu && (pmu->core || pmu->cpu[package] >= 0);
}

/* The kind of limit that a rule compares this metric with, or NULL. */
static const char *kind_of(const struct session *session, const struct metric *metric)
{
	int r, i;

	for (r = 0; r < session->num_rules; r++) {
		const struct rule *rule = session->rule[r];

		for (i = 0; i < rule->num_values && rule->value[0].metric == metric; i++) {
			if (rule->value[i].of == OF_LIMIT)
				return rule->value[i].text;
		}
	}
	return NULL;
}

/* What places of a package can do, as rules have it; NAN if one is not known. */
static double places_limit(struct session *session, const struct plan_metric *pm, int package,
			   const char *cell)
{
	const char *kind = kind_of(session, pm->metric);
	double sum = 0;
	int c;

	if (!kind)
		return NAN;
	if (cell || !metric_has_cells(pm->metric))
		return limit_of(session, kind, package, cell);
	for (c = 0; c < pm->num_cells; c++) {
		if (is_place(pm->cell[c], package))
			sum += limit_of(session, kind, package, pm->cell[c]->name);
	}
	return sum ?: NAN;
}

/* How many places of a package have a value of their own. */
static int places(const struct session *session, const struct plan_metric *pm, int package)
{
	int num = 0, c, cpu;

	if (pm->metric->scope == SCOPE_CPU) {
		for (cpu = 0; cpu < session->cpus; cpu++)
			num += session->package_of[cpu] == package;
		return num;
	}
	for (c = 0; c < pm->num_cells; c++) {
		num += is_place(pm->cell[c], package);
	}
	return num;
}

/*
 * The most that a value can be, as rules have it, or the metric file has it for one place. Rates of
 * several places add up, unless the metric is of their mean, highest or lowest.
 */
static double most(struct session *session, const struct value *value)
{
	const struct metric *metric = value->metric;
	double one = fmin(metric->limit[1], metric->plausible[1]);
	const struct plan_metric *pm = session->plan.metric;
	double sum = 0;
	int e, p, num = 0;

	while (pm->metric != metric)
		pm++;
	for (p = 0; p < session->packages; p++) {
		if (session->online[p] && (value->package < 0 || value->package == p))
			sum += places_limit(session, pm, p, value->cell);
	}
	if (sum > 0)
		return sum;
	if (value->cell || (strcmp(metric->unit, "B/s") && strcmp(metric->unit, "1/s")))
		return one;
	for (e = 0; e < metric->num_events; e++) {
		if (metric->event[e].reduce != REDUCE_SUM)
			return one;
	}
	for (p = 0; p < session->packages; p++) {
		if (session->online[p] && (value->package < 0 || value->package == p))
			num += places(session, pm, p);
	}
	return num ? num * one : one;
}

static void keep(struct session *session)
{
	struct top *top = session->top;

	memcpy(top->shown, top->row, top->num * sizeof(*top->row));
	top->shown_results = top->results;
	top->shown_time = top->time;
	values_sort(top->shown, top->num, sizeof(*top->shown), top->sort);
}

int top_output(struct session *session, double time)
{
	struct top *top = session->top;
	int num, i;
	/* The same ones in the same order as before perf began. */
	struct value *values = values_make(session, &session->options, &num);

	for (i = 0; i < num; i++) {
		struct row *row = &top->row[i];

		row->value.value = values[i].value;
		row->value.running = values[i].running;
		row->value.why = values[i].why ? row->why : NULL;
		row->value.note = values[i].note ? row->why : NULL;
		snprintf(row->why, sizeof(row->why), "%s", values[i].why ?: values[i].note ?: "");
		row->sample[top->results % SAMPLES] = values[i].why ? NAN : values[i].value;
	}
	top->results++;
	top->time = time;
	screen_update(session, time);
	session->results++;
	return 0;
}

/* ---- how it looks ---- */

static enum style style(const struct row *row, double value)
{
	return isfinite(row->most) && row->most > 0 ? style_of(value / row->most) : STYLE_PLAIN;
}

/* A text of no more than a width, without its middle: beginnings are often the same. */
static char *cut(const char *text, int width)
{
	int len = strlen(text), end = width / 2 - 1;

	return len <= width || width < 4 ? format("%.*s", width, text) :
	       format("%.*s..%s", width - 2 - end, text, text + len - end);
}

static char *value_text(const struct session *session, const struct row *row)
{
	const char *unit = row->value.metric->unit, *prefix;
	double value = row->value.value;

	if (row->value.why)
		return "n/a";
	prefix = units(&session->options, &value, &unit);
	return format("%.*f %s%s", fabs(value) < 1000 ? 2 : 0, value, prefix, unit);
}

/* The last values, from 0 to the highest of them, each in the colour of its own. */
static void draw_trend(FILE *f, const struct top *top, const struct row *row, int width)
{
	static const char * const blocks[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char * const letters[] = { "_", ".", "-", ":", "=", "+", "*", "#" };
	int num = top->shown_results < width ? top->shown_results : width, i;
	double highest = 0, value;

	num = num < SAMPLES ? num : SAMPLES;
	for (i = top->shown_results - num; i < top->shown_results; i++)
		highest = fmax(highest, row->sample[i % SAMPLES]);
	for (i = top->shown_results - num; i < top->shown_results; i++) {
		value = row->sample[i % SAMPLES];
		if (isnan(value))
			fprintf(f, "%c ", STYLE_PLAIN);
		else
			fprintf(f, "%c%s", style(row, value), (screen_is_utf8() ? blocks : letters)
				[highest > 0 && value > 0 ? (int)(7 * value / highest + 0.5) : 0]);
	}
}

/* Columns of the table, from left to right; 0 for those that have no room. */
struct columns {
	int scope, name, value, share, counted, range, trend;
};

static struct columns place(const struct session *session, int width)
{
	const struct top *top = session->top;
	struct columns columns = { .scope = 5, .name = 6, .value = 9, .share = 5 };
	int i, left;

	for (i = 0; i < top->num; i++) {
		const struct row *row = &top->shown[i];
		int scope = strlen(row->value.scope), name = strlen(row->value.metric->name);
		int value = strlen(value_text(session, row));

		columns.scope = scope > columns.scope ? scope : columns.scope;
		columns.name = name > columns.name ? name : columns.name;
		columns.value = value > columns.value ? value : columns.value;
	}
	left = width - columns.scope - columns.name - columns.value - columns.share - 4;
	/* Where names leave no room for what was before, they get lines of their own. */
	if (left < 8) {
		left += columns.name + 1;
		columns.name = 0;
	}
	if (left >= 30) {
		columns.counted = 8;
		left -= 9;
	}
	if (left >= 50) {
		columns.range = columns.value;
		left -= 2 * columns.range + 2;
	}
	columns.trend = left > 0 ? left : 0;
	return columns;
}

static void draw_row(const struct session *session, FILE *f, const struct row *row,
		     const struct columns *columns)
{
	const struct top *top = session->top;
	const struct value *value = &row->value;
	enum style look = value->why ? STYLE_QUIET : value->note ? STYLE_ODD : style(row, value->value);
	bool bound = isfinite(row->most) && row->most > 0 && !value->why;

	fprintf(f, "%-*s ", columns->scope, value->scope);
	if (columns->name)
		fprintf(f, "%-*s ", columns->name, value->metric->name);
	fprintf(f, "%c%*s%c %*s", look, columns->value, value_text(session, row), STYLE_PLAIN,
		columns->share, value->note ? "!" :
		bound ? format("%.0f %%", 100 * value->value / row->most) : "");
	if (columns->counted)
		fprintf(f, " %*s", columns->counted, value->why ? "" :
			format("%.1f %%", 100 * value->running));
	if (columns->range) {
		int num = top->shown_results < SAMPLES ? top->shown_results : SAMPLES, i;
		struct row low = *row, high = *row;

		for (i = 0; i < num; i++) {
			low.value.value = fmin(low.value.value, row->sample[i]);
			high.value.value = fmax(high.value.value, row->sample[i]);
		}
		fprintf(f, " %*s %*s", columns->range, value_text(session, &low), columns->range,
			value_text(session, &high));
	}
	fprintf(f, " ");
	if (value->why)
		fprintf(f, "%c%s", STYLE_QUIET, row->why);
	else
		draw_trend(f, top, row, columns->trend);
	fprintf(f, "\n");
}

static void draw(struct session *session, FILE *f, int rows, int width)
{
	const struct top *top = session->top;
	struct columns columns = place(session, width);
	const struct metric *last = NULL;
	int i;

	(void)rows;
	fprintf(f, "%cperf metrics top%c  %s%s%s\n", STYLE_HEAD, STYLE_PLAIN,
		top->shown_results ? format("%.3f s", top->shown_time) : "the first interval is under way",
		top->sort ? format("  by %s", top->sort) : "", top->reverse ? ", reversed" : "");
	fprintf(f, "%c%-*s ", STYLE_HEAD, columns.scope, "scope");
	if (columns.name)
		fprintf(f, "%-*s ", columns.name, "metric");
	fprintf(f, "%*s %*s", columns.value, "value", columns.share, "limit");
	if (columns.counted)
		fprintf(f, " %*s", columns.counted, "counted");
	if (columns.range)
		fprintf(f, " %*s %*s", columns.range, "lowest", columns.range, "highest");
	fprintf(f, " trend\n");
	for (i = 0; i < top->num; i++) {
		const struct row *row = &top->shown[top->reverse ? top->num - 1 - i : i];

		if (!columns.name && row->value.metric != last)
			fprintf(f, "%c%s\n", STYLE_HEAD, cut(row->value.metric->name, width));
		last = row->value.metric;
		draw_row(session, f, row, &columns);
	}
}

static void take_key(struct session *session, int key)
{
	static const struct {
		int key;
		const char *sort;
	} sorts[] = { { 'n', "name" }, { 'v', "value" }, { 's', "scope" } };
	struct top *top = session->top;
	unsigned int i;

	if (key == 'r')
		top->reverse = !top->reverse;
	for (i = 0; i < sizeof(sorts) / sizeof(sorts[0]); i++) {
		if (key == sorts[i].key) {
			top->sort = sorts[i].sort;
			values_sort(top->shown, top->num, sizeof(*top->shown), top->sort);
		}
	}
}

int top_begin(struct session *session)
{
	static const struct view view = { "n v s sort  r reverse", 2, draw, keep, take_key };
	struct top *top = session->top = allocate(sizeof(*top));
	struct value *values = values_make(session, &session->options, &top->num);
	const char *why;
	int i;

	top->sort = session->options.sort;
	top->row = allocate(top->num * sizeof(*top->row));
	top->shown = allocate(top->num * sizeof(*top->shown));
	for (i = 0; i < top->num; i++) {
		struct row *row = &top->row[i];

		row->value = values[i];
		row->most = most(session, &values[i]);
		snprintf(row->why, sizeof(row->why), "nothing was counted yet");
		row->value.why = row->why;
	}
	session->view = &view;
	why = screen_begin(session);
	return !why ? 0 :
	       fail(STATUS_USAGE, "top has no terminal: %s; see perf metrics NAME -I 1000", why);
}
