// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of the U-Box PMU that no counter of the hardware serves.
 *
 * gate: holds a whole package back, so that counters of any boxes start and stop
 * together. While a gate of the package exists and not every one of them is enabled,
 * en_all is off: counters can be armed in any order and at leisure. Enabling the last
 * gate starts all of them with one write, disabling the first stops them with one.
 * perf stat enables and disables events in the order of its command line, so one gate
 * at each end does both:
 *
 *	perf stat -a -e xeon7500_ubox/gate/,xeon7500_cbox/llc_misses.all/,\
 *		xeon7500_wbox/uncore_clock/,xeon7500_ubox/gate/ sleep 1
 *
 * The count of a gate is how long it was open, ns. A gate holds back everybody who
 * counts on the package; it is gone when its file descriptor is, and when the package
 * loses its last CPU. When the package changes its CPU, everything stops and starts
 * together; but perf enables the events it moves, and so opens closed gates.
 *
 * frozen: how long the package stood still because an overflow was being handled, ns,
 * from the entry of the handler on. What passed between the overflow and the handler
 * is not in it.
 *
 * lost: overflows of sampling events that gave no sample, because the PMI reached another
 * CPU, or because perf was just taking away an event with a limit (REFRESH).
 */
#include "uncore.h"

/* The third field of the U-Box. */
enum uncore_soft uncore_soft_of(const struct perf_event *event)
{
	if (to_uncore_pmu(event->pmu)->type != &ubox_type)
		return UNCORE_SOFT_NONE;
	return uncore_field_get(&ubox_type.fields[2], &event->attr);
}

static u64 uncore_soft_value(const struct perf_event *event, const struct uncore_pkg *pkg)
{
	switch (to_uncore_event(event)->soft) {
	case UNCORE_SOFT_FROZEN:
		return atomic64_read(&pkg->frozen_ns);
	case UNCORE_SOFT_LOST:
		return atomic64_read(&pkg->lost);
	default:
		return ktime_get_mono_fast_ns();
	}
}

static void uncore_soft_sync(void *info)
{
	struct uncore_pkg *pkg = info;
	unsigned long irq;

	raw_spin_lock_irqsave(&pkg->lock, irq);
	uncore_pkg_sync(pkg);
	raw_spin_unlock_irqrestore(&pkg->lock, irq);
}

/* A gate comes or goes; those of a package that has lost all its CPUs are gone already. */
static void uncore_gates_change(struct uncore_pkg *pkg, struct uncore_event *ue, int by)
{
	unsigned long irq;

	raw_spin_lock_irqsave(&pkg->lock, irq);
	if (by > 0)
		ue->gate_era = pkg->gate_era;
	if (ue->gate_era == pkg->gate_era)
		pkg->gates += by;
	raw_spin_unlock_irqrestore(&pkg->lock, irq);
	/* Without a CPU nothing runs, and en_all is off anyway. */
	smp_call_function_single(READ_ONCE(pkg->cpu), uncore_soft_sync, pkg, 1);
}

void uncore_soft_init(struct perf_event *event, struct uncore_pkg *pkg)
{
	struct uncore_event *ue = to_uncore_event(event);

	if (ue->soft == UNCORE_SOFT_GATE)
		uncore_gates_change(pkg, ue, 1);
}

void uncore_soft_destroy(struct perf_event *event)
{
	struct uncore_event *ue = to_uncore_event(event);

	if (ue->soft == UNCORE_SOFT_GATE)
		uncore_gates_change(uncore_pkg_of(event->cpu), ue, -1);
}

/**
 * uncore_soft_forget() - the package loses its last CPU
 * @pkg: the package
 *
 * perf never opens a gate again that it has to close now.
 */
void uncore_soft_forget(struct uncore_pkg *pkg)
{
	unsigned long irq;

	raw_spin_lock_irqsave(&pkg->lock, irq);
	pkg->gates = 0;
	pkg->gate_era++;
	raw_spin_unlock_irqrestore(&pkg->lock, irq);
}

/*
 * Whether all gates are open counts when the batch is committed: perf takes the
 * events of a PMU away and puts them back whenever one of them comes.
 */
void uncore_soft_start(struct perf_event *event, struct uncore_pkg *pkg)
{
	struct uncore_event *ue = to_uncore_event(event);

	/* What got lost while it was on its way counts, too. */
	if (!ue->moved || ue->soft != UNCORE_SOFT_LOST)
		local64_set(&event->hw.prev_count, uncore_soft_value(event, pkg));
	ue->moved = false;
	event->hw.state = 0;
	if (ue->soft == UNCORE_SOFT_GATE)
		pkg->gates_open++;
}

void uncore_soft_add(struct perf_event *event, struct uncore_pkg *pkg, bool start)
{
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (start)
		uncore_soft_start(event, pkg);
}

void uncore_soft_stop(struct perf_event *event, struct uncore_pkg *pkg)
{
	if (event->hw.state & PERF_HES_STOPPED)
		return;
	uncore_soft_read(event, pkg);
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	to_uncore_event(event)->moved = READ_ONCE(pkg->moving);
	if (to_uncore_event(event)->soft == UNCORE_SOFT_GATE)
		pkg->gates_open--;
}

void uncore_soft_read(struct perf_event *event, struct uncore_pkg *pkg)
{
	u64 prev, now;

	do {
		prev = local64_read(&event->hw.prev_count);
		now = uncore_soft_value(event, pkg);
	} while (local64_cmpxchg(&event->hw.prev_count, prev, now) != prev);
	local64_add(now - prev, &event->count);
}
