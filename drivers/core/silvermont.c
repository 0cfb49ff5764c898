// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables for Silvermont (06_37, 06_4A, 06_4D, 06_5A) and Airmont (06_4C).
 *
 *	perf stat -e offcore_response.demand_data_rd.l2_miss.any ./program
 *	perf record -c 1009 -e mem_uops_retired.l2_hit_loads:pp ./program
 */
#include "core/silvermont.h"
#include "core_ext.h"
#include "source.h"

/* The precise memory events. perf mem cannot work: no record has an address. */
static const struct core_ext_event silvermont_events[] = {
	{ "mem_uops_retired.l2_hit_loads",	0x0204, LOAD | HIT(L2) | FROM(L2) },
	{ "mem_uops_retired.l2_miss_loads",	0x0404, LOAD | MISS(L2) },
	{ "mem_uops_retired.dtlb_miss_loads",	0x0804, LOAD | DTLB_MISS },
	{ "mem_uops_retired.hitm",		0x2004, LOAD | HITM_OTHER_CORE },
	{ "rehabq.ld_block_st_forward",		0x0103, LOAD },
	{ "rehabq.ld_splits",			0x0803, LOAD },
	{}
};

/* The other precise events. PEBS is for those of Table 18-12 alone (section 18.6.1.1). */
static const u16 silvermont_precise[] = {
	/*
	 * BR_INST_RETIRED: ALL_BRANCHES, JCC, FAR_BRANCH, NON_RETURN_IND, RETURN, CALL, IND_CALL,
	 * REL_CALL, TAKEN_JCC
	 */
	0x00c4, 0x7ec4, 0xbfc4, 0xebc4, 0xf7c4, 0xf9c4, 0xfbc4, 0xfdc4, 0xfec4,
	/* BR_MISP_RETIRED: ALL_BRANCHES, JCC, NON_RETURN_IND, RETURN, IND_CALL, TAKEN_JCC */
	0x00c5, 0x7ec5, 0xebc5, 0xf7c5, 0xfbc5, 0xfec5,
	0
};

enum {
	ANY_RESPONSE, L2_HIT, L2_MISS, NO_SNOOP, SNOOP_MISS, NO_FWD, HITM, NON_DRAM, OUTSTANDING
};

static const struct core_ext_bits silvermont_responses[] = {
	[ANY_RESPONSE] = { "any_response", SLM_ANY_RESPONSE },
	[L2_HIT] = { "l2_hit", SLM_L2_HIT },
	/* As published, without devices */
	[L2_MISS] = { "l2_miss.any", SLM_SNOOPS & ~SLM_NON_DRAM },
	[NO_SNOOP] = { "l2_miss.no_snoop_needed", SLM_NO_SNOOP_NEEDED },
	[SNOOP_MISS] = { "l2_miss.snoop_miss", SLM_SNOOP_MISS },
	[NO_FWD] = { "l2_miss.hit_other_core_no_fwd", SLM_HIT_OTHER_CORE_NO_FWD },
	[HITM] = { "l2_miss.hitm_other_core", SLM_HITM_OTHER_CORE },
	[NON_DRAM] = { "l2_miss.non_dram", SLM_NON_DRAM },
	[OUTSTANDING] = { "outstanding", SLM_OUTSTANDING },
};

#define HIT_OR_SNOOP	(BIT(ANY_RESPONSE) | BIT(L2_HIT) | BIT(NO_SNOOP) | BIT(SNOOP_MISS) | \
			 BIT(NO_FWD) | BIT(HITM))
#define HIT_OR_MISS	(HIT_OR_SNOOP | BIT(L2_MISS))

#define ANY_PF_L2	(SLM_PF_L2_DATA_RD | SLM_PF_L2_RFO | SLM_PF_L2_CODE_RD)
#define ANY_DATA_RD	(SLM_DEMAND_DATA_RD | SLM_PF_L2_DATA_RD | SLM_PARTIAL_READS | \
			 SLM_SW_PREFETCH | SLM_PF_L1_DATA_RD)
#define ANY_RFO		(SLM_DEMAND_RFO | SLM_PF_L2_RFO)
#define ANY_CODE_RD	(SLM_DEMAND_CODE_RD | SLM_PF_L2_CODE_RD)
#define ANY_READS	(ANY_DATA_RD | ANY_RFO | ANY_CODE_RD | SLM_UC_CODE_READS)
#define STREAMING	(SLM_FULL_STREAMING_STORES | SLM_PARTIAL_STREAMING_STORES)

/* The combinations that make sense; the rest can be had through the fields. */
static const struct core_ext_request silvermont_requests[] = {
	/* As published, with write-backs */
	{ "any_request", SLM_ANY | SLM_COREWB, HIT_OR_MISS | BIT(NON_DRAM), true },
	{ "demand_data_rd", SLM_DEMAND_DATA_RD, HIT_OR_MISS | BIT(OUTSTANDING), true },
	{ "demand_rfo", SLM_DEMAND_RFO, HIT_OR_MISS | BIT(OUTSTANDING), true },
	{ "demand_code_rd", SLM_DEMAND_CODE_RD, HIT_OR_MISS | BIT(OUTSTANDING), true },
	{ "any_data_rd", ANY_DATA_RD, HIT_OR_MISS, true },
	{ "any_rfo", ANY_RFO, HIT_OR_MISS, true },
	{ "any_code_rd", ANY_CODE_RD, HIT_OR_MISS, true },
	{ "any_reads", ANY_READS, HIT_OR_MISS, true },
	{ "any_pf_l2", ANY_PF_L2, HIT_OR_MISS },
	{ "pf_l1_data_rd", SLM_PF_L1_DATA_RD, HIT_OR_MISS },
	{ "pf_l2_data_rd", SLM_PF_L2_DATA_RD, HIT_OR_MISS },
	{ "pf_l2_rfo", SLM_PF_L2_RFO, HIT_OR_MISS },
	{ "pf_l2_code_rd", SLM_PF_L2_CODE_RD, HIT_OR_MISS },
	{ "corewb", SLM_COREWB, HIT_OR_MISS },
	{ "sw_prefetch", SLM_SW_PREFETCH, HIT_OR_MISS },
	{ "streaming_stores", STREAMING, BIT(ANY_RESPONSE) | BIT(L2_HIT) | BIT(L2_MISS) },
	{ "full_streaming_stores", SLM_FULL_STREAMING_STORES,
	  BIT(ANY_RESPONSE) | BIT(L2_HIT) | BIT(L2_MISS) },
	{ "partial_streaming_stores", SLM_PARTIAL_STREAMING_STORES,
	  BIT(ANY_RESPONSE) | BIT(L2_HIT) | BIT(L2_MISS) },
	/* Uncacheable memory is among these, and so are the devices. */
	{ "partial_reads", SLM_PARTIAL_READS, HIT_OR_MISS | BIT(NON_DRAM) },
	{ "partial_writes", SLM_PARTIAL_WRITES, HIT_OR_MISS | BIT(NON_DRAM) },
	{ "uc_code_reads", SLM_UC_CODE_READS, BIT(ANY_RESPONSE) | BIT(L2_MISS) | BIT(NON_DRAM) },
	{ "bus_locks", SLM_BUS_LOCKS, BIT(ANY_RESPONSE) },
	{}
};

/*
 * Section 18.6.2 wants a supplier and a snoop, or any response. But L2_HIT is the only supplier,
 * and the snoops are of L2 misses: no selection in Intel's list would count. So one of
 * them is enough here, as 18.7.2 says of the same tables on Goldmont.
 */
#define SILVERMONT_OFFCORE(_select, _outstanding) {	\
	.select = _select,				\
	.request = SLM_REQUESTS,			\
	.any = SLM_ANY_RESPONSE,			\
	.supplier = SLM_L2_HIT,				\
	.snoop = SLM_SNOOPS,				\
	.outstanding = _outstanding,			\
}

const struct core_ext_model core_ext_silvermont = {
	.name = "Silvermont",
	.fields = BIT(CORE_EXT_OCR_REQ) | BIT(CORE_EXT_OCR_RSP) | BIT(CORE_EXT_OCR_OUTSTANDING),
	.events = silvermont_events,
	.responses = silvermont_responses,
	.requests = silvermont_requests,
	.available = GENMASK(OUTSTANDING, 0),
	.offcore = {
		SILVERMONT_OFFCORE(SLM_OFFCORE_RSP0, SLM_OUTSTANDING),
		SILVERMONT_OFFCORE(SLM_OFFCORE_RSP1, 0),
	},
	.precise = silvermont_precise,
	.precise_from = 1,
	.no_address = true,
};
