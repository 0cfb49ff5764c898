// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rules: lines of metric files that say when a value means something. See
 * Documentation/man/perf-metrics.5.
 *
 * Functions return what is wrong, or NULL.
 */
#include <stdlib.h>
#include <string.h>

#include "rule.h"

const char * const rule_of_names[] = {
	[OF_HERE] = "here", [OF_MEAN] = "mean", [OF_MAX] = "max", [OF_MIN] = "min",
	[OF_PACKAGE] = "package", [OF_PEER] = "peer", [OF_LIMIT] = "limit",
};

bool metric_has_cells(const struct metric *metric)
{
	return metric->scope == SCOPE_BOX || metric->scope == SCOPE_PART;
}

/* What a sentence has of a place. */
static const char * const places[] = { "package", "box", "link", "peer", "others" };

static bool is_place(const char *name, size_t len)
{
	unsigned int p;

	for (p = 0; p < sizeof(places) / sizeof(places[0]); p++) {
		if (strlen(places[p]) == len && !strncmp(places[p], name, len))
			return true;
	}
	return false;
}

/* A name of a variable, and what follows it. */
static const char *add_value(struct rule *rule, char *name, enum rule_of of, char *text,
			     const char *rest)
{
	struct rule_value *value = &rule->value[rule->num_values];
	int i;

	if (rule->num_values == MAX_RULE_VALUES)
		return "too many values";
	if (!name || check_word(name) || !text || *rest)
		return of == OF_LIMIT ? "a limit is NAME KIND" :
		       "a value is NAME [mean|max|min|package|peer] METRIC";
	/* It is a label for Prometheus. */
	if (of == OF_LIMIT && check_word(text))
		return check_word(text);
	if (is_place(name, strlen(name)))
		return format("{%s} is of the place, so no value has this name", name);
	for (i = 0; i < rule->num_values; i++) {
		if (!strcmp(rule->value[i].name, name))
			return format("there is a value '%s' already", name);
	}
	*value = (struct rule_value){ name, of, text };
	rule->num_values++;
	return NULL;
}

static const char *set_value(struct rule *rule, char *text)
{
	char *name = next_word(&text), *word = next_word(&text);
	enum rule_of of;

	for (of = OF_PEER; of && word && strcmp(word, rule_of_names[of]); of--)
		;
	if (of && word)
		word = next_word(&text);
	return add_value(rule, name, of, word, text);
}

static const char *set_limit(struct rule *rule, char *text)
{
	char *name = next_word(&text), *kind = next_word(&text);

	return add_value(rule, name, OF_LIMIT, kind, text);
}

static const char *parse(struct rule *rule, struct formula *formula, unsigned int *used,
			 char *text)
{
	const char *names[MAX_RULE_VALUES];
	int i;

	if (!rule->num_values || rule->value[0].of != OF_HERE)
		return "a rule begins with the value of the place that is judged: "
		       "value NAME METRIC";
	for (i = 0; i < rule->num_values; i++)
		names[i] = rule->value[i].name;
	return formula_parse(formula, names, rule->var, rule->num_values, used, text);
}

static const char *set_when(struct rule *rule, char *text)
{
	return parse(rule, &rule->when, &rule->used, text);
}

static const char *set_share(struct rule *rule, char *text)
{
	return parse(rule, &rule->share, &rule->used_share, text);
}

/* Each word in braces is a value, or something that a place has. */
static const char *check_sentence(const struct rule *rule, const char *text)
{
	const char *brace, *end;
	int i;

	for (brace = strchr(text, '{'); brace; brace = strchr(end, '{')) {
		size_t len = strcspn(++brace, "}");

		end = brace + len;
		for (i = 0; i < rule->num_values && (strlen(rule->value[i].name) != len ||
		     strncmp(rule->value[i].name, brace, len)); i++)
			;
		if (i == rule->num_values && !is_place(brace, len))
			return format("'%.*s' is no value of the rule, and none of package, box, "
				      "link, peer, others", (int)len, brace);
	}
	return *text ? NULL : "there is no sentence";
}

static const char *set_says(struct rule *rule, char *text)
{
	rule->says = text;
	return check_sentence(rule, text);
}

static const char *set_also(struct rule *rule, char *text)
{
	struct also *also = &rule->also[rule->num_also];
	char *colon = strchr(text, ':');

	if (rule->num_also == MAX_ALSO)
		return "too many lines 'also'";
	if (!colon)
		return "also is CONDITION : SENTENCE";
	*colon++ = 0;
	also->text = colon + strspn(colon, " \t");
	rule->num_also++;
	return parse(rule, &also->when, &also->used, text) ?: check_sentence(rule, also->text);
}

static const char *set_help(struct rule *rule, char *text)
{
	rule->help = text;
	return NULL;
}

static const char *set_page(struct rule *rule, char *text)
{
	rule->page = text;
	return !*text || strpbrk(text, " \t") ? "a page is one word" : NULL;
}

static const char *set_packages(struct rule *rule, char *text)
{
	char *end;

	rule->packages = strtol(text, &end, 10);
	return *end || rule->packages < 2 ? "packages is a number from 2 on" : NULL;
}

static const char *set_doubt(struct rule *rule, char *text)
{
	if (!*text)
		return "there is no doubt";
	rule->doubt = rule->doubt ? format("%s\n%s", rule->doubt, text) : text;
	return NULL;
}

/* Formulas and sentences have the values, so these come first. */
static const struct word {
	const char *word;
	const char *(*set)(struct rule *rule, char *text);
	bool late, repeats;
} words[] = {
	{ "help", set_help }, { "value", set_value, .repeats = true },
	{ "limit", set_limit, .repeats = true }, { "page", set_page }, { "packages", set_packages },
	{ "doubt", set_doubt, .repeats = true }, { "if", set_when, true },
	{ "share", set_share, true }, { "says", set_says, true }, { "also", set_also, true, true },
};

static const struct word *word_of(const char *text)
{
	unsigned int i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!strcmp(words[i].word, text))
			return &words[i];
	}
	return NULL;
}

static const char *set_line(struct rule *rule, const struct line *lines, int i, bool late)
{
	const struct word *word = word_of(lines[i].word);
	int j;

	if (!word)
		return format("'%s' is nothing a rule has", lines[i].word);
	if (word->late != late)
		return NULL;
	for (j = 1; j < i && !word->repeats; j++) {
		if (!strcmp(lines[j].word, word->word))
			return format("there is a line '%s' already", word->word);
	}
	return word->set(rule, format("%s", lines[i].value));
}

/* What its lines together lack. */
static const char *complete(struct session *session, struct rule *rule)
{
	const char *lacks = !rule->when.text ? "if" : !rule->share.text ? "share" :
			    !rule->says ? "says" : NULL;
	unsigned int used = rule->used | rule->used_share;
	char *texts = rule->says;
	struct rule **at = NULL;
	int i;

	if (lacks)
		return format("rule '%s' has no line '%s'", rule->name, lacks);
	for (i = 0; i < rule->num_also; i++) {
		used |= rule->also[i].used;
		texts = format("%s%s", texts, rule->also[i].text);
	}
	for (i = 0; i < rule->num_values; i++) {
		if (!(used >> i & 1) && !strstr(texts, format("{%s}", rule->value[i].name)))
			return format("value '%s' is not used", rule->value[i].name);
	}
	for (i = 0; i < session->num_rules; i++) {
		struct rule *old = session->rule[i];

		if (strcmp(old->name, rule->name))
			continue;
		if (same_directory(old->file, rule->file))
			return format("there is a rule of this name: %s:%d", old->file, old->line);
		at = &session->rule[i];
	}
	*(at ?: append(session->rule, session->num_rules)) = rule;
	return NULL;
}

int rule_make(struct session *session, struct group *group, const char *path,
	      const struct line *lines, int num)
{
	struct rule *rule = allocate(sizeof(*rule));
	const char *error;
	int late, i;

	rule->name = rule->help = lines[0].value;
	rule->group = group;
	rule->file = format("%s", path);
	rule->line = lines[0].number;
	error = check_word(rule->name);
	if (!strcmp(rule->name, "any"))
		error = "--fail-on any is all rules, so no rule has this name";
	if (error)
		return bad_line(path, rule->line, error);
	for (late = 0; late <= 1; late++) {
		for (i = 1; i < num; i++) {
			error = set_line(rule, lines, i, late);
			if (error)
				return bad_line(path, lines[i].number, error);
		}
	}
	return bad_line(path, rule->line, complete(session, rule));
}

/* ---- the metrics of rules ---- */

bool rules_complete(const struct session *session)
{
	int r, i;

	for (r = 0; r < session->num_rules; r++) {
		const struct rule *rule = session->rule[r];

		for (i = 0; i < rule->num_values; i++) {
			if (rule->value[i].of != OF_LIMIT && !metric_named(session, rule->value[i].text))
				return false;
		}
	}
	return true;
}

static const char *check_value(const struct rule *rule, const struct rule_value *value)
{
	const struct metric *place = rule->value[0].metric, *metric = value->metric;

	if (value->of == OF_LIMIT)
		return NULL;
	if (!metric)
		return format("there is no metric '%s'", value->text);
	if (value->of >= OF_MEAN && value->of <= OF_MIN && !metric_has_cells(metric))
		return format("%s has one value in a package, so it has no %s", metric->name,
			      rule_of_names[value->of]);
	if (value->of == OF_PEER && strcmp(place->kind, "port"))
		return format("%s is not of ports, so no peer is known", place->name);
	if (value->of == OF_HERE && metric_has_cells(metric) &&
	    (!metric_has_cells(place) || strcmp(metric->kind, place->kind)))
		return format("%s has its values elsewhere than %s: mean, max, min or package?",
			      metric->name, place->name);
	return NULL;
}

int rules_resolve(struct session *session, const struct session *others)
{
	int errors = 0, r, i;

	for (r = 0; r < session->num_rules; r++) {
		struct rule *rule = session->rule[r];
		const char *error = NULL;

		for (i = 0; i < rule->num_values && !error; i++) {
			struct rule_value *value = &rule->value[i];

			if (value->of != OF_LIMIT)
				value->metric = metric_named(session, value->text) ?: others ?
						metric_named(others, value->text) : NULL;
			error = check_value(rule, value);
		}
		if (error)
			errors += bad_line(rule->file, rule->line,
					   format("rule '%s': %s", rule->name, error));
	}
	return errors;
}

/* ---- what there is ---- */

void rule_print(const struct rule *rule)
{
	int i;

	printf("%s\n", rule->name);
	print_item("help", rule->help);
	print_item("group", rule->group->name);
	for (i = 0; i < rule->num_values; i++) {
		const struct rule_value *value = &rule->value[i];

		print_item(value->of == OF_LIMIT ? "limit" : "value",
			   format("%s = %s%s%s", value->name, value->of == OF_HERE ||
				  value->of == OF_LIMIT ? "" : rule_of_names[value->of],
				  value->of == OF_HERE || value->of == OF_LIMIT ? "" : " of ",
				  value->text));
	}
	print_item("packages", rule->packages ? format("%d or more", rule->packages) : NULL);
	print_item("if", rule->when.text);
	print_item("share", rule->share.text);
	print_item("says", rule->says);
	for (i = 0; i < rule->num_also; i++)
		print_item("also", format("%s: %s", rule->also[i].when.text, rule->also[i].text));
	print_item("doubt", rule->doubt);
	print_item("page", rule->page);
	print_item("file", format("%s:%d", rule->file, rule->line));
}

json_t *rule_json(const struct rule *rule)
{
	json_t *values = json_array();
	int i;

	for (i = 0; i < rule->num_values; i++) {
		const struct rule_value *value = &rule->value[i];

		json_array_append_new(values, json_pack(
			"{ss ss ss ss? ss? sb}", "name", value->name, "of",
			rule_of_names[value->of], "metric", value->text, "family",
			value->metric ? value->metric->family : NULL, "unit",
			value->metric ? value->metric->unit : NULL, "cells",
			value->metric && metric_has_cells(value->metric)));
	}
	return json_pack("{ss ss ss? ss si so ss ss ss ss? ss?}", "rule", rule->name, "group",
			 rule->group->name, "machine", rule->group->machines, "help", rule->help,
			 "packages", rule->packages, "values", values, "if", rule->when.text,
			 "share", rule->share.text,
			 "says", rule->says, "doubt", rule->doubt, "page", rule->page);
}
