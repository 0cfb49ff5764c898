// SPDX-License-Identifier: GPL-2.0-only
/*
 * Overflows that come faster than they can be handled: every counter of every box samples with
 * the shortest period, and each of its events happens in each cycle. An NMI ends soon all the
 * same, the CPU that serves the package is not lost to its programs, and no count is wrong.
 *
 * CPU 0 serves the package, this program runs on CPU 1. The NMI watchdog is off, so that all
 * NMIs are ours.
 *
 * PART: adversaries
 * VM: --sockets 1 --cores 2 --icount --append nmi_watchdog=0
 * SKIP: debug
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "foreign.h"
#include "kmsg.h"
#include "sampling.h"
#include "storm.h"

#define SHORTEST	3	/* period; shorter ones are refused */
#define NMI_ACCESSES	200	/* in one NMI at most */
#define STORM_US	100000

/* ---- a program on the CPU that serves the package ---- */

static volatile u64 *turns;
static pid_t spinner;

static void spinner_end(void)
{
	if (spinner) {
		kill(spinner, SIGKILL);
		waitpid(spinner, NULL, 0);
	}
	spinner = 0;
}

static void spinner_begin(void)
{
	spinner_end();
	if (!turns)
		turns = mmap(NULL, RING_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			     -1, 0);
	ktap_require(turns != MAP_FAILED, "mmap: %s", strerror(errno));
	spinner = fork();
	ktap_require(spinner >= 0, "fork: %s", strerror(errno));
	if (!spinner) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (setjmp(ktap_end))
			_exit(1);
		run_on(0);
		for (;;)
			++*turns;
	}
	sleep_us(20000);
}

/* How often it gets round in a million ns of virtual time; these are instructions of all CPUs. */
static u64 turns_rate(u64 from, u64 begun)
{
	return (*turns - from) * 1000000 / (clock_ns() - begun);
}

/* ---- the storm ---- */

struct storm {
	u64 period;
	bool frequency;		/* that is samples in a second */
	const char *options;
	bool one_counts;	/* one of six events only counts, on the C-Boxes one of each */
	bool turns;		/* two events for each counter */
	int fd[2 * STORM_COUNTERS];
	char pmu[2 * STORM_COUNTERS][32];
	int num;
};

static void storm_add(const char *pmu, const char *event, int n, void *arg)
{
	struct storm *s = arg;
	struct perf_event_attr attr;
	char name[64];

	n += s->num / STORM_COUNTERS * STORM_COUNTERS;
	snprintf(s->pmu[n], sizeof(s->pmu[n]), "%s", pmu);
	snprintf(name, sizeof(name), "%s%s", event, s->options);
	attr = sampling_attr(pmu, name, s->period);
	attr.freq = s->frequency;
	if (s->one_counts && n % 6 == 0)
		s->fd[n] = event_open(pmu, event, 0, -1);
	else
		s->fd[n] = event_ring(event_open_attr(&attr, 0, -1), attr.sample_type, 1)->fd;
	s->num = n + 1;
}

static void storm_open(struct storm *s)
{
	int i;

	spinner_end();
	silicon_start();
	storm_traffic(0);
	lost_open();
	storm_for_each(storm_add, s);
	if (s->turns)
		storm_for_each(storm_add, s);
	gates_install();
	for (i = 0; i < s->num; i++)
		perf_enable(s->fd[i]);
	kmsg_mark();
	silicon_clear();
}

/* The sum of what is counted on each box is what has happened there. */
static void check_counts(const char *what, const struct storm *s)
{
	u64 sum, truth, buf[4];
	int i, n;

	for (i = 0; i < s->num; i++) {
		for (n = 0; strcmp(s->pmu[n], s->pmu[i]); n++)
			;
		if (n < i)
			continue;
		sum = 0;
		for (n = 0; n < s->num; n++) {
			if (strcmp(s->pmu[n], s->pmu[i]))
				continue;
			ktap_require(read(s->fd[n], buf, sizeof(buf)) > 0, "read: %s", strerror(errno));
			sum += buf[0];
		}
		truth = box_truth(0, SYN_EVENTS, s->pmu[i]);
		ktap_check(sum && sum == truth, "%s: %s: %llu, truth %llu", what, s->pmu[i], sum,
			   truth);
	}
}

static u64 nmi_stat(unsigned int what)
{
	return msr_read(0, SYN_PMI_CPU(what));
}

static void storm_of(struct storm s, unsigned int limit)
{
	u64 quiet, stormy, from, begun, accesses, overflows;
	struct ring sum;
	char what[80];
	int i;

	snprintf(what, sizeof(what), "%s %llu%s%s, %u samples/s", s.frequency ? "frequency" : "every",
		 s.period, s.options, s.turns ? " in turns" : "", limit);
	sampling_limit(limit);
	storm_open(&s);
	spinner_begin();
	from = *turns;
	begun = clock_ns();
	sleep_us(STORM_US);
	quiet = turns_rate(from, begun);

	silicon_clear();
	from = *turns;
	begun = clock_ns();
	gates_open();
	sleep_us(STORM_US);
	stormy = turns_rate(from, begun);
	gates_close();
	accesses = nmi_stat(SYN_PMI_NMI_ACCESSES);
	ktap_note("%s: longest NMI %llu accesses, %llu instructions; %llu NMIs, %u accesses in all; the program had %llu%% of the CPU",
		  what, accesses, nmi_stat(SYN_PMI_NMI_INSNS), nmi_stat(SYN_PMI_NMIS),
		  silicon_accesses(), (stormy * 100 / (quiet ?: 1)));
	spinner_end();
	for (i = 0; i < s.num; i++)
		perf_disable(s.fd[i]);
	overflows = all_overflows();
	rings_drain();
	rings_sum(&sum);
	ktap_note("%s: %llu overflows, %llu samples in the rings, %llu said to be lost", what,
		  overflows, sum.samples, lost_count());
	ktap_check(accesses && accesses <= NMI_ACCESSES, "%s: %llu accesses in one NMI", what,
		   accesses);
	ktap_check(stormy * 2 >= quiet || debug_kernel(),
		   "%s: the program had %llu of %llu turns in a ms", what, stormy, quiet);
	for (i = 0; i < num_rings; i++)
		ktap_check(rings[i].samples, "%s: no sample of event %d", what, i);
	check_counts(what, &s);
	event_close_all();
	msr_write(0, SYN_TRAFFIC_RESET, 1);
	sleep_us(150000);
	kmsg_no_unknown_nmi();
}

static void storm(u64 period, unsigned int limit, const char *options, bool one_counts)
{
	storm_of((struct storm){ .period = period, .options = options, .one_counts = one_counts },
		 limit);
}

/* The handler cannot keep up, and always has a next one before it. */
KTAP_CALL(shortest, storm(SHORTEST, 100000, "", false))

/* It can for a moment. */
static void short_periods(void)
{
	static const unsigned int periods[] = { 500, 5003, 50021 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(periods); i++)
		storm(periods[i], 100000, "", false);
}

static void at_high_limit(void)
{
	storm(SHORTEST, 1000000, "", false);
	storm(20011, 1000000, "", false);
}

/* perf stops and starts such an event in each of its ticks, which is no way round the limit. */
static void by_frequency(void)
{
	storm_of((struct storm){ .period = 4000, .frequency = true, .options = "" }, 100000);
	storm_of((struct storm){ .period = 100000, .frequency = true, .options = "" }, 100000);
}

/* All events leave in each of perf's ticks, and others come. */
static void in_turns(void)
{
	storm_of((struct storm){ .period = SHORTEST, .options = "", .turns = true }, 100000);
}

static void freezing(void)
{
	storm(SHORTEST, 100000, ",freeze=1", false);
	storm(20011, 100000, ",freeze=1", false);
}

static void beside_counting(void)
{
	storm(SHORTEST, 100000, "", true);
	storm(20011, 100000, "", true);
}

/* All counters overflow in the same cycle, and once. */
static void all_at_once(void)
{
	struct storm s = { .period = 20000000, .options = "" };
	struct books b;
	int i;

	sampling_limit(1000000);
	storm_open(&s);
	gates_open();
	sleep_us(12000);
	gates_close();
	ktap_note("%d counters at once: longest NMI %llu accesses, %llu instructions; %llu NMIs",
		  s.num, nmi_stat(SYN_PMI_NMI_ACCESSES), nmi_stat(SYN_PMI_NMI_INSNS),
		  nmi_stat(SYN_PMI_NMIS));
	for (i = 0; i < s.num; i++)
		perf_disable(s.fd[i]);
	ktap_check(nmi_stat(SYN_PMI_NMI_ACCESSES) <= NMI_ACCESSES,
		   "all at once: %llu accesses in one NMI", nmi_stat(SYN_PMI_NMI_ACCESSES));
	b = check_books("all at once");
	ktap_check(b.overflows >= STORM_COUNTERS, "%llu overflows", b.overflows);
	check_counts("all at once", &s);
	event_close_all();
	msr_write(0, SYN_TRAFFIC_RESET, 1);
	sleep_us(150000);
	kmsg_no_unknown_nmi();
}

/* What one NMI leaves of so many, the watch finds: no event has to wait for its next period. */
static void left_over(void)
{
	struct storm s = { .period = 80000000, .options = "" };
	int i, without = 0;

	sampling_limit(1000000);
	storm_open(&s);
	gates_open();
	/* The slowest of them happen once a cycle: 35 ms. */
	sleep_us(60000);
	rings_drain();
	for (i = 0; i < num_rings; i++)
		without += !rings[i].samples && perf_value(rings[i].fd) >= s.period;
	ktap_check(num_rings == s.num && !without, "%d of %d events are over their period without a sample",
		   without, num_rings);
	gates_close();
	for (i = 0; i < s.num; i++)
		perf_disable(s.fd[i]);
	check_books("left over");
	check_counts("left over", &s);
	event_close_all();
	msr_write(0, SYN_TRAFFIC_RESET, 1);
}

/* ---- a group with many members ---- */

#define MANY_MEMBERS	2000

static u64 longest_nmi(int members)
{
	struct perf_event_attr dummy = { .type = PERF_TYPE_SOFTWARE, .size = sizeof(dummy),
					 .config = PERF_COUNT_SW_DUMMY };
	static int fd[MANY_MEMBERS];
	struct ring *r;
	u64 insns;
	int i;

	/* No sample has used time any more. */
	sleep_us(30000);
	silicon_start();
	storm_traffic(0);
	r = sampling_open("xeon7500_cbox_0", "llc_misses.all", 200003, 0, 64);
	for (i = 0; i < members; i++) {
		fd[i] = perf_open(&dummy, 0, r->fd);
		ktap_require(fd[i] >= 0, "member %d: %s", i, strerror(-fd[i]));
	}
	silicon_clear();
	perf_enable(r->fd);
	sleep_us(5000);
	insns = nmi_stat(SYN_PMI_NMI_INSNS);
	perf_disable(r->fd);
	check_books("many members");
	ktap_check(r->samples >= 10, "%d members: %llu samples", members, r->samples);
	for (i = 0; i < members; i++)
		close(fd[i]);
	event_close_all();
	msr_write(0, SYN_TRAFFIC_RESET, 1);
	return insns;
}

/* perf sets no limit to the members of a group. An NMI does not look at each of them. */
static void many_members(void)
{
	struct rlimit files = { MANY_MEMBERS + 500, MANY_MEMBERS + 500 };
	u64 few, many;

	ktap_require(!setrlimit(RLIMIT_NOFILE, &files), "setrlimit: %s", strerror(errno));
	sampling_limit(1000000);
	/* The first time also what is done once. */
	longest_nmi(2);
	few = longest_nmi(2);
	many = longest_nmi(MANY_MEMBERS);
	ktap_note("longest NMI %llu instructions with 2 members, %llu with %d", few, many,
		  MANY_MEMBERS);
	ktap_check(many < few + MANY_MEMBERS, "%llu instructions, %llu with %d members", few, many,
		   MANY_MEMBERS);
}

/* ---- somebody else's events ---- */

static void storm_cboxes(void)
{
	char pmu[32];
	int i;

	for (i = 0; i < 8 * 6; i++) {
		snprintf(pmu, sizeof(pmu), "xeon7500_cbox_%d", i / 6);
		perf_enable(sampling_open(pmu, "occupancy_maf", SHORTEST, 0, 1)->fd);
	}
	silicon_traffic(0, SYN_SEL(SYN_BOX_C, SYN_ANY, SYN_ANY_CODE, SYN_ANY), SYN_PATTERN(0, 0, 1, 1));
}

/*
 * Somebody samples in step beside the storm of another: his event waits for the watch as often,
 * and with it the one that only counts in its group. What they say can be scaled.
 */
static void beside_sampling(void)
{
	struct perf_event_attr attr = sampling_attr("xeon7500_mbox_0", "mbox_cycles", 1000003);
	u64 val[5] = {}, truth, scaled;
	int leader, clock;
	struct ring *r;

	ktap_skip_on_debug_kernel();
	spinner_end();
	silicon_start();
	sampling_limit(100000);
	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
			   PERF_FORMAT_TOTAL_TIME_RUNNING;
	leader = event_open_attr(&attr, 0, -1);
	r = event_ring(leader, attr.sample_type, 64);
	event_open("xeon7500_mbox_0", "mbox_cycles", 0, leader);
	clock = event_open("xeon7500_mbox_1", "mbox_cycles", 0, -1);
	storm_cboxes();
	perf_enable(clock);
	perf_run_us(leader, STORM_US);
	perf_disable(clock);
	rings_drain();
	truth = perf_value(clock);
	ktap_require(read(leader, val, sizeof(val)) > 0, "read: %s", strerror(errno));
	scaled = (unsigned __int128)val[3] * val[1] / val[2];
	ktap_note("ran for %llu of %llu ns, %llu samples; %llu and %llu cycles, scaled %llu of %llu",
		  val[2], val[1], r->samples, val[3], val[4], scaled, truth);
	ktap_check(val[2] * 10 < val[1] * 9, "no storm");
	ktap_check(scaled * 10 >= truth * 9 && scaled * 10 <= truth * 11, "scaled %llu of %llu", scaled, truth);
	ktap_check(val[3] * 10 >= val[4] * 9 && val[3] * 10 <= val[4] * 11,
		   "the group: %llu and %llu", val[3], val[4]);
	event_close_all();
	msr_write(0, SYN_TRAFFIC_RESET, 1);
}

/* ---- readers elsewhere ---- */

static void read_for_ever(int leader)
{
	u64 val[8];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (setjmp(ktap_end))
		_exit(1);
	run_on(1);
	while (read(leader, val, sizeof(val)) > 0)
		;
	_exit(1);
}

/*
 * A group that is read all the time on the other CPU keeps the package locked for some accesses
 * each time, when an overflow may come. No overflow waits for the watch because of that; how
 * long it has frozen the package shows.
 */
static void readers_elsewhere(const char *event)
{
	struct perf_event_attr attr = event_attr("xeon7500_cbox_1", "occupancy_irq");
	u64 missed, periods, wanted, scaled, val[3];
	int leader = -1, fd, i, clock;
	struct ring *r;

	spinner_end();
	silicon_start();
	sampling_limit(1000000);
	attr.read_format = PERF_FORMAT_GROUP;
	for (i = 0; i < 4; i++) {
		fd = event_open_attr(&attr, 0, leader);
		leader = i ? leader : fd;
		attr.disabled = 0;
	}
	attr = event_attr("xeon7500_wbox", "uncore_clock");
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	clock = event_open_attr(&attr, 0, -1);
	r = sampling_open("xeon7500_cbox_0", event, 20000003, 0, 64);
	perf_enable(leader);
	missed = package_caps("missed_pmis");
	perf_enable(clock);
	perf_enable(r->fd);
	spinner = fork();
	ktap_require(spinner >= 0, "fork: %s", strerror(errno));
	if (!spinner)
		read_for_ever(leader);
	run_on(0);
	spin_us(200000);
	run_on(-1);
	perf_disable(r->fd);
	perf_disable(clock);
	spinner_end();
	rings_drain();
	missed = package_caps("missed_pmis") - missed;
	periods = perf_value(r->fd) / 20000003;
	ktap_require(read(clock, val, sizeof(val)) > 0, "read: %s", strerror(errno));
	scaled = (unsigned __int128)val[0] * val[1] / val[2];
	wanted = (unsigned __int128)val[1] * msr_read(0, SYN_HZ_NUM) / msr_read(0, SYN_HZ_DEN);
	ktap_note("%s: %llu samples of %llu, %llu missed; clock %llu in %llu of %llu ns", event,
		  r->samples, periods, missed, val[0], val[2], val[1]);
	ktap_check(missed <= 2 && r->samples * 10 >= periods * 7,
		   "%s: %llu samples of %llu, %llu missed", event, r->samples, periods, missed);
	ktap_check(debug_kernel() || (scaled * 100 > wanted * 97 && scaled * 100 < wanted * 103),
		   "%s: clock %llu, scaled %llu, wanted %llu", event, val[0], scaled, wanted);
	event_close_all();
}

static void readers(void)
{
	readers_elsewhere("occupancy_irq");
	readers_elsewhere("occupancy_irq,freeze=1");
}

/* An event that is disabled while it waits does not wait when it is enabled again. */
static void disabled_while_waiting(void)
{
	struct perf_event_attr attr = event_attr("xeon7500_cbox_0", "llc_misses.all");
	u64 period = 1ull << 40;
	struct perf_count a, b;
	int fd;

	silicon_start();
	sampling_limit(1000000);
	storm_traffic(0);
	lost_open();
	attr.sample_period = SHORTEST;
	fd = event_open_attr(&attr, 0, -1);
	perf_run_us(fd, 25000);
	a = perf_count(fd);
	ktap_check(a.running * 2 < a.enabled, "ran for %llu of %llu ns", a.running, a.enabled);
	ktap_check(!lost_count(), "%llu samples are lost", lost_count());
	ktap_require(!ioctl(fd, PERF_EVENT_IOC_PERIOD, &period), "%s", strerror(errno));
	perf_run_us(fd, 10000);
	b = perf_count(fd);
	ktap_check(b.running - a.running == b.enabled - a.enabled, "then for %llu of %llu ns",
		   b.running - a.running, b.enabled - a.enabled);
	event_close_all();
	msr_write(0, SYN_TRAFFIC_RESET, 1);
}

/* Nor does one that leaves its group while that waits. */
static void member_disabled_while_waiting(void)
{
	struct perf_event_attr attr = event_attr("xeon7500_mbox_0", "mbox_cycles");
	struct perf_count a, b;
	int leader, member, turn;

	ktap_skip_on_debug_kernel();
	silicon_start();
	sampling_limit(1000000);
	attr.sample_period = 1000003;
	leader = event_open_attr(&attr, 0, -1);
	attr.sample_period = 0;
	attr.disabled = 0;
	member = event_open_attr(&attr, 0, leader);
	storm_cboxes();
	perf_enable(leader);
	for (turn = 0; turn < 20; turn++) {
		sleep_us(13700);
		perf_disable(member);
		/* The driver looks at those that wait every 10 ms. */
		sleep_us(12000);
		perf_enable(member);
	}
	for (turn = 0; turn < num_rings; turn++)
		perf_disable(rings[turn].fd);
	sleep_us(20000);
	a = perf_count(member);
	sleep_us(10000);
	b = perf_count(member);
	ktap_check(b.value > a.value && b.running - a.running == b.enabled - a.enabled,
		   "ran for %llu of %llu ns", b.running - a.running, b.enabled - a.enabled);
	event_close_all();
	msr_write(0, SYN_TRAFFIC_RESET, 1);
}

/*
 * A gate comes and goes at any moment, also while an event waits because of a storm in other boxes:
 * it has one count for each cycle that it ran.
 */
static void waiting_behind_a_gate(void)
{
	struct perf_event_attr attr = event_attr("xeon7500_mbox_0", "mbox_cycles");
	struct perf_count c;
	u64 cycles;
	int fd, i;

	ktap_skip_on_debug_kernel();
	silicon_start();
	sampling_limit(1000000);
	attr.sample_period = 1000003;
	fd = event_open_attr(&attr, 0, -1);
	storm_cboxes();
	perf_enable(fd);
	for (i = 0; i < 20; i++) {
		event_open("xeon7500_package", "gate", 0, -1);
		sleep_us(7300);
		close(open_events[--num_open_events]);
		sleep_us(6100);
	}
	perf_disable(fd);
	c = perf_count(fd);
	cycles = (unsigned __int128)c.running * msr_read(0, SYN_HZ_NUM) / msr_read(0, SYN_HZ_DEN);
	ktap_note("ran for %llu of %llu ns, %llu cycles, counted %llu", c.running, c.enabled,
		  cycles, c.value);
	ktap_check(c.running * 3 < c.enabled && cycles * 10 >= c.value * 9 &&
		   cycles * 9 <= c.value * 10,
		   "%llu in %llu cycles", c.value, cycles);
	event_close_all();
	msr_write(0, SYN_TRAFFIC_RESET, 1);
}

SILICON_MAIN({ "all counters once at once", all_at_once },
	     { "a storm with the shortest period", shortest },
	     { "storms with short periods", short_periods },
	     { "a storm beside events that count", beside_counting },
	     { "a storm beside a group that samples", beside_sampling },
	     { "a group with many members", many_members },
	     { "a storm that freezes", freezing },
	     { "a storm by frequency", by_frequency },
	     { "a storm of events that take turns", in_turns },
	     { "a storm at ten times the kernel's limit", at_high_limit },
	     { "disabled while it waits", disabled_while_waiting },
	     { "a member is disabled while its group waits", member_disabled_while_waiting },
	     { "waiting behind a gate", waiting_behind_a_gate },
	     { "what one NMI leaves is found", left_over },
	     { "an overflow while a group is read elsewhere", readers })
