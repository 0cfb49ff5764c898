/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which level of the memory hierarchy serves an access, and what else retired
 * memory uops are counted for.
 */
#ifndef MEM_H
#define MEM_H

#include "qemu/osdep.h"
#include "synthetic.h"

enum mem_level {
	LEVEL_NONE = SYN_LEVEL_NONE,	/* nobody asked, or device memory */
	LEVEL_L1 = SYN_LEVEL_L1,
	LEVEL_FILL = SYN_LEVEL_FILL,	/* the line was already on its way */
	LEVEL_L2 = SYN_LEVEL_L2,
	LEVEL_L3 = SYN_LEVEL_L3,
	LEVEL_HITM = SYN_LEVEL_HITM,	/* modified in another core */
	LEVEL_DRAM = SYN_LEVEL_DRAM,
	LEVELS = SYN_LEVELS
};

/* An event counts an access that has any of its bits. */
#define MEM_LOAD		(1u << 0)
#define MEM_STORE		(1u << 1)
#define MEM_LOAD_SPLIT		(1u << 2)	/* across a line */
#define MEM_STORE_SPLIT		(1u << 3)
#define MEM_LOAD_PAGE_SPLIT	(1u << 4)
#define MEM_STORE_PAGE_SPLIT	(1u << 5)
#define MEM_LOAD_DTLB		(1u << 6)
#define MEM_STORE_DTLB		(1u << 7)
#define MEM_LOAD_LOCK		(1u << 8)
#define MEM_UTLB		(1u << 9)
#define MEM_FORWARD		(1u << 10)	/* partly in a recent store */
#define MEM_4K_ALIAS		(1u << 11)
#define MEM_UNKNOWN		(1u << 12)	/* stored by the instruction before */
#define MEM_LLC_REF		(1u << 13)	/* of the last level: loads and stores */
#define MEM_LLC_MISS		(1u << 14)	/* of MEM_LLC_REF */
#define MEM_LATENCY		(1u << 15)	/* load at or above the threshold */
#define MEM_PRECISE_STORE	(1u << 16)
#define MEM_STORE_L2_HIT	(1u << 17)	/* not in the first level */
#define MEM_STORE_L2_MISS	(1u << 18)
#define MEM_STORE_L1_MISS	(MEM_STORE_L2_HIT | MEM_STORE_L2_MISS)
#define MEM_STORE_L3		(1u << 27)	/* of MEM_STORE_L2_MISS: where it was found */
#define MEM_STORE_HITM		(1u << 28)
#define MEM_STORE_DRAM		(1u << 29)
#define MEM_LOAD_AT(level)	(1u << (20 + (level)))
#define MEM_LEVELS		(((1u << LEVELS) - 1) << 20)
#define MEM_L1_MISS		(MEM_LOAD_AT(LEVEL_FILL) | MEM_L1_MISSED)
#define MEM_L1_MISSED		(MEM_LOAD_AT(LEVEL_L2) | MEM_L2_MISSED)
#define MEM_L2_MISSED		(MEM_LOAD_AT(LEVEL_L3) | MEM_LOAD_AT(LEVEL_HITM) | \
				 MEM_LOAD_AT(LEVEL_DRAM))
#define MEM_BLOCKED		(MEM_UTLB | MEM_FORWARD | MEM_4K_ALIAS | MEM_UNKNOWN)
#define MEM_NEED_CACHE		(MEM_LEVELS | MEM_LLC_REF | MEM_LLC_MISS | MEM_LATENCY | \
				 MEM_PRECISE_STORE | MEM_STORE_L1_MISS | MEM_STORE_L3 | \
				 MEM_STORE_HITM | MEM_STORE_DRAM)
#define MEM_NEED_TLB		(MEM_LOAD_DTLB | MEM_STORE_DTLB | MEM_UTLB | MEM_LATENCY | \
				 MEM_PRECISE_STORE)

struct mem_access {
	uint64_t va;
	uint64_t pa;
	bool cacheable;		/* pa is known and is memory */
	bool store, locked;
	unsigned int size;
	uint64_t seq;		/* of the instruction */
	uint64_t space;		/* page table, tells address spaces apart */
	uint32_t threshold;	/* of load latency */
};

struct mem_result {
	enum mem_level level;
	bool stlb_miss;
	uint32_t latency;
};

struct mem_model;

struct machine_cache;
struct mem_model *mem_new(const struct machine_cache *geometry);	/* MACHINE_CACHES of them */
/* The bits of the access, as far as @need asks for them. */
uint32_t mem_access(struct mem_model *m, unsigned int cpu, const struct mem_access *a,
		    uint32_t need, struct mem_result *r);
void mem_default(struct mem_model *m);	/* knobs and contents as at power on */
uint64_t *mem_knob(struct mem_model *m, uint32_t msr);	/* NULL: no such */
void mem_cold(struct mem_model *m);

#endif
