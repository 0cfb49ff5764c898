// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf-metrics in another world: sysfs, proc and perf are those of the directory $FAKE. An event opens
 * if it can be, unless FAKE_ERRNO says TYPE:ERRNO[:NUMBER], where TYPE is that of a PMU, or * for all,
 * and NUMBER how many open before; and unless its group has FAKE_GROUP events already. FAKE_OPENED is a
 * file that gets a line for each.
 * perf has FAKE_PATIENCE ms to end.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../../tools/metrics/metrics.h"

static int leader_of[64];	/* by descriptor */

/* Is there room for one more beside those of a group that are open? */
static bool has_room(int group)
{
	const char *most = getenv("FAKE_GROUP");
	int fd, num = 0;

	for (fd = 3; fd < 64; fd++)
		num += leader_of[fd] == group && fcntl(fd, F_GETFD) >= 0;
	return !most || num < atoi(most);
}

static void tell(const struct perf_event_attr *attr, pid_t pid, int cpu, int group,
		 unsigned long flags)
{
	const char *path = getenv("FAKE_OPENED");
	FILE *f = path ? fopen(path, "a") : NULL;

	if (!f)
		return;
	fprintf(f, "%u %#llx %#llx %#llx %d %d %d %d %lu %d\n", attr->type, attr->config, attr->config1,
		attr->config2, attr->disabled, pid, cpu, group >= 0, flags, attr->size == sizeof(*attr));
	fclose(f);
}

static int open_event(struct perf_event_attr *attr, pid_t pid, int cpu, int group,
		      unsigned long flags)
{
	const char *refuse = getenv("FAKE_ERRNO"), *colon = refuse ? strchr(refuse, ':') : NULL;
	static int num;
	int fd;

	tell(attr, pid, cpu, group, flags);
	if (colon && (*refuse == '*' || (uint32_t)atoi(refuse) == attr->type) &&
	    num++ >= (strchr(colon + 1, ':') ? atoi(strchr(colon + 1, ':') + 1) : 0)) {
		errno = atoi(colon + 1);
		return -1;
	}
	if (group >= 0 && !has_room(group)) {
		errno = EINVAL;
		return -1;
	}
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && fd < 64)
		leader_of[fd] = group >= 0 ? group : fd;
	return fd;
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
