// SPDX-License-Identifier: GPL-2.0-only
/*
 * The virtual silicon as Westmere-EX: where an overflow of each of its ten C-Boxes shows, and what
 * the M-Box has that the Xeon 7500 lacks, or has elsewhere.
 *
 * No driver is involved, so one kernel is enough.
 *
 * TEST: 6.1
 * SOAK: none
 * VM: --machine westmereex --driver none --sockets 2 --cores 2 --icount
 */
#include "model.h"

/* Of each C-Box, the S-Box and the bit in its summary, by the answers of cbox_sides. */
static const struct { unsigned int side, bit; } shows[2][10] = {
	[RD_CBOX_SIDES_BY_FIVE] = { { 0, 2 }, { 0, 2 }, { 0, 0 }, { 0, 0 }, { 0, 1 },
				    { 1, 2 }, { 1, 2 }, { 1, 0 }, { 1, 0 }, { 1, 1 } },
	[RD_CBOX_SIDES_BY_EIGHT] = { { 0, 2 }, { 0, 2 }, { 0, 0 }, { 0, 0 }, { 1, 2 },
				     { 1, 2 }, { 1, 0 }, { 1, 0 }, { 0, 2 }, { 1, 2 } },
};

static void check_box(unsigned int answer, unsigned int n)
{
	unsigned int box = n < 8 ? c_box[n] : n == 8 ? C8_GLOBAL_CTL : C9_GLOBAL_CTL;
	unsigned int side = shows[answer][n].side, bit = shows[answer][n].bit;
	u64 summary[2], u;

	start_over(0);
	msr_write(0, box + CTL(0), EN | 0x18);
	msr_write(0, box + CTR(0), M48 - 10);
	msr_write(0, box, 1);
	run_for(0, 100, 0);
	u = msr_read(0, U_GLOBAL_STATUS);
	summary[0] = msr_read(0, S0_SUMMARY);
	summary[1] = msr_read(0, S1_SUMMARY);
	ktap_check(u == (side ? U_OV_S1 : U_OV_S0) && summary[side] == 1u << bit && !summary[!side],
		   "answer %u, C-Box %u: U %#llx, S0 %#llx, S1 %#llx", answer, n, u, summary[0],
		   summary[1]);
	msr_write(0, box + CTL(0), 0);
	msr_write(0, box, 0);
	msr_write(0, box + OVF, 1);
	ktap_check(!msr_read(0, U_GLOBAL_STATUS), "answer %u, C-Box %u: U status stays", answer, n);
}

static void cbox_sides(void)
{
	unsigned int answer, n;

	for (answer = RD_CBOX_SIDES_BY_FIVE; answer <= RD_CBOX_SIDES_BY_EIGHT; answer++) {
		msr_write(0, SYN_READING(RD_CBOX_SIDES), answer);
		for (n = 0; n < 10; n++)
			check_box(answer, n);
	}
	msr_write(0, SYN_READING(RD_CBOX_SIDES), RD_CBOX_SIDES_BY_FIVE);
}

#define INC(n)		(EN_LOW | 0x40 | (n) << 9)
#define FLAG(n)		(EN_LOW | 0x40 | 0x80 | (n) << 19)

/* What a sub-register selects: it alone happens, and that in each cycle; then all but it. */
static void mbox_details(void)
{
	static const struct { unsigned int sel, msr; u64 val; unsigned int code, bit; } of[] = {
		{ INC(0x08), M0_ISS, 0, SYN_CODE_M(0x08), 0 },
		{ INC(0x08), M0_ISS, 1 << 10, SYN_CODE_M(0x08), 1 },
		{ INC(0x15), M0_PGT, 0, SYN_CODE_M(0x15), 0 },
		{ INC(0x15), M0_PGT, 1 << 11, SYN_CODE_M(0x15), 1 },
		{ INC(0x0b), M0_PLD, 0x2a << 1, SYN_CODE_M(0x0b), 0 },
		{ INC(0x0b), M0_PLD, 0x6a << 1, SYN_CODE_M(0x0b), 0x6a },
		{ INC(0x0b), M0_PLD, 2 << 16, SYN_CODE_M(0x0b), 0x82 },
		{ INC(0x0b), M0_PLD, 4 << 16, SYN_CODE_M(0x0b), 0x84 },
		{ INC(0x0d), M0_ZDP_CTL_FVC, 5 << 12 | 3 << 6, SYN_CODE_M_FVC(5), 3 },
		{ INC(0x0e), M0_ZDP_CTL_FVC, 6 << 15 | 2 << 9, SYN_CODE_M_FVC(6), 2 },
		{ INC(0x10), M0_ZDP_CTL_FVC, 1 << 21, SYN_CODE_M_FVC(1), SYN_ANY },
		{ FLAG(6), M0_MAP, 3 << 6 | 0x2a, SYN_CODE_M_BCMD(0x2a), 3 },
	};
	unsigned int i, other, ctr = m_box[0] + CTR(0);

	for (i = 0; i < ARRAY_SIZE(of); i++) {
		for (other = 0; other < 2; other++) {
			start_over(0);
			set_pattern(0, SYN_SEL(SYN_BOX_M, 0, SYN_ANY_CODE, SYN_ANY),
				    SYN_PATTERN(0, 0, other, 1));
			set_pattern(0, SYN_SEL(SYN_BOX_M, 0, of[i].code, of[i].bit),
				    SYN_PATTERN(0, 0, !other, 1));
			msr_write(0, of[i].msr, of[i].val);
			msr_write(0, ctr - 1, of[i].sel);
			msr_write(0, m_box[0], 1);
			run_for(0, 100, 0);
			ktap_check(msr_read(0, ctr) == (other ? 0 : truth(0, SYN_ENABLED, ctr)),
				   "0x%x, 0x%x = %#llx, %s: %llu of %llu", of[i].sel, of[i].msr,
				   of[i].val, other ? "others" : "it alone", msr_read(0, ctr),
				   truth(0, SYN_ENABLED, ctr));
			ktap_check(truth(0, SYN_ENABLED, ctr), "it is not enabled");
			ktap_check(!msr_read(0, SYN_VIOLATIONS), "violations");
			msr_write(0, ctr - 1, 0);
			msr_write(0, of[i].msr, 0);
		}
	}
}

/* The second command; several of PLD[18:16] are undefined and count nothing. */
static void second_command(void)
{
	unsigned int ctr = m_box[0] + CTR(0), cmd;

	start_over(0);
	msr_write(0, SYN_TRAFFIC_MIX, 0);
	msr_write(0, m_box[0], 1);
	msr_write(0, M0_PLD, 0x1d << 19 | 1 << 16 | 2 << 8);
	msr_write(0, ctr - 1, INC(0x0b));
	msr_write(0, U_GLOBAL_CTL, U_EN_ALL);
	for (cmd = 1; cmd < 0x20; cmd++) {
		msr_write(0, SYN_PKT_HEADER, SYN_PKT_BOX(SYN_BOX_M) | SYN_PKT_OPCODE(cmd));
		msr_write(0, SYN_PKT_SEND, cmd == 0x1d ? 7 : 5);
	}
	msr_write(0, U_GLOBAL_CTL, 0);
	ktap_check(msr_read(0, ctr) == 7, "%llu", msr_read(0, ctr));
	ktap_check(!msr_read(0, SYN_VIOLATIONS), "violations");
	msr_write(0, ctr - 1, 0);
	msr_write(0, ctr, 0);
	msr_write(0, M0_PLD, 3 << 16);
	msr_write(0, ctr - 1, INC(0x0b));
	ktap_check(violations(SYN_V_UNDEFINED) == 1, "no violation");
	run_for(0, 100, 0);
	ktap_check(!msr_read(0, ctr), "%llu of two kinds at once", msr_read(0, ctr));
	msr_write(0, ctr - 1, 0);
	msr_write(0, M0_PLD, 0);
	start_over(0);
}

KTAP_MAIN({ "where overflows of C-Boxes show", cbox_sides },
	  { "M-Box details", mbox_details },
	  { "the second command of an M-Box", second_command })
