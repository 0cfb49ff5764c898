/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * xeon7500_package: a PMU for what no counter of the hardware counts.
 */
#ifndef UNCORE_PACKAGE_PMU_H
#define UNCORE_PACKAGE_PMU_H

#include "package.h"

int uncore_package_pmu_register(void);
void uncore_package_pmu_unregister(void);
void uncore_package_pmu_migrate(int from, int to);
struct bus_type;
const struct device *uncore_package_pmu_device(void);
void uncore_gates_forget(struct uncore_package *pkg);

#endif /* UNCORE_PACKAGE_PMU_H */
