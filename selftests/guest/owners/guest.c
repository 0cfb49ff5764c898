// SPDX-License-Identifier: GPL-2.0-only
/*
 * PCM and LIKWID before, while and after the driver counts: what it counts is right, or a
 * foreign write is reported, and it leaves them a package that they can use. In the guest;
 * selftests/strangers/owners.py starts it.
 *
 * Right is, of a rate that does not change, what it was when nobody else was there.
 */
#include <sys/wait.h>

#include "foreign.h"
#include "kmsg.h"
#include "sampling.h"

#define OUTPUT	"/tmp/owner"

/* What both tools use is among these. */
static const struct {
	const char *pmu, *event;
} events[] = {
	{ "xeon7500_cbox_0", "llc_misses.all" }, { "xeon7500_cbox_0", "llc_hits.all" },
	{ "xeon7500_cbox_5", "llc_hits.all" }, { "xeon7500_wbox", "uncore_clock" },
	{ "xeon7500_sbox_0", "to_r_ndr_msgq_occupancy" },
	{ "xeon7500_bbox_0", "imt_inserts_all" }, { "xeon7500_bbox_1", "imt_inserts_all" },
	{ "xeon7500_mbox_0", "bbox_cmds.reads" }, { "xeon7500_mbox_1", "bbox_cmds.reads" },
	{ "xeon7500_rbox_0", "flits_sent,port=0" }, { "xeon7500_rbox_1", "flits_sent,port=0" },
};

#define EVENTS	(int)ARRAY_SIZE(events)
#define PACKAGES 2

/* Counts in a million clocks. */
struct rates {
	u64 val[PACKAGES][EVENTS];
};

#define LIKWID_EVENTS	"-g LLC_MISSES_ALL:CBOX0C0,LLC_HITS_ALL:CBOX0C1,LLC_HITS_ALL:CBOX5C0 sleep 1"
#define LIKWID		"likwid-perfctr -M 0 -C 0,2 " LIKWID_EVENTS
/* Whoever seems to use the counters. */
#define LIKWID_FORCE	"likwid-perfctr -f -M 0 -C 0,2 " LIKWID_EVENTS
#define PCM	"pcm 1 -i=2"

static int run(const char *tool)
{
	char command[400];
	int i;

	/* Our events are not its. */
	for (i = 0; i < num_open_events; i++)
		fcntl(open_events[i], F_SETFD, FD_CLOEXEC);
	snprintf(command, sizeof(command), "%s >" OUTPUT " 2>&1 </dev/null", tool);
	return system(command);
}

static void show_output(void)
{
	char line[200];
	FILE *f = fopen(OUTPUT, "r");
	int i;

	for (i = 0; f && i < 40 && fgets(line, sizeof(line), f); i++)
		printf("# %s", line);
	if (f)
		fclose(f);
}

/* A tool that cannot run here would prove nothing. */
static void must_run(const char *tool)
{
	int status = run(tool);

	if (!ktap_check(!status, "%s: status %#x", tool, status))
		show_output();
}

/* Our events count while meanwhile() goes on, or for 20 ms. */
static void count(struct rates *r, const char *tool)
{
	u64 from[PACKAGES], to[PACKAGES];
	int fd[PACKAGES][EVENTS], i, p;

	for (p = 0; p < PACKAGES; p++) {
		for (i = 0; i < EVENTS; i++)
			fd[p][i] = event_open(events[i].pmu, events[i].event, 2 * p, -1);
	}
	/* Behind a gate nothing depends on how busy the host is. */
	gates_install();
	for (p = 0; p < PACKAGES; p++) {
		for (i = 0; i < EVENTS; i++)
			perf_enable(fd[p][i]);
	}
	silicon_clear();
	for (p = 0; p < PACKAGES; p++)
		from[p] = msr_read(2 * p, SYN_CYCLES);
	gates_open();
	if (tool)
		must_run(tool);
	else
		sleep_us(20000);
	gates_close();
	for (p = 0; p < PACKAGES; p++) {
		to[p] = msr_read(2 * p, SYN_CYCLES);
		/* The clock itself tells, if nobody disturbs it. */
		if (!tool) {
			from[p] = 0;
			to[p] = silicon_truth(2 * p, SYN_ENABLED, W_FIXED_CTR);
		}
		for (i = 0; i < EVENTS; i++) {
			perf_disable(fd[p][i]);
			r->val[p][i] = perf_count(fd[p][i]).value * 1000000 / ((to[p] - from[p]) ?: 1);
		}
	}
	event_close_all();
}

static struct rates alone;

static bool same(u64 a, u64 b, unsigned int percent)
{
	u64 more = a > b ? a - b : b - a;

	return a && more <= (a > b ? a : b) * percent / 100 + 10;
}

/* Returns how many differ, and shows the first of them. */
static int compare(const struct rates *r, const char *when, unsigned int percent)
{
	int differ = 0, i, p;

	for (p = 0; p < PACKAGES; p++) {
		for (i = 0; i < EVENTS; i++) {
			if (same(alone.val[p][i], r->val[p][i], percent))
				continue;
			if (++differ <= 4)
				ktap_note("%s: package %d: %s/%s/: %llu in a million clocks, %llu alone",
					  when, p, events[i].pmu, events[i].event, r->val[p][i],
					  alone.val[p][i]);
		}
	}
	return differ;
}

static void check_same(const struct rates *r, const char *when)
{
	int differ = compare(r, when, 5);

	ktap_check(!differ, "%s: %d of %d counts are wrong", when, differ, PACKAGES * EVENTS);
}

static void start(void)
{
	event_close_all();
	module_unload();
	foreign_clean(0);
	foreign_clean(2);
	module_load("");
	silicon_start();
	if (!alone.val[0][0]) {
		count(&alone, NULL);
		ktap_check(same(alone.val[0][3], 1000000, 2), "clock: %llu", alone.val[0][3]);
	}
}

static void before_us(const char *tool)
{
	struct rates now;

	start();
	module_unload();
	must_run(tool);
	module_load("");
	count(&now, NULL);
	check_same(&now, "loaded after it");
}

static void after_it(const char *tool)
{
	struct rates now;
	int turn;

	start();
	count(&now, NULL);
	check_same(&now, "before it");
	for (turn = 0; turn < 2; turn++) {
		must_run(tool);
		count(&now, NULL);
		check_same(&now, "after it");
	}
	/* A sampling event needs more than a right count. */
	sampling_limit(1000000);
	silicon_clear();
	lost_open();
	sampling_open("xeon7500_cbox_0", "llc_misses.all", 1000003, 0, 64);
	sampling_open("xeon7500_mbox_0", "bbox_cmds.reads", 1000003, 0, 64);
	perf_enable(rings[0].fd);
	perf_enable(rings[1].fd);
	sleep_us(50000);
	perf_disable(rings[0].fd);
	perf_disable(rings[1].fd);
	check_books("samples after it");
	ktap_check(rings[0].samples && rings[1].samples, "%llu and %llu samples after it",
		   rings[0].samples, rings[1].samples);
}

/* What is wrong is said. What it costs to enable and read all of them is in the rates. */
static void beside_it(const char *tool)
{
	long long before, after;
	struct rates now;
	int differ, i, p;

	start();
	kmsg_mark();
	before = foreign_writes();
	count(&now, tool);
	after = foreign_writes();
	differ = compare(&now, "beside it", 15);
	ktap_note("%d of %d counts differ, %lld foreign writes", differ, PACKAGES * EVENTS,
		  after - before);
	ktap_check(!differ || after > before, "%d of %d counts are wrong, and nobody says so",
		   differ, PACKAGES * EVENTS);
	ktap_check(!differ || kmsg_count(OURS ": ") >= 1, "not a word in the log");
	for (p = 0; p < PACKAGES; p++) {
		for (i = 0; i < EVENTS; i++)
			ktap_check(now.val[p][i] < 1ull << 30, "package %d: %s/%s/: %llu", p,
				   events[i].pmu, events[i].event, now.val[p][i]);
	}
	/* When it has gone. */
	count(&now, NULL);
	check_same(&now, "after it");
}

/* A package that we have left is one that nobody uses. */
static void it_after_us(const char *tool, bool (*measures)(void))
{
	struct rates now;

	start();
	count(&now, NULL);
	check_clean(0, "after our session");
	check_clean(2, "after our session");
	must_run(tool);
	if (!ktap_check(measures(), "it measures nothing after us"))
		show_output();
	module_unload();
	must_run(tool);
	if (!ktap_check(measures(), "it measures nothing after unload"))
		show_output();
	module_load("");
}

static bool output_has(const char *text)
{
	char command[200];

	snprintf(command, sizeof(command), "grep -q '%s' " OUTPUT, text);
	return !system(command);
}

/* | LLC_MISSES_ALL | CBOX0C0 | 1160341102 | 776611843 | */
static bool likwid_measures(void)
{
	return output_has("LLC_MISSES_ALL *| CBOX0C0 *| *[1-9][0-9]* | *[1-9][0-9]* |") &&
	       output_has("LLC_HITS_ALL *| CBOX0C1 *| *[1-9][0-9]* | *[1-9][0-9]* |") &&
	       !output_has("in use");
}

/*  SKT   0    15.63    119.21 */
static bool pcm_measures(void)
{
	return output_has("^ SKT   0 *[1-9][0-9.]* *[1-9][0-9.]*$") && !output_has("denied");
}

#define CASE(name, what, tool)						\
static void name(void)							\
{									\
	what(tool);							\
}

CASE(likwid_before, before_us, LIKWID_FORCE)
CASE(likwid_after, after_it, LIKWID_FORCE)
CASE(likwid_beside, beside_it, LIKWID_FORCE)
CASE(pcm_before, before_us, PCM)
CASE(pcm_after, after_it, PCM)
CASE(pcm_beside, beside_it, PCM)

static void likwid_after_us(void)
{
	it_after_us(LIKWID, likwid_measures);
}

static void pcm_after_us(void)
{
	it_after_us(PCM, pcm_measures);
}

/* What they do is theirs: no case of the rules. */
KTAP_MAIN_UNLESS(silicon_missing() ?: uncore_missing(),
		 { "LIKWID before the driver is loaded", likwid_before },
		 { "LIKWID between our sessions", likwid_after, KTAP_SAME_PROCESS },
		 { "what we count beside LIKWID is right, or a foreign write is reported", likwid_beside, KTAP_SAME_PROCESS },
		 { "LIKWID measures after us", likwid_after_us, KTAP_SAME_PROCESS },
		 { "PCM before the driver is loaded", pcm_before, KTAP_SAME_PROCESS },
		 { "PCM between our sessions", pcm_after, KTAP_SAME_PROCESS },
		 { "what we count beside PCM is right, or a foreign write is reported", pcm_beside, KTAP_SAME_PROCESS },
		 { "PCM measures after us", pcm_after_us, KTAP_SAME_PROCESS })
