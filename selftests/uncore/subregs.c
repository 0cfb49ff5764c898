// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sub-registers that the counters of a box share: equal settings run together, settings
 * that exclude each other are refused in one group and take turns outside of it, and
 * as many different ones as the hardware has room for run at once. What they hold is
 * unknown once the package was idle.
 *
 * TEST: 6.1 debug
 * VM: --sockets 2 --cores 2
 */
#include "silicon.h"

static int cpu;

static void start(void)
{
	silicon_start();
	cpu = package_cpu(1);
	ktap_require(cpu >= 0, "no second package");
	msr_write(cpu, SYN_TRAFFIC_RESET, 1);
}

static int open_one(const char *pmu, const char *event, int group)
{
	struct perf_event_attr attr = event_attr(pmu, event);

	attr.disabled = group < 0;
	return event_open_attr(&attr, cpu, group);
}

static void check_refused(const char *pmu, const char *event, int group)
{
	struct perf_event_attr attr = event_attr(pmu, event);
	int fd;

	attr.disabled = 0;
	fd = perf_open(&attr, cpu, group);
	ktap_check(fd == -EINVAL, "%s/%s/ beside the others: %s", pmu, event,
		   fd < 0 ? strerror(-fd) : "accepted");
	if (fd >= 0)
		close(fd);
}

/* ---- pairs ---- */

static const struct pair {
	const char *pmu, *a, *b;
	bool fit;
} pairs[] = {
	/* one match set */
	{ "sbox_0", "to_r_prog_ev,match=0x12", "to_r_prog_ev,match=0x12", true },
	{ "sbox_0", "to_r_prog_ev,match=0x12", "to_r_prog_ev,match=0x13", false },
	{ "sbox_0", "to_r_prog_ev,mask_addr=0x1", "to_r_prog_ev,mask_addr=0x3", false },
	{ "sbox_0", "to_r_prog_ev,mask_hnid", "to_r_prog_ev", false },
	{ "sbox_0", "to_r_prog_ev,match=0x12,mask_addr=0xff", "pkts_sent_snp", true },
	/* parts of one MATCH and MASK */
	{ "bbox_1", "msg_addr_in_match,match_msg_in=0x3,mask_msg_in=0xf",
	  "msg_in_match,match_msg_in=0x3,mask_msg_in=0xf", true },
	{ "bbox_1", "msg_addr_in_match,match_msg_in=0x3,mask_msg_in=0xf",
	  "msg_in_match,match_msg_in=0xe,mask_msg_in=0xf", false },
	{ "bbox_1", "msg_addr_in_match,match_msg_in=0x3,mask_msg_in=0xf",
	  "msg_in_match,match_msg_in=0x3,mask_msg_in=0x3", false },
	{ "bbox_1", "msg_addr_in_match,match_addr=0x5,mask_addr=0xf",
	  "addr_in_match,match_addr=0x5,mask_addr=0xf", true },
	{ "bbox_1", "msg_addr_in_match,match_addr=0x5,mask_addr=0xf",
	  "addr_in_match,match_addr=0x4,mask_addr=0xf", false },
	{ "bbox_1", "msg_addr_in_match,match_msg_in=0x3,mask_msg_in=0xf,match_addr=0x5,mask_addr=0x7",
	  "opcode_in_match,match_opc_in=0x9,mask_opc_in=0xf", true },
	{ "bbox_1", "opcode_addr_in_match,match_opc_in=0x3,mask_opc_in=0xf",
	  "msg_opcode_out_match,match_opc_out=0x9,mask_opc_out=0xf", true },
	/* M-Box: DSP, ISS */
	{ "mbox_0", "dsp_fill.rdq_full", "cycles_dsp_fill.rdq_full", true },
	{ "mbox_0", "dsp_fill.rdq_full", "cycles_dsp_fill.wrq_full", false },
	{ "mbox_0", "frm_type.3cmd", "frm_type.3cmd", true },
	{ "mbox_0", "frm_type.3cmd", "frm_type.nop", false },
	{ "mbox_0", "frm_type.nop", "cycles_sched_mode.rdprio", true },
	{ "mbox_0", "cycles_sched_mode.rdprio", "cycles_sched_mode.wrprio", false },
	{ "mbox_0", "dram_cmd.ras.rdprio", "cycles_sched_mode.wrprio", true },
	{ "mbox_0", "dram_cmd.ras.rdprio", "dram_cmd.ras.wrprio", false },
	/* MSC_THR, PGT, MAP */
	{ "mbox_0", "therm_trp_up.dimm1.gt_lo", "therm_trp_dn.dimm1.lt_lo", true },
	{ "mbox_0", "therm_trp_up.dimm1.gt_lo", "therm_trp_dn.dimm2.lt_lo", false },
	{ "mbox_0", "therm_trp_up.all.gt_lo", "therm_trp_up.all.lt_lo", false },
	{ "mbox_0", "pgt_page_ev.opn2cls", "pgt_page_ev.cls2opn", false },
	{ "mbox_0", "pgt_page_ev.opn2cls", "cycles_pgt_state.open", true },
	{ "mbox_0", "bcmd_schedq_occupancy.reads", "bcmd_schedq_occupancy.writes", false },
	{ "mbox_0", "bcmd_schedq_occupancy.reads,map_fvid=7", "bcmd_schedq_occupancy.reads,map_fvid=7",
	  true },
	{ "mbox_0", "bcmd_schedq_occupancy.reads,map_fvid=7", "bcmd_schedq_occupancy.reads", false },
	/* PLD and the address match */
	{ "mbox_0", "dram_cmd.ras", "dram_cmd.pre", false },
	{ "mbox_0", "dram_cmd.ras", "retries.all", true },
	{ "mbox_0", "retries.fvid,pld_fvid=3", "retries.fvid,pld_fvid=4", false },
	{ "mbox_0", "dram_cmd.ras,match_addr=0x1,mask_addr=0x3",
	  "dram_cmd.ras,match_addr=0x1,mask_addr=0x3", true },
	{ "mbox_0", "dram_cmd.ras,match_addr=0x1,mask_addr=0x3", "dram_cmd.ras", false },
	/* FVC */
	{ "mbox_1", "bbox_cmds.reads", "bbox_cmds.reads", true },
	{ "mbox_1", "bbox_cmds.reads", "bbox_cmds.writes", false },
	{ "mbox_1", "bbox_cmds.reads", "bbox_rsp.ack", true },
	{ "mbox_1", "bbox_rsp.ack", "bbox_rsp.retry", false },
	{ "mbox_1", "bbox_cmds.reads,fvc_fvid=1", "smi_crc_err,fvc_fvid=2", false },
	/* R-Box: ports have registers of their own, and two of each kind */
	{ "rbox_0", "retryq_ne,port=0", "retryq_ne,port=1", true },
	{ "rbox_0", "retryq_ne,port=0", "outputq_ne,port=0", true },
	{ "rbox_1", "local_arb_bid,port=0", "global_arb_bid,port=0", true },
	{ "rbox_1", "drs.anyresp,port=2", "ndr.anycmp,port=2", true },
	{ "rbox_1", "drs.anyresp,port=2", "drs.anyresp,port=2", true },
	/* other fields of one register */
	{ "bbox_0", "addr_in_match,match_addr=0x1,mask_addr=0x1",
	  "opcode_in_match,match_opc_in=0x1,mask_opc_in=0x1", true },
	{ "bbox_1", "msg_in_match,match_msg_in=0x3,mask_msg_in=0xf",
	  "msg_addr_in_match,match_msg_in=0x3,mask_msg_in=0xf,match_addr=0x1,mask_addr=0x1", true },
	{ "mbox_0", "smi_crc_err", "bbox_cmds.writes", true },
	{ "mbox_0", "bbox_cmds.writes", "bbox_rsp.retry", true },
	{ "mbox_0", "fvc_ev3.mem_ecc_err", "fvc_ev3.poison_txn", true },
	{ "mbox_1", "frm_type.nop", "cycles_sched_mode.wrprio", true },
	{ "mbox_1", "dram_cmd.ras.rdprio", "frm_type.wdat", true },
	{ "mbox_1", "dram_cmd.ras", "retries.fvid,pld_fvid=3", true },
	{ "mbox_1", "therm_trp_up.all.gt_lo", "therm_trp_dn.all.gt_mid_rise", true },
	{ "mbox_1", "pgt_page_ev.cls2opn", "cycles_pgt_state.open", true },
	{ "rbox_0", "starving", "target_available.vn1.vlg", true },
	{ "rbox_0", "retryq_ne,port=3", "outputq_ne,port=3", true },
};

static void for_each_pair(bool fit, void (*check)(const char *pmu, const char *a, const char *b))
{
	unsigned int i;
	char pmu[32];

	start();
	for (i = 0; i < ARRAY_SIZE(pairs); i++) {
		if (pairs[i].fit != fit)
			continue;
		snprintf(pmu, sizeof(pmu), "xeon7500_%s", pairs[i].pmu);
		check(pmu, pairs[i].a, pairs[i].b);
		check(pmu, pairs[i].b, pairs[i].a);
		event_close_all();
	}
}

/* Neither has waited, and together they have what there was. */
static void check_all_the_time(const char *pmu, const char *a, const char *b, const int fd[2],
			       struct perf_count count[2])
{
	u64 truth;
	int i;

	for (i = 0; i < 2; i++) {
		count[i] = perf_count(fd[i]);
		ktap_check(count[i].running && count[i].running == count[i].enabled,
			   "%s/%s/ and %s: %llu of %llu ns", pmu, a, b, count[i].running,
			   count[i].enabled);
	}
	truth = box_truth(cpu, SYN_EVENTS, pmu);
	ktap_check(count[0].value + count[1].value == truth,
		   "%s/%s/ and %s: %llu and %llu, truth %llu", pmu, a, b, count[0].value,
		   count[1].value, truth);
}

/* The second comes and goes while the first runs, and comes back. */
static void check_beside(const char *pmu, const char *a, const char *b)
{
	struct perf_count count[2];
	int fd[2], i;

	event_close_all();
	silicon_clear();
	fd[0] = open_one(pmu, a, -1);
	fd[1] = open_one(pmu, b, -1);
	perf_enable(fd[0]);
	for (i = 0; i < 2; i++) {
		sleep_us(200);
		perf_run_us(fd[1], 200);
	}
	perf_disable(fd[0]);
	check_all_the_time(pmu, a, b, fd, count);
}

static void check_together(const char *pmu, const char *a, const char *b)
{
	struct perf_count count[2];
	int fd[2];

	event_close_all();
	silicon_clear();
	fd[0] = open_one(pmu, a, -1);
	fd[1] = open_one(pmu, b, fd[0]);
	perf_run_us(fd[0], 100);
	check_all_the_time(pmu, a, b, fd, count);
	if (!strcmp(a, b))
		ktap_check(count[0].value == count[1].value, "%s/%s/ twice: %llu and %llu", pmu, a,
			   count[0].value, count[1].value);
}

KTAP_CALL(pairs_that_fit, for_each_pair(true, check_together))
KTAP_CALL(pairs_beside, for_each_pair(true, check_beside))

static void check_apart(const char *pmu, const char *a, const char *b)
{
	int leader;

	event_close_all();
	silicon_clear();
	leader = open_one(pmu, a, -1);
	check_refused(pmu, b, leader);
	ktap_check(!silicon_accesses(), "%s/%s/ and %s: %u register accesses", pmu, a, b,
		   silicon_accesses());
}

KTAP_CALL(pairs_refused, for_each_pair(false, check_apart))

static u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* Outside of a group they take turns, and what one counts is not the other's. */
static void check_turns(const char *pmu, const char *a, const char *b)
{
	struct perf_count count[2];
	u64 truth, took;
	int fd[2], i, tries;

	event_close_all();
	silicon_clear();
	hurry(pmu);
	fd[0] = open_one(pmu, a, -1);
	fd[1] = open_one(pmu, b, -1);
	took = now_ns();
	perf_enable(fd[0]);
	perf_enable(fd[1]);
	for (tries = 0; tries < 500 && box_truth(cpu, SYN_WINDOWS, pmu) < 5; tries++)
		sleep_us(4000);
	perf_disable(fd[0]);
	perf_disable(fd[1]);
	took = now_ns() - took;
	for (i = 0; i < 2; i++) {
		count[i] = perf_count(fd[i]);
		ktap_check(count[i].running && count[i].running < count[i].enabled,
			   "%s/%s/ and %s, no. %d: %llu of %llu ns", pmu, a, b, i, count[i].running,
			   count[i].enabled);
	}
	/* perf and we have clocks that agree to a thousandth. */
	ktap_check(count[0].running + count[1].running <= took + took / 1000,
		   "%s/%s/ and %s ran at once: %llu and %llu of %llu ns", pmu, a, b,
		   count[0].running, count[1].running, took);
	truth = box_truth(cpu, SYN_EVENTS, pmu);
	ktap_check(count[0].value + count[1].value == truth,
		   "%s/%s/ and %s: %llu and %llu, truth %llu", pmu, a, b, count[0].value,
		   count[1].value, truth);
}

KTAP_CALL(pairs_in_turns, for_each_pair(false, check_turns))

/* Reads happen in every cycle, writes never: who counts what? */
static void turns_do_not_mix(void)
{
	const char *pmu = "xeon7500_mbox_1";
	int fd[2], tries;
	u64 truth;

	start();
	hurry(pmu);
	traffic_silence(cpu, SYN_BOX_M, 1);
	silicon_traffic(cpu, SYN_SEL(SYN_BOX_M, 1, SYN_CODE_M_FVC(5), 0), SYN_PATTERN(0, 0, 1, 1));
	fd[0] = open_one(pmu, "bbox_cmds.reads", -1);
	fd[1] = open_one(pmu, "bbox_cmds.writes", -1);
	perf_enable(fd[0]);
	perf_enable(fd[1]);
	for (tries = 0; tries < 500 && box_truth(cpu, SYN_WINDOWS, pmu) < 20; tries++)
		sleep_us(4000);
	perf_disable(fd[0]);
	perf_disable(fd[1]);
	truth = box_truth(cpu, SYN_EVENTS, pmu);
	ktap_check(perf_count(fd[0]).value == truth && truth, "%llu reads, truth %llu",
		   perf_count(fd[0]).value, truth);
	ktap_check(perf_count(fd[1]).running && !perf_count(fd[1]).value, "%llu writes in %llu ns",
		   perf_count(fd[1]).value, perf_count(fd[1]).running);
	msr_write(cpu, SYN_TRAFFIC_RESET, 1);
}

/* ---- as many as there is room for ---- */

struct member {
	const char *event;
	unsigned int inst, code, bit;	/* where it comes from; no code: packets */
};

#define PACKETS	0xfffe

/*
 * A group of events with different settings, each source at a rate of its own. Packets
 * are sent by the caller's hook while the group runs.
 */
static void check_group(const char *pmu, unsigned int box, const struct member *m, unsigned int num,
			u64 want_packets[], void (*send)(void))
{
	uint16_t ctr[SILICON_MAX_COUNTERS];
	unsigned int i, c, num_ctr;
	int fd[SILICON_MAX_COUNTERS];

	event_close_all();
	silicon_clear();
	msr_write(cpu, SYN_TRAFFIC_MIX, 0);
	for (i = 0; i < num; i++)
		traffic_silence(cpu, box, m[i].inst);
	for (i = 0; i < num; i++) {
		if (m[i].code != PACKETS)
			traffic_rate(cpu, SYN_SEL(box, m[i].inst, m[i].code, m[i].bit), 10 * i + 3);
	}
	for (i = 0; i < num; i++)
		fd[i] = open_one(pmu, m[i].event, i ? fd[0] : -1);
	perf_enable(fd[0]);
	if (send)
		send();
	sleep_us(200);
	perf_disable(fd[0]);
	num_ctr = box_counters(pmu, ctr);
	for (c = 0; c < num_ctr && !silicon_truth(cpu, SYN_WINDOWS, ctr[c]); c++)
		;
	ktap_require(c < num_ctr, "%s: nothing has run", pmu);
	for (i = 0; i < num; i++) {
		struct perf_count count = perf_count(fd[i]);
		u64 want = m[i].code == PACKETS ? want_packets[i] :
				traffic_count(silicon_truth(cpu, SYN_OPENED, ctr[c]),
					      silicon_truth(cpu, SYN_CLOSED, ctr[c]), 10 * i + 3);

		ktap_check(count.value == want && want && count.running == count.enabled,
			   "%s/%s/: %llu, wanted %llu", pmu, m[i].event, count.value, want);
	}
	msr_write(cpu, SYN_TRAFFIC_RESET, 1);
}

static void four_fvc(void)
{
	static const struct member four[] = {
		{ "bbox_cmds.f2b", 1, SYN_CODE_M_FVC(5), 6 },
		{ "bbox_rsp.uncor", 1, SYN_CODE_M_FVC(6), 3 },
		{ "smi_crc_err", 1, SYN_CODE_M_FVC(0), SYN_ANY },
		{ "alert_frames", 1, SYN_CODE_M_FVC(3), SYN_ANY },
		/* they have rooms of their own */
		{ "retries.all", 1, SYN_CODE_M(0xb), 0 },
		{ "cycles_pgt_state.open", 1, SYN_CODE_M_FLAG(5), 1 },
	};
	const char *pmu = "xeon7500_mbox_1";
	unsigned int i;
	int fd[5];

	start();
	check_group(pmu, SYN_BOX_M, four, 6, NULL, NULL);
	/* Whatever number the user gave them. */
	event_close_all();
	for (i = 0; i < 4; i++) {
		char event[80];

		snprintf(event, sizeof(event), "event=0x10,fvc_evnt=%u", i);
		fd[i] = open_one(pmu, event, i ? fd[0] : -1);
	}
	check_refused(pmu, "bbox_cmds.reads", fd[0]);
	check_refused(pmu, "event=0x0d,fvc_evnt=4", fd[0]);
	fd[4] = open_one(pmu, "event=0x0d,fvc_evnt=2", fd[0]);
	perf_run_us(fd[0], 100);
	ktap_check(perf_count(fd[2]).value == perf_count(fd[4]).value && perf_count(fd[4]).value,
		   "%llu and %llu", perf_count(fd[2]).value, perf_count(fd[4]).value);
}

static unsigned int this_port;

static void send_classes(void)
{
	static const struct { unsigned int class, num; } send[] = {
		{ 0xe, 11 }, { 0x2, 13 }, { 0x0, 17 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(send); i++) {
		msr_write(cpu, SYN_PKT_HEADER,
			  SYN_PKT_BOX(SYN_BOX_R) | SYN_PKT_INSTANCE(this_port) |
			  SYN_PKT_CLASS(send[i].class) | SYN_PKT_OPCODE(8));
		msr_write(cpu, SYN_PKT_SEND, send[i].num);
	}
}

/* Two of each kind on one port, and two more counters that share. */
static void each_port(void)
{
	char event[8][80], pmu[32];
	unsigned int port, i;
	int leader;

	start();
	for (port = 0; port < 8; port++) {
		u64 packets[8] = { 0, 0, 0, 0, 11, 13, 0, 13 };
		const char * const terms[8] = {
			"retryq_ne", "alloc_to_arb.drs_vn01", "local_arb_bid",
			"target_available.vn1.ncs", "drs.anyresp11flits", "ndr.anycmp",
			"retryq_ne", "ndr.anycmp",
		};
		struct member m[8] = {
			{ .code = SYN_CODE_R_IPERF(28) }, { .code = SYN_CODE_R_IPERF(11) },
			{ .code = SYN_CODE_R_QLX(0x1) }, { .code = SYN_CODE_R_QLX(0xb9) },
			{ .code = PACKETS }, { .code = PACKETS }, { .code = PACKETS },
			{ .code = PACKETS },
		};

		this_port = port;
		snprintf(pmu, sizeof(pmu), "xeon7500_rbox_%u", port / 4);
		for (i = 0; i < 8; i++) {
			snprintf(event[i], sizeof(event[i]), "%s,port=%u", terms[i], port % 4);
			m[i].event = event[i];
			m[i].inst = port;
			m[i].bit = SYN_ANY;
		}
		check_group(pmu, SYN_BOX_R, m, 6, packets, send_classes);

		/* The two that share; a third setting of any kind does not fit. */
		event_close_all();
		leader = open_one(pmu, event[0], -1);
		for (i = 1; i < 6; i++)
			open_one(pmu, event[i], leader);
		for (i = 0; i < 3; i++) {
			static const char * const third[3] = {
				"outputq_ne", "starving", "ncb.anyint",
			};
			char bad[80];

			snprintf(bad, sizeof(bad), "%s,port=%u", third[i], port % 4);
			check_refused(pmu, bad, leader);
		}
		open_one(pmu, event[6], leader);
		open_one(pmu, event[7], leader);
		perf_enable(leader);
		send_classes();
		sleep_us(100);
		perf_disable(leader);
		ktap_check(perf_count(leader).value &&
			   perf_count(leader).value == perf_count(open_events[6]).value &&
			   perf_count(open_events[5]).value &&
			   perf_count(open_events[5]).value == perf_count(open_events[7]).value,
			   "port %u: those that share do not agree", port);
		ktap_check(perf_count(leader).running == perf_count(leader).enabled);
		check_refused(pmu, event[0], leader);
	}
	event_close_all();
}

/* A third setting of a kind, alone: perf lets the three take turns. */
static void three_on_two(void)
{
	static const char * const sets[3][3] = {
		{ "retryq_ne", "outputq_ne", "eot_ne_cycles" },
		{ "local_arb_bid", "global_arb_bid", "starving" },
		{ "drs.anyresp", "ndr.anycmp", "ncb.anymsg9flits" },
	};
	const char *pmu = "xeon7500_rbox_0";
	unsigned int s, i, tries;
	u64 sum, truth;
	char event[80];
	int fd[3];

	start();
	hurry(pmu);
	for (s = 0; s < 3; s++) {
		event_close_all();
		silicon_clear();
		for (i = 0; i < 3; i++) {
			snprintf(event, sizeof(event), "%s,port=2", sets[s][i]);
			fd[i] = open_one(pmu, event, -1);
			perf_enable(fd[i]);
		}
		for (tries = 0; tries < 500 && box_truth(cpu, SYN_WINDOWS, pmu) < 12; tries++)
			sleep_us(4000);
		sum = 0;
		for (i = 0; i < 3; i++)
			perf_disable(fd[i]);
		for (i = 0; i < 3; i++) {
			struct perf_count count = perf_count(fd[i]);

			sum += count.value;
			ktap_check(count.value && count.running < count.enabled,
				   "%s: %llu in %llu of %llu ns", sets[s][i], count.value,
				   count.running, count.enabled);
		}
		truth = box_truth(cpu, SYN_EVENTS, pmu);
		ktap_check(sum == truth, "%llu, truth %llu", sum, truth);
	}
}

/* ---- writes ---- */

static unsigned int writes(void)
{
	return msr_read(0, SYN_ACCESS_ALL(SYN_RANGE_UNCORE, 1));
}

/*
 * An event that shares writes its own counter only, its control register and the enable
 * bits; one that comes back, no more. The first writes en_all and what it shares as well:
 * each time, since between two sessions the registers are anybody's. As it ends, it leaves in them
 * what they hold, but for a switch that is on.
 */
static void sharing_costs_nothing(void)
{
	/* Beside what the second writes: en_all; a switch off, match, mask and switch; ... */
	static const struct { const char *pmu, *event; unsigned int first, end; } shared[] = {
		{ "xeon7500_sbox_1", "to_r_prog_ev,match=0x5,mask_addr=0xff", 3 + 1 + 4, 3 + 1 },
		{ "xeon7500_mbox_0", "bbox_cmds.merge,fvc_fvid=3", 3 + 1 + 1, 3 },
		{ "xeon7500_mbox_0", "dram_cmd.ras.rdprio,match_addr=0x1,mask_addr=0x3",
		  3 + 1 + 4 + 2, 3 + 1 },
		{ "xeon7500_mbox_0", "dram_cmd.ras.rdprio", 3 + 1 + 1 + 2, 3 },
		{ "xeon7500_mbox_0", "therm_trp_dn.dimm1.gt_lo", 3 + 1 + 1, 3 },
		{ "xeon7500_rbox_1", "drs.datac_m,port=1", 3 + 1 + 3, 3 },
		{ "xeon7500_rbox_1", "target_available.vn1.ncs,port=1", 3 + 1 + 1, 3 },
		{ "xeon7500_rbox_1", "new_packets_recv.vna.hom,port=1", 3 + 1 + 1, 3 },
	};
	unsigned int i, first, second, back, end, again;
	int fd[2];

	start();
	for (i = 0; i < ARRAY_SIZE(shared); i++) {
		event_close_all();
		fd[0] = open_one(shared[i].pmu, shared[i].event, -1);
		fd[1] = open_one(shared[i].pmu, shared[i].event, -1);
		silicon_clear();
		perf_enable(fd[0]);
		first = writes();
		silicon_clear();
		perf_enable(fd[1]);
		second = writes();
		perf_disable(fd[1]);
		silicon_clear();
		perf_enable(fd[1]);
		back = writes();
		perf_disable(fd[1]);
		silicon_clear();
		perf_disable(fd[0]);
		end = writes();
		silicon_clear();
		perf_enable(fd[0]);
		again = writes();
		perf_disable(fd[0]);
		ktap_check(first == shared[i].first && second == 3 && back == 3 &&
			   end == shared[i].end && again == first,
			   "%s/%s/: %u writes, sharing %u, back %u, end %u, again %u", shared[i].pmu,
			   shared[i].event, first, second, back, end, again);
	}
}

/*
 * How many registers a port and a kind write, the first event and the second. Both QLX settings of a
 * port are in one register, which keeps what the round before has left there.
 */
static void each_port_costs(void)
{
	static const struct { const char *first, *second; unsigned int regs, more; } kinds[] = {
		{ "retryq_ne", "outputq_ne", 1, 1 }, { "local_arb_bid", "global_arb_bid", 1, 0 },
		{ "drs.anyresp", "ndr.anycmp", 3, 3 },
	};
	unsigned int port, i, n, num[2];
	char event[80], pmu[32];
	int fd[2];

	start();
	for (port = 0; port < 8; port++) {
		snprintf(pmu, sizeof(pmu), "xeon7500_rbox_%u", port / 4);
		for (i = 0; i < 2 * ARRAY_SIZE(kinds); i++) {
			const typeof(kinds[0]) *kind = &kinds[i / 2];

			event_close_all();
			for (n = 0; n < 2; n++) {
				snprintf(event, sizeof(event), "%s,port=%u",
					 n ? kind->second : kind->first, port % 4);
				fd[n] = open_one(pmu, event, -1);
			}
			for (n = 0; n < 2; n++) {
				silicon_clear();
				perf_enable(fd[n]);
				num[n] = writes();
			}
			ktap_check(!(i % 2) ||
				   (num[0] == 3 + 1 + kind->regs && num[1] == 3 + kind->more),
				   "port %u: %s: %u writes, %s: %u", port, kind->first, num[0],
				   kind->second, num[1]);
		}
	}
}

/* ---- what somebody else has left in them ---- */

/* Something in every sub-register, as another user may have left it. */
static const struct { uint16_t msr; u64 val; } junk[] = {
	/* B: MATCH, MASK */
	{ B0_MATCH, 0x123 }, { B0_MASK, 0xfff }, { B1_MATCH, 0x0555500000000055 },
	{ B1_MASK, 0x0fff00000000ffff },
	/* S: the masks, then the switch */
	{ S0_MATCH, 0x4567 }, { S0_MASK, 0x7e }, { S0_MM_CFG, 0 }, { S1_MATCH, 0x89ab },
	{ S1_MASK, 0x81 }, { S1_MM_CFG, 1ULL << 63 },
	/* M: DSP to FVC, match set */
	{ M0_DSP, 0x100 }, { M0_ISS, 0x3a2 }, { M0_MAP, 0x67 }, { M0_MSC_THR, 0x128 },
	{ M0_PGT, 0x41 }, { M0_PLD, 0x1203 }, { M0_ZDP_CTL_FVC, 0x123456 },
	{ M0_ADDR_MATCH, 0x1240 }, { M0_ADDR_MASK, 0xff }, { M0_MM_CFG, 1ULL << 63 },
	{ M1_ADDR_MATCH, 0x3c0 }, { M1_ADDR_MASK, 0xf0 }, { M1_MM_CFG, 0 },
	/* R: IPERF, QLX, match sets of a port on each side */
	{ R_PORT0_IPERF_CFG0, 0x80000000 }, { R_PORT0_IPERF_CFG1, 0x04000000 },
	{ R_PORT0_QLX_CFG, 0x1213 }, { R_PORT0_XBR_SET1_MATCH, 0x1c00 },
	{ R_PORT0_XBR_SET1_MASK, 0x1e00 }, { R_PORT0_XBR_SET1_MM_CFG, 0x210000 },
	{ R_PORT0_XBR_SET2_MATCH, 0x0400 }, { R_PORT0_XBR_SET2_MASK, 0x1e00 },
	{ R_PORT0_XBR_SET2_MM_CFG, 1ULL << 63 }, { R_PORT7_IPERF_CFG0, 0x10000000 },
	{ R_PORT7_QLX_CFG, 0x3 },
};

static const struct { const char *pmu, *event; } uses[] = {
	{ "xeon7500_bbox_0", "msg_opcode_addr_in_match,match_opc_in=0x3,mask_opc_in=0xf" },
	{ "xeon7500_bbox_1", "msg_opcode_out_match,match_msg_out=0x3,mask_msg_out=0xf" },
	{ "xeon7500_sbox_0", "to_r_prog_ev,match=0x77,mask_addr=0xff,mask_hnid" },
	{ "xeon7500_sbox_1", "to_r_prog_ev,match=0x88,mask_addr=0xff" },
	{ "xeon7500_mbox_0", "dsp_fill.wrq_full" },
	{ "xeon7500_mbox_0", "frm_type.nop" },
	{ "xeon7500_mbox_0", "bcmd_schedq_occupancy.sprwr" },
	{ "xeon7500_mbox_0", "therm_trp_dn.dimm1.gt_lo" },
	{ "xeon7500_mbox_0", "cycles_pgt_state.closed" },
	{ "xeon7500_mbox_0", "bbox_rsp.uncor,fvc_fvid=3" },
	{ "xeon7500_mbox_1", "dram_cmd.ras.rdprio,match_addr=0x1,mask_addr=0x3" },
	{ "xeon7500_rbox_0", "inque_read_win,port=0" },
	{ "xeon7500_rbox_0", "null_idle,port=0" },
	{ "xeon7500_rbox_0", "starving,port=0" },
	{ "xeon7500_rbox_0", "local_arb_bid,port=0" },
	{ "xeon7500_rbox_0", "drs.datac_m,port=0" },
	{ "xeon7500_rbox_0", "ncb.anyint,port=0" },
	{ "xeon7500_rbox_1", "flits_recv_err,port=3" },
	{ "xeon7500_rbox_1", "outputq_ne,port=3" },
};

static void write_junk(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(junk); i++)
		msr_write(cpu, junk[i].msr, junk[i].val);
	for (i = 0; i < ARRAY_SIZE(junk); i++)
		ktap_check(msr_read(cpu, junk[i].msr) == junk[i].val, "%#x does not hold %#llx",
			   junk[i].msr, junk[i].val);
}

/* Switches first, so that the masks can be written. */
static void clear_junk(void)
{
	unsigned int i;

	for (i = ARRAY_SIZE(junk); i-- > 0;)
		msr_write(cpu, junk[i].msr, 0);
}

static void not_in_use(void)
{
	unsigned int i;

	start();
	ktap_require(!system("modprobe -r xeon7500_uncore"), "in use");
	write_junk();
	ktap_require(!system("modprobe xeon7500_uncore && modprobe -r xeon7500_uncore"), "in use");
	for (i = 0; i < ARRAY_SIZE(junk); i++)
		ktap_check(msr_read(cpu, junk[i].msr) == junk[i].val, "%#x was %#llx, is %#llx",
			   junk[i].msr, junk[i].val, msr_read(cpu, junk[i].msr));
	clear_junk();
	ktap_require(!system("modprobe xeon7500_uncore"), "cannot be loaded");
}

/* What the registers hold while all of the uses are there. */
static void use_over_junk(u64 val[])
{
	int fd[ARRAY_SIZE(uses)];
	unsigned int i;

	write_junk();
	for (i = 0; i < ARRAY_SIZE(uses); i++) {
		fd[i] = open_one(uses[i].pmu, uses[i].event, -1);
		perf_enable(fd[i]);
	}
	sleep_us(1000);
	for (i = 0; i < ARRAY_SIZE(uses); i++) {
		struct perf_count count = perf_count(fd[i]);

		ktap_check(count.running == count.enabled, "%s/%s/ waits", uses[i].pmu,
			   uses[i].event);
	}
	for (i = 0; i < ARRAY_SIZE(junk); i++)
		val[i] = msr_read(cpu, junk[i].msr);
	event_close_all();
	clear_junk();
}

/* The same events program them anew, whatever somebody else did while none was there. */
static void written_anew(void)
{
	u64 first[ARRAY_SIZE(junk)], second[ARRAY_SIZE(junk)];
	unsigned int i, used = 0;

	start();
	use_over_junk(first);
	use_over_junk(second);
	for (i = 0; i < ARRAY_SIZE(junk); i++) {
		used += first[i] != junk[i].val;
		ktap_check(second[i] == first[i], "%#x was %#llx in use, is %#llx", junk[i].msr,
			   first[i], second[i]);
	}
	ktap_check(used > ARRAY_SIZE(junk) / 2, "only %u registers were used", used);
}

SILICON_MAIN({ "settings that fit run together", pairs_that_fit },
	     { "one of them comes and goes while the other runs", pairs_beside },
	     { "settings that exclude each other are refused in a group", pairs_refused },
	     { "outside of a group they take turns", pairs_in_turns },
	     { "turns do not mix", turns_do_not_mix },
	     { "four FVC events at once", four_fvc },
	     { "two IPERF, two QLX and two match sets on each port", each_port },
	     { "three settings for two registers take turns", three_on_two },
	     { "sharing costs no write", sharing_costs_nothing },
	     { "number of register writes of each R-Box port", each_port_costs },
	     { "unused registers are left alone", not_in_use },
	     { "an idle package's registers are not trusted", written_anew })
