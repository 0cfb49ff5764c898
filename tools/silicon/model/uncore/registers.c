// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The registers, with the access rights of the spec.
 *
 * Choices where the guide leaves one open:
 * - [rst_all] clears all counters once, when it is written 1. To set en_all while it is 1
 *   would tell this from holding them and is a violation. [rst_all_start]: a value written
 *   then is taken; where it would be lost, to write it is a violation.
 * - [must_be_0] Such bits are dropped and reported; no #GP, which the guide
 *   promises for the S-Box match lock only. Access against the access class,
 *   and an address with no register, do raise #GP.
 * - [status_write] Writing STATUS does nothing.
 */
#include "uncore.h"

static enum msr_rc write_u_ctl(struct box *u, const struct reg_info *r, uint64_t val, CPUState *cs)
{
	struct package *p = u->pkg;
	uint64_t old = p->u_ctl;

	if ((val & U_RST_ALL) && (val & U_EN_ALL))
		silicon_violation(VIOL_RST_ALL, cs, "en_all set while rst_all is 1");
	if (!u_ctl_runs(val) && u_ctl_runs(old))
		package_stop(p);
	if (val & U_RST_ALL) {
		for (unsigned int i = 0; i < p->counters; i++) {
			counter_settle(&p->counter[i]);
			p->counter[i].c.value = 0;
			p->counter[i].written = 0;
			p->counter[i].c.stopped = false;
			counter_predict(&p->counter[i]);
		}
	}
	p->u_ctl = val;
	u->ctl = val & U_EN;
	counter_enable(u->counter[0]);
	if ((val & U_EN_ALL) && !(old & U_EN_ALL)) {
		if (p->frozen)
			p->frozen_cycles += p->now - p->frozen_since;
		p->frozen = false;
	}
	if (u_ctl_runs(val) && !u_ctl_runs(old))
		package_start(p);
	return MSR_OK;
}

static enum msr_rc write_status(struct box *b, const struct reg_info *r, uint64_t val,
				CPUState *cs)
{
	uint64_t *status = r->role == ROLE_U_STATUS ? &b->pkg->u_status : &b->status;
	unsigned int answer = reading(RD_STATUS_WRITE);

	if (r->access != ACC_RW || answer == RD_STATUS_WRITE_IGNORED)
		return MSR_OK;
	if (answer == RD_STATUS_WRITE_PLAIN) {
		*status |= val & r->ro;
		val = ~val;
	}
	if (r->role == ROLE_U_STATUS)
		*status &= ~val;
	else
		overflow_clear(b, val);
	return MSR_OK;
}

static enum msr_rc write_box_ctl(struct box *b, const struct reg_info *r, uint64_t val,
				 CPUState *cs)
{
	b->ctl = val;
	for (unsigned int i = 0; i < b->type->counters; i++)
		counter_enable(b->counter[i]);
	return MSR_OK;
}

static enum msr_rc write_u_ovf(struct box *b, const struct reg_info *r, uint64_t val, CPUState *cs)
{
	overflow_clear_u(b->pkg, val);
	return MSR_OK;
}

static enum msr_rc write_box_ovf(struct box *b, const struct reg_info *r, uint64_t val,
				 CPUState *cs)
{
	overflow_clear(b, val);
	return MSR_OK;
}

static enum msr_rc write_timestamp(struct box *b, const struct reg_info *r, uint64_t val,
				   CPUState *cs)
{
	b->timestamp = val - b->pkg->now;
	return MSR_OK;
}

static enum msr_rc write_sel(struct box *b, const struct reg_info *r, uint64_t val, CPUState *cs)
{
	struct counter *c = b->counter[r->index];
	const struct box_type *type = b->type;

	/* Bits that can change without a new window. */
	if (!((c->sel ^ val) & ~(c->pmi_en | type->quiet))) {
		c->sel = val;
		if (type->quiet_write && type->quiet_write(c))
			counter_reselect(c, NULL);
		return MSR_OK;
	}
	counter_stop(c);
	if (type->leave && (c->sel & c->en))
		type->leave(c, b->pkg->now);
	c->sel = val;
	counter_select(c, cs);
	counter_start(c);
	return MSR_OK;
}

static enum msr_rc write_ctr(struct box *b, const struct reg_info *r, uint64_t val, CPUState *cs)
{
	struct counter *c = b->counter[r->index];
	bool lost = (b->pkg->u_ctl & U_RST_ALL) &&
		    reading(RD_RST_ALL_START) == RD_RST_ALL_START_LOST;

	if (lost)
		silicon_violation(VIOL_RST_ALL, cs, "%s written while rst_all is 1", r->name);
	if (b->type->write)
		b->type->write(c, val, cs);
	if (lost)
		return MSR_OK;
	counter_settle(c);
	c->c.value = val;
	c->written = val;
	c->c.stopped = false;
	counter_predict(c);
	return MSR_OK;
}

static uint64_t counter_reads(const struct counter *c, unsigned int reg)
{
	uint64_t bits = 0;

	for (unsigned int i = 0; i < c->num_reads; i++) {
		if (c->reads[i].reg == reg)
			bits |= c->reads[i].bits;
	}
	return bits;
}

static enum msr_rc write_subreg(struct box *b, const struct reg_info *r, uint64_t val,
				CPUState *cs)
{
	unsigned int reg = r - reg_table;
	uint64_t changed = b->pkg->reg[reg] ^ val;
	uint64_t used = 0;

	if (b->type->guard && b->type->guard(b, r, cs) == MSR_GP)
		return MSR_GP;
	if (!changed)
		return MSR_OK;
	for (unsigned int i = 0; i < b->type->counters; i++) {
		struct counter *c = b->counter[i];

		if (!(c->sel & c->en) || !(counter_reads(c, reg) & changed))
			continue;
		counter_settle(c);
		used |= 1u << i;
		/* Switching the S-Box and M-Box match on is the documented last step. */
		if (c->c.running && !(r->role == ROLE_MM_CFG && val >> 63))
			silicon_violation(VIOL_SUBREG, cs, "%s changed while %s runs on it",
					  r->name, c->ctr_reg->name);
	}
	b->pkg->reg[reg] = val;
	b->subreg_writes++;
	for (unsigned int i = 0; i < b->type->counters; i++) {
		if (used >> i & 1)
			counter_reselect(b->counter[i], cs);
	}
	return MSR_OK;
}

static uint64_t read_ctr(struct box *b, const struct reg_info *r)
{
	struct counter *c = b->counter[r->index];

	counter_settle(c);
	return b->type->read ? b->type->read(c, c->c.value) : c->c.value;
}

#define READ(name, value) \
	static uint64_t read_##name(struct box *b, const struct reg_info *r) { return value; }

READ(sel, b->counter[r->index]->sel)
READ(u_ctl, b->pkg->u_ctl)
READ(u_status, b->pkg->u_status)
READ(box_ctl, b->ctl)
READ(box_status, b->status)
READ(summary, overflow_summary(b->pkg, b->inst))
READ(timestamp, (b->pkg->now + b->timestamp) & 0xffff)

/* What is special about a register: that of most is read as it was written, by write_subreg(). */
static const struct {
	uint64_t (*read)(struct box *b, const struct reg_info *r);
	enum msr_rc (*write)(struct box *b, const struct reg_info *r, uint64_t val, CPUState *cs);
} roles[ROLES] = {
	[ROLE_CTR] = { read_ctr, write_ctr },
	[ROLE_SEL] = { read_sel, write_sel },
	[ROLE_U_CTL] = { read_u_ctl, write_u_ctl },
	[ROLE_U_STATUS] = { read_u_status, write_status },
	[ROLE_U_OVF] = { NULL, write_u_ovf },
	[ROLE_BOX_CTL] = { read_box_ctl, write_box_ctl },
	[ROLE_BOX_STATUS] = { read_box_status, write_status },
	[ROLE_BOX_OVF] = { NULL, write_box_ovf },
	[ROLE_SUMMARY] = { read_summary, NULL },
	[ROLE_TIMESTAMP] = { read_timestamp, write_timestamp },
};

static bool absent(const struct package *p, const struct reg_info *r)
{
	return p->absent & SYN_ABSENT_BOX(r->box, r->inst);
}

/* A bit of the register is broken. */
static bool bit_gone(const struct package *p, const struct reg_info *r, uint64_t val)
{
	unsigned int bit = p->gp >> 24 & 63;

	return p->gp == SYN_GP_SET(r->msr, (uint64_t)bit) && val >> bit & 1;
}

/* #GP though the register is there. */
static bool gone(const struct package *p, const struct reg_info *r, bool write)
{
	return (absent(p, r) && !p->absent_reads_0) ||
	       p->gp == (write ? SYN_GP_WRITE(r->msr) : SYN_GP_READ(r->msr));
}

static enum msr_rc rdmsr(CPUState *cs, uint32_t msr, uint64_t *val)
{
	struct package *p = package_get(cs);
	int i = reg_find(msr);
	const struct reg_info *r = &reg_table[i];

	if (i < 0) {
		silicon_violation(VIOL_NO_REGISTER, cs, "read of 0x%x: no register", msr);
		return MSR_GP;
	}
	if (r->access == ACC_WO) {
		silicon_violation(VIOL_ACCESS, cs, "read of write-only %s", r->name);
		return MSR_GP;
	}
	if (gone(p, r, false))
		return MSR_GP;
	*val = 0;
	if (absent(p, r))
		return MSR_OK;
	package_settle(p);
	*val = roles[r->role].read ? roles[r->role].read(&p->box[r->box][r->inst], r) : p->reg[i];
	return MSR_OK;
}

/* Bits that are there by a reading only. */
static uint64_t more_bits(const struct reg_info *r)
{
	if (r->role == ROLE_U_STATUS || r->role == ROLE_BOX_STATUS)
		return ~0ull;
	return r->box == BOX_U && r->role == ROLE_SEL && reading(RD_U_CODES) == RD_U_CODES_NINE ?
	       U_NINTH_BIT : 0;
}

static enum msr_rc wrmsr(CPUState *cs, uint32_t msr, uint64_t val)
{
	struct package *p = package_get(cs);
	int i = reg_find(msr);
	const struct reg_info *r = &reg_table[i];
	enum msr_rc rc;

	if (i < 0) {
		silicon_violation(VIOL_NO_REGISTER, cs, "write of 0x%x: no register", msr);
		return MSR_GP;
	}
	if (r->access == ACC_RO) {
		silicon_violation(VIOL_ACCESS, cs, "write of read-only %s", r->name);
		return MSR_GP;
	}
	if (val & r->rsv)
		silicon_violation(VIOL_RESERVED, cs, "%s = %#" PRIx64 ": bits %#" PRIx64
				  " must be 0", r->name, val, val & r->rsv);
	if ((val & r->rsv) && reading(RD_MUST_BE_0) == RD_MUST_BE_0_GP)
		return MSR_GP;
	if (val & r->ro)
		silicon_violation(VIOL_READ_ONLY, cs, "%s = %#" PRIx64 ": bits %#" PRIx64
				  " are read-only", r->name, val, val & r->ro);
	val &= r->rw | r->w1c | more_bits(r);
	if (gone(p, r, true) || bit_gone(p, r, val))
		return MSR_GP;
	if (absent(p, r))
		return MSR_OK;
	package_settle(p);
	rc = (roles[r->role].write ?: write_subreg)(&p->box[r->box][r->inst], r, val, cs);
	package_schedule(p);
	return rc;
}

static bool owns(CPUState *cs, uint32_t msr)
{
	return reg_address(msr) && kind_is_ex(silicon_kind(cpu_env(cs)));
}

static int box_of(uint32_t msr, const char **name)
{
	int i = reg_find(msr);

	*name = i < 0 ? NULL : reg_table[i].name;
	return i < 0 ? -1 : reg_table[i].box;
}

PART(PART_UNCORE, .owns = owns, .rdmsr = rdmsr, .wrmsr = wrmsr, .range = SYN_RANGE_UNCORE,
     .box = box_of);
