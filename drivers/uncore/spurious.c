// SPDX-License-Identifier: GPL-2.0-only
/*
 * NMIs that come when there is nothing left to handle.
 *
 * An overflow can be handled without its NMI: together with another, by the watch, or
 * because its event was stopped. The NMI that comes later is ours all the same, but so
 * may nobody's be: one is taken for each such overflow, and not for long.
 */
#include <linux/ktime.h>
#include <linux/timekeeping.h>

#include "spurious.h"

/*
 * How long an NMI may be late whose overflow is handled already: normally it comes at
 * once, if at all, but a CPU that is itself a guest may be given no time for a while.
 */
#define UNCORE_TWICE_NS	(20 * NSEC_PER_USEC)
#define UNCORE_LATE_NS	(100 * NSEC_PER_MSEC)

/**
 * uncore_spurious_expect() - overflows were handled without their NMIs, which may yet come
 * @s: of their package
 * @nmis: how many
 */
void uncore_spurious_expect(struct uncore_spurious *s, unsigned int nmis)
{
	u64 now = ktime_get_mono_fast_ns();

	if (s->until < now)
		s->nmis = 0;
	s->nmis += nmis;
	s->until = now + UNCORE_LATE_NS;
}

/** uncore_spurious_expected() - may there be one of those? */
bool uncore_spurious_expected(const struct uncore_spurious *s)
{
	return READ_ONCE(s->nmis) && ktime_get_mono_fast_ns() < s->until;
}

/** uncore_spurious_twice() - an overflow was handled by its NMI, which may come again */
void uncore_spurious_twice(struct uncore_spurious *s)
{
	s->twice_until = ktime_get_mono_fast_ns() + UNCORE_TWICE_NS;
}

/**
 * uncore_spurious_take() - there is an NMI of which nothing is to be seen; is it known?
 * @s: of the package of this CPU
 *
 * Return: whether it is. It is not known a second time.
 */
bool uncore_spurious_take(struct uncore_spurious *s)
{
	if (ktime_get_mono_fast_ns() < s->twice_until) {
		s->twice_until = 0;
		return true;
	}
	if (!uncore_spurious_expected(s))
		return false;
	WRITE_ONCE(s->nmis, s->nmis - 1);
	return true;
}
