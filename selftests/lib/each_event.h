/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every event of every box, counted on every package and compared with the truth.
 */
#ifndef SELFTESTS_EACH_EVENT_H
#define SELFTESTS_EACH_EVENT_H

#include "silicon.h"

/* Returns how many there are. */
unsigned int count_each_event(void);

#endif /* SELFTESTS_EACH_EVENT_H */
