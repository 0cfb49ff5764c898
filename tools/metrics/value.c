// SPDX-License-Identifier: GPL-2.0-only
/*
 * From counts to values.
 *
 * A value of a package or of the machine is the formula of what its boxes have counted
 * together, not the sum or mean of their values: a ratio stays a ratio. An event that
 * belongs to the package, such as its clock, counts once for each box then.
 */
#include <math.h>
#include <string.h>

#include "metrics.h"

/* What has been counted of a metric in one scope. */
struct collected {
	struct count {
		int event;
		struct reading reading;
	} *count;
	int num;
	double seconds;		/* the longest */
	double running;		/* the least */
	char *why;
	bool absent;		/* a box of it is not there */
};

/* What all passes have counted, as if it were one. Time counts twice where two of them run. */
static void collect_one(struct collected *all, int event, const struct source *source, int at)
{
	struct reading sum = {};
	int i;

	for (i = 0; i < source->num; i++) {
		const struct reading *one = &source->counter[i]->reading[at];

		sum.why = one->why;
		sum.value += one->value;
		sum.seconds += one->seconds;
		sum.running = fmin(sum.running + one->running, 1);
	}
	if (!sum.seconds) {
		if (!all->why)
			all->why = format("%s", sum.why ?:
					  "perf has no count of it: are its CPUs offline?");
		return;
	}
	all->seconds = fmax(all->seconds, sum.seconds);
	all->running = fmin(all->running, sum.running);
	*append(all->count, all->num) = (struct count){ event, sum };
}

/* Does what is counted by this PMU, or by CPU if cpu >= 0, have a reading at this place? */
static bool is_at(const struct session *session, const struct pmu *pmu, int package, int cpu,
		  int at)
{
	if (session->plan.command_only)
		return at == 0;
	if (!pmu->core)
		return at == package;
	return cpu < 0 ? session->package_of[at] == package : at == cpu;
}

static void collect_cell(struct collected *all, const struct session *session, int num_events,
			 const struct cell *cell, int package, int cpu)
{
	const struct pmu *missing = NULL, *pmu;
	bool there = false;
	int e, i, at;

	if (cell->why) {
		if (!all->why)
			all->why = cell->why;
		return;
	}
	/* A box may be absent from one package; then all of what belongs to it has to be. */
	for (e = 0; e < num_events; e++) {
		for (i = 0; i < cell->event[e].num; i++) {
			pmu = cell->event[e].source[i]->counter[0]->pmu;
			if (pmu->core || pmu->cpu[package] >= 0)
				there = true;
			else
				missing = pmu;
		}
	}
	all->absent |= !!missing;
	if (missing && there && !all->why)
		all->why = format("there is no %s on S%d", missing->name, package);
	for (e = 0; e < num_events && !missing; e++) {
		for (i = 0; i < cell->event[e].num; i++) {
			const struct source *source = cell->event[e].source[i];

			for (at = 0; at < readings(session); at++) {
				if (is_at(session, source->counter[0]->pmu, package, cpu, at))
					collect_one(all, e, source, at);
			}
		}
	}
}

/* Cells from first on, packages from first on; of a CPU, if cpu >= 0. */
static struct collected collect(const struct session *session, const struct plan_metric *pm,
				int cell, int cells, int package, int num_packages, int cpu)
{
	struct collected all = { .running = 1 };
	int c, p;

	for (p = package; p < package + num_packages; p++) {
		/* Numbers of packages may have holes. */
		for (c = cell; c < cell + cells && (session->plan.command_only ||
						    session->online[p]); c++)
			collect_cell(&all, session, pm->metric->num_events, pm->cell[c], p, cpu);
	}
	return all;
}

/* The variables of the formulas. Returns why there are none, or NULL. */
static char *set_variables(struct metric *metric, const struct collected *all)
{
	int num[MAX_EVENTS] = {}, e, i;

	for (i = 0; i < all->num; i++) {
		const struct reading *reading = &all->count[i].reading;
		double *var = &metric->var[all->count[i].event];
		/* All are brought to the same time. */
		double value = reading->value * all->seconds / reading->seconds;

		e = all->count[i].event;
		if (!num[e]++)
			*var = value;
		else if (metric->event[e].reduce == REDUCE_MAX)
			*var = fmax(*var, value);
		else if (metric->event[e].reduce == REDUCE_MIN)
			*var = fmin(*var, value);
		else
			*var += value;
	}
	for (e = 0; e < metric->num_events; e++) {
		if (!num[e])
			return "its boxes are not there";
		if (metric->event[e].reduce == REDUCE_MEAN)
			metric->var[e] /= num[e];
	}
	metric->var[metric->num_events] = all->seconds;
	return NULL;
}

static char *zeros(const struct metric *metric)
{
	char *text = NULL;
	int e;

	for (e = 0; e < metric->num_events; e++) {
		if (!metric->var[e])
			text = format("%s%s%s", text ?: "", text ? " and " : "",
				      metric->event[e].name);
	}
	return text ? format("%s is 0", text) : "its formula has no value for what was counted";
}

static char *limits(const char *what, double value, const double range[2], const char *unit)
{
	return format("%s %s %s to %s", number_text(value, unit), what,
		      number_text(range[0], unit), number_text(range[1], unit));
}

/* Returns false if there is a number that cannot be right; looks if it is that of one place. */
static bool compute(struct value *value, struct metric *metric, const struct collected *all,
		    bool one)
{
	value->seconds = all->seconds;
	value->absent = all->absent;
	value->why = all->why ?: set_variables(metric, all);
	if (value->why)
		return true;
	value->running = all->running;
	value->value = formula_value(&metric->formula);
	if (!isfinite(value->value)) {
		value->why = zeros(metric);
	} else if (!one) {
		return true;
	} else if (value->value < metric->limit[0] || value->value > metric->limit[1]) {
		value->why = limits("cannot be; possible is", value->value, metric->limit, metric->unit);
		return false;
	} else if (metric->valid.text && !formula_true(&metric->valid)) {
		value->why = metric->valid_why;
		return false;
	} else if (value->value < metric->plausible[0] || value->value > metric->plausible[1]) {
		value->note = limits("is not plausible; that would be", value->value,
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
	struct collected all = collect(session, pm, 0, pm->num_cells, package, num_packages, -1);
	int c, p;

	compute(value, pm->metric, &all, false);
	for (p = package; p < package + num_packages; p++) {
		bool any = false;

		for (c = 0; c < pm->num_cells; c++) {
			struct collected here = collect(session, pm, c, 1, p, 1, -1);
			struct value one = {};

			any |= here.num;
			if (!compute(&one, pm->metric, &here, true) && !value->why)
				value->why = format("%s: %s", place(p, pm->cell[c]), one.why);
			if (one.note && !value->note)
				value->note = format("%s: %s", place(p, pm->cell[c]), one.note);
		}
		if (!any && !value->why && session->online[p])
			value->why = format("S%d has none of its boxes", p);
	}
}

static struct value *value_add(struct value **values, int *num, struct metric *metric, char *scope,
			       int package, const char *cell)
{
	struct value *value = append(*values, *num);

	*value = (struct value){ metric, scope, package, cell };
	return value;
}

/* The places of a package by themselves; what has none is there as a package. */
static void per_box(const struct session *session, const struct plan_metric *pm, int p,
		    struct value **values, int *num)
{
	struct metric *metric = pm->metric;
	bool cpus = metric->scope == SCOPE_CPU;
	struct collected all;
	char *scope;
	int c;

	for (c = 0; c < (cpus ? session->cpus : pm->num_cells); c++) {
		if (cpus && session->package_of[c] != p)
			continue;
		scope = cpus ? format("S%d/cpu%d", p, c) : place(p, pm->cell[c]);
		all = collect(session, pm, cpus ? 0 : c, 1, p, 1, cpus ? c : -1);
		compute(value_add(values, num, metric, scope, p, cpus ? strchr(scope, '/') + 1 :
				  pm->cell[c]->name), metric, &all, true);
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
		bool is_package = pm->metric->scope == SCOPE_PACKAGE;

		if (pm->why || plan->command_only || options->per_machine) {
			value = value_add(&values, num, pm->metric, !pm->why && plan->command_only ?
					  "command" : "machine", -1, NULL);
			value->why = pm->why;
			if (!pm->why)
				compute_all(value, session, pm, 0,
					    plan->command_only ? 1 : session->packages);
		}
		for (p = 0; p < session->packages && !pm->why && !plan->command_only; p++) {
			if (!session->online[p])
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
