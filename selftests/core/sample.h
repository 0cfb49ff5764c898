/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples of one event of this task: a ring buffer and its records, decoded.
 */
#ifndef SELFTESTS_CORE_SAMPLE_H
#define SELFTESTS_CORE_SAMPLE_H

#include <time.h>
#include <sched.h>
#include <sys/resource.h>

#include "ext.h"
#include "msr.h"
#include "ring.h"
#include "synthetic.h"

/* In the order of the record. */
#define SAMPLE_TYPE	(PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | \
			 PERF_SAMPLE_PERIOD | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_REGS_INTR)
/* All general registers, ip and flags: more, and the kernel takes one record at a time. */
#define SAMPLE_REGS	0xff03ffull
#define SAMPLE_NUM_REGS	18

/* Positions among the SAMPLE_REGS */
enum { REG_AX, REG_BX, REG_CX, REG_DX, REG_SI, REG_DI, REG_BP, REG_SP, REG_IP };

struct sample {
	struct perf_event_header header;
	u64 ip;
	u64 time;
	u64 addr;
	u64 period;
	union perf_mem_data_src src;
	u64 abi;
	u64 reg[SAMPLE_NUM_REGS];
};

#define RING_PAGES	512

/* A sampling event of this task, not running yet. */
static inline struct perf_event_attr sample_attr(u64 config, int precise, u64 period)
{
	struct perf_event_attr attr = core_attr(config, 0, precise);

	attr.sample_type = SAMPLE_TYPE;
	attr.sample_regs_intr = SAMPLE_REGS;
	attr.sample_period = period;
	attr.exclude_kernel = 1;
	return attr;
}

static inline void ring_open(struct ring *r, struct perf_event_attr *attr)
{
	int fd = open_task(attr, -1);

	ktap_require(fd >= 0, "config %#llx: %s", attr->config, strerror(-fd));
	ring_map(r, fd, RING_PAGES);
}

static inline void ring_close(struct ring *r)
{
	ring_unmap(r);
	close(r->fd);
}

/* The next sample, false when there is none. Losses are counted in passing. */
static inline bool ring_next(struct ring *r, struct sample *s)
{
	const union ring_record *rec;

	while ((rec = ring_record(r))) {
		if (rec->header.type != PERF_RECORD_SAMPLE)
			continue;
		/* Longer than a sample as above, or shorter: without registers. */
		memset(s, 0, sizeof(*s));
		memcpy(s, rec, rec->header.size < sizeof(*s) ? rec->header.size : sizeof(*s));
		return true;
	}
	return false;
}

/* A sample of an event that asks for its instruction and its weight, and for nothing else. */
struct weighed {
	struct perf_event_header header;
	u64 ip;
	u64 weight;
};

#define WEIGHED_TYPE	(PERF_SAMPLE_IP | PERF_SAMPLE_WEIGHT)

static inline bool ring_next_weighed(struct ring *r, struct weighed *w)
{
	const union ring_record *rec;

	while ((rec = ring_record(r))) {
		if (rec->header.type != PERF_RECORD_SAMPLE)
			continue;
		ktap_require(rec->header.size == sizeof(*w), "%u bytes", rec->header.size);
		memcpy(w, rec, sizeof(*w));
		return true;
	}
	return false;
}

/* Sample as often as asked; otherwise the kernel slows down when interrupts take long. */
static inline void perf_unlimited(void)
{
	/*
	 * The rate cannot be set while the first one is 0, and the kernel lowers it for a long NMI
	 * while that is not.
	 */
	ktap_require(!shell("cd /proc/sys/kernel && until "
			    "[ $(cat perf_cpu_time_max_percent perf_event_max_sample_rate | tr '\\n' -) = "
			    "0-1000000- ]; do echo 25 >perf_cpu_time_max_percent &&"
			    "echo 1000000 >perf_event_max_sample_rate &&"
			    "echo 0 >perf_cpu_time_max_percent || exit 1; done"),
		     "cannot set the limits of perf");
}

/*
 * "perf record" looks for the beginning of the kernel among the names of all its functions,
 * twice, and that is 1.4 of the 1.5 billion instructions it takes. Who may not see them does
 * not look.
 */
static inline void perf_unnamed(void)
{
	ktap_require(!shell("echo 2 >/proc/sys/kernel/kptr_restrict"), "cannot hide the kernel's names");
}

/* Of the CPU's core PMU, since power on or SYN_CLEAR. */
static inline u64 core_stat(int cpu, unsigned int what)
{
	return msr_read(cpu, SYN_CORE_STAT(what));
}

/*
 * The truth of all counters of a CPU, likewise, whichever the kernel has taken. But that of
 * the cycles, which is the watchdog's.
 */
static inline u64 core_truth(int cpu, unsigned int what)
{
	u64 sum = msr_read(cpu, SYN_CORE_TRUTH(what, SYN_CORE_FIXED(0))) +
		       msr_read(cpu, SYN_CORE_TRUTH(what, SYN_CORE_FIXED(2)));
	int i;

	for (i = 0; i < 8; i++)
		sum += msr_read(cpu, SYN_CORE_TRUTH(what, SYN_CORE_GP(i)));
	return sum;
}

/* The check of each case: while PEBS is on, some registers must not be written. */
static inline void no_write_with_pebs(void)
{
	int cpu, cpus = silicon_here() ? sysconf(_SC_NPROCESSORS_ONLN) : 0;

	for (cpu = 0; cpu < cpus; cpu++) {
		u64 writes = core_stat(cpu, SYN_CORE_S_V_WRITE);

		/* They are not the next one's. */
		if (!ktap_check(!writes, "CPU %d: %llu writes with PEBS on", cpu, writes))
			msr_write(0, SYN_CLEAR, 1);
	}
}

/* On real hardware as well, of these CPU models. */
#define MACHINE_MAIN(models, ...)					\
	KTAP_MAIN_CHECKED(core_missing(models) ?: ext_missing(), no_write_with_pebs, __VA_ARGS__)
#define CORE_MAIN(models, ...)						\
	KTAP_MAIN_CHECKED(silicon_missing() ?: core_missing(models) ?: ext_missing(), \
			  no_write_with_pebs, __VA_ARGS__)

/* A test whose cases are not the same on all CPUs ends with CORE_MACHINES() of a table of these. */
struct core_machine {
	const char *models;
	const struct ktap_case *cases;	/* closed by one without a name */
};

#define CORE_CASES(...)		(const struct ktap_case[]){ __VA_ARGS__, {} }
#define CORE_MACHINES(table)						\
int main(void)								\
{									\
	return core_run(table, ARRAY_SIZE(table));			\
}

/* The cases of the CPU at hand. Elsewhere those of the first are skipped. */
static inline int core_run(const struct core_machine *m, int num)
{
	const struct core_machine *end = m + num, *of = m;
	int cases = 0;

	while (of < end && !cpu_is(of->models))
		of++;
	if (of == end)
		of = m;
	while (of->cases[cases].name)
		cases++;
	return ktap_run(silicon_missing() ?: core_missing(of->models) ?: ext_missing(),
			no_write_with_pebs, of->cases, cases);
}

/* How often this task has lost its CPU. */
static inline long switches(void)
{
	struct rusage usage;

	ktap_require(!getrusage(RUSAGE_SELF, &usage), "getrusage: %s", strerror(errno));
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

/* Let nothing but interrupts take the CPU from this task, or let everything again. */
static inline void real_time(bool on)
{
	struct sched_param param = { .sched_priority = on };

	ktap_require(!sched_setscheduler(0, on ? SCHED_FIFO : SCHED_OTHER, &param), "%s",
		     strerror(errno));
}

/* Since some moment */
static inline double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

#endif
