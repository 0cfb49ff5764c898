// SPDX-License-Identifier: GPL-2.0-only
/*
 * For selftests/vm/hwcheck.py: runs hwcheck on silicon made as each line of a file says, and
 * tells what it left behind.
 *
 *	guest LINES COMMAND
 *	guest LINES COMMAND ROUNDS
 *	guest armed
 *
 * The second kills COMMAND, ROUNDS times in each way there is, and says what is as it was not. The
 * third sends NMIs of others while hwcheck_nmi.ko is armed, and says how many the kernel got.
 *
 * A line is NAME=ANSWER,... and may be empty. Printed for each: "@@ line", "violations" by
 * kind, "writes" of uncore registers, "changed" registers, "status", the output of COMMAND
 * as "# ..." lines, and the report (/tmp/report) behind "report".
 */
#include <dirent.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "model.h"
#include "../../../tools/hwcheck/nmi/hwcheck_nmi.h"

#define FIRST	0xc00
#define LAST	0xfff

#define REGISTERS	(LAST - FIRST + 3)
#define PACKAGES_MAX	8

static u64 before[PACKAGES_MAX][REGISTERS];
static u64 debugctl[64];
static bool hole[REGISTERS];	/* found once: looking there is a violation */
static int cpus;
static int cpu_of[PACKAGES_MAX], packages;

static bool moves(uint32_t msr)
{
	return msr == M0_TIMESTAMP_UNIT || msr == M1_TIMESTAMP_UNIT;
}

static uint32_t address(unsigned int i)
{
	return i <= LAST - FIRST ? FIRST + i : W_FIXED_CTR + i - (LAST - FIRST + 1);
}

static u64 value(unsigned int i, int cpu)
{
	uint32_t msr = address(i);
	u64 val = 0;

	if (!moves(msr) && !hole[i])
		hole[i] = msr_try_read(cpu, msr, &val) < 0;
	return val;
}

/* Remains of somebody who has gone: nothing is enabled. */
static void litter(int cpu)
{
	msr_write(cpu, U_GLOBAL_CTL, 3 << 1);
	msr_write(cpu, C0_CTR_0, 0x123456789);
	msr_write(cpu, C0_EVT_SEL_0, 0x14);
	msr_write(cpu, C3_CTR_3, 77);
	msr_write(cpu, W_CTR_0, 0x2000000);
	msr_write(cpu, W_CTR_1, 0x3000001);
	msr_write(cpu, B0_MATCH, 0x1234);
	msr_write(cpu, S0_MATCH, 0x99);
	msr_write(cpu, S0_MM_CFG, 1ull << 63);
	msr_write(cpu, R_PORT0_IPERF_CFG0, 0x200);
	msr_write(cpu, B0_GLOBAL_CTL, 3);
}

static void set_readings(char *text)
{
	unsigned int r, a;
	char *item, *eq;

	for (item = strtok(text, ",\n"); item; item = strtok(NULL, ",\n")) {
		bool known = false;

		eq = strchr(item, '=');
		ktap_require(eq, "%s", item);
		*eq = 0;
		for (r = 0; r < READINGS; r++) {
			for (a = 0; a < READING_ANSWERS && reading_names[r].answers[a]; a++) {
				if (strcmp(item, reading_names[r].name) ||
				    strcmp(eq + 1, reading_names[r].answers[a]))
					continue;
				msr_write(0, SYN_READING(r), a);
				known = true;
			}
		}
		ktap_require(known, "%s=%s", item, eq + 1);
	}
}

static void show(const char *path, const char *prefix)
{
	FILE *f = fopen(path, "r");
	char line[4096];

	while (f && fgets(line, sizeof(line), f))
		printf("%s%s", prefix, line);
	if (f)
		fclose(f);
}

static void begin(char *line)
{
	unsigned int i;
	int cpu, p;

	printf("@@ %s\n", line);
	for (cpu = 0; cpu < cpus; cpu++)
		msr_write(cpu, SYN_RESET, 1);
	set_readings(line);
	for (p = 0; p < packages; p++) {
		litter(cpu_of[p]);
		for (i = 0; i < REGISTERS; i++)
			before[p][i] = value(i, cpu_of[p]);
	}
	for (cpu = 0; cpu < cpus; cpu++)
		debugctl[cpu] = msr_read(cpu, 0x1d9);
	msr_write(0, SYN_CLEAR, 1);
}

/* Returns how many. */
static unsigned int show_changed(const char *when)
{
	unsigned int i, changed = 0;
	int cpu, p;

	for (p = 0; p < packages; p++) {
		for (i = 0; i < REGISTERS; i++) {
			u64 now = value(i, cpu_of[p]);

			if (now == before[p][i])
				continue;
			printf("changed%s: 0x%x of package %d: %#llx, was %#llx\n", when, address(i), p,
			       now, before[p][i]);
			changed++;
		}
	}
	for (cpu = 0; cpu < cpus; cpu++) {
		if (msr_read(cpu, 0x1d9) == debugctl[cpu])
			continue;
		printf("changed%s: IA32_DEBUGCTL of CPU %d\n", when, cpu);
		changed++;
	}
	return changed;
}

static void show_statistics(void)
{
	unsigned int kind;

	printf("violations");
	for (kind = 0; kind < SYN_V_KINDS; kind++) {
		if (violations(kind))
			printf(" %u", kind);
	}
	printf("\nwrites %llu\n",
	       msr_read(0, SYN_ACCESS_ALL(SYN_RANGE_UNCORE, 1)));
}

static void one(char *line, const char *command)
{
	int status;

	begin(line);
	remove("/tmp/report");
	status = system(command);
	printf("status %d\n", WEXITSTATUS(status));
	show_statistics();
	show_changed("");
	show("/tmp/out", "# ");
	printf("report\n");
	show("/tmp/report", "");
	fflush(stdout);
}

/* ---- kills ---- */

#define WAYS	7

static const char * const way_names[WAYS] = { "KILL", "KILL of the other", "QUIT", "TSTP and KILL",
					      "INT", "TERM", "closed terminal" };

/* Of processes named hwcheck, another one than this: 0 if there is none. */
static pid_t other_than(pid_t not)
{
	DIR *proc = opendir("/proc");
	struct dirent *d;
	pid_t pid = 0;

	while (!pid && (d = readdir(proc))) {
		char path[300], comm[32] = "", state = 'Z';
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%s/stat", d->d_name);
		f = atoi(d->d_name) ? fopen(path, "r") : NULL;
		if (!f)
			continue;
		if (fscanf(f, "%*d (%31[^)]) %c", comm, &state) == 2 && !strcmp(comm, "hwcheck") &&
		    state != 'Z' && atoi(d->d_name) != not)
			pid = atoi(d->d_name);
		fclose(f);
	}
	closedir(proc);
	return pid;
}

static unsigned int logged(const char *what)
{
	static char log[1 << 18];
	int len = klogctl(3, log, sizeof(log) - 1);
	unsigned int n = 0;
	char *at = log;

	log[len < 0 ? 0 : len] = 0;
	while ((at = strstr(at, what))) {
		n++;
		at++;
	}
	return n;
}

/* Once it experiments; returns whether it still did when it was killed. */
static bool kill_it(unsigned int way, const char *command, unsigned int after_us)
{
	static const int first[WAYS] = { SIGKILL, SIGKILL, SIGQUIT, SIGTSTP, SIGINT, SIGTERM, 0 };
	unsigned int ms;
	int master;
	pid_t pid, victim;
	bool alive;

	pid = forkpty(&master, NULL, NULL, NULL);
	if (!pid) {
		int fd = open("/tmp/out", O_WRONLY | O_CREAT | O_TRUNC, 0600);

		dup2(fd, 1);
		dup2(fd, 2);
		execl("/bin/sh", "sh", "-c", command, NULL);
		_exit(127);
	}
	for (ms = 0; ms < 5000 && !other_than(pid); ms += 5)
		usleep(5000);
	usleep(after_us);
	alive = other_than(pid);
	victim = way == 1 ? other_than(pid) : pid;
	if (victim && first[way])
		kill(victim, first[way]);
	if (way == 3) {
		usleep(rand() % 3000);
		kill(victim, SIGKILL);
	}
	close(master);
	for (ms = 0; ms < 1000 && (waitpid(pid, NULL, WNOHANG) == 0 || other_than(0)); ms += 10)
		usleep(10000);
	if (ms >= 1000)
		printf("changed: %s after %u us: it still runs after a second\n", way_names[way], after_us);
	return alive;
}

static void kills(char *line, const char *command, unsigned int rounds)
{
	unsigned int round, way, alive[WAYS] = { 0 }, nmis = logged("for unknown reason");
	char when[80];

	begin(line);
	for (round = 0; round < rounds; round++) {
		for (way = 0; way < WAYS; way++) {
			unsigned int after_us = rand() % 500000;

			alive[way] += kill_it(way, command, after_us);
			snprintf(when, sizeof(when), " (%s after %u us)", way_names[way], after_us);
			if (show_changed(when) || !access("/run/hwcheck.saved", F_OK)) {
				printf("changed: what /run/hwcheck.saved has%s\n", when);
				show("/tmp/out", "# ");
				rounds = round;
				break;
			}
		}
	}
	printf("status 0\n");
	show_statistics();
	nmis = logged("for unknown reason") - nmis;
	if (nmis)
		printf("changed: %u unknown NMIs\n", nmis);
	for (way = 0; way < WAYS; way++) {
		if (alive[way] < (rounds + 1) / 2)
			printf("changed: it ran no longer when it was killed: %s\n", way_names[way]);
		printf("# while it ran: %u of %u by %s\n", alive[way], rounds, way_names[way]);
	}
	printf("report\n");
	fflush(stdout);
}

#define ARMED	8u	/* fewer than the kernel prints at once */

/* In the middle of a run, after its own NMI: from nowhere, and reported by the chipset. */
static void armed(void)
{
	static const char * const said[] = { "for unknown reason", "PCI system error" };
	int fd = open("/dev/hwcheck_nmi", O_RDWR), cpu;
	unsigned int kind, i, before, met, ours;

	for (kind = 0; kind < 2; kind++) {
		before = logged(said[kind]);
		for (i = met = ours = 0; i < ARMED; i++) {
			struct hwcheck_run run = { .flags = HWCHECK_LISTEN | HWCHECK_INVERT, .cores = 0xff };

			for (cpu = 0; cpu < cpus; cpu++) {
				if (msr_read(cpu, SYN_PACKAGE) == msr_read(0, SYN_PACKAGE))
					run.cpu[run.num_cpus++].cpu = cpu;
			}
			msr_write(0, SYN_NMI_REASON, kind ? SYN_NMI_SERR : 0);
			/* Some come before or after the run. */
			msr_write(0, SYN_NMI, 150000 * (i + 1));
			if (ioctl(fd, HWCHECK_RUN, &run))
				perror("HWCHECK_RUN");
			usleep(50000);
			met += run.cpu[0].other;
			ours += run.cpu[0].ours;
		}
		printf("%s: %u of %u, run: ours %u, other %u\n", said[kind], logged(said[kind]) - before,
		       ARMED, ours, met);
	}
}

int main(int argc, char **argv)
{
	FILE *lines = argc >= 3 ? fopen(argv[1], "r") : NULL;
	char line[2048];
	int cpu;

	if ((!lines && argc != 2) || silicon_missing())
		return 2;
	mkdir("/run", 0755);
	srand(7500);
	cpus = sysconf(_SC_NPROCESSORS_CONF);
	if (setjmp(ktap_end))
		return 1;
	for (cpu = 0; cpu < cpus; cpu++) {
		if ((!cpu || msr_read(cpu, SYN_PACKAGE) != msr_read(cpu - 1, SYN_PACKAGE)) &&
		    packages < PACKAGES_MAX)
			cpu_of[packages++] = cpu;
	}
	if (!lines)
		armed();
	while (lines && fgets(line, sizeof(line), lines)) {
		line[strcspn(line, "\n")] = 0;
		if (argc > 3)
			kills(line, argv[2], atoi(argv[3]));
		else
			one(line, argv[2]);
	}
	return 0;
}
