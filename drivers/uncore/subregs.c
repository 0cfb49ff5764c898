// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shared registers of a box: which value goes where.
 *
 * claims.c has decided who uses which slot. A register is written only when its value
 * changes, so an event that shares a slot costs nothing. Values that no event
 * uses any more stay until an event needs the register. Once the package is idle, other programs
 * may change it.
 *
 * Much of our knowledge of these registers is inferred, so all writes use wrmsrq_safe().
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <asm/msr.h>

#include "compat.h"
#include "uncore.h"

static unsigned int uncore_subreg_msr(const struct uncore_box *box, unsigned int reg)
{
	return box->type->subregs->msr(box->instance, reg);
}

/*
 * A register has the bits of all its slots. Unused slots keep their bits: an event that is added
 * again finds them, and no counter uses them.
 */
static u64 uncore_subreg_val(const struct uncore_box *box, unsigned int reg)
{
	const struct uncore_subregs *subregs = box->type->subregs;
	u64 val = 0;
	unsigned int i;

	for (i = 0; i < subregs->num_slots; i++) {
		const struct uncore_slot_desc *desc = &subregs->slots[i];
		unsigned int word = reg - desc->reg;

		if (word < desc->num_regs)
			val |= box->claims.slot[i].val[word] << desc->shift;
	}
	return val;
}

static bool uncore_subreg_is(const struct uncore_box *box, unsigned int reg, u64 val)
{
	return test_bit(reg, box->subregs.known) && box->subregs.val[reg] == val;
}

static int uncore_subreg_set(struct uncore_box *box, unsigned int reg, u64 val)
{
	struct uncore_subreg_state *s = &box->subregs;

	if (uncore_subreg_is(box, reg, val))
		return 0;
	if (wrmsrq_safe(uncore_subreg_msr(box, reg), val)) {
		pr_warn_once("%s %u: register %#x does not take %#llx\n", box->type->name,
			     box->instance, uncore_subreg_msr(box, reg), val);
		return -EIO;
	}
	s->val[reg] = val;
	__set_bit(reg, s->known);
	return 0;
}

static int uncore_slot_write(struct uncore_box *box, const struct uncore_slot_desc *desc)
{
	unsigned int end = desc->reg + desc->num_regs, reg;
	int err = 0;

	/* Nothing to guard: a guard that is off has no effect. */
	if (desc->guarded && !uncore_subreg_val(box, desc->reg))
		end = desc->reg + 1;
	/* Off only if what it guards is about to change. */
	for (reg = desc->reg + 1; desc->guarded && reg < end; reg++) {
		if (!uncore_subreg_is(box, reg, uncore_subreg_val(box, reg))) {
			err = uncore_subreg_set(box, desc->reg, 0);
			break;
		}
	}
	for (reg = end; !err && reg-- > desc->reg;)
		err = uncore_subreg_set(box, reg, uncore_subreg_val(box, reg));
	return err;
}

/**
 * uncore_subregs_write() - set the registers an event has claimed
 * @box: the box, its package locked
 * @config: of the event; its counter is not enabled
 *
 * Return: 0, or -EIO if one does not take its value.
 */
int uncore_subregs_write(struct uncore_box *box, const struct uncore_config *config)
{
	const struct uncore_claim *claim = &config->claim;
	unsigned int i;
	int err = 0;

	for (i = 0; i < claim->num_reqs && !err; i++) {
		const struct uncore_req *req = &claim->req[i];

		err = uncore_slot_write(box, &box->type->subregs->slots[req->first + req->chosen]);
	}
	return err;
}

/**
 * uncore_subregs_probe() - find out which registers can be read
 * @box: the box, on a package of this CPU
 *
 * The addresses of many are inferred; reading changes nothing.
 */
void uncore_subregs_probe(struct uncore_box *box)
{
	const struct uncore_subregs *subregs = box->type->subregs;
	unsigned int reg;
	u64 val;

	for (reg = 0; subregs && reg < subregs->num_regs; reg++) {
		if (rdmsrq_safe(uncore_subreg_msr(box, reg), &val))
			__set_bit(reg, box->subregs.bad);
	}
}

/**
 * uncore_subregs_usable() - are all registers there that may serve an event?
 * @box: the box
 * @config: of the event
 */
bool uncore_subregs_usable(const struct uncore_box *box, const struct uncore_config *config)
{
	unsigned int i, slot, reg;

	for (i = 0; i < config->claim.num_reqs; i++) {
		const struct uncore_req *req = &config->claim.req[i];

		for (slot = req->first; slot < req->first + req->num; slot++) {
			const struct uncore_slot_desc *desc = &box->type->subregs->slots[slot];

			for (reg = desc->reg; reg < desc->reg + desc->num_regs; reg++) {
				if (test_bit(reg, box->subregs.bad))
					return false;
			}
		}
	}
	return true;
}

/**
 * uncore_subregs_release() - leave the shared registers to other programs
 * @box: the box, without events
 *
 * Switch guards off, because they lock the registers behind them.
 */
void uncore_subregs_release(struct uncore_box *box)
{
	const struct uncore_subregs *subregs = box->type->subregs;
	struct uncore_subreg_state *s = &box->subregs;
	unsigned int i;

	if (bitmap_empty(s->known, UNCORE_MAX_SUBREGS))
		return;
	for (i = 0; i < subregs->num_slots; i++) {
		const struct uncore_slot_desc *desc = &subregs->slots[i];

		if (desc->guarded && test_bit(desc->reg, s->known))
			uncore_subreg_set(box, desc->reg, 0);
	}
	bitmap_zero(s->known, UNCORE_MAX_SUBREGS);
}
