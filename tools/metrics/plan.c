// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which events are counted together.
 *
 * What a metric needs of one PMU has to be counted at the same time, so it goes into one
 * group of perf. Groups of several metrics are merged where the hardware can count both;
 * the others are multiplexed. What fits into several of the groups is in all of them. The
 * driver refuses a group that can never be counted: so plan.c asks it, by opening a disabled
 * group and closing it again, which programs nothing.
 */
#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "metrics.h"

#define MAX_GROUP	64	/* events */
#define MAX_TRIES	300	/* to find a plan of so many passes */

/* What one metric needs of one PMU in one cell. */
struct item {
	struct cell *cell;
	const struct pmu *pmu;
	int event;	/* that has it for itself, or -1 */
	char *terms[MAX_EVENTS];
	struct source *source[MAX_EVENTS];	/* of these terms */
	int num;
	int *pass;	/* that it is counted in */
	int num_passes;
	char *why;	/* it cannot be counted */
};

struct planner {
	const struct session *session;
	struct plan *plan;
	int status;		/* of what cannot be planned */
	struct item *item;
	int num_items;
	/* The items of one PMU, while they are put into passes */
	struct item **order;
	int num;
	struct pass *pass;
	int passes;		/* that there may be */
	int tries;		/* that are left */
};

/* ---- what fits ---- */

int event_open(const struct session *session, const struct pmu *pmu, const char *terms, bool own,
	       int leader)
{
	struct perf_event_attr attr;
	int cpu = -1, p, fd;

	errno = 0;
	if (event_attr(session, pmu, terms, &attr))
		return errno == EMFILE || errno == ENFILE ? -errno : -EINVAL;
	attr.disabled = leader < 0;
	for (p = 0; p < session->packages && cpu < 0; p++)
		cpu = pmu->cpu[p];
	for (p = 0; pmu->core && p < session->cpus && cpu < 0; p++)
		cpu = session->package_of[p] >= 0 ? p : -1;
	fd = session->world->open(&attr, own ? 0 : -1, own ? -1 : cpu, leader, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

char *permission_text(const struct pmu *pmu)
{
	bool cap = prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, CAP_PERFMON, 0, 0) > 0;

	return format("no permission to count %s: run as root, or let %s count, as root:"
		      "\n\tsysctl kernel.perf_event_paranoid=%d", pmu->name,
		      cap ? "programs with CAP_PERFMON" : "all users", cap ? 2 : 0);
}

/* Events that are open as one group of perf. */
struct pass {
	int num;
	char *terms[MAX_GROUP];
	int fd[MAX_GROUP];
};

static void pass_cut(struct pass *pass, int num)
{
	while (pass->num > num)
		close(pass->fd[--pass->num]);
}

/*
 * Opens events of an item beside what is there: all of it or nothing. 0 or an errno. What does
 * not depend on the item ends the search, and planner->status says so.
 */
static int pass_add(struct planner *planner, struct pass *pass, const struct item *item, int first,
		    int end)
{
	int before = pass->num, i, j, fd;

	for (i = first; i < end; i++) {
		for (j = 0; j < pass->num && strcmp(pass->terms[j], item->terms[i]); j++)
			;
		if (j < pass->num)
			continue;
		fd = planner->status || j == MAX_GROUP ? -EINVAL :
		     event_open(planner->session, item->pmu, item->terms[i],
				planner->plan->command_only, j ? pass->fd[0] : -1);
		if (fd == -EACCES || fd == -EPERM)
			planner->status = fail(STATUS_FAILED, "%s", permission_text(item->pmu));
		if (fd == -EMFILE || fd == -ENFILE || fd == -ENOMEM)
			planner->status = fail(STATUS_FAILED, "%s cannot be opened: %s%s",
					       item->pmu->name, strerror(-fd),
					       fd == -EMFILE ? "; see ulimit -n" : "");
		if (fd < 0) {
			pass_cut(pass, before);
			return -fd;
		}
		pass->terms[j] = item->terms[i];
		pass->fd[j] = fd;
		pass->num++;
	}
	return 0;
}

/* Why an item cannot be counted even alone, or NULL. */
static char *alone(struct planner *planner, const struct item *item)
{
	struct pass pass = {};
	int err = pass_add(planner, &pass, item, 0, item->num), i;

	pass_cut(&pass, 0);
	if (!err)
		return NULL;
	for (i = 0; i < item->num; i++) {
		err = pass_add(planner, &pass, item, i, i + 1);
		pass_cut(&pass, 0);
		if (err)
			return format("%s/%s/ is refused: %s", item->pmu->name, item->terms[i],
				      strerror(err));
	}
	return format("%s cannot count its events at the same time", item->pmu->name);
}

/*
 * Puts items from @at on into passes. Empty passes are alike, so one of them is tried. Returns how
 * many are used, 0 if the items have no room.
 */
static int place(struct planner *planner, int at, int used)
{
	struct item *item;
	int i, before, needed;

	if (at == planner->num)
		return used;
	item = planner->order[at];
	for (i = 0; i < planner->passes && i <= used; i++) {
		struct pass *pass = &planner->pass[i];

		if (--planner->tries < 0)
			return 0;
		before = pass->num;
		if (pass_add(planner, pass, item, 0, item->num))
			continue;
		needed = place(planner, at + 1, i == used ? used + 1 : used);
		pass_cut(pass, before);
		if (needed) {
			item->num_passes = 0;
			*append(item->pass, item->num_passes) = i;
			return needed;
		}
	}
	return 0;
}

static int by_size(const void *a, const void *b)
{
	const struct item *x = *(struct item * const *)a, *y = *(struct item * const *)b;

	return y->num - x->num;
}

/* Who has a turn in one pass takes part in others where there is room. */
static void fill(struct planner *planner, int passes)
{
	struct pass all = {};
	struct item *item;
	int pass, i;

	for (pass = 0; pass < passes; pass++) {
		for (i = 0; i < planner->num; i++) {
			item = planner->order[i];
			if (item->pass[0] == pass)
				pass_add(planner, &all, item, 0, item->num);
		}
		for (i = 0; i < planner->num; i++) {
			item = planner->order[i];
			if (item->pass[0] != pass && !pass_add(planner, &all, item, 0, item->num))
				*append(item->pass, item->num_passes) = pass;
		}
		pass_cut(&all, 0);
	}
}

/*
 * The items of one PMU into as few passes as there can be. As many passes as items always do;
 * then one less than were needed, until that fails.
 */
static void pack(struct planner *planner, const struct pmu *pmu)
{
	int needed = 0, found, i;

	planner->num = 0;
	for (i = 0; i < planner->num_items; i++) {
		if (planner->item[i].pmu != pmu)
			continue;
		planner->item[i].why = alone(planner, &planner->item[i]);
		if (!planner->item[i].why)
			planner->order[planner->num++] = &planner->item[i];
	}
	qsort(planner->order, planner->num, sizeof(*planner->order), by_size);
	planner->passes = planner->num;
	planner->tries = planner->num * planner->num;
	while ((found = place(planner, 0, 0))) {
		needed = found;
		planner->passes = needed - 1;
		planner->tries = MAX_TRIES;
	}
	for (i = 0; !needed && i < planner->num; i++)
		planner->order[i]->why = format("%s refuses now what it took before",
						planner->order[i]->pmu->name);
	if (needed > 1)
		fill(planner, needed);
}

/* ---- from metrics to items ---- */

static struct item *item_of(struct planner *planner, struct cell *cell, const struct pmu *pmu,
			    int event)
{
	struct item *item;
	int i;

	for (i = 0; i < planner->num_items; i++) {
		item = &planner->item[i];
		if (item->cell == cell && item->pmu == pmu && item->event == event)
			return item;
	}
	item = append(planner->item, planner->num_items);
	*item = (struct item){ .cell = cell, .pmu = pmu, .event = event };
	return item;
}

static struct source *source_of(struct item *item, const char *terms)
{
	int at;

	for (at = 0; at < item->num && strcmp(item->terms[at], terms); at++)
		;
	if (at == item->num) {
		item->terms[at] = format("%s", terms);
		item->source[at] = allocate(sizeof(*item->source[at]));
		item->num++;
	}
	return item->source[at];
}

static bool pmu_is(const struct pmu *pmu, const char *name, int number)
{
	return !strcmp(pmu->name, name) ||
	       (!strcmp(pmu->base, name) && (number < 0 || pmu->number == number));
}

/* One event of a cell: the PMUs that have it. Returns why there is none, or NULL. */
static char *resolve(struct planner *planner, const struct metric *metric, struct cell *cell,
		     int event, char *name, int number)
{
	char *terms = strchr(name, '/'), *error = NULL, *why;
	const struct session *session = planner->session;
	struct perf_event_attr attr;
	int p;

	*terms++ = 0;
	terms[strlen(terms) - 1] = 0;
	for (p = 0; p < session->num_pmus; p++) {
		const struct pmu *pmu = &session->pmu[p];

		if (!pmu_is(pmu, name, number))
			continue;
		why = event_attr(session, pmu, terms, &attr);
		if (why) {
			error = why;
			continue;
		}
		*append(cell->event[event].source, cell->event[event].num) =
			source_of(item_of(planner, cell, pmu, metric->apart ? event : -1), terms);
	}
	if (cell->event[event].num)
		return NULL;
	return error ?: number < 0 ? format("there is no PMU %s", name) :
		format("there is no PMU %s_%d", name, number);
}

static void cell_add(struct planner *planner, struct plan_metric *pm, char *name, const char *part,
		     int number)
{
	const struct metric *metric = pm->metric;
	struct cell *cell = allocate(sizeof(*cell));
	int first = planner->num_items, i;

	cell->name = name;
	for (i = 0; i < metric->num_events && !cell->why; i++)
		cell->why = resolve(planner, metric, cell, i,
				    replaced(metric->event[i].text, metric->kind, part), number);
	/* What cannot be computed is not counted. */
	if (cell->why)
		planner->num_items = first;
	*append(pm->cell, pm->num_cells) = cell;
}

/* A cell for each number that a PMU of its events has. */
static void add_boxes(struct planner *planner, struct plan_metric *pm)
{
	const struct metric *metric = pm->metric;
	const struct session *session = planner->session;
	const char *kind = NULL;
	bool seen[256] = {};
	int i, p;

	for (i = 0; i < metric->num_events; i++) {
		const char *text = metric->event[i].text;
		size_t len = strcspn(text, "/");

		for (p = 0; p < session->num_pmus; p++) {
			const struct pmu *pmu = &session->pmu[p];

			if (pmu->number < 0 || strlen(pmu->base) != len ||
			    strncmp(pmu->base, text, len))
				continue;
			/* What comes first gives its name; less what all have before it. */
			if (!kind)
				kind = strchr(pmu->base, '_') ? strchr(pmu->base, '_') + 1 : pmu->base;
			if (pmu->number < 256)
				seen[pmu->number] = true;
		}
	}
	for (i = 0; i < 256; i++) {
		if (seen[i])
			cell_add(planner, pm, format("%s_%d", kind, i), "", i);
	}
}

static void metric_add(struct planner *planner, struct metric *metric)
{
	struct plan *plan = planner->plan;
	struct plan_metric *pm;
	int i;

	pm = append(plan->metric, plan->num_metrics);
	pm->metric = metric;
	if (!machine_is(planner->session, metric->group->machines)) {
		pm->why = format("it is for %s, and this machine is %s",
				 machine_names(metric->group->machines),
				 machine_name(planner->session));
		return;
	}
	if (metric->scope == SCOPE_BOX)
		add_boxes(planner, pm);
	else if (metric->scope == SCOPE_PART)
		for (i = 0; i < metric->num_parts; i++)
			cell_add(planner, pm, metric->part[i], metric->part[i], -1);
	else
		cell_add(planner, pm, NULL, "", -1);
	if (!pm->num_cells)
		pm->why = format("there is no PMU of the name in %s, with a number behind it",
				 metric->event[0].text);
}

/* ---- from items to counters ---- */

static struct counter *counter_of(struct planner *planner, const struct pmu *pmu, char *terms,
				  int pass, int gate)
{
	struct plan *plan = planner->plan;
	struct counter *counter;
	int i;

	for (i = 0; i < plan->num_counters; i++) {
		counter = plan->counter[i];
		if (counter->pmu == pmu && counter->pass == pass && counter->gate == gate &&
		    !strcmp(counter->terms, terms))
			return counter;
	}
	counter = allocate(sizeof(*counter));
	*counter = (struct counter){ .pmu = pmu, .terms = terms, .pass = pass, .gate = gate };
	counter->reading = allocate(readings(planner->session) * sizeof(*counter->reading));
	*append(plan->counter, plan->num_counters) = counter;
	return counter;
}

static void make_counters(struct planner *planner)
{
	struct source *source;
	int i, pass, at;

	for (i = 0; i < planner->num_items; i++) {
		struct item *item = &planner->item[i];

		for (pass = 0; pass < item->num_passes && !item->cell->why; pass++) {
			for (at = 0; at < item->num; at++) {
				source = item->source[at];
				*append(source->counter, source->num) =
					counter_of(planner, item->pmu, item->terms[at],
						   item->pass[pass], 0);
			}
			if (item->pass[pass] >= planner->plan->passes)
				planner->plan->passes = item->pass[pass] + 1;
		}
	}
}

/* Does a value come from several boxes, so that one window matters? */
static bool wants_gate(const struct planner *planner)
{
	const struct item *item, *last = NULL;
	int i;

	for (i = 0; i < planner->num_items; i++) {
		item = &planner->item[i];
		if (item->pmu->core || item->cell->why)
			continue;
		if (last && last->cell == item->cell && last->pmu != item->pmu)
			return true;
		last = item;
	}
	return false;
}

/*
 * A gate at each end of the command line: the counters of a package start and stop together.
 * What the second one counts ends too late and the first one begins too early, by the time
 * that perf takes for what is between them. A gate holds back all users of a package, so it
 * needs CAP_PERFMON; without a gate each box starts by itself.
 */
static void add_gates(struct planner *planner)
{
	const struct pmu *pmu = pmu_of(planner->session, "xeon7500_package", -1);
	int fd = pmu ? event_open(planner->session, pmu, "gate", false, -1) : -1;

	if (fd < 0)
		return;
	close(fd);
	counter_of(planner, pmu, "gate", 0, -1);
	counter_of(planner, pmu, "gate", 0, 1);
}

/* The order of perf's command line. */
static int by_place(const void *a, const void *b)
{
	const struct counter *x = *(struct counter * const *)a, *y = *(struct counter * const *)b;

	if (x->gate != y->gate)
		return x->gate - y->gate;
	return x->pmu != y->pmu ? (x->pmu > y->pmu) - (x->pmu < y->pmu) : x->pass - y->pass;
}

static bool only_core(const struct planner *planner)
{
	int i;

	for (i = 0; i < planner->num_items && planner->item[i].pmu->core; i++)
		;
	return i && i == planner->num_items;
}

int plan_make(struct session *session)
{
	const struct options *options = &session->options;
	struct plan *plan = &session->plan;
	struct planner planner = { .session = session, .plan = plan };
	int i;

	for (i = 0; i < session->num_metrics; i++) {
		if (session->metric[i]->asked)
			metric_add(&planner, session->metric[i]);
	}
	plan->command_only = options->command && !options->all_cpus && only_core(&planner);
	planner.order = allocate(planner.num_items * sizeof(*planner.order));
	planner.pass = allocate(planner.num_items * sizeof(*planner.pass));
	for (i = 0; i < session->num_pmus && !planner.status; i++)
		pack(&planner, &session->pmu[i]);
	if (planner.status)
		return planner.status;
	/* A cell that lacks one event needs none of the others. */
	for (i = 0; i < planner.num_items; i++) {
		if (!planner.item[i].cell->why)
			planner.item[i].cell->why = planner.item[i].why;
	}
	make_counters(&planner);
	/* Multiplexed events have no window in common, and times that do not tell what a gate does. */
	if (!options->no_gate && !plan->command_only && plan->passes == 1 && wants_gate(&planner))
		add_gates(&planner);
	if (plan->num_counters)
		qsort(plan->counter, plan->num_counters, sizeof(*plan->counter), by_place);
	return 0;
}
