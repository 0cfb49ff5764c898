// SPDX-License-Identifier: GPL-2.0-only
/*
 * The perf side of a box: one struct pmu for each instance, on all packages.
 */
#include <linux/capability.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "compat.h"
#include "uncore.h"

/*
 * With so many events of a box, also software events that its groups have left behind, a user
 * without CAP_PERFMON gets no more: each costs time in CPU hotplug.
 */
#define UNCORE_MAX_OPEN	256

/* The transaction that perf has begun on this CPU, PERF_PMU_TXN_*: it has one at a time. */
static DEFINE_PER_CPU(unsigned int, uncore_txn);
/* The group is held, see uncore_hold_group(). */
#define UNCORE_TXN_HELD	BIT(31)

bool uncore_unprivileged_hold;
module_param_named(unprivileged_hold, uncore_unprivileged_hold, bool, 0444);
MODULE_PARM_DESC(unprivileged_hold,
		 "let users without CAP_PERFMON open gates and events with freeze=1 (no)");

/*
 * CPU hotplug takes ctx->mutex, and perf calls event_init() with ctx->mutex held, but only for the
 * sibling of a group. This map stands for ctx->mutex: event_init() always has it, and hotplug
 * always takes it. So lockdep reports a lock that must not be taken in event_init() at the first
 * event, not only when a test opens it as sibling while a CPU goes. Without lockdep it is no code.
 */
struct lockdep_map uncore_perf_map;
static struct lock_class_key uncore_perf_key;

/** uncore_pmu_init() - get ready to check events; no PMU is registered yet */
void uncore_pmu_init(void)
{
	lockdep_init_map(&uncore_perf_map, "xeon7500_event_init", &uncore_perf_key, 0);
	perf_allow_prepare();
}

/* ---- reasons to refuse an event, beside its config ---- */

/**
 * uncore_check_attr() - refuse what no uncore PMU can do
 * @event: the event
 *
 * Return: 0; -EOPNOTSUPP for what needs a core, -EINVAL for an event of a task, -EACCES if the user
 * may not count a CPU, or for an event of user space not the kernel, -ENODEV if the CPU is offline
 * or the module not yet loaded, as perf itself when it is being unloaded.
 */
int uncore_check_attr(struct perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;

	/*
	 * A load that fails frees what an event would need. And perf of 6.1 finds a PMU by its
	 * type while perf_pmu_register() still prepares what an event of it is attached to.
	 */
	if (READ_ONCE(THIS_MODULE->state) != MODULE_STATE_LIVE)
		return uncore_refuse(event, -ENODEV, "the module is still being loaded");
	if (attr->precise_ip || has_branch_stack(event))
		return uncore_refuse(event, -EOPNOTSUPP, "no precise IP and no branch stack");
	if (event->cpu < 0 || event->attach_state & PERF_ATTACH_TASK)
		return uncore_refuse(event, -EINVAL, "counts for a package, not for a task");
	/* perf asks this only of the event itself. */
	if (perf_event_has_cgroup(event->group_leader))
		return uncore_refuse(event, -EINVAL, "its group is of a cgroup");
	/* The kernel does not know the package of a CPU that was never online. */
	if (!cpu_online(event->cpu))
		return uncore_refuse(event, -ENODEV, "CPU %d is offline", event->cpu);
	/*
	 * If a user may not count the kernel, perf tries again with exclude_kernel. That attempt
	 * must fail with the permission, too, not with "not supported".
	 */
	if (attr->exclude_user || attr->exclude_kernel || attr->exclude_hv || attr->exclude_idle)
		return uncore_refuse(event, perf_allow_kernel(&event->attr) ?: -EOPNOTSUPP,
				     "cannot count user and kernel separately");
	/* perf sets exclude_guest by default; only -EINVAL makes it try again without. */
	if (attr->exclude_host || attr->exclude_guest)
		return uncore_refuse(event, -EINVAL, "cannot count host and guest separately");
	/* perf asks after event_init(), which writes registers for a self-test or a gate. */
	if (perf_allow_cpu(&event->attr))
		return uncore_refuse(event, -EACCES, "counts for a whole package: no permission");
	return 0;
}

/**
 * uncore_check_room() - may this user open one more event of a PMU?
 * @event: the event, on the CPU that serves its package
 *
 * Return: 0, or -EMFILE if there are too many.
 */
int uncore_check_room(struct perf_event *event)
{
	if (perf_pmu_users(event->pmu, event->cpu) < UNCORE_MAX_OPEN || perfmon_capable())
		return 0;
	return uncore_refuse(event, -EMFILE, "%d events are open here", UNCORE_MAX_OPEN);
}

static int uncore_check_period(struct perf_event *event, u64 period)
{
	if (event->attr.freq || period >= UNCORE_MIN_PERIOD)
		return 0;
	return uncore_refuse(event, -EINVAL, "a period below %d is too short", UNCORE_MIN_PERIOD);
}

/* Put a member of a group on the box that uncore_check_group() makes up. */
static int uncore_check_member(struct uncore_claims *claims, const struct perf_event *member,
			       const struct pmu *pmu)
{
	struct uncore_claim claim;

	if (member->pmu != pmu)
		return 0;
	claim = to_uncore_event(member)->config.claim;
	return uncore_claim_take(claims, &claim);
}

/* Would the whole group fit on an empty box? Those that are in it already do. */
static int uncore_check_group(struct perf_event *event)
{
	struct perf_event *leader = event->group_leader, *sibling;
	struct uncore_claims claims = {};

	if (leader == event)
		return 0;
	uncore_check_member(&claims, leader, event->pmu);
	for_each_sibling_event(sibling, leader)
		uncore_check_member(&claims, sibling, event->pmu);
	if (uncore_check_member(&claims, event, event->pmu))
		return uncore_refuse(event, -EINVAL, "the group does not fit on one box");
	return 0;
}

/* If its overflow is to interrupt, does it? */
static int uncore_check_interrupts(struct perf_event *event, struct uncore_package *pkg)
{
	struct uncore_event *ue = to_uncore_event(event);
	int err;

	if (!uncore_event_interrupts(event))
		return 0;
	ue->config.claim.counters &= ~ue->box->no_pmi;
	if (!ue->config.claim.counters)
		return uncore_refuse(event, -EOPNOTSUPP, "its counter cannot interrupt");
	err = uncore_self_test_require(pkg, is_sampling_event(event));
	if (err == -EBUSY)
		return uncore_refuse(event, -EBUSY,
				     "the self-test of PMIs lacks a moment without NMIs");
	if (err == -ENODEV)
		return uncore_refuse(event, -ENODEV, "CPU %d is offline", event->cpu);
	if (err)
		return uncore_refuse(event, -EOPNOTSUPP, "overflows do not interrupt");
	return 0;
}

/* ---- opening and closing ---- */

static void uncore_event_destroy(struct perf_event *event)
{
	kfree(to_uncore_event(event));
}

static int uncore_event_setup(struct perf_event *event, struct uncore_package *pkg)
{
	const struct uncore_pmu *upmu = to_uncore_pmu(event->pmu);
	struct uncore_event *ue = to_uncore_event(event);
	int err;

	err = uncore_decode(event, upmu->type, upmu->instance, &ue->config);
	if (!err && is_sampling_event(event))
		err = uncore_check_period(event, event->attr.sample_period);
	if (err)
		return err;
	if (ue->config.freeze && !perfmon_capable() && !uncore_unprivileged_hold)
		return uncore_refuse(event, -EACCES, "freeze holds back others: needs CAP_PERFMON");
	ue->config.claim.counters &= ue->box->usable;
	if (!ue->config.claim.counters || !uncore_subregs_usable(ue->box, &ue->config))
		return uncore_refuse(event, -EOPNOTSUPP, "a register it needs cannot be used");
	err = uncore_check_interrupts(event, pkg);
	return err ?: uncore_check_group(event);
}

static int uncore_event_make(struct perf_event *event)
{
	const struct uncore_pmu *upmu = to_uncore_pmu(event->pmu);
	unsigned int id = upmu->type->first + upmu->instance;
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
	if (cpu < 0 || !test_bit(id, &pkg->present))
		return uncore_refuse(event, -ENODEV, "the package of CPU %d has no such box",
				     event->cpu);
	if (READ_ONCE(pkg->box[id].gone))
		return uncore_refuse(event, -ENODEV, "the box no longer answers");
	/* Any online CPU selects its package, and each of the package can read. */
	event->cpu = cpu;
	event->event_caps |= PERF_EV_CAP_READ_ACTIVE_PKG;
	err = uncore_check_room(event);
	if (err)
		return err;

	ue = kzalloc(sizeof(*ue), GFP_KERNEL);
	if (!ue)
		return -ENOMEM;
	ue->box = &pkg->box[id];
	event->pmu_private = ue;
	err = uncore_event_setup(event, pkg);
	if (err) {
		kfree(ue);
		return err;
	}
	uncore_event_no_start(event);
	event->destroy = uncore_event_destroy;
	return 0;
}

static int uncore_event_init(struct perf_event *event)
{
	int err;

	lock_map_acquire(&uncore_perf_map);
	err = uncore_event_make(event);
	lock_map_release(&uncore_perf_map);
	return err;
}

/* ---- perf calls the following with interrupts off ---- */

/* perf tries again later, whatever the reason. */
static int uncore_event_add(struct perf_event *event, int flags)
{
	struct uncore_package *pkg = uncore_event_package(event);
	int err;

	/* The package has moved since the event was opened. */
	if (READ_ONCE(pkg->cpu) >= 0 && READ_ONCE(pkg->cpu) != smp_processor_id())
		return -EAGAIN;
	/* A tracepoint that leads its group may read it from here on. */
	uncore_event_count_time(event);
	uncore_lock(pkg);
	err = uncore_package_add(pkg, event);
	if (err == -EAGAIN) {
		/* Commit what is leaving, to make room. What is new still starts together. */
		uncore_pmi_commit(pkg, to_uncore_event(event)->box, false);
		err = uncore_package_add(pkg, event);
	}
	uncore_unlock(pkg);
	return err;
}

static void uncore_event_del(struct perf_event *event, int flags)
{
	struct uncore_package *pkg = uncore_event_package(event);

	uncore_event_correct_time(event);
	uncore_lock(pkg);
	uncore_package_del(pkg, event);
	uncore_unlock(pkg);
}

static void uncore_event_start(struct perf_event *event, int flags)
{
	struct uncore_package *pkg = uncore_event_package(event);
	struct uncore_box *box = to_uncore_event(event)->box;
	struct uncore_counter *c;

	uncore_lock(pkg);
	c = uncore_event_counter(event);
	if (c && c->state == UNCORE_STOPPED && !box->gone) {
		/* A sample that waits is of the old period. */
		if (is_sampling_event(event) && !(box->due & BIT(c - box->counter)))
			uncore_event_set_period(event);
		uncore_counter_set(c, UNCORE_RUNNING);
		uncore_package_apply(pkg, BIT(uncore_box_id(box)));
	}
	uncore_unlock(pkg);
}

/*
 * Also for members of a group that ->add has refused: perf throttles groups as a whole. A
 * sample that is due is given now, or waits.
 *
 * If it throttles a member of another PMU, what counts goes on, as its running time does; and that
 * may be a tracepoint in a register access of ours, or in taking the lock.
 */
static void uncore_event_stop(struct perf_event *event, int flags)
{
	struct uncore_package *pkg = uncore_event_package(event);
	struct uncore_box *box = to_uncore_event(event)->box;
	struct uncore_counter *c;

	if (!is_sampling_event(event) && !READ_ONCE(pkg->pmi.delivering))
		return;
	if (uncore_is_inside(pkg))
		return;
	uncore_lock(pkg);
	c = uncore_event_counter(event);
	if (c && c->state == UNCORE_NEW) {
		uncore_box_program(box, c);
		uncore_counter_set(c, UNCORE_STOPPED);
	}
	if (c && c->state == UNCORE_RUNNING) {
		uncore_counter_set(c, UNCORE_STOPPED);
		uncore_package_apply(pkg, BIT(uncore_box_id(box)));
		uncore_event_update(event);
		uncore_pmi_overdue(pkg, box);
	}
	if (c && c->state == UNCORE_STOPPED)
		uncore_event_commit_period(event);
	uncore_unlock(pkg);
}

static u32 uncore_running_counter(const struct perf_event *event, const struct pmu *pmu)
{
	const struct uncore_counter *c = event->pmu == pmu ? uncore_event_counter(event) : NULL;

	return c && c->state == UNCORE_RUNNING ? BIT(to_uncore_event(event)->config.claim.idx) : 0;
}

/*
 * A group that is read at once has counts of one moment: its counters are stopped from the first
 * read to the end of the transaction, with two more writes. An NMI may not wait for the lock: its
 * group belongs to a sample and is already stopped, or it is not stopped.
 */
static noinline void uncore_hold_group(const struct perf_event *event)
{
	const struct perf_event *leader = event->group_leader, *sibling;
	struct uncore_package *pkg = uncore_event_package(event);
	struct uncore_box *box = to_uncore_event(event)->box;
	u32 counters;

	this_cpu_or(uncore_txn, UNCORE_TXN_HELD);
	uncore_lock(pkg);
	counters = uncore_running_counter(leader, event->pmu);
	for_each_sibling_event(sibling, leader)
		counters |= uncore_running_counter(sibling, event->pmu);
	if (counters & (counters - 1) && uncore_package_runs(pkg)) {
		box->held = counters;
		uncore_package_apply(pkg, BIT(uncore_box_id(box)));
	}
	uncore_unlock(pkg);
}

/* On any CPU of the package, in any context, also while the event is added or removed. */
static void uncore_event_read(struct perf_event *event)
{
	const struct uncore_package *pkg = uncore_event_package(event);

	if (!in_nmi()) {
		if (this_cpu_read(uncore_txn) == PERF_PMU_TXN_READ)
			uncore_hold_group(event);
		/* Not for a group in a sample, where perf does not hold its lock. */
		if (!READ_ONCE(pkg->pmi.delivering) || READ_ONCE(pkg->cpu) != smp_processor_id())
			uncore_event_correct_time(event);
	}
	uncore_event_update(event);
}

/* The begin of a batch: counters continue until uncore_pmu_enable(). */
static void uncore_pmu_disable(struct pmu *pmu)
{
}

static struct uncore_box *uncore_this_box(struct uncore_package *pkg, struct pmu *pmu)
{
	return &pkg->box[to_uncore_pmu(pmu)->type->first + to_uncore_pmu(pmu)->instance];
}

static void uncore_pmu_enable(struct pmu *pmu)
{
	struct uncore_package *pkg = uncore_package_of(smp_processor_id());

	if (!pkg)
		return;
	uncore_lock(pkg);
	uncore_pmi_commit(pkg, uncore_this_box(pkg, pmu), true);
	uncore_unlock(pkg);
}

/* perf adds groups only between pmu_disable() and pmu_enable(), so those need no code here. */
static void uncore_start_txn(struct pmu *pmu, unsigned int flags)
{
	this_cpu_write(uncore_txn, flags);
}

static void uncore_end_txn(struct pmu *pmu)
{
	struct uncore_package *pkg;
	struct uncore_box *box;

	if (!(this_cpu_xchg(uncore_txn, 0) & UNCORE_TXN_HELD))
		return;
	pkg = uncore_package_of(smp_processor_id());
	box = uncore_this_box(pkg, pmu);
	uncore_lock(pkg);
	box->held = 0;
	uncore_package_apply(pkg, BIT(uncore_box_id(box)));
	uncore_unlock(pkg);
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
 *
 * Return: 0 or a negative errno.
 */
int uncore_pmu_register(struct uncore_pmu *upmu, const struct uncore_box_type *type,
			unsigned int instance)
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
		.attr_groups	= uncore_sysfs_create(upmu),
		.task_ctx_nr	= perf_invalid_context,
		.event_init	= uncore_event_init,
		.check_period	= uncore_check_period,
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
	if (!upmu->pmu.attr_groups)
		return -ENOMEM;
	err = perf_pmu_register(&upmu->pmu, upmu->name, -1);
	upmu->registered = !err;
	if (err)
		uncore_sysfs_free(upmu->pmu.attr_groups);
	return err;
}

/** uncore_pmu_unregister() - undo uncore_pmu_register(), if it has been done */
void uncore_pmu_unregister(struct uncore_pmu *upmu)
{
	if (!upmu->registered)
		return;
	perf_pmu_unregister(&upmu->pmu);
	uncore_sysfs_free(upmu->pmu.attr_groups);
}
