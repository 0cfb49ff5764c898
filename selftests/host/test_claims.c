// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters and sub-register slots: the driver's choice against brute force.
 *
 * For a small box, every sequence of taking and releasing up to some length is played.
 * Whether something fits must not depend on what happened before: it must be taken
 * exactly if *any* distribution of everything that lives on the box exists.
 */
#include <string.h>

#include <linux/bitops.h>
#include <linux/errno.h>

#include "drivers/uncore/claims.h"
#include "ktap.h"

#define MAX_LIVE	8

struct state {
	struct uncore_claims box;
	struct uncore_claim live[MAX_LIVE];
	unsigned int num;
};

static unsigned long played, taken, refused;

static struct uncore_req req(u8 first, u8 num, u64 v0, u64 v1, u64 v2)
{
	return (struct uncore_req){ .first = first, .num = num, .val = { v0, v1, v2 } };
}

static struct uncore_claim claim(u32 counters)
{
	return (struct uncore_claim){ .counters = counters, .idx = -1 };
}

static struct uncore_claim claim1(u32 counters, struct uncore_req r)
{
	struct uncore_claim c = claim(counters);

	c.num_reqs = 1;
	c.req[0] = r;
	return c;
}

/* ---- brute force ---- */

/* Can claims from n on have a counter each, beside those in @used? */
static bool counters_possible(const struct uncore_claim *c, unsigned int num, unsigned int n,
			      u32 used)
{
	if (n == num)
		return true;
	for (unsigned int i = 0; i < 32; i++) {
		if (c[n].counters & ~used & BIT(i) &&
		    counters_possible(c, num, n + 1, used | BIT(i)))
			return true;
	}
	return false;
}

/* Can the requests from n on be laid out? @at: what has which slot so far */
static bool slots_possible(const struct uncore_req **reqs, unsigned int num, unsigned int n,
			   const struct uncore_req **at)
{
	if (n == num)
		return true;
	for (unsigned int s = reqs[n]->first; s < reqs[n]->first + reqs[n]->num; s++) {
		const struct uncore_req *was = at[s];
		bool fits;

		if (was && memcmp(was->val, reqs[n]->val, sizeof(was->val)))
			continue;
		at[s] = reqs[n];
		fits = slots_possible(reqs, num, n + 1, at);
		at[s] = was;
		if (fits)
			return true;
	}
	return false;
}

static bool possible(const struct uncore_claim *c, unsigned int num)
{
	const struct uncore_req *reqs[(MAX_LIVE + 1) * UNCORE_MAX_REQS];
	const struct uncore_req *at[UNCORE_MAX_SLOTS] = {};
	unsigned int num_reqs = 0;

	for (unsigned int n = 0; n < num; n++) {
		for (unsigned int r = 0; r < c[n].num_reqs; r++)
			reqs[num_reqs++] = &c[n].req[r];
	}
	return counters_possible(c, num, 0, 0) && slots_possible(reqs, num_reqs, 0, at);
}

/* ---- what must always hold ---- */

static void check_consistent(const struct state *st)
{
	unsigned int users[UNCORE_MAX_SLOTS] = {};
	u32 counters = 0;

	for (unsigned int n = 0; n < st->num; n++) {
		const struct uncore_claim *c = &st->live[n];

		ktap_require(c->idx >= 0 && c->counters & BIT(c->idx), "counter %d", c->idx);
		ktap_require(!(counters & BIT(c->idx)), "counter %d twice", c->idx);
		counters |= BIT(c->idx);
		for (unsigned int r = 0; r < c->num_reqs; r++) {
			const struct uncore_req *q = &c->req[r];
			unsigned int s = q->first + q->chosen;

			ktap_require(q->chosen < q->num, "slot %u outside its range", s);
			ktap_require(!memcmp(st->box.slot[s].val, q->val, sizeof(q->val)),
				     "slot %u holds another value", s);
			users[s]++;
		}
	}
	ktap_require(st->box.counters == counters, "%#lx in use", st->box.counters);
	for (unsigned int s = 0; s < UNCORE_MAX_SLOTS; s++)
		ktap_require(st->box.slot[s].users == users[s], "slot %u: %u users, not %u", s,
			     st->box.slot[s].users, users[s]);
}

static void try_take(const struct state *st, const struct uncore_claim *what, struct state *next)
{
	struct uncore_claim all[MAX_LIVE + 1];
	int err;

	*next = *st;
	memcpy(all, st->live, st->num * sizeof(*all));
	all[st->num] = *what;
	next->live[st->num] = *what;
	err = uncore_claim_take(&next->box, &next->live[st->num]);
	played++;
	ktap_require(!err == possible(all, st->num + 1),
		     "%u live, take returns %d", st->num, err);
	if (err) {
		refused++;
		ktap_require(err == -ENOSPC, "%d", err);
		ktap_require(!memcmp(&next->box, &st->box, sizeof(st->box)),
			     "refused, and yet something has changed");
		ktap_require(!memcmp(&next->live[st->num], what, sizeof(*what)),
			     "refused, and yet the claim has changed");
		return;
	}
	taken++;
	next->num++;
	check_consistent(next);
}

/* Every sequence of @depth more steps. */
static void play(const struct state *st, const struct uncore_claim *what, unsigned int num,
		 unsigned int depth)
{
	struct state next;

	if (!depth)
		return;
	for (unsigned int i = 0; i < num && st->num < MAX_LIVE; i++) {
		try_take(st, &what[i], &next);
		if (next.num > st->num)
			play(&next, what, num, depth - 1);
	}
	for (unsigned int i = 0; i < st->num; i++) {
		next = *st;
		uncore_claim_release(&next.box, &next.live[i]);
		ktap_require(next.live[i].idx == -1, "%d", next.live[i].idx);
		next.live[i] = next.live[--next.num];
		check_consistent(&next);
		play(&next, what, num, depth - 1);
	}
}

static void play_all(const struct uncore_claim *what, unsigned int num, unsigned int depth)
{
	struct state st = {};

	played = taken = refused = 0;
	play(&st, what, num, depth);
	ktap_note("%lu takes, %lu refused", played, refused);
	/* A box on which nothing ever fits, or everything, tests nothing. */
	ktap_check(taken && refused, "%lu taken, %lu refused", taken, refused);
}

/* ---- boxes ---- */

static void counters_only(void)
{
	const struct uncore_claim what[] = { claim(0x3), claim(0x4) };

	play_all(what, ARRAY_SIZE(what), 7);
}

/* S-Box: one match set of three registers, more counters than that */
static void one_slot(void)
{
	const struct uncore_claim what[] = {
		claim1(0xf, req(0, 1, 1, 0, 0)),
		claim1(0xf, req(0, 1, 1, 2, 0)),
		claim1(0xf, req(0, 1, 1, 0, 2)),
		claim(0xf),
	};

	play_all(what, ARRAY_SIZE(what), 6);
}

/* B-Box: each event one counter, and parts of one match pair */
static void own_counters(void)
{
	struct uncore_claim what[] = {
		claim(0x1), claim(0x1), claim(0x2), claim1(0x2, req(2, 1, 5, 0xf, 0)),
		claim1(0x4, req(0, 1, 7, 0xff, 0)),
	};

	what[0].num_reqs = 2;
	what[0].req[0] = req(0, 1, 7, 0xff, 0);
	what[0].req[1] = req(1, 1, 3, 0xf, 0);
	what[1].num_reqs = 2;
	what[1].req[0] = req(0, 1, 8, 0xff, 0);
	what[1].req[1] = req(2, 1, 5, 0xf, 0);
	what[2].num_reqs = 2;
	what[2].req[0] = req(1, 1, 3, 0xf, 0);
	what[2].req[1] = req(2, 1, 6, 0xf, 0);
	play_all(what, ARRAY_SIZE(what), 6);
}

/* R-Box: of each kind of sub-register a port has two */
static void two_alike(void)
{
	const struct uncore_claim what[] = {
		claim1(0x1f, req(0, 2, 1, 0, 0)),
		claim1(0x1f, req(0, 2, 2, 0, 0)),
		claim1(0x1f, req(0, 2, 3, 0, 0)),
		claim1(0x1f, req(4, 2, 1, 2, 3)),
		claim1(0x1f, req(4, 2, 1, 2, 4)),
		claim1(0x1f, req(4, 2, 0, 2, 4)),
	};

	play_all(what, ARRAY_SIZE(what), 6);
}

/* M-Box FVC: one of four, a command or a response, and an index all share */
static void four_alike(void)
{
	struct uncore_claim what[8];
	unsigned int n;

	for (n = 0; n < ARRAY_SIZE(what); n++) {
		what[n] = claim1(0x3f, req(0, 4, n, 0, 0));
		what[n].num_reqs = 2;
		what[n].req[1] = req(6, 1, 0, 0, 0);
		/* The event has a slot it would like. */
		what[n].req[0].chosen = n % 4;
	}
	what[5].req[0].val[0] = 4;
	what[5].req[what[5].num_reqs++] = req(4, 1, 1, 0, 0);
	what[4].req[what[4].num_reqs++] = req(4, 1, 0, 0, 0);
	what[6].req[what[6].num_reqs++] = req(5, 1, 1, 0, 0);
	what[7].req[1].val[0] = 9;
	play_all(what, ARRAY_SIZE(what), 5);
}

/* ---- single properties ---- */

static void preference(void)
{
	struct state st = {};
	struct uncore_claim a = claim1(0x3f, req(0, 4, 1, 0, 0));
	struct uncore_claim b = claim1(0x3f, req(0, 4, 2, 0, 0));

	a.req[0].chosen = 2;
	b.req[0].chosen = 2;
	ktap_check(!uncore_claim_take(&st.box, &a) && a.req[0].chosen == 2, "gets what it prefers");
	ktap_check(!uncore_claim_take(&st.box, &b) && b.req[0].chosen == 0, "or the first one");
	uncore_claim_release(&st.box, &a);
	uncore_claim_release(&st.box, &b);
	ktap_check(!uncore_claim_take(&st.box, &b) && b.req[0].chosen == 0, "comes back");
	ktap_check(!uncore_claim_take(&st.box, &a) && a.req[0].chosen == 2, "comes back");
}

static void sharing(void)
{
	struct state st = {};
	struct uncore_claim a = claim1(0x3, req(0, 2, 7, 0, 0)), b = a;

	b.req[0].chosen = 1;
	ktap_check(!uncore_claim_take(&st.box, &a), "a");
	ktap_check(!uncore_claim_take(&st.box, &b), "b");
	ktap_check(a.req[0].chosen == b.req[0].chosen, "%u and %u", a.req[0].chosen,
		   b.req[0].chosen);
	ktap_check(a.idx != b.idx, "one counter each");
	uncore_claim_release(&st.box, &a);
	ktap_check(st.box.slot[0].users == 1, "b still has it");
	ktap_check(st.box.slot[0].val[0] == 7, "unchanged");
}

/* A whole R-Box half: 24 slots, 8 counters. Counting tells what fits. */
static void random_rbox(void)
{
	struct state st = {};
	u64 x = 1;

	for (unsigned int step = 0; step < 100000; step++) {
		unsigned int distinct = 0, kind, val, i, j;
		struct uncore_claim c;
		bool there = false;
		int err;

		x = x * 6364136223846793005ull + 1442695040888963407ull;
		kind = (x >> 33) % 12;
		val = (x >> 45) % 4;
		if ((x >> 58) % 3 == 0 && st.num) {
			i = (x >> 40) % st.num;
			uncore_claim_release(&st.box, &st.live[i]);
			st.live[i] = st.live[--st.num];
			check_consistent(&st);
			continue;
		}
		c = claim1(0xff, req(kind * 2, 2, val, 0, val));
		for (i = 0; i < st.num; i++) {
			if (st.live[i].req[0].first != kind * 2)
				continue;
			there |= st.live[i].req[0].val[0] == val;
			for (j = 0; j < i; j++) {
				if (st.live[j].req[0].first == kind * 2 &&
				    st.live[j].req[0].val[0] == st.live[i].req[0].val[0])
					break;
			}
			distinct += j == i;
		}
		err = uncore_claim_take(&st.box, &c);
		ktap_require(!err == (st.num < 8 && (there || distinct < 2)),
			     "step %u: %d with %u live", step, err, st.num);
		if (!err) {
			st.live[st.num++] = c;
			check_consistent(&st);
		}
	}
}

KTAP_MAIN({ "counters only, equal or disjoint", counters_only },
	  { "one slot of three words", one_slot },
	  { "one counter for each event, shared parts", own_counters },
	  { "two slots of a kind", two_alike },
	  { "four slots of a kind and shared ones beside", four_alike },
	  { "preferred slots", preference },
	  { "equal values share", sharing },
	  { "a whole R-Box half at random", random_rbox })
