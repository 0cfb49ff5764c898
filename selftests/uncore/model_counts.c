// SPDX-License-Identifier: GPL-2.0-only
/*
 * The virtual silicon: what counts when, and how much.
 *
 * No driver is involved, so one kernel is enough.
 *
 * TEST: 6.1
 * SOAK: none
 * VM: --driver none --sockets 2 --cores 2 --threads 2 --icount
 */
#include "model.h"

#define CPUS		8
#define LLC_MISSES	0x14

static void identity(void)
{
	int cpu;

	ktap_check(msr_read(0, SYN_ID) == SYN_MAGIC, "no silicon");
	for (cpu = 0; cpu < CPUS; cpu++) {
		ktap_check(msr_read(cpu, SYN_PACKAGE) == (u64)cpu / 4, "CPU %d", cpu);
		ktap_check(msr_read(cpu, SYN_CORE) == (u64)cpu / 2 % 2, "CPU %d", cpu);
		ktap_check(msr_read(cpu, SYN_THREAD) == (u64)cpu % 2, "CPU %d", cpu);
	}
}

static void three_levels(void)
{
	unsigned int ctl, level;

	start_over(0);
	for (level = 0; level < 8; level++) {
		ctl = c_box[3] + CTL(2);
		msr_write(0, ctl, 0x700 | LLC_MISSES | (level & 1 ? EN : 0));
		msr_write(0, c_box[3], level & 2 ? 1 << 2 : 0x3f & ~(1 << 2));
		msr_write(0, U_GLOBAL_CTL, level & 4 ? U_EN_ALL : 0);
		wait_us(100);
		msr_write(0, U_GLOBAL_CTL, 0);
		ktap_check(!!msr_read(0, ctl + 1) == (level == 7), "enables %u", level);
		msr_write(0, ctl, 0);
	}
	check_truth(0, ctl + 1);
	/* The U-Box has its second level in U_GLOBAL_CTL. */
	start_over(0);
	msr_write(0, U_EV_SEL, EN | 0xf9);
	run_for(0, 100, 0);
	ktap_check(!msr_read(0, U_CTR), "U counts without its enable");
	run_for(0, 100, U_EN);
	check_truth(0, U_CTR);
}

/* Every counter of both packages, each on its own event, against the truth. */
static void all_counters(void)
{
	int cpu, b, n;

	for (cpu = 0; cpu < CPUS; cpu += 4) {
		start_over(cpu);
		for (b = 0; b < 8; b++) {
			for (n = 0; n < 6; n++)
				msr_write(cpu, c_box[b] + CTL(n), EN | 0x100 | (LLC_MISSES + n % 2));
			msr_write(cpu, c_box[b], 0x3f);
		}
		for (b = 0; b < 2; b++) {
			for (n = 0; n < 4; n++) {
				msr_write(cpu, s_box[b] + CTL(n), EN | 0x160);
				msr_write(cpu, b_box[b] + CTL(n), EN_LOW | 2 * (n < 3 ? 7 : 2));
			}
			for (n = 0; n < 6; n++)
				msr_write(cpu, m_box[b] + CTL(n), EN_LOW | 0x40 | 0x11 << 9);
			msr_write(cpu, R_PORT0_IPERF_CFG0 + 4 * b, 1u << 31);
			for (n = 0; n < 8; n++)
				msr_write(cpu, r_box[b] + CTL(n), EN_LOW);
			msr_write(cpu, s_box[b], 0xf);
			msr_write(cpu, b_box[b], 0xf);
			msr_write(cpu, m_box[b], 0x3f);
			msr_write(cpu, r_box[b], 0xff);
		}
		for (n = 0; n < 4; n++)
			msr_write(cpu, W_GLOBAL_CTL + CTL(n), EN | 0x104);
		msr_write(cpu, W_GLOBAL_CTL, 0xf);
		msr_write(cpu, U_EV_SEL, EN | 0xf9);
		run_for(cpu, 1000, U_EN);
		for (b = 0; b < 8; b++) {
			for (n = 0; n < 6; n++)
				check_truth(cpu, c_box[b] + CTR(n));
		}
		for (b = 0; b < 2; b++) {
			for (n = 0; n < 4; n++) {
				check_truth(cpu, s_box[b] + CTR(n));
				check_truth(cpu, b_box[b] + CTR(n));
			}
			for (n = 0; n < 6; n++)
				check_truth(cpu, m_box[b] + CTR(n));
			for (n = 0; n < 8; n++)
				check_truth(cpu, r_box[b] + CTR(n));
		}
		for (n = 0; n < 4; n++)
			check_truth(cpu, W_GLOBAL_CTL + CTR(n));
		check_truth(cpu, U_CTR);
		/* One write started and one stopped them: no skew at all. */
		ktap_check(truth(cpu, SYN_OPENED, U_CTR) == truth(cpu, SYN_OPENED, R_CTR15) &&
				   truth(cpu, SYN_CLOSED, U_CTR) ==
					   truth(cpu, SYN_CLOSED, C0_CTR_0),
			   "skew");
		ktap_check(!msr_read(cpu, SYN_VIOLATIONS), "violations");
		/* The other package stood still. */
		ktap_check(!truth(4 - cpu, SYN_WINDOWS, C0_CTR_0), "package %d too", 1 - cpu / 4);
		msr_write(cpu, R_PORT0_IPERF_CFG0, 0);
		msr_write(cpu, R_PORT4_IPERF_CFG0, 0);
	}
}

/* The sum of the parts is the whole, and keeps to the limit of the event. */
static void unit_masks(void)
{
	unsigned int n;
	u64 sum = 0;

	start_over(0);
	for (n = 0; n < 3; n++)
		msr_write(0, c_box[0] + CTL(n), EN | LLC_MISSES | 0x100u << n);
	msr_write(0, c_box[0] + CTL(3), EN | LLC_MISSES | 0x700);
	msr_write(0, c_box[0] + CTL(4), EN | LLC_MISSES | 0x700 | 2u << 24);
	msr_write(0, c_box[0] + CTL(5), EN | LLC_MISSES);
	msr_write(0, c_box[0], 0x3f);
	run_for(0, 1000, 0);
	for (n = 0; n < 3; n++)
		sum += check_truth(0, c_box[0] + CTR(n));
	ktap_check(check_truth(0, c_box[0] + CTR(3)) == sum, "not the sum");
	ktap_check(!msr_read(0, c_box[0] + CTR(4)), "two misses in a cycle");
	ktap_check(!msr_read(0, c_box[0] + CTR(5)), "no bit, but a count");
}

/* Cores and directions of a ring are independent: several are any of them, not their sum. */
static void any_of_them(void)
{
	static const struct {
		unsigned int box, code, all;
	} of[] = { { W_GLOBAL_CTL, 0x04, 0xff }, { C0_GLOBAL_CTL, 0x01, 0x03 } };
	unsigned int i, n;
	u64 count[4];

	for (i = 0; i < ARRAY_SIZE(of); i++) {
		const unsigned int umask[] = { 1, 2, 3, of[i].all };
		u64 clocks;

		start_over(0);
		for (n = 0; n < 4; n++)
			msr_write(0, of[i].box + CTL(n), EN | umask[n] << 8 | of[i].code);
		msr_write(0, of[i].box, 0xf);
		run_for(0, 1000, 0);
		for (n = 0; n < 4; n++)
			count[n] = check_truth(0, of[i].box + CTR(n));
		clocks = truth(0, SYN_ENABLED, of[i].box + CTR(0));
		/* In some clocks both are, in some one is without the other. */
		ktap_check(count[2] < count[0] + count[1] && count[2] > count[0] &&
			   count[2] > count[1], "0x%x: %llu and %llu are %llu", of[i].box, count[0],
			   count[1], count[2]);
		ktap_check(count[3] >= count[2] && count[3] <= clocks,
			   "0x%x: %llu of two, %llu of all in %llu clocks", of[i].box, count[2],
			   count[3], clocks);
		ktap_check(!msr_read(0, SYN_VIOLATIONS), "violations");
		msr_write(0, of[i].box, 0);
	}
}

/* Same event on another counter: same count. Another box, event or package: another. */
static void events_differ(void)
{
	u64 a, b;

	start_over(0);
	start_over(4);
	msr_write(0, c_box[0] + CTL(0), EN | 0x18);
	msr_write(0, c_box[0] + CTL(4), EN | 0x18);
	msr_write(0, c_box[0] + CTL(5), EN | 0x1a);
	msr_write(0, c_box[0], 0x31);
	msr_write(0, c_box[1] + CTL(0), EN | 0x18);
	msr_write(0, c_box[1], 0x1);
	run_for(0, 1000, 0);
	a = check_truth(0, c_box[0] + CTR(0));
	ktap_check(a == check_truth(0, c_box[0] + CTR(4)), "counters differ");
	ktap_check(a != check_truth(0, c_box[0] + CTR(5)), "events do not");
	ktap_check(a != check_truth(0, c_box[1] + CTR(0)), "boxes do not");
	a = a * 1000 / truth(0, SYN_ENABLED, c_box[0] + CTR(0));
	msr_write(4, c_box[0] + CTL(0), EN | 0x18);
	msr_write(4, c_box[0], 1);
	run_for(4, 1000, 0);
	b = check_truth(4, c_box[0] + CTR(0)) * 1000 / truth(4, SYN_ENABLED, c_box[0] + CTR(0));
	ktap_check(a != b, "packages do not: %llu", a);
}

static void nine_bit_codes(void)
{
	static const unsigned int codes[] = { 0xf9, 0xdf, 0xe4, 0xe5, 0xe6 };
	unsigned int i, ninth, sel;
	u64 a, b;

	start_over(0);
	set_pattern(0, SYN_SEL(SYN_BOX_U, 0, 0xe4, SYN_ANY), SYN_PATTERN(0, 0, 1, 1));
	msr_write(0, U_EV_SEL, EN | 0x1e4);
	ktap_check(msr_read(0, U_EV_SEL) == (EN | 0xe4), "%#llx", msr_read(0, U_EV_SEL));
	run_for(0, 100, U_EN);
	a = check_truth(0, U_CTR);
	b = truth(0, SYN_ENABLED, U_CTR);
	ktap_check(a == b, "%llu in %llu cycles", a, b);
	ktap_check(!msr_read(0, SYN_VIOLATIONS), "violations");
	/* By the other reading all but the first of these have the ninth bit, which is kept. */
	msr_write(0, U_EV_SEL, 0);
	msr_write(0, SYN_READING(RD_U_CODES), RD_U_CODES_NINE);
	for (i = 0; i < ARRAY_SIZE(codes); i++) {
		for (ninth = 0; ninth < 2; ninth++) {
			sel = EN | ninth << 8 | codes[i];
			msr_write(0, U_EV_SEL, sel);
			ktap_check(msr_read(0, U_EV_SEL) == sel, "%#x: %#llx", sel,
				   msr_read(0, U_EV_SEL));
			ktap_check(violations(SYN_V_EV_SEL) == (ninth != (i > 0)), "%#x: %llu", sel,
				   violations(SYN_V_EV_SEL));
			msr_write(0, U_EV_SEL, 0);
			msr_write(0, SYN_CLEAR, 1);
		}
	}
	msr_write(0, U_EV_SEL, EN | 0x1e4);
	msr_write(0, U_CTR, 0);
	run_for(0, 100, U_EN);
	ktap_check(check_truth(0, U_CTR) == truth(0, SYN_ENABLED, U_CTR), "nine bits");
	msr_write(0, U_EV_SEL, 0);
	msr_write(0, SYN_READING(RD_U_CODES), RD_U_CODES_EIGHT);
}

static void rst_all(void)
{
	start_over(0);
	msr_write(0, c_box[2] + CTR(3), 12345);
	msr_write(0, U_CTR, 1);
	msr_write(0, W_FIXED_CTR, 0x1234567);
	msr_write(0, U_GLOBAL_CTL, U_RST_ALL);
	ktap_check(!msr_read(0, c_box[2] + CTR(3)) && !msr_read(0, U_CTR), "not cleared");
	ktap_check(msr_read(0, W_FIXED_CTR) == 0x1000000, "W fixed %#llx",
		   msr_read(0, W_FIXED_CTR));
	msr_write(0, U_GLOBAL_CTL, 0);
	msr_write(0, c_box[2] + CTR(3), 12345);
	ktap_check(msr_read(0, c_box[2] + CTR(3)) == 12345, "still held");
	ktap_check(!msr_read(0, SYN_VIOLATIONS), "violations");
}

/* While they count, they go on from 0; one that has halted goes on, too. */
static void rst_all_meanwhile(void)
{
	unsigned int ctr = m_box[0] + CTR(0), halted = m_box[0] + CTR(1);
	u64 before, after, closed, value;

	start_over(0);
	msr_write(0, m_box[0], 3);
	msr_write(0, ctr - 1, EN_LOW | 0x40 | 0x1b << 9);
	msr_write(0, halted - 1, EN_LOW | 0x1b << 9);
	msr_write(0, halted, M48 - 10);
	msr_write(0, U_GLOBAL_CTL, U_EN_ALL);
	wait_us(100);
	ktap_check(msr_read(0, ctr) && !msr_read(0, halted), "%llu and %llu", msr_read(0, ctr),
		   msr_read(0, halted));
	before = msr_read(0, SYN_CYCLES);
	msr_write(0, U_GLOBAL_CTL, U_EN_ALL | U_RST_ALL);
	after = msr_read(0, SYN_CYCLES);
	wait_us(100);
	msr_write(0, U_GLOBAL_CTL, 0);
	closed = truth(0, SYN_CLOSED, ctr);
	value = msr_read(0, ctr);
	ktap_check(value >= closed - after && value <= closed - before,
		   "%llu, cleared in cycles %llu to %llu before the end", value, closed - before,
		   closed - after);
	ktap_check(msr_read(0, halted) == value, "%llu after %llu", msr_read(0, halted), value);
	ktap_check(violations(SYN_V_RST_ALL) == 1, "violations");
}

/* So do the statistics at SYN_CLEAR, and a window begins there. */
static void cleared_meanwhile(void)
{
	unsigned int ctr = m_box[0] + CTR(0);
	u64 before, after, opened, cycles;

	start_over(0);
	msr_write(0, m_box[0], 1);
	msr_write(0, ctr - 1, EN_LOW | 0x40 | 0x1b << 9);
	msr_write(0, U_GLOBAL_CTL, U_EN_ALL);
	wait_us(100);
	before = msr_read(0, SYN_CYCLES);
	msr_write(0, SYN_CLEAR, 1);
	after = msr_read(0, SYN_CYCLES);
	opened = truth(0, SYN_OPENED, ctr);
	ktap_check(opened >= before && opened <= after && truth(0, SYN_WINDOWS, ctr) == 1,
		   "%llu windows, the last from %llu, not %llu to %llu", truth(0, SYN_WINDOWS, ctr),
		   opened, before, after);
	msr_write(0, U_GLOBAL_CTL, 0);
	cycles = truth(0, SYN_CLOSED, ctr) - opened;
	ktap_check(truth(0, SYN_EVENTS, ctr) == cycles && truth(0, SYN_ENABLED, ctr) == cycles,
		   "%llu events in %llu cycles, not %llu", truth(0, SYN_EVENTS, ctr),
		   truth(0, SYN_ENABLED, ctr), cycles);
}

/* The timestamp of an M-Box: 16 bits that go with the clock, from what was written. */
static void timestamp(void)
{
	u64 from[2], to[2], stamp, gone;

	start_over(0);
	from[0] = msr_read(0, SYN_CYCLES);
	msr_write(0, M1_TIMESTAMP_UNIT, 0x1234);
	from[1] = msr_read(0, SYN_CYCLES);
	to[0] = msr_read(0, SYN_CYCLES);
	stamp = msr_read(0, M1_TIMESTAMP_UNIT);
	to[1] = msr_read(0, SYN_CYCLES);
	gone = (stamp - 0x1234 - (to[0] - from[1])) & 0xffff;
	ktap_check(stamp <= 0xffff && gone <= to[1] - to[0] + from[1] - from[0],
		   "%#llx, written in cycles %llu to %llu, read in %llu to %llu", stamp, from[0],
		   from[1], to[0], to[1]);
	ktap_check(!msr_read(0, SYN_VIOLATIONS), "violations");
}

/* W reads with low 24 bits 0 or 1 come out 0x1000000 too high. */
static void w_erratum(void)
{
	static const struct { u64 is, reads; } cases[] = {
		{ 0, 0x1000000 }, { 1, 0x1000001 }, { 2, 2 }, { 0xfffffd, 0xfffffd },
		{ 0x7000000, 0x8000000 }, { 0xffffff000001, 1 }, { 0xffffff000002, 0xffffff000002 },
	};
	unsigned int i, n;

	start_over(0);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		for (n = 0; n < 5; n++) {
			unsigned int ctr = n < 4 ? W_GLOBAL_CTL + CTR(n) : W_FIXED_CTR;

			msr_write(0, ctr, cases[i].is);
			ktap_check(msr_read(0, ctr) == cases[i].reads, "0x%x = %#llx reads %#llx",
				   ctr, cases[i].is, msr_read(0, ctr));
		}
	}
}

static void w_fixed(void)
{
	u64 cycles;

	start_over(0);
	msr_write(0, W_FIXED_CTR, 0x100);
	msr_write(0, W_FIXED_CTR_CTL, 1);
	run_for(0, 100, 0);
	ktap_check(msr_read(0, W_FIXED_CTR) == 0x100, "runs without GLOBAL_CTL[31]");
	msr_write(0, W_GLOBAL_CTL, 1u << 31);
	run_for(0, 1000, 0);
	cycles = truth(0, SYN_ENABLED, W_FIXED_CTR);
	ktap_check(cycles > 1000000 && msr_read(0, W_FIXED_CTR) == 0x100 + cycles, "%llu", cycles);
}

/* Idle CPUs do not stop the uncore, and no access is needed to keep it going. */
static void halted_time(void)
{
	u64 num = msr_read(0, SYN_HZ_NUM), den = msr_read(0, SYN_HZ_DEN), cycles;

	start_over(0);
	msr_write(0, W_FIXED_CTR_CTL, 1);
	msr_write(0, W_GLOBAL_CTL, 1u << 31);
	msr_write(0, SYN_CLEAR, 1);
	run_for(0, 200000, 0);
	cycles = truth(0, SYN_EVENTS, W_FIXED_CTR);
	ktap_check(cycles > 200000000ull * num / den, "%llu cycles", cycles);
	ktap_check(msr_read(0, SYN_ACCESS_ALL(SYN_RANGE_UNCORE, 1)) == 2, "%llu writes",
		   msr_read(0, SYN_ACCESS_ALL(SYN_RANGE_UNCORE, 1)));
	ktap_check(!msr_read(0, SYN_ACCESS_ALL(SYN_RANGE_UNCORE, 0)), "reads");
}

static void occupancy_tally(void)
{
	unsigned int ctl = s_box[1] + CTL(2);
	u64 events, value;

	start_over(0);
	set_pattern(0, SYN_SEL(SYN_BOX_S, 1, 0x0a, SYN_ANY), SYN_PATTERN(0, 0, 1, 5));
	msr_write(0, s_box[1], 0xf);
	msr_write(0, ctl, EN | 1u << 17 | 0x0a);
	run_for(0, 100, 0);
	check_truth(0, ctl + 1);
	ktap_check(!violations(SYN_V_OCCUPANCY), "a violation");
	/* Enabled again, the tally still holds 5 and adds it in every cycle. */
	msr_write(0, ctl, 0);
	msr_write(0, ctl + 1, 0);
	msr_write(0, SYN_CLEAR, 1);
	msr_write(0, ctl, EN | 0x0a);
	run_for(0, 100, 0);
	events = truth(0, SYN_EVENTS, ctl + 1);
	value = msr_read(0, ctl + 1);
	ktap_check(events && value == 2 * events, "%llu, truth %llu", value, events);
	ktap_check(violations(SYN_V_OCCUPANCY) == 1, "no violation");
	/* Until reset_occ_cnt is written. */
	msr_write(0, ctl, EN | 1u << 17 | 0x0a);
	msr_write(0, ctl + 1, 0);
	msr_write(0, SYN_CLEAR, 1);
	run_for(0, 100, 0);
	check_truth(0, ctl + 1);
	/* A tally that is empty adds 1: the slip shows. */
	ctl = s_box[0] + CTL(3);
	set_pattern(0, SYN_SEL(SYN_BOX_S, 0, 0x0a, SYN_ANY), SYN_PATTERN(0, 0, 0, 0));
	msr_write(0, s_box[0], 0xf);
	msr_write(0, ctl, EN | 0x0a);
	run_for(0, 100, 0);
	value = msr_read(0, ctl + 1);
	ktap_check(value && value == truth(0, SYN_ENABLED, ctl + 1) &&
		   !truth(0, SYN_EVENTS, ctl + 1), "%llu in %llu cycles", value,
		   truth(0, SYN_ENABLED, ctl + 1));
}

/* A window of the event that occupancy_from_zero() has set up; how many of its clocks are idle. */
static u64 idle_clocks(unsigned int ctr, unsigned int us, u64 *events, u64 *value)
{
	msr_write(0, ctr - 1, 0);
	msr_write(0, ctr, 0);
	msr_write(0, SYN_CLEAR, 1);
	msr_write(0, ctr - 1, EN | 1u << 17 | 0x0a);
	run_for(0, us, 0);
	*events = truth(0, SYN_EVENTS, ctr);
	*value = msr_read(0, ctr);
	return truth(0, SYN_ENABLED, ctr) - *events / 5;
}

/* What reset_occ_cnt does to a queue that has entries: five of them in half of the time. */
static void occupancy_from_zero(void)
{
	unsigned int ctr = s_box[1] + CTR(2), wrapped = 0, i;
	u64 idle, events, value;

	start_over(0);
	msr_write(0, s_box[1], 0xf);
	set_pattern(0, SYN_SEL(SYN_BOX_S, 1, 0x0a, SYN_ANY), SYN_PATTERN(6, 0, 32, 5));
	msr_write(0, SYN_READING(RD_S_RESET_FULL), RD_S_RESET_FULL_FROM_ZERO_WRAPS);
	for (i = 0; i < 16; i++) {
		/* Cleared with the five it goes 5 below 0; cleared without them it is right. */
		idle = idle_clocks(ctr, 10 + i, &events, &value);
		ktap_check(idle && (value == idle * 123 || value == events),
			   "wraps: %llu, truth %llu, idle %llu", value, events, idle);
		wrapped += value != events;
	}
	ktap_check(wrapped && wrapped < 16, "%u of 16 windows wrap", wrapped);
	msr_write(0, SYN_READING(RD_S_RESET_FULL), RD_S_RESET_FULL_FROM_ZERO_STICKS);
	for (i = 0; i < 16; i++) {
		idle = idle_clocks(ctr, 10 + i, &events, &value);
		ktap_check(idle && events && value == events, "sticks: %llu, truth %llu", value,
			   events);
	}
	/* In a queue that is never empty the five are never seen. */
	set_pattern(0, SYN_SEL(SYN_BOX_S, 1, 0x0a, SYN_ANY), SYN_PATTERN(0, 0, 1, 5));
	for (i = RD_S_RESET_FULL_TRUE; i <= RD_S_RESET_FULL_FROM_ZERO_STICKS; i++) {
		msr_write(0, SYN_READING(RD_S_RESET_FULL), i);
		idle = idle_clocks(ctr, 10, &events, &value);
		ktap_check(events && !idle && value == (i == RD_S_RESET_FULL_TRUE ? events : 0),
			   "answer %u: %llu, truth %llu", i, value, events);
	}
	msr_write(0, SYN_READING(RD_S_RESET_FULL), RD_S_RESET_FULL_TRUE);
	ktap_check(!msr_read(0, SYN_VIOLATIONS), "violations");
}

/* B sub-counters run on while nobody counts, so windows add up to the whole. */
static void sub_counters(void)
{
	static const struct { unsigned int code, inc, div; } events[] = {
		{ 0x07, 7, 32 }, { 0x04, 100, 256 }, { 0x1c, 256, 256 },
	};
	unsigned int i, ctr = b_box[0] + CTR(0);

	start_over(0);
	msr_write(0, b_box[0], 1);
	for (i = 0; i < 3; i++) {
		u64 opened, closed, want;

		set_pattern(0, SYN_SEL(SYN_BOX_B, 0, SYN_CODE_B(0, events[i].code), SYN_ANY),
			    SYN_PATTERN(0, 0, 1, events[i].inc));
		msr_write(0, ctr - 1, EN_LOW | events[i].code << 1);
		msr_write(0, ctr, 0);
		run_for(0, 100, 0);
		opened = truth(0, SYN_OPENED, ctr);
		closed = truth(0, SYN_CLOSED, ctr);
		want = closed * events[i].inc / events[i].div -
		       opened * events[i].inc / events[i].div;
		ktap_check(msr_read(0, ctr) == want, "event 0x%x: %llu not %llu", events[i].code,
			   msr_read(0, ctr), want);
	}
	/* R-Box: one count for 128 allocations. */
	msr_write(0, R_PORT1_IPERF_CFG0, 3u << 17);
	msr_write(0, R_PORT1_IPERF_CFG1, 3u << 17 | 1u << 21);
	msr_write(0, r_box[0] + CTL(0), EN_LOW | 6 << 1);
	msr_write(0, r_box[0] + CTL(7), EN_LOW | 7 << 1);
	msr_write(0, r_box[0], 0x81);
	run_for(0, 10000, 0);
	i = msr_read(0, r_box[0] + CTR(7)) / 128 - msr_read(0, r_box[0] + CTR(0));
	ktap_check(msr_read(0, r_box[0] + CTR(0)) && i + 1 <= 2, "%llu and %llu",
		   msr_read(0, r_box[0] + CTR(7)), msr_read(0, r_box[0] + CTR(0)));
	ktap_check(!msr_read(0, SYN_VIOLATIONS), "violations");
}

/* M-Box modes: down, halt at the wrap, conditions. */
static void m_modes(void)
{
	unsigned int ctl = m_box[0] + CTL(0);
	u64 cycles, events;

	start_over(0);
	msr_write(0, m_box[0], 0x3f);
	/* CYCLES, down */
	msr_write(0, ctl, EN_LOW | 1 << 2 | 0x40 | 0x1b << 9);
	msr_write(0, ctl + 1, 1000000000);
	run_for(0, 100, 0);
	cycles = truth(0, SYN_ENABLED, ctl + 1);
	ktap_check(cycles == truth(0, SYN_EVENTS, ctl + 1), "not every cycle");
	ktap_check(msr_read(0, ctl + 1) == 1000000000 - cycles, "does not go down");
	/* wrap_mode 0: stays at 0 until its status bit is cleared. */
	msr_write(0, ctl, EN_LOW | 0x1b << 9);
	msr_write(0, ctl + 1, M48 - 1000);
	run_for(0, 100, 0);
	ktap_check(!msr_read(0, ctl + 1), "%#llx", msr_read(0, ctl + 1));
	ktap_check(msr_read(0, m_box[0] + STATUS) == 1, "no status");
	msr_write(0, m_box[0] + OVF, 1);
	run_for(0, 100, 0);
	ktap_check(msr_read(0, ctl + 1), "still halted");
	/* Or until it is written. */
	msr_write(0, ctl + 1, M48 - 1000);
	run_for(0, 100, 0);
	ktap_check(!msr_read(0, ctl + 1), "%#llx", msr_read(0, ctl + 1));
	msr_write(0, ctl + 1, 5);
	run_for(0, 100, 0);
	ktap_check(msr_read(0, ctl + 1) > 5, "halted when it is written");
	/* Up and down is up; events under a condition without a condition are none. */
	msr_write(0, ctl + 2, EN_LOW | 2 << 2 | 0x40 | 0x1b << 9);
	msr_write(0, ctl + 4, EN_LOW | 1 << 4 | 0x40 | 0x1b << 9);
	msr_write(0, SYN_CLEAR, 1);
	run_for(0, 100, 0);
	ktap_check(check_truth(0, ctl + 3) == truth(0, SYN_ENABLED, ctl + 3), "not every cycle");
	ktap_check(!msr_read(0, ctl + 5), "%llu without a condition", msr_read(0, ctl + 5));
	msr_write(0, ctl + 2, 0);
	msr_write(0, ctl + 3, 0);
	/* Cycles in the four scheduler modes; then page hits in one of them. */
	set_pattern(0, SYN_SEL(SYN_BOX_M, 0, SYN_CODE_M_FLAG(1), 2), SYN_PATTERN(6, 8, 16, 1));
	set_pattern(0, SYN_SEL(SYN_BOX_M, 0, SYN_CODE_M(0x14), SYN_ANY), SYN_PATTERN(6, 0, 16, 1));
	msr_write(0, M0_ISS, 2 << 4);
	msr_write(0, ctl, EN_LOW | 0x40 | 0x80 | 1 << 19);
	msr_write(0, ctl + 1, 0);
	msr_write(0, SYN_CLEAR, 1);
	msr_write(0, ctl + 2, EN_LOW | 0x40 | 0x80 | 1 << 19 | 1 << 4 | 0x14 << 9);
	run_for(0, 1000, 0);
	events = check_truth(0, ctl + 1);
	cycles = truth(0, SYN_ENABLED, ctl + 3);
	ktap_check(events > cycles / 4 - 64 && events < cycles / 4 + 64, "%llu of %llu", events,
		   cycles);
	events = check_truth(0, ctl + 3);
	ktap_check(events > cycles / 8 - 64 && events < cycles / 8 + 64, "%llu of %llu", events,
		   cycles);
	ktap_check(!msr_read(0, SYN_VIOLATIONS), "violations");
}

KTAP_MAIN({ "packages, cores and threads", identity },
	  { "three levels of enable", three_levels },
	  { "every counter counts the truth, with no skew", all_counters },
	  { "unit mask bits add up", unit_masks },
	  { "but those of independent things are any of them", any_of_them },
	  { "events differ by what and where, not by counter", events_differ },
	  { "nine-bit codes of the U-Box", nine_bit_codes },
	  { "rst_all", rst_all },
	  { "rst_all while counters count", rst_all_meanwhile },
	  { "statistics cleared while counters count", cleared_meanwhile },
	  { "M-Box timestamp", timestamp },
	  { "W-Box read erratum", w_erratum },
	  { "W-Box fixed counter", w_fixed },
	  { "time the CPUs sleep counts", halted_time },
	  { "S-Box occupancy sub-counter", occupancy_tally },
	  { "S-Box occupancy of a queue that was cleared with entries", occupancy_from_zero },
	  { "B-Box and R-Box sub-counters", sub_counters },
	  { "M-Box modes", m_modes })
