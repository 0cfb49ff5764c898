// SPDX-License-Identifier: GPL-2.0-only
/*
 * In the guest, with --icount: what the hooks of intel_core_ext cost, in instructions.
 * Prints one line for each way to load it.
 */
#define _GNU_SOURCE
#include "../core/sample.h"
#include "../core/walk.h"

#define OPENS		500
#define WORDS		512
#define PERIOD		997
#define ROUNDS		(400 * PERIOD)

static uint64_t from[WORDS], to[WORDS];
static struct ring ring;

static uint64_t insns(void)
{
	return msr_read(0, SYN_INSNS);
}

/* Instructions of @num times @run, less those of asking. */
static double cost(void (*run)(int i), int num)
{
	uint64_t before, empty;
	int i;

	empty = insns();
	empty = insns() - empty;
	before = insns();
	for (i = 0; i < num; i++)
		run(i);
	return (double)(insns() - before - empty) / num;
}

static uint64_t config, config1;

static void open_close(int i)
{
	(void)i;
	ktap_require(!try_open(config, config1, 0));
}

static double opening(uint64_t cfg, uint64_t cfg1)
{
	config = cfg;
	config1 = cfg1;
	cost(open_close, 20);
	return cost(open_close, OPENS);
}

static int switched;

static void start_stop(int i)
{
	(void)i;
	perf_enable(switched);
	perf_disable(switched);
}

/* Of an event that is open. */
static double switching(uint64_t cfg)
{
	struct perf_event_attr attr = core_attr(cfg, 0, 0);
	double insns;

	switched = open_task(&attr, -1);
	ktap_require(switched >= 0);
	cost(start_stop, 20);
	insns = cost(start_stop, OPENS);
	close(switched);
	return insns;
}

static void walk_once(int i)
{
	(void)i;
	walk(to, from, WORDS, 1, ROUNDS);
}

/* Per record, each with an interrupt of its own. */
static double sampling(uint64_t cfg)
{
	struct perf_event_attr attr = sample_attr(cfg, 2, PERIOD);
	double with, without, records;
	struct sample s;

	attr.wakeup_events = 1;
	without = cost(walk_once, 1);
	ring_open(&ring, &attr);
	perf_enable(ring.fd);
	records = core_stat(0, SYN_CORE_S_RECORDS);
	with = cost(walk_once, 1);
	records = core_stat(0, SYN_CORE_S_RECORDS) - records;
	perf_disable(ring.fd);
	while (ring_next(&ring, &s))
		;
	ktap_require(records > 300 && ring.samples + ring.lost >= records);
	ring_close(&ring);
	return (with - without) / records;
}

static void measure(void)
{
	static const char *const parameters[] = {
		NULL, "ds_guard=0", "ds_guard=0 enforce=1", "ds_guard=0 data_src=1",
		"", "enforce=1", "data_src=1", "enforce=1 data_src=1",
	};
	unsigned int i;

	on_cpu(0);
	perf_unlimited();
	printf("# %-22s %10s %10s %10s %12s\n", "", "open+close", "offcore", "start+stop",
	       "PEBS sample");
	for (i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++) {
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
