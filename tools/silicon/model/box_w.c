// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * W-Box: four counters and the fixed counter of uncore clock cycles. The
 * fixed counter's pmi_en is taken to be bit 2 of its control register, where
 * MSR 0x395 has it on the Xeon 5500; no source gives it for this part [w_fixed_pmi].
 */
#include "uncore.h"

void select_w(struct counter *c, struct selection *sel, CPUState *cs)
{
	if (c->index == W_FIXED) {
		sel->pattern.inc[0] = 1;
		return;
	}
	select_event(c, c->sel & 0xff, c->sel >> 8 & 0xff, sel, cs);
	select_shape(c, sel);
}
