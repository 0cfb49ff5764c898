// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters: packets that must and must not pass each field of each match facility, and
 * for fields that choose between event sources, each value against all others. Every
 * count is exact.
 *
 * The test says itself which packet has to count; the silicon is asked only what went
 * by while the counter was on.
 *
 * VM: --sockets 2 --cores 2
 * TEST: 6.1 debug
 */
#include "silicon.h"

static int cpu, other;	/* the package under test, and one whose packets are not its own */

static void start(void)
{
	silicon_start();
	cpu = package_cpu(1);
	other = package_cpu(0);
	ktap_require(cpu >= 0 && other >= 0, "not two packages");
	msr_write(cpu, SYN_TRAFFIC_RESET, 1);
	msr_write(cpu, SYN_TRAFFIC_MIX, 0);
}

/* ---- packets ---- */

struct packet {
	unsigned int box, inst;
	u64 class, opcode, vn, rds, hnid, rnid, dnid, line, flits;
	bool out;
};

enum field { CLASS, OPCODE, VN, RDS, HNID, RNID, DNID, LINE };

static u64 *field_of(struct packet *p, enum field f)
{
	switch (f) {
	case CLASS: return &p->class;
	case OPCODE: return &p->opcode;
	case VN: return &p->vn;
	case RDS: return &p->rds;
	case HNID: return &p->hnid;
	case RNID: return &p->rnid;
	case DNID: return &p->dnid;
	default: return &p->line;
	}
}

static void send_on(int on, const struct packet *p, unsigned int num)
{
	msr_write(on, SYN_PKT_HEADER,
		  SYN_PKT_BOX(p->box) | SYN_PKT_INSTANCE(p->inst) | SYN_PKT_CLASS(p->class) |
		  SYN_PKT_OPCODE(p->opcode) | SYN_PKT_VN(p->vn) | SYN_PKT_RDS(p->rds) |
		  SYN_PKT_HNID(p->hnid) | SYN_PKT_RNID(p->rnid) | SYN_PKT_DNID(p->dnid) |
		  SYN_PKT_FLITS(p->flits) | (p->out ? SYN_PKT_OUT : 0));
	msr_write(on, SYN_PKT_ADDR, p->line << 6);
	msr_write(on, SYN_PKT_SEND, num);
}

static u64 random_bits(void)
{
	static u64 x = 0x2545f4914f6cdd1d;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x * 0x9e3779b97f4a7c15;
}

/* A packet of which nothing is said but where it goes. */
static struct packet some_packet(unsigned int box, unsigned int inst, bool out)
{
	return (struct packet){
		.box = box,
		.inst = inst,
		.out = out,
		.class = random_bits() & 0xf,
		.opcode = random_bits() & 0xf,
		.vn = random_bits() & 3,
		.rds = random_bits() & 0xf,
		.hnid = random_bits() & 0x1f,
		.rnid = random_bits() & 0x1f,
		.dnid = random_bits() & 0x1f,
		.line = random_bits() & ((1ULL << 38) - 1),
		.flits = 1 + random_bits() % 11,
	};
}

/* ---- an event that counts meanwhile ---- */

static struct {
	char pmu[32], event[160];
	int fd;
	u64 count;
	unsigned int passed, stopped;
} run;

static void begin(const char *pmu, const char *event)
{
	struct perf_event_attr attr;

	event_close_all();
	silicon_clear();
	memset(&run, 0, sizeof(run));
	snprintf(run.pmu, sizeof(run.pmu), "%s", pmu);
	snprintf(run.event, sizeof(run.event), "%s", event);
	attr = event_attr(pmu, event);
	run.fd = event_open_attr(&attr, cpu, -1);
	perf_enable(run.fd);
}

/* Send num packets; each of them has to count so much. */
static bool expect(const struct packet *p, unsigned int each)
{
	unsigned int num = 1 + random_bits() % 7;
	u64 count;

	send_on(cpu, p, num);
	count = perf_count(run.fd).value;
	run.count += num * each;
	if (each)
		run.passed++;
	else
		run.stopped++;
	return ktap_check(count == run.count,
			  "%s/%s/: %llu after %u packets that count %u, wanted %llu: " "box %u.%u class %#llx opcode %#llx vn %llu rds %#llx hnid %#llx rnid %#llx " "dnid %#llx line %#llx flits %llu%s",
			  run.pmu, run.event, count, num, each, run.count, p->box, p->inst,
			  p->class, p->opcode, p->vn, p->rds, p->hnid, p->rnid, p->dnid, p->line,
			  p->flits, p->out ? " out" : "");
}

/* The counter stops; what it has is also what went by. */
static void end(bool both)
{
	u64 truth, count;

	perf_disable(run.fd);
	count = perf_count(run.fd).value;
	truth = box_truth(cpu, SYN_EVENTS, run.pmu);
	ktap_check(count == run.count && count == truth, "%s/%s/: %llu, wanted %llu, truth %llu",
		   run.pmu, run.event, count, run.count, truth);
	ktap_check(run.passed && (run.stopped || !both), "%s/%s/: %u passed, %u did not", run.pmu,
		   run.event, run.passed, run.stopped);
}

/* ---- fields that are compared under a mask ---- */

struct facility {
	const char *pmu;
	unsigned int box, inst;		/* of its packets */
	const char *event;
	bool out;
};

struct masked {
	enum field field;
	unsigned int width;
	const char *match, *mask;
};

/* Packets that differ from the wanted value in one bit, in all, and in none. */
static void check_masked_value(const struct facility *f, const struct masked *m, u64 match,
			       u64 mask)
{
	u64 all = (1ULL << m->width) - 1;
	char event[160];
	unsigned int i;

	match &= mask;
	snprintf(event, sizeof(event), "%s,%s=%#llx,%s=%#llx", f->event, m->match, match, m->mask,
		 mask);
	begin(f->pmu, event);
	for (i = 0; i < m->width + 4; i++) {
		struct packet p = some_packet(f->box, f->inst, f->out);
		u64 *val = field_of(&p, m->field);

		if (i < m->width)
			*val = match ^ 1ULL << i;
		else if (i == m->width)
			*val = match;
		else if (i == m->width + 1)
			*val = ~match & all;
		else if (i == m->width + 2)
			*val = (match & mask) | (random_bits() & all & ~mask);
		else
			*val = random_bits() & all;
		if (!expect(&p, !((*val ^ match) & mask)))
			return;
	}
	end(mask);
}

static void check_masked(const struct facility *f, const struct masked *m)
{
	u64 all = (1ULL << m->width) - 1;

	check_masked_value(f, m, 0, all);
	check_masked_value(f, m, all, all);
	check_masked_value(f, m, 0x5a5a5a5a5a5a5a5a & all, all);
	check_masked_value(f, m, 0, 0);
	check_masked_value(f, m, all, 1);
	check_masked_value(f, m, 0, 1ULL << (m->width - 1));
	check_masked_value(f, m, all, 1ULL << (m->width - 1));
	check_masked_value(f, m, random_bits() & all, random_bits() & all);
}

/* Packets of another package, box or direction do not count, whatever they hold. */
static void check_place(const struct facility *f, unsigned int instances)
{
	struct packet p;
	unsigned int i;

	begin(f->pmu, f->event);
	for (i = 0; i < instances; i++) {
		p = some_packet(f->box, i, f->out);
		expect(&p, i == f->inst);
	}
	for (i = SYN_BOX_S; i <= SYN_BOX_R; i++) {
		p = some_packet(i, f->inst, f->out);
		expect(&p, i == f->box);
	}
	if (f->box == SYN_BOX_B) {
		p = some_packet(f->box, f->inst, !f->out);
		expect(&p, 0);
	}
	p = some_packet(f->box, f->inst, f->out);
	send_on(other, &p, 1000);
	ktap_check(perf_count(run.fd).value == run.count, "%s/%s/ counts another package", f->pmu,
		   f->event);
	end(true);
}

/* ---- B-Box ---- */

#define B_ADDR		{ LINE, 44, "match_addr", "mask_addr" }
#define B_MSG_IN	{ CLASS, 4, "match_msg_in", "mask_msg_in" }
#define B_MSG_OUT	{ CLASS, 4, "match_msg_out", "mask_msg_out" }
#define B_OPC_IN	{ OPCODE, 4, "match_opc_in", "mask_opc_in" }
#define B_OPC_OUT	{ OPCODE, 4, "match_opc_out", "mask_opc_out" }

static const struct b_event {
	const char *name;
	bool out;
	struct masked part[3];
} b_events[] = {
	{ "msg_addr_in_match", false, { B_MSG_IN, B_ADDR } },
	{ "opcode_addr_in_match", false, { B_OPC_IN, B_ADDR } },
	{ "msg_opcode_addr_in_match", false, { B_MSG_IN, B_OPC_IN, B_ADDR } },
	{ "msg_in_match", false, { B_MSG_IN } },
	{ "msg_out_match", true, { B_MSG_OUT } },
	{ "opcode_in_match", false, { B_OPC_IN } },
	{ "opcode_out_match", true, { B_OPC_OUT } },
	{ "msg_opcode_in_match", false, { B_MSG_IN, B_OPC_IN } },
	{ "msg_opcode_out_match", true, { B_MSG_OUT, B_OPC_OUT } },
	{ "addr_in_match", false, { B_ADDR } },
};

/* All parts at once: only what is right in every one counts. */
static void check_b_together(const struct facility *f, const struct b_event *e)
{
	struct packet want = some_packet(f->box, f->inst, f->out), p;
	char event[200];
	unsigned int i, n;

	n = snprintf(event, sizeof(event), "%s", e->name);
	for (i = 0; i < 3 && e->part[i].width; i++)
		n += snprintf(event + n, sizeof(event) - n, ",%s=%#llx,%s=%#llx", e->part[i].match,
			      *field_of(&want, e->part[i].field), e->part[i].mask,
			      (1ULL << e->part[i].width) - 1);
	begin(f->pmu, event);
	expect(&want, 1);
	for (i = 0; i < 3 && e->part[i].width; i++) {
		p = want;
		*field_of(&p, e->part[i].field) ^= 1ULL << random_bits() % e->part[i].width;
		expect(&p, 0);
	}
	expect(&want, 1);
	end(true);
}

static void check_b(const char *pmu, unsigned int inst)
{
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(b_events); i++) {
		const struct b_event *e = &b_events[i];
		struct facility f = { pmu, SYN_BOX_B, inst, e->name, e->out };

		for (j = 0; j < 3 && e->part[j].width; j++)
			check_masked(&f, &e->part[j]);
		check_b_together(&f, e);
		check_place(&f, 2);
	}
}

static void b_boxes(void)
{
	start();
	check_b("xeon7500_bbox_0", 0);
	check_b("xeon7500_bbox_1", 1);
}

/* ---- S-Box ---- */

/* Address and home node have a mask; the node stands in MATCH above the address. */
static void check_s_masked(const char *pmu, unsigned int inst, u64 line, u64 mask,
			   unsigned int hnid, bool mask_hnid)
{
	u64 match = SYN_S_MATCH_ADDR(line << 6) | SYN_S_MATCH_HNID(hnid);
	char event[160];
	unsigned int i;

	snprintf(event, sizeof(event), "to_r_prog_ev,match=%#llx,mask_addr=%#llx%s", match, mask,
		 mask_hnid ? ",mask_hnid" : "");
	begin(pmu, event);
	for (i = 0; i < 46; i++) {
		struct packet p = some_packet(SYN_BOX_S, inst, true);

		p.line = i < 38 ? line ^ 1ULL << i : line;
		p.hnid = i >= 38 && i < 43 ? hnid ^ 1U << (i - 38) : hnid;
		if (!expect(&p, !((p.line ^ line) & mask) && (!mask_hnid || p.hnid == hnid)))
			return;
	}
	end(mask || mask_hnid);
}

/* These have none; a field of zero lets everything pass. */
static void check_s_unmasked(const char *pmu, unsigned int inst)
{
	unsigned int i, v;
	char event[80];

	for (i = 0; i < 48; i++) {
		u64 match = i < 16 ? SYN_S_MATCH_CLASS(i) :
				 i < 32 ? SYN_S_MATCH_OPCODE(i - 16) : SYN_S_MATCH_RESP(i - 32);

		snprintf(event, sizeof(event), "to_r_prog_ev,match=%#llx", match);
		begin(pmu, event);
		for (v = 0; v < 16; v++) {
			struct packet p = some_packet(SYN_BOX_S, inst, true);

			if (i < 16)
				p.class = v;
			else if (i < 32)
				p.opcode = v;
			else
				p.rds = v;
			if (!expect(&p, i < 16 ? v == i : i < 32 ? v == i - 16 :
					i == 32 ? 1 : !!(v & (i - 32))))
				return;
		}
		end(i != 32);
	}
}

static void check_s(const char *pmu, unsigned int inst)
{
	const u64 all = (1ULL << 38) - 1;
	struct facility f = { pmu, SYN_BOX_S, inst, "to_r_prog_ev", true };

	check_s_masked(pmu, inst, 0, all, 0, true);
	check_s_masked(pmu, inst, all, all, 0x1f, true);
	check_s_masked(pmu, inst, 0x123456789a & all, all, 5, false);
	check_s_masked(pmu, inst, 0x123456789a & all, 0, 0x15, true);
	check_s_masked(pmu, inst, 0x123456789a & all, 0, 3, false);
	check_s_masked(pmu, inst, 1, 1, 3, false);
	check_s_masked(pmu, inst, 0, 1ULL << 37, 3, false);
	check_s_masked(pmu, inst, random_bits() & all, random_bits() & all, 9, true);
	check_s_unmasked(pmu, inst);
	check_place(&f, 2);
}

static void s_boxes(void)
{
	start();
	check_s("xeon7500_sbox_0", 0);
	check_s("xeon7500_sbox_1", 1);
}

/* ---- M-Box: DRAM commands ---- */

/* The commands there are; for all others the driver has no name either. */
static const unsigned int dram_cmds[] = {
	0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x09, 0x0a, 0x0b, 0x0c, 0x10, 0x11, 0x12, 0x14,
	0x15, 0x17, 0x1c, 0x1d, 0x1e,
};

static void check_m_commands(const char *pmu, unsigned int inst)
{
	unsigned int i, j;
	char event[80];

	for (i = 0; i <= ARRAY_SIZE(dram_cmds); i++) {
		unsigned int cmd = i < ARRAY_SIZE(dram_cmds) ? dram_cmds[i] : 0;

		snprintf(event, sizeof(event), "dram_cmd.all,pld_cmd=%#x", cmd);
		begin(pmu, event);
		for (j = 0; j < ARRAY_SIZE(dram_cmds); j++) {
			struct packet p = some_packet(SYN_BOX_M, inst, false);

			p.opcode = dram_cmds[j];
			if (!expect(&p, !cmd || cmd == p.opcode))
				return;
		}
		end(cmd);
	}
}

static void check_m_modes(const char *pmu, unsigned int inst)
{
	unsigned int mode, i;
	char event[80];

	for (mode = 0; mode < 4; mode++) {
		snprintf(event, sizeof(event),
			 "dram_cmd.ras,pld_mode_qual,pld_sched_mode=%u", mode);
		begin(pmu, event);
		for (i = 0; i < 8; i++) {
			struct packet p = some_packet(SYN_BOX_M, inst, false);

			p.opcode = i < 4 ? 2 : 3;
			p.vn = i & 3;
			expect(&p, p.opcode == 2 && p.vn == mode);
		}
		end(true);
	}
}

static void check_m(const char *pmu, unsigned int inst)
{
	struct facility f = { pmu, SYN_BOX_M, inst, "dram_cmd.all", false };
	struct masked addr = { LINE, 28, "match_addr", "mask_addr" };

	check_m_commands(pmu, inst);
	check_m_modes(pmu, inst);
	check_masked(&f, &addr);
	check_place(&f, 2);
}

static void m_boxes(void)
{
	start();
	check_m("xeon7500_mbox_0", 0);
	check_m("xeon7500_mbox_1", 1);
}

/* ---- R-Box: match sets ---- */

static const struct masked r_fields[] = {
	{ VN, 2, "match_vnw", "mask_vnw" },
	{ OPCODE, 4, "match_opc", "mask_opc" },
	{ CLASS, 4, "match_mc", "mask_mc" },
	{ DNID, 5, "match_dnid", "mask_dnid" },
	{ RNID, 5, "match_rnid", "mask_rnid" },
	{ RDS, 4, "match_rds", "mask_rds" },
};

/* Which flit is looked at; a packet has to have that many. */
static void check_r_flits(const char *pmu, unsigned int port, const char *xbar)
{
	unsigned int want, flits;
	struct packet p;
	char event[80];

	for (want = 1; want < 16; want++) {
		snprintf(event, sizeof(event), "%s,flt_cnt=%u", xbar, want);
		begin(pmu, event);
		for (flits = 1; flits < 16; flits++) {
			p = some_packet(SYN_BOX_R, port, false);
			p.flits = flits;
			if (!expect(&p, flits >= want))
				return;
		}
		end(want > 1);
	}
	snprintf(event, sizeof(event), "%s,ig_flt_cnt", xbar);
	begin(pmu, event);
	for (flits = 1; flits < 16; flits++) {
		p = some_packet(SYN_BOX_R, port, false);
		p.flits = flits;
		expect(&p, flits);
	}
	end(false);
}

/* Bits 71:64 of the silicon's packets are 0. */
static void check_r_data_bits(const char *pmu, unsigned int port, const char *xbar)
{
	unsigned int bit;
	struct packet p;
	char event[80];

	for (bit = 0; bit < 8; bit++) {
		snprintf(event, sizeof(event), "%s,match_71_64=%#x,mask_71_64=%#x", xbar, 1 << bit,
			 1 << bit);
		begin(pmu, event);
		p = some_packet(SYN_BOX_R, port, false);
		expect(&p, 0);
		perf_disable(run.fd);
		snprintf(event, sizeof(event), "%s,mask_71_64=%#x", xbar, 1 << bit);
		begin(pmu, event);
		expect(&p, 1);
		end(false);
	}
}

static void check_r(const char *pmu, unsigned int first_port)
{
	unsigned int port, i;
	char xbar[32];

	for (port = 0; port < 4; port++) {
		struct facility f = { pmu, SYN_BOX_R, first_port + port, xbar, false };

		snprintf(xbar, sizeof(xbar), "xbar_mm,port=%u", port);
		check_place(&f, 8);
		for (i = 0; i < ARRAY_SIZE(r_fields); i++)
			check_masked(&f, &r_fields[i]);
	}
	check_r_flits(pmu, first_port + 3, xbar);
	check_r_data_bits(pmu, first_port + 3, xbar);
}

static void r_boxes(void)
{
	start();
	check_r("xeon7500_rbox_0", 0);
	check_r("xeon7500_rbox_1", 4);
}

/*
 * The match events the guide names. By class and opcode: DRS 0-3 is DataC in four
 * states, 4-6 and 8 on write-backs; 8 and up have 11 flits.
 */
static bool is_named(const char *event, const struct packet *p)
{
	if (!strncmp(event, "drs.", 4) && p->class != 0xe)
		return false;
	if (!strncmp(event, "ndr.", 4) && p->class != 0x2)
		return false;
	if (!strncmp(event, "ncb.", 4) && p->class != 0xc)
		return false;
	event += 4;
	if (!strcmp(event, "anydatac"))
		return p->opcode <= 3;
	if (!strcmp(event, "datac_m"))
		return p->opcode == 0 && p->rds == 8;
	if (!strcmp(event, "wbidata"))
		return p->opcode == 4;
	if (!strcmp(event, "wbsdata"))
		return p->opcode == 5;
	if (!strcmp(event, "wbedata"))
		return p->opcode == 6;
	if (!strcmp(event, "anyresp"))
		return true;
	if (!strcmp(event, "anyresp9flits") || !strcmp(event, "anymsg9flits"))
		return p->opcode < 8;
	if (!strcmp(event, "anyresp11flits") || !strcmp(event, "anymsg11flits") ||
	    !strcmp(event, "anycmp"))
		return p->opcode >= 8;
	if (!strcmp(event, "anyint"))
		return p->opcode >= 8 && p->opcode <= 11;
	ktap_require(0, "what is %s?", event);
	return false;
}

static void r_named(void)
{
	static const char * const names[] = {
		"drs.anydatac", "drs.datac_m", "drs.wbidata", "drs.wbsdata", "drs.wbedata",
		"drs.anyresp", "drs.anyresp9flits", "drs.anyresp11flits", "ndr.anycmp",
		"ncb.anymsg9flits", "ncb.anymsg11flits", "ncb.anyint",
	};
	static const unsigned int classes[] = { 0x0, 0x1, 0x2, 0x3, 0x4, 0xc, 0xe };
	unsigned int i, j, opcode;
	char event[80];

	start();
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(event, sizeof(event), "%s,%s", names[i], i & 1 ? "port=3" : "port=1");
		begin("xeon7500_rbox_1", event);
		for (j = 0; j < ARRAY_SIZE(classes); j++) {
			for (opcode = 0; opcode < 16; opcode++) {
				struct packet p = some_packet(SYN_BOX_R, i & 1 ? 7 : 5, false);

				p.class = classes[j];
				p.opcode = opcode;
				p.rds = random_bits() & 1 ? 8 : 4;
				p.flits = 0;
				if (!expect(&p, is_named(names[i], &p)))
					return;
			}
		}
		if (!strcmp(names[i], "drs.datac_m")) {
			struct packet p = some_packet(SYN_BOX_R, 7, false);

			p.class = 0xe;
			p.opcode = 0;
			p.rds = 8;
			expect(&p, 1);
			p.rds = 4;
			expect(&p, 0);
		}
		end(true);
	}
}

/* ---- fields that choose a source ---- */

struct source {
	const char *pmu;
	unsigned int box, inst;
	char event[80];
	unsigned int code, bit;
};

static struct source sources[240];
static unsigned int num_sources;

static void __attribute__((format(printf, 6, 7)))
add_source(const char *pmu, unsigned int box, unsigned int inst, unsigned int code,
	   unsigned int bit, const char *fmt, ...)
{
	struct source *s = &sources[num_sources++];
	va_list args;

	ktap_require(num_sources <= ARRAY_SIZE(sources), "too many sources");
	*s = (struct source){ .pmu = pmu, .box = box, .inst = inst, .code = code, .bit = bit };
	va_start(args, fmt);
	vsnprintf(s->event, sizeof(s->event), fmt, args);
	va_end(args);
}

/*
 * Each source has a rate of its own and everything else in the box is silent, so a
 * count tells which source it came from.
 */
static void check_sources(void)
{
	unsigned int i;

	start();
	for (i = 0; i < num_sources; i++)
		traffic_silence(cpu, sources[i].box, sources[i].inst);
	for (i = 0; i < num_sources; i++)
		traffic_rate(cpu, SYN_SEL(sources[i].box, sources[i].inst, sources[i].code,
					  sources[i].bit), i + 1);
	for (i = 0; i < num_sources; i++) {
		const struct source *s = &sources[i];
		struct perf_event_attr attr = event_attr(s->pmu, s->event);
		uint16_t ctr[SILICON_MAX_COUNTERS];
		u64 from, to, want, count;
		int fd, c, num;

		event_close_all();
		silicon_clear();
		fd = event_open_attr(&attr, cpu, -1);
		perf_run_us(fd, 50);
		count = perf_count(fd).value;
		num = box_counters(s->pmu, ctr);
		for (c = 0; c < num && !silicon_truth(cpu, SYN_WINDOWS, ctr[c]); c++)
			;
		ktap_require(c < num, "%s/%s/ has not run", s->pmu, s->event);
		from = silicon_truth(cpu, SYN_OPENED, ctr[c]);
		to = silicon_truth(cpu, SYN_CLOSED, ctr[c]);
		want = traffic_count(from, to, i + 1);
		ktap_check(count == want && to - from > 1 << TRAFFIC_PERIOD_LOG2,
			   "%s/%s/: %llu in %llu cycles, wanted %llu", s->pmu, s->event, count,
			   to - from, want);
	}
	ktap_note("%u sources", num_sources);
	num_sources = 0;
	msr_write(cpu, SYN_TRAFFIC_RESET, 1);
}

static void m_sources(void)
{
	static const unsigned int frames[] = { 0, 1, 2, 3, 8, 12 };
	const char *pmu = "xeon7500_mbox_1";
	unsigned int i, dimm;

	num_sources = 0;
	for (i = 0; i < 4; i++) {
		add_source(pmu, SYN_BOX_M, 1, SYN_CODE_M(0x00), i, "event=0x00,dsp_fill_state=%u",
			   1 << i);
		add_source(pmu, SYN_BOX_M, 1, SYN_CODE_M_FLAG(0), i, "event=0x20,dsp_fill_state=%u",
			   1 << i);
		add_source(pmu, SYN_BOX_M, 1, SYN_CODE_M_FLAG(1), i, "event=0x21,iss_sched_mode=%u",
			   i);
		for (dimm = 0; dimm < 5; dimm++) {
			const char *field = dimm ? "thr_dimm" : "thr_all_dimms";

			add_source(pmu, SYN_BOX_M, 1, SYN_CODE_M(4), i | (dimm ? dimm + 1 : 0) << 2,
				   "event=0x04,thr_cnd=%u,%s=%u", i, field, dimm ? dimm : 1);
			add_source(pmu, SYN_BOX_M, 1, SYN_CODE_M(5), i | (dimm ? dimm + 1 : 0) << 2,
				   "event=0x05,thr_cnd=%u,%s=%u", i, field, dimm ? dimm : 1);
		}
	}
	for (i = 0; i < ARRAY_SIZE(frames); i++)
		add_source(pmu, SYN_BOX_M, 1, SYN_CODE_M(9), frames[i], "event=0x09,iss_frm_type=%u",
			   frames[i]);
	add_source(pmu, SYN_BOX_M, 1, SYN_CODE_M(0xb), 0, "retries.all");
	for (i = 0; i < 32; i += 5)
		add_source(pmu, SYN_BOX_M, 1, SYN_CODE_M(0xb), 0x40 | i, "retries.fvid,pld_fvid=%u",
			   i);
	for (i = 0; i < 8; i++) {
		if (i != 5 && i != 6)
			add_source(pmu, SYN_BOX_M, 1, SYN_CODE_M_FVC(i), SYN_ANY,
				   "event=%u,fvc_evnt=%u", 0xd + i % 4, i);
		add_source(pmu, SYN_BOX_M, 1, SYN_CODE_M_FVC(5), i,
			   "event=0x0e,fvc_evnt=5,fvc_bcmd=%u", i);
		if (i != 6)
			add_source(pmu, SYN_BOX_M, 1, SYN_CODE_M_FVC(6), i,
				   "event=0x0f,fvc_evnt=6,fvc_resp=%u", i);
		add_source(pmu, SYN_BOX_M, 1, SYN_CODE_M_BCMD(0), i, "event=0x26,map_cmd=%u", i);
		add_source(pmu, SYN_BOX_M, 1, SYN_CODE_M_BCMD(4 * i + 3), i,
			   "event=0x26,map_cmd=%u,map_fvid=%u", i, 4 * i + 3);
	}
	for (i = 0; i < 2; i++) {
		add_source(pmu, SYN_BOX_M, 1, SYN_CODE_M(0x16), i, "event=0x16,pgt_page_ev=%u", i);
		add_source(pmu, SYN_BOX_M, 1, SYN_CODE_M_FLAG(5), i, "event=0x25,pgt_page_state=%u",
			   i);
	}
	check_sources();
}

static void r_sources(void)
{
	const char *pmu = "xeon7500_rbox_1";
	unsigned int i, v, port = 2;

	num_sources = 0;
	for (i = 0; i < 6; i++) {
		for (v = 0; v < 3; v++)
			add_source(pmu, SYN_BOX_R, 4 + port, SYN_CODE_R_NEW(i, v), SYN_ANY,
				   "event=0x0d,port=%u,new_pc=%#x,new_pvn=%u", port, 1 << i, v);
	}
	for (i = 0; i < 7; i++)
		add_source(pmu, SYN_BOX_R, 4 + port, SYN_CODE_R_IPERF(9 + i), SYN_ANY,
			   "event=0x0b,port=%u,arb_sel=%#x", port, 1 << i);
	for (i = 1; i <= 8; i++)
		add_source(pmu, SYN_BOX_R, 4 + port, SYN_CODE_R_EOT(i), SYN_ANY,
			   "event=0x08,port=%u,eot_mc=%u", port, i);
	/* Where they all look at class and network, to tell what reaches the register. */
	msr_write(0, SYN_READING(RD_R_QLX_PLAIN), RD_R_QLX_PLAIN_YES);
	for (i = 0; i <= 0xa; i++) {
		for (v = 0; v < 16; v++)
			add_source(pmu, SYN_BOX_R, 4 + port, SYN_CODE_R_QLX(i | v << 4), SYN_ANY,
				   "event=%#x,port=%u,qlx_cls=%u,qlx_sub=%u", 0x20 + i, port,
				   v & 7, v >> 3);
	}
	check_sources();
	msr_write(0, SYN_READING(RD_R_QLX_PLAIN), 0);
}

/* ---- what the fields do not take ---- */

static void refused(void)
{
	static const struct {
		const char *pmu, *event;
	} bad[] = {
		/* on events that do not look at it */
		{ "xeon7500_sbox_0", "pkts_sent_snp,match=0x1" },
		{ "xeon7500_sbox_0", "pkts_sent_snp,mask_addr=0x1" },
		{ "xeon7500_sbox_0", "pkts_sent_snp,mask_hnid" },
		/* of two C-Boxes the result is undefined */
		{ "xeon7500_sbox_0", "event=0x0e,umask=0x3" },
		{ "xeon7500_bbox_0", "imt_inserts_rd,match_msg_in=0x1,mask_msg_in=0x1" },
		{ "xeon7500_bbox_0", "msg_in_match,mask_opc_in=0x1" },
		{ "xeon7500_bbox_0", "msg_in_match,mask_msg_out=0x1" },
		{ "xeon7500_bbox_0", "addr_in_match,mask_msg_in=0x1" },
		{ "xeon7500_mbox_0", "mbox_cycles,pld_cmd=0x2" },
		{ "xeon7500_mbox_0", "dram_cmd.ras,fvc_evnt=1" },
		{ "xeon7500_mbox_0", "bbox_cmds.reads,pld_fvid=1" },
		{ "xeon7500_rbox_0", "flits_sent,match_mc=0x1,mask_mc=0x1" },
		{ "xeon7500_rbox_0", "flits_sent,qlx_cls=1" },
		{ "xeon7500_rbox_0", "xbar_mm,new_pc=1" },
		/* wanted bits outside of the mask: nothing would pass, or not what was meant */
		{ "xeon7500_bbox_0", "msg_in_match,match_msg_in=0x3,mask_msg_in=0x1" },
		{ "xeon7500_mbox_0", "dram_cmd.ras,match_addr=0x3,mask_addr=0x1" },
		{ "xeon7500_rbox_0", "xbar_mm,match_mc=0x3,mask_mc=0x1" },
		/* fields without the one that they belong to */
		{ "xeon7500_mbox_0", "event=0x0a,pld_cmd=0x2,pld_sched_mode=1" },
		{ "xeon7500_mbox_0", "event=0x04,thr_all_dimms,thr_dimm=1" },
		{ "xeon7500_mbox_0", "event=0x0d,fvc_evnt=1,fvc_bcmd=1" },
		{ "xeon7500_mbox_0", "event=0x0d,fvc_evnt=5,fvc_resp=1" },
		{ "xeon7500_mbox_0", "event=0x0b,pld_fvid=1" },
		/* nothing chosen, and an event that no table has */
		{ "xeon7500_rbox_0", "event=0x0b" },
		{ "xeon7500_rbox_0", "event=0x2b,qlx_cls=1" },
		{ "xeon7500_rbox_0", "event=0x30,flt_cnt=2,ig_flt_cnt" },
	};
	unsigned int i;
	int fd;

	start();
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		struct perf_event_attr attr = event_attr(bad[i].pmu, bad[i].event);

		fd = perf_open(&attr, cpu, -1);
		ktap_check(fd == -EINVAL, "%s/%s/: %s", bad[i].pmu, bad[i].event,
			   fd < 0 ? strerror(-fd) : "accepted");
		if (fd >= 0)
			close(fd);
	}
	ktap_check(!silicon_accesses(), "%u register accesses", silicon_accesses());
}

/* Each value of a field is in a table of the guide, or is refused. */
static void values(void)
{
	static const struct {
		const char *pmu, *event;
		unsigned int num;
		u64 valid;
	} fields[] = {
		{ "xeon7500_mbox_0", "event=0x0a,pld_cmd=", 32, 0x70b71eff },	/* dram_cmds, and all */
		{ "xeon7500_mbox_0", "event=0x0a,pld_cmd=0x2,pld_mode_qual,pld_sched_mode=", 8, 0xf },
		{ "xeon7500_mbox_0", "event=0x00,dsp_fill_state=", 16, 0x116 },
		{ "xeon7500_mbox_0", "event=0x20,dsp_fill_state=", 16, 0x116 },
		{ "xeon7500_mbox_0", "event=0x09,iss_frm_type=", 16, 0x110f },
		{ "xeon7500_mbox_0", "event=0x21,iss_sched_mode=", 8, 0xf },
		{ "xeon7500_mbox_0", "event=0x26,map_cmd=", 16, 0x1ff },
		{ "xeon7500_mbox_0", "event=0x04,thr_cnd=1,thr_dimm=", 8, 0x1e },
		{ "xeon7500_mbox_0", "event=0x0d,fvc_evnt=6,fvc_resp=", 8, 0xbf },
		{ "xeon7500_rbox_0", "event=0x08,eot_mc=", 16, 0x1fe },
		{ "xeon7500_rbox_0", "event=0x0d,new_pc=", 64, ~1ULL },
	};
	unsigned int i, v;
	char event[80];

	start();
	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		for (v = 0; v < fields[i].num; v++) {
			struct perf_event_attr attr;
			int fd;

			snprintf(event, sizeof(event), "%s%u", fields[i].event, v);
			attr = event_attr(fields[i].pmu, event);
			fd = perf_open(&attr, cpu, -1);
			ktap_check(fields[i].valid >> v & 1 ? fd >= 0 : fd == -EINVAL, "%s/%s/: %d",
				   fields[i].pmu, event, fd);
			if (fd >= 0)
				close(fd);
		}
	}
	ktap_check(!silicon_accesses(), "%u register accesses", silicon_accesses());
}

/* ---- names of ports ---- */

/* Table 2-40: ports 0 to 7 */
static const char * const names[8] = { "qpi1", "qpi0", "s0", "b0", "qpi2", "qpi3", "s1", "u_b1" };

static const char *half(unsigned int port)
{
	return port < 4 ? "xeon7500_rbox_0" : "xeon7500_rbox_1";
}

/* A half has the names of its own ports only. */
static void names_of_a_half(void)
{
	unsigned int port;
	char path[120];

	for (port = 0; port < 8; port++) {
		snprintf(path, sizeof(path), SYSFS_PMU "/%s/format/%s", half(port), names[port]);
		ktap_check(!access(path, F_OK), "no %s", path);
		snprintf(path, sizeof(path), SYSFS_PMU "/%s/format/%s", half(port ^ 4), names[port]);
		ktap_check(access(path, F_OK), "%s", path);
	}
}

static void one_port_only(void)
{
	static const char * const bad[] = {
		"flits_sent,qpi0,qpi1", "flits_sent,s0,b0", "flits_sent,qpi1,port=2",
		"drs.anyresp,qpi0,qpi1,s0,b0",
	};
	unsigned int i;

	start();
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		struct perf_event_attr attr = event_attr("xeon7500_rbox_0", bad[i]);
		int fd = perf_open(&attr, cpu, -1);

		ktap_check(fd == -EINVAL, "%s: %d", bad[i], fd);
		if (fd >= 0)
			close(fd);
	}
	ktap_check(!silicon_accesses(), "%u register accesses", silicon_accesses());
}

SILICON_MAIN({ "B-Box: class, opcode and address, in and out", b_boxes },
	     { "S-Box: address, node, class, opcode and response", s_boxes },
	     { "M-Box: command, mode and address", m_boxes },
	     { "R-Box: each field of the match sets, on each port", r_boxes },
	     { "R-Box: the match events the guide names", r_named },
	     { "M-Box: fields that choose a source", m_sources },
	     { "R-Box: fields that choose a source", r_sources },
	     { "fields that mean nothing are refused", refused },
	     { "each value of a field has a meaning or is refused", values },
	     { "each half of the R-Box has the names of its ports", names_of_a_half },
	     { "more than one port is refused", one_port_only })
