// SPDX-License-Identifier: GPL-2.0-only
/*
 * What an event is refused for, beyond what its config says.
 */
#include <linux/slab.h>
#include <linux/smp.h>

#include "check.h"
#include "decode.h"
#include "proof.h"

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

/** uncore_check_group() - would the whole group fit on an empty box? Else -EINVAL */
int uncore_check_group(struct perf_event *event)
{
	struct perf_event *leader = event->group_leader, *sibling;
	struct uncore_claims *claims;
	int err;

	if (leader == event)
		return 0;
	claims = kzalloc(sizeof(*claims), GFP_KERNEL);
	if (!claims)
		return -ENOMEM;
	err = uncore_check_member(claims, leader, event->pmu);
	for_each_sibling_event(sibling, leader) {
		if (!err)
			err = uncore_check_member(claims, sibling, event->pmu);
	}
	if (!err)
		err = uncore_check_member(claims, event, event->pmu);
	kfree(claims);
	if (err)
		return uncore_refuse(event, -EINVAL, "the group does not fit on one box");
	return 0;
}

/* What it asks of the registers that no page of the manual confirms. */
struct uncore_try {
	struct uncore_package *pkg;
	struct perf_event *event;
	int err;
};

static void uncore_try_registers(void *info)
{
	struct uncore_try *try = info;
	unsigned long irq;

	raw_spin_lock_irqsave(&try->pkg->lock, irq);
	try->err = uncore_box_try(try->event) ? 0 : -EOPNOTSUPP;
	raw_spin_unlock_irqrestore(&try->pkg->lock, irq);
}

/**
 * uncore_check_registers() - are the registers there that the event needs?
 * @event: the event, decoded
 * @pkg: its package
 *
 * Return: 0; -EOPNOTSUPP if one is not, -ENODEV if the CPU has gone.
 */
int uncore_check_registers(struct perf_event *event, struct uncore_package *pkg)
{
	struct uncore_try try = { .pkg = pkg, .event = event };
	int err;

	if (!uncore_box_to_try(event))
		return 0;
	err = smp_call_function_single(event->cpu, uncore_try_registers, &try, 1);
	if (err)
		return uncore_refuse(event, -ENODEV, "CPU %d has gone", event->cpu);
	if (try.err)
		return uncore_refuse(event, try.err, "a register it needs cannot be used");
	return 0;
}

/**
 * uncore_check_interrupts() - if its overflow is to interrupt, does it?
 * @event: the event, decoded
 * @pkg: its package
 *
 * Return: as uncore_proof_require().
 */
int uncore_check_interrupts(struct perf_event *event, struct uncore_package *pkg)
{
	int err;

	if (!uncore_event_interrupts(event))
		return 0;
	err = uncore_proof_require(pkg, is_sampling_event(event));
	switch (err) {
	case 0:
		return 0;
	case -EBUSY:
		return uncore_refuse(event, -EBUSY, "no free counter to prove interrupts with");
	case -ENODEV:
		return uncore_refuse(event, -ENODEV, "CPU %d has gone", event->cpu);
	default:
		return uncore_refuse(event, -EOPNOTSUPP, "overflows do not interrupt");
	}
}

/**
 * uncore_check_attr() - what no uncore PMU can do
 * @event: the event
 *
 * Return: 0; -EOPNOTSUPP for what needs a core, -EINVAL for an event of a task.
 */
int uncore_check_attr(struct perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;

	if (attr->precise_ip || has_branch_stack(event))
		return uncore_refuse(event, -EOPNOTSUPP, "no core, no precise IP or branches");
	if (event->cpu < 0 || event->attach_state & PERF_ATTACH_TASK)
		return uncore_refuse(event, -EINVAL, "counts for a package, not for a task");
	if (attr->exclude_user || attr->exclude_kernel || attr->exclude_hv || attr->exclude_idle)
		return uncore_refuse(event, -EOPNOTSUPP, "cannot tell who caused an event");
	/* perf sets exclude_guest unasked; only -EINVAL makes it try again without. */
	if (attr->exclude_host || attr->exclude_guest)
		return uncore_refuse(event, -EINVAL, "cannot tell host from guest");
	return 0;
}
