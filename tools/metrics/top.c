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
	char fullest[24];	/* of a package: its place that is nearest to its limit, */
	double share;		/* and how near; 0 for none */
	double sample[SAMPLES];	/* a ring; NAN for n/a */
};

struct top {
	int num, results;	/* of rows, and of the ring */
	double time;
	struct row row[];
};

static const char *sort;
static bool reverse;

/* ---- what there is to show ---- */

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

/*
 * What 100 % of a value is: its limit in the topology file, of several places that of all of them;
 * or the 100 of a share that is plausible up to there. 0 if nobody knows: a ratio may be good.
 */
static double most(struct session *session, const struct value *value)
{
	const struct metric *metric = value->metric;
	const char *kind = kind_of(session, metric);
	const struct plan_metric *pm = session->plan.metric;
	double sum = 0, one;
	int p, c;

	if (!kind)
		return !strcmp(metric->unit, "%") && isfinite(metric->plausible[1]) ? 100 : 0;
	while (pm->metric != metric)
		pm++;
	for (p = 0; p < session->packages; p++) {
		for (c = 0; c < pm->num_cells; c++) {
			const struct cell *cell = pm->cell[c];
			const struct pmu *pmu = cell->why ? NULL :
						cell->event[0].source[0]->counter[0]->pmu;

			if (!session->online[p] || !pmu ||
			    (value->package >= 0 && value->package != p) ||
			    (value->cell && (!cell->name || strcmp(cell->name, value->cell))) ||
			    (!pmu->core && pmu->cpu[p] < 0))
				continue;
			one = limit_of(session, kind, p, cell->name);
			if (!one)
				return 0;
			sum += one;
		}
	}
	return sum;
}

/* The mean or sum of a package hides the one place of it that is full. */
static void find_fullest(struct session *session, struct top *top)
{
	struct options boxes = { .per_box = true };
	int num, i, b;
	struct value *box = values_make(session, &boxes, &num);

	for (i = 0; i < top->num; i++) {
		struct row *row = &top->row[i];

		row->share = 0;
		for (b = 0; b < num && row->value.most && !row->value.cell; b++) {
			double limit, share;

			if (box[b].metric != row->value.metric || !box[b].cell || box[b].why ||
			    box[b].package != row->value.package)
				continue;
			limit = most(session, &box[b]);
			share = box[b].value / limit;
			if (!limit || !(share > row->share))
				continue;
			row->share = share;
			snprintf(row->fullest, sizeof(row->fullest), "%s", box[b].scope);
		}
	}
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
	find_fullest(session, top);
	top->results++;
	top->time = time;
	screen_update(session, time);
	session->results++;
	return 0;
}

/* ---- how it looks ---- */

static enum style style(const struct row *row, double value)
{
	return row->value.most ? style_of(value / row->value.most) : STYLE_PLAIN;
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
	return format("%s %s%s", digits_text(value, fabs(value) < 1000 ? 2 : 0), prefix, unit);
}

/* The last values, from 0 to the limit or else to their highest, each in the colour of its own. */
static void draw_trend(FILE *f, const struct top *top, const struct row *row, int width)
{
	static const char * const blocks[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char * const letters[] = { "_", ".", "-", ":", "=", "+", "*", "#" };
	int num = top->results < width ? top->results : width, i;
	double highest = row->value.most, value;

	num = num < SAMPLES ? num : SAMPLES;
	for (i = top->results - num; i < top->results && !row->value.most; i++)
		highest = fmax(highest, row->sample[i % SAMPLES]);
	for (i = top->results - num; i < top->results; i++) {
		value = row->sample[i % SAMPLES];
		if (isnan(value))
			fprintf(f, "%c ", STYLE_PLAIN);
		else
			fprintf(f, "%c%s", style(row, value), (screen_is_utf8() ? blocks : letters)
				[highest > 0 && value > 0 ? (int)(7 * fmin(value / highest, 1) + 0.5) : 0]);
	}
}

/* Columns of the table, from left to right; 0 for those that have no room. */
struct columns {
	int scope, name, value, share, counted, trend;
};

static struct columns place(const struct session *session, const struct top *top, int width)
{
	struct columns columns = { .scope = 5, .name = 6, .value = 9, .share = 5 };
	int i, left;

	for (i = 0; i < top->num; i++) {
		const struct row *row = &top->row[i];
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
	columns.trend = left > 0 ? left : 0;
	return columns;
}

static void draw_row(const struct session *session, FILE *f, const struct row *row,
		     const struct columns *columns, int width)
{
	const struct value *value = &row->value;
	enum style look = value->why ? STYLE_QUIET : value->note ? STYLE_ODD : style(row, value->value);

	fprintf(f, "%-*s ", columns->scope, value->scope);
	if (columns->name)
		fprintf(f, "%-*s ", columns->name, value->metric->name);
	fprintf(f, "%c%*s%c %*s", look, columns->value, value_text(session, row), STYLE_PLAIN,
		columns->share, value->note ? "!" : value->most && !value->why ?
		format("%.0f %%", 100 * value->value / value->most) : "");
	if (columns->counted)
		fprintf(f, " %*s", columns->counted, value->why ? "" :
			format("%.1f %%", 100 * value->running));
	fprintf(f, " ");
	if (!value->why)
		draw_trend(f, session->view->shown, row, columns->trend);
	else if ((int)strlen(row->why) <= columns->trend)
		fprintf(f, "%c%s", STYLE_QUIET, row->why);
	fprintf(f, "\n");
	/* What has no room there is below. */
	if (value->why && (int)strlen(row->why) > columns->trend) {
		fprintf(f, "    ");
		put_wrapped(f, row->why, 4, width);
	}
	if (style_of(row->share) != STYLE_PLAIN && style_of(row->share) != look)
		fprintf(f, "    %c%s is at %.0f %%%c\n", style_of(row->share), row->fullest,
			100 * row->share, STYLE_PLAIN);
}

static void draw(struct session *session, FILE *f, int width)
{
	struct top *top = session->view->shown;
	struct columns columns = place(session, top, width);
	const struct metric *last = NULL;
	int i;

	values_sort(top->row, top->num, sizeof(*top->row), sort);
	fprintf(f, "%cperf metrics top%c  %s%s%s\n", STYLE_HEAD, STYLE_PLAIN,
		top->results ? format("%.3f s", top->time) : "the first interval is under way",
		sort ? format("  by %s", sort) : "", reverse ? ", reversed" : "");
	fprintf(f, "%c%-*s ", STYLE_HEAD, columns.scope, "scope");
	if (columns.name)
		fprintf(f, "%-*s ", columns.name, "metric");
	fprintf(f, "%*s %*s", columns.value, "value", columns.share, "limit");
	if (columns.counted)
		fprintf(f, " %*s", columns.counted, "counted");
	fprintf(f, " trend\n");
	for (i = 0; i < top->num; i++) {
		const struct row *row = &top->row[reverse ? top->num - 1 - i : i];

		if (!columns.name && row->value.metric != last)
			fprintf(f, "%c%s\n", STYLE_HEAD, cut(row->value.metric->name, width));
		last = row->value.metric;
		draw_row(session, f, row, &columns, width);
	}
}

static void take_key(struct session *session, int key)
{
	(void)session;
	reverse ^= key == 'r';
	sort = key == 'n' ? "name" : key == 'v' ? "value" : key == 's' ? "scope" : sort;
}

int top_begin(struct session *session)
{
	static struct view view = { "n v s sort  r reverse", 2, .draw = draw, .key = take_key };
	int num, i;
	struct value *values = values_make(session, &session->options, &num);
	size_t size = sizeof(struct top) + num * sizeof(struct row);
	struct top *top = allocate(size);
	const char *why;

	sort = session->options.sort;
	top->num = num;
	for (i = 0; i < num; i++) {
		struct row *row = &top->row[i];

		row->value = values[i];
		row->value.most = most(session, &values[i]);
		snprintf(row->why, sizeof(row->why), "nothing was counted yet");
		row->value.why = row->why;
	}
	session->top = top;
	view.newest = top;
	view.size = size;
	session->view = &view;
	why = screen_begin(session);
	return !why ? 0 :
	       fail(STATUS_USAGE, "top has no terminal: %s; see perf metrics NAME -I 1000", why);
}
