// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters have 48 bits. At 24 entries per cycle one wraps after an hour and a half;
 * with -icount the hours pass as fast as the guest has nothing to do, but not for free.
 * So only where the time is what is tested, because a timer decides, a counter goes all
 * the way. Elsewhere it is moved close to the end while it stands behind a gate.
 *
 * No wrap of an event that only counts asks for an interrupt.
 *
 * VM: --sockets 2 --cores 2 --icount --append nmi_watchdog=0
 * TEST: 6.1 debug
 * SOAK: 6.1 newest
 */
#include "foreign.h"
#include "hotplug.h"
#include "silicon.h"

#define PMU	"xeon7500_cbox_3"
#define CTR	C3_CTR_0
#define WRAP	(1ull << 48)

/* 2^48 / (24 * 2.266 GHz), and some. */
#define WRAP_S	5200

/* All the way: three times, where there is the time for it. */
static unsigned int real_wraps(void)
{
	return soak() ? 3 : 1;
}

static void sleep_s(unsigned int s)
{
	struct timespec ts = { .tv_sec = s };

	while (nanosleep(&ts, &ts))
		;
}

/* From now on occupancy_irq is 24 in every cycle. */
static int start(int package)
{
	int cpu;

	silicon_start();
	cpu = package_cpu(package);
	silicon_traffic(cpu, SYN_SEL(SYN_BOX_C, 3, 0x18, SYN_ANY), SYN_PATTERN(0, 0, 1, 24));
	return cpu;
}

/* ---- moved close to the end ---- */

static void no_pmi(void)
{
	int p;

	for (p = 0; p < 2; p++)
		ktap_check(!msr_read(package_cpu(p), SYN_PMI(SYN_PMI_REQUESTED)),
			   "package %d: %llu PMIs", p,
			   msr_read(package_cpu(p), SYN_PMI(SYN_PMI_REQUESTED)));
}

/* The gate is open until this counter has had so many overflows. */
static void run_until(int cpu, int gate, unsigned int ctr, u64 overflows)
{
	int i;

	perf_enable(gate);
	for (i = 0; i < 1000 && silicon_truth(cpu, SYN_OVERFLOWS, ctr) < overflows; i++)
		sleep_us(100);
	perf_disable(gate);
	ktap_require(silicon_truth(cpu, SYN_OVERFLOWS, ctr) == overflows, "%llu overflows, not %llu",
		     silicon_truth(cpu, SYN_OVERFLOWS, ctr), overflows);
}

/* Nobody reads while it runs; three wraps, of six counters in the same cycle. */
static void unattended(void)
{
	int cpu = start(0), gate, fd[6], i, wrap;
	u64 moved[6] = {};

	gate = event_open("xeon7500_package", "gate", cpu, -1);
	for (i = 0; i < 6; i++)
		fd[i] = event_open(PMU, "occupancy_irq", cpu, i ? fd[0] : -1);
	perf_enable(fd[0]);
	for (wrap = 1; wrap <= 3; wrap++) {
		for (i = 0; i < 6; i++)
			moved[i] += counter_move(fd[i], cpu, CTR + 2 * i, WRAP - 10000007);
		run_until(cpu, gate, CTR, wrap);
	}
	perf_disable(fd[0]);
	for (i = 0; i < 6; i++) {
		u64 count = perf_count(fd[i]).value;
		u64 want = moved[i] + silicon_truth(cpu, SYN_EVENTS, CTR + 2 * i);

		ktap_check(count == want && count >> 48 == 3, "counter %d: %#llx, wanted %#llx", i,
			   count, want);
		ktap_check(silicon_truth(cpu, SYN_OVERFLOWS, CTR + 2 * i) == 3, "counter %d", i);
	}
	event_close_all();
	check_clean(cpu, "after three wraps");
	no_pmi();
	msr_write(cpu, SYN_TRAFFIC_RESET, 1);
}

/*
 * The W-Box reads too high where its lower 24 bits are 0 or 1, and must not start where they are
 * 0xfffffe or 0xffffff: two counts earlier is the nearest value that may be written.
 */
static void wbox_errata(void)
{
	static const struct { const char *event; unsigned int ctr; } on[] = {
		{ "uncore_clock", W_FIXED_CTR }, { "c_cycles_turbo.c_all", W_CTR_0 },
	};
	const u64 round = 1 << 24;
	u64 at, left, want, count;
	struct perf_event_attr attr;
	unsigned int i, n;
	int cpu, fd;

	for (i = 0; i < ARRAY_SIZE(on); i++) {
		silicon_start();
		cpu = package_cpu(0);
		event_open("xeon7500_package", "gate", cpu, -1);
		fd = event_open("xeon7500_wbox", on[i].event, cpu, -1);
		perf_enable(fd);
		for (n = 0; n < 4; n++) {
			at = (n + 1) * 5 * round + n;
			msr_write(cpu, on[i].ctr, at);
			count = perf_count(fd).value;
			ktap_check(count == at, "%s: %#llx at %#llx", on[i].event, count, at);
		}
		perf_disable(fd);
		for (n = 1; n < 5; n++) {
			attr = event_attr("xeon7500_wbox", on[i].event);
			attr.sample_period = round + n;
			fd = event_open_attr(&attr, cpu, -1);
			perf_enable(fd);
			left = WRAP - msr_read(cpu, on[i].ctr);
			want = round + n + (n < 3 ? 2 : 0);
			ktap_check(left == want, "%s every %llu: starts %llu before the end, not %llu",
				   on[i].event, round + n, left, want);
			perf_disable(fd);
		}
		event_close_all();
	}
}

/* ---- all the way ---- */

/* CPUs that serve no package only cost time while nothing happens. */
static void others_online(bool online)
{
	set_online(1, online);
	set_online(3, online);
}

static void check(int cpu, int fd, unsigned int wraps)
{
	u64 truth = box_truth(cpu, SYN_EVENTS, PMU), count;
	u64 overflows = box_truth(cpu, SYN_OVERFLOWS, PMU);

	count = perf_count(fd).value;
	ktap_check(count == truth && truth >> 48 == wraps, "%#llx, truth %#llx", count, truth);
	ktap_check(overflows == wraps, "%llu overflows", overflows);
	msr_write(cpu, SYN_TRAFFIC_RESET, 1);
}

/* One package is read now and then, of the other nobody hears. */
static void real(void)
{
	int cpu[2], fd[2], p, i, reads = 6 * real_wraps();
	u64 last = 0, now;

	cpu[1] = start(1);
	cpu[0] = start(0);
	for (p = 0; p < 2; p++) {
		fd[p] = event_open(PMU, "occupancy_irq", cpu[p], -1);
		perf_enable(fd[p]);
	}
	others_online(false);
	for (i = 0; i < reads; i++) {
		sleep_s(WRAP_S / 6 + 1);
		now = perf_count(fd[1]).value;
		ktap_check(now > last && now <= box_truth(cpu[1], SYN_EVENTS, PMU),
			   "%#llx after %#llx", now, last);
		last = now;
	}
	others_online(true);
	for (p = 0; p < 2; p++)
		perf_disable(fd[p]);
	for (p = 0; p < 2; p++)
		check(cpu[p], fd[p], real_wraps());
	no_pmi();
}

SILICON_MAIN({ "three wraps of six counters that nobody sees", unattended },
	     { "values of the W-Box that read wrong or must not be written", wbox_errata },
	     { "all the way, seen and unseen", real })
