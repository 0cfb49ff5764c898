// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registers and bits that no page of the manual confirms are tried before an event gets
 * them.
 */
#include <asm/msr.h>

#include "box.h"
#include "compat.h"

/**
 * uncore_box_to_try() - does an event need what may not be there?
 * @event: the event, decoded
 *
 * That is shared registers, and bits of a control register that are inferred.
 */
bool uncore_box_to_try(struct perf_event *event)
{
	const struct uncore_event *ue = to_uncore_event(event);
	unsigned long counters = ue->config.claim.counters;
	int idx;

	for_each_set_bit(idx, &counters, UNCORE_MAX_COUNTERS) {
		if (ue->box->type->counters[idx].pmi_inferred && uncore_event_interrupts(event))
			return true;
	}
	return ue->config.claim.num_reqs;
}

/**
 * uncore_box_try() - is it there?
 * @event: likewise; on a CPU of the package, which is locked
 */
bool uncore_box_try(struct perf_event *event)
{
	struct uncore_event *ue = to_uncore_event(event);
	struct uncore_box *box = ue->box;
	unsigned long free = ue->config.claim.counters & ~box->claims.counters;
	int idx;

	for_each_set_bit(idx, &free, UNCORE_MAX_COUNTERS) {
		const struct uncore_counter_row *row = &box->type->counters[idx];
		unsigned int msr = uncore_ctl_msr(box, &box->counter[idx]);

		if (!row->pmi_inferred || !uncore_event_interrupts(event))
			continue;
		if (wrmsrq_safe(msr, row->enable | row->pmi_en) || wrmsrq_safe(msr, 0))
			return false;
	}
	return uncore_subregs_try(box, &ue->config);
}
