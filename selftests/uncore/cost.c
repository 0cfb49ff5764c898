// SPDX-License-Identifier: GPL-2.0-only
/*
 * What it costs: register accesses, as the silicon counts them, and timers. All is exact.
 *
 * VM: --sockets 2 --cores 2 --icount
 */
#include "sampling.h"

static unsigned int reads(void)
{
	return msr_read(0, SYN_ACCESS_ALL(SYN_RANGE_UNCORE, 0));
}

static unsigned int writes(void)
{
	return msr_read(0, SYN_ACCESS_ALL(SYN_RANGE_UNCORE, 1));
}

/* Timers of ours in /proc/timer_list, which names their functions. */
static int timers(void)
{
	FILE *f = fopen("/proc/timer_list", "r");
	char line[256];
	int num = 0, all = 0;

	ktap_require(f, "/proc/timer_list: %s", strerror(errno));
	while (fgets(line, sizeof(line), f)) {
		num += strstr(line, ", uncore_") && strstr(line, " #");
		all += !!strstr(line, " #");
	}
	fclose(f);
	ktap_require(all, "there are no timers in /proc/timer_list at all");
	return num;
}

static void check_idle(const char *when)
{
	silicon_start();
	ktap_check(!timers(), "%s: %d timers", when, timers());
	sleep_us(1000000);
	ktap_check(!silicon_accesses(), "%s: %u register accesses in a second", when,
		   silicon_accesses());
	ktap_check(!timers(), "%s: %d timers", when, timers());
}

static void idle(void)
{
	int fd;

	check_idle("after load");
	fd = event_open("xeon7500_cbox_0", "llc_misses.all", package_cpu(0), -1);
	check_idle("after an event that never counted");
	fd = event_open("xeon7500_cbox_0", "llc_misses.all", package_cpu(0), -1);
	perf_enable(fd);
	sleep_us(1000);
	check_idle("after an event");
}

/*
 * The core PMU interrupts all CPUs by the same NMI: that is nothing to look for, nor is
 * it right after the load-time test or the last event.
 */
static void idle_beside_core(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.size = sizeof(attr),
		.sample_period = 100003,
	};
	uint64_t pmis;
	int cpu;

	ktap_require(!system("modprobe -r xeon7500_uncore && modprobe xeon7500_uncore"));
	silicon_start();
	sampling_limit(1000000);
	for (cpu = 0; cpu < 4; cpu++) {
		event_open_attr(&attr, cpu, -1);
		run_on(cpu);
		pmis = msr_read(cpu, SYN_PMI_CPU(SYN_PMI_CORE_SENT));
		while (msr_read(cpu, SYN_PMI_CPU(SYN_PMI_CORE_SENT)) < pmis + 100)
			spin_us(1000);
	}
	run_on(-1);
	ktap_check(!silicon_accesses(), "%u register accesses", silicon_accesses());
}

/* An open event that is disabled costs nothing. */
static void disabled(void)
{
	int fd;

	silicon_start();
	fd = event_open("xeon7500_cbox_0", "llc_misses.all", package_cpu(0), -1);
	perf_enable(fd);
	perf_disable(fd);
	silicon_clear();
	sleep_us(500000);
	ktap_check(perf_count(fd).value);
	ktap_check(!silicon_accesses(), "%u register accesses", silicon_accesses());
	ktap_check(!timers(), "%d timers", timers());
}

/* Nor does one that counts, between two reads. */
static void counting(void)
{
	int fd;

	silicon_start();
	fd = event_open("xeon7500_cbox_0", "llc_misses.all", package_cpu(0), -1);
	perf_enable(fd);
	sleep_us(1000);
	silicon_clear();
	sleep_us(1000000);
	ktap_check(!silicon_accesses(), "%u register accesses in a second", silicon_accesses());
	perf_disable(fd);
}

/* Opens num events over boxes, as groups of size; enables, reads and closes them. */
static void session(int boxes, int num, int size, unsigned int want_reads, unsigned int want_writes)
{
	static const char * const events[6] = {
		"llc_misses.all", "llc_hits.all", "llc_victims.m", "trans_irq", "trans_maf",
		"snps.remote_rd",
	};
	int cpu = package_cpu(1), fd[12], leader = -1, b, i, n = 0;
	uint64_t sum = 0, truth = 0;
	char pmu[32];

	silicon_start();
	for (b = 0; b < boxes; b++) {
		snprintf(pmu, sizeof(pmu), "xeon7500_cbox_%d", b);
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
		snprintf(pmu, sizeof(pmu), "xeon7500_cbox_%d", b);
		truth += box_truth(cpu, SYN_EVENTS, pmu);
	}
	ktap_check(sum == truth && sum, "%llu, truth %llu", (unsigned long long)sum,
		   (unsigned long long)truth);
}

static void one_event(void)
{
	session(1, 1, 1, 1, 5);
}

static void twelve_events(void)
{
	session(2, 12, 1, 12, 49);
}

static void group_of_three(void)
{
	session(1, 3, 3, 3, 9);
}

static void counter_read(void)
{
	int cpu, fd, i;

	silicon_start();
	cpu = package_cpu(0);
	fd = event_open("xeon7500_cbox_2", "llc_misses.all", cpu, -1);
	perf_enable(fd);
	silicon_clear();
	for (i = 0; i < 100; i++)
		perf_count(fd);
	ktap_check(reads() == 100, "%u reads for 100", reads());
	ktap_check(!writes(), "%u writes", writes());
	perf_disable(fd);
	silicon_clear();
	perf_count(fd);
	ktap_check(!silicon_accesses(), "%u accesses for a stopped counter", silicon_accesses());
}

/* An event added to a busy box neither stops nor rewrites its neighbours. */
static void neighbours(void)
{
	int cpu, fd[6], i;

	silicon_start();
	cpu = package_cpu(0);
	for (i = 0; i < 5; i++) {
		fd[i] = event_open("xeon7500_cbox_3", "occupancy_irq", cpu, -1);
		perf_enable(fd[i]);
	}
	fd[5] = event_open("xeon7500_cbox_3", "occupancy_maf", cpu, -1);
	silicon_clear();
	perf_enable(fd[5]);
	ktap_check(writes() == 3 && !reads(), "%u writes, %u reads", writes(), reads());
	perf_disable(fd[5]);
	for (i = 0; i < 5; i++)
		perf_disable(fd[i]);
	for (i = 0; i < 5; i++)
		ktap_check(silicon_truth(cpu, SYN_WINDOWS, 0xdd1 + 2 * i) == 1,
			   "counter %d was stopped", i);
}

SILICON_MAIN({ "idle means idle", idle },
	     { "NMIs of the core PMU cost an idle package nothing", idle_beside_core },
	     { "a disabled event costs nothing", disabled },
	     { "a counting event costs nothing between reads", counting },
	     { "a read is one RDMSR", counter_read },
	     { "one event, open to close: 6 accesses", one_event },
	     { "a group of three: 12", group_of_three },
	     { "12 events on two boxes: 61", twelve_events },
	     { "neighbours are left alone", neighbours })
