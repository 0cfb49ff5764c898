// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a user without privileges may do, and that a package that is held back misleads
 * no other user.
 *
 * A gate and a freeze stop the counters of all users of a package. So both need CAP_PERFMON,
 * whatever perf_event_paranoid says, unless the module parameter unprivileged_hold=1 allows
 * them. Without CAP_PERFMON 256 events may be open for each box.
 *
 * Time during which a counter was held back is time it did not run: it is missing from the
 * running time of every event of the package. count / running is the rate of the event then.
 *
 * CPUs 0 and 1 are package 0, 2 and 3 package 1.
 *
 * SKIP: debug
 * VM: --sockets 2 --cores 2 --icount --append nmi_watchdog=0
 */
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "foreign.h"
#include "hotplug.h"
#include "kmsg.h"
#include "sampling.h"

#define HOLD		"unprivileged_hold=1"
#define NOBODY		65534
#define MOST		256	/* events of a box without CAP_PERFMON */
#define CAP_PERFMON_NR	38
#define CLOCK		"xeon7500_wbox", "uncore_clock"

/* ---- a process that has given up its privileges, and does what it is told ---- */

enum op { OPEN, CLOSE, ENABLE, DISABLE };

struct request {
	enum op op;
	struct perf_event_attr attr;
	int cpu;
	int group;	/* or the file */
};

static struct user {
	pid_t pid;
	int to, from;
} user;

static void user_serve(int in, int out)
{
	struct request r;

	while (read(in, &r, sizeof(r)) == sizeof(r)) {
		int ret = 0;

		switch (r.op) {
		case OPEN:
			ret = perf_open(&r.attr, r.cpu, r.group);
			break;
		case CLOSE:
			ret = close(r.group) ? -errno : 0;
			break;
		case ENABLE:
			ret = ioctl(r.group, PERF_EVENT_IOC_ENABLE, 0) ? -errno : 0;
			break;
		case DISABLE:
			ret = ioctl(r.group, PERF_EVENT_IOC_DISABLE, 0) ? -errno : 0;
			break;
			break;
		}
		if (write(out, &ret, sizeof(ret)) != sizeof(ret))
			break;
	}
	_exit(0);
}

static void user_end(void)
{
	if (!user.pid)
		return;
	close(user.to);
	close(user.from);
	waitpid(user.pid, NULL, 0);
	user.pid = 0;
}

/* Of all capabilities this process keeps one, or with -1 none. */
static bool drop_privileges(int capability)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2] = {};

	if (capability >= 0) {
		data[capability / 32].effective = 1u << capability % 32;
		data[capability / 32].permitted = 1u << capability % 32;
		if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0))
			return false;
	}
	return !setgid(NOBODY) && !setuid(NOBODY) && !syscall(SYS_capset, &head, data);
}

static void user_begin(int capability)
{
	int to[2], from[2];

	user_end();
	ktap_require(!pipe(to) && !pipe(from), "pipe: %s", strerror(errno));
	fflush(stdout);
	user.pid = fork();
	ktap_require(user.pid >= 0, "fork: %s", strerror(errno));
	if (!user.pid) {
		int i;

		close(to[1]);
		close(from[0]);
		for (i = 0; i < num_open_events; i++)
			close(open_events[i]);
		if (!drop_privileges(capability))
			_exit(1);
		user_serve(to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	user.to = to[1];
	user.from = from[0];
}

static int user_does(const struct request *r)
{
	int ret = 0;

	ktap_require(write(user.to, r, sizeof(*r)) == sizeof(*r) &&
		     read(user.from, &ret, sizeof(ret)) == sizeof(ret), "the user is gone");
	return ret;
}

/* Its file or -errno. */
static int user_opens(struct perf_event_attr attr, int cpu)
{
	return user_does(&(struct request){ .op = OPEN, .attr = attr, .cpu = cpu, .group = -1 });
}

static void user_file(enum op op, int fd)
{
	int ret = user_does(&(struct request){ .op = op, .group = fd });

	ktap_require(!ret, "operation %d on a file of the user: %s", op, strerror(-ret));
}

/* 0 or -errno. */
static int user_may(struct perf_event_attr attr)
{
	int fd = user_opens(attr, package_cpu(0));

	if (fd < 0)
		return fd;
	user_file(CLOSE, fd);
	return 0;
}

static int may(struct perf_event_attr attr)
{
	int fd = perf_open(&attr, package_cpu(0), -1);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

/* ---- how a case begins ---- */

static void paranoid(int level)
{
	FILE *f = fopen("/proc/sys/kernel/perf_event_paranoid", "w");

	ktap_require(f && fprintf(f, "%d", level) > 0 && !fclose(f), "paranoid: %s",
		     strerror(errno));
}

static void start(const char *parameters)
{
	user_end();
	event_close_all();
	all_online(4);
	run_on(-1);
	paranoid(-1);
	module_unload();
	kmsg_mark();
	module_load(parameters);
	ktap_check(!kmsg_count("unknown parameter"), "there is no parameter %s", parameters);
	silicon_start();
}

/* ---- times ---- */

/* ns that so many cycles of the uncore take, and the other way round. */
static u64 ns_of(u64 cycles)
{
	return (unsigned __int128)cycles * msr_read(0, SYN_HZ_DEN) / msr_read(0, SYN_HZ_NUM);
}

static u64 cycles_of(u64 ns)
{
	return (unsigned __int128)ns * msr_read(0, SYN_HZ_NUM) / msr_read(0, SYN_HZ_DEN);
}

static bool within(u64 a, u64 b, u64 slack)
{
	return a <= b + slack && b <= a + slack;
}

/* An event that nobody holds back: all of its time. */
static void check_free(const char *when, const char *pmu, struct perf_count c)
{
	ktap_check(c.enabled && c.running == c.enabled, "%s: %s ran for %llu of %llu ns", when, pmu,
		   c.running, c.enabled);
}

/* It ran for so long, within @percent of the time it was enabled. */
static void check_running(const char *when, const char *pmu, struct perf_count c, u64 ns,
			  unsigned int percent)
{
	ktap_check(c.enabled >= c.running && within(c.running, ns, c.enabled * percent / 100),
		   "%s: %s ran for %llu of %llu ns, could for %llu", when, pmu, c.running,
		   c.enabled, ns);
}

/* The clock has one count for each cycle that it ran. */
static void check_clock(const char *when, struct perf_count c)
{
	ktap_check(c.value && within(cycles_of(c.running), c.value, c.value / 50),
		   "%s: %llu cycles, in the time it ran there were %llu", when, c.value,
		   cycles_of(c.running));
}

/* ---- who may what ---- */

static struct perf_event_attr gate_attr(void)
{
	return event_attr(PACKAGE, "gate");
}

/* Each box has the field. */
static const struct {
	const char *pmu, *event;
} counted[] = {
	{ CLOCK },
	{ "xeon7500_ubox", "woken" },
	{ "xeon7500_cbox_3", "llc_misses.all" },
	{ "xeon7500_sbox_1", "to_r_ndr_msgq_occupancy" },
	{ "xeon7500_bbox_0", "msgs_in_non_snoop" },
	{ "xeon7500_mbox_1", "mbox_cycles" },
	{ "xeon7500_rbox_0", "flits_sent,port=1" },
};

#define COUNTED	(int)ARRAY_SIZE(counted)

static struct perf_event_attr frozen_attr(int i)
{
	char text[64];

	snprintf(text, sizeof(text), "%s,freeze=1", counted[i].event);
	return event_attr(counted[i].pmu, text);
}

static void refused(void)
{
	struct perf_event_attr attr;
	int level, err, i;

	start("");
	user_begin(-1);
	for (level = -1; level <= 0; level++) {
		paranoid(level);
		err = user_may(gate_attr());
		ktap_check(err == -EACCES, "paranoid %d, gate: %d", level, err);
		for (i = 0; i < COUNTED; i++) {
			attr = frozen_attr(i);
			err = user_may(attr);
			ktap_check(err == -EACCES, "paranoid %d, %s with freeze: %d", level,
				   counted[i].pmu, err);
			attr.sample_period = 100000;
			err = user_may(attr);
			ktap_check(err == -EACCES, "paranoid %d, %s with freeze, sampling: %d",
				   level, counted[i].pmu, err);
		}
	}
	/* perf refuses what may not count a CPU, but after the driver. */
	paranoid(1);
	for (i = 0; i < COUNTED; i++) {
		attr = event_attr(counted[i].pmu, counted[i].event);
		err = user_may(attr);
		ktap_check(err == -EACCES, "paranoid 1, %s: %d", counted[i].pmu, err);
		attr.sample_period = 100000;
		err = user_may(attr);
		ktap_check(err == -EACCES, "paranoid 1, %s, sampling: %d", counted[i].pmu, err);
	}
	silicon_untouched();
}

static void not_refused(void)
{
	struct perf_event_attr attr;
	int level, err, i;

	start("");
	user_begin(-1);
	for (level = -1; level <= 0; level++) {
		paranoid(level);
		err = user_may(event_attr(PACKAGE, "frozen"));
		ktap_check(!err, "paranoid %d, frozen: %d", level, err);
		err = user_may(event_attr(PACKAGE, "lost"));
		ktap_check(!err, "paranoid %d, lost: %d", level, err);
		for (i = 0; i < COUNTED; i++) {
			attr = event_attr(counted[i].pmu, counted[i].event);
			err = user_may(attr);
			ktap_check(!err, "paranoid %d, %s: %d", level, counted[i].pmu, err);
			attr.sample_period = 100000;
			err = user_may(attr);
			ktap_check(!err, "paranoid %d, %s, sampling: %d", level, counted[i].pmu,
				   err);
		}
	}
}

/* Neither a gate nor a freeze holds the package back for a moment. */
static void check_holds_nothing(const char *parameters, int level)
{
	struct perf_count count;
	int cpu, fd, i, err;

	start(parameters);
	cpu = package_cpu(0);
	user_begin(-1);
	fd = event_open(CLOCK, cpu, -1);
	perf_enable(fd);
	paranoid(level);
	for (i = 0; i < 50; i++) {
		err = user_opens(gate_attr(), cpu);
		ktap_check(err == -EACCES, "paranoid %d, gate: %d", level, err);
		err = user_opens(frozen_attr(2), cpu);
		ktap_check(err == -EACCES, "paranoid %d, freeze: %d", level, err);
	}
	sleep_us(10000);
	perf_disable(fd);
	ktap_check(silicon_truth(cpu, SYN_WINDOWS, W_FIXED_CTR) == 1, "paranoid %d: %llu windows",
		   level, silicon_truth(cpu, SYN_WINDOWS, W_FIXED_CTR));
	count = perf_count(fd);
	check_free("beside what is refused", "xeon7500_wbox", count);
	check_clock("beside what is refused", count);
}

/* By us, or by perf, which asks only after the driver. */
static void refused_holds_nothing(void)
{
	check_holds_nothing("", -1);
	check_holds_nothing(HOLD, 1);
}

/* root, CAP_PERFMON without root, and anyone with the parameter. */
static void allowed(void)
{
	int err;

	start("");
	paranoid(2);
	err = may(gate_attr());
	ktap_check(!err, "root, gate: %d", err);
	err = may(frozen_attr(2));
	ktap_check(!err, "root, freeze: %d", err);
	user_begin(CAP_PERFMON_NR);
	err = user_may(gate_attr());
	ktap_check(!err, "CAP_PERFMON, gate: %d", err);
	err = user_may(frozen_attr(2));
	ktap_check(!err, "CAP_PERFMON, freeze: %d", err);

	start(HOLD);
	user_begin(-1);
	err = user_may(gate_attr());
	ktap_check(!err, HOLD ", gate: %d", err);
	err = user_may(frozen_attr(2));
	ktap_check(!err, HOLD ", freeze: %d", err);
	/* perf's own limit is another matter. */
	paranoid(2);
	err = user_may(gate_attr());
	ktap_check(err == -EACCES, HOLD ", paranoid 2, gate: %d", err);

	start("unprivileged_hold=0");
	user_begin(-1);
	err = user_may(gate_attr());
	ktap_check(err == -EACCES, "unprivileged_hold=0, gate: %d", err);
}

/* ---- how many ---- */

/* Opens as many events of a PMU as it may, 100 at most. Their files are in a row. */
static int user_fills(const char *pmu, int cpu, int *err, int *last)
{
	const char *event = strcmp(pmu, PACKAGE) ? "llc_misses.all" : "lost";
	struct perf_event_attr attr = event_attr(pmu, event);
	int num, fd;

	*err = 0;
	for (num = 0; num < MOST + 100; num++) {
		fd = user_opens(attr, cpu);
		if (fd < 0) {
			*err = fd;
			break;
		}
		*last = fd;
	}
	return num;
}

static void check_fills(const char *pmu, int cpu, const char *when, int *last)
{
	int err, num = user_fills(pmu, cpu, &err, last);

	ktap_check(num == MOST && err == -EMFILE, "%s, %s on CPU %d: %d events, then %d", when,
		   pmu, cpu, num, err);
}

static int root_opens(const char *pmu, int cpu, int num)
{
	struct perf_event_attr attr = event_attr(pmu, "llc_misses.all");
	int i, fd;

	for (i = 0; i < num; i++) {
		fd = perf_open(&attr, cpu, -1);
		if (fd < 0)
			break;
		open_events[num_open_events++] = fd;
	}
	return i;
}

static void limited(void)
{
	struct perf_event_attr attr;
	int fd, other, last = -1, num, err;

	start("");
	user_begin(-1);
	attr = event_attr("xeon7500_cbox_0", "llc_misses.all");
	check_fills("xeon7500_cbox_0", package_cpu(0), "the first", &last);
	/* Any CPU of the package is the same package. */
	fd = user_opens(attr, 1);
	ktap_check(fd == -EMFILE, "on the package's other CPU: %d", fd);
	/* Another box and another package have room. */
	check_fills("xeon7500_cbox_1", package_cpu(0), "another box", &other);
	check_fills("xeon7500_cbox_0", package_cpu(1), "another package", &other);
	/* Closing makes room for one. */
	user_file(CLOSE, last);
	fd = user_opens(attr, package_cpu(0));
	ktap_check(fd >= 0, "after closing: %d", fd);
	fd = user_opens(attr, package_cpu(0));
	ktap_check(fd == -EMFILE, "and one more: %d", fd);
	/* root is kept out neither by them nor by a limit of its own. */
	num = root_opens("xeon7500_cbox_0", package_cpu(0), 100);
	ktap_check(num == 100, "root: %d events", num);
	/* The end of the process makes room, less what root has. */
	user_begin(-1);
	num = user_fills("xeon7500_cbox_0", package_cpu(0), &err, &last);
	ktap_check(num == MOST - 100 && err == -EMFILE, "beside root's 100: %d events, then %d", num,
		   err);
	user_begin(CAP_PERFMON_NR);
	fd = user_opens(attr, package_cpu(0));
	ktap_check(fd >= 0, "with CAP_PERFMON: %d", fd);
	user_begin(-1);
	check_fills(PACKAGE, package_cpu(0), "what no box counts", &last);
}

/* ---- held back: time in which nothing ran ---- */

/* root's, or that of a user without privileges. */
struct holder {
	bool is_user;
	int fd;
};

static struct holder holder_open(bool is_user, struct perf_event_attr attr, int cpu)
{
	struct holder h = { .is_user = is_user };

	if (is_user) {
		user_begin(-1);
		h.fd = user_opens(attr, cpu);
		ktap_require(h.fd >= 0, "a user may not, with " HOLD ": %s", strerror(-h.fd));
	} else {
		h.fd = event_open_attr(&attr, cpu, -1);
	}
	return h;
}

static void holder_enable(const struct holder *h)
{
	if (h->is_user)
		user_file(ENABLE, h->fd);
	else
		perf_enable(h->fd);
}

static void holder_disable(const struct holder *h)
{
	if (h->is_user)
		user_file(DISABLE, h->fd);
	else
		perf_disable(h->fd);
}

static int fds[COUNTED], other_fds[COUNTED];

static void open_counted(int package, int *fd)
{
	int i;

	for (i = 0; i < COUNTED; i++)
		fd[i] = event_open(counted[i].pmu, counted[i].event, package_cpu(package), -1);
}

static void enable_counted(const int *fd)
{
	int i;

	for (i = 0; i < COUNTED; i++)
		perf_enable(fd[i]);
}

static void disable_counted(const int *fd)
{
	int i;

	for (i = 0; i < COUNTED; i++)
		perf_disable(fd[i]);
}

static void check_counts(const char *when, const int *fd, int package)
{
	int i;

	for (i = 0; i < COUNTED; i++) {
		u64 truth = box_truth(package_cpu(package), SYN_EVENTS, counted[i].pmu);

		ktap_check(perf_count(fd[i]).value == truth, "%s: %s: %llu, truth %llu", when,
			   counted[i].pmu, perf_count(fd[i]).value, truth);
	}
}

/* A gate that is closed all the time, of either. */
static void held_all_the_time(bool is_user)
{
	struct perf_count c;
	int i;

	start(HOLD);
	holder_open(is_user, gate_attr(), package_cpu(0));
	open_counted(0, fds);
	open_counted(1, other_fds);
	enable_counted(fds);
	enable_counted(other_fds);
	sleep_us(10000);
	/* While it goes on, and when it is over. */
	for (i = 0; i < COUNTED; i++) {
		c = perf_count(fds[i]);
		ktap_check(!c.value && c.enabled >= 10000000, "%s: %llu in %llu ns", counted[i].pmu,
			   c.value, c.enabled);
		check_running("held, read while it counts", counted[i].pmu, c, 0, 2);
		check_free("on the other package", counted[i].pmu, perf_count(other_fds[i]));
	}
	disable_counted(fds);
	disable_counted(other_fds);
	for (i = 0; i < COUNTED; i++) {
		c = perf_count(fds[i]);
		ktap_check(!c.value, "%s: %llu", counted[i].pmu, c.value);
		check_running("held", counted[i].pmu, c, 0, 2);
		check_free("on the other package", counted[i].pmu, perf_count(other_fds[i]));
	}
	check_counts("the other package", other_fds, 1);
}

KTAP_CALL(held_by_root, held_all_the_time(false))
KTAP_CALL(held_by_a_user, held_all_the_time(true))

/* How long the silicon has let the clock run, of package 0. */
static u64 open_ns(void)
{
	return ns_of(silicon_truth(package_cpu(0), SYN_ENABLED, W_FIXED_CTR));
}

/* It comes and goes while they count. */
static void held_in_the_middle(void)
{
	struct perf_count a[COUNTED], b, c;
	int i;

	start(HOLD);
	open_counted(0, fds);
	enable_counted(fds);
	sleep_us(5000);
	for (i = 0; i < COUNTED; i++) {
		a[i] = perf_count(fds[i]);
		check_free("before the gate", counted[i].pmu, a[i]);
	}
	holder_open(true, gate_attr(), package_cpu(0));
	for (i = 0; i < COUNTED; i++)
		a[i] = perf_count(fds[i]);
	sleep_us(20000);
	for (i = 0; i < COUNTED; i++) {
		b = perf_count(fds[i]);
		/* perf's clock and the driver's differ by some ns. */
		ktap_check(b.enabled - a[i].enabled >= 20000000 &&
			   llabs((long long)(b.running - a[i].running)) < 1000,
			   "%s ran for %llu of %llu ns behind the gate", counted[i].pmu,
			   b.running - a[i].running, b.enabled - a[i].enabled);
	}
	/* It dies with its gate: from here on nothing is held back. */
	user_end();
	for (i = 0; i < COUNTED; i++)
		a[i] = perf_count(fds[i]);
	sleep_us(5000);
	for (i = 0; i < COUNTED; i++) {
		b = perf_count(fds[i]);
		ktap_check(b.enabled - a[i].enabled == b.running - a[i].running,
			   "%s ran for %llu of %llu ns without a gate", counted[i].pmu,
			   b.running - a[i].running, b.enabled - a[i].enabled);
	}
	disable_counted(fds);
	for (i = 0; i < COUNTED; i++) {
		c = perf_count(fds[i]);
		check_running("with a gate for 20 of 30 ms", counted[i].pmu, c, open_ns(), 3);
	}
	check_clock("with a gate for 20 of 30 ms", perf_count(fds[0]));
	check_counts("with a gate for 20 of 30 ms", fds, 0);
}

static void toggle(const struct holder *gate, int times)
{
	int i;

	for (i = 0; i < times; i++) {
		holder_enable(gate);
		sleep_us(1000);
		holder_disable(gate);
		sleep_us(1000);
	}
}

static void toggled(bool is_user)
{
	const char *when = is_user ? "a user's gate" : "root's gate";
	struct holder gate;
	int i;

	start(HOLD);
	gate = holder_open(is_user, gate_attr(), package_cpu(0));
	open_counted(0, fds);
	enable_counted(fds);
	toggle(&gate, 20);
	disable_counted(fds);
	ktap_note("%s: open for %llu of %llu ns", when, open_ns(), perf_count(fds[0]).enabled);
	for (i = 0; i < COUNTED; i++)
		check_running(when, counted[i].pmu, perf_count(fds[i]), open_ns(), 3);
	check_clock(when, perf_count(fds[0]));
	check_counts(when, fds, 0);
}

KTAP_CALL(toggled_by_root, toggled(false))
KTAP_CALL(toggled_by_a_user, toggled(true))

/* ---- read in other ways ---- */

static void on_another_cpu(void)
{
	struct perf_count c;
	struct holder gate;
	int i, reader;

	start(HOLD);
	gate = holder_open(true, gate_attr(), package_cpu(0));
	open_counted(0, fds);
	enable_counted(fds);
	toggle(&gate, 10);
	/* CPU 1 is of this package, 2 of the other one. */
	for (reader = 1; reader < 3; reader++) {
		run_on(reader);
		for (i = 0; i < COUNTED; i++) {
			c = perf_count(fds[i]);
			check_running(reader == 1 ? "read on CPU 1" : "read on CPU 2",
				      counted[i].pmu, c, open_ns(), 3);
		}
		check_clock("read on another CPU", perf_count(fds[0]));
	}
	run_on(-1);
	/* Closed, running time stands still, wherever it is read. */
	c = perf_count(fds[0]);
	run_on(1);
	sleep_us(2000);
	/* perf's clock and the driver's differ by some ns. */
	ktap_check(llabs((long long)(perf_count(fds[0]).running - c.running)) < 1000 &&
		   perf_count(fds[0]).enabled > c.enabled,
		   "behind a closed gate it ran for %llu ns",
		   perf_count(fds[0]).running - c.running);
	run_on(-1);
	disable_counted(fds);
	check_clock("at the end", perf_count(fds[0]));
	check_counts("at the end", fds, 0);
}

static void as_a_group(void)
{
	static const char * const events[3] = { "llc_misses.all", "llc_hits.all", "trans_irq" };
	struct {
		u64 num, enabled, running, value[3];
	} now = {};
	u64 sum = 0, windows;
	struct perf_event_attr attr;
	struct holder gate;
	int cpu, fd[3], i;

	start(HOLD);
	cpu = package_cpu(0);
	silicon_traffic(cpu, SYN_SEL(SYN_BOX_C, 2, SYN_ANY_CODE, SYN_ANY), SYN_PATTERN(0, 0, 1, 1));
	gate = holder_open(true, gate_attr(), cpu);
	for (i = 0; i < 3; i++) {
		attr = event_attr("xeon7500_cbox_2", events[i]);
		attr.disabled = !i;
		attr.read_format |= PERF_FORMAT_GROUP;
		fd[i] = event_open_attr(&attr, cpu, i ? fd[0] : -1);
	}
	perf_enable(fd[0]);
	toggle(&gate, 10);
	for (i = 0; i < 3; i++) {
		if (i == 1)
			run_on(1);
		if (i == 2)
			perf_disable(fd[0]);
		ktap_require(read(fd[0], &now, sizeof(now)) == sizeof(now), "read: %s",
			     strerror(errno));
		ktap_check(now.num == 3 && now.value[0] && now.value[0] == now.value[1] &&
			   now.value[0] == now.value[2],
			   "%llu, %llu, %llu", now.value[0], now.value[1], now.value[2]);
		/* One count for each cycle. */
		ktap_check(now.running < now.enabled &&
			   within(cycles_of(now.running), now.value[0], now.value[0] / 50),
			   "read %d: %llu in %llu of %llu ns, in which there were %llu cycles", i,
			   now.value[0], now.running, now.enabled, cycles_of(now.running));
	}
	run_on(-1);
	windows = box_truth(cpu, SYN_WINDOWS, "xeon7500_cbox_2");
	sum = box_truth(cpu, SYN_EVENTS, "xeon7500_cbox_2");
	ktap_check(now.value[0] + now.value[1] + now.value[2] == sum && windows,
		   "%llu in all, truth %llu", now.value[0] + now.value[1] + now.value[2], sum);
	msr_write(cpu, SYN_TRAFFIC_RESET, 1);
}

/* Enabled behind the open gate and the closed one, and away in between. */
static void disabled_in_the_middle(void)
{
	u64 ran, enabled;
	struct perf_count c;
	struct holder gate;
	int cpu, fd, i;

	start(HOLD);
	cpu = package_cpu(0);
	gate = holder_open(true, gate_attr(), cpu);
	fd = event_open(CLOCK, cpu, -1);
	for (i = 0; i < 5; i++) {
		/* Closed, open, closed. */
		perf_enable(fd);
		sleep_us(1000);
		holder_enable(&gate);
		sleep_us(1000);
		holder_disable(&gate);
		sleep_us(1000);
		perf_disable(fd);
		/* What happens to the gate now is no concern of it. */
		c = perf_count(fd);
		sleep_us(500);
		holder_enable(&gate);
		sleep_us(700);
		ktap_check(perf_count(fd).running == c.running && perf_count(fd).value == c.value,
			   "disabled, it ran for %llu ns", perf_count(fd).running - c.running);
		/* Open: all of its time. */
		perf_run_us(fd, 1000);
		ran = perf_count(fd).running - c.running;
		enabled = perf_count(fd).enabled - c.enabled;
		ktap_check(ran == enabled && ran >= 1000000,
			   "gate open: it ran for %llu of %llu ns", ran, enabled);
		holder_disable(&gate);
	}
	c = perf_count(fd);
	check_running("on and off", "xeon7500_wbox", c, open_ns(), 3);
	check_clock("on and off", c);
	ktap_check(c.value == box_truth(cpu, SYN_EVENTS, "xeon7500_wbox"), "%llu, truth %llu",
		   c.value, box_truth(cpu, SYN_EVENTS, "xeon7500_wbox"));
}

#define TURNS	14

static const char * const turns[TURNS] = {
	"trans_irq", "trans_ipq", "trans_viq", "trans_maf", "trans_rwrf", "trans_rspf", "maf_ack",
	"occupancy_irq", "occupancy_ipq", "occupancy_viq", "occupancy_maf", "occupancy_rwrf",
	"occupancy_rspf", "sinks_s2p_bl",
};

/*
 * More events than counters on one box: there what ran less did so for two reasons. The
 * event beside knows one of them alone. Each of all has one count for each cycle.
 */
static void multiplexed(void)
{
	u64 windows, slack, sum = 0;
	struct perf_count c;
	struct holder gate;
	int cpu, fd[TURNS], beside, i;

	start(HOLD);
	cpu = package_cpu(0);
	hurry("xeon7500_cbox_2");
	silicon_traffic(cpu, SYN_SEL(SYN_BOX_C, 2, SYN_ANY_CODE, SYN_ANY), SYN_PATTERN(0, 0, 1, 1));
	gate = holder_open(true, gate_attr(), cpu);
	beside = event_open(CLOCK, cpu, -1);
	perf_enable(beside);
	for (i = 0; i < TURNS; i++) {
		fd[i] = event_open("xeon7500_cbox_2", turns[i], cpu, -1);
		perf_enable(fd[i]);
	}
	/* Not in step with the turns. */
	for (i = 0; i < 40; i++) {
		holder_enable(&gate);
		sleep_us(1700 + 37 * i);
		holder_disable(&gate);
		sleep_us(2300 - 41 * i);
	}
	for (i = 0; i < TURNS; i++)
		perf_disable(fd[i]);
	perf_disable(beside);
	windows = box_truth(cpu, SYN_WINDOWS, "xeon7500_cbox_2");
	/* The clocks are read some instructions apart, once for each turn. */
	slack = cycles_of(4000) * windows / TURNS;
	for (i = 0; i < TURNS; i++) {
		c = perf_count(fd[i]);
		sum += c.value;
		ktap_check(c.value && c.running < c.enabled &&
			   within(cycles_of(c.running), c.value, c.value / 50 + slack),
			   "%s: %llu in %llu of %llu ns, in which there were %llu cycles", turns[i],
			   c.value, c.running, c.enabled, cycles_of(c.running));
	}
	ktap_check(sum == box_truth(cpu, SYN_EVENTS, "xeon7500_cbox_2") && windows > 2 * TURNS,
		   "%llu, truth %llu, %llu windows", sum,
		   box_truth(cpu, SYN_EVENTS, "xeon7500_cbox_2"), windows);
	c = perf_count(beside);
	check_running("beside", "xeon7500_wbox", c, open_ns(), 3);
	check_clock("beside", c);
	ktap_check(c.value == box_truth(cpu, SYN_EVENTS, "xeon7500_wbox"), "%llu, truth %llu",
		   c.value, box_truth(cpu, SYN_EVENTS, "xeon7500_wbox"));
	msr_write(cpu, SYN_TRAFFIC_RESET, 1);
}

/* perf enables what it moves, so that the gate is open then (see gate.c). */
static void hotplug(void)
{
	struct holder gate;
	u64 ran;
	int i;

	start(HOLD);
	gate = holder_open(true, gate_attr(), package_cpu(1));
	open_counted(1, fds);
	enable_counted(fds);
	toggle(&gate, 10);
	set_online(package_cpu(1), false);
	sleep_us(1000);
	holder_disable(&gate);
	sleep_us(1000);
	toggle(&gate, 10);
	disable_counted(fds);
	ran = ns_of(silicon_truth(package_cpu(1), SYN_ENABLED, W_FIXED_CTR));
	for (i = 0; i < COUNTED; i++)
		check_running("after the move", counted[i].pmu, perf_count(fds[i]), ran, 3);
	check_counts("after the move", fds, 1);
}

/* Without a gate what only counts goes on while the package changes its CPU, or is not running. */
static void moved(void)
{
	u64 cycles, windows;
	struct perf_count c;
	int cpu, i;

	start("");
	open_counted(1, fds);
	enable_counted(fds);
	for (i = 0; i < 4; i++) {
		cpu = package_cpu(1);
		set_online(cpu, false);
		set_online(cpu, true);
	}
	disable_counted(fds);
	check_counts("moved", fds, 1);
	c = perf_count(fds[0]);
	cycles = cycles_of(c.running);
	windows = silicon_truth(package_cpu(1), SYN_WINDOWS, W_FIXED_CTR);
	ktap_note("%llu in %llu windows, in %llu ns there were %llu cycles", c.value, windows,
		  c.running, cycles);
	/* The clocks are read some instructions apart. */
	ktap_check(c.value && within(cycles, c.value, cycles_of(8000) * windows),
		   "%llu, in the time it ran there were %llu", c.value, cycles);
}

/* ---- frozen ---- */

/* One event that freezes the package as often as it can, of root or of a user. */
static void frozen_by(bool is_user, const char *event, u64 period)
{
	struct perf_event_attr attr;
	struct perf_count c, others[COUNTED];
	struct holder freezer;
	u64 scaled, wanted;
	int cpu, i;

	start(HOLD);
	sampling_limit(1000000);
	cpu = package_cpu(0);
	attr = event_attr("xeon7500_cbox_0", event);
	attr.sample_period = period;
	freezer = holder_open(is_user, attr, cpu);
	open_counted(0, fds);
	enable_counted(fds);
	holder_enable(&freezer);
	sleep_us(50000);
	holder_disable(&freezer);
	disable_counted(fds);
	c = perf_count(fds[0]);
	scaled = (unsigned __int128)c.value * c.enabled / (c.running ?: 1);
	wanted = cycles_of(c.enabled);
	ktap_note("period %llu: %llu freezes, ran for %llu of %llu ns, %llu cycles, scaled %llu of %llu",
		  period, msr_read(cpu, SYN_FREEZES), c.running, c.enabled, c.value, scaled,
		  wanted);
	ktap_check(msr_read(cpu, SYN_FREEZES) > 100, "%llu freezes", msr_read(cpu, SYN_FREEZES));
	ktap_check(c.running <= c.enabled);
	check_counts("frozen", fds, 0);
	/*
	 * The driver learns of a freeze with the PMI, and takes it to be as late as the fastest one
	 * of its self-test.
	 */
	ktap_skip_on_debug_kernel();
	ktap_check(within(scaled, wanted, wanted / 20),
		   "scaled %llu cycles, there were %llu; ran for %llu of %llu ns", scaled, wanted,
		   c.running, c.enabled);
	/* All of the package had the same. */
	for (i = 0; i < COUNTED; i++) {
		others[i] = perf_count(fds[i]);
		check_running("frozen", counted[i].pmu, others[i], open_ns(), 5);
	}
}

/* The smallest period that there is. */
KTAP_CALL(frozen_by_root, frozen_by(false, "occupancy_irq,freeze=1", 3))
KTAP_CALL(frozen_by_a_user, frozen_by(true, "occupancy_irq,freeze=1", 3))

/* So long that the package runs for most of the time. */
KTAP_CALL(frozen_seldom, frozen_by(true, "occupancy_irq,freeze=1", 200003))

/* ---- nothing held back ---- */

static void free_ones(void)
{
	struct perf_event_attr attr;
	struct holder gate;
	int cpu, round, i, sampling;

	start("");
	cpu = package_cpu(0);
	for (round = 0; round < 3; round++) {
		silicon_start();
		if (round == 1) {
			/* A gate that is open when they begin, and as they end. */
			gate = holder_open(false, gate_attr(), cpu);
			holder_enable(&gate);
		}
		if (round == 2) {
			/* Sampling without freeze holds nothing back but its own counter. */
			attr = event_attr("xeon7500_cbox_0", "occupancy_irq");
			attr.sample_period = 100003;
			sampling = event_open_attr(&attr, cpu, -1);
			perf_enable(sampling);
		}
		open_counted(0, fds);
		enable_counted(fds);
		for (i = 0; i < COUNTED; i++)
			check_free("at once", counted[i].pmu, perf_count(fds[i]));
		sleep_us(5000);
		run_on(1);
		for (i = 0; i < COUNTED; i++)
			check_free("on another CPU", counted[i].pmu, perf_count(fds[i]));
		run_on(-1);
		disable_counted(fds);
		enable_counted(fds);
		sleep_us(1000);
		disable_counted(fds);
		for (i = 0; i < COUNTED; i++)
			check_free("at the end", counted[i].pmu, perf_count(fds[i]));
		check_clock("free", perf_count(fds[0]));
	}
}

SILICON_MAIN({ "a gate and freeze need CAP_PERFMON", refused },
	     { "all else does not", not_refused },
	     { "what is refused holds nothing back", refused_holds_nothing },
	     { "root, CAP_PERFMON and " HOLD " may", allowed },
	     { "256 events of a box for who has no CAP_PERFMON", limited },
	     { "a gate of root is closed: nothing runs", held_by_root },
	     { "a gate of a user is closed: nothing runs", held_by_a_user },
	     { "a gate comes and goes", held_in_the_middle },
	     { "a gate of root is open half of the time", toggled_by_root },
	     { "a gate of a user is open half of the time", toggled_by_a_user },
	     { "read on another CPU", on_another_cpu },
	     { "read as a group", as_a_group },
	     { "disabled in the middle", disabled_in_the_middle },
	     { "a multiplexed event beside a gate knows its own share", multiplexed },
	     { "held back while the package changes its CPU", hotplug },
	     { "what nobody holds back while the package changes its CPU", moved },
	     { "freezes by root show in the running time of others", frozen_by_root },
	     { "frozen by a user", frozen_by_a_user },
	     { "frozen for a part of the time", frozen_seldom },
	     { "what nobody holds back runs all of its time", free_ones })
