// SPDX-License-Identifier: GPL-2.0-only
#include "ring.h"

void ring_map(struct ring *r, int fd, unsigned int pages)
{
	memset(r, 0, sizeof(*r));
	r->fd = fd;
	r->size = (pages + 1) * RING_PAGE;
	r->page = mmap(NULL, r->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ktap_require(r->page != MAP_FAILED, "ring of %u pages: %s", pages, strerror(errno));
}

void ring_unmap(struct ring *r)
{
	munmap(r->page, r->size);
}

/* Position @at of the records, which begin anew where the mapping ends. */
static const char *ring_at(const struct ring *r, u64 at)
{
	return (const char *)r->page + RING_PAGE + at % (r->size - RING_PAGE);
}

const union ring_record *ring_record(struct ring *r)
{
	static union ring_record rec;
	const char *from = ring_at(r, r->tail);
	size_t len, first;

	if (!r->reading)
		r->head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
	r->reading = r->tail != r->head;
	if (!r->reading) {
		__atomic_store_n(&r->page->data_tail, r->tail, __ATOMIC_RELEASE);
		return NULL;
	}
	/* Records are a multiple of 8 bytes, so a header is never in two parts. */
	len = ((const struct perf_event_header *)from)->size;
	ktap_require(len >= sizeof(rec.header), "record of %zu bytes", len);
	first = (const char *)r->page + r->size - from;
	if (first > len)
		first = len;
	memcpy(&rec, from, first);
	memcpy((char *)&rec + first, ring_at(r, 0), len - first);
	r->tail += len;
	switch (rec.header.type) {
	case PERF_RECORD_SAMPLE:
		r->samples++;
		break;
	case PERF_RECORD_LOST:
		r->lost += rec.word[2];
		break;
	case PERF_RECORD_LOST_SAMPLES:
		r->lost += rec.word[1];
		break;
	case PERF_RECORD_THROTTLE:
		r->throttles++;
		break;
	case PERF_RECORD_UNTHROTTLE:
		r->unthrottles++;
		break;
	default:
		r->others++;
	}
	return &rec;
}
