// SPDX-License-Identifier: GPL-2.0-only
#include "perf.h"

int pmu_type(const char *pmu)
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

u64 tracepoint_id(const char *name)
{
	char path[128];
	u64 id = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/kernel/tracing/events/%s/id", name);
	f = fopen(path, "r");
	ktap_require(f && fscanf(f, "%llu", &id) == 1, "%s: %s", path, strerror(errno));
	fclose(f);
	return id;
}

struct perf_event_attr perf_attr(const char *pmu, u64 config)
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

int perf_open(struct perf_event_attr *attr, int cpu, int group)
{
	int fd = syscall(SYS_perf_event_open, attr, -1, cpu, group, 0);

	return fd < 0 ? -errno : fd;
}

int perf_open_config(const char *pmu, u64 config, int cpu, int group)
{
	struct perf_event_attr attr = perf_attr(pmu, config);

	return perf_open(&attr, cpu, group);
}

struct perf_count perf_count(int fd)
{
	struct perf_count count = {};

	ktap_require(read(fd, &count, sizeof(count)) == sizeof(count), "read: %s", strerror(errno));
	return count;
}

void perf_enable(int fd)
{
	ktap_require(!ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), "enable: %s", strerror(errno));
}

void perf_disable(int fd)
{
	ktap_require(!ioctl(fd, PERF_EVENT_IOC_DISABLE, 0), "disable: %s", strerror(errno));
}

void run_on(int cpu)
{
	unsigned long mask = cpu < 0 ? ~0UL : 1UL << cpu;

	ktap_require(!syscall(SYS_sched_setaffinity, 0, sizeof(mask), &mask), "CPU %d: %s", cpu,
		     strerror(errno));
}
