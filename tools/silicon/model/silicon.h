/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The model has four floors. A file calls those of its own floor and of lower ones.
 *
 *	top/	hooks.c		instructions in: RDMSR, WRMSR, RDPMC, CPUID
 *		synth.c		synthetic MSRs (synthetic.h), the window for tests
 *		report.c	who accessed what; the trace; JSON at exit
 *		traffic_file.c	what a user wants the uncore to do
 *		setup.c		what this run was asked for
 *	core/	core PMUs of all machines, see core.h
 *	uncore/	the uncore of Xeon 7500 and E7, see uncore.h
 *	base/	cpu.c		which CPU it is, time, the table of the parts
 *		blame.c		violations
 *		apic.c		PMIs out, fault injection
 *		nmi.c		NMIs of others
 *		machine.c	the rest that programs read
 *		readings.c	what no source settles
 *		closed_form.c	counting over any time without a loop
 *
 * core/ and uncore/ know nothing of each other. What top/ wants of them is in the table of
 * parts; only traffic_file.c calls the uncore.
 */
#ifndef SILICON_H
#define SILICON_H

#include "qemu/osdep.h"
#include "cpu.h"
#include "qobject/json-writer.h"
#include "synthetic.h"

/* ---- machine ---- */

enum cpu_kind {
	KIND_NONE, KIND_XEON7500, KIND_WESTMERE_EX, KIND_GOLDMONT, KIND_SILVERMONT, KIND_SANDYBRIDGE
};

enum cpu_kind silicon_kind(CPUX86State *env);
unsigned int silicon_model(CPUX86State *env);		/* of family 6, else 0 */

/* Xeon 7500 and E7, which have this uncore and much else in common. */
static inline bool kind_is_ex(enum cpu_kind kind)
{
	return kind == KIND_XEON7500 || kind == KIND_WESTMERE_EX;
}

#define SILICON_CPUS	256	/* cpu_index below this */
#define SILICON_PACKAGES 8

unsigned int silicon_package(CPUState *cs);

/* ---- the parts ---- */

enum msr_rc { MSR_OK, MSR_GP, MSR_PASS };	/* PASS: not mine, let QEMU do it */

/*
 * What a part of the model has for those who go through all of them: hooks.c, synth.c and
 * report.c. NULL: nothing. With the BQL held and the clock readable, but for owns.
 */
struct part {
	/* Registers. */
	bool (*owns)(CPUState *cs, uint32_t msr);
	enum msr_rc (*rdmsr)(CPUState *cs, uint32_t msr, uint64_t *val);
	enum msr_rc (*wrmsr)(CPUState *cs, uint32_t msr, uint64_t val);
	unsigned int range;			/* SYN_RANGE_* */
	int (*box)(uint32_t msr, const char **name);	/* SYN_BOX_*, -1: no register there */
	bool (*rdpmc)(CPUState *cs, uint32_t index, uint64_t *val);	/* false: #GP */
	/* After QEMU's own answer. */
	void (*cpuid)(CPUX86State *env, uint32_t leaf, uint32_t sub,
		      uint32_t *a, uint32_t *b, uint32_t *c, uint32_t *d);
	/* Synthetic registers; false: none of these. */
	bool (*synth_rd)(CPUState *cs, uint32_t msr, uint64_t *val);
	bool (*synth_wr)(CPUState *cs, uint32_t msr, uint64_t val);
	void (*settle)(CPUState *cs);		/* before an access to one below SYN_CORE_BASE */
	void (*clear)(CPUState *cs);		/* SYN_CLEAR */
	void (*power_on)(CPUState *cs);		/* SYN_RESET: all that tests may set */
	void (*reread)(void);			/* a reading has changed */
	void (*json)(JSONWriter *w);		/* its members of the statistics */
};

/* In this order they are asked, cleared and written. */
enum {
	PART_BLAME, PART_APIC, PART_PACKAGE, PART_UNCORE, PART_UNCORE_SYNTH,
	PART_CORE, PART_CORE_SYNTH, PART_MACHINE, PART_NMI, PARTS
};

extern const struct part *parts[PARTS];

/* A part registers itself before main(). */
#define PART(rank, ...) \
	static const struct part this_part = { __VA_ARGS__ }; \
	static void __attribute__((constructor)) add_part(void) \
	{ \
		g_assert(!parts[rank]); \
		parts[rank] = &this_part; \
	} \
	QEMU_BUILD_BUG_ON((rank) >= PARTS)

/* EACH_PART(p, json) p->json(w); calls those that have it. */
#define EACH_PART(p, has) \
	for (const struct part **at_ = parts, *p; at_ < parts + PARTS; at_++) \
		if ((p = *at_)->has)

const struct part *part_of(CPUState *cs, uint32_t msr);	/* NULL: nobody owns it */

/* machine.c */
/* In the order of CPUID leaf 4; sets 0: it has none. */
enum { MACHINE_L1D, MACHINE_L1I, MACHINE_L2, MACHINE_L3, MACHINE_CACHES };
#define MACHINE_CACHE_LINE	64

struct machine_cache {
	uint32_t sets, ways;
};

const struct machine_cache *machine_caches(CPUX86State *env);

/* ---- readings, see readings.c ---- */

unsigned int reading(enum reading r);		/* its answer, 0: the first */
bool reading_set(unsigned int r, uint64_t answer);	/* false: no such */
void readings_power_on(void);
void readings_setup(const char *text);		/* NAME=ANSWER,..., or NULL; exits if there is no such */

/* ---- services ---- */

int64_t silicon_now_ns(void);

/*
 * With -icount the virtual clock may be read by the last instruction of a
 * translation block only. Not there: the block is translated again and run
 * up to here, and this does not return. Call before the first side effect.
 */
void silicon_at_io(CPUState *cs, uintptr_t ra);

/* Delivery through LVTPC as NMI or fixed interrupt; honours and sets its mask. */
void silicon_pmi(CPUState *cs);			/* of the core PMU */
void apic_uncore_pmi(unsigned int package, unsigned int core_mask);
void apic_count(unsigned int package, unsigned int what);
void apic_reset(unsigned int package);		/* its PMIs on their way are gone */
bool apic_debugctl_stuck(void);			/* IA32_DEBUGCTL bit 13 stays 0 */
bool apic_debugctl_refused(void);		/* this access to it answers #GP */
void apic_debugctl_written(CPUState *cs, bool bit_13);
bool apic_ovf_uncore(CPUState *cs);		/* bit 61 of IA32_PERF_GLOBAL_STATUS */
void apic_ovf_uncore_clear(CPUState *cs);
void apic_nmi_begin(CPUState *cs);		/* clock readable */
void apic_nmi_access(CPUState *cs);		/* to an uncore register, maybe in an NMI */
void apic_nmi_end(CPUState *cs);		/* its IRET; likewise */

/* Kinds as in synthetic.h. */
enum violation {
	VIOL_RESERVED = SYN_V_RESERVED,
	VIOL_READ_ONLY = SYN_V_READ_ONLY,
	VIOL_NO_REGISTER = SYN_V_NO_REGISTER,
	VIOL_ACCESS = SYN_V_ACCESS,
	VIOL_EV_SEL = SYN_V_EV_SEL,
	VIOL_UMASK = SYN_V_UMASK,
	VIOL_UNDEFINED = SYN_V_UNDEFINED,
	VIOL_COUNTER = SYN_V_COUNTER,
	VIOL_START_VALUE = SYN_V_START_VALUE,
	VIOL_RST_ALL = SYN_V_RST_ALL,
	VIOL_OCCUPANCY = SYN_V_OCCUPANCY,
	VIOL_LOCKED = SYN_V_LOCKED,
	VIOL_SUBREG = SYN_V_SUBREG,
	VIOL_CORE = SYN_V_CORE,
	VIOL_KINDS = SYN_V_KINDS
};

/* Counted by kind, logged to stderr and the JSON. cs NULL: nobody to blame, does nothing. */
void silicon_violation(enum violation v, CPUState *cs, const char *fmt, ...)
	G_GNUC_PRINTF(3, 4);
uint64_t violation_count(unsigned int kind);

#endif
