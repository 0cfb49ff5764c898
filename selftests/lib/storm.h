/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An event for each counter of each box of a package, and traffic for all of them.
 */
#ifndef SELFTESTS_STORM_H
#define SELFTESTS_STORM_H

#include "silicon.h"

/* So many counters of the box have it; the B-Box has other events on each counter. */
static const struct storm_event {
	const char *pmu;
	unsigned int instances;		/* 0: the name has no number */
	const char *event;
	unsigned int counters;
} storm_events[] = {
	{ "xeon7500_ubox", 0, "woken", 1 },
	{ "xeon7500_cbox", 8, "llc_misses.all", 6 },
	{ "xeon7500_wbox", 0, "uncore_clock", 1 },
	{ "xeon7500_wbox", 0, "c_cycles_turbo.c_all", 4 },
	{ "xeon7500_sbox", 2, "to_r_ndr_msgq_occupancy", 4 },
	{ "xeon7500_bbox", 2, "drsq_occupancy", 1 },
	{ "xeon7500_bbox", 2, "imt_inserts_all", 1 },
	{ "xeon7500_bbox", 2, "msgs_in_non_snoop", 1 },
	{ "xeon7500_bbox", 2, "early_ack", 1 },
	{ "xeon7500_mbox", 2, "mbox_cycles", 6 },
	{ "xeon7500_rbox", 2, "flits_sent,port=1", 8 },
};

#define STORM_EVENTS	(int)ARRAY_SIZE(storm_events)
#define STORM_COUNTERS	98

/* Calls open() for each counter, @n of 0 to STORM_COUNTERS - 1. */
void storm_for_each(void (*open)(const char *pmu, const char *event, int n, void *arg), void *arg);

/* Every event of the package of this CPU happens once in each cycle, as far as it can. */
void storm_traffic(int cpu);

#endif /* SELFTESTS_STORM_H */
