// SPDX-License-Identifier: GPL-2.0-only
/*
 * Experiments that need no interrupt, and the list of all. Each begins with a package where nothing
 * is enabled and ends with answer() or undetermined(); main.c then puts the registers back.
 */
#include <stdio.h>
#include <stdlib.h>
#include <x86intrin.h>

#include "hwcheck.h"

/* Does it count each clock, or none? Windows of both counters are the same, but for the ends. */
static bool each(unsigned long long n, unsigned long long clocks)
{
	return n + 100 > clocks && n < clocks + 100;
}

/* What counter 0 of a C- or S-Box counts beside the clocks. */
static uint64_t beside(uint32_t box, uint64_t sel, unsigned long long *clocks)
{
	wr(box + SEL(0), 0);
	wr(box + CTR(0), 0);
	wr(box + SEL(0), sel | EN);
	wr(box, 1);
	*clocks = count_for(1000, 0);
	wr(box, 0);
	return rd(box + CTR(0));
}

#define LLC_MISSES	(0x14ull | 7ull << 8)
#define PKTS_SENT_SNP	0x62ull

static void c_invert(void)
{
	unsigned long long clocks, n, plain, events;

	events = beside(C0, LLC_MISSES, &clocks);
	plain = beside(C0, LLC_MISSES | THRESH(255), &clocks);
	n = beside(C0, LLC_MISSES | INVERT | THRESH(255), &clocks);
	if (each(n, clocks) && !plain)
		answer("below", "less than 255: %llu in %llu clocks", n, clocks);
	if (!n && !plain && events)
		answer("above", "more than 255: 0, at all: %llu", events);
	undetermined("%llu in %llu clocks, without invert %llu, events %llu", n, clocks,
		     plain, events);
}

/* Which comparison the S-Box makes, "below" or "above"; NULL if it is neither. */
static const char *s_sense(char *text, size_t size)
{
	unsigned long long clocks[2], n[2];

	n[0] = beside(S0, PKTS_SENT_SNP | THRESH(255), &clocks[0]);
	n[1] = beside(S0, PKTS_SENT_SNP | INVERT | THRESH(255), &clocks[1]);
	snprintf(text, size, "threshold 255: %llu in %llu clocks, with invert %llu in %llu", n[0],
		 clocks[0], n[1], clocks[1]);
	if (!n[0] && each(n[1], clocks[1]))
		return "below";
	return each(n[0], clocks[0]) && !n[1] ? "above" : NULL;
}

static void s_invert(void)
{
	char text[160];
	const char *sense = s_sense(text, sizeof(text));

	if (!sense)
		undetermined("%s", text);
	answer(sense, "%s", text);
}

/* What event counter 0 of the W-Box counts beside the fixed one. One that holds 2 reads as 2. */
static uint64_t w_beside(uint64_t sel, unsigned long long *clocks)
{
	wr(W + SEL(0), 0);
	wr(W + CTR(0), 2);
	wr(W + SEL(0), sel | EN);
	*clocks = count_for(1000, 1);
	return rd(W + CTR(0)) - 2;
}

#define W_TURBO	(0x04ull | 0xffull << 8)	/* cycles of all cores */

static void w_invert(void)
{
	unsigned long long clocks, n, plain, events;

	/* Without it a counter that counts nothing would pass for one that compares. */
	events = w_beside(W_TURBO, &clocks);
	plain = w_beside(W_CLOCKS & ~INVERT, &clocks);
	n = w_beside(W_CLOCKS, &clocks);
	if (each(n, clocks) && !plain)
		answer("below", "less than 255: %llu in %llu clocks", n, clocks);
	if (!n && !plain && events)
		answer("above", "more than 255: 0, at all: %llu", events);
	undetermined("%llu in %llu clocks, without invert %llu, cycles in turbo %llu", n, clocks,
		     plain, events);
}

/* Overflow of counter 0 of S-Box 0 without PMI; nothing counts any more. */
static void plain_overflow(void)
{
	arm(S0, 1000, 0);
	if (!overflow(S0, 0))
		undetermined("S-Box 0 does not count clocks");
	wr(U_CTL, 0);
	if (!(rd(S0 + STATUS) & 1))
		undetermined("an overflow leaves no bit in STATUS");
}

static void summary_clear(void)
{
	bool above, below;

	clear_all();
	plain_overflow();
	if (!(rd(U_STATUS) & U_OV_S0))
		undetermined("an overflow of S-Box 0 does not show in the U-Box");
	wr(U_OVF, U_OV_S0);
	above = rd(U_STATUS) & U_OV_S0;
	below = rd(S0 + STATUS) & 1;
	if (above && below)
		answer("or", "U OVF_CTL has no effect while STATUS is up");
	if (above)
		undetermined("U OVF_CTL clears STATUS, but not the U-Box");
	if (!below)
		answer("down", "U OVF_CTL clears STATUS of S-Box 0 as well");
	clear_all();
	plain_overflow();
	wr(S0 + OVF, 1);
	if (rd(S0 + STATUS) & 1)
		undetermined("OVF_CTL of the box does not clear STATUS");
	if (rd(U_STATUS) & U_OV_S0)
		answer("latch", "the U-Box bit stays when STATUS is cleared");
	answer("both", "the U-Box bit goes with STATUS, and by U OVF_CTL");
}

static void pmi_while_ov(void)
{
	const char *clear = found("summary_clear");

	clear_all();
	arm(S0, 1000, PMI_EN);
	if (!overflow(S0, 0))
		undetermined("S-Box 0 does not count clocks");
	wr(U_CTL, 0);
	if (!(rd(U_STATUS) & U_PMI))
		undetermined("an overflow with pmi_en does not show in the U-Box");
	wr(U_OVF, U_PMI);
	if ((rd(U_STATUS) & U_PMI) || !(rd(S0 + STATUS) & 1))
		undetermined("pmi cannot be cleared alone");
	arm(S0, 1000, PMI_EN);
	if (!overflow(S0, 0))
		undetermined("S-Box 0 does not count clocks");
	wr(U_CTL, 0);
	if (rd(U_STATUS) & U_PMI)
		answer("sent", "pmi is up again though STATUS was up");
	/* If the bit above is their OR it was up, too, and may be what held it back. */
	if (!clear || (clear[0] == 'o' && clear[1] == 'r'))
		undetermined("pmi stays 0, which the bit above could be the reason for");
	answer("none", "pmi stays 0 while STATUS is up");
}

static void status_write(void)
{
	bool after_0, after_1;

	clear_all();
	plain_overflow();
	if (!try_wr(S0 + STATUS, 0) || !try_wr(S0 + STATUS, 0))
		undetermined("a write raises #GP");
	after_0 = rd(S0 + STATUS) & 1;
	if (!try_wr(S0 + STATUS, 1))
		undetermined("a write of 1 raises #GP");
	after_1 = rd(S0 + STATUS) & 1;
	if (after_0 && after_1)
		answer("ignored", "the bit stays up");
	if (!after_0 && after_1)
		answer("plain", "the bit is as written");
	if (after_0)
		answer("clears", "a 1 takes the bit down");
	undetermined("a 0 takes the bit down, a 1 does not set it");
}

/* What counter 0 of S-Box 0 counts with these bits, from 0. */
static uint64_t clocks_with(uint64_t u_ctl)
{
	wr(U_CTL, 0);
	arm(S0, 0, 0);
	wr(U_CTL, u_ctl);
	wait_us(100);
	wr(U_CTL, 0);
	return rd(S0 + CTR(0));
}

static void rst_all(void)
{
	uint64_t without, with;

	without = clocks_with(U_EN_ALL);
	if (!without)
		undetermined("S-Box 0 does not count clocks");
	with = clocks_with(U_EN_ALL | U_RST_ALL);
	if (with)
		answer("pulse", "%llu clocks counted while it was 1", (unsigned long long)with);
	answer("level", "none counted while it was 1, %llu without", (unsigned long long)without);
}

static void rst_all_start(void)
{
	uint64_t val;

	wr(S0 + SEL(0), 0);
	wr(S0 + CTR(0), 0x4321);
	wr(U_CTL, U_RST_ALL);
	if (rd(S0 + CTR(0)))
		undetermined("rst_all does not clear the counter");
	wr(S0 + CTR(0), 0x1234);
	wr(U_CTL, 0);
	val = rd(S0 + CTR(0));
	if (val == 0x1234)
		answer("taken", "the counter has it");
	if (!val)
		answer("lost", "the counter is 0");
	undetermined("the counter is %#llx", (unsigned long long)val);
}

/* Let S-Box 0 freeze the package; how far it went on counting. */
static uint64_t freeze(void)
{
	clear_all();
	arm(S0, 2000, PMI_EN);
	if (!overflow(S0, U_FRZ_ALL))
		undetermined("S-Box 0 does not count clocks");
	if (rd(U_CTL) & U_EN_ALL)
		undetermined("an overflow does not freeze");
	return rd(S0 + CTR(0));
}

static void freeze_latency(void)
{
	uint64_t first = freeze(), second = freeze();
	unsigned long long least = first < second ? first : second;

	if (least < 8)
		answer("0", "%llu clocks after the overflow", least);
	if (least < 128)
		answer("16", "%llu clocks after the overflow", least);
	if (least > 500 && least < 2000)
		answer("1000", "%llu clocks after the overflow", least);
	undetermined("%llu clocks after the overflow", least);
}

static void refreeze(void)
{
	freeze();
	wr(S0 + SEL(0), 0);
	arm(S1, 2000, PMI_EN);
	if (!overflow(S1, U_FRZ_ALL))
		undetermined("S-Box 1 does not count clocks");
	if (!(rd(S0 + STATUS) & 1))
		undetermined("STATUS of the first cause has gone down by itself");
	if (rd(U_CTL) & U_EN_ALL)
		answer("package", "S-Box 1 does not freeze while STATUS of S-Box 0 is up");
	answer("counter", "S-Box 1 freezes while STATUS of S-Box 0 is up");
}

static void cond(void)
{
	clear_all();
	plain_overflow();
	if (rd(U_STATUS) & U_COND)
		answer("overflow", "it is up after an overflow without PMI");
	freeze();
	if (rd(U_STATUS) & U_COND)
		answer("frozen", "it is up after a freeze only");
	answer("never", "it is 0 after a freeze");
}

/* Clocks by the text of the guide; a slice may have no request in that time. */
#define C_CLOCKS	(INVERT | THRESH(255))
#define TRANS_IRQ	0x19ull

static bool c_overflow(uint32_t box, uint64_t sel)
{
	wr(box + SEL(0), 0);
	wr(box + CTR(0), M48);
	wr(box + SEL(0), sel | EN);
	wr(box, 1);
	return overflow(box, 0);
}

static void cbox_sides(void)
{
	static const uint32_t box[] = {
		0xd00, 0xd80, 0xd40, 0xdc0, 0xd20, 0xda0, 0xd60, 0xde0, 0xf40, 0xfc0
	};
	unsigned int i, sides = 0;

	clear_all();
	for (i = 0; i < 10; i++) {
		uint64_t one;

		if (!c_overflow(box[i], TRANS_IRQ | C_CLOCKS) && !c_overflow(box[i], TRANS_IRQ))
			undetermined("C-Box %u counts neither clocks nor requests", i);
		wr(U_CTL, 0);
		one = rd(U_STATUS) & (U_OV_S0 | U_OV_S1);
		if (one != U_OV_S0 && one != U_OV_S1)
			undetermined("C-Box %u shows on no side, or on both", i);
		sides |= (one == U_OV_S1) << i;
		wr(box[i] + SEL(0), 0);
		wr(box[i] + OVF, 1);
		wr(U_OVF, U_OV_ALL);
		wr(box[i], 0);
	}
	if (sides == 0x3e0)
		answer("by_five", "sides 0x%x", sides);
	if (sides == 0x2f0)
		answer("by_eight", "sides 0x%x", sides);
	undetermined("sides 0x%x", sides);
}

static void u_codes(void)
{
	uint64_t val;

	wr(U_SEL, 0x1df);
	val = rd(U_SEL);
	if ((val & 0xff) != 0xdf)
		undetermined("0x1df reads back as %#llx", (unsigned long long)val);
	answer(val & 0x100 ? "nine" : "eight", "0x1df reads back as %#llx",
	       (unsigned long long)val);
}

/* ---- match registers ---- */

/* Counts in a million clocks, rounded up: windows are not equally long. */
static uint64_t in_million(uint32_t ctr, uint64_t clocks)
{
	return (rd(ctr) * 1000000 + clocks - 1) / clocks;
}

#define B_ADDR		0x00000fffffffffffull
#define B_MSG_IN_MATCH	1u		/* on counter 1 */

/* Incoming messages in a while, by MATCH and MASK. */
static uint64_t b_count(uint64_t match, uint64_t mask)
{
	wr(B0 + SEL(1), 0);
	wr(B0_MATCH, match);
	wr(B0_MASK, mask);
	wr(B0 + CTR(1), 0);
	wr(B0 + SEL(1), B_MSG_IN_MATCH << 1 | EN_LOW);
	wr(B0, 1u << 1);
	return in_million(B0 + CTR(1), count_for(1000, 0));
}

#define B_EVERYTHING	0x0fffffffffffffffull

/* Counts of what matches nothing, with a MASK of ones and one of zeros. */
static void tell_mask(unsigned long long ones, unsigned long long zero)
{
	if (!ones && zero)
		answer("compare", "MASK of ones: 0, of zeros: %llu", zero);
	if (ones && !zero)
		answer("ignore", "MASK of ones: %llu, of zeros: 0", ones);
	undetermined("MASK of ones: %llu, of zeros: %llu", ones, zero);
}

static void b_mask(void)
{
	tell_mask(b_count(B_EVERYTHING, B_EVERYTHING), b_count(B_EVERYTHING, 0));
}

static void b_match_parts(void)
{
	const char *sense = found("b_mask");
	unsigned long long any, address;
	uint64_t none, only;

	if (!sense)
		undetermined("needs to know b_mask");
	none = sense[0] == 'c' ? 0 : B_EVERYTHING;
	only = none ^ B_ADDR;
	any = b_count(0, none);
	address = b_count(B_ADDR, only);
	if (!any)
		undetermined("no messages");
	if (address)
		answer("named", "%llu messages at an address there is not, %llu in all", address,
		       any);
	answer("all", "no messages at an address there is not, %llu in all", any);
}

#define S_MM_EN		(1ull << 63)
#define S_RESET_OCC	(1ull << 17)

static uint64_t s_count(uint64_t sel)
{
	wr(S0 + SEL(0), 0);
	wr(S0 + CTR(0), 0);
	wr(S0 + SEL(0), sel | EN | S_RESET_OCC);
	wr(S0, 1);
	return in_million(S0 + CTR(0), count_for(1000, 0));
}

static void s_codes(void)
{
	unsigned long long table, details;
	const char *sense;
	char text[160];
	uint64_t two;

	sense = s_sense(text, sizeof(text));
	if (!sense)
		undetermined("%s", text);
	two = sense[0] == 'a' ? INVERT | THRESH(1) : THRESH(2);
	table = s_count(0x2c | two);
	details = s_count(0x2e | two);

	if (table && !details)
		answer("table", "two or more: 0x2c %llu, 0x2e 0", table);
	if (!table && details)
		answer("details", "two or more: 0x2c 0, 0x2e %llu", details);
	undetermined("two or more: 0x2c %llu, 0x2e %llu", table, details);
}

/* Packets that MATCH lets through; address and home node are ignored. */
static uint64_t s_packets(uint64_t match)
{
	uint64_t n;

	wr(S0 + SEL(0), 0);
	wr(S0_MM_CFG, 0);
	wr(S0_MATCH, match);
	wr(S0_MASK, 0x7fffffffffull);
	wr(S0_MM_CFG, S_MM_EN);
	n = s_count(0);
	wr(S0 + SEL(0), 0);
	wr(S0_MM_CFG, 0);
	return n;
}

/* Bits that alone change what is counted: where a class is valid, or an opcode, or a response. */
static void s_match(void)
{
	uint64_t all = s_packets(0), effect = 0;
	int bit;

	if (all < 100)
		undetermined("too few packets: %llu", (unsigned long long)all);
	for (bit = 0; bit < 64; bit++) {
		uint64_t before = s_packets(0), one = s_packets(1ull << bit);

		/* A class, an opcode or a state is less than half of all. */
		if (one < before / 2)
			effect |= 1ull << bit;
	}
	if (effect == (1ull << 47 | 1ull << 52 | 0xfull << 59))
		answer("addr_low", "bits that filter: %#llx", (unsigned long long)effect);
	if (effect == (1ull << 4 | 1ull << 9 | 0xfull << 10))
		answer("class_low", "bits that filter: %#llx", (unsigned long long)effect);
	undetermined("bits that filter: %#llx", (unsigned long long)effect);
}

#define TO_R_DRS_FULL	0x0e

static void to_r_full(void)
{
	unsigned long long n[3];
	unsigned int i;

	for (i = 0; i < 3; i++) {
		wr(S0 + CTR(i), 0);
		wr(S0 + SEL(i), TO_R_DRS_FULL | (uint64_t)(i + 1) << 8 | EN);
	}
	wr(S0, 7);
	wr(U_CTL, U_EN_ALL);
	wait_us(10000);
	wr(U_CTL, 0);
	for (i = 0; i < 3; i++)
		n[i] = rd(S0 + CTR(i));
	if (n[0] < 100 || n[1] < 100)
		undetermined("too seldom full: %llu, %llu, both %llu", n[0], n[1], n[2]);
	if (!n[2])
		answer("none", "%llu, %llu, both 0", n[0], n[1]);
	if (llabs((long long)(n[2] - n[0])) <= 2)
		answer("first", "%llu, %llu, both %llu", n[0], n[1], n[2]);
	if (n[2] > n[0] && n[2] > n[1] && n[2] <= n[0] + n[1] + 2)
		answer("any", "%llu, %llu, both %llu", n[0], n[1], n[2]);
	undetermined("%llu, %llu, both %llu", n[0], n[1], n[2]);
}

#define M_MM_EN		(1ull << 63)
#define M_DRAM_CMD	(0x0aull << 9)
#define M_WRAP		(1ull << 6)
#define M_EVERYTHING	((1ull << 34) - 1)

static uint64_t m_count(uint64_t match, uint64_t mask)
{
	uint64_t n;

	wr(M0 + SEL(0), 0);
	wr(M0_MM_CFG, 0);
	wr(M0_MATCH, match);
	wr(M0_MASK, mask);
	wr(M0_MM_CFG, M_MM_EN);
	wr(M0 + CTR(0), 0);
	wr(M0 + SEL(0), M_DRAM_CMD | M_WRAP | EN_LOW);
	wr(M0, 1);
	n = in_million(M0 + CTR(0), count_for(1000, 0));
	wr(M0 + SEL(0), 0);
	wr(M0_MM_CFG, 0);
	return n;
}

#define M_MASK_ALL	((1ull << 28) - 1)

static void m_mask(void)
{
	tell_mask(m_count(M_EVERYTHING, M_MASK_ALL), m_count(M_EVERYTHING, 0));
}

/* The lowest six bits of MASK stand for address bits 11:6. Which of MATCH do they meet? */
static void m_addr(void)
{
	const char *sense = found("m_mask");
	unsigned long long base, low, high;
	uint64_t mask;

	if (!sense)
		undetermined("needs to know m_mask");
	mask = sense[0] == 'c' ? 0x3f : M_MASK_ALL ^ 0x3f;
	base = m_count(0, mask);
	low = m_count(0x3f, mask);
	high = m_count(0xfc0, mask);
	if (base < 100)
		undetermined("too few commands: %llu", base);
	if (low > base / 2 && low < 2 * base && (high < base / 2 || high > 2 * base))
		answer("byte", "MATCH 0: %llu, 5:0: %llu, 11:6: %llu", base, low, high);
	if ((low < base / 2 || low > 2 * base) && high > base / 2 && high < 2 * base)
		answer("line", "MATCH 0: %llu, 5:0: %llu, 11:6: %llu", base, low, high);
	undetermined("MATCH 0: %llu, 5:0: %llu, 11:6: %llu", base, low, high);
}

static void m_lock(void)
{
	uint64_t old = rd(M0_MATCH);
	bool ok;

	wr(M0_MM_CFG, M_MM_EN);
	ok = try_wr(M0_MATCH, old ^ 0x40);
	wr(M0_MM_CFG, 0);
	if (!ok)
		answer("gp", "a write raises #GP");
	if (rd(M0_MATCH) != (old ^ 0x40))
		undetermined("a write has no effect");
	answer("no", "a write is taken");
}

/* ---- R ---- */

#define IPERF_SENT	(1ull << 31)
#define IPERF_NULL_IDLE	(1ull << 30)

static void flits_sent(void)
{
	unsigned long long sent, either, idle;

	wr(R0 + SEL(0), 0);
	wr(R0 + SEL(1), 0);
	wr(R0_IPERF0, IPERF_SENT);
	wr(R0_IPERF1, IPERF_SENT | IPERF_NULL_IDLE);
	wr(R0 + CTR(0), 0);
	wr(R0 + CTR(1), 0);
	wr(R0 + SEL(0), 0u << 1 | EN_LOW);
	wr(R0 + SEL(1), 1u << 1 | EN_LOW);
	wr(R0, 3);
	wr(U_CTL, U_EN_ALL);
	wait_us(10000);
	wr(U_CTL, 0);
	sent = rd(R0 + CTR(0));
	either = rd(R0 + CTR(1));
	wr(R0 + SEL(1), 0);
	wr(R0_IPERF1, IPERF_NULL_IDLE);
	wr(R0 + CTR(1), 0);
	wr(R0 + SEL(1), 1u << 1 | EN_LOW);
	wr(U_CTL, U_EN_ALL);
	wait_us(10000);
	wr(U_CTL, 0);
	idle = rd(R0 + CTR(1));
	if (idle < 1000 || !sent)
		undetermined("sent %llu, idle %llu: no idle link", sent, idle);
	if (either <= sent + sent / 1000 + 2)
		answer("all", "sent %llu, sent or idle %llu, idle %llu", sent, either, idle);
	if (either > sent + idle / 8)
		answer("data", "sent %llu, sent or idle %llu, idle %llu", sent, either, idle);
	undetermined("sent %llu, sent or idle %llu, idle %llu", sent, either, idle);
}

/* ---- W ---- */

static void w_fixed_pmi(void)
{
	clear_all();
	wr(W_FIXED_CTL, 0);
	wr(W_FIXED, M48 + 1 - 1000);
	wr(W_FIXED_CTL, 1 | 1 << 2);
	wr(W, W_FIXED_BIT);
	wr(U_CTL, U_EN_ALL);
	wait_us(1000);
	wr(U_CTL, 0);
	wr(W_FIXED_CTL, 0);
	if (!(rd(W + STATUS) & W_FIXED_BIT))
		undetermined("the fixed counter does not overflow");
	if (rd(U_STATUS) & U_PMI)
		answer("bit_2", "an overflow shows as PMI");
	answer("none", "an overflow shows, but not as PMI");
}

#define W_SOME		0x5000000ull	/* low 24 bits are 0 */
#define W_EXCESS	0x1000000ull

/* Is a value read too high that was written, and has not been counted to? */
static bool w_written(uint32_t ctr)
{
	uint64_t val;

	wr(ctr, W_SOME);
	val = rd(ctr);
	if (val != W_SOME && val != W_SOME + W_EXCESS)
		undetermined("MSR 0x%x: %#llx is read as %#llx", ctr, W_SOME,
			     (unsigned long long)val);
	return val != W_SOME;
}

/*
 * Counts both kinds of counter up from start, until a freeze by S-Box 0 stops them after
 * always the same time.
 */
static void w_run(uint64_t start_event, uint64_t start_fixed)
{
	clear_all();
	arm(S0, 4000, PMI_EN);
	wr(W + SEL(0), 0);
	wr(W_FIXED_CTL, 0);
	wr(W + CTR(0), start_event);
	wr(W_FIXED, start_fixed);
	wr(W + SEL(0), W_CLOCKS | EN);
	wr(W_FIXED_CTL, 1);
	wr(W, W_FIXED_BIT | 1);
	if (!overflow(S0, U_FRZ_ALL) || (rd(U_CTL) & U_EN_ALL))
		undetermined("an overflow does not freeze");
}

#define W_EVENTS	1u	/* bit of the event counter in what follows */
#define W_BOTH		3u	/* and of the fixed one */

/*
 * Which of the two read a value too high that they have counted to? An event counter that has no
 * clock (w_invert) cannot tell and is not in @clocks.
 */
static unsigned int w_counted(unsigned int *clocks)
{
	static const uint32_t ctr[] = { W + CTR(0), W_FIXED };
	unsigned int high = 0, known = 0, i;
	uint64_t took[2];
	int off;

	w_run(0x100000, 0x100000);
	*clocks = W_BOTH;
	for (i = 0; i < 2; i++) {
		took[i] = rd(ctr[i]) - 0x100000;
		if (i == 0 && !took[i])
			*clocks &= ~W_EVENTS;
		else if (took[i] < 100 || took[i] > 1000000)
			undetermined("MSR 0x%x does not count clocks: %llu", ctr[i],
				     (unsigned long long)took[i]);
	}
	for (off = -3; off <= 3 && known != *clocks; off++) {
		w_run(took[0] ? W_SOME - took[0] + off : 0x100000, W_SOME - took[1] + off);
		for (i = 0; i < 2; i++) {
			uint64_t val = rd(ctr[i]);

			if ((val & 0xffffff) > 1)
				continue;
			known |= 1u << i;
			if (val >= W_SOME + W_EXCESS)
				high |= 1u << i;
		}
	}
	if (known != *clocks)
		undetermined("the counters do not stop where they should");
	return high;
}

/* What the two experiments need: written and counted, event and fixed counter. */
static void w_look(unsigned int *written, unsigned int *counted, unsigned int *clocks)
{
	wr(W + SEL(0), 0);
	wr(W_FIXED_CTL, 0);
	*written = w_written(W + CTR(0)) | w_written(W_FIXED) << 1;
	*counted = w_counted(clocks);
}

static void w_erratum(void)
{
	unsigned int written, counted, clocks;

	w_look(&written, &counted, &clocks);
	if (!written && !counted && clocks == W_BOTH)
		answer("none", "neither written nor counted values are too high");
	if (!written && counted)
		answer("counted", "counted values are too high, not written ones (%u)", counted);
	if (written && (written & clocks) == counted)
		answer("every", "written and counted values are too high (%u)", written);
	undetermined("written %u, counted %u of %u", written, counted, clocks);
}

static void w_erratum_which(void)
{
	static const char * const which[] = { NULL, "events", "fixed", "all" };
	unsigned int written, counted, clocks;

	w_look(&written, &counted, &clocks);
	/* Where written values are too high, so are those that it would count to. */
	if (clocks != W_BOTH && written) {
		counted |= written;
		clocks = W_BOTH;
	}
	if (clocks != W_BOTH)
		undetermined("fixed %u, the event counter has no clock", counted >> 1);
	if (!counted)
		undetermined("no counter has it");
	answer(which[counted], "event counter %u, fixed %u", counted & 1, counted >> 1);
}

/* Uncore clocks for one of the time stamp counter in a while: at least and at most. */
static void clock_window(bool busy, double *least, double *most)
{
	unsigned long long before, on, off, after;
	double n;

	wr(W_FIXED_CTL, 0);
	wr(W_FIXED, 2);
	wr(W_FIXED_CTL, 1);
	wr(W, W_FIXED_BIT);
	before = __rdtsc();
	wr(U_CTL, U_EN_ALL);
	on = __rdtsc();
	if (!busy)
		wait_us(20000);
	while (busy && __rdtsc() - on < 20000000)
		;
	off = __rdtsc();
	wr(U_CTL, 0);
	after = __rdtsc();
	n = rd(W_FIXED) - 2;
	*least = n / (after - before);
	*most = n / (off - on);
}

static void uncore_clock(void)
{
	double least = 0, most = 1e9, low, high;
	int i;

	for (i = 0; i < 6; i++) {
		clock_window(i & 1, &low, &high);
		least = low > least ? low : least;
		most = high < most ? high : most;
	}
	if (!least)
		undetermined("no clock: the fixed counter of the W-Box counts none");
	if (least > 1.01 * most)
		answer("changes", "idle and busy, clocks of one of the TSC: %.6f and %.6f", most,
		       least);
	if (least > most)
		undetermined("idle and busy, clocks of one of the TSC: %.6f and %.6f", most, least);
	answer("fixed", "idle and busy, clocks of one of the TSC: %.6f to %.6f", least, most);
}

static void m_mask_width(void)
{
	unsigned long long val;

	wr(M0_MASK, M_MASK_ALL);
	val = rd(M0_MASK);
	if (val != M_MASK_ALL && val != M_MASK_ALL >> 1)
		undetermined("%#llx reads back as %#llx", M_MASK_ALL, val);
	answer(val == M_MASK_ALL ? "28" : "27", "%#llx reads back as %#llx", M_MASK_ALL, val);
}

#define PMIS	(MAY_S0 | MAY_PMI_EN)

#define NMIS	(MAY_S0 | MAY_PMI)

/* In this order: some need to know what others have found. */
const struct experiment experiments[] = {
	{ "debugctl_13", LEVEL_PMI, true, true, 0, NMIS, NULL, debugctl_13 },
	{ "pmi_mask_0", LEVEL_PMI, true, true, 0, NMIS, "debugctl_13", pmi_mask_0 },
	{ "c_invert", LEVEL_COUNT, true, true, 0, MAY_C0 | MAY_W, NULL, c_invert },
	{ "s_invert", LEVEL_COUNT, true, true, 0, MAY_S0 | MAY_W, NULL, s_invert },
	{ "w_invert", LEVEL_COUNT, true, true, 0, MAY_W, NULL, w_invert },
	{ "summary_clear", LEVEL_COUNT, true, true, 0, MAY_S0, NULL, summary_clear },
	{ "pmi_while_ov", LEVEL_COUNT, true, true, 0, PMIS, "summary_clear", pmi_while_ov },
	{ "status_write", LEVEL_COUNT, true, true, BREAKS_READ_ONLY, MAY_S0 | MAY_STATUS, NULL,
	  status_write },
	{ "rst_all", LEVEL_COUNT, true, true, BREAKS_RST_ALL, MAY_S0 | MAY_RST, NULL, rst_all },
	{ "rst_all_start", LEVEL_COUNT, true, true, BREAKS_RST_ALL, MAY_S0 | MAY_RST, NULL,
	  rst_all_start },
	{ "freeze_latency", LEVEL_COUNT, true, true, 0, PMIS, NULL, freeze_latency },
	{ "refreeze", LEVEL_COUNT, true, true, 0, PMIS | MAY_S1, NULL, refreeze },
	{ "cond", LEVEL_COUNT, true, true, 0, PMIS, NULL, cond },
	{ "cbox_sides", LEVEL_COUNT, false, true, 0, MAY_C_ALL, NULL, cbox_sides },
	{ "u_codes", LEVEL_COUNT, true, true, 0, MAY_U_SEL, NULL, u_codes },
	{ "b_mask", LEVEL_COUNT, true, true, 0, MAY_B0 | MAY_W, NULL, b_mask },
	{ "b_match_parts", LEVEL_COUNT, true, true, 0, MAY_B0 | MAY_W, "b_mask", b_match_parts },
	{ "s_codes", LEVEL_COUNT, true, false, 0, MAY_S0 | MAY_W, NULL, s_codes },
	{ "s_match", LEVEL_COUNT, true, true, 0, MAY_S0 | MAY_S0_MATCH | MAY_W, NULL, s_match },
	{ "to_r_full", LEVEL_COUNT, true, true, BREAKS_UNDEFINED, MAY_S0, NULL, to_r_full },
	{ "m_mask", LEVEL_COUNT, true, true, 0, MAY_M0 | MAY_W, NULL, m_mask },
	{ "m_addr", LEVEL_COUNT, true, true, 0, MAY_M0 | MAY_W, "m_mask", m_addr },
	{ "m_lock", LEVEL_COUNT, true, true, BREAKS_LOCKED, MAY_M0, NULL, m_lock },
	{ "m_mask_width", LEVEL_COUNT, true, true, 0, MAY_M0, NULL, m_mask_width },
	{ "flits_sent", LEVEL_COUNT, true, true, 0, MAY_R0, NULL, flits_sent },
	{ "w_fixed_pmi", LEVEL_COUNT, true, true, 0, MAY_W | MAY_PMI_EN, NULL, w_fixed_pmi },
	{ "w_erratum", LEVEL_COUNT, true, true, 0, PMIS | MAY_W, NULL, w_erratum },
	{ "w_erratum_which", LEVEL_COUNT, true, true, 0, PMIS | MAY_W, NULL, w_erratum_which },
	{ "uncore_clock", LEVEL_COUNT, true, true, 0, MAY_W, NULL, uncore_clock },
	{ "pmi_no_debugctl", LEVEL_PMI, true, true, 0, NMIS, "debugctl_13", pmi_no_debugctl },
	{ "pmi_core_sel", LEVEL_PMI, true, true, 0, NMIS, "debugctl_13", pmi_core_sel },
};

const unsigned int num_experiments = ARRAY_SIZE(experiments);
