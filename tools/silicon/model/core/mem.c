// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Caches and TLBs, one set per CPU.
 *
 * Lines are physical, the sets LRU, a miss fills every level on its way; stores
 * allocate like loads. What another CPU has written since this one last had the
 * line is found in one table for the machine (line -> last writer), so that a
 * load of it is served as "modified elsewhere". The caches see an access only
 * while some running counter of this CPU asks for what they know.
 */
#include "silicon.h"
#include "mem.h"
#include "qemu/atomic.h"

#define LINE		6
#define PAGE		12
#define STORES		8
#define WRITERS		65536u

struct cache {
	unsigned int sets, ways;
	bool used;
	uint64_t *tag;		/* sets x ways, most recent first; 0: empty */
};

struct mem_model {
	struct cache l1, l2, l3, utlb, dtlb;
	uint64_t mode, shift, map, fill;
	uint64_t latency[SYN_LEVELS];
	struct { uint64_t line, seq; } filling;
	struct { uint64_t va, seq; unsigned int size; } store[STORES];
	unsigned int stores;
};

/* line << 8 | CPU, of the last store; 0 when somebody has read it since. */
static uint64_t writers[WRITERS];

static struct cache cache(unsigned int sets, unsigned int ways)
{
	return (struct cache){ .sets = sets, .ways = ways, .tag = g_new0(uint64_t, sets * ways) };
}

struct mem_model *mem_new(const struct machine_cache *geometry)
{
	struct mem_model *m = g_new0(struct mem_model, 1);

	m->l1 = cache(geometry[MACHINE_L1D].sets, geometry[MACHINE_L1D].ways);
	m->l2 = cache(geometry[MACHINE_L2].sets, geometry[MACHINE_L2].ways);
	m->l3 = cache(geometry[MACHINE_L3].sets, geometry[MACHINE_L3].ways);
	m->utlb = cache(1, 16);
	m->dtlb = cache(128, 4);
	return m;
}

void mem_default(struct mem_model *m)
{
	static const uint16_t latency[SYN_LEVELS] = {
		[LEVEL_NONE] = 300, [LEVEL_L1] = 4, [LEVEL_FILL] = 10, [LEVEL_L2] = 16,
		[LEVEL_L3] = 34, [LEVEL_HITM] = 75, [LEVEL_DRAM] = 210,
	};

	m->mode = SYN_MEM_CACHES;
	m->shift = LINE;
	m->map = 0x6543216543216541ull;
	m->fill = 0;
	for (int i = 0; i < SYN_LEVELS; i++)
		m->latency[i] = latency[i];
	mem_cold(m);
}

static void empty(struct cache *c)
{
	/* Megabytes, for a CPU that may never need them. */
	if (c->used)
		memset(c->tag, 0, sizeof(*c->tag) * c->sets * c->ways);
	c->used = false;
}

void mem_cold(struct mem_model *m)
{
	empty(&m->l1);
	empty(&m->l2);
	empty(&m->l3);
	empty(&m->utlb);
	empty(&m->dtlb);
	memset(m->store, 0, sizeof(m->store));
	m->filling.line = -1;
}

uint64_t *mem_knob(struct mem_model *m, uint32_t msr)
{
	switch (msr) {
	case SYN_MEM_MODE:
		return &m->mode;
	case SYN_MEM_SHIFT:
		return &m->shift;
	case SYN_MEM_MAP:
		return &m->map;
	case SYN_MEM_FILL:
		return &m->fill;
	}
	if (msr - SYN_MEM_LATENCY(0) < SYN_LEVELS)
		return &m->latency[msr - SYN_MEM_LATENCY(0)];
	return NULL;
}

/* Looks @key up and makes it the most recent of its set. */
static bool lookup(struct cache *c, uint64_t key)
{
	uint64_t *set = &c->tag[key % c->sets * c->ways];
	unsigned int i;

	c->used = true;
	key++;			/* 0 means empty */
	for (i = 0; i < c->ways - 1 && set[i] != key; i++)
		;
	if (set[i] == key && i == 0)
		return true;
	bool hit = set[i] == key;

	memmove(set + 1, set, i * sizeof(*set));
	set[0] = key;
	return hit;
}

static uint32_t translate(struct mem_model *m, const struct mem_access *a, struct mem_result *r)
{
	/*
	 * The upper half is the same in every address space. Kernel and user
	 * page tables of one process differ in bit 12.
	 */
	uint64_t space = (int64_t)a->va < 0 ? 0 : a->space >> 13;
	uint64_t page = a->va >> PAGE ^ space << 40;
	bool utlb = lookup(&m->utlb, page);
	uint32_t is = 0;

	if (utlb)
		return 0;
	r->stlb_miss = !lookup(&m->dtlb, page);
	if (!a->store)
		is |= MEM_UTLB;
	if (r->stlb_miss)
		is |= a->store ? MEM_STORE_DTLB : MEM_LOAD_DTLB;
	return is;
}

/* Has another CPU written the line? Whoever asks has a copy from now on. */
static bool modified_elsewhere(uint64_t line, unsigned int cpu, bool store)
{
	uint64_t *w = &writers[(line ^ line >> 16) % WRITERS];
	uint64_t was = qatomic_read(w), mine = line << 8 | cpu;
	bool other = was && was >> 8 == line && was != mine;

	if (store)
		qatomic_set(w, mine);
	else if (other)
		qatomic_set(w, 0);
	return other;
}

static enum mem_level cached(struct mem_model *m, unsigned int cpu, const struct mem_access *a)
{
	uint64_t line = a->pa >> LINE;
	bool hitm = modified_elsewhere(line, cpu, a->store);
	bool l1 = lookup(&m->l1, line);
	bool l2, l3 = false;

	if (l1 && !hitm) {
		bool filling = m->filling.line == line && a->seq - m->filling.seq < m->fill;

		return filling && a->seq != m->filling.seq ? LEVEL_FILL : LEVEL_L1;
	}
	m->filling.line = line;
	m->filling.seq = a->seq;
	l2 = lookup(&m->l2, line);
	if (m->l3.sets && !l2)
		l3 = lookup(&m->l3, line);
	if (hitm)
		return LEVEL_HITM;
	if (l2)
		return LEVEL_L2;
	return l3 ? LEVEL_L3 : LEVEL_DRAM;
}

static enum mem_level serve(struct mem_model *m, unsigned int cpu, const struct mem_access *a)
{
	unsigned int level;

	if (m->mode == SYN_MEM_BY_ADDRESS) {
		level = m->map >> 4 * (a->va >> (m->shift & 63) & 15) & 15;
		return level < SYN_LEVELS ? level : LEVEL_NONE;
	}
	return a->cacheable ? cached(m, cpu, a) : LEVEL_NONE;
}

/*
 * Requests to the last level and what it lacks: the L3 of the package, which also has what
 * another core of it modified, or without one the L2.
 */
static uint32_t beyond(const struct mem_model *m, const struct mem_access *a, enum mem_level level)
{
	uint32_t is = 0;

	if (level == LEVEL_L1 || level == LEVEL_FILL || level == LEVEL_NONE)
		return 0;
	if (a->store)
		is |= level == LEVEL_L2 ? MEM_STORE_L2_HIT :
		      MEM_STORE_L2_MISS | (level == LEVEL_L3 ? MEM_STORE_L3 :
					   level == LEVEL_HITM ? MEM_STORE_HITM : MEM_STORE_DRAM);
	if (!m->l3.sets)
		return is | MEM_LLC_REF | (level == LEVEL_L2 ? 0 : MEM_LLC_MISS);
	if (level != LEVEL_L2)
		is |= MEM_LLC_REF | (level == LEVEL_DRAM ? MEM_LLC_MISS : 0);
	return is;
}

/* A load and the last few stores. */
static uint32_t blocks(struct mem_model *m, const struct mem_access *a)
{
	uint32_t is = 0;

	for (int i = 0; i < STORES; i++) {
		uint64_t va = m->store[i].va;
		unsigned int size = m->store[i].size;
		bool overlap = size && a->va < va + size && va < a->va + a->size;
		bool inside = overlap && a->va >= va && a->va + a->size <= va + size;

		if (inside && m->store[i].seq + 1 == a->seq)
			is |= MEM_UNKNOWN;
		if (overlap && !inside)
			is |= MEM_FORWARD;
		if (size && !overlap && !((a->va ^ va) & 0xff8) && a->va >> PAGE != va >> PAGE)
			is |= MEM_4K_ALIAS;
	}
	return is;
}

static bool crosses(const struct mem_access *a, unsigned int shift)
{
	return (a->va ^ (a->va + a->size - 1)) >> shift;
}

uint32_t mem_access(struct mem_model *m, unsigned int cpu, const struct mem_access *a,
		    uint32_t need, struct mem_result *r)
{
	uint32_t is = a->store ? MEM_STORE : MEM_LOAD | (a->locked ? MEM_LOAD_LOCK : 0);

	*r = (struct mem_result){ LEVEL_NONE };
	if (crosses(a, LINE))
		is |= a->store ? MEM_STORE_SPLIT : MEM_LOAD_SPLIT;
	if (crosses(a, PAGE))
		is |= a->store ? MEM_STORE_PAGE_SPLIT : MEM_LOAD_PAGE_SPLIT;
	if (need & MEM_NEED_TLB)
		is |= translate(m, a, r);
	if (need & MEM_NEED_CACHE) {
		r->level = serve(m, cpu, a);
		is |= beyond(m, a, r->level);
		r->latency = m->latency[r->level];
		if (a->store)
			is |= MEM_PRECISE_STORE;
		else
			is |= MEM_LOAD_AT(r->level) | (r->latency >= a->threshold ? MEM_LATENCY : 0);
	}
	if ((need & MEM_BLOCKED) && !a->store)
		is |= blocks(m, a);
	if (a->store) {
		unsigned int i = m->stores++ % STORES;

		m->store[i].va = a->va;
		m->store[i].size = a->size;
		m->store[i].seq = a->seq;
	}
	return is;
}
