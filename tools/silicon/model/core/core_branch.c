// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Branches: outcome, prediction, last branch records.
 *
 * The outcome is known when the next block begins. The predictor is a plain
 * one, so that mispredictions are real and repeatable: two-bit counters by
 * address for conditional branches, the last target for indirect ones, a stack
 * for returns.
 */
#include "core.h"

bool branch_lbr_on(const struct core *k)
{
	return (k->debugctl & DEBUGCTL_LBR) && !(k->global_status & GLOBAL_STATUS_LBR_FRZ);
}

static bool mispredicted(struct core *k, const struct core_branch *br, uint64_t to, bool taken)
{
	struct core_trace *t = &k->t;
	unsigned int slot = (br->ip ^ br->ip >> 10) % PREDICT_ENTRIES;
	bool wrong = false;

	if (br->kind & (OP_CALL_REL | OP_CALL_IND))
		t->ret[t->ret_top++ % RETURN_STACK] = br->ip + br->len;
	if (br->kind & OP_JCC) {
		wrong = (t->predict[slot] >= 2) != taken;
		if (taken && t->predict[slot] < 3)
			t->predict[slot]++;
		else if (!taken && t->predict[slot])
			t->predict[slot]--;
	} else if (br->kind & (OP_JMP_IND | OP_CALL_IND)) {
		wrong = t->target[slot] != to;
		t->target[slot] = to;
	} else if (br->kind & OP_RET) {
		wrong = t->ret[--t->ret_top % RETURN_STACK] != to;
	}
	return wrong;
}

static uint32_t describe(uint32_t kind, bool taken)
{
	uint32_t what = BR_ALL | (taken ? BR_TAKEN : BR_NOT_TAKEN);

	switch (kind) {
	case OP_JCC:
		return what | BR_JCC | (taken ? BR_TAKEN_JCC : 0);
	case OP_CALL_REL:
		return what | BR_CALL | BR_REL_CALL;
	case OP_CALL_IND:
		return what | BR_CALL | BR_IND | BR_IND_CALL;
	case OP_JMP_REL:
		return what | BR_JMP;
	case OP_JMP_IND:
		return what | BR_IND | BR_IND_JMP;
	case OP_RET:
		return what | BR_RET;
	case OP_FAR:
		return what | BR_FAR;
	}
	return what;
}

/* LBR_SELECT: each bit keeps one kind out. */
static bool filtered(const struct core *k, uint32_t kind, uint8_t ring)
{
	static const uint32_t kinds[] = {
		[2] = OP_JCC, [3] = OP_CALL_REL, [4] = OP_CALL_IND, [5] = OP_RET,
		[6] = OP_JMP_IND, [7] = OP_JMP_REL, [8] = OP_FAR,
	};
	uint64_t out = k->lbr_select;

	if (out & (ring == RING_OS ? 1 : 2))
		return true;
	for (int i = 2; i < ARRAY_SIZE(kinds); i++)
		if ((out >> i & 1) && (kind & kinds[i]))
			return true;
	return false;
}

/* IA32_PERF_CAPABILITIES[5:0]: SDM volume 3, 17.4.8.1 */
#define LBR_FORMAT_FLAGS	3
#define LBR_FORMAT_CYCLES	6

static void record(struct core *k, const struct core_branch *br, uint64_t to, bool wrong)
{
	unsigned int format = PERF_CAP_LBR_FORMAT(k->model->perf_cap);
	uint64_t flag = (uint64_t)wrong << 63;

	k->lbr_tos = (k->lbr_tos + 1) % k->model->lbr;
	k->lbr[0][k->lbr_tos] = br->ip;
	k->lbr[1][k->lbr_tos] = to;
	/* Misprediction: bit 63 of FROM, or of INFO where there is one, or nowhere. */
	if (k->model->lbr_info)
		k->lbr[2][k->lbr_tos] = flag;
	else if (format >= LBR_FORMAT_FLAGS)
		k->lbr[0][k->lbr_tos] = (br->ip & ~(1ull << 63)) | flag;
	/* Where cycles are in the upper bits of TO, there are none. */
	if (format == LBR_FORMAT_CYCLES)
		k->lbr[1][k->lbr_tos] = to & 0xffffffffffffull;
}

#define LBR_CALL_STACK	(1ull << 9)

/* In this mode returns take the call away that they belong to. */
static bool returns(const struct core *k, const struct core_branch *br)
{
	return (k->lbr_select & LBR_CALL_STACK) && k->model->lbr_call_stack && br->kind == OP_RET;
}

static void forget(struct core *k)
{
	for (int i = 0; i < 3; i++)
		k->lbr[i][k->lbr_tos] = 0;
	k->lbr_tos = (k->lbr_tos + k->model->lbr - 1) % k->model->lbr;
}

void branch_resolve(struct core *k, uint64_t to, uint8_t ring)
{
	struct core_branch br = k->t.br;
	struct core_sample s = { .ip = br.ip };
	bool taken, wrong;
	uint32_t what;

	if (!br.kind)
		return;
	k->t.br.kind = 0;
	taken = br.kind != OP_JCC || to != br.ip + br.len;
	wrong = mispredicted(k, &br, to, taken);
	what = describe(br.kind, taken);
	if (wrong)
		what |= BR_MISP(what);
	for (int i = 0; i < CORE_COUNTERS; i++) {
		struct core_counter *c = &k->ctr[i];

		if (c->running && c->ev.src == SRC_BRANCH && (c->ev.what & what) &&
		    (c->rings & core_ring(k)))
			trace_count(k, i, &s);
	}
	if (taken && bts_on(k))
		bts_write(k, br.ip, to, ring);
	if (!taken || !branch_lbr_on(k) || filtered(k, br.kind, ring))
		return;
	if (returns(k, &br))
		forget(k);
	else
		record(k, &br, to, wrong);
}
