// SPDX-License-Identifier: GPL-2.0-only
/*
 * VM: --machine sandybridge --cores 2 --threads 2
 * TIER: once
 * LONG: once
 *
 * The rules of the SDM, section 18.9.5. There is no precise_ip=3 here.
 */
#define _GNU_SOURCE
#include "rules.h"

static const struct rules sandybridge = {
	.select = { 0x01b7, 0x01bb },
	.request = BITS(11, 0) | BIT(15),
	.supplier = BITS(22, 17),
	.snoop = BITS(37, 31),
	.both = true,
};

static const struct rules *rules = &sandybridge;

MACHINE_MAIN("2a", RULES_CASES)
