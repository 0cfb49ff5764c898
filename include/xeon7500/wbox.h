/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Xeon 7500 uncore, W-Box: power control unit and the uncore clock.
 *
 * Intel Xeon Processor 7500 Series Uncore Programming Guide (323535-001),
 * section 2.8.
 */
#ifndef XEON7500_WBOX_H
#define XEON7500_WBOX_H

#include <linux/bits.h>

#define W_MSR_PMON_BASE			0xc80
#define W_MSR_PMON_GLOBAL_CTL		0x00	/* ctr_en 3:0, fixed_en 31 */
#define W_MSR_PMON_GLOBAL_STATUS	0x01
#define W_MSR_PMON_GLOBAL_OVF_CTL	0x02
#define W_GLOBAL_FIXED			BIT(31)	/* the fixed counter, in all three */
#define W_MSR_PMON_EVT_SEL(n)		(0x10 + 2 * (n))
#define W_MSR_PMON_CTR(n)		(0x11 + 2 * (n))
#define W_NUM_COUNTERS			4	/* and the fixed one */

/* W_MSR_PMON_EVT_SEL has the layout of the C-Box's. */
#define W_EVT_SEL_EV_SEL		GENMASK_ULL(7, 0)
#define W_EVT_SEL_UMASK			GENMASK_ULL(15, 8)	/* bit n: core n, to 7 */
#define W_EVT_SEL_EDGE_DETECT		BIT_ULL(18)
#define W_EVT_SEL_PMI_EN		BIT_ULL(20)
#define W_EVT_SEL_EN			BIT_ULL(22)
#define W_EVT_SEL_INVERT		BIT_ULL(23)
#define W_EVT_SEL_THRESHOLD		GENMASK_ULL(31, 24)

/* Counts uncore clocks, nothing else. */
#define W_MSR_PMON_FIXED_CTR		0x394
#define W_MSR_PMON_FIXED_CTR_CTL	0x395
#define W_FIXED_CTR_CTL_EN		BIT_ULL(0)
/* Inferred: the 06_1AH uncore has it here, in a register of the same address. */
#define W_FIXED_CTR_CTL_PMI_EN		BIT_ULL(2)

/*
 * Erratum: a read whose low 24 bits come out as 0 or 1 is 0x1000000 too high, and
 * a start value with low 24 bits 0xfffffe or 0xffffff must not be written.
 */
#define W_CTR_ERRATUM_MASK		GENMASK_ULL(23, 0)
#define W_CTR_ERRATUM_EXCESS		BIT_ULL(24)

#endif /* XEON7500_WBOX_H */
