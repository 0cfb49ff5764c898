// SPDX-License-Identifier: GPL-2.0-only
#include "traffic.h"

void traffic_rate(int cpu, u64 sel, unsigned int active)
{
	silicon_traffic(cpu, sel, SYN_PATTERN(TRAFFIC_PERIOD_LOG2, 0, active, 1));
}

void traffic_silence(int cpu, unsigned int box, unsigned int inst)
{
	silicon_traffic(cpu, SYN_SEL(box, inst, SYN_ANY_CODE, SYN_ANY), SYN_PATTERN(0, 0, 0, 0));
}

u64 traffic_count(u64 from, u64 to, unsigned int active)
{
	u64 period = 1 << TRAFFIC_PERIOD_LOG2, sum = (to - from) / period * active, cycle;

	for (cycle = to - (to - from) % period; cycle < to; cycle++)
		sum += cycle % period < active;
	return sum;
}
