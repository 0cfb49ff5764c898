// SPDX-License-Identifier: GPL-2.0-only
/*
 * VM: --machine goldmont --icount --driver none --append nmi_watchdog=0
 * TEST: 6.1
 * SOAK: none
 *
 * The core PMU of the silicon, Goldmont. No driver: one kernel will do.
 */
#define _GNU_SOURCE
#include "silicon_atom.h"

static void exact(void)
{
	static const struct expect table[] = {
		{ 0x00c0, "instructions", PLAIN, 6 },
		{ 0x81d0, "loads", PLAIN, 1 },
		{ 0x82d0, "stores", PLAIN, 1 },
		{ 0x83d0, "loads and stores", PLAIN, 2 },
		{ 0x00c4, "branches", PLAIN, 1 },
		{ 0x7ec4, "conditional branches", PLAIN, 1 },
		{ 0xfec4, "conditional branches taken", PLAIN, 1 },
		{ 0x7ec5, "conditional branches mispredicted", PLAIN, 0 },
		{ 0x00c0, "string: instructions", STRING, 8 },
		{ 0x81d0, "string: loads", STRING, 513 },
		{ 0x82d0, "string: stores", STRING, 513 },
		{ 0x00c0, "syscall: instructions", SYSCALL, 6 },
		{ 0x81d0, "syscall: loads", SYSCALL, 1 },
		{ 0xbfc4, "syscall: far branches", SYSCALL, 1 },
		{ 0x00c0, "calls: instructions", CALLS, 8 },
		{ 0x00c4, "calls: branches", CALLS, 6 },
		{ 0x80c4, "calls: taken branches", CALLS, 6 },
		{ 0xf7c4, "calls: returns", CALLS, 2 },
		{ 0xf9c4, "calls: calls", CALLS, 2 },
		{ 0xfbc4, "calls: indirect calls", CALLS, 1 },
		{ 0xebc4, "calls: indirect", CALLS, 1 },
		{ 0xfdc4, "calls: relative calls", CALLS, 1 },
		{ 0x00c5, "calls: mispredicted", CALLS, 0 },
		{ 0x21d0, "locked loads", LOCKED, 1 },
		{ 0x81d0, "locked: loads", LOCKED, 1 },
		{ 0x82d0, "locked: stores", LOCKED, 1 },
		{ 0x10c2, "divides", LOCKED, 1 },
		{ 0x08c2, "floating-point divides", LOCKED, 1 },
		{ 0x41d0, "split loads", SPLIT, 2 },
		{ 0x42d0, "split stores", SPLIT, 1 },
		{ 0x43d0, "splits", SPLIT, 3 },
		{ 0x0213, "page split loads", SPLIT, 1 },
		{ 0x0413, "page split stores", SPLIT, 1 },
		{ 0x00c0, "faults: instructions", FAULTS, 5 },
		{ 0x81d0, "faults: loads", FAULTS, 2 },
		{ 0x82d0, "faults: stores", FAULTS, 1 },
		{ 0x00c4, "faults: branches", FAULTS, 1 },
		{ 0x00c0, "faults in a string: instructions", FAULTS_STRING, 7 },
		{ 0x82d0, "faults in a string: stores", FAULTS_STRING, 1025 },
	};

	check_table(table, ARRAY_SIZE(table));
}

static void rings(void)
{
	run_on(0);
	check_rings(0x00c0);
	check_rings(0x83d0);
	check_rings(0x00c4);
}

/* All of them at once, interrupted all the time, count no other. */
static void disturbed(void)
{
	struct perf_event_attr attr = core_attr(0x003c, 0, 0);
	static const struct expect e = { 0x00c0, "instructions under interrupts", PLAIN, 6 };
	struct ring ring;

	run_on(0);
	perf_unlimited();
	attr.sample_period = 3000000;
	attr.sample_type = PERF_SAMPLE_IP;
	ring_open(&ring, &attr);
	perf_enable(ring.fd);
	check_expect(&e);
	perf_disable(ring.fd);
	ktap_check(ring.page->data_head, "no interrupt at all");
	ring_close(&ring);
}

static void regs(void)
{
	static const struct reg_rule rules[] = {
		{ 0x186, 0xffffffff, false }, { 0x186, 1ull << 32, true },
		{ 0x0c1, 0xffffffff80000000, false },
		{ 0x4c1, (1ull << 48) - 1, false }, { 0x4c1, 1ull << 48, true },
		{ 0x0c5, 0, true }, { 0x18a, 0, true }, { 0x4c5, 0, true },
		{ 0x309, 1ull << 48, true },
		{ 0x38d, 0xfff, false }, { 0x38d, 0x1000, true },
		{ 0x38e, 0, true },
		{ 0x38f, 0x70000000f, false }, { 0x38f, 0x10, true },
		{ 0x390, 1ull << 59 | 1ull << 62, false }, { 0x390, 1ull << 40, true },
		{ 0x391, 1ull << 40, true }, { 0x392, 0, true }, { 0x345, 0, true },
		{ 0x3f1, 1, false }, { 0x3f1, 2, true }, { 0x3f6, 0, true },
		{ 0x1a6, 0x760005ffbf, false }, { 0x1a6, 1ull << 6, true },
		{ 0x1a6, 1ull << 17, true }, { 0x1a6, 1ull << 31, true },
		{ 0x1a6, 1ull << 39, true },
		{ 0x1a7, 0x360005ffbf, false }, { 0x1a7, 1ull << 38, true },
		{ IA32_DEBUGCTL, 1ull << 12, false }, { IA32_DEBUGCTL, UNCORE_PMI_EN, true },
		{ 0x600, 1ull << 63, true },
		{ 0x69f, 0, false }, { 0x6df, 0, false }, { 0xdc0, 0, true },
	};

	run_on(0);
	msr_write(1, GLOBAL_CTRL, 0);
	check_regs(rules, ARRAY_SIZE(rules));
	/* Last branches: flags in FROM, cycles in TO (SDM 17.6) */
	ktap_check((msr_read(1, 0x345) & 0x3f) == 6, "capabilities %#llx", msr_read(1, 0x345));
	msr_write(1, 0x391, 5);
	ktap_check(msr_read(1, 0x38e) == 5, "status %#llx", msr_read(1, 0x38e));
	msr_write(1, 0x390, 4);
	ktap_check(msr_read(1, 0x38e) == 1, "status %#llx", msr_read(1, 0x38e));
	msr_write(1, 0x390, 1);
	msr_write(1, EVTSEL(2), 0x3c);
	ktap_check(msr_read(1, 0x392) == 4, "in use %#llx", msr_read(1, 0x392));
	msr_write(1, EVTSEL(2), 0);
}

/* 3.25 events per cycle. */
static void masks(void)
{
	static const u64 on = ENABLE | USR | OS, ev = 0x30;
	u64 sel[4] = { 0x3c | on, ev | on | CMASK(3), ev | on | CMASK(4), ev | on | CMASK(5) };
	u64 v[4], c;

	run_on(0);
	msr_write(1, SYN_CORE_RATE_SEL, ev);
	msr_write(1, SYN_CORE_RATE_SET, 3 * 65536 + 16384);
	measure(sel, v, 4);
	c = v[0];
	ktap_check(c > 1000 && v[1] == c && close_to(v[2], c / 4) && !v[3],
		   "cycles %llu, 3 or more %llu, 4 %llu, 5 %llu", c, v[1], v[2], v[3]);
	sel[1] = 0x3c | on | 1ull << 21;	/* AnyThread is ignored */
	measure(sel, v, 2);
	ktap_check(v[0] && v[0] == v[1], "cycles %llu, of any thread %llu", v[0], v[1]);
	sel[1] = ev | on;
	sel[2] = ev | on | CMASK(4) | INV;
	sel[3] = ev | on | CMASK(4) | EDGE;
	measure(sel, v, 4);
	c = v[0];
	ktap_check(close_to(v[1], c * 13 / 4) && close_to(v[2], c - c / 4) && close_to(v[3], c / 4),
		   "cycles %llu, events %llu, fewer than 4 %llu, edges %llu", c, v[1], v[2], v[3]);
	sel[1] = ev | on | CMASK(3) | EDGE;
	sel[2] = ev | on | INV;		/* means nothing without a mask */
	sel[3] = ev | ENABLE;		/* in no ring */
	measure(sel, v, 4);
	ktap_check(!v[1] && close_to(v[2], v[0] * 13 / 4) && !v[3],
		   "edges of always %llu, all %llu, none %llu", v[1], v[2], v[3]);
	/* Branches come one at a time. */
	sel[0] = 0xc4 | on;
	sel[1] = sel[0] | CMASK(1);
	sel[2] = sel[0] | CMASK(2);
	measure(sel, v, 3);
	ktap_check(v[0] && v[1] == v[0] && !v[2], "branches %llu, 1 or more %llu, 2 %llu", v[0],
		   v[1], v[2]);
}

static void latency(void)
{
	/* Bit 6 is reserved; bit 3, COREWB, is not in RSP1. */
	check_latency(0x7fb7);
}

static void responses(void)
{
	static const u64 bits[] = {
		1ull << 18, 1ull << 33, 1ull << 34, 1ull << 36, 1ull << 37
	};
	const u64 sel[2] = { RSP(0), RSP(1) };
	u64 v[2];

	check_responses(bits, ARRAY_SIZE(bits));
	msr_write(1, SYN_OFF_RATE(3), 1024);
	msr_write(1, 0x1a6, 0x10008);
	msr_write(1, 0x1a7, 0x10008);
	measure(sel, v, 2);
	ktap_check(v[0] && !v[1], "write-backs %llu in RSP0, %llu in RSP1", v[0], v[1]);
	msr_write(1, SYN_OFF_RATE(3), SYN_OFF_FOLLOW);
	msr_write(1, 0x1a6, 0x3600040000 | 0x32b7);
	msr_write(1, 0x1a7, 0x10000 | 0x32b7);
	measure(sel, v, 2);
	ktap_check(v[0] == v[1] && v[0], "every response %llu, any %llu", v[0], v[1]);
	msr_write(1, 0x1a6, 0);
	msr_write(1, 0x1a7, 0);
}

static void levels(void)
{
	static const struct level_event of[] = {
		{ 0x01d1, SYN_LEVEL_L1 }, { 0x40d1, SYN_LEVEL_FILL }, { 0x02d1, SYN_LEVEL_L2 },
		{ 0x20d1, SYN_LEVEL_HITM }, { 0x80d1, SYN_LEVEL_DRAM },
	};

	check_level_events(of, ARRAY_SIZE(of));
	check_levels(false, 0);
	/* One line over and over. */
	check_expect(&(struct expect){ 0x01d1, "hits", PLAIN, 1 });
	check_expect(&(struct expect){ 0x08d1, "misses", PLAIN, 0 });
}

/* glm_hw_cache_event_ids of the kernel */
KTAP_CALL(generic_caches, check_generic_caches(1u << L1_LOAD_MISSES))

KTAP_MAIN_UNLESS(silicon_missing() ?: core_missing("5c 5f"),
		 { "user counts are exact", exact },
		 { "user and kernel add up", rings },
		 { "interrupts do not count", disturbed },
		 { "registers fault as they should", regs },
		 { "mask, invert, edge", masks },
		 { "offcore latency", latency },
		 { "offcore responses", responses },
		 { "generic cache events", generic_caches },
		 { "branch trace store", check_branch_trace },
		 { "levels", levels })
