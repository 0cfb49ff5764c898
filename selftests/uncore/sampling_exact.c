// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sampling against the truth: every overflow of the silicon is a sample, or one of
 * which perf or the driver says that it is none; and the count is what happened.
 *
 * TEST: 6.1 6.12 newest debug
 * SOAK: 6.1 6.12 newest debug-rt
 * SKIP: debug
 * VM: --sockets 2 --cores 2 --icount --append nmi_watchdog=0
 */
#include "sampling.h"

static const struct {
	const char *pmu;
	const char *event;
} kinds[] = {
	{ "xeon7500_ubox", "woken" },
	{ "xeon7500_cbox_0", "llc_misses.all" },
	{ "xeon7500_cbox_1", "llc_hits.all" },
	{ "xeon7500_cbox_2", "occupancy_irq" },
	{ "xeon7500_cbox_3", "trans_maf" },
	{ "xeon7500_cbox_4", "occupancy_maf,thresh=3,edge" },
	{ "xeon7500_cbox_5", "arb_wins.ad_sb" },
	{ "xeon7500_cbox_6", "snps.remote_any" },
	{ "xeon7500_cbox_7", "llc_misses.s" },
	{ "xeon7500_wbox", "uncore_clock" },
	{ "xeon7500_wbox", "c_cycles_turbo.c_all" },
	EACH_SBMR_BOX
};

#define KINDS	(int)ARRAY_SIZE(kinds)

/* In the EVT_SEL of a C-Box */
#define SEL_ENABLE	(1 << 22)

/* How often the event happens in 1000 uncore cycles. */
static u64 rate(const char *pmu, const char *event, int cpu)
{
	int fd = event_open(pmu, event, cpu, -1);

	perf_run_us(fd, 100);
	return perf_value(fd) * 1000 / box_truth(cpu, SYN_ENABLED, pmu);
}

static void start(void)
{
	silicon_start();
	sampling_limit(1000000);
	lost_open();
}

/*
 * All that is there samples for so long, and again until there were so many overflows; none
 * happens on the way in or out.
 */
static void run_gated(unsigned int us, u64 overflows)
{
	int i;

	gates_install();
	for (i = 0; i < num_rings; i++)
		perf_enable(rings[i].fd);
	gates_open();
	i = 0;
	do {
		sleep_us(us);
	} while (all_overflows() < overflows && ++i < 20);
	gates_close();
	for (i = 0; i < num_rings; i++)
		perf_disable(rings[i].fd);
}

/* ---- each kind of box ---- */

struct periods {
	u64 want;
	u64 last;
	u64 sum;
	u64 wrong;
	u64 backwards;
	int cpu;
};

static void check_sample(const struct ring *r, const struct sample *s, void *arg)
{
	struct periods *p = arg;

	(void)r;
	p->wrong += s->period != p->want || (int)s->cpu != p->cpu || !s->ip;
	p->backwards += s->time < p->last;
	p->last = s->time;
	p->sum += s->period;
}

static void sample_one(const char *pmu, const char *event, u64 period, int cpu, unsigned int us,
		       const char *options)
{
	struct periods p = { .want = period, .cpu = cpu };
	char name[128], what[200];
	u64 count, truth;
	struct ring *r;
	struct books b;

	start();
	snprintf(name, sizeof(name), "%s%s", event, options);
	snprintf(what, sizeof(what), "%s/%s/ every %llu on CPU %d", pmu, name, period, cpu);
	r = sampling_open(pmu, name, period, cpu, 64);
	run_gated(us, 0);
	ring_drain(r, check_sample, &p);
	count = perf_value(r->fd);
	truth = box_truth(cpu, SYN_EVENTS, pmu);
	b = check_books(what);
	ktap_check(count == truth && count, "%s: count %llu, truth %llu", what, count, truth);
	ktap_check(!p.wrong && !p.backwards,
		   "%s: %llu of %llu samples are wrong, %llu of an earlier time", what, p.wrong,
		   r->samples, p.backwards);
	ktap_check(b.overflows && r->samples, "%s: no sample", what);
	ktap_check(!msr_read(cpu, SYN_FREEZES) == !strstr(options, "freeze=1"), "%s: %llu freezes",
		   what, msr_read(cpu, SYN_FREEZES));
	/*
	 * What was counted beyond a period goes into the next one, unless it is as much
	 * again: that depends on how long the handler took to come, but if frozen.
	 */
	if (period >= 10000 && strstr(options, "freeze=1"))
		ktap_check(p.sum <= count && count - p.sum < (2 + b.no_room + b.lost) * period,
			   "%s: count %llu, periods %llu, %llu samples not taken", what, count,
			   p.sum, b.no_room + b.lost);
}

static void each_kind(int package, const char *options)
{
	int i;

	for (i = 0; i < KINDS; i++) {
		int cpu = package_cpu(package);
		u64 per_1000, period;

		start();
		per_1000 = rate(kinds[i].pmu, kinds[i].event, cpu);
		ktap_check(per_1000, "%s/%s/ does not happen", kinds[i].pmu, kinds[i].event);
		/* Every 60 us or so, and no round number. */
		period = per_1000 * 137 + 11;
		sample_one(kinds[i].pmu, kinds[i].event, period, cpu, 1500, options);
	}
}

KTAP_CALL(each_kind_first, each_kind(0, ",freeze=1"))
KTAP_CALL(each_kind_second, each_kind(1, ",freeze=1"))
KTAP_CALL(each_kind_unfrozen, each_kind(1, ""))

/* ---- periods ---- */

static void many_periods(void)
{
	static const u64 periods[] = {
		10000, 10007, 12345, 16384, 32768, 65535, 65536, 99991, 131071, 1000000,
	};
	unsigned int i;

	ktap_skip_on_debug_kernel();
	for (i = 0; i < ARRAY_SIZE(periods); i++) {
		sample_one("xeon7500_cbox_3", "occupancy_maf", periods[i], package_cpu(0), 1000, "");
		sample_one("xeon7500_cbox_3", "occupancy_maf", periods[i], package_cpu(0), 1000,
			   ",freeze=1");
		sample_one("xeon7500_wbox", "uncore_clock", periods[i], package_cpu(1), 1000,
			   ",freeze=1");
	}
}

/*
 * Periods that are over before a handler can be. Nothing hangs; perf throttles the
 * event until the next tick.
 */
static void tiny_periods(void)
{
	static const u64 periods[] = { 3, 4, 7, 16, 100, 999 };
	static const char * const options[] = { "occupancy_maf,freeze=1", "occupancy_maf" };
	unsigned int i, j;

	ktap_skip_on_debug_kernel();
	for (i = 0; i < ARRAY_SIZE(periods); i++) {
		for (j = 0; j < 2; j++) {
			int cpu = package_cpu(j);
			struct books b;
			struct ring *r;
			u64 ticks;

			start();
			sampling_limit(50000);	/* 200 in a tick of 4 ms */
			r = sampling_open("xeon7500_cbox_4", options[j], periods[i], cpu, 256);
			run_on(cpu);	/* ticks stop on an idle CPU */
			gates_install();
			perf_enable(r->fd);
			ticks = clock_ns();
			gates_open();
			spin_us(13000);
			gates_close();
			ticks = (clock_ns() - ticks) / 4000000;
			perf_disable(r->fd);
			run_on(-1);
			b = check_books(options[j]);
			ktap_check(r->throttles >= 2 && r->unthrottles + 1 >= r->throttles,
				   "every %llu: %llu throttles, %llu unthrottles", periods[i],
				   r->throttles, r->unthrottles);
			ktap_check(b.overflows > 300 && b.overflows < 200 * (ticks + 4),
				   "every %llu: %llu overflows in %llu ticks", periods[i],
				   b.overflows, ticks);
			ktap_check(perf_value(r->fd) ==
				   box_truth(cpu, SYN_EVENTS, "xeon7500_cbox_4"));
		}
	}
}

/*
 * When one of a group has too many samples, kernels since 6.16 stop all of it, within that
 * sample. Another that overflows just then gives its own later, and goes on.
 *
 * That one is the last. There is time for it, since the handler has four others to see to
 * before it comes to the one that has too many, which overflows twice as often.
 */
struct pause {
	u64 last;
	u64 longest;
};

static void pause_until(struct pause *pause, u64 time)
{
	if (time > pause->last + pause->longest)
		pause->longest = time - pause->last;
	pause->last = time;
}

static void note_pause(const struct ring *r, const struct sample *s, void *arg)
{
	(void)r;
	pause_until(arg, s->time);
}

/* Open one of a group. Returns its leader. */
static int throttled_open(const char *pmu, const char *event, u64 period, int cpu, int leader)
{
	struct perf_event_attr attr = sampling_attr(pmu, event, period);
	int fd;

	attr.disabled = leader < 0;
	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC;
	fd = event_open_attr(&attr, cpu, leader);
	event_ring(fd, attr.sample_type, 16);
	return leader < 0 ? fd : leader;
}

/* Let the group run, with its CPU busy, and find the pauses of each. */
static void throttled_run(struct pause *pause, int num, int leader, int cpu, unsigned int us)
{
	u64 begun, ended;
	int i;

	run_on(cpu);
	gates_install();
	perf_enable(leader);
	begun = clock_ns();
	gates_open();
	spin_us(us);
	gates_close();
	ended = clock_ns();
	perf_disable(leader);
	run_on(-1);
	for (i = 0; i < num; i++) {
		pause[i] = (struct pause){ .last = begun };
		ring_drain(&rings[i], note_pause, &pause[i]);
		pause_until(&pause[i], ended);
	}
}

static void throttled_group_by(const char *event, u64 period, unsigned int apart)
{
	const u64 periods[6] = {
		period, period, period, period, period / 2, period + apart,
	};
	int cpu = package_cpu(0), leader = -1, i;
	struct pause pause[6];
	char what[80];
	struct books b;

	start();
	/* Until an even number of samples in a tick of 4 ms. */
	sampling_limit(5000);
	snprintf(what, sizeof(what), "%s every %llu and %u more", event, period, apart);
	for (i = 0; i < 6; i++)
		leader = throttled_open("xeon7500_cbox_4", event, periods[i], cpu, leader);
	throttled_run(pause, 6, leader, cpu, 18000);
	b = check_books(what);
	ktap_check(b.rings.throttles >= 2, "%s: %llu throttles", what, b.rings.throttles);
	/*
	 * Each goes on at the next tick, in 4 ms, or if their overflows take too much time, when
	 * the driver looks at them again, in 10 ms; unless perf says that it has not let it.
	 */
	for (i = 0; i < 6; i++)
		ktap_check(pause[i].longest < 16000000 ||
			   (i && rings[i].throttles > rings[i].unthrottles),
			   "%s: no sample of %d for %llu ns", what, i, pause[i].longest);
}

static void throttled_group(void)
{
	unsigned int i, step = soak() ? 8 : 80;
	u64 period;

	ktap_skip_on_debug_kernel();
	start();
	/* Every 60 us or so; after ten of them the last is late by up to 10 us. */
	period = rate("xeon7500_cbox_4", "trans_maf", package_cpu(0)) * 137;
	for (i = 0; i < 1600; i += step)
		throttled_group_by(i / step % 4 ? "trans_maf" : "trans_maf,freeze=1", period, i);
}

/* perf may throttle the group in an NMI, when it has added a sibling but not enabled the PMU. */
static void throttled_on_the_way_in(void)
{
	int cpu = package_cpu(0), leader, sibling, i;
	u64 period;

	ktap_skip_on_debug_kernel();
	start();
	sampling_limit(5000);
	period = rate("xeon7500_cbox_4", "trans_maf", cpu) * 137;
	leader = throttled_open("xeon7500_cbox_4", "trans_maf", period, cpu, -1);
	throttled_open("xeon7500_cbox_4", "trans_maf", period, cpu, leader);
	sibling = rings[1].fd;
	run_on(cpu);
	perf_enable(leader);
	for (i = 0; i < (soak() ? 200000 : 5000); i++) {
		perf_disable(sibling);
		perf_enable(sibling);
		ktap_require(msr_read(cpu, C4_EVT_SEL_1) & SEL_ENABLE,
			     "on a counter that is not programmed, round %d", i);
	}
	run_on(-1);
	rings_drain();
	ktap_check(rings[0].throttles + rings[1].throttles >= 2, "never throttled");
}

/*
 * Likewise, and the other one is the leader. Since perf starts the group again by its leader
 * alone, that must be as perf has left it. They freeze, so that they stay in step.
 */
static void throttled_with_leader(void)
{
	static const char * const events[2] = { "early_ack,freeze=1", "drsq_occupancy,freeze=1" };
	int cpu = package_cpu(0), leader = -1, i;
	struct pause pause[2];

	ktap_skip_on_debug_kernel();
	start();
	sampling_limit(5000);
	silicon_traffic(cpu, SYN_SEL(SYN_BOX_B, SYN_ANY, SYN_ANY_CODE, SYN_ANY),
			SYN_PATTERN(0, 0, 1, 1));
	for (i = 0; i < 2; i++)
		leader = throttled_open("xeon7500_bbox_0", events[i], i ? 70000 : 140000, cpu,
					leader);
	throttled_run(pause, 2, leader, cpu, 100000);
	for (i = 0; i < 2; i++) {
		ktap_note("%s: %llu samples, longest pause %llu ns", events[i], rings[i].samples,
			  pause[i].longest);
		/* 6.12 starts no other than the leader again. */
		ktap_check(pause[i].longest < 16000000 ||
			   (i && rings[i].throttles > rings[i].unthrottles),
			   "no sample of %s for %llu ns", events[i], pause[i].longest);
	}
	ktap_check(rings[0].throttles + rings[1].throttles >= 2, "never throttled");
	check_books("throttled with the leader");
	msr_write(cpu, SYN_TRAFFIC_RESET, 1);
}

/*
 * Likewise with a leader that has a frequency: perf stops it at each tick and gives it a new
 * period. No sample is lost by that.
 */
static void throttled_by_frequency(void)
{
	int cpu = package_cpu(0), leader, fd, i;
	struct perf_event_attr attr;
	struct books b;
	u64 per_1000;

	start();
	per_1000 = rate("xeon7500_wbox", "c_cycles_turbo.c_all", cpu);
	for (i = 0; i < 8; i++) {
		start();
		sampling_limit(5000);
		attr = sampling_attr("xeon7500_wbox", "uncore_clock", 5000);
		attr.freq = 1;
		attr.disabled = 1;
		leader = event_open_attr(&attr, cpu, -1);
		event_ring(leader, attr.sample_type, 64);
		attr = sampling_attr("xeon7500_wbox", "c_cycles_turbo.c_all", per_1000 * 150 + i);
		attr.disabled = 0;
		fd = event_open_attr(&attr, cpu, leader);
		event_ring(fd, attr.sample_type, 64);
		run_on(cpu);
		gates_install();
		perf_enable(leader);
		gates_open();
		spin_us(200000);
		gates_close();
		perf_disable(leader);
		run_on(-1);
		b = check_books("a leader with a frequency");
		/* The other has 20 samples in each of 50 ticks; 6.12 does not start it again. */
		ktap_check(b.rings.throttles && (rings[1].samples > 50 ||
						 rings[1].throttles > rings[1].unthrottles),
			   "%llu and %llu samples, %llu throttles", rings[0].samples,
			   rings[1].samples, b.rings.throttles);
	}
}

/*
 * A period of more than a counter holds takes several overflows. Behind a gate the counter
 * is moved close to each of them.
 */
static void long_period(void)
{
	static const u64 part[] = { 1ull << 47, 1ull << 47, 1ull << 46 };
	const u64 period = part[0] + part[1] + part[2];
	int cpu, gate, i;
	struct ring *r;
	u64 left;

	start();
	cpu = package_cpu(0);
	gate = event_open("xeon7500_package", "gate", cpu, -1);
	r = sampling_open("xeon7500_cbox_0", "occupancy_maf", period, cpu, 8);
	perf_enable(r->fd);
	for (i = 0; i < 3; i++) {
		/* What came after the overflow before this shortens the part. */
		left = (1ull << 48) - msr_read(cpu, C0_CTR_0);
		ktap_check(left <= part[i] && left > part[i] - (1ull << 30), "part %d: %#llx", i,
			   left);
		ring_drain(r, NULL, NULL);
		ktap_check(!r->samples, "%llu samples before part %d", r->samples, i);
		msr_write(cpu, C0_CTR_0, (1ull << 48) - 1000);
		perf_run_us(gate, 500);
	}
	ring_drain(r, NULL, NULL);
	ktap_check(r->samples == 1, "%llu samples", r->samples);
	ktap_check(silicon_truth(cpu, SYN_OVERFLOWS, C0_CTR_0) == 3, "%llu overflows",
		   silicon_truth(cpu, SYN_OVERFLOWS, C0_CTR_0));
	perf_disable(r->fd);
	ktap_check(!lost_count());
}

/* What the counter of a sampling event that is enabled begins with, counted to its overflow. */
static u64 counter_left(int cpu, unsigned int ctr)
{
	return (1ull << 48) - msr_read(cpu, ctr);
}

/*
 * An event that is disabled goes on where it was. What it has counted beyond a period shortens the
 * next one, unless that is a whole period; and no counter starts closer than 3 to its overflow.
 */
static void next_period(void)
{
	enum { PERIOD = 1000003 };
	static const struct {
		u64 gained, left;
	} next[] = {
		{ 0, PERIOD }, { 1000, PERIOD - 1000 }, { PERIOD - 3, 3 }, { PERIOD - 1, 3 },
		{ PERIOD, PERIOD }, { PERIOD + 1, PERIOD - 1 }, { 2 * PERIOD - 3, 3 },
		{ 2 * PERIOD - 1, 3 }, { 2 * PERIOD, PERIOD }, { 2 * PERIOD + 1, PERIOD },
	};
	u64 period = 7 * PERIOD;
	int cpu = package_cpu(0);
	unsigned int i;
	struct ring *r;

	for (i = 0; i < ARRAY_SIZE(next); i++) {
		start();
		event_open("xeon7500_package", "gate", cpu, -1);
		r = sampling_open("xeon7500_cbox_0", "occupancy_maf", PERIOD, cpu, 8);
		perf_enable(r->fd);
		ktap_check(counter_left(cpu, C0_CTR_0) == PERIOD, "at first %llu",
			   counter_left(cpu, C0_CTR_0));
		msr_write(cpu, C0_CTR_0, (next[i].gained - PERIOD) & ((1ull << 48) - 1));
		perf_disable(r->fd);
		perf_enable(r->fd);
		ktap_check(counter_left(cpu, C0_CTR_0) == next[i].left, "after %llu: %llu, not %llu",
			   next[i].gained, counter_left(cpu, C0_CTR_0), next[i].left);
		ring_drain(r, NULL, NULL);
		ktap_check(r->samples == (next[i].gained >= PERIOD), "after %llu: %llu samples",
			   next[i].gained, r->samples);
		/* A new period begins anew. */
		msr_write(cpu, C0_CTR_0, msr_read(cpu, C0_CTR_0) + 1);
		perf_disable(r->fd);
		ktap_require(!ioctl(r->fd, PERF_EVENT_IOC_PERIOD, &period), "%s", strerror(errno));
		perf_enable(r->fd);
		ktap_check(counter_left(cpu, C0_CTR_0) == period, "after %llu, then %llu: %llu",
			   next[i].gained, period, counter_left(cpu, C0_CTR_0));
	}
}

/* The W-Box takes no start value of which the lower 24 bits are 0xfffffe or 0xffffff. */
static void start_values(void)
{
	static const unsigned int period[] = { 0x1000001, 0x1000002, 0x1000003 };
	int cpu = package_cpu(0);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(period); i++) {
		start();
		event_open("xeon7500_package", "gate", cpu, -1);
		perf_enable(sampling_open("xeon7500_wbox", "uncore_clock", period[i], cpu, 8)->fd);
		ktap_check(counter_left(cpu, W_FIXED_CTR) == period[i] + (i < 2 ? 2 : 0),
			   "%#x: %#llx", period[i], counter_left(cpu, W_FIXED_CTR));
	}
}

/* ---- several at once ---- */

static void all_kinds_at_once(void)
{
	struct books b;
	int i, p;

	start();
	for (p = 0; p < 2; p++) {
		for (i = 0; i < KINDS; i++) {
			int cpu = package_cpu(p);
			u64 period = 2000 + rate(kinds[i].pmu, kinds[i].event, cpu) * 300;

			sampling_open(kinds[i].pmu, kinds[i].event, period + 17 * i, cpu, 8);
		}
	}
	silicon_clear();
	run_gated(8000, 1001);
	b = check_books("all kinds of boxes");
	for (i = 0; i < num_rings; i++)
		ktap_check(rings[i].samples > 4, "%s/%s/: %llu samples", kinds[i % KINDS].pmu,
			   kinds[i % KINDS].event, rings[i].samples);
	ktap_check(b.overflows > 1000, "%llu", b.overflows);
}

/* All counters of a box; two overflow at the very same cycle again and again. */
static void all_counters_of_a_box(void)
{
	static const unsigned int period[6] = { 40000, 40000, 20000, 10000, 15000, 33333 };
	u64 count = 0;
	struct books b;
	int i;

	start();
	for (i = 0; i < 6; i++)
		sampling_open("xeon7500_cbox_1", "trans_maf", period[i], package_cpu(0), 32);
	for (i = 0; i < 6; i++)
		sampling_open("xeon7500_cbox_6", "trans_maf", period[i], package_cpu(0), 32);
	run_gated(8000, 1001);
	b = check_books("twelve counters");
	for (i = 0; i < 12; i++)
		count += perf_value(rings[i].fd);
	ktap_check(count == box_truth(package_cpu(0), SYN_EVENTS, "xeon7500_cbox_1") +
		   box_truth(package_cpu(0), SYN_EVENTS, "xeon7500_cbox_6"));
	ktap_check(b.overflows > 1000, "%llu", b.overflows);
}

/* Events come and go beside one that samples; none of its overflows is forgotten. */
static void coming_and_going(void)
{
	struct ring *r;
	struct books b;
	int i;

	start();
	r = sampling_open("xeon7500_cbox_2", "occupancy_irq", 600011, package_cpu(1), 256);
	perf_enable(r->fd);
	for (i = 0; i < 300; i++) {
		int fd = event_open("xeon7500_cbox_2", "llc_hits.m", package_cpu(1), -1);

		perf_enable(fd);
		if (i % 7 == 0)
			perf_value(r->fd);
		perf_disable(fd);
		close(open_events[--num_open_events]);
	}
	perf_disable(r->fd);
	b = check_books("a busy neighbour");
	ktap_check(b.overflows > 200, "%llu", b.overflows);
}

/*
 * Twice as many events as counters: every 4 ms, or later where the CPU is busy, perf takes the six
 * away that run, and puts the next in the place of the first.
 */
static void multiplexed(void)
{
	int i;

	start();
	for (i = 0; i < 12; i++)
		sampling_open("xeon7500_cbox_5", "occupancy_maf", 600000 + i, package_cpu(0), 64);
	run_gated(150000, 0);
	check_books("twelve events on six counters");
	for (i = 0; i < 12; i++)
		ktap_check(rings[i].samples > 25, "event %d: %llu samples", i, rings[i].samples);
}

/* A ring buffer that nobody empties: what has no room is told. */
static void no_room(void)
{
	struct ring *r;
	struct books b;

	start();
	r = sampling_open("xeon7500_wbox", "uncore_clock", 40000, package_cpu(0), 1);
	gates_install();
	perf_enable(r->fd);
	gates_open();
	sleep_us(10000);
	gates_close();
	ring_drain(r, NULL, NULL);
	/* It is told with the next sample that has room. */
	gates_open();
	sleep_us(200);
	gates_close();
	b = check_books("a full ring");
	ktap_check(b.no_room > 100 && r->lost == b.no_room,
		   "%llu without room, LOST records say %llu", b.no_room, r->lost);
}

/* ---- what perf asks of an event ---- */

/* -F: the period follows the rate. */
static void frequency(void)
{
	struct perf_event_attr attr;
	struct ring *r;

	ktap_skip_on_debug_kernel();
	start();
	attr = event_attr("xeon7500_cbox_0", "llc_misses.all");
	attr.freq = 1;
	attr.sample_freq = 5000;
	attr.sample_type = SAMPLE_BASE;
	attr.read_format = PERF_FORMAT_LOST;
	r = event_ring(event_open_attr(&attr, package_cpu(0), -1), attr.sample_type, 256);
	run_on(package_cpu(0));	/* ticks stop on an idle CPU, and perf counts on them */
	gates_install();
	perf_enable(r->fd);
	gates_open();
	/* It begins with a period of 1 and is throttled until the first ticks. */
	spin_us(100000);
	gates_close();
	ring_drain(r, NULL, NULL);
	r->samples = 0;
	silicon_clear();
	gates_open();
	spin_us(200000);
	gates_close();
	run_on(-1);
	check_books("at a frequency");
	/* perf learns of the rate at each tick: it may be wrong by the 20 samples of one. */
	ktap_check(r->samples >= 980 && r->samples <= 1020, "%llu samples in 0.2 s at 5000/s",
		   r->samples);
}

static void refresh(void)
{
	struct ring *r;
	u64 value;
	int cpu;

	start();
	cpu = package_cpu(1);
	r = sampling_open("xeon7500_cbox_0", "llc_misses.all", 50000, cpu, 8);
	ktap_require(!ioctl(r->fd, PERF_EVENT_IOC_REFRESH, 7), "%s", strerror(errno));
	sleep_us(3000);
	ring_drain(r, NULL, NULL);
	ktap_check(r->samples == 7, "%llu samples", r->samples);
	value = perf_value(r->fd);
	ktap_check(value == box_truth(cpu, SYN_EVENTS, "xeon7500_cbox_0") && value >= 350000);
	sleep_us(1000);
	ktap_check(perf_value(r->fd) == value);
	/* Some more, in two portions. */
	ktap_require(!ioctl(r->fd, PERF_EVENT_IOC_REFRESH, 2), "%s", strerror(errno));
	ktap_require(!ioctl(r->fd, PERF_EVENT_IOC_REFRESH, 3), "%s", strerror(errno));
	sleep_us(3000);
	check_books("refresh");
	ktap_check(r->samples == 12, "%llu samples", r->samples);
}

static void last_period(const struct ring *r, const struct sample *s, void *arg)
{
	(void)r;
	*(u64 *)arg = s->period;
}

static void period_change(void)
{
	u64 periods[] = { 20000, 123457, 7777 }, last = 0, before = 0;
	struct ring *r;
	unsigned int i;

	start();
	r = sampling_open("xeon7500_wbox", "c_cycles_turbo.c_all", 50000, package_cpu(0), 64);
	perf_enable(r->fd);
	for (i = 0; i < 3; i++) {
		ktap_require(!ioctl(r->fd, PERF_EVENT_IOC_PERIOD, &periods[i]), "%s",
			     strerror(errno));
		sleep_us(1500);
		ring_drain(r, last_period, &last);
		ktap_check(last == periods[i] && r->samples > before, "%llu, asked for %llu", last,
			   periods[i]);
		before = r->samples;
	}
	perf_disable(r->fd);
	/* Also while it is stopped. */
	ktap_require(!ioctl(r->fd, PERF_EVENT_IOC_PERIOD, &periods[1]), "%s", strerror(errno));
	perf_run_us(r->fd, 2000);
	ring_drain(r, last_period, &last);
	ktap_check(last == periods[1]);
	check_books("new periods");
	ktap_check(perf_value(r->fd) == box_truth(package_cpu(0), SYN_EVENTS, "xeon7500_wbox"));
}

/* Whatever it had counted, a new period is a whole one, and begins at once. */
static void whole_period(void)
{
	u64 period = 300007, left;
	struct ring *r;
	int cpu, gate;

	start();
	cpu = package_cpu(0);
	gate = event_open("xeon7500_package", "gate", cpu, -1);
	r = sampling_open("xeon7500_cbox_0", "occupancy_maf", 1ull << 40, cpu, 64);
	perf_enable(r->fd);
	perf_run_us(gate, 500);
	ktap_check(perf_value(r->fd), "nothing has happened");
	ktap_require(!ioctl(r->fd, PERF_EVENT_IOC_PERIOD, &period), "%s", strerror(errno));
	left = (1ull << 48) - msr_read(cpu, C0_CTR_0);
	ktap_check(left == period, "%llu before the overflow, not %llu", left, period);
	perf_run_us(gate, 1000);
	perf_disable(r->fd);
	check_books("a whole period");
	ktap_check(r->samples, "no sample");
}

/* An event of a package has no address. */
static void no_address(void)
{
	const union ring_record *rec;
	struct perf_event_attr attr;
	struct ring *r;

	start();
	attr = sampling_attr("xeon7500_cbox_0", "llc_misses.all", 50000);
	attr.sample_type = PERF_SAMPLE_ADDR;
	r = event_ring(event_open_attr(&attr, package_cpu(0), -1), attr.sample_type, 8);
	perf_run_us(r->fd, 1000);
	while ((rec = ring_record(r))) {
		if (rec->header.type == PERF_RECORD_SAMPLE)
			ktap_check(!rec->word[1], "address %#llx", rec->word[1]);
	}
	ktap_check(r->samples, "no sample");
}

/* Where it happened: of a process that does nothing but spin, in user space. */
struct where {
	u64 ours, user, chained, num;
	u64 from, to;
	int pid;
};

static void check_where(const struct ring *r, const struct sample *s, void *arg)
{
	struct where *w = arg;

	(void)r;
	w->num++;
	w->ours += (int)s->pid == w->pid;
	w->user += s->ip >> 63 == 0;
	/* A context marker and the address itself, at least. */
	w->chained += s->chain_len >= 2 && (s->chain[1] == s->ip);
	if (s->time < w->from || s->time > w->to)
		ktap_check(false, "sampled at %llu, not in %llu to %llu", s->time, w->from, w->to);
}

static void where_and_when(void)
{
	struct where w = { .pid = getpid() };
	struct perf_event_attr attr;
	volatile unsigned int spin;
	struct ring *r;

	start();
	run_on(package_cpu(0));
	attr = sampling_attr("xeon7500_cbox_0", "llc_misses.all", 50000);
	attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC;
	r = event_ring(event_open_attr(&attr, package_cpu(0), -1), attr.sample_type, 64);
	perf_enable(r->fd);
	w.from = clock_ns();
	for (spin = 0; spin < 3000000; spin++)
		;
	w.to = clock_ns();
	perf_disable(r->fd);
	w.to = clock_ns();
	run_on(-1);
	ring_drain(r, check_where, &w);
	ktap_check(w.num > 50, "%llu samples", w.num);
	ktap_check(w.ours * 10 > w.num * 9 && w.user * 10 > w.num * 8 && w.chained == w.num,
		   "of %llu samples %llu in this process, %llu in user space, %llu with chain",
		   w.num, w.ours, w.user, w.chained);
	check_books("where");
}

SILICON_MAIN({ "each kind of box, package 0, with freeze", each_kind_first },
	     { "each kind of box, package 1, with freeze", each_kind_second },
	     { "each kind of box, without freeze", each_kind_unfrozen },
	     { "samples are exact at many periods", many_periods },
	     { "periods too small to serve", tiny_periods },
	     { "a throttled group starts again", throttled_group },
	     { "a group throttled while a sibling comes in", throttled_on_the_way_in },
	     { "a group throttled as its leader overflows", throttled_with_leader },
	     { "a throttled group whose leader has a frequency", throttled_by_frequency },
	     { "a period longer than a counter", long_period },
	     { "where the next period begins", next_period },
	     { "start values that the W-Box does not take", start_values },
	     { "all kinds of boxes of two packages at once", all_kinds_at_once },
	     { "all counters of two boxes", all_counters_of_a_box },
	     { "other events come and go", coming_and_going },
	     { "more events than counters", multiplexed },
	     { "no room in the ring buffer", no_room },
	     { "the period follows the rate at a frequency", frequency },
	     { "REFRESH stops after so many samples", refresh },
	     { "PERIOD changes the period of a running event", period_change },
	     { "a new period is a whole one", whole_period },
	     { "samples have no address", no_address },
	     { "IP, process, callchain, time", where_and_when })
