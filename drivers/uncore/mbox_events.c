// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of the M-Box by name. The terms of a name are in perf's syntax:
 *
 *	perf stat -a -e xeon7500_mbox/dram_cmd.ras.wrprio/ sleep 1
 *	perf stat -a -e xeon7500_mbox/event=0xa,pld_cmd=2,pld_mode_qual=1,pld_sched_mode=2/ sleep 1
 *
 * are the same. Uncore Programming Guide, section 2.7, and Documentation/mbox.md.
 */
#include "mbox_events.h"

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
const struct uncore_event_desc mbox_events[] = {
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
	/* Interchangeable: the driver uses a free one ... */
	{ "fvc_ev0",		MBOX_EV_FVC + 0, mbox_fvc, .filters = MBOX_F_FVC },
	{ "fvc_ev1",		MBOX_EV_FVC + 1, mbox_fvc, .filters = MBOX_F_FVC },
	{ "fvc_ev2",		MBOX_EV_FVC + 2, mbox_fvc, .filters = MBOX_F_FVC },
	{ "fvc_ev3",		MBOX_EV_FVC + 3, mbox_fvc, .filters = MBOX_F_FVC },
	/* ... and users need not know its number */
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
	{ "mbox_cycles",	0x1b },
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
