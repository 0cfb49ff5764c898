// SPDX-License-Identifier: GPL-2.0-only
#include "storm.h"

void storm_for_each(void (*open)(const char *pmu, const char *event, int n, void *arg), void *arg)
{
	const struct storm_event *e;
	unsigned int inst, i;
	char pmu[32];
	int n = 0;

	for (e = storm_events; e < storm_events + STORM_EVENTS; e++) {
		for (inst = 0; inst < (e->instances ?: 1); inst++) {
			snprintf(pmu, sizeof(pmu), e->instances ? "%s_%u" : "%s", e->pmu, inst);
			for (i = 0; i < e->counters; i++)
				open(pmu, e->event, n++, arg);
		}
	}
	ktap_require(n == STORM_COUNTERS, "%d counters", n);
}

void storm_traffic(int cpu)
{
	unsigned int box;

	for (box = SYN_BOX_U; box <= SYN_BOX_R; box++)
		silicon_traffic(cpu, SYN_SEL(box, SYN_ANY, SYN_ANY_CODE, SYN_ANY),
				SYN_PATTERN(0, 0, 1, 1));
	/* Four entries of the queue in a clock are one count of drsq_occupancy. */
	silicon_traffic(cpu, SYN_SEL(SYN_BOX_B, SYN_ANY, SYN_CODE_B(0, 0x09), SYN_ANY),
			SYN_PATTERN(0, 0, 1, 4));
}
