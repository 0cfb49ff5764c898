// SPDX-License-Identifier: GPL-2.0-only
/*
 * VM: --machine silvermont
 * TIER: once
 * LONG: once
 */
#define _GNU_SOURCE
#include "offcore.h"

static const struct offcore_pair silvermont_pairs[] = {
	{ "demand_data_rd", 0x0001 }, { "demand_rfo", 0x0002 }, { "demand_code_rd", 0x0004 },
	{ "any_data_rd", 0x3091 }, { "any_rfo", 0x0022 }, { "any_code_rd", 0x0044 },
	{ "any_reads", 0x32f7 }, { "any_request", 0x8008 },
};

static const struct offcore silvermont = {
	.pairs = silvermont_pairs,
	.num_pairs = ARRAY_SIZE(silvermont_pairs),
	.any_request = 0x8008,
	.all_requests = 0x7fff,
};

static const struct offcore *offcore = &silvermont;

CORE_MAIN("37 4a 4c 4d 5a", OFFCORE_CASES)
