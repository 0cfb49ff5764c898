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
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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
	int metrics;			/* of this group */
	struct line line[MAX_LINES];	/* of the metric that is being read */
	int num_lines;
	struct metric *metric;		/* that is made of them */
};

/* Of a line, or of the file for line 0. Returns false, so that "return bad(...)" ends what is done. */
static bool __attribute__((format(printf, 3, 4)))
bad(struct file *file, int line, const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, line ? "%s:%d: " : "%s: ", file->path, line);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fprintf(stderr, "\n");
	file->errors++;
	return false;
}

const char * const reduce_names[] = { "sum", "mean", "max", "min" };

#define LETTERS "abcdefghijklmnopqrstuvwxyz0123456789_"

static bool is_name(const char *text)
{
	return *text && !text[strspn(text, LETTERS)] && !isdigit((unsigned char)*text);
}

static bool check_name(struct file *file, int line, const char *text)
{
	static const char * const others[] = { "list", "map", "check" };
	unsigned int i;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (!strcmp(text, others[i]))
			return bad(file, line, "'%s' means something else already", text);
	}
	return is_name(text) ||
	       bad(file, line, "'%s' is no name: those are of a-z, 0-9, _", text);
}

/* A part is in names of files and labels, so it has nothing that means something there. */
static bool is_part(const struct metric *metric, const char *word)
{
	int i;

	for (i = 0; i < metric->num_parts && strcmp(metric->part[i], word); i++)
		;
	return i == metric->num_parts && !word[strspn(word, LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZ")];
}

static bool set_scope(struct file *file, const struct line *line, void *field)
{
	static const char * const kinds[] = { "package", "box", "cpu" };
	char *rest = format("%s", line->value), *word = next_word(&rest);
	struct metric *metric = file->metric;
	unsigned int i;

	(void)field;
	if (!word)
		return bad(file, line->number, "no scope");
	metric->kind = word;
	while ((word = next_word(&rest))) {
		if (metric->num_parts == MAX_PARTS)
			return bad(file, line->number, "too many parts");
		if (!is_part(metric, word))
			return bad(file, line->number,
				   "'%s' is no part: a-z, A-Z, 0-9, _, and each once", word);
		metric->part[metric->num_parts++] = word;
	}
	if (!is_name(metric->kind))
		return bad(file, line->number, "'%s' is no name: those are of a-z, 0-9, _",
			   metric->kind);
	metric->scope = SCOPE_PART;
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && !metric->num_parts; i++) {
		if (!strcmp(metric->kind, kinds[i]))
			metric->scope = i;
	}
	return metric->num_parts || metric->scope != SCOPE_PART ||
	       bad(file, line->number,
		   "scope is package, box, cpu, or a word of your own and the parts; not '%s'",
		   metric->kind);
}

static bool set_event(struct file *file, const struct line *line, void *field)
{
	struct metric *metric = file->metric;
	struct metric_event *event = &metric->event[metric->num_events];
	char *rest = format("%s", line->value), *name = next_word(&rest), *word = next_word(&rest);
	char *slash;
	int i;

	(void)field;
	if (metric->num_events == MAX_EVENTS)
		return bad(file, line->number, "too many events");
	if (!name || !is_name(name) || !strcmp(name, "seconds") || !word)
		return bad(file, line->number, "an event is NAME [sum|mean|max|min] PMU/TERMS/; "
			   "its name is of a-z, 0-9, _, and not seconds");
	for (i = REDUCE_SUM; i <= REDUCE_MIN && strcmp(word, reduce_names[i]); i++)
		;
	if (i <= REDUCE_MIN) {
		event->reduce = i;
		word = next_word(&rest);
	}
	slash = word ? strchr(word, '/') : NULL;
	if (!slash || slash == word || slash[1] == '/' || strchr(slash + 1, '/') !=
	    word + strlen(word) - 1)
		return bad(file, line->number, "'%s' is no event, which is PMU/TERMS/%s", word ?: "",
			   slash ? "" : ", and none of sum, mean, max, min");
	if (*rest)
		return bad(file, line->number, "'%s' is too much; a comment is a line of its own",
			   rest);
	for (i = 0; i < metric->num_events; i++) {
		if (!strcmp(metric->event[i].name, name))
			return bad(file, line->number, "there is an event '%s' already", name);
	}
	event->name = name;
	event->text = word;
	metric->num_events++;
	return true;
}

static bool set_flag(struct file *file, const struct line *line, void *field)
{
	*(char **)field = line->value;
	return !*line->value || bad(file, line->number, "'%s' is too much", line->value);
}

static bool set_range(struct file *file, const struct line *line, void *field)
{
	char *rest = format("%s", line->value), *word, *end;
	double *range = field;
	int i;

	for (i = 0; i < 2; i++) {
		word = next_word(&rest);
		range[i] = word ? strtod(word, &end) : 0;
		if (!word || *end || !isfinite(range[i]))
			break;
	}
	return (i == 2 && !*rest && range[0] <= range[1]) ||
	       bad(file, line->number, "'%s' is no range, which is LOWEST HIGHEST", line->value);
}

static bool set_name(struct file *file, const struct line *line, void *field)
{
	*(const char **)field = line->value;
	return check_name(file, line->number, line->value);
}

static bool set_formula(struct file *file, const struct line *line, void *field)
{
	char *text = format("%s", line->value), *colon = strchr(text, ':'), *error;

	if (field == &file->metric->valid) {
		if (!colon)
			return bad(file, line->number, "valid is CONDITION : REASON");
		*colon++ = 0;
		file->metric->valid_why = colon + strspn(colon, " \t");
		if (!*file->metric->valid_why)
			return bad(file, line->number, "there is no reason behind the colon");
	}
	error = formula_set(field, file->metric, text);
	return !error || bad(file, line->number, "the formula is wrong: %s", error);
}

char *family(const struct metric *metric)
{
	static const struct { const char *unit, *word; } units[] = {
		{ "%", "percent" }, { "B/s", "bytes_per_second" }, { "1/s", "per_second" },
		{ "MHz", "megahertz" },
	};
	const char *word = metric->unit;
	char *name, *c;
	unsigned int i;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (!strcmp(metric->unit, units[i].unit))
			word = units[i].word;
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
	struct metric **at = NULL;
	int i;

	if (!strcmp(family(metric), "perf_metrics_not_plausible"))
		return bad(file, metric->line, "'%s' means something else for Prometheus",
			   metric->name);
	for (i = 0; i < session->num_metrics; i++) {
		struct metric **old = &session->metric[i];
		const char *slash = strrchr((*old)->file, '/');
		size_t dir = slash ? slash - (*old)->file : 0;
		bool same = !strcmp((*old)->name, metric->name);

		if (!same && strcmp(family(*old), family(metric)))
			continue;
		if (!same || (!strncmp((*old)->file, metric->file, dir) &&
			      !strchr(metric->file + dir + 1, '/')))
			return bad(file, metric->line, "there is a metric of this name%s: %s:%d",
				   same ? "" : " for Prometheus", (*old)->file, (*old)->line);
		at = old;
	}
	*(at ?: append(session->metric, session->num_metrics)) = metric;
	return true;
}

/* Lines of a metric. Others have the word of the scope, and formulas have the events. */
static const struct word {
	const char *word;
	enum step { SCOPE, OTHERS, FORMULAS } step;
	size_t at;
	bool (*set)(struct file *file, const struct line *line, void *field);	/* NULL: a text */
	bool repeats;
} words[] = {
#define AT(field)	offsetof(struct metric, field)
	{ "scope", SCOPE, AT(kind), set_scope },
	{ "metric", OTHERS, AT(name), set_name },
	{ "help", OTHERS, AT(help) },
	{ "unit", OTHERS, AT(unit) },
	{ "event", OTHERS, AT(event), set_event, true },
	{ "apart", OTHERS, AT(apart), set_flag },
	{ "limit", OTHERS, AT(limit), set_range },
	{ "plausible", OTHERS, AT(plausible), set_range },
	{ "doubt", OTHERS, AT(doubt), NULL, true },
	{ "source", OTHERS, AT(source), NULL, true },
	{ "formula", FORMULAS, AT(formula), set_formula },
	{ "valid", FORMULAS, AT(valid), set_formula },
};

static const struct word *word_of(const struct line *line)
{
	unsigned int i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!strcmp(words[i].word, line->word))
			return &words[i];
	}
	return NULL;
}

static bool set_line(struct file *file, const struct line *lines, int i)
{
	const struct word *word = word_of(&lines[i]);
	const char *brace, *kind = file->metric->kind;
	char **text;
	int j;

	for (j = 0; j < i && strcmp(lines[j].word, lines[i].word); j++)
		;
	if (j < i && word && !word->repeats)
		return bad(file, lines[i].number, "there is a line '%s' already", word->word);
	/* By now every word in braces is replaced, but for that of the scope. */
	for (brace = strchr(lines[i].value, '{'); brace; brace = strchr(brace + 1, '{')) {
		if ((!word || word->step != SCOPE) && (!file->metric->num_parts ||
		    strncmp(brace, format("{%s}", kind), strlen(kind) + 2)))
			return bad(file, lines[i].number, "'%s' is of no scope and no line 'for'",
				   brace);
	}
	if (!word)
		return bad(file, lines[i].number, "'%s' is nothing a metric has", lines[i].word);
	text = (void *)((char *)file->metric + word->at);
	if (word->set)
		return word->set(file, &lines[i], text);
	*text = *text && **text ? format("%s\n%s", *text, lines[i].value) : lines[i].value;
	return true;
}

/* What is wrong with a metric leaves nothing of it behind but memory. */
static bool make_metric(struct file *file, const struct line *lines, int num)
{
	struct metric *metric = file->metric = allocate(sizeof(*metric));
	const struct word *word;
	enum step step;
	int i;

	metric->group = file->group;
	metric->file = format("%s", file->path);
	metric->line = lines[0].number;
	metric->help = metric->unit = "";
	metric->kind = "package";
	metric->limit[0] = metric->plausible[0] = -INFINITY;
	metric->limit[1] = metric->plausible[1] = INFINITY;
	for (step = SCOPE; step <= FORMULAS; step++) {
		for (i = 0; i < num; i++) {
			word = word_of(&lines[i]);
			if ((word ? word->step : OTHERS) == step && !set_line(file, lines, i))
				return false;
		}
		if (step == OTHERS && !metric->num_events)
			return bad(file, metric->line, "metric '%s' has no event", metric->name);
	}
	if (!metric->formula.text)
		return bad(file, metric->line, "metric '%s' has no formula", metric->name);
	for (i = 0; i < metric->num_events; i++) {
		if (!(metric->used >> i & 1))
			return bad(file, metric->line, "no formula has event '%s'",
				   metric->event[i].name);
	}
	if (!*metric->help)
		metric->help = metric->name;
	return add(file, metric);
}

/* The lines of a metric, once for each value of its "for". */
static void end_of_metric(struct file *file)
{
	struct line lines[MAX_LINES] = {}, copy[MAX_LINES] = {};
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

static void end_of_group(struct file *file)
{
	end_of_metric(file);
	if (file->group && *file->group->name && !file->metrics)
		bad(file, 0, "group '%s' has no metric", file->group->name);
	file->metrics = 0;
}

static void begin_group(struct file *file, char *name)
{
	file->group = allocate(sizeof(*file->group));
	file->group->name = name;
	file->group->help = "";
	*append(file->session->group, file->session->num_groups) = file->group;
}

static bool set_machines(struct file *file, int number, char *text)
{
	char *rest = format("%s", text), *word;
	int end;

	file->group->machines = text;
	while ((word = next_word(&rest))) {
		end = 0;
		if (sscanf(word, "%*2[0-9a-f]_%*2[0-9a-f]%n", &end) < 0 || end != 5 || word[5])
			return bad(file, number, "'%s' is no machine, which is as 06_2e", word);
	}
	return *text || bad(file, number, "no machine");
}

/* All of it is printed, as JSON and elsewhere. */
static bool is_text(const char *text)
{
	json_t *json = json_string(text);
	bool good = json;

	json_decref(json);
	/* U+0080 to U+009F are control characters, too. */
	for (; *text; text++)
		good &= (*text == '\t' || !iscntrl((unsigned char)*text)) &&
			!(text[0] == '\xc2' && (unsigned char)text[1] < 0xa0);
	return good;
}

static bool read_line(struct file *file, int number, char *text, size_t len)
{
	char *word;

	if (len && text[len - 1] == '\n')
		text[--len] = 0;
	if (len && text[len - 1] == '\r')
		return bad(file, number, "the line ends as those of Windows do");
	if (number == 1 && !strncmp(text, "\xef\xbb\xbf", 3)) {
		bad(file, number, "the file begins with a byte order mark");
		text += 3;
		len -= 3;
	}
	if (strlen(text) != len || !is_text(text))
		return bad(file, number, "this is no text in UTF-8");
	text = format("%s", text);
	word = next_word(&text);
	if (!word || word[0] == '#')
		return true;
	if (!strcmp(word, "group")) {
		end_of_group(file);
		begin_group(file, text);
		return check_name(file, number, text);
	}
	if (!file->group) {
		begin_group(file, "");
		return bad(file, number, "a file begins with a line 'group NAME', not with '%s'",
			   word);
	}
	if (!strcmp(word, "metric")) {
		end_of_metric(file);
		file->metrics++;
	} else if (!file->num_lines) {
		if (!strcmp(word, "help") && !*file->group->help)
			file->group->help = text;
		else if (!strcmp(word, "machine") && !file->group->machines)
			return set_machines(file, number, text);
		else
			return bad(file, number, "'%s' is nothing a group has, or has twice", word);
		return true;
	}
	if (file->num_lines == MAX_LINES)
		return bad(file, number, "a metric has no more than 64 lines");
	file->line[file->num_lines++] = (struct line){ number, word, text };
	return true;
}

int file_read(struct session *session, const char *path)
{
	struct file file = { .session = session, .path = path };
	char *text = NULL;
	size_t size = 0;
	int number = 0, fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	struct stat st;
	ssize_t len;

	if (!f || fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		bad(&file, 0, "%s", f ? "this is no file" : strerror(errno));
		if (f)
			fclose(f);
		return file.errors;
	}
	while ((len = getline(&text, &size, f)) >= 0)
		read_line(&file, ++number, text, len);
	if (ferror(f))
		bad(&file, number, "%s", strerror(errno));
	end_of_group(&file);
	if (!file.group)
		bad(&file, 0, "there is no group");
	free(text);
	fclose(f);
	return file.errors;
}

static int is_metric_file(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return entry->d_name[0] != '.' && dot && !strcmp(dot, ".metric");
}

/* Returns the number of errors. Who names a directory wants what is in it. */
static int dir_read(struct session *session, const char *dir)
{
	struct dirent **list = NULL;
	int num = scandir(dir, &list, is_metric_file, alphasort), i, errors = 0;

	if (num < 0 && getenv("PERF_METRICS_PATH")) {
		warn("%s: %s", dir, strerror(errno));
		errors++;
	}
	for (i = 0; i < num; i++) {
		errors += file_read(session, format("%s/%s", dir, list[i]->d_name));
		free(list[i]);
	}
	free(list);
	return errors;
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
	char *dirs = directories(), *dir;
	int errors = 0;

	if (!*dirs)
		return fail(STATUS_USAGE, "PERF_METRICS_PATH names no directory");
	while ((dir = strsep(&dirs, ":"))) {
		if (*dir)
			errors += dir_read(session, dir);
	}
	if (errors)
		return fail(STATUS_USAGE, "metric files are wrong, see above");
	return session->num_metrics ? 0 :
	       fail(STATUS_USAGE, "there are no metric files in %s", directories());
}

char *file_find(const char *name)
{
	char *dirs = directories(), *dir, *found = NULL;

	while ((dir = strsep(&dirs, ":"))) {
		char *path = format("%s/%s", dir, name);

		if (*dir && !access(path, R_OK))
			found = path;
	}
	return found;
}
