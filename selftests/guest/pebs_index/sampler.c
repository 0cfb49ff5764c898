// SPDX-License-Identifier: GPL-2.0-only
/*
 * sampler below|above|stop: samples loads, has the silicon move the PEBS index out of
 * its buffer, and samples on. Prints how many samples there were before and after.
 *
 *	below, above	one record per interrupt, the index below the base or above the
 *			maximum when the next one is due
 *	stop		many records per interrupt, the index above the maximum when the
 *			event is stopped
 *
 * All on the last CPU: what comes after its buffer is not mapped.
 */
#define _GNU_SOURCE
#include <time.h>

#include "../../core/sample.h"
#include "walk.h"

#define WORDS		512
#define PERIOD		1009
#define SAMPLES		200
#define TRIES		100

static u64 from[WORDS], to[WORDS];
static struct ring ring;
static int cpu;

/* No fault in some() */
#define NONE	-1

/* The samples of a walk, with a fault at its beginning or its end. */
static u64 some(int first, int last)
{
	u64 before = ring.samples;
	struct sample s;

	perf_enable(ring.fd);
	if (first != NONE)
		msr_write(cpu, SYN_PEBS_INDEX, first);
	walk(to, from, WORDS, 1, SAMPLES * PERIOD);
	if (last != NONE)
		msr_write(cpu, SYN_PEBS_INDEX, last);
	perf_disable(ring.fd);
	while (ring_next(&ring, &s))
		;
	return ring.samples - before;
}

static void sample_on(const char *how)
{
	struct perf_event_attr attr = sample_attr(0x81d0, 2, PERIOD);
	int fault = strcmp(how, "below") ? SYN_PEBS_INDEX_ABOVE : SYN_PEBS_INDEX_BELOW;
	bool stop = !strcmp(how, "stop");
	u64 num;
	long before;
	int i;

	cpu = sysconf(_SC_NPROCESSORS_ONLN) - 1;
	run_on(cpu);
	perf_unlimited();
	/* A clock of one's own: one record per interrupt. */
	if (!stop) {
		attr.use_clockid = 1;
		attr.clockid = CLOCK_MONOTONIC;
	}
	ring_open(&ring, &attr);
	printf("before: %llu\n", some(NONE, NONE));
	if (stop) {
		some(NONE, fault);
		printf("after: %llu\n", some(NONE, NONE));
		return;
	}
	/*
	 * A task that is switched out and in again gets its counter set up anew, which
	 * wakes an event that was silent: a try with a switch says nothing.
	 */
	real_time(true);
	for (i = 0; i < TRIES; i++) {
		before = switches();
		num = some(fault, NONE);
		if (switches() == before)
			break;
	}
	real_time(false);
	ktap_require(i < TRIES, "never left alone");
	printf("after: %llu\n", num);
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	if (argc != 2 || setjmp(ktap_end))
		return 1;
	sample_on(argv[1]);
	return 0;
}
