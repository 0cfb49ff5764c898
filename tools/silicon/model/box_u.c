// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * U-Box: one counter, edge detection but no unit mask and no threshold. Four
 * events have nine-bit codes; ev_sel has eight bits, and the codes are told
 * apart by those.
 */
#include "uncore.h"

void select_u(struct counter *c, struct selection *sel, CPUState *cs)
{
	select_event(c, c->sel & 0xff, 0, sel, cs);
	sel->shape.edge = c->sel >> 18 & 1;
}
