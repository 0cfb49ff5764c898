// SPDX-License-Identifier: GPL-2.0-only
/*
 * Xeon 7500 and E7 C-Boxes: the slices of the last-level cache and their ring stops,
 * eight or ten. Six counters each, any event on any.
 *
 *	perf stat -a -e xeon7500_cbox/llc_misses.all/ sleep 1
 *	perf stat -a -e xeon7500_cbox_0/event=0x14,umask=0x7/ sleep 1
 *	perf stat -a -e xeon7500_cbox_0/occupancy_irq,thresh=4/ sleep 1
 *
 * Fields as in evsel.h. Uncore Programming Guide, section 2.3.
 */
#include "evsel.h"
#include "xeon7500/cbox.h"

static const struct uncore_field cbox_fields[] = {
	UNCORE_EVSEL_FIELDS,
	{}
};

/* At most 1 in a clock: "all" counts clocks with one in either direction. */
#define CBOX_RING_SIDES	\
	UNCORE_UMASKS({ "sb", 0x1 }, { "nsb", 0x2 }, { "all", 0x3 })

#define CBOX_EGRESS							\
	UNCORE_UMASKS({ "ad_sb", 0x01 }, { "ad_nsb", 0x02 }, { "ad_all", 0x03 },	\
		      { "ak_sb", 0x04 }, { "ak_nsb", 0x08 }, { "ak_all", 0x0c },	\
		      { "bl_sb", 0x10 }, { "bl_nsb", 0x20 }, { "bl_all", 0x30 },	\
		      { "iv", 0x40 }, { "all", 0x7f })

#define CBOX_MESF							\
	UNCORE_UMASKS({ "m", 0x1 }, { "e", 0x2 }, { "s", 0x4 }, { "f", 0x8 }, { "all", 0xf })

/* Table 2-15 and the detail list of section 2.3.5 */
static const struct uncore_event_desc cbox_events[] = {
	/* Ring: what bounces and what arrives */
	{ "bounces_p2c_ad",		0x01, CBOX_RING_SIDES },
	{ "bounces_c2p_ak",		0x02, CBOX_RING_SIDES },
	{ "bounces_c2p_bl",		0x03, CBOX_RING_SIDES },
	{ "bounces_c2p_iv",		0x04 },
	{ "sinks_p2c",			0x05,
	  UNCORE_UMASKS({ "ad", 0x1 }, { "ak", 0x2 }, { "bl", 0x4 }), .adds = UNCORE_ADDS_UMASK },
	{ "sinks_c2p",			0x06,
	  UNCORE_UMASKS({ "iv", 0x1 }, { "ak", 0x2 }, { "bl", 0x4 }), .adds = UNCORE_ADDS_UMASK },
	{ "sinks_s2c",			0x07,
	  UNCORE_UMASKS({ "ad", 0x1 }, { "ak", 0x2 }, { "bl", 0x4 }), .adds = UNCORE_ADDS_UMASK },
	{ "sinks_s2p_bl",		0x08 },

	/* Ring: egress and ingress */
	{ "arb_wins",			0x09, CBOX_EGRESS, .adds = UNCORE_ADDS_UMASK },
	{ "arb_losses",			0x0a, CBOX_EGRESS, .adds = UNCORE_ADDS_UMASK },
	{ "starved_egress",		0x0b,
	  UNCORE_UMASKS({ "p2c_ad_sb", 0x01 }, { "c2s_ad_sb", 0x02 }, { "ad_sb", 0x03 },
			{ "ad_nsb", 0x04 }, { "ad", 0x07 },
			{ "ak_sb", 0x08 }, { "ak_nsb", 0x10 }, { "ak", 0x18 },
			{ "bl_sb", 0x20 }, { "bl_nsb", 0x40 }, { "bl", 0x60 },
			{ "iv", 0x80 }), .adds = UNCORE_ADDS_UMASK },
	{ "egress_bypass_wins",		0x0c,
	  UNCORE_UMASKS({ "ad_byp0", 0x01 }, { "ad_byp1", 0x02 },
			{ "ak_byp0", 0x04 }, { "ak_byp1", 0x08 },
			{ "bl_byp0", 0x10 }, { "bl_byp1", 0x20 },
			{ "iv_byp0", 0x40 }, { "iv_byp1", 0x80 }), .adds = UNCORE_ADDS_UMASK },
	{ "ingress_bypass_wins_ad",	0x0e,
	  UNCORE_UMASKS({ "irq_byp0", 0x1 }, { "irq_byp1", 0x2 },
			{ "ipq_byp0", 0x4 }, { "ipq_byp1", 0x8 }) },

	/* Miss address file */
	{ "maf_ack",			0x10 },
	{ "maf_nack1",			0x11,
	  UNCORE_UMASKS({ "go_pending", 0x01 }, { "vic_pending", 0x02 },
			{ "snp_pending", 0x04 }, { "ac_pending", 0x08 },
			{ "idx_block", 0x10 }, { "pa_block", 0x20 },
			{ "idle_qpi", 0x40 }, { "all_maf_nack2", 0x80 },
			{ "total_maf_nacks", 0xff }) },
	{ "maf_nack2",			0x12,
	  UNCORE_UMASKS({ "maf_full", 0x01 }, { "egress_full", 0x02 },
			{ "viq_full", 0x04 }, { "no_tracker_credits", 0x08 },
			{ "no_s_fifo_credits", 0x10 }, { "no_s_reqtbl_entries", 0x20 },
			{ "wb_pending", 0x40 }, { "nack2_else", 0x80 }) },

	/* Last-level cache */
	{ "llc_misses",			0x14,
	  UNCORE_UMASKS({ "s", 0x1 }, { "f", 0x2 }, { "i", 0x4 }, { "all", 0x7 }) },
	{ "llc_hits",			0x15, CBOX_MESF },
	{ "llc_s_fills",		0x16, CBOX_MESF },
	{ "llc_victims",		0x17,
	  UNCORE_UMASKS({ "m", 0x01 }, { "e", 0x02 }, { "s", 0x04 }, { "f", 0x08 },
			{ "i", 0x10 }) },

	/* Queues: entries held per clock, and entries that passed */
	{ "occupancy_irq",		0x18, .adds = UNCORE_ADDS_MANY },
	{ "trans_irq",			0x19 },
	{ "occupancy_ipq",		0x1a, .adds = UNCORE_ADDS_MANY },
	{ "trans_ipq",			0x1b },
	{ "occupancy_viq",		0x1c, .adds = UNCORE_ADDS_MANY },
	{ "trans_viq",			0x1d },
	{ "occupancy_maf",		0x1e, .adds = UNCORE_ADDS_MANY },
	{ "trans_maf",			0x1f },
	{ "occupancy_rwrf",		0x20, .adds = UNCORE_ADDS_MANY },
	{ "trans_rwrf",			0x21 },
	{ "occupancy_rspf",		0x22, .adds = UNCORE_ADDS_MANY },
	{ "trans_rspf",			0x23 },

	/* Snoops from other packages */
	{ "snps",			0x27,
	  UNCORE_UMASKS({ "remote_rd", 0x1 }, { "remote_rfo", 0x2 }, { "remote_any", 0x3 }) },
	{ "snp_hits",			0x28,
	  UNCORE_UMASKS({ "remote_rd_hitm", 0x01 }, { "remote_rd_hite", 0x02 },
			{ "remote_rd_hits", 0x04 }, { "remote_rd_hitf", 0x08 },
			{ "remote_rfo_hitm", 0x10 }, { "remote_rfo_hite", 0x20 },
			{ "remote_rfo_hits", 0x40 }, { "remote_rfo_hitf", 0x80 },
			{ "remote_hitm", 0x11 }, { "remote_hite", 0x22 },
			{ "remote_hits", 0x44 }, { "remote_hitf", 0x88 },
			{ "remote_any", 0xff }) },

	/* No source says more than the names. */
	{ "spl_dead",			0x29, UNCORE_WESTMERE_ONLY },
	{ "spl_arb_pri_sw",		0x2a, UNCORE_WESTMERE_ONLY },
	{ "spl_not_co",			0x2b, UNCORE_WESTMERE_ONLY },
	{ "spl_co_sb",			0x2c, UNCORE_WESTMERE_ONLY },
	{ "spl_co_nsb",			0x2d, UNCORE_WESTMERE_ONLY },
	{ "spl_in_full_irq",		0x2e, UNCORE_WESTMERE_ONLY },
	{ "spl_egr_sb",			0x2f, UNCORE_WESTMERE_ONLY },
	{ "spl_egr_nsb",		0x30, UNCORE_WESTMERE_ONLY },
	{ "igr_op_sram",			0x31, UNCORE_WESTMERE_ONLY },
	{ "igr_op_uc",			0x32, UNCORE_WESTMERE_ONLY },
	{ "arb_wins_p2c_sb",		0x33, UNCORE_WESTMERE_ONLY },
	{ "arb_wins_p2c_nsb",		0x34, UNCORE_WESTMERE_ONLY },
	{ "spoof_crd_empty",		0x35, UNCORE_WESTMERE_ONLY },
	{ "idf_nonzero_no_bl_crd",	0x36, UNCORE_WESTMERE_ONLY },
	{ "idf_nonzero_no_vld",		0x37, UNCORE_WESTMERE_ONLY },
	{ "bounce_assert",		0x38, UNCORE_WESTMERE_ONLY },
	{ "bounce_deassert",		0x39, UNCORE_WESTMERE_ONLY },
	{ "spoof_assert",		0x3a, UNCORE_WESTMERE_ONLY },
	{ "spoof_deassert",		0x3b, UNCORE_WESTMERE_ONLY },
	{ "igr_bid_blocked",		0x3c, UNCORE_WESTMERE_ONLY },
	{}
};

static const u16 cbox_base[] = {
	C0_MSR_PMON_BASE, C1_MSR_PMON_BASE, C2_MSR_PMON_BASE, C3_MSR_PMON_BASE,
	C4_MSR_PMON_BASE, C5_MSR_PMON_BASE, C6_MSR_PMON_BASE, C7_MSR_PMON_BASE,
	C8_MSR_PMON_BASE, C9_MSR_PMON_BASE,
};

static const struct uncore_counter_row cbox_counters[] = {
	UNCORE_COUNTERS_6(C_MSR_PMON_EVT_SEL, C_MSR_PMON_CTR, C_EVT_SEL_EN, C_EVT_SEL_PMI_EN,
			  EVSEL_CLOCK(0x14, 0x7))
};

const struct uncore_box_type cbox_type = {
	.name		= "cbox",
	.first		= UNCORE_CBOX,
	.num_boxes	= ARRAY_SIZE(cbox_base),
	.base		= cbox_base,
	.box_ctl	= C_MSR_PMON_GLOBAL_CTL,
	.counters	= cbox_counters,
	.num_counters	= ARRAY_SIZE(cbox_counters),
	.fields		= cbox_fields,
	.common		= UNCORE_EVSEL_ALL,
	.events		= cbox_events,
};
