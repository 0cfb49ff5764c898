/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the silicon of Silvermont and of Goldmont has alike: two registers of offcore
 * responses, and events that say where a load was served.
 */
#ifndef SELFTESTS_CORE_SILICON_ATOM_H
#define SELFTESTS_CORE_SILICON_ATOM_H

#include "silicon.h"

#define RSP(reg)	(0xb7 | (u64)((reg) + 1) << 8 | ENABLE | USR | OS)

/* The average latency of each request of the mask (bits 14:0), RSP0 beside RSP1. */
static inline void check_latency(uint16_t requests)
{
	const u64 sel[2] = { RSP(0), RSP(1) };
	u64 v[2];
	int bit;

	run_on(0);
	for (bit = 0; bit < 15; bit++) {
		u64 cycles = 100 + 31 * bit;

		if (!(requests >> bit & 1))
			continue;
		msr_write(1, SYN_OFF_LATENCY(bit), cycles);
		msr_write(1, 0x1a6, 1ull << 38 | 1ull << bit);
		msr_write(1, 0x1a7, 1ull << 16 | 1ull << bit);
		measure(sel, v, 2);
		ktap_check(v[1] && v[0] == cycles * v[1], "request %d: %llu cycles, %llu requests",
			   bit, v[0], v[1]);
	}
}

/* Responses add up; what selects nothing counts nothing. */
static inline void check_responses(const u64 *bits, size_t num)
{
	static const u64 nothing[] = {
		0, 1, 0x10000, 1ull << 33, 1ull << 38, 1ull << 38 | 0x10001
	};
	const u64 sel[2] = { RSP(0), RSP(1) };
	u64 v[2], share, all = 0;
	size_t i;

	run_on(0);
	/* One in each cycle: the rarest response must come however little CPU 1 has to do. */
	msr_write(1, SYN_OFF_RATE(0), 65536);
	for (i = 0; i < num; i++) {
		share = msr_read(1, SYN_OFF_SHARE(i));
		all += share;
		msr_write(1, 0x1a6, bits[i] | 1);
		msr_write(1, 0x1a7, 0x10001);
		measure(sel, v, 2);
		ktap_check(v[0] && is_share(v[0], v[1], share), "response %zu: %llu of %llu", i,
			   v[0], v[1]);
	}
	ktap_check(all == 65536, "shares of %llu", all);
	for (i = 0; i < ARRAY_SIZE(nothing); i++) {
		msr_write(1, 0x1a6, nothing[i]);
		measure(sel, v, 1);
		ktap_check(!v[0], "%#llx: %llu", nothing[i], v[0]);
	}
	msr_write(1, SYN_OFF_RATE(0), SYN_OFF_FOLLOW);
	msr_write(1, 0x1a6, 0);
	msr_write(1, 0x1a7, 0);
}

/* Each event counts the loads of PLAIN where all data is at its level, and no other. */
struct level_event {
	uint16_t config;
	unsigned int level;
};

static inline void check_level_events(const struct level_event *of, int num)
{
	run_on(0);
	msr_write(0, SYN_MEM_MODE, SYN_MEM_BY_ADDRESS);
	for (; num--; of++) {
		unsigned int other = of->level == SYN_LEVEL_L1 ? SYN_LEVEL_L2 : SYN_LEVEL_L1;

		msr_write(0, SYN_MEM_MAP, 0x1111111111111111 * of->level);
		check_expect(&(struct expect){ of->config, "loads at their level", PLAIN, 1 });
		msr_write(0, SYN_MEM_MAP, 0x1111111111111111 * other);
		check_expect(&(struct expect){ of->config, "loads at another level", PLAIN, 0 });
	}
}

#endif
