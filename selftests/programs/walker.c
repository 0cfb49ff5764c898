// SPDX-License-Identifier: GPL-2.0-only
/*
 * walker [ROUNDS [WORDS [STEP]]]: a program for perf to look at. Leaves in /tmp/where what
 * it loads from, stores to, with which instructions, and which one jumps back. At most
 * MAX_WORDS of 8 bytes.
 */
#include <stdio.h>
#include <stdlib.h>

#include "walk.h"

#define MAX_WORDS	(1 << 19)

static u64 from[MAX_WORDS] __attribute__((aligned(4096)));
static u64 to[MAX_WORDS] __attribute__((aligned(4096)));

static unsigned long number(char **argv, int argc, int i, unsigned long otherwise)
{
	return i < argc ? strtoul(argv[i], NULL, 0) : otherwise;
}

int main(int argc, char **argv)
{
	unsigned long rounds = number(argv, argc, 1, 200000);
	unsigned long words = number(argv, argc, 2, 4096);
	unsigned long step = number(argv, argc, 3, 1);
	FILE *f = fopen("/tmp/where", "w");

	if (!f || words > MAX_WORDS)
		return 1;
	fprintf(f, "%p %p %p %p %p %u\n", (void *)from, (void *)to, (void *)walk_load,
		(void *)walk_store, (void *)walk_jump, (unsigned int)(words * sizeof(from[0])));
	fclose(f);
	walk(to, from, words, step, rounds);
	return 0;
}
