// SPDX-License-Identifier: GPL-2.0-only
/*
 * For selftests/vm/hwcheck.py: runs hwcheck on silicon made as each line of a file says, and
 * tells what it left behind.
 *
 *	guest LINES COMMAND
 *
 * A line is NAME=ANSWER,... and may be empty. Printed for each: "@@ line", "violations" by
 * kind, "writes" of uncore registers, "changed" registers, "status", the output of COMMAND
 * as "# ..." lines, and the report (/tmp/report) behind "report".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "model.h"

#define FIRST	0xc00
#define LAST	0xfff

#define REGISTERS	(LAST - FIRST + 3)
#define PACKAGES_MAX	8

static u64 before[PACKAGES_MAX][REGISTERS];
static bool hole[REGISTERS];	/* found once: looking there is a violation */
static int cpus;
static int cpu_of[PACKAGES_MAX], packages;

static bool moves(uint32_t msr)
{
	return msr == 0xca4 || msr == 0xce4;	/* time stamps of the M-Box */
}

static uint32_t address(unsigned int i)
{
	return i <= LAST - FIRST ? FIRST + i : 0x394 + i - (LAST - FIRST + 1);
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
	msr_write(cpu, 0xc00, 3 << 1);
	msr_write(cpu, 0xd00 + CTR(0), 0x123456789);
	msr_write(cpu, 0xd00 + CTL(0), 0x14);
	msr_write(cpu, 0xdc0 + CTR(3), 77);
	msr_write(cpu, 0xc80 + CTR(0), 0x2000000);
	msr_write(cpu, 0xc80 + CTR(1), 0x3000001);
	msr_write(cpu, 0xe45, 0x1234);
	msr_write(cpu, 0xe49, 0x99);
	msr_write(cpu, 0xe48, 1ull << 63);
	msr_write(cpu, 0xe04, 0x200);
	msr_write(cpu, 0xc20, 3);
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

static void one(char *line, const char *command)
{
	unsigned int i, kind;
	int cpu, p, status;

	printf("@@ %s\n", line);
	for (cpu = 0; cpu < cpus; cpu++)
		msr_write(cpu, SYN_RESET, 1);
	set_readings(line);
	for (p = 0; p < packages; p++) {
		litter(cpu_of[p]);
		for (i = 0; i < REGISTERS; i++)
			before[p][i] = value(i, cpu_of[p]);
	}
	msr_write(0, SYN_CLEAR, 1);
	remove("/tmp/report");
	status = system(command);
	printf("status %d\nviolations", WEXITSTATUS(status));
	for (kind = 0; kind < SYN_V_KINDS; kind++) {
		if (violations(kind))
			printf(" %u", kind);
	}
	printf("\nwrites %llu\n", msr_read(0, SYN_ACCESS_ALL(SYN_RANGE_UNCORE, 1)));
	for (p = 0; p < packages; p++) {
		for (i = 0; i < REGISTERS; i++) {
			u64 now = value(i, cpu_of[p]);

			if (now != before[p][i])
				printf("changed 0x%x of package %d: %#llx, was %#llx\n", address(i),
				       p, now, before[p][i]);
		}
	}
	for (cpu = 0; cpu < cpus; cpu++) {
		if (msr_read(cpu, 0x1d9) >> 13 & 1)
			printf("changed IA32_DEBUGCTL of CPU %d\n", cpu);
	}
	show("/tmp/out", "# ");
	printf("report\n");
	show("/tmp/report", "");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	FILE *lines = argc == 3 ? fopen(argv[1], "r") : NULL;
	char line[2048];
	int cpu;

	if (!lines || silicon_missing())
		return 2;
	cpus = sysconf(_SC_NPROCESSORS_CONF);
	if (setjmp(ktap_end))
		return 1;
	for (cpu = 0; cpu < cpus; cpu++) {
		if ((!cpu || msr_read(cpu, SYN_PACKAGE) != msr_read(cpu - 1, SYN_PACKAGE)) &&
		    packages < PACKAGES_MAX)
			cpu_of[packages++] = cpu;
	}
	while (fgets(line, sizeof(line), lines)) {
		line[strcspn(line, "\n")] = 0;
		one(line, argv[2]);
	}
	return 0;
}
