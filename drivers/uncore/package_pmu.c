// SPDX-License-Identifier: GPL-2.0-only
/*
 * xeon7500_package: events of a whole package that the driver counts itself.
 *
 * gate: holds the package back, so that counters of any boxes start and stop together.
 * While a gate of the package exists that is not enabled, en_all is 0, and events can be enabled
 * in any order. Enabling the last gate starts all counters with one write, disabling the first
 * gate stops them with one write. perf stat enables and disables events in the order of its command
 * line, so one gate at each end does both:
 *
 *	perf stat -a -e xeon7500_package/gate/,xeon7500_cbox/llc_misses.all/,\
 *		xeon7500_wbox/uncore_clock/,xeon7500_package/gate/ sleep 1
 *
 * The count of a gate is the time in which it was open, ns. While it is not enabled, a gate holds
 * back all users of the package, which shows as running < enabled. It ends with its file
 * descriptor, or when the package loses its last CPU. When another CPU takes over the package, all
 * counters stop and start together; but perf enables the events it moves, and so opens closed
 * gates. A gate needs CAP_PERFMON, unless the module parameter unprivileged_hold is set.
 *
 * frozen: how long the package was stopped because an overflow was being handled, ns, from the
 * moment when the handler has locked the package. The time between the overflow and that moment
 * is not included.
 *
 * lost: overflows of sampling events that gave no sample, because perf was removing the event at
 * the same moment, and it had a limit (REFRESH) or samples had already taken 6 ms since the watch.
 *
 *	perf stat -a -e xeon7500_package/frozen/,xeon7500_package/lost/ sleep 1
 */
#include <linux/capability.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "compat.h"
#include "uncore.h"

enum {
	UNCORE_GATE	= 1,
	UNCORE_FROZEN	= 2,
	UNCORE_LOST	= 3,
};

/* The package of an event, and for a gate the generation in which it was made. */
struct uncore_package_event {
	struct uncore_package *pkg;
	unsigned int generation;
	bool counts;
};

static struct uncore_package_event *to_package_event(const struct perf_event *event)
{
	return event->pmu_private;
}

static u64 uncore_package_value(const struct perf_event *event)
{
	struct uncore_package *pkg = to_package_event(event)->pkg;

	switch (event->attr.config) {
	case UNCORE_FROZEN:
		return atomic64_read(&pkg->totals.frozen_ns);
	case UNCORE_LOST:
		return atomic64_read(&pkg->totals.lost);
	default:
		return local_clock();
	}
}

static void uncore_package_event_read(struct perf_event *event)
{
	s64 prev, now;

	if (!to_package_event(event)->counts)
		return;
	do {
		prev = local64_read(&event->hw.prev_count);
		now = uncore_package_value(event);
	} while (local64_cmpxchg(&event->hw.prev_count, prev, now) != prev);
	local64_add(now - prev, &event->count);
}

/*
 * Gates of a package that has lost its last CPU are gone already. A gate is made and closed from
 * any CPU, but a CPU takes no lock of another package: in an NMI it waits for that of its own.
 */
static bool uncore_gate_is_there(const struct uncore_package_event *pe)
{
	return pe->generation == pe->pkg->hold.generation;
}

/* Also if en_all has not changed: in an idle package another program may have set it. */
static void uncore_gate_comes(void *info)
{
	struct uncore_package_event *pe = info;
	struct uncore_package *pkg = pe->pkg;

	uncore_lock(pkg);
	pe->generation = pkg->hold.generation;
	pkg->hold.gates++;
	uncore_package_write_ctl(pkg);
	uncore_unlock(pkg);
}

static void uncore_gate_goes(void *info)
{
	struct uncore_package_event *pe = info;
	struct uncore_package *pkg = pe->pkg;

	uncore_lock(pkg);
	pkg->hold.gates -= uncore_gate_is_there(pe);
	uncore_package_apply(pkg, pkg->used);
	uncore_unlock(pkg);
}

/*
 * In a package without a CPU no counter runs, and no NMI waits for the lock. Returns false if it
 * has one again.
 */
static bool uncore_gate_goes_without_cpu(struct uncore_package_event *pe)
{
	struct uncore_package *pkg = pe->pkg;
	unsigned long irq;
	bool alone;

	raw_spin_lock_irqsave(&pkg->lock, irq);
	alone = READ_ONCE(pkg->cpu) < 0;
	if (alone)
		pkg->hold.gates -= uncore_gate_is_there(pe);
	raw_spin_unlock_irqrestore(&pkg->lock, irq);
	return alone;
}

static void uncore_gate_opens(struct uncore_package_event *pe, int open)
{
	uncore_lock(pe->pkg);
	if (uncore_gate_is_there(pe))
		pe->pkg->hold.open += open;
	uncore_unlock(pe->pkg);
}

/**
 * uncore_gates_forget() - the package has lost its last CPU
 * @pkg: the package
 *
 * perf never opens again a gate that it has to close now.
 */
void uncore_gates_forget(struct uncore_package *pkg)
{
	unsigned long irq;

	raw_spin_lock_irqsave(&pkg->lock, irq);
	pkg->hold.gates = 0;
	pkg->hold.open = 0;
	pkg->hold.generation++;
	raw_spin_unlock_irqrestore(&pkg->lock, irq);
}

static int uncore_package_event_add(struct perf_event *event, int flags)
{
	struct uncore_package_event *pe = to_package_event(event);

	local64_set(&event->hw.prev_count, uncore_package_value(event));
	pe->counts = true;
	/* Written when the batch ends: perf removes all events whenever one comes. */
	if (event->attr.config == UNCORE_GATE)
		uncore_gate_opens(pe, 1);
	return 0;
}

static void uncore_package_event_del(struct perf_event *event, int flags)
{
	struct uncore_package_event *pe = to_package_event(event);

	if (event->attr.config == UNCORE_GATE)
		uncore_gate_opens(pe, -1);
	uncore_package_event_read(event);
	pe->counts = false;
}

/* perf stops an event, other than at del, only if it throttles another one of the group. */
static void uncore_package_event_go_on(struct perf_event *event, int flags)
{
}

static void uncore_package_pmu_disable(struct pmu *pmu)
{
}

static void uncore_package_pmu_enable(struct pmu *pmu)
{
	struct uncore_package *pkg = uncore_package_of(smp_processor_id());

	if (!pkg)
		return;
	uncore_lock(pkg);
	uncore_package_apply(pkg, pkg->used);
	uncore_unlock(pkg);
}

static void uncore_package_event_destroy(struct perf_event *event)
{
	struct uncore_package_event *pe = to_package_event(event);

	if (event->attr.config == UNCORE_GATE) {
		while (uncore_package_call(pe->pkg, uncore_gate_goes, pe) &&
		       !uncore_gate_goes_without_cpu(pe))
			;
	}
	kfree(pe);
}

static int uncore_package_event_make(struct perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;
	struct uncore_package_event *pe;
	struct uncore_package *pkg;
	int err, cpu;

	if (attr->type != event->pmu->type)
		return -ENOENT;
	err = uncore_check_attr(event);
	if (err)
		return err;
	if (is_sampling_event(event))
		return uncore_refuse(event, -EOPNOTSUPP, "does not overflow");
	if (attr->config < UNCORE_GATE || attr->config > UNCORE_LOST || attr->config1 ||
	    attr->config2 || perf_attr_config_rest(attr))
		return uncore_refuse(event, -EINVAL, "no such event");
	if (attr->config == UNCORE_GATE && !perfmon_capable() && !uncore_unprivileged_hold)
		return uncore_refuse(event, -EACCES, "a gate holds back others: needs CAP_PERFMON");
	pkg = uncore_package_of(event->cpu);
	cpu = pkg ? READ_ONCE(pkg->cpu) : -1;
	if (cpu < 0)
		return uncore_refuse(event, -ENODEV, "CPU %d: its package has no PMU", event->cpu);
	event->cpu = cpu;
	err = uncore_check_room(event);
	if (err)
		return err;

	pe = kzalloc(sizeof(*pe), GFP_KERNEL);
	if (!pe)
		return -ENOMEM;
	pe->pkg = pkg;
	if (attr->config == UNCORE_GATE && uncore_package_call(pkg, uncore_gate_comes, pe)) {
		kfree(pe);
		return uncore_refuse(event, -ENODEV, "CPU %d: its package has no PMU", event->cpu);
	}
	event->pmu_private = pe;
	event->destroy = uncore_package_event_destroy;
	return 0;
}

static int uncore_package_event_init(struct perf_event *event)
{
	int err;

	lock_map_acquire(&uncore_perf_map);
	err = uncore_package_event_make(event);
	lock_map_release(&uncore_perf_map);
	return err;
}

PMU_FORMAT_ATTR(event, "config:0-7");

static struct attribute *uncore_package_formats[] = {
	&format_attr_event.attr,
	NULL
};

static const struct attribute_group uncore_package_format_group = {
	.name = "format",
	.attrs = uncore_package_formats,
};

PMU_EVENT_ATTR_STRING(gate, uncore_event_gate, "event=0x1");
PMU_EVENT_ATTR_STRING(gate.unit, uncore_event_gate_unit, "ns");
PMU_EVENT_ATTR_STRING(frozen, uncore_event_frozen, "event=0x2");
PMU_EVENT_ATTR_STRING(frozen.unit, uncore_event_frozen_unit, "ns");
PMU_EVENT_ATTR_STRING(lost, uncore_event_lost, "event=0x3");

static struct attribute *uncore_package_event_attrs[] = {
	&uncore_event_gate.attr.attr,
	&uncore_event_gate_unit.attr.attr,
	&uncore_event_frozen.attr.attr,
	&uncore_event_frozen_unit.attr.attr,
	&uncore_event_lost.attr.attr,
	NULL
};

static const struct attribute_group uncore_package_event_group = {
	.name = "events",
	.attrs = uncore_package_event_attrs,
};

static const struct attribute_group *uncore_package_groups[] = {
	&uncore_package_format_group,
	&uncore_package_event_group,
	&uncore_package_caps_group,
	&uncore_package_group,
	NULL
};

struct pmu uncore_package_pmu = {
	.module		= THIS_MODULE,
	.attr_groups	= uncore_package_groups,
	.task_ctx_nr	= perf_invalid_context,
	.event_init	= uncore_package_event_init,
	.add		= uncore_package_event_add,
	.del		= uncore_package_event_del,
	.start		= uncore_package_event_go_on,
	.stop		= uncore_package_event_go_on,
	.read		= uncore_package_event_read,
	.pmu_enable	= uncore_package_pmu_enable,
	.pmu_disable	= uncore_package_pmu_disable,
};
