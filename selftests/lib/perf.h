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
int pmu_type(const char *pmu);

/* The number of "msr/read_msr". */
u64 tracepoint_id(const char *name);

struct perf_event_attr perf_attr(const char *pmu, u64 config);

/* A file descriptor, or -errno. */
int perf_open(struct perf_event_attr *attr, int cpu, int group);

int perf_open_config(const char *pmu, u64 config, int cpu, int group);

struct perf_count perf_count(int fd);

void perf_enable(int fd);

void perf_disable(int fd);

/* Run on one CPU, or with -1 on any. */
void run_on(int cpu);

#endif /* SELFTESTS_PERF_H */
