// SPDX-License-Identifier: GPL-2.0-only
/*
 * pmi_core_sel has eight bits, a Xeon E7 ten cores. Where the package is left to a core
 * without a bit, it counts as ever, and sampling is refused or its overflows are found late.
 *
 * CPUs 10 to 19 are the cores 0 to 9 of package 1.
 *
 * VM: --machine westmereex --sockets 2 --cores 10
 * TEST: none
 * SOAK: 6.1 newest
 */
#include "foreign.h"
#include "hotplug.h"
#include "sampling.h"

#define FIRST		10
#define WITHOUT_BIT	(FIRST + 8)
#define CPUS		20

/* The package has @cpu and those after it. */
static void leave_from(int cpu)
{
	int i, cpus[SILICON_MAX_PACKAGES];
	char path[80];
	FILE *f;

	for (i = FIRST; i < cpu; i++)
		set_online(i, false);
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/core_id", cpu);
	f = fopen(path, "r");
	ktap_require(f && fscanf(f, "%d", &i) == 1, "%s", path);
	fclose(f);
	ktap_require(i == cpu - FIRST, "CPU %d is core %d", cpu, i);
	ktap_require(pmu_cpus("xeon7500_cbox_3", cpus) == 2 && cpus[1] == cpu,
		     "CPU %d is in charge", cpus[1]);
}

static void begin(void)
{
	event_close_all();
	all_online(CPUS);
	module_unload();
	module_load("");
	silicon_start();
	sampling_limit(1000000);
	lost_open();
}

/* What perf counted is what the package counted. */
static void check_count(int fd, const char *what)
{
	u64 count = perf_value(fd);
	u64 truth = box_truth(WITHOUT_BIT, SYN_EVENTS, "xeon7500_cbox_3");

	ktap_check(count && count == truth, "%s: %llu, truth %llu", what, count, truth);
}

static void counts(void)
{
	struct perf_event_attr attr = sampling_attr("xeon7500_cbox_3", "llc_misses.all", 100003);
	int fd;

	begin();
	leave_from(WITHOUT_BIT);
	fd = perf_open(&attr, WITHOUT_BIT, -1);
	ktap_check(fd == -EOPNOTSUPP, "sampling: %d", fd);
	silicon_clear();
	fd = event_open("xeon7500_cbox_3", "llc_misses.all", WITHOUT_BIT, -1);
	perf_run_us(fd, 3000);
	check_count(fd, "core 8");
	all_online(CPUS);
}

/* The last core with a bit has one. */
static void samples(void)
{
	struct ring *r;

	begin();
	leave_from(WITHOUT_BIT - 1);
	r = sampling_open("xeon7500_cbox_3", "llc_misses.all", 100003, WITHOUT_BIT - 1, 64);
	perf_run_us(r->fd, 20000);
	check_books("core 7");
	ktap_check(r->samples, "no sample");
	all_online(CPUS);
}

/* A sampling event comes to a core without a bit: nothing is counted wrong or forgotten. */
static void goes_on(void)
{
	struct ring *r;

	begin();
	r = sampling_open("xeon7500_cbox_3", "llc_misses.all", 100003, FIRST, 64);
	perf_enable(r->fd);
	sleep_us(10000);
	leave_from(WITHOUT_BIT);
	sleep_us(100000);
	perf_disable(r->fd);
	check_count(r->fd, "from core 0 to core 8");
	check_books("from core 0 to core 8");
	all_online(CPUS);
}

SILICON_MAIN({ "core 8 counts, and does not sample", counts },
	     { "core 7 samples", samples },
	     { "an event that samples comes to core 8", goes_on })
