// SPDX-License-Identifier: GPL-2.0-only
/*
 * The virtual silicon: which packets the match registers of the B-, S-, R- and
 * M-Box let through. Each field is tried with a packet that has its value and
 * with one that has not.
 *
 * No driver is involved, so one kernel is enough.
 *
 * TEST: 6.1
 * SOAK: none
 * VM: --driver none --sockets 2 --cores 2 --threads 2 --icount
 */
#include "model.h"

#define HOM0	0x0
#define SNP	0x3
#define NCS	0x4
#define NCB	0xc
#define DRS	0xe
#define ADDR	0x123456789c0ull	/* 44 bits, a cache line */

static void send(u64 header, u64 addr, unsigned int n)
{
	msr_write(0, SYN_PKT_HEADER, header);
	msr_write(0, SYN_PKT_ADDR, addr);
	msr_write(0, SYN_PKT_SEND, n);
}

/* How many of 7 such packets a counter sees. */
static u64 seen(unsigned int ctr, u64 header, u64 addr)
{
	u64 before = msr_read(0, ctr), events = truth(0, SYN_EVENTS, ctr), n;

	send(header, addr, 7);
	n = msr_read(0, ctr) - before;
	ktap_check(truth(0, SYN_EVENTS, ctr) - events == n, "truth");
	return n;
}

/* No packets but ours. */
static void quiet(void)
{
	start_over(0);
	msr_write(0, SYN_TRAFFIC_MIX, 0);
}

#define YES(...)	ktap_check(seen(__VA_ARGS__) == 7, "not counted: " #__VA_ARGS__)
#define NO(...)		ktap_check(seen(__VA_ARGS__) == 0, "counted: " #__VA_ARGS__)

static void b_box_fields(void)
{
	/* counter, event, compares class, opcode, address, outgoing */
	static const struct { unsigned int n, code; bool class, opcode, addr, out; } events[] = {
		{ 0, 1, 1, 0, 1, 0 }, { 0, 2, 0, 1, 1, 0 }, { 0, 3, 1, 1, 1, 0 },
		{ 1, 1, 1, 0, 0, 0 }, { 1, 2, 1, 0, 0, 1 }, { 1, 3, 0, 1, 0, 0 },
		{ 1, 4, 0, 1, 0, 1 }, { 1, 5, 1, 1, 0, 0 }, { 1, 6, 1, 1, 0, 1 },
		{ 2, 4, 0, 0, 1, 0 },
	};
	u64 match = ADDR >> 6 | (u64)DRS << 44 | (u64)DRS << 48 |
			 0x5ull << 52 | 0x5ull << 56;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(events); i++) {
		unsigned int ctr = b_box[1] + CTR(events[i].n);
		u64 base = SYN_PKT_BOX(SYN_BOX_B) | SYN_PKT_INSTANCE(1);
		u64 dir = events[i].out ? SYN_PKT_OUT : 0, good;

		quiet();
		msr_write(0, B1_MATCH, match);
		msr_write(0, B1_MASK, 0x0fffffffffffffff);
		msr_write(0, ctr - 1, EN_LOW | events[i].code << 1);
		msr_write(0, b_box[1], 0xf);
		msr_write(0, U_GLOBAL_CTL, U_EN_ALL);
		ktap_note("counter %u event %u", events[i].n, events[i].code);
		good = base | dir | SYN_PKT_CLASS(DRS) | SYN_PKT_OPCODE(5);
		YES(ctr, good, ADDR);
		YES(ctr, good, ADDR + 63);
		NO(ctr, good ^ SYN_PKT_OUT, ADDR);
		NO(ctr, good ^ SYN_PKT_INSTANCE(1), ADDR);
		ktap_check(seen(ctr, good ^ SYN_PKT_CLASS(2), ADDR) == (events[i].class ? 0 : 7),
			   "class");
		ktap_check(seen(ctr, good ^ SYN_PKT_OPCODE(8), ADDR) == (events[i].opcode ? 0 : 7),
			   "opcode");
		ktap_check(seen(ctr, good, ADDR ^ 64) == (events[i].addr ? 0 : 7), "address");
		/* Bits that the mask leaves out. */
		msr_write(0, U_GLOBAL_CTL, 0);
		msr_write(0, B1_MASK, 0);
		msr_write(0, U_GLOBAL_CTL, U_EN_ALL);
		YES(ctr, base | dir | SYN_PKT_CLASS(SNP) | SYN_PKT_OPCODE(1), 0);
		msr_write(0, U_GLOBAL_CTL, 0);
		ktap_check(!msr_read(0, SYN_VIOLATIONS), "violations");
	}
	msr_write(0, B1_MATCH, 0);
}

static void s_match(u64 match, u64 mask)
{
	msr_write(0, S1_MM_CFG, 0);
	msr_write(0, S1_MATCH, match);
	msr_write(0, S1_MASK, mask);
	msr_write(0, S1_MM_CFG, 1ull << 63);
}

static void s_box_fields(void)
{
	unsigned int ctr = s_box[1] + CTR(1);
	u64 base = SYN_PKT_BOX(SYN_BOX_S) | SYN_PKT_INSTANCE(1), all = 0x7fffffffff;

	quiet();
	msr_write(0, ctr - 1, EN);
	msr_write(0, s_box[1], 0xf);
	msr_write(0, U_GLOBAL_CTL, U_EN_ALL);
	NO(ctr, base, 0);	/* MM_CFG[63] is 0 */
	msr_write(0, U_GLOBAL_CTL, 0);

	s_match(0, all);
	msr_write(0, U_GLOBAL_CTL, U_EN_ALL);
	YES(ctr, base | SYN_PKT_CLASS(DRS) | SYN_PKT_OPCODE(3) | SYN_PKT_HNID(9), ADDR);
	NO(ctr, base ^ SYN_PKT_INSTANCE(1), ADDR);
	msr_write(0, U_GLOBAL_CTL, 0);

	s_match(SYN_S_MATCH_CLASS(NCB) | SYN_S_MATCH_OPCODE(0), all);
	msr_write(0, U_GLOBAL_CTL, U_EN_ALL);
	YES(ctr, base | SYN_PKT_CLASS(NCB), 0);
	NO(ctr, base | SYN_PKT_CLASS(NCS), 0);
	NO(ctr, base | SYN_PKT_CLASS(NCB) | SYN_PKT_OPCODE(1), 0);
	msr_write(0, U_GLOBAL_CTL, 0);

	s_match(SYN_S_MATCH_RESP(8 | 1), all);
	msr_write(0, U_GLOBAL_CTL, U_EN_ALL);
	YES(ctr, base | SYN_PKT_RDS(8), 0);
	YES(ctr, base | SYN_PKT_RDS(1), 0);
	NO(ctr, base | SYN_PKT_RDS(4), 0);
	msr_write(0, U_GLOBAL_CTL, 0);

	/* A mask bit that is set takes the address bit out. */
	s_match(SYN_S_MATCH_ADDR(ADDR), 1 | 1 << 1);
	msr_write(0, U_GLOBAL_CTL, U_EN_ALL);
	YES(ctr, base, ADDR);
	YES(ctr, base, ADDR ^ 1 << 6);
	NO(ctr, base, ADDR ^ 1 << 7);
	NO(ctr, base, ADDR ^ 1ull << 43);
	msr_write(0, U_GLOBAL_CTL, 0);

	s_match(SYN_S_MATCH_HNID(17), all & ~1ull);
	msr_write(0, U_GLOBAL_CTL, U_EN_ALL);
	YES(ctr, base | SYN_PKT_HNID(17), 0);
	NO(ctr, base | SYN_PKT_HNID(16), 0);
	msr_write(0, U_GLOBAL_CTL, 0);

	/* Threshold, invert, edge. */
	s_match(0, all);
	msr_write(0, ctr - 1, EN | 1 << 18);
	msr_write(0, U_GLOBAL_CTL, U_EN_ALL);
	YES(ctr, base, 0);
	msr_write(0, U_GLOBAL_CTL, 0);
	msr_write(0, ctr - 1, EN | 2 << 24);
	msr_write(0, U_GLOBAL_CTL, U_EN_ALL);
	NO(ctr, base, 0);
	msr_write(0, U_GLOBAL_CTL, 0);
	ktap_check(!msr_read(0, SYN_VIOLATIONS), "violations");
	msr_write(0, S1_MM_CFG, 0);
	msr_write(0, S1_MATCH, 0);
	msr_write(0, S1_MASK, 0);
}

static void r_set(unsigned int at, u64 cfg, u64 match, u64 mask)
{
	msr_write(0, U_GLOBAL_CTL, 0);
	msr_write(0, at, cfg);
	msr_write(0, at + 1, match);
	msr_write(0, at + 2, mask);
	msr_write(0, U_GLOBAL_CTL, U_EN_ALL);
}

static void r_box_fields(void)
{
	static const unsigned int sets[8][2] = {
		{ R_PORT0_XBR_SET1_MM_CFG, R_PORT0_XBR_SET2_MM_CFG },
		{ R_PORT1_XBR_SET1_MM_CFG, R_PORT1_XBR_SET2_MM_CFG },
		{ R_PORT2_XBR_SET1_MM_CFG, R_PORT2_XBR_SET2_MM_CFG },
		{ R_PORT3_XBR_SET1_MM_CFG, R_PORT3_XBR_SET2_MM_CFG },
		{ R_PORT4_XBR_SET1_MM_CFG, R_PORT4_XBR_SET2_MM_CFG },
		{ R_PORT5_XBR_SET1_MM_CFG, R_PORT5_XBR_SET2_MM_CFG },
		{ R_PORT6_XBR_SET1_MM_CFG, R_PORT6_XBR_SET2_MM_CFG },
		{ R_PORT7_XBR_SET1_MM_CFG, R_PORT7_XBR_SET2_MM_CFG },
	};
	unsigned int port, set;

	for (port = 0; port < 8; port++) {
		for (set = 0; set < 2; set++) {
			unsigned int ctr = r_box[port / 4] + CTR(port % 4 + 4 * set);
			unsigned int at = sets[port][set];
			u64 base = SYN_PKT_BOX(SYN_BOX_R) | SYN_PKT_INSTANCE(port);

			quiet();
			msr_write(0, ctr - 1, EN_LOW | (port % 4 * 6 + 4 + set) << 1);
			msr_write(0, r_box[port / 4], 0xff);
			r_set(at, 0, 0, 0);
			NO(ctr, base, 0);			/* no trigger */
			r_set(at, 1ull << 63 | 0x210000, 0, 0);
			NO(ctr, base, 0);			/* disabled */
			r_set(at, 0x210000, 0, 0);
			YES(ctr, base | SYN_PKT_CLASS(DRS), 0);
			NO(ctr, base ^ SYN_PKT_INSTANCE(1), 0);
			/* DRS.DataC_M of the guide */
			r_set(at, 0x210000, 0x0008000000001c00, 0x000f000000001fe0);
			YES(ctr, base | SYN_PKT_CLASS(DRS) | SYN_PKT_RDS(8), 0);
			NO(ctr, base | SYN_PKT_CLASS(DRS) | SYN_PKT_RDS(4), 0);
			NO(ctr, base | SYN_PKT_CLASS(DRS) | SYN_PKT_RDS(8) | SYN_PKT_OPCODE(1), 0);
			NO(ctr, base | SYN_PKT_CLASS(NCB) | SYN_PKT_RDS(8), 0);
			r_set(at, 0x210000, 21ull << 31 | 9 << 13 | 2 << 3,
			      31ull << 31 | 31 << 13 | 3 << 3);
			YES(ctr, base | SYN_PKT_RNID(21) | SYN_PKT_DNID(9) | SYN_PKT_VN(2), 0);
			NO(ctr, base | SYN_PKT_RNID(20) | SYN_PKT_DNID(9) | SYN_PKT_VN(2), 0);
			NO(ctr, base | SYN_PKT_RNID(21) | SYN_PKT_DNID(8) | SYN_PKT_VN(2), 0);
			NO(ctr, base | SYN_PKT_RNID(21) | SYN_PKT_DNID(9) | SYN_PKT_VN(1), 0);
			/* The tenth flit: a DRS with an opcode of 8 and more has eleven. */
			r_set(at, 0x2a0000, 0, 0);
			NO(ctr, base | SYN_PKT_CLASS(HOM0), 0);
			NO(ctr, base | SYN_PKT_CLASS(DRS), 0);
			YES(ctr, base | SYN_PKT_CLASS(DRS) | SYN_PKT_OPCODE(8), 0);
			/* Any flit */
			r_set(at, 0x300000, 0, 0);
			ktap_check(seen(ctr, base | SYN_PKT_CLASS(DRS), 0) == 7 * 9, "flits");
			ktap_check(seen(ctr, base | SYN_PKT_FLITS(4), 0) == 7 * 4, "flits");
			r_set(at, 0, 0, 0);
			msr_write(0, U_GLOBAL_CTL, 0);
			ktap_check(!msr_read(0, SYN_VIOLATIONS), "violations");
		}
	}
}

static void m_box_fields(void)
{
	unsigned int ctr = m_box[0] + CTR(4);
	u64 base = SYN_PKT_BOX(SYN_BOX_M), ras = base | SYN_PKT_OPCODE(2);

	quiet();
	msr_write(0, ctr - 1, EN_LOW | 0x40 | 0x0a << 9);
	msr_write(0, m_box[0], 0x3f);
	msr_write(0, U_GLOBAL_CTL, U_EN_ALL);
	YES(ctr, ras, 0);	/* any command */
	YES(ctr, base | SYN_PKT_OPCODE(0x1e), 0);
	NO(ctr, ras | SYN_PKT_INSTANCE(1), 0);
	msr_write(0, U_GLOBAL_CTL, 0);
	msr_write(0, M0_PLD, 2 << 8);
	msr_write(0, U_GLOBAL_CTL, U_EN_ALL);
	YES(ctr, ras | SYN_PKT_VN(3), 0);
	NO(ctr, base | SYN_PKT_OPCODE(3), 0);
	msr_write(0, U_GLOBAL_CTL, 0);
	msr_write(0, M0_PLD, 2 << 8 | 1);
	msr_write(0, M0_ISS, 1 << 7);
	msr_write(0, U_GLOBAL_CTL, U_EN_ALL);
	YES(ctr, ras | SYN_PKT_VN(1), 0);
	NO(ctr, ras | SYN_PKT_VN(0), 0);
	msr_write(0, U_GLOBAL_CTL, 0);
	msr_write(0, M0_PLD, 0);
	msr_write(0, M0_ISS, 0);
	msr_write(0, M0_ADDR_MATCH, 0x3ffffffc0);
	msr_write(0, M0_ADDR_MASK, 0xffffffe);	/* all but bit 6 */
	msr_write(0, M0_MM_CFG, 1ull << 63);
	msr_write(0, U_GLOBAL_CTL, U_EN_ALL);
	YES(ctr, ras, 0x3ffffffc0);
	YES(ctr, ras, 0x3ffffff80);
	NO(ctr, ras, 0x3ffffff40);
	NO(ctr, ras, 0x1ffffffc0);
	msr_write(0, U_GLOBAL_CTL, 0);
	ktap_check(!msr_read(0, SYN_VIOLATIONS), "violations");
	msr_write(0, M0_MM_CFG, 0);
	msr_write(0, M0_ADDR_MATCH, 0);
	msr_write(0, M0_ADDR_MASK, 0);
}

/* Packets that are about anyway: any match event counts something. */
static void default_mix(void)
{
	u64 all, some = 0;
	unsigned int mc;

	start_over(0);
	msr_write(0, b_box[0] + CTL(1), EN_LOW | 1 << 1);
	msr_write(0, b_box[0], 2);
	run_for(0, 1000, 0);
	all = check_truth(0, b_box[0] + CTR(1)) * 4096 / truth(0, SYN_ENABLED, b_box[0] + CTR(1));
	msr_write(0, B0_MASK, 0xfull << 44);
	for (mc = 0; mc < 16; mc++) {
		msr_write(0, B0_MATCH, (u64)mc << 44);
		msr_write(0, b_box[0] + CTR(1), 0);
		msr_write(0, SYN_CLEAR, 1);
		run_for(0, 1000, 0);
		if (msr_read(0, b_box[0] + CTR(1)))
			some += (check_truth(0, b_box[0] + CTR(1)) * 4096 + 2048) /
				truth(0, SYN_ENABLED, b_box[0] + CTR(1));
	}
	/* The classes make up the whole, to the precision of rates taken one by one. */
	ktap_check(all && some + 16 > all && some < all + 16, "%llu and %llu", some, all);
	msr_write(0, B0_MATCH, 0);
	msr_write(0, B0_MASK, 0);
	start_over(0);
	msr_write(0, R_PORT4_XBR_SET1_MM_CFG, 0x210000);
	msr_write(0, r_box[1] + CTL(0), EN_LOW | 4 << 1);
	msr_write(0, r_box[1], 1);
	msr_write(0, s_box[0] + CTL(0), EN);
	msr_write(0, s_box[0], 1);
	msr_write(0, S0_MASK, 0x7fffffffff);
	msr_write(0, S0_MM_CFG, 1ull << 63);
	msr_write(0, m_box[1] + CTL(0), EN_LOW | 0x40 | 0x0a << 9);
	msr_write(0, m_box[1], 1);
	run_for(0, 1000, 0);
	check_truth(0, r_box[1] + CTR(0));
	check_truth(0, s_box[0] + CTR(0));
	check_truth(0, m_box[1] + CTR(0));
	msr_write(0, R_PORT4_XBR_SET1_MM_CFG, 0);
	msr_write(0, S0_MM_CFG, 0);
	msr_write(0, S0_MASK, 0);
}

/* Enough packets at once wrap a counter like anything else. */
static void overflow(void)
{
	unsigned int ctr = b_box[0] + CTR(1);

	quiet();
	msr_write(0, ctr - 1, EN_LOW | PMI_EN | 1 << 1);
	msr_write(0, b_box[0], 2);
	msr_write(0, ctr, M48 - 9);
	msr_write(0, U_GLOBAL_CTL, U_EN_ALL);
	send(SYN_PKT_BOX(SYN_BOX_B), 0, 9);
	ktap_check(!msr_read(0, b_box[0] + STATUS), "too early");
	send(SYN_PKT_BOX(SYN_BOX_B), 0, 3);
	ktap_check(msr_read(0, b_box[0] + STATUS) == 2 && msr_read(0, ctr) == 2, "no overflow");
	ktap_check(msr_read(0, SYN_PMI(SYN_PMI_REQUESTED)) == 1, "no request");
	msr_write(0, U_GLOBAL_CTL, 0);
	start_over(0);
}

KTAP_MAIN({ "B-Box: fields of each match event", b_box_fields },
	  { "S-Box: TO_R_PROG_EV", s_box_fields },
	  { "R-Box: match sets of every port", r_box_fields },
	  { "M-Box: DRAM commands", m_box_fields },
	  { "packets that are always about", default_mix },
	  { "overflow by packets", overflow })
