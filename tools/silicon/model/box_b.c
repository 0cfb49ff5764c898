// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * B-Box: four counters, each with a list of events of its own. Occupancies go
 * through sub-counters that never stop; what is counted is their overflow.
 *
 * Match events compare fields of a packet with MATCH where MASK has ones. The guide
 * does not give the polarity of MASK [b_mask]; 1 = compare is taken, as in the R-Box,
 * so that after reset nothing is compared. See also [b_match_parts] and [b_occupancy].
 */
#include "uncore.h"

#define B_ADDR		0x00000fffffffffffull
#define B_MSG_IN	0x0000f00000000000ull
#define B_MSG_OUT	0x000f000000000000ull
#define B_OPC_IN	0x00f0000000000000ull
#define B_OPC_OUT	0x0f00000000000000ull

static const struct event_info *match_event(const struct counter *c)
{
	const struct event_info *e = event_find(BOX_B, c->sel >> 1 & 0x1f, c->index);

	return e && (e->flags & EV_MATCH) ? e : NULL;
}

static bool is_out(const struct event_info *e)
{
	return e->flags & EV_OUT;
}

/* What an event compares. */
static uint64_t fields(const struct event_info *e)
{
	bool all = reading(RD_B_MATCH_PARTS) == RD_B_MATCH_PARTS_ALL;
	bool out = is_out(e);
	uint64_t bits = 0;

	if (all || (e->flags & EV_CLASS))
		bits |= out ? B_MSG_OUT : B_MSG_IN;
	if (all || (e->flags & EV_OPCODE))
		bits |= out ? B_OPC_OUT : B_OPC_IN;
	if (all || (e->flags & EV_ADDRESS))
		bits |= B_ADDR;
	return bits;
}

uint64_t b_uses(const struct counter *c, const struct reg_info *r)
{
	const struct event_info *e = match_event(c);

	return e ? fields(e) : 0;
}

unsigned int b_packet(const struct counter *c, const struct packet *pkt)
{
	const struct event_info *e = match_event(c);
	const struct box *b = c->box;
	uint64_t is, mask;

	if (!e || pkt->inst != b->inst || pkt->out != is_out(e))
		return 0;
	is = (pkt->addr >> 6 & B_ADDR) |
	     (uint64_t)pkt->mc << 44 | (uint64_t)pkt->mc << 48 |
	     (uint64_t)(pkt->opcode & 0xf) << 52 | (uint64_t)(pkt->opcode & 0xf) << 56;
	mask = box_reg(b, ROLE_MASK, 0, 0);
	if (reading(RD_B_MASK) == RD_B_MASK_IGNORE)
		mask = ~mask;
	return !((is ^ box_reg(b, ROLE_MATCH, 0, 0)) & mask & fields(e));
}

void select_b(struct counter *c, struct selection *sel, CPUState *cs)
{
	const struct event_info *e = select_event(c, c->sel >> 1 & 0x1f, 0, sel, cs);

	if (reading(RD_B_OCCUPANCY) == RD_B_OCCUPANCY_RAW)
		sel->div = 1;
	if (e && (e->flags & EV_MATCH))
		packet_pattern(c, c->box->inst, is_out(e), &sel->pattern);
}
