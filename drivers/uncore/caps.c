// SPDX-License-Identifier: GPL-2.0-only
/*
 * What sysfs shows of the state of the driver.
 */
#include <linux/cpumask.h>
#include <linux/device.h>

#include "compat.h"
#include "uncore.h"

static struct uncore_pmu *uncore_dev_pmu(struct device *dev)
{
	return to_uncore_pmu((struct pmu *)dev_get_drvdata(dev));
}

/* Which CPU to open an event on: one for each package that has one of these boxes. */
static ssize_t uncore_emit_cpus(char *buf, unsigned long boxes)
{
	struct uncore_package *pkg;
	cpumask_var_t mask;
	ssize_t len;

	if (!zalloc_cpumask_var(&mask, GFP_KERNEL))
		return -ENOMEM;
	for_each_uncore_package(pkg) {
		int cpu = READ_ONCE(pkg->cpu);

		if (cpu >= 0 && pkg->present & boxes)
			cpumask_set_cpu(cpu, mask);
	}
	len = sysfs_emit(buf, "%*pbl\n", cpumask_pr_args(mask));
	free_cpumask_var(mask);
	return len;
}

static ssize_t cpumask_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	const struct uncore_pmu *upmu = uncore_dev_pmu(dev);

	return uncore_emit_cpus(buf, BIT(upmu->type->first + upmu->instance));
}
static DEVICE_ATTR_RO(cpumask);

static struct attribute *uncore_cpumask_attrs[] = {
	&dev_attr_cpumask.attr,
	NULL
};

static const struct attribute_group uncore_cpumask_group = {
	.attrs = uncore_cpumask_attrs,
};

static ssize_t package_cpumask_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return uncore_emit_cpus(buf, ~0UL);
}

static struct device_attribute dev_attr_package_cpumask =
	__ATTR(cpumask, 0444, package_cpumask_show, NULL);

static struct attribute *uncore_package_cpumask_attrs[] = {
	&dev_attr_package_cpumask.attr,
	NULL
};

const struct attribute_group uncore_package_cpumask_group = {
	.attrs = uncore_package_cpumask_attrs,
};

/*
 * The events that no page of the manual confirms in all they need. A list in caps/, because
 * an attribute beside the event would be an event to perf, and sysfs allows a file to hold
 * several values of one kind. An empty line says that there are none.
 */
static ssize_t inferred_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return uncore_emit_inferred(uncore_dev_pmu(dev)->type, buf);
}
static DEVICE_ATTR_RO(inferred);

static struct attribute *uncore_caps_attrs[] = {
	&dev_attr_inferred.attr,
	NULL
};

static const struct attribute_group uncore_caps_group = {
	.name = "caps",
	.attrs = uncore_caps_attrs,
};

/* What the PMU of every box shows beside what comes from the tables of its type. */
const struct attribute_group * const uncore_box_groups[] = {
	&uncore_cpumask_group,
	&uncore_caps_group,
	NULL
};

/* Do overflows interrupt? "untested" until the first event asks for it. */
static ssize_t pmi_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	static const char * const text[] = {
		[UNCORE_PMI_UNTESTED]	= "untested",
		[UNCORE_PMI_NO]		= "no",
		[UNCORE_PMI_YES]	= "yes",
		[UNCORE_PMI_OFF]	= "off",
	};

	return sysfs_emit(buf, "%s\n", text[uncore_self_test_worst()]);
}
static DEVICE_ATTR_RO(pmi);

/* Totals of all packages, since the module was loaded */
#define UNCORE_TOTAL_ATTR(_name, _total)						\
static ssize_t _name##_show(struct device *dev, struct device_attribute *attr, char *buf)	\
{										\
	struct uncore_package *pkg;						\
	u64 sum = 0;								\
										\
	for_each_uncore_package(pkg)						\
		sum += atomic64_read(&pkg->totals._total);			\
	return sysfs_emit(buf, "%llu\n", sum);					\
}										\
static DEVICE_ATTR_RO(_name)

/* NMIs with nothing left to handle that were claimed */
UNCORE_TOTAL_ATTR(swallowed_nmis, swallowed);
/* Overflows that the watch found, of which no NMI had told */
UNCORE_TOTAL_ATTR(missed_pmis, missed);
/* How often registers were found changed by someone else */
UNCORE_TOTAL_ATTR(foreign_writes, conflicts);

static struct attribute *uncore_package_caps[] = {
	&dev_attr_pmi.attr,
	&dev_attr_swallowed_nmis.attr,
	&dev_attr_missed_pmis.attr,
	&dev_attr_foreign_writes.attr,
	NULL
};

const struct attribute_group uncore_package_caps_group = {
	.name = "caps",
	.attrs = uncore_package_caps,
};
