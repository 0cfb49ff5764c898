// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print the kHz of this machine's time stamp counter, which without -icount is the
 * guest's too. Left to itself the guest measures it against a timer that is late when
 * the host is busy, can be wrong by a factor of ten, and then so is all its time.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

/* Time and cycles of one moment: the closest pair of some, should we lose the CPU. */
static void moment(double *ns, double *cycles)
{
	uint64_t best = UINT64_MAX;
	struct timespec t;

	for (int i = 0; i < 20; i++) {
		uint64_t before = __rdtsc(), took;

		clock_gettime(CLOCK_MONOTONIC, &t);
		took = __rdtsc() - before;
		if (took >= best)
			continue;
		best = took;
		*ns = t.tv_sec * 1e9 + t.tv_nsec;
		*cycles = before + took / 2;
	}
}

int main(void)
{
	double ns[2], cycles[2];

	moment(&ns[0], &cycles[0]);
	usleep(20000);
	moment(&ns[1], &cycles[1]);
	printf("%.0f\n", (cycles[1] - cycles[0]) * 1e6 / (ns[1] - ns[0]));
	return 0;
}
