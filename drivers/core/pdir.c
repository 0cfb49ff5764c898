// SPDX-License-Identifier: GPL-2.0-only
/*
 * PDIR: on 06_2A and 06_2D the precise distribution of INST_RETIRED holds only
 * while no other programmable counter of the core runs (SDM, section 18.9.4.4).
 *
 * perf schedules events onto the counters of a CPU one group after the other and
 * rotates those that found no place. So it is enough to turn away, at add, a PDIR
 * event that comes to a core in use and whatever comes to a core that PDIR uses:
 * they take turns. Fixed counters do not disturb.
 *
 * The sibling thread's counters belong to the same core, but perf does not rotate one CPU's
 * events for the sake of another. So a thread that was turned away because of its sibling
 * reserves the core after a while (the time perf gives to a turn), makes the sibling
 * schedule its events again, which the reservation now turns away, and then schedules
 * its own. The next turn is the sibling's.
 *
 * A pinned event cannot wait: perf would give it up for good. So pinned events are
 * never turned away and turn nobody away. If one of them meets PDIR, PDIR is disturbed, and
 * this is counted.
 *
 * Each CPU notes its own events first and looks at its siblings after, so of two CPUs
 * that come at the same time at least one sees the other.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include <linux/topology.h>

#include "compat.h"
#include "core_ext.h"

/* What an event needs. PINNED_ ones are of no concern but to be counted. */
enum {
	PDIR_NOTHING,
	PDIR_FIXED,
	PDIR_NUM_FIXED = 3,
	PDIR_PROGRAMMABLE = PDIR_FIXED + PDIR_NUM_FIXED,
	PDIR_EVENT,
	PDIR_PINNED_PROGRAMMABLE,
	PDIR_PINNED_EVENT,
	PDIR_NUM_KINDS
};

/**
 * struct pdir_cpu - the events on a CPU
 * @event: each of them; there can be no more than the CPU has counters
 * @kind: what it needs
 * @num: how many
 * @of_kind: how many of each kind. Siblings read it.
 * @reserved: until the siblings have given way, nothing comes to the core that excludes
 *	this kind; on this CPU nothing else of the rest comes first. Siblings read it.
 * @wanted: kind of the first event that was turned away because of a sibling
 * @turn: when to ask the siblings to give way
 * @give_way: runs on this CPU when a sibling asks it
 * @take: runs on this CPU when they have
 * @turns: how often that was
 * @disturbed: how often something came to run beside PDIR
 */
struct pdir_cpu {
	struct perf_event *event[X86_PMC_IDX_MAX];
	u8 kind[X86_PMC_IDX_MAX];
	unsigned int num;
	unsigned int of_kind[PDIR_NUM_KINDS];
	u8 reserved;
	u8 wanted;
	struct hrtimer turn;
	call_single_data_t give_way;
	call_single_data_t take;
	unsigned long turns;
	unsigned long disturbed;
};

static DEFINE_PER_CPU(struct pdir_cpu, pdir_cpus);

static struct {
	struct pmu *core;
	u16 select;
	/* The kernel's own way to have the events of a CPU scheduled again. Not exported. */
	void (*resched)(struct pmu *pmu);
} pdir;

/* By which the kernel finds the counters of an event. ANY is not a part of it. */
static u64 pdir_raw(const struct perf_event *event)
{
	return event->hw.config & X86_RAW_EVENT_MASK;
}

/* The counter that an event needs, if it is the only one of its kind. */
static unsigned int pdir_kind(const struct perf_event *event)
{
	/* The events of the fixed counters, in their order */
	static const u16 fixed[PDIR_NUM_FIXED] = { 0x00c0, 0x003c, 0x0300 };
	u64 raw = pdir_raw(event);
	int i;

	if (event->attr.precise_ip)
		return raw == pdir.select ? PDIR_EVENT : PDIR_PROGRAMMABLE;
	for (i = 0; i < PDIR_NUM_FIXED; i++) {
		if (raw == fixed[i])
			return PDIR_FIXED + i;
	}
	return PDIR_PROGRAMMABLE;
}

static unsigned int pdir_counter_on(const struct pdir_cpu *c, const struct perf_event *event)
{
	unsigned int kind = pdir_kind(event);
	unsigned int i;

	if (kind >= PDIR_PROGRAMMABLE)
		return kind;
	/* The kernel prefers to give an event the counter that it had before. */
	if (event->hw.idx >= 0 && event->hw.idx < INTEL_PMC_IDX_FIXED)
		return PDIR_PROGRAMMABLE;
	/*
	 * A second one of its kind needs a programmable counter. Which of the two gets that
	 * may change with every event that comes or goes, whatever has been noted of the
	 * other.
	 */
	for (i = 0; i < c->num; i++) {
		if (pdir_kind(c->event[i]) == kind)
			return PDIR_PROGRAMMABLE;
	}
	return kind;
}

static unsigned int pdir_kind_on(const struct pdir_cpu *c, const struct perf_event *event)
{
	unsigned int kind = pdir_counter_on(c, event);

	if (kind < PDIR_PROGRAMMABLE || !event->group_leader->attr.pinned)
		return kind;
	return kind == PDIR_EVENT ? PDIR_PINNED_EVENT : PDIR_PINNED_PROGRAMMABLE;
}

/* Of another CPU, or of this one but for @self events that were noted already */
static bool pdir_conflict(const struct pdir_cpu *c, unsigned int kind, unsigned int self)
{
	unsigned int pdir_events = READ_ONCE(c->of_kind[PDIR_EVENT]);

	if (kind == PDIR_EVENT)
		return pdir_events + READ_ONCE(c->of_kind[PDIR_PROGRAMMABLE]) > self;
	return pdir_events;
}

static ktime_t pdir_interval(void)
{
	return ms_to_ktime(pdir.core->hrtimer_interval_ms);
}

/* A sibling does not let this event run. Ask it to, when it has had its turn. */
static void pdir_want(struct pdir_cpu *c, unsigned int kind)
{
	if (!c->wanted)
		c->wanted = kind;
	if (!hrtimer_active(&c->turn))
		hrtimer_start(&c->turn, pdir_interval(), HRTIMER_MODE_REL_PINNED_HARD);
}

/* Must an event of this kind wait, noted on this CPU already? */
static bool pdir_waits(struct pdir_cpu *c, unsigned int kind)
{
	bool here, there = false;
	int cpu, self = smp_processor_id();

	if (kind != PDIR_PROGRAMMABLE && kind != PDIR_EVENT)
		return false;
	here = pdir_conflict(c, kind, 1) || (c->reserved && c->reserved != kind);
	for_each_cpu(cpu, topology_sibling_cpumask(self)) {
		const struct pdir_cpu *other = &per_cpu(pdir_cpus, cpu);
		u8 reserved = READ_ONCE(other->reserved);

		if (cpu == self)
			continue;
		there |= pdir_conflict(other, kind, 0) || reserved == PDIR_EVENT ||
			 (reserved && kind == PDIR_EVENT);
	}
	if (there)
		pdir_want(c, kind);
	return here || there;
}

/*
 * An event has come to run: does it run beside PDIR, or PDIR beside others? Not unless one of
 * them is pinned. Of the rest each waits for the other, and may be noted just to find that out.
 */
static bool pdir_disturbs(unsigned int kind)
{
	unsigned int pdir_events = 0, others = 0, pinned = 0;
	int cpu;

	if (kind < PDIR_PROGRAMMABLE)
		return false;
	for_each_cpu(cpu, topology_sibling_cpumask(smp_processor_id())) {
		const struct pdir_cpu *c = &per_cpu(pdir_cpus, cpu);
		unsigned int pinned_events = READ_ONCE(c->of_kind[PDIR_PINNED_EVENT]);
		unsigned int pinned_others = READ_ONCE(c->of_kind[PDIR_PINNED_PROGRAMMABLE]);

		pdir_events += READ_ONCE(c->of_kind[PDIR_EVENT]) + pinned_events;
		others += READ_ONCE(c->of_kind[PDIR_PROGRAMMABLE]) + pinned_others;
		pinned += pinned_events + pinned_others;
	}
	return pinned && pdir_events && pdir_events + others > 1;
}

static void pdir_forget(struct pdir_cpu *c, const struct perf_event *event)
{
	unsigned int i;

	/* An event that was there before us has not been noted. */
	for (i = 0; i < c->num && c->event[i] != event; i++)
		;
	if (i == c->num)
		return;
	WRITE_ONCE(c->of_kind[c->kind[i]], c->of_kind[c->kind[i]] - 1);
	c->num--;
	c->event[i] = c->event[c->num];
	c->kind[i] = c->kind[c->num];
}

/**
 * core_ext_pdir_add() - around the core PMU's add
 * @event: event to put on this CPU
 * @flags: PERF_EF_START
 *
 * Return: what the core PMU says, or -EAGAIN: not now.
 */
int core_ext_pdir_add(struct perf_event *event, int flags)
{
	struct pdir_cpu *c = this_cpu_ptr(&pdir_cpus);
	unsigned int kind = pdir_kind_on(c, event);
	int err;

	if (WARN_ON_ONCE(c->num == ARRAY_SIZE(c->event)))
		return -EAGAIN;
	c->event[c->num] = event;
	c->kind[c->num++] = kind;
	WRITE_ONCE(c->of_kind[kind], c->of_kind[kind] + 1);
	/* Ours is noted before the siblings' are read. Pairs with itself over there. */
	smp_mb();
	err = pdir_waits(c, kind) ? -EAGAIN : core_ext_orig_add(event, flags);
	if (err)
		pdir_forget(c, event);
	else if (pdir_disturbs(kind))
		c->disturbed++;
	return err;
}

/**
 * core_ext_pdir_del() - around the core PMU's del
 * @event: event to take off this CPU
 * @flags: as perf gives them
 */
void core_ext_pdir_del(struct perf_event *event, int flags)
{
	core_ext_orig_del(event, flags);
	pdir_forget(this_cpu_ptr(&pdir_cpus), event);
}

/* This CPU has waited long enough: reserve the core and ask the siblings to give way. */
static enum hrtimer_restart pdir_turn(struct hrtimer *timer)
{
	struct pdir_cpu *c = container_of(timer, struct pdir_cpu, turn);
	int cpu, self = smp_processor_id();

	/* If this is the second time, nobody has heard. */
	WRITE_ONCE(c->reserved, PDIR_NOTHING);
	/* The timers of a CPU that has gone are another's. */
	if (c != this_cpu_ptr(&pdir_cpus) || !c->wanted)
		return HRTIMER_NORESTART;
	/* Whose event wanted it may have left meanwhile. */
	c->wanted = PDIR_NOTHING;
	pdir.resched(pdir.core);
	if (!c->wanted)
		return HRTIMER_NORESTART;
	WRITE_ONCE(c->reserved, c->wanted);
	for_each_cpu(cpu, topology_sibling_cpumask(self)) {
		if (cpu != self)
			smp_call_function_single_async(cpu, &per_cpu(pdir_cpus, cpu).give_way);
	}
	hrtimer_forward_now(timer, pdir_interval());
	return HRTIMER_RESTART;
}

static void pdir_give_way(void *unused)
{
	int cpu, self = smp_processor_id();

	pdir.resched(pdir.core);
	for_each_cpu(cpu, topology_sibling_cpumask(self)) {
		struct pdir_cpu *other = &per_cpu(pdir_cpus, cpu);

		if (cpu != self && READ_ONCE(other->reserved))
			smp_call_function_single_async(cpu, &other->take);
	}
}

static void pdir_take(void *unused)
{
	struct pdir_cpu *c = this_cpu_ptr(&pdir_cpus);

	/* When this CPU has to wait again, it will be for a whole turn. */
	hrtimer_try_to_cancel(&c->turn);
	c->wanted = PDIR_NOTHING;
	pdir.resched(pdir.core);
	WRITE_ONCE(c->reserved, PDIR_NOTHING);
	c->turns++;
}

static void pdir_count(unsigned int *of_kind, const struct perf_event *event,
		       const struct pmu *core)
{
	if (event->pmu == core)
		of_kind[pdir_kind(event)]++;
}

/**
 * core_ext_pdir_check_group() - can the group of a new event ever be scheduled?
 * @event: the event, accepted by the core PMU
 *
 * Return: 0, or -EINVAL when it holds PDIR and something else that needs a
 * programmable counter.
 */
int core_ext_pdir_check_group(struct perf_event *event)
{
	unsigned int of_kind[PDIR_NUM_KINDS] = {};
	struct perf_event *leader = event->group_leader;
	unsigned int programmable;
	struct perf_event *other;
	int i;

	if (leader == event)
		return 0;
	pdir_count(of_kind, event, event->pmu);
	pdir_count(of_kind, leader, event->pmu);
	for_each_sibling_event(other, leader)
		pdir_count(of_kind, other, event->pmu);

	programmable = of_kind[PDIR_PROGRAMMABLE] + of_kind[PDIR_EVENT];
	for (i = 0; i < PDIR_NUM_FIXED; i++)
		programmable += of_kind[PDIR_FIXED + i] > 1;
	if (!of_kind[PDIR_EVENT] || programmable == 1)
		return 0;
	return core_ext_undo_init(event, core_ext_refuse(event, -EINVAL,
		"PDIR and another programmable counter in one group"));
}

/**
 * core_ext_pdir_turns() - how often a core has gone from one thread to another
 *
 * Return: the sum over all CPUs.
 */
unsigned long core_ext_pdir_turns(void)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(pdir_cpus, cpu).turns);
	return sum;
}

/**
 * core_ext_pdir_disturbed() - how often something came to run beside PDIR
 *
 * Return: the sum over all CPUs.
 */
unsigned long core_ext_pdir_disturbed(void)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(pdir_cpus, cpu).disturbed);
	return sum;
}

/**
 * core_ext_pdir_start() - before the first event is added through us
 * @core: the core PMU
 * @model: the CPU
 *
 * Return: 0, or an errno if threads could not take turns.
 */
int core_ext_pdir_start(struct pmu *core, const struct core_ext_model *model)
{
	struct kprobe probe = { .symbol_name = "perf_pmu_resched" };
	int cpu, err;

	err = register_kprobe(&probe);
	if (err) {
		pr_err("cannot find perf_pmu_resched() (%d), which enforce needs\n", err);
		return err;
	}
	pdir.resched = (void *)probe.addr;
	unregister_kprobe(&probe);
	pdir.core = core;
	pdir.select = model->pdir;
	for_each_possible_cpu(cpu) {
		struct pdir_cpu *c = &per_cpu(pdir_cpus, cpu);

		hrtimer_setup(&c->turn, pdir_turn, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
		INIT_CSD(&c->give_way, pdir_give_way, NULL);
		INIT_CSD(&c->take, pdir_take, NULL);
	}
	return 0;
}

static void pdir_resched_here(void *unused)
{
	pdir.resched(pdir.core);
}

/**
 * core_ext_pdir_catch_up() - note the events that are on already
 *
 * They are scheduled again, now through us.
 */
void core_ext_pdir_catch_up(void)
{
	on_each_cpu(pdir_resched_here, NULL, 1);
}

static void pdir_nothing(void *unused)
{
}

/**
 * core_ext_pdir_stop() - when no event is added through us any more
 */
void core_ext_pdir_stop(void)
{
	int cpu;

	if (!pdir.core)
		return;
	for_each_possible_cpu(cpu)
		hrtimer_cancel(&per_cpu(pdir_cpus, cpu).turn);
	/* Wait for what the timers have asked for, and for what that has asked for. */
	on_each_cpu(pdir_nothing, NULL, 1);
	on_each_cpu(pdir_nothing, NULL, 1);
}
