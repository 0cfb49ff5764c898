// SPDX-License-Identifier: GPL-2.0-only
/*
 * Xeon 7500 R-Box: the router between the agents of the package and the QPI links.
 * xeon7500_rbox_0 is its left half, xeon7500_rbox_1 its right half; each has eight
 * counters for its four ports, any event on any.
 *
 *	port	xeon7500_rbox_0		xeon7500_rbox_1
 *	0	qpi1 (port 0)		qpi2 (port 4)
 *	1	qpi0 (port 1)		qpi3 (port 5)
 *	2	s0   (port 2)		s1   (port 6)
 *	3	b0   (port 3)		u_b1 (port 7: U-Box and B-Box 1)
 *
 *	perf stat -a -e xeon7500_rbox_0/flits_sent,port=1/ sleep 1
 *	perf stat -a -e xeon7500_rbox/new_packets_recv.any.drs,qpi2/ sleep 1
 *	perf stat -a -e xeon7500_rbox/drs.anyresp9flits,s1/ sleep 1
 *	perf stat -a -e xeon7500_rbox/xbar_mm,qpi1,match_mc=0x3,mask_mc=0xf/ sleep 1
 *
 *	event		number of the event in the table below (the hardware has none)
 *	port		port of this half; or its name, from the table above
 *	new_pc		new_packets_recv: classes, bits NCB, NCS, DRS, NDR, HOM, SNP
 *	new_pvn		new_packets_recv: network, 0 VN0, 1 VN1, 2 VNA, 3 all
 *	arb_sel		alloc_to_arb: classes, bits NCB, NCS, DRS, NDR, SNP, HOM VN1,
 *			HOM VN0
 *	eot_mc		eot_occupancy, eot_inserts: class, 1 HOM VN0, 2 HOM VN1, 3 NDR,
 *			4 DRS VN0, 5 SNP, 6 NCB, 7 NCS, 8 DRS VN1
 *	qlx_cls		class, 0 HOM, 1 SNP, 2 NDR, 3 NCS, 4 DRS, 5 NCB, 6 and 7 VNA
 *			small and large
 *	qlx_sub		network, 0 VN0, 1 VN1
 *	and for xbar_mm:
 *	flt_cnt		flit of a packet to look at; the first if this is left out, so
 *			that packets are counted
 *	ig_flt_cnt	look at every flit
 *	match_...	wanted message class (mc), opcode (opc), virtual network (vnw),
 *			destination and remote node (dnid, rnid), response data state
 *			(rds), bits 71:64 of the flit (71_64)
 *	mask_...	for each: the bits that have to match
 *
 * A port can look for two different things of a kind at a time: two of the IPERF
 * events, two of QLX, two matches. Uncore Programming Guide, section 2.6.
 */
#include <linux/bitfield.h>

#include "uncore.h"
#include "xeon7500/rbox.h"

enum {
	RBOX_EVENT,
	RBOX_PORT,
	RBOX_NUM_COMMON,
	RBOX_NEW_PC = RBOX_NUM_COMMON,
	RBOX_NEW_PVN,
	RBOX_ARB_SEL,
	RBOX_EOT_MC,
	RBOX_QLX_CLS,
	RBOX_QLX_SUB,
	RBOX_FLT_CNT,
	RBOX_IG_FLT_CNT,
	RBOX_MATCH_VNW,
	RBOX_MATCH_OPC,
	RBOX_MATCH_MC,
	RBOX_MATCH_DNID,
	RBOX_MATCH_RNID,
	RBOX_MATCH_RDS,
	RBOX_MATCH_71_64,
	RBOX_MASK_VNW,
	RBOX_MASK_OPC,
	RBOX_MASK_MC,
	RBOX_MASK_DNID,
	RBOX_MASK_RNID,
	RBOX_MASK_RDS,
	RBOX_MASK_71_64,
};

/* config1 and config2 are MATCH and MASK, and above them what MM_CFG holds. */
static const struct uncore_field rbox_fields[] = {
	[RBOX_EVENT]		= { "event",		0, 0, 5 },
	[RBOX_PORT]		= { "port",		0, 8, 9 },	/* and rbox_port_names */
	[RBOX_NEW_PC]		= { "new_pc",		0, 16, 21 },
	[RBOX_NEW_PVN]		= { "new_pvn",		0, 22, 23 },
	[RBOX_ARB_SEL]		= { "arb_sel",		0, 24, 30 },
	[RBOX_EOT_MC]		= { "eot_mc",		0, 32, 35 },
	[RBOX_QLX_CLS]		= { "qlx_cls",		0, 36, 38 },
	[RBOX_QLX_SUB]		= { "qlx_sub",		0, 39, 39 },
	[RBOX_FLT_CNT]		= { "flt_cnt",		0, 40, 43 },
	[RBOX_IG_FLT_CNT]	= { "ig_flt_cnt",	0, 44, 44 },
	[RBOX_MATCH_VNW]	= { "match_vnw",	1, 3, 4 },
	[RBOX_MATCH_OPC]	= { "match_opc",	1, 5, 8 },
	[RBOX_MATCH_MC]		= { "match_mc",		1, 9, 12 },
	[RBOX_MATCH_DNID]	= { "match_dnid",	1, 13, 17 },
	[RBOX_MATCH_RNID]	= { "match_rnid",	1, 31, 35 },
	[RBOX_MATCH_RDS]	= { "match_rds",	1, 48, 51 },
	[RBOX_MATCH_71_64]	= { "match_71_64",	1, 56, 63 },
	[RBOX_MASK_VNW]		= { "mask_vnw",		2, 3, 4 },
	[RBOX_MASK_OPC]		= { "mask_opc",		2, 5, 8 },
	[RBOX_MASK_MC]		= { "mask_mc",		2, 9, 12 },
	[RBOX_MASK_DNID]	= { "mask_dnid",	2, 13, 17 },
	[RBOX_MASK_RNID]	= { "mask_rnid",	2, 31, 35 },
	[RBOX_MASK_RDS]		= { "mask_rds",		2, 48, 51 },
	[RBOX_MASK_71_64]	= { "mask_71_64",	2, 56, 63 },
	{}
};

#define RBOX_F_NEW	(BIT(RBOX_NEW_PC) | BIT(RBOX_NEW_PVN))
#define RBOX_F_ARB	BIT(RBOX_ARB_SEL)
#define RBOX_F_EOT	BIT(RBOX_EOT_MC)
#define RBOX_F_CLS	BIT(RBOX_QLX_CLS)
#define RBOX_F_CLS_SUB	(BIT(RBOX_QLX_CLS) | BIT(RBOX_QLX_SUB))
#define RBOX_F_XBR	GENMASK(RBOX_MASK_71_64, RBOX_FLT_CNT)

/* Our numbers */
enum {
	RBOX_EV_FLITS_SENT,
	RBOX_EV_NULL_IDLE,
	RBOX_EV_RETRYQ_OV,
	RBOX_EV_RETRYQ_NE,
	RBOX_EV_OUTPUTQ_OVFL,
	RBOX_EV_OUTPUTQ_NE,
	RBOX_EV_FLITS_RECV_SPEC,
	RBOX_EV_FLITS_RECV_ERR,
	RBOX_EV_EOT_INSERTS,
	RBOX_EV_EOT_OCCUPANCY,
	RBOX_EV_EOT_NE_CYCLES,
	RBOX_EV_ALLOC_TO_ARB,
	RBOX_EV_INQUE_READ_WIN,
	RBOX_EV_NEW_PACKETS_RECV,
	RBOX_EV_QLX		= 0x20,	/* + type */
	RBOX_EV_XBAR_MM		= 0x30,
};

#define RBOX_QLX_TARGET_AVAILABLE	0x9

#define RBOX_NEW(name, pc, pvn)	{ name, .terms = "new_pc=" #pc ",new_pvn=" #pvn }
#define RBOX_ARB(name, sel)	{ name, .terms = "arb_sel=" #sel }
#define RBOX_QLX(name, cls)	{ name, .terms = "qlx_cls=" #cls }
#define RBOX_QLX_VN(name, cls, sub) \
	{ name, .terms = "qlx_cls=" #cls ",qlx_sub=" #sub }

#define RBOX_EOT_CLASSES						\
	UNCORE_UMASKS({ "hom_vn0", .terms = "eot_mc=1" },		\
		      { "hom_vn1", .terms = "eot_mc=2" },		\
		      { "ndr", .terms = "eot_mc=3" },			\
		      { "drs_vn0", .terms = "eot_mc=4" },		\
		      { "snp", .terms = "eot_mc=5" },			\
		      { "ncb", .terms = "eot_mc=6" },			\
		      { "ncs", .terms = "eot_mc=7" },			\
		      { "drs_vn1", .terms = "eot_mc=8" })

#define RBOX_QLX_CLASSES						\
	UNCORE_UMASKS(RBOX_QLX("hom", 0), RBOX_QLX("snp", 1),		\
		      RBOX_QLX("ndr", 2), RBOX_QLX("ncs", 3),		\
		      RBOX_QLX("drs", 4), RBOX_QLX("ncb", 5))

/* Tables 2-48, 2-49, 2-53 and 2-54. .ctl is the fixed part of the sub-register. */
static const struct uncore_event_desc rbox_events[] = {
	/* IPERF */
	{ "flits_sent",		RBOX_EV_FLITS_SENT, 1, .ctl = R_IPERF_FLT_SENT },
	{ "null_idle",		RBOX_EV_NULL_IDLE, 1, .ctl = R_IPERF_NULL_IDLE },
	{ "retryq_ov",		RBOX_EV_RETRYQ_OV, 1, .ctl = R_IPERF_RETRYQ_OV },
	{ "retryq_ne",		RBOX_EV_RETRYQ_NE, 1, .ctl = R_IPERF_RETRYQ_NE },
	{ "outputq_ovfl",	RBOX_EV_OUTPUTQ_OVFL, 1, .ctl = R_IPERF_OUTQ_OV },
	{ "outputq_ne",		RBOX_EV_OUTPUTQ_NE, 1, .ctl = R_IPERF_OUTQ_NE },
	{ "flits_recv_spec",	RBOX_EV_FLITS_RECV_SPEC, 1, .ctl = R_IPERF_RCVD_SPEC_FLT },
	{ "flits_recv_err",	RBOX_EV_FLITS_RECV_ERR, 1, .ctl = R_IPERF_RCVD_ERR_FLT },
	{ "eot_inserts",	RBOX_EV_EOT_INSERTS, 1, RBOX_EOT_CLASSES,
	  .ctl = R_IPERF_MC_ROLL_ALLOC, .filters = RBOX_F_EOT },
	/* one count for 128 entry-clocks */
	{ "eot_occupancy",	RBOX_EV_EOT_OCCUPANCY, 1, RBOX_EOT_CLASSES,
	  .filters = RBOX_F_EOT, .scale = "128" },
	{ "eot_ne_cycles",	RBOX_EV_EOT_NE_CYCLES, 1, .ctl = R_IPERF_EOT_NE },
	{ "alloc_to_arb",	RBOX_EV_ALLOC_TO_ARB, 1,
	  UNCORE_UMASKS(RBOX_ARB("ncb", 0x01), RBOX_ARB("ncs", 0x02),
			RBOX_ARB("drs_vn01", 0x04), RBOX_ARB("ndr", 0x08),
			RBOX_ARB("snp", 0x10), RBOX_ARB("hom_vn1", 0x20),
			RBOX_ARB("hom_vn0", 0x40), RBOX_ARB("all", 0x7f)),
	  .filters = RBOX_F_ARB },
	{ "inque_read_win",	RBOX_EV_INQUE_READ_WIN, 1, .ctl = R_IPERF_IQA_READ_OK },
	{ "new_packets_recv",	RBOX_EV_NEW_PACKETS_RECV, 1,
	  UNCORE_UMASKS(RBOX_NEW("vn0.ncb", 0x01, 0), RBOX_NEW("vn0.ncs", 0x02, 0),
			RBOX_NEW("vn0.drs", 0x04, 0), RBOX_NEW("vn0.ndr", 0x08, 0),
			RBOX_NEW("vn0.hom", 0x10, 0), RBOX_NEW("vn0.snp", 0x20, 0),
			RBOX_NEW("vn0.all", 0x3f, 0),
			RBOX_NEW("vn1.ncb", 0x01, 1), RBOX_NEW("vn1.ncs", 0x02, 1),
			RBOX_NEW("vn1.drs", 0x04, 1), RBOX_NEW("vn1.ndr", 0x08, 1),
			RBOX_NEW("vn1.hom", 0x10, 1), RBOX_NEW("vn1.snp", 0x20, 1),
			RBOX_NEW("vn1.all", 0x3f, 1),
			RBOX_NEW("vna.ncb", 0x01, 2), RBOX_NEW("vna.ncs", 0x02, 2),
			RBOX_NEW("vna.drs", 0x04, 2), RBOX_NEW("vna.ndr", 0x08, 2),
			RBOX_NEW("vna.hom", 0x10, 2), RBOX_NEW("vna.snp", 0x20, 2),
			RBOX_NEW("vna.all", 0x3f, 2),
			RBOX_NEW("any.ncb", 0x01, 3), RBOX_NEW("any.ncs", 0x02, 3),
			RBOX_NEW("any.drs", 0x04, 3), RBOX_NEW("any.ndr", 0x08, 3),
			RBOX_NEW("any.hom", 0x10, 3), RBOX_NEW("any.snp", 0x20, 3),
			RBOX_NEW("any.all", 0x3f, 3)),
	  .filters = RBOX_F_NEW },

	/* QLX: arbitration */
	{ "que_arb_bid",		RBOX_EV_QLX + 0x0, 1, RBOX_QLX_CLASSES,
	  .ctl = 0x0, .filters = RBOX_F_CLS },
	{ "local_arb_bid",		RBOX_EV_QLX + 0x1, 1, .ctl = 0x1 },
	{ "global_arb_bid",		RBOX_EV_QLX + 0x2, 1, .ctl = 0x2 },
	{ "que_arb_bid_fail",		RBOX_EV_QLX + 0x3, 1, RBOX_QLX_CLASSES,
	  .ctl = 0x3, .filters = RBOX_F_CLS },
	{ "local_arb_bid_fail",		RBOX_EV_QLX + 0x4, 1, .ctl = 0x4 },
	{ "global_arb_bid_fail",	RBOX_EV_QLX + 0x5, 1,
	  UNCORE_UMASKS(RBOX_QLX_VN("vn0.hom", 0, 0), RBOX_QLX_VN("vn0.snp", 1, 0),
			RBOX_QLX_VN("vn0.ndr", 2, 0), RBOX_QLX_VN("vn0.ncs", 3, 0),
			RBOX_QLX_VN("vn0.drs", 4, 0), RBOX_QLX_VN("vn0.ncb", 5, 0),
			RBOX_QLX_VN("vn1.hom", 0, 1), RBOX_QLX_VN("vn1.snp", 1, 1),
			RBOX_QLX_VN("vn1.ndr", 2, 1), RBOX_QLX_VN("vn1.ncs", 3, 1),
			RBOX_QLX_VN("vn1.drs", 4, 1), RBOX_QLX_VN("vn1.ncb", 5, 1)),
	  .ctl = 0x5, .filters = RBOX_F_CLS_SUB },
	{ "que_arb_home_order_kill",	RBOX_EV_QLX + 0x6, 1, .ctl = 0x6 },
	{ "local_arb_home_order_kill",	RBOX_EV_QLX + 0x7, 1, .ctl = 0x7 },
	{ "global_arb_home_order_kill",	RBOX_EV_QLX + 0x8, 1, .ctl = 0x8 },
	{ "target_available",		RBOX_EV_QLX + RBOX_QLX_TARGET_AVAILABLE, 1,
	  UNCORE_UMASKS(RBOX_QLX_VN("vn0.hom", 0, 0), RBOX_QLX_VN("vn0.snp", 1, 0),
			RBOX_QLX_VN("vn0.ndr", 2, 0), RBOX_QLX_VN("vn0.ncs", 3, 0),
			RBOX_QLX_VN("vn0.drs", 4, 0), RBOX_QLX_VN("vn0.ncb", 5, 0),
			RBOX_QLX_VN("vn0.vsm", 6, 0), RBOX_QLX_VN("vn0.vlg", 7, 0),
			RBOX_QLX_VN("vn1.hom", 0, 1), RBOX_QLX_VN("vn1.snp", 1, 1),
			RBOX_QLX_VN("vn1.ndr", 2, 1), RBOX_QLX_VN("vn1.ncs", 3, 1),
			RBOX_QLX_VN("vn1.drs", 4, 1), RBOX_QLX_VN("vn1.ncb", 5, 1),
			RBOX_QLX_VN("vn1.vsm", 6, 1), RBOX_QLX_VN("vn1.vlg", 7, 1)),
	  .ctl = RBOX_QLX_TARGET_AVAILABLE, .filters = RBOX_F_CLS_SUB },
	{ "starving",			RBOX_EV_QLX + 0xa, 1, .ctl = 0xa },

	/* Packets that cross from an input to an output port */
	{ "xbar_mm",	RBOX_EV_XBAR_MM, 1, .filters = RBOX_F_XBR },
	{ "drs",	RBOX_EV_XBAR_MM, 1,
	  UNCORE_UMASKS({ "anydatac", .terms = "mask_opc=0xc" },
			{ "datac_m", .terms = "mask_opc=0xf,match_rds=0x8,mask_rds=0xf" },
			{ "wbidata", .terms = "match_opc=0x4,mask_opc=0xf" },
			{ "wbsdata", .terms = "match_opc=0x5,mask_opc=0xf" },
			{ "wbedata", .terms = "match_opc=0x6,mask_opc=0xf" },
			{ "anyresp" },
			{ "anyresp9flits", .terms = "mask_opc=0x8" },
			{ "anyresp11flits", .terms = "match_opc=0x8,mask_opc=0x8" }),
	  .terms = "match_mc=0xe,mask_mc=0xf" },
	{ "ndr",	RBOX_EV_XBAR_MM, 1,
	  UNCORE_UMASKS({ "anycmp", .terms = "match_opc=0x8,mask_opc=0x8" }),
	  .terms = "match_mc=0x2,mask_mc=0xf" },
	{ "ncb",	RBOX_EV_XBAR_MM, 1,
	  UNCORE_UMASKS({ "anymsg9flits", .terms = "mask_opc=0x8" },
			{ "anymsg11flits", .terms = "match_opc=0x8,mask_opc=0x8" },
			{ "anyint", .terms = "match_opc=0x8,mask_opc=0xc" }),
	  .terms = "match_mc=0xc,mask_mc=0xf" },
	{}
};

/* The manual's names of the ports: a bit each, in the order of their numbers. */
static const struct uncore_field rbox_left_ports[] = {
	{ "qpi1",	0, 10, 10 },
	{ "qpi0",	0, 11, 11 },
	{ "s0",		0, 12, 12 },
	{ "b0",		0, 13, 13 },
	{}
};

static const struct uncore_field rbox_right_ports[] = {
	{ "qpi2",	0, 10, 10 },
	{ "qpi3",	0, 11, 11 },
	{ "s1",		0, 12, 12 },
	{ "u_b1",	0, 13, 13 },
	{}
};

static const struct uncore_field * const rbox_ports[] = { rbox_left_ports, rbox_right_ports };

static const struct uncore_field rbox_port_names = { "", 0, 10, 13 };

/* Sub-registers of one port; a match set has three. */
enum {
	RBOX_REG_IPERF0,
	RBOX_REG_IPERF1,
	RBOX_REG_QLX,
	RBOX_REG_XBR1,
	RBOX_REG_XBR2 = RBOX_REG_XBR1 + 3,
	RBOX_REGS_PER_PORT = RBOX_REG_XBR2 + 3,
};

static unsigned int rbox_subreg_msr(const struct uncore_box *box, unsigned int reg)
{
	unsigned int base = box->type->base[box->instance];
	unsigned int first_port = box->instance * R_NUM_PORTS;
	unsigned int port = reg / RBOX_REGS_PER_PORT;

	reg %= RBOX_REGS_PER_PORT;
	switch (reg) {
	case RBOX_REG_IPERF0:
		return R_MSR_PORT_IPERF_CFG0(first_port + port);
	case RBOX_REG_IPERF1:
		return R_MSR_PORT_IPERF_CFG1(first_port + port);
	case RBOX_REG_QLX:
		return base + R_MSR_PORT_QLX_CFG(port);
	}
	if (reg < RBOX_REG_XBR2)
		return base + R_MSR_PORT_XBR_SET1_MM_CFG(port) + reg - RBOX_REG_XBR1;
	return base + R_MSR_PORT_XBR_SET2_MM_CFG(port) + reg - RBOX_REG_XBR2;
}

#define RBOX_REG(port, r)	((port) * RBOX_REGS_PER_PORT + RBOX_REG_##r)
#define RBOX_SLOT(port, r)	{ .reg = RBOX_REG(port, r), .num_regs = 1 }
#define RBOX_SLOT_QLX1(port)	\
	{ .reg = RBOX_REG(port, QLX), .num_regs = 1, .shift = R_QLX_BITS }
#define RBOX_SLOT_XBR(port, r)	{ .reg = RBOX_REG(port, r), .num_regs = 3 }

/* In the order of ev_sel. */
static const struct uncore_slot_desc rbox_slots[] = {
	RBOX_SLOT(0, IPERF0), RBOX_SLOT(0, IPERF1), RBOX_SLOT(0, QLX), RBOX_SLOT_QLX1(0),
	RBOX_SLOT_XBR(0, XBR1), RBOX_SLOT_XBR(0, XBR2),
	RBOX_SLOT(1, IPERF0), RBOX_SLOT(1, IPERF1), RBOX_SLOT(1, QLX), RBOX_SLOT_QLX1(1),
	RBOX_SLOT_XBR(1, XBR1), RBOX_SLOT_XBR(1, XBR2),
	RBOX_SLOT(2, IPERF0), RBOX_SLOT(2, IPERF1), RBOX_SLOT(2, QLX), RBOX_SLOT_QLX1(2),
	RBOX_SLOT_XBR(2, XBR1), RBOX_SLOT_XBR(2, XBR2),
	RBOX_SLOT(3, IPERF0), RBOX_SLOT(3, IPERF1), RBOX_SLOT(3, QLX), RBOX_SLOT_QLX1(3),
	RBOX_SLOT_XBR(3, XBR1), RBOX_SLOT_XBR(3, XBR2),
};

static u64 rbox_get(const struct perf_event *event, unsigned int field)
{
	return uncore_field_get(&rbox_fields[field], &event->attr);
}

static int rbox_decode_iperf(const struct perf_event *event, const struct uncore_event_desc *desc,
			     struct uncore_req *req)
{
	unsigned int mc = rbox_get(event, RBOX_EOT_MC);

	if (desc->filters & BIT(RBOX_NEW_PC) && !rbox_get(event, RBOX_NEW_PC))
		return uncore_refuse(event, -EINVAL, "%s needs a class in new_pc", desc->name);
	if (desc->filters & BIT(RBOX_ARB_SEL) && !rbox_get(event, RBOX_ARB_SEL))
		return uncore_refuse(event, -EINVAL, "%s needs a class in arb_sel", desc->name);
	if (desc->filters & BIT(RBOX_EOT_MC) && (mc < 1 || mc > 8))
		return uncore_refuse(event, -EINVAL, "no eot_mc %u", mc);

	req->first = R_EV_SEL_IPERF0;
	req->val[0] = desc->ctl |
		      FIELD_PREP(R_IPERF_NEW_PC, rbox_get(event, RBOX_NEW_PC)) |
		      FIELD_PREP(R_IPERF_NEW_PVN, rbox_get(event, RBOX_NEW_PVN)) |
		      FIELD_PREP(R_IPERF_ARB_SEL, rbox_get(event, RBOX_ARB_SEL)) |
		      FIELD_PREP(R_IPERF_MC, mc);
	return 0;
}

static int rbox_decode_qlx(const struct perf_event *event, const struct uncore_event_desc *desc,
			   struct uncore_req *req)
{
	unsigned int cls = rbox_get(event, RBOX_QLX_CLS);

	if (cls > 5 && desc->ctl != RBOX_QLX_TARGET_AVAILABLE)
		return uncore_refuse(event, -EINVAL, "%s has no qlx_cls %u", desc->name, cls);

	req->first = R_EV_SEL_QLX0;
	req->val[0] = FIELD_PREP(R_QLX_TYPE, desc->ctl) |
		      FIELD_PREP(R_QLX_CLS, cls) |
		      FIELD_PREP(R_QLX_SUB, rbox_get(event, RBOX_QLX_SUB));
	return 0;
}

static int rbox_decode_xbr(const struct perf_event *event, struct uncore_req *req)
{
	u64 match = event->attr.config1, mask = event->attr.config2;
	unsigned int flt_cnt = rbox_get(event, RBOX_FLT_CNT);
	bool any_flit = rbox_get(event, RBOX_IG_FLT_CNT);

	if (match & ~mask)
		return uncore_refuse(event, -EINVAL, "match has bits that mask leaves out");
	if (any_flit && flt_cnt)
		return uncore_refuse(event, -EINVAL, "flt_cnt and ig_flt_cnt");
	if (!any_flit && !flt_cnt)
		flt_cnt = 1;

	req->first = R_EV_SEL_XBAR_MM1;
	req->val[0] = R_XBR_MM_TRIG_EN |
		      FIELD_PREP(R_XBR_IG_FLT_CNT, any_flit) |
		      FIELD_PREP(R_XBR_MATCH_FLT_CNT, flt_cnt) |
		      FIELD_PREP(R_XBR_MATCH_71_64, rbox_get(event, RBOX_MATCH_71_64)) |
		      FIELD_PREP(R_XBR_MASK_71_64, rbox_get(event, RBOX_MASK_71_64));
	req->val[R_MSR_PORT_XBR_MATCH] = match & R_XBR_FIELDS;
	req->val[R_MSR_PORT_XBR_MASK] = mask & R_XBR_FIELDS;
	return 0;
}

static int rbox_decode(const struct perf_event *event, struct uncore_event *ue)
{
	unsigned int code = rbox_get(event, RBOX_EVENT);
	const struct uncore_event_desc *desc = uncore_find_event(rbox_events, code);
	unsigned int names = uncore_field_get(&rbox_port_names, &event->attr);
	unsigned int port = rbox_get(event, RBOX_PORT);
	struct uncore_req *req = &ue->claim.req[0];
	int err;

	if (!desc)
		return uncore_refuse(event, -EINVAL, "no event %#x", code);
	if (names) {
		if (port || !is_power_of_2(names))
			return uncore_refuse(event, -EINVAL, "more than one port");
		port = __ffs(names);
	}
	err = uncore_check_filters(event, desc, RBOX_NUM_COMMON);
	if (err)
		return err;
	if (code >= RBOX_EV_XBAR_MM)
		err = rbox_decode_xbr(event, req);
	else if (code >= RBOX_EV_QLX)
		err = rbox_decode_qlx(event, desc, req);
	else
		err = rbox_decode_iperf(event, desc, req);
	req->first += R_EV_SEL_PER_PORT * port;
	req->num = 2;
	ue->claim.num_reqs = 1;
	return err;
}

static u64 rbox_choose(const struct uncore_event *ue)
{
	return FIELD_PREP(R_CTL_EV_SEL, ue->claim.req[0].first + ue->claim.req[0].chosen);
}

static const u16 rbox_base[] = { R_L_MSR_PMON_BASE, R_R_MSR_PMON_BASE };

const struct uncore_box_type rbox_type = {
	.name			= "rbox",
	.first			= UNCORE_RBOX,
	.num_boxes		= ARRAY_SIZE(rbox_base),
	.num_counters		= R_NUM_COUNTERS,
	.base			= rbox_base,
	.box_ctl		= R_MSR_PMON_GLOBAL_CTL,
	.evt_sel		= R_MSR_PMON_CTL(0),
	.ctr			= R_MSR_PMON_CTR(0),
	.enable			= R_CTL_EN,
	.pmi_en			= R_CTL_PMI_EN,
	.fields			= rbox_fields,
	.instance_fields	= rbox_ports,
	.events			= rbox_events,
	.decode			= rbox_decode,
	.slots			= rbox_slots,
	.num_slots		= ARRAY_SIZE(rbox_slots),
	.num_subregs		= R_NUM_PORTS * RBOX_REGS_PER_PORT,
	.subreg_msr		= rbox_subreg_msr,
	.choose			= rbox_choose,
};
