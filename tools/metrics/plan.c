// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which events are counted together.
 *
 * What a metric needs of one PMU has to be counted at the same time, so it goes into one
 * group of perf. Groups of several metrics are merged where the hardware can count both;
 * what is left takes turns, and who fits into several of the groups is in all of them.
 * Nobody knows better what fits than the driver, which refuses a group that can never be
 * counted: so groups are opened, disabled, and closed again. That programs nothing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "metrics.h"

#define MAX_GROUP	64	/* events */
#define MAX_TRIES	300	/* to find a plan of so many passes */

/* What one metric needs of one PMU in one cell. */
struct item {
	const struct pmu *pmu;
	char *terms[MAX_EVENTS];
	int num;
	int event;	/* that has it for itself, or -1 */
	int *pass;	/* that it is counted in */
	int num_passes;
	char *why;	/* it cannot be counted */
};

/* Where an event of a cell has its terms: in the item, at a place. */
struct use {
	int metric, cell, event;
	int item, at;
};

struct planner {
	const struct session *session;
	struct plan *plan;
	int status;		/* of what cannot be planned */
	struct item *item;
	int num_items;
	struct use *use;
	int num_uses;
};

/* ---- what fits ---- */

static int open_one(const struct planner *planner, const struct pmu *pmu, const char *terms,
		    int leader)
{
	const struct session *session = planner->session;
	bool command = planner->plan->command_only;
	struct perf_event_attr attr;
	int cpu = -1, p, fd;
	char *error;

	errno = 0;
	error = event_attr(session, pmu, terms, &attr);
	if (error) {
		free(error);
		return errno == EMFILE || errno == ENFILE ? -errno : -EINVAL;
	}
	attr.disabled = leader < 0;
	for (p = 0; p < session->packages && cpu < 0; p++)
		cpu = pmu->cpu[p];
	for (p = 0; pmu->core && p < session->cpus && cpu < 0; p++)
		cpu = session->package_of[p] >= 0 ? p : -1;
	fd = session->world->open(&attr, command ? 0 : -1, command ? -1 : cpu, leader,
				  PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
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
 * Opens what an item needs beside what is there: all of it or nothing. 0 or an errno. What does
 * not depend on the item ends the search, and planner->status says so.
 */
static int pass_add(struct planner *planner, struct pass *pass, const struct pmu *pmu,
		    char * const *terms, int num)
{
	int before = pass->num, i, j, fd;

	for (i = 0; i < num; i++) {
		for (j = 0; j < pass->num && strcmp(pass->terms[j], terms[i]); j++)
			;
		if (j < pass->num)
			continue;
		fd = planner->status || j == MAX_GROUP ? -EINVAL :
		     open_one(planner, pmu, terms[i], j ? pass->fd[0] : -1);
		if (fd == -EACCES || fd == -EPERM)
			planner->status = fail(STATUS_FAILED, "no permission to count %s: run as root, "
					       "or as root: sysctl kernel.perf_event_paranoid=0; "
					       "with CAP_PERFMON 2 is enough", pmu->name);
		if (fd == -EMFILE || fd == -ENFILE || fd == -ENOMEM)
			planner->status = fail(STATUS_FAILED, "%s cannot be opened: %s%s", pmu->name,
					       strerror(-fd), fd == -EMFILE ? "; see ulimit -n" : "");
		if (fd < 0) {
			pass_cut(pass, before);
			return -fd;
		}
		pass->terms[j] = terms[i];
		pass->fd[j] = fd;
		pass->num++;
	}
	return 0;
}

/* Why an item cannot be counted even alone, or NULL. */
static char *alone(struct planner *planner, const struct item *item)
{
	struct pass pass = {};
	int err = pass_add(planner, &pass, item->pmu, item->terms, item->num), i;

	pass_cut(&pass, 0);
	if (!err)
		return NULL;
	for (i = 0; i < item->num; i++) {
		err = pass_add(planner, &pass, item->pmu, &item->terms[i], 1);
		pass_cut(&pass, 0);
		if (err)
			return format("%s/%s/ is refused: %s", item->pmu->name, item->terms[i],
				      strerror(err));
	}
	return format("%s cannot count its events at the same time", item->pmu->name);
}

struct search {
	struct planner *planner;
	struct item **item;
	int num;
	struct pass *pass;
	int passes;	/* that there may be */
	int tries;	/* that are left */
};

static void pass_of(struct item *item, int pass)
{
	item->pass = grow(item->pass, item->num_passes, sizeof(*item->pass));
	item->pass[item->num_passes++] = pass;
}

/* Puts items from @at on into passes. Empty passes are alike, so one of them is tried. */
static bool place(struct search *search, int at, int used)
{
	struct item *item = search->item[at];
	int pass, before;

	if (at == search->num)
		return true;
	for (pass = 0; pass < search->passes && pass <= used; pass++) {
		if (--search->tries < 0)
			return false;
		before = search->pass[pass].num;
		if (pass_add(search->planner, &search->pass[pass], item->pmu, item->terms, item->num))
			continue;
		if (place(search, at + 1, pass == used ? used + 1 : used)) {
			item->num_passes = 0;
			pass_of(item, pass);
			return true;
		}
		pass_cut(&search->pass[pass], before);
	}
	return false;
}

static bool placed(struct search *search, int passes, int tries)
{
	bool found;
	int i;

	search->passes = passes;
	search->tries = tries;
	found = place(search, 0, 0);
	for (i = 0; i < passes; i++)
		pass_cut(&search->pass[i], 0);
	return found;
}

static int by_size(const void *a, const void *b)
{
	const struct item *x = *(struct item * const *)a, *y = *(struct item * const *)b;

	return y->num - x->num;
}

/* Who has a turn in one pass takes part in others where there is room. */
static void fill(const struct search *search, int passes)
{
	struct pass all = {};
	struct item *item;
	int pass, i;

	for (pass = 0; pass < passes; pass++) {
		for (i = 0; i < search->num; i++) {
			item = search->item[i];
			if (item->pass[0] == pass)
				pass_add(search->planner, &all, item->pmu, item->terms, item->num);
		}
		for (i = 0; i < search->num; i++) {
			item = search->item[i];
			if (item->pass[0] != pass &&
			    !pass_add(search->planner, &all, item->pmu, item->terms, item->num))
				pass_of(item, pass);
		}
		pass_cut(&all, 0);
	}
}

/*
 * The items of one PMU into as few passes as there can be. As many passes as items always do;
 * then one less than were needed, until that fails.
 */
static void pack(struct planner *planner, struct item **items, int num)
{
	struct search search = { .planner = planner, .item = allocate((num + 1) * sizeof(*items)),
				 .pass = allocate(num * sizeof(*search.pass)) };
	int passes, needed = 0, tries = num * num, i;

	for (i = 0; i < num; i++) {
		items[i]->why = alone(planner, items[i]);
		if (!items[i]->why)
			search.item[search.num++] = items[i];
	}
	qsort(search.item, search.num, sizeof(*search.item), by_size);
	for (passes = search.num; passes && placed(&search, passes, tries); passes--) {
		passes = 0;
		for (i = 0; i < search.num; i++) {
			if (search.item[i]->pass[0] >= passes)
				passes = search.item[i]->pass[0] + 1;
		}
		needed = passes;
		tries = MAX_TRIES;
		/* Who fits into one pass was put there at once. */
		if (passes <= 2)
			break;
	}
	for (i = 0; !needed && i < search.num; i++)
		search.item[i]->why = format("%s refuses now what it took before",
					     search.item[i]->pmu->name);
	if (needed > 1)
		fill(&search, needed);
	free(search.item);
	free(search.pass);
}

static bool same_items(struct item **a, struct item **b, int num)
{
	int i, j;

	for (i = 0; i < num; i++) {
		if (a[i]->num != b[i]->num)
			return false;
		for (j = 0; j < a[i]->num; j++) {
			if (strcmp(a[i]->terms[j], b[i]->terms[j]))
				return false;
		}
	}
	return true;
}

static struct item **items_of(struct planner *planner, const struct pmu *pmu, int *num)
{
	struct item **items = allocate((planner->num_items + 1) * sizeof(*items));
	int i;

	*num = 0;
	for (i = 0; i < planner->num_items; i++) {
		if (planner->item[i].pmu == pmu)
			items[(*num)++] = &planner->item[i];
	}
	return items;
}

/* Boxes of a kind are alike: what was found for one is right for the next. */
static void pack_all(struct planner *planner)
{
	struct item **last = NULL, **items;
	const struct session *session = planner->session;
	int last_num = 0, num, p, i;

	for (p = 0; p < session->num_pmus && !planner->status; p++) {
		items = items_of(planner, &session->pmu[p], &num);
		if (last && num && num == last_num &&
		    !strcmp(session->pmu[p].base, last[0]->pmu->base) &&
		    same_items(items, last, num)) {
			for (i = 0; i < num; i++) {
				items[i]->pass = last[i]->pass;
				items[i]->num_passes = last[i]->num_passes;
				items[i]->why = last[i]->why;
			}
		} else {
			pack(planner, items, num);
		}
		free(last);
		last = items;
		last_num = num;
	}
	free(last);
}

/* ---- from metrics to items ---- */

static char *replace_part(const char *text, const struct metric *metric, const char *part)
{
	char *mark = format("{%s}", metric->kind), *at = strstr(text, mark), *done;

	if (part && at)
		done = format("%.*s%s%s", (int)(at - text), text, part, at + strlen(mark));
	else
		done = format("%s", text);
	free(mark);
	return done;
}

static int item_of(struct planner *planner, int first, const struct pmu *pmu, int event)
{
	int i;

	for (i = first; i < planner->num_items; i++) {
		if (planner->item[i].pmu == pmu && planner->item[i].event == event)
			return i;
	}
	planner->item = grow(planner->item, planner->num_items, sizeof(*planner->item));
	memset(&planner->item[planner->num_items], 0, sizeof(*planner->item));
	planner->item[planner->num_items].pmu = pmu;
	planner->item[planner->num_items].event = event;
	return planner->num_items++;
}

static void use_add(struct planner *planner, int item, const char *terms, int metric, int cell,
		    int event)
{
	struct item *it = &planner->item[item];
	int at;

	for (at = 0; at < it->num && strcmp(it->terms[at], terms); at++)
		;
	if (at == it->num)
		it->terms[it->num++] = format("%s", terms);
	planner->use = grow(planner->use, planner->num_uses, sizeof(*planner->use));
	planner->use[planner->num_uses++] = (struct use){ metric, cell, event, item, at };
}

static bool pmu_is(const struct pmu *pmu, const char *name, int number)
{
	if (!strcmp(pmu->name, name))
		return true;
	return pmu->number >= 0 && !strcmp(pmu->base, name) &&
	       (number < 0 || pmu->number == number);
}

/* One event of a cell: the PMUs that have it. Returns why there is none, or NULL. */
static char *resolve(struct planner *planner, int first, int metric, int cell, int event,
		     const char *text, int number)
{
	char *name = format("%s", text), *terms = strchr(name, '/'), *error = NULL;
	bool apart = planner->plan->metric[metric].metric->apart;
	const struct session *session = planner->session;
	struct perf_event_attr attr;
	int found = 0, p;

	*terms++ = 0;
	terms[strlen(terms) - 1] = 0;
	for (p = 0; p < session->num_pmus; p++) {
		const struct pmu *pmu = &session->pmu[p];
		char *why;

		if (!pmu_is(pmu, name, number))
			continue;
		why = event_attr(session, pmu, terms, &attr);
		if (why) {
			free(error);
			error = why;
			continue;
		}
		use_add(planner, item_of(planner, first, pmu, apart ? event : -1), terms, metric, cell,
			event);
		found++;
	}
	if (found) {
		free(error);
		error = NULL;
	} else if (!error) {
		error = number < 0 ? format("there is no PMU %s", name) :
			format("there is no PMU %s_%d", name, number);
	}
	free(name);
	return error;
}

static void cell_add(struct planner *planner, int m, char *name, const char *part, int number)
{
	struct plan_metric *pm = &planner->plan->metric[m];
	const struct metric *metric = pm->metric;
	int first = planner->num_items, i;
	struct cell *cell;

	pm->cell = grow(pm->cell, pm->num_cells, sizeof(*pm->cell));
	cell = &pm->cell[pm->num_cells];
	memset(cell, 0, sizeof(*cell));
	cell->name = name;
	for (i = 0; i < metric->num_events && !cell->why; i++) {
		char *text = replace_part(metric->event[i].text, metric, part);

		cell->why = resolve(planner, first, m, pm->num_cells, i, text, number);
		free(text);
	}
	/* What cannot be computed is not counted. */
	if (cell->why) {
		planner->num_items = first;
		while (planner->num_uses && planner->use[planner->num_uses - 1].item >= first)
			planner->num_uses--;
	}
	pm->num_cells++;
}

/* A cell for each number that a PMU of its events has. */
static void add_boxes(struct planner *planner, int m)
{
	const struct metric *metric = planner->plan->metric[m].metric;
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
			cell_add(planner, m, format("%s_%d", kind, i), NULL, i);
	}
}

static void metric_add(struct planner *planner, struct metric *metric)
{
	struct plan *plan = planner->plan;
	struct plan_metric *pm;
	int m = plan->num_metrics, i;

	plan->metric = grow(plan->metric, m, sizeof(*plan->metric));
	pm = &plan->metric[plan->num_metrics++];
	memset(pm, 0, sizeof(*pm));
	pm->metric = metric;
	if (!machine_is(planner->session, metric->group->machines)) {
		char *here = machine_names(planner->session->model);
		char *there = machine_names(metric->group->machines);

		pm->why = format("this machine is a %s, and it is for %s", here, there);
		free(here);
		free(there);
		return;
	}
	if (metric->scope == SCOPE_BOX)
		add_boxes(planner, m);
	else if (metric->scope == SCOPE_PART)
		for (i = 0; i < metric->num_parts; i++)
			cell_add(planner, m, format("%s", metric->part[i]), metric->part[i], -1);
	else
		cell_add(planner, m, NULL, NULL, -1);
	pm = &plan->metric[m];
	if (!pm->num_cells)
		pm->why = format("there is no box that has %s", metric->event[0].text);
}

/* ---- from items to counters ---- */

static int counter_add(struct planner *planner, const struct pmu *pmu, const char *terms, int pass)
{
	const struct session *session = planner->session;
	struct plan *plan = planner->plan;
	struct counter *counter;
	int i;

	for (i = 0; i < plan->num_counters; i++) {
		counter = &plan->counter[i];
		if (counter->pmu == pmu && counter->pass == pass && !strcmp(counter->terms, terms))
			return i;
	}
	plan->counter = grow(plan->counter, plan->num_counters, sizeof(*plan->counter));
	counter = &plan->counter[plan->num_counters];
	counter->pmu = pmu;
	counter->terms = format("%s", terms);
	counter->pass = pass;
	counter->reading = allocate(((size_t)session->cpus + session->packages + 1) *
				    sizeof(*counter->reading));
	if (pass >= plan->passes)
		plan->passes = pass + 1;
	return plan->num_counters++;
}

static void bind(struct planner *planner)
{
	struct plan *plan = planner->plan;
	int i;

	for (i = 0; i < planner->num_uses; i++) {
		const struct use *use = &planner->use[i];
		const struct item *item = &planner->item[use->item];
		struct cell *cell = &plan->metric[use->metric].cell[use->cell];
		int *num = &cell->event[use->event].num, pass;
		struct source source = {};

		if (item->why && !cell->why)
			cell->why = format("%s", item->why);
		if (cell->why)
			continue;
		for (pass = 0; pass < item->num_passes; pass++) {
			source.counter = grow(source.counter, source.num, sizeof(int));
			source.counter[source.num++] = counter_add(planner, item->pmu,
								   item->terms[use->at],
								   item->pass[pass]);
		}
		cell->event[use->event].source = grow(cell->event[use->event].source, *num,
						      sizeof(source));
		cell->event[use->event].source[(*num)++] = source;
	}
}

/* Does a value come from several boxes, so that one window matters? */
static bool wants_gate(const struct plan *plan)
{
	int m, c, e, i;

	for (m = 0; m < plan->num_metrics; m++) {
		for (c = 0; c < plan->metric[m].num_cells; c++) {
			const struct cell *cell = &plan->metric[m].cell[c];
			const struct pmu *pmu = NULL;

			for (e = 0; e < plan->metric[m].metric->num_events; e++) {
				for (i = 0; i < cell->event[e].num; i++) {
					const struct counter *counter =
						&plan->counter[cell->event[e].source[i].counter[0]];

					if (counter->pmu->core)
						continue;
					if (pmu && pmu != counter->pmu)
						return true;
					pmu = counter->pmu;
				}
			}
		}
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
	const struct session *session = planner->session;
	struct plan *plan = planner->plan;
	int passes = plan->passes, p, fd;

	for (p = 0; p < session->num_pmus; p++) {
		const struct pmu *pmu = &session->pmu[p];

		if (strcmp(pmu->name, "xeon7500_package"))
			continue;
		fd = open_one(planner, pmu, "gate", -1);
		if (fd < 0)
			continue;
		close(fd);
		plan->gate[0] = counter_add(planner, pmu, "gate", 0);
		plan->gate[1] = counter_add(planner, pmu, "gate", 1);
	}
	plan->passes = passes;
}

static int by_pmu_and_pass(const void *a, const void *b)
{
	const struct counter *x = a, *y = b;

	return x->pmu != y->pmu ? (x->pmu > y->pmu) - (x->pmu < y->pmu) : x->pass - y->pass;
}

/* In the order of perf's command line; before anybody refers to a counter by its place. */
static void sort_counters(struct planner *planner)
{
	struct plan *plan = planner->plan;
	int i, pass;

	for (i = 0; i < planner->num_uses; i++) {
		const struct use *use = &planner->use[i];
		const struct item *item = &planner->item[use->item];

		if (item->why || plan->metric[use->metric].cell[use->cell].why)
			continue;
		for (pass = 0; pass < item->num_passes; pass++)
			counter_add(planner, item->pmu, item->terms[use->at], item->pass[pass]);
	}
	if (plan->num_counters)
		qsort(plan->counter, plan->num_counters, sizeof(*plan->counter), by_pmu_and_pass);
}

static bool only_core(const struct planner *planner)
{
	int i;

	for (i = 0; i < planner->num_items; i++) {
		if (!planner->item[i].pmu->core)
			return false;
	}
	return planner->num_items;
}

int plan_make(struct session *session)
{
	const struct options *options = &session->options;
	struct plan *plan = &session->plan;
	struct planner planner = { .session = session, .plan = plan };
	int i, u;

	plan->gate[0] = plan->gate[1] = -1;
	for (i = 0; i < session->num_metrics; i++) {
		if (session->metric[i]->asked)
			metric_add(&planner, session->metric[i]);
	}
	plan->command_only = options->command && !options->all_cpus && only_core(&planner);
	pack_all(&planner);
	/* A cell that lacks one event needs none of the others. */
	for (u = 0; u < planner.num_uses; u++) {
		struct use *use = &planner.use[u];
		struct cell *cell = &plan->metric[use->metric].cell[use->cell];

		if (planner.item[use->item].why && !cell->why)
			cell->why = format("%s", planner.item[use->item].why);
	}
	if (!planner.status) {
		sort_counters(&planner);
		bind(&planner);
		/* What takes turns has no window in common, and times that do not tell what a gate does. */
		if (!options->no_gate && !plan->command_only && plan->passes == 1 && wants_gate(plan))
			add_gates(&planner);
	}
	free(planner.item);
	free(planner.use);
	return planner.status;
}
