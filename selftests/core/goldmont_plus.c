// SPDX-License-Identifier: GPL-2.0-only
/*
 * VM: --machine goldmont --model 7a
 * PTI: on
 *
 * What is different on Goldmont Plus: PEBS on all counters, write-backs in both offcore registers,
 * no guard.
 */
#define _GNU_SOURCE
#include "sample.h"
#include "walk.h"

#define WORDS	512
#define ROUNDS	200000
#define PERIOD	997
#define LOADS	0x81d0
#define STORES	0x82d0
#define INSNS	0x00c0

static u64 from[WORDS], to[WORDS];

static u64 records_of(unsigned int counter)
{
	return msr_read(0, SYN_CORE_TRUTH(SYN_CORE_RECORDS, counter));
}

/*
 * All samples are of the one instruction, as many as @counter made records and as there have to
 * be. A record that is due some instructions later is lost when another task gets the CPU
 * meanwhile.
 */
static void samples_are(struct ring *r, const char *ip, u64 op, unsigned int counter)
{
	u64 lost = msr_read(0, SYN_CORE_TRUTH(SYN_CORE_LOST, counter));
	unsigned int all = 0, num = 0, wrong = 0;
	struct sample s;

	while (ring_next(r, &s)) {
		all++;
		if (s.ip < (uintptr_t)walk_load || s.ip >= (uintptr_t)walk_end)
			continue;
		num++;
		wrong += s.ip != (uintptr_t)ip || s.src.mem_op != op;
	}
	/* Before and after the walk there are some more. */
	ktap_check(all == records_of(counter) && num + lost >= ROUNDS / PERIOD &&
		   num <= ROUNDS / PERIOD + 1 && !wrong && !r->lost,
		   "%llu records, %llu lost, %u samples, %u of them of the walk, %u wrong",
		   records_of(counter), lost, all, num, wrong);
}

/* Loads and stores at the same time, which Goldmont cannot have. */
static void together(void)
{
	struct perf_event_attr loads = sample_attr(LOADS, 2, PERIOD);
	struct perf_event_attr stores = sample_attr(STORES, 2, PERIOD);
	struct ring a = {}, b = {};
	struct perf_count count;

	run_on(0);
	perf_unlimited();
	ext_load("enforce=1 data_src=1 ds_guard=1");
	ring_open(&a, &loads);
	ring_open(&b, &stores);
	msr_write(0, SYN_CLEAR, 1);
	perf_enable(a.fd);
	perf_enable(b.fd);
	walk(to, from, WORDS, 1, ROUNDS);
	perf_disable(b.fd);
	perf_disable(a.fd);
	samples_are(&a, walk_load, PERF_MEM_OP_LOAD, SYN_CORE_GP(0));
	samples_are(&b, walk_store, PERF_MEM_OP_STORE, SYN_CORE_GP(1));
	count = perf_count(a.fd);
	ktap_check(count.running == count.enabled, "loads had to wait");
	count = perf_count(b.fd);
	ktap_check(count.running == count.enabled, "stores had to wait");
	ring_close(&b);
	ring_close(&a);
}

/*
 * Samples of all instructions of the walk, as many as @counter made records, one in @period at
 * least.
 */
static void instructions(int precise, unsigned int counter, unsigned int period)
{
	struct perf_event_attr attr = sample_attr(INSNS, precise, PERIOD);
	unsigned int num = 0, i, different = 0;
	u64 seen[WALK_INSNS] = {}, before;
	struct ring r = {};
	struct sample s;

	before = records_of(counter);
	ring_open(&r, &attr);
	perf_enable(r.fd);
	walk(to, from, WORDS, 1, ROUNDS);
	perf_disable(r.fd);
	while (ring_next(&r, &s)) {
		num++;
		if (s.ip < (uintptr_t)walk_load || s.ip >= (uintptr_t)walk_end)
			continue;
		for (i = 0; i < different && seen[i] != s.ip; i++)
			;
		if (i == different && i < WALK_INSNS)
			seen[different++] = s.ip;
	}
	before = records_of(counter) - before;
	/* The period and the walk have no common factor. */
	ktap_check(before >= (u64)ROUNDS * WALK_INSNS / period && before == num && !r.lost &&
		   different == WALK_INSNS,
		   "%llu records, %u samples of %u instructions", before, num, different);
	ring_close(&r);
}

/* Their fixed counter makes records here, but reduced skid is on counter 0. */
static void fixed(void)
{
	run_on(0);
	perf_unlimited();
	ext_load("enforce=1");
	/* A record with skid comes some instructions later, and the next period with it. */
	instructions(2, SYN_CORE_FIXED(0), PERIOD + 16);
	instructions(3, SYN_CORE_GP(0), PERIOD);
}

/* With a counter mask it counts no single access. */
static void counter_mask(void)
{
	struct perf_event_attr attr = sample_attr(LOADS | 1 << 24, 2, PERIOD);
	unsigned int num = 0, wrong = 0;
	struct ring r = {};
	struct sample s;

	run_on(0);
	perf_unlimited();
	ext_load("enforce=1 data_src=1");
	ktap_check(try_open(attr.config, 0, 3) == -EOPNOTSUPP);
	ring_open(&r, &attr);
	perf_enable(r.fd);
	walk(to, from, WORDS, 1, ROUNDS);
	perf_disable(r.fd);
	while (ring_next(&r, &s)) {
		num++;
		wrong += s.src.mem_op != PERF_MEM_OP_NA || s.src.mem_lvl != PERF_MEM_LVL_NA;
	}
	ktap_check(num && !wrong, "%u samples, %u with a source", num, wrong);
	ring_close(&r);
}

static void registers(void)
{
	ext_load("enforce=1 ds_guard=1");
	ktap_check(!try_open(0x01b7, 0x10008, 0) && !try_open(0x02b7, 0x10008, 0));
	ktap_check(try_open(0x02b7, 0x8, 0) == -EINVAL && try_open(0x02b7, 0, 0) == -EINVAL);
	ktap_check(try_open(0x003c, 0, 3) == -EOPNOTSUPP && !try_open(LOADS, 0, 3));
	/* Last branches: flags and cycles in INFO, no transactions (Linux) */
	ktap_check((msr_read(0, 0x345) & 0x3f) == 7, "capabilities %#llx", msr_read(0, 0x345));
	ktap_check(ext_effect("enforce") && !ext_effect("data_src") &&
		   !ext_effect("ds_guard") && ext_number("ds_repairs") == -1);
}

CORE_MAIN("7a",
	{ "loads and stores at the same time", together },
	{ "instructions on a fixed counter", fixed },
	{ "an event with a counter mask", counter_mask },
	{ "offcore registers, precision, what is in effect", registers })
