// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory, messages, numbers as text.
 */
#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "metrics.h"

#define WIDTH	80
#define BLANK	" \t\n"

int fail(int status, const char *fmt, ...)
{
	va_list args;

	fflush(stdout);
	fprintf(stderr, "perf metrics: ");
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fprintf(stderr, "\n");
	return status;
}

/* Memory in the order in which it was asked for. */
static struct piece {
	struct piece *before;
	max_align_t memory[];
} *last_piece;

void *allocate(size_t size)
{
	/* A size that is negative is none, and the sum would be small. */
	struct piece *piece = size < PTRDIFF_MAX ? calloc(1, sizeof(*piece) + size) : NULL;

	if (piece) {
		piece->before = last_piece;
		last_piece = piece;
		return piece->memory;
	}
	exit(fail(STATUS_FAILED, "no memory"));
}

const void *mark(void)
{
	return last_piece;
}

void free_from(const void *mark)
{
	while (last_piece != mark) {
		struct piece *piece = last_piece;

		last_piece = piece->before;
		free(piece);
	}
}

void *grow(void *array, size_t num, size_t size)
{
	void *more;

	/* Twice as much whenever it is full: at each power of two. */
	if (num & (num - 1))
		return array;
	more = allocate((num ? 2 * num : 1) * size);
	return num ? memcpy(more, array, num * size) : more;
}

char *format(const char *fmt, ...)
{
	va_list args, again;
	char *text;

	va_start(args, fmt);
	va_copy(again, args);
	text = allocate(vsnprintf(NULL, 0, fmt, args) + 1);
	vsprintf(text, fmt, again);
	va_end(again);
	va_end(args);
	return text;
}

char *replaced(const char *text, const char *name, const char *by)
{
	const char *mark = format("{%s}", name), *at;
	char *done = "";

	while ((at = strstr(text, mark))) {
		done = format("%s%.*s%s", done, (int)(at - text), text, by);
		text = at + strlen(mark);
	}
	return format("%s%s", done, text);
}

char *next_word(char **text)
{
	char *word = *text + strspn(*text, BLANK);

	if (!*word)
		return NULL;
	*text = word + strcspn(word, BLANK);
	if (**text)
		*(*text)++ = 0;
	*text += strspn(*text, BLANK);
	return word;
}

const char *scaled(double *value, double most)
{
	static const char * const prefixes[] = { "", "k", "M", "G", "T", "P", "E" };
	int n;

	for (n = 0; fabs(*value) >= most && n < 6; n++)
		*value /= 1000;
	return prefixes[n];
}

const char *prefixed(double *value, const char **unit)
{
	if (strcmp(*unit, "B/s") && strcmp(*unit, "1/s"))
		return "";
	*unit += (*unit)[0] == '1';
	return scaled(value, 1000);
}

char *number_text(double value, const char *unit)
{
	const char *prefix = prefixed(&value, &unit);

	return format("%.4g%s%s%s", value, *unit ? " " : "", prefix, unit);
}

char *digits_text(double value, int digits)
{
	return value && fabs(value) < 0.01 ? format("%.3g", value) : format("%.*f", digits, value);
}

char *escaped(const char *text, const char *what, const char *as)
{
	char *done = allocate((strlen(as) + 1) * strlen(text) + 1), *at = done;

	for (; *text; text++)
		at += sprintf(at, strchr(what, *text) ? as : "%c", *text);
	return done;
}

void put_wrapped(FILE *f, const char *text, int column, int width)
{
	int at = column, len;

	for (; *text; text += !!*text) {
		len = strcspn(text, " \n");
		if (at > column && (at + 1 + len > width || text[-1] == '\n')) {
			fprintf(f, "\n%*s", column, "");
			at = column;
		}
		if (at > column)
			at += fprintf(f, " ");
		for (at += len; len; len--, text++)
			fputc(*text == '\t' ? ' ' : *text, f);
	}
	fprintf(f, "\n");
}

void print_wrapped(const char *text, int column)
{
	put_wrapped(stdout, text, column, WIDTH);
}

int control_at(const char *text)
{
	return text[0] == '\xc2' && (unsigned char)text[1] < 0xa0 ? 2 :
	       *text != '\t' && iscntrl((unsigned char)*text) ? 1 : 0;
}

json_t *string_json(const char *text)
{
	char *plain = format("%s", text ?: ""), *c;
	json_t *json;

	for (c = plain; *c; c++)
		memset(c, ' ', control_at(c));
	json = json_string(plain);
	for (c = plain; *c; c++)
		*c = *c < 0 ? '?' : *c;
	return !text ? NULL : json ?: json_string(plain);
}

bool put_json(FILE *f, json_t *json)
{
	bool good = json && !json_dumpf(json, f, JSON_COMPACT | JSON_REAL_PRECISION(17)) &&
		    fputc('\n', f) >= 0;

	json_decref(json);
	return good;
}
