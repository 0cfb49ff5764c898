// SPDX-License-Identifier: GPL-2.0-only
/*
 * Overflows at each instruction of what perf asks of the driver. In each phase the books
 * have to balance: the overflows of the silicon are samples, or reported as lost.
 *
 * On a debug kernel no call ends within the period of an overflow.
 *
 * TEST: 6.1 6.12
 * SOAK: 6.1 newest
 * VM: --sockets 2 --cores 2 --icount --append nmi_watchdog=0
 */
#include "hotplug.h"
#include "kmsg.h"
#include "sampling.h"
#include "sweep.h"

#define PMU	"xeon7500_cbox_0"
#define EVENT	"occupancy_maf"
#define OTHER	"llc_hits.m"
#define CTR	C0_CTR_0
#define WRAP	(1ull << 48)

/* How late the interrupt is in some of the sweeps. */
#define LATE_NS		3000

/* So long before a phase the marks are taken, which are system calls. */
#define MARKS_NS	24000

/*
 * The event whose overflow is moved, on counter 0. Its samples go to the ring of a keeper,
 * since an event cannot be closed while its own ring is there.
 */
static int runner;
static struct ring *keeper;
static u64 runner_period, usual_period;
static unsigned int runner_package;
static int runner_cpu;
static const char *options;

static int neighbour, gate;
static u64 gone;		/* what closed events had counted */
static u64 jumps;		/* by what the counter was moved */
static u64 was;			/* the count that the call has read, or 0 */

struct call {
	const char *name;
	unsigned int ns;		/* between two overflows */
	void (*begin)(void);		/* once */
	void (*before)(void);		/* in each phase */
	void (*call)(void);
	void (*after)(void);
	bool group;			/* the runner leads a group */
	bool wraps;			/* the runner counts, and wraps */
	bool no_count;			/* the count is not to be had */
	bool limited;			/* an overflow may be lost when the runner goes */
};

struct marks {
	u64 overflows;
	u64 samples;
	u64 lost;
};

/* While the interrupt is on its way the counter has a whole round before it. */
static bool on_its_way(u64 due)
{
	return due > sweep_now() + 1000000000;
}

/* Until none is; or it never will come. */
static void settle(void)
{
	u64 end = sweep_now() + 2 * LATE_NS;
	bool last;

	do
		last = sweep_now() > end;
	while (on_its_way(silicon_truth(runner_cpu, SYN_DUE, CTR)) && !last);
}

static struct marks marks_now(void)
{
	struct marks m;

	/* Each of these overflows has given its sample, and none may come after them. */
	do {
		m.overflows = silicon_truth(runner_cpu, SYN_OVERFLOWS, CTR);
		settle();
		m.lost = lost_count();
		rings_drain();
		m.samples = keeper->samples;
	} while (silicon_truth(runner_cpu, SYN_OVERFLOWS, CTR) != m.overflows);
	return m;
}

/*
 * When the next overflow is, far enough away for all that comes before it; 0 if there is
 * none to wait for. While an interrupt is on its way the package may be frozen.
 */
static u64 next_due(int ahead)
{
	u64 due;
	int i;

	for (i = 0; i < 100; i++) {
		due = silicon_truth(runner_cpu, SYN_DUE, CTR);
		if (on_its_way(due))
			continue;
		if (due && (int64_t)(due - sweep_now()) > ahead)
			return due;
		while (sweep_now() < due)
			;
	}
	return 0;
}

/* Until the interrupt has come; or it never will. */
static void wait_for(u64 due, u64 when)
{
	while (sweep_now() < when)
		;
	while (silicon_truth(runner_cpu, SYN_DUE, CTR) == due)
		;
}

/* The counter of one that does not sample is moved to where it wraps in time. */
static void jump(void)
{
	ioctl(gate, PERF_EVENT_IOC_DISABLE, 0);
	jumps += counter_move(runner, runner_cpu, CTR, WRAP - runner_period);
	ioctl(gate, PERF_EVENT_IOC_ENABLE, 0);
}

/* Whether the count is right while everything stands. */
static bool wrap_is_right(const struct sweep *s)
{
	u64 count, truth;

	ioctl(gate, PERF_EVENT_IOC_DISABLE, 0);
	count = perf_value(runner);
	truth = silicon_truth(runner_cpu, SYN_EVENTS, CTR) + jumps;
	if (count != truth && !s->bad)
		ktap_note("%s, phase %d: count %#llx, truth %#llx", s->what, s->phase, count,
			  truth);
	/* One that is wrong stays so. */
	jumps += count - truth;
	/* What it counts from the call on until now is far less than a wrap. */
	if (was && count - was > WRAP >> 16) {
		if (!s->bad)
			ktap_note("%s, phase %d: read %#llx, then %#llx", s->what, s->phase, was, count);
		return false;
	}
	return count == truth;
}

static bool books_are_right(const struct sweep *s, const struct call *c, const struct marks *a,
			    const struct marks *b)
{
	u64 overflows = b->overflows - a->overflows;
	u64 samples = b->samples - a->samples, lost = b->lost - a->lost;

	if (overflows == samples + lost && (c->limited || !lost))
		return true;
	if (!s->bad)
		ktap_note("%s, phase %d: %llu overflows, %llu samples, %llu lost", s->what,
			  s->phase, overflows, samples, lost);
	return false;
}

/* How many events there are in 1000 uncore cycles; a microsecond has 2,266 of these. */
static u64 per_1000;

static u64 events_in(u64 ns)
{
	return per_1000 * ns / 1000 * 2266 / 1000 + 7;
}

/* One phase: the call begins s->phase instructions before the interrupt. */
static void phase(struct sweep *s, const struct call *c, unsigned int late)
{
	struct marks a, b;
	bool right, on_time;
	u64 due, when;

	/* What comes between may come again, so many instructions after the last call. */
	runner_period = usual_period + 1009 * s->in_a_row;
	if (c->before)
		c->before();
	was = 0;
	if (c->wraps)
		jump();
	due = next_due(s->phase + MARKS_NS - (int)late);
	when = due + late;
	a = marks_now();
	on_time = due && sweep_enter(s, when - s->phase);
	c->call();
	sweep_leave(s);
	runner_cpu = package_cpu(runner_package);
	if (due)
		wait_for(due, when);
	right = !c->wraps || wrap_is_right(s);
	if (c->after)
		c->after();
	b = marks_now();
	if (c->wraps)
		b.overflows = a.overflows;
	right &= books_are_right(s, c, &a, &b);
	s->bad += !right;
	if (on_time)
		sweep_was(s, when);
	else if (!due)
		sweep_slipped(s);
}

static void runner_open(bool group)
{
	char name[80];
	struct perf_event_attr attr;

	snprintf(name, sizeof(name), EVENT "%s", options);
	attr = sampling_attr(PMU, name, runner_period);
	if (group)
		attr.read_format |= PERF_FORMAT_GROUP;
	runner = event_open_attr(&attr, runner_cpu, -1);
	ktap_require(!ioctl(runner, PERF_EVENT_IOC_SET_OUTPUT, keeper->fd), "%s", strerror(errno));
	perf_enable(runner);
}

static void find_rate(void)
{
	int fd = event_open(PMU, EVENT, runner_cpu, -1);

	perf_run_us(fd, 100);
	per_1000 = perf_value(fd) * 1000 / box_truth(runner_cpu, SYN_ENABLED, PMU);
	event_close_all();
}

static void keeper_open(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.size = sizeof(attr),
		.sample_period = 1,
		.sample_type = SAMPLE_BASE,
		.read_format = PERF_FORMAT_LOST,
	};

	keeper = event_ring(event_open_attr(&attr, runner_cpu, -1), SAMPLE_BASE, 64);
}

static u64 group_value(void)
{
	struct {
		u64 num;
		struct {
			u64 value, lost;
		} event[3];
	} buf = {};

	ktap_require(read(runner, &buf, sizeof(buf)) == sizeof(buf), "read: %s", strerror(errno));
	return buf.event[0].value + buf.event[1].value + buf.event[2].value;
}

static void call_sweep(const struct call *c, int step, int from, unsigned int late)
{
	u64 lost = 0;
	char what[120];
	struct sweep s;

	silicon_start();
	kmsg_mark();
	sampling_limit(1000000);
	runner_cpu = package_cpu(runner_package);
	run_on(from);
	find_rate();
	usual_period = events_in(c->ns);
	runner_period = usual_period;
	lost_open();
	keeper_open();
	gone = 0;
	jumps = 0;
	silicon_clear();
	if (c->wraps) {
		gate = event_open("xeon7500_package", "gate", runner_cpu, -1);
		runner = event_open(PMU, EVENT, runner_cpu, -1);
		perf_enable(runner);
	} else {
		runner_open(c->group);
	}
	if (c->begin)
		c->begin();
	if (c->limited)
		lost = lost_count();
	msr_write(0, SYN_FAULT_DELAY_NS, late);
	snprintf(what, sizeof(what), "%s%s, from CPU %d%s", c->name, options, from,
		 late ? ", interrupt late" : "");
	sweep_begin(&s, what, step);
	while (sweep_next(&s))
		phase(&s, c, late);
	msr_write(0, SYN_FAULT_DELAY_NS, 0);
	sweep_check(&s);
	kmsg_no_unknown_nmi();
	if (c->limited)
		ktap_check(lost_count() > lost, "%s: nothing was lost", what);
	perf_disable(runner);
	if (c->wraps)
		ktap_check(!msr_read(runner_cpu, SYN_PMI(SYN_PMI_REQUESTED)), "%s: %llu PMIs", what,
			   msr_read(runner_cpu, SYN_PMI(SYN_PMI_REQUESTED)));
	if (!c->wraps && !c->no_count) {
		u64 count = gone + (c->group ? group_value() : perf_value(runner));
		u64 truth = box_truth(runner_cpu, SYN_EVENTS, PMU);

		ktap_check(count == truth, "%s: count %llu, truth %llu", what, count, truth);
	}
	run_on(-1);
}

/* ---- the runner itself ---- */

static void call_read(void)
{
	u64 buf[16];

	if (read(runner, buf, sizeof(buf)) < 0)
		abort();
	was = buf[0];
}

static void siblings_open(void)
{
	event_open(PMU, OTHER, runner_cpu, runner);
	event_open(PMU, EVENT, runner_cpu, runner);
}

KTAP_CALL(call_reset, ioctl(runner, PERF_EVENT_IOC_RESET, 0))

/* This is stop and start. */
KTAP_CALL(call_period, ioctl(runner, PERF_EVENT_IOC_PERIOD, &runner_period))
KTAP_CALL(call_disable, ioctl(runner, PERF_EVENT_IOC_DISABLE, 0))

/* perf counts samples down from here. */
static void limit_far_away(void)
{
	ktap_require(!ioctl(runner, PERF_EVENT_IOC_REFRESH, 1000000000), "%s", strerror(errno));
}

KTAP_CALL(call_enable, ioctl(runner, PERF_EVENT_IOC_ENABLE, 0))

/* With a whole period before it. */
static void start_again(void)
{
	call_period();
	call_enable();
}

KTAP_CALL(call_close, close(runner))

static void open_again(void)
{
	num_open_events--;
	runner_open(false);
}

/* ---- a neighbour ---- */

KTAP_CALL(neighbour_open, neighbour = event_open(PMU, OTHER, runner_cpu, -1))
KTAP_CALL(neighbour_enable, ioctl(neighbour, PERF_EVENT_IOC_ENABLE, 0))
KTAP_CALL(neighbour_disable, ioctl(neighbour, PERF_EVENT_IOC_DISABLE, 0))
KTAP_CALL(neighbour_close, close(neighbour))

static struct perf_event_attr neighbour_attr;

static void neighbour_attr_make(void)
{
	neighbour_attr = event_attr(PMU, OTHER);
	neighbour_attr.disabled = 0;
}

KTAP_CALL(neighbour_open_enabled, neighbour = perf_open(&neighbour_attr, runner_cpu, -1))

static void neighbour_retire(void)
{
	neighbour_disable();
	gone += perf_value(neighbour);
	close(neighbour);
}

static const struct call
	of_read = { "read", 60000, .call = call_read },
	of_group_read = { "group read", 60000, .begin = siblings_open, .call = call_read,
			  .group = true },
	of_wrap_read = { "wrap, read", 60000, .call = call_read, .wraps = true },
	of_reset = { "RESET", 60000, .call = call_reset, .no_count = true },
	of_period = { "PERIOD", 60000, .call = call_period },
	of_disable = { "disable", 60000, .call = call_disable, .after = start_again },
	of_limited_disable = { "disable with a limit", 60000, .begin = limit_far_away,
			       .call = call_disable, .after = start_again, .limited = true },
	of_wrap_disable = { "wrap, disable", 60000, .call = call_disable,
			    .after = call_enable, .wraps = true },
	of_close = { "close", 100000, .call = call_close, .after = open_again,
		     .no_count = true },
	of_neighbour_enable = { "a neighbour's enable", 60000, .begin = neighbour_open,
				.call = neighbour_enable, .after = neighbour_disable,
				.no_count = true },
	of_wrap_neighbour = { "wrap, a neighbour's enable", 60000, .begin = neighbour_open,
			      .call = neighbour_enable, .after = neighbour_disable,
			      .wraps = true },
	of_neighbour_disable = { "a neighbour's disable", 60000, .begin = neighbour_open,
				 .before = neighbour_enable, .call = neighbour_disable,
				 .no_count = true },
	of_neighbour_open = { "a neighbour's open", 150000,
			      .begin = neighbour_attr_make, .call = neighbour_open_enabled,
			      .after = neighbour_retire },
	of_neighbour_close = { "a neighbour's close", 150000,
			       .begin = neighbour_attr_make, .before = neighbour_open_enabled,
			       .call = neighbour_close, .no_count = true };

/*
 * With freeze and without, from the CPU of the package and from another one, the interrupt
 * at once and late; but in soak, three of these. A wrap does not interrupt.
 */
static void each_way(const struct call *c, int step)
{
	int near = package_cpu(0), far = package_cpu(1), i;

	runner_package = 0;
	if (soak())
		step = 1;
	for (i = 0; i < 8; i++) {
		if (!soak() && i != 0 && i != 3 && i != 4)
			continue;
		if (c->wraps && i != 0 && i != 3)
			continue;
		options = c->wraps || i & 1 ? "" : ",freeze=1";
		call_sweep(c, step, i & 2 ? far : near, i & 4 ? LATE_NS : 0);
	}
}

/*
 * When a CPU goes, the driver's part comes after some grace periods of RCU, so no phase can
 * be chosen. Instead overflows come so fast that hundreds of them fall into it.
 */
static void moves(void)
{
	int i, num = soak() ? 500 : 8, bad = 0;
	u64 came = 0, kept_out = 0;
	struct marks a, b;

	silicon_start();
	sampling_limit(1000000);
	all_online(4);
	runner_package = 1;
	runner_cpu = package_cpu(1);
	run_on(0);
	find_rate();
	lost_open();
	for (i = 0; i < 2 * num; i++) {
		int from = package_cpu(1);

		options = i & 1 ? "" : ",freeze=1";
		runner_cpu = from;
		runner_period = events_in(20011 + 7 * i);
		keeper_open();
		runner_open(false);
		a = marks_now();
		set_online(from, false);
		runner_cpu = package_cpu(1);
		call_disable();
		b = marks_now();
		bad += b.overflows - a.overflows != b.samples - a.samples || b.lost != a.lost ||
		       b.overflows < a.overflows + 100;
		ring_close_all();
		while (num_open_events > lost_packages)
			close(open_events[--num_open_events]);
		set_online(from, true);
	}
	ktap_check(!bad, "%d of %d moves are wrong", bad, 2 * num);
	/*
	 * Each goes to both CPUs, of which one lets it in. Nothing overflows while neither does; one
	 * may just be on its way.
	 */
	for (i = 2; i < 4; i++) {
		came += msr_read(i, SYN_PMI_CPU(SYN_PMI_SENT)) +
			msr_read(i, SYN_PMI_CPU(SYN_PMI_MASKED));
		kept_out += msr_read(i, SYN_PMI_CPU(SYN_PMI_NO_DEBUGCTL));
	}
	ktap_check(kept_out < came + num, "%llu PMIs came, %llu were kept out", came, kept_out);
	run_on(-1);
}

/* In the quick tier; odd ones, since the windows are narrow. */
#define SWEEP(name, step) static void sweep_##name(void) { each_way(&of_##name, step); }
SWEEP(read, 4)
SWEEP(group_read, 7)
SWEEP(wrap_read, 7)
SWEEP(reset, 4)
SWEEP(period, 17)
SWEEP(disable, 17)
SWEEP(limited_disable, 37)
SWEEP(wrap_disable, 17)
SWEEP(close, 37)
SWEEP(neighbour_enable, 37)
SWEEP(wrap_neighbour, 37)
SWEEP(neighbour_disable, 23)
SWEEP(neighbour_open, 61)
SWEEP(neighbour_close, 37)

/* Where the bits of U_GLOBAL_STATUS stay when the driver clears the overflow bit of a box. */
static void sweep_close_latch(void)
{
	msr_write(0, SYN_READING(RD_SUMMARY_CLEAR), RD_SUMMARY_CLEAR_LATCH);
	each_way(&of_close, 37);
	msr_write(0, SYN_READING(RD_SUMMARY_CLEAR), 0);
}

SILICON_MAIN({ "an overflow in the middle of a read", sweep_read },
	     { "an overflow in the middle of a group read", sweep_group_read },
	     { "a wrap in the middle of a read", sweep_wrap_read },
	     { "an overflow in the middle of RESET", sweep_reset },
	     { "an overflow in the middle of PERIOD", sweep_period },
	     { "an overflow in the middle of disable", sweep_disable },
	     { "an overflow in the middle of disable, with a limit", sweep_limited_disable },
	     { "a wrap in the middle of disable", sweep_wrap_disable },
	     { "an overflow in the middle of close", sweep_close },
	     { "an overflow in the middle of close, with a U level that latches", sweep_close_latch },
	     { "an overflow while a neighbour is enabled", sweep_neighbour_enable },
	     { "a wrap while a neighbour is enabled", sweep_wrap_neighbour },
	     { "an overflow while a neighbour is disabled", sweep_neighbour_disable },
	     { "an overflow while a neighbour is opened", sweep_neighbour_open },
	     { "an overflow while a neighbour is closed", sweep_neighbour_close },
	     { "an overflow while the package changes its CPU", moves })
