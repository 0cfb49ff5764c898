/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The core PMU: one struct core per logical CPU, touched by the thread of its
 * own vCPU only. A timer that fires elsewhere sends work to that thread.
 *
 *	core.c		registers, RDPMC, CPUID
 *	core_find.c	which CPU has which struct core
 *	core_count.c	which counter runs, what it has counted, its overflow
 *	core_clock.c	core cycles, halts, the timer of the next overflow
 *	core_event.c	event select -> what it counts; arithmetic of patterns
 *	core_offcore.c	the offcore response registers and their traffic
 *	core_trace.c	retirement: instructions, accesses, rings
 *	core_emit.c	the code that QEMU's translator adds for core_trace.c
 *	core_decode.c	kinds of x86 instructions
 *	core_branch.c	branch outcomes, prediction, LBR
 *	core_synth.c	synthetic MSRs and JSON
 *	mem.c		caches and TLB: which level serves an access
 *	pebs.c		PEBS records and the DS area
 */
#ifndef CORE_H
#define CORE_H

#include "silicon.h"
#include "qemu/timer.h"
#include "mem.h"

#define CORE_GP		8	/* most general counters of any machine */
#define CORE_FIXED	3
#define CORE_COUNTERS	(CORE_GP + CORE_FIXED)

/* Rates are per this many core cycles, so that patterns repeat exactly. */
#define CORE_RATE_ONE	65536u

struct core_model {
	enum cpu_kind kind;
	const char *name;
	unsigned int only;		/* of the kind: this CPU model; 0: all that are left */
	unsigned int version;		/* architectural perfmon */
	unsigned int gp;
	unsigned int width;		/* of all counters */
	unsigned int mhz;
	unsigned int ref_mhz;		/* CPU_CLK_UNHALTED.REF; 0: the TSC */
	uint64_t perf_cap;
	uint64_t debugctl;		/* writable bits */
	uint64_t pebs_enable;		/* writable bits */
	bool pebs_fixed;		/* on fixed counters as well */
	uint64_t offcore[2];		/* writable bits, 0: no such register */
	uint64_t no_request[2];		/* of those: request types that count nothing */
	bool ld_lat;
	unsigned int lbr;		/* entries */
	bool lbr_low;			/* they are at 40H and 60H */
	bool lbr_info;
	bool lbr_call_stack;
};

#define PERF_CAP_LBR_FORMAT(cap)	((cap) & 0x3f)
#define PERF_CAP_PEBS_FORMAT(cap)	((cap) >> 8 & 0xf)
#define PERF_CAP_FULL_WIDTH		(1ull << 13)

enum core_source {
	SRC_NONE,
	SRC_CYCLES,		/* a pattern over core cycles */
	SRC_TSC,		/* the same over TSC ticks */
	SRC_OFFCORE,		/* offcore traffic over core cycles; what = register */
	SRC_INSN,		/* every retired instruction */
	SRC_OP,			/* retired instructions of a kind; what = OP_* mask */
	SRC_BRANCH,		/* retired branches; what = BR_* mask */
	SRC_MEM,		/* retired loads and stores; what = MEM_* mask */
	SRC_IRQ,		/* hardware interrupts taken */
};

struct core_event {
	enum core_source src;
	uint32_t what;
	uint32_t num;		/* SRC_CYCLES, SRC_TSC: per CORE_RATE_ONE cycles */
	uint8_t cmask;
	bool inv, edge;
	bool precise;
	uint8_t offcore;	/* of such a response, the register + 1 */
};

static inline bool core_event_timed(const struct core_event *ev)
{
	return ev->src >= SRC_CYCLES && ev->src <= SRC_OFFCORE;
}

#define RING_OS		1
#define RING_USR	2

struct core_counter {
	bool running;
	bool intr;		/* PMI on overflow */
	uint8_t rings;
	struct core_event ev;
	uint64_t val;
	uint64_t mark;		/* its clock when val was right */
	uint64_t decoded;	/* the select that ev was made from, + 1 */
	unsigned int rates;	/* and core_event_rates() */
	struct {
		uint64_t events, overflows, windows, records, lost, pmis;
	} truth;
};

/* Unhalted time by ring, index 0 supervisor, 1 user. */
struct core_clock {
	uint64_t ns[2], tsc[2];
	int64_t last_ns;
	uint64_t last_tsc;
	bool halted;
	uint8_t ring;
};

/* What a PEBS record says beyond the registers. */
struct core_sample {
	uint64_t ip;
	uint64_t va;		/* 0: not of a memory event */
	bool store, locked;
	struct mem_result mem;
};

struct core_branch {
	uint64_t ip;
	uint8_t len;
	uint32_t kind;		/* OP_* of a branch, 0: none in flight */
};

#define PREDICT_ENTRIES	1024
#define RETURN_STACK	16

/* See core_trace.c. */
struct core_trace {
	uint8_t class;		/* what translated code reports, CLASS_* */
	bool clocks;		/* some clock depends on the ring */
	uint64_t armed;		/* what the countdown was last set to */
	uint64_t retired;	/* instructions seen; a sequence number */

	uint32_t due;		/* counters to settle before the next instruction, and DUE_BTS */
	uint32_t ready;		/* of those: the record's turn has come */
	uint32_t skid;		/* counters whose record waits for skid_until[] */
	uint32_t wait;		/* ... and then for the next event */
	uint64_t skid_until[CORE_COUNTERS];
	struct core_sample sample[CORE_COUNTERS];

	/* Events of the instruction in flight, to be taken back if it faults. */
	uint64_t pending_seq;
	uint32_t pending[CORE_COUNTERS];
	uint32_t pending_level[SYN_LEVELS];

	struct core_branch br;
	uint8_t predict[PREDICT_ENTRIES];
	uint64_t target[PREDICT_ENTRIES];
	uint64_t ret[RETURN_STACK];
	unsigned int ret_top;
};

/* What tests may set, per CPU. */
struct core_knobs {
	uint64_t skid;		/* instructions, where reduced skid is off */
	uint64_t pmi_late;	/* ns from an overflow to its interrupt */
	uint64_t off_rate[16];	/* offcore requests per CORE_RATE_ONE cycles */
	uint64_t off_latency[16];
};

#define LBR_MAX	32

struct core {
	CPUState *cs;
	const struct core_model *model;
	unsigned int gp;
	struct core_counter ctr[CORE_COUNTERS];
	struct core_clock clock;
	QEMUTimer *timer;
	QEMUTimer *pmi;		/* an interrupt that is late */
	struct core_trace t;
	struct core_knobs knob;
	struct mem_model *mem;
	bool in_rdmsr;		/* translated code goes on without a look around */

	uint64_t evtsel[CORE_GP];
	uint64_t fixed_ctrl, global_ctrl, global_status;
	uint64_t debugctl, ds_area, pebs_enable, pebs_ld_lat;
	uint64_t offcore[2];
	uint64_t lbr_select, lbr_tos, lbr[3][LBR_MAX];

	uint32_t skid_broken;	/* counters written while PEBS was on */
	bool pdir_clash;
	uint64_t stat[SYN_CORE_STATS];
	uint64_t served[SYN_LEVELS], sampled[SYN_LEVELS];
};

/* core_find.c */
struct core *core_peek(unsigned int cpu);	/* NULL: that CPU never asked */
void core_add(struct core *k);

static inline CPUX86State *core_env(const struct core *k)
{
	return &X86_CPU(k->cs)->env;
}

/* The bits that a counter has. */
static inline uint64_t core_mask(const struct core *k)
{
	return (1ull << k->model->width) - 1;
}

/* Counter number as in GLOBAL_CTRL and GLOBAL_STATUS. */
static inline unsigned int core_bit(unsigned int i)
{
	return i < CORE_GP ? i : 32 + i - CORE_GP;
}

static inline uint8_t core_ring(const struct core *k)
{
	return k->clock.ring ? RING_USR : RING_OS;
}

#define GLOBAL_STATUS_LBR_FRZ	(1ull << 58)
#define GLOBAL_STATUS_CTR_FRZ	(1ull << 59)
#define GLOBAL_STATUS_OVF_UNCORE	(1ull << 61)
#define GLOBAL_STATUS_OVF_BUF	(1ull << 62)
#define DEBUGCTL_LBR		(1ull << 0)
#define DEBUGCTL_TR		(1ull << 6)
#define DEBUGCTL_BTS		(1ull << 7)
#define DEBUGCTL_BTS_OFF_OS	(1ull << 9)
#define DEBUGCTL_BTS_OFF_USR	(1ull << 10)
#define DEBUGCTL_FRZ_LBR	(1ull << 11)
#define DEBUGCTL_FRZ_PERFMON	(1ull << 12)
#define DEBUGCTL_UNCORE_PMI	(1ull << 13)
#define EVTSEL_USR		(1ull << 16)
#define EVTSEL_OS		(1ull << 17)
#define EVTSEL_EDGE		(1ull << 18)
#define EVTSEL_INT		(1ull << 20)
#define EVTSEL_ANY		(1ull << 21)
#define EVTSEL_EN		(1ull << 22)
#define EVTSEL_INV		(1ull << 23)
#define EVTSEL_CMASK		(0xffull << 24)
/* Any of these and a PEBS record is not exact. */
#define EVTSEL_NO_REDUCED_SKID	(EVTSEL_EDGE | EVTSEL_ANY | EVTSEL_INV | EVTSEL_CMASK)
#define PEBS_ENABLE_STORES	(1ull << 63)

/* core_event.c */
void core_event_decode(const struct core *k, uint64_t evtsel, struct core_event *ev);
void core_event_set_rate(unsigned int event, uint32_t num);	/* umask << 8 | code */
void core_event_default_rates(void);
unsigned int core_event_rates(void);	/* how often they have been set */
void core_event_fixed(const struct core *k, unsigned int n, struct core_event *ev);
/* Events in the first @cycles cycles of the pattern. */
uint64_t core_event_sum(const struct core *k, const struct core_event *ev, uint64_t cycles);

/* core_offcore.c */
void core_offcore_default(struct core *k);
/* Does what the register asks for follow the program? Then what of its accesses. */
bool core_offcore_follows(const struct core *k, unsigned int reg, uint32_t *what);
uint64_t core_offcore_sum(const struct core *k, unsigned int reg, uint64_t cycles);
uint32_t core_offcore_rate(const struct core *k, unsigned int reg);
void core_offcore_check(struct core *k, unsigned int reg);
uint64_t core_offcore_share(const struct core *k, unsigned int n);	/* of 65536 */
uint64_t *core_offcore_knob(struct core *k, uint32_t msr);	/* NULL: no such */

/* core_clock.c */
void core_clock_init(struct core *k);
void core_clock_update(struct core *k);
uint64_t core_clock_read(const struct core *k, const struct core_event *ev, uint8_t rings);
void core_clock_arm(struct core *k);

/* core.c */
struct core *core_get(CPUState *cs);
void core_knobs_default(struct core *k);	/* all that tests may set for this CPU */

/* core_count.c */
void core_sync(struct core *k);		/* counts up to now, overflows and all */
bool core_catch_up(struct core *k);	/* only the clocks; core_apply() if true */
void core_apply(struct core *k);	/* after any change; the past is counted */
void core_set_counter(struct core *k, unsigned int i, uint64_t val);
/* Counter i has gone past its end; s tells which instruction did it, if known. */
void core_overflow(struct core *k, unsigned int i, const struct core_sample *s);
void core_interrupt(struct core *k);
void core_pmi(struct core *k);		/* freeze and interrupt */
void core_pmi_init(struct core *k);

/* core_trace.c */
void trace_settle(struct core *k);	/* instructions so far to their counters */
void trace_apply(struct core *k);	/* after any change of what runs */
/* The CPU's state is exact and an instruction is over: settle what is due. */
void trace_boundary(struct core *k);
/* From translated code. */
void trace_countdown(CPUX86State *env, uint64_t ip, uint64_t info);
void trace_op(CPUX86State *env, uint64_t ip, uint64_t info);
void trace_block(CPUX86State *env, uint64_t ip, uint64_t info);
void trace_mem(unsigned int cpu, uint32_t meminfo, uint64_t va, void *insn);
/* For core_branch.c: one event of counter i. */
void trace_count(struct core *k, unsigned int i, const struct core_sample *s);

/*
 * The countdown of translated code: a field that only KVM's migration uses, at
 * a fixed distance from env and so within reach of one instruction.
 */
#define TRACE_LEFT	msr_gp_counters[0]

/* Classes of translated code: what it reports, in which rings. */
#define CLASS_NONE	0xff
#define CLASS_INSN(r)	((r) << 0)	/* r: RING_* mask */
#define CLASS_OP(r)	((r) << 2)
#define CLASS_MEM(r)	((r) << 4)

/* What translated code says about an instruction. */
#define INFO(len, cc_op, ops)	((len) | (cc_op) << 4 | (uint64_t)(ops) << 16)
#define INFO_LEN(i)		((i) & 0xf)
#define INFO_CC_OP(i)		((i) >> 4 & 0xfff)
#define INFO_OPS(i)		((uint32_t)((i) >> 16))
/* The same for accesses, in the one word there is. */
#define MEM_INSN_LOCK		(1ull << 48)

/* core_emit.c */
void emit_set_class(struct core *k, uint8_t class);

/* core_decode.c */
#define OP_JCC		(1u << 0)
#define OP_JMP_REL	(1u << 1)
#define OP_CALL_REL	(1u << 2)
#define OP_JMP_IND	(1u << 3)
#define OP_CALL_IND	(1u << 4)
#define OP_RET		(1u << 5)
#define OP_FAR		(1u << 6)
#define OP_BRANCHES	0x7fu
#define OP_LOCK		(1u << 8)
#define OP_STRING	(1u << 9)	/* repeated string instruction */
#define OP_IDIV		(1u << 10)
#define OP_FPDIV	(1u << 11)
#define OP_MICROCODE	(1u << 12)
#define OP_REPORTED	(OP_BRANCHES | OP_IDIV | OP_FPDIV | OP_MICROCODE)
uint32_t decode_insn(const uint8_t *b, unsigned int len, bool code64);

/* core_branch.c */
#define BR_ALL		(1u << 0)
#define BR_JCC		(1u << 1)
#define BR_TAKEN	(1u << 2)
#define BR_TAKEN_JCC	(1u << 3)
#define BR_NOT_TAKEN	(1u << 4)
#define BR_FAR		(1u << 5)
#define BR_IND		(1u << 6)	/* near indirect jump or call */
#define BR_IND_CALL	(1u << 7)
#define BR_REL_CALL	(1u << 8)
#define BR_CALL		(1u << 9)
#define BR_RET		(1u << 10)
#define BR_JMP		(1u << 11)	/* near direct jump */
#define BR_IND_JMP	(1u << 12)	/* near indirect jump */
#define BR_MISP(what)	((what) << 16)	/* the same, mispredicted */
bool branch_lbr_on(const struct core *k);
/* The branch in flight, if any, went to @to in @ring. */
void branch_resolve(struct core *k, uint64_t to, uint8_t ring);

/* pebs.c */
bool pebs_on(const struct core *k, unsigned int i);
bool pebs_exact(const struct core *k, unsigned int i);	/* reduced skid or PDIR */
void pebs_write(struct core *k, unsigned int i, const struct core_sample *s);
bool pebs_set_index(struct core *k, uint64_t where);	/* SYN_PEBS_INDEX_* */

/* The branch trace store: its buffer has reached the threshold */
#define DUE_BTS		(1u << CORE_COUNTERS)
bool bts_on(const struct core *k);
void bts_write(struct core *k, uint64_t from, uint64_t to, uint8_t ring);

#endif
