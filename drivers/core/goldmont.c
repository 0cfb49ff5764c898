// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables for Goldmont (06_5C, 06_5F) and Goldmont Plus (06_7A).
 *
 *	perf stat -e offcore_response.demand_data_rd.l2_hit ./program
 *	perf record -d -c 1009 -e mem_load_uops_retired.dram_hit:pp ./program
 */
#include "core/goldmont.h"
#include "core_ext.h"
#include "source.h"

/*
 * The precise memory events, and what perf mem calls three of them: of several names the first has
 * the source. Loads and stores of one event cannot be told apart.
 */
static const struct core_ext_event goldmont_events[] = {
	{ "mem-loads",				0x81d0, LOAD },
	{ "mem-stores",				0x82d0, STORE },
	{ "mem-all",				0x83d0, LOAD | STORE },
	{ "mem_uops_retired.all_loads",		0x81d0 },
	{ "mem_uops_retired.all_stores",	0x82d0 },
	{ "mem_uops_retired.all",		0x83d0 },
	{ "mem_uops_retired.dtlb_miss_loads",	0x11d0, LOAD | DTLB_MISS },
	{ "mem_uops_retired.dtlb_miss_stores",	0x12d0, STORE | DTLB_MISS },
	{ "mem_uops_retired.dtlb_miss",		0x13d0, LOAD | STORE | DTLB_MISS },
	{ "mem_uops_retired.lock_loads",	0x21d0, LOAD | PERF_MEM_S(LOCK, LOCKED) },
	{ "mem_uops_retired.split_loads",	0x41d0, LOAD },
	{ "mem_uops_retired.split_stores",	0x42d0, STORE },
	{ "mem_uops_retired.split",		0x43d0, LOAD | STORE },
	{ "mem_load_uops_retired.l1_hit",	0x01d1, LOAD | HIT(L1) | FROM(L1) },
	{ "mem_load_uops_retired.l2_hit",	0x02d1, LOAD | HIT(L2) | FROM(L2) },
	{ "mem_load_uops_retired.l1_miss",	0x08d1, LOAD | MISS(L1) },
	{ "mem_load_uops_retired.l2_miss",	0x10d1, LOAD | MISS(L2) },
	{ "mem_load_uops_retired.hitm",		0x20d1, LOAD | HITM_OTHER_CORE },
	{ "mem_load_uops_retired.wcb_hit",	0x40d1, LOAD | HIT(LFB) | FROM(LFB) },
	{ "mem_load_uops_retired.dram_hit",	0x80d1, LOAD | HIT(LOC_RAM) | FROM(RAM) },
	{}
};

/*
 * The other precise events. PEBS takes all events, but reduced skid is for the precise ones
 * (section 18.7.1.2), and the record of others is about a later instruction.
 */
static const u16 goldmont_precise[] = {
	/* LD_BLOCKS: DATA_UNKNOWN, STORE_FORWARD, 4K_ALIAS, UTLB_MISS, ALL_BLOCK */
	0x0103, 0x0203, 0x0403, 0x0803, 0x1003,
	/* MISALIGN_MEM_REF: LOAD_PAGE_SPLIT, STORE_PAGE_SPLIT */
	0x0213, 0x0413,
	/* INST_RETIRED.ANY_P */
	0x00c0,
	/* UOPS_RETIRED: ANY, MS, FPDIV, IDIV */
	0x00c2, 0x01c2, 0x08c2, 0x10c2,
	/*
	 * BR_INST_RETIRED: ALL_BRANCHES, JCC, ALL_TAKEN_BRANCHES, FAR_BRANCH, NON_RETURN_IND,
	 * RETURN, CALL, IND_CALL, REL_CALL, TAKEN_JCC
	 */
	0x00c4, 0x7ec4, 0x80c4, 0xbfc4, 0xebc4, 0xf7c4, 0xf9c4, 0xfbc4, 0xfdc4, 0xfec4,
	/* BR_MISP_RETIRED: ALL_BRANCHES, JCC, NON_RETURN_IND, RETURN, IND_CALL, TAKEN_JCC */
	0x00c5, 0x7ec5, 0xebc5, 0xf7c5, 0xfbc5, 0xfec5,
	0
};

enum {
	ANY_RESPONSE, L2_HIT, L2_MISS, SNOOP_MISS, NO_FWD, HITM, NON_DRAM, OUTSTANDING
};

static const struct core_ext_bits goldmont_responses[] = {
	[ANY_RESPONSE] = { "any_response", GLM_ANY_RESPONSE },
	[L2_HIT] = { "l2_hit", GLM_L2_HIT },
	[L2_MISS] = { "l2_miss.any", GLM_L2_MISS },
	[SNOOP_MISS] = { "l2_miss.snoop_miss_or_no_snoop_needed", GLM_SNOOP_MISS_OR_NO_SNOOP },
	[NO_FWD] = { "l2_miss.hit_other_core_no_fwd", GLM_HIT_OTHER_CORE_NO_FWD },
	[HITM] = { "l2_miss.hitm_other_core", GLM_HITM_OTHER_CORE },
	[NON_DRAM] = { "l2_miss.non_dram", GLM_NON_DRAM },
	[OUTSTANDING] = { "outstanding", GLM_OUTSTANDING },
};

#define HIT_OR_SNOOP	(BIT(L2_HIT) | BIT(SNOOP_MISS) | BIT(NO_FWD) | BIT(HITM))
#define HIT_OR_MISS	(HIT_OR_SNOOP | BIT(L2_MISS))

#define ANY_PF_DATA_RD	(GLM_PF_L2_DATA_RD | GLM_PF_L1_DATA_RD | GLM_SW_PREFETCH)
#define ANY_DATA_RD	(GLM_DEMAND_DATA_RD | GLM_PARTIAL_READS | ANY_PF_DATA_RD)
#define ANY_RFO		(GLM_DEMAND_RFO | GLM_PF_L2_RFO)
#define ANY_READ	(ANY_DATA_RD | ANY_RFO | GLM_DEMAND_CODE_RD | GLM_UC_CODE_READS)

/* The combinations that make sense; the rest can be had through the fields. */
static const struct core_ext_request goldmont_requests[] = {
	{ "any_request", GLM_ANY_REQUEST, HIT_OR_SNOOP | BIT(NON_DRAM) | BIT(ANY_RESPONSE), true },
	{ "demand_data_rd", GLM_DEMAND_DATA_RD, HIT_OR_MISS | BIT(OUTSTANDING), true },
	{ "demand_rfo", GLM_DEMAND_RFO, HIT_OR_MISS | BIT(OUTSTANDING), true },
	/* Code is never modified elsewhere. */
	{ "demand_code_rd", GLM_DEMAND_CODE_RD,
	  (HIT_OR_MISS & ~BIT(HITM)) | BIT(OUTSTANDING), true },
	{ "any_data_rd", ANY_DATA_RD, HIT_OR_MISS, true },
	{ "any_rfo", ANY_RFO, HIT_OR_MISS, true },
	{ "any_read", ANY_READ, HIT_OR_MISS, true },
	{ "any_pf_data_rd", ANY_PF_DATA_RD, HIT_OR_MISS },
	{ "pf_l1_data_rd", GLM_PF_L1_DATA_RD, HIT_OR_MISS },
	{ "pf_l2_data_rd", GLM_PF_L2_DATA_RD, HIT_OR_MISS },
	{ "pf_l2_rfo", GLM_PF_L2_RFO, HIT_OR_MISS },
	{ "corewb", GLM_COREWB, HIT_OR_MISS },
	{ "sw_prefetch", GLM_SW_PREFETCH, HIT_OR_MISS },
	{ "full_streaming_stores", GLM_FULL_STREAMING_STORES, HIT_OR_MISS },
	{ "streaming_stores", GLM_FULL_STREAMING_STORES | GLM_PARTIAL_STREAMING_STORES,
	  BIT(L2_HIT) | BIT(L2_MISS) },
	{ "partial_streaming_stores", GLM_PARTIAL_STREAMING_STORES, HIT_OR_MISS },
	/* Uncacheable memory is among these, and so are the devices. */
	{ "partial_reads", GLM_PARTIAL_READS, BIT(L2_MISS) | BIT(NON_DRAM) },
	{ "partial_writes", GLM_PARTIAL_WRITES, BIT(L2_MISS) | BIT(NON_DRAM) },
	{ "uc_code_reads", GLM_UC_CODE_READS, BIT(ANY_RESPONSE) | BIT(L2_MISS) | BIT(NON_DRAM) },
	{ "bus_locks", GLM_BUS_LOCKS, BIT(ANY_RESPONSE) },
	{}
};

/* A supplier alone or an L2 miss alone is a valid response here. */
#define GOLDMONT_OFFCORE(_select, _request, _outstanding) {	\
	.select = _select,				\
	.request = _request,				\
	.any = GLM_ANY_RESPONSE,			\
	.supplier = GLM_L2_HIT,				\
	.snoop = GLM_L2_MISS,				\
	.outstanding = _outstanding,			\
}

/* They differ in names, request types of RSP1, and what is known of the PEBS index. */
#define GOLDMONT(_name, _always, _rsp1, _guarded) {			\
	.name = _name,							\
	/* No load latency here: ldlat exists because perf mem sends it. */ \
	.fields = BIT(CORE_EXT_LDLAT) | BIT(CORE_EXT_OCR_REQ) |		\
		  BIT(CORE_EXT_OCR_RSP) | BIT(CORE_EXT_OCR_OUTSTANDING), \
	.events = goldmont_events,					\
	.responses = goldmont_responses,				\
	.requests = goldmont_requests,					\
	.available = GENMASK(OUTSTANDING, 0),				\
	.always = _always,						\
	.offcore = {							\
		GOLDMONT_OFFCORE(GLM_OFFCORE_RSP0, GLM_REQUESTS, GLM_OUTSTANDING), \
		GOLDMONT_OFFCORE(GLM_OFFCORE_RSP1, _rsp1, 0),		\
	},								\
	.precise = goldmont_precise,					\
	.precise_from = 3,						\
	.guarded = _guarded,						\
}

const struct core_ext_model core_ext_goldmont =
	GOLDMONT("Goldmont", 0, GLM_REQUESTS & ~GLM_COREWB, true);

/* Intel's list has more names here. No source says what an index out of bounds does. */
const struct core_ext_model core_ext_goldmont_plus =
	GOLDMONT("Goldmont Plus", HIT_OR_SNOOP | BIT(ANY_RESPONSE) | BIT(OUTSTANDING),
		 GLM_REQUESTS, false);
