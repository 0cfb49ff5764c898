// SPDX-License-Identifier: GPL-2.0-only
/*
 * PMUs that go while programs open software events and CPUs come and go. On 6.1 all of them
 * would wait for each other, see Documentation/upstream/perf_pmu_unregister.md.
 * A debug kernel takes half a minute for each unload beside them.
 *
 * PART: adversaries
 * VM: --sockets 2 --cores 2
 * TEST: 6.1
 * SOAK: 6.1 6.12 newest
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "hotplug.h"
#include "module.h"
#include "silicon.h"

#define NOBODY		65534
#define PARANOID	"/proc/sys/kernel/perf_event_paranoid"
/* An unload takes a second or two; this is for one that never ends. */
#define HANG_MS		60000

/* What a process does for ever. Shared with it. */
struct loop {
	pid_t pid;
	volatile unsigned long rounds;
	volatile int error;		/* it has ended, with this errno */
	volatile long longest;		/* ms that a load or an unload has taken */
};

static struct loop *loops;
static int num_loops, held;

/* An event of this task in user space, for which it needs no capability. */
static int open_one(int type, u64 config)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = type,
		.config = config,
		.exclude_kernel = 1,
	};

	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
}

static int open_often(struct loop *l, int type, u64 config, int uid)
{
	if (uid && (setgid(uid) || setuid(uid)))
		return errno;
	for (;;) {
		int fd = open_one(type, config);

		if (fd < 0)
			return errno;
		close(fd);
		l->rounds++;
	}
}

/* The CPU that serves package 1, in turns. It may be refused for a moment. */
static int switch_cpus(struct loop *l, int cpu)
{
	bool online = true;

	for (;;) {
		if (write_online(cpu, !online)) {
			online = !online;
			cpu ^= online;
			l->rounds++;
		} else if (errno != EBUSY) {
			return errno;
		}
	}
}

static long ms_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Has each of those that were started before it? */
static bool came_around(const struct loop *last)
{
	const struct loop *l;

	for (l = loops; l < last; l++) {
		if (!l->rounds && !l->error)
			return false;
	}
	return true;
}

/* The module comes and goes, or is refused beside mainline's. */
static int load_often(struct loop *l, int times, bool refused)
{
	long from, begun = ms_now();
	int i, err;

	/* On a busy host some take long to begin. */
	for (i = 0; i < times || (!came_around(l) && ms_now() - begun < HANG_MS); i++) {
		from = ms_now();
		err = load_ours();
		if (err != (refused ? EBUSY : 0))
			return err ?: EEXIST;
		if (!refused) {
			from = ms_now();
			err = unload(OURS);
			if (err)
				return err;
		}
		if (ms_now() - from > l->longest)
			l->longest = ms_now() - from;
		l->rounds++;
	}
	return 0;
}

/* A loop, started. It ends with _exit(), so that no part of the test is done twice. */
#define start_loop(work, ...)						\
({									\
	struct loop *__l = &loops[num_loops++];				\
	pid_t pid = fork();						\
									\
	ktap_require(pid >= 0, "fork: %s", strerror(errno));		\
	if (!pid) {							\
		__l->error = setjmp(ktap_end) ? ENOENT : work(__l, __VA_ARGS__); \
		_exit(0);						\
	}								\
	__l->pid = pid;							\
	__l;								\
})

static void start(bool with_mainline)
{
	FILE *f = fopen(PARANOID, "w");

	/* Debian lets no user open an event. */
	ktap_require(f && fputs("2", f) >= 0 && !fclose(f), "%s: %s", PARANOID, strerror(errno));
	all_online(4);
	if (loaded(OURS))
		ktap_require(!unload(OURS), "in use");
	if (with_mainline)
		ktap_require(!load_mainline(), "mainline cannot be loaded");
	loops = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ktap_require(loops != MAP_FAILED, "mmap: %s", strerror(errno));
	num_loops = 0;
	/* As long as one is open, the next one does not change the text of the kernel. */
	held = open_one(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES);
	ktap_require(held >= 0, "%s", strerror(errno));
}

/* What hangs cannot be waited for. */
static void stop(struct loop *l, bool hangs)
{
	kill(l->pid, SIGKILL);
	waitpid(l->pid, NULL, hangs ? WNOHANG : 0);
}

/* Until the module has come and gone so many times, and each of the others has come around. */
static void run_all(int times, bool refused)
{
	long from = ms_now(), progress = from;
	unsigned long last = 0;
	struct loop *us, *l;
	bool hangs = false;

	us = start_loop(load_often, times, refused);
	while (!waitpid(us->pid, NULL, WNOHANG) && !hangs) {
		sleep_us(10000);
		if (us->rounds != last)
			progress = ms_now();
		last = us->rounds;
		hangs = ms_now() - progress > HANG_MS;
	}
	ktap_check(!hangs, "round %lu: not through after %d ms", us->rounds, HANG_MS);
	ktap_check(hangs || (!us->error && us->rounds >= (unsigned long)times), "round %lu: %s", us->rounds,
		   strerror(us->error));
	for (l = loops; l < us; l++) {
		ktap_check(!l->error, "%s", strerror(l->error));
		ktap_check(l->rounds, "has not come around");
		ktap_note("beside it %lu rounds", l->rounds);
		stop(l, hangs);
	}
	if (hangs)
		stop(us, hangs);
	ktap_note("%lu rounds in %ld ms, the longest %s %ld ms", us->rounds, ms_now() - from,
		  refused ? "load" : "unload", us->longest);
	munmap(loops, 4096);
	close(held);
	ktap_require(!hangs);
	all_online(4);
}

static int times(void)
{
	return soak() ? 60 : 10;
}

/* Marked for set_online() to bring them back, however the case ends. */
static void start_hotplug(void)
{
	set_online(3, false);
	set_online(3, true);
	hotplug_away[2] = hotplug_away[3] = true;
	start_loop(switch_cpus, 2);
}

/* Two programs that open events, one of them software events, and hotplug */
static void start_others(int type, u64 config, int uid)
{
	start_loop(open_often, type, config, uid);
	start_loop(open_often, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, NOBODY);
	start_hotplug();
}

static void software_events(void)
{
	start(false);
	start_others(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, NOBODY);
	run_all(times(), false);
}

static void and_tracepoints(void)
{
	start(false);
	start_others(PERF_TYPE_TRACEPOINT, tracepoint_id("sched/sched_switch"), 0);
	run_all(times(), false);
}

/* A load that fails takes back what it has registered. */
static void refused_load(void)
{
	start(true);
	start_others(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, NOBODY);
	run_all(times(), true);
	ktap_check(!unload(MAINLINE));
	ktap_check(!load_ours(), "cannot be loaded");
}

SILICON_MAIN({ "unload beside software events and CPU hotplug", software_events },
	     { "and tracepoints", and_tracepoints },
	     { "a load that is refused", refused_load })
