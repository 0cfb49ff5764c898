/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random traffic on PACKAGES packages, and what follows from it for each value.
 */
#ifndef SELFTESTS_METRICS_EXACT_H
#define SELFTESTS_METRICS_EXACT_H

#include <math.h>

#include "traffic.h"

#define METRICS	"memory llc_miss_ratio llc_miss_rate cbox_irq_avg_occupancy "	\
		"cbox_irq_avg_latency imt_avg_occupancy qpi_utilization "	\
		"qpi_outgoing_bandwidth dram_page_hit_ratio uncore_clock_mhz prochot_share " \
		"llc_request_imbalance"

/* Active cycles of each period, by package and box */
static struct {
	unsigned int reads[2], writes[2], page[2][3], imt[2];
	unsigned int hits[10], misses[10], irq_entries[10], irq_active[10], came[10];
	unsigned int sent[4], idle[4];	/* QPI 0 to 3 */
	unsigned int prochot;
} rate[PACKAGES];

static int cboxes;	/* of a package */
static int cpu_of[PACKAGES];
static char answer[1 << 20];
static int answer_status;

/* ---- traffic ---- */

static unsigned int draw(unsigned int from, unsigned int to)
{
	return from + random() % (to - from + 1);
}

static unsigned int plant(int cpu, u64 sel)
{
	unsigned int active = draw(1, 200);

	traffic_rate(cpu, sel, active);
	return active;
}

static void plant_package(int p)
{
	/* QPI 0 is port 1 and QPI 1 port 0; QPI 2 and 3 are ports 4 and 5. */
	static const int port[4] = { 1, 0, 4, 5 };
	int cpu = cpu_of[p], i;

	for (i = SYN_BOX_U; i <= (int)SYN_BOX_R; i++)
		traffic_silence(cpu, i, SYN_ANY);
	for (i = 0; i < 2; i++) {
		rate[p].reads[i] = plant(cpu, SYN_SEL(SYN_BOX_M, i, SYN_CODE_M_FVC(5), 0));
		rate[p].page[i][0] = plant(cpu, SYN_SEL(SYN_BOX_M, i, SYN_CODE_M(0x14), SYN_ANY));
		rate[p].page[i][1] = plant(cpu, SYN_SEL(SYN_BOX_M, i, SYN_CODE_M(0x13), SYN_ANY));
		rate[p].page[i][2] = plant(cpu, SYN_SEL(SYN_BOX_M, i, SYN_CODE_M(0x15), SYN_ANY));
		rate[p].writes[i] = plant(cpu, SYN_SEL(SYN_BOX_B, i, SYN_CODE_B(1, 0x0c), SYN_ANY));
		rate[p].imt[i] = draw(1, 32);
		silicon_traffic(cpu, SYN_SEL(SYN_BOX_B, i, SYN_CODE_B(0, 0x07), SYN_ANY),
				SYN_PATTERN(0, 0, 1, rate[p].imt[i]));
	}
	for (i = 0; i < cboxes; i++) {
		rate[p].hits[i] = plant(cpu, SYN_SEL(SYN_BOX_C, i, 0x15, draw(0, 3)));
		rate[p].misses[i] = plant(cpu, SYN_SEL(SYN_BOX_C, i, 0x14, draw(0, 2)));
		rate[p].came[i] = plant(cpu, SYN_SEL(SYN_BOX_C, i, 0x19, SYN_ANY));
		rate[p].irq_entries[i] = draw(1, 24);
		rate[p].irq_active[i] = draw(1, 256);
		silicon_traffic(cpu, SYN_SEL(SYN_BOX_C, i, 0x18, SYN_ANY),
				SYN_PATTERN(TRAFFIC_PERIOD_LOG2, 0, rate[p].irq_active[i],
					    rate[p].irq_entries[i]));
	}
	for (i = 0; i < 4; i++) {
		rate[p].sent[i] = draw(100, 256);
		rate[p].idle[i] = draw(0, 99);
		traffic_rate(cpu, SYN_SEL(SYN_BOX_R, port[i], SYN_CODE_R_IPERF(31), SYN_ANY),
			     rate[p].sent[i]);
		traffic_rate(cpu, SYN_SEL(SYN_BOX_R, port[i], SYN_CODE_R_IPERF(30), SYN_ANY),
			     rate[p].idle[i]);
	}
	rate[p].prochot = plant(cpu, SYN_SEL(SYN_BOX_W, 0, 0x02, SYN_ANY));
}

static void plant_all(void)
{
	unsigned int seed = time(NULL) ^ getpid();
	int p;

	ktap_note("seed %u", seed);
	srandom(seed);
	cboxes = access(SYSFS_PMU "/xeon7500_cbox_9", F_OK) ? 8 : 10;
	silicon_start();
	for (p = 0; p < PACKAGES; p++) {
		cpu_of[p] = need_package(p);
		plant_package(p);
	}
}

/* ---- perf metrics ---- */

static void run(const char *args)
{
	char command[1000];
	size_t len;
	FILE *f;

	snprintf(command, sizeof(command), "perf metrics %s", args);
	f = popen(command, "r");
	ktap_require(f, "%s", command);
	len = fread(answer, 1, sizeof(answer) - 1, f);
	answer[len] = 0;
	answer_status = pclose(f);
	ktap_require(len, "perf metrics %s: nothing, status %#x", args, answer_status);
}

/* What JSON has of a value; NULL if there is no such value. */
static const char *text_of(const char *json, const char *scope, const char *metric, const char *key)
{
	static char text[300];
	const char *at, *end;

	snprintf(text, sizeof(text), "{\"scope\":\"%s\",\"metric\":\"%s\",", scope, metric);
	at = strstr(json, text);
	end = at ? strchr(at, '}') : NULL;
	snprintf(text, sizeof(text), "\"%s\":", key);
	at = at ? strstr(at, text) : NULL;
	if (!at || at > end)
		return NULL;
	at += strlen(text);
	snprintf(text, sizeof(text), "%.*s", (int)(end - at), at);
	if (text[0] != '"')
		text[strcspn(text, ",")] = 0;
	return text;
}

static double number_of(const char *scope, const char *metric, const char *key)
{
	const char *text = text_of(answer, scope, metric, key);

	ktap_require(text, "no %s of %s %s", key, scope, metric);
	ktap_require(strcmp(text, "null"), "%s %s: %s", scope, metric,
		     text_of(answer, scope, metric, "why"));
	return atof(text);
}

/* Both have come about by a few roundings. */
static bool same(double a, double b)
{
	return fabs(a - b) <= 1e-12 * fabs(b);
}

static void check_value(const char *scope, const char *metric, double wanted)
{
	double value = number_of(scope, metric, "value");

	ktap_check(same(value, wanted), "%s %s: %.17g, and not %.17g", scope, metric, value, wanted);
	value = number_of(scope, metric, "running");
	ktap_check(value == 100, "%s %s: counted %g %%", scope, metric, value);
}

/* ---- all values of one run ---- */

static u64 from[PACKAGES], to[PACKAGES];
static double seconds[PACKAGES];

static double counted(int p, unsigned int active)
{
	return traffic_count(from[p], to[p], active);
}

/* Every counter that has run did so from the same cycle to the same cycle. */
static void windows(int p)
{
	static const char * const boxes[] = {
		"xeon7500_wbox", "xeon7500_mbox_0", "xeon7500_mbox_1", "xeon7500_bbox_0",
		"xeon7500_bbox_1", "xeon7500_cbox_0", "xeon7500_cbox_3", "xeon7500_cbox_7",
		"xeon7500_rbox_0", "xeon7500_rbox_1",
	};
	uint16_t ctr[SILICON_MAX_COUNTERS + 1];
	unsigned int b;
	int i, num, used;

	from[p] = silicon_truth(cpu_of[p], SYN_OPENED, 0x394);
	to[p] = silicon_truth(cpu_of[p], SYN_CLOSED, 0x394);
	ktap_require(from[p] && to[p] > from[p], "the clock did not run");
	for (b = 0; b < ARRAY_SIZE(boxes); b++) {
		num = box_counters(boxes[b], ctr);
		for (i = used = 0; i < num; i++) {
			u64 windows = silicon_truth(cpu_of[p], SYN_WINDOWS, ctr[i]);

			if (!windows)
				continue;
			used++;
			ktap_check(windows == 1 &&
				   silicon_truth(cpu_of[p], SYN_OPENED, ctr[i]) == from[p] &&
				   silicon_truth(cpu_of[p], SYN_CLOSED, ctr[i]) == to[p],
				   "%s counter %d has a window of its own", boxes[b], i);
		}
		ktap_check(used, "%s did not count", boxes[b]);
	}
}

static double cycles_to_seconds(u64 cycles)
{
	return (double)cycles * msr_read(0, SYN_HZ_DEN) / msr_read(0, SYN_HZ_NUM) / 1e9;
}

/* Each box, and what the boxes of a package are together. */
static void values_of(int p)
{
	double reads[2], writes[2], all_reads = 0, all_writes = 0, hits = 0, misses = 0, most = 0;
	double occupied = 0, came = 0, sent = 0, idle = 0, page = 0, pages = 0, per_s = 1 / seconds[p];
	double clocks = to[p] - from[p];
	char scope[32], whole[8];
	int i;

	snprintf(whole, sizeof(whole), "S%d", p);
	for (i = 0; i < 2; i++) {
		double imt = number_of((snprintf(scope, sizeof(scope), "S%d/bbox_%d", p, i), scope),
				       "imt_avg_occupancy", "value") * clocks;
		double hit = counted(p, rate[p].page[i][0]);
		double any = hit + counted(p, rate[p].page[i][1]) + counted(p, rate[p].page[i][2]);

		/* Counted is each time that 32 of them are full; some may have been there before. */
		ktap_check(fabs(imt - clocks * rate[p].imt[i]) < 32.5, "%s: %f entries, not %f", scope,
			   imt, clocks * rate[p].imt[i]);
		reads[i] = counted(p, rate[p].reads[i]);
		writes[i] = counted(p, rate[p].writes[i]);
		check_value(scope, "memory_write_bandwidth", writes[i] * 64 * per_s);
		snprintf(scope, sizeof(scope), "S%d/mbox_%d", p, i);
		check_value(scope, "memory_read_bandwidth", reads[i] * 64 * per_s);
		check_value(scope, "memory_bandwidth", (reads[i] + writes[i]) * 64 * per_s);
		check_value(scope, "memory_read_share", 100 * reads[i] / (reads[i] + writes[i]));
		check_value(scope, "dram_page_hit_ratio", 100 * hit / any);
		all_reads += reads[i];
		all_writes += writes[i];
		page += hit;
		pages += any;
	}
	check_value(whole, "memory_read_bandwidth", all_reads * 64 * per_s);
	check_value(whole, "memory_write_bandwidth", all_writes * 64 * per_s);
	check_value(whole, "memory_bandwidth", (all_reads + all_writes) * 64 * per_s);
	check_value(whole, "dram_page_hit_ratio", 100 * page / pages);

	for (i = 0; i < cboxes; i++) {
		double h = counted(p, rate[p].hits[i]), m = counted(p, rate[p].misses[i]);
		double in = counted(p, rate[p].came[i]);
		double held = counted(p, rate[p].irq_active[i]) * rate[p].irq_entries[i];

		snprintf(scope, sizeof(scope), "S%d/cbox_%d", p, i);
		check_value(scope, "llc_miss_ratio", 100 * m / (h + m));
		check_value(scope, "llc_miss_rate", m * per_s);
		check_value(scope, "cbox_irq_avg_occupancy", held / clocks);
		check_value(scope, "cbox_irq_avg_latency", held / in);
		hits += h;
		misses += m;
		occupied += held;
		came += in;
		most = fmax(most, in);
	}
	check_value(whole, "llc_miss_ratio", 100 * misses / (hits + misses));
	check_value(whole, "llc_miss_rate", misses * per_s);
	check_value(whole, "cbox_irq_avg_occupancy", occupied / (cboxes * clocks));
	check_value(whole, "cbox_irq_avg_latency", occupied / came);
	check_value(whole, "llc_request_imbalance", most / (came / cboxes));

	for (i = 0; i < 4; i++) {
		double s = counted(p, rate[p].sent[i]), n = counted(p, rate[p].idle[i]);

		snprintf(scope, sizeof(scope), "S%d/qpi%d", p, i);
		check_value(scope, "qpi_utilization", 100 * (1 - n / s));
		check_value(scope, "qpi_outgoing_bandwidth", (s - n) * 8 * per_s);
		sent += s;
		idle += n;
	}
	check_value(whole, "qpi_utilization", 100 * (1 - idle / sent));
	check_value(whole, "prochot_share", 100 * counted(p, rate[p].prochot) / clocks);
	check_value(whole, "uncore_clock_mhz", clocks * per_s / 1e6);
}

/* The machine: rates add up, each in its own time; ratios are of what all have counted. */
static void values_of_machine(void)
{
	double sum = 0, misses = 0, lookups = 0, clocks = 0;
	int p, i;

	for (p = 0; p < PACKAGES; p++) {
		char scope[8];

		snprintf(scope, sizeof(scope), "S%d", p);
		sum += number_of(scope, "memory_bandwidth", "value");
		clocks += number_of(scope, "uncore_clock_mhz", "value");
		for (i = 0; i < cboxes; i++) {
			misses += counted(p, rate[p].misses[i]) / seconds[p];
			lookups += (counted(p, rate[p].misses[i]) + counted(p, rate[p].hits[i])) /
				   seconds[p];
		}
	}
	check_value("machine", "memory_bandwidth", sum);
	check_value("machine", "llc_miss_ratio", 100 * misses / lookups);
	check_value("machine", "uncore_clock_mhz", clocks / PACKAGES);
}

static void all_values(void)
{
	u64 before, after;
	int p;

	plant_all();
	before = msr_read(0, SYN_NS);
	run(METRICS " --json --per-machine --per-socket --per-box -- sleep 0.05");
	after = msr_read(0, SYN_NS);
	ktap_check(!answer_status, "status %#x", answer_status);
	for (p = 0; p < PACKAGES; p++) {
		char scope[8];

		snprintf(scope, sizeof(scope), "S%d", p);
		seconds[p] = number_of(scope, "memory_bandwidth", "seconds");
		windows(p);
		/*
		 * What they were open, less the time from the write that opens them to the clock that
		 * the driver reads behind it: 30 us is the most that was seen. And not forever.
		 */
		ktap_check(seconds[p] >= cycles_to_seconds(to[p] - from[p]) - 100e-6 &&
			   seconds[p] <= (after - before) / 1e9, "%.9g s of %.9g", seconds[p],
			   cycles_to_seconds(to[p] - from[p]));
		values_of(p);
	}
	values_of_machine();
}

#endif /* SELFTESTS_METRICS_EXACT_H */
