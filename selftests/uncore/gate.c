// SPDX-License-Identifier: GPL-2.0-only
/*
 * xeon7500_package/gate/: counters of any boxes of a package start and stop at one cycle.
 *
 * CPUs 0 and 1 are package 0, 2 and 3 package 1.
 *
 * TEST: 6.1 6.12 newest debug
 * SOAK: newest debug-rt
 * VM: --sockets 2 --cores 2
 */
#include <signal.h>
#include <sys/wait.h>

#include "foreign.h"
#include "hotplug.h"
#include "sampling.h"

/* What is counted: every counter of the C-Boxes and one or two of each other box. */
static const char * const cbox_events[6] = {
	"llc_misses.all", "llc_hits.m", "occupancy_irq", "snps.remote_any", "arb_wins.ad_sb",
	"trans_maf",
};

static const struct {
	const char *pmu, *event;
} others[] = {
	{ "xeon7500_ubox", "woken" },
	{ "xeon7500_wbox", "uncore_clock" },
	{ "xeon7500_wbox", "c_cycles_turbo.c_all" },
	EACH_SBMR_BOX
};

#define OTHERS	(int)ARRAY_SIZE(others)
#define ALL	(48 + OTHERS)

static int fds[ALL];

static void start(void)
{
	event_close_all();
	all_online(4);
	silicon_start();
}

static void open_all(int package)
{
	char pmu[32];
	int i, b;

	for (b = 0; b < 8; b++) {
		snprintf(pmu, sizeof(pmu), "xeon7500_cbox_%d", b);
		for (i = 0; i < 6; i++)
			fds[6 * b + i] = event_open(pmu, cbox_events[i], package_cpu(package), -1);
	}
	for (i = 0; i < OTHERS; i++)
		fds[48 + i] = event_open(others[i].pmu, others[i].event, package_cpu(package), -1);
}

static void enable_all(void)
{
	int i;

	for (i = 0; i < ALL; i++)
		perf_enable(fds[i]);
}

static void disable_all(void)
{
	int i;

	for (i = 0; i < ALL; i++)
		perf_disable(fds[i]);
}

/* ---- the truth about all counters of a package ---- */

struct windows {
	int cpu;
	unsigned int counters;		/* that have run */
	u64 most;			/* windows of one counter */
	u64 first_opened, last_opened;
	u64 first_closed, last_closed;
	u64 events;
	unsigned int open;
};

static void look_at(const char *pmu, void *arg)
{
	uint16_t ctr[SILICON_MAX_COUNTERS];
	int num = box_counters(pmu, ctr), i;
	struct windows *w = arg;

	for (i = 0; i < num; i++) {
		u64 windows = silicon_truth(w->cpu, SYN_WINDOWS, ctr[i]);
		u64 opened = silicon_truth(w->cpu, SYN_OPENED, ctr[i]);
		u64 closed = silicon_truth(w->cpu, SYN_CLOSED, ctr[i]);

		if (!windows)
			continue;
		w->counters++;
		w->events += silicon_truth(w->cpu, SYN_EVENTS, ctr[i]);
		w->most = windows > w->most ? windows : w->most;
		if (opened < w->first_opened)
			w->first_opened = opened;
		if (opened > w->last_opened)
			w->last_opened = opened;
		w->open += !closed;
		if (closed < w->first_closed)
			w->first_closed = closed;
		if (closed > w->last_closed)
			w->last_closed = closed;
	}
}

static struct windows windows(int cpu)
{
	struct windows w = {
		.cpu = cpu,
		.first_opened = UINT64_MAX,
		.first_closed = UINT64_MAX,
	};

	for_each_pmu(look_at, &w);
	return w;
}

static u64 sum_of_counts(void)
{
	u64 sum = 0;
	int i;

	for (i = 0; i < ALL; i++)
		sum += perf_count(fds[i]).value;
	return sum;
}

/* All have run, over the very same cycles, and count what happened in them. */
static struct windows check_together(int cpu, unsigned int num_windows)
{
	struct windows w = windows(cpu);
	u64 sum = sum_of_counts();

	ktap_check(w.counters == ALL && !w.open && w.most == num_windows,
		   "%u counters have run, %u still do, %llu windows", w.counters, w.open, w.most);
	ktap_check(w.first_opened == w.last_opened && w.first_closed == w.last_closed,
		   "started within %llu cycles, stopped within %llu",
		   w.last_opened - w.first_opened, w.last_closed - w.first_closed);
	ktap_check(sum == w.events && sum, "count %llu, truth %llu", sum, w.events);
	return w;
}

/* ---- the cases ---- */

static void one_gate(int package)
{
	int cpu, gate, i;

	start();
	cpu = package_cpu(package);
	gate = event_open("xeon7500_package", "gate", cpu, -1);
	open_all(package);
	enable_all();
	sleep_us(1000);
	ktap_check(windows(cpu).counters == 0, "%u counters run behind a closed gate",
		   windows(cpu).counters);
	ktap_check(sum_of_counts() == 0);
	perf_run_us(gate, 1000);
	sleep_us(1000);
	disable_all();
	check_together(cpu, 1);

	/* And again: more windows, all alike. */
	silicon_clear();
	enable_all();
	for (i = 0; i < ALL; i++)
		ktap_require(!ioctl(fds[i], PERF_EVENT_IOC_RESET, 0), "%s", strerror(errno));
	for (i = 0; i < 20; i++) {
		perf_enable(gate);
		perf_disable(gate);
	}
	check_together(cpu, 20);
	disable_all();
	check_together(cpu, 20);
}

static void zero_skew(void)
{
	one_gate(0);
	one_gate(1);
}

/* Without a gate the same thing is skewed, or the test would show nothing. */
static void skew_without(void)
{
	struct windows w;

	start();
	open_all(0);
	enable_all();
	sleep_us(1000);
	disable_all();
	w = windows(package_cpu(0));
	ktap_note("without a gate: started within %llu cycles, stopped within %llu",
		  w.last_opened - w.first_opened, w.last_closed - w.first_closed);
	ktap_check(w.last_opened > w.first_opened + 1000);
}

/* The package runs while all gates are open. */
static void two_gates(void)
{
	int cpu, a, b;

	start();
	cpu = package_cpu(0);
	a = event_open("xeon7500_package", "gate", cpu, -1);
	b = event_open("xeon7500_package", "gate", cpu, -1);
	open_all(0);
	enable_all();
	perf_enable(a);
	sleep_us(500);
	ktap_check(windows(cpu).counters == 0);
	perf_enable(b);
	sleep_us(500);
	ktap_check(windows(cpu).open == ALL, "%u", windows(cpu).open);
	perf_disable(a);
	ktap_check(windows(cpu).open == 0);
	check_together(cpu, 1);
	perf_disable(b);
	perf_enable(a);
	sleep_us(500);
	ktap_check(windows(cpu).open == 0);
	perf_enable(b);
	ktap_check(windows(cpu).open == ALL);
	perf_disable(b);
	disable_all();
	check_together(cpu, 2);
}

/* As perf stat does it: one gate before everything and one behind. */
static void a_gate_at_each_end(void)
{
	u64 ns, from[2], to[2];
	struct windows w;
	int cpu, a, b;

	start();
	cpu = package_cpu(1);
	a = event_open("xeon7500_package", "gate", cpu, -1);
	open_all(1);
	b = event_open("xeon7500_package", "gate", cpu, -1);
	from[0] = msr_read(cpu, SYN_NS);
	perf_enable(a);
	enable_all();
	from[1] = msr_read(cpu, SYN_NS);
	perf_enable(b);
	sleep_us(3000);
	perf_disable(a);
	to[0] = msr_read(cpu, SYN_NS);
	disable_all();
	perf_disable(b);
	to[1] = msr_read(cpu, SYN_NS);
	w = check_together(cpu, 1);
	/* Its own count is how long it was open, to the precision of the kernel's clock. */
	ns = (w.last_closed - w.first_opened) * msr_read(cpu, SYN_HZ_DEN) /
	     msr_read(cpu, SYN_HZ_NUM);
	ktap_note("open for %llu ns, the gates say %llu and %llu", ns, perf_count(a).value,
		  perf_count(b).value);
	ktap_check(perf_count(a).value > ns && perf_count(b).value > ns);
	ktap_check(perf_count(a).value < (to[0] - from[0]) / 8 * 9 &&
		   perf_count(b).value < (to[1] - from[1]) / 8 * 9, "of %llu and %llu ns",
		   to[0] - from[0], to[1] - from[1]);
}

static void closing_the_file(void)
{
	struct windows w;
	int cpu, gate;

	start();
	cpu = package_cpu(0);
	gate = perf_open_config("xeon7500_package", event_attr("xeon7500_package", "gate").config, cpu,
				-1);
	ktap_require(gate >= 0, "%s", strerror(-gate));
	open_all(0);
	enable_all();
	ktap_check(windows(cpu).counters == 0);
	close(gate);
	sleep_us(500);
	ktap_check(windows(cpu).open == ALL, "%u of %d run", windows(cpu).open, ALL);
	disable_all();
	ktap_check(sum_of_counts() == windows(cpu).events);

	/* perf disables an open one before it lets go of it. */
	start();
	gate = perf_open_config("xeon7500_package", event_attr("xeon7500_package", "gate").config, cpu,
				-1);
	perf_enable(gate);
	open_all(0);
	enable_all();
	close(gate);
	w = windows(cpu);
	ktap_check(w.open == ALL && w.most <= 2 && w.first_opened == w.last_opened,
		   "%u run, %llu windows, started within %llu cycles", w.open, w.most,
		   w.last_opened - w.first_opened);
	disable_all();
}

/* A process that dies, in whatever state its gate is. */
static void dying_owner(void)
{
	int cpu, state, status, ready[2];
	char c;

	for (state = 0; state < 3; state++) {
		pid_t pid;

		start();
		cpu = package_cpu(0);
		open_all(0);
		enable_all();
		ktap_require(!pipe(ready), "pipe");
		fflush(stdout);
		pid = fork();
		if (!pid) {
			struct perf_event_attr attr = event_attr("xeon7500_package", "gate");
			int gate = perf_open(&attr, cpu, -1);

			if (state > 0)
				ioctl(gate, PERF_EVENT_IOC_ENABLE, 0);
			if (state > 1)
				ioctl(gate, PERF_EVENT_IOC_DISABLE, 0);
			if (write(ready[1], "x", 1) != 1)
				_exit(1);
			pause();
		}
		ktap_require(read(ready[0], &c, 1) == 1, "no gate");
		ktap_check((windows(cpu).open == ALL) == (state == 1), "state %d: %u run", state,
			   windows(cpu).open);
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		close(ready[0]);
		close(ready[1]);
		sleep_us(1000);
		ktap_check(windows(cpu).open == ALL, "state %d: %u run after its death", state,
			   windows(cpu).open);
		disable_all();
		ktap_check(sum_of_counts() == windows(cpu).events);
	}
}

/* It holds back whoever counts on the package, and nobody else. */
static void beside_others(void)
{
	int cpu, other, mine, gate;
	u64 count;

	start();
	cpu = package_cpu(0);
	mine = event_open("xeon7500_cbox_3", "llc_hits.all", cpu, -1);
	other = event_open("xeon7500_cbox_3", "llc_hits.all", package_cpu(1), -1);
	perf_enable(mine);
	perf_enable(other);
	sleep_us(500);
	gate = event_open("xeon7500_package", "gate", cpu, -1);
	ktap_check(!windows(cpu).open && windows(package_cpu(1)).open == 1);
	count = perf_count(mine).value;
	sleep_us(1000);
	ktap_check(count && perf_count(mine).value == count);
	perf_enable(gate);
	sleep_us(500);
	ktap_check(perf_count(mine).value > count);
	perf_disable(gate);
	/* Events that come and go behind the closed gate. */
	open_all(0);
	enable_all();
	close(event_open("xeon7500_cbox_4", "llc_hits.all", cpu, -1));
	num_open_events--;
	ktap_check(!windows(cpu).open);
	perf_disable(mine);
	perf_disable(other);
	ktap_check(perf_count(mine).value == box_truth(cpu, SYN_EVENTS, "xeon7500_cbox_3"));
	ktap_check(perf_count(other).value ==
		   box_truth(package_cpu(1), SYN_EVENTS, "xeon7500_cbox_3"));
	ktap_check(windows(package_cpu(1)).most == 1);
}

/* Gates alone see to it that nothing runs, whatever there was before, and no more. */
static void gates_alone(void)
{
	int gate;

	start();
	gate = event_open("xeon7500_package", "gate", package_cpu(0), -1);
	perf_enable(gate);
	perf_disable(gate);
	ktap_check(silicon_accesses() == 1, "%u accesses", silicon_accesses());
}

/* An open gate moves with the package: everything stops and starts together. */
static void hotplug_open(void)
{
	struct windows w;
	int gate;

	start();
	gate = event_open("xeon7500_package", "gate", package_cpu(1), -1);
	open_all(1);
	enable_all();
	perf_enable(gate);
	sleep_us(1000);
	set_online(package_cpu(1), false);
	sleep_us(1000);
	w = windows(package_cpu(1));
	ktap_check(w.open == ALL && w.most == 2 && w.first_opened == w.last_opened,
		   "%u run, %llu windows, started within %llu cycles", w.open, w.most,
		   w.last_opened - w.first_opened);
	perf_disable(gate);
	disable_all();
	check_together(package_cpu(1), 2);
}

/*
 * A closed one: perf enables whatever it moves (perf_pmu_migrate_context() knows no
 * disabled state), so it opens.
 */
static void hotplug_closed(void)
{
	int gate;

	start();
	gate = event_open("xeon7500_package", "gate", package_cpu(1), -1);
	open_all(1);
	enable_all();
	set_online(package_cpu(1), false);
	sleep_us(500);
	ktap_check(windows(package_cpu(1)).open == ALL, "%u run", windows(package_cpu(1)).open);
	perf_disable(gate);
	ktap_check(windows(package_cpu(1)).open == 0);
	check_together(package_cpu(1), 1);
	perf_enable(gate);
	perf_disable(gate);
	check_together(package_cpu(1), 2);
}

/* A CPU goes that has nothing to do with the gate, which is still closed then. */
static void hotplug_other(void)
{
	int fd;

	start();
	event_open("xeon7500_package", "gate", package_cpu(0), -1);
	set_online(1, false);
	fd = event_open("xeon7500_cbox_3", "llc_hits.all", package_cpu(0), -1);
	perf_enable(fd);
	sleep_us(500);
	ktap_check(!perf_count(fd).value && !windows(package_cpu(0)).counters, "%llu behind a closed gate",
		   perf_count(fd).value);
	set_online(1, true);
}

/* After a move nothing counts before all do: neither an event that only counts nor one that samples. */
static void hotplug_sampling(void)
{
	struct perf_event_attr attr = event_attr("xeon7500_cbox_0", "llc_hits.all");
	int gate, counts, samples, cpu, i;

	start();
	cpu = package_cpu(1);
	gate = event_open("xeon7500_package", "gate", cpu, -1);
	counts = event_open_attr(&attr, cpu, -1);
	attr.sample_period = 1ull << 40;
	samples = event_open_attr(&attr, cpu, -1);
	perf_enable(counts);
	perf_enable(samples);
	perf_enable(gate);
	for (i = 0; i < 4; i++) {
		cpu = package_cpu(1);
		sleep_us(1000);
		set_online(cpu, false);
		sleep_us(1000);
		set_online(cpu, true);
	}
	perf_disable(gate);
	ktap_check(perf_count(counts).value &&
		   perf_count(counts).value == perf_count(samples).value,
		   "%llu and %llu", perf_count(counts).value, perf_count(samples).value);
}

/* The self-test of PMIs needs en_all, and nothing else counts with it. */
static void tested(void)
{
	int cpu, gate, fd, samples;

	start();
	module_unload();
	module_load("");
	silicon_start();
	cpu = package_cpu(1);
	gate = event_open("xeon7500_package", "gate", cpu, -1);
	fd = event_open("xeon7500_cbox_3", "llc_hits.all", cpu, -1);
	perf_enable(fd);
	samples = sampling_open("xeon7500_cbox_2", "llc_hits.all", 700001, cpu, 8)->fd;
	check_caps_pmi("behind a closed gate", "yes");
	perf_enable(samples);
	sleep_us(1000);
	ktap_check(!perf_count(fd).value && !box_truth(cpu, SYN_EVENTS, "xeon7500_cbox_3"),
		   "%llu counted behind a closed gate", perf_count(fd).value);
	perf_run_us(gate, 1000);
	ktap_check(perf_count(fd).value &&
		   perf_count(fd).value == box_truth(cpu, SYN_EVENTS, "xeon7500_cbox_3"));
}

/* A package that loses all its CPUs loses its gates; coming back it is free of them. */
static void hotplug_all(void)
{
	int gate[3], i, fd;

	for (i = 0; i < 2; i++) {
		start();
		gate[0] = event_open("xeon7500_package", "gate", package_cpu(1), -1);
		gate[1] = event_open("xeon7500_package", "gate", package_cpu(1), -1);
		open_all(1);
		enable_all();
		perf_enable(gate[0]);
		if (i)
			perf_enable(gate[1]);
		gate[2] = event_open("xeon7500_package", "gate", package_cpu(1), -1);
		if (i)
			perf_enable(gate[2]);
		set_online(2, false);
		set_online(3, false);
		/* While there is no CPU to do it. */
		close(gate[2]);
		num_open_events--;
		set_online(3, true);
		fd = event_open("xeon7500_cbox_2", "llc_hits.all", package_cpu(1), -1);
		silicon_clear();
		perf_enable(fd);
		sleep_us(500);
		ktap_check(windows(package_cpu(1)).open == 1 && perf_count(fd).value,
			   "gates %s: %u run", i ? "open" : "closed",
			   windows(package_cpu(1)).open);
		/* Closing the old ones changes nothing, and new ones work. */
		close(gate[0]);
		close(gate[1]);
		open_events[0] = dup(fd);
		open_events[1] = dup(fd);
		ktap_check(windows(package_cpu(1)).open == 1);
		gate[0] = event_open("xeon7500_package", "gate", package_cpu(1), -1);
		ktap_check(windows(package_cpu(1)).open == 0);
		perf_enable(gate[0]);
		ktap_check(windows(package_cpu(1)).open == 1);
		perf_disable(fd);
		ktap_check(perf_count(fd).value ==
			   box_truth(package_cpu(1), SYN_EVENTS, "xeon7500_cbox_2"));
	}
	start();
}

SILICON_MAIN({ "all boxes start and stop at one cycle", zero_skew },
	     { "without a gate they do not", skew_without },
	     { "a package runs while both gates are open", two_gates },
	     { "a gate at each end", a_gate_at_each_end },
	     { "closing the file of a gate lets the package run", closing_the_file },
	     { "a gate goes with the process that dies", dying_owner },
	     { "a gate holds back its package and no other", beside_others },
	     { "gates without events cost one access", gates_alone },
	     { "an open gate and hotplug", hotplug_open },
	     { "a closed gate and hotplug", hotplug_closed },
	     { "a closed gate and hotplug of another CPU", hotplug_other },
	     { "a closed gate and a self-test", tested },
	     { "a package goes and comes back", hotplug_all },
	     { "an open gate, hotplug and a sampling event", hotplug_sampling })
