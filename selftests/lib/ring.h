/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ring buffer of a perf event: maps it, takes its records out one by one and counts
 * those that are no samples. What is in a sample, the user knows.
 *
 *	ring_map(&ring, fd, pages);
 *	...
 *	while ((rec = ring_record(&ring)))
 *		if (rec->header.type == PERF_RECORD_SAMPLE)
 *			...
 */
#ifndef SELFTESTS_RING_H
#define SELFTESTS_RING_H

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "ktap.h"

#define RING_PAGE	4096UL

struct ring {
	int fd;
	u64 type;		/* sample_type of the event, for who decodes by it */
	struct perf_event_mmap_page *page;
	size_t size;		/* of the mapping */
	bool reading;		/* up to head */
	u64 head;
	u64 tail;
	/* Records so far */
	u64 samples;
	u64 lost;		/* sum of what they say */
	u64 throttles;
	u64 unthrottles;
	u64 others;
};

/* A record is never longer than its header can say. */
union ring_record {
	struct perf_event_header header;
	u64 word[8192];
};

/* pages: a power of two. */
void ring_map(struct ring *r, int fd, unsigned int pages);

void ring_unmap(struct ring *r);

/*
 * The next record, until the next call. NULL when all are through that were there at the
 * first call, so that a fast event cannot keep a reader for ever; only then is their room
 * given back to the kernel. The call after that begins again.
 */
const union ring_record *ring_record(struct ring *r);

#endif /* SELFTESTS_RING_H */
