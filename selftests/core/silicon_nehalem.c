// SPDX-License-Identifier: GPL-2.0-only
/*
 * VM: --machine xeon7500 --icount --driver none --append nmi_watchdog=0
 * TEST: 6.1
 * SOAK: none
 *
 * The core PMU of the silicon, Nehalem-EX. No driver: one kernel will do.
 */
#define _GNU_SOURCE
#include "silicon.h"

static void exact(void)
{
	static const struct expect table[] = {
		{ 0x00c0, "instructions", PLAIN, 6 },
		{ 0x010b, "loads", PLAIN, 1 },
		{ 0x020b, "stores", PLAIN, 1 },
		{ 0x00c4, "branches", CALLS, 6 },
		{ 0x02c4, "calls", CALLS, 2 },
		{ 0x7f88, "branches executed", CALLS, 6 },
		{ 0x0288, "direct jumps", CALLS, 1 },
		{ 0x0888, "returns", CALLS, 2 },
		{ 0x3088, "calls executed", CALLS, 2 },
		{ 0x7f89, "mispredicted", CALLS, 0 },
		{ 0x03e8, "cleared", CALLS, 0 },
		{ 0x0f40, "loads of the L1D", PLAIN, 1 },
		{ 0x0143, "references of the L1D", PLAIN, 2 },
		{ 0x00c0, "faults: instructions", FAULTS, 5 },
		{ 0x00c0, "string: instructions", STRING, 8 },
	};

	check_table(table, ARRAY_SIZE(table));
	check_rings(0x00c0);
}

static void regs(void)
{
	static const struct reg_rule rules[] = {
		{ 0x186, 0xffffffff, false }, { 0x186, 1ull << 32, true },
		{ 0x18a, 0, true }, { 0x0c5, 0, true }, { 0x4c1, 0, true },
		{ 0x38f, 0x70000000f, false }, { 0x38f, 0x10, true },
		{ 0x38e, 0, true }, { 0x391, 0, true }, { 0x345, 0, true },
		{ 0x3f1, 0xf0000000f, false }, { 0x3f1, 1ull << 63, true },
		{ 0x1a6, 0xffff, false }, { 0x1a6, 0x10000, true }, { 0x1a7, 0, true },
		{ IA32_DEBUGCTL, UNCORE_PMI_EN, false }, { IA32_DEBUGCTL, 1ull << 15, true },
		{ 0x68f, 0, false }, { 0x690, 0, true }, { 0x6cf, 0, false }, { 0x6d0, 0, true },
	};

	run_on(0);
	msr_write(1, GLOBAL_CTRL, 0);
	check_regs(rules, ARRAY_SIZE(rules));
	/* 32 bits, with their sign. */
	msr_write(1, PMC(0), 0x180000000);
	ktap_check(msr_read(1, PMC(0)) == 0xffff80000000, "%#llx", msr_read(1, PMC(0)));
}

/* As many interrupts as periods, each at the instruction after the last of them. */
static void periods(void)
{
	struct perf_event_attr attr = core_attr(0x00c0, 0, 0);
	u64 count, n = 0;
	struct ring ring;
	struct sample s;

	run_on(0);
	perf_unlimited();
	attr.sample_period = 100003;
	attr.sample_type = SAMPLE_TYPE;
	attr.sample_regs_intr = SAMPLE_REGS;
	attr.exclude_kernel = 1;
	ring_open(&ring, &attr);
	perf_enable(ring.fd);
	loop_run(PLAIN, 1000000);
	perf_disable(ring.fd);
	count = perf_count(ring.fd).value;
	while (ring_next(&ring, &s))
		n++;
	ktap_check(n == count / attr.sample_period && n && !ring.lost && !ring.throttles,
		   "%llu samples of %llu instructions", n, count);
	ring_close(&ring);
}

static void levels(void)
{
	run_on(0);
	check_levels(true, 0x0151);
}

KTAP_CALL(generic_caches, check_generic_caches(0))

KTAP_MAIN_UNLESS(silicon_missing() ?: core_missing("2e"),
		 { "user counts are exact", exact },
		 { "registers fault as they should", regs },
		 { "generic cache events", generic_caches },
		 { "levels", levels },
		 { "one interrupt per period", periods })
