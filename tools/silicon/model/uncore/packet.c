// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Packets between the boxes, for the match registers to choose from. What an S-Box and
 * a link send is in a list (activity.c), which says class, flits and network; opcodes
 * take turns. By [r_match_port] a link matches what it receives instead. The DRAM commands
 * of an M-Box are those of the requests to its B-Box, and some that no request is behind.
 * Of other packets there are 256 slots, then they repeat.
 * Every opcode of the spec is among them, every data response with every state of the line,
 * every DRAM command in every mode of the scheduler, so no sensible filter is left with
 * nothing. Other slots and fields follow from a hash of the place. Tests inject packets of their
 * own (SYN_PKT_*).
 */
#include "uncore.h"

#define SLOTS		256u
/* Cycles per slot; R-Box packets have up to 11 flits, one per cycle. */
#define SLOT_LOG2(box)	((box) == BOX_R ? 4u : 2u)

enum { HOM0 = 0x0, HOM1 = 0x1, NDR = 0x2, SNP = 0x3, NCS = 0x4, NCB = 0xc, DRS = 0xe };
#define DRAM_MODES	4u

static unsigned int flits_of(unsigned int mc, unsigned int opcode)
{
	switch (mc) {
	case NCB:
	case DRS:
		return opcode & 8 ? 11 : 9;
	case NCS:
		return 3;
	}
	return 1;
}

struct packet packet_decode(uint64_t header, uint64_t addr)
{
	struct packet pkt = {
		.box = header & 0xf,
		.inst = header >> 4 & 0xf,
		.mc = header >> 8 & 0xf,
		.opcode = header >> 12 & 0x1f,
		.vn = header >> 17 & 3,
		.rds = header >> 19 & 0xf,
		.hnid = header >> 23 & 0x1f,
		.rnid = header >> 28 & 0x1f,
		.dnid = header >> 33 & 0x1f,
		.out = header >> 38 & 1,
		.flits = header >> 39 & 0xf,
		.addr = addr,
	};

	if (!pkt.flits)
		pkt.flits = flits_of(pkt.mc, pkt.opcode);
	return pkt;
}

static const uint8_t states[] = { 8, 4, 2, 1, 0 };	/* of a data response: M E S F I */

/* The n-th of the packets there have to be; false: those were all. */
static bool obligatory(unsigned int n, struct packet *pkt)
{
	if (n < opcode_count) {
		pkt->mc = opcode_table[n].mc;
		pkt->opcode = opcode_table[n].opcode;
		return true;
	}
	n -= opcode_count;
	for (unsigned int i = 0; i < opcode_count; i++) {
		if (opcode_table[i].mc != DRS)
			continue;
		if (n < ARRAY_SIZE(states)) {
			pkt->mc = DRS;
			pkt->opcode = opcode_table[i].opcode;
			pkt->rds = states[n];
			return true;
		}
		n -= ARRAY_SIZE(states);
	}
	return false;
}

/* What is in a slot; false: nothing. */
static bool slot(const struct counter *c, unsigned int inst, bool out, unsigned int n,
		 struct packet *pkt)
{
	enum box_kind box = c->box->kind;
	uint64_t place = c->box->pkg->id | box << 4 | inst << 8 | out << 12 | 0x5ull << 60;
	uint64_t h = cf_hash(place | (uint64_t)n << 16);
	const struct opcode_info *op = &opcode_table[(h >> 8) % opcode_count];

	*pkt = (struct packet){
		.box = box,
		.inst = inst,
		.out = out,
		.vn = (h >> 20) % 3,
		.hnid = h >> 32 & 3,
		.rnid = h >> 34 & 3,
		.dnid = h >> 36 & 3,
		.addr = (h >> 40 & 7) << 6 | (h >> 44 & 3) << 30,
	};
	/* An odd factor visits every number once, in another order at each place. */
	if (!obligatory((n * 0x9d + cf_hash(place)) % SLOTS, pkt)) {
		if (h & 1)
			return false;
		pkt->mc = op->mc;
		pkt->opcode = op->opcode;
		if (op->mc == DRS)
			pkt->rds = states[(h >> 24) % ARRAY_SIZE(states)];
	}
	pkt->flits = flits_of(pkt->mc, pkt->opcode);
	return true;
}

/* The n-th packet of so many flits that has this class; false: there are no such. */
static bool nth_of(unsigned int mc, unsigned int flits, unsigned int n, struct packet *pkt)
{
	unsigned int kinds = 0, state = mc == DRS ? n % ARRAY_SIZE(states) : 0;
	const struct opcode_info *of[32];

	for (unsigned int i = 0; i < opcode_count; i++) {
		if (opcode_table[i].mc == mc && flits_of(mc, opcode_table[i].opcode) == flits)
			of[kinds++] = &opcode_table[i];
	}
	if (!kinds)
		return false;
	if (mc == DRS) {
		n /= ARRAY_SIZE(states);
		pkt->rds = states[state];
	}
	pkt->mc = mc;
	pkt->opcode = of[n % kinds]->opcode;
	pkt->flits = flits;
	return true;
}

/* Message class and network of a packet, by its tags. */
static const struct {
	unsigned int list;
	uint32_t tags;
	uint8_t mc;
} classes[] = {
	/* Those that have more tags come first. */
	{ LIST_S_OUT, TAG_S_OUT_HOM | TAG_S_OUT_REQUEST, HOM0 },
	{ LIST_S_OUT, TAG_S_OUT_HOM, HOM1 }, { LIST_S_OUT, TAG_S_OUT_NDR, NDR },
	{ LIST_S_OUT, TAG_S_OUT_SNP, SNP }, { LIST_S_OUT, TAG_S_OUT_NCS, NCS },
	{ LIST_S_OUT, TAG_S_OUT_NCB, NCB }, { LIST_S_OUT, TAG_S_OUT_DRS, DRS },
	{ LIST_R_OUT, TAG_R_HOM, HOM0 }, { LIST_R_OUT, TAG_R_NDR, NDR },
	{ LIST_R_OUT, TAG_R_SNP, SNP }, { LIST_R_OUT, TAG_R_NCS, NCS },
	{ LIST_R_OUT, TAG_R_NCB, NCB }, { LIST_R_OUT, TAG_R_DRS, DRS },
};

static unsigned int class_of(unsigned int list, uint32_t tags)
{
	/* Both ways of a link have the same tags. */
	list = list == LIST_R_IN ? LIST_R_OUT : list;
	for (unsigned int i = 0; i < ARRAY_SIZE(classes); i++) {
		if (classes[i].list == list && (tags & classes[i].tags) == classes[i].tags)
			return classes[i].mc;
	}
	g_assert_not_reached();
}

static void list_pattern(const struct counter *c, unsigned int list, unsigned int inst,
			 struct pattern *p)
{
	g_autofree struct activity *a = activity_of(c->box->pkg, list, inst);
	unsigned int seen[16][16] = { { 0 } };	/* by class and flits */

	p->log2 = a->period_log2;
	memset(p->inc, 0, sizeof(p->inc[0]) << p->log2);
	for (unsigned int i = 0; i < a->num; i++) {
		const struct transaction *t = &a->list[i];
		/* Credits are in flits of no packet. */
		bool credit = list == LIST_S_OUT && t->tags & TAG_S_OUT_CREDIT;
		unsigned int mc = credit ? 0 : class_of(list, t->tags), n, cycles;
		uint64_t h = cf_hash(c->box->pkg->id | list << 4 | inst << 8 |
					  (uint64_t)i << 16 | 0x6ull << 60);
		struct packet pkt = {
			.box = c->box->kind,
			.inst = inst,
			.out = true,
			.hnid = h >> 32 & 3,
			.rnid = h >> 34 & 3,
			.dnid = h >> 36 & 3,
			.addr = (h >> 40 & 7) << 6 | (h >> 44 & 3) << 30,
		};

		if (credit)
			continue;
		n = seen[mc][t->cycles]++;
		/* Requests and answers share what a link tells of its packets. */
		if (list != LIST_S_OUT && mc == HOM0 && n % 2)
			mc = HOM1;
		if (list != LIST_S_OUT)
			pkt.vn = t->tags & TAG_R_VN0 ? 0 : t->tags & TAG_R_VN1 ? 1 : 2;
		if (list != LIST_S_OUT && (mc == HOM0 || mc == HOM1))
			n /= 2;
		if (!nth_of(mc, t->cycles, n, &pkt))
			continue;
		cycles = c->box->type->packet(c, &pkt);
		for (unsigned int f = 0; f < cycles; f++)
			p->inc[t->at + f] = 1;
	}
}

enum { RAS = 0x2, CAS_RD_OPN = 0x3, CAS_WR_OPN = 0x4, CAS_CLOSES = 2, PRE = 0x11 };

static bool of_request(unsigned int cmd)
{
	return (cmd >= RAS && cmd <= CAS_WR_OPN + CAS_CLOSES) || cmd == PRE;
}

static void add_command(const struct counter *c, unsigned int cmd, unsigned int mode,
			unsigned int at, struct pattern *p)
{
	uint64_t h = cf_hash(c->box->pkg->id | c->box->inst << 8 | (uint64_t)at << 16 |
				  0x7ull << 60);
	const struct packet pkt = {
		.box = BOX_M,
		.inst = c->box->inst,
		.opcode = cmd,
		.vn = mode % DRAM_MODES,
		.addr = (h >> 40 & 7) << 6 | (h >> 44 & 3) << 30,
	};

	p->inc[at] = c->box->type->packet(c, &pkt);
}

static void command_pattern(const struct counter *c, struct pattern *p)
{
	g_autofree struct activity *a = activity_of(c->box->pkg, LIST_B, c->box->inst);
	unsigned int at = 0;

	p->log2 = a->period_log2;
	memset(p->inc, 0, sizeof(p->inc[0]) << p->log2);
	for (unsigned int i = 0; i < a->num; i++) {
		const struct transaction *t = &a->list[i];
		unsigned int cas = t->tags & TAG_B_MEM_RD ? CAS_RD_OPN : CAS_WR_OPN;

		at = t->at;
		if (t->tags & TAG_B_PAGE_MISS)
			add_command(c, PRE, i, at++, p);
		if (t->tags & (TAG_B_PAGE_MISS | TAG_B_PAGE_EMPTY))
			add_command(c, RAS, i, at++, p);
		/* One in five closes its page again. */
		if (t->tags & TAG_B_REQUEST)
			add_command(c, i % 5 ? cas : cas + CAS_CLOSES, i, at, p);
		at = t->at + t->cycles;
	}
	for (unsigned int n = 0; n < dram_cmd_count * DRAM_MODES && !activity_is_told(); n++) {
		unsigned int cmd = dram_cmd_table[n % dram_cmd_count];

		g_assert(at < 1u << p->log2);
		if (!of_request(cmd))
			add_command(c, cmd, n / dram_cmd_count, at++, p);
	}
}

void packet_pattern(const struct counter *c, unsigned int inst, bool out, struct pattern *p)
{
	unsigned int slot_log2 = SLOT_LOG2(c->box->kind);
	struct packet pkt;

	if (!c->box->pkg->no_mix && c->box->kind == BOX_S && out) {
		list_pattern(c, LIST_S_OUT, inst, p);
		return;
	}
	if (!c->box->pkg->no_mix && c->box->kind == BOX_M) {
		command_pattern(c, p);
		return;
	}
	/* Ports 0 and 1 of a half are links. */
	if (!c->box->pkg->no_mix && c->box->kind == BOX_R && inst % 4 < 2) {
		list_pattern(c, reading(RD_R_MATCH_PORT) == RD_R_MATCH_PORT_ENTRY ? LIST_R_IN :
			     LIST_R_OUT, inst, p);
		return;
	}
	p->log2 = ctz32(SLOTS) + slot_log2;
	memset(p->inc, 0, sizeof(p->inc[0]) << p->log2);
	if (c->box->pkg->no_mix)
		return;
	for (unsigned int n = 0; n < SLOTS; n++) {
		unsigned int cycles;

		if (!slot(c, inst, out, n, &pkt))
			continue;
		cycles = c->box->type->packet(c, &pkt);
		for (unsigned int i = 0; i < cycles; i++)
			p->inc[(n << slot_log2) + i] = 1;
	}
}
