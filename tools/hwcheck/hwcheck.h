/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hwcheck: finds out on a real Xeon 7500 or E7 what no manual settles, see
 * Documentation/hwcheck.md.
 *
 *	main.c		who may run it and where, the order of things, the report
 *	msr.c		registers: access that survives #GP, putting all of them back
 *	count.c		experiments that need no interrupt
 *	pmi.c		those that do, with hwcheck_nmi.ko
 */
#ifndef HWCHECK_H
#define HWCHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum level { LEVEL_NONE, LEVEL_READ, LEVEL_COUNT, LEVEL_PMI };

/* Rules of the manual that an experiment breaks on purpose, because it has to. */
enum {
	BREAKS_READ_ONLY = 1,	/* writes a field the manual calls read-only */
	BREAKS_RST_ALL = 2,	/* counts, or writes a counter, while rst_all is 1 */
	BREAKS_LOCKED = 4,	/* writes a match register while matching is on */
	BREAKS_UNDEFINED = 8,	/* selects what the manual calls undefined */
};

struct experiment {
	const char *name;	/* of the reading in spec/readings.json */
	enum level level;
	bool x7500, e7;		/* where there is this doubt */
	unsigned int breaks;
	const char *touches;	/* besides U_MSR_PMON_GLOBAL_CTL and OVF_CTL */
	void (*run)(void);
};

extern const struct experiment experiments[];
extern const unsigned int num_experiments;

/* The machine. */
extern bool machine_e7;
extern int package_cpu;		/* the CPU all accesses are made on */

/* ---- an experiment says how it went; both end it ---- */
void __attribute__((noreturn, format(printf, 2, 3))) answer(const char *what, const char *evidence,
							    ...);
void __attribute__((noreturn, format(printf, 1, 2))) undetermined(const char *why, ...);
/* What another one has found on this package, or NULL. */
const char *found(const char *name);

/* ---- registers of the package; #GP ends the experiment undetermined ---- */
uint64_t rd(uint32_t msr);
void wr(uint32_t msr, uint64_t val);
bool try_rd(int cpu, uint32_t msr, uint64_t *val);
bool try_wr(int cpu, uint32_t msr, uint64_t val);

unsigned int registers_readable(unsigned int *all);
const char *other_owner(void);	/* what another owner has enabled, or NULL */
void save(void);
const char *restore(void);	/* what could not be put back, or NULL */

void wait_us(unsigned int us);

/* ---- registers, Intel 323535-001 ---- */
#define U_CTL		0xc00
#define U_STATUS	0xc01
#define U_OVF		0xc02
#define U_SEL		0xc10
#define U_CORE_SEL(m)	((uint64_t)(m) << 1)
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
#define EN_LOW		(1ull << 0)	/* B, M, R */

#define C0		0xd00
#define S0		0xc40
#define S1		0xcc0
#define W		0xc80
#define W_FIXED		0x394
#define W_FIXED_CTL	0x395
#define W_FIXED_BIT	(1ull << 31)
#define M48		((1ull << 48) - 1)

#define INVERT		(1ull << 23)
#define THRESH(n)	((uint64_t)(n) << 24)
/* Of the W-Box; no event adds 255 in a clock. */
#define W_CLOCKS	(0x04ull | 1ull << 8 | INVERT | THRESH(255))

/* Counter 0 of an S-Box counts clocks and overflows after n; undetermined if it cannot. */
void arm(uint32_t box, unsigned int n, uint64_t pmi_en);
/*
 * Let the package run for a while, and with it the fixed counter of the W-Box, which counts the
 * clocks; returns how many. Of the W-Box's event counters those of the mask are enabled.
 */
uint64_t count_for(unsigned int us, uint64_t w_counters);
/* Let the package run until that has happened, with these bits besides; false: it did not. */
bool overflow(uint32_t box, uint64_t u_ctl);
/* Clear all that can be up: of the two S-Boxes and of the U-Box. */
void clear_all(void);

/* pmi.c */
extern const struct experiment pmi_experiments[];
extern const unsigned int num_pmi_experiments;
const char *nmi_module_missing(void);
void pmi_end(void);	/* after each of them */

#endif
