// SPDX-License-Identifier: GPL-2.0-only
/*
 * A group that is read at once belongs to one moment: PERF_FORMAT_GROUP of running
 * events, and the group in a sample.
 *
 * VM: --sockets 2 --cores 2 --icount --append nmi_watchdog=0
 * SOAK: 6.1 6.12 newest
 */
#include "hotplug.h"
#include "sampling.h"

struct group {
	u64 num;
	u64 val[8];
};

static void read_group(int leader, struct group *g, unsigned int num)
{
	ssize_t size = 8 + 8 * num;

	ktap_require(read(leader, g, sizeof(*g)) == size && g->num == num, "read: %s",
		     strerror(errno));
}

/* The leader is read as a group. */
static int open_group(const char *pmu, const char *event, int num, int cpu)
{
	struct perf_event_attr attr = event_attr(pmu, event);
	int leader, i;

	attr.read_format = PERF_FORMAT_GROUP;
	leader = event_open_attr(&attr, cpu, -1);
	attr.disabled = 0;
	for (i = 1; i < num; i++)
		event_open_attr(&attr, cpu, leader);
	return leader;
}

/* As many times the same event as fit: each read finds them all alike. */
static void same_event(const char *pmu, const char *event, int num, int cpu)
{
	uint16_t ctr[SILICON_MAX_COUNTERS];
	u64 last = 0, windows;
	struct group g;
	int leader, i, n;

	silicon_start();
	leader = open_group(pmu, event, num, cpu);
	perf_enable(leader);
	for (i = 0; i < 100; i++) {
		u64 before = box_truth(cpu, SYN_EVENTS, pmu), after;

		read_group(leader, &g, num);
		after = box_truth(cpu, SYN_EVENTS, pmu);
		for (n = 1; n < num; n++) {
			if (!ktap_check(g.val[n] == g.val[0], "%s/%s/: %llu and %llu", pmu, event,
					g.val[n], g.val[0]))
				return;
		}
		if (!ktap_check(g.val[0] > last && before <= num * g.val[0] &&
				num * g.val[0] <= after,
				"%s/%s/: %d times %llu, truth %llu to %llu", pmu, event, num,
				g.val[0], before, after))
			return;
		last = g.val[0];
	}
	perf_disable(leader);
	read_group(leader, &g, num);
	ktap_check(g.val[0] * num == box_truth(cpu, SYN_EVENTS, pmu));
	/* They stand while they are read, all of them, and nothing else does it. */
	box_counters(pmu, ctr);
	windows = box_truth(cpu, SYN_WINDOWS, pmu);
	ktap_check(windows == 101ULL * num, "%s: %llu windows of %d counters", pmu, windows, num);
}

static void each_box(void)
{
	int cpu = package_cpu(0);

	same_event("xeon7500_cbox_0", "llc_hits.all", 6, cpu);
	same_event("xeon7500_cbox_5", "occupancy_maf", 2, cpu);
	same_event("xeon7500_wbox", "c_cycles_turbo.c_all", 4, cpu);
	same_event("xeon7500_sbox_1", "to_r_ndr_msgq_occupancy", 4, cpu);
	same_event("xeon7500_mbox_0", "mbox_cycles", 6, cpu);
	same_event("xeon7500_rbox_0", "flits_sent,port=1", 8, cpu);
	cpu = package_cpu(1);
	same_event("xeon7500_cbox_7", "trans_irq", 6, cpu);
	same_event("xeon7500_rbox_1", "flits_sent,port=3", 8, cpu);
}

/* One event in every cycle, another thrice, the third every fourth cycle: exact ratios. */
static void ratios(void)
{
	const char *pmu = "xeon7500_cbox_2";
	struct perf_event_attr attr;
	int cpu, leader, i;
	struct group g;

	silicon_start();
	cpu = package_cpu(1);
	silicon_traffic(cpu, SYN_SEL(SYN_BOX_C, 2, 0x1f, SYN_ANY), SYN_PATTERN(2, 0, 4, 1));
	silicon_traffic(cpu, SYN_SEL(SYN_BOX_C, 2, 0x1e, SYN_ANY), SYN_PATTERN(2, 0, 4, 3));
	silicon_traffic(cpu, SYN_SEL(SYN_BOX_C, 2, 0x19, SYN_ANY), SYN_PATTERN(2, 0, 1, 1));
	attr = event_attr(pmu, "trans_maf");
	attr.read_format = PERF_FORMAT_GROUP;
	leader = event_open_attr(&attr, cpu, -1);
	event_open(pmu, "occupancy_maf", cpu, leader);
	event_open(pmu, "trans_irq", cpu, leader);
	perf_enable(leader);
	for (i = 0; i < 200; i++) {
		/* The quarter loses up to one where a window begins or ends. */
		read_group(leader, &g, 3);
		if (!ktap_check(g.val[1] == 3 * g.val[0] && g.val[2] * 4 + 4 * (i + 2) > g.val[0] &&
				g.val[2] * 4 < g.val[0] + 4 * (i + 2),
				"%llu, %llu, %llu", g.val[0], g.val[1], g.val[2]))
			break;
	}
	msr_write(cpu, SYN_TRAFFIC_RESET, 1);
}

/* What is left of a group: counters that somebody else has go on, also the first one. */
static void part_of_a_group(void)
{
	const char *pmu = "xeon7500_cbox_3";
	int cpu, leader, sibling[2], i;
	u64 windows;
	struct group g;

	silicon_start();
	cpu = package_cpu(0);
	perf_enable(event_open(pmu, "trans_maf", cpu, -1));
	leader = open_group(pmu, "llc_hits.all", 1, cpu);
	for (i = 0; i < 2; i++)
		sibling[i] = event_open(pmu, "llc_hits.m", cpu, leader);
	perf_enable(leader);
	perf_disable(sibling[1]);
	for (i = 0; i < 3; i++)
		perf_enable(event_open(pmu, "trans_maf", cpu, -1));
	windows = box_truth(cpu, SYN_WINDOWS, pmu);
	for (i = 0; i < 10; i++)
		read_group(leader, &g, 3);
	/* Of the six counters only the two of the group have stood. */
	windows = box_truth(cpu, SYN_WINDOWS, pmu) - windows;
	ktap_check(windows == 2 * 10, "%llu windows", windows);
}

static void check_cost(const char *what, unsigned int reads, unsigned int writes)
{
	unsigned int rd = msr_read(0, SYN_ACCESS_ALL(SYN_RANGE_UNCORE, 0));
	unsigned int wr = msr_read(0, SYN_ACCESS_ALL(SYN_RANGE_UNCORE, 1));

	ktap_check(rd == reads && wr == writes, "%s: %u reads, %u writes", what, rd, wr);
}

static void cost(void)
{
	int cpu, leader, single, gate;
	struct group g;

	silicon_start();
	cpu = package_cpu(0);
	leader = open_group("xeon7500_cbox_4", "llc_hits.all", 5, cpu);
	single = open_group("xeon7500_cbox_4", "llc_hits.m", 1, cpu);
	perf_enable(leader);
	perf_enable(single);
	silicon_clear();
	read_group(leader, &g, 5);
	check_cost("five running events", 5, 2);
	ktap_check(silicon_truth(cpu, SYN_WINDOWS, C4_CTR_5) == 1,
		   "the sixth counter stood still for the others");
	silicon_clear();
	read_group(single, &g, 1);
	check_cost("one running event", 1, 0);
	perf_disable(single);
	perf_disable(leader);
	silicon_clear();
	read_group(leader, &g, 5);
	check_cost("a stopped group", 0, 0);

	/* Behind a closed gate they stand already. */
	gate = event_open("xeon7500_package", "gate", cpu, -1);
	perf_enable(leader);
	silicon_clear();
	read_group(leader, &g, 5);
	check_cost("behind a closed gate", 5, 0);
	perf_enable(gate);
	perf_disable(leader);
}

/* ---- groups in samples ---- */

struct seen {
	int num;
	u64 samples;
	u64 last;
	bool failed;
};

static void check_group(const struct ring *r, const struct sample *s, void *arg)
{
	struct seen *seen = arg;
	int i;

	(void)r;
	seen->samples++;
	if (seen->failed)
		return;
	for (i = 1; i < seen->num; i++)
		seen->failed |= s->value[i] != s->value[0];
	seen->failed |= s->num_values != (u64)seen->num || s->value[0] <= seen->last;
	ktap_check(!seen->failed, "sample %llu: %llu values, %llu %llu %llu, last %llu",
		   seen->samples, s->num_values, s->value[0], s->value[1], s->value[2], seen->last);
	seen->last = s->value[0];
}

/*
 * A sampled leader and siblings that count the same. Only with freeze do the counts in a
 * sample belong to one moment.
 */
static struct ring *open_sampled(const char *pmu, const char *event, int num, u64 period, int cpu)
{
	struct perf_event_attr attr;
	char frozen[64];
	struct ring *r;
	int leader, i;

	snprintf(frozen, sizeof(frozen), "%s,freeze=1", event);
	attr = sampling_attr(pmu, frozen, period);
	attr.sample_type |= PERF_SAMPLE_READ;
	attr.read_format = PERF_FORMAT_GROUP;
	leader = event_open_attr(&attr, cpu, -1);
	r = event_ring(leader, attr.sample_type, 256);
	attr = event_attr(pmu, event);
	attr.read_format = PERF_FORMAT_GROUP;
	attr.disabled = 0;
	for (i = 1; i < num; i++)
		event_open_attr(&attr, cpu, leader);
	return r;
}

static void sample_for(struct ring *r, struct seen *seen, unsigned int us)
{
	perf_enable(r->fd);
	spin_us(us);
	perf_disable(r->fd);
	ring_drain(r, check_group, seen);
}

static void sampled_group(const char *pmu, const char *event, int num, u64 period, int cpu,
			  unsigned int us)
{
	struct seen seen = { .num = num };
	u64 overflows, truth;
	struct group g;
	struct ring *r;

	silicon_start();
	sampling_limit(1000000);
	r = open_sampled(pmu, event, num, period, cpu);
	perf_run_us(r->fd, us);
	overflows = all_overflows();
	ring_drain(r, check_group, &seen);
	ktap_check(overflows && seen.samples == overflows, "%s: %llu samples, %llu overflows", pmu,
		   seen.samples, overflows);
	read_group(r->fd, &g, num);
	truth = box_truth(cpu, SYN_EVENTS, pmu);
	ktap_check(g.val[0] * num == truth, "%s: %d times %llu, %llu, ..., %llu, truth %llu", pmu,
		   num, g.val[0], g.val[1], g.val[num - 1], truth);
}

static void sampled_groups(void)
{
	int cpu, i;

	/* Of all lengths, to end at any instruction of the handler. */
	for (i = 0; i < 20; i++) {
		cpu = package_cpu(i & 1);
		sampled_group("xeon7500_cbox_0", "llc_hits.all", 6, 40000, cpu, 1000 + i);
		sampled_group("xeon7500_cbox_6", "occupancy_irq", 6, 300007, cpu, 1000 + i);
		sampled_group("xeon7500_wbox", "c_cycles_turbo.c_all", 4, 100003, cpu, 1000 + i);
		sampled_group("xeon7500_sbox_0", "to_r_ndr_msgq_occupancy", 4, 100007, cpu, 1000 + i);
		sampled_group("xeon7500_mbox_1", "mbox_cycles", 6, 40001, cpu, 1000 + i);
		sampled_group("xeon7500_rbox_1", "flits_sent,port=2", 8, 30001, cpu, 1000 + i);
	}
}

static void set_period(struct ring *r, u64 period)
{
	ktap_require(!ioctl(r->fd, PERF_EVENT_IOC_PERIOD, &period), "%s", strerror(errno));
}

/*
 * A group whose leader overflows every 12,000 cycles, or as rarely as leaves the program some
 * time between two overflows: the handler of a debug kernel needs more of it. What makes it
 * longer still has been set.
 */
static struct ring *open_shortest(int cpu, u64 *period)
{
	struct ring *r;

	for (*period = 12000;; *period *= 2) {
		r = open_sampled("xeon7500_mbox_1", "mbox_cycles", 6, *period, cpu);
		perf_enable(r->fd);
		spin_us(30);
		perf_disable(r->fd);
		ring_drain(r, NULL, NULL);
		if (r->samples < 20)
			return r;
		event_close_all();
	}
}

/*
 * An overflow, and so the freeze, at each instruction of a handler that has found a package
 * which runs: each NMI comes again after 10 us, and the next overflow some cycles later each
 * time.
 */
static void freeze_in_the_handler(void)
{
	struct seen seen = { .num = 6 };
	int cpu = package_cpu(0), other;
	u64 period, before, doubled, shortest, rounds = 0;
	struct ring *r;

	silicon_start();
	sampling_limit(1000000);
	run_on(cpu);
	/* With --icount the CPUs take turns, and the second NMI must not wait for a turn to end. */
	for (other = 0; other < sysconf(_SC_NPROCESSORS_CONF); other++) {
		if (other != cpu)
			set_online(other, false);
	}
	msr_write(0, SYN_FAULT_DOUBLE, 1ull << 40);
	r = open_shortest(cpu, &shortest);
	before = msr_read(cpu, SYN_PMI(SYN_PMI_DOUBLED));
	for (period = shortest; period < shortest + 18000; period += soak() ? 1 : 7) {
		rounds++;
		set_period(r, period);
		sample_for(r, &seen, 30);
	}
	run_on(-1);
	doubled = msr_read(cpu, SYN_PMI(SYN_PMI_DOUBLED)) - before;
	msr_write(0, SYN_FAULT_DOUBLE, 0);
	ktap_note("%llu samples, %llu NMIs came twice", seen.samples, doubled);
	ktap_check(seen.samples > rounds / 2 && doubled > rounds / 2 && doubled <= seen.samples);
}

/* The freeze comes so late that the handler is there before it, and has ended. */
static void freeze_after_the_handler(void)
{
	struct seen seen = { .num = 6 };
	int cpu = package_cpu(0);
	u64 usual = msr_read(cpu, SYN_FREEZE_LATENCY), latest = 16000, cycles, period;
	struct ring *r;

	silicon_start();
	sampling_limit(1000000);
	run_on(cpu);
	msr_write(cpu, SYN_FREEZE_LATENCY, latest);
	r = open_shortest(cpu, &period);
	set_period(r, period + 7);
	for (cycles = usual; cycles < latest; cycles += soak() ? 1 : 37) {
		msr_write(cpu, SYN_FREEZE_LATENCY, cycles);
		sample_for(r, &seen, 30);
	}
	msr_write(cpu, SYN_FREEZE_LATENCY, usual);
	run_on(-1);
	ktap_check(seen.samples > 400, "%llu samples", seen.samples);
}

/*
 * Both the freeze and the NMI come late. A read has seen the overflow, and the sample that is
 * owed is given as soon as somebody else uses the box.
 */
static void sample_before_the_freeze(void)
{
	struct seen seen = { .num = 5 };
	int cpu = package_cpu(0), neighbour, i;
	u64 usual = msr_read(cpu, SYN_FREEZE_LATENCY), period = 2000003;
	u64 before, overflows;
	struct group g;
	struct ring *r;

	silicon_start();
	sampling_limit(1000000);
	neighbour = event_open("xeon7500_mbox_1", "mbox_cycles", cpu, -1);
	run_on(cpu);
	r = open_sampled("xeon7500_mbox_1", "mbox_cycles", 5, period, cpu);
	msr_write(cpu, SYN_FREEZE_LATENCY, 5000000);
	msr_write(0, SYN_FAULT_DELAY_NS, 1500000);
	for (i = 0; i < 20; i++) {
		before = seen.samples;
		/* A whole one, which takes 885 us. */
		set_period(r, period);
		perf_enable(r->fd);
		spin_us(1000);
		read_group(r->fd, &g, 5);
		perf_enable(neighbour);
		perf_disable(neighbour);
		ring_drain(r, check_group, &seen);
		ktap_check(seen.samples > before, "no sample of overflow %llu", before);
		perf_disable(r->fd);
		ring_drain(r, check_group, &seen);
		overflows = box_truth(cpu, SYN_OVERFLOWS, "xeon7500_mbox_1");
		ktap_check(seen.samples == overflows, "%llu samples of %llu overflows",
			   seen.samples, overflows);
		/* Freeze and NMI come here, and find nothing that counts. */
		spin_us(2500);
	}
	msr_write(0, SYN_FAULT_DELAY_NS, 0);
	msr_write(cpu, SYN_FREEZE_LATENCY, usual);
	run_on(-1);
}

/*
 * Samples that interrupt reads of the very group, at any instruction: from the CPU of
 * the package, so that they are served there. The samples are coherent; of the reads
 * perf can only promise that they do not go backwards, since a sample between two
 * values it copies has updated the second.
 */
static void reads_and_samples(void)
{
	struct seen seen = { .num = 6 };
	u64 reads = 0, torn = 0;
	struct group g, last = {};
	struct ring *r;
	int n;

	silicon_start();
	sampling_limit(1000000);
	run_on(package_cpu(1));
	r = open_sampled("xeon7500_cbox_3", "llc_hits.all", 6, 7001, package_cpu(1));
	perf_enable(r->fd);
	while (seen.samples < 3000) {
		read_group(r->fd, &g, 6);
		reads++;
		for (n = 0; n < 6; n++) {
			/* A group whose overflows take too much time waits, as a whole. */
			ktap_require(g.val[n] >= last.val[n], "%llu after %llu", g.val[n],
				     last.val[n]);
			torn += g.val[n] != g.val[0];
		}
		last = g;
		if (reads % 64 == 0)
			ring_drain(r, check_group, &seen);
	}
	perf_disable(r->fd);
	run_on(-1);
	ktap_note("%llu reads, %llu values of them not of one moment, %llu samples", reads, torn,
		  seen.samples);
	read_group(r->fd, &g, 6);
	ktap_check(g.val[0] * 6 == box_truth(package_cpu(1), SYN_EVENTS, "xeon7500_cbox_3"));
}

/*
 * Samples of a group while perf takes it off its counters and puts it back, event by event,
 * since another comes and goes: of a leader, and of the last sibling.
 */
static void sampled_while_scheduled(const char *sampled, const char *counted, int sampling)
{
	struct seen seen = { .num = 5 };
	int cpu = package_cpu(1), neighbour, leader = -1, fd, i;
	struct perf_event_attr attr;
	struct ring *r = NULL;
	u64 sum, truth;
	struct group g;

	silicon_start();
	sampling_limit(1000000);
	run_on(cpu);
	neighbour = event_open("xeon7500_cbox_3", "llc_misses.all", cpu, -1);
	for (i = 0; i < 5; i++) {
		attr = event_attr("xeon7500_cbox_3", counted);
		if (i == sampling)
			attr = sampling_attr("xeon7500_cbox_3", sampled, 7001);
		attr.sample_type |= PERF_SAMPLE_READ;
		attr.read_format = PERF_FORMAT_GROUP;
		attr.disabled = i == 0;
		fd = event_open_attr(&attr, cpu, leader);
		if (i == 0)
			leader = fd;
		if (i == sampling)
			r = event_ring(fd, attr.sample_type, 256);
	}
	perf_enable(leader);
	while (seen.samples < (soak() ? 30000 : 3000)) {
		perf_enable(neighbour);
		perf_disable(neighbour);
		ring_drain(r, check_group, &seen);
	}
	perf_disable(leader);
	run_on(-1);
	ring_drain(r, check_group, &seen);
	ktap_check(seen.samples == all_overflows(), "%llu samples, %llu overflows", seen.samples,
		   all_overflows());
	sum = perf_value(neighbour);
	read_group(leader, &g, 5);
	for (i = 0; i < 5; i++)
		sum += g.val[i];
	truth = box_truth(cpu, SYN_EVENTS, "xeon7500_cbox_3");
	ktap_check(sum == truth, "%llu in all, truth %llu", sum, truth);
}

static void samples_while_scheduled(void)
{
	sampled_while_scheduled("llc_hits.all,freeze=1", "llc_hits.all", 0);
	sampled_while_scheduled("llc_hits.all,freeze=1", "llc_hits.all", 4);
}

SILICON_MAIN({ "the same event several times", each_box },
	     { "a group has exact ratios", ratios },
	     { "part of a group", part_of_a_group },
	     { "reading a group costs a read for each counter, and two writes", cost },
	     { "groups in samples are of one moment", sampled_groups },
	     { "an overflow in the middle of the handler", freeze_in_the_handler },
	     { "a freeze after the handler", freeze_after_the_handler },
	     { "a sample before the freeze", sample_before_the_freeze },
	     { "samples in the middle of reads", reads_and_samples },
	     { "samples in the middle of scheduling", samples_while_scheduled })
