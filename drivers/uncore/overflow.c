// SPDX-License-Identifier: GPL-2.0-only
/*
 * Overflows, from U_GLOBAL_STATUS to the sample.
 *
 * counter -> box STATUS -> S SUMMARY -> U GLOBAL_STATUS -> PMI (Uncore Programming Guide,
 * section 2.1). The handler goes back the same way.
 *
 * Whether an event owes a sample is in its count, not in a STATUS bit: these only say
 * where to look. So nothing is lost when a PMI comes early, late, twice or not at all,
 * and an event that is stopped or taken away just after an overflow still gives its
 * sample.
 *
 * An event may freeze the package (U_GLOBAL_CTL.frz_all): hardware then clears en_all at
 * the overflow, everything read with the sample belongs to that moment, and the last write
 * of the handler lets all counters go on. Otherwise only the counters that have overflowed
 * stand while they are handled.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kprobes.h>
#include <asm/msr.h>

#include "compat.h"
#include "delivery.h"
#include "overflow.h"
#include "xeon7500/sbox.h"
#include "xeon7500/ubox.h"

/* Passes over a package whose counters overflow while it is looked at. */
#define UNCORE_MAX_PASSES	8

/* Not exported, so found at load. */
static int (*uncore_overflow)(struct perf_event *event, struct perf_sample_data *data,
			      struct pt_regs *regs);

static const u16 uncore_summary_msr[2] = {
	S0_MSR_PMON_BASE + S_MSR_PMON_SUMMARY, S1_MSR_PMON_BASE + S_MSR_PMON_SUMMARY,
};

/* perf may stop and start events of the package meanwhile, this one and others. */
static int uncore_overflow_tell(struct uncore_package *pkg, struct perf_event *event,
				struct perf_sample_data *data, struct pt_regs *regs)
{
	int stop;

	WRITE_ONCE(pkg->telling, smp_processor_id());
	stop = uncore_overflow(event, data, regs);
	WRITE_ONCE(pkg->telling, -1);
	return stop;
}

/* One overflow, if it is one, and a new start value; the counter does not count. */
static void uncore_overflow_sample(struct uncore_package *pkg, struct uncore_counter *c,
				   struct pt_regs *regs)
{
	struct perf_event *event = c->event;
	struct perf_sample_data data;
	u64 period = event->hw.last_period;
	bool overdue;

	uncore_event_update(event);
	overdue = uncore_event_overdue(event);
	uncore_event_set_period(event);
	/* Else a part of a period that is too long for the counter, or told already. */
	if (!overdue)
		return;
	perf_sample_data_init(&data, 0, period);
	if (uncore_overflow_tell(pkg, event, &data, regs) && c->state == UNCORE_RUNNING) {
		uncore_event_settle_period(event);
		uncore_counter_set(c, UNCORE_STOPPED);
	}
}

/* Likewise for an event that has left its counter, but is still in perf's hands. */
static void uncore_overflow_last_sample(struct uncore_package *pkg, struct perf_event *event,
					struct pt_regs *regs)
{
	struct perf_sample_data data;

	/* At its limit perf would stop the event, which is too late and spoils the next start. */
	if (atomic_read(&event->event_limit)) {
		atomic64_inc(&pkg->totals.lost);
		return;
	}
	perf_sample_data_init(&data, 0, event->hw.last_period);
	uncore_overflow_tell(pkg, event, &data, regs);
}

/*
 * Has perf all of a group on its counters? If it is just taking them off or putting them back,
 * one by one, it would put old counts of the others into a sample.
 */
static bool uncore_group_is_whole(const struct perf_event *event)
{
	const struct perf_event *leader = event->group_leader, *sibling;

	if (leader->state != PERF_EVENT_STATE_ACTIVE)
		return false;
	for_each_sibling_event(sibling, leader) {
		if (sibling->state == PERF_EVENT_STATE_INACTIVE)
			return false;
	}
	return true;
}

/* Counters of a box have overflowed. Returns for how many there has been a PMI. */
static unsigned int uncore_overflow_box(struct uncore_package *pkg, struct uncore_box *box,
					u64 status, bool frozen, struct pt_regs *regs)
{
	unsigned long counters = uncore_box_counters(box, status), due = 0;
	unsigned int pmis = 0, held = box->held, idx;

	for_each_set_bit(idx, &counters, UNCORE_MAX_COUNTERS) {
		struct uncore_counter *c = &box->counter[idx];

		if (c->state <= UNCORE_NEW || !uncore_event_interrupts(c->event))
			continue;
		pmis++;
		if (!is_sampling_event(c->event))
			continue;
		if (c->state == UNCORE_RUNNING && uncore_group_is_whole(c->event))
			due |= BIT(idx);
		else if (c->state == UNCORE_RUNNING || c->state == UNCORE_LEAVING)
			uncore_event_update(c->event);	/* The commit sees to it. */
	}
	if (due && !frozen)
		uncore_package_hold(pkg, box, held | due);
	for_each_set_bit(idx, &due, UNCORE_MAX_COUNTERS)
		uncore_overflow_sample(pkg, &box->counter[idx], regs);
	uncore_box_clear_ov(box, status);
	if (due)
		uncore_package_hold(pkg, box, held);
	return pmis;
}

static unsigned int uncore_overflow_boxes(struct uncore_package *pkg, unsigned long boxes,
					  bool frozen, struct pt_regs *regs)
{
	unsigned int pmis = 0, id;

	for_each_set_bit(id, &boxes, UNCORE_NUM_BOXES) {
		u64 status = uncore_box_status(&pkg->box[id]);

		if (status)
			pmis += uncore_overflow_box(pkg, &pkg->box[id], status, frozen, regs);
	}
	return pmis;
}

static unsigned long uncore_side_boxes(int side, u32 summary)
{
	const struct uncore_summary *s;
	unsigned long boxes = 0;

	for (s = uncore_model->summary; s->bit; s++) {
		if (summary & s->bit)
			boxes |= s->boxes[side];
	}
	return boxes;
}

/* The boxes of a side that may have overflowed, out of these. */
static unsigned long uncore_side_find(const struct uncore_package *pkg, int side,
				      unsigned long boxes)
{
	u64 summary;

	boxes &= uncore_side_boxes(side, ~0);
	/* No need to ask, or nobody who can be asked. */
	if (!(boxes & (boxes - 1)) || !test_bit(UNCORE_SBOX + side, &pkg->present))
		return boxes;
	rdmsrq(uncore_summary_msr[side], summary);
	return boxes & uncore_side_boxes(side, summary);
}

/* From the top of the hierarchy down. Returns for how many overflows there has been a PMI. */
static unsigned int uncore_overflow_walk(struct uncore_package *pkg, u32 status,
					 unsigned long among, bool frozen, struct pt_regs *regs)
{
	struct uncore_box *ubox = &pkg->box[UNCORE_UBOX];
	unsigned long boxes = 0;
	unsigned int pmis = 0;

	if (status & U_GLOBAL_OV_S0)
		boxes |= uncore_side_find(pkg, 0, among);
	if (status & U_GLOBAL_OV_S1)
		boxes |= uncore_side_find(pkg, 1, among);
	if (status & U_GLOBAL_OV_W)
		boxes |= among & BIT(UNCORE_WBOX);
	if (status & U_GLOBAL_OV_U)
		pmis = uncore_overflow_box(pkg, ubox, U_GLOBAL_OV_U, frozen, regs);
	return pmis + uncore_overflow_boxes(pkg, boxes, frozen, regs);
}

/* Does an overflow freeze the package? */
static bool uncore_overflow_freezes(const struct uncore_package *pkg)
{
	return pkg->global_ctl & U_GLOBAL_CTL_FRZ_ALL;
}

/* What hardware is about to do, and has done already as a rule. */
static void uncore_overflow_freeze(const struct uncore_package *pkg)
{
	uncore_package_override_ctl(pkg->global_ctl & ~U_GLOBAL_CTL_EN_ALL);
}

/* Is the package frozen? If so, nothing counts before the next write of U_GLOBAL_CTL. */
static bool uncore_overflow_frozen(const struct uncore_package *pkg)
{
	u64 ctl;

	if (!uncore_overflow_freezes(pkg))
		return false;
	rdmsrq(U_MSR_PMON_GLOBAL_CTL, ctl);
	return !(ctl & U_GLOBAL_CTL_EN_ALL);
}

/**
 * uncore_overflow_handle() - handle what has overflowed
 * @pkg: the package, locked
 * @regs: of whoever was interrupted
 * @pmis: for how many overflows there has been a PMI
 *
 * In a package that runs, a further overflow may come at any time: LVTPC and the U level
 * are cleared before the boxes, and looked at again after them, so that none goes unnoticed
 * whether the U level latches or follows what is below. In a frozen one nothing follows. It
 * is asked for that first, so that what froze it is seen, and handled before it is let go; one
 * that is about to freeze is not waited for.
 *
 * Return: whether there was anything to handle.
 */
bool uncore_overflow_handle(struct uncore_package *pkg, struct pt_regs *regs, unsigned int *pmis)
{
	u64 since = pkg->freezing ? ktime_get_mono_fast_ns() : 0;
	bool frozen = false;
	unsigned int pass;
	u32 status;

	*pmis = 0;
	uncore_delivery_unmask();
	for (pass = 0; !frozen && pass < UNCORE_MAX_PASSES; pass++) {
		frozen = uncore_overflow_frozen(pkg);
		status = uncore_global_status();
		if (!status)
			break;
		if (!frozen && uncore_overflow_freezes(pkg)) {
			uncore_overflow_freeze(pkg);
			frozen = true;
		}
		if (status & ~U_GLOBAL_OV_U)
			uncore_clear_global_status(status);
		/* What else there is but what we know of was left by someone else. */
		*pmis += uncore_overflow_walk(pkg, status, pass ? pkg->present : pkg->used, frozen,
					      regs);
	}
	if (!frozen)
		return pass;
	uncore_package_write_ctl(pkg);
	atomic64_add(ktime_get_mono_fast_ns() - since, &pkg->totals.frozen_ns);
	return true;
}

/**
 * uncore_overflow_deliver() - the samples of all overflows that have been seen in a box
 * @pkg: the package, locked
 * @box: the box; those of its events that left have their last counts
 *
 * They happened in the very call that is here now, or just before.
 *
 * Return: whether there were any. The hardware may tell of them still; a package that freezes
 * stands, and uncore_overflow_handle() lets it go.
 */
bool uncore_overflow_deliver(struct uncore_package *pkg, struct uncore_box *box)
{
	unsigned int held = box->held, idx;
	unsigned long due = 0;
	struct pt_regs regs;

	for_each_used_counter(idx, box) {
		const struct uncore_counter *c = &box->counter[idx];

		if (c->state <= UNCORE_NEW || !uncore_event_overdue(c->event))
			continue;
		if (c->state == UNCORE_LEFT || uncore_group_is_whole(c->event))
			due |= BIT(idx);
	}
	if (!due)
		return false;
	perf_fetch_caller_regs(&regs);
	if (uncore_overflow_freezes(pkg))
		uncore_overflow_freeze(pkg);
	else
		uncore_package_hold(pkg, box, held | due);
	for_each_set_bit(idx, &due, UNCORE_MAX_COUNTERS) {
		struct uncore_counter *c = &box->counter[idx];

		if (c->state == UNCORE_LEFT)
			uncore_overflow_last_sample(pkg, c->event, &regs);
		else
			uncore_overflow_sample(pkg, c, &regs);
	}
	uncore_package_hold(pkg, box, held);
	return true;
}

/** uncore_overflow_init() - find what the kernel does not export; a kprobe knows it */
void uncore_overflow_init(void)
{
	struct kprobe probe = { .symbol_name = "perf_event_overflow" };
	int err = register_kprobe(&probe);

	if (err) {
		pr_info("cannot find perf_event_overflow() (%d): no sampling\n", err);
		return;
	}
	uncore_overflow = (void *)probe.addr;
	unregister_kprobe(&probe);
}

/** uncore_overflow_samples() - can overflows be handed to perf? */
bool uncore_overflow_samples(void)
{
	return uncore_overflow;
}
