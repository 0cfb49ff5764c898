// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the microcode writes into the buffers of the DS area. PEBS: when a
 * counter overflows, write a record, reload the counter, and report a buffer
 * that is full enough. BTS: write a record of each branch that is taken.
 */
#include "core.h"
#include "exec/cpu-common.h"

#define DS_BTS_BASE	0x00
#define DS_BTS_INDEX	0x08
#define DS_PEBS_BASE	0x20
#define DS_PEBS_INDEX	0x28
#define DS_PEBS_RESET	0x40

/* Reserved fields: no zeros, to catch those who look. */
#define RESERVED_FIELD	0x5a5a5a5a5a5a5a5aull

struct management {
	uint64_t base, index, maximum, threshold;
};

struct record {
	uint64_t flags, ip, ax, bx, cx, dx, si, di, bp, sp, r8[8];
	uint64_t counters;	/* 90H; a copy of the status on older cores */
	uint64_t address;	/* 98H */
	uint64_t source;	/* A0H */
	uint64_t latency;	/* A8H; end of format 1 */
	uint64_t eventing_ip;	/* B0H */
	uint64_t tx;		/* B8H; end of format 2 */
	uint64_t tsc;		/* C0H; end of format 3 */
};

QEMU_BUILD_BUG_ON(sizeof(struct record) != 200);
QEMU_BUILD_BUG_ON(offsetof(struct record, address) != 0x98);

static size_t record_size(const struct core *k)
{
	switch (PERF_CAP_PEBS_FORMAT(k->model->perf_cap)) {
	case 1:
		return offsetof(struct record, eventing_ip);
	case 2:
		return offsetof(struct record, tsc);
	}
	return sizeof(struct record);
}

bool pebs_on(const struct core *k, unsigned int i)
{
	/* Elsewhere the upper half is about loads. */
	return (i < CORE_GP || k->model->pebs_fixed) && (k->pebs_enable >> core_bit(i) & 1);
}

/* Is the record about the very instruction that made the counter overflow? */
bool pebs_exact(const struct core *k, unsigned int i)
{
	uint64_t sel = i < CORE_GP ? k->evtsel[i] : 0;

	if ((sel & EVTSEL_NO_REDUCED_SKID) || (k->skid_broken >> i & 1))
		return false;
	switch (k->model->kind) {
	case KIND_GOLDMONT:
		/* Plus has PEBS on all counters, and reduced skid on this one. */
		return i == 0 && k->ctr[i].ev.precise;
	case KIND_SANDYBRIDGE:
		/* PDIR: INST_RETIRED.PREC_DIST on counter 1, and nothing else. */
		return i == 1 && (sel & 0xffff) == 0x01c0;
	default:
		return false;
	}
}

static bool ds_read(struct core *k, uint64_t offset, void *p, size_t n)
{
	return k->ds_area && !cpu_memory_rw_debug(k->cs, k->ds_area + offset, p, n, false);
}

static bool ds_write(struct core *k, uint64_t offset, uint64_t v)
{
	return !cpu_memory_rw_debug(k->cs, k->ds_area + offset, &v, sizeof(v), true);
}

/*
 * Data source of a load on Nehalem and Sandy Bridge, status of a store. The manual has two codes
 * for a line that another core had modified. Linux takes the first on Sandy Bridge for one that
 * was not, so that CPU has the second here, which it says is for 06_2A.
 */
static uint64_t source(const struct core *k, const struct core_sample *s)
{
	static const uint8_t load[SYN_LEVELS] = {
		[LEVEL_NONE] = 0xf,	/* uncached */
		[LEVEL_L1] = 1, [LEVEL_FILL] = 2, [LEVEL_L2] = 3, [LEVEL_L3] = 4,
		[LEVEL_HITM] = 6, [LEVEL_DRAM] = 0xa,
	};
	uint64_t v = s->store ? s->mem.level == LEVEL_L1 : load[s->mem.level];

	if (!s->store && s->mem.level == LEVEL_HITM && k->model->kind == KIND_SANDYBRIDGE)
		v = 7;
	return v | (uint64_t)s->mem.stlb_miss << 4 | (uint64_t)s->locked << 5;
}

static void fill(struct core *k, unsigned int i, const struct core_sample *s, struct record *r)
{
	CPUX86State *env = core_env(k);

	*r = (struct record){
		.flags = cpu_compute_eflags(env), .ip = env->eip,
		.ax = env->regs[R_EAX], .bx = env->regs[R_EBX],
		.cx = env->regs[R_ECX], .dx = env->regs[R_EDX],
		.si = env->regs[R_ESI], .di = env->regs[R_EDI],
		.bp = env->regs[R_EBP], .sp = env->regs[R_ESP],
		.counters = 1ull << core_bit(i),
		.eventing_ip = s->ip,
		.tsc = cpu_get_tsc(env) + env->tsc_offset,
	};
	memcpy(r->r8, &env->regs[8], sizeof(r->r8));
	if (k->model->kind == KIND_GOLDMONT || k->model->kind == KIND_SILVERMONT) {
		r->address = k->model->kind == KIND_GOLDMONT ? s->va : RESERVED_FIELD;
		/* The manual does not say what a core without transactions has at B8H. */
		r->source = r->latency = r->tx = RESERVED_FIELD;
		return;
	}
	/* The load latency and precise store facilities, where they are on. */
	if (s->store ? i == 3 && (k->pebs_enable & PEBS_ENABLE_STORES) :
	    s->va && (k->pebs_enable >> (32 + i) & 1)) {
		r->address = s->va;
		r->source = source(k, s);
		r->latency = s->store ? RESERVED_FIELD : s->mem.latency;
	}
}

static void lost(struct core *k, unsigned int i, unsigned int why)
{
	k->ctr[i].truth.lost++;
	k->stat[why]++;
}

static void report(struct core *k, unsigned int why)
{
	if (k->global_status & GLOBAL_STATUS_OVF_BUF)
		return;
	k->global_status |= GLOBAL_STATUS_OVF_BUF;
	k->stat[why]++;
	core_pmi(k);
}

/*
 * The index points outside the buffer. Goldmont says so through OvfDSBuffer,
 * clears the overflow bit of the counter and leaves its value alone. Of other
 * cores nobody says what they do; nothing, here.
 */
static bool out_of_bounds(struct core *k, unsigned int i, const struct management *m)
{
	if (m->index >= m->base && m->index <= m->maximum)
		return false;
	lost(k, i, SYN_CORE_S_LOST_BOUNDS);
	if (k->model->kind == KIND_GOLDMONT) {
		k->global_status &= ~(1ull << core_bit(i));
		report(k, SYN_CORE_S_PMI_BOUNDS);
	}
	return true;
}

void pebs_write(struct core *k, unsigned int i, const struct core_sample *s)
{
	struct core_counter *c = &k->ctr[i];
	struct management m;
	struct record r;
	uint64_t reset;
	size_t size = record_size(k);

	if (!ds_read(k, DS_PEBS_BASE, &m, sizeof(m)) ||
	    !ds_read(k, DS_PEBS_RESET + 8 * i, &reset, sizeof(reset))) {
		lost(k, i, SYN_CORE_S_LOST_DS);
		return;
	}
	if (out_of_bounds(k, i, &m))
		return;
	if (m.index + size > m.maximum) {
		lost(k, i, SYN_CORE_S_LOST_FULL);
	} else {
		fill(k, i, s, &r);
		if (cpu_memory_rw_debug(k->cs, m.index, &r, size, true)) {
			lost(k, i, SYN_CORE_S_LOST_DS);
			return;
		}
		m.index += size;
		ds_write(k, DS_PEBS_INDEX, m.index);
		c->truth.records++;
		k->stat[SYN_CORE_S_RECORDS]++;
		if (!pebs_exact(k, i))
			k->stat[SYN_CORE_S_SKIDDED]++;
		if (s->va)
			k->sampled[s->mem.level]++;
	}
	c->val = reset & core_mask(k);
	if (m.index >= m.threshold || m.index + size > m.maximum)
		report(k, SYN_CORE_S_PMI_BUFFER);
}

bool pebs_set_index(struct core *k, uint64_t where)
{
	struct management m;
	size_t size = record_size(k);

	if (!ds_read(k, DS_PEBS_BASE, &m, sizeof(m)))
		return false;
	if (m.index >= m.base && m.index <= m.maximum && where != SYN_PEBS_INDEX_FULL)
		k->stat[SYN_CORE_S_ORPHANED] += (m.index - m.base) / size;
	switch (where) {
	case SYN_PEBS_INDEX_BELOW:
		return ds_write(k, DS_PEBS_INDEX, m.base - size);
	case SYN_PEBS_INDEX_ABOVE:
		return ds_write(k, DS_PEBS_INDEX, m.maximum + size);
	case SYN_PEBS_INDEX_FULL:
		return ds_write(k, DS_PEBS_INDEX, m.maximum);
	}
	return false;
}

/* SDM volume 3, 17.4.5 and 17.4.9.3 */
bool bts_on(const struct core *k)
{
	return !(~k->debugctl & (DEBUGCTL_TR | DEBUGCTL_BTS));
}

void bts_write(struct core *k, uint64_t from, uint64_t to, uint8_t ring)
{
	uint64_t record[3] = { from, to };
	struct management m;
	uint64_t next;

	if (k->debugctl & (ring == RING_OS ? DEBUGCTL_BTS_OFF_OS : DEBUGCTL_BTS_OFF_USR) ||
	    !ds_read(k, DS_BTS_BASE, &m, sizeof(m)))
		return;
	next = m.index + sizeof(record);
	if (m.index < m.base || next > m.maximum ||
	    cpu_memory_rw_debug(k->cs, m.index, record, sizeof(record), true))
		return;
	ds_write(k, DS_BTS_INDEX, next);
	if (m.index < m.threshold && next >= m.threshold)
		k->t.due |= DUE_BTS;
}
