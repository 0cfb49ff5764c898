// SPDX-License-Identifier: GPL-2.0-only
/*
 * VM: --machine goldmont --icount
 * LONG: once
 *
 * Phase sweeps on Goldmont: interrupts and PEBS records in every instruction of what perf does
 * with an event, with and without an index out of bounds.
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

CORE_MAIN("5c 5f",
	{ "an interrupt in every phase", sweep_interrupt },
	{ "a record in every phase, reloaded by the CPU", sweep_reloaded },
	{ "a record in every phase, one by one", sweep_one_by_one },
	{ "a record in every phase, piled up", sweep_piled_up },
	{ "out of bounds in every phase, reloaded by the CPU", sweep_reloaded_fault },
	{ "out of bounds in every phase, one by one", sweep_one_by_one_fault })
