// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opens an event while its PMU is being registered: perf_pmu_register() adds the device to the bus
 * before it is done, and a program that reads the type in sysfs can open an event from then on.
 */
#include <linux/device.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/string.h>

static char *at;
module_param(at, charp, 0444);
MODULE_PARM_DESC(at, "open when this PMU is added to the bus");

static char *pmu;
module_param(pmu, charp, 0444);
MODULE_PARM_DESC(pmu, "the PMU of the event: the same, or one added before");

static ulong config;
module_param(config, ulong, 0444);
MODULE_PARM_DESC(config, "of the event");

static int error = 1;
module_param(error, int, 0444);
MODULE_PARM_DESC(error, "what the open has returned; 1: not tried");

static u32 type;

static int early_open(struct notifier_block *nb, unsigned long action, void *data)
{
	struct device *dev = data;
	struct perf_event_attr attr = { .size = sizeof(attr), .config = config, .disabled = 1 };
	struct perf_event *event;

	if (action != BUS_NOTIFY_ADD_DEVICE)
		return NOTIFY_DONE;
	if (!strcmp(dev_name(dev), pmu))
		type = ((struct pmu *)dev_get_drvdata(dev))->type;
	if (strcmp(dev_name(dev), at))
		return NOTIFY_DONE;
	attr.type = type;
	event = perf_event_create_kernel_counter(&attr, 0, NULL, NULL, NULL);
	error = PTR_ERR_OR_ZERO(event);
	if (!error)
		perf_event_release_kernel(event);
	return NOTIFY_DONE;
}

static struct notifier_block early_open_nb = {
	.notifier_call = early_open,
};

static int early_open_event_init(struct perf_event *event)
{
	return -ENOENT;
}

/* Registered only to find the bus of all PMUs. */
static struct pmu early_open_pmu = {
	.module		= THIS_MODULE,
	.task_ctx_nr	= perf_invalid_context,
	.event_init	= early_open_event_init,
};

static int __init early_open_init(void)
{
	int err = perf_pmu_register(&early_open_pmu, "early_open", -1);

	if (err)
		return err;
	err = bus_register_notifier((struct bus_type *)early_open_pmu.dev->bus, &early_open_nb);
	if (err)
		perf_pmu_unregister(&early_open_pmu);
	return err;
}
module_init(early_open_init);

static void __exit early_open_exit(void)
{
	bus_unregister_notifier((struct bus_type *)early_open_pmu.dev->bus, &early_open_nb);
	perf_pmu_unregister(&early_open_pmu);
}
module_exit(early_open_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Opens an event of a PMU that is being registered");
