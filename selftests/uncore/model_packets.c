// SPDX-License-Identifier: GPL-2.0-only
/*
 * The virtual silicon: packets through the match registers, as far as no event of the driver
 * shows it. What each field lets through is in filters.c, through the driver.
 *
 * No driver is involved, so one kernel is enough.
 *
 * TEST: 6.1
 * SOAK: none
 * VM: --driver none --sockets 2 --cores 2 --threads 2 --icount
 */
#include "model.h"

#define DRS	0xe

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

static void r_config(unsigned int at, u64 cfg)
{
	msr_write(0, U_GLOBAL_CTL, 0);
	msr_write(0, at, cfg);
	msr_write(0, U_GLOBAL_CTL, U_EN_ALL);
}

/*
 * What switches a match off: bit 63 of MM_CFG of the S-Box is 0; in that of the R-Box there is no
 * trigger, or bit 63 is 1. The fields behind it are those of filters.c.
 */
static void switches(void)
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
	unsigned int ctr = s_box[1] + CTR(1), port, set;
	u64 base = SYN_PKT_BOX(SYN_BOX_S) | SYN_PKT_INSTANCE(1);

	quiet();
	msr_write(0, ctr - 1, EN);
	msr_write(0, s_box[1], 0xf);
	msr_write(0, S1_MASK, 0x7fffffffff);
	msr_write(0, U_GLOBAL_CTL, U_EN_ALL);
	NO(ctr, base, 0);
	msr_write(0, U_GLOBAL_CTL, 0);
	msr_write(0, S1_MM_CFG, 1ull << 63);
	msr_write(0, U_GLOBAL_CTL, U_EN_ALL);
	YES(ctr, base, 0);
	msr_write(0, U_GLOBAL_CTL, 0);
	/* Edge, and a threshold that one packet does not reach */
	msr_write(0, ctr - 1, EN | EDGE);
	msr_write(0, U_GLOBAL_CTL, U_EN_ALL);
	YES(ctr, base, 0);
	msr_write(0, U_GLOBAL_CTL, 0);
	msr_write(0, ctr - 1, EN | 2 << 24);
	msr_write(0, U_GLOBAL_CTL, U_EN_ALL);
	NO(ctr, base, 0);
	msr_write(0, U_GLOBAL_CTL, 0);
	ktap_check(!msr_read(0, SYN_VIOLATIONS), "violations");
	msr_write(0, S1_MM_CFG, 0);
	msr_write(0, S1_MASK, 0);

	for (port = 0; port < 8; port++) {
		for (set = 0; set < 2; set++) {
			unsigned int at = sets[port][set];

			ctr = r_box[port / 4] + CTR(port % 4 + 4 * set);
			base = SYN_PKT_BOX(SYN_BOX_R) | SYN_PKT_INSTANCE(port) | SYN_PKT_CLASS(DRS);
			quiet();
			msr_write(0, ctr - 1, EN_LOW | (port % 4 * 6 + 4 + set) << 1);
			msr_write(0, r_box[port / 4], 0xff);
			r_config(at, 0);
			NO(ctr, base, 0);
			r_config(at, 1ull << 63 | 0x210000);
			NO(ctr, base, 0);
			r_config(at, 0x210000);
			YES(ctr, base, 0);
			/* The tenth flit: a DRS with an opcode of 8 and more has eleven. */
			r_config(at, 0x2a0000);
			NO(ctr, base, 0);
			YES(ctr, base | SYN_PKT_OPCODE(8), 0);
			/* Any flit */
			r_config(at, 0x300000);
			ktap_check(seen(ctr, base, 0) == 7 * 9, "flits");
			r_config(at, 0);
			msr_write(0, U_GLOBAL_CTL, 0);
			ktap_check(!msr_read(0, SYN_VIOLATIONS), "violations");
		}
	}
}

/*
 * Of a data response of nine flits all count with ig_flt_cnt where its header is compared. Where
 * each flit is, the other eight are zeroes, and count when zeroes are looked for.
 */
static void flits_compared(void)
{
	static const struct { u64 match, cfg, counts[2]; } cases[] = {	/* by reading */
		{ DRS << 9, 0x210000, { 1, 1 } }, { DRS << 9, 0x220000, { 1, 0 } },
		{ DRS << 9, 0x300000, { 9, 1 } }, { 0, 0x210000, { 0, 0 } },
		{ 0, 0x220000, { 0, 1 } }, { 0, 0x300000, { 0, 8 } },
	};
	u64 header = SYN_PKT_BOX(SYN_BOX_R) | SYN_PKT_INSTANCE(4) | SYN_PKT_CLASS(DRS), n;
	unsigned int ctr = r_box[1] + CTR(0), raw, i;

	for (raw = RD_R_MATCH_FLITS_HEADER; raw <= RD_R_MATCH_FLITS_RAW; raw++) {
		quiet();
		msr_write(0, SYN_READING(RD_R_MATCH_FLITS), raw);
		msr_write(0, R_PORT4_XBR_SET1_MASK, 0xf << 9);
		msr_write(0, ctr - 1, EN_LOW | 4 << 1);
		msr_write(0, r_box[1], 1);
		for (i = 0; i < ARRAY_SIZE(cases); i++) {
			msr_write(0, U_GLOBAL_CTL, 0);
			msr_write(0, R_PORT4_XBR_SET1_MATCH, cases[i].match);
			r_config(R_PORT4_XBR_SET1_MM_CFG, cases[i].cfg);
			n = seen(ctr, header, 0);
			ktap_check(n == 7 * cases[i].counts[raw],
				   "answer %u, match %#llx, cfg %#llx: %llu", raw, cases[i].match,
				   cases[i].cfg, n);
		}
	}
	msr_write(0, U_GLOBAL_CTL, 0);
	msr_write(0, SYN_READING(RD_R_MATCH_FLITS), RD_R_MATCH_FLITS_HEADER);
	msr_write(0, R_PORT4_XBR_SET1_MM_CFG, 0);
	msr_write(0, R_PORT4_XBR_SET1_MATCH, 0);
	msr_write(0, R_PORT4_XBR_SET1_MASK, 0);
	ktap_check(!msr_read(0, SYN_VIOLATIONS), "violations");
}

/* A link matches what it sends, or what it receives, which new_packets_recv counts. */
static void ports_compared(void)
{
	unsigned int entry;

	for (entry = RD_R_MATCH_PORT_EXIT; entry <= RD_R_MATCH_PORT_ENTRY; entry++) {
		u64 received, matched;

		start_over(0);
		msr_write(0, SYN_READING(RD_R_MATCH_PORT), entry);
		msr_write(0, R_PORT4_IPERF_CFG0, 3 << 6 | 1 << 2);
		msr_write(0, R_PORT4_XBR_SET1_MATCH, DRS << 9);
		msr_write(0, R_PORT4_XBR_SET1_MASK, 0xf << 9);
		msr_write(0, R_PORT4_XBR_SET1_MM_CFG, 0x210000);
		msr_write(0, r_box[1] + CTL(0), EN_LOW);
		msr_write(0, r_box[1] + CTL(1), EN_LOW | 4 << 1);
		msr_write(0, r_box[1], 3);
		run_for(0, 1000, 0);
		received = check_truth(0, r_box[1] + CTR(0));
		matched = check_truth(0, r_box[1] + CTR(1));
		ktap_check((matched == received) == (entry == RD_R_MATCH_PORT_ENTRY),
			   "answer %u: %llu received, %llu matched", entry, received, matched);
	}
	msr_write(0, SYN_READING(RD_R_MATCH_PORT), RD_R_MATCH_PORT_EXIT);
	msr_write(0, R_PORT4_IPERF_CFG0, 0);
	msr_write(0, R_PORT4_XBR_SET1_MM_CFG, 0);
	msr_write(0, R_PORT4_XBR_SET1_MATCH, 0);
	msr_write(0, R_PORT4_XBR_SET1_MASK, 0);
	ktap_check(!msr_read(0, SYN_VIOLATIONS), "violations");
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

/*
 * Of what passes a link, and the ports of S- and B-Box, no opcode is missing, and no data response in
 * any state of its line.
 */
static void all_opcodes(void)
{
	/* By message class a bit for each opcode: HOM0, HOM1, NDR, SNP, NCS, NCB, DRS */
	static const struct { u64 class; unsigned int opcodes; } of[] = {
		{ 0x0, 0xf3ff }, { 0x1, 0x7f53 }, { 0x2, 0x1f33 }, { 0x3, 0x8137 }, { 0x4, 0x3efb },
		{ 0xc, 0xff03 }, { DRS, 0x0dff },
	};
	static const struct { unsigned int port, cfg, match, mask; } at[] = {
		{ 0, R_PORT0_XBR_SET1_MM_CFG, R_PORT0_XBR_SET1_MATCH, R_PORT0_XBR_SET1_MASK },
		{ 2, R_PORT2_XBR_SET1_MM_CFG, R_PORT2_XBR_SET1_MATCH, R_PORT2_XBR_SET1_MASK },
		{ 3, R_PORT3_XBR_SET1_MM_CFG, R_PORT3_XBR_SET1_MATCH, R_PORT3_XBR_SET1_MASK },
	};
	static const u64 states[] = { 8, 4, 2, 1, 0 };
	unsigned int ctr = r_box[0] + CTR(0), i, n, opcode, state, num = 0;

	for (i = 0; i < ARRAY_SIZE(at); i++) {
		start_over(0);
		msr_write(0, at[i].cfg, 0x210000);
		msr_write(0, ctr - 1, EN_LOW | (6 * at[i].port + 4) << 1);
		msr_write(0, r_box[0], 1);
		for (n = 0; n < ARRAY_SIZE(of) * 16 * 5; n++) {
			u64 class = of[n / 80].class;

			opcode = n / 5 % 16;
			state = n % 5;
			if (!(of[n / 80].opcodes >> opcode & 1) || (class != DRS && state))
				continue;
			msr_write(0, at[i].match, class << 9 | (u64)opcode << 5 |
						  (class == DRS ? states[state] << 48 : 0));
			msr_write(0, at[i].mask, 0xff << 5 | (class == DRS ? 0xfull << 48 : 0));
			msr_write(0, ctr, 0);
			run_for(0, 10, 0);
			ktap_check(msr_read(0, ctr), "port %u: class %#llx, opcode %#x, state %u",
				   at[i].port, class, opcode, state);
			num++;
		}
		msr_write(0, at[i].cfg, 0);
		msr_write(0, at[i].match, 0);
		msr_write(0, at[i].mask, 0);
	}
	ktap_note("%u filters", num);
	ktap_check(!msr_read(0, SYN_VIOLATIONS), "violations");
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

KTAP_MAIN({ "a match that is switched off lets nothing through", switches },
	  { "what is compared in flits behind the first", flits_compared },
	  { "at which port of a link a match counts", ports_compared },
	  { "packets that are always about", default_mix },
	  { "every opcode of the guide is among them", all_opcodes },
	  { "overflow by packets", overflow })
