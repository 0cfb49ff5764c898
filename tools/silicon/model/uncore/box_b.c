// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * B-Box: four counters, each with a list of events of its own. Occupancies go
 * through sub-counters that never stop; what is counted is their overflow.
 *
 * Match events compare fields of a packet with MATCH where MASK has ones. The guide
 * does not give the polarity of MASK [b_mask]; 1 = compare is taken, as in the R-Box,
 * so that after reset nothing is compared. See also [b_match_parts].
 */
#include "uncore.h"

#define B_ADDR		0x00000fffffffffffull
#define B_MSG_IN	0x0000f00000000000ull
#define B_MSG_OUT	0x000f000000000000ull
#define B_OPC_IN	0x00f0000000000000ull
#define B_OPC_OUT	0x0f00000000000000ull

/* What an event compares. */
static uint64_t fields(const struct event_info *e)
{
	bool all = reading(RD_B_MATCH_PARTS) == RD_B_MATCH_PARTS_ALL;
	bool out = e->flags & EV_OUT;
	uint64_t bits = 0;

	if (all || (e->flags & EV_CLASS))
		bits |= out ? B_MSG_OUT : B_MSG_IN;
	if (all || (e->flags & EV_OPCODE))
		bits |= out ? B_OPC_OUT : B_OPC_IN;
	if (all || (e->flags & EV_ADDRESS))
		bits |= B_ADDR;
	return bits;
}

unsigned int b_packet(const struct counter *c, const struct packet *pkt)
{
	uint64_t is;

	if (!c->match.on || pkt->inst != c->box->inst || pkt->out != c->match.out)
		return 0;
	is = (pkt->addr >> 6 & B_ADDR) |
	     (uint64_t)pkt->mc << 44 | (uint64_t)pkt->mc << 48 |
	     (uint64_t)(pkt->opcode & 0xf) << 52 | (uint64_t)(pkt->opcode & 0xf) << 56;
	return !((is ^ c->match.value) & c->match.mask);
}

void select_b(struct counter *c, struct selection *sel, CPUState *cs)
{
	const struct event_info *e = select_event(c, c->sel >> 1 & 0x1f, 0, sel, cs);
	uint64_t bits;

	if (!e || !(e->flags & EV_MATCH))
		return;
	bits = fields(e);
	c->match.on = true;
	c->match.out = e->flags & EV_OUT;
	c->match.value = counter_reg(c, ROLE_MATCH, 0, 0, bits);
	c->match.mask = counter_reg(c, ROLE_MASK, 0, 0, bits);
	if (reading(RD_B_MASK) == RD_B_MASK_IGNORE)
		c->match.mask ^= bits;
	packet_pattern(c, c->box->inst, c->match.out, &sel->pattern);
}
