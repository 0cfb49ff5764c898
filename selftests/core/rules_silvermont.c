// SPDX-License-Identifier: GPL-2.0-only
/*
 * VM: --machine silvermont
 * TIER: once
 * LONG: once
 *
 * The rules of the SDM, sections 18.6.1.1 to 18.6.3.
 */
#define _GNU_SOURCE
#include "rules.h"

static const uint16_t exact_events[] = {
	0x0103, 0x0803, 0x0204, 0x0404, 0x0804, 0x2004, 0x00c4, 0x7ec4, 0xbfc4, 0xebc4, 0xf7c4,
	0xf9c4, 0xfbc4, 0xfdc4, 0xfec4, 0x00c5, 0x7ec5, 0xebc5, 0xf7c5, 0xfbc5, 0xfec5, 0
};

static const struct rules silvermont = {
	.select = { 0x01b7, 0x02b7 },
	.request = 0xffff,
	.supplier = BIT(18),
	.snoop = BIT(31) | BIT(33) | BIT(34) | BIT(36) | BIT(37),
	.outstanding = { true, false },
	.exact = exact_events,
	.exact_from = 1,
};

static const struct rules *rules = &silvermont;

MACHINE_MAIN("37 4a 4c 4d 5a", RULES_CASES)
