// SPDX-License-Identifier: GPL-2.0-only
/*
 * PART: adversaries
 * VM: --machine sandybridge --cores 2 --threads 2
 * PTI: on
 * TEST: 6.1 debug
 * SOAK: 6.1 6.12 newest
 *
 * PDIR has its core to itself. CPUs 0 and 1 are the threads of a core. A kernel with our changes
 * does that alone, and does not count how often it is disturbed.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <time.h>

#include "kmsg.h"
#include "sample.h"
#include "walk.h"

#define WORDS		512
#define ROUNDS		20000
#define PERIOD		1009
#define PDIR		0x01c0
#define BRANCHES	0x00c4
#define ANY_THREAD	0x200000

static u64 from[WORDS], to[WORDS];
static struct ring ring;

static void busy(double length)
{
	double end = seconds() + length;

	while (seconds() < end)
		walk(to, from, WORDS, 1, 1000);
}

static u64 clashes(void)
{
	u64 n = 0;
	int cpu;

	for (cpu = 0; cpu < 4; cpu++)
		n += core_stat(cpu, SYN_CORE_S_V_PDIR);
	return n;
}

/* How often an event came to run beside PDIR, as the module says. */
static long disturbed(void)
{
	return ext_needless() ? 0 : ext_number("pdir_disturbed");
}

static int open_on(u64 config, int precise, int cpu)
{
	struct perf_event_attr attr = core_attr(config, 0, precise);
	int fd;

	attr.disabled = 0;
	fd = perf_open(&attr, cpu, -1);
	ktap_require(fd >= 0, "%#llx: %s", config, strerror(-fd));
	return fd;
}

static int open_here(u64 config, int precise, int group)
{
	struct perf_event_attr attr = core_attr(config, 0, precise);

	attr.disabled = 0;
	return open_task(&attr, group);
}

/*
 * All the instructions of the round, one after the other. Where perf takes the event off its
 * counter between an overflow and its record, there is no record: so nobody else may run.
 */
static void exact(void)
{
	struct perf_event_attr attr = sample_attr(PDIR, 2, PERIOD);
	u64 seen[WALK_INSNS] = {};
	int num = 0, different = 0;
	struct sample s;
	long before;
	int tries;

	run_on(0);
	perf_unlimited();
	ext_load("enforce=1");
	/* The kernel takes the CPU from a real-time task that the host has stopped for a second. */
	for (tries = 0; tries < 100; tries++) {
		ring_open(&ring, &attr);
		real_time(true);
		before = switches();
		perf_enable(ring.fd);
		walk(to, from, WORDS, 1, ROUNDS);
		perf_disable(ring.fd);
		before -= switches();
		real_time(false);
		if (!before)
			break;
		ring_close(&ring);
	}
	ktap_require(tries < 100, "never left alone");
	while (ring_next(&ring, &s)) {
		if (s.ip < (uintptr_t)walk_load || s.ip >= (uintptr_t)walk_end)
			continue;
		/* PERIOD is 1 modulo 9. */
		if (num >= WALK_INSNS)
			different += s.ip != seen[num % WALK_INSNS];
		else
			seen[num] = s.ip;
		num++;
	}
	ktap_check(num >= ROUNDS * WALK_INSNS / PERIOD && num <= ROUNDS * WALK_INSNS / PERIOD + 1 &&
		   !different && !ring.lost, "%d samples, %d not where expected", num, different);
	ring_close(&ring);
}

/* The kernel alone runs them together. */
static void kernel_alone(void)
{
	u64 before = clashes();
	int a, b, i;

	ext_needed();
	ext_load("");
	a = open_on(PDIR, 2, 0);
	b = open_on(BRANCHES, 0, 0);
	for (i = 0; i < 1000 && clashes() == before; i++)
		busy(0.01);
	close(a);
	close(b);
	ktap_check(clashes() > before);
	before = clashes();
	a = open_on(PDIR, 2, 0);
	b = open_on(BRANCHES, 0, 1);
	for (i = 0; i < 1000 && clashes() == before; i++)
		busy(0.01);
	close(a);
	close(b);
	ktap_check(clashes() > before, "on the other thread");
}

/* How much longer two events have run, and how much longer they wanted to. */
struct progress {
	struct perf_count a, b;
};

static struct progress progress(int fd_a, int fd_b, double length)
{
	struct perf_count a = perf_count(fd_a), b = perf_count(fd_b);
	struct progress p;

	busy(length);
	p.a = perf_count(fd_a);
	p.b = perf_count(fd_b);
	p.a.running -= a.running;
	p.a.enabled -= a.enabled;
	p.b.running -= b.running;
	p.b.enabled -= b.enabled;
	return p;
}

/* Seconds in which perf rotates its events often: it does every 4 ms. */
#define LONG	0.1

/* On its counter all the time, exactly. */
static bool always(const struct perf_count *c)
{
	return c->enabled && c->running == c->enabled;
}

#define TURNS	5

/*
 * Both get their turns, again and again; that these are never at the same time is what
 * clashes() says. perf decides how long they are, so wait for them.
 */
static void take_turns(int fd_a, int fd_b)
{
	int i, a = 0, b = 0;

	for (i = 0; i < 1000 && (a < TURNS || b < TURNS); i++) {
		struct progress p = progress(fd_a, fd_b, 0.02);

		a += !!p.a.running;
		b += !!p.b.running;
	}
	ktap_check(a >= TURNS && b >= TURNS, "%d and %d turns", a, b);
	close(fd_a);
	close(fd_b);
}

/* They do not disturb each other. */
static void together(int fd_a, int fd_b)
{
	struct progress p = progress(fd_a, fd_b, LONG);

	ktap_check(always(&p.a) && always(&p.b), "%llu of %llu ns, %llu of %llu ns", p.a.running,
		   p.a.enabled, p.b.running, p.b.enabled);
	close(fd_a);
	close(fd_b);
}

static void same_thread(void)
{
	u64 before = clashes();
	int first;

	ext_load("enforce=1");
	first = open_on(PDIR, 2, 0);
	take_turns(first, open_on(BRANCHES, 0, 0));
	first = open_on(BRANCHES, 0, 0);
	take_turns(first, open_on(PDIR, 2, 0));
	first = open_here(PDIR, 2, -1);
	take_turns(first, open_here(BRANCHES, 0, -1));
	first = open_on(PDIR, 2, 0);
	take_turns(first, open_on(0x01c2, 1, 0));
	ktap_check(clashes() == before);
}

/* Whoever has the core gives it to the other thread after a while. */
static void other_thread(void)
{
	u64 before = clashes();
	int first, second;

	ext_load("enforce=1");
	first = open_on(PDIR, 2, 0);
	take_turns(first, open_on(BRANCHES, 0, 1));
	first = open_on(BRANCHES, 0, 1);
	take_turns(first, open_on(PDIR, 2, 0));
	first = open_on(PDIR, 2, 0);
	take_turns(first, open_on(PDIR, 2, 1));
	/* Two that take turns on the one thread, beside the other thread's */
	first = open_on(PDIR, 2, 0);
	second = open_on(BRANCHES, 0, 0);
	take_turns(first, open_on(0x01c2, 1, 1));
	close(second);
	ktap_check(clashes() == before && !disturbed(), "%llu clashes",
		   clashes() - before);
}

/* A task's event that waits, beside one on all of a CPU, which does not. */
static void task_waits(int task, int cpu_wide)
{
	struct progress p;
	int i;

	/* The threads have to talk to each other first. */
	for (i = 0; i < 1000 && (!i || !always(&p.b)); i++)
		p = progress(task, cpu_wide, 0.02);
	p = progress(task, cpu_wide, LONG);
	ktap_check(!p.a.running && p.a.enabled && always(&p.b), "%llu of %llu ns, %llu of %llu ns",
		   p.a.running, p.a.enabled, p.b.running, p.b.enabled);
	close(cpu_wide);
	for (i = 0; i < 1000 && (!i || !always(&p.a)); i++)
		p = progress(task, task, 0.02);
	ktap_check(always(&p.a), "alone %llu of %llu ns", p.a.running, p.a.enabled);
	close(task);
}

/* pinned, then CPU-wide, then tasks: on both threads */
static void tasks_wait(void)
{
	u64 before = clashes();
	int cpu, task;

	ext_load("enforce=1");
	run_on(0);
	for (cpu = 0; cpu < 2; cpu++) {
		task = open_here(PDIR, 2, -1);
		task_waits(task, open_on(BRANCHES, 0, cpu));
		task = open_here(PDIR, 2, -1);
		task_waits(task, open_on(PDIR, 2, cpu));
		task = open_here(BRANCHES, 0, -1);
		task_waits(task, open_on(PDIR, 2, cpu));
	}
	ktap_check(clashes() == before && !disturbed());
}

/* ---- users without privileges beside root ---- */

enum attack { STEADY, SWITCHED, ENABLED, OPENED, PINNED, NUM_ATTACKS };

static const char *const attack_name[] = {
	"counts", "sleeps and wakes", "enables and disables", "opens and closes",
	"enables and disables beside a pinned event",
};

/*
 * PDIR of a task on this CPU, for ever. A pinned event makes perf take root's off and add them
 * again; it needs no programmable counter.
 */
static void attack(enum attack how, int cpu)
{
	struct perf_event_attr attr = core_attr(PDIR, 0, 2);
	int fd;

	run_on(cpu);
	if (setuid(65534))
		_exit(1);
	if (how == PINNED && !cpu) {
		attr = core_attr(0x00c0, 0, 0);
		attr.pinned = 1;
	}
	attr.disabled = 0;
	attr.exclude_kernel = 1;
	fd = open_task(&attr, -1);
	if (fd < 0)
		_exit(1);
	for (;;) {
		switch (how) {
		case SWITCHED:
			usleep(1);
			break;
		case ENABLED:
		case PINNED:
			perf_disable(fd);
			perf_enable(fd);
			break;
		case OPENED:
			close(fd);
			fd = open_task(&attr, -1);
			break;
		default:
			walk(to, from, WORDS, 1, 1000);
		}
	}
}

/* How much of the time root's events on CPU 0 have run, beside attackers on these CPUs. */
static double share(enum attack how, unsigned int cpus, int events)
{
	struct perf_count before[8], after[8];
	double running = 0, enabled = 0;
	pid_t pid[2] = {};
	int fd[8], i;

	for (i = 0; i < 2; i++) {
		if (!(cpus & 1 << i))
			continue;
		pid[i] = fork();
		ktap_require(pid[i] >= 0, "fork: %s", strerror(errno));
		if (!pid[i])
			attack(how, i);
	}
	usleep(20000);
	for (i = 0; i < events; i++)
		fd[i] = open_on(BRANCHES, 0, 0);
	usleep(100000);
	for (i = 0; i < events; i++)
		before[i] = perf_count(fd[i]);
	usleep(soak() ? 3000000 : 400000);
	for (i = 0; i < events; i++) {
		after[i] = perf_count(fd[i]);
		running += after[i].running - before[i].running;
		enabled += after[i].enabled - before[i].enabled;
		close(fd[i]);
	}
	for (i = 0; i < 2; i++) {
		if (!pid[i])
			continue;
		ktap_check(!waitpid(pid[i], NULL, WNOHANG), "the attacker ended");
		kill(pid[i], SIGKILL);
		waitpid(pid[i], NULL, 0);
	}
	return running / enabled;
}

#define TRIES	3

/*
 * The largest of the shares in some tries. A busy host delays a single one: it stops a CPU from
 * which root's event has just been taken to add it again, or the reading of one event after another.
 */
static double best_share(enum attack how, unsigned int cpus, int events, double enough)
{
	double best = 0, one;
	int try;

	for (try = 0; try < (events == 1 && soak() ? 1 : TRIES) && best < enough; try++) {
		one = share(how, cpus, events);
		ktap_note("%d events, %s on CPUs %#x: %.2f %%, %.2f %% would do", events,
			  cpus ? attack_name[how] : "nobody", cpus, 100 * one, 100 * enough);
		best = one > best ? one : best;
	}
	return best;
}

/* Root has one event, or more than there are counters, so that perf multiplexes them. */
static void roots_share(void)
{
	static const int events[] = { 1, 8 };
	double fair, enough;
	unsigned int cpus, i;
	enum attack how;

	ext_load("enforce=1");
	run_on(2);
	for (i = 0; i < 2; i++) {
		/* Of eight, four have a counter at a time. */
		fair = events[i] == 1 ? 1 : 0.5;
		enough = 0.98 * fair;
		ktap_check(best_share(0, 0, events[i], enough) >= enough);
		enough = (events[i] == 1 || soak() ? 0.99 : 0.95) * fair;
		for (how = 0; how < NUM_ATTACKS; how++) {
			for (cpus = 1; cpus < 4; cpus++)
				ktap_check(best_share(how, cpus, events[i], enough) >= enough);
		}
	}
	ktap_check(!disturbed());
}

/* The shares of two tasks on the two threads of a core, in percent; the less of the two. */
static int less_of_tasks(void)
{
	struct perf_count count;
	int fd, status;
	pid_t child;

	child = fork();
	ktap_require(child >= 0, "fork: %s", strerror(errno));
	run_on(child ? 0 : 1);
	fd = child ? open_here(PDIR, 2, -1) : open_here(BRANCHES, 0, -1);
	busy(1);
	count = perf_count(fd);
	status = 100 * count.running / count.enabled;
	if (!child)
		_exit(status);
	close(fd);
	ktap_check(waitpid(child, &fd, 0) == child && WIFEXITED(fd));
	ktap_note("PDIR %d %%, branches %d %%", status, WEXITSTATUS(fd));
	return status < WEXITSTATUS(fd) ? status : WEXITSTATUS(fd);
}

/* Tasks on the two threads of a core multiplex. */
static void tasks_share(void)
{
	u64 before = clashes();
	int less = 0, try;

	ext_load("enforce=1");
	for (try = 0; try < TRIES && less < 25; try++)
		less = less_of_tasks();
	ktap_check(less >= 25);
	ktap_check(clashes() == before);
}

static int open_pinned(u64 config, int precise, int cpu)
{
	struct perf_event_attr attr = core_attr(config, 0, precise);
	int fd;

	attr.disabled = 0;
	attr.pinned = 1;
	fd = perf_open(&attr, cpu, -1);
	ktap_require(fd >= 0, "%#llx: %s", config, strerror(-fd));
	return fd;
}

/* perf gives up a pinned event that finds no counter: nothing can be read of it. */
static bool given_up(int fd)
{
	struct perf_count c;

	return read(fd, &c, sizeof(c)) != sizeof(c);
}

/* PDIR is not for ever on the way of others, and never on that of those that cannot wait. */
static void pinned_beside(int pdir, int pinned, u64 before, long before_that)
{
	struct progress p;
	int i;

	ktap_check(!given_up(pinned) && !given_up(pdir));
	p = progress(pdir, pinned, LONG);
	ktap_check(always(&p.a) && always(&p.b), "%llu of %llu ns, %llu of %llu ns", p.a.running,
		   p.a.enabled, p.b.running, p.b.enabled);
	/* Whoever comes last is on at once, or has been since before. */
	for (i = 0; i < 1000 && clashes() == before; i++)
		busy(0.01);
	ktap_check(clashes() > before && disturbed() >= before_that + !ext_needless(),
		   "%llu clashes, disturbed %ld", clashes() - before, disturbed() - before_that);
	close(pdir);
	close(pinned);
}

static void pinned(void)
{
	struct perf_event_attr attr = core_attr(0x003c, 0, 0);
	int cpu, pass, fd;
	long that;
	u64 num;

	ext_load("enforce=1");
	for (cpu = 0; cpu < 2; cpu++) {
		for (pass = 0; pass < 2; pass++) {
			u64 before = clashes();
			long before_that = disturbed();
			int first = pass ? open_on(PDIR, 2, 0) : open_pinned(BRANCHES, 0, cpu);

			busy(0.01);
			if (pass)
				pinned_beside(first, open_pinned(BRANCHES, 0, cpu), before,
					      before_that);
			else
				pinned_beside(open_on(PDIR, 2, 0), first, before, before_that);
		}
	}
	/* Nor does a pinned PDIR keep others away, or disturb itself. */
	num = clashes();
	that = disturbed();
	fd = open_pinned(PDIR, 2, 0);
	busy(0.01);
	ktap_check(clashes() == num && disturbed() == that, "alone: disturbed %ld",
		   disturbed() - that);
	pinned_beside(fd, open_on(BRANCHES, 0, 1), num, that);
	/* Nor one pinned event another of the same CPU, or that of a task. */
	fd = open_pinned(BRANCHES, 0, 0);
	busy(0.01);
	num = clashes();
	that = disturbed();
	pinned_beside(open_pinned(PDIR, 2, 0), fd, num, that);
	fd = open_here(PDIR, 2, -1);
	real_time(true);
	busy(0.01);
	num = clashes();
	that = disturbed();
	pass = open_pinned(BRANCHES, 0, 1);
	ktap_check(disturbed() > that || ext_needless(), "a task's: disturbed %ld",
		   disturbed() - that);
	real_time(false);
	pinned_beside(fd, pass, num, that);
	/* A group stays, too, though PDIR has to stop for cycles: the watchdog has their counter. */
	attr.disabled = 0;
	fd = open_pinned(PDIR, 2, 0);
	pass = perf_open(&attr, 0, fd);
	ktap_require(pass >= 0, "cycles beside it: %s", strerror(-pass));
	ktap_require(!shell("grep -q 1 /proc/sys/kernel/nmi_watchdog"), "no NMI watchdog");
	busy(0.01);
	ktap_check(!given_up(fd), "a pinned group");
	close(pass);
	close(fd);
	/* A module that comes schedules all events anew. */
	if (ext_needless())
		return;
	ext_load(NULL);
	fd = open_pinned(BRANCHES, 0, 1);
	busy(0.01);
	pass = open_on(PDIR, 2, 0);
	busy(0.01);
	num = clashes();
	ext_load("enforce=1");
	busy(0.01);
	pinned_beside(pass, fd, num, 0);
}

/*
 * Both threads want it at the same moment, again and again. Each is noted while it finds out that
 * it has to wait, and the other, which comes to run just then, is not disturbed by that.
 */
static void same_moment(void)
{
	u64 before = clashes();
	int i, fd, status;
	pid_t child;

	ext_load("enforce=1");
	child = fork();
	ktap_require(child >= 0, "fork: %s", strerror(errno));
	run_on(child ? 0 : 1);
	fd = open_on(PDIR, 2, child ? 0 : 1);
	for (i = 0; i < (soak() ? 200000 : 20000); i++) {
		perf_disable(fd);
		perf_enable(fd);
	}
	if (!child)
		_exit(!perf_count(fd).running);
	ktap_check(waitpid(child, &status, 0) == child && !status && perf_count(fd).running,
		   "one of them never ran");
	close(fd);
	ktap_check(clashes() == before && !disturbed(), "disturbed %ld times",
		   disturbed());
}

static void other_core(void)
{
	ext_load("enforce=1");
	together(open_on(PDIR, 2, 0), open_on(BRANCHES, 0, 2));
}

static void fixed_counters(void)
{
	u64 before = clashes();

	ext_load("enforce=1");
	/* The watchdog has the one of the cycles. */
	together(open_on(PDIR, 2, 0), open_on(0x0300, 0, 0));
	together(open_on(PDIR, 2, 0), open_on(0x00c0, 0, 0));
	together(open_on(PDIR, 2, 0), open_on(0x00c0, 0, 1));
	together(open_on(PDIR, 2, 0), open_on(0x00c0 | ANY_THREAD, 0, 0));
	ktap_check(clashes() == before);
}

/* A second one of a kind needs a programmable counter. */
static void second_of_a_kind(void)
{
	u64 before = clashes();
	int fixed;

	ext_load("enforce=1");
	fixed = open_on(0x00c0, 0, 0);
	take_turns(open_on(PDIR, 2, 0), open_on(0x00c0, 0, 0));
	close(fixed);
	ktap_check(clashes() == before);
}

/* A second one of reference cycles waits for the first, and only for it; also in a group. */
static void reference_cycles(void)
{
	struct perf_event_attr attr = core_attr(0x0300, 0, 0);
	int first, second, member;

	ext_load("enforce=1");
	attr.pinned = 1;
	attr.disabled = 0;
	first = perf_open(&attr, 1, -1);
	second = open_on(0x0300, 0, 1);
	together(open_on(PDIR, 2, 0), open_on(0x00c0, 0, 0));
	close(second);
	attr.pinned = 0;
	second = open_on(BRANCHES, 0, 1);
	member = perf_open(&attr, 1, second);
	ktap_check(first >= 0 && member >= 0, "%d, %d", first, member);
	together(open_on(PDIR, 2, 0), open_on(0x00c0, 0, 0));
	close(member);
	close(second);
	close(first);
}

/*
 * Who of a kind has the fixed counter changes when they come and go: the one that is left
 * is on a programmable one. The other thread does not make it move.
 */
static void kind_swapped(void)
{
	u64 before = clashes();
	int first, second, third;

	ext_load("enforce=1");
	first = open_on(0x00c0, 0, 0);
	second = open_on(0x00c0, 0, 0);
	close(first);
	third = open_on(0x00c0, 0, 0);
	close(second);
	take_turns(third, open_on(PDIR, 2, 1));
	ktap_check(clashes() == before, "%llu clashes", clashes() - before);
}

/* It takes the fixed counter of the cycles. */
static void watchdog(bool on)
{
	ktap_require(!shell(on ? "echo 1 >/proc/sys/kernel/nmi_watchdog" :
			    "echo 0 >/proc/sys/kernel/nmi_watchdog"), "cannot set the watchdog");
}

#define DUMMY	(~0ull)	/* An event of no counter */

static int open_dummy(int group)
{
	struct perf_event_attr attr = core_attr(PERF_COUNT_SW_DUMMY, 0, 0);

	attr.type = PERF_TYPE_SOFTWARE;
	attr.disabled = 0;
	return open_task(&attr, group);
}

static void groups(void)
{
	u64 before = clashes();
	struct perf_count count;
	int leader, fd, third, cycles, i;

	ext_load("enforce=1");
	leader = open_here(PDIR, 2, -1);
	ktap_check(open_here(BRANCHES, 0, leader) == -EINVAL);
	ktap_check(open_here(0x01c2, 1, leader) == -EINVAL);
	fd = open_here(0x00c0, 0, leader);
	ktap_check(fd >= 0);
	third = open_here(0x0300, 0, leader);
	ktap_check(third >= 0);
	ktap_check(open_here(0x00c0, 0, leader) == -EINVAL);
	busy(0.1);
	count = perf_count(fd);
	ktap_check(count.running && count.running == count.enabled, "%llu of %llu ns",
		   count.running, count.enabled);
	cycles = open_here(0x003c, 0, leader);
	ktap_check(cycles >= 0);
	ktap_check(open_here(0x003c, 0, leader) == -EINVAL);
	close(cycles);
	close(third);
	close(fd);
	close(leader);
	leader = open_here(BRANCHES, 0, -1);
	ktap_check(open_here(PDIR, 2, leader) == -EINVAL);
	close(leader);
	/* Cycles had another counter while the watchdog had the fixed one. */
	leader = open_here(0x003c, 0, -1);
	fd = open_here(PDIR, 2, leader);
	ktap_check(fd >= 0);
	perf_disable(fd);
	busy(0.01);
	ktap_check(perf_count(leader).running);
	watchdog(false);
	perf_enable(fd);
	for (i = 0; i < 100 && !perf_count(fd).running; i++)
		busy(0.01);
	ktap_check(i < 100, "the group never runs");
	close(fd);
	close(leader);
	watchdog(true);
	/* Events of no counter are not beside it. */
	leader = open_dummy(-1);
	fd = open_here(PDIR, 2, leader);
	third = open_dummy(leader);
	ktap_check(leader >= 0 && fd >= 0 && third >= 0, "%d, %d, %d", leader, fd, third);
	busy(0.1);
	count = perf_count(fd);
	ktap_check(always(&count), "behind a dummy %llu of %llu ns", count.running, count.enabled);
	close(third);
	close(fd);
	close(leader);
	/* Without precision it is an event like others. */
	leader = open_here(PDIR, 0, -1);
	fd = open_here(BRANCHES, 0, leader);
	ktap_check(fd >= 0);
	close(fd);
	close(leader);
	ktap_check(clashes() == before);
}

/*
 * How a task's event runs on the other thread beside a group of CPU 0 that never runs. @off: the
 * one of it that is not enabled, 0: none
 */
static struct perf_count beside_group(const u64 *config, const int *precise, int num, u64 task,
				      int task_precise, int off)
{
	struct perf_count count;
	struct progress p;
	int fd[4], i, tries = 0;

	for (i = 0; i < num; i++) {
		struct perf_event_attr attr = core_attr(config[i], 0, precise[i]);

		if (config[i] == DUMMY) {
			attr.type = PERF_TYPE_SOFTWARE;
			attr.config = PERF_COUNT_SW_DUMMY;
		}
		/* None runs before it has its siblings. */
		attr.disabled = !i;
		fd[i] = syscall(SYS_perf_event_open, &attr, -1, 0, i ? fd[0] : -1, 0);
		ktap_require(fd[i] >= 0, "%#llx: %s", config[i], strerror(errno));
	}
	if (off)
		perf_disable(fd[off]);
	i = open_here(task, task_precise, -1);
	perf_enable(fd[0]);
	busy(0.02);
	do {
		p = progress(i, i, LONG);
	} while (!p.a.running && tries++ < 10);
	count = perf_count(fd[0]);
	ktap_check(count.enabled && !count.running, "the group ran for %llu ns", count.running);
	ktap_note("%#llx beside {%#llx,%#llx}: %llu of %llu ns", task, config[0], config[1],
		  p.a.running, p.a.enabled);
	close(i);
	/* What is left of it would run, and the next task would wait for that. */
	perf_disable(fd[0]);
	while (num--)
		close(fd[num]);
	return p.a;
}

static void group_in_vain(void)
{
	static const u64 pdir_first[] = { PDIR, 0x003c }, pdir_last[] = { 0x003c, PDIR };
	static const u64 dummy_first[] = { DUMMY, PDIR, 0x003c };
	static const u64 dummies_first[] = { DUMMY, DUMMY, PDIR, 0x003c };
	static const u64 off_first[] = { DUMMY, 0x00c0, PDIR, 0x003c };
	static const u64 four[] = { BRANCHES, BRANCHES, BRANCHES, BRANCHES };
	static const int first[] = { 2, 0 }, last[] = { 0, 2, 0 }, third[] = { 0, 0, 2, 0 }, none[4];
	struct perf_count count;
	int fd;

	ext_load("enforce=1");
	run_on(1);
	/* The watchdog has the fixed counter of the cycles, so these exclude each other. */
	count = beside_group(pdir_first, first, 2, BRANCHES, 0, 0);
	ktap_check(always(&count));
	count = beside_group(pdir_last, last, 2, PDIR, 2, 0);
	ktap_check(always(&count));
	count = beside_group(dummy_first, last, 3, BRANCHES, 0, 0);
	ktap_check(always(&count));
	count = beside_group(dummies_first, third, 4, BRANCHES, 0, 0);
	ktap_check(always(&count));
	count = beside_group(off_first, third, 4, BRANCHES, 0, 1);
	ktap_check(always(&count));
	/* Too many for another reason, which only the kernel knows: the task has its turns. */
	fd = open_pinned(BRANCHES, 0, 0);
	count = beside_group(four, none, 4, PDIR, 2, 0);
	ktap_check(count.running);
	close(fd);
}

/* Events that are on when the module comes count, too. */
static void came_first(void)
{
	u64 before;
	int a, b;

	ext_needed();
	ext_load(NULL);
	a = open_on(BRANCHES, 0, 0);
	busy(0.05);
	ext_load("enforce=1");
	before = clashes();
	b = open_on(PDIR, 2, 0);
	take_turns(a, b);
	ktap_check(clashes() == before);

	ext_load(NULL);
	b = open_on(PDIR, 2, 0);
	busy(0.05);
	ext_load("enforce=1");
	before = clashes();
	a = open_on(BRANCHES, 0, 0);
	take_turns(a, b);
	ktap_check(clashes() == before);
}

/* So may groups be that could not be opened now; a task with one can fork. */
static void group_inherited(void)
{
	struct perf_event_attr attr = core_attr(PDIR, 0, 2);
	int leader, fd, child;

	ext_needed();
	ext_load(NULL);
	attr.disabled = 0;
	attr.inherit = 1;
	leader = open_task(&attr, -1);
	ktap_require(leader >= 0, "%s", strerror(-leader));
	attr = core_attr(BRANCHES, 0, 0);
	attr.disabled = 0;
	attr.inherit = 1;
	fd = open_task(&attr, leader);
	ktap_require(fd >= 0, "%s", strerror(-fd));
	ext_load("enforce=1");
	child = fork();
	if (!child)
		_exit(0);
	if (ktap_check(child > 0, "fork: %s", strerror(errno)))
		waitpid(child, NULL, 0);
	close(fd);
	close(leader);
}

/* Many of all sorts, coming and going, while the module comes and goes. */
static void crowd(void)
{
	static const struct { u64 config; int precise; } events[] = {
		{ PDIR, 2 }, { BRANCHES, 0 }, { 0x01c2, 1 }, { 0x00c0, 0 }, { 0x003c, 0 },
		{ 0x0300, 0 }, { 0x02cd, 1 }, { 0x81d0, 0 },
	};
	u64 before = clashes(), ran = 0;
	int fd[24] = {}, i;
	double end;

	ext_load("enforce=1");
	end = seconds() + (soak() ? 3 : 0);
	for (i = 0; i < 20000 && (i < 240 || !ran || seconds() < end); i++) {
		int n = i * 7 % 24;

		if (fd[n]) {
			/* The one that was opened 24 rounds ago. */
			ran += i % 8 ? 0 : perf_count(fd[n]).running;
			close(fd[n]);
		}
		fd[n] = open_on(events[i % 8].config, events[i % 8].precise, i / 8 % 4);
		walk(to, from, WORDS, 1, 20000);
	}
	ktap_check(clashes() == before, "%llu clashes", clashes() - before);
	ext_unload();
	for (i = 0; i < 24; i++) {
		if (fd[i])
			close(fd[i]);
	}
	ktap_check(ran, "PDIR had no turn");
}

static void hotplug(void)
{
	u64 before = clashes();
	struct progress p;
	int a, i;

	ext_load("enforce=1");
	a = open_on(PDIR, 2, 0);
	for (i = 0; i < 5; i++) {
		int b = open_on(BRANCHES, 0, 1);

		busy(0.05);
		ktap_check(!shell("echo 0 >/sys/devices/system/cpu/cpu1/online"));
		busy(0.05);
		ktap_check(!shell("echo 1 >/sys/devices/system/cpu/cpu1/online"));
		close(b);
	}
	p = progress(a, a, 0.1);
	ktap_check(always(&p.a), "%llu of %llu ns", p.a.running, p.a.enabled);
	close(a);
	a = open_on(PDIR, 2, 0);
	take_turns(a, open_on(BRANCHES, 0, 1));
	ktap_check(clashes() == before);
}

/* Neither of the two is of use here. */
static void in_effect(void)
{
	ext_needed();
	kmsg_mark();
	ext_load("enforce=1 data_src=1 ds_guard=1");
	ktap_check(ext_effect("enforce") && !ext_effect("data_src") && !ext_effect("ds_guard") &&
		   ext_number("ds_repairs") == -1);
	ktap_check(kmsg_count("=1 has no effect on Sandy Bridge") == 2);
	ktap_check(!ext_number("pdir_disturbed"));
	ext_load("");
	ktap_check(ext_number("pdir_disturbed") == -1);
}

/* Each case begins so. */
void ktap_begin(void)
{
	run_on(0);
}

CORE_MAIN("2a 2d",
	{ "parameters say what is in effect", in_effect },
	{ "samples are exact", exact },
	{ "the kernel alone runs others beside PDIR", kernel_alone },
	{ "turns on one thread", same_thread },
	{ "PDIR and what it excludes take turns between threads", other_thread },
	{ "both threads at the same moment", same_moment },
	{ "tasks wait for CPU-wide events", tasks_wait },
	{ "tasks of two threads", tasks_share },
	{ "root's share beside tasks of users", roots_share },
	{ "pinned events wait for nobody", pinned },
	{ "another core does not matter", other_core },
	{ "fixed counters do not matter", fixed_counters },
	{ "a second one of a fixed kind does", second_of_a_kind },
	{ "but reference cycles have only the fixed one", reference_cycles },
	{ "the fixed counter goes from one of a kind to another", kind_swapped },
	{ "a group that can never run is refused", groups },
	{ "a group that never runs keeps no task waiting", group_in_vain },
	{ "events older than the module", came_first },
	{ "a group older than the module is inherited", group_inherited },
	{ "many events come and go with the module, and none clashes", crowd },
	{ "PDIR shares its core after a CPU went offline and came back", hotplug })
