// SPDX-License-Identifier: GPL-2.0-only
/*
 * The address of a sample is that of the interrupted program, also where the sample is not taken
 * in the NMI: no address and no callchain of a sample begins in the driver itself.
 *
 * The driver takes a sample later if the NMI finds the package locked: because another CPU reads a
 * group, or because the NMI has interrupted the driver.
 *
 * CPU 0 serves the package. The NMI watchdog is off, so that all NMIs are ours.
 *
 * VM: --sockets 1 --cores 3 --icount --append nmi_watchdog=0
 * SOAK: 6.1 6.12 newest
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "foreign.h"
#include "sampling.h"

#define SAMPLER_CPU	2	/* where this program runs itself */

/* ---- programs that run meanwhile ---- */

#define MAX_CHILDREN	4

static pid_t children[MAX_CHILDREN];
static int num_children;
static pid_t spinner;

static void children_end(void)
{
	while (num_children) {
		kill(children[--num_children], SIGKILL);
		waitpid(children[num_children], NULL, 0);
	}
	spinner = 0;
}

/* Runs it on a CPU, over and over. */
static pid_t child_run(int cpu, void (*work)(void))
{
	pid_t pid = fork();

	ktap_require(pid >= 0, "fork: %s", strerror(errno));
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (setjmp(ktap_end))
			_exit(1);
		run_on(cpu);
		for (;;)
			work();
	}
	ktap_require(num_children < MAX_CHILDREN, "too many children");
	children[num_children++] = pid;
	return pid;
}

static void spin(void)
{
	unsigned int i;

	for (i = 0; i < 1000000; i++)
		__asm__ volatile("");
}

/* Events and groups of the boxes that sample come, are read and go. */
static void come_and_go(void)
{
	static const char * const boxes_used[] = { "xeon7500_cbox_2", "xeon7500_wbox" };
	static const char * const events[] = { "llc_hits.all", "c_cycles_turbo.c_all" };
	u64 buf[8];
	int box, i;

	for (box = 0; box < 2; box++) {
		struct perf_event_attr attr = event_attr(boxes_used[box], events[box]);
		int leader, member;

		attr.read_format = PERF_FORMAT_GROUP;
		leader = perf_open(&attr, 0, -1);
		attr.disabled = 0;
		member = perf_open(&attr, 0, leader);
		ioctl(leader, PERF_EVENT_IOC_ENABLE, 0);
		for (i = 0; i < 20; i++)
			i = read(leader, buf, sizeof(buf)) < 0 ? 20 : i;
		close(member);
		close(leader);
	}
}

/* ---- what samples ---- */

struct module_text {
	u64 from, to;
};

static struct module_text module_text(void)
{
	char line[300], name[64];
	struct module_text text = {};
	unsigned long size;
	u64 base;
	FILE *f = fopen("/proc/modules", "r");

	ktap_require(f, "/proc/modules: %s", strerror(errno));
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%63s %lu %*s %*s %*s %llx", name, &size, &base) == 3 &&
		    !strcmp(name, OURS))
			text = (struct module_text){ base, base + size };
	}
	fclose(f);
	ktap_require(text.from, "the address of " OURS " cannot be seen");
	return text;
}

struct seen {
	struct module_text module;
	u64 samples;
	u64 ip_in_module;		/* no program was interrupted there */
	u64 chain_in_module;
	u64 interrupted_module;	/* real registers, in the driver */
	u64 of_spinner;
	u64 user;			/* of those: the callchain has a part in user space */
	u64 user_first;		/* and begins there */
	u64 example;
};

static bool in_module(const struct seen *seen, u64 addr)
{
	return addr >= seen->module.from && addr < seen->module.to;
}

static void look_at(const struct ring *r, const struct sample *s, void *arg)
{
	struct seen *seen = arg;
	bool user = false, real = sample_regs_are_real(s);
	u64 i;

	(void)r;
	seen->samples++;
	if (in_module(seen, s->ip)) {
		seen->example = s->ip;
		seen->ip_in_module += !real;
		seen->interrupted_module += real;
	}
	/* chain[0] is PERF_CONTEXT_KERNEL or PERF_CONTEXT_USER. */
	if (s->chain_len > 1 && in_module(seen, s->chain[1]) && !real)
		seen->chain_in_module++;
	for (i = 0; i < s->chain_len && i < 128; i++)
		user |= s->chain[i] == PERF_CONTEXT_USER;
	if (spinner && (pid_t)s->tid == spinner) {
		seen->of_spinner++;
		seen->user += user;
		seen->user_first += s->chain_len && s->chain[0] == PERF_CONTEXT_USER;
	}
}

static void start(void)
{
	children_end();
	silicon_start();
	sampling_limit(1000000);
	run_on(SAMPLER_CPU);
	/* One event in each cycle. */
	silicon_traffic(0, SYN_SEL(SYN_BOX_C, SYN_ANY, SYN_ANY_CODE, SYN_ANY),
			SYN_PATTERN(0, 0, 1, 1));
}

static void sampler(const char *pmu, const char *event, u64 period, bool freq)
{
	struct perf_event_attr attr = sampling_attr(pmu, event, period);

	attr.freq = freq;
	attr.sample_type |= PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_INTR;
	attr.sample_regs_intr = SAMPLE_REGS_MASK;
	event_ring(event_open_attr(&attr, 0, -1), attr.sample_type, 32);
}

/* Counts the cycles of the spinner. */
static int spinner_cycles(bool exclude_kernel)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .size = sizeof(attr), .config = PERF_COUNT_HW_CPU_CYCLES,
		.exclude_kernel = exclude_kernel,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	int fd = syscall(SYS_perf_event_open, &attr, spinner, -1, -1, PERF_FLAG_FD_CLOEXEC);

	ktap_require(fd >= 0, "cycles of the spinner: %s", strerror(errno));
	return fd;
}

static void sample_for(const char *what, unsigned int ms)
{
	struct seen seen = { .module = module_text() };
	int i, in_user = -1, in_all = -1;
	unsigned int turn;
	u64 user, all;

	if (spinner) {
		in_user = spinner_cycles(true);
		in_all = spinner_cycles(false);
	}
	for (i = 0; i < num_rings; i++)
		perf_enable(rings[i].fd);
	for (turn = 0; turn < ms; turn += 10) {
		sleep_us(10000);
		for (i = 0; i < num_rings; i++)
			ring_drain(&rings[i], look_at, &seen);
	}
	for (i = 0; i < num_rings; i++)
		perf_disable(rings[i].fd);
	for (i = 0; i < num_rings; i++)
		ring_drain(&rings[i], look_at, &seen);
	ktap_note("%s: %llu samples, %llu of the spinner, %llu of them in user space, %llu interrupted the driver",
		  what, seen.samples, seen.of_spinner, seen.user_first, seen.interrupted_module);
	ktap_check(seen.samples > 50, "%s: %llu samples", what, seen.samples);
	ktap_check(!seen.ip_in_module && !seen.chain_in_module,
		   "%s: %llu of %llu addresses and %llu callchains begin in the driver, e.g. at +%#llx",
		   what, seen.ip_in_module, seen.samples, seen.chain_in_module,
		   seen.example - seen.module.from);
	/* An NMI may interrupt the driver where it has not locked the package. */
	ktap_check(seen.interrupted_module * 10 <= seen.samples,
		   "%s: %llu of %llu samples have interrupted the driver", what,
		   seen.interrupted_module, seen.samples);
	if (spinner) {
		ktap_check(seen.of_spinner * 2 > seen.samples,
			   "%s: %llu of %llu are of the spinner", what, seen.of_spinner,
			   seen.samples);
		ktap_check(seen.user == seen.of_spinner,
			   "%s: %llu of %llu callchains of the spinner have no user space", what,
			   seen.of_spinner - seen.user, seen.of_spinner);
		user = perf_count(in_user).value;
		all = perf_count(in_all).value;
		ktap_check(user && seen.user_first * all >= seen.of_spinner * user / 10 * 9,
			   "%s: %llu of %llu samples of the spinner are in user space, %llu of %llu cycles",
			   what, seen.user_first, seen.of_spinner, user, all);
		close(in_user);
		close(in_all);
	}
	children_end();
	event_close_all();
	msr_write(0, SYN_TRAFFIC_RESET, 1);
	run_on(-1);
}

static unsigned int long_ms(unsigned int ms)
{
	return soak() ? 10 * ms : ms;
}

static void one(const char *what, int busy_cpu)
{
	start();
	sampler("xeon7500_cbox_2", "llc_misses.all", 20000, true);
	spinner = child_run(0, spin);
	if (busy_cpu >= 0)
		child_run(busy_cpu, come_and_go);
	sample_for(what, long_ms(300));
}

static void twelve(const char *what, int busy_cpu, bool spins)
{
	int i;

	start();
	for (i = 0; i < 6; i++) {
		sampler(i < 4 ? "xeon7500_cbox_2" : "xeon7500_wbox",
			i < 4 ? "llc_misses.all" : "c_cycles_turbo.c_all", 1000000, false);
		sampler("xeon7500_cbox_5", "llc_misses.all", 1000000, false);
	}
	if (spins)
		spinner = child_run(0, spin);
	if (busy_cpu >= 0)
		child_run(busy_cpu, come_and_go);
	sample_for(what, long_ms(200));
}

KTAP_CALL(one_alone, one("one event", -1))
KTAP_CALL(one_beside_reads, one("one event, reads on another CPU", 1))
KTAP_CALL(twelve_alone, twelve("twelve events", -1, true))
KTAP_CALL(twelve_idle, twelve("twelve events, idle CPU", -1, false))
KTAP_CALL(twelve_beside_reads, twelve("twelve events, reads on another CPU", 1, true))

/* The NMI interrupts the driver on its own CPU. */
KTAP_CALL(twelve_same_cpu, twelve("twelve events, reads on the same CPU", 0, false))

/* The watch gives the samples, every 10 ms: the timer has interrupted the program. */
static void one_lost(void)
{
	start();
	sampler("xeon7500_cbox_2", "llc_misses.all", 1000000, false);
	msr_write(0, SYN_FAULT_LOSE, 1ull << 40);
	spinner = child_run(0, spin);
	sample_for("one event, PMIs get lost", 800);
	msr_write(0, SYN_FAULT_LOSE, 0);
}

SILICON_MAIN({ "one event at a frequency", one_alone },
	     { "one event, whose PMIs get lost", one_lost },
	     { "one event, groups are read on another CPU", one_beside_reads },
	     { "twelve events", twelve_alone },
	     { "twelve events on an idle CPU", twelve_idle },
	     { "twelve events, groups are read on another CPU", twelve_beside_reads },
	     { "twelve events, groups come and go on the same CPU", twelve_same_cpu })
