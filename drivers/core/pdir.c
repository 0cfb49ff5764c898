// SPDX-License-Identifier: GPL-2.0-only
/*
 * PDIR: on 06_2A and 06_2D software should quiesce the other programmable counters of the core
 * while the precise distribution of INST_RETIRED is active (SDM, section 18.9.4.4).
 *
 * So an event that would run beside PDIR, or PDIR that would run beside an event, is refused
 * at add. perf then multiplexes them. The priority is perf's own, for both threads of a core:
 *
 *	pinned		never rotated: perf would put an event that waits into an error
 *			state. If it runs beside PDIR, pdir_disturbed counts it.
 *	CPU-wide	waits only for CPU-wide events
 *	task		waits for both
 *
 * On one CPU perf adds the events by this priority. Between the threads of a core, an event of a
 * higher priority asks the other thread to schedule its events again, which then wait for it. So
 * does an event of the same priority in the intervals of its thread. The clock alone says whose an
 * interval is, so no event gets more of the time by the way in which it comes and goes.
 * perf often removes CPU-wide events just to add them again, so tasks of the other thread wait.
 *
 * Each CPU notes its own events before it looks at the other thread's, so of two CPUs that add
 * events at the same time at least one sees the other.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitfield.h>
#include <linux/cpumask.h>
#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include <linux/topology.h>

#include "core_ext.h"
#include "kernel_function.h"

enum pdir_order {
	PDIR_TASK,
	PDIR_CPU,
	PDIR_PINNED,
	PDIR_NUM_ORDERS
};

/* The counter that an event needs */
enum pdir_kind {
	PDIR_OTHER,
	PDIR_EVENT,
	PDIR_NUM_PROGRAMMABLE,
	PDIR_FIXED = PDIR_NUM_PROGRAMMABLE,
	PDIR_REF_CYCLES = PDIR_FIXED + 2,
	PDIR_NUM_FIXED = 3,
	PDIR_NUM_KINDS = PDIR_FIXED + PDIR_NUM_FIXED
};

/* The requested priority, and the time in the upper bits. A request expires after an interval. */
#define PDIR_ASK_KIND	BIT_ULL(0)	/* set: PDIR_EVENT */
#define PDIR_ASK_ORDER	BIT_ULL(1)
#define PDIR_ASK_BITS	2

/**
 * struct pdir_cpu - the events on a CPU
 * @event: each of them; there can be no more than the CPU has counters
 * @noted: which of @on counts it; NULL: none
 * @num: how many
 * @on: how many need a programmable counter. The other thread reads it.
 * @ask: what the other thread shall make room for. It reads it.
 * @done: what was asked last and is done. The other thread reads it.
 * @left: when CPU-wide events last left their counters, ns. The other thread reads it.
 * @again: schedules the events of this CPU again. Only the other thread queues it.
 */
struct pdir_cpu {
	struct perf_event *event[X86_PMC_IDX_MAX];
	unsigned int *noted[X86_PMC_IDX_MAX];
	unsigned int num;
	unsigned int on[PDIR_NUM_ORDERS][PDIR_NUM_PROGRAMMABLE];
	u64 ask;
	u64 done;
	u64 left[PDIR_NUM_PROGRAMMABLE];
	call_single_data_t again;
};

static DEFINE_PER_CPU(struct pdir_cpu, pdir_cpus);

static struct {
	struct pmu *core;
	u16 select;
	/* The kernel's own way to have the events of a CPU scheduled again. Not exported. */
	void (*resched)(struct pmu *pmu);
	/* What was there; NULL: nothing is hooked. */
	int (*add)(struct perf_event *event, int flags);
	void (*del)(struct perf_event *event, int flags);
} pdir;

atomic_long_t core_ext_pdir_disturbed;

/* By which the kernel finds the counters of an event. ANY is not a part of it. */
static enum pdir_kind pdir_kind(const struct perf_event *event)
{
	/* The events of the fixed counters, in their order */
	static const u16 fixed[PDIR_NUM_FIXED] = { 0x00c0, 0x003c, 0x0300 };
	u64 raw = event->hw.config & X86_RAW_EVENT_MASK;
	int i;

	if (event->attr.precise_ip)
		return raw == pdir.select ? PDIR_EVENT : PDIR_OTHER;
	for (i = 0; i < PDIR_NUM_FIXED; i++) {
		if (raw == fixed[i])
			return PDIR_FIXED + i;
	}
	return PDIR_OTHER;
}

static enum pdir_kind pdir_kind_on(const struct pdir_cpu *c, const struct perf_event *event)
{
	enum pdir_kind kind = pdir_kind(event);
	unsigned int i;

	if (kind < PDIR_FIXED)
		return kind;
	/*
	 * A second one of its kind needs a programmable counter. Which of the two gets it may
	 * change with every event that comes or goes.
	 */
	for (i = 0; i < c->num; i++) {
		if (pdir_kind(c->event[i]) == kind)
			return PDIR_OTHER;
	}
	return kind;
}

/* Reference cycles have no other counter than the fixed one. Has another event it? */
static bool pdir_taken(const struct pdir_cpu *c, const struct perf_event *event)
{
	return pdir_kind(event) == PDIR_REF_CYCLES && pdir_kind_on(c, event) == PDIR_OTHER;
}

/*
 * Does the group of an event hold PDIR and something else that needs a programmable counter? At add
 * @c has the events beside it, and those that are off do not count; that a counter is taken does.
 * At open it is NULL.
 */
static bool pdir_group_conflicts(const struct pdir_cpu *c, const struct perf_event *event)
{
	unsigned int of_kind[PDIR_NUM_KINDS] = {}, programmable;
	const struct perf_event *leader = event->group_leader, *other;
	int i;

	of_kind[c ? pdir_kind_on(c, event) : pdir_kind(event)]++;
	if (leader != event && leader->pmu == event->pmu)
		of_kind[pdir_kind(leader)]++;
	for_each_sibling_event(other, leader) {
		if (other == event || other->pmu != event->pmu ||
		    (c && other->state <= PERF_EVENT_STATE_OFF))
			continue;
		if (c && pdir_taken(c, other))
			return true;
		of_kind[c ? pdir_kind_on(c, other) : pdir_kind(other)]++;
	}

	programmable = of_kind[PDIR_OTHER] + of_kind[PDIR_EVENT];
	for (i = 0; i < PDIR_NUM_FIXED; i++)
		programmable += of_kind[PDIR_FIXED + i] > 1;
	return of_kind[PDIR_EVENT] && programmable > 1;
}

/* Is an event the first of its group that perf adds to this PMU? */
static bool pdir_first(const struct perf_event *event)
{
	const struct perf_event *leader = event->group_leader, *other;

	if (leader->pmu == event->pmu)
		return leader == event;
	for_each_sibling_event(other, leader) {
		if (other->pmu == event->pmu && other->state > PERF_EVENT_STATE_OFF)
			return other == event;
	}
	return false;
}

static enum pdir_order pdir_order(const struct perf_event *event)
{
	if (event->group_leader->attr.pinned)
		return PDIR_PINNED;
	return event->attach_state & PERF_ATTACH_TASK ? PDIR_TASK : PDIR_CPU;
}

/* How many events of an order on a CPU one of this kind cannot run beside */
static unsigned int pdir_conflicts(const struct pdir_cpu *c, enum pdir_order order,
				   enum pdir_kind kind)
{
	return READ_ONCE(c->on[order][PDIR_EVENT]) +
	       (kind == PDIR_EVENT ? READ_ONCE(c->on[order][PDIR_OTHER]) : 0);
}

/* The highest order of events on a CPU that one of this kind cannot run beside; -1: none */
static int pdir_conflict(const struct pdir_cpu *c, enum pdir_kind kind)
{
	int order = PDIR_CPU;

	while (order >= PDIR_TASK && !pdir_conflicts(c, order, kind))
		order--;
	return order;
}

/* How often perf tries again to add an event that waits, ns */
static u64 pdir_interval(void)
{
	return (u64)pdir.core->hrtimer_interval_ms * NSEC_PER_MSEC;
}

/*
 * Is this an interval of the first or the second thread of a core? Each has half of them, without a
 * short period: perf rotates events once in an interval, and the same of two would always wait.
 */
static bool pdir_turn(bool second, u64 now)
{
	return hash_64(div64_u64(now, pdir_interval()), 1) == second;
}

/* Has a CPU-wide event that one of this kind cannot run beside left a CPU just now? */
static bool pdir_left(const struct pdir_cpu *c, enum pdir_kind kind, u64 now)
{
	u64 left = READ_ONCE(c->left[PDIR_EVENT]);

	if (kind == PDIR_EVENT)
		left = max(left, READ_ONCE(c->left[PDIR_OTHER]));
	/* It may have left after @now. */
	return left && (s64)(now - left) < (s64)(10 * pdir_interval());
}

/* The order of what a CPU asks for, if an event of this kind cannot run beside it; -1: none */
static int pdir_asked(u64 ask, enum pdir_kind kind, u64 now)
{
	if (!ask || time_after64(now, ask + pdir_interval()) ||
	    (kind != PDIR_EVENT && !(ask & PDIR_ASK_KIND)))
		return -1;
	return FIELD_GET(PDIR_ASK_ORDER, ask);
}

static void pdir_ask(struct pdir_cpu *c, enum pdir_order order, enum pdir_kind kind, u64 now,
		     int cpu)
{
	WRITE_ONCE(c->ask, now >> PDIR_ASK_BITS << PDIR_ASK_BITS |
		   FIELD_PREP(PDIR_ASK_ORDER, order) | FIELD_PREP(PDIR_ASK_KIND, kind));
	smp_call_function_single_async(cpu, &per_cpu(pdir_cpus, cpu).again);
}

/*
 * Must an event wait for the other thread? An event that has priority asks it to make room, and is
 * added again when it has.
 */
static bool pdir_waits(struct pdir_cpu *c, enum pdir_order order, enum pdir_kind kind)
{
	u64 now = ktime_get_mono_fast_ns();
	int cpu, self = smp_processor_id();

	for_each_cpu(cpu, topology_sibling_cpumask(self)) {
		const struct pdir_cpu *other = &per_cpu(pdir_cpus, cpu);
		int runs, asked, prior;

		if (cpu == self)
			continue;
		prior = order + pdir_turn(self > cpu, now);
		runs = pdir_conflict(other, kind);
		asked = order == PDIR_TASK && pdir_left(other, kind, now) ?
			PDIR_CPU : pdir_asked(READ_ONCE(other->ask), kind, now);
		/* Who has made room in the other's interval does not come back within it. */
		if (prior == (int)order)
			asked = max(asked, pdir_asked(READ_ONCE(other->done), kind, now));
		if (runs < 0 && asked < prior)
			return false;
		if (asked < prior && runs < prior)
			pdir_ask(c, order, kind, now, cpu);
		return true;
	}
	return false;
}

/* Schedule the events here again, for the other thread, and let it know. */
static void pdir_again(void *unused)
{
	struct pdir_cpu *c = this_cpu_ptr(&pdir_cpus);
	int cpu, self = smp_processor_id();
	u64 ask = c->ask;

	pdir.resched(pdir.core);
	if (ask)
		WRITE_ONCE(c->done, ask);
	/* The request is done, unless a new one has just come. */
	if (c->ask == ask)
		WRITE_ONCE(c->ask, 0);
	for_each_cpu(cpu, topology_sibling_cpumask(self)) {
		struct pdir_cpu *other = &per_cpu(pdir_cpus, cpu);

		if (cpu != self && READ_ONCE(other->ask))
			smp_call_function_single_async(cpu, &other->again);
	}
}

/* Does an event run beside PDIR? Only pinned events can cause this. */
static bool pdir_disturbs(enum pdir_order order, enum pdir_kind kind)
{
	int first = order == PDIR_PINNED ? 0 : PDIR_PINNED;
	int cpu, self = smp_processor_id();
	int other;

	for_each_cpu(cpu, topology_sibling_cpumask(self)) {
		for (other = first; other < PDIR_NUM_ORDERS; other++) {
			/* It is not beside itself. */
			bool itself = cpu == self && other == order && kind == PDIR_EVENT;

			if (pdir_conflicts(&per_cpu(pdir_cpus, cpu), other, kind) > itself)
				return true;
		}
	}
	return false;
}

static void pdir_forget(struct pdir_cpu *c, const struct perf_event *event, bool ran)
{
	unsigned int i, kind;

	/* An event that was there before us has not been noted. */
	for (i = 0; i < c->num && c->event[i] != event; i++)
		;
	if (i == c->num)
		return;
	if (c->noted[i]) {
		for (kind = 0; kind < PDIR_NUM_PROGRAMMABLE; kind++) {
			if (ran && c->noted[i] == &c->on[PDIR_CPU][kind])
				WRITE_ONCE(c->left[kind], ktime_get_mono_fast_ns());
		}
		WRITE_ONCE(*c->noted[i], *c->noted[i] - 1);
	}
	c->num--;
	c->event[i] = c->event[c->num];
	c->noted[i] = c->noted[c->num];
}

static int pdir_add(struct perf_event *event, int flags)
{
	struct pdir_cpu *c = this_cpu_ptr(&pdir_cpus);
	enum pdir_order order = pdir_order(event);
	enum pdir_kind kind = pdir_kind_on(c, event);
	unsigned int *noted = kind < PDIR_FIXED ? &c->on[order][kind] : NULL;
	bool may_wait = noted && order < PDIR_PINNED;
	int err;

	/* The kernel prefers the counter that an event had before. It shall take the fixed one. */
	if (pdir_kind(event) >= PDIR_FIXED && event->hw.idx < INTEL_PMC_IDX_FIXED)
		event->hw.idx = -1;
	/* Do not ask for room that is of no use. */
	if (pdir_taken(c, event))
		return -EAGAIN;
	/* Do not ask for room for the first of a group whose others cannot follow it. */
	if (order < PDIR_PINNED && event->group_leader->nr_siblings && pdir_first(event) &&
	    pdir_group_conflicts(c, event))
		return -EAGAIN;
	/* Do not note an event that has to wait anyway: the other thread would wait for it. */
	if (may_wait && (pdir_conflict(c, kind) >= 0 || pdir_waits(c, order, kind)))
		return -EAGAIN;
	c->event[c->num] = event;
	c->noted[c->num++] = noted;
	if (noted)
		WRITE_ONCE(*noted, *noted + 1);
	/* Note ours before reading the other thread's. Pairs with itself on the other thread. */
	smp_mb();
	err = may_wait && pdir_waits(c, order, kind) ? -EAGAIN : pdir.add(event, flags);
	if (err) {
		pdir_forget(c, event, false);
		return err;
	}
	if (noted && pdir_disturbs(order, kind))
		atomic_long_inc(&core_ext_pdir_disturbed);
	return 0;
}

static void pdir_del(struct perf_event *event, int flags)
{
	/* Set at add and cleared at start: an event whose group found no place has not run. */
	bool ran = !(event->hw.state & PERF_HES_UPTODATE);

	pdir.del(event, flags);
	pdir_forget(this_cpu_ptr(&pdir_cpus), event, ran);
}

/**
 * core_ext_pdir_check_group() - can the group of a new sibling ever be scheduled?
 * @event: the sibling, accepted by the core PMU
 *
 * Return: 0, or -EINVAL when it holds PDIR and something else that needs a
 * programmable counter.
 */
int core_ext_pdir_check_group(struct perf_event *event)
{
	if (!pdir_group_conflicts(NULL, event))
		return 0;
	return core_ext_undo_init(event, core_ext_refuse(event, -EINVAL,
		"PDIR and another programmable counter in one group"));
}

/**
 * core_ext_pdir_start() - put our functions around add and del
 * @core: the core PMU
 * @model: the CPU
 *
 * Return: 0, or an errno: nothing is hooked.
 */
int core_ext_pdir_start(struct pmu *core, const struct core_ext_model *model)
{
	int cpu;

	pdir.resched = kernel_function("perf_pmu_resched");
	if (!pdir.resched) {
		pr_err("cannot find perf_pmu_resched(), which enforce needs\n");
		return -EOPNOTSUPP;
	}
	for_each_online_cpu(cpu) {
		if (cpumask_weight(topology_sibling_cpumask(cpu)) > 2) {
			pr_err("enforce does not know cores of more than two threads\n");
			return -EOPNOTSUPP;
		}
	}
	pdir.core = core;
	pdir.select = model->pdir;
	for_each_possible_cpu(cpu)
		INIT_CSD(&per_cpu(pdir_cpus, cpu).again, pdir_again, NULL);
	/* del first: it must see whatever add has noted. */
	core_ext_hook(&core->del, &pdir.del, pdir_del);
	core_ext_hook(&core->add, &pdir.add, pdir_add);
	/* Events that are already on a counter are added again, now through our function. */
	on_each_cpu(pdir_again, NULL, 1);
	return 0;
}

/**
 * core_ext_pdir_stop() - give add and del back
 *
 * Afterwards no CPU is in a function of this file that perf called through them.
 */
void core_ext_pdir_stop(void)
{
	int pass;

	if (!pdir.add)
		return;
	core_ext_unhook(&pdir.core->add, pdir.add, pdir_add);
	core_ext_unhook(&pdir.core->del, pdir.del, pdir_del);
	/*
	 * perf calls them with interrupts off, so RCU waits for them. What they have queued runs in
	 * an interrupt, for which the second pass waits, and the third for what that has queued.
	 */
	for (pass = 0; pass < 3; pass++) {
		kick_all_cpus_sync();
		synchronize_rcu();
	}
}
