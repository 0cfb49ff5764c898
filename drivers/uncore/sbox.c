// SPDX-License-Identifier: GPL-2.0-only
/*
 * Xeon 7500 and E7 S-Boxes: between the ring with the last-level cache and the system, that
 * is R- and B-Box. "to_r" and "sent" is what leaves, "to_ring" and "rcvd" what comes.
 * Four counters each, any event on any.
 *
 *	perf stat -a -e xeon7500_sbox/to_r_b_requests.remote/ sleep 1
 *	perf stat -a -e xeon7500_sbox_0/req_tbl_occupancy.all,thresh=24/ sleep 1
 *	perf stat -a -e xeon7500_sbox_1/to_r_prog_ev,match=0x1234,mask_hnid=1/ sleep 1
 *
 * Fields as in evsel.h and, for to_r_prog_ev:
 *	match		S_MSR_MATCH as it is: its layout is not known. A class, opcode or
 *			response of 0 matches any
 *	mask_addr	bits of the line address (43:6) that have to match
 *	mask_hnid	the home node has to match
 *
 * Uncore Programming Guide, section 2.5.
 */
#include "evsel.h"
#include "xeon7500/sbox.h"

enum {
	SBOX_MATCH = EVSEL_NUM_FIELDS,
	SBOX_MASK_HNID,
	SBOX_MASK_ADDR,
};

static const struct uncore_field sbox_fields[] = {
	UNCORE_EVSEL_FIELDS,
	[SBOX_MATCH]		= { "match",		1, 0, 63,
				    UNCORE_SLOT(0, S_MSR_MATCH, ~0ULL) },
	/* The hardware's mask says what to ignore, ours what to compare. */
	[SBOX_MASK_HNID]	= { "mask_hnid",	2, 0, 0,
				    UNCORE_SLOT(0, S_MSR_MASK, S_MASK_HNID), .invert = true },
	[SBOX_MASK_ADDR]	= { "mask_addr",	2, 1, 38,
				    UNCORE_SLOT(0, S_MSR_MASK, S_MASK_ADDR), .invert = true },
	{}
};

#define SBOX_RB		\
	UNCORE_UMASKS({ "rbox", 0x1 }, { "bbox", 0x2 }, { "rbbox", 0x3 })
#define SBOX_RB_ALL	\
	UNCORE_UMASKS({ "rbox", 0x1 }, { "bbox", 0x2 }, { "all", 0x3 })
#define SBOX_HOME	\
	UNCORE_UMASKS({ "local", 0x1 }, { "remote", 0x2 }, { "all", 0x3 })

/* A sub-event of one model */
#define SBOX_NHM(name, umask)	{ name, umask, .models = UNCORE_NEHALEM_EX }
#define SBOX_WSM(name, umask)	{ name, umask, .models = UNCORE_WESTMERE_EX }

/* A C-Box of each side; the five pairs of ten have one source. Some events have no "all". */
#define SBOX_NOT_ALL	2

static const struct uncore_umask sbox_cboxes[] = {
	SBOX_NHM("all", 0xf), SBOX_WSM("all", 0x1f),
	SBOX_NHM("cbox0_4", 0x1), SBOX_NHM("cbox1_5", 0x2), SBOX_NHM("cbox2_6", 0x4),
	SBOX_NHM("cbox3_7", 0x8),
	SBOX_WSM("cbox0_5", 0x01), SBOX_WSM("cbox1_6", 0x02), SBOX_WSM("cbox2_7", 0x04),
	SBOX_WSM("cbox3_8", 0x08), SBOX_WSM("cbox4_9", 0x10),
	{}
};

#define SBOX_CBOX	sbox_cboxes + SBOX_NOT_ALL, .inferred = UNCORE_WESTMERE_EX
#define SBOX_CBOX_ALL	sbox_cboxes, .inferred = UNCORE_WESTMERE_EX

#define SBOX_EGRESS							\
	UNCORE_UMASKS({ "ad_cw", 0x01 }, { "ad_ccw", 0x02 }, { "ad", 0x03 },	\
		      { "ak_cw", 0x04 }, { "ak_ccw", 0x08 }, { "ak", 0x0c },	\
		      { "bl_cw", 0x10 }, { "bl_ccw", 0x20 }, { "bl", 0x30 }),	\
	.adds = UNCORE_ADDS_UMASK

/*
 * Entries of a queue per clock come from a sub-counter that has to be cleared when
 * the event is selected.
 */
#define SBOX_OCCUPANCY	.ctl = S_CTL_RESET_OCC_CNT, .adds = UNCORE_ADDS_MANY

/* The result is undefined with more than one C-Box, so there is no "all" either. */
#define SBOX_FULL	SBOX_CBOX, .one_umask = true

/*
 * Table 2-37 and the detail list of section 2.5.5. The two disagree about codes 0x2b
 * to 0x2e; on the Xeon 7500 these are the detail list's, see Documentation/sbox.md.
 */
static const struct uncore_event_desc sbox_events[] = {
	/* Queues to the system */
	{ "to_r_prog_ev",			0x00,
	  .filters = BIT(SBOX_MATCH) | BIT(SBOX_MASK_HNID) | BIT(SBOX_MASK_ADDR),
	  .slots = BIT(0), .val = S_MM_CFG_EN },
	{ "to_r_b_hom_msgq_cycles_full",	0x03, SBOX_RB },
	{ "to_r_b_hom_msgq_cycles_ne",		0x06, SBOX_RB },
	{ "to_r_b_hom_msgq_occupancy",		0x07, SBOX_RB, SBOX_OCCUPANCY },
	{ "to_r_snp_msgq_cycles_full",		0x08 },
	{ "to_r_snp_msgq_cycles_ne",		0x09 },
	{ "to_r_snp_msgq_occupancy",		0x0a, SBOX_OCCUPANCY },
	{ "to_r_ndr_msgq_cycles_full",		0x0b },
	{ "to_r_ndr_msgq_cycles_ne",		0x0c },
	{ "to_r_ndr_msgq_occupancy",		0x0d, SBOX_OCCUPANCY },
	{ "to_r_drs_msgq_cycles_full",		0x0e, SBOX_FULL },
	{ "to_r_drs_msgq_cycles_ne",		0x0f, SBOX_CBOX_ALL },
	{ "to_r_drs_msgq_occupancy",		0x10, SBOX_CBOX_ALL, SBOX_OCCUPANCY },
	{ "to_r_ncb_msgq_cycles_full",		0x11, SBOX_FULL },
	{ "to_r_ncb_msgq_cycles_ne",		0x12, SBOX_CBOX_ALL },
	{ "to_r_ncb_msgq_occupancy",		0x13, SBOX_CBOX_ALL, SBOX_OCCUPANCY },
	{ "to_r_ncs_msgq_cycles_full",		0x14, SBOX_FULL },
	{ "to_r_ncs_msgq_cycles_ne",		0x15, SBOX_CBOX_ALL },
	{ "to_r_ncs_msgq_occupancy",		0x16, SBOX_CBOX_ALL, SBOX_OCCUPANCY },

	/* Queues to the ring */
	{ "to_ring_snp_msgq_cycles_full",	0x20 },
	{ "to_ring_ncb_msgq_cycles_full",	0x21 },
	{ "to_ring_ncs_msgq_cycles_full",	0x22 },
	{ "to_ring_snp_msgq_cycles_ne",		0x23 },
	{ "to_ring_ncb_msgq_cycles_ne",		0x24 },
	{ "to_ring_ncs_msgq_cycles_ne",		0x25 },
	{ "to_ring_msgq_occupancy",		0x26,
	  UNCORE_UMASKS({ "snp", 0x1 }, { "ncs", 0x2 }, { "ncb", 0x4 }, { "all", 0x7 }),
	  SBOX_OCCUPANCY },
	{ "to_ring_ndr_msgq_cycles_full",	0x27 },
	{ "to_ring_ndr_msgq_cycles_ne",		0x28 },
	{ "to_ring_ndr_msgq_occupancy",		0x29, SBOX_OCCUPANCY },
	{ "to_ring_r2s_msgq_cycles_full",	0x2a },
	{ "to_ring_b2s_msgq_cycles_full",	0x2b, .models = UNCORE_NEHALEM_EX },
	{ "to_ring_r2s_msgq_cycles_ne",		0x2c, .models = UNCORE_NEHALEM_EX },
	{ "to_ring_b2s_msgq_cycles_ne",		0x2d, .models = UNCORE_NEHALEM_EX },
	{ "to_ring_r2s_msgq_occupancy",		0x2e, SBOX_OCCUPANCY,
	  .models = UNCORE_NEHALEM_EX },
	{ "to_ring_r2s_msgq_cycles_ne",		0x2b, UNCORE_WESTMERE_ONLY },
	{ "to_ring_r2s_msgq_occupancy",		0x2c, SBOX_OCCUPANCY, UNCORE_WESTMERE_ONLY },
	{ "to_ring_b2s_msgq_cycles_full",	0x2d, UNCORE_WESTMERE_ONLY },
	{ "to_ring_b2s_msgq_cycles_ne",		0x2e, UNCORE_WESTMERE_ONLY },
	{ "to_ring_b2s_msgq_occupancy",		0x2f, SBOX_OCCUPANCY },
	{ "halfline_bypass",			0x30 },
	{ "req_tbl_occupancy",			0x31, SBOX_HOME, SBOX_OCCUPANCY },

	/* Onto the ring; each chosen sub-event adds one */
	{ "egress_bypass",			0x40, SBOX_EGRESS },
	{ "egress_arb_wins",			0x41, SBOX_EGRESS },
	{ "egress_arb_losses",			0x42, SBOX_EGRESS },
	{ "egress_starved",			0x43, SBOX_EGRESS },

	/* Short cuts */
	{ "rbox_hom_bypass",			0x50 },
	{ "rbox_snp_bypass",			0x51,
	  UNCORE_UMASKS({ "snp", 0x1 }, { "big_snp", 0x2 }, { "all", 0x3 }),
	  .adds = UNCORE_ADDS_UMASK },
	{ "s2b_hom_bypass",			0x52 },
	{ "b2s_drs_bypass",			0x53 },
	{ "bbox_hom_bypass",			0x54 },

	/* Sent to the system */
	{ "pkts_sent_hom",			0x60, SBOX_RB_ALL },
	{ "pkts_sent_snp",			0x62 },
	{ "pkts_sent_ndr",			0x63 },
	{ "pkts_sent_drs",			0x64, SBOX_CBOX },
	{ "flits_sent_drs",			0x65 },
	{ "pkts_sent_ncs",			0x66, SBOX_CBOX },
	{ "flits_sent_ncs",			0x67 },
	{ "pkts_sent_ncb",			0x68, SBOX_CBOX },
	{ "flits_sent_ncb",			0x69 },
	{ "rbox_credit_returns",		0x6a },
	{ "bbox_credit_returns",		0x6b },
	{ "to_r_b_requests",			0x6c, SBOX_HOME },

	/* Received from the system */
	{ "pkts_rcvd_ndr",			0x70 },
	{ "pkts_rcvd_snp",			0x71 },
	{ "pkts_rcvd_drs_from_r",		0x72 },
	{ "pkts_rcvd_drs_from_b",		0x73 },
	{ "pkts_rcvd_ncs",			0x74 },
	{ "pkts_rcvd_ncb",			0x75 },
	{ "rbox_credit_carriers",		0x76 },
	{ "rbox_credits",			0x76 },	/* in Table 2-37 */
	{ "bbox_credits",			0x77 },
	/* The same, times the length of such a packet as the manual gives it */
	{ "flits_rcvd_drs_from_r",		0x72, .scale = "9", .unit = "flits" },
	{ "flits_rcvd_drs_from_b",		0x73, .scale = "9", .unit = "flits" },
	{ "flits_rcvd_ncs",			0x74, .scale = "3", .unit = "flits" },
	{ "flits_rcvd_ncb",			0x75, .scale = "11", .unit = "flits" },

	/* Something to send and no credit for it */
	{ "no_credit_hom",			0x80 },
	{ "no_credit_snp",			0x81 },
	{ "no_credit_drs",			0x82 },
	{ "no_credit_ncs",			0x83 },
	{ "no_credit_ncb",			0x84 },
	{ "no_credit_ndr",			0x85 },
	{ "no_credit_vna",			0x86, SBOX_RB_ALL, .adds = UNCORE_ADDS_UMASK },
	{ "no_credit_ad",			0x87 },
	{ "no_credit_ak",			0x88 },
	{ "no_credit_bl",			0x89 },
	{ "no_credit_ipq",			0x8a },

	/* The local NCS, and what is full of it as with the other queues */
	{ "no_credit_loc_ncs",			0x8b, UNCORE_WESTMERE_ONLY },
	{ "to_r_loc_ncs_msgq_cycles_full",	0x8c, SBOX_FULL, .models = UNCORE_WESTMERE_EX },
	{ "to_r_loc_ncs_msgq_cycles_ne",	0x8d, SBOX_CBOX_ALL,
	  .models = UNCORE_WESTMERE_EX },
	{ "to_r_loc_ncs_msgq_occupancy",	0x8e, SBOX_CBOX_ALL, SBOX_OCCUPANCY,
	  .models = UNCORE_WESTMERE_EX },
	{ "pkts_rcvd_loc_ncs",			0x8f, UNCORE_WESTMERE_ONLY },
	{ "flits_sent_loc_ncs",			0x90, UNCORE_WESTMERE_ONLY },
	{}
};

static const struct uncore_slot_desc sbox_slots[] = {
	{ .reg = 0, .num_regs = 3, .guarded = true },
};

static unsigned int sbox_subreg_msr(unsigned int instance, unsigned int reg)
{
	return (instance ? S1_MSR_MM_CFG : S0_MSR_MM_CFG) + reg;
}

static const struct uncore_subregs sbox_subregs = {
	.slots		= sbox_slots,
	.num_slots	= ARRAY_SIZE(sbox_slots),
	.num_regs	= 3,
	.msr		= sbox_subreg_msr,
};

static const u16 sbox_base[] = { S0_MSR_PMON_BASE, S1_MSR_PMON_BASE };

static const struct uncore_counter_row sbox_counters[] = {
	UNCORE_COUNTERS_4(S_MSR_PMON_CTL, S_MSR_PMON_CTR, S_CTL_EN, S_CTL_PMI_EN,
			  EVSEL_CLOCK(0x62, 0))
};

const struct uncore_box_type sbox_type = {
	.name		= "sbox",
	.first		= UNCORE_SBOX,
	.num_boxes	= ARRAY_SIZE(sbox_base),
	.base		= sbox_base,
	.box_ctl	= S_MSR_PMON_GLOBAL_CTL,
	.counters	= sbox_counters,
	.num_counters	= ARRAY_SIZE(sbox_counters),
	.fields		= sbox_fields,
	.common		= UNCORE_EVSEL_ALL,
	.events		= sbox_events,
	.subregs	= &sbox_subregs,
	.quirks		= { .ctl_unsure = S_CTL_RESET_OCC_CNT },
};
