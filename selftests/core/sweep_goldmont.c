// SPDX-License-Identifier: GPL-2.0-only
/*
 * VM: --machine goldmont --icount
 * LONG: once
 *
 * Phase sweeps on Goldmont: interrupts and PEBS records in every instruction of what the
 * guard hooks, with and without an index out of bounds.
 */
#define _GNU_SOURCE
#include <time.h>

#include "phase.h"

#define INSTRUCTIONS	0x00c0

/* ---- kinds ---- */

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
static const struct kind piled_up_fault = { "records, piled up, out of bounds", INSTRUCTIONS, 2,
					    .overflows = 1, .fault = true };

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

	on_cpu(0);
	perf_unlimited();
	ext_load("enforce=1 data_src=1 ds_guard=1");
	if (other < 0)
		other = open_other(0x00c4, 0);
	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		unsigned long before = repairs();
		unsigned int phases = sweep(kind, &calls[i], STEPS);

		ktap_check(repairs() - before == (kind->fault ? phases : 0),
			   "%lu repairs in %u phases", repairs() - before, phases);
	}
}

/*
 * The interrupt of an overflow comes late, in every few instructions of a read that finds the
 * index out of bounds. When the kernel is done with an interrupt the counters run, and the
 * guard writes one of them. The books are not looked at: the kernel's own do not balance when
 * an interrupt comes while it empties the buffer.
 */
#define LATE		1000
#define LATE_STEP	3

static void late(const struct kind *kind)
{
	uint64_t length = call_length(kind, &calls[1]) + SLACK, period = 2 * length + 1000;
	uint64_t writes = core_stat(0, SYN_CORE_S_V_WRITE), shift, samples = 0;
	unsigned long before = repairs();
	unsigned int phases = 0;

	event_open_kind(kind, period);
	msr_write(0, SYN_CORE_PMI_LATE, LATE);
	for (shift = 0; shift < length; shift += LATE_STEP) {
		pass(&calls[1], period, period - shift, phases++ & 1);
		samples += samples_read();
	}
	msr_write(0, SYN_CORE_PMI_LATE, 0);
	ring_close(&ring);
	writes = core_stat(0, SYN_CORE_S_V_WRITE) - writes;
	ktap_note("%s: %u phases, %lu repairs, %llu samples", kind->name, phases,
		  repairs() - before, (unsigned long long)samples);
	ktap_check(!writes, "%s: %llu writes with PEBS on", kind->name, (unsigned long long)writes);
	ktap_check(repairs() - before >= phases && samples > phases);
}

static void sweep_late(void)
{
	on_cpu(0);
	perf_unlimited();
	ext_load("ds_guard=1");
	late(&reloaded_fault);
	late(&one_by_one_fault);
	late(&piled_up_fault);
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
SWEEP(piled_up_fault)

CORE_MAIN("5c 5f",
	{ "an interrupt in every phase", sweep_interrupt },
	{ "a record in every phase, reloaded by the CPU", sweep_reloaded },
	{ "a record in every phase, one by one", sweep_one_by_one },
	{ "a record in every phase, piled up", sweep_piled_up },
	{ "out of bounds in every phase, reloaded by the CPU", sweep_reloaded_fault },
	{ "out of bounds in every phase, one by one", sweep_one_by_one_fault },
	{ "out of bounds in every phase, piled up", sweep_piled_up_fault },
	{ "out of bounds in a read, and the interrupt late", sweep_late })
