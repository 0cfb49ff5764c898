// SPDX-License-Identifier: GPL-2.0-only
/*
 * Xeon 7500 and E7 B-Boxes: the home agents, each in front of one memory controller. Four
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
 * Uncore Programming Guide, section 2.4. It does not give the sense of a mask bit;
 * the driver assumes 1: compare, as in the R-Box. See Documentation/bbox.md.
 */
#include "types.h"
#include "xeon7500/bbox.h"

/* What a match event compares: a field of MATCH and of MASK, and a slot. */
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

/* MATCH and MASK have the same layout; an event compares only its parts. */
#define BBOX_MATCH_ROW(part, lo, hi, name)					\
	[BBOX_MATCH + BBOX_##part] = { name, 1, lo, hi,				\
		UNCORE_SLOT(BBOX_##part, 0, B_MATCH_##part), .within = BBOX_MASK + BBOX_##part }
#define BBOX_MASK_ROW(part, lo, hi, name)					\
	[BBOX_MASK + BBOX_##part] = { name, 2, lo, hi,				\
		UNCORE_SLOT(BBOX_##part, B_MSR_MASK, B_MATCH_##part) }

static const struct uncore_field bbox_fields[] = {
	[BBOX_EVENT]	= { "event",	0, 1, 5, UNCORE_CTL(B_CTL_EV_SEL) },
	[BBOX_COUNTER]	= { "counter",	0, 6, 7, UNCORE_TO_COUNTER },
	BBOX_MATCH_ROW(ADDR, 0, 43, "match_addr"),
	BBOX_MATCH_ROW(MSG_IN, 44, 47, "match_msg_in"),
	BBOX_MATCH_ROW(MSG_OUT, 48, 51, "match_msg_out"),
	BBOX_MATCH_ROW(OPC_IN, 52, 55, "match_opc_in"),
	BBOX_MATCH_ROW(OPC_OUT, 56, 59, "match_opc_out"),
	BBOX_MASK_ROW(ADDR, 0, 43, "mask_addr"),
	BBOX_MASK_ROW(MSG_IN, 44, 47, "mask_msg_in"),
	BBOX_MASK_ROW(MSG_OUT, 48, 51, "mask_msg_out"),
	BBOX_MASK_ROW(OPC_IN, 52, 55, "mask_opc_in"),
	BBOX_MASK_ROW(OPC_OUT, 56, 59, "mask_opc_out"),
	{}
};

#define BBOX_FILTER(part)	((BIT(BBOX_MATCH) | BIT(BBOX_MASK)) << (part))
#define BBOX_F_ADDR		BBOX_FILTER(BBOX_ADDR)
#define BBOX_F_MSG_IN		BBOX_FILTER(BBOX_MSG_IN)
#define BBOX_F_MSG_OUT		BBOX_FILTER(BBOX_MSG_OUT)
#define BBOX_F_OPC_IN		BBOX_FILTER(BBOX_OPC_IN)
#define BBOX_F_OPC_OUT		BBOX_FILTER(BBOX_OPC_OUT)

#define BBOX_EV(_name, _code, _counter, ...)			\
	{ .name = _name, .code = _code,				\
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
	BBOX_EV("drsq_occupancy",		0x09, 0, .scale = "4"),
	BBOX_EV("tf_ioh",			0x0b, 0, BBOX_TF),
	BBOX_EV("tf_ioh_wr",			0x0d, 0, BBOX_TF),
	BBOX_EV("tf_ioh_invitoe",		0x0f, 0, BBOX_TF),
	BBOX_EV("snpoq_occupancy",		0x12, 0, .scale = "256"),
	BBOX_EV("dirq_occupancy",		0x17, 0, .scale = "256"),
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
	BBOX_EV("cohq_imt_alloc_wait",		0x13, 3, .inferred = UNCORE_WESTMERE_EX),
	BBOX_EV("sbox_vn0_unavail",		0x14, 3),
	BBOX_EV("rbox_vna_unavail",		0x15, 3),
	BBOX_EV("imt_full",			0x16, 3, .inferred = UNCORE_WESTMERE_EX),
	BBOX_EV("conflicts",			0x17, 3),
	BBOX_EV("ack_before_last_snp",		0x19, 3),
	{}
};

static const struct uncore_slot_desc bbox_slots[] = {
	[BBOX_ADDR ... BBOX_OPC_OUT] = { .reg = 0, .num_regs = 2 },
};

static unsigned int bbox_subreg_msr(unsigned int instance, unsigned int reg)
{
	return (instance ? B1_MSR_MATCH : B0_MSR_MATCH) + reg;
}

static const struct uncore_subregs bbox_subregs = {
	.slots		= bbox_slots,
	.num_slots	= ARRAY_SIZE(bbox_slots),
	.num_regs	= 2,
	.msr		= bbox_subreg_msr,
};

static const u16 bbox_base[] = { B0_MSR_PMON_BASE, B1_MSR_PMON_BASE };

static const struct uncore_counter_row bbox_counters[] = {
	UNCORE_COUNTERS_4(B_MSR_PERF_CTL, B_MSR_PERF_CNT, B_CTL_EN, B_CTL_PMI_EN, 0)
};

const struct uncore_box_type bbox_type = {
	.name		= "bbox",
	.first		= UNCORE_BBOX,
	.num_boxes	= ARRAY_SIZE(bbox_base),
	.base		= bbox_base,
	.box_ctl	= B_MSR_PMON_GLOBAL_CTL,
	.counters	= bbox_counters,
	.num_counters	= ARRAY_SIZE(bbox_counters),
	.fields		= bbox_fields,
	.common		= BIT(BBOX_EVENT) | BIT(BBOX_COUNTER),
	.events		= bbox_events,
	.subregs	= &bbox_subregs,
};
