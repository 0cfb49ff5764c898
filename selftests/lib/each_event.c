// SPDX-License-Identifier: GPL-2.0-only
#include "each_event.h"

/* Count for a moment on every package; the truth is that of all counters of the box. */
static void count_one(const char *pmu, const char *event, const int *cpus, int num, unsigned int us)
{
	struct perf_event_attr attr = event_attr(pmu, event);
	int fd[SILICON_MAX_PACKAGES], p;
	struct perf_count count;
	u64 truth;

	silicon_start();
	for (p = 0; p < num; p++) {
		fd[p] = event_open_attr(&attr, cpus[p], -1);
		perf_enable(fd[p]);
	}
	sleep_us(us);
	for (p = 0; p < num; p++) {
		perf_disable(fd[p]);
		count = perf_count(fd[p]);
		/* On real hardware: that it ran. */
		if (!silicon_here()) {
			ktap_check(count.running && count.running == count.enabled,
				   "%s/%s/ on CPU %d", pmu, event, cpus[p]);
			continue;
		}
		truth = box_truth(cpus[p], SYN_EVENTS, pmu);
		/* Filters that are not set let everything pass. */
		ktap_check(count.value == truth && count.value && count.running == count.enabled,
			   "%s/%s/ on CPU %d: %llu, truth %llu, %llu of %llu ns", pmu, event,
			   cpus[p], count.value, truth, count.running, count.enabled);
	}
}

static void count_each_of(const char *pmu, void *arg)
{
	int cpus[SILICON_MAX_PACKAGES], packages = pmu_cpus(pmu, cpus);
	unsigned int *num = arg;
	char dir[96];
	DIR *d;

	ktap_require(packages == 2 || (packages && !silicon_here()),
		     "%s: %d CPUs in the cpumask", pmu, packages);
	snprintf(dir, sizeof(dir), SYSFS_PMU "/%s/events", pmu);
	d = opendir(dir);
	ktap_require(d, "%s: %s", dir, strerror(errno));
	for (struct dirent *e = readdir(d); e; e = readdir(d)) {
		if (!is_event(e->d_name))
			continue;
		count_one(pmu, e->d_name, cpus, packages, 100);
		++*num;
	}
	closedir(d);
}

unsigned int count_each_event(void)
{
	unsigned int num = 0;

	for_each_pmu(count_each_of, &num);
	ktap_note("%u events", num);
	return num;
}
