// SPDX-License-Identifier: GPL-2.0-only
/*
 * PART: adversaries
 * VM: --machine goldmont
 * SOAK: 6.1 6.12 newest debug-rt debug-kcsan
 * SKIP: debug
 *
 * Loading and unloading while others use the PMU.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>

#include "kmsg.h"
#include "sample.h"

static void *image;
static unsigned long image_size;

static void read_image(void)
{
	struct utsname uts;
	struct stat st;
	char path[256];
	int fd;

	uname(&uts);
	snprintf(path, sizeof(path), "/lib/modules/%s/updates/intel_core_ext.ko", uts.release);
	fd = open(path, O_RDONLY);
	ktap_require(fd >= 0 && !fstat(fd, &st), "%s: %s", path, strerror(errno));
	image = malloc(st.st_size);
	image_size = read(fd, image, st.st_size);
	ktap_require(image_size == (unsigned long)st.st_size);
	close(fd);
}

static int load(const char *parameters)
{
	return syscall(SYS_init_module, image, image_size, parameters) ? -errno : 0;
}

static int unload(void)
{
	return syscall(SYS_delete_module, "intel_core_ext", O_NONBLOCK) ? -errno : 0;
}

/* ---- who uses the PMU meanwhile ---- */

/* What a process that never ends by itself says of what it does, in memory shared with us. */
struct busy {
	const char *name;
	pid_t pid;
	volatile unsigned long rounds;
	volatile unsigned long stumbled;
	volatile bool broken;		/* something failed: the rest says what */
	volatile u64 config;
	volatile int error;
};

#define NUM_BUSY	4

static struct busy *busy;

/*
 * Events of all sorts, opened and closed for ever. All can be opened, but for the offcore
 * selection that counts nothing, which is refused while the rules are enforced.
 */
static void busy_opening(struct busy *b, bool data_src)
{
	static const struct { u64 config, config1; int precise; } events[] = {
		{ 0x81d0, 0, 3 }, { 0x82d0, 0, 2 }, { 0x01b7, 0x18000, 0 },
		{ 0x02b7, 0x10001, 0 }, { 0x01b7, 0, 0 }, { 0x003c, 0, 0 }, { 0x02d1, 0, 1 },
	};
	unsigned int i;

	for (i = 0; ; i++) {
		typeof(events[0]) *e = &events[i % ARRAY_SIZE(events)];
		struct perf_event_attr attr = core_attr(e->config, e->config1, e->precise);
		bool nothing = e->config == 0x01b7 && !e->config1;
		int fd;

		if (data_src)
			attr.sample_type |= PERF_SAMPLE_DATA_SRC;
		attr.disabled = 0;
		attr.inherit = i & 1;
		fd = open_task(&attr, -1);
		if (fd >= 0) {
			close(fd);
		} else if (!nothing || fd != -EINVAL) {
			b->config = e->config;
			b->error = -fd;
			b->broken = true;
			return;
		}
		b->rounds++;
		/* A task that is put off with such an event open keeps the module. */
		if (data_src && i % 8 == 0)
			usleep(2000);
	}
}

/*
 * A command, again and again until it fails. One thing it may stumble over: perf reads what
 * is in sysfs when it starts, and gives up when a file that it has opened goes before it is
 * read.
 */
static void busy_command(struct busy *b, const char *command)
{
	char line[256], excuse[128];
	int status;

	snprintf(line, sizeof(line), "%s >'/tmp/%s' 2>&1", command, b->name);
	snprintf(excuse, sizeof(excuse), "grep -q 'input in flex scanner failed' '/tmp/%s'",
		 b->name);
	for (;;) {
		status = shell(line);
		if (!status)
			b->rounds++;
		else if (!shell(excuse))
			b->stumbled++;
		else
			break;
	}
	b->error = status;
	b->broken = true;
}

/* Software events of a user without privileges, opened and closed for ever */
static void busy_software(struct busy *b)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CONTEXT_SWITCHES,
		.exclude_kernel = 1,
	};
	int fd = setuid(65534) ? -errno : 0;

	while (fd >= 0) {
		fd = open_task(&attr, -1);
		close(fd);
		b->rounds++;
	}
	b->error = -fd;
	b->broken = true;
}

/* What a process does all the time beside us */
enum work { OPEN, OPEN_DATA_SRC, RECORD, STAT, SOFTWARE, HOTPLUG };

/*
 * A period, since perf asks for the highest frequency some time before it opens its events, and a
 * slow handler makes the kernel lower that meanwhile.
 */
static const struct {
	const char *name;
	const char *command;
} works[] = {
	[OPEN] = { "opening", NULL },
	[OPEN_DATA_SRC] = { "opening with a data source", NULL },
	[RECORD] = { "perf record", "perf record -c 1000003 -o /dev/null -q -a -d "
				    "-e cycles:pp,instructions sleep 0.1" },
	[STAT] = { "perf stat", "perf stat -a -e instructions,cycles,branches sleep 0.1" },
	[SOFTWARE] = { "software events", NULL },
	[HOTPLUG] = { "hotplug", "echo 0 >/sys/devices/system/cpu/cpu1/online && "
				 "echo 1 >/sys/devices/system/cpu/cpu1/online" },
};

static void start_busy(struct busy *b, enum work work)
{
	pid_t pid;

	*b = (struct busy){ .name = works[work].name };
	pid = fork();
	ktap_require(pid >= 0, "fork: %s", strerror(errno));
	if (pid) {
		b->pid = pid;
		return;
	}
	/* The commands it starts go with it. */
	setsid();
	if (works[work].command)
		busy_command(b, works[work].command);
	else if (work == SOFTWARE)
		busy_software(b);
	else if (!setjmp(ktap_end))
		busy_opening(b, work == OPEN_DATA_SRC);
	_exit(1);
}

/* All of them still at work, and each has come around? */
static bool all_busy(bool *came_around)
{
	int i;

	*came_around = true;
	for (i = 0; i < NUM_BUSY; i++) {
		if (!ktap_check(!busy[i].broken && !waitpid(busy[i].pid, NULL, WNOHANG),
				"%s ended after %lu rounds: config %#llx, error or status %d",
				busy[i].name, busy[i].rounds, busy[i].config, busy[i].error))
			return false;
		*came_around &= busy[i].rounds > 0;
	}
	return true;
}

static void stop(struct busy *b)
{
	kill(-b->pid, SIGKILL);
	kill(b->pid, SIGKILL);
	waitpid(b->pid, NULL, 0);
}

/* As often as said, and until each of the others has come around. */
static void load_often(const char *const *parameters, int num, int times, const enum work *work)
{
	const struct timespec ms = { .tv_nsec = 1000000 };
	int i, tries = 0, last = 0, slow = 0;
	double start, took, longest = 0;
	bool came_around = false;

	ext_unload();
	read_image();
	perf_unnamed();
	busy = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ktap_require(busy != MAP_FAILED, "mmap: %s", strerror(errno));
	for (i = 0; i < NUM_BUSY; i++)
		start_busy(&busy[i], work[i]);
	/* Whoever is busy waits for us, not we for them. */
	ktap_require(!setpriority(PRIO_PROCESS, 0, -20), "setpriority: %s", strerror(errno));
	for (i = 0; !last && (i < times || !came_around); i++) {
		last = load(parameters[i % num]);
		if (last)
			break;
		/* An event that samples through us keeps us here. */
		for (;;) {
			start = seconds();
			last = unload();
			took = seconds() - start;
			longest = took > longest ? took : longest;
			slow += took > 1;
			if (last != -EAGAIN || ++tries > 100000)
				break;
			nanosleep(&ms, NULL);
		}
		if (!all_busy(&came_around)) {
			shell("cat '/tmp/perf record' '/tmp/perf stat' /tmp/hotplug");
			break;
		}
	}
	ktap_note("%d times, the longest unload %.0f ms, %d longer than 1 s, %d had to wait", i,
		  1000 * longest, slow, tries);
	ktap_note("rounds of the others %lu, %lu, %lu, %lu, perf stumbled %lu times",
		  busy[0].rounds, busy[1].rounds, busy[2].rounds, busy[3].rounds,
		  busy[2].stumbled + busy[3].stumbled);
	setpriority(PRIO_PROCESS, 0, 0);
	for (i = 0; i < NUM_BUSY; i++)
		stop(&busy[i]);
	munmap(busy, 4096);
	shell("echo 1 >/sys/devices/system/cpu/cpu1/online");
	ktap_check(!last, "load or unload: %s", strerror(-last));
	ktap_check(!shell("perf stat -a -e instructions:u true 2>/dev/null"));
	free(image);
	unload();
}

static void load_plain(void)
{
	static const char *const parameters[] = { "", "enforce=1", "ds_guard=1" };
	static const enum work work[NUM_BUSY] = { OPEN, OPEN, RECORD, STAT };

	load_often(parameters, 3, soak() ? 300 : 30, work);
}

static void load_data_src(void)
{
	static const char *const parameters[] = { "data_src=1", "enforce=1 data_src=1" };
	static const enum work work[NUM_BUSY] = { OPEN_DATA_SRC, OPEN_DATA_SRC, RECORD, STAT };

	load_often(parameters, 2, soak() ? 100 : 10, work);
}

/* What any user can do beside us, and CPUs that come and go */
static void load_software(void)
{
	static const char *const parameters[] = { "enforce=1", "enforce=1 ds_guard=1" };
	static const enum work work[NUM_BUSY] = { SOFTWARE, SOFTWARE, OPEN, HOTPLUG };

	load_often(parameters, 2, soak() ? 300 : 20, work);
}

/* Nothing of ours is in an event that was only checked: it counts on, to the last one. */
static void unload_with_event_open(void)
{
	struct perf_event_attr attr = core_attr(0x00c0, 0, 0);
	u64 truth, count;
	volatile int i;
	int fd;

	ext_load("enforce=1");
	fd = open_task(&attr, -1);
	ktap_require(fd >= 0, "%s", strerror(-fd));
	truth = core_truth(0, SYN_CORE_EVENTS) + core_truth(1, SYN_CORE_EVENTS);
	perf_enable(fd);
	ext_unload();
	for (i = 0; i < 100000; i++)
		;
	perf_disable(fd);
	truth = core_truth(0, SYN_CORE_EVENTS) + core_truth(1, SYN_CORE_EVENTS) - truth;
	count = perf_count(fd).value;
	ktap_check(count > 100000 && count == truth, "%llu, truth %llu", count, truth);
	close(fd);
}

static void data_src_keeps_module(void)
{
	struct perf_event_attr attr = core_attr(0x81d0, 0, 2);
	int fd, child;

	ext_load("data_src=1");
	attr.sample_type |= PERF_SAMPLE_DATA_SRC;
	attr.disabled = 0;
	attr.inherit = 1;
	fd = open_task(&attr, -1);
	ktap_require(fd >= 0, "%s", strerror(-fd));
	ktap_check(unload() == -EAGAIN);
	/* An inherited event goes with its task. */
	child = fork();
	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
	ktap_check(unload() == -EAGAIN);
	close(fd);
	ktap_check(!unload());
}

/* How many names in a directory of the core PMU contain this? There are others. */
static int names_with(const char *dir, const char *what)
{
	char path[128];
	struct dirent *d;
	int num = 0, all = 0;
	struct stat st;
	DIR *list;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/cpu/%s", dir);
	list = opendir(path);
	ktap_require(list, "%s: %s", path, strerror(errno));
	while ((d = readdir(list))) {
		all++;
		if (!strstr(d->d_name, what))
			continue;
		num++;
		ktap_check(!fstatat(dirfd(list), d->d_name, &st, 0) && (st.st_mode & 07777) == 0444,
			   "%s: mode %o", d->d_name, st.st_mode);
	}
	closedir(list);
	ktap_check(all > 4, "%s: %d names", path, all);
	return num;
}

static void nothing_left_behind(void)
{
	ext_load("");
	ktap_check(names_with("format", "ocr_") && names_with("events", "offcore") &&
		   names_with("events", "mem"));
	ext_unload();
	ktap_check(!names_with("format", "ocr_") && !names_with("events", "offcore") &&
		   !names_with("events", "mem"));
}

/* PDIR is Sandy Bridge's. */
static void in_effect(void)
{
	kmsg_mark();
	ext_load("");
	ktap_check(!ext_effect("enforce") && !ext_effect("data_src") && !ext_effect("ds_guard") &&
		   ext_number("ds_repairs") == -1 && ext_number("pdir_disturbed") == -1);
	ext_load("enforce=1 data_src=1 ds_guard=1");
	ktap_check(ext_effect("enforce") && ext_effect("data_src") && ext_effect("ds_guard") &&
		   !ext_number("ds_repairs") && ext_number("pdir_disturbed") == -1);
	ktap_check(!kmsg_count("has no effect"));
}

/* An event whose samples have nothing to be added or cleared goes without the module. */
static void no_source_no_module(void)
{
	static const struct { u64 config, type; } events[] = {
		{ 0x81d0, PERF_SAMPLE_IP | PERF_SAMPLE_ADDR },
		{ 0x00c4, PERF_SAMPLE_IP | PERF_SAMPLE_DATA_SRC },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(events); i++) {
		struct perf_event_attr attr = core_attr(events[i].config, 0, 2);
		int fd;

		ext_load("data_src=1");
		attr.sample_type = events[i].type;
		fd = open_task(&attr, -1);
		ktap_require(fd >= 0, "%s", strerror(-fd));
		ktap_check(!unload(), "%#llx, %#llx keeps the module", events[i].config,
			   events[i].type);
		close(fd);
	}
}

/* How many objects a cache of the kernel has: all that are free in a CPU's hands are given back. */
static long objects(const char *cache)
{
	char path[80], shrink[80];
	long n = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/kernel/slab/%s/objects", cache);
	if (access(path, R_OK))
		ktap_skip("this kernel does not tell how many objects it has");
	snprintf(shrink, sizeof(shrink), "echo 1 >/sys/kernel/slab/%s/shrink", cache);
	ktap_require(!shell(shrink), "%s", shrink);
	f = fopen(path, "r");
	ktap_require(f && fscanf(f, "%ld", &n) == 1, "%s", path);
	fclose(f);
	return n;
}

#define LEAKS	50

/* The events by which the module finds the core PMU and perf's handlers go at once. */
static void no_event_left(void)
{
	long before, now;
	int i, tries;

	ext_unload();
	read_image();
	before = objects("perf_event");
	for (i = 0; i < LEAKS; i++)
		ktap_require(!load("data_src=1") && !unload(), "load and unload");
	/* RCU frees them. */
	for (tries = 0; (now = objects("perf_event")) >= before + LEAKS && tries < 50; tries++)
		usleep(100000);
	ktap_check(now < before + LEAKS, "from %ld to %ld events", before, now);
	free(image);
}

#define OPENS	5000

/* What the module has for an event with a source has 16 bytes. */
static void no_source_left(void)
{
	struct perf_event_attr attr = core_attr(0x81d0, 0, 2);
	long before, now;
	int i, fd, tries;

	ext_load("data_src=1");
	attr.sample_type |= PERF_SAMPLE_DATA_SRC;
	before = objects("kmalloc-16");
	for (i = 0; i < OPENS; i++) {
		fd = open_task(&attr, -1);
		ktap_require(fd >= 0, "%s", strerror(-fd));
		close(fd);
	}
	for (tries = 0; (now = objects("kmalloc-16")) >= before + OPENS / 2 && tries < 50; tries++)
		usleep(100000);
	ktap_check(now < before + OPENS / 2, "from %ld to %ld", before, now);
}

CORE_MAIN("5c 5f",
	{ "parameters say what is in effect", in_effect },
	{ "an event that needs no data source does not keep the module", no_source_no_module },
	{ "no event of perf is left of a load", no_event_left },
	{ "nothing is left of events with a data source", no_source_left },
	{ "unload with an event open", unload_with_event_open },
	{ "an event with a data source keeps the module", data_src_keeps_module },
	{ "load and unload beside perf", load_plain },
	{ "the same with data sources", load_data_src },
	{ "load and unload beside software events and hotplug", load_software },
	{ "nothing is left behind", nothing_left_behind })
