// SPDX-License-Identifier: GPL-2.0-only
/*
 * An event that starts while another one runs whose sub-register it shares: what the
 * first depends on is not written, and neither loses a count. (The silicon complains
 * when a register changes under a counter that runs on it.)
 *
 * VM: --sockets 2 --cores 2
 */
#include "silicon.h"


static const struct {
	const char *pmu, *a, *b;
} pairs[] = {
	/* other fields of one register */
	{ "xeon7500_bbox_0", "addr_in_match,match_addr=0x1,mask_addr=0x1",
	  "opcode_in_match,match_opc_in=0x1,mask_opc_in=0x1" },
	{ "xeon7500_bbox_1", "msg_in_match,match_msg_in=0x3,mask_msg_in=0xf",
	  "msg_addr_in_match,match_msg_in=0x3,mask_msg_in=0xf,match_addr=0x1,mask_addr=0x1" },
	{ "xeon7500_mbox_0", "smi_crc_err", "bbox_cmds.writes" },
	{ "xeon7500_mbox_0", "bbox_cmds.writes", "bbox_rsp.retry" },
	{ "xeon7500_mbox_0", "fvc_ev3.mem_ecc_err", "fvc_ev3.poison_txn" },
	{ "xeon7500_mbox_1", "frm_type.nop", "cycles_sched_mode.wrprio" },
	{ "xeon7500_mbox_1", "dram_cmd.ras.rdprio", "frm_type.wdat" },
	{ "xeon7500_mbox_1", "dram_cmd.ras", "retries.fvid,pld_fvid=3" },
	{ "xeon7500_mbox_1", "therm_trp_up.all.gt_lo", "therm_trp_dn.all.gt_mid_rise" },
	{ "xeon7500_mbox_1", "pgt_page_ev.cls2opn", "cycles_pgt_state.open" },
	{ "xeon7500_rbox_0", "starving", "target_available.vn1.vlg" },
	/* other registers of a kind */
	{ "xeon7500_rbox_0", "retryq_ne,port=3", "outputq_ne,port=3" },
	{ "xeon7500_rbox_1", "drs.anyresp,port=2", "ndr.anycmp,port=2" },
	/* the same contents */
	{ "xeon7500_sbox_0", "to_r_prog_ev,match=0x5", "to_r_prog_ev,match=0x5" },
	{ "xeon7500_mbox_1", "dram_cmd.all,match_addr=0x1,mask_addr=0x1",
	  "dram_cmd.all,match_addr=0x1,mask_addr=0x1" },
	{ "xeon7500_rbox_1", "drs.anyresp,port=2", "drs.anyresp,port=2" },
};

static void check(const char *pmu, const char *a, const char *b)
{
	struct perf_count count[2];
	u64 truth;
	int cpu, fd[2];

	silicon_start();
	cpu = package_cpu(0);
	fd[0] = event_open(pmu, a, cpu, -1);
	fd[1] = event_open(pmu, b, cpu, -1);
	/* The second comes and goes while the first runs, and comes back. */
	perf_enable(fd[0]);
	sleep_us(200);
	perf_enable(fd[1]);
	sleep_us(200);
	perf_disable(fd[1]);
	sleep_us(200);
	perf_enable(fd[1]);
	sleep_us(200);
	perf_disable(fd[0]);
	perf_disable(fd[1]);

	count[0] = perf_count(fd[0]);
	count[1] = perf_count(fd[1]);
	truth = box_truth(cpu, SYN_EVENTS, pmu);
	ktap_check(count[0].value + count[1].value == truth,
		   "%s/%s/ and %s: %llu and %llu, truth %llu", pmu, a, b, count[0].value,
		   count[1].value, truth);
	ktap_check(count[0].running && count[0].running == count[0].enabled &&
		   count[1].running && count[1].running == count[1].enabled,
		   "%s/%s/ and %s took turns", pmu, a, b);
	ktap_check(!msr_read(0, SYN_VIOLATION(SYN_V_SUBREG)), "%s/%s/ and %s: %llu changes", pmu, a,
		   b, msr_read(0, SYN_VIOLATION(SYN_V_SUBREG)));
}

static void first_then_second(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(pairs); i++)
		check(pairs[i].pmu, pairs[i].a, pairs[i].b);
}

static void second_then_first(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(pairs); i++)
		check(pairs[i].pmu, pairs[i].b, pairs[i].a);
}

SILICON_MAIN({ "beside a running event", first_then_second },
	     { "the other way round", second_then_first })
