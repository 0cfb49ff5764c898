/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How the tables of the Atoms say what an event implies about the access.
 */
#ifndef CORE_EXT_SOURCE_H
#define CORE_EXT_SOURCE_H

#include <linux/perf_event.h>

#define LOAD		PERF_MEM_S(OP, LOAD)
#define STORE		PERF_MEM_S(OP, STORE)
#define HIT(_level)	(PERF_MEM_S(LVL, HIT) | PERF_MEM_S(LVL, _level))
#define MISS(_level)	(PERF_MEM_S(LVL, MISS) | PERF_MEM_S(LVL, _level))
#define FROM(_level)	PERF_MEM_S(LVLNUM, _level)
/*
 * Modified in another core of this chip, in its L1 or in its module's L2. Where HOPS is set, perf
 * reads LVL for perf c2c alone: L3 is a local HITM there, REM_CCE1 one of another socket, and L2 is
 * none for the perf of 6.1 and 6.12.
 */
#define HITM_OTHER_CORE	(HIT(L3) | FROM(ANY_CACHE) | \
			 PERF_MEM_S(REMOTE, REMOTE) | PERF_MEM_S(HOPS, 0) | PERF_MEM_S(SNOOP, HITM))
/* The data TLB is behind the micro-TLB, so it is the second level. */
#define DTLB_MISS	(PERF_MEM_S(TLB, MISS) | PERF_MEM_S(TLB, L2))

#endif /* CORE_EXT_SOURCE_H */
