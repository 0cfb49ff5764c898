/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * NMIs that come when there is nothing left to handle, see spurious.c.
 */
#ifndef UNCORE_SPURIOUS_H
#define UNCORE_SPURIOUS_H

#include <linux/timekeeping.h>
#include <linux/types.h>

/**
 * struct uncore_nmis - NMIs that may come
 * @num: how many
 * @until: until when, ns
 */
struct uncore_nmis {
	unsigned int num;
	u64 until;
};

/**
 * struct uncore_spurious - the NMIs that may come to a package with nothing left to handle
 * @late: whose overflows were handled without them
 * @again: whose overflows were handled by them, so that they come a second time
 */
struct uncore_spurious {
	struct uncore_nmis late;
	struct uncore_nmis again;
};

void uncore_spurious_expect(struct uncore_spurious *s, unsigned int num);
void uncore_spurious_again(struct uncore_spurious *s);
bool uncore_spurious_take(struct uncore_spurious *s);

static inline bool uncore_nmis_expected(const struct uncore_nmis *nmis)
{
	return READ_ONCE(nmis->num) && ktime_get_mono_fast_ns() < nmis->until;
}

/* May one come? */
static inline bool uncore_spurious_expected(const struct uncore_spurious *s)
{
	return uncore_nmis_expected(&s->late) || uncore_nmis_expected(&s->again);
}

#endif /* UNCORE_SPURIOUS_H */
