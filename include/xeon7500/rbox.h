/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Xeon 7500 uncore, R-Box: the crossbar router. Its left half (counters 0 to 7) sees
 * ports 0 to 3, its right half (8 to 15) ports 4 to 7.
 *
 * Intel Xeon Processor 7500 Series Uncore Programming Guide (323535-001),
 * section 2.6. Offsets are relative to the base of the half.
 */
#ifndef XEON7500_RBOX_H
#define XEON7500_RBOX_H

#include <linux/bits.h>

#define R_L_MSR_PMON_BASE		0xe00
#define R_R_MSR_PMON_BASE		0xe20

#define R_MSR_PMON_GLOBAL_CTL		0x00	/* ctr_en 7:0, Table 2-41 */
#define R_MSR_PMON_GLOBAL_STATUS	0x01	/* ov 7:0 */
#define R_MSR_PMON_OVF_CTL		0x02	/* clr_ov 7:0 */
#define R_MSR_PMON_CTL(n)		(0x10 + 2 * (n))
#define R_MSR_PMON_CTR(n)		(0x11 + 2 * (n))
#define R_NUM_COUNTERS			8	/* of each half */
#define R_NUM_PORTS			4

/*
 * R_MSR_PMON_CTL, Table 2-44. ev_sel picks a sub-register of a port, Tables 2-45 and
 * 2-46; codes from 24 on are illegal.
 */
#define R_CTL_EN			BIT_ULL(0)
#define R_CTL_EV_SEL			GENMASK_ULL(5, 1)
#define R_CTL_PMI_EN			BIT_ULL(6)

#define R_EV_SEL_IPERF0			0	/* + R_EV_SEL_PER_PORT * port */
#define R_EV_SEL_IPERF1			1
#define R_EV_SEL_QLX0			2
#define R_EV_SEL_QLX1			3
#define R_EV_SEL_XBAR_MM1		4
#define R_EV_SEL_XBAR_MM2		5
#define R_EV_SEL_PER_PORT		6

/* Sub-registers of port 0 to 7, not relative */
#define R_MSR_PORT_IPERF_CFG0(p)	(0xe04 + (p))
#define R_MSR_PORT_IPERF_CFG1(p)	(0xe24 + (p))

/* Sub-registers of port 0 to 3 of a half, relative to its base */
#define R_MSR_PORT_QLX_CFG(p)		(0x0c + (p))
#define R_MSR_PORT_XBR_SET1_MM_CFG(p)	(0x60 + 4 * (p))
#define R_MSR_PORT_XBR_SET2_MM_CFG(p)	(0x70 + 4 * (p))
#define R_MSR_PORT_XBR_MATCH		0x01	/* from MM_CFG */
#define R_MSR_PORT_XBR_MASK		0x02	/* from MM_CFG */

/* R_MSR_PORT_IPERF_CFG, 32 bit, Table 2-48 */
#define R_IPERF_NEW_PC			GENMASK(5, 0)
#define R_IPERF_NEW_PVN			GENMASK(7, 6)
#define R_IPERF_IQA_READ_OK		BIT(8)
#define R_IPERF_ARB_SEL			GENMASK(15, 9)
#define R_IPERF_EOT_NE			BIT(16)
#define R_IPERF_MC			GENMASK(20, 17)
#define R_IPERF_MC_ROLL_ALLOC		BIT(21)
#define R_IPERF_RCVD_ERR_FLT		BIT(24)
#define R_IPERF_RCVD_SPEC_FLT		BIT(25)
#define R_IPERF_OUTQ_NE			BIT(26)
#define R_IPERF_OUTQ_OV			BIT(27)
#define R_IPERF_RETRYQ_NE		BIT(28)
#define R_IPERF_RETRYQ_OV		BIT(29)
#define R_IPERF_NULL_IDLE		BIT(30)
#define R_IPERF_FLT_SENT		BIT(31)

/* R_MSR_PORT_QLX_CFG, 32 bit, Table 2-49: one of these for QLX0, one for QLX1 */
#define R_QLX_TYPE			GENMASK(3, 0)
#define R_QLX_CLS			GENMASK(6, 4)
#define R_QLX_SUB			BIT(7)
#define R_QLX_BITS			8	/* QLX1 is that much higher */

/* R_MSR_PORT_XBR_SET_MM_CFG, Table 2-50 */
#define R_XBR_MASK_71_64		GENMASK_ULL(7, 0)
#define R_XBR_MATCH_71_64		GENMASK_ULL(15, 8)
#define R_XBR_MATCH_FLT_CNT		GENMASK_ULL(19, 16)
#define R_XBR_IG_FLT_CNT		BIT_ULL(20)
#define R_XBR_MM_TRIG_EN		BIT_ULL(21)
#define R_XBR_DIS			BIT_ULL(63)

/*
 * R_MSR_PORT_XBR_SET_MATCH and _MASK, Tables 2-51 and 2-52; all other bits must be 0.
 * A set bit of MASK means: compare.
 */
#define R_XBR_VNW			GENMASK_ULL(4, 3)
#define R_XBR_OPC			GENMASK_ULL(8, 5)
#define R_XBR_MC			GENMASK_ULL(12, 9)
#define R_XBR_DNID			GENMASK_ULL(17, 13)
#define R_XBR_RNID			GENMASK_ULL(35, 31)
#define R_XBR_RDS			GENMASK_ULL(51, 48)
#define R_XBR_FIELDS			(R_XBR_VNW | R_XBR_OPC | R_XBR_MC | R_XBR_DNID | \
					 R_XBR_RNID | R_XBR_RDS)

#endif /* XEON7500_RBOX_H */
