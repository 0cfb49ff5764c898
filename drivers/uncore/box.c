// SPDX-License-Identifier: GPL-2.0-only
/*
 * The counters of one box of one package: which event has which counter, and its registers. With
 * the package locked.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <asm/msr.h>

#include "compat.h"
#include "uncore.h"
#include "xeon7500/ubox.h"

/* A value without W-Box erratum, within 48 bits. */
#define UNCORE_PROBE_PATTERN	0x5aa5a55a5aa5ULL

/* The transitions, see uncore.h. */
const u8 uncore_counter_next[UNCORE_NUM_STATES] = {
	[UNCORE_FREE]		= BIT(UNCORE_NEW),
	[UNCORE_NEW]		= BIT(UNCORE_RUNNING) | BIT(UNCORE_STOPPED) | BIT(UNCORE_FREE),
	[UNCORE_RUNNING]	= BIT(UNCORE_STOPPED) | BIT(UNCORE_LEAVING),
	[UNCORE_STOPPED]	= BIT(UNCORE_RUNNING) | BIT(UNCORE_LEFT),
	[UNCORE_LEAVING]	= BIT(UNCORE_RUNNING) | BIT(UNCORE_LEFT),
	[UNCORE_LEFT]		= BIT(UNCORE_RUNNING) | BIT(UNCORE_FREE),
};

/* The bits of counters in GLOBAL_CTL, STATUS and OVF_CTL of the box. */
static u32 uncore_box_bits(const struct uncore_box *box, u32 counters)
{
	u32 bits = 0;
	int idx;

	for_each_uncore_bit(idx, counters)
		bits |= box->type->counters[idx].bit;
	return bits;
}

/** uncore_box_counters() - the counters of STATUS bits */
u32 uncore_box_counters(const struct uncore_box *box, u64 bits)
{
	u32 counters = 0;
	unsigned int idx;

	for (idx = 0; idx < box->type->num_counters; idx++) {
		if (bits & box->type->counters[idx].bit)
			counters |= BIT(idx);
	}
	return counters;
}

/** uncore_box_status() - overflow bits of the box, which is not the U-Box */
u64 uncore_box_status(const struct uncore_box *box)
{
	u64 status;

	return rdmsrq_safe(uncore_box_ctl_msr(box) + UNCORE_STATUS, &status) ? 0 : status;
}

/** uncore_box_clear_status() - clear overflow bits of the box */
void uncore_box_clear_status(const struct uncore_box *box, u64 bits)
{
	if (box->type->enabled_by_package)
		wrmsrq(U_MSR_PMON_GLOBAL_OVF_CTL, bits);
	else
		wrmsrq(uncore_box_ctl_msr(box) + UNCORE_OVF_CTL, bits);
}

/** uncore_box_running() - the counters that are to run, bit n for counter n */
u32 uncore_box_running(const struct uncore_box *box)
{
	u32 counters = 0;
	int idx;

	for_each_used_counter(idx, box) {
		enum uncore_counter_state state = box->counter[idx].state;

		if (state == UNCORE_RUNNING || state == UNCORE_LEAVING)
			counters |= BIT(idx);
	}
	return counters;
}

/**
 * uncore_box_wanted() - which counters are to be enabled now?
 * @box: the box
 *
 * Those that are to run and are not held, due or waiting; and while the package moves or sleeps,
 * none whose overflow interrupts.
 *
 * Return: these, bit n for counter n.
 */
u32 uncore_box_wanted(struct uncore_box *box)
{
	const struct uncore_hold *hold = &uncore_box_package(box)->hold;
	u32 counters = uncore_box_running(box) & ~(box->held | box->due | box->waits);
	int idx;

	if (hold->testing)
		return 0;
	if (!hold->moving && !hold->asleep)
		return counters;
	for_each_used_counter(idx, box) {
		if (uncore_event_interrupts(box->counter[idx].event))
			counters &= ~BIT(idx);
	}
	return counters;
}

/**
 * uncore_box_write_enable() - enable the counters that are to run, and no others
 * @box: the box
 *
 * At most one write. The U-Box has its bit in U_GLOBAL_CTL, which the package writes.
 */
void uncore_box_write_enable(struct uncore_box *box)
{
	u32 enable = uncore_box_wanted(box);

	if (enable == box->enabled || box->gone)
		return;
	box->enabled = enable;
	if (!box->type->enabled_by_package)
		wrmsrq(uncore_box_ctl_msr(box), uncore_box_bits(box, enable));
}

/* The control register of a counter, for its event. */
static u64 uncore_counter_ctl(const struct uncore_box *box, const struct uncore_counter *c)
{
	const struct uncore_counter_row *row = uncore_counter_row(box, c);
	u64 ctl = uncore_config_ctl(&to_uncore_event(c->event)->config, box->type);

	if (uncore_event_interrupts(c->event))
		ctl |= row->pmi_en;
	return ctl | row->enable;
}

/** uncore_box_program() - write start value, then event and enable bit, of a new counter */
void uncore_box_program(struct uncore_box *box, struct uncore_counter *c)
{
	struct perf_event *event = c->event;

	/* An overflow bit that is set already would hide the next overflow. */
	if (uncore_event_interrupts(event))
		uncore_box_clear_status(box, uncore_counter_row(box, c)->bit);
	if (is_sampling_event(event))
		uncore_event_set_period(event);
	else
		uncore_event_set_start(event, 0);
	wrmsrq(uncore_ctl_msr(box, c), uncore_counter_ctl(box, c));
}

/* A value that a register has refused must not be part of the next one. */
static void uncore_box_forget_unused(struct uncore_box *box)
{
	unsigned int i;

	for (i = 0; i < UNCORE_MAX_SLOTS; i++) {
		if (!box->claims.slot[i].users)
			memset(box->claims.slot[i].val, 0, sizeof(box->claims.slot[i].val));
	}
}

/**
 * uncore_box_add() - give an event a counter; it starts at the next commit
 * @box: the box
 * @event: the event
 *
 * Return: 0; -EAGAIN if the box is too full for it now; -EIO if the box or a shared
 * register does not take what it needs.
 */
int uncore_box_add(struct uncore_box *box, struct perf_event *event)
{
	struct uncore_config *config = &to_uncore_event(event)->config;
	struct uncore_counter *c = uncore_event_counter(event);
	int err;

	if (box->gone)
		return -EIO;
	if (c) {
		/* Deleted a moment ago and still on its counter. */
		uncore_counter_set(c, UNCORE_RUNNING);
		return 0;
	}
	if (uncore_claim_take(&box->claims, &config->claim))
		return -EAGAIN;
	err = uncore_subregs_write(box, config);
	if (err) {
		uncore_claim_release(&box->claims, &config->claim);
		uncore_box_forget_unused(box);
		return err;
	}
	c = uncore_event_counter(event);
	c->event = event;
	event->hw.event_base = uncore_ctr_msr(box, c);
	uncore_counter_set(c, UNCORE_NEW);
	return 0;
}

/** uncore_box_go_on() - some of the events of a box no longer wait for the watch */
void uncore_box_go_on(struct uncore_box *box, u32 counters)
{
	int idx;

	for_each_uncore_bit(idx, box->waits & counters)
		uncore_stopwatch_run(&to_uncore_event(box->counter[idx].event)->waits, false,
				     local_clock(), &uncore_box_package(box)->held);
	box->waits &= ~counters;
}

/** uncore_box_release() - free a counter that counts nothing */
void uncore_box_release(struct uncore_box *box, struct uncore_counter *c)
{
	uncore_event_no_start(c->event);
	uncore_box_go_on(box, BIT(c - box->counter));
	box->due &= ~BIT(c - box->counter);
	uncore_claim_release(&box->claims, &to_uncore_event(c->event)->config.claim);
	uncore_counter_set(c, UNCORE_FREE);
	c->event = NULL;
}

/**
 * uncore_box_prepare() - first half of a commit: what is to run now?
 * @box: the box
 * @program: also program the counters that are new
 *
 * Return: the counters to read for the last time.
 */
u32 uncore_box_prepare(struct uncore_box *box, bool program)
{
	u32 left = 0;
	int idx;

	for_each_used_counter(idx, box) {
		struct uncore_counter *c = &box->counter[idx];

		if (c->state == UNCORE_LEAVING)
			uncore_counter_set(c, UNCORE_LEFT);
		if (c->state == UNCORE_LEFT) {
			left |= BIT(idx);
		} else if (c->state == UNCORE_NEW && program) {
			uncore_box_program(box, c);
			uncore_counter_set(c, UNCORE_RUNNING);
		}
	}
	return left;
}

/* Has another program changed the control register of a counter? */
static void uncore_counter_check(struct uncore_box *box, struct uncore_counter *c)
{
	u64 ctl;

	rdmsrq(uncore_ctl_msr(box, c), ctl);
	if ((ctl ^ uncore_counter_ctl(box, c)) & ~box->type->quirks.ctl_unsure)
		uncore_conflict(box, uncore_ctl_msr(box, c));
}

/** uncore_box_answers() - does GLOBAL_CTL hold what was written to it? Only reads */
bool uncore_box_answers(const struct uncore_box *box)
{
	u64 ctl;

	return box->type->enabled_by_package ||
	       (!rdmsrq_safe(uncore_box_ctl_msr(box), &ctl) &&
		ctl == uncore_box_bits(box, box->enabled));
}

/* A box that does not take its GLOBAL_CTL either is gone, and so are the counts of now. */
static void uncore_box_lost(struct uncore_box *box)
{
	unsigned int msr = uncore_box_ctl_msr(box);
	int idx;

	if (!wrmsrq_safe(msr, uncore_box_bits(box, box->enabled)) && uncore_box_answers(box)) {
		uncore_conflict(box, msr);
		return;
	}
	pr_err("%s %u no longer answers; its events have stopped\n", box->type->name,
	       box->instance);
	uncore_box_go_on(box, ~0U);
	uncore_stopwatch_run(&box->gone, true, local_clock(), &uncore_box_package(box)->held);
	/* A sample may be under way on the CPU that the package comes from. */
	box->due = 0;
	/* No guard is left to be switched off. */
	bitmap_zero(box->subregs.known, UNCORE_MAX_SUBREGS);
	for_each_used_counter(idx, box)
		uncore_event_no_start(box->counter[idx].event);
}

/**
 * uncore_box_check() - is the box there, and do its control registers hold what was written?
 * @box: the box
 */
void uncore_box_check(struct uncore_box *box)
{
	int idx;

	if (!box->gone && !uncore_box_answers(box))
		uncore_box_lost(box);
	if (box->gone)
		return;
	for_each_used_counter(idx, box) {
		if (box->counter[idx].state == UNCORE_RUNNING)
			uncore_counter_check(box, &box->counter[idx]);
	}
}

/**
 * uncore_box_finish() - second half of a commit: last counts of the events that have left
 * @box: the box
 * @left: their counters, which do not count
 * @check: also check whether another program has changed their registers
 *
 * Leaves the registers of these counters clean. Release the counters afterwards.
 */
void uncore_box_finish(struct uncore_box *box, u32 left, bool check)
{
	int idx;

	for_each_uncore_bit(idx, box->gone ? 0 : left) {
		struct uncore_counter *c = &box->counter[idx];

		uncore_event_update(c->event);
		if (check)
			uncore_counter_check(box, c);
		wrmsrq(uncore_ctl_msr(box, c), 0);
		if (to_uncore_event(c->event)->wrapped)
			uncore_box_clear_status(box, uncore_counter_row(box, c)->bit);
	}
}

/*
 * No counter enabled, no overflow bit set. Returns false if a register for that is missing; those
 * of the U-Box belong to the package.
 */
static bool uncore_box_clean(struct uncore_box *box)
{
	unsigned int msr = uncore_box_ctl_msr(box);
	u64 status;

	if (box->type->enabled_by_package) {
		uncore_box_clear_status(box, U_GLOBAL_OV_U);
		return true;
	}
	return !wrmsrq_safe(msr, 0) && !rdmsrq_safe(msr + UNCORE_STATUS, &status) &&
	       !wrmsrq_safe(msr + UNCORE_OVF_CTL, status);
}

/**
 * uncore_box_rewrite() - write the registers of a box that may have lost their contents
 * @box: the box; its events have been updated, and the package does not count
 */
void uncore_box_rewrite(struct uncore_box *box)
{
	int idx;

	uncore_box_clean(box);
	box->enabled = 0;
	bitmap_zero(box->subregs.known, UNCORE_MAX_SUBREGS);
	for_each_used_counter(idx, box) {
		struct uncore_counter *c = &box->counter[idx];

		uncore_subregs_write(box, &to_uncore_event(c->event)->config);
		uncore_box_program(box, c);
	}
}

/**
 * uncore_box_probe() - is this box there and does it work? If so, it is clean then
 * @box: the box, on a package of this CPU that does not count
 *
 * The manual does not confirm all registers and bits, and a hypervisor may not pass all of them.
 * They are tried here, so that an event that needs what is not there can be refused.
 */
bool uncore_box_probe(struct uncore_box *box)
{
	unsigned int ctr = uncore_ctr_msr(box, box->counter), ctl, idx;
	u64 val;

	if (!uncore_box_clean(box) || !uncore_box_answers(box) ||
	    wrmsr_safe(ctr, lower_32_bits(UNCORE_PROBE_PATTERN),
		       upper_32_bits(UNCORE_PROBE_PATTERN)) ||
	    rdmsrq_safe(ctr, &val) || val != UNCORE_PROBE_PATTERN)
		return false;
	for (idx = 0; idx < box->type->num_counters; idx++) {
		const struct uncore_counter_row *row = &box->type->counters[idx];

		ctl = uncore_ctl_msr(box, &box->counter[idx]);
		ctr = uncore_ctr_msr(box, &box->counter[idx]);
		if (row->pmi_inferred && wrmsrq_safe(ctl, row->enable | row->pmi_en))
			box->no_pmi |= BIT(idx);
		if (!wrmsrq_safe(ctl, 0) && !rdmsrq_safe(ctl, &val) && !wrmsrq_safe(ctr, 0) &&
		    !rdmsrq_safe(ctr, &val))
			box->usable |= BIT(idx);
	}
	uncore_subregs_probe(box);
	return true;
}
