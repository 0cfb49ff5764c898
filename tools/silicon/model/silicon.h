/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of the model and what they owe each other.
 *
 *	setup.c		what this run was asked for
 *	hooks.c		instructions in: RDMSR, WRMSR, RDPMC, CPUID
 *	stats.c		who accessed what; the trace; JSON at exit
 *	synth.c		synthetic MSRs (synthetic.h), the window for tests
 *	uncore.c, box_*	the uncore of Xeon 7500 and E7, see uncore.h
 *	core*.c		core PMUs of all machines
 *	apic.c		PMIs out, fault injection
 *	nmi.c		NMIs of others
 *	machine.c	the rest that programs read
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

/* ---- entry points of the parts, called with the BQL held, clock readable ---- */

enum msr_rc { MSR_OK, MSR_GP, MSR_PASS };	/* PASS: not mine, let QEMU do it */

enum msr_rc uncore_rdmsr(CPUState *cs, uint32_t msr, uint64_t *val);
enum msr_rc uncore_wrmsr(CPUState *cs, uint32_t msr, uint64_t val);
bool uncore_owns(CPUState *cs, uint32_t msr);
const char *uncore_name(uint32_t msr);		/* NULL: no register there */
int uncore_box(uint32_t msr);			/* SYN_BOX_*, -1: no register there */
void uncore_clear_truth(void);
void uncore_reread(void);			/* a reading has changed */
void uncore_stats_json(JSONWriter *w);		/* the member "packages" */

enum msr_rc synth_rdmsr(CPUState *cs, uint32_t msr, uint64_t *val);
enum msr_rc synth_wrmsr(CPUState *cs, uint32_t msr, uint64_t val);

static inline bool synth_owns(uint32_t msr)
{
	return (msr & 0xfff00000u) == SYN_BASE;
}

/* Registers that are only read. */
bool machine_owns(CPUState *cs, uint32_t msr);
enum msr_rc machine_rdmsr(CPUState *cs, uint32_t msr, uint64_t *val);
uint32_t machine_tsc_khz(CPUX86State *env);
/* After QEMU's own answer. */
void machine_cpuid(CPUX86State *env, uint32_t leaf, uint32_t sub,
		   uint32_t *a, uint32_t *b, uint32_t *c, uint32_t *d);

/* In the order of CPUID leaf 4; sets 0: it has none. */
enum { MACHINE_L1D, MACHINE_L1I, MACHINE_L2, MACHINE_L3, MACHINE_CACHES };
#define MACHINE_CACHE_LINE	64

struct machine_cache {
	uint32_t sets, ways;
};

const struct machine_cache *machine_caches(CPUX86State *env);

enum msr_rc core_rdmsr(CPUState *cs, uint32_t msr, uint64_t *val);
enum msr_rc core_wrmsr(CPUState *cs, uint32_t msr, uint64_t val);
bool core_rdpmc(CPUState *cs, uint32_t index, uint64_t *val);	/* false: #GP */
/* After QEMU's own answer. */
void core_cpuid(CPUX86State *env, uint32_t leaf, uint32_t sub,
		uint32_t *a, uint32_t *b, uint32_t *c, uint32_t *d);
bool core_owns(CPUState *cs, uint32_t msr);	/* for the access statistics */
/* Synthetic MSRs 0x53580000-0x535fffff. */
enum msr_rc core_synth_rdmsr(CPUState *cs, uint32_t msr, uint64_t *val);
enum msr_rc core_synth_wrmsr(CPUState *cs, uint32_t msr, uint64_t val);
void core_clear_truth(CPUState *cs);		/* of all CPUs; exact for cs */
void core_power_on(CPUState *cs);		/* all that tests may set, for cs */
void core_stats_json(JSONWriter *w);		/* the member "core" */
bool core_uncore_pmi_enabled(CPUState *cs);	/* IA32_DEBUGCTL bit 13 */

/* ---- readings, see readings.c ---- */

unsigned int reading(enum reading r);		/* its answer, 0: the first */
bool reading_set(unsigned int r, uint64_t answer);	/* false: no such */
void readings_power_on(void);
void readings_setup(const char *text);		/* NAME=ANSWER,..., or NULL; exits if there is no such */

/* ---- traffic, see traffic.c ---- */

void traffic_setup(const char *path);		/* a file, or NULL; exits if it is wrong */

/* ---- services ---- */

int64_t silicon_now_ns(void);

/*
 * With -icount the virtual clock may be read by the last instruction of a
 * translation block only. Not there: the block is translated again and run
 * up to here, and this does not return. Call before the first side effect.
 */
void silicon_at_io(CPUState *cs, uintptr_t ra);

/* Delivery through LVTPC: honours and sets its mask, honours its mode. */
void silicon_pmi(CPUState *cs);			/* of the core PMU */
void apic_uncore_pmi(unsigned int package, unsigned int core_mask);
uint64_t apic_stat(unsigned int package, unsigned int what);	/* SYN_PMI_* */
uint64_t apic_cpu_stat(CPUState *cs, unsigned int what);
void apic_count(unsigned int package, unsigned int what);
void apic_clear_stats(void);
void apic_clear_faults(void);
void apic_reset(unsigned int package);		/* its PMIs on their way are gone */
uint64_t *apic_fault(uint32_t msr);		/* SYN_FAULT_*, NULL: no such */
bool apic_debugctl_stuck(void);			/* IA32_DEBUGCTL bit 13 stays 0 */
void apic_debugctl_written(CPUState *cs);
void apic_nmi_begin(CPUState *cs);		/* clock readable */
void apic_nmi_access(CPUState *cs);		/* to an uncore register, maybe in an NMI */
void apic_nmi_end(CPUState *cs);		/* its IRET; likewise */
void apic_stats_json(JSONWriter *w);		/* the member "pmi" */

/* SYN_NMI and SYN_NMI_REASON */
void nmi_send(CPUState *cs, uint64_t after_ns);
uint64_t nmi_reason(void);
void nmi_set_reason(uint64_t val);

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

/* ---- statistics ---- */

unsigned int stats_range(CPUState *cs, uint32_t msr);	/* SYN_RANGE_* */
/* One access done; rc is what became of it. */
void stats_access(CPUState *cs, uint32_t msr, bool write, uint64_t val, enum msr_rc rc);
void stats_rdpmc(CPUState *cs, uint32_t index, uint64_t val, bool gp);
uint64_t stats_get(CPUState *cs, unsigned int range, bool write);	/* cs NULL: all */
void stats_clear(void);
void stats_setup(const char *trace_path, const char *path);	/* or NULL */

#endif
