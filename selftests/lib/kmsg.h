/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel log, from a moment on.
 *
 *	kmsg_mark();
 *	...
 *	while (kmsg_next(line, sizeof(line)))
 */
#ifndef SELFTESTS_KMSG_H
#define SELFTESTS_KMSG_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ktap.h"

extern int kmsg_level;	/* of the last record: KERN_INFO is 6 */

/* What comes later is for kmsg_next(). */
void kmsg_mark(void);

/*
 * The text of the next record, false if there is none. A record can be read when all before it
 * are complete, and another CPU may be in the middle of one: so it waits, up to 100 ms from the
 * first call that finds none to the one that says so.
 */
bool kmsg_next(char *line, int size);

/* Is there a new record with this in it? The number of those that have. */
int kmsg_count(const char *what);

/* No new record tells of an NMI that nobody wanted. */
void kmsg_no_unknown_nmi(void);

#endif /* SELFTESTS_KMSG_H */
