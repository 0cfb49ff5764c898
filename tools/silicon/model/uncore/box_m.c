// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * M-Box: six alike counters. inc_sel picks the event; many take a detail from
 * a register that all six counters share.
 *
 * Choices where the sources leave one open:
 * - [m_flag_modes] flag_mode 1 with storage_mode 0 counts the cycles set_flag_sel's condition
 *   holds, whatever inc_sel says; with storage_mode 1 it counts inc_sel's event
 *   in those cycles. flag_mode 0 has no condition that could hold, so with
 *   storage_mode 1 nothing is counted.
 * - [m_flag_modes] count_mode 2 (up and down) counts up: nothing is known that would go down.
 * - [m_flag_modes] wrap_mode 0 leaves the counter at 0 (counting down: all ones) when it
 *   over- or underflows, until its STATUS bit is cleared or it is written.
 * - [m_dram_cmd] DRAM_CMD with command 0 is any command; PLD bit 0 limits it to ISS[9:7].
 * - [m_addr] With MM_CFG bit 63, only commands whose address agrees with ADDR_MATCH
 *   33:6 where ADDR_MASK (27:0 for 33:6, [m_mask_width]) has ones [m_mask].
 *   Writing these while bit 63 is 1 is a violation but no #GP: the lock is known of the
 *   S-Box only [m_lock].
 *
 * Westmere-EX: the fill/victim index has a bit more, and what is above it in
 * ZDP_CTL_FVC and MAP is that much higher. Three events have a detail that they
 * lack on the Xeon 7500. DRAM_MISC counts what one of PLD[18:16] selects, or
 * retries when none is set; several at once are undefined. Command 0 of its own
 * field is any command, as with DRAM_CMD, and MM_CFG filters both.
 */
#include "uncore.h"

enum {
	M_DSP_FILL = 0x00,
	M_THERM_UP = 0x04,
	M_THERM_DN = 0x05,
	M_FRM_TYPE = 0x09,
	M_DRAM_CMD = 0x0a,
	M_ISS_SCHED = 0x08,	/* Westmere-EX */
	M_RETRIES = 0x0b,	/* Westmere-EX: DRAM_MISC */
	M_FVC_EV0 = 0x0d,
	M_FVC_EV3 = 0x10,
	M_PAGE_EV2 = 0x15,	/* Westmere-EX */
	M_PAGE_EV = 0x16,
	M_CYCLES = 0x1b,
	/* set_flag_sel */
	M_FLAG_DSP = 0x100,
	M_FLAG_MODE = 0x101,
	M_FLAG_PAGE = 0x105,
	M_FLAG_BCMD = 0x106,
};

#define M_FVC		0x200	/* traffic code of an FVC event, by what it counts */
#define FVC_BCMD	5
#define FVC_RESP	6
#define FVC_RESP_NONE	6
#define MAP_ANY_CMD	8
#define MAP_CMDS	8
#define MM_EN		(1ull << 63)

/* PLD[18:16] of Westmere-EX */
#define MISC_CMD	1u
#define MISC_VALID	2u
#define MISC_NON_NOP	4u

struct m_sel {
	unsigned int inc, flag;
	bool flag_mode, wrap;
	unsigned int storage, count;
};

static struct m_sel decode(const struct counter *c)
{
	return (struct m_sel){
		.inc = c->sel >> 9 & 0x1f,
		.flag = M_FLAG_DSP | (c->sel >> 19 & 7),
		.flag_mode = c->sel >> 7 & 1,
		.wrap = c->sel >> 6 & 1,
		.storage = c->sel >> 4 & 3,
		.count = c->sel >> 2 & 3,
	};
}

static uint64_t field(struct counter *c, enum reg_role role, unsigned int hi, unsigned int lo)
{
	return counter_reg(c, role, 0, 0, MAKE_64BIT_MASK(lo, hi - lo + 1)) >> lo;
}

static bool is_westmere(const struct counter *c)
{
	return c->box->pkg->kind == KIND_WESTMERE_EX;
}

/* A field of ZDP_CTL_FVC or MAP above the index, by its place on the Xeon 7500. */
static uint64_t field_up(struct counter *c, enum reg_role role, unsigned int hi,
			 unsigned int lo)
{
	unsigned int up = is_westmere(c);

	return field(c, role, hi + up, lo + up);
}

enum msr_rc m_guard(struct box *b, const struct reg_info *r, CPUState *cs)
{
	if ((r->role != ROLE_MATCH && r->role != ROLE_MASK) ||
	    !(box_reg(b, ROLE_MM_CFG, 0, 0) & MM_EN))
		return MSR_OK;
	silicon_violation(VIOL_LOCKED, cs, "%s written while matching is on", r->name);
	return reading(RD_M_LOCK) == RD_M_LOCK_GP ? MSR_GP : MSR_OK;
}

/* ---- what it counts ---- */

unsigned int m_packet(const struct counter *c, const struct packet *pkt)
{
	const struct match *m = &c->match;

	return m->on && pkt->inst == c->box->inst && (!m->cmd || m->cmd == pkt->opcode) &&
	       (m->mode < 0 || m->mode == (int)pkt->vn) &&
	       !((pkt->addr >> 6 ^ m->value) & m->mask);
}

/* Commands, all of them if cmd is 0, limited to a mode of the scheduler if that is not -1. */
static void commands(struct counter *c, unsigned int cmd, int mode, struct pattern *out)
{
	uint64_t on = counter_reg(c, ROLE_MM_CFG, 0, 0, MM_EN);
	uint64_t match = counter_reg(c, ROLE_MATCH, 0, 0, UINT64_MAX);
	uint64_t mask = counter_reg(c, ROLE_MASK, 0, 0, UINT64_MAX);

	if (reading(RD_M_MASK) == RD_M_MASK_IGNORE)
		mask = ~mask;
	if (reading(RD_M_ADDR) == RD_M_ADDR_BYTE)
		match >>= 6;
	c->match = (struct match){
		.on = true,
		.cmd = cmd,
		.mode = mode,
		.value = match,
		.mask = on ? mask & MAKE_64BIT_MASK(0, 28) : 0,
	};
	packet_pattern(c, c->box->inst, false, out);
}

static void plain(const struct counter *c, unsigned int code, unsigned int bit,
		  unsigned int sharers, unsigned int turn, struct pattern *out)
{
	unsigned int event = code == (M_FVC | FVC_BCMD) ? M_FVC_EV0 : code;
	const struct event_info *e = event_find(BOX_M, event, c->index);
	unsigned int detail = bit == NO_BIT ? 0 : bit;
	struct traffic_key key = {
		.pkg = c->box->pkg,
		.box = BOX_M,
		.inst = c->box->inst,
		.code = code,
		.bit = bit,
	};

	select_part(e && detail < ARRAY_SIZE(e->view) ? &e->view[detail] : NULL, key.inst, &key, 1,
		    sharers, turn, out);
}

/* Several conditions at once: cycles in which any of them is met. */
static void any_of(const struct counter *c, unsigned int code, unsigned int bits,
		   unsigned int n, struct pattern *out)
{
	g_autofree struct pattern *part = g_new(struct pattern, 1);

	pattern_zero(out);
	for (unsigned int i = 0; i < n; i++) {
		if (bits >> i & 1) {
			plain(c, code, i, n, i, part);
			pattern_add(out, part);
		}
	}
	pattern_cap(out, 1);
}

static void illegal(const struct counter *c, const char *what, unsigned int value, CPUState *cs)
{
	silicon_violation(VIOL_EV_SEL, cs, "%s = %#" PRIx64 ": %s 0x%x is not defined",
			  c->sel_reg->name, c->sel, what, value);
}

static void fvc(struct counter *c, unsigned int ev, struct pattern *out, CPUState *cs)
{
	unsigned int up = is_westmere(c);
	unsigned int what = field_up(c, ROLE_FVC, 13 + 3 * ev, 11 + 3 * ev);
	unsigned int detail;

	/* pbox_init_err and fvid decide, too, if not here. */
	field_up(c, ROLE_FVC, 23, 23);
	field(c, ROLE_FVC, 4 + up, 0);
	switch (what) {
	case FVC_BCMD:
		detail = field_up(c, ROLE_FVC, 7, 5);
		plain(c, M_FVC | what, detail, 8, detail, out);
		break;
	case FVC_RESP:
		detail = field_up(c, ROLE_FVC, 10, 8);
		if (detail == FVC_RESP_NONE)
			illegal(c, "FVC response", detail, cs);
		else
			plain(c, M_FVC | what, detail, 8, detail, out);
		break;
	default:
		plain(c, M_FVC | what, NO_BIT, 1, 0, out);
	}
}

static void frame(struct counter *c, struct pattern *out, CPUState *cs)
{
	static const uint8_t types[] = { 0x0, 0x1, 0x2, 0x3, 0x8, 0xc };
	unsigned int type = field(c, ROLE_ISS, 3, 0);

	for (unsigned int i = 0; i < ARRAY_SIZE(types); i++) {
		if (types[i] == type) {
			plain(c, M_FRM_TYPE, type, ARRAY_SIZE(types), i, out);
			return;
		}
	}
	illegal(c, "frame type", type, cs);
}

/* RETRIES, or what has its place. */
static void misc(struct counter *c, struct pattern *out, CPUState *cs)
{
	unsigned int what = is_westmere(c) ? field(c, ROLE_PLD, 18, 16) : 0, fvid;

	switch (what) {
	case 0:
		fvid = field(c, ROLE_PLD, 7, 1);
		plain(c, M_RETRIES, fvid & 0x40 ? fvid : 0, 1, 0, out);
		break;
	case MISC_CMD:
		commands(c, field(c, ROLE_PLD, 23, 19), -1, out);
		break;
	case MISC_VALID:
	case MISC_NON_NOP:
		plain(c, M_RETRIES, 0x80 | what, 1, 0, out);
		break;
	default:
		silicon_violation(VIOL_UNDEFINED, cs, "%s = %#" PRIx64 ": PLD[18:16] = 0x%x",
				  c->sel_reg->name, c->sel, what);
	}
}

/* A detail that the Xeon 7500 lacks. */
static void detail(struct counter *c, unsigned int inc, enum reg_role role,
		   unsigned int bit, struct pattern *out)
{
	plain(c, inc, is_westmere(c) ? field(c, role, bit, bit) : NO_BIT, 1, 0, out);
}

static void inc_pattern(struct counter *c, unsigned int inc, struct pattern *out,
			CPUState *cs)
{
	unsigned int dimm, bits, mode;

	pattern_zero(out);
	if (!event_find(BOX_M, inc, c->index)) {
		illegal(c, "inc_sel", inc, cs);
		return;
	}
	switch (inc) {
	case M_DSP_FILL:
		any_of(c, inc, field(c, ROLE_DSP, 10, 7), 4, out);
		break;
	case M_THERM_UP:
	case M_THERM_DN:
		bits = inc == M_THERM_UP ? field(c, ROLE_MSC_THR, 8, 7) :
					   field(c, ROLE_MSC_THR, 10, 9);
		dimm = field(c, ROLE_MSC_THR, 6, 3);
		dimm = dimm & 1 ? 0 : 1 + (dimm >> 1);
		plain(c, inc, bits | dimm << 2, 1, 0, out);
		break;
	case M_FRM_TYPE:
		frame(c, out, cs);
		break;
	case M_DRAM_CMD:
		mode = field(c, ROLE_ISS, 9, 7);
		commands(c, field(c, ROLE_PLD, 12, 8), field(c, ROLE_PLD, 0, 0) ? (int)mode : -1, out);
		break;
	case M_RETRIES:
		misc(c, out, cs);
		break;
	case M_ISS_SCHED:
		detail(c, inc, ROLE_ISS, 10, out);
		break;
	case M_PAGE_EV2:
		detail(c, inc, ROLE_PGT, 11, out);
		break;
	case M_FVC_EV0 ... M_FVC_EV3:
		fvc(c, inc - M_FVC_EV0, out, cs);
		break;
	case M_PAGE_EV:
		plain(c, inc, field(c, ROLE_PGT, 0, 0), 1, 0, out);
		break;
	case M_CYCLES:
		out->inc[0] = 1;
		break;
	default:
		plain(c, inc, NO_BIT, 1, 0, out);
	}
}

static void flag_pattern(struct counter *c, unsigned int flag, struct pattern *out,
			 CPUState *cs)
{
	unsigned int v;

	pattern_zero(out);
	if (!event_find(BOX_M, flag, c->index)) {
		illegal(c, "set_flag_sel", flag & 7, cs);
		return;
	}
	switch (flag) {
	case M_FLAG_DSP:
		any_of(c, flag, field(c, ROLE_DSP, 10, 7), 4, out);
		break;
	case M_FLAG_MODE:
		v = field(c, ROLE_ISS, 6, 4);
		if (v < 4)
			plain(c, flag, v, 4, v, out);
		else
			illegal(c, "scheduler mode", v, cs);
		break;
	case M_FLAG_PAGE:
		v = field(c, ROLE_PGT, 6, 6);
		plain(c, flag, v, 2, v, out);
		break;
	case M_FLAG_BCMD:
		/* The index watched makes it another event. */
		v = field_up(c, ROLE_MAP, 8, 5);
		flag |= field(c, ROLE_MAP, 4 + is_westmere(c), 0) << 10;
		if (v < MAP_CMDS)
			plain(c, flag, v, MAP_CMDS, v, out);
		else if (v == MAP_ANY_CMD)
			any_of(c, flag, 0xff, MAP_CMDS, out);
		else
			illegal(c, "command", v, cs);
		break;
	default:
		plain(c, flag, NO_BIT, 1, 0, out);
	}
}

void select_m(struct counter *c, struct selection *sel, CPUState *cs)
{
	g_autofree struct pattern *flag = NULL;
	struct m_sel m = decode(c);

	if (m.storage > 1 || m.count > 2)
		silicon_violation(VIOL_UNDEFINED, cs, "%s = %#" PRIx64 ": mode not defined",
				  c->sel_reg->name, c->sel);
	sel->down = m.count == 1;
	sel->stop_at_wrap = !m.wrap;
	if (!m.flag_mode) {
		if (!m.storage)
			inc_pattern(c, m.inc, &sel->pattern, cs);
		return;
	}
	flag = g_new(struct pattern, 1);
	flag_pattern(c, m.flag, flag, cs);
	if (m.storage) {
		inc_pattern(c, m.inc, &sel->pattern, cs);
		pattern_and(&sel->pattern, flag);
	} else {
		sel->pattern = *flag;
	}
}
