// SPDX-License-Identifier: GPL-2.0-only
/*
 * Xeon 7500 and E7 W-Box: throttling, turbo and the uncore clock. Four counters for any
 * event and a fixed one for the clock.
 *
 *	perf stat -a -e xeon7500_wbox/uncore_clock/ sleep 1
 *	perf stat -a -e xeon7500_wbox/c_cycles_turbo.c0/ sleep 1
 *
 * Fields as in evsel.h; bit n of umask is core n, of the first eight. Uncore Programming Guide,
 * section 2.8.
 */
#include "evsel.h"
#include "xeon7500/wbox.h"

static const struct uncore_field wbox_fields[] = {
	UNCORE_EVSEL_FIELDS,
	{}
};

/* No code of the hardware: selects the fixed counter, as it does in mainline. */
#define WBOX_FIXED_CODE		0xff
#define WBOX_FIXED		W_NUM_COUNTERS

/*
 * No event adds more than 1 in a clock. So we assume that several cores, or c_all, count the clocks
 * in which any of them is. No source says how ten cores are selected.
 */
#define WBOX_CORES							\
	UNCORE_UMASKS({ "c0", 0x01 }, { "c1", 0x02 }, { "c2", 0x04 },	\
		      { "c3", 0x08 }, { "c4", 0x10 }, { "c5", 0x20 },	\
		      { "c6", 0x40 }, { "c7", 0x80 }, { "c_all", 0xff }),	\
	.inferred = UNCORE_WESTMERE_EX

/* Fields of the other counters; the fixed one has none. */
#define WBOX_ANY	\
	.counters = GENMASK(W_NUM_COUNTERS - 1, 0), .filters = UNCORE_EVSEL_ALL

/* Table 2-102 */
static const struct uncore_event_desc wbox_events[] = {
	{ "c_throttle_tmp",		0x00, WBOX_CORES, WBOX_ANY },
	{ "c_c0_throttle_die",		0x01, WBOX_CORES, WBOX_ANY },
	{ "prochot",			0x02, WBOX_ANY },
	{ "c_c0_throttle_prochot",	0x03, WBOX_CORES, WBOX_ANY },
	{ "c_cycles_turbo",		0x04, WBOX_CORES, WBOX_ANY },
	{ "tm1_on",			0x07, WBOX_CORES, WBOX_ANY },
	{ "ratio_change_abort",		0x08, WBOX_CORES, WBOX_ANY },
	{ "uncore_clock",		WBOX_FIXED_CODE, .counters = BIT(WBOX_FIXED) },
	{}
};

/* Absolute: the fixed counter is far away from the others. */
static const u16 wbox_base[] = { 0 };

#define WBOX_EVT_SEL(n)	(W_MSR_PMON_BASE + W_MSR_PMON_EVT_SEL(n))
#define WBOX_CTR(n)	(W_MSR_PMON_BASE + W_MSR_PMON_CTR(n))

static const struct uncore_counter_row wbox_counters[] = {
	UNCORE_COUNTERS_4(WBOX_EVT_SEL, WBOX_CTR, W_EVT_SEL_EN, W_EVT_SEL_PMI_EN,
			  EVSEL_CLOCK(0x02, 0)),
	[WBOX_FIXED] = {
		.ctl		= W_MSR_PMON_FIXED_CTR_CTL,
		.ctr		= W_MSR_PMON_FIXED_CTR,
		.bit		= W_GLOBAL_FIXED,
		.enable		= W_FIXED_CTR_CTL_EN,
		.pmi_en		= W_FIXED_CTR_CTL_PMI_EN,
		.pmi_inferred	= true,
	},
};

/*
 * A read just after a carry is too high. A low part that is really 0 or 1 is correct as read: of
 * the two possible values take the nearer one ahead of the last.
 */
static u64 wbox_erratum_read(u64 count, u64 before)
{
	u64 less = count - W_CTR_ERRATUM_EXCESS;

	if ((count & W_CTR_ERRATUM_MASK) <= 1 &&
	    ((less - before) & UNCORE_COUNTER_MASK) < ((count - before) & UNCORE_COUNTER_MASK))
		return less;
	return count;
}

static u64 wbox_erratum_start(u64 start)
{
	return (start & W_CTR_ERRATUM_MASK) >= W_CTR_ERRATUM_MASK - 1 ? start - 2 : start;
}

const struct uncore_box_type wbox_type = {
	.name		= "wbox",
	.first		= UNCORE_WBOX,
	.num_boxes	= ARRAY_SIZE(wbox_base),
	.base		= wbox_base,
	.box_ctl	= W_MSR_PMON_BASE + W_MSR_PMON_GLOBAL_CTL,
	.counters	= wbox_counters,
	.num_counters	= ARRAY_SIZE(wbox_counters),
	.fields		= wbox_fields,
	.events		= wbox_events,
	.quirks		= {
		.read		= wbox_erratum_read,
		.start		= wbox_erratum_start,
		.ctl_unsure	= W_FIXED_CTR_CTL_PMI_EN,
	},
};
