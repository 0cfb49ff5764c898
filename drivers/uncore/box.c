// SPDX-License-Identifier: GPL-2.0-only
/*
 * The counters of one box.
 *
 * perf adds and deletes events one by one, between pmu_disable() and pmu_enable().
 * Nothing is written to the hardware before pmu_enable() calls
 * uncore_box_commit(), so that
 *  - an event that is taken away and put back at once (which perf does for each
 *    event of the box whenever one is added) never stops and costs nothing,
 *  - all counters of a batch start with one write and stop with one write,
 *  - a group that does not fit has touched no register.
 *
 * When the last counter of a package stops, en_all goes off and the box keeps its
 * ctr_en bits: nothing runs, and the next session may find them right already.
 * uncore_pkg_sync() clears them before another box turns en_all on.
 */
#include <asm/msr.h>

#include "uncore.h"
#include "xeon7500/ubox.h"

/* No sampling period is shorter: the counter must not pass it while it is written. */
#define UNCORE_MIN_PERIOD	3

/* A counter that was read this long ago may have wrapped twice. */
#define UNCORE_MIN_WRAP_NS	(BIT_ULL(48) / (UNCORE_MAX_INC * UNCORE_MAX_CLOCK_GHZ))
#define UNCORE_MIN_WRAP		(UNCORE_MIN_WRAP_NS / NSEC_PER_SEC * HZ)

unsigned int uncore_evt_sel_msr(const struct uncore_box *box, int idx)
{
	return box->type->base[box->instance] + box->type->counters[idx].ctl;
}

unsigned int uncore_ctr_msr(const struct uncore_box *box, int idx)
{
	return box->type->base[box->instance] + box->type->counters[idx].ctr;
}

unsigned int uncore_box_ctl_msr(const struct uncore_box *box)
{
	return box->type->base[box->instance] + box->type->box_ctl;
}

/* The bits of these counters in GLOBAL_CTL. */
u32 uncore_box_ctr_en(const struct uncore_box *box, u32 counters)
{
	unsigned int idx;
	u32 bits = 0;

	for (idx = 0; idx < box->type->num_counters; idx++) {
		if (counters & BIT(idx))
			bits |= box->type->counters[idx].bit;
	}
	return bits;
}

static u64 uncore_fixup_read(const struct uncore_box *box, u64 count, u64 before)
{
	if (box->type->erratum)
		count = box->type->erratum->read(count, before);
	return count & UNCORE_COUNTER_MASK;
}

static u64 uncore_fixup_start(const struct uncore_box *box, u64 start)
{
	return box->type->erratum ? box->type->erratum->start(start) : start;
}

static u64 uncore_read_counter(const struct uncore_box *box, const struct perf_event *event,
			       u64 before)
{
	u64 count;

	rdmsrl(event->hw.event_base, count);
	return uncore_fixup_read(box, count, before);
}

/*
 * Add what the counter has gained. A count below the last one means a wrap; @wraps
 * is what is known of wraps besides. Safe against itself in NMI.
 */
static void uncore_event_advance(const struct uncore_box *box, struct perf_event *event, u64 wraps)
{
	struct hw_perf_event *hwc = &event->hw;
	u64 prev, now;

	do {
		prev = local64_read(&hwc->prev_count);
		now = (prev & ~UNCORE_COUNTER_MASK) | uncore_read_counter(box, event, prev);
		if (now < prev || now >> 48 < wraps)
			now += BIT_ULL(48);
	} while (local64_cmpxchg(&hwc->prev_count, prev, now) != prev);
	local64_add(now - prev, &event->count);
}

/**
 * uncore_event_update() - add to an event what its counter has gained
 * @box: its box
 * @event: the event, on a counter of @box
 *
 * One RDMSR. Safe against itself in any context on the CPU of the package. A wrap
 * is reported by a PMI; after a time in which there can have been more than one, the
 * overflow status is asked too, should the PMI have been lost.
 */
void uncore_event_update(const struct uncore_box *box, struct perf_event *event)
{
	struct uncore_event *ue = to_uncore_event(event);
	unsigned long now = READ_ONCE(jiffies);

	if (now - ue->seen > UNCORE_MIN_WRAP)
		uncore_pmi_poll(box->pkg);
	ue->seen = now;
	uncore_event_advance(box, event, 0);
}

/**
 * uncore_event_wrapped() - account for one more overflow of a counting event
 * @box: its box
 * @event: the event; the overflow was reported by the hardware
 *
 * It makes no difference whether the wrap was seen before by uncore_event_update().
 */
void uncore_event_wrapped(const struct uncore_box *box, struct perf_event *event)
{
	uncore_event_advance(box, event, ++to_uncore_event(event)->wraps);
}

/**
 * uncore_event_left() - what is left of the period of a sampling event
 * @event: the event
 *
 * As of its last update. hw.period_left is what was left when the counter got its start
 * value: a PMI that interrupts an update finds nothing half subtracted.
 */
s64 uncore_event_left(const struct perf_event *event)
{
	u64 gained = local64_read(&event->hw.prev_count) - to_uncore_event(event)->start;

	return local64_read(&event->hw.period_left) - (s64)gained;
}

/* For perf, which may set hw.period_left while the event is stopped. No PMI is to come. */
static void uncore_event_settle_period(struct perf_event *event)
{
	s64 left;

	if (!is_sampling_event(event))
		return;
	left = uncore_event_left(event);
	to_uncore_event(event)->start = local64_read(&event->hw.prev_count);
	local64_set(&event->hw.period_left, left);
}

/**
 * uncore_event_set_period() - let the counter of a sampling event overflow in time
 * @box: its box
 * @event: the event; its counter stands
 *
 * One WRMSR. What the counter gained beyond the last period shortens the next. No two
 * start values are the same with the wraps above them: an update that this interrupts
 * must not take one for the other.
 */
void uncore_event_set_period(const struct uncore_box *box, struct perf_event *event)
{
	struct uncore_event *ue = to_uncore_event(event);
	struct hw_perf_event *hwc = &event->hw;
	s64 period = hwc->sample_period;
	s64 left = uncore_event_left(event);
	u64 start;

	if (left <= -period)
		left = 0;
	if (left <= 0) {
		left += period;
		hwc->last_period = period;
	}
	local64_set(&hwc->period_left, left);

	left = clamp_t(s64, left, UNCORE_MIN_PERIOD, BIT_ULL(47));
	start = uncore_fixup_start(box, -left & UNCORE_COUNTER_MASK);
	ue->wraps = (u16)(((u64)local64_read(&hwc->prev_count) >> 48) + 1);
	ue->start = ue->wraps << 48 | start;
	local64_set(&hwc->prev_count, ue->start);
	wrmsrl(hwc->event_base, start);
}

static bool uncore_event_overdue(struct perf_event *event)
{
	return is_sampling_event(event) && uncore_event_left(event) <= 0;
}

/**
 * uncore_box_clear_ov() - clear overflow bits of a box
 * @box: the box
 * @bits: as in its STATUS register
 */
void uncore_box_clear_ov(const struct uncore_box *box, u32 bits)
{
	if (box->type->enabled_by_package)
		wrmsrl(U_MSR_PMON_GLOBAL_OVF_CTL, bits);
	else
		wrmsrl(uncore_box_ctl_msr(box) + UNCORE_OVF_CTL, bits);
}

/* Sub-registers and start value first, then event and enable bit in one write. */
static void uncore_program(struct uncore_box *box, int idx)
{
	const struct uncore_counter_row *row = &box->type->counters[idx];
	struct perf_event *event = box->events[idx];
	struct uncore_event *ue = to_uncore_event(event);
	u64 ctl = uncore_config_ctl(&ue->cfg, box->type);

	ctl |= row->enable | (box->pkg->pmi ? row->pmi_en : 0);

	/* The overflow of an event that is gone must not be taken for this one's. */
	if (box->stale_ov & BIT(idx)) {
		uncore_box_clear_ov(box, uncore_box_ctr_en(box, BIT(idx)));
		box->stale_ov &= ~BIT(idx);
	}
	clear_bit(idx, &box->missed);

	uncore_subregs_write(box, ue);
	ue->wraps = 0;
	ue->seen = jiffies;
	if (is_sampling_event(event)) {
		uncore_event_set_period(box, event);
	} else {
		wrmsrl(event->hw.event_base, 0);
		local64_set(&event->hw.prev_count, 0);
	}
	wrmsrl(uncore_evt_sel_msr(box, idx), ctl);
	box->touched |= BIT(idx);
	set_bit(idx, &box->armed);
}

static void uncore_program_fresh(struct uncore_box *box)
{
	unsigned long fresh = box->fresh;
	int idx;

	for_each_set_bit(idx, &fresh, UNCORE_MAX_COUNTERS)
		uncore_program(box, idx);
	WRITE_ONCE(box->fresh, 0);
}

static u32 uncore_box_wanted(const struct uncore_box *box)
{
	return READ_ONCE(box->want) & ~READ_ONCE(box->fresh) & ~READ_ONCE(box->held);
}

/**
 * uncore_box_force_enable() - enable the wanted counters in GLOBAL_CTL, in any case
 * @box: the box
 *
 * Counters that are not programmed yet have to wait. Safe in NMI: when the overflow
 * handler has changed @want between our write to @enabled and that to the register,
 * the register may have got the older value and is written again.
 */
void uncore_box_force_enable(struct uncore_box *box)
{
	u32 enable;

	do {
		enable = uncore_box_wanted(box);
		WRITE_ONCE(box->enabled, enable);
		if (!box->type->enabled_by_package)
			wrmsrl(uncore_box_ctl_msr(box), uncore_box_ctr_en(box, enable));
	} while (uncore_box_wanted(box) != enable);
}

/** uncore_box_write_enable() - likewise, unless they are enabled already */
void uncore_box_write_enable(struct uncore_box *box)
{
	if (box->enabled != uncore_box_wanted(box))
		uncore_box_force_enable(box);
}

/**
 * uncore_box_hold() - let running counters stand for a moment
 * @box: the box
 * @counters: those, and no others; 0 lets all go on
 */
void uncore_box_hold(struct uncore_box *box, u32 counters)
{
	WRITE_ONCE(box->held, counters);
	if (!uncore_pkg_runs(box->pkg))
		return;
	uncore_box_write_enable(box);
	uncore_pkg_sync(box->pkg);
}

static void uncore_counter_start(struct uncore_box *box, int idx)
{
	struct perf_event *event = box->events[idx];

	event->hw.state = 0;
	set_bit(idx, &box->want);
	if (box->started & BIT(idx))
		return;
	box->started |= BIT(idx);
	box->pkg->freezers += to_uncore_event(event)->cfg.freeze;
	box->pkg->sampling += is_sampling_event(event);
}

static void uncore_counter_stop(struct uncore_box *box, int idx)
{
	struct perf_event *event = box->events[idx];

	event->hw.state |= PERF_HES_STOPPED;
	clear_bit(idx, &box->want);
	if (!(box->started & BIT(idx)))
		return;
	box->started &= ~BIT(idx);
	box->pkg->freezers -= to_uncore_event(event)->cfg.freeze;
	box->pkg->sampling -= is_sampling_event(event);
}

/* All at once, for the overflow handler may come between. */
static void uncore_box_stop_leaving(struct uncore_box *box)
{
	unsigned long leaving = box->leaving, want;
	int idx;

	if (!leaving)
		return;
	do {
		want = READ_ONCE(box->want);
	} while (cmpxchg(&box->want, want, want & ~leaving) != want);
	for_each_set_bit(idx, &leaving, UNCORE_MAX_COUNTERS)
		uncore_counter_stop(box, idx);
}

/* Bring the hardware to what is wanted; on return, unwanted counters stand. */
static void uncore_box_sync(struct uncore_box *box, bool fresh)
{
	struct uncore_pkg *pkg = box->pkg;

	uncore_box_stop_leaving(box);
	__assign_bit(box->id, &pkg->active, box->started);
	if (fresh)
		uncore_program_fresh(box);
	if (uncore_pkg_runs(pkg))
		uncore_box_write_enable(box);
	uncore_pkg_sync(pkg);
}

static void uncore_counter_release(struct uncore_box *box, int idx)
{
	uncore_claim_release(&box->claims, &to_uncore_event(box->events[idx])->cfg.claim);
	WRITE_ONCE(box->events[idx], NULL);
}

/* Has a counter that stands overflowed without anybody having heard of it? */
static bool uncore_event_unreported(struct perf_event *event)
{
	u64 wraps = (u64)local64_read(&event->hw.prev_count) >> 48;

	return uncore_event_overdue(event) || wraps != to_uncore_event(event)->wraps;
}

/* The last look at a counter that stands and whose event has left. */
static void uncore_counter_final(struct uncore_box *box, int idx)
{
	struct perf_event *event = box->events[idx];

	clear_bit(idx, &box->armed);
	uncore_event_update(box, event);
	if (test_and_clear_bit(idx, &box->missed)) {
		if (!is_sampling_event(event))
			uncore_event_wrapped(box, event);
	} else if (uncore_event_unreported(event)) {
		/* It overflowed so late that the PMI finds it gone. */
		box->stale_ov |= BIT(idx);
		uncore_pmi_expect(box->pkg);
	}
}

static void uncore_counter_retire(struct uncore_box *box, int idx)
{
	struct perf_event *event = box->events[idx];

	if (uncore_event_overdue(event))
		uncore_pmi_last(box, event);
	uncore_event_settle_period(event);
	event->hw.state |= PERF_HES_UPTODATE;
	uncore_counter_release(box, idx);
}

static void uncore_box_retire(struct uncore_box *box)
{
	unsigned long leaving = box->leaving;
	int idx;

	/* A last sample may tell the counts of a whole group, so all are looked at first. */
	for_each_set_bit(idx, &leaving, UNCORE_MAX_COUNTERS)
		uncore_counter_final(box, idx);
	for_each_set_bit(idx, &leaving, UNCORE_MAX_COUNTERS)
		uncore_counter_retire(box, idx);
	box->leaving = 0;
}

/* What was deleted goes; @fresh: what was added comes. */
static void uncore_box_settle(struct uncore_box *box, bool fresh)
{
	WRITE_ONCE(box->pkg->settling, true);
	uncore_box_sync(box, fresh);
	uncore_box_retire(box);
	WRITE_ONCE(box->pkg->settling, false);
}

/**
 * uncore_box_commit() - carry out all that was added and deleted
 * @box: the box
 */
void uncore_box_commit(struct uncore_box *box)
{
	uncore_box_settle(box, true);
}

/*
 * It overflowed between del and add, which perf does whenever an event comes to the box.
 * The rest of its group is away, so that perf takes their counts as they are.
 */
static void uncore_counter_late(struct uncore_box *box, int idx)
{
	struct perf_event *event = box->events[idx];

	uncore_box_hold(box, GENMASK(UNCORE_MAX_COUNTERS - 1, 0));
	uncore_box_update_all(box);
	if (is_sampling_event(event))
		uncore_pmi_late(box, event);
	else
		uncore_event_wrapped(box, event);
	uncore_box_hold(box, 0);
}

/**
 * uncore_box_add() - put an event on a counter, at the next commit
 * @box: the box
 * @event: the event
 * @start: let it count
 *
 * Return: 0, or -EAGAIN if the box is too full for it now.
 */
int uncore_box_add(struct uncore_box *box, struct perf_event *event, bool start)
{
	struct uncore_event *ue = to_uncore_event(event);
	int idx = ue->cfg.claim.idx;
	bool back = idx >= 0;

	if (back) {
		/* Deleted a moment ago and still on its counter. */
		box->leaving &= ~BIT(idx);
		set_bit(idx, &box->armed);
	} else {
		if (uncore_claim_take(&box->claims, &ue->cfg.claim)) {
			/* What is about to leave may make room; the others still start as one. */
			if (!box->leaving)
				return -EAGAIN;
			uncore_box_settle(box, false);
			if (uncore_claim_take(&box->claims, &ue->cfg.claim))
				return -EAGAIN;
		}
		idx = ue->cfg.claim.idx;
		WRITE_ONCE(box->fresh, box->fresh | BIT(idx));
		WRITE_ONCE(box->events[idx], event);
	}

	event->hw.idx = idx;
	event->hw.event_base = uncore_ctr_msr(box, idx);
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (start)
		uncore_counter_start(box, idx);
	else
		uncore_counter_stop(box, idx);
	if (back && test_and_clear_bit(idx, &box->missed))
		uncore_counter_late(box, idx);
	return 0;
}

/**
 * uncore_box_del() - take an event off its counter, at the next commit
 * @box: the box
 * @event: the event; its count is final after the commit
 *
 * perf wants no more samples from here on. Until the commit the counter goes on, also
 * if the overflow handler comes between: all of a group stop together.
 */
void uncore_box_del(struct uncore_box *box, struct perf_event *event)
{
	int idx = event->hw.idx;

	event->hw.state |= PERF_HES_STOPPED;
	if (is_sampling_event(event))
		clear_bit(idx, &box->armed);
	if (!(box->fresh & BIT(idx))) {
		box->leaving |= BIT(idx);
		return;
	}
	/* It never reached the hardware. */
	uncore_counter_stop(box, idx);
	uncore_counter_release(box, idx);
	WRITE_ONCE(box->fresh, box->fresh & ~BIT(idx));
}

/**
 * uncore_box_start() - let a stopped event go on, now
 * @box: the box
 * @event: the event
 * @reload: with a new sampling period
 */
void uncore_box_start(struct uncore_box *box, struct perf_event *event, bool reload)
{
	int idx = event->hw.idx;

	if (reload && is_sampling_event(event) && !(box->fresh & BIT(idx)))
		uncore_event_set_period(box, event);
	uncore_counter_start(box, idx);
	uncore_box_sync(box, true);
}

/**
 * uncore_box_stop() - stop an event that stays on its counter, now
 * @box: the box
 * @event: the event; its count is final on return
 */
void uncore_box_stop(struct uncore_box *box, struct perf_event *event)
{
	int idx = event->hw.idx;
	bool fresh = box->fresh & BIT(idx);

	WRITE_ONCE(box->pkg->settling, true);
	uncore_counter_stop(box, idx);
	uncore_box_sync(box, true);
	if (!fresh) {
		uncore_event_update(box, event);
		/* With a new period it would not look overdue any more when the PMI comes. */
		if (uncore_event_unreported(event)) {
			uncore_pmi_expect(box->pkg);
			uncore_pmi_catch(box->pkg);
		}
		uncore_event_settle_period(event);
	}
	WRITE_ONCE(box->pkg->settling, false);
	event->hw.state |= PERF_HES_UPTODATE;
}

/**
 * uncore_box_update_all() - update every running event of a box
 * @box: the box
 */
void uncore_box_update_all(struct uncore_box *box)
{
	unsigned long running = box->want & ~box->fresh;
	int idx;

	for_each_set_bit(idx, &running, UNCORE_MAX_COUNTERS)
		uncore_event_update(box, box->events[idx]);
}

/**
 * uncore_box_rewrite() - write the registers of a box that may have lost their contents
 * @box: the box; its events have been updated and en_all is off
 */
void uncore_box_rewrite(struct uncore_box *box)
{
	u32 all = GENMASK(box->type->num_counters - 1, 0);
	int idx;

	if (!box->type->enabled_by_package)
		wrmsrl(uncore_box_ctl_msr(box), 0);
	uncore_box_clear_ov(box, uncore_box_ctr_en(box, all));
	box->enabled = 0;
	box->stale_ov = 0;
	bitmap_zero(box->subregs_known, UNCORE_MAX_SUBREGS);
	for (idx = 0; idx < box->type->num_counters; idx++) {
		if (box->events[idx])
			WRITE_ONCE(box->fresh, box->fresh | BIT(idx));
	}
	uncore_program_fresh(box);
}

void uncore_box_init(struct uncore_box *box, struct uncore_pkg *pkg,
		     const struct uncore_box_type *type, unsigned int instance)
{
	box->pkg = pkg;
	box->type = type;
	box->instance = instance;
	box->id = type->first + instance;
}

/* Does a register hold what is written to it? It gets its old value back. */
static bool uncore_probe_msr(unsigned int msr, u64 pattern, u64 *saved)
{
	u64 val;

	if (rdmsrl_safe(msr, saved) || wrmsrl_safe(msr, pattern) || rdmsrl_safe(msr, &val))
		return false;
	return !wrmsrl_safe(msr, *saved) && val == pattern;
}

/* Remembers a counter and its control register. */
static bool uncore_probe_counter(struct uncore_box *box, int idx)
{
	/* Within 48 bits, and no value the W-Box erratum speaks of. */
	const u64 pattern = 0x5aa5a55a5aa5ULL;
	unsigned int msr = uncore_ctr_msr(box, idx);
	u64 saved, val;

	if (rdmsrl_safe(uncore_evt_sel_msr(box, idx), &box->saved_evt_sel[idx]))
		return false;
	if (rdmsrl_safe(msr, &saved) ||
	    wrmsr_safe(msr, lower_32_bits(pattern), upper_32_bits(pattern)) ||
	    rdmsrl_safe(msr, &val))
		return false;
	box->saved_ctr[idx] = uncore_fixup_start(box, uncore_fixup_read(box, saved, 0));
	return !wrmsrl_safe(msr, box->saved_ctr[idx]) && val == pattern;
}

/**
 * uncore_box_probe() - is this box there and does it work?
 * @box: the box, on a package of this CPU whose en_all is off
 *
 * Remembers its registers for uncore_box_restore().
 */
bool uncore_box_probe(struct uncore_box *box)
{
	u32 all = GENMASK(box->type->num_counters - 1, 0);
	u64 saved;
	int idx;

	if (!box->type->enabled_by_package) {
		if (!uncore_probe_msr(uncore_box_ctl_msr(box), uncore_box_ctr_en(box, all), &saved))
			return false;
		box->saved_ctl = saved;
		/* What someone left enabled must not count beside our events. */
		if (saved && wrmsrl_safe(uncore_box_ctl_msr(box), 0))
			return false;
	}
	for (idx = 0; idx < box->type->num_counters; idx++) {
		if (!uncore_probe_counter(box, idx))
			return false;
	}
	return uncore_subregs_probe(box);
}

/**
 * uncore_counter_restore() - leave a counter and its control register as they were found
 * @box: a box that was probed
 * @idx: the counter, which stands
 */
void uncore_counter_restore(const struct uncore_box *box, int idx)
{
	wrmsrl(uncore_evt_sel_msr(box, idx), box->saved_evt_sel[idx]);
	wrmsrl(uncore_ctr_msr(box, idx), box->saved_ctr[idx]);
}

/**
 * uncore_box_restore() - leave the registers as they were found
 * @box: a box that was probed and has no event, with en_all off
 */
void uncore_box_restore(struct uncore_box *box)
{
	unsigned long touched = box->touched;
	int idx;

	for_each_set_bit(idx, &touched, UNCORE_MAX_COUNTERS)
		uncore_counter_restore(box, idx);
	if (!box->type->enabled_by_package && (box->enabled || box->saved_ctl))
		wrmsrl(uncore_box_ctl_msr(box), box->saved_ctl);
	uncore_subregs_restore(box);
	box->enabled = 0;
	box->touched = 0;
}
