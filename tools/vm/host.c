// SPDX-License-Identifier: GPL-2.0-only
/*
 * Host side of tools/vm/run: puts the initramfs together, runs QEMU, sorts what
 * comes out of it and decides how it went. tools/vm/run builds and calls this;
 * it is not for people.
 *
 *   vmhost run [OPTION...] -- QEMU ARGUMENT... -- COMMAND...
 *   vmhost pack OUT TREE...
 *   vmhost tsc
 *
 * The guest's serial ports write to memory files, which never push back: a slow
 * reader at our stdout cannot change what the guest does, and a guest that
 * counts instructions stays the same to the last one.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "frame.h"

#define QEMU_SAYS "qemu: "

enum {
	EXIT_TIMEOUT = 124,
	EXIT_MACHINE = 125,
	POLL_MS = 2,
	GRACE_MS = 3000,	/* for QEMU to write its statistics and go */
	LINES = 40,		/* of the log that are shown */
	LINES_BEFORE = 5,
};

static void __attribute__((noreturn, format(printf, 1, 2))) die(const char *fmt, ...)
{
	va_list ap;

	fputs("run: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(EXIT_MACHINE);
}

static void *need(void *p)
{
	if (!p)
		die("out of memory");
	return p;
}

static void write_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			die("write: %s", strerror(errno));
		p += n;
		len -= n;
	}
}

static int memory_file(const char *name)
{
	int fd = memfd_create(name, 0);

	if (fd < 0)
		die("memfd_create: %s", strerror(errno));
	return fd;
}

/* cpio archives in the format the kernel unpacks ("newc"). */

static void cpio_entry(FILE *f, const char *name, mode_t mode, const void *data, size_t len)
{
	static unsigned int ino;
	static const char pad[4];
	size_t nlen = strlen(name) + 1;

	/* ino, mode, uid, gid, nlink, mtime, size, 2 * dev, 2 * rdev, name, sum */
	fprintf(f, "070701%08X%08X%08X%08X%08X%08X%08zX%08X%08X%08X%08X%08zX%08X", ++ino, mode, 0,
		0, 1, 0, len, 0, 0, 0, 0, nlen, 0);
	fwrite(name, 1, nlen, f);
	fwrite(pad, 1, -(110 + nlen) & 3, f);
	fwrite(data, 1, len, f);
	fwrite(pad, 1, -len & 3, f);
}

static void cpio_end(FILE *f)
{
	cpio_entry(f, "TRAILER!!!", 0, "", 0);
	if (fflush(f) || ferror(f))
		die("cannot write an archive: %s", strerror(errno));
}

/* The directories above a file, whether or not the guest has them already. */
static void cpio_parents(FILE *f, const char *name)
{
	char *dir = need(strdup(name));

	for (char *p = strchr(dir, '/'); p; p = strchr(p + 1, '/')) {
		*p = 0;
		cpio_entry(f, dir, S_IFDIR | 0755, "", 0);
		*p = '/';
	}
	free(dir);
}

static void cpio_add(FILE *f, const char *src, const char *name);

static void cpio_tree(FILE *f, const char *src, const char *name)
{
	struct dirent **e;
	int n = scandir(src, &e, NULL, alphasort);

	if (n < 0)
		die("%s: %s", src, strerror(errno));
	for (int i = 0; i < n; i++) {
		if (strcmp(e[i]->d_name, ".") && strcmp(e[i]->d_name, "..")) {
			char *s, *d;

			if (asprintf(&s, "%s/%s", src, e[i]->d_name) < 0 ||
			    asprintf(&d, "%s%s%s", name, *name ? "/" : "", e[i]->d_name) < 0)
				die("out of memory");
			cpio_add(f, s, d);
			free(s);
			free(d);
		}
		free(e[i]);
	}
	free(e);
}

static void cpio_add(FILE *f, const char *src, const char *name)
{
	struct stat st;

	if (lstat(src, &st))
		die("%s: %s", src, strerror(errno));
	if (S_ISLNK(st.st_mode)) {
		char to[4096];
		ssize_t n = readlink(src, to, sizeof(to));

		if (n < 0)
			die("%s: %s", src, strerror(errno));
		cpio_entry(f, name, S_IFLNK | 0777, to, n);
	} else if (S_ISDIR(st.st_mode)) {
		if (*name)
			cpio_entry(f, name, S_IFDIR | (st.st_mode & 07777), "", 0);
		cpio_tree(f, src, name);
	} else if (S_ISREG(st.st_mode)) {
		int fd = open(src, O_RDONLY | O_CLOEXEC);
		char *map = "";

		if (fd < 0)
			die("%s: %s", src, strerror(errno));
		if (st.st_size) {
			map = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
			if (map == MAP_FAILED)
				die("%s: %s", src, strerror(errno));
		}
		cpio_entry(f, name, S_IFREG | (st.st_mode & 07777), map, st.st_size);
		if (st.st_size)
			munmap(map, st.st_size);
		close(fd);
	} else {
		die("%s: neither file, directory nor link", src);
	}
}

static int pack(int argc, char **argv)
{
	FILE *f;

	if (argc < 2)
		die("usage: vmhost pack OUT TREE...");
	f = fopen(argv[0], "we");
	if (!f)
		die("%s: %s", argv[0], strerror(errno));
	for (int i = 1; i < argc; i++)
		cpio_tree(f, argv[i], "");
	cpio_end(f);
	return 0;
}

/* What is asked for. */

struct job {
	char **cpio, **put, **get, **module, **env;
	int n_cpio, n_put, n_get, n_module, n_env;
	char **qemu, **command;
	const char *log_file, *keep;
	double timeout;
	bool tty;
};

static void append(char ***list, int *n, char *s)
{
	*list = need(realloc(*list, (*n + 2) * sizeof(char *)));
	(*list)[(*n)++] = s;
	(*list)[*n] = NULL;
}

static void conf_pair(FILE *f, const char *key, const char *val)
{
	fwrite(key, 1, strlen(key) + 1, f);
	fwrite(val, 1, strlen(val) + 1, f);
}

static void add_conf(FILE *archive, const struct job *job)
{
	char *text, size[32];
	struct winsize ws;
	size_t len;
	FILE *f = need(open_memstream(&text, &len));

	for (int i = 0; i < job->n_module; i++)
		conf_pair(f, CONF_MODULE, job->module[i]);
	for (int i = 0; i < job->n_env; i++)
		conf_pair(f, CONF_ENV, job->env[i]);
	for (int i = 0; i < job->n_get; i++) {
		char *guest = need(strndup(job->get[i], strchr(job->get[i], ':') - job->get[i]));

		conf_pair(f, CONF_GET, guest);
		free(guest);
	}
	for (char **a = job->command; *a; a++)
		conf_pair(f, CONF_ARG, *a);
	if (job->tty) {
		if (ioctl(0, TIOCGWINSZ, &ws) || !ws.ws_row)
			ws = (struct winsize){ .ws_row = 24, .ws_col = 80 };
		snprintf(size, sizeof(size), "%hu %hu", ws.ws_row, ws.ws_col);
		conf_pair(f, CONF_TTY, size);
	}
	fclose(f);
	cpio_entry(archive, &CONF[1], S_IFREG | 0600, text, len);
	free(text);
}

/* The kernel unpacks archives one behind the other, each at a multiple of four. */
static int make_initrd(const struct job *job)
{
	static const char pad[4];
	int fd = memory_file("initrd");
	off_t total = 0;
	FILE *f;

	for (int i = 0; i < job->n_cpio; i++) {
		int in = open(job->cpio[i], O_RDONLY | O_CLOEXEC);
		struct stat st;

		if (in < 0 || fstat(in, &st))
			die("%s: %s", job->cpio[i], strerror(errno));
		for (off_t left = st.st_size; left;) {
			ssize_t n = sendfile(fd, in, NULL, left);

			if (n <= 0)
				die("%s: %s", job->cpio[i], n ? strerror(errno) : "shorter than it was");
			left -= n;
		}
		total += st.st_size;
		write_all(fd, pad, -total & 3);
		total += -total & 3;
		close(in);
	}
	f = need(fdopen(dup(fd), "w"));
	for (int i = 0; i < job->n_put; i++) {
		char *host = need(strdup(job->put[i])), *guest = strrchr(host, ':'), *name;

		*guest++ = 0;
		guest += strspn(guest, "/");
		if (!*guest || guest[strlen(guest) - 1] == '/') {
			name = strrchr(host, '/');
			if (asprintf(&guest, "%s%s", guest, name ? name + 1 : host) < 0)
				die("out of memory");
		}
		name = realpath(host, NULL);
		if (!name)
			die("--put %s: %s", host, strerror(errno));
		cpio_parents(f, guest);
		cpio_add(f, name, guest);
		free(name);
		free(host);
	}
	add_conf(f, job);
	cpio_end(f);
	fclose(f);
	return fd;
}

/* What comes back. */

struct log {
	int mem, file;
	size_t len;
};

static void log_write(struct log *log, const void *data, size_t len)
{
	write_all(log->mem, data, len);
	log->len += len;
	if (log->file >= 0)
		write_all(log->file, data, len);
}

/* A memory file that QEMU fills. */
struct channel {
	int fd;
	off_t taken;
	unsigned char *data;	/* taken and not yet used */
	size_t len, size;
};

static bool channel_read(struct channel *c)
{
	bool any = false;
	ssize_t n;

	for (;;) {
		if (c->size - c->len < 65536) {
			c->size = c->size * 2 + 131072;
			c->data = need(realloc(c->data, c->size));
		}
		n = pread(c->fd, c->data + c->len, c->size - c->len, c->taken);
		if (n <= 0)
			break;
		/* Give the memory back. */
		fallocate(c->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, c->taken, n);
		c->taken += n;
		c->len += n;
		any = true;
	}
	return any;
}

static void channel_used(struct channel *c, size_t n)
{
	memmove(c->data, c->data + n, c->len - n);
	c->len -= n;
}

struct result {
	bool started, done, get_failed;
	int status;		/* -1: not known */
	char *fail;		/* init's last word */
	int next_get, out;
};

static void get_begin(const struct job *job, struct result *r, const unsigned char *p)
{
	const char *host;
	mode_t mode;

	if (r->next_get >= job->n_get)
		die("the guest sends a file nobody asked for");
	host = strchr(job->get[r->next_get], ':') + 1;
	mode = (p[0] | p[1] << 8) & 0777;
	r->out = open(host, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode ? mode : 0644);
	if (r->out < 0)
		die("--get %s: %s", host, strerror(errno));
}

static void get_end(const struct job *job, struct result *r, const char *why, uint32_t len)
{
	const char *arg = job->get[r->next_get++];

	close(r->out);
	r->out = -1;
	if (!len)
		return;
	fprintf(stderr, "run: --get %.*s: %.*s\n", (int)(strchr(arg, ':') - arg), arg, (int)len, why);
	unlink(strchr(arg, ':') + 1);
	r->get_failed = true;
}

static void take_frame(const struct job *job, struct log *log, struct result *r, int type,
		       const unsigned char *p, uint32_t len)
{
	switch (type) {
	case FRAME_LOG:
		log_write(log, p, len);
		break;
	case FRAME_OUT:
		write_all(1, p, len);
		break;
	case FRAME_ERR:
		write_all(2, p, len);
		break;
	case FRAME_FAIL:
		r->fail = need(strndup((const char *)p, len));
		break;
	case FRAME_STATUS:
		if (len == 1)
			r->status = *p;
		break;
	case FRAME_FILE:
		if (len == 4)
			get_begin(job, r, p);
		break;
	case FRAME_DATA:
		write_all(r->out, p, len);
		break;
	case FRAME_FILE_END:
		get_end(job, r, (const char *)p, len);
		break;
	case FRAME_DONE:
		r->done = true;
		break;
	default:
		die("the guest sends a frame of an unknown type 0x%02x", type);
	}
}

static void take_frames(const struct job *job, struct log *log, struct result *r,
			struct channel *c)
{
	static const char magic[] = FRAME_MAGIC;
	size_t at = 0;

	/* Firmware and the kernel's probing may have left something before. */
	if (!r->started) {
		unsigned char *m = memmem(c->data, c->len, magic, sizeof(magic) - 1);

		if (!m)
			return;
		r->started = true;
		at = m - c->data + sizeof(magic) - 1;
	}
	while (c->len - at >= 5) {
		unsigned char *p = c->data + at;
		uint32_t len = p[1] | p[2] << 8 | p[3] << 16 | (uint32_t)p[4] << 24;

		if (c->len - at - 5 < len)
			break;
		take_frame(job, log, r, p[0], p + 5, len);
		at += 5 + len;
	}
	channel_used(c, at);
}

/*
 * Lines of a kernel log that mean that the kernel, or what was loaded into it,
 * is broken; and the ones of a healthy kernel that look alike.
 */
static const char *const trouble[] = {
	"Kernel panic", "Oops:", "BUG:", "BUG ", "WARNING:", "kernel BUG at",
	"general protection fault", "Unknown NMI", "Uhhuh.", "NMI received for unknown reason",
	"Dazed and confused", "soft lockup", "hard LOCKUP", "self-detected stall",
	"detected stalls", "blocked for more than", "INFO: task", "INFO: trying to register",
	"unchecked MSR access", "double fault", "stack segment", "possible circular locking",
	"possible recursive locking", "inconsistent lock state", "suspicious RCU usage",
	"KASAN:", "UBSAN:", "ODEBUG:", "DEBUG_LOCKS_WARN_ON", "list_add corruption",
	"list_del corruption", "refcount_t:", "unreferenced object", "kmemleak: Cannot",
	"nobody cared", "sleeping function called",
	"scheduling while atomic", "Unable to handle", "unable to handle", "Bad page state",
	"irq event stamp", "[Hardware Error]",
};
static const char *const harmless[] = {
	"WARNING: Unprivileged eBPF",	/* Spectre advice of the boot */
};

static bool in_line(const char *line, size_t len, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (memmem(line, len, list[i], strlen(list[i])))
			return true;
	return false;
}

/* The first line of trouble in the log, or NULL. */
static const char *find_trouble(const char *text)
{
	size_t len;

	for (const char *line = text; *line; line += len) {
		len = strcspn(line, "\n");
		if (strncmp(line, QEMU_SAYS, strlen(QEMU_SAYS)) &&
		    in_line(line, len, trouble, sizeof(trouble) / sizeof(trouble[0])) &&
		    !in_line(line, len, harmless, sizeof(harmless) / sizeof(harmless[0])))
			return line;
		len += line[len] == '\n';
	}
	return NULL;
}

static volatile sig_atomic_t caught;

static void on_signal(int sig)
{
	caught = sig;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static pid_t start_qemu(const struct job *job, int initrd, int console, int frames, int err)
{
	char **argv = NULL, *s;
	pid_t pid, parent = getpid();
	int n = 0;

	for (char **a = job->qemu; *a; a++)
		append(&argv, &n, *a);
#define ARG(...)                                       \
	do {                                           \
		if (asprintf(&s, __VA_ARGS__) < 0)     \
			die("out of memory");          \
		append(&argv, &n, s);                  \
	} while (0)
	ARG("-initrd");
	ARG("/proc/self/fd/%d", initrd);
	ARG("-chardev");
	ARG("file,id=console,path=/proc/self/fd/%d", console);
	ARG("-chardev");
	ARG("file,id=frames,path=/proc/self/fd/%d", frames);
	ARG("-chardev");
	ARG(job->tty ? "stdio,id=tty,signal=off" : "null,id=tty");
	ARG("-device");
	ARG("isa-serial,index=0,iobase=%#x,irq=4,chardev=console", CONSOLE_PORT);
	ARG("-device");
	ARG("isa-serial,index=1,iobase=%#x,irq=3,chardev=tty", TTY_PORT);
	ARG("-device");
	ARG("isa-serial,index=2,iobase=%#x,irq=4,chardev=frames", FRAME_PORT);
#undef ARG
	pid = fork();
	if (pid < 0)
		die("fork: %s", strerror(errno));
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_MACHINE);
	if (!job->tty) {
		int null = open("/dev/null", O_RDWR);

		/* Not reached by Ctrl-C: we end it in an orderly way. */
		setpgid(0, 0);
		dup2(null, 0);
		dup2(null, 1);
	}
	dup2(err, 2);
	execv(argv[0], argv);
	_exit(127);
}

/* The end of the log, or what surrounds the line that tells of the trouble. */
static void show_log(const char *text, const char *at)
{
	const char *p = at ? at : text + strlen(text);
	int lines = 0;

	for (; p > text; p--)
		if (p[-1] == '\n' && ++lines > (at ? LINES_BEFORE : LINES))
			break;
	for (lines = 0; *p && lines <= LINES; lines += *p++ == '\n')
		fputc(*p, stderr);
}

static void __attribute__((format(printf, 5, 6)))
explain(const struct job *job, const struct log *log, const char *text, const char *at,
	const char *fmt, ...)
{
	const char *file = job->log_file;
	va_list ap;
	int fd;

	fputs("run: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputs("; from the kernel log:\n", stderr);
	show_log(text, at);
	if (!file && job->keep) {
		fd = open(job->keep, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
		if (fd >= 0) {
			write_all(fd, text, log->len);
			close(fd);
			file = job->keep;
		}
	}
	if (file)
		fprintf(stderr, "run: the whole of it: %s\n", file);
}

/* What QEMU itself says: all to the log, the model's words to stderr as well. */
static void take_qemu(int fd, struct log *log)
{
	static char line[4096];
	static size_t len;
	char c;

	while (read(fd, &c, 1) == 1) {
		if (len < sizeof(line) - 1)
			line[len++] = c;
		if (c != '\n')
			continue;
		log_write(log, QEMU_SAYS, strlen(QEMU_SAYS));
		log_write(log, line, len);
		if (!strncmp(line, "silicon", 7))
			write_all(2, line, len);
		len = 0;
	}
}

static int run(const struct job *job)
{
	struct log log = { .mem = memory_file("log"), .file = -1 };
	struct channel console = { .fd = memory_file("console") };
	struct channel frames = { .fd = memory_file("frames") };
	struct result r = { .status = -1, .out = -1 };
	struct sigaction sa = { .sa_handler = on_signal };
	double start = now(), kill_at = 0;
	bool timed_out = false, gone = false;
	int err[2], initrd, pidfd, ws = 0;
	const char *text, *bad;
	struct pollfd p;
	pid_t pid;

	if (job->log_file) {
		log.file = open(job->log_file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
		if (log.file < 0)
			die("--log %s: %s", job->log_file, strerror(errno));
	}
	if (pipe2(err, O_CLOEXEC))
		die("pipe: %s", strerror(errno));
	fcntl(err[0], F_SETFL, O_NONBLOCK);
	initrd = make_initrd(job);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
	pid = start_qemu(job, initrd, console.fd, frames.fd, err[1]);
	close(initrd);
	close(err[1]);
	pidfd = syscall(SYS_pidfd_open, pid, 0);
	p = (struct pollfd){ .fd = pidfd, .events = POLLIN };

	while (!gone) {
		double t;

		gone = poll(&p, 1, POLL_MS) > 0;
		if (channel_read(&console)) {
			log_write(&log, console.data, console.len);
			console.len = 0;
		}
		if (channel_read(&frames))
			take_frames(job, &log, &r, &frames);
		take_qemu(err[0], &log);
		t = now();
		if (!kill_at && (caught || (job->timeout && t - start > job->timeout))) {
			timed_out = !caught;
			kill(pid, SIGTERM);
			kill_at = t + GRACE_MS / 1e3;
		} else if (kill_at && t > kill_at) {
			kill(pid, SIGKILL);
		}
	}
	waitpid(pid, &ws, 0);

	if (caught)
		return 128 + caught;
	write_all(log.mem, "", 1);
	text = mmap(NULL, log.len + 1, PROT_READ, MAP_PRIVATE, log.mem, 0);
	if (text == MAP_FAILED)
		die("mmap: %s", strerror(errno));
	bad = find_trouble(text);
	if (timed_out && !r.done) {
		explain(job, &log, text, bad, "time is up");
		return EXIT_TIMEOUT;
	}
	if (bad) {
		explain(job, &log, text, bad, "the kernel is in trouble");
		return EXIT_MACHINE;
	}
	if (r.fail) {
		explain(job, &log, text, NULL, "the machine failed: %s", r.fail);
		return EXIT_MACHINE;
	}
	if (!r.done || r.status < 0) {
		if (WIFSIGNALED(ws))
			explain(job, &log, text, NULL, "QEMU was killed by signal %d", WTERMSIG(ws));
		else
			explain(job, &log, text, NULL, "the machine went away, QEMU's status is %d",
				WEXITSTATUS(ws));
		return EXIT_MACHINE;
	}
	if (r.get_failed && !r.status)
		return 1;
	return r.status;
}

#ifdef __x86_64__
static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* Time and cycles of one moment: the closest pair of some, should we lose the CPU. */
static void moment(uint64_t *ns, uint64_t *cycles)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 20; i++) {
		uint64_t before = __builtin_ia32_rdtsc(), t = now_ns();
		uint64_t after = __builtin_ia32_rdtsc();

		if (after - before >= best)
			continue;
		best = after - before;
		*ns = t;
		*cycles = before + best / 2;
	}
}

/*
 * kHz of the time stamp counter, which without -icount is the guest's too. Left to
 * itself the guest measures it against a timer that is late when the host is busy, can
 * be wrong by a factor of ten, and then so is all its time.
 */
static int print_tsc(void)
{
	uint64_t ns[2], cycles[2];

	moment(&ns[0], &cycles[0]);
	usleep(20000);
	moment(&ns[1], &cycles[1]);
	printf("%llu\n", (unsigned long long)((cycles[1] - cycles[0]) * 1000000.0 / (ns[1] - ns[0])));
	return 0;
}
#else
static int print_tsc(void)
{
	return EXIT_MACHINE;
}
#endif

static char **split(char **argv)
{
	while (*argv && strcmp(*argv, "--"))
		argv++;
	if (!*argv)
		die("vmhost: '--' is missing");
	*argv = NULL;
	return argv + 1;
}

int main(int argc, char **argv)
{
	struct job job = { 0 };

	if (argc > 2 && !strcmp(argv[1], "pack"))
		return pack(argc - 2, argv + 2);
	if (argc == 2 && !strcmp(argv[1], "tsc"))
		return print_tsc();
	if (argc < 2 || strcmp(argv[1], "run"))
		die("vmhost is for tools/vm/run");
	job.qemu = split(argv + 2);
	job.command = split(job.qemu);
	for (char **a = argv + 2; *a; a++) {
		const char *key = *a;
		char *val;

		if (!strcmp(key, "--tty")) {
			job.tty = true;
			continue;
		}
		val = *++a;
		if (!val)
			die("%s wants a value", key);
		if (!strcmp(key, "--cpio"))
			append(&job.cpio, &job.n_cpio, val);
		else if (!strcmp(key, "--put") && strchr(val, ':'))
			append(&job.put, &job.n_put, val);
		else if (!strcmp(key, "--get") && strchr(val, ':'))
			append(&job.get, &job.n_get, val);
		else if (!strcmp(key, "--module"))
			append(&job.module, &job.n_module, val);
		else if (!strcmp(key, "--env"))
			append(&job.env, &job.n_env, val);
		else if (!strcmp(key, "--log"))
			job.log_file = val;
		else if (!strcmp(key, "--keep"))
			job.keep = val;
		else if (!strcmp(key, "--timeout"))
			job.timeout = atof(val);
		else
			die("bad option %s %s", key, val);
	}
	if (!*job.qemu || !*job.command)
		die("nothing to run");
	return run(&job);
}
