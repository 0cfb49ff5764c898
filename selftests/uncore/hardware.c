// SPDX-License-Identifier: GPL-2.0-only
/*
 * What has to be true on any machine, whatever its topology and whatever happens on it:
 * nothing here asks the virtual silicon.
 *
 * VM: --sockets 2 --cores 2
 */
#include "hotplug.h"
#include "sampling.h"

#define WBOX	"xeon7500_wbox"
#define CLOCK	"uncore_clock"

/*
 * Waits until an event has counted @more; false if it does not. Does not sleep: an idle
 * CPU has no ticks, which is when perf lets an event go on that it has throttled.
 */
static bool counts_on(int fd, u64 more)
{
	u64 before = perf_value(fd);
	int turns;

	for (turns = 0; turns < 1000; turns++) {
		if (perf_value(fd) - before > more)
			return true;
		spin_us(1000);
	}
	return false;
}

/*
 * The count is one period for each sample, and a rest that is less than one. With freeze,
 * since a handler that comes late may find more than one period gone.
 */
static void samples_make_the_count(void)
{
	const u64 period = 10000019;
	int cpus[SILICON_MAX_PACKAGES], num = pmu_cpus(WBOX, cpus), i;

	for (i = 0; i < num; i++) {
		u64 count, told, lost;
		struct ring *r;

		silicon_start();
		run_on(cpus[i]);
		lost_open();
		r = sampling_open(WBOX, CLOCK ",freeze=1", period, cpus[i], 64);
		perf_enable(r->fd);
		ktap_check(counts_on(r->fd, 20 * period), "CPU %d: does not count", cpus[i]);
		perf_disable(r->fd);
		count = perf_value(r->fd);
		ring_drain(r, NULL, NULL);
		lost = lost_count();
		told = r->samples + ring_no_room(r) + lost;
		ktap_check(r->samples >= 20 && told == count / period,
			   "CPU %d: %llu samples, %llu in all, %llu lost; %llu in periods of %llu",
			   cpus[i], r->samples, told, lost, count, period);
	}
	run_on(-1);
}

/* Two events of one kind in a group count the same. */
static void twins(void)
{
	int cpus[SILICON_MAX_PACKAGES], num = pmu_cpus("xeon7500_cbox_0", cpus), i;

	for (i = 0; i < num; i++) {
		u64 now[3] = {};
		struct perf_event_attr attr;
		int fd;

		silicon_start();
		attr = event_attr("xeon7500_cbox_0", "occupancy_irq");
		attr.read_format = PERF_FORMAT_GROUP;
		fd = event_open_attr(&attr, cpus[i], -1);
		attr.disabled = 0;
		event_open_attr(&attr, cpus[i], fd);
		perf_enable(fd);
		sleep_us(10000);
		ktap_require(read(fd, now, sizeof(now)) == sizeof(now), "read: %s",
			     strerror(errno));
		ktap_check(now[0] == 2 && now[1] == now[2], "CPU %d: %llu and %llu", cpus[i],
			   now[1], now[2]);
	}
}

/* The CPU of a package whose events can go to another one, -1 if there is none. */
static int movable_cpu(void)
{
	int cpus[SILICON_MAX_PACKAGES], num = pmu_cpus(WBOX, cpus), i, other;

	for (i = 0; i < num; i++) {
		/* Few kernels let go of CPU 0. */
		if (!cpus[i])
			continue;
		for (other = 0; other < sysconf(_SC_NPROCESSORS_ONLN); other++) {
			if (other != cpus[i] && cpu_package(other) == cpu_package(cpus[i]))
				return cpus[i];
		}
	}
	return -1;
}

/* An event goes on when its CPU goes, and its count never falls back. */
static void events_move(void)
{
	u64 before, after;
	int cpu, package, fd;

	silicon_start();
	cpu = movable_cpu();
	if (cpu < 0)
		ktap_skip("needs a package with two CPUs, without CPU 0 in charge");
	package = cpu_package(cpu);
	fd = event_open(WBOX, CLOCK, cpu, -1);
	perf_enable(fd);
	ktap_check(counts_on(fd, 1000), "does not count");
	before = perf_value(fd);
	set_online(cpu, false);
	ktap_check(package_cpu(package) >= 0 && package_cpu(package) != cpu,
		   "CPU %d in charge of package %d", package_cpu(package), package);
	after = perf_value(fd);
	ktap_check(after >= before, "%llu, then %llu", before, after);
	ktap_check(counts_on(fd, 1000), "does not count on");
	set_online(cpu, true);
	before = perf_value(fd);
	ktap_check(counts_on(fd, 1000), "does not count on");
	perf_disable(fd);
	after = perf_value(fd);
	ktap_check(after > before && perf_value(fd) == after, "counts though it is off");
}

MACHINE_MAIN({ "as many samples as periods", samples_make_the_count },
	     { "twins in a group", twins },
	     { "events move with their package", events_move })
