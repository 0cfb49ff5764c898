// SPDX-License-Identifier: GPL-2.0-only
/*
 * The R-Box ports by the names the manual gives them: each counts what its number does,
 * and nothing of any other port.
 *
 * VM: --sockets 2 --cores 2
 */
#include "silicon.h"

/* Table 2-40: ports 0 to 7 */
static const char * const names[8] = { "qpi1", "qpi0", "s0", "b0", "qpi2", "qpi3", "s1", "u_b1" };

static const char *half(unsigned int port)
{
	return port < 4 ? "xeon7500_rbox_0" : "xeon7500_rbox_1";
}

/* Flits leave only the port that is named. */
static void names_count(void)
{
	unsigned int loud, port;
	int cpu;

	for (loud = 0; loud < 8; loud++) {
		silicon_start();
		cpu = package_cpu(0);
		for (port = 0; port < 8; port++)
			silicon_traffic(cpu, SYN_SEL(SYN_BOX_R, port, SYN_ANY_CODE, SYN_ANY),
					SYN_PATTERN(0, 0, port == loud, 1));
		for (port = 0; port < 8; port++) {
			char event[40];
			u64 count;
			int fd;

			snprintf(event, sizeof(event), "flits_sent,%s", names[port]);
			event_close_all();
			fd = event_open(half(port), event, cpu, -1);
			perf_enable(fd);
			sleep_us(50);
			perf_disable(fd);
			count = perf_count(fd).value;
			ktap_check(!count == (port != loud), "%s: %llu while port %u sends",
				   names[port], count, loud);
		}
		msr_write(cpu, SYN_TRAFFIC_RESET, 1);
	}
}

/* A half has the names of its own ports only. */
static void names_of_a_half(void)
{
	unsigned int port;
	char path[120];

	for (port = 0; port < 8; port++) {
		snprintf(path, sizeof(path), SYSFS_PMU "/%s/format/%s", half(port), names[port]);
		ktap_check(!access(path, F_OK), "no %s", path);
		snprintf(path, sizeof(path), SYSFS_PMU "/%s/format/%s", half(port ^ 4), names[port]);
		ktap_check(access(path, F_OK), "%s", path);
	}
}

static void one_port_only(void)
{
	static const char * const bad[] = {
		"flits_sent,qpi0,qpi1", "flits_sent,s0,b0", "flits_sent,qpi1,port=2",
		"drs.anyresp,qpi0,qpi1,s0,b0",
	};
	unsigned int i;
	int cpu;

	silicon_start();
	cpu = package_cpu(0);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		struct perf_event_attr attr = event_attr("xeon7500_rbox_0", bad[i]);
		int fd = perf_open(&attr, cpu, -1);

		ktap_check(fd == -EINVAL, "%s: %d", bad[i], fd);
		if (fd >= 0)
			close(fd);
	}
	ktap_check(!silicon_accesses(), "%u register accesses", silicon_accesses());
}

SILICON_MAIN({ "a port by its name", names_count },
	     { "each half has its own names", names_of_a_half },
	     { "more than one port is refused", one_port_only })
