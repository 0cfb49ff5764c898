/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sampling for tests: ring buffers, and the books that have to balance.
 *
 * Every overflow of a counter that the silicon knows of is a sample, a sample that
 * found no room in its ring buffer, or one that xeon7500_package/lost/ reports.
 */
#ifndef SELFTESTS_SAMPLING_H
#define SELFTESTS_SAMPLING_H

#include "silicon.h"

#ifndef PERF_FORMAT_LOST
#define PERF_FORMAT_LOST	(1U << 4)
#endif

#define SAMPLE_MAX_VALUES	16

/* What every sample of ours carries; PERF_SAMPLE_READ, _CALLCHAIN and _REGS_INTR may be added. */
#define SAMPLE_BASE	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |	\
			 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)

/* sample_regs_intr: all that a 64-bit kernel gives, in the order of <asm/perf_regs.h>. */
#define SAMPLE_REGS_MASK	0xff0fffULL
#define SAMPLE_REGS		20

enum {
	SAMPLE_REG_BP = 6, SAMPLE_REG_SP, SAMPLE_REG_IP, SAMPLE_REG_FLAGS, SAMPLE_REG_CS,
	SAMPLE_REG_SS,
};

struct sample {
	u64 ip;
	uint32_t pid;
	uint32_t tid;
	u64 time;
	uint32_t cpu;
	u64 period;
	/* PERF_SAMPLE_READ with PERF_FORMAT_GROUP */
	u64 num_values;
	u64 value[SAMPLE_MAX_VALUES];
	/* PERF_SAMPLE_CALLCHAIN */
	u64 chain_len;
	u64 chain[128];
	/* PERF_SAMPLE_REGS_INTR with SAMPLE_REGS_MASK; abi 0: there are none */
	u64 abi;
	u64 reg[SAMPLE_REGS];
};

/*
 * Are these the registers of an interrupted program? Bit 1 of the flags is always 1 in the CPU,
 * and 0 where the kernel has made the registers up (perf_fetch_caller_regs()). Our driver sets it,
 * but fills in no stack pointer.
 */
bool sample_regs_are_real(const struct sample *s);

typedef void (*sample_visit)(const struct ring *r, const struct sample *s, void *arg);

/* Take all records out of a ring; visit() may be NULL. */
void ring_drain(struct ring *r, sample_visit visit, void *arg);

void rings_drain(void);

void rings_sum(struct ring *sum);

/* Samples that found no room, also those no record tells of yet. */
u64 ring_no_room(const struct ring *r);

/*
 * The attr of a sampling event; its file is read as value and lost, or as a group.
 */
struct perf_event_attr sampling_attr(const char *pmu, const char *event, u64 period);

/* Opens a sampling event with a ring. */
struct ring *sampling_open(const char *pmu, const char *event, u64 period, int cpu,
			   unsigned int pages);

#define SAMPLING_HZ	250	/* CONFIG_HZ */

/*
 * How many samples a second an event may take before it is throttled; not adjusted by
 * how long the handler takes, which depends on the machine the test is on.
 */
void sampling_limit(unsigned int per_second);

u64 perf_value(int fd);

u64 clock_ns(void);

/* Like sleep_us(), but the CPU is not idle. */
void spin_us(unsigned int us);

/* Overflows of which the driver says that they gave no sample, on all packages. */
extern int lost_packages;

void lost_open(void);

u64 lost_count(void);

/*
 * Gates of all packages, if there are any: behind them events are enabled and disabled
 * while nothing can overflow. So perf takes none away that runs. From now on
 * nothing counts.
 */
void gates_install(void);

void gates_open(void);

void gates_close(void);

/* ---- the books ---- */

u64 all_overflows(void);

struct books {
	u64 overflows;
	struct ring rings;
	u64 no_room;
	u64 lost;
	u64 stops;	/* of events that may end a period with fewer than 3 counts */
};

/*
 * A THROTTLE record that finds no room is counted like a sample, and so is the
 * UNTHROTTLE that follows. For each of these pairs an event had its samples of a tick.
 * If 1 or 2 counts of a period are left, the counter overflows after 3: an event that stops
 * before has its sample without an overflow.
 */
void books_balance(const char *what, const struct books *b);

/*
 * Only an event with a limit (REFRESH) may lose a sample, as perf takes it away. Without --icount
 * the host may stop the machine while the driver gives the samples of events that leave, for which
 * it has 6 ms: then a few are lost, and more on a debug kernel, which takes longer for each.
 */
void books_lost(const char *what, const struct books *b);

/*
 * To be called when nothing runs any more, and no event had a limit. Overflows of counting
 * events, of which there have been @wraps, give no sample.
 */
struct books check_books_but(const char *what, u64 wraps);

struct books check_books(const char *what);

#endif /* SELFTESTS_SAMPLING_H */
