// SPDX-License-Identifier: GPL-2.0-only
/*
 * What has changed between two recordings. The values of the intervals are samples of a mean;
 * Welch's test says how certain it is that two means differ. An interval is like the one before
 * it, so there are fewer independent samples than intervals; and of many values that are compared
 * some differ by chance, so the limit is lower the more there are (Bonferroni). perf-metrics(1)
 * says it to users.
 */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "metrics.h"

#define SURE	0.01	/* that anything at all is said to have changed, and has not */
#define SMALL	0.001	/* a change of less than this share is none */

/* The values of one metric in one place. */
struct row {
	const struct value *value;	/* which one it is */
	double *at;
	int num;			/* less those without value */
	char why[100];			/* that there was none */
	double mean, spread;		/* the standard deviation */
	double error2, samples;		/* of the mean, squared; how many are independent */
};

struct side {
	struct session *session;
	struct record record;
	struct row *row;
	int rows;
	double last;			/* end of the interval before */
};

struct change {
	const struct row *a, *b;
	double share;		/* of what it was */
	double p;		/* of such a change or a larger one by chance; NAN without spread */
	enum { CHANGED, WITHIN, UNKNOWN, EQUAL, NO_VALUE } verdict;
};

static const char * const verdicts[] = {
	[CHANGED] = "changed", [WITHIN] = "within the spread", [UNKNOWN] = "no spread is known",
	[EQUAL] = "equal", [NO_VALUE] = "n/a",
};

/* ---- the test ---- */

static void set_mean(struct row *row)
{
	double sum = 0, squares = 0, along = 0, r;
	int i;

	for (i = 0; i < row->num; i++)
		sum += row->at[i];
	row->mean = row->num ? sum / row->num : NAN;
	for (i = 0; i < row->num; i++) {
		squares += pow(row->at[i] - row->mean, 2);
		if (i)
			along += (row->at[i] - row->mean) * (row->at[i - 1] - row->mean);
	}
	row->spread = row->num > 1 ? sqrt(squares / (row->num - 1)) : NAN;
	/* Of a first-order process with this correlation from one interval to the next. */
	r = squares > 0 ? fmin(fmax(along / squares, 0), 0.99) : 0;
	row->samples = row->num * (1 - r) / (1 + r);
	row->error2 = row->spread * row->spread / row->samples;
}

/* Of Student's distribution, both sides: the integral of cos^(df - 1), by Simpson's rule. */
static double chance(double t, double df)
{
	double from = atan(t / sqrt(df)), step = (M_PI_2 - from) / 2000, sum = 0;
	int i;

	if (df > 200 || isinf(t))
		return erfc(t / M_SQRT2);
	for (i = 0; i <= 2000; i++)
		sum += pow(cos(from + i * step), df - 1) * (!i || i == 2000 ? 1 : i % 2 ? 4 : 2);
	sum *= step / 3 * 2 / sqrt(M_PI) * exp(lgamma((df + 1) / 2) - lgamma(df / 2));
	return fmin(sum, 1);
}

static void judge(struct change *change)
{
	const struct row *a = change->a, *b = change->b;
	double error2 = a->error2 + b->error2, df;

	change->share = a->mean ? b->mean / a->mean - 1 : b->mean ? INFINITY : 0;
	change->p = NAN;
	if (!a->num || !b->num)
		change->verdict = NO_VALUE;
	else if (fabs(b->mean - a->mean) < SMALL * fabs(a->mean) || a->mean == b->mean)
		change->verdict = EQUAL;
	else if (a->num < 2 || b->num < 2)
		change->verdict = UNKNOWN;
	else if (!error2)
		change->p = 0;
	else {
		df = error2 * error2 / (pow(a->error2, 2) / fmax(a->samples - 1, 0.5) +
					pow(b->error2, 2) / fmax(b->samples - 1, 0.5));
		change->p = chance(fabs(b->mean - a->mean) / sqrt(error2), df);
	}
}

/* The most certain first. */
static int by_verdict(const void *x, const void *y)
{
	const struct change *a = x, *b = y;

	if (a->verdict != b->verdict)
		return a->verdict - b->verdict;
	return a->p != b->p ? (a->p > b->p) - (a->p < b->p) :
	       (fabs(a->share) < fabs(b->share)) - (fabs(a->share) > fabs(b->share));
}

/* ---- two recordings ---- */

static int add_interval(struct session *session, double time, void *data)
{
	struct side *side = data;
	double took = time - side->last, whole = json_integer_value(
		json_object_get(side->record.header, "interval")) / 1e3;
	struct value *values;
	int num, i;

	side->last = time;
	/* What is left at the end is no sample of the same kind. */
	if (took < whole / 2 && side->record.intervals > 1)
		return 0;
	values = values_make(session, &session->options, &num);
	for (i = 0; i < num; i++) {
		struct row *row = &side->row[i];

		if (values[i].why)
			snprintf(row->why, sizeof(row->why), "%s", values[i].why);
		else
			row->at[row->num++] = values[i].value;
	}
	return 0;
}

static int read_side(struct side *side, const char *path, char **names, int num)
{
	int status = record_open(&side->record, side->session, path) ?:
		     record_pick(&side->record, names, num), i;
	struct value *values;

	if (status)
		return status;
	/* Without readings: which ones there are. */
	values = values_make(side->session, &side->session->options, &side->rows);
	side->row = allocate(side->rows * sizeof(*side->row));
	for (i = 0; i < side->rows; i++) {
		side->row[i].value = &values[i];
		side->row[i].at = allocate(side->record.intervals * sizeof(double));
	}
	status = record_each(&side->record, 1, add_interval, side);
	for (i = 0; i < side->rows; i++)
		set_mean(&side->row[i]);
	return status;
}

static bool same(const char *a, const char *b)
{
	return !strcmp(a ?: "", b ?: "");
}

static bool same_metric(const struct metric *a, const struct metric *b)
{
	bool is = same(a->formula.text, b->formula.text) && same(a->valid.text, b->valid.text) &&
		  same(a->unit, b->unit) && same(a->kind, b->kind) &&
		  a->num_events == b->num_events;
	int i;

	for (i = 0; is && i < a->num_events; i++)
		is = same(a->event[i].name, b->event[i].name) &&
		     same(a->event[i].text, b->event[i].text) &&
		     a->event[i].reduce == b->event[i].reduce;
	return is;
}

static const json_t *thing(const struct record *record, const char *of, const char *key)
{
	const json_t *header = record->header;

	return json_object_get(of ? json_object_get(header, of) : header, key);
}

/* Says in what the two differ that may be the reason for a change. */
static void compare_headers(const struct side *a, const struct side *b)
{
	static const struct { const char *of, *key, *what; } things[] = {
		{ "machine", "name", "the machine" }, { "machine", "host", "the host" },
		{ "machine", "package", "packages and CPUs" }, { "machine", "pmus", "the boxes" },
		{ "machine", "kernel", "the kernel" }, { "machine", "module", "the module" },
		{ NULL, "interval", "the interval, ms" },
		{ NULL, "command_only", "what is counted" },
		{ NULL, "counters", "the plan of what is counted together" },
	};
	unsigned int i;

	for (i = 0; i < sizeof(things) / sizeof(things[0]); i++) {
		const json_t *x = thing(&a->record, things[i].of, things[i].key);
		const json_t *y = thing(&b->record, things[i].of, things[i].key);

		if (json_equal(x, y))
			continue;
		if (json_is_string(x) && json_is_string(y))
			warn("they differ in %s: %s and %s", things[i].what, json_string_value(x),
			     json_string_value(y));
		else if (json_is_integer(x) && json_is_integer(y))
			warn("they differ in %s: %d and %d", things[i].what,
			     (int)json_integer_value(x), (int)json_integer_value(y));
		else
			warn("they differ in %s", things[i].what);
	}
}

/* Rows that both have. */
static struct change *compare(const struct side *a, const struct side *b, int *num)
{
	struct change *changes = NULL;
	const struct metric *left_out = NULL;
	int alone = b->rows, i, j;

	*num = 0;
	for (i = 0; i < a->rows; i++) {
		const struct value *value = a->row[i].value;

		for (j = 0; j < b->rows && (!same(b->row[j].value->scope, value->scope) ||
		     !same(b->row[j].value->metric->name, value->metric->name)); j++)
			;
		alone += j < b->rows ? -1 : 1;
		if (j == b->rows)
			continue;
		if (same_metric(value->metric, b->row[j].value->metric)) {
			*append(changes, *num) = (struct change){ &a->row[i], &b->row[j] };
			continue;
		}
		if (value->metric != left_out)
			warn("%s is defined otherwise in %s: it is left out", value->metric->name,
			     b->record.path);
		left_out = value->metric;
	}
	if (alone)
		warn("%d values are in one of the two alone", alone);
	for (i = 0, j = 0; i < *num; i++) {
		judge(&changes[i]);
		/* All that are compared: which of them differ is chance, too. */
		j += changes[i].a->num > 1 && changes[i].b->num > 1;
	}
	for (i = 0; i < *num; i++) {
		if (changes[i].verdict == CHANGED && changes[i].p * j >= SURE)
			changes[i].verdict = WITHIN;
	}
	if (*num)
		qsort(changes, *num, sizeof(*changes), by_verdict);
	return changes;
}

/* ---- output ---- */

static char *share_text(double share)
{
	return isinf(share) ? "from 0" : format("%+.1f %%", 100 * share);
}

static void print_change(const struct change *change)
{
	double a = change->a->mean, b = change->b->mean, most = fmax(fabs(a), fabs(b)), by;
	const struct metric *metric = change->a->value->metric;
	const char *unit = metric->unit, *prefix = prefixed(&most, &unit);

	/* Both with the prefix of the larger one. */
	by = most ? fmax(fabs(a), fabs(b)) / most : 1;
	printf("%-10s %-33s ", change->a->value->scope, metric->name);
	printf("%9.*f ±%-7.3g", most >= 100 || *prefix ? 2 : 4, a / by, change->a->spread / by);
	printf("%9.*f ±%-7.3g %-10s", most >= 100 || *prefix ? 2 : 4, b / by,
	       change->b->spread / by, format("%s%s", prefix, unit));
	printf("%9s\n", share_text(change->share));
}

static void print_side(const char *name, const struct side *side)
{
	json_t *command = json_object_get(side->record.header, "command"), *word;
	char *text = "";
	size_t i;

	json_array_foreach(command, i, word)
		text = format("%s %s", text, json_string_value(word) ?: "");
	printf("%s  %s, %d intervals, %.3f s%s%s\n", name, side->record.path,
	       side->record.intervals, side->record.end, *text ? ":" : "", text);
}

static void print_changes(const struct change *changes, int num)
{
	static const char * const heads[] = {
		[CHANGED] = "Changed, the most certain first",
		[WITHIN] = "Within the spread: this may be chance",
		[UNKNOWN] = "Of one interval: no spread is known",
	};
	int count[NO_VALUE + 1] = {}, i;

	for (i = 0; i < num; i++) {
		const struct change *one = &changes[i];

		if (one->verdict < EQUAL && !count[one->verdict])
			printf("\n%s:\n%-11s%-34s%9s %-7s%9s %-8s%-10s%9s\n",
			       heads[one->verdict], "scope", "metric", "A", "spread",
			       "B", "spread", "unit", "change");
		count[one->verdict]++;
		if (one->verdict < EQUAL) {
			print_change(one);
		} else if (one->verdict == NO_VALUE && (one->a->num || one->b->num)) {
			printf("\n%-10s %s\n%13s", one->a->value->scope,
			       one->a->value->metric->name, "");
			print_wrapped(format("n/a in %s, because %s", one->a->num ? "B" : "A",
					     one->a->num ? one->b->why : one->a->why), 13);
		}
	}
	printf("\n");
	if (count[CHANGED] || count[UNKNOWN])
		printf("%d changed, ", count[CHANGED]);
	else if (count[WITHIN])
		printf("No change is larger than the spread lets happen by chance: ");
	else
		printf("Nothing has changed: ");
	printf("%d within the spread, %d equal, %d n/a\n", count[WITHIN] + count[UNKNOWN],
	       count[EQUAL], count[NO_VALUE]);
}

static json_t *real(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static void print_json(const struct change *changes, int num)
{
	json_t *list = json_array(), *all;
	int i;

	for (i = 0; i < num; i++) {
		const struct row *a = changes[i].a, *b = changes[i].b;

		json_array_append_new(list, json_pack(
			"{ss ss ss ss so so so so si si so so}", "scope", a->value->scope, "metric",
			a->value->metric->name, "unit", a->value->metric->unit, "verdict",
			verdicts[changes[i].verdict], "a", real(a->mean), "b", real(b->mean),
			"spread_a", real(a->spread), "spread_b", real(b->spread),
			"intervals_a", a->num, "intervals_b", b->num,
			"change", real(changes[i].share), "p", real(changes[i].p)));
	}
	all = json_pack("{so}", "changes", list);
	put_json(stdout, all);
}

int diff(struct session *session, char **args, int num)
{
	struct session *other = allocate(sizeof(*other));
	struct side a = { session }, b = { other };
	struct change *changes;
	int status, i;

	if (num < 2)
		return fail(STATUS_USAGE, "diff wants two files of perf metrics record");
	*other = (struct session){ .world = session->world, .options = session->options,
				   .target = { .dir = -1, .fd = -1 } };
	status = read_side(&a, args[0], args + 2, num - 2) ?:
		 read_side(&b, args[1], args + 2, num - 2);
	if (!status) {
		compare_headers(&a, &b);
		changes = compare(&a, &b, &num);
		if (!num) {
			status = fail(STATUS_NO_VALUE, "there is no value that both have");
		} else if (session->options.json) {
			print_json(changes, num);
		} else {
			print_side("A", &a);
			print_side("B", &b);
			print_changes(changes, num);
		}
		for (i = 0; i < num && changes[i].verdict == NO_VALUE; i++)
			;
		if (i == num)
			status = STATUS_NO_VALUE;
	}
	record_close(&a.record);
	record_close(&b.record);
	return status;
}
