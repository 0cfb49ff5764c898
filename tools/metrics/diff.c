// SPDX-License-Identifier: GPL-2.0-only
/*
 * What has changed between two recordings. The values are those of the whole time; the intervals
 * say how certain they are. The sample of an interval is what it contributes to the value of the
 * whole, by leaving it out (the jackknife's pseudo-values): of a rate that is the interval's own
 * value, of a ratio an interval weighs what was counted in it. Welch's test says how certain it is
 * that two values differ. An interval is like the one before it, so there are fewer independent
 * samples than intervals; and of many values that are compared some differ by chance, so the limit
 * is lower the more there are (Bonferroni). perf-metrics(1) says it to users.
 */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "metrics.h"

#define SURE	0.01	/* that anything at all is said to have changed, and has not */
#define SMALL	0.001	/* a change of less than this share is none */
#define FEW	5	/* intervals that are equal by chance */
#define EXACT	1e9	/* so many times the error is a change of what has no spread but rounding */

/* The values of one metric in one place. */
struct row {
	const struct value *value;	/* which one it is */
	double whole;			/* its value */
	char why[300];			/* there is none */
	double sum;			/* that of all intervals */
	double *at;			/* what each interval contributes */
	int num;			/* less those without value */
	double spread;			/* the standard deviation */
	double error2, samples;		/* of the whole, squared; how many are independent */
};

struct side {
	struct session *session;
	struct record record;
	struct row *row;
	int rows;
	struct reading *sum;		/* of all intervals, by counter */
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

static void set_spread(struct row *row)
{
	double sum = 0, squares = 0, along = 0, num = row->num, r;
	int i;

	for (i = 0; i < row->num; i++)
		sum += row->at[i];
	for (i = 0; i < row->num; i++) {
		squares += pow(row->at[i] - sum / num, 2);
		if (i)
			along += (row->at[i] - sum / num) * (row->at[i - 1] - sum / num);
	}
	row->spread = row->num > 1 ? sqrt(squares / (num - 1)) : NAN;
	/* The correlation of neighbours comes out too small by about this (Kendall, 1954) ... */
	r = squares ? along / squares : 0;
	r = fmax(r + (1 + 4 * r) / num, 0);
	/* ... and so does the spread of what is correlated. As of a first-order process. */
	row->samples = fmin(fmax(num * (1 - r) / (1 + r), 2), num);
	row->error2 = row->spread * row->spread / row->samples *
		      (1 - 1 / num) / (1 - 1 / row->samples);
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
	double error2 = a->error2 + b->error2;
	double t = fabs(b->whole - a->whole) / sqrt(error2);

	change->share = a->whole ? b->whole / a->whole - 1 : b->whole ? INFINITY : 0;
	change->p = NAN;
	if (*a->why || *b->why)
		change->verdict = NO_VALUE;
	else if (fabs(b->whole - a->whole) < SMALL * fabs(a->whole) || a->whole == b->whole)
		change->verdict = EQUAL;
	else if (a->num < 2 || b->num < 2 || (t > EXACT && (a->num < FEW || b->num < FEW)))
		change->verdict = UNKNOWN;
	else
		change->p = chance(t, error2 * error2 / (pow(a->error2, 2) / (a->samples - 1) +
							 pow(b->error2, 2) / (b->samples - 1)));
}

/* The most certain first. */
static int by_verdict(const void *x, const void *y)
{
	const struct change *a = x, *b = y;

	if (a->verdict != b->verdict)
		return a->verdict - b->verdict;
	/* Where the spread is not known there is no p. */
	return (a->p > b->p) - (a->p < b->p) ?:
	       (fabs(a->share) < fabs(b->share)) - (fabs(a->share) > fabs(b->share));
}

/* ---- two recordings ---- */

/* First what perf says of the whole time, then all intervals together, whose end has a time. */
static int add_whole(struct session *session, double time, void *data)
{
	int num = session->plan.num_counters, i;
	struct side *side = data;
	struct value *values;

	for (i = 0; i < num; i++)
		memcpy(&side->sum[i * readings(session)], session->plan.counter[i]->reading,
		       readings(session) * sizeof(*side->sum));
	values = values_make(session, &session->options, &num);
	for (i = 0; i < num; i++) {
		struct row *row = &side->row[i];

		*(time ? &row->sum : &row->whole) = values[i].value;
		if (!time)
			snprintf(row->why, sizeof(row->why), "%s", values[i].why ?: "");
	}
	return 0;
}

/* Counters have the rates of all other intervals, this one being a share of the time. */
static void leave_out(struct session *session, const struct side *side, double share)
{
	int i;

	for (i = 0; i < session->plan.num_counters * readings(session); i++) {
		struct reading *one = &session->plan.counter[i / readings(session)]
					->reading[i % readings(session)];
		double rate = one->value / one->seconds;

		*one = side->sum[i];
		/* The text is gone; without seconds there is no count. */
		one->why = NULL;
		if (isfinite(rate))
			one->value = fmax(one->value - share * rate * one->seconds, 0) /
				     (1 - share);
	}
}

static int add_interval(struct session *session, double time, void *data)
{
	struct side *side = data;
	const struct record *record = &side->record;
	double share = (time - side->last) / record->end;
	struct value *values, *others;
	int num, i;

	side->last = time;
	/* What is left at the end is no sample of the same kind. */
	if (share * record->end < record->interval / 2e3)
		return 0;
	values = values_make(session, &session->options, &num);
	leave_out(session, side, share);
	others = values_make(session, &session->options, &num);
	for (i = 0; i < num; i++) {
		struct row *row = &side->row[i];

		if (!values[i].why && !others[i].why)
			row->at[row->num++] = row->sum + (row->sum - others[i].value) *
					      (1 / share - 1);
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
	side->sum = allocate(side->session->plan.num_counters * readings(side->session) *
			     sizeof(*side->sum));
	status = record_each(&side->record, 0, add_whole, side) ?:
		 record_each(&side->record, side->record.intervals ?: 1, add_whole, side) ?:
		 record_each(&side->record, 1, add_interval, side);
	for (i = 0; i < side->rows; i++)
		set_spread(&side->row[i]);
	return status;
}

static bool same(const char *a, const char *b)
{
	return !strcmp(a ?: "", b ?: "");
}

static bool same_metric(const struct metric *a, const struct metric *b)
{
	bool is = same(a->formula.text, b->formula.text) && same(a->valid.text, b->valid.text) &&
		  same(a->unit, b->unit) && same(a->kind, b->kind);
	int i;

	for (i = 0; is && i < a->num_events; i++)
		is = same(a->event[i].name, b->event[i].name) &&
		     same(a->event[i].text, b->event[i].text) &&
		     a->event[i].reduce == b->event[i].reduce;
	return is;
}

/* A word or number of a header; NULL for lists. */
static const char *text_of(const json_t *json)
{
	return json_is_integer(json) ? format("%d", (int)json_integer_value(json)) :
	       json_string_value(json);
}

/* Says in what the two differ that may be the reason for a change. */
static void compare_headers(const struct side *a, const struct side *b)
{
	static const char * const keys[] = { "name", "host", "package", "pmus", "kernel", "module",
					     "interval", "command_only", "counters" };
	const json_t *x, *y;
	unsigned int i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		x = json_object_get(json_object_get(a->record.header, "machine"), keys[i]) ?:
		    json_object_get(a->record.header, keys[i]);
		y = json_object_get(json_object_get(b->record.header, "machine"), keys[i]) ?:
		    json_object_get(b->record.header, keys[i]);
		if (!json_equal(x, y))
			warn("they differ in %s%s", keys[i], text_of(x) && text_of(y) ?
			     format(": %s and %s", text_of(x), text_of(y)) : "");
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

static char *spread_text(double spread)
{
	return isnan(spread) ? format("%8s", "") : format("±%-7.3g", spread);
}

static void print_change(const struct change *change)
{
	double a = change->a->whole, b = change->b->whole, most = fmax(fabs(a), fabs(b)), by;
	const struct metric *metric = change->a->value->metric;
	const char *unit = metric->unit, *prefix = prefixed(&most, &unit);
	int digits = most >= 100 || *prefix ? 2 : 4;

	/* Both with the prefix of the larger one. */
	by = most ? fmax(fabs(a), fabs(b)) / most : 1;
	printf("%-10s %-33s %9s %s%9s %s %-10s%9s\n", change->a->value->scope, metric->name,
	       digits_text(a / by, digits), spread_text(change->a->spread / by),
	       digits_text(b / by, digits), spread_text(change->b->spread / by), format("%s%s", prefix, unit),
	       share_text(change->share));
}

static void print_side(const char *name, const struct side *side)
{
	const struct record *record = &side->record;

	/* The end of the whole alone has no time. */
	printf("%s  %s, %d intervals%s%s%s\n", name, record->path, record->intervals,
	       record->intervals ? format(", %.3f s", record->end) : "",
	       *record->command ? ": " : "", record->command);
}

static void print_changes(const struct change *changes, int num)
{
	static const char * const heads[] = {
		[CHANGED] = "Changed, the most certain first",
		[WITHIN] = "Within the spread: this may be chance",
		[UNKNOWN] = "No spread is known of so few intervals",
	};
	int count[NO_VALUE + 1] = {}, i;

	for (i = 0; i < num; i++) {
		const struct change *one = &changes[i];

		if (one->verdict < EQUAL && !count[one->verdict])
			printf("\n%s:\n%-11s%-34s%9s %-8s%9s %-8s %-10s%9s\n",
			       heads[one->verdict], "scope", "metric", "A", "spread",
			       "B", "spread", "unit", "change");
		count[one->verdict]++;
		if (one->verdict < EQUAL) {
			print_change(one);
		} else if (one->verdict == NO_VALUE && (!*one->a->why || !*one->b->why)) {
			printf("\n%-10s %s\n%13s", one->a->value->scope,
			       one->a->value->metric->name, "");
			print_wrapped(format("n/a in %s, because %s", *one->a->why ? "A" : "B",
					     *one->a->why ? one->a->why : one->b->why), 13);
		}
	}
	printf("\n");
	if (count[CHANGED] || count[UNKNOWN])
		printf("%d changed, ", count[CHANGED]);
	else if (count[WITHIN])
		printf("No change is larger than the spread lets happen by chance: ");
	else
		printf("Nothing %s: ", count[NO_VALUE] < num ? "has changed" : "could be compared");
	if (count[UNKNOWN])
		printf("%d of unknown spread, ", count[UNKNOWN]);
	printf("%d within the spread, %d equal, %d n/a\n", count[WITHIN], count[EQUAL],
	       count[NO_VALUE]);
}

static void print_json(const struct change *changes, int num)
{
	json_t *list = json_array();
	int i;

	for (i = 0; i < num; i++) {
		const struct row *a = changes[i].a, *b = changes[i].b;
		const struct metric *metric = a->value->metric;
		bool none = changes[i].verdict == NO_VALUE;

		/* What is not finite is null. */
		json_array_append_new(list, json_pack(
			"{ss ss ss ss so? so? so? so? si si so? so?}",
			"scope", a->value->scope, "metric", metric->name, "unit", metric->unit,
			"verdict", verdicts[changes[i].verdict],
			"a", *a->why ? NULL : json_real(a->whole),
			"b", *b->why ? NULL : json_real(b->whole),
			"spread_a", json_real(a->spread), "spread_b", json_real(b->spread),
			"intervals_a", a->num, "intervals_b", b->num,
			"change", none ? NULL : json_real(changes[i].share),
			"p", json_real(changes[i].p)));
	}
	put_json(stdout, json_pack("{so}", "changes", list));
}

int diff(struct session *session, char **args, int num)
{
	struct session *other = allocate(sizeof(*other));
	struct side a = { session }, b = { other };
	struct change *changes;
	int status, i;

	if (num < 2)
		return fail(STATUS_USAGE, "diff needs two files of perf metrics record");
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
