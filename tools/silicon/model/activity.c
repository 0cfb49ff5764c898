// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a box does: one list of transactions, of which events show each a part. So what must
 * agree does: each request of the list is a hit or a miss, and what is in a queue is what
 * has come in.
 *
 * A box goes through its list at a steady pace, a transaction in each cycle: so many of the
 * first kind, then those of the second; the cycles that remain are idle, and it begins anew.
 * How many of each kind differs from place to place. In a queue every entry stays for the
 * same time: the longest with which the queue never holds more than it can, so that it is
 * full now and then.
 *
 * What an event shows is in the spec ("projects"). Events without that have a rhythm of
 * their own, see traffic.c, and so has an event for which a test has set one.
 */
#include "uncore.h"

#define PERIOD_LOG2	8u

/* One kind of transaction: at least so many of it, and fewer than `spread` more. */
struct kind {
	uint32_t tags;
	uint8_t least, spread;
};

/*
 * Requests of the cores, then snoops. Queues want more of their kind in a row than they
 * have entries. A miss on a line that is there in S or F only wants to own it: no fill.
 */
static const struct kind c_kinds[] = {
	{ TAG_C_CORE | TAG_C_HIT | TAG_C_M, 8, 8 },
	{ TAG_C_CORE | TAG_C_HIT | TAG_C_E, 16, 16 },
	{ TAG_C_CORE | TAG_C_HIT | TAG_C_S, 12, 8 },
	{ TAG_C_CORE | TAG_C_HIT | TAG_C_F, 4, 4 },
	{ TAG_C_CORE | TAG_C_MAF | TAG_C_MISS | TAG_C_S, 3, 3 },
	{ TAG_C_CORE | TAG_C_MAF | TAG_C_MISS | TAG_C_F, 2, 2 },
#define MISS (TAG_C_CORE | TAG_C_MAF | TAG_C_MISS | TAG_C_I)
	{ MISS | TAG_C_FILL_E | TAG_C_FILL_WITHOUT_VICTIM, 2, 2 },
	{ MISS | TAG_C_FILL_M | TAG_C_VICTIM | TAG_C_VICTIM_M, 2, 3 },
	{ MISS | TAG_C_FILL_E | TAG_C_VICTIM | TAG_C_VICTIM_E, 8, 8 },
	{ MISS | TAG_C_FILL_S | TAG_C_VICTIM | TAG_C_VICTIM_S, 6, 6 },
	{ MISS | TAG_C_FILL_F | TAG_C_VICTIM | TAG_C_VICTIM_F, 3, 3 },
#undef MISS
	{ TAG_C_SNOOP | TAG_C_MAF | TAG_C_READ | TAG_C_HIT | TAG_C_M, 2, 2 },
	{ TAG_C_SNOOP | TAG_C_MAF | TAG_C_READ | TAG_C_HIT | TAG_C_E, 2, 2 },
	{ TAG_C_SNOOP | TAG_C_MAF | TAG_C_READ | TAG_C_HIT | TAG_C_S, 3, 3 },
	{ TAG_C_SNOOP | TAG_C_MAF | TAG_C_READ | TAG_C_HIT | TAG_C_F, 2, 2 },
	{ TAG_C_SNOOP | TAG_C_MAF | TAG_C_RFO | TAG_C_HIT | TAG_C_M, 1, 2 },
	{ TAG_C_SNOOP | TAG_C_MAF | TAG_C_RFO | TAG_C_HIT | TAG_C_E, 1, 2 },
	{ TAG_C_SNOOP | TAG_C_MAF | TAG_C_RFO | TAG_C_HIT | TAG_C_S, 1, 2 },
	{ TAG_C_SNOOP | TAG_C_MAF | TAG_C_RFO | TAG_C_HIT | TAG_C_F, 1, 2 },
	{ TAG_C_SNOOP | TAG_C_MAF | TAG_C_READ, 6, 8 },
	{ TAG_C_SNOOP | TAG_C_MAF | TAG_C_RFO, 4, 4 },
};

/* The cycles in which a transaction begins that has all of these tags. */
static void arrivals(const struct box *b, uint32_t tags, struct pattern *out)
{
	uint64_t place = b->pkg->id | b->kind << 4 | b->inst << 8 | 0xaull << 60;
	unsigned int at = 0;

	out->log2 = PERIOD_LOG2;
	memset(out->inc, 0, sizeof(out->inc[0]) << out->log2);
	for (unsigned int i = 0; i < ARRAY_SIZE(c_kinds); i++) {
		const struct kind *k = &c_kinds[i];
		unsigned int num = k->least + traffic_hash(place | i << 16) % k->spread;

		g_assert(at + num <= 1u << PERIOD_LOG2);
		while (num--)
			out->inc[at++] = (k->tags & tags) == tags;
	}
}

void activity_pattern(const struct box *b, const struct event_info *e, unsigned int bit,
		      struct pattern *out)
{
	const struct view *v = &e->view[bit];
	g_autofree struct pattern *queue = NULL;

	arrivals(b, v->of, out);
	if (e->shows == SHOWS_COUNT)
		return;
	queue = g_new(struct pattern, 1);
	arrivals(b, v->queue, queue);
	pattern_stay(out, pattern_longest_stay(queue, v->depth));
}
