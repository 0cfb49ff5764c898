// SPDX-License-Identifier: GPL-2.0-only
/*
 * PMIs: who gets them, and what if they do not come.
 *
 * The handler runs in NMI, and everything it touches is guarded by the lock of the
 * package. If it cannot have that at once, the work is done as soon as interrupts are on
 * again. While anything can interrupt, a timer looks every 10 ms for what a PMI should
 * have told.
 */
#include <linux/irq_work.h>
#include <linux/slab.h>
#include <asm/irq_regs.h>
#include <asm/mach_traps.h>
#include <asm/nmi.h>
#include <asm/x86_init.h>

#include "compat.h"
#include "delivery.h"
#include "overflow.h"
#include "pmi.h"
#include "spurious.h"
#include "timer.h"

/* How long a lost PMI can keep a sampling session silent, or the package frozen. */
#define UNCORE_PMI_WATCH_NS	(10 * NSEC_PER_MSEC)

/**
 * struct uncore_pmi - overflows of one package
 * @pkg: the package
 * @spurious: NMIs that may come with nothing left to handle
 * @watch: looks for what the PMI should have brought
 * @deferred: handler whose NMI found the package locked
 */
struct uncore_pmi {
	struct uncore_package *pkg;
	struct uncore_spurious spurious;
	struct hrtimer watch;
	struct irq_work deferred;
};

/* Are PMIs to be let in? */
static bool uncore_pmi_wanted(const struct uncore_package *pkg)
{
	return pkg->interrupting && !pkg->gates.asleep;
}

/* Outside of the NMI that told of it, so that this may be still to come. */
static void uncore_pmi_poll_regs(struct uncore_package *pkg, struct pt_regs *regs)
{
	unsigned int pmis;

	if (!pkg->freezing && !uncore_global_status())
		return;
	uncore_spurious_expect(&pkg->pmi->spurious, 1);
	uncore_overflow_handle(pkg, regs, &pmis);
	if (pmis > 1)
		uncore_spurious_expect(&pkg->pmi->spurious, pmis - 1);
}

/**
 * uncore_pmi_poll() - handle overflows whether or not a PMI has told
 * @pkg: the package, locked
 */
void uncore_pmi_poll(struct uncore_package *pkg)
{
	struct pt_regs regs;

	if (!pkg->interrupting)
		return;
	perf_fetch_caller_regs(&regs);
	uncore_pmi_poll_regs(pkg, &regs);
}

/**
 * uncore_pmi_deliver() - the samples that events of a box owe
 * @pkg: the package, locked
 * @box: the box
 */
void uncore_pmi_deliver(struct uncore_package *pkg, struct uncore_box *box)
{
	if (!pkg->interrupting || !uncore_overflow_deliver(pkg, box))
		return;
	uncore_spurious_expect(&pkg->pmi->spurious, 1);
	uncore_pmi_poll(pkg);
}

/**
 * uncore_pmi_settle() - carry out what was added to a box and deleted
 * @pkg: the package, locked
 * @box: the box
 * @program: also what was added
 */
void uncore_pmi_settle(struct uncore_package *pkg, struct uncore_box *box, bool program)
{
	u32 left;

	/* Before en_all goes on. */
	if (uncore_pmi_wanted(pkg) && !pkg->global_ctl && pkg->cpu == smp_processor_id())
		uncore_delivery_listen(true);
	left = uncore_package_commit(pkg, box, program);
	uncore_pmi_deliver(pkg, box);
	if (left)
		uncore_package_release(pkg, box, left);
	uncore_timer_start(pkg);
	uncore_pmi_watch(pkg);
}

/*
 * An NMI of which nothing is to be seen: that of an overflow which was handled together
 * with another or without waiting for it, or none of ours. The dump button and the chipset
 * are not to be kept from being heard.
 */
static int uncore_nmi_spurious(struct uncore_package *pkg)
{
	if (x86_platform.get_nmi_reason() & NMI_REASON_MASK ||
	    !uncore_spurious_take(&pkg->pmi->spurious))
		return NMI_DONE;
	atomic64_inc(&pkg->totals.swallowed);
	uncore_delivery_unmask();
	return NMI_HANDLED;
}

/* It has interrupted whoever has the lock, or another CPU has it for a moment. */
static int uncore_nmi_busy(struct uncore_package *pkg)
{
	if (!uncore_global_status())
		return uncore_nmi_spurious(pkg);
	uncore_delivery_unmask();
	irq_work_queue(&pkg->pmi->deferred);
	return NMI_HANDLED;
}

/*
 * The CPU does not serve the package, or has just ceased to. If it lets PMIs in, that is
 * somebody else's doing and nobody's use: this NMI is taken for one, and no more come.
 */
static int uncore_nmi_elsewhere(struct uncore_package *pkg)
{
	if (!uncore_delivery_listening())
		return pkg->gates.moving ? uncore_nmi_spurious(pkg) : NMI_DONE;
	if (x86_platform.get_nmi_reason() & NMI_REASON_MASK)
		return NMI_DONE;
	uncore_delivery_listen(false);
	uncore_delivery_unmask();
	return NMI_HANDLED;
}

/* All NMIs of all CPUs pass here. Without events that interrupt they cost no access. */
static int uncore_nmi(unsigned int cmd, struct pt_regs *regs)
{
	int cpu = smp_processor_id();
	struct uncore_package *pkg = uncore_package_of(cpu);
	unsigned int pmis;
	bool handled;

	if (!pkg)
		return NMI_DONE;
	if (uncore_delivery_nmi()) {
		/* The next round may not have overflowed yet. */
		uncore_spurious_again(&pkg->pmi->spurious);
		return NMI_HANDLED;
	}
	if (!READ_ONCE(pkg->interrupting) && !uncore_spurious_expected(&pkg->pmi->spurious))
		return NMI_DONE;
	if (READ_ONCE(pkg->cpu) != cpu)
		return uncore_nmi_elsewhere(pkg);
	if (!raw_spin_trylock(&pkg->lock))
		return uncore_nmi_busy(pkg);
	handled = uncore_overflow_handle(pkg, regs, &pmis);
	/* Each has brought an NMI of its own, and this was one of them. */
	if (pmis > 1)
		uncore_spurious_expect(&pkg->pmi->spurious, pmis - 1);
	if (pmis)
		uncore_spurious_again(&pkg->pmi->spurious);
	raw_spin_unlock(&pkg->lock);
	return handled ? NMI_HANDLED : uncore_nmi_spurious(pkg);
}

static void uncore_pmi_deferred(struct irq_work *work)
{
	struct uncore_pmi *pmi = container_of(work, struct uncore_pmi, deferred);
	struct uncore_package *pkg = pmi->pkg;
	unsigned long irq;

	raw_spin_lock_irqsave(&pkg->lock, irq);
	if (pkg->cpu == smp_processor_id())
		uncore_pmi_poll(pkg);
	raw_spin_unlock_irqrestore(&pkg->lock, irq);
}

static enum hrtimer_restart uncore_pmi_timer(struct hrtimer *timer)
{
	struct uncore_pmi *pmi = container_of(timer, struct uncore_pmi, watch);
	enum hrtimer_restart again = HRTIMER_NORESTART;
	struct uncore_package *pkg = pmi->pkg;
	unsigned long irq;

	raw_spin_lock_irqsave(&pkg->lock, irq);
	/* The timer of a dead CPU goes on elsewhere, maybe on another package. */
	if (pkg->cpu != smp_processor_id())
		goto unlock;
	uncore_delivery_listen(uncore_pmi_wanted(pkg));
	if (uncore_pmi_wanted(pkg))
		uncore_pmi_poll_regs(pkg, get_irq_regs());
	if (uncore_pmi_wanted(pkg) || uncore_spurious_expected(&pmi->spurious)) {
		hrtimer_forward_now(timer, ns_to_ktime(UNCORE_PMI_WATCH_NS));
		again = HRTIMER_RESTART;
	} else {
		/* So that it is no work to see that none is expected. */
		pmi->spurious = (struct uncore_spurious){};
	}
unlock:
	raw_spin_unlock_irqrestore(&pkg->lock, irq);
	return again;
}

/**
 * uncore_pmi_watch() - let PMIs in and watch over them, as long as there can be any
 * @pkg: the package, locked
 *
 * The watch ends by itself and then keeps PMIs out again.
 */
void uncore_pmi_watch(struct uncore_package *pkg)
{
	struct uncore_pmi *pmi = pkg->pmi;

	if (!uncore_pmi_wanted(pkg) && !uncore_spurious_expected(&pmi->spurious))
		return;
	if (hrtimer_active(&pmi->watch) || pkg->cpu != smp_processor_id())
		return;
	uncore_delivery_listen(uncore_pmi_wanted(pkg));
	hrtimer_start(&pmi->watch, ns_to_ktime(UNCORE_PMI_WATCH_NS), HRTIMER_MODE_REL_PINNED_HARD);
}

/**
 * uncore_pmi_expect() - claim NMIs that may come with nothing left to handle
 * @pkg: the package, locked
 * @num: so many
 */
void uncore_pmi_expect(struct uncore_package *pkg, unsigned int num)
{
	uncore_spurious_expect(&pkg->pmi->spurious, num);
	uncore_pmi_watch(pkg);
}

/**
 * uncore_pmi_quiesce() - let nothing interrupt until uncore_pmi_resume()
 * @pkg: the package, locked
 *
 * What has overflowed is handled. Counters whose events do not interrupt go on.
 */
void uncore_pmi_quiesce(struct uncore_package *pkg)
{
	int id;

	for (id = 0; id < UNCORE_NUM_BOXES; id++)
		pkg->box[id].quiet = true;
	uncore_package_apply_all(pkg);
	uncore_pmi_poll(pkg);
	uncore_delivery_listen(false);
}

/**
 * uncore_pmi_resume() - undo uncore_pmi_quiesce(), maybe on another CPU
 * @pkg: the package, locked
 */
void uncore_pmi_resume(struct uncore_package *pkg)
{
	int id;

	for (id = 0; id < UNCORE_NUM_BOXES; id++)
		pkg->box[id].quiet = false;
	uncore_package_apply_all(pkg);
	uncore_timer_start(pkg);
	uncore_pmi_watch(pkg);
}

/**
 * uncore_pmi_cancel() - stop the watch
 * @pkg: the package, whose CPU no PMI can reach any more
 */
void uncore_pmi_cancel(struct uncore_package *pkg)
{
	hrtimer_cancel(&pkg->pmi->watch);
	irq_work_sync(&pkg->pmi->deferred);
}

static int uncore_pmi_alloc(struct uncore_package *pkg)
{
	struct uncore_pmi *pmi = kzalloc(sizeof(*pmi), GFP_KERNEL);

	if (!pmi)
		return -ENOMEM;
	uncore_timer_init(pkg);
	pmi->pkg = pkg;
	hrtimer_setup(&pmi->watch, uncore_pmi_timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	init_irq_work(&pmi->deferred, uncore_pmi_deferred);
	pkg->pmi = pmi;
	return 0;
}

static void uncore_pmi_free(void)
{
	struct uncore_package *pkg;

	for (pkg = uncore_package_next(NULL); pkg; pkg = uncore_package_next(pkg)) {
		kfree(pkg->pmi);
		pkg->pmi = NULL;
	}
}

/** uncore_pmi_init() - get ready for PMIs; no event exists yet. Returns 0 or an errno */
int uncore_pmi_init(void)
{
	struct uncore_package *pkg;
	int err = 0;

	uncore_overflow_init();
	for (pkg = uncore_package_next(NULL); pkg; pkg = uncore_package_next(pkg)) {
		if (!err)
			err = uncore_pmi_alloc(pkg);
	}
	if (!err)
		err = register_nmi_handler(NMI_LOCAL, uncore_nmi, 0, KBUILD_MODNAME);
	if (err)
		uncore_pmi_free();
	return err;
}

static void uncore_pmi_stop(void *info)
{
	struct uncore_package *pkg = info;

	if (hrtimer_active(&pkg->pmi->watch))
		uncore_delivery_listen(false);
}

/** uncore_pmi_exit() - undo uncore_pmi_init(); no event is left */
void uncore_pmi_exit(void)
{
	struct uncore_package *pkg;

	for (pkg = uncore_package_next(NULL); pkg; pkg = uncore_package_next(pkg)) {
		uncore_package_call(pkg, uncore_pmi_stop);
		uncore_pmi_cancel(pkg);
		uncore_timer_cancel(pkg);
	}
	unregister_nmi_handler(NMI_LOCAL, KBUILD_MODNAME);
	uncore_pmi_free();
}
