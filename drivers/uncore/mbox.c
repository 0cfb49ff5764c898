// SPDX-License-Identifier: GPL-2.0-only
/*
 * Xeon 7500 and E7 M-Boxes: the memory controllers. Six counters each, any event on any.
 *
 *	perf stat -a -e xeon7500_mbox/bbox_cmds.reads/,xeon7500_mbox/bbox_cmds.writes/ sleep 1
 *	perf stat -a -e xeon7500_mbox/dram_cmd.cas_rd_opn/ sleep 1
 *	perf stat -a -e xeon7500_mbox/dram_cmd.all,match_addr=0x48d000,mask_addr=0xffff000/ sleep 1
 *
 * What an event counts in detail is set in sub-registers that all counters share. Two
 * events that need different settings of one take turns; different parts of one
 * register do not get in each other's way.
 *
 *	event		what to count: inc_sel, or 0x20 + set_flag_sel for the cycles
 *			spent in a state
 *
 * The other fields, their values and the events that take them are in
 * Documentation/mbox.md.
 *
 * Uncore Programming Guide, section 2.7. Much of it could not be read; what is
 * inferred is listed in Documentation/mbox.md.
 */
#include <linux/bitfield.h>

#include "decode.h"
#include "xeon7500/mbox.h"

/* DSP to ZDP_CTL_FVC stand in a row, then the address match set. */
#define MBOX_REG(r)	(M_MSR_PMU_##r - M_MSR_PMU_DSP)
#define MBOX_REG_MM	(MBOX_REG(ZDP_CTL_FVC) + 1)

static unsigned int mbox_subreg_msr(unsigned int instance, unsigned int reg)
{
	if (reg < MBOX_REG_MM)
		return (instance ? M1_MSR_PMU_BASE : M0_MSR_PMU_BASE) + M_MSR_PMU_DSP + reg;
	return (instance ? M1_MSR_PMU_MM_CFG : M0_MSR_PMU_MM_CFG) + reg - MBOX_REG_MM;
}

/* Parts of sub-registers that are set independently of each other */
enum {
	MBOX_SLOT_DSP,
	MBOX_SLOT_FRM,
	MBOX_SLOT_SCHED,
	MBOX_SLOT_PLD_SCHED,
	MBOX_SLOT_SCHED_SEL,
	MBOX_SLOT_MAP_CMD,
	MBOX_SLOT_MAP_FVID,
	MBOX_SLOT_THR_DIMM,
	MBOX_SLOT_THR_UP,
	MBOX_SLOT_THR_DN,
	MBOX_SLOT_PGT_EV,
	MBOX_SLOT_PGT_STATE,
	MBOX_SLOT_PGT_EV2,
	MBOX_SLOT_PLD_CMD,
	MBOX_SLOT_PLD_RTRY,
	MBOX_SLOT_PLD_SEL2,
	MBOX_SLOT_FVC_FVID,
	MBOX_SLOT_FVC_BCMD,
	MBOX_SLOT_FVC_RESP,
	MBOX_SLOT_FVC_EVNT,	/* four */
	MBOX_SLOT_MM = MBOX_SLOT_FVC_EVNT + 4,
};

#define MBOX_SLOT(r)		{ .reg = MBOX_REG(r), .num_regs = 1 }
#define MBOX_INFERRED(r)	{ .reg = MBOX_REG(r), .num_regs = 1, .inferred = true }
/* Which of the four FVC events it is depends on the slot. */
#define MBOX_SLOT_EVNT(n, _alike)						\
	{ .reg = MBOX_REG(ZDP_CTL_FVC), .num_regs = 1, .alike = (_alike),	\
	  .shift = __bf_shf(M_FVC_EVNT##n) - __bf_shf(M_FVC_EVNT0),		\
	  .ctl = (M_INC_SEL_FVC_EV0 + (n)) << __bf_shf(M_CNT_CTL_INC_SEL) }

static const struct uncore_slot_desc mbox_slots[] = {
	[MBOX_SLOT_DSP]		= MBOX_SLOT(DSP),
	[MBOX_SLOT_FRM]		= MBOX_SLOT(ISS),
	[MBOX_SLOT_SCHED ... MBOX_SLOT_SCHED_SEL] = MBOX_INFERRED(ISS),
	[MBOX_SLOT_MAP_CMD]	= MBOX_SLOT(MAP),
	[MBOX_SLOT_MAP_FVID]	= MBOX_INFERRED(MAP),
	[MBOX_SLOT_THR_DIMM ... MBOX_SLOT_THR_UP] = MBOX_INFERRED(MSC_THR),
	/* What goes to THR_UP for one event goes here for the other. */
	[MBOX_SLOT_THR_DN]	= { .reg = MBOX_REG(MSC_THR), .num_regs = 1, .inferred = true,
				    .shift = __bf_shf(M_MSC_THR_TRP_PT_DN_CND) -
					     __bf_shf(M_MSC_THR_TRP_PT_UP_CND) },
	[MBOX_SLOT_PGT_EV ... MBOX_SLOT_PGT_EV2] = MBOX_INFERRED(PGT),
	[MBOX_SLOT_PLD_CMD ... MBOX_SLOT_PLD_SEL2] = MBOX_INFERRED(PLD),
	[MBOX_SLOT_FVC_FVID ... MBOX_SLOT_FVC_RESP] = MBOX_SLOT(ZDP_CTL_FVC),
	[MBOX_SLOT_FVC_EVNT]	= MBOX_SLOT_EVNT(0, 4), MBOX_SLOT_EVNT(1, 0),
				  MBOX_SLOT_EVNT(2, 0), MBOX_SLOT_EVNT(3, 0),
	[MBOX_SLOT_MM]		= { .reg = MBOX_REG_MM, .num_regs = 3, .guarded = true,
				    .inferred = true },
};

static const struct uncore_subregs mbox_subregs = {
	.slots		= mbox_slots,
	.num_slots	= ARRAY_SIZE(mbox_slots),
	.num_regs	= MBOX_REG_MM + 3,
	.msr		= mbox_subreg_msr,
};

/* The fields of one event are neighbours. Those of E7 have places of their own, if any. */
enum {
	MBOX_EVENT,
	MBOX_FVC_EVNT,
	MBOX_FVC_BCMD,
	MBOX_FVC_RESP,
	MBOX_FVC_FVID,
	MBOX_E7_FVC_EVNT,
	MBOX_E7_FVC_BCMD,
	MBOX_E7_FVC_RESP,
	MBOX_E7_FVC_FVID,
	MBOX_PLD_CMD,
	MBOX_PLD_MODE_QUAL,
	MBOX_PLD_SCHED_MODE,
	MBOX_MATCH_ADDR,
	MBOX_MASK_ADDR,
	MBOX_PLD_RTRY_SNGL_FVID,
	MBOX_PLD_FVID,
	MBOX_E7_PLD_SEL2,
	MBOX_E7_PLD_CMD2,
	MBOX_E7_PLD_RTRY_SNGL_FVID,
	MBOX_E7_PLD_FVID,
	MBOX_DSP_FILL_STATE,
	MBOX_ISS_FRM_TYPE,
	MBOX_ISS_SCHED_MODE,
	MBOX_E7_ISS_SCHED_SEL,
	MBOX_MAP_CMD,
	MBOX_MAP_FVID,
	MBOX_E7_MAP_CMD,
	MBOX_E7_MAP_FVID,
	MBOX_THR_ALL_DIMMS,
	MBOX_THR_DIMM,
	MBOX_THR_CND,
	MBOX_PGT_PAGE_EV,
	MBOX_PGT_PAGE_STATE,
	MBOX_E7_PGT_PAGE_EV2,
};

#define MBOX_TO(slot, bits)	UNCORE_SLOT(MBOX_SLOT_##slot, 0, bits)

/* Of one model; for E7, the index is wider and what is above it higher. */
#define MBOX_NHM	.models = UNCORE_NEHALEM_EX
#define MBOX_WSM	.models = UNCORE_WESTMERE_EX

#define MBOX_FVC_BBOX_CMDS	5
#define MBOX_FVC_BBOX_RSP	6

/* The commands and frame types that have a name below */
#define MBOX_DRAM_CMDS	(GENMASK(0x07, 0x00) | GENMASK(0x0c, 0x09) | GENMASK(0x12, 0x10) | \
			 GENMASK(0x15, 0x14) | BIT(0x17) | GENMASK(0x1e, 0x1c))
#define MBOX_FRM_TYPES	(GENMASK(3, 0) | BIT(8) | BIT(12))

static const struct uncore_field mbox_fields[] = {
	[MBOX_EVENT]		= { "event",		0, 0, 5 },
	/* The first that claims a slot, for mbox_finish(). */
	[MBOX_FVC_EVNT]		= { "fvc_evnt",		0, 19, 21, MBOX_TO(FVC_EVNT, M_FVC_EVNT0),
			MBOX_NHM },
	[MBOX_FVC_BCMD]		= { "fvc_bcmd",		0, 13, 15, MBOX_TO(FVC_BCMD, M_FVC_BCMD),
			.if_field = MBOX_FVC_EVNT, .if_values = BIT(MBOX_FVC_BBOX_CMDS),
			MBOX_NHM },
	[MBOX_FVC_RESP]		= { "fvc_resp",		0, 16, 18, MBOX_TO(FVC_RESP, M_FVC_RESP),
			.valid = GENMASK(7, 0) & ~BIT(6),
			.if_field = MBOX_FVC_EVNT, .if_values = BIT(MBOX_FVC_BBOX_RSP),
			MBOX_NHM },
	[MBOX_FVC_FVID]		= { "fvc_fvid",		0, 8, 12, MBOX_TO(FVC_FVID, M_FVC_FVID),
			MBOX_NHM },
	[MBOX_E7_FVC_EVNT]	= { "fvc_evnt",		0, 19, 21,
			MBOX_TO(FVC_EVNT, M_E7_FVC_EVNT0), MBOX_WSM },
	[MBOX_E7_FVC_BCMD]	= { "fvc_bcmd",		0, 13, 15,
			MBOX_TO(FVC_BCMD, M_E7_FVC_BCMD), MBOX_WSM,
			.if_field = MBOX_E7_FVC_EVNT, .if_values = BIT(MBOX_FVC_BBOX_CMDS) },
	[MBOX_E7_FVC_RESP]	= { "fvc_resp",		0, 16, 18,
			MBOX_TO(FVC_RESP, M_E7_FVC_RESP), MBOX_WSM,
			.valid = GENMASK(7, 0) & ~BIT(6),
			.if_field = MBOX_E7_FVC_EVNT, .if_values = BIT(MBOX_FVC_BBOX_RSP) },
	[MBOX_E7_FVC_FVID]	= { "fvc_fvid",		0, 40, 45,
			MBOX_TO(FVC_FVID, M_E7_FVC_FVID), MBOX_WSM },
	[MBOX_PLD_CMD]		= { "pld_cmd",		0, 32, 36, MBOX_TO(PLD_CMD, M_PLD_CMD),
			.valid = MBOX_DRAM_CMDS },
	[MBOX_PLD_MODE_QUAL]	= { "pld_mode_qual",	0, 24, 24,
			MBOX_TO(PLD_CMD, M_PLD_MODE_QUAL) },
	[MBOX_PLD_SCHED_MODE]	= { "pld_sched_mode",	0, 37, 39,
			MBOX_TO(PLD_SCHED, M_ISS_SCHED_MODE_PLD_TRIG), .valid = GENMASK(3, 0) },
	[MBOX_MATCH_ADDR]	= { "match_addr",	2, 0, 27,
			UNCORE_SLOT(MBOX_SLOT_MM, M_MSR_PMU_ADDR_MATCH, M_ADDR_MATCH_ADDR),
			.within = MBOX_MASK_ADDR },
	[MBOX_MASK_ADDR]	= { "mask_addr",	2, 28, 55,
			UNCORE_SLOT(MBOX_SLOT_MM, M_MSR_PMU_ADDR_MASK, M_ADDR_MASK_ADDR) },
	[MBOX_PLD_RTRY_SNGL_FVID] = { "pld_rtry_sngl_fvid", 0, 31, 31,
			MBOX_TO(PLD_RTRY, M_PLD_RTRY_SNGL_FVID), MBOX_NHM },
	[MBOX_PLD_FVID]		= { "pld_fvid",		0, 25, 29, MBOX_TO(PLD_RTRY, M_PLD_FVID),
			.if_field = MBOX_PLD_RTRY_SNGL_FVID, .if_values = BIT(1), MBOX_NHM },
	[MBOX_E7_PLD_SEL2]	= { "pld_sel2",		0, 46, 48, MBOX_TO(PLD_SEL2, M_PLD_SEL2),
			.valid = BIT(0) | BIT(1) | BIT(2) | BIT(4), MBOX_WSM },
	[MBOX_E7_PLD_CMD2]	= { "pld_cmd2",		0, 49, 53, MBOX_TO(PLD_SEL2, M_PLD_CMD2),
			.valid = MBOX_DRAM_CMDS, MBOX_WSM,
			.if_field = MBOX_E7_PLD_SEL2, .if_values = BIT(1) },
	[MBOX_E7_PLD_RTRY_SNGL_FVID] = { "pld_rtry_sngl_fvid", 0, 31, 31,
			MBOX_TO(PLD_RTRY, M_PLD_RTRY_SNGL_FVID), MBOX_WSM,
			.if_field = MBOX_E7_PLD_SEL2, .if_values = BIT(0) },
	[MBOX_E7_PLD_FVID]	= { "pld_fvid",		0, 25, 30, MBOX_TO(PLD_RTRY, M_PLD_FVID),
			.if_field = MBOX_E7_PLD_RTRY_SNGL_FVID, .if_values = BIT(1), MBOX_WSM },
	[MBOX_DSP_FILL_STATE]	= { "dsp_fill_state",	1, 0, 3, MBOX_TO(DSP, M_DSP_FILL_STATE),
			.valid = BIT(1) | BIT(2) | BIT(4) | BIT(8) },
	[MBOX_ISS_FRM_TYPE]	= { "iss_frm_type",	1, 8, 11, MBOX_TO(FRM, M_ISS_FRM_TYPE),
			.valid = MBOX_FRM_TYPES },
	[MBOX_ISS_SCHED_MODE]	= { "iss_sched_mode",	1, 12, 14, MBOX_TO(SCHED, M_ISS_SCHED_MODE),
			.valid = GENMASK(3, 0) },
	[MBOX_E7_ISS_SCHED_SEL]	= { "iss_sched_sel",	1, 15, 15,
			MBOX_TO(SCHED_SEL, M_ISS_SCHED_SEL), MBOX_WSM },
	[MBOX_MAP_CMD]		= { "map_cmd",		1, 21, 24, MBOX_TO(MAP_CMD, M_MAP_CMD),
			.valid = GENMASK(8, 0), MBOX_NHM },
	[MBOX_MAP_FVID]		= { "map_fvid",		1, 16, 20, MBOX_TO(MAP_FVID, M_MAP_FVID),
			MBOX_NHM },
	[MBOX_E7_MAP_CMD]	= { "map_cmd",		1, 21, 24, MBOX_TO(MAP_CMD, M_E7_MAP_CMD),
			.valid = GENMASK(8, 0), MBOX_WSM },
	[MBOX_E7_MAP_FVID]	= { "map_fvid",		1, 26, 31,
			MBOX_TO(MAP_FVID, M_E7_MAP_FVID), MBOX_WSM },
	[MBOX_THR_ALL_DIMMS]	= { "thr_all_dimms",	1, 32, 32,
			MBOX_TO(THR_DIMM, M_MSC_THR_ALL_DIMMS) },
	[MBOX_THR_DIMM]		= { "thr_dimm",		1, 33, 35,
			MBOX_TO(THR_DIMM, M_MSC_THR_DIMM_SEL), .valid = GENMASK(4, 1),
			.if_field = MBOX_THR_ALL_DIMMS, .if_values = BIT(0) },
	[MBOX_THR_CND]		= { "thr_cnd",		1, 36, 37,
			MBOX_TO(THR_UP, M_MSC_THR_TRP_PT_UP_CND) },
	[MBOX_PGT_PAGE_EV]	= { "pgt_page_ev",	1, 40, 40,
			MBOX_TO(PGT_EV, M_PGT_PAGE_EV_SEL) },
	[MBOX_PGT_PAGE_STATE]	= { "pgt_page_state",	1, 41, 41,
			MBOX_TO(PGT_STATE, M_PGT_PAGE_STATE) },
	[MBOX_E7_PGT_PAGE_EV2]	= { "pgt_page_ev2",	1, 42, 42,
			MBOX_TO(PGT_EV2, M_PGT_PAGE_EV2_SEL), MBOX_WSM },
	{}
};

#define MBOX_F_FVC	GENMASK_ULL(MBOX_E7_FVC_FVID, MBOX_FVC_EVNT)
#define MBOX_F_CMD	GENMASK_ULL(MBOX_MASK_ADDR, MBOX_PLD_CMD)
#define MBOX_F_RETRY	GENMASK_ULL(MBOX_E7_PLD_FVID, MBOX_PLD_RTRY_SNGL_FVID)
#define MBOX_F_DSP	BIT_ULL(MBOX_DSP_FILL_STATE)
#define MBOX_F_MAP	GENMASK_ULL(MBOX_E7_MAP_FVID, MBOX_MAP_CMD)
#define MBOX_F_THR	GENMASK_ULL(MBOX_THR_CND, MBOX_THR_ALL_DIMMS)

/* Event codes: inc_sel, or with this bit set_flag_sel */
#define MBOX_FLAG		0x20
#define MBOX_EV_THERM_TRP_DN	0x05
#define MBOX_EV_FVC		M_INC_SEL_FVC_EV0	/* and the next three */

#define MBOX_FILL(name, state)	{ name, .terms = "dsp_fill_state=" #state }

static const struct uncore_umask mbox_fill_states[] = {
	MBOX_FILL("rdq_full", 0x1), MBOX_FILL("wrq_full", 0x2),
	MBOX_FILL("rdq_empty", 0x4), MBOX_FILL("wrq_empty", 0x8),
	{}
};

/* From entry @at of the table on */
#define MBOX_TRIPS(at, name, dimm, n)						\
	[at] =	{ #name ".gt_mid_rise", .terms = #dimm "=" #n ",thr_cnd=3" },		\
		{ #name ".gt_mid_fall", .terms = #dimm "=" #n ",thr_cnd=2" },		\
		{ #name ".gt_lo", .terms = #dimm "=" #n ",thr_cnd=1" },		\
		{ #name ".lt_lo", .terms = #dimm "=" #n ",thr_cnd=0" }

static const struct uncore_umask mbox_trips[] = {
	MBOX_TRIPS(0, all, thr_all_dimms, 1),
	MBOX_TRIPS(4, dimm0, thr_dimm, 1), MBOX_TRIPS(8, dimm1, thr_dimm, 2),
	MBOX_TRIPS(12, dimm2, thr_dimm, 3), MBOX_TRIPS(16, dimm3, thr_dimm, 4),
	{}
};

#define MBOX_CMD(name, cmd)	{ name, .terms = "pld_cmd=" #cmd }
/* The source of these leaves the qualifier off, see Documentation/mbox.md. */
#define MBOX_ALL_IN(name, mode)	{ name, .terms = "pld_cmd=0x00,pld_sched_mode=" #mode }
#define MBOX_CMDS(at, name, cmd)							\
	[at] =	{ #name, .terms = "pld_cmd=" #cmd },					\
		{ #name ".trdoff", .terms = "pld_cmd=" #cmd ",pld_mode_qual=1,pld_sched_mode=0" }, \
		{ #name ".rdprio", .terms = "pld_cmd=" #cmd ",pld_mode_qual=1,pld_sched_mode=1" }, \
		{ #name ".wrprio", .terms = "pld_cmd=" #cmd ",pld_mode_qual=1,pld_sched_mode=2" }, \
		{ #name ".adaptive", .terms = "pld_cmd=" #cmd ",pld_mode_qual=1,pld_sched_mode=3" }

static const struct uncore_umask mbox_dram_cmds[] = {
	MBOX_CMD("illegal", 0x00),
	MBOX_CMD("all", 0x00),
	MBOX_ALL_IN("all.trdoff", 0), MBOX_ALL_IN("all.rdprio", 1),
	MBOX_ALL_IN("all.wrprio", 2), MBOX_ALL_IN("all.adaptive", 3),
	MBOX_CMDS(6, preall, 0x01), MBOX_CMDS(11, ras, 0x02),
	MBOX_CMDS(16, cas_rd_opn, 0x03), MBOX_CMDS(21, cas_wr_opn, 0x04),
	MBOX_CMDS(26, cas_rd_cls, 0x05), MBOX_CMDS(31, cas_wr_cls, 0x06),
	MBOX_CMD("mrs", 0x07),
	MBOX_CMD("rfr", 0x09),
	MBOX_CMD("ensr", 0x0a),
	MBOX_CMD("exsr", 0x0b),
	MBOX_CMD("nop", 0x0c),
	MBOX_CMD("trkl", 0x10),
	MBOX_CMD("pre", 0x11),
	MBOX_CMD("sync", 0x12),
	MBOX_CMD("cke_hi", 0x14),
	MBOX_CMD("cke_lo", 0x15),
	MBOX_CMD("soft_rst", 0x17),
	MBOX_CMD("wr_cfg", 0x1c),
	MBOX_CMD("rd_cfg", 0x1d),
	MBOX_CMD("zqcal", 0x1e),
	{}
};

/* A second command, counted beside that of dram_cmd */
#define MBOX_CMD2(name, cmd)	{ name, .terms = "pld_sel2=1,pld_cmd2=" #cmd }

static const struct uncore_umask mbox_dram_misc[] = {
	{ "retries_all", .terms = "pld_sel2=0" },
	{ "retries_fvid", .terms = "pld_sel2=0,pld_rtry_sngl_fvid=1" },
	{ "valid", .terms = "pld_sel2=2" },
	{ "non_nop_trkl", .terms = "pld_sel2=4" },
	MBOX_CMD2("illegal", 0x00), MBOX_CMD2("preall", 0x01), MBOX_CMD2("ras", 0x02),
	MBOX_CMD2("cas_rd_opn", 0x03), MBOX_CMD2("cas_wr_opn", 0x04),
	MBOX_CMD2("cas_rd_cls", 0x05), MBOX_CMD2("cas_wr_cls", 0x06), MBOX_CMD2("mrs", 0x07),
	MBOX_CMD2("rfr", 0x09), MBOX_CMD2("ensr", 0x0a), MBOX_CMD2("exsr", 0x0b),
	MBOX_CMD2("nop", 0x0c), MBOX_CMD2("trkl", 0x10), MBOX_CMD2("pre", 0x11),
	MBOX_CMD2("sync", 0x12), MBOX_CMD2("cke_hi", 0x14), MBOX_CMD2("cke_lo", 0x15),
	MBOX_CMD2("soft_rst", 0x17), MBOX_CMD2("wr_cfg", 0x1c), MBOX_CMD2("rd_cfg", 0x1d),
	MBOX_CMD2("zqcal", 0x1e),
	{}
};

#define MBOX_FRM(name, type)	{ name, .terms = "iss_frm_type=" #type }
#define MBOX_FVC_EV(name, evnt)	{ name, .terms = "fvc_evnt=" #evnt }
#define MBOX_BCMD(name, bcmd)	{ name, .terms = "fvc_evnt=5,fvc_bcmd=" #bcmd }
#define MBOX_RSP(name, resp)	{ name, .terms = "fvc_evnt=6,fvc_resp=" #resp }

static const struct uncore_umask mbox_fvc[] = {
	MBOX_FVC_EV("smi_crc_err", 0), MBOX_FVC_EV("mem_ecc_err", 1),
	MBOX_FVC_EV("poison_txn", 2), MBOX_FVC_EV("alert_frames", 3),
	MBOX_FVC_EV("fast_reset", 4), MBOX_FVC_EV("smi_nb_trig", 7),
	MBOX_BCMD("bbox_cmds.reads", 0), MBOX_BCMD("bbox_cmds.writes", 1),
	MBOX_BCMD("bbox_cmds.merge", 2), MBOX_BCMD("bbox_cmds.v2f", 3),
	MBOX_BCMD("bbox_cmds.v2v", 4), MBOX_BCMD("bbox_cmds.f2v", 5),
	MBOX_BCMD("bbox_cmds.f2b", 6), MBOX_BCMD("bbox_cmds.sprwr", 7),
	MBOX_RSP("bbox_rsp.ack", 0), MBOX_RSP("bbox_rsp.retry", 1),
	MBOX_RSP("bbox_rsp.cor", 2), MBOX_RSP("bbox_rsp.uncor", 3),
	MBOX_RSP("bbox_rsp.spec_ack", 4), MBOX_RSP("bbox_rsp.spr_ack", 5),
	MBOX_RSP("bbox_rsp.spr_uncor", 7),
	{}
};

#define MBOX_MAP(name, cmd)	{ name, .terms = "map_cmd=" #cmd }
#define MBOX_MODE(name, mode)	{ name, .terms = "iss_sched_mode=" #mode }

/* Table 2-84 */
static const struct uncore_event_desc mbox_events[] = {
	{ "dsp_fill",		0x00, mbox_fill_states, .filters = MBOX_F_DSP },
	{ "cycles_mfull",	0x01 },
	{ "retry_mfull",	0x02 },
	{ "retry_starve",	0x03 },
	{ "therm_trp_up",	0x04, mbox_trips, .filters = MBOX_F_THR },
	{ "therm_trp_dn",	MBOX_EV_THERM_TRP_DN, mbox_trips, .filters = MBOX_F_THR },
	{ "refresh",		0x06 },
	{ "refresh_conflict",	0x07 },
	{ "sched_mode_changes",	0x08, MBOX_NHM },
	{ "iss_sched",		0x08,
	  UNCORE_UMASKS({ "changes", .terms = "iss_sched_sel=0" },
			{ "frame_beat", .terms = "iss_sched_sel=1" }),
	  .filters = BIT_ULL(MBOX_E7_ISS_SCHED_SEL), UNCORE_WESTMERE_ONLY },
	{ "sched_mode_changes",	0x08, .terms = "iss_sched_sel=0", UNCORE_WESTMERE_ONLY },
	{ "frm_type",		0x09,
	  UNCORE_UMASKS(MBOX_FRM("3cmd", 0), MBOX_FRM("wdat", 1), MBOX_FRM("sync", 2),
			MBOX_FRM("chnl", 3), MBOX_FRM("nop", 8), MBOX_FRM("1cmd", 12)),
	  .filters = BIT_ULL(MBOX_ISS_FRM_TYPE) },
	{ "dram_cmd",		0x0a, mbox_dram_cmds, .filters = MBOX_F_CMD },
	{ "retries",		0x0b,
	  UNCORE_UMASKS({ "all" }, { "fvid", .terms = "pld_rtry_sngl_fvid=1" }),
	  .filters = MBOX_F_RETRY, .slots = BIT(MBOX_SLOT_MM), MBOX_NHM },
	{ "dram_misc",		0x0b, mbox_dram_misc,
	  .filters = MBOX_F_RETRY, .slots = BIT(MBOX_SLOT_MM), UNCORE_WESTMERE_ONLY },
	{ "retries",		0x0b,
	  UNCORE_UMASKS({ "all", .terms = "pld_sel2=0" },
			{ "fvid", .terms = "pld_sel2=0,pld_rtry_sngl_fvid=1" }),
	  UNCORE_WESTMERE_ONLY },
	{ "ma_par_err",		0x0c },
	/* Interchangeable, so we take whichever is free ... */
	{ "fvc_ev0",		MBOX_EV_FVC + 0, mbox_fvc, .filters = MBOX_F_FVC },
	{ "fvc_ev1",		MBOX_EV_FVC + 1, mbox_fvc, .filters = MBOX_F_FVC },
	{ "fvc_ev2",		MBOX_EV_FVC + 2, mbox_fvc, .filters = MBOX_F_FVC },
	{ "fvc_ev3",		MBOX_EV_FVC + 3, mbox_fvc, .filters = MBOX_F_FVC },
	/* ... and nobody has to know the number */
	{ "smi_crc_err",	MBOX_EV_FVC, .terms = "fvc_evnt=0" },
	{ "mem_ecc_err",	MBOX_EV_FVC, .terms = "fvc_evnt=1" },
	{ "poison_txn",		MBOX_EV_FVC, .terms = "fvc_evnt=2" },
	{ "alert_frames",	MBOX_EV_FVC, .terms = "fvc_evnt=3" },
	{ "fast_reset",		MBOX_EV_FVC, .terms = "fvc_evnt=4" },
	{ "bbox_cmds",		MBOX_EV_FVC,
	  UNCORE_UMASKS(MBOX_BCMD("reads", 0), MBOX_BCMD("writes", 1), MBOX_BCMD("merge", 2),
			MBOX_BCMD("v2f", 3), MBOX_BCMD("v2v", 4), MBOX_BCMD("f2v", 5),
			MBOX_BCMD("f2b", 6), MBOX_BCMD("sprwr", 7)) },
	{ "bbox_rsp",		MBOX_EV_FVC,
	  UNCORE_UMASKS(MBOX_RSP("ack", 0), MBOX_RSP("retry", 1), MBOX_RSP("cor", 2),
			MBOX_RSP("uncor", 3), MBOX_RSP("spec_ack", 4),
			MBOX_RSP("spr_ack", 5), MBOX_RSP("spr_uncor", 7)) },
	{ "smi_nb_trig",	MBOX_EV_FVC, .terms = "fvc_evnt=7" },
	{ "patrol_txns",	0x11 },
	{ "trans_cmds",		0x12 },
	{ "page_miss",		0x13 },
	{ "page_hit",		0x14 },
	{ "page_empty",		0x15, MBOX_NHM },
	{ "pgt_page_ev2",	0x15,
	  UNCORE_UMASKS({ "auto_cls", .terms = "pgt_page_ev2=0" },
			{ "page_empty", .terms = "pgt_page_ev2=1" }),
	  .filters = BIT_ULL(MBOX_E7_PGT_PAGE_EV2), UNCORE_WESTMERE_ONLY },
	{ "page_empty",		0x15, .terms = "pgt_page_ev2=1", UNCORE_WESTMERE_ONLY },
	{ "pgt_page_ev",	0x16,
	  UNCORE_UMASKS({ "opn2cls", .terms = "pgt_page_ev=0" },
			{ "cls2opn", .terms = "pgt_page_ev=1" }),
	  .filters = BIT_ULL(MBOX_PGT_PAGE_EV) },
	{ "multicas",		0x17 },
	{ "fvid_race",		0x18 },
	{ "tt_cmd_conflict",	0x19 },
	{ "bbox_cmds_all",	0x1a },
	{ "cycles",		0x1b },
	{ "sched_inflight_cmds", 0x1c },
	{ "inflight_cmds",	0x1d },

	/* Time spent in a state */
	{ "cycles_dsp_fill",	MBOX_FLAG, mbox_fill_states, .filters = MBOX_F_DSP },
	{ "cycles_sched_mode",	MBOX_FLAG + 0x1,
	  UNCORE_UMASKS(MBOX_MODE("tradeoff", 0), MBOX_MODE("rdprio", 1),
			MBOX_MODE("wrprio", 2), MBOX_MODE("adaptive", 3)),
	  .filters = BIT_ULL(MBOX_ISS_SCHED_MODE) },
	{ "cycles_retryq_mfull", MBOX_FLAG + 0x3 },
	{ "cycles_retryq_starved", MBOX_FLAG + 0x4 },
	{ "cycles_pgt_state",	MBOX_FLAG + 0x5,
	  UNCORE_UMASKS({ "closed", .terms = "pgt_page_state=0" },
			{ "open", .terms = "pgt_page_state=1" }),
	  .filters = BIT_ULL(MBOX_PGT_PAGE_STATE) },
	{ "bcmd_schedq_occupancy", MBOX_FLAG + 0x6,
	  UNCORE_UMASKS(MBOX_MAP("reads", 0), MBOX_MAP("writes", 1), MBOX_MAP("merge", 2),
			MBOX_MAP("v2f", 3), MBOX_MAP("v2v", 4), MBOX_MAP("f2v", 5),
			MBOX_MAP("f2b", 6), MBOX_MAP("sprwr", 7), MBOX_MAP("all", 8)),
	  .filters = MBOX_F_MAP },
	{}
};

static u64 mbox_get(const struct perf_event *event, unsigned int field)
{
	return uncore_field_get(&mbox_fields[field], &event->attr);
}

static int mbox_finish(const struct perf_event *event, const struct uncore_event_desc *desc,
		       struct uncore_config *cfg)
{
	if (mbox_get(event, MBOX_PLD_SCHED_MODE) && mbox_get(event, MBOX_PLD_CMD) &&
	    !mbox_get(event, MBOX_PLD_MODE_QUAL))
		return uncore_refuse(event, -EINVAL, "pld_sched_mode without pld_mode_qual");

	cfg->ctl |= M_CNT_CTL_WRAP_MODE;
	if (desc->code & MBOX_FLAG)
		cfg->ctl |= M_CNT_CTL_FLAG_MODE |
			    FIELD_PREP(M_CNT_CTL_SET_FLAG_SEL, desc->code & ~MBOX_FLAG);
	else if (desc->filters & MBOX_F_FVC)	/* the slot says which, but this is preferred */
		cfg->claim.req[0].chosen = desc->code - MBOX_EV_FVC;
	else
		cfg->ctl |= FIELD_PREP(M_CNT_CTL_INC_SEL, desc->code);

	if (desc->code == MBOX_EV_THERM_TRP_DN)
		uncore_config_req(cfg, &mbox_type, MBOX_SLOT_THR_UP)->first = MBOX_SLOT_THR_DN;
	/*
	 * The match set filters whatever PLD selects, so each such event has a say in it,
	 * if only that it is to be off.
	 */
	if (mbox_get(event, MBOX_MASK_ADDR))
		uncore_config_req(cfg, &mbox_type, MBOX_SLOT_MM)->val[0] = M_MM_CFG_EN;
	return 0;
}

static const u16 mbox_base[] = { M0_MSR_PMU_BASE, M1_MSR_PMU_BASE };

static const struct uncore_counter_row mbox_counters[] = {
	UNCORE_COUNTERS_6(M_MSR_PMU_CNT_CTL, M_MSR_PMU_CNT, M_CNT_CTL_EN, M_CNT_CTL_PMI_EN)
};

const struct uncore_box_type mbox_type = {
	.name		= "mbox",
	.first		= UNCORE_MBOX,
	.num_boxes	= ARRAY_SIZE(mbox_base),
	.base		= mbox_base,
	.box_ctl	= M_MSR_PERF_GLOBAL_CTL,
	.counters	= mbox_counters,
	.num_counters	= ARRAY_SIZE(mbox_counters),
	.fields		= mbox_fields,
	.common		= BIT(MBOX_EVENT),
	.events		= mbox_events,
	.finish		= mbox_finish,
	.subregs	= &mbox_subregs,
};
