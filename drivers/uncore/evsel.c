// SPDX-License-Identifier: GPL-2.0-only
/*
 * Event selection as C, S and W boxes do it, see evsel.h.
 *
 *	event	the code of the event
 *	umask	its sub-events, ORed
 *	thresh	0: count the increment of every clock; n: count clocks in which it
 *		is at least n
 *	inv	with thresh n: count clocks in which it is less than n
 *	edge	count how often the condition becomes true
 */
#include <linux/bitfield.h>

#include "evsel.h"
#include "xeon7500/cbox.h"

const struct uncore_field uncore_evsel_fields[] = {
	UNCORE_EVSEL_FIELDS,
	{}
};

/**
 * uncore_evsel_decode() - box op: event, umask, edge, inv and thresh
 * @event: the user's event
 * @ue: filled in
 *
 * Return: 0, or -EINVAL for an event or umask the manual does not have.
 */
int uncore_evsel_decode(const struct perf_event *event, struct uncore_event *ue)
{
	const struct uncore_box_type *type = to_uncore_pmu(event->pmu)->type;
	const struct uncore_field *f = uncore_evsel_fields;
	const struct perf_event_attr *attr = &event->attr;
	unsigned int code = uncore_field_get(&f[EVSEL_EVENT], attr);
	unsigned int umask = uncore_field_get(&f[EVSEL_UMASK], attr);
	unsigned int thresh = uncore_field_get(&f[EVSEL_THRESH], attr);
	bool inv = uncore_field_get(&f[EVSEL_INV], attr);
	const struct uncore_event_desc *desc;

	desc = uncore_find_event(type->events, code);
	if (!desc)
		return uncore_refuse(event, -EINVAL, "no event %#x", code);
	if (inv && !thresh)
		return uncore_refuse(event, -EINVAL, "inv without thresh: never less than 0");

	ue->ctl = FIELD_PREP(C_EVT_SEL_EV_SEL, code) |
		  FIELD_PREP(C_EVT_SEL_UMASK, umask) |
		  FIELD_PREP(C_EVT_SEL_EDGE_DETECT, uncore_field_get(&f[EVSEL_EDGE], attr)) |
		  FIELD_PREP(C_EVT_SEL_INVERT, inv) |
		  FIELD_PREP(C_EVT_SEL_THRESHOLD, thresh) |
		  desc->ctl;
	return uncore_check_umask(event, desc, umask);
}
