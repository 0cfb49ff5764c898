// SPDX-License-Identifier: GPL-2.0-only
/*
 * From counts to values.
 *
 * A value of a package or of the machine is the formula of what its boxes have counted
 * together, not the sum or mean of their values: a ratio stays a ratio. An event that
 * belongs to the package, such as its clock, counts once for each box then.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "metrics.h"

/* What has been counted of one event of a metric, in one scope. */
struct sum {
	double value;
	int num;
};

struct collected {
	struct sum event[MAX_EVENTS];
	double seconds;		/* the longest */
	double running;		/* the least */
	char *why;
};

/* What all passes have counted, as if it were one. Time counts twice where two of them run. */
static struct reading reading_of(const struct plan *plan, const struct source *source, int at)
{
	struct reading all = {};
	int i;

	for (i = 0; i < source->num; i++) {
		const struct reading *one = &plan->counter[source->counter[i]].reading[at];

		all.there |= one->there;
		all.why = one->why;
		all.value += one->value;
		all.seconds += one->why ? 0 : one->seconds;
		all.running = fmin(all.running + one->running, 1);
	}
	if (all.seconds)
		all.why = NULL;
	return all;
}

static void collect_one(struct collected *all, const struct metric *metric, int event,
			struct reading reading, bool look)
{
	struct sum *sum = &all->event[event];
	double value;

	if (!reading.there || reading.why) {
		if (!all->why)
			all->why = format("%s", reading.why ?:
					  "perf has no count of it: are its CPUs offline?");
		return;
	}
	/* First, the time that all are brought to. */
	if (look) {
		if (reading.seconds > all->seconds)
			all->seconds = reading.seconds;
		if (reading.running < all->running)
			all->running = reading.running;
		return;
	}
	value = reading.value * all->seconds / reading.seconds;
	if (!sum->num++)
		sum->value = value;
	else if (metric->event[event].reduce == REDUCE_MAX)
		sum->value = fmax(sum->value, value);
	else if (metric->event[event].reduce == REDUCE_MIN)
		sum->value = fmin(sum->value, value);
	else
		sum->value += value;
}

/* Of a CPU, if cpu >= 0; else of a package. */
static void collect_cell(struct collected *all, const struct session *session,
			 const struct metric *metric, const struct cell *cell, int package, int cpu,
			 bool look)
{
	const struct plan *plan = &session->plan;
	const struct pmu *missing = NULL;
	bool there = false;
	int e, i, c;

	if (cell->why) {
		if (!all->why)
			all->why = format("%s", cell->why);
		return;
	}
	/* A box may be absent from one package; then all of what belongs to it has to be. */
	for (e = 0; e < metric->num_events; e++) {
		for (i = 0; i < cell->event[e].num; i++) {
			const struct source *source = &cell->event[e].source[i];
			const struct pmu *pmu = plan->counter[source->counter[0]].pmu;

			if (pmu->core || pmu->cpu[package] >= 0)
				there = true;
			else
				missing = pmu;
		}
	}
	if (missing && there && !all->why)
		all->why = format("there is no %s on S%d", missing->name, package);
	if (missing)
		return;
	for (e = 0; e < metric->num_events; e++) {
		for (i = 0; i < cell->event[e].num; i++) {
			const struct source *source = &cell->event[e].source[i];
			const struct pmu *pmu = plan->counter[source->counter[0]].pmu;

			if (plan->command_only) {
				collect_one(all, metric, e, reading_of(plan, source, 0), look);
			} else if (!pmu->core) {
				collect_one(all, metric, e,
					    reading_of(plan, source, package), look);
			} else {
				for (c = 0; c < session->cpus; c++) {
					if (cpu < 0 ? session->package_of[c] == package : c == cpu)
						collect_one(all, metric, e,
							    reading_of(plan, source, c), look);
				}
			}
		}
	}
}

/* Cells from first on, packages from first on. */
static void collect(struct collected *all, const struct session *session,
		    const struct plan_metric *pm, int cell, int cells, int package, int num_packages, int cpu)
{
	int pass, c, p;

	memset(all, 0, sizeof(*all));
	all->running = 1;
	for (pass = 0; pass < 2 && !all->why; pass++) {
		for (p = package; p < package + num_packages; p++) {
			for (c = cell; c < cell + cells; c++)
				collect_cell(all, session, pm->metric, &pm->cell[c], p, cpu, !pass);
		}
	}
}

static char *zeros(const struct metric *metric)
{
	char *text = NULL;
	int e;

	for (e = 0; e < metric->num_events; e++) {
		if (!metric->var[e]) {
			char *more = format("%s%s%s", text ?: "", text ? " and " : "",
					    metric->event[e].name);

			free(text);
			text = more;
		}
	}
	return text ?: format("%s", "what it divides by");
}

static char *limits(const char *what, double value, const double range[2], const char *unit)
{
	char *number = number_text(value, unit), *low = number_text(range[0], unit);
	char *high = number_text(range[1], unit);
	char *text = format("%s %s from %s to %s", number, what, low, high);

	free(number);
	free(low);
	free(high);
	return text;
}

/* Returns false if there is a number that cannot be right; looks if it is that of one place. */
static bool compute(struct value *value, struct metric *metric, struct collected *all, bool one)
{
	int e;

	value->running = all->running;
	value->seconds = all->seconds;
	for (e = 0; e < metric->num_events && !all->why; e++) {
		if (!all->event[e].num)
			all->why = format("%s", "its boxes are not there");
		metric->var[e] = all->event[e].value;
		if (metric->event[e].reduce == REDUCE_MEAN && all->event[e].num)
			metric->var[e] /= all->event[e].num;
	}
	if (all->why) {
		value->why = all->why;
		value->running = 0;
		return true;
	}
	metric->var[metric->num_events] = all->seconds;
	value->value = formula_value(&metric->formula);
	if (!isfinite(value->value)) {
		char *zero = zeros(metric);

		value->why = format("%s is 0", zero);
		free(zero);
	} else if (!one) {
		return true;
	} else if (value->value < metric->limit[0] || value->value > metric->limit[1]) {
		value->why = limits("cannot be: it is", value->value, metric->limit, metric->unit);
		return false;
	} else if (metric->valid.text && !formula_value(&metric->valid)) {
		value->why = format("%s", metric->valid_why);
		return false;
	} else if (value->value < metric->plausible[0] || value->value > metric->plausible[1]) {
		value->note = limits("is not plausible, which is", value->value,
				     metric->plausible, metric->unit);
	}
	return true;
}

static char *place(int package, const struct cell *cell)
{
	return cell->name ? format("S%d/%s", package, cell->name) : format("S%d", package);
}

/*
 * A value of several places. What a metric can be at most is known of one of them, so each
 * is looked at; and a sum in which one is wrong is wrong.
 */
static void compute_all(struct value *value, const struct session *session,
			const struct plan_metric *pm, int package, int num_packages)
{
	struct metric *metric = pm->metric;
	struct collected all;
	bool counted;
	int c, p;

	collect(&all, session, pm, 0, pm->num_cells, package, num_packages, -1);
	counted = all.seconds;
	compute(value, metric, &all, false);
	for (p = package; p < package + num_packages && counted; p++) {
		for (c = 0; c < pm->num_cells; c++) {
			struct value one = {};
			bool right;

			collect(&all, session, pm, c, 1, p, 1, -1);
			right = compute(&one, metric, &all, true);
			if ((!right && !value->why) || (one.note && !value->note)) {
				char *where = place(p, &pm->cell[c]);
				char *text = format("%s: %s", where, right ? one.note : one.why);

				if (right)
					value->note = text;
				else
					value->why = text;
				free(where);
			}
			free(one.why);
			free(one.note);
		}
	}
}

static struct value *value_add(struct value **values, int *num, struct metric *metric, char *scope,
			       int package, const char *cell)
{
	struct value *value;

	*values = grow(*values, *num, sizeof(**values));
	value = &(*values)[(*num)++];
	memset(value, 0, sizeof(*value));
	value->metric = metric;
	value->scope = scope;
	value->package = package;
	value->cell = cell;
	return value;
}

static bool has_package(const struct session *session, int package)
{
	int c;

	for (c = 0; c < session->cpus; c++) {
		if (session->package_of[c] == package)
			return true;
	}
	return false;
}

/* The places of a package by themselves; what has none is there as a package. */
static void per_box(const struct session *session, const struct plan_metric *pm, int p,
		    struct value **values, int *num)
{
	struct metric *metric = pm->metric;
	struct collected all;
	struct value *value;
	int c;

	for (c = 0; metric->scope == SCOPE_CPU && c < session->cpus; c++) {
		if (session->package_of[c] != p)
			continue;
		value = value_add(values, num, metric, format("S%d/cpu%d", p, c), p, NULL);
		value->cell = strchr(value->scope, '/') + 1;
		collect(&all, session, pm, 0, 1, p, 1, c);
		compute(value, metric, &all, true);
	}
	for (c = 0; metric->scope != SCOPE_CPU && c < pm->num_cells; c++) {
		value = value_add(values, num, metric, place(p, &pm->cell[c]), p, pm->cell[c].name);
		collect(&all, session, pm, c, 1, p, 1, -1);
		compute(value, metric, &all, true);
	}
}

struct value *values_make(struct session *session, const struct options *options, int *num)
{
	const struct plan *plan = &session->plan;
	struct value *values = NULL, *value;
	int m, p, i;

	*num = 0;
	for (m = 0; m < plan->num_metrics; m++) {
		const struct plan_metric *pm = &plan->metric[m];
		bool is_package = pm->num_cells == 1 && !pm->cell[0].name &&
				  pm->metric->scope != SCOPE_CPU;

		if (pm->why || plan->command_only || options->per_machine) {
			value = value_add(&values, num, pm->metric, format("%s", !pm->why &&
					  plan->command_only ? "command" : "machine"), -1, NULL);
			if (pm->why)
				value->why = format("%s", pm->why);
			else
				compute_all(value, session, pm, 0,
					    plan->command_only ? 1 : session->packages);
		}
		for (p = 0; p < session->packages && !pm->why && !plan->command_only; p++) {
			if (!has_package(session, p))
				continue;
			if (options->per_socket || (is_package && options->per_box))
				compute_all(value_add(&values, num, pm->metric, format("S%d", p), p,
						      NULL), session, pm, p, 1);
			if (options->per_box && !is_package)
				per_box(session, pm, p, &values, num);
		}
	}
	for (i = 0; i < *num; i++)
		session->any_value |= !values[i].why;
	return values;
}

void values_free(struct value *values, int num)
{
	while (num--) {
		free(values[num].scope);
		free(values[num].why);
		free(values[num].note);
	}
	free(values);
}
