/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf_event_open() for tests: PMUs by name, events by config.
 */
#ifndef SELFTESTS_PERF_H
#define SELFTESTS_PERF_H

#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ktap.h"
#include "msr.h"

/* What perf_count() reads with PERF_FORMAT_TOTAL_TIME_*. */
struct perf_count {
	u64 value;
	u64 enabled;
	u64 running;
};

/* The type number of a PMU, -1 if there is none of that name. */
static inline int pmu_type(const char *pmu)
{
	char path[96];
	int type = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", pmu);
	f = fopen(path, "r");
	if (f) {
		if (fscanf(f, "%d", &type) != 1)
			type = -1;
		fclose(f);
	}
	return type;
}

static inline struct perf_event_attr perf_attr(const char *pmu, u64 config)
{
	int type = pmu_type(pmu);
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.config = config,
		.disabled = 1,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};

	/* There are machines with fewer boxes. */
	if (type < 0 && !silicon_here())
		ktap_skip("needs a PMU that is not there");
	ktap_require(type >= 0, "no PMU %s", pmu);
	attr.type = type;
	return attr;
}

/* A file descriptor, or -errno. */
static inline int perf_open(struct perf_event_attr *attr, int cpu, int group)
{
	int fd = syscall(SYS_perf_event_open, attr, -1, cpu, group, 0);

	return fd < 0 ? -errno : fd;
}

static inline int perf_open_config(const char *pmu, u64 config, int cpu, int group)
{
	struct perf_event_attr attr = perf_attr(pmu, config);

	return perf_open(&attr, cpu, group);
}

static inline struct perf_count perf_count(int fd)
{
	struct perf_count count = {};

	ktap_require(read(fd, &count, sizeof(count)) == sizeof(count), "read: %s", strerror(errno));
	return count;
}

static inline void perf_enable(int fd)
{
	ktap_require(!ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), "enable: %s", strerror(errno));
}

static inline void perf_disable(int fd)
{
	ktap_require(!ioctl(fd, PERF_EVENT_IOC_DISABLE, 0), "disable: %s", strerror(errno));
}

#endif /* SELFTESTS_PERF_H */
