// SPDX-License-Identifier: GPL-2.0-only
/*
 * The registers of a sample (PERF_SAMPLE_REGS_INTR) are those of the interrupted program, or the
 * kernel has made them up; then all that it has not filled in is 0, and nothing of the kernel's
 * stack. In the guest; selftests/vm/sample_regs.py starts it, with a driver whose variables on
 * the stack the compiler has not initialised.
 *
 * All PMIs are lost, so that no sample is taken in an NMI. CPU 0 serves the package.
 */
#include <signal.h>
#include <sys/auxv.h>
#include <sys/wait.h>

#include "foreign.h"
#include "sampling.h"

#define ALL_LOST	(1ull << 40)
#define PERIOD		100000	/* one event in each cycle: 50 us */

extern char __executable_start, etext;

struct seen {
	u64 samples;
	u64 user;		/* the registers of this program */
	u64 kernel;	/* of an interrupted kernel */
	u64 made_up;
	u64 leaks;		/* of those: something is in them that should not be */
	u64 strange;	/* user mode, but not at a place of this program */
	struct sample example;
};

/* What the driver fills in where nothing was interrupted: it shows this function of the kernel. */
static u64 perf_event_overflow;

static void find_perf_event_overflow(void)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	char line[256];

	ktap_require(f, "/proc/kallsyms: %s", strerror(errno));
	while (!perf_event_overflow && fgets(line, sizeof(line), f)) {
		if (strstr(line, " perf_event_overflow\n"))
			perf_event_overflow = strtoull(line, NULL, 16);
	}
	fclose(f);
	ktap_require(perf_event_overflow, "/proc/kallsyms does not tell where it is");
}

static bool leaks(const struct sample *s)
{
	int i;

	for (i = 0; i < SAMPLE_REGS; i++) {
		if (i != SAMPLE_REG_IP && i != SAMPLE_REG_FLAGS && i != SAMPLE_REG_CS && s->reg[i])
			return true;
	}
	return false;
}

/* Its own code, or the kernel's for it, which reads the clock. */
static bool in_program(u64 ip)
{
	u64 vdso = getauxval(AT_SYSINFO_EHDR);

	return (ip >= (uintptr_t)&__executable_start && ip < (uintptr_t)&etext) ||
	       (vdso && ip >= vdso && ip < vdso + 2 * RING_PAGE);
}

static void look_at(const struct ring *r, const struct sample *s, void *arg)
{
	struct seen *seen = arg;

	(void)r;
	seen->samples++;
	if (!s->abi)
		return;
	if (s->reg[SAMPLE_REG_CS] & 3) {
		seen->user++;
		seen->strange += !in_program(s->reg[SAMPLE_REG_IP]);
	} else if (sample_regs_are_real(s) && s->reg[SAMPLE_REG_IP] != perf_event_overflow) {
		seen->kernel++;
	} else {
		seen->made_up++;
		if (leaks(s)) {
			if (!seen->leaks)
				seen->example = *s;
			seen->leaks++;
		}
	}
}

static struct ring *start(void)
{
	struct perf_event_attr attr;

	find_perf_event_overflow();
	silicon_start();
	sampling_limit(1000000);
	run_on(0);
	silicon_traffic(0, SYN_SEL(SYN_BOX_C, SYN_ANY, SYN_ANY_CODE, SYN_ANY),
			SYN_PATTERN(0, 0, 1, 1));
	attr = sampling_attr("xeon7500_cbox_2", "llc_misses.all", PERIOD);
	attr.sample_type |= PERF_SAMPLE_REGS_INTR;
	attr.sample_regs_intr = SAMPLE_REGS_MASK;
	event_ring(event_open_attr(&attr, 0, -1), attr.sample_type, 32);
	msr_write(0, SYN_FAULT_LOSE, ALL_LOST);
	return &rings[0];
}

static void check(const char *what, const struct seen *seen, unsigned int least)
{
	int i;

	ktap_note("%s: %llu samples, %llu of this program, %llu of an interrupted kernel, %llu made up",
		  what, seen->samples, seen->user, seen->kernel, seen->made_up);
	ktap_check(seen->samples >= least, "%s: %llu samples", what, seen->samples);
	ktap_check(!seen->strange, "%s: %llu are at no place of this program", what, seen->strange);
	if (ktap_check(!seen->leaks, "%s: %llu of %llu samples have more registers than ip, cs and flags",
		       what, seen->leaks, seen->samples))
		return;
	for (i = 0; i < SAMPLE_REGS; i++) {
		if (seen->example.reg[i])
			ktap_note("register %d: %#llx", i, seen->example.reg[i]);
	}
}

/* Nothing was interrupted: otherwise what the driver fills in is not tested. */
static void check_made_up(const struct seen *seen)
{
	ktap_check(seen->made_up * 2 > seen->samples, "%llu of %llu are made up", seen->made_up,
		   seen->samples);
}

static void end(void)
{
	msr_write(0, SYN_FAULT_LOSE, 0);
	msr_write(0, SYN_TRAFFIC_RESET, 1);
	run_on(-1);
	event_close_all();
}

/* An event that has overflowed is stopped before the timer looks. */
static void disabled(void)
{
	struct ring *r = start();
	struct seen seen = {};
	int i;

	for (i = 0; i < 100; i++) {
		perf_enable(r->fd);
		spin_us(150);
		perf_disable(r->fd);
		ring_drain(r, look_at, &seen);
	}
	check("disabled", &seen, 90);
	check_made_up(&seen);
	end();
}

/* Its period changes: perf stops it for that and starts it again. */
static void new_period(void)
{
	struct ring *r = start();
	struct seen seen = {};
	u64 period;
	int i;

	perf_enable(r->fd);
	for (i = 0; i < 100; i++) {
		spin_us(150);
		period = PERIOD + i;
		ktap_require(!ioctl(r->fd, PERF_EVENT_IOC_PERIOD, &period), "%s", strerror(errno));
		ring_drain(r, look_at, &seen);
	}
	perf_disable(r->fd);
	ring_drain(r, look_at, &seen);
	check("with a new period", &seen, 50);
	check_made_up(&seen);
	end();
}

/* The timer that looks for lost PMIs. */
static void by_timer(void)
{
	struct ring *r = start();
	struct seen seen = {};

	perf_enable(r->fd);
	spin_us(400000);
	perf_disable(r->fd);
	ring_drain(r, look_at, &seen);
	check("by the timer", &seen, 20);
	ktap_check(seen.user * 2 > seen.samples, "%llu of %llu are of this program", seen.user,
		   seen.samples);
	end();
}

/* The NMI finds the package locked: groups are read on another CPU. */
static void deferred(void)
{
	struct perf_event_attr attr = event_attr("xeon7500_cbox_2", "llc_hits.all");
	struct ring *r = start();
	struct seen seen = {};
	u64 buf[8];
	int leader, i;
	pid_t pid;

	msr_write(0, SYN_FAULT_LOSE, 0);
	attr.read_format = PERF_FORMAT_GROUP;
	leader = event_open_attr(&attr, 0, -1);
	attr.disabled = 0;
	event_open_attr(&attr, 0, leader);
	perf_enable(leader);
	pid = fork();
	if (!pid) {
		run_on(1);
		while (getppid() != 1)
			i = read(leader, buf, sizeof(buf));
		_exit(0);
	}
	perf_enable(r->fd);
	for (i = 0; i < 30; i++) {
		spin_us(10000);
		ring_drain(r, look_at, &seen);
	}
	perf_disable(r->fd);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ring_drain(r, look_at, &seen);
	check("deferred", &seen, 1000);
	end();
}

SILICON_MAIN({ "when an event is disabled", disabled },
	     { "when an event gets another period", new_period },
	     { "when the timer finds the overflow", by_timer },
	     { "when the NMI finds the package locked", deferred })
