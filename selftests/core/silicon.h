/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tests of the silicon's core PMU itself: what its counters count, to the last
 * event, and what its registers take.
 */
#ifndef SELFTESTS_CORE_SILICON_H
#define SELFTESTS_CORE_SILICON_H

#include <sys/mman.h>

#include "sample.h"

/* ---- loops of which everything is known ---- */

enum loop { PLAIN, STRING, SYSCALL, CALLS, LOCKED, SPLIT, FAULTS, FAULTS_STRING };

static u64 loop_buf[8192] __attribute__((aligned(4096)));
static char *loop_pages;

#define LOOP_PAGES	2048	/* fresh ones for the loops that fault */

static void loop_prepare(enum loop loop)
{
	static char *old;

	if (loop < FAULTS)
		return;
	if (old)
		munmap(old, LOOP_PAGES * 4096);
	loop_pages = mmap(NULL, LOOP_PAGES * 4096, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ktap_require(loop_pages != MAP_FAILED, "mmap: %s", strerror(errno));
	madvise(loop_pages, LOOP_PAGES * 4096, MADV_NOHUGEPAGE);
	old = loop_pages;
}

/* The stack below is the compiler's too. */
#define LOOP(body)								\
	asm volatile("lea -128(%%rsp), %%rsp\n1:\t" body			\
		     "\n\tdec %%rcx\n\tjnz 1b\n\tlea 128(%%rsp), %%rsp"	\
		     : "+c"(n), "+S"(si), "+D"(di)				\
		     : "b"(loop_buf)						\
		     : "rax", "rdx", "r8", "r9", "r11", "xmm0", "xmm1", "memory", "cc")

static void __attribute__((noinline)) loop_run(enum loop loop, u64 n)
{
	void *si = loop_buf, *di = loop_pages;

	switch (loop) {
	case PLAIN:		/* 6 instructions, a load, a store, a branch */
		LOOP("mov (%%rbx), %%rax\n\tmov %%rax, 8(%%rbx)\n\tlea 1(%%rax), %%r8\n\tnop");
		break;
	case STRING:		/* 8, 513 loads, 513 stores */
		LOOP("push %%rcx\n\tmov $512, %%ecx\n\tmov %%rbx, %%rsi\n\t"
		     "lea 8192(%%rbx), %%rdi\n\trep movsq\n\tpop %%rcx");
		break;
	case SYSCALL:		/* 6: far branch, a load, a store */
		LOOP("push %%rcx\n\tmov $110, %%eax\n\tsyscall\n\tpop %%rcx");
		break;
	case CALLS:		/* 8: a relative and an indirect call, a jump, two returns */
		LOOP("lea 5f(%%rip), %%rdx\n\tcall 5f\n\tcall *%%rdx\n\tjmp 6f\n"
		     "5:\tret\n6:");
		break;
	case LOCKED:		/* 8: a locked load, a divide, a floating-point divide */
		LOOP("lock addq $1, (%%rbx)\n\txor %%edx, %%edx\n\tmov $100, %%eax\n\t"
		     "mov $7, %%r8d\n\tdiv %%r8d\n\tdivsd %%xmm1, %%xmm0");
		break;
	case SPLIT:		/* 5: loads across a line and a page, a store across a page */
		LOOP("mov 60(%%rbx), %%rax\n\tmov 4092(%%rbx), %%rax\n\t"
		     "mov %%rax, 8188(%%rbx)");
		break;
	case FAULTS:		/* 5: load and add to memory, both fault */
		LOOP("mov (%%rdi), %%rax\n\taddq $1, (%%rdi)\n\tadd $4096, %%rdi");
		break;
	case FAULTS_STRING:	/* 7: 1024 stores and a push, faults in the middle */
		LOOP("push %%rcx\n\tmov $1024, %%ecx\n\txor %%eax, %%eax\n\t"
		     "rep stosq\n\tpop %%rcx");
		break;
	}
}

static inline void perf_reset(int fd)
{
	ktap_require(!ioctl(fd, PERF_EVENT_IOC_RESET, 0), "reset: %s", strerror(errno));
}

static u64 loop_count(int fd, enum loop loop, u64 n)
{

	loop_prepare(loop);
	perf_reset(fd);
	perf_enable(fd);
	loop_run(loop, n);
	perf_disable(fd);
	return perf_count(fd).value;
}

struct expect {
	uint16_t config;
	const char *name;
	enum loop loop;
	u64 each;		/* per round */
};

/* In user mode, n rounds more make exactly so many more. */
static inline void check_expect(const struct expect *e)
{
	u64 n = e->loop >= FAULTS ? LOOP_PAGES / 8 : e->loop == PLAIN ? 100000 : 1000;
	struct perf_event_attr attr = core_attr(e->config, 0, 0);
	u64 one, two;
	int fd;

	attr.exclude_kernel = 1;
	fd = open_task(&attr, -1);
	ktap_require(fd >= 0, "%s: %s", e->name, strerror(-fd));
	loop_count(fd, e->loop, n);	/* whatever happens only once */
	one = loop_count(fd, e->loop, n);
	two = loop_count(fd, e->loop, 2 * n);
	close(fd);
	ktap_check(two - one == n * e->each, "%s: %llu more in %llu rounds, not %llu", e->name,
		   two - one, n, n * e->each);
}

static inline void check_table(const struct expect *e, size_t num)
{
	run_on(0);
	while (num--)
		check_expect(e++);
}

/*
 * Misses of the first level, requests to the last one and what that lacks, when all data is at
 * one level. PLAIN has a load and a store.
 */
static inline void check_levels(bool l3, uint16_t l1_miss)
{
	static const struct { unsigned int level; int refs[2], misses[2]; } of[] = {
		{ SYN_LEVEL_L1, { 0, 0 }, { 0, 0 } },
		{ SYN_LEVEL_L2, { 2, 0 }, { 0, 0 } },
		{ SYN_LEVEL_HITM, { 2, 2 }, { 2, 0 } },
		{ SYN_LEVEL_DRAM, { 2, 2 }, { 2, 2 } },
	};
	unsigned int i;

	msr_write(0, SYN_MEM_MODE, SYN_MEM_BY_ADDRESS);
	for (i = 0; i < ARRAY_SIZE(of); i++) {
		char name[3][60];

		msr_write(0, SYN_MEM_MAP, 0x1111111111111111 * of[i].level);
		snprintf(name[0], sizeof(name[0]), "level %u: requests to the last", of[i].level);
		snprintf(name[1], sizeof(name[1]), "level %u: misses of the last", of[i].level);
		snprintf(name[2], sizeof(name[2]), "level %u: misses of the first", of[i].level);
		check_expect(&(struct expect){ 0x4f2e, name[0], PLAIN, of[i].refs[l3] });
		check_expect(&(struct expect){ 0x412e, name[1], PLAIN, of[i].misses[l3] });
		if (l1_miss)
			check_expect(&(struct expect){ l1_miss, name[2], PLAIN,
						       of[i].level == SYN_LEVEL_L1 ? 0 : 2 });
	}
	msr_write(0, SYN_MEM_MODE, SYN_MEM_CACHES);
}

/* ---- generic events of caches ---- */

#define SMALL_ROUNDS	1000000ull
#define LARGE_LINES	(64ull << 20 >> 6)	/* more than any last level has */

/* One line after the other of as many as `lines`, so many times in all. */
static void __attribute__((noinline)) touch(volatile char *data, u64 lines, u64 times)
{
	for (u64 i = 0, at = 0; i < times; i++, at = at + 1 < lines ? at + 1 : 0)
		data[at << 6]++;
}

enum { REFS, MISSES, L1_LOADS, L1_LOAD_MISSES, LLC_LOADS, LLC_LOAD_MISSES, LLC_STORES, GENERIC };

/*
 * What perf knows by name, of a working set of some lines and of one that fits in no cache. On
 * this CPU the kernel has an event for each of them but those in the mask `without`.
 */
static inline void check_generic_caches(unsigned int without)
{
	static const struct { const char *name; uint32_t type; u64 config; } of[GENERIC] = {
		[REFS] = { "cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES },
		[MISSES] = { "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
		[L1_LOADS] = { "L1-dcache-loads", PERF_TYPE_HW_CACHE, 0 },
		[L1_LOAD_MISSES] = { "L1-dcache-load-misses", PERF_TYPE_HW_CACHE, 0x10000 },
		[LLC_LOADS] = { "LLC-loads", PERF_TYPE_HW_CACHE, 2 },
		[LLC_LOAD_MISSES] = { "LLC-load-misses", PERF_TYPE_HW_CACHE, 0x10002 },
		[LLC_STORES] = { "LLC-stores", PERF_TYPE_HW_CACHE, 0x102 },
	};
	/* Each is at least the next. */
	static const int order[][2] = {
		{ REFS, MISSES }, { L1_LOADS, L1_LOAD_MISSES }, { L1_LOAD_MISSES, LLC_LOADS },
		{ L1_LOADS, LLC_LOADS }, { LLC_LOADS, LLC_LOAD_MISSES },
	};
	u64 small[GENERIC], large[GENERIC];
	char *data = mmap(NULL, LARGE_LINES << 6, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned int i;

	ktap_require(data != MAP_FAILED, "mmap: %s", strerror(errno));
	run_on(0);
	touch(data, LARGE_LINES, LARGE_LINES);
	for (i = 0; i < GENERIC; i++) {
		struct perf_event_attr attr = core_attr(of[i].config, 0, 0);
		int fd;

		attr.type = of[i].type;
		attr.exclude_kernel = 1;
		fd = open_task(&attr, -1);
		small[i] = large[i] = UINT64_MAX;
		ktap_check(without >> i & 1 ? fd == -ENOENT || fd == -EINVAL : fd >= 0, "%s: %s",
			   of[i].name, fd < 0 ? strerror(-fd) : "there is an event");
		if (fd < 0)
			continue;
		perf_enable(fd);
		touch(data, 8, SMALL_ROUNDS);
		perf_disable(fd);
		small[i] = perf_count(fd).value;
		perf_reset(fd);
		perf_enable(fd);
		touch(data, LARGE_LINES, 2 * LARGE_LINES);
		perf_disable(fd);
		large[i] = perf_count(fd).value;
		close(fd);
		ktap_note("%s: %llu, %llu", of[i].name, small[i], large[i]);
		if (i == L1_LOADS)
			continue;
		/* The first access to a line is a miss, on a cold stack as well. */
		ktap_check(small[i] < 1000, "few lines: %llu %s", small[i], of[i].name);
		/* A store hits the line that the load before it has brought. */
		ktap_check(i == LLC_STORES || large[i] >= 2 * LARGE_LINES * 9 / 10,
			   "many lines: %llu %s", large[i], of[i].name);
	}
	for (i = 0; i < ARRAY_SIZE(order); i++) {
		int a = order[i][0], b = order[i][1];

		ktap_check(small[a] == UINT64_MAX || small[b] == UINT64_MAX ||
			   (small[a] + 100 >= small[b] && large[a] + large[a] / 100 >= large[b]),
			   "%s and %s", of[a].name, of[b].name);
	}
	munmap(data, LARGE_LINES << 6);
}

/* ---- rings ---- */

/* User and kernel make up the whole, whatever the way between them. */
static inline void check_rings(uint16_t config)
{
	struct perf_event_attr attr = core_attr(config, 0, 0);
	static const enum loop loops[] = { SYSCALL, FAULTS, PLAIN };
	u64 v[4];
	int fd[3], i;

	attr.read_format = PERF_FORMAT_GROUP;
	fd[0] = open_task(&attr, -1);
	attr.disabled = 0;
	attr.exclude_kernel = 1;
	fd[1] = open_task(&attr, fd[0]);
	attr.exclude_kernel = 0;
	attr.exclude_user = 1;
	fd[2] = open_task(&attr, fd[0]);
	ktap_require(fd[0] >= 0 && fd[1] >= 0 && fd[2] >= 0, "cannot open the group");
	perf_enable(fd[0]);
	for (i = 0; i < 3; i++) {
		loop_prepare(loops[i]);
		loop_run(loops[i], 500);
	}
	perf_disable(fd[0]);
	ktap_require(read(fd[0], v, sizeof(v)) == sizeof(v), "read: %s", strerror(errno));
	ktap_check(v[1] == v[2] + v[3] && v[2] && v[3],
		   "config %#x: all %llu, user %llu, kernel %llu", config, v[1], v[2], v[3]);
	for (i = 0; i < 3; i++)
		close(fd[i]);
}

/* ---- registers ---- */

#define EVTSEL(n)	(0x186 + (n))
#define PMC(n)		(0xc1 + (n))
#define GLOBAL_CTRL	0x38f
#define USR		(1ull << 16)
#define OS		(1ull << 17)
#define EDGE		(1ull << 18)
#define ENABLE		(1ull << 22)
#define INV		(1ull << 23)
#define CMASK(n)	((u64)(n) << 24)

struct reg_rule {
	uint32_t msr;
	u64 val;
	bool gp;
};

static inline void check_regs(const struct reg_rule *r, int num)
{
	for (; num--; r++) {
		u64 old;
		bool gp;

		if (msr_try_read(1, r->msr, &old)) {
			ktap_check(r->gp, "%#x: cannot be read", r->msr);
			continue;
		}
		gp = msr_try_write(1, r->msr, r->val);
		ktap_check(gp == r->gp, "%#x = %#llx: %s", r->msr, r->val, gp ? "#GP" : "no #GP");
		if (!gp)
			msr_write(1, r->msr, old);
	}
}

/* Selects on the counters from 0 on of CPU 1, enabled by one write, for a moment. */
static inline void measure(const u64 *sel, u64 *val, int num)
{
	int i;

	msr_write(1, GLOBAL_CTRL, 0);
	for (i = 0; i < num; i++) {
		msr_write(1, EVTSEL(i), sel[i]);
		msr_write(1, PMC(i), 0);
	}
	msr_write(0, SYN_CLEAR, 1);
	msr_write(1, GLOBAL_CTRL, (1 << num) - 1);
	usleep(20000);
	msr_write(1, GLOBAL_CTRL, 0);
	for (i = 0; i < num; i++) {
		val[i] = msr_read(1, PMC(i));
		ktap_check(val[i] == msr_read(1, SYN_CORE_TRUTH(SYN_CORE_EVENTS, SYN_CORE_GP(i))),
			   "counter %d: %llu is not the truth", i, val[i]);
		msr_write(1, EVTSEL(i), 0);
	}
}

/* Patterns begin anywhere. */
static inline bool close_to(u64 a, u64 b)
{
	return a + 1 >= b && b + 1 >= a;
}

/*
 * So many 65536ths of all? A share lies between two sums since power on, each rounded
 * down; what came to it meanwhile is the difference of two such.
 */
static inline bool is_share(u64 part, u64 all, u64 share)
{
	return llabs((int64_t)(part * 65536 - all * share)) < 2 * 65536;
}

/* ---- branch trace store ---- */

#define BTS_OFF_USR	(1 << 10)

/* A record of each taken branch: from the branch, to where it goes; none with @off. */
static inline void branch_trace(u64 rounds, u64 off)
{
	struct perf_event_attr attr = core_attr(PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 0, 0);
	u64 n = rounds, start, taken = 0, other = 0;
	const union ring_record *rec;
	struct ring ring;

	attr.type = PERF_TYPE_HARDWARE;
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR;
	attr.exclude_kernel = 1;
	ring_open(&ring, &attr);
	perf_enable(ring.fd);
	msr_write(0, IA32_DEBUGCTL, msr_read(0, IA32_DEBUGCTL) | off);
	asm volatile("lea 1f(%%rip), %0\n1:\tdec %1\n\tjnz 1b" : "=&r"(start), "+r"(n) : : "cc");
	perf_disable(ring.fd);
	while ((rec = ring_record(&ring))) {
		if (rec->header.type != PERF_RECORD_SAMPLE || rec->word[1] - start > 8)
			continue;
		if (rec->word[1] == start + 3 && rec->word[2] == start)
			taken++;
		else
			other++;
	}
	ktap_check(taken == (off ? 0 : rounds - 1) && !other && !ring.lost,
		   "%llu taken, %llu others, %llu lost", taken, other, ring.lost);
	ring_close(&ring);
}

static inline void check_branch_trace(void)
{
	run_on(0);
	branch_trace(20000, 0);
	/* perf sets its own bits again in each NMI. */
	branch_trace(1000, BTS_OFF_USR);
}

#endif
