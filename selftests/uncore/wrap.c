// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters have 48 bits. At 24 entries per cycle one wraps after an hour and a half;
 * with -icount the hours pass as fast as the guest has nothing to do.
 *
 * VM: --sockets 2 --cores 1 --icount
 */
#include "silicon.h"

#define PMU	"xeon7500_cbox_3"
#define CTR	0xdd1

/* 2^48 / (24 * 2.266 GHz), and some. */
#define WRAP_S	5200

static void sleep_s(unsigned int s)
{
	struct timespec ts = { .tv_sec = s };

	while (nanosleep(&ts, &ts))
		;
}

/* From now on occupancy_irq is 24 in every cycle. */
static int start(int package)
{
	int cpu;

	silicon_start();
	cpu = package_cpu(package);
	silicon_traffic(cpu, SYN_SEL(SYN_BOX_C, 3, 0x18, SYN_ANY), SYN_PATTERN(0, 0, 1, 24));
	return cpu;
}

static void check(int cpu, int fd, unsigned int wraps)
{
	uint64_t truth = box_truth(cpu, SYN_EVENTS, PMU), count;
	uint64_t overflows = box_truth(cpu, SYN_OVERFLOWS, PMU);

	count = perf_count(fd).value;
	ktap_check(count == truth && truth >> 48 == wraps, "%#llx, truth %#llx",
		   (unsigned long long)count, (unsigned long long)truth);
	ktap_check(overflows == wraps, "%llu overflows", (unsigned long long)overflows);
	msr_write(cpu, SYN_TRAFFIC_RESET, 1);
}

/* Nobody reads; three wraps. */
static void unattended(void)
{
	int cpu = start(0), fd;

	fd = event_open(PMU, "occupancy_irq", cpu, -1);
	perf_enable(fd);
	sleep_s(3 * WRAP_S);
	perf_disable(fd);
	check(cpu, fd, 3);
}

static void read_often(void)
{
	uint64_t last = 0, now;
	int cpu = start(1), fd, i;

	fd = event_open(PMU, "occupancy_irq", cpu, -1);
	perf_enable(fd);
	for (i = 0; i < 12; i++) {
		sleep_s(WRAP_S / 6);
		now = perf_count(fd).value;
		ktap_check(now > last && now <= box_truth(cpu, SYN_EVENTS, PMU), "%#llx after %#llx",
			   (unsigned long long)now, (unsigned long long)last);
		last = now;
	}
	perf_disable(fd);
	check(cpu, fd, 2);
}

/* All six counters wrap in the same cycle. */
static void all_at_once(void)
{
	int cpu = start(0), fd[6], i;
	uint64_t truth;

	for (i = 0; i < 6; i++)
		fd[i] = event_open(PMU, "occupancy_irq", cpu, i ? fd[0] : -1);
	perf_enable(fd[0]);
	sleep_s(WRAP_S);
	perf_disable(fd[0]);
	truth = silicon_truth(cpu, SYN_EVENTS, CTR);
	ktap_check(truth >> 48 == 1);
	for (i = 0; i < 6; i++) {
		uint64_t count = perf_count(fd[i]).value;

		ktap_check(count == truth, "%#llx, truth %#llx", (unsigned long long)count,
			   (unsigned long long)truth);
	}
	msr_write(cpu, SYN_TRAFFIC_RESET, 1);
}

/* A wrap whose interrupt gets lost is found by the next read. */
static void lost_interrupt(void)
{
	int cpu = start(1), fd;

	msr_write(cpu, SYN_FAULT_LOSE, 1);
	fd = event_open(PMU, "occupancy_irq", cpu, -1);
	perf_enable(fd);
	sleep_s(WRAP_S);
	perf_disable(fd);
	msr_write(cpu, SYN_FAULT_LOSE, 0);
	check(cpu, fd, 1);
}

/*
 * Hardware that cannot interrupt: a timer takes over. All of it, three wraps and no
 * read.
 */
static void without_interrupt(void)
{
	unsigned int sent;
	int cpu, fd;

	silicon_start();
	ktap_require(!system("modprobe -r xeon7500_uncore"), "in use");
	for (cpu = 0; cpu < 2; cpu++)
		msr_write(cpu, SYN_FAULT_DEBUGCTL, 1);
	ktap_require(!system("modprobe xeon7500_uncore"), "cannot be loaded");
	cpu = start(0);
	fd = event_open(PMU, "occupancy_irq", cpu, -1);
	perf_enable(fd);
	sleep_s(3 * WRAP_S);
	perf_disable(fd);
	sent = msr_read(cpu, SYN_PMI_CPU(SYN_PMI_SENT));
	ktap_check(!sent, "%u interrupts", sent);
	check(cpu, fd, 3);

	event_close_all();
	ktap_require(!system("modprobe -r xeon7500_uncore"), "in use");
	for (cpu = 0; cpu < 2; cpu++)
		msr_write(cpu, SYN_FAULT_DEBUGCTL, 0);
	ktap_require(!system("modprobe xeon7500_uncore"), "cannot be loaded");
}

SILICON_MAIN({ "three wraps that nobody sees", unattended },
	     { "two wraps between reads", read_often },
	     { "six counters wrap in one cycle", all_at_once },
	     { "the interrupt of a wrap gets lost", lost_interrupt },
	     { "hardware that cannot interrupt", without_interrupt })
