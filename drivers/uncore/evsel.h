/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * U, C, S and W boxes select events in the same way: code and umask in the low
 * bytes, then edge, invert and threshold. Their config words mirror the register.
 */
#ifndef UNCORE_EVSEL_H
#define UNCORE_EVSEL_H

#include "uncore.h"

enum {
	EVSEL_EVENT,
	EVSEL_UMASK,
	EVSEL_EDGE,
	EVSEL_INV,
	EVSEL_THRESH,
	EVSEL_NUM_FIELDS,
};

#define UNCORE_EVSEL_FIELDS			\
	[EVSEL_EVENT]	= { "event",	0, 0, 7 },	\
	[EVSEL_UMASK]	= { "umask",	0, 8, 15 },	\
	[EVSEL_EDGE]	= { "edge",	0, 18, 18 },	\
	[EVSEL_INV]	= { "inv",	0, 23, 23 },	\
	[EVSEL_THRESH]	= { "thresh",	0, 24, 31 }

extern const struct uncore_field uncore_evsel_fields[];

int uncore_evsel_decode(const struct perf_event *event, struct uncore_event *ue);

#endif /* UNCORE_EVSEL_H */
