// SPDX-License-Identifier: GPL-2.0-only
/*
 * A register of a box answers #GP, as those may whose address is inferred, or which a hypervisor
 * does not pass. Events that do not need it are served; of those that do there is never a number.
 *
 * VM: --sockets 1 --cores 2
 * TEST: 6.1 debug
 * SOAK: 6.1 newest
 */
#include "foreign.h"
#include "kmsg.h"
#include "module.h"
#include "sampling.h"

/* A sub-register, an event that cannot do without it, and one of the same box that can. */
static const struct {
	unsigned int msr;
	const char *pmu, *needs, *can_do;
} broken[] = {
	{ S0_MM_CFG, "xeon7500_sbox_0", "to_r_prog_ev,match=0x12,mask_addr=0x1", "pkts_sent_snp" },
	{ S0_MATCH, "xeon7500_sbox_0", "to_r_prog_ev,match=0x12,mask_addr=0x1", "pkts_sent_snp" },
	{ S1_MASK, "xeon7500_sbox_1", "to_r_prog_ev,match=0x12,mask_addr=0x1", "pkts_sent_snp" },
	{ B1_MATCH, "xeon7500_bbox_1", "addr_in_match,match_addr=0x5,mask_addr=0xf",
	  "imt_inserts_all" },
	{ B0_MASK, "xeon7500_bbox_0", "addr_in_match,match_addr=0x5,mask_addr=0xf",
	  "imt_inserts_all" },
	{ M0_ADDR_MATCH, "xeon7500_mbox_0", "dram_cmd.ras,match_addr=0x1,mask_addr=0x3",
	  "mbox_cycles" },
	{ M0_ZDP_CTL_FVC, "xeon7500_mbox_0", "bbox_cmds.reads", "mbox_cycles" },
	{ M1_ISS, "xeon7500_mbox_1", "cycles_sched_mode.rdprio", "bbox_cmds.reads" },
	{ R_PORT0_QLX_CFG, "xeon7500_rbox_0", "que_arb_bid.hom,port=0", "retryq_ne,port=0" },
	{ R_PORT0_IPERF_CFG0, "xeon7500_rbox_0", "retryq_ne,port=0", "que_arb_bid.hom,port=0" },
};

#define BROKEN	(int)ARRAY_SIZE(broken)

static void start(u64 gp)
{
	module_unload();
	msr_write(0, SYN_GP, gp);
	module_load("");
	silicon_start();
	kmsg_mark();
}

static int opens(const char *pmu, const char *event)
{
	struct perf_event_attr attr = event_attr(pmu, event);
	int fd = perf_open(&attr, 0, -1);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

static int try_sampling(const char *pmu, const char *event)
{
	struct perf_event_attr attr = sampling_attr(pmu, event, 700001);
	int fd = perf_open(&attr, 0, -1);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

static void check_counts(const char *what, const char *pmu, const char *event)
{
	if (!ktap_check(pmu_type(pmu) >= 0, "%s: there is no %s any more", what, pmu))
		return;
	silicon_clear();
	event_counts(what, pmu, event, 0, 3000);
	event_close_all();
}

static void unreadable(void)
{
	char what[40];
	int i, err;

	for (i = 0; i < BROKEN; i++) {
		start(SYN_GP_READ(broken[i].msr));
		snprintf(what, sizeof(what), "%#x cannot be read", broken[i].msr);
		check_counts(what, broken[i].pmu, broken[i].can_do);
		if (pmu_type(broken[i].pmu) >= 0) {
			err = opens(broken[i].pmu, broken[i].needs);
			ktap_check(err == -EOPNOTSUPP, "%s: %s/%s/: %d", what, broken[i].pmu,
				   broken[i].needs, err);
		}
		/* The other boxes. */
		check_counts(what, "xeon7500_cbox_0", "llc_misses.all");
		ktap_check(!kmsg_count("unchecked MSR access"), "%s: unchecked", what);
	}
	start(0);
}

/* The event was open already when the register broke. */
static void unwritable(void)
{
	struct perf_event_attr attr;
	struct perf_count count;
	int i, fd, pinned, other;
	u64 truth, val[3];
	char what[40];

	for (i = 0; i < BROKEN; i++) {
		start(0);
		snprintf(what, sizeof(what), "%#x cannot be written", broken[i].msr);
		fd = event_open(broken[i].pmu, broken[i].needs, 0, -1);
		attr = event_attr(broken[i].pmu, broken[i].needs);
		attr.pinned = 1;
		pinned = event_open_attr(&attr, 0, -1);
		other = event_open(broken[i].pmu, broken[i].can_do, 0, -1);
		msr_write(0, SYN_GP, SYN_GP_WRITE(broken[i].msr));
		perf_enable(other);
		perf_enable(fd);
		sleep_us(3000);
		count = perf_count(fd);
		ktap_check(!count.value && !count.running && count.enabled,
			   "%s: %s counts %llu, ran %llu ns of %llu", what, broken[i].needs,
			   count.value, count.running, count.enabled);
		perf_enable(pinned);
		sleep_us(1000);
		/* End of file is how perf says that an event is in error. */
		ktap_check(!read(pinned, val, sizeof(val)), "%s: pinned: not in error", what);
		perf_disable(fd);
		perf_disable(other);
		count = perf_count(other);
		truth = box_truth(0, SYN_EVENTS, broken[i].pmu);
		ktap_check(count.value && count.value == truth,
			   "%s: %s beside it: %llu, truth %llu", what, broken[i].can_do,
			   count.value, truth);
		event_close_all();
		ktap_check(!kmsg_count("unchecked MSR access"), "%s: unchecked", what);
		/* It was not for ever. */
		msr_write(0, SYN_GP, 0);
		check_counts("the register works again", broken[i].pmu, broken[i].needs);
	}
}

static void check_refused_value(const char *event)
{
	int fd = event_open("xeon7500_bbox_1", event, 0, -1);

	perf_run_us(fd, 1000);
	ktap_check(!perf_count(fd).running, "%s is not refused", event);
}

/* Nothing of an event that a register has refused is written for the next one. */
static void refused_value(void)
{
	start(SYN_GP_SET(B1_MATCH, 0ull));
	check_refused_value("addr_in_match,match_addr=1,mask_addr=1");
	check_counts("another part of the register", "xeon7500_bbox_1",
		     "msg_in_match,match_msg_in=2,mask_msg_in=0x3");
	/* Bit 44 is the first of match_msg_in. */
	start(SYN_GP_SET(B1_MATCH, 44ull));
	check_refused_value("msg_in_match,match_msg_in=1,mask_msg_in=1");
	check_counts("a part before it", "xeon7500_bbox_1",
		     "addr_in_match,match_addr=0x5,mask_addr=0xf");
	start(0);
}

/* What has been written before another register refuses its value, others may change. */
static void changed_since(void)
{
	static const char event[] = "to_r_prog_ev,match=0x12,mask_addr=0x1";
	int fd;

	start(SYN_GP_WRITE(S0_MATCH));
	fd = event_open("xeon7500_sbox_0", event, 0, -1);
	perf_run_us(fd, 1000);
	ktap_check(!perf_count(fd).running, "match is not refused");
	event_close_all();
	msr_write(0, SYN_GP, 0);
	msr_write(0, S0_MASK, ~msr_read(0, S0_MASK) & 0xffffffff);
	check_counts("after the mask has been changed", "xeon7500_sbox_0", event);
}

/* Both or none. */
static void group(void)
{
	struct perf_count leader_count, count;
	int leader, fd;

	start(0);
	leader = event_open("xeon7500_sbox_0", "pkts_sent_snp", 0, -1);
	fd = event_open("xeon7500_sbox_0", "to_r_prog_ev,match=0x12,mask_addr=0x1", 0, leader);
	msr_write(0, SYN_GP, SYN_GP_WRITE(S0_MATCH));
	perf_run_us(leader, 3000);
	leader_count = perf_count(leader);
	count = perf_count(fd);
	ktap_check(!leader_count.running && !leader_count.value, "the leader counts %llu",
		   leader_count.value);
	ktap_check(!count.running && !count.value, "the member counts %llu", count.value);
	msr_write(0, SYN_GP, 0);
	event_close_all();
}

/* It is not loaded, and says why once, at this level. */
static void not_loaded(u64 gp, const char *why, int level)
{
	char line[256];
	int told = 0;

	module_unload();
	msr_write(0, SYN_GP, gp);
	kmsg_mark();
	ktap_check(load_ours() == ENODEV);
	while (kmsg_next(line, sizeof(line))) {
		if (!strstr(line, why))
			continue;
		told++;
		ktap_check(kmsg_level == level, "%s: level %d", why, kmsg_level);
	}
	ktap_check(told == 1, "%s: told %d times", why, told);
	/* What would be called is not there any more. */
	ktap_check(system("grep -q xeon7500 /sys/devices/system/cpu/hotplug/states"),
		   "%s: CPU hotplug still knows the driver", why);
	start(0);
}

/* A virtual machine can have the CPU without its uncore. The alias loads the module there. */
KTAP_CALL(nothing, not_loaded(SYN_GP_WRITE(U_GLOBAL_CTL), "xeon7500_uncore: this CPU has no uncore registers", 6))

/* KVM's ignore_msrs=1. Not each CPU lists all boxes. */
static void ignored(void)
{
	module_unload();
	msr_write(0, SYN_ABSENT_READS_0, 1);
	msr_write(0, SYN_ABSENT, ~0ull);
	kmsg_mark();
	ktap_check(load_ours() == ENODEV);
	ktap_check(kmsg_count(OURS ": ") == 1, "not one line in the log");
	msr_write(0, SYN_ABSENT, 0);
	msr_write(0, SYN_ABSENT_READS_0, 0);
	start(0);
}

static void no_ubox(void)
{
	not_loaded(SYN_GP_READ(U_CTR), "xeon7500_uncore: no package with a working U-Box", 3);
}

/* No page of the manual says where it is, so it is tried when the module is loaded. */
static void fixed_pmi(void)
{
	int err;

	start(SYN_GP_SET(W_FIXED_CTR_CTL, 2ull));
	err = try_sampling("xeon7500_wbox", "uncore_clock");
	ktap_check(err == -EOPNOTSUPP, "uncore_clock samples: %d", err);
	err = try_sampling("xeon7500_wbox", "c_cycles_turbo.c_all");
	ktap_check(!err, "c_cycles_turbo.c_all does not: %d", err);
	check_counts("without its PMI", "xeon7500_wbox", "uncore_clock");
	ktap_check(!kmsg_count("unchecked MSR access"), "unchecked");
	start(0);
	err = try_sampling("xeon7500_wbox", "uncore_clock");
	ktap_check(!err, "with its PMI uncore_clock does not sample: %d", err);
}

/* ---- each register that counting needs ---- */

/* The self-test of PMIs takes a counter of the C-Box, the first that it can use. */
static const struct {
	const char *pmu, *event;
} kinds[] = {
	{ "xeon7500_ubox", "woken" }, { "xeon7500_wbox", "c_cycles_turbo.c_all" },
	{ "xeon7500_cbox_0", "occupancy_irq" }, EACH_SBMR_BOX
};

/*
 * As many events as there are counters, of which one lacks a register: all others count, and count
 * right. An event is refused only where no other counter can count it.
 */
static void count_all(const char *what, const char *pmu, const char *event, unsigned int msr)
{
	static const char * const bbox[] = { "tf_all", "imt_inserts_all", "msgs_s_to_b", "early_ack" };
	int fds[SILICON_MAX_COUNTERS], i, want, err, ran = 0, opened = 0;
	uint16_t ctr[SILICON_MAX_COUNTERS];
	int num = box_counters(pmu, ctr);
	struct perf_event_attr attr;
	struct perf_count count;
	u64 sum = 0, truth;

	/* The fixed counter, the last, first: after one that finds no counter perf tries no more. */
	for (i = num - 1; i >= 0; i--) {
		bool lacks = msr == ctr[i] || msr == counter_ctl(ctr[i]);
		const char *name = ctr[i] == W_FIXED_CTR ? "uncore_clock" :
				   box_is(pmu, "bbox") ? bbox[i] : event;

		want = lacks && (num == 1 || box_is(pmu, "bbox") || ctr[i] == W_FIXED_CTR) ?
		       -EOPNOTSUPP : 0;
		err = try_sampling(pmu, name);
		ktap_check(err == want, "%s: %s/%s/ samples: %d", what, pmu, name, err);
		attr = event_attr(pmu, name);
		attr.disabled = 1;
		/* One that finds no counter is in error, and takes no turns with others. */
		attr.pinned = 1;
		err = perf_open(&attr, 0, -1);
		ktap_check(want ? err == want : err >= 0, "%s: %s/%s/: %d", what, pmu, name, err);
		if (err >= 0)
			fds[opened++] = err;
	}
	silicon_clear();
	for (i = 0; i < opened; i++)
		perf_enable(fds[i]);
	sleep_us(500);
	for (i = 0; i < opened; i++)
		perf_disable(fds[i]);
	for (i = 0; i < opened; i++) {
		if (read(fds[i], &count, sizeof(count)) > 0) {
			ran++;
			sum += count.value;
		}
		close(fds[i]);
	}
	truth = box_truth(0, SYN_EVENTS, pmu);
	ktap_check(ran == num - 1 && sum == truth && !sum == !ran,
		   "%s: %s: %d of %d count %llu, truth %llu", what, pmu, ran, num, sum, truth);
}

/* Without some registers there is no box, or no package; without others one counter less. */
static void try_register(u64 gp, const char *pmu, const char *event, bool whole)
{
	unsigned int msr = gp & 0xffff;
	char what[60];
	int err;

	snprintf(what, sizeof(what), "%#x cannot be %s", msr,
		 gp == SYN_GP_READ(msr) ? "read" : "written");
	/* The kernel complains of the first unchecked access only. */
	ktap_require(put_text("/sys/kernel/debug/clear_warn_once", "1"), "clear_warn_once");
	module_unload();
	msr_write(0, SYN_GP, gp);
	kmsg_mark();
	err = load_ours();
	ktap_check(err == (whole && box_is(pmu, "ubox") ? ENODEV : 0), "%s: load: %s", what,
		   strerror(err));
	if (ktap_check((pmu_type(pmu) < 0) == whole, "%s: %s", what, pmu) && !whole)
		count_all(what, pmu, event, msr);
	ktap_check(!kmsg_count("unchecked MSR access"), "%s: %s: unchecked", what, pmu);
	module_unload();
	msr_write(0, SYN_GP, 0);
}

/* One that is read and written */
static void try_both(unsigned int msr, const char *pmu, const char *event, bool whole)
{
	try_register(SYN_GP_READ(msr), pmu, event, whole);
	try_register(SYN_GP_WRITE(msr), pmu, event, whole);
}

/* GLOBAL_CTL, and what follows it: STATUS, which is read, and OVF_CTL, which is written */
static void try_global(unsigned int ctl, const char *pmu, const char *event)
{
	try_both(ctl, pmu, event, true);
	try_register(SYN_GP_READ(ctl + 1), pmu, event, true);
	try_register(SYN_GP_WRITE(ctl + 2), pmu, event, true);
}

static void each_register(void)
{
	uint16_t ctr[SILICON_MAX_COUNTERS];
	int kind, c, num, step;

	silicon_start();
	try_global(U_GLOBAL_CTL, kinds[0].pmu, kinds[0].event);
	for (kind = 0; kind < (soak() ? (int)ARRAY_SIZE(kinds) : 3); kind++) {
		const char *pmu = kinds[kind].pmu, *event = kinds[kind].event;

		if (box_ctl(pmu))
			try_global(box_ctl(pmu), pmu, event);
		num = box_counters(pmu, ctr);
		/* The first counter and the last, which may be a fixed one. */
		step = soak() || num < 2 ? 1 : num - 1;
		for (c = 0; c < num; c += step) {
			/* By its first counter the driver knows a box. */
			try_both(ctr[c], pmu, event, !c);
			try_both(counter_ctl(ctr[c]), pmu, event, false);
		}
	}
	ktap_require(!load_ours(), "the module cannot be loaded");
}

SILICON_MAIN({ "a sub-register that cannot be read takes only its events away", unreadable },
	     { "a sub-register that cannot be written gives no number", unwritable },
	     { "nor to a group", group },
	     { "a refused value is forgotten", refused_value },
	     { "a register is written anew after another has refused its value", changed_since },
	     { "each register is tried before it is used", each_register },
	     { "no uncore at all is no error", nothing },
	     { "no uncore at all, but its registers read 0", ignored },
	     { "a broken U-Box is one", no_ubox },
	     { "a PMI enable bit that cannot be written takes only sampling away", fixed_pmi })
