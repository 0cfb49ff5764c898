// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From an event select to what it counts ("counts" in the spec), and the arithmetic of patterns.
 *
 * An event without a real source has a rate: num events per CORE_RATE_ONE
 * cycles, spread as evenly as whole events allow (after c cycles there were
 * c * num / CORE_RATE_ONE, rounded down).
 */
#include "core.h"

struct row {
	uint8_t code, umask;
	enum core_source src;
	uint32_t what;		/* mask, or the rate of SRC_CYCLES */
	bool precise;
};

/*
 * Of the Atoms all that they have. Of the others what perf's generic events and PAPI's presets
 * use. There is no prefetcher here and instructions come without a cache, so requests of these
 * count nothing.
 */
#include "core-events.inc"

/* Rates that a test has set, umask << 8 | code -> num + 1. Good from the next start on. */
static uint64_t set_rates[65536];
/* What was decoded from a select with another rate is decoded again. */
static unsigned int rates_set;

unsigned int core_event_rates(void)
{
	return qatomic_read(&rates_set);
}

void core_event_set_rate(unsigned int event, uint32_t num)
{
	set_rates[event & 0xffff] = num + 1ull;
	qatomic_inc(&rates_set);
}

void core_event_default_rates(void)
{
	memset(set_rates, 0, sizeof(set_rates));
	qatomic_inc(&rates_set);
}

static const struct row *events(const struct core *k)
{
	switch (k->model->kind) {
	case KIND_GOLDMONT:
		return goldmont;
	case KIND_SILVERMONT:
		return silvermont;
	case KIND_SANDYBRIDGE:
		return sandybridge;
	default:
		return nehalem;
	}
}

/* Is it all of the machine's list? */
static bool complete(const struct row *r)
{
	return r == goldmont || r == silvermont;
}

static const struct row *find(const struct core *k, unsigned int code, unsigned int umask)
{
	const struct row *r = events(k);

	for (; r->src; r++)
		if (r->code == code && r->umask == umask)
			return r;
	return NULL;
}

/*
 * Real events come one at a time, each in a cycle of its own: a counter mask
 * of 1 and edge detection change nothing, a higher mask is never reached.
 * Inverted, every cycle counts, or half of them stand for those without event.
 */
static void mask_real(struct core_event *ev, const struct core *k)
{
	if (!ev->cmask || core_event_timed(ev))
		return;
	if (ev->inv) {
		ev->src = SRC_CYCLES;
		ev->num = ev->cmask > 1 ? CORE_RATE_ONE : CORE_RATE_ONE / 2;
	} else if (ev->cmask > 1) {
		ev->src = SRC_NONE;
	}
	ev->cmask = 0;
	ev->edge = false;
}

void core_event_decode(const struct core *k, uint64_t evtsel, struct core_event *ev)
{
	unsigned int code = evtsel & 0xff, umask = evtsel >> 8 & 0xff;
	const struct row *r = find(k, code, umask);

	*ev = (struct core_event){
		.cmask = evtsel >> 24 & 0xff,
		.inv = evtsel & EVTSEL_INV,
		.edge = evtsel & EVTSEL_EDGE,
	};
	if (set_rates[evtsel & 0xffff]) {
		ev->src = SRC_CYCLES;
		ev->num = set_rates[evtsel & 0xffff] - 1;
	} else if (r) {
		ev->src = r->src;
		ev->precise = r->precise;
		ev->what = r->what;
		ev->num = r->what;
		ev->offcore = r->src == SRC_OFFCORE ? r->what + 1 : 0;
		if (ev->offcore && core_offcore_follows(k, r->what, &ev->what))
			ev->src = ev->what ? SRC_MEM : SRC_NONE;
		else if (ev->offcore)
			ev->num = core_offcore_rate(k, r->what);
	} else if (code == 0x3c && umask == 1) {
		ev->src = SRC_CYCLES;
		ev->num = CORE_RATE_ONE * k->model->ref_mhz / k->model->mhz;
	} else if (!complete(events(k)) && code) {
		/* No list of these machines' events here, so they all count something. */
		ev->src = SRC_CYCLES;
		ev->num = 1 + (code * 37 + umask * 11) % 1000;
	}
	mask_real(ev, k);
}

void core_event_fixed(const struct core *k, unsigned int n, struct core_event *ev)
{
	static const enum core_source src[CORE_FIXED] = { SRC_INSN, SRC_CYCLES, SRC_TSC };

	*ev = (struct core_event){ .src = src[n], .num = CORE_RATE_ONE };
}

static uint64_t scale(uint64_t cycles, uint32_t num)
{
	return (unsigned __int128)cycles * num / CORE_RATE_ONE;
}

/*
 * A counter mask turns the increment of a cycle into "at least that many", 0
 * or 1. An even pattern only ever adds q or q + 1, so which cycles qualify is
 * again an even pattern, and so are its rising edges.
 */
uint64_t core_event_sum(const struct core *k, const struct core_event *ev, uint64_t cycles)
{
	uint32_t q = ev->num / CORE_RATE_ONE, hits;
	unsigned int cmask = ev->cmask;
	bool inv = ev->inv && cmask;

	if (!cmask && !ev->edge)
		return ev->src == SRC_OFFCORE ? core_offcore_sum(k, ev->what, cycles) :
						scale(cycles, ev->num);
	if (!cmask)
		cmask = 1;
	if (cmask <= q)
		hits = CORE_RATE_ONE;
	else if (cmask == q + 1)
		hits = ev->num % CORE_RATE_ONE;
	else
		hits = 0;
	if (inv)
		hits = CORE_RATE_ONE - hits;
	/* In an even pattern the rarer of the two values always stands alone. */
	if (ev->edge && hits > CORE_RATE_ONE / 2)
		hits = CORE_RATE_ONE - hits;
	return scale(cycles, hits);
}
