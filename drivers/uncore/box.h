/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The counters of one box of one package: which event has which counter, and what
 * the hardware is told of it.
 *
 * perf adds and deletes events one by one, between pmu_disable() and pmu_enable(). The
 * counters are not touched before uncore_package_commit(), so that an event that is taken
 * away and put back at once (which perf does with all events of the box whenever one
 * comes) never stops and costs nothing, and all of a batch start with one write and stop
 * with one.
 *
 * A counter is in one of these states; uncore_counter_next[] in box.c is the table of
 * what can follow what:
 *
 *	free		add: new
 *	new		commit: running; del: free
 *	running		stop, or perf's limit of samples: stopped; del: leaving
 *	stopped		start: running; del: left
 *	leaving		counts on. add: running; commit: left
 *	left		does not count, its event waits for its last count. add: running;
 *			commit: free
 *
 * The lock of the package guards everything here. uncore_event_update() alone needs none,
 * in any context and on any CPU of the package.
 */
#ifndef UNCORE_BOX_H
#define UNCORE_BOX_H

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/perf_event.h>

#include "subregs.h"
#include "types.h"

enum uncore_counter_state {
	UNCORE_FREE,
	UNCORE_NEW,
	UNCORE_RUNNING,
	UNCORE_STOPPED,
	UNCORE_LEAVING,
	UNCORE_LEFT,
	UNCORE_NUM_STATES,
};

/**
 * struct uncore_event - what an event of ours is, beside perf's own
 * @box: the box it counts on, also when the package changes its CPU
 * @config: what it asks of the hardware
 * @start: of one that samples, hw.prev_count when hw.period_left was set
 * @wrapped: its counter has passed 2^48 since it was programmed
 *
 * hw.prev_count holds the last value read in its low 48 bits and above them a number that
 * changes with each start value, so that no two are the same to an update that a new one
 * interrupts. The highest bit says that there is no start value.
 */
struct uncore_event {
	struct uncore_box *box;
	struct uncore_config config;
	u64 start;
	bool wrapped;
};

static inline struct uncore_event *to_uncore_event(const struct perf_event *event)
{
	return event->pmu_private;
}

/* Does its overflow have to interrupt? */
static inline bool uncore_event_interrupts(struct perf_event *event)
{
	return is_sampling_event(event) || to_uncore_event(event)->config.freeze;
}

/**
 * struct uncore_counter - one counter
 * @event: its event, unless it is free
 * @state: what it does
 */
struct uncore_counter {
	struct perf_event *event;
	enum uncore_counter_state state;
};

/**
 * struct uncore_box - one box of one package
 * @type: its kind
 * @instance: number within its kind
 * @opened: events that exist, on a counter or not
 * @foreign: how often its registers were found changed by someone else
 * @counter: its counters
 * @claims: counters and shared registers in use
 * @subregs: contents of the shared registers
 * @enabled: counters enabled in GLOBAL_CTL
 * @held: counters that stand for a moment, whatever their state
 * @quiet: likewise, those whose overflow would interrupt
 */
struct uncore_box {
	const struct uncore_box_type *type;
	unsigned int instance;
	atomic_t opened;
	atomic_t foreign;
	struct uncore_counter counter[UNCORE_MAX_COUNTERS];
	struct uncore_claims claims;
	struct uncore_subreg_state subregs;
	u32 enabled;
	u32 held;
	bool quiet;
};

/*
 * The numbers of the bits that are set now, the lowest first. There are few as a rule, and
 * for_each_set_bit() searches the whole bitmap anew for each of them.
 */
#define for_each_uncore_bit(nr, bits)						\
	for (unsigned long _left = (bits); _left && ((nr) = __ffs(_left), true); \
	     _left &= _left - 1)

/* The counters that have an event */
#define for_each_used_counter(idx, box)	for_each_uncore_bit(idx, (box)->claims.counters)

/* Its number in the package */
static inline unsigned int uncore_box_id(const struct uncore_box *box)
{
	return box->type->first + box->instance;
}

/* The counter of an event that has one */
static inline struct uncore_counter *uncore_event_counter(const struct perf_event *event)
{
	const struct uncore_event *ue = to_uncore_event(event);

	return &ue->box->counter[ue->config.claim.idx];
}

/* What can follow what, bit n for state n */
extern const u8 uncore_counter_next[UNCORE_NUM_STATES];

static inline void uncore_counter_set(struct uncore_counter *c, enum uncore_counter_state state)
{
	WARN_ON_ONCE(!(uncore_counter_next[c->state] & BIT(state)));
	c->state = state;
}

/* The counters that are to run */
static inline u32 uncore_box_running(const struct uncore_box *box)
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

static inline unsigned int uncore_counter_index(const struct uncore_box *box,
						const struct uncore_counter *c)
{
	return c - box->counter;
}

/* Where its registers are */
static inline const struct uncore_counter_row *
uncore_counter_row(const struct uncore_box *box, const struct uncore_counter *c)
{
	return &box->type->counters[uncore_counter_index(box, c)];
}

static inline unsigned int uncore_box_base(const struct uncore_box *box)
{
	return box->type->base[box->instance];
}

static inline unsigned int uncore_box_ctl_msr(const struct uncore_box *box)
{
	return uncore_box_base(box) + box->type->box_ctl;
}

static inline unsigned int uncore_ctl_msr(const struct uncore_box *box,
					  const struct uncore_counter *c)
{
	return uncore_box_base(box) + uncore_counter_row(box, c)->ctl;
}

static inline unsigned int uncore_ctr_msr(const struct uncore_box *box,
					  const struct uncore_counter *c)
{
	return uncore_box_base(box) + uncore_counter_row(box, c)->ctr;
}

/* The box, and what becomes of its registers */
bool uncore_box_probe(struct uncore_box *box);
bool uncore_box_clean(struct uncore_box *box);
u32 uncore_box_wanted(const struct uncore_box *box);
void uncore_box_write_enable(struct uncore_box *box);
u64 uncore_box_status(const struct uncore_box *box);
void uncore_box_clear_ov(const struct uncore_box *box, u64 bits);
u32 uncore_box_counters(const struct uncore_box *box, u64 bits);
void uncore_box_rewrite(struct uncore_box *box);
void uncore_box_check(struct uncore_box *box);
bool uncore_box_to_try(struct perf_event *event);
bool uncore_box_try(struct perf_event *event);

/* Steps of a commit */
int uncore_box_add(struct uncore_box *box, struct perf_event *event);
u32 uncore_box_prepare(struct uncore_box *box, bool program);
void uncore_box_finish(struct uncore_box *box, u32 left, bool check);
void uncore_box_release(struct uncore_box *box, struct uncore_counter *c);
void uncore_box_update_all(struct uncore_box *box);

/* event.c: what an event has counted */
void uncore_event_update(struct perf_event *event);
void uncore_event_no_start(struct perf_event *event);
void uncore_event_set_start(struct perf_event *event, u64 start);
bool uncore_event_overdue(struct perf_event *event);
void uncore_event_set_period(struct perf_event *event);
void uncore_event_settle_period(struct perf_event *event);
void uncore_box_foreign(struct uncore_box *box, unsigned int msr);

#endif /* UNCORE_BOX_H */
