// SPDX-License-Identifier: GPL-2.0-only
/*
 * Experiments that need no interrupt, and the list of all. Each begins with a package where nothing
 * is enabled and ends with answer(), NULL for "undetermined"; main.c then puts the registers back.
 */
#include <string.h>
#include <x86intrin.h>

#include "hwcheck.h"

/* ---- what most experiments do ---- */

/* Let the package count. */
static void window(u64 u_ctl, unsigned int us)
{
	wr(U_CTL, u_ctl);
	wait_us(us);
	wr(U_CTL, 0);
}

void clear_all(void)
{
	wr(U_CTL, 0);
	clear_overflows(pkg, current);
}

/* PKTS_SENT_SNP, with a threshold that no increment reaches. */
#define PKTS_SENT_SNP	0x62ull
#define S_NEVER		(PKTS_SENT_SNP | THRESH(255))

/* Text and table of the manual disagree about invert: one of the two counts every clock. */
u64 s_clock(void)
{
	static const struct package *of;
	static u64 clock;
	unsigned int i;

	for (i = 0; of != pkg && i < 2; i++) {
		clock = S_NEVER | (i ? 0 : INVERT);
		wr(U_CTL, 0);
		wr(S0 + SEL(0), 0);
		wr(S0 + CTR(0), 0);
		wr(S0 + SEL(0), clock | EN);
		wr(S0, 1);
		window(U_EN_ALL, 20);
		if (rd(S0 + CTR(0)))
			of = pkg;
	}
	if (of != pkg)
		undetermined("no clock: S-Box 0 counts none, with or without invert");
	return clock;
}

/* Counter 0 of an S-Box counts clocks and overflows after n. */
static void arm(u32 box, unsigned int n, u64 pmi_en)
{
	u64 clock = s_clock();

	wr(box + SEL(0), 0);
	wr(box + CTR(0), (M48 + 1 - n) & M48);
	wr(box + SEL(0), clock | EN | pmi_en);
	wr(box, 1);
}

/* Let the package count until counter 0 of the box has overflowed; false: it has not. */
static bool overflows(u32 box, u64 u_ctl)
{
	bool done = false;
	int i;

	wr(U_CTL, u_ctl | U_EN_ALL);
	for (i = 0; i < 100 && !done; i++) {
		wait_us(50);
		done = rd(box + CTR(0)) < 1ull << 47;
	}
	/* What follows it: a freeze. */
	wait_us(50);
	return done;
}

/* Without a freeze the package is stopped then. */
static void overflow(u32 box, unsigned int n, u64 pmi_en, u64 u_ctl)
{
	arm(box, n, pmi_en);
	if (!overflows(box, u_ctl))
		undetermined("S-Box %d does not count clocks", box == S1);
	if (!u_ctl)
		wr(U_CTL, 0);
}

/* A counter of the W-Box that holds 2 reads as 2. */
static void clocks_from_2(u64 w_counters)
{
	wr(W_FIXED_CTL, 0);
	wr(W_FIXED, 2);
	wr(W_FIXED_CTL, 1);
	wr(W, W_FIXED_BIT | w_counters);
}

static u64 clocks;	/* of the last count() */

/* What a counter counts with this select in a millisecond. */
static u64 count(u32 box, unsigned int n, u64 sel)
{
	u64 from = box == W ? 2 : 0, to;

	wr(box + SEL(n), 0);
	wr(box + CTR(n), from);
	wr(box + SEL(n), sel);
	if (box != W)
		wr(box, 1u << n);
	clocks_from_2(box == W);
	window(U_EN_ALL, 1000);
	clocks = rd(W_FIXED) - 2;
	if (!clocks)
		undetermined("no clock: the fixed counter of the W-Box counts none");
	to = rd(box + CTR(n));
	wr(box + SEL(n), 0);
	return to - from;
}

/* In a million clocks, rounded up: windows are not equally long. */
static u64 rate(u32 box, unsigned int n, u64 sel)
{
	u64 events = count(box, n, sel);

	return (events * 1000000 + clocks - 1) / clocks;
}

/* Is it each clock? Windows of both counters are the same, but for the ends. */
static bool each(u64 n)
{
	return n + 100 > clocks && n < clocks + 100;
}

/* ---- thresholds ---- */

/*
 * Which comparison invert makes, with a threshold that no increment reaches. "above" is at most the
 * threshold without it in S- and W-Boxes, at least in a C-Box: that counts nothing either way, and
 * must show without a threshold that it counts at all.
 */
static void invert(u32 box, u64 sel)
{
	u64 events = count(box, 0, sel | EN), plain, inverted;
	bool all;

	plain = count(box, 0, sel | THRESH(255) | EN);
	all = box == C0 ? !plain && events : each(plain);
	inverted = count(box, 0, sel | THRESH(255) | INVERT | EN);
	answer(!plain && each(inverted) ? "below" : all && !inverted ? "above" : NULL,
	       "threshold 255: %llu, with invert %llu in %llu clocks, control %llu", plain,
	       inverted, clocks, events);
}

#define LLC_MISSES	(0x14ull | 7ull << 8)

static void c_invert(void)
{
	invert(C0, LLC_MISSES);
}

static void s_invert(void)
{
	invert(S0, PKTS_SENT_SNP);
}

static void w_invert(void)
{
	invert(W, W_CLOCKS);
}

static void s_codes(void)
{
	const char *sense = found("s_invert");
	u64 two, table, details;

	if (!sense)
		undetermined("needs to know s_invert");
	two = (sense[0] == 'a' ? INVERT | THRESH(1) : THRESH(2)) | S_RESET_OCC | EN;
	table = rate(S0, 0, 0x2c | two);
	details = rate(S0, 0, 0x2e | two);
	answer(table && !details ? "table" : !table && details ? "details" : NULL,
	       "two or more: 0x2c %llu, 0x2e %llu", table, details);
}

/* ---- overflows ---- */

/* Of counter 0 of S-Box 0 without PMI; nothing counts any more. */
static void plain_overflow(void)
{
	clear_all();
	overflow(S0, 1000, 0, 0);
	if (!(rd(S0 + STATUS) & 1))
		undetermined("an overflow leaves no bit in STATUS");
}

static void summary_clear(void)
{
	bool above, below;

	plain_overflow();
	if (!(rd(U_STATUS) & U_OV_S0))
		undetermined("an overflow of S-Box 0 does not show in the U-Box");
	wr(U_OVF, U_OV_S0);
	above = rd(U_STATUS) & U_OV_S0;
	below = rd(S0 + STATUS) & 1;
	if (above || !below)
		answer(!above ? "down" : below ? "or" : NULL,
		       "U OVF_CTL leaves the U-Box bit %d, STATUS %d", above, below);
	plain_overflow();
	wr(S0 + OVF, 1);
	if (rd(S0 + STATUS) & 1)
		undetermined("OVF_CTL of the box does not clear STATUS");
	above = rd(U_STATUS) & U_OV_S0;
	answer(above ? "latch" : "both",
	       "U OVF_CTL clears the U-Box bit, that of the box leaves %d", above);
}

static void pmi_while_ov(void)
{
	const char *clear = found("summary_clear");
	bool sent, unsure;

	clear_all();
	overflow(S0, 1000, PMI_EN, 0);
	if (!(rd(U_STATUS) & U_PMI))
		undetermined("an overflow with pmi_en does not show in the U-Box");
	wr(U_OVF, U_PMI);
	if ((rd(U_STATUS) & U_PMI) || !(rd(S0 + STATUS) & 1))
		undetermined("pmi cannot be cleared alone");
	overflow(S0, 1000, PMI_EN, 0);
	sent = rd(U_STATUS) & U_PMI;
	/* If the bit above is their OR it was up, too, and may be what held it back. */
	unsure = !clear || !strcmp(clear, "or");
	answer(sent ? "sent" : unsure ? NULL : "none",
	       "pmi is %d after an overflow while STATUS was up%s", sent,
	       unsure ? ", which the bit above could be the reason for" : "");
}

static void status_write(void)
{
	bool after_0, after_1;

	plain_overflow();
	wr(S0 + STATUS, 0);
	after_0 = rd(S0 + STATUS) & 1;
	wr(S0 + STATUS, 1);
	after_1 = rd(S0 + STATUS) & 1;
	answer(after_0 && after_1 ? "ignored" : after_0 ? "clears" : after_1 ? "plain" : NULL,
	       "STATUS is %d after a 0 was written, %d after a 1", after_0, after_1);
}

/* What counter 0 of S-Box 0 counts with these bits, from 0. */
static u64 clocks_with(u64 u_ctl)
{
	wr(U_CTL, 0);
	arm(S0, 0, 0);
	window(u_ctl, 100);
	return rd(S0 + CTR(0));
}

static void rst_all(void)
{
	u64 without = clocks_with(U_EN_ALL), with;

	if (!without)
		undetermined("S-Box 0 does not count clocks");
	with = clocks_with(U_EN_ALL | U_RST_ALL);
	answer(with ? "pulse" : "level", "%llu clocks counted while it was 1, %llu without", with,
	       without);
}

static void rst_all_start(void)
{
	u64 val;

	wr(S0 + SEL(0), 0);
	wr(S0 + CTR(0), 0x4321);
	wr(U_CTL, U_RST_ALL);
	if (rd(S0 + CTR(0)))
		undetermined("rst_all does not clear the counter");
	wr(S0 + CTR(0), 0x1234);
	wr(U_CTL, 0);
	val = rd(S0 + CTR(0));
	answer(val == 0x1234 ? "taken" : !val ? "lost" : NULL, "0x1234 reads back as %#llx", val);
}

/* Let S-Box 0 freeze the package; how far it went on counting. */
static u64 freeze(void)
{
	clear_all();
	overflow(S0, 2000, PMI_EN, U_FRZ_ALL);
	if (rd(U_CTL) & U_EN_ALL)
		undetermined("an overflow does not freeze");
	return rd(S0 + CTR(0));
}

static void freeze_latency(void)
{
	u64 first = freeze(), second = freeze(), least = first < second ? first : second;

	answer(least < 8 ? "0" : least < 128 ? "16" : least > 500 && least < 2000 ? "1000" : NULL,
	       "%llu clocks after the overflow", least);
}

static void refreeze(void)
{
	bool runs;

	freeze();
	wr(S0 + SEL(0), 0);
	overflow(S1, 2000, PMI_EN, U_FRZ_ALL);
	if (!(rd(S0 + STATUS) & 1))
		undetermined("STATUS of the first cause has gone down by itself");
	runs = rd(U_CTL) & U_EN_ALL;
	answer(runs ? "package" : "counter", "en_all is %d after S-Box 1, S-Box 0 is up",
	       runs);
}

static void cond(void)
{
	bool frozen;

	plain_overflow();
	if (rd(U_STATUS) & U_COND)
		answer("overflow", "it is 1 after an overflow without PMI");
	freeze();
	frozen = rd(U_STATUS) & U_COND;
	answer(frozen ? "frozen" : "never",
	       "it is 0 after an overflow without PMI, %d after a freeze", frozen);
}

/* Clocks by the text of the guide; a slice may have no request in that time. */
#define C_CLOCKS	(INVERT | THRESH(255))
#define TRANS_IRQ	0x19ull

static bool c_overflows(u32 box, u64 sel)
{
	wr(box + SEL(0), 0);
	wr(box + CTR(0), M48);
	wr(box + SEL(0), sel | EN);
	wr(box, 1);
	return overflows(box, 0);
}

static void cbox_sides(void)
{
	static const u32 box[] = {
		0xd00, 0xd80, 0xd40, 0xdc0, 0xd20, 0xda0, 0xd60, 0xde0, 0xf40, 0xfc0
	};
	unsigned int i, sides = 0;

	clear_all();
	for (i = 0; i < 10; i++) {
		u64 one;

		if (!c_overflows(box[i], TRANS_IRQ | C_CLOCKS) && !c_overflows(box[i], TRANS_IRQ))
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
	answer(sides == 0x3e0 ? "by_five" : sides == 0x2f0 ? "by_eight" : NULL, "sides 0x%x",
	       sides);
}

static void w_fixed_pmi(void)
{
	bool pmi;

	clear_all();
	wr(W_FIXED_CTL, 0);
	wr(W_FIXED, M48 + 1 - 1000);
	wr(W_FIXED_CTL, 1 | 1 << 2);
	wr(W, W_FIXED_BIT);
	window(U_EN_ALL, 1000);
	wr(W_FIXED_CTL, 0);
	if (!(rd(W + STATUS) & W_FIXED_BIT))
		undetermined("the fixed counter does not overflow");
	pmi = rd(U_STATUS) & U_PMI;
	answer(pmi ? "bit_2" : "none", "an overflow shows, pmi is %d", pmi);
}

/* ---- registers and match registers ---- */

static void u_codes(void)
{
	u64 val;

	wr(U_SEL, 0x1df);
	val = rd(U_SEL);
	answer((val & 0xff) != 0xdf ? NULL : val & 0x100 ? "nine" : "eight",
	       "0x1df reads back as %#llx", val);
}

/* A counter of what MATCH lets through, where MASK says to compare, or not to. */
struct matcher {
	u32 box, mm_cfg, match, mask;	/* mm_cfg: switches it on; 0: it is */
	unsigned int ctr;
	u64 sel;
};

static u64 matched(const struct matcher *m, u64 match, u64 mask)
{
	u64 n;

	wr(m->box + SEL(m->ctr), 0);
	if (m->mm_cfg)
		wr(m->mm_cfg, 0);
	wr(m->match, match);
	wr(m->mask, mask);
	if (m->mm_cfg)
		wr(m->mm_cfg, MM_EN);
	n = rate(m->box, m->ctr, m->sel);
	if (m->mm_cfg)
		wr(m->mm_cfg, 0);
	return n;
}

/* Counts of what matches nothing, with a MASK of ones and one of zeros. */
static void tell_mask(const struct matcher *m, u64 nothing, u64 mask)
{
	u64 ones = matched(m, nothing, mask), zeros = matched(m, nothing, 0);

	answer(!ones && zeros ? "compare" : ones && !zeros ? "ignore" : NULL,
	       "MASK of ones: %llu, of zeros: %llu", ones, zeros);
}

#define B_ADDR		0x00000fffffffffffull
#define B_EVERYTHING	0x0fffffffffffffffull

/* MSG_IN_MATCH: incoming messages, on counter 1 */
static const struct matcher b_in = { B0, 0, B0_MATCH, B0_MASK, 1, 1 << 1 | EN_LOW };

static void b_mask(void)
{
	tell_mask(&b_in, B_EVERYTHING, B_EVERYTHING);
}

static void b_match_parts(void)
{
	const char *sense = found("b_mask");
	u64 any, address, none;

	if (!sense)
		undetermined("needs to know b_mask");
	none = sense[0] == 'c' ? 0 : B_EVERYTHING;
	any = matched(&b_in, 0, none);
	address = matched(&b_in, B_ADDR, none ^ B_ADDR);
	answer(!any ? NULL : address ? "named" : "all",
	       "%llu messages at an address there is not, %llu in all", address, any);
}

/* Packets, with address and home node ignored */
static u64 s_packets(u64 match)
{
	static const struct matcher s_out = {
		S0, S0_MM_CFG, S0_MATCH, S0_MASK, 0, S_RESET_OCC | EN
	};

	return matched(&s_out, match, 0x7fffffffffull);
}

/* Bits that alone change what is counted: where a class is valid, or an opcode, or a response. */
static void s_match(void)
{
	u64 all = s_packets(0), effect = 0;
	int bit;

	if (all < 100)
		undetermined("too few packets: %llu", all);
	for (bit = 0; bit < 64; bit++) {
		u64 before = s_packets(0), one = s_packets(1ull << bit);

		/* A class, an opcode or a state is less than half of all. */
		if (one < before / 2)
			effect |= 1ull << bit;
	}
	answer(effect == (1ull << 47 | 1ull << 52 | 0xfull << 59) ? "addr_low" :
	       effect == (1ull << 4 | 1ull << 9 | 0xfull << 10) ? "class_low" : NULL,
	       "bits that filter: %#llx", effect);
}

#define TO_R_DRS_FULL	0x0e

static void to_r_full(void)
{
	u64 n[3];
	int i;

	for (i = 0; i < 3; i++) {
		wr(S0 + CTR(i), 0);
		wr(S0 + SEL(i), TO_R_DRS_FULL | (i + 1ull) << 8 | EN);
	}
	wr(S0, 7);
	window(U_EN_ALL, 10000);
	for (i = 0; i < 3; i++)
		n[i] = rd(S0 + CTR(i));
	answer(n[0] < 100 || n[1] < 100 ? NULL : !n[2] ? "none" :
	       n[2] + 2 >= n[0] && n[2] <= n[0] + 2 ? "first" :
	       n[2] > n[0] && n[2] > n[1] && n[2] <= n[0] + n[1] + 2 ? "any" : NULL,
	       "full: %llu, %llu, both %llu", n[0], n[1], n[2]);
}

#define M_DRAM_CMD	(0x0aull << 9)
#define M_WRAP		(1ull << 6)
#define M_EVERYTHING	((1ull << 34) - 1)
#define M_MASK_ALL	((1ull << 28) - 1)

static const struct matcher m_commands = {
	M0, M0_MM_CFG, M0_MATCH, M0_MASK, 0, M_DRAM_CMD | M_WRAP | EN_LOW
};

static void m_mask(void)
{
	tell_mask(&m_commands, M_EVERYTHING, M_MASK_ALL);
}

/* The lowest six bits of MASK stand for address bits 11:6. Which of MATCH do they meet? */
static void m_addr(void)
{
	const char *sense = found("m_mask");
	u64 base, low, high, mask;
	bool low_same, high_same;

	if (!sense)
		undetermined("needs to know m_mask");
	mask = sense[0] == 'c' ? 0x3f : M_MASK_ALL ^ 0x3f;
	base = matched(&m_commands, 0, mask);
	low = matched(&m_commands, 0x3f, mask);
	high = matched(&m_commands, 0xfc0, mask);
	low_same = low > base / 2 && low < 2 * base;
	high_same = high > base / 2 && high < 2 * base;
	answer(base < 100 || low_same == high_same ? NULL : low_same ? "byte" : "line",
	       "MATCH 0: %llu, 5:0: %llu, 11:6: %llu", base, low, high);
}

static void m_lock(void)
{
	u64 want = rd(M0_MATCH) ^ 0x40, val;
	bool ok;

	wr(M0_MM_CFG, MM_EN);
	ok = try_wr(M0_MATCH, want);
	wr(M0_MM_CFG, 0);
	val = rd(M0_MATCH);
	answer(!ok ? "gp" : val == want ? "no" : NULL, "a write of %#llx %s, then it is %#llx",
	       want, ok ? "is taken" : "raises #GP", val);
}

static void m_mask_width(void)
{
	u64 val;

	wr(M0_MASK, M_MASK_ALL);
	val = rd(M0_MASK);
	answer(val == M_MASK_ALL ? "28" : val == M_MASK_ALL >> 1 ? "27" : NULL,
	       "%#llx reads back as %#llx", M_MASK_ALL, val);
}

#define IPERF_SENT	(1ull << 31)
#define IPERF_NULL_IDLE	(1ull << 30)

/* Port 0: flits sent, and what these bits of IPERF 1 mean. */
static void r_count(u64 iperf_1, u64 n[2])
{
	static const u32 iperf[] = { R0_IPERF0, R0_IPERF1 };
	int i;

	for (i = 0; i < 2; i++) {
		wr(R0 + SEL(i), 0);
		wr(iperf[i], i ? iperf_1 : IPERF_SENT);
		wr(R0 + CTR(i), 0);
		wr(R0 + SEL(i), i << 1 | EN_LOW);
	}
	wr(R0, 3);
	window(U_EN_ALL, 10000);
	for (i = 0; i < 2; i++)
		n[i] = rd(R0 + CTR(i));
}

static void flits_sent(void)
{
	u64 n[2], sent, either, idle;

	r_count(IPERF_SENT | IPERF_NULL_IDLE, n);
	sent = n[0];
	either = n[1];
	r_count(IPERF_NULL_IDLE, n);
	idle = n[1];
	answer(idle < 1000 || !sent ? NULL : either <= sent + sent / 1000 + 2 ? "all" :
	       either > sent + idle / 8 ? "data" : NULL,
	       "sent %llu, sent or idle %llu, idle %llu", sent, either, idle);
}

/* ---- W ---- */

#define W_SOME		0x5000000ull	/* low 24 bits are 0 */
#define W_FROM		0x100000ull
#define W_BOTH		3u		/* a bit for each of these */

static const u32 w_ctr[] = { W + CTR(0), W_FIXED };

/* Counts both kinds of counter up, until S-Box 0 freezes them after always the same time. */
static void w_run(u64 from_event, u64 from_fixed)
{
	const char *sense = found("w_invert");

	if (!sense)
		undetermined("needs to know w_invert");
	clear_all();
	arm(S0, 4000, PMI_EN);
	wr(W + SEL(0), 0);
	wr(W_FIXED_CTL, 0);
	wr(W + CTR(0), from_event);
	wr(W_FIXED, from_fixed);
	wr(W + SEL(0), W_CLOCKS | (sense[0] == 'a' ? 0 : INVERT) | THRESH(255) | EN);
	wr(W_FIXED_CTL, 1);
	wr(W, W_FIXED_BIT | 1);
	if (!overflows(S0, U_FRZ_ALL) || (rd(U_CTL) & U_EN_ALL))
		undetermined("an overflow does not freeze");
}

/* Which counters read a value too high that was written, and which one they have counted to? */
static void w_look(unsigned int *written, unsigned int *counted)
{
	unsigned int known = 0, i;
	u64 took[2], val;
	int off;

	wr(W + SEL(0), 0);
	wr(W_FIXED_CTL, 0);
	*written = *counted = 0;
	for (i = 0; i < 2; i++) {
		wr(w_ctr[i], W_SOME);
		val = rd(w_ctr[i]);
		if (val != W_SOME && val != W_SOME + W_EXCESS)
			undetermined("MSR 0x%x: %#llx is read as %#llx", w_ctr[i], W_SOME, val);
		*written |= (val != W_SOME) << i;
	}
	w_run(W_FROM, W_FROM);
	for (i = 0; i < 2; i++) {
		took[i] = rd(w_ctr[i]) - W_FROM;
		if (took[i] < 100 || took[i] > 1000000)
			undetermined("MSR 0x%x does not count clocks: %llu", w_ctr[i], took[i]);
	}
	for (off = -3; off <= 3 && known != W_BOTH; off++) {
		w_run(W_SOME - took[0] + off, W_SOME - took[1] + off);
		for (i = 0; i < 2; i++) {
			val = rd(w_ctr[i]);
			if ((val & 0xffffff) > 1)
				continue;
			known |= 1u << i;
			*counted |= (val >= W_SOME + W_EXCESS) << i;
		}
	}
	if (known != W_BOTH)
		undetermined("the counters do not stop where they should");
}

static void w_erratum(void)
{
	unsigned int written, counted;

	w_look(&written, &counted);
	answer(!written && counted ? "counted" : written && written == counted ? "every" :
	       !written ? "none" : NULL,
	       "too high when written %u, when counted to %u", written, counted);
}

static void w_erratum_which(void)
{
	static const char * const which[] = { NULL, "events", "fixed", "all" };
	unsigned int written, counted;

	w_look(&written, &counted);
	answer(which[counted], "too high when counted to: %u", counted);
}

/* Idle and busy by turns: uncore clocks for one of the time stamp counter, at least and at most. */
static void uncore_clock(void)
{
	u64 before, on, off, after, n;
	double least = 0, most = 1e9;
	int i;

	for (i = 0; i < 6; i++) {
		clocks_from_2(0);
		before = __rdtsc();
		wr(U_CTL, U_EN_ALL);
		on = __rdtsc();
		if (!(i & 1))
			wait_us(20000);
		while ((i & 1) && __rdtsc() - on < 20000000)
			;
		off = __rdtsc();
		wr(U_CTL, 0);
		after = __rdtsc();
		n = rd(W_FIXED) - 2;
		if (n > least * (after - before))
			least = (double)n / (after - before);
		if (n < most * (off - on))
			most = (double)n / (off - on);
	}
	answer(!least ? NULL : least > 1.01 * most ? "changes" : least > most ? NULL : "fixed",
	       "clocks of one of the TSC: at least %.6f, at most %.6f", least, most);
}

#define PMIS	(MAY_S0 | MAY_PMI_EN)
#define NMIS	(MAY_S0 | MAY_PMI)
#define E(level_, name_, may_, ...)	\
	{ .name = #name_, .level = LEVEL_##level_, .run = name_, .may = may_, __VA_ARGS__ }

/* In this order: some need to know what others have found. */
const struct experiment experiments[] = {
	E(PMI, debugctl_13, NMIS),
	E(PMI, pmi_mask_0, NMIS, .needs = "debugctl_13"),
	E(COUNT, c_invert, MAY_C0 | MAY_W),
	E(COUNT, s_invert, MAY_S0 | MAY_W),
	E(COUNT, w_invert, MAY_W),
	E(COUNT, summary_clear, MAY_S0),
	E(COUNT, pmi_while_ov, PMIS, .needs = "summary_clear"),
	E(COUNT, status_write, MAY_S0 | MAY_STATUS, .breaks = "read_only"),
	E(COUNT, rst_all, MAY_S0 | MAY_RST, .breaks = "rst_all"),
	E(COUNT, rst_all_start, MAY_S0 | MAY_RST, .breaks = "rst_all"),
	E(COUNT, freeze_latency, PMIS),
	E(COUNT, refreeze, PMIS | MAY_S1),
	E(COUNT, cond, PMIS),
	E(COUNT, cbox_sides, MAY_C_ALL, .of = E7),
	E(COUNT, u_codes, MAY_U_SEL),
	E(COUNT, b_mask, MAY_B0 | MAY_W),
	E(COUNT, b_match_parts, MAY_B0 | MAY_W, .needs = "b_mask"),
	E(COUNT, s_codes, MAY_S0 | MAY_W, .needs = "s_invert", .of = X7500),
	E(COUNT, s_match, MAY_S0 | MAY_S0_MATCH | MAY_W),
	E(COUNT, to_r_full, MAY_S0, .breaks = "undefined"),
	E(COUNT, m_mask, MAY_M0 | MAY_W),
	E(COUNT, m_addr, MAY_M0 | MAY_W, .needs = "m_mask"),
	E(COUNT, m_lock, MAY_M0, .breaks = "locked"),
	E(COUNT, m_mask_width, MAY_M0),
	E(COUNT, flits_sent, MAY_R0),
	E(COUNT, w_fixed_pmi, MAY_W | MAY_PMI_EN),
	E(COUNT, w_erratum, PMIS | MAY_W, .needs = "w_invert"),
	E(COUNT, w_erratum_which, PMIS | MAY_W, .needs = "w_invert"),
	E(COUNT, uncore_clock, MAY_W),
	E(PMI, pmi_no_debugctl, NMIS, .needs = "debugctl_13"),
	E(PMI, ovf_uncore, NMIS, .needs = "debugctl_13"),
	E(PMI, pmi_core_sel, NMIS, .needs = "debugctl_13"),
};

const unsigned int num_experiments = ARRAY_SIZE(experiments);
