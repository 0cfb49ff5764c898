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
void traffic_rate(int cpu, u64 sel, unsigned int active);

/* Every other source in this box instance has none. */
void traffic_silence(int cpu, unsigned int box, unsigned int inst);

/* Events of such a source in cycles [from, to). */
u64 traffic_count(u64 from, u64 to, unsigned int active);

#endif /* SELFTESTS_TRAFFIC_H */
