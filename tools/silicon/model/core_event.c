// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From an event select to what it counts, and the arithmetic of patterns.
 *
 * An event without a real source has a rate: num events per CORE_RATE_ONE
 * cycles, spread as evenly as whole events allow (after c cycles there were
 * c * num / CORE_RATE_ONE, rounded down).
 */
#include "core.h"
#include "core-tables.inc"

struct row {
	uint8_t code, umask;
	enum core_source src;
	uint32_t what;		/* mask, or the rate of SRC_CYCLES */
	bool precise;
};

#define CYC(n)		SRC_CYCLES, (n) * CORE_RATE_ONE / 1000	/* n per 1,000 cycles */
#define MISP(what)	SRC_BRANCH, BR_MISP(what)

/* What each event of the spec is here; codes and which are precise come from there. */
#define GLM_LD_BLOCKS_DATA_UNKNOWN		SRC_MEM, MEM_UNKNOWN
#define GLM_LD_BLOCKS_STORE_FORWARD		SRC_MEM, MEM_FORWARD
#define GLM_LD_BLOCKS_4K_ALIAS			SRC_MEM, MEM_4K_ALIAS
#define GLM_LD_BLOCKS_UTLB_MISS			SRC_MEM, MEM_UTLB
#define GLM_LD_BLOCKS_ALL_BLOCK			SRC_MEM, MEM_BLOCKED
#define GLM_PAGE_WALKS_D_SIDE_CYCLES		CYC(12)
#define GLM_PAGE_WALKS_I_SIDE_CYCLES		CYC(6)
#define GLM_PAGE_WALKS_CYCLES			CYC(18)
#define GLM_UOPS_ISSUED_ANY			CYC(900)
#define GLM_MISALIGN_MEM_REF_LOAD_PAGE_SPLIT	SRC_MEM, MEM_LOAD_PAGE_SPLIT
#define GLM_MISALIGN_MEM_REF_STORE_PAGE_SPLIT	SRC_MEM, MEM_STORE_PAGE_SPLIT
#define GLM_LONGEST_LAT_CACHE_MISS		SRC_MEM, MEM_LLC_MISS
#define GLM_LONGEST_LAT_CACHE_REFERENCE		SRC_MEM, MEM_LLC_REF
#define GLM_L2_REJECT_XQ_ALL			CYC(2)
#define GLM_CORE_REJECT_L2Q_ALL			CYC(1)
#define GLM_CPU_CLK_UNHALTED_CORE_P		CYC(1000)
#define GLM_CPU_CLK_UNHALTED_REF		SRC_TSC, CORE_RATE_ONE
#define GLM_DL1_DIRTY_EVICTION			CYC(3)
#define GLM_ICACHE_HIT				CYC(190)
#define GLM_ICACHE_MISSES			CYC(10)
#define GLM_ICACHE_ACCESSES			CYC(200)
#define GLM_ITLB_MISS				CYC(1)
#define GLM_FETCH_STALL_ALL			CYC(150)
#define GLM_FETCH_STALL_ITLB_FILL_PENDING_CYCLES	CYC(20)
#define GLM_FETCH_STALL_ICACHE_FILL_PENDING_CYCLES	CYC(100)
#define GLM_UOPS_NOT_DELIVERED_ANY		CYC(400)
#define GLM_INST_RETIRED_ANY_P			SRC_INSN, 0
#define GLM_UOPS_RETIRED_ANY			SRC_INSN, 0
#define GLM_UOPS_RETIRED_MS			SRC_OP, OP_MICROCODE
#define GLM_UOPS_RETIRED_FPDIV			SRC_OP, OP_FPDIV
#define GLM_UOPS_RETIRED_IDIV			SRC_OP, OP_IDIV
#define GLM_MACHINE_CLEARS_ALL			CYC(4)
#define GLM_MACHINE_CLEARS_SMC			CYC(1)
#define GLM_MACHINE_CLEARS_MEMORY_ORDERING	CYC(1)
#define GLM_MACHINE_CLEARS_FP_ASSIST		CYC(1)
#define GLM_MACHINE_CLEARS_DISAMBIGUATION	CYC(1)
#define GLM_BR_INST_RETIRED_ALL_BRANCHES	SRC_BRANCH, BR_ALL
#define GLM_BR_INST_RETIRED_JCC			SRC_BRANCH, BR_JCC
#define GLM_BR_INST_RETIRED_ALL_TAKEN_BRANCHES	SRC_BRANCH, BR_TAKEN
#define GLM_BR_INST_RETIRED_FAR_BRANCH		SRC_BRANCH, BR_FAR
#define GLM_BR_INST_RETIRED_NON_RETURN_IND	SRC_BRANCH, BR_IND
#define GLM_BR_INST_RETIRED_RETURN		SRC_BRANCH, BR_RET
#define GLM_BR_INST_RETIRED_CALL		SRC_BRANCH, BR_CALL
#define GLM_BR_INST_RETIRED_IND_CALL		SRC_BRANCH, BR_IND_CALL
#define GLM_BR_INST_RETIRED_REL_CALL		SRC_BRANCH, BR_REL_CALL
#define GLM_BR_INST_RETIRED_TAKEN_JCC		SRC_BRANCH, BR_TAKEN_JCC
#define GLM_BR_MISP_RETIRED_ALL_BRANCHES	MISP(BR_ALL)
#define GLM_BR_MISP_RETIRED_JCC			MISP(BR_JCC)
#define GLM_BR_MISP_RETIRED_NON_RETURN_IND	MISP(BR_IND)
#define GLM_BR_MISP_RETIRED_RETURN		MISP(BR_RET)
#define GLM_BR_MISP_RETIRED_IND_CALL		MISP(BR_IND_CALL)
#define GLM_BR_MISP_RETIRED_TAKEN_JCC		MISP(BR_TAKEN_JCC)
#define GLM_ISSUE_SLOTS_NOT_CONSUMED_ANY	CYC(500)
#define GLM_ISSUE_SLOTS_NOT_CONSUMED_RESOURCE_FULL	CYC(450)
#define GLM_ISSUE_SLOTS_NOT_CONSUMED_RECOVERY	CYC(50)
#define GLM_HW_INTERRUPTS_RECEIVED		SRC_IRQ, 0
#define GLM_HW_INTERRUPTS_MASKED		CYC(30)
#define GLM_HW_INTERRUPTS_PENDING_AND_MASKED	CYC(2)
#define GLM_CYCLES_DIV_BUSY_ALL			CYC(15)
#define GLM_CYCLES_DIV_BUSY_IDIV		CYC(10)
#define GLM_CYCLES_DIV_BUSY_FPDIV		CYC(5)
#define GLM_MEM_UOPS_RETIRED_DTLB_MISS_LOADS	SRC_MEM, MEM_LOAD_DTLB
#define GLM_MEM_UOPS_RETIRED_DTLB_MISS_STORES	SRC_MEM, MEM_STORE_DTLB
#define GLM_MEM_UOPS_RETIRED_DTLB_MISS		SRC_MEM, MEM_LOAD_DTLB | MEM_STORE_DTLB
#define GLM_MEM_UOPS_RETIRED_LOCK_LOADS		SRC_MEM, MEM_LOAD_LOCK
#define GLM_MEM_UOPS_RETIRED_SPLIT_LOADS	SRC_MEM, MEM_LOAD_SPLIT
#define GLM_MEM_UOPS_RETIRED_SPLIT_STORES	SRC_MEM, MEM_STORE_SPLIT
#define GLM_MEM_UOPS_RETIRED_SPLIT		SRC_MEM, MEM_LOAD_SPLIT | MEM_STORE_SPLIT
#define GLM_MEM_UOPS_RETIRED_ALL_LOADS		SRC_MEM, MEM_LOAD
#define GLM_MEM_UOPS_RETIRED_ALL_STORES		SRC_MEM, MEM_STORE
#define GLM_MEM_UOPS_RETIRED_ALL		SRC_MEM, MEM_LOAD | MEM_STORE
#define GLM_MEM_LOAD_UOPS_RETIRED_L1_HIT	SRC_MEM, MEM_LOAD_AT(LEVEL_L1)
#define GLM_MEM_LOAD_UOPS_RETIRED_L2_HIT	SRC_MEM, MEM_LOAD_AT(LEVEL_L2)
#define GLM_MEM_LOAD_UOPS_RETIRED_L1_MISS	SRC_MEM, MEM_L1_MISS
#define GLM_MEM_LOAD_UOPS_RETIRED_L2_MISS	SRC_MEM, MEM_L2_MISSED
#define GLM_MEM_LOAD_UOPS_RETIRED_HITM		SRC_MEM, MEM_LOAD_AT(LEVEL_HITM)
#define GLM_MEM_LOAD_UOPS_RETIRED_WCB_HIT	SRC_MEM, MEM_LOAD_AT(LEVEL_FILL)
#define GLM_MEM_LOAD_UOPS_RETIRED_DRAM_HIT	SRC_MEM, MEM_LOAD_AT(LEVEL_DRAM)
#define GLM_BACLEARS_ALL			CYC(4)
#define GLM_BACLEARS_RETURN			CYC(1)
#define GLM_BACLEARS_COND			CYC(2)
#define GLM_MS_DECODED_MS_ENTRY			CYC(8)
#define GLM_DECODE_RESTRICTION_PREDECODE_WRONG	CYC(1)
/* The register is by the unit mask. */
#define GLM_OFFCORE_RESPONSE(n)			SRC_OFFCORE, n

/* Silvermont: its own, and those that are as on Goldmont */
#define SLM_REHABQ_LD_BLOCK_ST_FORWARD		SRC_MEM, MEM_FORWARD
#define SLM_REHABQ_LD_BLOCK_STD_NOTREADY	SRC_MEM, MEM_UNKNOWN
#define SLM_REHABQ_ST_SPLITS			SRC_MEM, MEM_STORE_SPLIT
#define SLM_REHABQ_LD_SPLITS			SRC_MEM, MEM_LOAD_SPLIT
#define SLM_REHABQ_LOCK				SRC_MEM, MEM_LOAD_LOCK
#define SLM_REHABQ_STA_FULL			CYC(1)
#define SLM_REHABQ_ANY_LD			CYC(6)
#define SLM_REHABQ_ANY_ST			CYC(3)
#define SLM_MEM_UOPS_RETIRED_L1_MISS_LOADS	SRC_MEM, MEM_L1_MISS
#define SLM_MEM_UOPS_RETIRED_L2_HIT_LOADS	SRC_MEM, MEM_LOAD_AT(LEVEL_L2)
#define SLM_MEM_UOPS_RETIRED_L2_MISS_LOADS	SRC_MEM, MEM_L2_MISSED
#define SLM_MEM_UOPS_RETIRED_DTLB_MISS_LOADS	SRC_MEM, MEM_LOAD_DTLB
#define SLM_MEM_UOPS_RETIRED_UTLB_MISS		SRC_MEM, MEM_UTLB
#define SLM_MEM_UOPS_RETIRED_HITM		SRC_MEM, MEM_LOAD_AT(LEVEL_HITM)
#define SLM_MEM_UOPS_RETIRED_ALL_LOADS		SRC_MEM, MEM_LOAD
#define SLM_MEM_UOPS_RETIRED_ALL_STORES		SRC_MEM, MEM_STORE
#define SLM_UOPS_RETIRED_ALL			SRC_INSN, 0
#define SLM_NO_ALLOC_CYCLES_ROB_FULL		CYC(100)
#define SLM_NO_ALLOC_CYCLES_MISPREDICTS		CYC(40)
#define SLM_NO_ALLOC_CYCLES_RAT_STALL		CYC(20)
#define SLM_NO_ALLOC_CYCLES_ALL			CYC(300)
#define SLM_NO_ALLOC_CYCLES_NOT_DELIVERED	CYC(140)
#define SLM_RS_FULL_STALL_MEC			CYC(30)
#define SLM_RS_FULL_STALL_ALL			CYC(80)
#define SLM_PAGE_WALKS_D_SIDE_CYCLES		GLM_PAGE_WALKS_D_SIDE_CYCLES
#define SLM_PAGE_WALKS_I_SIDE_CYCLES		GLM_PAGE_WALKS_I_SIDE_CYCLES
#define SLM_PAGE_WALKS_CYCLES			GLM_PAGE_WALKS_CYCLES
#define SLM_LONGEST_LAT_CACHE_MISS		GLM_LONGEST_LAT_CACHE_MISS
#define SLM_LONGEST_LAT_CACHE_REFERENCE		GLM_LONGEST_LAT_CACHE_REFERENCE
#define SLM_L2_REJECT_XQ_ALL			GLM_L2_REJECT_XQ_ALL
#define SLM_CORE_REJECT_L2Q_ALL			GLM_CORE_REJECT_L2Q_ALL
#define SLM_CPU_CLK_UNHALTED_CORE_P		GLM_CPU_CLK_UNHALTED_CORE_P
#define SLM_CPU_CLK_UNHALTED_REF		GLM_CPU_CLK_UNHALTED_REF
#define SLM_ICACHE_HIT				GLM_ICACHE_HIT
#define SLM_ICACHE_MISSES			GLM_ICACHE_MISSES
#define SLM_ICACHE_ACCESSES			GLM_ICACHE_ACCESSES
#define SLM_FETCH_STALL_ITLB_FILL_PENDING_CYCLES	GLM_FETCH_STALL_ITLB_FILL_PENDING_CYCLES
#define SLM_FETCH_STALL_ICACHE_FILL_PENDING_CYCLES	GLM_FETCH_STALL_ICACHE_FILL_PENDING_CYCLES
#define SLM_FETCH_STALL_ALL			GLM_FETCH_STALL_ALL
#define SLM_OFFCORE_RESPONSE(n)			GLM_OFFCORE_RESPONSE(n)
#define SLM_INST_RETIRED_ANY_P			GLM_INST_RETIRED_ANY_P
#define SLM_UOPS_RETIRED_MS			GLM_UOPS_RETIRED_MS
#define SLM_MACHINE_CLEARS_SMC			GLM_MACHINE_CLEARS_SMC
#define SLM_MACHINE_CLEARS_MEMORY_ORDERING	GLM_MACHINE_CLEARS_MEMORY_ORDERING
#define SLM_MACHINE_CLEARS_FP_ASSIST		GLM_MACHINE_CLEARS_FP_ASSIST
#define SLM_MACHINE_CLEARS_ALL			GLM_MACHINE_CLEARS_ALL
#define SLM_BR_INST_RETIRED_ALL_BRANCHES	GLM_BR_INST_RETIRED_ALL_BRANCHES
#define SLM_BR_INST_RETIRED_JCC			GLM_BR_INST_RETIRED_JCC
#define SLM_BR_INST_RETIRED_FAR_BRANCH		GLM_BR_INST_RETIRED_FAR_BRANCH
#define SLM_BR_INST_RETIRED_NON_RETURN_IND	GLM_BR_INST_RETIRED_NON_RETURN_IND
#define SLM_BR_INST_RETIRED_RETURN		GLM_BR_INST_RETIRED_RETURN
#define SLM_BR_INST_RETIRED_CALL		GLM_BR_INST_RETIRED_CALL
#define SLM_BR_INST_RETIRED_IND_CALL		GLM_BR_INST_RETIRED_IND_CALL
#define SLM_BR_INST_RETIRED_REL_CALL		GLM_BR_INST_RETIRED_REL_CALL
#define SLM_BR_INST_RETIRED_TAKEN_JCC		GLM_BR_INST_RETIRED_TAKEN_JCC
#define SLM_BR_MISP_RETIRED_ALL_BRANCHES	GLM_BR_MISP_RETIRED_ALL_BRANCHES
#define SLM_BR_MISP_RETIRED_JCC			GLM_BR_MISP_RETIRED_JCC
#define SLM_BR_MISP_RETIRED_NON_RETURN_IND	GLM_BR_MISP_RETIRED_NON_RETURN_IND
#define SLM_BR_MISP_RETIRED_RETURN		GLM_BR_MISP_RETIRED_RETURN
#define SLM_BR_MISP_RETIRED_IND_CALL		GLM_BR_MISP_RETIRED_IND_CALL
#define SLM_BR_MISP_RETIRED_TAKEN_JCC		GLM_BR_MISP_RETIRED_TAKEN_JCC
#define SLM_BACLEARS_ALL			GLM_BACLEARS_ALL
#define SLM_BACLEARS_RETURN			GLM_BACLEARS_RETURN
#define SLM_BACLEARS_COND			GLM_BACLEARS_COND
#define SLM_MS_DECODED_MS_ENTRY			GLM_MS_DECODED_MS_ENTRY
#define SLM_DECODE_RESTRICTION_PREDECODE_WRONG	GLM_DECODE_RESTRICTION_PREDECODE_WRONG
#define SLM_CYCLES_DIV_BUSY_ALL			GLM_CYCLES_DIV_BUSY_ALL

static const struct row goldmont[] = {
	GOLDMONT_EVENTS
	{ }
};

static const struct row silvermont[] = {
	SILVERMONT_EVENTS
	{ }
};

/*
 * Not all that these machines have: what perf's generic events and PAPI's presets use. There is
 * no prefetcher here and instructions come without a cache, so requests of these count nothing.
 */
static const struct row sandybridge[] = {
	{ 0x08, 0x01, SRC_MEM, MEM_LOAD_DTLB, false },
	{ 0x24, 0x01, SRC_MEM, MEM_LOAD_AT(LEVEL_L2), false },
	{ 0x24, 0x03, SRC_MEM, MEM_L1_MISSED, false },
	{ 0x24, 0x04, SRC_MEM, MEM_STORE_L2_HIT, false },
	{ 0x24, 0x08, SRC_MEM, MEM_STORE_L2_MISS, false },
	{ 0x24, 0x0c, SRC_MEM, MEM_STORE_L1_MISS, false },
	{ 0x24, 0x10, CYC(0), false },
	{ 0x24, 0x20, CYC(0), false },
	{ 0x24, 0x30, CYC(0), false },
	{ 0x24, 0x40, CYC(0), false },
	{ 0x24, 0x80, CYC(0), false },
	{ 0x24, 0xc0, CYC(0), false },
	{ 0x27, 0x0f, SRC_MEM, MEM_STORE_L1_MISS, false },
	{ 0x2e, 0x41, SRC_MEM, MEM_LLC_MISS, false },
	{ 0x2e, 0x4f, SRC_MEM, MEM_LLC_REF, false },
	{ 0x3c, 0x00, CYC(1000), false },
	{ 0x49, 0x01, SRC_MEM, MEM_STORE_DTLB, false },
	{ 0x51, 0x01, SRC_MEM, MEM_L1_MISSED | MEM_STORE_L1_MISS, false },
	{ 0x51, 0x08, SRC_MEM, MEM_STORE_L1_MISS, false },
	{ 0x80, 0x02, CYC(0), false },
	{ 0x88, 0x81, SRC_BRANCH, BR_TAKEN_JCC, false },
	{ 0x88, 0xc1, SRC_BRANCH, BR_JCC, false },
	{ 0x88, 0xff, SRC_BRANCH, BR_ALL, false },
	{ 0x89, 0x81, MISP(BR_TAKEN_JCC), false },
	{ 0x89, 0xc1, MISP(BR_JCC), false },
	{ 0x89, 0xff, MISP(BR_ALL), false },
	{ 0xb0, 0x01, SRC_MEM, MEM_L2_MISSED, false },
	{ 0xb7, 0x01, SRC_OFFCORE, 0, false },
	{ 0xbb, 0x01, SRC_OFFCORE, 1, false },
	{ 0xc0, 0x00, SRC_INSN, 0, false },
	{ 0xc0, 0x01, SRC_INSN, 0, true },	/* PREC_DIST */
	{ 0xc2, 0x01, SRC_INSN, 0, true },
	{ 0xc2, 0x02, SRC_INSN, 0, true },
	{ 0xc4, 0x00, SRC_BRANCH, BR_ALL, false },
	{ 0xc4, 0x01, SRC_BRANCH, BR_JCC, true },
	{ 0xc4, 0x02, SRC_BRANCH, BR_CALL, true },
	{ 0xc4, 0x04, SRC_BRANCH, BR_ALL, true },
	{ 0xc4, 0x08, SRC_BRANCH, BR_RET, true },
	{ 0xc4, 0x10, SRC_BRANCH, BR_NOT_TAKEN, true },
	{ 0xc4, 0x20, SRC_BRANCH, BR_TAKEN, true },
	{ 0xc4, 0x40, SRC_BRANCH, BR_FAR, false },
	{ 0xc5, 0x00, MISP(BR_ALL), false },
	{ 0xc5, 0x01, MISP(BR_JCC), true },
	{ 0xc5, 0x02, MISP(BR_CALL), true },
	{ 0xc5, 0x04, MISP(BR_ALL), true },
	{ 0xc5, 0x10, MISP(BR_NOT_TAKEN), true },
	{ 0xc5, 0x20, MISP(BR_TAKEN), true },
	{ 0xcb, 0x01, SRC_IRQ, 0, false },
	{ 0xcd, 0x01, SRC_MEM, MEM_LATENCY, true },
	{ 0xcd, 0x02, SRC_MEM, MEM_PRECISE_STORE, true },
	{ 0xd0, 0x11, SRC_MEM, MEM_LOAD_DTLB, true },
	{ 0xd0, 0x12, SRC_MEM, MEM_STORE_DTLB, true },
	{ 0xd0, 0x21, SRC_MEM, MEM_LOAD_LOCK, true },
	{ 0xd0, 0x41, SRC_MEM, MEM_LOAD_SPLIT, true },
	{ 0xd0, 0x42, SRC_MEM, MEM_STORE_SPLIT, true },
	{ 0xd0, 0x81, SRC_MEM, MEM_LOAD, true },
	{ 0xd0, 0x82, SRC_MEM, MEM_STORE, true },
	{ 0xd0, 0xf1, SRC_MEM, MEM_LOAD, true },	/* what perf takes for L1-dcache-loads */
	{ 0xd0, 0xf2, SRC_MEM, MEM_STORE, true },
	{ 0xd1, 0x01, SRC_MEM, MEM_LOAD_AT(LEVEL_L1), true },
	{ 0xd1, 0x02, SRC_MEM, MEM_LOAD_AT(LEVEL_L2), true },
	{ 0xd1, 0x04, SRC_MEM, MEM_LOAD_AT(LEVEL_L3), true },
	{ 0xd1, 0x20, SRC_MEM, MEM_LOAD_AT(LEVEL_DRAM) | MEM_LOAD_AT(LEVEL_HITM), true },
	{ 0xd1, 0x40, SRC_MEM, MEM_LOAD_AT(LEVEL_FILL), true },
	{ 0xd2, 0x04, SRC_MEM, MEM_LOAD_AT(LEVEL_HITM), true },
	{ }
};

static const struct row nehalem[] = {
	{ 0x08, 0x01, SRC_MEM, MEM_LOAD_DTLB, false },
	{ 0x0b, 0x01, SRC_MEM, MEM_LOAD, true },
	{ 0x0b, 0x02, SRC_MEM, MEM_STORE, true },
	{ 0x0b, 0x10, SRC_MEM, MEM_LATENCY, true },
	{ 0x0c, 0x01, SRC_MEM, MEM_STORE_DTLB, true },
	{ 0x24, 0x01, SRC_MEM, MEM_LOAD_AT(LEVEL_L2), false },
	{ 0x24, 0x02, SRC_MEM, MEM_L2_MISSED, false },
	{ 0x24, 0x03, SRC_MEM, MEM_L1_MISSED, false },
	{ 0x24, 0x04, SRC_MEM, MEM_STORE_L2_HIT, false },
	{ 0x24, 0x08, SRC_MEM, MEM_STORE_L2_MISS, false },
	{ 0x24, 0x0c, SRC_MEM, MEM_STORE_L1_MISS, false },
	{ 0x24, 0x10, CYC(0), false },
	{ 0x24, 0x20, CYC(0), false },
	{ 0x24, 0x30, CYC(0), false },
	{ 0x24, 0x40, CYC(0), false },
	{ 0x24, 0x80, CYC(0), false },
	{ 0x24, 0xc0, CYC(0), false },
	{ 0x24, 0xaa, SRC_MEM, MEM_L2_MISSED | MEM_STORE_L2_MISS, false },
	{ 0x24, 0xff, SRC_MEM, MEM_L1_MISSED | MEM_STORE_L1_MISS, false },
	{ 0x27, 0x0f, SRC_MEM, MEM_STORE_L1_MISS, false },
	{ 0x2e, 0x41, SRC_MEM, MEM_LLC_MISS, false },
	{ 0x2e, 0x4f, SRC_MEM, MEM_LLC_REF, false },
	{ 0x3c, 0x00, CYC(1000), false },
	{ 0x40, 0x0f, SRC_MEM, MEM_LOAD, false },
	{ 0x41, 0x0f, SRC_MEM, MEM_STORE, false },
	{ 0x43, 0x01, SRC_MEM, MEM_LOAD | MEM_STORE, false },
	{ 0x43, 0x02, SRC_MEM, MEM_LOAD | MEM_STORE, false },
	{ 0x49, 0x01, SRC_MEM, MEM_LOAD_DTLB | MEM_STORE_DTLB, false },
	{ 0x51, 0x01, SRC_MEM, MEM_L1_MISSED | MEM_STORE_L1_MISS, false },
	{ 0x51, 0x02, SRC_MEM, MEM_STORE_L1_MISS, false },
	{ 0x80, 0x01, CYC(200), false },
	{ 0x80, 0x02, CYC(0), false },
	{ 0x80, 0x03, CYC(200), false },
	{ 0x88, 0x01, SRC_BRANCH, BR_JCC, false },
	{ 0x88, 0x02, SRC_BRANCH, BR_JMP, false },
	{ 0x88, 0x04, SRC_BRANCH, BR_IND_JMP, false },
	{ 0x88, 0x07, SRC_BRANCH, BR_JCC | BR_JMP | BR_IND_JMP, false },
	{ 0x88, 0x08, SRC_BRANCH, BR_RET, false },
	{ 0x88, 0x10, SRC_BRANCH, BR_REL_CALL, false },
	{ 0x88, 0x20, SRC_BRANCH, BR_IND_CALL, false },
	{ 0x88, 0x30, SRC_BRANCH, BR_CALL, false },
	{ 0x88, 0x40, SRC_BRANCH, BR_TAKEN, false },
	{ 0x88, 0x7f, SRC_BRANCH, BR_ALL, false },
	{ 0x89, 0x01, MISP(BR_JCC), false },
	{ 0x89, 0x02, MISP(BR_JMP), false },
	{ 0x89, 0x04, MISP(BR_IND_JMP), false },
	{ 0x89, 0x07, MISP(BR_JCC | BR_JMP | BR_IND_JMP), false },
	{ 0x89, 0x08, MISP(BR_RET), false },
	{ 0x89, 0x10, MISP(BR_REL_CALL), false },
	{ 0x89, 0x20, MISP(BR_IND_CALL), false },
	{ 0x89, 0x30, MISP(BR_CALL), false },
	{ 0x89, 0x40, MISP(BR_TAKEN), false },
	{ 0x89, 0x7f, MISP(BR_ALL), false },
	{ 0xb7, 0x01, SRC_OFFCORE, 0, false },
	{ 0xc0, 0x00, SRC_INSN, 0, true },
	{ 0xc0, 0x01, SRC_INSN, 0, true },
	{ 0xc2, 0x01, SRC_INSN, 0, true },
	{ 0xc4, 0x00, SRC_BRANCH, BR_ALL, true },
	{ 0xc4, 0x01, SRC_BRANCH, BR_JCC, true },
	{ 0xc4, 0x02, SRC_BRANCH, BR_CALL, true },
	{ 0xc4, 0x04, SRC_BRANCH, BR_ALL, true },
	{ 0xc5, 0x00, MISP(BR_ALL), true },
	{ 0xc5, 0x01, MISP(BR_JCC), true },
	{ 0xc5, 0x02, MISP(BR_CALL), true },
	{ 0xc5, 0x04, MISP(BR_ALL), true },
	{ 0xcb, 0x01, SRC_MEM, MEM_LOAD_AT(LEVEL_L1), true },
	{ 0xcb, 0x02, SRC_MEM, MEM_LOAD_AT(LEVEL_L2), true },
	{ 0xcb, 0x04, SRC_MEM, MEM_LOAD_AT(LEVEL_L3), true },
	{ 0xcb, 0x08, SRC_MEM, MEM_LOAD_AT(LEVEL_HITM), true },
	{ 0xcb, 0x10, SRC_MEM, MEM_LOAD_AT(LEVEL_DRAM), true },
	{ 0xcb, 0x40, SRC_MEM, MEM_LOAD_AT(LEVEL_FILL), true },
	{ 0xcb, 0x80, SRC_MEM, MEM_LOAD_DTLB, true },
	{ 0xe8, 0x03, MISP(BR_ALL), false },
	{ }
};

/* Rates that a test has set, umask << 8 | code -> num + 1. Good from the next start on. */
static uint64_t set_rates[65536];
/* What was decoded from a select with another rate is decoded again. */
static unsigned int rates_set;

unsigned int core_event_rates(void)
{
	return qatomic_read(&rates_set);
}

void core_event_set_rate(unsigned int event, uint32_t num)
{
	set_rates[event & 0xffff] = num + 1ull;
	qatomic_inc(&rates_set);
}

void core_event_default_rates(void)
{
	memset(set_rates, 0, sizeof(set_rates));
	qatomic_inc(&rates_set);
}

static const struct row *events(const struct core *k)
{
	switch (k->model->kind) {
	case KIND_GOLDMONT:
		return goldmont;
	case KIND_SILVERMONT:
		return silvermont;
	case KIND_SANDYBRIDGE:
		return sandybridge;
	default:
		return nehalem;
	}
}

/* Is it all of the machine's list? */
static bool complete(const struct row *r)
{
	return r == goldmont || r == silvermont;
}

static const struct row *find(const struct core *k, unsigned int code, unsigned int umask)
{
	const struct row *r = events(k);

	for (; r->src; r++)
		if (r->code == code && r->umask == umask)
			return r;
	return NULL;
}

/*
 * Real events come one at a time, each in a cycle of its own: a counter mask
 * of 1 and edge detection change nothing, a higher mask is never reached.
 * Inverted, every cycle counts, or half of them stand for those without event.
 */
static void mask_real(struct core_event *ev, const struct core *k)
{
	if (!ev->cmask || core_event_timed(ev))
		return;
	if (ev->inv) {
		ev->src = SRC_CYCLES;
		ev->num = ev->cmask > 1 ? CORE_RATE_ONE : CORE_RATE_ONE / 2;
	} else if (ev->cmask > 1) {
		ev->src = SRC_NONE;
	}
	ev->cmask = 0;
	ev->edge = false;
}

void core_event_decode(const struct core *k, uint64_t evtsel, struct core_event *ev)
{
	unsigned int code = evtsel & 0xff, umask = evtsel >> 8 & 0xff;
	const struct row *r = find(k, code, umask);

	*ev = (struct core_event){
		.cmask = evtsel >> 24 & 0xff,
		.inv = evtsel & EVTSEL_INV,
		.edge = evtsel & EVTSEL_EDGE,
	};
	if (set_rates[evtsel & 0xffff]) {
		ev->src = SRC_CYCLES;
		ev->num = set_rates[evtsel & 0xffff] - 1;
	} else if (r) {
		ev->src = r->src;
		ev->precise = r->precise;
		ev->what = r->what;
		ev->num = r->what;
		ev->offcore = r->src == SRC_OFFCORE ? r->what + 1 : 0;
		if (ev->offcore && core_offcore_follows(k, r->what, &ev->what))
			ev->src = ev->what ? SRC_MEM : SRC_NONE;
		else if (ev->offcore)
			ev->num = core_offcore_rate(k, r->what);
	} else if (code == 0x3c && umask == 1) {
		ev->src = SRC_CYCLES;
		ev->num = CORE_RATE_ONE * k->model->ref_mhz / k->model->mhz;
	} else if (!complete(events(k)) && code) {
		/* No list of these machines' events here, so they all count something. */
		ev->src = SRC_CYCLES;
		ev->num = 1 + (code * 37 + umask * 11) % 1000;
	}
	mask_real(ev, k);
}

void core_event_fixed(const struct core *k, unsigned int n, struct core_event *ev)
{
	static const enum core_source src[CORE_FIXED] = { SRC_INSN, SRC_CYCLES, SRC_TSC };

	*ev = (struct core_event){ .src = src[n], .num = CORE_RATE_ONE };
}

static uint64_t scale(uint64_t cycles, uint32_t num)
{
	return (unsigned __int128)cycles * num / CORE_RATE_ONE;
}

/*
 * A counter mask turns the increment of a cycle into "at least that many", 0
 * or 1. An even pattern only ever adds q or q + 1, so which cycles qualify is
 * again an even pattern, and so are its rising edges.
 */
uint64_t core_event_sum(const struct core *k, const struct core_event *ev, uint64_t cycles)
{
	uint32_t q = ev->num / CORE_RATE_ONE, hits;
	unsigned int cmask = ev->cmask;
	bool inv = ev->inv && cmask;

	if (!cmask && !ev->edge)
		return ev->src == SRC_OFFCORE ? core_offcore_sum(k, ev->what, cycles) :
						scale(cycles, ev->num);
	if (!cmask)
		cmask = 1;
	if (cmask <= q)
		hits = CORE_RATE_ONE;
	else if (cmask == q + 1)
		hits = ev->num % CORE_RATE_ONE;
	else
		hits = 0;
	if (inv)
		hits = CORE_RATE_ONE - hits;
	/* In an even pattern the rarer of the two values always stands alone. */
	if (ev->edge && hits > CORE_RATE_ONE / 2)
		hits = CORE_RATE_ONE - hits;
	return scale(cycles, hits);
}
