/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sandy Bridge (06_2A, 06_2D), what its core PMU has beyond the architectural one.
 *
 * Intel SDM volume 3B (2016), sections 18.9.4 and 18.9.5. The names of the bits
 * follow the published event lists where those differ from the manual's tables.
 */
#ifndef CORE_SANDYBRIDGE_H
#define CORE_SANDYBRIDGE_H

#include <linux/bits.h>

/* Event select: umask in the second byte, code in the first. */
#define SNB_OFFCORE_RSP0		0x01b7
#define SNB_OFFCORE_RSP1		0x01bb
#define SNB_INST_RETIRED_PREC_DIST	0x01c0	/* PDIR when precise */
#define SNB_PRECISE_STORE		0x02cd

/* MSR_OFFCORE_RSP_x, request types: Table 18-36 */
#define SNB_DEMAND_DATA_RD		BIT_ULL(0)	/* DMND_DATA_RD */
#define SNB_DEMAND_RFO			BIT_ULL(1)	/* DMND_RFO */
#define SNB_DEMAND_CODE_RD		BIT_ULL(2)	/* DMND_IFETCH */
#define SNB_COREWB			BIT_ULL(3)	/* WB */
#define SNB_PF_L2_DATA_RD		BIT_ULL(4)	/* PF_DATA_RD */
#define SNB_PF_L2_RFO			BIT_ULL(5)	/* PF_RFO */
#define SNB_PF_L2_CODE_RD		BIT_ULL(6)	/* PF_IFETCH */
#define SNB_PF_LLC_DATA_RD		BIT_ULL(7)
#define SNB_PF_LLC_RFO			BIT_ULL(8)
#define SNB_PF_LLC_CODE_RD		BIT_ULL(9)	/* PF_LLC_IFETCH */
#define SNB_BUS_LOCKS			BIT_ULL(10)
#define SNB_STREAMING_STORES		BIT_ULL(11)	/* STRM_ST */
#define SNB_OTHER			BIT_ULL(15)
#define SNB_REQUESTS			(GENMASK_ULL(11, 0) | SNB_OTHER)

/* Who supplied the data: Table 18-37 */
#define SNB_ANY_RESPONSE		BIT_ULL(16)	/* ANY: supplier and snoop ignored */
#define SNB_NO_SUPPLIER			BIT_ULL(17)
#define SNB_LLC_HITM			BIT_ULL(18)
#define SNB_LLC_HITE			BIT_ULL(19)
#define SNB_LLC_HITS			BIT_ULL(20)
#define SNB_LLC_HITF			BIT_ULL(21)
#define SNB_LLC_HIT			GENMASK_ULL(21, 18)
#define SNB_LOCAL_DRAM			BIT_ULL(22)
#define SNB_REMOTE_DRAM			GENMASK_ULL(30, 23)	/* 06_2D only */
#define SNB_SUPPLIERS			GENMASK_ULL(22, 17)

/* What the snoop said */
#define SNB_SNOOP_NONE			BIT_ULL(31)
#define SNB_SNOOP_NOT_NEEDED		BIT_ULL(32)
#define SNB_SNOOP_MISS			BIT_ULL(33)
#define SNB_SNOOP_NO_FWD		BIT_ULL(34)
#define SNB_SNOOP_FWD			BIT_ULL(35)
#define SNB_SNOOP_HITM			BIT_ULL(36)
#define SNB_NON_DRAM			BIT_ULL(37)
#define SNB_SNOOPS			GENMASK_ULL(37, 31)

#endif /* CORE_SANDYBRIDGE_H */
