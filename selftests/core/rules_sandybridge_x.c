// SPDX-License-Identifier: GPL-2.0-only
/*
 * VM: --machine sandybridge --model 2d
 * TIER: once
 * LONG: once
 *
 * The rules of the SDM, section 18.9.5, for the server: any of eight bits is
 * remote memory.
 */
#define _GNU_SOURCE
#include "rules.h"

static const struct rules sandybridge_x = {
	.select = { 0x01b7, 0x01bb },
	.request = BITS(11, 0) | BIT(15),
	.supplier = BITS(30, 17),
	.snoop = BITS(37, 31),
	.both = true,
};

static const struct rules *rules = &sandybridge_x;

MACHINE_MAIN("2d", RULES_CASES)
