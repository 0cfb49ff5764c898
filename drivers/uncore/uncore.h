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

#include "claims.h"

#define UNCORE_COUNTER_MASK	GENMASK_ULL(47, 0)
#define UNCORE_MAX_COUNTERS	8

/*
 * No counter gains more than 64 per uncore clock (S-Box queue occupancy), and no
 * uncore clock reaches 4 GHz.
 */
#define UNCORE_MAX_INC		64ULL
#define UNCORE_MAX_CLOCK_GHZ	4ULL

#define UNCORE_MAX_SUBREGS	36	/* R-Box: four ports with nine each */

/* Every box but U has these two behind its GLOBAL_CTL. */
#define UNCORE_STATUS		1
#define UNCORE_OVF_CTL		2

/* One number for each box instance of a package. */
enum uncore_box_id {
	UNCORE_UBOX,
	UNCORE_CBOX,
	UNCORE_WBOX = UNCORE_CBOX + 8,
	UNCORE_SBOX,
	UNCORE_BBOX = UNCORE_SBOX + 2,
	UNCORE_MBOX = UNCORE_BBOX + 2,
	UNCORE_RBOX = UNCORE_MBOX + 2,
	UNCORE_NUM_BOXES = UNCORE_RBOX + 2,
};

/**
 * struct uncore_field - one field of the user's config words
 * @name: name of the format attribute
 * @word: 0 for config, 1 for config1, 2 for config2
 * @lo: lowest bit
 * @hi: highest bit
 *
 * The only place where a field is described: the format attribute, the check
 * for unknown bits and uncore_field_get() all read it.
 */
struct uncore_field {
	const char *name;
	u8 word;
	u8 lo;
	u8 hi;
};

/**
 * struct uncore_umask - one named sub-event
 * @name: name after the dot, lower case
 * @umask: value of the umask field; 0 when @terms says it all
 * @terms: other config terms in perf's syntax, or NULL
 */
struct uncore_umask {
	const char *name;
	u8 umask;
	const char *terms;
};

/**
 * struct uncore_event_desc - one event of the manual
 * @name: the manual's name, lower case
 * @code: value of the event field
 * @max_inc: largest increment per uncore clock
 * @umasks: the sub-events, ended by an empty entry; NULL if it has none
 * @terms: config terms that come with every use of the event, or NULL
 * @counters: the counters that have it, bit n for counter n; 0 if all do
 * @ctl: bits of the control register that come with every use of the event
 * @filters: the fields of the box, beyond those every event has, that this one
 *           takes; bit n for field n
 * @one_umask: the sub-events cannot be combined
 * @scale: contents of the .scale attribute, or NULL
 * @unit: contents of the .unit attribute, or NULL
 */
struct uncore_event_desc {
	const char *name;
	u16 code;
	u8 max_inc;
	const struct uncore_umask *umasks;
	const char *terms;
	u32 counters;
	u32 ctl;
	u32 filters;
	bool one_umask;
	const char *scale;
	const char *unit;
};

#define UNCORE_UMASKS(...) \
	((const struct uncore_umask[]){ __VA_ARGS__, {} })

/**
 * struct uncore_slot_desc - where the contents of a slot live (see claims.h)
 * @reg: first sub-register; word n of the slot goes to sub-register @reg + n
 * @num_regs: number of words
 * @guarded: the first register switches the others, which must not be written
 *           while it is on: write @off to it, then them, then its value
 * @off: the value that switches them off
 * @shift: where the contents start within each of the registers
 *
 * Several slots may share a register, each with bits of its own.
 */
struct uncore_slot_desc {
	u8 reg;
	u8 num_regs;
	u8 shift;
	bool guarded;
	u64 off;
};

/**
 * struct uncore_fixed - a counter apart from the others
 * @idx: its number
 * @evt_sel: address of its control register
 * @ctr: address of the counter
 * @ctr_en: its bit in GLOBAL_CTL, STATUS and OVF_CTL
 * @enable: the enable bit of the control register
 * @pmi_en: the PMI enable bit of the control register
 */
struct uncore_fixed {
	int idx;
	u16 evt_sel;
	u16 ctr;
	u32 ctr_en;
	u64 enable;
	u64 pmi_en;
};

/* What soft.c counts. */
enum uncore_soft {
	UNCORE_SOFT_NONE,
	UNCORE_SOFT_GATE,
	UNCORE_SOFT_FROZEN,
	UNCORE_SOFT_LOST,
};

/* Fields every box has. */
enum {
	UNCORE_FREEZE,
};

extern const struct uncore_field uncore_common_fields[];

/* Values of freeze: what an overflow does to the package. */
enum {
	UNCORE_FREEZE_DEFAULT,	/* freezes it if the event samples */
	UNCORE_FREEZE_YES,
	UNCORE_FREEZE_NO,
};

struct uncore_box;

/**
 * struct uncore_event - what an event of ours asks of the hardware
 * @box: the box it counts on; it stays the same when the package changes its CPU
 * @claim: the counters and sub-registers that can serve it
 * @ctl: its control register, less the enable bit and what depends on the choice
 *       of sub-register
 * @freeze: its overflow stops the whole package until it is handled
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
	struct uncore_claim claim;
	u64 ctl;
	bool freeze;
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
 * struct uncore_box_type - what boxes of one kind have in common
 * @name: as in xeon7500_<name>
 * @first: id of instance 0
 * @num_boxes: number of instances per package
 * @num_counters: number of counters
 * @base: address of each instance
 * @box_ctl: offset of GLOBAL_CTL; STATUS and OVF_CTL follow it. Unused with
 *           @enabled_by_package
 * @enabled_by_package: the box-level enable is U_GLOBAL_CTL.en
 * @evt_sel: offset of the first control register
 * @ctr: offset of the first counter
 * @enable: the enable bit of a control register
 * @pmi_en: the PMI enable bit of a control register
 * @fixed: the fixed counter, if there is one
 * @fields: the config fields, ended by one without name
 * @instance_fields: for each instance, fields beside @fields; NULL if there are none
 * @events: the events, ended by one without name
 * @decode: turn the user's config into a struct uncore_event. Unknown bits are
 *          refused before. Returns 0 or a negative errno
 * @start_erratum: start values with low 24 bits 0xfffffe or 0xffffff are forbidden
 * @fixup_read: correct a value read from a counter, which was @before at the last read
 * @slots: the slots of the box
 * @num_slots: number of @slots
 * @num_subregs: number of sub-registers behind @slots
 * @subreg_msr: address of a sub-register
 * @choose: contents of the control register, once a counter and slots are taken;
 *          needed if it depends on them
 */
struct uncore_box_type {
	const char *name;
	enum uncore_box_id first;
	unsigned int num_boxes;
	unsigned int num_counters;
	const u16 *base;
	u16 box_ctl;
	bool enabled_by_package;
	u16 evt_sel;
	u16 ctr;
	u64 enable;
	u64 pmi_en;
	const struct uncore_fixed *fixed;
	const struct uncore_field *fields;
	const struct uncore_field * const *instance_fields;
	const struct uncore_event_desc *events;

	int (*decode)(const struct perf_event *event, struct uncore_event *ue);
	bool start_erratum;
	u64 (*fixup_read)(u64 count, u64 before);

	const struct uncore_slot_desc *slots;
	unsigned int num_slots;
	unsigned int num_subregs;
	unsigned int (*subreg_msr)(const struct uncore_box *box, unsigned int reg);
	u64 (*choose)(const struct uncore_event *ue);
};

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

/* attrs.c: fields, events and sysfs */
u64 uncore_field_get(const struct uncore_field *field, const struct perf_event_attr *attr);
bool uncore_fields_known(const struct uncore_pmu *upmu, const struct perf_event_attr *attr);
const struct uncore_event_desc *
uncore_find_event(const struct uncore_event_desc *events, unsigned int code);
int uncore_check_umask(const struct perf_event *event, const struct uncore_event_desc *desc,
		       unsigned int umask);
int uncore_check_filters(const struct perf_event *event, const struct uncore_event_desc *desc,
			 unsigned int first);
const struct attribute_group **uncore_attr_groups_create(const struct uncore_box_type *type,
							 unsigned int instance);
void uncore_attr_groups_free(const struct attribute_group **groups);

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
void uncore_soft_init(struct perf_event *event, struct uncore_pkg *pkg);
void uncore_soft_destroy(struct perf_event *event);
void uncore_soft_forget(struct uncore_pkg *pkg);
void uncore_soft_add(struct perf_event *event, struct uncore_pkg *pkg, bool start);
void uncore_soft_start(struct perf_event *event, struct uncore_pkg *pkg);
void uncore_soft_stop(struct perf_event *event, struct uncore_pkg *pkg);
void uncore_soft_read(struct perf_event *event, struct uncore_pkg *pkg);

/* pmu.c: the perf callbacks */
int uncore_pmu_register(struct uncore_pmu *upmu, const struct uncore_box_type *type,
			unsigned int instance, const struct attribute_group **groups);
void uncore_pmu_unregister(struct uncore_pmu *upmu);

/* main.c */
void uncore_pmus_migrate(struct uncore_pkg *pkg, int from, int to);

/* one file for each kind of box */
extern const struct uncore_box_type ubox_type;
extern const struct uncore_box_type cbox_type;
extern const struct uncore_box_type wbox_type;
extern const struct uncore_box_type sbox_type;
extern const struct uncore_box_type bbox_type;
extern const struct uncore_box_type mbox_type;
extern const struct uncore_box_type rbox_type;

#endif /* UNCORE_H */
