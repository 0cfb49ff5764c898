/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Goldmont (06_5C, 06_5F), what its core PMU has beyond the architectural one. Goldmont Plus
 * (06_7A) has the same registers and events, by Intel's event lists.
 *
 * Intel SDM volume 3B (2016), sections 18.6.3 and 18.7. Bits that the tables call
 * reserved have no name here.
 */
#ifndef CORE_GOLDMONT_H
#define CORE_GOLDMONT_H

#include <linux/bits.h>

/* Event select: umask in the second byte, code in the first. */
#define GLM_OFFCORE_RSP0		0x01b7
#define GLM_OFFCORE_RSP1		0x02b7

/* MSR_OFFCORE_RSPx, request types: Table 18-21 */
#define GLM_DEMAND_DATA_RD		BIT_ULL(0)
#define GLM_DEMAND_RFO			BIT_ULL(1)
#define GLM_DEMAND_CODE_RD		BIT_ULL(2)
#define GLM_COREWB			BIT_ULL(3)	/* RSP0 only, not so on Plus */
#define GLM_PF_L2_DATA_RD		BIT_ULL(4)
#define GLM_PF_L2_RFO			BIT_ULL(5)
#define GLM_PARTIAL_READS		BIT_ULL(7)
#define GLM_PARTIAL_WRITES		BIT_ULL(8)
#define GLM_UC_CODE_READS		BIT_ULL(9)
#define GLM_BUS_LOCKS			BIT_ULL(10)
#define GLM_FULL_STREAMING_STORES	BIT_ULL(11)
#define GLM_SW_PREFETCH			BIT_ULL(12)
#define GLM_PF_L1_DATA_RD		BIT_ULL(13)
#define GLM_PARTIAL_STREAMING_STORES	BIT_ULL(14)
#define GLM_ANY_REQUEST			BIT_ULL(15)
#define GLM_REQUESTS			(GENMASK_ULL(15, 7) | GENMASK_ULL(5, 0))

/* Responses: Table 18-16 */
#define GLM_ANY_RESPONSE		BIT_ULL(16)
#define GLM_L2_HIT			BIT_ULL(18)

/* Responses after an L2 miss: Table 18-22 */
#define GLM_SNOOP_MISS_OR_NO_SNOOP	BIT_ULL(33)
#define GLM_HIT_OTHER_CORE_NO_FWD	BIT_ULL(34)
#define GLM_HITM_OTHER_CORE		BIT_ULL(36)
#define GLM_NON_DRAM			BIT_ULL(37)
#define GLM_L2_MISS			(GLM_SNOOP_MISS_OR_NO_SNOOP |		\
					 GLM_HIT_OTHER_CORE_NO_FWD |		\
					 GLM_HITM_OTHER_CORE | GLM_NON_DRAM)

/* Cycles times requests in flight, instead of a count. Only in RSP0. */
#define GLM_OUTSTANDING			BIT_ULL(38)

/* Counter 0 alone can make PEBS records: Table 18-18. */
#define GLM_PEBS_ENABLE			BIT_ULL(0)

/* The upper one of the 48 bits of a counter, all of which can be written at MSR_IA32_PMC0 */
#define GLM_COUNTER_SIGN		BIT_ULL(47)

#endif /* CORE_GOLDMONT_H */
