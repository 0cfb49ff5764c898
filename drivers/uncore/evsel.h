/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * C, S and W boxes select events in the same way, and their config words mirror the
 * control register:
 *
 *	event	the code of the event
 *	umask	its sub-events, ORed
 *	thresh	0: count the increment of every clock; n: count clocks in which it
 *		is at least n
 *	inv	with thresh n: count clocks in which it is less than n
 *	edge	count how often the condition becomes true; without thresh that is an
 *		event of one bit
 *
 * thresh and inv as in the text of the guide. By its tables inv counts clocks with more than n, and
 * in S and W boxes thresh alone those with at most n.
 */
#ifndef UNCORE_EVSEL_H
#define UNCORE_EVSEL_H

#include "types.h"
#include "xeon7500/cbox.h"

enum {
	EVSEL_EVENT,
	EVSEL_UMASK,
	EVSEL_EDGE,
	EVSEL_INV,
	EVSEL_THRESH,
	EVSEL_NUM_FIELDS,
};

/* Nothing is ever less than 0, so inv needs a thresh. */
#define UNCORE_EVSEL_FIELDS							\
	[EVSEL_EVENT]	= { "event",	0, 0, 7, UNCORE_CTL(C_EVT_SEL_EV_SEL) },	\
	[EVSEL_UMASK]	= { "umask",	0, 8, 15, UNCORE_TO_UMASK, .bits = C_EVT_SEL_UMASK }, \
	[EVSEL_EDGE]	= { "edge",	0, 18, 18, UNCORE_CTL(C_EVT_SEL_EDGE_DETECT),	\
			    .if_adds = EVSEL_THRESH },				\
	[EVSEL_INV]	= { "inv",	0, 23, 23, UNCORE_CTL(C_EVT_SEL_INVERT),	\
			    .if_field = EVSEL_THRESH, .if_values = ~BIT_ULL(0) },	\
	[EVSEL_THRESH]	= { "thresh",	0, 24, 31, UNCORE_CTL(C_EVT_SEL_THRESHOLD) }

/*
 * Counts every clock: the increment of @event, at most some dozens, is less than 255. That is with
 * invert or without, for text and tables of the guide disagree.
 */
#define EVSEL_CLOCK(event, umask)	((event) | (umask) << 8 | C_EVT_SEL_THRESHOLD)

/* All of them. */
#define UNCORE_EVSEL_ALL	GENMASK(EVSEL_THRESH, EVSEL_EVENT)

#endif /* UNCORE_EVSEL_H */
