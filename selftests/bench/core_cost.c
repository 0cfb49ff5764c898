// SPDX-License-Identifier: GPL-2.0-only
/*
 * In the guest, with --icount: what the hooks of intel_core_ext cost, in instructions.
 * Prints one line for each way to load it.
 */
#define _GNU_SOURCE
#include "../core/sample.h"
#include "walk.h"

#define MAX_RUNS	501
#define WORDS		512
#define PERIOD		997
/* Short enough for most of them to come between two ticks. */
#define WALKS		41
#define SAMPLES		50

static u64 from[WORDS], to[WORDS];
static struct ring ring;

static u64 insns(void)
{
	return msr_read(0, SYN_INSNS);
}

static int ascending(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}

static void nothing(void)
{
}

/*
 * Instructions of @run, less those of asking: the median of @num times, so that timer
 * ticks and what others do meanwhile have no part in it.
 */
static double cost(void (*run)(void), int num)
{
	static u64 insn[MAX_RUNS];
	static double asking;
	u64 before;
	int i;

	if (!asking && run != nothing)
		asking = cost(nothing, MAX_RUNS);
	for (i = 0; i < num; i++) {
		before = insns();
		run();
		insn[i] = insns() - before;
	}
	qsort(insn, num, sizeof(insn[0]), ascending);
	return insn[num / 2] - (run == nothing ? 0 : asking);
}

static u64 config, config1;

static void open_close(void)
{
	ktap_require(!try_open(config, config1, 0));
}

static double opening(u64 cfg, u64 cfg1)
{
	config = cfg;
	config1 = cfg1;
	return cost(open_close, MAX_RUNS);
}

static int switched;

static void start_stop(void)
{
	perf_enable(switched);
	perf_disable(switched);
}

/* Of an event that is open. */
static double switching(u64 cfg)
{
	struct perf_event_attr attr = core_attr(cfg, 0, 0);
	double insn;

	switched = open_task(&attr, -1);
	ktap_require(switched >= 0);
	insn = cost(start_stop, MAX_RUNS);
	close(switched);
	return insn;
}

static void walk_once(void)
{
	walk(to, from, WORDS, 1, SAMPLES * PERIOD);
}

/* Per record, each with an interrupt of its own. */
static double sampling(u64 cfg)
{
	struct perf_event_attr attr = sample_attr(cfg, 2, PERIOD);
	double with, without, records;
	struct sample s;

	attr.wakeup_events = 1;
	without = cost(walk_once, WALKS);
	ring_open(&ring, &attr);
	perf_enable(ring.fd);
	records = core_stat(0, SYN_CORE_S_RECORDS);
	with = cost(walk_once, WALKS);
	records = core_stat(0, SYN_CORE_S_RECORDS) - records;
	perf_disable(ring.fd);
	while (ring_next(&ring, &s))
		;
	ktap_require(records >= WALKS * SAMPLES && ring.samples + ring.lost >= records);
	ring_close(&ring);
	return (with - without) / SAMPLES;
}

static void measure(void)
{
	static const char *const parameters[] = {
		NULL, "", "enforce=1", "data_src=1", "ds_guard=1", "ds_guard=1 enforce=1",
		"ds_guard=1 data_src=1", "ds_guard=1 enforce=1 data_src=1",
	};
	unsigned int i;

	run_on(0);
	perf_unlimited();
	printf("# %-22s %10s %10s %10s %12s\n", "", "open+close", "offcore", "start+stop",
	       "PEBS sample");
	for (i = 0; i < ARRAY_SIZE(parameters); i++) {
		double plain, offcore, start, sample;

		ext_load(parameters[i]);
		plain = opening(0x00c4, 0);
		offcore = opening(0x01b7, 0x40001);
		start = switching(0x00c4);
		sample = sampling(0x81d0);
		printf("# %-22s %10.0f %10.0f %10.0f %12.0f\n",
		       !parameters[i] ? "kernel alone" : *parameters[i] ? parameters[i] : "(default)",
		       plain, offcore, start, sample);
	}
}

KTAP_MAIN({ "instructions of the hooks", measure })
