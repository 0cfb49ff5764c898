// SPDX-License-Identifier: GPL-2.0-only
/*
 * PMIs that get lost, come twice, come late or come to another CPU. Counts are what
 * happened, each overflow is a sample or reported as lost, sampling goes on, and no NMI
 * is left that nobody wants.
 *
 * CPU 0 is in charge, CPU 1 the other thread of its core.
 *
 * PART: adversaries
 * VM: --sockets 1 --cores 2 --threads 2 --icount --append nmi_watchdog=0
 * SKIP: debug
 */
#include "foreign.h"
#include "kmsg.h"
#include "module.h"
#include "sampling.h"

/* Every 40 to 90 us. */
static const struct {
	const char *pmu, *event;
	unsigned int period;
} sampled[] = {
	{ "xeon7500_cbox_2", "occupancy_irq", 700001 },
	{ "xeon7500_wbox", "uncore_clock", 150001 },
	{ "xeon7500_mbox_1", "mbox_cycles", 100001 },
};

/*
 * Counting events that wrap on the way: the first counter of each of these is at that
 * address. The last one is that of sampled[], too.
 */
static const struct {
	const char *pmu, *event;
	unsigned int ctr;
} counted[] = {
	{ "xeon7500_cbox_5", "occupancy_irq", C5_CTR_0 },
	{ "xeon7500_wbox", "c_cycles_turbo.c_all", W_CTR_0 },
	{ "xeon7500_sbox_0", "to_r_ndr_msgq_occupancy", S0_CTR0 },
	{ "xeon7500_wbox", "uncore_clock", W_FIXED_CTR },
};

#define SAMPLED		(int)ARRAY_SIZE(sampled)
#define COUNTED		(int)ARRAY_SIZE(counted)
#define TO_WRAP		1500000
#define PRESET		((1ull << 48) - TO_WRAP)

static void clear_faults(void)
{
	unsigned int msr;

	for (msr = SYN_FAULT_LOSE; msr <= SYN_FAULT_DEBUGCTL; msr++)
		msr_write(0, msr, 0);
}

static void reload(void)
{
	event_close_all();
	ktap_require(!system("modprobe -r " OURS " && modprobe " OURS), "cannot be loaded again");
}

static void start(void)
{
	silicon_start();
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

static struct books sampling_end(const char *what)
{
	struct books b;
	int i;

	gates_close();
	for (i = 0; i < SAMPLED; i++)
		perf_disable(rings[i].fd);
	b = check_books(what);
	for (i = 0; i < SAMPLED; i++)
		ktap_check(perf_value(rings[i].fd) == box_truth(0, SYN_EVENTS, sampled[i].pmu),
			   "%s: %s: %llu, truth %llu", what, sampled[i].pmu,
			   perf_value(rings[i].fd), box_truth(0, SYN_EVENTS, sampled[i].pmu));
	return b;
}

static u64 samples(void)
{
	struct ring sum;

	rings_drain();
	rings_sum(&sum);
	return sum.samples;
}

/* Ten more than there were, sooner or later. */
static u64 ten_more(u64 than)
{
	u64 now;
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
static void sample_through(const char *options, unsigned int fault, u64 n, unsigned int stat)
{
	/* The status is looked at every 10 ms. */
	unsigned int us = fault == SYN_FAULT_DELAY_NS ? 40000 : 15000;
	u64 before, after;
	long long missed;
	char what[80];
	struct books b;

	start();
	snprintf(what, sizeof(what), "fault %u, %llu%s", fault - SYN_FAULT_LOSE, n, options);
	sampling_begin(options);
	before = ten_more(0);
	missed = package_caps("missed_pmis");
	msr_write(0, fault, n);
	sleep_us(us);
	msr_write(0, fault, 0);
	after = samples();
	/* Late ones arrive. */
	sleep_us(us);
	ktap_check(before > 10 && after > before && ten_more(after) > after + 10,
		   "%s: %llu, %llu, %llu samples", what, before, after, samples());
	b = sampling_end(what);
	ktap_check(msr_read(0, SYN_PMI(stat)), "%s: it did not happen", what);
	/*
	 * No other PMI comes while the package is frozen. perf may stop the event before the timer
	 * looks, and so find the overflow, but not each time.
	 */
	missed = package_caps("missed_pmis") - missed;
	ktap_check(fault != SYN_FAULT_LOSE || !*options || n < 5 || missed > 0,
		   "%s: missed_pmis: %lld more", what, missed);
	ktap_note("%s: %llu times, %llu overflows", what, msr_read(0, SYN_PMI(stat)), b.overflows);
	/* The last one, if it comes when all is over. */
	sleep_us(40000);
	kmsg_no_unknown_nmi();
}

static void sample_through_all(unsigned int fault, u64 n, unsigned int stat)
{
	sample_through(",freeze=1", fault, n, stat);
	sample_through("", fault, n, stat);
}

static void lost(void)
{
	sample_through_all(SYN_FAULT_LOSE, 1, SYN_PMI_LOST);
	sample_through_all(SYN_FAULT_LOSE, 5, SYN_PMI_LOST);
}

/* The counter has no period until the watch finds the overflow, so there is one. */
static void one_missed(void)
{
	long long missed;
	struct ring *r;

	start();
	r = sampling_open(sampled[0].pmu, sampled[0].event, 100 * sampled[0].period, 0, 8);
	missed = package_caps("missed_pmis");
	msr_write(0, SYN_FAULT_LOSE, 1);
	perf_enable(r->fd);
	while (msr_read(0, SYN_FAULT_LOSE))
		sleep_us(100);
	sleep_us(15000);
	perf_disable(r->fd);
	missed = package_caps("missed_pmis") - missed;
	ktap_check(missed == 1, "missed_pmis: %lld more", missed);
	check_books("one is lost");
}

static void doubled(void)
{
	sample_through_all(SYN_FAULT_DOUBLE, 1, SYN_PMI_DOUBLED);
	sample_through_all(SYN_FAULT_DOUBLE, 100, SYN_PMI_DOUBLED);
}

/*
 * An event whose limit of samples is reached by an overflow that is found as it leaves gives none:
 * perf would stop it the next time, as soon as it makes room for another one.
 */
static void limit_while_leaving(void)
{
	const char *pmu = sampled[0].pmu;
	u64 before;
	struct ring *r;
	int turn;

	start();
	r = sampling_open(pmu, sampled[0].event, sampled[0].period, 0, 64);
	/* The driver looks every 10 ms, and so may come first. */
	for (turn = 0; turn < 4 && !lost_count(); turn++) {
		msr_write(0, SYN_FAULT_LOSE, 1ull << 40);
		before = box_truth(0, SYN_OVERFLOWS, pmu);
		ktap_require(!ioctl(r->fd, PERF_EVENT_IOC_REFRESH, 1), "%s", strerror(errno));
		while (box_truth(0, SYN_OVERFLOWS, pmu) == before)
			sleep_us(10);
		perf_disable(r->fd);
		msr_write(0, SYN_FAULT_LOSE, 0);
	}
	ktap_check(lost_count() == 1, "%llu samples, %llu lost", samples(), lost_count());
	ktap_require(!ioctl(r->fd, PERF_EVENT_IOC_REFRESH, 100000), "%s", strerror(errno));
	before = ten_more(samples());
	perf_enable(event_open(pmu, "llc_misses.all", 0, -1));
	ktap_check(ten_more(before) > before + 10, "%llu samples, then %llu", before, samples());
	perf_disable(r->fd);
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

/*
 * Somebody else has let PMIs in on all CPUs: an overflow interrupts both threads. The driver
 * keeps them out again, since a handler there has nothing to do.
 */
static void to_a_sibling_that_listens(void)
{
	static const unsigned int misrouted[] = { 1, 20 };
	unsigned int i;
	int cpu;

	for (i = 0; i < 4; i++) {
		for (cpu = 1; cpu < 4; cpu++)
			msr_write(cpu, IA32_DEBUGCTL, msr_read(cpu, IA32_DEBUGCTL) | UNCORE_PMI_EN);
		sample_through(i & 1 ? "" : ",freeze=1", SYN_FAULT_SIBLING, misrouted[i / 2],
			       SYN_PMI_MISROUTED);
		ktap_check(msr_read(1, SYN_PMI_CPU(SYN_PMI_SENT)), "it did not come");
		ktap_check(!(msr_read(1, IA32_DEBUGCTL) & UNCORE_PMI_EN), "it may come again");
	}
	for (cpu = 1; cpu < 4; cpu++)
		msr_write(cpu, IA32_DEBUGCTL, msr_read(cpu, IA32_DEBUGCTL) & ~UNCORE_PMI_EN);
}

/*
 * With -F perf stops the event at each tick and starts it with a new period: the sample
 * whose PMI did not come must not be forgotten then.
 */
static void at_a_frequency(unsigned int fault, u64 n, unsigned int stat)
{
	struct perf_event_attr attr;
	struct ring *r;
	int i;

	start();
	attr = sampling_attr("xeon7500_wbox", "uncore_clock", 0);
	attr.freq = 1;
	attr.sample_freq = 5000;
	r = event_ring(event_open_attr(&attr, 0, -1), attr.sample_type, 256);
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
		  msr_read(0, SYN_PMI(stat)), r->samples, lost_count());
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
	struct perf_event_attr attr = cycles_attr(50021, SAMPLE_BASE);
	struct books b;
	u64 used, nmis;

	start();
	event_open_attr(&attr, 1, -1);
	sampling_begin(",freeze=1");
	/* It counts the accesses. */
	msr_write(1, SYN_FAULT_DEBUGCTL_GP, 1ull << 40);
	nmis = msr_read(1, SYN_PMI_CPU(SYN_PMI_NMIS));
	run_on(1);
	spin_us(10000);
	run_on(-1);
	nmis = msr_read(1, SYN_PMI_CPU(SYN_PMI_NMIS)) - nmis;
	used = (1ull << 40) - msr_read(1, SYN_FAULT_DEBUGCTL_GP);
	msr_write(1, SYN_FAULT_DEBUGCTL_GP, 0);
	b = sampling_end("core PMU elsewhere");
	ktap_check(nmis > 100, "%llu NMIs", nmis);
	ktap_check(b.overflows > 100, "%llu", b.overflows);
	ktap_check(!msr_read(1, SYN_ACCESS(SYN_RANGE_UNCORE, 0)), "%llu reads",
		   msr_read(1, SYN_ACCESS(SYN_RANGE_UNCORE, 0)));
	/* Each NMI reads IA32_DEBUGCTL once, and writes nothing. The watch of CPU 0 reads it, too. */
	ktap_check(used + 10 >= nmis && used <= nmis + 10, "%llu NMIs, %llu accesses to DEBUGCTL",
		   nmis, used);
	kmsg_no_unknown_nmi();
}

/* ---- counting ---- */

/*
 * Counters that wrap within a millisecond, moved close to the end behind a gate. They ask for
 * no PMI, so that there is none to get lost.
 */
static void count_through(const char *what, bool beside_sampling)
{
	u64 moved[COUNTED], count, truth;
	int fd[COUNTED], num = COUNTED - beside_sampling, i;

	start();
	if (beside_sampling)
		sampling_begin(",freeze=1");
	else
		gates_install();
	gates_close();
	for (i = 0; i < num; i++) {
		fd[i] = event_open(counted[i].pmu, counted[i].event, 0, -1);
		perf_enable(fd[i]);
		moved[i] = counter_move(fd[i], 0, counted[i].ctr, PRESET);
	}
	gates_open();
	sleep_us(60000);
	gates_close();
	for (i = 0; i < num; i++) {
		perf_disable(fd[i]);
		count = perf_value(fd[i]);
		truth = silicon_truth(0, SYN_EVENTS, counted[i].ctr);
		ktap_check(truth > TO_WRAP && count == moved[i] + truth,
			   "%s: %s: %#llx, truth %#llx", what, counted[i].pmu, count,
			   moved[i] + truth);
		ktap_check(silicon_truth(0, SYN_OVERFLOWS, counted[i].ctr) == 1, "%s: %s", what,
			   counted[i].pmu);
	}
	ktap_check(!msr_read(0, SYN_PMI(SYN_PMI_REQUESTED)) == !beside_sampling, "%s: %llu PMIs",
		   what, msr_read(0, SYN_PMI(SYN_PMI_REQUESTED)));
	for (i = 0; beside_sampling && i < SAMPLED; i++)
		perf_disable(rings[i].fd);
	check_books_but(what, num);
	kmsg_no_unknown_nmi();
}

static void wraps(void)
{
	int round;

	/* Twice: what one session leaves behind must not disturb the next. */
	for (round = 0; round < 2; round++) {
		count_through("alone", false);
		count_through("beside sampling", true);
	}
}

/* ---- when nobody is there any more ---- */

static void sample_with_late_pmis(unsigned int late_ms, const char *what)
{
	start();
	msr_write(0, SYN_FAULT_DELAY_NS, late_ms * 1000000ull);
	sampling_begin(",freeze=1");
	sleep_us(3000);
	sampling_end(what);
	event_close_all();
}

/* So late that the overflow was handled without it, and nobody lets it in any more. */
static void after_the_event(void)
{
	static const unsigned int late_ms[] = { 50, 500 };
	u64 came, kept_out;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		sample_with_late_pmis(late_ms[i], "closed");
		ktap_check(msr_read(0, SYN_PMI(SYN_PMI_DELAYED)) &&
			   !msr_read(0, SYN_PMI_CPU(SYN_PMI_SENT)), "it came too early");
		clear_faults();
		sleep_us(late_ms[i] * 1200);
		came = msr_read(0, SYN_PMI_CPU(SYN_PMI_SENT));
		kept_out = msr_read(0, SYN_PMI_CPU(SYN_PMI_NO_DEBUGCTL));
		ktap_check(kept_out && !came, "%u ms: %llu came, %llu did not get in", late_ms[i],
			   came, kept_out);
		/* An overflow bit that is left would keep the package from being frozen again. */
		ktap_check(!msr_read(0, U_GLOBAL_STATUS), "status %#llx",
			   msr_read(0, U_GLOBAL_STATUS));
		kmsg_no_unknown_nmi();
	}
}

/*
 * Two events of a box have overflowed, and one or both go before the NMI of the first. Below @limit
 * samples in a second perf stops the second one within its sample, from 6.16 on.
 */
static void both_late_below(int limit, bool core)
{
	/* Its handler runs, and unmasks LVTPC, though it never overflows. */
	struct perf_event_attr attr = cycles_attr(1ull << 40, SAMPLE_BASE);
	static const char pmu[] = "xeon7500_cbox_2";
	struct ring *r[2];
	long long swallowed;
	int i, gone;

	for (gone = 1; gone <= 2; gone++) {
		start();
		sampling_limit(limit);
		if (core)
			event_open_attr(&attr, 0, -1);
		swallowed = package_caps("swallowed_nmis");
		msr_write(0, SYN_FAULT_DELAY_NS, 3000000);
		for (i = 0; i < 2; i++)
			r[i] = sampling_open(pmu, i ? "llc_hits.all" : "llc_misses.all", 100000, 0, 8);
		gates_install();
		perf_enable(r[0]->fd);
		perf_enable(r[1]->fd);
		gates_open();
		for (i = 0; i < 2000 && box_truth(0, SYN_OVERFLOWS, pmu) < 2; i++)
			;
		gates_close();
		ktap_check(box_truth(0, SYN_OVERFLOWS, pmu) == 2 && samples() == 0,
			   "%llu overflows, %llu samples", box_truth(0, SYN_OVERFLOWS, pmu), samples());
		for (i = 0; i < gone; i++)
			perf_disable(r[i]->fd);
		sleep_us(8000);
		ktap_check(msr_read(0, SYN_PMI_CPU(SYN_PMI_SENT)) == 2, "%llu PMIs",
			   msr_read(0, SYN_PMI_CPU(SYN_PMI_SENT)));
		kmsg_no_unknown_nmi();
		swallowed = package_caps("swallowed_nmis") - swallowed;
		ktap_check(swallowed == 2, "%lld of 2 NMIs claimed", swallowed);
		clear_faults();
		perf_disable(r[1]->fd);
		check_books("two late PMIs");
	}
}

static void both_late(void)
{
	ktap_skip_on_debug_kernel();
	both_late_below(1000000, false);
	both_late_below(100, false);
	both_late_below(1000000, true);
}

/* No PMI of the core PMU is taken for a late one of the uncore. */
static void core_beside(void)
{
	struct perf_event_attr attr = cycles_attr(1000003, SAMPLE_BASE);
	long long swallowed;

	start();
	swallowed = package_caps("swallowed_nmis");
	perf_enable(sampling_open("xeon7500_wbox", "uncore_clock", 1ull << 40, 0, 1)->fd);
	event_open_attr(&attr, 0, -1);
	run_on(0);
	spin_us(100000);
	run_on(-1);
	ktap_check(msr_read(0, SYN_PMI_CPU(SYN_PMI_CORE_SENT)) > 100, "%llu core PMIs",
		   msr_read(0, SYN_PMI_CPU(SYN_PMI_CORE_SENT)));
	swallowed = package_caps("swallowed_nmis") - swallowed;
	ktap_check(!swallowed, "%lld of them claimed", swallowed);
	kmsg_no_unknown_nmi();
	event_close_all();
	start();
	/* Its handler runs in each NMI, though it never overflows. */
	attr.sample_period = 1ull << 40;
	event_open_attr(&attr, 0, -1);
	sampling_begin("");
	sleep_us(200000);
	sampling_end("beside the core PMU");
	kmsg_no_unknown_nmi();
}

static bool samples_at_all(void)
{
	struct perf_event_attr attr = sampling_attr(sampled[0].pmu, sampled[0].event, 100000);
	int fd = perf_open(&attr, 0, -1);

	ktap_check(fd >= 0 || fd == -EOPNOTSUPP, "%s", strerror(-fd));
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* It comes while the module is unloaded, then after that. */
static void after_the_module(void)
{
	static const unsigned int late_ms[] = { 10, 3000 };
	u64 came, deaf;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		sample_with_late_pmis(late_ms[i], "unloaded");
		clear_faults();
		ktap_require(!system("modprobe -r " OURS), "in use");
		sleep_us(late_ms[i] * 1000);
		came = msr_read(0, SYN_PMI_CPU(SYN_PMI_SENT));
		deaf = msr_read(0, SYN_PMI_CPU(SYN_PMI_NO_DEBUGCTL));
		ktap_check(came + deaf && (!i || !came), "%u ms: %llu came, %llu did not get in",
			   late_ms[i], came, deaf);
		ktap_require(!system("modprobe " OURS), "cannot be loaded");
		kmsg_no_unknown_nmi();
		/* PMIs are tried out before they come late again. */
		ktap_check(samples_at_all(), "%u ms: no more samples", late_ms[i]);
	}
	sample_through_all(SYN_FAULT_LOSE, 1, SYN_PMI_LOST);
}

/* ---- while it is tried out whether PMIs come ---- */

/* To load the module is not yet to ask for PMIs. */
static void load_quietly(void)
{
	silicon_clear();
	ktap_require(!system("modprobe " OURS), "cannot be loaded");
	ktap_check(!msr_read(0, SYN_PMI(SYN_PMI_REQUESTED)), "%llu PMIs at load",
		   msr_read(0, SYN_PMI(SYN_PMI_REQUESTED)));
}

static void try_with(unsigned int fault, u64 n, bool samples)
{
	start();
	ktap_note("tried with fault %u, %llu", fault - SYN_FAULT_LOSE, n);
	event_close_all();
	ktap_require(!system("modprobe -r " OURS), "in use");
	load_quietly();
	msr_write(0, fault, n);
	ktap_check(samples_at_all() == samples, "fault %u, %llu", fault - SYN_FAULT_LOSE, n);
	clear_faults();
	sleep_us(20000);
	kmsg_no_unknown_nmi();
	/* The answer is kept, until the module is loaded anew or the package changes its CPU. */
	ktap_check(samples_at_all() == samples, "fault %u, %llu: tried again",
		   fault - SYN_FAULT_LOSE, n);
	if (!samples)
		reload();
	ktap_check(samples_at_all(), "fault %u, %llu: not even without", fault - SYN_FAULT_LOSE, n);
	sample_through_all(SYN_FAULT_LOSE, 1, SYN_PMI_LOST);
}

/* The first event that samples. The driver tries 16 times in vain. */
static void at_first(void)
{
	try_with(SYN_FAULT_LOSE, 1, true);
	try_with(SYN_FAULT_LOSE, 15, true);
	try_with(SYN_FAULT_DOUBLE, 2, true);
	try_with(SYN_FAULT_DELAY_NS, 5000, true);
	try_with(SYN_FAULT_SIBLING, 1, true);
	try_with(SYN_FAULT_LOSE, 16, false);
	try_with(SYN_FAULT_DELAY_NS, 15000000, false);
	reload();
}

/* The CPU keeps a PMI that finds bit 13 clear, until somebody sets it. */
static void kept_until_the_next(void)
{
	ktap_skip_on_debug_kernel();
	sample_with_late_pmis(50, "closed");
	clear_faults();
	msr_write(0, SYN_READING(RD_PMI_NO_DEBUGCTL), RD_PMI_NO_DEBUGCTL_KEPT);
	sleep_us(60000);
	ktap_check(!msr_read(0, SYN_PMI_CPU(SYN_PMI_SENT)), "it came too early");
	perf_enable(sampling_open(sampled[0].pmu, sampled[0].event, 1ull << 40, 0, 1)->fd);
	ktap_check(msr_read(0, SYN_PMI_CPU(SYN_PMI_SENT)), "it did not come");
	msr_write(0, SYN_READING(RD_PMI_NO_DEBUGCTL), RD_PMI_NO_DEBUGCTL_DROPPED);
	kmsg_no_unknown_nmi();
}

/* Returns whether it samples. No PMI may be left that nobody wants. */
static bool load_and_try(unsigned int delay_ns, unsigned int doubled)
{
	bool samples;

	ktap_require(!system("modprobe -r " OURS), "in use");
	load_quietly();
	msr_write(0, SYN_FAULT_DELAY_NS, delay_ns);
	msr_write(0, SYN_FAULT_DOUBLE, doubled);
	samples = samples_at_all();
	clear_faults();
	sleep_us(2000);
	kmsg_no_unknown_nmi();
	return samples;
}

/*
 * A PMI comes again 10 us later, which is at any place of another round: within it, or between
 * two, where nothing has overflowed.
 */
static void doubled_at_first(void)
{
	unsigned int ns;

	start();
	event_close_all();
	for (ns = 0; ns < 3000; ns += 250)
		ktap_check(load_and_try(ns, 2), "%u ns", ns);
	reload();
}

/*
 * Each comes so late that its round has given up: in another try, which may take it for its own,
 * or after the last one.
 */
static void late_at_first(void)
{
	unsigned int ns;

	start();
	event_close_all();
	for (ns = 11000; ns < 80000; ns += 3000)
		load_and_try(ns, 0);
	reload();
	ktap_check(samples_at_all(), "no sampling though it could");
}

/* No PMI comes, or none is of use: counting goes on, sampling is refused. */
static void refused(uint32_t msr, u64 why)
{
	struct perf_event_attr attr;
	char line[1024];
	int i, lines = 0, fd[COUNTED], err;

	start();
	event_close_all();
	ktap_require(!system("modprobe -r " OURS), "in use");
	msr_write(0, msr, why);
	load_quietly();
	ktap_check(!kmsg_count(OURS), "it is told too early");
	ktap_check(!samples_at_all(), "samples");
	while (kmsg_next(line, sizeof(line))) {
		if (strncmp(line, OURS, strlen(OURS)))
			continue;
		lines++;
		ktap_check(strstr(line, "overflows do not interrupt"), "%s", line);
	}
	ktap_check(lines == 1, "%d lines", lines);
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
	msr_write(0, msr, 0);
	reload();
	ktap_check(samples_at_all(), "no sampling though it could");
}

KTAP_CALL(no_debugctl, refused(SYN_FAULT_DEBUGCTL, 1))

/* Clearing the U-Box clears the boxes: the handler would find nothing. */
KTAP_CALL(no_status, refused(SYN_READING(RD_SUMMARY_CLEAR), RD_SUMMARY_CLEAR_DOWN))

/* PMIs come without the bit, which cannot be set: the handler could not keep them out. */
KTAP_CALL(no_bit, refused(SYN_READING(RD_DEBUGCTL_13), RD_DEBUGCTL_13_NEEDLESS))

SILICON_MAIN({ "PMIs that are lost cost no overflow", lost },
	     { "one that is lost is counted once", one_missed },
	     { "PMIs that come twice give no sample twice", doubled },
	     { "PMIs that come late cost no overflow", late },
	     { "PMIs that come late, when events of their box have gone", both_late },
	     { "a limit of samples, as the event leaves", limit_while_leaving },
	     { "PMIs that go to the sibling thread cost no overflow", to_the_sibling },
	     { "to a sibling that listens", to_a_sibling_that_listens },
	     { "PMIs lost or late do not stop sampling at a frequency", at_a_frequency_all },
	     { "NMIs of another CPU's core PMU", core_elsewhere },
	     { "NMIs of this CPU's core PMU", core_beside },
	     { "counters that wrap lose no count, alone and beside sampling", wraps },
	     { "after the event is gone", after_the_event },
	     { "after the event is gone, and kept until the next one comes", kept_until_the_next },
	     { "after the module is gone", after_the_module },
	     { "when the first event samples", at_first },
	     { "twice when the first event samples", doubled_at_first },
	     { "late when the first event samples", late_at_first },
	     { "cannot be let in", no_debugctl },
	     { "sampling is refused where the handler would find no status", no_status },
	     { "cannot be kept out", no_bit })
