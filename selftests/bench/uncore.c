// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the uncore driver that is loaded costs, ours or mainline's: one line
 * "ROW VALUE" each, MSR accesses as the silicon counts them and instructions as
 * -icount does.
 *
 *	uncore xeon7500|uncore		the prefix of its PMUs
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "msr.h"
#include "perf.h"
#include "storm.h"
#include "synthetic.h"

#define LLC_MISSES	0x0714	/* C-Box: any event would do */
#define ROUNDS		100
#define MAX_EVENTS	64

/* The first counter of each C-Box. */
static const uint16_t cbox_ctr[] = { C0_CTR_0, C1_CTR_0, C2_CTR_0, C3_CTR_0,
				     C4_CTR_0, C5_CTR_0, C6_CTR_0, C7_CTR_0 };

static const char *prefix;
static int fds[MAX_EVENTS];
static int num_fds;
static int storm_fd[STORM_COUNTERS];
static int num_storm;

static unsigned long accesses(void)
{
	return msr_read(0, SYN_ACCESS_ALL(SYN_RANGE_UNCORE, 0)) +
	       msr_read(0, SYN_ACCESS_ALL(SYN_RANGE_UNCORE, 1));
}

static void clear(void)
{
	msr_write(0, SYN_CLEAR, 1);
}

static void row(const char *name, unsigned long val)
{
	printf("%s %lu\n", name, val);
}

static int add_pmu(const char *pmu, u64 config, int group)
{
	struct perf_event_attr attr = perf_attr(pmu, config);

	/* The leader of a group switches all of it. */
	attr.disabled = group < 0;
	fds[num_fds] = perf_open(&attr, 0, group);
	ktap_require(fds[num_fds] >= 0, "%s: %s", pmu, strerror(-fds[num_fds]));
	return fds[num_fds++];
}

static int add(const char *box, u64 config, int group)
{
	char pmu[32];

	snprintf(pmu, sizeof(pmu), "%s_%s", prefix, box);
	return add_pmu(pmu, config, group);
}

static int add_gate(void)
{
	return add_pmu("xeon7500_package", 1, -1);
}

static void close_all(void)
{
	while (num_fds)
		close(fds[--num_fds]);
}

/* Enable, disable and close one by one, as perf stat does; every size-th leads a group. */
static void session(const char *name, int size)
{
	int i;

	for (i = 0; i < num_fds; i += size)
		perf_enable(fds[i]);
	usleep(1000);
	for (i = 0; i < num_fds; i += size)
		perf_disable(fds[i]);
	for (i = 0; i < num_fds; i++)
		perf_count(fds[i]);
	close_all();
	row(name, accesses());
}

static void one(void)
{
	clear();
	add("cbox_0", LLC_MISSES, -1);
	session("one C-Box event, open to close", 1);
}

static void twelve(void)
{
	int i;

	clear();
	for (i = 0; i < 12; i++)
		add(i < 6 ? "cbox_0" : "cbox_1", LLC_MISSES, -1);
	session("12 events on two C-Boxes", 1);
}

static void group(void)
{
	int leader;

	clear();
	leader = add("cbox_0", LLC_MISSES, -1);
	add("cbox_0", LLC_MISSES, leader);
	add("cbox_0", LLC_MISSES, leader);
	session("group of three", 3);
}

static void full(void)
{
	char box[16];
	int i, b;

	clear();
	for (b = 0; b < 8; b++) {
		snprintf(box, sizeof(box), "cbox_%d", b);
		for (i = 0; i < 6; i++)
			add(box, LLC_MISSES, -1);
	}
	for (i = 0; i < 4; i++)
		add("sbox_0", 0x0060 | 0x0300, -1);
	for (i = 0; i < 4; i++)
		add("wbox", 0x02, -1);
	add("ubox", 0xf9, -1);
	session("all counters of U, C, S0 and W, one by one", 1);
}

static void reading(void)
{
	unsigned long insns;
	int fd, i;

	fd = add("cbox_0", LLC_MISSES, -1);
	perf_enable(fd);
	clear();
	insns = msr_read(0, SYN_INSNS);
	for (i = 0; i < ROUNDS; i++)
		perf_count(fd);
	insns = msr_read(0, SYN_INSNS) - insns;
	row("read() of a running event", accesses() / ROUNDS);
	row("read(), instructions", insns / ROUNDS);
	perf_disable(fd);
	close_all();
}

static void switching(void)
{
	unsigned long on = 0, off = 0, start;
	int fd, i;

	fd = add("cbox_0", LLC_MISSES, -1);
	for (i = 0; i < ROUNDS; i++) {
		start = msr_read(0, SYN_INSNS);
		perf_enable(fd);
		on += msr_read(0, SYN_INSNS) - start;
		start = msr_read(0, SYN_INSNS);
		perf_disable(fd);
		off += msr_read(0, SYN_INSNS) - start;
	}
	close_all();
	row("enable, instructions", on / ROUNDS);
	row("disable, instructions", off / ROUNDS);
}

static void idle(void)
{
	clear();
	usleep(1000000);
	row("idle for a second", accesses());
}

/* The spread of the moments at which 48 counters of 8 boxes start. */
static void skew(void)
{
	u64 opened, first = -1, last = 0;
	int gates = !strcmp(prefix, "xeon7500"), gate, b, i, held;
	char box[16];

	for (held = 0; held <= gates; held++) {
		first = -1;
		last = 0;
		clear();
		for (b = 0; b < 8; b++) {
			snprintf(box, sizeof(box), "cbox_%d", b);
			for (i = 0; i < 6; i++)
				add(box, LLC_MISSES, -1);
		}
		gate = held ? add_gate() : -1;
		for (i = 0; i < num_fds; i++)
			perf_enable(fds[i]);
		for (b = 0; b < 8; b++) {
			for (i = 0; i < 6; i++) {
				opened = msr_read(0, SYN_TRUTH(SYN_OPENED, cbox_ctr[b] + 2 * i));
				first = opened < first ? opened : first;
				last = opened > last ? opened : last;
			}
		}
		if (gate >= 0)
			perf_disable(gate);
		close_all();
		row(held ? "start skew of 8 x 6 counters behind a gate, cycles" :
			   "start skew of 8 x 6 counters, cycles", last - first);
	}
}

/* Events that sample behind a gate, each every 1000000 cycles: they overflow together. */
static void overflows(const char *what, int boxes, int counters, u64 freeze)
{
	struct perf_event_attr attr;
	unsigned long before, overflows = 0, insns, pmis, num;
	int gate, b, i;
	char name[80], pmu[32];

	gate = add_gate();
	for (b = 0; b < boxes; b++) {
		for (i = 0; i < counters; i++) {
			snprintf(pmu, sizeof(pmu), "%s_cbox_%d", prefix, b);
			attr = perf_attr(pmu, 0x0114 | freeze << 62);
			attr.sample_period = 1000000;
			attr.sample_type = PERF_SAMPLE_IP;
			attr.wakeup_events = 1000000;
			fds[num_fds] = perf_open(&attr, 0, -1);
			ktap_require(fds[num_fds] >= 0, "sampling: %s", strerror(-fds[num_fds]));
			perf_enable(fds[num_fds++]);
		}
	}
	perf_enable(gate);
	clear();
	before = msr_read(0, SYN_INSNS);
	usleep(200000);
	insns = msr_read(0, SYN_INSNS) - before;
	num = accesses();
	pmis = msr_read(0, SYN_PMI_CPU(SYN_PMI_SENT));
	for (b = 0; b < boxes; b++) {
		for (i = 0; i < counters; i++)
			overflows += msr_read(0, SYN_TRUTH(SYN_OVERFLOWS, cbox_ctr[b] + 2 * i));
	}
	ktap_require(overflows && pmis, "no overflow");
	close_all();
	before = msr_read(0, SYN_INSNS);
	usleep(200000);
	insns -= msr_read(0, SYN_INSNS) - before;
	/* The 10 ms watch reads the status once each time. */
	snprintf(name, sizeof(name), "%s: PMIs in 200 ms", what);
	row(name, pmis);
	snprintf(name, sizeof(name), "%s: accesses for each overflow", what);
	printf("%s %.2f\n", name, (double)num / overflows);
	snprintf(name, sizeof(name), "%s: instructions for each PMI", what);
	row(name, insns / pmis);
}

static void all_overflows(void)
{
	/* What is left to do from booting would be counted along. */
	usleep(2000000);
	/* One event in each cycle. */
	msr_write(0, SYN_TRAFFIC_SEL, SYN_SEL(SYN_BOX_C, SYN_ANY, 0x14, 0));
	msr_write(0, SYN_TRAFFIC_SET, SYN_PATTERN(0, 0, 1, 1));
	overflows("overflow, frozen", 1, 1, 1);
	overflows("overflow, not frozen", 1, 1, 0);
	overflows("six of a box at once, frozen", 1, 6, 1);
	overflows("six of a box at once, not frozen", 1, 6, 0);
	overflows("eight boxes at once, frozen", 8, 1, 1);
	overflows("eight boxes at once, not frozen", 8, 1, 0);
	msr_write(0, SYN_TRAFFIC_RESET, 1);
}

static void add_sampling(const char *pmu, const char *event, int n, void *freeze)
{
	char name[64];
	struct perf_event_attr attr;

	(void)n;
	snprintf(name, sizeof(name), "%s%s", event, (const char *)freeze);
	attr = event_attr(pmu, name);
	attr.sample_period = 20000000;
	attr.sample_type = PERF_SAMPLE_IP;
	attr.wakeup_events = 1000000;
	storm_fd[num_storm] = perf_open(&attr, 0, -1);
	ktap_require(storm_fd[num_storm] >= 0, "%s: %s", pmu, strerror(-storm_fd[num_storm]));
	perf_enable(storm_fd[num_storm++]);
}

/* Every counter of every box overflows in the same cycle, and once. */
static void everything_at_once(const char *what, char *freeze)
{
	char name[80];
	int gate = add_gate();

	storm_traffic(0);
	storm_for_each(add_sampling, freeze);
	clear();
	perf_enable(gate);
	usleep(12000);
	perf_disable(gate);
	snprintf(name, sizeof(name), "all %d counters at once, %s: longest NMI", num_storm, what);
	row(name, msr_read(0, SYN_PMI_CPU(SYN_PMI_NMI_ACCESSES)));
	snprintf(name, sizeof(name), "all %d counters at once, %s: instructions", num_storm, what);
	row(name, msr_read(0, SYN_PMI_CPU(SYN_PMI_NMI_INSNS)));
	while (num_storm)
		close(storm_fd[--num_storm]);
	close_all();
	msr_write(0, SYN_TRAFFIC_RESET, 1);
}

int main(int argc, char **argv)
{
	cpu_set_t cpu;

	if (argc != 2 || setjmp(ktap_end))
		return 1;
	prefix = argv[1];
	/* No other CPU has a part in it. */
	CPU_ZERO(&cpu);
	CPU_SET(0, &cpu);
	if (sched_setaffinity(0, sizeof(cpu), &cpu))
		return 1;
	/* Before other boxes have been in use: the handler looks at all that ever were. */
	if (!strcmp(prefix, "xeon7500"))
		all_overflows();
	one();
	group();
	twelve();
	full();
	reading();
	switching();
	idle();
	skew();
	if (!strcmp(prefix, "xeon7500")) {
		everything_at_once("frozen", ",freeze=1");
		everything_at_once("not frozen", "");
	}
	return 0;
}
