// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the virtual silicon knows, for shell tests.
 *
 *	silicon clear			all statistics to zero
 *	silicon reset			everything as at power on; no driver may be loaded
 *	silicon events PACKAGE PMU	events inside enabled windows, all counters
 *	silicon accesses		reads and writes of uncore registers
 *	silicon violations		accesses against the rules
 *
 * Status 4 where there is no virtual silicon.
 */
#include "silicon.h"

static int usage(void)
{
	fprintf(stderr, "usage: silicon clear|reset|events PACKAGE PMU|accesses|violations\n");
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
		printf("%llu\n", (unsigned long long)box_truth(cpu_of(atoi(argv[2])), SYN_EVENTS,
							       argv[3]));
	else if (!strcmp(argv[1], "accesses"))
		printf("%u\n", silicon_accesses());
	else if (!strcmp(argv[1], "violations"))
		printf("%llu\n", (unsigned long long)msr_read(0, SYN_VIOLATIONS));
	else
		return usage();
	return 0;
}
