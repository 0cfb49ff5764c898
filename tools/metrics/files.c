// SPDX-License-Identifier: GPL-2.0-only
/*
 * Metric files, see Documentation/man/perf-metrics.5.
 *
 * A line is a word and what it is set to. "metric" begins a metric, which goes on to the
 * next one. Its lines are kept as they are until it is complete, because a line "for"
 * makes several metrics of one. muParser computes the formulas.
 *
 * Functions return what is wrong, or NULL.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <jansson.h>
#include <math.h>
#include <muParserDLL.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rule.h"

#ifndef DATADIR
#define DATADIR "/usr/share/perf-metrics"
#endif

#define MAX_LINES	64	/* of a metric */

struct file {
	struct session *session;
	const char *path;
	int errors;			/* of whole metrics and groups */
	struct group *group;
	int metrics;			/* of this group */
	struct line line[MAX_LINES];	/* of the metric that is being read */
	int num_lines;
};

int bad_line(const char *path, int line, const char *error)
{
	if (error)
		fprintf(stderr, "%s:%s %s\n", path, line ? format("%d:", line) : "", error);
	return !!error;
}

const char * const reduce_names[] = { "sum", "mean", "max", "min" };

#define LETTERS "abcdefghijklmnopqrstuvwxyz0123456789_"

const char *check_word(const char *text)
{
	return *text && !text[strspn(text, LETTERS)] && !isdigit((unsigned char)*text) ? NULL :
	       format("'%s' is no name: those are of a-z, 0-9, _", text);
}

static const char *check_name(const char *text)
{
	return mode_of(text) ? format("'%s' means something else already", text) : check_word(text);
}

bool is_place_name(const char *word)
{
	return *word && !word[strspn(word, LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZ")];
}

static bool is_part(const struct metric *metric, const char *word)
{
	int i;

	for (i = 0; i < metric->num_parts && strcmp(metric->part[i], word); i++)
		;
	return i == metric->num_parts && is_place_name(word);
}

static const char *set_scope(struct metric *metric, char *value, void *field)
{
	static const char * const kinds[] = { "package", "box", "cpu" };
	char *rest = format("%s", value), *word = next_word(&rest);
	unsigned int i;

	(void)field;
	if (!word)
		return "no scope";
	metric->kind = word;
	while ((word = next_word(&rest))) {
		if (metric->num_parts == MAX_PARTS)
			return "too many parts";
		if (!is_part(metric, word))
			return format("'%s' is no part: a-z, A-Z, 0-9, _, and each once", word);
		metric->part[metric->num_parts++] = word;
	}
	metric->scope = SCOPE_PART;
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && !metric->num_parts; i++) {
		if (!strcmp(metric->kind, kinds[i]))
			metric->scope = i;
	}
	return check_word(metric->kind) ?: metric->num_parts || metric->scope != SCOPE_PART ? NULL :
	       format("scope is package, box, cpu, or a word of your own and the parts; not '%s'",
		      metric->kind);
}

static const char *set_event(struct metric *metric, char *value, void *field)
{
	struct metric_event *event = &metric->event[metric->num_events];
	char *rest = format("%s", value), *name = next_word(&rest), *word = next_word(&rest);
	char *slash;
	int i;

	(void)field;
	if (metric->num_events == MAX_EVENTS)
		return "too many events";
	if (!name || check_word(name) || !strcmp(name, "seconds") || !word)
		return "an event is NAME [sum|mean|max|min] PMU/TERMS/; "
		       "its name is of a-z, 0-9, _, and not seconds";
	for (i = REDUCE_SUM; i <= REDUCE_MIN && strcmp(word, reduce_names[i]); i++)
		;
	if (i <= REDUCE_MIN) {
		event->reduce = i;
		word = next_word(&rest);
	}
	slash = word ? strchr(word, '/') : NULL;
	if (!slash || slash == word || slash[1] == '/' || strchr(slash + 1, '/') !=
	    word + strlen(word) - 1)
		return format("'%s' is no event, which is PMU/TERMS/%s", word ?: "",
			      slash ? "" : ", and none of sum, mean, max, min");
	if (*rest)
		return format("'%s' is too much; a comment is a line of its own", rest);
	for (i = 0; i < metric->num_events; i++) {
		if (!strcmp(metric->event[i].name, name))
			return format("there is an event '%s' already", name);
	}
	event->name = name;
	event->text = word;
	metric->num_events++;
	return NULL;
}

static const char *set_flag(struct metric *metric, char *value, void *field)
{
	(void)metric;
	*(char **)field = value;
	return *value ? format("'%s' is too much", value) : NULL;
}

static const char *set_range(struct metric *metric, char *value, void *field)
{
	char *rest = format("%s", value), *word, *end;
	double *range = field;
	int i;

	(void)metric;
	for (i = 0; i < 2; i++) {
		word = next_word(&rest);
		range[i] = word ? strtod(word, &end) : 0;
		if (!word || *end || !isfinite(range[i]))
			break;
	}
	return i == 2 && !*rest && range[0] <= range[1] ? NULL :
	       format("'%s' is no range, which is LOWEST HIGHEST", value);
}

static const char *set_name(struct metric *metric, char *value, void *field)
{
	(void)field;
	metric->name = value;
	return check_name(value);
}

/* ---- formulas ---- */

static void formula_error(muParserHandle_t parser)
{
	/* mupError() tells; muParser would print it otherwise. */
	(void)parser;
}

/* That it asks for an error takes it away. */
static const char *parser_error(muParserHandle_t parser)
{
	return mupError(parser) ? format("%s", mupGetErrorMsg(parser)) : NULL;
}

/* muParser can also set variables, which no formula has to. */
static bool assigns(const char *text)
{
	const char *at;

	for (at = strchr(text, '='); at; at = strchr(at + 1, '=')) {
		if (at[1] == '=')
			at++;
		else if (at == text || !strchr("<>!", at[-1]))
			return true;
	}
	return false;
}

const char *formula_parse(struct formula *formula, const char * const *names, double *vars,
			  int num_vars, unsigned int *used, char *text)
{
	muParserHandle_t parser = mupCreate(muBASETYPE_FLOAT);
	const char *error = assigns(text) ? "it sets a variable" : NULL, *name;
	int i, j, num = 1;
	double *var;

	mupSetErrorHandler(parser, formula_error);
	for (i = 0; i < num_vars && !error; i++) {
		vars[i] = 1;
		mupDefineVar(parser, names[i], &vars[i]);
		error = parser_error(parser);
	}
	if (!error) {
		/* What is wrong with it shows when it is evaluated once. */
		mupSetExpr(parser, text);
		mupEvalMulti(parser, &num);
		error = parser_error(parser) ?: num == 1 ? NULL : format("it has %d values", num);
	}
	if (error) {
		mupRelease(parser);
		return format("the formula is wrong: %s", error);
	}
	for (i = 0; i < mupGetExprVarNum(parser); i++) {
		mupGetExprVar(parser, i, &name, &var);
		for (j = 0; j < num_vars; j++)
			*used |= (var == &vars[j]) << j;
	}
	*formula = (struct formula){ text, parser };
	return NULL;
}

/* Over the variables of a metric, whose events are known. */
static const char *parse(struct formula *formula, struct metric *metric, char *text)
{
	const char *names[MAX_EVENTS + 1];
	int i;

	for (i = 0; i < metric->num_events; i++)
		names[i] = metric->event[i].name;
	names[i] = "seconds";
	return formula_parse(formula, names, metric->var, i + 1, &metric->used, text);
}

static const char *set_formula(struct metric *metric, char *value, void *field)
{
	char *text = format("%s", value), *colon = strchr(text, ':');

	if (field == &metric->valid) {
		if (!colon)
			return "valid is CONDITION : REASON";
		*colon++ = 0;
		metric->valid_why = colon + strspn(colon, " \t");
		if (!*metric->valid_why)
			return "there is no reason behind the colon";
	}
	return parse(field, metric, text);
}

double formula_value(const struct formula *formula)
{
	double value = mupEval(formula->parser);

	return mupError(formula->parser) ? NAN : value;
}

bool formula_true(const struct formula *formula)
{
	double value = formula_value(formula);

	return value && !isnan(value);
}

/* ---- lines and metrics ---- */

/* A name as Prometheus wants it: what is measured, then the unit in words. */
static char *family(const struct metric *metric)
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

bool same_directory(const char *a, const char *b)
{
	const char *slash = strrchr(a, '/');
	size_t dir = slash ? slash + 1 - a : 0;

	return !strncmp(a, b, dir) && !strchr(b + dir, '/');
}

/* A later directory may define a metric anew; in one directory there is one of a name. */
static const char *add(struct session *session, struct metric *metric)
{
	struct metric **at = NULL;
	int i;

	static const char * const taken[] = { "not_plausible", "not_available", "multiplexed", "limit" };
	unsigned int t;

	metric->family = family(metric);
	for (t = 0; t < sizeof(taken) / sizeof(taken[0]); t++) {
		if (!strcmp(metric->family + strlen("perf_metrics_"), taken[t]))
			return format("'%s' means something else for Prometheus", metric->name);
	}
	for (i = 0; i < session->num_metrics; i++) {
		struct metric **old = &session->metric[i];
		bool same = !strcmp((*old)->name, metric->name);

		if (!same && strcmp((*old)->family, metric->family))
			continue;
		if (!same || same_directory((*old)->file, metric->file))
			return format("there is a metric of this name%s: %s:%d",
				      same ? "" : " for Prometheus", (*old)->file, (*old)->line);
		at = old;
	}
	*(at ?: append(session->metric, session->num_metrics)) = metric;
	return NULL;
}

/* Lines of a metric. Others have the word of the scope, and formulas have the events. */
static const struct word {
	const char *word;
	enum step { SCOPE, OTHERS, FORMULAS } step;
	size_t at;
	const char *(*set)(struct metric *metric, char *value, void *field);	/* NULL: a text */
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

static const char *set_line(struct metric *metric, const struct line *lines, int i)
{
	const struct word *word = word_of(&lines[i]);
	const char *brace, *part = format("{%s}", metric->kind);
	char **text, *value = lines[i].value;
	int j;

	for (j = 0; j < i && strcmp(lines[j].word, lines[i].word); j++)
		;
	if (j < i && word && !word->repeats)
		return format("there is a line '%s' already", word->word);
	/* By now every word in braces is replaced, but for that of the scope. */
	for (brace = strchr(value, '{'); brace; brace = strchr(brace + 1, '{')) {
		if ((!word || word->step != SCOPE) &&
		    (!metric->num_parts || strncmp(brace, part, strlen(part))))
			return format("'%s' is of no scope and no line 'for'", brace);
	}
	if (!word)
		return format("'%s' is nothing a metric has", lines[i].word);
	text = (void *)((char *)metric + word->at);
	if (word->set)
		return word->set(metric, value, text);
	*text = *text && **text ? format("%s\n%s", *text, value) : value;
	return NULL;
}

/* What its lines together lack. */
static const char *complete(struct session *session, struct metric *metric)
{
	int i;

	if (!metric->num_events || !metric->formula.text)
		return format("metric '%s' has no %s", metric->name,
			      metric->num_events ? "formula" : "event");
	for (i = 0; i < metric->num_events; i++) {
		if (!(metric->used >> i & 1))
			return format("no formula has event '%s'", metric->event[i].name);
	}
	if (!*metric->help)
		metric->help = metric->name;
	return add(session, metric);
}

/* What is wrong leaves nothing of a metric or rule behind but memory. The number of errors. */
static int make_metric(const struct file *file, const struct line *lines, int num)
{
	struct metric *metric = allocate(sizeof(*metric));
	const struct word *word;
	const char *error;
	enum step step;
	int i;

	if (!strcmp(lines[0].word, "rule"))
		return rule_make(file->session, file->group, file->path, lines, num);
	metric->group = file->group;
	metric->file = format("%s", file->path);
	metric->line = lines[0].number;
	metric->help = metric->unit = "";
	metric->kind = "package";
	metric->limit[0] = metric->plausible[0] = -INFINITY;
	metric->limit[1] = metric->plausible[1] = INFINITY;
	/* Without events each formula is wrong. */
	for (step = SCOPE; step <= (metric->num_events ? FORMULAS : OTHERS); step++) {
		for (i = 0; i < num; i++) {
			word = word_of(&lines[i]);
			error = (word ? word->step : OTHERS) == step ? set_line(metric, lines, i) : NULL;
			if (error)
				return bad_line(file->path, lines[i].number, error);
		}
	}
	return bad_line(file->path, metric->line, complete(file->session, metric));
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
		file->errors += make_metric(file, copy, num);
		made++;
	}
	if (of && !made)
		file->errors += bad_line(file->path, lines[0].number,
				    "a metric has one line 'for WORD VALUE...'");
	else if (num && !of)
		file->errors += make_metric(file, lines, num);
	file->num_lines = 0;
}

static void end_of_group(struct file *file)
{
	end_of_metric(file);
	if (file->group && *file->group->name && !file->metrics)
		file->errors += bad_line(file->path, 0, format("group '%s' has no metric",
							  file->group->name));
	file->metrics = 0;
}

static void begin_group(struct file *file, char *name)
{
	file->group = allocate(sizeof(*file->group));
	file->group->name = name;
	file->group->help = "";
	*append(file->session->group, file->session->num_groups) = file->group;
}

static const char *set_machines(struct group *group, char *text)
{
	char *rest = format("%s", text), *word;
	int end;

	group->machines = text;
	while ((word = next_word(&rest))) {
		end = 0;
		if (sscanf(word, "%*2[0-9a-f]_%*2[0-9a-f]%n", &end) < 0 || end != 5 || word[5])
			return format("'%s' is no machine, which is as 06_2e", word);
	}
	return *text ? NULL : "no machine";
}

static const char *take_line(void *data, int number, char *word, char *text)
{
	struct file *file = data;

	if (!strcmp(word, "group")) {
		end_of_group(file);
		begin_group(file, text);
		return check_name(text);
	}
	if (!file->group) {
		begin_group(file, "");
		return format("a file begins with a line 'group NAME', not with '%s'", word);
	}
	if (!strcmp(word, "metric") || !strcmp(word, "rule")) {
		end_of_metric(file);
		file->metrics++;
	} else if (!file->num_lines) {
		if (!strcmp(word, "machine") && !file->group->machines)
			return set_machines(file->group, text);
		if (strcmp(word, "help") || *file->group->help)
			return format("'%s' is nothing a group has, or has twice", word);
		file->group->help = text;
		return NULL;
	}
	if (file->num_lines == MAX_LINES)
		return "a metric has no more than 64 lines";
	file->line[file->num_lines++] = (struct line){ number, word, text };
	return NULL;
}

/* ---- files ---- */

/* All of it is printed, as JSON and elsewhere. */
static const char *wrong_text(char *text, size_t len)
{
	json_t *json;
	bool good;

	if (len && text[len - 1] == '\n')
		text[--len] = 0;
	if (len && text[len - 1] == '\r')
		return "the line ends as those of Windows do";
	json = json_string(text);
	good = json && strlen(text) == len;
	json_decref(json);
	for (; *text; text++)
		good &= !control_at(text);
	return good ? NULL : "this is no text in UTF-8";
}

static const char *text_read(struct text *file)
{
	int fd = open(file->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	const char *error = "this is no file";
	struct stat st;
	char *text;

	if (!f)
		return strerror(errno);
	if (!fstat(fd, &st) && S_ISREG(st.st_mode)) {
		text = allocate(st.st_size + 1);
		file->size = fread(text, 1, st.st_size, f);
		error = ferror(f) ? strerror(errno) : NULL;
		file->text = error ? NULL : text;
	}
	fclose(f);
	return error;
}

int lines_read(struct text *file, take_fn *take, void *data)
{
	const char *path = file->path, *error = file->text ? NULL : text_read(file);
	int number = 0, errors = bad_line(path, 0, error), mark;
	FILE *f = error ? NULL : fmemopen((char *)file->text, file->size, "r");
	char *line = NULL, *text, *word;
	size_t size = 0;
	ssize_t len;

	while (f && (len = getline(&line, &size, f)) >= 0) {
		mark = !number++ && !strncmp(line, "\xef\xbb\xbf", 3) ? 3 : 0;
		errors += bad_line(path, number, mark ? "the file begins with a byte order mark" : NULL);
		error = wrong_text(line + mark, len - mark);
		text = format("%s", line + mark);
		word = next_word(&text);
		errors += bad_line(path, number, error ?: word && *word != '#' ?
			      take(data, number, word, text) : NULL);
	}
	free(line);
	if (f)
		fclose(f);
	return errors;
}

int file_read(struct session *session, struct text *text)
{
	const char *path = text->path;
	struct file file = { .session = session, .path = path };
	int errors = lines_read(text, take_line, &file);

	*append(session->text, session->num_texts) = *text;
	end_of_group(&file);
	return errors + file.errors + (errors || file.group ? 0 : bad_line(path, 0, "there is no group"));
}

static int is_metric_file(const struct dirent *entry)
{
	return !fnmatch("*.metric", entry->d_name, FNM_PERIOD);
}

/* Returns the number of errors. Who names a directory wants what is in it. */
static int dir_read(struct session *session, const char *dir)
{
	struct dirent **list = NULL;
	int num = scandir(dir, &list, is_metric_file, alphasort), i, errors = 0;

	if (num < 0 && getenv("PERF_METRICS_PATH"))
		errors = fail(1, "%s: %s", dir, strerror(errno));
	for (i = 0; i < num; i++) {
		errors += file_read(session, &(struct text){ format("%s/%s", dir, list[i]->d_name) });
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
	char *dir;
	int errors = 0;

	if (!*directories())
		return fail(STATUS_USAGE, "PERF_METRICS_PATH names no directory");
	for (dir = strtok(directories(), ":"); dir; dir = strtok(NULL, ":"))
		errors += dir_read(session, dir);
	errors += errors ? 0 : rules_resolve(session, NULL);
	if (errors)
		return fail(STATUS_USAGE, "metric files are wrong, see above");
	return session->num_metrics ? 0 :
	       fail(STATUS_USAGE, "there are no metric files in %s: install perf-metrics, or set "
		    "PERF_METRICS_PATH", directories());
}

char *file_find(const char *name)
{
	char *dir, *path, *found = NULL;

	for (dir = strtok(directories(), ":"); dir; dir = strtok(NULL, ":")) {
		path = format("%s/%s", dir, name);
		if (!access(path, F_OK))
			found = path;
	}
	return found;
}
