// SPDX-License-Identifier: GPL-2.0-only
/*
 * PMIs that get lost, come twice, come late or come to another CPU. Counts are what
 * happened, each overflow is a sample or reported as lost, sampling goes on, and no NMI
 * is left that nobody wants.
 *
 * CPU 0 is in charge, CPU 1 the other thread of its core. The NMI watchdog is off: while
 * the core PMU is in use, its handler claims every NMI (intel_bts_interrupt() takes two
 * zeroes for a full buffer), and none would be left.
 *
 * VM: --sockets 1 --cores 2 --threads 2 --icount --append nmi_watchdog=0
 */
#include "kmsg.h"
#include "sampling.h"

#define ull		unsigned long long
#define OURS		"xeon7500_uncore"
#define DEBUGCTL	0x1d9
#define U_STATUS	0xc01
#define UNCORE_PMI	(1ull << 13)

/* Every 40 to 90 us. */
static const struct {
	const char *pmu, *event;
	unsigned int period;
} sampled[] = {
	{ "xeon7500_cbox_2", "occupancy_irq", 700001 },
	{ "xeon7500_wbox", "uncore_clock", 150001 },
	{ "xeon7500_mbox_1", "cycles", 100001 },
};

/* Counting events that wrap on the way: the first counter of each of these is at that address. */
static const struct {
	const char *pmu, *event;
	unsigned int ctr;
} counted[] = {
	{ "xeon7500_cbox_5", "occupancy_irq", 0xdb1 },
	{ "xeon7500_wbox", "uncore_clock", 0x394 },
	{ "xeon7500_sbox_0", "to_r_ndr_msgq_occupancy", 0xc51 },
};

#define SAMPLED		(int)(sizeof(sampled) / sizeof(sampled[0]))
#define COUNTED		(int)(sizeof(counted) / sizeof(counted[0]))
#define TO_WRAP		1500000
#define PRESET		((1ull << 48) - TO_WRAP)

static void clear_faults(void)
{
	unsigned int msr;

	for (msr = SYN_FAULT_LOSE; msr <= SYN_FAULT_DEBUGCTL; msr++)
		msr_write(0, msr, 0);
}

static void close_all(void)
{
	ring_close_all();
	event_close_all();
}

static void reload(void)
{
	close_all();
	ktap_require(!system("modprobe -r " OURS " && modprobe " OURS), "cannot be loaded again");
}

static void start(void)
{
	sampling_start();
	clear_faults();
	sampling_limit(1000000);
	kmsg_mark();
	lost_open();
}

/* ---- sampling ---- */

static void sampling_begin(const char *options)
{
	char name[64];
	int i;

	for (i = 0; i < SAMPLED; i++) {
		snprintf(name, sizeof(name), "%s%s", sampled[i].event, options);
		sampling_open(sampled[i].pmu, name, sampled[i].period, 0, 64);
	}
	gates_install();
	for (i = 0; i < SAMPLED; i++)
		perf_enable(rings[i].fd);
	gates_open();
}

/* @lost: how many may be, since their PMIs had not come */
static struct books sampling_end(const char *what, uint64_t lost)
{
	struct books b;
	int i;

	gates_close();
	for (i = 0; i < SAMPLED; i++)
		perf_disable(rings[i].fd);
	b = check_books_taken(what, lost);
	for (i = 0; i < SAMPLED; i++)
		ktap_check(perf_value(rings[i].fd) == box_truth(0, SYN_EVENTS, sampled[i].pmu),
			   "%s: %s: %llu, truth %llu", what, sampled[i].pmu,
			   (ull)perf_value(rings[i].fd),
			   (ull)box_truth(0, SYN_EVENTS, sampled[i].pmu));
	return b;
}

/*
 * A sibling that lets PMIs in asks the CPU in charge to look, which may be idle: nothing is
 * interrupted there that could be sampled.
 */
static bool sibling_listens;

static uint64_t found_without_interrupt(void)
{
	return sibling_listens ? SAMPLED * msr_read(0, SYN_PMI(SYN_PMI_MISROUTED)) : 0;
}

static uint64_t samples(void)
{
	struct ring sum;

	rings_drain();
	rings_sum(&sum);
	return sum.samples;
}

/* Ten more than there were, sooner or later. */
static uint64_t ten_more(uint64_t than)
{
	uint64_t now;
	int turns = 0;

	do {
		sleep_us(1500);
		now = samples();
	} while (now <= than + 10 && ++turns < 500);
	return now;
}

/*
 * A session in the middle of which something happens to @n PMIs. @stat says how often it
 * has: not each time if PMIs are rare for so long.
 */
static void sample_through(const char *options, unsigned int fault, uint64_t n, unsigned int stat)
{
	/* The status is looked at every 10 ms. */
	unsigned int us = fault == SYN_FAULT_DELAY_NS ? 40000 : 15000;
	uint64_t before, after;
	char what[80];
	struct books b;

	start();
	snprintf(what, sizeof(what), "fault %u, %llu%s", fault - SYN_FAULT_LOSE, (ull)n, options);
	sampling_begin(options);
	before = ten_more(0);
	msr_write(0, fault, n);
	sleep_us(us);
	msr_write(0, fault, 0);
	after = samples();
	/* Late ones arrive. */
	sleep_us(us);
	ktap_check(before > 10 && after > before && ten_more(after) > after + 10,
		   "%s: %llu, %llu, %llu samples", what, (ull)before, (ull)after, (ull)samples());
	b = sampling_end(what, found_without_interrupt());
	ktap_check(msr_read(0, SYN_PMI(stat)), "%s: it did not happen", what);
	ktap_note("%s: %llu times, %llu overflows", what, (ull)msr_read(0, SYN_PMI(stat)),
		  (ull)b.overflows);
	/* The last one, if it comes when all is over. */
	sleep_us(40000);
	kmsg_no_unknown_nmi();
}

static void sample_through_all(unsigned int fault, uint64_t n, unsigned int stat)
{
	sample_through(",freeze=1", fault, n, stat);
	sample_through("", fault, n, stat);
}

static void lost(void)
{
	sample_through_all(SYN_FAULT_LOSE, 1, SYN_PMI_LOST);
	sample_through_all(SYN_FAULT_LOSE, 5, SYN_PMI_LOST);
}

static void doubled(void)
{
	sample_through_all(SYN_FAULT_DOUBLE, 1, SYN_PMI_DOUBLED);
	sample_through_all(SYN_FAULT_DOUBLE, 100, SYN_PMI_DOUBLED);
}

static void late(void)
{
	sample_through_all(SYN_FAULT_DELAY_NS, 5000, SYN_PMI_DELAYED);
	sample_through_all(SYN_FAULT_DELAY_NS, 1000000, SYN_PMI_DELAYED);
	/* So late that the status was looked at without it. */
	sample_through_all(SYN_FAULT_DELAY_NS, 35000000, SYN_PMI_DELAYED);
}

static void to_the_sibling(void)
{
	sample_through_all(SYN_FAULT_SIBLING, 1, SYN_PMI_MISROUTED);
	sample_through_all(SYN_FAULT_SIBLING, 20, SYN_PMI_MISROUTED);
	ktap_check(msr_read(1, SYN_PMI_CPU(SYN_PMI_NO_DEBUGCTL)), "it did not come");
}

/* Somebody else has let PMIs in on all CPUs: each overflow interrupts both threads. */
static void to_a_sibling_that_listens(void)
{
	uint64_t old[4];
	int cpu;

	for (cpu = 1; cpu < 4; cpu++) {
		old[cpu] = msr_read(cpu, DEBUGCTL);
		msr_write(cpu, DEBUGCTL, old[cpu] | UNCORE_PMI);
	}
	sibling_listens = true;
	sample_through_all(SYN_FAULT_SIBLING, 1, SYN_PMI_MISROUTED);
	sample_through_all(SYN_FAULT_SIBLING, 20, SYN_PMI_MISROUTED);
	sibling_listens = false;
	ktap_check(msr_read(1, SYN_PMI_CPU(SYN_PMI_SENT)), "it did not come");
	for (cpu = 1; cpu < 4; cpu++)
		msr_write(cpu, DEBUGCTL, old[cpu]);
}

/*
 * With -F perf stops the event at each tick and starts it with a new period: the sample
 * whose PMI did not come must not be forgotten then.
 */
static void at_a_frequency(unsigned int fault, uint64_t n, unsigned int stat)
{
	struct perf_event_attr attr;
	struct ring *r;
	int i;

	start();
	attr = sampling_attr("xeon7500_wbox", "uncore_clock", 0);
	attr.freq = 1;
	attr.sample_freq = 5000;
	r = ring_open(event_open_attr(&attr, 0, -1), attr.sample_type, 256);
	run_on(0);	/* ticks stop on an idle CPU */
	gates_install();
	perf_enable(r->fd);
	gates_open();
	for (i = 0; i < 20; i++) {
		msr_write(0, fault, n);
		spin_us(10000);
		rings_drain();
	}
	msr_write(0, fault, 0);
	spin_us(40000);
	gates_close();
	perf_disable(r->fd);
	run_on(-1);
	check_books("at a frequency");
	ktap_note("fault %u: %llu times, %llu samples, %llu lost", fault - SYN_FAULT_LOSE,
		  (ull)msr_read(0, SYN_PMI(stat)), (ull)r->samples, (ull)lost_count());
	ktap_check(msr_read(0, SYN_PMI(stat)) >= 20);
	ktap_check(perf_value(r->fd) == box_truth(0, SYN_EVENTS, "xeon7500_wbox"));
	sleep_us(40000);
	kmsg_no_unknown_nmi();
}

static void at_a_frequency_all(void)
{
	at_a_frequency(SYN_FAULT_LOSE, 1, SYN_PMI_LOST);
	at_a_frequency(SYN_FAULT_DELAY_NS, 7000000, SYN_PMI_DELAYED);
}

/*
 * NMIs of another CPU's core PMU have nothing to do with a package that samples: that
 * CPU does not look, and no overflow is taken out of the hands of the CPU in charge.
 */
static void core_elsewhere(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.size = sizeof(attr),
		.sample_period = 50021,
		.sample_type = SAMPLE_BASE,
	};
	struct books b;

	start();
	event_open_attr(&attr, 1, -1);
	sampling_begin(",freeze=1");
	run_on(1);
	spin_us(10000);
	run_on(-1);
	b = sampling_end("core PMU elsewhere", 0);
	ktap_check(msr_read(1, SYN_PMI_CPU(SYN_PMI_CORE_SENT)) > 100, "%llu core PMIs",
		   (ull)msr_read(1, SYN_PMI_CPU(SYN_PMI_CORE_SENT)));
	ktap_check(b.overflows > 100, "%llu", (ull)b.overflows);
	ktap_check(!msr_read(1, SYN_ACCESS(SYN_RANGE_UNCORE, 0)), "%llu reads",
		   (ull)msr_read(1, SYN_ACCESS(SYN_RANGE_UNCORE, 0)));
	kmsg_no_unknown_nmi();
}

/* ---- counting ---- */

/*
 * Counters that wrap within a millisecond: behind a gate they are armed and moved close
 * to the end, which the events are told by a read.
 */
static void count_through(const char *what, unsigned int fault, uint64_t n, unsigned int stat)
{
	int fd[COUNTED], gate, i;
	uint64_t count, truth;

	start();
	gate = event_open("xeon7500_ubox", "gate", 0, -1);
	for (i = 0; i < COUNTED; i++) {
		fd[i] = event_open(counted[i].pmu, counted[i].event, 0, -1);
		perf_enable(fd[i]);
		msr_write(0, counted[i].ctr, PRESET);
		perf_value(fd[i]);
	}
	msr_write(0, fault, n);
	perf_enable(gate);
	sleep_us(60000);
	msr_write(0, fault, 0);
	for (i = 0; i < COUNTED; i++) {
		count = perf_value(fd[i]);
		ktap_check(count > 1ull << 48, "%s: %s: %#llx while it runs", what, counted[i].pmu,
			   (ull)count);
	}
	perf_disable(gate);
	for (i = 0; i < COUNTED; i++) {
		perf_disable(fd[i]);
		count = perf_value(fd[i]);
		truth = silicon_truth(0, SYN_EVENTS, counted[i].ctr);
		ktap_check(truth > TO_WRAP && count == PRESET + truth, "%s: %s: %#llx, truth %#llx",
			   what, counted[i].pmu, (ull)count, (ull)(PRESET + truth));
		ktap_check(silicon_truth(0, SYN_OVERFLOWS, counted[i].ctr) == 1, "%s: %s", what,
			   counted[i].pmu);
	}
	ktap_check(msr_read(0, SYN_PMI(stat)), "%s: it did not happen", what);
	sleep_us(60000);
	check_books_but(what, COUNTED, 0);
	kmsg_no_unknown_nmi();
}

static void wraps(void)
{
	int round;

	/* Twice: what one session leaves behind must not disturb the next. */
	for (round = 0; round < 2; round++) {
		count_through("no fault", SYN_FAULT_LOSE, 0, SYN_PMI_REQUESTED);
		count_through("lost", SYN_FAULT_LOSE, 1, SYN_PMI_LOST);
		count_through("all lost", SYN_FAULT_LOSE, COUNTED, SYN_PMI_LOST);
		count_through("doubled", SYN_FAULT_DOUBLE, COUNTED, SYN_PMI_DOUBLED);
		count_through("late", SYN_FAULT_DELAY_NS, 10000000, SYN_PMI_DELAYED);
		count_through("too late", SYN_FAULT_DELAY_NS, 90000000, SYN_PMI_DELAYED);
		count_through("sibling", SYN_FAULT_SIBLING, COUNTED, SYN_PMI_MISROUTED);
	}
}

/* ---- when nobody is there any more ---- */

static void after_the_event(void)
{
	start();
	msr_write(0, SYN_FAULT_DELAY_NS, 500000000);
	sampling_begin(",freeze=1");
	sleep_us(3000);
	sampling_end("closed", SAMPLED);
	close_all();
	ktap_check(msr_read(0, SYN_PMI(SYN_PMI_DELAYED)) && !msr_read(0, SYN_PMI_CPU(SYN_PMI_SENT)),
		   "it came too early");
	clear_faults();
	sleep_us(600000);
	ktap_check(msr_read(0, SYN_PMI_CPU(SYN_PMI_SENT)), "it never came");
	/* An overflow bit that is left would keep the package from being frozen again. */
	ktap_check(!msr_read(0, U_STATUS), "status %#llx", (ull)msr_read(0, U_STATUS));
	kmsg_no_unknown_nmi();
}

/* It comes while the module is unloaded, then after that. */
static void after_the_module(void)
{
	static const unsigned int late_ms[] = { 10, 3000 };
	uint64_t came, deaf;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		start();
		msr_write(0, SYN_FAULT_DELAY_NS, late_ms[i] * 1000000ull);
		sampling_begin(",freeze=1");
		sleep_us(3000);
		sampling_end("unloaded", SAMPLED);
		close_all();
		clear_faults();
		ktap_require(!system("modprobe -r " OURS), "in use");
		sleep_us(late_ms[i] * 1000);
		came = msr_read(0, SYN_PMI_CPU(SYN_PMI_SENT));
		deaf = msr_read(0, SYN_PMI_CPU(SYN_PMI_NO_DEBUGCTL));
		ktap_check(came + deaf && (!i || !came), "%u ms: %llu came, %llu did not get in",
			   late_ms[i], (ull)came, (ull)deaf);
		ktap_require(!system("modprobe " OURS), "cannot be loaded");
		kmsg_no_unknown_nmi();
	}
	sample_through_all(SYN_FAULT_LOSE, 1, SYN_PMI_LOST);
}

/* ---- while the module is loaded ---- */

static bool samples_at_all(void)
{
	struct perf_event_attr attr = sampling_attr(sampled[0].pmu, sampled[0].event, 100000);
	int fd = perf_open(&attr, 0, -1);

	ktap_check(fd >= 0 || fd == -EOPNOTSUPP, "%s", strerror(-fd));
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void load_with(unsigned int fault, uint64_t n, bool samples)
{
	start();
	close_all();
	ktap_require(!system("modprobe -r " OURS), "in use");
	msr_write(0, fault, n);
	ktap_require(!system("modprobe " OURS), "cannot be loaded");
	clear_faults();
	ktap_check(samples_at_all() == samples, "fault %u, %llu", fault - SYN_FAULT_LOSE, (ull)n);
	sleep_us(20000);
	kmsg_no_unknown_nmi();
	if (samples)
		sample_through_all(SYN_FAULT_LOSE, 1, SYN_PMI_LOST);
}

/* The test at load. */
static void at_load(void)
{
	load_with(SYN_FAULT_LOSE, 1, true);
	load_with(SYN_FAULT_DOUBLE, 2, true);
	load_with(SYN_FAULT_DELAY_NS, 20000, true);
	load_with(SYN_FAULT_SIBLING, 1, true);
	load_with(SYN_FAULT_LOSE, 2, false);
	load_with(SYN_FAULT_DELAY_NS, 15000000, false);
	reload();
}

/* IA32_DEBUGCTL bit 13 cannot be set: counting goes on, sampling is refused. */
static void deaf(void)
{
	struct perf_event_attr attr;
	char line[1024];
	int i, lines = 0, fd[COUNTED], err;

	start();
	close_all();
	ktap_require(!system("modprobe -r " OURS), "in use");
	msr_write(0, SYN_FAULT_DEBUGCTL, 1);
	ktap_require(!system("modprobe " OURS), "cannot be loaded");
	while (kmsg_next(line, sizeof(line))) {
		if (strncmp(line, OURS, strlen(OURS)))
			continue;
		lines++;
		ktap_check(strstr(line, "no interrupt on overflow"), "%s", line);
	}
	ktap_check(lines == 1, "%d lines", lines);
	ktap_check(!samples_at_all(), "samples");
	attr = event_attr("xeon7500_cbox_0", "llc_misses.all,freeze=1");
	err = perf_open(&attr, 0, -1);
	ktap_check(err == -EOPNOTSUPP, "freeze: %d", err);

	/* The 48 bits and their end: wrap.c. */
	silicon_clear();
	for (i = 0; i < COUNTED; i++) {
		fd[i] = event_open(counted[i].pmu, counted[i].event, 0, -1);
		perf_enable(fd[i]);
	}
	sleep_us(20000);
	for (i = 0; i < COUNTED; i++)
		perf_disable(fd[i]);
	for (i = 0; i < COUNTED; i++)
		ktap_check(perf_value(fd[i]) &&
			   perf_value(fd[i]) == silicon_truth(0, SYN_EVENTS, counted[i].ctr),
			   "%s", counted[i].pmu);
	ktap_check(!msr_read(0, SYN_PMI(SYN_PMI_REQUESTED)), "PMIs");
	clear_faults();
	reload();
	ktap_check(samples_at_all(), "no sampling though it could");
}

SILICON_MAIN({ "lost", lost },
	     { "doubled", doubled },
	     { "late", late },
	     { "to the sibling", to_the_sibling },
	     { "to a sibling that listens", to_a_sibling_that_listens },
	     { "at a frequency", at_a_frequency_all },
	     { "NMIs of another CPU's core PMU", core_elsewhere },
	     { "counters that wrap", wraps },
	     { "after the event is gone", after_the_event },
	     { "after the module is gone", after_the_module },
	     { "while the module is loaded", at_load },
	     { "cannot be let in", deaf })
