// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the virtual silicon knows, for shell tests.
 *
 *	silicon clear			all statistics to zero
 *	silicon reset			everything as at power on; no driver may be loaded
 *	silicon events PACKAGE PMU	events inside enabled windows, all counters
 *	silicon accesses		reads and writes of uncore registers
 *	silicon instructions		that the guest has executed
 *	silicon violations		accesses against the rules
 *	silicon readings		those that are not the first answer (spec/readings.json)
 *	silicon reading NAME=ANSWER	it is that for what is enabled from now on
 *	silicon answers			of each reading of the Xeon 7500: its name, its answers
 *
 * Status 4 where there is no virtual silicon.
 */
#include "silicon.h"

static int usage(void)
{
	fprintf(stderr, "usage: silicon clear|reset|events PACKAGE PMU|accesses|instructions|"
			"violations|readings|reading NAME=ANSWER|answers\n");
	return 2;
}

/* Any CPU of a package: no driver need be there to say which it prefers. */
static int cpu_of(unsigned int package)
{
	char path[32];
	int cpu;

	for (cpu = 0; ; cpu++) {
		snprintf(path, sizeof(path), "/dev/cpu/%d/msr", cpu);
		ktap_require(!access(path, F_OK), "no package %u", package);
		if (msr_read(cpu, SYN_PACKAGE) == package)
			return cpu;
	}
}

/* CPUs that are offline have no register to write to. */
static void reset(void)
{
	int cpu, cpus = sysconf(_SC_NPROCESSORS_CONF);

	for (cpu = 0; cpu < cpus; cpu++)
		msr_write(cpu, SYN_RESET, 1);
}

static void show_readings(void)
{
	unsigned int r;

	for (r = 0; r < READINGS; r++) {
		u64 answer = msr_read(0, SYN_READING(r));

		if (answer)
			printf("%s=%s\n", reading_names[r].name, reading_names[r].answers[answer]);
	}
}

static void show_answers(void)
{
	unsigned int r, a;

	for (r = 0; r < READINGS; r++) {
		if (!reading_names[r].xeon)
			continue;
		printf("%s", reading_names[r].name);
		for (a = 0; a < READING_ANSWERS && reading_names[r].answers[a]; a++)
			printf(" %s", reading_names[r].answers[a]);
		puts("");
	}
}

static bool set_reading(const char *text)
{
	unsigned int r, a;
	char one[128];

	for (r = 0; r < READINGS; r++) {
		for (a = 0; a < READING_ANSWERS && reading_names[r].answers[a]; a++) {
			snprintf(one, sizeof(one), "%s=%s", reading_names[r].name,
				 reading_names[r].answers[a]);
			if (strcmp(one, text))
				continue;
			msr_write(0, SYN_READING(r), a);
			return true;
		}
	}
	return false;
}

int main(int argc, char **argv)
{
	if (silicon_missing()) {
		puts(silicon_missing());
		return KSFT_SKIP;
	}
	if (setjmp(ktap_end) || argc < 2)
		return usage();
	if (!strcmp(argv[1], "clear"))
		msr_write(0, SYN_CLEAR, 1);
	else if (!strcmp(argv[1], "reset"))
		reset();
	else if (!strcmp(argv[1], "events") && argc == 4)
		printf("%llu\n", box_truth(cpu_of(atoi(argv[2])), SYN_EVENTS, argv[3]));
	else if (!strcmp(argv[1], "accesses"))
		printf("%u\n", silicon_accesses());
	else if (!strcmp(argv[1], "instructions"))
		printf("%llu\n", msr_read(0, SYN_INSNS));
	else if (!strcmp(argv[1], "violations"))
		printf("%llu\n", msr_read(0, SYN_VIOLATIONS));
	else if (!strcmp(argv[1], "readings"))
		show_readings();
	else if (!strcmp(argv[1], "answers"))
		show_answers();
	else if (strcmp(argv[1], "reading") || argc != 3 || !set_reading(argv[2]))
		return usage();
	return 0;
}
