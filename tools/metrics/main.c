// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf metrics: what the counters say, as numbers a person asked for. perf runs this for
 * "perf metrics". See perf-metrics(1).
 */
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "metrics.h"

static int open_event(struct perf_event_attr *attr, pid_t pid, int cpu, int group,
		      unsigned long flags)
{
	return syscall(SYS_perf_event_open, attr, pid, cpu, group, flags);
}

int main(int argc, char **argv)
{
	struct utsname kernel = {};
	char modules[sizeof(kernel.release) + 16];
	struct world world = {
		.sys = "/sys", .cpuinfo = "/proc/cpuinfo", .perf = "perf", .patience = 30000,
		.open = open_event, .proc = "/proc", .modules = modules,
	};

	uname(&kernel);
	snprintf(modules, sizeof(modules), "/lib/modules/%s", kernel.release);

	return session_run(&world, argc, argv);
}
