// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Registers of the core PMUs, RDPMC and CPUID.
 */
#include "core.h"
#include "core-tables.inc"
#include "system/reset.h"

#define MSR_LBR_FROM_LOW	0x040
#define MSR_LBR_TO_LOW		0x060
#define MSR_PMC0		0x0c1
#define MSR_EVTSEL0		0x186
#define MSR_OFFCORE_RSP0	0x1a6
#define MSR_LBR_SELECT_		0x1c8
#define MSR_LBR_TOS_		0x1c9
#define MSR_DEBUGCTL_		0x1d9
#define MSR_FIXED_CTR0		0x309
#define MSR_PERF_CAP		0x345
#define MSR_FIXED_CTRL		0x38d
#define MSR_GLOBAL_STATUS	0x38e
#define MSR_GLOBAL_CTRL		0x38f
#define MSR_STATUS_RESET	0x390	/* OVF_CTRL before version 4 */
#define MSR_STATUS_SET		0x391
#define MSR_INUSE		0x392
#define MSR_PEBS_ENABLE_	0x3f1
#define MSR_PEBS_LD_LAT		0x3f6
#define MSR_A_PMC0		0x4c1
#define MSR_DS_AREA		0x600
#define MSR_LBR_FROM		0x680
#define MSR_LBR_TO		0x6c0
#define MSR_LBR_INFO		0xdc0

#define MISC_ENABLE_PERFMON	(1ull << 7)
#define MISC_ENABLE_PEBS_UNAVAIL (1ull << 12)

static const struct core_model models[] = {
	{
		.kind = KIND_XEON7500, .name = "Nehalem-EX",
		.version = 3, .gp = 4, .width = 48, .mhz = 2266, .ref_mhz = 133,
		.perf_cap = 0x11c3, .debugctl = 0x7fc3,
		.pebs_enable = 0xf0000000full, .offcore = { 0xffff },
		.ld_lat = true, .lbr = 16,
	},
	{
		.kind = KIND_WESTMERE_EX, .name = "Westmere-EX",
		.version = 3, .gp = 4, .width = 48, .mhz = 2266, .ref_mhz = 133,
		.perf_cap = 0x11c3, .debugctl = 0x7fc3,
		.pebs_enable = 0xf0000000full, .offcore = { 0xffff, 0xffff },
		.ld_lat = true, .lbr = 16,
	},
	{
		.kind = KIND_GOLDMONT, .name = "Goldmont Plus", .only = 0x7a,
		.version = 4, .gp = 4, .width = 48, .mhz = 1500, .ref_mhz = 0,
		.perf_cap = 0x33c7, .debugctl = 0x5fc3,
		.pebs_enable = 0x70000000full, .pebs_fixed = true,
		.offcore = { 0x760005ffbfull, 0x360005ffbfull },
		.lbr = 32, .lbr_info = true, .lbr_call_stack = true,
	},
	{
		.kind = KIND_GOLDMONT, .name = "Goldmont",
		.version = 4, .gp = 4, .width = 48, .mhz = 1500, .ref_mhz = 0,
		.perf_cap = 0x33c6, .debugctl = 0x5fc3,
		.pebs_enable = 1, .offcore = GOLDMONT_OFFCORE,
		.no_request = GOLDMONT_NO_REQUEST,
		.lbr = 32, .lbr_call_stack = true,
	},
	{
		.kind = KIND_SILVERMONT, .name = "Silvermont",
		.version = 3, .gp = 2, .width = 40, .mhz = 2400, .ref_mhz = 0,
		.perf_cap = 0x32c2, .debugctl = 0x5fc3,
		.pebs_enable = 1, .offcore = SILVERMONT_OFFCORE,
		.no_request = SILVERMONT_NO_REQUEST,
		.lbr = 8, .lbr_low = true,
	},
	{
		.kind = KIND_SANDYBRIDGE, .name = "Sandy Bridge-EP", .only = 0x2d,
		.version = 3, .gp = 8, .width = 48, .mhz = 2600, .ref_mhz = 100,
		.perf_cap = 0x31c3, .debugctl = 0x7fc3,
		.pebs_enable = 0x8000000f0000000full,
		.offcore = { 0x3fffff8fffull, 0x3fffff8fffull },
		.ld_lat = true, .lbr = 16,
	},
	{
		.kind = KIND_SANDYBRIDGE, .name = "Sandy Bridge",
		.version = 3, .gp = 8, .width = 48, .mhz = 2600, .ref_mhz = 100,
		.perf_cap = 0x31c3, .debugctl = 0x7fc3,
		.pebs_enable = 0x8000000f0000000full,
		.offcore = { 0x3f807f8fffull, 0x3f807f8fffull },
		.ld_lat = true, .lbr = 16,
	},
};

static const struct core_model *model_of(CPUX86State *env)
{
	enum cpu_kind kind = silicon_kind(env);
	unsigned int model = silicon_model(env);

	for (int i = 0; i < ARRAY_SIZE(models); i++)
		if (models[i].kind == kind && (!models[i].only || models[i].only == model))
			return &models[i];
	return NULL;
}

static unsigned int gp_counters(CPUState *cs, const struct core_model *m)
{
	/* Two threads share the eight counters of a Sandy Bridge core. */
	return m->gp > 4 && cs->nr_threads > 1 ? 4 : m->gp;
}

void core_knobs_default(struct core *k)
{
	k->knob.skid = 12;
	k->knob.pmi_late = 0;
	core_offcore_default(k);
	mem_default(k->mem);
}

/*
 * The machine has been reset, or wakes up: all is as at power on, and what was on its way to
 * somebody is not any more. What tests have set and the truth are no part of the CPU.
 */
static void core_reset(void *opaque)
{
	struct core *k = opaque;

	timer_del(k->pmi);
	memset(k->evtsel, 0, sizeof(k->evtsel));
	k->fixed_ctrl = k->global_status = 0;
	k->global_ctrl = (1ull << k->gp) - 1;
	apic_debugctl_written(k->cs, false);
	k->debugctl = k->ds_area = k->pebs_enable = k->pebs_ld_lat = 0;
	memset(k->offcore, 0, sizeof(k->offcore));
	memset(k->lbr, 0, sizeof(k->lbr));
	k->lbr_select = k->lbr_tos = 0;
	for (int i = 0; i < CORE_COUNTERS; i++)
		k->ctr[i].val = 0;
	core_clock_update(k);
	k->clock.halted = false;
	core_apply(k);
}

struct core *core_get(CPUState *cs)
{
	struct core *k = core_peek(cs->cpu_index);

	if (k)
		return k;
	k = g_new0(struct core, 1);
	k->cs = cs;
	k->model = model_of(&X86_CPU(cs)->env);
	k->gp = gp_counters(cs, k->model);
	k->global_ctrl = (1ull << k->gp) - 1;
	k->t.class = CLASS_NONE;
	k->mem = mem_new(machine_caches(&X86_CPU(cs)->env));
	core_knobs_default(k);
	core_clock_init(k);
	core_pmi_init(k);
	core_add(k);
	qemu_register_reset(core_reset, k);
	return k;
}

/*
 * In the middle of RDMSR, WRMSR or RDPMC: the instruction pointer still is
 * theirs, and a record that is made now is to name the next.
 */
static void sync_here(struct core *k)
{
	core_env(k)->eip += 2;
	core_sync(k);
	core_env(k)->eip -= 2;
}

/* Reduced skid and PDIR are off until PEBS is, once its counter was touched. */
static void touch(struct core *k, unsigned int n)
{
	if ((k->model->kind != KIND_GOLDMONT && k->model->kind != KIND_SANDYBRIDGE) ||
	    !pebs_on(k, n) || !(k->global_ctrl >> n & 1))
		return;
	k->skid_broken |= 1u << n;
	k->stat[SYN_CORE_S_V_WRITE]++;
	silicon_violation(VIOL_CORE, k->cs, "counter %u written with PEBS on", n);
}

static uint64_t global_mask(const struct core *k)
{
	return ((1ull << k->gp) - 1) | 7ull << 32;
}

static uint64_t status_mask(const struct core *k)
{
	uint64_t m = global_mask(k) | 3ull << 61 | 1ull << 63;

	return k->model->version >= 4 ? m | GLOBAL_STATUS_LBR_FRZ | GLOBAL_STATUS_CTR_FRZ : m;
}

/* The whole map: which of the registers of this file a machine has. */
enum reg { REG_NONE, REG_PMC, REG_A_PMC, REG_FIXED, REG_EVTSEL, REG_OFFCORE, REG_LBR, REG_OTHER };

static enum reg find(const struct core_model *m, unsigned int gp, uint32_t msr, unsigned int *n)
{
	const uint32_t lbr_base[] = {
		m->lbr_low ? MSR_LBR_FROM_LOW : MSR_LBR_FROM,
		m->lbr_low ? MSR_LBR_TO_LOW : MSR_LBR_TO, MSR_LBR_INFO
	};

	*n = 0;
	if (msr - MSR_PMC0 < gp)
		return *n = msr - MSR_PMC0, REG_PMC;
	if (msr - MSR_A_PMC0 < gp && (m->perf_cap & PERF_CAP_FULL_WIDTH))
		return *n = msr - MSR_A_PMC0, REG_A_PMC;
	if (msr - MSR_FIXED_CTR0 < CORE_FIXED)
		return *n = msr - MSR_FIXED_CTR0, REG_FIXED;
	if (msr - MSR_EVTSEL0 < gp)
		return *n = msr - MSR_EVTSEL0, REG_EVTSEL;
	if (msr - MSR_OFFCORE_RSP0 < 2 && m->offcore[msr - MSR_OFFCORE_RSP0])
		return *n = msr - MSR_OFFCORE_RSP0, REG_OFFCORE;
	for (int i = 0; i < 2 + m->lbr_info; i++)
		if (msr - lbr_base[i] < m->lbr)
			return *n = i << 8 | (msr - lbr_base[i]), REG_LBR;
	switch (msr) {
	case MSR_LBR_SELECT_:
	case MSR_LBR_TOS_:
	case MSR_DEBUGCTL_:
	case MSR_IA32_MISC_ENABLE:
	case MSR_PERF_CAP:
	case MSR_FIXED_CTRL:
	case MSR_GLOBAL_STATUS:
	case MSR_GLOBAL_CTRL:
	case MSR_STATUS_RESET:
	case MSR_PEBS_ENABLE_:
	case MSR_DS_AREA:
		return REG_OTHER;
	case MSR_STATUS_SET:
	case MSR_INUSE:
		return m->version >= 4 ? REG_OTHER : REG_NONE;
	case MSR_PEBS_LD_LAT:
		return m->ld_lat ? REG_OTHER : REG_NONE;
	case MSR_IA32_UCODE_REV:
		return m->kind == KIND_SANDYBRIDGE ? REG_OTHER : REG_NONE;
	}
	return REG_NONE;
}

/* Holes between counters: other machines have something there, this one faults. */
static bool hole(uint32_t msr)
{
	return msr - MSR_PMC0 < CORE_GP || msr - MSR_A_PMC0 < CORE_GP ||
	       msr - MSR_EVTSEL0 < CORE_GP || msr - MSR_OFFCORE_RSP0 < 2 ||
	       msr - MSR_LBR_FROM < LBR_MAX || msr - MSR_LBR_TO < LBR_MAX ||
	       msr - MSR_LBR_INFO < LBR_MAX || msr == MSR_STATUS_SET ||
	       msr == MSR_INUSE || msr == MSR_PEBS_LD_LAT;
}

static bool owns(CPUState *cs, uint32_t msr)
{
	const struct core_model *m = model_of(&X86_CPU(cs)->env);
	unsigned int n;

	return m && (hole(msr) || find(m, gp_counters(cs, m), msr, &n) != REG_NONE);
}

static uint64_t in_use(const struct core *k)
{
	uint64_t v = 0;

	for (int i = 0; i < k->gp; i++) {
		v |= (uint64_t)!!(k->evtsel[i] & 0xff) << i;
		if (k->evtsel[i] & EVTSEL_INT)
			v |= 1ull << 63;
	}
	for (int i = 0; i < CORE_FIXED; i++) {
		v |= (uint64_t)!!(k->fixed_ctrl >> 4 * i & 3) << (32 + i);
		if (k->fixed_ctrl >> 4 * i & 8)
			v |= 1ull << 63;
	}
	return v;
}

static enum msr_rc rdmsr(CPUState *cs, uint32_t msr, uint64_t *val)
{
	struct core *k = core_get(cs);
	unsigned int n;

	k->in_rdmsr = true;
	sync_here(k);
	k->in_rdmsr = false;
	switch (find(k->model, k->gp, msr, &n)) {
	case REG_PMC:
	case REG_A_PMC:
		*val = k->ctr[n].val;
		return MSR_OK;
	case REG_FIXED:
		*val = k->ctr[CORE_GP + n].val;
		return MSR_OK;
	case REG_EVTSEL:
		*val = k->evtsel[n];
		return MSR_OK;
	case REG_OFFCORE:
		*val = k->offcore[n];
		return MSR_OK;
	case REG_LBR:
		*val = k->lbr[n >> 8][n & 0xff];
		return MSR_OK;
	case REG_NONE:
		return hole(msr) ? MSR_GP : MSR_PASS;
	case REG_OTHER:
		break;
	}
	switch (msr) {
	case MSR_LBR_SELECT_:
		*val = k->lbr_select;
		break;
	case MSR_LBR_TOS_:
		*val = k->lbr_tos;
		break;
	case MSR_DEBUGCTL_:
		if (apic_debugctl_refused())
			return MSR_GP;
		*val = k->debugctl;
		break;
	case MSR_IA32_MISC_ENABLE:
		/* BTS and PEBS are there: bits 11 and 12 stay 0. */
		*val = core_env(k)->msr_ia32_misc_enable | MISC_ENABLE_PERFMON;
		break;
	case MSR_PERF_CAP:
		*val = k->model->perf_cap;
		break;
	case MSR_FIXED_CTRL:
		*val = k->fixed_ctrl;
		break;
	case MSR_GLOBAL_STATUS:
		*val = k->global_status |
		       (apic_ovf_uncore(k->cs) ? GLOBAL_STATUS_OVF_UNCORE : 0);
		break;
	case MSR_GLOBAL_CTRL:
		*val = k->global_ctrl;
		break;
	case MSR_STATUS_RESET:
	case MSR_STATUS_SET:
		*val = 0;
		break;
	case MSR_INUSE:
		*val = in_use(k);
		break;
	case MSR_PEBS_ENABLE_:
		*val = k->pebs_enable;
		break;
	case MSR_PEBS_LD_LAT:
		*val = k->pebs_ld_lat;
		break;
	case MSR_DS_AREA:
		*val = k->ds_area;
		break;
	case MSR_IA32_UCODE_REV:
		/* Linux trusts PEBS here from 0x28 (06_2A) and 0x70c (06_2D) on. */
		*val = 0x710ull << 32;
		break;
	}
	return MSR_OK;
}

static bool canonical(uint64_t v)
{
	return (int64_t)(v << 16) >> 16 == (int64_t)v;
}

static enum msr_rc write_other(struct core *k, uint32_t msr, uint64_t val)
{
	switch (msr) {
	case MSR_LBR_SELECT_:
		if (val & ~0x3ffull)
			return MSR_GP;
		k->lbr_select = val;
		break;
	case MSR_LBR_TOS_:
		k->lbr_tos = val & (k->model->lbr - 1);
		break;
	case MSR_DEBUGCTL_:
		if (val & ~k->model->debugctl || apic_debugctl_refused())
			return MSR_GP;
		k->debugctl = apic_debugctl_stuck() ? val & ~DEBUGCTL_UNCORE_PMI : val;
		apic_debugctl_written(k->cs, k->debugctl & DEBUGCTL_UNCORE_PMI);
		break;
	case MSR_IA32_MISC_ENABLE:
		return MSR_PASS;
	case MSR_PERF_CAP:
	case MSR_GLOBAL_STATUS:
	case MSR_INUSE:
		return MSR_GP;
	case MSR_FIXED_CTRL:
		if (val & ~0xfffull)
			return MSR_GP;
		k->fixed_ctrl = val;
		break;
	case MSR_GLOBAL_CTRL:
		if (val & ~global_mask(k))
			return MSR_GP;
		k->global_ctrl = val;
		break;
	case MSR_STATUS_RESET:
		if (val & ~status_mask(k))
			return MSR_GP;
		k->global_status &= ~val;
		if (val & GLOBAL_STATUS_OVF_UNCORE)
			apic_ovf_uncore_clear(k->cs);
		break;
	case MSR_STATUS_SET:
		if (val & ~status_mask(k))
			return MSR_GP;
		k->global_status |= val;
		break;
	case MSR_PEBS_ENABLE_:
		if (val & ~k->model->pebs_enable)
			return MSR_GP;
		k->pebs_enable = val;
		break;
	case MSR_PEBS_LD_LAT:
		k->pebs_ld_lat = val & 0xffff;
		break;
	case MSR_DS_AREA:
		if (!canonical(val))
			return MSR_GP;
		k->ds_area = val;
		break;
	}
	return MSR_OK;
}

static enum msr_rc wrmsr(CPUState *cs, uint32_t msr, uint64_t val)
{
	struct core *k = core_get(cs);
	enum msr_rc rc = MSR_OK;
	unsigned int n;

	sync_here(k);
	switch (find(k->model, k->gp, msr, &n)) {
	case REG_PMC:
		touch(k, n);
		/* The old address takes 32 bits and extends their sign. */
		core_set_counter(k, n, (int64_t)(int32_t)val);
		return MSR_OK;
	case REG_A_PMC:
		if (val & ~core_mask(k))
			return MSR_GP;
		touch(k, n);
		core_set_counter(k, n, val);
		return MSR_OK;
	case REG_FIXED:
		if (val & ~core_mask(k))
			return MSR_GP;
		core_set_counter(k, CORE_GP + n, val);
		return MSR_OK;
	case REG_EVTSEL:
		if (val >> 32)
			return MSR_GP;
		touch(k, n);
		k->evtsel[n] = val;
		break;
	case REG_OFFCORE:
		if (val & ~k->model->offcore[n])
			return MSR_GP;
		k->offcore[n] = val;
		break;
	case REG_LBR:
		k->lbr[n >> 8][n & 0xff] = val;
		return MSR_OK;
	case REG_NONE:
		return hole(msr) ? MSR_GP : MSR_PASS;
	case REG_OTHER:
		rc = write_other(k, msr, val);
		break;
	}
	if (rc == MSR_OK)
		core_apply(k);
	return rc;
}

static bool rdpmc(CPUState *cs, uint32_t index, uint64_t *val)
{
	struct core *k = core_get(cs);
	unsigned int i = index & ~(1u << 30);

	if (i >= (index >> 30 & 1 ? CORE_FIXED : k->gp) || index >> 31)
		return false;
	sync_here(k);
	*val = k->ctr[index >> 30 & 1 ? CORE_GP + i : i].val;
	return true;
}

static void cpuid(CPUX86State *env, uint32_t leaf, uint32_t sub,
		  uint32_t *a, uint32_t *b, uint32_t *c, uint32_t *d)
{
	const struct core_model *m = model_of(env);

	switch (leaf) {
	case 1:
		*c |= 1u << 15 | 1u << 4 | 1u << 2; /* PDCM, DS-CPL, DTES64 */
		*d |= 1u << 21;			/* DS */
		/* The steppings whose microcode revision Linux knows to be good. */
		if (m->kind == KIND_SANDYBRIDGE)
			*a = (*a & ~0xfu) | 7;
		break;
	case 0xa:
		*a = m->version | gp_counters(env_cpu(env), m) << 8 | m->width << 16 | 7 << 24;
		*b = 0;				/* every architectural event exists */
		*c = 0;
		*d = CORE_FIXED | m->width << 5;
		break;
	}
}

PART(PART_CORE, .owns = owns, .rdmsr = rdmsr, .wrmsr = wrmsr, .range = SYN_RANGE_COREPMU,
     .rdpmc = rdpmc, .cpuid = cpuid);
