// SPDX-License-Identifier: GPL-2.0-only
/*
 * VM: --machine silvermont
 * PTI: on
 */
#define _GNU_SOURCE
#include "precise.h"

static const struct event_places events[] = {
	{ 0x0103, { blocked }, P(FORWARD) },
	{ 0x0803, { accesses, levels }, P(SPLIT_LOAD) | P(PAGE_LOAD) },
	{ 0x0204, { levels }, P(L2) },
	{ 0x0404, { levels }, L2_MISSES },
	{ 0x0804, { pages }, P(FAR_LOAD) },
	{ 0x2004, { levels }, P(HITM) },
	{ 0x00c4, { branches }, BRANCHES },
	{ 0x7ec4, { branches }, JCCS },
	{ 0xbfc4, { branches }, P(FAR_BRANCH) },
	{ 0xebc4, { branches }, P(IND_CALL) | P(IND_JUMP) },
	{ 0xf7c4, { branches }, P(RETURN) },
	{ 0xf9c4, { branches }, CALLS },
	{ 0xfbc4, { branches }, P(IND_CALL) },
	{ 0xfdc4, { branches }, P(CALL) },
	{ 0xfec4, { branches }, P(TAKEN) },
	{ 0x00c5, { mispredicted }, MISPS },
	{ 0x7ec5, { mispredicted }, P(MISP_JCC) },
	{ 0xebc5, { mispredicted }, P(MISP_JUMP) | P(MISP_CALL) },
	{ 0xf7c5, { mispredicted }, P(MISP_RETURN) },
	{ 0xfbc5, { mispredicted }, P(MISP_CALL) },
	{ 0xfec5, { mispredicted }, P(MISP_JCC) },
};

#define NUM_EVENTS	ARRAY_SIZE(events)

static void precise_2(void)
{
	prepare();
	/* All that the manual has. */
	ktap_check(NUM_EVENTS == 21, "%zu events", NUM_EVENTS);
	where_it_happens(events, NUM_EVENTS, 2, true);
}

CORE_MAIN("37 4a 4c 4d 5a",
	{ "each event at its instruction, precision 2", precise_2 })
