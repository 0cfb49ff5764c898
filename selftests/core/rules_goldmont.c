// SPDX-License-Identifier: GPL-2.0-only
/*
 * VM: --machine goldmont
 * TIER: quick
 *
 * The rules of the SDM, sections 18.7.1.2 and 18.7.2.
 */
#define _GNU_SOURCE
#include "rules.h"

static const struct rules goldmont = {
	.select = { 0x01b7, 0x02b7 },
	.request = 0xffbf,
	.not_in = { 0, BIT(3) },
	.supplier = BIT(18),
	.snoop = BIT(33) | BIT(34) | BIT(36) | BIT(37),
	.outstanding = { true, false },
	.imprecise = BIT(23) | BIT(21) | BIT(18) | BITS(31, 24),
};

static const struct rules *rules = &goldmont;

MACHINE_MAIN("5c 5f", RULES_CASES)
