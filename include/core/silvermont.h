/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Silvermont (06_37, 06_4A, 06_4D, 06_5A) and Airmont (06_4C), what their core PMU has beyond
 * the architectural one.
 *
 * Intel SDM volume 3B (2016), sections 18.6.1.1 to 18.6.3. The names of the bits follow the
 * published event list where that differs from the manual's tables.
 */
#ifndef CORE_SILVERMONT_H
#define CORE_SILVERMONT_H

#include <linux/bits.h>

/* Event select: umask in the second byte, code in the first. */
#define SLM_OFFCORE_RSP0		0x01b7
#define SLM_OFFCORE_RSP1		0x02b7

/* MSR_OFFCORE_RSPx, request types: Table 18-15 */
#define SLM_DEMAND_DATA_RD		BIT_ULL(0)	/* DMND_DATA_RD, with those of the DCU */
#define SLM_DEMAND_RFO			BIT_ULL(1)	/* DMND_RFO */
#define SLM_DEMAND_CODE_RD		BIT_ULL(2)	/* DMND_IFETCH */
#define SLM_COREWB			BIT_ULL(3)	/* WB */
#define SLM_PF_L2_DATA_RD		BIT_ULL(4)	/* PF_DATA_RD */
#define SLM_PF_L2_RFO			BIT_ULL(5)	/* PF_RFO */
#define SLM_PF_L2_CODE_RD		BIT_ULL(6)	/* PF_IFETCH */
#define SLM_PARTIAL_READS		BIT_ULL(7)
#define SLM_PARTIAL_WRITES		BIT_ULL(8)
#define SLM_UC_CODE_READS		BIT_ULL(9)	/* UC_IFETCH */
#define SLM_BUS_LOCKS			BIT_ULL(10)
#define SLM_FULL_STREAMING_STORES	BIT_ULL(11)	/* STRM_ST */
#define SLM_SW_PREFETCH			BIT_ULL(12)
#define SLM_PF_L1_DATA_RD		BIT_ULL(13)	/* PF_DATA_RD, of the DCU */
#define SLM_PARTIAL_STREAMING_STORES	BIT_ULL(14)	/* PARTIAL_STRM_ST */
#define SLM_ANY				BIT_ULL(15)
#define SLM_REQUESTS			GENMASK_ULL(15, 0)

/* Responses: Table 18-16 */
#define SLM_ANY_RESPONSE		BIT_ULL(16)
#define SLM_L2_HIT			BIT_ULL(18)

/* Responses after an L2 miss: Table 18-17 */
#define SLM_NO_SNOOP_NEEDED		BIT_ULL(31)	/* SNP_NONE */
#define SLM_SNOOP_MISS			BIT_ULL(33)
#define SLM_HIT_OTHER_CORE_NO_FWD	BIT_ULL(34)	/* SNOOP_HIT */
#define SLM_HITM_OTHER_CORE		BIT_ULL(36)
#define SLM_NON_DRAM			BIT_ULL(37)
#define SLM_SNOOPS			(SLM_NO_SNOOP_NEEDED | SLM_SNOOP_MISS |	\
					 SLM_HIT_OTHER_CORE_NO_FWD |		\
					 SLM_HITM_OTHER_CORE | SLM_NON_DRAM)

/* Cycles times requests in flight, instead of a count. Only in RSP0. */
#define SLM_OUTSTANDING			BIT_ULL(38)	/* AVG_LATENCY */

#endif /* CORE_SILVERMONT_H */
