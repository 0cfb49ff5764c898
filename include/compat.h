/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between the kernels we support (6.1 to 6.12), and nothing else.
 * Drivers hold no version test.
 */
#ifndef COMPAT_H
#define COMPAT_H

#include <linux/version.h>
#include <linux/perf_event.h>

/* perf_event_attr.config3 came with 6.3. */
static inline u64 perf_attr_config3(const struct perf_event_attr *attr)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	return attr->config3;
#else
	return 0;
#endif
}

/**
 * perf_pmu_migrate_all() - perf_pmu_migrate_context() for all events of a PMU
 * @pmu: the PMU
 * @from: CPU that goes
 * @to: CPU that takes over
 * @events: how many events there can be on @from
 *
 * Since 6.2 a call moves no more than the first group: the walk over the tree of groups
 * goes on from the node it has just taken out. Each call that finds one waits for RCU.
 */
static inline void perf_pmu_migrate_all(struct pmu *pmu, int from, int to, int events)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
	while (events-- > 0)
		perf_pmu_migrate_context(pmu, from, to);
#else
	if (events > 0)
		perf_pmu_migrate_context(pmu, from, to);
#endif
}

#endif /* COMPAT_H */
