// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every precise event names the instruction that caused it, and no other: loops in which it
 * is known what each instruction does.
 *
 * PTI: on
 * VM: --machine goldmont
 * VM: --machine silvermont
 */
#define _GNU_SOURCE
#include "sample.h"

/* What the instructions do. What is sampled outside of BEGIN and END is of no interest. */
enum place {
	BEGIN, END,
	LOAD, STORE, LOCKED, SPLIT_LOAD, SPLIT_STORE, PAGE_LOAD, PAGE_STORE,
	/* loads that are blocked */
	UNKNOWN, FORWARD, ALIAS,
	/* more pages than a TLB has entries */
	FAR_LOAD, FAR_STORE,
	/* loads, by who serves them */
	L1, FILL, L2, HITM, DRAM,
	MICROCODE, FPDIV, IDIV,
	NOT_TAKEN, TAKEN, JUMP, IND_JUMP, CALL, IND_CALL, RETURN, FAR_BRANCH,
	/* hard to predict */
	MISP_JCC, MISP_JUMP, MISP_CALL, MISP_RETURN,
	PLACES
};

/* One row for each AT(), in their order. */
struct row {
	u64 ip;
	u64 place;
};

/* The linker makes these. */
extern const struct row __start_places[], __stop_places[];

/* Puts the address of the next instruction into the table. */
#define AT(place)	".pushsection places, \"aw\"\n\t.quad 99f, %c[" #place "]\n\t" \
			".popsection\n99:\t"
#define IS(place)	[place] "i"(place)

#define PAGE		4096
#define FAR_PAGES	1024	/* of 512 entries in the larger TLB */

static char buf[4 * PAGE] __attribute__((aligned(PAGE)));
static char far_buf[2][FAR_PAGES * PAGE] __attribute__((aligned(PAGE)));

#define LOOP		static void __attribute__((noinline, noclone))

LOOP accesses(u64 n)
{
	asm volatile(AT(BEGIN) "1:\n\t"
		     AT(LOAD) "mov 128(%[buf]), %%rax\n\t"
		     AT(STORE) "mov %%rax, 136(%[buf])\n\t"
		     AT(SPLIT_LOAD) "mov 60(%[buf]), %%rax\n\t"
		     AT(SPLIT_STORE) "mov %%rax, 60(%[buf])\n\t"
		     AT(PAGE_LOAD) "mov 4092(%[buf]), %%rax\n\t"
		     AT(PAGE_STORE) "mov %%rax, 8188(%[buf])\n\t"
		     "dec %[n]\n\tjnz 1b\n\t" AT(END)
		     : [n] "+r"(n)
		     : [buf] "r"(buf), IS(BEGIN), IS(END), IS(LOAD), IS(STORE),
		       IS(SPLIT_LOAD), IS(SPLIT_STORE), IS(PAGE_LOAD), IS(PAGE_STORE)
		     : "rax", "memory", "cc");
}

/* Alone: two events in one instruction make but one overflow, and the rhythm is another. */
LOOP locked(u64 n)
{
	asm volatile(AT(BEGIN) "1:\n\t"
		     AT(LOCKED) "lock incq 192(%[buf])\n\t"
		     "dec %[n]\n\tjnz 1b\n\t" AT(END)
		     : [n] "+r"(n)
		     : [buf] "r"(buf), IS(BEGIN), IS(END), IS(LOCKED)
		     : "memory", "cc");
}

LOOP blocked(u64 n)
{
	asm volatile(AT(BEGIN) "1:\n\t"
		     "mov %%rax, 16(%[buf])\n\t"
		     AT(UNKNOWN) "mov 16(%[buf]), %%rax\n\t"
		     "movb $1, 1025(%[buf])\n\tnop\n\t"
		     AT(FORWARD) "mov 1024(%[buf]), %%rax\n\t"
		     "mov %%rax, 2048(%[buf])\n\tnop\n\t"
		     AT(ALIAS) "mov 4096+2048(%[buf]), %%rax\n\t"
		     "dec %[n]\n\tjnz 1b\n\t" AT(END)
		     : [n] "+r"(n)
		     : [buf] "r"(buf), IS(BEGIN), IS(END), IS(UNKNOWN), IS(FORWARD), IS(ALIAS)
		     : "rax", "memory", "cc");
}

LOOP pages(u64 n)
{
	asm volatile("xor %%ecx, %%ecx\n\t" AT(BEGIN) "1:\n\t"
		     AT(FAR_LOAD) "mov (%[load], %%rcx), %%rax\n\t"
		     AT(FAR_STORE) "mov %%rax, (%[store], %%rcx)\n\t"
		     "add %[page], %%rcx\n\tand %[mask], %%rcx\n\t"
		     "dec %[n]\n\tjnz 1b\n\t" AT(END)
		     : [n] "+r"(n)
		     : [load] "r"(far_buf[0]), [store] "r"(far_buf[1]), [page] "i"(PAGE),
		       [mask] "i"((FAR_PAGES - 1) * PAGE), IS(BEGIN), IS(END), IS(FAR_LOAD),
		       IS(FAR_STORE)
		     : "rax", "rcx", "memory", "cc");
}

/* Line and level, as the silicon is told */
#define MAP	0x1111111111654321ull

LOOP levels(u64 n)
{
	asm volatile(AT(BEGIN) "1:\n\t"
		     AT(L1) "mov (%[buf]), %%rax\n\t"
		     AT(FILL) "mov 64(%[buf]), %%rax\n\t"
		     AT(L2) "mov 128(%[buf]), %%rax\n\t"
		     AT(HITM) "mov 256(%[buf]), %%rax\n\t"
		     AT(DRAM) "mov 320(%[buf]), %%rax\n\t"
		     "dec %[n]\n\tjnz 1b\n\t" AT(END)
		     : [n] "+r"(n)
		     : [buf] "r"(buf), IS(BEGIN), IS(END), IS(L1), IS(FILL), IS(L2), IS(HITM),
		       IS(DRAM)
		     : "rax", "memory", "cc");
}

LOOP operations(u64 n)
{
	asm volatile(AT(BEGIN) "1:\n\t"
		     AT(MICROCODE) "rdtsc\n\t"
		     "xor %%edx, %%edx\n\tmov $100, %%eax\n\tmov $7, %%ecx\n\t"
		     AT(IDIV) "div %%ecx\n\t"
		     AT(FPDIV) "divsd %%xmm1, %%xmm0\n\t"
		     "dec %[n]\n\tjnz 1b\n\t" AT(END)
		     : [n] "+r"(n)
		     : IS(BEGIN), IS(END), IS(MICROCODE), IS(IDIV), IS(FPDIV)
		     : "rax", "rcx", "rdx", "xmm0", "xmm1", "memory", "cc");
}

/* The stack below is the compiler's, too. */
LOOP branches(u64 n)
{
	asm volatile("lea -128(%%rsp), %%rsp\n\tjmp 1f\n\t"
		     AT(BEGIN)
		     AT(RETURN) "5: ret\n"
		     "1:\ttest %[n], %[n]\n\t"
		     AT(NOT_TAKEN) "jz 9f\n\t"
		     AT(JUMP) "jmp 2f\n2:\t"
		     AT(CALL) "call 5b\n\t"
		     "lea 5b(%%rip), %%rax\n\t"
		     AT(IND_CALL) "call *%%rax\n\t"
		     "lea 3f(%%rip), %%rax\n\t"
		     AT(IND_JUMP) "jmp *%%rax\n3:\t"
		     "mov $110, %%eax\n\t"
		     AT(FAR_BRANCH) "syscall\n\t"
		     "dec %[n]\n\t"
		     AT(TAKEN) "jnz 1b\n\t"
		     AT(END) "9:\tlea 128(%%rsp), %%rsp"
		     : [n] "+r"(n)
		     : IS(BEGIN), IS(END), IS(RETURN), IS(NOT_TAKEN), IS(JUMP), IS(CALL),
		       IS(IND_CALL), IS(IND_JUMP), IS(FAR_BRANCH), IS(TAKEN)
		     : "rax", "rcx", "r11", "memory", "cc");
}

/* Two ways by chance; and a return that leads elsewhere. */
LOOP mispredicted(u64 n)
{
	asm volatile("lea -128(%%rsp), %%rsp\n\tmov $88172645463325252, %%r8\n\tjmp 1f\n\t"
		     AT(BEGIN) "5:\tret\n6:\tret\n"
		     "7:\tlea 8f(%%rip), %%rax\n\tmov %%rax, (%%rsp)\n\t"
		     AT(MISP_RETURN) "ret\n"
		     "1:\timul $1103515245, %%r8, %%r8\n\tadd $12345, %%r8\n\t"
		     "bt $40, %%r8\n\t"
		     AT(MISP_JCC) "jc 2f\n\tnop\n2:\t"
		     "lea 5b(%%rip), %%rax\n\tlea 6b(%%rip), %%rdx\n\t"
		     "bt $43, %%r8\n\tcmovc %%rdx, %%rax\n\t"
		     AT(MISP_CALL) "call *%%rax\n\t"
		     "lea 3f(%%rip), %%rax\n\tlea 4f(%%rip), %%rdx\n\t"
		     "bt $47, %%r8\n\tcmovc %%rdx, %%rax\n\t"
		     AT(MISP_JUMP) "jmp *%%rax\n3:\tnop\n4:\t"
		     "call 7b\n\tnop\n8:\t"
		     "dec %[n]\n\t"
		     AT(TAKEN) "jnz 1b\n\t"
		     AT(END) "lea 128(%%rsp), %%rsp"
		     : [n] "+r"(n)
		     : IS(BEGIN), IS(END), IS(MISP_RETURN), IS(MISP_JCC), IS(MISP_CALL),
		       IS(MISP_JUMP), IS(TAKEN)
		     : "rax", "rdx", "r8", "memory", "cc");
}

#define P(place)	(1ull << (place))
#define LOADS		(P(LOAD) | P(LOCKED) | P(SPLIT_LOAD) | P(PAGE_LOAD))
#define STORES		(P(STORE) | P(LOCKED) | P(SPLIT_STORE) | P(PAGE_STORE))
#define L2_MISSES	(P(HITM) | P(DRAM))
#define JCCS		(P(TAKEN) | P(NOT_TAKEN))
#define CALLS		(P(CALL) | P(IND_CALL))
#define BRANCHES	(JCCS | CALLS | P(JUMP) | P(IND_JUMP) | P(RETURN) | P(FAR_BRANCH))
#define BLOCKED		(P(UNKNOWN) | P(FORWARD) | P(ALIAS))
#define MISPS		(P(MISP_JCC) | P(MISP_JUMP) | P(MISP_CALL) | P(MISP_RETURN))

/*
 * An event that not every instruction causes. @loops: those that cause it, and some that do
 * not; @places: where all the samples are, and some at each
 */
struct event_places {
	uint16_t config;
	void (*loops[2])(u64 n);
	u64 places;
};

/* What happens only once: the branch at the end of a loop is mispredicted when it is over. */
static u64 seldom(const struct event_places *event)
{
	return event->loops[0] == mispredicted ? P(TAKEN) : 0;
}

#define PERIOD		31
#define ROUNDS		(100 * PERIOD)

/* The place, BEGIN if it has none in a loop, END if it is in no loop. */
static enum place place_of(u64 ip)
{
	size_t i, rows = ((uintptr_t)__stop_places - (uintptr_t)__start_places) / sizeof(struct row);
	bool inside = false;

	for (i = 0; i < rows; i++) {
		const struct row *r = &__start_places[i];

		if (r->ip == ip && r->place != BEGIN && r->place != END)
			return r->place;
		if (r->place == BEGIN)
			inside = r->ip <= ip;
		else if (r->place == END && inside && ip < r->ip)
			return BEGIN;
	}
	return END;
}

static void open_ips(struct ring *ring, uint16_t config, int precise)
{
	struct perf_event_attr attr = sample_attr(config, precise, PERIOD);

	attr.sample_type = PERF_SAMPLE_IP;
	ring_open(ring, &attr);
}

static bool next_ip(struct ring *ring, u64 *ip)
{
	const union ring_record *rec;

	while ((rec = ring_record(ring))) {
		if (rec->header.type == PERF_RECORD_SAMPLE) {
			*ip = rec->word[1];
			return true;
		}
	}
	return false;
}

/*
 * Where a CPU has no way to be in time, by how much it is late adds to the period. One that is
 * a multiple of the places of a loop, or differs from place to place, can make all samples of
 * one place, so there it is one skid after the other with one period after the other.
 */
#define SKIDS		5	/* 0 on, see SYN_CORE_SKID */
#define PERIODS		9	/* PERIOD on: the most places that a loop has for an event */

/* How often the loop has ended then. */
static int run_loop(int fd, void (*loop)(u64 n), bool skids)
{
	u64 pass, period;

	if (!skids) {
		loop(ROUNDS);
		return 1;
	}
	for (pass = 0; pass < SKIDS * PERIODS; pass++) {
		period = PERIOD + pass / SKIDS;
		ktap_require(!ioctl(fd, PERF_EVENT_IOC_PERIOD, &period), "period: %s",
			     strerror(errno));
		msr_write(0, SYN_CORE_SKID, pass % SKIDS);
		loop(ROUNDS / PERIODS);
	}
	return SKIDS * PERIODS;
}

/* @skids: the CPU has no way to be in time */
static void where_it_happens(const struct event_places *events, unsigned int num_events,
			     int precise, bool skids)
{
	unsigned int i, l;

	for (i = 0; i < num_events; i++) {
		u64 skidded = core_stat(0, SYN_CORE_S_SKIDDED);
		int num = 0, wrong = 0, rare = 0, ends = 0;
		u64 ip, wrong_ip = 0, met = 0;
		struct ring ring;

		open_ips(&ring, events[i].config, precise);
		perf_enable(ring.fd);
		for (l = 0; l < 2 && events[i].loops[l]; l++)
			ends += run_loop(ring.fd, events[i].loops[l], skids);
		perf_disable(ring.fd);
		while (next_ip(&ring, &ip)) {
			enum place place = place_of(ip);

			if (place == END)
				continue;
			num++;
			met |= P(place);
			if (seldom(&events[i]) & P(place)) {
				rare++;
			} else if (!(events[i].places & P(place))) {
				wrong++;
				wrong_ip = ip;
			}
		}
		/* The rarest is a branch that is taken and was not expected to be: one in four. */
		ktap_check(num >= ROUNDS / PERIOD / 5 && !wrong && rare <= ends && !(events[i].places & ~met),
			   "%#x at %d: %d samples, %d elsewhere (%#llx), %d rare, places %#llx of %#llx",
			   events[i].config, precise, num, wrong, wrong_ip, rare, met,
			   events[i].places);
		/* A record about the next event of its kind is at the right place as well. */
		skidded = core_stat(0, SYN_CORE_S_SKIDDED) - skidded;
		ktap_check(skids || !skidded, "%#x at %d: %llu skidded", events[i].config, precise,
			   skidded);
		ring_close(&ring);
	}
}

#define NOPS		7
#define INSNS		(NOPS + 2)

/* Instructions of one byte, so that the address tells which it is; and the last two. */
LOOP nops(u64 n)
{
	asm volatile(AT(BEGIN) "1:\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\t"
		     AT(STORE) "sub $1, %[n]\n\t"
		     AT(TAKEN) "jnz 1b\n\t" AT(END)
		     : [n] "+r"(n) : IS(BEGIN), IS(END), IS(STORE), IS(TAKEN) : "cc");
}

/* An event of every instruction: each sample is PERIOD instructions after the last. */
static void every_instruction(uint16_t config, int precise)
{
	const struct row *begin = __start_places;
	int num = 0, wrong = 0, last = -1;
	struct ring ring;
	u64 ip;

	while (begin[0].place != BEGIN || begin[1].place != STORE)
		begin++;
	open_ips(&ring, config, precise);
	perf_enable(ring.fd);
	nops(ROUNDS);
	perf_disable(ring.fd);
	while (next_ip(&ring, &ip)) {
		int insn = ip == begin[1].ip ? NOPS : ip == begin[2].ip ? NOPS + 1 :
			   (int)(ip - begin->ip);

		if (ip < begin->ip || ip >= begin[3].ip)
			continue;
		wrong += insn >= INSNS || (last >= 0 && insn != (last + PERIOD) % INSNS);
		last = insn;
		num++;
	}
	ktap_check(num >= INSNS * ROUNDS / PERIOD - 1 && !wrong,
		   "%#x at %d: %d samples, %d not where they belong", config, precise, num, wrong);
	ring_close(&ring);
}

static void prepare(void)
{
	run_on(0);
	perf_unlimited();
	ext_load("enforce=1");
	msr_write(0, SYN_MEM_SHIFT, 6);
	msr_write(0, SYN_MEM_MAP, MAP);
	msr_write(0, SYN_MEM_MODE, SYN_MEM_BY_ADDRESS);
	memset(buf, 1, sizeof(buf));
	memset(far_buf, 1, sizeof(far_buf));
}

/* ---- Goldmont ---- */

/* What Goldmont and Silvermont have alike */
#define BRANCH_EVENTS				\
	{ 0xbfc4, { branches }, P(FAR_BRANCH) },			\
	{ 0xebc4, { branches }, P(IND_CALL) | P(IND_JUMP) },		\
	{ 0xf7c4, { branches }, P(RETURN) },				\
	{ 0xf9c4, { branches }, CALLS },				\
	{ 0xfbc4, { branches }, P(IND_CALL) },				\
	{ 0xfdc4, { branches }, P(CALL) },				\
	{ 0xfec4, { branches }, P(TAKEN) },				\
	{ 0x00c5, { mispredicted }, MISPS },				\
	{ 0x7ec5, { mispredicted }, P(MISP_JCC) },			\
	{ 0xebc5, { mispredicted }, P(MISP_JUMP) | P(MISP_CALL) },	\
	{ 0xf7c5, { mispredicted }, P(MISP_RETURN) },			\
	{ 0xfbc5, { mispredicted }, P(MISP_CALL) },			\
	{ 0xfec5, { mispredicted }, P(MISP_JCC) },

/* All but those that every instruction causes */
static const struct event_places goldmont_events[] = {
	{ 0x0103, { blocked, accesses }, P(UNKNOWN) },
	{ 0x0203, { blocked }, P(FORWARD) },
	{ 0x0403, { blocked }, P(ALIAS) },
	{ 0x0803, { pages }, P(FAR_LOAD) },
	{ 0x1003, { blocked, pages }, BLOCKED | P(FAR_LOAD) },
	{ 0x0213, { accesses, levels }, P(PAGE_LOAD) },
	{ 0x0413, { accesses, levels }, P(PAGE_STORE) },
	{ 0x01c2, { operations, accesses }, P(MICROCODE) },
	{ 0x08c2, { operations, accesses }, P(FPDIV) },
	{ 0x10c2, { operations, accesses }, P(IDIV) },
	{ 0x00c4, { branches }, BRANCHES },
	{ 0x7ec4, { branches }, JCCS },
	{ 0x80c4, { branches }, BRANCHES & ~P(NOT_TAKEN) },
	BRANCH_EVENTS
	{ 0x11d0, { pages }, P(FAR_LOAD) },
	{ 0x12d0, { pages }, P(FAR_STORE) },
	{ 0x13d0, { pages }, P(FAR_LOAD) | P(FAR_STORE) },
	{ 0x21d0, { locked, accesses }, P(LOCKED) },
	{ 0x41d0, { accesses, levels }, P(SPLIT_LOAD) | P(PAGE_LOAD) },
	{ 0x42d0, { accesses, levels }, P(SPLIT_STORE) | P(PAGE_STORE) },
	{ 0x43d0, { accesses, levels },
	  P(SPLIT_LOAD) | P(PAGE_LOAD) | P(SPLIT_STORE) | P(PAGE_STORE) },
	{ 0x81d0, { accesses, locked }, LOADS },
	{ 0x82d0, { accesses, locked }, STORES },
	{ 0x83d0, { accesses, locked }, LOADS | STORES },
	{ 0x01d1, { levels }, P(L1) },
	{ 0x02d1, { levels }, P(L2) },
	{ 0x08d1, { levels }, P(FILL) | P(L2) | L2_MISSES },
	{ 0x10d1, { levels }, L2_MISSES },
	{ 0x20d1, { levels }, P(HITM) },
	{ 0x40d1, { levels }, P(FILL) },
	{ 0x80d1, { levels }, P(DRAM) },
};

static void goldmont(int precise_ip)
{
	const unsigned int num = ARRAY_SIZE(goldmont_events);

	prepare();
	/* With every_instruction() these are all that the manual has. */
	ktap_check(num + 2 == 45, "%u events", num + 2);
	where_it_happens(goldmont_events, num, precise_ip, false);
	every_instruction(0x00c0, precise_ip);
	every_instruction(0x00c2, precise_ip);
}

KTAP_CALL(goldmont_2, goldmont(2))
KTAP_CALL(goldmont_3, goldmont(3))

/* ---- Silvermont ---- */

static const struct event_places silvermont_events[] = {
	{ 0x0103, { blocked }, P(FORWARD) },
	{ 0x0803, { accesses, levels }, P(SPLIT_LOAD) | P(PAGE_LOAD) },
	{ 0x0204, { levels }, P(L2) },
	{ 0x0404, { levels }, L2_MISSES },
	{ 0x0804, { pages }, P(FAR_LOAD) },
	{ 0x2004, { levels }, P(HITM) },
	{ 0x00c4, { branches }, BRANCHES },
	{ 0x7ec4, { branches }, JCCS },
	BRANCH_EVENTS
};

static void silvermont_2(void)
{
	const unsigned int num = ARRAY_SIZE(silvermont_events);

	prepare();
	/* All that the manual has. */
	ktap_check(num == 21, "%u events", num);
	where_it_happens(silvermont_events, num, 2, true);
}

static const struct core_machine machines[] = {
	{ GOLDMONT, CORE_CASES({ "each event at its instruction, precision 2", goldmont_2 },
			       { "each event at its instruction, precision 3", goldmont_3 }) },
	{ SILVERMONT, CORE_CASES({ "each event at its instruction, precision 2", silvermont_2 }) },
};

CORE_MACHINES(machines)
