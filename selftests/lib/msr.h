/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * MSRs through the stock msr driver, also the synthetic ones of the virtual
 * silicon (tools/silicon/model/synthetic.h). Ends the test case on failure.
 *
 * On any other machine no MSR is read or written from here: a case that comes to it is
 * skipped, unless it has seen by silicon_here() what it can do without.
 */
#ifndef SELFTESTS_MSR_H
#define SELFTESTS_MSR_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "ktap.h"
#include "registers.h"
#include "synthetic.h"

#define IA32_DEBUGCTL	0x1d9
#define UNCORE_PMI_EN	(1ull << 13)

/* Of U_GLOBAL_CTL */
#define U_EN		(1u << 0)
#define U_CORES(mask)	((unsigned int)(mask) << 1)
#define U_EN_ALL	(1u << 28)
#define U_RST_ALL	(1u << 29)
#define U_FRZ_ALL	(1u << 31)

/* The reason why not, or NULL if this is the virtual silicon. */
const char *silicon_missing(void);

bool silicon_here(void);

/* 0, or -1 if the CPU answered with #GP. */
int msr_try_read(int cpu, uint32_t msr, u64 *val);

int msr_try_write(int cpu, uint32_t msr, u64 val);

u64 msr_read(int cpu, uint32_t msr);

void msr_write(int cpu, uint32_t msr, u64 val);

#endif /* SELFTESTS_MSR_H */
