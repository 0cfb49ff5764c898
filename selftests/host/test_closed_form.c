// SPDX-License-Identifier: GPL-2.0-only
/*
 * The closed forms of the virtual silicon against a simulation that ticks
 * through every cycle.
 */
#include <string.h>

#include "base/closed_form.h"
#include "ktap.h"

#define ROUNDS	400
#define CYCLES	3000

static uint64_t state = 1;

static uint64_t rnd(uint64_t below)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (state >> 33) % below;
}

static void random_pattern(struct pattern *p, unsigned int max)
{
	unsigned int busy = rnd(101);

	p->log2 = rnd(8);
	for (unsigned int i = 0; i < 1u << p->log2; i++)
		p->inc[i] = rnd(100) < busy ? rnd(max + 1) : 0;
}

static struct shape random_shape(void)
{
	return (struct shape){
		.threshold = rnd(3) ? rnd(6) : 0,
		.invert = rnd(2),
		.edge = rnd(3) == 0,
		.invert_above = rnd(2),
		.plain_below = rnd(2),
	};
}

/* ---- the simulation ---- */

static unsigned int at(const struct pattern *p, uint64_t cycle)
{
	return p->inc[cycle % (1u << p->log2)];
}

static unsigned int compared(const struct pattern *p, const struct shape *s, uint64_t cycle)
{
	unsigned int inc = at(p, cycle);

	if (!s->threshold)
		return inc;
	if (s->invert && s->invert_above)
		return inc > s->threshold;
	if (s->invert)
		return inc < s->threshold;
	return s->plain_below ? inc <= s->threshold : inc >= s->threshold;
}

/* What the event adds in this cycle; the pattern repeats, so there is a cycle before 0. */
static unsigned int shaped(const struct pattern *p, const struct shape *s, uint64_t cycle)
{
	uint64_t before = cycle ? cycle - 1 : (1u << p->log2) - 1;

	if (s->edge)
		return compared(p, s, cycle) && !compared(p, s, before);
	return compared(p, s, cycle);
}

struct sim {
	const struct pattern *p;
	struct shape shape;
	unsigned int div;
	uint64_t cycle;
	uint64_t sub;		/* sub-counter, runs since cycle 0 */
	uint64_t value;
	bool down, stop_at_wrap, stopped;
	uint64_t events, overflows;
};

static void sim_tick(struct sim *s)
{
	uint64_t n;

	s->sub += shaped(s->p, &s->shape, s->cycle++);
	n = s->sub / s->div;
	s->sub %= s->div;
	s->events += n;
	while (n-- && !s->stopped) {
		uint64_t old = s->value;

		s->value = (s->down ? old - 1 : old + 1) & CF_MASK48;
		if (s->down ? s->value > old : s->value < old) {
			s->overflows++;
			s->stopped = s->stop_at_wrap;
		}
	}
}

/* ---- cases ---- */

static void sums(void)
{
	for (int round = 0; round < ROUNDS; round++) {
		struct pattern p, q;
		struct shape shape = random_shape();
		unsigned int div = rnd(2) ? 1 : 1 + rnd(300);
		struct series *s;
		uint64_t from = rnd(CYCLES), to = from + rnd(CYCLES);
		struct sim sim = { .p = &p, .shape = shape, .div = div };

		random_pattern(&p, 5);
		q = p;
		pattern_shape(&q, &shape);
		s = series_new(&q, div);
		while (sim.cycle < from)
			sim_tick(&sim);
		sim.events = 0;
		while (sim.cycle < to)
			sim_tick(&sim);
		ktap_require(series_count(s, from, to) == sim.events,
			     "round %d: %lu instead of %lu", round,
			     (unsigned long)series_count(s, from, to), (unsigned long)sim.events);
		series_free(s);
	}
}

static void reaching(void)
{
	for (int round = 0; round < ROUNDS; round++) {
		struct pattern p;
		unsigned int div = rnd(2) ? 1 : 1 + rnd(40);
		uint64_t from = rnd(CYCLES), n = 1 + rnd(50), goal;
		struct sim sim = { .p = &p, .div = div };
		struct series *s;

		random_pattern(&p, 5);
		s = series_new(&p, div);
		goal = series_reach(s, from, n);
		if (!s->total) {
			ktap_require(goal == CF_NEVER, "round %d", round);
			series_free(s);
			continue;
		}
		while (sim.cycle < from)
			sim_tick(&sim);
		sim.events = 0;
		while (sim.events < n)
			sim_tick(&sim);
		ktap_require(goal == sim.cycle, "round %d: %lu instead of %lu", round,
			     (unsigned long)goal, (unsigned long)sim.cycle);
		series_free(s);
	}
}

/* Settled at random moments, a counter is where the simulation is. */
static void counters(void)
{
	for (int round = 0; round < ROUNDS; round++) {
		struct pattern p, q;
		struct sim sim = {
			.p = &p, .shape = random_shape(), .div = 1 + rnd(4),
			.down = rnd(3) == 0, .stop_at_wrap = rnd(3) == 0,
		};
		struct ctr48 c = { .down = sim.down, .stop_at_wrap = sim.stop_at_wrap };
		uint64_t events = 0, overflows = 0, next;
		struct series *s;
		bool seen = false;

		random_pattern(&p, 5);
		q = p;
		pattern_shape(&q, &sim.shape);
		s = series_new(&q, sim.div);
		for (uint64_t start = rnd(CYCLES); sim.cycle < start; )
			sim_tick(&sim);
		sim.events = 0;
		sim.overflows = 0;
		sim.stopped = false;
		/* Near enough to wrap, or not. */
		sim.value = sim.down ? rnd(2 * CYCLES) : CF_MASK48 - rnd(2 * CYCLES);
		c.value = sim.value;
		c.at = sim.cycle;
		c.series = s;
		c.truth = s;
		c.running = true;
		next = ctr48_next_overflow(&c);
		for (uint64_t end = sim.cycle + CYCLES; sim.cycle < end; ) {
			uint64_t until = sim.cycle + 1 + rnd(500);
			struct ctr48_delta d;

			while (sim.cycle < until) {
				sim_tick(&sim);
				if (sim.overflows && !seen) {
					seen = true;
					ktap_require(sim.cycle == next,
						     "round %d: overflow at %lu, foretold %lu", round,
						     (unsigned long)sim.cycle, (unsigned long)next);
				}
			}
			d = ctr48_advance(&c, until);
			events += d.events;
			overflows += d.overflows;
			ktap_require(c.value == sim.value && events == sim.events &&
				     overflows == sim.overflows && c.stopped == sim.stopped,
				     "round %d: value %#lx instead of %#lx", round,
				     (unsigned long)c.value, (unsigned long)sim.value);
		}
		ktap_require(seen || next > sim.cycle, "round %d: no overflow at %lu", round,
			     (unsigned long)next);
		series_free(s);
	}
}

/* A counter stopped in between adds nothing and loses nothing. */
static void windows(void)
{
	struct pattern p;
	struct series *s;
	struct ctr48 c = { 0 };
	struct sim sim = { .p = &p, .div = 1 };
	uint64_t want = 0;

	random_pattern(&p, 5);
	p.inc[0] = 3;
	s = series_new(&p, 1);
	c.series = s;
	c.truth = s;
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t until = sim.cycle + rnd(100);

		c.running = rnd(2);
		sim.events = 0;
		while (sim.cycle < until)
			sim_tick(&sim);
		if (c.running)
			want += sim.events;
		ctr48_advance(&c, until);
		ktap_require(c.value == want, "step %d: %lu instead of %lu", i,
			     (unsigned long)c.value, (unsigned long)want);
	}
	series_free(s);
}

static void combining(void)
{
	for (int round = 0; round < ROUNDS; round++) {
		struct pattern p, q, sum, both, cut;

		random_pattern(&p, 3);
		random_pattern(&q, 3);
		sum = p;
		pattern_add(&sum, &q);
		cut = sum;
		pattern_cap(&cut, 4);
		both = p;
		pattern_and(&both, &q);
		for (unsigned int i = 0; i < 512; i++) {
			unsigned int a = at(&p, i), b = at(&q, i);

			ktap_require(at(&sum, i) == a + b, "round %d cycle %u", round, i);
			ktap_require(at(&cut, i) == (a + b > 4 ? 4 : a + b), "round %d", round);
			ktap_require(at(&both, i) == (b ? a : 0), "round %d", round);
		}
	}
}

/* A queue whose entries come and go one by one. */
static void queues(void)
{
	for (int round = 0; round < ROUNDS; round++) {
		struct pattern arrivals, held;
		unsigned int depth = 1 + rnd(40), period, most = 0, too_many = 0;
		uint64_t stay, sum = 0, total = 0;

		random_pattern(&arrivals, 1);
		period = 1u << arrivals.log2;
		for (unsigned int i = 0; i < period; i++)
			total += arrivals.inc[i];
		held = arrivals;
		stay = pattern_longest_stay(&arrivals, depth);
		pattern_stay(&held, stay);
		if (!total) {
			ktap_require(!stay, "round %d", round);
			continue;
		}
		for (unsigned int c = 0; c < period; c++) {
			uint64_t now = c + (stay / period + 2) * period;
			unsigned int there = 0, longer = 0;

			for (uint64_t came = now - stay; came <= now; came++) {
				there += came > now - stay && at(&arrivals, came);
				longer += at(&arrivals, came);
			}
			ktap_require(at(&held, c) == there, "round %d cycle %u: %u, not %u", round,
				     c, at(&held, c), there);
			sum += there;
			most = there > most ? there : most;
			too_many |= longer > depth;
		}
		ktap_require(most == depth, "round %d: at most %u of %u", round, most, depth);
		ktap_require(too_many, "round %d: they could stay longer", round);
		ktap_require(sum == total * stay, "round %d", round);
	}
}

/* An extra cycle with an increment of 1, put between two idle ones. */
static void pulse(void)
{
	for (int round = 0; round < ROUNDS; round++) {
		struct shape shape = random_shape();
		struct pattern p = { .log2 = 2, .inc = { [2] = 1 } };

		ktap_require(shape_pulse(&shape) == shaped(&p, &shape, 2),
			     "round %d: %u", round, shape_pulse(&shape));
	}
}

static void big_numbers(void)
{
	struct pattern p = { .log2 = 0, .inc = { 64 } };
	struct series *s = series_new(&p, 1);
	struct ctr48 c = { .series = s, .truth = s, .running = true, .at = 1ull << 40 };
	struct ctr48_delta d;
	/* 64 a cycle take 2^42 cycles to wrap 48 bits. */
	uint64_t wrap = c.at + (1ull << 42);

	ktap_check(ctr48_next_overflow(&c) == wrap, "%#lx",
		   (unsigned long)ctr48_next_overflow(&c));
	d = ctr48_advance(&c, wrap - 1);
	ktap_check(!d.overflows && c.value == CF_MASK48 - 63, "%#lx", (unsigned long)c.value);
	d = ctr48_advance(&c, wrap + (5ull << 42));
	ktap_check(d.overflows == 6 && c.value == 0, "%lu overflows", (unsigned long)d.overflows);
	series_free(s);
}

/* What would come after 2^63 cycles, or 2^64 increments, never comes. */
static void never(void)
{
	struct pattern rare = { .log2 = 12, .inc = { 1 } }, often = { .log2 = 0, .inc = { 256 } };
	struct series *s = series_new(&rare, 1);

	ktap_check(series_reach(s, 0, 1ull << 51) == (((1ull << 51) - 1) << 12) + 1, "%#lx",
		   (unsigned long)series_reach(s, 0, 1ull << 51));
	ktap_check(series_reach(s, 0, (1ull << 51) + 1) == CF_NEVER, "2^63 cycles");
	series_free(s);
	s = series_new(&often, 256);
	ktap_check(series_reach(s, 0, (1ull << 56) - 1) == (1ull << 56) - 1, "%#lx",
		   (unsigned long)series_reach(s, 0, (1ull << 56) - 1));
	ktap_check(series_reach(s, 0, 1ull << 56) == CF_NEVER, "2^64 increments");
	series_free(s);
}

static void the_clock(void)
{
	ktap_check(cf_cycle(1000000000) == 2266000000, "%lu", (unsigned long)cf_cycle(1000000000));
	/* Ten years do not overflow anything on the way. */
	ktap_check(cf_cycle(315360000000000000) == 714605760000000000, "10 years");
	for (int i = 0; i < 100000; i++) {
		uint64_t cycle = rnd(1ull << 31) << (i % 20), ns = cf_ns(cycle);

		ktap_require(cf_cycle(ns) >= cycle && (!ns || cf_cycle(ns - 1) < cycle),
			     "cycle %lu", (unsigned long)cycle);
	}
}

KTAP_MAIN({ "sums of any stretch", sums },
	  { "the cycle a count is reached", reaching },
	  { "value, events and overflows", counters },
	  { "windows", windows },
	  { "patterns combined", combining },
	  { "what is in a queue", queues },
	  { "a single pulse", pulse },
	  { "numbers near the limits", big_numbers },
	  { "numbers beyond them", never },
	  { "nanoseconds and cycles", the_clock })
