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
	int cpu = package_cpu(0);
	u64 overflows;
	unsigned int num;

	silicon_start_idle();
	sampling_limit(1000000);
	/* Where the PMIs go: each is handled before we go on. */
	run_on(cpu);
	perf_enable(sampling_open(pmu, "occupancy_irq", 16000037, cpu, 8)->fd);
	silicon_clear();
	spin_us(8000);
	num = silicon_accesses();
	overflows = box_truth(cpu, SYN_OVERFLOWS, pmu);
	run_on(-1);
	ktap_check(overflows > 1 && num == overflows * OVERFLOW_COST,
		   "%s: %u accesses for %llu overflows", pmu, num, overflows);
}
