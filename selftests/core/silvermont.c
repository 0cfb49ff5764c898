// SPDX-License-Identifier: GPL-2.0-only
/*
 * VM: --machine silvermont
 * PTI: on
 * SKIP: debug
 *
 * What is different on Silvermont: records without an address, PEBS for precise events alone,
 * no guard.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/bpf.h>
#include <sys/ioctl.h>

#include "sample.h"
#include "walk.h"

#define WORDS	4096
#define ROUNDS	8000
#define PERIOD	31

#define L2_HITS		0x0204
#define L2_MISSES	0x0404
#define HITM		0x2004
#define LD_SPLITS	0x0803
#define BRANCHES	0x00c4

/* Line and level of 16 lines in a row, as the silicon is told */
#define MAP	0x6543216543216541ull

/* What reserved fields of a record hold in the model */
#define RESERVED	0x5a5a5a5a5a5a5a5aull

static u64 from[WORDS] __attribute__((aligned(4096)));
static u64 to[WORDS] __attribute__((aligned(4096)));

static unsigned int level_of(u64 addr)
{
	return MAP >> 4 * (addr >> 6 & 15) & 15;
}

static void prepare(const char *parameters)
{
	run_on(0);
	perf_unlimited();
	ext_load(parameters);
	msr_write(0, SYN_MEM_SHIFT, 6);
	msr_write(0, SYN_MEM_MAP, MAP);
	msr_write(0, SYN_MEM_MODE, SYN_MEM_BY_ADDRESS);
}

/* Samples of the walk's loads of these levels, all with this address and source. */
static void samples_are(uint16_t config, unsigned int levels, u64 addr, union perf_mem_data_src src)
{
	struct perf_event_attr attr = sample_attr(config, 2, PERIOD);
	unsigned int num = 0, elsewhere = 0, wrong = 0;
	struct ring ring = {};
	struct sample s;

	ring_open(&ring, &attr);
	perf_enable(ring.fd);
	walk(to, from, WORDS, 1, ROUNDS);
	perf_disable(ring.fd);
	while (ring_next(&ring, &s)) {
		if (s.ip < (uintptr_t)walk_load || s.ip >= (uintptr_t)walk_end)
			continue;
		num++;
		elsewhere += s.ip != (uintptr_t)walk_load ||
			     !(levels >> level_of(s.reg[REG_SI] + 8 * s.reg[REG_CX]) & 1);
		wrong += s.addr != addr || s.src.val != src.val;
	}
	ktap_check(num >= 10 && !elsewhere && !wrong && !ring.lost,
		   "%#x: %u samples, %u of other loads, %u wrong", config, num, elsewhere, wrong);
	ring_close(&ring);
}

#define L(level)	(1u << SYN_LEVEL_##level)
#define NA		.mem_lock = PERF_MEM_LOCK_NA, .mem_dtlb = PERF_MEM_TLB_NA
#define SOURCE(...)	((union perf_mem_data_src){ .mem_op = PERF_MEM_OP_LOAD, __VA_ARGS__, NA })

/* What the event says, and no address: the record has none. */
static void sources(void)
{
	prepare("enforce=1 data_src=1");
	samples_are(L2_HITS, L(L2), 0,
		    SOURCE(.mem_lvl = PERF_MEM_LVL_HIT | PERF_MEM_LVL_L2,
			   .mem_lvl_num = PERF_MEM_LVLNUM_L2, .mem_snoop = PERF_MEM_SNOOP_NA));
	samples_are(L2_MISSES, L(L3) | L(HITM) | L(DRAM), 0,
		    SOURCE(.mem_lvl = PERF_MEM_LVL_MISS | PERF_MEM_LVL_L2,
			   .mem_lvl_num = PERF_MEM_LVLNUM_NA, .mem_snoop = PERF_MEM_SNOOP_NA));
	samples_are(HITM, L(HITM), 0,
		    SOURCE(.mem_lvl = PERF_MEM_LVL_HIT | PERF_MEM_LVL_L3,
			   .mem_lvl_num = PERF_MEM_LVLNUM_ANY_CACHE, .mem_remote = 1,
			   .mem_hops = PERF_MEM_HOPS_0, .mem_snoop = PERF_MEM_SNOOP_HITM));
}

/* A BPF program that lets every sample pass: since 6.2 the kernel completes the sample for it. */
static int make_program(void)
{
	struct bpf_insn insn[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = 1 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_PERF_EVENT,
		.insns = (unsigned long)insn,
		.insn_cnt = ARRAY_SIZE(insn),
		.license = (unsigned long)"GPL",
	};

	return syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

/* Also of an event that asks for its address alone, or says nothing about an access */
static void addresses_beside(int prog)
{
	static const struct { uint16_t config; u64 type; } asked[] = {
		{ L2_HITS, PERF_SAMPLE_IP | PERF_SAMPLE_ADDR },
		{ BRANCHES, PERF_SAMPLE_IP | PERF_SAMPLE_ADDR },
		{ L2_HITS, PERF_SAMPLE_IP | PERF_SAMPLE_WEIGHT },
		{ L2_HITS, PERF_SAMPLE_IP | PERF_SAMPLE_TRANSACTION },
		{ L2_HITS, PERF_SAMPLE_IP | PERF_SAMPLE_PHYS_ADDR },
		{ L2_HITS, PERF_SAMPLE_IP | PERF_SAMPLE_DATA_PAGE_SIZE },
	};
	/* The kernel takes the size of the page of the lower 48 bits. */
	void *page = (void *)(RESERVED & 0xfffffffff000);
	unsigned int i;

	ktap_require(mmap(page, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED |
			  MAP_POPULATE, -1, 0) == page);
	prepare("data_src=1");
	for (i = 0; i < ARRAY_SIZE(asked); i++) {
		struct perf_event_attr attr = sample_attr(asked[i].config, 2, PERIOD);
		const union ring_record *rec;
		unsigned int num = 0, wrong = 0;
		struct ring ring = {};

		attr.sample_type = asked[i].type;
		ring_open(&ring, &attr);
		if (prog >= 0 && ioctl(ring.fd, PERF_EVENT_IOC_SET_BPF, prog)) {
			ktap_require(errno == EOPNOTSUPP, "SET_BPF: %s", strerror(errno));
			ktap_skip("this kernel has no BPF programs for perf events");
		}
		perf_enable(ring.fd);
		walk(to, from, WORDS, 1, ROUNDS);
		perf_disable(ring.fd);
		while ((rec = ring_record(&ring))) {
			if (rec->header.type != PERF_RECORD_SAMPLE)
				continue;
			num++;
			wrong += rec->word[2] != 0;
		}
		ktap_check(num >= 10 && !wrong, "%#x, %#llx: %u samples, %u wrong", asked[i].config,
			   asked[i].type, num, wrong);
		ring_close(&ring);
	}
}

KTAP_CALL(addresses, addresses_beside(-1))

static void addresses_bpf(void)
{
	int prog = make_program();

	if (prog < 0 && errno == ENOSYS)
		ktap_skip("this kernel has no bpf()");
	ktap_require(prog >= 0, "program: %s", strerror(errno));
	addresses_beside(prog);
}

/* Without the module or its data_src the kernel has an address from a reserved field. */
static void kernel_alone(void)
{
	struct perf_event_attr attr = sample_attr(L2_HITS, 2, PERIOD);
	unsigned int num = 0, reserved = 0;
	struct ring ring = {};
	struct sample s;

	prepare("enforce=1");
	ring_open(&ring, &attr);
	perf_enable(ring.fd);
	walk(to, from, WORDS, 1, ROUNDS);
	perf_disable(ring.fd);
	while (ring_next(&ring, &s)) {
		num++;
		reserved += s.addr == RESERVED;
	}
	ktap_note("%u samples, %u with an address of nothing", num, reserved);
	ktap_check(num && reserved == (ext_needless() ? 0 : num));
	ring_close(&ring);
}

/* An event whose samples have nothing to be added or cleared goes without the module. */
static void no_source_no_module(void)
{
	struct perf_event_attr attr = core_attr(L2_HITS, 0, 2);
	int fd;

	ext_needed();
	ext_load("data_src=1");
	attr.sample_type = PERF_SAMPLE_IP;
	fd = open_task(&attr, -1);
	ktap_require(fd >= 0, "%s", strerror(-fd));
	ext_unload();
	close(fd);
}

static void in_effect(void)
{
	ext_load("");
	ktap_check(!ext_effect("enforce") && !ext_effect("data_src") &&
		   !ext_effect("ds_guard") && ext_number("ds_repairs") == -1);
	ktap_check(!try_open(0x00c0, 0, 1) && !try_open(LD_SPLITS, 0, 2) &&
		   try_open(LD_SPLITS, 0, 3) == -EOPNOTSUPP);
	/* The data source alone refuses nothing. */
	ext_load("data_src=1");
	ktap_check(!try_open(0x00c0, 0, 1));
	ext_load("enforce=1 data_src=1 ds_guard=1");
	ktap_check(ext_effect("enforce") && ext_effect("data_src") &&
		   !ext_effect("ds_guard") && ext_number("ds_repairs") == -1);
	ktap_check(try_open(0x00c0, 0, 1) == -EOPNOTSUPP && !try_open(LD_SPLITS, 0, 2) &&
		   try_open(LD_SPLITS, 0, 3) == -EOPNOTSUPP);
}

CORE_MAIN("37 4a 4c 4d 5a",
	{ "data sources, and no address", sources },
	{ "no address, no weight, no transaction", addresses },
	{ "nor beside a BPF program", addresses_bpf },
	{ "the kernel alone", kernel_alone },
	{ "an event that needs nothing does not keep the module", no_source_no_module },
	{ "caps and precision", in_effect })
