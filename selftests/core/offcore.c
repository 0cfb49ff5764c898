// SPDX-License-Identifier: GPL-2.0-only
/*
 * VM: --machine goldmont
 * LONG: each
 */
#define _GNU_SOURCE
#include "offcore.h"

static const struct offcore_pair goldmont_pairs[] = {
	{ "demand_data_rd", 0x0001 }, { "demand_rfo", 0x0002 }, { "demand_code_rd", 0x0004 },
	{ "any_data_rd", 0x3091 }, { "any_rfo", 0x0022 }, { "any_read", 0x32b7 },
	{ "any_request", 0x8000 },
};

static const struct offcore goldmont = {
	.pairs = goldmont_pairs,
	.num_pairs = ARRAY_SIZE(goldmont_pairs),
	.any_request = 0x8000,
	.all_requests = 0x7fbf,
};

static const struct offcore *offcore = &goldmont;

CORE_MAIN("5c 5f", OFFCORE_CASES)
