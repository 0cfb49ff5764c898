// SPDX-License-Identifier: GPL-2.0-only
/*
 * NMIs that are none of ours, while an event samples: the dump button, SERR and IOCHK; and PMIs
 * that somebody has masked. In the guest; selftests/vm/unknown_nmi.py starts it.
 *
 * CPU 0 is in charge, CPU 1 is not.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "foreign.h"
#include "sampling.h"

#define NMIS		200

/* Clocks in a millisecond. */
#define KHZ		2266000

static unsigned int seen(const char *what)
{
	return module_parameter("witness", what);
}

static void start(void)
{
	event_close_all();
	module_unload();
	module_load("");
	silicon_start();
	sampling_limit(1000000);
	srand(1);
}

static void sample(unsigned int period)
{
	sampling_open("xeon7500_mbox_0", "mbox_cycles", period, 0, 64);
	lost_open();
	perf_enable(rings[0].fd);
	sleep_us(5000);
}

/* One at a time, at any moment. */
static void nmis(int cpu, unsigned int num, unsigned int reason)
{
	unsigned int i, after_us;

	for (i = 0; i < num; i++) {
		after_us = 50 + rand() % 3000;
		if (reason)
			msr_write(cpu, SYN_NMI_REASON, reason);
		msr_write(cpu, SYN_NMI, after_us * 1000ull + rand() % 1000);
		sleep_us(after_us + 1000);
	}
}

/*
 * An NMI that comes while another one is handled is one with it, as everywhere. At 1 kHz that is
 * about one in 300: six times as many are allowed for, since these come at random.
 */
static void check_arrived(const char *what, unsigned int came, unsigned int sent)
{
	ktap_note("%s: %u of %u", what, came, sent);
	ktap_check(came <= sent && came >= sent - sent / 50, "%s: %u of %u arrived", what, came,
		   sent);
}

static void check_sampled(const char *what)
{
	perf_disable(rings[0].fd);
	check_books(what);
	ktap_check(rings[0].samples > 50, "%llu samples", rings[0].samples);
	sleep_us(20000);
}

static void nothing_samples(void)
{
	unsigned int before;

	start();
	before = seen("unknown");
	nmis(0, 20, 0);
	check_arrived("on CPU 0", seen("unknown") - before, 20);
	perf_enable(event_open("xeon7500_mbox_0", "mbox_cycles", 0, -1));
	before = seen("unknown");
	nmis(0, 20, 0);
	check_arrived("while an event counts", seen("unknown") - before, 20);
}

static void while_sampling(void)
{
	unsigned int before;
	int cpu;

	start();
	for (cpu = 0; cpu < 2; cpu++) {
		sample(KHZ);
		before = seen("unknown");
		nmis(cpu, NMIS, 0);
		check_arrived(cpu ? "on CPU 1" : "on CPU 0", seen("unknown") - before, NMIS);
		check_sampled("at 1 kHz");
		event_close_all();
		silicon_clear();
	}
	ktap_check(package_caps("swallowed_nmis") >= 0 && package_caps("swallowed_nmis") <= NMIS / 50,
		   "swallowed_nmis is %lld", package_caps("swallowed_nmis"));
}

/* Two events that overflow at the same moment: the second PMI finds the CPU's interrupt masked. */
static void in_step(void)
{
	unsigned int before;

	start();
	sampling_open("xeon7500_mbox_0", "mbox_cycles", KHZ, 0, 64);
	sampling_open("xeon7500_mbox_0", "mbox_cycles", KHZ, 0, 64);
	lost_open();
	gates_install();
	perf_enable(rings[0].fd);
	perf_enable(rings[1].fd);
	gates_open();
	sleep_us(5000);
	before = seen("unknown");
	nmis(0, NMIS, 0);
	check_arrived("with two events in step", seen("unknown") - before, NMIS);
	gates_close();
}

/* The kernel excuses the next NMI at the same instruction if two handlers claim one. */
static void at_one_instruction(void)
{
	unsigned int before;
	pid_t child;

	start();
	child = fork();
	ktap_require(child >= 0, "fork: %s", strerror(errno));
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run_on(0);
		asm volatile("1: jmp 1b");
	}
	sample(KHZ);
	before = seen("unknown");
	nmis(0, NMIS, 0);
	check_arrived("at one instruction", seen("unknown") - before, NMIS);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	check_sampled("at one instruction");
}

/* One NMI on this CPU, while it locks the package again and again for an event. */
static void nmi_beside_lock(int fd)
{
	u64 end = clock_ns() + 4000000;

	msr_write(0, SYN_NMI, 50000 + rand() % 3000000);
	while (clock_ns() < end) {
		perf_enable(fd);
		perf_disable(fd);
	}
}

/* A PMI that finds the package locked has come: no other NMI is taken for it. */
static void while_locked(void)
{
	unsigned int before, i;
	int fd;

	start();
	sample(KHZ);
	fd = event_open("xeon7500_cbox_0", "llc_misses.all", 0, -1);
	run_on(0);
	before = seen("unknown");
	for (i = 0; i < NMIS; i++)
		nmi_beside_lock(fd);
	run_on(-1);
	check_arrived("beside a program that locks", seen("unknown") - before, NMIS);
	check_sampled("beside a program that locks");
}

static void of_the_chipset(void)
{
	unsigned int before;

	start();
	sample(KHZ);
	before = seen("serr");
	nmis(0, NMIS / 4, SYN_NMI_SERR);
	check_arrived("SERR", seen("serr") - before, NMIS / 4);
	before = seen("iochk");
	nmis(0, NMIS / 4, SYN_NMI_IOCHK);
	check_arrived("IOCHK", seen("iochk") - before, NMIS / 4);
	check_sampled("beside SERR and IOCHK");
	msr_write(0, SYN_NMI_REASON, 0);
}

/* PMIs that come when the watch has handled their overflow: each of them is taken once. */
static void late_pmis(void)
{
	unsigned int before;
	long long swallowed;

	start();
	sample(KHZ);
	before = seen("unknown");
	swallowed = package_caps("swallowed_nmis");
	msr_write(0, SYN_FAULT_DELAY_NS, 11000000);
	sleep_us(200000);
	msr_write(0, SYN_FAULT_DELAY_NS, 0);
	sleep_us(20000);
	swallowed = package_caps("swallowed_nmis") - swallowed;
	ktap_note("%llu late, %lld taken", msr_read(0, SYN_PMI(SYN_PMI_DELAYED)), swallowed);
	ktap_check(msr_read(0, SYN_PMI(SYN_PMI_DELAYED)) > 10, "none was late");
	ktap_check(seen("unknown") == before, "%u unknown NMIs", seen("unknown") - before);
	ktap_check(swallowed > 0 && swallowed <= (long long)msr_read(0, SYN_PMI(SYN_PMI_DELAYED)),
		   "swallowed_nmis: %lld more", swallowed);
	check_sampled("late");
}

/* The overflow bit of an event that only counts stays set until the watch has run. */
static void beside_a_wrap(void)
{
	unsigned int before, i;
	int fd;

	start();
	sampling_open("xeon7500_mbox_0", "mbox_cycles", 1ull << 40, 0, 1);
	perf_enable(rings[0].fd);
	perf_enable(event_open("xeon7500_cbox_0", "llc_hits.all", 0, -1));
	fd = event_open("xeon7500_cbox_1", "llc_misses.all", 0, -1);
	before = seen("unknown");
	for (i = 0; i < NMIS; i++) {
		msr_write(0, C0_CTR_0, (1ull << 48) - 100);
		nmis(0, 1, 0);
	}
	check_arrived("beside a counter that wraps", seen("unknown") - before, NMIS);
	run_on(0);
	before = seen("unknown");
	for (i = 0; i < NMIS; i++) {
		msr_write(0, C0_CTR_0, (1ull << 48) - 100);
		nmi_beside_lock(fd);
	}
	run_on(-1);
	check_arrived("in the lock, beside a counter that wraps", seen("unknown") - before, NMIS);
	ktap_check(silicon_truth(0, SYN_OVERFLOWS, C0_CTR_0) == 2 * NMIS, "%llu wraps",
		   silicon_truth(0, SYN_OVERFLOWS, C0_CTR_0));
}

/* Their PMIs never come, so no other NMI is to be taken for them. */
static void lost_pmis(void)
{
	unsigned int before;

	start();
	sample(KHZ);
	msr_write(0, SYN_FAULT_LOSE, 1ull << 40);
	sleep_us(100000);
	msr_write(0, SYN_FAULT_LOSE, 0);
	sleep_us(20000);
	before = seen("unknown");
	nmis(0, NMIS, 0);
	check_arrived("after PMIs got lost", seen("unknown") - before, NMIS);
}

/* ---- LVTPC as another program has left it ---- */

#define MASKED		"0x10400"
#define ITS_VECTOR	"0xf7"

static void lvtpc(const char *value)
{
	run_on(0);
	ktap_require(put_text("/sys/module/witness/parameters/lvtpc", value), "%s", strerror(errno));
	run_on(-1);
}

/* The watch finds an overflow that had no PMI, within 10 ms, and lets PMIs in again. */

static void masked(void)
{
	u64 before;

	start();
	sample(KHZ);
	lvtpc(MASKED);
	sleep_us(15000);
	ktap_check(msr_read(0, SYN_PMI_CPU(SYN_PMI_MASKED)), "no PMI was masked");
	before = msr_read(0, SYN_PMI_CPU(SYN_PMI_SENT));
	sleep_us(80000);
	ktap_check(msr_read(0, SYN_PMI_CPU(SYN_PMI_SENT)) > before + 40, "%llu PMIs, then %llu",
		   before, msr_read(0, SYN_PMI_CPU(SYN_PMI_SENT)));
	check_sampled("after LVTPC was masked");
}

/* Also when PMIs are tested. */
static void at_first(const char *value)
{
	start();
	lvtpc(value);
	sample(KHZ);
	sleep_us(80000);
	check_sampled(value);
	check_caps_pmi(value, "yes");
}

static void masked_at_first(void)
{
	at_first(MASKED);
}

static void vector_at_first(void)
{
	at_first(ITS_VECTOR);
}

SILICON_MAIN({ "an NMI of nobody is unknown when nothing samples", nothing_samples },
	     { "an NMI of nobody is unknown while an event samples at 1 kHz", while_sampling },
	     { "an NMI of nobody is unknown while two events overflow at once", in_step },
	     { "an NMI of nobody is unknown while a program repeats one instruction", at_one_instruction },
	     { "an NMI of nobody is unknown while PMIs find the package locked", while_locked },
	     { "SERR and IOCHK arrive while an event samples at 1 kHz", of_the_chipset },
	     { "late PMIs are taken, and counted", late_pmis },
	     { "an NMI of nobody is unknown when an event that only counts has wrapped",
	       beside_a_wrap },
	     { "lost PMIs excuse no NMI, while the event goes on", lost_pmis },
	     { "PMIs come again when another program has masked LVTPC", masked },
	     { "PMIs come when another program has masked LVTPC before", masked_at_first },
	     { "PMIs come when LVTPC had the vector of another program", vector_at_first })
