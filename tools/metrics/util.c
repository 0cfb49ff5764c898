// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory, messages, numbers as text.
 */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "metrics.h"

#define WIDTH	80

static void complain(const char *fmt, va_list args)
{
	fflush(stdout);
	fprintf(stderr, "perf metrics: ");
	vfprintf(stderr, fmt, args);
	fprintf(stderr, "\n");
}

void warn(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	complain(fmt, args);
	va_end(args);
}

int fail(int status, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	complain(fmt, args);
	va_end(args);
	return status;
}

static void *there(void *memory)
{
	if (!memory)
		_exit(fail(STATUS_FAILED, "no memory"));
	return memory;
}

char *format(const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	va_end(args);
	return there(text);
}

void *allocate(size_t size)
{
	return there(calloc(1, size ?: 1));
}

void *grow(void *array, size_t num, size_t size)
{
	/* Twice as much whenever it is full: at each power of two. */
	return num & (num - 1) ? array : there(realloc(array, (num ? 2 * num : 1) * size));
}

const char *prefixed(double *value, const char **unit)
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
