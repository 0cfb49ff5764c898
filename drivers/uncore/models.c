// SPDX-License-Identifier: GPL-2.0-only
/*
 * The models of the CPU that have this uncore, see types.h. Their tables are those of the
 * boxes; what is here belongs to no single box.
 */
#include "types.h"

const struct uncore_model *uncore_model;

/* The boxes of a side, of which there are two, beside these C-Boxes */
#define SIDE(side, cboxes)	((cboxes) | BIT(UNCORE_SBOX + (side)) | BIT(UNCORE_BBOX + (side)) | \
				 BIT(UNCORE_MBOX + (side)) | BIT(UNCORE_RBOX + (side)))

const struct uncore_model uncore_nehalem_ex = {
	.identifier	= "nehalem-ex",
	.bit		= UNCORE_NEHALEM_EX,
	.boxes		= GENMASK(UNCORE_NUM_BOXES - 1, 0) &
			  ~GENMASK(UNCORE_CBOX + 9, UNCORE_CBOX + 8),
	.sides		= { SIDE(0, GENMASK(UNCORE_CBOX + 3, UNCORE_CBOX)),
			    SIDE(1, GENMASK(UNCORE_CBOX + 7, UNCORE_CBOX + 4)) },
};

const struct uncore_model uncore_westmere_ex = {
	.identifier	= "westmere-ex",
	.bit		= UNCORE_WESTMERE_EX,
	.boxes		= GENMASK(UNCORE_NUM_BOXES - 1, 0),
	/* Where ten C-Boxes report is in no source: any of them to any side. */
	.sides		= { SIDE(0, GENMASK(UNCORE_CBOX + 9, UNCORE_CBOX)),
			    SIDE(1, GENMASK(UNCORE_CBOX + 9, UNCORE_CBOX)) },
};
