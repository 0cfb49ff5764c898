// SPDX-License-Identifier: GPL-2.0-only
/*
 * sharer [ROUNDS]: a program for perf to look at. Two threads on two CPUs take turns at the
 * words of one line, and have a line each for themselves. Leaves in /tmp/where the address of
 * the shared line.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
	unsigned long turn;
	unsigned long count[2];
} shared __attribute__((aligned(64)));

static struct {
	unsigned long count;
} __attribute__((aligned(64))) alone[2];

static unsigned long rounds = 2000;

static void *share(void *arg)
{
	unsigned long me = (unsigned long)arg, i;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(me, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		exit(1);
	for (i = 0; i < rounds; i++) {
		while (__atomic_load_n(&shared.turn, __ATOMIC_ACQUIRE) % 2 != me)
			__atomic_fetch_add(&alone[me].count, 1, __ATOMIC_RELAXED);
		shared.count[me]++;
		__atomic_fetch_add(&shared.turn, 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	FILE *f = fopen("/tmp/where", "w");
	pthread_t other;

	if (!f)
		return 1;
	fprintf(f, "%p\n", (void *)&shared);
	fclose(f);
	if (argc > 1)
		rounds = strtoul(argv[1], NULL, 0);
	if (pthread_create(&other, NULL, share, (void *)1))
		return 1;
	share((void *)0);
	pthread_join(other, NULL);
	return 0;
}
