// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a box does: one list of transactions, of which events show each a part. So what must
 * agree does: each request of the list is a hit or a miss, and what is in a queue is what
 * has come in.
 *
 * A box goes through its list without a pause, so many of the first kind, then those of the
 * second; is then idle; and begins anew. A transaction takes a cycle, a packet one for each
 * of its flits, so that no link carries more than it can. How many of each kind there are
 * differs from place to place. In a queue every entry stays for the same time: the longest
 * with which the queue never holds more than it can, so that it is full now and then.
 *
 * A traffic file can tell the boxes what to do instead, see traffic.c.
 *
 * What an event shows is in the spec ("projects"). Events without that have a rhythm of
 * their own, see traffic.c, and so has an event for which a test has set one.
 */
#include "uncore.h"

/* One kind of transaction: at least so many of it, and fewer than `spread` more. */
struct kind {
	uint32_t tags;
	uint8_t cycles, least, spread;
};

/*
 * Requests of the cores, then snoops. A miss on a line that is there in S or F only wants
 * to own it: no fill. What moves a line on the ring takes two cycles: 32 bytes in each.
 */
#define C_MISS	(TAG_C_CORE | TAG_C_MAF | TAG_C_MISS | TAG_C_I)
#define C_SNOOP	(TAG_C_SNOOP | TAG_C_MAF)
static const struct kind c_kinds[] = {
	{ TAG_C_CORE | TAG_C_HIT | TAG_C_M, 2, 8, 8 },
	{ TAG_C_CORE | TAG_C_HIT | TAG_C_E, 2, 16, 16 },
	{ TAG_C_CORE | TAG_C_HIT | TAG_C_S, 2, 12, 8 },
	{ TAG_C_CORE | TAG_C_HIT | TAG_C_F, 2, 4, 4 },
	{ TAG_C_CORE | TAG_C_MAF | TAG_C_MISS | TAG_C_S, 2, 3, 3 },
	{ TAG_C_CORE | TAG_C_MAF | TAG_C_MISS | TAG_C_F, 2, 2, 2 },
	{ C_MISS | TAG_C_FILL_E | TAG_C_FILL_WITHOUT_VICTIM, 2, 2, 2 },
	{ C_MISS | TAG_C_FILL_M | TAG_C_VICTIM | TAG_C_VICTIM_M, 2, 2, 3 },
	{ C_MISS | TAG_C_FILL_E | TAG_C_VICTIM | TAG_C_VICTIM_E, 2, 8, 8 },
	{ C_MISS | TAG_C_FILL_S | TAG_C_VICTIM | TAG_C_VICTIM_S, 2, 6, 6 },
	{ C_MISS | TAG_C_FILL_F | TAG_C_VICTIM | TAG_C_VICTIM_F, 2, 3, 3 },
	{ C_SNOOP | TAG_C_READ | TAG_C_HIT | TAG_C_M, 2, 2, 2 },
	{ C_SNOOP | TAG_C_READ | TAG_C_HIT | TAG_C_E, 1, 2, 2 },
	{ C_SNOOP | TAG_C_READ | TAG_C_HIT | TAG_C_S, 1, 3, 3 },
	{ C_SNOOP | TAG_C_READ | TAG_C_HIT | TAG_C_F, 1, 2, 2 },
	{ C_SNOOP | TAG_C_RFO | TAG_C_HIT | TAG_C_M, 2, 1, 2 },
	{ C_SNOOP | TAG_C_RFO | TAG_C_HIT | TAG_C_E, 1, 1, 2 },
	{ C_SNOOP | TAG_C_RFO | TAG_C_HIT | TAG_C_S, 1, 1, 2 },
	{ C_SNOOP | TAG_C_RFO | TAG_C_HIT | TAG_C_F, 1, 1, 2 },
	{ C_SNOOP | TAG_C_READ, 1, 6, 8 },
	{ C_SNOOP | TAG_C_RFO, 1, 4, 4 },
};

/* Passes of the LLC pipeline that are rejected, by reason. */
#define C_NACK2	TAG_C_NACK_NACK2
static const struct kind c_nack_kinds[] = {
	{ TAG_C_NACK_GO_PENDING, 1, 2, 4 },
	{ TAG_C_NACK_VIC_PENDING, 1, 3, 4 },
	{ TAG_C_NACK_SNP_PENDING, 1, 4, 4 },
	{ TAG_C_NACK_AC_PENDING, 1, 2, 4 },
	{ TAG_C_NACK_IDX_BLOCK, 1, 3, 4 },
	{ TAG_C_NACK_PA_BLOCK, 1, 4, 4 },
	{ TAG_C_NACK_IDLE_QPI, 1, 2, 4 },
	{ C_NACK2 | TAG_C_NACK_MAF_FULL, 1, 1, 3 },
	{ C_NACK2 | TAG_C_NACK_EGRESS_FULL, 1, 2, 3 },
	{ C_NACK2 | TAG_C_NACK_VIQ_FULL, 1, 3, 3 },
	{ C_NACK2 | TAG_C_NACK_NO_TRACKER_CREDITS, 1, 1, 3 },
	{ C_NACK2 | TAG_C_NACK_NO_S_FIFO_CREDITS, 1, 2, 3 },
	{ C_NACK2 | TAG_C_NACK_NO_S_REQTBL_ENTRIES, 1, 3, 3 },
	{ C_NACK2 | TAG_C_NACK_WB_PENDING, 1, 1, 3 },
	{ C_NACK2 | TAG_C_NACK_NACK2_ELSE, 1, 2, 3 },
};

/*
 * To the system. Of the home messages those of HOM0 are requests, those of HOM1 answers. Credits
 * are in idle flits.
 */
#define S_OF_CBOX(n)								\
	{ TAG_S_OUT_DRS | TAG_S_OUT_CBOX##n, 9, 10, 4 },			\
	{ TAG_S_OUT_DRS | TAG_S_OUT_CBOX##n, 11, 4, 2 },			\
	{ TAG_S_OUT_NCB | TAG_S_OUT_CBOX##n, 9, 1, 2 },				\
	{ TAG_S_OUT_NCB | TAG_S_OUT_CBOX##n, 11, 3, 2 },			\
	{ TAG_S_OUT_NCS | TAG_S_OUT_CBOX##n, 3, 4, 3 }
static const struct kind s_out_kinds[] = {
	{ TAG_S_OUT_HOM | TAG_S_OUT_REQUEST | TAG_S_OUT_TO_R, 1, 80, 40 },
	{ TAG_S_OUT_HOM | TAG_S_OUT_TO_R, 1, 20, 10 },
	{ TAG_S_OUT_HOM | TAG_S_OUT_REQUEST | TAG_S_OUT_TO_B, 1, 80, 40 },
	{ TAG_S_OUT_HOM | TAG_S_OUT_TO_B, 1, 20, 10 },
	{ TAG_S_OUT_SNP, 1, 100, 40 },
	{ TAG_S_OUT_NDR, 1, 110, 40 },
	S_OF_CBOX(0), S_OF_CBOX(1), S_OF_CBOX(2), S_OF_CBOX(3), S_OF_CBOX(4),
	{ TAG_S_OUT_CREDIT | TAG_S_OUT_TO_R, 1, 40, 20 },
	{ TAG_S_OUT_CREDIT | TAG_S_OUT_TO_B, 1, 30, 20 },
};

/* From the system. Snoops have left their queue when those come that share it. */
static const struct kind s_in_kinds[] = {
	{ TAG_S_IN_SNP | TAG_S_IN_FROM_R, 1, 100, 40 },
	{ TAG_S_IN_NDR | TAG_S_IN_FROM_R, 1, 110, 40 },
	{ TAG_S_IN_DRS | TAG_S_IN_FROM_R, 9, 30, 20 },
	{ TAG_S_IN_DRS | TAG_S_IN_FROM_B, 9, 30, 20 },
	{ TAG_S_IN_NCS | TAG_S_IN_FROM_R, 3, 10, 10 },
	{ TAG_S_IN_NCB | TAG_S_IN_FROM_R, 11, 10, 10 },
	{ TAG_S_IN_CREDIT | TAG_S_IN_FROM_R, 1, 40, 20 },
	{ TAG_S_IN_CREDIT | TAG_S_IN_FROM_B, 1, 30, 20 },
};

/*
 * Requests to a home agent, and what its M-Box does for them: InvItoE reads memory. Each
 * takes a cycle for each DRAM command, of which a page that has to be opened wants one more,
 * and one that has to be closed before it another. Then commands that no request is behind.
 */
#define B_READ	(TAG_B_MESSAGE | TAG_B_REQUEST | TAG_B_RD | TAG_B_MEM_RD)
#define B_OWN	(TAG_B_MESSAGE | TAG_B_REQUEST | TAG_B_INVITOE | TAG_B_MEM_RD)
#define B_WRITE	(TAG_B_MESSAGE | TAG_B_REQUEST | TAG_B_WR)
static const struct kind b_kinds[] = {
	{ TAG_B_NON_IOH | B_READ | TAG_B_PAGE_HIT, 1, 80, 60 },
	{ TAG_B_NON_IOH | B_READ | TAG_B_PAGE_MISS, 3, 30, 20 },
	{ TAG_B_NON_IOH | B_READ | TAG_B_PAGE_EMPTY, 2, 20, 10 },
	{ TAG_B_NON_IOH | B_OWN | TAG_B_PAGE_HIT, 1, 20, 10 },
	{ TAG_B_NON_IOH | B_WRITE | TAG_B_PAGE_HIT, 1, 60, 30 },
	{ TAG_B_NON_IOH | B_WRITE | TAG_B_PAGE_MISS, 3, 20, 10 },
	{ TAG_B_IOH | B_READ | TAG_B_PAGE_MISS, 3, 30, 20 },
	{ TAG_B_IOH | B_OWN | TAG_B_PAGE_EMPTY, 2, 10, 10 },
	{ TAG_B_IOH | B_WRITE | TAG_B_PAGE_EMPTY, 2, 30, 20 },
	{ TAG_B_MERGE, 1, 6, 4 },
	{ TAG_B_V2F, 1, 5, 4 },
	{ TAG_B_V2V, 1, 4, 4 },
	{ TAG_B_F2V, 1, 3, 4 },
	{ TAG_B_F2B, 1, 2, 4 },
	{ TAG_B_SPRWR, 1, 1, 4 },
	{ TAG_B_MESSAGE, 1, 30, 20 },		/* answers to snoops */
};

/* Each way of a link between packages. Most packets go by the adaptive network. */
#define R_OF_VN(vn, few, more)				\
	{ TAG_R_NCB | (vn), 9, few, 2 },		\
	{ TAG_R_NCB | (vn), 11, 2 * few, 3 },		\
	{ TAG_R_NCS | (vn), 3, 3 * few, 5 },		\
	{ TAG_R_DRS | (vn), 9, more, more },		\
	{ TAG_R_DRS | (vn), 11, 3 * few, 3 },		\
	{ TAG_R_NDR | (vn), 1, 5 * more, 20 },		\
	{ TAG_R_HOM | (vn) | ((vn) == TAG_R_VN1 ? TAG_R_HOM_VN1 : TAG_R_HOM_VN0),	\
	  1, 5 * more, 40 },				\
	{ TAG_R_SNP | (vn), 1, 5 * more, 40 }
static const struct kind r_kinds[] = {
	R_OF_VN(TAG_R_VN0, 2, 10),
	R_OF_VN(TAG_R_VN1, 1, 10),
	R_OF_VN(TAG_R_VNA, 5, 50),
};

static const struct list {
	const struct kind *kinds;
	unsigned int num, period_log2;
	uint32_t westmere;	/* what has one of these tags is of Westmere-EX alone */
} lists[LISTS] = {
	[LIST_C] = { c_kinds, ARRAY_SIZE(c_kinds), 9, 0 },
	[LIST_C_NACK] = { c_nack_kinds, ARRAY_SIZE(c_nack_kinds), 8, 0 },
	[LIST_S_OUT] = { s_out_kinds, ARRAY_SIZE(s_out_kinds), 11, TAG_S_OUT_CBOX4 },
	[LIST_S_IN] = { s_in_kinds, ARRAY_SIZE(s_in_kinds), 11, 0 },
	[LIST_B] = { b_kinds, ARRAY_SIZE(b_kinds), 10, 0 },
	[LIST_R_IN] = { r_kinds, ARRAY_SIZE(r_kinds), 12, 0 },
	[LIST_R_OUT] = { r_kinds, ARRAY_SIZE(r_kinds), 12, 0 },
};

static struct {
	unsigned int package, list, inst, num;
	struct kind kind;
} told[1024];
static unsigned int num_told;

bool activity_tell(unsigned int package, unsigned int list, unsigned int inst, uint32_t tags,
		   unsigned int cycles, unsigned int num)
{
	unsigned int sum = cycles * num;

	for (unsigned int i = 0; i < num_told; i++) {
		if (told[i].package == package && told[i].list == list && told[i].inst == inst)
			sum += told[i].kind.cycles * told[i].num;
	}
	if (num_told == ARRAY_SIZE(told) || sum > CF_PERIOD_MAX)
		return false;
	told[num_told].package = package;
	told[num_told].list = list;
	told[num_told].inst = inst;
	told[num_told].num = num;
	told[num_told++].kind = (struct kind){ .tags = tags, .cycles = cycles };
	return true;
}

bool activity_is_told(void)
{
	return num_told;
}

/* So many of a kind, from cycle `at` on; the cycle after the last of them. */
static unsigned int add_kind(const struct kind *k, unsigned int num, unsigned int at,
			     struct activity *a)
{
	g_assert(at + k->cycles * num <= 1u << a->period_log2);
	for (; num; num--, at += k->cycles) {
		a->list[a->num++] = (struct transaction){
			.at = at, .cycles = k->cycles, .tags = k->tags
		};
	}
	return at;
}

struct activity *activity_of(const struct package *p, unsigned int list_id, unsigned int inst)
{
	const struct list *list = &lists[list_id];
	bool westmere = p->kind == KIND_WESTMERE_EX;
	uint64_t place = p->id | list_id << 4 | inst << 8 | 0xaull << 60;
	struct activity *a = g_new(struct activity, 1);
	unsigned int at = 0;

	a->num = 0;
	a->period_log2 = num_told ? CF_LOG2_MAX : list->period_log2;
	for (unsigned int i = 0; i < num_told; i++) {
		if (told[i].package == p->id && told[i].list == list_id && told[i].inst == inst)
			at = add_kind(&told[i].kind, told[i].num, at, a);
	}
	for (unsigned int i = 0; i < list->num && !num_told; i++) {
		const struct kind *k = &list->kinds[i];

		if (westmere || !(k->tags & list->westmere))
			at = add_kind(k, k->least + cf_hash(place | i << 16) % k->spread, at, a);
	}
	return a;
}

/*
 * Cycles in which transactions begin that have all of these tags, or all that they take; of one
 * in so many of those.
 */
static void transactions(const struct activity *a, uint32_t tags, bool all, unsigned int every,
			 struct pattern *out)
{
	unsigned int num = 0;

	out->log2 = a->period_log2;
	memset(out->inc, 0, sizeof(out->inc[0]) << out->log2);
	for (unsigned int i = 0; i < a->num; i++) {
		const struct transaction *t = &a->list[i];
		bool shown = (t->tags & tags) == tags && num++ % every == 0;

		for (unsigned int c = 0; c < (all ? t->cycles : 1); c++)
			out->inc[t->at + c] = shown;
	}
}

void activity_pattern(const struct package *p, unsigned int inst, const struct view *v,
		      struct pattern *out)
{
	unsigned int boxes = p->kind == KIND_WESTMERE_EX ? 10 : 8;
	/* C-Boxes send to all cores. Only the sums over both are said to agree. */
	g_autofree struct activity *a = activity_of(p, v->list,
						    v->at_core ? (inst + 1) % boxes : inst);
	g_autofree struct pattern *queue = NULL;
	bool flits = v->shows == SHOWS_FLITS || v->shows == SHOWS_NULL_FLITS;

	transactions(a, v->of, flits, MAX(v->every, 1), out);
	if (v->shows == SHOWS_NULL_FLITS)
		pattern_shape(out, &(struct shape){ .threshold = 1, .invert = true });
	if (v->shows == SHOWS_COUNT || flits)
		return;
	queue = g_new(struct pattern, 1);
	transactions(a, v->queue, false, 1, queue);
	/* With one a cycle at most, those of `depth` cycles always have room. */
	pattern_stay(out, num_told ? v->depth : pattern_longest_stay(queue, v->depth));
	if (v->shows == SHOWS_NOT_EMPTY)
		pattern_cap(out, 1);
	if (v->shows == SHOWS_FULL)
		pattern_shape(out, &(struct shape){ .threshold = v->depth });
}
