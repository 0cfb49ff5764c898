// SPDX-License-Identifier: GPL-2.0-only
/*
 * VM: --machine sandybridge --cores 2 --threads 2
 * PUT: programs/walker.c
 * SOAK: 6.1:newest 6.12:newest newest newest:6.1
 *
 * Precise store on Sandy Bridge, with perf as people use it.
 */
#define _GNU_SOURCE
#include "sample.h"
#include "where.h"

#define ROUNDS	"200000"
#define PERIOD	"997"

#define DATA	"/tmp/store"

static u64 all_cpus(uint32_t msr)
{
	u64 sum = 0;
	int cpu;

	for (cpu = 0; cpu < 4; cpu++)
		sum += msr_read(cpu, msr);
	return sum;
}

static unsigned long reg(const char *line, const char *name)
{
	const char *p = strstr(line, name);

	ktap_require(p, "no %s in: %s", name, line);
	return strtoul(p + strlen(name), NULL, 16);
}

static bool is_miss(unsigned long addr)
{
	return addr >> 6 & 1;
}

/* @only_user: nobody but the walker is sampled, so it is known how often. */
static void check_samples(const char *record, bool only_user)
{
	unsigned int all = 0, walked = 0, hits = 0, wrong = 0, source = 0;
	u64 records, sampled_l1;
	unsigned long addr, ip;
	char command[256], line[512];
	struct where w;
	FILE *f;

	records = all_cpus(SYN_CORE_STAT(SYN_CORE_S_RECORDS));
	sampled_l1 = all_cpus(SYN_CORE_SAMPLED(SYN_LEVEL_L1));
	snprintf(command, sizeof(command), "%s --intr-regs=DI,CX -m 4M -c " PERIOD
		 " -o " DATA " ./walker " ROUNDS " >/tmp/err 2>&1", record);
	ktap_require(!shell(command), "%s: %d", command, shell("cat /tmp/err"));
	records = all_cpus(SYN_CORE_STAT(SYN_CORE_S_RECORDS)) - records;
	sampled_l1 = all_cpus(SYN_CORE_SAMPLED(SYN_LEVEL_L1)) - sampled_l1;

	w = where();
	f = popen("perf script -i " DATA " -F addr,data_src,ip,iregs 2>/dev/null", "r");
	ktap_require(f);
	while (fgets(line, sizeof(line), f)) {
		char *p = strstr(line, "ABI:");

		/* addr, data source in numbers and words, ip, registers */
		if (!p || sscanf(line, "%lx", &addr) != 1)
			continue;
		all++;
		hits += !!strstr(line, "LVL L1 hit");
		source += !strstr(line, "OP STORE") ||
			  !strstr(line, is_miss(addr) ? "LVL L1 miss" : "LVL L1 hit");
		do
			p--;
		while (p > line && p[-1] != ' ');
		ip = strtoul(p, NULL, 16);
		if (ip == w.store) {
			walked++;
			wrong += addr != reg(line, "DI:") + 8 * reg(line, "CX:") ||
				 addr - w.to >= w.size || reg(line, "DI:") != w.to;
		} else {
			wrong += addr - w.to < w.size;
		}
	}
	ktap_check(!pclose(f), "perf script failed");
	ktap_note("%s: %u samples, %u of the walk, %u hits", record, all, walked, hits);
	ktap_check(records && records == all, "%llu records, %u samples", records, all);
	ktap_check(walked >= 195 && (!only_user || walked <= 201), "%u of the walk", walked);
	ktap_check(!wrong, "%u addresses are wrong", wrong);
	ktap_check(!source && hits == sampled_l1, "%u sources are wrong, %u hits, truth %llu",
		   source, hits, sampled_l1);
}

/* Every second line is in the first level. */
static void prepare(const char *parameters)
{
	int cpu;

	run_on(0);
	perf_unlimited();
	perf_unnamed();
	ext_load(parameters);
	for (cpu = 0; cpu < 2; cpu++) {
		msr_write(cpu, SYN_MEM_SHIFT, 6);
		msr_write(cpu, SYN_MEM_MAP, 0x3131313131313131);
		msr_write(cpu, SYN_MEM_MODE, SYN_MEM_BY_ADDRESS);
	}
}

static void stores(const char *parameters)
{
	prepare(parameters);
	check_samples("perf mem -t store record", false);
	check_samples("perf record -d -e cpu/mem-stores/P", false);
	check_samples("perf record -d -e cpu/mem-stores/ppu", true);
}

KTAP_CALL(kernel_alone, stores(NULL))

static void with_module(void)
{
	stores("enforce=1 data_src=1");
	prepare("");
	check_samples("perf record -d -e mem_trans_retired.precise_store:pp", false);
}

/* Of what the last one has left. */
static void report(void)
{
	ktap_require(!shell("perf mem -t store report -i " DATA " --stdio --sort mem,sym,symbol_daddr 2>/tmp/err >/tmp/report"),
		     "%d", shell("cat /tmp/err"));
	ktap_check(!shell("grep -q 'L1 hit .*walk.*to' /tmp/report && grep -q 'L1 miss .*walk.*to' /tmp/report"),
		   "%d", shell("head -n 30 /tmp/report"));
	ktap_check(!shell("rm " DATA));
}

/* Each case begins so. */
void ktap_begin(void)
{
	run_on(0);
}

CORE_MAIN("2a 2d",
	{ "precise store, the kernel alone", kernel_alone },
	{ "precise store, with the module", with_module },
	{ "perf mem report", report })
