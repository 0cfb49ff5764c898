// SPDX-License-Identifier: GPL-2.0-only
/*
 * Everything at once: all kinds of boxes of two packages sample, CPUs go and come back,
 * the core PMU samples on all CPUs and the NMI watchdog runs. Each overflow of the
 * silicon is a sample, or one that found no room in its ring: none is lost. No NMI
 * is left that nobody wants, with the core PMU in use and without it.
 *
 * OVERFLOWS in the environment says how many there are to be at least, see
 * selftests/bench/stress; else it is a million in make soak. The rings have room:
 * records of throttling would be among those without room otherwise.
 *
 * CPUs 0 and 1 are package 0, 2 and 3 package 1.
 *
 * PART: adversaries
 * VM: --sockets 2 --cores 2
 * SOAK: 6.1 6.12 newest debug-kcsan
 */
#include "hotplug.h"
#include "kmsg.h"
#include "sampling.h"

#define CPUS		4
#define CASES		6

/* The last overflows every 20 us or so, until perf throttles it, the others every few ms. */
static const struct {
	const char *pmu, *event;
	unsigned int period;
} sampled[] = {
	{ "xeon7500_ubox", "woken", 20011 },
	{ "xeon7500_cbox_0", "llc_hits.all", 900023 },
	{ "xeon7500_cbox_1", "llc_hits.all", 900023 },
	{ "xeon7500_cbox_2", "occupancy_irq", 27000035 },
	{ "xeon7500_cbox_3", "trans_maf", 1500029 },
	{ "xeon7500_cbox_4", "occupancy_maf,thresh=3,edge", 1200029 },
	{ "xeon7500_cbox_5", "arb_wins.ad_sb", 900023 },
	{ "xeon7500_cbox_6", "snps.remote_any", 300011 },
	{ "xeon7500_cbox_7", "llc_misses.s", 300011 },
	{ "xeon7500_wbox", "uncore_clock", 6600041 },
	{ "xeon7500_wbox", "c_cycles_turbo.c_all", 6600041 },
	{ "xeon7500_sbox_0", "to_r_ndr_msgq_occupancy", 9000053 },
	{ "xeon7500_sbox_1", "to_r_snp_msgq_cycles_ne", 2700005 },
	{ "xeon7500_bbox_0", "msgs_in_non_snoop", 1200029 },
	{ "xeon7500_bbox_1", "imt_inserts_all", 20011 },
	{ "xeon7500_mbox_0", "mbox_cycles", 6600041 },
	{ "xeon7500_mbox_1", "bbox_cmds.reads", 900023 },
	{ "xeon7500_rbox_0", "flits_sent,port=1", 1500029 },
	{ "xeon7500_rbox_1", "flits_sent,port=2", 1500029 },
	{ "xeon7500_mbox_0", "mbox_cycles", 45001 },
};

#define SAMPLED		(int)ARRAY_SIZE(sampled)

static u64 goal(void)
{
	const char *s = getenv("OVERFLOWS");

	return (s ? strtoull(s, NULL, 0) : soak() ? 1000000 : 20000) / CASES;
}

/* ---- what is there besides ---- */

static bool with_core;
static u64 core_samples;

/* As perf record -c does it, every 50 us of a busy CPU. */
static void core_open(int cpu)
{
	struct perf_event_attr attr = cycles_attr(100003, SAMPLE_BASE);

	if (with_core)
		event_ring(event_open_attr(&attr, cpu, -1), attr.sample_type, 8);
}

/* What a CPU has told the kernel as PMIs of its core PMU. */
static u64 core_pmis(void)
{
	u64 sum = 0;
	int cpu;

	for (cpu = 0; cpu < CPUS; cpu++)
		sum += msr_read(cpu, SYN_PMI_CPU(SYN_PMI_CORE_SENT));
	return sum;
}

static void watchdog(bool on)
{
	FILE *f = fopen("/proc/sys/kernel/nmi_watchdog", "r+");
	int is = 0;

	ktap_require(f && fputs(on ? "1" : "0", f) >= 0 && !fflush(f), "%s", strerror(errno));
	rewind(f);
	ktap_require(fscanf(f, "%d", &is) == 1 && is == on, "cannot be switched");
	fclose(f);
}

/* ---- rings that come and go; what they had counts on ---- */

static struct books gone;

static void ring_retire(struct ring *r)
{
	ring_drain(r, NULL, NULL);
	gone.rings.samples += r->samples;
	gone.rings.throttles += r->throttles;
	gone.no_room += ring_no_room(r);
	munmap(r->page, r->size);
	close(r->fd);
}

/* The last one that was opened, among events and rings. */
static void retire_last(void)
{
	ring_retire(&rings[--num_rings]);
	num_open_events--;
}

static void core_retire(void)
{
	struct ring *r;

	if (!with_core)
		return;
	r = &rings[--num_rings];
	ring_drain(r, NULL, NULL);
	core_samples += r->samples;
	munmap(r->page, r->size);
	close(r->fd);
	num_open_events--;
}

static void sampling_all(int package, const char *options)
{
	char name[80];
	int i, first = num_rings;

	for (i = 0; i < SAMPLED; i++) {
		snprintf(name, sizeof(name), "%s%s", sampled[i].event, options);
		sampling_open(sampled[i].pmu, name, sampled[i].period, package_cpu(package),
			      sampled[i].period < 50000 ? 1024 : 128);
	}
	for (i = first; i < num_rings; i++)
		perf_enable(rings[i].fd);
}

/* For the first packages; that of one that goes ends with it. */
static void lost_open_first(int packages)
{
	lost_open();
	while (lost_packages > packages)
		close(open_events[--num_open_events]), lost_packages--;
}

static void start(int packages)
{
	all_online(CPUS);
	silicon_start();
	memset(&gone, 0, sizeof(gone));
	core_samples = 0;
	/* 20 in a tick of 4 ms. */
	sampling_limit(5000);
	watchdog(with_core);
	kmsg_mark();
	lost_open_first(packages);
	silicon_clear();
}

/*
 * Behind gates the watch gives the samples that wait for it. Without, a host that has stopped the
 * machine while the driver gave samples makes each event lose one as it leaves.
 */
static void stop(void)
{
	int i;

	gates_install();
	sleep_us(100000);
	for (i = 0; i < num_rings; i++)
		perf_disable(rings[i].fd);
}

static void finish(const char *what)
{
	struct books b = gone;
	struct ring sum;
	int i;

	rings_drain();
	rings_sum(&sum);
	b.rings.samples += sum.samples;
	b.rings.throttles += sum.throttles;
	for (i = 0; i < num_rings; i++)
		b.no_room += ring_no_room(&rings[i]);
	b.overflows = all_overflows();
	b.lost += lost_count();
	books_balance(what, &b);
	books_lost(what, &b);
	ktap_check(b.overflows >= goal(), "%llu overflows", b.overflows);
	ktap_check(b.rings.throttles, "nothing was throttled");
	ktap_check(with_core ? core_samples > 10 : !core_pmis(), "core PMU: %llu samples",
		   core_samples);
	kmsg_no_unknown_nmi();
	ktap_note("%s: %llu overflows = %llu samples + %llu without room + %llu lost; %llu throttles, %llu core PMIs",
		  what, b.overflows, b.rings.samples, b.no_room, b.lost, b.rings.throttles,
		  core_pmis());
}

/* ---- all CPUs but the last of a package ---- */

static void round_of_cpus(void)
{
	static const int order[] = { 2, 1, 3 };
	unsigned int i;
	int cpu;

	for (i = 0; i < ARRAY_SIZE(order); i++) {
		for (cpu = 0; cpu < CPUS; cpu++)
			core_open(cpu);
		set_online(order[i], false);
		rings_drain();
		set_online(order[i], true);
		rings_drain();
		for (cpu = 0; cpu < CPUS; cpu++)
			core_retire();
	}
}

static void come_and_go(const char *options, bool core)
{
	with_core = core;
	start(2);
	sampling_all(0, options);
	sampling_all(1, options);
	do {
		round_of_cpus();
	} while (all_overflows() < goal());
	stop();
	finish("CPUs");
}

KTAP_CALL(cpus, come_and_go(",freeze=1", true))
KTAP_CALL(cpus_unfrozen, come_and_go("", true))
KTAP_CALL(cpus_alone, come_and_go(",freeze=1", false))
KTAP_CALL(cpus_alone_unfrozen, come_and_go("", false))

/* ---- a whole package ---- */

static void round_of_package(const char *options)
{
	int cpu, i, lost = event_open("xeon7500_package", "lost", package_cpu(1), -1);

	perf_enable(lost);
	sampling_all(1, options);
	for (cpu = 0; cpu < CPUS; cpu++)
		core_open(cpu);
	rings_drain();
	set_online(2, false);
	rings_drain();
	set_online(3, false);
	rings_drain();
	set_online(3, true);
	set_online(2, true);
	for (cpu = 0; cpu < CPUS; cpu++)
		core_retire();
	for (i = 0; i < SAMPLED; i++)
		retire_last();
	gone.lost += perf_value(lost);
	close(lost);
	num_open_events--;
}

static void whole_package(const char *options)
{
	with_core = true;
	start(1);
	sampling_all(0, options);
	do {
		round_of_package(options);
	} while (all_overflows() < goal());
	stop();
	finish("package");
}

KTAP_CALL(package, whole_package(",freeze=1"))
KTAP_CALL(package_unfrozen, whole_package(""))

/* ---- gates of the other package ---- */

static pid_t repeat(int cpu, void (*once)(int cpu), u64 times)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	ktap_require(pid >= 0, "fork: %s", strerror(errno));
	if (!pid) {
		run_on(cpu);
		while (times--)
			once(cpu);
		_exit(ktap->failed);
	}
	return pid;
}

static void gate_across(int cpu)
{
	struct perf_event_attr attr = event_attr("xeon7500_package", "gate");

	attr.disabled = 0;
	close(event_open_attr(&attr, package_cpu(cpu < 2), -1));
	num_open_events--;
}

/* Each read takes the lock of the package. */
static void read_group(int cpu)
{
	struct perf_event_attr attr = event_attr("xeon7500_cbox_1", "llc_hits.all");
	u64 buf[8];
	int leader, i;

	attr.read_format = PERF_FORMAT_GROUP;
	leader = event_open_attr(&attr, package_cpu(cpu >= 2), -1);
	event_open("xeon7500_cbox_1", "llc_misses.all", package_cpu(cpu >= 2), leader);
	perf_enable(leader);
	for (i = 0; i < 50; i++)
		ktap_check(read(leader, buf, sizeof(buf)) > 0, "%s", strerror(errno));
	event_close_all();
}

/*
 * A CPU waits for the lock of its package in an NMI. If it had the lock of another package
 * meanwhile, or waited for it, two CPUs could wait for each other.
 */
static void gates_across(void)
{
	int cpu, status, gates[] = { package_cpu(0), package_cpu(1) };
	/* Lockdep reports it at the first gate. */
	u64 times = debug_kernel() ? 100 : soak() ? 20000 : 2000;
	pid_t pid[CPUS];

	with_core = false;
	start(1);
	sampling_open("xeon7500_ubox", "woken", 20011, package_cpu(0), 64);
	sampling_open("xeon7500_ubox", "woken", 20011, package_cpu(1), 64);
	for (cpu = 0; cpu < 2; cpu++)
		perf_enable(rings[cpu].fd);
	for (cpu = 0; cpu < CPUS; cpu++) {
		if (cpu == gates[cpu >= 2])
			pid[cpu] = repeat(cpu, gate_across, times);
		else
			pid[cpu] = repeat(cpu, read_group, ~0ULL);
	}
	for (cpu = 0; cpu < 2; cpu++)
		ktap_check(waitpid(pid[gates[cpu]], &status, 0) > 0 && !status,
			   "on CPU %d: status %#x", gates[cpu], status);
	for (cpu = 0; cpu < CPUS; cpu++) {
		if (cpu != gates[cpu >= 2])
			ktap_check(!waitpid(pid[cpu], &status, WNOHANG), "on CPU %d: status %#x",
				   cpu, status);
	}
	for (cpu = 0; cpu < 2; cpu++)
		perf_disable(rings[cpu].fd);
	rings_drain();
	for (cpu = 0; cpu < 2; cpu++) {
		ktap_check(rings[cpu].samples + ring_no_room(&rings[cpu]) > 100,
			   "package %d: %llu samples", cpu, rings[cpu].samples);
	}
}

/* ---- xeon7500_package/lost/ itself ---- */

/* An event that perf has throttled starts again at a tick; an idle CPU has none. */
static void overflows_again(int cpu)
{
	u64 before = box_truth(cpu, SYN_OVERFLOWS, "xeon7500_ubox");
	u64 end = clock_ns() + 10000000000ULL;
	bool more;

	run_on(cpu);
	do {
		more = box_truth(cpu, SYN_OVERFLOWS, "xeon7500_ubox") > before;
	} while (!more && clock_ns() < end);
	run_on(-1);
	ktap_check(more, "no overflow on CPU %d", cpu);
}

/* It moves, too, before or after the others, and nothing gets lost. */
static void lost_moves(void)
{
	struct ring *r;
	int i, later;

	with_core = false;
	start(2);
	r = sampling_open("xeon7500_ubox", "woken", 30000, package_cpu(1), 1024);
	later = event_open("xeon7500_package", "lost", package_cpu(1), -1);
	perf_enable(later);
	perf_enable(r->fd);
	for (i = 0; i < 6; i++) {
		int cpu = package_cpu(1);

		set_online(cpu, false);
		overflows_again(package_cpu(1));
		rings_drain();
		set_online(cpu, true);
		rings_drain();
	}
	perf_disable(r->fd);
	check_books("moving");
	ktap_check(lost_count() == perf_value(later), "%llu, another says %llu", lost_count(),
		   perf_value(later));
	ktap_note("%llu samples, %llu lost", r->samples, lost_count());
}

SILICON_MAIN({ "CPUs go and come, with freeze", cpus },
	     { "CPUs go and come, without freeze", cpus_unfrozen },
	     { "CPUs go and come, the core PMU idle, with freeze", cpus_alone },
	     { "CPUs go and come, the core PMU idle, without freeze", cpus_alone_unfrozen },
	     { "nothing gets lost on the way", lost_moves },
	     { "gates of the other package, while both interrupt", gates_across },
	     { "a whole package goes and comes, with freeze", package },
	     { "a whole package goes and comes, without freeze", package_unfrozen })
