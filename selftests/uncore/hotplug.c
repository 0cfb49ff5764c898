// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPUs that come and go while events count. The CPU in charge of a package hands its
 * events to another CPU of the package; no count gets lost on the way.
 *
 * CPUs 0 and 1 are package 0, 2 and 3 package 1.
 *
 * PART: adversaries
 * VM: --sockets 2 --cores 2
 * SOAK: 6.1 6.12 newest debug-rt debug-kcsan
 */
#include "hotplug.h"
#include "kmsg.h"
#include "sampling.h"

/* All CPUs there, 2 in charge of package 1. */
static void start(void)
{
	event_close_all();
	if (!silicon_here() && sysconf(_SC_NPROCESSORS_CONF) != 4)
		ktap_skip("needs two packages with two CPUs each");
	all_online(4);
	if (package_cpu(1) != 2) {
		set_online(3, false);
		set_online(3, true);
	}
	ktap_require(package_cpu(1) == 2, "CPU %d has package 1", package_cpu(1));
	silicon_start();
}

/* One event on each box of package 1; the C-Boxes have six and a group of two besides. */
#define MAX_EVENTS	80
static int fds[MAX_EVENTS], num_fds;
static const char *const cbox_events[] = {
	"llc_misses.all", "llc_hits.all", "occupancy_irq", "occupancy_maf,thresh=2", "trans_irq",
	"trans_maf",
};

static void open_many(int cpu)
{
	char pmu[32];
	int i, n, leader;

	num_fds = 0;
	for (i = 0; i < 8; i++) {
		snprintf(pmu, sizeof(pmu), "xeon7500_cbox_%d", i);
		for (n = 0; n < 6; n++)
			fds[num_fds++] = event_open(pmu, cbox_events[n], cpu, -1);
		leader = event_open(pmu, "snps.remote_rd", cpu, -1);
		fds[num_fds++] = leader;
		fds[num_fds++] = event_open(pmu, "snps.remote_rfo", cpu, leader);
	}
	fds[num_fds++] = event_open("xeon7500_ubox", "woken", cpu, -1);
	fds[num_fds++] = event_open("xeon7500_wbox", "uncore_clock", cpu, -1);
	fds[num_fds++] = event_open("xeon7500_wbox", "prochot", cpu, -1);
}

static void enable_many(void)
{
	int i;

	for (i = 0; i < num_fds; i++)
		perf_enable(fds[i]);
}

static void disable_many(void)
{
	int i;

	for (i = 0; i < num_fds; i++)
		perf_disable(fds[i]);
}

static u64 sum_of_counts(void)
{
	u64 sum = 0;
	int i;

	for (i = 0; i < num_fds; i++)
		sum += perf_count(fds[i]).value;
	return sum;
}

static void add_truth(const char *pmu, void *arg)
{
	u64 *sum = arg;

	*sum += box_truth(package_cpu(1), SYN_EVENTS, pmu);
}

static void check_sums(void)
{
	u64 truth = 0, sum = sum_of_counts();

	silicon_compare();
	for_each_pmu(add_truth, &truth);
	ktap_check(sum == truth && sum, "%llu, truth %llu", sum, truth);
}

static void event_moves(void)
{
	struct perf_count first, second;
	int fd;

	start();
	fd = event_open("xeon7500_cbox_1", "llc_misses.all", 2, -1);
	perf_enable(fd);
	sleep_us(3000);
	set_online(2, false);
	ktap_check(package_cpu(1) == 3, "CPU %d has package 1", package_cpu(1));
	first = perf_count(fd);
	sleep_us(3000);
	second = perf_count(fd);
	ktap_check(first.value && second.value > first.value, "%llu, then %llu", first.value,
		   second.value);
	perf_disable(fd);
	silicon_compare();
	ktap_check(perf_count(fd).value == box_truth(3, SYN_EVENTS, "xeon7500_cbox_1"));
	/* The old one comes back and is not in charge any more. */
	set_online(2, true);
	ktap_check(package_cpu(1) == 3, "CPU %d has package 1", package_cpu(1));
	perf_run_us(fd, 3000);
	ktap_check(perf_count(fd).value > second.value);
	ktap_check(perf_count(fd).value == box_truth(3, SYN_EVENTS, "xeon7500_cbox_1"));
}

/* Each of them goes on: for two hundred turns of a timer that perf runs every 4 ms. */
static void check_each_runs(void)
{
	u64 before[MAX_EVENTS] = {};
	int i, turns, waiting = num_fds;

	for (i = 0; i < num_fds; i++)
		before[i] = perf_count(fds[i]).running;
	for (turns = 0; turns < 200 && waiting; turns++) {
		sleep_us(4000);
		for (i = 0, waiting = 0; i < num_fds; i++)
			waiting += perf_count(fds[i]).running == before[i];
	}
	ktap_check(!waiting, "%d of %d events run no more", waiting, num_fds);
}

static void many_events_move(void)
{
	start();
	open_many(2);
	enable_many();
	sleep_us(30000);
	set_online(2, false);
	check_each_runs();
	disable_many();
	check_sums();
}

/*
 * A disabled event moves too. perf enables it on the way (perf_pmu_migrate_context()
 * knows no disabled state), so it counts from there on; but it counts right.
 */
static void disabled_event_moves(void)
{
	int fd;

	start();
	fd = event_open("xeon7500_cbox_4", "llc_misses.all", 2, -1);
	set_online(2, false);
	perf_run_us(fd, 2000);
	ktap_check(perf_count(fd).value &&
		   perf_count(fd).value == box_truth(3, SYN_EVENTS, "xeon7500_cbox_4"));
}

static void other_cpu_goes(void)
{
	int fd;

	start();
	fd = event_open("xeon7500_cbox_0", "occupancy_irq", 2, -1);
	perf_enable(fd);
	set_online(3, false);
	ktap_check(package_cpu(1) == 2, "CPU %d has package 1", package_cpu(1));
	sleep_us(2000);
	set_online(3, true);
	perf_disable(fd);
	silicon_compare();
	ktap_check(perf_count(fd).value == box_truth(2, SYN_EVENTS, "xeon7500_cbox_0"));
	/* One window: nothing was stopped for it. */
	ktap_check(box_truth(2, SYN_WINDOWS, "xeon7500_cbox_0") == 1);
}

/* An event of this CPU's package counts, and right. */
KTAP_CALL(counts_on_3, event_counts("CPU 3 has the package", "xeon7500_cbox_0", "llc_misses.all",
				    3, 2000))

/* With its last CPU a package stops; its events keep their counts. */
static void whole_package_goes(void)
{
	struct perf_event_attr attr = event_attr("xeon7500_cbox_0", "llc_misses.all");
	int cpus[SILICON_MAX_PACKAGES];
	u64 gone, truth = 0;

	start();
	open_many(2);
	enable_many();
	sleep_us(5000);
	set_online(2, false);
	sleep_us(5000);
	set_online(3, false);
	ktap_check(pmu_cpus("xeon7500_cbox_0", cpus) == 1 && package_cpu(1) < 0);
	gone = sum_of_counts();
	sleep_us(5000);
	ktap_check(gone && sum_of_counts() == gone, "%llu, then %llu", gone, sum_of_counts());
	ktap_check(perf_open(&attr, 2, -1) == -ENODEV && perf_open(&attr, 3, -1) == -ENODEV,
		   "CPU 2: %d, CPU 3: %d", perf_open(&attr, 2, -1), perf_open(&attr, 3, -1));

	set_online(3, true);
	ktap_check(package_cpu(1) == 3, "CPU %d has package 1", package_cpu(1));
	silicon_compare();
	for_each_pmu(add_truth, &truth);
	ktap_check(truth == gone, "%llu, truth %llu", gone, truth);
	ktap_check(!(msr_read(3, U_GLOBAL_CTL) & 1 << 28), "still enabled");
	event_close_all();

	silicon_start();
	counts_on_3();
}

/* The same counter before a package goes and after it has come back. */
static void same_counter_again(void)
{
	int fd;

	start();
	fd = event_open("xeon7500_cbox_0", "llc_misses.all", 2, -1);
	perf_enable(fd);
	sleep_us(1000);
	set_online(2, false);
	set_online(3, false);
	silicon_clear();
	set_online(3, true);
	/* The control registers of its boxes are written anew. What is there is known. */
	ktap_check(!silicon_here() || silicon_accesses() <= 100, "%u accesses", silicon_accesses());
	event_close_all();
	silicon_start();
	counts_on_3();
}

/* An event that perf cannot move any more, and that has long stopped. */
static void no_false_message(void)
{
	start();
	perf_enable(event_open("xeon7500_cbox_0", "llc_misses.all", 2, -1));
	set_online(2, false);
	set_online(3, false);
	set_online(3, true);
	kmsg_mark();
	set_online(2, true);
	set_online(3, false);
	ktap_check(!kmsg_count("too many events"), "a false message");
	set_online(3, true);
	event_close_all();
}

/* A package whose CPUs come only after the module was loaded. */
static void package_comes_later(void)
{
	int cpus[SILICON_MAX_PACKAGES];

	start();
	set_online(2, false);
	set_online(3, false);
	ktap_require(!system("modprobe -r xeon7500_uncore && modprobe xeon7500_uncore"),
		     "cannot be loaded again");
	ktap_check(pmu_cpus("xeon7500_cbox_0", cpus) == 1);
	set_online(3, true);
	ktap_check(pmu_cpus("xeon7500_cbox_0", cpus) == 2 && package_cpu(1) == 3);
	set_online(2, true);
	ktap_check(package_cpu(1) == 3, "CPU %d has package 1", package_cpu(1));
	silicon_compare();
	silicon_start();
	counts_on_3();
}

/* There and back under full load, with reads in between. */
static void many_moves(void)
{
	int i, moves = soak() ? 20 : 3;
	u64 last = 0, now;

	start();
	open_many(2);
	enable_many();
	for (i = 0; i < moves; i++) {
		int cpu = package_cpu(1);

		set_online(cpu, false);
		now = sum_of_counts();
		ktap_check(now > last, "round %d: %llu, before %llu", i, now, last);
		last = now;
		set_online(cpu, true);
		ktap_check(package_cpu(1) == 5 - cpu);
	}
	disable_many();
	check_sums();
}

/*
 * Each overflow interrupts this CPU, and none of the other package. Since it goes on, one
 * may be on its way when the statistics begin and when they are read.
 */
static void check_pmis(int cpu)
{
	u64 before, overflows, after;

	silicon_clear();
	while (box_truth(cpu, SYN_OVERFLOWS, "xeon7500_cbox_1") < 50)
		sleep_us(1000);
	before = msr_read(cpu, SYN_PMI_CPU(SYN_PMI_SENT));
	overflows = box_truth(cpu, SYN_OVERFLOWS, "xeon7500_cbox_1");
	after = msr_read(cpu, SYN_PMI_CPU(SYN_PMI_SENT));
	ktap_check(before <= overflows + 1 && overflows <= after + 1,
		   "CPU %d: %llu to %llu PMIs, %llu overflows", cpu, before, after, overflows);
	ktap_check(!msr_read(0, SYN_PMI_CPU(SYN_PMI_SENT)), "package 0 got some");
}

/*
 * A sampling event moves: from then on each overflow interrupts the other CPU. Frozen, for it
 * would not interrupt if it came before the last one has been handled.
 */
static void pmis_follow(void)
{
	struct perf_event_attr attr;
	int fd;

	start();
	attr = event_attr("xeon7500_cbox_1", "occupancy_maf,freeze=1");
	attr.sample_period = 2000003;
	fd = event_open_attr(&attr, 2, -1);
	perf_enable(fd);
	check_pmis(2);
	set_online(2, false);
	check_pmis(3);
	perf_disable(fd);
}

static bool listens(int cpu)
{
	return msr_read(cpu, IA32_DEBUGCTL) & UNCORE_PMI_EN;
}

/*
 * The CPU in charge comes back before it has gone: another one has the package then, or this one
 * has it again. No event is enabled or overflows meanwhile, so nothing else sets IA32_DEBUGCTL.
 */
static void comes_back(bool last)
{
	int in_charge = last ? 2 : 3;

	start();
	if (last)
		set_online(3, false);
	perf_enable(sampling_open("xeon7500_cbox_1", "occupancy_maf", 1ull << 40, 2, 8)->fd);
	ktap_check(listens(2), "PMIs are kept out at first");
	offline_fails(2);
	ktap_check(package_cpu(1) == in_charge, "CPU %d has package 1", package_cpu(1));
	ktap_check(listens(in_charge), "PMIs are kept out");
	ktap_check(last || !listens(2), "CPU 2 still lets PMIs in");
	set_online(3, true);
}

KTAP_CALL(comes_back_beside_another, comes_back(false))
KTAP_CALL(comes_back_as_last, comes_back(true))

MACHINE_MAIN({ "an event moves to the other CPU and goes on", event_moves },
	     { "67 events in all boxes move", many_events_move },
	     { "PMIs follow", pmis_follow },
	     { "PMIs follow, and the CPU stays after all", comes_back_beside_another },
	     { "the last CPU of a package stays after all, and samples", comes_back_as_last },
	     { "a disabled event moves", disabled_event_moves },
	     { "a CPU goes that is not in charge", other_cpu_goes },
	     { "the last CPU of a package goes and comes back", whole_package_goes },
	     { "the same counter before and after that", same_counter_again },
	     { "no message about an event that was left behind", no_false_message },
	     { "a package comes after the module", package_comes_later },
	     { "many moves", many_moves })
