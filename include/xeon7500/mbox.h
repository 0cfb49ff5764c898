/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Xeon 7500 uncore, M-Boxes: the memory controllers.
 *
 * Intel Xeon Processor 7500 Series Uncore Programming Guide (323535-001),
 * section 2.7; what no page of it confirms is marked "inferred", see
 * Documentation/mbox.md. Offsets are relative to the base of the instance.
 */
#ifndef XEON7500_MBOX_H
#define XEON7500_MBOX_H

#include <linux/bits.h>

#define M0_MSR_PMU_BASE			0xca0
#define M1_MSR_PMU_BASE			0xce0

#define M_MSR_PERF_GLOBAL_CTL		0x00	/* ctr_en 5:0 */
#define M_MSR_PERF_GLOBAL_STATUS	0x01	/* ov 5:0 */
#define M_MSR_PERF_GLOBAL_OVF_CTL	0x02	/* clr_ov 5:0 */
#define M_MSR_PMU_DSP			0x05
#define M_MSR_PMU_ISS			0x06
#define M_MSR_PMU_MAP			0x07
#define M_MSR_PMU_MSC_THR		0x08
#define M_MSR_PMU_PGT			0x09
#define M_MSR_PMU_PLD			0x0a
#define M_MSR_PMU_ZDP_CTL_FVC		0x0b
#define M_MSR_PMU_CNT_CTL(n)		(0x10 + 2 * (n))
#define M_MSR_PMU_CNT(n)		(0x11 + 2 * (n))
#define M_NUM_COUNTERS			6

/* M_MSR_PMU_CNT_CTL; 62:61, 24:22, 18:14 and 8 must be 0 */
#define M_CNT_CTL_EN			BIT_ULL(0)
#define M_CNT_CTL_PMI_EN		BIT_ULL(1)
#define M_CNT_CTL_COUNT_MODE		GENMASK_ULL(3, 2)	/* 0: up */
#define M_CNT_CTL_STORAGE_MODE		GENMASK_ULL(5, 4)	/* 0: count freely */
#define M_CNT_CTL_WRAP_MODE		BIT_ULL(6)	/* go on after an overflow */
#define M_CNT_CTL_FLAG_MODE		BIT_ULL(7)	/* set_flag_sel selects */
#define M_CNT_CTL_INC_SEL		GENMASK_ULL(13, 9)
#define M_CNT_CTL_SET_FLAG_SEL		GENMASK_ULL(21, 19)

#define M_INC_SEL_FVC_EV0		0x0d	/* to FVC_EV3, 0x10 */

/* Sub-registers, 32 bit: fields that events share */
#define M_DSP_FILL_STATE		GENMASK(10, 7)	/* one bit */

#define M_ISS_FRM_TYPE			GENMASK(3, 0)
#define M_ISS_SCHED_MODE		GENMASK(6, 4)	/* inferred */
#define M_ISS_SCHED_MODE_PLD_TRIG	GENMASK(9, 7)	/* inferred */
#define M_ISS_SCHED_SEL			BIT(10)		/* E7, inferred */

#define M_MAP_FVID			GENMASK(4, 0)	/* inferred */
#define M_MAP_CMD			GENMASK(8, 5)
#define M_E7_MAP_FVID			GENMASK(5, 0)	/* inferred */
#define M_E7_MAP_CMD			GENMASK(9, 6)	/* inferred */

/* all inferred */
#define M_MSC_THR_ALL_DIMMS		BIT(3)
#define M_MSC_THR_DIMM_SEL		GENMASK(6, 4)	/* DIMM number + 1 */
#define M_MSC_THR_TRP_PT_UP_CND		GENMASK(8, 7)
#define M_MSC_THR_TRP_PT_DN_CND		GENMASK(10, 9)

/* all inferred */
#define M_PGT_PAGE_EV_SEL		BIT(0)
#define M_PGT_PAGE_STATE		BIT(6)
#define M_PGT_PAGE_EV2_SEL		BIT(11)		/* E7 */

/* all inferred */
#define M_PLD_MODE_QUAL			BIT(0)
#define M_PLD_FVID			GENMASK(6, 1)	/* but for E7, five bits are used */
#define M_PLD_RTRY_SNGL_FVID		BIT(7)
#define M_PLD_CMD			GENMASK(12, 8)
#define M_PLD_SEL2			GENMASK(18, 16)	/* E7: one bit, or none for retries */
#define M_PLD_CMD2			GENMASK(23, 19)	/* E7 */

#define M_FVC_FVID			GENMASK(4, 0)
#define M_FVC_BCMD			GENMASK(7, 5)
#define M_FVC_RESP			GENMASK(10, 8)
#define M_FVC_EVNT0			GENMASK(13, 11)
#define M_FVC_EVNT1			GENMASK(16, 14)
#define M_FVC_EVNT2			GENMASK(19, 17)
#define M_FVC_EVNT3			GENMASK(22, 20)

/* The index is wider, all else is one bit higher */
#define M_E7_FVC_FVID			GENMASK(5, 0)
#define M_E7_FVC_BCMD			GENMASK(8, 6)
#define M_E7_FVC_RESP			GENMASK(11, 9)
#define M_E7_FVC_EVNT0			GENMASK(14, 12)

/* Address match */
#define M0_MSR_PMU_MM_CFG		0xe54
#define M1_MSR_PMU_MM_CFG		0xe5c
#define M_MM_CFG_EN			BIT_ULL(63)	/* inferred; guards the other two */
#define M_MSR_PMU_ADDR_MATCH		0x01	/* from MM_CFG */
#define M_MSR_PMU_ADDR_MASK		0x02	/* from MM_CFG; sense not documented */
#define M_ADDR_MATCH_ADDR		GENMASK_ULL(33, 6)	/* byte address: inferred */
#define M_ADDR_MASK_ADDR		GENMASK_ULL(27, 0)	/* of address 33:6 */

#endif /* XEON7500_MBOX_H */
