/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * /dev/hwcheck_nmi: one ioctl is one armed run of a fixed sequence, from the first register written
 * to the last one put back. It cannot be interrupted, so no caller that dies leaves anything armed.
 *
 * Counter 0 of S-Box 0 overflows after HWCHECK_CLOCKS clocks, with pmi_en. Nothing but the choices
 * below comes from the caller.
 */
#ifndef HWCHECK_NMI_H
#define HWCHECK_NMI_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define HWCHECK_CPUS		64
#define HWCHECK_CLOCKS		2000
#define HWCHECK_WAIT_US		4000	/* for the overflow */
#define HWCHECK_LIMIT_US	10000	/* then no NMI is claimed, and the run fails: ETIME */

#define HWCHECK_LISTEN		1	/* IA32_DEBUGCTL bit 13 is 1 from the start */
#define HWCHECK_LATE		2	/* it is 0, and 1 after the overflow */
#define HWCHECK_DRAIN		4	/* no overflow: take what an earlier one has left pending */
#define HWCHECK_INVERT		8	/* the select that counts clocks has invert */

/* NMIs of one CPU */
struct hwcheck_cpu {
	__u32 cpu;
	__u32 ours;	/* claimed, at most one */
	__u32 late;	/* of these: after bit 13 was set late */
	__u32 core;	/* the core PMU's, or both at once; left to perf */
	__u32 other;	/* left to the kernel */
	__u32 ovf_uncore;	/* of ours: with bit 61 of IA32_PERF_GLOBAL_STATUS */
};

struct hwcheck_run {
	__u32 flags;
	__u32 cores;		/* pmi_core_sel, 8 bits */
	__u32 any_cpu;		/* of the package */
	/* what follows is returned */
	__u32 overflowed;
	__u32 listened;		/* CPUs whose bit 13 was as wanted */
	__u32 num_cpus;		/* of the package, that are online */
	struct hwcheck_cpu cpu[HWCHECK_CPUS];
};

#define HWCHECK_RUN	_IOWR('h', 0x75, struct hwcheck_run)

#endif
