// SPDX-License-Identifier: GPL-2.0-only
/*
 * Uncore PMUs of Intel Xeon 7500 (Nehalem-EX) and E7 (Westmere-EX).
 *
 *	perf list | grep xeon7500
 *	perf stat -a -e xeon7500_cbox/llc_misses.all/ sleep 1
 *
 * One PMU per box: xeon7500_ubox, xeon7500_cbox_0 to 7 or 9, xeon7500_wbox, and of each
 * half of the package xeon7500_sbox_, bbox_, mbox_ and rbox_0 or 1; and xeon7500_package
 * for what no counter counts. An event counts for a whole package; perf opens it on the
 * CPUs of the cpumask attribute, and takes any other CPU for its package.
 *
 * Cannot share the hardware with mainline's intel_uncore: whichever comes second
 * is refused.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpuhotplug.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/reboot.h>
#include <asm/cpu_device_id.h>

#include "compat.h"
#include "uncore.h"

static const struct uncore_box_type * const uncore_types[] = {
	&ubox_type, &cbox_type, &wbox_type, &sbox_type, &bbox_type, &mbox_type,
	&rbox_type, NULL
};

static struct uncore_pmu uncore_pmus[UNCORE_NUM_BOXES];
static enum cpuhp_state uncore_cpuhp_online, uncore_cpuhp_dead;

/* ---- suspend, shutdown and the last CPU of a package ---- */

/*
 * No counter runs and no PMI is armed while no CPU is there to take care of them.
 *
 * When the system suspends, the other CPUs have gone by the way of CPU hotplug. Packages
 * that have lost their last CPU have lost their events to perf; the one of the boot CPU
 * keeps them and has to write them anew, since the registers do not keep what they hold.
 * Counts leave out the time in between.
 *
 * These run on the CPU that serves the package, with interrupts off.
 */
static void uncore_package_sleep(void *info)
{
	struct uncore_package *pkg = info;

	uncore_lock(pkg);
	pkg->hold.asleep = true;
	uncore_pmi_quiesce(pkg);
	uncore_package_update(pkg);
	uncore_unlock(pkg);
}

static void uncore_package_move(void *info)
{
	struct uncore_package *pkg = info;

	uncore_lock(pkg);
	pkg->hold.moving = true;
	uncore_pmi_quiesce(pkg);
	uncore_unlock(pkg);
}

/*
 * The end of a move, or else of sleep, after which the registers may hold anything. Who moves
 * asleep is in the middle of a reboot.
 */
static void uncore_package_wake(void *info)
{
	struct uncore_package *pkg = info;
	bool *hold = pkg->hold.moving ? &pkg->hold.moving : &pkg->hold.asleep;

	uncore_lock(pkg);
	if (pkg->hold.asleep)
		uncore_package_rewrite(pkg);
	/* The next event that needs PMIs tries them; those that exist have the watch at least. */
	pkg->pmi.state = UNCORE_PMI_UNTESTED;
	*hold = false;
	uncore_watch_start(pkg);
	uncore_package_apply(pkg, pkg->used);
	uncore_unlock(pkg);
}

/* On the last CPU, with interrupts off. */
static int uncore_suspend(void *data)
{
	int cpu = smp_processor_id();
	struct uncore_package *pkg = uncore_package_of(cpu);

	if (pkg && pkg->cpu == cpu)
		uncore_package_sleep(pkg);
	return 0;
}

static void uncore_resume(void *data)
{
	int cpu = smp_processor_id();
	struct uncore_package *pkg = uncore_package_of(cpu);

	if (pkg && pkg->cpu == cpu)
		uncore_package_wake(pkg);
}

static const struct syscore_ops uncore_syscore_ops = {
	.suspend	= uncore_suspend,
	.resume		= uncore_resume,
};

static struct syscore uncore_syscore = {
	.ops		= &uncore_syscore_ops,
};

/*
 * Also before kexec: the next kernel knows nothing of our counters. A crash kernel starts
 * without any notifier, but with the LVT of the local APIC masked.
 */
static int uncore_reboot(struct notifier_block *nb, unsigned long action, void *data)
{
	struct uncore_package *pkg;

	for_each_uncore_package(pkg)
		uncore_package_call(pkg, uncore_package_sleep, pkg);
	return NOTIFY_DONE;
}

static struct notifier_block uncore_reboot_nb = {
	.notifier_call	= uncore_reboot,
};

/* ---- CPU hotplug ---- */

/* Move all events to another CPU of the package. Each waits for RCU, with CPU hotplug locked. */
static void uncore_migrate(int from, int to)
{
	bool all = true;
	int id;

	rcu_expedite_gp();
	for_each_uncore_bit(id, uncore_model->boxes) {
		if (uncore_pmus[id].registered)
			all &= perf_pmu_migrate_all(&uncore_pmus[id].pmu, from, to);
	}
	all &= perf_pmu_migrate_all(&uncore_package_pmu, from, to);
	rcu_unexpedite_gp();
	if (!all)
		pr_warn("too many events on CPU %d, which goes: some count no more\n", from);
}

/* On the CPU that comes. Also at load, with CPU hotplug locked. */
static int uncore_cpu_online(unsigned int cpu)
{
	struct uncore_package *pkg = uncore_package_of(cpu);

	/* perf:online takes ctx->mutex */
	lock_map_acquire(&uncore_perf_map);
	lock_map_release(&uncore_perf_map);
	if (!pkg || pkg->cpu >= 0 || (!pkg->present && !uncore_package_probe(pkg)))
		return 0;
	WRITE_ONCE(pkg->cpu, cpu);
	if (pkg->hold.asleep)
		uncore_package_call(pkg, uncore_package_wake, pkg);
	return 0;
}

/*
 * On the CPU that goes: let another CPU of the package take over. No PMI can come while the
 * events are on their way, so that none can come to the wrong CPU.
 *
 * Without another CPU the package stops; perf then takes the events of the last CPU away. If
 * the CPU does not go after all, it comes by uncore_cpu_online(), and everything goes on. If that
 * is after perf has taken the events away, gates hold the package until they are closed.
 */
static int uncore_cpu_offline(unsigned int cpu)
{
	struct uncore_package *pkg = uncore_package_of(cpu);
	unsigned int target;
	bool last;

	if (!pkg || pkg->cpu != cpu)
		return 0;
	target = cpumask_any_but(topology_core_cpumask(cpu), cpu);
	last = target >= nr_cpu_ids;
	uncore_package_call(pkg, last ? uncore_package_sleep : uncore_package_move, pkg);
	WRITE_ONCE(pkg->cpu, last ? -1 : target);
	hrtimer_cancel(&pkg->timer);
	if (last) {
		/* Its lock may now be taken on a CPU that comes, not by uncore_lock(). */
		WRITE_ONCE(pkg->pmi.armed, false);
		return 0;
	}
	uncore_migrate(cpu, target);
	uncore_package_call(pkg, uncore_package_wake, pkg);
	return 0;
}

/* The CPU has gone, and no later step can fail. */
static int uncore_cpu_dead(unsigned int cpu)
{
	struct uncore_package *pkg = uncore_package_of(cpu);

	if (pkg && pkg->cpu < 0)
		uncore_gates_forget(pkg);
	return 0;
}

static int uncore_hotplug_init(void)
{
	int err = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "perf/x86/xeon7500:dead", NULL,
					    uncore_cpu_dead);

	if (err < 0)
		return err;
	uncore_cpuhp_dead = err;
	err = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "perf/x86/xeon7500:online",
				uncore_cpu_online, uncore_cpu_offline);
	if (err < 0)
		cpuhp_remove_state_nocalls(uncore_cpuhp_dead);
	else
		uncore_cpuhp_online = err;
	return min(err, 0);
}

static void uncore_hotplug_exit(void)
{
	cpuhp_remove_state_nocalls(uncore_cpuhp_online);
	cpuhp_remove_state_nocalls(uncore_cpuhp_dead);
}

/* ---- mainline's driver ---- */

/* intel_uncore claims every box, so any of its names tells. */
static bool uncore_mainline_loaded(void)
{
	struct device *dev = bus_find_device_by_name(uncore_package_pmu.dev->bus, NULL,
						     "uncore_ubox");

	put_device(dev);
	return dev;
}

static int uncore_module_event(struct notifier_block *nb, unsigned long action, void *data)
{
	const struct module *mod = data;

	if (action != MODULE_STATE_COMING || strcmp(mod->name, "intel_uncore"))
		return NOTIFY_DONE;
	pr_err("refusing intel_uncore: it writes the registers of %s\n", KBUILD_MODNAME);
	return notifier_from_errno(-EBUSY);
}

static struct notifier_block uncore_module_nb = {
	.notifier_call = uncore_module_event,
};

/* ---- the PMUs and the module ---- */

/*
 * Events in our contexts. A software event that has lost the event of ours in its group stays
 * there, but does not hold the module. CPU hotplug moves events from CPU to CPU.
 */
static int uncore_users(void)
{
	int cpu, id, users = 0;

	cpus_read_lock();
	for_each_possible_cpu(cpu) {
		for_each_uncore_bit(id, uncore_model->boxes) {
			if (uncore_pmus[id].registered)
				users += perf_pmu_users(&uncore_pmus[id].pmu, cpu);
		}
		users += perf_pmu_users(&uncore_package_pmu, cpu);
	}
	cpus_read_unlock();
	return users;
}

/* No new ones come while the module goes. The system may sleep meanwhile. */
static void uncore_wait_for_users(void)
{
	bool said = false;
	int users;

	while ((users = uncore_users())) {
		if (!said)
			pr_info("waiting until %d software events are closed that were in groups with ours\n",
				users);
		said = true;
		set_current_state(TASK_IDLE | TASK_FREEZABLE);
		schedule_timeout(HZ / 50);
	}
}

static void uncore_unregister_all(void)
{
	int id;

	perf_pmu_unregister_begin();
	for_each_uncore_bit(id, uncore_model->boxes)
		uncore_pmu_unregister(&uncore_pmus[id]);
	perf_pmu_unregister(&uncore_package_pmu);
	perf_pmu_unregister_end();
}

static int uncore_register_all(void)
{
	const struct uncore_package *pkg;
	unsigned long present = 0;
	int id, err = 0;

	for_each_uncore_package(pkg)
		present |= pkg->present;
	/* A virtual machine can have the CPU alone. */
	if (!present) {
		pr_info("this CPU has no uncore registers, as in a virtual machine\n");
		return -ENODEV;
	}
	if (!(present & BIT(UNCORE_UBOX))) {
		pr_err("no package with a working U-Box\n");
		return -ENODEV;
	}
	/* No CPU may go while a PMU is known to perf but not yet to migration. */
	cpus_read_lock();
	for_each_uncore_bit(id, present) {
		const struct uncore_box *box = &uncore_packages->box[id];

		err = err ?: uncore_pmu_register(&uncore_pmus[id], box->type, box->instance);
	}
	cpus_read_unlock();
	return err;
}

static const struct x86_cpu_id uncore_cpu_ids[] = {
	X86_MATCH_VENDOR_FAM_MODEL(INTEL, 6, 0x2e, &uncore_nehalem_ex),
	X86_MATCH_VENDOR_FAM_MODEL(INTEL, 6, 0x2f, &uncore_westmere_ex),
	{}
};
MODULE_DEVICE_TABLE(x86cpu, uncore_cpu_ids);

static int __init uncore_init(void)
{
	const struct x86_cpu_id *id = x86_match_cpu(uncore_cpu_ids);
	int err;

	/* Other CPUs have other registers at these addresses. */
	if (!id)
		return -ENODEV;
	uncore_model = (const struct uncore_model *)id->driver_data;
	err = uncore_packages_create(uncore_types);
	if (err)
		return err;
	err = register_module_notifier(&uncore_module_nb);
	if (err)
		goto free;
	err = uncore_pmi_init();
	if (err)
		goto pmi;

	/*
	 * This PMU shows us the bus they all are on. It can serve no event before the
	 * packages are probed, and no register is touched before it is clear that they are
	 * ours.
	 */
	perf_pmu_unregister_prepare();
	uncore_pmu_init();
	err = perf_pmu_register(&uncore_package_pmu, "xeon7500_package", -1);
	if (err)
		goto pmi;
	if (uncore_mainline_loaded()) {
		pr_err("intel_uncore has these registers; unload it first\n");
		err = -EBUSY;
		goto unregister;
	}

	err = uncore_hotplug_init();
	if (err)
		goto unregister;
	err = register_reboot_notifier(&uncore_reboot_nb);
	if (err)
		goto cpus;
	register_syscore(&uncore_syscore);
	err = uncore_register_all();
	if (!err)
		return 0;

	unregister_syscore(&uncore_syscore);
	unregister_reboot_notifier(&uncore_reboot_nb);
cpus:
	uncore_hotplug_exit();
unregister:
	uncore_unregister_all();
pmi:
	uncore_pmi_exit();
	unregister_module_notifier(&uncore_module_nb);
free:
	kvfree(uncore_packages);
	return err;
}
module_init(uncore_init);

static void __exit uncore_exit(void)
{
	/* No event is left, for each holds the module; so every package is clean. */
	uncore_wait_for_users();
	unregister_syscore(&uncore_syscore);
	unregister_reboot_notifier(&uncore_reboot_nb);
	/* A CPU that goes looks at what perf has of each PMU. */
	uncore_hotplug_exit();
	uncore_unregister_all();
	uncore_pmi_exit();
	unregister_module_notifier(&uncore_module_nb);
	kvfree(uncore_packages);
}
module_exit(uncore_exit);

MODULE_DESCRIPTION("Intel Xeon 7500 and E7 uncore PMUs");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1");
