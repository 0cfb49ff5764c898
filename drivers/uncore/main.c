// SPDX-License-Identifier: GPL-2.0-only
/*
 * Intel Xeon 7500 (Nehalem-EX) uncore PMUs.
 *
 *	perf list | grep xeon7500
 *	perf stat -a -e xeon7500_cbox/llc_misses.all/ sleep 1
 *
 * One PMU per box: xeon7500_ubox, xeon7500_cbox_0 to 7, xeon7500_wbox, and of each
 * half of the package xeon7500_sbox_, bbox_, mbox_ and rbox_0 or 1. An event counts for
 * a whole package; perf opens it on the CPUs of the cpumask attribute.
 *
 * Cannot share the hardware with mainline's intel_uncore: whichever comes second
 * is refused.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpuhotplug.h>
#include <linux/device.h>
#include <linux/module.h>
#include <asm/cpu_device_id.h>

#include "compat.h"
#include "uncore.h"

static const struct uncore_box_type * const uncore_types[] = {
	&ubox_type, &cbox_type, &wbox_type, &sbox_type, &bbox_type, &mbox_type,
	&rbox_type, NULL
};

static const struct attribute_group **uncore_groups[UNCORE_NUM_BOXES];
static struct uncore_pmu uncore_pmus[UNCORE_NUM_BOXES];
static enum cpuhp_state uncore_cpuhp_state;

/**
 * uncore_pmus_migrate() - move all events to another CPU of the package
 * @pkg: the package
 * @from: CPU that goes
 * @to: CPU that takes over
 */
void uncore_pmus_migrate(struct uncore_pkg *pkg, int from, int to)
{
	int id;

	for (id = 0; id < UNCORE_NUM_BOXES; id++) {
		if (uncore_pmus[id].registered)
			perf_pmu_migrate_all(&uncore_pmus[id].pmu, from, to,
					     atomic_read(&pkg->box[id].opened));
	}
}

/* intel_uncore claims every box, so any of its names tells. */
static bool uncore_mainline_loaded(const struct pmu *pmu)
{
	struct device *dev = bus_find_device_by_name(pmu->dev->bus, NULL, "uncore_ubox");

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
			groups = uncore_attr_groups_create(type, n, uncore_pmu_groups);
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

	uncore_pkgs_free();
	for (t = 0; uncore_types[t]; t++)
		uncore_groups_free(uncore_types[t]);
}

static int uncore_register_all(void)
{
	unsigned long present = uncore_pkgs_present();
	unsigned int t;
	int err = 0;

	if (!(present & BIT(UNCORE_UBOX))) {
		pr_err("no package with a working U-Box\n");
		return -ENODEV;
	}
	/* No CPU may go while a PMU is known to perf but not yet to migration. */
	cpus_read_lock();
	for (t = 0; uncore_types[t] && !err; t++)
		err = uncore_register_type(uncore_types[t], present);
	cpus_read_unlock();
	return err;
}

static const struct x86_cpu_id uncore_cpu_ids[] = {
	X86_MATCH_VENDOR_FAM_MODEL(INTEL, 6, 0x2e, NULL),	/* Nehalem-EX */
	{}
};
MODULE_DEVICE_TABLE(x86cpu, uncore_cpu_ids);

static int __init uncore_init(void)
{
	unsigned int t;
	int err;

	/* Other CPUs have other registers at these addresses. */
	if (!x86_match_cpu(uncore_cpu_ids))
		return -ENODEV;
	for (t = 0; uncore_types[t]; t++) {
		err = uncore_groups_create(uncore_types[t]);
		if (err)
			goto free;
	}
	err = uncore_pkgs_create(uncore_types);
	if (err)
		goto free;
	err = register_module_notifier(&uncore_module_nb);
	if (err)
		goto free;
	err = uncore_pmi_init();
	if (err)
		goto notifier;

	/*
	 * The first PMU shows us the bus they all are on. It can serve no event before
	 * the packages are probed, and no register is touched before it is clear that
	 * they are ours.
	 */
	err = uncore_pmu_register(&uncore_pmus[UNCORE_UBOX], &ubox_type, 0, uncore_groups[0]);
	if (err)
		goto pmi;
	if (uncore_mainline_loaded(&uncore_pmus[UNCORE_UBOX].pmu)) {
		pr_err("intel_uncore has these registers; unload or blacklist it first\n");
		err = -EBUSY;
		goto pmus;
	}

	err = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "perf/x86/xeon7500:online",
				uncore_pkg_online, uncore_pkg_offline);
	if (err < 0)
		goto pmus;
	uncore_cpuhp_state = err;
	err = uncore_power_init();
	if (err)
		goto packages;
	err = uncore_register_all();
	if (!err)
		return 0;

	uncore_unregister_all();
	uncore_power_exit();
packages:
	uncore_pkgs_restore();
	cpuhp_remove_state_nocalls(uncore_cpuhp_state);
pmus:
	uncore_unregister_all();
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
	/* No event is left: each holds the module. */
	uncore_unregister_all();
	uncore_power_exit();
	uncore_pkgs_restore();
	cpuhp_remove_state_nocalls(uncore_cpuhp_state);
	uncore_pmi_exit();
	unregister_module_notifier(&uncore_module_nb);
	uncore_free_all();
}
module_exit(uncore_exit);

MODULE_DESCRIPTION("Intel Xeon 7500 uncore PMUs");
MODULE_LICENSE("GPL");
