// SPDX-License-Identifier: GPL-2.0-only
/*
 * Xeon 7500 and E7 U-Box: interrupts, locks, errors. One counter.
 *
 *	perf stat -a -e xeon7500_ubox/ipis_sent/ sleep 1
 *
 *	event	the code of the event
 *	edge	count how often the condition becomes true
 *
 * Uncore Programming Guide, section 2.2. The four error events have nine-bit codes
 * though the register table gives ev_sel eight bits; see Documentation/ubox.md.
 */
#include "types.h"
#include "xeon7500/ubox.h"

enum {
	UBOX_EVENT,
	UBOX_EDGE,
};

static const struct uncore_field ubox_fields[] = {
	[UBOX_EVENT]	= { "event",	0, 0, 8, UNCORE_CTL(U_EV_SEL_EV_SEL) },
	[UBOX_EDGE]	= { "edge",	0, 18, 18, UNCORE_CTL(U_EV_SEL_EDGE_DETECT) },
	{}
};

/* Table 2-8 and the detail list of section 2.2.3 */
static const struct uncore_event_desc ubox_events[] = {
	{ "buf_valid_local_int",	0x000 },
	{ "buf_valid_remote_int",	0x001 },
	{ "buf_valid_lock",		0x002 },
	{ "buf_valid_stst",		0x003 },
	{ "buf_valid_spc_cycles",	0x004 },
	{ "buf_valid_door_bell",	0x005, UNCORE_WESTMERE_ONLY },
	{ "buf_valid_pm_in",		0x006, UNCORE_WESTMERE_ONLY },
	{ "buf_valid_pm_out",		0x007, UNCORE_WESTMERE_ONLY },
	{ "u2r_requests",		0x050 },
	{ "u2b_request_cycles",		0x051 },
	{ "woken",			0x0f8 },
	{ "ipis_sent",			0x0f9 },
	{ "recov",			0x1df },
	{ "corrected_err",		0x1e4 },
	{ "uncorrected_err",		0x1e5 },
	{ "fatal_err",			0x1e6, .inferred = UNCORE_WESTMERE_EX },
	{}
};

static const u16 ubox_base[] = { 0 };

static const struct uncore_counter_row ubox_counters[] = {
	{ U_MSR_PMON_EV_SEL, U_MSR_PMON_CTR, U_GLOBAL_OV_U, U_EV_SEL_EN, U_EV_SEL_PMI_EN },
};

const struct uncore_box_type ubox_type = {
	.name			= "ubox",
	.first			= UNCORE_UBOX,
	.num_boxes		= ARRAY_SIZE(ubox_base),
	.base			= ubox_base,
	.enabled_by_package	= true,
	.counters		= ubox_counters,
	.num_counters		= ARRAY_SIZE(ubox_counters),
	.fields			= ubox_fields,
	.common			= BIT(UBOX_EVENT) | BIT(UBOX_EDGE),
	.events			= ubox_events,
	.quirks			= { .ctl_unsure = U_EV_SEL_EV_SEL & ~GENMASK(7, 0) },
};
