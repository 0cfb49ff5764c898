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

static int kmsg_fd = -1;
static int kmsg_level;	/* of the last record: KERN_INFO is 6 */

/* What comes later is for kmsg_next(). */
static inline void kmsg_mark(void)
{
	if (kmsg_fd < 0)
		kmsg_fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
	ktap_require(kmsg_fd >= 0, "/dev/kmsg: %s", strerror(errno));
	lseek(kmsg_fd, 0, SEEK_END);
}

/* The text of the next record, false if there is none yet. */
static inline bool kmsg_next(char *line, int size)
{
	char rec[2048], *text;
	ssize_t n;

	do {
		n = read(kmsg_fd, rec, sizeof(rec) - 1);
	} while (n < 0 && errno == EPIPE);
	if (n <= 0)
		return false;
	rec[n] = 0;
	kmsg_level = atoi(rec) & 7;
	text = strchr(rec, ';');
	text = text ? text + 1 : rec;
	text[strcspn(text, "\n")] = 0;
	snprintf(line, size, "%.*s", size - 1, text);
	return true;
}

/* Is there a new record with this in it? The number of those that have. */
static inline int kmsg_count(const char *what)
{
	char line[1024];
	int num = 0;

	while (kmsg_next(line, sizeof(line)))
		num += !!strstr(line, what);
	return num;
}

/* No new record tells of an NMI that nobody wanted. */
static inline void kmsg_no_unknown_nmi(void)
{
	char line[1024];

	while (kmsg_next(line, sizeof(line)))
		ktap_check(!strstr(line, "NMI received for unknown reason"), "%s", line);
}

#endif /* SELFTESTS_KMSG_H */
