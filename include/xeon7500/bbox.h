/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Xeon 7500 uncore, B-Boxes: the home agents.
 *
 * Intel Xeon Processor 7500 Series Uncore Programming Guide (323535-001),
 * section 2.4. Offsets are relative to the base of the instance. The guide has two
 * names for the control registers, PERF_CTL and PMON_EVT_SEL.
 */
#ifndef XEON7500_BBOX_H
#define XEON7500_BBOX_H

#include <linux/bits.h>

#define B0_MSR_PMON_BASE		0xc20
#define B1_MSR_PMON_BASE		0xc60

#define B_MSR_PMON_GLOBAL_CTL		0x00	/* ctr_en 3:0, Table 2-17 */
#define B_MSR_PMON_GLOBAL_STATUS	0x01	/* ov 3:0 */
#define B_MSR_PMON_GLOBAL_OVF_CTL	0x02	/* clr_ov 3:0 */
#define B_MSR_PERF_CTL(n)		(0x10 + 2 * (n))
#define B_MSR_PERF_CNT(n)		(0x11 + 2 * (n))
#define B_NUM_COUNTERS			4

/* B_MSR_PERF_CTL, Table 2-20 */
#define B_CTL_EN			BIT_ULL(0)
#define B_CTL_EV_SEL			GENMASK_ULL(5, 1)	/* differs by counter */
#define B_CTL_PMI_EN			BIT_ULL(20)

#define B0_MSR_MATCH			0xe45
#define B1_MSR_MATCH			0xe4d
#define B_MSR_MASK			0x01	/* from MATCH */

/* Both, Tables 2-22 and 2-23. The sense of a mask bit is not documented. */
#define B_MATCH_ADDR			GENMASK_ULL(43, 0)	/* PA 49:6 */
#define B_MATCH_MSG_IN			GENMASK_ULL(47, 44)
#define B_MATCH_MSG_OUT			GENMASK_ULL(51, 48)
#define B_MATCH_OPC_IN			GENMASK_ULL(55, 52)
#define B_MATCH_OPC_OUT			GENMASK_ULL(59, 56)

#endif /* XEON7500_BBOX_H */
