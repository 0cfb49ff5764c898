/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Phase sweeps. With --icount one instruction takes one nanosecond, for all CPUs
 * together, and the time stamp counter goes faster than that, so that it tells them
 * apart. So a race can be searched: an interrupt is moved through a call by one
 * instruction after the other.
 *
 * When the interrupt will come is known (SYN_DUE), and sweep_enter() ends so many
 * instructions before it. So a phase is what it is said to be, whatever happened on
 * the way there.
 *
 *	sweep_begin(&s, "read", 1);
 *	while (sweep_next(&s)) {
 *		due = ...;
 *		if (!sweep_enter(&s, due - s.phase))
 *			continue;
 *		... the call ...
 *		sweep_leave(&s);
 *		... find out when it came, and check the books ...
 *		sweep_was(&s, when);
 *	}
 *	sweep_check(&s);
 *
 * It begins before the call and ends by itself after it. sweep_check() demands that the
 * first interrupts have come before the call and the last ones after it, and that no two
 * of those within are further apart than a step.
 */
#ifndef SELFTESTS_SWEEP_H
#define SELFTESTS_SWEEP_H

#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "ktap.h"
#include "msr.h"

/* So many phases before the call, and so many after it. */
#define SWEEP_MARGIN	4

#define SWEEP_SLED	512

struct sweep {
	const char *what;
	int step;
	int phase;		/* instructions from the beginning of the call to the interrupt */
	u64 enter;		/* when the call began and ended, ns */
	u64 leave;
	/* So far */
	unsigned int phases;
	unsigned int before;
	unsigned int inside;
	unsigned int after;
	unsigned int slipped;	/* began too late and were done once more */
	unsigned int in_a_row;	/* of these */
	unsigned int bad;	/* the books did not balance */
	int length;		/* of the call, when nothing came */
	int last;		/* phase that counted */
	int gap;		/* largest between two of them */
};

/*
 * ns for each tick of the time stamp counter, times 2^64 and rounded down: the upper half of
 * a product with it is 1 less than the ns that the ticks stand for.
 */
static inline u64 sweep_ns_of_tick(void)
{
	static u64 ns;

	if (!ns)
		ns = ((unsigned __int128)1000000 << 64) / msr_read(0, SYN_TSC_KHZ);
	return ns;
}

static inline u64 sweep_ns(u64 ticks)
{
	return (u64)((unsigned __int128)ticks * sweep_ns_of_tick() >> 64) + 1;
}

static inline u64 sweep_now(void)
{
	uint32_t lo, hi;

	__asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi) :: "memory");
	return sweep_ns((u64)hi << 32 | lo);
}

/* Before the call, the interrupt has to come among the NOPs of sweep_enter(). */
static inline int sweep_step_before(int step)
{
	return step < SWEEP_SLED / 8 ? step : SWEEP_SLED / 8;
}

static inline void sweep_begin(struct sweep *s, const char *what, int step)
{
	memset(s, 0, sizeof(*s));
	s->what = what;
	s->step = step;
	s->phase = -SWEEP_MARGIN * sweep_step_before(step);
	s->last = INT_MIN;
	s->length = INT_MAX;
}

static inline bool sweep_next(struct sweep *s)
{
	ktap_require(s->in_a_row < 100, "%s: phase %d cannot be had", s->what, s->phase);
	return s->after < SWEEP_MARGIN;
}

static inline void sweep_slipped(struct sweep *s)
{
	s->slipped++;
	s->in_a_row++;
}

/*
 * Goes on at this very instruction: the second RDTSC reads @when. The way there from
 * the first one is ten instructions and as many NOPs as are needed. Returns false if
 * it is too late.
 */
static inline bool sweep_enter(struct sweep *s, u64 when)
{
	u64 left, t;

	s->phases++;
	while (sweep_now() + SWEEP_SLED < when)
		;
	left = when - 10 - 1;
	__asm__ volatile("rdtsc\n"
			 "shl $32, %%rdx\n"
			 "or %%rdx, %%rax\n"
			 "mul %3\n"
			 "sub %%rdx, %0\n"
			 "lea 1f(%%rip), %%rdx\n"
			 "sub %0, %%rdx\n"
			 "cmp %2, %0\n"
			 "ja 2f\n"
			 "jmp *%%rdx\n"
			 ".fill %c2, 1, 0x90\n"
			 "1: rdtsc\n"
			 "shl $32, %%rdx\n"
			 "or %%rdx, %%rax\n"
			 "2:\n"
			 : "+r"(left), "=&a"(t) : "i"(SWEEP_SLED), "r"(sweep_ns_of_tick())
			 : "rdx", "cc", "memory");
	if (left > SWEEP_SLED) {
		sweep_slipped(s);
		return false;
	}
	s->enter = sweep_ns(t);
	return true;
}

static inline void sweep_leave(struct sweep *s)
{
	s->leave = sweep_now();
}

/*
 * The interrupt came, or would have come, at this time. Something else may have come
 * between sweep_enter() and the call: then it is not the phase it was to be.
 */
static inline void sweep_was(struct sweep *s, u64 when)
{
	int phase = (int64_t)(when - s->enter);

	if (s->phase > 0 ? phase != s->phase : phase > 0) {
		sweep_slipped(s);
		return;
	}
	s->in_a_row = 0;
	if (s->phase <= 0) {
		s->before++;
	} else if (when <= s->leave) {
		s->inside++;
		s->after = 0;
	} else {
		int length = s->leave - s->enter;

		s->after++;
		if (s->length > length)
			s->length = length;
	}
	if (s->last != INT_MIN && s->gap < s->phase - s->last)
		s->gap = s->phase - s->last;
	s->last = s->phase;
	s->phase += s->phase < 0 ? sweep_step_before(s->step) : s->step;
}

static inline void sweep_check(const struct sweep *s)
{
	ktap_note("%s: %d instructions; %u phases before, %u inside, every %d, %u after, %u done again",
		  s->what, s->length, s->before, s->inside, s->step, s->after, s->slipped);
	ktap_check(s->before && s->after && s->inside && s->gap <= s->step &&
		   (int)(s->inside + 2) * s->step > s->length,
		   "%s: from %u phases before to %u after, %u inside, gaps up to %d", s->what,
		   s->before, s->after, s->inside, s->gap);
	ktap_check(!s->bad, "%s: %u phases are wrong", s->what, s->bad);
}

#endif /* SELFTESTS_SWEEP_H */
