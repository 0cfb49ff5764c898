// SPDX-License-Identifier: GPL-2.0-only
/*
 * Other owners of the same registers (LIKWID, PCM, a driver that was there before): what
 * they leave behind disturbs no count of ours, what they do meanwhile is noticed, and what
 * we leave behind is an idle package.
 *
 * The stranger here is this program, with /dev/cpu/0/msr.
 *
 * PART: adversaries
 * VM: --sockets 1 --cores 2 --threads 2 --icount --append nmi_watchdog=0
 */
#include "foreign.h"
#include "kmsg.h"
#include "sampling.h"

#define MISSES		0x400714	/* llc_misses.all of a C-Box, enabled */
#define WOKEN		0x4000f8	/* woken of the U-Box, enabled */

static void start(void)
{
	/* From here on what a case finds is what a case has made. */
	event_close_all();
	module_unload();
	foreign_clean(0);
	module_load("");
	silicon_start();
	kmsg_mark();
}

static u64 cycles(int fd)
{
	return perf_value(fd);
}

/* ---- what a stranger has left: overflow bits ---- */

/*
 * Three events fill the first three counters of C-Box 3, one of which has an old overflow bit;
 * a sampling event of a neighbour makes the driver look at the status of both.
 */
static void count_beside_sampling(const char *what)
{
	static const char * const events[] = { "llc_misses.all", "llc_hits.all", "occupancy_irq" };
	u64 sum = 0, truth, one;
	int fd[3], i;

	silicon_clear();
	for (i = 0; i < 3; i++) {
		fd[i] = event_open("xeon7500_cbox_3", events[i], 0, -1);
		perf_enable(fd[i]);
	}
	sampling_open("xeon7500_cbox_2", "occupancy_irq", 700001, 0, 64);
	perf_run_us(rings[0].fd, 20000);
	for (i = 0; i < 3; i++)
		perf_disable(fd[i]);
	for (i = 0; i < 3; i++) {
		one = perf_value(fd[i]);
		sum += one;
		ktap_check(one && one < 1ull << 47, "%s: %s: %llu", what, events[i], one);
	}
	truth = box_truth(0, SYN_EVENTS, "xeon7500_cbox_3");
	ktap_check(sum == truth, "%s: %llu in all, truth %llu", what, sum, truth);
	rings_drain();
	ktap_check(rings[0].samples, "%s: no sample of the neighbour", what);
	event_close_all();
}

static void stale_status_counts(void)
{
	int ctr;

	for (ctr = 0; ctr < 3; ctr++) {
		start();
		module_unload();
		foreign_overflow(0, "xeon7500_cbox_3", C3_CTR_0 + 2 * ctr, MISSES);
		module_load("");
		count_beside_sampling("wrapped before load");
		foreign_overflow(0, "xeon7500_cbox_3", C3_CTR_0 + 2 * ctr, MISSES);
		count_beside_sampling("wrapped between two sessions");
	}
}

/* An overflow whose bit is set already would bring no PMI. */
static void sample_all(const char *what, const char *pmu, const char *event, u64 period)
{
	struct perf_event_attr attr = sampling_attr(pmu, event, period);
	int fd = perf_open(&attr, 0, -1);

	if (!ktap_check(fd >= 0, "%s: %s cannot sample: %s", what, pmu, strerror(-fd)))
		return;
	open_events[num_open_events++] = fd;
	silicon_clear();
	lost_open();
	event_ring(fd, attr.sample_type, 64);
	perf_run_us(fd, 20000);
	check_books(what);
	ktap_check(rings[0].samples > 20, "%s: %s: %llu samples", what, pmu, rings[0].samples);
	ktap_check(!box_truth(0, SYN_SKIPPED, pmu), "%s: %s: %llu overflows found their bit set",
		   what, pmu, box_truth(0, SYN_SKIPPED, pmu));
	event_close_all();
}

static void stale_status_samples(void)
{
	int ctr;

	start();
	sampling_limit(1000000);
	module_unload();
	/* Also those of the box with which PMIs may be proved. */
	foreign_overflow(0, "xeon7500_cbox_0", C0_CTR_0, MISSES);
	foreign_overflow(0, "xeon7500_cbox_3", C3_CTR_0, MISSES);
	module_load("");
	sample_all("wrapped before load", "xeon7500_cbox_3", "occupancy_irq", 700001);
	for (ctr = 0; ctr < 6; ctr++)
		foreign_overflow(0, "xeon7500_cbox_3", C3_CTR_0 + 2 * ctr, MISSES);
	sample_all("wrapped between two sessions", "xeon7500_cbox_3", "occupancy_irq", 700001);
	foreign_overflow(0, "xeon7500_wbox", W_FIXED_CTR, 1);
	sample_all("wrapped between two sessions", "xeon7500_wbox", "uncore_clock", 150001);
}

/* ---- what a stranger has left: sub-registers ---- */

struct use {
	const char *pmu, *event;
	uint16_t subreg[4];
};

/* With what the event needs in a sub-register of its box. */
static const struct use uses[] = {
	{ "xeon7500_rbox_0", "flits_sent,port=0", { R_PORT0_IPERF_CFG0, R_PORT0_IPERF_CFG1 } },
	{ "xeon7500_rbox_1", "drs.anyresp,port=2",
	  { R_PORT6_XBR_SET1_MM_CFG, R_PORT6_XBR_SET1_MATCH, R_PORT6_XBR_SET1_MASK } },
	{ "xeon7500_mbox_0", "bbox_cmds.reads", { M0_ZDP_CTL_FVC } },
	{ "xeon7500_mbox_1", "cycles_sched_mode.rdprio", { M1_ISS } },
	{ "xeon7500_mbox_1", "dram_cmd.ras,match_addr=0x1,mask_addr=0x3",
	  { M1_PLD, M1_MM_CFG, M1_ADDR_MATCH, M1_ADDR_MASK } },
	{ "xeon7500_sbox_0", "to_r_prog_ev,match=0x12,mask_addr=0x1",
	  { S0_MM_CFG, S0_MATCH, S0_MASK } },
	{ "xeon7500_bbox_1", "addr_in_match,match_addr=0x5,mask_addr=0xf", { B1_MATCH, B1_MASK } },
};

#define USES	(int)ARRAY_SIZE(uses)

struct result {
	u64 subreg[4];
	u64 rate;		/* per million clocks */
};

static struct result use(const struct use *u)
{
	struct result res = {};
	u64 count;
	int fd, clock, i;

	silicon_clear();
	/* Both count in the same window. */
	gates_install();
	fd = event_open(u->pmu, u->event, 0, -1);
	clock = event_open("xeon7500_wbox", "uncore_clock", 0, -1);
	perf_enable(clock);
	perf_enable(fd);
	gates_open();
	sleep_us(3000);
	for (i = 0; i < 4 && u->subreg[i]; i++)
		res.subreg[i] = msr_read(0, u->subreg[i]);
	gates_close();
	perf_disable(fd);
	perf_disable(clock);
	count = perf_value(fd);
	ktap_check(count == box_truth(0, SYN_EVENTS, u->pmu), "%s/%s/: %llu", u->pmu, u->event,
		   count);
	res.rate = count * 1000000 / (cycles(clock) ?: 1);
	event_close_all();
	return res;
}

/* The guide's order: the match is switched off first. */
static void zero_subregs(const struct use *u)
{
	int i;

	for (i = 0; i < 4 && u->subreg[i]; i++)
		msr_write(0, u->subreg[i], 0);
}

static void stale_subregs(void)
{
	struct result first[USES], second;
	int i, n;

	start();
	for (i = 0; i < USES; i++)
		first[i] = use(&uses[i]);
	for (i = 0; i < USES; i++)
		zero_subregs(&uses[i]);
	for (i = 0; i < USES; i++) {
		bool same = true, any = false;

		second = use(&uses[i]);
		for (n = 0; n < 4 && uses[i].subreg[n]; n++) {
			same &= second.subreg[n] == first[i].subreg[n];
			any |= first[i].subreg[n];
		}
		ktap_check(any, "%s/%s/ has no sub-register", uses[i].pmu, uses[i].event);
		/* Rates are taken over different moments. */
		ktap_check(same && second.rate <= first[i].rate + first[i].rate / 20 + 1 && first[i].rate <= second.rate + second.rate / 20 + 1,
			   "%s/%s/: %llu in a million clocks, %llu after another tool; %#x is %#llx, was %#llx",
			   uses[i].pmu, uses[i].event, first[i].rate, second.rate,
			   uses[i].subreg[0], second.subreg[0], first[i].subreg[0]);
	}
}

/* ---- what a stranger has left: enables ---- */

/* All counters of a box count, and so does the package. */
static void leave_running(const char *pmu, u64 event)
{
	uint16_t ctr[SILICON_MAX_COUNTERS];
	int num = box_counters(pmu, ctr), i;
	u64 bits = 0;

	for (i = 0; i < num; i++) {
		msr_write(0, counter_ctl(ctr[i]), ctr[i] == W_FIXED_CTR ? 1 : event);
		bits |= counter_bit(pmu, ctr[i]);
	}
	msr_write(0, box_ctl(pmu), bits);
	msr_write(0, U_GLOBAL_CTL, U_EN_ALL);
}

static void stale_enables(void)
{
	static const struct {
		const char *pmu, *event;
		u64 junk;
	} left[] = {
		{ "xeon7500_cbox_0", "llc_hits.all", MISSES },
		{ "xeon7500_wbox", "c_cycles_turbo.c_all", 0x400001 },
		{ "xeon7500_mbox_0", "mbox_cycles", 0x1b << 9 | 1 },
	};
	int round, i, n, num, fd[3];
	uint16_t ctr[SILICON_MAX_COUNTERS];
	u64 count, truth;

	start();
	for (round = 0; round < 2; round++) {
		const char *what = round ? "left between two sessions" : "left before load";

		if (!round)
			module_unload();
		for (i = 0; i < 3; i++)
			leave_running(left[i].pmu, left[i].junk);
		if (!round)
			module_load("");
		for (i = 0; i < 3; i++) {
			fd[i] = event_open(left[i].pmu, left[i].event, 0, -1);
			perf_enable(fd[i]);
		}
		/* From here on: what runs is ours. */
		for (i = 0; i < 3; i++)
			perf_disable(fd[i]);
		silicon_clear();
		for (i = 0; i < 3; i++) {
			count = perf_value(fd[i]);
			perf_run_us(fd[i], 1000);
			count = perf_value(fd[i]) - count;
			num = box_counters(left[i].pmu, ctr);
			truth = 0;
			for (n = 0; n < num; n++)
				truth += silicon_truth(0, SYN_WINDOWS, ctr[n]);
			ktap_check(truth == 1, "%s: %s: %llu counters ran, not 1", what,
				   left[i].pmu, truth);
			truth = box_truth(0, SYN_EVENTS, left[i].pmu);
			ktap_check(count == truth, "%s: %s: %llu, truth %llu", what, left[i].pmu,
				   count, truth);
		}
		event_close_all();
	}
}

/* A tool that has tidied up before or after itself: what we had enabled is off. */
static void stale_shadows(void)
{
	static const struct {
		const char *pmu, *event;
	} used[] = {
		{ "xeon7500_cbox_0", "llc_hits.all" }, { "xeon7500_ubox", "woken" },
		{ "xeon7500_wbox", "uncore_clock" }, { "xeon7500_rbox_1", "flits_sent,port=0" },
	};
	int i, round;

	start();
	for (i = 0; i < 4; i++) {
		for (round = 0; round < 2; round++) {
			silicon_clear();
			event_counts(round ? "the next session" : "the first session", used[i].pmu,
				    used[i].event, 0, 3000);
			event_close_all();
			foreign_clean(0);
		}
	}
}

/* ---- what a stranger does meanwhile ---- */

/* So long that a driver which looks once a second has looked. */
#define NOTICED_US	1500000

/* The first counter is written to while the event counts. */
static void move_back(const char *pmu, const char *event, unsigned int ctr)
{
	u64 before, dropped, after, count, truth;
	int fd;

	silicon_clear();
	fd = event_open(pmu, event, 0, -1);
	perf_enable(fd);
	sleep_us(3000);
	before = perf_value(fd);
	msr_write(0, ctr, 1);
	after = perf_value(fd);
	dropped = silicon_truth(0, SYN_EVENTS, ctr) - before;
	ktap_check(after >= before && after - before <= dropped, "%s: %llu before, %llu after", pmu,
		   before, after);
	sleep_us(3000);
	perf_disable(fd);
	count = perf_value(fd);
	truth = silicon_truth(0, SYN_EVENTS, ctr);
	/* What it had counted since it was last read is gone, and no more. */
	ktap_check(count <= truth && count + dropped >= truth, "%s: %llu, truth %llu", pmu, count,
		   truth);
	event_close_all();
}

static void counter_goes_back(void)
{
	start();
	move_back("xeon7500_cbox_0", "llc_hits.all", C0_CTR_0);
	move_back("xeon7500_mbox_0", "mbox_cycles", M0_CNT_0);
	move_back("xeon7500_wbox", "uncore_clock", W_FIXED_CTR);
	ktap_check(foreign_writes() == 3, "foreign_writes %lld, not 3", foreign_writes());
	/* Once, whatever comes after it. */
	ktap_check(kmsg_count(OURS ": ") == 1, "not one line in the log");
}

/* Less than half of 2^48 since the last read may be a gain, half of it is not. */
static void counter_goes_ahead(void)
{
	const u64 half = 1ull << 47;
	long long before;
	u64 count;
	int fd;

	start();
	event_open(PACKAGE, "gate", 0, -1);
	fd = event_open("xeon7500_cbox_0", "llc_hits.all", 0, -1);
	perf_enable(fd);
	before = foreign_writes();
	msr_write(0, C0_CTR_0, half - 1);
	count = perf_value(fd);
	ktap_check(count == half - 1 && foreign_writes() == before,
		   "%#llx, foreign_writes %lld, then %lld", count, before, foreign_writes());
	msr_write(0, C0_CTR_0, half - 1 + half);
	ktap_check(perf_value(fd) == count && foreign_writes() == before + 1,
		   "%#llx, then %#llx, foreign_writes %lld, then %lld", count, perf_value(fd), before,
		   foreign_writes());
	event_close_all();
}

static void control_register_changes(void)
{
	static const struct {
		const char *pmu, *event;
		unsigned int ctr, reg;
		u64 val;
		bool restored;
	} changes[] = {
		{ "xeon7500_cbox_0", "llc_hits.all", C0_CTR_0, C0_EVT_SEL_0, 0 },
		{ "xeon7500_cbox_2", "llc_hits.all", C2_CTR_0, C2_GLOBAL_CTL, 0, true },
		{ "xeon7500_cbox_2", "llc_hits.all", C2_CTR_0, U_GLOBAL_CTL, 0, true },
		{ "xeon7500_ubox", "woken", U_CTR, U_GLOBAL_CTL, U_EN_ALL, true },
		{ "xeon7500_cbox_4", "llc_hits.all", C4_CTR_0, C4_EVT_SEL_0, MISSES },
		{ "xeon7500_rbox_1", "flits_sent,port=0", R_CTR8, R_CTL8, 0 },
		{ "xeon7500_wbox", "uncore_clock", W_FIXED_CTR, W_FIXED_CTR_CTL, 0 },
		/* The ninth bit of its code need not read as written, the other eight do. */
		{ "xeon7500_ubox", "woken", U_CTR, U_EV_SEL, 0x4000f9 },
	};
	u64 count, truth;
	unsigned int i, turn;
	long long before;
	int fd;

	start();
	for (i = 0; i < ARRAY_SIZE(changes); i++) {
		silicon_clear();
		before = foreign_writes();
		fd = event_open(changes[i].pmu, changes[i].event, 0, -1);
		perf_enable(fd);
		sleep_us(1000);
		msr_write(0, changes[i].reg, changes[i].val);
		for (turn = 0; turn < 10 && foreign_writes() == before; turn++)
			sleep_us(NOTICED_US);
		ktap_check(before >= 0 && foreign_writes() > before,
			   "%s: foreign_writes %lld, then %lld", changes[i].pmu, before,
			   foreign_writes());
		count = perf_value(fd);
		sleep_us(1000);
		ktap_check(!changes[i].restored || perf_value(fd) > count, "%s: %llu, and no more",
			   changes[i].pmu, count);
		perf_disable(fd);
		count = perf_value(fd);
		truth = silicon_truth(0, SYN_EVENTS, changes[i].ctr);
		ktap_check(count && count == truth, "%s: %llu, truth %llu", changes[i].pmu, count, truth);
		event_close_all();
	}
	/* Half a second after and before the driver looks: it also does when the event ends. */
	before = foreign_writes();
	fd = event_open("xeon7500_cbox_0", "llc_hits.all", 0, -1);
	perf_enable(fd);
	sleep_us(NOTICED_US);
	msr_write(0, C0_EVT_SEL_0, 0);
	perf_disable(fd);
	ktap_check(foreign_writes() > before, "not noticed at the end");
	ktap_check(kmsg_count(OURS ": ") == 1, "not one line in the log");
}

/* Nobody but us: nothing is dropped and nobody accused. */
static void nobody_else(void)
{
	u64 sum = 0, truth;
	struct perf_event_attr attr;
	int fd[6], i, turn;
	u64 val[8];

	start();
	sampling_limit(1000000);
	attr = event_attr("xeon7500_cbox_4", "occupancy_irq");
	attr.read_format = PERF_FORMAT_GROUP;
	fd[0] = event_open_attr(&attr, 0, -1);
	attr.disabled = 0;
	for (i = 1; i < 6; i++)
		fd[i] = event_open_attr(&attr, 0, fd[0]);
	sampling_open("xeon7500_cbox_5", "occupancy_irq,freeze=1", 70000001, 0, 64);
	sampling_open("xeon7500_mbox_1", "mbox_cycles", 20000003, 0, 64);
	/* With a code of nine bits */
	perf_enable(event_open("xeon7500_ubox", "corrected_err", 0, -1));
	perf_enable(fd[0]);
	perf_enable(rings[0].fd);
	perf_enable(rings[1].fd);
	for (turn = 0; turn < 25; turn++) {
		sleep_us(100000);
		ktap_require(read(fd[0], val, sizeof(val)) > 0, "%s", strerror(errno));
	}
	perf_disable(rings[0].fd);
	perf_disable(rings[1].fd);
	perf_disable(fd[0]);
	ktap_require(read(fd[0], val, sizeof(val)) > 0, "%s", strerror(errno));
	for (i = 0; i < 6; i++)
		sum += val[1 + i];
	truth = box_truth(0, SYN_EVENTS, "xeon7500_cbox_4");
	ktap_check(sum && sum == truth, "%llu, truth %llu", sum, truth);
	ktap_check(foreign_writes() == 0, "foreign_writes %lld, not 0", foreign_writes());
	ktap_check(!kmsg_count(OURS ": "), "the log complains");
}

/* ---- what we leave ---- */

/* One event of each box counts, and some sample. */
static void use_all(void)
{
	static const struct {
		const char *pmu, *event;
		unsigned int period;
	} all[] = {
		{ "xeon7500_ubox", "woken", 0 },
		{ "xeon7500_cbox_0", "llc_misses.all", 0 },
		{ "xeon7500_cbox_0", "occupancy_irq", 700001 },
		{ "xeon7500_cbox_0", "llc_hits.all,freeze=1", 700001 },
		{ "xeon7500_cbox_5", "llc_hits.all", 0 },
		{ "xeon7500_wbox", "uncore_clock", 150001 },
		{ "xeon7500_wbox", "prochot", 0 },
		{ "xeon7500_sbox_0", "to_r_snp_msgq_cycles_ne", 0 },
		{ "xeon7500_sbox_1", "to_r_prog_ev,match=1,mask_addr=1", 0 },
		{ "xeon7500_bbox_1", "imt_inserts_all", 0 },
		{ "xeon7500_mbox_0", "bbox_cmds.reads", 0 },
		{ "xeon7500_mbox_1", "mbox_cycles", 100001 },
		{ "xeon7500_rbox_0", "flits_sent,port=1", 0 },
		{ "xeon7500_rbox_1", "flits_sent,port=0", 0 },
	};
	unsigned int i;
	int fd;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		if (all[i].period)
			fd = sampling_open(all[i].pmu, all[i].event, all[i].period, 0, 8)->fd;
		else
			fd = event_open(all[i].pmu, all[i].event, 0, -1);
		perf_enable(fd);
	}
	sleep_us(5000);
}

static void idle_is_clean(void)
{
	start();
	check_clean(0, "after load");
	/* In the order of a user who is in a hurry: nothing is disabled first. */
	use_all();
	event_close_all();
	check_clean(0, "after a session");
	use_all();
	msr_write(0, SYN_FAULT_LOSE, 1ull << 40);
	sleep_us(5000);
	event_close_all();
	msr_write(0, SYN_FAULT_LOSE, 0);
	check_clean(0, "after a session whose last PMIs got lost");
	/* A stranger's other counters of a box that we have used. */
	leave_running("xeon7500_cbox_0", MISSES);
	foreign_overflow(0, "xeon7500_cbox_0", C0_CTR_5, MISSES);
	use_all();
	event_close_all();
	check_stopped(0, "after a session that found a stranger's leftovers");
}

static void unload_is_clean(void)
{
	start();
	use_all();
	event_close_all();
	module_unload();
	check_clean(0, "after unload");
	module_load("");
	module_unload();
	check_clean(0, "after load and unload");
	leave_running("xeon7500_cbox_6", MISSES);
	leave_running("xeon7500_wbox", 0x400001);
	foreign_overflow(0, "xeon7500_cbox_3", C3_CTR_0, MISSES);
	foreign_overflow(0, "xeon7500_ubox", U_CTR, WOKEN);
	module_load("");
	check_stopped(0, "after load, when a stranger had left something");
	module_unload();
	check_stopped(0, "after unload, when a stranger had left something before load");
	foreign_clean(0);
	module_load("");
}

SILICON_MAIN({ "a stale overflow bit does not count as a wrap", stale_status_counts },
	     { "a stale overflow bit does not hide an overflow", stale_status_samples },
	     { "sub-registers that another tool has written are written again", stale_subregs },
	     { "enables that another tool has left do not count", stale_enables },
	     { "what another tool has disabled counts again", stale_shadows },
	     { "a counter that was moved back adds nothing", counter_goes_back },
	     { "a counter that was moved ahead by half of its range adds nothing", counter_goes_ahead },
	     { "a control register that was changed is noticed", control_register_changes },
	     { "nobody is accused when nobody else is there", nobody_else },
	     { "an idle package is clean", idle_is_clean },
	     { "a package is clean after unload", unload_is_clean })
