// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An overflow on its way up: STATUS of the box, summary of the S-Box, STATUS of the U-Box, PMI;
 * and down again, when software clears it.
 *
 * Choices where the guide leaves one open:
 * - [summary_clear] A summary bit in the U-Box goes up with an overflow below it, and
 *   down either through U OVF_CTL or when the last STATUS bit below is cleared.
 * - [cbox_sides] Westmere-EX: S-Box 0 has C-Boxes 0 to 4, S-Box 1 has 5 to 9, as the
 *   names of its unit mask bits say; the fifth of a side has summary bit 1.
 * - [wex_core_sel] pmi_core_sel has eight bits there, too.
 * - [cond] goes up when hardware clears en_all.
 * - [pmi_while_ov] A PMI goes out when a STATUS bit goes up, not when it is up already.
 * - [refreeze] While the STATUS bit that caused the last freeze is up, no freeze happens
 *   in the package, whatever overflows.
 */
#include "uncore.h"

/* SYN_UNCOUNTED */
bool counter_uncounted(const struct counter *c)
{
	uint64_t sel = c->box->pkg->uncounted;

	return sel && (c->sel & ~(c->en | c->pmi_en | SYN_UNCOUNTED_ANY)) == sel;
}

/* C-Boxes of an S-Box, in a row, and which summary bit each of them has. */
static unsigned int side_of(const struct box *b)
{
	if (b->kind != BOX_C)
		return b->inst;
	if (b->pkg->kind == KIND_XEON7500)
		return b->inst / 4;
	if (reading(RD_CBOX_SIDES) == RD_CBOX_SIDES_BY_EIGHT)
		return b->inst < 8 ? b->inst / 4 : b->inst - 8;
	return b->inst / 5;
}

static unsigned int summary_bit(const struct box *b)
{
	static const uint8_t of_four[] = { 2, 2, 0, 0 }, of_five[] = { 2, 2, 0, 0, 1 };

	if (b->pkg->kind == KIND_XEON7500)
		return of_four[b->inst % 4];
	if (reading(RD_CBOX_SIDES) == RD_CBOX_SIDES_BY_EIGHT)
		return b->inst < 8 ? of_four[b->inst % 4] : 2;
	return of_five[b->inst % 5];
}

uint64_t overflow_summary(const struct package *p, unsigned int side)
{
	uint64_t v = 0;

	if (p->box[BOX_R][side].status)
		v |= 1u << 19;
	if (p->box[BOX_S][side].status)
		v |= 1u << 18;
	if (p->box[BOX_M][side].status || p->box[BOX_B][side].status)
		v |= 1u << 16;
	for (unsigned int i = 0; i < box_types[BOX_C].instances; i++) {
		const struct box *b = &p->box[BOX_C][i];

		if (b->status && side_of(b) == side)
			v |= 1u << summary_bit(b);
	}
	return v;
}

static uint64_t u_bit(const struct box *b)
{
	switch (b->kind) {
	case BOX_U:
		return U_OV_U;
	case BOX_W:
		return U_OV_W;
	default:
		return side_of(b) ? U_OV_S1 : U_OV_S0;
	}
}

void overflow_clear(struct box *b, uint64_t bits)
{
	struct package *p = b->pkg;
	struct counter *cause = p->freeze_cause;

	b->status &= ~bits;
	if (cause && cause->box == b && !(b->status >> cause->status_bit & 1))
		p->freeze_cause = NULL;
	for (unsigned int i = 0; i < b->type->counters; i++) {
		struct counter *c = b->counter[i];

		if (c->c.stopped && (bits >> c->status_bit & 1)) {
			c->c.stopped = false;
			counter_predict(c);
		}
	}
	if (reading(RD_SUMMARY_CLEAR) == RD_SUMMARY_CLEAR_LATCH)
		return;
	if (b->kind == BOX_W) {
		if (!b->status)
			p->u_status &= ~U_OV_W;
	} else if (b->kind != BOX_U && !overflow_summary(p, side_of(b))) {
		p->u_status &= ~u_bit(b);
	}
}

/* The control register asks for a PMI, and there is one. */
bool counter_pmi_enabled(const struct counter *c)
{
	return (c->sel & c->pmi_en) && !(c->box->type->no_pmi && c->box->type->no_pmi(c));
}

/* May an overflow of this counter freeze, as far as the last cause is concerned? */
static bool may_freeze(const struct package *p, const struct counter *c)
{
	if (!p->freeze_cause)
		return true;
	return reading(RD_REFREEZE) == RD_REFREEZE_COUNTER && p->freeze_cause != c &&
	       p->freeze_at == CF_NEVER;
}

void counter_overflow(struct counter *c, uint64_t times)
{
	struct box *b = c->box;
	struct package *p = b->pkg;
	bool pmi_en = counter_pmi_enabled(c);
	bool counted = !counter_uncounted(c);
	bool was_set = b->status >> c->status_bit & 1;
	bool no_edge = reading(RD_SUMMARY_CLEAR) == RD_SUMMARY_CLEAR_OR &&
		       (p->u_status & u_bit(b) & U_OV_BELOW);

	if (counted)
		c->stat.overflows += times;
	b->status |= 1ull << c->status_bit;
	p->u_status |= u_bit(b);
	if (reading(RD_COND) == RD_COND_OVERFLOW)
		p->u_status |= U_COND;
	if (was_set) {
		c->stat.skipped += counted;
		if (pmi_en && counted)
			apic_count(p->id, SYN_PMI_SKIPPED);
		if (reading(RD_PMI_WHILE_OV) == RD_PMI_WHILE_OV_NONE)
			return;
	}
	if (!pmi_en)
		return;
	if (no_edge) {
		apic_count(p->id, SYN_PMI_NO_EDGE);
		return;
	}
	p->u_status |= U_PMI;
	if (counted)
		apic_count(p->id, SYN_PMI_REQUESTED);
	if (p->u_ctl & U_FRZ_ALL) {
		if (may_freeze(p, c)) {
			p->freeze_cause = c;
			p->freeze_at = p->now + p->freeze_latency;
		} else if (p->freeze_at == CF_NEVER) {
			apic_count(p->id, SYN_PMI_REFREEZE);
		}
	}
	if (U_CORE_SEL(p->u_ctl) || reading(RD_PMI_MASK_0) == RD_PMI_MASK_0_IGNORED)
		apic_uncore_pmi(p->id, U_CORE_SEL(p->u_ctl));
}

void overflow_clear_u(struct package *p, uint64_t val)
{
	unsigned int clear = reading(RD_SUMMARY_CLEAR);

	p->u_status &= ~(clear == RD_SUMMARY_CLEAR_OR ? val & ~U_OV_BELOW : val);
	if (val & U_OV_U)
		overflow_clear(&p->box[BOX_U][0], 1);
	if (clear != RD_SUMMARY_CLEAR_DOWN)
		return;
	for (unsigned int k = 0; k < BOX_KINDS; k++) {
		for (unsigned int i = 0; i < box_types[k].instances; i++) {
			struct box *b = &p->box[k][i];

			if (b->status && (val & u_bit(b) & U_OV_BELOW))
				overflow_clear(b, b->status);
		}
	}
}
