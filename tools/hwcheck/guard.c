// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two processes. The child experiments and puts registers back, after each experiment and in the
 * end. The parent waits, and puts back what a child that died has left. Signals of the terminal reach the parent
 * alone and make it end the child; a child whose parent has died ends likewise. Only where both
 * are killed at once something is left: the file says what was there, and --restore puts it back.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hwcheck.h"

#define HEAD	"hwcheck-saved 1"

static const char *saved_path = SAVED;
static char why[512];

/* Registers of a machine that has been started since are as after reset. */
static void boot_id(char *to, size_t size)
{
	read_line("/proc/sys/kernel/random/boot_id", to, size);
}

/* The descriptor stays open: the lock says that one of the two processes lives. */
const char *guard_begin(void)
{
	int fd = open(SAVED, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	unsigned int p, i;
	char boot[64];
	FILE *f;

	if (fd < 0 && errno == EEXIST) {
		fd = open(SAVED, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		return flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK ? "another hwcheck runs (" SAVED ")" :
		       "a hwcheck was killed before it could put back what it wrote: hwcheck --restore " SAVED;
	}
	f = fd < 0 || flock(fd, LOCK_EX | LOCK_NB) ? NULL : fdopen(fd, "w");
	if (f) {
		boot_id(boot, sizeof(boot));
		fprintf(f, HEAD "\nboot %s\n", boot);
		for (p = 0; p < num_packages; p++) {
			fprintf(f, "package %d\n", packages[p].id);
			for (i = 0; i < packages[p].num_saved; i++)
				fprintf(f, "0x%x 0x%llx\n", packages[p].saved[i].msr,
					(unsigned long long)packages[p].saved[i].val);
		}
		fputs("end\n", f);
		if (!fflush(f) && !fsync(fd))
			return NULL;
	}
	snprintf(why, sizeof(why), SAVED ", where the registers are saved first: %s", strerror(errno));
	if (fd >= 0)
		unlink(SAVED);
	return why;
}

/* Everything as it was, but where another program counts by now; the file is needed no longer. */
static bool put_all_back(void)
{
	const char *bad, *worst = NULL;
	unsigned int p;

	for (p = 0; p < num_packages; p++) {
		bad = shared->taken[p] ? NULL : restore(&packages[p]);
		drain(&packages[p]);
		if (bad) {
			say("# %s", bad);
			worst = bad;
		}
	}
	if (!worst)
		unlink(saved_path);
	return !worst;
}

static void told(int sig)
{
	ended = sig;
}

static void __attribute__((noreturn)) child(pid_t parent)
{
	struct sigaction act = { .sa_handler = told };
	sigset_t none;

	setsid();
	signal(SIGPIPE, SIG_IGN);
	sigaction(SIGTERM, &act, NULL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (getppid() != parent)
		ended = SIGTERM;
	else
		run_all();
	_exit(!put_all_back());
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

const char *guard_run(double limit_s)
{
	static const int signals[] = { SIGINT, SIGQUIT, SIGTSTP, SIGTERM, SIGHUP, SIGCHLD };
	const struct timespec tick = { .tv_nsec = 100000000 };
	double end = now() + limit_s;
	const char *early = NULL;
	pid_t pid, parent = getpid();
	int sig, status = 0;
	bool asked = false;
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < ARRAY_SIZE(signals); i++)
		sigaddset(&set, signals[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	fflush(NULL);
	pid = fork();
	if (!pid)
		child(parent);
	while (pid > 0) {
		sig = sigtimedwait(&set, NULL, &tick);
		if (waitpid(pid, &status, WNOHANG | WUNTRACED) == pid) {
			if (!WIFSTOPPED(status))
				break;
			early = "the process that experiments was stopped";
			kill(pid, SIGKILL);
		} else if (sig > 0 && sig != SIGCHLD) {
			snprintf(why, sizeof(why), "interrupted by signal %d (%s)", sig, strsignal(sig));
			early = why;
		} else if (now() > end) {
			early = asked ? early : "the time limit is reached (--limit)";
			if (asked)
				kill(pid, SIGKILL);
		} else {
			continue;
		}
		if (!asked)
			end = now() + 2;
		asked = true;
		kill(pid, SIGTERM);
	}
	if (pid < 0)
		early = "no second process can be started";
	else if (WIFSIGNALED(status) && !early)
		early = "the process that experiments was killed";
	if ((pid < 0 || !WIFEXITED(status) || WEXITSTATUS(status)) && !put_all_back() &&
	    !*shared->restore_failed)
		snprintf(shared->restore_failed, sizeof(shared->restore_failed), "see above");
	return early;
}

/* What the file says in place of what save() has read; it has to name the same registers. */
static bool parse(FILE *f, const char *boot)
{
	char text[128], want[128];
	struct package *p = NULL;
	unsigned long long val;
	unsigned int msr, i = 0;
	int id, end;

	snprintf(want, sizeof(want), "boot %s\n", boot);
	if (!fgets(text, sizeof(text), f) || strcmp(text, HEAD "\n") || !fgets(text, sizeof(text), f))
		return false;
	if (strcmp(text, want)) {
		snprintf(why, sizeof(why), "is of before the last start of the machine, which has reset the registers: remove it");
		return false;
	}
	num_packages = 0;
	while (fgets(text, sizeof(text), f)) {
		end = 0;
		if (p && i < p->num_saved) {
			if (sscanf(text, "0x%x 0x%llx%n", &msr, &val, &end) != 2 || text[end] != '\n' ||
			    msr != p->saved[i].msr)
				return false;
			p->saved[i++].val = val;
		} else if (!strcmp(text, "end\n")) {
			return p && !fgets(text, sizeof(text), f);
		} else if (sscanf(text, "package %d%n", &id, &end) == 1 && text[end] == '\n') {
			for (i = num_packages; i < PACKAGES_MAX && packages[i].id != id; i++)
				;
			if (i == PACKAGES_MAX || !packages[i].num_cpus)
				return false;
			packages[num_packages] = packages[i];
			p = &packages[num_packages++];
			i = 0;
		} else {
			return false;
		}
	}
	return false;
}

int restore_from(const char *path)
{
	FILE *f = fopen(path, "re");
	char boot[64];

	if (!f) {
		fprintf(stderr, "hwcheck: %s: %s\n", path, strerror(errno));
		return 1;
	}
	if (flock(fileno(f), LOCK_EX | LOCK_NB)) {
		fprintf(stderr, "hwcheck: %s: a hwcheck runs and puts back by itself\n", path);
		return 1;
	}
	boot_id(boot, sizeof(boot));
	snprintf(why, sizeof(why), "is not what hwcheck has saved here, nothing is written. One that does not end with \"end\" was not complete before the first experiment: remove it");
	if (!parse(f, boot)) {
		fprintf(stderr, "hwcheck: %s %s\n", path, why);
		return 1;
	}
	saved_path = path;
	level = LEVEL_PMI;
	if (!put_all_back())
		return 1;
	printf("%u packages are as they were, %s is removed\n", num_packages, path);
	return 0;
}
