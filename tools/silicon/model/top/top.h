/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the top floor want of each other.
 */
#ifndef TOP_H
#define TOP_H

#include "silicon.h"

/* synth.c */
static inline bool synth_owns(uint32_t msr)
{
	return (msr & 0xfff00000u) == SYN_BASE;
}

uint64_t synth_rdmsr(CPUState *cs, uint32_t msr);
void synth_wrmsr(CPUState *cs, uint32_t msr, uint64_t val);

/* report.c */
/* One access to a register of p done; rc is what became of it. */
void stats_access(CPUState *cs, const struct part *p, uint32_t msr, bool write, uint64_t val,
		  enum msr_rc rc);
void stats_rdpmc(CPUState *cs, uint32_t index, uint64_t val, bool gp);
uint64_t stats_get(CPUState *cs, unsigned int range, bool write);	/* cs NULL: all */
void stats_clear(void);
void stats_setup(const char *trace_path, const char *path);	/* or NULL */

/* traffic_file.c */
void traffic_setup(const char *path);		/* a file, or NULL; exits if it is wrong */

#endif
