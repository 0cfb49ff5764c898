/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Xeon 7500 uncore, S-Boxes: between the ring and the system interface.
 *
 * Intel Xeon Processor 7500 Series Uncore Programming Guide (323535-001),
 * section 2.5. Offsets are relative to the base of the instance.
 */
#ifndef XEON7500_SBOX_H
#define XEON7500_SBOX_H

#include <linux/bits.h>

#define S0_MSR_PMON_BASE		0xc40
#define S1_MSR_PMON_BASE		0xcc0

#define S_MSR_PMON_GLOBAL_CTL		0x00	/* ctr_en 3:0, Table 2-27 */
#define S_MSR_PMON_GLOBAL_STATUS	0x01	/* ov 3:0 */
#define S_MSR_PMON_OVF_CTL		0x02	/* clr_ov 3:0 */
#define S_MSR_PMON_SUMMARY		0x03	/* read only, Table 2-26 */
#define S_MSR_PMON_CTL(n)		(0x10 + 2 * (n))
#define S_MSR_PMON_CTR(n)		(0x11 + 2 * (n))
#define S_NUM_COUNTERS			4

/* S_MSR_PMON_SUMMARY: which boxes of this side have overflowed */
#define S_SUMMARY_OV_C_R		BIT(0)	/* C-Boxes 2, 3 or 6, 7 */
#define S_SUMMARY_OV_C_L		BIT(2)	/* C-Boxes 0, 1 or 4, 5 */
#define S_SUMMARY_OV_C			GENMASK(15, 0)	/* E7: some or other of the C-Boxes */
#define S_SUMMARY_OV_MB			BIT(16)	/* M- and B-Box */
#define S_SUMMARY_OV_S			BIT(18)
#define S_SUMMARY_OV_R			BIT(19)	/* R-Box: left or right half */

/* S_MSR_PMON_CTL, Table 2-30: the C-Box's, and */
#define S_CTL_RESET_OCC_CNT		BIT_ULL(17)	/* clears the occupancy sub-counter */
#define S_CTL_PMI_EN			BIT_ULL(20)
#define S_CTL_EN			BIT_ULL(22)

/* Match facility of event 0x00, section 2.5.3.4 */
#define S0_MSR_MM_CFG			0xe48
#define S1_MSR_MM_CFG			0xe58
#define S_MM_CFG_EN			BIT_ULL(63)	/* locks the other two: #GP */
#define S_MSR_MATCH			0x01	/* from MM_CFG; layout unknown */
#define S_MSR_MASK			0x02	/* from MM_CFG, Table 2-35 */
/* A set bit means: ignore. */
#define S_MASK_HNID			BIT_ULL(0)
#define S_MASK_ADDR			GENMASK_ULL(38, 1)	/* PA 43:6 */

#endif /* XEON7500_SBOX_H */
