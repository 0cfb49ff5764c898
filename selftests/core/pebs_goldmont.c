// SPDX-License-Identifier: GPL-2.0-only
/*
 * VM: --machine goldmont
 * PTI: on
 * SOAK: 6.1 6.12 newest
 *
 * Precise sampling as the kernel does it, beside the module: instruction, address
 * and number of the samples.
 */
#define _GNU_SOURCE
#include "sample.h"
#include "walk.h"

#define WORDS		4096
#define ROUNDS		50000
#define PERIOD		997

static u64 from[WORDS] __attribute__((aligned(4096)));
static u64 to[WORDS] __attribute__((aligned(4096)));

/* Every precise event of the manual, umask in the second byte. */
static const uint16_t precise_events[] = {
	0x0103, 0x0203, 0x0403, 0x0803, 0x1003, 0x0213, 0x0413, 0x00c0, 0x00c2, 0x01c2,
	0x08c2, 0x10c2, 0x00c4, 0x7ec4, 0x80c4, 0xbfc4, 0xebc4, 0xf7c4, 0xf9c4, 0xfbc4,
	0xfdc4, 0xfec4, 0x00c5, 0x7ec5, 0xebc5, 0xf7c5, 0xfbc5, 0xfec5, 0x11d0, 0x12d0,
	0x13d0, 0x21d0, 0x41d0, 0x42d0, 0x43d0, 0x81d0, 0x82d0, 0x83d0, 0x01d1, 0x02d1,
	0x08d1, 0x10d1, 0x20d1, 0x40d1, 0x80d1,
};

static struct ring ring;

static void run(struct perf_event_attr *attr, u64 rounds)
{
	ring_open(&ring, attr);
	perf_enable(ring.fd);
	walk(to, from, WORDS, 1, rounds);
	perf_disable(ring.fd);
}

static bool walking(const struct sample *s)
{
	return s->ip >= (uintptr_t)walk_load && s->ip < (uintptr_t)walk_end;
}

/* All from one instruction, its address, and each PERIOD accesses after the last. */
static void accesses(u64 config, int precise, const char *insn, const u64 *array)
{
	struct perf_event_attr attr = sample_attr(config, precise, PERIOD);
	struct sample s;
	u64 last = 0;
	int num = 0;

	run(&attr, ROUNDS);
	while (ring_next(&ring, &s)) {
		u64 index = s.reg[REG_CX];
		u64 base = s.reg[array == from ? REG_SI : REG_DI];

		if (!walking(&s))
			continue;
		if (!ktap_check(s.ip == (uintptr_t)insn, "ip %+lld",
				(long long)(s.ip - (uintptr_t)insn)) ||
		    !ktap_check(base == (uintptr_t)array && s.addr == base + 8 * index,
				"address %#llx, index %llu", s.addr, index) ||
		    !ktap_check(!num || (index - last) % WORDS == PERIOD % WORDS,
				"sample %d: from index %llu to %llu", num, last, index))
			break;
		last = index;
		num++;
	}
	ktap_check(num >= ROUNDS / PERIOD - 1 && !ring.lost, "%d samples, %llu lost", num,
		   ring.lost);
	ring_close(&ring);
}

static void loads(void)
{
	accesses(0x81d0, 2, walk_load, from);
	accesses(0x81d0, 3, walk_load, from);
}

static void stores(void)
{
	accesses(0x82d0, 2, walk_store, to);
	accesses(0x82d0, 3, walk_store, to);
}

/* Precision 1 is the address of the next instruction. */
static void after(void)
{
	accesses(0x81d0, 1, walk_after_load, from);
	accesses(0x82d0, 1, walk_after_store, to);
}

static void both(void)
{
	struct perf_event_attr attr = sample_attr(0x83d0, 2, PERIOD);
	int num_loads = 0, num_stores = 0, wrong = 0;
	struct sample s;

	run(&attr, ROUNDS);
	while (ring_next(&ring, &s)) {
		u64 offset = 8 * s.reg[REG_CX];

		if (!walking(&s))
			continue;
		if (s.ip == (uintptr_t)walk_load && s.addr == (uintptr_t)from + offset)
			num_loads++;
		else if (s.ip == (uintptr_t)walk_store && s.addr == (uintptr_t)to + offset)
			num_stores++;
		else
			wrong++;
	}
	ktap_check(!wrong && num_loads && num_stores, "%d loads, %d stores, %d wrong",
		   num_loads, num_stores, wrong);
	ring_close(&ring);
}

/* One of the instructions of the round, each PERIOD after the last. */
static void instructions(void)
{
	/* The offsets of the instructions, in their order. */
	struct perf_event_attr attr = sample_attr(0x00c0, 2, PERIOD);
	u64 last = 0, seen[WALK_INSNS] = {};
	int num = 0, different = 0, i, slots = 0;
	struct sample s;

	run(&attr, ROUNDS);
	while (ring_next(&ring, &s)) {
		if (!walking(&s))
			continue;
		/* PERIOD is 7 modulo 9, so nine samples visit nine instructions. */
		if (num >= WALK_INSNS)
			different += s.ip != seen[num % WALK_INSNS];
		else
			seen[num] = s.ip;
		ktap_check(s.time >= last, "sample %d: %lld ns", num, (long long)(s.time - last));
		last = s.time;
		num++;
	}
	for (i = 0; i < WALK_INSNS; i++)
		slots += seen[i] != seen[(i + 1) % WALK_INSNS];
	ktap_check(!different && slots == WALK_INSNS && num >= WALK_INSNS * ROUNDS / PERIOD - 1,
		   "%d samples, %d not where expected, %d instructions", num, different, slots);
	ring_close(&ring);
}

static void branches(void)
{
	static const uint16_t events[] = { 0x00c4, 0x7ec4, 0x80c4, 0xfec4 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(events); i++) {
		struct perf_event_attr attr = sample_attr(events[i], 2, PERIOD);
		int num = 0, wrong = 0;
		struct sample s;

		run(&attr, ROUNDS);
		while (ring_next(&ring, &s)) {
			if (!walking(&s))
				continue;
			num++;
			wrong += s.ip != (uintptr_t)walk_jump;
		}
		ktap_check(!wrong && num >= ROUNDS / PERIOD - 1, "%#x: %d samples, %d wrong",
			   events[i], num, wrong);
		ring_close(&ring);
	}
}

/*
 * INV, ANY, EDGE and CMASK turn reduced skid off. The kernel takes no precise event with
 * one of them, so nothing ever skids.
 */
static u64 skidded_before;

static void skid(void)
{
	u64 skidded = core_stat(0, SYN_CORE_S_SKIDDED) - skidded_before;

	static const u64 flags[] = { 1ull << 18, 1ull << 21, 1ull << 23, 1ull << 24 };
	unsigned int i;
	int precise;

	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		for (precise = 1; precise <= 3; precise++) {
			int err = try_open(0x81d0 | flags[i], 0, precise);

			ktap_check(err == -EINVAL || err == -EOPNOTSUPP, "%#llx at %d: %d",
				   flags[i], precise, err);
		}
	}
	ktap_check(!skidded, "%llu skidded", skidded);
}

/* A mispredicted return: stir() makes some, but fewer than a period. */
#define RARE	0xf7c5

/*
 * What the silicon wrote is what perf delivers: nothing is lost. @precise: of the first
 * event, the next one has the next, or 0: all of them for each
 */
static void accounted(unsigned int precise, void (*adapt)(struct perf_event_attr *attr))
{
	unsigned int i, p;

	for (i = 0; i < ARRAY_SIZE(precise_events); i++) {
		for (p = 1; p <= 3; p++) {
			struct perf_event_attr attr = sample_attr(precise_events[i], p, 31);
			u64 records = core_stat(0, SYN_CORE_S_RECORDS);
			u64 count[2] = {};	/* value, lost */
			struct sample s;

			if (precise && (precise + i) % 3 + 1 != p)
				continue;
			adapt(&attr);
			/* The ring tells of losses only with the next sample it takes. */
			attr.read_format = PERF_FORMAT_LOST;
			ring_open(&ring, &attr);
			perf_enable(ring.fd);
			walk(to, from, WORDS, 1, 300);
			stir(from, 1000);
			perf_disable(ring.fd);
			while (ring_next(&ring, &s))
				;
			records = core_stat(0, SYN_CORE_S_RECORDS) - records;
			ktap_require(read(ring.fd, count, sizeof(count)) == sizeof(count));
			ktap_check(records == ring.samples && !count[1],
				   "%#x at %u: %llu records, %llu samples, %llu lost",
				   precise_events[i], p, records, ring.samples, count[1]);
			ktap_check(records || precise_events[i] == RARE, "no record of %#x at %u",
				   precise_events[i], p);
			ring_close(&ring);
		}
	}
}

static void as_it_is(struct perf_event_attr *attr)
{
	(void)attr;
}

static void one_by_one(struct perf_event_attr *attr)
{
	attr->wakeup_events = 1;
}

static void frequency(struct perf_event_attr *attr)
{
	attr->freq = 1;
	attr->sample_freq = 2000;
}

/*
 * Each event with the kernel alone and with everything on, in each of three ways; of the
 * precisions one each time, and all of them in "make soak".
 */
static unsigned int first_precise;

KTAP_CALL(accounted_plain, accounted(soak() ? 0 : first_precise, as_it_is))
KTAP_CALL(accounted_one_by_one, accounted(soak() ? 0 : first_precise + 1, one_by_one))
KTAP_CALL(accounted_frequency, accounted(soak() ? 0 : first_precise + 2, frequency))

static void prepare(const char *parameters)
{
	run_on(0);
	skidded_before = core_stat(0, SYN_CORE_S_SKIDDED);
	first_precise = parameters ? 2 : 1;
	ext_load(parameters);
	perf_unlimited();
	/* Loads from everywhere, whatever the caches. */
	msr_write(0, SYN_MEM_SHIFT, 6);
	msr_write(0, SYN_MEM_MAP, 0x6543216543216541);
	msr_write(0, SYN_MEM_MODE, SYN_MEM_BY_ADDRESS);
}

KTAP_CALL(kernel_alone, prepare(NULL))
KTAP_CALL(everything_on, prepare("enforce=1 data_src=1"))

/* Loads, and the time stamp counter before each and after the last. */
#define STAMPS		20000

static u64 stamps[STAMPS + 1];

extern const char stamp_load[];
void stamp(u64 *stamps, u64 num);

asm("	.text\n"
    "stamp:	mov %rsi, %r8\n"
    "	xor %ecx, %ecx\n"
    "1:	rdtsc\n"
    "	shl $32, %rdx\n"
    "	or %rdx, %rax\n"
    "	mov %rax, (%rdi,%rcx,8)\n"
    "stamp_load: mov (%rdi,%rcx,8), %rax\n"
    "	inc %rcx\n"
    "	cmp %r8, %rcx\n"
    "	jbe 1b\n"
    "	ret\n");

/* The kernel's time of a time stamp, as the user page says. */
static u64 time_of(const struct perf_event_mmap_page *page, u64 tsc)
{
	u64 quot = tsc >> page->time_shift;
	u64 rem = tsc & ((1ull << page->time_shift) - 1);

	return page->time_zero + quot * page->time_mult + ((rem * page->time_mult) >> page->time_shift);
}

/*
 * The record's own time (C0H) is the time stamp counter when it was made: after the load it is
 * about and before the next time the counter is read. Here it comes out of the buffer much later.
 */
static void time_stamps(void)
{
	struct perf_event_attr attr = sample_attr(0x81d0, 2, PERIOD);
	struct perf_event_mmap_page *page;
	int num = 0, wrong = 0;
	struct sample s;

	ring_open(&ring, &attr);
	page = ring.page;
	ktap_require(page->cap_user_time_zero, "no time of the kernel from the TSC");
	perf_enable(ring.fd);
	stamp(stamps, STAMPS);
	perf_disable(ring.fd);
	while (ring_next(&ring, &s)) {
		u64 i = s.reg[REG_CX];

		if (s.ip != (uintptr_t)stamp_load || i >= STAMPS)
			continue;
		num++;
		wrong += s.time < time_of(page, stamps[i]) || s.time > time_of(page, stamps[i + 1]);
	}
	ktap_check(num >= STAMPS / PERIOD - 2 && !wrong, "%d samples, %d at another time", num, wrong);
	ring_close(&ring);
}

/* In one process, for what prepare() sets and sees. */
#define CASES(_with, _prepare)								\
	{ "prepare: " _with, _prepare },						\
	{ "loads: instruction and address, " _with, loads, KTAP_SAME_PROCESS },		\
	{ "stores: instruction and address, " _with, stores, KTAP_SAME_PROCESS },	\
	{ "precision 1: the next instruction, " _with, after, KTAP_SAME_PROCESS },	\
	{ "loads and stores in one, " _with, both, KTAP_SAME_PROCESS },			\
	{ "instructions, " _with, instructions, KTAP_SAME_PROCESS },			\
	{ "branches, " _with, branches, KTAP_SAME_PROCESS },				\
	{ "time stamps, " _with, time_stamps, KTAP_SAME_PROCESS },			\
	{ "no skid, " _with, skid, KTAP_SAME_PROCESS },					\
	{ "records = samples, " _with, accounted_plain, KTAP_SAME_PROCESS },		\
	{ "records = samples, one by one, " _with, accounted_one_by_one, KTAP_SAME_PROCESS },\
	{ "records = samples, frequency, " _with, accounted_frequency, KTAP_SAME_PROCESS }

CORE_MAIN("5c 5f", CASES("the kernel alone", kernel_alone), CASES("everything on", everything_on))
