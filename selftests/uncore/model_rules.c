// SPDX-License-Identifier: GPL-2.0-only
/*
 * The virtual silicon: what may be accessed how, and that each kind of slip is
 * noticed. Every slip is made once on purpose.
 *
 * No driver is involved, so one kernel is enough.
 *
 * TEST: 6.1
 * SOAK: none
 * VM: --driver none --sockets 2 --cores 2 --threads 2 --icount
 */
#include "model.h"

static bool faults(unsigned int msr, bool write)
{
	u64 val = 0;

	return (write ? msr_try_write(0, msr, val) : msr_try_read(0, msr, &val)) < 0;
}

/* Just this kind was reported, that often; and forgotten. */
static void reported(unsigned int kind, u64 n, const char *what)
{
	ktap_check(violations(kind) == n && msr_read(0, SYN_VIOLATIONS) == n,
		   "%s: %llu of kind %u, %llu in all", what, violations(kind), kind,
		   msr_read(0, SYN_VIOLATIONS));
	msr_write(0, SYN_CLEAR, 1);
}

/* Number of registers by the tables of the guide: see spec/xeon7500. */
static void addresses(void)
{
	unsigned int msr, good = 0, holes = 0;

	start_over(0);
	for (msr = 0xc00; msr < 0x1000; msr++) {
		bool rd = faults(msr, false), wr = faults(msr, true);

		good += !rd || !wr;
		holes += rd && wr;
	}
	/* All but the two of the fixed counter. */
	ktap_check(good == 354, "%u registers", good);
	ktap_check(violations(SYN_V_NO_REGISTER) == 2 * holes, "holes");
	ktap_check(msr_read(0, SYN_ACCESS(SYN_RANGE_HOLE, 0)) == holes, "holes");
	ktap_check(!faults(W_FIXED_CTR, false) && !faults(W_FIXED_CTR_CTL, false), "fixed counter");
	msr_write(0, SYN_CLEAR, 1);
}

static void access_classes(void)
{
	static const unsigned int write_only[] = { C0_GLOBAL_OVF_CTL, C7_GLOBAL_OVF_CTL,
						   B0_GLOBAL_OVF_CTL, B1_GLOBAL_OVF_CTL,
						   S0_OVF_CTL,	      S1_OVF_CTL };
	static const unsigned int read_only[] = { S0_SUMMARY, S1_SUMMARY, R_GLOBAL_STATUS_7_0,
						  R_GLOBAL_STATUS_15_8 };
	static const unsigned int reads_zero[] = { U_GLOBAL_OVF_CTL,  W_GLOBAL_OVF_CTL,
						   M0_GLOBAL_OVF_CTL, M1_GLOBAL_OVF_CTL,
						   R_OVF_CTL_7_0,     R_OVF_CTL_15_8 };
	unsigned int i;

	start_over(0);
	for (i = 0; i < 6; i++) {
		ktap_check(faults(write_only[i], false) && !faults(write_only[i], true), "0x%x",
			   write_only[i]);
		ktap_check(!msr_read(0, reads_zero[i]), "0x%x", reads_zero[i]);
	}
	for (i = 0; i < 4; i++)
		ktap_check(!faults(read_only[i], false) && faults(read_only[i], true), "0x%x",
			   read_only[i]);
	ktap_check(msr_read(0, SYN_ACCESS_ALL(SYN_RANGE_GP, 0)) == 6 &&
		   msr_read(0, SYN_ACCESS_ALL(SYN_RANGE_GP, 1)) == 4, "%llu reads, %llu writes",
		   msr_read(0, SYN_ACCESS_ALL(SYN_RANGE_GP, 0)),
		   msr_read(0, SYN_ACCESS_ALL(SYN_RANGE_GP, 1)));
	reported(SYN_V_ACCESS, 10, "access classes");
	/* Not confirmed to be read-only: no fault, but no effect. */
	msr_write(0, M0_GLOBAL_STATUS, 0);
	reported(SYN_V_ACCESS, 0, "M status");
}

/* What a register keeps of all ones; the rest is ignored, or must be 0. */
static void bits(void)
{
	static const struct { unsigned int msr; u64 keeps, must_be_0; } regs[] = {
		{ U_GLOBAL_CTL, 0x800001ff, ~0xffffffffull },
		{ U_EV_SEL, 0x005400ff & ~EN, ~0xffffffffull },
		{ C0_EVT_SEL_0, 0xffd4ffff & ~EN, 0x6004000000000000 },
		{ C0_CTR_0, M48, ~M48 },
		{ C0_GLOBAL_CTL, 0x3f, ~0x3full },
		{ B0_CTL0, 0x10003e, 0x6004000000000000 },
		{ B0_MATCH, 0x0fffffffffffffff, 0xf000000000000000 },
		{ S0_CTL0, 0xffd6ffff & ~EN, 0x6000000000000000 },
		{ S0_MASK, 0x7fffffffff, 0 },
		{ M0_CNT_CTL_0, 0x383efe, 0x6000000001c7c100 },
		{ M0_ZDP_CTL_FVC, 0xffffff, ~0xffffffull },
		{ W_EVT_SEL_0, 0xffd4ffff & ~EN, 0x6004000000000000 },
		{ W_GLOBAL_CTL, 0x8000000f, ~0xffffffffull },
		{ R_CTL0, 0x7e, 0x6000000000000000 },
		{ R_PORT0_IPERF_CFG0, 0xff3fffff, ~0xffffffffull },
		{ R_PORT0_XBR_SET1_MM_CFG, 0x80000000003fffff, 0 },
		{ R_PORT0_XBR_SET1_MATCH, 0x000f000f8003fff8, 0xfff0fff07ffc0007 },
	};
	unsigned int i;

	start_over(0);
	for (i = 0; i < ARRAY_SIZE(regs); i++) {
		u64 enables = regs[i].msr == U_GLOBAL_CTL ? U_EN_ALL | U_RST_ALL : 0, got;
		u64 ones = ~(regs[i].must_be_0 | enables);

		if (regs[i].msr == U_EV_SEL || regs[i].msr == C0_EVT_SEL_0 ||
		    regs[i].msr == S0_CTL0 || regs[i].msr == W_EVT_SEL_0)
			ones &= ~(u64)EN;
		if (regs[i].msr == B0_CTL0 || regs[i].msr == M0_CNT_CTL_0 || regs[i].msr == R_CTL0)
			ones &= ~(u64)EN_LOW;
		/* Start values of the W-Box apart, ones are as good as any. */
		msr_write(0, regs[i].msr, ones);
		got = msr_read(0, regs[i].msr);
		ktap_check(got == regs[i].keeps, "0x%x keeps %#llx", regs[i].msr, got);
		reported(SYN_V_RESERVED, 0, "ones that may be");
		if (regs[i].must_be_0) {
			msr_write(0, regs[i].msr, ones | regs[i].must_be_0);
			ktap_check(msr_read(0, regs[i].msr) == got, "0x%x", regs[i].msr);
			reported(SYN_V_RESERVED, 1, "ones that must not be");
		}
		msr_write(0, regs[i].msr, 0);
	}
	/* Status registers can be written, but nothing in them. */
	msr_write(0, C0_GLOBAL_STATUS, 0);
	msr_write(0, U_GLOBAL_STATUS, 0);
	reported(SYN_V_READ_ONLY, 0, "zeros");
	msr_write(0, C0_GLOBAL_STATUS, 1);
	msr_write(0, U_GLOBAL_STATUS, U_PMI);
	ktap_check(!msr_read(0, C0_GLOBAL_STATUS) && !msr_read(0, U_GLOBAL_STATUS),
		   "status was set");
	reported(SYN_V_READ_ONLY, 2, "ones in a status");
}

/* By its other reading such a write raises #GP, and nothing of it is kept. */
static void must_be_0(void)
{
	start_over(0);
	msr_write(0, SYN_READING(RD_MUST_BE_0), RD_MUST_BE_0_GP);
	msr_write(0, C0_CTR_0, 5);
	ktap_check(msr_try_write(0, C0_CTR_0, 1ull << 48 | 7) < 0, "no #GP");
	ktap_check(msr_read(0, C0_CTR_0) == 5, "it is %#llx", msr_read(0, C0_CTR_0));
	reported(SYN_V_RESERVED, 1, "bit 48");
	/* There is no third answer. */
	msr_write(0, SYN_READING(RD_MUST_BE_0), 2);
	ktap_check(msr_read(0, SYN_READING(RD_MUST_BE_0)) == RD_MUST_BE_0_GP, "answer %llu",
		   msr_read(0, SYN_READING(RD_MUST_BE_0)));
	msr_write(0, SYN_READING(RD_MUST_BE_0), RD_MUST_BE_0_DROPPED);
	msr_write(0, C0_CTR_0, 0);
}

static void event_codes(void)
{
	static const struct { unsigned int msr, val, kind; } slips[] = {
		{ U_EV_SEL, EN | 0x05, SYN_V_EV_SEL },
		{ C0_EVT_SEL_0, EN | 0x13, SYN_V_EV_SEL },
		{ C0_EVT_SEL_0, EN | 0x814, SYN_V_UMASK },
		{ C0_EVT_SEL_0, EN | 0x118, SYN_V_UMASK },	/* it has no mask */
		{ W_EVT_SEL_0, EN | 0x05, SYN_V_EV_SEL },
		{ W_EVT_SEL_0, EN | 0x102, SYN_V_UMASK },
		{ S0_CTL0, EN | 0x61, SYN_V_EV_SEL },
		{ S0_CTL0, EN | 0x30e, SYN_V_UNDEFINED },	/* FULL of two C-Boxes */
		{ S0_CTL0, EN | EDGE | 0x343, SYN_V_UNDEFINED },	/* edges of two bits */
		{ C0_EVT_SEL_0, EN | EDGE | 0x18, SYN_V_UNDEFINED },
		{ S0_CTL0, EN | 0x01000a | 0x100, SYN_V_UMASK },
		{ B0_CTL0, EN_LOW | 0x1f << 1, SYN_V_COUNTER },	/* counter 1 has it */
		{ B0_CTL1, EN_LOW | 0x08 << 1, SYN_V_EV_SEL },
		{ M0_CNT_CTL_0, EN_LOW | 0x1e << 9, SYN_V_EV_SEL },
		{ M0_CNT_CTL_0, EN_LOW | 0x80 | 2 << 19, SYN_V_EV_SEL },
		{ M0_CNT_CTL_0, EN_LOW | 3 << 2 | 0x1b << 9, SYN_V_UNDEFINED },
		{ M0_CNT_CTL_0, EN_LOW | 2 << 4 | 0x80 | 3 << 19 | 0x1b << 9, SYN_V_UNDEFINED },
		{ R_CTL0, EN_LOW | 0x18 << 1, SYN_V_EV_SEL },
		{ R_CTL15, EN_LOW | 0x1f << 1, SYN_V_EV_SEL },
	};
	unsigned int i;

	start_over(0);
	for (i = 0; i < ARRAY_SIZE(slips); i++) {
		bool occupancy = slips[i].msr == S0_CTL0 && (slips[i].val & 0xff) == 0x0a;
		unsigned int val = slips[i].val | (occupancy ? 1 << 17 : 0);

		/* Not enabled, nobody minds. */
		msr_write(0, slips[i].msr, val & ~(slips[i].msr & 0x100 || slips[i].msr < 0xc20 ||
			  slips[i].msr == S0_CTL0 || slips[i].msr == W_EVT_SEL_0 ? EN : EN_LOW));
		reported(slips[i].kind, 0, "disabled");
		msr_write(0, slips[i].msr, val);
		ktap_note("0x%x = 0x%x", slips[i].msr, val);
		reported(slips[i].kind, 1, "enabled");
		msr_write(0, slips[i].msr, 0);
	}
	msr_write(0, S0_CTL0, EN | EDGE | 0x143);
	msr_write(0, C0_EVT_SEL_0, EN | EDGE | 0x20b);
	reported(SYN_V_UNDEFINED, 0, "edges of one bit");
	msr_write(0, S0_CTL0, 0);
	msr_write(0, C0_EVT_SEL_0, 0);
	/* The illegal choice may be in a sub-register. */
	msr_write(0, R_PORT0_QLX_CFG, 0x0b);
	msr_write(0, R_CTL0, EN_LOW | 2 << 1);
	reported(SYN_V_EV_SEL, 1, "QLX type");
	msr_write(0, R_CTL0, 0);
	msr_write(0, R_PORT0_QLX_CFG, 0);
	msr_write(0, R_PORT0_IPERF_CFG0, 9u << 17);
	msr_write(0, R_CTL0, EN_LOW);
	reported(SYN_V_EV_SEL, 1, "EOT class");
	msr_write(0, R_CTL0, 0);
	msr_write(0, R_PORT0_IPERF_CFG0, 1u << 17 | 1u << 31);
	msr_write(0, R_CTL0, EN_LOW);
	reported(SYN_V_UNDEFINED, 1, "EOT occupancy and flits");
	msr_write(0, R_CTL0, 0);
	msr_write(0, R_PORT0_IPERF_CFG0, 0);
	msr_write(0, M0_ISS, 4);
	msr_write(0, M0_CNT_CTL_0, EN_LOW | 9 << 9);
	reported(SYN_V_EV_SEL, 1, "frame type");
	msr_write(0, M0_CNT_CTL_0, 0);
	msr_write(0, M0_ISS, 0);
	/* Each time it is enabled, and only then: not when the traffic changes. */
	for (i = 0; i < 3; i++) {
		msr_write(0, C0_EVT_SEL_0, EN | 0x13);
		reported(SYN_V_EV_SEL, 1, "enabled again");
		set_pattern(0, SYN_SEL(SYN_BOX_C, 0, 0x14, 0), SYN_PATTERN(0, 0, 1, 1));
		reported(SYN_V_EV_SEL, 0, "other traffic");
		msr_write(0, C0_EVT_SEL_0, 0);
	}
	msr_write(0, SYN_TRAFFIC_RESET, 1);
}

static void start_values(void)
{
	start_over(0);
	msr_write(0, W_CTR_0, 0xfffffd);
	msr_write(0, W_FIXED_CTR, 0);
	msr_write(0, C0_CTR_0, 0xffffff);
	reported(SYN_V_START_VALUE, 0, "good ones");
	msr_write(0, W_CTR_0, 0xfffffe);
	msr_write(0, W_FIXED_CTR, M48);
	reported(SYN_V_START_VALUE, 2, "bad ones");
	msr_write(0, W_CTR_0, 0);
	msr_write(0, W_FIXED_CTR, 0);
}

static void reset_rules(void)
{
	start_over(0);
	msr_write(0, U_GLOBAL_CTL, U_RST_ALL);
	reported(SYN_V_RST_ALL, 0, "rst_all");
	/* In this order the guide presets counters. */
	msr_write(0, C0_CTR_0, 5);
	reported(SYN_V_RST_ALL, 0, "a counter written");
	msr_write(0, SYN_READING(RD_RST_ALL_START), RD_RST_ALL_START_LOST);
	msr_write(0, C0_CTR_0, 5);
	reported(SYN_V_RST_ALL, 1, "a start value that is lost");
	msr_write(0, SYN_READING(RD_RST_ALL_START), RD_RST_ALL_START_TAKEN);
	msr_write(0, U_GLOBAL_CTL, U_RST_ALL | U_EN_ALL);
	reported(SYN_V_RST_ALL, 1, "en_all");
	msr_write(0, U_GLOBAL_CTL, 0);
}

static void occupancy_rule(void)
{
	start_over(0);
	msr_write(0, S0_CTL0, EN | 0x0a);
	reported(SYN_V_OCCUPANCY, 1, "no reset_occ_cnt");
	msr_write(0, S0_CTL0, 0);
	/* In an earlier write it does not help. */
	msr_write(0, S0_CTL0, 1 << 17 | 0x0a);
	msr_write(0, S0_CTL0, EN | 0x0a);
	reported(SYN_V_OCCUPANCY, 1, "too early");
	msr_write(0, S0_CTL0, 0);
	msr_write(0, S0_CTL0, EN | 1 << 17 | 0x0a);
	/* Later writes need not have it. */
	msr_write(0, S0_CTL0, EN | PMI_EN | 0x0a);
	msr_write(0, S0_CTL0, EN | 0x0a);
	reported(SYN_V_OCCUPANCY, 0, "as it should be");
	msr_write(0, S0_CTL0, 0);
	msr_write(0, S0_CTL0, EN | 0x160);
	reported(SYN_V_OCCUPANCY, 0, "no occupancy");
	msr_write(0, S0_CTL0, 0);
}

static void match_lock(void)
{
	start_over(0);
	msr_write(0, S0_MM_CFG, 0);
	msr_write(0, S0_MATCH, 0x123);
	msr_write(0, S0_MASK, 0x456);
	msr_write(0, S0_MM_CFG, 1ull << 63);
	ktap_check(faults(S0_MATCH, true) && faults(S0_MASK, true), "no lock");
	ktap_check(msr_read(0, S0_MATCH) == 0x123 && msr_read(0, S0_MASK) == 0x456, "values");
	reported(SYN_V_LOCKED, 2, "S-Box");
	msr_write(0, S0_MM_CFG, 0);
	msr_write(0, S0_MATCH, 0);
	msr_write(0, S0_MASK, 0);
	/* The M-Box does not fault. */
	msr_write(0, M0_MM_CFG, 1ull << 63);
	msr_write(0, M0_ADDR_MATCH, 0x1000);
	ktap_check(msr_read(0, M0_ADDR_MATCH) == 0x1000, "M-Box");
	reported(SYN_V_LOCKED, 1, "M-Box");
	msr_write(0, M0_MM_CFG, 0);
	msr_write(0, M0_ADDR_MATCH, 0);
	reported(SYN_V_LOCKED, 0, "M-Box unlocked");
}

static void sub_register_rule(void)
{
	start_over(0);
	/* Port 1, IPERF_CFG1, on counter 2 of the left half. */
	msr_write(0, R_PORT1_IPERF_CFG1, 1u << 31);
	msr_write(0, R_CTL2, EN_LOW | 7 << 1);
	msr_write(0, R_GLOBAL_CTL_7_0, 4);
	/* It does not run yet. */
	msr_write(0, R_PORT1_IPERF_CFG1, 1u << 30);
	reported(SYN_V_SUBREG, 0, "en_all = 0");
	msr_write(0, U_GLOBAL_CTL, U_EN_ALL);
	msr_write(0, R_PORT1_IPERF_CFG0, 1u << 31);	/* CFG0 */
	msr_write(0, R_PORT0_IPERF_CFG1, 1u << 31);	/* port 0 */
	msr_write(0, R_PORT1_IPERF_CFG1, 1u << 30);	/* nothing new */
	reported(SYN_V_SUBREG, 0, "others");
	msr_write(0, R_PORT1_IPERF_CFG1, 1u << 29);
	reported(SYN_V_SUBREG, 1, "IPERF");
	msr_write(0, U_GLOBAL_CTL, 0);
	msr_write(0, R_PORT1_IPERF_CFG0, 0);
	msr_write(0, R_PORT0_IPERF_CFG1, 0);
	msr_write(0, R_PORT1_IPERF_CFG1, 0);
	/* Two events in one register: only one's own bits count. */
	msr_write(0, R_CTL2, EN_LOW | 3 << 1);	/* QLX 15:8 of port 0 */
	msr_write(0, M0_CNT_CTL_0, EN_LOW | 0x40 | 0x0e << 9);	/* FVC_EV1 */
	msr_write(0, M0_GLOBAL_CTL, 1);
	msr_write(0, U_GLOBAL_CTL, U_EN_ALL);
	msr_write(0, R_PORT0_QLX_CFG, 0x0001);
	msr_write(0, M0_ZDP_CTL_FVC, 5 << 11);
	reported(SYN_V_SUBREG, 0, "other fields");
	msr_write(0, R_PORT0_QLX_CFG, 0x0100);
	msr_write(0, M0_ZDP_CTL_FVC, 5 << 11 | 5 << 14);
	reported(SYN_V_SUBREG, 2, "own fields");
	msr_write(0, U_GLOBAL_CTL, 0);
	msr_write(0, R_PORT0_QLX_CFG, 0);
	msr_write(0, M0_ZDP_CTL_FVC, 0);
	/* A match may be switched on while a counter runs on it, but not off. */
	msr_write(0, S0_CTL0, EN);
	msr_write(0, S0_GLOBAL_CTL, 1);
	msr_write(0, U_GLOBAL_CTL, U_EN_ALL);
	msr_write(0, S0_MM_CFG, 1ull << 63);
	reported(SYN_V_SUBREG, 0, "switched on");
	msr_write(0, S0_MM_CFG, 0);
	reported(SYN_V_SUBREG, 1, "switched off");
	start_over(0);
}

static void accesses(void)
{
	unsigned int box;

	start_over(0);
	start_over(4);
	msr_write(0, SYN_CLEAR, 1);
	msr_write(1, C0_EVT_SEL_0, 0);
	msr_read(1, C0_EVT_SEL_0);
	msr_read(1, C0_CTR_0);
	msr_read(5, U_GLOBAL_CTL);
	ktap_check(msr_read(1, SYN_ACCESS(SYN_RANGE_UNCORE, 0)) == 2, "reads of CPU 1");
	ktap_check(msr_read(1, SYN_ACCESS(SYN_RANGE_UNCORE, 1)) == 1, "writes of CPU 1");
	ktap_check(msr_read(0, SYN_ACCESS(SYN_RANGE_UNCORE, 0)) == 0, "reads of CPU 0");
	ktap_check(msr_read(0, SYN_ACCESS_ALL(SYN_RANGE_UNCORE, 0)) == 3, "all reads");
	for (box = SYN_BOX_U; box <= SYN_BOX_R; box++) {
		u64 n = msr_read(0, SYN_ACCESS_ALL(SYN_RANGE_BOX(box), 0));

		ktap_check(n == (box == SYN_BOX_U   ? 1
				 : box == SYN_BOX_C ? 2
						    : 0),
			   "box %u: %llu", box, n);
	}
}

KTAP_MAIN({ "#GP where there is no register", addresses },
	  { "access classes", access_classes },
	  { "bits that are kept, ignored, reserved", bits },
	  { "#GP for bits that must be 0", must_be_0 },
	  { "event codes and unit masks", event_codes },
	  { "start values of the W-Box", start_values },
	  { "rst_all", reset_rules },
	  { "occupancy needs reset_occ_cnt", occupancy_rule },
	  { "match registers locked", match_lock },
	  { "sub-registers in use", sub_register_rule },
	  { "access statistics", accesses })
