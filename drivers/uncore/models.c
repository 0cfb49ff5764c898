// SPDX-License-Identifier: GPL-2.0-only
/*
 * The models of the CPU that have this uncore, see types.h. Their tables are those of the
 * boxes; what is here belongs to no single box.
 */
#include "types.h"

const struct uncore_model *uncore_model;

/* The boxes of side 0, beside C-Boxes; one bit higher are those of side 1 */
#define SIDE_0	(BIT(UNCORE_SBOX) | BIT(UNCORE_BBOX) | BIT(UNCORE_MBOX) | BIT(UNCORE_RBOX))

const struct uncore_model uncore_nehalem_ex = {
	.identifier	= "nehalem-ex",
	.bit		= UNCORE_NEHALEM_EX,
	.boxes		= GENMASK(UNCORE_NUM_BOXES - 1, 0) &
			  ~GENMASK(UNCORE_CBOX + 9, UNCORE_CBOX + 8),
	.sides		= { SIDE_0 | GENMASK(UNCORE_CBOX + 3, UNCORE_CBOX),
			    SIDE_0 << 1 | GENMASK(UNCORE_CBOX + 7, UNCORE_CBOX + 4) },
};

const struct uncore_model uncore_westmere_ex = {
	.identifier	= "westmere-ex",
	.bit		= UNCORE_WESTMERE_EX,
	.boxes		= GENMASK(UNCORE_NUM_BOXES - 1, 0),
	/* No source says where ten C-Boxes report: check all of them for each side. */
	.sides		= { SIDE_0 | GENMASK(UNCORE_CBOX + 9, UNCORE_CBOX),
			    SIDE_0 << 1 | GENMASK(UNCORE_CBOX + 9, UNCORE_CBOX) },
};
