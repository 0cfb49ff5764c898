// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs whose output depends on everything that rr has to record: when threads take turns,
 * where signals arrive, what clocks say. In the guest; selftests/strangers/rr.py starts it, and a
 * replay has to print the same.
 *
 *	guest WHAT
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

/* Of all that has happened, in its order. */
static volatile uint64_t hash = 14695981039346656037ull;

static void mix(uint64_t v)
{
	hash = (hash ^ v) * 1099511628211ull;
}

static volatile uint64_t work;

static void spin(unsigned int n)
{
	while (n--) {
		if (work & 1)
			work = work * 3 + n;
		else
			work = work / 2 + n;
	}
}

/* ---- threads: who comes when, without a lock ---- */

static void *thread(void *arg)
{
	int i;

	for (i = 0; i < 300; i++) {
		mix((uintptr_t)arg);
		spin(300);
	}
	return NULL;
}

static void threads(void)
{
	pthread_t t[4];
	uintptr_t i;

	for (i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, thread, (void *)i);
	for (i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn = PTHREAD_COND_INITIALIZER;
static int token;

static void *contender(void *arg)
{
	int i;

	for (i = 0; i < 100; i++) {
		pthread_mutex_lock(&lock);
		token = (int)(uintptr_t)arg;
		mix(token);
		pthread_cond_broadcast(&turn);
		pthread_mutex_unlock(&lock);
		spin(100);
	}
	return NULL;
}

static void locks(void)
{
	pthread_t t[3];
	uintptr_t i;

	for (i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, contender, (void *)i);
	for (i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
}

/* ---- signals: in the middle of a loop, at whatever instruction ---- */

static volatile int signals_left;

static void on_signal(int sig, siginfo_t *info, void *context)
{
	mix(((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP]);
	mix(work + sig);
	signals_left--;
	(void)info;
}

static void catch(int sig)
{
	struct sigaction sa = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };

	sigaction(sig, &sa, NULL);
}

static void alarms(void)
{
	struct itimerval every = { { 0, 3000 }, { 0, 3000 } };

	catch(SIGALRM);
	signals_left = 20;
	setitimer(ITIMER_REAL, &every, NULL);
	while (signals_left > 0)
		spin(1);
}

static void children(void)
{
	pid_t parent = getpid(), pid;
	int i, status;

	catch(SIGUSR1);
	signals_left = 10;
	for (i = 0; i < 10; i++) {
		pid = fork();
		if (!pid) {
			spin(2000);
			kill(parent, SIGUSR1);
			_exit(getpid() & 0x7f);
		}
		spin(5000);
		waitpid(pid, &status, 0);
		mix(pid);
		mix(status);
	}
	while (signals_left > 0)
		spin(1);
}

static void faults(void)
{
	int i;

	catch(SIGTRAP);
	for (i = 0; i < 50; i++) {
		spin(50);
		asm volatile("int3");
	}
}

/* ---- what the machine says ---- */

static void clocks(void)
{
	struct timespec now;
	int i;

	for (i = 0; i < 200; i++) {
		mix(__rdtsc());
		clock_gettime(CLOCK_MONOTONIC, &now);
		mix(now.tv_nsec);
		spin(20);
	}
}

static void files(void)
{
	char buf[256];
	int fd, i;
	ssize_t n;

	for (i = 0; i < 50; i++) {
		fd = open("/dev/urandom", O_RDONLY);
		n = read(fd, buf, sizeof(buf));
		close(fd);
		while (n-- > 0)
			mix(buf[n]);
		fd = open("/proc/self/stat", O_RDONLY);
		n = read(fd, buf, sizeof(buf));
		close(fd);
		while (n-- > 0)
			mix(buf[n]);
	}
}

static void pipes(void)
{
	int fd[2], i;
	uint64_t v;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd))
		exit(1);
	if (!fork()) {
		for (i = 0; i < 200; i++) {
			v = __rdtsc();
			if (write(fd[1], &v, sizeof(v)) != sizeof(v))
				_exit(1);
		}
		_exit(0);
	}
	close(fd[1]);
	while (read(fd[0], &v, sizeof(v)) == sizeof(v))
		mix(v);
	wait(NULL);
}

static void memory(void)
{
	uint64_t *p;
	int i;

	for (i = 0; i < 50; i++) {
		p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		mix((uintptr_t)p);
		p[i * 512] = __rdtsc();
		mix(p[i * 512]);
		if (i & 1)
			munmap(p, 1 << 20);
	}
}

static void strings(void)
{
	static char from[8192], to[8192];
	int i;

	for (i = 0; i < 300; i++) {
		from[i] = __rdtsc();
		memcpy(to, from, sizeof(to));
		asm volatile("rep movsb" : : "S"(from), "D"(to), "c"((long)sizeof(to)) : "memory");
		mix(to[i]);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} programs[] = {
		{ "threads", threads }, { "locks", locks }, { "alarms", alarms },
		{ "children", children }, { "faults", faults }, { "clocks", clocks },
		{ "files", files }, { "pipes", pipes }, { "memory", memory },
		{ "strings", strings },
	};
	unsigned int i;

	for (i = 0; argc == 2 && i < sizeof(programs) / sizeof(programs[0]); i++) {
		if (!strcmp(argv[1], programs[i].name)) {
			programs[i].run();
			printf("%s %016llx\n", argv[1], (unsigned long long)hash);
			return 0;
		}
	}
	return 2;
}
