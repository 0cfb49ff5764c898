// SPDX-License-Identifier: GPL-2.0-only
/*
 * Demand reads and requests for ownership leave each core at a steady rate, so that all kinds of
 * responses come, those of devices as well. For upstream/core.py.
 */
#include "silicon.h"

int main(void)
{
	int cpu, cpus = sysconf(_SC_NPROCESSORS_CONF);

	if (setjmp(ktap_end))
		return 1;
	for (cpu = 0; cpu < cpus; cpu++) {
		msr_write(cpu, SYN_OFF_RATE(0), 4096);
		msr_write(cpu, SYN_OFF_RATE(1), 4096);
	}
	return 0;
}
