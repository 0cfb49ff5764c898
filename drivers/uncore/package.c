// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packages, see package.h.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpumask.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/topology.h>
#include <asm/msr.h>

#include "compat.h"
#include "package.h"
#include "xeon7500/ubox.h"

struct uncore_package **uncore_packages;
unsigned int uncore_num_packages;

/** uncore_package_next() - the first package, then one after the other, then NULL */
struct uncore_package *uncore_package_next(const struct uncore_package *pkg)
{
	return uncore_package_nr(pkg ? pkg->nr + 1 : 0);
}

/**
 * uncore_package_call() - have something done on the CPU that serves a package
 * @pkg: the package
 * @func: it gets the package, with interrupts off
 *
 * Return: 0, or -ENODEV if no CPU of the package is online.
 */
int uncore_package_call(struct uncore_package *pkg, smp_call_func_t func)
{
	int err = -ENODEV;

	cpus_read_lock();
	if (pkg->cpu >= 0)
		err = smp_call_function_single(pkg->cpu, func, pkg, 1);
	cpus_read_unlock();
	return err;
}

/**
 * uncore_package_runs() - is en_all to be on?
 * @pkg: the package
 *
 * With a counter to run, unless a gate is closed or the system is about to sleep.
 */
bool uncore_package_runs(const struct uncore_package *pkg)
{
	const struct uncore_gates *gates = &pkg->gates;

	return pkg->active && gates->open == gates->num && !gates->asleep &&
	       !(gates->moving && gates->num);
}

static u32 uncore_package_wanted_ctl(const struct uncore_package *pkg)
{
	u32 ctl;

	if (!uncore_package_runs(pkg))
		return 0;
	ctl = U_GLOBAL_CTL_EN_ALL;
	if (test_bit(UNCORE_UBOX, &pkg->active) && uncore_box_wanted(&pkg->box[UNCORE_UBOX]))
		ctl |= U_GLOBAL_CTL_EN;
	if (pkg->interrupting)
		ctl |= pkg->pmi_core_sel;
	if (pkg->freezing)
		ctl |= U_GLOBAL_CTL_FRZ_ALL;
	return ctl;
}

static void uncore_package_set_ctl(struct uncore_package *pkg, u32 ctl)
{
	pkg->global_ctl = ctl;
	wrmsrq(U_MSR_PMON_GLOBAL_CTL, ctl);
}

/**
 * uncore_package_write_ctl() - write U_GLOBAL_CTL as it is to be
 * @pkg: the package
 *
 * Also ends a freeze.
 */
void uncore_package_write_ctl(struct uncore_package *pkg)
{
	uncore_package_set_ctl(pkg, uncore_package_wanted_ctl(pkg));
}

/**
 * uncore_package_override_ctl() - write U_GLOBAL_CTL of this CPU's package for a moment
 * @val: the value; uncore_package_write_ctl() is to follow
 */
void uncore_package_override_ctl(u32 val)
{
	wrmsrq(U_MSR_PMON_GLOBAL_CTL, val);
}

/* What stops the whole package goes first, what starts it last: all counters at once. */
static void uncore_package_apply_boxes(struct uncore_package *pkg, unsigned long boxes)
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
}

/**
 * uncore_package_apply() - let the hardware do what the counters of a box are to do
 * @pkg: the package
 * @box: the box
 */
void uncore_package_apply(struct uncore_package *pkg, struct uncore_box *box)
{
	uncore_package_apply_boxes(pkg, BIT(uncore_box_id(box)));
}

/** uncore_package_apply_all() - likewise, of all boxes */
void uncore_package_apply_all(struct uncore_package *pkg)
{
	uncore_package_apply_boxes(pkg, pkg->used);
}

/**
 * uncore_package_hold() - let running counters of a box stand for a moment
 * @pkg: the package
 * @box: the box
 * @counters: those, and no others; 0 lets all go on
 */
void uncore_package_hold(struct uncore_package *pkg, struct uncore_box *box, u32 counters)
{
	box->held = counters;
	uncore_package_apply(pkg, box);
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
	int err = uncore_box_add(ue->box, event);

	if (err || back)
		return err;
	__set_bit(uncore_box_id(ue->box), &pkg->used);
	pkg->interrupting += uncore_event_interrupts(event);
	pkg->freezing += ue->config.freeze;
	return 0;
}

static void uncore_package_forget(struct uncore_package *pkg, struct perf_event *event)
{
	pkg->interrupting -= uncore_event_interrupts(event);
	pkg->freezing -= to_uncore_event(event)->config.freeze;
}

/**
 * uncore_package_del() - take an event off its counter, at the next commit
 * @pkg: the package
 * @event: the event; if it counts, it does so until then
 */
void uncore_package_del(struct uncore_package *pkg, struct perf_event *event)
{
	struct uncore_counter *c = uncore_event_counter(event);

	if (c->state == UNCORE_NEW) {
		uncore_box_release(to_uncore_event(event)->box, c);
		uncore_package_forget(pkg, event);
	} else {
		uncore_counter_set(c, c->state == UNCORE_RUNNING ? UNCORE_LEAVING : UNCORE_LEFT);
	}
}

/**
 * uncore_package_commit() - carry out what was added to a box and deleted
 * @pkg: the package
 * @box: the box
 * @program: also what was added
 *
 * Return: the counters whose events have left. These have their last counts and are to be
 * released.
 */
u32 uncore_package_commit(struct uncore_package *pkg, struct uncore_box *box, bool program)
{
	u32 left = uncore_box_prepare(box, program);

	uncore_package_apply_boxes(pkg, BIT(uncore_box_id(box)));
	uncore_box_finish(box, left, pkg->ticks);
	return left;
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
		struct uncore_counter *c = &box->counter[idx];

		uncore_event_settle_period(c->event);
		uncore_package_forget(pkg, c->event);
		uncore_box_release(box, c);
	}
	if (!pkg->active)
		uncore_package_idle(pkg);
}

/** uncore_package_update_all() - update every event on a counter */
void uncore_package_update_all(struct uncore_package *pkg)
{
	int id;

	for_each_set_bit(id, &pkg->used, UNCORE_NUM_BOXES)
		uncore_box_update_all(&pkg->box[id]);
}

/**
 * uncore_package_probe() - find the boxes of this CPU's package, and make them clean
 * @pkg: the package
 *
 * Return: whether there are any. No PMI can come of it.
 */
bool uncore_package_probe(struct uncore_package *pkg)
{
	int id;

	if (wrmsrq_safe(U_MSR_PMON_GLOBAL_CTL, 0))
		return false;
	for (id = 0; id < UNCORE_NUM_BOXES; id++) {
		struct uncore_box *box = &pkg->box[id];

		if (!(uncore_model->boxes & BIT(id)))
			continue;
		if (uncore_box_probe(box))
			__set_bit(id, &pkg->present);
		else
			pr_info("CPU %u: no %s %u\n", smp_processor_id(), box->type->name,
				box->instance);
	}
	return pkg->present;
}

static struct uncore_package *uncore_package_alloc(const struct uncore_box_type * const *types)
{
	struct uncore_package *pkg = kzalloc(sizeof(*pkg), GFP_KERNEL);
	const struct uncore_box_type * const *type;
	unsigned int n;

	if (!pkg)
		return NULL;
	raw_spin_lock_init(&pkg->lock);
	pkg->cpu = -1;
	pkg->telling = -1;
	for (type = types; *type; type++) {
		for (n = 0; n < (*type)->num_boxes; n++) {
			pkg->box[(*type)->first + n].type = *type;
			pkg->box[(*type)->first + n].instance = n;
		}
	}
	return pkg;
}

/**
 * uncore_packages_create() - make an empty object for each possible package
 * @types: the kinds of box, NULL-terminated; together they make up all boxes
 *
 * Return: 0 or -ENOMEM.
 */
int uncore_packages_create(const struct uncore_box_type * const *types)
{
	unsigned int num = topology_max_packages();

	uncore_packages = kcalloc(num, sizeof(*uncore_packages), GFP_KERNEL);
	if (!uncore_packages)
		return -ENOMEM;
	while (uncore_num_packages < num) {
		struct uncore_package *pkg = uncore_package_alloc(types);

		if (!pkg)
			return -ENOMEM;
		pkg->nr = uncore_num_packages;
		uncore_packages[uncore_num_packages++] = pkg;
	}
	return 0;
}

/**
 * uncore_package_rewrite() - write all registers anew that may have lost their contents
 * @pkg: the package, locked; it does not count, and its events have been updated
 */
void uncore_package_rewrite(struct uncore_package *pkg)
{
	int id;

	uncore_package_write_ctl(pkg);
	for_each_set_bit(id, &pkg->present, UNCORE_NUM_BOXES)
		uncore_box_rewrite(&pkg->box[id]);
}

/** uncore_packages_free() - undo uncore_packages_create(); no PMU may be left */
void uncore_packages_free(void)
{
	while (uncore_num_packages)
		kfree(uncore_packages[--uncore_num_packages]);
	kfree(uncore_packages);
}
