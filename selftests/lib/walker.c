// SPDX-License-Identifier: GPL-2.0-only
/*
 * walker [ROUNDS]: a program for perf to look at. Leaves in /tmp/where what it loads
 * from, stores to, and with which instructions.
 */
#include <stdio.h>
#include <stdlib.h>

#include "walk.h"

#define WORDS	4096

static uint64_t from[WORDS] __attribute__((aligned(4096)));
static uint64_t to[WORDS] __attribute__((aligned(4096)));

int main(int argc, char **argv)
{
	FILE *f = fopen("/tmp/where", "w");

	if (!f)
		return 1;
	fprintf(f, "%p %p %p %p %u\n", (void *)from, (void *)to, (void *)walk_load,
		(void *)walk_store, (unsigned int)sizeof(from));
	fclose(f);
	walk(to, from, WORDS, 1, argc > 1 ? strtoul(argv[1], NULL, 0) : 200000);
	return 0;
}
