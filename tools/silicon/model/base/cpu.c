// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What all parts ask: which CPU it is, and the time; and the table of the parts.
 */
#include "silicon.h"
#include "qemu/timer.h"
#include "system/cpu-timers.h"

/* Not in a header that targets may include. */
G_NORETURN void cpu_io_recompile(CPUState *cpu, uintptr_t retaddr);

const struct part *parts[PARTS];

const struct part *part_of(CPUState *cs, uint32_t msr)
{
	EACH_PART(p, owns)
		if (p->owns(cs, msr))
			return p;
	return NULL;
}

unsigned int silicon_model(CPUX86State *env)
{
	uint32_t v = env->cpuid_version;

	return (v >> 8 & 0xf) == 6 ? (v >> 4 & 0xf) | (v >> 12 & 0xf0) : 0;
}

enum cpu_kind silicon_kind(CPUX86State *env)
{
	switch (silicon_model(env)) {
	case 0x2e:
		return KIND_XEON7500;
	case 0x2f:
		return KIND_WESTMERE_EX;
	case 0x5c:
	case 0x5f:
	case 0x7a:
		return KIND_GOLDMONT;
	case 0x37:
	case 0x4a:
	case 0x4c:
	case 0x4d:
	case 0x5a:
	case 0x5d:
		return KIND_SILVERMONT;
	case 0x2a:
	case 0x2d:
		return KIND_SANDYBRIDGE;
	}
	return KIND_NONE;
}

unsigned int silicon_package(CPUState *cs)
{
	int socket = X86_CPU(cs)->socket_id;

	g_assert(socket < SILICON_PACKAGES && cs->cpu_index < SILICON_CPUS);
	return socket < 0 ? 0 : socket;
}

int64_t silicon_now_ns(void)
{
	return qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

void silicon_at_io(CPUState *cs, uintptr_t ra)
{
	if (icount_enabled() && !cs->neg.can_do_io)
		cpu_io_recompile(cs, ra);
}
