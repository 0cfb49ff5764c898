// SPDX-License-Identifier: GPL-2.0-only
/*
 * What an event has counted, how long, and where its next period begins.
 *
 * The count is the difference of two reads modulo 2^48. The timer of the package reads often
 * enough that no counter gains half of that in between. A larger difference means that another
 * program has written the register: drop it, report it, and count it in caps/foreign_writes.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <asm/msr.h>

#include "compat.h"
#include "uncore.h"

/* uncore_event.prev, above the value */
#define UNCORE_GENERATION	GENMASK_ULL(62, 48)
#define UNCORE_NO_START	BIT_ULL(63)

/* More updates of one event than can meet: of a task, an interrupt and an NMI, on some CPUs */
#define UNCORE_UPDATE_TRIES	8

/**
 * uncore_conflict() - report that another program has written a register of ours
 * @box: the box it belongs to
 * @msr: the register
 */
void uncore_conflict(struct uncore_box *box, unsigned int msr)
{
	atomic64_inc(&uncore_box_package(box)->totals.conflicts);
	pr_warn_once("another program has changed register %#x; discard later counts\n",
		     msr);
}

static __always_inline u64 uncore_read_counter(const struct perf_event *event, u64 before)
{
	const struct uncore_box *box = to_uncore_event(event)->box;
	u64 count;

	/* A box that does not answer raises #GP or reads as 0. */
	if (rdmsrq_safe(event->hw.event_base, &count) ||
	    (unlikely(!count) && before && !uncore_box_answers(box)))
		return before;
	if (box->type->quirks.read)
		count = box->type->quirks.read(count, before);
	return count & UNCORE_COUNTER_MASK;
}

/**
 * uncore_event_update() - add the gain of its counter to an event
 * @event: the event
 *
 * One RDMSR, and again if another update or a restart came in between. Safe against itself in any
 * context on any CPU of the package. RDMSR is also a tracepoint, and a sample of it may read this
 * event: then each try fails, but the sample has updated the event just now.
 */
void uncore_event_update(struct perf_event *event)
{
	struct uncore_event *ue = to_uncore_event(event);
	u64 now, gained;
	s64 prev;
	int tries;

	for (tries = UNCORE_UPDATE_TRIES; tries; tries--) {
		prev = atomic64_read(&ue->prev);
		/* It does not count, and was updated when it stopped. */
		if (prev & UNCORE_NO_START)
			return;
		rmb(); /* RDMSR does not wait for the load of prev. */
		now = uncore_read_counter(event, prev & UNCORE_COUNTER_MASK);
		gained = (now - prev) & UNCORE_COUNTER_MASK;
		now |= prev & ~UNCORE_COUNTER_MASK;
		if (now < (u64)prev)
			ue->wrapped = true;
		if (atomic64_try_cmpxchg(&ue->prev, &prev, now))
			break;
	}
	if (!tries)
		return;
	if (gained > UNCORE_COUNTER_MASK / 2) {
		uncore_conflict(ue->box, event->hw.event_base);
		return;
	}
	/* Another CPU may add at the same time; perf's local64_t is for one CPU only. */
	atomic_long_add(gained, &event->count.a.a);
}

/**
 * uncore_event_no_start() - an event has no counter, or none with a start value
 * @event: the event; it has been updated
 *
 * From now on updates have no effect, also those that have already begun.
 */
void uncore_event_no_start(struct perf_event *event)
{
	atomic64_or(UNCORE_NO_START, &to_uncore_event(event)->prev);
}

/* The total time in which an event was held back, when perf last read its clock, ns. */
static u64 uncore_event_held(struct perf_event *event)
{
	const struct uncore_event *ue = to_uncore_event(event);
	u64 stamp = perf_event_ctx_stamp(event);
	/* While the package is held, the other two are stopped. */
	u64 held = uncore_stopwatch_ns(READ_ONCE(uncore_box_package(ue->box)->held), stamp);

	return held + uncore_stopwatch_ns(READ_ONCE(ue->box->gone), stamp - held) +
	       uncore_stopwatch_ns(READ_ONCE(ue->waits), stamp - held);
}

/** uncore_event_count_time() - perf counts the running time of an event from now on */
void uncore_event_count_time(struct perf_event *event)
{
	to_uncore_event(event)->held = uncore_event_held(event);
}

/**
 * uncore_event_correct_time() - subtract the time in which an event was held back
 * @event: the event; perf holds the lock of its context, and regards it as running
 *
 * perf then shows running < enabled, and scales the count. Subtract no more than perf has added:
 * a stopwatch may have stopped after perf has last read its clock.
 */
void uncore_event_correct_time(struct perf_event *event)
{
	struct uncore_event *ue = to_uncore_event(event);
	u64 held = uncore_event_held(event), was = READ_ONCE(ue->held), running;
	s64 more = held - was;

	if (more <= 0)
		return;
	running = event->total_time_running + perf_event_ctx_time(event) - event->tstamp;
	more = min_t(s64, more, running);
	/* Not twice, where perf does not hold the lock */
	if (cmpxchg(&ue->held, was, was + more) == was)
		event->total_time_running -= more;
}

/* What is left of the period of a sampling event, as of its last update. */
static s64 uncore_event_left(struct perf_event *event)
{
	struct uncore_event *ue = to_uncore_event(event);
	u64 gained = atomic64_read(&ue->prev) - ue->start;

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
	u64 generation = (atomic64_read(&ue->prev) + BIT_ULL(48)) & UNCORE_GENERATION;

	if (ue->box->type->quirks.start)
		start = ue->box->type->quirks.start(start);
	ue->start = generation | start;
	atomic64_set(&ue->prev, ue->start | UNCORE_NO_START);
	wrmsrq(event->hw.event_base, start);
	atomic64_set(&ue->prev, ue->start);
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
 * uncore_event_commit_period() - bring hw.period_left up to date
 * @event: the event; its counter does not count
 *
 * perf may change it while the event is stopped.
 */
void uncore_event_commit_period(struct perf_event *event)
{
	s64 left;

	if (!is_sampling_event(event))
		return;
	left = uncore_event_left(event);
	to_uncore_event(event)->start = atomic64_read(&to_uncore_event(event)->prev);
	local64_set(&event->hw.period_left, left);
}
