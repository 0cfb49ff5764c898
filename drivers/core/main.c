// SPDX-License-Identifier: GPL-2.0-only
/*
 * Offcore response and PEBS extensions of the core x86 PMU, for Goldmont (06_5C,
 * 06_5F), Goldmont Plus (06_7A), Silvermont (06_37, 06_4A, 06_4D, 06_5A), Airmont (06_4C)
 * and Sandy Bridge (06_2A, 06_2D).
 *
 * The kernel drives the core PMU of these CPUs. This module adds to it:
 *
 *	perf mem record ./program
 *	perf stat -e '{offcore_outstanding.demand_data_rd,offcore_requests.demand_data_rd}' ls
 *	perf stat -e cpu/event=0xb7,umask=0x1,ocr_req=0x1,ocr_rsp=0x4/ ./program
 *
 * always	names: fields and events of the PMU "cpu" (perf list)
 * enforce=1	refuses what the hardware would count as zero or cannot do precisely, and
 *		keeps everything else off a core while PDIR runs (Sandy Bridge)
 * data_src=1	Atoms: samples say what their event implies about the access
 * ds_guard=1	Goldmont: repairs a PEBS index out of bounds
 *
 * An event that is refused says why once this is on:
 *
 *	echo module intel_core_ext +p >/sys/kernel/debug/dynamic_debug/control
 *
 * What is in effect, of this CPU's, and what has happened since the module was loaded:
 *
 *	grep -r . /sys/bus/event_source/devices/cpu/intel_core_ext
 *
 * See goldmont.md, silvermont.md and sandybridge.md in Documentation.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/device.h>
#include <linux/err.h>
#include <linux/kernfs.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <asm/cpu_device_id.h>

#include "core_ext.h"

static bool enforce;
module_param(enforce, bool, 0444);
MODULE_PARM_DESC(enforce, "refuse events that the hardware would count as zero or imprecisely");

static bool data_src;
module_param(data_src, bool, 0444);
MODULE_PARM_DESC(data_src, "add the data source that an event implies to its samples");

static bool ds_guard;
module_param(ds_guard, bool, 0444);
MODULE_PARM_DESC(ds_guard, "repair a PEBS index out of bounds");

#define CORE_EXT_MODEL(_model, _data)	\
	X86_MATCH_VENDOR_FAM_MODEL(INTEL, 6, _model, (kernel_ulong_t)&(_data))

static const struct x86_cpu_id core_ext_cpus[] = {
	CORE_EXT_MODEL(0x2a, core_ext_sandybridge),
	CORE_EXT_MODEL(0x2d, core_ext_sandybridge_x),
	CORE_EXT_MODEL(0x37, core_ext_silvermont),
	CORE_EXT_MODEL(0x4a, core_ext_silvermont),
	CORE_EXT_MODEL(0x4c, core_ext_silvermont),
	CORE_EXT_MODEL(0x4d, core_ext_silvermont),
	CORE_EXT_MODEL(0x5a, core_ext_silvermont),
	CORE_EXT_MODEL(0x5c, core_ext_goldmont),
	CORE_EXT_MODEL(0x5f, core_ext_goldmont),
	CORE_EXT_MODEL(0x7a, core_ext_goldmont_plus),
	{}
};
MODULE_DEVICE_TABLE(x86cpu, core_ext_cpus);

/* The core PMU's device, held while our names are in it. */
static struct device *core_ext_cpu_dev;

/* What is in effect: less than was asked for where the CPU does not need it. */
static struct {
	const struct core_ext_model *model;
	bool enforce;
	bool data_src;
	bool ds_guard;
} core_ext;

static DEVICE_BOOL_ATTR(enforce, 0444, core_ext.enforce);
static DEVICE_BOOL_ATTR(data_src, 0444, core_ext.data_src);
static DEVICE_BOOL_ATTR(ds_guard, 0444, core_ext.ds_guard);

/* How often the guard had to act */
static ssize_t ds_repairs_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%lu\n", core_ext_ds_guard_repairs());
}
static DEVICE_ATTR_RO(ds_repairs);

/* How often something came to run beside PDIR */
static ssize_t pdir_disturbed_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%lu\n", core_ext_pdir_disturbed());
}
static DEVICE_ATTR_RO(pdir_disturbed);

static struct attribute *core_ext_attrs[] = {
	&dev_attr_enforce.attr.attr,
	&dev_attr_data_src.attr.attr,
	&dev_attr_ds_guard.attr.attr,
	&dev_attr_ds_repairs.attr,
	&dev_attr_pdir_disturbed.attr,
	NULL
};

/* What this CPU can have at all, and numbers where there is something to count. */
static umode_t core_ext_visible(struct kobject *kobj, struct attribute *attr, int i)
{
	bool visible = true;

	if (attr == &dev_attr_data_src.attr.attr)
		visible = core_ext.model->precise;
	else if (attr == &dev_attr_ds_guard.attr.attr)
		visible = core_ext.model->guarded;
	else if (attr == &dev_attr_ds_repairs.attr)
		visible = core_ext.ds_guard;
	else if (attr == &dev_attr_pdir_disturbed.attr)
		visible = core_ext.enforce && core_ext.model->pdir;
	return visible ? attr->mode : 0;
}

static const struct attribute_group core_ext_group = {
	.name = "intel_core_ext",
	.attrs = core_ext_attrs,
	.is_visible = core_ext_visible,
};

/* The PMU that takes raw events is the core PMU; an event of it knows it. */
static struct pmu *core_ext_find_core(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.size = sizeof(attr),
		.disabled = 1,
	};
	struct perf_event *event;
	struct pmu *core;

	event = perf_event_create_kernel_counter(&attr, -1, current, NULL, NULL);
	if (IS_ERR(event))
		return NULL;
	core = event->pmu;
	perf_event_release_kernel(event);
	return core->dev && !strcmp(dev_name(core->dev), "cpu") ? core : NULL;
}

/* By a module of another name: the kernel refuses only the same name. */
static bool __init core_ext_loaded_twice(void)
{
	struct kernfs_node *kn;

	kn = kernfs_find_and_get(core_ext_cpu_dev->kobj.sd, core_ext_group.name);
	kernfs_put(kn);
	return kn;
}

static bool __init core_ext_useful(const char *parameter, bool wanted, bool useful)
{
	if (wanted && !useful)
		pr_warn("%s=1 has no effect: %s does not need it\n", parameter,
			core_ext.model->name);
	return wanted && useful;
}

static int __init core_ext_start(struct pmu *core, const struct core_ext_model *model)
{
	int err;

	if (core_ext_loaded_twice()) {
		pr_err("these extensions are loaded already\n");
		return -EEXIST;
	}
	core_ext.model = model;
	core_ext.enforce = enforce;
	core_ext.data_src = core_ext_useful("data_src", data_src, model->precise);
	core_ext.ds_guard = core_ext_useful("ds_guard", ds_guard,
					    model->guarded && boot_cpu_has(X86_FEATURE_DS));
	err = sysfs_create_group(&core_ext_cpu_dev->kobj, &core_ext_group);
	if (err)
		return err;
	err = core_ext_discovery_start(core_ext_cpu_dev, model);
	if (err)
		goto remove;
	if (core_ext.ds_guard) {
		err = core_ext_ds_guard_start(model);
		if (err)
			goto undiscover;
	}
	/* Last: nothing is hooked if it fails. */
	err = core_ext_hooks_start(core, model, core_ext.enforce, core_ext.data_src);
	if (err)
		goto unguard;
	pr_info("%s: names added to PMU %s%s%s%s\n", model->name, dev_name(core_ext_cpu_dev),
		core_ext.enforce ? ", enforce" : "", core_ext.data_src ? ", data_src" : "",
		core_ext.ds_guard ? ", ds_guard" : "");
	return 0;

unguard:
	if (core_ext.ds_guard)
		core_ext_ds_guard_stop();
undiscover:
	core_ext_discovery_stop(core_ext_cpu_dev);
remove:
	sysfs_remove_group(&core_ext_cpu_dev->kobj, &core_ext_group);
	return err;
}

static int __init core_ext_init(void)
{
	const struct x86_cpu_id *id = x86_match_cpu(core_ext_cpus);
	struct pmu *core;
	int err;

	if (!id)
		return -ENODEV;
	core = core_ext_find_core();
	if (!core) {
		pr_info("no core PMU to extend\n");
		return -ENODEV;
	}
	core_ext_cpu_dev = get_device(core->dev);
	err = core_ext_start(core, (const struct core_ext_model *)id->driver_data);
	if (err)
		put_device(core_ext_cpu_dev);
	return err;
}
module_init(core_ext_init);

static void __exit core_ext_exit(void)
{
	core_ext_hooks_stop();
	if (core_ext.ds_guard)
		core_ext_ds_guard_stop();
	core_ext_discovery_stop(core_ext_cpu_dev);
	sysfs_remove_group(&core_ext_cpu_dev->kobj, &core_ext_group);
	put_device(core_ext_cpu_dev);
}
module_exit(core_ext_exit);

MODULE_DESCRIPTION("Offcore response and PEBS extensions of the core x86 PMU");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1");
