// SPDX-License-Identifier: GPL-2.0-only
/*
 * VM: --machine goldmont
 * TEST: 6.1 6.12 newest debug
 * VM: --machine goldmont --model 7a
 *
 * The data source of samples, against who served the access. The silicon is told to
 * let the address decide that.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>

#include "sample.h"
#include "walk.h"

#define WORDS		4096
#define ROUNDS		8000
#define PERIOD		31
#define LINES		16

static u64 from[WORDS] __attribute__((aligned(4096)));
static u64 to[WORDS] __attribute__((aligned(4096)));

/* Of 16 lines in a row. */
#define MAP		0x6543216543216541ull

static unsigned int level_of(u64 addr)
{
	return MAP >> 4 * (addr >> 6 & (LINES - 1)) & 15;
}

#define L(level)	(1u << SYN_LEVEL_##level)
#define ALL		~0u

static const struct source {
	uint16_t config;
	unsigned int levels;	/* that may serve it */
	unsigned int op, lvl, num, snoop, lock, dtlb;
} sources[] = {
	{ 0x81d0, ALL, PERF_MEM_OP_LOAD, 0, 0, 0, 0, 0 },
	{ 0x82d0, ALL, PERF_MEM_OP_STORE, 0, 0, 0, 0, 0 },
	{ 0x83d0, ALL, PERF_MEM_OP_LOAD | PERF_MEM_OP_STORE, 0, 0, 0, 0, 0 },
	{ 0x41d0, ALL, PERF_MEM_OP_LOAD, 0, 0, 0, 0, 0 },
	{ 0x42d0, ALL, PERF_MEM_OP_STORE, 0, 0, 0, 0, 0 },
	{ 0x43d0, ALL, PERF_MEM_OP_LOAD | PERF_MEM_OP_STORE, 0, 0, 0, 0, 0 },
	{ 0x21d0, ALL, PERF_MEM_OP_LOAD, 0, 0, 0, PERF_MEM_LOCK_LOCKED, 0 },
	{ 0x11d0, ALL, PERF_MEM_OP_LOAD, 0, 0, 0, 0, PERF_MEM_TLB_MISS | PERF_MEM_TLB_L2 },
	{ 0x12d0, ALL, PERF_MEM_OP_STORE, 0, 0, 0, 0, PERF_MEM_TLB_MISS | PERF_MEM_TLB_L2 },
	{ 0x13d0, ALL, PERF_MEM_OP_LOAD | PERF_MEM_OP_STORE, 0, 0, 0, 0,
	  PERF_MEM_TLB_MISS | PERF_MEM_TLB_L2 },
	{ 0x01d1, L(L1), PERF_MEM_OP_LOAD, PERF_MEM_LVL_HIT | PERF_MEM_LVL_L1,
	  PERF_MEM_LVLNUM_L1, 0, 0, 0 },
	{ 0x02d1, L(L2), PERF_MEM_OP_LOAD, PERF_MEM_LVL_HIT | PERF_MEM_LVL_L2,
	  PERF_MEM_LVLNUM_L2, 0, 0, 0 },
	{ 0x08d1, L(FILL) | L(L2) | L(L3) | L(HITM) | L(DRAM), PERF_MEM_OP_LOAD,
	  PERF_MEM_LVL_MISS | PERF_MEM_LVL_L1, 0, 0, 0, 0 },
	{ 0x10d1, L(L3) | L(HITM) | L(DRAM), PERF_MEM_OP_LOAD,
	  PERF_MEM_LVL_MISS | PERF_MEM_LVL_L2, 0, 0, 0, 0 },
	{ 0x20d1, L(HITM), PERF_MEM_OP_LOAD, PERF_MEM_LVL_HIT | PERF_MEM_LVL_L3,
	  PERF_MEM_LVLNUM_ANY_CACHE, PERF_MEM_SNOOP_HITM, 0, 0 },
	{ 0x40d1, L(FILL), PERF_MEM_OP_LOAD, PERF_MEM_LVL_HIT | PERF_MEM_LVL_LFB,
	  PERF_MEM_LVLNUM_LFB, 0, 0, 0 },
	{ 0x80d1, L(DRAM), PERF_MEM_OP_LOAD, PERF_MEM_LVL_HIT | PERF_MEM_LVL_LOC_RAM,
	  PERF_MEM_LVLNUM_RAM, 0, 0, 0 },
};

#define NUM_SOURCES	ARRAY_SIZE(sources)

static struct ring ring;
static u64 records;	/* that the silicon has written for it */
static u64 lost;		/* of them, as the kernel says */

static void sample(u64 config, void (*adapt)(struct perf_event_attr *attr))
{
	struct perf_event_attr attr = sample_attr(config, 2, PERIOD);
	u64 count[2];	/* value, lost */

	attr.read_format = PERF_FORMAT_LOST;
	if (adapt)
		adapt(&attr);
	ring_open(&ring, &attr);
	records = core_stat(0, SYN_CORE_S_RECORDS);
	perf_enable(ring.fd);
	walk(to, from, WORDS, 1, ROUNDS);
	stir(from, ROUNDS / 16);
	perf_disable(ring.fd);
	records = core_stat(0, SYN_CORE_S_RECORDS) - records;
	ktap_require(read(ring.fd, count, sizeof(count)) == sizeof(count));
	lost = count[1];
}

/* Some, and all of them. Only a ring that is full may lose one. */
static bool all_samples(u64 num)
{
	bool full = (num + 1) * sizeof(struct sample) > RING_PAGES * 4096;

	return num && records == num + lost && (!lost || full);
}

static u64 or_na(unsigned int val, unsigned int na)
{
	return val ? val : na;
}

static bool source_is(const struct source *want, union perf_mem_data_src src)
{
	/* A cache that is not in the way of this core: another core's, of the same chip. */
	bool other = want->num == PERF_MEM_LVLNUM_ANY_CACHE;
	/* In the kernel's own it is an L2, which the perf of that kernel takes for local as well. */
	static const struct source patched = {
		0x20d1, L(HITM), PERF_MEM_OP_LOAD, PERF_MEM_LVL_HIT | PERF_MEM_LVL_L2,
		PERF_MEM_LVLNUM_L2, PERF_MEM_SNOOP_HITM, 0, 0
	};

	if (other && ext_needless())
		want = &patched;
	return src.mem_op == want->op && src.mem_lvl == or_na(want->lvl, PERF_MEM_LVL_NA) &&
	       src.mem_lvl_num == or_na(want->num, PERF_MEM_LVLNUM_NA) &&
	       src.mem_snoop == or_na(want->snoop, PERF_MEM_SNOOP_NA) &&
	       src.mem_lock == or_na(want->lock, PERF_MEM_LOCK_NA) &&
	       src.mem_dtlb == or_na(want->dtlb, PERF_MEM_TLB_NA) &&
	       src.mem_remote == (other ? PERF_MEM_REMOTE_REMOTE : 0) &&
	       src.mem_hops == (other ? PERF_MEM_HOPS_0 : 0);
}

static bool source_na(union perf_mem_data_src src)
{
	return src.mem_op == PERF_MEM_OP_NA && src.mem_lvl == PERF_MEM_LVL_NA &&
	       src.mem_snoop == PERF_MEM_SNOOP_NA && src.mem_lock == PERF_MEM_LOCK_NA &&
	       src.mem_dtlb == PERF_MEM_TLB_NA;
}

/* Every sample says it, and says what the address tells. */
static void sources_right(void (*adapt)(struct perf_event_attr *attr))
{
	unsigned int i;

	for (i = 0; i < NUM_SOURCES; i++) {
		const struct source *want = &sources[i];
		int num = 0, levels = 0, wrong = 0;
		struct sample s;

		sample(want->config, adapt);
		while (ring_next(&ring, &s)) {
			num++;
			wrong += !source_is(want, s.src);
			if (want->levels != ALL)
				levels += !(want->levels & 1u << level_of(s.addr));
		}
		ktap_check(all_samples(num) && !wrong && !levels,
			   "%#x: %d samples of %llu, %d with another source, %d served elsewhere",
			   want->config, num, records, wrong, levels);
		ring_close(&ring);
	}
}

static void sources_na(const char *parameters, void (*adapt)(struct perf_event_attr *attr))
{
	unsigned int i;

	if (ext_needless())
		ktap_skip("the kernel has the data source itself");
	ext_load(parameters);
	for (i = 0; i < NUM_SOURCES; i++) {
		int num = 0, wrong = 0;
		struct sample s;

		sample(sources[i].config, adapt);
		while (ring_next(&ring, &s)) {
			num++;
			wrong += !source_na(s.src);
		}
		ktap_check(all_samples(num) && !wrong, "%#x: %d samples of %llu, %d with a source",
			   sources[i].config, num, records, wrong);
		ring_close(&ring);
	}
}

/* Each case begins so. */
void ktap_begin(void)
{
	run_on(0);
	perf_unlimited();
	msr_write(0, SYN_MEM_SHIFT, 6);
	msr_write(0, SYN_MEM_MAP, MAP);
	msr_write(0, SYN_MEM_MODE, SYN_MEM_BY_ADDRESS);
}

KTAP_CALL(kernel_alone, sources_na(NULL, NULL))
KTAP_CALL(not_asked_for, sources_na("enforce=1", NULL))

static void fixed_period(void)
{
	ext_load("data_src=1");
	sources_right(NULL);
}

/* An event that says nothing, also where the module has to clear something else */
static void says_nothing(void)
{
	static const u64 types[] = { 0, PERF_SAMPLE_TRANSACTION };
	unsigned int i;

	ext_load("data_src=1");
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		struct perf_event_attr attr = sample_attr(0x00c4, 2, PERIOD);
		int num = 0, wrong = 0;
		struct sample s;

		/* It comes behind the source. */
		attr.sample_type |= types[i];
		ring_open(&ring, &attr);
		perf_enable(ring.fd);
		walk(to, from, WORDS, 1, ROUNDS);
		perf_disable(ring.fd);
		while (ring_next(&ring, &s)) {
			num++;
			wrong += !source_na(s.src);
		}
		ktap_check(num && !wrong, "%#llx: %d samples, %d with a source", types[i], num,
			   wrong);
		ring_close(&ring);
	}
}

static void frequency_set(struct perf_event_attr *attr)
{
	attr->freq = 1;
	attr->sample_freq = 20000;
}

static void frequency(void)
{
	ext_load("data_src=1");
	sources_right(frequency_set);
}

/* Records that pile up would be written out without the handler. */
static void watermark_set(struct perf_event_attr *attr)
{
	attr->watermark = 1;
	attr->wakeup_watermark = 4096;
}

static void woken_late(void)
{
	struct perf_event_attr attr = sample_attr(0x81d0, 2, PERIOD);
	struct pollfd pollfd = { .events = POLLIN };

	ext_load("data_src=1");
	sources_right(watermark_set);
	/* Only the module has records come one by one. */
	if (ext_needless())
		return;
	watermark_set(&attr);
	ring_open(&ring, &attr);
	pollfd.fd = ring.fd;
	perf_enable(ring.fd);
	walk(to, from, WORDS, 1, 5 * PERIOD);
	ktap_check(ring.page->data_head && !poll(&pollfd, 1, 0), "woken at %llu bytes",
		   ring.page->data_head);
	walk(to, from, WORDS, 1, ROUNDS);
	ktap_check(poll(&pollfd, 1, 0) == 1, "not woken at %llu bytes", ring.page->data_head);
	perf_disable(ring.fd);
	ring_close(&ring);
}

/* The newest record comes first: only that it arrives through the same handler. */
static void backward(void)
{
	struct perf_event_attr attr = sample_attr(0x02d1, 2, PERIOD);
	const struct sample *s;

	ext_load("data_src=1");
	attr.write_backward = 1;
	ring_open(&ring, &attr);
	perf_enable(ring.fd);
	walk(to, from, WORDS, 1, ROUNDS);
	stir(from, ROUNDS / 16);
	perf_disable(ring.fd);
	ktap_require(ring.page->data_head, "no samples");
	s = (const void *)((const char *)ring.page + 4096 +
			   ring.page->data_head % (RING_PAGES * 4096));
	ktap_check(s->header.type == PERF_RECORD_SAMPLE && s->src.mem_op == PERF_MEM_OP_LOAD &&
		   s->src.mem_lvl == (PERF_MEM_LVL_HIT | PERF_MEM_LVL_L2));
	ring_close(&ring);
}

/* Samples of a child, by an event that it has from us; @late: the module comes between. */
static void inherit(bool late)
{
	struct perf_event_attr attr = sample_attr(0x02d1, 2, PERIOD);
	struct perf_event_attr own = core_attr(0x00c4, 0, 0);
	int num = 0, wrong = 0, fd;
	struct sample s;
	pid_t pid;

	/* With the same events in both, perf lets the child run with ours. */
	fd = open_task(&own, -1);
	ktap_require(fd >= 0, "%s", strerror(-fd));
	ext_load(late ? NULL : "data_src=1");
	attr.inherit = 1;
	/* Each CPU has a ring of its own for inherited events. */
	fd = syscall(SYS_perf_event_open, &attr, 0, 0, -1, 0);
	ktap_require(fd >= 0, "%s", strerror(errno));
	ring_map(&ring, fd, RING_PAGES);
	if (late)
		ext_load("data_src=1");
	perf_enable(ring.fd);
	pid = fork();
	if (!pid) {
		walk(to, from, WORDS, 1, ROUNDS);
		raise(SIGSTOP);
		_exit(0);
	}
	ktap_require(pid > 0 && waitpid(pid, NULL, WUNTRACED) == pid);
	if (late)
		ext_unload();
	kill(pid, SIGCONT);
	waitpid(pid, NULL, 0);
	perf_disable(ring.fd);
	while (ring_next(&ring, &s)) {
		num++;
		wrong += !(late ? source_na(s.src) : source_is(&sources[11], s.src));
	}
	ktap_check(num && !wrong, "%d samples, %d wrong", num, wrong);
	ring_close(&ring);
}

KTAP_CALL(inherited, inherit(false))

/* The parent has nothing of the module's, so its child gets nothing that would keep the module. */
static void inherited_older(void)
{
	ext_needed();
	inherit(true);
}

/* No record has a latency or a transaction, whatever the CPU writes in that field. */
static void weights(u64 config, u64 type)
{
	struct perf_event_attr attr = sample_attr(config, 2, PERIOD);
	int num = 0, wrong = 0, pass;
	struct weighed w;

	attr.sample_type = PERF_SAMPLE_IP | type;
	for (pass = 0; pass < 2; pass++) {
		attr.wakeup_events = pass;
		ring_open(&ring, &attr);
		perf_enable(ring.fd);
		walk(to, from, WORDS, 1, ROUNDS);
		perf_disable(ring.fd);
		while (ring_next_weighed(&ring, &w)) {
			num++;
			wrong += !!w.weight;
		}
		ring_close(&ring);
	}
	ktap_check(num && !wrong, "%#llx, %#llx: %d samples, %d with one", config, type, num,
		   wrong);
}

static void no_weight(void)
{
	static const u64 types[] = {
		PERF_SAMPLE_WEIGHT, PERF_SAMPLE_WEIGHT_STRUCT, PERF_SAMPLE_TRANSACTION
	};
	unsigned int i;

	ext_load("data_src=1");
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		weights(0x81d0, types[i]);
		weights(0x82d0, types[i]);
		weights(0x00c0, types[i]);
		weights(0x00c4, types[i]);
	}
}

CORE_MAIN("5c 5f 7a",
	{ "N/A from the kernel alone", kernel_alone },
	{ "N/A without data_src", not_asked_for },
	{ "by the event, fixed period", fixed_period },
	{ "by the event, frequency", frequency },
	{ "N/A of an event that says nothing", says_nothing },
	{ "by the event, ring written backward", backward },
	{ "by the event, the reader woken late", woken_late },
	{ "by the event, inherited", inherited },
	{ "N/A, inherited from before the module", inherited_older },
	{ "no weight and no transaction", no_weight })
