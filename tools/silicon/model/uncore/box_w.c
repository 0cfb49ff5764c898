// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * W-Box: four counters and the fixed counter of uncore clock cycles. The
 * fixed counter's pmi_en is taken to be bit 2 of its control register, where
 * MSR 0x395 has it on the Xeon 5500; no source gives it for this part [w_fixed_pmi].
 */
#include "uncore.h"

#define W_FIXED		4	/* counter number of the fixed counter */
#define W_FIXED_BIT	31	/* of it, in enables and status */

void w_init(struct counter *c)
{
	if (c->index != W_FIXED)
		return;
	c->en = 1u << 0;
	c->pmi_en = 1u << 2;
	c->status_bit = W_FIXED_BIT;
}

bool w_no_pmi(const struct counter *c)
{
	return c->index == W_FIXED && reading(RD_W_FIXED_PMI) == RD_W_FIXED_PMI_NONE;
}

/* [w_erratum] A read whose low 24 bits should be 0 or 1 comes out 0x1000000 too high. */
uint64_t w_read(const struct counter *c, uint64_t value)
{
	bool fixed = c->index == W_FIXED;

	if ((value & 0xffffff) > 1 || reading(RD_W_ERRATUM) == RD_W_ERRATUM_NONE ||
	    reading(RD_W_ERRATUM_WHICH) == (fixed ? RD_W_ERRATUM_WHICH_EVENTS :
						    RD_W_ERRATUM_WHICH_FIXED))
		return value;
	if (reading(RD_W_ERRATUM) == RD_W_ERRATUM_COUNTED && value == c->written)
		return value;
	return (value + 0x1000000) & CF_MASK48;
}

void w_write(const struct counter *c, uint64_t value, CPUState *cs)
{
	if ((value & 0xffffff) >= 0xfffffe)
		silicon_violation(VIOL_START_VALUE, cs, "%s start value %#" PRIx64,
				  c->ctr_reg->name, value);
}

void select_w(struct counter *c, struct selection *sel, CPUState *cs)
{
	if (c->index == W_FIXED) {
		sel->pattern.inc[0] = 1;
		return;
	}
	select_shape(c, select_event(c, c->sel & 0xff, c->sel >> 8 & 0xff, sel, cs), sel, cs);
}
