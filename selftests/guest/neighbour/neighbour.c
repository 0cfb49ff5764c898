// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module that does to the core PMU what intel_core_ext does: hooks event_init,
 * or brings names of its own, as a later kernel may.
 *
 *	hook=1		hook while loading
 *	late=Y or N	hook or unhook now, through /sys/module
 *	sleep=MS	stay so long in each call of the hook
 *	names=1		bring ocr_req, with another meaning, and mem-loads
 *	resched		where kernel_function() finds perf_pmu_resched()
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/device.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/sched.h>

#include "kernel_function.h"

static bool hook;
module_param(hook, bool, 0444);
static bool names;
module_param(names, bool, 0444);

static unsigned long resched;
module_param(resched, ulong, 0444);

static struct pmu *core;
static int (*found)(struct perf_event *event);
static unsigned int calls;
module_param(calls, uint, 0444);

static unsigned int sleep;
module_param(sleep, uint, 0644);

static int neighbour_event_init(struct perf_event *event)
{
	calls++;
	if (sleep)
		msleep(sleep);
	return found(event);
}

static void neighbour_hook(void)
{
	found = core->event_init;
	WRITE_ONCE(core->event_init, neighbour_event_init);
}

static void neighbour_unhook(void)
{
	if (cmpxchg(&core->event_init, neighbour_event_init, found) != neighbour_event_init)
		pr_err("somebody is on top of me\n");
}

static bool late;

static int late_set(const char *val, const struct kernel_param *kp)
{
	int err = param_set_bool(val, kp);

	if (!err && core)
		late ? neighbour_hook() : neighbour_unhook();
	return err;
}

static const struct kernel_param_ops late_ops = {
	.set = late_set,
	.get = param_get_bool,
};
module_param_cb(late, &late_ops, &late, 0644);

PMU_FORMAT_ATTR(ocr_req, "config1:8-15");
PMU_EVENT_ATTR_STRING(mem-loads, neighbour_mem_loads, "event=0xc0,umask=0x01");

static struct attribute *neighbour_formats[] = { &format_attr_ocr_req.attr, NULL };
static struct attribute *neighbour_events[] = { &neighbour_mem_loads.attr.attr, NULL };

static const struct attribute_group neighbour_groups[] = {
	{ .name = "format", .attrs = neighbour_formats },
	{ .name = "events", .attrs = neighbour_events },
};

static int __init neighbour_init(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_RAW,
		.config = 0xc0,
		.size = sizeof(attr),
		.disabled = 1,
	};
	struct perf_event *event;
	int err = 0;

	event = perf_event_create_kernel_counter(&attr, -1, current, NULL, NULL);
	if (IS_ERR(event))
		return PTR_ERR(event);
	core = event->pmu;
	resched = (unsigned long)kernel_function("perf_pmu_resched");
	perf_event_release_kernel(event);
	if (names) {
		err = sysfs_merge_group(&core->dev->kobj, &neighbour_groups[0]);
		if (!err)
			err = sysfs_merge_group(&core->dev->kobj, &neighbour_groups[1]);
	}
	if (hook)
		neighbour_hook();
	return err;
}
module_init(neighbour_init);

static void __exit neighbour_exit(void)
{
	if (hook || late)
		neighbour_unhook();
	if (names) {
		sysfs_unmerge_group(&core->dev->kobj, &neighbour_groups[1]);
		sysfs_unmerge_group(&core->dev->kobj, &neighbour_groups[0]);
	}
	synchronize_rcu();
}
module_exit(neighbour_exit);

MODULE_DESCRIPTION("Somebody else who extends the core PMU");
MODULE_LICENSE("GPL");
