// SPDX-License-Identifier: GPL-2.0-only
/*
 * The perf side of a box: one struct pmu for each instance.
 */
#include <linux/slab.h>

#include "check.h"
#include "decode.h"
#include "pmi.h"
#include "pmu.h"

/* Of a transaction: a group is held, see uncore_hold_group(). */
#define UNCORE_TXN_HELD	BIT(31)

static void uncore_event_destroy(struct perf_event *event)
{
	atomic_dec(&to_uncore_event(event)->box->opened);
	kfree(event->pmu_private);
}

static int uncore_event_setup(struct perf_event *event, struct uncore_package *pkg)
{
	const struct uncore_pmu *upmu = to_uncore_pmu(event->pmu);
	struct uncore_event *ue = to_uncore_event(event);
	int err;

	ue->box = &pkg->box[upmu->type->first + upmu->instance];
	err = uncore_decode(event, upmu->type, upmu->instance, &ue->config);
	if (!err)
		err = uncore_check_registers(event, pkg);
	if (!err)
		err = uncore_check_interrupts(event, pkg);
	if (!err)
		err = uncore_check_group(event);
	return err;
}

static int uncore_event_init(struct perf_event *event)
{
	const struct uncore_pmu *upmu = to_uncore_pmu(event->pmu);
	struct uncore_package *pkg;
	struct uncore_event *ue;
	int err, cpu;

	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	err = uncore_check_attr(event);
	if (err)
		return err;
	pkg = uncore_package_of(event->cpu);
	cpu = pkg ? READ_ONCE(pkg->cpu) : -1;
	if (cpu < 0 || !test_bit(upmu->type->first + upmu->instance, &pkg->present))
		return uncore_refuse(event, -ENODEV, "the package of CPU %d has no such box",
				     event->cpu);
	/* Any CPU stands for its package; any CPU of it can read. */
	event->cpu = cpu;
	event->event_caps |= PERF_EV_CAP_READ_ACTIVE_PKG;

	ue = kzalloc(sizeof(*ue), GFP_KERNEL);
	if (!ue)
		return -ENOMEM;
	event->pmu_private = ue;
	err = uncore_event_setup(event, pkg);
	if (err) {
		event->pmu_private = NULL;
		kfree(ue);
		return err;
	}
	uncore_event_no_start(event);
	atomic_inc(&ue->box->opened);
	event->destroy = uncore_event_destroy;
	return 0;
}

static struct uncore_package *uncore_event_package(const struct perf_event *event)
{
	return uncore_box_package(to_uncore_event(event)->box);
}

/* What follows perf calls with interrupts off, so that nothing here turns them off again. */

/* perf tries again later, whatever the reason. */
static int uncore_event_add(struct perf_event *event, int flags)
{
	struct uncore_package *pkg = uncore_event_package(event);
	struct uncore_box *box = to_uncore_event(event)->box;
	int err;

	/* perf adds events to start them. */
	if (!(flags & PERF_EF_START))
		return -EINVAL;
	raw_spin_lock(&pkg->lock);
	err = uncore_package_add(pkg, event);
	if (err == -EAGAIN) {
		/* What is about to leave may make room; what has come still starts as one. */
		uncore_pmi_settle(pkg, box, false);
		err = uncore_package_add(pkg, event);
	}
	raw_spin_unlock(&pkg->lock);
	return err;
}

static void uncore_event_del(struct perf_event *event, int flags)
{
	struct uncore_package *pkg = uncore_event_package(event);

	raw_spin_lock(&pkg->lock);
	uncore_package_del(pkg, event);
	raw_spin_unlock(&pkg->lock);
}

/*
 * While perf takes a sample it stops the event, and its group, if they have too many. That is
 * below our own handler, which has the lock. What one owes that was stopped this way it gives
 * when the PMU is enabled after its start.
 */
static bool uncore_event_in_sample(const struct uncore_package *pkg)
{
	return READ_ONCE(pkg->telling) == smp_processor_id();
}

static void uncore_event_start_locked(struct uncore_package *pkg, struct perf_event *event,
				      int flags)
{
	struct uncore_counter *c = uncore_event_counter(event);

	if (c->state != UNCORE_STOPPED)
		return;
	if (flags & PERF_EF_RELOAD && is_sampling_event(event))
		uncore_event_set_period(event);
	uncore_counter_set(c, UNCORE_RUNNING);
	uncore_package_apply(pkg, to_uncore_event(event)->box);
}

static void uncore_event_start(struct perf_event *event, int flags)
{
	struct uncore_package *pkg = uncore_event_package(event);

	if (uncore_event_in_sample(pkg)) {
		uncore_event_start_locked(pkg, event, flags);
		return;
	}
	raw_spin_lock(&pkg->lock);
	uncore_event_start_locked(pkg, event, flags);
	raw_spin_unlock(&pkg->lock);
}

static void uncore_event_stop_locked(struct uncore_package *pkg, struct perf_event *event,
				     bool in_sample)
{
	struct uncore_counter *c = uncore_event_counter(event);
	struct uncore_box *box = to_uncore_event(event)->box;

	if (c->state == UNCORE_RUNNING) {
		uncore_counter_set(c, UNCORE_STOPPED);
		uncore_package_apply(pkg, box);
		uncore_event_update(event);
	} else if (c->state != UNCORE_STOPPED) {
		return;
	}
	if (!in_sample)
		uncore_pmi_deliver(pkg, box);
	uncore_event_settle_period(event);
}

static void uncore_event_stop(struct perf_event *event, int flags)
{
	struct uncore_package *pkg = uncore_event_package(event);

	if (uncore_event_in_sample(pkg)) {
		uncore_event_stop_locked(pkg, event, true);
		return;
	}
	raw_spin_lock(&pkg->lock);
	if (uncore_event_counter(event)->state == UNCORE_NEW)
		uncore_pmi_settle(pkg, to_uncore_event(event)->box, true);
	uncore_event_stop_locked(pkg, event, false);
	raw_spin_unlock(&pkg->lock);
}

static unsigned int *uncore_this_txn(struct pmu *pmu)
{
	return this_cpu_ptr(to_uncore_pmu(pmu)->txn);
}

static u32 uncore_running_counter(const struct perf_event *event, const struct pmu *pmu)
{
	if (event->pmu != pmu || to_uncore_event(event)->config.claim.idx < 0 ||
	    uncore_event_counter(event)->state != UNCORE_RUNNING)
		return 0;
	return BIT(to_uncore_event(event)->config.claim.idx);
}

/*
 * A group that is read at once is read at one moment: its counters stand from the first
 * read to the end of the transaction, for two more writes. In an NMI there may be no
 * waiting for the lock; its group is that of a sample, or has to do without.
 */
static noinline void uncore_hold_group(const struct perf_event *event)
{
	const struct perf_event *leader = event->group_leader, *sibling;
	struct uncore_package *pkg = uncore_event_package(event);
	struct uncore_box *box = to_uncore_event(event)->box;
	u32 counters;

	if (in_nmi())
		return;
	*uncore_this_txn(event->pmu) |= UNCORE_TXN_HELD;
	raw_spin_lock(&pkg->lock);
	counters = uncore_running_counter(leader, event->pmu);
	for_each_sibling_event(sibling, leader)
		counters |= uncore_running_counter(sibling, event->pmu);
	if (counters & (counters - 1) && uncore_package_runs(pkg))
		uncore_package_hold(pkg, box, counters);
	raw_spin_unlock(&pkg->lock);
}

/* On any CPU of the package, in any context; so the event may just be coming or leaving. */
static void uncore_event_read(struct perf_event *event)
{
	if (*uncore_this_txn(event->pmu) == PERF_PMU_TXN_READ)
		uncore_hold_group(event);
	uncore_event_update(event);
}

/* The opening half of a batch: counters go on until uncore_pmu_enable(). */
static void uncore_pmu_disable(struct pmu *pmu)
{
}

static struct uncore_package *uncore_this_package(void)
{
	return uncore_package_of(smp_processor_id());
}

static struct uncore_box *uncore_this_box(struct uncore_package *pkg, struct pmu *pmu)
{
	return &pkg->box[to_uncore_pmu(pmu)->type->first + to_uncore_pmu(pmu)->instance];
}

static void uncore_pmu_enable(struct pmu *pmu)
{
	struct uncore_package *pkg = uncore_this_package();

	if (!pkg)
		return;
	raw_spin_lock(&pkg->lock);
	uncore_pmi_settle(pkg, uncore_this_box(pkg, pmu), true);
	raw_spin_unlock(&pkg->lock);
}

/* perf adds groups between pmu_disable() and pmu_enable() only, so that those need nothing. */
static void uncore_start_txn(struct pmu *pmu, unsigned int flags)
{
	*uncore_this_txn(pmu) = flags;
}

static void uncore_end_txn(struct pmu *pmu)
{
	unsigned int txn = *uncore_this_txn(pmu);
	struct uncore_package *pkg;

	*uncore_this_txn(pmu) = 0;
	if (!(txn & UNCORE_TXN_HELD))
		return;
	pkg = uncore_this_package();
	raw_spin_lock(&pkg->lock);
	uncore_package_hold(pkg, uncore_this_box(pkg, pmu), 0);
	raw_spin_unlock(&pkg->lock);
}

static int uncore_commit_txn(struct pmu *pmu)
{
	uncore_end_txn(pmu);
	return 0;
}

/**
 * uncore_pmu_register() - show one box instance to perf
 * @upmu: filled in here
 * @type: kind of box
 * @instance: number within its kind
 * @groups: attributes of this kind of box
 *
 * Return: 0 or a negative errno.
 */
int uncore_pmu_register(struct uncore_pmu *upmu, const struct uncore_box_type *type,
			unsigned int instance, const struct attribute_group **groups)
{
	int err;

	if (type->num_boxes == 1)
		snprintf(upmu->name, sizeof(upmu->name), "xeon7500_%s", type->name);
	else
		snprintf(upmu->name, sizeof(upmu->name), "xeon7500_%s_%u", type->name, instance);
	upmu->type = type;
	upmu->instance = instance;
	upmu->pmu = (struct pmu) {
		.module		= THIS_MODULE,
		.attr_groups	= groups,
		.task_ctx_nr	= perf_invalid_context,
		.event_init	= uncore_event_init,
		.add		= uncore_event_add,
		.del		= uncore_event_del,
		.start		= uncore_event_start,
		.stop		= uncore_event_stop,
		.read		= uncore_event_read,
		.pmu_enable	= uncore_pmu_enable,
		.pmu_disable	= uncore_pmu_disable,
		.start_txn	= uncore_start_txn,
		.commit_txn	= uncore_commit_txn,
		.cancel_txn	= uncore_end_txn,
	};
	upmu->txn = alloc_percpu(unsigned int);
	if (!upmu->txn)
		return -ENOMEM;
	err = perf_pmu_register(&upmu->pmu, upmu->name, -1);
	if (err)
		free_percpu(upmu->txn);
	upmu->registered = !err;
	return err;
}

void uncore_pmu_unregister(struct uncore_pmu *upmu)
{
	if (!upmu->registered)
		return;
	perf_pmu_unregister(&upmu->pmu);
	free_percpu(upmu->txn);
	upmu->registered = false;
}
