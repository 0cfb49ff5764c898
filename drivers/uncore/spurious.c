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
#define UNCORE_AGAIN_NS	(20 * NSEC_PER_USEC)
#define UNCORE_LATE_NS	(100 * NSEC_PER_MSEC)

static void uncore_nmis_expect(struct uncore_nmis *nmis, unsigned int num, u64 life)
{
	u64 now = ktime_get_mono_fast_ns();

	if (nmis->until < now)
		nmis->num = 0;
	WRITE_ONCE(nmis->num, nmis->num + num);
	nmis->until = now + life;
}

static bool uncore_nmis_take(struct uncore_nmis *nmis)
{
	if (!uncore_nmis_expected(nmis))
		return false;
	WRITE_ONCE(nmis->num, nmis->num - 1);
	return true;
}

/**
 * uncore_spurious_expect() - overflows were handled without their NMIs, which may yet come
 * @s: of their package
 * @num: how many
 */
void uncore_spurious_expect(struct uncore_spurious *s, unsigned int num)
{
	uncore_nmis_expect(&s->late, num, UNCORE_LATE_NS);
}

/** uncore_spurious_again() - an overflow was handled by its NMI, which may come again */
void uncore_spurious_again(struct uncore_spurious *s)
{
	uncore_nmis_expect(&s->again, 1, UNCORE_AGAIN_NS);
}

/**
 * uncore_spurious_take() - there is an NMI of which nothing is to be seen; is it known?
 * @s: of the package of this CPU
 *
 * Return: whether it is. It is not known a second time.
 */
bool uncore_spurious_take(struct uncore_spurious *s)
{
	return uncore_nmis_take(&s->again) || uncore_nmis_take(&s->late);
}
