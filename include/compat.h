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

#endif /* COMPAT_H */
