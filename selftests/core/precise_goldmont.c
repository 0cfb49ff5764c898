// SPDX-License-Identifier: GPL-2.0-only
/*
 * VM: --machine goldmont
 * PTI: on
 */
#define _GNU_SOURCE
#include "precise.h"

/* All but those that every instruction causes */
static const struct event_places events[] = {
	{ 0x0103, { blocked, accesses }, P(UNKNOWN) },
	{ 0x0203, { blocked }, P(FORWARD) },
	{ 0x0403, { blocked }, P(ALIAS) },
	{ 0x0803, { pages }, P(FAR_LOAD) },
	{ 0x1003, { blocked, pages }, BLOCKED | P(FAR_LOAD) },
	{ 0x0213, { accesses, levels }, P(PAGE_LOAD) },
	{ 0x0413, { accesses, levels }, P(PAGE_STORE) },
	{ 0x01c2, { operations, accesses }, P(MICROCODE) },
	{ 0x08c2, { operations, accesses }, P(FPDIV) },
	{ 0x10c2, { operations, accesses }, P(IDIV) },
	{ 0x00c4, { branches }, BRANCHES },
	{ 0x7ec4, { branches }, JCCS },
	{ 0x80c4, { branches }, BRANCHES & ~P(NOT_TAKEN) },
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
	{ 0x11d0, { pages }, P(FAR_LOAD) },
	{ 0x12d0, { pages }, P(FAR_STORE) },
	{ 0x13d0, { pages }, P(FAR_LOAD) | P(FAR_STORE) },
	{ 0x21d0, { locked, accesses }, P(LOCKED) },
	{ 0x41d0, { accesses, levels }, P(SPLIT_LOAD) | P(PAGE_LOAD) },
	{ 0x42d0, { accesses, levels }, P(SPLIT_STORE) | P(PAGE_STORE) },
	{ 0x43d0, { accesses, levels },
	  P(SPLIT_LOAD) | P(PAGE_LOAD) | P(SPLIT_STORE) | P(PAGE_STORE) },
	{ 0x81d0, { accesses, locked }, LOADS },
	{ 0x82d0, { accesses, locked }, STORES },
	{ 0x83d0, { accesses, locked }, LOADS | STORES },
	{ 0x01d1, { levels }, P(L1) },
	{ 0x02d1, { levels }, P(L2) },
	{ 0x08d1, { levels }, P(FILL) | P(L2) | L2_MISSES },
	{ 0x10d1, { levels }, L2_MISSES },
	{ 0x20d1, { levels }, P(HITM) },
	{ 0x40d1, { levels }, P(FILL) },
	{ 0x80d1, { levels }, P(DRAM) },
};

#define NUM_EVENTS	ARRAY_SIZE(events)

static void precise(int precise_ip)
{
	prepare();
	/* With every_instruction() these are all that the manual has. */
	ktap_check(NUM_EVENTS + 2 == 45, "%zu events", NUM_EVENTS + 2);
	where_it_happens(events, NUM_EVENTS, precise_ip, false);
	every_instruction(0x00c0, precise_ip);
	every_instruction(0x00c2, precise_ip);
}

static void precise_2(void)
{
	precise(2);
}

static void precise_3(void)
{
	precise(3);
}

CORE_MAIN("5c 5f",
	{ "each event at its instruction, precision 2", precise_2 },
	{ "each event at its instruction, precision 3", precise_3 })
