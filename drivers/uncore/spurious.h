/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * NMIs that come when there is nothing left to handle, see spurious.c.
 */
#ifndef UNCORE_SPURIOUS_H
#define UNCORE_SPURIOUS_H

#include <linux/types.h>

/**
 * struct uncore_spurious - the NMIs that may come to a package
 * @nmis: how many whose overflow was handled without an NMI,
 * @until: until when, ns
 * @twice_until: until when one whose overflow was handled by an NMI, ns
 */
struct uncore_spurious {
	unsigned int nmis;
	u64 until;
	u64 twice_until;
};

void uncore_spurious_expect(struct uncore_spurious *s, unsigned int nmis);
void uncore_spurious_twice(struct uncore_spurious *s);
bool uncore_spurious_expected(const struct uncore_spurious *s);
bool uncore_spurious_take(struct uncore_spurious *s);

#endif /* UNCORE_SPURIOUS_H */
