// SPDX-License-Identifier: GPL-2.0-only
/*
 * VM: --machine goldmont --timeout 3000
 *
 * Loading and unloading while others use the PMU.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>

#include "sample.h"

#define LOADS		1000

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

/* Events of all sorts, opened and closed for ever. */
static void __attribute__((noreturn)) busy_opening(bool data_src)
{
	static const struct { uint64_t config, config1; int precise; } events[] = {
		{ 0x81d0, 0, 3 }, { 0x82d0, 0, 2 }, { 0x01b7, 0x18000, 0 },
		{ 0x02b7, 0x10001, 0 }, { 0x01b7, 0, 0 }, { 0x003c, 0, 0 }, { 0x02d1, 0, 1 },
	};
	unsigned int i;

	for (i = 0; ; i++) {
		typeof(events[0]) *e = &events[i % (sizeof(events) / sizeof(events[0]))];
		struct perf_event_attr attr = core_attr(e->config, e->config1, e->precise);
		int fd;

		if (data_src)
			attr.sample_type |= PERF_SAMPLE_DATA_SRC;
		attr.disabled = 0;
		attr.inherit = i & 1;
		fd = open_task(&attr, -1);
		if (fd >= 0)
			close(fd);
		/* A task that is put off with such an event open keeps the module. */
		if (data_src && i % 8 == 0)
			usleep(2000);
	}
}

static pid_t start_busy(bool data_src)
{
	pid_t pid = fork();

	if (!pid)
		busy_opening(data_src);
	return pid;
}

static pid_t start_shell(const char *command)
{
	pid_t pid = fork();

	if (!pid) {
		setsid();
		execl("/bin/sh", "sh", "-c", command, NULL);
		_exit(127);
	}
	return pid;
}

static void stop(pid_t pid)
{
	kill(-pid, SIGKILL);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void load_often(const char *const *parameters, int num, int times, bool data_src)
{
	const struct timespec ms = { .tv_nsec = 1000000 };
	pid_t busy[2], record, stat;
	int i, tries = 0, last = 0;

	ext_unload();
	read_image();
	for (i = 0; i < 2; i++)
		busy[i] = start_busy(data_src);
	record = start_shell("while perf record -o /dev/null -q -a -d -e cycles:pp,instructions sleep 0.1; do :; done >/dev/null 2>&1");
	stat = start_shell("while perf stat -a -e instructions,cycles,branches sleep 0.1; do :; done >/dev/null 2>&1");
	for (i = 0; i < times && !last; i++) {
		last = load(parameters[i % num]);
		if (last)
			break;
		/* An event that samples through us keeps us here. */
		while ((last = unload()) == -EAGAIN) {
			nanosleep(&ms, NULL);
			if (++tries > 100000)
				break;
		}
	}
	stop(record);
	stop(stat);
	for (i = 0; i < 2; i++)
		stop(busy[i]);
	ktap_note("%d times, %d unloads had to wait", times, tries);
	ktap_check(!last, "load or unload: %s", strerror(-last));
	ktap_check(!shell("perf stat -a -e instructions:u true 2>/dev/null"));
	free(image);
	unload();
}

static void load_plain(void)
{
	static const char *const parameters[] = { "", "enforce=1", "ds_guard=0" };

	load_often(parameters, 3, LOADS, false);
}

static void load_data_src(void)
{
	static const char *const parameters[] = { "data_src=1", "enforce=1 data_src=1" };

	load_often(parameters, 2, LOADS / 10, true);
}

/* Nothing of ours is in an event that was only checked. */
static void unload_with_event_open(void)
{
	struct perf_event_attr attr = core_attr(0x00c0, 0, 0);
	struct perf_count before, after;
	volatile int i;
	int fd;

	ext_load("enforce=1");
	attr.disabled = 0;
	fd = open_task(&attr, -1);
	ktap_require(fd >= 0);
	before = perf_count(fd);
	ext_unload();
	for (i = 0; i < 1000000; i++)
		;
	after = perf_count(fd);
	ktap_check(after.value - before.value > 1000000);
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

static void load_twice(void)
{
	read_image();
	ext_load("");
	ktap_check(load("") == -EEXIST);
	ext_unload();
	ktap_check(!load(""));
	free(image);
}

static void nothing_left_behind(void)
{
	ext_unload();
	ktap_check(shell("ls /sys/bus/event_source/devices/cpu/format | grep -q ocr_"));
	ktap_check(shell("ls /sys/bus/event_source/devices/cpu/events | grep -q -e offcore -e mem"));
	ktap_check(shell("dmesg | grep -e 'Call Trace' -e 'BUG:'"));
}

CORE_MAIN("5c 5f",
	{ "unload with an event open", unload_with_event_open },
	{ "an event with a data source keeps the module", data_src_keeps_module },
	{ "loaded twice", load_twice },
	{ "load and unload, 1000 times beside perf", load_plain },
	{ "the same with data sources", load_data_src },
	{ "nothing is left behind", nothing_left_behind })
