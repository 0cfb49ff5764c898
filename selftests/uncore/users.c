// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a user expects: "perf stat -C N" with any N, reads that disturb no other CPU, a
 * parameter that does without PMIs, and sysfs that says how things are.
 *
 * CPUs 0 to 3 are package 0, 4 to 7 package 1.
 *
 * VM: --sockets 2 --cores 2 --threads 2
 */
#include <sys/wait.h>

#include "foreign.h"
#include "hotplug.h"
#include "kmsg.h"
#include "sampling.h"

#define CPUS		8

static void start(const char *parameters)
{
	event_close_all();
	all_online(CPUS);
	module_unload();
	module_load(parameters);
	silicon_start();
}

/* -errno or a file that the next case closes. */
static int try_open(const char *pmu, const char *event, int cpu)
{
	struct perf_event_attr attr = event_attr(pmu, event);
	int fd = perf_open(&attr, cpu, -1);

	ktap_check(fd >= 0, "%s/%s/ on CPU %d: %s", pmu, event, cpu, strerror(-fd));
	if (fd >= 0)
		open_events[num_open_events++] = fd;
	return fd;
}

/* 0 or -errno. */
static int opens(struct perf_event_attr attr)
{
	int fd = perf_open(&attr, 0, -1);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

/* ---- any CPU ---- */

static void any_cpu_counts(void)
{
	u64 count, truth;
	int cpu, fd;

	start("");
	for (cpu = 0; cpu < CPUS; cpu++) {
		silicon_clear();
		fd = try_open("xeon7500_cbox_3", "llc_misses.all", cpu);
		if (fd < 0)
			continue;
		perf_run_us(fd, 3000);
		count = perf_count(fd).value;
		truth = box_truth(cpu, SYN_EVENTS, "xeon7500_cbox_3");
		ktap_check(count && count == truth, "CPU %d: %llu, truth of its package %llu", cpu,
			   count, truth);
		/* And of no other one. */
		truth = box_truth(CPUS - 1 - cpu, SYN_EVENTS, "xeon7500_cbox_3");
		ktap_check(!truth, "CPU %d: %llu on the other package", cpu, truth);
		event_close_all();
	}
}

static void any_cpu_in_a_group(void)
{
	struct perf_event_attr attr;
	int leader, fd;

	start("");
	leader = try_open("xeon7500_cbox_3", "llc_misses.all", 3);
	if (leader < 0)
		return;
	attr = event_attr("xeon7500_cbox_3", "llc_misses.all");
	attr.disabled = 0;
	fd = perf_open(&attr, 3, leader);
	ktap_require(fd >= 0, "on the CPU of the leader: %s", strerror(-fd));
	open_events[num_open_events++] = fd;
	perf_run_us(leader, 3000);
	ktap_check(perf_count(leader).value && perf_count(leader).value == perf_count(fd).value,
		   "%llu and %llu", perf_count(leader).value, perf_count(fd).value);
}

/* It samples where PMIs come, that is on the CPU in charge. */
static void any_cpu_samples(void)
{
	struct perf_event_attr attr;
	int fd;

	start("");
	lost_open();
	attr = sampling_attr("xeon7500_mbox_1", "mbox_cycles", 500009);
	fd = perf_open(&attr, 6, -1);
	if (!ktap_check(fd >= 0, "on CPU 6: %s", strerror(-fd)))
		return;
	open_events[num_open_events++] = fd;
	event_ring(fd, attr.sample_type, 8);
	perf_run_us(fd, 20000);
	check_books("on CPU 6");
	ktap_check(rings[0].samples, "no sample");
}

/* The CPU that was named may go. A gate stays open. */
static void any_cpu_goes(void)
{
	u64 count, truth;
	int fd, gate;

	start("");
	fd = try_open("xeon7500_cbox_3", "llc_misses.all", 6);
	gate = try_open(PACKAGE, "gate", 6);
	if (fd < 0 || gate < 0)
		return;
	perf_enable(gate);
	perf_enable(fd);
	sleep_us(1000);
	set_online(6, false);
	count = perf_count(fd).value;
	sleep_us(1000);
	ktap_check(perf_count(fd).value > count, "%llu, and no more", count);
	perf_disable(fd);
	count = perf_count(fd).value;
	truth = box_truth(4, SYN_EVENTS, "xeon7500_cbox_3");
	set_online(6, true);
	ktap_check(count && count == truth, "%llu, truth %llu", count, truth);
}

/* ---- reads ---- */

/* Function calls that a CPU got from others. */
static unsigned int calls(int cpu)
{
	char line[512], *s;
	unsigned int val = 0;
	FILE *f = fopen("/proc/interrupts", "r");
	int i;

	ktap_require(f, "/proc/interrupts: %s", strerror(errno));
	while (fgets(line, sizeof(line), f)) {
		s = strstr(line, "CAL:");
		if (!s)
			continue;
		for (i = 0, s += 4; i <= cpu; i++)
			val = strtoul(s, &s, 10);
	}
	fclose(f);
	return val;
}

#define READS	2000

static void no_ipi(void)
{
	static const int readers[] = { 0, 1, 3 };
	unsigned int i, n, before, came;
	u64 last = 0, now;
	int fd;

	start("");
	fd = event_open("xeon7500_cbox_3", "llc_misses.all", package_cpu(0), -1);
	perf_enable(fd);
	for (i = 0; i < ARRAY_SIZE(readers); i++) {
		run_on(readers[i]);
		before = calls(0);
		for (n = 0; n < READS; n++) {
			now = perf_count(fd).value;
			if (now < last)
				ktap_check(now >= last, "%llu after %llu", now, last);
			last = now;
		}
		came = calls(0) - before;
		ktap_check(came < READS / 10, "read %d times on CPU %d: CPU 0 was interrupted %u times",
			   READS, readers[i], came);
	}
	run_on(-1);
	perf_disable(fd);
	ktap_check(perf_count(fd).value == box_truth(0, SYN_EVENTS, "xeon7500_cbox_3"),
		   "%llu, truth %llu", perf_count(fd).value,
		   box_truth(0, SYN_EVENTS, "xeon7500_cbox_3"));
	/* From the other package it has to be asked for. */
	perf_enable(fd);
	run_on(6);
	sleep_us(1000);
	last = perf_count(fd).value;
	sleep_us(1000);
	ktap_check(perf_count(fd).value > last, "stands when read on the other package");
	run_on(-1);
}

/* From several CPUs at once: nothing is counted twice. */
static void reads_at_once(void)
{
	u64 count, truth, last, now;
	int fd, cpu, pid[4], status, n;

	start("");
	fd = event_open("xeon7500_cbox_3", "occupancy_irq", package_cpu(0), -1);
	perf_enable(fd);
	fflush(stdout);
	for (cpu = 0; cpu < 4; cpu++) {
		pid[cpu] = fork();
		ktap_require(pid[cpu] >= 0, "%s", strerror(errno));
		if (pid[cpu])
			continue;
		run_on(cpu);
		for (n = 0, last = 0; n < 5 * READS; n++, last = now) {
			now = perf_count(fd).value;
			if (now < last || now >> 47)
				_exit(1);
		}
		_exit(0);
	}
	for (cpu = 0; cpu < 4; cpu++) {
		waitpid(pid[cpu], &status, 0);
		ktap_check(!status, "the count that CPU %d saw went back", cpu);
	}
	perf_disable(fd);
	count = perf_count(fd).value;
	truth = box_truth(0, SYN_EVENTS, "xeon7500_cbox_3");
	ktap_check(count == truth, "%llu, truth %llu", count, truth);
}

/* ---- pmi= and sysfs ---- */

static void pmi_off(void)
{
	u64 debugctl[CPUS];
	int cpu, fd, err;

	start("");
	event_close_all();
	module_unload();
	for (cpu = 0; cpu < CPUS; cpu++) {
		/* If it is set it is not ours to clear. */
		debugctl[cpu] = msr_read(cpu, IA32_DEBUGCTL) & ~UNCORE_PMI_EN;
		/* Also of those that serve a package */
		if (cpu % 4 < 2)
			debugctl[cpu] |= UNCORE_PMI_EN;
		msr_write(cpu, IA32_DEBUGCTL, debugctl[cpu]);
	}
	silicon_clear();
	kmsg_mark();
	module_load("pmi=off");
	ktap_check(!kmsg_count("unknown parameter"), "there is no parameter pmi");
	err = opens(sampling_attr("xeon7500_cbox_0", "llc_misses.all", 100000));
	ktap_check(err == -EOPNOTSUPP, "sampling: %d", err);
	err = opens(event_attr("xeon7500_cbox_0", "llc_misses.all,freeze=1"));
	ktap_check(err == -EOPNOTSUPP, "freeze: %d", err);
	fd = event_open("xeon7500_cbox_0", "llc_misses.all", 0, -1);
	perf_run_us(fd, 3000);
	ktap_check(perf_count(fd).value &&
		   perf_count(fd).value == box_truth(0, SYN_EVENTS, "xeon7500_cbox_0"),
		   "%llu", perf_count(fd).value);
	check_caps_pmi("with pmi=off", "off");
	for (cpu = 0; cpu < CPUS; cpu++) {
		ktap_check(msr_read(cpu, IA32_DEBUGCTL) == debugctl[cpu],
			   "CPU %d: DEBUGCTL %#llx, was %#llx", cpu, msr_read(cpu, IA32_DEBUGCTL),
			   debugctl[cpu]);
		ktap_check(!msr_read(cpu, SYN_PMI_CPU(SYN_PMI_SENT)), "CPU %d got a PMI", cpu);
	}
	module_unload();
	for (cpu = 0; cpu < CPUS; cpu++) {
		ktap_check(msr_read(cpu, IA32_DEBUGCTL) == debugctl[cpu],
			   "CPU %d: DEBUGCTL %#llx after unload, was %#llx", cpu,
			   msr_read(cpu, IA32_DEBUGCTL), debugctl[cpu]);
		msr_write(cpu, IA32_DEBUGCTL, debugctl[cpu] & ~UNCORE_PMI_EN);
	}
	module_load("");
}

static void pmi_on(void)
{
	int err;

	start("pmi=on");
	check_caps_pmi("with pmi=on", "untested");
	err = opens(sampling_attr("xeon7500_cbox_0", "llc_misses.all", 100000));
	ktap_check(!err, "sampling: %d", err);
	check_caps_pmi("with pmi=on, after a sampling event", "yes");
	event_close_all();
	module_unload();
	/* What it does not know it refuses. */
	ktap_check(system("modprobe " OURS " pmi=maybe 2>/dev/null"), "pmi=maybe is accepted");
	if (pmu_type("xeon7500_cbox_0") < 0)
		module_load("");
}

static void numbers_in_caps(void)
{
	start("");
	ktap_check(foreign_writes() == 0, "foreign_writes %lld", foreign_writes());
	ktap_check(package_caps("swallowed_nmis") == 0, "swallowed_nmis %lld",
		   package_caps("swallowed_nmis"));
	check_caps_pmi("after load", "untested");
}

/* What belongs to no box belongs to the package. */
static void package_pmu(void)
{
	static const char * const names[] = { "gate", "frozen", "lost" };
	char path[120];
	unsigned int i;
	u64 ns;
	int fd;

	start("");
	for (i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), SYSFS_PMU "/" PACKAGE "/events/%s", names[i]);
		ktap_check(!access(path, F_OK), "no %s", path);
		snprintf(path, sizeof(path), SYSFS_PMU "/xeon7500_ubox/events/%s", names[i]);
		ktap_check(access(path, F_OK), "%s is still there", path);
	}
	ktap_require(pmu_type(PACKAGE) >= 0, "no PMU " PACKAGE);
	for (i = 0; i < 3; i++) {
		fd = try_open(PACKAGE, names[i], 5);
		if (fd < 0)
			continue;
		perf_run_us(fd, 1000);
		ns = perf_count(fd).value;
		ktap_check(i ? !ns : ns >= 1000000, "%s: %llu", names[i], ns);
		event_close_all();
	}
}

SILICON_MAIN({ "an event counts on any CPU of its package", any_cpu_counts },
	     { "so does a group", any_cpu_in_a_group },
	     { "an event samples on any CPU of its package", any_cpu_samples },
	     { "the CPU of an event goes", any_cpu_goes },
	     { "a read interrupts no other CPU of the package", no_ipi },
	     { "reads on several CPUs at once count nothing twice", reads_at_once },
	     { "pmi=off does without PMIs and IA32_DEBUGCTL", pmi_off },
	     { "pmi=on is as without", pmi_on },
	     { "numbers in caps", numbers_in_caps },
	     { "gate, frozen and lost are events of the package", package_pmu })
