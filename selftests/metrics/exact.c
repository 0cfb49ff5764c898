// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf metrics: each value is what follows from the traffic, to the last digit.
 *
 * Traffic is drawn at random for each box of each package. All counters of a package start
 * and stop together, and the silicon knows when. So the counts, and from them the values, are
 * worked out here without reading a counter.
 *
 * VM: --sockets 2 --cores 2
 * TIER: once
 * PERF: newest
 * LONG: once
 */
#define PACKAGES	2
#include "exact.h"

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

	for (p = 0; p < PACKAGES; p++)
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
	for (p = 0; p < PACKAGES; p++)
		msr_write(cpu_of[p], SYN_ABSENT, 0);
	silicon_forgive();
}

METRICS_MAIN({ "random traffic, all boxes, packages and the machine", all_values },
	{ "intervals add up", intervals },
	{ "what takes turns", turns },
	{ "what fits into several turns has all of them", all_turns },
	{ "n/a, because", not_available },
	{ "absent boxes", absent })
