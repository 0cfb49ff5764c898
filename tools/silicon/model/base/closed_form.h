/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counting without ticking. What an event adds per uncore cycle is a periodic
 * pattern, so the sum over any stretch of cycles is whole periods times the
 * sum of one, plus two partial sums. Pure functions: no QEMU, no state but
 * what is passed in, so that a host test can check them cycle by cycle.
 */
#ifndef CLOSED_FORM_H
#define CLOSED_FORM_H

#include <stdbool.h>
#include <stdint.h>

#define CF_LOG2_MAX	12
#define CF_PERIOD_MAX	(1u << CF_LOG2_MAX)
#define CF_NEVER	UINT64_MAX
#define CF_MASK48	((1ull << 48) - 1)

/* The uncore clock: 2.266 GHz, as a ratio to nanoseconds. */
#define CF_HZ_NUM	1133ull
#define CF_HZ_DEN	500ull

uint64_t cf_cycle(uint64_t ns);		/* cycle in progress at this time */
uint64_t cf_ns(uint64_t cycle);		/* first ns at which it is */

/* What follows from a place alone, and looks like chance. */
uint64_t cf_hash(uint64_t x);

/* Increments per cycle; periods are powers of two, so any two combine. */
struct pattern {
	unsigned int log2;
	uint16_t inc[CF_PERIOD_MAX];
};

void pattern_zero(struct pattern *p);
void pattern_add(struct pattern *p, const struct pattern *q);
void pattern_and(struct pattern *p, const struct pattern *q);	/* p where q is not 0 */
void pattern_cap(struct pattern *p, unsigned int cap);

/*
 * Queues. Arrivals, at most one a cycle, become what is in the queue in each cycle if all
 * of them stay for so many cycles.
 */
void pattern_stay(struct pattern *p, uint64_t cycles);
/* The longest that they can stay with never more than depth of them there; 0: none arrives. */
uint64_t pattern_longest_stay(const struct pattern *arrivals, unsigned int depth);

/* Threshold and invert make 0 or 1 of an increment, edge then finds 0 to 1. */
struct shape {
	unsigned int threshold;
	bool invert;
	bool edge;
	bool invert_above;	/* invert is more than the threshold, not less */
	bool plain_below;	/* without invert it is at most the threshold, not at least */
};

void pattern_shape(struct pattern *p, const struct shape *shape);
/* What one increment of 1 amid idle cycles adds after shaping. */
unsigned int shape_pulse(const struct shape *shape);

/* A pattern made ready for summing; one count per div increments. */
struct series {
	unsigned int log2;
	unsigned int div;
	uint64_t total;		/* of one period */
	uint64_t pre[];		/* pre[i]: sum of the first i cycles */
};

struct series *series_new(const struct pattern *p, unsigned int div);
void series_free(struct series *s);
/* Counts in cycles [from, to); s may be NULL for an event that never happens. */
uint64_t series_count(const struct series *s, uint64_t from, uint64_t to);
/* First cycle at which series_count(from, cycle) >= n, n > 0. */
uint64_t series_reach(const struct series *s, uint64_t from, uint64_t n);

/* A 48-bit counter fed by a series. */
struct ctr48 {
	const struct series *series;	/* what it adds */
	const struct series *truth;	/* what really happens, mostly the same */
	uint64_t value;			/* at cycle `at` */
	uint64_t at;
	bool running;
	bool down;
	bool stop_at_wrap;		/* stop instead of wrapping */
	bool stopped;			/* did so */
};

struct ctr48_delta {
	uint64_t events;
	uint64_t overflows;
};

struct ctr48_delta ctr48_add(struct ctr48 *c, uint64_t n);
struct ctr48_delta ctr48_advance(struct ctr48 *c, uint64_t to);
uint64_t ctr48_next_overflow(const struct ctr48 *c);

#endif
