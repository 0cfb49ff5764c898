// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * S-Box: four alike counters, each with a 7-bit tally that follows the queue
 * of an occupancy event and is added every cycle. The tally keeps what it held
 * when its counter stopped. Software has to set reset_occ_cnt in the write
 * that enables the counter; otherwise the left-over is added every cycle
 * [s_no_reset] (it is taken to be at least 1, so that the slip always shows in the count).
 * reset_occ_cnt reads back as written; it acts when written. What it does to a queue that has
 * entries is open [s_reset_full]. The tally follows its queue also while nothing counts
 * [s_tally_gate].
 *
 * TO_R_PROG_EV counts outgoing packets by MATCH and MASK while MM_CFG bit 63
 * is 1; in that time the two cannot be written (#GP). The layout of MATCH is
 * the model's own, see synthetic.h and [s_match]. Codes 0x2B to 0x2E: [s_codes].
 */
#include "uncore.h"

#define S_MM_EN		(1ull << 63)

/* Where the fields of MATCH are, by reading. */
static const struct {
	uint8_t addr, hnid, class, opcode, resp;
} layouts[] = {
	[RD_S_MATCH_ADDR_LOW] = { .addr = 0, .hnid = 38, .class = 43, .opcode = 48, .resp = 59 },
	[RD_S_MATCH_CLASS_LOW] = { .class = 0, .opcode = 5, .resp = 10, .addr = 14, .hnid = 52 },
};

/* By the detail list of the guide, in whose order the events are here. */
static unsigned int code_of(const struct counter *c)
{
	static const uint8_t of_table[] = { 0x2c, 0x2e, 0x2b, 0x2d };
	unsigned int code = c->sel & 0xff;

	if (reading(RD_S_CODES) == RD_S_CODES_TABLE && c->box->pkg->kind == KIND_XEON7500 &&
	    code >= 0x2b && code <= 0x2e)
		return of_table[code - 0x2b];
	return code;
}

static const struct event_info *occupancy(const struct counter *c)
{
	const struct event_info *e = event_find(BOX_S, code_of(c), c->index);

	return e && (e->flags & EV_TALLY) ? e : NULL;
}

/* The counter stops: what does its tally hold? */
void s_leave(struct counter *c, uint64_t cycle)
{
	if (c->series && occupancy(c))
		c->tally = series_count(c->series, cycle, cycle + 1) & 0x7f;
}

bool s_quiet_write(struct counter *c)
{
	bool other = c->tally_stale || reading(RD_S_RESET_FULL) != RD_S_RESET_FULL_TRUE;

	if (!(c->sel & S_RESET_OCC))
		return false;
	c->tally_stale = false;
	c->tally_cleared = c->box->pkg->now;
	return other;
}

/*
 * By how much a tally that was cleared to 0 is less than its queue. One that sticks at 0 has
 * caught up when the queue is at its shortest; the model leaves out the time until then.
 */
static unsigned int tally_short(const struct counter *c, const struct pattern *queue)
{
	unsigned int last = (1u << queue->log2) - 1, least = queue->inc[c->tally_cleared & last];

	if (reading(RD_S_RESET_FULL) == RD_S_RESET_FULL_FROM_ZERO_STICKS) {
		for (unsigned int i = 0; i <= last; i++)
			least = MIN(least, queue->inc[i]);
	}
	return least;
}

enum msr_rc s_guard(struct box *b, const struct reg_info *r, CPUState *cs)
{
	if (r->role == ROLE_MM_CFG || !(box_reg(b, ROLE_MM_CFG, 0, 0) & S_MM_EN))
		return MSR_OK;
	silicon_violation(VIOL_LOCKED, cs, "%s written while matching is on", r->name);
	return MSR_GP;
}

unsigned int s_packet(const struct counter *c, const struct packet *pkt)
{
	uint64_t match = c->match.value, mask = c->match.mask;
	unsigned int l = reading(RD_S_MATCH);

	if (!c->match.on || pkt->inst != c->box->inst)
		return 0;
	/* MASK: 38:1 ignore that bit of address 43:6, 0 ignore the home node. */
	if (((pkt->addr >> 6 ^ match >> layouts[l].addr) & ~(mask >> 1)) & ((1ull << 38) - 1))
		return 0;
	if (!(mask & 1) && (match >> layouts[l].hnid & 0x1f) != pkt->hnid)
		return 0;
	/* No mask for these: a zero field matches anything. */
	if ((match >> (layouts[l].class + 4) & 1) && (match >> layouts[l].class & 0xf) != pkt->mc)
		return 0;
	if ((match >> (layouts[l].opcode + 4) & 1) &&
	    (match >> layouts[l].opcode & 0xf) != pkt->opcode)
		return 0;
	if ((match >> layouts[l].resp & 0xf) && !(match >> layouts[l].resp & pkt->rds))
		return 0;
	return 1;
}

void select_s(struct counter *c, struct selection *sel, CPUState *cs)
{
	const struct event_info *e = select_event(c, code_of(c), c->sel >> 8 & 0xff, sel, cs);

	select_shape(c, e, sel, cs);
	if (!e)
		return;
	if (e->flags & EV_MATCH) {
		c->match.on = counter_reg(c, ROLE_MM_CFG, 0, 0, S_MM_EN);
		c->match.value = counter_reg(c, ROLE_MATCH, 0, 0, UINT64_MAX);
		c->match.mask = counter_reg(c, ROLE_MASK, 0, 0, UINT64_MAX);
		packet_pattern(c, c->box->inst, e->flags & EV_OUT, &sel->pattern);
	}
	if (!(e->flags & EV_TALLY))
		return;
	/* cs is set when this is the enabling write, the only one that counts. */
	if (cs) {
		c->tally_stale = !(c->sel & S_RESET_OCC);
		c->tally_cleared = c->box->pkg->now;
		if (c->tally_stale) {
			c->tally = MAX(c->tally, 1);
			silicon_violation(VIOL_OCCUPANCY, cs, "%s = %#" PRIx64
					  ": %s enabled without reset_occ_cnt",
					  c->sel_reg->name, c->sel, e->name);
		}
	}
	if (c->tally_stale) {
		sel->tally = c->tally;
	} else if (reading(RD_S_RESET_FULL) != RD_S_RESET_FULL_TRUE) {
		sel->tally = -tally_short(c, &sel->pattern) & 0x7f;
		sel->once = true;
	}
}
