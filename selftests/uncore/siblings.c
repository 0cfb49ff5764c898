// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf and CPU hotplug wait for each other's locks. perf opens a sibling of a group with
 * ctx->mutex held; CPU hotplug takes that mutex to move events, and holds cpu_hotplug_lock
 * meanwhile. So event_init() must not wait for CPU hotplug. Hotplug may also fail after the
 * driver's callback, and it must not take longer because many events are open.
 *
 * A deadlock cannot be undone: the case that meets it fails, the one after it in the same
 * process fails, and the virtual machine is restarted when their results are printed. So
 * these cases come last.
 *
 * CPUs 0 and 1 are package 0, 2 and 3 package 1.
 *
 * PART: adversaries
 * VM: --sockets 2 --cores 2
 * BOOT: own
 * TEST: 6.1 6.12 newest debug
 * SOAK: 6.1 6.12 newest
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "foreign.h"
#include "hotplug.h"
#include "sampling.h"

#define SECOND		1000000000ULL

/* One event for each box. */
static const struct {
	const char *pmu, *event;
} each[] = {
	{ "xeon7500_cbox_0", "llc_misses.all" },
	{ "xeon7500_cbox_1", "llc_misses.all" },
	{ "xeon7500_cbox_2", "llc_hits.all" },
	{ "xeon7500_cbox_3", "llc_hits.all" },
	{ "xeon7500_cbox_4", "occupancy_irq" },
	{ "xeon7500_cbox_5", "occupancy_irq" },
	{ "xeon7500_cbox_6", "trans_maf" },
	{ "xeon7500_cbox_7", "trans_maf" },
	{ "xeon7500_ubox", "woken" },
	{ "xeon7500_wbox", "uncore_clock" },
	EACH_SBMR_BOX
};

#define EACH		(int)ARRAY_SIZE(each)

/* More events than event_close_all() can close, and a gate that a case closes itself. */
#define MANY		1000
static int many[MANY], num_many, gate = -1;

/* A case has met a deadlock. */
static bool stuck;

static void many_close(void)
{
	while (num_many)
		close(many[--num_many]);
}

static void gate_close(void)
{
	if (gate >= 0)
		close(gate);
	gate = -1;
}

/* All CPUs are online, CPU 2 serves package 1. */
static void start(void)
{
	ktap_require(!stuck, "the machine has a deadlock since an earlier case");
	gate_close();
	many_close();
	event_close_all();
	all_online(4);
	if (package_cpu(1) != 2) {
		set_online(3, false);
		set_online(3, true);
	}
	ktap_require(package_cpu(1) == 2, "CPU %d serves package 1", package_cpu(1));
	silicon_start();
}

/* ---- a CPU that fails to go offline ---- */

#define COUNTED		4
static const int counted[COUNTED] = { 2, 9, 10, 14 };	/* of each[] */
static int counting[COUNTED];

static void counting_enable(bool on)
{
	int i;

	for (i = 0; i < COUNTED; i++) {
		if (on)
			perf_enable(counting[i]);
		else
			perf_disable(counting[i]);
	}
}

/* Does each of them count, or none? */
static void check_counting(const char *when, bool want)
{
	u64 before[COUNTED], after;
	int i;

	for (i = 0; i < COUNTED; i++)
		before[i] = perf_count(counting[i]).value;
	sleep_us(2000);
	for (i = 0; i < COUNTED; i++) {
		after = perf_count(counting[i]).value;
		ktap_check((after > before[i]) == want, "%s: %s %s: %llu, then %llu", when,
			   each[counted[i]].pmu, want ? "does not count" : "counts", before[i],
			   after);
	}
}

/* When nothing runs. */
static void check_truth(const char *when, int cpu)
{
	u64 count, truth;
	int i;

	for (i = 0; i < COUNTED; i++) {
		count = perf_count(counting[i]).value;
		truth = box_truth(cpu, SYN_EVENTS, each[counted[i]].pmu);
		ktap_check(count == truth, "%s: %s: %llu, truth %llu", when, each[counted[i]].pmu,
			   count, truth);
	}
}

static void gate_switch(bool open)
{
	if (open)
		perf_enable(gate);
	else
		perf_disable(gate);
}

static void gate_make(int cpu)
{
	struct perf_event_attr attr = event_attr("xeon7500_package", "gate");

	gate = perf_open(&attr, cpu, -1);
	ktap_require(gate >= 0, "gate: %s", strerror(-gate));
}

static void failed_offline(bool open)
{
	int i;

	start();
	set_online(2, false);
	ktap_require(package_cpu(1) == 3, "CPU %d serves package 1", package_cpu(1));
	gate_make(3);
	for (i = 0; i < COUNTED; i++)
		counting[i] = event_open(each[counted[i]].pmu, each[counted[i]].event, 3, -1);
	silicon_clear();
	counting_enable(true);
	gate_switch(open);
	check_counting("before", open);

	offline_fails(3);
	ktap_check(package_cpu(1) == 3, "CPU %d serves package 1", package_cpu(1));
	check_counting(open ? "after, gate open" : "after, gate closed", open);
	gate_switch(!open);
	check_counting(open ? "gate closed later" : "gate opened later", !open);
	gate_switch(open);
	check_counting(open ? "gate opened again" : "gate closed again", open);
	counting_enable(false);
	check_truth("through the gate", 3);

	/* Without the gate others count. */
	gate_switch(false);
	counting_enable(true);
	check_counting("gate closed", false);
	gate_close();
	check_counting("gate gone", true);
	/* A new gate holds them back and lets them go. */
	gate_make(3);
	check_counting("new gate closed", false);
	gate_switch(true);
	check_counting("new gate open", true);
	counting_enable(false);
	check_truth("at the end", 3);
	gate_close();
	set_online(2, true);
}

KTAP_CALL(failed_offline_open, failed_offline(true))
KTAP_CALL(failed_offline_closed, failed_offline(false))

/* In between the registers may have lost what was in them. */
static void written_anew(void)
{
	static const struct {
		unsigned int msr;
		u64 lost;
	} regs[] = { { M1_ZDP_CTL_FVC, 0 }, { M1_CNT_CTL_0, 0 }, { M1_CNT_0, 0 } };
	u64 val[ARRAY_SIZE(regs)];
	unsigned int i;

	start();
	set_online(2, false);
	gate_make(3);
	perf_enable(event_open("xeon7500_mbox_1", "bbox_cmds.reads", 3, -1));
	for (i = 0; i < ARRAY_SIZE(regs); i++) {
		val[i] = msr_read(3, regs[i].msr);
		msr_write(3, regs[i].msr, regs[i].lost);
	}
	ktap_check(val[0] && val[1], "%#llx and %#llx", val[0], val[1]);
	offline_fails(3);
	for (i = 0; i < ARRAY_SIZE(regs); i++)
		ktap_check(msr_read(3, regs[i].msr) == val[i], "%#x is %#llx, was %#llx",
			   regs[i].msr, msr_read(3, regs[i].msr), val[i]);
	gate_close();
	set_online(2, true);
}

/* A gate that goes while its package has no CPU, but gets it back. */
static void gates_meanwhile(void)
{
	struct perf_event_attr attr = event_attr("xeon7500_package", "gate");
	int round, fd;
	pid_t pid;

	attr.disabled = 1;
	start();
	set_online(2, false);
	fflush(stdout);
	pid = fork();
	ktap_require(pid >= 0, "fork: %s", strerror(errno));
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;) {
			fd = perf_open(&attr, 3, -1);
			if (fd >= 0)
				close(fd);
		}
	}
	for (round = 0; round < 30; round++)
		offline_fails(3);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	event_counts("after the gates", "xeon7500_cbox_0", "llc_misses.all", 3, 2000);
	set_online(2, true);
}

/* ---- a CPU with many events goes offline ---- */

static void many_open(int cpu)
{
	struct rlimit files = { 2 * MANY, 2 * MANY };
	struct perf_event_attr attr[EACH];
	int i, fd;

	ktap_require(!setrlimit(RLIMIT_NOFILE, &files), "%s", strerror(errno));
	for (i = 0; i < EACH; i++)
		attr[i] = event_attr(each[i].pmu, each[i].event);
	for (i = 0; i < MANY; i++) {
		fd = perf_open(&attr[i % EACH], cpu, -1);
		ktap_require(fd >= 0, "event %d: %s", i, strerror(-fd));
		many[num_many++] = fd;
	}
}

/* Each runs when it is enabled, and some are compared with the model. */
static void many_check(int cpu)
{
	struct perf_count before, after;
	int i, idle = 0;
	u64 truth;

	for (i = 0; i < MANY; i++) {
		bool compare = i % 37 == 0;

		before = perf_count(many[i]);
		if (compare)
			silicon_clear();
		perf_enable(many[i]);
		if (compare)
			sleep_us(500);
		perf_disable(many[i]);
		after = perf_count(many[i]);
		idle += after.running == before.running;
		if (!compare)
			continue;
		truth = box_truth(cpu, SYN_EVENTS, each[i % EACH].pmu);
		ktap_check(truth && after.value - before.value == truth, "%s: %llu, truth %llu",
			   each[i % EACH].pmu, after.value - before.value, truth);
	}
	ktap_check(!idle, "%d of %d events do not run", idle, MANY);
}

/* The events are disabled; perf_pmu_migrate_context() enables what it moves. Returns its ns. */
static u64 many_move(void)
{
	u64 ns;
	int i;

	start();
	many_open(2);
	ns = clock_ns();
	set_online(2, false);
	ns = clock_ns() - ns;
	ktap_note("CPU 2 with %d events went offline in %llu ms", MANY, ns / 1000000);
	ktap_check(package_cpu(1) == 3, "CPU %d serves package 1", package_cpu(1));
	for (i = 0; i < MANY; i++)
		perf_disable(many[i]);
	many_check(3);
	many_close();
	set_online(2, true);
	return ns;
}

/* A host that stops the machine for a second makes one of them slow, and not all. */
static void many_events(void)
{
	u64 ns = many_move();
	int tries;

	for (tries = 1; tries < 5 && soak() && ns > 2 * SECOND; tries++)
		ns = many_move();
	ktap_check(!soak() || ns <= 2 * SECOND, "%llu ms", ns / 1000000);
}

/* ---- a member of a throttled group that has no counter ---- */

/* The driver takes a jump of more than half the counter for a write by someone else. */
static void write_as_others(int cpu, const char *pmu, int times)
{
	uint16_t ctr[SILICON_MAX_COUNTERS];
	int fd, i, num = box_counters(pmu, ctr), used = 0;

	gate_make(cpu);
	fd = event_open(pmu, "llc_hits.all", cpu, -1);
	perf_enable(fd);
	while (used < num - 1 && !msr_read(cpu, counter_ctl(ctr[used])))
		used++;
	for (i = 0; i < times; i++) {
		msr_write(cpu, ctr[used], (msr_read(cpu, ctr[used]) + (3ull << 46)) &
					  ((1ull << 48) - 1));
		perf_count(fd);
	}
	perf_disable(fd);
	gate_close();
}

/* When the next counter of a box overflows, SYN_NS. */
static u64 next_overflow(int cpu, const char *pmu)
{
	uint16_t ctr[SILICON_MAX_COUNTERS];
	u64 next = UINT64_MAX, due;
	int i, num = box_counters(pmu, ctr);

	for (i = 0; i < num; i++) {
		due = silicon_truth(cpu, SYN_DUE, ctr[i]);
		if (due && due < next)
			next = due;
	}
	return next;
}

/*
 * Five pinned events and the leader of a group have all counters of the box, so a member that
 * is enabled gets none. From 6.16 on perf throttles whole groups: it stops all members that
 * are active, and a member is active before ->add() is called. So the overflow that is too
 * much for perf comes when the member is enabled: perf takes the group off, puts the leader
 * back, and then asks for a counter for the member.
 *
 * The driver must not take what lies before its counters for the counter of that member. That
 * may be the number of foreign writes to the box, hence two of them: as the state of a
 * counter, 2 is running and 3 is stopped.
 */
static void throttled_group(void)
{
	static const char *const pinned[] = {
		"llc_misses.all", "llc_hits.all", "llc_victims.m", "trans_irq", "trans_maf",
	};
	unsigned int round, rounds = soak() ? 5000 : 400, on_time = 0;
	const char *pmu = "xeon7500_cbox_1";
	struct perf_event_attr attr;
	struct ring *r;
	u64 due;
	int i, last;

	start();
	module_unload();
	module_load("");
	silicon_start();
	write_as_others(0, pmu, 2);
	ktap_require(foreign_writes() == 2, "%lld foreign writes", foreign_writes());
	event_close_all();
	silicon_clear();

	/* One sample in a tick, so that each overflow throttles. */
	sampling_limit(SAMPLING_HZ);
	hurry(pmu);
	for (i = 0; i < 5; i++) {
		attr = event_attr(pmu, pinned[i]);
		attr.pinned = 1;
		perf_enable(event_open_attr(&attr, 0, -1));
	}
	r = sampling_open(pmu, "occupancy_irq", 3000017, 0, 128);
	attr = event_attr(pmu, "snps.remote_rd");
	last = event_open_attr(&attr, 0, r->fd);
	run_on(0);
	perf_enable(r->fd);
	for (round = 0; round < rounds && foreign_writes() == 2; round++) {
		u64 early = round % 100 * 500;

		/* It may be throttled, or the group waits for its turn. */
		for (i = 0; i < 1000; i++) {
			due = next_overflow(0, pmu);
			if (due < msr_read(0, SYN_NS) + 5000000)
				break;
		}
		if (i == 1000)
			continue;
		while (msr_read(0, SYN_NS) + early < due)
			;
		on_time++;
		perf_enable(last);
		perf_disable(last);
		ring_drain(r, NULL, NULL);
	}
	perf_disable(r->fd);
	run_on(-1);
	ring_drain(r, NULL, NULL);
	ktap_note("%u of %u times enabled near an overflow, %llu samples, %llu throttles", on_time,
		  round, r->samples, r->throttles);
	ktap_check(foreign_writes() == 2, "%lld foreign writes", foreign_writes());
	ktap_check(on_time > round / 10 && r->samples > round / 10, "rarely near an overflow");
	event_close_all();
	module_unload();
	module_load("");
}

/* ---- siblings are opened while CPUs come and go ---- */

/* No progress in so many seconds is a deadlock. */
#define PATIENCE	30

/* When a group is complete. perf does not mix PMUs, but tells so only after event_init(). */
enum complete { NEVER, WITH_PMI, ALWAYS };

static const struct {
	const char *leader_pmu, *leader, *pmu, *sibling;
	u64 period;
	enum complete complete;
} openers[] = {
	{ "xeon7500_cbox_0", "llc_misses.all", "xeon7500_package", "gate", 0, NEVER },
	{ "xeon7500_package", "gate", "xeon7500_package", "gate", 0, ALWAYS },
	{ "xeon7500_cbox_1", "llc_misses.all", "xeon7500_cbox_1", "llc_hits.all", 1000003,
	  WITH_PMI },
	{ "xeon7500_cbox_2", "llc_misses.all", "xeon7500_cbox_2", "llc_hits.all,freeze=1", 0,
	  WITH_PMI },
};

#define OPENERS		(int)ARRAY_SIZE(openers)

static struct perf_event_attr leader_attr[OPENERS], sibling_attr[OPENERS];

/* The processes besides ours: these, and last the one that switches CPUs. */
#define SWITCHER	OPENERS
#define PROCESSES	(OPENERS + 1)

static struct shared {
	bool stop;
	unsigned int rounds[PROCESSES];		/* each process has gone on so often */
	unsigned int opened[OPENERS];		/* complete groups after the first hotplug */
	int odd[PROCESSES];			/* an errno that has no good reason */
} *shared;

static bool open_may_fail(int err)
{
	switch (-err) {
	case EINVAL:		/* also when leader and sibling are on two CPUs */
	case ENODEV:		/* the CPU has just gone */
	case EOPNOTSUPP:	/* no PMI comes */
	case EBUSY:
		return true;
	default:
		return false;
	}
}

static void open_groups(int nr)
{
	int cpu = 2, leader, sibling;

	while (!__atomic_load_n(&shared->stop, __ATOMIC_RELAXED)) {
		leader = perf_open(&leader_attr[nr], cpu, -1);
		if (leader < 0 && leader != -ENODEV)
			shared->odd[nr] = leader;
		if (leader >= 0) {
			sibling = perf_open(&sibling_attr[nr], cpu, leader);
			if (sibling >= 0) {
				shared->opened[nr] += !!shared->rounds[SWITCHER];
				ioctl(leader, PERF_EVENT_IOC_ENABLE, 0);
				close(sibling);
			} else if (!open_may_fail(sibling)) {
				shared->odd[nr] = sibling;
			}
			close(leader);
		}
		__atomic_add_fetch(&shared->rounds[nr], 1, __ATOMIC_RELAXED);
		/* Either CPU of the package will do. */
		cpu = 5 - cpu;
	}
}

static void switch_cpus(void)
{
	static const int order[] = { 2, 3, 1 };
	unsigned int i = 0;
	int cpu;

	while (!__atomic_load_n(&shared->stop, __ATOMIC_RELAXED)) {
		cpu = order[i++ % 3];
		if (!write_online(cpu, false) || !write_online(cpu, true))
			shared->odd[SWITCHER] = -errno;
		__atomic_add_fetch(&shared->rounds[SWITCHER], 1, __ATOMIC_RELAXED);
	}
}

static pid_t start_process(int nr)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (nr == SWITCHER)
			switch_cpus();
		else
			open_groups(nr);
		_exit(0);
	}
	ktap_require(pid > 0, "fork: %s", strerror(errno));
	return pid;
}

static bool all_have(unsigned int groups, unsigned int hotplugs)
{
	int i;

	for (i = 0; i < PROCESSES; i++) {
		if (__atomic_load_n(&shared->rounds[i], __ATOMIC_RELAXED) <
		    (i == SWITCHER ? hotplugs : groups))
			return false;
	}
	return true;
}

/* Returns the process that does not go on, or -1 when all have done what they are to. */
static int wait_for_all(unsigned int groups, unsigned int hotplugs, u64 seconds)
{
	u64 begin = clock_ns(), since[PROCESSES];
	unsigned int last[PROCESSES] = {}, now;
	int i;

	for (i = 0; i < PROCESSES; i++)
		since[i] = begin;
	while (!all_have(groups, hotplugs) || clock_ns() < begin + seconds * SECOND) {
		sleep_us(10000);
		for (i = 0; i < PROCESSES; i++) {
			now = __atomic_load_n(&shared->rounds[i], __ATOMIC_RELAXED);
			if (now != last[i])
				since[i] = clock_ns();
			last[i] = now;
			if (clock_ns() > since[i] + PATIENCE * SECOND)
				return i;
		}
	}
	return -1;
}

static bool ends(pid_t pid)
{
	u64 begin = clock_ns();

	while (clock_ns() < begin + PATIENCE * SECOND) {
		if (waitpid(pid, NULL, WNOHANG) == pid)
			return true;
		sleep_us(1000);
	}
	return false;
}

/*
 * The machine can neither switch CPUs nor power off any more. It is restarted from a session
 * of its own, when guest.sh has told our results.
 */
static void restart_later(void)
{
	int fd;

	if (fork())
		return;
	setsid();
	for (fd = 0; fd < 3; fd++)
		close(fd);
	sleep(15);
	fd = open("/proc/sysrq-trigger", O_WRONLY);
	_exit(write(fd, "b", 1) != 1);
}

static void is_stuck(void)
{
	if (!stuck && silicon_here())
		atexit(restart_later);
	stuck = true;
}

/* What is left behind: no gate, and a box that counts right. */
static void counts_on(int package)
{
	silicon_clear();
	event_counts("what is left", "xeon7500_cbox_0", "llc_hits.all", package_cpu(package), 2000);
}

static void describe(void)
{
	int i;

	for (i = 0; i < OPENERS; i++)
		ktap_note("%s/%s/ and %s/%s/: opened %u times, complete %u times after a hotplug",
			  openers[i].leader_pmu, openers[i].leader, openers[i].pmu,
			  openers[i].sibling, shared->rounds[i], shared->opened[i]);
	ktap_note("%u times a CPU went offline and came back", shared->rounds[SWITCHER]);
}

static void open_and_switch(enum complete from, unsigned int groups, unsigned int hotplugs,
			    u64 seconds)
{
	pid_t pid[PROCESSES];
	int i, waits;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	ktap_require(shared != MAP_FAILED, "mmap: %s", strerror(errno));
	for (i = 0; i < OPENERS; i++) {
		leader_attr[i] = event_attr(openers[i].leader_pmu, openers[i].leader);
		sibling_attr[i] = event_attr(openers[i].pmu, openers[i].sibling);
		sibling_attr[i].disabled = 0;
		sibling_attr[i].sample_period = openers[i].period;
	}
	for (i = 0; i < PROCESSES; i++)
		pid[i] = start_process(i);
	waits = wait_for_all(groups, hotplugs, seconds);
	__atomic_store_n(&shared->stop, true, __ATOMIC_RELAXED);
	for (i = 0; waits < 0 && i < PROCESSES; i++) {
		if (!ends(pid[i]))
			waits = i;
	}
	describe();
	if (waits >= 0)
		is_stuck();
	ktap_require(waits < 0, "%s does not go on: deadlock",
		     waits == SWITCHER ? "CPU hotplug" : openers[waits].sibling);
	for (i = 0; i < PROCESSES; i++)
		ktap_check(!shared->odd[i], "process %d: %s", i, strerror(-shared->odd[i]));
	for (i = 0; i < OPENERS; i++)
		ktap_check(!!shared->opened[i] == (openers[i].complete >= from),
			   "%s/%s/: complete %u times", openers[i].pmu, openers[i].sibling,
			   shared->opened[i]);
	munmap(shared, sizeof(*shared));
}

static void siblings(void)
{
	start();
	module_unload();
	module_load("");
	open_and_switch(WITH_PMI, 200, 24, soak() ? 180 : 0);
	start();
	counts_on(0);
	counts_on(1);
}

/* Whether PMIs come is tried again whenever they are asked for, as long as they do not. */
static void siblings_without_pmi(void)
{
	start();
	module_unload();
	msr_write(0, SYN_FAULT_DEBUGCTL, 1);
	module_load("");
	open_and_switch(ALWAYS, soak() ? 2000 : 200, soak() ? 240 : 24, 0);
	msr_write(0, SYN_FAULT_DEBUGCTL, 0);
	start();
	module_unload();
	module_load("");
	silicon_start();
	counts_on(0);
	counts_on(1);
}

SILICON_MAIN({ "an open gate when the last CPU fails to go offline", failed_offline_open },
	     { "a closed gate when the last CPU fails to go offline", failed_offline_closed },
	     { "registers that were lost while it failed", written_anew },
	     { "gates that go while it fails", gates_meanwhile },
	     { "a CPU with a thousand events goes offline", many_events },
	     { "a throttled group and a member without counter", throttled_group },
	     { "siblings are opened while CPUs come and go", siblings },
	     { "likewise where no PMI comes", siblings_without_pmi, KTAP_SAME_PROCESS })
