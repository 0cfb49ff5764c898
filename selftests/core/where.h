/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What selftests/programs/walker.c says of its walk: the arrays it loads from and stores to,
 * and the instructions of its loop.
 */
#ifndef SELFTESTS_CORE_WHERE_H
#define SELFTESTS_CORE_WHERE_H

#include <stdio.h>

#include "ktap.h"

struct where {
	unsigned long from, to, load, store, jump;
	unsigned int size;
};

static inline struct where where(void)
{
	FILE *f = fopen("/tmp/where", "r");
	struct where w = {};

	ktap_require(f && fscanf(f, "%lx %lx %lx %lx %lx %u", &w.from, &w.to, &w.load,
				 &w.store, &w.jump, &w.size) == 6, "/tmp/where");
	fclose(f);
	return w;
}

#endif
