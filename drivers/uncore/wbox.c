// SPDX-License-Identifier: GPL-2.0-only
/*
 * Xeon 7500 W-Box: throttling, turbo and the uncore clock. Four counters for any
 * event and a fixed one for the clock.
 *
 *	perf stat -a -e xeon7500_wbox/uncore_clock/ sleep 1
 *	perf stat -a -e xeon7500_wbox/c_cycles_turbo.c0/ sleep 1
 *
 * Fields as in evsel.c; bit n of umask is core n. Uncore Programming Guide,
 * section 2.8.
 */
#include "evsel.h"
#include "xeon7500/wbox.h"

/* No code of the hardware: selects the fixed counter, as it does in mainline. */
#define WBOX_FIXED_CODE		0xff
#define WBOX_FIXED_IDX		W_NUM_COUNTERS

#define WBOX_CORES							\
	UNCORE_UMASKS({ "c0", 0x01 }, { "c1", 0x02 }, { "c2", 0x04 },	\
		      { "c3", 0x08 }, { "c4", 0x10 }, { "c5", 0x20 },	\
		      { "c6", 0x40 }, { "c7", 0x80 }, { "c_all", 0xff })

/* Table 2-102 */
static const struct uncore_event_desc wbox_events[] = {
	{ "c_throttle_tmp",		0x00, 1, WBOX_CORES },
	{ "c_c0_throttle_die",		0x01, 1, WBOX_CORES },
	{ "prochot",			0x02, 1 },
	{ "c_c0_throttle_prochot",	0x03, 1, WBOX_CORES },
	{ "c_cycles_turbo",		0x04, 1, WBOX_CORES },
	{ "tm1_on",			0x07, 1, WBOX_CORES },
	{ "ratio_change_abort",		0x08, 1, WBOX_CORES },
	{ "uncore_clock",		WBOX_FIXED_CODE, 1 },
	{}
};

static int wbox_decode(const struct perf_event *event, struct uncore_event *ue)
{
	if (uncore_field_get(&uncore_evsel_fields[EVSEL_EVENT], &event->attr) != WBOX_FIXED_CODE) {
		ue->claim.counters = GENMASK(W_NUM_COUNTERS - 1, 0);
		return uncore_evsel_decode(event, ue);
	}
	if (event->attr.config & GENMASK(31, 8))
		return uncore_refuse(event, -EINVAL, "the fixed counter has no options");
	ue->claim.counters = BIT(WBOX_FIXED_IDX);
	return 0;
}

static const struct uncore_fixed wbox_fixed = {
	.idx		= WBOX_FIXED_IDX,
	.evt_sel	= W_MSR_PMON_FIXED_CTR_CTL,
	.ctr		= W_MSR_PMON_FIXED_CTR,
	.ctr_en		= W_GLOBAL_FIXED,
	.enable		= W_FIXED_CTR_CTL_EN,
	.pmi_en		= W_FIXED_CTR_CTL_PMI_EN,
};

/*
 * A read just after a carry is too high. A 0 that was there before is not: of the two
 * values it can be, the counter has the one that is closer ahead of where it was.
 */
static u64 wbox_fixup_read(u64 count, u64 before)
{
	u64 less = count - W_CTR_ERRATUM_EXCESS;

	if ((count & W_CTR_ERRATUM_MASK) <= 1 &&
	    ((less - before) & UNCORE_COUNTER_MASK) < ((count - before) & UNCORE_COUNTER_MASK))
		return less;
	return count;
}

static const u16 wbox_base[] = { W_MSR_PMON_BASE };

const struct uncore_box_type wbox_type = {
	.name		= "wbox",
	.first		= UNCORE_WBOX,
	.num_boxes	= 1,
	.num_counters	= W_NUM_COUNTERS + 1,
	.base		= wbox_base,
	.box_ctl	= W_MSR_PMON_GLOBAL_CTL,
	.evt_sel	= W_MSR_PMON_EVT_SEL(0),
	.ctr		= W_MSR_PMON_CTR(0),
	.enable		= W_EVT_SEL_EN,
	.pmi_en		= W_EVT_SEL_PMI_EN,
	.fixed		= &wbox_fixed,
	.fields		= uncore_evsel_fields,
	.events		= wbox_events,
	.decode		= wbox_decode,
	.start_erratum	= true,
	.fixup_read	= wbox_fixup_read,
};
