// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What programs read of a real machine beside its PMU: name, caches, time stamp counter and
 * the ratio of its clock. QEMU answers 0 or with a machine of its own.
 */
#include "silicon.h"
#include "qemu/timer.h"
#include "tcg/helper-tcg.h"

#define MSR_TSC			0x10
#define MSR_PLATFORM_INFO_	0xce

static const struct machine {
	enum cpu_kind kind;
	uint8_t model;		/* 0: any */
	const char *name;
	uint32_t tsc_khz;
	uint8_t ratio, lowest;	/* of the bus clock */
	struct machine_cache cache[MACHINE_CACHES];
} machines[] = {
	{
		.kind = KIND_XEON7500, .name = "Intel(R) Xeon(R) CPU           X7560  @ 2.27GHz",
		.tsc_khz = 2266667, .ratio = 17, .lowest = 8,
		.cache = { { 64, 8 }, { 128, 4 }, { 512, 8 }, { 16384, 24 } },
	},
	{
		.kind = KIND_WESTMERE_EX, .name = "Intel(R) Xeon(R) CPU E7- 4860  @ 2.27GHz",
		.tsc_khz = 2266667, .ratio = 17, .lowest = 8,
		.cache = { { 64, 8 }, { 128, 4 }, { 512, 8 }, { 16384, 24 } },
	},
	{
		.kind = KIND_GOLDMONT, .model = 0x5f,
		.name = "Intel(R) Atom(TM) CPU C3338 @ 1.50GHz",
		.tsc_khz = 1500000, .ratio = 15, .lowest = 8,
		.cache = { { 64, 6 }, { 64, 8 }, { 1024, 16 } },
	},
	{
		.kind = KIND_GOLDMONT, .model = 0x7a,
		.name = "Intel(R) Pentium(R) Silver J5005 CPU @ 1.50GHz",
		.tsc_khz = 1500000, .ratio = 15, .lowest = 8,
		.cache = { { 64, 6 }, { 64, 8 }, { 4096, 16 } },
	},
	{
		.kind = KIND_GOLDMONT, .name = "Intel(R) Pentium(R) CPU J4205 @ 1.50GHz",
		.tsc_khz = 1500000, .ratio = 15, .lowest = 8,
		.cache = { { 64, 6 }, { 64, 8 }, { 1024, 16 } },
	},
	{
		.kind = KIND_SILVERMONT, .name = "Intel(R) Atom(TM) CPU  C2750  @ 2.40GHz",
		.tsc_khz = 2400000, .ratio = 24, .lowest = 12,
		.cache = { { 64, 6 }, { 64, 8 }, { 1024, 16 } },
	},
	{
		.kind = KIND_SANDYBRIDGE, .model = 0x2d,
		.name = "Intel(R) Xeon(R) CPU E5-2670 0 @ 2.60GHz",
		.tsc_khz = 2600000, .ratio = 26, .lowest = 12,
		.cache = { { 64, 8 }, { 64, 8 }, { 512, 8 }, { 16384, 20 } },
	},
	{
		.kind = KIND_SANDYBRIDGE, .name = "Intel(R) Core(TM) i5-2540M CPU @ 2.60GHz",
		.tsc_khz = 2600000, .ratio = 26, .lowest = 8,
		.cache = { { 64, 8 }, { 64, 8 }, { 512, 8 }, { 4096, 12 } },
	},
};

static const struct machine *machine_of(CPUX86State *env)
{
	enum cpu_kind kind = silicon_kind(env);
	unsigned int model = silicon_model(env);

	for (int i = 0; i < ARRAY_SIZE(machines); i++)
		if (machines[i].kind == kind && (!machines[i].model || machines[i].model == model))
			return &machines[i];
	return NULL;
}

const struct machine_cache *machine_caches(CPUX86State *env)
{
	return machine_of(env)->cache;
}

uint64_t __real_cpu_get_tsc(CPUX86State *env);
uint64_t __wrap_cpu_get_tsc(CPUX86State *env);

/* QEMU's goes at the rate of the host's, or of its instruction counter. */
uint64_t __wrap_cpu_get_tsc(CPUX86State *env)
{
	const struct machine *m = machine_of(env);

	return m ? muldiv64(silicon_now_ns(), m->tsc_khz, 1000000) : __real_cpu_get_tsc(env);
}

static bool owns(CPUState *cs, uint32_t msr)
{
	return (msr == MSR_TSC || msr == MSR_PLATFORM_INFO_) && machine_of(&X86_CPU(cs)->env);
}

static enum msr_rc rdmsr(CPUState *cs, uint32_t msr, uint64_t *val)
{
	CPUX86State *env = &X86_CPU(cs)->env;
	const struct machine *m = machine_of(env);

	if (msr == MSR_TSC)
		*val = cpu_get_tsc(env) + env->tsc_offset;
	else
		*val = (uint64_t)m->lowest << 40 | (uint64_t)m->ratio << 8;
	return MSR_OK;
}

static void cpuid(CPUX86State *env, uint32_t leaf, uint32_t sub,
		  uint32_t *a, uint32_t *b, uint32_t *c, uint32_t *d)
{
	const struct machine *m = machine_of(env);
	uint32_t name[12] = { 0 };

	switch (leaf) {
	case 2:
		/* 64-byte prefetch; the caches are in leaf 4. */
		*a = 0x00f0ff01;
		*b = *c = *d = 0;
		break;
	case 4:
		/* Who shares it, QEMU knows. */
		if (sub >= MACHINE_CACHES || !m->cache[sub].sets) {
			*a = *b = *c = *d = 0;
			break;
		}
		*b = (m->cache[sub].ways - 1) << 22 | (MACHINE_CACHE_LINE - 1);
		*c = m->cache[sub].sets - 1;
		*d = sub == MACHINE_L3 ? 1 << 1 : 0;	/* it includes the others */
		break;
	case 0x80000002 ... 0x80000004:
		memcpy(name, m->name, strlen(m->name));
		leaf -= 0x80000002;
		*a = name[4 * leaf];
		*b = name[4 * leaf + 1];
		*c = name[4 * leaf + 2];
		*d = name[4 * leaf + 3];
		break;
	}
}

static bool synth_rd(CPUState *cs, uint32_t msr, uint64_t *val)
{
	if (msr != SYN_TSC_KHZ)
		return false;
	*val = machine_of(cpu_env(cs))->tsc_khz;
	return true;
}

/* These registers are only read. */
PART(PART_MACHINE, .owns = owns, .rdmsr = rdmsr, .range = SYN_RANGE_OTHER, .cpuid = cpuid,
     .synth_rd = synth_rd);
