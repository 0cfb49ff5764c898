// SPDX-License-Identifier: GPL-2.0-only
/*
 * Groups: what fits counts over the very same cycles, what cannot fit is refused.
 *
 * TEST: 6.1 6.12 newest debug
 * VM: --sockets 2 --cores 2
 */
#include "silicon.h"

static const char * const six[6] = {
	"llc_misses.all", "llc_hits.all", "llc_victims.m", "trans_irq", "trans_maf", "snps.remote_rd",
};

static void full_group(void)
{
	const char *pmu = "xeon7500_cbox_4";
	u64 opened, closed, sum = 0;
	uint16_t ctr[SILICON_MAX_COUNTERS];
	int cpu, fd[6], i;

	silicon_start();
	cpu = need_package(1);
	for (i = 0; i < 6; i++)
		fd[i] = event_open(pmu, six[i], cpu, i ? fd[0] : -1);
	perf_run_us(fd[0], 10000);
	for (i = 0; i < 6; i++) {
		struct perf_count count = perf_count(fd[i]);

		ktap_check((count.value || !silicon_here()) && count.running == count.enabled,
			   "%s", six[i]);
		sum += count.value;
	}
	silicon_compare();
	ktap_check(sum == box_truth(cpu, SYN_EVENTS, pmu));

	box_counters(pmu, ctr);
	opened = silicon_truth(cpu, SYN_OPENED, ctr[0]);
	closed = silicon_truth(cpu, SYN_CLOSED, ctr[0]);
	ktap_check(opened && closed > opened);
	for (i = 0; i < 6; i++) {
		ktap_check(silicon_truth(cpu, SYN_WINDOWS, ctr[i]) == 1);
		ktap_check(silicon_truth(cpu, SYN_OPENED, ctr[i]) == opened &&
			   silicon_truth(cpu, SYN_CLOSED, ctr[i]) == closed,
			   "counter %d ran from %lld to %lld cycles beside the first", i,
			   (long long)(silicon_truth(cpu, SYN_OPENED, ctr[i]) - opened),
			   (long long)(silicon_truth(cpu, SYN_CLOSED, ctr[i]) - closed));
	}
}

/* The event more than fits gets EINVAL, and neither it nor the others touch a register. */
static void too_big(const char *pmu, const char *event, const char *last, int fit)
{
	struct perf_event_attr attr;
	int cpu, leader, err, i;

	silicon_start();
	cpu = package_cpu(0);
	leader = event_open(pmu, event, cpu, -1);
	for (i = 1; i < fit; i++)
		event_open(pmu, event, cpu, leader);
	attr = event_attr(pmu, last);
	attr.disabled = 0;
	err = perf_open(&attr, cpu, leader);
	ktap_check(err == -EINVAL, "%s: event %d of the group: %s", pmu, fit + 1,
		   err < 0 ? strerror(-err) : "accepted");
	if (err >= 0)
		close(err);
	silicon_untouched();
}

static void too_big_groups(void)
{
	too_big("xeon7500_cbox_0", "llc_misses.all", "llc_misses.s", 6);
	too_big("xeon7500_ubox", "ipis_sent", "woken", 1);
	too_big("xeon7500_wbox", "prochot", "prochot", 4);
	too_big("xeon7500_wbox", "uncore_clock", "uncore_clock", 1);
}

/* Four events and the clock fit the W-Box together. */
static void wbox_group(void)
{
	u64 sum = 0;
	int cpu, fd[5], i;

	silicon_start();
	cpu = package_cpu(0);
	fd[0] = event_open("xeon7500_wbox", "uncore_clock", cpu, -1);
	for (i = 1; i < 5; i++)
		fd[i] = event_open("xeon7500_wbox", "c_cycles_turbo.c_all", cpu, fd[0]);
	perf_run_us(fd[0], 3000);
	for (i = 0; i < 5; i++) {
		struct perf_count count = perf_count(fd[i]);

		ktap_check(count.running && count.running == count.enabled, "event %d", i);
		sum += count.value;
	}
	silicon_compare();
	ktap_check(sum && sum == box_truth(cpu, SYN_EVENTS, "xeon7500_wbox"), "%llu", sum);
}

/* Other PMUs in the group take no counter of ours. */
static void mixed_group(void)
{
	struct perf_event_attr clock = {
		.size = sizeof(clock),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.disabled = 1,
	};
	struct perf_event_attr attr;
	u64 sum = 0;
	int cpu, leader, fd[6], err, i;

	silicon_start();
	cpu = package_cpu(0);
	leader = event_open_attr(&clock, cpu, -1);
	for (i = 0; i < 6; i++)
		fd[i] = event_open("xeon7500_cbox_6", six[i], cpu, leader);
	attr = event_attr("xeon7500_cbox_6", "snps.remote_rfo");
	err = perf_open(&attr, cpu, leader);
	ktap_check(err == -EINVAL, "%d", err);
	perf_run_us(leader, 3000);
	for (i = 0; i < 6; i++)
		sum += perf_count(fd[i]).value;
	silicon_compare();
	ktap_check(sum && sum == box_truth(cpu, SYN_EVENTS, "xeon7500_cbox_6"), "%llu", sum);
}

/* A group that has to wait for room counts nothing, and is not torn apart. */
static void group_waits_as_a_whole(void)
{
	struct perf_event_attr attr;
	int cpu, single, leader, sibling, i;

	silicon_start();
	cpu = package_cpu(0);
	attr = event_attr("xeon7500_cbox_1", "llc_hits.all");
	attr.pinned = 1;
	for (i = 0; i < 5; i++) {
		single = event_open_attr(&attr, cpu, -1);
		perf_enable(single);
	}
	leader = event_open("xeon7500_cbox_1", "llc_misses.all", cpu, -1);
	sibling = event_open("xeon7500_cbox_1", "llc_misses.s", cpu, leader);
	silicon_clear();
	perf_run_us(leader, 30000);
	ktap_check(perf_count(leader).running == 0 && perf_count(leader).enabled);
	ktap_check(perf_count(leader).value == 0 && perf_count(sibling).value == 0);
	/* Without one of the five it runs. */
	close(open_events[4]);
	open_events[4] = dup(leader);
	perf_run_us(leader, 3000);
	ktap_check(perf_count(leader).running && perf_count(sibling).running);
	silicon_compare();
	ktap_check(perf_count(leader).value && perf_count(sibling).value);
}

MACHINE_MAIN({ "six events over the same cycles", full_group },
	     { "four events and the clock of the W-Box", wbox_group },
	     { "groups too big are refused", too_big_groups },
	     { "a group with a software event", mixed_group },
	     { "a group waits as a whole", group_waits_as_a_whole })
