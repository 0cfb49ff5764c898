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
#include <linux/device.h>
#include <linux/module.h>
#include <asm/cpu_device_id.h>

#include "attrs.h"
#include "caps.h"
#include "compat.h"
#include "package_pmu.h"
#include "pmi.h"
#include "pmu.h"
#include "power.h"
#include "proof.h"
#include "timer.h"

static const struct uncore_box_type * const uncore_types[] = {
	&ubox_type, &cbox_type, &wbox_type, &sbox_type, &bbox_type, &mbox_type,
	&rbox_type, NULL
};

static const struct attribute_group **uncore_groups[UNCORE_NUM_BOXES];
static struct uncore_pmu uncore_pmus[UNCORE_NUM_BOXES];
static enum cpuhp_state uncore_cpuhp_state;

/* Move all events to another CPU of the package. */
static void uncore_migrate(struct uncore_package *pkg, int from, int to)
{
	int id;

	for (id = 0; id < UNCORE_NUM_BOXES; id++) {
		if (uncore_pmus[id].registered)
			perf_pmu_migrate_all(&uncore_pmus[id].pmu, from, to,
					     atomic_read(&pkg->box[id].opened));
	}
	uncore_package_pmu_migrate(from, to);
}

/* Hotplug callback, on the CPU that comes. */
static int uncore_cpu_online(unsigned int cpu)
{
	struct uncore_package *pkg = uncore_package_of(cpu);

	if (!pkg || pkg->cpu >= 0 || (!pkg->present && !uncore_package_probe(pkg)))
		return 0;
	WRITE_ONCE(pkg->cpu, cpu);
	if (pkg->gates.asleep)
		uncore_package_wake(pkg);
	return 0;
}

static void uncore_cpu_arrive(void *info)
{
	struct uncore_package *pkg = info;
	unsigned long irq;

	raw_spin_lock_irqsave(&pkg->lock, irq);
	pkg->gates.moving = false;
	uncore_proof_repeat(pkg);
	uncore_pmi_resume(pkg);
	raw_spin_unlock_irqrestore(&pkg->lock, irq);
}

/*
 * Hotplug callback, on the CPU that goes: let another CPU of the package take over. No
 * PMI can come while the events are on their way, so that none can come to the wrong CPU.
 *
 * Without another CPU the package stops; perf then takes the events of the last CPU away.
 */
static int uncore_cpu_offline(unsigned int cpu)
{
	struct uncore_package *pkg = uncore_package_of(cpu);
	unsigned int target;
	unsigned long irq;

	if (!pkg || pkg->cpu != cpu)
		return 0;
	target = cpumask_any_but(topology_core_cpumask(cpu), cpu);
	if (target >= nr_cpu_ids) {
		uncore_package_sleep(pkg);
		WRITE_ONCE(pkg->cpu, -1);
		uncore_gates_forget(pkg);
		uncore_timer_cancel(pkg);
		uncore_pmi_cancel(pkg);
		return 0;
	}
	raw_spin_lock_irqsave(&pkg->lock, irq);
	pkg->gates.moving = true;
	uncore_pmi_quiesce(pkg);
	WRITE_ONCE(pkg->cpu, target);
	raw_spin_unlock_irqrestore(&pkg->lock, irq);
	uncore_timer_cancel(pkg);
	uncore_pmi_cancel(pkg);
	uncore_migrate(pkg, cpu, target);
	smp_call_function_single(target, uncore_cpu_arrive, pkg, 1);
	return 0;
}

/* intel_uncore claims every box, so any of its names tells. */
static bool uncore_mainline_loaded(void)
{
	const struct device *ours = uncore_package_pmu_device();
	struct device *dev = bus_find_device_by_name(ours->bus, NULL, "uncore_ubox");

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

/* Instances share their attributes unless each has fields of its own. */
static int uncore_groups_create(const struct uncore_box_type *type)
{
	unsigned int n;

	for (n = 0; n < type->num_boxes; n++) {
		const struct attribute_group **groups;

		if (n && !type->instance_fields)
			groups = uncore_groups[type->first];
		else
			groups = uncore_attr_groups_create(type, n, uncore_box_groups);
		if (!groups)
			return -ENOMEM;
		uncore_groups[type->first + n] = groups;
	}
	return 0;
}

static void uncore_groups_free(const struct uncore_box_type *type)
{
	unsigned int n;

	for (n = 0; n < (type->instance_fields ? type->num_boxes : 1); n++)
		uncore_attr_groups_free(uncore_groups[type->first + n]);
}

static int uncore_register_type(const struct uncore_box_type *type, unsigned long present)
{
	unsigned int n;
	int err = 0;

	for (n = 0; n < type->num_boxes && !err; n++) {
		struct uncore_pmu *upmu = &uncore_pmus[type->first + n];

		if (present & BIT(type->first + n) && !upmu->registered)
			err = uncore_pmu_register(upmu, type, n, uncore_groups[type->first + n]);
	}
	return err;
}

static void uncore_unregister_all(void)
{
	int id;

	for (id = 0; id < UNCORE_NUM_BOXES; id++)
		uncore_pmu_unregister(&uncore_pmus[id]);
}

static void uncore_free_all(void)
{
	unsigned int t;

	uncore_packages_free();
	for (t = 0; uncore_types[t]; t++)
		uncore_groups_free(uncore_types[t]);
}

static int uncore_register_all(void)
{
	struct uncore_package *pkg;
	unsigned long present = 0;
	unsigned int i;
	int err = 0;

	for (pkg = uncore_package_next(NULL); pkg; pkg = uncore_package_next(pkg))
		present |= pkg->present;
	if (!(present & BIT(UNCORE_UBOX))) {
		pr_err("no package with a working U-Box\n");
		return -ENODEV;
	}
	/* No CPU may go while a PMU is known to perf but not yet to migration. */
	cpus_read_lock();
	for (i = 0; uncore_types[i] && !err; i++)
		err = uncore_register_type(uncore_types[i], present);
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
	unsigned int t;
	int err;

	/* Other CPUs have other registers at these addresses. */
	if (!id)
		return -ENODEV;
	uncore_model = (const struct uncore_model *)id->driver_data;
	err = uncore_proof_init();
	if (err)
		return err;
	for (t = 0; uncore_types[t]; t++) {
		err = uncore_groups_create(uncore_types[t]);
		if (err)
			goto free;
	}
	err = uncore_packages_create(uncore_types);
	if (err)
		goto free;
	err = register_module_notifier(&uncore_module_nb);
	if (err)
		goto free;
	err = uncore_pmi_init();
	if (err)
		goto notifier;

	/*
	 * This PMU shows us the bus they all are on. It can serve no event before the
	 * packages are probed, and no register is touched before it is clear that they are
	 * ours.
	 */
	err = uncore_package_pmu_register();
	if (err)
		goto pmi;
	if (uncore_mainline_loaded()) {
		pr_err("intel_uncore has these registers; unload it first\n");
		err = -EBUSY;
		goto package_pmu;
	}

	err = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "perf/x86/xeon7500:online",
				uncore_cpu_online, uncore_cpu_offline);
	if (err < 0)
		goto package_pmu;
	uncore_cpuhp_state = err;
	err = uncore_power_init();
	if (err)
		goto cpus;
	err = uncore_register_all();
	if (!err)
		return 0;

	uncore_unregister_all();
	uncore_power_exit();
cpus:
	cpuhp_remove_state_nocalls(uncore_cpuhp_state);
package_pmu:
	uncore_package_pmu_unregister();
pmi:
	uncore_pmi_exit();
notifier:
	unregister_module_notifier(&uncore_module_nb);
free:
	uncore_free_all();
	return err;
}
module_init(uncore_init);

static void __exit uncore_exit(void)
{
	/* No event is left, for each holds the module; so every package is clean. */
	uncore_unregister_all();
	uncore_package_pmu_unregister();
	uncore_power_exit();
	cpuhp_remove_state_nocalls(uncore_cpuhp_state);
	uncore_pmi_exit();
	unregister_module_notifier(&uncore_module_nb);
	uncore_free_all();
}
module_exit(uncore_exit);

MODULE_DESCRIPTION("Intel Xeon 7500 and E7 uncore PMUs");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1");
