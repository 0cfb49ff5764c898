/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tests of the virtual silicon itself, with no driver in between: registers are
 * written as the guide says, and what comes out is worked out here.
 */
#ifndef SELFTESTS_MODEL_H
#define SELFTESTS_MODEL_H

#include <stdbool.h>
#include <time.h>

#include "ktap.h"
#include "msr.h"
#include "synthetic.h"

#define M48		((1ull << 48) - 1)

#define U_COND		(1u << 31)
#define U_PMI		(1u << 30)
#define U_OV_S0		(1u << 3)
#define U_OV_S1		(1u << 2)
#define U_OV_W		(1u << 1)
#define U_OV_U		(1u << 0)

#define EN		(1u << 22)	/* U, C, S, W */
#define EDGE		(1u << 18)	/* likewise */
#define PMI_EN		(1u << 20)	/* and B */
#define EN_LOW		(1u << 0)	/* B, M, R */

/* Box n: GLOBAL_CTL; STATUS and OVF_CTL follow, counters are at + 0x11. */
static const unsigned int c_box[] = { C0_GLOBAL_CTL, C1_GLOBAL_CTL, C2_GLOBAL_CTL, C3_GLOBAL_CTL,
				      C4_GLOBAL_CTL, C5_GLOBAL_CTL, C6_GLOBAL_CTL, C7_GLOBAL_CTL };
static const unsigned int s_box[] = { S0_GLOBAL_CTL, S1_GLOBAL_CTL };
static const unsigned int b_box[] = { B0_GLOBAL_CTL, B1_GLOBAL_CTL };
static const unsigned int m_box[] = { M0_GLOBAL_CTL, M1_GLOBAL_CTL };
static const unsigned int r_box[] = { R_GLOBAL_CTL_7_0, R_GLOBAL_CTL_15_8 };
#define STATUS		1
#define OVF		2
#define SUMMARY		3		/* S */
#define CTL(n)		(0x10 + 2 * (n))
#define CTR(n)		(0x11 + 2 * (n))

u64 truth(int cpu, unsigned int what, unsigned int ctr);

void wait_us(unsigned int us);

/* Everything off and as after reset; all statistics at zero. */
void start_over(int cpu);

void set_pattern(int cpu, u64 sel, u64 pattern);

/* Let the package count for a moment. */
void run_for(int cpu, unsigned int us, u64 u_ctl);

/* The counter equals the truth, which is not zero. Returns it. */
u64 check_truth(int cpu, unsigned int ctr);

u64 violations(unsigned int kind);

#endif /* SELFTESTS_MODEL_H */
