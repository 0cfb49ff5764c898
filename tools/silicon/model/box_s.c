// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * S-Box: four alike counters, each with a 7-bit tally that follows the queue
 * of an occupancy event and is added every cycle. The tally keeps what it held
 * when its counter stopped. Software has to set reset_occ_cnt in the write
 * that enables the counter; otherwise the left-over is added every cycle (it
 * is taken to be at least 1, so that the slip always shows in the count).
 * reset_occ_cnt reads back as written; it acts when written.
 *
 * TO_R_PROG_EV counts outgoing packets by MATCH and MASK while MM_CFG bit 63
 * is 1; in that time the two cannot be written (#GP). The layout of MATCH is
 * the model's own, see synthetic.h.
 */
#include "uncore.h"

#define S_PROG_EV	0x00
#define S_MM_EN		(1ull << 63)

static const struct event_info *occupancy(const struct counter *c)
{
	const struct event_info *e = event_find(BOX_S, c->sel & 0xff, c->index);

	return e && (e->flags & EV_TALLY) ? e : NULL;
}

/* The counter stops: what does its tally hold? */
void s_tally_leave(struct counter *c, uint64_t cycle)
{
	if (c->series && occupancy(c))
		c->tally = series_count(c->series, cycle, cycle + 1) & 0x7f;
}

enum msr_rc s_guard(struct box *b, const struct reg_info *r, CPUState *cs)
{
	if (r->role == ROLE_MM_CFG || !(box_reg(b, ROLE_MM_CFG, 0, 0) & S_MM_EN))
		return MSR_OK;
	silicon_violation(VIOL_LOCKED, cs, "%s written while matching is on", r->name);
	return MSR_GP;
}

uint64_t s_uses(const struct counter *c, const struct reg_info *r)
{
	return (c->sel & 0xff) == S_PROG_EV ? UINT64_MAX : 0;
}

unsigned int s_packet(const struct counter *c, const struct packet *pkt)
{
	const struct box *b = c->box;
	uint64_t match, mask;

	if ((c->sel & 0xff) != S_PROG_EV || pkt->inst != b->inst ||
	    !(box_reg(b, ROLE_MM_CFG, 0, 0) & S_MM_EN))
		return 0;
	match = box_reg(b, ROLE_MATCH, 0, 0);
	mask = box_reg(b, ROLE_MASK, 0, 0);
	/* MASK: 38:1 ignore that bit of address 43:6, 0 ignore the home node. */
	if (((pkt->addr >> 6 ^ match) & ~(mask >> 1)) & ((1ull << 38) - 1))
		return 0;
	if (!(mask & 1) && (match >> 38 & 0x1f) != pkt->hnid)
		return 0;
	/* No mask for these: a zero field matches anything. */
	if ((match >> 47 & 1) && (match >> 43 & 0xf) != pkt->mc)
		return 0;
	if ((match >> 52 & 1) && (match >> 48 & 0xf) != pkt->opcode)
		return 0;
	if ((match >> 59 & 0xf) && !(match >> 59 & pkt->rds))
		return 0;
	return 1;
}

void select_s(struct counter *c, struct selection *sel, CPUState *cs)
{
	const struct event_info *e = select_event(c, c->sel & 0xff, c->sel >> 8 & 0xff, sel, cs);

	select_shape(c, sel);
	if (!e)
		return;
	if (e->flags & EV_MATCH)
		packet_pattern(c, c->box->inst, true, &sel->pattern);
	if (!(e->flags & EV_TALLY))
		return;
	/* cs is set when this is the enabling write, the only one that counts. */
	if (cs) {
		c->tally_stale = !(c->sel & S_RESET_OCC);
		if (c->tally_stale) {
			c->tally = MAX(c->tally, 1);
			silicon_violation(VIOL_OCCUPANCY, cs, "%s = %#" PRIx64
					  ": %s enabled without reset_occ_cnt",
					  c->sel_reg->name, c->sel, e->name);
		}
	}
	if (c->tally_stale)
		sel->tally = c->tally;
}
