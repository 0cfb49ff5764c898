// SPDX-License-Identifier: GPL-2.0-only
/*
 * Overflows: from the PMI to the counter, and what watches over the PMI.
 *
 * counter -> box STATUS -> S SUMMARY -> U GLOBAL_STATUS -> PMI, an NMI on the CPU of
 * the package (Uncore Programming Guide, section 2.1; IA32_DEBUGCTL bit 13 lets the
 * PMI in). The handler goes back the same way and looks only where a bit is set.
 *
 * An event may freeze the package (U_GLOBAL_CTL.frz_all): hardware then clears en_all
 * at the overflow, everything read with the sample belongs to that moment, and the
 * handler's last write lets all counters go on. Without freeze only the counters that
 * overflowed stand while they are handled.
 *
 * The handler runs in NMI, at any instruction of the rest of the driver. It takes no
 * lock; uncore.h says what it may change.
 *
 * Nothing depends on a PMI that does not come. A test at load time shows whether PMIs
 * arrive; if not, a timer reads the counters and sampling is refused. While an event
 * samples or may freeze the package, a slow timer looks for overflows without PMI; else
 * uncore_event_update() does, when a counter was not read for long.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitfield.h>
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/topology.h>
#include <asm/apic.h>
#include <asm/irq_regs.h>
#include <asm/msr.h>
#include <asm/nmi.h>

#include "uncore.h"
#include "xeon7500/cbox.h"
#include "xeon7500/sbox.h"
#include "xeon7500/ubox.h"

/* Lets uncore PMIs through to this CPU. */
#define DEBUGCTL_UNCORE_PMI_EN	BIT_ULL(13)

/*
 * An NMI without cause belongs to a PMI that was handled this long ago, at most. A CPU
 * that is not given to a guest for a while takes its NMIs late.
 */
#define UNCORE_PMI_GRACE_NS	NSEC_PER_SEC

/* How long a lost PMI can keep a sampling session silent, or a package frozen. */
#define UNCORE_PMI_WATCH_NS	(10 * NSEC_PER_MSEC)

#define U_GLOBAL_OV_ALL		(U_GLOBAL_OV_U | U_GLOBAL_OV_W | U_GLOBAL_OV_S0 | U_GLOBAL_OV_S1)

/* Not exported, so found at load. */
static int (*uncore_overflow)(struct perf_event *event, struct perf_sample_data *data,
			      struct pt_regs *regs);

/* S SUMMARY, by side: which boxes a bit stands for. */
static const struct {
	u32 bit;
	u8 box[2][2];
} uncore_summary[] = {
	{ S_SUMMARY_OV_C_R,	{ { UNCORE_CBOX + 2, UNCORE_CBOX + 3 },
				  { UNCORE_CBOX + 6, UNCORE_CBOX + 7 } } },
	{ S_SUMMARY_OV_C_L,	{ { UNCORE_CBOX + 0, UNCORE_CBOX + 1 },
				  { UNCORE_CBOX + 4, UNCORE_CBOX + 5 } } },
	{ S_SUMMARY_OV_MB,	{ { UNCORE_MBOX + 0, UNCORE_BBOX + 0 },
				  { UNCORE_MBOX + 1, UNCORE_BBOX + 1 } } },
	{ S_SUMMARY_OV_S,	{ { UNCORE_SBOX + 0, UNCORE_SBOX + 0 },
				  { UNCORE_SBOX + 1, UNCORE_SBOX + 1 } } },
	{ S_SUMMARY_OV_R,	{ { UNCORE_RBOX + 0, UNCORE_RBOX + 0 },
				  { UNCORE_RBOX + 1, UNCORE_RBOX + 1 } } },
};

/* The local APIC masks the entry when it delivers the interrupt. */
static void uncore_unmask_lvtpc(void)
{
	apic->write(APIC_LVTPC, APIC_DM_NMI);
}

static bool uncore_pkg_freezes(const struct uncore_pkg *pkg)
{
	return READ_ONCE(pkg->global_ctl) & U_GLOBAL_CTL_FRZ_ALL;
}

/* One overflow of a sampling event, its counter standing. */
static void uncore_sample(struct uncore_box *box, struct perf_event *event, struct pt_regs *regs)
{
	struct hw_perf_event *hwc = &event->hw;
	struct perf_sample_data data;
	u64 period;

	uncore_event_update(box, event);
	if (uncore_event_left(event) > 0) {
		/* A part of a period that is too long for the counter. */
		uncore_event_set_period(box, event);
		return;
	}
	period = hwc->last_period;
	uncore_event_set_period(box, event);
	if (!regs) {
		atomic64_inc(&box->pkg->lost);
		return;
	}
	perf_sample_data_init(&data, 0, period);
	if (uncore_overflow(event, &data, regs)) {
		clear_bit(hwc->idx, &box->want);
		hwc->state |= PERF_HES_STOPPED | PERF_HES_UPTODATE;
	}
}

/**
 * uncore_pmi_late() - the sample of an overflow that came when perf did not want it
 * @box: the box
 * @event: the event, which perf wants again; its counter stands
 *
 * That was a moment ago, in the very call that is here now.
 */
void uncore_pmi_late(struct uncore_box *box, struct perf_event *event)
{
	struct pt_regs regs;

	perf_fetch_caller_regs(&regs);
	uncore_sample(box, event, &regs);
}

/**
 * uncore_pmi_last() - the sample of an overflow that came when its event was about to go
 * @box: the box
 * @event: the event, off its counter but still in perf's hands
 */
void uncore_pmi_last(struct uncore_box *box, struct perf_event *event)
{
	struct perf_sample_data data;
	struct pt_regs regs;

	/* At its limit perf would stop the event, which is too late and spoils the next start. */
	if (atomic_read(&event->event_limit)) {
		atomic64_inc(&box->pkg->lost);
		return;
	}
	perf_fetch_caller_regs(&regs);
	perf_sample_data_init(&data, 0, event->hw.last_period);
	uncore_overflow(event, &data, &regs);
}

static void uncore_counter_overflow(struct uncore_box *box, int idx, struct pt_regs *regs)
{
	struct perf_event *event = READ_ONCE(box->events[idx]);

	if (!event || READ_ONCE(box->fresh) & BIT(idx))
		return;
	if (!test_bit(idx, &box->armed) || event->oncpu != smp_processor_id())
		set_bit(idx, &box->missed);
	else if (is_sampling_event(event))
		uncore_sample(box, event, regs);
	else
		uncore_event_wrapped(box, event);
}

/* Those of the counters that get a new start value: not while they run. */
static u32 uncore_sampling_counters(const struct uncore_box *box, unsigned long counters)
{
	u32 sampling = 0;
	int idx;

	for_each_set_bit(idx, &counters, UNCORE_MAX_COUNTERS) {
		struct perf_event *event = READ_ONCE(box->events[idx]);

		if (event && is_sampling_event(event))
			sampling |= BIT(idx);
	}
	return sampling;
}

/* What this has interrupted may be about to write the very same, so it is written here. */
static void uncore_box_hold_more(struct uncore_box *box, u32 counters)
{
	WRITE_ONCE(box->held, counters);
	uncore_box_force_enable(box);
	if (box->type->enabled_by_package)
		uncore_pkg_write_ctl(box->pkg);
}

static void uncore_box_overflow(struct uncore_box *box, u32 bits, struct pt_regs *regs)
{
	u32 held = READ_ONCE(box->held), more = 0;
	unsigned long counters = 0;
	int idx;

	for (idx = 0; idx < box->type->num_counters; idx++) {
		if (bits & uncore_box_ctr_en(box, BIT(idx)))
			counters |= BIT(idx);
	}
	if (!uncore_pkg_freezes(box->pkg))
		more = uncore_sampling_counters(box, counters);
	if (more)
		uncore_box_hold_more(box, held | more);
	for_each_set_bit(idx, &counters, UNCORE_MAX_COUNTERS)
		uncore_counter_overflow(box, idx, regs);
	uncore_box_clear_ov(box, bits);
	if (more)
		uncore_box_hold_more(box, held);
	else
		uncore_box_write_enable(box);
}

static void uncore_box_walk(struct uncore_pkg *pkg, int id, struct pt_regs *regs)
{
	struct uncore_box *box = &pkg->box[id];
	u64 status;

	/* A counter that was never programmed has not overflowed. */
	if (!box->touched)
		return;
	rdmsrl(uncore_box_ctl_msr(box) + UNCORE_STATUS, status);
	if (status)
		uncore_box_overflow(box, status, regs);
}

static void uncore_side_walk(struct uncore_pkg *pkg, int side, struct pt_regs *regs)
{
	const u8 *box;
	u64 summary = ~0ULL;
	int i;

	/* Without the S-Box nobody says which box it was. */
	if (test_bit(UNCORE_SBOX + side, &pkg->present))
		rdmsrl((side ? S1_MSR_PMON_BASE : S0_MSR_PMON_BASE) + S_MSR_PMON_SUMMARY, summary);
	for (i = 0; i < ARRAY_SIZE(uncore_summary); i++) {
		if (!(summary & uncore_summary[i].bit))
			continue;
		box = uncore_summary[i].box[side];
		uncore_box_walk(pkg, box[0], regs);
		if (box[1] != box[0])
			uncore_box_walk(pkg, box[1], regs);
	}
}

/* From the top of the hierarchy down; leaves only the level above the boxes to clear. */
static void uncore_pkg_walk(struct uncore_pkg *pkg, u32 status, struct pt_regs *regs)
{
	if (status & U_GLOBAL_OV_S0)
		uncore_side_walk(pkg, 0, regs);
	if (status & U_GLOBAL_OV_S1)
		uncore_side_walk(pkg, 1, regs);
	if (status & U_GLOBAL_OV_W)
		uncore_box_walk(pkg, UNCORE_WBOX, regs);
	if (status & U_GLOBAL_OV_U)
		uncore_box_overflow(&pkg->box[UNCORE_UBOX], U_GLOBAL_OV_U, regs);
}

/* ov_u is the U-Box counter's own. */
static void uncore_clear_global_ov(u32 status)
{
	wrmsrl(U_MSR_PMON_GLOBAL_OVF_CTL, status & ~U_GLOBAL_OV_U);
}

static u64 uncore_global_status(void)
{
	u64 status;

	rdmsrl(U_MSR_PMON_GLOBAL_STATUS, status);
	return status & (U_GLOBAL_PMI | U_GLOBAL_OV_ALL) ? status : 0;
}

/*
 * Handle what has overflowed while the package is frozen: once, since nothing counts
 * before the last write. The PMI of an overflow after that must find LVTPC unmasked.
 */
static bool uncore_handle_frozen(struct uncore_pkg *pkg, struct pt_regs *regs)
{
	u64 since = ktime_get_mono_fast_ns(), ctl, status;

	rdmsrl(U_MSR_PMON_GLOBAL_CTL, ctl);
	status = uncore_global_status();
	if (!status)
		return false;
	if (ctl & U_GLOBAL_CTL_EN_ALL) {
		/* Set again by us after the freeze, before this NMI came. */
		uncore_pkg_force_ctl(ctl & ~U_GLOBAL_CTL_EN_ALL);
		status = uncore_global_status();
	}
	uncore_pkg_walk(pkg, status, regs);
	uncore_clear_global_ov(status);
	uncore_unmask_lvtpc();
	uncore_pkg_write_ctl(pkg);
	atomic64_add(ktime_get_mono_fast_ns() - since, &pkg->frozen_ns);
	return true;
}

/*
 * Likewise while it runs. An overflow that comes too late to be found by the walk must
 * set its bits anew and bring an NMI of its own. So LVTPC and the U-Box come before the
 * boxes here, against the guide's order, which is for a package that stands; an NMI may
 * then come in vain.
 */
static bool uncore_handle_running(struct uncore_pkg *pkg, struct pt_regs *regs)
{
	u64 status;

	uncore_unmask_lvtpc();
	status = uncore_global_status();
	if (!status)
		return false;
	uncore_clear_global_ov(status);
	uncore_pkg_walk(pkg, status, regs);
	return true;
}

/* For a while an NMI of which nothing else is known is taken for a late or second PMI. */
static void uncore_pmi_seen(struct uncore_pkg *pkg)
{
	WRITE_ONCE(pkg->pmi_last, ktime_get_mono_fast_ns());
}

/**
 * uncore_pmi_expect() - an overflow is known whose PMI may be still to come
 * @pkg: the package
 *
 * The status of the overflow is there until then.
 */
void uncore_pmi_expect(struct uncore_pkg *pkg)
{
	uncore_pmi_seen(pkg);
	WRITE_ONCE(pkg->pmi_due, true);
}

/* Returns whether there was anything to handle. */
static bool uncore_pmi_handle(struct uncore_pkg *pkg, struct pt_regs *regs)
{
	bool handled = false;
	int calls;

	/* An NMI that interrupts this in another context leaves it the work. */
	if (atomic_inc_return(&pkg->pmi_busy) > 1) {
		uncore_unmask_lvtpc();
		return true;
	}
	do {
		WRITE_ONCE(pkg->pmi_due, false);
		calls = atomic_read(&pkg->pmi_busy);
		if (uncore_pkg_freezes(pkg))
			handled |= uncore_handle_frozen(pkg, regs);
		else
			handled |= uncore_handle_running(pkg, regs);
		if (handled)
			uncore_pmi_seen(pkg);
	} while (atomic_cmpxchg(&pkg->pmi_busy, calls, 0) != calls);
	return handled;
}

/* May there be an NMI whose overflow is known already? */
static bool uncore_pmi_expected(const struct uncore_pkg *pkg)
{
	u64 last = READ_ONCE(pkg->pmi_last);

	return last && ktime_get_mono_fast_ns() - last < UNCORE_PMI_GRACE_NS;
}

/*
 * A PMI that reached a CPU which does not serve the package: one that has just ceased to,
 * or one where somebody else lets PMIs in. All other NMIs of these CPUs are none of ours.
 */
static int uncore_nmi_stray(struct uncore_pkg *pkg, bool idle)
{
	u64 debugctl;

	rdmsrl(MSR_IA32_DEBUGCTLMSR, debugctl);
	if (!(debugctl & DEBUGCTL_UNCORE_PMI_EN))
		return NMI_DONE;
	if (!idle && uncore_global_status())
		irq_work_queue(&pkg->stray);
	else if (!atomic_read(&pkg->pmi_busy) && !uncore_pmi_expected(pkg))
		return NMI_DONE;
	uncore_unmask_lvtpc();
	return NMI_HANDLED;
}

/* The one that uncore_pmi_test() waits for. Its echo may come any time from now on. */
static int uncore_nmi_test(struct uncore_pkg *pkg)
{
	if (!uncore_global_status())
		return NMI_DONE;
	uncore_unmask_lvtpc();
	pkg->pmi = true;
	uncore_pmi_seen(pkg);
	WRITE_ONCE(pkg->pmi_test, -1);
	return NMI_HANDLED;
}

/* Is there no overflow that nobody has handled, nor can there be one? */
static bool uncore_pkg_idle(const struct uncore_pkg *pkg)
{
	return !READ_ONCE(pkg->active) && !READ_ONCE(pkg->settling) && !READ_ONCE(pkg->pmi_due);
}

/* All NMIs of all CPUs pass here. Those of an idle package cost it no access. */
static int uncore_nmi(unsigned int cmd, struct pt_regs *regs)
{
	int cpu = smp_processor_id();
	struct uncore_pkg *pkg = uncore_pkg_of(cpu);
	bool idle;

	if (!pkg)
		return NMI_DONE;
	if (READ_ONCE(pkg->pmi_test) == cpu)
		return uncore_nmi_test(pkg);
	if (!pkg->pmi)
		return NMI_DONE;
	idle = uncore_pkg_idle(pkg);
	if (idle && !uncore_pmi_expected(pkg))
		return NMI_DONE;
	if (READ_ONCE(pkg->cpu) != cpu)
		return uncore_nmi_stray(pkg, idle);
	if (!idle && uncore_pmi_handle(pkg, regs))
		return NMI_HANDLED;
	/*
	 * Its overflow was handled together with the one before. Claimed for a while, as
	 * the kernel does it for AMD's counters: it would be an unknown NMI.
	 */
	if (uncore_pmi_expected(pkg)) {
		uncore_unmask_lvtpc();
		return NMI_HANDLED;
	}
	return NMI_DONE;
}

/**
 * uncore_pmi_poll() - handle overflows whether or not a PMI has told
 * @pkg: the package of this CPU; interrupts are off
 *
 * Only on the CPU that serves the package: for others an overflow is one that came too
 * early or too late, and nothing starts the counter again.
 */
void uncore_pmi_poll(struct uncore_pkg *pkg)
{
	if (pkg->pmi && READ_ONCE(pkg->cpu) == smp_processor_id())
		uncore_pmi_handle(pkg, get_irq_regs());
}

/**
 * uncore_pmi_catch() - likewise, of what has happened a moment ago in the call that is here
 * @pkg: the package of this CPU; interrupts are off
 */
void uncore_pmi_catch(struct uncore_pkg *pkg)
{
	struct pt_regs regs;

	perf_fetch_caller_regs(&regs);
	if (pkg->pmi && READ_ONCE(pkg->cpu) == smp_processor_id())
		uncore_pmi_handle(pkg, &regs);
}

static void uncore_stray_remote(void *info)
{
	uncore_pmi_poll(info);
}

static void uncore_stray_work(struct irq_work *work)
{
	struct uncore_pkg *pkg = container_of(work, struct uncore_pkg, stray);
	int cpu = READ_ONCE(pkg->cpu);

	if (cpu >= 0)
		smp_call_function_single_async(cpu, &pkg->stray_csd);
}

/* Without PMI: half the time in which the fastest running counter can wrap. */
static u64 uncore_poll_interval(const struct uncore_pkg *pkg)
{
	const struct uncore_event_desc *desc;
	unsigned int max_inc = 1;
	int id;

	for_each_set_bit(id, &pkg->active, UNCORE_NUM_BOXES) {
		for (desc = pkg->box[id].type->events; desc->name; desc++)
			max_inc = max_t(unsigned int, max_inc, desc->max_inc);
	}
	return BIT_ULL(47) / (max_inc * UNCORE_MAX_CLOCK_GHZ);
}

static u64 uncore_watch_interval(const struct uncore_pkg *pkg)
{
	if (!uncore_pkg_runs(pkg))
		return 0;
	if (!pkg->pmi)
		return uncore_poll_interval(pkg);
	return pkg->sampling || pkg->freezers ? UNCORE_PMI_WATCH_NS : 0;
}

/**
 * uncore_pmi_watch() - run the timer of a package as long and as fast as needed
 * @pkg: the package, locked
 */
void uncore_pmi_watch(struct uncore_pkg *pkg)
{
	u64 interval = uncore_watch_interval(pkg);

	if (interval == pkg->interval)
		return;
	pkg->interval = interval;
	if (interval)
		hrtimer_start(&pkg->timer, ns_to_ktime(interval), HRTIMER_MODE_REL_PINNED_HARD);
	else
		hrtimer_try_to_cancel(&pkg->timer);
}

static enum hrtimer_restart uncore_pmi_timer(struct hrtimer *timer)
{
	struct uncore_pkg *pkg = container_of(timer, struct uncore_pkg, timer);
	enum hrtimer_restart again = HRTIMER_NORESTART;
	unsigned long irq;
	int id;

	raw_spin_lock_irqsave(&pkg->lock, irq);
	/* The timer of a dead CPU goes on elsewhere, maybe on another package. */
	if (pkg->interval && uncore_pkg_of(smp_processor_id()) == pkg) {
		uncore_pmi_poll(pkg);
		if (!pkg->pmi) {
			for_each_set_bit(id, &pkg->active, UNCORE_NUM_BOXES)
				uncore_box_update_all(&pkg->box[id]);
		}
		hrtimer_forward_now(timer, ns_to_ktime(pkg->interval));
		again = HRTIMER_RESTART;
	}
	raw_spin_unlock_irqrestore(&pkg->lock, irq);
	return again;
}

/* Let PMIs through to this CPU, or not. */
static bool uncore_pmi_listen(bool on)
{
	u64 debugctl, val;

	if (rdmsrl_safe(MSR_IA32_DEBUGCTLMSR, &debugctl))
		return false;
	val = on ? debugctl | DEBUGCTL_UNCORE_PMI_EN : debugctl & ~DEBUGCTL_UNCORE_PMI_EN;
	if (val != debugctl && wrmsrl_safe(MSR_IA32_DEBUGCTLMSR, val))
		return false;
	if (on)
		uncore_unmask_lvtpc();
	return !rdmsrl_safe(MSR_IA32_DEBUGCTLMSR, &debugctl) && debugctl == val;
}

/* Counts every clock: no event adds as much as 255 in one. */
#define UNCORE_TEST_EVT_SEL						\
	(FIELD_PREP(C_EVT_SEL_EV_SEL, 0x14) | FIELD_PREP(C_EVT_SEL_UMASK, 0x7) |	\
	 FIELD_PREP(C_EVT_SEL_THRESHOLD, 0xff) | C_EVT_SEL_INVERT |	\
	 C_EVT_SEL_PMI_EN | C_EVT_SEL_EN)

/* Let a counter overflow and see whether an NMI comes of it: that sets @pkg->pmi. */
static void uncore_pmi_test(struct uncore_pkg *pkg, struct uncore_box *box)
{
	unsigned int evt_sel = uncore_evt_sel_msr(box, 0), us;
	unsigned int ctl = uncore_box_ctl_msr(box);
	u64 start = UNCORE_COUNTER_MASK - 1000;

	wrmsr(uncore_ctr_msr(box, 0), lower_32_bits(start), upper_32_bits(start));
	wrmsrl(evt_sel, UNCORE_TEST_EVT_SEL);
	wrmsrl(ctl, 1);
	WRITE_ONCE(pkg->pmi_test, smp_processor_id());
	uncore_pkg_force_ctl(U_GLOBAL_CTL_EN_ALL | pkg->pmi_core_sel);
	for (us = 0; us < 1000 && READ_ONCE(pkg->pmi_test) >= 0; us++)
		udelay(1);
	uncore_pkg_force_ctl(0);
	wrmsrl(ctl, 0);
	uncore_counter_restore(box, 0);
	uncore_box_clear_ov(box, 1);
	wrmsrl(U_MSR_PMON_GLOBAL_OVF_CTL, uncore_global_status());
	WRITE_ONCE(pkg->pmi_test, -1);
}

/**
 * uncore_pmi_setup() - find out whether overflows interrupt this CPU
 * @pkg: its package, probed, without events; this CPU is about to serve it
 *
 * If the manual's core numbers are not the kernel's, all cores are told of an
 * overflow; IA32_DEBUGCTL still keeps it from all CPUs but this one.
 */
void uncore_pmi_setup(struct uncore_pkg *pkg)
{
	unsigned int core = topology_core_id(smp_processor_id());
	int id = find_next_bit(&pkg->present, UNCORE_CBOX + 8, UNCORE_CBOX);

	pkg->pmi = false;
	if (id < UNCORE_CBOX + 8 && uncore_pmi_listen(true)) {
		pkg->pmi_core_sel = core < 8 ? FIELD_PREP(U_GLOBAL_CTL_PMI_CORE_SEL, BIT(core)) : 0;
		uncore_pmi_test(pkg, &pkg->box[id]);
		if (!READ_ONCE(pkg->pmi)) {
			pkg->pmi_core_sel = U_GLOBAL_CTL_PMI_CORE_SEL;
			uncore_pmi_test(pkg, &pkg->box[id]);
		}
	}
	if (!READ_ONCE(pkg->pmi)) {
		uncore_pmi_listen(false);
		pr_info("CPU %u: no interrupt on overflow, a timer reads the counters; no sampling\n",
			smp_processor_id());
	}
}

static void uncore_pmi_listen_remote(void *info)
{
	uncore_pmi_listen(true);
}

/**
 * uncore_pmi_move() - let another CPU of the package get the PMIs
 * @pkg: the package; this CPU has served it
 * @to: the other CPU
 */
void uncore_pmi_move(struct uncore_pkg *pkg, int to)
{
	unsigned long irq;

	if (!pkg->pmi)
		return;
	smp_call_function_single(to, uncore_pmi_listen_remote, NULL, 1);
	raw_spin_lock_irqsave(&pkg->lock, irq);
	/* That the manual's core numbers are the kernel's was tried with one core only. */
	pkg->pmi_core_sel = U_GLOBAL_CTL_PMI_CORE_SEL;
	uncore_pkg_sync(pkg);
	raw_spin_unlock_irqrestore(&pkg->lock, irq);
	uncore_pmi_listen(false);
}

static void uncore_pmi_watch_remote(void *info)
{
	struct uncore_pkg *pkg = info;
	unsigned long irq;

	raw_spin_lock_irqsave(&pkg->lock, irq);
	uncore_pmi_watch(pkg);
	/* A PMI may have found the old CPU deaf already, and nobody else would look. */
	if (pkg->active && !pkg->interval)
		uncore_pmi_poll(pkg);
	raw_spin_unlock_irqrestore(&pkg->lock, irq);
}

/**
 * uncore_pmi_moved() - let the timer of a package follow
 * @pkg: the package; another CPU serves it now
 * @to: that CPU
 */
void uncore_pmi_moved(struct uncore_pkg *pkg, int to)
{
	unsigned long irq;

	hrtimer_cancel(&pkg->timer);
	raw_spin_lock_irqsave(&pkg->lock, irq);
	pkg->interval = 0;
	raw_spin_unlock_irqrestore(&pkg->lock, irq);
	smp_call_function_single(to, uncore_pmi_watch_remote, pkg, 1);
}

/**
 * uncore_pmi_pause() - no PMI for a while
 * @pkg: the package, with en_all off; on the CPU that serves it
 */
void uncore_pmi_pause(const struct uncore_pkg *pkg)
{
	if (pkg->pmi)
		uncore_pmi_listen(false);
}

/** uncore_pmi_resume() - undo uncore_pmi_pause(), or what has become of it */
void uncore_pmi_resume(const struct uncore_pkg *pkg)
{
	if (pkg->pmi)
		uncore_pmi_listen(true);
}

/**
 * uncore_pmi_teardown() - no PMI any more
 * @pkg: the package; on the CPU that serves it
 */
void uncore_pmi_teardown(struct uncore_pkg *pkg)
{
	uncore_pmi_pause(pkg);
	pkg->pmi = false;
}

void uncore_pmi_pkg_init(struct uncore_pkg *pkg)
{
	pkg->pmi_test = -1;
	hrtimer_init(&pkg->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	pkg->timer.function = uncore_pmi_timer;
	init_irq_work(&pkg->stray, uncore_stray_work);
	INIT_CSD(&pkg->stray_csd, uncore_stray_remote, pkg);
}

/** uncore_can_sample() - can overflows be handed to perf? */
bool uncore_can_sample(void)
{
	return uncore_overflow;
}

/* A kprobe knows addresses that are not exported. */
static void uncore_find_overflow(void)
{
	struct kprobe probe = { .symbol_name = "perf_event_overflow" };
	int err = register_kprobe(&probe);

	if (err) {
		pr_info("cannot find perf_event_overflow() (%d): no sampling\n", err);
		return;
	}
	uncore_overflow = (void *)probe.addr;
	unregister_kprobe(&probe);
}

/** uncore_pmi_init() - listen to NMIs; before any package is probed */
int uncore_pmi_init(void)
{
	uncore_find_overflow();
	return register_nmi_handler(NMI_LOCAL, uncore_nmi, 0, KBUILD_MODNAME);
}

/** uncore_pmi_exit() - undo uncore_pmi_init(); after uncore_pkgs_restore() */
void uncore_pmi_exit(void)
{
	unregister_nmi_handler(NMI_LOCAL, KBUILD_MODNAME);
}
