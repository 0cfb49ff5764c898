/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Other owners of the uncore's registers: what they leave behind, what the driver
 * leaves behind, and what it says of them.
 */
#ifndef SELFTESTS_FOREIGN_H
#define SELFTESTS_FOREIGN_H

#include "module.h"
#include "silicon.h"

#define PACKAGE		"xeon7500_package"

static const char * const boxes[] = {
	"xeon7500_ubox", "xeon7500_wbox",
	"xeon7500_cbox_0", "xeon7500_cbox_1", "xeon7500_cbox_2", "xeon7500_cbox_3",
	"xeon7500_cbox_4", "xeon7500_cbox_5", "xeon7500_cbox_6", "xeon7500_cbox_7",
	"xeon7500_sbox_0", "xeon7500_sbox_1", "xeon7500_bbox_0", "xeon7500_bbox_1",
	"xeon7500_mbox_0", "xeon7500_mbox_1", "xeon7500_rbox_0", "xeon7500_rbox_1",
};

#define BOXES	(int)ARRAY_SIZE(boxes)

/* GLOBAL_CTL of a box; STATUS and OVF_CTL follow. The U-Box has none of its own. */
unsigned int box_ctl(const char *pmu);

/* The place of a counter in GLOBAL_CTL and STATUS of its box. */
u64 counter_bit(const char *pmu, unsigned int ctr);

void check_clean(int cpu, const char *when);

/* Nothing can run and no overflow is pending. */
void check_stopped(int cpu, const char *when);

/* A stranger who tidies up: everything is as foreign_leftovers() wants it. */
void foreign_clean(int cpu);

/*
 * A stranger whose counter has wrapped: the bits of it stay in STATUS and above. Nothing
 * is enabled any more.
 */
void foreign_overflow(int cpu, const char *pmu, unsigned int ctr, u64 event);

/* A number that the driver shows in the package's caps; -1 if there is none. */
long long package_caps(const char *name);

long long foreign_writes(void);

/* Does it say "untested", "yes", "no" or "off"? */
void check_caps_pmi(const char *when, const char *want);

void module_unload(void);

/* @parameters: "pmi=off" or "". */
void module_load(const char *parameters);

#endif /* SELFTESTS_FOREIGN_H */
