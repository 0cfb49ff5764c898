// SPDX-License-Identifier: GPL-2.0-only
/*
 * The perf side of a box: one struct pmu for each instance.
 */
#include <linux/slab.h>

#include "uncore.h"

/* Put a member of a group on the box that uncore_validate_group() makes up. */
static int uncore_validate_one(struct uncore_claims *claims, const struct perf_event *member,
			       const struct pmu *pmu)
{
	struct uncore_claim claim;

	if (member->pmu != pmu || to_uncore_event(member)->soft)
		return 0;
	claim = to_uncore_event(member)->cfg.claim;
	return uncore_claim_take(claims, &claim);
}

/* Would the whole group fit on an empty box? */
static int uncore_validate_group(struct perf_event *event)
{
	struct perf_event *leader = event->group_leader, *sibling;
	struct uncore_claims *claims;
	int err;

	if (leader == event)
		return 0;
	claims = kzalloc(sizeof(*claims), GFP_KERNEL);
	if (!claims)
		return -ENOMEM;
	err = uncore_validate_one(claims, leader, event->pmu);
	for_each_sibling_event(sibling, leader) {
		if (!err)
			err = uncore_validate_one(claims, sibling, event->pmu);
	}
	if (!err)
		err = uncore_validate_one(claims, event, event->pmu);
	kfree(claims);
	if (err)
		return uncore_refuse(event, -EINVAL, "the group does not fit on one box");
	return 0;
}

static int uncore_check_sampling(struct perf_event *event, const struct uncore_pkg *pkg,
				 const struct uncore_event *ue)
{
	if (!is_sampling_event(event) && !ue->cfg.freeze)
		return 0;
	if (ue->soft)
		return uncore_refuse(event, -EOPNOTSUPP, "does not overflow");
	if (!pkg->pmi)
		return uncore_refuse(event, -EOPNOTSUPP, "overflows do not interrupt");
	if (is_sampling_event(event) && !uncore_can_sample())
		return uncore_refuse(event, -EOPNOTSUPP, "perf_event_overflow() is out of reach");
	return 0;
}

static void uncore_event_destroy(struct perf_event *event)
{
	if (to_uncore_event(event)->soft)
		uncore_soft_destroy(event);
	atomic_dec(&to_uncore_event(event)->box->opened);
	kfree(event->pmu_private);
}

/* Everything that concerns this package and this box. */
static int uncore_event_setup(struct perf_event *event, struct uncore_pkg *pkg,
			      struct uncore_event *ue)
{
	int err;

	ue->box = &pkg->box[to_uncore_pmu(event->pmu)->id];
	ue->soft = uncore_soft_of(event);
	event->hw.idx = -1;
	err = uncore_decode(event, ue->box->type, ue->box->instance, &ue->cfg);
	if (!err)
		err = uncore_check_sampling(event, pkg, ue);
	if (!err)
		err = uncore_validate_group(event);
	if (!err && ue->soft)
		uncore_soft_init(event, pkg);
	return err;
}

static int uncore_event_init(struct perf_event *event)
{
	struct uncore_pmu *upmu = to_uncore_pmu(event->pmu);
	const struct perf_event_attr *attr = &event->attr;
	struct uncore_event *ue;
	struct uncore_pkg *pkg;
	int err;

	if (attr->type != event->pmu->type)
		return -ENOENT;
	if (attr->precise_ip || has_branch_stack(event))
		return uncore_refuse(event, -EOPNOTSUPP, "no core, no precise IP or branches");
	if (event->cpu < 0 || event->attach_state & PERF_ATTACH_TASK)
		return uncore_refuse(event, -EINVAL, "counts for a package, not for a task");
	if (attr->exclude_user || attr->exclude_kernel || attr->exclude_hv || attr->exclude_idle)
		return uncore_refuse(event, -EOPNOTSUPP, "cannot tell who caused an event");
	/*
	 * perf sets exclude_guest unasked; only -EINVAL makes it try again without.
	 */
	if (attr->exclude_host || attr->exclude_guest)
		return uncore_refuse(event, -EINVAL, "cannot tell host from guest");

	pkg = uncore_pkg_of(event->cpu);
	if (!pkg || !test_bit(upmu->id, &pkg->present))
		return uncore_refuse(event, -ENODEV, "the package of CPU %d has no such box",
				     event->cpu);
	if (event->cpu != READ_ONCE(pkg->cpu))
		return uncore_refuse(event, -EINVAL, "CPU %d is not in the cpumask", event->cpu);

	ue = kzalloc(sizeof(*ue), GFP_KERNEL);
	if (!ue)
		return -ENOMEM;
	event->pmu_private = ue;
	err = uncore_event_setup(event, pkg, ue);
	if (err) {
		event->pmu_private = NULL;
		kfree(ue);
		return err;
	}
	atomic_inc(&ue->box->opened);
	event->destroy = uncore_event_destroy;
	return 0;
}

/*
 * The rest runs on the CPU of the package, with interrupts off. Only when a package
 * changes its CPU can two of them meet, hence the lock.
 */
static struct uncore_box *uncore_this_box(struct pmu *pmu)
{
	struct uncore_pkg *pkg = uncore_pkg_of(smp_processor_id());

	return pkg ? &pkg->box[to_uncore_pmu(pmu)->id] : NULL;
}

static unsigned int *uncore_this_txn(struct pmu *pmu)
{
	return this_cpu_ptr(to_uncore_pmu(pmu)->txn);
}

static int uncore_event_add(struct perf_event *event, int flags)
{
	struct uncore_box *box = to_uncore_event(event)->box;
	unsigned long irq;
	int err = 0;

	raw_spin_lock_irqsave(&box->pkg->lock, irq);
	if (to_uncore_event(event)->soft)
		uncore_soft_add(event, box->pkg, flags & PERF_EF_START);
	else
		err = uncore_box_add(box, event, flags & PERF_EF_START);
	raw_spin_unlock_irqrestore(&box->pkg->lock, irq);
	return err;
}

static void uncore_event_del(struct perf_event *event, int flags)
{
	struct uncore_box *box = to_uncore_event(event)->box;
	unsigned long irq;

	raw_spin_lock_irqsave(&box->pkg->lock, irq);
	if (to_uncore_event(event)->soft)
		uncore_soft_stop(event, box->pkg);
	else
		uncore_box_del(box, event);
	raw_spin_unlock_irqrestore(&box->pkg->lock, irq);
}

static void uncore_event_start(struct perf_event *event, int flags)
{
	struct uncore_box *box = to_uncore_event(event)->box;
	unsigned long irq;

	if (!(event->hw.state & PERF_HES_STOPPED))
		return;
	raw_spin_lock_irqsave(&box->pkg->lock, irq);
	if (to_uncore_event(event)->soft)
		uncore_soft_start(event, box->pkg);
	else
		uncore_box_start(box, event, flags & PERF_EF_RELOAD);
	raw_spin_unlock_irqrestore(&box->pkg->lock, irq);
}

static void uncore_event_stop(struct perf_event *event, int flags)
{
	struct uncore_box *box = to_uncore_event(event)->box;
	unsigned long irq;

	if (event->hw.state & PERF_HES_UPTODATE)
		return;
	raw_spin_lock_irqsave(&box->pkg->lock, irq);
	if (to_uncore_event(event)->soft)
		uncore_soft_stop(event, box->pkg);
	else
		uncore_box_stop(box, event);
	raw_spin_unlock_irqrestore(&box->pkg->lock, irq);
}

/* hw.idx stays when an event leaves its counter; its claim does not. */
static u32 uncore_event_counter(const struct perf_event *event)
{
	int idx = to_uncore_event(event)->cfg.claim.idx;

	return idx < 0 ? 0 : BIT(idx);
}

/*
 * A group that is read at once is read at one moment: its counters stand from the
 * first read to the end of the transaction, for two more writes.
 */
static void uncore_hold_group(struct uncore_box *box, const struct perf_event *event)
{
	const struct perf_event *leader = event->group_leader, *sibling;
	u32 counters = 0;

	if (leader->pmu == event->pmu)
		counters |= uncore_event_counter(leader);
	for_each_sibling_event(sibling, leader) {
		if (sibling->pmu == event->pmu)
			counters |= uncore_event_counter(sibling);
	}
	if (counters & (counters - 1))
		uncore_box_hold(box, counters & box->want);
}

static void uncore_event_read(struct perf_event *event)
{
	struct uncore_box *box = to_uncore_event(event)->box;
	unsigned long irq;

	if (event->hw.state & PERF_HES_STOPPED)
		return;
	if (to_uncore_event(event)->soft) {
		uncore_soft_read(event, box->pkg);
		return;
	}
	/*
	 * A sample may be taken, with its group, in the middle of such a transaction. And
	 * while events move, overflows are handled on another CPU.
	 */
	if (*uncore_this_txn(event->pmu) == PERF_PMU_TXN_READ && !box->held &&
	    !atomic_read(&box->pkg->pmi_busy) && !READ_ONCE(box->pkg->moving)) {
		raw_spin_lock_irqsave(&box->pkg->lock, irq);
		uncore_hold_group(box, event);
		raw_spin_unlock_irqrestore(&box->pkg->lock, irq);
	}
	uncore_event_update(box, event);
}

static void uncore_commit(struct uncore_box *box)
{
	unsigned long irq;

	raw_spin_lock_irqsave(&box->pkg->lock, irq);
	uncore_box_commit(box);
	raw_spin_unlock_irqrestore(&box->pkg->lock, irq);
}

/* The opening half of a batch: counters go on until uncore_pmu_enable(). */
static void uncore_pmu_disable(struct pmu *pmu)
{
}

static void uncore_pmu_enable(struct pmu *pmu)
{
	struct uncore_box *box = uncore_this_box(pmu);

	if (box && *uncore_this_txn(pmu) != PERF_PMU_TXN_ADD)
		uncore_commit(box);
}

static void uncore_start_txn(struct pmu *pmu, unsigned int flags)
{
	*uncore_this_txn(pmu) = flags;
}

/* Unless the transaction is part of a larger batch, this is the end of it. */
static void uncore_end_txn(struct pmu *pmu)
{
	struct uncore_box *box = uncore_this_box(pmu);
	unsigned int flags = *uncore_this_txn(pmu);
	unsigned long irq;

	*uncore_this_txn(pmu) = 0;
	if (flags == PERF_PMU_TXN_ADD && !*this_cpu_ptr(pmu->pmu_disable_count)) {
		uncore_commit(box);
	} else if (flags == PERF_PMU_TXN_READ && box->held) {
		raw_spin_lock_irqsave(&box->pkg->lock, irq);
		uncore_box_hold(box, 0);
		raw_spin_unlock_irqrestore(&box->pkg->lock, irq);
	}
}

static int uncore_commit_txn(struct pmu *pmu)
{
	uncore_end_txn(pmu);
	return 0;
}

/* Which CPU to open an event on: one for each package that has this box. */
static ssize_t cpumask_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct uncore_pmu *upmu = to_uncore_pmu((struct pmu *)dev_get_drvdata(dev));
	cpumask_var_t mask;
	ssize_t len;
	int cpu;

	if (!zalloc_cpumask_var(&mask, GFP_KERNEL))
		return -ENOMEM;
	for_each_online_cpu(cpu) {
		struct uncore_pkg *pkg = uncore_pkg_of(cpu);

		if (pkg && READ_ONCE(pkg->cpu) == cpu && test_bit(upmu->id, &pkg->present))
			cpumask_set_cpu(cpu, mask);
	}
	len = cpumap_print_to_pagebuf(true, buf, mask);
	free_cpumask_var(mask);
	return len;
}
static DEVICE_ATTR_RO(cpumask);

static struct attribute *uncore_cpumask_attrs[] = {
	&dev_attr_cpumask.attr,
	NULL
};

static const struct attribute_group uncore_cpumask_group = {
	.attrs = uncore_cpumask_attrs,
};

/*
 * The events whose sub-registers no page of the manual confirms. A list in caps/, because
 * an attribute beside the event would be an event to perf, and sysfs allows a file to hold
 * several values of one kind. An empty line says that there are none.
 */
static ssize_t inferred_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return uncore_emit_inferred(to_uncore_pmu((struct pmu *)dev_get_drvdata(dev))->type, buf);
}
static DEVICE_ATTR_RO(inferred);

static struct attribute *uncore_caps_attrs[] = {
	&dev_attr_inferred.attr,
	NULL
};

static const struct attribute_group uncore_caps_group = {
	.name = "caps",
	.attrs = uncore_caps_attrs,
};

/* What every PMU shows beside what comes from the tables of its type. */
const struct attribute_group * const uncore_pmu_groups[] = {
	&uncore_cpumask_group,
	&uncore_caps_group,
	NULL
};

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
	upmu->id = type->first + instance;
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
