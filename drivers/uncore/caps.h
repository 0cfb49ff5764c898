/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What sysfs shows of the state of the driver, beside the tables that attrs.c shows.
 */
#ifndef UNCORE_CAPS_H
#define UNCORE_CAPS_H

#include <linux/sysfs.h>

extern const struct attribute_group * const uncore_box_groups[];
extern const struct attribute_group uncore_package_cpumask_group;
extern const struct attribute_group uncore_package_caps_group;

#endif /* UNCORE_CAPS_H */
