/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What it costs to count and to sample on C-Boxes: register accesses, as the silicon counts
 * them. The same on all models.
 */
#ifndef SELFTESTS_SESSION_H
#define SELFTESTS_SESSION_H

#include "sampling.h"

/* Reads and writes of session(): one event; 12 on two boxes; a group of three */
#define SESSION_ONE	1, 7
#define SESSION_TWELVE	12, 62
#define SESSION_GROUP	3, 13

/* Accesses for an overflow of an event that samples and does not freeze. */
#define OVERFLOW_COST	9

unsigned int reads(void);

unsigned int writes(void);

/* Opens num events over C-Boxes, as groups of size; enables, reads and closes them. */
void session(int first, int boxes, int num, int size, unsigned int want_reads,
	     unsigned int want_writes);

/*
 * One box samples; seldom enough that no overflow comes while a debug kernel still handles the
 * one before. The driver looks for lost PMIs 10 ms after the first event, and after what counts
 * a second after: this ends before, and begins when the timers of earlier events have ended.
 */
void overflow_cost(const char *pmu);

/*
 * Every event of every box, counted on every package and compared with the truth. Returns how
 * many there are.
 */
unsigned int count_each_event(void);

#endif /* SELFTESTS_SESSION_H */
