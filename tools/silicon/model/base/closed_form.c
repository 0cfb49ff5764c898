// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See closed_form.h.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "closed_form.h"

uint64_t cf_cycle(uint64_t ns)
{
	return (uint64_t)((unsigned __int128)ns * CF_HZ_NUM / CF_HZ_DEN);
}

uint64_t cf_ns(uint64_t cycle)
{
	return ((unsigned __int128)cycle * CF_HZ_DEN + CF_HZ_NUM - 1) / CF_HZ_NUM;
}

uint64_t cf_hash(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ull;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

void pattern_zero(struct pattern *p)
{
	p->log2 = 0;
	p->inc[0] = 0;
}

static void pattern_widen(struct pattern *p, unsigned int log2)
{
	while (p->log2 < log2) {
		memcpy(p->inc + (1u << p->log2), p->inc, sizeof(p->inc[0]) << p->log2);
		p->log2++;
	}
}

void pattern_add(struct pattern *p, const struct pattern *q)
{
	unsigned int mask = (1u << q->log2) - 1;

	pattern_widen(p, q->log2);
	for (unsigned int i = 0; i < 1u << p->log2; i++)
		p->inc[i] += q->inc[i & mask];
}

void pattern_and(struct pattern *p, const struct pattern *q)
{
	unsigned int mask = (1u << q->log2) - 1;

	pattern_widen(p, q->log2);
	for (unsigned int i = 0; i < 1u << p->log2; i++) {
		if (!q->inc[i & mask])
			p->inc[i] = 0;
	}
}

void pattern_cap(struct pattern *p, unsigned int cap)
{
	for (unsigned int i = 0; i < 1u << p->log2; i++) {
		if (p->inc[i] > cap)
			p->inc[i] = cap;
	}
}

void pattern_stay(struct pattern *p, uint64_t cycles)
{
	const struct pattern arrivals = *p;
	uint64_t period = 1ull << p->log2, rest = cycles & (period - 1), there = 0;

	/* Those of whole periods are always there; the rest come and go. */
	for (unsigned int i = 0; i < period; i++)
		there += arrivals.inc[i] * ((cycles >> p->log2) + (i >= period - rest));
	for (unsigned int i = 0; i < period; i++) {
		there += arrivals.inc[i];
		there -= arrivals.inc[(i - rest) & (period - 1)];
		p->inc[i] = there;
	}
}

uint64_t pattern_longest_stay(const struct pattern *arrivals, unsigned int depth)
{
	uint64_t longest = UINT64_MAX, period = 1ull << arrivals->log2;
	uint16_t at[CF_PERIOD_MAX] = { 0 };
	unsigned int num = 0;

	for (unsigned int i = 0; i < period; i++) {
		if (arrivals->inc[i])
			at[num++] = i;
	}
	/* The first has to leave when as many as there is room for have come after it. */
	for (unsigned int i = 0; i < num; i++) {
		unsigned int last = i + depth;
		uint64_t stay = last / num * period + at[last % num] - at[i];

		if (stay < longest)
			longest = stay;
	}
	return num ? longest : 0;
}

static unsigned int compare(const struct shape *s, unsigned int inc)
{
	if (!s->threshold)
		return inc;
	if (s->invert)
		return s->invert_above ? inc > s->threshold : inc < s->threshold;
	return s->plain_below ? inc <= s->threshold : inc >= s->threshold;
}

void pattern_shape(struct pattern *p, const struct shape *shape)
{
	unsigned int last = (1u << p->log2) - 1;
	bool before;

	for (unsigned int i = 0; i <= last; i++)
		p->inc[i] = compare(shape, p->inc[i]);
	if (!shape->edge)
		return;
	/* The pattern has no beginning: cycle 0 follows the last one. */
	before = p->inc[last];
	for (unsigned int i = 0; i <= last; i++) {
		bool now = p->inc[i];

		p->inc[i] = now && !before;
		before = now;
	}
}

unsigned int shape_pulse(const struct shape *shape)
{
	unsigned int high = compare(shape, 1);

	if (shape->edge)
		return high && !compare(shape, 0);
	return high;
}

struct series *series_new(const struct pattern *p, unsigned int div)
{
	unsigned int n = 1u << p->log2;
	struct series *s = malloc(offsetof(struct series, pre) + (n + 1) * sizeof(s->pre[0]));

	if (!s)
		abort();
	s->log2 = p->log2;
	s->div = div;
	s->pre[0] = 0;
	for (unsigned int i = 0; i < n; i++)
		s->pre[i + 1] = s->pre[i] + p->inc[i];
	s->total = s->pre[n];
	return s;
}

void series_free(struct series *s)
{
	free(s);
}

/* All increments before this cycle, since the beginning of time. */
static uint64_t series_sum(const struct series *s, uint64_t cycle)
{
	return (cycle >> s->log2) * s->total + s->pre[cycle & ((1ull << s->log2) - 1)];
}

/*
 * A sub-counter never stops, so after all increments up to a cycle it has
 * passed its limit sum / div times, whenever the counter began to look.
 */
uint64_t series_count(const struct series *s, uint64_t from, uint64_t to)
{
	if (!s || to <= from)
		return 0;
	return series_sum(s, to) / s->div - series_sum(s, from) / s->div;
}

uint64_t series_reach(const struct series *s, uint64_t from, uint64_t n)
{
	unsigned __int128 goal;
	uint64_t period, rest;
	unsigned int lo = 1, hi;

	if (!s || !s->total)
		return CF_NEVER;
	goal = ((unsigned __int128)(series_sum(s, from) / s->div) + n) * s->div;
	/* A counter of 48 bits fed at any rate stays far from this. */
	if (goal > UINT64_MAX)
		return CF_NEVER;
	period = ((uint64_t)goal - 1) / s->total;
	rest = (uint64_t)goal - period * s->total;
	if (period >> (63 - s->log2))
		return CF_NEVER;
	/* Smallest lo with pre[lo] >= rest, where 1 <= rest <= total. */
	hi = 1u << s->log2;
	while (lo < hi) {
		unsigned int mid = (lo + hi) / 2;

		if (s->pre[mid] >= rest)
			hi = mid;
		else
			lo = mid + 1;
	}
	return (period << s->log2) + lo;
}

struct ctr48_delta ctr48_add(struct ctr48 *c, uint64_t n)
{
	struct ctr48_delta d = { .events = n };
	uint64_t room;

	if (c->stopped || !n)
		return d;
	/* Increments that fit before the one that wraps. */
	room = c->down ? c->value : CF_MASK48 - c->value;
	if (n <= room) {
		c->value += c->down ? -n : n;
		return d;
	}
	if (c->stop_at_wrap) {
		c->value = c->down ? CF_MASK48 : 0;
		c->stopped = true;
		d.overflows = 1;
		return d;
	}
	d.overflows = 1 + ((n - room - 1) >> 48);
	c->value = (c->down ? c->value - n : c->value + n) & CF_MASK48;
	return d;
}

struct ctr48_delta ctr48_advance(struct ctr48 *c, uint64_t to)
{
	struct ctr48_delta d = { 0 };

	if (to <= c->at)
		return d;
	if (c->running) {
		d = ctr48_add(c, series_count(c->series, c->at, to));
		d.events = series_count(c->truth, c->at, to);
	}
	c->at = to;
	return d;
}

uint64_t ctr48_next_overflow(const struct ctr48 *c)
{
	if (!c->running || c->stopped)
		return CF_NEVER;
	return series_reach(c->series, c->at, (c->down ? c->value : CF_MASK48 - c->value) + 1);
}
