// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two packages, of which only the first has ever had a CPU online. Of the other CPUs the kernel
 * does not know the package, and nobody is told counts of another package.
 *
 * VM: --sockets 2 --cores 2 --append maxcpus=2
 * TEST: 6.1 newest
 */
#include "foreign.h"

static void check_open(const char *pmu, const char *event, int cpu, int want)
{
	struct perf_event_attr attr = event_attr(pmu, event);
	int fd = perf_open(&attr, cpu, -1);

	ktap_check(want ? fd == want : fd >= 0, "CPU %d: %s/%s/: %d", cpu, pmu, event, fd);
	if (fd >= 0)
		close(fd);
}

static void never_online(void)
{
	int cpu;

	for (cpu = 0; cpu < 4; cpu++) {
		int want = cpu < 2 ? 0 : -ENODEV;

		check_open("xeon7500_cbox_0", "llc_misses.all", cpu, want);
		check_open("xeon7500_wbox", "uncore_clock", cpu, want);
		check_open("xeon7500_package", "frozen", cpu, want);
	}
}

SILICON_MAIN({ "events of CPUs that were never online are refused", never_online })
