// SPDX-License-Identifier: GPL-2.0-only
/*
 * The self-test of PMIs, which the first event that samples starts: it is not repeated where it
 * has failed, and it finds a free counter in whatever box there is one, or borrows one.
 *
 * CPU 0 serves package 0, CPU 2 package 1. The NMI watchdog is off, so that all NMIs are ours.
 *
 * VM: --sockets 2 --cores 2 --icount --append nmi_watchdog=0
 * TEST: 6.1 debug
 */
#include <sys/prctl.h>
#include <sys/wait.h>

#include "foreign.h"
#include "hotplug.h"
#include "kmsg.h"
#include "sampling.h"
#include "storm.h"

/* Of the core PMU */
enum {
	CORE_PMC0 = 0xc1, CORE_EVTSEL0 = 0x186, CORE_GLOBAL_STATUS = 0x38e, CORE_GLOBAL_CTRL = 0x38f,
	CORE_GLOBAL_OVF_CTRL = 0x390,
};

/* From now on no uncore PMI arrives, though nothing shows it. */
#define ALL_LOST	(1ull << 40)

static void start(void)
{
	event_close_all();
	all_online(4);
	module_unload();
	msr_write(0, SYN_FAULT_LOSE, 0);
	module_load("");
	silicon_start();
	sampling_limit(1000000);
	kmsg_mark();
}

static int try_sampling(const char *pmu, const char *event, int cpu)
{
	struct perf_event_attr attr = sampling_attr(pmu, event, 700001);
	int fd = perf_open(&attr, cpu, -1);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

/* New lines of the driver in the kernel log. */
static int lines(void)
{
	char line[1024];
	int num = 0;

	while (kmsg_next(line, sizeof(line)))
		num += !strncmp(line, OURS, strlen(OURS));
	return num;
}

/* ---- it has failed ---- */

static void check_refused_at_once(const char *what, int cpu)
{
	static const struct {
		const char *pmu, *event;
	} tried[] = {
		{ "xeon7500_cbox_2", "llc_misses.all" },
		{ "xeon7500_cbox_2", "llc_misses.all,freeze=1" },
		{ "xeon7500_wbox", "uncore_clock" }, { "xeon7500_mbox_0", "mbox_cycles" },
		{ "xeon7500_ubox", "woken" },
	};
	u64 left;
	unsigned int i;
	int err;

	/* NMIs of the self-test that may be late are waited for. */
	sleep_us(300000);
	lines();
	silicon_clear();
	left = msr_read(0, SYN_FAULT_LOSE);
	for (i = 0; i < ARRAY_SIZE(tried); i++) {
		err = try_sampling(tried[i].pmu, tried[i].event, cpu);
		ktap_check(err == -EOPNOTSUPP, "%s: %s/%s/: %d", what, tried[i].pmu, tried[i].event,
			   err);
	}
	ktap_check(!silicon_accesses(), "%s: %u accesses for %u refusals", what, silicon_accesses(),
		   i);
	ktap_check(msr_read(0, SYN_FAULT_LOSE) == left, "%s: %llu more PMIs were tried", what,
		   left - msr_read(0, SYN_FAULT_LOSE));
	err = lines();
	ktap_check(!err, "%s: %d more lines in the kernel log", what, err);
}

static void failed(void)
{
	int err, num;

	start();
	msr_write(0, SYN_FAULT_LOSE, ALL_LOST);
	silicon_clear();
	err = try_sampling("xeon7500_cbox_2", "llc_misses.all", 2);
	ktap_check(err == -EOPNOTSUPP, "the first: %d", err);
	ktap_note("%u accesses, %llu PMIs", silicon_accesses(),
		  ALL_LOST - msr_read(0, SYN_FAULT_LOSE));
	ktap_check(msr_read(0, SYN_FAULT_LOSE) < ALL_LOST, "no PMI was tried");
	num = lines();
	ktap_check(num == 1, "%d lines in the kernel log", num);
	check_refused_at_once("none arrives", 2);
	/* They might arrive now, but that is not looked at again on this CPU. */
	msr_write(0, SYN_FAULT_LOSE, 0);
	check_refused_at_once("they would arrive", 2);
	check_caps_pmi("where none arrived", "no");

	/* The other package is tried on its own. */
	err = try_sampling("xeon7500_cbox_2", "llc_misses.all", 0);
	ktap_check(!err, "the other package: %d", err);
	check_caps_pmi("where they arrive on one of two", "no");
	/* What only counts is served. */
	perf_enable(event_open("xeon7500_cbox_2", "llc_misses.all", 2, -1));
}

/* Another CPU serves the package: it is tried there, once. */
static void failed_and_moved(void)
{
	int err, num;

	start();
	msr_write(0, SYN_FAULT_LOSE, ALL_LOST);
	err = try_sampling("xeon7500_cbox_2", "llc_misses.all", 2);
	ktap_check(err == -EOPNOTSUPP, "CPU 2: %d", err);
	set_online(2, false);
	ktap_require(package_cpu(1) == 3, "CPU %d serves package 1", package_cpu(1));
	lines();
	err = try_sampling("xeon7500_cbox_2", "llc_misses.all", 3);
	ktap_check(err == -EOPNOTSUPP, "CPU 3: %d", err);
	num = lines();
	ktap_check(num <= 1, "CPU 3: %d lines in the kernel log", num);
	check_refused_at_once("CPU 3", 3);
	msr_write(0, SYN_FAULT_LOSE, 0);
	/* Back to where it had failed, but where it would not now. */
	set_online(2, true);
	set_online(3, false);
	ktap_require(package_cpu(1) == 2, "CPU %d serves package 1", package_cpu(1));
	err = try_sampling("xeon7500_cbox_2", "llc_misses.all", 2);
	ktap_check(!err, "CPU 2 again: %d", err);
	set_online(3, true);
}

/* After a move it is not made beside an event that interrupts, of which it would clear overflows. */
static void not_beside_samples(void)
{
	struct ring *r;
	int turn, err;

	start();
	/* perf throttles it until the next tick, which an idle CPU does not have. */
	sampling_limit(10000000);
	r = sampling_open("xeon7500_cbox_2", "occupancy_irq", 700001, 2, 64);
	perf_enable(r->fd);
	set_online(2, false);
	ktap_require(package_cpu(1) == 3, "CPU %d serves package 1", package_cpu(1));
	for (turn = 0; turn < 20; turn++) {
		u64 before;

		rings_drain();
		before = r->samples;
		err = try_sampling("xeon7500_mbox_0", "mbox_cycles", 3);
		ktap_check(!err, "beside an event that samples: %d", err);
		sleep_us(12000);
		rings_drain();
		if (!ktap_check(r->samples > before + 2, "silent after %d tries", turn + 1))
			break;
	}
	event_close_all();
	err = try_sampling("xeon7500_mbox_0", "mbox_cycles", 3);
	ktap_check(!err, "alone: %d", err);
	set_online(2, true);
}

/* A core counter that somebody has left with its overflow bit set hides no PMI. */
static void stale_core_overflow(void)
{
	u64 ctrl = msr_read(2, CORE_GLOBAL_CTRL);
	int err, i;

	start();
	msr_write(2, CORE_EVTSEL0, 0);
	msr_write(2, CORE_PMC0, 0xffffffff);
	msr_write(2, CORE_GLOBAL_CTRL, 1);
	/* cycles, in all rings, without an interrupt */
	msr_write(2, CORE_EVTSEL0, 0x43003c);
	for (i = 0; i < 1000 && !(msr_read(2, CORE_GLOBAL_STATUS) & 1); i++)
		;
	msr_write(2, CORE_EVTSEL0, 0);
	msr_write(2, CORE_GLOBAL_CTRL, ctrl);
	ktap_require(msr_read(2, CORE_GLOBAL_STATUS) & 1, "the counter has not overflowed");
	err = try_sampling("xeon7500_cbox_2", "llc_misses.all", 2);
	ktap_check(!err, "with a stale overflow bit: %d", err);
	msr_write(2, CORE_GLOBAL_OVF_CTRL, 1);
}

/*
 * It leaves the package as one that is idle, and what counts beside it on the same box goes on.
 * Before the watch comes, which would keep PMIs out as well.
 */
static void leaves_nothing(void)
{
	u64 debugctl, before;
	int fd = -1, beside, err;

	for (beside = 0; beside < 2; beside++) {
		start();
		debugctl = msr_read(0, IA32_DEBUGCTL);
		if (beside) {
			fd = event_open("xeon7500_cbox_0", "llc_hits.all", 0, -1);
			perf_enable(fd);
			sleep_us(1000);
		}
		err = try_sampling("xeon7500_mbox_0", "mbox_cycles", 0);
		ktap_check(!err, "sampling: %d", err);
		ktap_check(msr_read(0, IA32_DEBUGCTL) == debugctl, "IA32_DEBUGCTL is %#llx, was %#llx",
			   msr_read(0, IA32_DEBUGCTL), debugctl);
		if (beside) {
			before = perf_value(fd);
			sleep_us(1000);
			ktap_check(perf_value(fd) > before, "the neighbour does not count");
			perf_disable(fd);
			ktap_check(perf_value(fd) == silicon_truth(0, SYN_EVENTS, C0_CTR_0) &&
				   silicon_truth(0, SYN_WINDOWS, C0_CTR_0) == 1,
				   "the neighbour: %llu, truth %llu, %llu windows", perf_value(fd),
				   silicon_truth(0, SYN_EVENTS, C0_CTR_0),
				   silicon_truth(0, SYN_WINDOWS, C0_CTR_0));
			event_close_all();
		}
		check_clean(0, beside ? "beside a neighbour" : "alone");
	}
}

/* ---- which counter serves it ---- */

struct take {
	const char *boxes;	/* letters */
	const char *leave;	/* a PMU of which one counter stays free */
	int fd[STORM_COUNTERS];
	char pmu[STORM_COUNTERS][32];
	int num;
};

static void take_counter(const char *pmu, const char *event, int n, void *arg)
{
	struct perf_event_attr attr;
	struct take *t = arg;

	(void)n;
	if (!strchr(t->boxes, pmu[strlen("xeon7500_")]))
		return;
	if (t->leave && !strcmp(pmu, t->leave)) {
		t->leave = NULL;
		return;
	}
	attr = event_attr(pmu, event);
	attr.pinned = 1;
	snprintf(t->pmu[t->num], sizeof(t->pmu[0]), "%s", pmu);
	t->fd[t->num] = event_open_attr(&attr, 0, -1);
	perf_enable(t->fd[t->num++]);
}

/* What was counted on each box but @but is what has happened there. */
static void check_taken(const char *what, const struct take *t, const char *but)
{
	u64 sum, truth;
	int i, n;

	for (i = 0; i < t->num; i++) {
		for (n = 0; strcmp(t->pmu[n], t->pmu[i]); n++)
			;
		if (n < i || !strcmp(t->pmu[i], but))
			continue;
		for (sum = 0; n < t->num; n++) {
			if (!strcmp(t->pmu[n], t->pmu[i]))
				sum += perf_count(t->fd[n]).value;
		}
		truth = box_truth(0, SYN_EVENTS, t->pmu[i]);
		ktap_check(sum && sum == truth, "%s: %s: %llu, truth %llu", what, t->pmu[i], sum,
			   truth);
	}
}

static void with_taken(const char *boxes, const char *leave, const char *pmu, const char *event)
{
	struct take t = { .boxes = boxes, .leave = leave };
	struct perf_event_attr attr;
	struct perf_count c;
	char what[64];
	int i, fd;

	start();
	snprintf(what, sizeof(what), "with the counters of %s taken", boxes);
	storm_traffic(0);
	storm_for_each(take_counter, &t);
	attr = sampling_attr(pmu, event, 200003);
	fd = perf_open(&attr, 0, -1);
	ktap_check(fd >= 0, "%s: %s/%s/: %s", what, pmu, event, strerror(-fd));
	if (fd >= 0) {
		open_events[num_open_events++] = fd;
		event_ring(fd, attr.sample_type, 64);
		perf_run_us(fd, 5000);
		rings_drain();
		ktap_check(rings[0].samples >= 10, "%s: %llu samples", what, rings[0].samples);
		check_caps_pmi(what, "yes");
	}
	/* The self-test has cost no count, and no event was held back. */
	for (i = 0; i < t.num; i++) {
		perf_disable(t.fd[i]);
		c = perf_count(t.fd[i]);
		ktap_check(c.running == c.enabled, "%s: %s ran %llu of %llu ns", what, t.pmu[i],
			   c.running, c.enabled);
	}
	check_taken(what, &t, pmu);
	event_close_all();
	check_stopped(0, what);
	check_clean(0, what);
	msr_write(0, SYN_TRAFFIC_RESET, 1);
	sleep_us(120000);
	kmsg_no_unknown_nmi();
}

static void any_counter(void)
{
	with_taken("c", NULL, "xeon7500_mbox_0", "mbox_cycles");
	with_taken("c", NULL, "xeon7500_wbox", "uncore_clock");
	with_taken("cs", NULL, "xeon7500_mbox_0", "mbox_cycles");
	with_taken("cw", NULL, "xeon7500_mbox_0", "mbox_cycles");
	with_taken("cwumbr", NULL, "xeon7500_sbox_0", "to_r_ndr_msgq_occupancy");
	/* One is free, and it is not the first of its box. */
	with_taken("cwumbrs", "xeon7500_cbox_3", "xeon7500_cbox_3", "occupancy_irq");
}

/* Those that were in use are free again, and nothing of their last events is programmed. */
static void used_before(void)
{
	struct take t = { .boxes = "cws" };
	int err;

	start();
	storm_for_each(take_counter, &t);
	event_close_all();
	err = try_sampling("xeon7500_mbox_0", "mbox_cycles", 0);
	ktap_check(!err, "%d", err);
	check_clean(0, "after the self-test");
}

/* Text or table, of each box: there is a clock, also where only S-Boxes are left. */
static void any_sense(void)
{
	unsigned int sense;

	for (sense = 0; sense < 8; sense++) {
		msr_write(0, SYN_READING(RD_C_INVERT), sense & 1);
		msr_write(0, SYN_READING(RD_S_INVERT), sense >> 1 & 1);
		msr_write(0, SYN_READING(RD_W_INVERT), sense >> 2);
		with_taken("b", NULL, "xeon7500_mbox_0", "mbox_cycles");
		with_taken("w", NULL, "xeon7500_mbox_0", "mbox_cycles");
	}
	msr_write(0, SYN_READING(RD_C_INVERT), 0);
	msr_write(0, SYN_READING(RD_S_INVERT), 0);
	msr_write(0, SYN_READING(RD_W_INVERT), 0);
}

static void read_all(const struct take *t)
{
	u64 val[4];
	int n;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (setjmp(ktap_end))
		_exit(1);
	run_on(1);
	for (;;) {
		for (n = 0; n < t->num; n++) {
			if (read(t->fd[n], val, sizeof(val)) <= 0)
				_exit(1);
		}
	}
}

/*
 * All counters have stopped once and gone on, and have the same cycles, but for one of each box, which
 * may have been lent.
 */
static void check_cycles(const struct take *t)
{
	uint16_t ctr[SILICON_MAX_COUNTERS];
	u64 cycles = 0;
	int i, j, num, odd;

	for (i = 0; i < t->num; i++) {
		if (i && !strcmp(t->pmu[i], t->pmu[i - 1]))
			continue;
		num = box_counters(t->pmu[i], ctr);
		if (!i) {
			/* Two of three have not been lent. */
			cycles = silicon_truth(0, SYN_ENABLED, ctr[1]);
			if (silicon_truth(0, SYN_ENABLED, ctr[2]) != cycles)
				cycles = silicon_truth(0, SYN_ENABLED, ctr[0]);
		}
		for (j = 0, odd = 0; j < num; j++)
			odd += silicon_truth(0, SYN_ENABLED, ctr[j]) != cycles ||
			       silicon_truth(0, SYN_WINDOWS, ctr[j]) != 2;
		ktap_check(cycles && odd <= 1,
			   "without %s: %s: %d of %d counters not for %llu cycles, not twice",
			   t->boxes, t->pmu[i], odd, num, cycles);
	}
}

/*
 * Where no counter is free, or the free ones count no clocks, the counter of an event is lent. Behind a
 * closed gate nothing of the test is in its count, which another CPU reads all the time. Behind an open
 * gate all other events stop at once and go on at once. Without a gate the events have run for a part of
 * the time.
 */
static void lent(void)
{
	static const struct {
		const char *taken;
		unsigned int c_invert;
	} how[] = { { "cws", 0 }, { "ws", RD_C_INVERT_ABOVE }, { "cws", RD_C_INVERT_ABOVE } };
	struct take t;
	struct perf_count c;
	enum { NO_GATE, CLOSED, OPEN, GATES } gate;
	unsigned int i;
	pid_t reader;
	int err, n;

	for (i = 0; i < GATES * ARRAY_SIZE(how); i++) {
		gate = i % GATES;
		start();
		msr_write(0, SYN_READING(RD_C_INVERT), how[i / GATES].c_invert);
		storm_traffic(0);
		if (gate)
			gates_install();
		t = (struct take){ .boxes = how[i / GATES].taken };
		storm_for_each(take_counter, &t);
		reader = fork();
		ktap_require(reader >= 0, "fork: %s", strerror(errno));
		if (!reader)
			read_all(&t);
		sleep_us(1000);
		if (gate == OPEN) {
			silicon_clear();
			gates_open();
		}
		err = try_sampling("xeon7500_mbox_0", "mbox_cycles", 0);
		ktap_check(!err, "without %s: %d", t.boxes, err);
		if (gate == OPEN) {
			gates_close();
			check_cycles(&t);
		}
		kill(reader, SIGKILL);
		waitpid(reader, &n, 0);
		ktap_check(WIFSIGNALED(n), "without %s: cannot read", t.boxes);
		ktap_check(!foreign_writes(), "without %s: foreign_writes %lld", t.boxes,
			   foreign_writes());
		check_caps_pmi(t.boxes, "yes");
		n = lines();
		ktap_check(!n, "without %s: %d lines in the kernel log", t.boxes, n);
		if (gate == CLOSED) {
			silicon_clear();
			for (n = 0; n < t.num; n++)
				ktap_check(!perf_value(t.fd[n]), "without %s: %s has %llu", t.boxes,
					   t.pmu[n], perf_value(t.fd[n]));
			gates_open();
			sleep_us(5000);
			gates_close();
			check_taken(t.boxes, &t, "");
			for (n = 0; n < t.num; n++)
				ktap_check(perf_value(t.fd[n]), "without %s: %s does not count",
					   t.boxes, t.pmu[n]);
		}
		for (n = 0; n < t.num && gate == NO_GATE; n++) {
			c = perf_count(t.fd[n]);
			ktap_check(c.value && c.running < c.enabled, "without %s: %s for %llu of %llu ns",
				   t.boxes, t.pmu[n], c.running, c.enabled);
			perf_disable(t.fd[n]);
		}
		if (gate != CLOSED)
			check_taken(t.boxes, &t, "");
		event_close_all();
		msr_write(0, SYN_TRAFFIC_RESET, 1);
	}
	msr_write(0, SYN_READING(RD_C_INVERT), 0);
	sleep_us(120000);
	kmsg_no_unknown_nmi();
}

SILICON_MAIN({ "a self-test that failed is not repeated", failed },
	     { "but on another CPU", failed_and_moved },
	     { "not beside an event that samples", not_beside_samples },
	     { "nor does a stale overflow of the core PMU matter", stale_core_overflow },
	     { "it leaves nothing, and stops nobody", leaves_nothing },
	     { "any free counter serves it", any_counter },
	     { "also one that was in use", used_before },
	     { "in either sense of threshold and invert", any_sense },
	     { "without one it borrows one", lent })
