// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is different on Westmere-EX (06_2F): ten C-Boxes, of which some may be fused off, and
 * that no source says how C-Boxes report overflows. What it costs is as on the Xeon 7500.
 *
 * Names and encodings of both models are compared with the spec in vm/conformance.py.
 *
 * VM: --machine westmereex --sockets 2 --cores 2 --icount --append nmi_watchdog=0
 * TEST: 6.1 debug
 */
#include "session.h"
#include "foreign.h"

#define CBOXES	10

static const char *cbox(int n)
{
	static char pmu[CBOXES][32];

	snprintf(pmu[n], sizeof(pmu[n]), "xeon7500_cbox_%d", n);
	return pmu[n];
}

KTAP_CALL(each_event, ktap_check(count_each_event() > 2500))

/* ---- which C-Boxes there are ---- */

static bool is_there(int n)
{
	char path[400];

	snprintf(path, sizeof(path), SYSFS_PMU "/%s", cbox(n));
	return !access(path, F_OK);
}

/* Counts one event on all C-Boxes of all packages: the sum of what perf sees is the truth. */
static void check_sum(const char *what)
{
	static const uint16_t first[CBOXES] = { C0_CTR_0, C1_CTR_0, C2_CTR_0, C3_CTR_0, C4_CTR_0,
						C5_CTR_0, C6_CTR_0, C7_CTR_0, C8_CTR_0, C9_CTR_0 };
	int cpus[SILICON_MAX_PACKAGES], fd[2 * CBOXES], num = 0, n, i, p;
	u64 sum = 0, truth = 0;

	silicon_start();
	for (n = 0; n < CBOXES; n++) {
		for (p = is_there(n) ? pmu_cpus(cbox(n), cpus) : 0; p--;)
			fd[num++] = event_open(cbox(n), "llc_misses.all", cpus[p], -1);
	}
	for (i = 0; i < num; i++)
		perf_enable(fd[i]);
	sleep_us(1000);
	for (i = 0; i < num; i++) {
		perf_disable(fd[i]);
		sum += perf_value(fd[i]);
	}
	for (n = 0; n < CBOXES; n++) {
		for (i = 0; i < 6; i++)
			truth += silicon_truth(0, SYN_EVENTS, first[n] + 2 * i) +
				 silicon_truth(2, SYN_EVENTS, first[n] + 2 * i);
	}
	ktap_check(sum == truth && sum, "%s: %d counters, %llu, truth %llu", what, num, sum, truth);
}

/* Bit n: C-Box n is fused off; what is left is a PMU if either package has it. */
static void check_fused(unsigned int off0, unsigned int off1, bool reads_0)
{
	unsigned int off[2] = { off0, off1 };
	int cpus[SILICON_MAX_PACKAGES], n, p, num;
	u64 boxes;
	char what[80];

	snprintf(what, sizeof(what), "without %#x and %#x, which %s", off0, off1,
		 reads_0 ? "read 0" : "raise #GP");
	module_unload();
	for (p = 0; p < 2; p++) {
		for (boxes = 0, n = 0; n < CBOXES; n++)
			boxes |= off[p] >> n & 1 ? SYN_ABSENT_BOX(SYN_BOX_C, n) : 0;
		msr_write(2 * p, SYN_ABSENT, boxes);
		msr_write(2 * p, SYN_ABSENT_READS_0, reads_0);
	}
	module_load("");
	for (n = 0; n < CBOXES; n++) {
		num = !(off0 >> n & 1) + !(off1 >> n & 1);
		ktap_check(is_there(n) == !!num, "%s: %s", what, cbox(n));
		ktap_check(!num || pmu_cpus(cbox(n), cpus) == num, "%s: cpumask of %s", what, cbox(n));
	}
	check_sum(what);
}

/* All ten; and six, as on an E7-4807, which need not be the same six in each package. */
static void fused_off(void)
{
	int reads_0;

	check_fused(0, 0, false);
	for (reads_0 = 0; reads_0 < 2; reads_0++) {
		check_fused(0x3c0, 0x3c0, reads_0);
		check_fused(0x252, 0x0f1, reads_0);
	}
	check_fused(0, 0, false);
}

/* ---- overflows of any C-Box are found, wherever they are reported ---- */

/*
 * All C-Boxes of a package sample. An overflow that is not found when it happens leaves its
 * counter without a new period until the driver looks for lost PMIs.
 */
static void check_reported(const char *what)
{
	/* Far longer than ten handlers take, one behind the other, on a debug kernel. */
	const u64 period = 16000037;
	int cpu = package_cpu(0), n;
	struct ring *r[CBOXES];
	u64 periods;

	silicon_start();
	sampling_limit(1000000);
	lost_open();
	gates_install();
	for (n = 0; n < CBOXES; n++) {
		r[n] = sampling_open(cbox(n), "occupancy_irq", period + 7919 * n, cpu, 8);
		perf_enable(r[n]->fd);
	}
	gates_open();
	sleep_us(16000);
	gates_close();
	for (n = 0; n < CBOXES; n++)
		perf_disable(r[n]->fd);
	check_books(what);
	for (n = 0; n < CBOXES; n++) {
		periods = perf_value(r[n]->fd) / (period + 7919 * n);
		ktap_check(periods > 3 && r[n]->samples + 1 >= periods,
			   "%s: %s: %llu samples in %llu periods", what, cbox(n), r[n]->samples,
			   periods);
	}
}

static void reported(void)
{
	int by_eight, is_or;
	char what[80];

	for (by_eight = 0; by_eight < 2; by_eight++) {
		for (is_or = 0; is_or < 2; is_or++) {
			msr_write(0, SYN_READING(RD_CBOX_SIDES), by_eight);
			msr_write(0, SYN_READING(RD_SUMMARY_CLEAR), is_or ? RD_SUMMARY_CLEAR_OR : 0);
			snprintf(what, sizeof(what), "C-Boxes by %s, U bits %s",
				 by_eight ? "eight" : "five", is_or ? "are the OR" : "hold");
			check_reported(what);
		}
	}
	msr_write(0, SYN_READING(RD_CBOX_SIDES), 0);
	msr_write(0, SYN_READING(RD_SUMMARY_CLEAR), 0);
}

/* ---- the M-Box, whose index is wider and which has a second command ---- */

static const struct {
	const char *event;
	unsigned int msr;
	uint32_t bits, val;
} fields[] = {
	{ "bbox_cmds.writes,fvc_fvid=0x3f", M0_ZDP_CTL_FVC, 0x71ff, 5 << 12 | 1 << 6 | 0x3f },
	{ "bbox_rsp.retry,fvc_fvid=0x20", M0_ZDP_CTL_FVC, 0x7e3f, 6 << 12 | 1 << 9 | 0x20 },
	{ "fvc_ev3.bbox_cmds.sprwr", M0_ZDP_CTL_FVC, 7 << 21 | 7 << 6, 5 << 21 | 7 << 6 },
	{ "bcmd_schedq_occupancy.all,map_fvid=0x3f", M0_MAP, 0x3ff, 8 << 6 | 0x3f },
	{ "dram_misc.retries_fvid,pld_fvid=0x3f", M0_PLD, 7 << 16 | 0xfe, 0xfe },
	{ "dram_misc.zqcal", M0_PLD, 0xff << 16, 0x1e << 19 | 1 << 16 },
	{ "dram_misc.non_nop_trkl", M0_PLD, 7 << 16, 4 << 16 },
	{ "retries.all", M0_PLD, 7 << 16 | 1 << 7, 0 },
	{ "iss_sched.frame_beat", M0_ISS, 1 << 10, 1 << 10 },
	{ "sched_mode_changes", M0_ISS, 1 << 10, 0 },
	{ "page_empty", M0_PGT, 1 << 11, 1 << 11 },
	{ "pgt_page_ev2.auto_cls", M0_PGT, 1 << 11, 0 },
};

static void mbox_fields(void)
{
	u64 val, truth;
	unsigned int i;
	int fd;

	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		silicon_start();
		fd = event_open("xeon7500_mbox_0", fields[i].event, package_cpu(0), -1);
		perf_enable(fd);
		val = msr_read(0, fields[i].msr);
		sleep_us(100);
		perf_disable(fd);
		truth = box_truth(0, SYN_EVENTS, "xeon7500_mbox_0");
		ktap_check((val & fields[i].bits) == fields[i].val, "%s: MSR %#x is %#llx",
			   fields[i].event, fields[i].msr, val);
		ktap_check(perf_value(fd) == truth && truth, "%s: %llu, truth %llu",
			   fields[i].event, perf_value(fd), truth);
	}
}

static int open_beside(const char *a, const char *b)
{
	struct perf_event_attr attr = event_attr("xeon7500_mbox_0", b);
	int leader = event_open("xeon7500_mbox_0", a, package_cpu(0), -1);
	int fd = perf_open(&attr, package_cpu(0), leader);

	if (fd >= 0)
		close(fd);
	event_close_all();
	return fd < 0 ? fd : 0;
}

static void mbox_beside(void)
{
	static const struct {
		const char *a, *b;
		int err;
	} pairs[] = {
		/* Open- and closed-page writes together, and reads: what LIKWID's MEM wants */
		{ "dram_cmd.cas_wr_opn", "dram_misc.cas_wr_cls", 0 },
		{ "dram_misc.cas_wr_cls", "bbox_cmds.reads", 0 },
		{ "dram_misc.cas_wr_cls", "dram_misc.cas_wr_cls", 0 },
		{ "dram_misc.cas_wr_cls", "dram_misc.cas_wr_opn", -EINVAL },
		{ "dram_misc.cas_wr_cls", "retries.all", -EINVAL },
		{ "dram_misc.retries_fvid,pld_fvid=33", "dram_misc.retries_fvid,pld_fvid=1", -EINVAL },
		{ "dram_misc.cas_wr_cls", "dram_cmd.ras,match_addr=0x1,mask_addr=0x3", -EINVAL },
		{ "iss_sched.changes", "iss_sched.frame_beat", -EINVAL },
		{ "pgt_page_ev2.auto_cls", "page_empty", -EINVAL },
		{ "page_empty", "pgt_page_ev.opn2cls", 0 },
		/* Alone already */
		{ "mbox_cycles", "dram_misc.ras,pld_fvid=1", -EINVAL },
		{ "mbox_cycles", "dram_misc.valid,pld_cmd2=1", -EINVAL },
		{ "mbox_cycles", "event=0xb,pld_sel2=3", -EINVAL },
		{ "mbox_cycles", "event=0xb,pld_sel2=1,pld_cmd2=8", -EINVAL },
		{ "mbox_cycles", "event=0xd,fvc_evnt=6,fvc_resp=6", -EINVAL },
		{ "mbox_cycles", "event=0x26,map_cmd=9", -EINVAL },
	};
	unsigned int i;
	int err;

	silicon_start();
	for (i = 0; i < ARRAY_SIZE(pairs); i++) {
		err = open_beside(pairs[i].a, pairs[i].b);
		ktap_check(err == pairs[i].err, "%s beside %s: %s", pairs[i].b, pairs[i].a,
			   err ? strerror(-err) : "accepted");
	}
}

/* ---- what it costs ---- */

static void cost(void)
{
	session(9, 1, 1, 1, SESSION_ONE);
	session(8, 2, 12, 1, SESSION_TWELVE);
	session(4, 1, 3, 3, SESSION_GROUP);
	overflow_cost("xeon7500_cbox_0");
	overflow_cost("xeon7500_cbox_9");
}

SILICON_MAIN({ "each event of each box, on both packages", each_event },
	     { "fused-off C-Boxes have no PMU and are in no sum", fused_off },
	     { "overflows are found wherever C-Boxes report", reported },
	     { "M-Box fields are where they are on this model", mbox_fields },
	     { "M-Box events that fit together, and that do not", mbox_beside },
	     { "counting and overflows cost as much as on the Xeon 7500", cost })
