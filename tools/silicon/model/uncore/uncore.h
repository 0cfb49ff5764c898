/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The uncore of Xeon 7500 and E7: one struct package per socket, in it boxes, in them
 * counters. The facts come from spec/xeon7500 by way of gen-tables.py.
 *
 *	registers.c	registers and their access rights
 *	uncore_synth.c	synthetic MSRs
 *	package.c	what is in a package, its time, freeze
 *	counter.c	when a counter runs, and its value
 *	overflow.c	overflow on its way up
 *	box_*.c		what the control registers of a box select
 *	select.c	what these have in common
 *	packet.c	packets, match and mask registers
 *	activity.c	the transactions of a box
 *	traffic.c	what happens beside them, or as a test says
 *	spec_tables.c	registers and events of the spec, and how to find them
 */
#ifndef UNCORE_H
#define UNCORE_H

#include "silicon.h"
#include "base/closed_form.h"
#include "spec-tags.inc"
#include "qemu/bitmap.h"
#include "qemu/timer.h"

enum box_kind {
	BOX_U = SYN_BOX_U,
	BOX_C = SYN_BOX_C,
	BOX_W = SYN_BOX_W,
	BOX_S = SYN_BOX_S,
	BOX_B = SYN_BOX_B,
	BOX_M = SYN_BOX_M,
	BOX_R = SYN_BOX_R,
	BOX_KINDS
};

enum reg_role {
	ROLE_U_CTL, ROLE_U_STATUS, ROLE_U_OVF,
	ROLE_BOX_CTL, ROLE_BOX_STATUS, ROLE_BOX_OVF, ROLE_SUMMARY,
	ROLE_SEL, ROLE_CTR,
	ROLE_MM_CFG, ROLE_MATCH, ROLE_MASK,				/* S, M, B */
	ROLE_TIMESTAMP, ROLE_DSP, ROLE_ISS, ROLE_MAP, ROLE_MSC_THR,	/* M */
	ROLE_PGT, ROLE_PLD, ROLE_FVC,
	ROLE_IPERF, ROLE_QLX, ROLE_XBR_MM_CFG, ROLE_XBR_MATCH, ROLE_XBR_MASK,	/* R */
	ROLES
};

enum reg_access {
	ACC_RW, ACC_RO, ACC_WO, ACC_W1C,
	ACC_RO_MAYBE,	/* not confirmed: writes do nothing, but no #GP */
};

struct reg_info {
	uint16_t msr;
	const char *name;
	uint8_t box;
	uint8_t inst;
	uint8_t role;
	uint8_t index;	/* counter or port in the box */
	uint8_t alt;	/* which of two: IPERF_CFG, match set */
	uint8_t access;
	uint64_t rw, w1c, ro, rsv, reset;
};

enum {
	EV_TALLY = 1,	/* S: fed by the occupancy sub-counter */
	EV_MATCH = 2,	/* counts packets the match registers let through */
	EV_ONE_BIT = 4,	/* more than one unit mask bit is undefined */
	EV_ANY = 128,	/* unit mask bits are independent: of several, any counts */
	/* Of a match: packets that leave the box; the fields that are compared. */
	EV_OUT = 8,
	EV_CLASS = 16,
	EV_OPCODE = 32,
	EV_ADDRESS = 64,
};

/* How an event shows transactions, and of which list they are; see activity.c. */
enum {
	SHOWS_NONE, SHOWS_COUNT, SHOWS_FLITS, SHOWS_NULL_FLITS,
	SHOWS_OCCUPANCY, SHOWS_NOT_EMPTY, SHOWS_FULL
};

/* Of the packets of a port; its events are bits of registers and not in the tables. */
enum {
	TAG_R_NCB = 1u << 0, TAG_R_NCS = 1u << 1, TAG_R_DRS = 1u << 2, TAG_R_NDR = 1u << 3,
	TAG_R_HOM = 1u << 4, TAG_R_SNP = 1u << 5,
	TAG_R_VN0 = 1u << 6, TAG_R_VN1 = 1u << 7, TAG_R_VNA = 1u << 8,
	TAG_R_HOM_VN0 = 1u << 9, TAG_R_HOM_VN1 = 1u << 10,	/* as ALLOC_TO_ARB has them */
};

enum { LIST_C, LIST_C_NACK, LIST_S_OUT, LIST_S_IN, LIST_B, LIST_R_IN, LIST_R_OUT, LISTS };

struct view {
	uint8_t shows, list;
	uint16_t depth;		/* of the queue */
	uint8_t every;		/* one of so many of them; 0: all */
	bool at_core;		/* at the ring stop of a core: what the next C-Box sends there */
	uint32_t of, queue;	/* by tags that all of them have: those shown, those in the queue */
};

struct event_info {
	uint8_t box;
	uint16_t code;
	uint8_t counters;	/* which can count it */
	uint8_t umask;		/* the bits it has */
	uint16_t cap;		/* most per cycle in all */
	uint16_t div;		/* increments per count */
	uint16_t limit[8];	/* most per cycle of each bit */
	uint8_t flags;
	struct view view[9];	/* of each bit; of all of them, if that is no sum */
	const char *name;
};

struct opcode_info {
	uint8_t mc;
	uint8_t opcode;
	const char *name;
};

extern const struct reg_info *reg_table;
extern unsigned int reg_count;
extern const struct event_info *event_table;
extern const struct opcode_info opcode_table[];
extern const unsigned int opcode_count;
extern const uint8_t dram_cmd_table[];
extern const unsigned int dram_cmd_count;

#define REG_MAX	400

/* Before all others: which machine it is. */
void spec_tables_use(enum cpu_kind kind);
/* Is it one of the uncore, though there may be no register? */
bool reg_address(uint32_t msr);
/* Index into reg_table, -1: no register at that address. */
int reg_find(uint32_t msr);
int reg_of(enum box_kind box, unsigned int inst, enum reg_role role, unsigned int index,
	   unsigned int alt);
const struct event_info *event_find(enum box_kind box, unsigned int code, unsigned int counter);

/* ---- objects ---- */

struct package;
struct box;
struct counter;
struct packet;
struct traffic_key;

/* What the registers make a counter count. */
struct selection {
	struct pattern pattern;		/* per cycle, before shaping */
	struct shape shape;
	unsigned int div;
	unsigned int tally;		/* S: what a sub-counter adds per cycle, modulo 2^7 */
	bool once;			/* hangs on when it was selected */
	bool down;			/* M: count_mode */
	bool stop_at_wrap;		/* M: wrap_mode 0 */
};

struct box_type {
	unsigned int instances;		/* at most */
	unsigned int counters;
	uint64_t en, pmi_en;		/* bits in a control register */
	/*
	 * Work out what counter c counts. cs is the CPU whose write enabled it,
	 * to blame for what is not allowed, or NULL to look without blame.
	 */
	void (*select)(struct counter *c, struct selection *sel, CPUState *cs);
	/* May a sub-register be written? MSR_GP if not; may be NULL. */
	enum msr_rc (*guard)(struct box *b, const struct reg_info *r, CPUState *cs);
	/* How many cycles such a packet is counted in, by c->match; may be NULL. */
	unsigned int (*packet)(const struct counter *c, const struct packet *pkt);

	/* What is special about one kind; each may be NULL or 0. */

	/* A counter whose control register differs. */
	void (*init)(struct counter *c);
	/* Is there no PMI, though the control register asks for one? */
	bool (*no_pmi)(const struct counter *c);
	/* What a read returns where the counter has this value. */
	uint64_t (*read)(const struct counter *c, uint64_t value);
	/* Before the counter is written. */
	void (*write)(const struct counter *c, uint64_t value, CPUState *cs);
	/* Bits of a control register that can be written without a new window. */
	uint64_t quiet;
	/* They were: does the counter go on otherwise? */
	bool (*quiet_write)(struct counter *c);
	/* An enabled counter ends what it counts. */
	void (*leave)(struct counter *c, uint64_t cycle);
};

extern const struct box_type box_types[BOX_KINDS];

/* Which packets are counted. */
struct match {
	bool on;
	bool out;		/* those that leave the box */
	uint64_t value, mask;	/* their fields, as the registers of the box have them */
	uint64_t cfg;		/* R */
	unsigned int cmd;	/* M: 0: any */
	int mode;		/* M: of the scheduler, -1: any */
};

#define COUNTER_READS	10

struct counter {
	struct box *box;
	unsigned int index;		/* in the box */
	unsigned int id;		/* in the package */
	const struct reg_info *sel_reg, *ctr_reg;
	uint64_t en, pmi_en;		/* bits in the control register */
	unsigned int status_bit;	/* in the enables and the status of the box */
	uint64_t sel;			/* control register */
	struct ctr48 c;
	struct series *series, *truth;	/* c's, owned; the same when nothing is stale */
	struct shape shape;
	struct match match;
	/* Sub-registers and the bits of them that select() has read: what c counts hangs on these. */
	struct {
		unsigned int reg;
		uint64_t bits;
	} reads[COUNTER_READS];
	unsigned int num_reads;
	/* What the series were made for; reusable if it broke no rule. */
	struct {
		uint64_t sel, traffic, subregs;
		bool reusable;
	} made;
	uint64_t next_overflow;
	uint64_t written;		/* last, by software */
	unsigned int tally;		/* S: left in the sub-counter, and added if stale */
	bool tally_stale;
	uint64_t tally_cleared;		/* S: in this cycle */
	struct {
		uint64_t events, overflows, skipped, opened, closed, windows, enabled, since;
	} stat;
};

#define U_NINTH_BIT	(1u << 8)	/* of ev_sel of the U-Box */
#define BOX_COUNTERS_MAX 8
#define PACKAGE_COUNTERS_MAX 116
#define BOX_INSTANCES_MAX 10

struct box {
	const struct box_type *type;
	enum box_kind kind;
	unsigned int inst;
	struct package *pkg;
	uint64_t ctl;			/* enabled counters, as status bits */
	uint64_t status;
	uint64_t timestamp;		/* M: added to the cycle count */
	uint64_t subreg_writes;
	struct counter *counter[BOX_COUNTERS_MAX];
};

struct package {
	unsigned int id;
	enum cpu_kind kind;
	uint64_t reg[REG_MAX];		/* those that just hold what was written */
	uint64_t u_ctl, u_status;
	struct box box[BOX_KINDS][BOX_INSTANCES_MAX];
	struct counter counter[PACKAGE_COUNTERS_MAX];
	unsigned int counters;
	DECLARE_BITMAP(running, PACKAGE_COUNTERS_MAX);
	uint64_t now;			/* everything is settled up to this cycle */
	uint64_t deadline;		/* no overflow and no freeze before it */
	QEMUTimer *timer;
	uint64_t alarm;			/* when it goes off, ns; UINT64_MAX: never */
	uint64_t freeze_at;		/* pending freeze */
	uint64_t freeze_latency;
	struct counter *freeze_cause;	/* whose ov bit blocks the next freeze */
	bool frozen;
	uint64_t frozen_since, frozen_cycles, freezes;
	uint64_t absent;		/* boxes, SYN_ABSENT_BOX() */
	uint64_t absent_reads_0;	/* SYN_ABSENT_READS_0 */
	uint64_t uncounted;		/* SYN_UNCOUNTED */
	uint64_t gp;			/* SYN_GP */
	uint64_t pkt_header, pkt_addr;	/* next packet to inject */
	uint64_t traffic_sel;		/* SYN_TRAFFIC_SEL */
	bool no_mix;			/* no packets but injected ones */
};

/* A number in p->counter of each counter that runs. */
#define EACH_RUNNING(p, i) \
	for (unsigned long i = find_first_bit((p)->running, PACKAGE_COUNTERS_MAX); \
	     i < PACKAGE_COUNTERS_MAX; i = find_next_bit((p)->running, PACKAGE_COUNTERS_MAX, i + 1))

/* U_GLOBAL_CTL and U_GLOBAL_STATUS */
#define U_EN		(1u << 0)
#define U_CORE_SEL(ctl)	((ctl) >> 1 & 0xff)
#define U_EN_ALL	(1u << 28)
#define U_RST_ALL	(1u << 29)
#define U_FRZ_ALL	(1u << 31)

#define U_COND		(1u << 31)
#define U_PMI		(1u << 30)
#define U_OV_S0		(1u << 3)
#define U_OV_S1		(1u << 2)
#define U_OV_W		(1u << 1)
#define U_OV_U		(1u << 0)
#define U_OV_BELOW	(U_OV_S0 | U_OV_S1 | U_OV_W)

/* ---- spec_tables.c ---- */

/* The register of a role in a box. */
uint64_t box_reg(const struct box *b, enum reg_role role, unsigned int index, unsigned int alt);

/* These bits of it, for select(): when they change, c is selected anew. */
uint64_t counter_reg(struct counter *c, enum reg_role role, unsigned int index, unsigned int alt,
		     uint64_t bits);

/* NULL: not the address of a counter. */
struct counter *counter_find(struct package *p, uint32_t ctr_msr);

/* ---- package.c ---- */

struct package *package_get(CPUState *cs);
/* Settle everything up to the present cycle, and return that. */
uint64_t package_settle(struct package *p);
/* Enables or values have changed: when does the next thing happen? */
void package_schedule(struct package *p);
void package_start(struct package *p);	/* U_GLOBAL_CTL lets counters run */
void package_stop(struct package *p);
/* Traffic has changed: find out anew what each counter of the package counts. */
void package_reselect(struct package *p);
/* n such packets pass now. */
void package_inject(struct package *p, const struct packet *pkt, uint64_t n);

/* ---- counter.c ---- */

bool u_ctl_runs(uint64_t u_ctl);	/* what U_GLOBAL_CTL says of all counters */
/* Counts up to now; returns how often it went past its end. */
uint64_t counter_advance(struct counter *c);
void counter_settle(struct counter *c);	/* the same, and overflows are handled */
void counter_start(struct counter *c);	/* if all enables are there */
void counter_stop(struct counter *c);
void counter_enable(struct counter *c);	/* start or stop */
void counter_select(struct counter *c, CPUState *cs);	/* of a settled one: what it counts */
void counter_reselect(struct counter *c, CPUState *cs);

static inline void counter_predict(struct counter *c)
{
	c->next_overflow = ctr48_next_overflow(&c->c);
}

/* ---- overflow.c ---- */

bool counter_uncounted(const struct counter *c);	/* SYN_UNCOUNTED */
/* The control register asks for a PMI, and there is one. */
bool counter_pmi_enabled(const struct counter *c);
void counter_overflow(struct counter *c, uint64_t times);
uint64_t overflow_summary(const struct package *p, unsigned int side);	/* S-Box SUMMARY */
void overflow_clear(struct box *b, uint64_t bits);	/* of the STATUS of a box */
void overflow_clear_u(struct package *p, uint64_t val);	/* U OVF_CTL */

/* ---- selecting, shared by boxes ---- */

/* Events with unit mask and flags as in the tables; blames cs. */
const struct event_info *select_event(struct counter *c, unsigned int code, unsigned int umask,
				      struct selection *sel, CPUState *cs);
/*
 * Increments of one part of an event: what a test has set, or what it shows of box or port
 * `inst`, or a rhythm. v may be NULL; the rest is as for traffic_pattern().
 */
void select_part(const struct view *v, unsigned int inst, const struct traffic_key *key,
		 unsigned int limit, unsigned int sharers, unsigned int turn,
		 struct pattern *out);
/* threshold 31:24, invert 23, edge_detect 18 */
void select_shape(struct counter *c, const struct event_info *e, struct selection *sel,
		  CPUState *cs);

void select_u(struct counter *c, struct selection *sel, CPUState *cs);
void select_c(struct counter *c, struct selection *sel, CPUState *cs);
void select_w(struct counter *c, struct selection *sel, CPUState *cs);
void w_init(struct counter *c);
bool w_no_pmi(const struct counter *c);
uint64_t w_read(const struct counter *c, uint64_t value);
void w_write(const struct counter *c, uint64_t value, CPUState *cs);
void select_s(struct counter *c, struct selection *sel, CPUState *cs);
#define S_RESET_OCC	(1u << 17)
bool s_quiet_write(struct counter *c);
void s_leave(struct counter *c, uint64_t cycle);
enum msr_rc s_guard(struct box *b, const struct reg_info *r, CPUState *cs);
unsigned int s_packet(const struct counter *c, const struct packet *pkt);
void select_b(struct counter *c, struct selection *sel, CPUState *cs);
unsigned int b_packet(const struct counter *c, const struct packet *pkt);
void select_m(struct counter *c, struct selection *sel, CPUState *cs);
enum msr_rc m_guard(struct box *b, const struct reg_info *r, CPUState *cs);
unsigned int m_packet(const struct counter *c, const struct packet *pkt);
void select_r(struct counter *c, struct selection *sel, CPUState *cs);
unsigned int r_packet(const struct counter *c, const struct packet *pkt);

/* ---- packets ---- */

struct packet {
	enum box_kind box;
	unsigned int inst;	/* R: port */
	unsigned int mc, opcode, vn, rds, hnid, rnid, dnid, flits;
	bool out;
	uint64_t addr;
};

/* SYN_PKT_HEADER and SYN_PKT_ADDR to a packet. */
struct packet packet_decode(uint64_t header, uint64_t addr);
/* Cycles in which the packets that are about anyway are counted by c. */
void packet_pattern(const struct counter *c, unsigned int inst, bool out, struct pattern *p);

/* ---- activity ---- */

/* One of what a box does over and over. */
struct transaction {
	uint16_t at, cycles;	/* when it begins in the period, and how long it takes */
	uint32_t tags;
};

struct activity {
	unsigned int period_log2, num;
	struct transaction list[CF_PERIOD_MAX];
};

/* A list of a box, or a port, the one that has this number; to be freed. */
struct activity *activity_of(const struct package *p, unsigned int list, unsigned int inst);
/* What is seen so of what a box, or a port, does, the one that has this number. */
void activity_pattern(const struct package *p, unsigned int inst, const struct view *v,
		      struct pattern *out);

/*
 * From now on all boxes do only what they are told, which is `num` such transactions in each
 * period of 2^12 cycles; false: there is no room for them.
 */
bool activity_tell(unsigned int package, unsigned int list, unsigned int inst, uint32_t tags,
		   unsigned int cycles, unsigned int num);
bool activity_is_told(void);

/* ---- traffic ---- */

#define NO_BIT	SYN_ANY

struct traffic_key {
	const struct package *pkg;
	enum box_kind box;
	unsigned int inst;
	unsigned int code;
	unsigned int bit;	/* unit mask bit, NO_BIT: the event has none */
};

/* Increments per cycle of one event as a test has set them; false: none has. */
bool traffic_planted(const struct traffic_key *key, unsigned int limit, struct pattern *out);
/*
 * The same, or else a rhythm of its own, at most `limit`. When `sharers` events
 * cannot happen in the same cycle, turn says which of them this is.
 */
void traffic_pattern(const struct traffic_key *key, unsigned int limit,
		     unsigned int sharers, unsigned int turn, struct pattern *out);
struct planted {
	int package;		/* -1: any */
	uint64_t sel;		/* as SYN_SEL() */
	unsigned int log2, phase, active, inc;
};

void traffic_add(const struct planted *o);
/* After these the counters of the package are to be selected anew. */
void traffic_set(unsigned int package, uint64_t sel, uint64_t pattern);	/* as SYN_TRAFFIC_SET */
void traffic_reset(unsigned int package);
void traffic_changed(void);		/* something else has that all patterns depend on */
uint64_t traffic_generation(void);	/* changes with any pattern */

#endif
