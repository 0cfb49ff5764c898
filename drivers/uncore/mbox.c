// SPDX-License-Identifier: GPL-2.0-only
/*
 * Xeon 7500 M-Boxes: the memory controllers. Six counters each, any event on any.
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
 *	fvc_evnt	events 0x0d to 0x10, which are alike: 0 SMI CRC error, 1 memory
 *			ECC error, 2 poisoned transaction, 3 alert frame, 4 fast reset,
 *			5 command, 6 response, 7 northbound trigger
 *	fvc_bcmd	which command, as map_cmd
 *	fvc_resp	which response: 0 ack, 1 retry, 2 corrected, 3 uncorrected,
 *			4 speculative ack, 5 ack and 7 uncorrected while sparing
 *	fvc_fvid	fill/victim index
 *	pld_cmd		dram_cmd: which DRAM command, 0 for all
 *	pld_mode_qual	dram_cmd: only in the mode
 *	pld_sched_mode	of the scheduler, as iss_sched_mode
 *	match_addr	dram_cmd: address, in cache lines (33:6)
 *	mask_addr	and its bits that have to match
 *	pld_rtry_sngl_fvid	retries: only those of the fill/victim index
 *	pld_fvid	given here
 *	dsp_fill_state	0x1 read queue full, 0x2 write queue full, 0x4 and 0x8 empty
 *	iss_frm_type	0 3CMD, 1 WDAT, 2 SYNC, 3 CHNL, 8 NOP, 12 1CMD
 *	iss_sched_mode	0 trade-off, 1 read priority, 2 write priority, 3 adaptive
 *	map_cmd		0 read, 1 write, 2 merge, 3 V2F, 4 V2V, 5 F2V, 6 F2B, 7 sparing
 *			write, 8 any
 *	map_fvid	fill/victim index
 *	thr_all_dimms	any DIMM, or
 *	thr_dimm	DIMM n - 1
 *	thr_cnd		0 below low, 1 above low, 2 and 3 above middle, falling, rising
 *	pgt_page_ev	0 open to closed, 1 closed to open
 *	pgt_page_state	0 closed, 1 open
 *
 * Uncore Programming Guide, section 2.7. Much of it could not be read; what is
 * inferred is listed in Documentation/mbox.md.
 */
#include <linux/bitfield.h>

#include "uncore.h"
#include "xeon7500/mbox.h"

enum {
	MBOX_EVENT,
	MBOX_NUM_COMMON,
	MBOX_FVC_FVID = MBOX_NUM_COMMON,
	MBOX_FVC_BCMD,
	MBOX_FVC_RESP,
	MBOX_FVC_EVNT,
	MBOX_PLD_MODE_QUAL,
	MBOX_PLD_FVID,
	MBOX_PLD_RTRY_SNGL_FVID,
	MBOX_PLD_CMD,
	MBOX_PLD_SCHED_MODE,
	MBOX_DSP_FILL_STATE,
	MBOX_ISS_FRM_TYPE,
	MBOX_ISS_SCHED_MODE,
	MBOX_MAP_FVID,
	MBOX_MAP_CMD,
	MBOX_THR_ALL_DIMMS,
	MBOX_THR_DIMM,
	MBOX_THR_CND,
	MBOX_PGT_PAGE_EV,
	MBOX_PGT_PAGE_STATE,
	MBOX_MATCH_ADDR,
	MBOX_MASK_ADDR,
};

static const struct uncore_field mbox_fields[] = {
	[MBOX_EVENT]			= { "event",			0, 0, 5 },
	[MBOX_FVC_FVID]			= { "fvc_fvid",			0, 8, 12 },
	[MBOX_FVC_BCMD]			= { "fvc_bcmd",			0, 13, 15 },
	[MBOX_FVC_RESP]			= { "fvc_resp",			0, 16, 18 },
	[MBOX_FVC_EVNT]			= { "fvc_evnt",			0, 19, 21 },
	[MBOX_PLD_MODE_QUAL]		= { "pld_mode_qual",		0, 24, 24 },
	[MBOX_PLD_FVID]			= { "pld_fvid",			0, 25, 29 },
	[MBOX_PLD_RTRY_SNGL_FVID]	= { "pld_rtry_sngl_fvid",	0, 31, 31 },
	[MBOX_PLD_CMD]			= { "pld_cmd",			0, 32, 36 },
	[MBOX_PLD_SCHED_MODE]		= { "pld_sched_mode",		0, 37, 39 },
	[MBOX_DSP_FILL_STATE]		= { "dsp_fill_state",		1, 0, 3 },
	[MBOX_ISS_FRM_TYPE]		= { "iss_frm_type",		1, 8, 11 },
	[MBOX_ISS_SCHED_MODE]		= { "iss_sched_mode",		1, 12, 14 },
	[MBOX_MAP_FVID]			= { "map_fvid",			1, 16, 20 },
	[MBOX_MAP_CMD]			= { "map_cmd",			1, 21, 24 },
	[MBOX_THR_ALL_DIMMS]		= { "thr_all_dimms",		1, 32, 32 },
	[MBOX_THR_DIMM]			= { "thr_dimm",			1, 33, 35 },
	[MBOX_THR_CND]			= { "thr_cnd",			1, 36, 37 },
	[MBOX_PGT_PAGE_EV]		= { "pgt_page_ev",		1, 40, 40 },
	[MBOX_PGT_PAGE_STATE]		= { "pgt_page_state",		1, 41, 41 },
	[MBOX_MATCH_ADDR]		= { "match_addr",		2, 0, 27 },
	[MBOX_MASK_ADDR]		= { "mask_addr",		2, 28, 55 },
	{}
};

#define MBOX_F_DSP	BIT(MBOX_DSP_FILL_STATE)
#define MBOX_F_FRM	BIT(MBOX_ISS_FRM_TYPE)
#define MBOX_F_SCHED	BIT(MBOX_ISS_SCHED_MODE)
#define MBOX_F_MAP	(BIT(MBOX_MAP_CMD) | BIT(MBOX_MAP_FVID))
#define MBOX_F_THR	(BIT(MBOX_THR_ALL_DIMMS) | BIT(MBOX_THR_DIMM) | BIT(MBOX_THR_CND))
#define MBOX_F_PGT_EV	BIT(MBOX_PGT_PAGE_EV)
#define MBOX_F_PGT	BIT(MBOX_PGT_PAGE_STATE)
#define MBOX_F_CMD	(BIT(MBOX_PLD_CMD) | BIT(MBOX_PLD_MODE_QUAL) |	\
			 BIT(MBOX_PLD_SCHED_MODE) |			\
			 BIT(MBOX_MATCH_ADDR) | BIT(MBOX_MASK_ADDR))
#define MBOX_F_RETRY	(BIT(MBOX_PLD_RTRY_SNGL_FVID) | BIT(MBOX_PLD_FVID))
#define MBOX_F_FVC	(BIT(MBOX_FVC_EVNT) | BIT(MBOX_FVC_BCMD) |	\
			 BIT(MBOX_FVC_RESP) | BIT(MBOX_FVC_FVID))

/* Event codes: inc_sel, or with this bit set_flag_sel */
#define MBOX_FLAG	0x20

enum {
	MBOX_EV_DSP_FILL		= 0x00,
	MBOX_EV_THERM_TRP_UP		= 0x04,
	MBOX_EV_THERM_TRP_DN		= 0x05,
	MBOX_EV_FRM_TYPE		= 0x09,
	MBOX_EV_DRAM_CMD		= 0x0a,
	MBOX_EV_RETRIES			= 0x0b,
	MBOX_EV_FVC			= M_INC_SEL_FVC_EV0,
	MBOX_EV_FVC_LAST		= MBOX_EV_FVC + 3,
	MBOX_EV_PGT_PAGE_EV		= 0x16,
	MBOX_EV_CYCLES_DSP_FILL		= MBOX_FLAG + 0x0,
	MBOX_EV_CYCLES_SCHED_MODE	= MBOX_FLAG + 0x1,
	MBOX_EV_CYCLES_PGT_STATE	= MBOX_FLAG + 0x5,
	MBOX_EV_BCMD_SCHEDQ_OCCUPANCY	= MBOX_FLAG + 0x6,
};

#define MBOX_FVC_BBOX_CMDS	5
#define MBOX_FVC_BBOX_RSP	6
#define MBOX_FVC_RESP_NONE	6

static const struct uncore_umask mbox_fill_states[] = {
	{ "rdq_full", .terms = "dsp_fill_state=0x1" },
	{ "wrq_full", .terms = "dsp_fill_state=0x2" },
	{ "rdq_empty", .terms = "dsp_fill_state=0x4" },
	{ "wrq_empty", .terms = "dsp_fill_state=0x8" },
	{}
};

#define MBOX_TRIP(name, dimm, cnd)	{ name, .terms = dimm ",thr_cnd=" #cnd }

static const struct uncore_umask mbox_trips[] = {
	MBOX_TRIP("all.gt_mid_rise", "thr_all_dimms=1", 3),
	MBOX_TRIP("all.gt_mid_fall", "thr_all_dimms=1", 2),
	MBOX_TRIP("all.gt_lo", "thr_all_dimms=1", 1),
	MBOX_TRIP("all.lt_lo", "thr_all_dimms=1", 0),
	MBOX_TRIP("dimm0.gt_mid_rise", "thr_dimm=1", 3),
	MBOX_TRIP("dimm0.gt_mid_fall", "thr_dimm=1", 2),
	MBOX_TRIP("dimm0.gt_lo", "thr_dimm=1", 1),
	MBOX_TRIP("dimm0.lt_lo", "thr_dimm=1", 0),
	MBOX_TRIP("dimm1.gt_mid_rise", "thr_dimm=2", 3),
	MBOX_TRIP("dimm1.gt_mid_fall", "thr_dimm=2", 2),
	MBOX_TRIP("dimm1.gt_lo", "thr_dimm=2", 1),
	MBOX_TRIP("dimm1.lt_lo", "thr_dimm=2", 0),
	MBOX_TRIP("dimm2.gt_mid_rise", "thr_dimm=3", 3),
	MBOX_TRIP("dimm2.gt_mid_fall", "thr_dimm=3", 2),
	MBOX_TRIP("dimm2.gt_lo", "thr_dimm=3", 1),
	MBOX_TRIP("dimm2.lt_lo", "thr_dimm=3", 0),
	MBOX_TRIP("dimm3.gt_mid_rise", "thr_dimm=4", 3),
	MBOX_TRIP("dimm3.gt_mid_fall", "thr_dimm=4", 2),
	MBOX_TRIP("dimm3.gt_lo", "thr_dimm=4", 1),
	MBOX_TRIP("dimm3.lt_lo", "thr_dimm=4", 0),
	{}
};

#define MBOX_CMD(name, cmd)	{ name, .terms = "pld_cmd=" #cmd }
#define MBOX_CMD_IN(name, cmd, mode) \
	{ name, .terms = "pld_cmd=" #cmd ",pld_mode_qual=1,pld_sched_mode=" #mode }
/* The source of these leaves the qualifier off, see Documentation/mbox.md. */
#define MBOX_ALL_IN(name, mode)	{ name, .terms = "pld_cmd=0x00,pld_sched_mode=" #mode }

static const struct uncore_umask mbox_dram_cmds[] = {
	MBOX_CMD("all", 0x00),
	MBOX_ALL_IN("all.trdoff", 0), MBOX_ALL_IN("all.rdprio", 1),
	MBOX_ALL_IN("all.wrprio", 2), MBOX_ALL_IN("all.adaptive", 3),
	MBOX_CMD("illegal", 0x00),
	MBOX_CMD("preall", 0x01),
	MBOX_CMD_IN("preall.trdoff", 0x01, 0), MBOX_CMD_IN("preall.rdprio", 0x01, 1),
	MBOX_CMD_IN("preall.wrprio", 0x01, 2), MBOX_CMD_IN("preall.adaptive", 0x01, 3),
	MBOX_CMD("ras", 0x02),
	MBOX_CMD_IN("ras.trdoff", 0x02, 0), MBOX_CMD_IN("ras.rdprio", 0x02, 1),
	MBOX_CMD_IN("ras.wrprio", 0x02, 2), MBOX_CMD_IN("ras.adaptive", 0x02, 3),
	MBOX_CMD("cas_rd_opn", 0x03),
	MBOX_CMD_IN("cas_rd_opn.trdoff", 0x03, 0), MBOX_CMD_IN("cas_rd_opn.rdprio", 0x03, 1),
	MBOX_CMD_IN("cas_rd_opn.wrprio", 0x03, 2), MBOX_CMD_IN("cas_rd_opn.adaptive", 0x03, 3),
	MBOX_CMD("cas_wr_opn", 0x04),
	MBOX_CMD_IN("cas_wr_opn.trdoff", 0x04, 0), MBOX_CMD_IN("cas_wr_opn.rdprio", 0x04, 1),
	MBOX_CMD_IN("cas_wr_opn.wrprio", 0x04, 2), MBOX_CMD_IN("cas_wr_opn.adaptive", 0x04, 3),
	MBOX_CMD("cas_rd_cls", 0x05),
	MBOX_CMD_IN("cas_rd_cls.trdoff", 0x05, 0), MBOX_CMD_IN("cas_rd_cls.rdprio", 0x05, 1),
	MBOX_CMD_IN("cas_rd_cls.wrprio", 0x05, 2), MBOX_CMD_IN("cas_rd_cls.adaptive", 0x05, 3),
	MBOX_CMD("cas_wr_cls", 0x06),
	MBOX_CMD_IN("cas_wr_cls.trdoff", 0x06, 0), MBOX_CMD_IN("cas_wr_cls.rdprio", 0x06, 1),
	MBOX_CMD_IN("cas_wr_cls.wrprio", 0x06, 2), MBOX_CMD_IN("cas_wr_cls.adaptive", 0x06, 3),
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

/* The commands of that table */
#define MBOX_DRAM_CMDS	(GENMASK(0x07, 0x00) | GENMASK(0x0c, 0x09) | GENMASK(0x12, 0x10) | \
			 GENMASK(0x15, 0x14) | BIT(0x17) | GENMASK(0x1e, 0x1c))

#define MBOX_FRM(name, type)	{ name, .terms = "iss_frm_type=" #type }
#define MBOX_FRM_TYPES	(GENMASK(3, 0) | BIT(8) | BIT(12))

#define MBOX_FVC_EV(name, evnt)	{ name, .terms = "fvc_evnt=" #evnt }
#define MBOX_BCMD(name, bcmd)	{ name, .terms = "fvc_evnt=5,fvc_bcmd=" #bcmd }
#define MBOX_RSP(name, resp)	{ name, .terms = "fvc_evnt=6,fvc_resp=" #resp }

static const struct uncore_umask mbox_fvc[] = {
	MBOX_FVC_EV("smi_crc_err", 0),
	MBOX_FVC_EV("mem_ecc_err", 1),
	MBOX_FVC_EV("poison_txn", 2),
	MBOX_FVC_EV("alert_frames", 3),
	MBOX_FVC_EV("fast_reset", 4),
	MBOX_BCMD("bbox_cmds.reads", 0), MBOX_BCMD("bbox_cmds.writes", 1),
	MBOX_BCMD("bbox_cmds.merge", 2), MBOX_BCMD("bbox_cmds.v2f", 3),
	MBOX_BCMD("bbox_cmds.v2v", 4), MBOX_BCMD("bbox_cmds.f2v", 5),
	MBOX_BCMD("bbox_cmds.f2b", 6), MBOX_BCMD("bbox_cmds.sprwr", 7),
	MBOX_RSP("bbox_rsp.ack", 0), MBOX_RSP("bbox_rsp.retry", 1),
	MBOX_RSP("bbox_rsp.cor", 2), MBOX_RSP("bbox_rsp.uncor", 3),
	MBOX_RSP("bbox_rsp.spec_ack", 4), MBOX_RSP("bbox_rsp.spr_ack", 5),
	MBOX_RSP("bbox_rsp.spr_uncor", 7),
	MBOX_FVC_EV("smi_nb_trig", 7),
	{}
};

#define MBOX_MAP(name, cmd)	{ name, .terms = "map_cmd=" #cmd }
#define MBOX_MAP_ALL		8

/* Table 2-84 */
static const struct uncore_event_desc mbox_events[] = {
	{ "dsp_fill",		MBOX_EV_DSP_FILL, 1, mbox_fill_states, .filters = MBOX_F_DSP },
	{ "cycles_mfull",	0x01, 1 },
	{ "retry_mfull",	0x02, 1 },
	{ "retry_starve",	0x03, 1 },
	{ "therm_trp_up",	MBOX_EV_THERM_TRP_UP, 1, mbox_trips, .filters = MBOX_F_THR },
	{ "therm_trp_dn",	MBOX_EV_THERM_TRP_DN, 1, mbox_trips, .filters = MBOX_F_THR },
	{ "refresh",		0x06, 1 },
	{ "refresh_conflict",	0x07, 1 },
	{ "sched_mode_changes",	0x08, 1 },
	{ "frm_type",		MBOX_EV_FRM_TYPE, 1,
	  UNCORE_UMASKS(MBOX_FRM("3cmd", 0), MBOX_FRM("wdat", 1), MBOX_FRM("sync", 2),
			MBOX_FRM("chnl", 3), MBOX_FRM("nop", 8), MBOX_FRM("1cmd", 12)),
	  .filters = MBOX_F_FRM },
	{ "dram_cmd",		MBOX_EV_DRAM_CMD, 1, mbox_dram_cmds, .filters = MBOX_F_CMD },
	{ "retries",		MBOX_EV_RETRIES, 1,
	  UNCORE_UMASKS({ "all" }, { "fvid", .terms = "pld_rtry_sngl_fvid=1" }),
	  .filters = MBOX_F_RETRY },
	{ "ma_par_err",		0x0c, 1 },
	/* Interchangeable, so we take whichever is free ... */
	{ "fvc_ev0",		MBOX_EV_FVC + 0, 1, mbox_fvc, .filters = MBOX_F_FVC },
	{ "fvc_ev1",		MBOX_EV_FVC + 1, 1, mbox_fvc, .filters = MBOX_F_FVC },
	{ "fvc_ev2",		MBOX_EV_FVC + 2, 1, mbox_fvc, .filters = MBOX_F_FVC },
	{ "fvc_ev3",		MBOX_EV_FVC + 3, 1, mbox_fvc, .filters = MBOX_F_FVC },
	/* ... and nobody has to know the number */
	{ "smi_crc_err",	MBOX_EV_FVC, 1, .terms = "fvc_evnt=0" },
	{ "mem_ecc_err",	MBOX_EV_FVC, 1, .terms = "fvc_evnt=1" },
	{ "poison_txn",		MBOX_EV_FVC, 1, .terms = "fvc_evnt=2" },
	{ "alert_frames",	MBOX_EV_FVC, 1, .terms = "fvc_evnt=3" },
	{ "fast_reset",		MBOX_EV_FVC, 1, .terms = "fvc_evnt=4" },
	{ "bbox_cmds",		MBOX_EV_FVC, 1,
	  UNCORE_UMASKS(MBOX_BCMD("reads", 0), MBOX_BCMD("writes", 1), MBOX_BCMD("merge", 2),
			MBOX_BCMD("v2f", 3), MBOX_BCMD("v2v", 4), MBOX_BCMD("f2v", 5),
			MBOX_BCMD("f2b", 6), MBOX_BCMD("sprwr", 7)) },
	{ "bbox_rsp",		MBOX_EV_FVC, 1,
	  UNCORE_UMASKS(MBOX_RSP("ack", 0), MBOX_RSP("retry", 1), MBOX_RSP("cor", 2),
			MBOX_RSP("uncor", 3), MBOX_RSP("spec_ack", 4),
			MBOX_RSP("spr_ack", 5), MBOX_RSP("spr_uncor", 7)) },
	{ "smi_nb_trig",	MBOX_EV_FVC, 1, .terms = "fvc_evnt=7" },
	{ "patrol_txns",	0x11, 1 },
	{ "trans_cmds",		0x12, 1 },
	{ "page_miss",		0x13, 1 },
	{ "page_hit",		0x14, 1 },
	{ "page_empty",		0x15, 1 },
	{ "pgt_page_ev",	MBOX_EV_PGT_PAGE_EV, 1,
	  UNCORE_UMASKS({ "opn2cls", .terms = "pgt_page_ev=0" },
			{ "cls2opn", .terms = "pgt_page_ev=1" }),
	  .filters = MBOX_F_PGT_EV },
	{ "multicas",		0x17, 1 },
	{ "fvid_race",		0x18, 1 },
	{ "tt_cmd_conflict",	0x19, 1 },
	{ "bbox_cmds_all",	0x1a, 1 },
	{ "cycles",		0x1b, 1 },
	{ "sched_inflight_cmds", 0x1c, 1 },
	{ "inflight_cmds",	0x1d, 1 },

	/* Time spent in a state */
	{ "cycles_dsp_fill",	MBOX_EV_CYCLES_DSP_FILL, 1, mbox_fill_states,
	  .filters = MBOX_F_DSP },
	{ "cycles_sched_mode",	MBOX_EV_CYCLES_SCHED_MODE, 1,
	  UNCORE_UMASKS({ "tradeoff", .terms = "iss_sched_mode=0" },
			{ "rdprio", .terms = "iss_sched_mode=1" },
			{ "wrprio", .terms = "iss_sched_mode=2" },
			{ "adaptive", .terms = "iss_sched_mode=3" }),
	  .filters = MBOX_F_SCHED },
	{ "cycles_retryq_mfull", MBOX_FLAG + 0x3, 1 },
	{ "cycles_retryq_starved", MBOX_FLAG + 0x4, 1 },
	{ "cycles_pgt_state",	MBOX_EV_CYCLES_PGT_STATE, 1,
	  UNCORE_UMASKS({ "closed", .terms = "pgt_page_state=0" },
			{ "open", .terms = "pgt_page_state=1" }),
	  .filters = MBOX_F_PGT },
	{ "bcmd_schedq_occupancy", MBOX_EV_BCMD_SCHEDQ_OCCUPANCY, 1,
	  UNCORE_UMASKS(MBOX_MAP("reads", 0), MBOX_MAP("writes", 1), MBOX_MAP("merge", 2),
			MBOX_MAP("v2f", 3), MBOX_MAP("v2v", 4), MBOX_MAP("f2v", 5),
			MBOX_MAP("f2b", 6), MBOX_MAP("sprwr", 7), MBOX_MAP("all", 8)),
	  .filters = MBOX_F_MAP },
	{}
};

/* DSP to ZDP_CTL_FVC stand in a row, then the address match set. */
#define MBOX_REG(r)	(M_MSR_PMU_##r - M_MSR_PMU_DSP)
#define MBOX_REG_MM	(MBOX_REG(ZDP_CTL_FVC) + 1)

static unsigned int mbox_subreg_msr(const struct uncore_box *box, unsigned int reg)
{
	if (reg < MBOX_REG_MM)
		return box->type->base[box->instance] + M_MSR_PMU_DSP + reg;
	return (box->instance ? M1_MSR_PMU_MM_CFG : M0_MSR_PMU_MM_CFG) + reg - MBOX_REG_MM;
}

/* Parts of sub-registers that are set independently of each other */
enum {
	MBOX_SLOT_DSP_FILL_STATE,
	MBOX_SLOT_ISS_FRM_TYPE,
	MBOX_SLOT_ISS_SCHED_MODE,
	MBOX_SLOT_ISS_PLD_TRIG,
	MBOX_SLOT_MAP,
	MBOX_SLOT_THR_DIMM,
	MBOX_SLOT_THR_UP,
	MBOX_SLOT_THR_DN,
	MBOX_SLOT_PGT_PAGE_EV,
	MBOX_SLOT_PGT_PAGE_STATE,
	MBOX_SLOT_PLD_CMD,
	MBOX_SLOT_PLD_RTRY,
	MBOX_SLOT_FVC_FVID,
	MBOX_SLOT_FVC_BCMD,
	MBOX_SLOT_FVC_RESP,
	MBOX_SLOT_FVC_EVNT,	/* four */
	MBOX_SLOT_MM = MBOX_SLOT_FVC_EVNT + 4,
};

#define MBOX_SLOT(r, field)	{ .reg = MBOX_REG(r), .num_regs = 1, .shift = __bf_shf(field) }
#define MBOX_SLOT_WHOLE(r)	{ .reg = MBOX_REG(r), .num_regs = 1 }

static const struct uncore_slot_desc mbox_slots[] = {
	[MBOX_SLOT_DSP_FILL_STATE]	= MBOX_SLOT(DSP, M_DSP_FILL_STATE),
	[MBOX_SLOT_ISS_FRM_TYPE]	= MBOX_SLOT(ISS, M_ISS_FRM_TYPE),
	[MBOX_SLOT_ISS_SCHED_MODE]	= MBOX_SLOT(ISS, M_ISS_SCHED_MODE),
	[MBOX_SLOT_ISS_PLD_TRIG]	= MBOX_SLOT(ISS, M_ISS_SCHED_MODE_PLD_TRIG),
	[MBOX_SLOT_MAP]			= MBOX_SLOT_WHOLE(MAP),
	[MBOX_SLOT_THR_DIMM]		= MBOX_SLOT_WHOLE(MSC_THR),
	[MBOX_SLOT_THR_UP]		= MBOX_SLOT(MSC_THR, M_MSC_THR_TRP_PT_UP_CND),
	[MBOX_SLOT_THR_DN]		= MBOX_SLOT(MSC_THR, M_MSC_THR_TRP_PT_DN_CND),
	[MBOX_SLOT_PGT_PAGE_EV]		= MBOX_SLOT(PGT, M_PGT_PAGE_EV_SEL),
	[MBOX_SLOT_PGT_PAGE_STATE]	= MBOX_SLOT(PGT, M_PGT_PAGE_STATE),
	[MBOX_SLOT_PLD_CMD]		= MBOX_SLOT_WHOLE(PLD),
	[MBOX_SLOT_PLD_RTRY]		= MBOX_SLOT_WHOLE(PLD),
	[MBOX_SLOT_FVC_FVID]		= MBOX_SLOT(ZDP_CTL_FVC, M_FVC_FVID),
	[MBOX_SLOT_FVC_BCMD]		= MBOX_SLOT(ZDP_CTL_FVC, M_FVC_BCMD),
	[MBOX_SLOT_FVC_RESP]		= MBOX_SLOT(ZDP_CTL_FVC, M_FVC_RESP),
	[MBOX_SLOT_FVC_EVNT]		= MBOX_SLOT(ZDP_CTL_FVC, M_FVC_EVNT0),
	[MBOX_SLOT_FVC_EVNT + 1]	= MBOX_SLOT(ZDP_CTL_FVC, M_FVC_EVNT1),
	[MBOX_SLOT_FVC_EVNT + 2]	= MBOX_SLOT(ZDP_CTL_FVC, M_FVC_EVNT2),
	[MBOX_SLOT_FVC_EVNT + 3]	= MBOX_SLOT(ZDP_CTL_FVC, M_FVC_EVNT3),
	[MBOX_SLOT_MM]			= { .reg = MBOX_REG_MM, .num_regs = 3, .guarded = true },
};

static u64 mbox_get(const struct perf_event *event, unsigned int field)
{
	return uncore_field_get(&mbox_fields[field], &event->attr);
}

static struct uncore_req *mbox_claim(struct uncore_event *ue, unsigned int slot, u64 val)
{
	struct uncore_req *req = &ue->claim.req[ue->claim.num_reqs++];

	req->first = slot;
	req->num = 1;
	req->val[0] = val;
	return req;
}

static int mbox_decode_dsp(const struct perf_event *event, struct uncore_event *ue)
{
	unsigned int state = mbox_get(event, MBOX_DSP_FILL_STATE);

	if (!is_power_of_2(state))
		return uncore_refuse(event, -EINVAL, "dsp_fill_state %#x is not one bit", state);
	mbox_claim(ue, MBOX_SLOT_DSP_FILL_STATE, state);
	return 0;
}

static int mbox_decode_frm_type(const struct perf_event *event, struct uncore_event *ue)
{
	unsigned int type = mbox_get(event, MBOX_ISS_FRM_TYPE);

	if (!(BIT(type) & MBOX_FRM_TYPES))
		return uncore_refuse(event, -EINVAL, "no iss_frm_type %u", type);
	mbox_claim(ue, MBOX_SLOT_ISS_FRM_TYPE, type);
	return 0;
}

static int mbox_decode_sched_mode(const struct perf_event *event, struct uncore_event *ue,
				  unsigned int field, unsigned int slot)
{
	unsigned int mode = mbox_get(event, field);

	if (mode > 3)
		return uncore_refuse(event, -EINVAL, "no %s %u", mbox_fields[field].name, mode);
	mbox_claim(ue, slot, mode);
	return 0;
}

static int mbox_decode_map(const struct perf_event *event, struct uncore_event *ue)
{
	unsigned int cmd = mbox_get(event, MBOX_MAP_CMD);

	if (cmd > MBOX_MAP_ALL)
		return uncore_refuse(event, -EINVAL, "no map_cmd %u", cmd);
	mbox_claim(ue, MBOX_SLOT_MAP, FIELD_PREP(M_MAP_CMD, cmd) |
				      FIELD_PREP(M_MAP_FVID, mbox_get(event, MBOX_MAP_FVID)));
	return 0;
}

static int mbox_decode_therm(const struct perf_event *event, struct uncore_event *ue,
			     unsigned int slot)
{
	bool all = mbox_get(event, MBOX_THR_ALL_DIMMS);
	unsigned int dimm = mbox_get(event, MBOX_THR_DIMM);

	if (all ? dimm : dimm < 1 || dimm > 4)
		return uncore_refuse(event, -EINVAL, "either thr_all_dimms or thr_dimm 1 to 4");
	mbox_claim(ue, MBOX_SLOT_THR_DIMM, FIELD_PREP(M_MSC_THR_ALL_DIMMS, all) |
					   FIELD_PREP(M_MSC_THR_DIMM_SEL, dimm));
	mbox_claim(ue, slot, mbox_get(event, MBOX_THR_CND));
	return 0;
}

/* The match set filters whatever PLD selects, so each such event has a say in it. */
static int mbox_claim_addr(const struct perf_event *event, struct uncore_event *ue)
{
	u64 match = mbox_get(event, MBOX_MATCH_ADDR);
	u64 mask = mbox_get(event, MBOX_MASK_ADDR);
	struct uncore_req *req;

	if (match & ~mask)
		return uncore_refuse(event, -EINVAL, "match_addr beyond mask_addr");
	req = mbox_claim(ue, MBOX_SLOT_MM, 0);
	if (mask) {
		req->val[0] = M_MM_CFG_EN;
		req->val[M_MSR_PMU_ADDR_MATCH] = FIELD_PREP(M_ADDR_MATCH_ADDR, match);
		req->val[M_MSR_PMU_ADDR_MASK] = FIELD_PREP(M_ADDR_MASK_ADDR, mask);
	}
	return 0;
}

static int mbox_decode_dram_cmd(const struct perf_event *event, struct uncore_event *ue)
{
	unsigned int cmd = mbox_get(event, MBOX_PLD_CMD);
	bool qual = mbox_get(event, MBOX_PLD_MODE_QUAL);
	int err;

	if (!(BIT(cmd) & MBOX_DRAM_CMDS))
		return uncore_refuse(event, -EINVAL, "no pld_cmd %#x", cmd);
	if (cmd && !qual && mbox_get(event, MBOX_PLD_SCHED_MODE))
		return uncore_refuse(event, -EINVAL, "pld_sched_mode without pld_mode_qual");

	mbox_claim(ue, MBOX_SLOT_PLD_CMD, FIELD_PREP(M_PLD_CMD, cmd) |
					  FIELD_PREP(M_PLD_MODE_QUAL, qual));
	if (!cmd || qual) {
		err = mbox_decode_sched_mode(event, ue, MBOX_PLD_SCHED_MODE,
					     MBOX_SLOT_ISS_PLD_TRIG);
		if (err)
			return err;
	}
	return mbox_claim_addr(event, ue);
}

static int mbox_decode_retries(const struct perf_event *event, struct uncore_event *ue)
{
	bool single = mbox_get(event, MBOX_PLD_RTRY_SNGL_FVID);
	unsigned int fvid = mbox_get(event, MBOX_PLD_FVID);

	if (fvid && !single)
		return uncore_refuse(event, -EINVAL, "pld_fvid without pld_rtry_sngl_fvid");
	mbox_claim(ue, MBOX_SLOT_PLD_RTRY, FIELD_PREP(M_PLD_RTRY_SNGL_FVID, single) |
					   FIELD_PREP(M_PLD_FVID, fvid));
	return mbox_claim_addr(event, ue);
}

static int mbox_decode_fvc(const struct perf_event *event, struct uncore_event *ue,
			   unsigned int code)
{
	unsigned int evnt = mbox_get(event, MBOX_FVC_EVNT);
	unsigned int bcmd = mbox_get(event, MBOX_FVC_BCMD);
	unsigned int resp = mbox_get(event, MBOX_FVC_RESP);
	struct uncore_req *req;

	if (bcmd && evnt != MBOX_FVC_BBOX_CMDS)
		return uncore_refuse(event, -EINVAL, "fvc_bcmd is for fvc_evnt 5");
	if (resp && evnt != MBOX_FVC_BBOX_RSP)
		return uncore_refuse(event, -EINVAL, "fvc_resp is for fvc_evnt 6");
	if (resp == MBOX_FVC_RESP_NONE)
		return uncore_refuse(event, -EINVAL, "no fvc_resp %u", resp);

	/* First, for mbox_choose(). */
	req = mbox_claim(ue, MBOX_SLOT_FVC_EVNT, evnt);
	req->num = 4;
	req->chosen = code - MBOX_EV_FVC;
	if (evnt == MBOX_FVC_BBOX_CMDS)
		mbox_claim(ue, MBOX_SLOT_FVC_BCMD, bcmd);
	if (evnt == MBOX_FVC_BBOX_RSP)
		mbox_claim(ue, MBOX_SLOT_FVC_RESP, resp);
	mbox_claim(ue, MBOX_SLOT_FVC_FVID, mbox_get(event, MBOX_FVC_FVID));
	return 0;
}

/* Claim what the event needs of the sub-registers. */
static int mbox_decode_subregs(const struct perf_event *event, struct uncore_event *ue,
			       unsigned int code)
{
	switch (code) {
	case MBOX_EV_DSP_FILL:
	case MBOX_EV_CYCLES_DSP_FILL:
		return mbox_decode_dsp(event, ue);
	case MBOX_EV_FRM_TYPE:
		return mbox_decode_frm_type(event, ue);
	case MBOX_EV_CYCLES_SCHED_MODE:
		return mbox_decode_sched_mode(event, ue, MBOX_ISS_SCHED_MODE,
					      MBOX_SLOT_ISS_SCHED_MODE);
	case MBOX_EV_BCMD_SCHEDQ_OCCUPANCY:
		return mbox_decode_map(event, ue);
	case MBOX_EV_THERM_TRP_UP:
		return mbox_decode_therm(event, ue, MBOX_SLOT_THR_UP);
	case MBOX_EV_THERM_TRP_DN:
		return mbox_decode_therm(event, ue, MBOX_SLOT_THR_DN);
	case MBOX_EV_PGT_PAGE_EV:
		mbox_claim(ue, MBOX_SLOT_PGT_PAGE_EV, mbox_get(event, MBOX_PGT_PAGE_EV));
		return 0;
	case MBOX_EV_CYCLES_PGT_STATE:
		mbox_claim(ue, MBOX_SLOT_PGT_PAGE_STATE, mbox_get(event, MBOX_PGT_PAGE_STATE));
		return 0;
	case MBOX_EV_DRAM_CMD:
		return mbox_decode_dram_cmd(event, ue);
	case MBOX_EV_RETRIES:
		return mbox_decode_retries(event, ue);
	case MBOX_EV_FVC ... MBOX_EV_FVC_LAST:
		return mbox_decode_fvc(event, ue, code);
	default:
		return 0;
	}
}

static int mbox_decode(const struct perf_event *event, struct uncore_event *ue)
{
	unsigned int code = mbox_get(event, MBOX_EVENT);
	const struct uncore_event_desc *desc = uncore_find_event(mbox_events, code);
	int err;

	if (!desc)
		return uncore_refuse(event, -EINVAL, "no event %#x", code);
	err = uncore_check_filters(event, desc, MBOX_NUM_COMMON);
	if (err)
		return err;

	ue->ctl = M_CNT_CTL_WRAP_MODE;
	if (code & MBOX_FLAG)
		ue->ctl |= M_CNT_CTL_FLAG_MODE |
			   FIELD_PREP(M_CNT_CTL_SET_FLAG_SEL, code & ~MBOX_FLAG);
	else if (code < MBOX_EV_FVC || code > MBOX_EV_FVC_LAST)
		ue->ctl |= FIELD_PREP(M_CNT_CTL_INC_SEL, code);
	return mbox_decode_subregs(event, ue, code);
}

/* Which of the four FVC events it is depends on the slot. */
static u64 mbox_choose(const struct uncore_event *ue)
{
	const struct uncore_req *req = &ue->claim.req[0];

	if (req->first != MBOX_SLOT_FVC_EVNT)
		return ue->ctl;
	return ue->ctl | FIELD_PREP(M_CNT_CTL_INC_SEL, MBOX_EV_FVC + req->chosen);
}

static const u16 mbox_base[] = { M0_MSR_PMU_BASE, M1_MSR_PMU_BASE };

const struct uncore_box_type mbox_type = {
	.name		= "mbox",
	.first		= UNCORE_MBOX,
	.num_boxes	= ARRAY_SIZE(mbox_base),
	.num_counters	= M_NUM_COUNTERS,
	.base		= mbox_base,
	.box_ctl	= M_MSR_PERF_GLOBAL_CTL,
	.evt_sel	= M_MSR_PMU_CNT_CTL(0),
	.ctr		= M_MSR_PMU_CNT(0),
	.enable		= M_CNT_CTL_EN,
	.pmi_en		= M_CNT_CTL_PMI_EN,
	.fields		= mbox_fields,
	.events		= mbox_events,
	.decode		= mbox_decode,
	.slots		= mbox_slots,
	.num_slots	= ARRAY_SIZE(mbox_slots),
	.num_subregs	= MBOX_REG_MM + 3,
	.subreg_msr	= mbox_subreg_msr,
	.choose		= mbox_choose,
};
