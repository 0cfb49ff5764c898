// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packages: U_GLOBAL_CTL above the boxes, and the CPU that serves it.
 *
 * U_GLOBAL_CTL concerns every counter of the package, so only this file writes it, and the
 * self-test while it has the package locked. en_all is set with the first counter that is to run,
 * and cleared with the last.
 *
 * An idle package is clean, and its registers are unknown afterwards: other programs may use
 * them. While events count, their registers are checked once a second, and the counters
 * read long before one can pass 2^48 unseen.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/slab.h>
#include <asm/msr.h>

#include "compat.h"
#include "uncore.h"
#include "xeon7500/ubox.h"

/*
 * No counter gains more than 64 per uncore clock (S-Box queue occupancy), and no uncore
 * clock reaches 4 GHz: half of 2^48 takes 549 s.
 */
#define UNCORE_READ_TICKS	256

struct uncore_package *uncore_packages;
unsigned int uncore_num_packages;

/**
 * uncore_package_call() - run a function on the CPU that serves a package
 * @pkg: the package
 * @func: it runs with interrupts off
 * @info: for @func
 *
 * Takes no lock: a CPU that is offline refuses, and another one may have taken over.
 *
 * Return: 0, or -ENODEV if no CPU of the package is online.
 */
int uncore_package_call(struct uncore_package *pkg, smp_call_func_t func, void *info)
{
	int cpu, tried = -1;

	while ((cpu = READ_ONCE(pkg->cpu)) != tried && cpu >= 0) {
		if (!smp_call_function_single(cpu, func, info, 1))
			return 0;
		tried = cpu;
	}
	return -ENODEV;
}

/* The only place that decides this. uncore_box_wanted() decides it for counters of a box. */
static bool uncore_package_is_held(const struct uncore_package *pkg)
{
	const struct uncore_hold *hold = &pkg->hold;

	return hold->open != hold->gates || hold->frozen || hold->asleep ||
	       hold->testing || (hold->moving && hold->gates);
}

/** uncore_package_runs() - is en_all to be 1? With a counter to run, unless it is held back */
bool uncore_package_runs(const struct uncore_package *pkg)
{
	return pkg->active && !uncore_package_is_held(pkg);
}

static u32 uncore_package_wanted_ctl(struct uncore_package *pkg)
{
	u32 ctl;

	if (!uncore_package_runs(pkg))
		return 0;
	ctl = U_GLOBAL_CTL_EN_ALL;
	if (uncore_box_wanted(&pkg->box[UNCORE_UBOX]))
		ctl |= U_GLOBAL_CTL_EN;
	if (pkg->pmi.events)
		ctl |= U_GLOBAL_CTL_PMI_CORE_SEL;
	if (pkg->pmi.freezing)
		ctl |= U_GLOBAL_CTL_FRZ_ALL;
	return ctl;
}

static void uncore_package_set_ctl(struct uncore_package *pkg, u32 ctl)
{
	pkg->global_ctl = ctl;
	wrmsrq(U_MSR_PMON_GLOBAL_CTL, ctl);
	pkg->ctl_ns = local_clock();
	uncore_stopwatch_run(&pkg->held, uncore_package_is_held(pkg), pkg->ctl_ns, NULL);
}

/** uncore_package_write_ctl() - write U_GLOBAL_CTL, also if it has not changed */
void uncore_package_write_ctl(struct uncore_package *pkg)
{
	uncore_package_set_ctl(pkg, uncore_package_wanted_ctl(pkg));
}

/**
 * uncore_package_apply() - start and stop the counters of some boxes as wanted now
 * @pkg: the package
 * @boxes: these, bit n for box n
 *
 * Stop the whole package first, and start it last, so that all counters do so at once.
 */
void uncore_package_apply(struct uncore_package *pkg, unsigned long boxes)
{
	u32 ctl;
	int id;

	for_each_uncore_bit(id, boxes)
		__assign_bit(id, &pkg->active, uncore_box_running(&pkg->box[id]));
	ctl = uncore_package_wanted_ctl(pkg);
	if (ctl != pkg->global_ctl && !(ctl & ~pkg->global_ctl & U_GLOBAL_CTL_EN_ALL))
		uncore_package_set_ctl(pkg, ctl);
	for_each_uncore_bit(id, boxes)
		uncore_box_write_enable(&pkg->box[id]);
	if (ctl != pkg->global_ctl)
		uncore_package_set_ctl(pkg, ctl);
	else
		uncore_stopwatch_run(&pkg->held, uncore_package_is_held(pkg), local_clock(), NULL);
}

/**
 * uncore_package_add() - put an event on a counter, at the next commit
 * @pkg: the package
 * @event: the event
 *
 * Return: as uncore_box_add().
 */
int uncore_package_add(struct uncore_package *pkg, struct perf_event *event)
{
	struct uncore_event *ue = to_uncore_event(event);
	bool back = ue->config.claim.idx >= 0;
	int err;

	__set_bit(uncore_box_id(ue->box), &pkg->used);
	err = uncore_box_add(ue->box, event);
	if (err || back)
		return err;
	pkg->pmi.events += uncore_event_interrupts(event);
	pkg->pmi.freezing += ue->config.freeze;
	return 0;
}

static void uncore_package_forget(struct uncore_package *pkg, struct uncore_counter *c)
{
	struct uncore_event *ue = to_uncore_event(c->event);

	pkg->pmi.events -= uncore_event_interrupts(c->event);
	pkg->pmi.freezing -= ue->config.freeze;
	uncore_box_release(ue->box, c);
}

/**
 * uncore_package_del() - take an event off its counter, at the next commit
 * @pkg: the package
 * @event: the event; if it counts, it does so until then
 */
void uncore_package_del(struct uncore_package *pkg, struct perf_event *event)
{
	struct uncore_counter *c = uncore_event_counter(event);

	if (c->state == UNCORE_NEW)
		uncore_package_forget(pkg, c);
	else
		uncore_counter_set(c, c->state == UNCORE_RUNNING ? UNCORE_LEAVING : UNCORE_LEFT);
}

static void uncore_package_idle(struct uncore_package *pkg)
{
	int id;

	for_each_uncore_bit(id, pkg->used) {
		if (pkg->box[id].claims.counters)
			return;
	}
	for_each_uncore_bit(id, pkg->used)
		uncore_subregs_release(&pkg->box[id]);
	pkg->used = 0;
	pkg->ticks = 0;
}

/**
 * uncore_package_release() - forget the events that have left a box
 * @pkg: the package
 * @box: the box
 * @left: their counters
 */
void uncore_package_release(struct uncore_package *pkg, struct uncore_box *box, u32 left)
{
	int idx;

	for_each_uncore_bit(idx, left) {
		/* Released by another CPU while a sample was given? */
		if (box->counter[idx].state != UNCORE_LEFT)
			continue;
		uncore_event_commit_period(box->counter[idx].event);
		uncore_package_forget(pkg, &box->counter[idx]);
	}
	/* The last event that freezes has gone: the package may be frozen, and its NMI be lost. */
	uncore_package_apply(pkg, 0);
	if (!pkg->active)
		uncore_package_idle(pkg);
}

/**
 * uncore_package_rewrite() - write all registers anew that may have lost their contents
 * @pkg: the package; it does not count, and its events have been updated
 */
void uncore_package_rewrite(struct uncore_package *pkg)
{
	int id;

	uncore_package_write_ctl(pkg);
	for_each_set_bit(id, &pkg->present, UNCORE_NUM_BOXES) {
		if (!pkg->box[id].gone)
			uncore_box_rewrite(&pkg->box[id]);
	}
}

/** uncore_package_update() - update all events on counters */
void uncore_package_update(struct uncore_package *pkg)
{
	int id, idx;

	for_each_uncore_bit(id, pkg->used) {
		for_each_used_counter(idx, &pkg->box[id])
			uncore_event_update(pkg->box[id].counter[idx].event);
	}
}

/**
 * uncore_package_tick() - check the control registers once a second, and read counters at times
 * @pkg: the package, which counts
 */
void uncore_package_tick(struct uncore_package *pkg)
{
	u32 may_differ = pkg->pmi.freezing ? U_GLOBAL_CTL_EN_ALL : 0;
	u64 ctl;
	int id;

	rdmsrq(U_MSR_PMON_GLOBAL_CTL, ctl);
	if ((ctl ^ pkg->global_ctl) & ~may_differ) {
		uncore_conflict(&pkg->box[UNCORE_UBOX], U_MSR_PMON_GLOBAL_CTL);
		uncore_package_write_ctl(pkg);
	}
	for_each_uncore_bit(id, pkg->active)
		uncore_box_check(&pkg->box[id]);
	if (!(++pkg->ticks % UNCORE_READ_TICKS))
		uncore_package_update(pkg);
}

/* ---- all packages ---- */

/**
 * uncore_package_probe() - find the boxes of this CPU's package, and make them clean
 * @pkg: the package
 *
 * Return: whether there are any. No PMI can come of it.
 */
bool uncore_package_probe(struct uncore_package *pkg)
{
	u64 val;
	int id;

	if (wrmsrq_safe(U_MSR_PMON_GLOBAL_CTL, 0) || rdmsrq_safe(U_MSR_PMON_GLOBAL_CTL, &val) ||
	    rdmsrq_safe(U_MSR_PMON_GLOBAL_STATUS, &val) ||
	    wrmsrq_safe(U_MSR_PMON_GLOBAL_OVF_CTL, 0))
		return false;
	for_each_uncore_bit(id, uncore_model->boxes) {
		struct uncore_box *box = &pkg->box[id];

		if (uncore_box_probe(box))
			__set_bit(id, &pkg->present);
	}
	/* Each CPU of a package without any tries again. */
	for_each_uncore_bit(id, pkg->present ? uncore_model->boxes & ~pkg->present : 0)
		pr_info("CPU %u: no %s %u\n", smp_processor_id(), pkg->box[id].type->name,
			pkg->box[id].instance);
	return pkg->present;
}

/**
 * uncore_packages_create() - make an empty object for each possible package
 * @types: the kinds of box, NULL-terminated; together they make up all boxes
 *
 * Return: 0 or -ENOMEM.
 */
int uncore_packages_create(const struct uncore_box_type * const *types)
{
	const struct uncore_box_type * const *type;
	struct uncore_package *pkg;
	unsigned int n;

	uncore_packages = kvcalloc(topology_max_packages(), sizeof(*pkg), GFP_KERNEL);
	if (!uncore_packages)
		return -ENOMEM;
	uncore_num_packages = topology_max_packages();
	for_each_uncore_package(pkg) {
		raw_spin_lock_init(&pkg->lock);
		pkg->cpu = -1;
		for (type = types; *type; type++) {
			for (n = 0; n < (*type)->num_boxes; n++) {
				pkg->box[(*type)->first + n].type = *type;
				pkg->box[(*type)->first + n].instance = n;
			}
		}
	}
	return 0;
}
