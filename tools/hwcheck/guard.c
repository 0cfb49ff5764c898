// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two processes. The child experiments and restores the registers after each experiment. The parent
 * waits, and restores what a child that died has left. Signals of the terminal reach the parent
 * alone and make it end the child; a child whose parent has died ends likewise. Only where both
 * are killed at once something is left: the file SAVED says what was there and which experiment
 * was open, and --restore restores its registers.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hwcheck.h"

#define HEAD	"hwcheck " HWCHECK_VERSION

static const char *saved_path = SAVED;
static sigset_t signals;	/* that end it, and SIGCHLD */
static int lock_fd;

const char *guard_lock(bool reads, const char *busy)
{
	lock_fd = open("/dev/cpu/0/msr", O_RDONLY | O_CLOEXEC);
	if (lock_fd < 0)
		return because("/dev/cpu/0/msr cannot be opened: %s", strerror(errno));
	return flock(lock_fd, (reads ? LOCK_SH : LOCK_EX) | LOCK_NB) ? busy : NULL;
}

void guard_unlock(void)
{
	close(lock_fd);
}

const char *guard_begin(void)
{
	static const int all[] = { SIGINT, SIGQUIT, SIGTSTP, SIGTERM, SIGHUP, SIGCHLD };
	struct shared *file = MAP_FAILED;
	const char *why;
	struct stat st;
	size_t i;
	int fd;

	/*
	 * From here on they wait for guard_run(), so that none leaves SAVED; nor does an output
	 * that cannot be written. Where SIGCHLD is ignored, which exec() does not change, the child
	 * has no status.
	 */
	signal(SIGCHLD, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	sigemptyset(&signals);
	for (i = 0; i < ARRAY_SIZE(all); i++)
		sigaddset(&signals, all[i]);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	fd = open(SAVED, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 && errno == EEXIST && !lstat(SAVED, &st) && S_ISREG(st.st_mode))
		return "a hwcheck was killed before it could put back what it wrote: "
		       "hwcheck --restore " SAVED;
	if (fd >= 0) {
		errno = posix_fallocate(fd, 0, sizeof(*file));
		if (!errno)
			file = mmap(NULL, sizeof(*file), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	}
	if (file == MAP_FAILED) {
		why = because(SAVED ", where the registers are saved first: %s", strerror(errno));
		if (fd >= 0)
			unlink(SAVED);
		return why;
	}
	memcpy(file, shared, sizeof(*file));
	memcpy(file->packages, packages, sizeof(packages));
	read_line("/proc/sys/kernel/random/boot_id", file->boot, sizeof(file->boot));
	strcpy(file->head, HEAD);
	shared = file;
	return NULL;
}

const char *put_back(void)
{
	const struct package *p = &packages[shared->open_package];
	const struct experiment *e = &experiments[shared->open - 1];
	const char *bad, *pending;

	if (!shared->open)
		return NULL;
	bad = restore(p, e);
	pending = e->may & MAY_PMI_EN ? drain(p) : NULL;
	if (!bad)
		shared->open = 0;
	return bad ? bad : pending;
}

/* The file is needed no longer where nothing is open. */
static bool finish(void)
{
	const char *bad = put_back();

	if (bad)
		say("# %s", bad);
	if (!shared->open)
		unlink(saved_path);
	return !shared->open;
}

static void told(int sig)
{
	ended = sig;
}

/* The status of a child that was told to end, and has put everything back */
#define CUT_SHORT	2

static void __attribute__((noreturn)) child(pid_t parent)
{
	struct sigaction act = { .sa_handler = told };
	sigset_t none;

	setsid();
	sigaction(SIGTERM, &act, NULL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (getppid() != parent)
		ended = SIGTERM;
	else
		run_all();
	_exit(!finish() ? 1 : ended ? CUT_SHORT : 0);
}

const char *guard_run(double limit_s)
{
	const struct timespec at_once = {}, tick = { .tv_nsec = 100000000 };
	double end = seconds() + limit_s;
	const char *early = NULL;
	pid_t pid, changed = 0, parent = getpid();
	int sig, status = 0;
	bool asked = false;

	fflush(NULL);
	pid = fork();
	if (!pid)
		child(parent);
	while (pid > 0) {
		changed = waitpid(pid, &status, WNOHANG | WUNTRACED);
		/* A signal that was sent before the child ended is why, and comes before SIGCHLD. */
		sig = sigtimedwait(&signals, NULL, changed ? &at_once : &tick);
		if (sig > 0 && sig != SIGCHLD)
			early = early ?: because("interrupted by signal %d (%s)", sig,
						 strsignal(sig));
		if (changed < 0 || (changed && !WIFSTOPPED(status)))
			break;
		if (changed) {
			early = early ?: "the process that experiments was stopped";
			kill(pid, SIGKILL);
		} else if (seconds() > end) {
			early = early ?: "the time limit is reached (--limit)";
			if (asked)
				kill(pid, SIGKILL);
		} else if (sig <= 0 || sig == SIGCHLD) {
			continue;
		}
		if (!asked)
			end = seconds() + 2;
		/* From here on say() does not wait for a reader here either. */
		ended = SIGTERM;
		asked = true;
		kill(pid, SIGTERM);
	}
	if (pid < 0)
		early = "no second process can be started";
	else if (changed < 0 || WIFSIGNALED(status))
		early = asked ? early : "the process that experiments was killed";
	else if (!WEXITSTATUS(status))
		early = NULL;
	else if (WEXITSTATUS(status) == CUT_SHORT)
		early = early ?: "the process that experiments was told to end";
	if (pid < 0 || changed < 0 || !WIFEXITED(status) || WEXITSTATUS(status))
		finish();
	return early;
}

/* Take from the file what the open package had. False: it is not of this machine. */
static bool adopt(const struct shared *file)
{
	const struct package *was = &file->packages[file->open_package % PACKAGES_MAX];
	struct package *p = packages;
	unsigned int i;

	if (strncmp(file->head, HEAD, sizeof(file->head)) || file->open > num_experiments)
		return false;
	while (p < packages + num_packages && p->id != was->id)
		p++;
	/* hwcheck does not begin where these are on. */
	if (p == packages + num_packages || p->num_saved != was->num_saved ||
	    saved(was, U_CTL) & (U_EN_ALL | U_RST_ALL))
		return false;
	for (i = 0; i < p->num_saved; i++) {
		if (p->saved[i].msr != was->saved[i].msr)
			return false;
		p->saved[i].val = was->saved[i].val;
	}
	shared->open = file->open;
	shared->open_package = p - packages;
	return true;
}

int restore_from(const char *path)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct shared *file = calloc(1, sizeof(*file));
	const char *bad = NULL, *locked;
	struct stat st;
	char boot[64];

	read_line("/proc/sys/kernel/random/boot_id", boot, sizeof(boot));
	if (!file || fd < 0 || fstat(fd, &st))
		bad = strerror(errno);
	else if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 022)
		bad = "not a file that root alone can write, nothing is restored";
	else if ((locked = guard_lock(false, "another hwcheck runs: wait for it, then try again")))
		bad = locked;
	else if ((st.st_size || strcmp(path, SAVED)) &&
		 (st.st_size != sizeof(*file) || read(fd, file, sizeof(*file)) != sizeof(*file)))
		bad = "this hwcheck has not saved it, or not completely: nothing is restored";
	else if (*file->head && strncmp(file->boot, boot, sizeof(boot)))
		bad = "it is of before the last start of the kernel, nothing is restored. A reset "
		      "of the machine clears the registers, kexec does not: reset it, remove this";
	else if (*file->head && !adopt(file))
		bad = "it is of another version or machine, nothing is restored";
	if (bad) {
		fprintf(stderr, "hwcheck: %s: %s\n", path, bad);
		return 1;
	}
	saved_path = path;
	level = LEVEL_PMI;	/* so that a pending PMI is taken, if the module is there */
	/* Killed before its first experiment, it has left a file that is empty or has none open. */
	if (file->open)
		bad = because("package %d is as it was", packages[shared->open_package].id);
	if (!finish())
		return 1;
	printf("%s, %s is removed\n", bad ? bad : "nothing to restore", path);
	return 0;
}
