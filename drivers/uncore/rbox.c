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
 *	flt_cnt		flit of a packet to count; by default the first, so that
 *			packets are counted
 *	ig_flt_cnt	count every flit
 *	match_...	wanted message class (mc), opcode (opc), virtual network (vnw),
 *			destination and remote node (dnid, rnid), response data state
 *			(rds), bits 71:64 of the flit (71_64)
 *	mask_...	for each: the bits that have to match
 *
 * A port can count two different events of a kind at a time: two of IPERF, two of
 * QLX, two matches. Uncore Programming Guide, section 2.6.
 */
#include <linux/bitfield.h>

#include "uncore.h"
#include "xeon7500/rbox.h"

/* What a match compares: a field of MATCH and one of MASK */
enum {
	RBOX_VNW,
	RBOX_OPC,
	RBOX_MC,
	RBOX_DNID,
	RBOX_RNID,
	RBOX_RDS,
	RBOX_71_64,
	RBOX_NUM_PARTS,
};

enum {
	RBOX_EVENT,
	RBOX_PORT,
	RBOX_NEW_PC,
	RBOX_NEW_PVN,
	RBOX_ARB_SEL,
	RBOX_EOT_MC,
	RBOX_QLX_CLS,
	RBOX_QLX_SUB,
	RBOX_FLT_CNT,
	RBOX_IG_FLT_CNT,
	RBOX_MATCH,
	RBOX_MASK = RBOX_MATCH + RBOX_NUM_PARTS,
	RBOX_NUM_FIELDS = RBOX_MASK + RBOX_NUM_PARTS,
};

/* Fields name the slots of port 0; rbox_finish() goes to those of the port in question. */
#define RBOX_IPERF(bits)	UNCORE_SLOT(R_EV_SEL_IPERF0, 0, bits)
#define RBOX_QLX(bits)		UNCORE_SLOT(R_EV_SEL_QLX0, 0, bits)
#define RBOX_XBR(reg, bits)	UNCORE_SLOT(R_EV_SEL_XBAR_MM1, reg, bits)

#define RBOX_MATCH_ROW(part, lo, hi, name)					\
	[RBOX_MATCH + RBOX_##part] = { name, 1, lo, hi,				\
		RBOX_XBR(R_MSR_PORT_XBR_MATCH, R_XBR_##part), .within = RBOX_MASK + RBOX_##part }
#define RBOX_MASK_ROW(part, lo, hi, name)					\
	[RBOX_MASK + RBOX_##part] = { name, 2, lo, hi,				\
		RBOX_XBR(R_MSR_PORT_XBR_MASK, R_XBR_##part) }

/* config1 and config2 are MATCH and MASK, and above them what MM_CFG holds. */
static const struct uncore_field rbox_fields[] = {
	[RBOX_EVENT]		= { "event",		0, 0, 5 },
	[RBOX_PORT]		= { "port",		0, 8, 9 },	/* and rbox_port_names */
	[RBOX_NEW_PC]		= { "new_pc",		0, 16, 21, RBOX_IPERF(R_IPERF_NEW_PC),
				    .valid = ~BIT_ULL(0) },
	[RBOX_NEW_PVN]		= { "new_pvn",		0, 22, 23, RBOX_IPERF(R_IPERF_NEW_PVN) },
	[RBOX_ARB_SEL]		= { "arb_sel",		0, 24, 30, RBOX_IPERF(R_IPERF_ARB_SEL),
				    .valid = ~BIT_ULL(0) },
	[RBOX_EOT_MC]		= { "eot_mc",		0, 32, 35, RBOX_IPERF(R_IPERF_MC),
				    .valid = GENMASK(8, 1) },
	[RBOX_QLX_CLS]		= { "qlx_cls",		0, 36, 38, RBOX_QLX(R_QLX_CLS) },
	[RBOX_QLX_SUB]		= { "qlx_sub",		0, 39, 39, RBOX_QLX(R_QLX_SUB) },
	[RBOX_FLT_CNT]		= { "flt_cnt",		0, 40, 43, RBOX_XBR(0, R_XBR_MATCH_FLT_CNT),
				    .if_field = RBOX_IG_FLT_CNT, .if_values = BIT(0) },
	[RBOX_IG_FLT_CNT]	= { "ig_flt_cnt",	0, 44, 44, RBOX_XBR(0, R_XBR_IG_FLT_CNT) },
	RBOX_MATCH_ROW(VNW, 3, 4, "match_vnw"),
	RBOX_MATCH_ROW(OPC, 5, 8, "match_opc"),
	RBOX_MATCH_ROW(MC, 9, 12, "match_mc"),
	RBOX_MATCH_ROW(DNID, 13, 17, "match_dnid"),
	RBOX_MATCH_ROW(RNID, 31, 35, "match_rnid"),
	RBOX_MATCH_ROW(RDS, 48, 51, "match_rds"),
	RBOX_MASK_ROW(VNW, 3, 4, "mask_vnw"),
	RBOX_MASK_ROW(OPC, 5, 8, "mask_opc"),
	RBOX_MASK_ROW(MC, 9, 12, "mask_mc"),
	RBOX_MASK_ROW(DNID, 13, 17, "mask_dnid"),
	RBOX_MASK_ROW(RNID, 31, 35, "mask_rnid"),
	RBOX_MASK_ROW(RDS, 48, 51, "mask_rds"),
	[RBOX_MATCH + RBOX_71_64] = { "match_71_64",	1, 56, 63, RBOX_XBR(0, R_XBR_MATCH_71_64),
				      .within = RBOX_MASK + RBOX_71_64 },
	[RBOX_MASK + RBOX_71_64] = { "mask_71_64",	2, 56, 63, RBOX_XBR(0, R_XBR_MASK_71_64) },
	{}
};

#define RBOX_F_NEW	(BIT(RBOX_NEW_PC) | BIT(RBOX_NEW_PVN))
#define RBOX_F_ARB	BIT(RBOX_ARB_SEL)
#define RBOX_F_EOT	BIT(RBOX_EOT_MC)
#define RBOX_F_QLX	(BIT(RBOX_QLX_CLS) | BIT(RBOX_QLX_SUB))
#define RBOX_F_XBR	GENMASK(RBOX_NUM_FIELDS - 1, RBOX_FLT_CNT)

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

/* The fixed part of a sub-register */
#define RBOX_SET_IPERF(bits)	.slots = BIT(R_EV_SEL_IPERF0), .val = (bits)
#define RBOX_SET_QLX(type)	\
	.slots = BIT(R_EV_SEL_QLX0), .val = (type) << __bf_shf(R_QLX_TYPE), .filters = RBOX_F_QLX
#define RBOX_SET_XBR		.slots = BIT(R_EV_SEL_XBAR_MM1), .val = R_XBR_MM_TRIG_EN

#define RBOX_NEW(name, pc, pvn)	{ name, .terms = "new_pc=" #pc ",new_pvn=" #pvn }
#define RBOX_EOT(name, mc)	{ name, .terms = "eot_mc=" #mc }
#define RBOX_ARB(name, sel)	{ name, .terms = "arb_sel=" #sel }
#define RBOX_CLS(name, cls)	{ name, .terms = "qlx_cls=" #cls }
#define RBOX_CLS_VN(name, cls, sub) \
	{ name, .terms = "qlx_cls=" #cls ",qlx_sub=" #sub }

#define RBOX_EOT_CLASSES						\
	UNCORE_UMASKS(RBOX_EOT("hom_vn0", 1), RBOX_EOT("hom_vn1", 2),	\
		      RBOX_EOT("ndr", 3), RBOX_EOT("drs_vn0", 4),	\
		      RBOX_EOT("snp", 5), RBOX_EOT("ncb", 6),		\
		      RBOX_EOT("ncs", 7), RBOX_EOT("drs_vn1", 8))

/* Those of each network, after names of an event's own. */
#define RBOX_QLX_UMASKS(...)							\
	UNCORE_UMASKS(RBOX_CLS_VN("vn0.hom", 0, 0), RBOX_CLS_VN("vn0.snp", 1, 0),	\
		      RBOX_CLS_VN("vn0.ndr", 2, 0), RBOX_CLS_VN("vn0.ncs", 3, 0),	\
		      RBOX_CLS_VN("vn0.drs", 4, 0), RBOX_CLS_VN("vn0.ncb", 5, 0),	\
		      RBOX_CLS_VN("vn0.vsm", 6, 0), RBOX_CLS_VN("vn0.vlg", 7, 0),	\
		      RBOX_CLS_VN("vn1.hom", 0, 1), RBOX_CLS_VN("vn1.snp", 1, 1),	\
		      RBOX_CLS_VN("vn1.ndr", 2, 1), RBOX_CLS_VN("vn1.ncs", 3, 1),	\
		      RBOX_CLS_VN("vn1.drs", 4, 1), RBOX_CLS_VN("vn1.ncb", 5, 1),	\
		      RBOX_CLS_VN("vn1.vsm", 6, 1), RBOX_CLS_VN("vn1.vlg", 7, 1),	\
		      ##__VA_ARGS__)

/* Without a network it is VN0, as in LIKWID. */
#define RBOX_QLX_CLASSES						\
	RBOX_QLX_UMASKS(RBOX_CLS("hom", 0), RBOX_CLS("snp", 1),		\
			RBOX_CLS("ndr", 2), RBOX_CLS("ncs", 3),		\
			RBOX_CLS("drs", 4), RBOX_CLS("ncb", 5))

/* Tables 2-48, 2-49, 2-53 and 2-54 */
static const struct uncore_event_desc rbox_events[] = {
	/* IPERF */
	{ "flits_sent",		RBOX_EV_FLITS_SENT, RBOX_SET_IPERF(R_IPERF_FLT_SENT) },
	{ "null_idle",		RBOX_EV_NULL_IDLE, RBOX_SET_IPERF(R_IPERF_NULL_IDLE) },
	{ "retryq_ov",		RBOX_EV_RETRYQ_OV, RBOX_SET_IPERF(R_IPERF_RETRYQ_OV) },
	{ "retryq_ne",		RBOX_EV_RETRYQ_NE, RBOX_SET_IPERF(R_IPERF_RETRYQ_NE) },
	{ "outputq_ovfl",	RBOX_EV_OUTPUTQ_OVFL, RBOX_SET_IPERF(R_IPERF_OUTQ_OV) },
	{ "outputq_ne",		RBOX_EV_OUTPUTQ_NE, RBOX_SET_IPERF(R_IPERF_OUTQ_NE) },
	{ "flits_recv_spec",	RBOX_EV_FLITS_RECV_SPEC, RBOX_SET_IPERF(R_IPERF_RCVD_SPEC_FLT) },
	{ "flits_recv_err",	RBOX_EV_FLITS_RECV_ERR, RBOX_SET_IPERF(R_IPERF_RCVD_ERR_FLT) },
	{ "eot_inserts",	RBOX_EV_EOT_INSERTS, RBOX_EOT_CLASSES,
	  RBOX_SET_IPERF(R_IPERF_MC_ROLL_ALLOC), .filters = RBOX_F_EOT },
	/* one count for 128 allocations */
	{ "eot_occupancy",	RBOX_EV_EOT_OCCUPANCY, RBOX_EOT_CLASSES,
	  .filters = RBOX_F_EOT, .scale = "128" },
	{ "eot_ne_cycles",	RBOX_EV_EOT_NE_CYCLES, RBOX_SET_IPERF(R_IPERF_EOT_NE) },
	{ "alloc_to_arb",	RBOX_EV_ALLOC_TO_ARB,
	  UNCORE_UMASKS(RBOX_ARB("ncb", 0x01), RBOX_ARB("ncs", 0x02),
			RBOX_ARB("drs_vn01", 0x04), RBOX_ARB("ndr", 0x08),
			RBOX_ARB("snp", 0x10), RBOX_ARB("hom_vn1", 0x20),
			RBOX_ARB("hom_vn0", 0x40), RBOX_ARB("all", 0x7f)),
	  .filters = RBOX_F_ARB },
	{ "inque_read_win",	RBOX_EV_INQUE_READ_WIN, RBOX_SET_IPERF(R_IPERF_IQA_READ_OK) },
	{ "new_packets_recv",	RBOX_EV_NEW_PACKETS_RECV,
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
	{ "que_arb_bid",		RBOX_EV_QLX + 0x0, RBOX_QLX_CLASSES,
	  RBOX_SET_QLX(0x0) },
	{ "local_arb_bid",		RBOX_EV_QLX + 0x1, RBOX_SET_QLX(0x1) },
	{ "global_arb_bid",		RBOX_EV_QLX + 0x2, RBOX_SET_QLX(0x2) },
	{ "que_arb_bid_fail",		RBOX_EV_QLX + 0x3, RBOX_QLX_CLASSES,
	  RBOX_SET_QLX(0x3) },
	{ "local_arb_bid_fail",		RBOX_EV_QLX + 0x4, RBOX_SET_QLX(0x4) },
	{ "global_arb_bid_fail",	RBOX_EV_QLX + 0x5, RBOX_QLX_UMASKS(),
	  RBOX_SET_QLX(0x5) },
	{ "que_arb_home_order_kill",	RBOX_EV_QLX + 0x6, RBOX_SET_QLX(0x6) },
	{ "local_arb_home_order_kill",	RBOX_EV_QLX + 0x7, RBOX_SET_QLX(0x7) },
	{ "global_arb_home_order_kill",	RBOX_EV_QLX + 0x8, RBOX_SET_QLX(0x8) },
	{ "target_available",		RBOX_EV_QLX + 0x9, RBOX_QLX_UMASKS(),
	  RBOX_SET_QLX(0x9) },
	{ "starving",			RBOX_EV_QLX + 0xa, RBOX_SET_QLX(0xa) },

	/* Packets that cross from an input to an output port */
	{ "xbar_mm",	RBOX_EV_XBAR_MM, RBOX_SET_XBR, .filters = RBOX_F_XBR },
	{ "drs",	RBOX_EV_XBAR_MM,
	  UNCORE_UMASKS({ "anydatac", .terms = "mask_opc=0xc" },
			{ "datac_m", .terms = "mask_opc=0xf,match_rds=0x8,mask_rds=0xf" },
			{ "wbidata", .terms = "match_opc=0x4,mask_opc=0xf" },
			{ "wbsdata", .terms = "match_opc=0x5,mask_opc=0xf" },
			{ "wbedata", .terms = "match_opc=0x6,mask_opc=0xf" },
			{ "anyresp" },
			{ "anyresp9flits", .terms = "mask_opc=0x8" },
			{ "anyresp11flits", .terms = "match_opc=0x8,mask_opc=0x8" }),
	  .terms = "match_mc=0xe,mask_mc=0xf" },
	{ "ndr",	RBOX_EV_XBAR_MM,
	  UNCORE_UMASKS({ "anycmp", .terms = "match_opc=0x8,mask_opc=0x8" }),
	  .terms = "match_mc=0x2,mask_mc=0xf" },
	{ "ncb",	RBOX_EV_XBAR_MM,
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

static const u16 rbox_base[] = { R_L_MSR_PMON_BASE, R_R_MSR_PMON_BASE };

static unsigned int rbox_subreg_msr(unsigned int instance, unsigned int reg)
{
	unsigned int port = reg / RBOX_REGS_PER_PORT;
	unsigned int base = rbox_base[instance];

	reg %= RBOX_REGS_PER_PORT;
	switch (reg) {
	case RBOX_REG_IPERF0:
		return R_MSR_PORT_IPERF_CFG0(instance * R_NUM_PORTS + port);
	case RBOX_REG_IPERF1:
		return R_MSR_PORT_IPERF_CFG1(instance * R_NUM_PORTS + port);
	case RBOX_REG_QLX:
		return base + R_MSR_PORT_QLX_CFG(port);
	}
	if (reg < RBOX_REG_XBR2)
		return base + R_MSR_PORT_XBR_SET1_MM_CFG(port) + reg - RBOX_REG_XBR1;
	return base + R_MSR_PORT_XBR_SET2_MM_CFG(port) + reg - RBOX_REG_XBR2;
}

/* ev_sel is the number of the slot. */
#define RBOX_SLOT(port, sel, r, _regs, _alike, _shift)				\
	[R_EV_SEL_PER_PORT * port##U + R_EV_SEL_##sel] = {			\
		.reg = RBOX_REGS_PER_PORT * port##U + RBOX_REG_##r,		\
		.num_regs = (_regs), .alike = (_alike), .shift = (_shift),	\
		.ctl = (R_EV_SEL_PER_PORT * port##U + R_EV_SEL_##sel) << __bf_shf(R_CTL_EV_SEL), \
	}

static const struct uncore_slot_desc rbox_slots[] = {
	RBOX_SLOT(0, IPERF0, IPERF0, 1, 2, 0), RBOX_SLOT(0, IPERF1, IPERF1, 1, 0, 0),
	RBOX_SLOT(0, QLX0, QLX, 1, 2, 0), RBOX_SLOT(0, QLX1, QLX, 1, 0, R_QLX_BITS),
	RBOX_SLOT(0, XBAR_MM1, XBR1, 3, 2, 0), RBOX_SLOT(0, XBAR_MM2, XBR2, 3, 0, 0),
	RBOX_SLOT(1, IPERF0, IPERF0, 1, 2, 0), RBOX_SLOT(1, IPERF1, IPERF1, 1, 0, 0),
	RBOX_SLOT(1, QLX0, QLX, 1, 2, 0), RBOX_SLOT(1, QLX1, QLX, 1, 0, R_QLX_BITS),
	RBOX_SLOT(1, XBAR_MM1, XBR1, 3, 2, 0), RBOX_SLOT(1, XBAR_MM2, XBR2, 3, 0, 0),
	RBOX_SLOT(2, IPERF0, IPERF0, 1, 2, 0), RBOX_SLOT(2, IPERF1, IPERF1, 1, 0, 0),
	RBOX_SLOT(2, QLX0, QLX, 1, 2, 0), RBOX_SLOT(2, QLX1, QLX, 1, 0, R_QLX_BITS),
	RBOX_SLOT(2, XBAR_MM1, XBR1, 3, 2, 0), RBOX_SLOT(2, XBAR_MM2, XBR2, 3, 0, 0),
	RBOX_SLOT(3, IPERF0, IPERF0, 1, 2, 0), RBOX_SLOT(3, IPERF1, IPERF1, 1, 0, 0),
	RBOX_SLOT(3, QLX0, QLX, 1, 2, 0), RBOX_SLOT(3, QLX1, QLX, 1, 0, R_QLX_BITS),
	RBOX_SLOT(3, XBAR_MM1, XBR1, 3, 2, 0), RBOX_SLOT(3, XBAR_MM2, XBR2, 3, 0, 0),
};

static const struct uncore_subregs rbox_subregs = {
	.slots		= rbox_slots,
	.num_slots	= ARRAY_SIZE(rbox_slots),
	.num_regs	= R_NUM_PORTS * RBOX_REGS_PER_PORT,
	.msr		= rbox_subreg_msr,
};

static u64 rbox_get(const struct perf_event *event, unsigned int field)
{
	return uncore_field_get(&rbox_fields[field], &event->attr);
}

static int rbox_finish(const struct perf_event *event, const struct uncore_event_desc *desc,
		       struct uncore_config *cfg)
{
	unsigned int names = uncore_field_get(&rbox_port_names, &event->attr);
	unsigned int port = rbox_get(event, RBOX_PORT);
	struct uncore_req *req = &cfg->claim.req[0];

	if (names) {
		if (port || !is_power_of_2(names))
			return uncore_refuse(event, -EINVAL, "more than one port");
		port = __ffs(names);
	}

	/* Unless another flit is asked for, it is the first, so that packets are counted. */
	if (desc->code == RBOX_EV_XBAR_MM && !rbox_get(event, RBOX_FLT_CNT) &&
	    !rbox_get(event, RBOX_IG_FLT_CNT))
		req->val[0] |= FIELD_PREP(R_XBR_MATCH_FLT_CNT, 1);
	req->first += R_EV_SEL_PER_PORT * port;
	return 0;
}

static const struct uncore_counter_row rbox_counters[] = {
	UNCORE_COUNTERS_8(R_MSR_PMON_CTL, R_MSR_PMON_CTR, R_CTL_EN, R_CTL_PMI_EN, 0)
};

const struct uncore_box_type rbox_type = {
	.name			= "rbox",
	.first			= UNCORE_RBOX,
	.num_boxes		= ARRAY_SIZE(rbox_base),
	.base			= rbox_base,
	.box_ctl		= R_MSR_PMON_GLOBAL_CTL,
	.counters		= rbox_counters,
	.num_counters		= ARRAY_SIZE(rbox_counters),
	.fields			= rbox_fields,
	.instance_fields	= rbox_ports,
	.common			= BIT(RBOX_EVENT) | BIT(RBOX_PORT),
	.events			= rbox_events,
	.finish			= rbox_finish,
	.subregs		= &rbox_subregs,
};
