/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Xeon 7500 uncore, U-Box and package-wide PMU control.
 *
 * Intel Xeon Processor 7500 Series Uncore Programming Guide (323535-001),
 * sections 2.1 and 2.2. All registers exist once per package.
 */
#ifndef XEON7500_UBOX_H
#define XEON7500_UBOX_H

#include <linux/bits.h>

#define U_MSR_PMON_GLOBAL_CTL		0xc00	/* 32 bit, Table 2-2 */
#define U_GLOBAL_CTL_EN			BIT(0)	/* box level of the U counter */
#define U_GLOBAL_CTL_PMI_CORE_SEL	GENMASK(8, 1)
#define U_GLOBAL_CTL_EN_ALL		BIT(28)
#define U_GLOBAL_CTL_RST_ALL		BIT(29)
#define U_GLOBAL_CTL_FRZ_ALL		BIT(31)

#define U_MSR_PMON_GLOBAL_STATUS	0xc01	/* Table 2-3 */
#define U_MSR_PMON_GLOBAL_OVF_CTL	0xc02	/* Table 2-4, same layout, write 1 to clear */
#define U_GLOBAL_OV_U			BIT(0)
#define U_GLOBAL_OV_W			BIT(1)
#define U_GLOBAL_OV_S1			BIT(2)
#define U_GLOBAL_OV_S0			BIT(3)
#define U_GLOBAL_PMI			BIT(30)
#define U_GLOBAL_COND			BIT(31)

#define U_MSR_PMON_EV_SEL		0xc10	/* 32 bit, Table 2-6 */
/*
 * Table 2-6 gives ev_sel eight bits, but four of the events have nine-bit codes.
 * Bit 8 is documented as ignored, so writing the whole code is right either way.
 */
#define U_EV_SEL_EV_SEL			GENMASK(8, 0)
#define U_EV_SEL_EDGE_DETECT		BIT(18)
#define U_EV_SEL_PMI_EN			BIT(20)
#define U_EV_SEL_EN			BIT(22)

#define U_MSR_PMON_CTR			0xc11	/* 48 of 64 bits */

#endif /* XEON7500_UBOX_H */
