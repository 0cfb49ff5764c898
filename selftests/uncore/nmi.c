// SPDX-License-Identifier: GPL-2.0-only
/*
 * When PMIs are asked for, what proves that they arrive, and what becomes of them.
 * NMIs that nobody wants are in selftests/vm/unknown_nmi.py.
 *
 * CPU 0 is in charge of package 0, CPU 2 of package 1.
 *
 * VM: --sockets 2 --cores 2 --icount --append nmi_watchdog=0
 * SOAK: 6.1 6.12 newest
 */
#include <sys/wait.h>

#include "foreign.h"
#include "hotplug.h"
#include "kmsg.h"
#include "sampling.h"

#define CPUS		4

/* From now on no uncore PMI arrives, though nothing shows it. */
#define ALL_LOST	(1ull << 40)

static void start(void)
{
	event_close_all();
	module_unload();
	msr_write(0, SYN_FAULT_LOSE, 0);
	module_load("");
	silicon_start();
	sampling_limit(1000000);
	kmsg_mark();
}

static u64 requested(void)
{
	return msr_read(0, SYN_PMI(SYN_PMI_REQUESTED)) + msr_read(2, SYN_PMI(SYN_PMI_REQUESTED));
}

static bool listens(int cpu)
{
	return msr_read(cpu, IA32_DEBUGCTL) & UNCORE_PMI_EN;
}

static int try_sampling(const char *event, int cpu)
{
	struct perf_event_attr attr = sampling_attr("xeon7500_cbox_2", event, 700001);
	int fd = perf_open(&attr, cpu, -1);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

/* ---- loading and counting ---- */

static unsigned int nmis(void)
{
	unsigned int sum = 0, n;
	char line[512], *s;
	FILE *f = fopen("/proc/interrupts", "r");

	ktap_require(f, "/proc/interrupts: %s", strerror(errno));
	while (fgets(line, sizeof(line), f)) {
		if (!strstr(line, "NMI:"))
			continue;
		for (s = strstr(line, "NMI:") + 4; sscanf(s, "%u", &n) == 1;) {
			sum += n;
			s += strspn(s, " ");
			s += strspn(s, "0123456789");
		}
	}
	fclose(f);
	return sum;
}

static void loading(void)
{
	unsigned int before, accesses;
	int cpu;

	start();
	module_unload();
	before = nmis();
	silicon_clear();
	module_load("");
	accesses = silicon_accesses();
	ktap_note("%u accesses for two packages", accesses);
	ktap_check(accesses <= 2 * 650, "%u accesses for two packages", accesses);
	ktap_check(!requested(), "%llu PMIs", requested());
	ktap_check(nmis() == before, "%u NMIs", nmis() - before);
	for (cpu = 0; cpu < CPUS; cpu++)
		ktap_check(!listens(cpu), "CPU %d lets PMIs in", cpu);
	check_caps_pmi("after load", "untested");
}

/* Would the overflow of any counter of the package ask for a PMI? */
static void check_no_pmi_en(int cpu, const char *when)
{
	uint16_t ctr[SILICON_MAX_COUNTERS];
	int i, n, num;

	for (i = 0; i < BOXES; i++) {
		u64 pmi_en = box_is(boxes[i], "mbox") ? 1 << 1 :
				  box_is(boxes[i], "rbox") ? 1 << 6 : 1 << 20, mask;

		num = box_counters(boxes[i], ctr);
		for (n = 0; n < num; n++) {
			mask = ctr[n] == W_FIXED_CTR ? 1 << 2 : pmi_en;
			ktap_check(!(msr_read(cpu, counter_ctl(ctr[n])) & mask),
				   "%s: %s: control register %#x is %#llx", when, boxes[i],
				   counter_ctl(ctr[n]), msr_read(cpu, counter_ctl(ctr[n])));
		}
	}
}

static void counting(void)
{
	static const struct {
		const char *pmu, *event;
	} counted[] = {
		{ "xeon7500_ubox", "woken" }, { "xeon7500_wbox", "uncore_clock" },
		{ "xeon7500_wbox", "prochot" }, { "xeon7500_cbox_0", "llc_misses.all" },
		{ "xeon7500_cbox_7", "occupancy_irq" },
		{ "xeon7500_sbox_1", "to_r_snp_msgq_cycles_ne" },
		{ "xeon7500_bbox_0", "imt_inserts_all" }, { "xeon7500_mbox_0", "mbox_cycles" },
		{ "xeon7500_rbox_1", "flits_sent,port=0" },
	};
	unsigned int i, before;
	int cpu;

	start();
	before = nmis();
	for (i = 0; i < ARRAY_SIZE(counted); i++)
		perf_enable(event_open(counted[i].pmu, counted[i].event, 0, -1));
	sleep_us(2000);
	check_no_pmi_en(0, "while events count");
	for (cpu = 0; cpu < CPUS; cpu++)
		ktap_check(!listens(cpu), "CPU %d lets PMIs in", cpu);
	event_close_all();
	ktap_check(!requested() && nmis() == before, "%llu PMIs, %u NMIs", requested(),
		   nmis() - before);
	check_caps_pmi("after counting", "untested");
	/* One that counts beside one that samples. */
	perf_enable(event_open("xeon7500_cbox_0", "llc_misses.all", 0, -1));
	perf_enable(sampling_open("xeon7500_cbox_1", "llc_misses.all", 700001, 0, 8)->fd);
	sleep_us(2000);
	ktap_check(!(msr_read(0, C0_EVT_SEL_0) & 1 << 20), "%#llx beside sampling",
		   msr_read(0, C0_EVT_SEL_0));
	event_close_all();
}

/* ---- the self-test ---- */

/* The core PMU interrupts each CPU all the time, as for "perf record -F max". */
static void noise(unsigned int period)
{
	struct perf_event_attr attr = cycles_attr(period, SAMPLE_BASE);
	int cpu;

	for (cpu = 0; cpu < CPUS; cpu++)
		event_open_attr(&attr, cpu, -1);
}

/* Of NMIs that come all the time each may hide one that has not come. */
static bool hides(unsigned int noise)
{
	return noise == 5003 || (noise && debug_kernel());
}

static void check_refused(int err, unsigned int noise)
{
	ktap_check(err == -EOPNOTSUPP || (hides(noise) && err == -EBUSY),
		   "core NMIs every %u cycles: %d", noise, err);
}

static void noise_proves_nothing(void)
{
	/* 4 kHz, 50 kHz such that it falls on each part of the test, and one NMI after the other. */
	static const unsigned int periods[] = { 0, 500009, 40009, 41011, 43003, 47017, 5003 };
	unsigned int i;
	int err;

	start();
	for (i = 0; i < ARRAY_SIZE(periods); i++) {
		module_unload();
		msr_write(0, SYN_FAULT_LOSE, ALL_LOST);
		if (periods[i])
			noise(periods[i]);
		run_on(0);
		ktap_require(!system("modprobe " OURS), "cannot be loaded");
		err = try_sampling("llc_misses.all", 0);
		check_refused(err, periods[i]);
		err = try_sampling("llc_misses.all,freeze=1", 0);
		check_refused(err, periods[i]);
		run_on(-1);
		ktap_check(msr_read(0, SYN_FAULT_LOSE) < ALL_LOST, "no PMI was tried");
		check_caps_pmi("where none arrives", err == -EBUSY ? "untested" : "no");
		event_close_all();
	}
	start();
}

static int user_tries_sampling(const char *event, int cpu)
{
	int status = -1;
	pid_t pid = fork();

	ktap_require(pid >= 0, "fork: %s", strerror(errno));
	if (!pid)
		_exit(setuid(65534) ? 255 : -try_sampling(event, cpu));
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -1000;
}

/* The same noise, and PMIs that arrive. */
static void noise_is_no_harm(void)
{
	static const unsigned int periods[] = { 500009, 100003, 40009, 5003, 5003 };
	unsigned int i, busy = 0;
	int err;

	ktap_require(put_text("/proc/sys/kernel/perf_event_paranoid", "0"), "paranoid: %s",
		     strerror(errno));
	for (i = 0; i < ARRAY_SIZE(periods); i++) {
		start();
		noise(periods[i]);
		run_on(0);
		err = try_sampling("llc_misses.all", 0);
		run_on(-1);
		if (err == -EBUSY && hides(periods[i])) {
			busy++;
			event_close_all();
			/* It is not repeated at once for every user, but no user delays root. */
			err = user_tries_sampling("llc_misses.all", 0);
			ktap_check(err == -EBUSY, "a user, at once: %d", err);
			if (i % 2) {
				sleep_us(120000);
				err = user_tries_sampling("llc_misses.all", 0);
			} else {
				err = try_sampling("llc_misses.all", 0);
			}
		}
		ktap_check(!err, "core NMIs every %u cycles: %d", periods[i], err);
		check_caps_pmi("after the first sampling event", "yes");
		event_close_all();
		kmsg_no_unknown_nmi();
	}
	ktap_check(busy == 2 || debug_kernel(), "busy %u times", busy);
}

/* What was proved on one CPU is not known of the next one. */
static void proved_again(void)
{
	int err;

	start();
	err = try_sampling("llc_misses.all", 2);
	ktap_check(!err, "on CPU 2: %d", err);
	msr_write(2, SYN_FAULT_LOSE, ALL_LOST);
	set_online(2, false);
	err = try_sampling("llc_misses.all", 3);
	ktap_check(err == -EOPNOTSUPP, "on CPU 3, which gets none: %d", err);
	/* The other package has nothing to do with it. */
	msr_write(0, SYN_FAULT_LOSE, 0);
	err = try_sampling("llc_misses.all", 0);
	ktap_check(!err, "on CPU 0: %d", err);
	set_online(2, true);
	start();
	ktap_check(!try_sampling("llc_misses.all", 2), "refused for ever");
}

/* ---- overflows of several boxes at once ---- */

/*
 * Every 250 to 400 us. Those of one side alone: if the U-Box hears of one of them no more,
 * there is nobody else who makes the driver look.
 */
static const struct {
	const char *pmu, *event;
	unsigned int period;
} sampled[] = {
	{ "xeon7500_cbox_0", "occupancy_irq", 3000017 },
	{ "xeon7500_cbox_3", "occupancy_irq", 3300013 },
	{ "xeon7500_cbox_2", "occupancy_irq", 3700001 },
	{ "xeon7500_mbox_0", "mbox_cycles", 600011 },
	{ "xeon7500_sbox_0", "to_r_ndr_msgq_occupancy", 1000003 },
	/* the other side, and none */
	{ "xeon7500_cbox_6", "occupancy_irq", 3500017 },
	{ "xeon7500_mbox_1", "mbox_cycles", 700001 },
	{ "xeon7500_wbox", "uncore_clock", 650011 },
};

#define SAMPLED		(int)ARRAY_SIZE(sampled)
#define ONE_SIDE	5

static void several_boxes(const char *what, bool or, int num, const char *options)
{
	u64 due = 0;
	struct books b;
	char name[64];
	int i;

	start();
	msr_write(0, SYN_READING(RD_SUMMARY_CLEAR), or ? RD_SUMMARY_CLEAR_OR : 0);
	lost_open();
	for (i = 0; i < num; i++) {
		snprintf(name, sizeof(name), "%s%s", sampled[i].event, options);
		sampling_open(sampled[i].pmu, name, sampled[i].period, 0, 64);
	}
	silicon_clear();
	gates_install();
	for (i = 0; i < num; i++)
		perf_enable(rings[i].fd);
	gates_open();
	sleep_us(soak() ? 10000000 : 400000);
	gates_close();
	for (i = 0; i < num; i++) {
		perf_disable(rings[i].fd);
		due += box_truth(0, SYN_EVENTS, sampled[i].pmu) / sampled[i].period;
	}
	b = check_books(what);
	ktap_note("%s: %llu overflows, %llu PMIs without edge", what, b.overflows,
		  msr_read(0, SYN_PMI(SYN_PMI_NO_EDGE)));
	/* A counter of which nobody has heard goes on without a period until the watch comes. */
	ktap_check(due > 5000 && b.overflows > due * 95 / 100, "%s: %llu overflows of %llu", what,
		   b.overflows, due);
	ktap_check(!or || *options || msr_read(0, SYN_PMI(SYN_PMI_NO_EDGE)),
		   "%s: it did not happen", what);
	event_close_all();
	msr_write(0, SYN_READING(RD_SUMMARY_CLEAR), 0);
	kmsg_no_unknown_nmi();
}

static void several_boxes_latched(void)
{
	several_boxes("bits that hold", false, SAMPLED, "");
	several_boxes("bits that hold, one side", false, ONE_SIDE, "");
	several_boxes("bits that hold, freeze", false, SAMPLED, ",freeze=1");
}

static void several_boxes_or(void)
{
	several_boxes("bits that are an OR", true, SAMPLED, "");
	several_boxes("bits that are an OR, one side", true, ONE_SIDE, "");
	several_boxes("bits that are an OR, freeze", true, SAMPLED, ",freeze=1");
}

/* ---- IA32_DEBUGCTL, freeze ---- */

/* As KVM does when a guest ends and it restores what it had found in the beginning. */
static void let_in_again(void)
{
	u64 before;
	int turn;

	start();
	sampling_open("xeon7500_mbox_0", "mbox_cycles", 600011, 0, 64);
	silicon_clear();
	perf_enable(rings[0].fd);
	for (turn = 0; turn < 5; turn++) {
		msr_write(0, IA32_DEBUGCTL, msr_read(0, IA32_DEBUGCTL) & ~UNCORE_PMI_EN);
		ktap_check(!listens(0), "cannot be cleared");
		/* The watch comes every 10 ms. */
		sleep_us(11000 + 300 * turn);
		if (!ktap_check(listens(0), "PMIs are still kept out"))
			break;
		before = msr_read(0, SYN_PMI_CPU(SYN_PMI_SENT));
		sleep_us(3000);
		ktap_check(msr_read(0, SYN_PMI_CPU(SYN_PMI_SENT)) > before + 5, "no PMI comes");
	}
	/* Also between two sessions. */
	perf_disable(rings[0].fd);
	msr_write(0, IA32_DEBUGCTL, msr_read(0, IA32_DEBUGCTL) & ~UNCORE_PMI_EN);
	perf_enable(rings[0].fd);
	ktap_check(listens(0), "PMIs are kept out when it starts again");
	event_close_all();
}

/* Somebody else counts on the package, and sees all of it. */
static void freeze_is_asked_for(void)
{
	u64 windows, samples, freezes, ns, stood;
	int fd, frozen, round, turn;
	char text[64];

	start();
	sysfs_read("xeon7500_cbox_0", "format", "freeze", text, sizeof(text));
	ktap_check(!strcmp(text, "config:62"), "format/freeze is %s", text);
	for (round = 0; round < 2; round++) {
		silicon_clear();
		fd = event_open("xeon7500_cbox_1", "llc_hits.all", 0, -1);
		frozen = event_open("xeon7500_package", "frozen", 0, -1);
		sampling_open("xeon7500_mbox_0", round ? "mbox_cycles,freeze=1" : "mbox_cycles", 600011, 0, 64);
		perf_enable(frozen);
		perf_enable(rings[0].fd);
		perf_enable(fd);
		sleep_us(20000);
		rings_drain();
		samples = rings[0].samples;
		ktap_check(samples > 20, "%llu samples", samples);
		freezes = msr_read(0, SYN_FREEZES);
		/* It begins with the handler, the truth with the overflow. */
		ns = perf_value(frozen);
		stood = msr_read(0, SYN_FROZEN_CYCLES) * msr_read(0, SYN_HZ_DEN) /
			msr_read(0, SYN_HZ_NUM);
		ktap_check((round ? ns > stood / 4 : !ns) && ns <= stood,
			   "frozen for %llu of %llu ns", ns, stood);
		ktap_check(!(msr_read(0, U_GLOBAL_CTL) & U_FRZ_ALL) == !round, "U_GLOBAL_CTL %#llx",
			   msr_read(0, U_GLOBAL_CTL));
		/* Also where the PMI is lost, and the event stops before the timer looks. */
		msr_write(0, SYN_FAULT_LOSE, ALL_LOST);
		for (turn = 0; turn < 20; turn++) {
			sleep_us(1000);
			perf_disable(rings[0].fd);
			perf_enable(rings[0].fd);
		}
		msr_write(0, SYN_FAULT_LOSE, 0);
		windows = box_truth(0, SYN_WINDOWS, "xeon7500_cbox_1");
		rings_drain();
		ktap_check(rings[0].samples >= samples + 20, "%llu samples, then %llu", samples,
			   rings[0].samples);
		if (round)
			ktap_check(freezes > 20 && msr_read(0, SYN_FREEZES) >= freezes + 20 && windows > 40,
				   "freeze=1: %llu freezes, then %llu, %llu windows", freezes,
				   msr_read(0, SYN_FREEZES), windows);
		else
			ktap_check(!msr_read(0, SYN_FREEZES) && windows == 1,
				   "unasked: %llu freezes; a neighbour that counts was stopped %llu times",
				   msr_read(0, SYN_FREEZES), windows - 1);
		/* Nothing that goes on asks for it any more. */
		perf_disable(rings[0].fd);
		ktap_check(msr_read(0, U_GLOBAL_CTL) == U_EN_ALL, "U_GLOBAL_CTL %#llx",
			   msr_read(0, U_GLOBAL_CTL));
		event_close_all();
	}
}

/* The cores are selected before the counter is enabled: its first overflow may come at once. */
static void first_overflow(void)
{
	struct ring *r;

	start();
	perf_enable(event_open("xeon7500_cbox_1", "llc_hits.all", 0, -1));
	r = sampling_open("xeon7500_cbox_0", "occupancy_irq", 3, 0, 64);
	/* The watch that the self-test has started is over, the next one comes after 10 ms. */
	sleep_us(25000);
	run_on(0);
	perf_enable(r->fd);
	spin_us(3000);
	ring_drain(r, NULL, NULL);
	ktap_check(r->samples, "no sample before the watch");
	run_on(-1);
	event_close_all();
}

SILICON_MAIN({ "loading asks for no PMI and costs 650 accesses a package", loading },
	     { "counting asks for no PMI", counting },
	     { "NMIs of the core PMU do not prove that PMIs arrive", noise_proves_nothing },
	     { "NMIs of the core PMU do not disturb the self-test", noise_is_no_harm },
	     { "PMIs are proved again on a new CPU", proved_again },
	     { "several boxes overflow at once, ov bits hold", several_boxes_latched },
	     { "several boxes overflow at once, ov bits are an OR", several_boxes_or },
	     { "PMIs are let in again when somebody has kept them out", let_in_again },
	     { "an event that samples freezes the package only if asked", freeze_is_asked_for },
	     { "the first overflow interrupts beside what counts", first_overflow })
