// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables for Sandy Bridge, client (06_2A) and server (06_2D).
 *
 *	perf stat -e offcore_response.demand_data_rd.llc_hit.hitm_other_core ./program
 *	perf record -e inst_retired.prec_dist:pp -c 1000003 ./program
 */
#include "core/sandybridge.h"
#include "core_ext.h"

/* mem-loads and mem-stores are mainline's, and so is their data source. */
static const struct core_ext_event sandybridge_events[] = {
	{ "inst_retired.prec_dist",		SNB_INST_RETIRED_PREC_DIST },
	{ "mem_trans_retired.precise_store",	SNB_PRECISE_STORE },
	{}
};

enum {
	ANY_RESPONSE, LLC_HIT, LLC_HIT_NO_SNOOP, LLC_HIT_SNOOP_MISS, LLC_HIT_NO_FWD, LLC_HIT_HITM,
	DRAM, LOCAL_DRAM, REMOTE_DRAM, REMOTE_HITM, REMOTE_FWD
};

#define SNB_ANY_DRAM	(SNB_LOCAL_DRAM | SNB_REMOTE_DRAM)

static const struct core_ext_bits sandybridge_responses[] = {
	[ANY_RESPONSE] = { "any_response", SNB_ANY_RESPONSE },
	[LLC_HIT] = { "llc_hit.any_response", SNB_LLC_HIT | SNB_SNOOPS },
	[LLC_HIT_NO_SNOOP] = { "llc_hit.no_snoop_needed", SNB_LLC_HIT | SNB_SNOOP_NOT_NEEDED },
	[LLC_HIT_SNOOP_MISS] = { "llc_hit.snoop_miss", SNB_LLC_HIT | SNB_SNOOP_MISS },
	[LLC_HIT_NO_FWD] = { "llc_hit.hit_other_core_no_fwd", SNB_LLC_HIT | SNB_SNOOP_NO_FWD },
	[LLC_HIT_HITM] = { "llc_hit.hitm_other_core", SNB_LLC_HIT | SNB_SNOOP_HITM },
	/* One socket: all of DRAM is local. */
	[DRAM] = { "llc_miss.dram", SNB_LOCAL_DRAM | SNB_SNOOP_NOT_NEEDED | SNB_SNOOP_MISS },
	[LOCAL_DRAM] = { "llc_miss.local_dram",
			 SNB_LOCAL_DRAM | SNB_SNOOP_MISS | SNB_SNOOP_NO_FWD },
	[REMOTE_DRAM] = { "llc_miss.remote_dram",
			  SNB_REMOTE_DRAM | SNB_SNOOP_MISS | SNB_SNOOP_NO_FWD },
	[REMOTE_HITM] = { "llc_miss.remote_hitm", SNB_ANY_DRAM | SNB_SNOOP_HITM },
	[REMOTE_FWD] = { "llc_miss.remote_hit_forward",
			 SNB_NO_SUPPLIER | SNB_REMOTE_DRAM | SNB_SNOOP_FWD },
};

/* What both have, what only one socket has, what only several have */
#define COMMON_RESPONSES	GENMASK(LLC_HIT_HITM, ANY_RESPONSE)
#define CLIENT_RESPONSES	(COMMON_RESPONSES | BIT(DRAM))
#define SERVER_RESPONSES	(COMMON_RESPONSES | GENMASK(REMOTE_FWD, LOCAL_DRAM))
#define ALL_RESPONSES		(CLIENT_RESPONSES | SERVER_RESPONSES)

#define ALL_PF_DATA_RD	(SNB_PF_L2_DATA_RD | SNB_PF_LLC_DATA_RD)
#define ALL_PF_RFO	(SNB_PF_L2_RFO | SNB_PF_LLC_RFO)
#define ALL_PF_CODE_RD	(SNB_PF_L2_CODE_RD | SNB_PF_LLC_CODE_RD)
#define ALL_DATA_RD	(SNB_DEMAND_DATA_RD | ALL_PF_DATA_RD)
#define ALL_RFO		(SNB_DEMAND_RFO | ALL_PF_RFO)
#define ALL_CODE_RD	(SNB_DEMAND_CODE_RD | ALL_PF_CODE_RD)
#define ALL_READS	(ALL_DATA_RD | ALL_RFO | ALL_CODE_RD)

/* The combinations that make sense; the rest can be had through the fields. */
static const struct core_ext_request sandybridge_requests[] = {
	{ "any_request", SNB_REQUESTS, BIT(ANY_RESPONSE) },
	{ "demand_data_rd", SNB_DEMAND_DATA_RD, ALL_RESPONSES },
	{ "demand_rfo", SNB_DEMAND_RFO, ALL_RESPONSES },
	{ "demand_code_rd", SNB_DEMAND_CODE_RD, ALL_RESPONSES },
	/* With any_response these two are published with other requests, see below. */
	{ "all_data_rd", ALL_DATA_RD, ALL_RESPONSES & ~BIT(ANY_RESPONSE) },
	{ "all_rfo", ALL_RFO, ALL_RESPONSES },
	{ "all_code_rd", ALL_CODE_RD, ALL_RESPONSES },
	{ "all_reads", ALL_READS, ALL_RESPONSES & ~BIT(ANY_RESPONSE) },
	{ "all_pf_data_rd", ALL_PF_DATA_RD, ALL_RESPONSES },
	{ "all_pf_rfo", ALL_PF_RFO, ALL_RESPONSES },
	{ "all_pf_code_rd", ALL_PF_CODE_RD, ALL_RESPONSES },
	{ "pf_l2_data_rd", SNB_PF_L2_DATA_RD, ALL_RESPONSES },
	{ "pf_l2_rfo", SNB_PF_L2_RFO, ALL_RESPONSES },
	{ "pf_l2_code_rd", SNB_PF_L2_CODE_RD, ALL_RESPONSES },
	{ "pf_llc_data_rd", SNB_PF_LLC_DATA_RD, ALL_RESPONSES },
	{ "pf_llc_rfo", SNB_PF_LLC_RFO, ALL_RESPONSES },
	{ "pf_llc_code_rd", SNB_PF_LLC_CODE_RD, ALL_RESPONSES },
	{ "corewb", SNB_COREWB, BIT(ANY_RESPONSE) },
	{ "split_lock_uc_lock", SNB_BUS_LOCKS, BIT(ANY_RESPONSE) },
	{ "streaming_stores", SNB_STREAMING_STORES, BIT(ANY_RESPONSE) },
	{ "other", SNB_OTHER, BIT(ANY_RESPONSE) },
	{}
};

#define DATA_IN_SOCKET	(SNB_DEMAND_DATA_RD | SNB_DEMAND_RFO | ALL_PF_DATA_RD | ALL_PF_RFO)
#define DATA_IN		(SNB_DEMAND_DATA_RD | SNB_DEMAND_RFO | SNB_PF_L2_DATA_RD | SNB_PF_L2_RFO)
/* All that the core asks for, for the L2 at most */
#define DEMAND_AND_MLC	(SNB_DEMAND_DATA_RD | SNB_DEMAND_RFO | SNB_DEMAND_CODE_RD | \
			 SNB_PF_L2_DATA_RD | SNB_PF_L2_RFO | SNB_PF_L2_CODE_RD)

#define LLC_MISS_LOCAL	(SNB_LOCAL_DRAM | (SNB_SNOOPS & ~SNB_NON_DRAM))
#define LRU_HINTS	(SNB_LLC_HIT | SNB_SNOOP_NONE)
#define PORTIO_MMIO_UC	(SNB_NON_DRAM | SNB_SNOOP_NONE | SNB_SNOOP_NOT_NEEDED | SNB_SNOOP_MISS)
#define DRAM_SNOOPS	(SNB_SNOOP_MISS | SNB_SNOOP_NO_FWD)
#define LLC_MISS	(SNB_NO_SUPPLIER | SNB_ANY_DRAM | SNB_SNOOPS)

/* As published, with names and requests of their own. */
static const struct core_ext_bits sandybridge_selections[] = {
	{ "all_data_rd.any_response", DATA_IN_SOCKET | SNB_BUS_LOCKS | SNB_ANY_RESPONSE },
	{ "all_reads.any_response", ALL_READS | SNB_BUS_LOCKS | SNB_ANY_RESPONSE },
	{ "any_request.llc_miss_local.dram", SNB_REQUESTS | LLC_MISS_LOCAL },
	{ "data_in.any_response", DATA_IN | SNB_BUS_LOCKS | SNB_ANY_RESPONSE },
	{ "data_in_socket.llc_miss.local_dram", DATA_IN_SOCKET | SNB_LOCAL_DRAM | DRAM_SNOOPS },
	{ "data_in_socket.llc_miss_local.any_llc_hit", DATA_IN_SOCKET | SNB_LOCAL_DRAM |
	  DRAM_SNOOPS | SNB_SNOOP_NOT_NEEDED | SNB_SNOOP_HITM },
	{ "demand_ifetch.llc_miss_local.dram", SNB_DEMAND_CODE_RD | LLC_MISS_LOCAL },
	{ "demand_rfo.llc_hit_m.hitm", SNB_DEMAND_RFO | SNB_LLC_HITM | SNB_SNOOP_HITM },
	{ "other.lru_hints", SNB_OTHER | LRU_HINTS },
	{ "other.portio_mmio_uc", SNB_OTHER | SNB_LOCAL_DRAM | PORTIO_MMIO_UC },
	{ "pf_data_rd.llc_miss_local.dram", SNB_PF_L2_DATA_RD | LLC_MISS_LOCAL },
	{ "pf_ifetch.any_response", SNB_PF_L2_CODE_RD | SNB_ANY_RESPONSE },
	{ "pf_ifetch.llc_miss_local.dram", SNB_PF_L2_CODE_RD | LLC_MISS_LOCAL },
	{ "pf_l_data_rd.any_response", SNB_PF_LLC_DATA_RD | SNB_ANY_RESPONSE },
	{ "pf_l_data_rd.llc_miss_local.dram", SNB_PF_LLC_DATA_RD | LLC_MISS_LOCAL },
	{ "pf_l_ifetch.any_response", SNB_PF_LLC_CODE_RD | SNB_ANY_RESPONSE },
	{ "pf_l_ifetch.llc_miss_local.dram", SNB_PF_LLC_CODE_RD | LLC_MISS_LOCAL },
	{}
};

static const struct core_ext_bits sandybridge_x_selections[] = {
	{ "all_data_rd.any_response", DATA_IN_SOCKET | SNB_BUS_LOCKS | SNB_ANY_RESPONSE },
	{ "all_demand_mlc_pref_reads.llc_miss.any_response", DEMAND_AND_MLC | LLC_MISS },
	{ "all_demand_mlc_pref_reads.llc_miss.local_dram", DEMAND_AND_MLC | SNB_LOCAL_DRAM |
	  DRAM_SNOOPS },
	{ "all_demand_mlc_pref_reads.llc_miss.remote_hitm_hit_forward", DEMAND_AND_MLC |
	  SNB_NO_SUPPLIER | SNB_ANY_DRAM | SNB_SNOOP_FWD | SNB_SNOOP_HITM },
	{ "all_reads.any_response", ALL_READS | SNB_BUS_LOCKS | SNB_ANY_RESPONSE },
	{ "demand_code_rd.llc_miss.any_response", SNB_DEMAND_CODE_RD | LLC_MISS },
	{ "demand_data_rd.llc_miss.any_dram", SNB_DEMAND_DATA_RD | SNB_ANY_DRAM | DRAM_SNOOPS },
	{ "demand_data_rd.llc_miss.any_response", SNB_DEMAND_DATA_RD | LLC_MISS },
	{ "other.lru_hints", SNB_OTHER | LRU_HINTS },
	{ "other.portio_mmio_uc", SNB_OTHER | SNB_ANY_DRAM | PORTIO_MMIO_UC },
	{ "pf_l2_code_rd.llc_miss.any_response", SNB_PF_L2_CODE_RD | LLC_MISS },
	{ "pf_l2_data_rd.llc_miss.any_dram", SNB_PF_L2_DATA_RD | SNB_ANY_DRAM | DRAM_SNOOPS },
	{ "pf_l2_data_rd.llc_miss.any_response", SNB_PF_L2_DATA_RD | LLC_MISS },
	{ "pf_llc_code_rd.llc_miss.any_response", SNB_PF_LLC_CODE_RD | LLC_MISS },
	{ "pf_llc_data_rd.llc_miss.any_response", SNB_PF_LLC_DATA_RD | LLC_MISS },
	{}
};

/* Supplier and snoop are combined by AND: one of each, or ANY. */
#define SANDYBRIDGE_OFFCORE(_select, _suppliers) {	\
	.select = _select,				\
	.request = SNB_REQUESTS,			\
	.any = SNB_ANY_RESPONSE,			\
	.supplier = _suppliers,				\
	.snoop = SNB_SNOOPS,				\
	.both = true,					\
}

/* The two models differ in responses, published events and suppliers. */
#define SANDYBRIDGE(_name, _selections, _available, _rsp0, _rsp1) {	\
	.name = _name,							\
	.fields = BIT(CORE_EXT_OCR_REQ) | BIT(CORE_EXT_OCR_RSP),	\
	.events = sandybridge_events,					\
	.responses = sandybridge_responses,				\
	.requests = sandybridge_requests,				\
	.selections = _selections,					\
	.available = _available,					\
	.offcore = { _rsp0, _rsp1 },					\
	.pdir = SNB_INST_RETIRED_PREC_DIST,				\
}

const struct core_ext_model core_ext_sandybridge =
	SANDYBRIDGE("Sandy Bridge", sandybridge_selections, CLIENT_RESPONSES,
		    SANDYBRIDGE_OFFCORE(SNB_OFFCORE_RSP0, SNB_SUPPLIERS),
		    SANDYBRIDGE_OFFCORE(SNB_OFFCORE_RSP1, SNB_SUPPLIERS));

const struct core_ext_model core_ext_sandybridge_x =
	SANDYBRIDGE("Sandy Bridge server", sandybridge_x_selections, SERVER_RESPONSES,
		    SANDYBRIDGE_OFFCORE(SNB_OFFCORE_RSP0, SNB_SUPPLIERS | SNB_REMOTE_DRAM),
		    SANDYBRIDGE_OFFCORE(SNB_OFFCORE_RSP1, SNB_SUPPLIERS | SNB_REMOTE_DRAM));
