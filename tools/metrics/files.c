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

struct metric **metrics;
int num_metrics;
struct group **groups;
int num_groups;

struct line {
	int number;
	char *word;
	char *value;
};

struct file {
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

/* The text with each {name} replaced. */
static char *replaced(const char *text, const char *name, const char *by)
{
	char *mark = format("{%s}", name);
	size_t len = strlen(mark);
	char *done = strdup("");
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
	char *rest = strdup(line->value), *word = next_word(&rest);

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
	char *rest = strdup(line->value), *name = next_word(&rest), *word = next_word(&rest);
	unsigned int i;
	char *slash;

	if (metric->num_events == MAX_EVENTS) {
		bad(file, line->number, "too many events");
		return false;
	}
	if (!name || !is_name(name) || !word) {
		bad(file, line->number,
		    "an event is NAME [sum|mean|max|min] PMU/TERMS/; its name is of a-z, 0-9, _");
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
	event->text = strdup(word);
	metric->num_events++;
	return true;
}

static bool set_range(struct file *file, const struct line *line, double range[2])
{
	char *rest = strdup(line->value), *word, *end;
	int i;

	for (i = 0; i < 2; i++) {
		word = next_word(&rest);
		range[i] = word ? strtod(word, &end) : 0;
		if (!word || *end)
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
	return old ? format("%s\n%s", old, more) : strdup(more);
}

static bool set_formulas(struct file *file, const struct line *lines, int num,
			 struct metric *metric)
{
	char *error, *text;
	int i;

	for (i = 0; i < num; i++) {
		bool valid = !strcmp(lines[i].word, "valid");

		if (!valid && strcmp(lines[i].word, "formula"))
			continue;
		text = strdup(lines[i].value);
		if (valid) {
			char *colon = strchr(text, ':');

			if (!colon) {
				bad(file, lines[i].number, "valid is CONDITION : REASON");
				return false;
			}
			*colon++ = 0;
			metric->valid_why = colon + strspn(colon, " \t");
		}
		if (!formula_set(valid ? &metric->valid : &metric->formula, metric, text, &error)) {
			bad(file, lines[i].number, "the formula is wrong: %s", error);
			return false;
		}
	}
	if (!metric->formula.text) {
		bad(file, metric->line, "metric '%s' has no formula", metric->name);
		return false;
	}
	return true;
}

/* A later directory may define a metric anew; in one directory there is one of a name. */
static bool add(struct file *file, struct metric *metric)
{
	int i;

	for (i = 0; i < num_metrics; i++) {
		const char *old = metrics[i]->file;
		size_t dir = strrchr(old, '/') ? strrchr(old, '/') - old : 0;

		if (strcmp(metrics[i]->name, metric->name))
			continue;
		if (!strncmp(old, metric->file, dir) && !strchr(metric->file + dir + 1, '/')) {
			bad(file, metric->line, "there is a metric of this name: %s:%d", old,
			    metrics[i]->line);
			return false;
		}
		metrics[i] = metric;
		return true;
	}
	metrics = grow(metrics, num_metrics, sizeof(*metrics));
	metrics[num_metrics++] = metric;
	return true;
}

static void make_metric(struct file *file, const struct line *lines, int num)
{
	struct metric *metric = allocate(sizeof(*metric));
	bool ok = true;
	int i;

	metric->group = file->group;
	metric->file = strdup(file->path);
	metric->line = lines[0].number;
	metric->unit = "";
	metric->help = "";
	metric->kind = "package";
	metric->limit[0] = -INFINITY;
	metric->limit[1] = INFINITY;
	memcpy(metric->plausible, metric->limit, sizeof(metric->limit));
	for (i = 0; i < num && ok; i++) {
		const struct line *line = &lines[i];

		if (!strcmp(line->word, "metric")) {
			metric->name = line->value;
			ok = is_name(line->value);
			if (!ok)
				bad(file, line->number, "'%s' is no name: those are of a-z, 0-9, _",
				    line->value);
		} else if (!strcmp(line->word, "help")) {
			metric->help = line->value;
		} else if (!strcmp(line->word, "unit")) {
			metric->unit = line->value;
		} else if (!strcmp(line->word, "scope")) {
			ok = set_scope(file, line, metric);
		} else if (!strcmp(line->word, "event")) {
			ok = set_event(file, line, metric);
		} else if (!strcmp(line->word, "limit")) {
			ok = set_range(file, line, metric->limit);
		} else if (!strcmp(line->word, "plausible")) {
			ok = set_range(file, line, metric->plausible);
		} else if (!strcmp(line->word, "doubt")) {
			metric->doubt = joined(metric->doubt, line->value);
		} else if (!strcmp(line->word, "source")) {
			metric->source = joined(metric->source, line->value);
		} else if (!strcmp(line->word, "apart")) {
			metric->apart = true;
		} else if (strcmp(line->word, "formula") && strcmp(line->word, "valid")) {
			bad(file, line->number, "'%s' is nothing a metric has", line->word);
			ok = false;
		}
	}
	if (ok && !metric->num_events) {
		bad(file, metric->line, "metric '%s' has no event", metric->name);
		ok = false;
	}
	/* What is wrong with a metric leaves nothing of it behind but memory. */
	if (ok && set_formulas(file, lines, num, metric))
		add(file, metric);
}

/* The lines of a metric, once for each value of its "for". */
static void end_of_metric(struct file *file)
{
	struct line lines[MAX_LINES] = {};
	char *rest = NULL, *name = NULL, *value;
	int num = 0, i;

	if (!file->num_lines)
		return;
	for (i = 0; i < file->num_lines; i++) {
		if (!strcmp(file->line[i].word, "for")) {
			rest = strdup(file->line[i].value);
			name = next_word(&rest);
		} else {
			lines[num++] = file->line[i];
		}
	}
	if (!name) {
		make_metric(file, lines, num);
	} else {
		while ((value = next_word(&rest))) {
			struct line copy[MAX_LINES] = {};

			for (i = 0; i < num; i++) {
				copy[i] = lines[i];
				copy[i].value = replaced(lines[i].value, name, value);
			}
			make_metric(file, copy, num);
		}
	}
	file->num_lines = 0;
}

static void read_line(struct file *file, int number, char *text)
{
	char *word;

	text[strcspn(text, "\n")] = 0;
	word = next_word(&text);
	if (!word || word[0] == '#')
		return;
	if (!strcmp(word, "group")) {
		end_of_metric(file);
		file->group = allocate(sizeof(*file->group));
		file->group->name = strdup(text);
		file->group->help = "";
		if (!is_name(text))
			bad(file, number, "'%s' is no name: those are of a-z, 0-9, _", text);
		groups = grow(groups, num_groups, sizeof(*groups));
		groups[num_groups++] = file->group;
		return;
	}
	if (!file->group) {
		bad(file, number, "a file begins with a line 'group NAME', not with '%s'", word);
		file->group = allocate(sizeof(*file->group));
		file->group->name = "";
		file->group->help = "";
		return;
	}
	if (!strcmp(word, "metric")) {
		end_of_metric(file);
	} else if (!file->num_lines) {
		if (!strcmp(word, "help"))
			file->group->help = strdup(text);
		else if (!strcmp(word, "machine"))
			file->group->machines = strdup(text);
		else
			bad(file, number, "'%s' is nothing a group has", word);
		return;
	}
	if (file->num_lines == MAX_LINES) {
		bad(file, number, "a metric has no more than 64 lines");
		return;
	}
	file->line[file->num_lines++] = (struct line){ number, strdup(word), strdup(text) };
}

int file_read(const char *path)
{
	struct file file = { .path = path };
	char *text = NULL;
	size_t size = 0;
	int number = 0;
	FILE *f = fopen(path, "r");

	if (!f) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return 1;
	}
	errno = 0;
	while (getline(&text, &size, f) >= 0)
		read_line(&file, ++number, text);
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

static void dir_read(const char *dir)
{
	struct dirent **list;
	int num = scandir(dir, &list, is_metric_file, alphasort), i;

	for (i = 0; i < num; i++) {
		char *path = format("%s/%s", dir, list[i]->d_name);

		file_read(path);
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
		return strdup(path);
	if (config && *config)
		return format(DATADIR ":/etc/perf-metrics:%s/perf-metrics", config);
	return format(DATADIR ":/etc/perf-metrics:%s/.config/perf-metrics", home ?: "");
}

void files_read(void)
{
	char *dirs = directories(), *dir, *save;

	for (dir = strtok_r(dirs, ":", &save); dir; dir = strtok_r(NULL, ":", &save))
		dir_read(dir);
	free(dirs);
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
