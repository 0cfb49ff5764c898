/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who may use which counter and which shared sub-register of a box.
 *
 * Several events of a box can depend on one field of a shared register (a *slot*). Two
 * events that need the same value share it; a different value needs another slot
 * of the same kind, or the events are multiplexed. Plain data and pure functions: the same code
 * validates groups on an empty box and runs in the host's unit tests.
 */
#ifndef UNCORE_CLAIMS_H
#define UNCORE_CLAIMS_H

#include <linux/types.h>

#define UNCORE_MAX_SLOTS	24
#define UNCORE_MAX_REQS		6
#define UNCORE_SLOT_WORDS	3

/**
 * struct uncore_req - one slot an event needs
 * @first: first slot that can serve
 * @num: how many slots from @first on can; they are interchangeable
 * @chosen: the slot that was taken, counted from @first; before, the preferred one: an event
 *          that is added again prefers its last slot
 * @val: the wanted contents; unused words are 0
 */
struct uncore_req {
	u8 first;
	u8 num;
	u8 chosen;
	u64 val[UNCORE_SLOT_WORDS];
};

/**
 * struct uncore_claim - all that one event needs of its box
 * @counters: the counters that can serve it, bit n for counter n
 * @idx: the counter that was taken, -1 before
 * @num_reqs: number of entries in @req
 * @req: the slots; no two for overlapping ranges
 */
struct uncore_claim {
	u32 counters;
	int idx;
	unsigned int num_reqs;
	struct uncore_req req[UNCORE_MAX_REQS];
};

/**
 * struct uncore_claims - what is in use on one box
 * @counters: counters taken, bit n for counter n
 * @slot: contents and number of users of each slot
 */
struct uncore_claims {
	unsigned long counters;
	struct {
		u64 val[UNCORE_SLOT_WORDS];
		unsigned int users;
	} slot[UNCORE_MAX_SLOTS];
};

int uncore_claim_take(struct uncore_claims *claims, struct uncore_claim *claim);
void uncore_claim_release(struct uncore_claims *claims, struct uncore_claim *claim);

#endif /* UNCORE_CLAIMS_H */
