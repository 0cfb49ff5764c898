// SPDX-License-Identifier: GPL-2.0-only
/*
 * The models of the CPU that have this uncore, see types.h. Their tables are those of the
 * boxes; what is here belongs to no single box.
 */
#include "types.h"
#include "xeon7500/sbox.h"

const struct uncore_model *uncore_model;

/* M- and B-Box of each side */
#define SIDE_MB_0	(BIT(UNCORE_MBOX) | BIT(UNCORE_BBOX))
#define SIDE_MB_1	(BIT(UNCORE_MBOX + 1) | BIT(UNCORE_BBOX + 1))

static const struct uncore_summary nehalem_ex_summary[] = {
	{ S_SUMMARY_OV_C_L,	{ 3 << UNCORE_CBOX, 3 << (UNCORE_CBOX + 4) } },
	{ S_SUMMARY_OV_C_R,	{ 3 << (UNCORE_CBOX + 2), 3 << (UNCORE_CBOX + 6) } },
	{ S_SUMMARY_OV_MB,	{ SIDE_MB_0, SIDE_MB_1 } },
	{ S_SUMMARY_OV_S,	{ BIT(UNCORE_SBOX), BIT(UNCORE_SBOX + 1) } },
	{ S_SUMMARY_OV_R,	{ BIT(UNCORE_RBOX), BIT(UNCORE_RBOX + 1) } },
	{}
};

#define WESTMERE_EX_CBOXES	GENMASK(UNCORE_CBOX + 9, UNCORE_CBOX)

/*
 * Where ten C-Boxes report is in no source: any bit that may be one of them stands for all
 * of them.
 */
static const struct uncore_summary westmere_ex_summary[] = {
	{ S_SUMMARY_OV_C,	{ WESTMERE_EX_CBOXES, WESTMERE_EX_CBOXES } },
	{ S_SUMMARY_OV_MB,	{ SIDE_MB_0, SIDE_MB_1 } },
	{ S_SUMMARY_OV_S,	{ BIT(UNCORE_SBOX), BIT(UNCORE_SBOX + 1) } },
	{ S_SUMMARY_OV_R,	{ BIT(UNCORE_RBOX), BIT(UNCORE_RBOX + 1) } },
	{}
};

const struct uncore_model uncore_nehalem_ex = {
	.identifier	= "nehalem-ex",
	.bit		= UNCORE_NEHALEM_EX,
	.boxes		= GENMASK(UNCORE_NUM_BOXES - 1, 0) &
			  ~GENMASK(UNCORE_CBOX + 9, UNCORE_CBOX + 8),
	.summary	= nehalem_ex_summary,
};

const struct uncore_model uncore_westmere_ex = {
	.identifier	= "westmere-ex",
	.bit		= UNCORE_WESTMERE_EX,
	.boxes		= GENMASK(UNCORE_NUM_BOXES - 1, 0),
	.summary	= westmere_ex_summary,
};
