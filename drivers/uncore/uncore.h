/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the driver knows of packages, boxes, counters and events.
 *
 * Files, top to bottom; a file calls only those below it:
 *
 *	main		module, CPU hotplug
 *	package_pmu	the PMU of the whole package: gate, frozen, lost
 *	pmu		the PMU of a box: the callbacks of perf
 *	self_test	do overflows interrupt?
 *	pmi		from the NMI to the sample
 *	package		U_GLOBAL_CTL, what may count now, suspend
 *	box, event	counters of a box, count of an event
 *	subregs, claims	shared registers
 *	sysfs, decode	what sysfs shows, and the meaning of the config words
 *	types.h		tables, one for each kind of box
 *
 * Locking: uncore_package.lock guards the package, its boxes, their registers and the
 * states of their counters. It is taken with interrupts off. An NMI also takes it, unless it
 * has interrupted code that holds the lock or waits for it, see uncore_lock(). So a CPU takes no
 * lock of another package: two CPUs that do, and then wait in an NMI for their own, never go on.
 * uncore_event_update() needs no lock, in any context, on any CPU of the package.
 * No callback of perf takes another lock: perf may hold ctx->mutex, ctx->lock or both.
 * uncore_perf_map tells lockdep so.
 */
#ifndef UNCORE_H
#define UNCORE_H

#include <linux/atomic.h>
#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/device.h>
#include <linux/hrtimer.h>
#include <linux/lockdep.h>
#include <linux/perf_event.h>
#include <linux/sched/clock.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/topology.h>

#include "types.h"

/* ---- stopwatches ---- */

/*
 * All times are of local_clock(), like perf's, so that times of perf can be compared with ours
 * without reading a clock once more.
 */

/* Stopped: the time it shows, ns. Running, with this bit: its start, less what it showed then. */
#define UNCORE_STARTED		BIT_ULL(63)

/* The time it showed at @at, if it was not stopped since. One word, for any context. */
static inline u64 uncore_stopwatch_ns(u64 watch, u64 at)
{
	if (!(watch & UNCORE_STARTED))
		return watch;
	return max_t(s64, at - (watch & ~UNCORE_STARTED), 0);
}

/* @held: another stopwatch, or NULL. While that one runs, this one is stopped. */
static inline void uncore_stopwatch_run(u64 *watch, bool run, u64 now, const u64 *held)
{
	if (run == !!(*watch & UNCORE_STARTED))
		return;
	now -= (held ? uncore_stopwatch_ns(*held, now) : 0) + (*watch & ~UNCORE_STARTED);
	WRITE_ONCE(*watch, run ? now | UNCORE_STARTED : max_t(s64, now, 0));
}

/* ---- events and counters ---- */

/*
 * perf adds and deletes events one by one, between pmu_disable() and pmu_enable(). No register
 * is written before uncore_pmi_commit(). Whenever an event comes, perf removes all events of
 * the box and adds them again: these never stop, and cost nothing. One write starts all counters
 * of a batch, and one write stops them.
 *
 * A counter is in one of these states; uncore_counter_next[] in box.c is the table of
 * transitions:
 *
 *	free		add: new
 *	new		commit: running; stop: stopped; del: free
 *	running		stop, or perf's limit of samples: stopped; del: leaving
 *	stopped		start: running; del: left
 *	leaving		still counts. add: running; commit: left
 *	left		does not count; its event waits for its last count. add: running;
 *			commit: free
 */
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
 * struct uncore_event - the driver's part of an event
 * @box: the box it counts on, also when the package changes its CPU
 * @config: what it needs of the hardware
 * @prev: bits 47-0: the value last read. Bits 62-48: generation of the start value, so
 *	  that a racing cmpxchg fails after a restart. Bit 63: no start value
 * @start: of one that samples, @prev when hw.period_left was set
 * @waits: how long its counter has waited for the watch; a stopwatch, stopped while the package
 *	   is held
 * @held: how long it had been held back when its running time was last corrected, ns
 * @wrapped: its counter has passed 2^48 since the event was opened
 */
struct uncore_event {
	struct uncore_box *box;
	struct uncore_config config;
	atomic64_t prev;
	u64 start;
	u64 waits;
	u64 held;
	bool wrapped;
};

/**
 * struct uncore_counter - one counter
 * @event: its event, unless it is free
 * @state: what it does
 */
struct uncore_counter {
	struct perf_event *event;
	enum uncore_counter_state state;
};

/* ---- boxes ---- */

/**
 * struct uncore_subreg_state - the shared registers of a box
 * @val: what was last written to each
 * @known: those that still hold @val: no other program can have used the box since
 * @bad: those that could not be read when the box was probed
 */
struct uncore_subreg_state {
	u64 val[UNCORE_MAX_SUBREGS];
	DECLARE_BITMAP(known, UNCORE_MAX_SUBREGS);
	DECLARE_BITMAP(bad, UNCORE_MAX_SUBREGS);
};

/**
 * struct uncore_box - one box of one package
 * @type: its kind
 * @instance: number within its kind
 * @counter: its counters
 * @claims: counters and shared registers in use
 * @subregs: contents of the shared registers
 * @usable: counters whose registers could be read and written when the box was probed
 * @no_pmi: counters whose PMI enable bit cannot be written
 * @enabled: counters enabled in GLOBAL_CTL
 * @held: counters that do not count while their group is read
 * @due: counters that have a sample to give, and do not count until it is given
 * @waits: those of them, with their groups, that wait for the watch with it
 * @gone: how long it has not answered; a stopwatch, stopped while the package is held. 0 while it
 *	  answers
 */
struct uncore_box {
	const struct uncore_box_type *type;
	unsigned int instance;
	struct uncore_counter counter[UNCORE_MAX_COUNTERS];
	struct uncore_claims claims;
	struct uncore_subreg_state subregs;
	u32 usable;
	u32 no_pmi;
	u32 enabled;
	u32 held;
	u32 due;
	u32 waits;
	u64 gone;
};

/* ---- packages ---- */

/**
 * struct uncore_hold - what keeps a whole package from counting
 * @gates: gates that exist
 * @open: gates that are enabled
 * @generation: how often the package has lost its last CPU for good, and so its gates
 * @frozen: an overflow has frozen the package, and is being handled
 * @asleep: the system is about to sleep, or the package has no CPU. No counter counts
 * @moving: its events move to another CPU. No counter interrupts; with a gate none counts, so
 *	    that all start there together
 * @testing: a self-test has en_all on, and no counter of an event may count with it
 */
struct uncore_hold {
	unsigned int gates;
	unsigned int open;
	unsigned int generation;
	bool frozen;
	bool asleep;
	bool moving;
	bool testing;
};

/**
 * struct uncore_totals - what has been counted since the module was loaded
 * @frozen_ns: time spent frozen in the overflow handler
 * @lost: overflows of sampling events that gave no sample
 * @swallowed: spurious NMIs that were claimed
 * @missed: overflows that the watch found, whose NMI was missing
 * @conflicts: how often a register was found changed by another program
 */
struct uncore_totals {
	atomic64_t frozen_ns;
	atomic64_t lost;
	atomic64_t swallowed;
	atomic64_t missed;
	atomic64_t conflicts;
};

/* Do overflows interrupt the CPU that serves the package? */
enum uncore_pmi_state {
	UNCORE_PMI_UNTESTED,
	UNCORE_PMI_NO,
	UNCORE_PMI_YES,
	UNCORE_PMI_OFF,		/* pmi=off */
};

/**
 * struct uncore_pmi - overflows of one package
 * @state: do they interrupt?
 * @events: events on counters whose overflow interrupts
 * @freezing: those of them whose overflow freezes the package
 * @armed: PMIs may come; every 10 ms the watch looks for overflows whose NMI is missing
 * @listens: IA32_DEBUGCTL bit 13 is set
 * @pending: an NMI has found an overflow, and interrupted the lock of its own CPU
 * @proof_ns: when one last did that only an overflow of the uncore can have caused
 * @hidden_ns: when a self-test last ended that NMIs of the core PMU had hidden
 * @delivering: samples are being given to perf
 * @busy_ns: time in the handler since the watch last came
 * @latency_ns: from an overflow to our handler, the least that the last self-test has found, even
 *		if it failed; U64_MAX if none: freezes begin with the handler then
 */
struct uncore_pmi {
	enum uncore_pmi_state state;
	unsigned int events;
	unsigned int freezing;
	bool armed;
	bool listens;
	bool pending;
	u64 proof_ns;
	u64 hidden_ns;
	bool delivering;
	u64 busy_ns;
	u64 latency_ns;
};

/**
 * struct uncore_package - the uncore of one package
 * @lock: see above
 * @cpu: the CPU that serves this package and gets its PMIs, -1 if none is online
 * @present: boxes that answered
 * @active: boxes with a counter that is to run
 * @used: boxes that have had an event since the package was last idle
 * @due: boxes that the handler has to look at again
 * @global_ctl: what was last written to U_GLOBAL_CTL
 * @ctl_ns: when that was; a freeze is not dated before it
 * @ticks: of the timer, since the package was last idle
 * @hold: what keeps it from counting
 * @held: how long it was kept from counting, a stopwatch
 * @timer: the watch, see pmi.c
 * @tick_ns: when the registers of what counts are to be looked at again
 * @totals: other counts
 * @pmi: overflows
 * @box: all boxes, also absent ones
 */
struct uncore_package {
	raw_spinlock_t lock;
	int cpu;
	unsigned long present;
	unsigned long active;
	unsigned long used;
	unsigned long due;
	u32 global_ctl;
	u64 ctl_ns;
	unsigned int ticks;
	struct uncore_hold hold;
	u64 held;
	struct hrtimer timer;
	u64 tick_ns;
	struct uncore_totals totals;
	struct uncore_pmi pmi;
	struct uncore_box box[UNCORE_NUM_BOXES];
};

/**
 * struct uncore_pmu - one box instance, on all packages
 * @pmu: perf's side
 * @type: kind of box
 * @instance: number within its kind
 * @registered: perf knows it
 * @name: device name
 */
struct uncore_pmu {
	struct pmu pmu;
	const struct uncore_box_type *type;
	unsigned int instance;
	bool registered;
	char name[24];
};

#define to_uncore_pmu(p) container_of(p, struct uncore_pmu, pmu)

/* All packages that there can be, by their numbers */
extern struct uncore_package *uncore_packages;
extern unsigned int uncore_num_packages;

static inline struct uncore_package *uncore_package_nr(unsigned int nr)
{
	return nr < uncore_num_packages ? &uncore_packages[nr] : NULL;
}

#define for_each_uncore_package(pkg)						\
	for (unsigned int _nr = 0; ((pkg) = uncore_package_nr(_nr)); _nr++)

/* The package of a CPU; NULL if the kernel did not know of it when the module was loaded. */
static inline struct uncore_package *uncore_package_of(int cpu)
{
	return uncore_package_nr(topology_logical_package_id(cpu));
}

/*
 * The numbers of the bits that are set now, the lowest first. There are few as a rule, and
 * for_each_set_bit() searches the whole bitmap anew for each of them.
 */
#define for_each_uncore_bit(nr, bits)						\
	for (unsigned long _left = (bits); _left && ((nr) = __ffs(_left), true); \
	     _left &= _left - 1)

/* The counters that have an event */
#define for_each_used_counter(idx, box)	for_each_uncore_bit(idx, (box)->claims.counters)

/* ---- from one to the other ---- */

static inline unsigned int uncore_box_id(const struct uncore_box *box)
{
	return box->type->first + box->instance;
}

static inline struct uncore_package *uncore_box_package(struct uncore_box *box)
{
	return container_of(box - uncore_box_id(box), struct uncore_package, box[0]);
}

static inline struct uncore_event *to_uncore_event(const struct perf_event *event)
{
	return event->pmu_private;
}

static inline struct uncore_package *uncore_event_package(const struct perf_event *event)
{
	return uncore_box_package(to_uncore_event(event)->box);
}

/* The counter of an event, or NULL if it has none */
static inline struct uncore_counter *uncore_event_counter(const struct perf_event *event)
{
	const struct uncore_event *ue = to_uncore_event(event);

	return ue->config.claim.idx < 0 ? NULL : &ue->box->counter[ue->config.claim.idx];
}

/* Does its overflow have to interrupt? */
static inline bool uncore_event_interrupts(struct perf_event *event)
{
	return is_sampling_event(event) || to_uncore_event(event)->config.freeze;
}

/* The transitions: bit n for a following state n */
extern const u8 uncore_counter_next[UNCORE_NUM_STATES];

static inline void uncore_counter_set(struct uncore_counter *c, enum uncore_counter_state state)
{
	WARN_ON_ONCE(!(uncore_counter_next[c->state] & BIT(state)));
	c->state = state;
}

static inline const struct uncore_counter_row *
uncore_counter_row(const struct uncore_box *box, const struct uncore_counter *c)
{
	return &box->type->counters[c - box->counter];
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

/* May a counter interrupt now? */
static inline bool uncore_pmi_wanted(const struct uncore_package *pkg)
{
	return pkg->pmi.events && !pkg->hold.asleep && !pkg->hold.moving;
}

/* ---- functions that cross files; kernel-doc is where they are ---- */

/* event.c */
void uncore_event_update(struct perf_event *event);
void uncore_event_no_start(struct perf_event *event);
void uncore_event_set_start(struct perf_event *event, u64 start);
bool uncore_event_overdue(struct perf_event *event);
void uncore_event_set_period(struct perf_event *event);
void uncore_event_commit_period(struct perf_event *event);
void uncore_event_count_time(struct perf_event *event);
void uncore_event_correct_time(struct perf_event *event);
void uncore_conflict(struct uncore_box *box, unsigned int msr);

/* subregs.c */
void uncore_subregs_probe(struct uncore_box *box);
bool uncore_subregs_usable(const struct uncore_box *box, const struct uncore_config *config);
int uncore_subregs_write(struct uncore_box *box, const struct uncore_config *config);
void uncore_subregs_release(struct uncore_box *box);

/* box.c */
bool uncore_box_probe(struct uncore_box *box);
u32 uncore_box_counters(const struct uncore_box *box, u64 bits);
u32 uncore_box_running(const struct uncore_box *box);
u32 uncore_box_wanted(struct uncore_box *box);
void uncore_box_write_enable(struct uncore_box *box);
u64 uncore_box_status(const struct uncore_box *box);
void uncore_box_clear_status(const struct uncore_box *box, u64 bits);
void uncore_box_rewrite(struct uncore_box *box);
bool uncore_box_answers(const struct uncore_box *box);
void uncore_box_check(struct uncore_box *box);
int uncore_box_add(struct uncore_box *box, struct perf_event *event);
u32 uncore_box_prepare(struct uncore_box *box, bool program);
void uncore_box_finish(struct uncore_box *box, u32 left, bool check);
void uncore_box_go_on(struct uncore_box *box, u32 counters);
void uncore_box_release(struct uncore_box *box, struct uncore_counter *c);
void uncore_box_program(struct uncore_box *box, struct uncore_counter *c);

/* package.c */
int uncore_packages_create(const struct uncore_box_type * const *types);
bool uncore_package_probe(struct uncore_package *pkg);
int uncore_package_call(struct uncore_package *pkg, smp_call_func_t func, void *info);
bool uncore_package_runs(const struct uncore_package *pkg);
void uncore_package_write_ctl(struct uncore_package *pkg);
void uncore_package_apply(struct uncore_package *pkg, unsigned long boxes);
int uncore_package_add(struct uncore_package *pkg, struct perf_event *event);
void uncore_package_del(struct uncore_package *pkg, struct perf_event *event);
void uncore_package_release(struct uncore_package *pkg, struct uncore_box *box, u32 left);
void uncore_package_rewrite(struct uncore_package *pkg);
void uncore_package_update(struct uncore_package *pkg);
void uncore_package_tick(struct uncore_package *pkg);

/* pmi.c */
int uncore_pmi_init(void);
void uncore_pmi_exit(void);
bool uncore_is_inside(const struct uncore_package *pkg);
void uncore_lock(struct uncore_package *pkg)
	__acquires(&pkg->lock);
void uncore_unlock(struct uncore_package *pkg)
	__releases(&pkg->lock);
void uncore_pmi_commit(struct uncore_package *pkg, struct uncore_box *box, bool program);
void uncore_pmi_overdue(struct uncore_package *pkg, struct uncore_box *box);
void uncore_pmi_quiesce(struct uncore_package *pkg);
void uncore_watch_arm(struct uncore_package *pkg);
void uncore_watch_start(struct uncore_package *pkg);
bool uncore_pmi_listen(struct uncore_package *pkg, bool on);
u32 uncore_global_status(void);
void uncore_clear_global_status(u32 status);
bool uncore_pmi_samples(void);

/* self_test.c */
int uncore_self_test_require(struct uncore_package *pkg, bool sampling);
enum uncore_pmi_state uncore_self_test_worst(void);

/* pmu.c */
extern bool uncore_unprivileged_hold;
int uncore_check_room(struct perf_event *event);
extern struct lockdep_map uncore_perf_map;
int uncore_check_attr(struct perf_event *event);
void uncore_pmu_init(void);
int uncore_pmu_register(struct uncore_pmu *upmu, const struct uncore_box_type *type,
			unsigned int instance);
void uncore_pmu_unregister(struct uncore_pmu *upmu);

/* package_pmu.c */
extern struct pmu uncore_package_pmu;
void uncore_gates_forget(struct uncore_package *pkg);

/* sysfs.c */
extern const struct attribute_group uncore_package_group;
extern const struct attribute_group uncore_package_caps_group;
const struct attribute_group **uncore_sysfs_create(const struct uncore_pmu *upmu);
void uncore_sysfs_free(const struct attribute_group **groups);

/* decode.c */

/* Say why an event is refused (dynamic debug), and refuse it. */
#define uncore_refuse(event, err, fmt, ...)					\
({										\
	const struct perf_event *__event = (event);				\
										\
	dev_dbg(__event->pmu->dev, "config %#llx,%#llx,%#llx: " fmt "\n",	\
		__event->attr.config, __event->attr.config1,			\
		__event->attr.config2, ##__VA_ARGS__);				\
	(err);									\
})

/* The fields of a box: of its kind, of this instance, of all boxes. */
#define UNCORE_FIELD_LISTS	3

const struct uncore_field *uncore_field_list(const struct uncore_box_type *type,
					     unsigned int instance, unsigned int n);
u64 uncore_field_get(const struct uncore_field *field, const struct perf_event_attr *attr);
struct uncore_req *uncore_config_req(struct uncore_config *cfg, const struct uncore_box_type *type,
				     unsigned int slot);
u64 uncore_config_ctl(const struct uncore_config *cfg, const struct uncore_box_type *type);
bool uncore_event_inferred(const struct uncore_box_type *type,
			   const struct uncore_event_desc *desc);
int uncore_decode(const struct perf_event *event, const struct uncore_box_type *type,
		  unsigned int instance, struct uncore_config *cfg);

#endif /* UNCORE_H */
