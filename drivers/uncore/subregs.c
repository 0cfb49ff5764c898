// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sub-registers that several counters of a box share: which value goes where.
 *
 * claims.c has decided who uses which slot. A register is written only when its
 * value changes, so an event that shares a slot costs nothing. Contents nobody uses
 * any more stay until somebody needs the register or the module goes.
 */
#include <asm/msr.h>

#include "uncore.h"

/*
 * A register holds the bits of every slot that lives in it. Slots nobody uses keep
 * theirs: an event that comes back finds them, and no counter looks at them.
 */
static u64 uncore_subreg_val(const struct uncore_box *box, unsigned int reg)
{
	const struct uncore_slot_desc *desc = box->type->subregs->slots;
	u64 val = 0;
	unsigned int i;

	for (i = 0; i < box->type->subregs->num_slots; i++, desc++) {
		unsigned int word = reg - desc->reg;

		if (word < desc->num_regs)
			val |= box->claims.slot[i].val[word] << desc->shift;
	}
	return val;
}

static bool uncore_subreg_is(const struct uncore_box *box, unsigned int reg, u64 val)
{
	return test_bit(reg, box->subregs_known) && box->subreg[reg] == val;
}

static void uncore_subreg_set(struct uncore_box *box, unsigned int reg, u64 val)
{
	if (uncore_subreg_is(box, reg, val))
		return;
	wrmsrl(box->type->subregs->msr(box->instance, reg), val);
	box->subreg[reg] = val;
	__set_bit(reg, box->subregs_known);
	__set_bit(reg, box->subregs_touched);
}

static void uncore_slot_write(struct uncore_box *box, const struct uncore_slot_desc *desc)
{
	unsigned int end = desc->reg + desc->num_regs, reg;

	/* Nothing to guard: what is switched off has no effect. */
	if (desc->guarded && !uncore_subreg_val(box, desc->reg))
		end = desc->reg + 1;
	/* Off only if what it guards is about to change. */
	for (reg = desc->reg + 1; desc->guarded && reg < end; reg++) {
		if (!uncore_subreg_is(box, reg, uncore_subreg_val(box, reg))) {
			uncore_subreg_set(box, desc->reg, 0);
			break;
		}
	}
	for (reg = end; reg-- > desc->reg;)
		uncore_subreg_set(box, reg, uncore_subreg_val(box, reg));
}

/**
 * uncore_subregs_write() - set the sub-registers an event has claimed
 * @box: the box
 * @ue: the event; its counter is not enabled
 */
void uncore_subregs_write(struct uncore_box *box, const struct uncore_event *ue)
{
	unsigned int i;

	for (i = 0; i < ue->cfg.claim.num_reqs; i++) {
		const struct uncore_req *req = &ue->cfg.claim.req[i];

		uncore_slot_write(box, &box->type->subregs->slots[req->first + req->chosen]);
	}
}

/**
 * uncore_subregs_probe() - can all sub-registers be read?
 * @box: the box
 *
 * Remembers them for uncore_subregs_restore().
 */
bool uncore_subregs_probe(struct uncore_box *box)
{
	const struct uncore_subregs *subregs = box->type->subregs;
	unsigned int reg;

	for (reg = 0; subregs && reg < subregs->num_regs; reg++) {
		if (rdmsrl_safe(subregs->msr(box->instance, reg), &box->saved_subreg[reg]))
			return false;
	}
	return true;
}

/**
 * uncore_subregs_restore() - leave the sub-registers as they were found
 * @box: a box without events
 */
void uncore_subregs_restore(struct uncore_box *box)
{
	unsigned int i, reg;

	for (i = 0; box->type->subregs && i < box->type->subregs->num_slots; i++) {
		const struct uncore_slot_desc *desc = &box->type->subregs->slots[i];

		if (!test_bit(desc->reg, box->subregs_touched))
			continue;
		if (desc->guarded)
			uncore_subreg_set(box, desc->reg, 0);
		for (reg = desc->reg + desc->num_regs; reg-- > desc->reg;)
			uncore_subreg_set(box, reg, box->saved_subreg[reg]);
	}
	bitmap_zero(box->subregs_known, UNCORE_MAX_SUBREGS);
	bitmap_zero(box->subregs_touched, UNCORE_MAX_SUBREGS);
}
