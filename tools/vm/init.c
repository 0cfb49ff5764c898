// SPDX-License-Identifier: GPL-2.0-only
/*
 * init of the virtual machine: mounts what programs expect, loads the modules
 * it is told to, runs one command and reports everything through the frame
 * port (frame.h).
 *
 * The frame port is written by port I/O and not through the kernel's serial
 * driver: no interrupt and no lock of the kernel under test is involved, so the
 * reports neither disturb it nor depend on it. The device at the other side
 * takes a byte at once and never pushes back.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "frame.h"

#define MAX_ITEMS 4096

struct list {
	char *item[MAX_ITEMS + 1];
	int n;
};

static struct list modules, args, gets;
static char *tty;
static char buf[65536];

static void port_write(const void *data, size_t len)
{
	unsigned short port = FRAME_PORT;

	__asm__ volatile("cld; rep outsb" : "+S"(data), "+c"(len) : "d"(port) : "memory");
}

static void frame(enum frame type, const void *data, uint32_t len)
{
	unsigned char head[5] = { type, len, len >> 8, len >> 16, len >> 24 };

	port_write(head, sizeof(head));
	port_write(data, len);
}

static void __attribute__((noreturn)) power_off(void)
{
	frame(FRAME_DONE, NULL, 0);
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}

static void __attribute__((noreturn, format(printf, 1, 2))) fail(const char *fmt, ...)
{
	char text[1024];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	frame(FRAME_FAIL, text, n < (int)sizeof(text) ? n : (int)sizeof(text) - 1);
	power_off();
}

static void put_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0)
		fprintf(stderr, "init: %s: %s\n", path, strerror(errno));
	close(fd);
}

/* Debug kernels and stock ones differ in what they have; take what there is. */
static void mount_all(void)
{
	static const struct {
		const char *type, *where, *opt;
	} fs[] = {
		{ "proc", "/proc", NULL },
		{ "sysfs", "/sys", NULL },
		{ "devtmpfs", "/dev", NULL },
		{ "devpts", "/dev/pts", "ptmxmode=666" },
		{ "tmpfs", "/dev/shm", NULL },
		{ "debugfs", "/sys/kernel/debug", NULL },
		{ "tracefs", "/sys/kernel/tracing", NULL },
		{ "cgroup2", "/sys/fs/cgroup", NULL },
	};

	for (size_t i = 0; i < sizeof(fs) / sizeof(fs[0]); i++) {
		mkdir(fs[i].where, 0755);
		mount(fs[i].type, fs[i].where, fs[i].type, 0, fs[i].opt);
	}
	if (symlink("/proc/self/fd", "/dev/fd") || symlink("fd/0", "/dev/stdin") ||
	    symlink("fd/1", "/dev/stdout") || symlink("fd/2", "/dev/stderr"))
		fail("cannot set up /dev: %s", strerror(errno));
	chmod("/tmp", 01777);
}

/* /dev/kmsg writes everything unusual as \xNN. */
static void unescape(char *s)
{
	unsigned int c;
	char *to = s;

	while (*s) {
		if (sscanf(s, "\\x%2x", &c) == 1) {
			*to++ = c;
			s += 4;
		} else {
			*to++ = *s++;
		}
	}
	*to = 0;
}

/*
 * What the kernel said before us; the console (which was kept quiet, it is slow)
 * shows everything from now on, at once and in order.
 */
static void send_log(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	char rec[8192], line[8300];
	ssize_t n;

	klogctl(8, NULL, 8);
	while (fd >= 0 && ((n = read(fd, rec, sizeof(rec) - 1)) > 0 || errno == EPIPE)) {
		unsigned long long us;
		unsigned int level;
		char *text;
		int len;

		if (n <= 0)
			continue;
		rec[n] = 0;
		text = strchr(rec, ';');
		if (!text || sscanf(rec, "%u,%*u,%llu", &level, &us) != 2)
			continue;
		/* Lines behind the first are key=value pairs. */
		text[1 + strcspn(text + 1, "\n")] = 0;
		unescape(text + 1);
		len = snprintf(line, sizeof(line), "[%5llu.%06llu] %s\n", us / 1000000, us % 1000000,
			       text + 1);
		frame(FRAME_LOG, line, len);
	}
	if (fd >= 0)
		close(fd);
}

static void add(struct list *l, char *s)
{
	if (l->n == MAX_ITEMS)
		fail("too many arguments");
	l->item[l->n++] = s;
}

static void read_conf(void)
{
	int fd = open(CONF, O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *p, *end;

	if (fd < 0 || fstat(fd, &st))
		fail("no " CONF);
	p = malloc(st.st_size + 1);
	if (!p || read(fd, p, st.st_size) != st.st_size)
		fail("cannot read " CONF);
	close(fd);
	unlink(CONF);
	for (end = p + st.st_size; p < end;) {
		char *key = p, *val = key + strlen(key) + 1;

		p = val + strlen(val) + 1;
		if (!strcmp(key, CONF_MODULE))
			add(&modules, val);
		else if (!strcmp(key, CONF_ARG))
			add(&args, val);
		else if (!strcmp(key, CONF_GET))
			add(&gets, val);
		else if (!strcmp(key, CONF_TTY))
			tty = val;
		else if (!strcmp(key, CONF_ENV))
			putenv(val);
		else
			fail("unknown keyword %s in " CONF, key);
	}
}

static void load_modules(void)
{
	for (int i = 0; i < modules.n; i++) {
		char *file = modules.item[i], *param = strchr(file, ' ');
		int fd;

		if (param)
			*param++ = 0;
		fd = open(file, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			fail("%s: %s", file, strerror(errno));
		if (syscall(SYS_finit_module, fd, param ? param : "", 0))
			fail("cannot load %s: %s", strrchr(file, '/') + 1, strerror(errno));
		close(fd);
	}
}

static void open_tty(void)
{
	struct winsize ws = { 0 };
	int fd;

	setsid();
	fd = open("/dev/ttyS1", O_RDWR);
	if (fd < 0 || ioctl(fd, TIOCSCTTY, 0))
		_exit(127);
	if (sscanf(tty, "%hu %hu", &ws.ws_row, &ws.ws_col) == 2)
		ioctl(fd, TIOCSWINSZ, &ws);
	for (int i = 0; i < 3; i++)
		dup2(fd, i);
	if (fd > 2)
		close(fd);
}

static pid_t start(int out[2], int err[2])
{
	sigset_t none;
	pid_t pid;

	if (pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC))
		fail("pipe: %s", strerror(errno));
	pid = fork();
	if (pid < 0)
		fail("fork: %s", strerror(errno));
	if (pid) {
		close(out[1]);
		close(err[1]);
		return pid;
	}
	ioperm(FRAME_PORT, 8, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (tty) {
		open_tty();
	} else {
		int null = open("/dev/null", O_RDONLY);

		setsid();
		dup2(null, 0);
		dup2(out[1], 1);
		dup2(err[1], 2);
		if (null > 2)
			close(null);
	}
	if (chdir("/root"))
		_exit(127);
	execvp(args.item[0], args.item);
	fprintf(stderr, "%s: %s\n", args.item[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

/* Pass on what is there; false at the end of it. */
static int forward(int fd, enum frame type)
{
	ssize_t n = read(fd, buf, sizeof(buf));

	if (n > 0)
		frame(type, buf, n);
	return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

/* Until the command ends; who still holds its pipes then is not waited for. */
static int supervise(pid_t pid, int out, int err, int sig)
{
	struct pollfd p[3] = {
		{ .fd = out, .events = POLLIN },
		{ .fd = err, .events = POLLIN },
		{ .fd = sig, .events = POLLIN },
	};
	static const enum frame type[2] = { FRAME_OUT, FRAME_ERR };
	int status = -1, st, got;
	struct signalfd_siginfo si;
	pid_t w;

	for (;;) {
		got = poll(p, 3, status < 0 ? -1 : 0);
		if (got < 0 && errno != EINTR)
			fail("poll: %s", strerror(errno));
		if (got <= 0) {
			if (status >= 0)
				return status;
			continue;
		}
		got = 0;
		for (int i = 0; i < 2; i++) {
			if (!p[i].revents)
				continue;
			got = 1;
			if (!forward(p[i].fd, type[i]))
				p[i].fd = -1;
		}
		if (p[2].revents && read(sig, &si, sizeof(si)) > 0) {
			got = 1;
			while ((w = waitpid(-1, &st, WNOHANG)) > 0)
				if (w == pid)
					status = WIFSIGNALED(st) ? 128 + WTERMSIG(st) :
								   WEXITSTATUS(st);
		}
	}
}

static void send_file(const char *path)
{
	const char *why = "";
	struct stat st = { 0 };
	unsigned char mode[4];
	ssize_t n = -1;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		fstat(fd, &st);
	for (int i = 0; i < 4; i++)
		mode[i] = st.st_mode >> (8 * i);
	frame(FRAME_FILE, mode, sizeof(mode));
	if (fd >= 0)
		while ((n = read(fd, buf, sizeof(buf))) > 0)
			frame(FRAME_DATA, buf, n);
	if (n < 0)
		why = strerror(errno);
	frame(FRAME_FILE_END, why, strlen(why));
	if (fd >= 0)
		close(fd);
}

/* A debug kernel with kmemleak writes what it finds to its log. */
static void scan_for_leaks(void)
{
	const char *file = "/sys/kernel/debug/kmemleak";
	ssize_t n;
	int fd;

	if (access(file, R_OK))
		return;
	/* Young objects are not reported: the second scan comes after 5 s. */
	put_file(file, "scan");
	sleep(6);
	put_file(file, "scan");
	fd = open(file, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && (n = read(fd, buf, sizeof(buf))) > 0)
		frame(FRAME_LOG, buf, n);
	if (fd >= 0)
		close(fd);
}

int main(void)
{
	int out[2], err[2], sig;
	unsigned char status;
	sigset_t chld;
	pid_t pid;

	if (ioperm(FRAME_PORT, 8, 1)) {
		fprintf(stderr, "init: no access to the frame port: %s\n", strerror(errno));
		return 1;
	}
	port_write(FRAME_MAGIC, sizeof(FRAME_MAGIC) - 1);
	mount_all();
	send_log();
	setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 1);
	setenv("HOME", "/root", 1);
	setenv("TERM", "vt102", 0);
	sethostname("silicon", 7);
	read_conf();
	put_file("/proc/sys/kernel/perf_event_paranoid", "-1");
	put_file("/proc/sys/kernel/kptr_restrict", "0");
	load_modules();

	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, NULL);
	sig = signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK);
	pid = start(out, err);
	status = supervise(pid, out[0], err[0], sig);
	frame(FRAME_STATUS, &status, 1);
	for (int i = 0; i < gets.n; i++)
		send_file(gets.item[i]);
	scan_for_leaks();
	power_off();
}
