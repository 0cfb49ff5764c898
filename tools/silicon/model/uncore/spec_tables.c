// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Registers and events of the spec, those of the machine's model, and how to find them.
 */
#include "uncore.h"
#include "spec-tables.inc"

const struct reg_info *reg_table;
unsigned int reg_count;
const struct event_info *event_table;
static unsigned int event_count;
const unsigned int opcode_count = ARRAY_SIZE(opcode_table);
const unsigned int dram_cmd_count = ARRAY_SIZE(dram_cmd_table);

QEMU_BUILD_BUG_ON(ARRAY_SIZE(nehalem_ex_regs) > REG_MAX);
QEMU_BUILD_BUG_ON(ARRAY_SIZE(westmere_ex_regs) > REG_MAX);

#define UNCORE_FIRST	0xc00u
#define UNCORE_LAST	0xfffu
#define W_FIXED_FIRST	0x394u
#define W_FIXED_LAST	0x395u

/* M-Box conditions have codes from 0x100. */
#define CODES		0x108

static int16_t by_msr[UNCORE_LAST - UNCORE_FIRST + 1];
static int16_t by_code[BOX_KINDS][CODES][BOX_COUNTERS_MAX];
static int16_t by_role[BOX_KINDS][BOX_INSTANCES_MAX][ROLES][BOX_COUNTERS_MAX][2];

void spec_tables_use(enum cpu_kind kind)
{
	if (kind == KIND_WESTMERE_EX) {
		reg_table = westmere_ex_regs;
		reg_count = ARRAY_SIZE(westmere_ex_regs);
		event_table = westmere_ex_events;
		event_count = ARRAY_SIZE(westmere_ex_events);
	} else {
		reg_table = nehalem_ex_regs;
		reg_count = ARRAY_SIZE(nehalem_ex_regs);
		event_table = nehalem_ex_events;
		event_count = ARRAY_SIZE(nehalem_ex_events);
	}
	memset(by_msr, -1, sizeof(by_msr));
	memset(by_role, -1, sizeof(by_role));
	memset(by_code, -1, sizeof(by_code));
	for (unsigned int i = 0; i < reg_count; i++) {
		const struct reg_info *r = &reg_table[i];

		if (r->msr >= UNCORE_FIRST)
			by_msr[r->msr - UNCORE_FIRST] = i;
		by_role[r->box][r->inst][r->role][r->index][r->alt] = i;
	}
	for (unsigned int i = 0; i < event_count; i++) {
		const struct event_info *e = &event_table[i];

		g_assert(e->code < CODES);
		for (unsigned int n = 0; n < BOX_COUNTERS_MAX; n++) {
			if (e->counters >> n & 1)
				by_code[e->box][e->code][n] = i;
		}
	}
}

int reg_of(enum box_kind box, unsigned int inst, enum reg_role role, unsigned int index,
	   unsigned int alt)
{
	return by_role[box][inst][role][index][alt];
}

int reg_find(uint32_t msr)
{
	if (msr >= UNCORE_FIRST && msr <= UNCORE_LAST)
		return by_msr[msr - UNCORE_FIRST];
	for (unsigned int i = 0; i < reg_count && reg_table[i].msr <= msr; i++) {
		if (reg_table[i].msr == msr)
			return i;
	}
	return -1;
}

bool reg_address(uint32_t msr)
{
	return (msr >= UNCORE_FIRST && msr <= UNCORE_LAST) ||
	       (msr >= W_FIXED_FIRST && msr <= W_FIXED_LAST);
}

const struct event_info *event_find(enum box_kind box, unsigned int code, unsigned int counter)
{
	int i = code < CODES ? by_code[box][code][counter] : -1;

	return i < 0 ? NULL : &event_table[i];
}

struct counter *counter_find(struct package *p, uint32_t ctr_msr)
{
	int i = reg_find(ctr_msr);

	if (i < 0 || reg_table[i].role != ROLE_CTR)
		return NULL;
	return p->box[reg_table[i].box][reg_table[i].inst].counter[reg_table[i].index];
}

uint64_t box_reg(const struct box *b, enum reg_role role, unsigned int index, unsigned int alt)
{
	int i = reg_of(b->kind, b->inst, role, index, alt);

	g_assert(i >= 0);
	return b->pkg->reg[i];
}

uint64_t counter_reg(struct counter *c, enum reg_role role, unsigned int index, unsigned int alt,
		     uint64_t bits)
{
	g_assert(c->num_reads < COUNTER_READS);
	c->reads[c->num_reads].reg = reg_of(c->box->kind, c->box->inst, role, index, alt);
	c->reads[c->num_reads++].bits = bits;
	return box_reg(c->box, role, index, alt) & bits;
}
