// SPDX-License-Identifier: GPL-2.0-only
/*
 * VM: --machine goldmont
 * PTI: on
 *
 * The PEBS index out of bounds, moved there by the silicon.
 */
#define _GNU_SOURCE
#include <time.h>

#include "kmsg.h"
#include "sample.h"
#include "walk.h"

#define WORDS		512
#define PERIOD		101
#define FAULTS		50

static u64 from[WORDS], to[WORDS];
static struct ring ring;

/* No fault in some() */
#define NONE		-1

/*
 * Run for @rounds, with a fault in the middle of them; the number of samples. The event
 * is off while they are read, which would make samples, too.
 */
static u64 some(u64 rounds, int fault)
{
	u64 before = ring.samples;
	struct sample s;

	perf_enable(ring.fd);
	walk(to, from, WORDS, 1, rounds / 2);
	if (fault != NONE)
		msr_write(0, SYN_PEBS_INDEX, fault);
	walk(to, from, WORDS, 1, rounds / 2);
	perf_disable(ring.fd);
	while (ring_next(&ring, &s))
		ktap_check(s.ip != (uintptr_t)walk_load ||
			   s.addr == (uintptr_t)from + 8 * s.reg[REG_CX]);
	return ring.samples - before;
}

/* The CPU reloads the counter; a clock of one's own: one record per interrupt. */
static void reloaded(struct perf_event_attr *attr)
{
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
}

/* Many records per interrupt: the kernel comes when the buffer is nearly full. */
static void piled_up(struct perf_event_attr *attr)
{
	(void)attr;
}

static void one_by_one(struct perf_event_attr *attr)
{
	attr->wakeup_events = 1;
}

static void frequency(struct perf_event_attr *attr)
{
	attr->freq = 1;
	attr->sample_freq = 10000;
}

static void start(const char *parameters, void (*adapt)(struct perf_event_attr *attr))
{
	struct perf_event_attr attr = sample_attr(0x81d0, 2, PERIOD);

	run_on(0);
	perf_unlimited();
	ext_load(parameters);
	adapt(&attr);
	ring_open(&ring, &attr);
	ktap_require(some(1000 * PERIOD, NONE) > 10, "no samples to begin with");
}

/*
 * The kernel alone never hears of the event again, until it puts it on a CPU anew:
 * a try during which the task was switched out says nothing.
 */
static void unguarded(void)
{
	u64 num;
	long before;
	int i;

	start("", reloaded);
	real_time(true);
	for (i = 0; i < 100; i++) {
		before = switches();
		num = some(1000 * PERIOD, SYN_PEBS_INDEX_BELOW);
		if (switches() == before)
			break;
	}
	real_time(false);
	ktap_require(i < 100, "never left alone");
	ktap_check(num >= 499 && num <= 501, "%llu samples", num);
	ring_close(&ring);
}

static void guarded(int fault, void (*adapt)(struct perf_event_attr *attr))
{
	u64 bounds, records, samples;
	int i;

	start("ds_guard=1", adapt);
	records = core_stat(0, SYN_CORE_S_RECORDS);
	bounds = core_stat(0, SYN_CORE_S_LOST_BOUNDS);
	samples = ring.samples;
	for (i = 0; i < FAULTS; i++) {
		u64 num = some(200 * PERIOD, fault);

		ktap_check(num >= 5, "fault %d: %llu samples", i, num);
	}
	records = core_stat(0, SYN_CORE_S_RECORDS) - records;
	bounds = core_stat(0, SYN_CORE_S_LOST_BOUNDS) - bounds;
	samples = ring.samples - samples;
	ktap_note("%llu out of bounds, %lu repairs, %llu records, %llu samples, %llu lost", bounds,
		  repairs(), records, samples, ring.lost);
	/* Now and then the kernel resets the index before the counter overflows. */
	ktap_check(bounds <= FAULTS && bounds > FAULTS / 2 && repairs() == bounds);
	ktap_check(records == samples && !ring.lost);
	/* With a fixed period, all but one sample for each of them; we load a little, too. */
	if (adapt == reloaded)
		ktap_check(samples + bounds >= FAULTS * 200 && samples + bounds < FAULTS * 201);
	ring_close(&ring);
}

KTAP_CALL(below, guarded(SYN_PEBS_INDEX_BELOW, reloaded))
KTAP_CALL(above, guarded(SYN_PEBS_INDEX_ABOVE, reloaded))
KTAP_CALL(below_one_by_one, guarded(SYN_PEBS_INDEX_BELOW, one_by_one))
KTAP_CALL(above_one_by_one, guarded(SYN_PEBS_INDEX_ABOVE, one_by_one))

/* All samples there are, read and forgotten. */
static void drain(void)
{
	struct sample s;

	while (ring_next(&ring, &s))
		;
}

/*
 * Does the event go on? One that is throttled does so with the next tick, and on a busy host many
 * samples may come to pass between two ticks.
 */
static bool goes_on(u64 rounds)
{
	double end = seconds() + 60;
	u64 before;
	int tries;

	drain();
	before = ring.samples;
	for (tries = 0; tries < 1000 && ring.samples == before && seconds() < end; tries++) {
		walk(to, from, WORDS, 1, rounds);
		drain();
		if (ring.throttles != ring.unthrottles)
			tries = 0;
	}
	return ring.samples != before;
}

/*
 * The kernel chooses the period: wait for what is to come. When the task is switched out the kernel
 * resets the index, perhaps before the guard sees it: such a try says nothing.
 */
static void with_frequency(void)
{
	int i, good = 0;

	start("ds_guard=1", frequency);
	real_time(true);
	perf_enable(ring.fd);
	for (i = 0; i < 100 && good < 6; i++) {
		unsigned long fixed = repairs();
		long before = switches();

		msr_write(0, SYN_PEBS_INDEX, good % 2 ? SYN_PEBS_INDEX_ABOVE :
							SYN_PEBS_INDEX_BELOW);
		/* The next sample is lost, and the one after it is not. */
		if (!ktap_check(goes_on(10000), "fault %d: no more samples", i))
			break;
		if (switches() != before)
			continue;
		good++;
		ktap_check(repairs() == fixed + 1, "fault %d: from %lu to %lu repairs", i, fixed,
			   repairs());
	}
	real_time(false);
	ktap_require(i < 100 || good == 6, "never left alone");
	perf_disable(ring.fd);
	ring_close(&ring);
}

/* What was in the buffer is lost, nobody knows how much it was. Sampling goes on. */
static void many(void)
{
	int i, good = 0;

	start("ds_guard=1", piled_up);
	real_time(true);
	for (i = 0; i < 100 && good < 4; i++) {
		u64 interrupts = core_stat(0, SYN_CORE_S_PMI_BUFFER);
		unsigned long fixed = repairs();
		long before = switches();
		u64 num =
			some(1000 * PERIOD, good % 2 ? SYN_PEBS_INDEX_ABOVE : SYN_PEBS_INDEX_BELOW);

		if (switches() != before)
			continue;
		good++;
		interrupts = core_stat(0, SYN_CORE_S_PMI_BUFFER) - interrupts;
		ktap_check(num >= 490, "%llu", num);
		ktap_check(repairs() == fixed + 1, "from %lu to %lu repairs", fixed, repairs());
		ktap_check(interrupts < 25, "%llu interrupts", interrupts);
	}
	real_time(false);
	ktap_require(good == 4, "never left alone");
	ring_close(&ring);
}

#define LONG_PERIOD	1009

/* A read right after the repair: what the guard loads is not behind what the kernel did. */
static void counted(void)
{
	u64 last, now;
	int i;

	start("ds_guard=1", one_by_one);
	perf_enable(ring.fd);
	last = perf_count(ring.fd).value;
	for (i = 0; i < FAULTS; i++) {
		msr_write(0, SYN_PEBS_INDEX, SYN_PEBS_INDEX_BELOW);
		walk(to, from, WORDS, 1, PERIOD + 9);
		now = perf_count(ring.fd).value;
		ktap_check(now > last && now - last < 1 << 20, "fault %d: from %llu to %llu", i,
			   last, now);
		last = now;
	}
	perf_disable(ring.fd);
	ktap_check(repairs() > FAULTS / 2, "%lu repairs", repairs());
	ring_close(&ring);
}

/*
 * The event counts the guard's own loads: an overflow among them is not lost. The kernel's
 * are counted with them, and a debug kernel has so many that fewer faults will do.
 */
static void overflow_in_guard(void)
{
	struct perf_event_attr attr = sample_attr(0x81d0, 2, LONG_PERIOD);
	int i;

	start("ds_guard=1", reloaded);
	ring_close(&ring);
	reloaded(&attr);
	attr.exclude_kernel = 0;
	ring_open(&ring, &attr);
	perf_enable(ring.fd);
	for (i = 0; i < 2000 && ring.samples < 100000; i++) {
		msr_write(0, SYN_PEBS_INDEX, SYN_PEBS_INDEX_BELOW);
		perf_count(ring.fd);
		if (!ktap_check(goes_on(2 * LONG_PERIOD), "silent after %d faults", i + 1))
			break;
	}
	perf_disable(ring.fd);
	ktap_note("%d faults, %llu samples", i, ring.samples);
	ring_close(&ring);
}

/* At the maximum is in bounds: the kernel's own business. */
static void full(void)
{
	start("ds_guard=1", reloaded);
	some(200 * PERIOD, SYN_PEBS_INDEX_FULL);
	ktap_check(!repairs());
	ring_close(&ring);
}

/* Whoever else counts is not disturbed. */
static void beside_others(void)
{
	struct perf_event_attr attr = core_attr(0x00c4, 0, 0);
	u64 count[2];
	int pass, fd, i;

	start("ds_guard=1", reloaded);
	attr.exclude_kernel = 1;
	fd = open_task(&attr, -1);
	ktap_require(fd >= 0);
	for (pass = 0; pass < 2; pass++) {
		ktap_require(!ioctl(fd, PERF_EVENT_IOC_RESET, 0));
		perf_enable(ring.fd);
		perf_enable(fd);
		for (i = 0; i < FAULTS; i++) {
			msr_write(0, pass ? SYN_PEBS_INDEX : SYN_ID, SYN_PEBS_INDEX_BELOW);
			walk(to, from, WORDS, 1, 2000);
		}
		perf_disable(fd);
		perf_disable(ring.fd);
		count[pass] = perf_count(fd).value;
	}
	ktap_check(count[0] == count[1], "%llu branches, with faults %llu", count[0], count[1]);
	ktap_check(repairs() > FAULTS / 2, "%lu repairs", repairs());
	ring_close(&ring);
	close(fd);
}

/* Counter 0 interrupts, and had a PEBS event before: what that was to be reloaded with is left. */
static void beside_plain_sampling(void)
{
	struct perf_event_attr attr = core_attr(0x00c4, 0, 0);
	u64 count[2];
	int pass, fd, i;

	run_on(0);
	perf_unlimited();
	ext_load("ds_guard=1");
	attr.exclude_kernel = 1;
	attr.sample_period = LONG_PERIOD;
	fd = open_task(&attr, -1);
	ktap_require(fd >= 0);
	start("ds_guard=1", reloaded);
	ring_close(&ring);
	for (pass = 0; pass < 2; pass++) {
		ktap_require(!ioctl(fd, PERF_EVENT_IOC_RESET, 0));
		perf_enable(fd);
		for (i = 0; i < FAULTS; i++) {
			msr_write(0, pass ? SYN_PEBS_INDEX : SYN_ID, SYN_PEBS_INDEX_BELOW);
			walk(to, from, WORDS, 1, 2000);
		}
		perf_disable(fd);
		count[pass] = perf_count(fd).value;
	}
	ktap_check(count[0] == count[1], "%llu branches, with faults %llu", count[0], count[1]);
	ktap_check(repairs() > FAULTS / 2, "%lu repairs", repairs());
	close(fd);
}

#define PLAIN_PERIOD	1009
#define RARE_PERIOD	10007

/*
 * The interrupt of another counter finds the index out of bounds before the PEBS counter overflows:
 * that goes on with its period, and no sample is lost.
 */
static void in_time(void)
{
	struct perf_event_attr attr = sample_attr(0x81d0, 2, RARE_PERIOD);
	struct perf_event_attr plain = core_attr(0x00c4, 0, 0);
	u64 bounds;
	int fd, i;

	start("ds_guard=1", reloaded);
	ring_close(&ring);
	reloaded(&attr);
	ring_open(&ring, &attr);
	plain.exclude_kernel = 1;
	plain.sample_period = PLAIN_PERIOD;
	fd = open_task(&plain, -1);
	ktap_require(fd >= 0, "%s", strerror(-fd));
	drain();
	bounds = core_stat(0, SYN_CORE_S_LOST_BOUNDS);
	perf_enable(ring.fd);
	perf_enable(fd);
	for (i = 0; i < FAULTS; i++) {
		walk(to, from, WORDS, 1, 2 * RARE_PERIOD);
		msr_write(0, SYN_PEBS_INDEX, SYN_PEBS_INDEX_BELOW);
		walk(to, from, WORDS, 1, 2 * RARE_PERIOD);
	}
	perf_disable(fd);
	perf_disable(ring.fd);
	drain();
	bounds = core_stat(0, SYN_CORE_S_LOST_BOUNDS) - bounds;
	ktap_note("%lu repairs, %llu samples, %llu out of bounds", repairs(), ring.samples, bounds);
	/* The counter is seldom so near its overflow. Each fault comes with 4 periods and a little. */
	ktap_check(repairs() > FAULTS / 2 && bounds < FAULTS / 4);
	ktap_check(ring.samples + bounds >= FAULTS * 4 && ring.samples + bounds < FAULTS * 17 / 4);
	ring_close(&ring);
	close(fd);
}

static void logged_once(void)
{
	int n, i;

	start("ds_guard=1", reloaded);
	kmsg_mark();
	for (i = 0; i < 100 && !repairs(); i++)
		some(200 * PERIOD, SYN_PEBS_INDEX_BELOW);
	n = kmsg_count("PEBS index was out of bounds on CPU 0");
	ktap_check(repairs() == 1 && n == 1, "%lu repairs, logged %d times", repairs(), n);
	kmsg_mark();
	some(200 * PERIOD, SYN_PEBS_INDEX_ABOVE);
	some(200 * PERIOD, SYN_PEBS_INDEX_BELOW);
	n = kmsg_count("PEBS index was out of bounds");
	ktap_check(!n, "%d times more", n);
	ring_close(&ring);
}

CORE_MAIN("5c 5f",
	{ "below the base, without the guard: silence", unguarded },
	{ "below the base, fixed period", below },
	{ "above the maximum, fixed period", above },
	{ "below the base, one by one", below_one_by_one },
	{ "above the maximum, one by one", above_one_by_one },
	{ "a sampling frequency goes on after each repair", with_frequency },
	{ "many records in one interrupt", many },
	{ "a count read after a repair is not behind", counted },
	{ "an overflow in the guard", overflow_in_guard },
	{ "an index at the maximum is left alone", full },
	{ "a repair leaves the counts of others alone", beside_others },
	{ "a repair leaves a plain sampling event alone", beside_plain_sampling },
	{ "an index that is put right before the counter overflows", in_time },
	{ "repairs are logged once", logged_once })
