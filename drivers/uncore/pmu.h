/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What perf sees: one PMU for each box instance, on all packages.
 */
#ifndef UNCORE_PMU_H
#define UNCORE_PMU_H

#include <linux/perf_event.h>

#include "package.h"

/**
 * struct uncore_pmu - one box instance
 * @pmu: perf's side
 * @type: kind of box
 * @instance: number within its kind
 * @txn: the transaction perf has begun on a CPU, PERF_PMU_TXN_*
 * @registered: perf knows it
 * @name: device name
 */
struct uncore_pmu {
	struct pmu pmu;
	const struct uncore_box_type *type;
	unsigned int instance;
	unsigned int __percpu *txn;
	bool registered;
	char name[24];
};

#define to_uncore_pmu(p) container_of(p, struct uncore_pmu, pmu)

int uncore_pmu_register(struct uncore_pmu *upmu, const struct uncore_box_type *type,
			unsigned int instance, const struct attribute_group **groups);
void uncore_pmu_unregister(struct uncore_pmu *upmu);

#endif /* UNCORE_PMU_H */
