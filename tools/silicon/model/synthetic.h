/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Synthetic MSRs: the window through which a test inside the guest sees what
 * the model knows, and sets what the model does. Plain #defines, so that any
 * C program can include it. Reached with the stock msr driver:
 *
 *	int fd = open("/dev/cpu/0/msr", O_RDWR);
 *	uint64_t v;
 *	pread(fd, &v, 8, SYN_TRUTH(SYN_EVENTS, 0xd11));
 *
 * Boot with msr.allow_writes=on where a test writes. "The package" is that of
 * the CPU the access is made on. Synthetic accesses are not counted in the
 * access statistics, change no counter and cause no violation. An address in
 * 0x53500000-0x535fffff that means nothing reads 0 and ignores writes.
 *
 * Recipes
 *	Is a counter right?	SYN_CLEAR, run, stop, compare the change of the
 *				counter with SYN_TRUTH(SYN_EVENTS, msr).
 *	How many accesses?	SYN_CLEAR, run, SYN_ACCESS_ALL(SYN_RANGE_UNCORE, w).
 *	A rate of one's own:	SYN_TRAFFIC_SEL = what, SYN_TRAFFIC_SET = pattern.
 */
#ifndef SYNTHETIC_H
#define SYNTHETIC_H

#include "readings.h"

/* ---- the model itself ---- */
#define SYN_BASE		0x53500000u
#define SYN_ID			0x53500000u	/* r: SYN_MAGIC */
#define SYN_MAGIC		0x37353030784e4255ull
#define SYN_CLEAR		0x53500001u	/* w: zero all statistics, any value */
#define SYN_INSNS		0x53500002u	/* r: guest instructions, 0 without -icount */
#define SYN_CYCLES		0x53500003u	/* r: uncore cycles since power on */
#define SYN_NS			0x53500004u	/* r: virtual time, ns */
#define SYN_HZ_NUM		0x53500005u	/* r: uncore cycle = ns * NUM / DEN */
#define SYN_HZ_DEN		0x53500006u
#define SYN_TSC_KHZ		0x53500014u	/* r: time stamp counter = ns * kHz / 10^6 */
#define SYN_PACKAGE		0x53500007u	/* r: package number of this CPU */
#define SYN_CORE		0x53500008u	/* r: core number, the bit of pmi_core_sel */
#define SYN_THREAD		0x53500009u	/* r: thread number in the core */
#define SYN_FREEZE_LATENCY	0x5350000au	/* rw: cycles from overflow to en_all = 0 */
#define SYN_FREEZES		0x5350000bu	/* r: freezes of the package */
#define SYN_FROZEN_CYCLES	0x5350000cu	/* r: cycles from freeze to the next en_all = 1 */
#define SYN_ABSENT		0x5350000du	/* rw: boxes of the package that are not there: #GP */
#define SYN_RESET		0x5350000eu	/* w: as at power on, see below */
#define SYN_GP			0x5350000fu	/* rw: a register of the package that is broken */
#define SYN_GP_READ(msr)	(1ull << 16 | (msr))	/* #GP when it is read */
#define SYN_GP_WRITE(msr)	(1ull << 17 | (msr))
#define SYN_GP_SET(msr, bit)	(1ull << 18 | (bit) << 24 | (msr)) /* when this bit is set */
#define SYN_NMI			0x53500011u	/* w: this CPU gets an NMI from nowhere, N ns later */
#define SYN_NMI_REASON		0x53500012u	/* rw: at port 0x61, until software clears it there */
#define SYN_NMI_SERR		0x80u
#define SYN_NMI_IOCHK		0x40u
#define SYN_UNCOUNTED		0x53500013u	/* rw: an event that is in no truth, see below */
#define SYN_ABSENT_READS_0	0x53500015u	/* rw: 1: those read 0 and ignore writes: no #GP */
/* SYN_BOX_*; C-Boxes 8 and 9 are where an eighth kind of box would be. */
#define SYN_ABSENT_BOX(box, instance) \
	(1ull << ((instance) < 8 ? (box) * 8 + (instance) : 48u + (instance)))

/*
 * SYN_RESET makes everything here what it was at power on: all that a test can set for
 * the machine, the package and this CPU, the statistics, and the uncore registers of the
 * package. The core PMU's registers are the kernel's and stay. To be written on each CPU,
 * with no driver of the uncore loaded.
 */

/*
 * What no source settles, of the whole machine; see spec/readings.json and readings.h. rw:
 * which of the answers it is, 0: the first. At power on it is as tools/vm/run --reading says.
 * An event select that is enabled goes on as it was until it is written again.
 */
#define SYN_READING(reading)	(0x53535000u | (reading))

/*
 * SYN_UNCOUNTED: the contents of a control register, less its enable and PMI bits, event, invert and
 * umask. What counters count that have it is in no truth and no statistic of PMIs: a driver
 * may let counters of several boxes overflow for purposes of its own. 0: there are none.
 */
#define SYN_UNCOUNTED_ANY	0x80ffffu	/* event, umask and invert of C-, S- and W-Box */

/*
 * ---- truth of a counter of the package ----
 * Counter MSR addresses as in the hardware, 0x394 for the W fixed counter.
 * All since SYN_CLEAR. Truth is what happened, whatever the counter made of it:
 * it does not wrap, ignores what software wrote into the counter, goes up when
 * an M-Box counter counts down, and has no part in a stale S-Box sub-counter.
 */
#define SYN_TRUTH(what, msr)	(0x53510000u | (what) << 12 | (msr))
#define SYN_EVENTS		0u	/* events inside enabled windows */
#define SYN_OPENED		1u	/* cycle the last window opened */
#define SYN_CLOSED		2u	/* cycle it closed, 0 = still open */
#define SYN_OVERFLOWS		3u
#define SYN_WINDOWS		4u	/* windows opened */
#define SYN_ENABLED		5u	/* cycles enabled in all */
#define SYN_SKIPPED		6u	/* overflows whose status bit was already set */
#define SYN_DUE			7u	/* when the next overflow will be, ns as SYN_NS, if nothing
					 * changes; 0 = never */

/* ---- accesses, by range: of this CPU, and of all CPUs ---- */
#define SYN_ACCESS(range, write)	(0x53520000u | (range) << 4 | (write))
#define SYN_ACCESS_ALL(range, write)	(0x53521000u | (range) << 4 | (write))
#define SYN_RANGE_UNCORE	0u	/* sum of the boxes and of holes */
#define SYN_RANGE_COREPMU	1u
#define SYN_RANGE_OTHER		6u
#define SYN_RANGE_BOX(box)	(8u + (box))	/* SYN_BOX_* */
#define SYN_RANGE_HOLE		15u	/* uncore addresses with no register */
#define SYN_RANGE_GP		16u	/* accesses answered by #GP, all ranges */
#define SYN_RANGE_RDPMC		17u	/* reads only */

/* ---- box types ---- */
#define SYN_BOX_U		0u
#define SYN_BOX_C		1u
#define SYN_BOX_W		2u
#define SYN_BOX_S		3u
#define SYN_BOX_B		4u
#define SYN_BOX_M		5u
#define SYN_BOX_R		6u	/* instance 0 left, 1 right */

/* ---- violations of documented rules: total, then one per kind ---- */
#define SYN_VIOLATIONS		0x53530000u
#define SYN_VIOLATION(kind)	(0x53530001u + (kind))
#define SYN_V_RESERVED		0u	/* 1 written to a bit that must be 0, or beyond the register */
#define SYN_V_READ_ONLY		1u	/* 1 written to a read-only field of a writable register */
#define SYN_V_NO_REGISTER	2u	/* uncore address with no register (also #GP) */
#define SYN_V_ACCESS		3u	/* write-only read or read-only written (also #GP) */
#define SYN_V_EV_SEL		4u	/* enabled with an event code no list has */
#define SYN_V_UMASK		5u	/* enabled with a unit mask bit the event lacks */
#define SYN_V_UNDEFINED		6u	/* enabled with a choice whose result is undefined */
#define SYN_V_COUNTER		7u	/* event not available on this counter */
#define SYN_V_START_VALUE	8u	/* W: start value low bits 0xfffffe or 0xffffff */
#define SYN_V_RST_ALL		9u	/* counter written or en_all set while rst_all is 1 */
#define SYN_V_OCCUPANCY		10u	/* S: occupancy enabled without reset_occ_cnt */
#define SYN_V_LOCKED		11u	/* match or mask written while matching is on */
#define SYN_V_SUBREG		12u	/* sub-register changed under a running counter */
#define SYN_V_CORE		13u	/* core PMU, see the core's part */
#define SYN_V_KINDS		14u

/* ---- PMI statistics: of the package (all uncore), then of this CPU ---- */
#define SYN_PMI(what)		(0x53531000u + (what))
#define SYN_PMI_REQUESTED	0u	/* overflows with pmi_en whose ov bit was clear */
#define SYN_PMI_SKIPPED		1u	/* overflows with pmi_en whose ov bit was still set */
#define SYN_PMI_NO_CORE		2u	/* requests while pmi_core_sel named no present core */
#define SYN_PMI_LOST		3u	/* swallowed by fault injection */
#define SYN_PMI_DOUBLED		4u
#define SYN_PMI_DELAYED		5u
#define SYN_PMI_MISROUTED	6u
#define SYN_PMI_REFREEZE	7u	/* freezes refused: last cause not cleared */
#define SYN_PMI_NO_EDGE		8u	/* with summary_clear=or: no request, the bit in the U-Box was up */
#define SYN_PMI_CPU(what)	(0x53531100u + (what))
#define SYN_PMI_SENT		0u	/* uncore PMIs delivered to this CPU */
#define SYN_PMI_MASKED		1u	/* dropped: LVTPC masked or local APIC off */
#define SYN_PMI_NO_DEBUGCTL	2u	/* dropped: IA32_DEBUGCTL bit 13 clear */
#define SYN_PMI_CORE_SENT	3u	/* PMIs of the core PMU, likewise */
#define SYN_PMI_CORE_MASKED	4u
/*
 * The longest NMI of this CPU since SYN_CLEAR, from its delivery to the first IRET after it:
 * accesses to uncore registers, and guest instructions (0 without -icount; those of all CPUs, so
 * let the others be idle). An NMI that comes right after another one is one of its own.
 */
#define SYN_PMI_NMI_ACCESSES	5u
#define SYN_PMI_NMI_INSNS	6u
#define SYN_PMI_NMIS		7u	/* NMIs from whatever source that were handled */

/*
 * ---- fault injection (machine wide), rw; counts down to 0 as it is used ----
 */
#define SYN_FAULT_LOSE		0x53532000u	/* swallow the next N uncore PMIs */
#define SYN_FAULT_DOUBLE	0x53532001u	/* send the next N a second time, 10 us later */
#define SYN_FAULT_DELAY_NS	0x53532002u	/* deliver all N ns late, until set to 0 */
#define SYN_FAULT_SIBLING	0x53532003u	/* send the next N to the wrong thread or core */
#define SYN_FAULT_DEBUGCTL	0x53532004u	/* 1: IA32_DEBUGCTL bit 13 cannot be set */
#define SYN_FAULT_DEBUGCTL_GP	0x53532005u	/* the Nth access to IA32_DEBUGCTL answers #GP */
#define SYN_FAULT_LAST		SYN_FAULT_DEBUGCTL_GP

/*
 * ---- packets ----
 * Fill HEADER and ADDR, then write the number of such packets to SEND: they
 * pass at this very moment, one after the other with idle cycles in between,
 * on top of the traffic there is anyway. What counts them:
 *	B	the B-Box match events, by direction
 *	S	TO_R_PROG_EV of the S-Box
 *	R	the match sets of that port (instance = port 0-7)
 *	M	DRAM_CMD: opcode = command, vn = scheduler mode, addr = byte address
 */
#define SYN_PKT_HEADER		0x53533000u	/* rw */
#define SYN_PKT_ADDR		0x53533001u	/* rw: byte address, 6 low bits unused but in M */
#define SYN_PKT_SEND		0x53533002u	/* w: how many */
#define SYN_PKT_BOX(box)	((box) & 0xfull)
#define SYN_PKT_INSTANCE(n)	(((n) & 0xfull) << 4)
#define SYN_PKT_CLASS(mc)	(((mc) & 0xfull) << 8)
#define SYN_PKT_OPCODE(op)	(((op) & 0x1full) << 12)
#define SYN_PKT_VN(vn)		(((vn) & 3ull) << 17)	/* 0 VN0, 1 VN1, 2 VNA */
#define SYN_PKT_RDS(rds)	(((rds) & 0xfull) << 19)	/* response data state: 8 M 4 E 2 S 1 F 0 I */
#define SYN_PKT_HNID(n)		(((n) & 0x1full) << 23)	/* home node */
#define SYN_PKT_RNID(n)		(((n) & 0x1full) << 28)	/* remote node */
#define SYN_PKT_DNID(n)		(((n) & 0x1full) << 33)	/* destination node */
#define SYN_PKT_OUT		(1ull << 38)	/* B: outgoing, else incoming */
#define SYN_PKT_FLITS(n)	(((n) & 0xfull) << 39)	/* R: 0 = what class and opcode imply */

/*
 * S_MSR_MATCH: the guide's table is lost. The model's own layout, to be able
 * to match at all; do not take it for the hardware's. A zero field is not
 * compared. Address and home node follow the S_MSR_MASK table.
 */
#define SYN_S_MATCH_ADDR(a)	(((a) >> 6) & 0x3fffffffffull)	/* 37:0 = address 43:6 */
#define SYN_S_MATCH_HNID(n)	(((n) & 0x1full) << 38)		/* 42:38 */
#define SYN_S_MATCH_CLASS(mc)	((0x10ull | ((mc) & 0xf)) << 43)	/* 47 valid, 46:43 class */
#define SYN_S_MATCH_OPCODE(op)	((0x10ull | ((op) & 0xf)) << 48)	/* 52 valid, 51:48 opcode */
#define SYN_S_MATCH_RESP(rds)	(((rds) & 0xfull) << 59)	/* 62:59 any of these states */

/*
 * ---- traffic ----
 * Every event has a pattern of increments per cycle that repeats. By default it shows
 * a part of what its box does, or follows from a hash of package, box, event and unit
 * mask bit, see Documentation/silicon.md. To set one:
 * write SEL, then SET. The pattern adds INC in cycles [phase, phase + active)
 * of each period of 2^log2 cycles, 0 in the others, and is cut to what the
 * event can add per cycle. It applies from now on, also to running counters.
 * Codes: U, C, S, W: ev_sel, with one unit mask bit (SYN_ANY when the event
 * has none). B, M and R: SYN_CODE_*; R has the port (0-7) for an instance. Sub-counted
 * events (B IMT and TF, R EOT_OCCUPANCY) take the pattern of what is summed up.
 * Packets are not events; see SYN_TRAFFIC_MIX and above.
 */
#define SYN_TRAFFIC_SEL		0x53540000u	/* rw */
#define SYN_TRAFFIC_SET		0x53540001u	/* w */
#define SYN_TRAFFIC_RESET	0x53540002u	/* w: back to the default patterns and packets */
#define SYN_TRAFFIC_MIX		0x53540003u	/* w: 0 no default packets, 1 the default mix */
#define SYN_ANY			0xffull		/* any instance (4 bits used), bit, or none */
#define SYN_ANY_CODE		0xffffull
#define SYN_SEL(box, instance, code, bit) \
	((unsigned long long)(code) | ((bit) & 0xffull) << 16 | \
	 ((instance) & 0xfull) << 24 | ((unsigned long long)(box) & 0xf) << 28)
#define SYN_PATTERN(log2, phase, active, inc) \
	((unsigned long long)(log2) | (unsigned long long)(phase) << 16 | \
	 (unsigned long long)(active) << 32 | (unsigned long long)(inc) << 48)
#define SYN_PATTERN_MAX_LOG2	12

#define SYN_CODE_B(counter, ev_sel)	((counter) << 8 | (ev_sel))
/*
 * M-Box, with a detail as the bit where there is one:
 *	DSP_FILL, CYCLES_DSP_FILL	0-3: bit of DSP[10:7]
 *	THERM_TRP_*	condition | DIMM << 2, DIMM 0 = all, else 1 + dimm_sel
 *	FRM_TYPE	ISS[3:0]
 *	RETRIES		0: all, 0x40 | fvid: of one; DRAM_MISC likewise, 0x80 | PLD[18:16]: others
 *	FVC		bcmd of event 5, resp of event 6
 *	PGT_PAGE_EV, PGT_PAGE_EV2, ISS_SCHED, CYCLES_PGT_STATE, CYCLES_SCHED_MODE
 *			value of the field
 *	BCMD_SCHEDQ_OCCUPANCY	command; SYN_CODE_M_BCMD(fvid) is the code
 */
#define SYN_CODE_M(inc_sel)		(inc_sel)
#define SYN_CODE_M_FLAG(set_flag_sel)	(0x100u | (set_flag_sel))
#define SYN_CODE_M_BCMD(fvid)		(0x106u | (fvid) << 10)
#define SYN_CODE_M_FVC(evnt)		(0x200u | (evnt))
/* R-Box; class: bit of NEW_PC, vn: 0 VN0, 1 VN1, 2 VNA; EOT class as in MC. */
#define SYN_CODE_R_NEW(class, vn)	((class) << 2 | (vn))
#define SYN_CODE_R_IPERF(bit)		(0x100u | (bit))
#define SYN_CODE_R_EOT(class)		(0x200u | (class))
#define SYN_CODE_R_QLX(field)		(0x300u | (field))	/* all 8 bits of it */

/*
 * ---- the core PMU of the CPU the access is made on ----
 * See Documentation/silicon-core.md for what is modelled and what stands in.
 */
#define SYN_CORE_BASE		0x53580000u
#define SYN_CORE_GP(n)		(n)
#define SYN_CORE_FIXED(n)	(0x20u + (n))
#define SYN_CORE_TRUTH(what, counter) (0x53580000u | (what) << 8 | (counter))
#define SYN_CORE_EVENTS		0u	/* while running, whatever was written to the counter */
#define SYN_CORE_OVERFLOWS	1u
#define SYN_CORE_WINDOWS	2u	/* times it began to run */
#define SYN_CORE_RECORDS	3u	/* PEBS records written for it */
#define SYN_CORE_LOST		4u	/* overflows with PEBS on that made no record */
#define SYN_CORE_PMIS		5u	/* PMIs for its overflow (PEBS asks for none) */

#define SYN_CORE_STAT(what)	(0x53581000u | (what))
#define SYN_CORE_S_RECORDS	0u	/* PEBS records written */
#define SYN_CORE_S_SKIDDED	1u	/* of those: not about the instruction of the overflow */
#define SYN_CORE_S_LOST_FULL	2u	/* records lost: no room below the absolute maximum */
#define SYN_CORE_S_LOST_BOUNDS	3u	/* ... index outside the buffer */
#define SYN_CORE_S_LOST_STOP	4u	/* ... counter or PEBS stopped before the record was made */
#define SYN_CORE_S_LOST_DS	5u	/* ... DS area or buffer not mapped */
#define SYN_CORE_S_PMI_COUNTER	6u	/* PMIs for the overflow of a counter */
#define SYN_CORE_S_PMI_BUFFER	7u	/* ... index has reached the threshold */
#define SYN_CORE_S_PMI_BOUNDS	8u	/* ... index outside the buffer (Goldmont) */
#define SYN_CORE_S_V_WRITE	9u	/* violations: select or counter written with PEBS on */
#define SYN_CORE_S_V_PDIR	10u	/* ... PDIR beside other programmable counters */
#define SYN_CORE_S_OFFCORE_ZERO	11u	/* counters started on an offcore value that only counts 0 */
#define SYN_CORE_S_INSNS	12u	/* instructions retired while any counter looked */
#define SYN_CORE_S_CYCLES	13u	/* core cycles not halted, since power on */
#define SYN_CORE_S_MHZ		14u	/* core cycles per microsecond */
#define SYN_CORE_S_ORPHANED	15u	/* records in the buffer when fault injection moved the index */
#define SYN_CORE_STATS		16u

/* Levels. Retired loads served, and PEBS records of memory events, by level. */
#define SYN_CORE_SERVED(level)	(0x53582000u | (level))
#define SYN_CORE_SAMPLED(level)	(0x53582010u | (level))
#define SYN_LEVEL_NONE		0u	/* nobody asked, device memory */
#define SYN_LEVEL_L1		1u
#define SYN_LEVEL_FILL		2u	/* the line was on its way already */
#define SYN_LEVEL_L2		3u
#define SYN_LEVEL_L3		4u	/* not on Goldmont */
#define SYN_LEVEL_HITM		5u	/* modified in another core */
#define SYN_LEVEL_DRAM		6u
#define SYN_LEVELS		7u

/* ---- core PMU: what a test may set, on each CPU for itself ---- */
#define SYN_CORE_SKID		0x53583000u	/* rw: instructions of skid without reduced skid */
/* w: fault injection, moves the index of the DS area */
#define SYN_PEBS_INDEX		0x53583001u
#define SYN_PEBS_INDEX_BELOW	0u	/* one record below the base */
#define SYN_PEBS_INDEX_ABOVE	1u	/* one record above the absolute maximum */
#define SYN_PEBS_INDEX_FULL	2u	/* at the absolute maximum: no room */
/* rw: fault injection, interrupts come so many ns late; with --icount, instructions */
#define SYN_CORE_PMI_LATE	0x53583002u
/*
 * Who serves a load. CACHES: see Documentation/silicon-core.md. MAP: nibble
 * (linear address >> SHIFT) & 15 of MAP is the level, always.
 */
#define SYN_MEM_MODE		0x53583010u	/* rw */
#define SYN_MEM_CACHES		0u
#define SYN_MEM_BY_ADDRESS	1u
#define SYN_MEM_SHIFT		0x53583011u	/* rw, 6 */
#define SYN_MEM_MAP		0x53583012u	/* rw, 0x6543216543216541 */
#define SYN_MEM_FILL		0x53583013u	/* rw: instructions a fill takes, CACHES only */
#define SYN_MEM_COLD		0x53583014u	/* w: empty caches and TLBs */
#define SYN_MEM_LATENCY(level)	(0x53583020u | (level))	/* rw: cycles of a load */
/*
 * Offcore traffic, by request bit of the response register: requests per 65536
 * core cycles, and cycles each of them is outstanding. Responses take shares of
 * 1/65536: on Goldmont one share for each of response bits 18, 33, 34, 36, 37;
 * on Sandy Bridge suppliers 17-22 and 30:23 as one, then snoops 31-37.
 */
/* Requests in 65536 cycles; at power on they follow the program. */
#define SYN_OFF_RATE(bit)	(0x53584000u | (bit))
#define SYN_OFF_FOLLOW		(~0ull)
#define SYN_OFF_LATENCY(bit)	(0x53584010u | (bit))
#define SYN_OFF_SHARE(n)	(0x53584020u | (n))	/* r */
/* Another rate for an event that has no real source, on all CPUs. */
#define SYN_CORE_RATE_SEL	0x53585000u	/* rw: umask << 8 | code */
#define SYN_CORE_RATE_SET	0x53585001u	/* w: events per 65536 core cycles */

#endif
