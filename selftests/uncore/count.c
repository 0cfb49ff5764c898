// SPDX-License-Identifier: GPL-2.0-only
/*
 * What an event counts between enable and disable is exactly what happened.
 *
 * SOAK: newest debug-rt
 * VM: --sockets 2 --cores 2
 */
#include "session.h"

KTAP_CALL(each_event, ktap_check(count_each_event() > 2000))

/* The counter of a box whose control register has this event; they all differ. */
static unsigned int counter_of(int cpu, const char *pmu, const struct perf_event_attr *attr)
{
	uint16_t ctr[SILICON_MAX_COUNTERS];
	int num = box_counters(pmu, ctr), i;

	for (i = 0; i < num; i++) {
		if ((msr_read(cpu, counter_ctl(ctr[i])) & 0xffff) == (attr->config & 0xffff))
			return ctr[i];
	}
	ktap_require(0, "%s: event %#llx is on no counter", pmu, attr->config);
	return 0;
}

/* All counters of all C-Boxes of both packages, each with another event. */
static void all_counters_at_once(void)
{
	static const char * const events[6] = {
		"llc_misses.all", "llc_hits.m", "occupancy_irq", "snps.remote_any",
		"arb_wins.ad_sb", "trans_maf",
	};
	unsigned int ctr[2][8][6];
	int fd[2][8][6];
	char pmu[32];
	int p, b, i;

	silicon_start();
	for (p = 0; p < 2; p++) {
		for (b = 0; b < 8; b++) {
			snprintf(pmu, sizeof(pmu), "xeon7500_cbox_%d", b);
			for (i = 0; i < 6; i++) {
				fd[p][b][i] = event_open(pmu, events[i], package_cpu(p), -1);
				perf_enable(fd[p][b][i]);
			}
		}
	}
	sleep_us(20000);
	for (p = 0; p < 2; p++) {
		for (b = 0; b < 8; b++) {
			snprintf(pmu, sizeof(pmu), "xeon7500_cbox_%d", b);
			for (i = 0; i < 6; i++) {
				struct perf_event_attr attr = event_attr(pmu, events[i]);

				ctr[p][b][i] = counter_of(package_cpu(p), pmu, &attr);
			}
			for (i = 0; i < 6; i++)
				perf_disable(fd[p][b][i]);
		}
	}
	for (p = 0; p < 2; p++) {
		for (b = 0; b < 8; b++) {
			snprintf(pmu, sizeof(pmu), "xeon7500_cbox_%d", b);
			for (i = 0; i < 6; i++) {
				struct perf_count count = perf_count(fd[p][b][i]);
				u64 truth = silicon_truth(package_cpu(p), SYN_EVENTS, ctr[p][b][i]);

				ktap_check(count.value == truth && truth,
					   "package %d %s %s: %llu, truth %llu", p, pmu, events[i],
					   count.value, truth);
				ktap_check(count.running == count.enabled, "%s was multiplexed",
					   events[i]);
			}
		}
	}
}

/* One count for each cycle of the window, no more and no less. */
static void uncore_clock(void)
{
	u64 opened, closed;
	struct perf_count count;
	int cpu, fd;

	silicon_start();
	cpu = package_cpu(1);
	fd = event_open("xeon7500_wbox", "uncore_clock", cpu, -1);
	perf_run_us(fd, 10000);
	count = perf_count(fd);
	opened = silicon_truth(cpu, SYN_OPENED, W_FIXED_CTR);
	closed = silicon_truth(cpu, SYN_CLOSED, W_FIXED_CTR);
	ktap_check(count.value == closed - opened && count.value, "%llu, window %llu", count.value,
		   closed - opened);
}

/* A read of a running counter lies between the truth before and after it. */
static void read_while_running(void)
{
	u64 before, after, last = 0;
	int cpu, fd, i;

	silicon_start();
	cpu = package_cpu(0);
	fd = event_open("xeon7500_cbox_5", "occupancy_maf", cpu, -1);
	perf_enable(fd);
	for (i = 0; i < 1000; i++) {
		struct perf_count count;

		before = box_truth(cpu, SYN_EVENTS, "xeon7500_cbox_5");
		count = perf_count(fd);
		after = box_truth(cpu, SYN_EVENTS, "xeon7500_cbox_5");
		if (!ktap_check(before <= count.value && count.value <= after && count.value > last,
				"%llu, truth %llu to %llu, last read %llu", count.value, before,
				after, last))
			break;
		last = count.value;
	}
	perf_disable(fd);
	ktap_check(perf_count(fd).value == box_truth(cpu, SYN_EVENTS, "xeon7500_cbox_5"));
}

/* Nothing is lost or counted twice where windows end and begin. */
static void many_windows(void)
{
	struct perf_count count;
	u64 windows, truth;
	int cpu, fd, i;

	silicon_start();
	cpu = package_cpu(1);
	fd = event_open("xeon7500_cbox_2", "occupancy_irq", cpu, -1);
	for (i = 0; i < 200; i++) {
		perf_enable(fd);
		if (i % 3 == 0)
			perf_count(fd);
		perf_disable(fd);
		if (i % 5 == 0)
			perf_count(fd);
	}
	count = perf_count(fd);
	truth = box_truth(cpu, SYN_EVENTS, "xeon7500_cbox_2");
	windows = box_truth(cpu, SYN_WINDOWS, "xeon7500_cbox_2");
	ktap_check(count.value == truth && truth, "%llu, truth %llu", count.value, truth);
	ktap_check(windows == 200, "%llu windows", windows);
}

/* PERF_EVENT_IOC_RESET sets perf's count to zero without touching the counter. */
static void reset_while_running(void)
{
	u64 at_reset_lo, at_reset_hi, truth;
	struct perf_count count;
	int cpu, fd;

	silicon_start();
	cpu = package_cpu(0);
	fd = event_open("xeon7500_cbox_0", "llc_misses.all", cpu, -1);
	perf_enable(fd);
	sleep_us(5000);
	at_reset_lo = box_truth(cpu, SYN_EVENTS, "xeon7500_cbox_0");
	ktap_require(!ioctl(fd, PERF_EVENT_IOC_RESET, 0), "reset: %s", strerror(errno));
	at_reset_hi = box_truth(cpu, SYN_EVENTS, "xeon7500_cbox_0");
	sleep_us(5000);
	perf_disable(fd);
	count = perf_count(fd);
	truth = box_truth(cpu, SYN_EVENTS, "xeon7500_cbox_0");
	ktap_check(count.value <= truth - at_reset_lo && count.value >= truth - at_reset_hi,
		   "%llu, truth %llu to %llu", count.value, truth - at_reset_hi,
		   truth - at_reset_lo);
}

MACHINE_MAIN({ "each event of each box, on both packages", each_event },
	     { "all 96 C-Box counters at once", all_counters_at_once },
	     { "the fixed counter counts the clock", uncore_clock },
	     { "reads while running", read_while_running },
	     { "nothing is lost between many windows", many_windows },
	     { "reset while running", reset_while_running })
