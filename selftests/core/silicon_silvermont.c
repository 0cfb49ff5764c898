// SPDX-License-Identifier: GPL-2.0-only
/*
 * VM: --machine silvermont --icount --driver none --append nmi_watchdog=0
 * TEST: 6.1
 * SOAK: none
 *
 * The core PMU of the silicon, Silvermont. No driver: one kernel will do.
 */
#define _GNU_SOURCE
#include "silicon_atom.h"

static void exact(void)
{
	static const struct expect table[] = {
		{ 0x00c0, "instructions", PLAIN, 6 },
		{ 0x4004, "loads", PLAIN, 1 },
		{ 0x8004, "stores", PLAIN, 1 },
		{ 0x00c4, "branches", PLAIN, 1 },
		{ 0x7ec4, "conditional branches", PLAIN, 1 },
		{ 0xfec4, "conditional branches taken", PLAIN, 1 },
		{ 0x7ec5, "conditional branches mispredicted", PLAIN, 0 },
		{ 0x00c0, "string: instructions", STRING, 8 },
		{ 0x4004, "string: loads", STRING, 513 },
		{ 0x8004, "string: stores", STRING, 513 },
		{ 0xbfc4, "syscall: far branches", SYSCALL, 1 },
		{ 0x00c4, "calls: branches", CALLS, 6 },
		{ 0xf7c4, "calls: returns", CALLS, 2 },
		{ 0xf9c4, "calls: calls", CALLS, 2 },
		{ 0xfbc4, "calls: indirect calls", CALLS, 1 },
		{ 0xebc4, "calls: indirect", CALLS, 1 },
		{ 0xfdc4, "calls: relative calls", CALLS, 1 },
		{ 0x1003, "locked", LOCKED, 1 },
		{ 0x0803, "split loads", SPLIT, 2 },
		{ 0x0403, "split stores", SPLIT, 1 },
		{ 0x00c0, "faults: instructions", FAULTS, 5 },
		{ 0x4004, "faults: loads", FAULTS, 2 },
		{ 0x8004, "faults: stores", FAULTS, 1 },
		{ 0x0430, "no event of the list", PLAIN, 0 },
	};

	check_table(table, ARRAY_SIZE(table));
	check_rings(0x00c0);
}

/* Two counters of 40 bits, and three */
static void regs(void)
{
	static const struct reg_rule rules[] = {
		{ 0x187, 0xffffffff, false }, { 0x187, 1ull << 32, true }, { 0x188, 0, true },
		{ 0x0c2, 0xffffffff80000000, false }, { 0x0c3, 0, true },
		{ 0x4c2, (1ull << 40) - 1, false }, { 0x4c2, 1ull << 40, true }, { 0x4c3, 0, true },
		{ 0x309, (1ull << 40) - 1, false }, { 0x309, 1ull << 40, true },
		{ 0x38d, 0xfff, false }, { 0x38e, 0, true },
		{ 0x38f, 0x700000003, false }, { 0x38f, 4, true },
		{ 0x390, 1ull << 62, false }, { 0x390, 1ull << 59, true },
		{ 0x391, 0, true }, { 0x392, 0, true }, { 0x345, 0, true },
		{ 0x3f1, 1, false }, { 0x3f1, 2, true }, { 0x3f6, 0, true },
		{ 0x1a6, 0x768005ffff, false }, { 0x1a6, 1ull << 17, true },
		{ 0x1a6, 1ull << 32, true }, { 0x1a6, 1ull << 35, true }, { 0x1a6, 1ull << 39, true },
		{ 0x1a7, 0x368005ffff, false }, { 0x1a7, 1ull << 38, true },
		{ 0x047, 0, false }, { 0x067, 0, false }, { 0x680, 0, true }, { 0x6c0, 0, true },
		{ 0xdc0, 0, true }, { 0x600, 1ull << 63, true },
	};
	unsigned int eax = 0xa, ebx, ecx = 0, edx;

	run_on(0);
	msr_write(1, GLOBAL_CTRL, 0);
	check_regs(rules, ARRAY_SIZE(rules));
	asm volatile("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
	ktap_check((eax & 0xffffff) == 0x280203 && (edx & 0x1fff) == (40 << 5 | 3),
		   "CPUID 0AH: %#x, %#x", eax, edx);
	/* Format 2 of records, full width, freeze in SMM */
	ktap_check((msr_read(1, 0x345) & 0x3fc0) == 0x32c0, "capabilities %#llx",
		   msr_read(1, 0x345));
}

KTAP_CALL(latency, check_latency(0x7fff))

static void responses(void)
{
	static const u64 bits[] = {
		1ull << 18, 1ull << 31, 1ull << 33, 1ull << 34, 1ull << 36, 1ull << 37
	};

	check_responses(bits, ARRAY_SIZE(bits));
}

static void levels(void)
{
	static const struct level_event of[] = {
		{ 0x0204, SYN_LEVEL_L2 }, { 0x2004, SYN_LEVEL_HITM },
		{ 0x0404, SYN_LEVEL_DRAM }, { 0x0404, SYN_LEVEL_HITM }, { 0x0104, SYN_LEVEL_L2 },
	};

	check_level_events(of, ARRAY_SIZE(of));
}

/* slm_hw_cache_event_ids of the kernel */
KTAP_CALL(generic_caches, check_generic_caches(1u << L1_LOADS | 1u << LLC_LOAD_MISSES))

KTAP_MAIN_UNLESS(silicon_missing() ?: core_missing("37 4a 4c 4d 5a"),
		 { "user counts are exact", exact },
		 { "registers fault as they should", regs },
		 { "offcore latency", latency },
		 { "offcore responses", responses },
		 { "generic cache events", generic_caches },
		 { "branch trace store", check_branch_trace },
		 { "levels", levels })
