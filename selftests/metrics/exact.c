// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf metrics: each value is what follows from the traffic, to the last digit.
 *
 * Traffic is drawn at random for each box of each package. All counters of a package start
 * and stop together, and the silicon knows when. So the counts, and from them the values, are
 * worked out here without reading a counter. With one package, four or eight that is all.
 * With --icount no other program of the host delays a virtual CPU between two instructions.
 *
 * TEST: 6.1:newest
 * SOAK: 6.1 newest newest:6.1
 * VM: --icount --sockets 2 --cores 2
 * SOAK: 6.1 6.1:newest newest newest:6.1
 * VM: --machine westmereex --icount --sockets 2 --cores 2
 * VM: --icount --sockets 1 --cores 2
 * VM: --icount --sockets 4 --cores 1 --memory 1G
 * TEST: none
 * SOAK: 6.1 6.1:newest newest newest:6.1
 * VM: --icount --sockets 8 --cores 1 --memory 1G
 */
#include <math.h>

#include "silicon.h"

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
} rate[SILICON_MAX_PACKAGES];

static int packages;
static int cboxes;	/* of a package */
static int cpu_of[SILICON_MAX_PACKAGES];
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
	for (p = 0; p < packages; p++) {
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

static u64 from[SILICON_MAX_PACKAGES], to[SILICON_MAX_PACKAGES];
static double seconds[SILICON_MAX_PACKAGES];

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

	from[p] = silicon_truth(cpu_of[p], SYN_OPENED, W_FIXED_CTR);
	to[p] = silicon_truth(cpu_of[p], SYN_CLOSED, W_FIXED_CTR);
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
	char scope[32], whole[16];
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

	for (p = 0; p < packages; p++) {
		char scope[16];

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
	check_value("machine", "uncore_clock_mhz", clocks / packages);
}

static void all_values(void)
{
	int p;

	plant_all();
	run(METRICS " --json --per-machine --per-socket --per-box -- sleep 0.05");
	ktap_check(!answer_status, "status %#x", answer_status);
	for (p = 0; p < packages; p++) {
		char scope[16];
		double off;

		snprintf(scope, sizeof(scope), "S%d", p);
		seconds[p] = number_of(scope, "memory_bandwidth", "seconds");
		windows(p);
		/* The driver reads its clock some thousand instructions before or behind each end. */
		off = seconds[p] - cycles_to_seconds(to[p] - from[p]);
		ktap_note("%s: %.9f s, %+.9f from its window", scope, seconds[p], off);
		ktap_check(fabs(off) < 10e-6, "the time of %s", scope);
		values_of(p);
	}
	values_of_machine();
}

/* One after the other: nothing is lost between them. */
static void intervals(void)
{
	static const char * const scope[4] = { "S0/mbox_0", "S0/mbox_1", "S1/mbox_0", "S1/mbox_1" };
	double parts[4] = {}, whole[4] = {};
	int i, num = 0, last = 0, wanted;
	char args[120], *line;

	plant_all();
	/* A minute, where there is time for it. */
	wanted = getenv("SOAK") ? 600 : 4;
	snprintf(args, sizeof(args), "memory_read_bandwidth --json --per-box -I %d --interval-count %d "
		 "--summary", wanted == 4 ? 50 : 100, wanted);
	run(args);
	for (line = strtok(answer, "\n"); line; line = strtok(NULL, "\n")) {
		bool part = strstr(line, "\"time\"");

		num += part;
		last += !part;
		for (i = 0; i < 4; i++) {
			const char *text = text_of(line, scope[i], "memory_read_bandwidth", "value");
			double count;

			ktap_require(text, "%s", line);
			count = atof(text);
			count *= atof(text_of(line, scope[i], "memory_read_bandwidth", "seconds")) / 64;
			*(part ? &parts[i] : &whole[i]) += count;
		}
	}
	ktap_require(num == wanted && last == 1, "%d intervals, %d summaries", num, last);
	for (i = 0; i < 4; i++) {
		double truth = box_truth(cpu_of[i / 2], SYN_EVENTS,
					 i % 2 ? "xeon7500_mbox_1" : "xeon7500_mbox_0");

		ktap_check(fabs(parts[i] - whole[i]) < 0.5 && whole[i] > 0, "%s: parts %f, whole %f",
			   scope[i], parts[i], whole[i]);
		/* perf may have read it before it stopped. */
		ktap_check(whole[i] < truth + 0.5, "%s: %f, truth %f", scope[i], whole[i], truth);
	}
}

/*
 * Nine events on four counters take three turns. The clock has a counter of its own, so it needs
 * none; and the last turn has room for some of the others.
 */
static void all_turns(void)
{
	double value, share, running;
	const char *at;
	int num = 0;

	plant_all();
	run("uncore_clock_mhz prochot_share core_throttle_share --plan");
	ktap_check(!strncmp(answer, "3 passes\n", 9), "%s", answer);
	for (at = answer; (at = strstr(at, "    uncore_clock\n")); at++)
		num++;
	ktap_check(num == 3, "the clock is in %d passes", num);
	num = 0;
	for (at = answer; (at = strstr(at, "    c_throttle_tmp.c")); at++)
		num++;
	for (at = answer; (at = strstr(at, "    prochot\n")); at++)
		num++;
	ktap_check(num == 3 * 4, "%d events have a turn", num);
	run("uncore_clock_mhz prochot_share core_throttle_share --json --per-socket -- sleep 0.2");
	running = number_of("S0", "uncore_clock_mhz", "running");
	ktap_check(running > 80 && running <= 100, "the clock runs %g %%", running);
	running = number_of("S0", "core_throttle_share", "running");
	ktap_check(running < 60, "the rarest core runs %g %%", running);
	share = 100.0 * rate[0].prochot / (1 << TRAFFIC_PERIOD_LOG2);
	value = number_of("S0", "prochot_share", "value");
	ktap_check(fabs(value - share) < share / 100, "%g, not %g", value, share);
}

/* What the hardware cannot count at once takes turns, and says so. */
static void turns(void)
{
	double hit = 0, all = 0, value, windows = 0, enabled = 0;
	uint16_t ctr[SILICON_MAX_COUNTERS];
	int i;

	plant_all();
	run("memory_read_bandwidth memory_write_bandwidth_mbox dram_page_hit_ratio --plan");
	ktap_check(!strncmp(answer, "2 passes\n", 9), "%s", answer);
	run("memory --plan");
	ktap_check(!strncmp(answer, "1 pass\n", 7), "%s", answer);
	/* Six counters, six queues with two events each, and one set of match registers less */
	run("cbox --plan");
	ktap_check(!strncmp(answer, "2 passes\n", 9), "%s", answer);
	silicon_clear();
	run("memory_read_bandwidth memory_write_bandwidth_mbox dram_page_hit_ratio "
	    "--json --per-box -- sleep 0.2");
	value = number_of("S0/mbox_0", "memory_read_bandwidth", "running") +
		number_of("S0/mbox_0", "memory_write_bandwidth_mbox", "running");
	ktap_check(value > 50 && value < 120, "%g %% in all", value);
	ktap_check(number_of("S0/mbox_0", "memory_write_bandwidth_mbox", "value") == 0);
	ktap_check(number_of("S0/mbox_0", "memory_read_bandwidth", "value") > 0);

	/* A share does not care how often it was its turn, but for what a window cuts off. */
	box_counters("xeon7500_mbox_0", ctr);
	for (i = 0; i < 6; i++) {
		windows = fmax(windows, silicon_truth(cpu_of[0], SYN_WINDOWS, ctr[i]));
		enabled = fmax(enabled, silicon_truth(cpu_of[0], SYN_ENABLED, ctr[i]));
	}
	hit = rate[0].page[0][0];
	all = hit + rate[0].page[0][1] + rate[0].page[0][2];
	value = number_of("S0/mbox_0", "dram_page_hit_ratio", "value");
	ktap_check(fabs(value - 100 * hit / all) < 100 * 256 * (windows + 1) / (enabled / 256),
		   "%g, and not %g; %g windows", value, 100 * hit / all, windows);
}

static void no_value(const char *scope, const char *metric, const char *why)
{
	const char *text = text_of(answer, scope, metric, "value");

	ktap_check(text && !strcmp(text, "null"), "%s %s: %s", scope, metric, text ?: "nothing");
	text = text_of(answer, scope, metric, "why");
	ktap_check(text && strstr(text, why), "%s %s: because %s", scope, metric, text ?: "of nothing");
}

/* n/a, because ... */
static void not_available(void)
{
	int cpu, p;

	plant_all();
	cpu = cpu_of[0];
	/* More idle flits than flits; nothing but conflicts; no access to memory but reads. */
	traffic_rate(cpu, SYN_SEL(SYN_BOX_R, 1, SYN_CODE_R_IPERF(30), SYN_ANY), 256);
	traffic_rate(cpu, SYN_SEL(SYN_BOX_R, 1, SYN_CODE_R_IPERF(31), SYN_ANY), 10);
	traffic_rate(cpu, SYN_SEL(SYN_BOX_B, 0, SYN_CODE_B(1, 0x07), SYN_ANY), 100);
	traffic_rate(cpu, SYN_SEL(SYN_BOX_B, 0, SYN_CODE_B(3, 0x17), SYN_ANY), 50);
	traffic_rate(cpu, SYN_SEL(SYN_BOX_B, 1, SYN_CODE_B(1, 0x07), SYN_ANY), 200);
	traffic_rate(cpu, SYN_SEL(SYN_BOX_B, 1, SYN_CODE_B(3, 0x17), SYN_ANY), 1);
	for (p = 0x13; p <= 0x15; p++)
		traffic_rate(cpu, SYN_SEL(SYN_BOX_M, 0, SYN_CODE_M(p), SYN_ANY), 0);
	traffic_rate(cpu, SYN_SEL(SYN_BOX_M, 0, SYN_CODE_M_FVC(5), 0), 256);
	run("qpi_utilization imt_avg_latency dram_page_hit_ratio offcore_latency_any_read "
	    "memory_read_bandwidth --json --per-machine --per-box -- sleep 0.02");
	no_value("S0/qpi0", "qpi_utilization", "% cannot be; possible is 0 % to 100 %");
	no_value("machine", "qpi_utilization", "S0/qpi0: ");
	no_value("S0/bbox_0", "imt_avg_latency", "more than 5 % of the inserts are conflicts");
	no_value("S0/mbox_0", "dram_page_hit_ratio", "hit and miss and empty is 0");
	no_value("machine", "offcore_latency_any_read", cboxes == 10 ? "this machine is Xeon E7" : "this machine is Xeon 7500");
	ktap_check(number_of("S0/bbox_1", "imt_avg_latency", "value") > 0);
	ktap_check(number_of("machine", "dram_page_hit_ratio", "value") > 0);
	ktap_check(number_of("S0/mbox_0", "memory_read_bandwidth", "value") > 100e9);
	ktap_check(text_of(answer, "S0/mbox_0", "memory_read_bandwidth", "note"), "not marked");
	ktap_check(!text_of(answer, "S0/mbox_1", "memory_read_bandwidth", "note") ||
		   rate[0].reads[1] > 55, "marked");
}

/* A box that is not there is no zero. */
static void absent(void)
{
	int p;

	for (p = 0; p < packages; p++)
		cpu_of[p] = need_package(p);
	ktap_require(!system("modprobe -r xeon7500_uncore"));
	msr_write(cpu_of[1], SYN_ABSENT, SYN_ABSENT_BOX(SYN_BOX_M, 1));
	ktap_require(!system("modprobe xeon7500_uncore"));
	run("memory_read_bandwidth memory_bandwidth --json --per-machine --per-box -- sleep 0.02");
	no_value("S1/mbox_1", "memory_bandwidth", "there is no xeon7500_mbox_1 on S1");
	no_value("machine", "memory_bandwidth", "there is no xeon7500_mbox_1 on S1");
	ktap_check(number_of("machine", "memory_read_bandwidth", "value") > 0);
	ktap_check(number_of("S0/mbox_1", "memory_bandwidth", "value") > 0);

	/* On no package, and there is no PMU. */
	ktap_require(!system("modprobe -r xeon7500_uncore"));
	msr_write(cpu_of[0], SYN_ABSENT, SYN_ABSENT_BOX(SYN_BOX_M, 1));
	ktap_require(!system("modprobe xeon7500_uncore"));
	run("memory_bandwidth --json --per-box -- sleep 0.02");
	no_value("S0/mbox_1", "memory_bandwidth", "there is no PMU xeon7500_mbox_1");
	for (p = 0; p < packages; p++)
		msr_write(cpu_of[p], SYN_ABSENT, 0);
	silicon_forgive();
}

static const struct ktap_case cases[] = {
	{ "random traffic, all boxes, packages and the machine", all_values },
	{ "intervals add up", intervals },
	{ "metrics that do not fit take turns, and say so", turns },
	{ "what fits into several turns has all of them", all_turns },
	{ "a metric that cannot be right is n/a and says why", not_available },
	{ "an absent box is n/a, not 0", absent },
};

int main(void)
{
	const char *why = metrics_missing();
	int cpu, cpus = why ? 0 : sysconf(_SC_NPROCESSORS_ONLN);

	for (cpu = 0; cpu < cpus; cpu++) {
		if (cpu_package(cpu) >= packages)
			packages = cpu_package(cpu) + 1;
	}
	return ktap_run(why, silicon_no_violation, cases, packages == 2 ? ARRAY_SIZE(cases) : 1);
}
