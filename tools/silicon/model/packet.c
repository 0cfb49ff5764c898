// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Packets between the boxes, for the match registers to choose from. Some are
 * always about: 256 slots, then they repeat. Every opcode of the spec is among
 * them, every data response with every state of the line, every DRAM command in
 * every mode of the scheduler, so no sensible filter is left with nothing. The
 * other slots and fields follow from a hash of the place. Tests inject packets
 * of their own (SYN_PKT_*).
 */
#include "uncore.h"

#define SLOTS		256u
/* Cycles per slot; R-Box packets have up to 11 flits, one per cycle. */
#define SLOT_LOG2(box)	((box) == BOX_R ? 4u : 2u)

#define DRS		0xe
#define DRAM_MODES	4u

static unsigned int flits_of(unsigned int mc, unsigned int opcode)
{
	switch (mc) {
	case 0xc:	/* NCB */
	case DRS:
		return opcode & 8 ? 11 : 9;
	case 0x4:	/* NCS */
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
	if (pkt->box == BOX_M) {
		pkt->opcode = dram_cmd_table[n % dram_cmd_count];
		pkt->vn = n / dram_cmd_count;
		return n < dram_cmd_count * DRAM_MODES;
	}
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
	uint64_t h = traffic_hash(place | (uint64_t)n << 16);
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
	if (!obligatory((n * 0x9d + traffic_hash(place)) % SLOTS, pkt)) {
		if (h & 1)
			return false;
		pkt->mc = op->mc;
		pkt->opcode = op->opcode;
		if (box == BOX_M) {
			pkt->opcode = dram_cmd_table[(h >> 8) % dram_cmd_count];
			pkt->vn = h >> 20 & 3;
		} else if (op->mc == DRS) {
			pkt->rds = states[(h >> 24) % ARRAY_SIZE(states)];
		}
	}
	pkt->flits = flits_of(pkt->mc, pkt->opcode);
	return true;
}

void packet_pattern(const struct counter *c, unsigned int inst, bool out, struct pattern *p)
{
	unsigned int slot_log2 = SLOT_LOG2(c->box->kind);
	struct packet pkt;

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
