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
 * The sibling thread's counters belong to the same core. Each CPU notes its own
 * events first and looks at its siblings after, so of two CPUs that come at the same
 * time at least one sees the other.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include <linux/topology.h>

#include "core_ext.h"

/* What an event needs; the fixed counters come first. */
enum {
	PDIR_NUM_FIXED = 3,
	PDIR_PROGRAMMABLE = PDIR_NUM_FIXED,
	PDIR_EVENT,
	PDIR_NUM_KINDS
};

/**
 * struct pdir_cpu - the events on a CPU
 * @event: each of them; there can be no more than the CPU has counters
 * @kind: what it needs
 * @num: how many
 * @of_kind: how many of each kind. Siblings read it.
 */
struct pdir_cpu {
	struct perf_event *event[X86_PMC_IDX_MAX];
	u8 kind[X86_PMC_IDX_MAX];
	unsigned int num;
	unsigned int of_kind[PDIR_NUM_KINDS];
};

static DEFINE_PER_CPU(struct pdir_cpu, pdir_cpus);
static u16 pdir_select;

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
		return raw == pdir_select ? PDIR_EVENT : PDIR_PROGRAMMABLE;
	for (i = 0; i < PDIR_NUM_FIXED; i++) {
		if (raw == fixed[i])
			return i;
	}
	return PDIR_PROGRAMMABLE;
}

static unsigned int pdir_kind_on(const struct pdir_cpu *c, const struct perf_event *event)
{
	unsigned int kind = pdir_kind(event);
	unsigned int i;

	if (kind >= PDIR_NUM_FIXED)
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

/* How many events of a kind there are in the core of this CPU. */
static unsigned int pdir_in_core(unsigned int kind)
{
	unsigned int num = 0;
	int cpu;

	for_each_cpu(cpu, topology_sibling_cpumask(smp_processor_id()))
		num += READ_ONCE(per_cpu(pdir_cpus, cpu).of_kind[kind]);
	return num;
}

static bool pdir_conflict(unsigned int kind)
{
	unsigned int pdir;

	if (kind < PDIR_NUM_FIXED)
		return false;
	pdir = pdir_in_core(PDIR_EVENT);
	if (kind == PDIR_EVENT)
		return pdir > 1 || pdir_in_core(PDIR_PROGRAMMABLE);
	return pdir;
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
	err = pdir_conflict(kind) ? -EAGAIN : core_ext_orig_add(event, flags);
	if (err)
		pdir_forget(c, event);
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
		programmable += of_kind[i] > 1;
	if (!of_kind[PDIR_EVENT] || programmable == 1)
		return 0;
	return core_ext_undo_init(event, core_ext_refuse(event, -EINVAL,
		"PDIR and another programmable counter in one group"));
}

/**
 * core_ext_pdir_prepare() - before the first event is added through us
 * @model: the CPU
 */
void core_ext_pdir_prepare(const struct core_ext_model *model)
{
	int cpu;

	pdir_select = model->pdir;
	for_each_possible_cpu(cpu)
		memset(&per_cpu(pdir_cpus, cpu), 0, sizeof(struct pdir_cpu));
}

/**
 * core_ext_pdir_catch_up() - note the events that are on already
 *
 * A new pinned event makes perf take all others off its CPU and put them on again,
 * now through us.
 */
void core_ext_pdir_catch_up(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.size = sizeof(attr),
		.pinned = 1,
	};
	int cpu;

	for_each_online_cpu(cpu) {
		struct perf_event *event;

		event = perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);
		/* A CPU that goes takes its events off itself. */
		if (!IS_ERR(event))
			perf_event_release_kernel(event);
	}
}
