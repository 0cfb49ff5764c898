// SPDX-License-Identifier: GPL-2.0-only
/*
 * VM: --machine goldmont
 * PUT: programs/walker.c programs/sharer.c
 * TEST: 6.1 debug
 * SOAK: 6.1:newest newest newest:6.1
 *
 * perf mem, perf c2c and perf record as people use them.
 */
#define _GNU_SOURCE
#include "c2c.h"
#include "sample.h"
#include "where.h"

#define WALKER	"./walker 100000"
#define MUX_INTERVAL	"/sys/bus/event_source/devices/cpu/perf_event_mux_interval_ms"

static u64 records(void)
{
	return core_stat(0, SYN_CORE_S_RECORDS) + core_stat(1, SYN_CORE_S_RECORDS);
}

/* Samples of the walk in a file of perf's. */
static void walked(const char *file, unsigned int *loads, unsigned int *stores,
		   unsigned int *wrong, unsigned int *all)
{
	struct where w = where();
	char command[128], line[512];
	FILE *f;

	*loads = *stores = *wrong = *all = 0;
	snprintf(command, sizeof(command), "perf script -i %s -F addr,ip 2>/dev/null", file);
	f = popen(command, "r");
	ktap_require(f);
	while (fgets(line, sizeof(line), f)) {
		unsigned long addr, ip;

		if (sscanf(line, "%lx %lx", &addr, &ip) != 2)
			continue;
		++*all;
		if (ip == w.load && addr - w.from < w.size)
			++*loads;
		else if (ip == w.store && addr - w.to < w.size)
			++*stores;
		else if (ip == w.load || ip == w.store)
			++*wrong;
	}
	ktap_check(!pclose(f), "perf script failed on %s", file);
}

static void without(void)
{
	ext_load(NULL);
	ktap_check(shell("perf mem record -o /tmp/none true 2>/tmp/err"));
	ktap_check(!shell("grep -q 'not supported' /tmp/err"), "%d", shell("cat /tmp/err"));
	ktap_check(shell("perf c2c record -o /tmp/none true 2>/tmp/err"));
	ktap_check(!shell("grep -q 'not supported' /tmp/err"), "%d", shell("cat /tmp/err"));
}

static void prepare(const char *parameters)
{
	unsigned int cpu;

	run_on(0);
	perf_unlimited();
	perf_unnamed();
	for (cpu = 0; cpu < 2; cpu++) {
		msr_write(cpu, SYN_MEM_SHIFT, 6);
		msr_write(cpu, SYN_MEM_MAP, 0x6543216543216541);
		msr_write(cpu, SYN_MEM_MODE, SYN_MEM_BY_ADDRESS);
	}
	ext_load(parameters);
}

static void mem_record(void)
{
	unsigned int loads, stores, wrong, all;
	u64 before;

	prepare("");
	before = records();
	ktap_check(!shell("perf mem -t load record -c 997 -o /tmp/load " WALKER " >/dev/null 2>&1"));
	walked("/tmp/load", &loads, &stores, &wrong, &all);
	ktap_check(loads >= 80 && !stores && !wrong, "%u loads, %u stores, %u wrong", loads,
		   stores, wrong);
	ktap_check(records() - before == all, "%llu records, %u samples", records() - before, all);

	before = records();
	ktap_check(!shell("perf mem -t store record -c 997 -o /tmp/store " WALKER " >/dev/null 2>&1"));
	walked("/tmp/store", &loads, &stores, &wrong, &all);
	ktap_check(!loads && stores >= 80 && !wrong, "%u loads, %u stores, %u wrong", loads,
		   stores, wrong);
	ktap_check(records() - before == all, "%llu records, %u samples", records() - before, all);
}

/* Both share the one PEBS counter. */
static void mem_record_both(void)
{
	unsigned int loads, stores, wrong, all;
	u64 before;

	prepare("");
	before = records();
	ktap_check(!shell("perf mem record -m 32M -c 997 -o /tmp/both ./walker 3000000 >/dev/null 2>&1"));
	walked("/tmp/both", &loads, &stores, &wrong, &all);
	ktap_check(loads && stores && !wrong, "%u loads, %u stores, %u wrong", loads, stores, wrong);
	ktap_check(records() - before == all, "%llu records, %u samples", records() - before, all);
}

static void mem_report(void)
{
	ktap_check(!shell("perf mem report -i /tmp/load --stdio --sort mem,sym 2>/dev/null >/tmp/report"));
	ktap_check(!shell("grep -q 'N/A .*walk' /tmp/report"), "%d", shell("head -n 30 /tmp/report"));

	prepare("data_src=1");
	ktap_check(!shell("perf record -d -e cpu/mem_load_uops_retired.l2_hit/ppu -c 101 -o /tmp/l2 " WALKER " >/dev/null 2>&1"));
	ktap_check(!shell("perf mem report -i /tmp/l2 --stdio --sort mem,sym 2>/dev/null >/tmp/report"));
	ktap_check(!shell("grep -q 'L2 hit .*walk' /tmp/report"), "%d", shell("head -n 30 /tmp/report"));
	ktap_check(shell("grep -q 'N/A .*walk' /tmp/report"));
	ktap_check(!shell("perf mem -t load record -U -c 997 -o /tmp/load " WALKER " >/dev/null 2>&1"));
	ktap_check(!shell("perf script -i /tmp/load -F data_src 2>/dev/null | grep -q 'OP LOAD'"));
}

static void c2c(void)
{
	unsigned int loads, stores, wrong, all;
	u64 before;

	prepare("data_src=1");
	before = records();
	ktap_check(!shell("perf c2c record -u -m 32M -o /tmp/c2c ./walker 1000000 >/tmp/err 2>&1"),
		   "%d", shell("cat /tmp/err"));
	ktap_check(!shell("perf c2c report -i /tmp/c2c --stdio --stats >/tmp/report 2>/tmp/err"),
		   "%d", shell("cat /tmp/err; ls -l /tmp/c2c"));
	walked("/tmp/c2c", &loads, &stores, &wrong, &all);
	ktap_check(loads + stores && !wrong, "%u loads, %u stores, %u wrong", loads, stores, wrong);
	ktap_check(records() - before == all, "%llu records, %u samples", records() - before, all);
	ktap_check(!shell("grep -q 'Load Operations' /tmp/report"));
}

/* Who shares what, from the event of loads that found a line modified in another core. */
static void c2c_shared(void)
{
	struct c2c_row row;
	unsigned int cpu;
	u64 before, sampled = 0;

	prepare("data_src=1");
	for (cpu = 0; cpu < 2; cpu++) {
		msr_write(cpu, SYN_MEM_MODE, SYN_MEM_CACHES);
		sampled -= msr_read(cpu, SYN_CORE_SAMPLED(SYN_LEVEL_HITM));
	}
	addr2line(true);
	before = records();
	ktap_check(!shell("perf record -d -W --phys-data --sample-cpu -m 8M -c 97 -o /tmp/c2c -e mem_load_uops_retired.hitm:ppu ./sharer 10000 >/tmp/err 2>&1"),
		   "%d", shell("cat /tmp/err"));
	before = records() - before;
	for (cpu = 0; cpu < 2; cpu++) {
		sampled += msr_read(cpu, SYN_CORE_SAMPLED(SYN_LEVEL_HITM));
		msr_write(cpu, SYN_MEM_MODE, SYN_MEM_BY_ADDRESS);
	}
	row = c2c_report("/tmp/c2c");
	ktap_note("%u rows, the shared line has %u of %llu HITMs", row.rows, row.hitm, before);
	/* Each turn finds the other's stores; what the C library shares is a rest. */
	ktap_check(before == sampled && row.number == 1 && !row.remote && row.local == row.hitm &&
		   row.hitm >= 100 && row.hitm <= before && before - row.hitm <= 10,
		   "row %u, %u of %llu, truth %llu", row.number, row.hitm, before, sampled);
	addr2line(false);
}

/*
 * perf c2c record takes further events. One of its own says who shares what, and those of all
 * loads and stores what else is in that line. They take turns, long ones beside those of the host,
 * which otherwise could always be the third's, and the program runs until it has had some.
 */
static void c2c_record_shared(void)
{
	struct c2c_row row = {};
	unsigned int cpu, rounds;
	char command[160];

	prepare("data_src=1");
	for (cpu = 0; cpu < 2; cpu++)
		msr_write(cpu, SYN_MEM_MODE, SYN_MEM_CACHES);
	addr2line(true);
	ktap_require(!shell("echo 20 >" MUX_INTERVAL));
	for (rounds = 50000; row.hitm < 10 && rounds < 5000000; rounds *= 4) {
		snprintf(command, sizeof(command), "perf c2c record -u -m 8M -o /tmp/c2c -- -c 997 "
			 "-e mem_load_uops_retired.hitm:ppu ./sharer %u >/tmp/err 2>&1", rounds);
		ktap_require(!shell(command), "%d", shell("cat /tmp/err"));
		row = c2c_report("/tmp/c2c");
	}
	for (cpu = 0; cpu < 2; cpu++)
		msr_write(cpu, SYN_MEM_MODE, SYN_MEM_BY_ADDRESS);
	ktap_require(!shell("echo 4 >" MUX_INTERVAL));
	ktap_check(row.number == 1 && row.hitm >= 10 && row.local == row.hitm,
		   "row %u of %u, %u HITMs", row.number, row.rows, row.hitm);
	/* All of them can be told apart. */
	ktap_check(!shell("grep -q 'Unable to parse data source *: *0$' /tmp/report"));
	addr2line(false);
	shell("rm -f /tmp/c2c");
}

/* Records with their last branches, beside all our hooks: the jump of the walk to its load. */
static void lbr_branches(void)
{
	unsigned int num = 0, wrong = 0, all = 0;
	u64 before;
	char line[4096];
	struct where w;
	FILE *f;

	prepare("enforce=1 data_src=1 ds_guard=1");
	before = records();
	ktap_check(!shell("perf record -b -d -m 32M -c 997 -e cpu/mem-loads/ppu -o /tmp/lbr " WALKER " >/tmp/err 2>&1"),
		   "%d", shell("cat /tmp/err"));
	before = records() - before;
	w = where();
	f = popen("perf script -i /tmp/lbr -F ip,brstack 2>/dev/null", "r");
	ktap_require(f);
	while (fgets(line, sizeof(line), f)) {
		unsigned long ip, from, to;
		char flag;

		if (sscanf(line, "%lx 0x%lx/0x%lx/%c", &ip, &from, &to, &flag) != 4)
			continue;
		all++;
		if (ip != w.load)
			continue;
		num++;
		wrong += from != w.jump || to != w.load || flag != 'P';
	}
	ktap_check(!pclose(f) && before == all && num >= 80 && !wrong,
		   "%llu records, %u samples, %u of the walk, %u after another branch", before, all,
		   num, wrong);
	ktap_check(!shell("perf script -i /tmp/lbr -F data_src 2>/dev/null | grep -q 'OP LOAD'"));
}

/*
 * Who called the walk, by the last branches alone: those who have returned before it began are
 * not among them. A newer perf calls the walk by the label at the load.
 */
static void lbr_calls(void)
{
	prepare("enforce=1 data_src=1 ds_guard=1");
	ktap_check(!shell("perf record --call-graph lbr -d -m 32M -c 997 -e cpu/mem-loads/ppu -o /tmp/lbr " WALKER " >/tmp/err 2>&1"),
		   "%d", shell("cat /tmp/err"));
	ktap_check(!shell("perf script --no-inline -i /tmp/lbr -F ip,sym 2>/dev/null >/tmp/chains && "
			  "awk -v RS= '$2 ~ /^walk(_load)?$/ { n++; different += !seen[$0]++;"
			  "  wrong += $4 != \"main\" || $6 !~ /^__libc_start/ || $NF != \"_start\" } "
			  "END { exit n < 80 || different != 1 || wrong }' /tmp/chains"),
		   "%d", shell("head -n 12 /tmp/chains"));
	shell("rm -f /tmp/lbr /tmp/chains");
}

/*
 * cycles:pp and others: what the silicon wrote is what perf has. The buffer takes it all:
 * on a slow machine the walk takes more cycles, and perf comes late.
 */
static void plain_record(void)
{
	static const char *const events[] = { "cycles:pp", "instructions:ppp", "branches:p",
					      "cpu/mem-all/pp", "mem_load_uops_retired.dram_hit:pp" };
	unsigned int i, tries;

	for (i = 0; i < ARRAY_SIZE(events); i++) {
		u64 before, written = 0;
		unsigned long samples = 0;
		char command[160];
		FILE *f;

		snprintf(command, sizeof(command),
			 "perf record -m 32M -e %s -c 20011 -o /tmp/rec " WALKER " >/dev/null 2>&1", events[i]);
		/* The virtual silicon of a busy machine may miss all cycles of a walk. */
		for (tries = 0; tries < 5 && !written; tries++) {
			before = records();
			ktap_check(!shell(command), "%s", command);
			written = records() - before;
		}
		f = popen("perf script -i /tmp/rec -F ip 2>/dev/null | grep -c .", "r");
		ktap_require(f && fscanf(f, "%lu", &samples) == 1);
		pclose(f);
		ktap_check(written && written == samples, "%s: %llu records, %lu samples",
			   events[i], written, samples);
		shell("rm -f /tmp/rec");
	}
}

/* Each case begins so. */
void ktap_begin(void)
{
	run_on(0);
}

CORE_MAIN("5c 5f",
	{ "perf mem without the module", without },
	{ "perf mem record, loads and stores alone", mem_record },
	{ "perf mem record, both", mem_record_both },
	{ "perf mem report", mem_report },
	{ "perf c2c", c2c },
	{ "perf c2c finds the shared line", c2c_shared },
	{ "perf c2c record finds it with one more event", c2c_record_shared },
	{ "perf record", plain_record },
	{ "perf record -b", lbr_branches },
	{ "perf record --call-graph lbr", lbr_calls })
