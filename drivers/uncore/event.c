// SPDX-License-Identifier: GPL-2.0-only
/*
 * What an event has counted, and where its next period begins.
 *
 * What a counter has gained is the difference of two reads modulo 2^48; the timer of the
 * package sees to it that no counter passes half of that between two of them. A larger
 * difference is no count but the work of someone else who writes the register: it is
 * dropped, reported, and told in caps/foreign_writes.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <asm/msr.h>

#include "box.h"
#include "compat.h"

/* No sampling period is shorter: the counter must not pass it while it is written. */
#define UNCORE_MIN_PERIOD	3

/* hw.prev_count, above the value: the number of the start value, and that there is none now. */
#define UNCORE_TAG		GENMASK_ULL(62, 48)
#define UNCORE_NO_START	BIT_ULL(63)

/**
 * uncore_box_foreign() - tell that someone else has written a register of ours
 * @box: the box it belongs to
 * @msr: the register
 */
void uncore_box_foreign(struct uncore_box *box, unsigned int msr)
{
	atomic_inc(&box->foreign);
	pr_warn_once("someone else writes register %#x while it counts; counts are not right\n",
		     msr);
}

static __always_inline u64 uncore_read_counter(const struct perf_event *event, u64 before)
{
	const struct uncore_quirks *quirks;
	u64 count;

	rdmsrq(event->hw.event_base, count);
	quirks = &to_uncore_event(event)->box->type->quirks;
	if (quirks->read)
		count = quirks->read(count, before);
	return count & UNCORE_COUNTER_MASK;
}

/* Returns whether it is done, or somebody else was quicker. */
static __always_inline bool uncore_event_try_update(struct perf_event *event, bool sure)
{
	atomic_long_t *prev_count = &event->hw.prev_count.a.a;
	long prev = atomic_long_read(prev_count);
	struct uncore_event *ue;
	u64 now, gained;

	/* It does not count, and was updated when it ceased to. */
	if (prev & UNCORE_NO_START)
		return true;
	now = uncore_read_counter(event, prev & UNCORE_COUNTER_MASK);
	gained = (now - prev) & UNCORE_COUNTER_MASK;
	/* RDMSR may have come before the load of prev. */
	if (gained > UNCORE_COUNTER_MASK / 2 && !sure)
		return false;
	now |= prev & ~UNCORE_COUNTER_MASK;
	if (!atomic_long_try_cmpxchg(prev_count, &prev, now))
		return false;

	ue = to_uncore_event(event);
	if (gained > UNCORE_COUNTER_MASK / 2) {
		uncore_box_foreign(ue->box, event->hw.event_base);
		return true;
	}
	if (now < (u64)prev)
		ue->wrapped = true;
	atomic_long_add(gained, &event->count.a.a);
	return true;
}

static noinline void uncore_event_update_again(struct perf_event *event)
{
	bool sure = false;

	/* Nothing is out of order a second time. */
	while (!uncore_event_try_update(event, sure))
		sure = true;
}

/**
 * uncore_event_update() - add to an event what its counter has gained
 * @event: the event, on a counter
 *
 * One RDMSR. Safe against itself in any context on any CPU of the package, hence the
 * locked operations: a local64_t is for one CPU only.
 */
void uncore_event_update(struct perf_event *event)
{
	if (!uncore_event_try_update(event, false))
		uncore_event_update_again(event);
}

/**
 * uncore_event_no_start() - an event has no counter, or none with a start value
 * @event: the event; it has been updated
 *
 * From now on updates change nothing, also such that have begun.
 */
void uncore_event_no_start(struct perf_event *event)
{
	atomic_long_or(UNCORE_NO_START, &event->hw.prev_count.a.a);
}

/* What is left of the period of a sampling event, as of its last update. */
static s64 uncore_event_left(struct perf_event *event)
{
	u64 gained = local64_read(&event->hw.prev_count) - to_uncore_event(event)->start;

	return local64_read(&event->hw.period_left) - (s64)(gained & UNCORE_COUNTER_MASK);
}

/** uncore_event_overdue() - has it overflowed, as of its last update, and given no sample? */
bool uncore_event_overdue(struct perf_event *event)
{
	return is_sampling_event(event) && uncore_event_left(event) <= 0;
}

/**
 * uncore_event_set_start() - write the start value of a counter
 * @event: its event; the counter does not count
 * @start: the value, 48 bits
 */
void uncore_event_set_start(struct perf_event *event, u64 start)
{
	struct uncore_event *ue = to_uncore_event(event);
	u64 tag = ((u64)local64_read(&event->hw.prev_count) & UNCORE_TAG) + BIT_ULL(48);

	if (ue->box->type->quirks.start)
		start = ue->box->type->quirks.start(start);
	ue->start = (tag & UNCORE_TAG) | start;
	local64_set(&event->hw.prev_count, ue->start | UNCORE_NO_START);
	wrmsrq(event->hw.event_base, start);
	local64_set(&event->hw.prev_count, ue->start);
}

/**
 * uncore_event_set_period() - let the counter of a sampling event overflow in time
 * @event: the event; its counter does not count
 *
 * One WRMSR. What the counter gained beyond the last period shortens the next. In the
 * middle of a period it changes nothing.
 */
void uncore_event_set_period(struct perf_event *event)
{
	struct hw_perf_event *hwc = &event->hw;
	s64 period = hwc->sample_period;
	s64 left = uncore_event_left(event);

	if (left <= -period)
		left = 0;
	if (left <= 0) {
		left += period;
		hwc->last_period = period;
	}
	local64_set(&hwc->period_left, left);
	left = clamp_t(s64, left, UNCORE_MIN_PERIOD, BIT_ULL(47) - 1);
	uncore_event_set_start(event, -left & UNCORE_COUNTER_MASK);
}

/**
 * uncore_event_settle_period() - let hw.period_left tell all
 * @event: the event; its counter does not count
 *
 * For perf, which may set it while the event is stopped.
 */
void uncore_event_settle_period(struct perf_event *event)
{
	s64 left;

	if (!is_sampling_event(event))
		return;
	left = uncore_event_left(event);
	to_uncore_event(event)->start = local64_read(&event->hw.prev_count);
	local64_set(&event->hw.period_left, left);
}
