/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the tests of intel_core_ext share: loading it, and asking the core PMU.
 */
#ifndef SELFTESTS_CORE_EXT_H
#define SELFTESTS_CORE_EXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "ktap.h"
#include "perf.h"

/* The exit status of a shell command. */
static inline int shell(const char *command)
{
	int status = system(command);

	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static inline bool ext_loaded(void)
{
	return pmu_type("intel_core_ext") >= 0;
}

static inline void ext_unload(void)
{
	shell("rmmod intel_core_ext 2>/dev/null");
	ktap_require(!ext_loaded(), "cannot unload");
}

/* Loaded anew; NULL: not at all. */
static inline void ext_load(const char *parameters)
{
	char command[128];

	ext_unload();
	if (!parameters)
		return;
	snprintf(command, sizeof(command), "modprobe intel_core_ext %s", parameters);
	ktap_require(!shell(command) && ext_loaded(), "cannot load with '%s'", parameters);
}

/* Model number of the CPU, as in CPUID. */
static inline unsigned int cpu_model(void)
{
	unsigned int eax = 1, ebx, ecx = 0, edx;

	asm volatile("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
	return (eax >> 4 & 0xf) | (eax >> 12 & 0xf0);
}

/* An event of the core PMU, counting this task; precise ones sample. */
static inline struct perf_event_attr core_attr(uint64_t config, uint64_t config1, int precise)
{
	struct perf_event_attr attr = perf_attr("cpu", config);

	attr.config1 = config1;
	attr.precise_ip = precise;
	if (precise) {
		attr.sample_period = 1000003;
		attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR;
	}
	return attr;
}

/* A file descriptor, or -errno. */
static inline int open_task(struct perf_event_attr *attr, int group)
{
	int fd = syscall(SYS_perf_event_open, attr, 0, -1, group, 0);

	return fd < 0 ? -errno : fd;
}

/* 0, or -errno. */
static inline int try_open(uint64_t config, uint64_t config1, int precise)
{
	struct perf_event_attr attr = core_attr(config, config1, precise);
	int fd = open_task(&attr, -1);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

#endif
