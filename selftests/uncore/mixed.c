// SPDX-License-Identifier: GPL-2.0-only
/*
 * Groups of our events with software events and tracepoints: perf calls our functions on behalf of
 * the others, also within a register access of ours, and keeps them where ours have been.
 *
 * TEST: 6.1 6.12 newest debug
 * VM: --sockets 2 --cores 2
 */
#include <sys/resource.h>
#include <sys/wait.h>

#include "foreign.h"
#include "hotplug.h"
#include "kmsg.h"
#include "sampling.h"

static void start(void)
{
	event_close_all();
	all_online(4);
	silicon_start();
}

/* What a group of two has counted, in their order */
struct pair {
	u64 num, value[2];
};

static struct pair pair_read(int leader)
{
	struct pair p = {};

	ktap_require(read(leader, &p, sizeof(p)) == sizeof(p) && p.num == 2, "no group of two");
	return p;
}

/* perf throttles it after some samples of each tick, for the rest of the tick. */
static int throttled_clock_open(int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 50000,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = 1,
	};

	sampling_limit(1000);
	return event_open_attr(&attr, cpu, -1);
}

/* Let it run until its clock has been throttled for a while; not while the CPU is idle. */
static void run_throttled(int leader, int cpu)
{
	struct perf_count count;
	int tries = 0;

	run_on(cpu);
	perf_enable(leader);
	do {
		spin_us(20000);
		count = perf_count(leader);
	} while (count.value > count.running - 5000000 && ++tries < 100);
	perf_disable(leader);
	run_on(-1);
	ktap_require(tries < 100, "never throttled: %llu of %llu ns", count.value, count.running);
}

static void read_within_read(void)
{
	const char *pmu = "xeon7500_cbox_4";
	int cpu, leader, fd, i;
	struct pair p;

	start();
	cpu = package_cpu(0);
	leader = tracepoint_open("msr/read_msr", cpu);
	fd = event_open(pmu, "llc_misses.all", cpu, leader);
	perf_enable(leader);
	for (i = 0; i < 100; i++)
		perf_count(fd);
	perf_disable(leader);
	p = pair_read(leader);
	ktap_check(p.value[0] >= 100, "%llu samples", p.value[0]);
	ktap_check(p.value[1] && p.value[1] == box_truth(cpu, SYN_EVENTS, pmu), "%llu, truth %llu",
		   p.value[1], box_truth(cpu, SYN_EVENTS, pmu));
}

/*
 * Adding the event writes a register that it shares with others: the sample of that tracepoint
 * reads an event which was not there while a gate held the package.
 */
static void read_within_add(void)
{
	struct perf_count count;
	int cpu, leader, fd, gate;

	start();
	cpu = package_cpu(0);
	leader = tracepoint_open("msr/write_msr", cpu);
	fd = event_open("xeon7500_mbox_1", "bbox_cmds.reads", cpu, leader);
	perf_enable(leader);
	sleep_us(20000);
	perf_disable(leader);
	gate = event_open("xeon7500_package", "gate", cpu, -1);
	sleep_us(10000);
	close(gate);
	num_open_events--;
	perf_enable(leader);
	sleep_us(1000);
	perf_disable(leader);
	count = perf_count(fd);
	ktap_check(count.value && count.enabled > 20000000 && count.running == count.enabled,
		   "ran for %llu of %llu ns", count.running, count.enabled);
}

/* Likewise, when another event has used its counter meanwhile, and has counted more. */
static void read_of_another(void)
{
	const char *pmu = "xeon7500_mbox_1";
	int cpu, leader, fd, other;
	u64 sum, truth;

	start();
	cpu = package_cpu(0);
	leader = tracepoint_open("msr/write_msr", cpu);
	fd = event_open(pmu, "bbox_cmds.reads", cpu, leader);
	perf_enable(leader);
	sleep_us(1000);
	perf_disable(leader);
	other = event_open(pmu, "mbox_cycles", cpu, -1);
	perf_run_us(other, 20000);
	ktap_require(msr_read(cpu, M1_CNT_0) > perf_value(fd), "%llu after %llu",
		     msr_read(cpu, M1_CNT_0), perf_value(fd));
	perf_enable(leader);
	sleep_us(1000);
	perf_disable(leader);
	sum = perf_value(fd) + perf_value(other);
	truth = box_truth(cpu, SYN_EVENTS, pmu);
	ktap_check(perf_value(fd) && sum == truth, "%llu in all, truth %llu", sum, truth);
}

/* After an overflow the counter gets its next start value, and the tracepoint reads the event. */
static void read_within_restart(void)
{
	const char *pmu = "xeon7500_cbox_1";
	struct perf_event_attr attr;
	long long writes;
	int cpu, leader, fd, i;

	start();
	cpu = package_cpu(0);
	sampling_limit(1000000);
	leader = tracepoint_open("msr/write_msr", cpu);
	attr = sampling_attr(pmu, "occupancy_irq", 700001);
	attr.disabled = 0;
	fd = event_open_attr(&attr, cpu, leader);
	writes = foreign_writes();
	perf_enable(leader);
	for (i = 0; i < 1000 && box_truth(cpu, SYN_OVERFLOWS, pmu) < 3; i++)
		sleep_us(1000);
	perf_disable(leader);
	ktap_check(i < 1000, "%llu overflows", box_truth(cpu, SYN_OVERFLOWS, pmu));
	ktap_check(perf_value(fd) == box_truth(cpu, SYN_EVENTS, pmu), "%llu, truth %llu",
		   perf_value(fd), box_truth(cpu, SYN_EVENTS, pmu));
	ktap_check(foreign_writes() == writes, "foreign_writes %lld, then %lld", writes,
		   foreign_writes());
	sampling_limit(100000);
}

/*
 * Programming the counter of the first event writes a register: the sample of that tracepoint reads
 * the second one, which has a counter that holds the count of somebody before, and no start value.
 */
static void read_before_start(void)
{
	static const char * const events[] = { "llc_misses.all", "llc_hits.all" };
	const char *pmu = "xeon7500_cbox_4";
	int cpu, leader, fd[2], i;
	u64 sum;

	start();
	cpu = package_cpu(0);
	leader = event_open(pmu, events[0], cpu, -1);
	event_open(pmu, events[1], cpu, leader);
	perf_run_us(leader, 2000);
	event_close_all();
	silicon_clear();
	leader = tracepoint_open("msr/write_msr", cpu);
	for (i = 0; i < 2; i++)
		fd[i] = event_open(pmu, events[i], cpu, leader);
	perf_enable(leader);
	sleep_us(1000);
	perf_disable(leader);
	sum = perf_count(fd[0]).value + perf_count(fd[1]).value;
	ktap_check(sum && sum == box_truth(cpu, SYN_EVENTS, pmu), "%llu, truth %llu", sum,
		   box_truth(cpu, SYN_EVENTS, pmu));
}

/* From 6.16 on perf stops the whole group, but not its running time. */
static void throttled_by_another(void)
{
	const char *pmu = "xeon7500_cbox_4";
	struct perf_count count;
	uint16_t ctr[SILICON_MAX_COUNTERS];
	int cpu, leader, fd;

	start();
	cpu = package_cpu(0);
	leader = throttled_clock_open(cpu);
	fd = event_open(pmu, "llc_misses.all", cpu, leader);
	run_throttled(leader, cpu);
	count = perf_count(fd);
	box_counters(pmu, ctr);
	ktap_check(count.value && count.value == box_truth(cpu, SYN_EVENTS, pmu), "%llu, truth %llu",
		   count.value, box_truth(cpu, SYN_EVENTS, pmu));
	ktap_check(count.running == count.enabled);
	ktap_check(silicon_truth(cpu, SYN_WINDOWS, ctr[0]) == 1, "it counted %llu times",
		   silicon_truth(cpu, SYN_WINDOWS, ctr[0]));
	sampling_limit(100000);
}

/* The host may pause the machine after perf has read its clock, so there are three tries. */
static void gate_throttled_by_another(void)
{
	struct perf_count count;
	int cpu, leader, gate, tries = 3;
	bool right;
	u64 ns;

	do {
		start();
		cpu = package_cpu(0);
		leader = throttled_clock_open(cpu);
		gate = event_open("xeon7500_package", "gate", cpu, leader);
		ns = msr_read(cpu, SYN_NS);
		run_throttled(leader, cpu);
		ns = msr_read(cpu, SYN_NS) - ns;
		count = perf_count(gate);
		right = count.value > count.running / 10 * 9 && count.value < ns / 8 * 9;
	} while (!right && count.running == count.enabled && --tries);
	ktap_check(count.running == count.enabled && right, "open for %llu of %llu ns in %llu ns",
		   count.value, count.running, ns);
	sampling_limit(100000);
}

/*
 * Likewise, in WRMSR of the driver, with its lock held. A tracepoint is throttled only by two
 * samples of one hit, which it has if it has just got another period.
 */
static void throttled_within_a_write(void)
{
	static const u64 two = 2, one = 1;
	struct pair traced, counted;
	struct perf_event_attr attr;
	int cpu, leader, pair, i, n;

	start();
	cpu = package_cpu(0);
	sampling_limit(1000);
	leader = tracepoint_open("msr/write_msr", cpu);
	attr = sampling_attr("xeon7500_cbox_1", "llc_misses.all", 1000000007);
	attr.sample_type = PERF_SAMPLE_IP;
	attr.disabled = 0;
	event_open_attr(&attr, cpu, leader);
	attr = event_attr("xeon7500_cbox_2", "llc_misses.all");
	attr.read_format = PERF_FORMAT_GROUP;
	pair = event_open_attr(&attr, cpu, -1);
	attr = event_attr("xeon7500_cbox_2", "llc_hits.all");
	attr.read_format = PERF_FORMAT_GROUP;
	attr.disabled = 0;
	event_open_attr(&attr, cpu, pair);
	perf_enable(pair);
	perf_enable(leader);
	run_on(cpu);
	for (n = 0; n < 100; n++) {
		/* Only then is the period another one than the last. */
		perf_disable(leader);
		perf_enable(leader);
		/* Each reading is two writes. */
		for (i = 0; i < 20; i++)
			pair_read(pair);
		ktap_require(!ioctl(leader, PERF_EVENT_IOC_PERIOD, &two), "%s", strerror(errno));
		pair_read(pair);
		ktap_require(!ioctl(leader, PERF_EVENT_IOC_PERIOD, &one), "%s", strerror(errno));
	}
	run_on(-1);
	perf_disable(leader);
	perf_disable(pair);
	traced = pair_read(leader);
	counted = pair_read(pair);
	ktap_check(traced.value[0] > 1000, "%llu writes", traced.value[0]);
	ktap_check(traced.value[1] == box_truth(cpu, SYN_EVENTS, "xeon7500_cbox_1"),
		   "%llu, truth %llu", traced.value[1],
		   box_truth(cpu, SYN_EVENTS, "xeon7500_cbox_1"));
	ktap_check(counted.value[0] + counted.value[1] ==
		   box_truth(cpu, SYN_EVENTS, "xeon7500_cbox_2"), "%llu and %llu", counted.value[0],
		   counted.value[1]);
	sampling_limit(100000);
}

/* ---- software events that stay where a group of ours has been ---- */

/* Close the event of ours: as leader, or as sibling. */
static int leave_behind_of(const char *pmu, const char *event, int cpu, bool leads)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
	};
	struct perf_event_attr ours = event_attr(pmu, event);
	int first, second;

	ours.disabled = 0;
	first = perf_open(leads ? &ours : &attr, cpu, -1);
	ktap_require(first >= 0, "%s", strerror(-first));
	second = perf_open(leads ? &attr : &ours, cpu, first);
	ktap_require(second >= 0, "%s", strerror(-second));
	close(leads ? first : second);
	return leads ? second : first;
}

static int leave_behind(int cpu, bool leads)
{
	return leave_behind_of("xeon7500_cbox_3", "llc_misses.all", cpu, leads);
}

static void none_stays_behind(void)
{
	const char *pmu = "xeon7500_cbox_3";
	struct perf_count before, after;
	int left[4], fd[3], cpu, i;

	start();
	cpu = package_cpu(1);
	for (i = 0; i < (int)ARRAY_SIZE(left); i++)
		left[i] = leave_behind(cpu, i & 1);
	for (i = 0; i < (int)ARRAY_SIZE(fd); i++) {
		fd[i] = event_open(pmu, "llc_misses.all", cpu, -1);
		perf_enable(fd[i]);
	}
	set_online(cpu, false);
	for (i = 0; i < (int)ARRAY_SIZE(fd); i++) {
		before = perf_count(fd[i]);
		sleep_us(2000);
		after = perf_count(fd[i]);
		ktap_check(after.enabled - before.enabled > 1000000 && after.value > before.value,
			   "event %d: %llu more in %llu ns", i, after.value - before.value,
			   after.enabled - before.enabled);
	}
	for (i = 0; i < (int)ARRAY_SIZE(left); i++)
		close(left[i]);
	set_online(cpu, true);
}

#define MANY	1100

/* A kernel that moves one with each call does not get them all: the driver says so. */
static void some_stay_behind(void)
{
	static u64 before[MANY];
	static int left[MANY];
	struct rlimit files = { 2 * MANY, 2 * MANY };
	int cpu, i, stopped = 0, told;

	start();
	cpu = package_cpu(1);
	ktap_require(!setrlimit(RLIMIT_NOFILE, &files), "%s", strerror(errno));
	for (i = 0; i < MANY; i++)
		left[i] = leave_behind(cpu, true);
	kmsg_mark();
	set_online(cpu, false);
	told = kmsg_count("too many events");
	for (i = 0; i < MANY; i++)
		before[i] = perf_value(left[i]);
	sleep_us(2000);
	for (i = 0; i < MANY; i++) {
		stopped += perf_value(left[i]) == before[i];
		close(left[i]);
	}
	ktap_check(told == !!stopped, "%d of %d count no more, told %d times", stopped, MANY, told);
	set_online(cpu, true);
}

/* Without them the driver goes in less than a second. While it waits it only says so, once. */
static void unload_waits_for(const char *pmu, const char *event)
{
	int cpu, left[2], status = 0, told = 0, i;
	struct rusage used = {};
	pid_t pid;
	u64 value;

	start();
	set_online(package_cpu(1), false);
	cpu = package_cpu(1);
	all_online(4);
	for (i = 0; i < 2; i++)
		left[i] = leave_behind_of(pmu, event, cpu, i);
	kmsg_mark();
	pid = fork();
	ktap_require(pid >= 0, "fork: %s", strerror(errno));
	if (!pid) {
		for (i = 0; i < 2; i++)
			close(left[i]);
		_exit(unload(OURS));
	}
	/* It waits when it has said so. kmsg_count() takes 100 ms. */
	for (i = 0; i < 600 && !told; i++)
		told = kmsg_count("waiting until 2 software events");
	/* To a CPU before this one. */
	set_online(cpu, false);
	for (i = 0; i < 2; i++) {
		sleep_us(1500000);
		ktap_check(!waitpid(pid, &status, WNOHANG), "the module has gone");
		value = perf_value(left[i]);
		sleep_us(2000);
		ktap_check(perf_value(left[i]) > value, "%llu, before %llu", perf_value(left[i]),
			   value);
		close(left[i]);
	}
	ktap_check(wait4(pid, &status, 0, &used) == pid && !status, "unload: %#x", status);
	ktap_check(used.ru_stime.tv_sec < 2 || debug_kernel(), "it has taken %ld s of a CPU",
		   (long)used.ru_stime.tv_sec);
	told += kmsg_count("waiting until 2 software events");
	ktap_check(told == 1, "told %d times", told);
	ktap_check(!loaded(OURS));
	ktap_check(!load_ours());
}

KTAP_CALL(unload_waits, unload_waits_for("xeon7500_cbox_3", "llc_misses.all"))
KTAP_CALL(unload_waits_at_first_box, unload_waits_for("xeon7500_ubox", "woken"))
KTAP_CALL(unload_waits_at_package, unload_waits_for("xeon7500_package", "frozen"))

SILICON_MAIN({ "a sample within a read reads the same event", read_within_read },
	     { "a sample within an add reads the event that is added", read_within_add },
	     { "and not what another event has counted", read_of_another },
	     { "a sample within a restart reads the event that is restarted", read_within_restart },
	     { "a sample within an add reads an event that has no start value", read_before_start },
	     { "a member of another PMU is throttled, ours counts on", throttled_by_another },
	     { "so does the time of a gate", gate_throttled_by_another },
	     { "a member is throttled within a write of ours", throttled_within_a_write },
	     { "what others left behind keeps no event on a CPU that goes", none_stays_behind },
	     { "too many of them to move: the log says so", some_stay_behind },
	     { "unload waits for what others left behind", unload_waits },
	     { "likewise at the U-Box", unload_waits_at_first_box },
	     { "and at the PMU of the package", unload_waits_at_package })
