// SPDX-License-Identifier: GPL-2.0-only
/*
 * Suspend and restart: no counter runs and no PMI is let in from the moment on at which
 * the driver was told. In the guest; selftests/vm/suspend.py starts it.
 *
 * CPUs 0 and 1 are package 0, 2 and 3 package 1.
 */
#include "foreign.h"
#include "kmsg.h"
#include "module.h"
#include "sampling.h"

/* Some sample, those without period count. */
static const struct {
	const char *pmu, *event;
	unsigned int period;
} events[] = {
	{ "xeon7500_cbox_1", "llc_hits.all", 300007 },
	{ "xeon7500_mbox_0", "mbox_cycles", 2000003 },
	{ "xeon7500_sbox_0", "to_r_ndr_msgq_occupancy", 0 },
	{ "xeon7500_wbox", "uncore_clock", 0 },
	{ "xeon7500_mbox_1", "dram_cmd.cas_rd_opn", 0 },
};

#define M1_PLD	0xcea	/* M_MSR_PMU_PLD of M-Box 1 */

#define EVENTS	(int)ARRAY_SIZE(events)

static int fds[2 * EVENTS];

static u64 seen(const char *what)
{
	return module_parameter("witness", what);
}

static bool can(const char *path, const char *what)
{
	char text[200] = "";
	FILE *f = fopen(path, "r");

	if (f) {
		if (!fgets(text, sizeof(text), f))
			text[0] = 0;
		fclose(f);
	}
	return strstr(text, what);
}

static void begin(void)
{
	int i, p;

	silicon_start();
	sampling_limit(1000000);
	/* After the witness: it is told after us. */
	ktap_require(!system("modprobe -r " OURS " && modprobe " OURS), "cannot be loaded");
	kmsg_mark();
	lost_open();
	silicon_clear();
	for (p = 0; p < 2; p++) {
		for (i = 0; i < EVENTS; i++) {
			int cpu = package_cpu(p);

			if (events[i].period)
				fds[p * EVENTS + i] = sampling_open(events[i].pmu, events[i].event,
								    events[i].period, cpu, 64)->fd;
			else
				fds[p * EVENTS + i] = event_open(events[i].pmu, events[i].event,
								 cpu, -1);
			perf_enable(fds[p * EVENTS + i]);
		}
	}
	sleep_us(5000);
}

/* All counts are the truth; of a package that has none of its CPUs, when it had. */
static void check_counts(const char *what)
{
	int i, p;

	for (p = 0; p < 2; p++) {
		for (i = 0; i < EVENTS; i++) {
			u64 truth = box_truth(2 * p, SYN_EVENTS, events[i].pmu);
			u64 count = perf_value(fds[p * EVENTS + i]);

			ktap_check(truth && count == truth, "%s: package %d: %s: %llu, truth %llu",
				   what, p, events[i].pmu, count, truth);
		}
	}
}

static u64 all_truth(unsigned int what)
{
	u64 sum = 0;
	int i, p;

	for (p = 0; p < 2; p++) {
		for (i = 0; i < EVENTS; i++)
			sum += box_truth(2 * p, what, events[i].pmu);
	}
	return sum;
}

/* Events are open and enabled, and nothing counts. */
static void restart(void)
{
	u64 before, sent = 0;
	int cpu;

	begin();
	/* The driver finds the overflows whose PMIs have got lost before it is told. */
	msr_write(0, SYN_FAULT_LOSE, 1ull << 40);
	sleep_us(3000);
	ktap_require(put_text("/sys/module/witness/parameters/reboot", OURS), "not told: %s", strerror(errno));
	msr_write(0, SYN_FAULT_LOSE, 0);
	before = all_truth(SYN_EVENTS);
	for (cpu = 0; cpu < 4; cpu++) {
		ktap_check(!msr_read(cpu, U_GLOBAL_CTL), "CPU %d: U_GLOBAL_CTL %#llx", cpu,
			   msr_read(cpu, U_GLOBAL_CTL));
		ktap_check(!(msr_read(cpu, IA32_DEBUGCTL) & UNCORE_PMI_EN), "CPU %d lets PMIs in", cpu);
		sent += msr_read(cpu, SYN_PMI_CPU(SYN_PMI_SENT));
	}
	ktap_check(sent, "no PMI before");
	sleep_us(50000);
	ktap_check(before && all_truth(SYN_EVENTS) == before, "%llu events, then %llu", before,
		   all_truth(SYN_EVENTS));
	for (cpu = 0; cpu < 4; cpu++)
		sent -= msr_read(cpu, SYN_PMI_CPU(SYN_PMI_SENT));
	ktap_check(!sent, "PMIs came");
	check_counts("restart");
	check_books("restart");
	kmsg_no_unknown_nmi();
	event_close_all();
	ktap_require(!system("modprobe -r " OURS " && modprobe " OURS), "cannot be loaded");
}

/* Does the first event get @more samples within ten seconds? */
static bool samples_come(u64 more)
{
	u64 end = clock_ns() + 10000000000, wanted;

	rings_drain();
	wanted = rings[0].samples + more;
	while (rings[0].samples < wanted && clock_ns() < end) {
		sleep_us(1000);
		rings_drain();
	}
	return rings[0].samples >= wanted;
}

/* All of it but the firmware's part. Events of CPUs that go are gone, those of CPU 0 go on. */
static void suspend(void)
{
	u64 windows, pld, count[EVENTS];
	const char *state = NULL;
	long long missed;
	int i;

	/* What sleeps without the system core would never wake up here. */
	if (can("/sys/power/mem_sleep", "deep") && put_text("/sys/power/mem_sleep", "deep"))
		state = "mem";
	else if (can("/sys/power/state", "disk"))
		state = "disk";
	if (!state || !put_text("/sys/power/pm_test", "core"))
		ktap_skip("this kernel cannot test it");
	put_text("/sys/module/suspend/parameters/pm_test_delay", "1");
	put_text("/sys/module/hibernate/parameters/pm_test_delay", "1");

	begin();
	rings_drain();
	windows = silicon_truth(0, SYN_WINDOWS, W_FIXED_CTR);
	pld = msr_read(0, M1_PLD);
	ktap_require(put_text("/sys/power/state", state), "%s: %s", state, strerror(errno));
	ktap_note("%s: U_GLOBAL_CTL %#llx, IA32_DEBUGCTL %#llx", state, seen("global_ctl"),
		  seen("debugctl"));
	ktap_check(!seen("global_ctl") && !(seen("debugctl") & UNCORE_PMI_EN), "not asleep");
	ktap_check(silicon_truth(0, SYN_WINDOWS, W_FIXED_CTR) > windows, "it has not stopped");
	/* Awake again, with what the witness has taken away. */
	ktap_check(pld && msr_read(0, M1_PLD) == pld, "M_PLD %#llx, was %#llx", msr_read(0, M1_PLD),
		   pld);
	for (i = 0; i < EVENTS; i++)
		count[i] = perf_value(fds[i]);
	/* PMIs come again, and so does the watch, which finds the overflows whose PMIs get lost. */
	missed = package_caps("missed_pmis");
	ktap_check(samples_come(50) && package_caps("missed_pmis") < missed + 50,
		   "%llu samples, %lld overflows found by the watch", rings[0].samples,
		   package_caps("missed_pmis") - missed);
	msr_write(0, SYN_FAULT_LOSE, 1ull << 40);
	ktap_check(samples_come(5), "%llu samples, and no more", rings[0].samples);
	ktap_check(msr_read(0, SYN_FAULT_LOSE) < 1ull << 40, "no PMI got lost");
	msr_write(0, SYN_FAULT_LOSE, 0);
	ktap_check(samples_come(2), "%llu samples, and no more", rings[0].samples);
	for (i = 0; i < EVENTS; i++)
		ktap_check(perf_value(fds[i]) > count[i], "%s: %llu, and no more", events[i].pmu,
			   count[i]);
	ktap_check(msr_read(0, IA32_DEBUGCTL) & UNCORE_PMI_EN, "PMIs are kept out");
	for (i = 0; i < EVENTS; i++)
		perf_disable(fds[i]);
	ktap_check(package_cpu(1) >= 2, "package 1 is not back");
	check_counts("suspend");
	check_books("suspend");
	kmsg_no_unknown_nmi();
}

SILICON_MAIN({ "nothing counts when the system restarts", restart },
	     { "nothing counts while the system sleeps, all goes on when it resumes", suspend })
