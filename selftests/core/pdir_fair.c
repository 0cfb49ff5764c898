// SPDX-License-Identifier: GPL-2.0-only
/*
 * VM: --machine sandybridge --cores 2 --threads 2 --icount
 * TEST: 6.1
 * SOAK: 6.12 newest
 *
 * PDIR on all CPUs, as perf record -a opens it: each thread of a core has the same share of the
 * time. What the threads retire in their turns differs by up to 8 %. QEMU runs one CPU at a
 * time, so each CPU sleeps after less than a millisecond of work: else the other thread's
 * request for its turn would wait for the CPU.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <time.h>

#include "sample.h"
#include "walk.h"

#define PDIR	0x01c0
#define BRANCHES 0x00c4
#define PERIOD	10007
#define CPUS	4
#define WORDS	512
#define ROUNDS	10000

static u64 from[WORDS], to[WORDS];

static void __attribute__((noreturn)) work(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	for (;;) {
		walk(to, from, WORDS, 1, ROUNDS);
		ts.tv_nsec += 930000;
		if (ts.tv_nsec >= 1000000000) {
			ts.tv_nsec -= 1000000000;
			ts.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
	}
}

/* Which part of a second PDIR ran on each CPU, in 1/1000 */
static void shares(unsigned int share[CPUS])
{
	struct perf_event_attr attr = core_attr(PDIR, 0, 2);
	u64 least = -1, most = 0;
	struct perf_count count;
	int fd[CPUS], cpu;
	pid_t pid[CPUS];

	attr.sample_period = PERIOD;
	/* As of perf record: so the kernel takes each record with an interrupt of its own. */
	attr.sample_type |= PERF_SAMPLE_TIME;
	for (cpu = 0; cpu < CPUS; cpu++) {
		fd[cpu] = perf_open(&attr, cpu, -1);
		ktap_require(fd[cpu] >= 0, "CPU %d: %s", cpu, strerror(-fd[cpu]));
	}
	for (cpu = 0; cpu < CPUS; cpu++) {
		pid[cpu] = fork();
		ktap_require(pid[cpu] >= 0, "fork: %s", strerror(errno));
		if (pid[cpu])
			continue;
		run_on(cpu);
		work();
	}
	for (cpu = 0; cpu < CPUS; cpu++)
		perf_enable(fd[cpu]);
	sleep(1);
	for (cpu = 0; cpu < CPUS; cpu++) {
		count = perf_count(fd[cpu]);
		share[cpu] = 1000 * count.running / count.enabled;
		least = count.value < least ? count.value : least;
		most = count.value > most ? count.value : most;
	}
	for (cpu = 0; cpu < CPUS; cpu++) {
		close(fd[cpu]);
		kill(pid[cpu], SIGKILL);
		waitpid(pid[cpu], NULL, 0);
	}
	ktap_note("%llu to %llu instructions", least, most);
	ktap_check(least >= 100 * PERIOD && (most - least) * 5 <= most);
}

/* The kernel has to trust its clock first, until then its timers wait for the next tick. */
static void fine_timers(void)
{
	int i;

	for (i = 0; i < 100 && shell("grep -q 'resolution: 1 ' /proc/timer_list"); i++)
		usleep(100000);
	ktap_require(i < 100, "no timers of high resolution");
}

static void share_fairly(void)
{
	unsigned int share[CPUS], least = -1, most = 0;
	int cpu;

	shares(share);
	for (cpu = 0; cpu < CPUS; cpu++) {
		least = share[cpu] < least ? share[cpu] : least;
		most = share[cpu] > most ? share[cpu] : most;
	}
	ktap_note("%u, %u, %u, %u of 1000", share[0], share[1], share[2], share[3]);
	/* Of the intervals of a second, 250, a thread has up to 4 more than the other. */
	ktap_check(least >= 450 && most - least <= 20);
	ktap_check(ext_needless() || !ext_number("pdir_disturbed"));
	for (cpu = 0; cpu < CPUS; cpu++)
		ktap_check(!core_stat(cpu, SYN_CORE_S_V_PDIR));
}

/* Each of two events has half of the time of its CPU, and PDIR in half of that the core. */
static void share_with_branches(void)
{
	struct perf_event_attr attr = core_attr(BRANCHES, 0, 0);
	unsigned int share[CPUS];
	int fd[CPUS], cpu;

	for (cpu = 0; cpu < CPUS; cpu++) {
		fd[cpu] = perf_open(&attr, cpu, -1);
		ktap_require(fd[cpu] >= 0, "CPU %d: %s", cpu, strerror(-fd[cpu]));
		perf_enable(fd[cpu]);
	}
	shares(share);
	ktap_note("%u, %u, %u, %u of 1000", share[0], share[1], share[2], share[3]);
	for (cpu = 0; cpu < CPUS; cpu++) {
		ktap_check(share[cpu] >= 200, "CPU %d", cpu);
		close(fd[cpu]);
	}
}

static void begin(void)
{
	fine_timers();
	perf_unlimited();
	ext_load("enforce=1");
}

static void fair(void)
{
	begin();
	share_fairly();
}

static void rotated(void)
{
	begin();
	share_with_branches();
}

/* PDIR of a task on this CPU, which works or sleeps again and again */
static void __attribute__((noreturn)) task(int cpu, bool works)
{
	struct perf_event_attr attr = core_attr(PDIR, 0, 2);

	run_on(cpu);
	attr.disabled = 0;
	ktap_require(open_task(&attr, -1) >= 0, "PDIR of a task");
	if (works)
		work();
	for (;;)
		usleep(100);
}

/* What tasks have waited for each other before gives no thread more of the time. */
static void after_tasks(void)
{
	pid_t pid[2];
	int i;

	begin();
	for (i = 0; i < 2; i++) {
		pid[i] = fork();
		ktap_require(pid[i] >= 0, "fork: %s", strerror(errno));
		if (!pid[i])
			task(i, i);
	}
	sleep(2);
	for (i = 0; i < 2; i++) {
		ktap_check(!waitpid(pid[i], NULL, WNOHANG), "task %d ended", i);
		kill(pid[i], SIGKILL);
		waitpid(pid[i], NULL, 0);
	}
	share_fairly();
}

/* An old request of one thread does not make a task on the other thread wait. */
static void asked_once(void)
{
	struct perf_event_attr attr = core_attr(PDIR, 0, 2);
	struct perf_count a, b;
	pid_t pid;
	int fd, i;

	begin();
	pid = fork();
	ktap_require(pid >= 0, "fork: %s", strerror(errno));
	if (!pid)
		task(1, true);
	run_on(0);
	attr.disabled = 0;
	fd = open_task(&attr, -1);
	ktap_require(fd >= 0, "PDIR of a task");
	for (i = 0; i < 3000; i++)
		usleep(100);
	ktap_check(!waitpid(pid, NULL, WNOHANG), "the other task ended");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	a = perf_count(fd);
	ktap_check(a.running * 10 < a.enabled * 9, "the other task was not in its way");
	usleep(50000);
	/* It is added each time it wakes up. */
	a = perf_count(fd);
	for (i = 0; i < 4000; i++)
		usleep(100);
	b = perf_count(fd);
	ktap_check((b.running - a.running) * 10 >= (b.enabled - a.enabled) * 9, "%llu of %llu ns",
		   b.running - a.running, b.enabled - a.enabled);
	close(fd);
}

CORE_MAIN("2a 2d", { "the threads of a core share PDIR", fair },
	  { "they share it also where perf rotates it with another event", rotated },
	  { "they share it also after tasks have waited for each other", after_tasks },
	  { "a task has PDIR for itself when the other thread asks no more", asked_once })
