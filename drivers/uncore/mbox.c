// SPDX-License-Identifier: GPL-2.0-only
/*
 * Xeon 7500 and E7 M-Boxes: the memory controllers. Six counters each, any event on any.
 *
 *	perf stat -a -e xeon7500_mbox/bbox_cmds.reads/,xeon7500_mbox/bbox_cmds.writes/ sleep 1
 *	perf stat -a -e xeon7500_mbox/dram_cmd.cas_rd_opn/ sleep 1
 *	perf stat -a -e xeon7500_mbox/dram_cmd.all,match_addr=0x48d000,mask_addr=0xffff000/ sleep 1
 *
 * Sub-registers that all counters share select the details of an event. Two events that need
 * different values of one field are multiplexed; events that use different fields of one
 * register run together.
 *
 *	event		what to count: inc_sel, or 0x20 + set_flag_sel for the cycles
 *			spent in a state
 *
 * The other fields, their values and the events that take them are in
 * Documentation/mbox.md.
 *
 * Uncore Programming Guide, section 2.7. Our text of the guide lacks much of it;
 * Documentation/mbox.md lists what is inferred.
 */
#include <linux/bitfield.h>

#include "mbox_events.h"
#include "uncore.h"
#include "xeon7500/mbox.h"

/* DSP to ZDP_CTL_FVC are adjacent, then comes the address match set. */
#define MBOX_REG(r)	(M_MSR_PMU_##r - M_MSR_PMU_DSP)
#define MBOX_REG_MM	(MBOX_REG(ZDP_CTL_FVC) + 1)

static unsigned int mbox_subreg_msr(unsigned int instance, unsigned int reg)
{
	if (reg < MBOX_REG_MM)
		return (instance ? M1_MSR_PMU_BASE : M0_MSR_PMU_BASE) + M_MSR_PMU_DSP + reg;
	return (instance ? M1_MSR_PMU_MM_CFG : M0_MSR_PMU_MM_CFG) + reg - MBOX_REG_MM;
}

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
	[MBOX_SLOT_THR_DN]	= { .reg = MBOX_REG(MSC_THR), .num_regs = 1,
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

#define MBOX_TO(slot, bits)	UNCORE_SLOT(MBOX_SLOT_##slot, 0, bits)

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
	 * The match set filters everything that PLD selects, so each such event claims it,
	 * also an event that needs it off.
	 */
	if (mbox_get(event, MBOX_MASK_ADDR))
		uncore_config_req(cfg, &mbox_type, MBOX_SLOT_MM)->val[0] = M_MM_CFG_EN;
	return 0;
}

static const u16 mbox_base[] = { M0_MSR_PMU_BASE, M1_MSR_PMU_BASE };

static const struct uncore_counter_row mbox_counters[] = {
	UNCORE_COUNTERS_6(M_MSR_PMU_CNT_CTL, M_MSR_PMU_CNT, M_CNT_CTL_EN, M_CNT_CTL_PMI_EN, 0)
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
