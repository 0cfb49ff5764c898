// SPDX-License-Identifier: GPL-2.0-only
/*
 * Metric files, see Documentation/man/perf-metrics.5.
 *
 * A line is a word and what it is set to. "metric" begins a metric, which goes on to the
 * next one. Its lines are kept as they are until it is complete, because a line "for"
 * makes several metrics of one.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "metrics.h"

#ifndef DATADIR
#define DATADIR "/usr/share/perf-metrics"
#endif

#define MAX_LINES	64	/* of a metric */

struct line {
	int number;
	char *word;
	char *value;
};

struct file {
	struct session *session;
	const char *path;
	int errors;
	struct group *group;
	struct line line[MAX_LINES];	/* of the metric that is being read */
	int num_lines;
};

static void __attribute__((format(printf, 3, 4)))
bad(struct file *file, int line, const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "%s:%d: ", file->path, line);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fprintf(stderr, "\n");
	file->errors++;
}

static bool is_name(const char *text)
{
	size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");

	return len && !text[len] && !isdigit((unsigned char)text[0]);
}

/* Splits off the first word and returns it; NULL at the end. */
static char *next_word(char **text)
{
	char *word = *text + strspn(*text, " \t");

	if (!*word)
		return NULL;
	*text = word + strcspn(word, " \t");
	if (**text)
		*(*text)++ = 0;
	*text += strspn(*text, " \t");
	return word;
}

/* A part is in names of files and labels, so it has nothing that means something there. */
static bool is_part(const struct metric *metric, const char *word)
{
	int i;

	for (i = 0; word[i] && isascii(word[i]) && (isalnum(word[i]) || word[i] == '_'); i++)
		;
	if (word[i])
		return false;
	for (i = 0; i < metric->num_parts && strcmp(metric->part[i], word); i++)
		;
	return i == metric->num_parts;
}

/* The text with each {name} replaced. */
static char *replaced(const char *text, const char *name, const char *by)
{
	char *mark = format("{%s}", name);
	size_t len = strlen(mark);
	char *done = format("%s", "");
	const char *at;

	while ((at = strstr(text, mark))) {
		char *more = format("%s%.*s%s", done, (int)(at - text), text, by);

		free(done);
		done = more;
		text = at + len;
	}
	at = done;
	done = format("%s%s", done, text);
	free((char *)at);
	free(mark);
	return done;
}

static bool set_scope(struct file *file, const struct line *line, struct metric *metric)
{
	char *rest = format("%s", line->value), *word = next_word(&rest);

	if (!word) {
		bad(file, line->number, "no scope");
		return false;
	}
	metric->kind = word;
	while ((word = next_word(&rest))) {
		if (metric->num_parts == MAX_PARTS) {
			bad(file, line->number, "too many parts");
			return false;
		}
		if (!is_part(metric, word)) {
			bad(file, line->number, "'%s' is no part: a-z, A-Z, 0-9, _, and each once", word);
			return false;
		}
		metric->part[metric->num_parts++] = word;
	}
	if (metric->num_parts) {
		metric->scope = SCOPE_PART;
	} else if (!strcmp(metric->kind, "package")) {
		metric->scope = SCOPE_PACKAGE;
	} else if (!strcmp(metric->kind, "box")) {
		metric->scope = SCOPE_BOX;
	} else if (!strcmp(metric->kind, "cpu")) {
		metric->scope = SCOPE_CPU;
	} else {
		bad(file, line->number,
		    "scope is package, box, cpu, or a word of your own and the parts; not '%s'",
		    metric->kind);
		return false;
	}
	return true;
}

static bool set_event(struct file *file, const struct line *line, struct metric *metric)
{
	static const char * const reduce[] = { "sum", "mean", "max", "min" };
	struct metric_event *event = &metric->event[metric->num_events];
	char *rest = format("%s", line->value), *name = next_word(&rest), *word = next_word(&rest);
	unsigned int i;
	char *slash;

	if (metric->num_events == MAX_EVENTS) {
		bad(file, line->number, "too many events");
		return false;
	}
	if (!name || !is_name(name) || !strcmp(name, "seconds") || !word) {
		bad(file, line->number, "an event is NAME [sum|mean|max|min] PMU/TERMS/; its name is of "
		    "a-z, 0-9, _, and not seconds");
		return false;
	}
	for (i = 0; i < sizeof(reduce) / sizeof(reduce[0]); i++) {
		if (!strcmp(word, reduce[i])) {
			event->reduce = i;
			word = next_word(&rest);
			break;
		}
	}
	slash = word ? strchr(word, '/') : NULL;
	if (!slash || slash == word || slash[1] == '/' || strchr(slash + 1, '/') !=
	    word + strlen(word) - 1 || *rest) {
		bad(file, line->number, "'%s' is no event, which is PMU/TERMS/", word ?: "");
		return false;
	}
	for (i = 0; i < (unsigned int)metric->num_events; i++) {
		if (!strcmp(metric->event[i].name, name)) {
			bad(file, line->number, "there is an event '%s' already", name);
			return false;
		}
	}
	event->name = name;
	event->text = format("%s", word);
	metric->num_events++;
	return true;
}

static bool set_range(struct file *file, const struct line *line, double range[2])
{
	char *rest = format("%s", line->value), *word, *end;
	int i;

	for (i = 0; i < 2; i++) {
		word = next_word(&rest);
		range[i] = word ? strtod(word, &end) : 0;
		if (!word || *end || !isfinite(range[i]))
			break;
	}
	if (i < 2 || *rest || range[0] > range[1]) {
		bad(file, line->number, "'%s' is no range, which is LOWEST HIGHEST", line->value);
		return false;
	}
	return true;
}

static char *joined(char *old, const char *more)
{
	return old ? format("%s\n%s", old, more) : format("%s", more);
}

static bool set_formulas(struct file *file, const struct line *lines, int num,
			 struct metric *metric)
{
	unsigned int used = 0;
	char *error, *text;
	int i;

	for (i = 0; i < num; i++) {
		bool valid = !strcmp(lines[i].word, "valid");

		if (!valid && strcmp(lines[i].word, "formula"))
			continue;
		text = format("%s", lines[i].value);
		if (valid) {
			char *colon = strchr(text, ':');

			if (!colon) {
				bad(file, lines[i].number, "valid is CONDITION : REASON");
				return false;
			}
			*colon++ = 0;
			metric->valid_why = colon + strspn(colon, " \t");
		}
		error = formula_set(valid ? &metric->valid : &metric->formula, metric, text, &used);
		if (error) {
			bad(file, lines[i].number, "the formula is wrong: %s", error);
			free(error);
			return false;
		}
	}
	if (!metric->formula.text) {
		bad(file, metric->line, "metric '%s' has no formula", metric->name);
		return false;
	}
	for (i = 0; i < metric->num_events; i++) {
		if (!(used >> i & 1)) {
			bad(file, metric->line, "no formula has event '%s'", metric->event[i].name);
			return false;
		}
	}
	return true;
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
		if (!isascii(*c) || !isalnum(*c))
			*c = '_';
	}
	return name;
}

/* A later directory may define a metric anew; in one directory there is one of a name. */
static bool add(struct file *file, struct metric *metric)
{
	struct session *session = file->session;
	int i;

	for (i = 0; i < session->num_metrics; i++) {
		struct metric **old = &session->metric[i];
		const char *slash = strrchr((*old)->file, '/');
		size_t dir = slash ? slash - (*old)->file : 0;
		char *a = family(*old), *b = family(metric);
		bool same = !strcmp((*old)->name, metric->name), alike = !strcmp(a, b);

		free(a);
		free(b);
		if (!same && !alike)
			continue;
		if (!same || (!strncmp((*old)->file, metric->file, dir) &&
			      !strchr(metric->file + dir + 1, '/'))) {
			bad(file, metric->line, "there is a metric of this name%s: %s:%d",
			    same ? "" : " for Prometheus", (*old)->file, (*old)->line);
			return false;
		}
		*old = metric;
		return true;
	}
	session->metric = grow(session->metric, session->num_metrics, sizeof(*session->metric));
	session->metric[session->num_metrics++] = metric;
	return true;
}

/* What may be there several times; all else once. */
static bool repeats(const char *word)
{
	return !strcmp(word, "event") || !strcmp(word, "doubt") || !strcmp(word, "source");
}

static bool set_line(struct file *file, const struct line *line, struct metric *metric)
{
	const char *word = line->word, *brace = strchr(line->value, '{');

	if (!strcmp(word, "scope"))
		return set_scope(file, line, metric);
	/* By now every word in braces is replaced, but for that of the scope. */
	if (brace && (strncmp(brace + 1, metric->kind, strlen(metric->kind)) ||
		      brace[1 + strlen(metric->kind)] != '}' || !metric->num_parts)) {
		bad(file, line->number, "'%s' is of no scope and no line 'for'", brace);
		return false;
	}
	if (!strcmp(word, "event"))
		return set_event(file, line, metric);
	if (!strcmp(word, "limit"))
		return set_range(file, line, metric->limit);
	if (!strcmp(word, "plausible"))
		return set_range(file, line, metric->plausible);
	if (!strcmp(word, "metric"))
		metric->name = line->value;
	else if (!strcmp(word, "help"))
		metric->help = line->value;
	else if (!strcmp(word, "unit"))
		metric->unit = line->value;
	else if (!strcmp(word, "doubt"))
		metric->doubt = joined(metric->doubt, line->value);
	else if (!strcmp(word, "source"))
		metric->source = joined(metric->source, line->value);
	else if (!strcmp(word, "apart"))
		metric->apart = true;
	else if (strcmp(word, "formula") && strcmp(word, "valid")) {
		bad(file, line->number, "'%s' is nothing a metric has", word);
		return false;
	}
	if (!strcmp(word, "metric") && !is_name(line->value)) {
		bad(file, line->number, "'%s' is no name: those are of a-z, 0-9, _", line->value);
		return false;
	}
	return true;
}

static void make_metric(struct file *file, const struct line *lines, int num)
{
	struct metric *metric = allocate(sizeof(*metric));
	int pass, i, j;

	metric->group = file->group;
	metric->file = format("%s", file->path);
	metric->line = lines[0].number;
	metric->help = metric->unit = "";
	metric->kind = "package";
	metric->limit[0] = -INFINITY;
	metric->limit[1] = INFINITY;
	memcpy(metric->plausible, metric->limit, sizeof(metric->limit));
	/* The scope first, as other lines have its word. */
	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < num; i++) {
			if (pass == !strcmp(lines[i].word, "scope"))
				continue;
			for (j = 0; j < i && strcmp(lines[j].word, lines[i].word); j++)
				;
			if (j < i && !repeats(lines[i].word)) {
				bad(file, lines[i].number, "there is a line '%s' already",
				    lines[i].word);
				return;
			}
			if (!set_line(file, &lines[i], metric))
				return;
		}
	}
	if (!*metric->help)
		metric->help = metric->name;
	if (!metric->num_events)
		bad(file, metric->line, "metric '%s' has no event", metric->name);
	/* What is wrong with a metric leaves nothing of it behind but memory. */
	else if (set_formulas(file, lines, num, metric))
		add(file, metric);
}

/* The lines of a metric, once for each value of its "for". */
static void end_of_metric(struct file *file)
{
	struct line lines[MAX_LINES] = {};
	char *rest = NULL, *name = NULL, *value;
	int num = 0, of = 0, i, made = 0;

	for (i = 0; i < file->num_lines; i++) {
		if (strcmp(file->line[i].word, "for")) {
			lines[num++] = file->line[i];
			continue;
		}
		of = of ? -1 : file->line[i].number;
		rest = format("%s", file->line[i].value);
		name = next_word(&rest);
	}
	while (of > 0 && name && (value = next_word(&rest))) {
		struct line copy[MAX_LINES] = {};

		for (i = 0; i < num; i++) {
			copy[i] = lines[i];
			copy[i].value = replaced(lines[i].value, name, value);
		}
		make_metric(file, copy, num);
		made++;
	}
	if (of && !made)
		bad(file, lines[0].number, "a metric has one line 'for WORD VALUE...'");
	else if (num && !of)
		make_metric(file, lines, num);
	file->num_lines = 0;
}

static void begin_group(struct file *file, const char *name)
{
	struct session *session = file->session;

	file->group = allocate(sizeof(*file->group));
	file->group->name = format("%s", name);
	file->group->help = "";
	session->group = grow(session->group, session->num_groups, sizeof(*session->group));
	session->group[session->num_groups++] = file->group;
}

/* All of it is printed, as JSON and elsewhere. */
static bool is_text(const char *text)
{
	json_t *json = json_string(text);
	bool good = json;

	json_decref(json);
	for (; *text; text++)
		good &= *text == '\t' || !iscntrl((unsigned char)*text);
	return good;
}

static void read_line(struct file *file, int number, char *text, size_t len)
{
	char *word;

	if (len && text[len - 1] == '\n')
		text[--len] = 0;
	if (strlen(text) != len || !is_text(text)) {
		bad(file, number, "this is no text in UTF-8");
		return;
	}
	word = next_word(&text);
	if (!word || word[0] == '#')
		return;
	if (!strcmp(word, "group")) {
		end_of_metric(file);
		begin_group(file, text);
		if (!is_name(text))
			bad(file, number, "'%s' is no name: those are of a-z, 0-9, _", text);
		return;
	}
	if (!file->group) {
		bad(file, number, "a file begins with a line 'group NAME', not with '%s'", word);
		begin_group(file, "");
		return;
	}
	if (!strcmp(word, "metric")) {
		end_of_metric(file);
	} else if (!file->num_lines) {
		if (!strcmp(word, "help") && !*file->group->help)
			file->group->help = format("%s", text);
		else if (!strcmp(word, "machine") && !file->group->machines)
			file->group->machines = format("%s", text);
		else
			bad(file, number, "'%s' is nothing a group has, or has twice", word);
		return;
	}
	if (file->num_lines == MAX_LINES) {
		bad(file, number, "a metric has no more than 64 lines");
		return;
	}
	file->line[file->num_lines++] =
		(struct line){ number, format("%s", word), format("%s", text) };
}

int file_read(struct session *session, const char *path)
{
	struct file file = { .session = session, .path = path };
	char *text = NULL;
	size_t size = 0;
	int number = 0;
	FILE *f = fopen(path, "re");
	ssize_t len;

	if (!f) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return 1;
	}
	while ((len = getline(&text, &size, f)) >= 0)
		read_line(&file, ++number, text, len);
	if (ferror(f))
		bad(&file, number, "%s", strerror(errno));
	end_of_metric(&file);
	if (!file.group)
		bad(&file, number, "there is no group");
	free(text);
	fclose(f);
	return file.errors;
}

static int is_metric_file(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return entry->d_name[0] != '.' && dot && !strcmp(dot, ".metric");
}

static void dir_read(struct session *session, const char *dir)
{
	struct dirent **list;
	int num = scandir(dir, &list, is_metric_file, alphasort), i;

	if (num < 0 && getenv("PERF_METRICS_PATH"))
		warn("%s: %s", dir, strerror(errno));
	for (i = 0; i < num; i++) {
		char *path = format("%s/%s", dir, list[i]->d_name);

		file_read(session, path);
		free(path);
		free(list[i]);
	}
	if (num >= 0)
		free(list);
}

/* Directories with colons between them; what is in a later one comes first. */
static char *directories(void)
{
	const char *path = getenv("PERF_METRICS_PATH"), *home = getenv("HOME");
	const char *config = getenv("XDG_CONFIG_HOME");

	if (path)
		return format("%s", path);
	if (config && *config)
		return format(DATADIR ":/etc/perf-metrics:%s/perf-metrics", config);
	return format(DATADIR ":/etc/perf-metrics:%s/.config/perf-metrics", home ?: "");
}

int files_read(struct session *session)
{
	char *all = directories(), *dirs = format("%s", all), *dir, *save;
	int status = 0;

	for (dir = strtok_r(dirs, ":", &save); dir; dir = strtok_r(NULL, ":", &save))
		dir_read(session, dir);
	if (!session->num_metrics)
		status = fail(STATUS_USAGE, "there are no metric files in %s", all);
	free(dirs);
	free(all);
	return status;
}

char *file_find(const char *name)
{
	char *dirs = directories(), *dir, *save, *found = NULL;

	for (dir = strtok_r(dirs, ":", &save); dir; dir = strtok_r(NULL, ":", &save)) {
		char *path = format("%s/%s", dir, name);

		if (access(path, R_OK)) {
			free(path);
			continue;
		}
		free(found);
		found = path;
	}
	free(dirs);
	return found;
}
