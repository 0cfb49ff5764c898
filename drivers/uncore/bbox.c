// SPDX-License-Identifier: GPL-2.0-only
/*
 * Xeon 7500 B-Boxes: the home agents, each in front of one memory controller. Four
 * counters, each with events of its own.
 *
 *	perf stat -a -e xeon7500_bbox/imt_inserts_rd/ sleep 1
 *	perf stat -a -e xeon7500_bbox/msg_in_match,match_msg_in=0xe,mask_msg_in=0xf/ sleep 1
 *
 *	event		the code of the event, which means something else on each
 *	counter		counter
 *	match_msg_in	message class of an incoming packet,
 *	match_opc_in	its opcode,
 *	match_addr	and its address, in cache lines (49:6)
 *	match_msg_out	message class of an outgoing packet,
 *	match_opc_out	and its opcode
 *	mask_...	for each: the bits that have to match
 *
 * Uncore Programming Guide, section 2.4. It does not tell the sense of a mask bit;
 * as in the R-Box, 1 is taken to mean: compare. See Documentation/bbox.md.
 */
#include <linux/bitfield.h>

#include "uncore.h"
#include "xeon7500/bbox.h"

/* What a match event looks at: a field of MATCH and of MASK, and a slot. */
enum {
	BBOX_ADDR,
	BBOX_MSG_IN,
	BBOX_MSG_OUT,
	BBOX_OPC_IN,
	BBOX_OPC_OUT,
	BBOX_NUM_PARTS,
};

enum {
	BBOX_EVENT,
	BBOX_COUNTER,
	BBOX_MATCH,
	BBOX_MASK = BBOX_MATCH + BBOX_NUM_PARTS,
};

static const struct uncore_field bbox_fields[] = {
	[BBOX_EVENT]			= { "event",		0, 1, 5 },
	[BBOX_COUNTER]			= { "counter",		0, 6, 7 },
	[BBOX_MATCH + BBOX_ADDR]	= { "match_addr",	1, 0, 43 },
	[BBOX_MATCH + BBOX_MSG_IN]	= { "match_msg_in",	1, 44, 47 },
	[BBOX_MATCH + BBOX_MSG_OUT]	= { "match_msg_out",	1, 48, 51 },
	[BBOX_MATCH + BBOX_OPC_IN]	= { "match_opc_in",	1, 52, 55 },
	[BBOX_MATCH + BBOX_OPC_OUT]	= { "match_opc_out",	1, 56, 59 },
	[BBOX_MASK + BBOX_ADDR]		= { "mask_addr",	2, 0, 43 },
	[BBOX_MASK + BBOX_MSG_IN]	= { "mask_msg_in",	2, 44, 47 },
	[BBOX_MASK + BBOX_MSG_OUT]	= { "mask_msg_out",	2, 48, 51 },
	[BBOX_MASK + BBOX_OPC_IN]	= { "mask_opc_in",	2, 52, 55 },
	[BBOX_MASK + BBOX_OPC_OUT]	= { "mask_opc_out",	2, 56, 59 },
	{}
};

#define BBOX_FILTER(part)	((BIT(BBOX_MATCH) | BIT(BBOX_MASK)) << (part))
#define BBOX_F_ADDR		BBOX_FILTER(BBOX_ADDR)
#define BBOX_F_MSG_IN		BBOX_FILTER(BBOX_MSG_IN)
#define BBOX_F_MSG_OUT		BBOX_FILTER(BBOX_MSG_OUT)
#define BBOX_F_OPC_IN		BBOX_FILTER(BBOX_OPC_IN)
#define BBOX_F_OPC_OUT		BBOX_FILTER(BBOX_OPC_OUT)

#define BBOX_EV(_name, _code, _counter, ...)			\
	{ .name = _name, .code = _code, .max_inc = 1,		\
	  .counters = BIT(_counter), .terms = "counter=" #_counter, ##__VA_ARGS__ }

/* The accumulators of occupancies report each overflow: so many entry-clocks. */
#define BBOX_TF		.scale = "256"
#define BBOX_IMT	.scale = "32"

/* Table 2-24 and the detail list of section 2.4.6 */
static const struct uncore_event_desc bbox_events[] = {
	BBOX_EV("msg_addr_in_match",		0x01, 0, .filters = BBOX_F_MSG_IN | BBOX_F_ADDR),
	BBOX_EV("opcode_addr_in_match",		0x02, 0, .filters = BBOX_F_OPC_IN | BBOX_F_ADDR),
	BBOX_EV("msg_opcode_addr_in_match",	0x03, 0,
		.filters = BBOX_F_MSG_IN | BBOX_F_OPC_IN | BBOX_F_ADDR),
	BBOX_EV("tf_all",			0x04, 0, BBOX_TF),
	BBOX_EV("tf_wr",			0x05, 0, BBOX_TF),
	BBOX_EV("tf_invitoe",			0x06, 0, BBOX_TF),
	BBOX_EV("imt_valid_occupancy",		0x07, 0, BBOX_IMT),
	BBOX_EV("drsq_occupancy",		0x09, 0),
	BBOX_EV("tf_ioh",			0x0b, 0, BBOX_TF),
	BBOX_EV("tf_ioh_wr",			0x0d, 0, BBOX_TF),
	BBOX_EV("tf_ioh_invitoe",		0x0f, 0, BBOX_TF),
	BBOX_EV("snpoq_occupancy",		0x12, 0),
	BBOX_EV("dirq_occupancy",		0x17, 0),
	BBOX_EV("tf_ioh_non_invitoe_rd",	0x1c, 0, BBOX_TF),
	/* The names of Table 2-24 */
	BBOX_EV("tf_occupancy_all",		0x04, 0, BBOX_TF),
	BBOX_EV("tf_occupancy_wr",		0x05, 0, BBOX_TF),
	BBOX_EV("tf_occupancy_invitoe",		0x06, 0, BBOX_TF),
	BBOX_EV("tf_occupancy_ioh",		0x0b, 0, BBOX_TF),
	BBOX_EV("tf_occupancy_ioh_wr",		0x0d, 0, BBOX_TF),
	BBOX_EV("tf_occupancy_ioh_invitoe",	0x0f, 0, BBOX_TF),
	BBOX_EV("tf_occupancy_ioh_non_invitoe_rd", 0x1c, 0, BBOX_TF),

	BBOX_EV("msg_in_match",			0x01, 1, .filters = BBOX_F_MSG_IN),
	BBOX_EV("msg_out_match",		0x02, 1, .filters = BBOX_F_MSG_OUT),
	BBOX_EV("opcode_in_match",		0x03, 1, .filters = BBOX_F_OPC_IN),
	BBOX_EV("opcode_out_match",		0x04, 1, .filters = BBOX_F_OPC_OUT),
	BBOX_EV("msg_opcode_in_match",		0x05, 1, .filters = BBOX_F_MSG_IN | BBOX_F_OPC_IN),
	BBOX_EV("msg_opcode_out_match",		0x06, 1,
		.filters = BBOX_F_MSG_OUT | BBOX_F_OPC_OUT),
	BBOX_EV("imt_inserts_all",		0x07, 1),
	BBOX_EV("drsq_inserts",			0x09, 1),
	BBOX_EV("imt_inserts_ioh",		0x0a, 1),
	BBOX_EV("imt_inserts_non_ioh",		0x0b, 1),
	BBOX_EV("imt_inserts_wr",		0x0c, 1),
	BBOX_EV("imt_inserts_ioh_wr",		0x0d, 1),
	BBOX_EV("imt_inserts_non_ioh_wr",	0x0e, 1),
	BBOX_EV("imt_inserts_invitoe",		0x0f, 1),
	BBOX_EV("imt_inserts_ioh_invitoe",	0x10, 1),
	BBOX_EV("snpoq_inserts",		0x12, 1),
	BBOX_EV("dirq_inserts",			0x17, 1),
	BBOX_EV("imt_inserts_non_ioh_invitoe",	0x1c, 1),
	BBOX_EV("imt_inserts_rd",		0x1d, 1),
	BBOX_EV("imt_inserts_non_ioh_rd",	0x1f, 1),

	BBOX_EV("msgs_in_non_snp",		0x01, 2),
	BBOX_EV("msgs_in_non_snoop",		0x01, 2),	/* in Table 2-24 */
	BBOX_EV("msgs_s_to_b",			0x02, 2),
	BBOX_EV("msgs_b_to_s",			0x03, 2),
	/* The same, times the length the manual gives for such a message */
	BBOX_EV("flits_b_to_s",			0x03, 2, .scale = "9", .unit = "flits"),
	BBOX_EV("addr_in_match",		0x04, 2, .filters = BBOX_F_ADDR),
	BBOX_EV("imt_ne_cycles",		0x07, 2),

	BBOX_EV("early_ack",			0x02, 3),
	BBOX_EV("imt_prealloc",			0x06, 3),
	BBOX_EV("cohq_bypass",			0x0e, 3),
	BBOX_EV("demand_fetch",			0x0f, 3),
	BBOX_EV("implicit_wbs",			0x12, 3),
	BBOX_EV("cohq_imt_alloc_wait",		0x13, 3),
	BBOX_EV("sbox_vn0_unavail",		0x14, 3),
	BBOX_EV("rbox_vna_unavail",		0x15, 3),
	BBOX_EV("imt_full",			0x16, 3),
	BBOX_EV("conflicts",			0x17, 3),
	BBOX_EV("ack_before_last_snp",		0x19, 3),
	{}
};

/* MATCH and MASK have the same layout; an event looks at its parts only. */
static const struct uncore_slot_desc bbox_slots[] = {
	[BBOX_ADDR]	= { .reg = 0, .num_regs = 2, .shift = __bf_shf(B_MATCH_ADDR) },
	[BBOX_MSG_IN]	= { .reg = 0, .num_regs = 2, .shift = __bf_shf(B_MATCH_MSG_IN) },
	[BBOX_MSG_OUT]	= { .reg = 0, .num_regs = 2, .shift = __bf_shf(B_MATCH_MSG_OUT) },
	[BBOX_OPC_IN]	= { .reg = 0, .num_regs = 2, .shift = __bf_shf(B_MATCH_OPC_IN) },
	[BBOX_OPC_OUT]	= { .reg = 0, .num_regs = 2, .shift = __bf_shf(B_MATCH_OPC_OUT) },
};

static unsigned int bbox_subreg_msr(const struct uncore_box *box, unsigned int reg)
{
	return (box->instance ? B1_MSR_MATCH : B0_MSR_MATCH) + reg;
}

static const struct uncore_event_desc *bbox_find_event(unsigned int code, unsigned int counter)
{
	const struct uncore_event_desc *desc;

	for (desc = bbox_events; desc->name; desc++) {
		if (desc->code == code && desc->counters & BIT(counter))
			return desc;
	}
	return NULL;
}

static int bbox_decode(const struct perf_event *event, struct uncore_event *ue)
{
	const struct perf_event_attr *attr = &event->attr;
	unsigned int code = uncore_field_get(&bbox_fields[BBOX_EVENT], attr);
	unsigned int counter = uncore_field_get(&bbox_fields[BBOX_COUNTER], attr);
	const struct uncore_event_desc *desc = bbox_find_event(code, counter);
	unsigned int part;

	if (!desc)
		return uncore_refuse(event, -EINVAL, "no event %#x on counter %u", code, counter);
	ue->claim.counters = desc->counters;
	ue->ctl = FIELD_PREP(B_CTL_EV_SEL, code);

	for (part = 0; part < BBOX_NUM_PARTS; part++) {
		const struct uncore_field *match = &bbox_fields[BBOX_MATCH + part];
		const struct uncore_field *mask = &bbox_fields[BBOX_MASK + part];
		struct uncore_req *req = &ue->claim.req[ue->claim.num_reqs];

		if (!(desc->filters & BIT(BBOX_MATCH + part)))
			continue;
		req->first = part;
		req->num = 1;
		req->val[0] = uncore_field_get(match, attr);
		req->val[B_MSR_MASK] = uncore_field_get(mask, attr);
		if (req->val[0] & ~req->val[B_MSR_MASK])
			return uncore_refuse(event, -EINVAL, "%s has bits that %s leaves out",
					     match->name, mask->name);
		ue->claim.num_reqs++;
	}
	return uncore_check_filters(event, desc, BBOX_MATCH);
}

static const u16 bbox_base[] = { B0_MSR_PMON_BASE, B1_MSR_PMON_BASE };

const struct uncore_box_type bbox_type = {
	.name		= "bbox",
	.first		= UNCORE_BBOX,
	.num_boxes	= ARRAY_SIZE(bbox_base),
	.num_counters	= B_NUM_COUNTERS,
	.base		= bbox_base,
	.box_ctl	= B_MSR_PMON_GLOBAL_CTL,
	.evt_sel	= B_MSR_PERF_CTL(0),
	.ctr		= B_MSR_PERF_CNT(0),
	.enable		= B_CTL_EN,
	.pmi_en		= B_CTL_PMI_EN,
	.fields		= bbox_fields,
	.events		= bbox_events,
	.decode		= bbox_decode,
	.slots		= bbox_slots,
	.num_slots	= ARRAY_SIZE(bbox_slots),
	.num_subregs	= 2,
	.subreg_msr	= bbox_subreg_msr,
};
