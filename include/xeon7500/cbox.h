/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Xeon 7500 and E7 uncore, C-Boxes: the last-level cache slices, eight or ten.
 *
 * Intel Xeon Processor 7500 Series Uncore Programming Guide (323535-001),
 * section 2.3. Offsets are relative to the base of the instance.
 */
#ifndef XEON7500_CBOX_H
#define XEON7500_CBOX_H

#include <linux/bits.h>

/* The instance number sits bit-reversed in address bits 7:5. */
#define C0_MSR_PMON_BASE		0xd00
#define C1_MSR_PMON_BASE		0xd80
#define C2_MSR_PMON_BASE		0xd40
#define C3_MSR_PMON_BASE		0xdc0
#define C4_MSR_PMON_BASE		0xd20
#define C5_MSR_PMON_BASE		0xda0
#define C6_MSR_PMON_BASE		0xd60
#define C7_MSR_PMON_BASE		0xde0
#define C8_MSR_PMON_BASE		0xf40	/* E7 */
#define C9_MSR_PMON_BASE		0xfc0	/* E7 */

#define C_MSR_PMON_GLOBAL_CTL		0x00	/* ctr_en 5:0, Table 2-10 */
#define C_MSR_PMON_GLOBAL_STATUS	0x01	/* ov 5:0 */
#define C_MSR_PMON_GLOBAL_OVF_CTL	0x02	/* clr_ov 5:0 */
#define C_MSR_PMON_EVT_SEL(n)		(0x10 + 2 * (n))
#define C_MSR_PMON_CTR(n)		(0x11 + 2 * (n))
#define C_NUM_COUNTERS			6

/* C_MSR_PMON_EVT_SEL, Table 2-13 */
#define C_EVT_SEL_EV_SEL		GENMASK_ULL(7, 0)
#define C_EVT_SEL_UMASK			GENMASK_ULL(15, 8)
#define C_EVT_SEL_EDGE_DETECT		BIT_ULL(18)
#define C_EVT_SEL_PMI_EN		BIT_ULL(20)
#define C_EVT_SEL_EN			BIT_ULL(22)
#define C_EVT_SEL_INVERT		BIT_ULL(23)
#define C_EVT_SEL_THRESHOLD		GENMASK_ULL(31, 24)

#endif /* XEON7500_CBOX_H */
