// SPDX-License-Identifier: GPL-2.0-only
/*
 * Overflows, from the NMI to the sample.
 *
 * counter -> box STATUS -> S SUMMARY -> U GLOBAL_STATUS -> PMI (Uncore Programming Guide,
 * section 2.1). U_GLOBAL_CTL selects the cores that get the PMI, IA32_DEBUGCTL bit 13 enables
 * it on a CPU, and the local APIC delivers it as an NMI. The handler follows the bits from U
 * GLOBAL_STATUS to the counter, without S SUMMARY.
 *
 * Whether a sample is pending follows from the count of the event. The STATUS bits only say
 * where to look. So no sample is lost if an NMI is early, late, doubled or missing.
 *
 * With the package locked the handler stops the counters that have overflowed (or finds the
 * whole package frozen) and marks them as due. perf gets each sample with the package
 * unlocked, while the counter is still stopped, so that perf may stop any event. Samples that
 * become due meanwhile are left to the caller that is already delivering.
 *
 * There are two handlers of NMIs: the first one notes whether it is a PMI, before the handler of
 * the core PMU removes the traces. An NMI that interrupts the owner of the lock only sets
 * pmi.pending, and uncore_unlock() handles the overflow before interrupts are on again. A timer,
 * the watch, runs every 10 ms and handles what is left.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/percpu.h>
#include <asm/apic.h>
#include <asm/irq_regs.h>
#include <asm/mach_traps.h>
#include <asm/msr.h>
#include <asm/nmi.h>
#include <asm/x86_init.h>

#include "compat.h"
#include "kernel_function.h"
#include "uncore.h"
#include "xeon7500/ubox.h"

/* Lets uncore PMIs through to this CPU (SDM volume 3B, IA32_DEBUGCTL of the family). */
#define DEBUGCTL_UNCORE_PMI_EN	BIT_ULL(13)

#define U_GLOBAL_OV_ALL		(U_GLOBAL_OV_U | U_GLOBAL_OV_W | U_GLOBAL_OV_S0 | U_GLOBAL_OV_S1)

/* How long a lost PMI can keep a sampling session silent, or the package frozen */
#define UNCORE_WATCH_NS		(10 * NSEC_PER_MSEC)
/* Between two checks of the registers that are counting. Nor does the watch come less often. */
#define UNCORE_TICK_NS		NSEC_PER_SEC
/*
 * What samples may take of that. Beyond it, a counter that overflows waits for the watch. The
 * limit of perf_sample_event_took() would be lowered for all users of perf.
 */
#define UNCORE_BUSY_NS		(3 * NSEC_PER_MSEC)
/* The same for those of events that leave, which cannot wait: beyond it they are lost. */
#define UNCORE_LEAVE_NS		(6 * NSEC_PER_MSEC)

/* Members of a group that an NMI looks at. Without PERF_FORMAT_GROUP perf sets no limit. */
#define UNCORE_MAX_SIBLINGS	64

/* Passes over a package whose counters overflow while it is looked at */
#define UNCORE_MAX_PASSES	3
/* Accesses in one NMI, about, after which the rest is left to the watch */
#define UNCORE_MAX_ACCESSES	100

/*
 * Not exported, so found at load. A kernel with kCFI would refuse the call where the probe's
 * address lies behind an ENDBR: there the type is not in front of it.
 */
static typeof(perf_event_overflow) *uncore_overflow;

/* The package whose lock this CPU has or is about to take. An NMI takes none if there is one. */
static DEFINE_PER_CPU(struct uncore_package *, uncore_inside);

/* ---- delivery of the PMI ---- */

/*
 * Another program may have changed the entry of the local APIC. Write it only if so: a PMI may be
 * arriving, and uncore_nmi_first() must find the mask that it leaves.
 */
static void uncore_pmi_unmask(void)
{
	if ((apic->read(APIC_LVTPC) & (APIC_LVT_MASKED | APIC_MODE_MASK)) != APIC_DM_NMI)
		apic->write(APIC_LVTPC, APIC_DM_NMI);
}

/**
 * uncore_pmi_listen() - let PMIs through to this CPU, or not
 * @pkg: its package, locked
 * @on: which
 *
 * Repeat it: KVM restores an older value after each exit of a guest.
 *
 * Return: whether they are let through, and can be kept out.
 */
bool uncore_pmi_listen(struct uncore_package *pkg, bool on)
{
	u64 before, val;

	if (rdmsrq_safe(MSR_IA32_DEBUGCTLMSR, &before))
		return false;
	val = (before & ~DEBUGCTL_UNCORE_PMI_EN) | (on ? DEBUGCTL_UNCORE_PMI_EN : 0);
	if (val != before)
		wrmsrq_safe(MSR_IA32_DEBUGCTLMSR, val);
	/* The write may have been refused or ignored. */
	if (val != before && on) {
		uncore_pmi_unmask();
		on = !rdmsrq_safe(MSR_IA32_DEBUGCTLMSR, &val) && val & DEBUGCTL_UNCORE_PMI_EN;
	}
	pkg->pmi.listens = on;
	return on;
}

/** uncore_global_status() - bits of U_GLOBAL_STATUS, or 0 if nothing has overflowed */
u32 uncore_global_status(void)
{
	u64 status;

	rdmsrq(U_MSR_PMON_GLOBAL_STATUS, status);
	return status & (U_GLOBAL_PMI | U_GLOBAL_OV_ALL) ? status : 0;
}

/**
 * uncore_clear_global_status() - clear what is above the boxes
 * @status: from uncore_global_status(). The U-Box counter's own bit stays
 */
void uncore_clear_global_status(u32 status)
{
	wrmsrq(U_MSR_PMON_GLOBAL_OVF_CTL, status & ~U_GLOBAL_OV_U);
}

/* ---- spurious NMIs: their overflow was already handled, or they are not ours ---- */

/* As this NMI found them. LVTPC: 0 if it was not masked, or if nobody looked */
static DEFINE_PER_CPU(u64, uncore_core_status);
static DEFINE_PER_CPU(u32, uncore_lvtpc);

/* Masked, and not by a further PMI: an NMI has no vector. */
#define UNCORE_LVTPC_MARK	(APIC_DM_NMI | APIC_LVT_MASKED | 0xff)

static u64 uncore_read_core_status(void)
{
	u64 status;

	if (rdmsrq_safe(MSR_CORE_PERF_GLOBAL_STATUS, &status))
		return 0;
	/* The handler of the core PMU may claim the NMI for this bit, as we do. */
	if (status & GLOBAL_STATUS_UNC_OVF)
		wrmsrq_safe(MSR_CORE_PERF_GLOBAL_OVF_CTRL, status & GLOBAL_STATUS_UNC_OVF);
	return status & ~(GLOBAL_STATUS_COND_CHG | GLOBAL_STATUS_UNC_OVF);
}

/*
 * Comes before the handler of the core PMU, which unmasks LVTPC and clears what it has found. LVTPC
 * stays masked until then, or until uncore_nmi(): the next PMI comes as the next NMI, and leaves it
 * masked again.
 */
static int uncore_nmi_first(unsigned int cmd, struct pt_regs *regs)
{
	struct uncore_package *pkg = uncore_package_of(smp_processor_id());
	u32 lvtpc;

	this_cpu_write(uncore_lvtpc, 0);
	if (!pkg || !READ_ONCE(pkg->pmi.armed))
		return NMI_DONE;
	lvtpc = apic->read(APIC_LVTPC);
	if (!(lvtpc & APIC_LVT_MASKED))
		return NMI_DONE;
	this_cpu_write(uncore_lvtpc, lvtpc);
	this_cpu_write(uncore_core_status, uncore_read_core_status());
	apic->write(APIC_LVTPC, UNCORE_LVTPC_MARK);
	return NMI_DONE;
}

/*
 * The local APIC masks LVTPC when it delivers a PMI (SDM Volume 3, "Local Vector Table"), so this
 * is no NMI that somebody has sent. The chipset's may have come with a PMI as one NMI. Nor has the
 * handler of the core PMU cleared an overflow; one that it leaves is old.
 */
static bool uncore_nmi_is_pmi(void)
{
	return this_cpu_read(uncore_lvtpc) &&
	       !(x86_platform.get_nmi_reason() & NMI_REASON_MASK) &&
	       !(this_cpu_read(uncore_core_status) & ~uncore_read_core_status());
}

/* No overflow that interrupts is pending. */
static int uncore_nmi_spurious(struct uncore_package *pkg)
{
	if (!uncore_nmi_is_pmi())
		return NMI_DONE;
	atomic64_inc(&pkg->totals.swallowed);
	return NMI_HANDLED;
}

/* ---- the lock, in any context ---- */

/**
 * uncore_lock() - lock a package; interrupts are off
 * @pkg: the package of this CPU
 *
 * In an NMI this is for the handler, and for the callbacks that perf calls while it gets a sample
 * from us. The code that the NMI has interrupted does not hold the lock then.
 */
void uncore_lock(struct uncore_package *pkg)
	__acquires(&pkg->lock)
{
	lockdep_assert(uncore_package_of(smp_processor_id()) == pkg);
	this_cpu_write(uncore_inside, pkg);
	if (!in_nmi()) {
		raw_spin_lock(&pkg->lock);
		return;
	}
	/*
	 * Wait in the queue: a trylock fails as long as others wait. Lockdep is left out: this path
	 * is never taken while this CPU holds the lock or waits for it.
	 */
	arch_spin_lock(&pkg->lock.raw_lock);
	__acquire(&pkg->lock);
}

/** uncore_is_inside() - has this CPU the lock of a package, or is it about to take it? */
bool uncore_is_inside(const struct uncore_package *pkg)
{
	return this_cpu_read(uncore_inside) == pkg;
}

/* Returns whether an NMI has interrupted the lock. */
static bool uncore_just_unlock(struct uncore_package *pkg)
	__releases(&pkg->lock)
{
	if (in_nmi()) {
		__release(&pkg->lock);
		arch_spin_unlock(&pkg->lock.raw_lock);
		this_cpu_write(uncore_inside, NULL);
		return false;
	}
	raw_spin_unlock(&pkg->lock);
	this_cpu_write(uncore_inside, NULL);
	return unlikely(READ_ONCE(pkg->pmi.pending)) && !READ_ONCE(pkg->pmi.delivering) &&
	       READ_ONCE(pkg->cpu) == smp_processor_id();
}

/* ---- samples ---- */

/**
 * struct uncore_walk - one run of the handler
 * @all: the number of passes that handle everything, also if samples have used up their share of
 *	the time
 * @sure: boxes in which its first pass handles what is due, also if samples are late
 * @pass: passes that have ended
 * @any: found something to handle
 * @begun: when it began
 * @pmis: overflows that have caused a PMI
 * @accesses: approximate number of register accesses
 * @regs: registers of the interrupted code
 */
struct uncore_walk {
	unsigned int all;
	unsigned long sure;
	unsigned int pass;
	bool any;
	u64 begun;
	unsigned int pmis;
	unsigned int accesses;
	struct pt_regs *regs;
};

static bool uncore_walk_is_over(const struct uncore_package *pkg, const struct uncore_walk *walk,
				u64 limit)
{
	return walk->pass >= walk->all && pkg->pmi.busy_ns + (local_clock() - walk->begun) > limit;
}

/* Have samples used up their share of the time? Then the watch handles the rest. */
static bool uncore_walk_late(const struct uncore_package *pkg, const struct uncore_walk *walk)
{
	return uncore_walk_is_over(pkg, walk, UNCORE_BUSY_NS);
}

/* The boxes in which something is due that need not wait */
static unsigned long uncore_walk_due(const struct uncore_package *pkg,
				     const struct uncore_walk *walk)
{
	return pkg->due & (uncore_walk_late(pkg, walk) ? walk->sure : ~0UL);
}

/*
 * The registers of a sample: those of the interrupted code. If that is not known, the sample shows
 * perf_event_overflow(); perf finds the callers in user space.
 */
static struct pt_regs *uncore_sample_regs(struct pt_regs *regs, struct pt_regs *room)
{
	if (!regs)
		regs = get_irq_regs();
	if (regs)
		return regs;
	*room = (struct pt_regs){
		.ip	= (unsigned long)uncore_overflow,
		.cs	= __KERNEL_CS,
		.flags	= X86_EFLAGS_FIXED,
	};
	return room;
}

/*
 * Give one sample. The package is unlocked meanwhile: the event cannot leave this CPU, but while
 * the package moves the other one may carry out what was deleted here.
 */
static void uncore_deliver_sample(struct uncore_package *pkg, struct uncore_box *box, int idx,
				  const struct uncore_walk *walk)
	__must_hold(&pkg->lock)
{
	struct uncore_counter *c = &box->counter[idx];
	struct perf_event *event = c->event;
	u64 period = event->hw.last_period, interrupts = event->hw.interrupts;
	struct perf_sample_data data;
	bool stop = false;

	if (c->state != UNCORE_LEFT)
		uncore_event_set_period(event);
	/*
	 * perf can no longer stop an event that is leaving: the stop would hit its next start. And
	 * all may leave in each of its ticks, to let others in.
	 */
	if (c->state >= UNCORE_LEAVING &&
	    (atomic_read(&event->event_limit) || uncore_walk_is_over(pkg, walk, UNCORE_LEAVE_NS))) {
		atomic64_inc(&pkg->totals.lost);
	} else {
		uncore_just_unlock(pkg);
		perf_sample_data_init(&data, 0, period);
		stop = uncore_overflow(event, &data, walk->regs);
		/*
		 * perf has throttled its group. It would take one more interrupt for none, and
		 * never start the group again.
		 */
		if (interrupts == PERF_MAX_INTERRUPTS)
			event->hw.interrupts = interrupts;
		uncore_lock(pkg);
	}
	if (c->event != event)
		return;
	box->due &= ~BIT(idx);
	if (stop && c->state == UNCORE_RUNNING)
		uncore_counter_set(c, UNCORE_STOPPED);
}

/*
 * Stop the events that are due, and their groups, until the watch runs, so that counts stay
 * together. All events of a group that have a counter have one of this box.
 */
static void uncore_wait(struct uncore_box *box)
{
	int due, idx;

	for_each_uncore_bit(due, box->due) {
		const struct perf_event *leader = box->counter[due].event->group_leader;

		for_each_used_counter(idx, box) {
			struct perf_event *event = box->counter[idx].event;

			if (event->group_leader != leader)
				continue;
			box->waits |= BIT(idx);
			uncore_stopwatch_run(&to_uncore_event(event)->waits, true, local_clock(),
					     &uncore_box_package(box)->held);
		}
	}
}

/*
 * Give the samples that are due in a box. Then its counters may count again. If samples have used
 * up their share of the time, they stay due. One that has left stays overdue until it is released,
 * so only its commit gives its sample, and whatever the time.
 */
static void uncore_deliver(struct uncore_package *pkg, struct uncore_box *box,
			   const struct uncore_walk *walk)
	__must_hold(&pkg->lock)
{
	bool sure = walk->sure & BIT(uncore_box_id(box));
	int idx;

	pkg->pmi.delivering = true;
	for_each_uncore_bit(idx, box->due) {
		/* Another CPU may have released it while the package was unlocked. */
		if (!(box->due & BIT(idx)))
			continue;
		if (box->counter[idx].state == UNCORE_LEFT ? sure : !uncore_walk_late(pkg, walk))
			uncore_deliver_sample(pkg, box, idx, walk);
	}
	pkg->pmi.delivering = false;
	uncore_box_go_on(box, ~0U);
}

/* ---- from U_GLOBAL_STATUS to the counters ---- */

/*
 * Are all events of the group on their counters? While perf removes or adds them one by one, a
 * sample would have old counts of the other events.
 */
static bool uncore_group_is_whole(const struct perf_event *event)
{
	const struct perf_event *leader = event->group_leader, *sibling;

	if (leader->state != PERF_EVENT_STATE_ACTIVE)
		return false;
	if (leader->nr_siblings > UNCORE_MAX_SIBLINGS)
		return true;
	for_each_sibling_event(sibling, leader) {
		if (sibling->state == PERF_EVENT_STATE_INACTIVE)
			return false;
	}
	return true;
}

/* Handle the overflows of a box. Returns how many of them have caused a PMI. */
static unsigned int uncore_walk_box(struct uncore_package *pkg, struct uncore_box *box, u64 status)
{
	u32 counters = uncore_box_counters(box, status), stop = 0;
	unsigned int pmis = 0;
	int idx;

	for_each_uncore_bit(idx, counters) {
		const struct uncore_counter *c = &box->counter[idx];

		if (c->state <= UNCORE_NEW || !uncore_event_interrupts(c->event))
			continue;
		pmis++;
		if (!is_sampling_event(c->event))
			continue;
		if (c->state == UNCORE_RUNNING && uncore_group_is_whole(c->event))
			stop |= BIT(idx);
		else if (c->state == UNCORE_RUNNING || c->state == UNCORE_LEAVING)
			uncore_event_update(c->event);	/* The commit gives the sample. */
	}
	stop &= ~box->due;
	box->due |= stop;
	if (stop && !pkg->hold.frozen)
		uncore_package_apply(pkg, BIT(uncore_box_id(box)));
	for_each_uncore_bit(idx, stop) {
		struct perf_event *event = box->counter[idx].event;

		uncore_event_update(event);
		if (uncore_event_overdue(event))
			continue;
		/* Part of a period that is too long for the counter, or already sampled */
		uncore_event_set_period(event);
		box->due &= ~BIT(idx);
	}
	uncore_box_clear_status(box, status);
	return pmis;
}

/*
 * U_GLOBAL_STATUS has the side, and the STATUS of its boxes the counters. Reading S SUMMARY would
 * save little, and no source has its bits for Westmere-EX. Another program has left the overflow
 * bits of boxes that are not in use.
 */
static void uncore_walk_package(struct uncore_package *pkg, u32 status, unsigned long among,
				struct uncore_walk *walk)
	__must_hold(&pkg->lock)
{
	unsigned long due = uncore_walk_due(pkg, walk), boxes = due;
	int id;

	boxes |= among & (status & U_GLOBAL_OV_S0 ? uncore_model->sides[0] : 0);
	boxes |= among & (status & U_GLOBAL_OV_S1 ? uncore_model->sides[1] : 0);
	boxes |= among & (status & U_GLOBAL_OV_W ? BIT(UNCORE_WBOX) : 0);
	boxes |= status & U_GLOBAL_OV_U ? BIT(UNCORE_UBOX) : 0;
	pkg->due &= ~boxes;
	walk->accesses += 6;
	for_each_uncore_bit(id, boxes) {
		struct uncore_box *box = &pkg->box[id];
		u64 bits;

		if (box->gone)
			continue;
		if (in_nmi() && walk->accesses > UNCORE_MAX_ACCESSES) {
			pkg->due |= BIT(id);
			continue;
		}
		bits = id == UNCORE_UBOX ? status & U_GLOBAL_OV_U : uncore_box_status(box);
		if (bits)
			walk->pmis += uncore_walk_box(pkg, box, bits);
		walk->accesses += 4 + 2 * hweight64(bits);
		if (bits || due & BIT(id)) {
			if (!pkg->pmi.delivering)
				uncore_deliver(pkg, box, walk);
			uncore_wait(box);
			if (!pkg->hold.frozen)
				uncore_package_apply(pkg, BIT(id));
		}
		pkg->due |= box->due ? BIT(id) : 0;
	}
}

/* Is the package frozen? Then no counter counts before the next write of U_GLOBAL_CTL. */
static bool uncore_is_frozen(const struct uncore_package *pkg)
{
	u64 ctl;

	if (pkg->hold.frozen || !(pkg->global_ctl & U_GLOBAL_CTL_FRZ_ALL))
		return pkg->hold.frozen;
	rdmsrq(U_MSR_PMON_GLOBAL_CTL, ctl);
	return !(ctl & U_GLOBAL_CTL_EN_ALL);
}

/*
 * @frozen: the hardware has frozen the package, some time before the NMI arrived, but not before
 * U_GLOBAL_CTL was last written. It may have frozen it within that write.
 */
static void uncore_freeze(struct uncore_package *pkg, bool frozen)
{
	u64 since = max(local_clock() - pkg->pmi.latency_ns, pkg->ctl_ns);

	pkg->hold.frozen = true;
	if (frozen)
		uncore_stopwatch_run(&pkg->held, true, since, NULL);
	else
		uncore_package_write_ctl(pkg);
}

/* One pass. Returns whether another one is needed. */
static bool uncore_handle_pass(struct uncore_package *pkg, struct uncore_walk *walk)
	__must_hold(&pkg->lock)
{
	bool frozen = uncore_is_frozen(pkg);
	u32 status = uncore_global_status();

	if (!status && !frozen && !uncore_walk_due(pkg, walk))
		return false;
	if (frozen || pkg->global_ctl & U_GLOBAL_CTL_FRZ_ALL)
		uncore_freeze(pkg, frozen);
	if (status & ~U_GLOBAL_OV_U)
		uncore_clear_global_status(status);
	uncore_walk_package(pkg, status, walk->any ? pkg->present : pkg->used, walk);
	walk->any = true;
	walk->sure = 0;
	if (pkg->pmi.delivering)
		return false;
	return !pkg->hold.frozen || uncore_walk_due(pkg, walk);
}

/*
 * Handle all overflows. While the package is running, a further overflow may come at any time.
 * So clear the U level before the boxes, and read the U level again after them. Then no
 * overflow is missed, whether the U level latches or follows the boxes. In a frozen package there
 * are no further overflows. Read CTL before STATUS, so that the overflow that froze the package is
 * handled before it is unfrozen.
 *
 * A nested call, from a callback of perf while a sample is delivered, only finds what is due.
 *
 * Returns how many overflows have caused a PMI.
 */
static unsigned int uncore_handle(struct uncore_package *pkg, struct uncore_walk *walk)
	__must_hold(&pkg->lock)
{
	struct uncore_pmi *pmi = &pkg->pmi;
	struct pt_regs room;
	u64 took;
	bool thaw;

	WRITE_ONCE(pmi->pending, false);
	walk->begun = local_clock();
	walk->regs = uncore_sample_regs(walk->regs, &room);
	while (walk->pass < UNCORE_MAX_PASSES && uncore_handle_pass(pkg, walk))
		walk->pass++;
	if (!walk->any || pmi->delivering)
		return walk->pmis;
	thaw = pkg->hold.frozen;
	if (thaw) {
		pkg->hold.frozen = false;
		/* Only en_all is known to be 0. */
		pkg->global_ctl = (u32)~U_GLOBAL_CTL_EN_ALL;
		uncore_package_apply(pkg, pkg->used);
	}
	took = local_clock() - walk->begun;
	pmi->busy_ns += took;
	if (thaw)
		atomic64_add(took, &pkg->totals.frozen_ns);
	return walk->pmis;
}

/* ---- the end of the lock ---- */

/**
 * uncore_unlock() - unlock a package, and handle overflows whose NMI found it locked
 * @pkg: the package
 */
void uncore_unlock(struct uncore_package *pkg)
	__releases(&pkg->lock)
{
	while (uncore_just_unlock(pkg)) {
		uncore_lock(pkg);
		uncore_handle(pkg, &(struct uncore_walk){});
	}
}

/* ---- the NMI ---- */

/* The NMI has interrupted code that has the lock or waits for it. */
static int uncore_nmi_inside(struct uncore_package *pkg)
{
	u32 status = uncore_global_status();

	if (status)
		WRITE_ONCE(pkg->pmi.pending, true);
	/* The self-test asks, which runs beside no event that interrupts. */
	if (status && !pkg->pmi.events && uncore_nmi_is_pmi())
		WRITE_ONCE(pkg->pmi.proof_ns, local_clock());
	return status & U_GLOBAL_PMI ? NMI_HANDLED : uncore_nmi_spurious(pkg);
}

/*
 * This CPU does not serve the package, or not any more. If another program has set DEBUGCTL bit 13
 * here, clear it.
 */
static int uncore_nmi_elsewhere(struct uncore_package *pkg)
{
	u64 debugctl;

	if (this_cpu_read(uncore_lvtpc) && !rdmsrq_safe(MSR_IA32_DEBUGCTLMSR, &debugctl) &&
	    debugctl & DEBUGCTL_UNCORE_PMI_EN)
		wrmsrq_safe(MSR_IA32_DEBUGCTLMSR, debugctl & ~DEBUGCTL_UNCORE_PMI_EN);
	return uncore_nmi_spurious(pkg);
}

/* Called for all NMIs of all CPUs. Without the watch it makes no register access. */
static int uncore_nmi(unsigned int cmd, struct pt_regs *regs)
{
	struct uncore_walk walk = { .regs = regs };
	int cpu = smp_processor_id();
	struct uncore_package *pkg = uncore_package_of(cpu);
	unsigned int pmis;

	if (this_cpu_read(uncore_lvtpc) && apic->read(APIC_LVTPC) == UNCORE_LVTPC_MARK)
		apic->write(APIC_LVTPC, APIC_DM_NMI);
	if (!pkg || !READ_ONCE(pkg->pmi.armed))
		return NMI_DONE;
	if (READ_ONCE(pkg->cpu) != cpu)
		return uncore_nmi_elsewhere(pkg);
	if (uncore_is_inside(pkg))
		return uncore_nmi_inside(pkg);
	/* Another CPU may hold the lock for some accesses, to read a group. */
	uncore_lock(pkg);
	pmis = uncore_handle(pkg, &walk);
	uncore_unlock(pkg);
	return pmis ? NMI_HANDLED : uncore_nmi_spurious(pkg);
}

/* ---- the watch ---- */

static void uncore_watch_pmis(struct uncore_package *pkg)
{
	bool wanted = uncore_pmi_wanted(pkg);
	struct uncore_pmi *pmi = &pkg->pmi;
	unsigned int missed;

	uncore_pmi_listen(pkg, wanted);
	pmi->busy_ns = 0;
	if (wanted) {
		missed = uncore_handle(pkg, &(struct uncore_walk){ .all = 1 });
		atomic64_add(missed, &pkg->totals.missed);
		if (missed)
			uncore_pmi_unmask();
	}
	WRITE_ONCE(pmi->armed, wanted);
}

/* Every second while events count, and every 10 ms while PMIs may come */
static enum hrtimer_restart uncore_watch(struct hrtimer *timer)
{
	struct uncore_package *pkg = container_of(timer, struct uncore_package, timer);
	u64 now = local_clock(), next;
	bool again;

	/* The timer of a dead CPU continues on another CPU, maybe of another package. */
	if (READ_ONCE(pkg->cpu) != smp_processor_id())
		return HRTIMER_NORESTART;
	uncore_lock(pkg);
	if (pkg->pmi.armed)
		uncore_watch_pmis(pkg);
	if (pkg->active && now + UNCORE_WATCH_NS > pkg->tick_ns) {
		uncore_package_tick(pkg);
		pkg->tick_ns = now + UNCORE_TICK_NS;
	}
	again = pkg->active || pkg->pmi.armed;
	/* From the last time on: samples that take up to 250 ms get a quarter of the time. */
	next = clamp_t(u64, 4 * (local_clock() - now), UNCORE_WATCH_NS, UNCORE_TICK_NS);
	hrtimer_forward_now(timer, pkg->pmi.armed ? next : pkg->tick_ns - now);
	uncore_unlock(pkg);
	return again ? HRTIMER_RESTART : HRTIMER_NORESTART;
}

/**
 * uncore_watch_arm() - PMIs may come from now on
 * @pkg: the package of this CPU, locked
 *
 * The watch clears it when no PMI is wanted.
 */
void uncore_watch_arm(struct uncore_package *pkg)
{
	if (pkg->pmi.armed && hrtimer_active(&pkg->timer))
		return;
	WRITE_ONCE(pkg->pmi.armed, true);
	hrtimer_start(&pkg->timer, UNCORE_WATCH_NS, HRTIMER_MODE_REL_PINNED_HARD);
}

/**
 * uncore_watch_start() - watch a package while there is anything to watch
 * @pkg: the package, locked; before new events count, and after they do
 */
void uncore_watch_start(struct uncore_package *pkg)
{
	bool wanted = uncore_pmi_wanted(pkg);

	if (pkg->cpu != smp_processor_id())
		return;
	if (wanted || pkg->pmi.armed)
		uncore_watch_arm(pkg);
	if (wanted && (!pkg->global_ctl || !pkg->pmi.listens))
		uncore_pmi_listen(pkg, true);
	if (!pkg->active)
		pkg->tick_ns = local_clock() + UNCORE_TICK_NS;
	else if (!hrtimer_active(&pkg->timer))
		hrtimer_start(&pkg->timer, UNCORE_TICK_NS, HRTIMER_MODE_REL_PINNED_HARD);
}

/* ---- for the files above ---- */

/**
 * uncore_pmi_overdue() - give the pending samples of overflows that had no NMI, or let them wait
 * @pkg: the package, locked; unlocked for a moment if there are any
 * @box: the box; events that are already off their counters have their last counts
 */
void uncore_pmi_overdue(struct uncore_package *pkg, struct uncore_box *box)
{
	struct uncore_walk walk = { .begun = local_clock() };
	u32 due = 0, was = box->due;
	bool late, leaves = false;
	int idx;

	/* What was due on a box that has gone does not come back. */
	if (!pkg->pmi.events || box->gone)
		return;
	for_each_used_counter(idx, box) {
		const struct uncore_counter *c = &box->counter[idx];

		/* One that has left stays overdue, also when perf stops another one in a sample. */
		if (c->state > UNCORE_NEW && uncore_event_overdue(c->event) &&
		    (c->state == UNCORE_LEFT ? !pkg->pmi.delivering :
					       uncore_group_is_whole(c->event)))
			due |= BIT(idx);
		leaves |= due & BIT(idx) && c->state == UNCORE_LEFT;
	}
	if (!due)
		return;
	box->due |= due;
	/* perf stops many events, one after the other, in each of its ticks. */
	late = !leaves && uncore_walk_late(pkg, &walk);
	if (late)
		uncore_wait(box);
	/* All counts of the samples are of this moment. */
	if (!late && pkg->global_ctl & U_GLOBAL_CTL_FRZ_ALL)
		uncore_freeze(pkg, uncore_is_frozen(pkg));
	else
		uncore_package_apply(pkg, BIT(uncore_box_id(box)));
	for_each_uncore_bit(idx, due & ~was) {
		if (box->counter[idx].state != UNCORE_LEFT)
			uncore_event_update(box->counter[idx].event);
	}
	walk.sure = BIT(uncore_box_id(box));
	pkg->due |= walk.sure;
	if (!late)
		uncore_handle(pkg, &walk);
}

/**
 * uncore_pmi_commit() - carry out what was added to a box and deleted
 * @pkg: the package, locked; unlocked for a moment if a sample is due
 * @box: the box
 * @program: also what was added
 */
void uncore_pmi_commit(struct uncore_package *pkg, struct uncore_box *box, bool program)
{
	u32 left;

	uncore_watch_start(pkg);
	left = uncore_box_prepare(box, program);
	uncore_package_apply(pkg, BIT(uncore_box_id(box)));
	uncore_box_finish(box, left, pkg->ticks);
	uncore_pmi_overdue(pkg, box);
	if (left || !pkg->active)
		uncore_package_release(pkg, box, left);
	uncore_watch_start(pkg);
}

/**
 * uncore_pmi_quiesce() - stop all counters that interrupt
 * @pkg: the package, locked; hold.moving or hold.asleep is set
 *
 * Handles all overflows. Counters whose events do not interrupt continue.
 */
void uncore_pmi_quiesce(struct uncore_package *pkg)
{
	uncore_package_apply(pkg, pkg->used);
	if (pkg->pmi.events)
		uncore_handle(pkg, &(struct uncore_walk){ .all = UNCORE_MAX_PASSES });
	uncore_pmi_listen(pkg, false);
}

/** uncore_pmi_samples() - can samples be given to perf? */
bool uncore_pmi_samples(void)
{
	return uncore_overflow;
}

/** uncore_pmi_init() - get ready for PMIs; no event exists yet. Returns 0 or an errno */
int uncore_pmi_init(void)
{
	struct uncore_package *pkg;

	uncore_overflow = kernel_function("perf_event_overflow");
	if (!uncore_overflow)
		pr_info("cannot find perf_event_overflow(): no sampling\n");
	for_each_uncore_package(pkg)
		hrtimer_setup(&pkg->timer, uncore_watch, CLOCK_MONOTONIC,
			      HRTIMER_MODE_REL_PINNED_HARD);
	return register_nmi_handler(NMI_LOCAL, uncore_nmi_first, NMI_FLAG_FIRST,
				    KBUILD_MODNAME "_first") ?:
	       register_nmi_handler(NMI_LOCAL, uncore_nmi, 0, KBUILD_MODNAME);
}

static void uncore_pmi_stop(void *info)
{
	struct uncore_package *pkg = info;

	if (pkg->pmi.armed)
		uncore_pmi_listen(pkg, false);
	WRITE_ONCE(pkg->pmi.armed, false);
}

/** uncore_pmi_exit() - undo uncore_pmi_init(); no event is left */
void uncore_pmi_exit(void)
{
	struct uncore_package *pkg;

	for_each_uncore_package(pkg) {
		uncore_package_call(pkg, uncore_pmi_stop, pkg);
		hrtimer_cancel(&pkg->timer);
	}
	/* The one that unmasks LVTPC goes last. */
	unregister_nmi_handler(NMI_LOCAL, KBUILD_MODNAME "_first");
	unregister_nmi_handler(NMI_LOCAL, KBUILD_MODNAME);
}
