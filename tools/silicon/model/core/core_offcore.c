// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Offcore responses. They follow the program: the loads (data reads) and stores (requests
 * for ownership) that leave the core, and where the caches of mem.c have found them. Nothing
 * is prefetched or written back.
 *
 * Where a test has set a rate, and where one of the registers asks for what is outstanding,
 * the traffic is arithmetic: requests of a type come at a steady rate, and of any number of
 * them each kind of response gets its share, in whole requests that always add up.
 *
 *	requests(c)	= c * rate / 65536
 *	response j	= requests * (shares up to j) / 65536 - the same up to j - 1
 *	outstanding	= requests * latency (credited when the request is made)
 */
#include "core.h"

#define ANY_RESPONSE	(1ull << 16)
#define OUTSTANDING	(1ull << 38)
#define ANY_REQUEST	(1ull << 15)
#define RESPONSES	0x3fffff0000ull

/* Of CPUs that have a bit for each kind of response, closed by an empty one */
struct response {
	uint64_t bits;
	uint32_t share;		/* of 65536 */
};

static const struct response goldmont[] = {
	{ 1ull << 18, 32768 },	/* L2 hit */
	{ 1ull << 33, 20480 },	/* missed the other module too, or no need to ask */
	{ 1ull << 34, 6144 },	/* other module had it */
	{ 1ull << 36, 4096 },	/* modified in the other module */
	{ 1ull << 37, 2048 },	/* not DRAM */
	{ }
};

static const struct response silvermont[] = {
	{ 1ull << 18, 32768 },	/* L2 hit */
	{ 1ull << 31, 12288 },	/* no details of a snoop */
	{ 1ull << 33, 8192 },	/* missed the other module, too */
	{ 1ull << 34, 6144 },	/* other module had it */
	{ 1ull << 36, 4096 },	/* modified in the other module */
	{ 1ull << 37, 2048 },	/* not DRAM */
	{ }
};

/* NULL: supplier times snoop */
static const struct response *table(const struct core *k)
{
	switch (k->model->kind) {
	case KIND_GOLDMONT:
		return goldmont;
	case KIND_SILVERMONT:
		return silvermont;
	default:
		return NULL;
	}
}

/* Supplier times snoop. Rows: 17-22, 30:23. Columns: 31-37. */
static const uint16_t snb_supplier[] = { 8, 16, 64, 48, 8, 80, 32 };	/* of 256 */
static const uint16_t snb_snoop[] = { 48, 80, 56, 24, 24, 16, 8 };	/* of 256 */

#define SNB_SUPPLIERS	ARRAY_SIZE(snb_supplier)
#define SNB_SNOOPS	ARRAY_SIZE(snb_snoop)
#define SNB_REMOTE	0x7f800000ull

static unsigned int responses(const struct core *k)
{
	const struct response *t = table(k);
	unsigned int n = 0;

	if (!t)
		return SNB_SUPPLIERS * SNB_SNOOPS;
	while (t[n].bits)
		n++;
	return n;
}

static uint32_t share(const struct core *k, unsigned int j)
{
	if (table(k))
		return table(k)[j].share;
	return snb_supplier[j / SNB_SNOOPS] * snb_snoop[j % SNB_SNOOPS];
}

static bool selected(const struct core *k, uint64_t rsp, unsigned int j)
{
	unsigned int supplier = j / SNB_SNOOPS, snoop = j % SNB_SNOOPS;
	uint64_t bits;

	if (rsp & ANY_RESPONSE)
		return true;
	if (table(k))
		return rsp & table(k)[j].bits;
	/* A client has no remote memory: what would be remote is local. */
	if (supplier < 6)
		bits = 1ull << (17 + supplier);
	else
		bits = k->model->offcore[0] & SNB_REMOTE ? SNB_REMOTE : 1ull << 22;
	return (rsp & bits) && (rsp & 1ull << (31 + snoop));
}

static uint64_t valid_requests(const struct core *k, unsigned int reg)
{
	uint64_t all = k->model->offcore[0] & 0xffff, rsp = k->offcore[reg];

	return table(k) && (rsp & ANY_REQUEST) ? all :
	       rsp & all & ~k->model->no_request[reg];
}

/* Responses of a request that was served at this level, and bits that have to be there, too. */
static const struct served {
	uint64_t any, too;
	enum mem_level level;
	uint32_t store;
} served_nehalem[] = {
	{ 1u << 8 | 1u << 9, ~0ull, LEVEL_L3, MEM_STORE_L3 },
	{ 1u << 10, ~0ull, LEVEL_HITM, MEM_STORE_HITM },
	{ 1u << 14, ~0ull, LEVEL_DRAM, MEM_STORE_DRAM },
	{ }
}, served_sandybridge[] = {
	{ 0xfull << 18, 0x1full << 31, LEVEL_L3, MEM_STORE_L3 },
	{ 0xfull << 18, 1ull << 36, LEVEL_HITM, MEM_STORE_HITM },
	{ 1ull << 22, 7ull << 31, LEVEL_DRAM, MEM_STORE_DRAM },
	{ }
}, served_atom[] = {
	{ 1ull << 18, ~0ull, LEVEL_L2, MEM_STORE_L2_HIT },
	{ 1ull << 36, ~0ull, LEVEL_HITM, MEM_STORE_HITM },
	{ 1ull << 33, ~0ull, LEVEL_DRAM, MEM_STORE_DRAM },
	{ }
};

#define DATA_READ	(1u << 0)
#define OWNERSHIP	(1u << 1)

bool core_offcore_follows(const struct core *k, unsigned int reg, uint32_t *what)
{
	const struct served *s = table(k) ? served_atom : kind_is_ex(k->model->kind) ?
				 served_nehalem : served_sandybridge;
	uint64_t rsp = k->offcore[reg], types = rsp & 0xffff;

	if (kind_is_ex(k->model->kind))
		types &= 0xff;
	else
		types = valid_requests(k, reg);
	for (unsigned int t = 0; t < 16; t++) {
		if ((types >> t & 1) && k->knob.off_rate[t] != SYN_OFF_FOLLOW)
			return false;
	}
	if (!kind_is_ex(k->model->kind) && ((k->offcore[0] | k->offcore[1]) & OUTSTANDING))
		return false;
	for (*what = 0; s->any; s++) {
		if (!((rsp & s->any) && (rsp & s->too)) &&
		    (kind_is_ex(k->model->kind) || !(rsp & ANY_RESPONSE)))
			continue;
		*what |= (types & DATA_READ ? MEM_LOAD_AT(s->level) : 0) |
			 (types & OWNERSHIP ? s->store : 0);
	}
	return true;
}

static uint64_t rate(const struct core *k, unsigned int t)
{
	if (k->knob.off_rate[t] != SYN_OFF_FOLLOW)
		return k->knob.off_rate[t];
	return t == 15 && table(k) ? 0 : 1024 >> (t % 5);
}

/* Nehalem has no such tables at hand: any response bit takes everything. */
static uint64_t nehalem(const struct core *k, uint64_t rsp, uint64_t cycles)
{
	uint64_t n = 0;

	if (!(rsp & 0xff00))
		return 0;
	for (int t = 0; t < 8; t++)
		if (rsp >> t & 1)
			n += cycles * rate(k, t) / CORE_RATE_ONE;
	return n;
}

static uint64_t answered(const struct core *k, uint64_t rsp, uint64_t requests)
{
	uint64_t n = 0, sum = 0, cut = 0;

	for (unsigned int j = 0; j < responses(k); j++) {
		uint64_t next;

		sum += share(k, j);
		next = muldiv64(requests, sum, CORE_RATE_ONE);
		if (selected(k, rsp, j))
			n += next - cut;
		cut = next;
	}
	return n;
}

static bool meaningful(const struct core *k, unsigned int reg)
{
	uint64_t rsp = k->offcore[reg];

	if (!valid_requests(k, reg))
		return false;
	if (rsp & OUTSTANDING)
		return !(rsp & RESPONSES);
	for (unsigned int j = 0; j < responses(k); j++)
		if (selected(k, rsp, j))
			return true;
	return false;
}

uint64_t core_offcore_sum(const struct core *k, unsigned int reg, uint64_t cycles)
{
	uint64_t rsp = k->offcore[reg], types = valid_requests(k, reg), n = 0;

	if (kind_is_ex(k->model->kind))
		return nehalem(k, rsp, cycles);
	if (!meaningful(k, reg))
		return 0;
	for (; types; types &= types - 1) {
		unsigned int t = ctz64(types);
		uint64_t requests = muldiv64(cycles, rate(k, t), CORE_RATE_ONE);

		if (rsp & OUTSTANDING)
			n += requests * k->knob.off_latency[t];
		else
			n += answered(k, rsp, requests);
	}
	return n;
}

/* For counter masks: the mean, as if spread evenly. */
uint32_t core_offcore_rate(const struct core *k, unsigned int reg)
{
	return MIN(core_offcore_sum(k, reg, CORE_RATE_ONE), UINT32_MAX);
}

void core_offcore_default(struct core *k)
{
	for (int t = 0; t < 16; t++) {
		k->knob.off_rate[t] = SYN_OFF_FOLLOW;
		k->knob.off_latency[t] = 120 + 20 * t;
	}
}

uint64_t *core_offcore_knob(struct core *k, uint32_t msr)
{
	if (msr - SYN_OFF_RATE(0) < 16)
		return &k->knob.off_rate[msr - SYN_OFF_RATE(0)];
	if (msr - SYN_OFF_LATENCY(0) < 16)
		return &k->knob.off_latency[msr - SYN_OFF_LATENCY(0)];
	return NULL;
}

uint64_t core_offcore_share(const struct core *k, unsigned int n)
{
	if (table(k))
		return n < responses(k) ? table(k)[n].share : 0;
	if (n < SNB_SUPPLIERS)
		return snb_supplier[n] * 256;
	n -= SNB_SUPPLIERS;
	return n < SNB_SNOOPS ? snb_snoop[n] * 256 : 0;
}

/* A counter starts on the register. */
void core_offcore_check(struct core *k, unsigned int reg)
{
	uint64_t rsp = k->offcore[reg];

	if (kind_is_ex(k->model->kind) || meaningful(k, reg))
		return;
	k->stat[SYN_CORE_S_OFFCORE_ZERO]++;
	if ((rsp & OUTSTANDING) && (rsp & RESPONSES))
		silicon_violation(VIOL_CORE, k->cs, "OFFCORE_RSP%u: 0x%" PRIx64
				  ": outstanding with response bits", reg, rsp);
}
