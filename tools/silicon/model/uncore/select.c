// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From the fields that most control registers share to a pattern.
 *
 * Unit mask bits of one event add up. Where the guide gives the event fewer
 * increments per cycle than it has bits, most bits name cases of one thing (the
 * states a line was missed in), and their default patterns take turns, so that
 * the mask of all bits counts the sum of its parts and still keeps the limit.
 * Others are independent (EV_ANY: cores [w_any], directions of a ring): the limit then
 * makes of several bits the cycles in which any of them is.
 */
#include "uncore.h"

void select_part(const struct view *v, unsigned int inst, const struct traffic_key *key,
		 unsigned int limit, unsigned int sharers, unsigned int turn,
		 struct pattern *out)
{
	if (!v || v->shows == SHOWS_NONE)
		traffic_pattern(key, limit, sharers, turn, out);
	else if (!traffic_planted(key, limit, out))
		activity_pattern(key->pkg, inst, v, out);
}

const struct event_info *select_event(struct counter *c, unsigned int code, unsigned int umask,
				      struct selection *sel, CPUState *cs)
{
	const struct event_info *e = event_find(c->box->kind, code, c->index);
	struct traffic_key key = {
		.pkg = c->box->pkg,
		.box = c->box->kind,
		.inst = c->box->inst,
		.code = c->box->kind == BOX_B ? c->index << 8 | code : code,
		.bit = NO_BIT,
	};
	g_autofree struct pattern *part = NULL;
	unsigned int n, turn = 0, sharers;

	if (!e) {
		bool elsewhere = false;

		for (unsigned int i = 0; i < c->box->type->counters; i++)
			elsewhere |= event_find(c->box->kind, code, i) != NULL;
		silicon_violation(elsewhere ? VIOL_COUNTER : VIOL_EV_SEL, cs,
				  "%s = %#" PRIx64 ": no event 0x%x%s", c->sel_reg->name, c->sel,
				  code, elsewhere ? " on this counter" : "");
		return NULL;
	}
	if (umask & ~e->umask)
		silicon_violation(VIOL_UMASK, cs, "%s = %#" PRIx64 ": %s has no mask bits 0x%x",
				  c->sel_reg->name, c->sel, e->name, umask & ~e->umask);
	if ((e->flags & EV_ONE_BIT) && (umask & (umask - 1)))
		silicon_violation(VIOL_UNDEFINED, cs, "%s = %#" PRIx64
				  ": %s with several mask bits", c->sel_reg->name, c->sel, e->name);
	if ((e->flags & EV_ONE_BIT) && reading(RD_TO_R_FULL) != RD_TO_R_FULL_ANY &&
	    (umask & (umask - 1)))
		umask &= reading(RD_TO_R_FULL) == RD_TO_R_FULL_FIRST ? -umask : 0;
	sel->div = e->div;
	if (e->flags & EV_MATCH)
		return e;
	if (!e->umask) {
		select_part(&e->view[0], key.inst, &key, e->limit[0], 1, 0, &sel->pattern);
		return e;
	}
	if (umask == e->umask && e->view[8].shows != SHOWS_NONE) {
		select_part(&e->view[8], key.inst, &key, e->cap, 1, 0, &sel->pattern);
		return e;
	}
	part = g_new(struct pattern, 1);
	n = ctpop8(e->umask);
	sharers = e->flags & EV_ANY ? 1 : DIV_ROUND_UP(n, e->cap);
	for (unsigned int bit = 0; bit < 8; bit++) {
		if (!(e->umask >> bit & 1))
			continue;
		if (umask >> bit & 1) {
			key.bit = bit;
			select_part(&e->view[bit], key.inst, &key, e->limit[bit], sharers,
				    turn % sharers, part);
			pattern_add(&sel->pattern, part);
		}
		turn++;
	}
	pattern_cap(&sel->pattern, e->cap);
	return e;
}

/* The most that the chosen parts can add in a cycle. */
static unsigned int most(const struct event_info *e, uint8_t umask)
{
	unsigned int sum = e->umask ? 0 : e->limit[0];

	for (unsigned int bit = 0; bit < 8; bit++)
		sum += e->umask & umask & 1u << bit ? e->limit[bit] : 0;
	return MIN(sum, e->cap);
}

void select_shape(struct counter *c, const struct event_info *e, struct selection *sel,
		  CPUState *cs)
{
	sel->shape.threshold = c->sel >> 24 & 0xff;
	sel->shape.invert = c->sel >> 23 & 1;
	sel->shape.edge = c->sel >> 18 & 1;
	/* [c_invert], [s_invert], [w_invert] */
	switch (c->box->kind) {
	case BOX_C:
		sel->shape.invert_above = reading(RD_C_INVERT) == RD_C_INVERT_ABOVE;
		break;
	case BOX_S:
		sel->shape.invert_above = reading(RD_S_INVERT) == RD_S_INVERT_ABOVE;
		sel->shape.plain_below = sel->shape.invert_above;
		break;
	case BOX_W:
		sel->shape.invert_above = reading(RD_W_INVERT) == RD_W_INVERT_ABOVE;
		sel->shape.plain_below = sel->shape.invert_above;
		break;
	default:
		break;
	}
	if (e && sel->shape.edge && !sel->shape.threshold && most(e, c->sel >> 8) > 1)
		silicon_violation(VIOL_UNDEFINED, cs, "%s = %#" PRIx64
				  ": edges of %s, which is no event of one bit",
				  c->sel_reg->name, c->sel, e->name);
}
