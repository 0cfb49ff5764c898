// SPDX-License-Identifier: GPL-2.0-only
#include "session.h"

unsigned int reads(void)
{
	return msr_read(0, SYN_ACCESS_ALL(SYN_RANGE_UNCORE, 0));
}

unsigned int writes(void)
{
	return msr_read(0, SYN_ACCESS_ALL(SYN_RANGE_UNCORE, 1));
}

/* What was in use is as it was before: nothing enabled, nothing selected. */
static void check_box_clean(int cpu, const char *pmu)
{
	uint16_t ctr[SILICON_MAX_COUNTERS];
	int num = box_counters(pmu, ctr), i;

	ktap_check(!msr_read(cpu, U_GLOBAL_CTL), "U_GLOBAL_CTL %#llx", msr_read(cpu, U_GLOBAL_CTL));
	ktap_check(!msr_read(cpu, ctr[0] - 0x11), "%s is enabled", pmu);
	for (i = 0; i < num; i++)
		ktap_check(!msr_read(cpu, counter_ctl(ctr[i])), "%s: counter %d", pmu, i);
}

void session(int first, int boxes, int num, int size, unsigned int want_reads,
	     unsigned int want_writes)
{
	static const char * const events[6] = {
		"llc_misses.all", "llc_hits.all", "llc_victims.m", "trans_irq", "trans_maf",
		"snps.remote_rd",
	};
	int cpu = package_cpu(1), fd[12], leader = -1, b, i, n = 0;
	u64 sum = 0, truth = 0;
	char pmu[32];

	silicon_start();
	for (b = 0; b < boxes; b++) {
		snprintf(pmu, sizeof(pmu), "xeon7500_cbox_%d", first + b);
		for (i = 0; i < num / boxes; i++) {
			if (i % size == 0)
				leader = -1;
			fd[n] = event_open(pmu, events[i], cpu, leader);
			if (leader < 0)
				leader = fd[n];
			n++;
		}
	}
	for (i = 0; i < n; i += size)
		perf_enable(fd[i]);
	sleep_us(2000);
	for (i = 0; i < n; i += size)
		perf_disable(fd[i]);
	for (i = 0; i < n; i++)
		sum += perf_count(fd[i]).value;
	event_close_all();
	ktap_check(reads() == want_reads && writes() == want_writes, "%u reads, %u writes", reads(),
		   writes());
	for (b = 0; b < boxes; b++) {
		snprintf(pmu, sizeof(pmu), "xeon7500_cbox_%d", first + b);
		truth += box_truth(cpu, SYN_EVENTS, pmu);
		check_box_clean(cpu, pmu);
	}
	ktap_check(sum == truth && sum, "%llu, truth %llu", sum, truth);
}

void overflow_cost(const char *pmu)
{
	int cpu = package_cpu(0), neighbour;
	u64 overflows;
	unsigned int num;

	silicon_start_idle();
	sampling_limit(1000000);
	/* Where the PMIs go: each is handled before we go on. */
	run_on(cpu);
	/* The counter before it samples as well, and does not overflow. */
	neighbour = sampling_open(pmu, "occupancy_irq", 1ull << 46, cpu, 8)->fd;
	sampling_open(pmu, "occupancy_irq", 16000037, cpu, 8);
	perf_enable(neighbour);
	perf_enable(rings[1].fd);
	silicon_clear();
	spin_us(8000);
	num = silicon_accesses();
	overflows = box_truth(cpu, SYN_OVERFLOWS, pmu);
	run_on(-1);
	ktap_check(overflows > 1 && num == overflows * OVERFLOW_COST,
		   "%s: %u accesses for %llu overflows", pmu, num, overflows);
}

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
