// SPDX-License-Identifier: GPL-2.0-only
/*
 * The order of values, and the prefixes that they are shown with.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "metrics.h"

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

/* Values of different metrics cannot be compared. */
static int by_value(const void *a, const void *b)
{
	const struct value *x = a, *y = b;
	double left = x->why ? -INFINITY : x->value, right = y->why ? -INFINITY : y->value;

	return strcmp(x->metric->name, y->metric->name) ?: (left < right) - (left > right) ?:
	       by_scope(a, b);
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

static const char * const prefixes[] = { "k", "M", "G", "T" };

const char *units(const struct options *options, double *value, const char **unit)
{
	const char *wanted = options->units;
	unsigned int i;

	if (!wanted || !strcmp(wanted, "auto"))
		return prefixed(value, unit);
	if (strcmp(*unit, "B/s") && strcmp(*unit, "1/s"))
		return "";
	for (i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		if (strcmp(wanted, prefixes[i]))
			continue;
		*unit += (*unit)[0] == '1';
		*value /= pow(1000, i + 1);
		return prefixes[i];
	}
	return "";
}

int sort_check(const struct options *options)
{
	bool known = !options->units || !strcmp(options->units, "auto") ||
		     !strcmp(options->units, "base");
	unsigned int i;

	for (i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]) && !known; i++)
		known = !strcmp(options->units, prefixes[i]);
	if (!known)
		return fail(STATUS_USAGE, "--units is auto, base, k, M, G or T, not '%s'",
			    options->units);
	for (i = 0; options->sort && i < NUM_ORDERS && strcmp(options->sort, orders[i].name); i++)
		;
	return i < NUM_ORDERS ? 0 :
	       fail(STATUS_USAGE, "--sort is name, value or scope, not '%s'", options->sort);
}
