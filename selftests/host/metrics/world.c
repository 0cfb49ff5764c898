// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf-metrics in another world: sysfs, proc and perf are those of the directory $FAKE. An event opens
 * if it can be, unless FAKE_ERRNO says TYPE:ERRNO, where TYPE is that of a PMU, or * for all;
 * and perf has FAKE_PATIENCE ms to end.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../../tools/metrics/metrics.h"

static int open_event(struct perf_event_attr *attr, pid_t pid, int cpu, int group,
		      unsigned long flags)
{
	const char *refuse = getenv("FAKE_ERRNO"), *colon = refuse ? strchr(refuse, ':') : NULL;

	(void)pid;
	(void)cpu;
	(void)group;
	(void)flags;
	if (colon && (*refuse == '*' || (uint32_t)atoi(refuse) == attr->type)) {
		errno = atoi(colon + 1);
		return -1;
	}
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int main(int argc, char **argv)
{
	const char *dir = getenv("FAKE") ?: "/nowhere";
	char *sys, *cpuinfo, *perf, *proc, *modules;
	int status;

	if (asprintf(&sys, "%s/sys", dir) < 0 || asprintf(&cpuinfo, "%s/cpuinfo", dir) < 0 ||
	    asprintf(&perf, "%s/perf", dir) < 0 || asprintf(&proc, "%s/proc", dir) < 0 ||
	    asprintf(&modules, "%s/modules/6.1.0-0-fake", dir) < 0)
		return 99;
	status = session_run(&(struct world){ sys, cpuinfo, perf, atoi(getenv("FAKE_PATIENCE") ?: "20000"),
					      open_event, proc, modules }, argc, argv);
	free(sys);
	free(cpuinfo);
	free(perf);
	free(proc);
	free(modules);
	return status;
}
