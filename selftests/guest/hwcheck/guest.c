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
 * third does what others may do while hwcheck_nmi.ko is armed, and says what came of it.
 *
 * A line is NAME=ANSWER,... and may be empty. Printed for each: "@@ line", "violations" by
 * kind, "writes" of uncore registers, "changed" registers, "status", the output of COMMAND
 * as "# ..." lines, and the report (/tmp/report) behind "report".
 */
#define _GNU_SOURCE
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
#include "perf.h"
#include "../../../tools/hwcheck/nmi/hwcheck_nmi.h"

#define FIRST	0xc00
#define LAST	0xfff

#define REGISTERS	(LAST - FIRST + 3)
#define PACKAGES_MAX	8

static u64 before[PACKAGES_MAX][REGISTERS];
static u64 debugctl[64];
static int lvtpc[64];	/* -1: on_cpu.ko is not there */
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
		hole[i] = msr_try_read(cpu, msr, &val) < 0 && errno == EIO;
	return val;
}

#define LVTPC		"/sys/module/on_cpu/parameters/lvtpc"
#define LVTPC_MASKED	0x10400

static int read_lvtpc(int cpu)
{
	int val = -1;
	FILE *f;

	run_on(cpu);
	f = fopen(LVTPC, "r");
	if (f && fscanf(f, "%d", &val) != 1)
		val = -1;
	if (f)
		fclose(f);
	return val;
}

/* What on_cpu.ko does to this CPU. */
static void set_on(int cpu, const char *parameter, int val)
{
	char path[80];
	FILE *f;

	run_on(cpu);
	snprintf(path, sizeof(path), "/sys/module/on_cpu/parameters/%s", parameter);
	f = fopen(path, "w");
	ktap_require(f, "%s", path);
	fprintf(f, "%d", val);
	fclose(f);
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
	for (cpu = 0; cpu < cpus; cpu++) {
		debugctl[cpu] = msr_read(cpu, IA32_DEBUGCTL);
		lvtpc[cpu] = read_lvtpc(cpu);
	}
	run_on(-1);
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
			printf("changed%s: 0x%x of package %d: %#llx, was %#llx\n", when,
			       address(i), p, now, before[p][i]);
			changed++;
		}
	}
	for (cpu = 0; cpu < cpus; cpu++) {
		int now = read_lvtpc(cpu);

		if (msr_read(cpu, IA32_DEBUGCTL) != debugctl[cpu]) {
			printf("changed%s: IA32_DEBUGCTL of CPU %d\n", when, cpu);
			changed++;
		}
		if (now != lvtpc[cpu]) {
			printf("changed%s: LVTPC of CPU %d: %#x, was %#x\n", when, cpu, now,
			       lvtpc[cpu]);
			changed++;
		}
	}
	run_on(-1);
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

	remove("/tmp/report");
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
		printf("changed: %s after %u us: it still runs after a second\n", way_names[way],
		       after_us);
	return alive;
}

static void kills(char *line, const char *command, unsigned int rounds)
{
	unsigned int round, way, alive[WAYS] = { 0 }, nmis = logged("for unknown reason");
	char when[80];
	int cpu;

	/* One as perf leaves it, one that is masked. */
	for (cpu = 0; cpu < cpus; cpu += 2)
		set_on(cpu, "lvtpc", LVTPC_MASKED);
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
			printf("changed: it ran no longer when it was killed: %s\n",
			       way_names[way]);
		printf("# while it ran: %u of %u by %s\n", alive[way], rounds, way_names[way]);
	}
	printf("report\n");
	fflush(stdout);
}

/* ---- what others do while it is armed ---- */

static int nmi_fd;

/* A run on all CPUs of package 0; returns 0 or an errno. */
static int armed_run(struct hwcheck_run *run, unsigned int flags, unsigned int cores)
{
	*run = (struct hwcheck_run){ .flags = flags, .cores = cores };
	return ioctl(nmi_fd, HWCHECK_RUN, run) ? errno : 0;
}

#define ARMED	8u	/* fewer than the kernel prints at once */

/* In the middle of a run, after its own NMI: from nowhere, and reported by the chipset. */
static void other_nmis(void)
{
	static const char * const said[] = { "for unknown reason", "PCI system error" };
	unsigned int kind, i, before, met, ours;
	struct hwcheck_run run;

	for (kind = 0; kind < 2; kind++) {
		before = logged(said[kind]);
		for (i = met = ours = 0; i < ARMED; i++) {
			msr_write(0, SYN_NMI_REASON, kind ? SYN_NMI_SERR : 0);
			/* Some come before or after the run. */
			msr_write(0, SYN_NMI, 150000 * (i + 1));
			if (armed_run(&run, HWCHECK_LISTEN | HWCHECK_INVERT, 0xff))
				perror("HWCHECK_RUN");
			usleep(50000);
			met += run.cpu[0].other;
			ours += run.cpu[0].ours;
		}
		printf("%s: %u of %u, run: ours %u, other %u\n", said[kind],
		       logged(said[kind]) - before, ARMED, ours, met);
	}
}

#define LBR	1ull

/* Runs on CPU 1 once that is armed. */
static pid_t beside(void (*act)(int arg), int arg)
{
	unsigned int i;
	pid_t pid = fork();

	if (pid)
		return pid;
	run_on(1);
	for (i = 0; i < 1000000 && !(msr_read(1, IA32_DEBUGCTL) & UNCORE_PMI_EN); i++)
		;
	act(arg);
	_exit(!(msr_read(1, IA32_DEBUGCTL) & UNCORE_PMI_EN));
}

static void set_lbr(int on)
{
	u64 now = msr_read(1, IA32_DEBUGCTL);

	msr_write(1, IA32_DEBUGCTL, on ? now | LBR : now & ~LBR);
}

/* LBR of CPU 1 as it was, or as another program leaves it that changes it meanwhile. */
static void lbr(void)
{
	unsigned int was, changes, i, kept, met;
	struct hwcheck_run run;
	int status;
	pid_t pid;

	for (was = 0; was < 2; was++) {
		for (changes = 0; changes < 2; changes++) {
			for (i = kept = met = 0; i < ARMED; i++) {
				set_lbr(was);
				pid = beside(set_lbr, was ^ changes);
				usleep(20000);
				run_on(0);
				armed_run(&run, HWCHECK_LISTEN | HWCHECK_INVERT, 0xff);
				waitpid(pid, &status, 0);
				met += !status;
				/* Its write may bring bit 13 back: it is not atomic. */
				kept += (msr_read(1, IA32_DEBUGCTL) & LBR) == (was ^ changes);
				msr_write(1, IA32_DEBUGCTL, 0);
			}
			printf("LBR %u, %u meanwhile: met %u, right %u\n", was, was ^ changes, met,
			       kept);
		}
	}
}

#define EVTSEL0		0x186
#define PMC0		0xc1
#define GLOBAL_STATUS	0x38e
#define GLOBAL_CTRL	0x38f
#define INSTRUCTIONS	0x4300c0	/* in all rings, without interrupt */

/* The core PMU of CPU 0 has overflowed long ago. */
static void stale(void)
{
	struct hwcheck_run run;

	run_on(0);
	msr_write(0, PMC0, 0xffffff00);
	msr_write(0, GLOBAL_CTRL, msr_read(0, GLOBAL_CTRL) | 1);
	msr_write(0, EVTSEL0, INSTRUCTIONS);
	usleep(1000);
	msr_write(0, EVTSEL0, 0);
	printf("stale status %llu: ", msr_read(0, GLOBAL_STATUS));
	armed_run(&run, HWCHECK_LISTEN | HWCHECK_INVERT, 0xff);
	printf("ours %u, core %u, other %u\n", run.cpu[0].ours, run.cpu[0].core, run.cpu[0].other);
}

static void hold(int ms)
{
	set_on(1, "hold_ms", ms);
}

/*
 * CPU 1 holds a run up for 30 ms, while U_STATUS says PMI and no NMI has come. One on CPU 0 is
 * claimed before the limit, and left to the kernel after it.
 */
static void limit(void)
{
	static const unsigned int ns[] = { 3000000, 20000000 };
	struct hwcheck_run run;
	unsigned int i, before;
	pid_t pid;
	int err;

	for (i = 0; i < ARRAY_SIZE(ns); i++) {
		before = logged("for unknown reason");
		pid = beside(hold, 30);
		usleep(20000);
		run_on(0);
		msr_write(0, SYN_NMI, ns[i]);
		err = armed_run(&run, HWCHECK_LISTEN | HWCHECK_INVERT, 0);
		waitpid(pid, NULL, 0);
		usleep(50000);
		printf("an NMI after %u ms: %s, left to the kernel %u\n", ns[i] / 1000000,
		       strerror(err), logged("for unknown reason") - before);
	}
	/* With the invert that counts no clock it waits for an overflow that does not come. */
	err = armed_run(&run, HWCHECK_LISTEN, 0);
	printf("no overflow: %s, %u\n", strerror(err), run.overflowed);
}

static void armed(void)
{
	nmi_fd = open("/dev/hwcheck_nmi", O_RDWR);
	other_nmis();
	lbr();
	stale();
	/* Kernels after 6.1 report ten unknown NMIs in five seconds at most. */
	sleep(6);
	limit();
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
