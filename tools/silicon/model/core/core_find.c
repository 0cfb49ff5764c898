// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which CPU has which struct core.
 */
#include "core.h"

static struct core *cores[SILICON_CPUS];

struct core *core_peek(unsigned int cpu)
{
	return cores[cpu];
}

void core_add(struct core *k)
{
	cores[k->cs->cpu_index] = k;
}
