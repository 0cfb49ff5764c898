// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packages: the U-Box hierarchy above the boxes, and the CPU that serves it.
 *
 * U_GLOBAL_CTL concerns every counter of the package, so it has one writer, here.
 * en_all goes on with the first counter that is to run and off with the last.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpumask.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include <asm/msr.h>

#include "uncore.h"
#include "xeon7500/ubox.h"

static struct uncore_pkg **uncore_pkgs;
static unsigned int uncore_num_pkgs;

/**
 * uncore_pkg_of() - the package a CPU belongs to
 * @cpu: the CPU, online
 *
 * Return: the package, or NULL if there are more than the kernel knew of when the
 * module was loaded.
 */
struct uncore_pkg *uncore_pkg_of(int cpu)
{
	unsigned int id = topology_logical_package_id(cpu);

	return id < uncore_num_pkgs ? uncore_pkgs[id] : NULL;
}

/* Boxes that stopped together with the package still have their ctr_en bits. */
static void uncore_pkg_clear_stale(struct uncore_pkg *pkg)
{
	int id;

	for_each_set_bit(id, &pkg->present, UNCORE_NUM_BOXES)
		uncore_box_write_enable(&pkg->box[id]);
}

/**
 * uncore_pkg_runs() - is en_all to be on?
 * @pkg: the package
 *
 * With a counter to run, unless a gate is closed or the system is about to sleep.
 */
bool uncore_pkg_runs(const struct uncore_pkg *pkg)
{
	return pkg->active && pkg->gates_open == pkg->gates && !pkg->asleep;
}

static u32 uncore_pkg_wanted_ctl(const struct uncore_pkg *pkg)
{
	u32 val;

	if (!uncore_pkg_runs(pkg))
		return 0;
	val = U_GLOBAL_CTL_EN_ALL;
	if (READ_ONCE(pkg->box[UNCORE_UBOX].enabled))
		val |= U_GLOBAL_CTL_EN;
	if (pkg->pmi)
		val |= pkg->pmi_core_sel;
	if (pkg->freezers)
		val |= U_GLOBAL_CTL_FRZ_ALL;
	return val;
}

/**
 * uncore_pkg_write_ctl() - write U_GLOBAL_CTL as it is to be
 * @pkg: the package
 *
 * Also ends a freeze. Safe in NMI: see uncore_box_write_enable().
 */
void uncore_pkg_write_ctl(struct uncore_pkg *pkg)
{
	u32 val;

	do {
		val = uncore_pkg_wanted_ctl(pkg);
		WRITE_ONCE(pkg->global_ctl, val);
		wrmsrl(U_MSR_PMON_GLOBAL_CTL, val);
	} while (uncore_pkg_wanted_ctl(pkg) != val);
}

/**
 * uncore_pkg_force_ctl() - write U_GLOBAL_CTL of this CPU's package for the moment
 * @val: the value
 *
 * Not known to the rest of the driver, so to be ended by uncore_pkg_write_ctl(), or by
 * 0 where nothing is to run.
 */
void uncore_pkg_force_ctl(u32 val)
{
	wrmsrl(U_MSR_PMON_GLOBAL_CTL, val);
}

/**
 * uncore_pkg_sync() - make U_GLOBAL_CTL say what boxes and gates want
 * @pkg: the package, locked
 */
void uncore_pkg_sync(struct uncore_pkg *pkg)
{
	bool was_running = pkg->global_ctl & U_GLOBAL_CTL_EN_ALL;

	if (uncore_pkg_runs(pkg) && !was_running)
		uncore_pkg_clear_stale(pkg);
	if (uncore_pkg_wanted_ctl(pkg) != pkg->global_ctl)
		uncore_pkg_write_ctl(pkg);
	/* It depends on more than U_GLOBAL_CTL shows. */
	uncore_pmi_watch(pkg);
}

/**
 * uncore_pkgs_create() - make an empty object for each possible package
 * @types: the kinds of box, NULL-terminated
 *
 * Return: 0 or -ENOMEM.
 */
int uncore_pkgs_create(const struct uncore_box_type * const *types)
{
	unsigned int num = topology_max_packages();
	unsigned int i, n;

	uncore_pkgs = kcalloc(num, sizeof(*uncore_pkgs), GFP_KERNEL);
	if (!uncore_pkgs)
		return -ENOMEM;
	for (i = 0; i < num; i++) {
		const struct uncore_box_type * const *type;
		struct uncore_pkg *pkg = kzalloc(sizeof(*pkg), GFP_KERNEL);

		if (!pkg)
			return -ENOMEM;
		raw_spin_lock_init(&pkg->lock);
		pkg->cpu = -1;
		uncore_pmi_pkg_init(pkg);
		for (type = types; *type; type++) {
			for (n = 0; n < (*type)->num_boxes; n++)
				uncore_box_init(&pkg->box[(*type)->first + n], pkg, *type, n);
		}
		uncore_pkgs[i] = pkg;
		uncore_num_pkgs = i + 1;
	}
	return 0;
}

/** uncore_pkgs_free() - undo uncore_pkgs_create(); no PMU may be left */
void uncore_pkgs_free(void)
{
	while (uncore_num_pkgs) {
		struct uncore_pkg *pkg = uncore_pkgs[--uncore_num_pkgs];

		hrtimer_cancel(&pkg->timer);
		kfree(pkg);
	}
	kfree(uncore_pkgs);
}

/** uncore_pkgs_present() - the boxes found on at least one package */
unsigned long uncore_pkgs_present(void)
{
	unsigned long present = 0;
	unsigned int i;

	for (i = 0; i < uncore_num_pkgs; i++)
		present |= uncore_pkgs[i]->present;
	return present;
}

/* Find the boxes of this CPU's package. Nothing counts while they are probed. */
static void uncore_pkg_probe(struct uncore_pkg *pkg)
{
	u64 saved;
	int id;

	if (rdmsrl_safe(U_MSR_PMON_GLOBAL_CTL, &saved) ||
	    wrmsrl_safe(U_MSR_PMON_GLOBAL_CTL, 0))
		return;
	pkg->saved_global_ctl = saved;
	for (id = 0; id < UNCORE_NUM_BOXES; id++) {
		struct uncore_box *box = &pkg->box[id];

		if (!box->type)
			continue;
		if (uncore_box_probe(box))
			__set_bit(id, &pkg->present);
		else
			pr_info("CPU %u: no %s %u\n", smp_processor_id(), box->type->name,
				box->instance);
	}
}

/**
 * uncore_pkg_online() - hotplug callback, on the CPU that comes
 * @cpu: the CPU
 */
int uncore_pkg_online(unsigned int cpu)
{
	struct uncore_pkg *pkg = uncore_pkg_of(cpu);

	if (!pkg || pkg->cpu >= 0)
		return 0;
	if (!pkg->present)
		uncore_pkg_probe(pkg);
	if (!pkg->present)
		return 0;
	/* The test writes registers past their shadows. */
	uncore_pkg_clear_stale(pkg);
	uncore_pmi_setup(pkg);
	WRITE_ONCE(pkg->cpu, cpu);
	if (pkg->asleep)
		uncore_pkg_wake(pkg);
	return 0;
}

/*
 * Counters that have started with one write shall do so again on their new CPU; perf
 * moves the boxes one by one.
 */
static bool uncore_pkg_hold_gated(struct uncore_pkg *pkg)
{
	unsigned long irq;
	bool gated;

	raw_spin_lock_irqsave(&pkg->lock, irq);
	gated = pkg->gates;
	pkg->asleep += gated;
	uncore_pkg_sync(pkg);
	raw_spin_unlock_irqrestore(&pkg->lock, irq);
	return gated;
}

static void uncore_pkg_release(void *info)
{
	struct uncore_pkg *pkg = info;
	unsigned long irq;

	raw_spin_lock_irqsave(&pkg->lock, irq);
	pkg->asleep--;
	uncore_pkg_sync(pkg);
	raw_spin_unlock_irqrestore(&pkg->lock, irq);
}

/**
 * uncore_pkg_offline() - hotplug callback: let another CPU of the package take over
 * @cpu: the CPU that goes
 *
 * Without another CPU the package stops and gets no PMI any more; perf then takes the
 * events of the last CPU away. Overflows are accounted for before that, while
 * xeon7500_ubox/lost/ is there to tell of them.
 */
int uncore_pkg_offline(unsigned int cpu)
{
	struct uncore_pkg *pkg = uncore_pkg_of(cpu);
	unsigned int target;
	bool gated;

	if (!pkg || pkg->cpu != cpu)
		return 0;
	target = cpumask_any_but(topology_core_cpumask(cpu), cpu);
	if (target >= nr_cpu_ids) {
		uncore_pkg_sleep(pkg);
		WRITE_ONCE(pkg->cpu, -1);
		uncore_soft_forget(pkg);
		uncore_pmi_teardown(pkg);
		return 0;
	}
	gated = uncore_pkg_hold_gated(pkg);
	WRITE_ONCE(pkg->moving, true);
	WRITE_ONCE(pkg->cpu, target);
	uncore_pmi_move(pkg, target);
	uncore_pmi_moved(pkg, target);
	uncore_pmus_migrate(pkg, cpu, target);
	WRITE_ONCE(pkg->moving, false);
	/* What the events that left last have started here. */
	uncore_pmi_moved(pkg, target);
	if (gated)
		smp_call_function_single(target, uncore_pkg_release, pkg, 1);
	return 0;
}

static void uncore_pkg_restore(void *info)
{
	struct uncore_pkg *pkg = info;
	int id;

	uncore_pmi_teardown(pkg);
	for_each_set_bit(id, &pkg->present, UNCORE_NUM_BOXES)
		uncore_box_restore(&pkg->box[id]);
	if (pkg->saved_global_ctl)
		wrmsrl(U_MSR_PMON_GLOBAL_CTL, pkg->saved_global_ctl);
}

/**
 * uncore_pkgs_call() - have something done on the CPU of each package
 * @func: it gets the package
 */
void uncore_pkgs_call(smp_call_func_t func)
{
	unsigned int i;

	cpus_read_lock();
	for (i = 0; i < uncore_num_pkgs; i++) {
		struct uncore_pkg *pkg = uncore_pkgs[i];

		if (pkg->cpu >= 0)
			smp_call_function_single(pkg->cpu, func, pkg, 1);
	}
	cpus_read_unlock();
}

/** uncore_pkgs_restore() - leave every package as it was found; no event may be left */
void uncore_pkgs_restore(void)
{
	uncore_pkgs_call(uncore_pkg_restore);
}
