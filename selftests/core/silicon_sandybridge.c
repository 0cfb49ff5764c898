// SPDX-License-Identifier: GPL-2.0-only
/*
 * VM: --machine sandybridge --icount --driver none --append nmi_watchdog=0
 * TEST: 6.1
 * SOAK: none
 *
 * The core PMU of the silicon, Sandy Bridge. No driver: one kernel will do.
 */
#define _GNU_SOURCE
#include "silicon.h"
#include "walk.h"

#define WORDS	4096
#define ROUNDS	200000
#define PERIOD	9973

static u64 from[WORDS] __attribute__((aligned(4096)));
static u64 to[WORDS] __attribute__((aligned(4096)));

static void exact(void)
{
	static const struct expect table[] = {
		{ 0x00c0, "instructions", PLAIN, 6 },
		{ 0x01c0, "instructions, PREC_DIST", PLAIN, 6 },
		{ 0x81d0, "loads", PLAIN, 1 },
		{ 0x82d0, "stores", PLAIN, 1 },
		{ 0xf1d0, "loads, as perf has them", PLAIN, 1 },
		{ 0xf2d0, "stores, as perf has them", PLAIN, 1 },
		{ 0xff88, "branches executed", CALLS, 6 },
		{ 0xff89, "mispredicted", CALLS, 0 },
		{ 0x02cd, "precise stores", PLAIN, 1 },
		{ 0x20c4, "taken branches", CALLS, 6 },
		{ 0x02c4, "calls", CALLS, 2 },
		{ 0x08c4, "returns", CALLS, 2 },
		{ 0x21d0, "locked loads", LOCKED, 1 },
		{ 0x41d0, "split loads", SPLIT, 2 },
		{ 0x00c0, "faults: instructions", FAULTS, 5 },
	};

	check_table(table, ARRAY_SIZE(table));
	check_rings(0x00c0);
}

static void regs(void)
{
	static const struct reg_rule rules[] = {
		{ 0x186, 0xffffffff, false }, { 0x186, 1ull << 32, true },
		{ 0x4c8, (1ull << 48) - 1, false }, { 0x4c8, 1ull << 48, true },
		{ 0x38f, 0x7000000ff, false }, { 0x38f, 0x100, true },
		{ 0x391, 0, true }, { 0x392, 0, true },
		{ 0x3f1, 0x8000000f0000000f, false }, { 0x3f1, 0x10, true },
		{ 0x3f6, 0xffff, false },
		{ 0x1a6, 0x3f807f8fff, false }, { 0x1a7, 0x3f807f8fff, false },
		{ 0x1a6, 1ull << 12, true }, { 0x1a7, 1ull << 23, true },
		{ 0x1a6, 1ull << 38, true },
		{ IA32_DEBUGCTL, UNCORE_PMI_EN, false },
		{ 0x68f, 0, false }, { 0x690, 0, true }, { 0x6cf, 0, false }, { 0x6d0, 0, true },
		{ 0xdc0, 0, true },
	};

	run_on(0);
	msr_write(1, GLOBAL_CTRL, 0);
	check_regs(rules, ARRAY_SIZE(rules));
}

/* Suppliers and snoops: shares of shares. One without the other is nothing. */
static void responses(void)
{
	const u64 sel[2] = { 0x01b7 | ENABLE | USR | OS, 0x01bb | ENABLE | USR | OS };
	u64 v[2], share;

	run_on(0);
	msr_write(1, SYN_OFF_RATE(0), 1024);
	msr_write(1, 0x1a6, 1 | 1ull << 18 | 1ull << 32);
	msr_write(1, 0x1a7, 1 | 1ull << 16);
	measure(sel, v, 2);
	share = msr_read(1, SYN_OFF_SHARE(1)) * msr_read(1, SYN_OFF_SHARE(7 + 1)) / 65536;
	ktap_check(v[0] && is_share(v[0], v[1], share), "%llu of %llu", v[0], v[1]);
	msr_write(1, 0x1a6, 1 | 0x7e0000 | 0x3f80000000);
	measure(sel, v, 2);
	ktap_check(v[0] == v[1], "all combinations %llu, any %llu", v[0], v[1]);
	msr_write(1, 0x1a6, 1 | 0x7e0000);
	msr_write(1, 0x1a7, 1 | 0x3f80000000);
	measure(sel, v, 2);
	ktap_check(!v[0] && !v[1], "suppliers alone %llu, snoops alone %llu", v[0], v[1]);
	msr_write(1, 0x1a6, 0);
	msr_write(1, 0x1a7, 0);
	msr_write(1, SYN_OFF_RATE(0), SYN_OFF_FOLLOW);
}

static void sample(u64 config, u64 config1, void (*check)(const struct sample *s))
{
	struct perf_event_attr attr = sample_attr(config, 2, PERIOD);
	struct ring ring;
	struct sample s;
	int num = 0;

	run_on(0);
	perf_unlimited();
	attr.config1 = config1;
	ring_open(&ring, &attr);
	perf_enable(ring.fd);
	walk(to, from, WORDS, 1, ROUNDS);
	perf_disable(ring.fd);
	while (ring_next(&ring, &s)) {
		if (s.ip < (uintptr_t)walk_load || s.ip >= (uintptr_t)walk_end)
			continue;
		num++;
		check(&s);
	}
	ktap_check(num >= ROUNDS / PERIOD - 2, "%d samples", num);
	ring_close(&ring);
}

static void is_store(const struct sample *s)
{
	ktap_check(s->ip == (uintptr_t)walk_store, "ip %+lld",
		   (long long)(s->ip - (uintptr_t)walk_store));
	ktap_check(s->addr == s->reg[REG_DI] + 8 * s->reg[REG_CX], "address %#llx", s->addr);
	ktap_check(s->src.mem_op == PERF_MEM_OP_STORE && (s->src.mem_lvl & PERF_MEM_LVL_L1),
		   "data source %#llx", s->src.val);
}

static void is_load(const struct sample *s)
{
	bool l2 = s->addr >> 6 & 1;	/* as the map below says */

	ktap_check(s->ip == (uintptr_t)walk_load, "ip %+lld",
		   (long long)(s->ip - (uintptr_t)walk_load));
	ktap_check(s->addr == s->reg[REG_SI] + 8 * s->reg[REG_CX], "address %#llx", s->addr);
	ktap_check(s->src.mem_lvl == (PERF_MEM_LVL_HIT | (l2 ? PERF_MEM_LVL_L2 : PERF_MEM_LVL_L1)),
		   "L2 %d, data source %#llx", l2, s->src.val);
}

/* Pages of which no TLB holds more than a quarter */
#define PAGES	2304

static u64 far[PAGES * 512] __attribute__((aligned(4096)));

/* What bits 4 and 5 of the status say: missed the second-level TLB, locked. */
static void status(const char *what, unsigned int tlb, unsigned int lock, void (*run)(u64 *array))
{
	struct perf_event_attr attr = sample_attr(0x02cd, 2, 97);
	int num = 0, wrong = 0;
	struct ring ring;
	struct sample s;

	/* Pages that are there, in no TLB's memory. */
	memset(far, 1, sizeof(far));
	msr_write(0, SYN_MEM_COLD, 1);
	ring_open(&ring, &attr);
	perf_enable(ring.fd);
	run(far);
	perf_disable(ring.fd);
	while (ring_next(&ring, &s)) {
		/* Of the stack there are stores as well. */
		if (s.addr - (uintptr_t)far >= sizeof(far))
			continue;
		num++;
		wrong += s.src.mem_op != PERF_MEM_OP_STORE || s.src.mem_lock != lock ||
			 s.src.mem_dtlb != (PERF_MEM_TLB_L2 | tlb);
	}
	ktap_check(num >= 50 && !wrong, "%s: %d samples, %d with another status", what, num, wrong);
	ring_close(&ring);
}

static void store_near(u64 *array)
{
	walk(array, from, 512, 1, 100 * 97);
}

static void store_far(u64 *array)
{
	unsigned int i;

	for (i = 0; i < 100 * 97; i++)
		((volatile u64 *)array)[i % PAGES * 512] = i;
}

static void store_locked(u64 *array)
{
	int i;

	for (i = 0; i < 100 * 97; i++)
		asm volatile("lock incq %0" : "+m"(array[i & 511]));
}

static void statuses(void)
{
	run_on(0);
	perf_unlimited();
	/* One page is in the TLB but the first time, for which a period is too long. */
	status("one page", PERF_MEM_TLB_HIT, 0, store_near);
	status("many pages", PERF_MEM_TLB_MISS, 0, store_far);
	status("locked", PERF_MEM_TLB_HIT, PERF_MEM_LOCK_LOCKED, store_locked);
}

/* The record of a store has no latency: its field is reserved. Loads have theirs. */
static void weights(void)
{
	static const struct { u64 config, config1; const char *insn; } of[] = {
		{ 0x02cd, 0, walk_store }, { 0x01cd, 3, walk_load }
	};
	unsigned int i;

	run_on(0);
	perf_unlimited();
	msr_write(0, SYN_MEM_MODE, SYN_MEM_BY_ADDRESS);
	msr_write(0, SYN_MEM_MAP, 0x3333333333333333);
	msr_write(0, SYN_MEM_LATENCY(SYN_LEVEL_L2), 123);
	for (i = 0; i < 2; i++) {
		struct perf_event_attr attr = sample_attr(of[i].config, 2, PERIOD);
		u64 want = of[i].insn == walk_load ? 123 : 0;
		int num = 0, wrong = 0;
		struct weighed w;
		struct ring ring;

		attr.config1 = of[i].config1;
		attr.sample_type = WEIGHED_TYPE;
		/* One by one: the instruction is found by the last branch. */
		attr.wakeup_events = 1;
		ring_open(&ring, &attr);
		perf_enable(ring.fd);
		walk(to, from, WORDS, 1, ROUNDS);
		perf_disable(ring.fd);
		while (ring_next_weighed(&ring, &w)) {
			num += w.ip == (uintptr_t)of[i].insn;
			wrong += w.ip == (uintptr_t)of[i].insn && w.weight != want;
		}
		ktap_check(num >= ROUNDS / PERIOD - 2 && !wrong, "%#llx: %d samples, %d wrong",
			   of[i].config, num, wrong);
		ring_close(&ring);
	}
	msr_write(0, SYN_MEM_MODE, SYN_MEM_CACHES);
}

static void stores(void)
{
	run_on(0);
	msr_write(0, SYN_MEM_MODE, SYN_MEM_BY_ADDRESS);
	msr_write(0, SYN_MEM_MAP, 0x1111111111111111);
	sample(0x02cd, 0, is_store);
	msr_write(0, SYN_MEM_MODE, SYN_MEM_CACHES);
}

static void loads(void)
{
	run_on(0);
	msr_write(0, SYN_MEM_MODE, SYN_MEM_BY_ADDRESS);
	msr_write(0, SYN_MEM_SHIFT, 6);
	msr_write(0, SYN_MEM_MAP, 0x3131313131313131);
	sample(0x01cd, 3, is_load);
	msr_write(0, SYN_MEM_MODE, SYN_MEM_CACHES);
}

static u64 spread[WALK_INSNS + 1];

static void is_somewhere(const struct sample *s)
{
	static const char *const insn[] = {
		walk_load, walk_after_load, walk_store, walk_after_store
	};
	int i;

	for (i = 0; i < 4; i++)
		spread[i] += s->ip == (uintptr_t)insn[i];
	spread[4]++;
}

/* PDIR: each instruction of the loop gets its share, 9 of them and a prime period. */
static void pdir(void)
{
	int i;

	memset(spread, 0, sizeof(spread));
	msr_write(0, SYN_CLEAR, 1);
	sample(0x01c0, 0, is_somewhere);
	for (i = 0; i < 4; i++)
		ktap_check(spread[i] * WALK_INSNS >= spread[4] * 8 / 10 &&
			   spread[i] * WALK_INSNS <= spread[4] * 12 / 10,
			   "instruction %d: %llu of %llu", i, spread[i], spread[4]);
	ktap_check(core_stat(0, SYN_CORE_S_RECORDS) && !core_stat(0, SYN_CORE_S_SKIDDED),
		   "%llu of %llu records skidded", core_stat(0, SYN_CORE_S_SKIDDED),
		   core_stat(0, SYN_CORE_S_RECORDS));
	ktap_check(!core_stat(0, SYN_CORE_S_V_PDIR), "PDIR beside other counters");
}

/* PDIR wants counter 1 and PEBS_ENABLE[1] (section 18.9.4.4). */
static void pdir_counter(void)
{
	struct perf_event_attr attr = sample_attr(0x01c0, 2, PERIOD);
	u64 on, select, records;
	struct ring ring;

	run_on(0);
	perf_unlimited();
	ring_open(&ring, &attr);
	perf_enable(ring.fd);
	on = msr_read(0, 0x3f1);
	select = msr_read(0, EVTSEL(1));
	records = core_stat(0, SYN_CORE_S_RECORDS);
	walk(to, from, WORDS, 1, ROUNDS / 10);
	ktap_check(core_stat(0, SYN_CORE_S_RECORDS) > records, "no record");
	/* Without the bit the counter counts on and nothing else. */
	msr_write(0, 0x3f1, 0);
	records = core_stat(0, SYN_CORE_S_RECORDS);
	walk(to, from, WORDS, 1, ROUNDS / 10);
	ktap_check(core_stat(0, SYN_CORE_S_RECORDS) == records, "records without PEBS");
	perf_disable(ring.fd);
	ring_close(&ring);
	ktap_check(on == 1 << 1 && (select & 0xffff) == 0x01c0 && select & ENABLE,
		   "PEBS_ENABLE %#llx, select of counter 1 %#llx", on, select);
}

/* Precise stores want counter 3 (section 18.9.4.3). */
static void store_counter(void)
{
	unsigned int i;

	run_on(0);
	for (i = 0; i < 4; i++) {
		u64 before = msr_read(0, SYN_VIOLATIONS);

		msr_write(1, EVTSEL(i), 0x02cd | ENABLE | USR);
		msr_write(1, 0x3f1, 1ull << 63 | 1 << i);
		msr_write(1, 0x38f, 1 << i);
		msr_write(1, 0x38f, 0);
		msr_write(1, 0x3f1, 0);
		msr_write(1, EVTSEL(i), 0);
		ktap_check((msr_read(0, SYN_VIOLATIONS) == before) == (i == 3), "counter %u", i);
	}
}

static void levels(void)
{
	run_on(0);
	check_levels(true, 0x0151);
}

/* The kernel asks for responses of remote memory, and refuses them itself on 06_2A. */
KTAP_CALL(generic_caches, check_generic_caches(cpu_is("2d") ? 0 : 1u << LLC_LOAD_MISSES))

KTAP_MAIN_UNLESS(silicon_missing() ?: core_missing("2a 2d"),
		 { "user counts are exact", exact },
		 { "registers fault as they should", regs },
		 { "generic cache events", generic_caches },
		 { "levels", levels },
		 { "offcore responses", responses },
		 { "precise store", stores },
		 { "precise store: TLB and lock", statuses },
		 { "weight of loads and stores", weights },
		 { "load latency", loads },
		 { "PDIR", pdir },
		 { "PDIR's counter and bit", pdir_counter },
		 { "branch trace store", check_branch_trace },
		 { "the counter of precise stores", store_counter })
