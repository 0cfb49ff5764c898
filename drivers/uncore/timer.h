/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The timer of a package, see timer.c.
 */
#ifndef UNCORE_TIMER_H
#define UNCORE_TIMER_H

#include "package.h"

void uncore_timer_init(struct uncore_package *pkg);
void uncore_timer_start(struct uncore_package *pkg);
void uncore_timer_cancel(struct uncore_package *pkg);

#endif /* UNCORE_TIMER_H */
