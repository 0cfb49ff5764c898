/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events that happen as a test says: in the first cycles of each period, so that what
 * a counter gains follows from the cycles of its window alone. With a rate for each
 * source a count tells where it came from.
 */
#ifndef SELFTESTS_TRAFFIC_H
#define SELFTESTS_TRAFFIC_H

#include "silicon.h"

#define TRAFFIC_PERIOD_LOG2	8

/* From now on this source (SYN_SEL) has so many events in each period. */
static inline void traffic_rate(int cpu, u64 sel, unsigned int active)
{
	silicon_traffic(cpu, sel, SYN_PATTERN(TRAFFIC_PERIOD_LOG2, 0, active, 1));
}

/* Every other source in this box instance has none. */
static inline void traffic_silence(int cpu, unsigned int box, unsigned int inst)
{
	silicon_traffic(cpu, SYN_SEL(box, inst, SYN_ANY_CODE, SYN_ANY), SYN_PATTERN(0, 0, 0, 0));
}

/* Events of such a source in cycles [from, to). */
static inline u64 traffic_count(u64 from, u64 to, unsigned int active)
{
	u64 period = 1 << TRAFFIC_PERIOD_LOG2, sum = (to - from) / period * active, cycle;

	for (cycle = to - (to - from) % period; cycle < to; cycle++)
		sum += cycle % period < active;
	return sum;
}

#endif /* SELFTESTS_TRAFFIC_H */
