/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packages: U_GLOBAL_CTL above the boxes, and the CPU that serves it.
 *
 * U_GLOBAL_CTL concerns every counter of the package, so it has one writer, package.c.
 * en_all goes on with the first counter that is to run and off with the last.
 *
 * An idle package is clean, and between two sessions its registers are anybody's: what
 * they hold then is unknown to us. While events count, a timer looks once a second whether
 * their registers are as we have set them, and reads the counters long before one can pass
 * 2^48 unseen.
 */
#ifndef UNCORE_PACKAGE_H
#define UNCORE_PACKAGE_H

#include <linux/hrtimer.h>
#include <linux/spinlock.h>
#include <linux/topology.h>

#include "box.h"

/**
 * struct uncore_gates - whoever holds back the whole package
 * @num: gates that exist
 * @open: gates that are enabled
 * @asleep: the system is about to sleep, or the package has no CPU
 * @moving: its events are on their way to another CPU; with a gate they start there together
 * @era: how often the package has lost its last CPU, and so its gates
 */
struct uncore_gates {
	unsigned int num;
	unsigned int open;
	bool asleep;
	bool moving;
	unsigned int era;
};

/**
 * struct uncore_totals - what has been counted since the module was loaded
 * @frozen_ns: time spent frozen in the overflow handler
 * @lost: overflows of sampling events that gave no sample
 * @swallowed: NMIs without cause that were taken for ours
 */
struct uncore_totals {
	atomic64_t frozen_ns;
	atomic64_t lost;
	atomic64_t swallowed;
};

/* Do overflows interrupt the CPU that serves the package? */
enum uncore_proof_state {
	UNCORE_PROOF_UNTESTED,
	UNCORE_PROOF_NO,
	UNCORE_PROOF_YES,
	UNCORE_PROOF_OFF,	/* not asked for */
};

struct uncore_pmi;

/**
 * struct uncore_package - the uncore of one package
 * @nr: its number among the packages
 * @lock: guards everything below and the registers of the package. The overflow handler
 *	  only tries to take it
 * @cpu: the CPU that works on this package and gets its PMIs, -1 if none is online
 * @present: boxes that answered
 * @active: boxes with a counter that is to run
 * @used: boxes that have had an event since the package was last idle
 * @global_ctl: what was last written to U_GLOBAL_CTL
 * @pmi_core_sel: that field of U_GLOBAL_CTL
 * @interrupting: events on counters whose overflow interrupts
 * @freezing: those of them whose overflow freezes the package
 * @ticks: of the timer, since the package was last idle
 * @gates: what holds it back
 * @timer: looks after what counts
 * @totals: what has been counted besides
 * @proof: is it proved that they interrupt?
 * @pmi: what pmi.c knows of it
 * @telling: the CPU on which perf takes a sample, with the package locked; -1 if none does
 * @box: all boxes, also absent ones
 */
struct uncore_package {
	unsigned int nr;
	raw_spinlock_t lock;
	int cpu;
	unsigned long present;
	unsigned long active;
	unsigned long used;
	u32 global_ctl;
	u32 pmi_core_sel;
	unsigned int interrupting;
	unsigned int freezing;
	unsigned int ticks;
	struct uncore_gates gates;
	struct hrtimer timer;
	struct uncore_totals totals;
	enum uncore_proof_state proof;
	struct uncore_pmi *pmi;
	int telling;
	struct uncore_box box[UNCORE_NUM_BOXES];
};

/* The package of a box */
static inline struct uncore_package *uncore_box_package(struct uncore_box *box)
{
	return container_of(box - uncore_box_id(box), struct uncore_package, box[0]);
}

/* All that there can be, by their numbers */
extern struct uncore_package **uncore_packages;
extern unsigned int uncore_num_packages;

static inline struct uncore_package *uncore_package_nr(unsigned int nr)
{
	return nr < uncore_num_packages ? uncore_packages[nr] : NULL;
}

/*
 * The package of a CPU that is online. NULL if there are more than the kernel knew of when
 * the module was loaded.
 */
static inline struct uncore_package *uncore_package_of(int cpu)
{
	return uncore_package_nr(topology_logical_package_id(cpu));
}

int uncore_packages_create(const struct uncore_box_type * const *types);
void uncore_packages_free(void);
struct uncore_package *uncore_package_next(const struct uncore_package *pkg);
int uncore_package_call(struct uncore_package *pkg, smp_call_func_t func);
bool uncore_package_probe(struct uncore_package *pkg);

/* The rest with the package locked */
bool uncore_package_runs(const struct uncore_package *pkg);
void uncore_package_write_ctl(struct uncore_package *pkg);
void uncore_package_override_ctl(u32 val);
void uncore_package_apply(struct uncore_package *pkg, struct uncore_box *box);
void uncore_package_apply_all(struct uncore_package *pkg);
void uncore_package_hold(struct uncore_package *pkg, struct uncore_box *box, u32 counters);
int uncore_package_add(struct uncore_package *pkg, struct perf_event *event);
void uncore_package_del(struct uncore_package *pkg, struct perf_event *event);
u32 uncore_package_commit(struct uncore_package *pkg, struct uncore_box *box, bool program);
void uncore_package_release(struct uncore_package *pkg, struct uncore_box *box, u32 left);
void uncore_package_update_all(struct uncore_package *pkg);
void uncore_package_rewrite(struct uncore_package *pkg);

#endif /* UNCORE_PACKAGE_H */
