// SPDX-License-Identifier: GPL-2.0-only
/*
 * What an interval of perf metrics costs: each counter is read once. Nothing is written but where
 * several counters of a box are read: they stop meanwhile, so that they are of one moment. On the
 * debug kernel ten intervals take seconds, and each second the driver looks at its registers.
 *
 * VM: --sockets 2 --cores 2 --icount --append nmi_watchdog=0
 * TEST: 6.1
 */
#include "silicon.h"

#define MORE	10	/* intervals */

struct accesses {
	long reads, writes;
};

/* Of perf metrics, from its start to its end. */
static struct accesses accesses_of(const char *metrics, int intervals)
{
	struct accesses accesses;
	char command[200];

	snprintf(command, sizeof(command),
		 "perf metrics %s --csv -I 20 --interval-count %d >/tmp/cost 2>&1", metrics,
		 intervals);
	silicon_start_idle();
	ktap_require(!system(command), "%s", command);
	accesses.reads = msr_read(0, SYN_ACCESS_ALL(SYN_RANGE_UNCORE, 0));
	accesses.writes = msr_read(0, SYN_ACCESS_ALL(SYN_RANGE_UNCORE, 1));
	return accesses;
}

/* What more intervals cost; starting and stopping is the same for few and for many. */
static void check(const char *metrics, int counters, int boxes)
{
	struct accesses few = accesses_of(metrics, 2), many = accesses_of(metrics, 2 + MORE);
	long reads = many.reads - few.reads, writes = many.writes - few.writes;

	ktap_note("%s: %ld reads and %ld writes of 2 intervals, %ld and %ld of %d", metrics,
		  few.reads, few.writes, many.reads, many.writes, 2 + MORE);
	ktap_check(reads > 0 && reads <= MORE * counters, "%s: %ld reads of %d intervals, not %d",
		   metrics, reads, MORE, MORE * counters);
	ktap_check(writes <= MORE * 2 * boxes, "%s: %ld writes of %d intervals, not %d", metrics,
		   writes, MORE, MORE * 2 * boxes);
}

/* Of each package a counter of each M-Box and B-Box; the gate has none. */
KTAP_CALL(memory, check("memory", 2 * (2 + 2), 0))

/*
 * And hits and misses of eight C-Boxes, flits and idle flits of four ports, which are two of each
 * half, and the clock.
 */
static void several(void)
{
	check("memory llc_miss_ratio qpi_utilization uncore_clock_mhz",
	      2 * (2 + 2 + 2 * 8 + 2 * 4 + 1), 2 * (8 + 2));
}

METRICS_MAIN({ "memory", memory },
	{ "with caches and links", several })
