// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * C-Box: six alike counters. The occupancy sub-counters run from reset, so
 * occupancy is an ordinary event here.
 */
#include "uncore.h"

void select_c(struct counter *c, struct selection *sel, CPUState *cs)
{
	select_shape(c, select_event(c, c->sel & 0xff, c->sel >> 8 & 0xff, sel, cs), sel, cs);
}
