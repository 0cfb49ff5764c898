// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What other programs than PMU drivers read of a real machine, and QEMU answers with 0:
 * PCM cannot do without the time stamp counter as an MSR and the ratio of the clocks.
 */
#include "silicon.h"
#include "tcg/helper-tcg.h"

#define MSR_TSC			0x10
#define MSR_PLATFORM_INFO_	0xce

/* X7560, and taken for an E7 too: 17 times 133.33 MHz, at least 8 times. */
#define PLATFORM_INFO_EX	(8ull << 40 | 17ull << 8)

bool machine_owns(CPUState *cs, uint32_t msr)
{
	return msr == MSR_TSC ||
	       (msr == MSR_PLATFORM_INFO_ && kind_is_ex(silicon_kind(&X86_CPU(cs)->env)));
}

enum msr_rc machine_rdmsr(CPUState *cs, uint32_t msr, uint64_t *val)
{
	CPUX86State *env = &X86_CPU(cs)->env;

	*val = msr == MSR_TSC ? cpu_get_tsc(env) + env->tsc_offset : PLATFORM_INFO_EX;
	return MSR_OK;
}
