// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf metrics why: which rules hold, in sentences.
 *
 * A rule is judged at each place that its first value has. It is silent where one of the values
 * that its condition needs is n/a, not plausible, or was counted for a part of the time only; that
 * is said, too.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rule.h"

/* What has been counted for less is multiplexed; an interval does not end for all at once. */
#define WHOLE	0.99
/* The share of a limit above which the limit is wrong; a measured one is not exact. */
#define MOST	1.05

struct verdict {
	const struct rule *rule;
	const struct value *at;		/* the first value, which has the place */
	bool judged, holds;
	double share;
	char *text;			/* the sentence with {package}, or why it was not judged */
	char *number[MAX_RULE_VALUES];
	double value[MAX_RULE_VALUES];	/* NAN if there is none */
};

/* What an interval has come to. */
struct result {
	struct session *session;
	const struct value *values;
	int num_values;
	struct verdict *verdict;
	int num;
	int judged;
};

/* ---- what is asked for ---- */

/* Each word of --fail-on is a rule that is asked for, or any. */
static int check_fail_on(const struct session *session)
{
	char *rest = session->options.fail_on ? format("%s", session->options.fail_on) : NULL, *word;
	const struct rule *rule;

	while ((word = strsep(&rest, ","))) {
		rule = rule_named(session, word);
		if (strcmp(word, "any") && (!rule || !rule->asked))
			return fail(STATUS_USAGE, "--fail-on needs any, or rules with commas between "
				    "them; '%s' is none that is judged here: perf metrics list --rules",
				    word);
	}
	return 0;
}

/* A recording has some metrics, and then some rules. */
static bool is_possible(const struct session *session, const struct rule *rule)
{
	int i;

	for (i = 0; session->options.mode == REPORT && i < rule->num_values; i++) {
		if (rule->value[i].metric && !plan_has(&session->plan, rule->value[i].metric))
			return false;
	}
	return machine_is(session, rule->group->machines);
}

int why_ask_all(struct session *session)
{
	int r, asked = 0;

	for (r = 0; r < session->num_rules; r++) {
		session->rule[r]->asked = is_possible(session, session->rule[r]);
		asked += session->rule[r]->asked;
	}
	return asked;
}

int why_ask(struct session *session, char **names, int num)
{
	int r, i;

	for (i = 0; i < num; i++) {
		struct rule *rule = rule_named(session, names[i]);

		if (!rule)
			return unknown(session, names[i], !i);
		rule->asked = true;
	}
	if (!num && !why_ask_all(session))
		return fail(STATUS_FAILED, session->options.mode == REPORT ?
			    "the recording has not all metrics of any rule; without names perf metrics "
			    "record has them" :
			    "no rule is for this machine, which is %s: perf metrics status",
			    machine_name(session));
	for (r = 0; r < session->num_rules; r++) {
		struct rule *rule = session->rule[r];

		for (i = 0; rule->asked && i < rule->num_values; i++) {
			if (rule->value[i].of != OF_LIMIT)
				rule->value[i].metric->asked = true;
		}
	}
	return check_fail_on(session);
}

/* ---- values of a place ---- */

static const struct value *value_of(const struct result *result, const struct metric *metric,
				    int package, const char *cell)
{
	int i;

	for (i = 0; i < result->num_values; i++) {
		const struct value *value = &result->values[i];

		/* Where there is none at all, one says why; and of a command there is one. */
		if (value->metric == metric &&
		    (value->package < 0 || (value->package == package && !value->cell == !cell &&
					    (!cell || !strcmp(value->cell, cell)))))
			return value;
	}
	return NULL;
}

/* Returns why the value is not one to judge by, or NULL. */
static char *doubt_of(const struct value *value, double *number)
{
	if (!value)
		return "there is no such value";
	if (value->why || value->note)
		return value->why ?: value->note;
	if (value->running < WHOLE)
		return format("%s was counted for %.3g %% of the time. Ask for fewer rules by name, or "
			      "stop other counting programs: perf metrics status", value->metric->name,
			      floor(1000 * value->running) / 10);
	*number = value->value;
	return NULL;
}

bool is_absent(const struct session *session, const struct value *value)
{
	const struct metric *metric = value->metric;
	const char *number = value->cell ? strrchr(value->cell, '_') : NULL;
	int e, p;

	if (metric->scope == SCOPE_PART)
		return value->cell && value->absent;
	if (metric->scope != SCOPE_BOX || !number || value->package < 0)
		return false;
	for (e = 0; e < metric->num_events; e++) {
		size_t len = strcspn(metric->event[e].text, "/");
		bool numbered = false, there = false;

		for (p = 0; p < session->num_pmus; p++) {
			const struct pmu *pmu = &session->pmu[p];

			if (strlen(pmu->base) != len || strncmp(pmu->base, metric->event[e].text, len) ||
			    pmu->number < 0)
				continue;
			numbered = true;
			there |= pmu->number == atoi(number + 1) && pmu->cpu[value->package] >= 0;
		}
		if (numbered && !there)
			return true;
	}
	return false;
}

/* Of all places of a package. */
static char *reduced(const struct result *result, const struct rule_value *from, int package,
		     double *number)
{
	double all = 0, one = NAN;
	int num = 0, i;

	for (i = 0; i < result->num_values; i++) {
		const struct value *value = &result->values[i];
		char *why;

		if (value->metric != from->metric || value->package != package || !value->cell ||
		    is_absent(result->session, value))
			continue;
		why = doubt_of(value, &one);
		if (why)
			return format("%s: %s", value->scope, why);
		all = from->of == OF_MEAN ? all + one : !num ? one :
		      from->of == OF_MAX ? fmax(all, one) : fmin(all, one);
		num++;
	}
	*number = from->of == OF_MEAN ? all / num : all;
	return num ? NULL : doubt_of(value_of(result, from->metric, package, NULL), number) ?:
	       "there is no such value";
}

/* Where a link leads; empty if nobody has said, or it is no link. */
static const char *peer_name(const struct result *result, const struct value *at)
{
	int port;

	if (at->package < 0 || at->package >= MAP_PACKAGES || !at->cell ||
	    sscanf(at->cell, "qpi%d", &port) != 1 || port < 0 || port >= MAP_PORTS)
		return "";
	return result->session->topology->link[at->package][port].peer;
}

/* The package at the other end of a link, or -1. A name such as S1IOH is none. */
static int peer_of(const struct result *result, const struct value *at)
{
	const char *name = peer_name(result, at);
	int package, len;

	return sscanf(name, "S%d%n", &package, &len) == 1 && !name[len] ? package : -1;
}

/* Returns why there is no such value at this place, or NULL. */
static char *fetch(const struct result *result, const struct rule_value *from,
		   const struct value *at, double *number)
{
	const struct metric *metric = from->metric;
	bool cells = from->of == OF_HERE && metric_has_cells(metric);
	int package = from->of == OF_PEER ? peer_of(result, at) : at->package;
	const char *path = result->session->topology_file.path;
	const struct value *value;

	if (from->of == OF_LIMIT) {
		*number = limit_of(result->session, from->text, at->package, at->cell) ?: NAN;
		return !isnan(*number) ? NULL :
		       format("no limit of %s is known; measure one: perf metrics %s --per-box -- "
			      "PROGRAM, and write 'limit %s NUMBER' into %s", from->text,
			      at->metric->name, from->text, path ?: "a topology file, which perf "
			      "metrics status --topology makes");
	}
	if (from->of == OF_PEER && package < 0)
		return "no topology file says where the link leads";
	if (from->of >= OF_MEAN && from->of <= OF_MIN)
		return reduced(result, from, package, number);
	value = value_of(result, metric, package, cells ? at->cell : NULL);
	return value ? doubt_of(value, number) : format("%s has no value there", metric->name);
}

/* ---- sentences ---- */

/* As people call it: M-Box 0, QPI 1. */
static char *box_name(const char *cell)
{
	int number, len = 0;

	if (!cell)
		return "the package";
	if (sscanf(cell, "%*1[a-z]box_%d%n", &number, &len) == 1 && !cell[len])
		return format("%c-Box %d", cell[0] - 'a' + 'A', number);
	if (sscanf(cell, "qpi%d%n", &number, &len) == 1 && !cell[len])
		return format("QPI %d", number);
	return format("%s", cell);
}

/* The only other package, if there are two. */
static char *others(const struct session *session, int package)
{
	int p, other = -1;

	for (p = 0; p < session->packages; p++) {
		if (!session->online[p] || p == package)
			continue;
		if (other >= 0)
			return "other packages";
		other = p;
	}
	return other < 0 ? "other packages" : format("S%d", other);
}

static char *package_name(const struct value *at)
{
	return at->package >= 0 ? format("S%d", at->package) : "the command";
}

/* All but {package}, so that the sentences of two packages can be compared. */
static char *sentence(const struct result *result, const struct verdict *verdict, const char *text)
{
	const struct value *at = verdict->at;
	const char *peer = peer_name(result, at);
	char *package = package_name(at), *done = replaced(text, "box", box_name(at->cell));
	int i;

	done = replaced(done, "peer", *peer ? peer : "its other end");
	done = replaced(done, "others", others(result->session, *peer && strstr(text, "{peer}") ?
						peer_of(result, at) : at->package));
	done = replaced(done, "link", *peer ? format("%s to %s (%s)", package, peer, at->cell ?: "") :
			format("%s %s", package, at->cell ?: ""));
	for (i = 0; i < verdict->rule->num_values; i++)
		done = replaced(done, verdict->rule->value[i].name, verdict->number[i] ?: "n/a");
	return done;
}

/* ---- rules ---- */

/* Why a formula cannot be computed, or NULL; why has a text for each value that is missing. */
static char *missing_text(unsigned int missing, char **why, const struct formula *formula)
{
	return missing ? why[__builtin_ctz(missing)] : isfinite(formula_value(formula)) ? NULL :
	       "its formula has no value for what was counted";
}

/* A share of a limit that is more than the limit tells something of the limit only. */
static char *wrong_limit(const struct verdict *verdict)
{
	const struct rule *rule = verdict->rule;
	int i;

	for (i = 0; i < rule->num_values && verdict->share > MOST; i++) {
		if (rule->value[i].of == OF_LIMIT && rule->used_share >> i & 1)
			return format("more was counted than the limit '%s', %s, so that limit is wrong",
				      rule->value[i].text, verdict->number[i]);
	}
	return NULL;
}

/* More digits than three are not known. */
static char *short_text(double number, const char *unit)
{
	return number_text(strtod(format("%.2e", number), NULL), unit);
}

static void judge(struct result *result, struct rule *rule, const struct value *at)
{
	struct verdict *verdict = append(result->verdict, result->num);
	char *why[MAX_RULE_VALUES] = {};
	unsigned int missing = 0;
	int i, packages = 0;

	for (i = 0; i < result->session->packages; i++)
		packages += result->session->online[i];
	*verdict = (struct verdict){ rule, at, .judged = packages < rule->packages };
	result->judged += verdict->judged;
	if (verdict->judged)
		return;
	for (i = 0; i < rule->num_values; i++) {
		const struct rule_value *from = &rule->value[i];
		double *number = &verdict->value[i];

		*number = NAN;
		why[i] = fetch(result, from, at, number);
		missing |= !!isnan(*number) << i;
		rule->var[i] = isnan(*number) ? 0 : *number;
		if (!isnan(*number))
			verdict->number[i] = short_text(*number, from->metric ? from->metric->unit :
							rule->value[0].metric->unit);
	}
	verdict->text = missing_text(missing & rule->used, why, &rule->when);
	if (!verdict->text && formula_value(&rule->when)) {
		/* How bad it is matters where it holds. */
		verdict->text = missing_text(missing & rule->used_share, why, &rule->share);
		verdict->share = formula_value(&rule->share);
		verdict->text = verdict->text ?: wrong_limit(verdict);
		verdict->holds = !verdict->text;
		verdict->share = verdict->holds ? verdict->share : 0;
	}
	verdict->judged = !verdict->text;
	result->judged += verdict->judged;
	if (!verdict->holds)
		return;
	verdict->text = sentence(result, verdict, rule->says);
	for (i = 0; i < rule->num_also; i++) {
		if (!(missing & rule->also[i].used) && formula_true(&rule->also[i].when))
			verdict->text = format("%s%s", verdict->text,
					       sentence(result, verdict, rule->also[i].text));
	}
}

/* Worst first; what is as bad in the order of files and places, which is that of pointers. */
static int by_share(const void *a, const void *b)
{
	const struct verdict *x = a, *y = b;

	if (x->share != y->share)
		return x->share < y->share ? 1 : -1;
	return x->rule != y->rule ? strcmp(x->rule->name, y->rule->name) :
	       (x->at > y->at) - (x->at < y->at);
}

static void judge_all(struct result *result)
{
	const struct session *session = result->session;
	int r, i;

	for (r = 0; r < session->num_rules; r++) {
		struct rule *rule = session->rule[r];
		const struct metric *metric = rule->value[0].metric;

		for (i = 0; rule->asked && i < result->num_values; i++) {
			const struct value *at = &result->values[i];

			if (at->metric == metric && !is_absent(session, at) &&
			    (at->package < 0 || !at->cell == !metric_has_cells(metric)))
				judge(result, rule, at);
		}
	}
	if (result->num)
		qsort(result->verdict, result->num, sizeof(*result->verdict), by_share);
}

/* ---- output ---- */

/*
 * What a rule says of a place, in one sentence with all other places of which it says the same. NULL
 * if that has been said with an earlier one.
 */
static char *said(const struct result *result, int i)
{
	const struct verdict *one = &result->verdict[i];
	int named[MAX_PACKAGES + 1] = {};
	char *places = NULL;
	int j;

	for (j = 0; j < result->num; j++) {
		const struct verdict *same = &result->verdict[j];

		if (same->judged != one->judged || same->holds != one->holds ||
		    same->rule != one->rule || strcmp(same->text, one->text))
			continue;
		if (j < i)
			return NULL;
		if (!one->holds || !named[same->at->package + 1]++)
			places = format("%s%s%s", places ?: "", places ? ", " : "", one->holds ?
					package_name(same->at) : same->at->scope);
	}
	return one->holds ? replaced(one->text, "package", places) :
	       format("%s of %s: %s", one->rule->name, places, one->text);
}

/* What there is to say if no rule holds, or NULL. */
static const char *nothing_text(const struct result *result)
{
	int i;

	for (i = 0; i < result->num; i++) {
		if (result->verdict[i].holds)
			return NULL;
	}
	return !result->judged ? "nothing could be judged" : result->judged == result->num ?
	       "nothing is near a limit" : "of what was judged, nothing is near a limit";
}

static void print_text(const struct result *result, double time)
{
	char *text;
	int i, j;

	print_time(time, result->session->results > 1);
	for (i = 0; i < result->num; i++) {
		const struct verdict *verdict = &result->verdict[i];

		text = verdict->holds ? said(result, i) : NULL;
		if (!text)
			continue;
		print_wrapped(text, 0);
		/* What is to be known of a rule is said once. */
		for (j = 0; j < i && result->verdict[j].rule != verdict->rule; j++)
			;
		if (j < i)
			continue;
		if (verdict->rule->doubt) {
			printf("    doubt: ");
			print_wrapped(verdict->rule->doubt, 11);
		}
		if (verdict->rule->page)
			printf("    see: %s%s\n", verdict->rule->page,
			       !strncmp(verdict->rule->page, "Documentation/", 14) ?
			       " (package xeon7500-pmu-doc)" : "");
	}
	if (nothing_text(result))
		printf("%s\n", nothing_text(result));
	for (i = 0; i < result->num; i++) {
		text = result->verdict[i].judged ? NULL : said(result, i);
		if (!text)
			continue;
		printf("not judged: ");
		print_wrapped(text, 12);
	}
}

static json_t *values_json(const struct verdict *verdict)
{
	json_t *values = json_object();
	int i;

	for (i = 0; i < verdict->rule->num_values; i++)
		json_object_set_new(values, verdict->rule->value[i].name, isnan(verdict->value[i]) ?
				    json_null() : json_real(verdict->value[i]));
	return values;
}

static void print_json(const struct result *result, double time)
{
	json_t *found = json_array(), *silent = json_array(), *all;
	int i;

	for (i = 0; i < result->num; i++) {
		const struct verdict *one = &result->verdict[i];

		if (one->holds)
			json_array_append_new(found, json_pack(
				"{ss ss sf ss so ss? ss?}", "rule", one->rule->name, "place",
				one->at->scope, "share", one->share, "text",
				replaced(one->text, "package", package_name(one->at)), "values",
				values_json(one), "doubt", one->rule->doubt, "page",
				one->rule->page));
		else if (!one->judged)
			json_array_append_new(silent, json_pack("{ss ss so}", "rule", one->rule->name,
								"place", one->at->scope, "why",
								string_json(one->text)));
	}
	all = json_pack("{so* si so so}", "time", time ? json_real(time) : NULL, "judged",
			result->judged, "verdicts", found, "not_judged", silent);
	put_json(stdout, all);
}

/* Is the rule one of --fail-on? */
static bool fails_on(const struct session *session, const struct rule *rule, bool by_name)
{
	char *rest = format("%s", session->options.fail_on ?: ""), *word;

	while ((word = strsep(&rest, ","))) {
		if (!strcmp(word, rule->name) || (!by_name && !strcmp(word, "any")))
			return true;
	}
	return false;
}

static struct result judge_now(struct session *session)
{
	struct options all = { .per_box = true, .per_socket = true };
	struct result result = { .session = session };

	result.values = values_make(session, &all, &result.num_values);
	judge_all(&result);
	return result;
}

char **why_lines(struct session *session, int *num)
{
	struct result result = judge_now(session);
	char **lines = NULL, *text;
	int i;

	*num = 0;
	for (i = 0; i < result.num; i++) {
		text = result.verdict[i].holds ? said(&result, i) : NULL;
		if (text)
			*append(lines, *num) = text;
	}
	if (nothing_text(&result))
		*append(lines, *num) = format("%s", nothing_text(&result));
	for (i = 0; i < result.num; i++) {
		text = result.verdict[i].judged ? NULL : said(&result, i);
		if (text)
			*append(lines, *num) = format("not judged: %s", text);
	}
	return lines;
}

int why_output(struct session *session, double time)
{
	struct result result;
	int i;

	session->results++;
	result = judge_now(session);
	session->any_value = session->any_value && (result.judged || session->judged);
	session->judged |= result.judged > 0;
	for (i = 0; i < result.num; i++) {
		const struct verdict *one = &result.verdict[i];

		session->found |= one->holds && fails_on(session, one->rule, false);
		session->unjudged |= !one->judged && fails_on(session, one->rule, true);
	}
	if (session->options.json)
		print_json(&result, time);
	else
		print_text(&result, time);
	return output_end();
}

int why_status(const struct session *session, int status)
{
	if (status)
		return status;
	return session->found ? STATUS_FOUND : session->unjudged ? STATUS_NO_VALUE : 0;
}
