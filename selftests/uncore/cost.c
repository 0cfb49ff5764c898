// SPDX-License-Identifier: GPL-2.0-only
/*
 * What it costs: register accesses, as the silicon counts them, and timers. All is exact.
 *
 * VM: --sockets 2 --cores 2 --icount --append nmi_watchdog=0
 */
#include "session.h"

/* How often the driver looks after what counts. */
#define LOOK_US	1000000

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

/* A timer that looks after what counts ends by itself, and touches nothing then. */
static void check_idle(const char *when)
{
	event_close_all();
	silicon_start();
	sleep_us(LOOK_US + LOOK_US / 10);
	ktap_check(!silicon_accesses(), "%s: %u register accesses in a second", when,
		   silicon_accesses());
	ktap_check(!timers(), "%s: %d timers", when, timers());
}

static void idle(void)
{
	int fd;

	silicon_start();
	ktap_check(!timers(), "after load: %d timers", timers());
	check_idle("after load");
	fd = event_open("xeon7500_cbox_0", "llc_misses.all", package_cpu(0), -1);
	ktap_check(!timers(), "an event that does not count: %d timers", timers());
	check_idle("after an event that never counted");
	fd = event_open("xeon7500_cbox_0", "llc_misses.all", package_cpu(0), -1);
	perf_enable(fd);
	sleep_us(1000);
	ktap_check(timers() == 1, "an event that counts: %d timers", timers());
	check_idle("after an event");
	perf_enable(sampling_open("xeon7500_cbox_0", "occupancy_irq", 1000003, package_cpu(0), 8)->fd);
	sleep_us(1000);
	ktap_check(timers() == 1, "an event that samples: %d timers", timers());
	check_idle("after an event that samples");
}

static void core_pmis(const char *when)
{
	struct perf_event_attr attr = cycles_attr(100003, 0);
	u64 pmis;
	int cpu;

	event_close_all();
	silicon_clear();
	for (cpu = 0; cpu < 4; cpu++) {
		event_open_attr(&attr, cpu, -1);
		run_on(cpu);
		pmis = msr_read(cpu, SYN_PMI_CPU(SYN_PMI_CORE_SENT));
		while (msr_read(cpu, SYN_PMI_CPU(SYN_PMI_CORE_SENT)) < pmis + 100)
			spin_us(1000);
	}
	run_on(-1);
	event_close_all();
	ktap_check(!silicon_accesses(), "%s: %u register accesses", when, silicon_accesses());
}

/*
 * The core PMU interrupts all CPUs by the same NMI: that is nothing to look for, nor is
 * it right after the module was loaded or something has counted. Once something has sampled,
 * an NMI may belong to it for a tenth of a second.
 */
static void idle_beside_core(void)
{
	ktap_require(!system("modprobe -r xeon7500_uncore && modprobe xeon7500_uncore"));
	silicon_start();
	sampling_limit(1000000);
	core_pmis("after load");
	perf_enable(event_open("xeon7500_cbox_0", "llc_misses.all", package_cpu(0), -1));
	sleep_us(1000);
	core_pmis("after an event");
	perf_enable(sampling_open("xeon7500_cbox_0", "occupancy_irq", 1000003, package_cpu(0), 8)->fd);
	sleep_us(1000);
	event_close_all();
	sleep_us(120000);
	core_pmis("after an event that samples");
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
	sleep_us(LOOK_US + LOOK_US / 10);
	ktap_check(perf_count(fd).value);
	ktap_check(!silicon_accesses(), "%u register accesses", silicon_accesses());
	ktap_check(!timers(), "%d timers", timers());
}

/*
 * While something counts, its registers are looked at once a second: en_all, the enable bits
 * of the box and the control register. Its counter is read every 256 s.
 */
static void counting(void)
{
	int fd;

	silicon_start();
	fd = event_open("xeon7500_cbox_0", "llc_misses.all", package_cpu(0), -1);
	perf_enable(fd);
	sleep_us(LOOK_US / 2);
	silicon_clear();
	sleep_us(5 * LOOK_US);
	ktap_check(reads() == 5 * 3 && !writes(), "%u reads, %u writes in 5 s", reads(), writes());
	silicon_clear();
	sleep_us(256 * LOOK_US);
	ktap_check(reads() == 256 * 3 + 1 && !writes(), "%u reads, %u writes in 256 s", reads(),
		   writes());
	perf_disable(fd);
	/* The next one is short again, and its registers are not looked at. */
	silicon_clear();
	perf_run_us(fd, 1000);
	ktap_check(reads() == 1 && writes() == 7, "%u reads, %u writes in 1 ms", reads(), writes());
}

/* Behind a closed gate: start value, control and enable; and enable, last count and control. */
static void held(void)
{
	int fd;

	silicon_start();
	event_open("xeon7500_package", "gate", package_cpu(0), -1);
	fd = event_open("xeon7500_cbox_0", "llc_misses.all", package_cpu(0), -1);
	silicon_clear();
	perf_run_us(fd, 1000);
	ktap_check(reads() == 1 && writes() == 5, "%u reads, %u writes", reads(), writes());
}

/*
 * While something can interrupt, U_GLOBAL_STATUS is read every 10 ms. The registers are still
 * looked at once a second.
 */
static void sampling(void)
{
	silicon_start_idle();
	perf_enable(sampling_open("xeon7500_cbox_0", "occupancy_irq", 1ull << 46, package_cpu(0),
				  8)->fd);
	silicon_clear();
	sleep_us(LOOK_US / 2 + 5000);
	ktap_check(reads() == 50 && !writes(), "%u reads, %u writes before a second is over", reads(),
		   writes());
	silicon_clear();
	sleep_us(5 * LOOK_US);
	ktap_check(reads() == 5 * (100 + 3) && !writes(), "%u reads, %u writes in 5 s", reads(),
		   writes());
}

KTAP_CALL(one_event, session(0, 1, 1, 1, SESSION_ONE))
KTAP_CALL(twelve_events, session(0, 2, 12, 1, SESSION_TWELVE))
KTAP_CALL(group_of_three, session(0, 1, 3, 3, SESSION_GROUP))

static void overflow(void)
{
	overflow_cost("xeon7500_cbox_0");
	overflow_cost("xeon7500_cbox_7");
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
		ktap_check(silicon_truth(cpu, SYN_WINDOWS, C3_CTR_0 + 2 * i) == 1,
			   "counter %d was stopped", i);
}

SILICON_MAIN({ "idle means idle", idle },
	     { "NMIs of the core PMU cost an idle package nothing", idle_beside_core },
	     { "a disabled event costs nothing", disabled },
	     { "what counts is looked at once a second", counting },
	     { "an event that is held back: 6 accesses", held },
	     { "what samples is looked at once a second", sampling },
	     { "a read is one RDMSR", counter_read },
	     { "one event, open to close: 8 accesses", one_event },
	     { "a group of three: 16", group_of_three },
	     { "12 events on two boxes: 74", twelve_events },
	     { "an overflow costs a fixed number of accesses", overflow },
	     { "neighbours are left alone", neighbours })
