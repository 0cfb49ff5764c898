/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hwcheck: finds out on a real Xeon 7500 or E7 what no manual settles, see
 * Documentation/hwcheck.md.
 *
 *	main.c		options, who may run it and where, the order of things
 *	guard.c		two processes: one experiments, the other restores what that one leaves
 *	msr.c		registers: access, which ones an experiment may write, putting them back
 *	report.c	the journal, the report, what the owner is told
 *	count.c		experiments that need no interrupt
 *	pmi.c		those that do, with hwcheck_nmi.ko
 */
#ifndef HWCHECK_H
#define HWCHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

typedef unsigned long long u64;
typedef uint32_t u32;

enum level { LEVEL_NONE, LEVEL_READ, LEVEL_COUNT, LEVEL_PMI };

/* What an experiment may write, see the table in msr.c; all may let the package count. */
enum {
	MAY_C0 = 1, MAY_C_ALL = 2, MAY_S0 = 4, MAY_S1 = 8, MAY_W = 0x10, MAY_B0 = 0x20,
	MAY_S0_MATCH = 0x40, MAY_M0 = 0x80, MAY_R0 = 0x100, MAY_U_SEL = 0x200, MAY_STATUS = 0x400,
	MAY_RST = 0x800,	/* rst_all */
	MAY_PMI_EN = 0x1000,	/* pmi_en and frz_all, with no core selected */
	MAY_PMI = 0x2000,	/* and with cores selected */
};

struct experiment {
	const char *name;	/* of the reading in spec/readings.json */
	enum level level;
	enum { BOTH, X7500, E7 } of;	/* where there is this doubt */
	unsigned int may;
	const char *breaks;	/* the manual's rule that it has to break, or NULL */
	const char *needs;	/* another one, whose answer it uses; or NULL */
	void (*run)(void);
};

extern const struct experiment experiments[], *current;	/* current: the one that runs */
extern const unsigned int num_experiments;

/* ---- the machine ---- */
#define PACKAGES_MAX	32
#define PACKAGE_CPUS	64
#define REGISTERS_MAX	400
#define EXPERIMENTS_MAX	48

struct package {
	int id;
	unsigned int num_cpus, num_saved;
	int cpu[PACKAGE_CPUS], core[PACKAGE_CPUS], apic[PACKAGE_CPUS];
	struct { u32 msr; u64 val; } saved[REGISTERS_MAX];
};

extern struct package packages[PACKAGES_MAX], *pkg;	/* pkg: the one that is looked at */
extern unsigned int num_packages;
extern bool machine_e7;

/* ---- an experiment says how it went, which ends it ---- */
struct result {
	enum { NOT_RUN, UNDETERMINED, ANSWERED } state;
	char what[24];
	char evidence[512];
};

/* One of the reading's answers, or NULL: what was seen fits none. */
void __attribute__((noreturn, format(printf, 2, 3))) answer(const char *what, const char *evidence,
							    ...);
#define undetermined(...)	answer(NULL, __VA_ARGS__)
/* What another one has found on this package, or NULL. */
const char *found(const char *name);

/* ---- registers of the package; what cannot be accessed ends the experiment undetermined ---- */
u64 rd(u32 msr);
void wr(u32 msr, u64 val);
bool try_wr(u32 msr, u64 val);	/* false: #GP */
void show_writes(FILE *f, const struct experiment *e);	/* every register and its bits */
/* All that are up, of the boxes that it may write. */
void clear_overflows(const struct package *p, const struct experiment *e);

/* 0 or an errno; EIO is #GP. By way of any CPU of the package that is online. */
int read_msr(const struct package *p, u32 msr, u64 *val);
int read_msr_of(int cpu, u32 msr, u64 *val);
const char *write_refused(const struct package *p);	/* why the kernel lets none be written */

unsigned int save(struct package *p);		/* how many cannot be read */
u64 saved(const struct package *p, u32 msr);	/* 0: it cannot be read */
const char *other_owner(const struct package *p);	/* what it has enabled, or NULL */
/*
 * Puts back what the experiment may have written, and nothing else. Returns what could not be, or
 * NULL.
 */
const char *restore(const struct package *p, const struct experiment *e);

void wait_us(unsigned int us);
double seconds(void);	/* of a clock that does not jump */

/* ---- registers, Intel 323535-001 ---- */
#define U_CTL		0xc00
#define U_STATUS	0xc01
#define U_OVF		0xc02
#define U_SEL		0xc10
#define U_CORE_SEL(m)	((u64)(m) << 1)
#define U_EN_ALL	(1ull << 28)
#define U_RST_ALL	(1ull << 29)
#define U_FRZ_ALL	(1ull << 31)
#define U_COND		(1ull << 31)
#define U_PMI		(1ull << 30)
#define U_OV_S0		(1ull << 3)
#define U_OV_S1		(1ull << 2)
#define U_OV_ALL	0xfull

#define STATUS		1
#define OVF		2
#define SEL(n)		(0x10 + 2 * (n))
#define CTR(n)		(0x11 + 2 * (n))

#define EN		(1ull << 22)	/* U, C, S, W */
#define PMI_EN		(1ull << 20)
#define EN_LOW		1ull		/* B, M, R */
#define INVERT		(1ull << 23)
#define THRESH(n)	((u64)(n) << 24)
#define MM_EN		(1ull << 63)
#define M48		((1ull << 48) - 1)

#define C0		0xd00
#define S0		0xc40
#define S0_MM_CFG	0xe48
#define S0_MATCH	0xe49
#define S0_MASK		0xe4a
#define S_RESET_OCC	(1ull << 17)
#define S1		0xcc0
#define W		0xc80
#define W_CLOCKS	(0x04ull | 1ull << 8)	/* an event that adds less than 255 in each */
#define W_FIXED		0x394
#define W_FIXED_CTL	0x395
#define W_FIXED_BIT	(1ull << 31)
/* A counter whose low 24 bits are 0 or 1 may read this much too high. */
#define W_EXCESS	(1ull << 24)
#define B0		0xc20
#define B0_MATCH	0xe45
#define B0_MASK		0xe46
#define M0		0xca0
#define M0_MM_CFG	0xe54
#define M0_MATCH	0xe55
#define M0_MASK		0xe56
#define R0		0xe00
#define R0_IPERF0	0xe04
#define R0_IPERF1	0xe24
#define DEBUGCTL	0x1d9
#define DEBUGCTL_PMI	(1ull << 13)
#define CORE_OVF	0x390
#define CORE_OVF_UNCORE	(1ull << 61)

/* ---- main.c: what both processes share; SAVED is an image of it ---- */
struct shared {
	char head[32], boot[64];
	unsigned int lines, failures, done, wanted;
	char why[200];			/* the experiments ended early */
	unsigned int open_package, open;	/* 1 + experiment to be restored; 0: none */
	struct package packages[PACKAGES_MAX];
	struct result results[PACKAGES_MAX][EXPERIMENTS_MAX];
};

extern struct shared *shared;
extern enum level level;
bool wanted(const struct experiment *e);
int number(const char *name);		/* of an experiment; -1: none */
extern volatile int ended;	/* this process, or the one that it waits for, is told to end */
extern char options_given[256];	/* without names of files */
void run_all(void);
void line(bool ok, const char *text, const char *skip);

/* ---- guard.c ---- */
#ifndef SAVED
#define SAVED	"/run/hwcheck.saved"
#endif
/*
 * One hwcheck that writes, or several that read, as long as one of its processes lives. Why not, or
 * NULL.
 */
const char *guard_lock(bool reads, const char *busy);
void guard_unlock(void);	/* for a process that others need not wait for */
/* Why not here, or NULL; then SAVED has what was read, and signals wait for guard_run(). */
const char *guard_begin(void);
/* Runs run_all(), and restores what that leaves. Returns why it ended early, or NULL. */
const char *guard_run(double limit_s);
/* Restores the package of the open experiment. Returns what could not be restored, or NULL. */
const char *put_back(void);
int restore_from(const char *path);

/* ---- report.c ---- */
const char *report_open(const char *path);	/* what is wrong, or NULL */
void __attribute__((format(printf, 1, 2))) say(const char *text, ...);	/* stdout and journal */
/* On the disk, with all that the experiment may write. Returns why it is not, or NULL. */
const char *say_now(const struct experiment *e, const char *eta);
bool report_write(double seconds);
void report_drop(const char *path);	/* what is empty */
void read_line(const char *path, char *to, size_t size);
/* A reason, until four others. */
const char *__attribute__((format(printf, 1, 2))) because(const char *text, ...);

/* ---- of pmi.c, and what experiments have in common, of count.c ---- */
void debugctl_13(void);
void pmi_mask_0(void);
void pmi_no_debugctl(void);
void ovf_uncore(void);
void pmi_core_sel(void);
const char *nmi_module_missing(void);
const char *nmi_not_safe(void);	/* what an unknown NMI would do here, or NULL */
/* Takes a PMI that is pending. Returns what went wrong, or NULL, also without the module. */
const char *drain(const struct package *p);
/* A select with which counter 0 of an S-Box counts clocks; undetermined if none does. */
u64 s_clock(void);
/* Stop, and clear the overflows of all boxes that the experiment may write. */
void clear_all(void);

#endif
