// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counter and sub-register allocation of a box, see claims.h.
 *
 * Any fit is the best fit. The slots of one request are interchangeable, ranges of
 * different requests are equal or disjoint, and a slot that already holds the wanted
 * value costs nothing; so no later event profits from another choice. Counters are
 * interchangeable within the mask of an event, and boxes whose masks differ (B-Box)
 * give each event exactly one.
 */
#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/string.h>

#include "claims.h"

/* The slot to use for @req: one with the same contents, else a free one. */
static int uncore_slot_find(const struct uncore_claims *claims, const struct uncore_req *req)
{
	int preferred = req->first + req->chosen;
	int free = -1;
	int i;

	for (i = req->first; i < req->first + req->num; i++) {
		if (!claims->slot[i].users) {
			if (free < 0 || i == preferred)
				free = i;
		} else if (!memcmp(claims->slot[i].val, req->val, sizeof(req->val))) {
			return i;
		}
	}
	return free;
}

/**
 * uncore_claim_take() - reserve a counter and all slots, or nothing
 * @claims: the box
 * @claim: what is needed; @claim->idx and each chosen are filled in
 *
 * Return: 0, or -ENOSPC if the box cannot serve this beside what it has.
 */
int uncore_claim_take(struct uncore_claims *claims, struct uncore_claim *claim)
{
	u32 free = claim->counters & ~claims->counters;
	int slot[UNCORE_MAX_REQS];
	unsigned int i;

	if (!free)
		return -ENOSPC;
	for (i = 0; i < claim->num_reqs; i++) {
		slot[i] = uncore_slot_find(claims, &claim->req[i]);
		if (slot[i] < 0)
			return -ENOSPC;
	}

	for (i = 0; i < claim->num_reqs; i++) {
		struct uncore_req *req = &claim->req[i];

		memcpy(claims->slot[slot[i]].val, req->val, sizeof(req->val));
		claims->slot[slot[i]].users++;
		req->chosen = slot[i] - req->first;
	}
	claim->idx = __ffs(free);
	claims->counters |= 1UL << claim->idx;
	return 0;
}

/**
 * uncore_claim_release() - give back what uncore_claim_take() reserved
 * @claims: the box
 * @claim: the claim; its counter is forgotten
 */
void uncore_claim_release(struct uncore_claims *claims, struct uncore_claim *claim)
{
	unsigned int i;

	for (i = 0; i < claim->num_reqs; i++)
		claims->slot[claim->req[i].first + claim->req[i].chosen].users--;
	claims->counters &= ~(1UL << claim->idx);
	claim->idx = -1;
}
