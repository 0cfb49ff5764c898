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
 *		keeps other counters of a core off while PDIR runs (Sandy Bridge)
 * data_src=1	Atoms: samples show what their event implies about the access
 * ds_guard=1	Goldmont: repairs a PEBS index out of bounds
 *
 * See intel_core_ext.md in Documentation, and the pages that it names.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/device.h>
#include <linux/err.h>
#include <linux/kernfs.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <asm/cpu_device_id.h>

#include "core_ext.h"

static bool enforce;
module_param(enforce, bool, 0444);
MODULE_PARM_DESC(enforce, "refuse events that the hardware would count as zero or imprecisely");

/* This and the next are cleared at load where the CPU has no use for them. */
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

static const struct core_ext_model *core_ext_model;

/* The core PMU. It is never unregistered, nor is its device. */
static struct pmu *core_ext_core;

/* The core PMU's own event_init; NULL: it is not hooked. */
static int (*core_ext_found_init)(struct perf_event *event);

/* How many calls of our event_init have begun and ended on each CPU */
static DEFINE_PER_CPU(unsigned long, core_ext_begun);
static DEFINE_PER_CPU(unsigned long, core_ext_ended);

static ssize_t ds_repairs_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%ld\n", atomic_long_read(&core_ext_ds_repairs));
}
static DEVICE_ATTR_RO(ds_repairs);

static ssize_t pdir_disturbed_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%ld\n", atomic_long_read(&core_ext_pdir_disturbed));
}
static DEVICE_ATTR_RO(pdir_disturbed);

static struct attribute *core_ext_attrs[] = {
	&dev_attr_ds_repairs.attr,
	&dev_attr_pdir_disturbed.attr,
	NULL
};

/* Where there is something to be counted */
static umode_t core_ext_visible(struct kobject *kobj, struct attribute *attr, int i)
{
	bool visible = attr == &dev_attr_ds_repairs.attr ? ds_guard :
							    enforce && core_ext_model->pdir;

	return visible ? attr->mode : 0;
}

static const struct attribute_group core_ext_group = {
	.name = "intel_core_ext",
	.attrs = core_ext_attrs,
	.is_visible = core_ext_visible,
};

static int core_ext_orig_init(struct perf_event *event)
{
	if (event->attr.precise_ip && data_src)
		return core_ext_data_src_init(event, core_ext_found_init);
	return core_ext_found_init(event);
}

/* noinline: in core_ext_event_init() it would make that save registers for every event. */
static noinline int core_ext_concerned_init(struct perf_event *event)
{
	int err;

	/*
	 * An inherited event is a copy of one that was accepted, perhaps before the module was
	 * loaded. If it were refused, fork() would fail.
	 */
	if (!enforce || event->parent)
		return core_ext_orig_init(event);
	err = core_ext_check_offcore(core_ext_model, event);
	if (!err)
		err = core_ext_orig_init(event);
	if (!err)
		err = core_ext_check_precise(core_ext_model, event);
	/* for_each_sibling_event() reads ctx, which a new leader has not yet. */
	if (err || event->group_leader == event)
		return err;
	/* No model has both PDIR and requests in flight. */
	return core_ext_model->pdir ? core_ext_pdir_check_group(event) :
				      core_ext_check_latency(core_ext_model, event);
}

/* Most events do not concern the module: they only cost this check and two counts. */
static bool core_ext_concerns(const struct perf_event *event)
{
	return event->attr.precise_ip ||
	       (enforce && ((core_ext_model->pdir && event->group_leader != event) ||
			    core_ext_is_offcore(core_ext_model, event)));
}

static int core_ext_event_init(struct perf_event *event)
{
	int err;

	this_cpu_inc(core_ext_begun);
	err = core_ext_concerns(event) ? core_ext_concerned_init(event) :
					 core_ext_found_init(event);
	this_cpu_inc(core_ext_ended);
	return err;
}

static int __init core_ext_hook_core(void)
{
	int err = 0;

	if (data_src)
		err = core_ext_data_src_start(core_ext_model);
	if (!err && enforce && core_ext_model->pdir)
		err = core_ext_pdir_start(core_ext_core, core_ext_model);
	if (!err && (enforce || data_src))
		core_ext_hook(&core_ext_core->event_init, &core_ext_found_init,
			      core_ext_event_init);
	return err;
}

static unsigned long core_ext_sum(const unsigned long __percpu *count)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(*per_cpu_ptr(count, cpu));
	return sum;
}

/*
 * After the pointer is given back a call may still be in our code. RCU-tasks waits for a call that
 * is before or behind the two counts. None may be between them, where it can sleep; a call that was
 * before them has been counted meanwhile.
 */
static void core_ext_unhook_core(void)
{
	unsigned long begun, ended;

	if (!core_ext_found_init)
		return;
	core_ext_pdir_stop();
	core_ext_unhook(&core_ext_core->event_init, core_ext_found_init, core_ext_event_init);
	do {
		for (;;) {
			/* Read in this order, so that no call inside counts as ended */
			ended = core_ext_sum(&core_ext_ended);
			begun = core_ext_sum(&core_ext_begun);
			if (begun == ended)
				break;
			msleep(20);
		}
		synchronize_rcu_tasks();
	} while (core_ext_sum(&core_ext_begun) != begun);
}

/* The PMU that takes raw events is the core PMU; an event of it knows it. */
static struct pmu *core_ext_find_core(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.size = sizeof(attr),
		.disabled = 1,
		/* Linux 7 refuses others while a guest has the PMU to itself. */
		.exclude_guest = 1,
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

static bool __init core_ext_useful(const char *parameter, bool wanted, bool useful)
{
	if (wanted && !useful)
		pr_warn("%s=1 has no effect on %s\n", parameter, core_ext_model->name);
	return wanted && useful;
}

static int __init core_ext_init(void)
{
	const struct x86_cpu_id *id = x86_match_cpu(core_ext_cpus);
	struct kernfs_node *twin;
	struct device *dev;
	int err;

	if (!id)
		return -ENODEV;
	core_ext_core = core_ext_find_core();
	if (!core_ext_core) {
		pr_info("no core PMU to extend\n");
		return -ENODEV;
	}
	dev = core_ext_core->dev;
	twin = kernfs_find_and_get(dev->kobj.sd, core_ext_group.name);
	kernfs_put(twin);
	if (twin) {
		pr_err("these extensions are loaded already\n");
		return -EEXIST;
	}
	core_ext_model = (const struct core_ext_model *)id->driver_data;
	data_src = core_ext_useful("data_src", data_src, core_ext_model->precise_from);
	ds_guard = core_ext_useful("ds_guard", ds_guard,
				   core_ext_model->guarded && boot_cpu_has(X86_FEATURE_DS));
	err = sysfs_create_group(&dev->kobj, &core_ext_group);
	if (err)
		return err;
	err = core_ext_discovery_start(dev, core_ext_model);
	if (err)
		goto remove;
	if (ds_guard) {
		err = core_ext_ds_guard_start();
		if (err)
			goto undiscover;
	}
	/* Last: nothing is hooked if it fails. */
	err = core_ext_hook_core();
	if (err)
		goto unguard;
	pr_info("%s: names added to PMU %s%s%s%s\n", core_ext_model->name, dev_name(dev),
		enforce ? ", enforce" : "", data_src ? ", data_src" : "",
		ds_guard ? ", ds_guard" : "");
	return 0;

unguard:
	if (ds_guard)
		core_ext_ds_guard_stop();
undiscover:
	core_ext_discovery_stop(dev);
remove:
	sysfs_remove_group(&dev->kobj, &core_ext_group);
	return err;
}
module_init(core_ext_init);

static void __exit core_ext_exit(void)
{
	core_ext_unhook_core();
	if (ds_guard)
		core_ext_ds_guard_stop();
	core_ext_discovery_stop(core_ext_core->dev);
	sysfs_remove_group(&core_ext_core->dev->kobj, &core_ext_group);
}
module_exit(core_ext_exit);

MODULE_DESCRIPTION("Offcore response and PEBS extensions of the core x86 PMU");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1");
