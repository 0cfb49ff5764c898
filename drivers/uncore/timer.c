// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is looked after while events count: that registers are as we have set them, and
 * that no counter passes 2^48 between two reads.
 */
#include <asm/msr.h>

#include "compat.h"
#include "timer.h"
#include "xeon7500/ubox.h"

#define UNCORE_TIMER_NS		NSEC_PER_SEC

/*
 * No counter gains more than 64 per uncore clock (S-Box queue occupancy), and no uncore
 * clock reaches 4 GHz: half of 2^48 takes 549 s.
 */
#define UNCORE_READ_TICKS	256

/* Is what counts still as we have set it? */
static void uncore_timer_check(struct uncore_package *pkg)
{
	u32 may_differ = pkg->freezing ? U_GLOBAL_CTL_EN_ALL : 0;
	u64 ctl;
	int id;

	rdmsrq(U_MSR_PMON_GLOBAL_CTL, ctl);
	if ((ctl ^ pkg->global_ctl) & ~may_differ) {
		uncore_box_foreign(&pkg->box[UNCORE_UBOX], U_MSR_PMON_GLOBAL_CTL);
		uncore_package_write_ctl(pkg);
	}
	for_each_set_bit(id, &pkg->active, UNCORE_NUM_BOXES)
		uncore_box_check(&pkg->box[id]);
}

static enum hrtimer_restart uncore_timer(struct hrtimer *timer)
{
	struct uncore_package *pkg = container_of(timer, struct uncore_package, timer);
	enum hrtimer_restart again = HRTIMER_NORESTART;
	unsigned long irq;

	raw_spin_lock_irqsave(&pkg->lock, irq);
	/* The timer of a dead CPU goes on elsewhere, maybe on another package. */
	if (pkg->active && pkg->cpu == smp_processor_id()) {
		uncore_timer_check(pkg);
		if (!(++pkg->ticks % UNCORE_READ_TICKS))
			uncore_package_update_all(pkg);
		hrtimer_forward_now(timer, ns_to_ktime(UNCORE_TIMER_NS));
		again = HRTIMER_RESTART;
	}
	raw_spin_unlock_irqrestore(&pkg->lock, irq);
	return again;
}

/**
 * uncore_timer_start() - let the timer run if anything counts; it ends by itself
 * @pkg: the package of this CPU
 */
void uncore_timer_start(struct uncore_package *pkg)
{
	if (pkg->active && !hrtimer_active(&pkg->timer) && pkg->cpu == smp_processor_id())
		hrtimer_start(&pkg->timer, ns_to_ktime(UNCORE_TIMER_NS),
			      HRTIMER_MODE_REL_PINNED_HARD);
}

/** uncore_timer_cancel() - stop the timer; the package has another CPU now, or none */
void uncore_timer_cancel(struct uncore_package *pkg)
{
	hrtimer_cancel(&pkg->timer);
}

/** uncore_timer_init() - before the package is used */
void uncore_timer_init(struct uncore_package *pkg)
{
	hrtimer_setup(&pkg->timer, uncore_timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
}
