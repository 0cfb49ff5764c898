// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * R-Box: two halves of eight counters and four ports. A counter names one of
 * six sub-registers of a port of its half, and that says what is counted:
 * two IPERF registers (bits and fields, any of which makes it count, once per
 * cycle), two fields of QLX_CFG, two match sets.
 *
 * EOT_OCCUPANCY goes by the field table: the allocations EOT_INSERTS counts
 * one by one, through a 7-bit sub-counter. Together with other IPERF bits it
 * is taken to be undefined.
 *
 * A match set counts packets with bit 21 of MM_CFG set and bit 63 clear. Bits
 * 19:16 pick the flit it looks at, so a packet must have that many to count;
 * bit 20 drops that, and each flit of the packet counts. What is compared in
 * flits behind the first is open [r_match_flits]. Data of the packets, and their
 * bits 71:64, are 0.
 */
#include "uncore.h"

#define PORTS_PER_HALF	4
#define KINDS_PER_PORT	6

enum { K_IPERF0, K_IPERF1, K_QLX0, K_QLX1, K_XBR1, K_XBR2 };

#define XBR_DIS		(1ull << 63)
#define XBR_TRIG_EN	(1u << 21)
#define XBR_IG_FLT_CNT	(1u << 20)

#define IPERF_ALLOC		9	/* bits */
#define IPERF_NULL_IDLE		30
#define IPERF_FLITS_SENT	31

/* Ports of a half: 0 and 1 are links between packages. */
#define PORT_S		2
#define PORT_B		3

#define QLX_TYPES	0xb
#define QLX_TARGET	0x9

static unsigned int ev_sel(const struct counter *c)
{
	return c->sel >> 1 & 0x1f;
}

static bool is_legal(const struct counter *c)
{
	return ev_sel(c) < PORTS_PER_HALF * KINDS_PER_PORT;
}

static unsigned int port_of(const struct counter *c)	/* in its half */
{
	return ev_sel(c) / KINDS_PER_PORT;
}

static unsigned int kind_of(const struct counter *c)
{
	return ev_sel(c) % KINDS_PER_PORT;
}

/* 0-7 */
static unsigned int port_number(const struct counter *c)
{
	return PORTS_PER_HALF * c->box->inst + port_of(c);
}

unsigned int r_packet(const struct counter *c, const struct packet *pkt)
{
	unsigned int flit = c->match.cfg >> 16 & 0xf;
	bool first, rest;
	uint64_t is;

	if (!c->match.on || pkt->inst != port_number(c))
		return 0;
	is = (uint64_t)pkt->rds << 48 | (uint64_t)pkt->rnid << 31 | (uint64_t)pkt->dnid << 13 |
	     pkt->mc << 9 | (pkt->opcode & 0xf) << 5 | pkt->vn << 3;
	first = !((is ^ c->match.value) & c->match.mask);
	rest = reading(RD_R_MATCH_FLITS) == RD_R_MATCH_FLITS_RAW ?
	       !(c->match.value & c->match.mask) : first;
	if (c->match.cfg & XBR_IG_FLT_CNT)
		return first + rest * (pkt->flits - 1);
	return flit && flit <= pkt->flits && (flit == 1 ? first : rest);
}

static void match_set(struct counter *c, unsigned int set, struct selection *sel)
{
	struct match *m = &c->match;

	m->cfg = counter_reg(c, ROLE_XBR_MM_CFG, port_of(c), set, UINT64_MAX);
	m->value = counter_reg(c, ROLE_XBR_MATCH, port_of(c), set, UINT64_MAX);
	m->mask = counter_reg(c, ROLE_XBR_MASK, port_of(c), set, UINT64_MAX);
	m->on = !(m->cfg & XBR_DIS) && (m->cfg & XBR_TRIG_EN) && !(m->cfg >> 8 & m->cfg & 0xff);
	packet_pattern(c, port_number(c), false, &sel->pattern);
}

/* How an event shows what goes through its port; see activity.c. */
static struct view view_of(const struct counter *c, unsigned int code)
{
	/* By the bits of IPERF. */
	static const uint32_t classes[] = {
		TAG_R_NCB, TAG_R_NCS, TAG_R_DRS, TAG_R_NDR, TAG_R_HOM, TAG_R_SNP
	};
	static const uint32_t of_s[] = {
		TAG_S_OUT_NCB, TAG_S_OUT_NCS, TAG_S_OUT_DRS, TAG_S_OUT_NDR,
		TAG_S_OUT_HOM | TAG_S_OUT_TO_R, TAG_S_OUT_SNP
	};
	/* From ALLOC_TO_ARB on; an S-Box has no VN1. */
	static const uint32_t alloc[] = {
		TAG_R_NCB, TAG_R_NCS, TAG_R_DRS, TAG_R_NDR, TAG_R_SNP, TAG_R_HOM_VN1, TAG_R_HOM_VN0
	};
	static const uint32_t alloc_of_s[] = {
		TAG_S_OUT_NCB, TAG_S_OUT_NCS, TAG_S_OUT_DRS, TAG_S_OUT_NDR, TAG_S_OUT_SNP,
		TAG_S_OUT_HOM | TAG_S_OUT_SNP, TAG_S_OUT_HOM | TAG_S_OUT_TO_R
	};
	static const uint32_t vns[] = { TAG_R_VN0, TAG_R_VN1, TAG_R_VNA };
	bool null = code == SYN_CODE_R_IPERF(IPERF_NULL_IDLE);
	struct view v = { .shows = SHOWS_NONE };
	unsigned int vn = code & 3;

	if (port_of(c) == PORT_B)
		return v;
	if (code < SYN_CODE_R_NEW(ARRAY_SIZE(classes), 0)) {
		v.shows = SHOWS_COUNT;
		v.list = port_of(c) == PORT_S ? LIST_S_OUT : LIST_R_IN;
		v.of = port_of(c) == PORT_S ? of_s[code >> 2] : classes[code >> 2] | vns[vn];
		/* An S-Box sends all by one network: there is no packet of two classes. */
		if (port_of(c) == PORT_S && vns[vn] != TAG_R_VNA)
			v.of = TAG_S_OUT_HOM | TAG_S_OUT_SNP;
	} else if (code >= SYN_CODE_R_IPERF(IPERF_ALLOC) &&
		   code < SYN_CODE_R_IPERF(IPERF_ALLOC + ARRAY_SIZE(alloc))) {
		unsigned int n = code - SYN_CODE_R_IPERF(IPERF_ALLOC);

		v.shows = SHOWS_COUNT;
		v.list = port_of(c) == PORT_S ? LIST_S_OUT : LIST_R_IN;
		v.of = port_of(c) == PORT_S ? alloc_of_s[n] : alloc[n];
	} else if (null || code == SYN_CODE_R_IPERF(IPERF_FLITS_SENT)) {
		v.shows = null ? SHOWS_NULL_FLITS : SHOWS_FLITS;
		v.list = port_of(c) == PORT_S ? LIST_S_IN : LIST_R_OUT;
		v.of = port_of(c) == PORT_S ? TAG_S_IN_FROM_R : 0;
	}
	return v;
}

static void add(const struct counter *c, unsigned int code, unsigned int sharers,
		unsigned int turn, struct pattern *sum)
{
	g_autofree struct pattern *part = g_new(struct pattern, 1);
	const struct view v = view_of(c, code);
	struct traffic_key key = {
		.pkg = c->box->pkg,
		.box = BOX_R,
		.inst = port_number(c),
		.code = code,
		.bit = NO_BIT,
	};

	select_part(&v, v.list >= LIST_R_IN ? key.inst : c->box->inst, &key, 1, sharers, turn, part);
	pattern_add(sum, part);
}

/* Has a test set what happens? */
static bool is_set(const struct counter *c, unsigned int code)
{
	g_autofree struct pattern *part = g_new(struct pattern, 1);

	return traffic_planted(&(struct traffic_key){ .pkg = c->box->pkg, .box = BOX_R,
						      .inst = port_number(c), .code = code,
						      .bit = NO_BIT }, 1, part);
}

/* Packet classes and networks are told apart, so their sum is what "any" counts. */
static void new_packets(const struct counter *c, uint64_t v, struct pattern *sum)
{
	unsigned int vn_sel = v >> 6 & 3;

	for (unsigned int class = 0; class < 6; class++) {
		if (!(v >> class & 1))
			continue;
		for (unsigned int vn = 0; vn < 3; vn++) {
			if (vn_sel == 3 || vn_sel == vn)
				add(c, SYN_CODE_R_NEW(class, vn), 18, 3 * class + vn, sum);
		}
	}
}

static void iperf(struct counter *c, uint64_t v, struct selection *sel, CPUState *cs)
{
	unsigned int class = v >> 17 & 0xf;
	bool rolling = class && !(v >> 21 & 1);

	if (class > 8)
		silicon_violation(VIOL_EV_SEL, cs, "%s: EOT class %u is not defined",
				  c->sel_reg->name, class);
	else if (class)
		add(c, SYN_CODE_R_EOT(class), 8, class - 1, &sel->pattern);
	if (rolling) {
		sel->div = 128;
		if (v & ~0x3e00c0ull)
			silicon_violation(VIOL_UNDEFINED, cs,
					  "%s: EOT_OCCUPANCY and other events at once",
					  c->sel_reg->name);
		return;
	}
	new_packets(c, v, &sel->pattern);
	for (unsigned int bit = 8; bit < 32; bit++) {
		bool arb = bit >= IPERF_ALLOC && bit <= 15;

		if ((v >> bit & 1) && (bit <= 16 || bit >= 24))
			add(c, SYN_CODE_R_IPERF(bit), arb ? 7 : 1, arb ? bit - IPERF_ALLOC : 0,
			    &sel->pattern);
	}
	/* [flits_sent]: with null flits among them, there is one in each cycle. */
	if ((v >> IPERF_FLITS_SENT & 1) && reading(RD_FLITS_SENT) == RD_FLITS_SENT_ALL) {
		pattern_zero(&sel->pattern);
		sel->pattern.inc[0] = 1;
	}
	pattern_cap(&sel->pattern, 1);
}

/* The types: bids at three levels, those that fail, and others. */
enum { QLX_QUEUE, QLX_LOCAL, QLX_GLOBAL, QLX_FAIL };

/* Those that the list of events has without are open [r_qlx_plain]. */
static bool has_classes(unsigned int type)
{
	return type == QLX_QUEUE || type == QLX_QUEUE + QLX_FAIL || type == QLX_GLOBAL + QLX_FAIL ||
	       type == QLX_TARGET || reading(RD_R_QLX_PLAIN) == RD_R_QLX_PLAIN_YES;
}

/* What fails is a bid. Of different classes no two fail in the same cycle. */
static void bids(struct counter *c, unsigned int v, struct pattern *sum)
{
	unsigned int type = v & 0xf, class = v >> 4, fail = type + QLX_FAIL;
	bool classes = has_classes(type), told_apart = classes && type >= QLX_FAIL;
	unsigned int code = SYN_CODE_R_QLX(classes ? v : type);
	bool with_failed = type < QLX_FAIL && !is_set(c, code);

	add(c, code, told_apart ? 16 : 1, told_apart ? class : 0, sum);
	for (unsigned int n = 0; with_failed && n < 16; n++) {
		if (!has_classes(fail) && !n)
			add(c, SYN_CODE_R_QLX(fail), 1, 0, sum);
		if (has_classes(fail) && (!classes || n == class))
			add(c, SYN_CODE_R_QLX(fail | n << 4), 16, n, sum);
	}
}

static void qlx(struct counter *c, unsigned int v, struct selection *sel, CPUState *cs)
{
	if ((v & 0xf) >= QLX_TYPES)
		silicon_violation(VIOL_EV_SEL, cs, "%s: QLX event type 0x%x is reserved",
				  c->sel_reg->name, v & 0xf);
	else
		bids(c, v, &sel->pattern);
	pattern_cap(&sel->pattern, 1);
}

void select_r(struct counter *c, struct selection *sel, CPUState *cs)
{
	unsigned int kind = kind_of(c), shift;

	if (!is_legal(c)) {
		silicon_violation(VIOL_EV_SEL, cs, "%s = %#" PRIx64 ": ev_sel 0x%x is illegal",
				  c->sel_reg->name, c->sel, ev_sel(c));
		return;
	}
	switch (kind) {
	case K_IPERF0:
	case K_IPERF1:
		iperf(c, counter_reg(c, ROLE_IPERF, port_of(c), kind, UINT64_MAX), sel, cs);
		break;
	case K_QLX0:
	case K_QLX1:
		shift = 8 * (kind - K_QLX0);
		qlx(c, counter_reg(c, ROLE_QLX, port_of(c), 0, 0xffull << shift) >> shift, sel, cs);
		break;
	default:
		match_set(c, kind - K_XBR1, sel);
	}
}
