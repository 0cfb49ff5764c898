/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Registers that several counters of a box share: match and mask, IPERF, QLX and the like.
 * claims.c decides who uses which of their fields, this writes them.
 */
#ifndef UNCORE_SUBREGS_H
#define UNCORE_SUBREGS_H

#include <linux/bitmap.h>

#include "types.h"

struct uncore_box;

/**
 * struct uncore_subreg_state - the shared registers of a box
 * @val: what was last written to each
 * @known: those that hold @val, for nobody else has owned the box since
 * @tried: those that somebody has tried to read
 * @bad: those that cannot be read
 */
struct uncore_subreg_state {
	u64 val[UNCORE_MAX_SUBREGS];
	DECLARE_BITMAP(known, UNCORE_MAX_SUBREGS);
	DECLARE_BITMAP(tried, UNCORE_MAX_SUBREGS);
	DECLARE_BITMAP(bad, UNCORE_MAX_SUBREGS);
};

bool uncore_subregs_try(struct uncore_box *box, const struct uncore_config *config);
int uncore_subregs_write(struct uncore_box *box, const struct uncore_config *config);
void uncore_subregs_release(struct uncore_box *box);

#endif /* UNCORE_SUBREGS_H */
