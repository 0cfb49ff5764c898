// SPDX-License-Identifier: GPL-2.0-only
/*
 * VM: --machine goldmont --icount
 * TEST: 6.1
 * PUT: programs/walker.c
 *
 * perf loads: where loads are served, of a program of which that is known.
 *
 * How far a share may be off is derived. In 128 loads, one after the other, the walk meets
 * each level as often as PART says. While counters run without a pause they see some of its
 * loads, all in a row, so what they count of a level is off by no more than its part in 128
 * loads less its share of that part. That is once for each time that counters began to run, which
 * the silicon knows. The loads of the rest of the program may be of any level.
 */
#define _GNU_SOURCE
#include "sample.h"

#define WALK	20000000
#define PERIOD	1009
/* The map has 16 lines of 8 loads. */
#define CYCLE	128
#define MAP	0x6522333311111111

static const struct level {
	const char *name;
	unsigned int part;
} levels[] = {
	{ "l1_hit", 64 }, { "l2_hit", 32 }, { "wcb_hit", 16 }, { "hitm", 8 }, { "dram_hit", 8 },
};

#define LEVELS	ARRAY_SIZE(levels)

static u64 windows(void)
{
	u64 n = 0;
	int cpu, counter;

	/* Counter 0 has the samples. */
	for (cpu = 0; cpu < 2; cpu++) {
		for (counter = 1; counter < 4; counter++)
			n += msr_read(cpu, SYN_CORE_TRUTH(SYN_CORE_WINDOWS, counter));
	}
	return n;
}

/* All loads of the program but those of the walk. */
static double rest(void)
{
	double loads = 0;
	FILE *f;

	f = popen("perf stat -x, -o /tmp/stat -e mem_uops_retired.all_loads:u ./walker 8 >/dev/null && "
		  "grep all_loads /tmp/stat", "r");
	ktap_require(f && fscanf(f, "%lf", &loads) == 1 && loads > 8);
	pclose(f);
	/* Some instructions depend on how much it has to do, or on addresses. */
	return 2 * (loads - 8);
}

static double off(double a, double b)
{
	return a > b ? a - b : b - a;
}

static void prepare(void)
{
	int cpu;

	run_on(0);
	perf_unlimited();
	perf_unnamed();
	for (cpu = 0; cpu < 2; cpu++) {
		msr_write(cpu, SYN_MEM_SHIFT, 6);
		msr_write(cpu, SYN_MEM_MAP, MAP);
		msr_write(cpu, SYN_MEM_MODE, SYN_MEM_BY_ADDRESS);
	}
}

/* Both rows of a level are as the walk is. */
static void level_is(const struct level *l, u64 begun, double others)
{
	double share, loads, counted, of_code, want = 100.0 * l->part / CYCLE, raw, bound;
	char command[160], word[24];
	unsigned int samples, walk;
	FILE *f;

	snprintf(command, sizeof(command), "grep ' %s$' /tmp/loads && grep ' %s  *walk_load' /tmp/loads",
		 l->name, l->name);
	f = popen(command, "r");
	ktap_require(f);
	if (!ktap_check(fscanf(f, "%lf%% %lf %lf%% %u %*s %lf%% %u %*s %23s", &share, &loads, &counted,
			       &samples, &of_code, &walk, word) == 7, "%s: no rows", l->name)) {
		pclose(f);
		return;
	}
	pclose(f);
	/* Of all levels, as far as they were counted and not scaled. */
	raw = loads / share * counted;
	/* Two digits are shown of the percentages. */
	bound = 0.01 + 100 / raw * (begun * l->part * (1 - want / 100) + others);
	ktap_note("%s: %.2f %%, not %.2f: %.2f of %.2f; %u samples", l->name, share, want,
		  off(share, want), bound, samples);
	ktap_check(bound < want / 10, "%s: any share would do", l->name);
	ktap_check(off(share, want) <= bound);
	/* Who is not the walk has no more samples than loads, but for the one of the first period. */
	ktap_check(samples >= 10 && samples - walk <= others / PERIOD + 1 &&
		   off(of_code, share * walk / samples) <= 0.01, "%s: %.2f %%, %u of %u samples",
		   l->name, of_code, walk, samples);
}

static void shares(void)
{
	double others, sum = 0;
	u64 begun;
	char command[160];
	unsigned int i;

	prepare();
	ext_load("");
	others = rest();
	begun = windows();
	snprintf(command, sizeof(command),
		 "perf loads -u -m 2048 -c %d -- ./walker %d >/tmp/loads 2>/tmp/err", PERIOD, WALK);
	ktap_check(!shell(command), "%d", shell("cat /tmp/err"));
	begun = windows() - begun;
	if (!ktap_check(!shell("[ $(wc -l </tmp/loads) -ge 12 ]")))
		shell("cat /tmp/loads /tmp/err");
	for (i = 0; i < LEVELS; i++) {
		level_is(&levels[i], begun, others);
		sum += levels[i].part;
	}
	ktap_check(sum == CYCLE);
	ktap_note("%llu times counters began to run, at most %.0f other loads", begun, others);
}

/* Its status is that of the command, and who cannot be helped is told why. */
static void program(void)
{
	ext_load("");
	ktap_check(shell("perf loads -u -- sh -c 'exit 7' >/tmp/loads 2>/tmp/err") == 7 ||
		   !shell("grep -q 'too short' /tmp/err"), "%d", shell("cat /tmp/err"));
	ktap_check(shell("perf loads >/dev/null 2>/tmp/err") == 2 &&
		   !shell("grep -q usage /tmp/err"));
	ext_load(NULL);
	ktap_check(shell("perf loads true >/dev/null 2>/tmp/err") == 2 &&
		   !shell("grep -q 'intel_core_ext is not loaded' /tmp/err"));
}

/* Each case begins so. */
void ktap_begin(void)
{
	run_on(0);
}

CORE_MAIN("5c 5f",
	{ "the levels of a walk", shares },
	{ "the program", program })
