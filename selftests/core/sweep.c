// SPDX-License-Identifier: GPL-2.0-only
/*
 * Phase sweeps of the core PMU. An event of this task that samples instructions overflows
 * at an instruction that is known beforehand. So the overflow, with its record or interrupt,
 * is moved through a call by one instruction after the other, and after each the books of
 * the silicon, of the kernel and of the ring must balance.
 *
 *	enable, so many instructions, the call, disable
 *
 * The period stays; what gets shorter are the instructions before the call. Where the call
 * ends need not be known: the sweep is over when the last overflow has come after the event
 * has stopped, three times in a row.
 *
 * SOAK: 6.1 newest
 * VM: --machine goldmont --icount
 * VM: --machine sandybridge --icount
 */
#define _GNU_SOURCE
#include <time.h>

#include "sample.h"

#define INSTRUCTIONS	0x00c0	/* on a fixed counter */
#define PDIR		0x01c0	/* on a programmable one, precise or not; Sandy Bridge */
#define BRANCHES	0x00c4

/* How an event samples instructions. */
struct kind {
	const char *name;
	u64 config;
	int precise;
	bool clock;		/* the CPU reloads the counter, one record per interrupt */
	bool wakeup;		/* the kernel loads it after each record */
	unsigned int overflows;	/* until the end of the call */
	bool fault;		/* the first overflow finds the index out of bounds */
};

/* What happens when the overflow comes. */
struct call {
	const char *name;
	void (*prepare)(void);	/* before the event starts */
	void (*run)(void);
	void (*finish)(void);	/* after it has stopped */
	bool reads;		/* the event itself, while it counts */
};

/* The event, and one that the calls play with, which counts branches. */
static struct ring ring;
static int other = -1;

/* Of CPU 0, on which all of this is. */
struct books {
	u64 events, overflows;	/* of all counters but the watchdog's */
	u64 records;
	u64 bounds, stopped, missed;	/* records that were not made, and why */
	u64 orphaned;	/* made before the index went, so that nobody finds them */
	u64 clashes;
};

static struct books books_read(void)
{
	return (struct books){
		.events = core_truth(0, SYN_CORE_EVENTS),
		.overflows = core_truth(0, SYN_CORE_OVERFLOWS),
		.records = core_stat(0, SYN_CORE_S_RECORDS),
		.bounds = core_stat(0, SYN_CORE_S_LOST_BOUNDS),
		.stopped = core_stat(0, SYN_CORE_S_LOST_STOP),
		.missed = core_stat(0, SYN_CORE_S_LOST_FULL) + core_stat(0, SYN_CORE_S_LOST_DS),
		.orphaned = core_stat(0, SYN_CORE_S_ORPHANED),
		.clashes = core_stat(0, SYN_CORE_S_V_PDIR),
	};
}

/* What the kernel says of an event; without a ring nothing is lost. */
struct count {
	u64 value, enabled, running, lost;
};

static struct count count_read(int fd)
{
	struct count c = {};

	if (fd >= 0)
		ktap_require(read(fd, &c, sizeof(c)) == sizeof(c), "read: %s", strerror(errno));
	return c;
}

#define COUNT_FORMAT	(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | \
			 PERF_FORMAT_LOST)

/* Spends exactly one instruction more for each in @num, two at least. */
static void spend(u64 num)
{
	u64 n = num / 2;

	if (num & 1)
		asm volatile("nop\n1: dec %0\n\tjnz 1b" : "+r"(n) : : "cc");
	else
		asm volatile("1: dec %0\n\tjnz 1b" : "+r"(n) : : "cc");
}

static void event_open_kind(const struct kind *kind, u64 period)
{
	struct perf_event_attr attr = sample_attr(kind->config, kind->precise, period);

	attr.exclude_kernel = 0;
	attr.read_format = COUNT_FORMAT;
	if (kind->clock) {
		attr.use_clockid = 1;
		attr.clockid = CLOCK_MONOTONIC;
	}
	attr.wakeup_events = kind->wakeup;
	ring_open(&ring, &attr);
}

static int open_other(u64 config, int precise)
{
	struct perf_event_attr attr = core_attr(config, 0, precise);
	int fd;

	attr.read_format = COUNT_FORMAT;
	/* So that it never has a sample. */
	if (precise)
		attr.sample_period = 1ull << 40;
	fd = open_task(&attr, -1);
	ktap_require(fd >= 0, "config %#llx: %s", config, strerror(-fd));
	return fd;
}

/* One pass. @fault: where the silicon moves the index to, or -1 */
static void pass(const struct call *call, u64 period, u64 before, int fault)
{
	/* A new period begins. */
	ktap_require(!ioctl(ring.fd, PERF_EVENT_IOC_PERIOD, &period), "period: %s",
		     strerror(errno));
	if (call->prepare)
		call->prepare();
	perf_enable(ring.fd);
	if (fault >= 0)
		msr_write(0, SYN_PEBS_INDEX, fault);
	spend(before);
	call->run();
	/* It must not have fallen silent. */
	if (fault >= 0)
		spend(2 * period);
	perf_disable(ring.fd);
	if (call->finish)
		call->finish();
}

static u64 samples_read(void)
{
	u64 before = ring.samples;
	struct sample s;

	while (ring_next(&ring, &s))
		;
	return ring.samples - before;
}

/* The sums of a sweep, for the note. */
struct sum {
	unsigned int phases;
	u64 overflows, samples, bounds, stopped, overlooked;
};

/*
 * When the kernel reads a counter that it loads itself, it first notes how far the counter is
 * and then takes that from what is left of the period. An interrupt in between finds that the
 * period is not over, and makes no sample. These are a few instructions, 10 in Linux 6.1. When
 * the CPU loads the counter, nobody asks what is left.
 */
#define OVERLOOKED	16

static bool overlooks(const struct kind *kind, const struct call *call)
{
	return call->reads && (!kind->precise || kind->wakeup);
}

static bool balanced(const struct kind *kind, const struct call *call, struct books *was, u64 shift,
		     u64 period, const struct count c[2], struct sum *sum, u64 *overflows)
{
	struct books now = books_read(), b = now;
	u64 samples = samples_read(), made, counted = c[0].value + c[1].value;
	u64 gone;

	b.events -= was->events;
	b.overflows -= was->overflows;
	b.records -= was->records;
	b.bounds -= was->bounds;
	b.stopped -= was->stopped;
	b.missed -= was->missed;
	b.orphaned -= was->orphaned;
	b.clashes -= was->clashes;
	*was = now;
	made = kind->precise ? b.records - b.orphaned : b.overflows;
	gone = b.bounds + b.orphaned;

	sum->phases++;
	sum->overflows += b.overflows;
	sum->samples += samples;
	sum->bounds += b.bounds;
	sum->stopped += b.stopped;
	sum->overlooked += made > samples ? made - samples : 0;
	*overflows = b.overflows;
	/* What the silicon has made is what the ring has, and the kernel says that it lost none. */
	return ktap_check((made == samples || (made == samples + 1 && overlooks(kind, call))) &&
			  !c[0].lost && !ring.lost,
			  "at %llu: %llu made, %llu samples, %llu and %llu lost", shift, made,
			  samples, c[0].lost, ring.lost) &&
	       /* Each overflow has made a record, or the silicon knows why not. */
	       ktap_check(!kind->precise || b.overflows == b.records + b.bounds + b.stopped,
			  "at %llu: %llu overflows, %llu records, %llu out of bounds, %llu stopped",
			  shift, b.overflows, b.records, b.bounds, b.stopped) &&
	       ktap_check(!b.missed && !b.clashes && b.bounds <= kind->fault,
			  "at %llu: %llu missed, %llu clashes, %llu out of bounds", shift, b.missed,
			  b.clashes, b.bounds) &&
	       /*
		* The counts are the truth. A sample that was lost takes its period along or, if
		* the kernel loads the counter, what came before the guard, which is less.
		*/
	       ktap_check(gone && kind->wakeup
				  ? counted <= b.events && b.events - counted < gone * period
				  : counted + gone * period == b.events,
			  "at %llu: %llu and %llu counted, truth %llu", shift, c[0].value,
			  c[1].value, b.events) &&
	       /* No period is longer than another. */
	       ktap_check(kind->fault ? b.overflows >= 2 : b.overflows == c[0].value / period,
			  "at %llu: %llu overflows in %llu, period %llu", shift, b.overflows,
			  c[0].value, period);
}

static void count_since(int fd, struct count *last, struct count *c)
{
	struct count now = count_read(fd);

	*c = (struct count){ now.value - last->value, now.enabled - last->enabled,
			     now.running - last->running, now.lost - last->lost };
	*last = now;
}

/* Instructions from the start of the event to its end, without an overflow. */
static u64 call_length(const struct kind *kind, const struct call *call)
{
	u64 before, length = 0;
	int i;

	event_open_kind(kind, 1ull << 40);
	/* The first time takes other ways. */
	for (i = 0; i < 3; i++) {
		before = count_read(ring.fd).value;
		pass(call, 1ull << 40, 2, -1);
		length = count_read(ring.fd).value - before;
	}
	ring_close(&ring);
	return length;
}

#define SLACK	200	/* instructions that a call takes now and then */

/* Steps of single instructions, for all but opening an event. */
#define FINEST	8192

/*
 * Through the whole call in so many steps, or in "make soak" by single instructions. The
 * number of phases.
 */
static unsigned int sweep(const struct kind *kind, const struct call *call, unsigned int steps)
{
	u64 length = call_length(kind, call) + SLACK;
	u64 period = 2 * length + 1000, whole = kind->overflows * period;
	u64 step = length / (soak() ? FINEST : steps) | 1;
	struct count last[2], c[2];
	u64 shift, overflows;
	struct books was;
	struct sum sum = {};
	int after = 0;

	event_open_kind(kind, period);
	last[0] = count_read(ring.fd);
	last[1] = count_read(other);
	was = books_read();
	for (shift = 0; kind->fault ? shift < length : after < 3; shift += step) {
		if (!ktap_check(shift + 4 < whole, "the call does not end"))
			break;
		pass(call, period, whole - shift, kind->fault ? (int)(sum.phases & 1) : -1);
		count_since(ring.fd, &last[0], &c[0]);
		count_since(other, &last[1], &c[1]);
		if (!balanced(kind, call, &was, shift, period, c, &sum, &overflows))
			break;
		/* The first is before the call. */
		if (!ktap_check(shift || overflows >= kind->overflows, "begins in the call"))
			break;
		after = overflows < kind->overflows ? after + 1 : 0;
	}
	ktap_check(!sum.overlooked || (sum.overlooked - 1) * step < OVERLOOKED,
		   "%llu overlooked in steps of %llu", sum.overlooked, step);
	ktap_note("%s, %s: %u phases of %llu instructions, %llu overflows, %llu samples, %llu out of bounds, %llu stopped, %llu overlooked",
		  kind->name, call->name, sum.phases, length, sum.overflows, sum.samples,
		  sum.bounds, sum.stopped, sum.overlooked);
	ring_close(&ring);
	return sum.phases;
}

/* ---- the calls ---- */

static void call_nothing(void)
{
}

KTAP_CALL(call_read, count_read(ring.fd))

static void call_restart(void)
{
	perf_disable(ring.fd);
	perf_enable(ring.fd);
}

KTAP_CALL(call_read_other, count_read(other))
KTAP_CALL(other_on, perf_enable(other))
KTAP_CALL(other_off, perf_disable(other))

/* Another task has the CPU. */
static void call_sleep(void)
{
	const struct timespec ts = { .tv_nsec = 1000 };

	nanosleep(&ts, NULL);
}

static u64 reopened_config = 0x00c4;

/* One that wants to run comes and goes. */
static void call_reopen(void)
{
	struct perf_event_attr attr = core_attr(reopened_config, 0, 0);
	int fd;

	attr.disabled = 0;
	attr.exclude_user = attr.exclude_kernel = 1;
	fd = open_task(&attr, -1);
	if (fd >= 0)
		close(fd);
}

/* ---- Goldmont: with and without an index out of bounds ---- */

static const struct kind interrupt = { "interrupts", INSTRUCTIONS, 0, .overflows = 1 };
static const struct kind reloaded = { "records, reloaded", INSTRUCTIONS, 2, .clock = true,
				      .overflows = 1 };
static const struct kind one_by_one = { "records, one by one", INSTRUCTIONS, 2, .wakeup = true,
					.overflows = 1 };
static const struct kind piled_up = { "records, piled up", INSTRUCTIONS, 2, .overflows = 3 };
static const struct kind reloaded_fault = { "records, reloaded, out of bounds", INSTRUCTIONS, 2,
					    .clock = true, .overflows = 1, .fault = true };
static const struct kind one_by_one_fault = { "records, one by one, out of bounds", INSTRUCTIONS,
					      2, .wakeup = true, .overflows = 1, .fault = true };

static const struct call calls[] = {
	{ "stop", NULL, call_nothing, NULL, false },
	{ "read", NULL, call_read, NULL, true },
	{ "stop and start", NULL, call_restart, NULL, false },
	{ "read another", other_on, call_read_other, other_off, false },
	{ "start another", NULL, other_on, other_off, false },
	{ "stop another", other_on, other_off, NULL, false },
	{ "leave the CPU", NULL, call_sleep, NULL, false },
	{ "open and close another", NULL, call_reopen, NULL, false },
};

#define STEPS	16

static void sweep_all(const struct kind *kind)
{
	unsigned int i;

	run_on(0);
	perf_unlimited();
	ext_load("enforce=1 data_src=1 ds_guard=1");
	if (other < 0)
		other = open_other(0x00c4, 0);
	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		unsigned long before = repairs();
		unsigned int phases;

		/* The kernel empties the buffer first, with the index as it is. */
		if (kind == &reloaded_fault && calls[i].run == call_read)
			continue;
		phases = sweep(kind, &calls[i], STEPS);
		ktap_check(repairs() - before == (kind->fault ? phases : 0),
			   "%lu repairs in %u phases", repairs() - before, phases);
	}
}

#define SWEEP(_kind)				\
static void sweep_##_kind(void)			\
{						\
	sweep_all(&_kind);			\
}

SWEEP(interrupt)
SWEEP(reloaded)
SWEEP(one_by_one)
SWEEP(piled_up)
SWEEP(reloaded_fault)
SWEEP(one_by_one_fault)

/* ---- Sandy Bridge: what keeps PDIR alone on its core ---- */

static const struct kind fixed = { "interrupts, fixed", INSTRUCTIONS, 0, .overflows = 1 };
static const struct kind general = { "interrupts, programmable", PDIR, 0, .overflows = 1 };
static const struct kind pdir_reloaded = { "PDIR, reloaded", PDIR, 2, .clock = true,
					   .overflows = 1 };
static const struct kind pdir_one_by_one = { "PDIR, one by one", PDIR, 2, .wakeup = true,
					     .overflows = 1 };

/* The other one comes later: PDIR would have to wait for it. */
static const struct call pdir_calls[] = {
	{ "stop", NULL, call_nothing, NULL, false },
	{ "read", NULL, call_read, NULL, true },
	{ "stop and start", NULL, call_restart, NULL, false },
	{ "start another", NULL, other_on, other_off, false },
	{ "leave the CPU", NULL, call_sleep, NULL, false },
	{ "open and close another", NULL, call_reopen, NULL, false },
};

/* It is there already. */
static const struct call calls_beside[] = {
	{ "read another", other_on, call_read_other, other_off, false },
	{ "stop another", other_on, other_off, NULL, false },
};

static void sweep_pdir(const struct kind *kind, u64 config, int precise, bool beside)
{
	unsigned int i;

	run_on(0);
	perf_unlimited();
	ext_load("enforce=1");
	if (other >= 0)
		close(other);
	other = open_other(config, precise);
	for (i = 0; i < ARRAY_SIZE(pdir_calls); i++)
		sweep(kind, &pdir_calls[i], STEPS);
	for (i = 0; beside && i < ARRAY_SIZE(calls_beside); i++)
		sweep(kind, &calls_beside[i], STEPS);
}

KTAP_CALL(pdir_comes, sweep_pdir(&fixed, PDIR, 2, true))
KTAP_CALL(pdir_waits, sweep_pdir(&general, PDIR, 2, false))
KTAP_CALL(pdir_stays, sweep_pdir(&pdir_reloaded, BRANCHES, 0, false))
KTAP_CALL(pdir_stays_one_by_one, sweep_pdir(&pdir_one_by_one, BRANCHES, 0, false))

static const struct core_machine machines[] = {
	{ GOLDMONT, CORE_CASES(
		{ "an interrupt in every phase", sweep_interrupt },
		{ "a record in every phase, reloaded by the CPU", sweep_reloaded },
		{ "a record in every phase, one by one", sweep_one_by_one },
		{ "a record in every phase, piled up", sweep_piled_up },
		{ "out of bounds in every phase, reloaded by the CPU", sweep_reloaded_fault },
		{ "out of bounds in every phase, one by one", sweep_one_by_one_fault }) },
	{ SANDYBRIDGE, CORE_CASES(
		{ "an interrupt in every phase while PDIR comes and goes", pdir_comes },
		{ "an interrupt in every phase while PDIR waits", pdir_waits },
		{ "a record of PDIR in every phase, others wait", pdir_stays },
		{ "a record of PDIR in every phase, one by one, others wait", pdir_stays_one_by_one }) },
};

CORE_MACHINES(machines)
