// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters have 48 bits. At 24 entries per cycle one wraps after an hour and a half;
 * with -icount the hours pass as fast as the guest has nothing to do, but not for free.
 * So only where the time is what is tested, because a timer or a jiffy decides, a counter
 * goes all the way. Elsewhere it is moved close to the end while it stands behind a gate.
 *
 * VM: --sockets 2 --cores 2 --icount
 */
#include "hotplug.h"
#include "silicon.h"

#define PMU	"xeon7500_cbox_3"
#define CTR	0xdd1
#define M48	((1ull << 48) - 1)

/* 2^48 / (24 * 2.266 GHz), and some. */
#define WRAP_S	5200

/* So long after it was read last, a counter may have wrapped twice and is asked. */
#define MAY_HAVE_WRAPPED_S	1200

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

/*
 * Moves a counter that stands to so many counts before its end. Nobody tells the driver;
 * returns what the event will have more than the silicon saw.
 */
static uint64_t move(int cpu, unsigned int ctr, uint64_t left)
{
	uint64_t to = (1ull << 48) - left, was = msr_read(cpu, ctr);

	msr_write(cpu, ctr, to);
	return (to - was) & M48;
}

/* The gate is open until this counter has had so many overflows. */
static void run_until(int cpu, int gate, unsigned int ctr, uint64_t overflows)
{
	perf_enable(gate);
	while (silicon_truth(cpu, SYN_OVERFLOWS, ctr) < overflows)
		sleep_us(100);
	perf_disable(gate);
	ktap_check(silicon_truth(cpu, SYN_OVERFLOWS, ctr) == overflows);
}

/* Nobody reads; three wraps, of six counters in the same cycle. */
static void unattended(void)
{
	int cpu = start(0), gate, fd[6], i, wrap;
	uint64_t moved[6] = {};

	gate = event_open("xeon7500_ubox", "gate", cpu, -1);
	for (i = 0; i < 6; i++)
		fd[i] = event_open(PMU, "occupancy_irq", cpu, i ? fd[0] : -1);
	perf_enable(fd[0]);
	for (wrap = 1; wrap <= 3; wrap++) {
		for (i = 0; i < 6; i++)
			moved[i] += move(cpu, CTR + 2 * i, 10000007);
		run_until(cpu, gate, CTR, wrap);
	}
	perf_disable(fd[0]);
	for (i = 0; i < 6; i++) {
		uint64_t count = perf_count(fd[i]).value;
		uint64_t want = moved[i] + silicon_truth(cpu, SYN_EVENTS, CTR + 2 * i);

		ktap_check(count == want && count >> 48 == 3, "counter %d: %#llx, wanted %#llx", i,
			   (unsigned long long)count, (unsigned long long)want);
		ktap_check(silicon_truth(cpu, SYN_OVERFLOWS, CTR + 2 * i) == 3, "counter %d", i);
	}
	msr_write(cpu, SYN_TRAFFIC_RESET, 1);
}

/* The interrupt of a wrap gets lost, and nobody reads for long; the next read finds it. */
static void lost_interrupt(void)
{
	int cpu = start(1), fd, gate;
	uint64_t moved, count, want;

	gate = event_open("xeon7500_ubox", "gate", cpu, -1);
	fd = event_open(PMU, "occupancy_irq", cpu, -1);
	perf_enable(fd);
	moved = move(cpu, CTR, 10000007);
	msr_write(cpu, SYN_FAULT_LOSE, 1);
	perf_enable(gate);
	sleep_s(MAY_HAVE_WRAPPED_S);
	count = perf_count(fd).value;
	ktap_check(count >> 48 == 1, "%#llx while it runs", (unsigned long long)count);
	perf_disable(gate);
	perf_disable(fd);
	ktap_check(msr_read(cpu, SYN_PMI(SYN_PMI_LOST)) == 1 &&
		   msr_read(cpu, SYN_PMI_CPU(SYN_PMI_SENT)) == 0, "the interrupt was not lost");
	msr_write(cpu, SYN_FAULT_LOSE, 0);
	count = perf_count(fd).value;
	want = moved + silicon_truth(cpu, SYN_EVENTS, CTR);
	ktap_check(count == want && count >> 48 == 1, "%#llx, wanted %#llx",
		   (unsigned long long)count, (unsigned long long)want);
	ktap_check(silicon_truth(cpu, SYN_OVERFLOWS, CTR) == 1);
	msr_write(cpu, SYN_TRAFFIC_RESET, 1);
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
	uint64_t truth = box_truth(cpu, SYN_EVENTS, PMU), count;
	uint64_t overflows = box_truth(cpu, SYN_OVERFLOWS, PMU);

	count = perf_count(fd).value;
	ktap_check(count == truth && truth >> 48 == wraps, "%#llx, truth %#llx",
		   (unsigned long long)count, (unsigned long long)truth);
	ktap_check(overflows == wraps, "%llu overflows", (unsigned long long)overflows);
	msr_write(cpu, SYN_TRAFFIC_RESET, 1);
}

/* One package is read now and then, of the other nobody hears. */
static void real(void)
{
	int cpu[2], fd[2], p, i, reads = 6 * real_wraps();
	uint64_t last = 0, now;

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
			   "%#llx after %#llx", (unsigned long long)now, (unsigned long long)last);
		last = now;
	}
	others_online(true);
	for (p = 0; p < 2; p++)
		perf_disable(fd[p]);
	for (p = 0; p < 2; p++)
		check(cpu[p], fd[p], real_wraps());
}

/*
 * Hardware that cannot interrupt: a timer takes over. All of it, and no read.
 */
static void without_interrupt(void)
{
	unsigned int sent;
	int cpu, fd, c;

	silicon_start();
	ktap_require(!system("modprobe -r xeon7500_uncore"), "in use");
	for (c = 0; c < 4; c++)
		msr_write(c, SYN_FAULT_DEBUGCTL, 1);
	ktap_require(!system("modprobe xeon7500_uncore"), "cannot be loaded");
	cpu = start(0);
	fd = event_open(PMU, "occupancy_irq", cpu, -1);
	perf_enable(fd);
	others_online(false);
	sleep_s(real_wraps() * WRAP_S);
	others_online(true);
	perf_disable(fd);
	sent = msr_read(cpu, SYN_PMI_CPU(SYN_PMI_SENT));
	ktap_check(!sent, "%u interrupts", sent);
	check(cpu, fd, real_wraps());

	event_close_all();
	ktap_require(!system("modprobe -r xeon7500_uncore"), "in use");
	for (c = 0; c < 4; c++)
		msr_write(c, SYN_FAULT_DEBUGCTL, 0);
	ktap_require(!system("modprobe xeon7500_uncore"), "cannot be loaded");
}

SILICON_MAIN({ "three wraps of six counters that nobody sees", unattended },
	     { "the interrupt of a wrap gets lost", lost_interrupt },
	     { "all the way, seen and unseen", real },
	     { "all the way on hardware that cannot interrupt", without_interrupt })
