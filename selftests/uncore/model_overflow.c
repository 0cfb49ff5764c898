// SPDX-License-Identifier: GPL-2.0-only
/*
 * The virtual silicon: overflow on its way up, freeze, PMI and its accidents.
 * No PMI arrives here, IA32_DEBUGCTL bit 13 is 0: what would have been
 * delivered shows in the statistics of the CPUs.
 *
 * No driver is involved, so one kernel is enough.
 *
 * TEST: 6.1
 * SOAK: none
 * VM: --driver none --sockets 2 --cores 2 --threads 2 --icount
 */
#include <sys/io.h>

#include "model.h"

#define LLC_MISSES	0x714

/* A counter and where its overflow shows. */
struct place {
	const char *name;
	unsigned int box, n;		/* n 31: the W fixed counter */
	u64 sel, pmi_en;
	unsigned int side;		/* S-Box, 2: none */
	u64 summary, u;
};

static const struct place places[] = {
	{ "C0", C0_GLOBAL_CTL, 5, EN | LLC_MISSES, PMI_EN, 0, 1 << 2, U_OV_S0 },
	{ "C1", C1_GLOBAL_CTL, 0, EN | LLC_MISSES, PMI_EN, 0, 1 << 2, U_OV_S0 },
	{ "C2", C2_GLOBAL_CTL, 1, EN | LLC_MISSES, PMI_EN, 0, 1 << 0, U_OV_S0 },
	{ "C3", C3_GLOBAL_CTL, 2, EN | LLC_MISSES, PMI_EN, 0, 1 << 0, U_OV_S0 },
	{ "C4", C4_GLOBAL_CTL, 3, EN | LLC_MISSES, PMI_EN, 1, 1 << 2, U_OV_S1 },
	{ "C5", C5_GLOBAL_CTL, 4, EN | LLC_MISSES, PMI_EN, 1, 1 << 2, U_OV_S1 },
	{ "C6", C6_GLOBAL_CTL, 0, EN | LLC_MISSES, PMI_EN, 1, 1 << 0, U_OV_S1 },
	{ "C7", C7_GLOBAL_CTL, 5, EN | LLC_MISSES, PMI_EN, 1, 1 << 0, U_OV_S1 },
	{ "S0", S0_GLOBAL_CTL, 3, EN | 0x160, PMI_EN, 0, 1 << 18, U_OV_S0 },
	{ "S1", S1_GLOBAL_CTL, 0, EN | 0x160, PMI_EN, 1, 1 << 18, U_OV_S1 },
	{ "B0", B0_GLOBAL_CTL, 2, EN_LOW | 7 << 1, PMI_EN, 0, 1 << 16, U_OV_S0 },
	{ "B1", B1_GLOBAL_CTL, 3, EN_LOW | 2 << 1, PMI_EN, 1, 1 << 16, U_OV_S1 },
	{ "M0", M0_GLOBAL_CTL, 0, EN_LOW | 0x40 | 0x1b << 9, 1 << 1, 0, 1 << 16, U_OV_S0 },
	{ "M1", M1_GLOBAL_CTL, 5, EN_LOW | 0x40 | 0x1b << 9, 1 << 1, 1, 1 << 16, U_OV_S1 },
	{ "R left", R_GLOBAL_CTL_7_0, 7, EN_LOW, 1 << 6, 0, 1 << 19, U_OV_S0 },
	{ "R right", R_GLOBAL_CTL_15_8, 1, EN_LOW, 1 << 6, 1, 1 << 19, U_OV_S1 },
	{ "W", W_GLOBAL_CTL, 2, EN | 0x104, PMI_EN, 2, 0, U_OV_W },
	{ "W fixed", W_GLOBAL_CTL, 31, 1, 1 << 2, 2, 0, U_OV_W },
	{ "U", 0, 0, EN | 0xf9, PMI_EN, 2, 0, U_OV_U },
};

#define PLACES	ARRAY_SIZE(places)

static unsigned int ctr_of(const struct place *p)
{
	return !p->box ? U_CTR : p->n == 31 ? W_FIXED_CTR : p->box + CTR(p->n);
}

static unsigned int ctl_of(const struct place *p)
{
	return !p->box ? U_EV_SEL : p->n == 31 ? W_FIXED_CTR_CTL : p->box + CTL(p->n);
}

/* To overflow after about `events` events, PMI or not. */
static void arm(const struct place *p, u64 events, bool pmi)
{
	if (p->box == R_GLOBAL_CTL_7_0 || p->box == R_GLOBAL_CTL_15_8)
		msr_write(0, p->box == R_GLOBAL_CTL_7_0 ? R_PORT0_IPERF_CFG0 : R_PORT4_IPERF_CFG0,
			  1u << 31);
	msr_write(0, ctl_of(p), p->sel | (pmi ? p->pmi_en : 0));
	msr_write(0, ctr_of(p), (M48 + 1) - events);
	if (p->box)
		msr_write(0, p->box, msr_read(0, p->box) | 1ull << p->n);
}

static u64 pmi(unsigned int what)
{
	return msr_read(0, SYN_PMI(what));
}

static u64 arrived(int cpu)
{
	return msr_read(cpu, SYN_PMI_CPU(SYN_PMI_NO_DEBUGCTL));
}

/* From each counter to the top, and down again from the bottom. */
static void up_and_down(void)
{
	unsigned int i, j;

	for (i = 0; i < PLACES; i++) {
		const struct place *p = &places[i];
		u64 u, s;

		start_over(0);
		arm(p, 1000, false);
		run_for(0, 100, U_EN);
		u = msr_read(0, U_GLOBAL_STATUS);
		ktap_check(u == p->u, "%s: U status %#llx", p->name, u);
		for (j = 0; j < 2; j++) {
			s = msr_read(0, s_box[j] + SUMMARY);
			ktap_check(s == (j == p->side ? p->summary : 0), "%s: S%u summary %#llx",
				   p->name, j, s);
		}
		ktap_check(truth(0, SYN_OVERFLOWS, ctr_of(p)) == 1, "%s: %llu overflows", p->name,
			   truth(0, SYN_OVERFLOWS, ctr_of(p)));
		ktap_check(!pmi(SYN_PMI_REQUESTED), "%s: PMI without pmi_en", p->name);
		if (!p->box) {
			msr_write(0, U_GLOBAL_OVF_CTL, U_OV_U);
		} else {
			ktap_check(msr_read(0, p->box + STATUS) == 1ull << p->n, "%s: status",
				   p->name);
			/* Another bit does nothing. */
			msr_write(0, p->box + OVF, p->n ? 1 : 2);
			ktap_check(msr_read(0, U_GLOBAL_STATUS) == p->u, "%s: cleared by another",
				   p->name);
			msr_write(0, p->box + OVF, 1ull << p->n);
			ktap_check(!msr_read(0, p->box + STATUS), "%s: status stays", p->name);
		}
		ktap_check(!msr_read(0, U_GLOBAL_STATUS), "%s: U status stays", p->name);
		ktap_check(!msr_read(0, SYN_VIOLATIONS), "%s: violations", p->name);
	}
}

/* A summary bit is down when the last of those below is. */
static void shared_summary(void)
{
	start_over(0);
	arm(&places[10], 100, false);	/* B0 */
	arm(&places[12], 100, false);	/* M0 */
	run_for(0, 100, 0);
	ktap_check(msr_read(0, s_box[0] + SUMMARY) == 1 << 16, "ov_mb");
	msr_write(0, B0_GLOBAL_OVF_CTL, 0xf);
	ktap_check(msr_read(0, s_box[0] + SUMMARY) == 1 << 16, "M0 forgotten");
	ktap_check(msr_read(0, U_GLOBAL_STATUS) == U_OV_S0, "ov_s0");
	/* The U-Box bit can be cleared by itself. */
	msr_write(0, U_GLOBAL_OVF_CTL, U_OV_S0);
	ktap_check(!msr_read(0, U_GLOBAL_STATUS), "U OVF_CTL");
	ktap_check(msr_read(0, s_box[0] + SUMMARY) == 1 << 16, "went too far");
	msr_write(0, M0_GLOBAL_OVF_CTL, 1);
	ktap_check(!msr_read(0, s_box[0] + SUMMARY), "ov_mb stays");
}

static void freezing(void)
{
	u64 latency = msr_read(0, SYN_FREEZE_LATENCY), value, cycles, closed, before, after;
	unsigned int i;

	for (i = 0; i < PLACES; i++) {
		const struct place *p = &places[i];
		unsigned int fixed = p->n == 31 ? places[16].box + CTR(2) : W_FIXED_CTR;

		start_over(0);
		/* A second counter, to be stopped at the same moment. */
		arm(p->n == 31 ? &places[16] : &places[17], 1ull << 40, false);
		arm(p, 1000, true);
		msr_write(0, U_GLOBAL_CTL, U_EN | U_FRZ_ALL | U_EN_ALL);
		wait_us(500);
		ktap_check(msr_read(0, U_GLOBAL_CTL) == (U_EN | U_FRZ_ALL),
			   "%s: U_GLOBAL_CTL %#llx", p->name, msr_read(0, U_GLOBAL_CTL));
		ktap_check(msr_read(0, U_GLOBAL_STATUS) == (U_COND | U_PMI | p->u),
			   "%s: U status %#llx", p->name, msr_read(0, U_GLOBAL_STATUS));
		/* It went on until the freeze got through. */
		value = msr_read(0, ctr_of(p));
		if (p->box == W_GLOBAL_CTL)	/* the read erratum */
			value -= value >= 0x1000000 ? 0x1000000 : 0;
		ktap_check(value <= latency, "%s: %llu after the wrap", p->name, value);
		ktap_check(truth(0, SYN_EVENTS, ctr_of(p)) == 1000 + value, "%s: truth", p->name);
		ktap_check(truth(0, SYN_CLOSED, ctr_of(p)) == truth(0, SYN_CLOSED, fixed),
			   "%s: stopped alone", p->name);
		ktap_check(msr_read(0, SYN_FREEZES) == 1, "%s: freezes", p->name);
		closed = truth(0, SYN_CLOSED, fixed);
		before = msr_read(0, SYN_CYCLES);
		cycles = msr_read(0, SYN_FROZEN_CYCLES);
		after = msr_read(0, SYN_CYCLES);
		ktap_check(closed && cycles >= before - closed && cycles <= after - closed,
			   "%s: frozen %llu cycles, since %llu", p->name, cycles, closed);
		ktap_check(pmi(SYN_PMI_REQUESTED) == 1, "%s: requests", p->name);
		ktap_check(!arrived(0) && !arrived(1), "%s: PMI though no core was chosen", p->name);
		/* Until software sets en_all. */
		msr_write(0, U_GLOBAL_CTL, U_EN_ALL);
		cycles = truth(0, SYN_OPENED, fixed) - closed;
		ktap_check(msr_read(0, SYN_FROZEN_CYCLES) == cycles, "%s: frozen %llu cycles, not %llu",
			   p->name, msr_read(0, SYN_FROZEN_CYCLES), cycles);
	}
}

/* Software has stopped the package before the freeze gets through: it is none. */
static void stopped_before_freeze(void)
{
	u64 latency = msr_read(0, SYN_FREEZE_LATENCY);

	start_over(0);
	msr_write(0, SYN_FREEZE_LATENCY, 20000000);
	arm(&places[0], 1000, true);
	msr_write(0, U_GLOBAL_CTL, U_FRZ_ALL | U_EN_ALL);
	wait_us(500);
	ktap_check(pmi(SYN_PMI_REQUESTED) == 1 && (msr_read(0, U_GLOBAL_CTL) & U_EN_ALL),
		   "no overflow, or frozen at once");
	msr_write(0, U_GLOBAL_CTL, U_FRZ_ALL);
	wait_us(20000);
	ktap_check(!msr_read(0, SYN_FREEZES) && !msr_read(0, SYN_FROZEN_CYCLES), "a freeze");
	ktap_check(msr_read(0, U_GLOBAL_STATUS) == (U_PMI | U_OV_S0), "U status %#llx",
		   msr_read(0, U_GLOBAL_STATUS));
	msr_write(0, SYN_FREEZE_LATENCY, latency);
}

/* No new freeze while the cause of the last one stands. */
static void refreezing(void)
{
	const struct place *a = &places[3], *b = &places[9];

	start_over(0);
	arm(a, 1000, true);
	msr_write(0, U_GLOBAL_CTL, U_FRZ_ALL | U_EN_ALL);
	wait_us(200);
	ktap_check(msr_read(0, SYN_FREEZES) == 1, "no freeze");
	arm(b, 1000, true);
	msr_write(0, U_GLOBAL_CTL, U_FRZ_ALL | U_EN_ALL);
	wait_us(200);
	ktap_check(msr_read(0, SYN_FREEZES) == 1, "froze again");
	ktap_check(msr_read(0, U_GLOBAL_CTL) & U_EN_ALL, "stopped");
	ktap_check(pmi(SYN_PMI_REFREEZE) == 1, "refusals: %llu", pmi(SYN_PMI_REFREEZE));
	/* Both bits are up; the one of the cause is what matters. */
	msr_write(0, b->box + OVF, 1ull << b->n);
	msr_write(0, ctr_of(b), M48 - 1000);
	wait_us(200);
	ktap_check(msr_read(0, SYN_FREEZES) == 1, "froze again");
	msr_write(0, a->box + OVF, 1ull << a->n);
	msr_write(0, b->box + OVF, 1ull << b->n);
	msr_write(0, ctr_of(b), M48 - 1000);
	wait_us(200);
	ktap_check(msr_read(0, SYN_FREEZES) == 2, "no second freeze");
}

/* An overflow while its bit is up asks for nothing. */
static void unnoticed(void)
{
	const struct place *p = &places[0];
	unsigned int i;

	start_over(0);
	arm(p, 1000, true);
	msr_write(0, U_GLOBAL_CTL, U_EN_ALL);
	for (i = 0; i < 3; i++) {
		wait_us(100);
		msr_write(0, ctr_of(p), M48 - 1000);
	}
	wait_us(100);
	ktap_check(truth(0, SYN_OVERFLOWS, ctr_of(p)) == 4, "overflows");
	ktap_check(truth(0, SYN_SKIPPED, ctr_of(p)) == 3, "skipped");
	ktap_check(pmi(SYN_PMI_REQUESTED) == 1 && pmi(SYN_PMI_SKIPPED) == 3, "requests");
	msr_write(0, p->box + OVF, 1ull << p->n);
	msr_write(0, ctr_of(p), M48 - 1000);
	wait_us(100);
	ktap_check(pmi(SYN_PMI_REQUESTED) == 2, "requests");
}

/* The status is right when read, timer or not. */
static void no_timer(void)
{
	const struct place *p = &places[4];

	start_over(0);
	arm(p, 10, false);
	msr_write(0, U_GLOBAL_CTL, U_EN_ALL);
	wait_us(10);
	ktap_check(msr_read(0, p->box + STATUS) == 1ull << p->n, "status");
	msr_write(0, U_GLOBAL_CTL, 0);
}

/* Every thread of the cores chosen, of this package only. */
static void routing(void)
{
	unsigned int mask;
	int cpu;

	for (mask = 0; mask < 8; mask++) {
		start_over(0);
		arm(&places[0], 1000, true);
		run_for(0, 300, U_CORES(mask));
		for (cpu = 0; cpu < 8; cpu++) {
			u64 want = cpu < 4 && (mask >> (cpu / 2) & 1);

			ktap_check(arrived(cpu) == want, "mask %u CPU %d: %llu", mask, cpu,
				   arrived(cpu));
			ktap_check(!msr_read(cpu, SYN_PMI_CPU(SYN_PMI_SENT)), "sent");
		}
		ktap_check(pmi(SYN_PMI_NO_CORE) == (mask == 4), "mask %u: absent core", mask);
	}
}

static void one_pmi(unsigned int us)
{
	arm(&places[0], 1000, true);
	msr_write(0, C0_GLOBAL_OVF_CTL, 0x3f);
	run_for(0, us, U_CORES(1));
}

static void accidents(void)
{
	start_over(0);
	msr_write(0, SYN_FAULT_LOSE, 2);
	one_pmi(100);
	one_pmi(100);
	ktap_check(!arrived(0) && pmi(SYN_PMI_LOST) == 2, "lost");
	one_pmi(100);
	ktap_check(arrived(0) == 1 && arrived(1) == 1, "lost too many");

	start_over(0);
	msr_write(0, SYN_FAULT_DOUBLE, 1);
	one_pmi(500);
	one_pmi(500);
	ktap_check(arrived(0) == 3 && arrived(1) == 3 && pmi(SYN_PMI_DOUBLED) == 1, "doubled");

	start_over(0);
	msr_write(0, SYN_FAULT_DELAY_NS, 30000000);
	one_pmi(1000);
	ktap_check(!arrived(0), "too early");
	msr_write(0, SYN_FAULT_DELAY_NS, 0);
	wait_us(60000);
	ktap_check(arrived(0) == 1 && pmi(SYN_PMI_DELAYED) == 1, "never arrived");

	start_over(0);
	msr_write(0, SYN_FAULT_SIBLING, 1);
	one_pmi(100);
	/* To the other thread of the core, and to the first one of the next core. */
	ktap_check(!arrived(0) && arrived(1) == 1 && arrived(2) == 1 && !arrived(3) && !arrived(4),
		   "sibling");
	ktap_check(pmi(SYN_PMI_MISROUTED) == 1 && !pmi(SYN_PMI_NO_CORE), "misrouted");
	one_pmi(100);
	ktap_check(arrived(0) == 1 && arrived(1) == 2 && arrived(2) == 1, "for ever");

	start_over(0);
	ktap_check(!(msr_read(0, IA32_DEBUGCTL) & UNCORE_PMI_EN), "DEBUGCTL[13] is set");
	msr_write(0, SYN_FAULT_DEBUGCTL, 1);
	msr_write(0, IA32_DEBUGCTL, UNCORE_PMI_EN);
	ktap_check(!(msr_read(0, IA32_DEBUGCTL) & UNCORE_PMI_EN), "DEBUGCTL[13] can be set");
}

/* The other reading of the bits in the U-Box: two boxes below the same one. */
static void or_of_what_is_below(void)
{
	const struct place *c = &places[0], *s = &places[8], *w = &places[16];

	start_over(0);
	msr_write(0, SYN_READING(RD_SUMMARY_CLEAR), RD_SUMMARY_CLEAR_OR);
	arm(c, 1000, true);
	arm(w, 1000, true);
	run_for(0, 100, U_EN);
	ktap_check(msr_read(0, U_GLOBAL_STATUS) == (U_PMI | U_OV_S0 | U_OV_W), "%#llx",
		   msr_read(0, U_GLOBAL_STATUS));
	ktap_check(pmi(SYN_PMI_REQUESTED) == 2 && !pmi(SYN_PMI_NO_EDGE), "two edges");
	/* They are not the U-Box's to clear. */
	msr_write(0, U_GLOBAL_OVF_CTL, 0xffffffff);
	ktap_check(msr_read(0, U_GLOBAL_STATUS) == (U_OV_S0 | U_OV_W), "%#llx",
		   msr_read(0, U_GLOBAL_STATUS));
	/* Nobody hears of another box below a bit that is up. */
	arm(s, 1000, true);
	run_for(0, 100, U_EN);
	ktap_check(msr_read(0, s->box + STATUS) == 1ull << s->n, "no overflow");
	ktap_check(pmi(SYN_PMI_REQUESTED) == 2 && pmi(SYN_PMI_NO_EDGE) == 1, "an edge");
	/* The bit goes with the last of them, and the next one is heard of. */
	msr_write(0, c->box + OVF, 1ull << c->n);
	ktap_check(msr_read(0, U_GLOBAL_STATUS) == (U_OV_S0 | U_OV_W), "S0 is gone");
	msr_write(0, s->box + OVF, 1ull << s->n);
	msr_write(0, w->box + OVF, 1ull << w->n);
	ktap_check(!msr_read(0, U_GLOBAL_STATUS), "%#llx", msr_read(0, U_GLOBAL_STATUS));
	arm(s, 1000, true);
	run_for(0, 100, U_EN);
	ktap_check(pmi(SYN_PMI_REQUESTED) == 3, "no edge");
	msr_write(0, SYN_READING(RD_SUMMARY_CLEAR), 0);
	ktap_check(!msr_read(0, SYN_VIOLATIONS), "violations");
}

static void broken_register(void)
{
	u64 val;

	start_over(0);
	msr_write(0, SYN_GP, SYN_GP_READ(S0_MATCH));
	ktap_check(msr_try_read(0, S0_MATCH, &val) && !msr_try_write(0, S0_MATCH, 0),
		   "not when read");
	ktap_check(!msr_try_read(4, S0_MATCH, &val) && !msr_try_read(0, S0_MASK, &val), "another");
	msr_write(0, SYN_GP, SYN_GP_WRITE(S0_MATCH));
	ktap_check(!msr_try_read(0, S0_MATCH, &val) && msr_try_write(0, S0_MATCH, 0),
		   "not when written");
	msr_write(0, SYN_GP, SYN_GP_SET(S0_MATCH, 5ull));
	ktap_check(!msr_try_write(0, S0_MATCH, 0xdf) && msr_try_write(0, S0_MATCH, 1 << 5),
		   "not when the bit is set");
	ktap_check(!msr_try_read(0, S0_MATCH, &val) && !msr_try_write(0, S0_MASK, 1 << 5), "another");
	msr_write(0, SYN_GP, 0);
	ktap_check(!msr_try_write(0, S0_MATCH, 0) && !msr_try_write(0, S0_MASK, 0), "for ever");
}

/* All registers of a box that is not there raise #GP, or read 0 and ignore what is written. */
static void absent_box(void)
{
	u64 val;

	start_over(0);
	msr_write(0, S1_MASK, 0x12);
	msr_write(0, SYN_ABSENT, SYN_ABSENT_BOX(SYN_BOX_S, 1));
	ktap_check(msr_try_read(0, S1_MASK, &val) && msr_try_write(0, S1_MASK, 0), "it is there");
	ktap_check(!msr_try_read(0, S0_MASK, &val) && !msr_try_read(4, S1_MASK, &val), "another");
	msr_write(0, SYN_ABSENT_READS_0, 1);
	ktap_check(!msr_read(0, S1_MASK), "it reads %#llx", msr_read(0, S1_MASK));
	msr_write(0, S1_MASK, 0x34);
	msr_write(0, SYN_ABSENT_READS_0, 0);
	msr_write(0, SYN_ABSENT, 0);
	ktap_check(msr_read(0, S1_MASK) == 0x12, "what was written is there");
	msr_write(0, S1_MASK, 0);
	ktap_check(!msr_read(0, SYN_VIOLATIONS), "violations");
}

/* As after power on: 0, but for a W-Box that reads so much too high. */
static void all_registers_are_0(void)
{
	unsigned int msr, n;
	u64 val, w;

	for (msr = W_FIXED_CTR; msr < 0x1000; msr = msr == W_FIXED_CTR_CTL ? U_GLOBAL_CTL : msr + 1) {
		if (msr == M0_TIMESTAMP_UNIT || msr == M1_TIMESTAMP_UNIT)
			continue;
		w = msr == W_FIXED_CTR;
		for (n = 0; n < 4; n++)
			w |= msr == W_GLOBAL_CTL + CTR(n);
		if (!msr_try_read(0, msr, &val))
			ktap_check(val == w << 24, "0x%x is %#llx", msr, val);
	}
}

/* SYN_RESET in the middle of a session: frozen, a PMI under way, a counter that has halted. */
static void power_on(void)
{
	static const struct { unsigned int msr; u64 val; } set[] = {
		{ SYN_FAULT_LOSE, 1 }, { SYN_FAULT_DOUBLE, 1 }, { SYN_FAULT_SIBLING, 1 },
		{ SYN_FAULT_DEBUGCTL, 1 }, { SYN_READING(RD_COND), RD_COND_NEVER },
		{ SYN_NMI_REASON, SYN_NMI_SERR }, { SYN_FREEZE_LATENCY, 1 }, { SYN_UNCOUNTED, 1 },
		{ SYN_GP, SYN_GP_READ(R_CTL0) }, { SYN_PKT_HEADER, 1 }, { SYN_PKT_ADDR, 1 },
		{ SYN_TRAFFIC_SEL, 1 }, { SYN_ABSENT, SYN_ABSENT_BOX(SYN_BOX_S, 1) },
		{ SYN_ABSENT_READS_0, 1 },
	};
	const struct place *c = &places[0], *m = &places[12];
	const u64 halts = EN_LOW | 0x1b << 9;	/* M-Box cycles, wrap_mode 0 */
	u64 was[ARRAY_SIZE(set)];
	unsigned int i;
	int cpu;

	start_over(0);
	for (i = 0; i < ARRAY_SIZE(set); i++)
		was[i] = msr_read(0, set[i].msr);
	for (i = U_GLOBAL_STATUS; i < 0x1000; i++)
		msr_try_write(0, i, 1);
	msr_write(0, m->box + CTL(0), halts);
	msr_write(0, ctr_of(m), M48 - 10);
	arm(c, 1000, true);
	set_pattern(0, SYN_SEL(SYN_BOX_C, 1, 0x18, SYN_ANY), SYN_PATTERN(0, 0, 0, 0));
	msr_write(0, SYN_TRAFFIC_MIX, 0);
	msr_write(0, SYN_FAULT_DELAY_NS, 30000000);
	msr_write(0, U_GLOBAL_CTL, U_CORES(1) | U_FRZ_ALL | U_EN_ALL);
	wait_us(500);
	ktap_check(msr_read(0, SYN_FREEZES) == 1 && pmi(SYN_PMI_DELAYED) == 1, "no freeze, no PMI");
	ktap_check(msr_read(0, m->box + STATUS) & 1, "the M-Box counter has not halted");
	for (i = 0; i < ARRAY_SIZE(set); i++)
		msr_write(0, set[i].msr, set[i].val);

	for (cpu = 0; cpu < 8; cpu++)
		msr_write(cpu, SYN_RESET, 1);
	for (i = 0; i < ARRAY_SIZE(set); i++)
		ktap_check(msr_read(0, set[i].msr) == was[i], "0x%x is %#llx", set[i].msr,
			   msr_read(0, set[i].msr));
	ktap_check(!msr_read(0, SYN_FAULT_DELAY_NS), "PMIs come late");
	ktap_check(!msr_read(0, SYN_FREEZES) && !msr_read(0, SYN_FROZEN_CYCLES), "frozen");
	all_registers_are_0();
	/* A 0 that is not counted to is right by this reading. */
	msr_write(0, SYN_READING(RD_W_ERRATUM), RD_W_ERRATUM_COUNTED);
	ktap_check(!msr_read(0, W_CTR_0), "%#llx", msr_read(0, W_CTR_0));
	msr_write(0, SYN_READING(RD_W_ERRATUM), RD_W_ERRATUM_EVERY);
	wait_us(60000);
	ktap_check(!arrived(0), "a PMI that was under way");

	/* What has halted counts, traffic and packets are back, and an overflow freezes. */
	msr_write(0, SYN_CLEAR, 1);
	msr_write(0, m->box + CTL(0), halts);
	msr_write(0, m->box, 1);
	msr_write(0, C1_GLOBAL_CTL, 1);
	msr_write(0, C1_GLOBAL_CTL + CTL(0), EN | 0x18);
	msr_write(0, B0_GLOBAL_CTL, 2);
	msr_write(0, B0_CTL1, EN_LOW | 1 << 1);
	arm(c, 1000, true);
	msr_write(0, U_GLOBAL_CTL, U_FRZ_ALL | U_EN_ALL);
	wait_us(500);
	ktap_check(msr_read(0, SYN_FREEZES) == 1, "%llu freezes", msr_read(0, SYN_FREEZES));
	check_truth(0, ctr_of(m));
	check_truth(0, C1_CTR_0);
	check_truth(0, B0_CNT1);

	/* What runs is stopped, and a freeze that is near does not come. */
	start_over(0);
	msr_write(0, SYN_FREEZE_LATENCY, 20000000);
	arm(m, 1ull << 40, false);
	arm(c, 1000, true);
	msr_write(0, U_GLOBAL_CTL, U_FRZ_ALL | U_EN_ALL);
	wait_us(500);
	ktap_check(truth(0, SYN_DUE, ctr_of(m)) && pmi(SYN_PMI_REQUESTED) == 1, "it does not run");
	msr_write(0, SYN_RESET, 1);
	ktap_check(!msr_read(0, ctr_of(m)) && !truth(0, SYN_DUE, ctr_of(m)) &&
		   !truth(0, SYN_WINDOWS, ctr_of(m)), "it runs");
	msr_write(0, U_GLOBAL_CTL, U_EN_ALL);
	wait_us(20000);
	ktap_check(!msr_read(0, SYN_FREEZES), "it freezes");
	start_over(0);
}

/* Why an NMI came, as the chipset says it. */
static void nmi_reason(void)
{
	unsigned char other;

	start_over(0);
	ktap_require(!ioperm(0x61, 1, 1), "ioperm: %s", strerror(errno));
	other = inb(0x61) & 0xf;
	ktap_check(!(inb(0x61) & 0xc0), "%#x", inb(0x61));
	msr_write(0, SYN_NMI_REASON, SYN_NMI_SERR | SYN_NMI_IOCHK);
	ktap_check((inb(0x61) & 0xc0) == 0xc0, "%#x", inb(0x61));
	outb(other | 4, 0x61);
	ktap_check((inb(0x61) & 0xc0) == SYN_NMI_IOCHK, "%#x", inb(0x61));
	outb(other | 8, 0x61);
	ktap_check(!(inb(0x61) & 0xc0), "%#x", inb(0x61));
	outb(other, 0x61);
}

/* Wraps are counted however often, and the value goes on. */
static void wraps(void)
{
	unsigned int ctr = c_box[2] + CTR(0), i;
	u64 events;

	start_over(0);
	msr_write(0, ctr - 1, EN | LLC_MISSES);
	msr_write(0, c_box[2], 1);
	for (i = 1; i < 5; i++) {
		msr_write(0, ctr, M48 - 5);
		run_for(0, 100, 0);
		ktap_check(truth(0, SYN_OVERFLOWS, ctr) == i, "overflows");
	}
	msr_write(0, SYN_CLEAR, 1);
	msr_write(0, ctr, M48 - 5);
	run_for(0, 100, 0);
	events = truth(0, SYN_EVENTS, ctr);
	ktap_check(msr_read(0, ctr) == ((M48 - 5 + events) & M48), "value");
}

KTAP_MAIN({ "overflow shows at each level and goes with the lowest", up_and_down },
	  { "bits that summarize two boxes", shared_summary },
	  { "freeze, from every counter", freezing },
	  { "no freeze of a package that has stopped", stopped_before_freeze },
	  { "no freeze before the cause of the last one is cleared", refreezing },
	  { "overflow with the status bit up", unnoticed },
	  { "status without PMI", no_timer },
	  { "PMI to the cores chosen", routing },
	  { "PMI lost, doubled, late, misrouted", accidents },
	  { "ov bits that are the OR of what is below", or_of_what_is_below },
	  { "a register that answers #GP", broken_register },
	  { "a box that is not there", absent_box },
	  { "everything as at power on", power_on },
	  { "the reason of an NMI at port 0x61", nmi_reason },
	  { "wraps", wraps })
