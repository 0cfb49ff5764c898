/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Xeon 7500 uncore PMUs: the objects shared by the files of this directory.
 *
 * A box *type* is constant data. A *box* is one instance of a type on one
 * package. A *package* holds its boxes and is the only writer of U_GLOBAL_CTL.
 * A *pmu* is what perf sees: one box instance, on all packages.
 */
#ifndef UNCORE_H
#define UNCORE_H

#include <linux/atomic.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/perf_event.h>
#include <linux/smp.h>
#include <linux/spinlock.h>

#include "attrs.h"
#include "decode.h"
#include "types.h"

/*
 * No counter gains more than 64 per uncore clock (S-Box queue occupancy), and no
 * uncore clock reaches 4 GHz.
 */
#define UNCORE_MAX_INC		64ULL
#define UNCORE_MAX_CLOCK_GHZ	4ULL

/* What soft.c counts. */
enum uncore_soft {
	UNCORE_SOFT_NONE,
	UNCORE_SOFT_GATE,
	UNCORE_SOFT_FROZEN,
	UNCORE_SOFT_LOST,
};

struct uncore_box;

/**
 * struct uncore_event - an event of ours
 * @box: the box it counts on; it stays the same when the package changes its CPU
 * @cfg: what it asks of the hardware
 * @soft: what it counts if no counter of the hardware serves it, see soft.c
 * @gate_era: the package's, when a gate was made
 * @moved: it stands because its package changes its CPU
 * @wraps: overflows of its counter that a PMI has reported; of one that samples, what
 *	   hw.prev_count had above the start value
 * @start: of one that samples, hw.prev_count when hw.period_left was set
 * @seen: when its counter was last read, jiffies
 *
 * What it asks is decoded once, in event_init; afterwards it is only written to
 * registers. hw.prev_count holds the last value read in its low 48 bits and above
 * them how often the counter has wrapped since it was programmed.
 */
struct uncore_event {
	struct uncore_box *box;
	struct uncore_config cfg;
	enum uncore_soft soft;
	unsigned int gate_era;
	bool moved;
	u64 wraps;
	u64 start;
	unsigned long seen;
};

static inline struct uncore_event *to_uncore_event(const struct perf_event *event)
{
	return event->pmu_private;
}

/**
 * struct uncore_box - one box of one package
 * @type: its kind
 * @pkg: its package
 * @instance: number within its kind
 * @id: number within the package
 * @opened: events that exist, on a counter or not
 * @claims: counters and sub-registers in use
 * @events: the event on each counter, also while it is leaving
 * @started: counters whose event perf has started
 * @want: those that are to run; the PMI handler may take one away
 * @held: counters that stand while a group is read
 * @armed: counters whose overflow concerns their event
 * @missed: counters that overflowed while not armed
 * @stale_ov: counters that have overflowed under an event that is gone, unreported
 * @enabled: counters enabled in GLOBAL_CTL
 * @fresh: counters with a new event that is not in the hardware yet
 * @leaving: counters whose event perf has taken away, but which still run
 * @touched: control registers written since the module was loaded
 * @saved_ctl: GLOBAL_CTL as found
 * @saved_evt_sel: control registers as found
 * @saved_ctr: counters as found
 * @subreg: what was last written to each sub-register
 * @saved_subreg: sub-registers as found
 * @subregs_known: sub-registers whose contents are @subreg
 * @subregs_touched: sub-registers written since the module was loaded
 *
 * Guarded by the lock of the package; @enabled mirrors the hardware. The PMI handler
 * takes no lock: it reads @events and @armed, changes @want and @missed by atomic bit
 * operations, writes @enabled as uncore_box_write_enable() describes, and leaves @held
 * as it was.
 */
struct uncore_box {
	const struct uncore_box_type *type;
	struct uncore_pkg *pkg;
	unsigned int instance;
	unsigned int id;
	atomic_t opened;
	struct uncore_claims claims;
	struct perf_event *events[UNCORE_MAX_COUNTERS];
	u32 started;
	unsigned long want;
	u32 held;
	unsigned long armed;
	unsigned long missed;
	u32 stale_ov;
	u32 enabled;
	u32 fresh;
	u32 leaving;
	u32 touched;
	u32 saved_ctl;
	u64 saved_evt_sel[UNCORE_MAX_COUNTERS];
	u64 saved_ctr[UNCORE_MAX_COUNTERS];
	u64 subreg[UNCORE_MAX_SUBREGS];
	u64 saved_subreg[UNCORE_MAX_SUBREGS];
	DECLARE_BITMAP(subregs_known, UNCORE_MAX_SUBREGS);
	DECLARE_BITMAP(subregs_touched, UNCORE_MAX_SUBREGS);
};

/**
 * struct uncore_pkg - the uncore of one package
 * @lock: guards everything below and the package's registers
 * @cpu: the CPU that works on this package and gets its PMIs, -1 if none is online
 * @present: boxes that answered the probe
 * @active: boxes with a counter that is to run
 * @global_ctl: what was last written to U_GLOBAL_CTL
 * @saved_global_ctl: U_GLOBAL_CTL as found
 * @pmi: overflows are known to interrupt @cpu
 * @pmi_core_sel: that field of U_GLOBAL_CTL, for @cpu
 * @pmi_busy: overflows are being handled, by whatever context
 * @pmi_test: the CPU on which the load-time test waits for a PMI, else -1
 * @freezers: running events whose overflow is to freeze the package
 * @sampling: running sampling events
 * @gates: gates that exist
 * @gates_open: gates that are enabled
 * @asleep: reasons why nothing may run at the moment
 * @gate_era: how often the package has lost its last CPU, and so its gates
 * @moving: its events are on their way to another CPU
 * @frozen_ns: time spent frozen in the overflow handler
 * @lost: overflows of sampling events that gave no sample
 * @settling: counters are being stopped and looked at for the last time
 * @pmi_due: a counter has overflowed and left, and the status says so until the PMI comes
 * @pmi_last: when an overflow was last known whose PMI, or its echo, may be to come, ns
 * @stray: passes on a PMI that reached the wrong CPU
 * @stray_csd: likewise
 * @timer: watches over what the PMI should bring, see pmi.c
 * @interval: of @timer, ns; 0 if it is off
 * @box: all boxes, also absent ones
 */
struct uncore_pkg {
	raw_spinlock_t lock;
	int cpu;
	unsigned long present;
	unsigned long active;
	u32 global_ctl;
	u32 saved_global_ctl;
	bool pmi;
	u32 pmi_core_sel;
	atomic_t pmi_busy;
	int pmi_test;
	unsigned int freezers;
	unsigned int sampling;
	unsigned int gates;
	unsigned int gates_open;
	unsigned int asleep;
	unsigned int gate_era;
	bool moving;
	atomic64_t frozen_ns;
	atomic64_t lost;
	bool settling;
	bool pmi_due;
	u64 pmi_last;
	struct irq_work stray;
	call_single_data_t stray_csd;
	struct hrtimer timer;
	u64 interval;
	struct uncore_box box[UNCORE_NUM_BOXES];
};

/**
 * struct uncore_pmu - what perf sees of one box instance
 * @pmu: perf's side
 * @type: kind of box
 * @id: number within each package
 * @txn: the transaction perf has begun on a CPU, PERF_PMU_TXN_*
 * @registered: perf knows it
 * @name: device name
 */
struct uncore_pmu {
	struct pmu pmu;
	const struct uncore_box_type *type;
	unsigned int id;
	unsigned int __percpu *txn;
	bool registered;
	char name[24];
};

#define to_uncore_pmu(p) container_of(p, struct uncore_pmu, pmu)

/* box.c: counters of one box; callers hold the lock of the package */
void uncore_box_init(struct uncore_box *box, struct uncore_pkg *pkg,
		     const struct uncore_box_type *type, unsigned int instance);
bool uncore_box_probe(struct uncore_box *box);
void uncore_box_restore(struct uncore_box *box);
void uncore_counter_restore(const struct uncore_box *box, int idx);
int uncore_box_add(struct uncore_box *box, struct perf_event *event, bool start);
void uncore_box_del(struct uncore_box *box, struct perf_event *event);
void uncore_box_start(struct uncore_box *box, struct perf_event *event, bool reload);
void uncore_box_stop(struct uncore_box *box, struct perf_event *event);
void uncore_box_commit(struct uncore_box *box);
void uncore_box_hold(struct uncore_box *box, u32 counters);
void uncore_box_update_all(struct uncore_box *box);
void uncore_box_rewrite(struct uncore_box *box);

/* box.c, safe in NMI: no lock */
unsigned int uncore_box_ctl_msr(const struct uncore_box *box);
unsigned int uncore_evt_sel_msr(const struct uncore_box *box, int idx);
unsigned int uncore_ctr_msr(const struct uncore_box *box, int idx);
u32 uncore_box_ctr_en(const struct uncore_box *box, u32 counters);
void uncore_box_force_enable(struct uncore_box *box);
void uncore_box_write_enable(struct uncore_box *box);
void uncore_box_clear_ov(const struct uncore_box *box, u32 bits);
void uncore_event_update(const struct uncore_box *box, struct perf_event *event);
void uncore_event_wrapped(const struct uncore_box *box, struct perf_event *event);
s64 uncore_event_left(const struct perf_event *event);
void uncore_event_set_period(const struct uncore_box *box, struct perf_event *event);

/* subregs.c: shared sub-registers of one box; callers hold the lock of the package */
bool uncore_subregs_probe(struct uncore_box *box);
void uncore_subregs_write(struct uncore_box *box, const struct uncore_event *ue);
void uncore_subregs_restore(struct uncore_box *box);

/* package.c: U_GLOBAL_CTL and the choice of CPU */
struct uncore_pkg *uncore_pkg_of(int cpu);
bool uncore_pkg_runs(const struct uncore_pkg *pkg);
void uncore_pkg_sync(struct uncore_pkg *pkg);
void uncore_pkg_write_ctl(struct uncore_pkg *pkg);
void uncore_pkg_force_ctl(u32 val);
int uncore_pkgs_create(const struct uncore_box_type * const *types);
void uncore_pkgs_free(void);
void uncore_pkgs_call(smp_call_func_t func);
void uncore_pkgs_restore(void);
unsigned long uncore_pkgs_present(void);
int uncore_pkg_online(unsigned int cpu);
int uncore_pkg_offline(unsigned int cpu);

/* pmi.c: overflows */
int uncore_pmi_init(void);
void uncore_pmi_exit(void);
bool uncore_can_sample(void);
void uncore_pmi_pkg_init(struct uncore_pkg *pkg);
void uncore_pmi_setup(struct uncore_pkg *pkg);
void uncore_pmi_move(struct uncore_pkg *pkg, int to);
void uncore_pmi_moved(struct uncore_pkg *pkg, int to);
void uncore_pmi_pause(const struct uncore_pkg *pkg);
void uncore_pmi_resume(const struct uncore_pkg *pkg);
void uncore_pmi_teardown(struct uncore_pkg *pkg);
void uncore_pmi_late(struct uncore_box *box, struct perf_event *event);
void uncore_pmi_last(struct uncore_box *box, struct perf_event *event);
void uncore_pmi_poll(struct uncore_pkg *pkg);
void uncore_pmi_catch(struct uncore_pkg *pkg);
void uncore_pmi_expect(struct uncore_pkg *pkg);
void uncore_pmi_watch(struct uncore_pkg *pkg);

/* power.c: suspend and shutdown */
void uncore_pkg_sleep(struct uncore_pkg *pkg);
void uncore_pkg_wake(struct uncore_pkg *pkg);
int uncore_power_init(void);
void uncore_power_exit(void);

/* soft.c: events no counter serves */
enum uncore_soft uncore_soft_of(const struct perf_event *event);
void uncore_soft_init(struct perf_event *event, struct uncore_pkg *pkg);
void uncore_soft_destroy(struct perf_event *event);
void uncore_soft_forget(struct uncore_pkg *pkg);
void uncore_soft_add(struct perf_event *event, struct uncore_pkg *pkg, bool start);
void uncore_soft_start(struct perf_event *event, struct uncore_pkg *pkg);
void uncore_soft_stop(struct perf_event *event, struct uncore_pkg *pkg);
void uncore_soft_read(struct perf_event *event, struct uncore_pkg *pkg);

/* pmu.c: the perf callbacks */
extern const struct attribute_group * const uncore_pmu_groups[];
int uncore_pmu_register(struct uncore_pmu *upmu, const struct uncore_box_type *type,
			unsigned int instance, const struct attribute_group **groups);
void uncore_pmu_unregister(struct uncore_pmu *upmu);

/* main.c */
void uncore_pmus_migrate(struct uncore_pkg *pkg, int from, int to);

#endif /* UNCORE_H */
