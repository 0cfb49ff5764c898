// SPDX-License-Identifier: GPL-2.0-only
/*
 * VM: --machine sandybridge --icount
 * LONG: once
 *
 * Phase sweeps on Sandy Bridge: interrupts and PEBS records in every instruction of what
 * keeps PDIR alone on its core.
 */
#define _GNU_SOURCE
#include <time.h>

#include "phase.h"

#define INSTRUCTIONS	0x00c0	/* on a fixed counter */
#define PDIR		0x01c0	/* on a programmable one, precise or not */
#define BRANCHES	0x00c4

static const struct kind fixed = { "interrupts, fixed", INSTRUCTIONS, 0, .overflows = 1 };
static const struct kind general = { "interrupts, programmable", PDIR, 0, .overflows = 1 };
static const struct kind reloaded = { "PDIR, reloaded", PDIR, 2, .clock = true, .overflows = 1 };
static const struct kind one_by_one = { "PDIR, one by one", PDIR, 2, .wakeup = true,
					.overflows = 1 };

/* The other one comes later: PDIR would have to wait for it. */
static const struct call calls[] = {
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

#define STEPS	16

static void sweep_all(const struct kind *kind, u64 config, int precise, bool beside)
{
	unsigned int i;

	on_cpu(0);
	perf_unlimited();
	ext_load("enforce=1");
	if (other >= 0)
		close(other);
	other = open_other(config, precise);
	for (i = 0; i < ARRAY_SIZE(calls); i++)
		sweep(kind, &calls[i], STEPS);
	for (i = 0; beside && i < ARRAY_SIZE(calls_beside); i++)
		sweep(kind, &calls_beside[i], STEPS);
}

static void pdir_comes(void)
{
	sweep_all(&fixed, PDIR, 2, true);
}

static void pdir_waits(void)
{
	sweep_all(&general, PDIR, 2, false);
}

static void pdir_stays(void)
{
	sweep_all(&reloaded, BRANCHES, 0, false);
}

static void pdir_stays_one_by_one(void)
{
	sweep_all(&one_by_one, BRANCHES, 0, false);
}

CORE_MAIN("2a 2d",
	{ "an interrupt in every phase while PDIR comes and goes", pdir_comes },
	{ "an interrupt in every phase while PDIR waits", pdir_waits },
	{ "a record of PDIR in every phase, others wait", pdir_stays },
	{ "a record of PDIR in every phase, one by one, others wait", pdir_stays_one_by_one })
