// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interference: actors that use, disturb, take away or starve what the others use, in all pairs,
 * and in make soak in triples drawn at random for a while. Whatever they do to each other,
 *
 *	counts		of two events that are always there equal the silicon's truth, and
 *			of sampling events every overflow is a sample, found no room or is counted as lost
 *	time		no call takes longer than ten seconds, however busy this machine is
 *	registers	nothing runs and no overflow is pending when all is over, and no access
 *			was against the rules of the silicon
 *	log		the kernel says nothing of the level of an error
 *
 * A combination that fails is tried again with one actor less as long as it fails, and told as a
 * command:
 *
 *	tools/vm/run --sockets 2 --cores 2 --put build/selftests/uncore/interference:/t/ \
 *		-- /t/interference gate+hotplug
 *
 * In the environment SEED draws the same triples again, for MINUTES, MS is the time for each
 * combination, and with SLICE=0/5 there is each fifth pair.
 *
 * CPUs 0 and 1 are package 0, 2 and 3 package 1. SIGSTOP and SIGKILL hit an actor at any place of
 * what it does.
 *
 * PART: adversaries
 * VM: --sockets 2 --cores 2
 * BOOT: own
 * TEST: none
 * SOAK: 6.1 debug
 * SKIP: 6.1 debug
 */
#define _GNU_SOURCE
#include <ftw.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>

#include "foreign.h"
#include "hotplug.h"
#include "kmsg.h"
#include "module.h"
#include "sampling.h"

/* ---- what all processes share ---- */

#define LIMIT_NS	10000000000ULL	/* for a call; ten times that is a deadlock */
#define MAX_ACTORS	20
#define MAX_CHOSEN	4

static struct {
	bool stop;
	struct live {
		u64 rounds;		/* without those in which it was idle */
		u64 since;		/* of the call it is in, ns; 0: in none */
		u64 longest;
		char wrong[160];	/* what it has seen, the first time */
	} live[MAX_ACTORS];
} *shared;

static int me;		/* of shared->live */
static bool idle;	/* this round has opened, compared or changed nothing */
static u64 lost_samples;	/* in this round */
static u64 seed = 1;

static u64 draw(u64 below)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed >> 33) % below;
}

#define wrong(...)							\
	do {								\
		char *__w = shared->live[me].wrong;			\
									\
		if (!__w[0])						\
			snprintf(__w, sizeof(shared->live[me].wrong), __VA_ARGS__); \
	} while (0)

/* A call that may hang. */
#define timed(call)							\
({									\
	shared->live[me].since = clock_ns();				\
	__auto_type __result = (call);					\
	u64 __took = clock_ns() - shared->live[me].since;		\
									\
	shared->live[me].since = 0;					\
	if (__took > shared->live[me].longest)				\
		shared->live[me].longest = __took;			\
	__result;							\
})

/* The attrs are made while the module is there; its PMUs have other numbers each time it comes. */
enum { OPEN, GROUP1, GROUP2, GROUP3, SAMPLE, READ, GATE, FREEZE, WATCH, ATTACK, LOST, ATTRS };

static struct {
	const char *pmu, *event;
	u64 period;
	struct perf_event_attr attr;
} events[ATTRS] = {
	[OPEN]		= { "xeon7500_cbox_0", "llc_misses.all" },
	[GROUP1]	= { "xeon7500_cbox_1", "llc_misses.all" },
	[GROUP2]	= { "xeon7500_cbox_1", "llc_hits.all" },
	[GROUP3]	= { "xeon7500_cbox_1", "snps.remote_any" },
	[SAMPLE]	= { "xeon7500_cbox_2", "occupancy_irq", 2700017 },
	[READ]		= { "xeon7500_cbox_3", "llc_hits.all" },
	[GATE]		= { PACKAGE, "gate" },
	[FREEZE]	= { "xeon7500_cbox_6", "occupancy_irq,freeze=1", 3300019 },
	[WATCH]		= { "xeon7500_sbox_1", "to_r_ndr_msgq_occupancy" },
	[ATTACK]	= { "xeon7500_cbox_3", "occupancy_irq", 700001 },
	[LOST]		= { PACKAGE, "lost" },
};

/* A descriptor, or less than 0: there is no such CPU or PMU just now. */
static int open_now(int which, int cpu, int group)
{
	struct perf_event_attr attr = events[which].attr;
	int fd;

	attr.type = pmu_type(events[which].pmu);
	fd = (int)attr.type < 0 ? -1 : timed(perf_open(&attr, cpu, group));
	idle |= fd < 0;
	return fd;
}

static int control(int fd, unsigned long request, u64 arg)
{
	return timed(ioctl(fd, request, arg));
}

/* All of an event's value? Nothing: perf says that it is in error. */
static bool read_now(int fd, void *buf, int size)
{
	int bytes = timed(read(fd, buf, size));

	return bytes == size;
}

/* Some truth of a box, through whatever CPU of its package is there; false: none is. */
static bool truth_now(int package, unsigned int what, const char *pmu, u64 *sum)
{
	uint16_t ctr[SILICON_MAX_COUNTERS];
	int num = box_counters(pmu, ctr), i, cpu;
	u64 val;

	for (cpu = 2 * package; cpu < 2 * package + 2; cpu++) {
		*sum = 0;
		for (i = 0; i < num && !msr_try_read(cpu, SYN_TRUTH(what, ctr[i]), &val); i++)
			*sum += val;
		if (i == num)
			return true;
	}
	return false;
}

/* ---- actors: each call is a round ---- */

/*
 * The measurement of someone who does no harm: one event, compared each time. perf enables the
 * events that it moves to another CPU, whether they were or not: so the truth is taken before the
 * event is there, and while its count does not change.
 */
static void watch(int package)
{
	const char *pmu = events[WATCH].pmu;
	u64 before, after, count[3], again[3];
	bool known = truth_now(package, SYN_EVENTS, pmu, &before);
	int fd = open_now(WATCH, 2 * package + (int)draw(2), -1);

	if (fd < 0)
		return;
	idle = true;
	if (!control(fd, PERF_EVENT_IOC_ENABLE, 0)) {
		usleep(2000);
		control(fd, PERF_EVENT_IOC_DISABLE, 0);
		known = known && read_now(fd, count, sizeof(count)) &&
			truth_now(package, SYN_EVENTS, pmu, &after) &&
			read_now(fd, again, sizeof(again)) && count[0] == again[0];
		if (known && count[0] != after - before)
			wrong("package %d: %llu counted, truth %llu, ran %llu ns of %llu", package,
			      count[0], after - before, count[2], count[1]);
		if (known && count[0] && !count[2])
			wrong("package %d: %llu counted in no time", package, count[0]);
		idle = !known;
	}
	timed(close(fd));
}

KTAP_CALL(watch_0, watch(0))
KTAP_CALL(watch_1, watch(1))

static void do_open(void)
{
	int fd = open_now(OPEN, (int)draw(4), -1);

	if (fd < 0)
		return;
	control(fd, PERF_EVENT_IOC_ENABLE, 0);
	timed(close(fd));
}

static void do_group(void)
{
	int cpu = (int)draw(4), i, fd[3];
	u64 val[8];

	for (i = 0; i < 3; i++)
		fd[i] = open_now(GROUP1 + i, cpu, i ? fd[0] : -1);
	if (fd[0] >= 0) {
		control(fd[0], PERF_EVENT_IOC_ENABLE, 0);
		timed(read(fd[0], val, sizeof(val)));
		control(fd[0], draw(2) ? PERF_EVENT_IOC_DISABLE : PERF_EVENT_IOC_RESET,
			PERF_IOC_FLAG_GROUP);
	}
	/* The leader may go first. */
	for (i = 0; i < 3; i++) {
		if (fd[i] >= 0)
			timed(close(fd[i]));
	}
}

/*
 * Every overflow of a box that no one else uses is a sample, found no room, or came while samples took
 * too long: the host may pause this machine. As in watch().
 */
static void books(int which, int package)
{
	const char *pmu = events[which].pmu;
	struct { u64 value, lost; } now = {}, again = {};
	struct ring r = {};
	u64 before, after, told, late[3] = {};
	bool known = truth_now(package, SYN_OVERFLOWS, pmu, &before);
	int lost = open_now(LOST, 2 * package, -1), fd;

	if (lost < 0)
		return;
	fd = open_now(which, 2 * package, -1);
	if (fd < 0) {
		timed(close(lost));
		return;
	}
	control(lost, PERF_EVENT_IOC_ENABLE, 0);
	ring_map(&r, fd, 8);
	r.type = SAMPLE_BASE;
	/* perf has moved and so enabled it before it had a ring. */
	known = known && read_now(fd, &now, sizeof(now)) && !now.value;
	control(fd, PERF_EVENT_IOC_ENABLE, 0);
	usleep(3000);
	control(fd, PERF_EVENT_IOC_DISABLE, 0);
	known = known && read_now(fd, &now, sizeof(now)) &&
		truth_now(package, SYN_OVERFLOWS, pmu, &after);
	ring_drain(&r, NULL, NULL);
	known = known && read_now(lost, late, sizeof(late)) &&
		read_now(fd, &again, sizeof(again)) && now.value == again.value;
	idle = !known || !r.samples;
	told = r.samples + now.lost;
	/* Other events of the package may have lost some, too. */
	if (known && (told > after - before || told + late[0] < after - before))
		wrong("%s: %llu overflows, %llu samples, %llu without room, %llu lost", pmu,
		      after - before, r.samples, now.lost, late[0]);
	ring_unmap(&r);
	lost_samples = late[0];
	timed(close(fd));
	timed(close(lost));
}

KTAP_CALL(do_sample, books(SAMPLE, 1))
KTAP_CALL(do_freeze, books(FREEZE, 0))

/* A count never goes down, from whatever CPU it is read. */
static void do_read(void)
{
	int fd = open_now(READ, (int)draw(4), -1), i;
	u64 last = 0, count[3];
	cpu_set_t set;

	if (fd < 0)
		return;
	control(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (i = 0; i < 50; i++) {
		CPU_ZERO(&set);
		CPU_SET(draw(4), &set);
		sched_setaffinity(0, sizeof(set), &set);
		if (!read_now(fd, count, sizeof(count)))
			break;
		if (count[0] < last)
			wrong("%llu after %llu", count[0], last);
		last = count[0];
	}
	idle |= !last;
	timed(close(fd));
}

/* As sibling, too: perf calls event_init() with other locks then. */
static void do_gate(void)
{
	int cpu = (int)draw(4), fd = open_now(GATE, cpu, -1), i, sibling;

	if (fd < 0)
		return;
	sibling = open_now(GATE, cpu, fd);
	if (sibling >= 0)
		timed(close(sibling));
	for (i = 0; i < 3; i++) {
		usleep(draw(500));
		control(fd, i % 2 ? PERF_EVENT_IOC_DISABLE : PERF_EVENT_IOC_ENABLE, 0);
	}
	timed(close(fd));
}

static void do_hotplug(void)
{
	int cpu = 1 + (int)draw(3);

	idle = !timed(write_online(cpu, false));
	idle |= !timed(write_online(cpu, true));
}

static void do_last(void)
{
	idle = !timed(write_online(2, false));
	idle |= !timed(write_online(3, false));
	usleep(1000);
	idle |= !timed(write_online(3, true));
	idle |= !timed(write_online(2, true));
}

static void do_module(void)
{
	int i, err = EAGAIN;

	/* ENOENT: the actor before this one was killed between unload and load. */
	for (i = 0; i < 20 && err && err != ENOENT; i++)
		err = timed(unload(OURS));
	idle = err;
	if ((!err || err == ENOENT) && timed(load_ours()))
		wrong("the module does not come back");
}

/* A program of someone else, from its start to its end. */
static void program(const char *command)
{
	char text[300];

	snprintf(text, sizeof(text), "timeout 20 %s >/dev/null 2>&1", command);
	idle = system(text);
}

KTAP_CALL(do_metrics, program("perf metrics memory -- sleep 0.01"))
KTAP_CALL(do_stat, program("perf stat -a -e xeon7500_cbox_5/event=0x14,umask=0x7/ sleep 0.01"))

static int read_file(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	char buf[4096];
	int fd, bytes;

	(void)ftw;
	if (shared->stop || type != FTW_F || !(st->st_mode & 0444) || draw(20))
		return 0;
	fd = open(path, O_RDONLY);
	bytes = fd < 0 ? 0 : timed(read(fd, buf, sizeof(buf)));
	/* power/autosuspend_delay_ms gives EIO on a device without autosuspend. */
	if (bytes < 0 && errno != ENODEV && errno != EIO)
		wrong("%.100s: %s", path, strerror(errno));
	idle &= bytes <= 0;
	close(fd);
	return 0;
}

static void do_sysfs(void)
{
	char path[100];

	/* nftw() strips a trailing slash, and does not follow the link that remains. */
	snprintf(path, sizeof(path), SYSFS_PMU "/%s/.", events[draw(ATTRS)].pmu);
	idle = true;	/* until read_file() has read something */
	nftw(path, read_file, 8, FTW_PHYS);
}

/* Without any privilege: opens until it may not, asks for all that is refused, leaves the rest. */
static void do_attack(void)
{
	static const unsigned long requests[] = {
		PERF_EVENT_IOC_ENABLE, PERF_EVENT_IOC_DISABLE, PERF_EVENT_IOC_RESET,
		PERF_EVENT_IOC_REFRESH, PERF_EVENT_IOC_PAUSE_OUTPUT,
	};
	static const int kinds[] = { OPEN, ATTACK, GATE, FREEZE };
	int fd[64], num, which, opened = 0;

	if (geteuid() == 0) {
		if (setresuid(65534, 65534, 65534))
			wrong("setresuid: %s", strerror(errno));
		prctl(PR_SET_PDEATHSIG, SIGKILL);	/* setresuid() has cleared it */
	}
	for (num = 0; num < 64; num++) {
		which = kinds[draw(4)];
		fd[num] = open_now(which, (int)draw(4), num && !draw(3) ? fd[0] : -1);
		if (fd[num] >= 0 && (which == GATE || which == FREEZE))
			wrong("it may hold back the package");
		if (fd[num] >= 0)
			opened += !control(fd[num], requests[draw(5)], draw(2));
	}
	while (num--) {
		if (fd[num] >= 0)
			timed(close(fd[num]));
	}
	idle = !opened;	/* some of its calls must succeed */
}

static void do_memory(void)
{
	size_t size = 32 << 20, i, n;
	struct sysinfo info;
	char *p[64];

	/* Until the kernel has to look for some, but not for whom to kill. */
	for (n = 0; n < 64 && !shared->stop; n++) {
		if (sysinfo(&info) || (info.freeram + info.bufferram) * info.mem_unit < 3 * size)
			break;
		p[n] = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p[n] == MAP_FAILED)
			break;
		for (i = 0; i < size && !shared->stop; i += 4096)
			p[n][i] = 1;
	}
	idle = !n;
	while (n--)
		munmap(p[n], size);
}

static void do_core(void)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES, .sample_period = 100003 };
	int fd = timed(perf_open(&attr, (int)draw(4), -1));

	usleep(1000);
	idle = fd < 0;
	if (fd >= 0)
		timed(close(fd));
}

static void do_suspend(void)
{
	idle = !put_text("/sys/power/pm_test", "core") ||
	       !put_text("/sys/module/suspend/parameters/pm_test_delay", "0") ||
	       !put_text("/sys/power/state", "mem");
	usleep(20000);
}

/* Actor 0 and 1 are always there. */
static const struct actor {
	const char *name;
	void (*run)(void);
	int signal;		/* it sends this to the others, in place of run() */
	bool slow;		/* a round takes longer than a combination */
} actors[] = {
	{ "watch_0", watch_0 },
	{ "watch_1", watch_1 },
	/* So the others, alone, find what these leave behind. */
	{ "module", do_module },
	{ "hotplug", do_hotplug },
	{ "last", do_last },
	{ "open", do_open },
	{ "group", do_group },
	{ "sample", do_sample },
	{ "read", do_read },
	{ "gate", do_gate },
	{ "freeze", do_freeze },
	{ "metrics", do_metrics, .slow = true },
	{ "stat", do_stat, .slow = true },
	{ "sysfs", do_sysfs },
	{ "attacker", do_attack },
	{ "memory", do_memory, .slow = true },
	{ "core", do_core },
	{ "suspend", do_suspend, .slow = true },
	{ "stop", .signal = SIGSTOP },
	{ "kill", .signal = SIGKILL },
};

#define ACTORS		(int)ARRAY_SIZE(actors)
#define FIRST		2

/* ---- combinations ---- */

struct combination {
	int num, actor[MAX_CHOSEN];
};

static void name_of(const struct combination *c, char *text, size_t size)
{
	int i, len = 0;

	text[0] = 0;
	for (i = 0; i < c->num && len < (int)size; i++)
		len += snprintf(text + len, size - len, "%s%s", i ? "+" : "",
				actors[c->actor[i]].name);
}

static pid_t start(int actor)
{
	pid_t pid = fork();

	ktap_require(pid >= 0, "fork: %s", strerror(errno));
	if (pid) {
		setpgid(pid, pid);
		return pid;
	}
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	me = actor;
	seed = seed * 2654435761u + actor;
	shared->live[me].since = 0;
	while (!shared->stop) {
		idle = false;
		actors[actor].run();
		shared->live[me].rounds += !idle;
	}
	_exit(0);
}

static int failures;

/* The combination fails, but the caller goes on: it tries again. */
#define blame(c, ...)							\
	do {								\
		char __name[100];					\
									\
		name_of(c, __name, sizeof(__name));			\
		printf("# %s: ", __name);				\
		printf(__VA_ARGS__);					\
		printf("\n");						\
		failures++;						\
	} while (0)

/* An actor and what it has started, which may have events open. */
static void end_group(pid_t group, int actor)
{
	u64 give_up = clock_ns() + 10 * LIMIT_NS;

	kill(-group, SIGKILL);
	while (waitpid(-group, NULL, WNOHANG) >= 0) {
		usleep(500);
		ktap_require(clock_ns() < give_up, "%s does not end", actors[actor].name);
	}
}

/*
 * Actor I of NUM has to do something. Beside others an actor may find each time that its CPU or
 * its PMU has gone; the watchers are there until they have found them. Who is killed may have
 * unloaded the driver, and not loaded it again.
 */
static bool has_to_act(const int who[], int num, int i)
{
	const struct actor *a = &actors[who[i]];
	int j;

	for (j = 0; j < num; j++) {
		if (actors[who[j]].signal == SIGKILL)
			return false;
	}
	return i < FIRST || (num == FIRST + 1 && !a->signal);
}

/* All are there, and each call ends. */
static void supervise(pid_t pid[], const int who[], int num, u64 ms)
{
	u64 until = clock_ns() + ms * 1000000, more = 0, since;
	int i, victim;

	while (clock_ns() < until + more) {
		usleep(2000);
		for (i = 0; i < num; i++) {
			if (!actors[who[i]].signal)
				continue;
			victim = FIRST + (int)draw(num - FIRST);
			if (actors[who[victim]].signal)
				continue;
			kill(-pid[victim], actors[who[i]].signal);
			if (actors[who[i]].signal == SIGSTOP) {
				usleep(3000);
				kill(-pid[victim], SIGCONT);
			} else {
				end_group(pid[victim], who[victim]);
				pid[victim] = start(who[victim]);
			}
		}
		/* A slow one has at least one round. */
		more = 0;
		for (i = 0; i < num; i++) {
			if (shared->live[who[i]].rounds)
				continue;
			if (has_to_act(who, num, i))
				more = 10 * LIMIT_NS;
			else if (actors[who[i]].slow && !more)
				more = 40 * ms * 1000000;
		}
		for (i = 0; i < num; i++) {
			since = shared->live[who[i]].since;
			if (since && clock_ns() > since + 10 * LIMIT_NS)
				ktap_require(false, "%s hangs: a deadlock", actors[who[i]].name);
		}
	}
}

/* What counts nothing is as true as the silicon, which counts nothing either. */
static bool still_counts(int package)
{
	u64 count[3] = {};
	int fd = open_now(WATCH, 2 * package, -1);

	if (fd < 0)
		return false;
	control(fd, PERF_EVENT_IOC_ENABLE, 0);
	usleep(2000);
	read_now(fd, count, sizeof(count));
	close(fd);
	return count[0] && count[2] == count[1];
}

/*
 * An event samples, once the actors' share of the time for samples has passed. Its only sample is
 * lost if it becomes due as the event leaves, and giving the samples has taken too long before: the
 * code of a module that was just loaded has to be translated first.
 */
static bool still_samples(int which, int package)
{
	int tries = 0;

	do {
		idle = false;
		lost_samples = 0;
		shared->live[me].wrong[0] = 0;
		usleep(20000);
		books(which, package);
	} while (idle && lost_samples && ++tries < 10);
	return !idle && !shared->live[me].wrong[0];
}

static void judge(const struct combination *c, const int who[], int num)
{
	u64 bad;
	bool failed = ktap->failed;
	char line[300];
	int i, cpu;

	for (i = 0; i < num; i++) {
		const struct live *l = &shared->live[who[i]];

		if (l->wrong[0])
			blame(c, "%s: %s", actors[who[i]].name, l->wrong);
		if (l->longest > LIMIT_NS)
			blame(c, "%s: a call took %llu ms", actors[who[i]].name,
			      l->longest / 1000000);
		if (!l->rounds && has_to_act(who, num, i))
			blame(c, "%s: opens or compares nothing", actors[who[i]].name);
	}
	for (cpu = 0; cpu < 4; cpu += 2) {
		if (!still_counts(cpu / 2))
			blame(c, "package %d counts no more, or not always", cpu / 2);
		if (!still_samples(cpu ? SAMPLE : FREEZE, cpu / 2))
			blame(c, "package %d samples no more: %s", cpu / 2, shared->live[me].wrong);
		ktap->failed = false;
		check_stopped(cpu, "when all is over");
		if (ktap->failed)
			blame(c, "CPU %d: something runs or is pending", cpu);
	}
	ktap->failed = failed;
	while (kmsg_next(line, sizeof(line))) {
		if (kmsg_level <= 3 || strstr(line, "unchecked MSR") || strstr(line, "WARNING:"))
			blame(c, "the kernel: %s", line);
	}
	bad = msr_read(0, SYN_VIOLATIONS);
	if (bad)
		blame(c, "%llu accesses against the rules", bad);
}

/* Returns whether all was well. */
static bool run(const struct combination *c, u64 ms)
{
	int who[FIRST + MAX_CHOSEN] = { 0, 1 }, num = FIRST, i, had = failures;
	pid_t pid[FIRST + MAX_CHOSEN];

	memset(shared, 0, sizeof(*shared));
	kmsg_mark();
	silicon_clear();
	ktap->violations = 0;
	draw(2);	/* or the actors would draw what they have drawn before */
	for (i = 0; i < c->num; i++)
		who[num++] = c->actor[i];
	fflush(stdout);
	for (i = 0; i < num; i++)
		pid[i] = actors[who[i]].signal ? 0 : start(who[i]);
	supervise(pid, who, num, ms);
	shared->stop = true;
	for (i = 0; i < num; i++) {
		u64 give_up = clock_ns() + 10 * LIMIT_NS;
		int status = 0;

		if (!pid[i])
			continue;
		while (!waitpid(pid[i], &status, WNOHANG)) {
			usleep(500);
			ktap_require(clock_ns() < give_up, "%s does not end", actors[who[i]].name);
			if (actors[who[i]].slow)
				kill(-pid[i], SIGKILL);
		}
		if (status && !(actors[who[i]].slow && WTERMSIG(status) == SIGKILL))
			blame(c, "%s: ended with status %#x", actors[who[i]].name, status);
		end_group(pid[i], who[i]);
	}
	/* The watchers of timeout(1), in sessions of their own, when they have ended. */
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	all_online(4);
	if (!loaded(OURS))
		load_ours();
	judge(c, who, num);
	return failures == had;
}

/* With one actor less, as long as that fails too. */
static void shrink(struct combination c, u64 ms)
{
	struct combination less;
	char name[100];
	int i, try;

	for (i = 0; c.num > 1 && i < c.num; i++) {
		less = c;
		less.actor[i] = less.actor[--less.num];
		for (try = 0; try < 5; try++) {
			if (!run(&less, ms)) {
				c = less;
				i = -1;
				break;
			}
		}
	}
	name_of(&c, name, sizeof(name));
	ktap_check(false, "tools/vm/run --sockets 2 --cores 2 "
		   "--put build/selftests/uncore/interference:/t/ -- /t/interference %s", name);
}

static u64 ms_each(void)
{
	const char *s = getenv("MS");

	return s ? strtoull(s, NULL, 0) : 150;
}

static void attempt(const struct combination *c)
{
	if (!run(c, ms_each()))
		shrink(*c, 2 * ms_each());
}

static void begin(void)
{
	int i;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	ktap_require(shared != MAP_FAILED, "mmap: %s", strerror(errno));
	/* What a program has started is to end with it: it may have events open. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	all_online(4);
	if (!loaded(OURS))
		ktap_require(!load_ours(), "the module");
	/* An attacker has what an administrator can give without privilege. */
	ktap_require(put_text("/proc/sys/kernel/perf_event_paranoid", "0"), "paranoid: %s",
		     strerror(errno));
	silicon_start();
	for (i = 0; i < ATTRS; i++) {
		events[i].attr = event_attr(events[i].pmu, events[i].event);
		if (!events[i].period)
			continue;
		events[i].attr.sample_period = events[i].period;
		events[i].attr.sample_type = SAMPLE_BASE;
		events[i].attr.read_format = PERF_FORMAT_LOST;
	}
	/* Line by line: what a hanging machine has printed last says where it hangs. */
	setvbuf(stdout, NULL, _IOLBF, 0);
}

static void alone(void)
{
	struct combination c = { .num = 1 };

	begin();
	for (c.actor[0] = FIRST; c.actor[0] < ACTORS; c.actor[0]++) {
		if (!actors[c.actor[0]].signal) {
			attempt(&c);
			ktap_note("%s: %llu rounds, longest call %llu us", actors[c.actor[0]].name,
				  shared->live[c.actor[0]].rounds,
				  shared->live[c.actor[0]].longest / 1000);
		}
	}
}

static void pairs(void)
{
	struct combination c = { .num = 2 };
	const char *slice = getenv("SLICE");
	int acted[ACTORS] = {}, i;
	int num = 0, only = 0, of = 1, tried = 0;

	if (slice)
		ktap_require(sscanf(slice, "%d/%d", &only, &of) == 2 && of > 0, "SLICE=%s", slice);
	begin();
	for (c.actor[0] = FIRST; c.actor[0] < ACTORS; c.actor[0]++) {
		for (c.actor[1] = c.actor[0] + 1; c.actor[1] < ACTORS; c.actor[1]++, num++) {
			if (actors[c.actor[0]].signal || num % of != only)
				continue;
			attempt(&c);
			tried++;
			for (i = 0; i < 2; i++)
				acted[c.actor[i]] += actors[c.actor[i]].signal || shared->live[c.actor[i]].rounds;
		}
	}
	ktap_note("%d of %d pairs", tried, num);
	ktap_check(tried, "no pair was tried");
	for (i = FIRST; i < ACTORS; i++)
		ktap_note("%s has acted in %d", actors[i].name, acted[i]);
}

static void triples(void)
{
	const char *s = getenv("SEED"), *m = getenv("MINUTES");
	u64 until, begun;
	struct combination c = { .num = 3 };
	int num = 0, minutes = m ? atoi(m) : soak() ? 10 : 0, i;

	if (!minutes)
		ktap_skip("takes minutes: in soak on 6.1, or with MINUTES");
	begin();
	seed = s ? strtoull(s, NULL, 0) : clock_ns();
	ktap_note("SEED=%llu", seed);
	begun = clock_ns();
	until = begun + minutes * 60000000000ULL;
	while (clock_ns() < until && !ktap->failed) {
		u64 next = draw(1ULL << 31);

		for (i = 0; i < 3; i++)
			c.actor[i] = FIRST + (int)draw(ACTORS - FIRST);
		if (c.actor[0] != c.actor[1] && c.actor[1] != c.actor[2] &&
		    c.actor[0] != c.actor[2] && !actors[c.actor[0]].signal) {
			attempt(&c);
			num++;
		}
		seed = next;
	}
	ktap_note("%d triples in %llu s", num, (clock_ns() - begun) / 1000000000);
	ktap_check(num, "no triple was tried");
}

static const char *argument;

/* gate+hotplug: this combination alone */
static void named(void)
{
	struct combination c = {};
	char copy[100], *word;
	int i;

	snprintf(copy, sizeof(copy), "%s", argument);
	for (word = strtok(copy, "+"); word; word = strtok(NULL, "+")) {
		for (i = FIRST; i < ACTORS && strcmp(actors[i].name, word); i++)
			;
		ktap_require(i < ACTORS && c.num < MAX_CHOSEN, "no actor %s", word);
		c.actor[c.num++] = i;
	}
	begin();
	for (i = 0; i < 10 && !failures; i++)
		run(&c, ms_each());
	ktap_check(!failures, "%d failures in %d runs", failures, i);
}

int main(int argc, char **argv)
{
	static const struct ktap_case all[] = {
		{ "each actor alone", alone },
		{ "all pairs", pairs },
		{ "triples, drawn at random", triples },
	}, single[] = { { "this combination", named } };

	argument = argc > 1 ? argv[1] : NULL;
	if (argument)
		return ktap_run(silicon_missing(), NULL, single, 1);
	return ktap_run(silicon_missing() ?: uncore_missing(), NULL, all, ARRAY_SIZE(all));
}
