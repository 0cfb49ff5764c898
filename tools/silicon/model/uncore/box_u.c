// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * U-Box: one counter, edge detection but no unit mask and no threshold. Four
 * events have nine-bit codes; ev_sel has eight bits, and the codes are told
 * apart by those [u_codes].
 */
#include "uncore.h"

/* The codes are 0x1DF and 0x1E4 to 0x1E6. */
static unsigned int ninth_bit(unsigned int code)
{
	return code == 0xdf || (code >= 0xe4 && code <= 0xe6) ? U_NINTH_BIT : 0;
}

void select_u(struct counter *c, struct selection *sel, CPUState *cs)
{
	unsigned int code = c->sel & 0xff;

	/* No event for the other value of the ninth bit. */
	if (reading(RD_U_CODES) == RD_U_CODES_NINE && (c->sel & U_NINTH_BIT) != ninth_bit(code))
		code = 0xff;
	select_event(c, code, 0, sel, cs);
	sel->shape.edge = c->sel >> 18 & 1;
}
