// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threshold, invert and edge. The test sets what happens in each cycle and works
 * out the counts from the cycles of the window, without help from the model.
 *
 * VM: --sockets 2 --cores 2
 */
#include "silicon.h"

#define PMU	"xeon7500_cbox_6"
#define CTR	C6_CTR_0	/* the first counter of that box: alone, an event gets it */
#define CODE	0x1e	/* occupancy_maf, at most 16 per cycle */

/* Text and tables of the guide: in those of S and W both comparisons are the other way round. */
enum { TEXT, C_TABLE, S_TABLE, W_TABLE };

static unsigned int sense;

#define PERIOD	64
static unsigned int pattern[PERIOD];

/* In each period: active cycles of inc from phase on, then 0. */
static void set_pattern(int cpu, unsigned int phase, unsigned int active, unsigned int inc)
{
	unsigned int i;

	for (i = 0; i < PERIOD; i++)
		pattern[i] = ((i - phase) & (PERIOD - 1)) < active ? inc : 0;
	silicon_traffic(cpu, SYN_SEL(SYN_BOX_C, 6, CODE, SYN_ANY),
			SYN_PATTERN(6, phase, active, inc));
}

static unsigned int shaped(u64 cycle, unsigned int thresh, bool inv)
{
	unsigned int inc = pattern[cycle % PERIOD];

	if (thresh && inv && sense != TEXT)
		return inc > thresh;
	if (thresh && sense >= S_TABLE)
		return inc <= thresh;
	return !thresh ? inc : inv ? inc < thresh : inc >= thresh;
}

/* What the counter of such an event gains in cycles [from, to). */
static u64 expected(u64 from, u64 to, unsigned int thresh, bool inv, bool edge)
{
	u64 in_period = 0, sum = 0, cycle;

	for (cycle = PERIOD; cycle < 2 * PERIOD; cycle++) {
		unsigned int now = shaped(cycle, thresh, inv);

		in_period += edge ? now && !shaped(cycle - 1, thresh, inv) : now;
	}
	sum = (to - from) / PERIOD * in_period;
	for (cycle = to - (to - from) % PERIOD; cycle < to; cycle++) {
		unsigned int now = shaped(cycle, thresh, inv);

		sum += edge ? now && !shaped(cycle - 1, thresh, inv) : now;
	}
	return sum;
}

/* The event gets the first counter of its box, @ctr. */
static void check_event(int cpu, const char *pmu, const char *event, unsigned int ctr,
			unsigned int thresh, bool inv, bool edge)
{
	int fd = event_open(pmu, event, cpu, -1);
	u64 want, from, to, count;

	perf_run_us(fd, 2000);
	count = perf_count(fd).value;
	from = silicon_truth(cpu, SYN_OPENED, ctr);
	to = silicon_truth(cpu, SYN_CLOSED, ctr);
	ktap_require(from && to > from, "no window");
	want = expected(from, to, thresh, inv, edge);
	ktap_check(count == want, "%s, cycles %llu to %llu: %llu, expected %llu", event, from, to,
		   count, want);
}

static void check(const char *options, unsigned int thresh, bool inv, bool edge)
{
	char event[80];

	event_close_all();
	snprintf(event, sizeof(event), "occupancy_maf%s", options);
	check_event(package_cpu(1), PMU, event, CTR, thresh, inv, edge);
}

static void check_all(unsigned int phase, unsigned int active, unsigned int inc)
{
	unsigned int thresh;
	char options[64];

	silicon_start();
	set_pattern(package_cpu(1), phase, active, inc);
	check("", 0, false, false);
	for (thresh = 1; thresh <= 17; thresh += 4) {
		snprintf(options, sizeof(options), ",thresh=%u", thresh);
		check(options, thresh, false, false);
		strcat(options, ",edge");
		check(options, thresh, false, true);
		snprintf(options, sizeof(options), ",thresh=%u,inv", thresh);
		check(options, thresh, true, false);
		strcat(options, ",edge");
		check(options, thresh, true, true);
	}
	check(",thresh=255", 255, false, false);
	check(",thresh=255,inv", 255, true, false);
	msr_write(package_cpu(1), SYN_TRAFFIC_RESET, 1);
}

KTAP_CALL(sparse, check_all(5, 3, 9))
KTAP_CALL(dense, check_all(60, 61, 16))
KTAP_CALL(never, check_all(0, 0, 1))
KTAP_CALL(always, check_all(0, PERIOD, 13))

/* edge alone counts how often an event of one bit begins. */
static void edge_of_one_bit(void)
{
	static const struct {
		const char *pmu, *event;
		unsigned int box, inst, code, ctr;
	} on[] = {
		{ PMU, "trans_maf,edge", SYN_BOX_C, 6, 0x1f, CTR },
		{ "xeon7500_ubox", "ipis_sent,edge", SYN_BOX_U, 0, 0xf9, U_CTR },
		{ "xeon7500_wbox", "prochot,edge", SYN_BOX_W, 0, 0x02, W_CTR_0 },
		/* Of those that add up, one is an event of one bit. */
		{ "xeon7500_sbox_0", "egress_starved.ad_cw,edge", SYN_BOX_S, 0, 0x43, S0_CTR0 },
		{ "xeon7500_cbox_6", "starved_egress.iv,edge", SYN_BOX_C, 6, 0x0b, CTR },
	};
	static const struct {
		const char *pmu, *event;
	} refused[] = {
		{ "xeon7500_sbox_0", "egress_starved.ad,edge" },
		{ "xeon7500_cbox_6", "starved_egress.ad_sb,edge" },
		{ "xeon7500_cbox_6", "occupancy_maf,edge" },
	};
	int cpu = package_cpu(0), fd;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(on); i++) {
		silicon_start();
		set_pattern(cpu, 7, 20, 1);
		silicon_traffic(cpu, SYN_SEL(on[i].box, on[i].inst, on[i].code, SYN_ANY),
				SYN_PATTERN(6, 7, 20, 1));
		check_event(cpu, on[i].pmu, on[i].event, on[i].ctr, 0, false, true);
		msr_write(cpu, SYN_TRAFFIC_RESET, 1);
	}
	for (i = 0; i < ARRAY_SIZE(refused); i++) {
		struct perf_event_attr attr = event_attr(refused[i].pmu, refused[i].event);

		fd = perf_open(&attr, cpu, -1);
		ktap_check(fd == -EINVAL, "%s: %d", refused[i].event, fd);
	}
}

/* What the C-Box counts by its table, then the S-Box and the W-Box by theirs. */
static void by_table(void)
{
	static const struct {
		const char *pmu, *event;
		unsigned int box, code, ctr, reading, inc, thresh;
	} of[] = {
		[C_TABLE] = { "xeon7500_cbox_0", "occupancy_maf", SYN_BOX_C, CODE, C0_CTR_0,
			      RD_C_INVERT, 6, 5 },
		[S_TABLE] = { "xeon7500_sbox_0", "req_tbl_occupancy.local", SYN_BOX_S, 0x31,
			      S0_CTR0, RD_S_INVERT, 6, 5 },
		/* At most 1 in a clock: by its table all clocks, with invert none. */
		[W_TABLE] = { "xeon7500_wbox", "prochot", SYN_BOX_W, 0x02, W_CTR_0,
			      RD_W_INVERT, 1, 1 },
	};
	static const char *const options[] = { "", ",inv", ",inv,edge" };
	int cpu = package_cpu(0);
	unsigned int i;

	for (sense = C_TABLE; sense <= W_TABLE; sense++) {
		for (i = 0; i < ARRAY_SIZE(options); i++) {
			char event[64];

			silicon_start();
			msr_write(0, SYN_READING(of[sense].reading), 1);
			set_pattern(cpu, 7, 20, of[sense].inc);
			silicon_traffic(cpu, SYN_SEL(of[sense].box, 0, of[sense].code, SYN_ANY),
					SYN_PATTERN(6, 7, 20, of[sense].inc));
			snprintf(event, sizeof(event), "%s,thresh=%u%s", of[sense].event,
				 of[sense].thresh, options[i]);
			check_event(cpu, of[sense].pmu, event, of[sense].ctr, of[sense].thresh,
				    i > 0, i > 1);
			msr_write(cpu, SYN_TRAFFIC_RESET, 1);
			msr_write(0, SYN_READING(of[sense].reading), 0);
		}
	}
	sense = TEXT;
}

SILICON_MAIN({ "short bursts", sparse },
	     { "short pauses", dense },
	     { "an event that never happens", never },
	     { "an event in every cycle", always },
	     { "threshold and invert by the tables of C, S and W", by_table },
	     { "edge of one-bit events in C, U and W", edge_of_one_bit })
