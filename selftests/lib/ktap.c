// SPDX-License-Identifier: GPL-2.0-only
#include <signal.h>
#include <sys/prctl.h>

#include "ktap.h"

static struct ktap_state alone;	/* of a program that is no test */
struct ktap_state *ktap = &alone;
jmp_buf ktap_end;

bool soak(void)
{
	const char *s = getenv("SOAK");

	return s && *s;
}

bool debug_kernel(void)
{
	return !access("/proc/lockdep", F_OK);
}

/* Files that a test needs are beside it. */
static void ktap_chdir(void)
{
	char path[4096];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (len > 0) {
		path[len] = 0;
		*strrchr(path, '/') = 0;
		if (chdir(path))
			perror(path);
	}
}

/* The result of the case that has run, after a last look by @check, if there is one. */
static void ktap_result(const struct ktap_case *cases, void (*check)(void))
{
	const char *name = cases[ktap->at++].name;

	if (check && !setjmp(ktap_end))
		check();
	/* What has failed before it came to a skip has failed. */
	if (ktap->skipped[0] && !ktap->failed)
		printf("ok %d %s # SKIP %s\n", ktap->at, name, ktap->skipped);
	else
		printf("%sok %d %s\n", ktap->failed ? "not " : "", ktap->at, name);
	ktap->failures += ktap->failed;
	ktap->skips += ktap->skipped[0] && !ktap->failed;
	ktap->failed = false;
	ktap->skipped[0] = 0;
}

/* What the case has started ends with it: it may have events open, and so the module in use. */
static void ktap_end_group(pid_t group)
{
	kill(-group, SIGKILL);
	while (waitpid(-group, NULL, 0) > 0)
		;
}

/*
 * In one process: the next case and those that want to be in the same one. The result of the
 * last of them is for the caller to tell: the end of the process is part of the case.
 */
static void ktap_run_process(const struct ktap_case *cases, int num, void (*check)(void))
{
	int status = 0;
	pid_t pid, us;

	fflush(stdout);
	ktap->done = false;
	pid = fork();
	/* Both do it, for neither knows which of them is first. */
	setpgid(pid, 0);
	us = getpid();
	while (!pid) {
		if (!setjmp(ktap_end)) {
			if (ktap_begin)
				ktap_begin();
			cases[ktap->at].run();
		}
		/* What a case has forked does not go on here. */
		if (getpid() != us)
			_exit(1);
		ktap->done = ktap->at + 1 == num || !cases[ktap->at + 1].same_process;
		if (ktap->done)
			exit(0);
		ktap_result(cases, check);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status || !ktap->done) {
		ktap->failed = true;
		ktap_note("the case has ended its process, status %#x", status);
	}
	if (pid > 0)
		ktap_end_group(pid);
}

int ktap_run(const char *why_not, void (*check)(void), const struct ktap_case *cases, int num)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	ktap_chdir();
	/* Children of a case that has ended are ours. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	printf("KTAP version 1\n1..%d\n", num);
	ktap = mmap(NULL, sizeof(*ktap), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (ktap == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	while (ktap->at < num) {
		if (why_not)
			snprintf(ktap->skipped, sizeof(ktap->skipped), "%s", why_not);
		else
			ktap_run_process(cases, num, check);
		ktap_result(cases, why_not ? NULL : check);
	}
	return ktap->failures ? 1 : ktap->skips == num ? KSFT_SKIP : 0;
}
