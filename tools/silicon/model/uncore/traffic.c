// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What happens in the uncore, cycle by cycle, where no activity of the box says it
 * (activity.c): an event has a pattern of its own, fixed by what it is and
 * where, so that two runs agree and two events differ. Tests set others, of any event.
 */
#include "uncore.h"

/* Long enough for rates to differ, short enough to make when a counter is enabled. */
#define DEFAULT_LOG2	10

static GArray *planted;	/* struct planted, the last that fits wins; NULL: none yet */
static uint64_t generation;

static bool fits(const struct planted *o, const struct traffic_key *key)
{
	unsigned int code = o->sel & 0xffff, bit = o->sel >> 16 & 0xff;
	unsigned int inst = o->sel >> 24 & 0xf, box = o->sel >> 28 & 0xf;

	return (o->package < 0 || o->package == (int)key->pkg->id) && box == key->box &&
	       (inst == (SYN_ANY & 0xf) || inst == key->inst) &&
	       (code == SYN_ANY_CODE || code == key->code) &&
	       (bit == SYN_ANY || bit == key->bit);
}

static const struct planted *find(const struct traffic_key *key)
{
	for (unsigned int i = planted ? planted->len : 0; i-- > 0; ) {
		const struct planted *o = &g_array_index(planted, struct planted, i);

		if (fits(o, key))
			return o;
	}
	return NULL;
}

bool traffic_planted(const struct traffic_key *key, unsigned int limit, struct pattern *out)
{
	const struct planted *o = find(key);

	if (!o)
		return false;
	out->log2 = o->log2;
	for (unsigned int i = 0; i < 1u << o->log2; i++) {
		unsigned int at = (i - o->phase) & ((1u << o->log2) - 1);

		out->inc[i] = at < o->active ? MIN(o->inc, limit) : 0;
	}
	return true;
}

void traffic_pattern(const struct traffic_key *key, unsigned int limit,
		     unsigned int sharers, unsigned int turn, struct pattern *out)
{
	uint64_t h, r = 0;
	unsigned int rate;

	if (traffic_planted(key, limit, out))
		return;
	h = cf_hash(key->pkg->id | (uint64_t)key->box << 8 | (uint64_t)key->inst << 16 |
		  (uint64_t)key->code << 24 | (uint64_t)key->bit << 56);
	/* Between one cycle in 16 and nearly all; 16 bits of a hash per cycle. */
	rate = 16 + h % 224;
	out->log2 = DEFAULT_LOG2;
	for (unsigned int i = 0; i < 1u << DEFAULT_LOG2; i++) {
		if (i % 4 == 0)
			r = cf_hash(h + i);
		out->inc[i] = i % sharers == turn && (r & 0xff) < rate ?
			      1 + ((r >> 8 & 0xff) * limit >> 8) : 0;
		r >>= 16;
	}
	/* An event that never happens would be a poor test. */
	out->inc[(h >> 8) % ((1u << DEFAULT_LOG2) / sharers) * sharers + turn] = limit;
}

void traffic_add(const struct planted *o)
{
	if (!planted)
		planted = g_array_new(false, false, sizeof(*o));
	g_array_append_vals(planted, o, 1);
	generation++;
}

/* Those that were set for this package, with this selector or any. */
static void forget(unsigned int package, const uint64_t *sel)
{
	for (unsigned int i = planted ? planted->len : 0; i-- > 0; ) {
		const struct planted *o = &g_array_index(planted, struct planted, i);

		if (o->package == (int)package && (!sel || o->sel == *sel))
			g_array_remove_index(planted, i);
	}
	generation++;
}

void traffic_set(unsigned int package, uint64_t sel, uint64_t pattern)
{
	forget(package, &sel);
	traffic_add(&(struct planted){
		.package = package,
		.sel = sel,
		.log2 = MIN(pattern & 0xff, CF_LOG2_MAX),
		.phase = pattern >> 16 & 0xffff,
		.active = pattern >> 32 & 0xffff,
		.inc = pattern >> 48,
	});
}

void traffic_reset(unsigned int package)
{
	forget(package, NULL);
}

void traffic_changed(void)
{
	generation++;
}

uint64_t traffic_generation(void)
{
	return generation;
}
